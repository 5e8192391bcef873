"""The one private OpenGL context, behind one door.

    with opengl.context() as gl:      # a lock is held, our context is current
        texture = gl.texture(...)
    opengl.noted(commands, *given)    # puts commands down for the next section, or not

What was current before is current again afterwards. Nothing outside the door calls OpenGL:
finalisers put what is to be freed into a queue, which the next one through the door empties. A
child of a fork never enters, for drivers may hang there. What handlers of signals may do meanwhile
stands in pygpu/devices/process/door.py; contexts and programs are made on a thread where none runs,
for moderngl calls back into Python there.
"""

from __future__ import annotations

import atexit
import os
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pygpu.core.errors import DeviceError
from pygpu.core.host.forks import IMPORTING
from pygpu.core.host.undisturbed import undisturbed
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.driver.platform import PlatformError, attempts
from pygpu.devices.process.door import Door

T = TypeVar("T")


class _Door(Door[Context]):
    """See the module's head."""

    def __init__(self) -> None:
        super().__init__()
        self.held: Context | None = None
        self.pid: int | None = None
        self.is_current = False
        self.saved: Any = None
        self.failure: str | None = None

    def check(self) -> None:
        if self.pid is not None and os.getpid() != self.pid:
            raise DeviceError(
                "OpenGL was used before this process was forked, and drivers may hang in a forked "
                "child; use target='cpu' here, or multiprocessing's 'spawn'"
            )

    def begin(self) -> Context:
        if self.held is not None and self.held.is_lost:
            self.forget()
        if self.held is None:
            self.held = undisturbed(self._open)
        held = self.held
        try:
            self.saved = held.platform.enter()
        except PlatformError as error:
            self.forget()
            raise DeviceError(f"the OpenGL context is gone: {error}") from None
        self.is_current = True
        held.wait_for_others(self.thread.token)
        if held.notes:
            held.give_notes()
        if held.garbage:
            held.drain()
        return held

    def noted(self, put: Callable[..., T | None], *given: Any) -> T | None:
        """What `put(context, *given)` gives, which is called with the lock held and nothing
        current: it may put down commands for the next section. None where this thread is at such a
        call, holds the context or the context takes no notes. What enters in its middle is
        refused; it may end at any place, by a handler that raises."""
        held, thread = self.held, self.thread
        if held is None or thread.is_amid or not held.takes_notes(thread.token):
            return None
        self.check()
        try:
            thread.is_amid = True
            with self.lock:
                return None if self.holder else held.noting(put, *given)
        finally:
            thread.is_amid = False

    def end(self) -> None:
        held = self.held
        if self.is_current and held is not None:
            if not held.is_lost:
                held.send()
            held.platform.leave(self.saved)
        self.is_current = False

    def mend(self) -> None:
        if self.is_current and self.held is not None and not self.held.is_lost:
            self.held.distrust()

    def desert(self) -> None:
        self.held, self.is_current = None, False  # current in another thread, where it stays

    def _open(self) -> Context:
        """A new context, not current. Forks wait for it: it loads libraries, and a child that has
        them by halves can load no other."""
        if self.failure:
            raise DeviceError(self.failure)
        with IMPORTING:
            return self._opened()

    def _opened(self) -> Context:
        self.pid = os.getpid()
        answers = []
        for name, make in attempts():
            try:
                platform = make()
                saved = platform.enter()
            except PlatformError as error:
                answers.append(f"{name}: {error}")
                continue
            try:
                return Context(platform)
            except Exception as error:  # moderngl raises several kinds
                answers.append(f"{name}: {error}")
            finally:
                platform.leave(saved)
        tried = "".join(f"\n  {answer}" for answer in answers)
        self.failure = (
            f"no OpenGL 3.3 context could be made; tried:{tried or ' nothing'}\n"
            "A driver is needed: on Debian and Ubuntu `apt install libegl1 libgl1-mesa-dri` gives "
            "Mesa's (in software where there is no GPU), or install the GPU's own"
        )
        raise DeviceError(self.failure)

    def forget(self) -> None:
        """Let a lost context go; the next to enter makes a new one. It stays as long as the process
        does: once it is destroyed, NVIDIA's driver takes the new one, at the same address, for it.
        Then results are zeros, or the process ends."""
        self.held = None

    def release(self) -> None:
        """Free the context at exit, where no other thread is using it."""
        if self.held is None or os.getpid() != self.pid or not self.lock.acquire(blocking=False):
            return
        try:
            if self.depth == 0:
                self.held.platform.release()
                self.held = None
        except Exception:  # at exit there is nobody to tell
            pass
        finally:
            self.lock.release()


_DOOR: Final = _Door()
atexit.register(_DOOR.release)


def context() -> _Door:
    """The door to the context: `with context() as gl`."""
    return _DOOR


noted: Final = _DOOR.noted
