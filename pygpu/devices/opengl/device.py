"""What both OpenGL targets are: a device in the one private context, with its limits and its clock.

class FragmentDevice(OpenGLDevice):
    name, copy = "fragment", "opengl"
"""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Final

from pygpu.core.device import Device, Limits
from pygpu.core.programs import Program, Shape, Task
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.ahead import in_two
from pygpu.devices.opengl.driver.context import Context
from pygpu.devices.opengl.time import Clock

SHARED: Final = 8 << 30  # bytes of the machine's memory, where the system does not tell


class OpenGLDevice(Device):
    """OpenGL 3.3 and up. Making it makes the context."""

    language = "GLSL"

    def __init__(self) -> None:
        with opengl.context() as gl:
            self.dialect = gl.dialect
            self.driver = gl.description
            self.is_hardware = not gl.is_software
            self.granted = gl.limits
            self._clock = Clock(gl)

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        """The program of a task, in two parts where many pixels would compute the same."""
        return in_two(task, lambda part: self.made(part, shape)) or self.made(task, shape)

    @abstractmethod
    def made(self, task: Task, shape: Shape | None = None) -> Program:
        """The program of a task as it is."""

    def limits(self) -> Limits:
        return Limits(self.granted.texture_size, sys.maxsize, self.memory())

    def memory(self) -> int:
        """Bytes that a call may take: some of the device's own, or of what it shares."""
        return self.granted.memory // 2 or _shared_memory() // 4

    def describe(self) -> dict[str, str]:
        kind = "hardware" if self.is_hardware else "software"
        facts = [
            f"{field.name.replace('_', ' ')} {getattr(self.granted, field.name)}"
            for field in fields(self.granted)
        ]
        return {"device": f"{self.driver} ({kind})", "limits": ", ".join(facts)}

    def seconds(self, runs: Sequence[Callable[[], object]]) -> list[float]:
        with opengl.context() as gl:
            return self.clock(gl).seconds(runs)

    def copies(self, nbytes: int, count: int) -> list[float]:
        with opengl.context() as gl:
            return self.clock(gl).copies(nbytes, count)

    def clock(self, gl: Context) -> Clock:
        """The clock of the context, which is another one where the driver has reset."""
        if self._clock.context is not gl:
            self._clock = Clock(gl)
        return self._clock

    def clear(self) -> None:
        if opengl.context().held is not None:
            with opengl.context() as gl:
                gl.clear()


def _shared_memory() -> int:
    """Bytes of the machine's memory, as far as the system tells."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return SHARED
