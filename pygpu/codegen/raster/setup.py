"""Native code that sets triangles up: from vertices in clip space to records and lists of tiles.

The native loop (codegen/jobs/driver.py) calls `span` with x0, the number of a chunk, and with
memory of the thread's own for %ctx. See layout.py for what it is given and what it leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Final

from pygpu.codegen.llvm.body import READ
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import counting, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.memory import fill, read, variable, write
from pygpu.codegen.raster.places import on_picture, point_at
from pygpu.codegen.raster.polygons import SIZE, Clipper, W, Z
from pygpu.core.drawing import Cull
from pygpu.core.host.records import record

SCRATCH: Final = 2 * SIZE
HALF: Final = layout.UNITS // 2
_SHARES: Final = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))  # of the second and third vertex, at each


def set_up(cull: Cull, samples: int, machine: Machine) -> str:
    """The IR of `span`."""
    return _Setup(machine, cull, samples).write()


@record
class _Corner:
    """A corner on the picture: its place in units, as ints of 64 bits, and what gives the fields of
    a polygon's corner."""

    x: Val
    y: Val
    fields: Callable[[], Sequence[Val]]


class _Setup:
    """Writes `span`."""

    def __init__(self, machine: Machine, cull: Cull, samples: int) -> None:
        self.code = code = Code(machine)
        self.cull, self.samples = cull, samples
        self.scratch = Val(code, "ptr", 1, "%ctx", 0)
        self.guard = self.given(layout.GUARD_X, "double"), self.given(layout.GUARD_Y, "double")
        self.total = variable(code, "long")  # records so far
        self.wide_total = variable(code, "int")
        self.clipper = Clipper(code, self.scratch, self.guard)

    def given(self, slot: int, kind: str = "long") -> Val:
        return self.code.argument(slot, kind)

    def number(self, value: float, kind: str = "long") -> Val:
        return self.code.constant(kind, value)

    def write(self) -> str:
        code = self.code
        chunk = code.cast("sext", Val(code, "int", 1, "%x0", 0), "long")
        tiles = self.given(layout.COLUMNS) * self.given(layout.ROWS)
        self.records = self.part(layout.RECORDS, chunk, layout.MOST_RECORDS * layout.RECORD)
        self.lists = self.part(layout.LISTS, chunk, layout.ENTRIES * 4)
        self.wide = self.part(layout.WIDE, chunk, layout.MOST_RECORDS * 4)
        self.starts = self.part(layout.STARTS, chunk, (tiles + 1) * 4)
        write(code, self.number(0), self.total)
        write(code, self.number(0, "int"), self.wide_total)
        fill(code, self.starts, (tiles + 1) * 4)
        first = chunk * layout.CHUNK
        count = code.minimum(self.given(layout.COUNT) - first, layout.CHUNK)
        with counting(code, count) as k:
            self.triangle(self.part(layout.TRIANGLES, first + k, 12))
        total = read(code, "long", self.total)
        self.sort(tiles, total)
        write(code, code.cast("trunc", total, "int"), self.part(layout.TOTALS, chunk, 4))
        wide = read(code, "int", self.wide_total)
        write(code, wide, self.part(layout.WIDE_TOTALS, chunk, 4))
        return code.span(args=READ)

    def part(self, slot: int, index: Val, size: Val | int) -> Val:
        """Where the part of an index begins, in memory that is given."""
        return self.code.at(self.given(slot, "ptr"), index * size)

    # ------------------------------------------------------------ one triangle

    def triangle(self, place: Val) -> None:
        """Make records of a triangle, given where its three indices are."""
        code = self.code
        self.vertices = [read(code, "int", place, 4 * k) for k in range(3)]
        numbers = [code.cast("zext", vertex, "long") for vertex in self.vertices]
        points = [self.part(layout.POSITIONS, number, 16) for number in numbers]
        places = [self.part(layout.PLACES, number, 16) for number in numbers]
        bits = [read(code, "int", each, layout.OUTSIDE) for each in places]
        every, some = reduce(Val.__and__, bits), reduce(Val.__or__, bits)
        with when(code, some.eq(0)):
            self.piece([self.projected(k, points[k], places[k]) for k in range(3)])
        with when(code, some.ne(0) & every.eq(0) & (some < layout.NOT_FINITE)):
            self.pieces([self.point(k, points[k]) for k in range(3)])

    def point(self, index: int, place: Val) -> list[Val]:
        """A vertex of the triangle as a corner of a polygon."""
        point = point_at(self.code, place)
        return [*point, *[self.number(share, "double") for share in _SHARES[index]]]

    def projected(self, index: int, point: Val, place: Val) -> _Corner:
        code = self.code
        x, y = (code.cast("sext", read(code, "int", place, 4 * k), "long") for k in (0, 1))
        return _Corner(x, y, lambda: self.point(index, point))

    def pieces(self, corners: list[list[Val]]) -> None:
        """Cut a triangle, and make records of what is left."""
        code, clipper = self.code, self.clipper
        for index, corner in enumerate(corners):
            clipper.put(self.scratch, self.number(index), corner)
        write(code, self.number(3), clipper.count)
        polygon = clipper.cut()
        with counting(code, read(code, "long", clipper.count) - 2) as k:
            self.piece([self.cut_corner(polygon, i) for i in (self.number(0), k + 1, k + 2)])

    def cut_corner(self, polygon: Val, index: Val) -> _Corner:
        corner = self.clipper.corner(polygon, index)
        x, y = on_picture(self.code, corner, self.given)
        return _Corner(x, y, lambda: corner)

    # ------------------------------------------------------------ one record

    def piece(self, corners: list[_Corner]) -> None:
        """Make a record of a triangle that was cut, if it covers anything."""
        code = self.code
        a, b, c = corners
        area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
        # With y downwards, what is counter-clockwise as seen has a negative area.
        kept = {"": area.ne(0), "back": area < 0, "front": area > 0}[self.cull]
        box, some = self.box(corners)
        with when(code, kept & some):
            is_front = area < 0
            total = read(code, "long", self.total)
            record = code.at(self.records, total * layout.RECORD)
            for k, side in enumerate(box):
                write(code, code.cast("trunc", side, "int"), record, layout.BOX + 4 * k)
            ordered = self.farthest_first(self.turned(is_front, corners))
            self.write_edges(record, ordered, code.absolute(area))
            self.write_numbers(record, ordered)
            self.enter(box, code.cast("trunc", total, "int"))
            write(code, total + 1, self.total)

    def turned(self, condition: Val, corners: list[_Corner]) -> list[_Corner]:
        """The corners; where the condition holds the last two the other way round."""
        choose = self.code.select
        a, b, c = corners
        fields = [corner.fields() for corner in corners]
        first, pairs = fields[0], list(zip(fields[1], fields[2], strict=True))
        second = [choose(condition, other, one) for one, other in pairs]
        third = [choose(condition, one, other) for one, other in pairs]
        return [
            _Corner(a.x, a.y, lambda: first),
            _Corner(choose(condition, c.x, b.x), choose(condition, c.y, b.y), lambda: second),
            _Corner(choose(condition, b.x, c.x), choose(condition, b.y, c.y), lambda: third),
        ]

    def farthest_first(self, corners: list[_Corner]) -> list[_Corner]:
        """The corners, beginning with that of the largest w: there 1/w and what is over w are
        least, and parts of others are added to them, so that sums of very different numbers lose
        no digits."""
        code = self.code
        w = [corner.fields()[W] for corner in corners]
        is_first, is_second = (w[0] >= w[1]) & (w[0] >= w[2]), w[1] >= w[2]

        def chosen(first: Val, second: Val, third: Val) -> Val:
            return code.select(is_first, first, code.select(is_second, second, third))

        def corner(k: int) -> _Corner:
            three = [corners[(k + turn) % 3] for turn in range(3)]
            each = zip(*[one.fields() for one in three], strict=True)
            fields = [chosen(*values) for values in each]
            x, y = chosen(*[one.x for one in three]), chosen(*[one.y for one in three])
            return _Corner(x, y, lambda: fields)

        return [corner(k) for k in range(3)]

    def box(self, corners: list[_Corner]) -> tuple[list[Val], Val]:
        """The pixels of the picture that may be covered: first and last column, first and last row;
        and whether there are any. With one sample those whose centres lie within the corners."""
        code, sides = self.code, []
        some = self.code.constant("bool", True)
        before, after = (HALF, HALF - 1) if self.samples == 1 else (0, 0)
        for slot, places in (
            (layout.WIDTH, [corner.x for corner in corners]),
            (layout.HEIGHT, [corner.y for corner in corners]),
        ):
            least, most = reduce(code.minimum, places), reduce(code.maximum, places)
            first = code.maximum((least + after) >> 8, 0)
            last = code.minimum((most - before) >> 8, self.given(slot) - 1)
            sides += [first, last]
            some = some & (first <= last)
        return sides, some

    def write_edges(self, record: Val, corners: Sequence[_Corner], area: Val) -> None:
        code = self.code
        inverse = 256.0 / code.to_float(area, "double")
        for k in range(3):
            start, end = corners[(k + 1) % 3], corners[(k + 2) % 3]
            a, b = start.y - end.y, end.x - start.x
            is_top_left = (a > 0) | (a.eq(0) & (b > 0))
            less = code.select(is_top_left, self.number(0), self.number(-1))
            c = a * (HALF - start.x) + b * (HALF - start.y) + less
            write(code, code.cast("trunc", a, "int"), record, layout.A + 4 * k)
            write(code, code.cast("trunc", b, "int"), record, layout.B + 4 * k)
            write(code, c, record, layout.C + 8 * k)
            if k:
                rest = code.to_float((c & 255) - less, "double") * (1 / 256)
                write(code, code.to_float(rest), record, layout.RESTS + 4 * (k - 1))
        write(code, code.to_float(inverse), record, layout.INVERSE)
        is_large = code.cast("zext", area >= layout.EXACT, "int")
        write(code, is_large, record, layout.IS_LARGE)

    def write_numbers(self, record: Val, corners: Sequence[_Corner]) -> None:
        """What is interpolated to find everything else; 1/w as a part of the largest one."""
        code = self.code
        fields = [corner.fields() for corner in corners]
        least = reduce(code.minimum, [f[W] for f in fields])
        weights = [least / f[W] for f in fields]
        numbers = {
            layout.DEPTH: [f[Z] / f[W] * 0.5 + 0.5 for f in fields],
            layout.WEIGHT: weights,
            layout.SECOND: [f[4] * w for f, w in zip(fields, weights, strict=True)],
            layout.THIRD: [f[5] * w for f, w in zip(fields, weights, strict=True)],
        }
        for offset, (first, *others) in numbers.items():
            values = [first, *[other - first for other in others]]
            for k, value in enumerate(values):
                write(code, code.to_float(value), record, offset + 4 * k)
        for k, vertex in enumerate(self.vertices):
            write(code, vertex, record, layout.CORNERS + 4 * k)

    # ------------------------------------------------------------ lists of tiles

    def tiles(self, box: Sequence[Val]) -> list[Val]:
        """The tiles of a box of pixels, in the order of a box."""
        return [self.code.binary("lshr", side, layout.TILE_BITS) for side in box]

    def enter(self, box: Sequence[Val], index: Val) -> None:
        """Count a record for the tiles that it may touch."""
        code = self.code
        left, right, top, bottom = self.tiles(box)
        is_wide = (right - left + 1) * (bottom - top + 1) > layout.FEW
        with when(code, is_wide):
            count = read(code, "int", self.wide_total)
            write(code, index, self.wide, code.cast("zext", count, "long") * 4)
            write(code, count + 1, self.wide_total)
        with when(code, ~is_wide), self.each_tile(left, right, top, bottom) as place:
            write(code, read(code, "int", place) + 1, place)

    @contextmanager
    def each_tile(self, left: Val, right: Val, top: Val, bottom: Val) -> Iterator[Val]:
        """The body for where the count of each of these tiles is."""
        code = self.code
        with counting(code, bottom - top + 1) as row, counting(code, right - left + 1) as column:
            tile = (top + row) * self.given(layout.COLUMNS) + left + column
            yield code.at(self.starts, tile * 4)

    def sort(self, tiles: Val, total: Val) -> None:
        """Make lists of what was counted: each tile's records in their order."""
        code = self.code
        with counting(code, tiles) as k:
            place = code.at(self.starts, k * 4)
            following = code.at(place, 4)
            write(code, read(code, "int", following) + read(code, "int", place), following)
        # Each number is where the tile's list ends: filled from the last record to the first, it
        # becomes where it begins.
        with counting(code, total) as k:
            index = total - 1 - k
            record = code.at(self.records, index * layout.RECORD)
            box = [
                code.cast("zext", read(code, "int", record, layout.BOX + 4 * side), "long")
                for side in range(4)
            ]
            left, right, top, bottom = self.tiles(box)
            is_wide = (right - left + 1) * (bottom - top + 1) > layout.FEW
            with when(code, ~is_wide), self.each_tile(left, right, top, bottom) as place:
                slot = read(code, "int", place) - 1
                write(code, slot, place)
                number = code.cast("trunc", index, "int")
                write(code, number, self.lists, code.cast("zext", slot, "long") * 4)
