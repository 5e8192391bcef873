"""Keeps compute programs in order where they share buffers, and lets them run at once elsewhere.

OpenGL promises nothing of what programs see of each other's writes until there is a barrier, at
which the device runs empty: some microseconds, as long as a small image takes.

    order = Order(context.memory_barrier)
    order.await_writes([image.glo])                  # a barrier, if it takes one
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
        reads = [buffer.glo for buffer in read]
        writes = [buffer.glo for buffer in written]
        self.await_writes(reads)
        self.ran(reads, writes)

    def ran(self, read: Iterable[int], written: Iterable[int]) -> None:
        """To be told of a program whose reading was awaited, by the names of its buffers."""
        if self._read or self._written:
            for each in written:
                if each in self._written or each in self._read:
                    self.settle()
                    break
        self._read.update(read)
        self._written.update(written)

    def await_writes(self, names: Iterable[int]) -> None:
        """To be told before a buffer is chosen for the result of a program that reads those of
        these names: after a barrier, which comes anyway then, those are free that were busy."""
        written = self._written
        for each in names:
            if each in written:
                self.settle()
                return

    def settle(self) -> None:
        """A barrier now: what comes waits for all that was."""
        self.barrier()
        self._read.clear()
        self._written.clear()

    def is_busy(self, buffer: Any) -> bool:
        """Whether writing to it would take a barrier."""
        return buffer.glo in self._written or buffer.glo in self._read
