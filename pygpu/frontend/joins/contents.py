"""What objects hold where two paths meet, by the class of each."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from pygpu.frontend.joins.choosing import (
    ROOM,
    SLOTS,
    as_slots,
    differ_in_length,
    lengthened,
    lengths,
    mismatch,
    option,
    zero_of,
)
from pygpu.frontend.joins.joining import Joining
from pygpu.frontend.values.kinds import as_objects
from pygpu.frontend.values.lazy import Bounded, Growing
from pygpu.frontend.values.objects import (
    Array,
    Cell,
    Dict,
    Instance,
    Iterator,
    Object,
    Set,
    Vector,
    Waiting,
    Yielded,
)
from pygpu.frontend.values.values import (
    ABSENT,
    ELSEWHERE,
    UNBOUND,
    Abstract,
    Conflict,
    Dynamic,
    Key,
    Maybe,
    Natural,
    Unset,
)
from pygpu.frontend.values.views import LISTS


def contents(join: Joining, handle: Object, a: Any, b: Any, key: Key) -> Any:
    """What an object holds after the join, by its class."""
    joined = _contents(join, handle, a, b, key)
    if isinstance(joined, Conflict):
        join.spoiled |= not isinstance(a, Conflict)
    elif isinstance(joined, dict):
        spoiled = [name for name, part in joined.items() if isinstance(part, Conflict)]
        join.spoiled |= any(not isinstance(a.get(name), Conflict) for name in spoiled)
    return joined


def _contents(join: Joining, handle: Object, a: Any, b: Any, key: Key) -> Any:
    if a is b:
        return a
    if isinstance(a, Conflict) or isinstance(b, Conflict):
        return a if isinstance(a, Conflict) else b
    if a is ABSENT or b is ABSENT:
        return Conflict(ELSEWHERE)
    if type(handle) is Cell and (a is UNBOUND or b is UNBOUND):
        return join.set_on_one_side(handle, a, b)
    if isinstance(handle, Vector) and not (isinstance(a, tuple) and isinstance(b, tuple)):
        return join.leaf(a, b, handle.type, key)
    are_known = isinstance(a, tuple) and isinstance(b, tuple)
    if isinstance(handle, Set) and are_known and set(a) == set(b):
        return a
    if isinstance(handle, Yielded) and isinstance(a, tuple) and isinstance(b, tuple):
        return _yielded(join, a, b, key)
    if isinstance(handle, (Instance, Waiting)):
        return _named(join, handle, a, b, key)
    if type(handle) is Set or (type(handle) is Dict and not handle.matches(a, b)):
        a, b = as_slots(a), as_slots(b)
    if type(handle) in LISTS and not join.meeting.loop and may_grow(a, b):
        made = grown(join, a, b, key)
        return Conflict(mismatch(join, handle, a, b)) if made is None else made
    if type(handle) in (*LISTS, Set, Dict) and differ_in_length(a, b):
        made = lengthened(join, a, b, key, handle)
        if join.meeting.loop and made is not None:  # else it is walked again
            join.spoiled |= not isinstance(a, Bounded) or made.shape() != a.shape()
        return Conflict(mismatch(join, handle, a, b)) if made is None else made
    if not handle.matches(a, b):
        return Conflict(mismatch(join, handle, a, b))
    if isinstance(handle, Array):  # one of numbers meets one of others element by element
        a, b = as_objects(a), as_objects(b)
    parts = join.joined(handle.parts_of(a), handle.parts_of(b), key)
    put_off = isinstance(handle, Iterator) and isinstance(a[0], Abstract)
    if put_off and isinstance(parts[0], Conflict):
        return Conflict(mismatch(join, handle, a, b))
    gathered = handle.gather(a, parts)
    if isinstance(handle, Iterator):
        source, index = gathered
        return source, _counted(a[1], index)
    return gathered


def _named(join: Joining, handle: Object, a: Any, b: Any, key: Key) -> dict[str, Any]:
    """Values by name as one. What one path has not set is an error; an attribute can be read where
    a test says that it is set, or the class has it, too."""
    is_attribute = isinstance(handle, Instance)
    never = join.meeting.loop or type(handle) is not Instance
    made = {}
    for name in {**a, **b}:
        if join.meeting.loop and type(handle) is Waiting and name.isidentifier():
            unset: Any = join.meeting.unset(name, handle)
            made[name] = join.value(a.get(name, unset), b.get(name, unset), (*key, name))
            continue
        unset = (Conflict if never else Unset)(
            f"the attribute '{name}' is set on one path only through {join.meeting.place()}: "
            "set it on the other path too, or before"
            if is_attribute
            else join.meeting.explain(name)
        )
        part = join.value(a.get(name, unset), b.get(name, unset), (*key, name))
        made[name] = Conflict(part.message) if isinstance(part, Unset) else part
    return made


def may_grow(a: Any, b: Any) -> bool:
    """Whether two lists differ by what was added to them last, and by nothing else that counts."""
    if Growing in (type(a), type(b)):
        return isinstance(a, (tuple, Growing)) and isinstance(b, (tuple, Growing))
    if not isinstance(a, tuple) or not isinstance(b, tuple) or len(a) == len(b):
        return False
    return all(x is y for x, y in zip(a, b, strict=False))


def grown(join: Joining, a: Any, b: Any, key: Key) -> Any:
    """Two lists of which one is perhaps longer as one; None where what is missing can be nothing
    or there are too many."""
    x, y = [one.rows if isinstance(one, Growing) else one for one in (a, b)]
    made = _yielded(join, x, y, key) if max(len(x), len(y)) <= SLOTS + ROOM else None
    if not isinstance(made, tuple) or any(isinstance(one, Conflict) for one in made):
        return None
    if not any(isinstance(one, Maybe) for one in made):
        return made
    rooms = [one.room for one in (a, b) if isinstance(one, Growing) and one.room]
    join.grows = True
    return Growing(made, max(rooms, default=None))


def _yielded(join: Joining, a: tuple[Any, ...], b: tuple[Any, ...], key: Key) -> Any:
    """What a generator expression has yielded on two paths, on one of them perhaps more. Where it
    is more after a round of a loop, each round adds to it: that has no end."""
    if join.meeting.loop and len(a) != len(b):
        return Conflict(lengths(join, len(a), len(b)))
    items = []
    for index, (x, y) in enumerate(zip_longest(a, b, fillvalue=ABSENT)):
        items.append(x if x is y else _maybe(join, x, y, (*key, index)))
        if items[-1] is None:
            return Conflict(lengths(join, len(a), len(b)))
    return tuple(items)


def _maybe(join: Joining, x: Any, y: Any, key: Key) -> Any:
    """An item that is there on one path only, or on both; None if it may not be absent."""
    (taken_x, x), (taken_y, y) = [
        (item.taken, item.value) if isinstance(item, Maybe) else (item is not ABSENT, item)
        for item in (x, y)
    ]
    x, y = [one if one is ABSENT else join.lifted(one) for one in (x, y)]
    zero = zero_of(y) if x is ABSENT else zero_of(x) if y is ABSENT else None
    if zero is not None:  # of numbers, sums count it
        x, y = [zero if one is ABSENT else one for one in (x, y)]
    taken = join.value(taken_x, taken_y, (*key, ".taken"))
    value = option(join, x, y, key)
    if value is ABSENT:
        return None
    return value if taken is True or isinstance(value, Conflict) else Maybe(taken, value)


def _counted(i: Any, joined: Any) -> Any:
    """Where an iterator stands, which was at i on the left: never before its beginning."""
    if isinstance(i, Natural) and isinstance(joined, Dynamic) and i.value is joined.value:
        return i
    return Natural(joined.value) if type(joined) is Dynamic else joined
