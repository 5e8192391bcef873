"""Operators on sets that hold objects which are compared by identity, or members that only the
device knows: what else sets hold is known, and Python's own.

    combined(w, "|", {a}, {b})          # the set of both
    compared(w, "<=", {a}, {a, b})      # True
"""

from __future__ import annotations

from typing import Any

from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.collections import members
from pygpu.frontend.numbers.arithmetic import both, either, negate, python_operator
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.objects import Set
from pygpu.frontend.values.values import Abstract, if_there, is_there


def combined(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a | b and the like; NotImplemented of anything else."""
    if _are_moved(w, a, b) and symbol in "|&-^":
        return _combined(w, symbol, a, b)
    held = _elements(w, a, b)
    if held is None or symbol not in "|&-^":
        return NotImplemented
    left, right = held
    only = [one for one in left if one not in right]
    more = [one for one in right if one not in left]
    shared = [one for one in left if one in right]
    made = {"|": [*left, *more], "&": shared, "-": only, "^": [*only, *more]}[symbol]
    return Set(tuple(made))


def compared(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a <= b and the like; NotImplemented of anything else."""
    if _are_moved(w, a, b):
        return _compared(w, symbol, a, b)
    held = _elements(w, a, b)
    if held is None:
        return NotImplemented
    return python_operator(symbol)(*map(frozenset, held))


def _combined(w: Evaluator, symbol: str, a: Any, b: Any) -> Set:
    """A set of the members of two, of which only the device knows which there are."""
    made = Set(())
    for one in lists.maybes(w, members.slots(w, a)):
        there, item = is_there(one), if_there(one)
        if symbol != "|":
            other = members.has(w, b, item)
            there = both(w, there, other if symbol == "&" else negate(w, other))
        if there is not False:
            members.put(w, made, item, when=there)
    for one in lists.maybes(w, members.slots(w, b)) if symbol in "|^" else ():
        there, item = is_there(one), if_there(one)
        if symbol == "^":
            there = both(w, there, negate(w, members.has(w, a, item)))
        if there is not False:
            members.put(w, made, item, when=there)
    return made


def _compared(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if symbol in (">", ">="):
        a, b, symbol = b, a, symbol.replace(">", "<")
    found: Any = True
    for one in lists.maybes(w, members.slots(w, a)):
        is_in = members.has(w, b, if_there(one))
        found = both(w, found, either(w, negate(w, is_there(one)), is_in))
    if symbol == "<=":
        return found
    sizes = [members.slots(w, one).length for one in (a, b)]
    found = both(w, found, w.compare("<" if symbol == "<" else "==", *sizes))
    return negate(w, found) if symbol == "!=" else found


def same_entries(w: Evaluator, a: Any, b: Any) -> Any:
    """a == b, of dicts of which only the device knows which keys they have."""
    held = members.slots(w, a)
    same = w.compare("==", held.length, members.slots(w, b).length)
    for place, pair in enumerate(held.items[: held.most]):
        key, its = members.entry(pair)
        found = members.has(w, b, key)
        if found is not False:
            equal = w.truth(w.compare("==", members.value(w, b, key), its))
            found = both(w, found, equal)
        away = negate(w, lists.is_there(w, held, place))
        same = both(w, same, either(w, away, found))
    return same


def _are_moved(w: Evaluator, a: Any, b: Any) -> bool:
    """Whether both are sets, and which members one has only the device knows."""
    are_sets = all(isinstance(one, (Set, set, frozenset)) for one in (a, b))
    return are_sets and any(members.members(w, one) is not None for one in (a, b))


def _elements(w: Evaluator, a: Any, b: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """What two sets hold, of which one holds what is no Python object."""
    if not isinstance(a, Set) and not isinstance(b, Set):
        return None
    if not isinstance(a, (Set, set, frozenset)) or not isinstance(b, (Set, set, frozenset)):
        return None
    left, right = [w.read(one) if isinstance(one, Set) else tuple(one) for one in (a, b)]
    return (left, right) if any(isinstance(one, Abstract) for one in (*left, *right)) else None
