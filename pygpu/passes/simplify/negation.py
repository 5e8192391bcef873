"""Moves a `not` into the branch whose result it negates, where nothing else uses that result: what
says that a loop is to be left becomes what says that it goes on.

    %1 = if %0 { yield %2 } else { yield true }; %3 = not %1
      ->  %3 = if %0 { %4 = not %2; yield %4 } else { yield false }
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, uses, walk
from pygpu.types import BOOL


def move_negations(function: Function) -> Function:
    """The function with negations so moved; itself where there are none to move."""
    negated = _negated(function)
    if not negated:
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code == "not" and op.operands[0] in negated:
            return operands  # the branch has negated it
        if op.code == "if" and not negated.isdisjoint(op.results):
            regions = [_region(rewriter, op, region, negated) for region in op.regions]
            return rewriter.build.again(op, operands, regions)
        return None

    return rewrite(function, rule)


def _region(rewriter: Rewriter, op: Op, region: Region, negated: set[Value]) -> Region:
    new, build = Region(), rewriter.build
    with build.inside(new):
        rewriter.inline(region)
        values = [rewriter.new[value] for value in region.results]
        new.results = tuple(
            [
                build.emit("not", value) if result in negated else value
                for result, value in zip(op.results, values, strict=True)
            ]
        )
    return new


def _negated(function: Function) -> set[Value]:
    """The results of branches that one `not`, in the same region, alone uses."""
    count = uses(function)
    inner = [region for op in walk(function.body) for region in op.regions]
    found: set[Value] = set()
    for region in (function.body, *inner):
        made = {value for op in region.ops if op.code == "if" for value in op.results}
        found |= made & {value for op in region.ops if op.code == "not" for value in op.operands}
    return {value for value in found if count[value] == 1 and value.type is BOOL}
