"""A device that computes nothing and writes down what it is asked: whoever runs Python code over
whole images on it learns which programs that runs, on what, in which order.

    with recorded() as recording:            # calls of no target in particular go there
        sharpened = sharpen(photo)
    recording.steps[-1].task.function        # and `recording.place(sharpened.storage)`

Texels of what was recorded do not exist: asking for them is a DeviceError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from numpy.typing import NDArray

from pygpu.core.device import Device, Program, Shape, Task
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Storage
from pygpu.devices import targets
from pygpu.ssa import Constant


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A program that ran: on the images at these places of the recording, with these uniforms, for
    results of this shape, which have places of their own."""

    task: Task
    inputs: tuple[int, ...]
    uniforms: tuple[Constant, ...]
    shape: tuple[int, int]
    outputs: tuple[int, ...]


@dataclass(slots=True, eq=False)
class Recording:
    """All images that were read or made, and what made them."""

    images: list[Storage] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    _places: dict[int, int] = field(default_factory=dict)  # of images, by id

    def place(self, storage: Storage) -> int:
        """Where an image is among `images`."""
        found = self._places.get(id(storage))
        if found is None:
            found = self._places[id(storage)] = len(self.images)
            self.images.append(storage)
        return found

    def given(self) -> list[int]:
        """The places of images that no step made."""
        made = {place for step in self.steps for place in step.outputs}
        return [place for place in range(len(self.images)) if place not in made]


class RecordingDevice(Device):
    """See the module's head. Programs may be kept: each run belongs to the recording under way."""

    name, language = "recording", "SSA"

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        return _Recorded(task)

    def of_planes(self) -> Device:
        raise TypeError(
            "functions of volumes run plane by plane, which is not written down: export or record "
            "functions of images and signals"
        )


class _Recorded(Program):
    def __init__(self, task: Task) -> None:
        self.task, self.source = task, str(task.function)

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        out: Sequence[NDArray[Any] | None],
    ) -> list[Storage]:
        """Write the run down. The results are images without texels."""
        recording = _CURRENT.get()
        if recording is None:
            raise DeviceError("nothing is recorded now")
        if any(array is not None for array in out):
            raise DeviceError("out= takes texels, and what is recorded has none")
        results = [
            Storage(*shape, format.channels, format.dtype, None, no_texels)
            for format in self.task.outputs
        ]
        recording.steps.append(
            Step(
                self.task,
                tuple(map(recording.place, inputs)),
                tuple(uniforms),
                shape,
                tuple(map(recording.place, results)),
            )
        )
        return results


def no_texels() -> NoReturn:
    """What is asked for the texels of an image that has none."""
    raise DeviceError(
        "this needs the texels of an image that is only recorded (a fold, NumPy, Pillow, a file, "
        "a target that was asked for by name): they are there where the program runs, later"
    )


@contextmanager
def recorded() -> Iterator[Recording]:
    """Calls of this thread that leave the target to PyGPU are recorded within the block."""
    recording = Recording()
    token = _CURRENT.set(recording)
    try:
        with targets.diverted(_DEVICE):
            yield recording
    finally:
        _CURRENT.reset(token)


_DEVICE: Final = RecordingDevice()
_CURRENT: Final[ContextVar[Recording | None]] = ContextVar("recording", default=None)
__all__ = ["Recording", "Step", "no_texels", "recorded"]
