"""Parts of arrays by indices that are dynamic: integers, slices and lists of integers.

A part's shape is known: the stop of a slice with dynamic bounds is its start and a known number.
Elements of known arrays are looked up in tables, others are chosen.

    part_of(w, table, (k, slice(1, None)))      # table[k, 1:], an array
    part_of(w, table, Slice((i, i_and_3, None)))  # table[i : i + 3], three elements
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.joins.choosing import CHANGED, UNKNOWN
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols.arrays import array_of, as_element, opened, spread, to_objects
from pygpu.frontend.protocols.sequences import items_of, items_or_maybe
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import as_objects, scalar_kind
from pygpu.frontend.values.lazy import Bounded, Cut, FixedCut, Masked, Row, difference
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.values import Abstract, Dynamic, Slice, Tuple, describe

with later():
    from pygpu.frontend.collections import records, texts
    from pygpu.frontend.numbers import integers
    from pygpu.frontend.protocols import lookups, tables
    from pygpu.frontend.walked import iterators

PART_LIMIT: Final = 4096  # elements that one index takes
CUT_LIMIT: Final = 256  # elements of which a slice takes a number that is not known


def is_part(index: Any) -> bool:
    """Whether an index takes more than one element: it has slices, new axes or arrays in it."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    return any(
        part is None or part is Ellipsis or isinstance(part, (slice, Slice)) or _is_list(part)
        for part in parts
    )


def _is_list(part: Any) -> bool:
    return isinstance(part, (Array, List, np.ndarray, list, tuple, Tuple))


def part_of(w: Evaluator, container: Any, index: Any) -> Any:
    """container[index] for an index with dynamic parts that takes more than one element."""
    if isinstance(container, str) and isinstance(index, Slice):
        return texts.part(w, container, tuple([integers.as_index(w, end) for end in index.bounds]))
    cut = _cut(w, container, index)
    if cut is not None:
        return cut
    if isinstance(container, Row):
        lazy = container
        if isinstance(index, Slice):
            start, places = _run(w, index, lazy.length)
            items = [lookups.of_indexed(w, lazy, _further(w, start, place)) for place in places]
            return array_of(items, (len(items),))
        container = opened(w, lazy)
    if isinstance(container, (np.ndarray, Array)):
        array = w.read(container) if isinstance(container, Array) else container
        parts = _for_all_axes(index, array.ndim)
        lists = [place for place, part in enumerate(parts) if _is_list(part)]
        if lists:
            return _by_lists(w, array, parts, lists)
        known, dynamic = _split(w, array.shape, parts)
        made = _basic(w, array, known, dynamic)
        if isinstance(container, Array) and isinstance(made, Array):
            return _one_of_views(w, container, known, dynamic, made)
        return made
    if isinstance(index, Slice):
        start, places = _run(w, index, len(items_of(w, container)))
        taken = tuple([w.item(container, _further(w, start, place)) for place in places])
        is_tuple = isinstance(container, (tuple, Tuple))
        return Tuple(taken) if is_tuple else List(taken)
    raise w.error(f"{describe(container)} cannot be indexed by {describe(index)}")


def _cut(w: Evaluator, container: Any, index: Any) -> Masked | None:
    """The elements from a dynamic start to a dynamic stop, each with a test whether it is between
    them; None where the length of the slice is known, or the slice is another."""
    if isinstance(index, Tuple):
        return _cut_of_row(w, container, index.items)
    bounds = _open_ends(w, index)
    if bounds is None:
        return None
    *ends, step = bounds
    kind: type[Masked] = Masked
    items: Any
    if isinstance(container, (np.ndarray, Array, Row)) or vector_type(container):
        items = to_objects(w, container)
        if items.ndim != 1:
            return None
    else:
        items = items_of(w, container)
        kind = Cut if isinstance(container, (list, List)) else FixedCut
    if len(items) > CUT_LIMIT:
        return None
    tests = []
    for place in range(len(items)):
        begun, ended = (None if end is None else _is_at(w, place, end, len(items)) for end in ends)
        is_before = True if ended is None else arithmetic.negate(w, ended)
        begun = True if begun is None else begun
        if isinstance(step, Abstract) or step != 1:
            first = tables.wrap_negative(w, 0 if ends[0] is None else ends[0], len(items))
            since = w.binary("-", place, w.call(max, first, 0))
            begun = arithmetic.both(w, begun, w.compare("==", w.binary("%", since, step), 0))
        tests.append(arithmetic.both(w, begun, is_before))
    return kind(items, tests)


