"""Random expressions of integers from the whole range give what CPython gives, to the bit."""

import functools
import operator
import os
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Int, Position, UInt
from random_integers import EDGES, random_integers, random_result

SEEDS = 12  # functions of several expressions each


@pytest.mark.parametrize("seed", [*range(SEEDS), 917008])  # the last: twenty powers in a pixel
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


# ---------------------------------------------------------------- of images

MORE = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS = {"cpu": 12, "fragment": 3, "compute": 3}
SHAPE = 3, 6
DTYPES = ("uint8", "int8", "uint16", "int16", "int32", "uint32", "float32", "bool")
FOLDS: tuple[Callable[[Any, Any], Any], ...] = (
    operator.add,
    operator.xor,
    lambda a, b: max(a, b),
    lambda a, b: min(a, b),
)


@pytest.mark.timeout(120 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_random_integers_of_images_are_checked_stored_iterated_and_folded(on: str) -> None:
    require(on)
    for number in range(COUNTS[on] * MORE):
        seed = number if MORE == 1 else random.randrange(10**9)
        of_images(seed, on)


def of_images(seed: int, on: str) -> None:
    source = random.Random(seed)
    text, function, of_texel = random_result(seed)
    texels = np.random.default_rng(seed).integers(-(2**31), 2**31, SHAPE).astype(np.int32)
    texels.flat[:4] = 0, -1, 2**31 - 1, -(2**31)
    u = UInt(source.choice([*EDGES, source.randrange(2**32)]))
    places = [Position(x, y) for y, x in np.ndindex(SHAPE)]

    def plain(image: Image) -> np.ndarray:
        return np.array([int(function(image, p, u)) for p in places]).reshape(SHAPE)

    want, about = plain(Image(texels)), (seed, text, u)
    dtype = np.dtype(source.choice(DTYPES))
    for checked in (False, True):
        compiled = pygpu.compile(function, target=on, check=checked)
        assert (compiled(texels, u=u).astype(np.int64) == want).all(), about
        assert (compiled(texels, u=u, dtype=dtype) == as_stored(want, dtype)).all(), about
        if isinstance(function(Image(texels), places[0], u), Int):
            state = texels
            for _ in range(2):
                state = plain(Image(state)).astype(np.int32)
            assert (compiled.iterate(texels, 2, u=u) == state).all(), about
    fold = source.choice(FOLDS)
    image = Image(texels)
    total = functools.reduce(fold, [of_texel(image(p), p, u) for p in places])
    result = pygpu.reduce(fold, image, map=of_texel, target=on, u=u)
    assert (int(result) - int(total)) % 2**32 == 0, about  # sums are exact beyond 32 bits


def as_stored(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Integers in a dtype, as the language says: saturated."""
    if dtype.kind in "bf":
        return values.astype(dtype)
    ends = np.iinfo(dtype)
    return np.clip(values, ends.min, ends.max).astype(dtype)
