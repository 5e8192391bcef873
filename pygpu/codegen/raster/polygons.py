"""Triangles cut at planes, in clip space and in float64, in native code.

A polygon lies in memory: of each corner x, y, z, w and the shares that the triangle's second and
third vertex have in it, all float64. Where a side crosses a plane, the new corner is computed from
the side's end inside to that outside, whichever comes first: so two triangles that share a side are
cut at the same point.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import counting, when
from pygpu.codegen.llvm.text import Val
from pygpu.codegen.raster.layout import MOST_CORNERS, PLANES
from pygpu.codegen.raster.memory import read, variable, write

X, Y, Z, W = range(4)
FIELDS: Final = 6
CORNER: Final = 8 * FIELDS  # bytes
SIZE: Final = CORNER * MOST_CORNERS  # bytes of a polygon
LEAST_W: Final = 1e-20  # below which nothing is in front of the eye


def distances(code: Code, corner: list[Val], guard: tuple[Val, Val]) -> list[Val]:
    """How far a point lies inside each of the planes: near, far, in front of the eye, and four at
    the sides of what the arithmetic of pixels holds."""
    x, y, z, w = corner[:4]
    across, down = w * guard[0], w * guard[1]
    found = [z + w, w - z, w - LEAST_W, across + x, across - x, down + y, down - y]
    assert len(found) == PLANES
    return found


class Clipper:
    """Cuts the polygon in one of two buffers; `count` has how many corners it has."""

    def __init__(self, code: Code, scratch: Val, guard: tuple[Val, Val]) -> None:
        self.code, self.guard = code, guard
        self.buffers = scratch, code.at(scratch, SIZE)
        self.count = variable(code, "long")
        self.made = variable(code, "long")

    def corner(self, polygon: Val, index: Val) -> list[Val]:
        place = self.code.at(polygon, index * CORNER)
        return [read(self.code, "double", place, 8 * k) for k in range(FIELDS)]

    def put(self, polygon: Val, index: Val, corner: list[Val]) -> None:
        place = self.code.at(polygon, index * CORNER)
        for k, value in enumerate(corner):
            write(self.code, value, place, 8 * k)

    def cut(self) -> Val:
        """Cut the polygon in the first buffer at all planes; where it is then."""
        for plane in range(PLANES):
            source, target = self.buffers[plane % 2], self.buffers[(plane + 1) % 2]
            self._cut_at(plane, source, target)
        return self.buffers[PLANES % 2]

    def _cut_at(self, plane: int, source: Val, target: Val) -> None:
        code = self.code
        count = read(code, "long", self.count)
        write(code, code.constant("long", 0), self.made)
        with counting(code, count) as k:
            following = code.select((k + 1).eq(count), code.constant("long", 0), k + 1)
            here, there = self.corner(source, k), self.corner(source, following)
            d, e = (distances(code, corner, self.guard)[plane] for corner in (here, there))
            inside, next_inside = d >= 0.0, e >= 0.0
            with when(code, inside):
                self._push(target, here)
            with when(code, inside.ne(next_inside)):
                ends = zip(here, there, strict=True)
                pairs = [(code.select(inside, a, b), code.select(inside, b, a)) for a, b in ends]
                near, far = code.select(inside, d, e), code.select(inside, e, d)
                share = near / (near - far)
                self._push(target, self._onto(plane, [a + (b - a) * share for a, b in pairs]))
        write(code, read(code, "long", self.made), self.count)

    def _onto(self, plane: int, corner: list[Val]) -> list[Val]:
        """A point near a plane moved onto it: it may have been computed from huge numbers."""
        x, y, z, w, *shares = corner
        across, down = w * self.guard[0], w * self.guard[1]
        on_plane = [
            (x, y, -w, w),
            (x, y, w, w),
            (x, y, z, self.code.constant("double", LEAST_W)),
            (-across, y, z, w),
            (across, y, z, w),
            (x, -down, z, w),
            (x, down, z, w),
        ]
        return [*on_plane[plane], *shares]

    def _push(self, target: Val, corner: list[Val]) -> None:
        """One more corner. A plane adds one to a polygon that is convex, as all are but for
        rounding: what is more than there is room for takes the last one's place."""
        last = self.code.constant("long", MOST_CORNERS - 1)
        made = self.code.minimum(read(self.code, "long", self.made), last)
        self.put(target, made, corner)
        write(self.code, made + 1, self.made)
