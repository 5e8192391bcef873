"""Items by an index or key that is dynamic: from tables, or chosen one by one.

A table's element is looked up; of computed items one is chosen, by a chain of selections.

    by_dynamic_index(w, items, index)                # items[index]
    by_key(w, {"a": 1.0, "b": 2.0}, key)             # d[key]
    choose(w, test, a, b)                            # a if test else b
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.numbers import as_value, dynamic
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import datamodel
from pygpu.frontend.protocols.sequences import items_of, told_apart
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.kinds import any_of, is_member, scalar_kind
from pygpu.frontend.values.lazy import Indexed, Row
from pygpu.frontend.values.objects import (
    EITHER,
    Array,
    Dict,
    Instance,
    List,
    Matrix,
    Object,
    Set,
    Vector,
)
from pygpu.frontend.values.states import reachable, settled
from pygpu.frontend.values.values import (
    ABSENT,
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Truth,
    Tuple,
    Unset,
    describe,
    tuple_of,
)
from pygpu.types import INT

with later():
    from pygpu.frontend.collections import derived, members, records, texts, words
    from pygpu.frontend.numbers import integers
    from pygpu.frontend.protocols import tables
    from pygpu.frontend.walked import library


def place_of(w: Evaluator, index: Any) -> Any:
    """What stands for a place: of an object of the user's class what its __index__ gives, of an
    array of no dimensions its element."""
    if isinstance(index, Array):
        return operands.number_in(w, index)
    method = datamodel.find_method(w, index, "__index__") if isinstance(index, Instance) else None
    return index if method is None else w.call(method)


def by_key(w: Evaluator, container: Any, key: Any) -> Any:
    """d[key] for a dynamic key of a dict with known keys: some value for one that is not there."""
    held = members.members(w, container)
    count = len(entries(w, container)) if held is None else held.most
    if not count:
        raise KeyError(describe(key))
    if w.faults.checked or w.handled():
        missing = arithmetic.negate(w, has_key(w, container, key))
        w.check(missing, KeyError, f"a key that is none of the {count} there are", key)
    members.note_present(w, container, key)
    return by_key_unchecked(w, container, key)


def by_key_unchecked(w: Evaluator, container: Any, key: Any) -> Any:
    """The value of a key, some value where there is none."""
    held = members.members(w, container)
    if held is not None:
        values = members.columns(held, 1).items
        return one_of(w, members.value(w, container, key), values)
    contents = entries(w, container)
    first = _first_of_range(list(contents))
    if first is not None and scalar_kind(key) in ("int", "bool"):
        items = Tuple(tuple([contents[first + place] for place in range(len(contents))]))
        place = arithmetic.binary(w, "-", key, first)
        return by_dynamic_index(w, items, within_range(w, place, len(contents)))
    tests = [(_is_key(w, key, one), value) for one, value in contents.items()]
    meant = [(test, value) for test, value in tests if test is not False]
    if not meant:
        raise KeyError(f"{describe(key)} is none of the keys")
    chosen = meant[0][1]
    for test, value in meant[1:]:
        chosen = choose(w, test, value, chosen)
    return one_of(w, chosen, contents.values())


def entries(w: Evaluator, container: Any) -> dict[Any, Any]:
    """The keys and values of a dict, known or of ours."""
    contents = w.read(container) if isinstance(container, Dict) else dict(container)
    if len(contents) > 256:
        raise w.error(
            f"a dict of {len(contents)} keys cannot be asked for a dynamic one: a list or table "
            "indexed by a number can"
        )
    return contents


def _first_of_range(keys: list[Any]) -> int | None:
    """The least of keys that are all integers of a range, whatever their order; else None."""
    if any(type(key) is not int for key in keys):
        return None
    first = min(keys)
    return first if sorted(keys) == list(range(first, first + len(keys))) else None


def within_range(w: Evaluator, place: Any, length: int) -> Any:
    low = arithmetic.elementwise(w, "max", (place, 0), "int")
    return arithmetic.elementwise(w, "min", (low, length - 1), "int")


def _is_key(w: Evaluator, key: Any, known: Any) -> Any:
    """Whether a dynamic key is a known one: a number, one of several known things, a tuple."""
    key = derived.plain_key(w, key)
    if type(key) is Choice:
        every = range(len(key.options))
        found: Any = False
        for place in w.state.facts.get(key.which.value, every):
            is_it = arithmetic.compare(w, "==", key.which, place)
            is_known = _is_key(w, key.options[place], known)
            found = arithmetic.either(w, found, arithmetic.both(w, is_it, is_known))
        return found
    if isinstance(key, Tuple):
        if not isinstance(known, tuple) or len(known) != len(key.items):
            return False
        same: Any = True
        for part, other in zip(key.items, known, strict=True):
            same = arithmetic.both(w, same, _is_key(w, part, other))
        return same
    if not scalar_kind(key):
        if not isinstance(key, Abstract):
            return key == known
        if texts.is_written(key):
            return w.compare("==", key, known) if isinstance(known, str) else False
        if not isinstance(key, Vector):
            members.check_hashable(key)
        raise w.error(
            "a key that is dynamic is a number, one of several known things or a tuple of these, "
            f"got {describe(key)}"
        )
    return arithmetic.compare(w, "==", key, known) if scalar_kind(known) else False


def has_key(w: Evaluator, container: Any, key: Any) -> Any:
    """key in d"""
    if members.members(w, container) is not None:
        return members.has(w, container, key)
    found: Any = False
    for known in entries(w, container):
        found = arithmetic.either(w, found, _is_key(w, key, known))
    return found


def stored_by_key(w: Evaluator, container: Dict, key: Any, new: Any) -> None:
    """d[key] = new, for a dynamic key: one of those there, or a new one."""
    if not members.is_present(w, container, key) or members.members(w, container) is not None:
        members.put(w, container, key, new)
        return
    contents = entries(w, container)
    w.write(
        container,
        {one: choose(w, _is_key(w, key, one), new, value) for one, value in contents.items()},
    )


def by_dynamic_index(w: Evaluator, container: Any, index: Any) -> Any:
    """container[index] for a dynamic index into a sequence or table of known length."""
    if type(container) is Array and scalar_kind(index) == "int" and w.read(container).ndim > 1:
        if tables.is_wide(w, container):
            row = _by_dynamic_index(w, w.read(container), index)
            return tables.watched(w, row, container) if isinstance(row, Row) else row
        container = Tuple(items_of(w, container))  # which are views of it
    items: tuple[Any, ...] = ()
    table = container
    if type(container) is Array:
        contents = w.read(container)
        table = container if contents.dtype == object else contents
    elif isinstance(container, (List, Matrix)) and not isinstance(w.read(container), Indexed):
        items = w.read(container)
    elif isinstance(container, Tuple):
        items = container.items
    made = _by_dynamic_index(w, table, index)
    if any(made is item for item in items):  # each of them is
        return made
    made = one_of(w, made, (container, *items))
    if isinstance(made, Object) and made.either is None and items and scalar_kind(index):
        at = tables.within(w, integers.as_index(w, index), len(items))
        records.note_either(w, made, items, arithmetic.unary(w, "+", at))
    return made


def one_of(w: Evaluator, chosen: Any, others: Iterable[Any]) -> Any:
    """What may be one of several objects: it can be read, until one of them changes."""
    others = [other for other in others if isinstance(other, Object) and other is not chosen]
    if isinstance(chosen, Object) and others:
        chosen.outside = EITHER
        for other in others:
            w.heap.alias(other, chosen)
    return chosen


def stored_by_index(
    w: Evaluator, container: List | Vector, index: Any, new: Any
) -> tuple[Any, ...] | None:
    """The items after `container[index] = new`, each a selection; None where there is none between
    such items. Vectors that have other names too keep knowing which vectors they may be."""
    items = list(items_of(w, container))
    tables.check_index(w, index, len(items), operator.setitem, [], 0, None)
    held = [item for item in (new, *items) if isinstance(item, Object)]
    is_shared = bool(held) and (
        w.in_sight(reachable(held, w.state), beside=container)
        or not reachable((new,), w.state).isdisjoint(items)
    )
    for place, test in enumerate(meant(w, index, len(items))):
        made, old = arithmetic.select(w, test, new, items[place]), items[place]
        if made is NotImplemented:
            return None
        items[place] = _one_of_two(w, test, made, (old, new)) if is_shared else made
    return tuple(items)


def store_at(w: Evaluator, container: Any, index: Any, new: Any) -> None:
    """As `stored_by_index`, of items between which a number selects nothing: one after the other.
    A loop of the device over their places would come here again: it is unrolled."""
    if w.frame.code.code is library.stored_at.__code__:
        raise w.error("what is stored where only the device knows must be a number or a vector")
    w.call(library.stored_at, container, index, new)


def _one_of_two(w: Evaluator, test: Any, made: Any, two: tuple[Any, Any]) -> Any:
    """What is the second of two objects where a test holds: a change of it is one of that."""
    if not isinstance(test, Dynamic) or two[0] is two[1]:
        return two[1] if test is True else two[0]
    made = one_of(w, made, two)
    records.note_either(w, made, two, arithmetic.select(w, test, 1, 0))
    return made


def _by_dynamic_index(w: Evaluator, container: Any, index: Any) -> Any:
    indices = index.items if isinstance(index, Tuple) else (index,)
    indices = tuple([integers.as_index(w, part) for part in indices])
    if any(scalar_kind(part) not in ("int", "bool", "uint") for part in indices):
        hint = "use np.where(mask, a, b)" if vector_type(index) else "convert it with int()"
        raise w.error(f"an index must be an integer, got {describe(index)}: {hint}")
    is_array = isinstance(container, (Array, np.ndarray, Row)) or datamodel.is_row(w, container)
    if is_array and "bool" in map(scalar_kind, indices):
        raise w.error(
            "a bool is a mask where it indexes a NumPy array: write int(x), or np.where()"
        )
    if any(isinstance(part, Truth) and part.is_numpys is not False for part in indices):
        raise w.error("a bool of NumPy's is no place in a list or tuple: write int(x), or bool(x)")
    lazy = w.read(container) if isinstance(container, List) else container
    if isinstance(lazy, Indexed):
        return _in_turn(w, of_indexed(w, lazy, indices[0]), indices[1:])
    size = vector_type(container)
    if size:
        tables.check_index(w, indices[0], size.size)
        at = as_value(w, tables.wrap_negative(w, indices[0], size.size), INT)
        contents = operands.contents_of(w, container)
        element = dynamic(w, "element", as_value(w, contents, size), at)
        numbers = contents if isinstance(contents, tuple) else ()
        return any_of(element.value, *numbers)
    if isinstance(container, np.ndarray):
        made = tables.array_column(w, container)
        if made is None and container.dtype.kind == "U":
            return _in_turn(w, w.item(tuple(container.tolist()), indices[0]), indices[1:])
        if made is None:
            raise w.error(f"an array of {container.dtype} cannot be indexed by a dynamic value")
        tables.check_index(w, indices[0], len(container))
        if not isinstance(indices[0], Abstract):
            row = container[tables.clamped(w, indices[0], len(container))]
            return _in_turn(w, row, indices[1:])
        at = tables.wrap_negative(w, indices[0], len(container))
        return _in_turn(w, made(at), indices[1:])
    failing = _failing(w, container)
    if isinstance(container, str):
        if not container:  # one of several: some letter, where the index is not reached
            tables.check_index(w, indices[0], 0, *failing)
        container = tuple(container or "\0")
    if isinstance(container, range) and tables.is_of_ints(w, container):
        at = tables.within(w, indices[0], len(container))
        return _in_turn(w, w.call(int, tables.tabulate(w, container).element(at)), indices[1:])
    items = items_of(w, container)
    if not any(isinstance(item, (Set, Dict)) for item in items):  # which may be changed: our own
        items = tables.as_known(w, items)
    if not items:
        raise IndexError("index into an empty sequence")
    made = tables.column(w, items) if len(items) > 1 else (lambda at: items[0])
    tables.check_index(w, indices[0], len(items), *failing)
    at = tables.wrap_negative(w, indices[0], len(items))
    return _in_turn(w, made(at) if made else _choose(w, items, at), indices[1:])


def _failing(w: Evaluator, container: Any) -> tuple[Any, ...]:
    """A call that fails as an index does that is outside of a sequence of Python's own."""
    kind = datamodel.class_of(container)
    empty: tuple[Any, ...] = ("", (), [], range(0))
    return next(((operator.getitem, one, 0) for one in empty if issubclass(kind, type(one))), ())


