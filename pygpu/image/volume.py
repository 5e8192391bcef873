"""`Volume`: texels at x, y and z. Computed tomography, microscopy, simulations in three dimensions.

v = Volume(scan, boundary="reflect")       # (D, H, W) or (D, H, W, C), a snapshot
v((x, y, z)) == scan[z, y, x]              # in plain Python with the device's meaning
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image as PILImage

from pygpu.core.host.later import later
from pygpu.execution.inspection import html
from pygpu.image.functions.texels import seen
from pygpu.image.grid import Grid

with later():
    from pygpu.execution.inspection import pictures

GAP = 4  # pixels between the slices that a notebook shows


class Volume(Grid):
    """A volume on the device: depth, height, width and 1 to 4 channels.

    `data` is an array (D, H, W) or (D, H, W, C), a pygpu.Volume, or anything NumPy reads; it is
    copied. Positions are (x, y, z), in the order of axes from the last to the first. All else is
    as with `pygpu.Image`: dtypes, `boundary`, `cval`, `interpolation` (linear between the eight
    texels around), operators, reductions.

    In an annotation (`v: Volume`) it stands for a volume given at each call. A function of volumes
    has positions of three components.
    """

    __slots__ = ()
    dims: ClassVar[int] = 3

    @property
    def depth(self) -> int:
        return self.storage.shape[0]

    @property
    def height(self) -> int:
        return self.storage.shape[1]

    def _sheet(self) -> NDArray[np.uint8]:
        """The middle slices across z, y and x, side by side."""
        values = seen(self).reshape(*self.storage.shape, -1)
        depth, height, width = self.storage.shape
        slices = [values[depth // 2], values[:, height // 2], values[:, :, width // 2]]
        rows = max(len(each) for each in slices)
        columns = sum(each.shape[1] for each in slices) + GAP * (len(slices) - 1)
        sheet = np.full((rows, columns, 3), 255, np.uint8)
        left = 0
        for each in slices:
            sheet[: each.shape[0], left : left + each.shape[1]] = _colours(each)
            left += each.shape[1] + GAP
        return sheet

    def _repr_png_(self) -> bytes:
        """What a notebook shows: the middle slices, of a large volume smaller ones."""
        return html.png(PILImage.fromarray(self._sheet()))

    def _repr_html_(self) -> str:
        """The slices across z, with a slider."""
        return pictures.of_image(self)._repr_html_()


def _colours(values: NDArray[Any]) -> NDArray[np.uint8]:
    """A slice (rows, columns, channels) as bytes of red, green and blue: saturated, and grey where
    there are one or two channels."""
    with np.errstate(invalid="ignore"):
        scale = 255 if values.dtype.kind in "fb" else 1
        levels = np.clip(np.nan_to_num(values.astype(np.float64)) * scale, 0, 255)
    return np.rint(levels[..., :3] if values.shape[2] > 2 else levels[..., :1]).astype(np.uint8)
