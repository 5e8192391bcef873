"""NumPy's functions on values that are not known.

Those with a meaning of their own on the device have a rule here; whatever else only moves and adds
elements runs in NumPy itself (pygpu/frontend/calls/numpy_objects.py).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.frontend.numbers import arithmetic, narrow
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.numbers.operands import number_in, vector_type
from pygpu.frontend.protocols import arrays, datamodel, operators, products
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.rules.ordering import nans_last, places_in_order
from pygpu.frontend.rules.reductions import REDUCTION_RULES, extremum, flat, holds, kind_of
from pygpu.frontend.rules.walked_calls import in_python, later_from, walked_as
from pygpu.frontend.values.callables import Bound
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Masked, lifted
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.values import Abstract, NotKnown, Tuple, describe, tuple_of
from pygpu.frontend.walked import fitting, linear, numerics, selected, special, statistics
from pygpu.types import INTEGERS, widest


def _ignoring_nan(code: str) -> Rule:
    """np.fmax and np.fmin: the other where one is NaN."""

    def rule(w: Evaluator, a: Any, b: Any) -> Any:
        both = elementwise(w, code, (a, b))
        if kind_of(a) in INTEGERS and kind_of(b) in INTEGERS:
            return both
        return where(w, elementwise(w, "isnan", (a,), "float"), b, both)

    return rule


def _clip(w: Evaluator, x: Any, low: Any = None, high: Any = None, **more: Any) -> Any:
    low, high = more.pop("min", low), more.pop("max", high)
    low, high = more.pop("a_min", low), more.pop("a_max", high)
    if more:
        raise w.error(f"numpy.clip() of dynamic values takes no {' and no '.join(more)}")
    if low is not None:
        x = _GREATER(w, x, low)
    if high is not None and x is not NotImplemented:
        x = _LESSER(w, x, high)
    return _array(w, x) if isinstance(x, (List, Tuple, list, tuple)) else x


_GREATER: Final = extremum("max")
_LESSER: Final = extremum("min")


def _sort(w: Evaluator, xs: Any, axis: Any = -1, kind: Any = None, stable: Any = None) -> Any:
    """np.sort: NaN last. Equal numbers cannot be told apart, so all kinds are one."""
    return _by_lines(w, xs, axis, lambda row: nans_last(w, list(row)))


def _roll(w: Evaluator, xs: Any, shift: Any, axis: Any = None) -> Any:
    """np.roll by as many places as only the device knows; others only move elements."""
    if not scalar_kind(shift) or not isinstance(shift, Abstract):
        return NotImplemented

    def rolled(row: Any) -> list[Any]:
        items = Tuple(tuple(row))
        at = [w.binary("-", place, shift) for place in range(len(row))]
        return [w.item(items, w.binary("%", each, len(row))) for each in at]

    made, shape = _by_lines(w, xs, axis, rolled), arrays.to_objects(w, xs).shape
    return w.call(np.reshape, made, shape) if axis is None else made


def _by_lines(w: Evaluator, xs: Any, axis: Any, function: Callable[[Any], Any]) -> Any:
    """An array with a function applied to its lines along an axis (None: all as one line)."""
    array = arrays.to_objects(w, xs)
    if axis is None:
        array, axis = array.reshape(-1), 0
    moved = np.moveaxis(array, axis, -1)
    rows = moved.reshape(-1, moved.shape[-1])
    lines = np.empty(rows.shape, object)
    for place, row in enumerate(rows):
        lines[place] = function(row)
    made = np.moveaxis(lines.reshape(moved.shape), -1, axis)
    return arrays.array_of(made.reshape(-1), made.shape)


def where(w: Evaluator, condition: Any, *choices: Any) -> Any:
    """np.where(condition, a, b)"""
    if not choices:
        return w.call(np.nonzero, condition)
    a, b = choices
    parts = (condition, a, b)
    selected = lifted(lambda *row: where(w, *row), parts)
    if selected is not NotImplemented:
        return selected
    if all(scalar_kind(part) or is_complex(part) for part in parts) or any(map(vector_type, parts)):
        if scalar_kind(condition):
            condition = holds(w, condition)
        if scalar_kind(a) in INTEGERS and scalar_kind(b) in INTEGERS:
            a, b = narrow.together(w, a, b)
        a, b = _of_one_kind(w, a, b)
        if not isinstance(condition, Abstract) and scalar_kind(condition):
            return a if condition else b
        result = arithmetic.select(w, condition, a, b)
        if result is not NotImplemented:
            return result
    rows, shape = arrays.spread(w, parts)
    if not any(map(arrays.is_array, parts)) and shape == ():
        wrong = next(part for part in parts if not scalar_kind(part))
        raise w.error(f"where() takes numbers, vectors and arrays, got {describe(wrong)}")
    return arrays.array_of([where(w, *row) for row in rows], shape)


def _of_one_kind(w: Evaluator, a: Any, b: Any) -> tuple[Any, Any]:
    """Two numbers of the kind that an array of both has; other values as they are."""
    kinds = {scalar_kind(part) for part in (a, b)}
    if len(kinds) == 1 or None in kinds or kinds >= {"int", "uint"}:
        return a, b
    kind = widest(*kinds)  # type: ignore[arg-type]
    return arrays.cast(w, a, kind), arrays.cast(w, b, kind)


# ---------------------------------------------------------------- products and making arrays


def _dot(w: Evaluator, a: Any, b: Any) -> Any:
    a, b = number_in(w, a), number_in(w, b)
    if scalar_kind(a) or scalar_kind(b):
        return operators.binary(w, "*", a, b)
    return products.matmul(w, _as_array(w, a), _as_array(w, b))


def _matmul(w: Evaluator, a: Any, b: Any) -> Any:
    if scalar_kind(a) or scalar_kind(b):
        raise ValueError("matmul: an input operand does not have enough dimensions")
    return products.matmul(w, _as_array(w, a), _as_array(w, b))


def _inner(w: Evaluator, a: Any, b: Any) -> Any:
    """np.inner: the products of rows with rows."""
    if not arrays.is_array(b) or arrays.to_objects(w, b).ndim < 2:
        return _dot(w, a, b)
    return _dot(w, a, Array(arrays.to_objects(w, b).T))


def _vdot(w: Evaluator, a: Any, b: Any) -> Any:
    """np.vdot: of all elements, in order."""
    conjugated = [w.call(np.conjugate, x) if is_complex(x) else x for x in flat(w, a)]
    return _dot(w, tuple_of(tuple(conjugated)), tuple_of(tuple(flat(w, b))))


def _as_array(w: Evaluator, value: Any) -> Any:
    """Nested sequences as arrays; vectors, matrices and arrays as they are."""
    if isinstance(value, (List, Tuple, list, tuple)):
        items = items_of(w, value)
        if not all(map(scalar_kind, items)):
            return Array(arrays.to_objects(w, value))
    return value


def _cross(w: Evaluator, a: Any, b: Any, axis: Any = -1) -> Any:
    made = w.call(numerics.cross, a, b, axis)
    like = a if vector_type(a) else b
    return arrays.vector_like(w, list(items_of(w, made)), like) if vector_type(like) else made


def _array(w: Evaluator, xs: Any, dtype: Any = None, **more: Any) -> Any:
    least = concrete(w, more.pop("ndmin", 0))
    if least:
        made = _array(w, xs, dtype, **more)
        shape = arrays.to_objects(w, made).shape
        return w.call(np.reshape, made, ((1,) * (least - len(shape)) + shape))
    copy = more.pop("copy", True)
    if getattr(copy, "value", copy) is not True:  # that of NumPy's enumeration
        return _asarray(w, xs, dtype, **more)
    if isinstance(xs, Masked) and dtype is None:
        return xs  # which nobody can change
    array = arrays.to_objects(w, xs)
    if dtype is None:
        array = arrays.of_one_kind(w, array)
    made = Array(array) if array.ndim == 0 else arrays.array_of(array.reshape(-1), array.shape)
    if dtype is not None:
        method = w.method(made, "astype")
        assert method is not None
        return method.call(dtype)
    return made


def _asarray(w: Evaluator, xs: Any, dtype: Any = None, **more: Any) -> Any:
    """np.asarray: an array of that dtype is itself."""
    if isinstance(xs, Array) and not more:
        kind = None if dtype is None else arrays.certain_kind(w, w.read(xs))
        if dtype is None or (kind is not None and np.dtype(dtype) == _ITSELF.get(kind)):
            return xs
    return _array(w, xs, dtype, **more)


def _broadcast_arrays(w: Evaluator, *xs: Any, **more: Any) -> Any:
    """np.broadcast_arrays of numbers: arrays of no dimensions."""
    if more or not all(map(scalar_kind, xs)):
        return NotImplemented
    made = tuple([_array(w, x) for x in xs])
    return tuple_of(made) if isinstance(np.broadcast_arrays(0), tuple) else List(made)


def _result_type(w: Evaluator, *xs: Any) -> Any:
    """np.result_type, of arrays by their dtypes and of Python's numbers as such."""

    def known(x: Any) -> Any:
        if isinstance(x, Array):
            return arrays.own_dtype(w, x)
        if not isinstance(x, Abstract):
            return x
        if not scalar_kind(x):
            raise w.error(f"np.result_type() takes numbers, arrays and dtypes, got {describe(x)}")
        cls: Any = datamodel.certain_class(w, x)
        return np.dtype(cls) if issubclass(cls, np.generic) else cls(0)

    return np.result_type(*map(known, xs))


