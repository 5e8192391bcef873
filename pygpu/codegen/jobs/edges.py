"""What native loops over images (tiles.py) do near edges, and how they call the span of a program.

Where taps of a block of pixels would leave an image, the rows around the block are copied to
`scratch` with the boundary rule applied, results too go there first, and the same span runs. What
is left of a row after its last whole block goes that way too.
"""

from __future__ import annotations

from pygpu.codegen.jobs.slots import (
    ABOVE_ROWS,
    ABOVE_STRIDE,
    ACROSS,
    ALIGN,
    ARGS,
    BEFORE,
    BEFORE_STRIDE,
    BEHIND,
    BEHIND_STRIDE,
    BELOW_ROWS,
    BELOW_STRIDE,
    BLOCK,
    BOTTOM,
    CHANNELS,
    COUNT,
    DOWN,
    DYS,
    EDGE,
    FIRST,
    FRAME,
    FRAME_SLOTS,
    GROUP,
    HELD,
    INNER,
    LANES,
    LEFT,
    OUT_SLOTS,
    OUT_TEXEL,
    OUTPUT_TABLE,
    OUTPUTS,
    OUTSIDE,
    PERIOD,
    ROWS,
    RULE,
    SET_HEIGHT,
    SET_ROWS,
    SET_SLOTS,
    SET_TABLE,
    SET_WIDTH,
    SETS,
    SIZE,
    SPAN,
    STOP,
    STREAM,
    TOP,
)
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.plan import MULTIPLE
from pygpu.codegen.llvm.text import Machine, Val


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

    def row(self, pointer: Val, slots: int, index: Val) -> list[Val]:
        """The numbers of a descriptor in a table of them."""
        start = self.code.at(pointer, index * (slots * 8))
        return [self.code.load("long", self.code.at(start, k * 8), 1, 8) for k in range(slots)]

    def as_pointer(self, number: Val) -> Val:
        return self.code.cast("inttoptr", number, "ptr")

    def prepare(self) -> None:
        """Places in the thread's memory."""
        code = self.code
        self.zero = code.constant("long", 0)
        held = self.number(HELD)
        self.slot_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next pointer to a row
        self.free_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next free byte
        self.direct = self.scratch  # pointers to rows where they are
        self.padded = code.at(self.scratch, held * 8)  # pointers to copies
        self.columns = code.at(self.padded, held * 8)  # source columns of a padded row, as i32
        self.stopping = self.pointer(STOP)

    def span(self, context: Val, y: Val, x0: Val, x1: Val, streams: bool = False) -> None:
        code, span = self.code, self.number(SPAN)
        if streams:
            other = self.number(STREAM)
            takes = other.ne(0) & (x0 & self.number(LANES) - 1).eq(0)
            span = code.select(takes, other, span)
        given = ", ".join(f"i32 {code.cast('trunc', value, 'int').text}" for value in (y, x0, x1))
        args = self.pointer(ARGS)
        code.fixed(
            "int", 1,
            f"call i32 {self.as_pointer(span).text}(ptr {context.text}, ptr {args.text}, {given})",
        )  # fmt: skip

    # ------------------------------------------------------------ blocks at the edges

    def edge(self, y: Val, x: Val, count: Val, rows: Val) -> None:
        """A block whose taps may lie outside, or that does not fill up, or several blocks: `count`
        pixels from x in `rows` rows."""
        code, size = self.code, self.code.maximum(count, self.number(BLOCK))
        free_place, slot_place = self.free_place, self.slot_place
        code.store(self.zero, slot_place, 8)
        self.store_start(free_place)
        with counting(code, self.number(SETS)) as index:
            self.copy_set(index, (x, y), size, slot_place, free_place)
        results = self.number(OUTPUTS) * self.number(ROWS)
        is_whole = count.eq(size) & rows.eq(self.number(ROWS))
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
            with when(code, code.binary("srem", k, self.number(ROWS)) < rows):
                texel = self.texel(k)
                source = self.as_pointer(self.read("long", self.padded, slot) + x * texel)
                to = self.as_pointer(target + x * texel)
                self.copy(to, source, count * texel)

    def copy(self, to: Val, source: Val, size: Val) -> None:
        """Copy bytes between places that do not overlap."""
        code, name = self.code, "llvm.memcpy.p0.p0.i64"
        code.declared[name] = f"declare void @{name}(ptr, ptr, i64, i1)"
        code.line(f"call void @{name}(ptr {to.text}, ptr {source.text}, i64 {size.text}, i1 false)")

    def texel(self, k: Val) -> Val:
        """The bytes of a texel of the result that the k-th row belongs to."""
        index = self.code.binary("sdiv", k, self.number(ROWS))
        return self.row(self.pointer(OUTPUT_TABLE), OUT_SLOTS, index)[OUT_TEXEL]

    def store_start(self, free_place: Val) -> None:
        """The first free byte of scratch, behind the pointers and the columns."""
        code = self.code
        # See plan.REACH, which is 64 to each side.
        widest = self.number(EDGE) * MULTIPLE + 256
        start = code.cast("ptrtoint", self.columns, "long") + widest * (4 * 4)
        code.store((start + (ALIGN - 1)) & -ALIGN, free_place, 8)

    def redirect(self, slot: Val, texel: Val, x: Val, count: Val, free_place: Val) -> Val:
        """Make the padded pointer of a slot point, for column x, to free bytes; take them."""
        free = self.read("long", free_place, self.zero)
        self.write_to(free - x * texel, self.padded, slot)
        after = free + count * texel
        self.write_to((after + (ALIGN - 1)) & -ALIGN, free_place, self.zero)
        return free

    def frame(self, taps: list[Val]) -> list[Val]:
        return self.row(self.as_pointer(taps[FRAME]), FRAME_SLOTS, self.zero)

    def framed(self, taps: list[Val], row: Val, own: Val) -> Val:
        """Where a row of an image begins: in its `own` memory, or in what its frame has above or
        below that."""
        code, frame = self.code, self.frame(taps)
        above = frame[ABOVE_ROWS] + row * frame[ABOVE_STRIDE]
        below = frame[BELOW_ROWS] + row * frame[BELOW_STRIDE]
        within = code.select(row < frame[BOTTOM], own, below)
        return code.select(row < frame[TOP], above, within)

    def sides(self, taps: list[Val], y: Val, k: Val) -> list[Val]:
        """Where the columns before and behind those of an image's own memory are, of the k-th of a
        set's rows."""
        dy = self.read("long", self.as_pointer(taps[DYS]), k)
        row = self.place(y * taps[DOWN] + dy, taps[SET_HEIGHT], taps[RULE])
        frame = self.frame(taps)
        before = frame[BEFORE] + row * frame[BEFORE_STRIDE]
        behind = frame[BEHIND] + row * frame[BEHIND_STRIDE]
        return [self.as_pointer(before), self.as_pointer(behind)]

    def copy_set(
        self, index: Val, at: tuple[Val, Val], size: Val, slot_place: Val, free_place: Val
    ) -> None:
        """The rows of a set of taps around so many pixels, in whole blocks."""
        code, (x, y) = self.code, at
        taps = self.row(self.pointer(SET_TABLE), SET_SLOTS, index)
        channels, more = taps[CHANNELS], size - self.number(BLOCK)
        count = taps[COUNT] + more * taps[ACROSS]
        start = x * taps[ACROSS] + taps[LEFT]
        # Columns of the block, counted from its first: those before `left` and from `right` on lie
        # outside the image, or in its frame.
        first, last = taps[FIRST], taps[FIRST] + taps[INNER]
        left = code.clamp(first - start, 0, count)
        right = code.maximum(code.minimum(last - start, count), left)
        # Those that are found by the rule; others repeat them.
        before = code.minimum(left, taps[PERIOD])
        behind = code.minimum(count - right, taps[PERIOD])
        outer = before + behind

        def column_of(k: Val) -> Val:
            return code.select(k < before, k, k - before + right)

        with counting(code, outer) as k:
            column = self.column(start + column_of(k), taps)
            with counting(code, channels) as c:
                element = code.select(column < 0, -1 - c, column * channels + c)
                self.write_to(code.cast("trunc", element, "int"), self.columns, k * channels + c, 4)
        texel = taps[SIZE] * channels
        # What lies inside as a whole is read where it is.
        there = code.select(outer.eq(0), taps[SET_ROWS], 0)
        with counting(code, there):
            slot = self.read("long", slot_place, self.zero)
            self.write_to(self.read("long", self.direct, slot), self.padded, slot)
            self.write_to(slot + 1, slot_place, self.zero)
        with counting(code, taps[SET_ROWS] - there) as row:
            slot = self.read("long", slot_place, self.zero)
            source = self.as_pointer(self.read("long", self.direct, slot))
            target = self.as_pointer(self.redirect(slot, texel, start, count, free_place))
            inner = code.at(source, (start + left) * texel)
            self.copy(code.at(target, left * texel), inner, (right - left) * texel)
            sides = self.sides(taps, y, row)
            for nbytes, kind in ((1, "byte"), (2, "short"), (4, "int")):
                of_size = code.select(taps[SIZE].eq(nbytes), outer, 0)
                with counting(code, of_size) as k, counting(code, channels) as c:
                    read = self.read("int", self.columns, k * channels + c, 4)
                    element = code.cast("sext", read, "long")
                    constant = self.as_pointer(taps[OUTSIDE])
                    outside = element < 0
                    before_last = code.select(element < last * channels, source, sides[1])
                    within = code.select(element < first * channels, sides[0], before_last)
                    base = code.select(outside, constant, within)
                    place = code.select(outside, -1 - element, element)
                    to = column_of(k) * channels + c
                    self.write_to(self.read(kind, base, place, nbytes), target, to, nbytes)
            with when(code, outer < left + count - right):
                self.repeat(target, before * texel, left * texel)
                end = code.at(target, right * texel)
                self.repeat(end, behind * texel, (count - right) * texel)
            self.write_to(slot + 1, slot_place, self.zero)

    def column(self, column: Val, taps: list[Val]) -> Val:
        """The column that is read for one outside, by the rule for texels; -1: the constant."""
        code, group = self.code, taps[GROUP]
        branch = Branch(code, group.eq(1))
        with branch.side():
            alone = [self.place(column, taps[SET_WIDTH], taps[RULE])]
        with branch.side():
            below = code.select(column < 0, group - 1, 0)
            texel = code.binary("sdiv", column - below, group)
            within = column - texel * group
            found = self.place(texel, code.binary("sdiv", taps[SET_WIDTH], group), taps[RULE])
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


__all__ = ["Edges"]
