"""Folds of images into one value: `pygpu.reduce`, and the sums and extremes of `Image`.

Where the target has groups of lanes that share memory, a fold reads the image once
(grouped.py). Elsewhere it takes passes: each makes an image of the folds of RADIX rows (then
columns) of the one before, so that sums of floats err by the logarithm of their length.

    reduce(lambda a, b: a + b, photo, map=lambda v, p: v * p.x)
    total(image, axis=(0, 1))
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import ALONG_X, ALONG_Y, BOTH, Along, How
from pygpu.core.errors import CompileError, shorten, shown
from pygpu.core.sampler import default, make
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.devices import targets
from pygpu.execution.arguments.convert import array_of, texels_of, without_channel_axis
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Wanted
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.grouped import Folded, Groups, Source
from pygpu.execution.programs.bars import steps
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.tiles import Tile, tiles_of
from pygpu.language.scalars import number
from pygpu.language.vectors import Position, Vector
from pygpu.types import INT, Type, vector

RADIX: Final = 8  # values folded by one pass: enough to hide its cost, few enough to unroll
COMPONENTS: Final = 64  # of the values that one pass folds into one, or of two
ON_DEVICE: Final = 1 << 16  # texels from which on a sum of a device's image begins there
NATIVE: Final = 1 << 16  # elements from which on code of the device may be quicker than NumPy
FOLDED: Final = 2  # passes it makes there: the rest is summed in 64 bits


# ---------------------------------------------------------------- the program of a pass


def _fold(function: Any, how: Any, images: Any, length: Any, corner: Any, p: Any) -> Any:
    """The fold of `radix` values at RADIX*p and after it along x (0) or y (1); the last ones of
    a row or column are those there are, `length` in all. A value is a texel of each image, or
    `first` of one, (map, whether it takes the position too); `corner` is the first position. `how`
    is (first, whether values are tuples, axis, radix)."""
    first, is_tuple, along, radix = how
    start = (p.x, p.y)[along] * radix

    def value(i: Any) -> Any:
        at = Position(i, p.y) if along == 0 else Position(p.x, i)
        return _value(first, images, is_tuple, at, corner)

    folded = value(start)
    for i in range(1, radix):
        if start + i < length:
            folded = function(folded, value(start + i))
    return folded


def _value(first: Any, images: Any, is_tuple: Any, p: Any, corner: Any) -> Any:
    """The value at a position."""
    if first is not None:
        map, with_position = first
        return map(images[0](p), p + corner) if with_position else map(images[0](p))
    return tuple([image(p) for image in images]) if is_tuple else images[0](p)


def _folded_once(function: Any, first: Any, images: Any, is_tuple: Any, p: Any) -> Any:
    """The fold of a value with itself, or the value where there is no function."""
    value = _value(first, images, is_tuple, p, (0, 0))
    return value if function is None else function(value, value)


class Fold:
    """A function and a map, with the programs that fold by them."""

    def __init__(self, function: Any, map: Any, target: str) -> None:
        self.function, self.target = function, target
        self.first = None if map is None else (map, _takes_two(map))
        self.passes = Programs(
            _fold,
            Signature(
                _fold,
                [
                    Parameter("function", "known", default=function),
                    Parameter("how", "known"),
                    Parameter("images", "object"),
                    Parameter("length", "uniform", INT),
                    Parameter("corner", "uniform", vector("int", 2)),
                    Parameter("p", "position"),
                ],
            ),
            target,
        )
        self.groups = Groups(
            Source.of(
                _value,
                [
                    Parameter("first", "known", default=self.first),
                    Parameter("images", "object"),
                    Parameter("is_tuple", "known", default=False),
                    Parameter("p", "position"),
                    Parameter("corner", "uniform", vector("int", 2)),
                ],
            ),
            Source.of(
                _joined,
                [
                    Parameter("function", "known", default=function),
                    Parameter("a", "object"),
                    Parameter("b", "object"),
                ],
            ),
            [function],
        )

    def by_groups(
        self, state: _State, along: Along, corner: tuple[int, int] = (0, 0), whole: bool = False
    ) -> Folded | None:
        """The fold of images by groups of lanes, where the device has those: see Groups.fold."""
        given = [self.first, state.images, state.is_tuple, None, corner]
        return self.groups.fold(targets.choose(self.target), given, along, whole)


def _joined(function: Any, a: Any, b: Any) -> Any:
    """The fold of two values."""
    return function(a, b)


@lru_cache(maxsize=64)
def program(function: Code, map: Code, target: str) -> Fold:
    """What folds by these."""
    return Fold(function.value, map.value, target)


# ---------------------------------------------------------------- passes


@dataclass(frozen=True, slots=True)
class _State:
    """Values so far: an image for each part of a tuple, or one alone."""

    images: tuple[ImageLike, ...]
    is_tuple: bool = False


def _all(fold: Fold, state: _State, corner: tuple[int, int] = (0, 0)) -> _State:
    """Images of one pixel: the fold of all texels."""
    storage = state.images[0].storage
    if storage.height * storage.width > 1:  # of one nothing is folded: it keeps its type
        folded = fold.by_groups(state, BOTH, corner, whole=True)
        if folded is not None:
            images = list(map(_image_of, folded.parts))
            return _State(tuple(images), folded.is_tuple)
    return _passes(fold, state, (1, 0), corner=corner)


def _image_of(values: NDArray[Any]) -> ImageLike:
    """Values (H, W, C) as an image that functions see as they are."""
    format = Format(values.dtype, values.shape[2], normalize=False)
    return ImageMaker.make(Storage.of(np.ascontiguousarray(values)), make(format))


def _passes(
    fold: Fold,
    state: _State,
    alongs: Sequence[int],
    limit: int = 64,
    corner: tuple[int, int] = (0, 0),
) -> _State:
    """What is left by folding along these axes (1: rows into one another), each until one is left
    or for `limit` passes."""
    compiled, function, first = fold.passes, fold.function, fold.first
    for along in alongs:
        for _ in range(limit):
            storage = state.images[0].storage
            height, width = storage.height, storage.width
            length = width if along == 0 else height
            if length == 1 and first is None:
                break
            radix = min(_radix(fold, state, first), length)
            left = -(-length // radix)
            size = (height, left) if along == 0 else (left, width)
            how = first, state.is_tuple, along, radix
            values = [function, how, state.images, length, corner, None]
            arguments = flatten(compiled.signature, values)
            results = compiled.run(arguments, Wanted("image"), shape=size).presented()
            is_tuple = isinstance(results, tuple)
            state = _State(results if is_tuple else (results,), is_tuple)
            first = None
    return state


def _radix(fold: Fold, state: _State, first: Any) -> int:
    """How many values a pass folds into one: fewer where they have many components, for what is
    compiled grows with all that is folded at once."""
    count = sum(image.format.channels for image in state.images)
    if first is not None:
        values = [fold.function, (first, False, 0, 1), state.images, 1, (0, 0), None]
        types, _ = fold.passes.types(flatten(fold.passes.signature, values))
        count = sum(type.size for type in types)
    return max(2, min(RADIX, COMPONENTS // count))


def reduce(
    function: Callable[..., Any],
    image: Any,
    *,
    map: Callable[..., Any] | None = None,
    initial: Any = None,
    target: str = "auto",
) -> Any:
    """Fold an image's texels into one value with `function(a, b)`, which is associative and
    commutative: the order is not said.

    With `map`, what is folded is `map(texel)`, or `map(texel, position)` where it takes two.
    Values are scalars, vectors or tuples of them; `initial`, where given, is an identity of
    `function`, which leaves the result as it is. Gives a number, an array, or a tuple of such.
    """
    for name, value in (("function", function), ("map", map)):
        if not callable(value) and not (name == "map" and value is None):
            raise TypeError(f"reduce: {name} takes a function, got {shown(value)}")
    if not isinstance(image, ImageLike):
        values = texels_of(array_of(image))
        image = ImageMaker.make(Storage.of(values), default(values.dtype, values.shape[2]))
    try:
        state = _whole(function, map, image, targets.check(target))
    except CompileError as error:
        problem = _unlike(function, map, image)
        shorten(error)
        if problem is None:
            raise
        raise TypeError(problem) from None
    except Exception as error:
        shorten(error)
        raise
    if initial is not None:
        _check_initial(initial, state)
    results = [_pixel(part) for part in state.images]
    return tuple(results) if state.is_tuple else results[0]


def _check_initial(initial: Any, state: _State) -> None:
    """TypeError where an identity is not like the values: a number, or as many as they have, in a
    tuple of as many parts."""
    parts = initial if isinstance(initial, tuple) and state.is_tuple else (initial,)
    sizes = [part.format.channels for part in state.images]
    if len(parts) == len(sizes):
        for part, size in zip(parts, sizes, strict=True):
            if number(part) is None and (
                not isinstance(part, (Vector, list, tuple, np.ndarray))
                or len(part) != size
                or any(number(each) is None for each in part)
            ):
                break
        else:
            return
    types = [vector(part.format.kind, part.format.channels) for part in state.images]
    raise TypeError(
        "reduce: initial takes a value like those that are folded, "
        f"{_shown(types, state.is_tuple)}, got {shown(initial)}"
    )


def _whole(
    function: Callable[..., Any], map: Callable[..., Any] | None, image: ImageLike, target: str
) -> _State:
    """Images of one pixel: the fold of all texels. What a device does not hold at once is folded
    part by part."""
    fold = program(Code(function), Code(map), target)
    limits, storage = targets.limits(targets.choose(target)), image.storage
    size = storage.height, storage.width
    parts: Sequence[Tile] = [Tile(0, 0, storage.width, storage.height)]
    if limits is not None and not (storage.copies and max(size) <= limits.side):
        parts = tiles_of(limits, image.format, size)
    if len(parts) == 1:
        return _all(fold, _State((image,)))
    folded = []
    for tile in steps(parts, "tile", "reduce"):
        values = np.ascontiguousarray(tile.of(storage.host()))
        part = ImageMaker.make(Storage.of(values), make(image.format))
        folded.append(_all(fold, _State((part,)), (tile.left, tile.top)))
    joined = [
        _image_of(np.hstack([part.storage.host() for part in each]))
        for each in zip(*[state.images for state in folded], strict=True)
    ]
    rest = program(Code(function), Code(None), target)
    return _all(rest, _State(tuple(joined), folded[0].is_tuple))


def _unlike(function: Any, map: Any, image: ImageLike) -> str | None:
    """How what is folded differs from what is made of it, if it does: they must be alike."""
    first = None if map is None else (map, _takes_two(map))
    found = []
    for fold in (None, function):
        parameters = [
            Parameter("function", "known", default=fold),
            Parameter("first", "known", default=first),
            Parameter("images", "object"),
            Parameter("is_tuple", "known", default=False),
            Parameter("p", "position"),
        ]
        compiled = Programs(_folded_once, Signature(_folded_once, parameters), "interpreter")
        arguments = flatten(compiled.signature, [fold, first, (image,), False, None])
        try:
            found.append(compiled.types(arguments))
        except Exception:  # then it is refused for what it is
            return None
    (before, was_tuple), (after, is_tuple) = found
    if was_tuple == is_tuple and [t.size for t in before] == [t.size for t in after]:
        return None
    return (
        f"reduce: function(a, b) gives {_shown(after, is_tuple)} of two values that are "
        f"{_shown(before, was_tuple)}: it must give what it takes"
        + ("" if map else " (map= makes other values of texels)")
    )


def _shown(types: Sequence[Type], is_tuple: bool) -> str:
    names = ", ".join(map(str, types))
    return f"({names}{',' * (len(types) == 1)})" if is_tuple else names


def _takes_two(function: Callable[..., Any] | None) -> bool:
    """Whether it must be given two arguments."""
    if function is None:
        return False
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return False
    required = [
        p
        for p in signature.parameters.values()
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    return len(required) == 2


def _pixel(image: ImageLike) -> Any:
    """The only pixel of an image, as a number or an array."""
    pixel = texels(image.storage.host(), image.format)[0, 0]
    return pixel.item() if pixel.size == 1 else np.array(pixel)


# ---------------------------------------------------------------- sums and extremes


def total(image: ImageLike, axis: Any, keepdims: bool) -> Any:
    """The sum of texels along NumPy's axes, exact for ints and bools, in 64 bits for floats."""
    storage, format = image.storage, image.format
    is_float = storage.dtype.kind == "f"
    if not _starts_on_device(image, axis):
        summed = _natively(image, "sum", axis, keepdims)
        if summed is None:
            raw, wide = without_channel_axis(storage.host()), np.float64 if is_float else np.int64
            summed = np.sum(raw, axis, dtype=wide, keepdims=keepdims)
    elif is_float:
        return np.sum(_folded(_add, None, image, axis)[0], axis, np.float64, keepdims=keepdims)
    else:
        as_stored = make(Format(storage.dtype, format.channels, normalize=False))
        parts = _folded_ints(ImageMaker.make(storage, as_stored), axis)
        summed = np.sum(parts, axis, keepdims=keepdims)
    scaled = format.kind == "float" and not is_float
    return summed / np.iinfo(storage.dtype).max if scaled else summed


