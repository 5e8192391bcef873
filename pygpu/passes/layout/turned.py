"""Functions of images that are turned, columns for rows: for images of which rows are short.

load im[x + 1, y]  ->  load im[x, y + 1]        (its x is the y of the function)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from pygpu.core.rewriter import Rewriter
from pygpu.ssa import Function, Op, Value

_TURNED: Final = {"width": "height", "height": "width"}


def turned(function: Function) -> Function:
    """The function of images of which rows are columns."""

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        emit = rewriter.build.emit
        if op.code == "load":
            data = replace(op.data, dx=op.data.dy, dy=op.data.dx)
            return [emit("load", *operands[::-1], data=data)]
        if op.code in _TURNED:
            return [emit(_TURNED[op.code], data=op.data)]
        return None

    rewriter = Rewriter(function, rule)
    new = rewriter.new
    new[function.x], new[function.y] = new[function.y], new[function.x]
    return rewriter.run()
