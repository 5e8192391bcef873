"""Devices that note what they are asked to run, and compute nothing themselves.

Whoever runs Python code over whole images on such a device learns which programs that runs, on
what, in which order. recording.py keeps this to be run elsewhere;
pygpu/execution/pipelines/deferred.py plans it and runs it when somebody asks for a texel.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Generic, Protocol, TypeVar

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record
from pygpu.core.programs import Program, Shape, Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.ssa import Constant


@record(eq=False)
class Step:
    """What ran, or is to run: on images by their numbers, with these uniforms, for results of this
    shape, which have numbers of their own. What it does is said by the classes below it."""

    inputs: tuple[int, ...]
    uniforms: tuple[Constant, ...]
    shape: tuple[int, int]
    outputs: tuple[int, ...]


@record(eq=False)
class TaskStep(Step):
    """A program that ran, or is to run."""

    task: Task

    @property
    def reads(self) -> Sequence[Format]:
        """How the images that it reads are stored and seen."""
        return self.task.inputs

    @property
    def makes(self) -> Sequence[Format]:
        """How its results are stored and seen."""
        return self.task.outputs


class Notes(Protocol):
    """What runs are noted in."""

    def note(self, task: Task, work: Work) -> list[Storage]:
        """Note a run; its results."""


N = TypeVar("N", bound=Notes)


class NotingDevice(Device, Generic[N]):
    """A device whose runs are noted, in the notes that are under way in their thread."""

    keeps = True

    def __init__(self) -> None:
        self._notes: ContextVar[N | None] = ContextVar(self.name, default=None)

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        return _Noted(task, self)

    @contextmanager
    def noting(self, notes: N) -> Iterator[N]:
        """Calls of this thread that leave the target to PyGPU are noted within the block."""
        token = self._notes.set(notes)
        try:
            with targets.diverted(self):
                yield notes
        finally:
            self._notes.reset(token)

    @property
    def current(self) -> N | None:
        """What runs of this thread are noted in."""
        return self._notes.get()

    @property
    def notes(self) -> N:
        notes = self._notes.get()
        if notes is None:
            raise DeviceError(
                f"a program of the target {self.name} runs where it is asked to alone"
            )
        return notes


class _Noted(Program):
    def __init__(self, task: Task, device: NotingDevice[N]) -> None:
        self.task, self.device, self.source = task, device, str(task.function)

    def run(self, work: Work) -> list[Storage]:
        """Note the run; its results."""
        return self.device.notes.note(self.task, work)
