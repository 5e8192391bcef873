"""Drops tests for NaN of what cannot be NaN: most of a filter of a photograph is bounded.

isnan (mul (load im[x, y]), 2.0)  ->  false        # an image of bytes
"""

from collections.abc import Sequence

from pygpu.core.host.later import later
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.core.storage import Format
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value, walk

with later():
    from pygpu.passes.analysis import ranges


def without_nans(function: Function, formats: Sequence[Format]) -> Function:
    """The function without tests for NaN of what cannot be NaN, for images of these formats."""
    tests = [op for op in walk(function.body) if op.code == "isnan"]
    if not tests:
        return function
    known = ranges.Ranges(function, formats)
    never = {op for op in tests if not known.may_be_nan(op.operands[0])}
    if not never:
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        return [rewriter.build.constant(op.result.type, False)] if op in never else None

    return apply(CLEAN, rewrite(function, rule))
