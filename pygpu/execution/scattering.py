"""`pygpu.scatter`: values put where a function says, those that meet folded into one.

scatter(weights, lambda v, p: (p.x // 2, p.y // 2), shape=(240, 320))
scatter(xs, lambda v: int(10 * v), shape=10, combine=np.maximum)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shorten, shown
from pygpu.core.storage import Format, ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.convert import is_pil, storage_of
from pygpu.execution.arguments.results import ImageMaker, natural_dtype, picture_info, picture_of
from pygpu.execution.arrays.grouping import Grouping
from pygpu.execution.arrays.lines import Taken, source, spread, taken
from pygpu.execution.arrays.mapping import Reading, bound, value_at
from pygpu.execution.arrays.passes import IMAGES, NUMBERS, lasting, made
from pygpu.execution.arrays.values import HOWS, checked, described, identity, settled
from pygpu.types import Type

LARGEST = 2**31 - 1  # elements of a result: their numbers are Ints


def scatter(
    values: Any,
    to: Callable[..., Any],
    shape: Any,
    combine: Any = np.add,
    initial: Any = 0,
    *,
    target: str = "auto",
) -> Any:
    """Put each texel of `values` where `to(texel)` or `to(texel, position)` says: a position (x, y)
    of a result of `shape` (H, W), a number of an element of one of (N,), a position (x, y, z) of
    one of (D, H, W). Fractions are rounded
    to the nearest; what goes outside is left out.

    `combine`, np.add, np.maximum, np.minimum or np.multiply, folds what meets, and `initial`, with
    which each element begins: one number, or one for each channel. What comes back is what went
    in, of the type of texels as functions see them.
    """
    try:
        if not callable(to):
            raise TypeError(f"scatter: to takes a function, got {shown(to)}")
        if combine not in HOWS:
            raise TypeError(
                "scatter: combine takes np.add, np.maximum, np.minimum or np.multiply, got "
                f"{shown(combine)}"
            )
        size = _checked_shape(shape)
        given = taken(values, "scatter: values", targets.check(target))
        reading = replace(given.reading, with_position=bound("scatter: to", to, 1, ())[0])
        types = settled(combine, (given.image.format.type,), False, target, "scatter")
        start = checked(initial, types[0], "scatter: initial")
        sums = _folded(given, lasting(to), reading, size, combine, types, target)
        return _back(given, combine(_constant(start, types[0]), sums), size)
    except Exception as error:
        shorten(error)
        raise


def _checked_shape(shape: Any) -> tuple[int, ...]:
    """(N,), (H, W) or (D, H, W)."""
    listed = shape if isinstance(shape, (tuple, list)) else (shape,)
    try:
        size = tuple([operator.index(each) for each in listed])
    except TypeError:
        size = ()
    if len(size) not in (1, 2, 3) or any(isinstance(each, (bool, np.bool_)) for each in listed):
        raise TypeError(f"scatter: shape takes (N,), (H, W) or (D, H, W), got {shown(shape)}")
    if min(size) < 1 or np.prod(size, dtype=object) > LARGEST:
        raise ValueError(f"scatter: shape={shown(shape)}: takes 1 to {LARGEST} elements in all")
    return size


def _folded(
    given: Taken,
    to: Callable[..., Any],
    reading: Reading,
    size: tuple[int, ...],
    combine: Any,
    types: tuple[Type, ...],
    target: str,
) -> NDArray[Any]:
    """The folds of what meets at each element, (N,) or (N, C); the identity where nothing is."""
    neutral = identity(combine, types[0])
    groups = int(np.prod(size))
    if given.count == 0:
        return np.broadcast_to(_constant(neutral, types[0]), (groups,))
    first = to, reading.known
    roles: dict[str, Any] = {"first": "known", "images": IMAGES}
    image = (given.image,)
    found, is_tuple = made(_goal, roles, target).types(first=first, images=image)
    wanted = [1] * len(size) if is_tuple and len(size) > 1 else [len(size)]
    if [type.size for type in found] != wanted or any(type.kind == "bool" for type in found):
        what = ("the number of an element", "a position (x, y)", "a position (x, y, z)")
        raise TypeError(
            f"scatter: to gives {what[len(size) - 1]}, got {described(found, is_tuple)}"
        )
    wide = spread(given, target)
    send = made(
        _sent, {"how": "known", "images": IMAGES} | dict.fromkeys(("sizes", "to"), NUMBERS), target
    )
    values, index = send(
        wide.shape,
        [natural_dtype(types[0]), "int32"],
        how=(first, wide.is_whole),
        images=image,
        sizes=wide.sizes,
        to=size[::-1],
    )
    grouping = Grouping(combine, groups, target)
    lines = wide.lines
    return grouping.of((wide.line(values),), wide.line(index), lines, types, (neutral,))[0]


def _goal(first: Any, images: Any, p: Any) -> Any:
    """Where an element goes."""
    return value_at(first, images, False, p, (0, 0), {})


def _sent(how: Any, images: Any, sizes: Any, to: Any, p: Any) -> Any:
    """An element, and the number of that to which it goes, in an array of the sizes `to`, the last
    axis first; -1 outside, and behind the last element."""
    first, is_whole = how
    i, at = source(is_whole, sizes, p)
    goal = value_at(first, images, False, at, (0, 0), {})
    places = [goal] if len(to) == 1 else [*goal]
    is_inside, index, stride = i < sizes[2], 0, 1
    for place, size in zip(places, to, strict=True):
        near = _nearest(place)
        is_inside = is_inside and 0 <= near < size
        index = index + near * stride
        stride = stride * size
    return images[0](at), index if is_inside else -1


def _nearest(number: Any) -> Any:
    """The nearest whole number; a NaN is outside everything."""
    if not isinstance(number, float):
        return number
    return int(np.floor(number + 0.5)) if number == number else -1


def _constant(value: Any, type: Type) -> NDArray[Any]:
    parts = [value] if type.is_scalar else list(value)
    array = np.array(parts, natural_dtype(type))
    return array[0] if type.is_scalar else array


def _back(given: Taken, texels: NDArray[Any], size: tuple[int, ...]) -> Any:
    """The result in the form that was given."""
    array = texels.reshape(*size, *texels.shape[1:])
    if is_pil(given.original) and len(size) == 2:
        return picture_of(array, picture_info(given.original))
    return _image(given, array, size) if isinstance(given.original, ImageLike) else array


def _image(given: Taken, array: NDArray[Any], size: tuple[int, ...]) -> ImageLike:
    storage = storage_of(array, "scatter", len(size))
    channels = storage.channels
    reading = sampler.inherited(sampler.of(given.original), Format(array.dtype, channels))
    return ImageMaker.make(storage, reading, info=given.original.info)


__all__ = ["scatter"]
