"""The native loop over an image, around the span that span.py makes.

One function, `run(job, scratch)`, the same for all programs: every thread calls it; each takes tile
after tile by an atomic counter until none is left or the stop flag is set. In a tile, rows go in
blocks; a block of rows is a block of pixels at the left edge, a long span, and one at the right.
For spans the pointers to source rows point into the images. Near the edges, where taps would leave
an image, the rows around the block are copied to `scratch` with the boundary rule applied, results
too go there first, and the same code runs. A row outside an image with a constant boundary is a row
of that constant.

A job may have several planes, with one size and one program: frames, or what a volume is made of.
Then a tile is one of one plane, and the same part of the next plane is the next tile, so that what
neighbouring planes read is in the caches. Which plane it is, and where each image begins for it,
stands behind the pointers to rows.

Everything is given as 64-bit numbers; the names of the slots are below.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.boundary import place
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val

# The job.
(NEXT, TILES, TILE_COLUMNS, TILE_WIDTH, TILE_HEIGHT, WIDTH, HEIGHT, ROWS, BLOCK, BEGIN, END, SETS,
 SET_TABLE, OUTPUTS, OUTPUT_TABLE, ARGS, SLOTS, SPAN, STOP, GATE, SCRATCH, MORE_PLANES, IMAGES,
 IMAGE_TABLE, HELD, JOB_SLOTS,
) = range(26)  # fmt: skip
# SLOTS pointers to rows come first in what `span` is given as its context, then, where HELD numbers
# are held there, the plane and a pointer to each image.
PLANE_PLACES: Final = 1
# An image: where it begins, bytes of a plane, planes, and which of them, counted from that of the
# result, is read, by the rule for places outside.
BASE, PLANE_STRIDE, DEPTH, OFFSET, PLANE_RULE, IMAGE_SLOTS = range(6)
# A set of taps: the image, how it is read at its edges, and what a block needs of it.
(IMAGE, SET_WIDTH, SET_HEIGHT, STRIDE, RULE, OUTSIDE, LEFT, COUNT, SIZE, CHANNELS, SET_ROWS, DYS,
 SET_SLOTS) = range(13)  # fmt: skip
# A result.
OUT_BASE, OUT_STRIDE, OUT_TEXEL, OUT_PLANE, OUT_SLOTS = range(5)

ALIGN: Final = 64  # of rows in scratch


def driver(machine: Machine) -> str:
    """The IR of `run`, and of how threads come to it."""
    pause = "llvm.x86.sse2.pause" if machine.x86 else "llvm.donothing"
    hand_over = _HAND_OVER.format(
        next=8 * NEXT,
        tiles=8 * TILES,
        gate=8 * GATE,
        scratch=8 * SCRATCH,
        shut=SHUT,
        opened=~SHUT,
        left=LEFT_ALL,
        taken=TAKEN,
        pause=pause,
    )
    return f"{_Driver(machine).write()}\n{place(machine)}\n{hand_over}"


# A job has a gate: the number of helpers inside, and whether it is shut. Who finds it shut turns
# away, so the caller waits for those inside only. A helper that has just finished lingers: it looks
# at its mailbox for a while, where it is handed the next job without the delay of being woken. A
# job that is posted counts its helper as inside, until the helper leaves or the caller takes the
# job back from the mailbox: so a helper never looks at a job that is over.
# A mailbox is two numbers: 0 (asleep), 1 (lingering), 2 (working) or a job; and how much scratch
# there is.
SHUT: Final = 1 << 32
# What a caller waits for: nobody inside; all tiles taken; both.
LEFT_ALL, TAKEN, DONE = range(3)
_HAND_OVER: Final = """
declare void @{pause}()

define void @open(ptr %job) #0 {{
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw and ptr %gate, i64 {opened} seq_cst
  ret void
}}

define void @shut(ptr %job) #0 {{
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw or ptr %gate, i64 {shut} seq_cst
  ret void
}}

define void @serve(ptr %job, ptr %scratch) #0 {{
entry:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw add ptr %gate, i64 1 seq_cst
  %free = icmp ult i64 %old, {shut}
  br i1 %free, label %work, label %leave
work:
  call void @run(ptr %job, ptr %scratch)
  br label %leave
leave:
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  ret void
}}

define i32 @wait(ptr %job, i64 %rounds, i32 %what) #0 {{
entry:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %next = getelementptr i8, ptr %job, i64 {next}
  %tiles = getelementptr i8, ptr %job, i64 {tiles}
  %count = load i64, ptr %tiles, align 8
  %any = icmp eq i32 %what, {left}
  %busy = icmp eq i32 %what, {taken}
  br label %look
