"""Which methods change their object."""

from __future__ import annotations

import array
import collections
import collections.abc
from typing import Any, Final

import numpy as np

# Methods by which something from outside would be changed.
MUTATING: Final[dict[type, frozenset[str]]] = {
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
_TAKING: Final = frozenset(["__next__", "send", "throw", "close"])  # of iterators


def mutates(owner: Any, name: str) -> bool:
    """Whether a method of that name changes its object."""
    if name in _TAKING and isinstance(owner, collections.abc.Iterator):
        return True
    return any(name in MUTATING.get(base, ()) for base in type(owner).__mro__)
