"""Values by their rank among the neighbours."""

from typing import Any

import numpy as np

from pygpu.image import Image
from pygpu.kernels import offsets
from pygpu.runtime import compile
from pygpu.vectors import Position, Vec2, Vec3, Vec4, Vector


@compile
def median(im: Image, p: Position, size: Any = 3) -> Any:
    """The middle of size x size texels for each channel; `scipy.ndimage.median_filter`."""
    window = [im(p + d) for d in offsets(np.ones((size, size)))]
    if not isinstance(window[0], Vector):
        return sorted(window)[len(window) // 2]
    channels = zip(*window, strict=True)
    middle = [sorted(values)[len(window) // 2] for values in channels]
    return {2: Vec2, 3: Vec3, 4: Vec4}[len(middle)](*middle)
