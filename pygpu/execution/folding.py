"""How images are folded into one value: what `reduce` and the sums of images are made of.

Where the target has groups of lanes that share memory, a fold reads the image once (grouped.py).
Elsewhere it takes passes: each makes an image of the folds of RADIX rows (then columns) of the one
before, so that sums of floats err by the logarithm of their length.

    fold = program(Code(join), Code(map), "auto")
    fold_all(fold, State((image,))).images      # of one pixel
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import BOTH, Along
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.parameters import flatten
from pygpu.execution.arguments.results import ImageMaker, Wanted
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.grouped import Folded, Groups, Source
from pygpu.execution.programs.calls import Programs
from pygpu.language.vectors import Position, Vec2
from pygpu.types import INT, vector

RADIX: Final = 8  # values folded by one pass: enough to hide its cost, few enough to unroll
COMPONENTS: Final = 64  # of the values that one pass folds into one, or of two


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
            folded = _paired(function(folded, value(start + i)))
    return folded


def _value(first: Any, images: Any, is_tuple: Any, p: Any, corner: Any) -> Any:
    """The value at a position."""
    if first is not None:
        map, with_position = first
        return _real(map(images[0](p), p + corner) if with_position else map(images[0](p)))
    return tuple([image(p) for image in images]) if is_tuple else images[0](p)


def _real(value: Any) -> Any:
    """What a map has given. Between passes values are pixels, where a complex number is a pair,
    whose product is another one than that of complex numbers: so these are refused."""
    parts = value if isinstance(value, tuple) else (value,)
    for part in parts:
        if isinstance(part, complex):
            raise TypeError(
                "reduce: complex numbers are folded as pairs: let map= give "
                "Vec2(z.real, z.imag), and function take complex(*a)"
            )
    return value


def _paired(value: Any) -> Any:
    """What a function of two values has given, complex numbers as the pairs that it takes."""
    if isinstance(value, tuple):
        is_paired = any(isinstance(part, complex) for part in value)
        return tuple([_paired(part) for part in value]) if is_paired else value
    return Vec2(value.real, value.imag) if isinstance(value, complex) else value


def folded_once(function: Any, first: Any, images: Any, is_tuple: Any, p: Any) -> Any:
    """The fold of a value with itself, or the value where there is no function."""
    value = _value(first, images, is_tuple, p, (0, 0))
    return value if function is None else _paired(function(value, value))


class Fold:
    """A function and a map, with the programs that fold by them."""

    def __init__(self, function: Any, map: Any, target: str) -> None:
        self.function, self.target = function, target
        self.first = None if map is None else (map, takes_two(map))
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
        self, state: State, along: Along, corner: tuple[int, int] = (0, 0), whole: bool = False
    ) -> Folded | None:
        """The fold of images by groups of lanes, where the device has those: see Groups.fold."""
        given = [self.first, state.images, state.is_tuple, None, corner]
        return self.groups.fold(targets.choose(self.target), given, along, whole)


def _joined(function: Any, a: Any, b: Any) -> Any:
    """The fold of two values."""
    return _paired(function(a, b))


@lru_cache(maxsize=64)
def program(function: Code, map: Code, target: str) -> Fold:
    """What folds by these."""
    return Fold(function.value, map.value, target)


# ---------------------------------------------------------------- passes


@dataclass(frozen=True, slots=True)
class State:
    """Values so far: an image for each part of a tuple, or one alone."""

    images: tuple[ImageLike, ...]
    is_tuple: bool = False


def fold_all(fold: Fold, state: State, corner: tuple[int, int] = (0, 0)) -> State:
    """Images of one pixel: the fold of all texels."""
    storage = state.images[0].storage
    if storage.height * storage.width > 1:  # of one nothing is folded: it keeps its type
        folded = fold.by_groups(state, BOTH, corner, whole=True)
        if folded is not None:
            images = list(map(image_of, folded.parts))
            return State(tuple(images), folded.is_tuple)
    return by_passes(fold, state, (1, 0), corner=corner)


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
) -> State:
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
            state = State(results if is_tuple else (results,), is_tuple)
            first = None
    return state


def _radix(fold: Fold, state: State, first: Any) -> int:
    """How many values a pass folds into one: fewer where they have many components, for what is
    compiled grows with all that is folded at once."""
    count = sum(image.format.channels for image in state.images)
    if first is not None:
        values = [fold.function, (first, False, 0, 1), state.images, 1, (0, 0), None]
        types, _ = fold.passes.types(flatten(fold.passes.signature, values))
        count = sum(type.size for type in types)
    return max(2, min(RADIX, COMPONENTS // count))


def takes_two(function: Callable[..., Any] | None) -> bool:
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


__all__ = [
    "COMPONENTS",
    "Fold",
    "State",
    "by_passes",
    "fold_all",
    "folded_once",
    "program",
    "takes_two",
]
