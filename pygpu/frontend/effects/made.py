"""Objects of classes written in C that known calls have made: what changes one under a dynamic
condition, would change it for all pixels, and is refused.

    h = hashlib.md5()        # noted
    if im(p) > 0:
        h.update(b"x")       # refused
"""

from __future__ import annotations

import contextvars
import pickle
import random
import types
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.values import Abstract

# Whose objects stay as they are, are made virtual, or are warned of when they draw random numbers.
_OTHERS: Final = (
    *(type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, Abstract),
    *(int, float, complex, str, bytes, tuple, frozenset, type(None), np.ndarray, np.generic),
    *(random.Random, np.random.Generator, np.random.RandomState, np.random.BitGenerator),
    BaseException,
)
_SAYING: Final = ("hexdigest", "qsize")  # methods that tell of what cannot be pickled
_WRITTEN_IN_PYTHON: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_WRITTEN_IN_C: Final = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE


def note(w: Evaluator, made: Any) -> None:
    """Remember what a call has made, and under which conditions."""
    flags = type(made).__flags__
    in_python = flags & _WRITTEN_IN_PYTHON and not flags & _WRITTEN_IN_C
    if not in_python and not isinstance(made, _OTHERS):
        w.environment.made[id(made)] = made, tuple(w.conditions)


def states(w: Evaluator, touched: Iterable[Any]) -> list[tuple[Any, Any]]:
    """Objects that a call may change and that were made under fewer conditions; what they hold."""
    if not w.environment.made or not w.conditions:
        return []
    found = [w.environment.made.get(id(each)) for each in touched]
    here = tuple(w.conditions)
    return [(each[0], _held(each[0])) for each in found if each is not None and each[1] != here]


def check(w: Evaluator, before: list[tuple[Any, Any]], function: Any) -> None:
    """An error where a call has changed one of them."""
    for each, held in before:
        if _held(each) != held:
            name = getattr(function, "__name__", "a call")
            raise w.error(
                f"an object of {type(each).__name__} was made before a dynamic condition or loop, "
                f"and {name}() would change it for all pixels: make it where it is changed, or "
                "change it before"
            )


def _held(each: Any) -> Any:
    if isinstance(each, contextvars.ContextVar):
        return each.get(None)
    for name in _SAYING:
        if hasattr(each, name):
            return getattr(each, name)()
    try:
        return pickle.dumps(each)
    except Exception:  # it says nothing of what it holds
        return None
