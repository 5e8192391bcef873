"""Sets and dicts with members that only the device knows. Such a set holds a list of distinct
members, a dict one of pairs of a key and a value, in the order in which they came: lists whose
length only the device knows (see bounded.py).

    seen = set()
    for _ in range(40):
        if x in seen:           # compared with each member there may be
            break
        seen.add(x)             # at the end, where it is none of them
        x = follow(x)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.collections.derived import HELD
from pygpu.frontend.joins.choosing import SLOTS, as_slots, differing
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import key_of
from pygpu.frontend.values.lazy import Bounded, Indexed
from pygpu.frontend.values.objects import (
    Array,
    Dict,
    Instance,
    List,
    Matrix,
    Set,
    Vector,
    Yielded,
)
from pygpu.frontend.values.objects import Iterator as Iterated
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Dynamic,
    Maybe,
    NotKnown,
    Tuple,
    describe,
    tuple_of,
)

with later():
    from pygpu.frontend.walked import containers


def members(w: Evaluator, value: Any) -> Bounded | None:
    """The members of a set or dict if only the device knows which there are; else None."""
    contents = w.peek(value) if type(value) in (Set, Dict) else None
    return contents if isinstance(contents, Bounded) else None


def slots(w: Evaluator, value: Any) -> Bounded:
    """The members of any set, of a dict pairs of a key and a value."""
    if isinstance(value, (Set, Dict)):
        value = w.read(value)
    return as_slots(value)


def known_entries(w: Evaluator, d: Any) -> dict[Any, Any]:
    """The keys and values of a dict, where it is known which keys it has."""
    contents: dict[Any, Any] | Bounded = w.read(d) if isinstance(d, Dict) else d
    if isinstance(contents, Bounded):
        raise w.error(
            "which keys this dict has only the device knows: it can be asked for keys, measured, "
            "stored into, looped over and folded, but not matched by 'case' or handed on by **"
        )
    return contents


def as_list(w: Evaluator, value: Any) -> Any:
    """A set whose members only the device knows as a list, in no order; others as they are. So are
    iterators over such, of which nothing is left."""
    if not lists.has_no_order(w, value):
        return value
    if isinstance(value, Set):
        return List(w.read(value))
    source, _ = w.read(value)
    w.write(value, ((), 0))
    return Iterated((Yielded(w.read(source)), 0))


UNORDERED: Final = (
    "a set whose members only the device knows has no order, and Python's cannot be told: take "
    "sorted(s), which has one; sum, any, all, len, 'in', and min and max without a key take s"
)


def _hold(w: Evaluator, handle: Any, new: Bounded) -> None:
    """Let a set or dict have other members from now on: known ones, where they are."""
    if new.most > SLOTS:
        raise w.error(
            f"{describe(handle)} can get more than {SLOTS} members that only the device knows: "
            "add fewer, or keep what is counted in a list that a number indexes"
        )
    if new.least == new.most:
        items = new.items[: new.most]
        is_dict = isinstance(handle, Dict)
        try:
            keys = [key_of(w, entry(item)[0] if is_dict else item) for item in items]
        except NotKnown:
            pass
        else:
            values = [entry(item)[1] for item in items] if is_dict else ()
            w.write(handle, dict(zip(keys, values, strict=True)) if is_dict else tuple(keys))
            return
    w.write(handle, new)


def entry(pair: Any) -> tuple[Any, Any]:
    """A key and its value."""
    return pair.items if isinstance(pair, Tuple) else pair


def _keys(handle: Any, held: Bounded) -> Sequence[Any]:
    items = held.items[: held.most]
    return [entry(item)[0] for item in items] if isinstance(handle, (Dict, dict)) else items


# ---------------------------------------------------------------- asking


def has(w: Evaluator, handle: Any, key: Any) -> Any:
    """key in s"""
    return _any(w, _tests(w, handle, slots(w, handle), key))


def value(w: Evaluator, d: Any, key: Any) -> Any:
    """d[key], some value where there is none."""
    held = slots(w, d)
    found = _chosen(w, held, _tests(w, d, held, key))
    if found is None:
        raise KeyError(describe(key))
    return found[0]


def value_or(w: Evaluator, d: Any, key: Any, default: Any) -> Any:
    """d.get(key, default)"""
    held = slots(w, d)
    tests = _tests(w, d, held, key)
    found = _chosen(w, held, tests)
    return default if found is None else w.choose(_any(w, tests), found[0], default)


def value_or_put(w: Evaluator, d: Any, key: Any, default: Any) -> Any:
    """d.setdefault(key, default)"""
    held = slots(w, d)
    tests = _tests(w, d, held, key)
    found, is_there = _chosen(w, held, tests), _any(w, tests)
    value = default if found is None else w.choose(is_there, found[0], default)
    if is_there is not True:
        pair = tuple_of((key, value))
        absent = _negated(w, is_there)
        pair = pair if absent is True else Maybe(absent, pair)
        _hold(w, d, lists.appended(w, held, (pair,)))
    return value


def _chosen(w: Evaluator, held: Bounded, tests: Sequence[Any]) -> tuple[Any] | None:
    """The value of the slot whose test holds, alone in a tuple; None where none can."""
    found: tuple[Any] | None = None
    for pair, test in zip(held.items, tests, strict=False):
        if test is not False:
            its = entry(pair)[1]
            found = (its if found is None or test is True else w.choose(test, its, found[0]),)
    return found


def _tests(w: Evaluator, handle: Any, held: Bounded, key: Any) -> list[Any]:
    """Of each slot whether it is taken and has the key."""
    check_hashable(key)
    made = []
    for place, one in enumerate(_keys(handle, held)):
        same = one is key or w.truth(w.compare("==", one, key))
        there = same is not False and lists.is_there(w, held, place)
        made.append(_both(w, there, same))
    return made


def check_hashable(key: Any) -> None:
    """TypeError for a key that has no hash in Python."""
    if isinstance(key, Tuple):
        for item in key.items:
            check_hashable(item)
    elif isinstance(key, Choice):
        for option in key.options:
            check_hashable(option)
    elif not isinstance(key, Abstract):
        hash(key)
    elif isinstance(key, (List, Dict, Set, Array, Vector, Matrix, Indexed)) or (
        isinstance(key, Instance) and key.cls.__hash__ is None
    ):
        hint = ": a tuple of its components has a hash" if isinstance(key, Vector) else ""
        raise TypeError(f"{describe(key)} is unhashable{hint}")


def _both(w: Evaluator, a: Any, b: Any) -> Any:
    if a is True or b is False:
        return b
    return a if b is True or a is False else w.choose(a, b, False)


def _any(w: Evaluator, tests: Sequence[Any]) -> Any:
    found: Any = False
    for test in tests:
        if test is True or found is True:
            return True
        if test is not False:
            found = test if found is False else w.choose(found, True, test)
    return found


def _negated(w: Evaluator, test: Any) -> Any:
    return not test if isinstance(test, bool) else w.choose(test, False, True)


# ---------------------------------------------------------------- changes


def put(w: Evaluator, handle: Any, key: Any, new: Any = None, when: Any = True) -> None:
    """s.add(key) and d[key] = new, where `when` holds."""
    held = slots(w, handle)
    tests = _tests(w, handle, held, key)
    is_dict = isinstance(handle, Dict)
    absent = _both(w, when, _negated(w, _any(w, tests)))
    if is_dict:
        items = [*held.items]
        for place, test in enumerate(tests):
            here = _both(w, when, test)
            if here is not False:
                one, old = entry(items[place])
                items[place] = tuple_of((one, new if here is True else w.choose(here, new, old)))
        held = held.changed(tuple(items), held.length, held.least, held.most)
    if absent is not False:
        member = tuple_of((key, new)) if is_dict else key
        held = lists.appended(w, held, (member if absent is True else Maybe(absent, member),))
        most = differing(handle, held.items)
        if most is not None and held.most > most:
            held = held.changed(held.items[:most], held.length, min(held.least, most), most)
    _hold(w, handle, held)


def take(w: Evaluator, handle: Any, key: Any) -> Any:
    """Let a set or dict be without a key. Whether it was there."""
    held = slots(w, handle)
    tests = _tests(w, handle, held, key)
    if all(test is False for test in tests):
        return False
    items, moved = list(held.items), False
    for place, test in enumerate(tests):
        moved = _any(w, (moved, test))
        if place + 1 < len(held.items):
            items[place] = w.choose(moved, held.items[place + 1], items[place])
    is_sure = moved is True
    length = w.binary("-", held.length, 1 if is_sure else w.choose(moved, 1, 0))
    least = max(held.least - 1, 0)
    most = held.most - 1 if is_sure else held.most
    _hold(w, handle, held.changed(tuple(items), length, least, most))
    return moved


def last(w: Evaluator, d: Any) -> Any:
    """d.popitem()"""
    held = slots(w, d)
    if w.faults.checked or w.handled():
        empty = w.compare("==", held.length, 0)
        w.check(empty, KeyError, "popitem(): dictionary is empty")
    found, left = lists.popped(w, held, -1)
    _hold(w, d, left)
    return found


def columns(held: Bounded, which: int | None) -> Bounded:
    """The keys of a dict (0), its values (1) or its items (None), as what a list holds."""
    items = [pair if which is None else entry(pair)[which] for pair in held.items]
    return Bounded(tuple(items), held.length, held.least, held.most)


# ---------------------------------------------------------------- keys that are surely there


class _Present:
    """A fact of a path: the key is one of those that a dict had when it held these contents. Other
    facts say which numbers an int can be."""

    __slots__ = ("contents", "key")

    def __init__(self, contents: Any, key: Any) -> None:
        self.contents = contents
        self.key = key

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, _Present)
            and other.contents is self.contents
            and bool(other.key == self.key)
        )

    def __hash__(self) -> int:
        return hash((id(self.contents), self.key))


def note_present(w: Evaluator, d: Any, key: Any) -> None:
    """Note that a dict has a key: it was asked for it, and goes on."""
    name = _name(key)
    if isinstance(d, Dict) and name is not None:
        w.state.facts = {**w.state.facts, _Present(w.read(d), name): frozenset((1,))}


@contextmanager
def presuming(w: Evaluator, d: Any, keys: Iterable[Any]) -> Iterator[None]:
    """While functions are asked of keys that may not be there, whose results are not used."""
    before = w.state.facts
    if isinstance(d, Instance) and issubclass(d.cls, containers.Mapping):
        d = w.read(d).get(HELD)  # of a Counter, say
    for key in keys:
        note_present(w, d, key.value if isinstance(key, Maybe) else key)
    try:
        yield
    finally:
        w.state.facts = before


def is_present(w: Evaluator, d: Dict, key: Any) -> bool:
    """Whether a dict has a key: it was asked for before, or all that the key can be are there."""
    contents = w.read(d)
    name = _name(key)
    if name is not None and _Present(contents, name) in w.state.facts:
        return True
    if isinstance(contents, Bounded):
        return False
    if isinstance(key, Choice):
        return all(not isinstance(one, Abstract) and one in contents for one in key.options)
    if scalar_kind(key) == "bool":
        return False in contents and True in contents
    if type(key) is not Dynamic or scalar_kind(key) not in ("int", "uint"):
        return False
    low, high = ranges.range_of(w, key.value)
    return high - low < len(contents) and all(n in contents for n in range(low, high + 1))


def _name(key: Any) -> Any:
    """What two keys have in common that are surely one; None of what has no such."""
    if isinstance(key, Dynamic):
        return key.value
    if isinstance(key, Choice):
        is_plain = all(isinstance(one, (str, int)) for one in key.options)
        return key.which.value, key.options if is_plain else id(key)
    if isinstance(key, Tuple):
        names = tuple([_name(item) for item in key.items])
        return None if None in names else names
    return None if isinstance(key, Abstract) or key is None else ("known", key)
