"""How images are folded into one value: what `reduce` and the sums of images are made of.

Where the target has groups of lanes, a fold reads the image once (workgroups.py). Elsewhere it
takes passes: each makes an image of the folds of RADIX rows (then columns) of the one before, so
that sums of floats err by the logarithm of their length.

    fold = program(Code(join), Code(map), "auto")
    fold_all(fold, State((image,))).images      # of one pixel
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.programs import BOTH, Along
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Wanted
from pygpu.execution.arguments.signatures import Known, Signature
from pygpu.execution.arrays.mapping import Reading, first_of, value_at
from pygpu.execution.arrays.passes import Ran
from pygpu.execution.arrays.values import fold_of
from pygpu.execution.folds.packing import Packing, apart, packed, together
from pygpu.execution.folds.workgroups import Folded, Groups, Ready, Source
from pygpu.execution.programs.calls import Programs
from pygpu.execution.programs.checked import nowhere
from pygpu.execution.programs.options import is_checked_here
from pygpu.language.vectors import Position, Vec2
from pygpu.types import Type, vector

RADIX: Final = 8  # values folded by one pass: enough to hide its cost, few enough to unroll
COMPONENTS: Final = 64  # of the values that one pass folds into one, or of two


# ---------------------------------------------------------------- the program of a pass


def _fold(
    function: Any, how: Any, images: Any, length: Any, corner: Any, given: Any, p: Any
) -> Any:
    """The fold of `radix` values at RADIX*p and after it along x (0) or y (1); the last ones of
    a row or column are those there are, `length` in all. A value is a texel of each image, or
    `first` of them (see value_at); `corner` is the first position. `how` is (first, whether values
    are tuples, axis, radix, whether it divides the length, how they lie in images if not each part
    in its own, which images stand one below another: see stacked). `length` holds their rows,
    too."""
    first, is_tuple, along, radix, is_full, packing, layout = how
    length, rows = length
    start = (p.x, p.y)[along] * radix

    def value(i: Any) -> Any:
        at = Position(i, p.y) if along == 0 else Position(p.x, i)
        if layout is not None:
            found = tuple([images[n](Position(at.x, at.y + k * rows)) for n, k in layout])
        else:
            found = value_at(first, images, is_tuple, at, corner, given)
        return found if packing is None or first is not None else apart(found, packing)

    folded = value(start)
    for i in range(1, radix):
        if is_full or start + i < length:
            folded = _paired(fold_of(function, folded, value(start + i)))
    return folded if packing is None else together(folded, packing)


def _paired(value: Any) -> Any:
    """What a function of two values has given, complex numbers as the pairs that it takes."""
    if isinstance(value, tuple):
        is_paired = any(isinstance(part, complex) for part in value)
        return tuple([_paired(part) for part in value]) if is_paired else value
    return Vec2(value.real, value.imag) if isinstance(value, complex) else value


def folded_once(function: Any, first: Any, images: Any, given: Any, p: Any) -> Any:
    """The fold of a value with itself, or the value where there is no function."""
    value = value_at(first, images, False, p, (0, 0), given)
    return value if function is None else _paired(fold_of(function, value, value))


class Fold:
    """A function and a map, with the programs that fold by them."""

    def __init__(self, function: Any, map: Any, target: str, reading: Reading | None) -> None:
        self.function, self.target = function, target
        self.first = first_of(map, reading)
        pair = vector("int", 2)
        signature = Signature.by_roles(
            _fold,
            **{"function": Known(function), "how": "known", "images": "object"},
            **{"length": pair, "corner": pair, "given": "object", "p": "position"},
        )
        signature.name = "reduce"
        self.passes = Programs(_fold, signature, target, inner=True)
        self.passes.places = nowhere
        self.values = Programs(value_at, _of_values(self.first), target)
        joins = Signature.by_roles(_joined, function=Known(function), a="object", b="object")
        self.groups = Groups(
            Source.of(value_at, _of_values(self.first).parameters),
            Source.of(_joined, joins.parameters),
            [function],
        )

    def check(self, state: State, corner: tuple[int, int]) -> None:
        """Raise what goes wrong where a map makes values of texels."""
        values = [self.first, state.images, False, None, corner, dict(state.given)]
        self.values.run(flatten(self.values.signature, values), Wanted("image"))

    def by_groups(
        self, state: State, along: Along, corner: tuple[int, int] = (0, 0), whole: bool = False
    ) -> Folded | None:
        """The fold of images by groups of lanes, where the device has those: see Groups.fold."""
        given = [self.first, state.images, state.is_tuple, None, corner, dict(state.given)]
        return self.groups.fold(targets.choose(self.target), given, along, whole)

    def ready(self, state: State, along: Along) -> Ready | None:
        """What folds images like these by groups of lanes, where something does."""
        given = [self.first, state.images, state.is_tuple, None, (0, 0), dict(state.given)]
        found = self.groups.ready(targets.choose(self.target), given, along)
        return None if found is None else found[0]

    def kept(self, state: State) -> list[Storage]:
        """The fold of all texels as storages of a texel each, on a device that keeps them."""
        device = targets.choose(self.target)
        given = [self.first, state.images, state.is_tuple, None, (0, 0), dict(state.given)]
        found = self.groups.ready(device, given, BOTH)
        parts = None if found is None else found[0].kept(found[1])
        if parts is None:
            parts = [image.storage for image in by_passes(self, state, (1, 0)).images]
        return parts


def _of_values(first: Any) -> Signature:
    """The parameters of `value_at`."""
    signature = Signature.by_roles(
        value_at,
        first=Known(first),
        images="object",
        is_tuple=Known(False),
        p="position",
        corner=vector("int", 2),
        given="object",
    )
    signature.name = "reduce: map"
    return signature


def _joined(function: Any, a: Any, b: Any) -> Any:
    """The fold of two values."""
    return _paired(fold_of(function, a, b))


@lru_cache(maxsize=64)
def program(function: Code, map: Code, target: str, reading: Reading | None = None) -> Fold:
    """What folds by a function and a map on a target."""
    return Fold(function.value, map.value, target, reading)


# ---------------------------------------------------------------- passes


@record
class State:
    """Values so far: an image for each part of a tuple, or one alone. Before the first pass: the
    images of which values are made, and the arguments that are given for that. `passes` are those
    that made the values, `packing` says how parts lie in what the last one gave."""

    images: tuple[ImageLike, ...]
    is_tuple: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)
    passes: tuple[Ran, ...] = ()
    packing: Packing | None = None


def fold_all(
    fold: Fold, state: State, corner: tuple[int, int] = (0, 0), types: Sequence[Type] = ()
) -> State:
    """Images of one pixel: the fold of all texels. Groups of lanes check nothing. `types`: of the
    parts of tuples that a map makes, where these are known."""
    storage = state.images[0].storage
    if is_checked_here():
        if fold.first is not None:
            fold.check(state, corner)
    elif storage.height * storage.width > 1:  # of one nothing is folded: it keeps its type
        folded = fold.by_groups(state, BOTH, corner, whole=True)
        if folded is not None:
            images = list(map(image_of, folded.parts))
            return State(tuple(images), folded.is_tuple)
    count = storage.height * storage.width
    packing = packed(types) if fold.first is not None and count > 1 else None
    left = by_passes(fold, state, (1, 0), corner=corner, packing=packing)
    if packing is None:
        return left
    parts = _apart(left.images, packing)
    return replace(left, images=parts, is_tuple=True, packing=packing)


def _apart(images: Sequence[ImageLike], packing: Packing) -> tuple[ImageLike, ...]:
    """An image of one pixel for each part of a value."""
    values = unpacked([image.storage.host() for image in images], packing)
    return tuple([image_of(each) for each in values])


def unpacked(values: Sequence[NDArray[Any]], packing: Packing) -> list[NDArray[Any]]:
    """Arrays (H, W, C), those of several parts taken apart into such of one channel."""
    parts: dict[int, NDArray[Any]] = {}
    for array, (_, places) in zip(values, packing, strict=True):
        for channel, place in enumerate(places):
            parts[place] = array if len(places) == 1 else array[:, :, channel : channel + 1]
    return [parts[place] for place in range(len(parts))]


def image_of(values: NDArray[Any]) -> ImageLike:
    """Values (H, W, C) as an image that functions see as they are."""
    format = Format(values.dtype, values.shape[2], normalize=False)
    return ImageMaker.make(Storage.of(np.ascontiguousarray(values)), make(format))


def by_passes(
    fold: Fold,
    state: State,
    alongs: Sequence[int],
    limit: int = 64,
    corner: tuple[int, int] = (0, 0),
    packing: Packing | None = None,
) -> State:
    """What is left by folding along these axes (1: rows into one another), each until one is left
    or for `limit` passes. `packing` says how values that a map has made lie in images."""
    compiled, function, first = fold.passes, fold.function, fold.first
    device = targets.choose(fold.target)
    most, is_host = device.images_at_once(1), targets.is_on_host(device)
    passes: list[Ran] = []
    is_as_made = True  # whether each pass reads the images of the pass before, all of them
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
            images, layout = stacked(state.images, most if first is None else None)
            # OpenGL's drivers take long over loops of maps that nothing guards.
            is_full = is_host and length % radix == 0
            how = first, state.is_tuple, along, radix, is_full, packing, layout
            given = dict(state.given) if first is not None else {}
            values = [function, how, images, (length, height), corner, given, None]
            arguments = flatten(compiled.signature, values)
            run = compiled.run(arguments, Wanted("image"), shape=size)
            results, made = run.presented(), run.specialisation
            is_tuple = isinstance(results, tuple)
            passes.append(Ran(made, tuple(arguments.uniforms), run.storages[0].shape))
            is_as_made = is_as_made and layout is None
            state = State(results if is_tuple else (results,), is_tuple)
            first = None
    return replace(state, passes=tuple(passes) if is_as_made else ())


def stacked(
    images: tuple[ImageLike, ...], most: int | None
) -> tuple[tuple[ImageLike, ...], tuple[tuple[int, int], ...] | None]:
    """Images of one size as at most so many, those of a format one below another, and for each
    in which it is, below how many others; None where they are few enough as they are."""
    if most is None or len(images) <= most:
        return images, None
    groups: dict[Format, list[ImageLike]] = {}
    layout = []
    for image in images:
        group = groups.setdefault(image.format, [])
        layout.append((list(groups).index(image.format), len(group)))
        group.append(image)
    made = [np.concatenate([each.storage.host() for each in group]) for group in groups.values()]
    return tuple(map(image_of, made)), tuple(layout)


def _radix(fold: Fold, state: State, first: Any) -> int:
    """How many values a pass folds into one: fewer where they have many components, for what is
    compiled grows with all that is folded at once."""
    count = sum(image.format.channels for image in state.images)
    if first is not None:
        how = first, False, 0, 1, True, None, None
        values = [fold.function, how, state.images, (1, 1), (0, 0), dict(state.given), None]
        types, _ = fold.passes.types(flatten(fold.passes.signature, values))
        count = sum(type.size for type in types)
    return max(2, min(RADIX, COMPONENTS // count))


def added(a: Any, b: Any) -> Any:
    return a + b


def number(texel: Any) -> Any:
    return texel + 0  # a bool is an int
