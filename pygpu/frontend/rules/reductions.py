"""NumPy's reductions of values that are not known: all elements, or those along axes.

A `Fold` says how the elements of one row become one value, and what a row may be given in place of
an element that does not count (`where=`, or an element that a dynamic mask leaves out).

    reduction(SUM)(w, xs, axis=1, keepdims=True)     # np.sum(xs, axis=1, keepdims=True)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import reduce
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.frontend.numbers import arithmetic, narrow
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.numbers.operands import vector_type, without_dimensions
from pygpu.frontend.protocols import arrays, comparisons, datamodel, operators, selections
from pygpu.frontend.protocols.operators import fold
from pygpu.frontend.rules.ordering import first_extreme, middle
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.kinds import is_complex, is_narrow, narrow_dtype, scalar_kind
from pygpu.frontend.values.lazy import Indexed, Masked
from pygpu.frontend.values.objects import List
from pygpu.frontend.values.values import Abstract, tuple_of
from pygpu.types import INTEGERS, Kind

with later():
    from pygpu.frontend.walked import library

_NOT_GIVEN: Final = object()


@record
class Fold:
    """How a row of elements becomes one value."""

    combine: Callable[[Evaluator, list[Any]], Any]
    # what leaves the result as it is, of a kind; None where `counted` is asked instead
    neutral: Callable[[Kind], Any] | None = None
    # the same of the elements whose tests hold
    counted: Callable[[Evaluator, list[Any], list[Any]], Any] | None = None
    long: Rule | None = None  # the same of a long sequence

    def of(self, w: Evaluator, items: list[Any], tests: list[Any] | None) -> Any:
        """The value of a row; of the elements alone whose tests hold, where there are tests."""
        if tests is None or all(test is True for test in tests):
            return self.combine(w, items)
        if self.counted is not None:
            return self.counted(w, items, tests)
        if self.neutral is None:
            raise w.error("where= and dynamic masks have no meaning in this function")
        return self.combine(w, chosen(w, items, tests, self.neutral))


def chosen(
    w: Evaluator, items: list[Any], tests: list[Any], neutral: Callable[[Kind], Any]
) -> list[Any]:
    """The elements whose tests hold, and what is neutral in place of the others: bools are counted
    where that is an int."""
    kind = scalar_kind(neutral("bool"))
    items = [arrays.cast(w, x, kind) if scalar_kind(x) == "bool" else x for x in items]
    pairs = zip(tests, items, strict=True)
    return [arithmetic.select(w, t, x, neutral(scalar_kind(x) or "float")) for t, x in pairs]


def flat(w: Evaluator, xs: Any) -> list[Any]:
    """All elements of an array, vector or nested sequence, in C order."""
    return list(arrays.to_objects(w, xs).reshape(-1))


def _lazy(w: Evaluator, xs: Any) -> Any:
    """The long sequence that a list is, its groups as they are; None if its items are listed."""
    lazy = w.read(xs) if isinstance(xs, List) else xs
    if not isinstance(lazy, Indexed):
        return None
    return Indexed(lazy.length, lazy.make, lazy.what, lazy.of)


def reduction(how: Fold) -> Rule:
    """NumPy's function: over all elements, or along an axis or several."""

    def rule(
        w: Evaluator,
        xs: Any,
        axis: Any = None,
        dtype: Any = None,
        *,
        keepdims: Any = False,
        initial: Any = _NOT_GIVEN,
        where: Any = True,
    ) -> Any:
        def row(items: list[Any], truths: list[Any] | None) -> Any:
            given = initial is not _NOT_GIVEN
            more = [*arrays.first(w, initial, items), *items] if given else items
            return how.of(w, more, [True, *truths] if given and truths is not None else truths)

        if isinstance(xs, Masked):
            return along(w, row, selections.narrowed(w, xs, where, dtype), axis, keepdims)
        plain = dtype is None and initial is _NOT_GIVEN and where is True
        lazy = _lazy(w, xs)
        if axis is None and lazy is not None and how.long is not None and plain:
            return how.long(w, lazy)
        if dtype is not None:
            xs = astype(w, xs, dtype)
        array = arrays.to_objects(w, xs)
        tests = None if where is True else np.broadcast_to(arrays.to_objects(w, where), array.shape)

        made = along(w, row, array, axis, keepdims, tests)
        is_sum = how in (SUM, PRODUCT) and dtype is not None and is_narrow(np.dtype(dtype))
        return astype(w, made, dtype) if is_sum else made

    return rule


