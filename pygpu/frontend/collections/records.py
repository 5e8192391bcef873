"""Tables of known objects, of the function's own, and of values of several kinds.

Known objects of one class become a table for each attribute. Values of which there are a few
different ones (strings, functions, `None`), and objects of several classes, become a table that
says which of these an item is.

    element = records(w, (Ball(1.0, "red"), Ball(2.5, "blue")), column, look_up)
    element(index)                  # a Ball: `size` looked up, `colour` a choice

Of the function's own objects, which may be changed, one stands for all: it holds what that holds
which is meant, as do the objects that it leads to, and each knows which objects it may be.

    Either(w, index, column, row).of((ball, other))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.frontend.joins.choosing import CHANGED, CHOICES
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import is_users_class
from pygpu.frontend.values.objects import (
    EITHER,
    Array,
    Cell,
    Dict,
    Instance,
    List,
    Matrix,
    Object,
    Vector,
    attributes,
)
from pygpu.frontend.values.values import Abstract, Choice, Dynamic, Tuple, same_known

# Given an index, makes the element there.
Element = Callable[[Any], Any]
# Makes an Element for a table of known items; None where they fit no table.
Column = Callable[[Evaluator, Sequence[Any]], Element | None]
# Looks up a number in a table of ints, by an index.
LookUp = Callable[[Evaluator, Any, Any], Any]
# The elements of a row of a known array, by an index.
Row = Callable[[Evaluator, Any, Any], list[Any]]


def records(w: Evaluator, items: Sequence[Any], column: Column, look_up: LookUp) -> Element | None:
    """What makes the element at a dynamic index from known objects, or from values of several
    kinds; None if they fit no table."""
    if any(isinstance(item, Abstract) and _kind(w, item) is None for item in items):
        return None
    classes = {type(item) for item in items}
    if len(classes) == 1 and is_record(classes.pop()):
        return _of_one_class(w, items, column)
    return _of_several_kinds(w, items, column, look_up)


def structure(w: Evaluator, item: Any) -> Any:
    """What objects have in common of which one may stand for all; None of others."""
    contents = w.peek(item) if type(item) in _STRUCTURED else None
    if isinstance(item, Vector):
        return "a vector", item.cls, item.type
    if isinstance(item, Array) and isinstance(contents, np.ndarray):
        return "an array", contents.shape
    if isinstance(contents, tuple):
        return "a list", item.cls if isinstance(item, Matrix) else List, len(contents)
    if isinstance(contents, dict):
        return "an object", item.cls if isinstance(item, Instance) else Dict, tuple(contents)
    return None


def are_alike(w: Evaluator, items: Sequence[Any]) -> bool:
    """Whether items are objects of the function, of one structure."""
    if not all(isinstance(item, Object) for item in items):
        return False
    structures = {structure(w, item) for item in items}
    return len(structures) == 1 and None not in structures


def _chosen(w: Evaluator, at: Any, options: Sequence[Any]) -> Any:
    """The option that a number means, by a chain of choices."""
    chosen = options[0]
    for place, option in enumerate(options[1:], 1):
        chosen = w.choose(w.compare("==", at, place), option, chosen)
    return chosen


_STRUCTURED: Final = frozenset((Array, Dict, Instance, List, Matrix, Vector))


class Either:
    """Objects of which an index, which lies within their number, means one. `column` makes tables
    of what they hold, `row` what arrays do."""

    def __init__(self, w: Evaluator, at: Dynamic, column: Column, row: Row) -> None:
        self.w = w
        self.at = at
        self.column = column
        self.row = row
        self.made: dict[tuple[Object, ...], Object] = {}  # objects may hold one another

    def of(self, items: tuple[Object, ...]) -> Object:
        """What stands for objects of one structure."""
        if items in self.made:
            return self.made[items]
        w, first = self.w, items[0]
        made = first.like(first, EITHER)
        assert made is not None
        self.made[items] = made
        if isinstance(made, Array):
            made.initial = self._elements([w.read(item) for item in items])
        elif isinstance(made, Vector):
            columns = zip(*map(w.items, items), strict=True)
            made.initial = tuple([self.part(parts) for parts in columns])
        else:
            contents = w.read(first)
            rows = [[part for _, part in item.parts_of(w.read(item))] for item in items]
            columns = zip(*rows, strict=True)
            made.initial = made.gather(contents, tuple([self.part(parts) for parts in columns]))
        for item in items:
            w.heap.alias(item, made)
        note_either(w, made, items, self.at)
        return made

    def _elements(self, held: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        """What stands for the elements of arrays of one shape."""
        numbers = np.stack([array.reshape(-1) for array in held])
        made = np.empty(numbers.shape[1], object)
        is_known = numbers.dtype != object
        made[:] = (
            self.row(self.w, numbers, self.at)
            if is_known
            else list(map(self.part, zip(*numbers, strict=True)))
        )
        return made.reshape(held[0].shape)

    def part(self, parts: tuple[Any, ...]) -> Any:
        """What stands for what objects hold in one place."""
        first = parts[0]
        if all(part is first for part in parts):
            return first
        if are_alike(self.w, parts):
            return self.of(parts)
        found = self.column(self.w, parts)
        return _chosen(self.w, self.at, parts) if found is None else found(self.at)


def note_either(w: Evaluator, made: Any, items: Sequence[Any], at: Any) -> None:
    """Let what was chosen by an index know which objects of the function it may be: items, and what
    items may be that are one of several themselves. It stays one that can only be read where an
    item is from outside, or there are too many."""
    if not isinstance(made, Object) or made.either is not None or not 1 < len(items) <= CHANGED:
        return
    if all(isinstance(item, Object) and not item.outside for item in items):
        made.either = Cell(Choice(at, tuple(items), ""))
        return
    every: list[Object] = []
    numbers = []
    for item in items:
        if not isinstance(item, Object):
            return
        held = w.peek(item.either) if item.either is not None else None
        several = held if isinstance(held, Choice) else Choice(at, (item,), "")
        if item.outside and (item.outside != EITHER or several is not held):
            return
        options = several.options
        every += [option for option in options if option not in every]
        numbers.append(_chosen(w, several.which, list(map(every.index, options))))
    which = _chosen(w, at, numbers)
    if isinstance(which, Dynamic) and len(every) <= CHANGED:
        made.either = Cell(Choice(which, tuple(every), ""))


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
        kind = _kind(w, item)
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


def _kind(w: Evaluator, item: Any) -> Any:
    """What items of one column have in common: the value itself where that has no columns."""
    if isinstance(item, Abstract):
        if isinstance(item, (Bound, Function)):
            return "a value", item
        if isinstance(item, Tuple):
            return "a sequence", item.cls, len(item.items)
        return structure(w, item)
    if scalar_kind(item):
        return "a number", scalar_kind(item) == "bool"
    if is_record(type(item)):
        return "an object", type(item)
    if isinstance(item, (tuple, list)):
        return "a sequence", type(item), len(item)
    if isinstance(item, np.ndarray):
        return "an array", item.shape
    return "a value", item
