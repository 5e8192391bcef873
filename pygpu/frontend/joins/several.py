"""Names that may be one of several objects: of which, where two paths meet or a loop comes round.

Each round of a loop may make one object more that a name may be. What a loop carries is one that it
has made for each name, beside those that there were before it; names that mean the same one go on
doing so.

    for i in range(n):
        if i % 3: b = b * 0.5       # b is a, what an earlier round made, or what this one has made
        if i % 2: c = b
    b.x = 1                         # changes a, or what the loop has made, which c may be, too
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final

from pygpu.frontend.joins.choosing import CHANGED, note_more, renumbered
from pygpu.frontend.joins.joining import Joining
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.objects import EITHER, Array, Cell, Object
from pygpu.frontend.values.states import State, parts_held, reachable
from pygpu.frontend.values.values import ABSENT, Abstract, Choice, Conflict, Dynamic, Key, leads_on
from pygpu.ssa import Value
from pygpu.types import INT

CARRIED: Final = 8  # objects made by a loop that one may be


def put_together(w: Evaluator, state: State, values: Iterable[Any], entry: int) -> None:
    """Make one of the objects younger than `entry` that a joined object may be, where nothing else
    of what the values lead to holds these but what may be one of them, too."""
    values, made = tuple(values), set[Object]()
    while True:
        seen = reachable(values, state)
        several = {each.either: each for each in seen if len(_own(state, each, entry)) > 1}
        if not several:
            return
        holders: dict[Object, set[Object | None]] = {}
        _note(holders, None, values)
        for each in seen:
            _note(holders, each, [part for _, part in parts_held(each, state.get(each))])
            if isinstance(each, Array) and each.base is not None:
                _note(holders, each, (each.base,))
        for one in sorted(several.values(), key=lambda one: one.serial):
            own = {each for each in _own(state, one, entry) if holders[each] <= several.keys()}
            if len(own - made) > 1:
                made.add(_put_together(w, state, one, own - made, several.values()))
                break
        else:
            return


def _options(state: State, one: Object) -> Choice | None:
    """What a joined object may be; None of others."""
    known = state.get(one.either) if one.either is not None and one.outside == EITHER else None
    return known if isinstance(known, Choice) else None


def _own(state: State, one: Object, entry: int) -> list[Object]:
    """What it may be that a loop has made, and that may be made one with others."""
    may_be = _options(state, one)
    if may_be is None or isinstance(state.get(one), Conflict):
        return []
    return [
        each
        for each in may_be.options
        if each.serial > entry and not (isinstance(each, Array) and each.base is not None)
    ]


def _note(
    holders: dict[Object, set[Object | None]], holder: Object | None, values: Iterable[Any]
) -> None:
    """Note who holds objects, also in tuples and the like."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, Object):
            holders.setdefault(value, set()).add(holder)
        elif isinstance(value, Abstract) and leads_on(value):
            waiting += [part for _, part in value.parts()]


def _put_together(
    w: Evaluator, state: State, one: Object, own: set[Object], several: Iterable[Object]
) -> Object:
    """Let a joined object be another one, that holds what it holds, where it is one of its `own`,
    and let others be that where they are the same."""
    may_be = _options(state, one)
    made = one.like(one, False)
    assert may_be is not None
    assert made is not None
    made.initial = state.get(one)
    for other in several:
        theirs = _options(state, other)
        if other is one or theirs is None or own.isdisjoint(theirs.options):
            continue
        number, which = len(theirs.options), theirs.which.value
        for each in own.intersection(theirs.options):
            is_it = [_is(w, known, each) for known in (may_be, theirs)]
            now = w.build.constant(INT, number)
            which = w.build.emit("select", w.build.emit("bit_and", *is_it), now, which)
        _set(w, state, other, Choice(Dynamic(which), (*theirs.options, made), theirs.why))
    options = [made if each in own else each for each in may_be.options]
    _set(w, state, one, Choice(may_be.which, tuple(options), may_be.why))
    return made


def _is(w: Evaluator, choice: Choice, option: Object) -> Value:
    """Whether a choice is one of its options."""
    return _is_number(w, choice, choice.options.index(option))


def _is_number(w: Evaluator, choice: Choice, number: int) -> Value:
    return w.build.emit("eq", choice.which.value, w.build.constant(INT, number))


def _set(w: Evaluator, state: State, one: Object, choice: Choice) -> None:
    """Let a joined object be one of several, each of which may stand there more than once."""
    every = list(dict.fromkeys(choice.options))
    which = choice.which.value
    for number, each in enumerate(choice.options):
        if every.index(each) != number:
            now = w.build.constant(INT, every.index(each))
            which = w.build.emit("select", _is_number(w, choice, number), now, which)
    assert one.either is not None
    state.heap[one.either] = Choice(Dynamic(which), tuple(every), choice.why)


# ---------------------------------------------------------------- which objects one may be


Pairs = list[tuple[tuple[Object | None, Object | None], Object]]  # and what was made of each


