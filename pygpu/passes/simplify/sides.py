"""Moves before an `if` what both of its sides compute.

if %0 { %1 = load im[x, y]; ... } else { %2 = load im[x, y]; ... }
  ->  %1 = load im[x, y]; if %0 { ... } else { ... }
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.simplify.cse import Key, key
from pygpu.ssa import Function, Op, Region, Value, walk


def merge_sides(function: Function) -> Function:
    """The function with what both sides of an `if` share before it; itself without."""
    if not any(_common(op) for op in walk(function.body) if op.code == "if"):
        return function
    moved: set[Op] = set()

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op in moved:
            return [rewriter.new[value] for value in op.results]
        if op.code == "if":
            for first, second in _common(op):
                if first not in moved:
                    rewriter.inline(Region(ops=[first]))
                rewriter.new[second.result] = rewriter.new[first.result]
                moved.update((first, second))
        return None

    return rewrite(function, rule)


def _common(op: Op) -> list[tuple[Op, Op]]:
    """Pairs of equal ops of the two sides, in order, of operands made before or by pairs."""
    yes, no = op.regions
    made = {value for side in op.regions for inner in side.ops for value in inner.results}
    movable: dict[Key, Op] = {}
    moving: set[Value] = set()
    for inner in yes.ops:
        if not _stays(inner) and all(v in moving or v not in made for v in inner.operands):
            movable[key(inner.code, inner.operands, inner.data)] = inner
            moving.add(inner.result)
    found: list[tuple[Op, Op]] = []
    same: dict[Value, Value] = {}  # values of the second side, and those of the first they equal
    for inner in no.ops:
        operands = tuple([same.get(value, value) for value in inner.operands])
        twin = None if _stays(inner) else movable.get(key(inner.code, operands, inner.data))
        if twin is not None:
            same[inner.result] = twin.result
            found.append((twin, inner))
    return found


def _stays(op: Op) -> bool:
    """Constants are at the head of the body already."""
    return bool(op.regions) or op.code == "constant"
