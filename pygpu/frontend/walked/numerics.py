"""NumPy's functions of arrays, as Python functions: they are walked like the user's own, where
their arguments are not known. Arrays may be lists, vectors and rows of tables; axes and shapes are
known.

    interp(x, [0, 1, 4], [1, 2, 3])      # a search, and a line between two of the points
"""

import bisect
import math
from typing import Any, Final

import numpy as np

# ---------------------------------------------------------------- choosing


def choose(a: Any, choices: Any) -> Any:
    """np.choose; without checks an index out of range gives the first or the last choice."""
    if np.any(np.asarray(a) < 0) or np.any(np.asarray(a) >= len(choices)):
        raise ValueError("invalid entry in choice array")
    result = choices[0]
    for place in range(1, len(choices)):
        result = np.where(np.asarray(a) >= place, choices[place], result)
    return result[()]


def piecewise(x: Any, conditions: Any, functions: Any) -> Any:
    """np.piecewise: the last condition that holds decides; a function more is for none."""
    result: Any = 0.0
    if len(functions) > len(conditions):
        result = piece(functions[-1], x)
    for place in range(len(conditions)):
        result = np.where(conditions[place], piece(functions[place], x), result)
    return result


def piece(function: Any, x: Any) -> Any:
    return function(x) if callable(function) else function


# ---------------------------------------------------------------- tables and intervals


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None) -> Any:
    """np.interp: a line through known points, flat outside them."""
    x = np.asarray(x)[()] if isinstance(x, (list, tuple)) else x
    result = fp[0]
    for k in range(len(xp) - 1):
        span = xp[k + 1] - xp[k]
        part = np.clip((x - xp[k]) / span, 0.0, 1.0) if span != 0 else (x >= xp[k]) * 1.0
        result = result + (fp[k + 1] - fp[k]) * part
    if left is not None:
        result = np.where(x < xp[0], left, result)[()]
    if right is not None:
        result = np.where(x > xp[-1], right, result)[()]
    return result


def polyval(p: Any, x: Any) -> Any:
    """np.polyval, by Horner's rule."""
    x = np.asarray(x) if isinstance(x, (list, tuple)) else x
    result: Any = None
    for factor in p:
        result = factor + 0 * x if result is None else result * x + factor
    return 0 * x if result is None else result


def searchsorted(a: Any, v: Any, side: Any = "left") -> Any:
    """np.searchsorted in a sequence that is sorted, NaN last: how many elements come before."""
    v = np.asarray(v) if isinstance(v, (list, tuple)) else v
    is_left = side == "left"
    place, numbers = 0, 0
    for x in a:
        place = place + (x < v if is_left else x <= v)
        numbers = numbers + (x == x)
    return np.where(np.isnan(v), numbers if is_left else len(a), place)[()]


def bisect_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    place = lo
    for each in a if lo == 0 and hi is None else a[lo:hi]:
        place = place + ((each if key is None else key(each)) < x)
    return place


def bisect_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> Any:
    place = lo
    for each in a if lo == 0 and hi is None else a[lo:hi]:
        place = place + (not x < (each if key is None else key(each)))
    return place


def insort_left(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_left(a, x if key is None else key(x), lo, hi, key=key), x)


def insort_right(a: Any, x: Any, lo: Any = 0, hi: Any = None, *, key: Any = None) -> None:
    a.insert(bisect_right(a, x if key is None else key(x), lo, hi, key=key), x)


def digitize(x: Any, bins: Any, right: Any = False) -> Any:
    """np.digitize, for bins that rise or fall."""
    side = "left" if right else "right"
    if bins[0] > bins[-1]:
        return len(bins) - searchsorted(bins[::-1], x, side)
    return searchsorted(bins, x, side)


