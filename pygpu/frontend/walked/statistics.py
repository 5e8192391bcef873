"""NumPy's statistics of arrays, as Python functions that are walked: quantiles, and what leaves out
NaN. Axes and shapes are known.

    quantile(window, 0.25)      # a sorting network, and a line between two of its elements
"""

import math
from typing import Any, Final

import numpy as np

from pygpu.frontend.walked.asked import refuse
from pygpu.language.vectors import IVec2, IVec3, IVec4

# ---------------------------------------------------------------- along an axis


def along(function: Any, a: Any, axis: Any, keepdims: Any = False) -> Any:
    """A function of each row along an axis, or of all elements; what it gives has one shape."""
    a = np.asarray(a)
    if axis is None:
        result = np.asarray(function(np.ravel(a)))
        return np.reshape(result, (1,) * a.ndim) if keepdims else result[()]
    moved = np.moveaxis(a, axis, -1)
    rows = np.reshape(moved, (-1, moved.shape[-1]))
    results = np.array([function(row) for row in rows])
    result = np.reshape(results, moved.shape[:-1] + results.shape[1:])
    return np.expand_dims(result, axis) if keepdims else result


def apply_along_axis(function: Any, axis: Any, a: Any) -> Any:
    made, axis = along(function, a, axis), axis % np.ndim(a)
    more = np.ndim(made) - np.ndim(a) + 1
    return np.moveaxis(made, tuple(range(-more, 0)), tuple(range(axis, axis + more)))


# ---------------------------------------------------------------- order statistics


def at_quantile(ordered: Any, q: Any, count: Any, method: Any) -> Any:
    """The value at a quantile of the first `count` of elements in order. Hyndman and Fan's
    definition 7, and those that take one of its two neighbours."""
    place = q * (count - 1)
    low = math.floor(place)
    part = place - low
    first, second = ordered[low], ordered[min(low + 1, count - 1)]
    if method == "linear":
        return first + (second - first) * part
    if method == "lower":
        return first
    if method == "higher":
        return np.where(part > 0, second, first)[()]
    if method == "midpoint":
        return np.where(part > 0, (first + second) * 0.5, first)[()]
    if method == "nearest":
        even = low % 2 == 0
        return np.where((part < 0.5) | ((part == 0.5) & even), first, second)[()]
    return refuse(f"np.quantile's method {method!r}", "'linear', 'lower', 'higher', 'nearest'")


