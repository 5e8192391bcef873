"""Images whose rows are longer, or more, than a device takes: their texels go on in the next row.

Texels are counted along the rows of the whole image, and WIDTH of them make a row of what the
device holds. Boundaries are arithmetic on coordinates, before the texels are counted. How large the
image is becomes uniforms.

    load im[i, y] wrap  ->  %0 = mod i, im_width; %1 = mod y, im_height; %2 = %1 * im_width + %0
                            load im[%2 & 8191, %2 >> 13] nearest
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.rewriter import Rewriter
from pygpu.passes.layout.window import names_of_sizes, pairs
from pygpu.passes.lower.boundary import Emitting, Moved, chosen
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Load, Op, Value
from pygpu.types import INT

SHIFT: Final = 13
WIDTH: Final = 1 << SHIFT  # texels of a row


def wrapped(function: Function, images: Sequence[int]) -> Function:
    """The function of images that are wrapped. Its uniforms are those it had, then the width and
    height of each such image as it was."""
    return apply(CLEAN, _Wrapping(function, images).run())


class _Wrapping(Rewriter):
    def __init__(self, function: Function, images: Sequence[int]) -> None:
        super().__init__(function, numbers=names_of_sizes(function, images, ("width", "height")))
        self.sizes = pairs(images, self.numbers)

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code in ("width", "height") and op.data in self.sizes:
            return [self.sizes[op.data][op.code == "height"]]
        if op.code == "load" and op.data.image in self.sizes:
            return [self.load(op.data, operands)]
        return None

    def load(self, data: Load, operands: tuple[Value, ...]) -> Value:
        emit, sizes = self.build, self.sizes[data.image]
        rule = "nearest" if data.boundary == "inside" else data.boundary
        places: list[Value] = []
        tests: list[Value] = []
        for place, offset, size in zip(operands, (data.dx, data.dy), sizes, strict=True):
            found, inside = Emitting(emit).found(rule, Moved(place, offset, own=False), size)
            places.append(found)
            tests += inside
        x, y = places
        count = emit("add", emit("mul", y, sizes[0]), x)
        column = emit("bit_and", count, emit.constant(INT, WIDTH - 1))
        row = emit("shr", count, emit.constant(INT, SHIFT))
        there = replace(data, dx=0, dy=0, boundary="nearest", cval=())
        return chosen(emit, data, emit("load", column, row, data=there), tests)
