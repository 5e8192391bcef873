"""Which methods change their object."""

from __future__ import annotations

import array
import collections
import collections.abc
from typing import Any, Final

import numpy as np

_STORES: Final = frozenset(["__setitem__", "__delitem__"])
_IN_PLACE: Final = frozenset(
    [f"__i{name}__" for name in ("add", "sub", "mul", "and", "or", "xor", "truediv", "floordiv")]
    + ["__ipow__", "__imod__", "__imatmul__", "__ilshift__", "__irshift__"]
)
# Methods by which something from outside would be changed, besides those of `_STORES`.
_NAMED: Final[dict[type, frozenset[str]]] = {
    list: frozenset(["append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"]),
    dict: frozenset(["update", "pop", "popitem", "clear", "setdefault"]),
    set: frozenset(
        ["add", "update", "remove", "discard", "pop", "clear"]
        + ["difference_update", "intersection_update", "symmetric_difference_update"]
    ),
    np.ndarray: frozenset(["fill", "sort", "resize", "put", "itemset", "partition", "setfield"]),
    bytearray: frozenset(["append", "extend", "insert", "remove", "pop", "clear", "reverse"]),
    array.array: frozenset(
        ["append", "extend", "insert", "remove", "pop", "reverse", "byteswap"]
        + ["fromlist", "frombytes", "fromfile", "fromunicode"]
    ),
    collections.deque: frozenset(
        ["append", "extend", "insert", "remove", "pop", "clear", "reverse", "rotate"]
        + ["appendleft", "extendleft", "popleft"]
    ),
    collections.OrderedDict: frozenset(["move_to_end"]),
    collections.Counter: frozenset(["subtract"]),
}
MUTATING: Final = {cls: names | _STORES | _IN_PLACE for cls, names in _NAMED.items()}
_TAKING: Final = frozenset(["__next__", "send", "throw", "close"])  # of iterators


def mutates(owner: Any, name: str) -> bool:
    """Whether a method of that name changes its object."""
    if name in _TAKING and isinstance(owner, collections.abc.Iterator):
        return True
    return any(name in MUTATING.get(base, ()) for base in type(owner).__mro__)
