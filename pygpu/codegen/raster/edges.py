"""The edges of a triangle within a tile, and what is interpolated, in native code.

See layout.py for the arithmetic: numbers of 64 bits where a triangle meets a tile, of 32 within. An
edge that has the whole of the tile's part inside, or outside, is not computed for its pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.text import Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.memory import read
from pygpu.core.host.records import record


@record
class Area:
    """The pixels of a tile that a triangle may cover: where they start, whole blocks of lanes and
    rows, and the last column and row."""

    left: Val
    top: Val
    right: Val
    bottom: Val
    wide: Val  # columns and rows from the first to the last of the last block
    tall: Val


@record
class Edge:
    """a * (x - left) + b * (y - top) + c, an int, which is at least 0 inside."""

    a: Val
    b: Val
    c: Val

    def at(self, code: Code, dx: Val, dy: Val, lanes: Val) -> Val:
        """In the lanes of a vector: dx and dy are those of the first."""
        start = self.c + self.b * dy + self.a * dx
        return code.splat(start, lanes.lanes) + code.splat(self.a, lanes.lanes) * lanes


class Edges:
    """The edges of a record in an area of a tile."""

    def __init__(self, code: Code, record: Val, area: Area, samples: int) -> None:
        self.code, self.record, self.area = code, record, area
        long = [
            [code.cast("sext", read(code, "int", record, offset + 4 * k), "long") for k in range(3)]
            for offset in (layout.A, layout.B)
        ]
        self.steps: list[tuple[Val, Val]] = list(zip(*long, strict=True))
        self.origins = [read(code, "long", record, layout.C + 8 * k) for k in range(3)]
        numbers = area.left, area.top, area.wide, area.tall
        self.left, self.top, self.wide, self.tall = (
            code.cast("sext", number, "long") for number in numbers
        )
        found = [[self._edge(k, *offset) for k in range(3)] for offset in layout.SAMPLES[samples]]
        self.samples: list[list[Edge]] = [[edge for edge, _ in sample] for sample in found]
        met = [reduce(Val.__and__, [some for _, some in sample]) for sample in found]
        self.is_met: Val = reduce(Val.__or__, met)  # whether any sample may be covered

    def start(self, k: int, across: int, down: int) -> Val:
        """floor(E / 256) at the first pixel of the area, for a sample off the centre."""
        a, b = self.steps[k]
        origin = self.origins[k] + a * across + b * down
        return (origin >> 8) + a * self.left + b * self.top

    def _edge(self, k: int, across: int, down: int) -> tuple[Edge, Val]:
        code, (a, b) = self.code, self.steps[k]
        start = self.start(k, across, down)
        changes = [(a * self.wide, a > 0), (b * self.tall, b > 0)]
        none = code.constant("long", 0)
        most = least = start
        for by, up in changes:
            most = most + code.select(up, by, none)
            least = least + code.select(up, none, by)
        inside, outside = least >= 0, most < 0
        c = code.select(inside, none, start)
        c = code.select(outside, code.constant("long", -1), c)
        alike = inside | outside
        numbers = [code.select(alike, none, a), code.select(alike, none, b), c]
        return Edge(*[code.cast("trunc", number, "int") for number in numbers]), ~outside


class Interpolation:
    """What is interpolated over a triangle: b = 0 to 1 towards the second corner, and the third."""

    def __init__(self, edges: Edges) -> None:
        self.code = code = edges.code
        record = edges.record
        self.inverse = read(code, "float", record, layout.INVERSE)
        is_large = read(code, "int", record, layout.IS_LARGE).ne(0)
        nothing, wide = code.constant("double", 0.0), code.to_float(self.inverse, "double")
        self.edges: list[Edge] = []
        self.rests: list[Val] = []
        for k in (1, 2):
            start = edges.start(k, 0, 0)
            rest = code.to_float(read(code, "float", record, layout.RESTS + 4 * (k - 1)), "double")
            # An int of 32 bits is right within a small triangle whatever it is where the area
            # starts. In a large one it counts from there.
            base = code.select(is_large, code.to_float(start, "double"), nothing)
            self.rests.append(code.to_float((base + rest) * wide, "float"))
            c = code.select(is_large, code.constant("long", 0), start)
            a, b = (code.cast("trunc", step, "int") for step in edges.steps[k])
            self.edges.append(Edge(a, b, code.cast("trunc", c, "int")))
        self.numbers = {
            offset: [read(code, "float", record, offset + 4 * k) for k in range(3)]
            for offset in (layout.DEPTH, layout.WEIGHT, layout.SECOND, layout.THIRD)
        }

    def shares(self, dx: Val, dy: Val, lanes: Val) -> list[Val]:
        """How far pixels are towards the second corner and the third, on the picture."""
        code = self.code
        found = []
        for edge, rest in zip(self.edges, self.rests, strict=True):
            whole = code.to_float(edge.at(code, dx, dy, lanes))
            found.append(code.fma(whole, self.inverse, rest))
        return found

    def moved(self, across: int, down: int) -> list[Val]:
        """How much the shares of a sample differ from those of the centre."""
        code, scale = self.code, self.inverse * (1 / 256)
        return [
            (code.to_float(edge.a) * across + code.to_float(edge.b) * down) * scale
            for edge in self.edges
        ]

    def number(self, offset: int, shares: Sequence[Val]) -> Val:
        """A number of the record, interpolated on the picture."""
        return blended(self.code, self.numbers[offset], shares)


def blended(code: Code, parts: Sequence[Val], shares: Sequence[Val]) -> Val:
    """A number at the first corner, and how much more it is at the others, by their shares."""
    first, *more = parts
    for part, share in zip(more, shares, strict=True):
        first = code.fma(share, part, first)
    return first
