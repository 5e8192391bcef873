"""Integers that NumPy holds in fewer than 32 bits and wraps: as NumPy has it, or refused where they
are NumPy's on one path alone."""

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


def nearest(p: Position) -> Any:
    best = 0
    for v in ROW:
        if abs(int(v) - p.x * 50) < abs(int(best) - p.x * 50):
            best = v
    return best / 255, best > 3, best & 7


WRAPPING: list[Callable[[Position], Any]] = [
    added_where,
    left_early,
    lambda p: np.where(p.x > 1, ROW[1], 7) + np.uint8(20),
    lambda p: sum(v * (p.x > 1) for v in ROW),
    lambda p: SQUARE[p.x % 2, p.x % 2] - SQUARE[p.y % 2, p.y % 2],
    lambda p: SQUARE[0, p.x % 2] - SQUARE[1, p.y % 2],
    lambda p: next(v for v in ROW if v > p.x) + np.uint8(200),
    lambda p: [v for v in ROW if v > p.x][-1] + np.uint8(253),
    lambda p: nearest(p)[p.y],
    lambda p: SQUARE[1, 1] * (p.x > 1) + ROW[p.x],
    lambda p: functools.reduce(lambda a, b: a ^ b, ROW, p.x),
    lambda p: (SQUARE[p.x % 2] + np.uint8(9))[0],
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("function", WRAPPING)
def test_what_wraps_in_numpy_wraps(function: Callable[[Position], Any]) -> None:
    def whole(p: Position) -> Any:
        return function(p)

    results = np.asarray(pygpu.compile(whole, target="interpreter")(shape=(2, 5)))
    for y, x in np.ndindex(2, 5):
        assert float(results[y, x]) == pytest.approx(float(function(Position(x, y))), rel=1e-6)


def one_or_a_float(p: Position) -> Any:
    v: Any = 0.5
    if p.x > 1:
        v = ROW[1]
    return v * 2


def doubled(p: Position) -> Any:
    v = ROW[p.x] if p.y > 0 else 7  # without a name, later Pythons double each by itself
    return v * 2


def negated(p: Position) -> Any:
    v = ROW[p.x] if p.y > 0 else 7
    for number in (v, 1 - v):
        return -number
    return 0


def pythons_on_one_path(p: Position) -> Any:
    v = ROW[p.x]
    if p.y > 0:
        v = int(v)  # the same number, and Python's
    return v * 2


def pythons_from_the_first_round_on(p: Position) -> Any:
    v = ROW[p.x]
    for _ in range(p.y):
        v = int(v * 2)
    return v


UNCLEAR: list[Callable[[Position], Any]] = [
    one_or_a_float,
    lambda p: sum(v for v in ROW if v > p.x),
    lambda p: sum(ROW[p.x < ROW]),
    lambda p: max(ROW[1], p.x) + np.uint8(20),
    doubled,
    negated,
    pythons_on_one_path,
    pythons_from_the_first_round_on,
]


@pytest.mark.parametrize("function", UNCLEAR)
def test_what_wraps_on_one_path_alone_is_refused(function: Callable[[Position], Any]) -> None:
    def whole(p: Position) -> Any:
        return function(p)

    with pytest.raises(CompileError, match="own width"):
        pygpu.compile(whole, target="interpreter")(shape=(2, 5))


@pytest.mark.parametrize(
    ("function", "number"),
    [(lambda p: ROW[p.x] + 300, 300), (lambda p: ROW[p.x] * -1, -1), (lambda p: ROW[p.x] & -1, -1)],
)
def test_numbers_that_do_not_fit_are_errors_as_in_numpy(function: Any, number: int) -> None:
    message = f"Python integer {number} out of bounds for uint8"
    with pytest.raises(OverflowError, match=message):
        function(Position(0, 0))
    with pytest.raises(OverflowError, match=message):
        pygpu.compile(lambda p=Position: function(p), target="interpreter")(shape=(1, 5))


def test_checked_programs_say_where_a_number_does_not_fit(target: str) -> None:
    def made(p: Position):
        return np.uint8(p.x * 100)

    def stored(p: Position):
        counts = np.zeros(2, np.int8)
        counts[p.y % 2] = p.x * 60 - 10
        return counts[0]

    for function in (made, stored):
        with pytest.raises(OverflowError, match=r"out of bounds for u?int8"):
            function(Position(3, 0))
        assert pygpu.compile(function, target=target)(shape=(1, 5)).shape == (1, 5)
        with pytest.raises(OverflowError, match=r"out of bounds for u?int8") as caught:
            pygpu.compile(function, target=target, check=True)(shape=(1, 5))
        assert "at the position (3, 0), the first of 2" in caught.value.__notes__[-1]


def test_divisions_by_zero_are_numpys() -> None:
    def quotients(p: Position):
        try:
            return ROW[p.x] // (ROW[p.x] - ROW[0]), ROW[p.x] % (ROW[p.x] - ROW[0])
        except ZeroDivisionError:
            return np.uint8(77), np.uint8(77)

    for check in (False, True):
        results = pygpu.compile(quotients, target="interpreter", check=check)(shape=(1, 5))
        assert [result[0, 0] for result in map(np.asarray, results)] == [0, 0]
