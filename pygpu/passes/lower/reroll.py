"""Rounds that were unrolled, as a loop again: where texels are fetched from anywhere, whose code is
long, and straight code shares nothing among the rounds (passes/analysis/rounds.py).

    s1 = add s0, im[x + d]                i, s = 0, s0
    s2 = add s1, im[x + d * 2.0]    ->    loop: s = add s, im[x + d * table[i]]
    s3 = add s2, im[x + d * 3.0]                i = i + 1, as long as i < 3

The same is done with the same numbers, in the same order.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.rewriter import Rewriter
from pygpu.passes.analysis.rounds import Costs, Roll, Rounds
from pygpu.passes.analysis.variance import X, variance
from pygpu.passes.simplify.dead import remove_dead
from pygpu.ssa import Function, Lookup, Op, Region, Value, used_by, walk
from pygpu.types import INT


def reroll(function: Function, least: int) -> Function:
    """The function with such rounds as loops, where those of a loop fetch so many texels; itself
    where there are none."""
    bits = variance(function)
    fetched = {op for op in walk(function.body) if _is_fetched(function, op, bits)}
    if len(fetched) < least:
        return function
    rewriter = _Rerolling(function, Costs(fetched, least, bits))
    made = rewriter.run()
    return remove_dead(made) if rewriter.changes else function


def _is_fetched(function: Function, op: Op, bits: Mapping[Value, int]) -> bool:
    """Whether the texels of a load lie anywhere, for each pixel elsewhere."""
    if op.code != "load" or op.operands == (function.x, function.y):
        return False
    return bool(bits[op.operands[0]] & X)


class _Rerolling(Rewriter):
    def __init__(self, function: Function, costs: Costs) -> None:
        super().__init__(function)
        self.costs, self.changes = costs, False

    def inline(self, region: Region) -> None:
        rolls = Rounds(region, self.costs).rolls()
        if not rolls:
            super().inline(region)
            return
        self.changes = True
        last = {max(roll.rounds[-1].made, key=region.ops.index): roll for roll in rolls}
        gone = {op for roll in rolls for op in roll.ops}
        rest = [last.get(op, op) for op in region.ops if op in last or op not in gone]
        late = {value for roll in rolls for value in roll.handed}  # what waits for a loop
        while rest:
            waiting: list[Op | Roll] = []
            for each in rest:
                handed = each.results if isinstance(each, Op) else each.handed
                if not late.isdisjoint(used_by(each) if isinstance(each, Op) else each.takes):
                    waiting.append(each)
                    late.update(handed)
                    continue
                late.difference_update(handed)
                if isinstance(each, Op):
                    super().inline(Region(ops=[each]))
                else:
                    self.loop(each)
            assert len(waiting) < len(rest), waiting
            rest = waiting

    def loop(self, roll: Roll) -> None:
        build, links = self.build, roll.pattern.links
        starts = [self.new[link.before] for link in roll.rounds[0].links]
        names = ["i", *[link.op.result.name for link in links]]
        types = [INT, *[value.type for value in starts]]
        body = Region(tuple([Value(*each) for each in zip(types, names, strict=True)]))
        index, *carried = body.params
        outer = dict(self.new)
        with build.inside(body):
            numbers = self.lookups(index, roll)
            self.new.update(zip([link.before for link in links], carried, strict=True))
            for op, given in zip(roll.pattern.ops, numbers, strict=True):
                build.place = op.place
                operands = [n or self.new[v] for n, v in zip(given, op.operands, strict=True)]
                self.new.update(zip(op.results, self.copy(op, tuple(operands)), strict=True))
            following = build.emit("add", index, build.constant(INT, 1))
            go = build.emit("lt", following, build.constant(INT, len(roll.rounds)))
            body.results = (go, following, *[self.new[link.op.result] for link in links])
        self.new = outer
        operands = [build.constant(INT, 0), *starts]
        _, *results = build.append("loop", operands, types, [body], ["", *names[1:]])
        self.new.update(zip(roll.handed, results, strict=True))

    def lookups(self, index: Value, roll: Roll) -> list[list[Value | None]]:
        """The numbers in which rounds differ, for each operand of the pattern's operations."""
        known: dict[bytes, Value] = {}
        found: list[list[Value | None]] = []
        for op, rows in zip(roll.pattern.ops, zip(*roll.numbers, strict=True), strict=True):
            given: list[Value | None] = []
            for operand, column in zip(op.operands, zip(*rows, strict=True), strict=True):
                values = (
                    np.array(column, NUMPY_TYPE[operand.type.kind])
                    if column[0] is not None
                    else np.zeros(0)
                )
                bits = values.tobytes()
                if bits == values[:1].tobytes() * len(values):
                    given.append(None)
                    continue
                if bits not in known:
                    table = self.build.add_table("rounds", values)
                    known[bits] = self.build.emit("table", index, data=Lookup(table, operand.type))
                given.append(known[bits])
            found.append(given)
        return found
