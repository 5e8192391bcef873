"""`pygpu.reduce`: folds of images into one value, or one for each group.

reduce(lambda a, b: a + b, photo, map=lambda v, p: v * p.x)
reduce(np.add, photo, weights, map=lambda v, w, gain: gain * v * w, gain=2.0)
reduce(np.maximum, photo, by=lambda v: int(v > 0.5), groups=2)
reduce(np.argmax, photo)                   # the position of the greatest
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.errors import guarded, shown
from pygpu.core.storage import ImageLike, Storage, texels
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import all_taken
from pygpu.execution.arrays.mapping import CHUNK, bound, check_arguments
from pygpu.execution.arrays.passes import IMAGES, lasting, made
from pygpu.execution.arrays.values import checked, described, identity, settled
from pygpu.execution.arrays.whole import Fold
from pygpu.execution.folds import plans
from pygpu.execution.folds.by_group import By, Folding, by_group, checked_groups
from pygpu.execution.folds.chunked import ChunkFold, reduced
from pygpu.execution.folds.exact import digits_in, words_in
from pygpu.execution.folds.folding import State, fold_all, folded_once, image_of, program
from pygpu.execution.folds.kept import kept
from pygpu.execution.folds.stored import POSITIONS, stored_fold, stored_place
from pygpu.execution.large.labels import bare
from pygpu.execution.large.sources import holds_dask
from pygpu.execution.programs.bars import steps
from pygpu.execution.programs.tiles import Tile, tiles_of
from pygpu.language.scalars import number
from pygpu.language.vectors import IVec2, Position, Vector
from pygpu.types import Type

# NumPy's functions whose fold of no elements at all has a value.
OF_NOTHING: Final = (np.add, operator.add, np.multiply, operator.mul)
NOWHERE: Final = -1  # each coordinate of the greatest of a group that has no texel


@guarded
def reduce(
    function: Callable[..., Any],
    *images: Any,
    map: Callable[..., Any] | None = None,
    initial: Any = None,
    by: Callable[..., Any] | None = None,
    groups: int | None = None,
    target: str = "auto",
    **arguments: Any,
) -> Any:
    """Fold an image's texels into one value with `function(a, b)`, which is associative and
    commutative: the order is not said.

    With `map`, what is folded is what it gives for the texels of the images, which have one size,
    and for the position if it takes one more. Parameters that `arguments` name are given these,
    numbers that may change without compiling anew. Values are scalars, vectors or tuples of them,
    which NumPy's functions fold part by part; `initial`, where given, is an identity of `function`,
    which leaves the result as it is. Gives a number, an array, or a tuple of such.

    `by`, which takes what `map` takes, gives the number of a group from 0 to `groups` - 1: each
    group is folded for itself, and results have a first axis of `groups`. Texels of other numbers
    are left out. A group without texels has `initial`, which functions other than np.add,
    np.multiply, np.maximum and np.minimum need for that.

    Of no elements the sum is 0 and the product 1; other functions need `initial` for them,
    np.maximum and np.minimum too, as in NumPy.

    np.argmax and np.argmin give the position of the first greatest or least value in raster order
    (a NaN counts as such), of a group without texels -1.
    """
    for name, value in (("function", function), ("map", map), ("by", by)):
        if not callable(value) and not (name != "function" and value is None):
            raise TypeError(f"reduce: {name} takes a function, got {shown(value)}")
    targets.check(target)
    images = tuple([bare(image) for image in images])
    with nullcontext() if by is None else targets.at_once():
        how = Code(function), Code(map), Code(by), known_key(groups)
        call = plans.Call.of(images, arguments, initial, target, how)
        if call.plan is not None:
            return call.plan.run(call.images, plans.numbers(arguments))
        if holds_dask(images):
            given = {"map": map, "initial": initial, "by": by, "groups": groups, "target": target}
            return _lazily(function, images, {**given, **arguments})
        folding = _folding(function, call.images, map, arguments, target)
        grouped = _by(by, groups, folding)
        check_arguments("reduce", arguments, _named(folding, grouped))
        return _reduced(folding, grouped, initial, call.key)


def _lazily(function: Callable[..., Any], images: Sequence[Any], given: Mapping[str, Any]) -> Any:
    """The fold of Dask arrays, as one: each chunk is told where it begins."""
    if function in POSITIONS and given["initial"] is not None:
        raise TypeError("reduce: positions have no initial")
    least = {np.argmax: False, np.argmin: True}.get(function)
    fold = partial(_of_chunk, function, given)
    rest = partial(_of_tuples, function, given["initial"], given["target"])
    return reduced(ChunkFold(fold, function, rest, given["by"] is not None, least), images)


def _of_tuples(
    function: Callable[..., Any], initial: Any, target: str, groups: int | None, *parts: Any
) -> Any:
    """The fold of tuples, whose parts are signals; with groups the last says of which each is."""
    if groups is None:
        return reduce(function, *parts, map=lambda *all: all, target=target)
    told = {"map": lambda *all: all[:-1], "by": lambda *all: all[-1], "initial": initial}
    return reduce(function, *parts, groups=groups, target=target, **told)


def _of_chunk(
    function: Callable[..., Any], given: Mapping[str, Any], corner: tuple[int, int], *images: Any
) -> Any:
    """The fold of a chunk at a corner (x, y); of positions values, and places in the whole."""
    roles = ("map", "initial", "by", "groups", "target")
    map, initial, by, groups, target = [given[role] for role in roles]
    arguments = {name: value for name, value in given.items() if name not in roles}
    folding = _folding(function, images, map, arguments, target)
    grouped = _by(by, groups, folding)
    check_arguments("reduce", arguments, _named(folding, grouped))
    folding = replace(folding, given={**arguments, CHUNK: IVec2(*corner)})
    kind = _types(folding)
    parts = _parts_of(folding, grouped, initial, kind)
    return tuple(parts) if folding.reading.placed or kind[1] else parts[0]


def _named(folding: Folding, by: By | None) -> set[str]:
    """The arguments that map and by take."""
    return set(folding.reading.given) | set(by.reading.given if by else ())


def _folding(
    function: Callable[..., Any],
    images: Sequence[Any],
    map: Callable[..., Any] | None,
    arguments: Mapping[str, Any],
    target: str,
) -> Folding:
    """What is folded, of a call's arguments."""
    if not images:
        raise TypeError("reduce: takes a function and one image or several, got no image")
    if len(images) > 1 and map is None:
        raise TypeError(f"reduce: {len(images)} images need map=, a function of their texels")
    given = all_taken(images, plans.names(images), target)
    sizes = [each.size for each in given]
    if len(set(sizes)) > 1:
        raise ValueError(
            f"reduce: images of different sizes: {', '.join([str(size) for size in sizes])}"
        )
    reading = replace(given[0].reading, placed=function in POSITIONS)
    if map is not None:
        reading = reading.of(*bound("reduce: map", map, len(images), arguments))
        map = lasting(map)
    function = lasting(POSITIONS.get(function, function))
    return Folding(function, map, reading, given, arguments, target)