def _cut_of_row(w: Evaluator, container: Any, parts: Sequence[Any]) -> Masked | None:
    """What `_cut` makes of a[i, :n]: integers pick the row that is cut."""
    slices = [place for place, part in enumerate(parts) if isinstance(part, (slice, Slice))]
    if len(slices) != 1 or _open_ends(w, parts[slices[0]]) is None:
        return None
    if not all(
        scalar_kind(part) in ("int", "bool") for part in parts if not isinstance(part, Slice)
    ):
        return None
    (place,) = slices
    row = w.item(container, Tuple((*parts[:place], slice(None), *parts[place + 1 :])))
    return _cut(w, row, parts[place])


def _open_ends(w: Evaluator, part: Any) -> tuple[Any, Any, Any] | None:
    """The start, stop and step of a slice whose length is not known; None of others."""
    if not isinstance(part, Slice):
        return None
    start, stop, step = part.bounds
    step = 1 if step is None else step
    if {scalar_kind(end) for end in (start, stop, step)} - {"int", "bool", None}:
        return None
    both = isinstance(start, Dynamic) and isinstance(stop, Dynamic)
    if both and difference(start.value, stop.value) is not None:
        return None
    if not ranges.is_above(w, step, 0):
        raise w.error("a slice with dynamic bounds takes a step above 0 for sure: reversed(x[:n])")
    return start, stop, step


def _is_at(w: Evaluator, place: int, end: Any, length: int) -> Any:
    """Whether a place is at an end of a slice or after it. Negative ends count from the last."""
    if not isinstance(end, Abstract):
        return place >= (end + length if end < 0 else end)
    return arithmetic.compare(w, "<=", tables.wrap_negative(w, end, length), place)


def _further(w: Evaluator, start: Any, by: int) -> Any:
    return arithmetic.binary(w, "+", start, by) if by else start


def _for_all_axes(index: Any, ndim: int) -> list[Any]:
    """The parts of an index, a slice of all for each axis that has none."""
    parts = list(index.items) if isinstance(index, Tuple) else [index]
    missing = ndim - sum([part is not None and part is not Ellipsis for part in parts])
    if missing < 0:
        raise IndexError(
            f"too many indices for array: array is {ndim}-dimensional, but "
            f"{ndim - missing} were indexed"
        )
    rest = [slice(None)] * missing
    for place, part in enumerate(parts):
        if part is Ellipsis:
            return [*parts[:place], *rest, *parts[place + 1 :]]
    return [*parts, *rest]


def width_of(part: Slice) -> int | None:
    """How many places a slice without steps has, if its bounds say so."""
    start, stop, _ = part.bounds
    if not isinstance(start, Dynamic) or not isinstance(stop, Dynamic):
        return None
    return difference(start.value, stop.value)


def _run(w: Evaluator, part: Slice, length: int) -> tuple[Any, range]:
    """A slice whose start is dynamic and whose length is known: the start, made to lie where the
    slice does not run over an end, and the places after it."""
    start, _, step = part.bounds
    step = 1 if step is None else step
    kinds = {scalar_kind(bound) for bound in part.bounds if bound is not None}
    if "float" in kinds or None in kinds:
        raise TypeError("slice indices must be integers or None or have an __index__ method")
    width = width_of(part)
    if isinstance(step, Abstract) or step < 1 or width is None:
        raise w.error(
            "the length of a slice must be known at compile time, as that of x[i:i + 3] is; to "
            "fold one that is not, give elements outside of it a value that does not count: "
            "sum(v if a <= k < b else 0 for k, v in enumerate(x)); to store into one of an array, "
            "take a mask: a[np.arange(len(a)) >= k] += 1"
        )
    width = max(width, 0)
    if width > length:
        raise w.error(f"a slice of {width} elements of a sequence of {length} may run over its end")
    beyond = arithmetic.compare(w, ">", start, length - width)
    outside = arithmetic.either(w, arithmetic.compare(w, "<", start, 0), beyond)
    if not w.handled():  # Python gives a shorter one and raises nothing
        w.check(outside, IndexError, f"the slice runs over an end: there are {length} elements")
    low = arithmetic.elementwise(w, "max", (start, 0), "int")
    return arithmetic.elementwise(w, "min", (low, length - width), "int"), range(0, width, step)


