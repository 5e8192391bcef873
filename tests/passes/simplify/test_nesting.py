"""Functions whose branches are nested deep: what bounds that changes nothing that they compute."""

from __future__ import annotations

import numpy as np
import pytest

from pygpu.core import interpret
from pygpu.core.builder import Builder
from pygpu.core.verify import verify
from pygpu.passes.simplify import nesting
from pygpu.passes.simplify.nesting import bound_nesting
from pygpu.ssa import Function, ImageInput, Op, Region, Value, visit
from pygpu.types import BOOL, FLOAT
from random_functions import random_case
from random_loops import random_loops


def depth(function: Function) -> int:
    """How many `if`s stand one in the other, at most."""
    most = now = 0
    for op, is_after in visit(function.body):
        if op.code == "if":
            now += -1 if is_after else 1
            most = max(most, now)
    return most


def chain(count: int, after: bool) -> Function:
    """if v < 0.0: v + 0.0, elif v < 1.0: v + 1.0, ...; each level goes on with what it got."""
    build = Builder("chain", [ImageInput("im", FLOAT)])
    v = build.load(0, build.x, build.y)
    zero = build.constant(FLOAT, 0.0)
    outer: list[tuple[Region, Region, Value, Region, Value]] = []
    grown = v
    for k in range(count):
        below = build.emit("lt", grown, build.constant(FLOAT, float(k)))
        outer.append((Region(), Region(), below, build.region, grown))
        with build.inside(outer[-1][0]):
            outer[-1][0].results = (build.emit("add", grown, build.constant(FLOAT, k + 0.5)), below)
        build.region = outer[-1][1]
        grown = build.emit("add", grown, build.constant(FLOAT, 0.25))
    left: tuple[Value, ...] = (zero, build.constant(BOOL, False))
    for first, second, condition, region, here in reversed(outer):
        if after:
            left = (build.emit("mul", left[0], here), build.emit("not", left[1]))
        second.results = left
        build.region = region
        op = Op("if", (condition,), None, [FLOAT, BOOL], (first, second))
        region.ops.append(op)
        left = op.results
    return build.finish(left)


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("count", [31, 32, 33, 64, 65, 200])
def test_deep_branches_are_bounded(count: int, after: bool) -> None:
    function = chain(count, after)
    made = verify(bound_nesting(function))
    assert depth(made) <= nesting.DEEPEST
    assert (made is function) == (count <= nesting.DEEPEST)
    image = np.linspace(-1, 300, 35, dtype=np.float32).reshape(5, 7)
    for want, have in zip(
        interpret.run(function, [image], [], (5, 7)),
        interpret.run(made, [image], [], (5, 7)),
        strict=True,
    ):
        np.testing.assert_array_equal(have, want)


def test_a_thousand_branches_are_few_times_as_much() -> None:
    sizes = [sum(1 for _ in visit(bound_nesting(chain(n, True)).body)) for n in (100, 1000)]
    assert sizes[1] < 12 * sizes[0]


@pytest.mark.parametrize("deepest", [2, 3])
def test_random_functions_come_to_the_same(deepest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nesting, "DEEPEST", deepest)
    for seed in range(60):
        case = random_case(seed, 60)
        made = verify(bound_nesting(case.function))
        want = interpret.run(case.function, case.images, case.uniforms, case.shape)
        have = interpret.run(made, case.images, case.uniforms, case.shape)
        for one, other in zip(want, have, strict=True):
            np.testing.assert_array_equal(one, other)
        function, images = random_loops(seed)
        made = verify(bound_nesting(function))
        want = interpret.run(function, images, [], (6, 17))
        for one, other in zip(want, interpret.run(made, images, [], (6, 17)), strict=True):
            np.testing.assert_array_equal(one, other)
