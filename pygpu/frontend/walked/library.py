"""Python's folding functions as Python functions: walked like the user's own where a sequence is
too long to be unrolled, so that they become loops of the device. And contextlib.ExitStack.

Some do the work of several: `pick` is min or max, `beats` the comparison that the extreme wins.

    extreme_of(min, xs)                         # min(xs)
    extreme_in_turn(operator.gt, xs)            # max(xs), of an iterator
"""

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pygpu.frontend.walked.asked import needed, there, value


def sum_of(xs: Any, start: Any) -> Any:
    total = start
    for x in xs:
        total = total + value(x)
    return total


def sum_of_groups(groups: Any, start: Any) -> Any:
    total = start
    for group in groups:
        total = sum(group, total)
    return total


def extreme_of(pick: Any, xs: Any) -> Any:
    """min or max, which `pick` is."""
    needed(len(xs) > 0)
    best, found = value(xs[0]), there(xs[0])
    for x in xs:
        if there(x):
            best = pick(best, value(x)) if found else value(x)
            found = True
    needed(found)
    return best


def extreme_or(pick: Any, xs: Any, default: Any) -> Any:
    """The extreme, and of no items a default."""
    best, found = default, False
    for x in xs:
        if there(x):
            best = pick(best, value(x)) if found else value(x)
            found = True
    return best


def extreme_of_groups(pick: Any, groups: Any, first: Any, is_needed: Any) -> Any:
    """The extreme; of no items the `first`, unless one is needed."""
    best, found = first, False
    for group in groups:
        for x in group:
            best = pick(best, x) if found else x
            found = True
    if is_needed:
        needed(found)
    return best


def dict_of(pairs: Any) -> Any:
    """dict(pairs), of an iterator"""
    return {key: item for key, item in pairs}  # noqa: C416


def repeated(xs: Any, times: Any) -> Any:
    return [xs[place % len(xs)] for place in range(times * len(xs))]


def listed_of(xs: Any) -> Any:
    """A list of what a loop makes one after the other."""
    items = []
    for x in xs:
        if there(x):
            items.append(value(x))
    return items


def listed_of_groups(groups: Any) -> Any:
    items = []
    for group in groups:
        for x in group:
            items.append(x)
    return items


def extreme_in_turn(beats: Any, xs: Any, default: Any = 0) -> Any:
    """The extreme of an iterator that a loop of the device runs through: what no other beats."""
    best, found = default, False
    for x in xs:
        if not found or beats(x, best):
            best = x
        found = True
    return best


def extreme_by_in_turn(beats: Any, xs: Any, key: Any, default: Any) -> Any:
    """The extreme of such an iterator by a key."""
    best, greatest, found = default, 0, False
    for x in xs:
        size = key(x)
        if not found or beats(size, greatest):
            best, greatest = x, size
        found = True
    return best


def extreme_by(xs: Any, key: Any, beats: Any) -> Any:
    """min and max with a key, of many items: where the extreme stands is what the loop keeps."""
    best, found = _place_by(xs, key, beats, there(xs[0]))
    needed(found)
    return value(xs[best])


def extreme_by_or(xs: Any, key: Any, beats: Any, default: Any) -> Any:
    """As `extreme_by`, with what it is of no items."""
    best, found = _place_by(xs, key, beats, False)
    return value(xs[best]) if found else default


def _place_by(xs: Any, key: Any, beats: Any, found: Any) -> Any:
    """Where the extreme stands, and whether there is one; `found` says it of the first item."""
    best, greatest = 0, key(value(xs[0]))
    for at, x in enumerate(xs):
        if there(x):
            its = key(value(x))
            if not found or beats(its, greatest):
                best, greatest = at, its
            found = True
    return best, found


def any_of(xs: Any) -> Any:
    found = False
    for x in xs:
        if there(x) and value(x):
            found = True
            break
    return found


def all_of(xs: Any) -> Any:
    for x in xs:
        if there(x) and not value(x):
            return False
    return True


def any_in_turn(xs: Any) -> Any:
    """any of an iterator, of which no more is taken than is needed; so are those below."""
    for x in xs:
        if x:
            return True
    return False


def all_in_turn(xs: Any) -> Any:
    for x in xs:
        if not x:
            return False
    return True


def listed(xs: Any) -> Any:
    """list(xs), of an iterator"""
    return [x for x in xs]  # noqa: C416


def found_in_turn(xs: Any, value: Any) -> Any:
    """Whether a value is in an iterator, of which no more is taken than is needed."""
    for x in xs:
        if x is value or x == value:
            return True
    return False


def any_of_groups(groups: Any) -> Any:
    return any_of([any(group) for group in groups])


def all_of_groups(groups: Any) -> Any:
    return all_of([all(group) for group in groups])


def reduce_of_groups(function: Any, groups: Any, initial: Any) -> Any:
    result = initial
    for group in groups:
        for x in group:
            result = function(result, x)
    return result


def np_fold_of(xs: Any, combine: Any, whole: Any, start: Any) -> Any:
    """np.sum or np.prod, `whole`, of a long sequence, whose items may be sequences; so are those
    of the functions below."""
    total = start
    for x in xs:
        total = combine(total, whole(x))
    return total


def np_mean_of(xs: Any) -> Any:
    return np_fold_of(xs, operator.add, _sum_of_floats, 0) / (len(xs) * np.size(xs[0]))


def _sum_of_floats(x: Any) -> Any:
    return np.sum(x * 1.0)


def np_extreme_of(xs: Any, pick: Any, whole: Any) -> Any:
    best = whole(xs[0])
    for x in xs:
        best = pick(best, whole(x))
    return best


def np_any_of(xs: Any) -> Any:
    found: Any = False
    for x in xs:
        found = found or np.any(x)
    return found


