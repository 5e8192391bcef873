"""Functions of images of few columns, as those of one row whose texels are the rows of such images.

Three columns, "nearest":

    load im[x, y - 1]       ->  load im[x - 1, y] : vec3, the component 0, 1, 2
    load im[x + 1, y]       ->  load im[x, y] : vec3, the component 1, 2, 2
    result                  ->  vec3 of the results of the columns 0, 1, 2

What lies left and right of the image is known then, nothing is copied, and lanes are rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.boundaries import INTEGERS, index
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value, walk
from pygpu.types import vector

MOST: Final = 4  # columns: texels have no more components
SIZE: Final = 3000  # operations of the columns together


def of_columns(function: Function, columns: int) -> Function | None:
    """The function for images and results of so many columns, all numbers; None where it does more
    with a column than to read near it."""
    ops = list(walk(function.body))
    numbers = [each.type for each in function.images] + [v.type for v in function.outputs]
    if not 2 <= columns <= MOST or len(ops) * columns > SIZE:
        return None
    if not all(type.is_scalar for type in numbers) or not all(_is_near(function, op) for op in ops):
        return None
    return apply(CLEAN, _Columns(function, columns).run())


def _is_near(function: Function, op: Op) -> bool:
    """Whether an operation asks for no column but by a load near the pixel's."""
    x, y = function.x, function.y
    if op.code == "load":
        return op.operands == (x, y)
    asks = x in op.operands or any(x in region.results for region in op.regions)
    return not asks and op.code != "width"


class _Columns(Rewriter):
    """Puts the function down once for each column."""

    def __init__(self, function: Function, columns: int) -> None:
        super().__init__(function)
        self.columns, self.column = columns, 0
        self.build.images = [
            replace(each, type=vector(each.type.kind, columns)) for each in function.images
        ]

    def run(self) -> Function:
        found = []
        for column in range(self.columns):
            self.column = column
            self.new[self.function.y] = self.build.x
            self.inline(self.function.body)
            found.append([self.new[value] for value in self.function.outputs])
        emit = self.build.emit
        return self.build.finish([emit("construct", *each) for each in zip(*found, strict=True)])

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        build = self.build
        if op.code == "height":
            return [build.emit("width", data=op.data)]
        if op.code != "load":
            return None
        data, place = op.data, self.column + op.data.dx
        if data.boundary == "constant" and not 0 <= place < self.columns:
            return [build.constant(data.type, data.cval[0])]
        rule = "nearest" if data.boundary in ("inside", "unchecked") else data.boundary
        column = index(rule, INTEGERS, place, self.columns)
        type = vector(data.type.kind, self.columns)
        cval = data.cval * self.columns
        row = replace(data, type=type, cval=cval, dx=data.dy, dy=0)
        texel = build.emit("load", build.x, build.y, data=row)
        return [build.emit("swizzle", texel, data=(column,))]
