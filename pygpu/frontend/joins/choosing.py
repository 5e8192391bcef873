"""Where two paths meet with values that cannot be one: the variable is a choice then, and a dynamic
int says which it is.

    x = None; if c: x = 2.0     # Choice(which, (None, 2.0))
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.frontend.joins.joining import Joining, Renumbered, Round
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Text, flag_class, is_complex, is_member, scalar_kind
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.objects import Array, Dict, Iterator, List, Object, Set, Vector
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import (
    ABSENT,
    UNBOUND,
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Key,
    Tuple,
    Unset,
    describe,
    same_known,
    tuple_of,
)
from pygpu.language.scalars import UInt
from pygpu.language.vectors import CLASSES
from pygpu.types import INT, Kind, vector, widest

CHOICES: Final = Abstract.CHOICES  # options of one choice
WORDS: Final = 64  # options of one that are strings: characters among them
CHANGED: Final = 64  # objects that one may be: a change of it is one of each, under a condition
SLOTS: Final = 256  # of a list whose length only the device knows
UNKNOWN: Final = 64  # of one that is added to in a loop of which nobody knows how long it goes on
ROOM: Final = 16  # more of them while a loop's body is walked, which adds to what it was given


def choice(join: Joining, a: Any, b: Any, key: Key) -> Choice | None:
    """A choice of the two values, of which a dynamic int says which it is; None where they cannot
    be options. An option that is known, or was there before the paths parted, stays as it is. An
    option that is a number, a vector or a tuple of these may hold any number on the path where the
    other option is the value."""
    if a is UNBOUND or b is UNBOUND or a is ABSENT or b is ABSENT or alike(join, a, b):
        return None
    sides = [_side(join, a, join.left), _side(join, b, join.right)]
    base = 0 if isinstance(a, Choice) else 1  # the side whose options keep their numbers
    (first, options, before), (second, others, its) = sides[base], sides[1 - base]
    words = _words(options, others)
    pairs: list[list[Any]] = [[each, ABSENT] for each in options]
    numbers = [words[each] if words else _partner(join, pairs, each) for each in others]
    first = renumbered(first, before)
    second = renumbered(second, [numbers[place] for place in its])
    made = [*words] if words else _met(join, pairs, base, key)
    if made is None:
        return None
    if isinstance(a, Choice):
        note_more(join, len(a.options), len(made))
    which = (first, second) if base == 0 else (second, first)
    own = isinstance(key[0], str) and key[0].isidentifier()
    name = f"'{key[0]}'" if own else "it"
    why = next((v.why for v in (a, b) if isinstance(v, Choice)), "")
    why = why or f"{name} is None on one path through {join.meeting.place()}"
    return Choice(Dynamic(join.leaf(*which, INT, (*key, ".which"))), tuple(made), why)


def _met(join: Joining, pairs: list[list[Any]], base: int, key: Key) -> list[Any] | None:
    """The options of a choice, each of a pair of which one may be absent; None where what a pair
    gives is none, or there are too many."""
    most = WORDS if isinstance(pairs[0][0], (str, bytes)) else CHOICES
    if len(pairs) > getattr(pairs[0][0], "CHOICES", most):
        return None
    made = []
    for place, pair in enumerate(pairs):
        x, y = pair if base == 0 else pair[::-1]
        made.append(option(join, x, y, (*key, place)))
        if is_none(made[-1]):
            return None
    return made


def _words(options: Sequence[Any], others: Sequence[Any]) -> dict[str, int] | None:
    """The number of each string among the options of both, where all are known strings."""
    if not all(type(each) is str for each in (*options, *others)):
        return None
    words = {each: place for place, each in enumerate(options)}
    if len(words) < len(options):
        return None
    for other in others:
        words.setdefault(other, len(words))
    return words if len(words) <= WORDS else None


def _side(join: Joining, value: Any, state: State) -> tuple[Any, tuple[Any, ...], list[int]]:
    """Which option a value is, the options, and the number among them of each that it had: of
    strings those are left out that the tests on its path exclude, for what is put together of them
    would be one of more and more, and so is None, for the test is forgotten where paths meet."""
    if not isinstance(value, Choice):
        return 0, (value,), [0]
    left = list(range(len(value.options)))
    if join.meeting.loop is None:
        possible = sorted(state.facts.get(value.which.value) or left)
        if isinstance(value.options[0], str):
            left = possible
        elif any(value.options[each] is None for each in {*left}.difference(possible)):
            left = [each for each in left if each in possible or value.options[each] is not None]
    places = [left.index(each) if each in left else 0 for each in range(len(value.options))]
    return value.which, tuple([value.options[each] for each in left]), places


def renumbered(which: Any, numbers: list[int]) -> Any:
    if not isinstance(which, Dynamic):
        return numbers[0]
    is_same = numbers == list(range(len(numbers)))
    return which if is_same else Renumbered(which.value, tuple(numbers))


def note_more(join: Joining, before: int, now: int) -> None:
    """Have a loop's body walked again where a choice that it carries has got more options: the int
    that says which is carried as before, and would not tell."""
    if join.meeting.loop is not None:
        join.spoiled |= now > before


def _partner(join: Joining, pairs: list[list[Any]], other: Any) -> int:
    """The number of the option that another value can be one with: a new one if none can."""
    for place, pair in enumerate(pairs):
        if pair[1] is ABSENT and alike(join, pair[0], other):
            pair[1] = other
            return place
    pairs.append([ABSENT, other])
    return len(pairs) - 1


def alike(join: Joining, x: Any, y: Any) -> bool:
    if x is ABSENT:
        return False
    if x is y or (not isinstance(x, Abstract) and not isinstance(y, Abstract)):
        are_numbers = scalar_kind(x) and scalar_kind(y) and not (is_member(x) or is_member(y))
        return x is y or same_known(x, y) or bool(are_numbers)
    if isinstance(x, Unset) and isinstance(y, Unset):
        return True
    if isinstance(x, Raised) and isinstance(y, Raised):
        return bool(x.shape() == y.shape())
    if is_member(x) or is_member(y):
        return False
    x, y = join.lifted(x), join.lifted(y)
    numeric = [bool(scalar_kind(v)) or isinstance(v, Vector) for v in (x, y)]
    if any(numeric):
        sizes = {v.type.size for v in (x, y) if isinstance(v, Vector)}
        return all(numeric) and len(sizes) < 2
    if isinstance(x, Tuple) and isinstance(y, Tuple):
        pairs = zip(x.items, y.items, strict=False)
        return x.shape() == y.shape() and all(alike(join, *pair) for pair in pairs)
    if isinstance(x, Object) and isinstance(y, Object):  # what was there before keeps its identity
        is_new = max(x.serial, y.serial) > join.older
        return is_new and x.like(y, False) is not None
    return False


def is_none(part: Any) -> bool:
    """Whether a part makes no option: what nobody may use may stay what it is."""
    return part is ABSENT or (isinstance(part, Conflict) and not isinstance(part, (Unset, Text)))


def option(join: Joining, x: Any, y: Any, key: Key) -> Any:
    """An option of which one side may be absent; ABSENT where nothing can stand for that."""
    if x is not ABSENT and y is not ABSENT:
        return join.value(x, y, key)
    there = y if x is ABSENT else x
    if not isinstance(there, Abstract) or isinstance(there, (Unset, Text)):
        return there
    if isinstance(there, Object):
        return join.alone(there, x is ABSENT, key)
    zero = zero_of(there)
    if zero is None:
        pair = (ABSENT, there) if x is ABSENT else (there, ABSENT)
        parts = [_part(join, pair, part, (*key, *name)) for name, part in there.parts()]
        if any(map(is_none, parts)):
            return ABSENT
        if all(new is part for new, (_, part) in zip(parts, there.parts(), strict=True)):
            return there  # the very one: functions are compared by identity
        return there.rebuild(tuple(parts))
    return join.value(zero, y, key) if x is ABSENT else join.value(x, zero, key)


def _part(join: Joining, pair: tuple[Any, Any], part: Any, key: Key) -> Any:
    """A part of an option that is absent on one side, on the side where that is not."""
    x, y = (one if one is ABSENT else part for one in pair)
    return option(join, x, y, key)


def lengthened(
    join: Joining, a: Any, b: Any, key: Key, handle: Object | None = None
) -> Bounded | None:
    """Two lists of different lengths as one whose length only the device knows; None where a loop
    makes it longer without a bound that is known, or what is missing can be nothing. A set or dict
    is never longer than its members can differ."""
    left, right = map(as_slots, (a, b))
    size = max(len(left.items), len(right.items))
    least, most = min(left.least, right.least), max(left.most, right.most)
    loop = join.meeting.loop
    room = _room(left, right, loop)
    if loop and left.room is not None and right.room is None and right.most > left.room:
        return None  # what it holds was copied to a longer list, which the next round does again
    if loop and room is not None:
        size = most = max(room, size)
        least = left.least if right.least >= left.least else 0
    elif loop:
        growth = max(right.most - left.most, 0)
        size = max(len(left.items), right.most)
        if right.most > len(left.items):  # there is room for one round more than there are
            assert loop.rounds is not None
            size = left.most + growth * (loop.rounds + 1)
        most = size - growth if growth else left.most  # it was given room to grow, and does not
        least = left.least if right.least >= left.least else 0
    moves, different = room is not None, differing(handle, (*left.items, *right.items))
    if different is not None and most >= different:
        size, most, least, room = different, different, min(least, different), None
    if most > (SLOTS if loop else SLOTS + ROOM):
        return None
    items: list[Any] = []
    words = _words(*[_options(each.items) for each in (left, right)]) if moves else None
    pairs = zip(left.items, right.items, strict=False)
    meet = _slot if moves and any(not same_known(x, y) for x, y in pairs) else option
    for place in range(size):
        x, y = [c.items[place] if place < len(c.items) else ABSENT for c in (left, right)]
        nowhere = x is ABSENT and y is ABSENT
        if words and not nowhere:
            items.append(_word(join, x, y, words, (*key, place)))
            continue
        items.append(items[-1] if nowhere else meet(join, x, y, (*key, place)))
        if items[-1] is ABSENT or isinstance(items[-1], Conflict):
            return None
    length = join.value(left.length, right.length, (*key, ".length"))
    return Bounded(tuple(items), length, least, most, room)


def differing(handle: Object | None, members: Iterable[Any]) -> int | None:
    """How many members a set or dict can have, where all its keys are strings or choices of some;
    None of others, and of lists."""
    if type(handle) not in (Set, Dict):
        return None
    pairs = [each.items if isinstance(each, Tuple) else each for each in members]
    words = _options([pair[0] for pair in pairs] if type(handle) is Dict else pairs)
    return len(words) if all(type(each) is str for each in words) else None


def _options(items: Sequence[Any]) -> list[Any]:
    """All that items may be, each once."""
    held = [item.options if isinstance(item, Choice) else (item,) for item in items]
    every = [each for options in held for each in options]
    return list(dict.fromkeys(every)) if all(type(each) is str for each in every) else [None]


def _word(join: Joining, x: Any, y: Any, words: dict[str, int], key: Key) -> Choice:
    """A string of a list that a loop makes longer: as strings move from slot to slot, each may be
    any that some is."""
    first, second = [
        renumbered(one.which, [words[each] for each in one.options])
        if isinstance(one, Choice)
        else 0
        if one is ABSENT
        else words[one]
        for one in (x, y)
    ]
    if isinstance(x, Choice):
        note_more(join, len(x.options), len(words))
    why = next((one.why for one in (x, y) if isinstance(one, Choice)), "")
    return Choice(Dynamic(join.leaf(first, second, INT, (*key, ".which"))), tuple(words), why)


def _slot(join: Joining, x: Any, y: Any, key: Key) -> Any:
    """An item of a list that a loop makes longer. Items move from slot to slot: so what is the same
    number after this round is not counted on to be the same after the next one."""
    if isinstance(x, Tuple) and isinstance(y, Tuple) and x.shape() == y.shape():
        parts = enumerate(zip(x.items, y.items, strict=True))
        return x.rebuild(tuple([_slot(join, *pair, (*key, at)) for at, pair in parts]))
    kind = scalar_kind(x)
    if kind is None or is_member(x) or isinstance(x, Abstract) or not same_known(x, y):
        return option(join, x, y, key)
    return Dynamic(join.leaf(x, y, vector(kind, 1), key))


def _room(left: Bounded, right: Bounded, loop: Round | None) -> int | None:
    """The room of a list that a loop without a known end makes longer, or one that has perhaps more
    rounds than a list has slots for; None of others."""
    rooms = [each.room for each in (left, right) if each.room is not None]
    if loop is not None and right.most > len(left.items):
        rounds, growth = loop.rounds, right.most - left.most
        if rounds is None or not (loop.sure or left.most + rounds * growth <= SLOTS):
            rooms.append(UNKNOWN)
    return max(*rooms, left.most, right.most) if rooms else None


def as_slots(contents: Any) -> Bounded:
    """What a list, set or dict holds as slots, of a dict pairs of a key and a value."""
    if isinstance(contents, Bounded):
        return contents
    pairs = isinstance(contents, dict)
    items = tuple(map(tuple_of, contents.items())) if pairs else tuple(contents)
    return Bounded(items, len(items), len(items), len(items))


def differ_in_length(a: Any, b: Any) -> bool:
    """Whether two lists may have different lengths."""
    kinds = tuple, Bounded
    is_either = isinstance(a, kinds) and isinstance(b, kinds)
    return is_either and (Bounded in (type(a), type(b)) or len(a) != len(b))


# ---------------------------------------------------------------- what cannot be one value


def mismatch(join: Joining, handle: Object, a: Any, b: Any) -> str:
    """What to say of an object that holds things of different shapes on two paths."""
    meeting = join.meeting.place()
    if isinstance(handle, Dict) and not (differ_in_length(a, b) and join.meeting.loop):
        return (
            f"a dict has other keys on one path through {meeting} than on the "
            "other: set them on both, or before"
        )
    if isinstance(handle, Iterator):
        return (
            f"an iterator goes on on one path only through {meeting}: where it "
            "stands must be known at compile time; make a list of its items, and count those that "
            "are taken in a variable"
        )
    if isinstance(handle, Array):
        return (
            f"an array has shape {a.shape} on one path through {meeting} and {b.shape} on the other"
        )
    if differ_in_length(a, b):
        counts = [c.most if isinstance(c, Bounded) else len(c) for c in (a, b)]
        name = describe(handle)
        items = "items" if isinstance(handle, List) else "members"
        loop = join.meeting.loop
        rounds = loop.rounds if loop else None
        if rounds is not None and counts[0] + rounds * (counts[1] - counts[0]) > SLOTS:
            return (
                f"{name} grows by {counts[1] - counts[0]} in each of {rounds} rounds of "
                f"{meeting}, and one whose {items} only the device knows has at most {SLOTS}: "
                f"loop at most {SLOTS // (counts[1] - counts[0])} times, or fold while you go"
            )
        return lengths(join, counts[0], counts[1], f"{name} has", items)
    return (
        f"{describe(handle)} holds other items on one path through {meeting} than on the other, "
        "and too many to be told apart: make a list of them on each path, as in 'x = list(x)', or "
        "give each path's its own name"
    )


def lengths(
    join: Joining, first: int, second: int, what: str = "a list has", items: str = "items"
) -> str:
    """What to say of a list, set or dict that has different lengths on two paths."""
    place = join.meeting.place()
    if join.meeting.loop:
        return (
            f"{what} {first} {items} before {place} and {second} after one round: how long "
            "it can get must be known at compile time; loop a known number of times, as in "
            "'for _ in range(32): if not more: break', or fold while you go"
        )
    return (
        f"{what} {first} {items} on one path through {place} and {second} on the "
        "other: its length must be known at compile time; let it hold 'x if c else 0' in "
        "any case"
    )


# ---------------------------------------------------------------- numbers and vectors


def spread(number: Any, kind: Kind, like: Vector) -> Vector:
    """A number as a vector of the size of another."""
    wider = vector(widest(kind, like.type.kind), like.type.size)
    return Vector(CLASSES[wider], wider, (number,) * like.type.size)


def number_in(value: Any, state: State) -> Any:
    """The number that an array of no dimensions holds; any other value as it is."""
    held = state.get(value) if isinstance(value, Array) else value
    return held[()] if isinstance(held, np.ndarray) and held.ndim == 0 else value


def zero_of(value: Any) -> Any:
    """A zero of the type of a number, a vector or a tuple of these; None for anything else."""
    if isinstance(value, Vector):
        zero = {"float": 0.0, "int": 0, "uint": UInt(0), "bool": False}[value.type.kind]
        return Vector(value.cls, value.type, (zero,) * value.type.size)
    if isinstance(value, Tuple):
        items = tuple([zero_of(item) for item in value.items])
        return None if None in items else value.rebuild(items)
    if is_complex(value):
        return 0j
    if flags := flag_class(value):
        return flags(0)
    kind = scalar_kind(value)
    return {"float": 0.0, "int": 0, "uint": UInt(0), "bool": False}[kind] if kind else None
