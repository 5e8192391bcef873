"""A lock around sections of code that stay whole, whatever handlers of signals do.

    with door as inside:        # one thread at a time; entering again from the same one is free

Python runs handlers in the main thread between any two instructions, so also within a section, and
in the `__enter__` and `__exit__` of its `with`. What they may do, and what comes of it:

- A handler raises: the section ends as by any error, and is mended: what was remembered of its
  state is forgotten.
- A handler raises where `__exit__` begins, which then never runs: the section is open, but the
  frame that held it has ended. Whoever comes next ends it.
- A handler calls what enters the same door: it is refused, as it would meet a state that is half
  changed. Between such a call and the section there is a frame that is not PyGPU's, by which it is
  known. Finalisers and trace functions are like handlers there.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any, Final, Generic, NoReturn, TypeVar

from pygpu.core.errors import HOME

T = TypeVar("T")
PATIENCE: Final = 0.5  # seconds after which one who waits looks whether the section is still open


class Thread(threading.local):
    """What a door knows of each thread."""

    def __init__(self) -> None:
        self.token = object()  # tells a thread from all others; numbers of threads are given again
        self.is_amid = False  # whether it is amid what takes the lock without a section


class Door(Generic[T]):
    """What it takes to be inside is said by classes that are made from this one."""

    def __init__(self) -> None:
        self.lock: Any = threading.RLock()  # held once, however often a thread has entered
        self.depth = 0
        self.inside: T | None = None
        self.holder: tuple[int, FrameType] | None = None  # the thread, and what has the `with`
        self.is_visited = False  # whether the section calls what others wrote
        self.thread = Thread()
        self._replacing = threading.Lock()

    # ------------------------------------------------ to be said

    def check(self) -> None:
        """Raise where nobody may enter."""

    def begin(self) -> T:
        """Enter, the lock held; what the `with` statement hands on."""
        raise NotImplementedError

    def end(self) -> None:
        """Leave, the lock held; also where `begin` did not come to its end."""
        raise NotImplementedError

    def mend(self) -> None:
        """Forget what a section remembered that was interrupted, before it ends."""

    def desert(self) -> None:
        """Let go of all that a section of another thread left, which never ended."""

    # ------------------------------------------------ entering and leaving

    def __enter__(self) -> T:
        frame = sys._getframe(1)
        self.check()
        if self.thread.is_amid:
            self._refuse(frame)
        if self.lock._is_owned() and self._is_open(frame):
            assert self.inside is not None
            self.depth += 1
            return self.inside
        try:
            self._acquire()
            self.holder = threading.get_ident(), frame
            self.inside = self.begin()
            self.depth = 1
            return self.inside
        except BaseException:
            self._leave()
            raise

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        if self.depth > 1:
            self.depth -= 1
            return
        try:
            if kind is not None and self.inside is not None:
                self.mend()
        finally:
            self._leave()

    def _acquire(self) -> None:
        if self.lock._is_owned():  # a section of this thread was never ended
            try:
                if self.inside is not None:
                    self.mend()
            finally:
                self._close()
            return
        while not self.lock.acquire(timeout=PATIENCE):
            holder = self.holder
            if holder is not None and not _is_running(*holder):
                self._replace(holder)

    def _leave(self) -> None:
        if self.lock._is_owned():
            try:
                self._close()
            finally:
                self.lock.release()

    def _close(self) -> None:
        try:
            self.end()
        finally:
            self.inside, self.holder, self.depth, self.is_visited = None, None, 0, False

    def _replace(self, holder: tuple[int, FrameType]) -> None:
        """Give up the lock of a section that another thread did not end, and cannot release."""
        with self._replacing:
            if self.holder is holder:
                self.desert()
                self.inside, self.holder, self.depth, self.is_visited = None, None, 0, False
                self.lock = threading.RLock()

    # ------------------------------------------------ who comes

    def _is_open(self, frame: FrameType) -> bool:
        """Whether the section that this thread is in has not ended: the frame that holds it runs.
        Frames of others are taken at their word; they may be generators. RuntimeError for who
        comes in its middle, or while it is entered or left."""
        held = None if self.holder is None else self.holder[1]
        each: FrameType | None = frame
        stranger = None
        while each is not None and each is not held:
            if each.f_code in _CHANGES and each.f_locals.get("self") is self:
                break
            if stranger is None and not _is_ours(each):
                stranger = each
            each = each.f_back
        if each is None:
            return held is not None and not _is_ours(held)
        if each is held and (self.is_visited or stranger is None or not _is_ours(each)):
            return True
        self._refuse(stranger or frame)

    def _refuse(self, frame: FrameType) -> NoReturn:
        """Tell a handler, from its own frame or one that it called, that it may not enter."""
        each: FrameType | None = frame
        while each is not None and _is_ours(each):
            each = each.f_back
        raise RuntimeError(
            f"{(each or frame).f_code.co_qualname}, a handler of a signal, finaliser or the "
            "like, calls PyGPU on OpenGL in the middle of another call on the same thread; let "
            "it set a flag, and call when that call has returned, or use target='cpu' in it"
        )


_CHANGES: Final = (Door.__enter__.__code__, Door.__exit__.__code__)


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(HOME)


def _reaches(frame: FrameType | None, held: FrameType) -> bool:
    """Whether one frame was called from the other, or is it."""
    while frame is not None and frame is not held:
        frame = frame.f_back
    return frame is not None


def _is_running(thread: int, held: FrameType) -> bool:
    return _reaches(sys._current_frames().get(thread), held)