look:
  %round = phi i64 [ 0, %entry ], [ %following, %again ]
  %tile = load atomic i64, ptr %next seq_cst, align 8
  %inside = load atomic i64, ptr %gate seq_cst, align 8
  %bits = and i64 %inside, 65535
  %nobody = icmp eq i64 %bits, 0
  %alone = or i1 %busy, %nobody
  %finished = icmp sge i64 %tile, %count
  %enough = or i1 %any, %finished
  %done = and i1 %alone, %enough
  br i1 %done, label %over, label %again
again:
  call void @{pause}()
  %following = add i64 %round, 1
  %more = icmp slt i64 %following, %rounds
  br i1 %more, label %look, label %over
over:
  %result = phi i32 [ 1, %look ], [ 0, %again ]
  ret i32 %result
}}

define i32 @post(ptr %mailbox, ptr %job) #0 {{
entry:
  %need_at = getelementptr i8, ptr %job, i64 {scratch}
  %need = load i64, ptr %need_at, align 8
  %have_at = getelementptr i8, ptr %mailbox, i64 8
  %have = load i64, ptr %have_at, align 8
  %room = icmp sle i64 %need, %have
  br i1 %room, label %try, label %no
try:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %old = atomicrmw add ptr %gate, i64 1 seq_cst
  %number = ptrtoint ptr %job to i64
  %pair = cmpxchg ptr %mailbox, i64 1, i64 %number seq_cst seq_cst
  %posted = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %posted, label %yes, label %undo
undo:
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %no
yes:
  ret i32 1
no:
  ret i32 0
}}

define void @retract(ptr %mailbox, ptr %job) #0 {{
entry:
  %number = ptrtoint ptr %job to i64
  %pair = cmpxchg ptr %mailbox, i64 %number, i64 1 seq_cst seq_cst
  %back = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %back, label %undo, label %leave
undo:
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %leave
leave:
  ret void
}}

define void @linger(ptr %mailbox, ptr %scratch, i64 %rounds) #0 {{
entry:
  br label %ready
ready:
  store atomic i64 1, ptr %mailbox seq_cst, align 8
  br label %look
look:
  %round = phi i64 [ 0, %ready ], [ %following, %idle ], [ %following, %sleep ], [ %round, %take ]
  %seen = load atomic i64, ptr %mailbox seq_cst, align 8
  %empty = icmp eq i64 %seen, 1
  br i1 %empty, label %idle, label %take
idle:
  call void @{pause}()
  %following = add i64 %round, 1
  %more = icmp slt i64 %following, %rounds
  br i1 %more, label %look, label %sleep
sleep:
  %pair = cmpxchg ptr %mailbox, i64 1, i64 0 seq_cst seq_cst
  %asleep = extractvalue {{ i64, i1 }} %pair, 1
  br i1 %asleep, label %leave, label %look
take:
  %taking = cmpxchg ptr %mailbox, i64 %seen, i64 2 seq_cst seq_cst
  %taken = extractvalue {{ i64, i1 }} %taking, 1
  br i1 %taken, label %work, label %look
work:
  %job = inttoptr i64 %seen to ptr
  call void @run(ptr %job, ptr %scratch)
  %gate = getelementptr i8, ptr %job, i64 {gate}
  %before = atomicrmw sub ptr %gate, i64 1 seq_cst
  br label %ready
