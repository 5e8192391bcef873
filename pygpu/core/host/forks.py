"""Locks that forking waits for: a child would find them held by threads that it does not have.

    forks.wait_for(lock)       # an RLock; taken in this order, before every fork from now on

`IMPORTING` comes first. Under it devices are imported, what calls import when it is first asked
for, and drivers loaded: what a fork finds half imported or half loaded stays so, and what is
imported may name locks of its own here.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final

IMPORTING: Final = threading.RLock()


class _Forks:
    """The locks, and those taken for forks that are under way."""

    def __init__(self) -> None:
        self.locks: list[Any] = [IMPORTING]
        self.taken: list[Any] = []

    def before(self) -> None:
        for lock in self.locks:  # which may grow until the first one is taken
            lock.acquire()
            self.taken.append(lock)

    def after(self) -> None:
        while self.taken:
            self.taken.pop().release()


_FORKS: Final = _Forks()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_FORKS.before, after_in_parent=_FORKS.after, after_in_child=_FORKS.after
    )


def wait_for(lock: Any) -> None:
    """Let no process be forked while another thread holds a lock."""
    _FORKS.locks.append(lock)


__all__ = ["IMPORTING", "wait_for"]