def _common_type(w: Evaluator, *xs: Any) -> Any:
    """np.common_type: the class of floats that arrays have in common."""
    dtypes = [arrays.dtype_of(w, arrays.to_objects(w, x)) for x in xs]
    return np.common_type(*[np.empty(0, dtype) for dtype in dtypes])


_ITSELF: Final = {kind.__name__: np.dtype(kind) for kind in (float, int, bool)}


def _round(w: Evaluator, x: Any, decimals: Any = 0) -> Any:
    if isinstance(decimals, Abstract):
        raise w.error(f"np.round() takes a known number of decimals, got {describe(decimals)}")
    decimals = operator.index(decimals)
    if arrays.is_array(x):
        return arrays.each(w, x, 0, lambda element, _: _round(w, element, decimals))
    if kind_of(x) in INTEGERS:
        if decimals < 0:
            return in_python(special.round_int)(w, x, decimals)
        return x if scalar_kind(x) else operators.unary(w, "+", x)  # another vector
    if decimals == 0:
        return elementwise(w, "round", (x,), "float")
    return arithmetic.to_places(w, x, decimals)


def _select_first(w: Evaluator, conditions: Any, choices: Any, default: Any = 0) -> Any:
    """np.select: the choice of the first condition that holds."""
    result = default
    pairs = zip(items_of(w, conditions), items_of(w, choices), strict=True)
    for condition, choice in reversed(list(pairs)):
        result = where(w, condition, choice, result)
    return result


