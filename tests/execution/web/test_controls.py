"""What sliders a page has for the numbers that its function takes."""

import pytest

from pygpu.execution.web.controls import STEPS, guess
from pygpu.types import FLOAT, vector


@pytest.mark.parametrize("wish", [None, (-1.0, 7.0)])
@pytest.mark.parametrize(
    "value", [(1, 2, 3), (0.33, 0.5, 0.125), (-2.5, 1.0, 0.7), (0.0, 0.0, 0.0)]
)
def test_sliders_can_stand_where_they_start(value, wish):
    control = guess("speed", vector("float", 3), value, wish)
    assert control is not None
    assert control.high - control.low >= 0.999 * STEPS * control.step
    for number in control.value:
        steps = (number - control.low) / control.step
        assert abs(steps - round(steps)) < 1e-6


def test_sliders_that_are_asked_for_need_no_number_to_start_at():
    control = guess("top", FLOAT, float("inf"), (0, 1))
    assert control is not None
    assert (control.low, control.high, control.step) == (0, 1, 0.005)


def test_sliders_whose_start_is_no_short_decimal_are_fine():
    control = guess("third", FLOAT, 1 / 3, None)
    assert control is not None
    off = control.value[0] % control.step
    assert min(off, control.step - off) < 1e-5
