"""Stages as programs: compiled once for each structure of steps, and run in order.

    runner = Runner()
    runner.settle(graph, {7})            # the images wanted are there afterwards

A structure is what steps there are, how they hang together, their tasks and sizes, what is wanted,
and the device.
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import DeviceError, OutOfMemory
from pygpu.core.host import forks, log
from pygpu.core.host.records import record
from pygpu.core.programs import NOTHING, Link, Linked, Prepared, Program, Task, Work
from pygpu.core.storage import Format, Storage, strides_of
from pygpu.devices import targets
from pygpu.execution.pipelines.deferred import Graph, Note
from pygpu.execution.pipelines.plans import Planned, Stage, plan
from pygpu.execution.programs import tiles
from pygpu.execution.programs.specialise import COMPILING, dump, dumps
from pygpu.passes.lower.merge import Merged, Part, merge
from pygpu.passes.simplify.pipeline import simplify
from pygpu.ssa import Constant

KEPT: Final = 64  # structures of a pipeline
SIZES: Final = 8  # of the images of a stage, for which it is prepared
_LOCK: Final = forks.Renewed()  # of all pipelines: it is held for some lines


@record(eq=False, frozen=False)
class Ready:
    """A stage that can run: program, images given and made, and which step's each uniform is."""

    stage: Stage
    task: Task
    device: Device
    program: Program
    reads: tuple[int, ...]
    uniforms: tuple[tuple[int, int], ...]
    shape: tuple[int, int]
    job: int = 0  # stages with one number run together
    kept: frozenset[int] = frozenset()  # images that only they make and read: some rows at a time
    cut: Any = None  # these two are of tiles: see execution/programs/tiles.py
    wrapped: dict[Any, Any] = field(default_factory=dict)
    runs: Any = None  # what runs the program for the shape, once it has run
    again: dict[Any, Prepared | None] = field(default_factory=dict)  # by the sizes of images

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        out: Mapping[int, NDArray[Any]] = NOTHING,
    ) -> list[Storage]:
        """The images that it makes; in tiles where the device does not hold them."""
        places = [out.get(number) for number in self.stage.makes]
        work = Work(inputs, uniforms, self.shape, places)
        limits = targets.limits(self.device)
        if limits is None or tiles.hold(limits, self, inputs, self.shape):
            is_placed = any(array is not None for array in places)
            again = None if is_placed else self._again(inputs, uniforms)
            if again is None:
                self.runs = self.runs or self.program.ready(self.shape)
                again = self.runs(work)
            return again
        try:
            return tiles.run(limits, self, work)
        except tiles.NotCut as error:
            raise OutOfMemory(f"{error} ({self.device.name})") from None

    def _again(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant]
    ) -> list[Storage] | None:
        """The images by the program as it is prepared for such sizes. None where it is not: then
        no arrays are asked for, which may be on a device."""
        sizes = tuple([(each.height, each.width) for each in inputs])
        if sizes not in (known := self.again):
            if len(known) >= SIZES:
                self.again = known = {}  # another thread may look into the old one
            known[sizes] = self.program.prepared(sizes, self.shape)
        prepared = known[sizes]
        if prepared is None:
            return None
        arrays = [each.lying() for each in inputs]
        made = None if strides_of(arrays) else prepared.run(arrays, uniforms, None)
        return None if made is None else [Storage.of(array) for array in made]

    def on(self, device: Device) -> Ready:
        """The stage on another device."""
        with COMPILING.lock:
            program = device.compile(self.task)
        dump("source", program.source)
        fresh: dict[str, Any] = {"cut": None, "wrapped": {}, "runs": None, "again": {}}
        return replace(self, device=device, program=program, **fresh)


@record(eq=False, frozen=False)
class Group:
    """Stages that run together, and which images nobody needs after them; `linked` where what only
    they read is not made whole. `instead` are those for the cpu, where the device has not held the
    images, and `target` left the device to PyGPU."""

    stages: list[Ready]
    linked: Linked | None = None
    done: tuple[int, ...] = ()
    target: str = "auto"
    instead: list[Ready] | None = None

    def run(
        self,
        images: Mapping[int, Storage],
        uniforms: Sequence[Sequence[Constant]],
        out: Mapping[int, NDArray[Any]] = NOTHING,
    ) -> dict[int, Storage]:
        """The images that are there afterwards; `out`: arrays where some of them may lie."""
        try:
            if self.linked is not None and self._fits(images):
                return self.linked.run(images, uniforms, out)
            return _one_by_one(self.stages, images, uniforms, out)
        except OutOfMemory as error:
            other = targets.instead_of(self.stages[0].device, self.target)
            if other is None:
                raise
            log.warning("%s; running on %s", error, other.name)
            self.instead = self.instead or [each.on(other) for each in self.stages]
        return _one_by_one(self.instead, images, uniforms, out)

    def _fits(self, images: Mapping[int, Storage]) -> bool:
        """Whether the device holds what the stages read from outside, and make."""
        limits = targets.limits(self.stages[0].device)
        if limits is None:
            return True
        for each in self.stages:
            absent = Storage(*each.shape, 1, np.dtype(np.float32))
            given = [images.get(number, absent) for number in each.reads]
            if not tiles.hold(limits, each, given, each.shape):
                return False
        return True