def along(
    w: Evaluator,
    function: Callable[[list[Any], list[Any] | None], Any],
    array: np.ndarray[Any, Any] | Masked,
    axis: Any,
    keepdims: Any = False,
    tests: Any = None,
) -> Any:
    """A function of the elements along axes, and of their tests: one value for each row."""
    if isinstance(array, Masked):
        rows_of_it = [arrays.to_objects(w, item) for item in array.items]
        if axis not in (None, 0, -1 - rows_of_it[0].ndim):
            inner = axis - 1 if axis > 0 else axis
            made = [along(w, function, item, inner, keepdims) for item in rows_of_it]
            return Masked(made, array.tests, array.length)
        tests = np.array([*array.tests, None], object)[:-1]
        array = np.stack(rows_of_it)
        shape = (len(tests), *[1] * (array.ndim - 1))
        tests = np.broadcast_to(tests.reshape(shape), array.shape)
    axes = tuple(range(array.ndim)) if axis is None else axis
    axes = axes if isinstance(axes, tuple) else (axes,)
    for place in axes:
        if not -array.ndim <= place < array.ndim:
            raise np.exceptions.AxisError(place, array.ndim)
    axes = tuple([place % array.ndim for place in axes])
    rest = [place for place in range(array.ndim) if place not in axes]
    shape = tuple([array.shape[place] for place in rest])
    length = math.prod([array.shape[place] for place in axes])

    def rows(of: np.ndarray[Any, Any]) -> list[list[Any]]:
        moved = of.transpose([*rest, *axes]).reshape(math.prod(shape), length)
        return [list(row) for row in moved]

    truths = [None] * math.prod(shape) if tests is None else rows(tests)
    results = [function(*pair) for pair in zip(rows(array), truths, strict=True)]
    if keepdims:
        kept = [1 if place in axes else size for place, size in enumerate(array.shape)]
        return arrays.array_of(results, tuple(kept))
    return arrays.array_of(results, shape) if shape else results[0]


def astype(w: Evaluator, xs: Any, dtype: Any) -> Any:
    """Elements converted to what a dtype is of."""
    array = arrays.to_objects(w, xs)
    parts = [arrays.of_dtype(w, part, dtype) for part in array.reshape(-1)]
    return arrays.array_of(parts, array.shape)


# ---------------------------------------------------------------- sums and products


def _sum(w: Evaluator, items: list[Any]) -> Any:
    return fold(w, "+", _wide(w, items)) if items else 0.0


def _wide(w: Evaluator, items: list[Any], kind: Kind = "int") -> list[Any]:
    """Integers as NumPy adds them up: bools and those of fewer bits as ints, for means all as
    floats."""

    def is_whole(x: Any) -> Any:
        is_own = scalar_kind(x) == "bool" or narrow_dtype(x)
        return is_own or (kind == "float" and scalar_kind(x) in INTEGERS)

    return [arrays.cast(w, x, kind) if is_whole(x) else x for x in items]


def _count(w: Evaluator, tests: list[Any]) -> Any:
    return fold(w, "+", [0, *tests])


def _mean(w: Evaluator, items: list[Any]) -> Any:
    return operators.binary(w, "/", _sum(w, _wide(w, items, "float")), float(len(items)))


def _quotient(w: Evaluator, total: Any, count: Any) -> Any:
    """What a mean divides, NaN where nothing was counted."""
    some = comparisons.compare(w, ">", count, 0)
    result = operators.binary(w, "/", total, operators.binary(w, "*", count, 1.0))
    return arithmetic.select(w, some, result, math.nan)


def _mean_of_counted(w: Evaluator, items: list[Any], tests: list[Any]) -> Any:
    total = fold(w, "+", chosen(w, _wide(w, items, "float"), tests, lambda kind: 0))
    return _quotient(w, total, _count(w, tests))


def _squares(w: Evaluator, items: list[Any], mean: Any) -> list[Any]:
    """The squares of the distances from a mean."""
    off = [operators.binary(w, "-", item, mean) for item in items]
    return [_square(w, x) for x in off]


def _square(w: Evaluator, x: Any) -> Any:
    """The square of a number's size."""
    if is_complex(x):
        parts = [w.attribute(x, name) for name in ("real", "imag")]
        return fold(w, "+", [operators.binary(w, "*", part, part) for part in parts])
    return operators.binary(w, "*", x, x)


def _variance(ddof: Any) -> Fold:
    def combine(w: Evaluator, items: list[Any]) -> Any:
        squares = _squares(w, items, _mean(w, items))
        return operators.binary(w, "/", fold(w, "+", squares), float(len(items) - ddof))

    def counted(w: Evaluator, items: list[Any], tests: list[Any]) -> Any:
        squares = _squares(w, items, _mean_of_counted(w, items, tests))
        total = fold(w, "+", chosen(w, squares, tests, lambda kind: 0.0))
        return _quotient(w, total, operators.binary(w, "-", _count(w, tests), ddof))

    return Fold(combine, counted=counted)


def _var(w: Evaluator, xs: Any, axis: Any = None, *, ddof: Any = 0, **more: Any) -> Any:
    return reduction(_variance(ddof))(w, xs, axis, **more)