def _by(by: Callable[..., Any] | None, groups: Any, folding: Folding) -> By | None:
    if by is None:
        if groups is not None:
            raise TypeError("reduce: groups= needs by=, which group a texel is of")
        return None
    count = checked_groups(groups)
    images = len(folding.images)
    read = folding.images[0].reading.of(*bound("reduce: by", by, images, folding.given))
    return By(lasting(by), read, count)


def _reduced(folding: Folding, by: By | None, initial: Any, key: Any = None) -> Any:
    """The result; what calls like this one are to do is written down under the key."""
    types, is_tuple = _types(folding)
    if folding.images[0].count == 0 and by is None:
        if initial is not None and not folding.reading.placed:
            _check_initial(initial, types, is_tuple)
        return _of_nothing(folding, types, is_tuple, initial)
    parts = _parts_of(folding, by, initial, (types, is_tuple), key)
    if not folding.reading.placed:
        return tuple(parts) if is_tuple else parts[0]
    first = folding.images[0]
    if by is None:
        return Position(*first.position(*parts[1:]))
    places = np.stack(first.position(*parts[1:]), axis=-1)
    places[parts[1] < 0] = NOWHERE
    return places[:, 0] if len(first.size) == 1 else places


def _parts_of(
    folding: Folding,
    by: By | None,
    initial: Any,
    kind: tuple[tuple[Type, ...], bool],
    key: Any = None,
) -> list[Any]:
    """Each part of the result, whose types, and whether they are a tuple, are its `kind`; of
    positions the value, the column and the row."""
    types, is_tuple = kind
    is_placed = folding.reading.placed
    if is_placed and initial is not None:
        raise TypeError("reduce: positions have no initial")
    if by is not None:
        neutral = _neutral(folding, types, is_tuple, initial)
        digits = digits_in(folding, types, is_tuple) if _are_zero(neutral) else None
        if digits is not None:
            folding = digits.of(folding)
            types, is_tuple = _types(folding)
            zeros = _neutral(folding, types, is_tuple, None)
            fold = Fold(folding.function, is_tuple, tuple(types), zeros)
            return digits.totals(by_group(folding, by, fold))
        fold = Fold(folding.function, is_tuple, tuple(types), tuple(neutral))
        if key is not None and not is_placed:
            plans.by_group(key, folding, by, fold)
        return by_group(folding, by, fold)
    if initial is not None:
        _check_initial(initial, types, is_tuple)
    numbers = kept(folding, types)
    if numbers is not None:
        return list(numbers)
    find = stored_place(folding) if is_placed else None
    if find is not None:
        if key is not None and folding.images[0].is_itself:
            plans.of_places(key, folding, find)
        return find([folding.images[0].image])
    stored = None if is_tuple else stored_fold(folding, types[0])
    if stored is not None:
        if key is not None and folding.images[0].is_itself:
            plans.keep(key, lambda images, _: stored(images))
        return [stored([folding.images[0].image])]
    words = words_in(folding, types, is_tuple)
    if words is not None:
        folding = words.of(folding)
        types, is_tuple = _types(folding)
    if key is not None and len(_parts(folding)) == 1:
        plans.at_once(key, folding, words)
    state = _whole(folding, types if is_tuple else ())
    if key is not None and state.passes:
        plans.by_passes(key, folding, state, words)
    results = [_pixel(part) for part in state.images]
    return results if words is None else words.totals(results)


