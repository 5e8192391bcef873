"""`pygpu.reduce`: folds of images into one value, by functions of the user's.

reduce(lambda a, b: a + b, photo, map=lambda v, p: v * p.x)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pygpu.core.errors import shorten, shown
from pygpu.core.sampler import Sampler, default, make
from pygpu.core.sampler import of as sampler_of
from pygpu.core.storage import ImageLike, Storage, texels
from pygpu.devices import targets
from pygpu.execution.arguments.convert import array_of, texels_of
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.folding import State, fold_all, folded_once, image_of, program, takes_two
from pygpu.execution.mapped import mapped
from pygpu.execution.programs.bars import steps
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.tiles import Tile, tiles_of
from pygpu.language.scalars import number
from pygpu.language.vectors import Vector
from pygpu.types import Type, vector


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
    if image.dims != 2 and map is not None and takes_two(map):
        return _of_positions(function, map, image, initial, targets.check(target))
    image = ImageMaker.of_rows(image)
    problem = _unlike(Code(function), Code(map), sampler_of(image))
    if problem is not None:
        raise TypeError(problem)
    try:
        state = _whole(function, map, image, targets.check(target))
    except Exception as error:
        shorten(error)
        raise
    if initial is not None:
        _check_initial(initial, state)
    results = [_pixel(part) for part in state.images]
    return tuple(results) if state.is_tuple else results[0]


def _of_positions(
    function: Callable[..., Any],
    map: Callable[..., Any],
    image: ImageLike,
    initial: Any,
    target: str,
) -> Any:
    """The fold of what a map makes of the texels of a signal or a volume and of their places."""
    try:
        values = mapped(map, image, target)
        state = fold_all(program(Code(function), Code(None), target), values)
    except Exception as error:
        shorten(error)
        raise
    if initial is not None:
        _check_initial(initial, state)
    results = [_pixel(part) for part in state.images]
    return tuple(results) if state.is_tuple else results[0]


def _check_initial(initial: Any, state: State) -> None:
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
) -> State:
    """Images of one pixel: the fold of all texels. What a device does not hold at once is folded
    part by part."""
    fold = program(Code(function), Code(map), target)
    limits, storage = targets.limits(targets.choose(target)), image.storage
    size = storage.height, storage.width
    parts: Sequence[Tile] = [Tile(0, 0, storage.width, storage.height)]
    if limits is not None and not (storage.copies and max(size) <= limits.side):
        parts = tiles_of(limits, image.format, size)
    if len(parts) == 1:
        return fold_all(fold, State((image,)))
    folded = []
    for tile in steps(parts, "tile", "reduce"):
        values = np.ascontiguousarray(tile.of(storage.host()))
        part = ImageMaker.make(Storage.of(values), make(image.format))
        folded.append(fold_all(fold, State((part,)), (tile.left, tile.top)))
    joined = [
        image_of(np.hstack([part.storage.host() for part in each]))
        for each in zip(*[state.images for state in folded], strict=True)
    ]
    rest = program(Code(function), Code(None), target)
    return fold_all(rest, State(tuple(joined), folded[0].is_tuple))


@lru_cache(maxsize=256)
def _unlike(fold: Code, map: Code, read: Sampler) -> str | None:
    """How what is folded of an image differs from what is made of it, if it does: they must be
    alike."""
    function = fold.value
    first = None if map.value is None else (map.value, takes_two(map.value))
    one = np.zeros((1, 1, read.format.channels), read.format.dtype)
    image = ImageMaker.make(Storage.of(one), read)
    found = []
    for each in (None, function):
        parameters = [
            Parameter("function", "known", default=each),
            Parameter("first", "known", default=first),
            Parameter("images", "object"),
            Parameter("is_tuple", "known", default=False),
            Parameter("p", "position"),
        ]
        compiled = Programs(folded_once, Signature(folded_once, parameters), "interpreter")
        arguments = flatten(compiled.signature, [each, first, (image,), False, None])
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
        + ("" if map.value else " (map= makes other values of texels)")
    )


def _shown(types: Sequence[Type], is_tuple: bool) -> str:
    names = ", ".join(map(str, types))
    return f"({names}{',' * (len(types) == 1)})" if is_tuple else names


def _pixel(image: ImageLike) -> Any:
    """The only pixel of an image, as a number or an array."""
    pixel = texels(image.storage.host(), image.format)[0, 0]
    return pixel.item() if pixel.size == 1 else np.array(pixel)


__all__ = ["reduce"]
