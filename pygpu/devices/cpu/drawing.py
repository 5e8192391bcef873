"""Meshes drawn by native code: vertices, then triangles in batches, each set up and drawn in tiles.

The vertex stage is a program like any other, over a row of vertices. Then the native loop
(codegen/jobs/driver.py) goes over the vertices, which get their places on the picture, over the
chunks of a batch, which are set up, and over the tiles of the picture, which are drawn
(codegen/raster). Batches bound the memory that any number of triangles takes.

What draws of one kind have in common is a *frame*: the numbers of these three jobs, and where in
one piece of memory what lies between them is. A draw puts in what it was given, and what it draws
into.
"""

from __future__ import annotations

import operator
import struct
import time
import weakref
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.places import places
from pygpu.codegen.raster.planes import ROW
from pygpu.codegen.raster.setup import SCRATCH, set_up
from pygpu.codegen.raster.tiles import tiles
from pygpu.core.drawing import Draw, Drawing, DrawProgram, Stage, over_images
from pygpu.core.errors import DeviceError
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu.chunks import Call, Cores, address, addresses
from pygpu.devices.cpu.given import HUGE, Given, is_wide, packing, parts
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.native import Native, native_of, native_span
from pygpu.devices.cpu.program import CpuProgram
from pygpu.devices.cpu.threads import POOL, Job
from pygpu.devices.process.reserve import RESERVE
from pygpu.ssa import Number
from pygpu.types import Type

FLOAT: Final = np.dtype(np.float32)
BYTE: Final = np.dtype(np.uint8)
BATCH: Final = layout.CHUNK * layout.CHUNKS  # triangles
SPARE: Final = 1 << 21  # bytes of a frame that are kept: to have new ones takes longer than a draw
FRAMES: Final = 8  # kinds of draws that a program remembers
VERTEX: Final = 16  # bytes of what is interpolated, of a vertex, at most
_FIRST_IMAGE: Final = 3  # among the numbers that any function of pixels is given
_IMAGE: Final = 4  # numbers of an image: where it is, its width, its height, texels of a row


def task_of(stage: Stage) -> Task:
    """A stage over rows of pixels: its inputs as images of floats, its outputs likewise."""
    inputs = [*stage.images, *_floats([value.type for value in stage.inputs])]
    return Task(over_images(stage), inputs, _floats([v.type for v in stage.function.outputs]))


def _floats(types: Sequence[Type]) -> list[Format]:
    return [Format(FLOAT, type.size) for type in types]


