"""Integers that NumPy holds in fewer than 32 bits: taken where nothing can wrap, else refused."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import CompileError, Position

ROW = np.array([1, 250, 3, 4, 5], np.uint8)
SQUARE = np.array([[1, 250], [255, 3]], np.uint8)


def added_where(p: Position) -> Any:
    total = 0
    for v in ROW:
        if v > p.x:
            total += v
    return total


def left_early(p: Position) -> Any:
    last, k = np.uint8(0), 0
    while k < 5:
        if k > p.x:
            break
        last = ROW[k]
        k += 1
    return last + np.uint8(100)


def one_or_a_float(p: Position) -> Any:
    v: Any = 0.5
    if p.x > 1:
        v = ROW[1]
    return v * 2


WRAPPING: list[Callable[[Position], Any]] = [
    added_where,
    left_early,
    one_or_a_float,
    lambda p: sum(v for v in ROW if v > p.x),
    lambda p: sum(v * (p.x > 1) for v in ROW),
    lambda p: sum(ROW[p.x < ROW]),
    lambda p: [v for v in ROW if v > p.x][-1] + np.uint8(253),
    lambda p: next(v for v in ROW if v > p.x) + np.uint8(200),
    lambda p: np.where(p.x > 1, ROW[1], 7) + np.uint8(20),
    lambda p: max(ROW[1], p.x) + np.uint8(20),
    lambda p: SQUARE[p.x % 2, p.x % 2] - SQUARE[p.y % 2, p.y % 2],
    lambda p: SQUARE[0, p.x % 2] - SQUARE[1, p.y % 2],
    lambda p: (SQUARE[p.x % 2] + p.x)[0],
]


@pytest.mark.parametrize("function", WRAPPING)
def test_what_wraps_in_numpy_is_refused(function: Callable[[Position], Any]) -> None:
    def whole(p: Position) -> Any:
        return function(p)

    with pytest.raises(CompileError, match="own width"):
        pygpu.compile(whole, target="interpreter")(shape=(2, 5))


def nearest(p: Position) -> Any:
    best = 0
    for v in ROW:
        if abs(int(v) - p.x * 50) < abs(int(best) - p.x * 50):
            best = v
    return best / 255, best > 3, best & 7


def test_what_cannot_wrap_is_taken() -> None:
    def whole(p: Position):
        few = SQUARE[1, 1] * (p.x > 1) + ROW[p.x]
        of_all = functools.reduce(lambda a, b: a ^ b, ROW, p.x)
        return (*nearest(p), few // 3 if p.x != 1 else 0, of_all, max(ROW[1], p.x))

    results = pygpu.compile(whole, target="interpreter")(shape=(1, 5))
    for x in range(5):
        found = [float(np.asarray(image)[0, x]) for image in results]
        np.testing.assert_allclose(found, [float(v) for v in whole(Position(x, 0))], 1e-6)
