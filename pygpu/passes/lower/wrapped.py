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
from functools import reduce
from typing import Any, Final

from pygpu.core.boundaries import index
from pygpu.core.builder import Builder
from pygpu.core.rewriter import Rewriter
from pygpu.passes.lower.boundary import Emitting, Moved
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Load, Op, Table, Value
from pygpu.types import INT, Type

SHIFT: Final = 13
WIDTH: Final = 1 << SHIFT  # texels of a row


def wrapped(function: Function, images: Sequence[int]) -> Function:
    """The function of images that are wrapped. Its uniforms are those it had, then the width and
    height of each such image as it was."""
    return apply(CLEAN, _Wrapping(function, images).run())


class Appending:
    """What passes call to append an operation, for a builder."""

    def __init__(self, build: Builder) -> None:
        self.build = build
        self.tables: list[Table] = build.tables

    def __call__(self, code: str, *operands: Value, data: Any = None) -> Value:
        return self.build.emit(code, *operands, data=data)

    def constant(self, type: Type, value: Any) -> Value:
        return self.build.constant(type, value)


class _Wrapping(Rewriter):
    def __init__(self, function: Function, images: Sequence[int]) -> None:
        super().__init__(function, lambda _, op, operands: self.each(op, operands))
        names = [
            f"{function.images[i].name}_{side}" for i in images for side in ("width", "height")
        ]
        given = function.uniforms
        self.build = Builder(
            function.name,
            function.images,
            [(value.name, value.type) for value in given] + [(name, INT) for name in names],
        )
        self.build.tables = list(function.tables)
        self.new = dict(zip(function.body.params, self.build.body.params, strict=False))
        sizes = self.build.uniforms[len(given) :]
        self.sizes = dict(zip(images, zip(sizes[::2], sizes[1::2], strict=True), strict=True))
        self.emit = Appending(self.build)

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code in ("width", "height") and op.data in self.sizes:
            return [self.sizes[op.data][op.code == "height"]]
        if op.code == "load" and op.data.image in self.sizes:
            return [self.load(op.data, operands)]
        return None

    def load(self, data: Load, operands: tuple[Value, ...]) -> Value:
        emit, numbers = self.emit, Emitting(self.emit)
        sizes = self.sizes[data.image]
        places, tests = [], []
        for place, offset, size in zip(operands, (data.dx, data.dy), sizes, strict=True):
            moved = Moved(place, offset, own=False)
            if data.boundary == "constant":
                found, inside = numbers.nearest(moved, size)
                tests.append(inside)
            else:
                rule = "nearest" if data.boundary == "inside" else data.boundary
                found = index(rule, numbers, moved, size)
            places.append(found)
        x, y = places
        count = emit("add", emit("mul", y, sizes[0]), x)
        column = emit("bit_and", count, emit.constant(INT, WIDTH - 1))
        row = emit("shr", count, emit.constant(INT, SHIFT))
        there = replace(data, dx=0, dy=0, boundary="nearest", cval=())
        texel = emit("load", column, row, data=there)
        if not tests:
            return texel
        cval = data.cval[0] if data.type.is_scalar else data.cval
        inside = reduce(lambda a, b: emit("bit_and", a, b), tests)
        return emit("select", inside, texel, emit.constant(data.type, cval))