class CpuDrawing(DrawProgram):
    """A drawing by native code."""

    def __init__(self, drawing: Drawing, vertex: CpuProgram, cores: Cores) -> None:
        if drawing.samples not in layout.SAMPLES:
            known = ", ".join(map(str, layout.SAMPLES))
            raise DeviceError(
                f"samples={drawing.samples}: the target 'cpu' takes {known} samples a pixel"
            )
        self.drawing, self.vertex, self.cores = drawing, vertex, cores
        self.given = Given(task_of(drawing.fragment))
        self.packing = packing([value.type for value in drawing.fragment.uniforms])
        self.native: dict[bool, tuple[Native, int]] = {}
        self.frames: dict[Any, _Frame] = {}  # those that no thread draws with
        self.driver_seconds = vertex.driver_seconds
        self.source = f"{vertex.source}\n{self._compile(wide=False)}"

    def _compile(self, wide: bool) -> str:
        machine = self.cores.machine
        emitted = tiles(self.drawing, self.given.task, machine, wide)
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
        images = self.given.arrays(draw.images[1])
        numbers = parts(draw.uniforms)
        kind = _Kind.of(draw, images)
        frame = self.frames.pop(kind, None) or _Frame(self, kind)
        below = frame.give(draw, images, numbers)
        pictures = frame.pictures()
        if min(draw.shape):
            memory = self, frame, draw, images, below, pictures
            self._vertices(frame, draw, numbers, memory)
            self._triangles(frame, draw, memory)
        if frame.size > SPARE:
            frame.forget()
        if len(self.frames) >= FRAMES:
            self.frames = {}
        self.frames[kind] = frame
        depths = int(self.drawing.depth)
        pictures = [*pictures[depths:], *pictures[:depths]]
        return [Storage.of(picture) for picture in pictures if picture is not None]

    def _vertices(self, frame: _Frame, draw: Draw, numbers: Sequence[Number], memory: Any) -> None:
        """Run the vertex stage, and find where vertices are on the picture."""
        count = frame.kind.vertices
        if not count:
            return
        read = [image.host() for image in draw.images[0]]
        prepared, block = frame.prepared, frame.standing(draw, addresses(read))
        if prepared is not None and block is not None:
            self.packing.pack_into(block.buffer, 8 * prepared.layout.first_uniform, *numbers)
            block.numbers[slots.NEXT] = 0
            prepared.calls.run_held(block.address, POOL.scratch(prepared.layout.scratch))
        else:
            attributes = frame.attributes(draw)
            places = [*addresses(read), *[place for _, place in attributes], *frame.places]
            if prepared is None or not prepared.run_at(places, draw.uniforms, (memory, read)):
                inputs = [*draw.images[0], *[storage for storage, _ in attributes]]
                self.vertex.run(Work(inputs, draw.uniforms, (1, count), frame.outs))
        self._run(frame.project, -(-count // layout.AT_ONCE), memory, True, True)

    def _triangles(self, frame: _Frame, draw: Draw, memory: Any) -> None:
        """Set batches of triangles up, and draw the tiles of the picture."""
        total, first_triangle = frame.kind.triangles, address(draw.geometry.triangles)
        set_up, tiles = frame.set_up, frame.tiles
        brief = not self.plan.loops
        for first in range(0, max(total, 1), BATCH):
            count = min(total - first, BATCH)
            chunks = -(-count // layout.CHUNK)
            if count:
                set_up.put(layout.TRIANGLES, first_triangle + 3 * 4 * first)
                set_up.put(layout.COUNT, count)
                self._run(set_up, chunks, memory, True, True)
            at = frame.first_tile_slot
            tiles.put(at + layout.TILE_CHUNKS, chunks)
            tiles.put(at + layout.BEGINS, first == 0)
            tiles.put(at + layout.ENDS, first + BATCH >= total)
            self._run(tiles, frame.tile_count, memory, brief)

    def _run(self, call: Call, count: int, memory: Any, brief: bool, is_tiny: bool = False) -> None:
        """Call a span for 0, 1, ... below a count."""
        call.begin(count)
        threads = min(self.cores.threads, count)
        job = Job(call, call.scratch, memory)
        POOL.run(self.cores.calls, job, threads, brief, is_tiny and count == 1)


class _Kind(NamedTuple):
    """What draws with one frame have in common."""

    shape: tuple[int, int]
    vertices: int
    triangles: int
    keeps_depth: bool
    sizes: tuple[tuple[int, int], ...]  # of the vertices' images
    wide: bool  # whether what fragments read needs indices of 64 bits

    @classmethod
    def of(cls, draw: Draw, images: Sequence[NDArray[Any]]) -> _Kind:
        vertices, triangles = draw.geometry.count, len(draw.geometry.triangles)
        if not vertices or not triangles:
            vertices = triangles = 0
        sizes = tuple([(image.height, image.width) for image in draw.images[0]])
        wide = is_wide(images) or vertices * VERTEX >= HUGE
        return cls(draw.shape, vertices, triangles, draw.keep_depth, sizes, wide)


class _Target(NamedTuple):
    """What is drawn into, of samples (S, rows, pitch, size): depths, or a colour."""

    slot: int  # of its numbers, among those of tiles
    size: int
    place: int | None  # in the frame's memory; None where it is the picture itself
    is_shown: bool  # whether there is a picture of it


class _Frame:
    """What draws of a kind have in common. See the module's head."""

    def __init__(self, owner: CpuDrawing, kind: _Kind) -> None:
        drawing, machine = owner.drawing, owner.cores.machine
        if kind.wide not in owner.native:
            owner._compile(kind.wide)
        self.kind, self.drawing = kind, drawing
        self.packing = owner.packing
        self.tables = owner.given.tables
        height, width = kind.shape
        step = owner.plan.rows
        self.rows, self.pitch = (
            -(-height // step) * step,
            -(-width // machine.lanes) * machine.lanes,
        )
        self.columns, self.tile_rows = -(-width // layout.TILE), -(-height // layout.TILE)
        self.tile_count = self.columns * self.tile_rows
        self.size = 0  # bytes of memory
        self.memory: NDArray[Any] | None = None
        self.moves: list[tuple[Call, int, int]] = []  # numbers that say where in memory
        self.clear: list[tuple[float, ...]] = []  # the colours that were put in last
        self.held: tuple[Any, list[int], Block] | None = None  # see standing
        outputs = drawing.vertex.function.outputs
        self.varyings = [self._part(4 * kind.vertices * v.type.size) for v in outputs]
        self.widths = [value.type.size for value in outputs]
        self.outs: list[NDArray[Any] | None] = []  # what the vertex stage gives, in the memory
        self.places: list[int] = []  # where that is
        self.batch = self._batch()
        self.project, self.set_up = self._vertex_jobs(machine)
        self.tiles = self._tile_job(owner.native[kind.wide][1])
        self.prepared = None
        if kind.vertices:
            row = (1, kind.vertices)
            sizes = [*kind.sizes, *[row] * drawing.vertex.count]
            self.prepared = owner.vertex.prepared(sizes, row)

    # ------------------------------------------------------------ memory

    def _part(self, nbytes: int) -> int:
        """A part of the memory, in lines of its own."""
        place = self.size
        self.size += -(-max(nbytes, 1) // slots.LINE) * slots.LINE
        return place

    def _batch(self) -> dict[int, int]:
        """Where what set-up hands on to tiles lies: for each of layout.py's slots."""
        chunks = max(-(-min(self.kind.triangles, BATCH) // layout.CHUNK), 1)
        sizes = {
            layout.RECORDS: chunks * layout.MOST_RECORDS * layout.RECORD,
            layout.STARTS: chunks * (self.tile_count + 1) * 4,
            layout.LISTS: chunks * layout.ENTRIES * 4,
            layout.WIDE: chunks * layout.MOST_RECORDS * 4,
            layout.WIDE_TOTALS: chunks * 4,
            layout.TOTALS: chunks * 4,
        }
        return {slot: self._part(size) for slot, size in sizes.items()}

    def _settle(self) -> None:
        """Have memory, and say where it is."""
        self.memory = RESERVE.empty((self.size + slots.LINE,), BYTE)
        start = -address(self.memory) % slots.LINE
        base = address(self.memory) + start
        for call, slot, place in self.moves:
            call.put(slot, base + place)
        self.places = [base + place for place in self.varyings]
        count, self.outs = self.kind.vertices, []
        for place, width in zip(self.varyings, self.widths, strict=True):
            part = self.memory[start + place : start + place + 4 * count * width]
            self.outs.append(part.view(FLOAT).reshape(1, count, width))

    # ------------------------------------------------------------ jobs

    def _vertex_jobs(self, machine: Machine) -> tuple[Call, Call]:
        """What finds the places of vertices on the picture, and what sets triangles up."""
        height, width = self.kind.shape
        guard = [2.0 * layout.GUARD / max(size, 1) for size in (width, height)]
        numbers = [0] * layout.SETUP_SLOTS
        numbers[layout.VERTICES] = self.kind.vertices
        numbers[layout.COLUMNS], numbers[layout.ROWS] = self.columns, self.tile_rows
        numbers[layout.WIDTH], numbers[layout.HEIGHT] = width, height
        numbers[layout.GUARD_X :] = struct.unpack("2q", struct.pack("2d", *guard))
        drawing = self.drawing
        self.natives = (  # the code must stay as long as the calls
            native_of(places, machine),
            native_of(set_up, drawing.cull, drawing.samples, machine),
        )
        first, second = [Call(span, numbers, SCRATCH) for _, span in self.natives]
        calls = first, second
        found = self._part(16 * self.kind.vertices)
        parts = {layout.POSITIONS: self.varyings[0], layout.PLACES: found, **self.batch}
        self.moves += [(call, slot, place) for call in calls for slot, place in parts.items()]
        return calls

    def _tile_job(self, span: int) -> Call:
        """What draws tiles: numbers as any function of pixels has them, and then layout.py's."""
        height, width = self.kind.shape
        fragment, count = self.drawing.fragment, max(self.kind.vertices, 1)
        numbers, moves = [0, width, height], []
        numbers += [0] * (_IMAGE * len(fragment.images))
        for place in self.varyings[1:]:
            moves.append((len(numbers), place))
            numbers += [0, count, 1, count]
        numbers += [address(table) for table in self.tables]
        self.first_uniform = len(numbers)
        numbers += [0] * (self.packing.size // 8)
        self.first_tile_slot = at = len(numbers)
        handed = (layout.RECORDS, layout.STARTS, layout.LISTS, layout.WIDE, layout.WIDE_TOTALS)
        moves += [(at + slot, self.batch[place]) for slot, place in enumerate(handed)]
        plane = self.rows * self.pitch
        numbers += [0, 0, 0, 0, 0, self.columns, self.tile_rows, 0, 0, 0, self.pitch, plane, width]
        self.targets = []
        samples, is_plain = self.drawing.samples, self.pitch == width
        sizes = [1] * self.drawing.depth + [type.size for type in self.drawing.colours]
        for index, size in enumerate(sizes):
            is_shown = index >= self.drawing.depth or self.kind.keeps_depth
            held: int | None = None
            if not is_shown or samples > 1 or not is_plain:
                held = self._part(4 * samples * plane * size)
                moves.append((len(numbers), held))
            self.targets.append(_Target(len(numbers), size, held, is_shown))
            numbers += [0] * layout.TARGET_SLOTS
        call = Call(span, numbers, ROW)
        self.moves += [(call, slot, place) for slot, place in moves]
        return call

    # ------------------------------------------------------------ what a draw brings

    def attributes(self, draw: Draw) -> list[tuple[Storage, int]]:
        """Each attribute as a row of texels, and where these are."""
        rows = draw.geometry.copies.get("cpu")
        if rows is None:
            rows = draw.geometry.copies["cpu"] = {
                name: (Storage.of(array[None]), address(array))
                for name, array in draw.geometry.attributes.items()
            }
        return [rows[name] for name in draw.attributes]

    def standing(self, draw: Draw, images: list[int]) -> Block | None:
        """The job of the vertex stage, if that is tiny, for draws of one mesh with these images."""
        if self.held is not None and self.held[0]() is draw.geometry and self.held[1] == images:
            return self.held[2]
        prepared = self.prepared
        if prepared is None or not prepared.is_tiny:
            return None
        places = [*images, *[place for _, place in self.attributes(draw)], *self.places]
        if any(map(operator.mod, places, prepared.alignments)):
            return None
        block = prepared.layout.block(prepared.span, places, ())
        self.held = weakref.ref(draw.geometry), images, block
        return block

    def give(
        self, draw: Draw, images: Sequence[NDArray[Any]], constants: Sequence[Number]
    ) -> list[Any]:
        """Put in what a draw is given; the pictures that are drawn over, which must stay."""
        if self.memory is None:
            self._settle()
        call, slot = self.tiles, _FIRST_IMAGE
        for image in images:
            call.put(slot, address(image))
            call.put(slot + 1, image.shape[1])
            call.put(slot + 2, image.shape[0])
            call.put(slot + 3, image.strides[0] // (image.shape[2] * image.itemsize))
            slot += _IMAGE
        place = 8 * (slots.JOB_SLOTS + self.first_uniform)
        self.packing.pack_into(call.numbers, place, *constants)
        clear = [*draw.clear]
        below: list[Storage | None] = [None] * len(clear) if draw.onto is None else [*draw.onto]
        if self.drawing.depth:
            clear.insert(0, (1.0,))
            below.insert(0, draw.depths)
        arrays = [None if storage is None else storage.host() for storage in below]
        for (slot, *_), under in zip(self.targets, arrays, strict=True):
            call.put(slot + layout.BELOW, 0 if under is None else address(under))
        if clear != self.clear:
            self.clear = clear
            for (slot, *_), colour in zip(self.targets, clear, strict=True):
                for place, part in enumerate(colour, slot + layout.COLOUR):
                    call.put_float(place, part)
        return arrays

    def pictures(self) -> list[NDArray[Any] | None]:
        """What is drawn: for each target new memory of its picture, if it is asked for."""
        (height, width), call = self.kind.shape, self.tiles
        made: list[NDArray[Any] | None] = []
        for slot, size, place, is_shown in self.targets:
            if not is_shown:
                made.append(None)
                continue
            is_own = place is None
            shape = (self.rows, self.pitch, size) if is_own else (height, width, size)
            picture = RESERVE.empty(shape, FLOAT)
            call.put(slot if is_own else slot + layout.PICTURE, address(picture))
            made.append(picture[:height])
        return made

    def forget(self) -> None:
        """Let go of the memory."""
        self.memory, self.outs, self.held = None, [], None
