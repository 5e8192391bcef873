"""Memory of results that nobody holds any more, kept for the next ones: a page that a process has
not touched yet costs more to write than to compute.

    array = RESERVE.empty((2048, 2048, 3), np.dtype("float32"))
    del array                                  # the next of about that size is the same memory
    RESERVE.empty(shape, dtype, at=address + apart(pitch))

Processors compare places within pages first: a load waits for stores before it that are not done,
if they go to the same place of another page. So results that begin a little behind what they are
computed from, as NumPy's arrays do that are made one after the other, take up to three times as
long.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
from collections import deque
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import RLock
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host import forks

LEAST: Final = 1 << 23  # bytes of an array: what is smaller, C libraries keep themselves
MOST: Final = (1 << 28) + (1 << 16)  # bytes that are kept: 8192 x 8192 floats, wherever they begin
SPARE: Final = 1 / 8  # of an array, more than that is not left over: chunks differ by their halos
LINE: Final = 64  # bytes of a line of the cache, or more
PAGE: Final = 4096
WAITING: Final = 1 << 21  # bytes of a result whose stores take long: second caches do not hold them
BEHIND: Final = 512  # bytes that are stored before what is loaded, and still wait
SOON: Final = 192  # bytes that are stored so shortly before that all of them wait
NEAR: Final = range(-2, 6)  # rows that are read for one of a block of results


class _Loan:
    """What an array in the reserve's memory holds on to, and all views of it."""

    __slots__ = ("__array_interface__", "memory", "reserve")

    def __init__(self, memory: NDArray[Any], reserve: Reserve) -> None:
        self.memory, self.reserve = memory, reserve
        self.__array_interface__ = memory.__array_interface__

    def __del__(self, is_ending: Callable[[], bool] = sys.is_finalizing) -> None:
        if not is_ending():  # then this module's names are None
            self.reserve.take_back(self.memory)


