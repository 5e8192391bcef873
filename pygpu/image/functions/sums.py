"""Sums, extremes and truth of an image's texels: of all, or along NumPy's axes.

    total(image, 0, None, None, False)     # what image.sum(axis=0) gives

The folds of texels to one number stay where the image is, where that is asked for.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from pygpu.core.errors import asked, shown
from pygpu.core.programs import How
from pygpu.core.storage import ImageLike
from pygpu.execution.folds import kept, totals
from pygpu.execution.folds.reduction import reduce
from pygpu.execution.pipelines.deferred import current
from pygpu.image.functions.texels import given, seen

LEAST: Final = 1 << 14  # texels below which NumPy is as quick


def total(image: ImageLike, axis: Any, dtype: Any, out: Any, keepdims: bool) -> Any:
    """np.sum of texels."""
    if axis is None and dtype is None and out is None and keepdims is False:
        known = totals.again(image, "sum")
        if known is not None:
            return known
    _check_axes(image, axis, keepdims)
    if dtype is None and (unseen := _unseen(image, "sum", axis, out, keepdims)) is not None:
        return unseen
    by_channel = None if dtype is not None else _staying(image, axis, out, keepdims)
    number = None if by_channel is None else kept.total(image, by_channel)
    return given(totals.total(image, axis, keepdims), dtype, out) if number is None else number


def mean(image: ImageLike, axis: Any, dtype: Any, out: Any, keepdims: bool) -> Any:
    """np.mean of texels."""
    if axis is None and dtype is None and out is None and keepdims is False:
        known = totals.again(image, "sum")
        if known is not None:
            return known / _count(image)
    _check_axes(image, axis, keepdims)
    if dtype is None and (unseen := _unseen(image, "mean", axis, out, keepdims)) is not None:
        return unseen
    by_channel = None if dtype is not None else _staying(image, axis, out, keepdims)
    number: Any = None if by_channel is None else kept.total(image, by_channel)
    if number is not None:
        return number / (_count(image) // number.size)
    summed = totals.total(image, axis, keepdims)
    return given(summed / (_count(image) // max(np.size(summed), 1)), dtype, out)


def extreme(image: ImageLike, function: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    """np.min or np.max of texels."""
    name: How = "min" if function is np.min else "max"
    if axis is None and out is None and keepdims is False:
        known = totals.again(image, name)
        if known is not None:
            return known
    _check_axes(image, axis, keepdims)
    if (unseen := _unseen(image, name, axis, out, keepdims)) is not None:
        return unseen
    by_channel = _staying(image, axis, out, keepdims)
    pick = np.minimum if function is np.min else np.maximum
    number = None if by_channel is None else kept.extreme(image, pick, by_channel)
    if number is not None:
        return number
    return given(totals.extreme(image, function, axis, keepdims), None, out)


def deviation(image: Any, axis: Any, dtype: Any, out: Any, ddof: float, keepdims: bool) -> Any:
    """np.std of texels."""
    _check_axes(image, axis, keepdims)
    if dtype is None and ddof == 0:
        unseen = _unseen(image, "std", axis, out, keepdims)
        if unseen is not None:
            return unseen
    by_channel = None if dtype is not None else _staying(image, axis, out, keepdims)
    if by_channel is not None:
        squares: Any = kept.total((image - image.mean(axis)) ** 2, by_channel)
        if squares is not None:
            return (squares / (_count(image) // squares.size - ddof)) ** 0.5
    if keepdims is False and is_large(image):
        spread = variance(image, axis, ddof)
        if spread is not None:
            return given(np.sqrt(spread), dtype, out)
    values = seen(image).astype(np.float64)
    return given(asked(np.std, values, axis, ddof=ddof, keepdims=keepdims), dtype, out)


def is_large(image: ImageLike) -> bool:
    """Whether folds of all texels are quicker than NumPy's passes over them, and are read."""
    is_much = image.storage.height * image.storage.width >= LEAST
    return is_much and not kept.keeps("auto", [image])


def variance(image: Any, axis: Any, ddof: float) -> Any:
    """The variance of texels along NumPy's axes: of all numbers by their differences to nearly
    their mean where the device has no code for it, but not of ints, and where not all are finite.
    None where NumPy finds it."""
    spread, count = totals.spread(image, axis, ddof), _count(image)
    is_all = len(totals.checked_axes(axis, len(image.shape))) == len(image.shape)
    if spread is not None or not is_all or image.format.kind != "float" or count <= ddof:
        return spread
    mean = float(np.float32(image.mean()))
    if not np.isfinite(mean):
        return None
    squares, shift = reduce(np.add, image, map=_apart, mean=mean)
    found = np.float64(max(squares - shift * shift / count, 0.0) / (count - ddof))
    return found if np.isfinite(found) else None


def _apart(texel: Any, mean: Any) -> Any:
    """The square of a texel's difference to the mean, and the difference, of all its channels."""
    apart = texel - mean
    return np.sum(apart * apart), np.sum(apart)


def is_any(image: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    """np.any of texels."""
    _check_axes(image, axis, keepdims)
    by_channel = _staying(image, axis, out, keepdims)
    number: Any = None if by_channel is None else kept.total(image != 0, by_channel)
    if number is not None:
        return number > 0
    return given(asked(np.any, image.storage.seen(), axis, keepdims=keepdims), None, out)


def is_all(image: Any, axis: Any, out: Any, keepdims: bool) -> Any:
    """np.all of texels."""
    _check_axes(image, axis, keepdims)
    by_channel = _staying(image, axis, out, keepdims)
    number: Any = None if by_channel is None else kept.total(image == 0, by_channel)
    if number is not None:
        return number == 0
    return given(asked(np.all, image.storage.seen(), axis, keepdims=keepdims), None, out)


def _count(image: ImageLike) -> int:
    """The numbers of all texels."""
    return math.prod(image.storage.shape) * image.storage.channels


def _staying(image: ImageLike, axis: Any, out: Any, keepdims: Any) -> bool | None:
    """Whether texels are reduced to a number for each channel, or to one alone, that stays where
    the image is; None where they are to an array."""
    if out is not None or keepdims or not kept.keeps("auto", [image]):
        return None
    ndim = image.dims + (image.format.channels > 1)
    axes = set(totals.checked_axes(axis, ndim))
    if len(axes) == ndim:
        return False
    return True if axes == set(range(image.dims)) else None


def _unseen(image: ImageLike, name: str, axis: Any, out: Any, keepdims: Any) -> Any:
    """What stands for a number that a pipeline computes with while it is found out what it does
    (execution/pipelines/takes.py); None where the number itself is asked for, or an array."""
    graph = current()
    if graph is None or graph.fold_unseen is None or out is not None or keepdims:
        return None
    ndim = image.dims + (image.format.channels > 1)
    is_one = image.format.kind == "float" and len(totals.checked_axes(axis, ndim)) == ndim
    return graph.fold_unseen(image, name) if is_one else None


def _check_axes(image: ImageLike, axis: Any, keepdims: Any) -> None:
    totals.checked_axes(axis, image.dims + (image.format.channels > 1))
    if not isinstance(keepdims, (bool, np.bool_, int)):
        raise TypeError(f"keepdims: takes True or False, got {shown(keepdims)}")
