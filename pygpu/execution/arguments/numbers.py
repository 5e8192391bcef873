"""Numbers that devices have computed, and that nobody has waited for.

    high = image.max()                 # in a pipeline, on a GPU: a Number
    mask = 0.5 * high                  # another one, computed there
    scaled(image, high)                # the function reads it where it lies
    float(high), high > 1 and ...      # these wait for it

A Number is a storage of one texel; of several channels it is an array of so many numbers. What is
computed with it is a program of images of one pixel.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import guarded, whole
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, NumberLike, Storage
from pygpu.execution.arguments.results import ImageMaker
from pygpu.language.operators import Operators
from pygpu.language.scalars import number


class Number(Operators, NumberLike):
    """See the module's head. Arithmetic, comparisons and NumPy's functions of Numbers and Python's
    numbers give Numbers; whatever asks for the value reads it."""

    __slots__ = ("format", "storage")

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.format = Format(storage.dtype, storage.channels, normalize=False)

    def item(self) -> Any:
        """The number, as Python's; of several, NumPy's array."""
        texel = self.storage.host().reshape(-1)
        return texel.copy() if self.ndim else texel[0].item()

    @property
    def image(self) -> ImageLike:
        """The image of one pixel that it is."""
        return ImageMaker.make(self.storage, make(self.format))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype that it is stored in."""
        return self.format.dtype

    @property
    def size(self) -> int:
        """How many numbers it is."""
        return self.format.channels

    @property
    def ndim(self) -> int:
        """0 of a number, 1 of several."""
        return int(self.size > 1)

    @property
    def shape(self) -> tuple[int, ...]:
        """() of one number, (n,) of several, as NumPy has it."""
        return (self.size,) if self.ndim else ()

    def __len__(self) -> int:
        if not self.ndim:
            raise TypeError("a number has no length")
        return self.size

    def __iter__(self) -> Any:
        if not self.ndim:
            raise TypeError("a number has no parts to go through")
        return iter([self[place] for place in range(self.size)])

    def __getitem__(self, index: Any) -> Any:
        place = whole(index)
        if place is None or not self.ndim or not -self.size <= place < self.size:
            return np.asarray(self)[index]
        image: Any = self.image
        return Number(image[..., place % self.size].storage)

    def sum(self, axis: Any = None, out: Any = None) -> Any:
        """The sum of its numbers."""
        return self._folded(operator.add, np.sum, axis, out)

    def mean(self, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        """Their mean."""
        if dtype is not None or out is not None or axis not in (None, 0, -1):
            return np.mean(np.asarray(self), axis, dtype, out)
        return self._folded(operator.add, np.sum, axis, out) / self.size

    def min(self, axis: Any = None, out: Any = None) -> Any:
        """The least of them."""
        return self._folded(np.minimum, np.min, axis, out)

    def max(self, axis: Any = None, out: Any = None) -> Any:
        """The greatest of them."""
        return self._folded(np.maximum, np.max, axis, out)

    def _folded(self, function: Callable[..., Any], of: Any, axis: Any, out: Any) -> Any:
        """The fold of all of them; by NumPy's function where it is asked for more, as NumPy's own
        functions ask an object's methods."""
        image: Any = self.image
        if out is not None or axis not in (None, 0, -1):
            return of(np.asarray(self), axis, out=out)
        if not self.ndim:
            return self
        parts = [image[..., place] for place in range(self.size)]
        return Number(functools.reduce(function, parts).storage)

    def _binary(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        """Images have operators of their own, with numbers of a device too."""
        other = right if left is self else left
        if isinstance(other, ImageLike):
            return NotImplemented
        if _is_scalar(other):
            return _applied(function, (left, right))
        return function(_read(left), _read(right))

    def _unary(self, function: Callable[..., Any]) -> Any:
        return _applied(function, (self,))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits)

    def __hash__(self) -> int:
        return hash(self.item())

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec)

    def __str__(self) -> str:
        return str(self.item())

    def __repr__(self) -> str:
        return repr(self.item())

    def __reduce__(self) -> Any:
        held = self.item()
        return (np.array, (held,)) if self.ndim else (type(held), (held,))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.storage.host().reshape(self.shape), dtype)

    @guarded
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions: of images by these, of Numbers on the device, of arrays by NumPy."""
        image = next((each for each in inputs if isinstance(each, ImageLike)), None)
        if image is not None:
            beside: Any = image
            return beside.__array_ufunc__(ufunc, method, *inputs, **options)
        if method == "__call__" and not options and all(map(_is_scalar, inputs)):
            return _applied(ufunc, inputs)
        return getattr(ufunc, method)(*map(_read, inputs), **options)


def _is_scalar(value: Any) -> bool:  # or several of a device's
    return isinstance(value, NumberLike) or number(value) is not None


def _read(value: Any) -> Any:
    return value.item() if isinstance(value, NumberLike) else value


def _applied(function: Callable[..., Any], operands: Sequence[Any]) -> Any:
    """A function of numbers of which some are a device's, there."""
    given = [each.image if isinstance(each, Number) else each for each in operands]
    found: Any = function(*given)
    if isinstance(found, tuple):
        return tuple([Number(each.storage) for each in found])
    return Number(found.storage)
