"""Lists whose length only the device knows: `append` under a dynamic condition. Slots and a count.

The first `length` slots are the items; what lies in the others is anything. Slots are moved by
selection, for an item's place is dynamic too.

    bright = []
    for v in window:                    # nine texels: a list of at most nine items
        if v > 0.5:
            bright.append(v)
    bright.sort()
    bright[len(bright) // 2]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.lazy import Bounded, FixedCut, Growing, Indexed, Masked
from pygpu.frontend.values.objects import Iterator, List, Set, Unordered
from pygpu.frontend.values.ranges import range_of
from pygpu.frontend.values.values import Abstract, Dynamic, Maybe, if_there, tuple_of
from pygpu.frontend.values.values import is_there as taken
from pygpu.frontend.values.views import LISTS
from pygpu.language.scalars import UInt

with later():
    from pygpu.frontend.collections import moving
    from pygpu.frontend.joins import choosing
    from pygpu.frontend.walked import library


def bounded(w: Evaluator, value: Any) -> Bounded | None:
    """What a list of dynamic length holds; None of anything else."""
    contents = w.peek(value) if type(value) in LISTS else None
    return contents if isinstance(contents, Bounded) else None


def has_no_order(w: Evaluator, value: Any) -> bool:
    """Whether it is a set whose members only the device knows, or an iterator over what has no
    order."""
    if isinstance(value, Iterator):
        return type(w.read(value)[0]) is Unordered
    return type(value) is Set and isinstance(w.peek(value), Bounded)


def in_slots(w: Evaluator, value: Any) -> Bounded | None:
    """As `bounded`, also of a comprehension over a dynamic number of items."""
    fill(w, value)
    return bounded(w, value)


def fill(w: Evaluator, value: Any, unplaced: bool = False) -> None:
    """Let a loop put into slots what a comprehension makes of a dynamic number of items; of those
    that are `unplaced` alone, where no index says which item it is."""
    lazy = w.heap.as_it_stands(value) if type(value) in LISTS else None
    if not isinstance(lazy, Indexed) or not isinstance(lazy.length, Abstract):
        return
    if not (unplaced and lazy.ungrouped() is lazy):
        by = library.listed_of_groups if lazy.grouped else library.listed_of
        w.write(value, w.peek(w.call(by, lazy.ungrouped())))
        w.heap.fills = True


def is_moved(w: Evaluator, xs: Any, index: Any) -> bool:
    """Whether what an index says of a list, or the list's length, only the device knows."""
    return in_slots(w, xs) is not None or isinstance(index, Abstract)


def held(w: Evaluator, xs: List) -> Bounded:
    """What a list holds, of whatever length."""
    return choosing.as_slots(w.read(xs))


def hold(w: Evaluator, xs: List, new: Any) -> None:
    """Let a list hold something else from now on; items alone where their number is known."""
    if isinstance(new, Bounded) and new.least == new.most:
        new = new.items[: new.most]
    elif isinstance(new, Bounded) and not isinstance(new.length, Abstract):
        new = new.items[: new.length]
    w.write(xs, new)


def add(w: Evaluator, xs: List, more: Sequence[Any]) -> None:
    """Let a list hold more items, of which some may not be there."""
    fill(w, xs)
    held = w.heap.as_it_stands(xs)
    if isinstance(held, Bounded):
        hold(w, xs, appended(w, held, more))
        return
    is_known = not isinstance(held, Growing)
    rows = (*(w.items(xs) if is_known else held.rows), *more)
    w.steps += len(rows) >> 9  # copying a long list takes its time: one that grows for ever ends
    if is_known and not any(isinstance(one, Maybe) for one in more):
        w.write(xs, rows)
        return
    w.heap.grows = True
    w.write(xs, Growing(rows, None if is_known else held.room))


def collected(w: Evaluator, items: Sequence[Any], room: int | None = None) -> Any:
    """Items of which some may not be there, as what a list holds."""
    made = appended(w, Bounded((), 0, 0, 0, room), items)
    return made if isinstance(made.length, Abstract) else made.items


def is_there(w: Evaluator, xs: Bounded, place: int) -> Any:
    """Whether a slot is taken."""
    return place < xs.least or w.compare(">", xs.length, place)


def maybes(w: Evaluator, xs: Bounded) -> tuple[Any, ...]:
    """The items, those that may not be there as a Maybe; numbers are zero where they are not."""
    return there(w, [is_there(w, xs, at) for at in range(xs.most)], xs.items)


