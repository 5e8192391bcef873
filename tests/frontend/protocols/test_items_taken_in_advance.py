"""Iterators that several paths have made, and a list of theirs that changes then: refused."""

from collections.abc import Callable
from typing import Any

import pytest

import pygpu
from pygpu import CompileError, Position


def zipped(p: Position) -> Any:
    a = [p.x, 1]
    pairs = zip(a, [5, 6], strict=True) if p.x > 1 else zip(a, [7, 8], strict=True)
    a[1] = 77
    return sum(x * y for x, y in pairs)


def zipped_in_rounds(p: Position) -> Any:
    a = [p.x, 1]
    pairs = zip(a, [1, 2], strict=True)
    for k in range(p.x):
        pairs = zip(a, [k, 6], strict=True)
    a[1] = 77
    return sum(x * y for x, y in pairs)


def values_in_rounds(p: Position) -> Any:
    d = {1: p.x, 2: 1}
    values = d.values()
    for k in range(p.x):
        d = {1: p.x + k, 2: 3}
        values = d.values()
    d[2] = 77
    return sum(values)


def counted_as_it_grows(p: Position) -> Any:
    a = [p.x, 1]
    counted = enumerate(a) if p.x > 1 else enumerate(a, 3)
    a.append(5)
    return sum(i * x for i, x in counted)


@pytest.mark.parametrize(
    "function", [zipped, zipped_in_rounds, values_in_rounds, counted_as_it_grows]
)
def test_changes_after_paths_have_met(function: Callable[[Position], Any]) -> None:
    compiled = pygpu.compile(function, target="interpreter")
    with pytest.raises(CompileError, match="make a list of them first"):
        compiled(shape=(1, 4))
