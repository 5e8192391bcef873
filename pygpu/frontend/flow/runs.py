"""Choices of sequences that differ in length, where a program runs through one: `for n in
neighbours[k]`, `enumerate(words[k])`. They become a list whose length only the device knows."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pygpu.frontend.flow.choices import possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.values.objects import List
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Abstract, Choice, Tuple


def listed(w: ControlFlow, state: State, op: str, arg: Any) -> None:
    """Put such lists in place of the choices that the next instruction runs through."""
    stack = state.stack
    count = 0
    if op == "ITER":
        count = 1
    elif op == "CALL" and any(_makes_iterator(stack[-arg[0] - place]) for place in (1, 2)):
        count = arg[0]
    for place in range(1, count + 1):
        if type(stack[-place]) is Choice:
            stack[-place] = _one_list(w, stack[-place])


def _makes_iterator(callee: Any) -> bool:
    """Whether a callee is enumerate, zip, map and the like."""
    return isinstance(callee, type) and issubclass(callee, Iterator)


def _one_list(w: ControlFlow, choice: Choice) -> Any:
    """What a choice can be as one list; the choice where its lengths do not differ, and iterators
    meet as they are, or where one option is no sequence."""
    left = sorted(possible(w, choice))
    items = [_items(w, choice.options[number]) for number in left]
    found = [each for each in items if each is not None]
    if len(found) < len(left) or len({len(each) for each in found}) < 2:
        return choice
    made: Any = List(found[0])
    for number, each in zip(left[1:], found[1:], strict=True):
        here = w.compare("==", choice.which, number)
        made = w.choose(here, List(each), made)
    return made


def _items(w: ControlFlow, option: Any) -> tuple[Any, ...] | None:
    """The items of a sequence of known length."""
    if isinstance(option, Tuple):
        return option.items
    if isinstance(option, List):
        held = w.read(option)
        return held if isinstance(held, tuple) else None
    known = isinstance(option, Collection) and not isinstance(option, Abstract)
    return tuple(option) if known else None
