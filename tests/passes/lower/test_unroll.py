"""Loops of which several rounds are done at once: they must come to what they came to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position
from pygpu.core import interpret
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.core.verify import verify
from pygpu.devices import targets
from pygpu.execution.inspection.profile import Job
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.unroll import unroll
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, walk
from random_loops import random_loops

SHAPE = (7, 9)
PICTURE = np.random.default_rng(11).random(SHAPE, np.float32)


def escapes(count: int) -> Callable[..., Any]:
    def f(im: Image, p: Position, k: Float):
        x, n = im(p), 0
        while n < count and x < 8.0:
            x, n = x * k + im(p), n + 1
        return x, n

    return f


def counts_down(count: int) -> Callable[..., Any]:
    def f(im: Image, p: Position, k: Float):
        total, n = 0.0, 2 * count
        while n > 0:
            total += im(p) * n
            if total > k * 20.0:
                total = -total
                break
            n -= 2
        return total, n

    return f


def marches(count: int) -> Callable[..., Any]:
    def f(im: Image, p: Position, k: Float):
        seen = 0.0
        for i in range(count):
            there = im((p.x + i % 5, p.y + i // 5))
            if there < 0.1 * k:
                continue
            if there > 0.5 * k:
                return seen, i
            seen += there
        return seen, count

    return f


def has_two_exits(count: int) -> Callable[..., Any]:
    def f(im: Image, p: Position, k: Float):
        x, why = im(p), 0
        for i in range(3, count + 3):
            if x > 4.0:
                why = i
                break
            x = x * k + 0.1
            if x < 0.3:
                why = -i
                break
        return x, why

    return f


def translated(function: Callable[..., Any]) -> Function:
    compiled = pygpu.compile(function, target="interpreter")
    return Job.of(compiled, (PICTURE,), {"k": 1.25}).made.task.function


def rounds(function: Function) -> int:
    """The operations in bodies of loops."""
    return sum(len(list(walk(op.regions[0]))) for op in walk(function.body) if op.code == "loop")


def same(first: Function, second: Function, images: list[Any], uniforms: list[Any]) -> None:
    expected = interpret.run(first, images, uniforms, SHAPE)
    for want, have in zip(expected, interpret.run(second, images, uniforms, SHAPE), strict=True):
        np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("make", [escapes, counts_down, marches, has_two_exits])
@pytest.mark.parametrize("count", [2, 17, 18, 19, 20, 21, 22, 23, 24, 100])
def test_every_count_comes_to_the_same(make: Callable[[int], Any], count: int) -> None:
    function = translated(make(count))
    made = verify(unroll(function))
    same(function, made, [PICTURE], [1.25])
    same(function, apply(CLEAN, made), [PICTURE], [1.25])
    if count > 16:
        assert rounds(made) >= 2 * rounds(function)


@pytest.mark.parametrize("make", [escapes, counts_down, marches, has_two_exits])
def test_programs_for_gpus_come_to_the_same(make: Callable[[int], Any]) -> None:
    require("compute")
    device = targets.open_device("compute")
    function = translated(make(21))
    made = apply(CLEAN, lower_boundary(unroll(function)))
    formats = [Format(np.dtype("float32"), 1), Format(np.dtype("int32"), 1)]
    program = device.compile(Task(made, formats[:1], formats))
    results = program.run(Work([Storage.of(PICTURE[..., None])], [1.25], SHAPE, [None, None]))
    expected = interpret.run(function, [PICTURE], [1.25], SHAPE)
    for want, have in zip(expected, results, strict=True):
        np.testing.assert_allclose(have.host()[..., 0], want, rtol=1e-5)


def test_random_loops_come_to_the_same() -> None:
    for seed in range(40):
        function, images = random_loops(seed)
        made = verify(unroll(function))
        expected = interpret.run(function, images, [], (6, 17))
        found = interpret.run(made, images, [], (6, 17))
        for want, have in zip(expected, found, strict=True):
            np.testing.assert_array_equal(have, want)


@pytest.mark.parametrize("bound", ["only counts", "unknown", "steps unknown"])
def test_other_loops_stay(bound: str) -> None:
    def only_counts(im: Image, p: Position, k: Float):
        total = 0.0
        for i in range(5000):
            total += im(p) * i
        return total, 0

    def unknown(im: Image, p: Position, k: Float):
        x, n = im(p), 0
        while n < 100 * k and x < 8.0:
            x, n = x * k, n + 1
        return x, n

    def steps_unknown(im: Image, p: Position, k: Float):
        x, n = im(p), 0
        while n < 100 and x < 8.0:
            x, n = x * k, n + (2 if x > 1.0 else 1)
        return x, n

    chosen = {"only counts": only_counts, "unknown": unknown, "steps unknown": steps_unknown}
    function = translated(chosen[bound])
    assert unroll(function) is function
