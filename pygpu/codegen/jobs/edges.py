"""What native loops over images (tiles.py) do near edges, and how they call the span of a program.

Where taps of a block of pixels would leave an image, the rows around the block are copied to
`scratch` with the boundary rule applied, results too go there first, and the same span runs. What
is left of a row after its last whole block goes that way too.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.plan import MULTIPLE
from pygpu.codegen.llvm.text import Machine, Val

WORD: Final = 64  # bytes that are copied at once


class _Around(NamedTuple):
    """Elements of a padded row that are found one by one: those `before` what is copied as a whole,
    those from `right` on, and how many there are of both."""

    before: Val
    right: Val
    number: Val


class Edges:
    """Writes what is done with a block of pixels."""

    def __init__(self, machine: Machine) -> None:
        self.code = code = Code(machine)
        self.job, self.scratch = (Val(code, "ptr", 1, name, 0) for name in ("%job", "%scratch"))

    # ------------------------------------------------------------ memory that changes

    def number(self, slot: int) -> Val:
        return self.code.load("long", self.code.at(self.job, slot * 8), 1, 8)

    def pointer(self, slot: int) -> Val:
        return self.code.load("ptr", self.code.at(self.job, slot * 8), 1, 8)

    def read(self, kind: str, pointer: Val, index: Val, size: int = 8) -> Val:
        place = self.code.at(pointer, index * size)
        type = {"long": "i64", "ptr": "ptr", "int": "i32", "short": "i16", "byte": "i8"}[kind]
        return self.code.fixed(kind, 1, f"load {type}, ptr {place.text}, align {size}")

    def write_to(self, value: Val, pointer: Val, index: Val, size: int = 8) -> None:
        self.code.store(value, self.code.at(pointer, index * size), size)

    def place(self, index: Val, size: Val, rule: Val) -> Val:
        given = f"i64 {index.text}, i64 {size.text}, i64 {rule.text}"
        return self.code.make("long", f"call i64 @place({given})", index, size, rule, lanes=1)

    def row(self, pointer: Val, count: int, index: Val) -> list[Val]:
        """The numbers of a descriptor in a table of them."""
        start = self.code.at(pointer, index * (count * 8))
        return [self.code.load("long", self.code.at(start, k * 8), 1, 8) for k in range(count)]

    def as_pointer(self, number: Val) -> Val:
        return self.code.cast("inttoptr", number, "ptr")

    def prepare(self) -> None:
        """Places in the thread's memory."""
        code = self.code
        self.zero = code.constant("long", 0)
        held = self.number(slots.HELD)
        self.slot_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next pointer to a row
        self.found_place = code.fixed("ptr", 1, "alloca i64, align 8")  # what `waits` found
        self.free_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next free byte
        self.left_place = code.fixed("ptr", 1, "alloca i64, align 8")  # rows that may follow
        self.direct = self.scratch  # pointers to rows where they are
        self.padded = code.at(self.scratch, held * 8)  # pointers to copies
        self.steps = code.at(self.padded, held * 8)  # how far pointers move from block to block
        self.columns = code.at(self.steps, held * 8)  # source columns of a padded row, as i32
        self.stopping = self.pointer(slots.STOP)

    def span(self, context: Val, y: Val, x0: Val, x1: Val, slot: int = slots.SPAN) -> None:
        code, span = self.code, self.number(slot)
        given = ", ".join(f"i32 {code.cast('trunc', value, 'int').text}" for value in (y, x0, x1))
        args = self.pointer(slots.ARGS)
        code.fixed(
            "int", 1,
            f"call i32 {self.as_pointer(span).text}(ptr {context.text}, ptr {args.text}, {given})",
        )  # fmt: skip

    def span_past(self, y: Val, x0: Val, x1: Val, goes_on: Val) -> None:
        """The span, past the caches where there is such a one; where the row goes on, but for two
        blocks: what comes next goes back over some of these, and would wait for memory."""
        code, block = self.code, self.number(slots.BLOCK)
        branch = Branch(code, self.number(slots.STREAM).ne(0))
        with branch.side():
            kept = code.select(goes_on, code.maximum(x1 - block * 2, x0), x1)
            rest, both = self.beyond_lines(x0), self.blocks_of_lines()
            start = x0 + both - 1
            start = code.select(rest.eq(0), x0, start - code.binary("srem", start, both))
            takes = code.binary("srem", start - x0, block).eq(0) & (start < kept)
            start = code.select(takes, start, x0)
            past = code.select(takes, code.binary("sdiv", kept - start, both) * both, 0)
            with when(code, start > x0):
                self.span(self.direct, y, x0, start)
            with when(code, past > 0):
                self.span(self.direct, y, start, start + past, slots.STREAM)
            after = [start + past]
        (done,) = branch.join(after, [x0])
        with when(code, x1 > done):
            self.span(self.direct, y, done, x1)

    def blocks_of_lines(self) -> Val:
        """Pixels that are whole lines of the cache and whole blocks; 1 in jobs that have none."""
        return self.code.maximum(self.number(slots.OF_BLOCKS), 1)

    def beyond_lines(self, x: Val) -> Val:
        """The pixels from the last one that begins at whole lines of the cache in all results."""
        return x & (self.number(slots.OF_LINES) - 1)

    # ------------------------------------------------------------ blocks at the edges

    def edge(self, y: Val, x: Val, count: Val, rows: Val) -> None:
        """A block whose taps may lie outside, or that does not fill up, or several blocks: `count`
        pixels from x in `rows` rows."""
        code, size = self.code, self.code.maximum(count, self.number(slots.BLOCK))
        free_place, slot_place = self.free_place, self.slot_place
        code.store(self.zero, slot_place, 8)
        self.store_start(free_place)
        with counting(code, self.number(slots.SETS)) as index:
            self.copy_set(index, (x, y), size, slot_place, free_place)
        results = self.number(slots.OUTPUTS) * self.number(slots.ROWS)
        is_whole = count.eq(size) & rows.eq(self.number(slots.ROWS))
        whole = code.select(is_whole, results, 0)  # which go where they belong
        with counting(code, whole) as k:
            slot = self.read("long", slot_place, self.zero) + k
            self.write_to(self.read("long", self.direct, slot), self.padded, slot)
        with counting(code, results - whole) as k:
            slot = self.read("long", slot_place, self.zero) + k
            self.redirect(slot, self.texel(k), x, size, free_place)
        self.span(self.padded, y, x, x + size)
        with counting(code, results - whole) as k:
            slot = self.read("long", slot_place, self.zero) + k
            target = self.read("long", self.direct, slot)
            with when(code, code.binary("srem", k, self.number(slots.ROWS)) < rows):
                texel = self.texel(k)
                source = self.as_pointer(self.read("long", self.padded, slot) + x * texel)
                to = self.as_pointer(target + x * texel)
                self.copy(to, source, count * texel)

    # ------------------------------------------------------------ results aside

    def waits(self) -> Val:
        """Whether the first result begins so little behind what a set of taps reads, within a page,
        that loads wait for stores."""
        code, found = self.code, self.found_place
        code.store(self.zero, found, 8)
        with when(code, self.number(slots.ASIDE).ne(0)):
            result = self.read("long", self.direct, self.first_result())
            code.store(self.zero, self.slot_place, 8)
            with counting(code, self.number(slots.SETS)) as index:
                taps = self.row(self.pointer(slots.SET_TABLE), slots.SET_SLOTS, index)
                slot = self.read("long", self.slot_place, self.zero)
                self.write_to(slot + taps[slots.SET_ROWS], self.slot_place, self.zero)
                behind = (result - self.read("long", self.direct, slot)) & (slots.PAGE - 1)
                near = code.cast("zext", behind < slots.WAITED, "long")
                self.write_to(self.read("long", found, self.zero) | near, found, self.zero)
        return self.read("long", found, self.zero).ne(0)

    def first_result(self) -> Val:
        """The slot of the first pointer to a row of a result."""
        return self.number(slots.SLOTS) - self.number(slots.OUTPUTS) * self.number(slots.ROWS)

    def span_aside(self, y: Val, x0: Val, x1: Val, rows: Val) -> None:
        """The span by parts, each of which goes to the thread's memory first."""
        code, number = self.code, self.number
        self.store_start(self.free_place)
        with Loop(code, [x0]) as loop:
            (x,) = loop.params
            end = code.minimum(x + number(slots.ASIDE), x1)
            for copies in (False, True):
                with counting(code, number(slots.OUTPUTS)) as index:
                    result = self.row(self.pointer(slots.OUTPUT_TABLE), slots.OUT_SLOTS, index)
                    texel = result[slots.OUT_TEXEL]
                    with counting(code, number(slots.ROWS)) as r:
                        k = index * number(slots.ROWS) + r
                        slot, aside = self.first_result() + k, self.aside(k, x * texel)
                        if copies:
                            target = self.read("long", self.padded, slot)
                            self.write_to(target, self.direct, slot)
                            with when(code, r < rows):
                                self.copy_back(target + x * texel, aside, (end - x) * texel)
                        else:
                            target = self.read("long", self.direct, slot)
                            self.write_to(target, self.padded, slot)
                            self.write_to(aside - x * texel, self.direct, slot)
                if not copies:
                    self.span(self.direct, y, x, end)
            loop.next(end < x1, [end])

    def aside(self, k: Val, start: Val) -> Val:
        """Where a part of the k-th row of the results goes first, so many bytes from the row's
        start on: in the other half of a page than what is read."""
        free = (self.read("long", self.free_place, self.zero) + (slots.PAGE - 1)) & -slots.PAGE
        source = self.read("long", self.direct, self.zero) + start
        other = (source + (slots.PAGE - slots.ASIDE_BYTES) // 2) & (slots.PAGE - 1)
        return free + k * slots.PAGE + other + (k & 1) * slots.ASIDE_BYTES

    def copy_back(self, to: Val, source: Val, size: Val) -> None:
        """Copy what is complete; past the caches, where the span would write so."""
        code, places = self.code, (self.as_pointer(to), self.as_pointer(source))
        lines = ((to | size) & (WORD - 1)).eq(0)
        branch = Branch(code, self.number(slots.STREAM).ne(0) & lines)
        with branch.side():
            self.copy_lines(*places, size, past=True)
        with branch.side():
            self.copy_quickly(*places, size)
        branch.join([], [])

    # ------------------------------------------------------------ copies

    def copy(self, to: Val, source: Val, size: Val) -> None:
        """Copy bytes between places that do not overlap."""
        code, name = self.code, "llvm.memcpy.p0.p0.i64"
        code.declared[name] = f"declare void @{name}(ptr, ptr, i64, i1)"
        code.line(f"call void @{name}(ptr {to.text}, ptr {source.text}, i64 {size.text}, i1 false)")

    def copy_quickly(self, to: Val, source: Val, size: Val) -> None:
        """Copy bytes between places that do not overlap, without memcpy from a cache line on."""
        branch = Branch(self.code, size >= WORD)
        with branch.side():
            self.copy_lines(to, source, size)
        with branch.side():
            self.copy(to, source, size)
        branch.join([], [])

    def copy_lines(self, to: Val, source: Val, size: Val, past: bool = False) -> None:
        """Copy as many bytes as a line of the cache has, and more. `past`: whole lines, past the
        caches."""
        code = self.code
        how = (WORD, ", !nontemporal !0") if past else (1, "")
        with Loop(code, [self.zero]) as loop:
            (done,) = loop.params
            place = done if past else code.minimum(done, size - WORD)
            word = code.fixed(
                "byte", WORD, f"load <{WORD} x i8>, ptr {code.at(source, place).text}, align 1"
            )
            code.store(word, code.at(to, place), *how)
            loop.next(done + WORD < size, [done + WORD])

    def texel(self, k: Val) -> Val:
        """The bytes of a texel of the result that the k-th row belongs to."""
        index = self.code.binary("sdiv", k, self.number(slots.ROWS))
        return self.row(self.pointer(slots.OUTPUT_TABLE), slots.OUT_SLOTS, index)[slots.OUT_TEXEL]

    def store_start(self, free_place: Val) -> None:
        """The first free byte of scratch, behind the pointers and the columns."""
        code = self.code
        widest = self.number(slots.EDGE) * MULTIPLE + slots.MARGIN
        start = code.cast("ptrtoint", self.columns, "long") + widest * (4 * 4)
        code.store((start + (slots.ALIGN - 1)) & -slots.ALIGN, free_place, 8)

    def redirect(self, slot: Val, texel: Val, x: Val, count: Val, free_place: Val) -> Val:
        """Make the padded pointer of a slot point, for column x, to free bytes; take them."""
        free = self.read("long", free_place, self.zero)
        self.write_to(free - x * texel, self.padded, slot)
        after = free + count * texel
        self.write_to((after + (slots.ALIGN - 1)) & -slots.ALIGN, free_place, self.zero)
        return free

    def frame(self, taps: list[Val]) -> list[Val]:
        return self.row(self.as_pointer(taps[slots.FRAME]), slots.FRAME_SLOTS, self.zero)

    def framed(self, taps: list[Val], row: Val, own: Val) -> Val:
        """Where a row of an image begins: in its `own` memory, or above or below in its frame."""
        code, frame = self.code, self.frame(taps)
        above = frame[slots.ABOVE_ROWS] + row * frame[slots.ABOVE_STRIDE]
        below = frame[slots.BELOW_ROWS] + row * frame[slots.BELOW_STRIDE]
        within = code.select(row < frame[slots.BOTTOM], own, below)
        return code.select(row < frame[slots.TOP], above, within)

    def sides(self, taps: list[Val], y: Val, k: Val) -> list[Val]:
        """Where the columns before and behind an image's own memory are, of a set's k-th row."""
        dy = self.read("long", self.as_pointer(taps[slots.DYS]), k)
        row = self.place(y * taps[slots.DOWN] + dy, taps[slots.SET_HEIGHT], taps[slots.RULE])
        frame = self.frame(taps)
        before = frame[slots.BEFORE] + row * frame[slots.BEFORE_STRIDE]
        behind = frame[slots.BEHIND] + row * frame[slots.BEHIND_STRIDE]
        return [self.as_pointer(before), self.as_pointer(behind)]

    def copy_set(
        self, index: Val, at: tuple[Val, Val], size: Val, slot_place: Val, free_place: Val
    ) -> None:
        """The rows of a set of taps around so many pixels, in whole blocks."""
        code, (x, y) = self.code, at
        taps = self.row(self.pointer(slots.SET_TABLE), slots.SET_SLOTS, index)
        channels, more = taps[slots.CHANNELS], size - self.number(slots.BLOCK)
        count = taps[slots.COUNT] + more * taps[slots.ACROSS]
        start = x * taps[slots.ACROSS] + taps[slots.LEFT]
        # Columns of the block, counted from its first: those before `left` and from `right` on lie
        # outside the image, or in its frame.
        first, last = taps[slots.FIRST], taps[slots.FIRST] + taps[slots.INNER]
        left = code.clamp(first - start, 0, count)
        right = code.maximum(code.minimum(last - start, count), left)
        # Those that are found by the rule; others repeat them.
        before = code.minimum(left, taps[slots.PERIOD])
        behind = code.minimum(count - right, taps[slots.PERIOD])
        outer = before + behind

        def column_of(k: Val) -> Val:
            return code.select(k < before, k, k - before + right)

        with counting(code, outer) as k:
            column = self.column(start + column_of(k), taps)
            with counting(code, channels) as c:
                element = code.select(column < 0, -1 - c, column * channels + c)
                self.write_to(code.cast("trunc", element, "int"), self.columns, k * channels + c, 4)
        texel, rows = taps[slots.SIZE] * channels, taps[slots.SET_ROWS]
        first_slot = self.read("long", slot_place, self.zero)
        self.write_to(first_slot + rows, slot_place, self.zero)
        # What lies inside as a whole is read where it is.
        there = code.select(outer.eq(0), rows, 0)
        with counting(code, there) as row:
            slot = first_slot + row
            self.write_to(self.read("long", self.direct, slot), self.padded, slot)
        free, copied = self.read("long", free_place, self.zero), rows - there
        pitch = (count * texel + (slots.ALIGN - 1)) & -slots.ALIGN
        self.write_to(free + copied * pitch, free_place, self.zero)
        around = _Around(before * channels, right * channels, outer * channels)
        with counting(code, copied) as row:
            slot = first_slot + row
            source = self.as_pointer(self.read("long", self.direct, slot))
            to = free + row * pitch
            target = self.as_pointer(to)
            self.write_to(to - start * texel, self.padded, slot)
            inner = code.at(source, (start + left) * texel)
            self.copy_quickly(code.at(target, left * texel), inner, (right - left) * texel)
            self.copy_around(taps, around, (source, target), (y, row))
            with when(code, outer < left + count - right):
                self.repeat(target, before * texel, left * texel)
                end = code.at(target, right * texel)
                self.repeat(end, behind * texel, (count - right) * texel)

    def copy_around(
        self, taps: list[Val], around: _Around, places: tuple[Val, Val], at: tuple[Val, Val]
    ) -> None:
        """The elements of a row that lie outside of an image's own memory, from where the columns
        say: of the k-th of a set's rows, `at` being y and k."""
        code, (source, target) = self.code, places
        frame = self.frame(taps)
        branch = Branch(code, (frame[slots.BEFORE] | frame[slots.BEHIND]).ne(0))
        with branch.side():
            framed = self.sides(taps, *at)
        sides = branch.join(framed, [source, source])
        channels, gap = taps[slots.CHANNELS], around.right - around.before
        first, last = (
            taps[slots.FIRST] * channels,
            (taps[slots.FIRST] + taps[slots.INNER]) * channels,
        )
        for nbytes, kind in ((1, "byte"), (2, "short"), (4, "int")):
            of_size = code.select(taps[slots.SIZE].eq(nbytes), around.number, 0)
            with counting(code, of_size) as k:
                element = code.cast("sext", self.read("int", self.columns, k, 4), "long")
                outside = element < 0
                before_last = code.select(element < last, source, sides[1])
                within = code.select(element < first, sides[0], before_last)
                base = code.select(outside, self.as_pointer(taps[slots.OUTSIDE]), within)
                place = code.select(outside, -1 - element, element)
                to = k + code.select(k < around.before, self.zero, gap)
                self.write_to(self.read(kind, base, place, nbytes), target, to, nbytes)

    def column(self, column: Val, taps: list[Val]) -> Val:
        """The column that is read for one outside, by the rule for texels; -1: the constant."""
        code, group = self.code, taps[slots.GROUP]
        branch = Branch(code, group.eq(1))
        with branch.side():
            alone = [self.place(column, taps[slots.SET_WIDTH], taps[slots.RULE])]
        with branch.side():
            below = code.select(column < 0, group - 1, 0)
            texel = code.binary("sdiv", column - below, group)
            within = column - texel * group
            found = self.place(
                texel, code.binary("sdiv", taps[slots.SET_WIDTH], group), taps[slots.RULE]
            )
            among = [code.select(found < 0, found, found * group + within)]
        return branch.join(alone, among)[0]

    def repeat(self, start: Val, size: Val, whole: Val) -> None:
        """Repeat the first bytes until there are as many as asked for."""
        code = self.code
        with when(code, whole > size), Loop(code, [size]) as loop:
            (there,) = loop.params
            more = code.minimum(there, whole - there)
            self.copy(code.at(start, there), start, more)
            loop.next(there + more < whole, [there + more])
