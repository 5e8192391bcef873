"""Native code: the LLVM IR of a function for spans of a row of pixels, several rows at once.

`emit` gives the text of one LLVM function, `span`, which computes the pixels x0 <= x < x1 of rows
y, y + 1, ... A value that changes along x is a vector with a lane a pixel, any other a scalar; a
vector of SSA is a tuple of those. A block is `vectors` x `rows` *cells*, each with its own values,
and what does not change between cells is computed once. Straight-line code runs through the cells
ordered by the source row it has reached, so that a row is loaded once for all the rows it serves.

Taps (loads near the pixel) read through pointers to rows, which the native loops (codegen/jobs)
point into the image or, near its edges, at padded copies: they need no boundary arithmetic. Lanes
that disagree on a branch or on leaving a loop have masks that say which of them are live.

    emit(Task(function, inputs, outputs), machine).text.startswith("define i32 @span(")
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import partial, reduce

from pygpu.codegen.llvm import boundary
from pygpu.codegen.llvm.block import WIDTH, Block, Masks, Values
from pygpu.codegen.llvm.body import READ
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.memory import store_block
from pygpu.codegen.llvm.operations import RULES, Formula, function
from pygpu.codegen.llvm.plan import Plan, TapSet, chooses, plan
from pygpu.codegen.llvm.schedule import Cell, bunched
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.passes.analysis.variance import X
from pygpu.ssa import Op, Region, Value, used_by, within

with later():
    from pygpu.codegen.llvm import control, loads
    from pygpu.passes.analysis import ranges
    from pygpu.passes.simplify import algebra


@record
class Emitted:
    """The IR and what the driver must know of it."""

    text: str
    plan: Plan


def emit(
    task: Task, machine: Machine, wide: bool = False, group: int = 1, at_ends: bool = False
) -> Emitted:
    """The IR of a task's function. `wide`: some image has 2**31 bytes or more; `group`: so many of
    its pixels are the components of a texel; `at_ends`: for the ends of rows, see boundary.py."""
    raw = chooses(task)
    if raw:
        machine = replace(machine, lanes=machine.lanes * 4 // task.inputs[0].dtype.itemsize)
    layout = plan(task, machine.lanes, raw, group)
    if layout.single:
        machine = replace(machine, lanes=1, streams=False)
    writer = Writer(task, machine, layout, wide)
    writer.at_ends = at_ends
    return Emitted(writer.write(), layout)


class Writer(Block):
    """Writes `span`: the frame here, loads and control flow in their modules."""

    # Loads that are read with one, itself among them; none of those that are read with another.
    with_first: Mapping[Op, Sequence[Op]] = {}
    ahead: Set[Op] = frozenset()  # computed before the loop over blocks, where there is one
    ranges: ranges.Ranges | None = None  # of the function's numbers, once they are asked for
    at_ends = False  # of rows: single vectors, in place of blocks
    side = boundary.WITHIN  # which end of a row is written

    # ------------------------------------------------------------ the frame

    def write(self) -> str:
        code = self.code
        y, x0, x1 = (Val(code, "int", 1, name, 0) for name in ("%y", "%x0", "%x1"))
        self.width = self.code.argument(WIDTH, "int")
        self.rows = self.row_pointers()
        self.uniforms()
        for r in range(self.plan.rows):
            self.env[self.f.y, 0, r] = (y + r,)
        if not self.plan.single:
            self.of_rows()
        if self.at_ends:
            self.ends(x0, x1)
        else:
            self.blocks(x0, x1)
        text = code.span(READ, READ, stops=self.stops)
        return f"{text}\n!0 = !{{i32 1}}\n" if self.machine.streams else text  # `!nontemporal !0`

    def blocks(self, x0: Val, x1: Val) -> None:
        with Loop(self.code, [x0]) as loop:
            self.pixels(loop.params[0])
            following = self.x + self.plan.vectors * self.machine.lanes
            loop.next(following < x1, [following])

    def pixels(self, x: Val) -> None:
        self.x = x
        for u in range(self.plan.vectors):
            self.env[self.f.x, u, 0] = (self.code.linear(self.x + u * self.machine.lanes),)
        self.body()
        self.write_outputs()

    def ends(self, x0: Val, x1: Val) -> None:
        """A single vector, at an end of a row or between: see boundary.py."""
        of_rows, self.plan = self.env, replace(self.plan, vectors=1)
        self.cells = [(0, r) for r in range(self.plan.rows)]
        for side in boundary.SIDES:
            with when(self.code, (x0 - x1).eq(side)):
                self.env, self.side = dict(of_rows), side
                self.pixels(x0)

    def of_rows(self) -> None:
        """Compute what does not change along a row, once for all blocks of a row. LLVM moves sums
        and products there by itself, but no branches, such as a sine has for large angles."""
        masks: Masks = dict.fromkeys(self.cells)
        ahead: set[Op] = set()
        later: set[Value] = set()  # what is computed in the loop
        for op in self.f.body.ops:
            used = set(used_by(op))
            for each in within(op):
                used.update(each.results, *[region.params for region in each.regions])
            is_of_rows = not any(self.bits.get(value, X) & X for value in used)
            if op.results and op.code != "load" and is_of_rows and later.isdisjoint(used):
                self.op(op, self.cells, masks)
                ahead.add(op)
            else:
                later.update(op.results)
        self.ahead = ahead

    def uniforms(self) -> None:
        slot = self.table_slot + len(self.f.tables)
        for value in self.f.uniforms:
            parts = [self.code.argument(slot + c, "int") for c in range(value.type.size)]
            slot += value.type.size
            if self.planar and value is self.f.uniforms[-1]:
                parts = [self.code.load("int", self.code.at(self.ctx, self.plane_slot * 8), 1, 8)]
            self.env[value, 0, 0] = tuple(
                [
                    part.ne(0)
                    if value.type.kind == "bool"
                    else self.code.bits(part, value.type.kind)
                    for part in parts
                ]
            )

    def row_pointers(self) -> dict[tuple[TapSet, int], Val]:
        """Of each tap set, a pointer for each source row; the results' rows are found later."""
        pointers, slot = {}, 0
        for taps in self.plan.taps:
            self.slots[taps] = slot
            for row in taps.rows:
                pointers[taps, row] = self.code.load("ptr", self.code.at(self.ctx, slot * 8), 1, 8)
                slot += 1
        self.output_slot = slot
        return pointers

    def write_outputs(self) -> None:
        """The last row first: rows below the tile, where a block reaches further, are written to
        its last row, which is written after them. (A branch would do; but LLVM would move into
        it all that only that row needs.)"""
        code, lanes, rows = self.code, self.machine.lanes, self.plan.rows
        for r in reversed(range(rows)):
            targets = [
                code.load("ptr", code.at(self.ctx, (self.output_slot + k) * 8), 1, 8)
                for k in range(r, len(self.outputs) * rows, rows)
            ]
            self.write_row(r, targets, lanes)

    def write_row(self, r: int, targets: list[Val], lanes: int) -> None:
        code = self.code
        for value, format, target in zip(self.f.outputs, self.outputs, targets, strict=True):
            texel = format.dtype.itemsize * format.channels
            start = code.at(target, code.cast("sext", self.x, "long") * texel)
            for u in range(self.plan.vectors):
                place = code.at(start, u * lanes * texel)
                texels, found = self.get(value, (u, r)), self.places.get((value, u, r))
                if found is None or not found.moved(place, format):
                    store_block(code, texels, place, format, self.plan.raw)

    def _loaded(self, taps: TapSet, row: int, dx: int, columns: int) -> Values:
        if self.side == boundary.WITHIN:
            return super()._loaded(taps, row, dx, columns)
        return boundary.texels_at_end(self, taps, row, dx, self.side)

    # ------------------------------------------------------------ ops

    def body(self) -> None:
        masks: Masks = dict.fromkeys(self.cells)
        self.waiting = {}
        if not self.plan.straight:
            self.region(self.f.body, self.cells, masks)
            return
        self.note_neighbours(self.f.body)
        for op in self.f.body.ops:
            if op.code == "constant":
                self.op(op, self.cells, masks)
        for bunch in bunched(self.plan.order(self.cells), self.is_fetched, loads.BUNCH):
            op, cell = bunch[0]
            if self.is_fetched(op, cell):
                loads.far_loads(self, bunch)
            else:
                self.op(op, [cell], masks)

    def is_fetched(self, op: Op, cell: Cell) -> bool:
        """Whether a load, whose place is known, takes texels from anywhere in one row."""
        if op.code != "load" or op in self.plan.late or op in self.plan.reaching:
            return False
        return op not in self.ahead and self.get(op.operands[1], cell)[0].lanes == 1

    def note_neighbours(self, region: Region) -> None:
        """Loads that are read with the first of those from one place, some at once."""
        if not loads.bundles(self):
            return
        groups: dict[tuple[object, ...], list[Op]] = {}
        for op in region.ops:
            if op.code == "load" and not (op in self.plan.late or op in self.plan.reaching):
                load = op.data
                key = load.image, load.boundary, load.cval, *op.operands
                groups.setdefault(key, []).append(op)
        noted: dict[Op, Sequence[Op]] = {}
        for ops in groups.values():
            is_wide = self.inputs[ops[0].data.image].nbytes > 4
            most = loads.BUNCH // 2 if is_wide else loads.BUNCH
            for i in range(0, len(ops), most):
                bunch = ops[i : i + most]
                noted.update(dict.fromkeys(bunch, ()))
                noted[bunch[0]] = bunch
        self.with_first = {**self.with_first, **noted}

    def region(self, region: Region, cells: Sequence[Cell], masks: Masks) -> None:
        self.note_neighbours(region)
        waiting, self.waiting = self.waiting, {}
        for op in region.ops:
            self.op(op, cells, masks)
        self.waiting = waiting

    def op(self, op: Op, cells: Sequence[Cell], masks: Masks) -> None:
        if op in self.plan.late or op in self.ahead:
            return
        if op in self.plan.reaching:
            loads.reach(self, op, cells)
        elif op.code == "load":
            together = self.with_first.get(op, [op])
            loads.far_loads(self, [(each, cell) for each in together for cell in cells])
        elif op.code == "loop":
            control.loop(self, op, cells, masks)
        elif op.code == "if":
            if not self.bits[op.operands[0]]:
                control.uniform_if(self, op, cells, masks)
            elif op in self.plan.cheap:
                control.both_sides(self, op, cells, masks)
            else:
                control.divergent_if(self, op, cells, masks)
        else:
            (result,) = op.results
            for u, r in self.cells_of(result, cells):
                if self.plan.straight and (result, u, r) in self.env:
                    continue
                self.env[result, u, r] = self.simple(op, (u, r))
                for value in op.operands:
                    self.waiting.pop((value, u, r), None)
                self.waiting[result, u, r] = self.env[result, u, r]

    def simple(self, op: Op, cell: Cell) -> Values:
        rule = RULES.get(op.code)
        if rule is None:
            laid_out = getattr(self, f"op_{op.code}", None)
            if laid_out is not None:
                return laid_out(op, cell)  # type: ignore[no-any-return]
            rule = self.function(op)
        operands = [self.get(value, cell) for value in op.operands]
        size = op.results[0].type.size
        if size == 1:
            return (rule(self.code, *[parts[0] for parts in operands]),)
        wide = [parts * size if len(parts) < size else parts for parts in operands]
        return tuple([rule(self.code, *parts) for parts in zip(*wide, strict=True)])

    def function(self, op: Op) -> Formula:
        """The rule of a function of floats; those that ask for it are told what theirs lie in."""
        rule = function(op.code)
        if op.code not in ("exp", "exp2"):
            return rule
        if self.ranges is None:
            self.ranges = ranges.Ranges(self.f, self.inputs)
        (value,) = op.operands
        low, high = self.ranges.bounds(value)
        known = algebra.sign(value)
        reach = max(low, 0.0) if known > 0 else low, min(high, 0.0) if known < 0 else high
        return partial(rule, reach=reach)

    def op_table(self, op: Op, cell: Cell) -> Values:
        return loads.table(self, op, cell)

    def op_constant(self, op: Op, cell: Cell) -> Values:
        type, number = op.data
        numbers = number if isinstance(number, tuple) else (number,)
        return tuple([self.code.constant(type.kind, n) for n in numbers])

    def op_width(self, op: Op, cell: Cell) -> Values:
        return (self.image(op.data, 1),)

    def op_height(self, op: Op, cell: Cell) -> Values:
        return (self.image(op.data, 2),)

    def op_construct(self, op: Op, cell: Cell) -> Values:
        return tuple([self.get(value, cell)[0] for value in op.operands])

    def op_splat(self, op: Op, cell: Cell) -> Values:
        count: int = op.data
        return self.get(op.operands[0], cell) * count

    def op_swizzle(self, op: Op, cell: Cell) -> Values:
        parts = self.get(op.operands[0], cell)
        taken: tuple[int, ...] = op.data
        return tuple([parts[index] for index in taken])

    def op_element(self, op: Op, cell: Cell) -> Values:
        parts = self.get(op.operands[0], cell)
        (index,) = self.get(op.operands[1], cell)
        result = parts[0]
        for place, part in enumerate(parts[1:], 1):
            result = self.code.select(index >= place, part, result)
        return (result,)

    def op_dot(self, op: Op, cell: Cell) -> Values:
        (x, *a), (y, *b) = (self.get(value, cell) for value in op.operands)
        result = x * y
        for x, y in zip(a, b, strict=True):
            result = self.code.multiply_add(x, y, result)
        return (result,)

    def op_any(self, op: Op, cell: Cell) -> Values:
        return (reduce(Val.__or__, self.get(op.operands[0], cell)),)

    def op_all(self, op: Op, cell: Cell) -> Values:
        return (reduce(Val.__and__, self.get(op.operands[0], cell)),)
