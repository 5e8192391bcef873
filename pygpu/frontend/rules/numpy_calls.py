"""NumPy's functions on values that are not known.

Those with a meaning of their own on the device have a rule here; whatever else only moves and adds
elements runs in NumPy itself (numpy_objects.py).
"""

from __future__ import annotations

import bisect
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from pygpu.frontend.protocols import arithmetic, arrays, operators
from pygpu.frontend.protocols.arithmetic import elementwise
from pygpu.frontend.protocols.operands import vector_type
from pygpu.frontend.protocols.operators import fold
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.rules.ordering import first_extreme, middle, nans_last
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_complex
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Indexed
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.values import Abstract, Builtin, Tuple, scalar_kind, tuple_of
from pygpu.frontend.walked import library
from pygpu.types import Kind, widest

Rule = Callable[..., Any]


def _flat(w: Evaluator, xs: Any) -> list[Any]:
    """All elements of an array, vector or nested sequence, in C order."""
    return list(arrays.to_objects(w, xs).reshape(-1))


def _lazy(w: Evaluator, xs: Any) -> Any:
    """The long sequence that a list is, its groups as they are; None if its items are listed."""
    lazy = w.read(xs) if isinstance(xs, List) else xs
    if not isinstance(lazy, Indexed):
        return None
    return Indexed(lazy.length, lazy.make, lazy.what, lazy.of)


# ---------------------------------------------------------------- reductions