def take(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Any:
    if out is not None:
        raise TypeError("np.take of dynamic values takes no out=")
    if axis is None:
        return take(np.ravel(np.asarray(a)), indices, 0, mode=mode)
    a = np.reshape(a, 1) if np.ndim(a) == 0 else np.asarray(a)
    indices = indices + 0 if np.ndim(indices) == 0 else indices  # a bool is a place here
    length = a.shape[axis]
    if mode == "clip":
        indices = np.clip(np.asarray(indices), 0, length - 1)
    elif mode == "wrap":
        indices = np.asarray(indices) % length
    elif mode != "raise":
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    return a[(*(slice(None),) * (axis % np.ndim(a)), indices)]


def linspace(
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
) -> Any:
    """np.linspace; its last element is `stop` itself."""
    start, stop = np.asarray(start) * 1.0, np.asarray(stop) * 1.0
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts > 0 else math.nan
    rows = [start + step * place for place in range(num)]
    if endpoint and num > 1:
        rows[-1] = np.where(np.ones(np.shape(start), bool), stop, start)
    made = np.array(rows) if axis == 0 else np.moveaxis(np.array(rows), 0, axis)
    if dtype is not None:
        made = made.astype(dtype) if np.dtype(dtype).kind == "f" else np.floor(made).astype(dtype)
    return (made, step) if retstep else made


def trace(a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1) -> Any:
    return np.sum(np.diagonal(np.asarray(a), offset, axis1, axis2), axis=-1)


def vecdot(x1: Any, x2: Any, axis: Any = -1) -> Any:
    return np.sum(np.conj(x1) * x2, axis)


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """np.histogram: a bin has its lower edge, the last one both. Counts and edges."""
    items = np.ravel(a)
    if np.ndim(bins) == 0:
        if range is None:
            low, high = np.min(items), np.max(items)
            same = low == high
            low, high = np.where(same, low - 0.5, low), np.where(same, high + 0.5, high)
        else:
            low, high = range
        edges = np.linspace(low, high, bins + 1)
    else:
        edges = np.asarray(bins)
    factors = None if weights is None else np.ravel(weights)
    counts = []
    for place, low in enumerate(edges[:-1]):
        high = edges[place + 1]
        below = items <= high if place == len(edges) - 2 else items < high
        inside = (items >= low) & below
        counts.append(np.sum(inside if factors is None else np.where(inside, factors, 0)))
    made = np.array(counts)
    if density:
        made = made / (np.diff(edges) * np.sum(made))
    return made, edges


# ---------------------------------------------------------------- differences and sums


def gradient(f: Any, *spacing: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """np.gradient: central differences, one-sided ones at the ends; an array for each axis."""
    f = _whole(np.asarray(f))
    axes = range(f.ndim) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    steps = spacing if len(spacing) > 1 else (spacing or (1.0,)) * len(axes)
    if len(steps) != len(axes):
        raise TypeError("invalid number of arguments")
    made = [along_axis(f, step, place, edge_order) for step, place in zip(steps, axes, strict=True)]
    return made[0] if len(made) == 1 else tuple(made)


def along_axis(f: Any, step: Any, axis: Any, edge_order: Any) -> Any:
    rows = np.moveaxis(f, axis, 0)
    n = len(rows)
    if n < edge_order + 1:
        raise ValueError("Shape of array too small to calculate a numerical gradient")
    is_even = np.ndim(step) == 0
    gaps = [step] * (n - 1) if is_even else list(np.diff(step))
    slopes = [(rows[k + 1] - rows[k]) / gaps[k] for k in range(n - 1)]
    inner = []
    for k in range(1, n - 1):
        if is_even:  # whatever the element between is: it may be NaN
            inner.append((rows[k + 1] - rows[k - 1]) / (2.0 * step))
            continue
        before, after = gaps[k - 1], gaps[k]
        # Each slope is weighted by the other side's gap: exact for parabolas.
        inner.append((slopes[k - 1] * after + slopes[k] * before) / (before + after))
    first, last = slopes[0], slopes[-1]
    if edge_order == 2:
        bend = (slopes[1] - slopes[0]) / (gaps[0] + gaps[1])
        first = slopes[0] - bend * gaps[0]
        bend = (slopes[-1] - slopes[-2]) / (gaps[-1] + gaps[-2])
        last = slopes[-1] + bend * gaps[-1]
    return np.moveaxis(np.array([first, *inner, last]), 0, axis)


def diff(a: Any, n: Any = 1, axis: Any = -1, prepend: Any = None, append: Any = None) -> Any:
    """np.diff: of bools, where they change."""
    a = np.asarray(a)
    shape = [1 if place == axis % a.ndim else side for place, side in enumerate(a.shape)]
    parts = [
        x if np.ndim(x) else np.broadcast_to(x, shape)
        for x in (prepend, a, append)
        if x is not None
    ]
    rows = np.moveaxis(np.concatenate(parts, axis), axis, 0)
    for _ in range(n):
        rows = rows[1:] ^ rows[:-1] if a.dtype == bool else rows[1:] - rows[:-1]
    return np.moveaxis(rows, 0, axis)


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * math.pi) -> Any:
    """np.unwrap of floats: jumps of half a period and more become the shorter way."""
    p = np.moveaxis(np.asarray(p), axis, 0)
    jumps, half = p[1:] - p[:-1], period / 2
    short = (jumps + half) % period - half
    short = np.where((short == -half) & (jumps > 0), half, short)
    added = np.where(np.abs(jumps) < (half if discont is None else discont), 0.0, short - jumps)
    return np.moveaxis(np.concatenate((p[:1], p[1:] + np.cumsum(added, 0))), 0, axis)


def sinc(x: Any) -> Any:
    y = np.pi * (np.asarray(x) if isinstance(x, (list, tuple)) else x)
    return np.where(y == 0, 1.0, np.sin(y) / np.where(y == 0, 1.0, y))[()]


def cross(a: Any, b: Any, axis: Any = -1) -> Any:
    """np.cross, of rows of two and three along an axis."""
    a, b = np.moveaxis(np.asarray(a), axis, -1), np.moveaxis(np.asarray(b), axis, -1)
    if a.shape[-1] == 2 and b.shape[-1] == 2:
        return (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])[()]
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2] if a.shape[-1] == 3 else 0.0
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2] if b.shape[-1] == 3 else 0.0
    parts = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx]
    return np.moveaxis(np.array(parts), 0, axis)


