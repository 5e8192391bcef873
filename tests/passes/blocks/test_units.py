"""Floats in another unit: what scales, and what does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pygpu.core.builder import Builder
from pygpu.core.interpret import run
from pygpu.passes.blocks.units import in_units
from pygpu.ssa import Function, Region, Value
from pygpu.types import BOOL, FLOAT

UNIT = 2.0**-24 * 255
Written = Callable[[Callable[..., Value], Callable[[float], Value], Value, Value], Value]

SCALES: list[Written] = [
    lambda op, c, a, b: op("sqrt", op("fma", a, a, op("mul", b, b))),
    lambda op, c, a, b: op("sub", op("mul", a, c(0.25)), c(0.5)),
    lambda op, c, a, b: op("div", op("mul", a, b), op("max", b, c(0.1))),
    lambda op, c, a, b: op("select", op("lt", a, c(0.5)), op("abs", b), c(-1.0)),
    lambda op, c, a, b: op("mul", op("div", a, b), op("min", a, b)),
    lambda op, c, a, b: op("mul", op("select", op("lt", a, b), c(3.0), c(0.5)), b),
    lambda op, c, a, b: op("select", op("bit_and", op("le", a, b), op("lt", a, c(9.0))), a, b),
]
DOES_NOT: list[Written] = [
    lambda op, c, a, b: op("mul", a, b),
    lambda op, c, a, b: op("add", a, op("mul", a, b)),
    lambda op, c, a, b: op("sin", a),
    lambda op, c, a, b: op("sqrt", a),
    lambda op, c, a, b: op("floor", a),
    lambda op, c, a, b: op("div", a, b),
    lambda op, c, a, b: op("mul", op("mul", op("mul", a, a), op("mul", a, a)), b),
]


def built(written: Written) -> tuple[Builder, Value]:
    build = Builder("f", [], [("a", FLOAT), ("b", FLOAT)])
    a, b = build.uniforms
    return build, written(build.emit, lambda number: build.constant(FLOAT, number), a, b)


def value(function: Function, numbers: list[Any]) -> float:
    (found,) = run(function, [], [np.float32(n) for n in numbers], (1, 1))
    return float(found.item())


@pytest.mark.parametrize("written", SCALES)
def test_what_scales_is_computed_in_the_unit(written: Written) -> None:
    build, result = built(written)
    plain = build.finish([result])
    scaled = in_units(build.body.ops, build.uniforms, [result], UNIT)
    assert scaled is not None
    body = Region(build.body.params, list(scaled.ops), tuple(scaled.results))
    function = Function("f", (), (), body)
    for a, b in [(0.2, 0.7), (-0.3, 0.4), (1.0, 1.0), (0.0, 0.5)]:
        want = value(plain, [a, b])
        assert value(function, [a * UNIT, b * UNIT]) / UNIT == pytest.approx(want, 1e-6)


@pytest.mark.parametrize("written", DOES_NOT)
def test_what_does_not_scale_is_told(written: Written) -> None:
    build, result = built(written)
    assert in_units(build.body.ops, build.uniforms, [result], UNIT) is None


def test_branches_do_not_scale() -> None:
    build, _ = built(SCALES[1])
    a, b = build.uniforms
    sides = (Region((), [], (a,)), Region((), [], (b,)))
    condition = build.constant(BOOL, True)
    (result,) = build.append("if", [condition], [FLOAT], sides)
    assert in_units(build.body.ops, build.uniforms, [result], UNIT) is None
