"""Kernels of weights: where their elements lie around the centre, and what must be known of them.

An offset is a position, so that `im(p + d)` is the texel under the kernel's element.

    offsets([[a, b, c]]) == [Position(-1, 0), Position(0, 0), Position(1, 0)]
"""

from typing import Any

import numpy as np

from pygpu.language.scalars import Int
from pygpu.language.vectors import Position, position


def offsets(kernel: Any) -> list[Position]:
    """The offsets (dx, dy) of a kernel's elements from its centre, in C order.

    The kernel is an array, nested lists, or one row of elements, which lies along x. The centre of
    an axis of n elements is n // 2, as in `scipy.ndimage`. ValueError for other shapes.
    """
    shape = _shape(kernel)
    if len(shape) not in (1, 2):
        raise ValueError(f"a kernel has 1 or 2 dimensions, got {len(shape)}: shape {shape}")
    height, width = (1, *shape)[-2:]
    xs = [Int(x - width // 2) for x in range(width)]
    ys = [Int(y - height // 2) for y in range(height)]
    return [position(x, y) for y in ys for x in xs]


def known(value: Any, what: str) -> Any:
    """The value. In a compiled function a CompileError that names it where it is dynamic, for what
    decides how many elements a kernel has."""
    return value


def _shape(kernel: Any) -> tuple[int, ...]:
    """The shape of an array or of nested lists, whose elements may be anything."""
    if not isinstance(kernel, list | tuple):
        return np.shape(kernel)
    shapes = {_shape(row) for row in kernel if isinstance(row, list | tuple | np.ndarray)}
    rows = sum(isinstance(row, list | tuple | np.ndarray) for row in kernel)
    if not rows:
        return (len(kernel),)
    if rows < len(kernel) or len(shapes) > 1:
        lengths = [len(row) if isinstance(row, list | tuple | np.ndarray) else 1 for row in kernel]
        raise ValueError(f"a kernel's rows have equal lengths, got lengths {lengths}")
    return (len(kernel), *shapes.pop())
