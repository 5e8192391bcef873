"""Programs of the compute target that keep what is between their stages in memory shared by work
groups: those of one function taken apart, and those of several that read one another's results.

    in_tiles([task], [source], host)             # the program, or None where it does not pay
    linked(links, wanted, shape, host, make)     # several, or None where none are joined
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

from numpy.typing import NDArray

from pygpu.codegen.glsl.buffers import pixels_at_once
from pygpu.codegen.glsl.compute import ComputeProgram
from pygpu.codegen.glsl.tiles import tile_program
from pygpu.codegen.glsl.writer import Dialect
from pygpu.core.host.records import record
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import NOTHING, Link, Linked, Program, Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.passes.analysis.footprint import footprint
from pygpu.passes.blocks.tiling import Source, Tiling, tiling
from pygpu.passes.lower.nans import without_nans
from pygpu.ssa import Constant, Function, walk
from pygpu.types import Type

SHARED: Final = 32768  # bytes of shared memory that OpenGL 4.3 grants
LEAST: Final = 64  # columns and rows of results, below which groups have too little to do
FARTHEST: Final = 16  # pixels around its own that a function reads of what is kept


Make = Callable[[ComputeProgram, Sequence[Format]], Program]


@record(eq=False)
class Host:
    """What is asked of a device here: its dialect, how many buffers a program binds, and whether it
    has a better way for a task, as for those of bytes."""

    dialect: Dialect
    buffers: int
    has_better: Callable[[Task], bool]


def in_tiles(
    tasks: Sequence[Task], sources: Sequence[Source], host: Host
) -> tuple[Tiling, ComputeProgram] | None:
    """The program of tasks, of which the last makes all results; None where it does not pay. A task
    of planes is one alone."""
    outputs, planar = tasks[-1].outputs, tasks[-1].planar
    if any(pixels_at_once(format, host.dialect.narrow) > 1 for format in outputs):
        return None
    whole = [
        replace(source, function=without_nans(source.function, task.inputs))
        for task, source in zip(tasks, sources, strict=True)
    ]
    made = tiling(whole, SHARED)
    if made is None or len(made.reads) + len(outputs) + planar > host.buffers:
        return None
    if any(map(host.has_better, tasks)):
        return None
    formats = {
        number: format
        for task, source in zip(tasks, sources, strict=True)
        for number, format in zip(source.inputs, task.inputs, strict=True)
    }
    inputs = [formats[number] for number in made.reads]
    return made, tile_program(made, inputs, outputs, host.dialect, planar)


class ComputeStaged(Program):
    """A function whose stages are kept in shared memory, and as it is for small results."""

    def __init__(
        self, task: Task, made: Tiling, make: Callable[[], Program], tiles: Program
    ) -> None:
        self.task, self.tiles, self._make = task, tiles, make
        self.stages = [piece.function for piece in made.pieces]
        self.source = tiles.source
        self.driver_seconds = tiles.driver_seconds

    @cached_property
    def plain(self) -> Program:
        """The function as it is."""
        return self._make()

    def run(self, work: Work) -> list[Storage]:
        return self._chosen(work.size).run(work)

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        return self._chosen(work.size).run_rounds(work, rounds, state)

    def ready(self, shape: tuple[int, int]) -> Callable[[Work], list[Storage]]:
        return self._chosen(shape).ready(shape)

    def _chosen(self, shape: tuple[int, int]) -> Program:
        return self.plain if is_small(shape) else self.tiles

    def reach(self, index: int) -> tuple[int, int] | None:
        return reach(self.task.function, index)


def is_small(shape: tuple[int, int]) -> bool:
    """Whether results of (H, W) are better made without tiles."""
    return min(shape) < LEAST


def reach(function: Function, index: int) -> tuple[int, int] | None:
    """How many rows above and below a pixel a function reads of an image, where no more columns are
    read and the boundary wraps nothing."""
    near = footprint(function)[index]
    if near is None or max(near.left, near.right, near.up, near.down) > FARTHEST:
        return None
    loads = [op.data for op in walk(function.body) if op.code == "load" and op.data.image == index]
    return None if any(data.boundary == "wrap" for data in loads) else (near.up, near.down)


# ---------------------------------------------------------------- several programs


@record(eq=False, frozen=False)
class _Unit:
    """Links that run as one program, by their places; the last makes what it makes."""

    links: tuple[int, ...]
    tiles: tuple[Tiling, ComputeProgram] | None = None


def linked(
    links: Sequence[Link], wanted: Set[int], shape: tuple[int, int], host: Host, passes: Make
) -> ComputeLinked | None:
    """The programs, those joined that read what no other does, where that pays. `passes` makes what
    runs of a program and the formats of its results."""
    if is_small(shape):
        return None
    units = [_Unit((place,)) for place in range(len(links))]
    changed = True
    while changed:
        changed = False
        for unit in units:
            joined = _joined(unit, units, links, wanted, host)
            if joined is not None:
                units = [u for u in units if not set(u.links) & set(joined.links)]
                units.append(joined)
                changed = True
                break
    if len(units) == len(links):
        return None
    units.sort(key=lambda unit: unit.links[-1])
    return ComputeLinked(links, units, wanted, shape, passes)


def _joined(
    unit: _Unit, units: Sequence[_Unit], links: Sequence[Link], wanted: Set[int], host: Host
) -> _Unit | None:
    """A unit with those that make what it reads, where they make it for no other."""
    reads = {number for place in unit.links for number in links[place].inputs}
    for other in units:
        if other is unit:
            continue
        makes = set(links[other.links[-1]].outputs)
        readers = [u for u in units if any(makes & set(links[p].inputs) for p in u.links)]
        if not makes & reads or makes & wanted or readers != [unit]:
            continue
        places = tuple(sorted(other.links + unit.links))
        tasks = [links[place].task for place in places]
        sources = [
            Source(task.function, links[place].inputs, links[place].outputs)
            for task, place in zip(tasks, places, strict=True)
        ]
        if places[-1] != unit.links[-1] or not _kept_as_made(tasks, sources):
            continue
        tiles = in_tiles(tasks, sources, host)
        if tiles is not None:
            return _Unit(places, tiles)
    return None


def _kept_as_made(tasks: Sequence[Task], sources: Sequence[Source]) -> bool:
    """Whether what is between is read as it was computed, not rounded when it is stored."""
    made: dict[int, Type | None] = {}
    for task, source in zip(tasks, sources, strict=True):
        for number, format in zip(source.inputs, task.inputs, strict=True):
            if number in made and made[number] != format.type:
                return False
        for number, format, value in zip(
            source.outputs, task.outputs, task.function.outputs, strict=True
        ):
            if format.dtype != NUMPY_TYPE[value.type.kind] or format.type != value.type:
                made[number] = None
            else:
                made[number] = value.type
    return True


class ComputeLinked(Linked):
    """Programs of which some are joined."""

    def __init__(
        self,
        links: Sequence[Link],
        units: Sequence[_Unit],
        wanted: Set[int],
        shape: tuple[int, int],
        passes: Make,
    ) -> None:
        self.links, self.units, self.wanted, self.shape = links, units, wanted, shape
        self.programs = [
            links[unit.links[-1]].program
            if unit.tiles is None
            else passes(unit.tiles[1], links[unit.links[-1]].task.outputs)
            for unit in units
        ]
        self._runs = [program.ready(shape) for program in self.programs]

    def run(
        self,
        images: Mapping[int, Storage],
        uniforms: Sequence[Sequence[Constant]],
        out: Mapping[int, NDArray[Any]] = NOTHING,
    ) -> dict[int, Storage]:
        found = dict(images)  # all results stay on the device
        for unit, run in zip(self.units, self._runs, strict=True):
            last = self.links[unit.links[-1]]
            reads, given = last.inputs, uniforms[unit.links[-1]]
            if unit.tiles is not None:
                made = unit.tiles[0]
                reads = made.reads
                given = [uniforms[unit.links[place]][index] for place, index in made.uniforms]
            inputs = [found[number] for number in reads]
            work = Work(inputs, given, self.shape, [None] * len(last.outputs))
            results = run(work)
            found.update(zip(last.outputs, results, strict=True))
        return {number: found[number] for number in self.wanted}