def there(w: Evaluator, tests: Sequence[Any], items: Sequence[Any]) -> tuple[Any, ...]:
    """The items whose tests hold, those that may not be there as a Maybe."""
    made = []
    for test, item in zip(tests, items, strict=False):
        if isinstance(test, Abstract):
            zero = choosing.zero_of(item)
            made.append(Maybe(test, item if zero is None else w.choose(test, item, zero)))
        elif test:
            made.append(item)
    return tuple(made)


def repeated(w: Evaluator, xs: Any, times: Dynamic) -> List:
    """xs * times: slots where there are few, else a comprehension."""
    items = w.items(xs)
    least, most = [max(count, 0) * len(items) for count in range_of(w, times.value)]
    if most > choosing.SLOTS:
        made: List = w.call(library.repeated, xs, times)
        return made
    length = w.binary("*", w.call(max, times, 0), len(items))
    return List(Bounded(items * (most // max(len(items), 1)), length, least, most))


def as_selection(w: Evaluator, value: Any, is_folded: bool = False) -> Any:
    """A list of dynamic length as what a mask selects, as NumPy takes it; others as they are, also
    a comprehension that is folded by a loop."""
    held = w.heap.as_it_stands(value) if type(value) in LISTS else None
    if isinstance(held, Growing):
        return Masked([*map(if_there, held.rows)], [*map(taken, held.rows)])
    by_a_loop = is_folded and isinstance(held, Indexed) and held.ungrouped() is held
    xs = bounded(w, value) if by_a_loop else in_slots(w, value)
    if xs is None:
        return value
    return Masked(xs.items[: xs.most], [is_there(w, xs, at) for at in range(xs.most)], xs.length)


def packed(w: Evaluator, selection: Masked) -> Bounded:
    """What a mask selects, as what a list holds."""
    if selection.length is not None:
        return Bounded(selection.items, selection.length, 0, len(selection.items))
    return appended(w, Bounded((), 0, 0, 0), there(w, selection.tests, selection.items))


def listed(w: Evaluator, value: Any) -> Any:
    """A selection, or a slice of a list, as a list; what is none of these as it is."""
    if type(value) is FixedCut:
        raise w.error(f"{value.describe()} {value.TAKEN}")
    if not isinstance(value, Masked):
        return value
    made = List(())
    hold(w, made, packed(w, value))
    return made


def zipped(w: Evaluator, sequences: Sequence[Any]) -> tuple[Any, ...]:
    """The rows of a zip, those that may not be there as a Maybe."""
    lists = [packed(w, xs) if isinstance(xs, Masked) else in_slots(w, xs) for xs in sequences]
    columns = [
        w.items(xs) if some is None else some.items[: some.most]
        for xs, some in zip(sequences, lists, strict=True)
    ]
    rows = []
    for place, row in enumerate(zip(*columns, strict=False)):
        there: Any = True
        for some in lists:
            if some is not None and place >= some.least:
                here = is_there(w, some, place)
                there = here if there is True else w.binary("&", there, here)
        made = tuple_of(row)
        rows.append(made if there is True else Maybe(there, made))
    return tuple(rows)


# ---------------------------------------------------------------- items


def item(w: Evaluator, xs: Bounded, index: Any, says: str = "list index out of range") -> Any:
    """xs[index], for a known or a dynamic integer. Outside, Python's exception `says` something."""
    if isinstance(index, int) and 0 <= index < xs.least:
        return xs.items[index]
    low, high = _reach(xs, index)
    if low >= high:
        if w.conditions and xs.items:  # on a path that is perhaps not taken: some item
            return xs.items[0]
        raise IndexError("list index out of range")
    _check(w, xs, index, says)
    return _some_item(w, xs, index)


def _some_item(w: Evaluator, xs: Bounded, index: Any) -> Any:
    """xs[index], and outside of the list some item that it has room for."""
    low, high = _reach(xs, index)
    place = _place(w, xs, index)
    chosen = xs.items[low]
    for at in range(low + 1, high):
        chosen = w.choose(w.compare("==", place, at), xs.items[at], chosen)
    return chosen


def stored(w: Evaluator, xs: Bounded, index: Any, new: Any) -> Bounded:
    """What a list holds after xs[index] = new."""
    low, high = _reach(xs, index)
    if low >= high:
        if w.conditions:
            return xs
        raise IndexError("list assignment index out of range")
    place = _place(w, xs, index)
    _check(w, xs, index, "list assignment index out of range")
    items = [*xs.items]
    for at in range(low, high):
        items[at] = w.choose(w.compare("==", place, at), new, items[at])
    return xs.changed(tuple(items), xs.length, xs.least, xs.most)


def _place(w: Evaluator, xs: Bounded, index: Any) -> Any:
    """An index, a negative one counted from the end."""
    if not isinstance(index, Abstract):
        return w.binary("+", xs.length, index) if index < 0 else index
    back = w.binary("+", index, xs.length)
    return w.choose(w.compare("<", index, 0), back, index)


def _reach(xs: Bounded, index: Any) -> tuple[int, int]:
    """Where an item may lie."""
    if isinstance(index, Abstract):
        return 0, xs.most
    if index < 0:
        return max(xs.least + index, 0), max(xs.most + index + 1, 0)
    return index, min(index + 1, xs.most)


def _check(w: Evaluator, xs: Bounded, index: Any, message: str) -> None:
    if w.faults.checked or w.handled():
        below = w.compare("<", w.binary("+", index, xs.length), 0)
        above = w.compare(">=", index, xs.length)
        w.check(w.choose(below, True, above), IndexError, message)


def part(w: Evaluator, xs: Bounded, index: slice) -> Any:
    """xs[a:b], of known bounds."""
    step = 1 if index.step is None else index.step
    start = 0 if index.start is None else index.start
    if (step, start, index.stop) == (1, 0, None):
        return xs
    if step < 0 and (index.start is None or start < 0) and index.stop is None:
        left_out = slice(0 if index.start is None else -1 - start, None)
        return _each(w, part(w, moving.reversed_of(w, xs), left_out), -step)
    if step > 1:
        return _each(w, part(w, xs, slice(index.start, index.stop)), step)
    if step == 1 and start < 0 and index.stop is not None and index.stop < 0:
        shorter = part(w, xs, slice(index.stop)) if start < index.stop else ()
        left = slice(start - index.stop, None)
        return part(w, shorter, left) if isinstance(shorter, Bounded) else shorter[left]
    if step != 1 or (start < 0 and index.stop is not None):
        raise w.error(
            f"{xs.describe()} has a length that only the device knows: slices of it have known "
            "bounds, as xs[:3], xs[1:], xs[-3:] and xs[-3:-1] have"
        )
    if start < 0:
        count = w.call(min, xs.length, -start)
        places = [w.binary("-", j, count) for j in range(min(-start, xs.most))]
        items = [_some_item(w, xs, place) for place in places]
        return Bounded(tuple(items), count, min(xs.least, len(items)), len(items))
    less = -min(0 if index.stop is None else index.stop, 0)  # items that are left out at the end
    stop = xs.most - less if index.stop is None or less else min(index.stop, xs.most)
    if start >= stop:
        return ()
    length = w.call(max, w.binary("-", xs.length, start + less), 0)
    length = w.call(min, length, stop - start)
    least = min(max(xs.least - start - less, 0), stop - start)
    return Bounded(xs.items[start:stop], length, least, stop - start)


def _each(w: Evaluator, xs: Any, step: int) -> Any:
    """xs[::step], of a list or of the items of one whose length is known."""
    if step == 1:
        return xs
    if not isinstance(xs, Bounded):
        return xs[::step]
    least, most = (-(-number // step) for number in (xs.least, xs.most))
    length = w.binary("//", w.binary("+", xs.length, step - 1), step)
    return Bounded(xs.items[: xs.most : step], length, least, most)


# ---------------------------------------------------------------- changes


def appended(w: Evaluator, xs: Bounded, more: Sequence[Any]) -> Bounded:
    """With items at its end, of which some may not be there."""
    if moving.is_worth_it(xs, more):
        return moving.put_together(w, xs, moving.packed(w, more))
    for one in more:
        if isinstance(one, Maybe):
            xs = _appended(w, xs, one.value, one.taken)
        else:
            xs = _appended(w, xs, one, True)
    return xs


def _appended(w: Evaluator, xs: Bounded, value: Any, there: Any) -> Bounded:
    sure = there is True
    if xs.most == xs.room:
        there = _if_not_full(w, xs, there)
    items = [*xs.items]
    for place in range(xs.least, min(xs.most, len(items))):
        items[place] = _put(w, xs, place, value, items[place], there)
    most = min(xs.most + 1, xs.room or xs.most + 1)
    if most > len(items):
        items.append(value)
    elif most > xs.most:
        items[xs.most] = _put(w, xs, xs.most, value, items[xs.most], there)
    length = w.binary("+", xs.length, 1 if there is True else w.choose(there, 1, 0))
    return xs.changed(tuple(items), length, min(xs.least + sure, most), most)


def _if_not_full(w: Evaluator, xs: Bounded, there: Any) -> Any:
    """Whether an item is added to a list that may be full; where that is, the call raises."""
    full = w.compare(">=", xs.length, xs.room)
    message = moving.TOO_LONG.format(room=xs.room)
    moving.overflow(w, full if there is True else w.choose(there, full, False), message)
    return w.choose(full, False, there)


def _put(w: Evaluator, xs: Bounded, place: int, value: Any, old: Any, there: Any) -> Any:
    here = w.compare("==", xs.length, place)
    if there is not True:
        here = w.choose(there, here, False)
    return w.choose(here, value, old)


def popped(w: Evaluator, xs: Bounded, index: Any) -> tuple[Any, Bounded]:
    """An item, and the list without it."""
    if not xs.most:
        if not w.conditions or not xs.items:
            raise IndexError("pop from empty list")
        return xs.items[0], xs
    last = not isinstance(index, Abstract) and index == -1
    found = item(w, xs, index, "pop from empty list" if last else "pop index out of range")
    low, high = _reach(xs, index)
    if low >= high:
        return found, xs
    length, least = w.binary("-", xs.length, 1), max(xs.least - 1, 0)
    if not xs.least:
        length = w.call(max, length, 0)
    items = xs.items
    if isinstance(index, Abstract) or index != -1:
        place = _place(w, xs, index)
        after = [*items[1:], items[-1]]
        moved = [w.compare(">=", at, place) for at in range(len(items))]
        items = tuple([w.choose(m, a, b) for m, a, b in zip(moved, after, items, strict=True)])
    return found, xs.changed(items, length, least, xs.most - 1)


def inserted(w: Evaluator, xs: Bounded, index: Any, value: Any) -> Bounded:
    """With an item before the place of an index."""
    more: Any = 1
    if xs.most == xs.room:
        more = w.choose(_if_not_full(w, xs, True), 1, 0)
    place = _place(w, xs, index)
    place = w.call(min, w.call(max, place, 0), xs.length)
    slots = (*xs.items, value) if xs.most == len(xs.items) else xs.items
    items = []
    for at, old in enumerate(slots):
        before = slots[at - 1] if at else old
        shifted = w.choose(w.compare("==", place, at), value, before)
        items.append(w.choose(w.compare("<", at, place), old, shifted))
    length = w.binary("+", xs.length, more)
    most = min(xs.most + 1, xs.room or xs.most + 1)
    return xs.changed(tuple(items[:most]), length, min(xs.least + 1, most), most)


def ordered(w: Evaluator, xs: Bounded, keys: Sequence[Any], reverse: bool, sort: Sort) -> Bounded:
    """The items by their keys; `sort` is given the slots, and whether each is taken."""
    slots = xs.items[: xs.most]
    kinds = {scalar_kind(slot) for slot in slots}
    ends = _ENDS.get(kinds.pop() or "") if len(kinds) == 1 else None
    if keys is xs.items and ends is not None:
        end = ends[reverse]
        filled = [w.choose(is_there(w, xs, at), slot, end) for at, slot in enumerate(slots)]
        made = w.read(w.call(sorted, List(tuple(filled)), reverse=reverse))
    else:
        there = [is_there(w, xs, at) for at in range(len(slots))]
        made = tuple(sort(slots, keys, there))
    return xs.changed(made, xs.length, xs.least, xs.most)


Sort = Callable[[Sequence[Any], Sequence[Any], Sequence[Any]], Sequence[Any]]

# Numbers that are sorted behind all others: in ascending order, and in descending order.
_ENDS: Final[dict[str, tuple[Any, Any]]] = {
    "float": (float("inf"), float("-inf")),
    "int": (2**31 - 1, -(2**31)),
    "uint": (UInt(2**32 - 1), UInt(0)),
}


def refusal(xs: Bounded) -> str:
    """What to say where the items would be taken one by one."""
    return (
        f"{xs.describe()} has a length that only the device knows: it can be looped over, folded "
        "(sum() and the like), indexed and sorted, but not taken apart"
    )
