"""Moves out of a loop what is the same in every round: operations (loads too) and whole `if`s and
loops none of whose operands changes.

A loop's body runs at least once. What was a `for` or a `while` has mostly one `if` as its body,
whose condition says whether there is a first round. Where that is known to hold, all that is the
same in every round is moved out of the loop. Elsewhere only what is read or takes an instruction is
(CHEAP): it is computed in vain where there is no round, which is rare.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE, Cost
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, used_by, walk

with later():
    from pygpu.passes.analysis import branches, counters

HELD: Final = 96  # numbers read, at most, that wait in registers while a loop runs
CHEAP: Final = frozenset(
    code for code, row in TABLE.items() if row.is_memory or row.cost in (Cost.FREE, Cost.ONE)
)


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
    of loops directly in there, and those in the `if`s that a round goes through."""
    found = _Found([], set())
    found.search(loop, is_sure=True)
    return found.ops


@record(eq=False, frozen=False)
class _Found:
    """Ops that are the same in every round, and all values that are not, or stay where they are."""

    ops: list[Op]
    changing: set[Value]
    held: int = 0  # numbers that were read

    def search(self, loop: Op, is_sure: bool) -> None:
        """Find the ops that are the same in every round; `is_sure`: the loop surely runs."""
        (body,) = loop.regions
        self.changing.update(body.params)
        first = {
            each.condition for each in counters.counters(loop) if each.held and not each.is_after
        }
        self._look(body, is_sure, set(branches.holding(body.results[0])), first)

    def _look(self, body: Region, is_sure: bool, goes: Set[Value], first: Set[Value]) -> None:
        """Find the ops of a part of a loop's body that are the same in every round. The loop ends
        where a condition of `goes` does not hold; those of `first` hold in the first round."""
        for op in body.ops:
            if self._takes(op, is_sure):
                self.ops.append(op)
                continue
            self.changing.update(op.results)
            if op.code == "loop":
                self.search(op, is_sure)
            elif op.code == "if" and op.operands[0] in goes:
                self._look(op.regions[0], is_sure and op.operands[0] in first, goes, first)

    def _takes(self, op: Op, is_sure: bool) -> bool:
        if not (is_sure or op.code in CHEAP) or not self.changing.isdisjoint(used_by(op)):
            return False
        held = op.result.type.size if op.code == "load" else 0
        if self.held + held > HELD:
            return False
        self.held += held
        return True