class Reserve:
    """Memory by its address; what has been kept longest goes first. An array may be collected
    anywhere, while this thread is in here too: so nobody waits for the lock, and what comes back
    stands in a queue until it is free."""

    def __init__(self, most: int = MOST) -> None:
        self.most = most  # bytes that are kept
        self.returned: deque[NDArray[Any]] = deque()
        self.kept: dict[int, NDArray[Any]] = {}
        self.nbytes = 0
        self.lock, self.is_busy = RLock(), False

    def empty(
        self,
        shape: Sequence[int],
        dtype: np.dtype[Any],
        least: int | None = None,
        at: int | None = None,
    ) -> NDArray[Any]:
        """An array whose contents are anything; its memory is kept if it has so many bytes. `at`:
        the place of a page at which it begins, if its stores are waited for."""
        nbytes = math.prod(shape) * dtype.itemsize
        is_placed = at is not None and nbytes >= WAITING
        whole = nbytes + PAGE if is_placed else nbytes
        if (LEAST if least is None else least) <= nbytes and whole <= self.most:
            memory = self._settled(whole)
            if memory is None:
                memory = _aligned(whole)
            lent: NDArray[np.uint8] = np.asarray(_Loan(memory, self))
        elif is_placed:
            lent = np.empty(whole, np.uint8)
        else:
            try:
                return np.empty(shape, dtype)
            except ValueError:  # the bytes are more than a number holds
                raise MemoryError(f"no memory for an array of shape {tuple(shape)}") from None
        start = 0
        if is_placed and at is not None:
            start = (at // LINE * LINE - lent.__array_interface__["data"][0]) % PAGE
        return lent[start : start + nbytes].view(dtype).reshape(shape)

    def beside(
        self, shape: Sequence[int], dtype: np.dtype[Any], array: NDArray[Any] | None
    ) -> NDArray[Any]:
        """An array for what is computed of another, whose stores that one's loads do not wait for
        if rows of both are as far apart, or whole pages. Of one that is not known yet it is for
        such as begin with a page, as large arrays of NumPy's do."""
        if array is None:
            return self.empty(shape, dtype, at=apart(PAGE))
        place: int = array.__array_interface__["data"][0]
        return self.empty(shape, dtype, at=place + apart(array.strides[0]))

    def take_back(self, memory: NDArray[Any]) -> None:
        """Keep memory that nobody reads any more."""
        self.returned.append(memory)
        self._settled()

    def clear(self) -> None:
        """Let go of all that is kept."""
        self._settled(most=0)

    def _settled(self, wanted: int = 0, most: int | None = None) -> NDArray[Any] | None:
        """Keep at most so much of what has come back; memory of about the size wanted, if any."""
        if not self.lock.acquire(blocking=False):
            return None
        if self.is_busy:  # by this thread, which something interrupts
            self.lock.release()
            return None
        self.is_busy = True
        try:
            while self.returned:
                memory = self.returned.popleft()
                self.kept[memory.__array_interface__["data"][0]] = memory
                self.nbytes += memory.nbytes
            most_wanted = wanted * (1 + SPARE)
            fits = [  # the last of the smallest first: caches may still hold some of it
                (memory.nbytes, -age, place)
                for age, (place, memory) in enumerate(self.kept.items())
                if wanted <= memory.nbytes <= most_wanted
            ]
            found = self.kept.pop(min(fits)[-1]) if fits else None
            self.nbytes -= found.nbytes if found is not None else 0
            while self.nbytes > (self.most if most is None else most):
                self.nbytes -= self.kept.pop(next(iter(self.kept))).nbytes
            return found
        finally:
            self.is_busy = False
            self.lock.release()


@lru_cache(maxsize=256)
def apart(pitch: int) -> int:
    """How many bytes behind an image a result is to begin, within a page, if rows of both are so
    many bytes apart: so that what is stored lies behind none of the rows that are loaded near it,
    and far from all."""

    def badness(shift: int) -> tuple[int, int]:
        behind = [(shift - row * pitch) % PAGE for row in NEAR]
        far = min(min(each, PAGE - each) for each in behind)
        return sum(each < BEHIND for each in behind), -far

    return min(range(0, PAGE, LINE), key=badness)


Rows = tuple[int, int]


@lru_cache(maxsize=1024)
def clear(kept: tuple[Rows, ...], results: tuple[Rows, ...]) -> int:
    """How many bytes on in a page memory is to begin in which rows are kept: of each image so many,
    so many bytes apart, the first where a page begins. Loads of as few of them as can be are to
    wait for stores of results, which begin at such places and have rows as many bytes apart."""
    shifts = np.arange(0, PAGE, LINE)
    rows = np.concatenate([stride * np.arange(number) for number, stride in kept])
    stored = np.concatenate([place + stride * np.arange(PAGE // LINE) for place, stride in results])
    behind = (np.unique(stored % PAGE)[:, None, None] - rows[:, None] - shifts) % PAGE
    waiting = [np.count_nonzero(behind < most, axis=(0, 1)) for most in (SOON, BEHIND)]
    return int(shifts[np.lexsort(waiting[::-1])[0]])


def _aligned(nbytes: int) -> NDArray[np.uint8]:
    """New memory that begins at a line of the cache."""
    memory = np.empty(nbytes + LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % LINE
    return memory[start : start + nbytes]


def keep_freed() -> None:
    """Let glibc keep what is freed, unless its user has said what it is to do: after arrays of some
    megabytes it gives their pages back at each call, PIL's too, and takes new ones for the next."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if os.name == "posix" else None
    if mallopt and not any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        mallopt(-3, 32 << 20)  # M_MMAP_THRESHOLD, as far as it grows by itself
        mallopt(-1, 64 << 20)  # M_TRIM_THRESHOLD: the bytes that are kept


RESERVE: Final = Reserve()
forks.wait_for(RESERVE.lock)
