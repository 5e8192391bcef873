"""Operators on sets that hold objects which are compared by identity: what else sets hold is known,
and Python's own.

    combined(w, "|", {a}, {b})          # the set of both
    compared(w, "<=", {a}, {a, b})      # True
"""

from __future__ import annotations

from typing import Any

from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.objects import Set
from pygpu.frontend.values.values import Abstract


def combined(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a | b and the like; NotImplemented of anything else."""
    held = _elements(w, a, b)
    if held is None or symbol not in "|&-^":
        return NotImplemented
    left, right = held
    only = [one for one in left if one not in right]
    more = [one for one in right if one not in left]
    both = [one for one in left if one in right]
    made = {"|": [*left, *more], "&": both, "-": only, "^": [*only, *more]}[symbol]
    return Set(tuple(made))


def compared(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a <= b and the like; NotImplemented of anything else."""
    held = _elements(w, a, b)
    if held is None:
        return NotImplemented
    return arithmetic.python_operator(symbol)(*map(frozenset, held))


def _elements(w: Evaluator, a: Any, b: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]] | None:
    """What two sets hold, of which one holds what is no Python object."""
    if not isinstance(a, Set) and not isinstance(b, Set):
        return None
    if not isinstance(a, (Set, set, frozenset)) or not isinstance(b, (Set, set, frozenset)):
        return None
    left, right = [w.read(one) if isinstance(one, Set) else tuple(one) for one in (a, b)]
    return (left, right) if any(isinstance(one, Abstract) for one in (*left, *right)) else None


__all__ = ["combined", "compared"]
