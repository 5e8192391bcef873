"""Functions of images of few columns, as those of long rows: several rows, one behind the other.

    load im[x, y - 1]       ->  load im above[x, y]
    load im[x - 1, y]       ->  select(column[x] < 1, im[x, y], im[x - 1, y])     "nearest"

Short rows leave most lanes of a block without work, and have two edges each. In memory rows lie one
behind the other, so that several of them are a long row, too. What a pixel reads some rows above or
below it stands at its own place in the image that begins as many rows earlier or later: for each
such distance the new function has an image. What a pixel reads left or right of it stands beside
it in the long row, unless the pixel is at an edge: there another texel is selected. The column in
which a pixel stands is read of the last image; how many there are is the last number.

Where images are copied anyway, `beside` reads each but once: what stands some rows above or below
is that many rows' pixels to the left or right, in rows that are as much longer at both ends.

    load im above[x, y]     ->  load im[x + 8 - 3, y]        # of rows of three, eight before each

Rows may also run on into those below them, each beginning `step` rows further down than the one
before: then rows of a block read what others read, too. Images begin at the highest row that is
read.

    load im[x, y - 3]       ->  load im[x, y]               a step of 2 rows, three above being read
    load im[x, y]           ->  load im one row down[x, y + 1]
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
COLUMNS: Final = 4  # before and behind rows there are multiples of so many pixels


@record(eq=False)
class Beside:
    """The function of images whose rows are longer than the result's by what Joined.around says. It
    reads each of `images`, and last the image that says in which column a pixel stands."""

    function: Function
    images: tuple[int, ...]


@record(eq=False)
class Joined:
    """The function of joined rows. `reads` says of each of its images but the last which image of
    the function as written it is, and how many rows further down that begins. It reads `aside`
    columns to either side, and rows `above` and `below`. Where rows run on into those below them,
    each begins `step` rows below the one before, and `more` rows are read than there are results;
    `step` is 0 for long rows, which read no others."""

    function: Function
    reads: tuple[tuple[int, int], ...]
    aside: int
    above: int
    below: int
    step: int = 0
    more: int = 0

    def around(self, width: int) -> tuple[int, int]:
        """Pixels before and behind each short row, of images that are read but once."""
        left, right = (rows * width + self.aside for rows in (self.above, self.below))
        return -(-left // COLUMNS) * COLUMNS, -(-right // COLUMNS) * COLUMNS


def joined_rows(function: Function, step: int = 0) -> Joined | None:
    """The function of joined rows; None where it asks for places but by loads near the pixel's, or
    reads what lies at the other end of a row."""
    ops = list(walk(function.body))
    loads = [op for op in ops if op.code == "load"]
    if not loads or not all(_is_near(function, op) for op in ops):
        return None
    aside = max(abs(op.data.dx) for op in loads)
    if aside > TAPS or any(op.data.boundary == "wrap" and _is_beside(op.data) for op in loads):
        return None
    rows = [op.data.dy for op in loads]
    above, below = max(-min(rows), 0), max(*rows, 0)
    first = -above if step else 0
    reads = tuple(sorted({_place(op.data, step, first)[0] for op in loads}))
    made = _Joining(function, reads, step, first).run()
    more = (below - first) // step if step else 0
    return Joined(made, reads, aside, above, below, step, more)


def _place(data: Any, step: int, first: int) -> tuple[tuple[int, int], int]:
    """Which image a load reads then, and how many rows down."""
    rows, start = divmod(data.dy - first, step) if step else (0, data.dy)
    return (data.image, start + first), rows


def beside(joined: Joined, width: int) -> Beside:
    """The function for rows of so many pixels that reads each image but once."""
    images = tuple(sorted({image for image, _ in joined.reads}))
    return Beside(apply(CLEAN, _Beside(joined, images, width).run()), images)


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

    def __init__(
        self, function: Function, reads: Sequence[tuple[int, int]], step: int, first: int
    ) -> None:
        super().__init__(function)
        build, self.step, self.first = self.build, step, first
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
        # Columns to the left of the pixel. Rows that run on are all alike as to these.
        row = build.constant(INT, 0) if self.step else build.y
        self.left = build.load(place, build.x, row)
        last = build.emit("sub", self.count, build.constant(INT, 1))
        self.right = build.emit("sub", last, self.left)
        return apply(CLEAN, super().run())

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        return [self.tap(op.data, op.data.dx)] if op.code == "load" else None

    def texel(self, data: Any, dx: int) -> Value:
        """What stands so many columns to the right in the long row."""
        read, row = _place(data, self.step, self.first)
        image = self.places[read]
        found = replace(data, image=image, dx=dx, dy=row, boundary="nearest", cval=())
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
            return build.emit("select", outside, build.constant(data.type, data.outside), texel)
        for column in range(reach):  # counted from the edge
            read = index(data.boundary, INTEGERS, column - reach, FAR)
            is_here = build.emit("eq", before, build.constant(INT, column))
            other = self.texel(data, -sign * (read - column))
            texel = build.emit("select", is_here, other, texel)
        return texel


class _Beside(Rewriter):
    """Puts the function of joined rows down for images that are read but once."""

    def __init__(self, joined: Joined, images: Sequence[int], width: int) -> None:
        function = joined.function
        super().__init__(function)
        self.joined, self.images, self.width = joined, images, width
        self.left, _ = joined.around(width)
        self.new[function.uniforms[-1]] = self.build.constant(INT, width)
        seen = function.images
        firsts = [next(i for i, read in enumerate(joined.reads) if read[0] == k) for k in images]
        self.build.images = [*[seen[first] for first in firsts], seen[-1]]

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load":
            return None
        data = op.data
        if data.image == len(self.joined.reads):
            found = replace(data, image=len(self.images))
        else:
            image, row = self.joined.reads[data.image]
            place = self.images.index(image)
            dx = self.left + row * self.width + data.dx
            found = replace(data, image=place, dx=dx, boundary="inside")
        return [self.build.emit("load", *operands, data=found)]
