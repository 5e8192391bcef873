"""Meshes drawn by native code: vertices, then triangles in batches, each set up and drawn in tiles.

The vertex stage is a program like any other, over a row of vertices. Then the native loop
(codegen/jobs/driver.py) goes over the chunks of a batch, which are set up, and over the tiles of
the picture, which are drawn (codegen/raster). Batches bound the memory that any number of triangles
takes.
"""

from __future__ import annotations

import struct
import time
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.places import places
from pygpu.codegen.raster.planes import ROW
from pygpu.codegen.raster.setup import SCRATCH, set_up
from pygpu.codegen.raster.tiles import tiles
from pygpu.core.device import Program, Task, Work
from pygpu.core.drawing import Cull, Draw, Drawing, DrawProgram, Stage, over_images
from pygpu.core.errors import DeviceError
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu.chunks import Cores
from pygpu.devices.cpu.given import Given, address, is_wide
from pygpu.devices.cpu.native import Native, native_span
from pygpu.devices.cpu.threads import POOL, Job
from pygpu.devices.process.reserve import RESERVE
from pygpu.types import Type

FLOAT: Final = np.dtype(np.float32)
BATCH: Final = layout.CHUNK * layout.CHUNKS  # triangles
SPARE: Final = 1 << 21  # bytes of a batch that are kept: to have new ones takes longer than a draw


def _job() -> list[int]:
    """A job of the native loop whose tiles are numbers in a row."""
    job = [0] * slots.JOB_SLOTS
    for slot in (slots.TILE_WIDTH, slots.TILE_HEIGHT, slots.HEIGHT, slots.ROWS, slots.BLOCK):
        job[slot] = 1
    job[slots.SCRATCH] = slots.scratch_size(0, 1, max(SCRATCH, ROW))
    job[slots.GATE] = slots.SHUT
    return job


_JOB: Final = tuple(_job())


def task_of(stage: Stage) -> Task:
    """A stage over rows of pixels: its inputs as images of floats, its outputs likewise."""
    inputs = [*stage.images, *_floats([value.type for value in stage.inputs])]
    return Task(over_images(stage), inputs, _floats([v.type for v in stage.function.outputs]))


def _floats(types: Sequence[Type]) -> list[Format]:
    return [Format(FLOAT, type.size) for type in types]