leave:
  ret void
}}
"""


class _Driver:
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

    # ------------------------------------------------------------ the loops

    def write(self) -> str:
        code = self.code
        zero = code.constant("long", 0)
        self.zero = zero
        held = self.number(HELD)
        self.slot_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next pointer to a row
        self.free_place = code.fixed("ptr", 1, "alloca i64, align 8")  # the next free byte
        self.direct = self.scratch  # pointers to rows where they are
        self.padded = code.at(self.scratch, held * 8)  # pointers to copies
        self.columns = code.at(self.padded, held * 8)  # source columns of a padded row, as i32
        self.stopping = self.pointer(STOP)
        with Loop(code, [code.constant("bool", True)]) as loop:
            counter = code.at(self.job, NEXT * 8)
            tile = code.fixed("long", 1, f"atomicrmw add ptr {counter.text}, i64 1 monotonic")
            more = tile < self.number(TILES)
            with when(code, more):
                self.tile(tile)
            loop.next(more & ~self.stopped(), [code.constant("bool", True)])
        code.line("ret void")
        return (
            f"define void @run(ptr %job, ptr %scratch) #0 {{\n{code.text()}\n}}\n" + code.helpers()
        )

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
            start = image[BASE] + plane * image[PLANE_STRIDE]
            for context in (self.direct, self.padded):
                self.write_to(start, context, first + PLANE_PLACES + index)

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
                source = self.place(y + dy, taps[SET_HEIGHT], taps[RULE])
                within = base + source * taps[STRIDE]
                row = code.select(source < 0, taps[OUTSIDE], within)
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
                start = result[OUT_BASE] + z * result[OUT_PLANE]
                row = start + last * result[OUT_STRIDE]
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
                self.span(self.direct, y, x, end)
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
                    # At the right edge a block that ends there, so that little of it is outside.
                    back = code.maximum(code.minimum(x, x1 - block), x0)
                    count = code.minimum(block, x1 - back)
                    self.edge(y, back, count, rows)
                    at_edge = [back + count]
                second = second_branch.join(overlapped, at_edge)
            (following,) = branch.join(first, second)
            loop.next(following < x1, [following])

    def span(self, context: Val, y: Val, x0: Val, x1: Val) -> None:
        code = self.code
        given = ", ".join(f"i32 {code.cast('trunc', value, 'int').text}" for value in (y, x0, x1))
        args = self.pointer(ARGS)
        code.fixed(
            "int", 1,
            f"call i32 {self.pointer(SPAN).text}(ptr {context.text}, ptr {args.text}, {given})",
        )  # fmt: skip

    # ------------------------------------------------------------ blocks at the edges

    def edge(self, y: Val, x: Val, count: Val, rows: Val) -> None:
        """A block whose taps may lie outside, or that does not fill up: `count` pixels from x in
        `rows` rows."""
        code = self.code
        free_place, slot_place = self.free_place, self.slot_place
        code.store(self.zero, slot_place, 8)
        self.store_start(free_place)
        with counting(code, self.number(SETS)) as index:
            self.copy_set(index, x, slot_place, free_place)
        with counting(code, self.number(OUTPUTS) * self.number(ROWS)) as k:
            slot = self.read("long", slot_place, self.zero) + k
            self.redirect(slot, self.texel(k), x, self.number(BLOCK), free_place)
        self.span(self.padded, y, x, x + self.number(BLOCK))
        with counting(code, self.number(OUTPUTS) * self.number(ROWS)) as k:
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
        widest = self.number(BLOCK) + 256  # see plan.REACH, which is 64 to each side
        start = code.cast("ptrtoint", self.columns, "long") + widest * (4 * 4)
        code.store((start + (ALIGN - 1)) & -ALIGN, free_place, 8)

    def redirect(self, slot: Val, texel: Val, x: Val, count: Val, free_place: Val) -> Val:
        """Make the padded pointer of a slot point, for column x, to free bytes; take them."""
        free = self.read("long", free_place, self.zero)
        self.write_to(free - x * texel, self.padded, slot)
        after = free + count * texel
        self.write_to((after + (ALIGN - 1)) & -ALIGN, free_place, self.zero)
        return free

    def copy_set(self, index: Val, x: Val, slot_place: Val, free_place: Val) -> None:
        """The rows of a set of taps around a block."""
        code = self.code
        taps = self.row(self.pointer(SET_TABLE), SET_SLOTS, index)
        channels, count = taps[CHANNELS], taps[COUNT]
        start = x + taps[LEFT]
        # Columns of the block, counted from its first: those before `left` and from `right` on lie
        # outside the image.
        left = code.clamp(-start, 0, count)
        right = code.maximum(code.minimum(taps[SET_WIDTH] - start, count), left)
        outer = count - right + left

        def column_of(k: Val) -> Val:
            return code.select(k < left, k, k - left + right)

        with counting(code, outer) as k:
            column = self.place(start + column_of(k), taps[SET_WIDTH], taps[RULE])
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
        with counting(code, taps[SET_ROWS] - there):
            slot = self.read("long", slot_place, self.zero)
            source = self.as_pointer(self.read("long", self.direct, slot))
            target = self.as_pointer(self.redirect(slot, texel, start, count, free_place))
            first = code.at(source, (start + left) * texel)
            self.copy(code.at(target, left * texel), first, (right - left) * texel)
            for size, kind in ((1, "byte"), (2, "short"), (4, "int")):
                of_size = code.select(taps[SIZE].eq(size), outer, 0)
                with counting(code, of_size) as k, counting(code, channels) as c:
                    read = self.read("int", self.columns, k * channels + c, 4)
                    element = code.cast("sext", read, "long")
                    constant = self.as_pointer(taps[OUTSIDE])
                    outside = element < 0
                    base = code.select(outside, constant, source)
                    place = code.select(outside, -1 - element, element)
                    to = column_of(k) * channels + c
                    self.write_to(self.read(kind, base, place, size), target, to, size)
            self.write_to(slot + 1, slot_place, self.zero)


def scratch_size(held: int, block: int, rows_bytes: int) -> int:
    """The bytes of scratch that a job needs: `rows_bytes` for its padded rows."""
    return held * 16 + (block + 256) * 16 + rows_bytes + ALIGN
