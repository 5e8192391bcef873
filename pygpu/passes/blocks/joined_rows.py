"""Functions of images of few columns, as those of long rows: several rows, one behind the other.

    load im[x, y - 1]       ->  load im above[x, y]
    load im[x - 1, y]       ->  select(column[x] < 1, im[x, y], im[x - 1, y])     "nearest"

Short rows leave most lanes of a block without work, and have two edges each. In memory rows lie one
behind the other, so that several of them are a long row, too. What a pixel reads some rows above or
below it stands at its own place in the image that begins as many rows earlier or later: for each
such distance the new function has an image. What a pixel reads left or right of it stands beside
it in the long row, unless the pixel is at an edge: there another texel is selected. The column in
which a pixel stands is read of the last image; how many there are is the last number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from pygpu.core.boundaries import INTEGERS, index
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, Op, Value, walk
from pygpu.types import INT

FAR: Final = 1 << 20  # more columns than any tap is away
TAPS: Final = 4  # columns to a side, at most, of which others are selected one by one


@record(eq=False)
class Joined:
    """The function, which image and rows further down each of its images but the last is, and how
    far it reads: columns to a side, rows above, rows below."""

    function: Function
    reads: tuple[tuple[int, int], ...]
    aside: int
    above: int
    below: int


def joined_rows(function: Function) -> Joined | None:
    """The function of joined rows; None where it asks for places but by loads near the pixel's, or
    reads what lies at the other end of a row."""
    ops = list(walk(function.body))
    loads = [op for op in ops if op.code == "load"]
    if not loads or not all(_is_near(function, op) for op in ops):
        return None
    aside = max(abs(op.data.dx) for op in loads)
    if aside > TAPS or any(op.data.boundary == "wrap" and _is_beside(op.data) for op in loads):
        return None
    reads = tuple(sorted({(op.data.image, op.data.dy) for op in loads}))
    rows = [dy for _, dy in reads]
    made = _Joining(function, reads).run()
    return Joined(made, reads, aside, max(-min(rows), 0), max(*rows, 0))


def _is_near(function: Function, op: Op) -> bool:
    """Whether an operation asks for no place but by a load near the pixel's."""
    places = (function.x, function.y)
    if op.code == "load":
        return op.operands == places
    asked = [*op.operands, *[value for region in op.regions for value in region.results]]
    return op.code not in ("width", "height") and not any(place in asked for place in places)


def _is_beside(data: Any) -> bool:
    return bool(data.dx or data.dy)


class _Joining(Rewriter):
    """Puts the function down for joined rows."""

    def __init__(self, function: Function, reads: Sequence[tuple[int, int]]) -> None:
        super().__init__(function, lambda _, op, operands: self.each(op))
        build = self.build
        self.places = {read: place for place, read in enumerate(reads)}
        build.images = [
            replace(function.images[image], name=f"{function.images[image].name}{row:+d}")
            for image, row in reads
        ]
        build.images.append(ImageInput("column", INT))
        self.count = Value(INT, "columns")
        build.body.params = (*build.body.params, self.count)
        build.uniforms = build.body.params[2:]

    def run(self) -> Function:
        build = self.build
        place = len(build.images) - 1
        self.left = build.load(place, build.x, build.y)  # columns to the left of the pixel
        last = build.emit("sub", self.count, build.constant(INT, 1))
        self.right = build.emit("sub", last, self.left)
        return apply(CLEAN, super().run())

    def each(self, op: Op) -> Sequence[Value] | None:
        return [self.tap(op.data, op.data.dx)] if op.code == "load" else None

    def texel(self, data: Any, dx: int) -> Value:
        """What stands so many columns to the right in the long row."""
        place = self.places[data.image, data.dy]
        found = replace(data, image=place, dx=dx, dy=0, boundary="nearest", cval=())
        return self.build.emit("load", self.build.x, self.build.y, data=found)

    def tap(self, data: Any, dx: int) -> Value:
        """What the pixel reads so many columns to its right."""
        build, texel = self.build, self.texel(data, dx)
        if dx == 0 or data.boundary in ("inside", "unchecked"):
            return texel
        before, sign = (self.left, -1) if dx < 0 else (self.right, 1)
        reach = abs(dx)
        if data.boundary in ("nearest", "constant"):
            outside = build.emit("lt", before, build.constant(INT, reach))
            if data.boundary == "nearest":
                return build.emit("select", outside, self.tap(data, dx - sign), texel)
            cval = data.cval[0] if data.type.is_scalar else data.cval
            return build.emit("select", outside, build.constant(data.type, cval), texel)
        for column in range(reach):  # counted from the edge
            read = index(data.boundary, INTEGERS, column - reach, FAR)
            is_here = build.emit("eq", before, build.constant(INT, column))
            other = self.texel(data, -sign * (read - column))
            texel = build.emit("select", is_here, other, texel)
        return texel


__all__ = ["Joined", "joined_rows"]
