"""The compute target: a function as an OpenGL compute program over storage buffers.

Images lie in buffers as codegen/glsl/buffers.py says. Results stay there until somebody asks
for their texels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from functools import cached_property, partial
from typing import Final

from pygpu.codegen.glsl import gathered
from pygpu.codegen.glsl.compute import ComputeProgram, block_program, pixel_program
from pygpu.codegen.glsl.table import table_program
from pygpu.core.device import Limits
from pygpu.core.errors import DeviceError, TooOld
from pygpu.core.host.records import record
from pygpu.core.programs import (
    FoldProgram,
    FoldTask,
    Link,
    Linked,
    Planes,
    Program,
    Shape,
    Task,
    Work,
)
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl.bindings import Bindings
from pygpu.devices.opengl.buffers import COPY, read_buffer
from pygpu.devices.opengl.device import OpenGLDevice
from pygpu.devices.opengl.dispatch import Pass
from pygpu.devices.opengl.passes import Passes
from pygpu.devices.opengl.reduction import fold
from pygpu.devices.opengl.staged import ComputeStaged, Host, in_tiles, is_small, linked, reach
from pygpu.passes.analysis.footprint import fixed, footprint, reads_itself
from pygpu.passes.analysis.pressure import pressure
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.block import Blocked, Cut, block, can_block, columns_of, shares_words, size
from pygpu.passes.blocks.block_views import COLUMNS, is_near
from pygpu.passes.blocks.columns import by_columns
from pygpu.passes.blocks.exact import Exact
from pygpu.passes.blocks.lanes import lanes
from pygpu.passes.blocks.rgba8 import block_of_rgba8, is_rgba8
from pygpu.passes.blocks.shapes import rows_within
from pygpu.passes.blocks.tabulate import of_a_byte, pays
from pygpu.passes.blocks.tiling import Source, Tiling
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.lower.nans import without_nans
from pygpu.passes.lower.unroll import unroll
from pygpu.passes.simplify.if_conversion import convert_all, convert_near
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, images_read, only, walk

LONGEST: Final = 2**31 - 2**16  # pixels of a row, so that x and a block are an int
LARGEST_LANES: Final = 1536  # operations of a block in lanes: with more, registers run out
TALLEST: Final = 17  # rows of a block in lanes and those read for a pixel together: likewise
EXTREMES: Final = 1400  # of which NaN is asked, in a block: an H100 takes 20 times as long for more
REGISTERS: Final = 224  # numbers of a block that live at once: of 255 registers some hold places
LARGEST_SOFTWARE: Final = 1024  # operations of a block where a processor compiles for itself
WORDS: Final = 4  # words of a block's row, where bytes are computed two at a time
EARLY: Final = 32  # operations of a pixel from which on a row is stored before the next one is read
GATHERED: Final = 64  # operations of a pixel up to which results are stored side by side
# All rows of a block are read before anything is computed, so that memory is at work on all, where
# they share nothing, are at most AHEAD, and a pixel takes at most LIGHT operations: else arithmetic
# takes longer than memory.
AHEAD: Final = 2
LIGHT: Final = 128
SHORT: Final = 1 << 30  # operations of all pixels that a device is not long at work with


@record(eq=False)
class _Shaped(Task):
    """What a pass computes, and in which shape, where one was measured."""

    shape: Shape | None = None


class ComputeDevice(OpenGLDevice):
    """OpenGL 4.3 and up."""

    name, copy = "compute", COPY
    shapes = shapes.CANDIDATES
    has_groups = True

    def __init__(self) -> None:
        super().__init__()
        if self.granted.version < 430:
            raise TooOld(f"compute programs take OpenGL 4.3; this driver is {self.driver}")
        self.is_software = not self.is_hardware
        self.largest = LARGEST_SOFTWARE if self.is_software else shapes.LARGEST
        self.buffers = self.granted.storage_blocks
        self.uniforms = self.granted.uniform_components

    def limits(self) -> Limits:
        side = min(64 * self.granted.across, LONGEST)  # of rows any number: Program.dispatch
        return Limits(side, self.granted.storage_size, self.memory())

    def images_at_once(self, results: int) -> int:
        return max(self.buffers - results, 1)

    def fold(self, task: FoldTask) -> FoldProgram | None:
        return fold(task)

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        """Without a shape, the one that was measured for the function, or one by how it reads."""
        return super().compile(task, shape or shapes.remembered(shapes.key(task, self.driver)))

    def made(self, task: Task, shape: Shape | None = None) -> Program:
        """The program of a task, in stages where these pay; of planes one for all of them."""
        made = self.tiles(task) if shape is None else None
        if task.planar:
            return PlanarFunction(self, task, shape, made and made[1])
        if made is None:
            return self.plain(task, shape)
        return ComputeStaged(task, made[0], partial(self.plain, task), made[1])

    def tiles(self, task: Task) -> tuple[Tiling, Tiles] | None:
        """The stages of a task, and their program; None where they do not pay."""
        number = len(task.inputs)
        results = tuple(range(number, number + len(task.outputs)))
        source = Source(task.function, tuple(range(number)), results)
        made = in_tiles([task], [source], self.host)
        if made is None or made[0].reads != source.inputs:
            return None
        Bindings.check(task.function, self.uniforms)
        return made[0], Tiles(made[1], task.outputs, task.function)

    def link(
        self, links: Sequence[Link], wanted: Set[int], shape: tuple[int, int]
    ) -> Linked | None:
        return linked(links, wanted, shape, self.host, Tiles)

    @property
    def host(self) -> Host:
        return Host(self.dialect, self.buffers, self._is_of_bytes)

    def _is_of_bytes(self, task: Task) -> bool:
        """Whether there is a program of its own kind for a task: of bytes, by tables, in lanes."""
        given = _Shaped(without_nans(task.function, task.inputs), task.inputs, task.outputs)
        if self._table(given) is not None:
            return True
        if not can_block(given.function):
            return False
        return self._lanes(given) is not None or self._rgba8(given) is not None

    def plain(self, task: Task, shape: Shape | None = None) -> ComputedFunction:
        """One pass, or several where there are more results than the driver takes buffers."""
        function, inputs, outputs = task.function, task.inputs, task.outputs
        Bindings.check(function, self.uniforms)
        function = without_nans(function, inputs)
        read = images_read(function)
        count = self.buffers - len(read) - task.planar
        if count < 1:
            raise DeviceError(
                f"the function reads {len(read)} images at once; this driver takes "
                f"{self.buffers - 1}"
            )
        parts = []
        for first in range(0, len(outputs), count):
            indices = range(len(outputs))[first : first + count]
            formats = [outputs[index] for index in indices]
            some = _Shaped(only(function, indices), inputs, formats, task.planar, shape=shape)
            parts.append((self._program(some), indices, formats))
        return ComputedFunction(task, parts, partial(self.plain, task))

    def _program(self, task: _Shaped) -> ComputeProgram:
        """The program of a pass: by a table where results are few, by blocks where pixels share."""
        if not (self.is_software or can_block(task.function)) and _reads_all(task.function):
            near = apply((convert_near, *CLEAN), task.function)
            task = replace(task, function=near) if can_block(near) else task
        function = task.function
        program = self._table(task)
        if program is None and can_block(function) and size(function) <= self.largest:
            program = self._lanes(task) or self._rgba8(task) or self._block(task)
        if program is not None:
            return program
        shape = task.shape or shapes.default(task, self.dialect.narrow, self.is_software)
        function = convert_all(function) if self.dialect.loose else unroll(function)
        lowered = replace(task, function=apply(CLEAN, lower_boundary(function)))
        loops = self.is_software
        return pixel_program(lowered, shape.threads, self.dialect, loops, task.planar)

    def _table(self, task: _Shaped) -> ComputeProgram | None:
        """The program that looks the results of bytes up; None where it would not pay."""
        if self.is_software or task.planar:
            return None
        found = of_a_byte(task)
        if found is None or not pays(found.function):
            return None
        shape = task.shape or shapes.LANES
        return table_program(found, task, shape.threads, self.dialect)

    def _lanes(self, task: _Shaped) -> ComputeProgram | None:
        """The program that computes bytes two at a time; None where too little would be, or it is
        too much to compile or to bind."""
        exact = Exact.of(task) if self.dialect.lanes else None
        if exact is None:
            return None
        regrouped = by_columns(exact)
        row = regrouped.cost * 2 * WORDS
        if not regrouped.pays(exact) or row > self.largest or regrouped.height >= TALLEST:
            return None
        shape = task.shape or shapes.LANES
        rows = rows_within(min(shape.rows, shapes.LANES.rows), row, LARGEST_LANES)
        rows = rows_within(rows, 1, TALLEST - regrouped.height)
        blocked = lanes(regrouped, WORDS, rows)
        program = block_program(blocked, shape.threads, self.dialect, planar=task.planar)
        return program if self._is_bound(program, task) else None

    def _rgba8(self, task: _Shaped) -> ComputeProgram | None:
        """The program that reads and writes pixels of four bytes by four; None where there are
        others, or pixels next to each other are read, in software, and where it is too much."""
        if self.is_software or not is_rgba8(task):
            return None
        row = size(task.function) * COLUMNS
        if row > self.largest:
            return None
        shape = task.shape or shapes.OWN
        blocked = block_of_rgba8(task, rows_within(shape.rows, row, self.largest))
        program = block_program(blocked, shape.threads, self.dialect, planar=task.planar)
        return program if self._is_bound(program, task) else None

    def _block(self, task: _Shaped) -> ComputeProgram | None:
        """The program by blocks; None where one is too much to compile or to bind."""
        narrow = self.dialect.narrow
        shape = task.shape or shapes.default(task, narrow, self.is_software)
        columns = columns_of(task, narrow)
        if shape.columns == 1 and not shares_words(task):
            columns = 1
        pixel = size(task.function)
        row = pixel * columns
        if row > self.largest:
            return None
        rows = rows_within(shape.rows, row, self.largest)
        is_own = reads_itself(footprint(task.function, fixed(task.function)))
        dialect = replace(self.dialect, gathers=self.dialect.gathers and _gathers(task, columns))
        if dialect.gathers and task.shape is None:
            kept = max([columns * f.nbytes for f in task.outputs if f.channels == 3], default=0)
            room = gathered.FEW if is_own else gathered.SHARED
            rows = rows_within(rows, kept * shape.threads[0] * shape.threads[1], room)
        ahead = rows <= AHEAD and pixel <= LIGHT and is_own
        cut = Cut(columns, rows, narrow=narrow, loops=self.is_software, ahead=ahead)
        blocked = block(task, cut)
        if not self.is_software:
            while (held := pressure(blocked.function.body)) > REGISTERS or _compares_much(blocked):
                if cut.rows == 1:
                    break
                cut = replace(cut, rows=cut.rows // 2)
                blocked = block(task, cut)
            is_large = pixel * COLUMNS > self.largest and columns == 1
            if held > (REGISTERS // 2 if is_large else REGISTERS):
                return None  # few threads would run at once: twice the time of single pixels
        early = pixel >= EARLY and not ahead
        program = block_program(blocked, shape.threads, dialect, early, task.planar)
        return program if self._is_bound(program, task) else None

    def _is_bound(self, program: ComputeProgram, task: Task) -> bool:
        """Whether there are buffers enough for what is read and written."""
        used = [*filter(None, program.images), *program.result_sizes]
        return len(used) + task.planar <= self.buffers


def _gathers(task: Task, columns: int) -> bool:
    """Whether groups keep results and store them side by side: what computes for long has its
    stores done meanwhile, and waits at a group's barrier for nothing; what reads anywhere waits for
    memory in any case, and stores well unless threads have several pixels in a row."""
    function = task.function
    if all(is_near(function, op) for op in function.body.ops if op.code == "load"):
        return size(function) <= GATHERED
    return columns > 1


def _reads_all(function: Function) -> bool:
    """Whether each image that is read in a branch is read outside of one, too: both sides of the
    branch together cost no more memory's time then."""
    always = {op.data.image for op in function.body.ops if op.code == "load"}
    return all(op.data.image in always for op in walk(function.body) if op.code == "load")


