"""Constant factors taken out of what only scales with them."""

from __future__ import annotations

import pytest

from passes.blocks.test_units import Written, built, value
from pygpu.passes.lower.factors import taken_out
from pygpu.ssa import Function, Region
from pygpu.types import BOOL, FLOAT

# What is written, and the operations that are left.
LESS: list[tuple[Written, list[str]]] = [
    (
        lambda op, c, a, b: op(
            "sqrt",
            op(
                "fma",
                op("mul", a, c(0.25)),
                op("mul", a, c(0.25)),
                op("mul", op("mul", b, c(0.25)), op("mul", b, c(0.25))),
            ),
        ),
        ["mul", "fma", "sqrt", "mul"],
    ),
    (
        lambda op, c, a, b: op("abs", op("sub", op("mul", a, c(3.0)), op("mul", c(3.0), b))),
        ["sub", "abs", "mul"],
    ),
    (
        lambda op, c, a, b: op("max", op("mul", op("mul", a, c(0.5)), c(0.5)), c(0.1)),
        ["max", "mul"],
    ),
]
LEFT: list[Written] = [
    lambda op, c, a, b: op("add", op("mul", a, c(0.5)), op("mul", b, c(0.25))),
    lambda op, c, a, b: op("sin", op("mul", a, c(0.5))),
    lambda op, c, a, b: op("mul", op("mul", op("exp", a), c(0.5)), op("mul", b, c(0.5))),
    lambda op, c, a, b: op("max", op("mul", a, c(-1.0)), op("mul", b, c(0.0))),
    lambda op, c, a, b: op("sqrt", op("mul", a, c(-0.5))),
    lambda op, c, a, b: op("fma", op("mul", a, c(0.5)), b, c(1.0)),
    lambda op, c, a, b: op("add", op("mul", a, c(float("inf"))), b),
    lambda op, c, a, b: op("sub", op("mul", a, c(-0.5)), op("mul", b, c(-0.5))),  # of a zero
    lambda op, c, a, b: op("mul", op("mul", a, c(1e20)), op("mul", b, c(1e20))),
    lambda op, c, a, b: op("max", op("mul", a, c(9.0)), c(1e-38)),
]


@pytest.mark.parametrize(("written", "codes"), LESS)
def test_a_factor_is_applied_once(written: Written, codes: list[str]) -> None:
    build, result = built(written)
    plain = build.finish([result])
    ops, results = taken_out(build.body.ops, build.uniforms, [result])
    assert [op.code for op in ops if op.code != "constant"] == codes
    function = Function("f", (), (), Region(build.body.params, list(ops), tuple(results)))
    for a, b in [(0.2, 0.7), (-0.3, 0.4), (1.0, 1.0), (0.0, 0.5), (-2.0, -3.0)]:
        assert value(function, [a, b]) == pytest.approx(value(plain, [a, b]), 1e-6)


@pytest.mark.parametrize("written", LEFT)
def test_what_does_not_scale_is_left_as_it_is(written: Written) -> None:
    build, result = built(written)
    assert taken_out(build.body.ops, build.uniforms, [result]) == (build.body.ops, [result])


def test_branches_are_left_as_they_are() -> None:
    build, result = built(LESS[0][0])
    a, b = build.uniforms
    sides = (Region((), [], (a,)), Region((), [], (b,)))
    (chosen,) = build.append("if", [build.constant(BOOL, True)], [FLOAT], sides)
    wanted = [result, chosen]
    assert taken_out(build.body.ops, build.uniforms, wanted) == (build.body.ops, wanted)


def test_what_may_be_too_large_is_left_as_it_is() -> None:
    build, result = built(LESS[0][0])
    assert taken_out(build.body.ops, build.uniforms[:1], [result]) == (build.body.ops, [result])
