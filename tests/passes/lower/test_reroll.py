"""Rounds that were unrolled become loops, and nothing else about them changes, to the bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Vec2
from pygpu.core import interpret
from pygpu.core.verify import verify
from pygpu.execution.inspection.profile import Job
from pygpu.passes.analysis.counters import most_rounds
from pygpu.passes.lower.reroll import reroll
from pygpu.ssa import Function, walk

SHAPE = (9, 12)
PICTURE = np.random.default_rng(7).random(SHAPE, np.float32)


def a_line(im: Image, p: Position, dx: Float, dy: Float):
    acc = 0.0
    for i in range(12):
        acc += im.sampled(interpolation="linear")(p + Vec2(dx, dy) * i)
    return acc / 12


def both_ways(im: Image, p: Position, dx: Float, dy: Float):
    return sum([im.sampled(interpolation="linear")(p + Vec2(dx, dy) * i) for i in range(-12, 13)])


def weighed(im: Image, p: Position, dx: Float, dy: Float):
    smooth, acc, weights = im.sampled(interpolation="linear"), 0.0, 0.0
    for i in range(12):
        texel = smooth(p + Vec2(dx, dy) * i)
        weight = np.exp(-texel * i)
        acc += weight * texel
        weights += weight
    return acc / weights


def step_by_step(im: Image, p: Position, dx: Float, dy: Float):
    smooth, at, acc = im.sampled(interpolation="linear"), p + Vec2(0.25, 0.5), 0.0
    for _ in range(12):
        acc = acc * dx + smooth(at)
        at = at + Vec2(dx, dy)
    return acc


def the_largest(im: Image, p: Position, dx: Float, dy: Float):
    return max([im.sampled(interpolation="linear")(p + Vec2(dx, dy) * i) for i in range(12)])


def normalized(im: Image, p: Position, dx: Float, dy: Float):
    """What is added up in a second loop is divided by what a first one gave."""
    smooth = im.sampled(interpolation="linear")
    texels = [smooth(p + Vec2(dx, dy) * i) for i in range(12)]
    total = sum(texels)
    return sum([texel / total * texel for texel in texels])


def under_conditions(im: Image, p: Position, dx: Float, dy: Float):
    smooth, acc = im.sampled(interpolation="linear"), 0.0
    for i in range(12):
        texel = smooth(p + Vec2(dx, dy) * i)
        if texel > 0.25 * dx:
            acc += np.sin(texel * (i + 1)) * np.cos(texel)
    return acc


LOOPS = {  # of each function: how many rounds become one, loop by loop
    a_line: [11],
    both_ways: [11, 12],
    weighed: [10],
    step_by_step: [10],
    the_largest: [11],
    under_conditions: [],
    normalized: [],
}


def translated(function: Callable[..., Any]) -> Function:
    compiled = pygpu.compile(function, target="interpreter")
    return Job.of(compiled, (PICTURE,), {"dx": 0.7, "dy": -0.4}).made.task.function


def rounds(function: Function) -> list[float]:
    return [most_rounds(op) for op in walk(function.body) if op.code == "loop"]


@pytest.mark.parametrize("function", LOOPS)
def test_rounds_become_one_and_come_to_the_same(function: Callable[..., Any]) -> None:
    straight = translated(function)
    made = verify(reroll(straight, 40))
    assert rounds(made) == LOOPS[function]
    for step in ((0.7, -0.4), (0.0, -3.0), (np.nan, np.inf)):
        (expected,) = interpret.run(straight, [PICTURE], list(step), SHAPE)
        (found,) = interpret.run(made, [PICTURE], list(step), SHAPE)
        np.testing.assert_array_equal(found.view(np.uint32), expected.view(np.uint32))


def test_few_texels_and_taps_stay_as_they_are() -> None:
    def taps(im: Image, p: Position, dx: Float, dy: Float):
        return sum([im(p + (i, j)) * dx * (i + dy) for i in range(7) for j in range(7)])

    for function, least in ((a_line, 100), (taps, 10)):
        straight = translated(function)
        assert reroll(straight, least) is straight


def test_native_code_is_short_and_gives_what_pixels_alone_give() -> None:
    compiled = pygpu.compile(a_line, target="cpu")
    for picture in (PICTURE, (255 * PICTURE[..., None].repeat(3, 2)).astype(np.uint8)):
        expected = pygpu.compile(a_line, target="interpreter")(picture, dx=0.7, dy=-0.4)
        np.testing.assert_allclose(compiled(picture, dx=0.7, dy=-0.4), expected, atol=1e-5)
    assert len(compiled.lower(PICTURE, dx=0.7, dy=-0.4).source.splitlines()) < 1300
