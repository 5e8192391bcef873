"""Random expressions of integers from the whole range give what CPython gives, to the bit."""

import numpy as np
import pytest

import pygpu
from pygpu import Int, Position, UInt
from random_integers import random_integers

SEEDS = 12  # functions of several expressions each


@pytest.mark.parametrize("seed", range(SEEDS))
def test_random_integers_are_those_of_python(seed: int, target: str) -> None:
    made = random_integers(seed)
    function = made.function
    compiled = pygpu.compile(function, target=target)
    values = {"a": Int(made.signed), "u": UInt(made.unsigned)}
    results = compiled(**values, shape=(2, 5))
    images = [np.asarray(image) for image in results]
    for y, x in np.ndindex(2, 5):
        expected = function(Position(x, y), **values)
        for text, want, image in zip(made.expressions, expected, images, strict=True):
            assert int(want) == int(image[y, x]), (text, x, y, values)


def test_random_integers_are_of_both_kinds() -> None:
    kinds = set()
    for seed in range(SEEDS):
        made = random_integers(seed)
        results = made.function(Position(1, 1), Int(made.signed), UInt(made.unsigned))
        kinds.update(type(result) for result in results)
    assert {Int, UInt, bool} <= kinds
