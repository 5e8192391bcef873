"""Locks that forking waits for: a child would find them held by threads that it does not have.

    forks.wait_for(lock)       # an RLock; taken in this order, before every fork from now on
    LOCK = forks.Renewed()     # with LOCK.lock: forks do not wait, and a child has a new one

`IMPORTING` comes first. Under it devices are imported, what calls import when it is first asked
for, and drivers loaded: what a fork finds half imported or half loaded stays so, and what is
imported may name locks of its own here. Any number of threads may be at that, for Python has each
module imported by one of them, and a lock besides would be waited for in another order.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final


class _Importing:
    """Held by any number of threads, or, while it forks, by one that no other is beside."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.held: dict[int, int] = {}  # how many times each thread holds it

    def __enter__(self) -> None:
        thread = threading.get_ident()
        with self.changed:
            self.held[thread] = self.held.get(thread, 0) + 1

    def __exit__(self, *error: object) -> None:
        thread = threading.get_ident()
        with self.changed:
            self.held[thread] -= 1
            if not self.held[thread]:
                del self.held[thread]
                self.changed.notify_all()

    def acquire(self) -> None:
        """Wait until no other thread holds it, and let none begin."""
        self.changed.acquire()
        while self.held.keys() - {threading.get_ident()}:
            self.changed.wait()

    def release(self) -> None:
        self.changed.release()


IMPORTING: Final = _Importing()


class _Forks:
    """The locks, and those taken for forks that are under way."""

    def __init__(self) -> None:
        self.locks: list[Any] = [IMPORTING]
        self.taken: list[Any] = []

    def before(self) -> None:
        for lock in self.locks:  # until IMPORTING is taken, modules may still add theirs
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


class Renewed:
    """A `lock` that its thread may take again, as a handler of a signal does. A forked child has a
    new one, whoever held the old: what it guards can be read between any two instructions."""

    def __init__(self) -> None:
        self.renew()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.renew)

    def renew(self) -> None:
        self.lock = threading.RLock()


def wait_for(lock: Any) -> None:
    """Let no process be forked while another thread holds a lock."""
    _FORKS.locks.append(lock)
