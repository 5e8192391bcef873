"""Functions of images of one row, for a result of one row.

The row of the result is 0, and so is the one row of such an image by every boundary but "constant".
So nothing above or below a pixel is read any more, and what was read there is shared.

    load im[x + 1, y - 1] nearest   ->  load im[x + 1, y] nearest
    load im[x + 1, y - 1] constant  ->  cval
    height im                       ->  1
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from pygpu.core.rewriter import Rewriter
from pygpu.passes.lower.boundary import chosen
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value, walk
from pygpu.types import INT


def of_one_row(function: Function, images: Collection[int]) -> Function:
    """The function for a result of one row, where these images have one row, too."""
    return apply(CLEAN, _OneRow(function, images).run())


def reads_rows(function: Function) -> bool:
    """Whether a function looks at rows: at more than the texels of the pixel's own."""
    y = function.y
    return any(
        op.code == "height"
        or (op.code == "load" and (op.operands[1] is not y or op.data.dy != 0))
        or y in (op.operands[:1] if op.code == "load" else op.operands)
        for op in walk(function.body)
    )


class _OneRow(Rewriter):
    def __init__(self, function: Function, images: Collection[int]) -> None:
        super().__init__(function)
        self.images = images
        self.new[function.y] = self.build.constant(INT, 0)

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        emit, constant = self.build.emit, self.build.constant
        if op.code == "height" and op.data in self.images:
            return [constant(INT, 1)]
        if op.code != "load":
            return None
        data = op.data
        x, y = operands
        if data.image not in self.images:
            is_own = op.operands[1] is self.function.y  # near the pixel, as all passes take it
            return [emit("load", x, self.build.y, data=data)] if is_own else None
        texel = emit("load", x, self.build.y, data=replace(data, dy=0))
        if data.boundary != "constant":
            return [texel]
        return [chosen(self.build, data, texel, [emit("eq", y, constant(INT, -data.dy))])]
