"""What stands for known values in the key of a call: equal keys mean that one program serves both.

Numbers, texts, arrays and containers of them count by type and value, all else by identity.

    known_key(1) != known_key(True)
    known_key([kernel, 2.0]) == known_key([kernel.copy(), 2.0])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import Any, Final

import numpy as np


class Identity:
    """Compares an object by identity and keeps it alive, so that its id is not used again."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value: Final = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def known_key(value: Any) -> Any:
    """What stands for a known value in a key: type and value of numbers, texts, arrays and of
    containers of them (True is not 1, -0.0 is not 0.0), the identity of all else."""
    cls = type(value)
    rule = _KNOWN_KEYS.get(cls)
    if rule is not None:
        return rule(value)
    if isinstance(value, np.generic):
        return cls, value.tobytes()
    if (cls.__module__, cls.__name__) in _OF_LIBRARIES:
        return _by_value(value)
    return Identity(value)


# Numbers, by the names of their classes: few programs have any, or their modules.
_OF_LIBRARIES: Final = {("fractions", "Fraction"), ("decimal", "Decimal")}


def _by_value(value: Any) -> Any:
    return type(value), value


def _array_key(array: np.ndarray[Any, Any]) -> Any:
    if array.dtype.hasobject:
        return Identity(array)
    content = array.tobytes()
    if len(content) > 256:
        content = blake2b(content, digest_size=16).digest()
    return np.ndarray, array.dtype.str, array.shape, content


def _items_key(items: Iterable[Any]) -> Any:
    return type(items), tuple([known_key(item) for item in items])


_KNOWN_KEYS: Final[dict[type, Callable[[Any], Any]]] = {
    **dict.fromkeys((type(None), bool, int, str, bytes, range), _by_value),
    float: lambda value: (float, value.hex()),
    complex: lambda value: (complex, value.real.hex(), value.imag.hex()),
    np.ndarray: _array_key,
    tuple: _items_key,
    list: _items_key,
    set: lambda value: (set, frozenset(map(known_key, value))),
    frozenset: lambda value: (frozenset, frozenset(map(known_key, value))),
    dict: lambda value: (
        dict,
        tuple([(known_key(key), known_key(item)) for key, item in value.items()]),
    ),
}