def _one_of_views(
    w: Evaluator, container: Array, known: list[Any], dynamic: list[tuple[int, Any]], made: Array
) -> Any:
    """Part of an array of the function's own, which shows elements of it: changes of either are
    seen in the other."""
    made = lookups.one_of(w, made, (container,))
    shape = w.read(container).shape
    ranges = [range(shape[axis] - _width(known, axis) + 1) for axis, _ in dynamic]
    which: Any = 0
    for (_, start), reach in zip(dynamic, ranges, strict=True):
        which = arithmetic.binary(w, "+", arithmetic.binary(w, "*", which, len(reach)), start)
    axes = [place for place, part in enumerate(known) if part is not None]
    views = []
    for starts in itertools.product(*ranges) if math.prod(map(len, ranges)) <= CHANGED else ():
        index = list(known)
        for at, (axis, _) in zip(starts, dynamic, strict=True):
            part = index[axes[axis]]
            is_slice = isinstance(part, slice)
            index[axes[axis]] = slice(at, at + part.stop, part.step) if is_slice else at
        views.append(w.item(container, tuple(index)))
    records.note_either(w, made, views, which)
    return made


def _basic(
    w: Evaluator, array: np.ndarray[Any, Any], known: list[Any], dynamic: list[tuple[int, Any]]
) -> Any:
    """Part of an array by integers, slices and new axes, some of them dynamic."""
    places = np.arange(array.size).reshape(array.shape)[tuple(known)]
    if places.size > PART_LIMIT:
        raise w.error(
            f"a part of {places.size} elements by a dynamic index is too large: loop over its "
            "rows, or make the table an image (pygpu.Image)"
        )
    if array.dtype != object:
        base: Any = 0
        for axis, start in dynamic:
            stride = math.prod(array.shape[axis + 1 :])
            base = arithmetic.binary(w, "+", arithmetic.binary(w, "*", start, stride), base)
        flat = array.reshape(-1)
        taken = [w.item(flat, _further(w, base, int(place))) for place in places.reshape(-1)]
        return array_of(taken, places.shape)
    made: Any = None
    for shift, starts in _shifts(array.shape, known, dynamic):
        here = list(array.reshape(-1)[(places + shift).reshape(-1)])
        if made is None:
            made = here
            continue
        meant = _is_meant(w, starts, dynamic)
        made = [lookups.choose(w, meant, new, old) for new, old in zip(here, made, strict=True)]
    return array_of(made, places.shape)


def _shifts(
    shape: tuple[int, ...], known: list[Any], dynamic: list[tuple[int, Any]]
) -> Iterator[tuple[int, tuple[int, ...]]]:
    """All starts that dynamic parts of an index may have, and how many elements on they lead."""
    strides = [math.prod(shape[axis + 1 :]) for axis, _ in dynamic]
    reach = [range(shape[axis] - _width(known, axis) + 1) for axis, _ in dynamic]
    for starts in itertools.product(*reach):
        yield sum(map(operator.mul, starts, strides)), starts


def _is_meant(w: Evaluator, starts: tuple[int, ...], dynamic: list[tuple[int, Any]]) -> Any:
    tests = [arithmetic.compare(w, "==", v, at) for at, (_, v) in zip(starts, dynamic, strict=True)]
    return functools.reduce(lambda a, b: arithmetic.both(w, a, b), tests, True)


def _split(
    w: Evaluator, shape: tuple[int, ...], parts: list[Any]
) -> tuple[list[Any], list[tuple[int, Any]]]:
    """An index with 0 for what is dynamic, and for each axis where its dynamic part starts."""
    known: list[Any] = []
    dynamic: list[tuple[int, Any]] = []
    axis = 0
    for part in parts:
        if part is None:
            known.append(None)
            continue
        length = shape[axis]
        part = integers.as_index(w, part)
        if isinstance(part, Slice):
            start, places = _run(w, part, length)
            known.append(slice(0, places.stop, places.step))
            dynamic.append((axis, start))
        elif isinstance(part, Abstract):
            if scalar_kind(part) not in ("int", "bool"):
                raise w.error(
                    f"an index must be an integer, got {describe(part)}: convert it with int()"
                )
            known.append(0)
            dynamic.append((axis, tables.within(w, part, length)))
        else:
            known.append(part)
        axis += 1
    return known, dynamic


