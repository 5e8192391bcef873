"""Parts of images by NumPy's indices.

crop(im, np.s_[10:20, ::2])            # an image, on the device where `im` is there alone
crop(im, (3, 4))                       # a texel, as NumPy gives it
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.execution.arguments.convert import without_channel_axis
from pygpu.execution.arguments.results import ImageMaker
from pygpu.language.scalars import Int
from pygpu.language.vectors import Position
from pygpu.runtime import Compiled, compile


def crop(image: ImageLike, index: Any) -> Any:
    """What the index takes of an image: an image where it takes rows, columns and channels by
    slices (or one channel by its number), else an array or a number of texels as functions see
    them."""
    storage = image.storage
    places = _expanded(index, 2 if storage.channels == 1 else 3)
    if places is None:
        seen = texels(storage.host(), image.format)
        return without_channel_axis(seen)[index]
    rows, columns, channels = places
    down, across = (
        range(size)[part] for size, part in ((storage.height, rows), (storage.width, columns))
    )
    all_channels = range(storage.channels)
    count = len(all_channels[channels])
    if not (len(down) and len(across) and count):
        raise ValueError(
            f"an empty crop {shown(index)} of an image of {storage.height} x {storage.width}"
        )
    if storage.array is None and all_channels[channels] == all_channels:
        return _on_device(image, down, across)
    part = Storage.of(np.array(storage.host()[rows, columns, channels], order="C"))
    format = Format(part.dtype, count, image.format.normalize)
    cval = np.array(image.cval)[channels]
    reading = sampler.make(format, image.boundary, cval, image.interpolation)
    return ImageMaker.make(part, reading, info=image.info)


def _expanded(index: Any, axes: int) -> tuple[slice, slice, slice] | None:
    """The slices of rows, columns and channels; None where the index is no crop."""
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1 or len(parts) > axes + len(dots):
        return None
    for place in dots:
        parts[place : place + 1] = [slice(None)] * (axes - len(parts) + 1)
    parts += [slice(None)] * (3 - len(parts))
    channel = parts[2]
    if isinstance(channel, (int, np.integer)):
        parts[2] = slice(int(channel), int(channel) + 1 or None)
    if not all(isinstance(part, slice) for part in parts):
        return None
    return parts[0], parts[1], parts[2]


def _on_device(image: ImageLike, down: range, across: range) -> Any:
    """A crop of what lies on the device alone."""
    return program()(
        image,
        across.start,
        down.start,
        across.step,
        down.step,
        shape=(len(down), len(across)),
        dtype=image.storage.dtype,
    )


@lru_cache(maxsize=1)
def program() -> Compiled:
    compiled: Compiled = compile(_every)
    return compiled


def _every(image: ImageLike, left: Int, top: Int, across: Int, down: Int, p: Position) -> Any:
    """The texel at a place of the crop."""
    return image((left + across * p.x, top + down * p.y))  # type: ignore[operator]
