"""A device on which calls are noted, and computed together when somebody asks for a texel.

    with deferring(device) as graph:
        result = sharpen(blur(photo))        # two steps, noted
    graph.settle([result.storage])           # planned, compiled if they are new, and run

What is computed is what is asked for and what that needs. Images between may never exist; asked for
later, they are computed then.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any, Final

from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import HOME
from pygpu.core.host.records import record
from pygpu.core.programs import FoldProgram, FoldTask, How, Task, Work
from pygpu.core.storage import Awaited, ImageLike, Storage
from pygpu.devices.noting import NotingDevice, TaskStep
from pygpu.ssa import Constant

Settle = Callable[["Graph", "set[int]"], None]


class Deferred(Awaited):
    """A result of a step of a graph."""

    __slots__ = ("graph", "number")

    def __init__(self, graph: Graph, number: int, shape: tuple[int, int], task: Task, index: int):
        format = task.outputs[index]
        super().__init__(shape, format.channels, format.dtype)
        self.graph, self.number = graph, number

    @property
    def settled(self) -> Storage:
        return self.graph.storage(self.number)


def settled(storage: Storage) -> Storage:
    """A storage as a device or the host has it, which holds on to no other image."""
    return storage.settled if isinstance(storage, Deferred) else storage


@record(eq=False)
class Note(TaskStep):
    """A step that is to run, and the user's line that called for it."""

    file: str
    line: int


class Graph:
    """The steps of one call, and the images that are there. `settle` computes images."""

    def __init__(self, device: Device, settle: Settle) -> None:
        self.device = device
        self.notes: list[Note] = []
        # Of each note its task, images and size: with `sizes`, all of the structure.
        self.script: list[Hashable] = []
        self.sizes: list[tuple[int, int]] = []  # of images
        self.there: dict[int, Storage] = {}
        self.asked: dict[int, weakref.ref[Deferred]] = {}  # those not there, while anybody has them
        self.lock = threading.RLock()
        self.folded: dict[Hashable, list[Storage] | None] = {}  # what folds gave, by what they are
        self.fold_unseen: Callable[[ImageLike, str], Any] | None = None  # see takes.py
        self._same: dict[Hashable, tuple[int, ...]] = {}  # what steps gave, by what they are
        self._given: dict[int, int] = {}  # numbers, by the id of what is in `there`
        self._settle = settle

    def number(self, storage: Storage) -> int:
        """The number of an image, which becomes one of the graph's."""
        if isinstance(storage, Deferred):
            if storage.graph is self:
                return storage.number
            storage = storage.settled
        found = self._given.get(id(storage))
        if found is None:
            found = self._given[id(storage)] = self._new((storage.height, storage.width))
            self.there[found] = storage
        return found

    def _new(self, size: tuple[int, int]) -> int:
        self.sizes.append(size)
        return len(self.sizes) - 1

    def note(self, task: Task, work: Work) -> list[Storage]:
        """Note a step, unless it is noted already; its results. Arrays to fill are filled now."""
        inputs, uniforms, _, out, _ = work
        size = work.size
        with self.lock:
            numbers = tuple([self.number(each) for each in inputs])
            # Numbers by their text: -0.0 is not 0.0.
            same = task, numbers, repr(uniforms) if uniforms else "", size
            made = self._same.get(same)
            if made is None:
                made = self._same[same] = tuple([self._new(size) for _ in task.outputs])
                self.script += (task, numbers, size)
                self._add(task, numbers, uniforms, size, made)
            results = [Deferred(self, each, size, task, i) for i, each in enumerate(made)]
            for each in results:
                if each.number not in self.there:
                    self.asked[each.number] = weakref.ref(each)
            if any(array is not None for array in out):
                self.settle(results)
                for array, result in zip(out, results, strict=True):
                    if array is not None:
                        array[...] = result.host()
        return list(results)

    def _add(
        self,
        task: Task,
        inputs: tuple[int, ...],
        uniforms: Sequence[Constant],
        size: tuple[int, int],
        made: tuple[int, ...],
    ) -> None:
        frame = _users(sys._getframe(2))
        file, line = (frame.f_code.co_filename, frame.f_lineno) if frame else ("", 0)
        self.notes.append(Note(inputs, tuple(uniforms), size, made, task, file, line))

    def storage(self, number: int) -> Storage:
        """An image, computed now if it is not there."""
        with self.lock:
            if number not in self.there:
                self._settle(self, {number})
            return self.there[number]

    def settle(self, storages: Iterable[Storage]) -> None:
        """Compute images, together."""
        with self.lock:
            wanted = {
                each.number
                for each in storages
                if isinstance(each, Deferred) and each.graph is self
            }
            missing = wanted - self.there.keys()
            if missing:
                self._settle(self, missing)


def _users(frame: FrameType | None) -> FrameType | None:
    """The first frame that is not of PyGPU."""
    while frame is not None and frame.f_code.co_filename.startswith(HOME):
        frame = frame.f_back
    return frame


class DeferringDevice(NotingDevice[Graph]):
    """See the module's head. It is one, since programs are kept by it: the graph is that of the
    call. Folds are the real device's, of images that are settled for them."""

    name = "deferred"

    @property
    def computes(self) -> Device:
        return self.notes.device

    @property
    def copy(self) -> str:  # type: ignore[override]
        return self.notes.device.copy

    @property
    def keeps(self) -> bool:  # type: ignore[override]
        return bool(self.notes.device.copy)  # else numbers are the host's as soon as computed

    @property
    def has_groups(self) -> bool:  # type: ignore[override]
        return self.notes.device.has_groups

    def of_planes(self) -> Device:
        return self.notes.device  # which planes are read is known when they are run, not before

    def for_meshes(self) -> Device:
        return self.notes.device  # at once: what it reads is computed when it is asked for

    def fold(self, task: FoldTask) -> FoldProgram | None:
        program = self.notes.device.fold(task)
        return None if program is None else _FoldedOnce(program, self)

    def texels(self, array: NDArray[Any], how: How, channels: int) -> NDArray[Any] | None:
        return self.notes.device.texels(array, how, channels)


class _FoldedOnce(FoldProgram):
    """A fold whose results stay on the device: of the same images there are no second ones."""

    def __init__(self, program: FoldProgram, device: DeferringDevice) -> None:
        self.program, self.device, self.source = program, device, program.source

    def takes(self, height: int, width: int) -> bool:
        return self.program.takes(height, width)

    def partials(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], fewest: bool = False
    ) -> list[NDArray[Any]]:
        return self.program.partials(inputs, uniforms, fewest)

    def whole(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[NDArray[Any]]:
        return self.program.whole(inputs, uniforms)

    def kept(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Storage] | None:
        graph = self.device.notes
        key = self.program, tuple(map(graph.number, inputs)), repr(uniforms)
        with graph.lock:
            if key not in graph.folded:
                graph.folded[key] = self.program.kept(inputs, uniforms)
            return graph.folded[key]


def deferring(graph: Graph) -> AbstractContextManager[Graph]:
    """In the block, this thread's calls for the graph's target, or any, are noted in it."""
    return _DEVICE.noting(graph)


def current() -> Graph | None:
    """The graph of the pipeline that runs in this thread, if one does."""
    return _DEVICE.current


_DEVICE: Final = DeferringDevice()
