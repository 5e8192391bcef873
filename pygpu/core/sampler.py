"""How an image is read: the format of its texels, its boundary and its interpolation.

Samplers are interned: equal ones are one object, so that they compare by identity in the keys of
specialisations.

    sampler = make(Format(np.dtype("uint8"), 3), "edge", 0.0, "linear")
    sampler.boundary == "nearest"; sampler.type is vector("float", 3)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import boundaries
from pygpu.core.errors import shown
from pygpu.core.storage import Format, ImageLike
from pygpu.ssa import Number, normal
from pygpu.types import INT, UINT, Kind, Type, vector

# SciPy's names, their grid- forms, and those of NumPy that SciPy does not use for something else
# (NumPy's "reflect" is SciPy's "mirror"; here "reflect" means what SciPy means).
BOUNDARY_NAMES: Final = {
    "nearest": "nearest",
    "edge": "nearest",
    "reflect": "reflect",
    "grid-mirror": "reflect",
    "symmetric": "reflect",
    "mirror": "mirror",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}
INTERPOLATIONS: Final = ("nearest", "linear")

_CONVERT: Final[dict[Kind, Callable[[Any], Any]]] = {
    "float": float,
    "int": lambda number: normal(INT, number) if math.isfinite(number) else 0,
    "uint": lambda number: normal(UINT, number) if math.isfinite(number) else 0,
    "bool": bool,
}


class Sampler:
    """A format, a boundary with its constant (a number a channel), an interpolation."""

    __slots__ = ("boundary", "cval", "format", "interpolation", "type")

    def __init__(
        self, format: Format, boundary: str, cval: tuple[Number, ...], interpolation: str
    ) -> None:
        self.format: Final = format
        self.boundary: Final = boundary
        self.cval: Final = cval
        self.interpolation: Final = interpolation
        self.type: Final[Type] = format.type

    def __repr__(self) -> str:
        return f"Sampler({self.format}, {self.boundary!r}, {self.cval}, {self.interpolation!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _interned, (self.format, self.boundary, self.cval, self.interpolation)


@lru_cache(maxsize=4096)
def _interned(
    format: Format, boundary: str, cval: tuple[Number, ...], interpolation: str
) -> Sampler:
    return Sampler(format, boundary, cval, interpolation)


def make(
    format: Format, boundary: str = "nearest", cval: Any = 0.0, interpolation: str = "nearest"
) -> Sampler:
    """The sampler of these, or a ValueError or TypeError that says what is taken."""
    is_usual = type(boundary) is type(interpolation) is str and boundary == interpolation
    if is_usual and boundary == "nearest" and type(cval) is float and cval == 0:
        return _usual(format)
    if type(boundary) is type(interpolation) is str and type(cval) in (float, int, tuple):
        return _named(format, boundary, cval, interpolation, repr(cval))
    return _checked(format, boundary, cval, interpolation)


@lru_cache(maxsize=256)
def _named(format: Format, boundary: str, cval: Any, interpolation: str, text: str) -> Sampler:
    """The sampler of these; `text` has cval as it is written, since 0.0, -0.0 and 0 are equal."""
    return _checked(format, boundary, cval, interpolation)


def _checked(format: Format, boundary: Any, cval: Any, interpolation: Any) -> Sampler:
    return _interned(
        format,
        boundary_name(boundary),
        constant(format, cval),
        interpolation_name(interpolation, format),
    )


@lru_cache(maxsize=256)
def _usual(format: Format) -> Sampler:
    return _interned(format, boundary_name("nearest"), constant(format, 0), "nearest")


def of(image: ImageLike) -> Sampler:
    """How an image is read."""
    return _interned(image.format, image.boundary, image.cval, image.interpolation)


def inherited(parent: Sampler, format: Format) -> Sampler:
    """How a result of another format is read: as the image it was made of, as far as it can."""
    cval = parent.cval
    if len(cval) != format.channels:
        cval = tuple([cval[min(i, len(cval) - 1)] for i in range(format.channels)])
    if format.kind != parent.format.kind:
        cval = tuple([_CONVERT[format.kind](number) for number in cval])
    linear = parent.interpolation == "linear" and format.kind == "float"
    return make(format, parent.boundary, cval, "linear" if linear else "nearest")


def adjusted(
    format: Format, old: Sampler | None, boundary: str | None, cval: Any, interpolation: str | None
) -> Sampler:
    """A sampler of what is given, and for the rest of what it was."""
    if old is not None:
        boundary = old.boundary if boundary is None else boundary
        interpolation = old.interpolation if interpolation is None else interpolation
        if cval is None:
            cval = inherited(old, format).cval
    return make(
        format,
        "nearest" if boundary is None else boundary,
        0.0 if cval is None else cval,
        "nearest" if interpolation is None else interpolation,
    )


@lru_cache(maxsize=256)
def default(dtype: np.dtype[Any], channels: int) -> Sampler:
    """How an array is read that is given without being wrapped."""
    return make(Format(dtype, channels))


def boundary_name(name: str) -> str:
    """A boundary in our own name."""
    if isinstance(name, str) and name in BOUNDARY_NAMES:
        return BOUNDARY_NAMES[name]
    raise ValueError(f"boundary={shown(name)}: takes {', '.join(map(repr, BOUNDARY_NAMES))}")


def interpolation_name(name: str, format: Format) -> str:
    """An interpolation that fits the format."""
    if not isinstance(name, str) or name not in INTERPOLATIONS:
        raise ValueError(f"interpolation={shown(name)}: takes 'nearest' or 'linear'")
    if name == "linear" and format.kind != "float":
        raise ValueError(
            f"interpolation='linear' needs an image of floats, not of {format.kind}s "
            f"({format.dtype}); take 'nearest', or make it an image of float32"
        )
    return name


def constant(format: Format, cval: Any) -> tuple[Number, ...]:
    """cval as a number a channel, in texel units."""
    numbers = np.asarray(cval)
    if numbers.dtype.kind not in "fiub" or numbers.shape not in ((), (format.channels,)):
        raise ValueError(
            f"cval={shown(cval)}: takes one number, or one for each of {format.channels} channels"
        )
    is_int = (numbers == np.trunc(numbers)) & (numbers >= -(2**31)) & (numbers < 2**31)
    if format.kind == "int" and not is_int.all():
        raise ValueError(f"cval={shown(cval)}: an image of ints takes whole numbers of 32 bits")
    if format.kind == "uint" and not (
        np.all(numbers == np.trunc(numbers)) and np.all((numbers >= 0) & (numbers < 2**32))
    ):
        raise ValueError(
            f"cval={shown(cval)}: an image of uints takes whole numbers of 0 to 2**32 - 1"
        )
    if format.kind == "bool" and not np.all((numbers == 0) | (numbers == 1)):
        raise ValueError(f"cval={shown(cval)}: an image of bools takes True and False")
    scalar = vector(format.kind, 1)
    values = np.broadcast_to(numbers, (format.channels,)).tolist()
    constants = [normal(scalar, value) for value in values]
    return tuple([math.nan if c != c else c for c in constants])  # type: ignore[misc]  # one NaN


# ---------------------------------------------------------------- places


def index(boundary: str, place: Sequence[int], sizes: Sequence[int]) -> tuple[int, ...] | None:
    """The place of the texel read at x, y (and z), in an image of that width and height (and
    depth); None where that is the constant."""
    if all(0 <= x < size for x, size in zip(place, sizes, strict=True)):
        return tuple(place)
    if boundary == "constant":
        return None
    return tuple(
        [
            boundaries.index(boundary, boundaries.INTEGERS, x, size)
            for x, size in zip(place, sizes, strict=True)
        ]
    )


def indices(boundary: str, places: NDArray[np.intp], size: int) -> NDArray[np.intp]:
    """The places, along an axis of an image of that size, of the texels that are read there."""
    return np.asarray(boundaries.index(boundary, boundaries.ARRAYS, places, size))