def _compares_much(blocked: Blocked) -> bool:
    """Whether a block compares more than compilers take."""
    ops = [op for op in walk(blocked.function.body) if op.code in ("min", "max")]
    return sum(op.data is None and op.result.type.kind == "float" for op in ops) > EXTREMES


class ComputedFunction(Passes):
    """A function's passes, and how the first shares out its work. Where a result is so narrow or so
    low that most threads of a group would lie beside it, it is `reshaped`."""

    shape: Shape

    def __init__(
        self,
        task: Task,
        parts: Sequence[tuple[ComputeProgram, Sequence[int], Sequence[Format]]],
        reshaped: Callable[[Shape], ComputedFunction],
    ) -> None:
        first = parts[0][0]
        self.task = task
        self._reshaped = reshaped
        self._others: dict[Shape, ComputedFunction] = {}
        self.shape = Shape(first.columns, first.rows, *first.threads)
        source = "\n".join(text.text for text, *_ in parts)
        super().__init__(source, COPY, lambda gl: [Pass(gl, *part) for part in parts], read_buffer)

    def run(self, work: Work) -> list[Storage]:
        return self.fitted(work.size).computed(work)

    def reach(self, index: int) -> tuple[int, int] | None:
        return reach(self.task.function, index)

    def ready(self, shape: tuple[int, int]) -> Callable[[Work], list[Storage]]:
        return _ready(self.fitted(shape), self.task.function, shape)

    def fitted(self, shape: tuple[int, int]) -> ComputedFunction:
        """The program whose groups of threads lie well in a result."""
        fitted = shapes.fitted(self.shape, shape)
        if fitted == self.shape:
            return self
        other = self._others.get(fitted)
        if other is None:
            other = self._others[fitted] = self._reshaped(fitted)
        return other