def name_options(join: Joining, made: Sequence[tuple[tuple[Object, Object], Object]]) -> None:
    """Note which objects each joined one may be, that was made of two or of one on one side."""
    joined: Pairs = [*made]
    joined += [((None, h) if right else (h, None), j) for (right, h), j in join.lone.items()]
    joined = [
        (pair, one)
        for pair, one in joined
        if isinstance(one, Object) and one.outside == EITHER and one.either is None
    ]
    for (a, b), _ in joined if join.meeting.loop else ():
        stay = {*_may_be(join.left, a)[1]}.intersection(_may_be(join.right, b)[1])
        join.taken.update({each: each for each in stay if each.serial > join.entry})
    for number, ((a, b), one) in enumerate(joined):
        options = _either(join, a, b, (".either", number))
        if options is not None:
            one.either = Cell(options)
            join.aliases += [(option, one) for option in options.options]
        elif len(_may_be(join.left, a)[1]) > 1:  # from now on it can only be read
            join.spoiled = True


def _either(join: Joining, a: Object | None, b: Object | None, key: Key) -> Choice | None:
    """Which objects one may be that two objects have become, or one that is on one side alone:
    those that were there before the paths parted, or before earlier ones did, and those made since,
    as the other side sees them. None where it may be another, or one from outside."""
    (which, options), (second, others) = _may_be(join.left, a), _may_be(join.right, b)
    if any(each.outside for each in (*options, *others)):
        return None
    if join.meeting.loop is not None:
        pair = _come_round(join, options, others, key)
    else:
        pair = [
            [_changeable(join, each, bool(right), (*key, n)) for n, each in enumerate(side)]
            for right, side in enumerate((options, others))
        ]
    if pair is None or None in pair[0] or None in pair[1]:
        return None
    left, right = pair
    every = list(dict.fromkeys([*left, *right]))
    if not 1 < len(every) <= CHANGED:
        return None
    if isinstance(which, Dynamic):
        note_more(join, len(options), len(every))
    numbers = [[every.index(each) for each in side] for side in pair]
    first, second = [
        renumbered(one, numbered) if numbered else 0
        for one, numbered in zip((which, second), numbers, strict=True)
    ]
    return Choice(Dynamic(join.leaf(first, second, INT, key)), tuple(every), "")


def _may_be(state: State, one: Object | None) -> tuple[Any, tuple[Object, ...]]:
    """Which objects a joined one may be on a path, another one is itself."""
    if one is None:
        return 0, ()
    known = _options(state, one)
    return (0, (one,)) if known is None else (known.which, known.options)


def _changeable(join: Joining, one: Object, right: bool, key: Key) -> Object | None:
    """An object that may be changed where paths have met: itself where it was there before they
    parted, else one that is anything on the other path. None where there is no such."""
    there = join.left if right else join.right
    if one.serial <= join.entry and there.get(one) is not ABSENT:
        return one
    if isinstance(one, Array) and one.base is not None:  # a view holds nothing of its own
        return one if one.base.serial <= join.entry else None
    made = join.alone(one, right, (*key, ".made"))
    return made if isinstance(made, Object) and not made.outside else None


# ---------------------------------------------------------------- what a loop carries


def _come_round(
    join: Joining, options: Sequence[Object], others: Sequence[Object], key: Key
) -> list[list[Any]] | None:
    """What the objects become that one may be at the head of a loop, and at the end of its body:
    those that were there before the loop stay, for each that the loop makes it carries one. None
    where these are too many."""
    both: list[list[Any]] = [[], []]
    for n, each in enumerate(others):
        is_old = each.serial <= join.entry
        both[1].append(each if is_old else _carried(join, each, options, (*key, n)))
    for each in options:
        both[0].append(each if each.serial <= join.entry else _left_behind(join, each))
    every = {each for side in both for each in side}
    made = [each for each in every if each is not None and each.serial > join.entry]
    return both if len(made) <= CARRIED else None


def _carried(join: Joining, made: Object, options: Sequence[Object], key: Key) -> Object | None:
    """What an object that a loop's body has made is at the loop's head: the same for all that may
    be that object. One of the `options` there goes on as that; where none does, one is made, whose
    numbers may be any in the first round. None where it may not be changed."""
    if (True, made) not in join.lone:
        going_on = _goes_on_as(join, made, options)
        if going_on is made:
            join.lone[True, made] = join.taken[made] = made
        elif going_on is not None:
            joined = join.objects(going_on, made, key)
            if isinstance(joined, Object):
                join.lone[True, made] = join.lone[False, going_on] = joined
                join.taken[going_on] = joined
        elif not isinstance(made, Array) or made.base is None:
            join.alone(made, True, key, again=True)
    carried = join.lone.get((True, made))
    return None if carried is None or carried.outside else carried


def _goes_on_as(join: Joining, made: Object, options: Sequence[Object]) -> Object | None:
    """Which of the objects that a loop has carried so far the one is that its body has made."""
    if join.taken.get(made) is made or (made.serial <= join.older and join.sees(made)):
        return made
    for each in options:
        if each.serial > join.entry and each not in join.taken:
            joined = join.pairs.get((each, made))
            if joined is None or (isinstance(joined, Object) and not joined.outside):
                return each
    return None


def _left_behind(join: Joining, carried: Object) -> Object:
    """What an object that a loop has carried so far is, seen from its head."""
    if carried not in join.taken:
        join.taken[carried] = join.lone[False, carried] = carried
    return join.taken[carried]