def _argsort(w: Evaluator, xs: Any, axis: Any = -1, **more: Any) -> Any:
    """The indices that sort, stably."""
    return _by_lines(w, xs, axis, lambda row: places_in_order(w, list(row)))


def _like(value: float | None) -> Rule:
    """np.zeros_like and its like: of what the elements are of."""

    def rule(w: Evaluator, xs: Any, *fill: Any, dtype: Any = None, **more: Any) -> Any:
        if value is None and not fill:
            raise TypeError("full_like() missing 1 required positional argument: 'fill_value'")
        if value is not None and fill:
            (dtype,) = fill
        array = arrays.to_objects(w, xs)
        numbers = _repeated(w, fill[0] if value is None else value, array.shape)
        dtype = arrays.first_dtype(xs) if dtype is None else dtype
        if dtype is not None or array.size == 0:
            made = arrays.array_of(numbers, array.shape)
            return made if dtype is None else _array(w, made, dtype)
        return arrays.array_of([arrays.as_element(w, array, n) for n in numbers], array.shape)

    return rule


def _full(w: Evaluator, shape: Any, value: Any, dtype: Any = None) -> Any:
    try:
        sides = concrete(w, shape)
    except NotKnown:
        raise w.error(f"the shape of np.full must be known, got {describe(shape)}") from None
    sides = (sides,) if isinstance(sides, int) else tuple(sides)
    return _array(w, arrays.array_of(_repeated(w, value, sides), sides), dtype)


