"""Native code that finds how far each pixel is from the nearest that is zero.

Each kernel below is the `span` of a job (codegen/jobs/driver.py). The first goes over columns
x0 <= x < x1, the second over rows:

down     writes the square of the distance to the nearest zero of the column, in columns' widths
across   writes the distance to the nearest zero

What is nearest moves to the right as a pixel does. So a row is taken in blocks of a vector: the
nearest columns of every block's first pixels are looked for first, the middle one in the whole row
and each later one between those of its neighbours; then the pixels of a block look at the columns
from the nearest of its first up to that of the next block's. All columns are looked at about once
for each halving of the row, by a vector at once, and once more for the pixels: distances of any
size take equally long.

Reference: A. Meijster, J. Roerdink, W. Hesselink, *A general algorithm for computing distance
transforms in linear time*, 2000, for taking columns first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from pygpu.codegen.elements import regions
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Branch, Loop, when
from pygpu.codegen.llvm.text import Machine, Val

# %args. SQUARES has rows of PITCH floats, NEAREST for each row as many ints as it has blocks, and
# one, SIZES how many columns' widths a row is high, and how wide a column is; TOP is half of the
# power of two from the number of blocks on.
SOURCE, SQUARES, NEAREST, RESULT, SIZES, WIDTH, HEIGHT, PITCH, TOP = range(9)
BESIDE: Final = 8  # vectors of columns that are gone down at once
Step = Literal["down", "across"]


class _Kernel:
    """The body of a kernel for elements of a kind."""

    def __init__(self, kind: str, machine: Machine) -> None:
        self.code = code = Code(machine)
        self.kind, self.lanes = kind, machine.lanes
        self.squares, self.nearest = (code.argument(slot, "ptr") for slot in (SQUARES, NEAREST))
        self.width, self.height, self.pitch = (
            code.argument(slot, "long") for slot in (WIDTH, HEIGHT, PITCH)
        )
        self.zero = code.constant("long", 0)

    def size(self, index: int) -> Val:
        return self.code.load("float", self.code.at(self.code.argument(SIZES, "ptr"), 4 * index))

    # ------------------------------------------------------------ columns

    def down(self, x0: Val, x1: Val) -> None:
        code, x = self.code, x0
        for lanes, beside in ((self.lanes, BESIDE), (self.lanes, 1), (1, 1)):
            columns = lanes * beside
            fits = Branch(code, x + columns <= x1)
            with fits.side(), Loop(code, [x]) as loop:
                begin = loop.params[0]
                self.up_and_down(begin, [lanes] * beside)
                loop.next(begin + 2 * columns <= x1, [begin + columns])
            (x,) = fits.join([loop.results[0]], [x])

    def up_and_down(self, x: Val, lanes: Sequence[int]) -> None:
        """Go down columns from x on, and write how far the last zero above is, then up again."""
        code, size = self.code, regions.SIZES[self.kind]
        source = code.argument(SOURCE, "ptr")
        far = [code.constant("float", math.inf, count) for count in lanes]
        places = [sum(lanes[:i]) for i in range(len(lanes))]
        with Loop(code, [self.zero, *far]) as rows:
            y, *above = rows.params
            found = []
            for distance, place in zip(above, places, strict=True):
                at = code.at(source, (y * self.width + x + place) * size)
                is_far = code.load(self.kind, at, distance.lanes, 1).ne(0)
                here = code.select(
                    is_far, distance + 1.0, code.constant("float", 0.0, distance.lanes)
                )
                code.store(here, code.at(self.squares, (y * self.pitch + x + place) * 4), 4)
                found.append(here)
            rows.next(y + 1 < self.height, [y + 1, *found])
        with Loop(code, [self.height - 1, *far]) as rows:
            y, *below = rows.params
            found = []
            for distance, place in zip(below, places, strict=True):
                at = code.at(self.squares, (y * self.pitch + x + place) * 4)
                here = code.minimum(code.read("float", at, distance.lanes, 4), distance + 1.0)
                wide = here * self.size(0)
                code.store(wide * wide, at, 4)
                found.append(here)
            rows.next(y > 0, [y - 1, *found])

    # ------------------------------------------------------------ rows

    def across(self, y0: Val, y1: Val) -> None:
        code = self.code
        blocks = code.binary(
            "sdiv", self.width + (self.lanes - 1), self.code.constant("long", self.lanes)
        )
        nearest = code.at(self.nearest, y0 * (blocks + 1) * 4)
        self.put(nearest, self.zero, self.zero)
        self.put(nearest, blocks, self.width - 1)
        with Loop(code, [y0]) as rows:
            (y,) = rows.params
            row = code.at(self.squares, y * self.pitch * 4)
            infinite = code.constant("float", math.inf, self.lanes)
            code.store(infinite, code.at(row, self.width * 4), 4)
            self.first_of_blocks(row, nearest, blocks)
            with Loop(code, [self.zero]) as loop:
                (block,) = loop.params
                x = block * self.lanes
                least, end = (self.get(nearest, each) for each in (block, block + 1))
                found = code.sqrt(self.block(row, x, least, end)) * self.size(1)
                self.write(y, x, found)
                loop.next(block + 1 < blocks, [block + 1])
            rows.next(y + 1 < y1, [y + 1])

    def first_of_blocks(self, row: Val, nearest: Val, blocks: Val) -> None:
        """The nearest columns of the first pixels of all blocks but the first: of every second of
        those that are left out so far, in all rounds."""
        code = self.code
        top = code.argument(TOP, "long")
        with when(code, top > 0), Loop(code, [top]) as rounds:
            (step,) = rounds.params
            with when(code, step < blocks), Loop(code, [step]) as loop:
                (block,) = loop.params
                after = code.minimum(block + step, blocks)
                least, end = self.get(nearest, block - step), self.get(nearest, after)
                self.put(nearest, block, self.look(row, block * self.lanes, least, end))
                loop.next(block + 2 * step < blocks, [block + 2 * step])
            step = step >> 1
            rounds.next(step > 0, [step])

    def look(self, row: Val, x: Val, least: Val, end: Val) -> Val:
        """The column from the least up to the end that is nearest to x, by vectors."""
        code, lanes = self.code, self.lanes
        columns = code.ramp(code.cast("trunc", least, "int"))
        away = code.to_float(columns - code.splat(code.cast("trunc", x, "int"), lanes))
        far = code.constant("float", math.inf, lanes)
        with Loop(code, [least, columns, away, far, columns]) as loop:
            j, column, distance, best, best_column = loop.params
            square = code.read("float", code.at(row, j * 4), lanes, 4)
            square = code.fma(distance, distance, square)
            best_column = code.select(square < best, column, best_column)
            best = code.minimum(best, square)
            further = [column + lanes, distance + float(lanes), best, best_column]
            loop.next(j + lanes <= end, [j + lanes, *further])
        best, column = loop.results[3:]
        least_of_all = self.least(best)
        last = code.splat(code.cast("trunc", end, "int"), lanes)
        column = code.select(best.eq(least_of_all), column, last)
        # Beyond the end there may be one that is as near: then so is the end.
        return code.cast("sext", code.lane(code.minimum(self.least(column), last), 0), "long")

    def least(self, vector: Val) -> Val:
        """The least of all lanes, in each of them."""
        step = vector.lanes // 2
        while step:
            turned = self.code.shuffle(
                vector, None, [(i + step) % vector.lanes for i in range(vector.lanes)]
            )
            vector, step = self.code.minimum(vector, turned), step // 2
        return vector

    def block(self, row: Val, x: Val, least: Val, end: Val) -> Val:
        """The least squares from the pixels of a block to columns."""
        code, lanes = self.code, self.lanes
        away = code.to_float(code.ramp(code.cast("trunc", x - least, "int")))
        far = code.constant("float", math.inf, lanes)
        with Loop(code, [least, away, far, far]) as loop:
            j, distance, *best = loop.params
            for i in range(2):  # a column behind the last counts as others, or is infinitely far
                square = code.splat(code.read("float", code.at(row, (j + i) * 4), 1, 4), lanes)
                here = distance - float(i)
                best[i] = code.minimum(best[i], code.fma(here, here, square))
            loop.next(j + 2 <= end, [j + 2, distance - 2.0, *best])
        return code.minimum(loop.results[2], loop.results[3])

    def write(self, y: Val, x: Val, found: Val) -> None:
        """Write the distances of a block, of which the last may go beyond its row."""
        code = self.code
        result = code.at(code.argument(RESULT, "ptr"), (y * self.width + x) * 4)
        is_whole = Branch(code, x + self.lanes <= self.width)
        with is_whole.side():
            code.store(found, result, 4)
        with is_whole.side():
            for i in range(self.lanes - 1):
                with when(code, x + i < self.width):
                    code.store(code.lane(found, i), code.at(result, 4 * i), 4)
        is_whole.join([], [])

    def get(self, array: Val, index: Val) -> Val:
        code = self.code
        return code.cast("sext", code.read("int", code.at(array, index * 4), 1, 4), "long")

    def put(self, array: Val, index: Val, value: Val) -> None:
        code = self.code
        code.store(code.cast("trunc", value, "int"), code.at(array, index * 4), 4)


def distance_span(step: Step, kind: str, machine: Machine) -> str:
    """The IR of a kernel."""
    kernel = _Kernel(kind, machine)
    getattr(kernel, step)(*kernel.code.ends())
    return kernel.code.span()