def holds(w: Evaluator, value: Any) -> Any:
    """A bool as it is, of a number or vector whether it is not zero."""
    return value if kind_of(value) == "bool" else comparisons.compare(w, "!=", value, 0)


def _nonzero(w: Evaluator, items: list[Any]) -> Any:
    return _count(w, [holds(w, item) for item in items])


# ---------------------------------------------------------------- extremes


def extremum(code: str) -> Rule:
    """np.maximum and np.minimum: NaN if either is, and bools of bools."""
    symbol = ">" if code == "max" else "<"
    logical = "|" if code == "max" else "&"

    def scalar(w: Evaluator, a: Any, b: Any) -> Any:
        kinds = scalar_kind(a), scalar_kind(b)
        if kinds == ("bool", "bool"):
            return operators.binary(w, logical, a, b)
        if "float" not in kinds or None in kinds:
            return elementwise(w, code, narrow.together(w, a, b))
        a, b = [x if scalar_kind(x) == "float" else arrays.cast(w, x, "float") for x in (a, b)]
        if not isinstance(a, Abstract):
            a, b = b, a  # the operation keeps a NaN in its first operand
        if not isinstance(b, Abstract):
            return b if b != b else elementwise(w, code, (a, b))
        if a is b:
            return a
        return beyond_or_nan(w, a, b)

    def beyond_or_nan(w: Evaluator, a: Any, b: Any) -> Any:
        beyond = arithmetic.compare(w, symbol, b, a)
        either = arithmetic.binary(w, "|", beyond, arithmetic.compare(w, "!=", b, b))
        return arithmetic.select(w, either, b, a)

    def rule(w: Evaluator, a: Any, b: Any) -> Any:
        a, b = without_dimensions(w, (a, b)) or (a, b)
        if scalar_kind(a) and scalar_kind(b):
            return scalar(w, a, b)
        kinds = {kind_of(a), kind_of(b)}
        of_rows = kinds <= {*INTEGERS} and (datamodel.is_row(w, a) or datamodel.is_row(w, b))
        if of_rows or not (vector_type(a) or vector_type(b)):
            rows, shape = arrays.spread(w, (a, b))
            return arrays.array_of([scalar(w, *row) for row in rows], shape)
        if kinds == {"bool"}:
            return operators.binary(w, logical, a, b)
        if "float" in kinds and isinstance(a, Abstract) and isinstance(b, Abstract):
            return beyond_or_nan(w, a, b)
        return elementwise(w, code, (a, b) if isinstance(a, Abstract) else (b, a))

    return rule


def kind_of(value: Any) -> Kind | None:
    """The kind of a scalar or of a vector's components."""
    type = vector_type(value)
    return type.kind if type else scalar_kind(value)


def _extreme(code: str) -> Fold:
    """np.min and np.max."""
    lesser = extremum(code)
    sign = -1 if code == "max" else 1
    pick, whole = (np.maximum, np.max) if code == "max" else (np.minimum, np.min)
    least: dict[Kind, Any] = {
        "float": sign * math.inf,
        "int": -(2**31) if code == "max" else 2**31 - 1,
        "uint": 0 if code == "max" else 2**32 - 1,
        "bool": code == "min",
    }
    return Fold(
        lambda w, items: reduce(lambda a, b: lesser(w, a, b), items),
        least.__getitem__,
        long=lambda w, xs: w.call(library.np_extreme_of, xs, pick, whole),
    )


def _middle_of_counted(w: Evaluator, items: list[Any], tests: list[Any]) -> Any:
    nans = chosen(w, items, tests, lambda kind: math.nan)
    return w.call(np.nanmedian, tuple_of(tuple(nans)))


