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

from pygpu.codegen.jobs import slots
from pygpu.codegen.jobs.edges import Edges
from pygpu.codegen.llvm.block import PLANE_PLACES
from pygpu.codegen.llvm.boundary import LEFT, RIGHT, WITHIN, place
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val


class Tiles(Edges):
    """Writes the loop over an image."""

    # ------------------------------------------------------------ the loops

    def write(self) -> str:
        code = self.code
        self.stopping = self.pointer(slots.STOP)
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
        code, counter = self.code, self.code.at(self.job, slots.NEXT * 8)
        taken = code.fixed("long", 1, f"atomicrmw add ptr {counter.text}, i64 %step monotonic")
        front, back = taken & 0xFFFFFFFF, code.binary("lshr", taken, 32)
        step = Val(code, "long", 1, "%step", 0)
        tile = code.select(step.eq(1), front, self.number(slots.TILES) - 1 - back)
        return tile, front + back < self.number(slots.TILES)

    def stopped(self) -> Val:
        flag = self.code.fixed(
            "int", 1, f"load atomic i32, ptr {self.stopping.text} monotonic, align 4"
        )
        return self.code.fixed("bool", 1, f"icmp ne i32 {flag.text}, 0")

    def tile(self, tile: Val) -> None:
        code = self.code
        columns, planes = self.number(slots.TILE_COLUMNS), self.number(slots.MORE_PLANES) + 1
        z, part = code.binary("srem", tile, planes), code.binary("sdiv", tile, planes)
        across, down = code.binary("srem", part, columns), code.binary("sdiv", part, columns)
        with when(code, self.number(slots.HELD) > self.number(slots.SLOTS)):
            self.point_images(z)
        x0, y0 = across * self.number(slots.TILE_WIDTH), down * self.number(slots.TILE_HEIGHT)
        x1 = code.minimum(x0 + self.number(slots.TILE_WIDTH), self.number(slots.WIDTH))
        y1 = code.minimum(y0 + self.number(slots.TILE_HEIGHT), self.number(slots.HEIGHT))
        self.part(z, (x0, y0), (x1, y1))

    def part(self, z: Val, first: tuple[Val, Val], end: tuple[Val, Val]) -> None:
        """Compute the pixels from one place up to another, at least one row. Where pointers to rows
        are is found anew where rules of boundaries choose rows; between, they move."""
        code, (x0, y0), (x1, y1), rows = self.code, first, end, self.number(slots.ROWS)
        joins = self.number(slots.END).eq(slots.WHOLE) & (x1 - x0).eq(self.number(slots.WIDTH))
        with Loop(code, [y0]) as loop:
            (y,) = loop.params
            code.store(y1 - y - rows, self.left_place, 8)
            self.point_rows(y)
            self.point_results(z, y, y1)
            with Loop(code, [y, self.read("long", self.left_place, self.zero)]) as below:
                at, left = below.params
                every = joins & (x1 * (left + 1) >= self.number(slots.BLOCK))
                count = code.select(every, left + 1, rows)
                right = code.select(every, x1 * count, x1)
                self.row_block(at, x0, right, code.minimum(rows, y1 - at))
                goes_on = (left - count >= 0) & ~self.stopped()
                with when(code, goes_on), counting(code, self.number(slots.SLOTS)) as slot:
                    step = self.read("long", self.steps, slot)
                    self.write_to(self.read("long", self.direct, slot) + step, self.direct, slot)
                below.next(goes_on, [at + count, left - count])
            loop.next((below.results[0] < y1) & ~self.stopped(), below.results[:1])

    def follow(self, left: Val) -> None:
        """No more rows than these may follow by moving pointers."""
        known = self.read("long", self.left_place, self.zero)
        self.code.store(self.code.minimum(known, left), self.left_place, 8)

    def point_images(self, z: Val) -> None:
        """The plane, and a pointer to each image where it is that of the plane."""
        code, first = self.code, self.number(slots.SLOTS)
        for context in (self.direct, self.padded):
            self.write_to(z, context, first)
        with counting(code, self.number(slots.IMAGES)) as index:
            image = self.row(self.pointer(slots.IMAGE_TABLE), slots.IMAGE_SLOTS, index)
            plane = self.place(z + image[slots.OFFSET], image[slots.DEPTH], image[slots.PLANE_RULE])
            start = self.start_of_image(image) + plane * image[slots.PLANE_STRIDE]
            for context in (self.direct, self.padded):
                self.write_to(start, context, first + PLANE_PLACES + index)

    def start_of_image(self, image: list[Val]) -> Val:
        """Where an image begins."""
        return image[slots.BASE]

    def row_of_image(self, index: Val, row: Val) -> Val:
        """Which row of an image's memory holds one of its rows."""
        return row

    def start_of_result(self, result: list[Val]) -> Val:
        return result[slots.OUT_BASE]

    def row_of_result(self, result: list[Val], row: Val) -> Val:
        return row

    def point_rows(self, y: Val) -> None:
        """Pointers to the source rows of every set of taps."""
        code = self.code
        slot_place = self.slot_place
        code.store(self.zero, slot_place, 8)
        with counting(code, self.number(slots.SETS)) as index:
            taps = self.row(self.pointer(slots.SET_TABLE), slots.SET_SLOTS, index)
            place = self.number(slots.SLOTS) + PLANE_PLACES + taps[slots.IMAGE]
            base = self.read("long", self.direct, place)
            first, dys = y * taps[slots.DOWN], self.as_pointer(taps[slots.DYS])
            slot = self.read("long", slot_place, self.zero)
            self.write_to(slot + taps[slots.SET_ROWS], slot_place, self.zero)
            frame = self.frame(taps)
            top = code.maximum(frame[slots.TOP], 0) - first
            bottom = code.minimum(frame[slots.BOTTOM], taps[slots.SET_HEIGHT]) - first
            last = self.read("long", dys, taps[slots.SET_ROWS] - 1)
            branch = Branch(code, (self.read("long", dys, self.zero) >= top) & (last < bottom))
            step = taps[slots.STRIDE] * taps[slots.DOWN] * self.number(slots.ROWS)
            self.follow(code.select(taps[slots.DOWN] <= 1, bottom - 1 - last, self.zero))
            for inside in (True, False):
                with branch.side(), counting(code, taps[slots.SET_ROWS]) as k:
                    row = first + self.read("long", dys, k)
                    self.write_to(self.source_row(taps, row, base, inside), self.direct, slot + k)
                    self.write_to(step, self.steps, slot + k)
                    if not inside:
                        self.follow(self.zero)
            branch.join([], [])

    def source_row(self, taps: list[Val], row: Val, base: Val, inside: bool) -> Val:
        """Where a row of an image begins, whose memory does at `base`; `inside`: it is in that."""
        source = row
        if not inside:
            source = self.place(row, taps[slots.SET_HEIGHT], taps[slots.RULE])
        own = base + self.row_of_image(taps[slots.IMAGE], source) * taps[slots.STRIDE]
        if inside:
            return own
        return self.code.select(source < 0, taps[slots.OUTSIDE], self.framed(taps, source, own))

    def point_results(self, z: Val, y: Val, y1: Val) -> None:
        """Pointers to the rows of the results; for rows below the tile, its last row."""
        code = self.code
        rows = self.number(slots.ROWS)
        first = self.number(slots.SLOTS) - self.number(slots.OUTPUTS) * rows
        with counting(code, self.number(slots.OUTPUTS)) as index:
            result = self.row(self.pointer(slots.OUTPUT_TABLE), slots.OUT_SLOTS, index)
            with counting(code, rows) as r:
                last = code.minimum(y + r, y1 - 1)
                start = self.start_of_result(result) + z * result[slots.OUT_PLANE]
                row = start + self.row_of_result(result, last) * result[slots.OUT_STRIDE]
                self.write_to(row, self.direct, first + index * rows + r)
                self.write_to(result[slots.OUT_STRIDE] * rows, self.steps, first + index * rows + r)

    def row_block(self, y: Val, x0: Val, x1: Val, rows: Val) -> None:
        """The pixels of some rows from left to right, as memory is fetched ahead; what is between
        the ends by single vectors where it is less than a block."""
        code, side = self.code, self.number(slots.LANES)
        has_sides = self.number(slots.SIDES).ne(0)
        left = has_sides & x0.eq(0)
        right = has_sides & x1.eq(self.number(slots.WIDTH))
        first, end = x0 + code.select(left, side, self.zero), x1 - side
        last = code.select(right, end, x1)
        with when(code, left):
            self.span(self.direct, y, x0, x0 - LEFT, slots.SIDES)
        first = self.to_lines(y, first, last, left)
        is_short = has_sides & (last - first < self.number(slots.BLOCK))
        stop = code.select(is_short, first, self.whole_lines(first, last, left & right))
        with when(code, first < stop):
            self.between(y, first, stop, rows)
        with when(code, stop < last), Loop(code, [stop]) as loop:
            (x,) = loop.params
            x = code.minimum(x, last - side)
            self.span(self.direct, y, x, x - WITHIN, slots.SIDES)
            loop.next(x + side < last, [x + side])
        with when(code, right):
            self.span(self.direct, y, end, end - RIGHT, slots.SIDES)

    def to_lines(self, y: Val, first: Val, last: Val, left: Val) -> Val:
        """Go on by single vectors, up to whole lines of the cache, where what follows is written
        past that."""
        code, side = self.code, self.number(slots.LANES)

        branch = Branch(code, left & self.number(slots.STREAM).ne(0))
        with branch.side():
            with Loop(code, [first]) as loop:
                (x,) = loop.params
                goes_on = self.beyond_lines(x).ne(0) & (x + side <= last)
                with when(code, goes_on):
                    self.span(self.direct, y, x, x - WITHIN, slots.SIDES)
                loop.next(goes_on, [x + code.select(goes_on, side, self.zero)])
            reached = loop.results
        return branch.join(reached, [first])[0]

    def whole_lines(self, first: Val, last: Val, has_both: Val) -> Val:
        """Where whole lines and blocks end that are written past the cache, where there is code for
        what follows; the last pixel of all others."""
        code = self.code
        branch = Branch(code, has_both & self.number(slots.STREAM).ne(0))
        with branch.side():
            both = self.blocks_of_lines()
            stop = [first + code.binary("sdiv", last - first, both) * both]
        return branch.join(stop, [last])[0]

    def between(self, y: Val, x0: Val, x1: Val, rows: Val) -> None:
        code, block, begin = self.code, self.number(slots.BLOCK), self.number(slots.BEGIN)
        limit, waits = code.minimum(x1, self.number(slots.END)), self.waits()
        with Loop(code, [x0]) as loop:
            (x,) = loop.params
            inner = (x >= begin) & (limit - x >= block)
            branch = Branch(code, inner)
            with branch.side():
                end = x + code.binary("sdiv", limit - x, block) * block
                how = Branch(code, waits)
                with how.side():
                    self.span_aside(y, x, end, rows)
                with how.side():
                    self.span_past(y, x, end, end < x1)
                how.join([], [])
                first = [end]
            with branch.side():
                # What is left before the limit: a block that ends there, over the last one, unless
                # all that is left fills no more than a block.
                start = limit - block
                over = (x < limit) & (start >= begin) & (start <= x)
                over = over & (limit.eq(x1) | (x1 - x > block))
                second_branch = Branch(code, over)
                with second_branch.side():
                    self.span(self.direct, y, start, limit)
                    overlapped = [limit]
                with second_branch.side():
                    # At the right edge a block that ends there, so that little of it is outside;
                    # where all that is left is outside, or what comes first, many blocks.
                    outside = code.select(x < limit, begin - x + block - 1, x1 - x)
                    many = code.minimum(self.number(slots.EDGE), code.minimum(outside, x1 - x))
                    many = code.binary("sdiv", many, block) * block
                    several = many > block
                    back = code.maximum(code.minimum(x, x1 - block), x0)
                    back = code.select(several, x, back)
                    count = code.select(several, many, code.minimum(block, x1 - back))
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
    return "\n".join([*texts, *sorted(declared), place(machine), "!0 = !{i32 1}"])
