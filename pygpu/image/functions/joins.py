"""Images put together on a device: one after the other along a coordinate, or as channels.

joined(np.concatenate, ([a, b],), {"axis": 1})         # None: the host does it
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.storage import Format, ImageLike
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.language.vectors import CLASSES
from pygpu.runtime import Compiled
from pygpu.types import vector

MOST: Final = 16  # images that one program puts together
CHANNELS: Final = 4


def joined(
    function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> ImageLike | None:
    """What np.concatenate, vstack, hstack and, along channels, stack and dstack give of images of
    which one lies on a device alone; None where others do it."""
    listed = args[0] if args else None
    if not isinstance(listed, (list, tuple)) or not 1 < len(listed) <= MOST:
        return None
    if not all(isinstance(each, ImageLike) for each in listed):
        return None
    if all(each.storage.array is not None for each in listed):
        return None
    if len({(each.format.dtype, each.format.type, each.dims) for each in listed}) > 1:
        return None
    first = listed[0]
    axis = _axis(function, first, args[1:], kwargs)
    if axis is None or not -first.dims - 1 <= axis <= first.dims:
        return None
    if function in (np.stack, np.dstack):
        return _as_channels(listed, axis)
    return _in_a_line(listed, axis)


def _axis(
    function: Callable[..., Any], first: ImageLike, rest: Sequence[Any], kwargs: Mapping[str, Any]
) -> int | None:
    """The axis of NumPy's along which images come one after the other."""
    fixed = {np.vstack: 0, np.hstack: 1, np.dstack: 2}
    if function in fixed:
        is_plain = not rest and not kwargs and first.dims == 2
        return fixed[function] if is_plain else None
    if function not in (np.concatenate, np.stack) or kwargs.keys() - {"axis"}:
        return None
    axis = kwargs.get("axis", rest[0] if rest else 0)
    is_whole = isinstance(axis, (int, np.integer)) and not isinstance(axis, bool)
    return int(axis) if is_whole and len(rest) + len(kwargs) < 2 else None


def _in_a_line(images: Sequence[ImageLike], axis: int) -> ImageLike | None:
    """Images one after the other along an axis of coordinates, of one size along the others."""
    first = images[0]
    dims = first.dims
    axes = dims + (first.format.channels > 1)
    place = axis + axes if axis < 0 else axis
    if not 0 <= place < dims:
        return None
    others = {(*each.storage.shape[:place], *each.storage.shape[place + 1 :]) for each in images}
    if len(others) > 1:
        return None  # NumPy says which fits not
    *starts, total = accumulate([each.storage.shape[place] for each in images], initial=0)
    shape = list(first.storage.shape)
    shape[place] = total
    program = _program(_found, dims, dims - 1 - place, len(images))
    return _made(program, images, tuple(shape), {"starts": tuple(starts)}, first.format)


def _as_channels(images: Sequence[ImageLike], axis: int) -> ImageLike | None:
    """Images of one channel and size as the channels of one."""
    first = images[0]
    sizes = {each.storage.shape for each in images}
    is_last = axis in (-1, first.dims)
    if not is_last or len(sizes) > 1 or first.format.channels > 1 or len(images) > CHANNELS:
        return None
    format = Format(first.format.dtype, len(images), first.format.normalize)
    type = vector(first.format.kind, len(images))
    return _made(_program(_pixel, first.dims, type), images, first.storage.shape, {}, format)


def _made(
    program: Compiled,
    images: Sequence[ImageLike],
    shape: tuple[int, ...],
    more: Mapping[str, Any],
    format: Format,
) -> ImageLike:
    """The result, stored and read as the first image is."""
    first = images[0]
    plain = [ImageMaker.make(each.storage, sampler.make(each.format)) for each in images]
    made: ImageLike = program(images=tuple(plain), **more, shape=shape, dtype=format.dtype)
    reading = sampler.inherited(sampler.of(first), format)
    return ImageMaker.make(made.storage, reading, info=first.info)


@lru_cache(maxsize=32)
def _program(function: Callable[..., Any], dims: int, how: Any, count: int = 0) -> Compiled:
    more = {"starts": "object"} if count else {}
    given = {"images": "object", "how": Known(how), **more}
    return Compiled(function, Signature.by_roles(function, **given, p="position"))


def _found(images: Any, how: Any, starts: Any, p: Any) -> Any:
    """The texel of the image at a position; `how` is the axis, `starts` where each one begins."""
    own = list(p) if hasattr(p, "y") else [p]
    along = own[how]
    result = images[0](p)
    for image, start in zip(images[1:], starts[1:], strict=False):
        if along >= start:
            place = [own[k] - start if k == how else own[k] for k in range(len(own))]
            result = image(place if len(own) > 1 else place[0])
    return result


def _pixel(images: Any, how: Any, p: Any) -> Any:
    """The texels of all images at a position, as a vector of the type `how`."""
    return CLASSES[how](*[image(p) for image in images])