# ---------------------------------------------------------------- values


def _types(folding: Folding) -> tuple[tuple[Type, ...], bool]:
    """The types of what is folded, those that folding does not change any more. TypeError where
    the function gives other values than it takes."""
    images = tuple([_one_texel(each.image) for each in folding.images])
    roles = {"function": "known", "first": "known", "images": IMAGES, "given": "object"}
    once = made(folded_once, roles, folding.target)
    values = {"first": folding.first, "images": images, "given": dict(folding.given)}
    types, is_tuple = once.types(function=None, **values)
    if folding.reading.placed and not types[0].is_scalar:
        raise TypeError(f"reduce: positions are those of numbers, not of {types[0]}: take map=")
    hint = "" if folding.map else " (map= makes other values of texels)"
    return settled(folding.function, types, is_tuple, folding.target, "reduce", hint), is_tuple


def _one_texel(image: ImageLike) -> ImageLike:
    """An image of one texel that is read in the same way: all that types depend on."""
    format = image.format
    return ImageMaker.make(
        Storage.of(np.zeros((1, 1, format.channels), format.dtype)), sampler.of(image)
    )


def _neutral(
    folding: Folding, types: Sequence[Type], is_tuple: bool, initial: Any
) -> tuple[Any, ...]:
    """What groups without texels have, a value for each part."""
    if folding.reading.placed:
        return identity(np.add, types[0]), NOWHERE, NOWHERE
    if initial is not None:
        _check_initial(initial, types, is_tuple)
        parts = initial if is_tuple else (initial,)
        return tuple([checked(*pair, "reduce: initial") for pair in zip(parts, types, strict=True)])
    found = tuple([identity(folding.function, type) for type in types])
    if None in found:
        raise TypeError(
            "reduce: by= needs initial=, an identity of the function: it is what groups without "
            "texels have"
        )
    return found


def _are_zero(neutral: Sequence[Any]) -> bool:
    return all(not np.any(np.asarray(part)) for part in neutral)


