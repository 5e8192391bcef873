"""Lists whose length only the device knows, moved as wholes: by each binary digit of how far, which
takes a selection for each slot and digit. One item after the other would take one for each two.

put_together(w, xs, ys)             # xs + ys
cut(w, xs, k, None, None)           # xs[k:]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Maybe, Tuple

_FEW: Final = 6
TOO_LONG: Final = (
    "a list, set or dict that grows in a loop without a known end came to hold more than "
    "{room} items: loop a known number of times, as in 'for _ in range(200): if not "
    "more: break', which gives it room for what the rounds add, of up to 256 items"
)


def put_together(w: Evaluator, xs: Bounded, ys: Bounded) -> Bounded:
    """The items of both, those of `ys` moved to behind the others: few one by one, more by each
    binary digit of how far they are moved."""
    room = max([each.room for each in (xs, ys) if each.room is not None], default=None)
    length, most = w.binary("+", xs.length, ys.length), xs.most + ys.most
    least = xs.least + ys.least
    if room is not None and most > room:
        overflow(w, w.compare(">", length, room), TOO_LONG.format(room=room))
        length, most = w.call(min, length, room), room
    moved, start = list(ys.items[: ys.most]), xs.least
    items = [*xs.items[: xs.most]]
    if start == xs.most or not moved:
        items += moved
    elif len(moved) <= _FEW:
        items += (most - len(items)) * [moved[-1]]
        for place, y in enumerate(moved):
            for at in range(start + place, min(xs.most + place + 1, most)):
                here = w.compare("==", xs.length, at - place)
                items[at] = w.choose(here, y, items[at])
    else:
        moved += (most - start - len(moved)) * [moved[-1]]
        moved = _moved(w, moved, w.binary("-", xs.length, start), xs.most - start, 1)
        for at in range(start, most):
            new = moved[at - start]
            there = at < len(items)
            is_own = w.compare(">", xs.length, at) if there else False
            items[at : at + 1] = [w.choose(is_own, items[at], new) if there else new]
    return Bounded(tuple(items[:most]), length, min(least, most), most, room)


def overflow(w: Evaluator, wrong: Any, message: str) -> None:
    """Where a pixel needs more room than there is, the call raises, checked or not."""
    if isinstance(wrong, Dynamic):
        number = w.faults.number(Fault(MemoryError, message, w.frame.place(), always=True))
        w.write(w.faults.cell, w.faults.possible(w.build, w.state, wrong.value, number))


def _moved(w: Evaluator, items: list[Any], far: Any, most: int, way: int) -> list[Any]:
    """Slots moved to the end (`way` 1) or to the beginning (-1), as far as a number says that is
    not negative and at most so much. What comes into the slots left behind is anything."""
    digit = 1
    while digit <= most and items:
        here = w.compare("!=", w.binary("&", far, digit), 0)
        if way > 0:
            further = [*items[:digit], *items[:-digit]]
        else:
            further = [*items[digit:], *[items[-1]] * digit]
        items = [w.choose(here, a, b) for a, b in zip(further, items, strict=False)]
        digit *= 2
    return items


def reversed_of(w: Evaluator, xs: Bounded) -> Bounded:
    """The items from the last to the first: the slots, moved by as many as are empty, which takes a
    selection for each slot and binary digit."""
    empty = w.binary("-", xs.most, xs.length)
    items = _moved(w, [*xs.items[: xs.most][::-1]], empty, xs.most - xs.least, -1)
    return xs.changed(tuple(items), xs.length, xs.least, xs.most)


# ---------------------------------------------------------------- slices, and what may be missing


def cut(w: Evaluator, xs: Bounded, start: Any, stop: Any, step: Any) -> Bounded | None:
    """xs[start:stop], where the items are moved by selection of numbers and words; else None."""
    if step not in (None, 1) or not all(
        end is None or scalar_kind(end) == "int" for end in (start, stop)
    ):
        return None
    if not all(map(_is_simple, xs.items)):
        return None
    first, last = [None if end is None else _place(w, xs, end) for end in (start, stop)]
    length, items = xs.length if last is None else last, [*xs.items[: xs.most]]
    if first is not None:
        furthest = _most(w, first, xs.most)
        items = _moved(w, items, first, furthest, -1)
        length = w.call(max, w.binary("-", length, first), 0)
    before = start if isinstance(start, int) and start > 0 else 0
    most = _most(w, length, max(xs.most - before, 0))
    return Bounded(tuple(items[:most]), length, 0, most)


def _place(w: Evaluator, xs: Bounded, end: Any) -> Any:
    """Where a slice begins or ends, within the list."""
    if not ranges.is_natural(w, end):
        back = w.call(max, w.binary("+", end, xs.length), 0)
        end = w.choose(w.compare("<", end, 0), back, end)
    return w.call(min, end, xs.length)


def _most(w: Evaluator, number: Any, most: int) -> int:
    """The most that a number can be which is no more than so much."""
    return min(ranges.range_of(w, number.value)[1] if isinstance(number, Dynamic) else number, most)


def is_worth_it(xs: Bounded, more: Sequence[Any]) -> bool:
    """Whether items that may not be there are better put together first than added to a list one
    after the other, which takes selections in all slots that may be the next one."""
    first = len(more) // 2 + xs.most - xs.least
    return len(more) > _FEW and first > 4 * _FEW and all(map(_is_simple, more))


def packed(w: Evaluator, more: Sequence[Any]) -> Bounded:
    """Items of which some may not be there: halves, put together."""
    if len(more) > 1:
        half = len(more) // 2
        return put_together(w, packed(w, more[:half]), packed(w, more[half:]))
    if more and isinstance(more[0], Maybe):
        return Bounded((more[0].value,), w.choose(more[0].taken, 1, 0), 0, 1)
    return Bounded(tuple(more), len(more), len(more), len(more))


def _is_simple(item: Any) -> bool:
    """Whether an item is a number, a string, or a tuple of these: nothing that has a name."""
    if isinstance(item, Maybe):
        return _is_simple(item.value)
    if isinstance(item, Choice):
        return all(type(option) is str for option in item.options)
    if isinstance(item, (tuple, Tuple)):
        plain = tuple if isinstance(item, tuple) else item.cls
        held = item if isinstance(item, tuple) else item.items
        return plain is tuple and all(map(_is_simple, held))
    return bool(scalar_kind(item)) or (not isinstance(item, Abstract) and type(item) is str)
