"""Images that are laid out otherwise, so that rows are long: vectors and tiles run along them.

A function that reads only the pixel itself, and not where that is, has no need of rows: all pixels
are one. Images much taller than wide are turned, columns for rows, and so is the function.

    turned(task).function        # its x is the y of the task's function
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Task
from pygpu.passes.lower import turned as turning
from pygpu.passes.lower.turned import is_thin

LONGEST: Final = 2**31 - 2**16  # pixels of a row, so that x and a block are an int


def turned(task: Task) -> Task:
    """The task of images of which rows are columns."""
    return replace(task, function=turning.turned(task.function))


def turn(array: NDArray[Any]) -> NDArray[Any]:
    """The array with columns for rows: the same memory where it has one column."""
    return np.ascontiguousarray(array.swapaxes(0, 1))


__all__ = ["LONGEST", "is_thin", "turn", "turned"]
