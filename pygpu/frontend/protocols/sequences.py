"""Iterating and indexing: sequences whose structure is known, and tables for the rest.

An iterator's source is a tuple, a range, a List (whose changes it sees, as in Python), a Replay of
a Python iterator, or an Indexed, whose elements are made by index in a loop of the device. Known
numbers become a table of constants when they are indexed by a dynamic value.
"""

from __future__ import annotations

import collections.abc
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from pygpu.frontend.protocols import arithmetic
from pygpu.frontend.protocols.arithmetic import components, dynamic, make_vector, vector_type
from pygpu.frontend.values.known import LIFTED, NotKnown, concrete
from pygpu.frontend.values.values import (
    EITHER,
    Abstract,
    Array,
    Conflict,
    Dict,
    Dynamic,
    Indexed,
    Instance,
    Iterator,
    Lazy,
    List,
    Matrix,
    Maybe,
    Object,
    Replay,
    Row,
    Set,
    Slice,
    Tuple,
    Vector,
    Yielded,
    describe,
    same_known,
    scalar_kind,
)
from pygpu.frontend.values.views import viewed
from pygpu.language import vectors
from pygpu.ssa import Lookup
from pygpu.types import INT, vector, widest

if TYPE_CHECKING:
    from pygpu.frontend.walk.walker import Walker

ENDLESS = 1 << 20  # items taken from an iterator before it is said not to end
UNROLL_OPS = 2400  # operations that an unrolled loop may emit
TABLE_LIMIT = 1 << 22  # elements of one table of constants


def items_of(w: Walker, value: Any) -> tuple[Any, ...]:
    """Everything that iterating the value gives. TypeError where Python would not iterate it."""
    match value:
        case Tuple():
            return value.items
        case List():
            contents = w.read(value)
            if isinstance(contents, Indexed):
                raise w.error(
                    f"{contents.what} exceeds what is unrolled: it can be summed, folded, looped "
                    "over and indexed, but not taken apart"
                )
            return contents  # type: ignore[no-any-return]
        case Set():
            return tuple(w.read(value))
        case Dict():
            return tuple(w.read(value))
        case Vector():
            return components(w, value)
        case Matrix():
            return tuple(w.read(value))
        case Array():
            array = w.read(value)
            if array.ndim == 0:
                raise TypeError("iteration over a 0-d array")
            return tuple([viewed(w, value, itemgetter(row)) for row in range(len(array))])
        case Iterator():
            _open(w, value)
            items: list[Any] = []
            while True:
                if len(items) > ENDLESS:
                    raise w.error(f"more than {ENDLESS} items: does this iterator not end?")
                try:
                    items.append(advance_iterator(w, value))
                except StopIteration:
                    return tuple(items)
        case Row():
            return tuple([value.element(index) for index in range(value.length)])
        case Indexed():
            raise w.error(f"{value.what} has no known length: loop over it")
        case Instance():
            return items_of(w, iterate(w, value))
        case Conflict():
            raise w.error(value.message)
        case Abstract():
            raise TypeError(f"{describe(value)} is not iterable")
    if isinstance(value, collections.abc.Iterator):
        return items_of(w, Iterator((Replay(value), 0)))
    return tuple(value)


def items_or_maybe(w: Walker, value: Any) -> tuple[Any, ...]:
    """As `items_of`, but what a generator expression may have left out comes as a Maybe."""
    if isinstance(value, Iterator):
        _open(w, value)
        source, index = w.read(value)
        if isinstance(source, Yielded):
            items: tuple[Any, ...] = w.read(source)
            w.write(value, (source, len(items)))
            return items[index:]
    return items_of(w, value)


def put_off(w: Walker, iterator: Iterator) -> bool:
    """Whether an iterator's items are made when they are asked for, and nothing is known of how
    many there are."""
    source, _ = w.read(iterator)
    return isinstance(source, (Replay, Lazy))


def _open(w: Walker, iterator: Iterator) -> None:
    """Prepare an iterator whose items are all taken now: at once, if that can be done."""
    source, index = w.read(iterator)
    if isinstance(source, Lazy) and source.whole is not None and same_known(index, 0):
        w.write(iterator, w.read(source.whole(w)))


def maybe_next(w: Walker, iterator: Iterator) -> bool:
    """Whether the next item is one that a filter may have left out."""
    source, index = w.read(iterator)
    if not isinstance(source, Yielded) or isinstance(index, Abstract):
        return False
    items = w.read(source)
    return isinstance(items, tuple) and index < len(items) and isinstance(items[index], Maybe)


