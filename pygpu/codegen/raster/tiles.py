"""Native code that draws the tiles of a picture: which pixels each triangle covers, depths, the
fragment's code on them, blending.

The native loop (codegen/jobs/driver.py) calls `span` with x0, the number of a tile. It draws the
tile's records (layout.py) one after the other, in blocks of a register's lanes along a row; of two
rows where the fragment takes differences of pixels. Lanes that a triangle does not cover are
computed with the others and keep what was in memory. The varyings are images to the function: their
texels are interpolated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Final

from pygpu.codegen.llvm.block import HEIGHT, WIDTH, Masks, Values
from pygpu.codegen.llvm.body import READ
from pygpu.codegen.llvm.flow import Loop, counting, when
from pygpu.codegen.llvm.memory import deinterleave, interleave
from pygpu.codegen.llvm.plan import Plan
from pygpu.codegen.llvm.schedule import Cell, is_cheap
from pygpu.codegen.llvm.span import Emitted, Writer
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.blending import BLENDS
from pygpu.codegen.raster.edges import Area, Edge, Edges, Interpolation, blended
from pygpu.codegen.raster.memory import read
from pygpu.codegen.raster.planes import Planes, Target, Tile
from pygpu.core.drawing import Drawing
from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task
from pygpu.passes.analysis.counters import find_bounded
from pygpu.passes.analysis.variance import variance
from pygpu.ssa import Function, Op, Value, walk

_LAST: Final = 2**31 - 1  # after all records


def tiles(drawing: Drawing, task: Task, machine: Machine, wide: bool) -> Emitted:
    """The IR of `span`. The task's function is the fragment's, whose last images are varyings."""
    first = len(task.function.images) - drawing.fragment.count
    layout_of = _plan(task.function, machine.lanes, first)
    writer = _Tiles(task, machine, layout_of, wide)
    writer.drawing = drawing
    return Emitted(writer.write(), layout_of)


def _plan(function: Function, lanes: int, first: int) -> Plan:
    """How a fragment is laid out: what is read of the images from `first` on is interpolated."""
    ops = list(walk(function.body))
    made = Plan(function, lanes, variance(function))
    made.late = {op for op in ops if op.code == "load" and op.data.image >= first}
    made.cheap = {op for op in ops if op.code == "if" and is_cheap(op)}
    find_bounded(function.body, made.bounded)
    made.loops = any(op.code == "loop" and op not in made.bounded for op in ops)
    made.meeting = any(TABLE[op.code].of_neighbours for op in ops if op.code in TABLE)
    made.rows = 2 if made.meeting else 1
    return made


Lanes = list[list[Val]]  # a vector for each sample and each row of a block
Tested = tuple[Lanes, Lanes, Lanes]


@record(frozen=False)
class _Place:
    """Where a block is: its first pixel, also as counted from where the triangle's area starts, and
    a number of 64 bits for that pixel in memory."""

    x: Val
    y: Val
    dx: Val
    dy: Val
    pixel: Val


class _Tiles(Writer):
    """Writes `span`: a function's operations as for any pixels, where a triangle covers some."""

    of_planes = False  # another loop says in %args where images begin
    drawing: Drawing

    # ------------------------------------------------------------ tiles and their records

    def write(self) -> str:
        code = self.code
        tile = Val(code, "int", 1, "%x0", 0)
        self.width = self.code.argument(WIDTH, "int")
        self.height = self.code.argument(HEIGHT, "int")
        self.uniforms()
        self.own = self.table_slot + len(self.f.tables)
        self.own += sum(value.type.size for value in self.f.uniforms)
        self.lanes = code.ramp(code.constant("int", 0), self.machine.lanes)
        depths = [1] if self.drawing.depth else []
        sizes = [*depths, *[type.size for type in self.drawing.colours]]
        self.planes = Planes(code, self.given, sizes, self.drawing.samples)
        self.targets = self.planes.targets
        columns = code.cast("trunc", self.given(layout.TILE_COLUMNS), "int")
        left = code.binary("srem", tile, columns) << layout.TILE_BITS
        top = code.binary("sdiv", tile, columns) << layout.TILE_BITS
        right = code.minimum(left + layout.TILE, self.width) - 1
        bottom = code.minimum(top + layout.TILE, self.height) - 1
        self.tile = Tile(left, top, right, bottom)
        with when(code, self.given(layout.BEGINS).ne(0)):
            self.planes.begin(self.tile)
        with counting(code, self.given(layout.TILE_CHUNKS)) as chunk:
            self.chunk(chunk, code.cast("sext", tile, "long"))
        with when(code, self.given(layout.ENDS).ne(0)):
            self.planes.finish(self.tile, self.ctx)
        return code.span(args=READ, stops=self.stops)

    def given(self, slot: int, kind: str = "long") -> Val:
        return self.code.argument(self.own + slot, kind)

    def part(self, slot: int, index: Val, size: Val | int) -> Val:
        return self.code.at(self.given(slot, "ptr"), index * size)

    def chunk(self, chunk: Val, tile: Val) -> None:
        """The records of a chunk: those in the tile's list and those that are wide, in order."""
        code = self.code
        count = self.given(layout.TILE_COLUMNS) * self.given(layout.TILE_ROWS) + 1
        starts = self.part(layout.TILE_STARTS, chunk, count * 4)
        first = read(code, "int", starts, tile * 4)
        end = read(code, "int", starts, tile * 4 + 4)
        wide = read(code, "int", self.part(layout.TILE_WIDE_TOTALS, chunk, 4))
        lists = self.part(layout.TILE_LISTS, chunk, layout.ENTRIES * 4)
        all_wide = self.part(layout.TILE_WIDE, chunk, layout.MOST_RECORDS * 4)
        records = self.part(layout.TILE_RECORDS, chunk, layout.MOST_RECORDS * layout.RECORD)
        none = code.constant("int", 0)
        with when(code, (first < end) | (wide > 0)), Loop(code, [first, none]) as loop:
            here, there = loop.params
            pairs = (lists, here, end, layout.ENTRIES), (all_wide, there, wide, layout.MOST_RECORDS)
            one, other = (self._next(*pair) for pair in pairs)
            index = code.cast("sext", code.minimum(one, other), "long")
            self.triangle(code.at(records, index * layout.RECORD))
            is_one = one < other
            here, there = (
                here + code.cast("zext", is_one, "int"), there + code.cast("zext", ~is_one, "int")
            )  # fmt: skip
            loop.next((here < end) | (there < wide), [here, there])

    def _next(self, numbers: Val, index: Val, end: Val, room: int) -> Val:
        """The number at an index of a list; after its end one that is larger than all."""
        code = self.code
        place = code.cast("sext", code.minimum(index, room - 1), "long")
        number = read(code, "int", numbers, place * 4)
        return code.select(index < end, number, code.constant("int", _LAST))

    # ------------------------------------------------------------ a triangle

    def triangle(self, record: Val) -> None:
        """Draw a record where it may cover pixels of the tile."""
        code, rows = self.code, self.plan.rows
        box = [read(code, "int", record, layout.BOX + 4 * side) for side in range(4)]
        tile = self.tile
        left, top = code.maximum(box[0], tile.left), code.maximum(box[2], tile.top)
        right, bottom = code.minimum(box[1], tile.right), code.minimum(box[3], tile.bottom)
        first, above = left & -self.machine.lanes, top & -rows
        wide = (right - first) | (self.machine.lanes - 1)
        area = Area(first, above, right, bottom, wide, (bottom - above) | (rows - 1))
        edges = Edges(code, record, area, self.drawing.samples)
        with when(code, (left <= right) & (top <= bottom) & edges.is_met):
            self.edges, self.between = edges, Interpolation(edges)
            self.varyings = self._varyings(record)
            with self._blocks(area) as place:
                self.block(place)

    def _varyings(self, record: Val) -> dict[Value, list[list[Val]]]:
        """Of each component of what is interpolated: at the triangle's first vertex, and how much
        more it is at the second and the third."""
        code, found = self.code, {}
        vertices = [read(code, "int", record, layout.CORNERS + 4 * k) for k in range(3)]
        indices = [code.cast("zext", vertex, "long") for vertex in vertices]
        for op in walk(self.f.body):
            if op not in self.plan.late:
                continue
            size = op.result.type.size
            starts = [
                code.at(self.image(op.data.image, 0, "ptr"), index * (4 * size))
                for index in indices
            ]
            parts = []
            for component in range(size):
                first, *more = (read(code, "float", start, 4 * component) for start in starts)
                parts.append([first, *[value - first for value in more]])
            found[op.result] = parts
        return found

    @contextmanager
    def _blocks(self, area: Area) -> Iterator[_Place]:
        """The body for each block of an area."""
        code, lanes, step = self.code, self.machine.lanes, self.plan.rows
        with Loop(code, [area.top]) as rows:
            (y,) = rows.params
            with Loop(code, [area.left]) as columns:
                (x,) = columns.params
                yield _Place(x, y, x - area.left, y - area.top, self.planes.pixel(x, y))
                columns.next(x + lanes <= area.right, [x + lanes])
            rows.next(y + step <= area.bottom, [y + step])

    # ------------------------------------------------------------ a block of pixels

    def block(self, place: _Place) -> None:
        """Draw the triangle in a block: what is covered and nearer than what is there. Depths are
        written before the fragment is computed, unless it may be dropped."""
        code = self.code
        covered = [
            [self.covered(edges, place, row) for row in range(self.plan.rows)]
            for edges in self.edges.samples
        ]
        with when(code, self.anywhere(covered)):
            shares = [
                self.between.shares(place.dx, place.dy + row, self.lanes)
                for row in range(self.plan.rows)
            ]
            if not self.drawing.depth:
                self.shade(place, covered, shares)
                return
            old, depths, passing = self.tested(place, covered, shares)
            with when(code, self.anywhere(passing)):
                if not self.drawing.discards:
                    self.write_depths(place, passing, depths, old)
                drawn = self.shade(place, passing, shares)
                if self.drawing.discards:
                    self.write_depths(place, drawn, depths, old)

    def anywhere(self, masks: Sequence[Sequence[Val]]) -> Val:
        return self.code.anywhere(reduce(Val.__or__, [mask for row in masks for mask in row]))

    def covered(self, edges: Sequence[Edge], place: _Place, row: int) -> Val:
        """The lanes of a row that a sample is covered in: where no number is negative."""
        code, dy = self.code, place.dy + row
        signs = [edge.at(code, place.dx, dy, self.lanes) for edge in edges]
        room = code.splat(self.width - 1 - place.x, self.machine.lanes) - self.lanes
        signs.append(room)
        if row:
            signs.append(code.splat(self.height - 1 - (place.y + row), self.machine.lanes))
        return reduce(Val.__or__, signs) >= 0

    def tested(
        self, place: _Place, covered: Sequence[Sequence[Val]], shares: Sequence[Sequence[Val]]
    ) -> Tested:
        """Of each sample and row: the depths in memory, those of the triangle, and the lanes where
        it is nearer."""
        code = self.code
        found: Tested = ([], [], [])
        target = self.targets[0]
        for sample, masks in enumerate(covered):
            moved = self.between.moved(*layout.SAMPLES[self.drawing.samples][sample])
            olds, depths = [], []
            for row in range(self.plan.rows):
                at_sample = [s + by for s, by in zip(shares[row], moved, strict=True)]
                depths.append(self.between.number(layout.DEPTH, at_sample))
                memory = self.row_memory(target, place, sample, row)
                olds += target.get(code, memory, self.machine.lanes)
            passing = [m & (z < old) for m, z, old in zip(masks, depths, olds, strict=True)]
            for all_of, some in zip(found, (olds, depths, passing), strict=True):
                all_of.append(some)
        return found

    def row_memory(self, target: Target, place: _Place, sample: int, row: int) -> Val:
        pixel = place.pixel + self.planes.pitch * row if row else place.pixel
        return self.planes.memory(target, pixel, sample)

    def write_depths(
        self,
        place: _Place,
        masks: Sequence[Sequence[Val]],
        depths: Sequence[Sequence[Val]],
        old: Sequence[Sequence[Val]],
    ) -> None:
        code, target = self.code, self.targets[0]
        for sample, rows in enumerate(masks):
            for row, mask in enumerate(rows):
                value = code.select(mask, depths[sample][row], old[sample][row])
                target.put(code, self.row_memory(target, place, sample, row), [value])

    # ------------------------------------------------------------ the fragment

    def shade(
        self, place: _Place, masks: list[list[Val]], shares: Sequence[Sequence[Val]]
    ) -> list[list[Val]]:
        """Compute the fragment and write its colours under masks; which of them it did not drop."""
        code = self.code
        self.x = place.x
        self.env[self.f.x, 0, 0] = (code.linear(place.x),)
        for row in range(self.plan.rows):
            self.env[self.f.y, 0, row] = (place.y + row,)
            self.interpolate(row, shares[row])
        self.region(self.f.body, self.cells, self.live(masks))
        outputs = list(self.f.outputs)
        if self.drawing.discards:
            dropped = outputs.pop()
            kept = [~self.get(dropped, (0, row))[0] for row in range(self.plan.rows)]
            masks = [[m & k for m, k in zip(rows, kept, strict=True)] for rows in masks]
        colours = self.targets[-len(outputs) :]
        for target, value in zip(colours, outputs, strict=True):
            for row in range(self.plan.rows):
                parts = self.get(value, (0, row))
                wide = [code.splat(part, self.machine.lanes) for part in parts]
                for sample, rows in enumerate(masks):
                    memory = self.row_memory(target, place, sample, row)
                    self.draw(target, memory, wide, rows[row])
        return masks

    def live(self, masks: Sequence[Sequence[Val]]) -> Masks:
        """The lanes that control flow follows: also those whose values others may ask for."""
        code = self.code
        rows = [reduce(Val.__or__, row) for row in zip(*masks, strict=True)]
        if self.plan.meeting:
            both = reduce(Val.__or__, rows)
            swapped = [lane ^ 1 for lane in range(self.machine.lanes)]
            both = both | code.shuffle(both, None, swapped)
            rows = [both] * len(rows)
        return dict(zip(self.cells, rows, strict=True))

    def interpolate(self, row: int, shares: Sequence[Val]) -> None:
        """The varyings of a row. The shares of the vertices in space are those on the picture,
        weighted by how near each corner is."""
        if not self.varyings:
            return
        weight, second, third = (
            self.between.number(offset, shares)
            for offset in (layout.WEIGHT, layout.SECOND, layout.THIRD)
        )
        inverse = 1.0 / weight
        in_space = [second * inverse, third * inverse]
        for value, components in self.varyings.items():
            parts = [
                self.code.splat(blended(self.code, part, in_space), self.machine.lanes)
                for part in components
            ]
            self.env[value, 0, row] = tuple(parts)

    def draw(self, target: Target, memory: Val, parts: list[Val], mask: Val) -> None:
        """Write a colour where the mask holds."""
        code, lanes = self.code, self.machine.lanes
        old = target.get(code, memory, lanes)
        if self.drawing.blend:
            under = deinterleave(code, old)
            parts = BLENDS[self.drawing.blend](code, parts, under)
        n = target.channels
        new = []
        for index, (value, before) in enumerate(zip(interleave(code, parts), old, strict=True)):
            places = [(index * lanes + e) // n for e in range(lanes)]
            taken = mask if n == 1 else code.shuffle(mask, None, places)
            new.append(code.select(taken, value, before))
        target.put(code, memory, new)

    def op_ddx(self, op: Op, cell: Cell) -> Values:
        code, lanes = self.code, range(self.machine.lanes)
        found = []
        for part in self.get(op.operands[0], cell):
            wide = code.splat(part, self.machine.lanes)
            right, left = (
                code.shuffle(wide, None, [lane & ~1 | one for lane in lanes]) for one in (1, 0)
            )
            found.append(right - left)
        return tuple(found)

    def op_ddy(self, op: Op, cell: Cell) -> Values:
        upper, lower = (self.get(op.operands[0], (0, row)) for row in range(2))
        return tuple([b - a for a, b in zip(upper, lower, strict=True)])
