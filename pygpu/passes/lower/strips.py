"""A single row as strips, one below the other: for a row that is longer than those of a device.

What window.py makes computes a window of the row, from parts of images. Here the windows of a whole
row are the rows of one image, and so are the parts: strip number y begins at y times the width of a
strip, which is given where the window's first x was.

    load im_wrap[x + 2, y] nearest      # y: of the strips; elsewhere 0, and x + y * width
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.rewriter import Rewriter
from pygpu.passes.lower.window import Windowed
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value
from pygpu.types import INT


def strips(windowed: Windowed) -> Function | None:
    """The function of all strips; None where rows above or below are read."""
    margins = [each.margin for each in windowed.views]
    if any(margin is not None and (margin.up or margin.down) for margin in margins):
        return None
    return apply(CLEAN, _Strips(windowed).run())


class _Strips(Rewriter):
    def __init__(self, windowed: Windowed) -> None:
        function = windowed.function
        super().__init__(function, lambda _, op, operands: self.each(op, operands))
        self.near = {i for i, each in enumerate(windowed.views) if each.margin is not None}
        left = function.uniforms[-2 - 2 * len(windowed.sized)]
        build = self.build
        self.new[left] = build.emit("mul", build.y, self.new[left])
        self.new[function.y] = build.constant(INT, 0)

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load" or op.data.image not in self.near:
            return None
        # No row but the pixel's own is read: of the view that is the strip's.
        return [self.build.emit("load", operands[0], self.build.y, data=op.data)]


__all__ = ["strips"]