def iterate(w: Walker, value: Any) -> Any:
    """iter(value), as an Iterator."""
    match value:
        case Iterator():
            return value
        case Indexed():
            source: Any = value
        case List():
            contents = w.read(value)
            source = contents if isinstance(contents, Indexed) else value
        case Instance():
            method = w.environment.find_method(w, value, "__iter__")
            if method is not None:
                iterator = w.call(method)
                if not isinstance(iterator, Instance):
                    return iterate(w, iterator)
                return Iterator((_taken(w, iterator), 0))
            length = w.environment.length(w, value)
            source = tuple([w.environment.item(w, value, index) for index in range(length)])
        case Abstract():
            source = items_of(w, value)
        case range():
            source = value
        case str() | bytes() | tuple() | list() | Mapping() | set() | frozenset() | np.ndarray():
            source = tuple(value)
        case vectors.Vector():
            source = tuple(value)
        case _:
            w.environment.dependencies.add(value)
            source = Replay(iter(value))
    if isinstance(source, Indexed) and source.grouped:
        raise w.error(
            f"{source.what} exceeds what is unrolled and can only be summed or folded: "
            "write the loops as for statements"
        )
    return Iterator((source, 0))


def _taken(w: Walker, iterator: Instance) -> tuple[Any, ...]:
    """All that an iterator of the user's own class gives: its end must be known."""
    items: list[Any] = []
    frames, region, conditional = len(w.frames), w.build.region, w.conditional
    while len(items) <= ENDLESS:
        state = w.state
        try:
            items.append(w.call(w.environment.find_method(w, iterator, "__next__")))
        except StopIteration:
            del w.frames[frames:]
            w.build.region, w.conditional, w.state = region, conditional, state
            return tuple(items)
    raise w.error(f"more than {ENDLESS} items: does this iterator not end?")


def advance_iterator(w: Walker, iterator: Any) -> Any:
    """next(iterator). StopIteration at its end."""
    source, index = w.read(iterator)
    if isinstance(source, Replay):
        item = source.get(index)
    elif isinstance(source, Lazy):
        item = source.step(w, index, *source.parts)
    elif isinstance(source, Indexed):
        inside = arithmetic.compare(w, "<", index, source.length)
        if isinstance(inside, Dynamic):
            raise w.error(f"next() on {source.what} is not known to succeed: loop over it")
        if not inside:
            raise StopIteration
        item = source.element(index)
    else:
        items = items_of(w, source) if isinstance(source, List) else source
        if index >= len(items):
            raise StopIteration
        item = items[index]
    if type(item) is Maybe:
        raise w.error(
            "the filter of this generator expression is not known at compile time, so only sum(), "
            "min(), max(), any(), all() and next() with a default can take what it gives: write "
            "'x if c else 0' instead"
        )
    w.write(iterator, (source, arithmetic.binary(w, "+", index, 1)))
    return item


def indexed(w: Walker, xs: Any) -> Any:
    """The Indexed that a sequence is made of at run time, None if its items can be listed."""
    if isinstance(xs, Indexed):
        return xs
    if isinstance(xs, List) and isinstance(w.read(xs), Indexed):
        return w.read(xs)
    if isinstance(xs, Iterator):
        source, _ = w.read(xs)
        if isinstance(source, Indexed):
            return source
    return None


def source_items(w: Walker, source: Any) -> Sequence[Any]:
    """The items of an iterator's source, of one that Python runs as far as it goes."""
    if isinstance(source, List):
        return items_of(w, source)
    if isinstance(source, Replay):
        try:
            source.get(ENDLESS)
        except StopIteration:
            return tuple(source.items)
    return source  # type: ignore[no-any-return]


# ---------------------------------------------------------------- tables


def tabulate(w: Walker, items: Sequence[Any]) -> Indexed:
    """Known items as a sequence that can be indexed at run time, in tables of constants."""
    if isinstance(items, range):
        first, step = items.start, items.step

        def place(index: Any) -> Any:
            scaled = index if step == 1 else arithmetic.binary(w, "*", index, step)
            return scaled if first == 0 else arithmetic.binary(w, "+", scaled, first)

        return Indexed(len(items), place, f"a range of {len(items)} items")
    items = _as_known(w, items)
    element = column(w, items)
    if element is None:
        odd = next((item for item in items if column(w, (item,)) is None), items[0])
        raise w.error(
            f"a loop over {len(items)} items exceeds what is unrolled, and its items fit no "
            f"table of constants (numbers, vectors and tuples of them do): {describe(odd)}"
        )
    return Indexed(len(items), element, f"a sequence of {len(items)} items")


