"""Comparisons that pixels share: the same results, with fewer of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
import pytest

from pygpu.core.builder import Builder
from pygpu.core.interpret import run
from pygpu.core.operations.ops import OPEN
from pygpu.passes.blocks.pairs import greater_by_sums, share_pairs
from pygpu.ssa import Function, ImageInput, Value, walk
from pygpu.types import FLOAT, INT


class Threes:
    """A function that compares threes of five numbers, in floats or in lanes."""

    def __init__(self, is_laned: bool) -> None:
        type = INT if is_laned else FLOAT
        self.prefix, self.data = ("lanes_", None) if is_laned else ("", OPEN)
        self.build = Builder("threes", [ImageInput("im", FLOAT)], [(c, type) for c in "abcde"])
        self.values = self.build.uniforms

    def low(self, a: Value, b: Value) -> Value:
        return self.build.emit(f"{self.prefix}min", a, b, data=self.data)

    def high(self, a: Value, b: Value) -> Value:
        return self.build.emit(f"{self.prefix}max", a, b, data=self.data)

    def middle(self, a: Value, b: Value, c: Value) -> Value:
        return self.high(self.low(a, b), self.low(self.high(a, b), c))

    def of(self, names: str) -> list[Value]:
        """The least, the middle and the greatest of three of them."""
        a, b, c = [self.values["abcde".index(name)] for name in names]
        return [self.low(self.low(a, b), c), self.middle(a, b, c), self.high(self.high(a, b), c)]


def count(function: Function) -> int:
    return sum(op.code.removeprefix("lanes_") in ("min", "max") for op in walk(function.body))


def results(function: Function, numbers: Sequence[object]) -> list[object]:
    return [
        float(result.item())
        for result in run(function, [np.zeros((1, 1), np.float32)], numbers, (1, 1))
    ]


@pytest.mark.parametrize("is_laned", [False, True])
def test_threes_that_have_two_in_common_share_them(is_laned: bool) -> None:
    threes = Threes(is_laned)
    function = threes.build.finish([*threes.of("abc"), *threes.of("cdb"), *threes.of("dec")])
    shared = share_pairs(function)
    assert (count(function), count(shared)) == (24, 16)
    for order in permutations(range(5)):
        lanes = [int(word(n, 4 - n)) if is_laned else np.float32(n) for n in order]
        assert results(shared, lanes) == results(function, lanes)


@pytest.mark.parametrize("is_laned", [False, True])
def test_threes_of_what_is_itself_of_three_share_two(is_laned: bool) -> None:
    threes = Threes(is_laned)

    def least(a: Value, b: Value, c: Value) -> Value:
        return threes.low(threes.low(a, b), c)

    a, b, c, d, e = threes.values
    columns = [least(a, b, c), least(b, c, d), least(c, d, e), least(d, e, a)]
    rows = [least(*columns[:3]), least(*columns[1:])]
    function = threes.build.finish([*rows, *columns])
    shared = share_pairs(function)
    assert (count(function), count(shared)) == (12, 9)
    for order in permutations(range(5)):
        lanes = [int(word(n, 4 - n)) if is_laned else np.float32(n) for n in order]
        assert results(shared, lanes) == results(function, lanes)


def word(low: int, high: int) -> int:
    return low | high << 16


def test_sums_take_the_place_of_comparisons_in_lanes() -> None:
    threes = Threes(True)
    function = threes.build.finish(threes.of("abc"))
    summed = greater_by_sums(share_pairs(function, sums=True))
    assert count(summed) == 3 < count(share_pairs(function)) == 6
    for order in permutations([3, 500, 7, 0, 0]):
        lanes = [word(n, 600 - n) for n in order]
        assert results(summed, lanes) == results(function, lanes)


def test_what_nan_may_tell_apart_is_left_alone() -> None:
    threes = Threes(False)
    threes.data = None  # as Python's min and max, which take NaN as they do
    function = threes.build.finish([*threes.of("abc"), *threes.of("cdb")])
    assert share_pairs(function) is function
