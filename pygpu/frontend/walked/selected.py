"""NumPy's functions of arrays of which only the device knows how long they are, as Python functions
that are walked: what masks select, the places where a condition holds, the different elements. And
those that change arrays in place.

    places = np.flatnonzero(x > 0.5)      # all places, and for each the test
    values, counts = np.unique(x, return_counts=True)
"""

from typing import Any, Final

import numpy as np

from pygpu.frontend.walked.asked import alike, first, fits, needed, packed, refuse, selection, slots

# ---------------------------------------------------------------- what was selected


def padding(items: Any, least: Any) -> Any:
    """What is after all others in order, or before them."""
    if np.asarray(items).dtype.kind == "f":
        return -np.inf if least else np.nan
    return np.min(items) if least else np.max(items)


def sort(a: Any, axis: Any = -1, kind: Any = None, **more: Any) -> Any:
    items, tests = slots(a)
    return first(np.sort(np.where(tests, items, padding(items, False))), np.sum(tests))


def argsort(a: Any, axis: Any = -1, kind: Any = None, **more: Any) -> Any:
    items, count = packed(a)
    tests = np.arange(len(items)) < count
    return first(np.argsort(np.where(tests, items, padding(items, False))), count)


def argmax(a: Any, axis: Any = None) -> Any:
    items, tests = slots(a)
    needed(np.any(tests))
    place = np.argmax(np.where(tests, items, padding(items, True)))
    return np.cumsum(tests)[place] - tests[place]


def argmin(a: Any, axis: Any = None) -> Any:
    return argmax(-a)


def cumsum(a: Any, axis: Any = None) -> Any:
    items, tests = slots(a)
    return alike(np.cumsum(np.where(tests, items, 0)), a)


def cumprod(a: Any, axis: Any = None) -> Any:
    items, tests = slots(a)
    return alike(np.cumprod(np.where(tests, items, 1)), a)


def diff(a: Any, n: Any = 1, axis: Any = -1) -> Any:
    for _ in range(n):
        a = a[1:] - a[:-1]
    return a


def concatenate(arrays: Any, axis: Any = 0) -> Any:
    pairs = [slots(a) for a in arrays]
    return selection(*[np.concatenate(parts) for parts in zip(*pairs, strict=True)])


def append(arr: Any, values: Any, axis: Any = None) -> Any:
    return concatenate((arr, values))


def dot(a: Any, b: Any) -> Any:
    return np.sum(a * b)


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    return np.mean(a, axis) if weights is None else np.sum(a * weights) / np.sum(weights)


def zeros_like(a: Any, dtype: Any = None) -> Any:
    return alike(np.zeros_like(slots(a)[0], dtype), a)


def same(a: Any) -> Any:
    return a


# ---------------------------------------------------------------- places


def nonzero(a: Any) -> Any:
    items, tests = slots(a)
    shape = np.shape(a)
    if len(items) != np.size(a):  # the places among those that were selected
        items, count = packed(a)
        tests, shape = np.arange(len(items)) < count, (len(items),)
    holds = tests & (items != 0)
    return tuple([selection(np.ravel(places), holds) for places in np.indices(shape)])


def flatnonzero(a: Any) -> Any:
    return nonzero(np.ravel(a))[0]


def argwhere(a: Any) -> Any:
    a = np.asarray(a)
    places = np.argwhere(np.ones(a.shape, bool))
    return selection(places, np.ravel(a) != 0)


def extract(condition: Any, arr: Any) -> Any:
    return np.ravel(arr)[np.ravel(condition) != 0]


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    where = np.asarray(condition) != 0
    return extract(where, a) if axis is None else np.take(a, np.flatnonzero(where), axis)


# ---------------------------------------------------------------- different elements


def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """np.unique: the elements in order, each where the one before it is another."""
    if axis is not None:
        return refuse("np.unique along an axis", "np.unique of all elements")
    items, count = packed(ar)
    there = np.arange(len(items)) < count
    ordered = np.sort(np.where(there, items, padding(items, False)))
    is_new = ordered[1:] != ordered[:-1]
    if equal_nan:
        is_new = is_new & ((ordered[1:] == ordered[1:]) | (ordered[:-1] == ordered[:-1]))
    is_new = np.concatenate(([True], is_new)) & there
    ranks = np.cumsum(is_new)
    made = [selection(ordered, is_new)]
    if return_index:
        places = [np.argmax((items == x) | ((items != items) & (x != x))) for x in ordered]
        made.append(selection(np.array(places), is_new))
    if return_inverse:
        below = [np.where(x == x, np.sum(is_new & (ordered < x)), ranks[-1] - 1) for x in items]
        made.append(np.reshape(np.array(below), np.shape(ar)))
    if return_counts:
        counts = [np.sum((ranks == rank) & there) for rank in ranks]
        made.append(selection(np.array(counts), is_new))
    return tuple(made) if len(made) > 1 else made[0]


