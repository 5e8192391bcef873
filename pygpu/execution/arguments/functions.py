"""Functions as keys: two of the same code that close over equal values are one.

Code(lambda v: v * k) == Code(lambda v: v * k)     # where both were made by the same line
Code(f).value                                      # f, closing over what its variables are now
"""

from __future__ import annotations

import types
from typing import Any, Final

import numpy as np

from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.keys import known_key


class Code:
    """A callable that equals another of the same code that closes over equal values, so that a
    lambda made in a loop or in a function is compiled once. `value` closes over these values
    whatever becomes of the variables. Any other equals itself alone."""

    __slots__ = ("key", "value")

    def __init__(self, value: Any) -> None:
        try:
            self.key, self.value = _frozen(value, ())
        except _Held:
            self.key, self.value = id(value), value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Code) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)


class _Held(Exception):
    """Says that a function closes over what cannot be kept as it is now."""


def _frozen(value: Any, around: tuple[Any, ...]) -> tuple[Any, Any]:
    """A key of what a closed over value is now, and the value as it stays: functions close over
    copies of their variables, containers and arrays are copied. _Held for objects that may change
    within, and for functions that close over themselves (`around`)."""
    if isinstance(value, _LASTING):
        return known_key(value), value
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        return known_key(value), value.copy()
    if type(value) in (list, tuple, set, frozenset):
        parts = [_frozen(each, around) for each in value]
        return (type(value), *[key for key, _ in parts]), type(value)([kept for _, kept in parts])
    if type(value) is dict:
        keys, names = _frozen(list(value), around)
        parts, items = _frozen(list(value.values()), around)
        return (dict, keys, parts), dict(zip(names, items, strict=True))
    if not isinstance(value, types.FunctionType) or value in around:
        raise _Held
    return _frozen_function(value, around)


def _frozen_function(value: types.FunctionType, around: tuple[Any, ...]) -> tuple[Any, Any]:
    try:
        held = [cell.cell_contents for cell in value.__closure__ or ()]
    except ValueError:  # a variable that has no value yet
        raise _Held from None
    parts = [_frozen(each, (*around, value)) for each in held]
    code, names = value.__code__, value.__globals__
    (defaults_key, defaults), (named_key, named) = [
        _default(each, (*around, value)) for each in (value.__defaults__, value.__kwdefaults__)
    ]
    key = (code, defaults_key, named_key, id(names))
    if not parts and not defaults and not named:
        return key, value
    cells = tuple([types.CellType(kept) for _, kept in parts])
    copy = types.FunctionType(code, names, value.__name__, defaults, cells)
    copy.__kwdefaults__ = named
    copy.__qualname__, copy.__doc__ = value.__qualname__, value.__doc__
    copy.__module__ = value.__module__
    return (*key, *[key for key, _ in parts]), copy


def _default(values: Any, around: tuple[Any, ...]) -> tuple[Any, Any]:
    """Defaults as they are now; what may change within stays what it is."""
    try:
        return _frozen(values, around)
    except _Held:
        return known_key(values), values


# What stays what it is; a module's names are watched as globals are.
_LASTING: Final = (
    bool, int, float, complex, str, bytes, range, type(None), np.generic, np.ufunc, ImageLike,
    type, types.ModuleType, types.BuiltinFunctionType,
)  # fmt: skip