def _one_by_one(
    stages: Sequence[Ready],
    images: Mapping[int, Storage],
    uniforms: Sequence[Sequence[Constant]],
    out: Mapping[int, NDArray[Any]],
) -> dict[int, Storage]:
    """The images that stages add to those that are there."""
    found = dict(images)
    for ready, given in zip(stages, uniforms, strict=True):
        made = ready.run([found[number] for number in ready.reads], given, out)
        found.update(zip(ready.stage.makes, made, strict=True))
    return {number: each for number, each in found.items() if number not in images}


@record(eq=False)
class Score:
    """What settling does for graphs of one structure: which notes there are to be run, the groups
    that do, of each group's stages where their numbers are (a note, and which of its), and the
    names of images, by the graph's numbers: of those that are read, and of all."""

    notes: tuple[int, ...]
    groups: Sequence[Group]
    uniforms: tuple[tuple[tuple[tuple[int, int], ...], ...], ...]
    given: tuple[tuple[int, int], ...]
    names: Mapping[int, int]

    def numbers(self, graph: Graph) -> list[tuple[tuple[Constant, ...], ...]]:
        """The numbers of each group's stages."""
        notes = graph.notes
        return [
            tuple([tuple([notes[note].uniforms[index] for note, index in each]) for each in group])
            for group in self.uniforms
        ]


class Runner:
    """The structures of a pipeline that have been compiled, for the `target` that was asked for."""

    def __init__(self, target: str = "auto") -> None:
        self._target = target
        self._ready: OrderedDict[Hashable, list[Group]] = OrderedDict()
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()  # of steps by themselves
        self._scores: OrderedDict[Hashable, Score] = OrderedDict()  # by what graphs look like

    def settle(self, graph: Graph, wanted: Set[int]) -> list[Ready]:
        """Compute the images wanted of a graph's steps. The stages that did."""
        score = self.score(graph, wanted)
        images = {name: graph.there[number] for number, name in score.given}
        for group, uniforms in zip(score.groups, score.numbers(graph), strict=True):
            try:
                images |= group.run(images, uniforms)
            except (DeviceError, MemoryError) as error:
                steps = [score.notes[s] for each in group.stages for s in each.stage.steps]
                _add_place(error, [graph.notes[step] for step in steps])
                raise
            for name in group.done:
                del images[name]
        for number, reference in list(graph.asked.items()):
            name = score.names.get(number, -1)
            if name in images and (number in wanted or reference() is not None):
                graph.there[number] = images[name]
                del graph.asked[number]
        return [each for group in score.groups for each in group.stages]

    def score(self, graph: Graph, wanted: Set[int]) -> Score:
        """What is to be done for a graph: looked up by all that it follows from."""
        key = (
            graph.device.name,
            tuple(graph.script),
            tuple(graph.sizes),
            frozenset(graph.there),
            frozenset(wanted),
        )
        with _LOCK.lock:
            found = self._scores.get(key)
            if found is not None:
                self._scores.move_to_end(key)
                return found
        notes = pending(graph, wanted)
        groups, numbers = self.ready(graph, [graph.notes[note] for note in notes], wanted)
        names = {number: name for name, number in enumerate(numbers)}
        uniforms = [
            tuple([tuple([(notes[step], i) for step, i in each.uniforms]) for each in group.stages])
            for group in groups
        ]
        given = [(number, name) for number, name in names.items() if number in graph.there]
        found = Score(tuple(notes), groups, tuple(uniforms), tuple(given), names)
        with _LOCK.lock:
            self._scores[key] = found
            while len(self._scores) > KEPT:
                self._scores.popitem(last=False)
        return found

    def ready(
        self, graph: Graph, notes: Sequence[Note], wanted: Set[int]
    ) -> tuple[list[Group], list[int]]:
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
        with _LOCK.lock:
            found = self._ready.get(key)
            if found is not None:
                self._ready.move_to_end(key)
        if found is None:
            found = self._compiled(graph, notes, wanted, names)
            with _LOCK.lock:
                self._ready[key] = found
                while len(self._ready) > KEPT:
                    self._ready.popitem(last=False)
        return found, list(names)

    def _compiled(
        self, graph: Graph, notes: Sequence[Note], wanted: Set[int], names: dict[int, int]
    ) -> list[Group]:
        """The stages, compiled for the graph's device; what that refuses goes to the cpu where the
        target was left to PyGPU."""
        try:
            found = _compiled(graph.device, graph, notes, wanted, names, self._program)
        except DeviceError as error:
            other = targets.instead_of(graph.device, self._target)
            if other is None:
                raise
            log.warning("%s; running on %s", error, other.name)
            found = _compiled(other, graph, notes, wanted, names, self._program)
        for group in found:
            group.target = self._target
        return found

    def _program(self, device: Device, task: Task) -> Program:
        """The program of one step, shared by all sizes. The caller holds the compilers' lock."""
        key = device.name, task
        found = self._programs.pop(key, None)
        if found is None:
            found = device.compile(task)
            dump("source", found.source)
        self._programs[key] = found
        while len(self._programs) > KEPT:
            self._programs.popitem(last=False)
        return found


