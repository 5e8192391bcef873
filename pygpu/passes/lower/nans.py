"""Drops tests for NaN of what cannot be NaN, and extremes of a number and what is beyond it: most
of a filter of a photograph is bounded.

    isnan (mul (load im[x, y]), 2.0)  ->  false        # an image of bytes
    max -1.0, (load im[x, y])  ->  load im[x, y]
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.host.later import later
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.core.storage import Format
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.passes.simplify.rules import number
from pygpu.ssa import Function, Op, Value, walk

with later():
    from pygpu.passes.analysis import ranges


def without_nans(function: Function, formats: Sequence[Format]) -> Function:
    """The function without tests for NaN of what cannot be NaN, for images of these formats."""
    tests = [op for op in walk(function.body) if op.code == "isnan" or _begins(op)]
    if not tests:
        return function
    known = ranges.Ranges(function, formats)
    never = {op for op in tests if op.code == "isnan" and not known.may_be_nan(op.operands[0])}
    beyond = {op for op in tests if op.code != "isnan" and _is_beyond(op, known)}
    if not never and not beyond:
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op in beyond:
            return operands[1:]
        return [rewriter.build.constant(op.result.type, False)] if op in never else None

    return apply(CLEAN, rewrite(function, rule))


def _begins(op: Op) -> bool:
    """Whether it is the greater or lesser of a known float and something else."""
    return op.code in ("max", "min") and isinstance(number(op.operands[0]), float)


def _is_beyond(op: Op, known: ranges.Ranges) -> bool:
    """Whether something is never less than the number that it is to be the greater of, or never
    more than that it is to be the lesser of; of two kinds of zero, which are equal, texels of bytes
    have but one."""
    first, value = number(op.operands[0]), op.operands[1]
    span = known.of(value)
    if span is None or first is None or first != first:
        return False
    if first == 0.0:
        is_texel = value.op is not None and value.op.code == "load"
        return op.code == "max" and is_texel and repr(first) == "0.0" and span.low >= 0.0
    return span.low >= first if op.code == "max" else span.high <= first
