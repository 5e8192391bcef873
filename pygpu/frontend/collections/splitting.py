"""str.split() of a string whose characters only the device knows, by what is known of it: the text
around the numbers that are written in it.

    split(w, f"{n},{m}", ",", -1)       # [str(n), str(m)], for no number holds a comma
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.collections import texts
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.objects import List
from pygpu.frontend.values.values import Abstract, Choice
from pygpu.frontend.walked import asked


def split(w: Evaluator, text: Any, separator: Any, most: Any) -> Any:
    """text.split(separator, most); refused where what is not known may hold a separator, too."""
    if isinstance(separator, Abstract) or isinstance(most, Abstract):
        return w.call(asked.refuse_method, "split")
    if separator is None and most >= 0:
        return w.call(asked.refuse_method, "split")
    divides = str.isspace if separator is None else separator.__contains__
    pieces: list[list[Any]] = [[]]
    for part in _together(_parts(w, text)):
        if isinstance(part, str):
            first, *others = _pieces(part, separator, most - len(pieces) + 1 if most >= 0 else -1)
            pieces[-1].append(first)
            pieces += [[each] for each in others]
        elif _may_hold(w, part, divides) or (separator is None and _may_be_empty(w, part)):
            return w.call(asked.refuse_method, "split")
        else:
            pieces[-1].append(part)
    made = [texts.joined(w, "", [part for part in piece if part != ""]) for piece in pieces]
    return List(tuple([each for each in made if separator is not None or each != ""]))


def _parts(w: Evaluator, text: Any) -> Iterator[Any]:
    """What a string is made of, one after the other."""
    parts = None if isinstance(text, (str, Choice)) else w.peek(text).get("parts")
    for part in (text,) if parts is None else w.items(parts):
        if part is text:
            yield part
        else:
            yield from _parts(w, part)


def _together(parts: Iterator[Any]) -> list[Any]:
    """The parts, known strings that follow each other as one."""
    made: list[Any] = []
    for part in parts:
        if made and isinstance(part, str) and isinstance(made[-1], str):
            made[-1] += part
        else:
            made.append(part)
    return made


def _pieces(text: str, separator: str | None, most: int) -> list[str]:
    if separator is not None:
        return text.split(separator, most)
    inner = text.split()
    before, after = [""] * text[:1].isspace(), [""] * text[-1:].isspace()
    return [*before, *inner, *after] if inner else ["", ""] if text else [""]


def _may_hold(w: Evaluator, part: Any, divides: Callable[[str], bool]) -> bool:
    """Whether a part may hold one of the characters that divide."""
    if isinstance(part, str):
        return any(map(divides, part))
    if isinstance(part, Choice):
        return any(_may_hold(w, option, divides) for option in part.options)
    form = w.peek(part).get("form")
    if form is not None:
        forms = form.options if isinstance(form, Choice) else (form,)
        return any(divides(c) for each in forms for c in each.alphabet + each.prefix)
    held = lists.held(w, w.attribute(part, "letters"))
    return any(_may_hold(w, each, divides) for each in held.items[: held.most])


def _may_be_empty(w: Evaluator, part: Any) -> bool:
    if isinstance(part, Choice):
        return any(_may_be_empty(w, option) for option in part.options)
    if isinstance(part, str):
        return not part
    is_number = w.peek(part).get("form") is not None
    return not is_number and not lists.held(w, w.attribute(part, "letters")).least