def pending(graph: Graph, wanted: Set[int]) -> list[int]:
    """The places of the notes that the wanted images need, of what is there."""
    found = []
    images = set(wanted)
    for place in reversed(range(len(graph.notes))):
        note = graph.notes[place]
        if images.intersection(note.outputs):
            found.append(place)
            images.update(number for number in note.inputs if number not in graph.there)
    return found[::-1]


def _compiled(
    device: Device,
    graph: Graph,
    notes: Sequence[Note],
    wanted: Set[int],
    names: dict[int, int],
    program: Callable[[Device, Task], Program],
) -> list[Group]:
    """The stages, in numbers of `names`; `program` has those of steps by themselves."""
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
    stages = plan(steps, kept, sizes)
    with COMPILING.lock:
        ready = [_made(device, steps, stage, sizes, program) for stage in stages]
    groups = _grouped(device, ready, kept)
    last = {
        number: place
        for place, group in enumerate(groups)
        for each in group.stages
        for number in each.reads
    }
    made = {number for group in groups for each in group.stages for number in each.stage.makes}
    for place, group in enumerate(groups):
        reads = dict.fromkeys(number for each in group.stages for number in each.reads)
        inner = frozenset().union(*[each.kept for each in group.stages])
        group.done = tuple(
            number
            for number in reads
            if last[number] == place and number in made and number not in kept | inner
        )
    log.info("%d steps of a pipeline in %d stages, %d jobs", len(steps), len(ready), len(groups))
    return groups


def _grouped(device: Device, ready: Sequence[Ready], wanted: Set[int]) -> list[Group]:
    """Stages of one size that may run together: each reads rows near its own of the others."""
    makers = {number: each for each in ready for number in each.stage.makes}
    level: dict[int, int] = {}  # of each stage, the groups that must be before it
    for each in ready:
        found = 0
        for index, number in enumerate(each.reads):
            maker = makers.get(number)
            if maker is not None:
                near = maker.shape == each.shape and each.program.reach(index) is not None
                found = max(found, level[id(maker)] + (not near))
        level[id(each)] = found
    together: dict[tuple[int, tuple[int, int]], list[Ready]] = defaultdict(list)
    for each in ready:
        together[level[id(each)], each.shape].append(each)
    groups: list[Group] = []
    for _, members in sorted(together.items(), key=lambda item: item[0]):
        inside = {number for each in members for number in each.stage.makes}
        outside = {n for each in ready if each not in members for n in each.reads}
        needed = inside & (wanted | outside)
        links = [
            Link(each.program, each.task, each.reads, tuple(each.stage.makes)) for each in members
        ]
        linked = device.link(links, needed, members[0].shape) if len(members) > 1 else None
        if linked is None:
            groups += [Group([each]) for each in members]
            continue
        groups.append(Group(members, linked))
        for each in members:
            each.kept = frozenset(inside - needed)
    for job, group in enumerate(groups):
        for each in group.stages:
            each.job = job
    return groups


def _made(
    device: Device,
    steps: Sequence[Planned],
    stage: Stage,
    sizes: dict[int, tuple[int, int]],
    program: Callable[[Device, Task], Program],
) -> Ready:
    """A stage's program."""
    last = steps[stage.steps[-1]]
    if len(stage.steps) == 1 and tuple(stage.makes) == last.outputs:
        uniforms = tuple((stage.steps[0], i) for i in range(len(last.task.function.uniforms)))
        own = program(device, last.task)
        return Ready(stage, last.task, device, own, last.inputs, uniforms, last.shape)
    parts: list[Part] = [steps[place].part for place in stage.steps]
    name = "_".join(dict.fromkeys(part.function.name for part in parts))
    merged: Merged = merge(name, parts, stage.makes, stage.reads, sizes)
    formats: dict[int, Format] = {}
    for place in stage.steps:
        step = steps[place]
        formats.update(zip(step.inputs, step.task.inputs, strict=True))
        formats.update(zip(step.outputs, step.task.outputs, strict=True))
    task = Task(
        simplify(merged.function),
        tuple([formats[number] for number in merged.images]),
        tuple([formats[number] for number in stage.makes]),
        fast=all(steps[place].task.fast for place in stage.steps),
    )
    uniforms = tuple((stage.steps[part], index) for part, index in merged.uniforms)
    if dumps("ssa"):
        print(f"# put together\n{task.function}\n")
    made = device.compile(task)
    dump("source", made.source)
    return Ready(stage, task, device, made, merged.images, uniforms, last.shape)


def _add_place(error: BaseException, notes: Sequence[Note]) -> None:
    """Say which of the user's lines a stage is of."""
    where = Counter(f"{Path(note.file).name}:{note.line}" for note in notes)
    names = ", ".join(dict.fromkeys(note.task.function.name for note in notes))
    error.add_note(f"in a pipeline's stage of {names}, from {', '.join(where)}")