def _as_known(w: Walker, items: Sequence[Any]) -> tuple[Any, ...]:
    """The items, those as Python objects that are virtual but wholly known."""
    known = []
    for item in items:
        try:
            known.append(concrete(w, item))
        except NotKnown:
            known.append(item)
    return tuple(known)


def column(w: Walker, items: Sequence[Any]) -> Callable[[Any], Any] | None:
    """What makes the element at a dynamic index from known items; None if they fit no table."""
    first = items[0]
    if all(item is first for item in items):
        return lambda index: first
    kinds = [None if isinstance(item, Abstract) else scalar_kind(item) for item in items]
    if all(kinds):
        kind = widest(*kinds)  # type: ignore[arg-type]
        values = np.array([arithmetic.number_of(w, item, kind) for item in items])
        if kind == "float":
            values = values.astype(np.float32)
        return lambda index: look_up(w, values, index)
    if isinstance(first, vectors.Vector) and all(type(item) is type(first) for item in items):
        parts = _columns(w, [tuple(item) for item in items]) or []
        position = isinstance(first, vectors.Position)
        return lambda index: make_vector(
            w, first.TYPE, tuple([part(index) for part in parts]), position
        )
    if isinstance(first, np.ndarray) and all(np.shape(item) == first.shape for item in items):
        return _array_column(w, np.stack(list(items)))
    lengths = {len(_parts(item)) if _parts(item) is not None else -1 for item in items}
    if len(lengths) == 1 and -1 not in lengths and len({_class(item) for item in items}) == 1:
        columns = _columns(w, [_parts(item) for item in items])
        if columns is None:
            return None
        cls = _class(first)
        if cls is list:
            return lambda index: List(tuple([part(index) for part in columns]))
        return lambda index: Tuple(tuple([part(index) for part in columns]), cls)
    return None


def _parts(item: Any) -> Any:
    if isinstance(item, Tuple):
        return item.items
    return item if isinstance(item, (tuple, list)) else None


def _class(item: Any) -> type:
    return item.cls if isinstance(item, Tuple) else type(item)


def _columns(w: Walker, rows: Sequence[Sequence[Any]]) -> list[Callable[[Any], Any]] | None:
    columns = [column(w, items) for items in zip(*rows, strict=True)]
    return None if not columns or None in columns else columns  # type: ignore[return-value]


def _array_column(w: Walker, array: np.ndarray[Any, Any]) -> Callable[[Any], Any] | None:
    """Rows of a numeric array by dynamic index: scalars, vectors of 2 to 4, or longer rows."""
    if array.dtype.kind not in "biuf":
        return None
    if array.ndim == 1:
        return column(w, array.tolist())
    if array.ndim == 2 and 2 <= array.shape[1] <= 4:
        parts = [column(w, array[:, index].tolist()) for index in range(array.shape[1])]
        kind = {"b": "bool", "i": "int", "u": "int", "f": "float"}[array.dtype.kind]
        type = vector(kind, array.shape[1])  # type: ignore[arg-type]
        return lambda index: make_vector(w, type, tuple([p(index) for p in parts]))  # type: ignore[misc]
    return lambda index: _row(w, array, index)


def _row(w: Walker, array: np.ndarray[Any, Any], index: Any) -> Indexed:
    """One row of a table by dynamic index, itself to be indexed."""
    width = array.shape[1]
    small = array.size <= LIFTED  # a view is a new array each time
    key = (array.shape, array.dtype.str, array.tobytes()) if small else id(array)
    if key not in w.environment.rows:  # one way for a table, so that its rows can be joined
        inner = _array_column(w, array.reshape(-1, *array.shape[2:]))
        assert inner is not None

        def element(at: Any, base: Any) -> Any:
            return inner(arithmetic.binary(w, "+", base, within(w, at, width)))

        w.environment.rows[key] = array, element
    _, element = w.environment.rows[key]
    base = arithmetic.binary(w, "*", within(w, index, array.shape[0]), width)
    return Row(width, element, f"a row of a table of shape {array.shape}", (base,))


def within(w: Walker, index: Any, length: int) -> Any:
    """An index made to lie in a sequence: a negative one counts from the end, others clamp."""
    if not isinstance(index, Abstract):
        index = int(index)
        return min(max(index + length if index < 0 else index, 0), length - 1)
    wrapped = arithmetic.select(
        w, arithmetic.compare(w, "<", index, 0), arithmetic.binary(w, "+", index, length), index
    )
    low = arithmetic.elementwise(w, "max", (wrapped, 0), "int")
    return arithmetic.elementwise(w, "min", (low, length - 1), "int")


