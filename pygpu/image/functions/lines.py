"""Which texels stand at some places of each line along a coordinate, when the line is in order.

Short lines a program orders by a network of comparisons, all lines at once; long ones the host
partitions, or a device sorts.

    standing(image, 0, places)             # (P, W[, C]): as stored; NaN of a line that has one
    standing(image, 0, places_of_lines)    # places (P, W[, C]) of each line, NaNs behind numbers
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.execution.arrays.sorting import sort
from pygpu.language.vectors import CLASSES
from pygpu.runtime import Compiled
from pygpu.types import vector

SHORT: Final = 32  # numbers of a texel's line that a network orders: it grows with n log(n)**2
AT_ONCE: Final = 4  # places that one program reads


def standing(image: ImageLike, axis: int, places: NDArray[np.intp]) -> NDArray[Any]:
    """The stored numbers at places of lines along NumPy's axis: an array whose first axis is that
    of places, whose others are those of texels without the lines'."""
    device = targets.choose("auto")
    count, channels = image.storage.shape[axis], image.format.channels
    is_known = places.ndim == 1
    if (
        is_known
        and count * channels <= SHORT
        and (device.is_hardware or targets.is_on_host(device))
    ):
        return _by_network(image, axis, places)
    shape = [n for k, n in enumerate(image.storage.shape) if k != axis]
    shape += [channels] if channels > 1 else []
    if device.is_hardware:  # software sorts no quicker than the host finds
        if not is_known:
            return _sorted(image, axis, places)
        listed = np.append(places, count - 1)
        listed = np.moveaxis(np.broadcast_to(listed, (*shape, listed.size)), -1, 0)
        found = _sorted(image, axis, listed)
        return np.where(found[-1] == found[-1], found[:-1], found[-1])
    lines = np.moveaxis(image.storage.seen(), axis, -1)
    of_lines = places if is_known else np.moveaxis(places, 0, -1).reshape(-1, len(places))
    ranked = targets.host().ranked(lines.reshape(-1, count), of_lines)
    assert ranked is not None, "the host does"
    return np.moveaxis(ranked, 0, -1).reshape(-1, *shape)


def _plain(image: ImageLike) -> ImageLike:
    """An image with its texels as they are stored."""
    format = Format(image.format.dtype, image.format.channels, normalize=False)
    return ImageMaker.make(image.storage, make(format))


def _shape(image: ImageLike, axis: int, count: int) -> tuple[int, ...]:
    """The shape of an image whose lines along an axis have so many texels."""
    return tuple([count if k == axis else n for k, n in enumerate(image.storage.shape)])


# ---------------------------------------------------------------- networks


def _by_network(image: ImageLike, axis: int, places: NDArray[np.intp]) -> NDArray[Any]:
    given, dims = _plain(image), image.dims
    parts: list[Any] = []
    for start in range(0, places.size, AT_ONCE):
        chosen = tuple(places[start : start + AT_ONCE].tolist())
        format = given.format
        how = dims - 1 - axis, given.storage.shape[axis], format.kind, format.channels, chosen
        found: Any = _network(dims, how)(given, shape=_shape(given, axis, 1), dtype=format.dtype)
        parts += [found] if len(chosen) == 1 else found
    return np.stack([np.squeeze(each.storage.seen(), axis) for each in parts])


@lru_cache(maxsize=64)
def _network(dims: int, how: tuple[int, int, str, int, tuple[int, ...]]) -> Compiled:
    signature = Signature.by_roles(_ordered, image=dims, how=Known(how), p="position")
    return Compiled(_ordered, signature)


def _ordered(image: Any, how: Any, p: Any) -> Any:
    """The texels at some places of the line through a position, of each channel."""
    coordinate, count, kind, channels, places = how
    texels = []
    for i in range(count):
        texels.append(image(_at(p, coordinate, i)))
    if channels == 1:
        found = _chosen(texels, kind, places)
    else:
        apart = [_chosen([texel[c] for texel in texels], kind, places) for c in range(channels)]
        found = [_together(kind, [each[k] for each in apart]) for k in range(len(places))]
    return found[0] if len(places) == 1 else tuple(found)


def _chosen(values: Any, kind: Any, places: Any) -> Any:
    """The values at places among them in order; NaN where one is."""
    ordered = sorted(values)
    found = [ordered[place] for place in places]
    if kind != "float":
        return found
    doubt = values[0]
    for value in values:
        doubt = doubt if value == value else value
    return [each if doubt == doubt else doubt for each in found]


def _together(kind: Any, components: Sequence[Any]) -> Any:
    return CLASSES[vector(kind, len(components))](*components)


def _at(p: Any, coordinate: Any, i: Any) -> Any:
    """A position whose coordinate x, y or z is another."""
    return tuple([i if k == coordinate else p[k] for k in range(len(p))])


# ---------------------------------------------------------------- sorted lines


def _sorted(image: ImageLike, axis: int, places: NDArray[np.intp]) -> NDArray[Any]:
    """The numbers at places (P, ..., [C]) of lines that a device sorts, NaNs last."""
    ordered, dims = _plain(sort(image, axis=axis)), image.dims
    wanted = np.moveaxis(places, 0, axis).astype(np.int32)
    beside = ImageMaker.wrap(np.ascontiguousarray(wanted), dims)
    shape = _shape(image, axis, len(places))
    run = _reading(dims, (dims - 1 - axis, ordered.format.kind))
    made = run(ordered, beside, shape=shape, dtype=image.format.dtype)
    return np.moveaxis(made.storage.seen(), axis, 0)


@lru_cache(maxsize=8)
def _reading(dims: int, how: tuple[int, str]) -> Compiled:
    signature = Signature.by_roles(_read, image=dims, places=dims, how=Known(how), p="position")
    return Compiled(_read, signature)


def _read(image: Any, places: Any, how: Any, p: Any) -> Any:
    """The texels at a place of a line, of each channel at its own."""
    coordinate, kind = how
    there = places(p)
    if isinstance(there, int):
        return image(_at(p, coordinate, there))
    found = [image(_at(p, coordinate, there[c]))[c] for c in range(len(there))]
    return _together(kind, found)
