"""Makes a block of pixels of which a device computes two at once: what functions of bytes add,
subtract and compare are small whole numbers, and an int has room for two of them.

    exact = Exact.of(median, inputs, outputs)       # None where too little is exact
    blocked = lanes(exact, words=4, rows=4)         # 16 x 4 pixels

Devices that compute with float16 do so on both halves of a word at once. A byte in 16 bits is a
float16 as it stands, in units of 2**-24, and sums of such are exact up to 2048 units: so is all
that is done in lanes, whatever the order. A word of four pixels of a row gives two pairs,

    word & 0x00ff00ff        pixels 0 and 2
    word >> 8 & 0x00ff00ff   pixels 1 and 3

and what lies between two words joins a lane of each. Where exact numbers end (a root, a product of
two pixels), lanes become floats, a pixel at a time, as `x / 255` of the whole number x.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pygpu.passes import CLEAN, apply
from pygpu.passes.block import Blocked
from pygpu.passes.block_views import is_near
from pygpu.passes.boundary import INDEX, lower_boundary
from pygpu.passes.finite import Finite
from pygpu.passes.local import Gate
from pygpu.ssa import Function, ImageInput, Load, Op, Region, Value, constant_of, walk
from pygpu.storage import Format
from pygpu.types import FLOAT, INT, Type, vector

LARGEST: Final = 2048  # whole numbers that float16 holds without a gap
UNIT: Final = 2.0**-24  # of lanes: the least float16
PIXELS: Final = 4  # of a word
BYTES: Final = 0x00FF00FF
GAIN: Final = 3  # operations in lanes for each number that leaves them, at least
BYTE: Final = Format(np.dtype(np.uint8), 1)
RAW: Final = replace(BYTE, normalize=False)
Bounds = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Exact:
    """A function of bytes that gives bytes, and its values that are whole numbers, in units of a
    255th, that lanes hold: of each the least and the greatest that it can be. Some are `leaving`:
    what is not exact takes them for floats."""

    function: Function
    inputs: Sequence[Format]
    bounds: Mapping[Value, Bounds]
    leaving: Sequence[Value]

    @classmethod
    def of(
        cls, function: Function, inputs: Sequence[Format], outputs: Sequence[Format]
    ) -> Exact | None:
        """None where results are others or stored otherwise, or too little is exact for taking
        pixels apart to pay."""
        if any(value.type is not FLOAT for value in function.outputs):
            return None
        if any(output != BYTE for output in outputs):
            return None
        finite = Finite(function, inputs)
        bounds: dict[Value, Bounds] = {}
        for op in function.body.ops:
            if _is_whole(function, op, inputs, bounds):
                low, high = [round(255 * end) for end in finite.range(op.result)]
                if max(-low, high) <= LARGEST:
                    bounds[op.result] = low, high
        leaving = _leaving(function, bounds)
        done = sum(value.op is not None and value.op.code in _CODES for value in bounds)
        if done < GAIN * max(1, len(leaving)):
            return None
        return cls(function, inputs, bounds, leaving)


def _is_whole(
    function: Function, op: Op, inputs: Sequence[Format], exact: Container[Value]
) -> bool:
    """Whether an op makes a whole number of 255ths, of those that are exact."""
    if op.code == "load":
        data: Load = op.data
        is_byte = inputs[data.image] == BYTE and data.boundary == "nearest"
        return is_byte and is_near(function, op) and op.operands[1] is function.y
    if op.code == "constant":
        return _is_count(op.result)
    if op.code in ("mul", "fma"):
        return _factors(op, exact) is not None and all(v in exact for v in op.operands[2:])
    return op.code in _CODES and all(operand in exact for operand in op.operands)


def _is_count(value: Value) -> bool:
    """Whether a constant is a whole number of 255ths."""
    number = constant_of(value)
    if value.type is not FLOAT or not isinstance(number, float) or not abs(number) <= LARGEST:
        return False
    return bool(np.float32(round(number * 255) / 255) == np.float32(number))


def _factors(op: Op, exact: Container[Value]) -> tuple[int, Value] | None:
    """Of a product, a constant that is a whole number, and the exact value that is taken so many
    times."""
    for factor, value in (op.operands[:2], op.operands[1::-1]):
        if value in exact and value.op is not None and value.op.code != "constant":
            number = constant_of(factor)
            if isinstance(number, float) and abs(number) <= LARGEST and number == round(number):
                return round(number), value
    return None


def _leaving(function: Function, bounds: Mapping[Value, Bounds]) -> list[Value]:
    """The exact values, but for constants, that the rest of the function uses."""
    rest = [op for op in walk(function.body) if not op.results or op.results[0] not in bounds]
    used = [value for op in rest for value in op.operands]
    used += [value for op in rest for region in op.regions for value in region.results]
    moving = [value for value in used if value.op is not None and value.op.code != "constant"]
    return [value for value in dict.fromkeys(moving) if value in bounds]


# ---------------------------------------------------------------- the block

_CODES: Final = {
    "add": "lanes_add", "sub": "lanes_sub", "mul": "lanes_fma", "fma": "lanes_fma",
    "neg": "lanes_sub", "abs": "lanes_abs", "min": "lanes_min", "max": "lanes_max",
}  # fmt: skip


def lanes(exact: Exact, words: int, rows: int) -> Blocked:
    """The function of a block of so many words of pixels along x, with all loads inside their
    images."""
    return _Lanes(exact, words, rows).run()


class _Lanes:
    """See lanes. Two views of an image that is read: its bytes, and whole loads of its words."""

    def __init__(self, exact: Exact, words: int, rows: int) -> None:
        function = exact.function
        self.function, self.bounds, self.leaving = function, exact.bounds, exact.leaving
        self.inexact = [value for value in function.outputs if value not in exact.bounds]
        self.words, self.rows = words, rows
        self.columns = words * PIXELS
        self.gate = Gate(function)
        self.images: list[ImageInput] = list(function.images)
        self.formats: list[Format] = list(exact.inputs)
        self.views: list[int] = []  # of which image each is one
        self.of_image: dict[int, tuple[int, int]] = {}
        self.whole: dict[tuple[int, int], Value] = {}  # rows read: image, how far down
        rest = [
            op
            for op in function.body.ops
            if op.code == "constant" or not any(value in exact.bounds for value in op.results)
        ]
        self.rest = Region(function.body.params, rest)

    def run(self) -> Blocked:
        self.read()
        pixels = [self.row(row) for row in range(self.rows)]
        results = [value for result in zip(*pixels, strict=True) for value in result]
        made = self.gate.finish(results)
        made = Function(made.name, tuple(self.images), made.tables, made.body)
        stored = words_format(self.words)
        return Blocked(
            apply(CLEAN, lower_boundary(made)),
            self.columns,
            self.rows,
            tuple(self.formats),
            (stored,) * len(self.function.outputs),
            (1,) * len(self.function.outputs),
            tuple(self.views),
        )

    def row(self, row: int) -> list[Value]:
        """The results of a row of pixels, each as words."""
        outputs = self.function.outputs
        pairs: dict[Value, list[Value]] = {each: [] for each in outputs if each in self.bounds}
        pixels: dict[Value, dict[int, Value]] = {each: {} for each in self.inexact}
        for column in [PIXELS * word + place for word in range(self.words) for place in (0, 1)]:
            pair = self.pair(column, row)
            for output, found in pairs.items():
                found.append(self.saturated(pair, output))
            for lane in (0, 1) if self.inexact else ():
                at = column + 2 * lane
                for output, value in self.floats(pair, at, row, lane).items():
                    pixels[output][at] = value
        return [
            self.joined(self.bytes_of(pairs[o]) if o in pairs else self.packed(pixels[o]))
            for o in outputs
        ]

    def joined(self, words: Sequence[Value]) -> Value:
        return words[0] if len(words) == 1 else self.gate("construct", *words)

    def bytes_of(self, pairs: Sequence[Value]) -> list[Value]:
        """Words of pairs: those of pixels 0 and 2, and those of 1 and 3."""
        gate, eight = self.gate, self.gate.constant(INT, 8)
        both = zip(pairs[::2], pairs[1::2], strict=True)
        return [gate("bit_or", even, gate("shl", odd, eight)) for even, odd in both]

    def packed(self, pixels: Mapping[int, Value]) -> list[Value]:
        """Words of floats."""
        gate = self.gate
        fours = [[pixels[first + k] for k in range(PIXELS)] for first in sorted(pixels)[::PIXELS]]
        return [gate("unorm8x4", gate("construct", *four)) for four in fours]

    # ------------------------------------------------ a pair of pixels

    def pair(self, column: int, row: int) -> dict[Value, Value]:
        """The exact values of two pixels, the second two columns after the first."""
        made: dict[Value, Value] = {}
        gate = self.gate
        zero = gate.constant(INT, 0)
        for value in self.bounds:
            op = value.op
            assert op is not None
            if op.code == "constant":
                made[value] = self.both(self.bounds[value][0] * UNIT)
            elif op.code == "load":
                data: Load = op.data
                made[value] = self.texels(data.image, column + data.dx, row + data.dy)
            elif op.code in ("mul", "fma"):
                product = _factors(op, self.bounds)
                assert product is not None
                factor, taken = product
                added = made[op.operands[2]] if op.code == "fma" else zero
                made[value] = gate("lanes_fma", made[taken], self.both(factor), added)
            else:
                operands = [made[operand] for operand in op.operands]
                first = [zero] if op.code == "neg" else []
                made[value] = gate(_CODES[op.code], *first, *operands)
        return made

    def both(self, number: float) -> Value:
        """A constant in both lanes."""
        bits = np.array([number] * 2, np.float16).view(np.int32)
        return self.gate.constant(INT, int(bits[0]))

    def saturated(self, pair: Mapping[Value, Value], value: Value) -> Value:
        """A pair as bytes in 16 bits."""
        (low, high), found = self.bounds[value], pair[value]
        if low < 0:
            found = self.gate("lanes_max", found, self.gate.constant(INT, 0))
        if high > 255:
            found = self.gate("lanes_min", found, self.both(255 * UNIT))
        return found

    def floats(
        self, pair: Mapping[Value, Value], column: int, row: int, lane: int
    ) -> dict[Value, Value]:
        """The results of one pixel that are not exact."""
        gate, function = self.gate, self.function
        gate.new[function.x] = gate("add", gate.x, gate.constant(INT, column))
        gate.new[function.y] = gate("add", gate.y, gate.constant(INT, row))
        scale = gate.constant(FLOAT, 1 / (255 * UNIT))
        for value in self.leaving:
            half = gate(("lane_low", "lane_high")[lane], pair[value])
            gate.new[value] = gate("mul", half, scale)
        gate.inline(self.rest)
        return dict(zip(self.inexact, gate.mapped(self.inexact), strict=True))

    # ------------------------------------------------ what is read

    def texels(self, image: int, column: int, dy: int) -> Value:
        """The bytes of two pixels, the second two columns after the first."""
        gate, ints = self.gate, self.gate.constant
        word, place = divmod(column, PIXELS)
        if place < 2 and 0 <= word < self.words:
            whole = self.word(image, word, dy)
            moved = gate("shr", whole, ints(INT, 8)) if place else whole
            return gate("bit_and", moved, ints(INT, BYTES))
        return gate("lanes_join", self.upper(image, column, dy), self.lower(image, column + 2, dy))

    def is_inside(self, column: int) -> bool:
        return 0 <= column < self.columns

    def upper(self, image: int, column: int, dy: int) -> Value:
        """A word whose upper lane is a pixel."""
        if self.is_inside(column) and column % PIXELS >= 2:
            return self.texels(image, column - 2, dy)
        return self.gate("shl", self.byte(image, column, dy), self.gate.constant(INT, 16))

    def lower(self, image: int, column: int, dy: int) -> Value:
        """A word whose lower lane is a pixel."""
        if self.is_inside(column) and column % PIXELS < 2:
            return self.texels(image, column, dy)
        return self.byte(image, column, dy)

    def byte(self, image: int, column: int, dy: int) -> Value:
        """A pixel, clamped."""
        view, _ = self.views_of(image)
        x = self.clamped("width", image, self.gate.x, column)
        return self.load(view, x, self.y(image, dy), INT)

    def word(self, image: int, index: int, dy: int) -> Value:
        """Four pixels of the block's own."""
        whole = self.whole[image, dy]
        return whole if self.words == 1 else self.gate("swizzle", whole, data=(index,))

    def read(self) -> None:
        """All words that blocks read: loaded at once, or, where a row ends before the block does,
        put together. One branch for all, so that all loads are on their way together."""
        gate = self.gate
        read: dict[int, set[int]] = {}
        for value in self.bounds:
            if value.op is not None and value.op.code == "load":
                rows = read.setdefault(value.op.data.image, set())
                rows.update(value.op.data.dy + row for row in range(self.rows))
        end = gate("add", gate.x, gate.constant(INT, self.columns))
        for image, rows in read.items():
            keys = [(image, dy) for dy in sorted(rows)]
            fits = gate("le", end, gate("width", data=image))
            for key in keys:
                self.y(*key)  # before the branch, for both sides
            sides = (self.side(self.loaded, keys), self.side(self.assembled, keys))
            types = [vector("int", self.words)] * len(keys)
            made = Op("if", (fits,), None, types, sides)
            gate.ops.append(made)
            self.whole.update(zip(keys, made.results, strict=True))

    def side(self, build: Callable[[int, int], Value], keys: Sequence[tuple[int, int]]) -> Region:
        """A side of a branch, which leaves something of each row of an image."""
        region = Region()
        with self.gate.inside(region):
            region.results = tuple([build(*key) for key in keys])
        return region

    def loaded(self, image: int, dy: int) -> Value:
        """The words of a row, at once."""
        x = self.gate("shr", self.gate.x, self.gate.constant(INT, self.columns.bit_length() - 1))
        _, view = self.views_of(image)
        return self.load(view, x, self.y(image, dy), vector("int", self.words))

    def assembled(self, image: int, dy: int) -> Value:
        """The same of single pixels, clamped."""
        gate, words = self.gate, []
        for first in range(0, self.columns, PIXELS):
            word = self.byte(image, first, dy)
            for place in range(1, PIXELS):
                moved = gate.constant(INT, 8 * place)
                byte = gate("shl", self.byte(image, first + place, dy), moved)
                word = gate("bit_or", word, byte)
            words.append(word)
        return self.joined(words)

    def y(self, image: int, dy: int) -> Value:
        return self.clamped("height", image, self.gate.y, dy)

    def clamped(self, size: str, image: int, place: Value, offset: int) -> Value:
        gate = self.gate
        return INDEX["nearest"](gate, place, offset, gate(size, data=image), True)[0]

    def load(self, view: int, x: Value, y: Value, type: Type) -> Value:
        return self.gate("load", x, y, data=Load(view, type, boundary="inside"))

    def views_of(self, image: int) -> tuple[int, int]:
        """The views of an image: its bytes, and its words as a block reads them."""
        if image not in self.of_image:
            first = len(self.images)
            name, type = self.function.images[image].name, vector("int", self.words)
            self.images += [ImageInput(f"{name}_bytes", INT), ImageInput(f"{name}_words", type)]
            self.formats += [RAW, words_format(self.words)]
            self.views += [image, image]
            self.of_image[image] = first, first + 1
        return self.of_image[image]


def words_format(words: int) -> Format:
    """How so many words of pixels are stored at once."""
    return Format(np.dtype(np.int32), words)


__all__ = ["Exact", "lanes"]
