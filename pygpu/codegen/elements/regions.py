"""Native code that numbers the connected regions of equal values of an image.

What is joined are runs of equal values along rows, which are far fewer than pixels. Runs tile a
row: each ends where the next begins, and behind the last stands a mark that begins at the width. A
run is known by its place in an array of STARTS. PARENTS has for each run one of its region that is
no later, so that the first run of a region is its own parent; runs of the background have -1. Each
kernel below is the `span` of a job (codegen/jobs/driver.py) over rows x0 <= y < x1:

scan     finds the runs of a chunk of rows, and joins those of neighbouring rows in it
number   over chunks: joins runs across the borders of chunks, and puts the region's number in
         place of each run's parent, in the order of the regions' first pixels
fill     writes to each pixel the number of its run

Where regions are only told apart by whether there is a seed in them, SEEN has that for each run,
and then for the first run of each region:

find     is `scan`, and looks for seeds in each run
gather   is `number`, but leaves in place of each run's parent the first run of its region
mark     writes to each pixel whether its region holds a seed
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Literal

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, counting, when
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

# %args. FIRSTS has the first run of each row, ENDS the run behind the last of each chunk.
SOURCE, LABELS, STARTS, PARENTS, FIRSTS, ENDS, WIDTH, LENGTH, ROWS, EXCEPT, COUNT = range(11)
SEEDS, SEEN, SLOTS = range(11, 14)
SIZES: Final = {"byte": 1, "short": 2, "uint": 4, "float": 4}  # bytes of an element
WIDE: Final = 64  # elements that are compared at once
MANY: Final = 16  # pixels of a run, about, below which a row is compared with the next by pixels
FILLED: Final = 16  # elements that are written at once
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
        self.source, self.labels, self.starts, self.parents, self.firsts, self.ends = (
            self.code.argument(slot, "ptr") for slot in range(WIDTH)
        )
        self.seeds, self.seen = (self.code.argument(slot, "ptr") for slot in (SEEDS, SEEN))
        self.width = self.code.argument(WIDTH, "long")
        self.size = SIZES[numbering.kind]

    def write(self) -> str:
        code = self.code
        getattr(self, self.numbering.step)(*code.ends())
        return f"{_root(code.machine)}\n{code.span()}"

    # ------------------------------------------------------------ memory

    def get(self, array: Val, index: Val) -> Val:
        """A number of an array of runs, as it is now."""
        return _read(self.code, "long", array, index)

    def put(self, array: Val, index: Val, value: Val) -> None:
        code = self.code
        code.store(code.cast("trunc", value, "int"), code.at(array, index * 4), 4)

    def value(self, y: Val, x: Val, lanes: int = 1) -> Val:
        """Elements of the image."""
        place = self.code.at(self.source, (y * self.width + x) * self.size)
        return self.code.load(self.numbering.kind, place, lanes, 1)

    # ------------------------------------------------------------ runs of a row

    def scan(self, y0: Val, y1: Val) -> None:
        code = self.code
        chunk = code.binary("sdiv", y0, self.code.argument(LENGTH, "long"))
        with Loop(code, [y0, y0 * (self.width + 1)]) as rows:
            y, first = rows.params
            self.put(self.firsts, y, first)
            zero = code.constant("long", 0)
            behind = self.rest_of_row(y, self.run(y, zero, first))
            self.put(self.starts, behind, self.width)
            self.put(self.parents, behind, code.constant("long", -1))
            if self.numbering.step == "find":
                self.look_for_seeds(y, first, behind)
            with when(code, y > y0):
                self.join_to_above(y, first, behind)
            rows.next(y + 1 < y1, [y + 1, behind + 1])
        self.put(self.ends, chunk, rows.results[1])

    find = scan

    def look_for_seeds(self, y: Val, first: Val, behind: Val) -> None:
        """Write down for each run of a row, which are not of the background, whether it has any."""
        code, zero = self.code, self.code.constant("long", 0)
        row = code.at(self.seeds, y * self.width)
        with Loop(code, [first]) as runs:
            (run,) = runs.params
            self.put(self.seen, run, zero)
            with when(code, self.get(self.parents, run) >= 0):
                end = self.get(self.starts, run + 1)
                with Loop(code, [self.get(self.starts, run), zero]) as pixels:
                    x, _ = pixels.params
                    seed = code.cast("zext", code.load("byte", code.at(row, x), 1, 1), "long")
                    pixels.next((x + 1 < end) & seed.eq(zero), [x + 1, seed])
                self.put(self.seen, run, pixels.results[1])
            runs.next(run + 1 < behind, [run + 1])

    def run(self, y: Val, x: Val, run: Val) -> Val:
        """Write a run down that begins at x; the place of the next."""
        code = self.code
        self.put(self.starts, run, x)
        parent = run
        if self.numbering.background:
            value = self.value(y, x)
            is_outside = value.eq(self.code.argument(EXCEPT, self.numbering.kind))
            parent = code.select(is_outside, code.constant("long", -1), run)
        self.put(self.parents, run, parent)
        return run + 1

    def rest_of_row(self, y: Val, run: Val) -> Val:
        """Write down the runs behind the first; the place behind them."""
        code = self.code
        one = code.constant("long", 1)
        wide = Branch(code, self.width > WIDE)
        with wide.side(), Loop(code, [one, run]) as blocks:
            x, known = blocks.params
            # The last block lies within the row: what was compared before is shifted out.
            left = code.minimum(x, self.width - WIDE)
            differ = self.value(y, left, WIDE).ne(self.value(y, left - 1, WIDE))
            bits = code.make("long", f"bitcast {differ.type} {differ.text} to i64", differ, lanes=1)
            past = x - left
            bits = code.binary("lshr", bits, past) << past
            found = self.runs_of_bits(y, left, bits, known)
            blocks.next(x + WIDE < self.width, [x + WIDE, found])
        first = blocks.results[1]
        with wide.side():
            narrow = Branch(code, self.width > 1)
            with narrow.side(), Loop(code, [one, run]) as loop:
                x, known = loop.params
                begins = Branch(code, self.value(y, x).ne(self.value(y, x - 1)))
                with begins.side():
                    following = self.run(y, x, known)
                (following,) = begins.join([following], [known])
                loop.next(x + 1 < self.width, [x + 1, following])
            (second,) = narrow.join([loop.results[1]], [run])
        return wide.join([first], [second])[0]

    def runs_of_bits(self, y: Val, left: Val, bits: Val, run: Val) -> Val:
        """Write a run down for each bit; the place behind them."""
        code = self.code
        some = Branch(code, bits.ne(0))
        with some.side(), Loop(code, [bits, run]) as loop:
            rest, known = loop.params
            code.declared["llvm.cttz.i64"] = "declare i64 @llvm.cttz.i64(i64, i1)"
            at = code.fixed("long", 1, f"call i64 @llvm.cttz.i64(i64 {rest.text}, i1 true)")
            following = self.run(y, left + at, known)
            rest = rest & (rest - 1)
            loop.next(rest.ne(0), [rest, following])
        return some.join([loop.results[1]], [run])[0]

    # ------------------------------------------------------------ regions

    def join_to_above(self, y: Val, first: Val, behind: Val) -> None:
        """Join the runs of a row with those of the row above: those of many by their pixels."""
        code = self.code
        are_many = Branch(code, ((behind - first) * MANY > self.width) & (self.width > WIDE))
        with are_many.side():
            self.join_pixels(y, self.get(self.firsts, y - 1), first)
        with are_many.side():
            self.join_rows(y)
        are_many.join([], [])

    def join_pixels(self, y: Val, upper: Val, lower: Val) -> None:
        """The same as `join_rows`, given the first run of each row. Of 64 pixels at once it is seen
        which are equal to one above where a run begins: each is of two runs that are to be joined,
        and nothing is asked about the others. Diagonals count where both rows begin a run."""
        code, numbering = self.code, self.numbering
        self.join(y, upper, lower)
        with Loop(code, [code.constant("long", 1), upper, lower]) as blocks:
            x, above_known, known = blocks.params
            left = code.minimum(x, self.width - WIDE)
            past = x - left
            (before, here), (above_before, above) = (
                [self.value(row, left + step, WIDE) for step in (-1, 0)] for row in (y, y - 1)
            )

            def bits(holds: Val) -> Val:
                found = code.make(
                    "long", f"bitcast {holds.type} {holds.text} to i64", holds, lanes=1
                )
                return code.binary("lshr", found, past) << past

            def alike(one: Val, other: Val) -> Val:
                equal = one.eq(other)
                if numbering.background:
                    equal = equal & one.ne(code.argument(EXCEPT, numbering.kind))
                return bits(equal)

            begins = bits(above.ne(above_before)), bits(here.ne(before))
            runs = above_known, known
            self.join_at(alike(here, above) & (begins[0] | begins[1]), begins, runs)
            if numbering.diagonal:
                both = begins[0] & begins[1]
                self.join_at(alike(here, above_before) & both, begins, (above_known - 1, known))
                self.join_at(alike(before, above) & both, begins, (above_known, known - 1))
            after = [
                run + code.intrinsic("ctpop", each) for run, each in zip(runs, begins, strict=True)
            ]
            blocks.next(x + WIDE < self.width, [x + WIDE, *after])

    def join_at(self, bits: Val, begins: tuple[Val, Val], runs: tuple[Val, Val]) -> None:
        """For each bit join a run of the row above and one of the row: those before the block, and
        as many on as begin up to the bit."""
        code = self.code
        with when(code, bits.ne(0)), Loop(code, [bits]) as loop:
            (rest,) = loop.params
            following = rest & (rest - 1)
            up_to = rest ^ (rest - 1)
            self.unite(
                *[run + code.intrinsic("ctpop", each & up_to)
                  for run, each in zip(runs, begins, strict=True)]
            )  # fmt: skip
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
        parents = self.get(self.parents, upper), self.get(self.parents, lower)
        with when(code, (parents[0] | parents[1]) >= 0):
            above = self.value(y - 1, self.get(self.starts, upper))
            below = self.value(y, self.get(self.starts, lower))
            with when(code, above.eq(below)):
                self.unite(upper, lower)

    def unite(self, upper: Val, lower: Val) -> None:
        one, other = self.root(upper), self.root(lower)
        least = self.code.minimum(one, other)
        self.put(self.parents, self.code.maximum(one, other), least)

    def root(self, run: Val) -> Val:
        return self.code.fixed(
            "long", 1, f"call fastcc i64 @root(ptr {self.parents.text}, i64 {run.text})"
        )

    def number(self, chunk0: Val, chunk1: Val) -> None:
        code, zero = self.code, self.code.constant("long", 0)

        def one(run: Val, count: Val) -> Val:
            # The number of a first run is written and read again: a choice of what was read becomes
            # a branch, which is guessed wrong where many runs are first.
            parent = self.get(self.parents, run)
            is_first = parent.eq(run)
            count = count + code.cast("zext", is_first, "long")
            self.put(self.parents, run, code.select(is_first, count, parent))
            known = self.get(self.parents, code.select(is_first | (parent < 0), run, parent))
            self.put(self.parents, run, code.maximum(known, zero))
            return count

        code.store(self.each_run(one), self.code.argument(COUNT, "ptr"), 8)

    def gather(self, chunk0: Val, chunk1: Val) -> None:
        code = self.code

        def one(run: Val, count: Val) -> Val:
            is_first, is_outside, known = self.known(run)
            first = code.select(is_outside | is_first, run, known)
            self.put(self.parents, run, first)
            with when(code, self.get(self.seen, run).ne(0)):
                self.put(self.seen, first, code.constant("long", 1))
            return count

        self.each_run(one)

    def known(self, run: Val) -> tuple[Val, Val, Val]:
        """Whether a run is the first of its region, whether it is of the background, and what is
        written at its parent, which came before."""
        parent = self.get(self.parents, run)
        is_first, is_outside = parent.eq(run), parent < 0
        known = self.get(self.parents, self.code.select(is_outside, run, parent))
        return is_first, is_outside, known

    def each_run(self, one: Callable[[Val, Val], Val]) -> Val:
        """Join the chunks; then do a thing with each run, in their order, and with a count, which
        it gives for the next one: the last of these."""
        code, length = self.code, self.code.argument(LENGTH, "long")
        with self.chunks() as chunk, when(code, chunk > 0):
            self.join_rows(chunk * length)
        zero = code.constant("long", 0)
        with Loop(code, [zero, zero]) as chunks:
            chunk, before = chunks.params
            first = chunk * length * (self.width + 1)
            end = self.get(self.ends, chunk)
            with Loop(code, [first, before]) as loop:
                run, count = loop.params
                loop.next(run + 1 < end, [run + 1, one(run, count)])
            chunks.next((chunk + 1) * length < self.code.argument(ROWS, "long"),
                        [chunk + 1, loop.results[1]])  # fmt: skip
        return chunks.results[1]

    @contextmanager
    def chunks(self) -> Iterator[Val]:
        code, length = self.code, self.code.argument(LENGTH, "long")
        number = code.binary("sdiv", self.code.argument(ROWS, "long") + length - 1, length)
        with counting(code, number) as chunk:
            yield chunk

    def fill(self, y0: Val, y1: Val) -> None:
        self.write_runs(y0, y1, "uint", lambda run: self.get(self.parents, run))

    def mark(self, y0: Val, y1: Val) -> None:
        self.write_runs(
            y0, y1, "byte", lambda run: self.get(self.seen, self.get(self.parents, run))
        )

    def write_runs(self, y0: Val, y1: Val, kind: str, number: Callable[[Val], Val]) -> None:
        """Write to each pixel the number of its run."""
        code = self.code
        with Loop(code, [y0]) as rows:
            (y,) = rows.params
            row = code.at(self.labels, y * self.width * SIZES[kind])
            with Loop(code, [self.get(self.firsts, y)]) as loop:
                run = loop.params[0]
                begin, end = self.get(self.starts, run), self.get(self.starts, run + 1)
                self.fill_run(row, begin, end, code.cast("trunc", number(run), kind))
                loop.next(end < self.width, [run + 1])
            rows.next(y + 1 < y1, [y + 1])

    def fill_run(self, row: Val, begin: Val, end: Val, number: Val) -> None:
        """Write a number to a part of a row. The next runs write over what goes beyond it."""
        code, size = self.code, SIZES[number.kind]
        wide = code.splat(number, FILLED)
        with Loop(code, [begin]) as loop:
            x = loop.params[0]
            inside = Branch(code, x + FILLED <= self.width)
            with inside.side():
                code.store(wide, code.at(row, x * size), size)
                after_wide = x + FILLED
            with inside.side():
                code.store(number, code.at(row, x * size), size)
                after_one = x + 1
            (following,) = inside.join([after_wide], [after_one])
            loop.next(following < end, [following])


def _read(code: Code, kind: str, array: Val, index: Val) -> Val:
    """An int of an array as it is now, as a long."""
    return code.cast("sext", code.read("int", code.at(array, index * 4), align=4), kind)


def _root(machine: Machine) -> str:
    """A function that finds the first run of a run's region, and halves the way to it."""
    code = Code(machine)
    parents, run = Val(code, "ptr", 1, "%parents", 0), Val(code, "long", 1, "%run", 0)
    with Loop(code, [run]) as loop:
        here = loop.params[0]
        parent = _read(code, "long", parents, here)
        above = _read(code, "long", parents, parent)
        code.store(code.cast("trunc", above, "int"), code.at(parents, here * 4), 4)
        loop.next(above.ne(parent), [above])
    code.line(f"ret i64 {loop.results[0].text}")
    head = "define internal fastcc i64 @root(ptr %parents, i64 %run) #1 {"
    return f"{head}\n{code.text()}\n}}\n{code.helpers()}"


def region_span(numbering: Numbering, machine: Machine) -> str:
    """The IR of a kernel."""
    return _Kernel(numbering, machine).write()
