"""Calls that no handler of a signal may interrupt.

Python runs the handlers of signals in the main thread, between two instructions of whatever runs
there, and what a handler raises goes on from that place. Libraries that call back into Python, or
that take a lock in Python, are not made for that: moderngl reads where nothing is, llvmlite keeps
its lock for good. So such calls are made on a thread of their own, where no handlers run, while the
main thread waits. What a handler raises meanwhile is raised when the call has ended.

    code = undisturbed(emit, module)
    when_gone(owner, engine.close)     # a finaliser

No such call may wait for the thread that made it.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, TypeVar

T = TypeVar("T")


class _Job:
    """A call, and what came of it."""

    __slots__ = ("call", "ended", "error", "has_begun", "has_ended", "is_queued", "result")

    def __init__(self, call: Callable[[], Any]) -> None:
        self.call = call
        self.result: Any = None
        self.error: BaseException | None = None
        self.is_queued = self.has_begun = self.has_ended = False
        self.ended = threading.Lock()
        self.ended.acquire()

    def run(self) -> None:
        if self.has_begun:  # queued twice
            return
        self.has_begun = True
        try:
            self.result = self.call()
        except BaseException as error:
            self.error = error
        self.has_ended = True
        self.ended.release()

    def queue(self, jobs: SimpleQueue[Callable[[], object]]) -> None:
        """Queue it and wait for its end; the last that handlers raise is raised afterwards."""
        interrupt: BaseException | None = None
        while True:
            try:
                if not self.is_queued:  # a handler may come between these two, then it is twice
                    jobs.put(self.run)
                    self.is_queued = True
                while not self.has_ended:
                    self.ended.acquire()
                break
            except BaseException as error:
                interrupt = error
        if interrupt is not None:
            raise interrupt


class _Worker:
    """The thread, made when it is first needed, anew in a process that was forked."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], object]] = SimpleQueue()
        self.is_there = False

    def begin(self) -> bool:
        """Whether there is a thread: none can be started when the interpreter ends."""
        if not self.is_there:
            thread = threading.Thread(target=self._serve, name="pygpu undisturbed", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return False
            self.is_there = True
        return True

    def _serve(self) -> None:
        while True:
            job = self.jobs.get()
            job()
            del job  # what it holds is let go here


_WORKER: Final = _Worker()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _WORKER.__init__())  # type: ignore[misc]


def is_disturbed() -> bool:
    """Whether handlers of signals run in this thread."""
    return threading.current_thread() is threading.main_thread()


def undisturbed(function: Callable[..., T], *arguments: Any) -> T:
    """function(*arguments), called where no handler of a signal runs."""
    if not is_disturbed() or not _WORKER.begin():
        return function(*arguments)
    job = _Job(lambda: function(*arguments))
    job.queue(_WORKER.jobs)
    if job.error is not None:
        try:
            raise job.error
        finally:
            job.error = None  # an error that holds itself would stay for long
    result: T = job.result
    return result


class _Finaliser:
    """What is to be called when a thing has gone."""

    __slots__ = ("function", "reference")

    def __init__(self, thing: object, function: Callable[[], object]) -> None:
        self.function: Callable[[], object] | None = function
        # All that happens in the thread that lets go is put(self, reference), and that is C: its
        # second parameter, `block`, is there for the likeness to other queues.
        self.reference = weakref.ref(thing, partial(_WORKER.jobs.put, self))

    def __call__(self) -> None:
        function, self.function = self.function, None  # a weak reference may keep its callback
        _FINALISERS.discard(self)
        if function is not None:
            with suppress(Exception):
                function()


_FINALISERS: Final[set[_Finaliser]] = set()


def when_gone(thing: object, function: Callable[[], object]) -> None:
    """Have function() called where no handler runs, some time after `thing` has gone; what it
    raises is nobody's. A __del__ would not do: handlers run in that, too."""
    _WORKER.begin()
    _FINALISERS.add(_Finaliser(thing, function))