def extreme(image: ImageLike, function: Callable[..., Any], axis: Any, keepdims: bool) -> Any:
    """np.min or np.max of texels along NumPy's axes."""
    if _starts_on_device(image, axis):
        pick = np.minimum if function is np.min else np.maximum
        return function(_folded(pick, None, image, axis)[0], axis, keepdims=keepdims)
    raw = _natively(image, "min" if function is np.min else "max", axis, keepdims)
    if raw is None:
        raw = function(without_channel_axis(image.storage.host()), axis, keepdims=keepdims)
    return texels(np.asarray(raw, image.format.dtype)[()], image.format)


def _natively(image: ImageLike, how: How, axis: Any, keepdims: bool) -> Any:
    """The fold of stored texels, of all or of each channel, by code of the device; None where
    there is none, or the axes are others."""
    array = image.storage.host()
    if keepdims or array.size < NATIVE or not array.flags.c_contiguous:
        return None
    channels, axes = image.format.channels, _axes(image, axis)
    if axes == {0, 1} and channels > 1:
        return targets.choose("auto").texels(array, how, channels)
    if len(axes) != (2 if channels == 1 else 3):
        return None
    found = targets.choose("auto").texels(array, how, 1)
    return None if found is None else found[0]


def _starts_on_device(image: ImageLike, axis: Any) -> bool:
    """Whether to fold on the device before what is left is downloaded: a large image whose texels
    are there, and there alone if the device has no groups of lanes."""
    storage = image.storage
    if _along(image, axis) is None or storage.height * storage.width < ON_DEVICE:
        return False
    if storage.array is None:
        return True
    device = targets.choose("auto")
    return device.has_groups and device.copy in storage.copies


