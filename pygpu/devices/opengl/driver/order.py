"""Keeps compute programs in order where they share buffers, and lets them run at once elsewhere.

OpenGL promises nothing of what programs see of each other's writes until there is a barrier, at
which the device runs empty: some microseconds, as long as a small image takes.

    order = Order(context.memory_barrier)
    order.await_writes([image])                      # a barrier, if it takes one
    order.before(read=[image], written=[result])     # the same, and what is to be remembered
    order.busy                                       # what programs may be at work with
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


class Order:
    """What programs have read and written since the last barrier. Buffers are moderngl's."""

    def __init__(self, barrier: Callable[[], object]) -> None:
        self.barrier = barrier
        self.busy: set[Any] = set()  # read or written: writing to these would take a barrier
        self._written: set[Any] = set()

    def before(self, read: Sequence[Any] = (), written: Sequence[Any] = ()) -> None:
        """To be told before a command, taken for a program's, that reads and writes buffers."""
        self.await_writes(read)
        self.ran(read, written)

    def ran(self, read: Sequence[Any], written: Sequence[Any]) -> None:
        """To be told of a program whose reading was awaited."""
        if not self.busy.isdisjoint(written):
            self.settle()
        self.busy.update(read, written)
        self._written.update(written)

    def await_writes(self, read: Sequence[Any]) -> None:
        """To be told before a buffer is chosen for the result of a program that reads these: after
        a barrier, which comes anyway then, those are free that were busy."""
        if not self._written.isdisjoint(read):
            self.settle()

    def settle(self) -> None:
        """A barrier now: what comes waits for all that was."""
        self.barrier()
        self.busy.clear()
        self._written.clear()
