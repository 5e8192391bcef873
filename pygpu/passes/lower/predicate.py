"""Makes branches of what is added where a condition holds, for GPUs: they run an addition for some
threads as fast as for all, while a choice costs as much as two additions.

    %1 = select %0, a, 0; %2 = add x, %1;  %3 = select %0, b, 0; %4 = add y, %3
    ->  %2, %4 = if %0 {add x, a; add y, b} else {x, y}

    %1 = mul x, a; %2 = select %0, %1, x   ->  %2 = if %0 {mul x, a} else {x}

What comes of it has no other use of x, whose register it then takes. It goes as far down as its
results are not needed, so that what one condition decides (a list's counter and sum) is together.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE, Cost
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.rules import number
from pygpu.ssa import Function, Op, Region, Value, alike, constant_of, used_by, uses, walk
from pygpu.types import BOOL

UPDATES: Final = frozenset(
    code
    for code, row in TABLE.items()
    if row.cost is Cost.ONE and row.is_closed("float") and row.arity != 1
)


def predicated(function: Function) -> Function:
    """The function with conditional updates as branches; itself where there are none."""
    updates = _Updates(function)
    found = {op.result: update for op in walk(function.body) if (update := updates.of(op))}
    return remove_dead(_Branches(function, found).run()) if found else function


@record(eq=False)
class _Update:
    """What is `kept` unless the condition holds: then the operation, with these operands."""

    condition: Value
    op: Op
    operands: tuple[Value, ...]
    kept: Value


class _Updates:
    """Which operations update a value under a condition."""

    def __init__(self, function: Function) -> None:
        self.uses = uses(function)
        self.outputs = frozenset(function.outputs)

    def of(self, op: Op) -> _Update | None:
        """What an op updates; None where it does not."""
        if op.code not in ("add", "sub", "select") or op.result in self.outputs:
            return None
        return self._chosen(op) if op.code == "select" else self._added(op)

    def _added(self, op: Op) -> _Update | None:
        """Of x + (a if condition else 0)."""
        for kept, given in (op.operands, op.operands[::-1])[: 1 + (op.code == "add")]:
            choice = given.op
            if choice is None or choice.code != "select" or kept.type != op.result.type:
                continue
            condition, added, other = choice.operands
            if condition.type == BOOL and number(other) == 0 and self._end(1, kept, given):
                operands = (kept, added) if kept is op.operands[0] else (added, kept)
                return _Update(condition, op, operands, kept)
        return None

    def _chosen(self, op: Op) -> _Update | None:
        """Of x + a if condition else x."""
        condition, given, kept = op.operands
        made = given.op
        if condition.type != BOOL or made is None or made.code not in UPDATES:
            return None
        if kept not in made.operands or not self._end(2, kept) or not self._end(1, given):
            return None
        return _Update(condition, made, made.operands, kept)

    def _end(self, count: int, *values: Value) -> bool:
        """Whether values have no other use than so many, and are no constants, which no register
        holds."""
        return all(self.uses[value] == count and constant_of(value) is None for value in values)


class _Branches(Rewriter):
    def __init__(self, function: Function, updates: dict[Value, _Update]) -> None:
        super().__init__(function)
        self.updates = updates

    def inline(self, region: Region) -> None:
        waiting: dict[Value, list[Value]] = {}  # results, by their conditions

        def end(needed: Iterable[Value]) -> None:
            for value in needed:
                update = self.updates.get(value)
                if update is not None and value in waiting.get(update.condition, ()):
                    self._branch(waiting.pop(update.condition))

        for op in region.ops:
            end(used_by(op))
            update = self.updates.get(op.results[0]) if op.results else None
            if update is None:
                super().inline(Region((), [op]))
            else:
                waiting.setdefault(update.condition, []).append(op.result)
        end(region.results)

    def _branch(self, results: list[Value]) -> None:
        updates = [self.updates[value] for value in results]
        yes, new = Region(), self.new
        for each in updates:
            operands = tuple([new[value] for value in each.operands])
            made = Op(each.op.code, operands, each.op.data, alike(each.op.results))
            yes.ops.append(made)
        yes.results = tuple([op.result for op in yes.ops])
        no = Region((), [], tuple([new[each.kept] for each in updates]))
        op = Op("if", (new[updates[0].condition],), None, alike(results), (yes, no))
        self.build.region.ops.append(op)
        new.update(zip(results, op.results, strict=True))
