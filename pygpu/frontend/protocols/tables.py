"""Known sequences as tables of constants, to be indexed by a dynamic value.

Numbers become a table; vectors, tuples and arrays of them a table a component.

    tabulate(w, [1.0, 2.0, 4.0]).element(index)      # a look-up in a table of three floats
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.frontend.numbers import arithmetic, flags
from pygpu.frontend.numbers.numbers import as_value, dynamic, number_of
from pygpu.frontend.numbers.operands import make_vector
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.kinds import Complex, is_member, is_narrow, meeting, scalar_kind
from pygpu.frontend.values.known import LIFTED, Materialiser
from pygpu.frontend.values.lazy import Indexed, Row, difference, one_of
from pygpu.frontend.values.objects import EITHER, ITEM, ROW, Array, List, Object, Vector
from pygpu.frontend.values.states import parts_held, reachable
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Dynamic,
    Maybe,
    Narrow,
    Natural,
    NotKnown,
    Numpys,
    Tuple,
    describe,
)
from pygpu.language import vectors
from pygpu.language.scalars import FLOAT_LIMIT, Int, from_numpy_scalar
from pygpu.ssa import Lookup, Value
from pygpu.types import INT, Kind, vector

with later():
    from pygpu.frontend.collections import records

_OF_NO_KIND = (
    "a table with negative integers and with some from 2**31 on is neither one of Int nor of UInt"
)
WIDE: Final = 64  # elements, from which on a row of a known array is not looked up as a whole
TABLE_LIMIT = 1 << 22  # elements of one table of constants


def tabulate(w: Evaluator, items: Sequence[Any], by_choice: bool = False) -> Indexed:
    """Known items as a sequence that can be indexed at run time, in tables of constants. Few that
    are not known are chosen by the index, where that may be."""
    if isinstance(items, range):
        first, step = items.start, items.step

        def place(index: Any) -> Any:
            scaled = index if step == 1 else arithmetic.binary(w, "*", index, step)
            place = scaled if first == 0 else arithmetic.binary(w, "+", scaled, first)
            natural = type(place) is Dynamic and min(items[0], items[-1]) >= 0
            return Natural(place.value) if natural else place

        return Indexed(len(items), place, f"a range of {len(items)} items")
    apart = _step(items)
    if apart is not None:

        def further(index: Any, first: Any) -> Any:
            scaled = index if apart == 1 else arithmetic.binary(w, "*", index, apart)
            return arithmetic.binary(w, "+", first, scaled)

        return Indexed(len(items), further, f"a range of {len(items)} items", (items[0],))
    held = {each: w.peek(each) for each in _objects(w, items) if not _is_view(each)}
    items = as_known(w, items)
    element = None if any(map(_is_computed, held, held.values())) else column(w, items)
    if element is None and by_choice and len(items) <= WIDE:
        chosen, some = partial(one_of, w), any(type(item) is Maybe for item in items)
        what = f"a sequence of {len(items)} items"
        return Indexed(len(items), chosen, what, tuple(items), filtered=some)
    if element is None:
        odd = next((item for item in items if column(w, (item,)) is None), items[0])
        if isinstance(odd, Maybe):
            raise w.error(
                f"a loop over up to {len(items)} items exceeds what is unrolled: in place of "
                f"'for x in xs[:n]' let it end, as in 'for k in range({len(items)}): if k >= n: "
                "break', and take xs[k]"
            )
        raise w.error(
            f"a loop over {len(items)} items exceeds what is unrolled, and its items fit no "
            f"table of constants (numbers, vectors, tuples and objects of them do): {describe(odd)}"
        )

    changeable = {h for h in held if type(h) is Array or h in w.state.heap}

    def unchanged(index: Any) -> Any:
        # what is not in the heap holds what it was made with
        for handle in changeable.union(w.state.heap.keys() & held.keys()):
            if w.state.get(handle) is not held[handle]:
                raise w.error(
                    f"{describe(handle)} is changed while a long loop reads it from a table: loop "
                    "over a copy that was made before"
                )
        return element(index)

    return Indexed(len(items), unchanged, f"a sequence of {len(items)} items")


def _is_computed(handle: Object, contents: Any) -> bool:
    """Whether an object holds what only the device knows, so that no table of many has it."""
    return isinstance(contents, Value) or any(
        isinstance(part, Dynamic) for _, part in parts_held(handle, contents)
    )


def _is_view(handle: Object) -> bool:
    """Whether what an object holds is a part of what another one does."""
    return isinstance(handle, Array) and handle.base is not None


def is_of_ints(w: Evaluator, items: range) -> bool:
    """Whether a range has elements, and all are ints; an error where they fit no table either."""
    within = all(-(2**31) <= end < 2**31 for end in (items[0], items[-1])) if items else False
    if not within and len(items) > TABLE_LIMIT:
        raise w.error(f"{items} has elements that are no ints of 32 bits, and too many for a table")
    return within


def _step(items: Sequence[Any]) -> int | None:
    """How far dynamic ints are apart that are equally far: those of range(x - 1, x + 2)."""
    if len(items) < 2 or not all(isinstance(i, Dynamic) and scalar_kind(i) == "int" for i in items):
        return None
    steps = {difference(a.value, b.value) for a, b in itertools.pairwise(items)}
    return steps.pop() if len(steps) == 1 else None


def _objects(w: Evaluator, items: Iterable[Any]) -> set[Object]:
    """The objects of the function that lie in items."""
    made = [item for item in items if isinstance(item, Abstract)]
    return reachable(made, w.state) if made else set()


def as_known(w: Evaluator, items: Sequence[Any]) -> tuple[Any, ...]:
    """The items, those as Python objects that are virtual but wholly known, and cannot change."""
    known, made = [], Materialiser(w)
    for item in items:
        try:
            known.append(item if _objects(w, (item,)) else made.value(item))
        except NotKnown:
            known.append(item)
    return tuple(known)


def column(w: Evaluator, items: Sequence[Any]) -> Callable[[Any], Any] | None:
    """What makes the element at a dynamic index from known items; None if they fit no table."""
    first = items[0]
    if all(map(partial(operator.is_, first), items)):
        return lambda index: first
    if any(map(is_member, items)):
        return None
    numbers = _numbers(items)
    if numbers is not None and _own_dtype(first) is None:
        return partial(look_up, w, numbers)
    if isinstance(first, Object) and records.are_alike(w, items):
        return partial(_one_of, w, tuple(items))
    kinds = [None if isinstance(item, Abstract) else scalar_kind(item) for item in items]
    if all(kinds):
        kind = meeting(items)
        if kind is None:
            raise w.error(_OF_NO_KIND)
        values = np.array([number_of(w, item, kind) for item in items], NUMPY_TYPE[kind])
        dtypes = {_own_dtype(item) for item in items}
        dtype = dtypes.pop() if len(dtypes) == 1 else None
        ends = _ends(values, dtype)
        some = tuple(dict(zip(kinds, items, strict=True)).values())
        return lambda index: _of_dtype(
            w, _of_kinds(w, look_up(w, values, index), some), dtype, ends
        )
    if all(isinstance(item, (complex, int, float, np.number)) for item in items):
        pairs = [(complex(item).real, complex(item).imag) for item in items]
        re, im = _columns(w, pairs) or []
        return lambda index: Complex(re(index), im(index))
    if isinstance(first, vectors.Vector) and all(type(item) is type(first) for item in items):
        parts = _columns(w, [tuple(item) for item in items]) or []
        position = isinstance(first, vectors.Position)
        return lambda index: _to_be_read(
            make_vector(w, first.TYPE, tuple([part(index) for part in parts]), position), ITEM
        )
    if isinstance(first, np.ndarray) and all(np.shape(item) == first.shape for item in items):
        return array_column(w, np.stack(list(items)))
    lengths = {len(_parts(item)) if _parts(item) is not None else -1 for item in items}
    if len(lengths) == 1 and -1 not in lengths and len({_class(item) for item in items}) == 1:
        columns = _columns(w, [_parts(item) for item in items])
        if columns is None:
            return None
        cls = _class(first)
        if cls is list:
            return lambda index: List(tuple([part(index) for part in columns]), EITHER)
        return lambda index: Tuple(tuple([part(index) for part in columns]), cls)
    if len(items) <= Abstract.CHOICES and all(type(item) is tuple for item in items):
        return partial(_one_of, w, tuple(items))
    return records.records(w, items, column, look_up)


def _one_of(w: Evaluator, items: tuple[Any, ...], index: Any) -> Any:
    """One of several objects of the function, or of known tuples."""
    at = _limited(w, index, len(items))
    if not isinstance(at, Dynamic):
        return items[at]
    either = records.Either(w, at, column, row_of)
    return Choice(at, items, "") if type(items[0]) is tuple else either.of(items)


_PLAIN: Final = {float: np.float64, int: np.int64, Int: np.int64, bool: np.bool_}


def _numbers(items: Sequence[Any]) -> np.ndarray[Any, Any] | None:
    """Python's numbers of one class, which the device has as they are, as a table; else None."""
    classes = set(map(type, items))
    dtype = _PLAIN.get(classes.pop()) if len(classes) == 1 else None
    if dtype is None:
        return None
    try:
        return _of_device(np.array(items, dtype))
    except OverflowError:
        return None


