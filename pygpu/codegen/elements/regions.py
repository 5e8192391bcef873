"""Native code that numbers the connected regions of equal values of an image.

What is joined are runs of equal values along rows, which are far fewer than pixels. Runs tile a
row: each ends where the next begins, and behind the last stands a mark that begins at the width. A
run is known by its place in an array of STARTS. PARTS has for each run a part of its region: that
of a run above which it touches, else a new one, numbered in the order of their first pixels; 0 for
the background. PARENTS has for each part one of its region that is no later, so that the first part
of a region is its own parent. Each kernel below is the `span` of a job (codegen/jobs/driver.py)
over rows x0 <= y < x1:

scan     finds the runs of a chunk of rows, and gives them parts
number   over chunks: joins parts across the borders of chunks, and puts the region's number in
         place of each part's parent, in the order of the regions' first pixels
fill     writes to each pixel the number of its run

Where regions are only told apart by whether there is a seed in them, SEEN has that for each part,
and then for the first part of each region:

find     is `scan`, and looks for seeds in each run
gather   is `number`, but leaves in place of each part's parent the first part of its region
mark     writes to each pixel whether its region holds a seed

Runs are found as bits, 64 pixels at once; many are written down by vectors, eight pixels at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

from pygpu.codegen.elements.picks import LANES, before, lowest, places
from pygpu.codegen.elements.unions import meet, read, write
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# %args. FIRSTS has the first run of each row, ENDS the part behind the last of each chunk.
SOURCE, LABELS, STARTS, PARTS, PARENTS, FIRSTS, ENDS, WIDTH, LENGTH, ROWS, EXCEPT = range(11)
COUNT, SEEDS, SEEN, SLOTS = range(11, 15)
SIZES: Final = {"byte": 1, "short": 2, "uint": 4, "float": 4}  # bytes of an element
WIDE: Final = 64  # elements that are compared at once
FEW: Final = 8  # runs of these, up to which they are written one by one
GAP: Final = 16  # runs and parts between those of chunks: vectors are written beyond the last
FILLED: Final = {"uint": 16, "byte": 16}  # elements that are written at once
Step = Literal["scan", "number", "fill", "find", "gather", "mark"]


@record
class Numbering:
    """A kernel for elements of a kind: is there a background, are diagonals joined?"""

    step: Step
    kind: str
    background: bool
    diagonal: bool


class _Kernel:
    """The body of a kernel."""

    def __init__(self, numbering: Numbering, machine: Machine) -> None:
        self.numbering = numbering
        self.code = Code(machine)
        self.source, self.labels, self.starts, self.parts, self.parents, self.firsts, self.ends = (
            self.code.argument(slot, "ptr") for slot in range(WIDTH)
        )
        self.seeds, self.seen = (self.code.argument(slot, "ptr") for slot in (SEEDS, SEEN))
        self.width, self.length, self.rows = (
            self.code.argument(slot, "long") for slot in (WIDTH, LENGTH, ROWS)
        )
        self.size = SIZES[numbering.kind]

    def write(self) -> str:
        code = self.code
        getattr(self, self.numbering.step)(*code.ends())
        return f"{meet(code.machine)}\n{code.span()}"

    # ------------------------------------------------------------ memory

    def get(self, array: Val, index: Val) -> Val:
        """A number of an array of runs, as it is now."""
        return read(self.code, array, index)

    def put(self, array: Val, index: Val, value: Val) -> None:
        write(self.code, array, index, value)

    def value(self, y: Val, x: Val, lanes: int = 1) -> Val:
        """Elements of the image."""
        place = self.code.at(self.source, (y * self.width + x) * self.size)
        return self.code.load(self.numbering.kind, place, lanes, 1)

    # ------------------------------------------------------------ runs of a row

    def scan(self, y0: Val, y1: Val) -> None:
        code, zero = self.code, self.code.constant("long", 0)
        chunk = code.binary("sdiv", y0, self.length)
        base = self.base(chunk)
        with Loop(code, [y0, base, base + 1]) as rows:
            y, first, part = rows.params
            self.put(self.firsts, y, first)
            self.run(y, zero, first)
            wide = Branch(code, self.width > WIDE)
            with wide.side():
                by_bits = self.rest_by_bits(y, first, y > y0)
            with wide.side():
                by_pixels = self.rest_by_pixels(y, first)
                self.put(self.starts, by_pixels, self.width)
                with when(code, y > y0):
                    self.join_rows(y)
            (behind,) = wide.join([by_bits], [by_pixels])
            self.put(self.starts, behind, self.width)
            following = self.give_parts(first, behind, part)
            if self.numbering.step == "find":
                self.look_for_seeds(y, first, behind)
            rows.next(y + 1 < y1, [y + 1, behind + 1, following])
        self.put(self.ends, chunk, rows.results[2])

    find = scan

    def base(self, chunk: Val) -> Val:
        """Where the runs of a chunk begin; its parts begin one behind that."""
        return chunk * (self.length * (self.width + 1) + GAP)

    def look_for_seeds(self, y: Val, first: Val, behind: Val) -> None:
        """Write down for the part of each run of a row, which are not of the background, whether
        the run has any."""
        code, zero = self.code, self.code.constant("long", 0)
        row = code.at(self.seeds, y * self.width)
        with Loop(code, [first]) as runs:
            (run,) = runs.params
            part = self.get(self.parts, run)
            with when(code, part.ne(0)):
                end = self.get(self.starts, run + 1)
                with Loop(code, [self.get(self.starts, run), zero]) as pixels:
                    x, _ = pixels.params
                    seed = code.cast("zext", code.load("byte", code.at(row, x), 1, 1), "long")
                    pixels.next((x + 1 < end) & seed.eq(zero), [x + 1, seed])
                self.put(self.seen, part, self.get(self.seen, part) | pixels.results[1])
            runs.next(run + 1 < behind, [run + 1])

    def run(self, y: Val, x: Val, run: Val) -> Val:
        """Write a run down that begins at x and has no part yet; the place of the next."""
        code = self.code
        self.put(self.starts, run, x)
        part = code.constant("long", -1)
        if self.numbering.background:
            is_outside = self.value(y, x).eq(code.argument(EXCEPT, self.numbering.kind))
            part = code.select(is_outside, code.constant("long", 0), part)
        self.put(self.parts, run, part)
        return run + 1

    def rest_by_pixels(self, y: Val, first: Val) -> Val:
        """Write down the runs behind the first; the place behind them."""
        code = self.code
        some = Branch(code, self.width > 1)
        with some.side(), Loop(code, [code.constant("long", 1), first + 1]) as loop:
            x, known = loop.params
            begins = Branch(code, self.value(y, x).ne(self.value(y, x - 1)))
            with begins.side():
                following = self.run(y, x, known)
            (following,) = begins.join([following], [known])
            loop.next(x + 1 < self.width, [x + 1, following])
        return some.join([loop.results[1]], [first + 1])[0]

    def rest_by_bits(self, y: Val, first: Val, has_above: Val) -> Val:
        """The same, 64 pixels at once, which are then joined with those above."""
        code = self.code
        zero, one = (code.constant("long", number) for number in (0, 1))
        first_above = self.get(self.firsts, y - code.select(has_above, one, zero))
        with when(code, has_above):
            self.join(y, first_above, first)
        with Loop(code, [one, first + 1, first_above]) as blocks:
            x, run, upper = blocks.params
            # The last block lies within the row: what was compared before is shifted out.
            left = code.minimum(x, self.width - WIDE)
            past = x - left

            def bits(holds: Val) -> Val:
                text = f"bitcast {holds.type} {holds.text} to i64"
                found = code.make("long", text, holds, lanes=1)
                return code.binary("lshr", found, past) << past

            here, before = (self.value(y, left - step, WIDE) for step in (0, 1))
            begins, outside = bits(here.ne(before)), zero
            if self.numbering.background:
                outside = bits(here.eq(code.argument(EXCEPT, self.numbering.kind)))
            self.write_runs(y, left, begins, outside, run)
            joined = Branch(code, has_above)
            with joined.side():
                above = [self.value(y - 1, left - step, WIDE) for step in (0, 1)]
                begun = bits(above[0].ne(above[1]))
                with when(code, (begun | begins).ne(0)):
                    runs = [upper, run - 1]
                    self.join_pixels(bits, [*above, here, before], [begun, begins], runs)
                after = upper + code.intrinsic("ctpop", begun)
            (after,) = joined.join([after], [upper])
            behind = run + code.intrinsic("ctpop", begins)
            blocks.next(x + WIDE < self.width, [x + WIDE, behind, after])
        return blocks.results[1]

    def write_runs(self, y: Val, left: Val, begins: Val, outside: Val, run: Val) -> None:
        """Write a run down for each bit: many by bytes of bits. What a vector has more is written
        over by the next."""
        code = self.code
        many = Branch(code, code.intrinsic("ctpop", begins) > FEW)
        with many.side():
            to = run
            for shift in range(0, WIDE, LANES):
                byte, out = (code.binary("lshr", each, shift) & 255 for each in (begins, outside))
                at = places(code, byte)
                starts = at + code.cast("trunc", left + shift, "int")
                parts = code.splat(code.cast("trunc", out, "int"), LANES)
                parts = (code.binary("lshr", parts, at) & 1) - 1
                for array, values in ((self.starts, starts), (self.parts, parts)):
                    code.store(values, code.at(array, to * 4), 4)
                to = to + code.intrinsic("ctpop", byte)
        with many.side(), when(code, begins.ne(0)), Loop(code, [begins, run]) as loop:
            rest, known = loop.params
            following = self.run(y, left + lowest(code, rest), known)
            rest = rest & (rest - 1)
            loop.next(rest.ne(0), [rest, following])
        many.join([], [])

    def give_parts(self, first: Val, behind: Val, part: Val) -> Val:
        """Give parts of their own to runs that touch none above; the part behind them."""
        code = self.code
        with Loop(code, [first, part]) as loop:
            run, known = loop.params
            held = code.read("int", code.at(self.parts, run * 4), LANES, 4)
            fresh, _ = self.byte(held < 0, behind - run)
            number = code.cast("trunc", known, "int")
            # A choice of what was read would become a store of some lanes, which is slow on AMD's.
            given = code.select(held < 0, before(code, fresh) + number, 0)
            code.store(code.maximum(held, given), code.at(self.parts, run * 4), 4)
            code.store(code.ramp(number, LANES), code.at(self.parents, known * 4), 4)
            if self.numbering.step == "find":
                none = code.constant("int", 0, LANES)
                code.store(none, code.at(self.seen, known * 4), 4)
            following = known + code.intrinsic("ctpop", fresh)
            loop.next(run + LANES < behind, [run + LANES, following])
        return loop.results[1]

    def byte(self, holds: Val, count: Val) -> tuple[Val, Val]:
        """A condition of eight lanes as bits, of which so many count; and these bits."""
        code = self.code
        bits = code.make("byte", f"bitcast {holds.type} {holds.text} to i8", holds, lanes=1)
        known = (code.constant("long", 1) << code.minimum(count, LANES)) - 1
        return code.cast("zext", bits, "long") & known, known

    # ------------------------------------------------------------ regions

    def join_pixels(
        self, bits: Callable[[Val], Val], rows: list[Val], begins: list[Val], runs: list[Val]
    ) -> None:
        """The same as `join_rows` of 64 pixels, given these and those before each, above and here,
        where runs begin in both rows, and the runs before. Pixels equal to one above where a run
        begins are each of two runs that are to be joined, and nothing is asked about the others.
        Diagonals count where both rows begin a run."""
        code, numbering, zero = self.code, self.numbering, self.code.constant("long", 0)
        above, above_before, here, before = rows

        def alike(one: Val, other: Val) -> Val:
            equal = one.eq(other)
            if numbering.background:
                equal = equal & one.ne(code.argument(EXCEPT, numbering.kind))
            return bits(equal)

        straight, both = alike(here, above) & (begins[0] | begins[1]), begins[0] & begins[1]
        if not numbering.diagonal:
            self.join_at(straight, zero, begins, runs)
            return
        falling = alike(here, above_before) & both
        self.join_at(straight | falling, falling, begins, runs)
        rising = alike(before, above) & both
        self.join_at(rising, zero, begins, [runs[0], runs[1] - 1])

    def join_at(self, bits: Val, falling: Val, begins: list[Val], runs: list[Val]) -> None:
        """For each bit join a run of the row above and one of the row: those before the block, and
        as many on as begin up to the bit; above, where it falls, only before it."""
        code = self.code
        with when(code, bits.ne(0)), Loop(code, [bits]) as loop:
            (rest,) = loop.params
            following = rest & (rest - 1)
            up_to = rest ^ (rest - 1)
            up_to_above = up_to ^ (falling & (rest ^ following))
            self.unite(
                runs[0] + code.intrinsic("ctpop", begins[0] & up_to_above),
                runs[1] + code.intrinsic("ctpop", begins[1] & up_to),
            )
            loop.next(following.ne(0), [following])

    def join_rows(self, y: Val) -> None:
        """Join the runs of a row with those of the row above that they touch. Two that are looked
        at always share a column; then the one that ends first gives way to the next of its row."""
        code = self.code
        one, zero = code.constant("long", 1), code.constant("long", 0)
        firsts = [self.get(self.firsts, y - 1), self.get(self.firsts, y)]
        with Loop(code, firsts) as loop:
            upper, lower = loop.params
            self.join(y, upper, lower)
            upper_end = self.get(self.starts, upper + 1)
            lower_end = self.get(self.starts, lower + 1)
            is_more = (upper_end < self.width) | (lower_end < self.width)
            if self.numbering.diagonal:
                with when(code, upper_end.eq(lower_end) & is_more):
                    self.join(y, upper, lower + 1)
                    self.join(y, upper + 1, lower)
            following = [
                upper + code.select(upper_end <= lower_end, one, zero),
                lower + code.select(lower_end <= upper_end, one, zero),
            ]
            loop.next(is_more, following)

    def join(self, y: Val, upper: Val, lower: Val) -> None:
        """Make two runs that touch one region, if they are of one value and no background."""
        code = self.code
        with when(code, self.get(self.parts, upper).ne(0)):
            above = self.value(y - 1, self.get(self.starts, upper))
            below = self.value(y, self.get(self.starts, lower))
            with when(code, above.eq(below)):
                self.unite(upper, lower)

    def unite(self, upper: Val, lower: Val) -> None:
        """Give a run without a part that of a run above, or else make their parts one region."""
        code = self.code
        above, part = self.get(self.parts, upper), self.get(self.parts, lower)
        parent = self.get(self.parents, above)
        is_new = Branch(code, part < 0)
        with is_new.side():
            self.put(self.parts, lower, parent)
        with is_new.side(), when(code, parent.ne(self.get(self.parents, part))):
            given = f"ptr {self.parents.text}, i64 {above.text}, i64 {part.text}"
            code.line(f"call fastcc void @meet({given})")
        is_new.join([], [])

    def number(self, chunk0: Val, chunk1: Val) -> None:
        code = self.code

        def some(part: Val, end: Val, count: Val) -> Val:
            # First parts are numbered in a vector; what their numbers are is looked up for others.
            place = code.at(self.parents, part * 4)
            held = code.read("int", place, LANES, 4)
            is_first = held.eq(code.ramp(code.cast("trunc", part, "int"), LANES))
            first, all_of = self.byte(is_first, end - part)
            numbers = before(code, first) + code.cast("trunc", count + 1, "int")
            has_others = Branch(code, first.ne(all_of))
            with has_others.side():
                code.store(code.select(is_first, numbers, held), place, 4)
                with Loop(code, [first ^ all_of]) as loop:
                    (rest,) = loop.params
                    other = part + lowest(code, rest)
                    known = self.get(self.parents, self.get(self.parents, other))
                    self.put(self.parents, other, known)
                    rest = rest & (rest - 1)
                    loop.next(rest.ne(0), [rest])
            with has_others.side():
                code.store(numbers, place, 4)
            has_others.join([], [])
            return count + code.intrinsic("ctpop", first)

        code.store(self.each_part(some, LANES), code.argument(COUNT, "ptr"), 8)

    def gather(self, chunk0: Val, chunk1: Val) -> None:
        code, zero = self.code, self.code.constant("long", 0)

        def one(part: Val, end: Val, count: Val) -> Val:
            first = self.get(self.parents, self.get(self.parents, part))
            self.put(self.parents, part, first)
            with when(code, self.get(self.seen, part).ne(0)):
                self.put(self.seen, first, code.constant("long", 1))
            return count

        self.put(self.seen, zero, zero)
        self.each_part(one, 1)

    def each_part(self, some: Callable[[Val, Val, Val], Val], step: int) -> Val:
        """Join the chunks, and number the background; then do a thing with some parts, in their
        order, with the end of their chunk's, and with a count, which it gives for the next ones:
        the last of these."""
        code, length, zero = self.code, self.length, self.code.constant("long", 0)
        with counting(code, code.binary("sdiv", self.rows - 1, length)) as chunk:
            self.join_rows((chunk + 1) * length)
        self.put(self.parents, zero, zero)
        with Loop(code, [zero, zero]) as chunks:
            chunk, before = chunks.params
            first, end = self.base(chunk) + 1, self.get(self.ends, chunk)
            has_some = Branch(code, first < end)
            with has_some.side(), Loop(code, [first, before]) as loop:
                part, count = loop.params
                loop.next(part + step < end, [part + step, some(part, end, count)])
            (after,) = has_some.join([loop.results[1]], [before])
            chunks.next((chunk + 1) * length < self.rows, [chunk + 1, after])
        return chunks.results[1]

    def fill(self, y0: Val, y1: Val) -> None:
        self.write_pixels(y0, y1, "uint", lambda part: self.get(self.parents, part))

    def mark(self, y0: Val, y1: Val) -> None:
        self.write_pixels(
            y0, y1, "byte", lambda part: self.get(self.seen, self.get(self.parents, part))
        )

    def write_pixels(self, y0: Val, y1: Val, kind: str, number: Callable[[Val], Val]) -> None:
        """Write to each pixel the number of its run."""
        code = self.code
        with Loop(code, [y0]) as rows:
            (y,) = rows.params
            row = code.at(self.labels, y * self.width * SIZES[kind])
            # Into the rows of the chunk that come next may be written what they write over.
            has_more = Branch(code, (y1 - 1 - y) * self.width >= FILLED[kind])
            for is_free in (True, False):
                with has_more.side(), Loop(code, [self.get(self.firsts, y)]) as loop:
                    run = loop.params[0]
                    begin, end = self.get(self.starts, run), self.get(self.starts, run + 1)
                    found = code.cast("trunc", number(self.get(self.parts, run)), kind)
                    self.fill_run(row, (begin, end), found, is_free)
                    loop.next(end < self.width, [run + 1])
            has_more.join([], [])
            rows.next(y + 1 < y1, [y + 1])

    def fill_run(self, row: Val, ends: tuple[Val, Val], number: Val, is_free: bool) -> None:
        """Write a number to a part of a row, several at once where these are within the row or what
        follows is free. The next runs write over what goes beyond it."""
        code, size, lanes = self.code, SIZES[number.kind], FILLED[number.kind]
        wide = code.splat(number, lanes)
        with Loop(code, [ends[0]]) as loop:
            x = loop.params[0]
            place, following = code.at(row, x * size), x + lanes
            if is_free:
                code.store(wide, place, size)
            else:
                inside = Branch(code, x + lanes <= self.width)
                for value in (wide, number):
                    with inside.side():
                        code.store(value, place, size)
                inside.join([], [])
                following = code.select(x + lanes <= self.width, following, x + 1)
            loop.next(following < ends[1], [following])


def region_span(numbering: Numbering, machine: Machine) -> str:
    """The IR of a kernel."""
    return _Kernel(numbering, machine).write()