def look_up(w: Walker, values: np.ndarray[Any, Any], index: Any) -> Any:
    """A number of a table by index; an index that is out of range gives some element."""
    if not isinstance(index, Abstract):
        return values[within(w, index, len(values))].item()
    if len(values) > TABLE_LIMIT:
        raise w.error(
            f"a table of {len(values)} elements is too large: make it an image (pygpu.Image)"
        )
    kind = {"b": "bool", "i": "int", "f": "float"}[values.dtype.kind]
    table = w.build.add_table(f"table{len(w.build.tables)}", values)
    at = arithmetic.as_value(w, index, INT)
    return dynamic(w, "table", at, data=Lookup(table, vector(kind, 1)))  # type: ignore[arg-type]


# ---------------------------------------------------------------- indexing


def by_dynamic_index(w: Walker, container: Any, index: Any) -> Any:
    """container[index] for a dynamic index into a sequence or table of known length."""
    items: tuple[Any, ...] = ()
    table = container
    if type(container) is Array:
        contents = w.read(container)
        table = container if contents.dtype == object else contents
    elif isinstance(container, List) and not isinstance(w.read(container), Indexed):
        items = w.read(container)
    return one_of(w, _by_dynamic_index(w, table, index), (container, *items))


def one_of(w: Walker, chosen: Any, others: Iterable[Any]) -> Any:
    """What may be one of several objects: it can be read, until one of them changes."""
    others = [other for other in others if isinstance(other, Object) and other is not chosen]
    if isinstance(chosen, Object) and others:
        chosen.outside = EITHER
        for other in others:
            base = other.base if isinstance(other, Array) and other.base is not None else other
            w.aliases.setdefault(base, []).append(chosen)
    return chosen


def _by_dynamic_index(w: Walker, container: Any, index: Any) -> Any:
    indices = index.items if isinstance(index, Tuple) else (index,)
    if any(scalar_kind(part) not in ("int", "bool") for part in indices):
        raise w.error(f"an index must be an integer, got {describe(index)}: convert it with int()")
    if isinstance(container, Indexed):
        return _in_turn(w, container.element(indices[0]), indices[1:])
    if isinstance(container, List):
        contents = w.read(container)
        if isinstance(contents, Indexed):
            return _in_turn(w, contents.element(indices[0]), indices[1:])
    size = vector_type(container)
    if size:
        at = arithmetic.as_value(w, wrap_negative(w, indices[0], size.size), INT)
        whole = arithmetic.as_value(w, arithmetic.contents_of(w, container), size)
        return dynamic(w, "element", whole, at)
    if isinstance(container, np.ndarray):
        made = _array_column(w, container)
        if made is None:
            raise w.error(f"an array of {container.dtype} cannot be indexed by a dynamic value")
        at = wrap_negative(w, indices[0], len(container))
        return _in_turn(w, made(at), indices[1:])
    if isinstance(container, (dict, Dict, str)):
        raise w.error(f"{describe(container)} cannot be indexed by a dynamic value: use a list")
    items = _as_known(w, items_of(w, container))
    if not items:
        raise IndexError("index into an empty sequence")
    made = column(w, items) if len(items) > 1 else (lambda at: items[0])
    at = wrap_negative(w, indices[0], len(items))
    return _in_turn(w, made(at) if made else _choose(w, items, at), indices[1:])


def _in_turn(w: Walker, value: Any, indices: tuple[Any, ...]) -> Any:
    for index in indices:
        value = w.environment.item(w, value, index)
    return value


def wrap_negative(w: Walker, index: Any, length: int) -> Any:
    """A dynamic index, a negative one counted from the end."""
    if not isinstance(index, Abstract):
        return index + length if index < 0 else index
    return arithmetic.select(
        w, arithmetic.compare(w, "<", index, 0), arithmetic.binary(w, "+", index, length), index
    )


def _choose(w: Walker, items: tuple[Any, ...], index: Any) -> Any:
    """items[index] by a chain of choices, for items that are computed."""
    if len(items) > 256:
        raise w.error(f"{len(items)} computed items cannot be indexed by a dynamic value")
    chosen = items[0]
    for place, item in enumerate(items[1:], 1):
        chosen = w.environment.choose(w, arithmetic.compare(w, "==", index, place), item, chosen)
    return chosen


def slice_of(w: Walker, part: Any) -> slice:
    """A known slice, an error where a bound is dynamic."""
    if isinstance(part, Slice):
        raise w.error("the bounds of a slice must be known at compile time")
    return part  # type: ignore[no-any-return]
