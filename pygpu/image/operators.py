"""What makes an image behave like an array: operators, NumPy's functions, sums, crops.

Operators and ufuncs are compiled functions of texels, as functions see them (uint8 in [0, 1]).

    (0.5 * im + 0.5).sum(axis=(0, 1)); im[10:20, ::2]; np.sqrt(im)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np

from pygpu.core.errors import asked, guarded
from pygpu.core.host.later import later
from pygpu.core.storage import ImageLike, NumberLike, UnseenNumber
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.programs.options import Options
from pygpu.language.elementwise import check
from pygpu.language.operators import Operators
from pygpu.language.scalars import number
from pygpu.language.vectors import Vector

with later():
    from pygpu.execution import vectorized
    from pygpu.image import crops
    from pygpu.image.functions import dispatch, sums, texels


@lru_cache(maxsize=256)
def texelwise(function: Callable[..., Any]) -> vectorized.Vectorized:
    """A function of texels, compiled once for all images."""
    return vectorized.Vectorized(function, Options(), {})


def _operand(value: Any) -> bool:
    """Whether an operator takes it."""
    return (
        isinstance(value, (ImageLike, NumberLike, np.ndarray, Vector, tuple, list))
        or number(value) is not None
        or hasattr(value, "__array_interface__")
    )


def _as_texels(value: Any, beside: ImageLike) -> Any:
    """An operand beside an image: arrays of as many axes as it has coordinates, or more, are such
    images, too, as `Image` has it. Beside a signal of several channels an array of one axis is a
    colour, as NumPy has it."""
    dims = beside.dims
    if isinstance(value, (ImageLike, NumberLike)) or number(value) is not None:
        return value
    if isinstance(value, (tuple, list)):
        value = np.asarray(value)
    if not isinstance(value, Vector) and np.ndim(value) >= (
        2 if beside.format.channels > 1 else dims
    ):
        return ImageMaker.wrap(value, dims)
    return value


def _texels_among(operands: Sequence[Any]) -> list[Any]:
    """The operands, arrays as what the image among them is."""
    image = next((value for value in operands if isinstance(value, ImageLike)), None)
    return list(operands) if image is None else [_as_texels(value, image) for value in operands]


def _apply(function: Callable[..., Any], *operands: Any) -> Any:
    if function in _POWERS and _is_known_power(*operands):
        exponent = operands[1]
        number = int if isinstance(exponent, (int, np.integer)) else float
        return _to_the(number(exponent))(*_texels_among(operands[:1]))
    known = _known_among(operands)
    if known:
        places = dict(known)
        operands = tuple([v for place, v in enumerate(operands) if place not in places])
        function = _beside(function, known)
    return texelwise(function)(*_texels_among(operands))


def _known_among(operands: Sequence[Any]) -> tuple[tuple[int, int], ...]:
    """The integers among operands, by their places, that are compiled for themselves: beside texels
    of 32 bits without a sign, for what is an argument has a sign."""
    if not any(isinstance(v, ImageLike) and v.format.kind == "uint" for v in operands):
        return ()
    ints = (int, np.integer)
    each = enumerate(operands)
    return tuple([(k, int(v)) for k, v in each if isinstance(v, ints) and not isinstance(v, bool)])


@lru_cache(maxsize=256)
def _beside(function: Callable[..., Any], known: tuple[tuple[int, int], ...]) -> Callable[..., Any]:
    """The function of texels alone, its other operands known."""
    numbers = dict(known)

    def of_texels(*texels: Any) -> Any:
        rest = iter(texels)
        places = range(len(texels) + len(numbers))
        return function(*[numbers[k] if k in numbers else next(rest) for k in places])

    return of_texels


_POWERS: Final = (operator.pow, np.power)
LARGEST_POWER: Final = 64  # that is compiled for itself


def _is_known_power(image: Any, exponent: Any) -> bool:
    """Whether it is an image to the power of a number that is compiled for itself: products and
    square roots are exact where a power of what is an argument errs. Ints and bools take whole
    numbers so, for an argument might be negative, and the result a fraction."""
    if not isinstance(image, ImageLike) or isinstance(exponent, (bool, np.bool_)):
        return False
    if isinstance(exponent, UnseenNumber):
        exponent = exponent.item()
    if isinstance(exponent, (int, np.integer)):
        return bool(0 <= exponent <= LARGEST_POWER)
    if isinstance(exponent, (float, np.floating)):
        is_whole = float(exponent).is_integer()
        return exponent == 0.5 or (is_whole and bool(0 <= exponent <= LARGEST_POWER))
    return False


@lru_cache(maxsize=2 * LARGEST_POWER, typed=True)
def _to_the(exponent: float) -> vectorized.Vectorized:
    """The function of texels that raises them to a power."""
    return texelwise(lambda texel: texel**exponent)


class ArrayMethods(Operators, ImageLike):
    """Operators, ufuncs, reductions and crops of an image."""

    __slots__ = ()

    def _binary(self, function: Callable[..., Any], left: Any, right: Any) -> Any:
        taken = _operand(right if left is self else left)
        return _apply(function, left, right) if taken else NotImplemented

    def _unary(self, function: Callable[..., Any]) -> Any:
        """Of bools, `~` is their negation."""
        is_negation = function is operator.invert and self.format.kind == "bool"
        return _apply(np.logical_not if is_negation else function, self)

    @guarded
    def __matmul__(self, other: Any) -> Any:
        """The product of matrices, an array, as NumPy's is."""
        return asked(np.matmul, self, other) if _operand(other) else NotImplemented

    @guarded
    def __rmatmul__(self, other: Any) -> Any:
        return asked(np.matmul, other, self) if _operand(other) else NotImplemented

    @guarded
    def __bool__(self) -> bool:
        raise ValueError("the truth of an image is ambiguous: use np.any(im) or np.all(im)")

    @guarded
    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """NumPy's functions of images, on the device: the result is an image. Their methods
        (`np.add.reduce`) and options give arrays, of texels as functions see them."""
        if isinstance(kwargs.get("out"), tuple):
            texels.check_out(*kwargs["out"])
        if ufunc.signature is not None:
            return self.__array_function__(ufunc, (), inputs, kwargs)
        if method != "__call__" or kwargs.keys() - {"out", "dtype"}:
            arrays = [_array(each) for each in inputs]
            options = {name: _array(value) for name, value in kwargs.items()}
            if method == "at" and isinstance(inputs[0], ImageLike):
                raise TypeError("an image cannot be written to: take a copy, np.array(image)")
            return asked(getattr(ufunc, method), *arrays, **options)
        out = kwargs.pop("out", None)
        dtype = kwargs.pop("dtype", None)
        if not all(map(_operand, inputs)):
            return NotImplemented
        if dtype is None:
            result = _apply(ufunc, *inputs)
        else:
            result = texelwise(ufunc)(*_texels_among(inputs), dtype=dtype)
        if out is None:
            return result
        results = result if isinstance(result, tuple) else (result,)
        for array, image in zip(out, results, strict=True):
            asked(np.copyto, array, np.asarray(image), casting="same_kind")
        return out if isinstance(result, tuple) else out[0]

    @guarded
    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's other functions: see functions/dispatch.py."""
        return dispatch.called(func, args, kwargs)

    # ---- crops

    @guarded
    def __getitem__(self, index: Any) -> Any:
        """A crop (`im[10:20, ::2]`) or channels (`im[..., :3]`): an image, read as this one is.
        Anything else, whole numbers above all, gives what NumPy gives of the texels."""
        return crops.crop(self, index)

    # ---- reductions

    @property
    @guarded
    def T(self) -> Any:  # noqa: N802  # NumPy's name
        """The axes reversed, as NumPy has it: np.transpose. A grey image or a signal stays on the
        device; of a colour image channels come first then, which no image has, so it is an array:
        np.transpose(image, (1, 0, 2)) is the picture turned over its diagonal."""
        return np.transpose(self)  # type: ignore[call-overload]

    @guarded
    def sum(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """The sum of texels: of all, or along NumPy's axes. Ints and bools are exact in 64 bits,
        floats are summed in 64."""
        return sums.total(self, axis, dtype, out, keepdims)

    @guarded
    def mean(
        self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        """The mean of texels, of all or along NumPy's axes."""
        return sums.mean(self, axis, dtype, out, keepdims)

    @guarded
    def min(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The least texel, of all or along NumPy's axes."""
        return sums.extreme(self, np.min, axis, out, keepdims)

    @guarded
    def max(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """The greatest texel, of all or along NumPy's axes."""
        return sums.extreme(self, np.max, axis, out, keepdims)

    @guarded
    def std(
        self,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: float = 0,
        keepdims: bool = False,
    ) -> Any:
        """The standard deviation of texels, of all or along NumPy's axes."""
        return sums.deviation(self, axis, dtype, out, ddof, keepdims)

    @guarded
    def any(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether some texel is not zero."""
        return sums.is_any(self, axis, out, keepdims)

    @guarded
    def all(self, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        """Whether no texel is zero."""
        return sums.is_all(self, axis, out, keepdims)

    @guarded
    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        """Texels held between two values, as numpy.clip does."""
        check("clip", tuple(bound for bound in (min, max) if bound is not None))
        if options:
            return asked(np.clip, texels.seen(self), min, max, out=out, **options)
        result: Any = self if min is None else asked(np.maximum, self, min)
        if max is not None:
            result = asked(np.minimum, result, max)
        return texels.given(result, None, out)

    @guarded
    def __contains__(self, value: Any) -> bool:
        return bool(np.any(texels.seen(self) == value))


def _array(value: Any) -> Any:
    return texels.seen(value) if isinstance(value, ImageLike) else value