def _position_of(symbol: str) -> Rule:
    """np.argmax and np.argmin."""

    def rule(w: Evaluator, xs: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
        def place(items: list[Any], tests: Any) -> Any:
            found = first_extreme(w, symbol, items)
            return found if isinstance(found, Abstract) else np.intp(found)

        return along(w, place, arrays.to_objects(w, xs), axis, keepdims)

    return rule


# ---------------------------------------------------------------- means with weights, norms


def _average(
    w: Evaluator, xs: Any, axis: Any = None, weights: Any = None, *, keepdims: Any = False
) -> Any:
    mean, total = reduction(MEAN), reduction(SUM)
    if weights is None:
        return mean(w, xs, axis, keepdims=keepdims)
    array, factors = arrays.to_objects(w, xs), arrays.to_objects(w, weights)
    if factors.shape != array.shape:
        if axis is None or factors.shape != (array.shape[axis],):
            raise ValueError("Shape of weights must be consistent with shape of a along axis")
        shape = [1] * array.ndim
        shape[axis] = len(factors)
        factors = np.broadcast_to(factors.reshape(shape), array.shape)
    pairs = zip(array.reshape(-1), factors.reshape(-1), strict=True)
    products = [operators.binary(w, "*", *_wide(w, list(pair), "float")) for pair in pairs]
    weighted = arrays.array_of(products, array.shape)
    over = total(w, arrays.array_of(factors.reshape(-1), array.shape), axis, keepdims=keepdims)
    return operators.binary(w, "/", total(w, weighted, axis, keepdims=keepdims), over)


def _norm(w: Evaluator, xs: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """np.linalg.norm: of all elements, of rows, or Frobenius' of matrices."""
    array = xs if isinstance(xs, Masked) else arrays.to_objects(w, xs)
    count = w.call(np.ndim, array) if axis is None else len(axis) if isinstance(axis, tuple) else 1
    if ord is not None and count > 1 and not (ord == "fro" and count == 2):
        raise w.error(
            f"np.linalg.norm of a matrix by ord={ord!r} has no meaning on dynamic values: "
            "the norm of all elements (ord=None) has, and norms along one axis"
        )
    return along(w, lambda items, tests: _norm_of(w, items, ord, tests), array, axis, keepdims)


def _norm_of(w: Evaluator, items: list[Any], ord: Any, tests: list[Any] | None) -> Any:
    if tests is not None:
        items = chosen(w, items, tests, lambda kind: math.inf if ord == -math.inf else 0)
    if ord in (None, 2, "fro"):
        squares = [_square(w, item) for item in _wide(w, items, "float")]
        return elementwise(w, "sqrt", (fold(w, "+", squares),), "float")
    sizes = [
        w.call(abs, item) if is_complex(item) else elementwise(w, "abs", (item,), "float")
        for item in items
    ]
    if ord in (math.inf, -math.inf):
        return _extreme("max" if ord > 0 else "min").combine(w, sizes)
    if ord == 1:
        return fold(w, "+", sizes)
    if ord == 0:
        return operators.binary(w, "*", _nonzero(w, items), 1.0)
    if not isinstance(ord, (int, float)):
        raise w.error(f"np.linalg.norm takes a number as the norm's order here, got {ord!r}")
    powers = [operators.binary(w, "**", size, float(ord)) for size in sizes]
    return operators.binary(w, "**", fold(w, "+", powers), 1.0 / ord)


def _boolean(code: str) -> Fold:
    function = any if code == "any" else all
    return Fold(
        lambda w, items: w.call(function, tuple_of(tuple(items))),
        lambda kind: code == "all",
        long=lambda w, xs: w.call(getattr(library, f"np_{code}_of"), xs),
    )


def _folded(combine: Any, whole: Any, start: int) -> Rule:
    return lambda w, xs: w.call(library.np_fold_of, xs, combine, whole, start)


SUM: Final = Fold(_sum, lambda kind: 0, long=_folded(operator.add, np.sum, 0))
MEAN: Final = Fold(
    _mean, counted=_mean_of_counted, long=lambda w, xs: w.call(library.np_mean_of, xs)
)
PRODUCT: Final = Fold(
    lambda w, items: fold(w, "*", _wide(w, items)) if items else 1.0,
    lambda kind: 1,
    long=_folded(operator.mul, np.prod, 1),
)
MEDIAN: Final = Fold(middle, counted=_middle_of_counted)


def _ufunc(how: Fold) -> Rule:
    """A ufunc's method `reduce`: along the first axis, unless another is given."""

    def rule(w: Evaluator, xs: Any, axis: Any = 0, dtype: Any = None, **more: Any) -> Any:
        return reduction(how)(w, xs, axis, dtype, **more)

    return rule


REDUCTION_RULES: Final[dict[Any, Rule]] = {
    np.sum: reduction(SUM),
    np.mean: reduction(MEAN),
    np.prod: reduction(PRODUCT),
    **{function: reduction(_extreme("min")) for function in (np.min, np.amin)},
    **{function: reduction(_extreme("max")) for function in (np.max, np.amax)},
    np.var: _var,
    np.std: lambda w, *of, **how: elementwise(w, "sqrt", (_var(w, *of, **how),), "float"),
    np.any: reduction(_boolean("any")),
    np.all: reduction(_boolean("all")),
    np.count_nonzero: reduction(Fold(_nonzero, lambda kind: 0)),
    np.median: reduction(MEDIAN),
    np.average: _average,
    np.linalg.norm: _norm,
    np.argmax: _position_of(">"),
    np.argmin: _position_of("<"),
    np.add.reduce: _ufunc(SUM),
    np.multiply.reduce: _ufunc(PRODUCT),
    np.maximum.reduce: _ufunc(_extreme("max")),
    np.minimum.reduce: _ufunc(_extreme("min")),
    np.logical_or.reduce: _ufunc(_boolean("any")),
    np.logical_and.reduce: _ufunc(_boolean("all")),
}
