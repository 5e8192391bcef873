"""Checked programs change no result: random functions of floats, checked and not, to the bit."""

import os
import random

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position
from random_floats import random_floats

MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS = {"cpu": 10, "fragment": 3, "compute": 3}
SHAPE = 7, 11


@pytest.mark.timeout(120 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_checked_programs_have_the_bits_of_those_that_are_not(on: str) -> None:
    require(on)
    fine = 0
    for number in range(COUNTS[on] * MORE):
        fine += compared(number if MORE == 1 else random.randrange(10**9), on)
    assert fine >= COUNTS[on] * MORE // 3


def compared(seed: int, on: str) -> bool:
    """Whether nothing goes wrong in a function."""
    text, function = random_floats(seed)
    texels = np.random.default_rng(seed).uniform(-1, 2, SHAPE).astype(np.float32)
    image, given = Image(texels), (0.7 + seed % 7 / 8, seed % 4)
    try:
        plain = pygpu.compile(function, target=on)(image, *given)
    except (IndexError, ZeroDivisionError) as error:  # of known numbers, on every path
        with pytest.raises(type(error)):
            function(image, Position(0, 0), *given)
        return False
    try:
        checked = pygpu.compile(function, target=on, check=True)(image, *given)
    except (AssertionError, ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        said = error.__notes__[-1]
        x, y = map(int, said.split("(")[1].split(")")[0].split(","))
        position = Position(x, y)
        with pytest.raises(type(error)):
            function(image, position, *given)
        return False
    for first, second in zip(plain, checked, strict=True):
        np.testing.assert_array_equal(np.asarray(first), np.asarray(second), text)
    return True
