"""Choices of known strings in the order that Python has: what is asked of them is asked of numbers.

ranked(w, [unit, "inch"])           # ([which, 1], ("cm", "inch"))
numbered(w, [unit, "inch"])         # the same, in any order: that of the longest choice
number_of_each(w, int, digit)       # of a Choice of "0" to "9" its number
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pygpu.frontend.joins.choosing import WORDS
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import is_member, is_of_users, scalar_kind
from pygpu.frontend.values.values import Choice, Dynamic, Natural


def ranked(w: Evaluator, items: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]] | None:
    """Strings and choices of them as places in all of these, ordered; None of anything else."""
    return _in_order(w, items, sorted)


def numbered(w: Evaluator, items: Sequence[Any]) -> tuple[list[Any], tuple[str, ...]] | None:
    """Strings and choices of them as places in all of these, in that order which the longest choice
    has; None of anything else. Choices of the same words keep their numbers."""
    return _in_order(w, items, None)


def are_words(items: Sequence[Any]) -> bool:
    """Whether all are strings or choices of strings, of few in all."""
    held = [item.options if type(item) is Choice else (item,) for item in items]
    every = {option for options in held for option in options if type(option) is str}
    return len(every) <= WORDS and all(type(o) is str for options in held for o in options)


def _in_order(
    w: Evaluator, items: Sequence[Any], order: Callable[[Any], list[str]] | None
) -> tuple[list[Any], tuple[str, ...]] | None:
    if not are_words(items):
        return None
    held = [item.options if type(item) is Choice else (item,) for item in items]
    every = [option for options in sorted(held, key=len, reverse=True) for option in options]
    words = tuple(order({*every}) if order else dict.fromkeys(every))
    places = {word: place for place, word in enumerate(words)}
    return [
        by_option(w, item.which, [places[option] for option in item.options])
        if type(item) is Choice
        else places[item]
        for item in items
    ], words


def by_option(w: Evaluator, which: Dynamic, numbers: Sequence[int]) -> Any:
    """The number of the option that a choice is."""
    first, step = numbers[0], numbers[1] - numbers[0] if len(numbers) > 1 else 0
    if any(number != first + place * step for place, number in enumerate(numbers)):
        return w.item(tuple(numbers), Natural(which.value))
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
    """The string at a place."""
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
