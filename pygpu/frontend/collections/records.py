"""Tables of known objects, and of values of several kinds.

Known objects of one class become a table for each attribute. Values of which there are a few
different ones (strings, functions, `None`), and objects of several classes, become a table that
says which of these an item is.

    element = records(w, (Ball(1.0, "red"), Ball(2.5, "blue")), column, look_up)
    element(index)                  # a Ball: `size` looked up, `colour` a choice
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pygpu.frontend.joins.choosing import CHANGED, CHOICES
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import is_users_class
from pygpu.frontend.values.objects import EITHER, Instance, Object, attributes
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, same_known

# Given an index, makes the element there.
Element = Callable[[Any], Any]
# Makes an Element for a table of known items; None where they fit no table.
Column = Callable[[Evaluator, Sequence[Any]], Element | None]
# Looks up a number in a table of ints, by an index.
LookUp = Callable[[Evaluator, Any, Any], Any]


def records(w: Evaluator, items: Sequence[Any], column: Column, look_up: LookUp) -> Element | None:
    """What makes the element at a dynamic index from known objects, or from values of several
    kinds; None if they fit no table."""
    if any(isinstance(item, Abstract) for item in items):
        return None
    classes = {type(item) for item in items}
    if len(classes) == 1 and is_record(classes.pop()):
        return _of_one_class(w, items, column)
    return _of_several_kinds(w, items, column, look_up)


def can_be_any(made: Any, items: Sequence[Any]) -> bool:
    """Whether what was looked up is one of a few objects of the function, which can be changed."""
    is_one = isinstance(made, Object) and made.either is None and 1 < len(items) <= CHANGED
    return is_one and all(isinstance(item, Object) and not item.outside for item in items)


def is_record(cls: type) -> bool:
    """Whether an object of a class is taken apart into its attributes."""
    return is_users_class(cls) and not issubclass(cls, tuple)


def _of_one_class(w: Evaluator, items: Sequence[Any], column: Column) -> Element | None:
    fields = [attributes(item) for item in items]
    names = list(fields[0])
    if any(list(held) != names for held in fields):
        return None
    w.environment.dependencies.add(*items[:1])
    columns = {name: column(w, [held[name] for held in fields]) for name in names}
    cls = type(items[0])

    def element(index: Any) -> Instance:
        return Instance(cls, {n: made(index) for n, made in columns.items() if made}, EITHER)

    return None if None in columns.values() else element


def _of_several_kinds(
    w: Evaluator, items: Sequence[Any], column: Column, look_up: LookUp
) -> Element | None:
    kinds: list[Any] = []
    groups: list[list[Any]] = []
    numbers, places = [], []  # of each item: its kind, and its place among those of that kind
    for item in items:
        kind = _kind(item)
        number = next((n for n, other in enumerate(kinds) if same_known(kind, other)), len(kinds))
        if number == len(kinds):
            if number == CHOICES:
                return None
            kinds.append(kind)
            groups.append([])
        numbers.append(number)
        places.append(len(groups[number]))
        groups[number].append(item)
    columns = [column(w, group) for group in groups] if len(groups) > 1 else []
    if not columns or None in columns:
        return None
    which, where = np.array(numbers, np.int32), np.array(places, np.int32)

    def element(index: Any) -> Any:
        number = look_up(w, which, index)
        if not isinstance(number, Dynamic):
            return columns[number](look_up(w, where, index))  # type: ignore[misc]
        place = look_up(w, where, index)
        options = [
            made(place) if len(group) > 1 else group[0]  # type: ignore[misc]
            for made, group in zip(columns, groups, strict=True)
        ]
        return Choice(number, tuple(options), f"it is an item of {len(items)}, some of them None")

    return element


def _kind(item: Any) -> Any:
    """What items of one column have in common: the value itself where that has no columns."""
    if scalar_kind(item):
        return "a number", scalar_kind(item) == "bool"
    if is_record(type(item)):
        return "an object", type(item)
    if isinstance(item, (tuple, list)):
        return "a sequence", type(item), len(item)
    if isinstance(item, np.ndarray):
        return "an array", item.shape
    return "a value", item
