"""Strings made of known strings of which the pixel chooses: f-strings, `join`, `format`.

What is made of a choice of known things is a choice of strings, one for each option; of several
choices, one for each combination. What is made of anything else that is not known, or could be
more than `WORDS` strings, can be handed on and dropped, as messages are.

    of_options(w, unit, str.upper)        # Choice(which, ("CM", "INCH"))
    joined(w, "-", ["a", unit])           # Choice(which, ("a-cm", "a-inch"))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from pygpu.frontend.collections.bounded import bounded
from pygpu.frontend.joins.choosing import WORDS
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Text
from pygpu.frontend.values.values import Abstract, Choice, describe


def of_options(w: Evaluator, choice: Choice, apply: Callable[[Any], str]) -> Any:
    """A string made of each option of a choice."""
    unknown = next((each for each in choice.options if isinstance(each, Abstract)), None)
    if unknown is not None:
        return unknown if isinstance(unknown, Text) else Text(describe(unknown))
    return Choice(choice.which, tuple(map(apply, choice.options)), choice.why)


def joined(w: Evaluator, separator: str, parts: Sequence[Any]) -> Any:
    """separator.join(parts), where some are choices."""
    made: Any = None
    for part in parts:
        if isinstance(part, Text):
            return part
        if isinstance(part, Choice) and any(isinstance(each, Abstract) for each in part.options):
            return of_options(w, part, str)
        made = part if made is None else _both(w, made, separator, part)
        if isinstance(made, Text):
            return made
    return separator.join(()) if made is None else made


def _both(w: Evaluator, a: Any, separator: str, b: Any) -> Any:
    """a + separator + b, of strings and choices of strings."""
    if not isinstance(a, Choice) and not isinstance(b, Choice):
        return separator.join((a, b))
    if not isinstance(a, Choice):
        return Choice(b.which, tuple([separator.join((a, x)) for x in b.options]), b.why)
    if not isinstance(b, Choice):
        return Choice(a.which, tuple([separator.join((x, b)) for x in a.options]), a.why)
    if a.which.value is b.which.value:
        pairs = zip(a.options, b.options, strict=True)
        return Choice(a.which, tuple([separator.join(pair) for pair in pairs]), a.why)
    count = len(b.options)
    if len(a.options) * count > WORDS:
        return Text(f"choices that could make more than {WORDS} of it", _INSTEAD)
    which = w.binary("+", w.binary("*", a.which, count), b.which)
    made = tuple([separator.join((x, y)) for x in a.options for y in b.options])
    return Choice(which, made, a.why)


def join(w: Evaluator, separator: str, items: Any) -> Any:
    """separator.join(items), of whatever length."""
    if isinstance(items, Text):
        return items
    some = bounded(w, items)
    if some is None:
        parts = w.items(items)
        if any(isinstance(part, Abstract) and not isinstance(part, Choice) for part in parts):
            return Text(describe(items), _INSTEAD)
        return joined(w, separator, parts)
    made: Any = None
    for count in range(some.least, some.most + 1):
        its = joined(w, separator, some.items[:count])
        if isinstance(its, Text):
            return its
        is_it = w.compare("==", some.length, count)
        made = its if made is None else w.choose(is_it, its, made)
    return made


_INSTEAD: Final = (
    "look at the items themselves, as in len(items), and in items == ['a', 'b'] "
    "for ''.join(items) == 'ab'"
)

__all__ = ["join", "joined", "of_options"]