def _in_turn(w: Evaluator, value: Any, indices: tuple[Any, ...]) -> Any:
    for index in indices:
        value = w.item(value, index)
    return value


def of_indexed(w: Evaluator, xs: Indexed, index: Any) -> Any:
    """xs[index], of one number."""
    tables.check_index(w, index, told_apart(w, xs).length)
    return xs.element(tables.wrap_negative(w, index, xs.length))


def meant(w: Evaluator, index: Any, length: int) -> list[Any]:
    """Whether an index means each place of so many."""
    at = tables.wrap_negative(w, index, length)
    return [arithmetic.compare(w, "==", at, place) for place in range(length)]


def _choose(w: Evaluator, items: tuple[Any, ...], index: Any) -> Any:
    """items[index] by a chain of choices, for items that are computed."""
    if len(items) > 256:
        raise w.error(f"{len(items)} computed items cannot be indexed by a dynamic value")
    chosen = items[0]
    for place, item in enumerate(items[1:], 1):
        chosen = choose(w, arithmetic.compare(w, "==", index, place), item, chosen)
    return chosen


def held(w: Evaluator, contents: Any, name: str, otherwise: Callable[[], Any] | None) -> Any:
    """What an object holds by a name; ABSENT where it holds nothing. Where a path has set it and
    another has not, `otherwise` gives what it is then."""
    part = settled(contents.get(name, ABSENT), w.state.facts)
    unset = [one for one in part.options if isinstance(one, Unset)] if type(part) is Choice else ()
    if unset:
        if otherwise is None:
            raise w.error(unset[0].message)
        which, default = part.which, otherwise()
        first, *others = [default if isinstance(one, Unset) else one for one in part.options]
        for number, one in enumerate(others, 1):
            first = choose(w, w.compare("==", which, number), one, first)
        return first
    if isinstance(part, Conflict) and not isinstance(part, Unset):
        raise w.error(part.message)
    return ABSENT if isinstance(part, Unset) else part