@lru_cache(maxsize=4)
def _places(machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    return native_span(places(machine), machine)


@lru_cache(maxsize=16)
def _set_up(machine: Machine, cull: Cull, samples: int) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    return native_span(set_up(machine, cull, samples), machine)


class CpuDrawing(DrawProgram):
    """A drawing by native code."""

    def __init__(self, drawing: Drawing, vertex: Program, cores: Cores) -> None:
        if drawing.samples not in layout.SAMPLES:
            known = ", ".join(map(str, layout.SAMPLES))
            raise DeviceError(
                f"samples={drawing.samples}: the target 'cpu' takes {known} samples a pixel"
            )
        self.drawing, self.vertex, self.cores = drawing, vertex, cores
        self.given = Given(task_of(drawing.fragment))
        self.native: dict[bool, tuple[Native, int]] = {}
        self.spare: list[NDArray[Any]] = []  # memory of a batch that is over, for the next
        self.driver_seconds = vertex.driver_seconds
        self.source = f"{vertex.source}\n{self._compile(wide=False)}"

    def _compile(self, wide: bool) -> str:
        task, machine = self.given.task, self.cores.machine
        emitted = tiles(self.drawing, task.function, task.inputs, machine, wide)
        self.plan = emitted.plan
        begun = time.perf_counter()
        native = native_span(emitted.text, machine)
        self.driver_seconds += time.perf_counter() - begun
        self.native.setdefault(wide, native)
        return emitted.text

    def draw(self, draw: Draw) -> list[Storage]:
        if max(draw.shape) > layout.LARGEST:
            raise DeviceError(
                f"the target 'cpu' draws onto at most {layout.LARGEST} pixels along a side, "
                f"not {max(draw.shape)}"
            )
        picture = _Picture(self.drawing, draw, self.cores.machine.lanes, self.plan.rows)
        if min(draw.shape):
            self._draw(draw, picture)
        return picture.results()

    def _draw(self, draw: Draw, picture: _Picture) -> None:
        count, triangles = draw.geometry.count, draw.geometry.triangles
        if not count:
            triangles = triangles[:0]
        varyings = self._vertices(draw, count) if len(triangles) else []
        images = self.given.arrays([*draw.images[1], *varyings[1:]])
        if not len(triangles):
            empty = np.empty((1, 1, 4), np.float32)
            images += [empty] * (self.drawing.fragment.count + len(draw.images[1]) - len(images))
        wide = is_wide(images)
        if wide not in self.native:
            self._compile(wide)
        batch = _Batch(picture, min(len(triangles), BATCH), self.spare)
        vertices = None
        if varyings:
            vertices = _Vertices(varyings[0].host()[0])
            machine, parts = self.cores.machine, -(-count // layout.AT_ONCE)
            numbers = batch.setup_numbers(vertices, triangles[:0])
            self._run(_places(machine)[1], parts, numbers, (draw, vertices), True)
        arguments = _arguments(self.given, images, draw)
        for first in range(0, max(len(triangles), 1), BATCH):
            chunks = 0
            if vertices is not None:
                chunks = self._set_up(draw, batch, vertices, triangles[first : first + BATCH])
            ends = first + BATCH >= len(triangles)
            numbers = [*arguments, *batch.tile_numbers(chunks, first == 0, ends)]
            memory = draw, images, batch
            self._run(self.native[wide][1], picture.tiles, numbers, memory, not self.plan.loops)
        if batch.memory.nbytes <= SPARE and not self.spare:
            self.spare.append(batch.memory)

    def _set_up(
        self, draw: Draw, batch: _Batch, vertices: _Vertices, triangles: NDArray[Any]
    ) -> int:
        """Set the triangles of a batch up; how many chunks they are."""
        chunks = -(-len(triangles) // layout.CHUNK)
        _, span = _set_up(self.cores.machine, self.drawing.cull, self.drawing.samples)
        numbers = batch.setup_numbers(vertices, triangles)
        self._run(span, chunks, numbers, (draw, vertices, batch), True)
        return chunks

    def _vertices(self, draw: Draw, count: int) -> list[Storage]:
        """Positions in clip space, then what is interpolated: (1, N, C)."""
        rows = draw.geometry.copies.get("cpu")
        if rows is None:
            attributes = draw.geometry.attributes.items()
            rows = {name: Storage.of(array[None]) for name, array in attributes}
            draw.geometry.copies["cpu"] = rows
        inputs = [*draw.images[0], *[rows[name] for name in draw.attributes]]
        outs: list[NDArray[Any] | None] = [None] * len(self.drawing.vertex.function.outputs)
        return self.vertex.run(Work(inputs, draw.uniforms, (1, count), outs))

    def _run(self, span: int, count: int, numbers: Sequence[int], memory: Any, brief: bool) -> None:
        """Call a span for 0, 1, ... below a count."""
        call = _Call(span, count, numbers)
        threads = min(self.cores.threads, count)
        POOL.run(self.cores.calls, Job(call, _JOB[slots.SCRATCH], memory), threads, brief)


class _Call:
    """A job of the native loop, with all that it points at: a span is called for 0, 1, ... below a
    count. The first of its numbers says where the stop flag is."""

    __slots__ = ("address", "numbers")

    def __init__(self, span: int, count: int, numbers: Sequence[int]) -> None:
        start, stop = slots.JOB_SLOTS, slots.JOB_SLOTS + len(numbers)
        self.numbers = job = array("q", [*_JOB, *numbers, 0])
        self.address, _ = job.buffer_info()
        for slot in (slots.TILES, slots.TILE_COLUMNS, slots.WIDTH, slots.END):
            job[slot] = count
        job[slots.SPAN], job[slots.ARGS] = span, self.address + 8 * start
        job[slots.STOP] = job[start] = self.address + 8 * stop

    def halt(self) -> None:
        """Let the native code leave."""
        self.numbers[-1] = 1


def _bits(values: Sequence[float]) -> list[int]:
    """The bits of floats of 32 bits: what does not fit is infinite."""
    return memoryview(array("f", values)).cast("B").cast("I").tolist()


def _arguments(given: Given, images: Sequence[NDArray[Any]], draw: Draw) -> list[int]:
    """The numbers that any function of pixels is given: see codegen/llvm/block.py."""
    height, width = draw.shape
    numbers = [0, width, height]
    for image in images:
        pitch = image.strides[0] // (image.shape[2] * image.itemsize)
        numbers += [address(image), image.shape[1], image.shape[0], pitch]
    numbers += [address(table) for table in given.tables]
    for uniform, value in zip(given.task.function.uniforms, draw.uniforms, strict=True):
        parts: Sequence[Any] = value if isinstance(value, tuple) else (value,)
        numbers += _bits(parts) if uniform.type.kind == "float" else [int(part) for part in parts]
    return numbers


class _Picture:
    """The memory that is drawn into: of each target (samples, rows, pitch, channels)."""

    def __init__(self, drawing: Drawing, draw: Draw, lanes: int, step: int) -> None:
        self.drawing, self.given, self.shape = drawing, draw, draw.shape
        height, width = draw.shape
        rows, self.pitch = -(-height // step) * step, -(-width // lanes) * lanes
        self.plane = rows * self.pitch
        self.columns, self.rows = -(-width // layout.TILE), -(-height // layout.TILE)
        self.tiles = self.columns * self.rows
        sizes = [1] * drawing.depth + [type.size for type in drawing.colours]
        self.targets = [
            RESERVE.empty((drawing.samples, rows, self.pitch, size), FLOAT) for size in sizes
        ]
        self.clear = [(1.0,)] * drawing.depth + list(draw.clear)
        self.below = self._below(draw)
        self.pictures = self._pictures()
        self.numbers = self._numbers()

    def _below(self, draw: Draw) -> list[NDArray[Any] | None]:
        """Of each target the picture that is drawn over, if there is one."""
        count = len(self.drawing.colours)
        below: list[Storage | None] = [None] * count if draw.onto is None else [*draw.onto]
        if self.drawing.depth:
            below.insert(0, draw.depths)
        return [None if storage is None else storage.host() for storage in below]

    def _pictures(self) -> list[NDArray[Any] | None]:
        """Of each target the memory of its picture, if it is asked for."""
        (height, width), depths = self.shape, int(self.drawing.depth)
        made: list[NDArray[Any] | None] = []
        for index, target in enumerate(self.targets):
            if index < depths and not self.given.keep_depth:
                made.append(None)
            elif len(target) == 1 and self.pitch == width:
                made.append(target[0, :height])
            else:
                made.append(RESERVE.empty((height, width, target.shape[3]), FLOAT))
        return made

    def _numbers(self) -> list[int]:
        """Of each target where it is, what it begins with, and where its picture goes."""
        found = []
        each = zip(self.targets, self.clear, self.below, self.pictures, strict=True)
        for target, colour, below, picture in each:
            start, parts = address(target), [*_bits(colour), 0, 0, 0]
            under, end = (0 if array is None else address(array) for array in (below, picture))
            found += [start, *parts[:4], under, 0 if start == end else end]
        return found

    def results(self) -> list[Storage]:
        """The colours; then the depths, if they are asked for."""
        depths = int(self.drawing.depth)
        pictures = [*self.pictures[depths:], *self.pictures[:depths]]
        return [Storage.of(picture) for picture in pictures if picture is not None]


class _Vertices:
    """Positions in clip space (N, 4), and memory for where they are on the picture."""

    def __init__(self, positions: NDArray[Any]) -> None:
        self.positions, self.places = positions, np.empty((len(positions), 4), np.int32)
        self.numbers = [address(positions), address(self.places), len(positions)]


class _Batch:
    """The memory of a batch of triangles between set-up and drawing."""

    def __init__(self, picture: _Picture, triangles: int, spare: list[NDArray[Any]]) -> None:
        self.picture = picture
        chunks = max(-(-triangles // layout.CHUNK), 1)
        sizes = {
            layout.RECORDS: chunks * layout.MOST_RECORDS * layout.RECORD,
            layout.STARTS: chunks * (picture.tiles + 1) * 4,
            layout.LISTS: chunks * layout.ENTRIES * 4,
            layout.WIDE: chunks * layout.MOST_RECORDS * 4,
            layout.WIDE_TOTALS: chunks * 4,
            layout.TOTALS: chunks * 4,
        }
        size = sum(sizes.values()) + 8 * len(sizes)
        try:
            self.memory = spare.pop()
        except IndexError:
            self.memory = np.empty(0, np.uint8)
        if self.memory.nbytes < size:
            self.memory = RESERVE.empty((size,), np.dtype(np.uint8))
        self.places, place = {}, address(self.memory)
        for name, size in sizes.items():
            self.places[name] = place
            place += -(-size // 8) * 8

    def setup_numbers(self, vertices: _Vertices, triangles: NDArray[Any]) -> list[int]:
        picture, at = self.picture, self.places
        height, width = picture.shape
        guard = [2.0 * layout.GUARD / size for size in (width, height)]
        return [0, *vertices.numbers, address(triangles), len(triangles), at[layout.RECORDS],
                at[layout.TOTALS], at[layout.STARTS], at[layout.LISTS], at[layout.WIDE],
                at[layout.WIDE_TOTALS], picture.columns, picture.rows, width, height,
                *struct.unpack("2q", struct.pack("2d", *guard))]  # fmt: skip

    def tile_numbers(self, chunks: int, begins: bool, ends: bool) -> list[int]:
        picture, at = self.picture, self.places
        return [at[layout.RECORDS], at[layout.STARTS], at[layout.LISTS], at[layout.WIDE],
                at[layout.WIDE_TOTALS], picture.columns, picture.rows, chunks, begins, ends,
                picture.pitch, picture.plane, picture.shape[1], *picture.numbers]  # fmt: skip


__all__ = ["CpuDrawing", "task_of"]
