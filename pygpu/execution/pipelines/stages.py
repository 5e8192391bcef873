"""Stages as programs: compiled once for each structure of steps, and run in order.

    runner = Runner()
    runner.settle(graph, {7})            # the images wanted are there afterwards

A structure is what steps there are, how they hang together, their tasks and sizes, what is wanted,
and the device.
"""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Hashable, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from pygpu.core.device import Device, Program, Task
from pygpu.core.errors import DeviceError, OutOfMemory
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.execution.pipelines.deferred import Graph, Note
from pygpu.execution.pipelines.plans import Planned, Stage, plan, price
from pygpu.execution.programs import tiles
from pygpu.execution.programs.specialise import COMPILING, LOG
from pygpu.passes.lower.merge import Merged, Part, merge
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import Constant, walk

KEPT: Final = 64  # structures of a pipeline


@dataclass(slots=True, eq=False)
class Ready:
    """A stage that can run: its program, which images it is given and makes, of which step each of
    its uniforms is which, and which images nobody needs after it."""

    stage: Stage
    task: Task
    device: Device
    program: Program
    reads: tuple[int, ...]
    uniforms: tuple[tuple[int, int], ...]
    shape: tuple[int, int]
    done: tuple[int, ...] = ()
    cut: Any = None  # these two are of tiles: see execution/programs/tiles.py
    wrapped: dict[Any, Any] = field(default_factory=dict)

    def run(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Storage]:
        """The images that it makes; in tiles where the device does not hold them."""
        out: list[Any] = [None] * len(self.task.outputs)
        limits = targets.limits(self.device)
        if limits is None or tiles.hold(limits, self, inputs, self.shape):
            return self.program.run(inputs, uniforms, self.shape, out)
        try:
            return tiles.run(limits, self, inputs, uniforms, self.shape, out)
        except tiles.NotCut as error:
            raise OutOfMemory(f"{error} ({self.device.name})") from None


@dataclass(frozen=True, slots=True)
class StageReport:
    """What a stage did: the steps in it with their lines, images read and made, pixels, bytes moved
    and operations a pixel, and its program's text."""

    steps: tuple[str, ...]
    lines: tuple[str, ...]
    size: tuple[int, int]
    reads: int
    makes: int
    nbytes: int
    operations: int
    loads: int
    source: str = field(repr=False)


class Runner:
    """The structures of a pipeline that have been compiled."""

    def __init__(self) -> None:
        self._ready: OrderedDict[Hashable, list[Ready]] = OrderedDict()
        self._lock = threading.Lock()

    def settle(self, graph: Graph, wanted: Set[int]) -> list[Ready]:
        """Compute the images wanted of a graph's steps. The stages that did."""
        notes = _pending(graph, wanted)
        ready, numbers = self.ready(graph, notes, wanted)
        images = dict(graph.there)
        for each in ready:
            inputs = [images[numbers[name]] for name in each.reads]
            uniforms = [notes[step].uniforms[index] for step, index in each.uniforms]
            try:
                made = each.run(inputs, uniforms)
            except (DeviceError, MemoryError) as error:
                _add_place(error, [notes[step] for step in each.stage.steps])
                raise
            images.update(zip([numbers[name] for name in each.stage.makes], made, strict=True))
            for name in each.done:
                if numbers[name] not in graph.there:
                    del images[numbers[name]]
        for number, reference in list(graph.asked.items()):
            if number in images and (number in wanted or reference() is not None):
                graph.there[number] = images[number]
                del graph.asked[number]
        return ready

    def ready(
        self, graph: Graph, notes: Sequence[Note], wanted: Set[int]
    ) -> tuple[list[Ready], list[int]]:
        """The stages of some steps, compiled, and the graph's number of each of their images."""
        names: dict[int, int] = {}  # images in the order of their appearance
        for note in notes:
            for number in (*note.inputs, *note.outputs):
                names.setdefault(number, len(names))
        key = (
            graph.device.name,
            tuple(
                (note.task, tuple([names[n] for n in note.inputs]), note.shape) for note in notes
            ),
            tuple(graph.sizes[number] for number in names),
            tuple(sorted(names[number] for number in wanted)),
        )
        with self._lock:
            found = self._ready.get(key)
            if found is not None:
                self._ready.move_to_end(key)
        if found is None:
            found = _compiled(graph, notes, wanted, names)
            with self._lock:
                self._ready[key] = found
                while len(self._ready) > KEPT:
                    self._ready.popitem(last=False)
        return found, list(names)

    def reported(self, graph: Graph, wanted: Set[int]) -> list[StageReport]:
        """Compute them, and say what the stages did."""
        notes = _pending(graph, wanted)
        return report(self.settle(graph, wanted), notes)