def choose(w: Evaluator, test: Any, a: Any, b: Any) -> Any:
    """a if test else b, for values that can be joined."""
    if not isinstance(test, Abstract):
        return a if test else b
    if a is b:
        return a
    result: Any = NotImplemented
    rules = _words_chosen, _items_chosen
    for rule in rules if is_member(a) or is_member(b) else (arithmetic.select, *rules):
        if result is NotImplemented:
            result = rule(w, test, a, b)
    if result is NotImplemented:
        result = w.call(library.chosen, test, a, b)  # joined as the sides of an `if`
    return one_of(w, usable(w, result), (a, b))


_WORDS = (str, Choice)


def _words_chosen(w: Evaluator, test: Any, a: Any, b: Any) -> Any:
    """One of two strings, each known or a choice of known ones; NotImplemented of anything else."""
    if type(a) not in _WORDS or type(b) not in _WORDS:
        return NotImplemented
    found = words.numbered(w, (a, b))
    if found is None:
        return NotImplemented
    (x, y), order = found
    return words.word(arithmetic.select(w, test, x, y), order)


def _items_chosen(w: Evaluator, test: Any, a: Any, b: Any) -> Any:
    """One of two tuples of numbers, strings and such tuples, item by item; NotImplemented of
    anything else."""
    kinds = [one.cls if isinstance(one, Tuple) else type(one) for one in (a, b)]
    if kinds != [tuple, tuple]:
        return NotImplemented
    left, right = items_of(w, a), items_of(w, b)
    if len(left) != len(right):
        return NotImplemented
    items = []
    for x, y in zip(left, right, strict=True):
        item = x if x is y and (scalar_kind(x) or type(x) in _WORDS) else NotImplemented
        if scalar_kind(x) and scalar_kind(y) and item is NotImplemented:
            item = arithmetic.select(w, test, x, y)
        if item is NotImplemented:
            item = _words_chosen(w, test, x, y)
        if item is NotImplemented:
            item = _items_chosen(w, test, x, y)
        if item is NotImplemented:
            return NotImplemented
        items.append(item)
    return tuple_of(tuple(items))
