"""Parts of images by NumPy's indices.

crop(im, np.s_[10:20, ::2])            # an image, on the device where `im` is there alone
crop(im, (3, 4))                       # a texel, as NumPy gives it
"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

import numpy as np

from pygpu.core import sampler
from pygpu.core.errors import asked, shown
from pygpu.core.storage import Format, ImageLike, Storage, rows_of, texels
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.runtime import Compiled
from pygpu.types import vector


def crop(image: ImageLike, index: Any) -> Any:
    """What the index takes of an image: an image where it takes each coordinate and channels by
    slices (or one channel by its number), else an array or a number of texels as functions see
    them."""
    storage = image.storage
    places = _expanded(index, storage)
    if places is None:
        return asked(operator.getitem, texels(storage.seen(), image.format), index)
    *sides, channels = places
    parts = [
        asked(operator.getitem, range(size), side)
        for size, side in zip(storage.shape, sides, strict=True)
    ]
    all_channels = range(storage.channels)
    count = len(all_channels[channels])
    shape = tuple(map(len, parts))
    if not (all(shape) and count):
        size = " x ".join(map(str, storage.shape))
        kind = {1: "a signal", 2: "an image", 3: "a volume"}[image.dims]
        raise ValueError(f"an empty crop {shown(index)} of {kind} of {size}")
    if storage.array is None:
        return _on_device(image, parts[::-1], all_channels[channels])
    part = storage.host().reshape(*storage.shape, storage.channels)[(*sides, channels)]
    rows = np.array(part, order="C").reshape(*rows_of(shape), count)
    reading = _reading(image, all_channels[channels])
    return ImageMaker.make(Storage.of(rows, shape), reading, info=image.info)


def _reading(image: ImageLike, channels: range) -> sampler.Sampler:
    """How some channels of an image are read: as all of them are."""
    format = Format(image.storage.dtype, len(channels), image.format.normalize)
    cval = [image.cval[channel] for channel in channels]
    return sampler.make(format, image.boundary, cval, image.interpolation)


def _expanded(index: Any, storage: Storage) -> list[slice] | None:
    """The slices of each coordinate and of channels; None where the index is no crop."""
    axes = storage.dims + (storage.channels > 1)
    parts = list(index) if isinstance(index, tuple) else [index]
    dots = [place for place, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1 or len(parts) > axes + len(dots):
        return None
    for place in dots:
        parts[place : place + 1] = [slice(None)] * (axes - len(parts) + 1)
    parts += [slice(None)] * (storage.dims + 1 - len(parts))
    channel = parts[-1]
    if isinstance(channel, (int, np.integer)):
        parts[-1] = slice(int(channel), int(channel) + 1 or None)
    return parts if all(isinstance(part, slice) for part in parts) else None


def _on_device(image: ImageLike, parts: list[range], channels: range) -> Any:
    """A crop, along x, y and z, of some channels of what lies on the device alone."""
    firsts, steps = [part.start for part in parts], [part.step for part in parts]
    shape = tuple([len(part) for part in parts[::-1]])
    every, whole = range(image.storage.channels), len(parts) == 1
    compiled = program(image.dims, None if channels == every else tuple(channels))
    made = compiled(
        image,
        firsts[0] if whole else firsts,
        steps[0] if whole else steps,
        shape=shape,
        dtype=image.storage.dtype,
    )
    return ImageMaker.make(made.storage, _reading(image, channels), info=image.info)


@lru_cache(maxsize=64)
def program(dims: int, channels: tuple[int, ...] | None) -> Compiled:
    """What takes every so-manyth texel from one on, along each coordinate, or channels of it."""
    place = vector("int", dims)
    given = {"image": dims, "first": place, "step": place, "channels": Known(channels)}
    return Compiled(_every, Signature.by_roles(_every, **given, p="position"))


def _every(image: Any, first: Any, step: Any, channels: Any, p: Any) -> Any:
    """The texel at a place of the crop."""
    texel = image(first + step * p)
    if channels is None:
        return texel
    found = [texel[channel] for channel in channels]
    return found[0] if len(found) == 1 else found