def np_all_of(xs: Any) -> Any:
    found: Any = True
    for x in xs:
        found = found and np.all(x)
    return found


def same_items(xs: Any, ys: Any) -> Any:
    """xs == ys, of lists whose lengths may be dynamic."""
    if len(xs) != len(ys):
        return False
    return all(x == y for x, y in zip(xs, ys, strict=False))


def reduce_of(function: Any, xs: Any, initial: Any) -> Any:
    result = initial
    for x in xs:
        result = function(result, x)
    return result


def given_or(get: Any, owner: Any, otherwise: Any, name: Any) -> Any:
    """A property of an object whose class has `__getattr__`, which stands for what fails."""
    try:
        return get(owner)
    except AttributeError:
        return otherwise(owner, name)


def attribute_or(owner: Any, name: Any, default: Any) -> Any:
    """getattr() with a default, of what a property or `__getattr__` gives."""
    try:
        return getattr(owner, name)
    except AttributeError:
        return default


def has_attribute(owner: Any, name: Any) -> Any:
    """hasattr() of what a property or `__getattr__` gives."""
    try:
        getattr(owner, name)
    except AttributeError:
        return False
    return True


def close(generator: Any) -> None:
    """A generator's method `close`."""
    try:
        generator.throw(GeneratorExit())
    except (GeneratorExit, StopIteration):
        return
    raise RuntimeError("generator ignored GeneratorExit")


def drop(generator: Any) -> None:
    """What becomes of a generator that nothing holds any more. Python prints what it raises."""
    try:
        generator.throw(GeneratorExit())
    except BaseException:
        return


def next_of(xs: Any, *default: Any) -> Any:
    """next() of a generator of which only the device knows whether it gives an item."""
    for x in xs:
        if there(x):
            return value(x)
    if not default:
        raise StopIteration
    return default[0]


def length_of(xs: Any) -> Any:
    """len(), of whichever option a choice is."""
    return len(xs)


def first_of(a: Any, b: Any) -> Any:
    """The first of two that is there."""
    return b if a is None else a


def message_of(error: Any) -> Any:
    """What str() says of an exception."""
    args = error.args
    if len(args) == 1:
        return repr(args[0]) if isinstance(error, KeyError) else str(args[0])
    return str(args) if args else ""


def member_of(members: Any, value: Any, message: str) -> Any:
    """A member of an enumeration by its value."""
    if value not in members:
        raise ValueError(message)
    return members[value]


def member_or_missing(members: Any, value: Any, message: str, missing: Any) -> Any:
    """A member of an enumeration whose class says which one stands for other values."""
    if value in members:
        return members[value]
    found = missing(value)
    if found is None:
        raise ValueError(message)
    return found


def stored_at(xs: Any, index: Any, new: Any) -> None:
    """xs[index] = new, of what is no number: each item is joined with it."""
    for place in range(len(xs)):
        if index == place or index == place - len(xs):
            xs[place] = new


def reduced(ufunc: Any, xs: Any, axis: Any = 0) -> Any:
    """ufunc.reduce, of two elements at a time."""
    rows = np.moveaxis(np.asarray(xs), axis, 0)
    made = rows[0]
    for row in rows[1:]:
        made = ufunc(made, row)
    return made


def flags_by(number: Any, above: Any) -> Any:
    """The number of IntFlag(number), which is not negative; `above`, a power of two, is more than
    all flags: see Flag._missing_."""
    if number >= 0:
        return number
    return number + (above if number >= -above else 1 << number.bit_length())


def stored_in_row(rows: Any, row: Any, column: Any, new: Any) -> None:
    rows[row][column] = new


def chosen(test: Any, a: Any, b: Any) -> Any:
    return a if test else b


def items_at(places: Any, obj: Any) -> Any:
    """What operator.itemgetter(*places) takes of an object."""
    return obj[places[0]] if len(places) == 1 else tuple([obj[place] for place in places])


def of_method(name: Any, args: Any, obj: Any, /, **keywords: Any) -> Any:
    """What operator.methodcaller(name, *args, **keywords) gives of an object."""
    return getattr(obj, name)(*args, **keywords)


class Compared:
    """What functools.cmp_to_key makes of an object: it is ordered by a function of two."""

    def __init__(self, compare: Any, obj: Any) -> None:
        self.compare, self.obj = compare, obj

    def __eq__(self, other: object) -> Any:
        return self.compare(self.obj, other.obj) == 0  # type: ignore[attr-defined]

    def __lt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) < 0

    def __gt__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) > 0

    def __le__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) <= 0

    def __ge__(self, other: Any) -> Any:
        return self.compare(self.obj, other.obj) >= 0

    __hash__ = None  # type: ignore[assignment]


class ExitStack:
    """contextlib.ExitStack"""

    def __init__(self) -> None:
        self.exits: list[Callable[..., Any]] = []

    def enter_context(self, context: Any) -> Any:
        value = context.__enter__()
        self.exits.append(context.__exit__)
        return value

    def push(self, exit: Any) -> Any:
        self.exits.append(exit.__exit__ if hasattr(exit, "__exit__") else exit)
        return exit

    def callback(self, function: Any, /, *args: Any, **keywords: Any) -> Any:
        def leave(*error: Any) -> None:
            function(*args, **keywords)

        self.exits.append(leave)
        return function

    def pop_all(self) -> Any:
        other = ExitStack()
        other.exits, self.exits = self.exits, []
        return other

    def close(self) -> None:
        self.__exit__(None, None, None)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> Any:
        handled = False
        while self.exits:
            leave = self.exits.pop()
            if leave(*error):
                error, handled = (None, None, None), True
        return handled
