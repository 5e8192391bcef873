"""Strings that a loop of the device makes longer: each is carried as a list of its letters.

    out = ""
    while n > 0:
        out += "I"          # "", then one of "" and "I", then one of ever more
        n -= 1

A string that is one of several is carried as a choice, which must come to an end. Where one gets
longer from walk to walk of the loop's body, it is spelled: a `Written` of letters in slots, which
grow as lists do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.lazy import Bounded, Growing
from pygpu.frontend.values.objects import Cell, Instance, List, Object
from pygpu.frontend.values.states import State
from pygpu.frontend.values.values import Choice
from pygpu.ssa import Region

with later():
    from pygpu.frontend.collections import texts
    from pygpu.frontend.walked import written

# A variable, or what an object holds by a name: a cell has one.
Place = tuple[Object | None, Any]

_MAY_BE: Final = (str, Choice, Instance)
LONGER: Final = 3  # walks in which a choice of strings got longer: it has no end


class Spelled:
    """Which strings a loop has made longer, and which are spelled therefore."""

    def __init__(self) -> None:
        self.places: frozenset[Place] = frozenset()
        self._longer: Counter[Place] = Counter()

    def grown(self, before: State, after: State) -> bool:
        """Whether strings are to be spelled that were not, after a walk of the loop's body."""
        found = set()
        for place, new in _held(after):
            old = _at(before, place)
            if old is new or type(new) not in _MAY_BE or place in self.places:
                continue
            if (
                not texts.is_text(new)
                or not texts.is_text(old)
                or _size(after, new) <= _size(before, old)
            ):
                continue
            self._longer[place] += 1
            enough = 1 if _is_spelled(old) else LONGER - texts.is_written(new)
            if self._longer[place] >= enough:
                found.add(place)
        self.places |= found
        return bool(found)

    def spell(self, w: Evaluator, state: State) -> None:
        """Let the strings be lists of letters in a state."""
        if self.places:
            _spell(w, state, self.places)


def level(
    w: Evaluator, regions: tuple[Region, Region], pair: tuple[State, State], older: int
) -> None:
    """Spell strings that are spelled on one of two paths on the other as well."""
    places = set()
    for state, other in (pair, pair[::-1]):
        for place, value in _held(state):
            handle, _ = place
            if _is_spelled(value) and (handle is None or handle.serial <= older):
                another = _at(other, place)
                if another is not value and texts.is_text(another):
                    places.add(place)
    for region, state in zip(regions, pair, strict=True) if places else ():
        with w.build.inside(region):
            _spell(w, state, places)


def _spell(w: Evaluator, state: State, places: Collection[Place]) -> None:
    here, w.state = w.state, state
    for place in places:
        value = _at(state, place)
        if not texts.is_text(value) or _is_spelled(value):
            continue
        handle, name = place
        made = Instance(written.Written, {"letters": List(texts.letters(w, value))})
        w.heap.spells = True
        if handle is None:
            state.locals[name] = made
        elif type(handle) is Cell:
            state.heap[handle] = made
        else:
            state.heap[handle] = {**state.get(handle), name: made}
    w.state = here


def _held(state: State) -> Iterator[tuple[Place, Any]]:
    yield from (((None, name), value) for name, value in state.locals.items())
    for handle, held in state.heap.items():
        if type(handle) is Cell:
            yield (handle, None), held
        elif isinstance(held, dict):
            yield from (((handle, name), value) for name, value in held.items())


def _at(state: State, place: Place) -> Any:
    handle, name = place
    if handle is None:
        return state.locals.get(name)
    held = state.get(handle)
    return held.get(name) if isinstance(held, dict) else held


def _is_spelled(value: Any) -> bool:
    return isinstance(value, Instance) and value.cls is written.Written


def _size(state: State, value: Any, known: dict[int, int] | None = None) -> int:
    """How many letters there are room for. A number's digits, as many after each round, are one."""
    known = {} if known is None else known
    if id(value) not in known:
        known[id(value)] = _counted(state, value, known)
    return known[id(value)]


def _counted(state: State, value: Any, known: dict[int, int]) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, Choice):
        return max(_size(state, option, known) for option in value.options)
    held = state.get(value)
    if "form" in held:
        return 1
    (items,) = [state.get(each) for each in held.values()]
    if isinstance(items, Growing):
        items = items.rows
    if isinstance(items, Bounded):
        items = items.items[: items.most]
    if not isinstance(items, tuple):
        return 0
    return sum(_size(state, each, known) if texts.is_text(each) else 1 for each in items)
