"""Choices of known strings in the order that Python has: what is asked of them is asked of numbers.

ranked(w, [unit, "inch"])           # ([which, 1], ("cm", "inch"))
number_of_each(w, int, digit)       # of a Choice of "0" to "9" its number
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.joins.choosing import WORDS
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_member, is_of_users, scalar_kind
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.values import Choice, Dynamic

with later():
    from pygpu.frontend.collections import bounded as lists


def ranked(w: Evaluator, items: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]] | None:
    """Strings and choices of them as places in all of these, ordered; None of anything else."""
    words: set[str] = set()
    for item in items:
        options = item.options if type(item) is Choice else (item,)
        if not all(type(option) is str for option in options):
            return None
        words.update(options)
    order = tuple(sorted(words))
    if len(order) > WORDS:
        return None
    places = {word: place for place, word in enumerate(order)}
    return [
        by_option(w, item.which, [places[option] for option in item.options])
        if type(item) is Choice
        else places[item]
        for item in items
    ], order


def by_option(w: Evaluator, which: Dynamic, numbers: Sequence[int]) -> Any:
    """The number of the option that a choice is."""
    first, step = numbers[0], numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if any(number != first + place * step for place, number in enumerate(numbers)):
        return w.item(tuple(numbers), which)
    scaled = which if step == 1 else w.binary("*", which, step)
    return w.binary("+", scaled, first) if first else scaled


def as_number(w: Evaluator, value: Any) -> Any:
    """A choice of numbers, as of an enumeration's members, as a number; others as they are."""
    if not isinstance(value, Choice) or not all(map(scalar_kind, value.options)):
        return value
    if any(map(is_of_users, value.options)):
        return value
    number, *rest = [int(each) if is_member(each) else each for each in value.options]
    for place, each in enumerate(rest, 1):
        number = w.choose(w.compare("==", value.which, place), each, number)
    return number


def word(place: Any, order: tuple[str, ...]) -> Any:
    """The string at a place of those in order."""
    return Choice(place, order, "") if isinstance(place, Dynamic) else order[place]


def number_of_each(w: Evaluator, function: Callable[[str], Any], choice: Choice) -> Any:
    """int(word), ord(word) and the like, where a choice is of words; None where what they give is
    no number, or too large a one. What some words are refused with is raised where it is one."""
    left = w.state.facts.get(choice.which.value, range(len(choice.options)))
    found: dict[int, int] = {}
    refused: dict[int, Exception] = {}
    for place in left:
        try:
            found[place] = function(choice.options[place])
        except (TypeError, ValueError) as wrong:
            refused[place] = wrong
    if not found:
        raise next(iter(refused.values()))
    is_small = all(type(n) is int and -(2**31) <= n < 2**31 for n in found.values())
    if not is_small:
        return None
    for place, error in refused.items():
        w.check(w.compare("==", choice.which, place), type(error), str(error))
    (start, first), *more = sorted(found.items())
    step = (more[0][1] - first) // (more[0][0] - start) if more else 0
    every = range(len(choice.options))
    numbers = [found.get(place, first + (place - start) * step) for place in every]
    return by_option(w, choice.which, numbers)


_FEW: Final = 6


def put_together(w: Evaluator, xs: Bounded, ys: Bounded) -> Bounded:
    """The items of both, those of `ys` moved to behind the others: few one by one, more by each
    binary digit of how far they are moved."""
    room = max([each.room for each in (xs, ys) if each.room is not None], default=None)
    length, most = w.binary("+", xs.length, ys.length), xs.most + ys.most
    least = xs.least + ys.least
    if room is not None and most > room:
        lists.overflow(w, w.compare(">", length, room), lists.TOO_LONG.format(room=room))
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
        far, digit = w.binary("-", xs.length, start), 1
        while digit <= xs.most - start:
            here = w.compare("!=", w.binary("&", far, digit), 0)
            further = [*moved[:digit], *moved[:-digit]]
            moved = [w.choose(here, a, b) for a, b in zip(further, moved, strict=False)]
            digit *= 2
        for at in range(start, most):
            new = moved[at - start]
            there = at < len(items)
            is_own = w.compare(">", xs.length, at) if there else False
            items[at : at + 1] = [w.choose(is_own, items[at], new) if there else new]
    return Bounded(tuple(items[:most]), length, min(least, most), most, room)
