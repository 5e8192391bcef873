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
from dataclasses import field, replace
from typing import Final, NoReturn

import numpy as np

from pygpu.core.device import Device
from pygpu.core.drawing import Draw, Drawing, DrawProgram, Geometry
from pygpu.core.errors import DeviceError
from pygpu.core.host.records import record
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Awaited, Format, Storage
from pygpu.devices.noting import NotingDevice, Step, TaskStep

FLOATS: Final = np.dtype("float32")


@record(eq=False)
class MeshStep(Step):
    """A mesh that was drawn. `inputs` has the images of the vertices, those of the fragments, what
    was drawn over, and the depths that were there."""

    drawing: Drawing
    draw: Draw

    @property
    def reads(self) -> Sequence[Format]:
        """How the images that it reads are stored and seen."""
        drawing = self.drawing
        over = [Format(FLOATS, type.size) for type in drawing.colours if self.draw.onto is not None]
        depths = [Format(FLOATS, 1)] if self.draw.depths is not None else []
        return [*drawing.vertex.images, *drawing.fragment.images, *over, *depths]

    @property
    def makes(self) -> Sequence[Format]:
        """How its results are stored and seen."""
        depths = [Format(FLOATS, 1)] if self.draw.keep_depth else []
        return [*[Format(FLOATS, type.size) for type in self.drawing.colours], *depths]


@record
class Loop:
    """Steps that are repeated: those from `first` to `ask` are a round, after which each image of
    `state` (read, made) is taken for the one before; those from `ask` to `end` find out whether
    that was the last one, where `answer` is an image of one texel. They are asked after every so
    many rounds, `done` of which were made before; there are `count` at most."""

    first: int
    ask: int
    end: int
    state: tuple[tuple[int, int], ...]
    answer: int
    done: int
    count: int
    every: int


@record(eq=False, frozen=False)
class Recording:
    """All images that were read or made, and what made them."""

    images: list[Storage] = field(default_factory=list)
    steps: list[TaskStep | MeshStep] = field(default_factory=list)
    loops: list[Loop] = field(default_factory=list)  # none within another one
    _places: dict[int, int] = field(default_factory=dict)  # of images, by id

    def place(self, storage: Storage) -> int:
        """Where an image is among `images`; one that was put off is made now."""
        storage = storage.settled if isinstance(storage, Awaited) else storage
        found = self._places.get(id(storage))
        if found is None:
            found = self._places[id(storage)] = len(self.images)
            self.images.append(storage)
        return found

    def holds(self, storage: Storage) -> bool:
        """Whether an image was read or made."""
        return id(storage.settled if isinstance(storage, Awaited) else storage) in self._places

    def given(self) -> list[int]:
        """The places of images that no step made."""
        made = {place for step in self.steps for place in step.outputs}
        return [place for place in range(len(self.images)) if place not in made]

    def note(self, task: Task, work: Work) -> list[Storage]:
        """Write a run down. The results are images without texels."""
        if any(array is not None for array in work.out):
            raise DeviceError("out= takes texels, and what is recorded has none")
        results = [
            Storage(*work.size, format.channels, format.dtype, None, no_texels)
            for format in task.outputs
        ]
        read, made = [tuple(map(self.place, images)) for images in (work.inputs, results)]
        self.steps.append(TaskStep(read, tuple(work.uniforms), work.size, made, task))
        return results

    def note_mesh(self, drawing: Drawing, draw: Draw) -> list[Storage]:
        """Write down what was drawn. The results are images without texels."""
        read = [*draw.images[0], *draw.images[1], *(draw.onto or ())]
        read += [draw.depths] if draw.depths is not None else []
        inputs, uniforms = tuple(map(self.place, read)), tuple(draw.uniforms)
        step = MeshStep(inputs, uniforms, draw.shape, (), drawing, draw)
        results = [
            Storage(*draw.shape, format.channels, format.dtype, None, no_texels)
            for format in step.makes
        ]
        self.steps.append(replace(step, outputs=tuple(map(self.place, results))))
        return results


class RecordingDevice(NotingDevice[Recording]):
    """See the module's head."""

    name, language = "recording", "SSA"

    def of_planes(self) -> Device:
        raise TypeError(
            "functions of volumes run plane by plane, which is not written down: export or record "
            "functions of images and signals"
        )

    def drawing(self, drawing: Drawing) -> DrawProgram:
        return _NotedDrawing(drawing, self)


class _NotedDrawing(DrawProgram):
    def __init__(self, drawing: Drawing, device: RecordingDevice) -> None:
        self.drawing, self.device = drawing, device
        self.source = f"{drawing.vertex.function}\n{drawing.fragment.function}"

    def draw(self, draw: Draw) -> list[Storage]:
        """Note the draw; its results."""
        return self.device.notes.note_mesh(self.drawing, draw)


def same_mesh(one: Geometry, other: Geometry) -> bool:
    """Whether two meshes have the same vertices and triangles."""
    if one is other:
        return True
    first, second = one.attributes, other.attributes
    return first.keys() == second.keys() and all(
        np.array_equal(*pair)
        for pair in [
            (one.triangles, other.triangles),
            *[(first[name], second[name]) for name in first],
        ]
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


def written_in(device: Device) -> Recording | None:
    """What this thread's runs on a device are written down in, if they are."""
    return _DEVICE.current if device is _DEVICE else None


_DEVICE: Final = RecordingDevice()
