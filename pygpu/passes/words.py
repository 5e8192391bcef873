"""Makes a block of pixels of four bytes, which are words: four of a row are one load and one store.

    words(function, inputs, outputs, rows=2)       # 4 x 2 pixels

It is for functions that read the pixel alone. All that a block reads is read first, so that memory
is at work on it while nothing else can be done. What a function hands on as it was read, as most do
with alpha, stays the bits of a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pygpu.passes import CLEAN, apply
from pygpu.passes.block import Blocked, can_block
from pygpu.passes.block_views import COLUMNS
from pygpu.passes.boundary import INDEX, lower_boundary
from pygpu.passes.footprint import footprint, reads_itself
from pygpu.passes.local import Gate
from pygpu.ssa import Function, ImageInput, Load, Op, Region, Value, images_read, walk
from pygpu.storage import Format
from pygpu.types import FLOAT, INT, vector

PIXEL: Final = Format(np.dtype(np.uint8), 4)
WORD: Final = Format(np.dtype(np.int32), 1)  # a pixel as it lies in its buffer
WORDS: Final = Format(np.dtype(np.int32), COLUMNS)


def are_words(function: Function, inputs: Sequence[Format], outputs: Sequence[Format]) -> bool:
    """Whether a function reads pixels of four bytes, each at its own place, and makes such."""
    read = images_read(function)
    formats = [*[inputs[index] for index in read], *outputs]
    loads = [op for op in walk(function.body) if op.code == "load"]
    return (
        bool(read)
        and can_block(function)
        and reads_itself(footprint(function))
        and all(format == PIXEL for format in formats)
        and all(value.type == vector("float", 4) for value in function.outputs)
        and all(op.data.boundary == "nearest" for op in loads)
    )


def words(
    function: Function, inputs: Sequence[Format], outputs: Sequence[Format], rows: int
) -> Blocked:
    """The function of a block of COLUMNS x `rows` pixels, with all loads inside their images."""
    return _Words(function, inputs, rows).run(len(outputs))


class _Words(Gate):
    """See words. Two views of an image that is read: its pixels, and four of them at once."""

    def __init__(self, function: Function, inputs: Sequence[Format], rows: int) -> None:
        super().__init__(function, {"load": self._pixel})
        self.formats = list(inputs)
        self.rows = rows
        self.images: list[ImageInput] = list(function.images)
        self.views: list[int] = []  # of which image each is one
        self.read: dict[tuple[int, int], Value] = {}  # image, row: four words
        self.at = 0, 0  # the column and row of the pixel that is made

    def run(self, results: int) -> Blocked:  # type: ignore[override]
        for image in images_read(self.function):
            self._read(image)
        made: list[list[Value]] = [[] for _ in range(results)]
        x, y = self.x, self.y
        for row in range(self.rows):
            pixels = []
            for column in range(COLUMNS):
                self.at = column, row
                self.new[self.function.x] = self("add", x, self.constant(INT, column))
                self.new[self.function.y] = self("add", y, self.constant(INT, row))
                self.inline(self.function.body)
                pixels.append([self._word(value) for value in self.mapped(self.function.outputs)])
            for result, four in zip(made, zip(*pixels, strict=True), strict=True):
                result.append(self("construct", *four))
        whole = self.finish([value for result in made for value in result])
        whole = Function(whole.name, tuple(self.images), whole.tables, whole.body)
        return Blocked(
            apply(CLEAN, lower_boundary(whole)),
            COLUMNS,
            self.rows,
            tuple(self.formats),
            (WORDS,) * results,
            (1,) * results,
            tuple(self.views),
        )

    def _read(self, image: int) -> None:
        """The words of an image: loaded at once, or put together where its rows end before."""
        single, whole = self._views(image)
        end = self("add", self.x, self.constant(INT, COLUMNS))
        fits = self("le", end, self("width", data=image))
        rows = [self._inside("height", image, self.y, row) for row in range(self.rows)]
        column = self("shr", self.x, self.constant(INT, COLUMNS.bit_length() - 1))
        sides = Region(), Region()
        with self.inside(sides[0]):
            sides[0].results = tuple([self._load(whole, column, y) for y in rows])
        with self.inside(sides[1]):
            columns = [self._inside("width", image, self.x, dx) for dx in range(COLUMNS)]
            sides[1].results = tuple(
                [self("construct", *[self._load(single, x, y) for x in columns]) for y in rows]
            )
        made = Op("if", (fits,), None, [vector("int", COLUMNS)] * self.rows, sides)
        self.ops.append(made)
        self.read.update({(image, row): value for row, value in enumerate(made.results)})

    def _views(self, image: int) -> tuple[int, int]:
        """New views of an image: its pixels, and four of them."""
        name, first = self.function.images[image].name, len(self.images)
        self.images += [
            ImageInput(f"{name}_word", INT),
            ImageInput(f"{name}_words", vector("int", COLUMNS)),
        ]
        self.formats += [WORD, WORDS]
        self.views += [image, image]
        return first, first + 1

    def _load(self, view: int, x: Value, y: Value) -> Value:
        return self("load", x, y, data=Load(view, self.images[view].type, boundary="inside"))

    def _inside(self, size: str, image: int, place: Value, offset: int) -> Value:
        return INDEX["nearest"](self, place, offset, self(size, data=image), True)[0]

    def _pixel(self, _: Gate, op: Op, __: tuple[Value, ...]) -> Sequence[Value]:
        """A pixel that is read, from its word."""
        column, row = self.at
        word = self("swizzle", self.read[op.data.image, row], data=(column,))
        return [self("from_unorm8x4", word)]

    def _word(self, value: Value) -> Value:
        """A result as a word. Components of a pixel that are where they were are not touched."""
        parts = [self("swizzle", value, data=(place,)) for place in range(4)]
        words = [_kept(part, place) for place, part in enumerate(parts)]
        kept = next((word for word in words if word is not None), None)
        if kept is None:
            return self("unorm8x4", value)
        mask = sum(0xFF << 8 * place for place, word in enumerate(words) if word is kept)
        zero = self.constant(FLOAT, 0.0)
        others = [zero if word is kept else part for part, word in zip(parts, words, strict=True)]
        own = self("bit_and", kept, self.constant(INT, mask - (mask >> 31 << 32)))
        return self("bit_or", own, self("unorm8x4", self("construct", *others)))


def _kept(part: Value, place: int) -> Value | None:
    """The word of which a component is the byte at this place, unchanged."""
    op = part.op
    if op is None or op.code != "swizzle" or op.data != (place,):
        return None
    pixel = op.operands[0].op
    return pixel.operands[0] if pixel is not None and pixel.code == "from_unorm8x4" else None


__all__ = ["are_words", "words"]
