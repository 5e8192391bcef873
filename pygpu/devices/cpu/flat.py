"""Images that are laid out otherwise, so that rows are long: vectors and tiles run along them.

A function that reads only the pixel itself, and not where that is, has no need of rows: all pixels
are one. Images much taller than wide are turned, columns for rows, and so is the function.

    turned(task).function        # its x is the y of the task's function
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Task
from pygpu.core.rewriter import Rewriter
from pygpu.ssa import Function, Op, Value

LONGEST: Final = 2**31 - 2**16  # pixels of a row, so that x and a block are an int
THIN: Final = 16  # pixels of a row below which turning an image costs less than its short rows
TALL: Final = 4  # times as high as wide, at least: where rows become no longer, nothing is won

_TURNED: Final = {"width": "height", "height": "width"}


def is_thin(shape: tuple[int, int]) -> bool:
    """Whether images of a height and width are turned."""
    height, width = shape
    return width < THIN and height >= TALL * width


def turned(task: Task) -> Task:
    """The task of images of which rows are columns."""
    return replace(task, function=_turned(task.function))


def _turned(function: Function) -> Function:
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


def turn(array: NDArray[Any]) -> NDArray[Any]:
    """The array with columns for rows: the same memory where it has one column."""
    return np.ascontiguousarray(array.swapaxes(0, 1))


__all__ = ["LONGEST", "is_thin", "turn", "turned"]
