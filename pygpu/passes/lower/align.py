"""Counters that are the same for all pixels that are still in a loop, counted once for all.

    n_2 = loop (n = 0) {                          n_2, _ = loop (n = 0, all = 0) {
      n_1, go = if c { add n, 1, true }     ->      n_1, go = if c { add all, 1, true }
                else { n, false }                             else { all, false }
      next go, n_1                                  next go, n_1, add all, 1

As `c` differs from pixel to pixel, so does what the loop leaves in `n`. Where it goes on, though,
all have added 1 as often: a texel at `x + all` lies in a vector with its neighbours'. Counters that
nothing is read by stay: vectors of them cost no more.
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter
from pygpu.passes.analysis.counters import counters
from pygpu.passes.analysis.variance import X, variance
from pygpu.ssa import Function, Op, Region, Value, walk
from pygpu.types import INT


def align(function: Function) -> Function:
    """The function with such counters carried twice; itself where there are none."""
    loops = [op for op in walk(function.body) if op.code == "loop"]
    bits = variance(function) if loops else {}
    steps: dict[Op, dict[int, int]] = {}
    for loop in loops:
        (body,) = loop.regions
        if not bits[body.results[0]] & X:
            continue
        found = {
            each.index: each.step
            for each in counters(loop)
            if bits[body.params[each.index]] & X and not bits[each.first] & X
        }
        if any(_is_place(loop, body.params[index]) for index in found):
            steps[loop] = found
    return _Aligning(function, steps).run() if steps else function


def _is_place(loop: Op, counter: Value) -> bool:
    """Whether a texel or an entry of a table is read by what is computed of a counter."""
    made = {counter}
    for op in walk(loop.regions[0]):
        if not made.isdisjoint(op.operands):
            if op.code in ("load", "table"):
                return True
            made.update(op.results)
    return False


class _Aligning(Rewriter):
    def __init__(self, function: Function, steps: dict[Op, dict[int, int]]) -> None:
        super().__init__(function)
        self.steps = steps

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op not in self.steps:
            return None
        build, steps, (body,) = self.build, self.steps[op], op.regions
        own = [Value(param.type, param.name) for param in body.params]
        common = {index: Value(INT, body.params[index].name) for index in steps}
        new = Region((*own, *common.values()))
        inside = [common.get(index, param) for index, param in enumerate(own)]
        self.new.update(zip(body.params, inside, strict=True))
        with build.inside(new):
            self.inline(body)
            following = [
                build.emit("add", value, build.constant(INT, steps[index]))
                for index, value in common.items()
            ]
            new.results = (*[self.new[value] for value in body.results], *following)
        names = [value.name for value in op.results]
        types = [param.type for param in new.params]
        starts = [*operands, *[operands[index] for index in steps]]
        made = build.append("loop", starts, types, [new], [*names, *[""] * len(steps)])
        return made[: len(own)]