def _repeated(w: Evaluator, value: Any, shape: tuple[int, ...]) -> list[Any]:
    """The elements of an array of a shape that is filled with a value, which may be an array."""
    return list(np.broadcast_to(arrays.to_objects(w, value), shape).reshape(-1))


def _logical(symbol: str) -> Rule:
    return lambda w, a, b: operators.binary(w, symbol, holds(w, a), holds(w, b))


def _of_dynamic_length(function: Any) -> Rule:
    """A function whose result is as long as the values have it."""

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        raise w.error(
            f"how long np.{function.__name__}'s result is depends on the values: make it as long "
            "as it can get, and use the first n, as in np.zeros(16)[:n]"
        )

    return rule


def _roots(w: Evaluator, *coefficients: Any) -> Any:
    raise w.error(
        "in which order np.roots gives its results only LAPACK knows: of a*x*x + b*x + c they are "
        "(-b + d) / (2*a) and (-b - d) / (2*a), with d = math.sqrt(b*b - 4*a*c), or cmath.sqrt "
        "where they may be complex; for more coefficients take steps of Newton's in a loop"
    )


NUMPY_RULES: Final[dict[Any, Rule]] = {
    **REDUCTION_RULES,
    **{
        function: walked_as(meaning)
        for module in (numerics, statistics, linear, fitting, selected)
        for function, meaning in module.MEANT.items()
    },
    **{f: _of_dynamic_length(f) for f in (np.zeros, np.ones, np.empty, np.eye, np.identity)},
    np.vectorize: lambda w, function, **more: Bound(fitting.for_each, (function,)),
    np.packbits: later_from(special, "packbits"),
    np.unpackbits: later_from(special, "unpackbits"),
    np.roots: _roots,
    np.maximum: _GREATER,
    np.minimum: _LESSER,
    np.fmax: _ignoring_nan("max"),
    np.fmin: _ignoring_nan("min"),
    np.clip: _clip,
    np.isscalar: lambda w, x: bool(scalar_kind(x) or is_complex(x)),
    np.round: _round,
    np.around: _round,
    np.roll: _roll,
    np.sort: _sort,
    np.where: where,
    np.dot: _dot,
    np.matmul: _matmul,
    np.inner: _inner,
    np.vdot: _vdot,
    np.cross: _cross,
    np.array: _array,
    np.asarray: _asarray,
    np.asanyarray: _asarray,
    np.copy: _array,
    np.broadcast_arrays: _broadcast_arrays,
    np.result_type: _result_type,
    np.common_type: _common_type,
    np.zeros_like: _like(0.0),
    np.ones_like: _like(1.0),
    np.full_like: _like(None),
    np.empty_like: _like(0.0),
    np.full: _full,
    np.select: _select_first,
    np.argsort: _argsort,
    np.logical_and: _logical("&"),
    np.logical_or: _logical("|"),
    np.logical_xor: _logical("^"),
}


_OF_SEVERAL: Final = (np.concatenate, np.hstack)


def _of_selections(function: Any, meaning: Any) -> Rule:
    """A function whose meaning is another where it is given what a mask selects."""
    other = NUMPY_RULES.get(function)

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        is_some = isinstance(args[0], (Tuple, List)) and function in _OF_SEVERAL
        given = w.items(args[0]) if is_some else args
        if any(isinstance(arg, Masked) for arg in given):
            return w.call(meaning, *args, **keywords)
        return NotImplemented if other is None else other(w, *args, **keywords)

    return rule


NUMPY_RULES.update(
    {function: _of_selections(function, it) for function, it in selected.OF_SELECTIONS.items()}
)
