"""Random functions that raise and handle give what they give in CPython."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from random_exceptions import function

IM = np.array([[0, 0.5, 1, 2, -1, -0.5], [1, 1, 0, 0, 2, 3]], np.float32)
OTHER = np.array([[1, 0, 1, 0.5, 0, 2], [2, -1, 0, 1, 1.5, -3]], np.float32)
LARGEST = 1e6  # beyond, float32 and decisions on it are far from plain Python's


@pytest.mark.parametrize("seed", range(48))
def test_random_exceptions_are_handled_as_in_python(seed: int) -> None:
    made = function(seed)
    images = Image(IM), Image(OTHER)
    expected = np.array(
        [[made.function(*images, Position(x, y)) for x in range(6)] for y in range(2)]
    )
    if not (np.abs(expected) < LARGEST).all():
        pytest.skip("its numbers are too large to be compared")
    results = pygpu.compile(made.function, target="interpreter")(IM, OTHER)
    actual = np.stack([np.broadcast_to(np.asarray(one), IM.shape) for one in results], axis=-1)
    np.testing.assert_allclose(actual.astype(float), expected, 1e-3, 1e-4, err_msg=made.text)