class Tiles(Passes):
    """A program whose groups make tiles of the results (codegen/glsl/tiles.py)."""

    def __init__(
        self, text: ComputeProgram, outputs: Sequence[Format], function: Function | None = None
    ) -> None:
        part = text, range(len(outputs)), outputs
        super().__init__(text.text, COPY, lambda gl: [Pass(gl, *part)], read_buffer)
        self._function = function

    def ready(self, shape: tuple[int, int]) -> Callable[[Work], list[Storage]]:
        return self.run if self._function is None else _ready(self, self._function, shape)


def _ready(
    passes: Passes, function: Function, shape: tuple[int, int]
) -> Callable[[Work], list[Storage]]:
    """What runs passes for results of (H, W), with the next calls where these are short."""
    if passes.are_several:
        return passes.computed
    has_loops = any(op.code == "loop" for op in walk(function.body))
    is_light = not has_loops and shape[0] * shape[1] * size(function) <= SHORT
    return partial(passes.noted, shape) if is_light else passes.computed


class PlanarFunction(Program):
    """The function of a plane: in tiles where these pay, for all planes at once, or of one, each
    made when it is first asked for."""

    def __init__(
        self, device: ComputeDevice, task: Task, shape: Shape | None, tiles: Tiles | None
    ) -> None:
        self._tiles = tiles
        self._of_all = partial(device.plain, task, shape)
        self._of_one = partial(device.plain, replace(task, planar=False), shape)
        fits = len(images_read(task.function)) + len(task.outputs) < device.buffers
        self._most = device.granted.groups if fits else 0  # planes at once
        first = tiles or (self._all if fits else self._one)
        self.source, self.shape = first.source, first.shape
        self.driver_seconds = first.driver_seconds

    @cached_property
    def _all(self) -> ComputedFunction:
        return self._of_all()

    @cached_property
    def _one(self) -> ComputedFunction:
        return self._of_one()

    def run(self, work: Work) -> list[Storage]:
        return self._one.run(work)

    def run_planes(self, work: Work, planes: Planes) -> list[Storage] | None:
        if not self._most or planes.count > self._most:
            return None
        numbered = work._replace(uniforms=[*work.uniforms, 0])
        if self._tiles is not None and not is_small(work.size):
            return self._tiles.computed(numbered, planes)
        return self._all.fitted(work.size).computed(numbered, planes)