def bincount(x: Any, /, weights: Any = None, minlength: Any = 0) -> Any:
    """np.bincount, of numbers below `minlength`, or below 64 where that is not given."""
    items, tests = slots(x)
    needed(np.all(np.logical_not(tests) | (items >= 0)), "there are negative elements")
    size = minlength or 64
    message = (
        f"np.bincount was given a number of {size} or more: give a minlength that is above all"
    )
    fits(np.all(np.logical_not(tests) | (items < size)), message)
    parts = 1 if weights is None else weights
    counts = [np.sum(np.where(tests & (items == place), parts, 0)) for place in range(size)]
    if minlength:
        return np.array(counts)
    return first(np.array(counts), np.max(np.where(tests, items, -1)) + 1)


def union1d(ar1: Any, ar2: Any) -> Any:
    return unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


def intersect1d(ar1: Any, ar2: Any) -> Any:
    found = unique(ar1)
    return found[np.isin(found, ar2)]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    found = np.ravel(ar1) if assume_unique else unique(ar1)
    return found[np.isin(found, ar2, invert=True)]


# Of what masks select: where other arguments are given, the functions have meanings of their own.
OF_SELECTIONS: Final[dict[Any, Any]] = {
    np.sort: sort,
    np.argsort: argsort,
    np.argmax: argmax,
    np.argmin: argmin,
    np.cumsum: cumsum,
    np.cumprod: cumprod,
    np.diff: diff,
    np.concatenate: concatenate,
    np.hstack: concatenate,
    np.append: append,
    np.dot: dot,
    np.inner: dot,
    np.vdot: dot,
    np.average: average,
    np.zeros_like: zeros_like,
    np.ravel: same,
    np.squeeze: same,
    np.copy: same,
    np.atleast_1d: same,
}


# ---------------------------------------------------------------- what changes arrays in place


def fill_diagonal(a: Any, val: Any, wrap: Any = False) -> None:
    if wrap:
        refuse("np.fill_diagonal(wrap=True)", "a loop over the rows")
    values = np.ravel(np.asarray(val))
    for k in range(min(np.shape(a))):
        a[(k,) * np.ndim(a)] = values[k % len(values)]


def copyto(dst: Any, src: Any, casting: Any = "same_kind", where: Any = True) -> None:
    dst[...] = src if where is True else np.where(where, src, dst)


def putmask(a: Any, mask: Any, values: Any) -> None:
    a[...] = np.where(mask, np.resize(np.asarray(values), np.shape(a)), a)


def place(arr: Any, mask: Any, vals: Any) -> None:
    if np.size(vals) != 1:
        refuse("np.place() of several values", "np.putmask() or np.where()")
    putmask(arr, mask, vals)


def put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    if mode != "raise":
        refuse(f"np.put(mode={mode!r})", "np.put() of places that are clipped or taken modulo")
    values, elements = np.ravel(np.asarray(v)), a.reshape(-1)
    for k, index in enumerate(np.ravel(np.asarray(ind))):
        elements[index] = values[k % len(values)]


def at(function: Any, a: Any, indices: Any, *b: Any) -> None:
    """The method `at` of a ufunc: each place in turn, so that one may be met again."""
    is_several = isinstance(indices, tuple)
    axes = [np.ravel(np.asarray(each)) for each in (indices if is_several else (indices,))]
    places = list(zip(*axes, strict=True)) if is_several else list(axes[0])
    shape = (len(places), *np.shape(a)[len(axes) :])
    rows = [np.broadcast_to(np.asarray(each), shape) for each in b]
    for k, index in enumerate(places):
        a[index] = function(a[index], *[each[k] for each in rows])


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.nonzero: nonzero,
    np.flatnonzero: flatnonzero,
    np.argwhere: argwhere,
    np.extract: extract,
    np.compress: compress,
    np.bincount: bincount,
    np.unique: unique,
    np.union1d: union1d,
    np.intersect1d: intersect1d,
    np.setdiff1d: setdiff1d,
    np.fill_diagonal: fill_diagonal,
    np.copyto: copyto,
    np.putmask: putmask,
    np.place: place,
    np.put: put,
}
