"""Results that are larger than their images, on cpu: what is outside of an image comes from rows
that its boundary rule makes, many blocks of pixels at once."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.core.boundaries import ARRAYS, RULES, index, period

OFFSETS = [(0, 0), (-1, 0), (1, 0), (0, 1), (-3, 2), (5, -2), (17, 1), (-20, 0), (63, 3)]


def summed(offsets: list[tuple[int, int]], second: bool) -> Any:
    """A function of one or two images: whole numbers, which no order of sums rounds."""

    @pygpu.compile(target="cpu")
    def one(im: Image, p: Position):
        return sum((1 + i) * im(p + d) for i, d in enumerate(offsets))

    @pygpu.compile(target="cpu")
    def two(im: Image, other: Image, p: Position):
        return sum((1 + i) * im(p + d) for i, d in enumerate(offsets)) - other(p)

    return two if second else one


def tap(array: Any, rule: str, cval: float, shape: tuple[int, int], by: tuple[int, int]) -> Any:
    """What is read at an offset from each pixel of a result."""
    height, width = array.shape[:2]
    x, y = np.arange(shape[1]) + by[0], np.arange(shape[0]) + by[1]
    found = array[index(rule, ARRAYS, y, height)][:, index(rule, ARRAYS, x, width)]
    if rule == "constant":
        outside = ((y < 0) | (y >= height))[:, None] | ((x < 0) | (x >= width))
        found = np.where(outside[..., None] if array.ndim == 3 else outside, cval, found)
    return found


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_random_sums(rule: str, seed: int) -> None:
    source = random.Random(f"{rule} {seed}")
    numbers = np.random.default_rng(seed)
    channels = source.choice([1, 1, 2, 3, 4])
    dtype = source.choice(["float32", "int32", "int16"])
    shape = source.choice([1, 2, 61, 200]), source.choice([64, 333, 1501, 4100])
    size = source.choice([1, 2, 37, 150]), source.choice([1, 3, 40, 130, 700])
    offsets = source.sample(OFFSETS, source.choice([1, 2, 5]))

    def image(size: tuple[int, int]) -> Any:
        return numbers.integers(-50, 50, (*size, channels)[: 2 + (channels > 1)]).astype(dtype)

    cval = 7 if dtype != "float32" else 7.0
    extended = {"boundary": rule, **({"cval": cval} if rule == "constant" else {})}
    first, second = image(size), image((size[0] + 3, 2 * size[1]))
    images = [first, second][: source.choice([1, 2])]
    run = summed(offsets, len(images) == 2)
    made = run(*[pygpu.Image(a, **extended) for a in images], shape=shape, dtype="float32")
    expected = sum((1 + i) * tap(first, rule, 7, shape, d) for i, d in enumerate(offsets))
    if len(images) == 2:
        expected = expected - tap(second, rule, 7, shape, (0, 0))
    assert np.array_equal(np.asarray(made), expected)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [1, 2, 5])
def test_periods(rule: str, size: int) -> None:
    again = period(rule, size)
    for side in (np.arange(size, size + 40), np.arange(-60, -20)):
        same = index(rule, ARRAYS, side, size) == index(rule, ARRAYS, side - again, size)
        inside = (side - again >= 0) & (side - again < size)
        assert np.all(same | (inside & (rule == "constant")))
