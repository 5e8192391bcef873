"""Order statistics of scalars that are not known: sorting networks, and NaN as NumPy has it.

sort_network(w, items)       # all in order, where none is NaN
nans_last(w, items)          # np.sort
places_in_order(w, items)    # np.argsort
middle(w, items)             # np.median
first_extreme(w, "<", items) # np.argmin
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pygpu.core.host.later import later
from pygpu.core.operations.ops import OPEN
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers.arithmetic import both, either, elementwise, select
from pygpu.frontend.numbers.numbers import as_value
from pygpu.frontend.protocols import arrays, operators
from pygpu.frontend.protocols.operators import fold
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import meeting, scalar_kind, truth_either
from pygpu.frontend.values.values import Dynamic
from pygpu.ssa import Load, base_and_offset
from pygpu.types import vector

with later():
    from pygpu.frontend.numbers import integers
    from pygpu.frontend.protocols import comparisons


def sort_network(w: Evaluator, items: list[Any]) -> list[Any]:
    """Sort scalars by a network. Where one is NaN, what comes out is open."""
    xs = _of_one_kind(w, items)
    for i, j in comparators(len(xs)):
        xs[i], xs[j] = _lesser(w, xs[i], xs[j]), _greater(w, xs[i], xs[j])
    return xs


def comparators(n: int) -> Iterator[tuple[int, int]]:
    """The places that are compared one after the other, to sort n items by Batcher's odd-even
    mergesort (Knuth, TAOCP 5.3.4, algorithm M)."""
    top = 1 << (n - 1).bit_length() >> 1
    p = top if n > 1 else 0
    while p:
        q, r, d = top, 0, p
        while d:
            yield from [(i, i + d) for i in range(n - d) if i & p == r]
            d, q, r = q - p, q >> 1, p
        p >>= 1


def extreme_bool(w: Evaluator, code: str, a: Any, b: Any) -> Any:
    """The lesser or greater of two bools: one of the two, whose it may be."""
    made = (both if code == "min" else either)(w, a, b)
    return truth_either(made.value, a, b) if isinstance(made, Dynamic) else made


def _lesser(w: Evaluator, a: Any, b: Any) -> Any:
    if scalar_kind(a) == scalar_kind(b) == "bool":
        return extreme_bool(w, "min", a, b)
    return elementwise(w, "min", (a, b), data=OPEN)


def _greater(w: Evaluator, a: Any, b: Any) -> Any:
    if scalar_kind(a) == scalar_kind(b) == "bool":
        return extreme_bool(w, "max", a, b)
    return elementwise(w, "max", (a, b), data=OPEN)


def _of_one_kind(w: Evaluator, items: list[Any]) -> list[Any]:
    kinds = {scalar_kind(item) for item in items}
    if len(kinds) < 2:
        return list(items)
    kind = meeting(items)
    if kind is None:
        raise w.error(f"ints and uints cannot be put in order together: {integers.HINT}")
    kind = "int" if kind == "bool" else kind
    type = vector(kind, 1)
    return [Dynamic(origins.note(w, as_value(w, item, type), item)) for item in items]


def _three(w: Evaluator, a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """Three in order."""
    low, high = _lesser(w, a, b), _greater(w, a, b)
    middle = _greater(w, low, _lesser(w, high, c))
    return _lesser(w, low, c), middle, _greater(w, high, c)


def _middle_of_nine(w: Evaluator, items: list[Any]) -> Any:
    """Of three sorted threes: the middle of the highest low, the middle middle and the lowest
    high. Threes that are columns of taps are shared by the pixels to the left and right."""
    xs = _by_columns(_of_one_kind(w, items))
    lows, middles, highs = zip(*[_three(w, *xs[i : i + 3]) for i in (0, 3, 6)], strict=True)
    low = _greater(w, _greater(w, *lows[:2]), lows[2])
    high = _lesser(w, _lesser(w, *highs[:2]), highs[2])
    return _three(w, low, _three(w, *middles)[1], high)[1]


def _by_columns(items: list[Any]) -> list[Any]:
    """Texels of three columns, column by column; anything else as it stands."""
    places = [_place(item) for item in items]
    columns = Counter([place[:-1] for place in places if place is not None])
    if list(columns.values()) != [3, 3, 3]:
        return items
    order = {column: index for index, column in enumerate(columns)}
    return sorted(items, key=lambda item: order[_place(item)[:-1]])  # type: ignore[index]


def _place(item: Any) -> tuple[Any, ...] | None:
    """Of a texel, or a component of one, what is the same in its column, and its row."""
    op = item.value.op if isinstance(item, Dynamic) else None
    part = None
    if op is not None and op.code == "swizzle":
        part, op = op.data, op.operands[0].op
    if op is None or op.code != "load":
        return None
    (x, dx), (y, dy) = [base_and_offset(operand) for operand in op.operands]
    data: Load = op.data
    return data.image, part, x, dx + data.dx, y, dy + data.dy


def middle(w: Evaluator, items: list[Any]) -> Any:
    """The middle one in order, of an even number the mean of the two; NaN where one is."""
    half, is_odd = divmod(len(items), 2)
    if len(items) == 9:
        found = arrays.cast(w, _middle_of_nine(w, items), "float")
    else:
        ordered = sort_network(w, items)
        found = arrays.cast(w, ordered[half], "float")
        if not is_odd:
            total = operators.binary(w, "+", ordered[half - 1], ordered[half])
            found = operators.binary(w, "/", total, 2.0)
    nans = _nans(w, items)
    return select(w, _one_holds(w, nans), math.nan, found) if nans else found


def _nans(w: Evaluator, items: list[Any]) -> list[Any]:
    """Whether each is NaN; nothing where none can be."""
    if all(scalar_kind(x) != "float" for x in items):
        return []
    return [elementwise(w, "isnan", (x,), "float") for x in items]


def _one_holds(w: Evaluator, tests: list[Any]) -> Any:
    """Whether one holds; of a square of texels row by row, as pixels above and below share rows."""
    side = math.isqrt(len(tests))
    count = side if side * side == len(tests) else len(tests)
    rows = [fold(w, "|", tests[i : i + count]) for i in range(0, len(tests), count)]
    return fold(w, "|", rows)


def nans_last(w: Evaluator, items: list[Any]) -> list[Any]:
    """Scalars in order, NaN after all others: as if it were infinite, and then as many of the last
    as there are."""
    nans = _nans(w, items)
    if not nans:
        return sort_network(w, items)
    finite = [select(w, nan, math.inf, x) for nan, x in zip(nans, items, strict=True)]
    count = fold(w, "+", [0, *nans])
    ordered = sort_network(w, finite)
    return [
        select(w, comparisons.compare(w, ">=", count, len(items) - place), math.nan, x)
        for place, x in enumerate(ordered)
    ]


def places_in_order(w: Evaluator, items: list[Any]) -> list[Any]:
    """The indices of scalars in order, of equal ones the first before others. NaN is as if it were
    infinite and stood after all: so one comparison of numbers and one of indices do for both."""
    count, nans = len(items), _nans(w, items)
    keys, places = _of_one_kind(w, items), list(range(count))
    if nans:
        keys = [select(w, nan, math.inf, x) for nan, x in zip(nans, keys, strict=True)]
        places = [select(w, nan, at + count, at) for at, nan in enumerate(nans)]
    for i, j in comparators(count):
        test = comparisons.compare(w, "<", keys[j], keys[i])
        is_same = comparisons.compare(w, "==", keys[j], keys[i])
        is_before = comparisons.compare(w, "<", places[j], places[i])
        test = either(w, test, both(w, is_same, is_before))
        keys[i], keys[j] = _lesser(w, keys[i], keys[j]), _greater(w, keys[i], keys[j])
        places[i], places[j] = [
            select(w, test, places[one], places[other]) for one, other in ((j, i), (i, j))
        ]
    return [operators.binary(w, "%", place, count) for place in places] if nans else places


def first_extreme(w: Evaluator, symbol: str, items: list[Any]) -> Any:
    """The index of the first that compares so with all others, or of the first NaN."""
    best, place = items[0], 0
    for index, item in enumerate(items[1:], 1):
        test = comparisons.compare(w, symbol, item, best)
        if scalar_kind(item) == "float":
            is_number = comparisons.compare(w, "==", best, best)
            is_first = operators.binary(w, "&", elementwise(w, "isnan", (item,)), is_number)
            test = operators.binary(w, "|", test, is_first)
        best = select(w, test, item, best)
        place = select(w, test, index, place)
    return place
