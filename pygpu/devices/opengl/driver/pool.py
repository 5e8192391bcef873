"""A pool of device objects by kind, bounded in bytes: what is let go waits for the next that fits.

pool = Pool(1 << 20, free)
pool.give(key, thing, nbytes)
pool.take(key)                 # the thing, or None
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Container, Hashable
from typing import Any


class Pool:
    """The oldest go first once there is too much. `free` destroys a thing."""

    def __init__(self, limit: int, free: Callable[[Any], None]) -> None:
        self.limit = limit
        self.free = free
        self.nbytes = 0
        # Keys: least recently given first.
        self._kept: OrderedDict[Hashable, list[tuple[Any, int]]] = OrderedDict()

    def give(self, key: Hashable, thing: Any, nbytes: int) -> None:
        self._kept.setdefault(key, []).append((thing, nbytes))
        self._kept.move_to_end(key)
        self.nbytes += nbytes
        while self.nbytes > self.limit:
            self._drop()

    def take(self, key: Hashable, busy: Container[Any] = (), spare: int = 0) -> Any | None:
        """One that was given under the key: the last if that is not busy, else the first that is
        not, or, where all are, the first. None where there is none, or all are busy, fewer than
        `spare` and less than a quarter of the limit."""
        things = self._kept.get(key)
        if not things:
            return None
        place, count = -1, len(things)
        if things[place][0] in busy:
            place = 0
            while place < count and things[place][0] in busy:
                place += 1
            if place == count:
                if count < spare and count * things[0][1] <= self.limit // 4 - things[0][1]:
                    return None
                place = 0
        thing, nbytes = things.pop(place)
        if not things:
            del self._kept[key]
        self.nbytes -= nbytes
        return thing

    def count(self) -> None:
        """Count anew what is kept, after one of these was interrupted."""
        for key in [key for key, things in self._kept.items() if not things]:
            del self._kept[key]
        self.nbytes = sum(nbytes for things in self._kept.values() for _, nbytes in things)

    def clear(self) -> None:
        while self._kept:
            self._drop()

    def _drop(self) -> None:
        key = next(iter(self._kept))
        thing, nbytes = self._kept[key].pop(0)
        if not self._kept[key]:
            del self._kept[key]
        self.nbytes -= nbytes
        self.free(thing)

    def __len__(self) -> int:
        return sum(map(len, self._kept.values()))
