"""What functions that are walked ask the compiler: a rule stands for each of these. In plain Python
they are what their bodies say."""

from typing import Any

import numpy as np


def there(x: Any) -> Any:
    """Whether an item, which a filter may leave out, is there: the walker knows."""
    return True


def value(x: Any) -> Any:
    """The item, zero where it is not there: the walker knows."""
    return x


def needed(found: Any, message: Any = "the sequence is empty") -> None:
    """There must be an item: a rule stands for it."""
    if not found:
        raise ValueError(message)


def fits(holds: Any, message: Any) -> None:
    """What must hold for every pixel, whether the program is checked or not."""
    if not holds:
        raise MemoryError(message)


def holds(found: Any, error: Any, message: Any) -> None:
    """What Python raises an error for where it does not hold: a rule stands for it."""
    if not found:
        raise error(message)


def other(buffer: Any, name: Any) -> Any:
    """An attribute of bytes or an array that Python alone gives: a rule stands for it."""
    raise AttributeError(name)


def slots(a: Any) -> Any:
    """The elements among which a mask selects, and for each the test; all of an array."""
    return np.ravel(a), np.ones(np.size(a), bool)


def selection(items: Any, tests: Any) -> Any:
    """The elements whose tests hold."""
    return items[tests]


def alike(items: Any, a: Any) -> Any:
    """The elements at which the mask of another selection holds."""
    return items


def packed(a: Any) -> Any:
    """The elements that a mask selects before others, and how many they are."""
    return np.ravel(a), np.size(a)


def first(items: Any, count: Any) -> Any:
    """The first elements."""
    return items[:count]


def refuse(what: Any, instead: Any) -> Any:
    """Refuse the program: the walker says it at the user's place."""
    raise NotImplementedError(what, instead)


def refuse_method(name: Any) -> Any:
    """Refuse a method of a string whose characters only the device knows."""
    raise NotImplementedError(name)


def letters(number: Any, form: Any, backwards: Any = False) -> Any:
    """The characters that an int is written as."""
    raise NotImplementedError(number, form, backwards)


def count(number: Any, form: Any) -> Any:
    """How many they are."""
    raise NotImplementedError(number, form)


def letter(number: Any, form: Any, index: Any) -> Any:
    """One of them."""
    raise NotImplementedError(number, form, index)


def filled(number: Any, form: Any, width: Any) -> Any:
    """str.zfill() of what an int is written as."""
    raise NotImplementedError(number, form, width)


def joined(separator: Any, parts: Any) -> Any:
    """separator.join(parts)"""
    return separator.join(parts)


def letters_of_all(parts: Any) -> Any:
    """The characters of strings one after the other."""
    return list("".join(parts))


def split(text: Any, separator: Any, most: Any) -> Any:
    """str.split()"""
    return text.split(separator, most)


def justified(text: Any, width: Any, filling: Any, side: Any) -> Any:
    """str.rjust(), where the side is 1, and str.ljust(), where it is -1."""
    return text.rjust(width, filling) if side == 1 else text.ljust(width, filling)


def may_begin(text: Any, letters: Any) -> Any:
    """Whether the first character may be one of some, for all that is known."""
    return text[0] in letters


def greatest(text: Any, base: Any) -> Any:
    """The greatest number that digits of bits may be, for all that is known; 0 of those that may
    have a sign, and of decimal ones."""
    return int(text, base)


def before(a: Any, b: Any) -> Any:
    """Whether a string is before another one."""
    return a < b


def room(xs: Any) -> Any:
    """How many items a list has at the most."""
    return len(xs)


def digit(letter: Any, base: Any) -> Any:
    """int(letter, base): on a path that may not be taken a known letter may be none."""
    return int(letter, base)


def counted(number: Any, start: Any) -> Any:
    """A number that was counted up from a start: it is not negative where that is not."""
    return number


def bounds(length: Any, low: Any = None, high: Any = None) -> Any:
    """Where a part of a string of so many letters begins and ends, as `find` takes it."""
    low, high = 0 if low is None else low, length if high is None else high
    low = max(low + length, 0) if low < 0 else low
    return low, max(high + length, 0) if high < 0 else min(high, length)