def checked_axes(axis: Any, ndim: int) -> list[int]:
    """NumPy's axes as numbers from 0 up. TypeError for what is no whole number, NumPy's AxisError
    for others."""
    if axis is None:
        return list(range(ndim))
    found = []
    for each in axis if isinstance(axis, tuple) else (axis,):
        if isinstance(each, (bool, np.bool_)) or not hasattr(each, "__index__"):
            raise TypeError(f"axis: takes a whole number, or a tuple of them, got {shown(each)}")
        place = operator.index(each)
        if not -ndim <= place < ndim:
            raise np.exceptions.AxisError(place, ndim)
        found.append(place % ndim)
    if len(set(found)) < len(found):
        raise ValueError(f"axis: an axis twice in {axis}")
    return found


def _axes(image: ImageLike, axis: Any) -> set[int]:
    """NumPy's axes, from the front."""
    return set(checked_axes(axis, 2 if image.format.channels == 1 else 3))


def _along(image: ImageLike, axis: Any) -> Along | None:
    """The axes of the image among NumPy's axes; None where there are none."""
    axes = _axes(image, axis)
    if 1 in axes:
        return BOTH if 0 in axes else ALONG_X
    return ALONG_Y if 0 in axes else None


def _folded(function: Any, map: Any, image: ImageLike, axis: Any) -> list[NDArray[Any]]:
    """Arrays of fewer rows or columns, each value the fold of some along the axes."""
    fold, along = program(Code(function), Code(map), "auto"), _along(image, axis)
    assert along is not None, "there is something to fold"
    folded = fold.by_groups(_State((image,)), along)
    if folded is not None:
        return [without_channel_axis(part) for part in folded.parts]
    state = _passes(fold, _State((image,)), (1 if ALONG_Y in along else 0,), FOLDED)
    return [without_channel_axis(part.storage.host()) for part in state.images]


def _folded_ints(image: ImageLike, axis: Any) -> NDArray[np.int64]:
    """As `_folded`: sums of ints."""
    if image.format.dtype.itemsize == 1:
        return _folded(_add, _whole_number, image, axis)[0].astype(np.int64)
    high, low = [part.astype(np.int64) for part in _folded(_add_pairs, _halves, image, axis)]
    return (high << 16) + (low & 0xFFFFFFFF)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _whole_number(texel: Any) -> Any:
    return texel + 0  # a bool is an int


def _halves(texel: Any) -> Any:
    """An int as two, whose sums over 65536 texels fit in 32 bits, the second's without a sign."""
    return texel >> 16, texel & 0xFFFF


def _add_pairs(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1]
