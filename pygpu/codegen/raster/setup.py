"""Native code that sets triangles up: from vertices in clip space to records and lists of tiles.

The native loop (codegen/llvm/driver.py) calls `span` with x0, the number of a chunk, and with
memory of the thread's own for %ctx. See layout.py for what it is given and what it leaves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import reduce
from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import counting, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.memory import fill, read, variable, write
from pygpu.codegen.raster.polygons import SIZE, Clipper, W, X, Y, Z, distances
from pygpu.core.drawing import Cull

SCRATCH: Final = 2 * SIZE
HALF: Final = layout.UNITS // 2
_WHOLE: Final = 1.5 * 2.0**52  # added to a float64 it leaves the nearest int in the lower bits
_SHARES: Final = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))  # of the second and third vertex, at each


def set_up(machine: Machine, cull: Cull, samples: int) -> str:
    """The IR of `span`."""
    return _Setup(machine, cull, samples).write()


@dataclass(frozen=True, slots=True)
class _Corner:
    """A corner on the picture: its place in units, as ints of 64 bits, and the polygon's fields."""

    x: Val
    y: Val
    fields: Sequence[Val]


class _Setup:
    def __init__(self, machine: Machine, cull: Cull, samples: int) -> None:
        self.code = code = Code(machine)
        self.cull, self.samples = cull, samples
        self.scratch, self.args = (Val(code, "ptr", 1, name, 0) for name in ("%ctx", "%args"))
        self.guard = self.given(layout.GUARD_X, "double"), self.given(layout.GUARD_Y, "double")
        self.total = variable(code, "long")  # records so far
        self.wide_total = variable(code, "int")
        self.polygon = variable(code, "ptr")
        self.clipper = Clipper(code, self.scratch, self.guard)

    def given(self, slot: int, kind: str = "long") -> Val:
        return self.code.load(kind, self.code.at(self.args, slot * 8), 1, 8)

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
        code.line("ret i32 0")
        parameters = "ptr %ctx, ptr noalias readonly %args, i32 %y, i32 %x0, i32 %x1"
        return f"define i32 @span({parameters}) #0 {{\n{code.text()}\n}}\n" + code.helpers()

    def part(self, slot: int, index: Val, size: Val | int) -> Val:
        """Where the part of an index begins, in memory that is given."""
        return self.code.at(self.given(slot, "ptr"), index * size)

    # ------------------------------------------------------------ one triangle

    def triangle(self, place: Val) -> None:
        """Make records of a triangle, given where its three indices are."""
        code = self.code
        self.vertices = [read(code, "int", place, 4 * k) for k in range(3)]
        corners, outside, zero = [], [], self.number(0.0, "double")
        for vertex, shares in zip(self.vertices, _SHARES, strict=True):
            place = self.part(layout.POSITIONS, code.cast("zext", vertex, "long"), 16)
            point = [code.to_float(read(code, "float", place, 4 * c), "double") for c in range(4)]
            # A product with 0 that is not 0: the factor is not finite.
            zero = reduce(Val.__add__, [component * 0.0 for component in point], zero)
            corners.append([*point, *[self.number(share, "double") for share in shares]])
            outside.append(self.outside(point))
        every, some = reduce(Val.__and__, outside), reduce(Val.__or__, outside)
        with when(code, every.eq(0) & zero.eq(0.0)):
            for index, corner in enumerate(corners):
                self.clipper.put(self.scratch, self.number(index), corner)
            write(code, self.number(3), self.clipper.count)
            write(code, self.scratch, self.polygon)
            with when(code, some.ne(0)):
                write(code, self.clipper.cut(), self.polygon)
            polygon = read(code, "ptr", self.polygon)
            with counting(code, read(code, "long", self.clipper.count) - 2) as k:
                fan = [self.number(0), k + 1, k + 2]
                self.piece([self.on_picture(self.clipper.corner(polygon, i)) for i in fan])

    def outside(self, point: list[Val]) -> Val:
        """A bit for each plane that a point lies outside of."""
        code = self.code
        bits = [
            code.select(distance >= 0.0, self.number(0, "int"), self.number(1 << k, "int"))
            for k, distance in enumerate(distances(code, point, self.guard))
        ]
        return reduce(Val.__or__, bits)

    def on_picture(self, corner: list[Val]) -> _Corner:
        x, y, w = corner[X], corner[Y], corner[W]
        across = (x / w * 0.5 + 0.5) * self.scaled(layout.WIDTH)
        down = (0.5 - y / w * 0.5) * self.scaled(layout.HEIGHT)
        return _Corner(self.rounded(across), self.rounded(down), corner)

    def scaled(self, slot: int) -> Val:
        return self.code.to_float(self.given(slot) * layout.UNITS, "double")

    def rounded(self, value: Val) -> Val:
        """To the nearest int, of two the even one."""
        code = self.code
        whole = code.bits(self.number(_WHOLE, "double"), "long")
        return code.bits(value + _WHOLE, "long") - whole

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
            second = self.either(is_front, c, b)
            third = self.either(is_front, b, c)
            total = read(code, "long", self.total)
            record = code.at(self.records, total * layout.RECORD)
            for k, side in enumerate(box):
                write(code, code.cast("trunc", side, "int"), record, layout.BOX + 4 * k)
            size = code.absolute(area)
            self.write_edges(record, (a, second, third), size)
            self.write_numbers(record, (a, second, third))
            self.enter(box, code.cast("trunc", total, "int"))
            write(code, total + 1, self.total)

    def either(self, condition: Val, first: _Corner, second: _Corner) -> _Corner:
        choose = self.code.select
        fields = zip(first.fields, second.fields, strict=True)
        return _Corner(
            choose(condition, first.x, second.x),
            choose(condition, first.y, second.y),
            [choose(condition, one, other) for one, other in fields],
        )

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
        fields = [corner.fields for corner in corners]
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