# ---------------------------------------------------------------- shapes


def shape(a: Any) -> Any:
    """np.shape: what an object says of itself, else that of the array it would make."""
    if hasattr(a, "shape"):
        return a.shape
    if isinstance(a, (dict, set, frozenset, str, bytes)):
        return ()
    is_sequence = hasattr(a, "__len__") and hasattr(a, "__getitem__")
    return np.asarray(list(a)).shape if is_sequence else ()


def ndim(a: Any) -> Any:
    return a.ndim if hasattr(a, "ndim") else len(shape(a))


def size(a: Any, axis: Any = None) -> Any:
    if axis is None:
        return a.size if hasattr(a, "size") else math.prod(shape(a))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod([shape(a)[each] for each in axes])


# ---------------------------------------------------------------- comparison


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    a = np.asarray(a) if isinstance(a, (list, tuple)) else a
    b = np.asarray(b) if isinstance(b, (list, tuple)) else b
    a, b = _whole(a), _whole(b)
    near = (abs(a - b) <= atol + rtol * abs(b)) & np.isfinite(b) | (a == b)
    return near | (np.isnan(a) & np.isnan(b)) if equal_nan else near


def _whole(x: Any) -> Any:
    """Integers of fewer bits, whose differences wrap, as ints."""
    dtype = getattr(x, "dtype", None)
    is_narrow = dtype is not None and dtype.kind in "iu" and dtype.itemsize < 4
    return x.astype(int) if is_narrow else x


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: Any = False) -> Any:
    return bool(np.all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a: Any, b: Any, equal_nan: Any = False) -> Any:
    a, b = np.asarray(a), np.asarray(b)
    if a.shape != b.shape:
        return False
    same = a == b
    return bool(np.all(same | (np.isnan(a) & np.isnan(b)) if equal_nan else same))


def isin(element: Any, test_elements: Any, *, invert: Any = False) -> Any:
    element = np.asarray(element)
    found = np.zeros_like(element, bool)
    for value in np.ravel(test_elements):
        found = found | (element == value)
    return found ^ True if invert else found


# ---------------------------------------------------------------- places


def ndenumerate(a: Any) -> Any:
    a = np.asarray(a)
    return iter([(place, a[place]) for place in np.ndindex(a.shape)])


