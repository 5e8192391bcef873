"""Keeps compute programs in order where they share buffers, and lets them run at once elsewhere.

OpenGL promises nothing of what programs see of each other's writes until there is a barrier, at
which the device runs empty: some microseconds, as long as a small image takes.

    order = Order(context.memory_barrier)
    order.await_writes([image])                      # a barrier, if it takes one
    order.before(read=[image], written=[result])     # the same, and what is to be remembered
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any


class Order:
    """What programs have read and written since the last barrier. Buffers are moderngl's."""

    def __init__(self, barrier: Callable[[], object]) -> None:
        self.barrier = barrier
        self._read: set[int] = set()
        self._written: set[int] = set()

    def before(self, read: Iterable[Any] = (), written: Iterable[Any] = ()) -> None:
        """To be told before a command that reads and writes buffers. Whatever command it is, it is
        taken for a program's."""
        reads = {buffer.glo for buffer in read}
        writes = {buffer.glo for buffer in written}
        if not self._written.isdisjoint(reads | writes) or not self._read.isdisjoint(writes):
            self.settle()
        self._read |= reads
        self._written |= writes

    def await_writes(self, buffers: Iterable[Any]) -> None:
        """To be told before a buffer is chosen for the result of a program that reads these: after
        a barrier, which comes anyway then, those are free that were busy."""
        if not self._written.isdisjoint([buffer.glo for buffer in buffers]):
            self.settle()

    def settle(self) -> None:
        """A barrier now: what comes waits for all that was."""
        self.barrier()
        self._read.clear()
        self._written.clear()

    def is_busy(self, buffer: Any) -> bool:
        """Whether writing to it would take a barrier."""
        return buffer.glo in self._written or buffer.glo in self._read


__all__ = ["Order"]
