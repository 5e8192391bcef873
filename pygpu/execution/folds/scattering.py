"""`pygpu.scatter`: values put where a function says, those that meet folded into one.

scatter(weights, lambda v, p: (p.x // 2, p.y // 2), shape=(240, 320))
scatter(xs, lambda v: int(10 * v), shape=10, combine=np.maximum)
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import is_among, shortened, shown
from pygpu.core.host.records import record
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.core.storage import rows_of as shape_of
from pygpu.devices import targets
from pygpu.execution.arguments.convert import is_pil
from pygpu.execution.arguments.metadata import picture_info
from pygpu.execution.arguments.results import ImageMaker, natural_dtype, picture_of
from pygpu.execution.arrays.grouping import Grouping
from pygpu.execution.arrays.lines import Taken, rows_of, source, spread, taken
from pygpu.execution.arrays.mapping import Reading, bound, value_at
from pygpu.execution.arrays.passes import IMAGES, NUMBERS, lasting, made
from pygpu.execution.arrays.values import HOWS, checked, described, identity, settled
from pygpu.execution.arrays.whole import Fold, grouped, parts_of
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
    with shortened, targets.at_once():
        if not callable(to):
            raise TypeError(f"scatter: to takes a function, got {shown(to)}")
        if not is_among(combine, HOWS):
            raise TypeError(
                "scatter: combine takes np.add, np.maximum, np.minimum or np.multiply, got "
                f"{shown(combine)}"
            )
        size = _checked_shape(shape)
        given = taken(values, "scatter: values", targets.check(target))
        reading = replace(given.reading, with_position=bound("scatter: to", to, 1, ())[0])
        types = settled(combine, (given.image.format.type,), False, target, "scatter")
        start = checked(initial, types[0], "scatter: initial")
        goes = _Goes(given, lasting(to), reading, size, combine, types, target)
        return _scattered(goes, start)


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


@record
class _Goes:
    """What goes where: values of these types, by a function and what it is given, to a result of a
    size, where those that meet are combined."""

    given: Taken
    to: Callable[..., Any]
    reading: Reading
    size: tuple[int, ...]
    combine: Any
    types: tuple[Type, ...]
    target: str

    @property
    def groups(self) -> int:
        return int(np.prod(self.size))

    @property
    def first(self) -> Any:
        return self.to, self.reading.known

    def fold(self, neutral: Any) -> Fold:
        """What is made of the elements that meet."""
        return Fold(self.combine, False, self.types, (neutral,))

    def check(self) -> None:
        """TypeError where the function does not give places in the result."""
        roles: dict[str, Any] = {"first": "known", "images": IMAGES}
        goal = made(_goal, roles, self.target, asked=_ASKED)
        found, is_tuple = goal.types(first=self.first, images=(self.given.image,))
        size = self.size
        wanted = [1] * len(size) if is_tuple and len(size) > 1 else [len(size)]
        if [type.size for type in found] != wanted or any(type.kind == "bool" for type in found):
            what = ("the number of an element", "a position (x, y)", "a position (x, y, z)")
            raise TypeError(
                f"scatter: to gives {what[len(size) - 1]}, got {described(found, is_tuple)}"
            )


_ASKED: Final = "scatter: to"


def _scattered(goes: _Goes, start: Any) -> Any:
    """The result in the form that was given."""
    given, type = goes.given, goes.types[0]
    neutral = identity(goes.combine, type)
    nothing = _constant(neutral, type)
    is_neutral = np.array_equal(_constant(start, type), nothing)
    if given.count == 0:
        sums = np.broadcast_to(nothing, (goes.groups, *nothing.shape))
        return _back(given, goes.combine(_constant(start, type), sums), goes.size)
    goes.check()
    there = _at_once(goes, neutral)
    if there is None:
        sums = _folded(goes, neutral)
    elif isinstance(given.original, ImageLike) and there.shape == goes.size and is_neutral:
        return _image(given, there)
    else:
        sums = parts_of([there], goes.types, goes.groups)[0]
    return _back(given, goes.combine(_constant(start, type), sums), goes.size)


def _at_once(goes: _Goes, neutral: Any) -> Storage | None:
    """The folds of what meets at each element, by programs that find places as they fold."""
    given, target = goes.given, goes.target
    storage = given.image.storage
    count = storage.height * storage.width if given.count is None else given.count
    shape = rows_of(goes.groups, target) if len(goes.size) == 1 else shape_of(goes.size)
    roles = {"first": "known", "images": IMAGES, "to": NUMBERS}
    run = made(_numbered, roles, target, asked=_ASKED)
    values = {"first": goes.first, "images": (given.image,), "to": goes.size[::-1]}
    groups, images = goes.groups, (given.image,)
    fold = goes.fold(neutral)
    whole = grouped(fold, lambda: run.made(**values), images, count, shape, groups, target)
    if whole is None:
        return None
    (found,) = whole.run([given.image.storage])
    return found.shaped(goes.size) if shape == shape_of(goes.size) else found


def _folded(goes: _Goes, neutral: Any) -> NDArray[Any]:
    """The folds of what meets at each element, (N,) or (N, C); the identity where nothing is."""
    given, target = goes.given, goes.target
    wide = spread(given, target)
    roles = {"how": "known", "images": IMAGES, "sizes": NUMBERS, "to": NUMBERS}
    send = made(_sent, roles, target, asked=_ASKED)
    (values, index), _ = send.run(
        wide.shape,
        [natural_dtype(goes.types[0]), "int32"],
        wide.elements,
        how=(goes.first, wide.is_whole),
        images=(given.image,),
        sizes=wide.sizes,
        to=goes.size[::-1],
    )
    grouping = Grouping(goes.fold(neutral), goes.groups, target)
    return grouping.of((wide.line(values),), wide.line(index), wide.lines)[0]


def _goal(first: Any, images: Any, p: Any) -> Any:
    """Where an element goes."""
    return value_at(first, images, False, p, (0, 0), {})


def _sent(how: Any, images: Any, sizes: Any, to: Any, p: Any) -> Any:
    """An element, and the number of that to which it goes; -1 behind the last element."""
    first, is_whole = how
    i, at = source(is_whole, sizes, p)
    value, index = _numbered(first, images, to, at)
    return value, index if i < sizes[2] else -1


def _numbered(first: Any, images: Any, to: Any, p: Any) -> Any:
    """A texel and the number of its element in an array of sizes `to`; -1 outside."""
    goal = value_at(first, images, False, p, (0, 0), {})
    places = [goal] if len(to) == 1 else [*goal]
    is_inside, index, stride = True, 0, 1
    for place, size in zip(places, to, strict=True):
        near = _nearest(place)
        is_inside = is_inside and 0 <= near < size
        index = index + near * stride
        stride = stride * size
    return images[0](p), index if is_inside else -1


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
    if isinstance(given.original, ImageLike):
        return _image(given, Storage.of(array.reshape(*shape_of(size), -1), size))
    return array


def _image(given: Taken, storage: Storage) -> ImageLike:
    format = Format(storage.dtype, storage.channels)
    reading = sampler.inherited(sampler.of(given.original), format)
    return ImageMaker.make(storage, reading, info=given.original.info)
