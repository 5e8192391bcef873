"""Makes a block of RGBA pixels of bytes, each packed in a word: four of a row are one load and one
store.

    block_of_rgba8(task, rows=2)       # 4 x 2 pixels

It is for functions that read the pixel alone. All that a block reads is read first, so that memory
is at work on it while nothing else can be done. What a function hands on as it was read, as most do
with alpha, stays the bits of a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.analysis.footprint import footprint, reads_itself
from pygpu.passes.blocks.block import Blocked, can_block
from pygpu.passes.blocks.block_views import COLUMNS
from pygpu.passes.blocks.packed_rows import PackedRows
from pygpu.passes.simplify.local import Gate
from pygpu.ssa import Op, Value, images_read, walk
from pygpu.types import FLOAT, INT, vector

PIXEL: Final = Format(np.dtype(np.uint8), 4)
WORD: Final = Format(np.dtype(np.int32), 1)  # a pixel as it lies in its buffer


def is_rgba8(task: Task) -> bool:
    """Whether a function reads pixels of four bytes, each at its own place, and makes such."""
    function = task.function
    read = images_read(function)
    formats = [*[task.inputs[index] for index in read], *task.outputs]
    loads = [op for op in walk(function.body) if op.code == "load"]
    return (
        bool(read)
        and can_block(function)
        and reads_itself(footprint(function))
        and all(format == PIXEL for format in formats)
        and all(value.type == vector("float", 4) for value in function.outputs)
        and all(op.data.boundary == "nearest" for op in loads)
    )


def block_of_rgba8(task: Task, rows: int) -> Blocked:
    """The function of a block of COLUMNS x `rows` pixels, with all loads inside their images."""
    return _Packed(task, rows).run()


class _Packed:
    """Makes the function that `block_of_rgba8` gives."""

    def __init__(self, task: Task, rows: int) -> None:
        self.function, self.rows = task.function, rows
        self.gate = Gate(task.function, {"load": self.pixel})
        self.views = PackedRows(self.gate, task.inputs, ("word", WORD), COLUMNS, COLUMNS)
        self.at = 0, 0  # the column and row of the pixel that is made

    def run(self) -> Blocked:
        self.views.read(
            {image: range(self.rows) for image in images_read(self.function)}, self.assembled
        )
        made = [self.row(row) for row in range(self.rows)]
        results = [value for result in zip(*made, strict=True) for value in result]
        return self.views.blocked(self.views.finished(results), self.rows)

    def assembled(self, image: int, dy: int) -> Value:
        """The words of a row of single pixels."""
        return self.views.joined([self.views.element(image, dx, dy) for dx in range(COLUMNS)])

    def row(self, row: int) -> list[Value]:
        """The results of a row of pixels, each as words."""
        gate, function = self.gate, self.function
        pixels = []
        for column in range(COLUMNS):
            self.at = column, row
            gate.new[function.x] = gate("add", gate.x, gate.constant(INT, column))
            gate.new[function.y] = gate("add", gate.y, gate.constant(INT, row))
            gate.inline(function.body)
            pixels.append([self.word(value) for value in gate.mapped(function.outputs)])
        return [self.views.joined(four) for four in zip(*pixels, strict=True)]

    def pixel(self, gate: Gate, op: Op, _: tuple[Value, ...]) -> Sequence[Value]:
        """A pixel that is read, from its word."""
        column, row = self.at
        return [gate("from_unorm8x4", self.views.word(op.data.image, column, row))]

    def word(self, value: Value) -> Value:
        """A result as a word. Components of a pixel that are where they were are not touched."""
        gate = self.gate
        parts = [gate("swizzle", value, data=(place,)) for place in range(4)]
        words = [_kept(part, place) for place, part in enumerate(parts)]
        kept = next((word for word in words if word is not None), None)
        if kept is None:
            return gate("unorm8x4", value)
        mask = sum(0xFF << 8 * place for place, word in enumerate(words) if word is kept)
        zero = gate.constant(FLOAT, 0.0)
        others = [zero if word is kept else part for part, word in zip(parts, words, strict=True)]
        own = gate("bit_and", kept, gate.constant(INT, mask - (mask >> 31 << 32)))
        return gate("bit_or", own, gate("unorm8x4", gate("construct", *others)))


def _kept(part: Value, place: int) -> Value | None:
    """The word of which a component is the byte at this place, unchanged."""
    op = part.op
    if op is None or op.code != "swizzle" or op.data != (place,):
        return None
    pixel = op.operands[0].op
    return pixel.operands[0] if pixel is not None and pixel.code == "from_unorm8x4" else None