def _of_nothing(folding: Folding, types: Sequence[Type], is_tuple: bool, initial: Any) -> Any:
    """The fold of an array without elements."""
    if folding.reading.placed:
        raise ValueError("reduce: no position is that of the greatest or least of no elements")
    if initial is None and folding.function not in OF_NOTHING:
        name = getattr(folding.function, "__name__", "this function")
        raise ValueError(
            f"reduce: {name} of no elements has no value: give initial=, an identity of it"
        )
    parts = _neutral(folding, types, is_tuple, initial)
    results = [part if number(part) is not None else np.array(list(part)) for part in parts]
    return tuple(results) if is_tuple else results[0]


def _check_initial(initial: Any, types: Sequence[Type], is_tuple: bool) -> None:
    """TypeError where an identity is unlike the values: of other size, or in other parts."""
    parts = initial if isinstance(initial, tuple) and is_tuple else (initial,)
    if len(parts) == len(types):
        for part, type in zip(parts, types, strict=True):
            if number(part) is None and (
                not isinstance(part, (Vector, list, tuple, np.ndarray))
                or len(part) != type.size
                or any(number(each) is None for each in part)
            ):
                break
        else:
            return
    raise TypeError(
        "reduce: initial takes a value like those that are folded, "
        f"{described(types, is_tuple)}, got {shown(initial)}"
    )


# ---------------------------------------------------------------- folds


def _whole(folding: Folding, types: Sequence[Type]) -> State:
    """Images of one pixel: the fold of all texels; `types` of the parts of tuples. What a device
    does not hold at once is folded part by part, and so are the full rows of an array (N,) and the
    rest."""
    parts = _parts(folding)
    fold = program(Code(folding.function), Code(folding.map), folding.target, folding.reading)
    folded = [
        fold_all(fold, State(images, given=folding.given), corner, types)
        for images, corner in (steps(parts, "tile", "reduce"))
    ]
    if len(folded) == 1:
        return folded[0]
    joined = [
        image_of(np.hstack([part.storage.host() for part in each]))
        for each in zip(*[state.images for state in folded], strict=True)
    ]
    rest = program(Code(folding.function), Code(None), folding.target)
    left = fold_all(rest, State(tuple(joined), folded[0].is_tuple))
    return replace(left, passes=())  # the passes folded the rest of an array alone


def _parts(folding: Folding) -> Sequence[tuple[tuple[ImageLike, ...], tuple[int, int]]]:
    """Images that a device holds, and where each begins: (x, y)."""
    images = tuple([each.image for each in folding.images])
    storage = images[0].storage
    size, limits = (storage.height, storage.width), targets.limits(targets.choose(folding.target))
    tiles: Sequence[Tile] = [Tile(0, 0, storage.width, storage.height)]
    if folding.reading.row:
        rest = (folding.images[0].count or 0) % storage.width
        full = storage.height - (rest > 0)
        tiles = [Tile(0, 0, storage.width, full)]
        tiles += [Tile(0, full, rest, 1)] if rest else []
    elif limits is not None and not (_are_there(images) and max(size) <= limits.side):
        widest = max([image.format for image in images], key=lambda format: format.nbytes)
        tiles = tiles_of(limits, widest, size)
    if len(tiles) == 1:
        return [(images, (0, 0))]
    return Cut(images, tiles)


class Cut(Sequence[Any]):
    """Images in tiles, each made when it is asked for: of large ones there may be very many."""

    def __init__(self, images: Sequence[ImageLike], tiles: Sequence[Tile]) -> None:
        self.images, self.tiles = images, tiles

    def __len__(self) -> int:
        return len(self.tiles)

    def __getitem__(self, index: Any) -> Any:
        tile = self.tiles[index]
        return tuple([_cut(image, tile) for image in self.images]), (tile.left, tile.top)


def _cut(image: ImageLike, tile: Tile) -> ImageLike:
    values = np.ascontiguousarray(tile.of(image.storage.host()))
    return ImageMaker.make(Storage.of(values), sampler.make(image.format))


def _are_there(images: Sequence[ImageLike]) -> bool:
    """Whether all texels are on a device already."""
    return all(bool(image.storage.copies) for image in images)


def _pixel(image: ImageLike) -> Any:
    """The only pixel of an image, as a number or an array."""
    pixel = texels(image.storage.host(), image.format)[0, 0]
    return pixel.item() if pixel.size == 1 else np.array(pixel)
