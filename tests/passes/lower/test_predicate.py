"""What is added where a condition holds, as branches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.core.interpret import run
from pygpu.core.verify import verify
from pygpu.passes.lower.predicate import predicated
from pygpu.ssa import Function, walk

PHOTO = np.random.default_rng(5).random((19, 23), np.float32)


def sigma(im: Image, p: Position):
    centre, total, count = im(p), 0.0, 0
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            texel = im(p + (dx, dy))
            if abs(texel - centre) < 0.2:
                total += texel
                count += 1
    return total / count


def most_frequent(im: Image, p: Position):
    counts, totals = [0] * 4, [0.0] * 4
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            texel = im(p + (dx, dy))
            bin = min(int(texel * 4), 3)
            counts[bin] += 1
            totals[bin] += texel
    best = counts.index(max(counts))
    return totals[best] / counts[best]


def darkest(im: Image, p: Position):
    lowest = im(p)
    for dx in range(1, 9):
        if dx < im(p + (0, dx)) * 8:
            lowest = min(lowest, im(p + (dx, 0)))
    return lowest - 1


def summed(im: Image, p: Position):
    """In a loop whose rounds the pixels decide."""
    total, steps = 0.0, 0
    while steps < im(p) * 20:
        texel = im(p + (steps, 0))
        if texel > 0.5:
            total -= texel
        steps += 1
    return total * 2


def reread(im: Image, p: Position):
    """What was there before is needed after, too."""
    first = im(p) * 3
    second = first + 1 if im(p + (1, 0)) > 0.5 else first
    return first * second


ALL: list[Callable[..., Any]] = [sigma, most_frequent, darkest, summed, reread]


def ssa_of(function: Callable[..., Any]) -> Function:
    lowered: Any = pygpu.compile(function, target="interpreter").lower(PHOTO)
    made: Function = lowered._made.translated.function
    return made


@pytest.mark.parametrize("function", ALL, ids=lambda function: function.__name__)
def test_the_results_stay(function: Callable[..., Any]) -> None:
    before = ssa_of(function)
    text = str(before)
    after = verify(predicated(before))
    assert str(before) == text
    given = [PHOTO]
    np.testing.assert_array_equal(run(after, given, (), (19, 23)), run(before, given, (), (19, 23)))


def test_what_a_condition_decides_is_in_one_branch() -> None:
    function = predicated(ssa_of(most_frequent))
    updates = [op for op in walk(function.body) if op.code == "if" and len(op.results) == 2]
    assert len(updates) >= 8 * 4  # the first texel's are no sums
    for op in updates:
        assert [each.code for each in op.regions[0].ops] == ["add", "add"]
        assert not op.regions[1].ops


def test_what_is_needed_after_stays_a_choice() -> None:
    function = ssa_of(reread)
    assert predicated(function) is function
