"""Makes a block of pixels of which a device computes two at once: what functions of bytes add,
subtract and compare are small whole numbers, and an int has room for two of them.

    exact = Exact.of(Task(median, inputs, outputs))      # None where results are no bytes
    blocked = lanes(by_columns(exact), words=4, rows=4)  # 16 x 4 pixels

Devices that compute with float16 do so on both halves of a word at once. A byte in 16 bits is a
float16 as it stands, in units of 2**-24, and sums of such are exact up to 2048 units: so is all
that is done in lanes, whatever the order. A word of four pixels of a row gives two pairs,

    word & 0x00ff00ff        pixels 0 and 2
    word >> 8 & 0x00ff00ff   pixels 1 and 3

and what lies between two words joins a lane of each: texels, or whatever is computed of one column
of them. Where exact numbers end (a root, a product of two pixels), lanes become floats, a pixel at
a time: in units too where all that follows scales with them, so that results are bytes again as
float16, else as `x / 255` of the whole number x.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pygpu.core.operations.intervals import ANY
from pygpu.core.operations.ops import TABLE
from pygpu.passes.analysis.ranges import Ranges
from pygpu.passes.analysis.rounding import UNIT
from pygpu.passes.blocks.block import Blocked
from pygpu.passes.blocks.exact import BYTE, EXTREMES, LARGEST, Bounds, Exact, factors
from pygpu.passes.blocks.packed_rows import PackedRows
from pygpu.passes.blocks.pairs import greater_by_sums, share_pairs
from pygpu.passes.blocks.units import in_units
from pygpu.passes.lower.factors import taken_out
from pygpu.passes.simplify.local import Gate
from pygpu.ssa import Function, Load, Region, Value, constant_of
from pygpu.types import FLOAT, INT

PIXELS: Final = 4  # of a word
BYTES: Final = 0x00FF00FF
RAW: Final = replace(BYTE, normalize=False)
Pair = tuple[int, int]  # columns of the pixels in the lower and in the upper lane

SLACK: Final = 0.25  # of a byte, by which results may be above one: they are rounded


def lanes(exact: Exact, words: int, rows: int) -> Blocked:
    """The function of a block of words of pixels along x, with all loads inside their images."""
    return _Lanes(exact, words, rows).run()


class _Lanes:
    """Makes the function that `lanes` gives. Each image has two views: its single bytes, and the
    words of a row, which are loaded at once."""

    def __init__(self, exact: Exact, words: int, rows: int) -> None:
        function = exact.function
        self.function, self.exact, self.bounds = function, exact, exact.bounds
        self.words, self.rows = words, rows
        self.columns = words * PIXELS
        self.gate = Gate(function)
        self.views = PackedRows(self.gate, exact.inputs, ("bytes", RAW), self.columns, words)
        self.made: dict[tuple[Value, Pair, int], Value] = {}  # exact values of pixels of a row
        self.read_columns = self._read_columns()
        self._set_rest()

    def _set_rest(self) -> None:
        """What follows where lanes end: ops, the results that they leave, in units or not, and what
        those that are never NaN lie between, in 255ths."""
        function, exact = self.function, self.exact
        self.inexact = [value for value in function.outputs if value not in exact.bounds]
        ops = [
            op
            for op in function.body.ops
            if op.code == "constant" or not any(value in exact.bounds for value in op.results)
        ]
        rest, wanted = taken_out(ops, exact.leaving, self.inexact)
        self.found = dict(zip(self.inexact, wanted, strict=True))
        self.ranges: dict[Value, Bounds] = dict(exact.bounds)
        self.scale = 1 / (255 * UNIT)
        scaled = in_units(rest, exact.leaving, wanted, 255 * UNIT)
        if scaled is not None:
            rest, self.scale = scaled.ops, 1.0
            self.found = dict(zip(self.inexact, scaled.results, strict=True))
        ranges = Ranges(function, exact.inputs)
        for output in self.inexact:
            if ranges.bounds(output) != ANY:
                low, high = [255 * end for end in ranges.bounds(output)]
                self.ranges[output] = math.floor(low), math.ceil(high - SLACK)
        self.rest = Region(function.body.params, list(rest))

    def _read_columns(self) -> dict[int, set[int]]:
        """The pixels of each image that rows of a block read."""
        found: dict[int, set[int]] = {}
        for load in self.exact.loads:
            columns = range(load.dx, self.columns + load.dx)
            found.setdefault(load.image, set()).update(columns)
        return found

    def _read_rows(self) -> dict[int, list[int]]:
        """The rows of each image that a block reads, in order. Row 0 is that of its first pixel."""
        found: dict[int, set[int]] = {}
        for load in self.exact.loads:
            found.setdefault(load.image, set()).update(range(load.dy, self.rows + load.dy))
        return {image: sorted(rows) for image, rows in found.items()}

    def run(self) -> Blocked:
        self.views.read(self._read_rows(), self.assembled)
        pixels = [self.row(row) for row in range(self.rows)]
        results = [value for result in zip(*pixels, strict=True) for value in result]
        return self.views.blocked(self.compared(self.views.finished(results)), self.rows)

    def compared(self, function: Function) -> Function:
        """The function with minima and maxima chosen so that the fewest comparisons are left."""
        ops = [value.op for value in self.bounds if value.op is not None]
        taken = [each for op in ops if op.code in EXTREMES for each in op.operands]
        sizes = [max(map(abs, self.bounds[value])) for value in taken]
        has_sums = 3 * max(sizes, default=0) <= LARGEST
        shared = share_pairs(function, has_sums)
        return greater_by_sums(shared) if has_sums else shared

    def row(self, row: int) -> list[Value]:
        """The results of a row of pixels, each as words."""
        outputs = self.function.outputs
        pairs: dict[Value, list[Value]] = {each: [] for each in outputs if each in self.ranges}
        floats: dict[Value, dict[int, Value]] = {
            each: {} for each in outputs if each not in self.ranges
        }
        for column in [PIXELS * word + place for word in range(self.words) for place in (0, 1)]:
            pair = column, column + 2
            found = [self.floats(each, row) for each in pair] if self.inexact else []
            for output in dict.fromkeys(outputs):
                if output in floats:
                    floats[output].update(zip(pair, [each[output] for each in found], strict=True))
                elif output in self.bounds:
                    pairs[output].append(self.saturated(self.value(output, pair, row), output))
                else:
                    unit = self.gate.constant(FLOAT, 1 / self.scale)
                    both = [self.gate("mul", each[output], unit) for each in found]
                    packed = self.gate("lanes_pack", *both)
                    pairs[output].append(self.saturated(packed, output))
        return [
            self.views.joined(self.bytes_of(pairs[o]) if o in pairs else self.packed(floats[o]))
            for o in outputs
        ]

    def bytes_of(self, pairs: Sequence[Value]) -> list[Value]:
        """Words of pairs: those of pixels 0 and 2, and those of 1 and 3."""
        gate, moved = self.gate, self.gate.constant(INT, 1 << 8)
        both = zip(pairs[::2], pairs[1::2], strict=True)
        return [gate("add", even, gate("mul", odd, moved)) for even, odd in both]

    def packed(self, pixels: Mapping[int, Value]) -> list[Value]:
        """Words of floats."""
        gate = self.gate
        scale = gate.constant(FLOAT, 1 / (255 * UNIT * self.scale))
        floats = [gate("mul", pixels[column], scale) for column in sorted(pixels)]
        fours = [floats[first : first + PIXELS] for first in range(0, len(floats), PIXELS)]
        return [gate("unorm8x4", gate("construct", *four)) for four in fours]

    # ------------------------------------------------ a pair of pixels

    def value(self, value: Value, pair: Pair, row: int) -> Value:
        """An exact value of two pixels of a row, in the two lanes of an int.

        What reads one column alone is computed for pairs of pixels whose texels lie in one word.
        Of other pairs it is joined from a lane of one such pair and a lane of another.
        """
        stack = [(value, pair)]
        while stack:
            wanted, at = stack[-1]
            spots = self.spots(wanted, at)
            operands = wanted.op.operands if wanted.op is not None else ()
            needed = spots or [(operand, at) for operand in operands if operand in self.bounds]
            missing = [each for each in needed if (*each, row) not in self.made]
            stack += missing
            if not missing:
                joined = [self.made[*each, row] for each in spots]
                self.made[wanted, at, row] = (
                    self.gate("lanes_join", *joined) if joined else self.computed(wanted, at, row)
                )
                stack.pop()
        return self.made[value, pair, row]

    def spots(self, value: Value, pair: Pair) -> Sequence[tuple[Value, Pair]]:
        """The two pairs of pixels from which the value of this pair is joined: the upper lane of
        the first pair, and the lower lane of the second. The texels of both pairs lie in words.

        Nothing where the value is computed for this pair itself: where it reads several columns,
        where its texels are a pair of a word, and where both lie beside the block.
        """
        column = self.exact.column[value]
        if column is None:
            return ()
        low, high = pair[0] + column, pair[1] + column
        first, second = (low - 2, low), (high, high + 2)
        if high != low + 2 or not (self.is_inside(low) or self.is_inside(high)):
            return ()
        if not self.is_inside(low):
            first = self.columns - 1 - low, low
        elif not self.is_inside(high):
            second = high, self.columns - 1 - high
        elif low % PIXELS < 2:
            return ()
        return [(value, (a - column, b - column)) for a, b in (first, second)]

    def computed(self, value: Value, pair: Pair, row: int) -> Value:
        """An exact value by its operation."""
        op, gate = value.op, self.gate
        assert op is not None
        if op.code == "constant":
            return self.both(self.bounds[value][0] * UNIT)
        if op.code == "load":
            data: Load = op.data
            low, high = [column + data.dx for column in pair]
            return self.texels(data.image, low, high, row + data.dy)
        zero = gate.constant(INT, 0)
        if op.code in ("mul", "fma"):
            product = factors(op, self.bounds)
            assert product is not None
            factor, taken = product
            added = self.made[op.operands[2], pair, row] if op.code == "fma" else zero
            return gate("lanes_fma", self.made[taken, pair, row], self.both(factor), added)
        operands = [self.made[operand, pair, row] for operand in op.operands]
        first = [zero] if op.code == "neg" else []
        return gate(TABLE[op.code].on_lanes, *first, *operands)

    def both(self, number: float) -> Value:
        """A constant in both lanes."""
        bits = np.array([number] * 2, np.float16).view(np.int32)
        return self.gate.constant(INT, int(bits[0]))

    def saturated(self, pair: Value, value: Value) -> Value:
        """A pair as bytes in 16 bits."""
        low, high = self.ranges[value]
        if low < 0 or not self.is_positive(value):
            pair = self.gate("lanes_max", pair, self.gate.constant(INT, 0))
        if high > 255:
            pair = self.gate("lanes_min", pair, self.both(255 * UNIT))
        return pair

    def is_positive(self, value: Value) -> bool:
        """Whether a value has no sign however it is rounded: it is never below 0, nor -0."""
        op, number = value.op, constant_of(value)
        if isinstance(number, float):
            return math.copysign(1.0, number) > 0
        if op is None or value in self.bounds:
            return value in self.bounds and self.bounds[value][0] >= 0
        operands = op.operands
        if op.code in ("mul", "fma") and operands[0] is operands[1]:
            operands = operands[2:]
        is_kept = op.code in ("add", "mul", "fma", "div", "sqrt", "min", "max")
        return op.code == "abs" or (is_kept and all(map(self.is_positive, operands)))

    def floats(self, column: int, row: int) -> dict[Value, Value]:
        """The results of one pixel that are not exact."""
        gate, function = self.gate, self.function
        gate.new[function.x] = gate("add", gate.x, gate.constant(INT, column))
        gate.new[function.y] = gate("add", gate.y, gate.constant(INT, row))
        scale = gate.constant(FLOAT, self.scale)
        for value in self.exact.leaving:
            pair, lane = self.pair_of(value, column)
            half = gate(("lane_low", "lane_high")[lane], self.value(value, pair, row))
            gate.new[value] = gate("mul", half, scale)
        gate.inline(self.rest)
        return {output: gate.new[found] for output, found in self.found.items()}

    def pair_of(self, value: Value, column: int) -> tuple[Pair, int]:
        """The two pixels that an exact value is computed of at once, and which of them is this: for
        what reads one column, those whose texels are in a word, which other pixels take too."""
        away = self.exact.column[value] or 0
        at = column + away
        if 0 <= at < self.columns:
            lane = at % PIXELS // 2
            return (column - 2 * lane, column - 2 * lane + 2), lane
        other = self.columns - 1 - at - away
        return ((other, column), 1) if at < 0 else ((column, other), 0)

    # ------------------------------------------------ what is read

    def texels(self, image: int, low: int, high: int, dy: int) -> Value:
        """The bytes of two pixels. Products and sums of ints in place of shifts and masks, where
        they say the same: those keep units of a device busy that are for comparisons too."""
        gate, ints = self.gate, self.gate.constant
        word, place = divmod(low, PIXELS)
        if high == low + 2 and place < 2 and self.is_inside(low):
            whole = self.views.word(image, word, dy)
            odd = gate("bit_and", gate("shr", whole, ints(INT, 8)), ints(INT, BYTES))
            return odd if place else gate("sub", whole, gate("mul", odd, ints(INT, 1 << 8)))
        upper = gate("mul", self.byte(image, high, dy), ints(INT, 1 << 16))
        return gate("add", self.byte(image, low, dy), upper)

    def is_inside(self, column: int) -> bool:
        return 0 <= column < self.columns

    def byte(self, image: int, column: int, dy: int) -> Value:
        """A pixel, clamped; 0 for one that no row reads."""
        if column not in self.read_columns[image]:
            return self.gate.constant(INT, 0)
        return self.views.element(image, column, dy)

    def assembled(self, image: int, dy: int) -> Value:
        """The words of a row, put together from single pixels, each clamped into the image."""
        gate, words = self.gate, []
        for first in range(0, self.columns, PIXELS):
            word = self.byte(image, first, dy)
            for place in range(1, PIXELS):
                moved = gate.constant(INT, 8 * place)
                byte = gate("shl", self.byte(image, first + place, dy), moved)
                word = gate("bit_or", word, byte)
            words.append(word)
        return self.views.joined(words)
