"""Kernels of weights: where their elements lie around the centre, and what must be known of them.

An offset is a position, so that `im(p + d)` is the texel under the kernel's element.

    offsets([[a, b, c]]) == [Position(-1, 0), Position(0, 0), Position(1, 0)]
    offsets([a, b, c], dims=1) == [-1, 0, 1]
"""

from itertools import product
from typing import Any

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.core.storage import NumberLike
from pygpu.language.scalars import Int
from pygpu.language.vectors import position


@guarded
def offsets(kernel: Any, dims: int | None = None) -> list[Any]:
    """The offsets of a kernel's elements from its centre, in C order: (dx, dy), of a kernel of
    three dimensions (dx, dy, dz).

    The kernel is an array, nested lists, or one row of elements, which lies along x. The centre of
    an axis of n elements is n // 2, as in `scipy.ndimage`. `dims` asks for so many components: 1
    gives numbers along x, for signals, and 3 triples of a kernel that lies in a plane. ValueError
    for other shapes.
    """
    is_array = hasattr(kernel, "__array__") and not isinstance(kernel, type)
    if not isinstance(kernel, list | tuple) and not is_array:
        raise TypeError(f"offsets: takes an array or nested lists, got {shown(kernel)}")
    shape = _shape(kernel)
    if not 1 <= len(shape) <= 3:
        raise ValueError(f"a kernel has 1 to 3 dimensions, got {len(shape)}: shape {shape}")
    count = max(len(shape), 2) if dims is None else dims
    if count not in (1, 2, 3) or count < len(shape):
        raise ValueError(f"dims={dims!r}: takes {', '.join(map(str, range(len(shape), 4)))}")
    sides = [[Int(i - n // 2) for i in range(n)] for n in shape]
    sides = [[Int(0)]] * (count - len(shape)) + sides
    if count == 1:
        return sides[0]
    return [position(*place[::-1]) for place in product(*sides)]


def known(value: Any, what: str) -> Any:
    """The value; of a number on a device, what is read of it. In a compiled function a CompileError
    that names it where it is dynamic, for what decides how many elements a kernel has."""
    return value.item() if isinstance(value, NumberLike) else value


def natural(number: Any) -> Any:
    """The number. Compiled functions rely on it that it is an int that never is negative, as a
    column or row of an image."""
    return number


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
