"""Rows as strips, one below the other: for rows that are longer than those of a device.

What window.py makes computes a window of an image, from parts of images. Here the windows of whole
rows are the rows of one image, and so are the parts: strip number k begins at k times the width of
a strip, which is given where the window's first x was. Of several rows first all strips of one
follow one another, then all of the next; how many each has is given where the window's first y was.

    load im_wrap[x + 2, y] nearest           # y: of strips; elsewhere y // count
    load im_wrap[x + 2, y + count] nearest   # of the row below
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pygpu.core.rewriter import Rewriter
from pygpu.passes.layout.window import Windowed
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Value
from pygpu.types import INT


def strips(windowed: Windowed, is_single: bool) -> Function | None:
    """The function of all strips of a row or more; None where one row reads others."""
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
        super().__init__(function)
        self.near = {i for i, each in enumerate(windowed.views) if each.margin is not None}
        left, top = function.uniforms[-2 - 2 * len(windowed.sized) :][:2]
        build = self.build
        self.count = self.new[top]
        self.strip, row = build.y, build.constant(INT, 0)
        if not is_single:
            self.strip = build.emit("mod", build.y, self.count)
            row = build.emit("floordiv", build.y, self.count)
        self.new[left] = build.emit("mul", self.strip, self.new[left])
        self.new[top], self.new[function.y] = build.constant(INT, 0), row

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.code != "load" or op.data.image not in self.near:
            return None
        build, data = self.build, replace(op.data, dy=0)
        x, row = operands
        if op.operands[1] is self.function.y:
            if op.operands[0] is self.function.x:  # within the margins of the strip's part
                data = replace(data, boundary="inside", cval=())
            return [build.emit("load", x, self.below(build.y, op.data.dy), data=data)]
        first = build.emit("add", self.strip, build.emit("mul", row, self.count))
        return [build.emit("load", x, self.below(first, op.data.dy), data=data)]

    def below(self, y: Value, rows: int) -> Value:
        """The row that is `rows` below row y of a strip in the image that was cut into strips.
        Between a row of a strip and its next one lies a row of each other strip."""
        build = self.build
        if not rows:
            return y
        return build.emit("add", y, build.emit("mul", self.count, build.constant(INT, rows)))
