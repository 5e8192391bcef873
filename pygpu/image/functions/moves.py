"""NumPy's functions that move texels: flips, turns, rolls, paddings, images put together.

Texels stay as they are stored. What a device alone has moves there where the function is one of
`ON_DEVICE`: each coordinate of a texel is then a coordinate of the result's position, times a step
and from a first place on, outside by a boundary.

    moved(np.roll, (im, 3), {"axis": 1})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.errors import asked
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.image.functions.joins import joined
from pygpu.image.functions.texels import first, image_of, images_in, in_texels, seen_in, stored_in
from pygpu.runtime import Compiled
from pygpu.types import vector


def moved(function: Callable[..., Any], args: Any, kwargs: Mapping[str, Any]) -> Any:
    """What a function of `MOVES` gives: an image, or a list of images where NumPy gives one."""
    image = first(args, kwargs)
    if image.storage.array is None and len(list(images_in((args, kwargs)))) == 1:
        found = _on_device(function, image, args, kwargs)
        if found is not None:
            return found
    if function in _JOINING and args and isinstance(args[0], list | tuple):
        args = (_wrapped(args[0], image), *args[1:])
    together = joined(function, args, kwargs)
    if together is not None:
        return together
    every = list(images_in((args, kwargs)))
    brings = function in (np.append, np.insert) and len(every) == 1  # texels as functions see them
    stores = {(each.format.dtype, each.format.normalize) for each in every}
    alike = len(stores) == 1 and not brings
    change = stored_in if alike else lambda value: seen_in(value, image)
    kwargs = _texel_units(function, dict(kwargs), image) if alike else kwargs
    result = asked(function, *change(args), **change(dict(kwargs)))
    dims = _dims(function, image, args, kwargs)
    if isinstance(result, (list, tuple)):
        return type(result)([_given(each, image, dims, alike) for each in result])
    return _given(result, image, dims, alike)


def _given(result: Any, image: ImageLike, dims: int | None, stored: bool) -> Any:
    """What was moved, an image where it has the shape of one; else what functions see."""
    found = image_of(result, image, dims, stored=stored)
    is_image = isinstance(found, ImageLike)
    return found if is_image or not stored else in_texels(found, image.format)


_JOINING: Final = (
    np.append, np.block, np.column_stack, np.concatenate, np.dstack, np.hstack, np.stack, np.vstack,
)  # fmt: skip


def _wrapped(parts: Any, image: ImageLike) -> Any:
    """A list's arrays as images, as which they are joined to images."""
    return [
        ImageMaker.wrap(part, image.dims)
        if isinstance(part, np.ndarray) and part.ndim >= image.dims
        else part
        for part in parts
    ]


def _texel_units(
    function: Callable[..., Any], kwargs: dict[str, Any], image: ImageLike
) -> dict[str, Any]:
    """The constants of np.pad, in units of texels as functions see them, as they are stored."""
    if function is np.pad and image.format.is_scaled and "constant_values" in kwargs:
        largest = np.iinfo(image.format.dtype).max
        given = np.asarray(kwargs["constant_values"], np.float64)
        kwargs["constant_values"] = np.rint(np.clip(given, 0, 1) * largest).astype(int)
    return kwargs


def _dims(
    function: Callable[..., Any], image: ImageLike, args: Any, kwargs: Mapping[str, Any]
) -> int | None:
    """How many coordinates a result has where its axes do not say."""
    if function is np.dstack:
        return max(image.dims, 2)
    if function is np.stack and image.format.channels == 1:
        axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
        return image.dims if axis in (-1, image.dims) else image.dims + 1
    return None


# ---------------------------------------------------------------- on the device


@record
class _Move:
    """Of each coordinate x, y, z of the image: which of the result it is taken from, the first
    place and the step; the result's size as NumPy has it, and what is outside."""

    order: tuple[int, ...]
    first: tuple[int, ...]
    step: tuple[int, ...]
    shape: tuple[int, ...]
    boundary: str = "nearest"
    cval: Any = 0.0


def _on_device(
    function: Callable[..., Any], image: ImageLike, args: Any, kwargs: Mapping[str, Any]
) -> ImageLike | None:
    """The result on the device; None where the host does it."""
    rule = ON_DEVICE.get(function)
    if rule is None or not args or args[0] is not image:
        return None
    move = rule(image, *args[1:], **kwargs)
    if move is None:
        return None
    return _moved(image, move)


def _moved(image: ImageLike, move: _Move) -> ImageLike:
    reading = sampler.make(image.format, move.boundary, move.cval)
    source = ImageMaker.make(image.storage, reading)
    whole = image.dims == 1
    made: ImageLike = _program(image.dims, move.order)(
        source,
        first=move.first[0] if whole else move.first,
        step=move.step[0] if whole else move.step,
        shape=move.shape,
        dtype=image.storage.dtype,
    )
    read = sampler.inherited(sampler.of(image), image.format)
    return ImageMaker.make(made.storage, read, info=image.info)


@lru_cache(maxsize=32)
def _program(dims: int, order: tuple[int, ...]) -> Compiled:
    place = vector("int", dims)
    given = {"image": dims, "order": Known(order), "first": place, "step": place}
    return Compiled(_source, Signature.by_roles(_source, **given, p="position"))