def _pending(graph: Graph, wanted: Set[int]) -> list[Note]:
    """The steps that the wanted images need, of what is there."""
    found = []
    images = set(wanted)
    for note in reversed(graph.notes):
        if images.intersection(note.outputs):
            found.append(note)
            images.update(number for number in note.inputs if number not in graph.there)
    return found[::-1]


def _compiled(
    graph: Graph, notes: Sequence[Note], wanted: Set[int], names: dict[int, int]
) -> list[Ready]:
    """The stages, in numbers of `names`."""
    steps = [
        Planned(
            note.task,
            tuple([names[number] for number in note.inputs]),
            tuple([names[number] for number in note.outputs]),
            note.shape,
        )
        for note in notes
    ]
    sizes = {names[number]: graph.sizes[number] for number in names}
    kept = {names[number] for number in wanted}
    given = {names[number] for number in names if number in graph.there}
    stages = plan(steps, kept, sizes)
    with COMPILING.lock:
        ready = [_made(graph.device, steps, stage, sizes) for stage in stages]
    last = {number: place for place, each in enumerate(ready) for number in each.reads}
    for place, each in enumerate(ready):
        each.done = tuple(
            number
            for number in dict.fromkeys(each.reads)
            if last[number] == place and number not in kept | given
        )
    LOG.info("%d steps of a pipeline in %d stages", len(steps), len(ready))
    return ready


def _made(
    device: Device, steps: Sequence[Planned], stage: Stage, sizes: dict[int, tuple[int, int]]
) -> Ready:
    """A stage's program."""
    last = steps[stage.steps[-1]]
    if len(stage.steps) == 1 and tuple(stage.makes) == last.outputs:
        uniforms = tuple((stage.steps[0], i) for i in range(len(last.task.function.uniforms)))
        program = device.compile(last.task)
        return Ready(stage, last.task, device, program, last.inputs, uniforms, last.shape)
    parts: list[Part] = [steps[place].part for place in stage.steps]
    name = "_".join(dict.fromkeys(part.function.name for part in parts))
    merged: Merged = merge(name, parts, stage.makes, sizes)
    formats: dict[int, Format] = {}
    for place in stage.steps:
        step = steps[place]
        formats.update(zip(step.inputs, step.task.inputs, strict=True))
        formats.update(zip(step.outputs, step.task.outputs, strict=True))
    task = Task(
        simplify(merged.function),
        tuple([formats[number] for number in merged.images]),
        tuple([formats[number] for number in stage.makes]),
    )
    uniforms = tuple((stage.steps[part], index) for part, index in merged.uniforms)
    program = device.compile(task)
    return Ready(stage, task, device, program, merged.images, uniforms, last.shape)


def report(ready: Sequence[Ready], notes: Sequence[Note]) -> list[StageReport]:
    """What stages of some steps do."""
    return [_reported(each, [notes[step] for step in each.stage.steps]) for each in ready]


def _reported(each: Ready, notes: Sequence[Note]) -> StageReport:
    height, width = each.shape
    formats = [*each.task.inputs, *each.task.outputs]
    body = each.task.function.body
    return StageReport(
        tuple([note.task.function.name for note in notes]),
        tuple([f"{Path(note.file).name}:{note.line}" for note in notes]),
        (width, height),
        len(each.reads),
        len(each.stage.makes),
        sum(height * width * format.nbytes for format in formats),
        price(body),
        sum(op.code == "load" for op in walk(body)),
        each.program.source,
    )


def _add_place(error: BaseException, notes: Sequence[Note]) -> None:
    """Say which of the user's lines a stage is of."""
    where = Counter(f"{Path(note.file).name}:{note.line}" for note in notes)
    names = ", ".join(dict.fromkeys(note.task.function.name for note in notes))
    error.add_note(f"in a pipeline's stage of {names}, from {', '.join(where)}")


__all__ = ["Ready", "Runner", "StageReport", "report"]
