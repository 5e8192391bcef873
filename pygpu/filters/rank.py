"""Values by their rank among the neighbours."""

from typing import Any

import numpy as np

from pygpu.image.image import Image
from pygpu.language.kernels import offsets
from pygpu.language.vectors import Position, Vec2, Vec3, Vec4, Vector
from pygpu.runtime import compile


def sides(size: Any) -> tuple[int, int]:
    """Rows and columns of a window. ValueError for anything but a whole number from 1, or two."""
    pair = (size, size) if np.ndim(size) == 0 else tuple(size)
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) and n >= 1 for n in pair):
        raise ValueError(
            "median: size takes a whole number, 1 or more, or a pair of such (rows, columns), "
            f"got {size!r}"
        )
    return pair


@compile
def median(im: Image, p: Position, size: Any = 3) -> Any:
    """The middle of the texels of a window for each channel; `scipy.ndimage.median_filter`.

    `size` is the window's side, or (rows, columns): whole numbers, 1 or more, known when the
    function is compiled. Of an even number of texels it is the upper one of the middle two.
    """
    window = [im(p + d) for d in offsets(np.ones(sides(size)))]
    if not isinstance(window[0], Vector):
        return sorted(window)[len(window) // 2]
    channels = zip(*window, strict=True)
    middle = [sorted(values)[len(window) // 2] for values in channels]
    return {2: Vec2, 3: Vec3, 4: Vec4}[len(middle)](*middle)