def _source(image: Any, order: Any, first: Any, step: Any, p: Any) -> Any:
    """The texel that moves to a position."""
    if len(order) == 1:
        return image(first + step * p)
    return image([first[k] + step[k] * p[order[k]] for k in range(len(order))])


def _flip(image: ImageLike, axis: Any = None) -> _Move | None:
    shape = image.storage.shape
    dims = len(shape)
    axes = range(dims) if axis is None and image.format.channels == 1 else axis
    chosen = _axes(axes, image)
    if chosen is None:
        return None
    flips = [dims - 1 - k in chosen for k in range(dims)]
    sizes = shape[::-1]
    firsts = [size - 1 if flip else 0 for size, flip in zip(sizes, flips, strict=True)]
    steps = [-1 if flip else 1 for flip in flips]
    return _Move(tuple(range(dims)), tuple(firsts), tuple(steps), shape)


def _roll(image: ImageLike, shift: Any, axis: Any = None) -> _Move | None:
    shape = image.storage.shape
    dims = len(shape)
    chosen = _axes(axis, image)
    if chosen is None and dims == 1 and image.format.channels == 1 and axis is None:
        chosen = [0]
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift] * len(chosen or ())
    if chosen is None or len(chosen) != len(shifts):
        return None
    firsts = [0] * dims
    for place, by in zip(chosen, shifts, strict=True):
        firsts[dims - 1 - place] -= int(by)
    firsts = [each % size for each, size in zip(firsts, shape[::-1], strict=True)]
    return _Move(tuple(range(dims)), tuple(firsts), (1,) * dims, shape, "wrap")


def _rot90(image: ImageLike, k: int = 1, axes: Any = (0, 1)) -> _Move | None:
    if image.dims != 2 or tuple(axes) != (0, 1):
        return None
    height, width = image.storage.shape
    match k % 4:
        case 0:
            return _Move((0, 1), (0, 0), (1, 1), (height, width))
        case 1:
            return _Move((1, 0), (width - 1, 0), (-1, 1), (width, height))
        case 2:
            return _Move((0, 1), (width - 1, height - 1), (-1, -1), (height, width))
    return _Move((1, 0), (0, height - 1), (1, -1), (width, height))


def _transpose(image: ImageLike, axes: Any = None) -> _Move | None:
    turned = {(1, 0)} if image.format.channels == 1 else {(1, 0, 2)}
    plain = axes is None and image.format.channels == 1
    if image.dims != 2 or not (plain or (axes is not None and tuple(axes) in turned)):
        return None
    height, width = image.storage.shape
    return _Move((1, 0), (0, 0), (1, 1), (width, height))


def _swapped(image: ImageLike, axis1: int, axis2: int) -> _Move | None:
    axes = (1, 0, 2)[: 2 + (image.format.channels > 1)]
    is_turned = sorted(_axes((axis1, axis2), image) or ()) == [0, 1]
    return _transpose(image, axes) if is_turned else None


def _tile(image: ImageLike, reps: Any) -> _Move | None:
    shape, dims = image.storage.shape, image.dims
    counts = [int(n) for n in np.atleast_1d(reps)]
    counts = [1] * (dims + (image.format.channels > 1) - len(counts)) + counts
    if min(counts) < 1 or counts[dims:] != [1] * (image.format.channels > 1):
        return None
    sizes = tuple([n * count for n, count in zip(shape, counts, strict=False)])
    return _Move(tuple(range(dims)), (0,) * dims, (1,) * dims, sizes, "wrap")


def _pad(image: ImageLike, pad_width: Any, mode: Any = "constant", **more: Any) -> _Move | None:
    values = more.pop("constant_values", 0)
    boundary = _BOUNDARIES.get(mode) if isinstance(mode, str) else None
    if boundary is None or more or np.ndim(values) != 0:
        return None
    shape = image.storage.shape
    try:
        widths = np.broadcast_to(np.asarray(pad_width, int), (image.ndim, 2))  # type: ignore[attr-defined]
    except ValueError:
        return None
    if (widths < 0).any() or widths[len(shape) :].any():
        return None
    firsts = tuple([-int(before) for before, _ in widths[: len(shape)][::-1]])
    sizes = [size + int(sum(each)) for size, each in zip(shape, widths, strict=False)]
    order = tuple(range(len(shape)))
    return _Move(order, firsts, (1,) * len(shape), tuple(sizes), boundary, values)


def _axes(axis: Any, image: ImageLike) -> list[int] | None:
    """NumPy's axes as those of coordinates; None where the channels are among them."""
    axes = len(image.storage.shape) + (image.format.channels > 1)
    listed: Sequence[Any] = axis if isinstance(axis, (tuple, list, range)) else (axis,)
    found = []
    for each in listed:
        if each is None or not -axes <= each < axes or each % axes >= len(image.storage.shape):
            return None
        found.append(each % axes)
    return found


_BOUNDARIES: Final = {
    "constant": "constant",
    "edge": "nearest",
    "symmetric": "reflect",
    "reflect": "mirror",
    "wrap": "wrap",
}
ON_DEVICE: Final[dict[Any, Callable[..., _Move | None]]] = {
    np.flip: _flip,
    np.fliplr: lambda image: _flip(image, 1) if image.dims > 1 else None,
    np.flipud: lambda image: _flip(image, 0),
    np.roll: _roll,
    np.rot90: _rot90,
    np.transpose: _transpose,
    np.swapaxes: _swapped,
    np.tile: _tile,
    np.pad: _pad,
}