def _width(known: list[Any], axis: int) -> int:
    """How many elements of an axis a dynamic part spans."""
    own = [part for part in known if part is not None][axis]
    return own.stop if isinstance(own, slice) else 1


def _by_lists(w: Evaluator, array: np.ndarray[Any, Any], parts: list[Any], lists: list[int]) -> Any:
    """Part of an array by lists of integers, some of them dynamic: each element in its turn."""
    each, shape, axis = _in_turn(w, parts, lists)
    made = [to_objects(w, _basic(w, array, *_split(w, array.shape, one))) for one in each]
    stacked = np.stack(made, axis=axis)
    return array_of(stacked.reshape(-1), stacked.shape[:axis] + shape + stacked.shape[axis + 1 :])


def _in_turn(
    w: Evaluator, parts: list[Any], lists: list[int]
) -> tuple[list[list[Any]], tuple[int, ...], int]:
    """An index by lists as indices without, one for each of the lists' elements; their shape, and
    at which axis of what is taken they lie."""
    if any(part is None for part in parts):
        raise w.error("lists of dynamic integers as indices take no new axes beside them")
    rows, shape = spread(w, [parts[place] for place in lists])
    own = [dict(zip(lists, row, strict=True)) for row in rows]
    each = [[row.get(place, part) for place, part in enumerate(parts)] for row in own]
    taken = [at for at, part in enumerate(parts) if not isinstance(part, (slice, Slice))]
    return each, shape, taken[0] if taken[-1] - taken[0] + 1 == len(taken) else 0  # as NumPy


def stored_in_part(
    w: Evaluator, array: np.ndarray[Any, Any], index: Any, new: Any
) -> np.ndarray[Any, Any]:
    """A copy of an array with something stored where an index with dynamic integers and slices
    points: each element that may be meant becomes a selection."""
    parts = _for_all_axes(index, array.ndim)
    lists = [place for place, part in enumerate(parts) if _is_list(part)]
    each, shape, axis = _in_turn(w, parts, lists) if lists else ([parts], (), 0)
    some = np.arange(array.size).reshape(array.shape)[tuple(_split(w, array.shape, each[0])[0])]
    given = np.broadcast_to(to_objects(w, new), some.shape[:axis] + shape + some.shape[axis:])
    by_turn = np.moveaxis(given.reshape(*some.shape[:axis], len(each), *some.shape[axis:]), axis, 0)
    for one, values in zip(each, by_turn.reshape(len(each), some.size), strict=True):
        array = _stored(w, array, one, values)
    return array


def _stored(
    w: Evaluator, array: np.ndarray[Any, Any], parts: list[Any], given: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    known, dynamic = _split(w, array.shape, parts)
    places = np.arange(array.size).reshape(array.shape)[tuple(known)]
    values = [as_element(w, array, value) for value in given]
    made = as_objects(array).reshape(-1)
    for shift, starts in _shifts(array.shape, known, dynamic):
        meant = _is_meant(w, starts, dynamic)
        for place, value in zip((places + shift).reshape(-1), values, strict=True):
            made[place] = lookups.choose(w, meant, value, made[place])
    return made.reshape(array.shape)


def store_in_slice(w: Evaluator, xs: List, index: Slice, new: Any) -> None:
    """xs[a:b] = new, item by item where as many come as go for sure, which keeps a known length."""
    new, (start, stop, step) = w.call(list, new), index.bounds
    count, room = w.call(len, new), w.call(len, xs)
    if isinstance(count, int) and isinstance(room, int) and width_of(index) == count:
        low, high = ranges.range_of(w, start.value)
        if low >= 0 and high + count <= room and step in (None, 1):
            w.call(iterators.stored_from, xs, start, new)
            return
    most = sum(len(items_or_maybe(w, each)) for each in (xs, new))
    if step not in (None, 1) or most > UNKNOWN:
        raise w.error(
            f"by this slice a list of at most {most} items cannot be stored into: store item by "
            "item, as in xs[k + i] = v"
        )
    made = w.peek(w.call(iterators.spliced, xs, start, stop, new))
    if isinstance(made, Bounded) and made.most > most:
        made = made.changed(made.items[:most], made.length, min(made.least, most), most)
    w.write(xs, made)
