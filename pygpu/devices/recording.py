"""A device that computes nothing and writes down what it is asked: whoever runs Python code over
whole images on it learns which programs that runs, on what, in which order.

    with recorded() as recording:            # calls of no target in particular go there
        sharpened = sharpen(photo)
    recording.steps[-1].task.function        # and `recording.place(sharpened.storage)`

Texels of what was recorded do not exist: asking for them is a DeviceError.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Final, NoReturn

from pygpu.core.device import Device, Task
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Storage
from pygpu.devices.noting import NotingDevice, Out, Step
from pygpu.ssa import Constant


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

    def note(
        self,
        task: Task,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        shape: tuple[int, int],
        out: Out,
    ) -> list[Storage]:
        """Write a run down. The results are images without texels."""
        if any(array is not None for array in out):
            raise DeviceError("out= takes texels, and what is recorded has none")
        results = [
            Storage(*shape, format.channels, format.dtype, None, no_texels)
            for format in task.outputs
        ]
        read, made = [tuple(map(self.place, images)) for images in (inputs, results)]
        self.steps.append(Step(task, read, tuple(uniforms), shape, made))
        return results


class RecordingDevice(NotingDevice[Recording]):
    """See the module's head."""

    name, language = "recording", "SSA"

    def of_planes(self) -> Device:
        raise TypeError(
            "functions of volumes run plane by plane, which is not written down: export or record "
            "functions of images and signals"
        )


def no_texels() -> NoReturn:
    """What is asked for the texels of an image that has none."""
    raise DeviceError(
        "this needs the texels of an image that is only recorded (a fold, NumPy, Pillow, a file, "
        "a target that was asked for by name): they are there where the program runs, later"
    )


def recorded() -> AbstractContextManager[Recording]:
    """Calls of this thread that leave the target to PyGPU are recorded within the block."""
    return _DEVICE.noting(Recording())


_DEVICE: Final = RecordingDevice()
__all__ = ["Recording", "Step", "no_texels", "recorded"]
