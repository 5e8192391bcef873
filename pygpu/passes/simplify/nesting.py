"""Bounds how deep `if`s are nested: two hundred `elif`s, early returns or `break`s stand one in the
other. What is deep inside is taken out and put after, under a flag that says whether it is reached.

    if %0 { A } else { if %1 { B } else { if %2 { C } else { D } } }
      ->  %3, %4 = if %0 { A; yield false } else { if %1 { B; yield false } else { yield true } }
          if %4 { if %2 { C } else { D } } else { yield %3 }

So passes, code generators and compilers of drivers may recurse over regions. `if`s in the body of a
loop are counted by themselves: Python bounds how deep loops are nested. Nothing here recurses
deeper than what it makes is nested.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from pygpu.core.errors import CompileError
from pygpu.core.host.records import record
from pygpu.ssa import Function, Op, Region, Value, alike, normal, visit, walk
from pygpu.types import BOOL, Type

DEEPEST: Final = 32  # `if`s, one in the other

_TOO_DEEP: Final = (
    "loops and branches are nested too deep: what a loop asks of lists and strings of which only "
    "the device knows what they hold has loops and branches itself"
)


def bound_nesting(function: Function) -> Function:
    """The function with `if`s nested so deep at most; itself where none are deeper."""
    heights = _heights(function)
    if max(heights.values(), default=0) <= DEEPEST:
        return function
    try:
        return _Flat(function, heights).run()
    except RecursionError:  # loops of calls within loops of calls
        raise CompileError(_TOO_DEEP) from None


def _heights(function: Function) -> dict[Op, int]:
    """How many `if`s stand one in the other in each `if`, itself counted; 0 for loops."""
    heights: dict[Op, int] = {}
    for op, is_after in visit(function.body):
        if is_after and op.regions:
            inner = [heights[each] for region in op.regions for each in region.ops if each.regions]
            heights[op] = 1 + max(inner, default=0) if op.code == "if" else 0
    return heights


@record
class _Step:
    """An `if` on the way to what is deep inside, and its side that leads there. In that, the next
    step stands between the ops `before` and those `after`."""

    op: Op
    side: int
    before: Sequence[Op]
    after: Sequence[Op]

    @property
    def region(self) -> Region:
        return self.op.regions[self.side]


@record
class _Same:
    """Says that values are what others are."""

    values: Sequence[Value]
    others: Sequence[Value]


class _Flat:
    """Copies a function. `new` has the new values for the old ones."""

    def __init__(self, function: Function, heights: dict[Op, int]) -> None:
        self.function, self.heights = function, heights
        self.new: dict[Value, Value] = {}
        self.ops: list[Op] = []  # of the region being built
        self.blanks: dict[Type, Value] = {}
        self.head: list[Op] = []  # constants that stand before all else
        self.roots: set[Op] = set()  # `if`s whose regions count anew

    def run(self) -> Function:
        function = self.function
        body = self.region(function.body, is_root=True)
        made = Region(body.params, self.head + body.ops, body.results)
        return Function(function.name, function.images, function.tables, made)

    # ------------------------------------------------ copies

    def region(self, region: Region, is_root: bool) -> Region:
        params = tuple([Value(value.type, value.name) for value in region.params])
        self.new.update(zip(region.params, params, strict=True))
        made = Region(params)
        with self.inside(made):
            self.inline(region.ops, is_root)
            made.results = self.mapped(region.results)
        return made

    @contextmanager
    def inside(self, region: Region) -> Iterator[None]:
        outer, self.ops = self.ops, region.ops
        yield
        self.ops = outer

    def inline(self, ops: Sequence[Op], is_root: bool) -> None:
        """Copy ops. In a region that counts anew, what is nested too deep is flattened."""
        waiting: list[Op | _Same] = [*reversed(ops)]
        while waiting:
            op = waiting.pop()
            if isinstance(op, _Same):
                self.new.update(zip(op.values, self.mapped(op.others), strict=True))
            elif is_root and self.heights.get(op, 0) > DEEPEST:
                waiting += reversed(self.flattened(op))
            else:
                self.copy(op)

    def copy(self, op: Op) -> None:
        is_root = op.code == "loop" or op in self.roots
        regions = tuple([self.region(region, is_root) for region in op.regions])
        self.append(op, self.mapped(op.operands), op.results, regions)

    def append(
        self, op: Op, operands: Sequence[Value], results: Sequence[Value], regions: Sequence[Region]
    ) -> None:
        """An op like another one, of new operands, and of results for these old ones."""
        made = Op(op.code, tuple(operands), op.data, alike(results), tuple(regions), op.place)
        self.ops.append(made)
        self.new.update(zip(results, made.results, strict=True))

    def mapped(self, values: Sequence[Value]) -> tuple[Value, ...]:
        return tuple([self.new[value] for value in values])

    def blank(self, type: Type) -> Value:
        """What stands for a value that nobody reads."""
        if type not in self.blanks:
            op = Op("constant", (), (type, normal(type, 0)), (type,))
            self.head.append(op)
            self.blanks[type] = op.result
        return self.blanks[type]

    def flag(self, holds: bool) -> Value:
        op = Op("constant", (), (BOOL, holds), (BOOL,))
        self.ops.append(op)
        return op.result

    # ------------------------------------------------ what is too deep

    def flattened(self, op: Op) -> Sequence[Op | _Same]:
        """Copy an `if` without what is deep inside; what is to be copied after it in its place."""
        steps = self.steps(op)
        if len(steps) < DEEPEST:  # regions count anew where it does not go on
            self.roots.add(steps[-1].op)
            self.heights[op] = 0
            return [op]
        flag = Value(BOOL)
        self.cut(steps, 0, _needed(steps), flag)
        kept = [self.given(self.new[value]) for value in op.results]
        *outer, last = steps
        if not any(step.after for step in outer):
            deep = Region((), list(last.region.ops), tuple(_handed_on(outer, last)))
            return self.chosen(op, flag, deep, kept)
        blanks = [self.given(self.blank(value.type)) for value in last.op.results]
        inner = self.chosen(last.op, flag, last.region, blanks)
        ops, results = _after(outer, last)
        return [*inner, *ops, *self.chosen(op, flag, Region((), [], tuple(results)), kept)]

    def steps(self, op: Op) -> list[_Step]:
        """The way to what is deepest, so far as nothing but single ops stands after it."""
        found: list[_Step] = []
        while len(found) < DEEPEST - 1:
            high = [
                (self.heights.get(inner, 0), -side, -place)
                for side, region in enumerate(op.regions)
                for place, inner in enumerate(region.ops)
            ]
            _, side, place = max(high)
            side, place = -side, -place
            ops = op.regions[side].ops
            before, after = ops[:place], ops[place + 1 :]
            if any(each.regions for each in after):
                return [*found, _Step(op, side, before, after)]
            found.append(_Step(op, side, before, after))
            op = ops[place]
        highest = [max([self.heights.get(o, 0) for o in r.ops], default=0) for r in op.regions]
        return [*found, _Step(op, highest.index(max(highest)), (), ())]

    def cut(self, steps: Sequence[_Step], at: int, needed: Sequence[Value], flag: Value) -> None:
        """Copy the steps from one on, but for the region that the last leads to. Of values `needed`
        there and made on the way, those made within become results; so does the flag."""
        step = steps[at]
        within = {value for each in steps[at:-1] for op in each.before for value in op.results}
        inner = [value for value in needed if value in within]
        regions = []
        for side, region in enumerate(step.op.regions):
            made = Region()
            with self.inside(made):
                if side != step.side:
                    self.inline(region.ops, is_root=True)
                    blanks = [self.blank(value.type) for value in inner]
                    made.results = (*self.mapped(region.results), self.flag(False), *blanks)
                elif at == len(steps) - 1:
                    blanks = [self.blank(value.type) for value in region.results]
                    made.results = (*blanks, self.flag(True))
                else:
                    self.inline(step.before, is_root=True)
                    self.cut(steps, at + 1, needed, flag)
                    self.inline(step.after, is_root=True)
                    made.results = self.mapped((*region.results, flag, *inner))
            regions.append(made)
        results = (*step.op.results, flag, *inner)
        self.append(step.op, self.mapped(step.op.operands), results, regions)

    def chosen(
        self, op: Op, flag: Value, region: Region, others: Sequence[Value]
    ) -> Sequence[Op | _Same]:
        """The results of an op: what a region hands on under the flag, else others."""
        sides = region, Region((), [], tuple(others))
        made = Op("if", (flag,), None, alike(op.results), sides, op.place)
        inner = [self.heights[each] for each in region.ops if each.regions]
        self.heights[made] = 1 + max(inner, default=0)
        return [made, _Same(op.results, made.results)]

    def given(self, value: Value) -> Value:
        """An old value for a new one."""
        old = Value(value.type)
        self.new[old] = value
        return old


def _needed(steps: Sequence[_Step]) -> list[Value]:
    """What is made on the way and used by what is taken out or stands after it."""
    *outer, last = steps
    used = {value for op in walk(last.region) for value in op.operands}
    regions = [inner for op in walk(last.region) for inner in op.regions]
    for region in (last.region, *regions, *(step.region for step in outer)):
        used.update(region.results)
    used.update(value for step in outer for op in step.after for value in op.operands)
    made = [value for step in outer for op in step.before for value in op.results]
    return [value for value in made if value in used]


def _handed_on(outer: Sequence[_Step], last: _Step) -> Sequence[Value]:
    """What the last step's region hands on as the first one's results, computing nothing."""
    results: Sequence[Value] = last.region.results
    for step, inner in reversed(list(pairwise([*outer, last]))):
        left = dict(zip(inner.op.results, results, strict=True))
        results = [left.get(value, value) for value in step.region.results]
    return results


def _after(outer: Sequence[_Step], last: _Step) -> tuple[list[Op], Sequence[Value]]:
    """Copies of the ops after the steps, with the last one's results for the first one's."""
    ops: list[Op] = []
    results: Sequence[Value] = last.op.results
    for step, inner in reversed(list(pairwise([*outer, last]))):
        left = dict(zip(inner.op.results, results, strict=True))
        for op in step.after:
            operands = tuple([left.get(value, value) for value in op.operands])
            ops.append(Op(op.code, operands, op.data, alike(op.results), (), op.place))
            left.update(zip(op.results, ops[-1].results, strict=True))
        results = [left.get(value, value) for value in step.region.results]
    return ops, results
