"""Rows as strips, one below the other: for rows that are longer than those of a device.

What window.py makes computes a window of an image, from parts of images. Here the windows of whole
rows are the rows of one image, and so are the parts: strip number k begins at k times the width of
a strip, which is given where the window's first x was. Of several rows strips are blocks of rows,
as many as are given where the window's first y was; blocks hold the rows that are read above and
below, too, so that near texels lie as far from the pixel as they do in the image.

    load im_wrap[x + 2, y] nearest      # y: of the strips; elsewhere y - k * rows, x + k * width
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter
from pygpu.passes.lower.window import Windowed
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value
from pygpu.types import INT


def strips(windowed: Windowed, is_single: bool) -> Function | None:
    """The function of all strips, of a single row or of several; None where rows above or below a
    single one are read."""
    if is_single and any(beyond(windowed)):
        return None
    return apply(CLEAN, _Strips(windowed, is_single).run())


def beyond(windowed: Windowed) -> tuple[int, int]:
    """How many rows are read above and below the pixel's."""
    margins = [each.margin for each in windowed.views if each.margin is not None]
    up = max((margin.up for margin in margins), default=0)
    return up, max((margin.down for margin in margins), default=0)


class _Strips(Rewriter):
    def __init__(self, windowed: Windowed, is_single: bool) -> None:
        function = windowed.function
        super().__init__(function, lambda _, op, operands: self.each(op, operands))
        self.near = {i for i, each in enumerate(windowed.views) if each.margin is not None}
        left, top = function.uniforms[-2 - 2 * len(windowed.sized) :][:2]
        build = self.build
        strip, row = build.y, build.constant(INT, 0)
        if not is_single:
            rows = self.new[top]
            strip = build.emit("floordiv", build.y, rows)
            row = build.emit("sub", build.y, build.emit("mul", strip, rows))
        self.new[left] = build.emit("mul", strip, self.new[left])
        self.new[top], self.new[function.y] = build.constant(INT, 0), row

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load" or op.data.image not in self.near:
            return None
        # The view's rows are those of the strips: near ones are as near there.
        return [self.build.emit("load", operands[0], self.build.y, data=op.data)]


__all__ = ["beyond", "strips"]