def quantile(
    a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    """np.quantile: NaN where an element is."""

    def of_row(row: Any) -> Any:
        ordered = np.sort(row)
        missing = np.isnan(ordered[-1])
        values = [
            np.where(missing, np.nan, at_quantile(ordered, x, len(ordered), method))
            for x in np.ravel(q)
        ]
        return np.reshape(np.array(values), np.shape(q))

    return first_axes(along(of_row, a, axis, keepdims), np.ndim(q))


def nanquantile(
    a: Any, q: Any, axis: Any = None, *, method: Any = "linear", keepdims: Any = False
) -> Any:
    """np.nanquantile: of the elements that are not NaN."""

    def of_row(row: Any) -> Any:
        ordered = np.sort(row)
        count = np.sum(np.logical_not(np.isnan(ordered)))
        last = np.maximum(count, 1)
        values = [
            np.where(count == 0, np.nan, at_quantile(ordered, x, last, method)) for x in np.ravel(q)
        ]
        return np.reshape(np.array(values), np.shape(q))

    return first_axes(along(of_row, a, axis, keepdims), np.ndim(q))


def first_axes(result: Any, count: Any) -> Any:
    """NumPy has the axes of the quantiles first."""
    if count == 0 or np.ndim(result) == count:
        return result
    places = tuple(range(-count, 0))
    return np.moveaxis(result, places, tuple(range(count)))


def percentile(a: Any, q: Any, axis: Any = None, **more: Any) -> Any:
    return quantile(a, np.asarray(q) / 100, axis, **more)


def nanpercentile(a: Any, q: Any, axis: Any = None, **more: Any) -> Any:
    return nanquantile(a, np.asarray(q) / 100, axis, **more)


def nanmedian(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    def of_row(row: Any) -> Any:
        ordered = np.sort(row)
        count = np.sum(np.logical_not(np.isnan(ordered)))
        last = np.maximum(count, 1) - 1
        low, high = ordered[last // 2], ordered[(last + 1) // 2]
        middle = np.where(low == high, low, low * 0.5 + high * 0.5)  # of infinities, too
        return np.where(count == 0, np.nan, middle)[()]

    return along(of_row, a, axis, keepdims)


def ptp(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    return np.max(a, axis=axis, keepdims=keepdims) - np.min(a, axis=axis, keepdims=keepdims)


# ---------------------------------------------------------------- without NaN


def numbers(a: Any) -> Any:
    """Which elements are numbers."""
    return np.logical_not(np.isnan(np.asarray(a)))


def nansum(a: Any, axis: Any = None, **more: Any) -> Any:
    return np.sum(np.asarray(a), axis=axis, where=numbers(a), **more)


def nanprod(a: Any, axis: Any = None, **more: Any) -> Any:
    return np.prod(np.asarray(a), axis=axis, where=numbers(a), **more)


def nancumsum(a: Any, axis: Any = None) -> Any:
    return np.cumsum(np.where(numbers(a), a, 0.0), axis)


def nancumprod(a: Any, axis: Any = None) -> Any:
    return np.cumprod(np.where(numbers(a), a, 1.0), axis)


def nanmean(a: Any, axis: Any = None, **more: Any) -> Any:
    return np.mean(np.asarray(a), axis=axis, where=numbers(a), **more)


def nanvar(a: Any, axis: Any = None, **more: Any) -> Any:
    return np.var(np.asarray(a), axis=axis, where=numbers(a), **more)


def nanstd(a: Any, axis: Any = None, **more: Any) -> Any:
    return np.std(np.asarray(a), axis=axis, where=numbers(a), **more)


def nan_to_num(
    x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    """np.nan_to_num of floats of 32 bits, as dynamic numbers are."""
    if isinstance(x, (int, IVec2, IVec3, IVec4)):
        return +x
    made = np.asarray(x)
    most = float(np.finfo(np.float32).max)
    made = np.where(made == math.inf, most if posinf is None else posinf, made)
    made = np.where(made == -math.inf, -most if neginf is None else neginf, made)
    made = np.where(np.isnan(made), nan, made)[()]
    if copy or not isinstance(x, np.ndarray):
        return made
    x[...] = made
    return x


def nanmax(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    valid = numbers(a)
    some = np.any(valid, axis=axis, keepdims=keepdims)
    most = np.max(np.where(valid, a, -np.inf), axis=axis, keepdims=keepdims)
    return np.where(some, most, np.nan)[()]


def nanmin(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    valid = numbers(a)
    some = np.any(valid, axis=axis, keepdims=keepdims)
    least = np.min(np.where(valid, a, np.inf), axis=axis, keepdims=keepdims)
    return np.where(some, least, np.nan)[()]


def nanargmax(a: Any, axis: Any = None) -> Any:
    return np.argmax(np.where(numbers(a), a, -np.inf), axis=axis)


def nanargmin(a: Any, axis: Any = None) -> Any:
    return np.argmin(np.where(numbers(a), a, np.inf), axis=axis)


# ---------------------------------------------------------------- order


def lexsort(keys: Any, axis: Any = -1) -> Any:
    """np.lexsort: by the last of the keys, where it is equal by the one before."""
    if axis not in (-1, np.ndim(keys) - 2):
        refuse("np.lexsort along an axis", "np.lexsort of keys of one axis")
    first, *others = [np.asarray(key) for key in keys]
    order = np.argsort(first, kind="stable")
    for key in others:
        order = order[np.argsort(key[order], kind="stable")]
    return order


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.apply_along_axis: apply_along_axis,
    np.lexsort: lexsort,
    np.nan_to_num: nan_to_num,
    np.nanargmax: nanargmax,
    np.nanargmin: nanargmin,
    np.nancumprod: nancumprod,
    np.nancumsum: nancumsum,
    np.nanmax: nanmax,
    np.nanmean: nanmean,
    np.nanmedian: nanmedian,
    np.nanmin: nanmin,
    np.nanpercentile: nanpercentile,
    np.nanprod: nanprod,
    np.nanquantile: nanquantile,
    np.nanstd: nanstd,
    np.nansum: nansum,
    np.nanvar: nanvar,
    np.percentile: percentile,
    np.ptp: ptp,
    np.quantile: quantile,
}
