"""Commands that wait for the next section in which the context is current.

To make the context current, to let it go and to have the device begin takes a driver as long as
several commands. So where calls follow each other at once, commands are put down, and given to the
driver together. Whoever makes the context current gives them first, in their order.

notes = Notes(together=32)
if notes.are_taken():
    notes.put(run_program)
notes.give()
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Final

from pygpu.core.errors import DeviceError

TOGETHER: Final = 32  # commands at most that wait
BURST: Final = 3e-4  # seconds after a call in which another is thought to follow
TRIES: Final = 3  # how often a command is given that something interrupts


class Notes:
    """Of one context. A command may be given twice: where it is interrupted the first time."""

    def __init__(self, together: int) -> None:
        self.together = together
        self.is_open = False  # whether a section puts commands down: nothing is current
        self.is_doubted = False  # whether one was interrupted that did, or that gave them
        self._waiting: deque[Callable[[], object]] = deque()
        self._tries = 0
        self._acted = 0.0

    def __bool__(self) -> bool:
        return bool(self._waiting) or self.is_doubted

    def acted(self) -> None:
        """To be told when a section ends that may be followed by another."""
        self._acted = perf_counter()

    def are_taken(self) -> bool:
        """Whether a command may wait, since another one came just now."""
        return (
            len(self._waiting) < self.together
            and perf_counter() - self._acted < BURST
            and not self.is_doubted
        )

    def put(self, command: Callable[[], object]) -> None:
        self._waiting.append(command)
        self._acted = perf_counter()

    def give(self) -> None:
        """Give all to the driver. DeviceError where one is interrupted again and again."""
        self.is_doubted = True
        while self._waiting:
            self._tries += 1
            if self._tries > TRIES:
                raise DeviceError("a program could not be given to the driver; nothing ran")
            self._waiting[0]()
            self._waiting.popleft()
            self._tries = 0
        self.is_doubted = False