def unravel_index(indices: Any, shape: Any, order: Any = "C") -> Any:
    places = []
    for size in shape[::-1] if order == "C" else shape:
        places.append(indices % size)
        indices = indices // size
    return tuple(places[::-1] if order == "C" else places)


def ravel_multi_index(multi_index: Any, dims: Any) -> Any:
    """An index that lies outside in one axis is not looked for: NumPy raises."""
    place = 0
    for index, size in zip(multi_index, dims, strict=True):
        place = place * size + index
    return place


def fromiter(items: Any, dtype: Any, count: Any = -1) -> Any:
    made = list(items)
    return np.array(made if count < 0 else made[:count], dtype)


def accumulate(combine: Any, a: Any) -> Any:
    """A ufunc's method `accumulate`, along the first axis."""
    rows = list(np.asarray(a))
    for place in range(1, len(rows)):
        rows[place] = combine(rows[place - 1], rows[place])
    return np.array(rows)


def outer(function: Any) -> Any:
    """A ufunc's method `outer`: of all pairs."""

    def of_pairs(a: Any, b: Any) -> Any:
        a = np.asarray(a)
        return function(np.reshape(a, a.shape + (1,) * np.ndim(b)), b)

    return of_pairs


def running_sum(a: Any, axis: Any = 0) -> Any:
    return np.cumsum(a, axis)


def running_product(a: Any, axis: Any = 0) -> Any:
    return np.cumprod(a, axis)


def running_max(a: Any, axis: Any = 0) -> Any:
    return np.moveaxis(accumulate(np.maximum, np.moveaxis(np.asarray(a), axis, 0)), 0, axis)


def running_min(a: Any, axis: Any = 0) -> Any:
    return np.moveaxis(accumulate(np.minimum, np.moveaxis(np.asarray(a), axis, 0)), 0, axis)


def take_along_axis(arr: Any, indices: Any, axis: Any = -1) -> Any:
    if axis is None:
        return take(np.ravel(arr), np.ravel(indices))
    a = np.moveaxis(np.asarray(arr), axis, -1)
    at = np.moveaxis(np.asarray(indices), axis, -1)
    shape = np.broadcast_shapes(a.shape[:-1], at.shape[:-1])
    rows = np.reshape(np.broadcast_to(a, (*shape, a.shape[-1])), (-1, a.shape[-1]))
    places = np.reshape(np.broadcast_to(at, (*shape, at.shape[-1])), (-1, at.shape[-1]))
    taken = [row[k] for row, ks in zip(rows, places, strict=True) for k in ks]
    return np.moveaxis(np.reshape(np.array(taken), (*shape, at.shape[-1])), -1, axis)


# The functions by what means them.
MEANT: Final[dict[Any, Any]] = {
    np.allclose: allclose,
    np.array_equal: array_equal,
    np.choose: choose,
    np.diff: diff,
    np.digitize: digitize,
    np.fromiter: fromiter,
    np.gradient: gradient,
    np.shape: shape,
    np.ndim: ndim,
    np.size: size,
    np.histogram: histogram,
    np.interp: interp,
    np.isclose: isclose,
    np.isin: isin,
    np.linspace: linspace,
    np.ndenumerate: ndenumerate,
    np.piecewise: piecewise,
    np.polyval: polyval,
    np.ravel_multi_index: ravel_multi_index,
    np.searchsorted: searchsorted,
    np.sinc: sinc,
    np.take: take,
    np.trace: trace,
    np.take_along_axis: take_along_axis,
    np.unravel_index: unravel_index,
    np.unwrap: unwrap,
    bisect.bisect_left: bisect_left,
    bisect.bisect_right: bisect_right,
    bisect.insort_left: insort_left,
    bisect.insort_right: insort_right,
    **{
        function.outer: outer(function)
        for function in (
            *(np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power),
            *(np.arctan2, np.hypot, np.equal, np.less, np.greater, np.floor_divide, np.remainder),
        )
    },
    **({np.vecdot: vecdot} if hasattr(np, "vecdot") else {}),  # since NumPy 2.0
    np.add.accumulate: running_sum,
    np.multiply.accumulate: running_product,
    np.maximum.accumulate: running_max,
    np.minimum.accumulate: running_min,
}
