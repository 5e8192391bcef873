"""Moves out of a loop what is the same in every round: operations (loads too) and whole `if`s and
loops none of whose operands changes.

A body runs at least once, so nothing is computed that was not computed before.
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, walk


def hoist(function: Function) -> Function:
    """The function with invariant operations before their loops; itself where there are none."""
    if not any(_invariant(op) for op in walk(function.body) if op.code == "loop"):
        return function
    moved: set[Op] = set()

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op in moved:
            return [rewriter.new[value] for value in op.results]
        if op.code == "loop":
            before = [inner for inner in _invariant(op) if inner not in moved]
            rewriter.inline(Region(ops=before))
            moved.update(before)
        return None

    return rewrite(function, rule)


def _invariant(loop: Op) -> list[Op]:
    """The ops in a loop's body that do not depend on its rounds, in order; also those in the bodies
    of loops directly in there."""
    found: list[Op] = []
    _search(loop.regions[0], set(), found)
    return found


def _search(body: Region, changing: set[Value], found: list[Op]) -> None:
    changing.update(body.params)
    for op in body.ops:
        if changing.isdisjoint(_used(op)):
            found.append(op)
            continue
        changing.update(op.results)
        if op.code == "loop":
            _search(op.regions[0], changing, found)


def _used(op: Op) -> set[Value]:
    """All values that an op uses, itself or within."""
    used = set(op.operands)
    for region in op.regions:
        used.update(region.results)
        for inner in region.ops:
            used |= _used(inner)
    return used