def _of_device(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    """An array of bools, integers or floats in 32 bits; None where one of them does not fit."""
    if array.dtype.kind == "f":
        with np.errstate(invalid="ignore", over="ignore"):  # of the limit, in a narrow dtype
            large = np.abs(array) >= FLOAT_LIMIT
        return None if np.any(large & ~np.isinf(array)) else array.astype(np.float32)
    if array.dtype.kind == "b" or array.dtype == np.uint32:
        return array
    if not -(2**31) <= int(array.min()) <= int(array.max()) < 2**31:
        return None
    return array.astype(np.int32)


def _parts(item: Any) -> Any:
    if isinstance(item, Tuple):
        return item.items
    return item if isinstance(item, (tuple, list)) else None


def _class(item: Any) -> type:
    return item.cls if isinstance(item, Tuple) else type(item)


def _columns(w: Evaluator, rows: Sequence[Sequence[Any]]) -> list[Callable[[Any], Any]] | None:
    columns = [column(w, items) for items in zip(*rows, strict=True)]
    return None if not columns or None in columns else columns  # type: ignore[return-value]


def array_column(w: Evaluator, array: np.ndarray[Any, Any]) -> Callable[[Any], Any] | None:
    """Rows of a numeric array by dynamic index: scalars, vectors of 2 to 4, or longer rows."""
    if array.dtype.kind not in "biufc":
        return None
    if array.ndim == 1:
        is_own = array.dtype == np.uint32 or _own_dtype(array) is not None
        values = _of_device(array) if array.dtype in _NUMBERS and array.size else None
        if values is None or not np.any(array != array[0]):
            items = list(array) if is_own else array.tolist()
            is_one = array.tobytes() == array[:1].tobytes() * array.size  # 0.0 and -0.0 are two
            return column(w, items[:1] * len(items) if is_one else items)
        dtype = _own_dtype(array)
        ends = _ends(values, dtype)
        return lambda index: _of_dtype(w, look_up(w, values, index), dtype, ends)
    if array.ndim == 2 and 2 <= array.shape[1] <= 4 and array.dtype.kind != "c":
        if array.dtype.kind in "iu" and (array.dtype == np.uint32 or array.max() >= 2**31):
            array = _uint32(w, array)
        parts = [array_column(w, array[:, index]) for index in range(array.shape[1])]
        kind: Kind = {"b": "bool", "f": "float"}.get(array.dtype.kind, "int")  # type: ignore[assignment]
        type = vector("uint" if array.dtype == np.uint32 else kind, array.shape[1])
        return lambda index: _to_be_read(
            make_vector(w, type, tuple([p(index) for p in parts])),  # type: ignore[misc]
            ROW,
        )
    return lambda index: _row(w, array, index)


def _to_be_read(made: Any, why: str) -> Any:
    """A vector that stands for one of several from outside, or a row of an array."""
    if isinstance(made, Vector):
        made.outside = why
    return made


_NUMBERS: Final = frozenset(map(np.dtype, "? b B h H i I l L q Q e f d".split()))


def _of_kinds(w: Evaluator, element: Any, some: tuple[Any, ...]) -> Any:
    """An element of a table, which holds numbers of the kinds of these."""
    if len(some) > 1 and isinstance(element, Dynamic):
        w.environment.widened[element.value] = some
    return element


def _ends(values: np.ndarray[Any, Any], dtype: np.dtype[Any] | None) -> tuple[int, int]:
    """Between which two integers a table's elements lie, which is asked where they may wrap."""
    is_asked = dtype is not None and is_narrow(dtype)
    return (int(values.min()), int(values.max())) if is_asked else (0, 0)


def _own_dtype(value: Any) -> np.dtype[Any] | None:
    """The dtype of NumPy's numbers whose arithmetic is not Python's: bools, integers that wrap."""
    dtype = value.dtype if isinstance(value, (np.generic, np.ndarray)) else np.dtype(object)
    return dtype if dtype.kind in "bif" or is_narrow(dtype) else None


def _of_dtype(
    w: Evaluator, element: Any, dtype: np.dtype[Any] | None, ends: tuple[int, int]
) -> Any:
    """An element of a table of a dtype (None: as Python's) that lies between two ends."""
    if dtype is None:
        return element
    if isinstance(element, Dynamic):
        if dtype.kind == "b":
            return flags.marked(element, True)
        if dtype.kind == "f" and dtype.itemsize < 8:
            w.environment.singles[element.value] = dtype.type
        is_own = is_narrow(dtype)
        return Narrow(element.value, dtype, ends) if is_own else Numpys(element.value)
    return dtype.type(element)


def _uint32(w: Evaluator, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Integers from 2**31 on as uints, or an error where they are none."""
    for end in (array.min(), array.max()):
        number_of(w, int(end), "uint")
    if array.min() < 0:
        raise w.error(_OF_NO_KIND)
    return array.astype(np.uint32)


def _row(w: Evaluator, array: np.ndarray[Any, Any], index: Any) -> Indexed:
    """One row of a table by dynamic index, itself to be indexed."""
    width = array.shape[1]
    small = array.size <= LIFTED  # a view is a new array each time
    key = (array.shape, array.dtype.str, array.tobytes()) if small else id(array)
    if key not in w.environment.rows:  # one way for a table, so that its rows can be joined
        inner = array_column(w, array.reshape(-1, *array.shape[2:]))
        assert inner is not None

        def element(at: Any, base: Any) -> Any:
            return inner(arithmetic.binary(w, "+", base, _limited(w, at, width)))

        w.environment.rows[key] = array, element
    _, element = w.environment.rows[key]
    base = arithmetic.binary(w, "*", _limited(w, index, array.shape[0]), width)
    return Row(width, element, f"a row of a table of shape {array.shape}", (base,))


def is_wide(w: Evaluator, array: Array) -> bool:
    """Whether rows of an array are looked up where they are used, for they are long and known."""
    contents = w.read(array)
    return bool(contents.dtype != object and contents[:1].size > WIDE)


def watched(w: Evaluator, row: Row, array: Array) -> Row:
    """A row of an array of the function, as long as that is not changed."""
    whole = array.whole
    contents, make = w.read(whole), row.make
    key = whole, make
    if key not in w.environment.rows:

        def element(at: Any, base: Any) -> Any:
            if w.read(whole) is not contents:
                raise w.error(
                    f"{describe(array)} has been changed since {row.what} was taken: take it again"
                )
            return make(at, base)

        w.environment.rows[key] = contents, element
    return Row(row.length, w.environment.rows[key][1], row.what, row.of)


def row_of(w: Evaluator, numbers: np.ndarray[Any, Any], at: Any) -> list[Any]:
    """The elements of a row of an array, looked up."""
    row = _row(w, numbers, at)
    return [row.element(place) for place in range(row.length)]


def within(w: Evaluator, index: Any, length: int) -> Any:
    """An index of the user's, made to lie in a sequence as `clamped` does."""
    check_index(w, index, length)
    return clamped(w, index, length)


def wrap_negative(w: Evaluator, index: Any, length: Any) -> Any:
    """An index, a negative one counted from the end."""
    if not isinstance(index, Abstract):
        return arithmetic.binary(w, "+", index, length) if index < 0 else index
    if scalar_kind(index) == "int" and ranges.is_natural(w, index):
        return index
    return arithmetic.select(
        w, arithmetic.compare(w, "<", index, 0), arithmetic.binary(w, "+", index, length), index
    )


def clamped(w: Evaluator, index: Any, length: int) -> Any:
    """An index made to lie in a sequence: a negative one counts from the end, others clamp."""
    return _limited(w, wrap_negative(w, index, length), length)


def _limited(w: Evaluator, index: Any, length: int) -> Any:
    """An index that counts from the start, made to lie in a sequence where it may not."""
    if not isinstance(index, Abstract):
        return min(max(int(index), 0), length - 1)
    low, high = ranges.range_of(w, index.value) if isinstance(index, Dynamic) else (-1, length)
    if low < 0 or high >= 2**31:
        index = arithmetic.elementwise(w, "max", (index, 0), "int")
    return arithmetic.elementwise(w, "min", (index, length - 1), "int") if high >= length else index


def check_index(w: Evaluator, index: Any, length: Any, *failing: Any) -> None:
    """In checked programs, and in a `try`, note where an index lies outside of a sequence. A call
    that is `failing` so, as a function and its arguments, says what Python's exception does."""
    if w.faults.checked or w.handled():
        below = arithmetic.compare(w, "<", index, arithmetic.unary(w, "-", length))
        above = arithmetic.compare(w, ">=", index, length)
        outside = arithmetic.either(w, below, above)
        there = "" if isinstance(length, Abstract) else f": there are {length} elements"
        says = [said_by(*failing)] if failing else []
        w.check(outside, IndexError, f"index out of range{there}", *says)


def look_up(w: Evaluator, values: np.ndarray[Any, Any], index: Any) -> Any:
    """A number of a table by index; an index that is out of range gives some element."""
    if not isinstance(index, Abstract):
        return from_numpy_scalar(values[clamped(w, index, len(values))])
    if len(values) > TABLE_LIMIT:
        raise w.error(
            f"a table of {len(values)} elements is too large: make it an image (pygpu.Image)"
        )
    kind: Kind = {"b": "bool", "i": "int", "u": "uint", "f": "float"}[values.dtype.kind]  # type: ignore[assignment]
    table = w.build.add_table(f"table{len(w.build.tables)}", values)
    at = as_value(w, index, INT)
    return dynamic(w, "table", at, data=Lookup(table, vector(kind, 1)))