def _reduction(combine: Callable[[Any, list[Any]], Any], long: str = "") -> Rule:
    """A reduction over all elements, or along an axis. `long`: the function of
    frontend/walked/library.py that does it for long sequences."""

    def rule(w: Evaluator, xs: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        lazy = _lazy(w, xs)
        if axis is None and lazy is not None and long:
            return w.call(getattr(library, long), lazy)
        array = arrays.to_objects(w, xs)
        if axis is None:
            return combine(w, list(array.reshape(-1)))
        axes = axis if isinstance(axis, tuple) else (axis,)
        axes = tuple([place % array.ndim for place in axes])
        rest = [place for place in range(array.ndim) if place not in axes]
        moved = array.transpose([*rest, *axes])
        shape = moved.shape[: len(rest)]
        rows = moved.reshape(*shape, -1).reshape(-1, int(np.prod(moved.shape[len(rest) :])))
        results = [combine(w, list(row)) for row in rows]
        made = arrays.array_of(results, shape)
        return made if shape else results[0]

    return rule


def _sum(w: Evaluator, items: list[Any]) -> Any:
    return fold(w, "+", items) if items else 0.0


def _mean(w: Evaluator, items: list[Any]) -> Any:
    return operators.binary(w, "/", fold(w, "+", items), float(len(items)))


def _mean_of(w: Evaluator, xs: Any, axis: Any = None, **more: Any) -> Any:
    return _reduction(_mean, "np_mean_of")(w, xs, axis, **more)


def _variance(w: Evaluator, items: list[Any], ddof: int = 0) -> Any:
    mean = _mean(w, items)
    squares = []
    for item in items:
        off = operators.binary(w, "-", item, mean)
        squares.append(operators.binary(w, "*", off, off))
    return operators.binary(w, "/", fold(w, "+", squares), float(len(items) - ddof))


def _var(w: Evaluator, xs: Any, axis: Any = None, *, ddof: Any = 0, **more: Any) -> Any:
    return _reduction(lambda w, items: _variance(w, items, ddof))(w, xs, axis, **more)


def _std(w: Evaluator, xs: Any, axis: Any = None, **more: Any) -> Any:
    return elementwise(w, "sqrt", (_var(w, xs, axis, **more),), "float")


def _any(w: Evaluator, items: list[Any]) -> Any:
    return w.call(any, tuple_of(tuple(items)))


def _all(w: Evaluator, items: list[Any]) -> Any:
    return w.call(all, tuple_of(tuple(items)))


def _average(w: Evaluator, xs: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return _mean_of(w, xs, axis)
    items, factors = _flat(w, xs), _flat(w, weights)
    products = [operators.binary(w, "*", x, f) for x, f in zip(items, factors, strict=True)]
    return operators.binary(w, "/", fold(w, "+", products), fold(w, "+", factors))


def _norm(w: Evaluator, xs: Any, ord: Any = None, axis: Any = None) -> Any:
    if ord not in (None, 2) or axis is not None:
        raise w.error("np.linalg.norm takes a vector alone here: the root of its squares' sum")
    squares = [operators.binary(w, "*", item, item) for item in _flat(w, xs)]
    return elementwise(w, "sqrt", (fold(w, "+", squares),), "float")


# ---------------------------------------------------------------- extremes and order


def _extremum(code: str) -> Rule:
    """np.maximum and np.minimum: NaN if either is."""
    symbol = ">" if code == "max" else "<"

    def scalar(w: Evaluator, a: Any, b: Any) -> Any:
        kinds = scalar_kind(a), scalar_kind(b)
        if "float" not in kinds:
            return elementwise(w, code, (a, b))
        if not isinstance(a, Abstract):
            a, b = b, a  # the operation keeps a NaN in its first operand
        if not isinstance(b, Abstract):
            return b if b != b else elementwise(w, code, (a, b))
        if a is b:
            return a
        beyond = arithmetic.compare(w, symbol, b, a)
        either = arithmetic.binary(w, "|", beyond, arithmetic.compare(w, "!=", b, b))
        return arithmetic.select(w, either, b, a)

    def rule(w: Evaluator, a: Any, b: Any) -> Any:
        a, b = arithmetic.without_dimensions(w, (a, b)) or (a, b)
        if scalar_kind(a) and scalar_kind(b):
            return scalar(w, a, b)
        if vector_type(a) or vector_type(b):
            if "float" not in {_kind(a), _kind(b)} or not (
                isinstance(a, Abstract) and isinstance(b, Abstract)
            ):
                first, second = (a, b) if isinstance(a, Abstract) else (b, a)
                return elementwise(w, code, (first, second))
            beyond = arithmetic.compare(w, symbol, b, a)
            either = arithmetic.binary(w, "|", beyond, arithmetic.compare(w, "!=", b, b))
            return arithmetic.select(w, either, b, a)
        return arrays.each(w, a, b, lambda x, y: scalar(w, x, y))

    return rule


def _extreme(code: str) -> Rule:
    """np.min and np.max."""
    lesser = _extremum(code)
    return _reduction(lambda w, items: reduce(lambda a, b: lesser(w, a, b), items), f"np_{code}_of")


def _kind(value: Any) -> Kind | None:
    type = vector_type(value)
    return type.kind if type else scalar_kind(value)


def _ignoring_nan(code: str) -> Rule:
    """np.fmax and np.fmin: the other where one is NaN."""

    def rule(w: Evaluator, a: Any, b: Any) -> Any:
        both = elementwise(w, code, (a, b))
        return where(w, elementwise(w, "isnan", (a,), "float"), b, both)

    return rule


def _clip(w: Evaluator, x: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    low, high = more.get("min", low), more.get("max", high)
    low, high = more.get("a_min", low), more.get("a_max", high)
    if low is not None:
        x = elementwise(w, "max", (x, low))
    if high is not None and x is not NotImplemented:
        x = elementwise(w, "min", (x, high))
    return x


def median(w: Evaluator, xs: Any, axis: Any = None) -> Any:
    if axis is not None:
        return _reduction(middle)(w, xs, axis)
    return middle(w, _flat(w, xs))


def _sort(w: Evaluator, xs: Any, axis: Any = -1) -> Any:
    array = arrays.to_objects(w, xs)
    rows = array.reshape(-1, array.shape[-1]) if axis in (-1, array.ndim - 1) else None
    if rows is None:
        raise w.error("np.sort sorts along the last axis here")
    ordered = [item for row in rows for item in nans_last(w, list(row))]
    return arrays.array_of(ordered, array.shape)


def _position_of(symbol: str) -> Rule:
    """np.argmax and np.argmin."""

    def rule(w: Evaluator, xs: Any, axis: Any = None) -> Any:
        if axis is not None and len(arrays.to_objects(w, xs).shape) > 1:
            raise w.error("np.argmin and np.argmax take all elements here, not an axis")
        return first_extreme(w, symbol, _flat(w, xs))

    return rule


def where(w: Evaluator, condition: Any, *choices: Any) -> Any:
    """np.where(condition, a, b)"""
    if len(choices) != 2:
        raise w.error("np.where takes a condition and two values here")
    a, b = choices
    parts = (condition, a, b)
    if all(scalar_kind(part) or is_complex(part) for part in parts) or any(map(vector_type, parts)):
        if scalar_kind(condition) and scalar_kind(condition) != "bool":
            condition = operators.compare(w, "!=", condition, 0)
        if not isinstance(condition, Abstract) and scalar_kind(condition):
            return a if condition else b
        result = arithmetic.select(w, condition, a, b)
        if result is not NotImplemented:
            return result
    spread = np.broadcast_arrays(*[arrays.to_objects(w, part) for part in parts])
    rows = zip(*[array.reshape(-1) for array in spread], strict=True)
    return arrays.array_of([where(w, *row) for row in rows], spread[0].shape)


# ---------------------------------------------------------------- products and making arrays


def _dot(w: Evaluator, a: Any, b: Any) -> Any:
    if scalar_kind(a) or scalar_kind(b):
        return operators.binary(w, "*", a, b)
    return operators.matmul(w, _as_array(w, a), _as_array(w, b))


def _as_array(w: Evaluator, value: Any) -> Any:
    """Nested sequences as arrays; vectors, matrices and arrays as they are."""
    if isinstance(value, (List, Tuple, list, tuple)):
        items = items_of(w, value)
        if not all(map(scalar_kind, items)):
            return Array(arrays.to_objects(w, value))
    return value


def _cross(w: Evaluator, a: Any, b: Any) -> Any:
    (ax, ay, az), (bx, by, bz) = items_of(w, a), items_of(w, b)
    parts = []
    for p, q, r, s in ((ay, bz, az, by), (az, bx, ax, bz), (ax, by, ay, bx)):
        first, second = operators.binary(w, "*", p, q), operators.binary(w, "*", r, s)
        parts.append(operators.binary(w, "-", first, second))
    if vector_type(a) or vector_type(b):
        like = a if vector_type(a) else b
        return arrays.vector_like(w, parts, like)
    return arrays.array_of(parts, (3,))


def _array(w: Evaluator, xs: Any, dtype: Any = None, **more: Any) -> Any:
    array = arrays.to_objects(w, xs)
    made = arrays.array_of(array.reshape(-1), array.shape)
    if dtype is not None:
        method = w.method(made, "astype")
        assert method is not None
        return method.call(dtype)
    return made


def _round(w: Evaluator, x: Any, decimals: Any = 0) -> Any:
    if decimals == 0:
        return elementwise(w, "round", (x,), "float")
    scaled = operators.binary(w, "*", x, 10.0**decimals)
    return operators.binary(w, "/", elementwise(w, "round", (scaled,), "float"), 10.0**decimals)


def _select_first(w: Evaluator, conditions: Any, choices: Any, default: Any = 0) -> Any:
    """np.select: the choice of the first condition that holds."""
    result = default
    pairs = zip(items_of(w, conditions), items_of(w, choices), strict=True)
    for condition, choice in reversed(list(pairs)):
        result = where(w, condition, choice, result)
    return result


def _count_nonzero(w: Evaluator, xs: Any) -> Any:
    tests = [
        part if _kind(part) == "bool" else operators.compare(w, "!=", part, 0)
        for part in _flat(w, xs)
    ]
    return fold(w, "+", [0, *tests])


def _argsort(w: Evaluator, xs: Any) -> Any:
    """The indices that sort: a stable sort of pairs by their first."""
    items = _flat(w, xs)
    order = w.call(sorted, range(len(items)), key=Builtin("key", lambda index: items[index]))
    return arrays.array_of(items_of(w, order), (len(items),))


def _like(value: float | None) -> Rule:
    """np.zeros_like and its like: floats, unless all elements are integers."""

    def rule(w: Evaluator, xs: Any, *fill: Any, dtype: Any = None, **more: Any) -> Any:
        array = arrays.to_objects(w, xs)
        number = fill[0] if value is None else value
        kind = widest("int", *[scalar_kind(p) or "float" for p in [*array.reshape(-1), number]])
        filler = arrays.cast(w, number, kind)
        made = arrays.array_of([filler] * array.size, array.shape)
        return made if dtype is None else _array(w, made, dtype)

    return rule


def _full(w: Evaluator, shape: Any, value: Any, dtype: Any = None) -> Any:
    sides = concrete(w, shape)
    sides = (sides,) if isinstance(sides, int) else tuple(sides)
    return _array(w, arrays.array_of([value] * int(np.prod(sides)), sides), dtype)


def _in_library(name: str) -> Rule:
    """A function of pygpu/frontend/walked/library.py, which is walked."""

    function = getattr(library, name)

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        return w.call(function, *args, **keywords)

    return rule


def _trace(w: Evaluator, xs: Any) -> Any:
    return fold(w, "+", list(np.diagonal(arrays.to_objects(w, xs))))


def _logical(method: str) -> Rule:
    def rule(w: Evaluator, a: Any, b: Any) -> Any:
        symbol = {"and": "&", "or": "|", "xor": "^"}[method]
        tests = [
            value if _kind(value) == "bool" else operators.compare(w, "!=", value, 0)
            for value in (a, b)
        ]
        return operators.binary(w, symbol, *tests)

    return rule


NUMPY_RULES: Final[dict[Any, Rule]] = {
    np.sum: _reduction(_sum, "np_sum_of"),
    np.mean: _mean_of,
    np.prod: _reduction(lambda w, items: fold(w, "*", items), "np_prod_of"),
    **{function: _extreme("min") for function in (np.min, np.amin)},
    **{function: _extreme("max") for function in (np.max, np.amax)},
    np.var: _var,
    np.std: _std,
    np.any: _reduction(_any, "np_any_of"),
    np.all: _reduction(_all, "np_all_of"),
    np.average: _average,
    np.linalg.norm: _norm,
    np.maximum: _extremum("max"),
    np.minimum: _extremum("min"),
    np.fmax: _ignoring_nan("max"),
    np.fmin: _ignoring_nan("min"),
    np.clip: _clip,
    np.isscalar: lambda w, x: scalar_kind(x) is not None,
    np.round: _round,
    np.around: _round,
    np.sort: _sort,
    np.median: median,
    np.argmax: _position_of(">"),
    np.argmin: _position_of("<"),
    np.where: where,
    np.dot: _dot,
    np.inner: _dot,
    np.vdot: _dot,
    np.cross: _cross,
    np.array: _array,
    np.asarray: _array,
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: _like(None),
    np.empty_like: _like(0.0),
    np.full: _full,
    np.select: _select_first,
    np.count_nonzero: _count_nonzero,
    np.argsort: _argsort,
    np.trace: _trace,
    np.interp: _in_library("interp"),
    np.polyval: _in_library("polyval"),
    np.searchsorted: _in_library("searchsorted"),
    np.digitize: _in_library("digitize"),
    np.take: _in_library("take"),
    bisect.bisect_left: _in_library("bisect_left"),
    bisect.bisect_right: _in_library("bisect_right"),
    np.isclose: _in_library("isclose"),
    np.ptp: _in_library("ptp"),
    np.logical_and: _logical("and"),
    np.logical_or: _logical("or"),
    np.logical_xor: _logical("xor"),
}
