"""The native loop over an image, around the span of a program (codegen/llvm/span.py).

One function, `tiles(job, scratch, step)`, the same for all programs: every thread calls it; each
takes tile after tile by an atomic counter until none is left or the stop flag is set. In a tile,
rows go in blocks; a block of rows is a block of pixels at the left edge, a long span, and one at
the right. For spans the pointers to source rows point into the images. Near the edges, where taps
would leave an image, the rows around the block are copied to `scratch` with the boundary rule
applied, results too go there first, and the same code runs. A row outside an image with a constant
boundary is a row of that constant.

A job may have several planes, with one size and one program: frames, or what a volume is made of.
Then a tile is one of one plane, and the same part of the next plane is the next tile, so that what
neighbouring planes read is in the caches. Which plane it is, and where each image begins for it,
stands behind the pointers to rows.

Everything is given as 64-bit numbers, whose places slots.py names.
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.codegen.jobs.edges import Edges
from pygpu.codegen.jobs.slots import (
    BASE,
    BEGIN,
    BLOCK,
    DEPTH,
    DOWN,
    DYS,
    EDGE,
    END,
    HEIGHT,
    HELD,
    IMAGE,
    IMAGE_SLOTS,
    IMAGE_TABLE,
    IMAGES,
    MORE_PLANES,
    NEXT,
    OFFSET,
    OUT_BASE,
    OUT_PLANE,
    OUT_SLOTS,
    OUT_STRIDE,
    OUTPUT_TABLE,
    OUTPUTS,
    OUTSIDE,
    PLANE_RULE,
    PLANE_STRIDE,
    ROWS,
    RULE,
    SET_HEIGHT,
    SET_ROWS,
    SET_SLOTS,
    SET_TABLE,
    SETS,
    SLOTS,
    STOP,
    STRIDE,
    TILE_COLUMNS,
    TILE_HEIGHT,
    TILE_WIDTH,
    TILES,
    WIDTH,
)
from pygpu.codegen.llvm.block import PLANE_PLACES
from pygpu.codegen.llvm.boundary import place
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val


class Tiles(Edges):
    """Writes the loop over an image."""

    # ------------------------------------------------------------ the loops

    def write(self) -> str:
        code = self.code
        self.stopping = self.pointer(STOP)
        with Loop(code, [code.constant("bool", True)]) as loop:
            tile, more = self.taken()
            with when(code, more):
                code.line(f"call void @tile(ptr %job, ptr %scratch, i64 {tile.text})")
            loop.next(more & ~self.stopped(), [code.constant("bool", True)])
        code.line("ret void")
        head = "define internal void @tiles(ptr %job, ptr %scratch, i64 %step) #1"
        return f"{head} {{\n{code.text()}\n}}"

    def taken(self) -> tuple[Val, Val]:
        """The next tile, from the first on or from the last, and whether one was left."""
        code, counter = self.code, self.code.at(self.job, NEXT * 8)
        taken = code.fixed("long", 1, f"atomicrmw add ptr {counter.text}, i64 %step monotonic")
        front, back = taken & 0xFFFFFFFF, code.binary("lshr", taken, 32)
        step = Val(code, "long", 1, "%step", 0)
        tile = code.select(step.eq(1), front, self.number(TILES) - 1 - back)
        return tile, front + back < self.number(TILES)

    def stopped(self) -> Val:
        flag = self.code.fixed(
            "int", 1, f"load atomic i32, ptr {self.stopping.text} monotonic, align 4"
        )
        return self.code.fixed("bool", 1, f"icmp ne i32 {flag.text}, 0")

    def tile(self, tile: Val) -> None:
        code = self.code
        columns, planes = self.number(TILE_COLUMNS), self.number(MORE_PLANES) + 1
        z, part = code.binary("srem", tile, planes), code.binary("sdiv", tile, planes)
        across, down = code.binary("srem", part, columns), code.binary("sdiv", part, columns)
        with when(code, self.number(HELD) > self.number(SLOTS)):
            self.point_images(z)
        x0, y0 = across * self.number(TILE_WIDTH), down * self.number(TILE_HEIGHT)
        x1 = code.minimum(x0 + self.number(TILE_WIDTH), self.number(WIDTH))
        y1 = code.minimum(y0 + self.number(TILE_HEIGHT), self.number(HEIGHT))
        self.part(z, (x0, y0), (x1, y1))

    def part(self, z: Val, first: tuple[Val, Val], end: tuple[Val, Val]) -> None:
        """Compute the pixels from one place up to another, at least one row."""
        code, (x0, y0), (x1, y1) = self.code, first, end
        with Loop(code, [y0]) as loop:
            (y,) = loop.params
            self.point_rows(y)
            self.point_results(z, y, y1)
            self.row_block(y, x0, x1, code.minimum(self.number(ROWS), y1 - y))
            following = y + self.number(ROWS)
            loop.next((following < y1) & ~self.stopped(), [following])

    def point_images(self, z: Val) -> None:
        """The plane, and a pointer to each image where it is that of the plane."""
        code, first = self.code, self.number(SLOTS)
        for context in (self.direct, self.padded):
            self.write_to(z, context, first)
        with counting(code, self.number(IMAGES)) as index:
            image = self.row(self.pointer(IMAGE_TABLE), IMAGE_SLOTS, index)
            plane = self.place(z + image[OFFSET], image[DEPTH], image[PLANE_RULE])
            start = self.start_of_image(image) + plane * image[PLANE_STRIDE]
            for context in (self.direct, self.padded):
                self.write_to(start, context, first + PLANE_PLACES + index)

    def start_of_image(self, image: list[Val]) -> Val:
        """Where an image begins."""
        return image[BASE]

    def row_of_image(self, index: Val, row: Val) -> Val:
        """Which row of an image's memory holds one of its rows."""
        return row

    def start_of_result(self, result: list[Val]) -> Val:
        return result[OUT_BASE]

    def row_of_result(self, result: list[Val], row: Val) -> Val:
        return row

    def point_rows(self, y: Val) -> None:
        """Pointers to the source rows of every set of taps."""
        code = self.code
        slot_place = self.slot_place
        code.store(self.zero, slot_place, 8)
        with counting(code, self.number(SETS)) as index:
            taps = self.row(self.pointer(SET_TABLE), SET_SLOTS, index)
            place = self.number(SLOTS) + PLANE_PLACES + taps[IMAGE]
            base = self.read("long", self.direct, place)
            with counting(code, taps[SET_ROWS]) as k:
                dy = self.read("long", self.as_pointer(taps[DYS]), k)
                source = self.place(y * taps[DOWN] + dy, taps[SET_HEIGHT], taps[RULE])
                within = base + self.row_of_image(taps[IMAGE], source) * taps[STRIDE]
                row = code.select(source < 0, taps[OUTSIDE], self.framed(taps, source, within))
                slot = self.read("long", slot_place, self.zero)
                self.write_to(row, self.direct, slot)
                self.write_to(slot + 1, slot_place, self.zero)

    def point_results(self, z: Val, y: Val, y1: Val) -> None:
        """Pointers to the rows of the results; for rows below the tile, its last row."""
        code = self.code
        rows = self.number(ROWS)
        first = self.number(SLOTS) - self.number(OUTPUTS) * rows
        with counting(code, self.number(OUTPUTS)) as index:
            result = self.row(self.pointer(OUTPUT_TABLE), OUT_SLOTS, index)
            with counting(code, rows) as r:
                last = code.minimum(y + r, y1 - 1)
                start = self.start_of_result(result) + z * result[OUT_PLANE]
                row = start + self.row_of_result(result, last) * result[OUT_STRIDE]
                self.write_to(row, self.direct, first + index * rows + r)

    def row_block(self, y: Val, x0: Val, x1: Val, rows: Val) -> None:
        code, block, begin = self.code, self.number(BLOCK), self.number(BEGIN)
        limit = code.minimum(x1, self.number(END))
        with Loop(code, [x0]) as loop:
            (x,) = loop.params
            inner = (x >= begin) & (limit - x >= block)
            branch = Branch(code, inner)
            with branch.side():
                end = x + code.binary("sdiv", limit - x, block) * block
                self.span(self.direct, y, x, end, streams=True)
                first = [end]
            with branch.side():
                # What is left before the limit: a block that ends there, over the last one.
                start = limit - block
                over = (x < limit) & (start >= begin) & (start <= x)
                second_branch = Branch(code, over)
                with second_branch.side():
                    self.span(self.direct, y, start, limit)
                    overlapped = [limit]
                with second_branch.side():
                    # At the right edge a block that ends there, so that little of it is outside;
                    # where all that is left is outside, many blocks.
                    many = code.minimum(self.number(EDGE), x1 - x)
                    many = code.binary("sdiv", many, block) * block
                    beyond = (x >= limit) & (many > block)
                    back = code.maximum(code.minimum(x, x1 - block), x0)
                    back = code.select(beyond, x, back)
                    count = code.select(beyond, many, code.minimum(block, x1 - back))
                    self.edge(y, back, count, rows)
                    at_edge = [back + count]
                second = second_branch.join(overlapped, at_edge)
            (following,) = branch.join(first, second)
            loop.next(following < x1, [following])


class Tile(Tiles):
    """Writes what is done with a tile: `tile(job, scratch, tile)`."""

    def write(self) -> str:
        code = self.code
        self.prepare()
        self.tile(Val(code, "long", 1, "%tile", 0))
        code.line("ret void")
        head = "define internal void @tile(ptr %job, ptr %scratch, i64 %tile) #1"
        return f"{head} {{\n{code.text()}\n}}"


def together(loops: Sequence[Tiles], machine: Machine) -> str:
    """The IR of several loops, with what they call."""
    texts = [loop.write() for loop in loops]
    declared = {line for loop in loops for line in loop.code.declared.values()}
    return "\n".join([*texts, *sorted(declared), place(machine)])


__all__ = ["Tile", "Tiles", "together"]
