"""Python's collector of garbage, which is paused while a program is walked and simplified.

Operations and their values name each other, so all of them are what the collector looks for, and
nearly all live until the program is made: looking at them again and again, and at everything else
in the process with them, took from a quarter to a half of the time.

    with paused():
        ...

Modules stay, with all that running them makes: `lasting` spares the collector the first look at it,
which takes 6 ms of a first call and finds nothing.
"""

from __future__ import annotations

import gc
import os
import threading


class _Pauses:
    """How many threads want it paused, and whether it ran before the first of them."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.count = 0
        self.ran = False

    def begin(self) -> None:
        with self.lock:
            if self.count == 0:
                self.ran = gc.isenabled()
                gc.disable()
            self.count += 1

    def end(self, lasting: bool = False) -> None:
        with self.lock:
            self.count -= 1
            if self.count == 0 and self.ran:
                # Where some are frozen, it is the program that did.
                if lasting and not gc.get_freeze_count():
                    gc.freeze()  # the two together only make all objects old
                    gc.unfreeze()
                gc.enable()


_pauses = _Pauses()


def _after_fork() -> None:
    """In a forked child the threads are gone that would have let it run again."""
    global _pauses
    if _pauses.count and _pauses.ran:
        gc.enable()
    _pauses.lock = threading.Lock()  # another thread may have had it
    _pauses = _Pauses()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class paused:  # noqa: N801 - read as a word of the language, and no frame of contextlib's in errors
    """No garbage is collected in the block. Blocks may nest, and run in several threads."""

    __slots__ = ("mine",)

    is_lasting = False  # whether what the block makes is taken for old

    def __enter__(self) -> None:
        self.mine = _pauses
        self.mine.begin()

    def __exit__(self, *error: object) -> None:
        self.mine.end(self.is_lasting)


class lasting(paused):  # noqa: N801
    """No garbage is collected in the block, and what it makes is taken for old."""

    __slots__ = ()

    is_lasting = True
