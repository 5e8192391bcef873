"""How a program's inputs and results are laid out for the native loop: see codegen/jobs/driver.py.

A `Layout` is made once for images of given sizes. It keeps blocks of memory in which everything
but the addresses and the uniforms stands already, so that a call fills in few numbers.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.block import PLANE_PLACES
from pygpu.codegen.llvm.boundary import NUMBERS, beside, has_both
from pygpu.codegen.llvm.plan import Plan, TapSet
from pygpu.core.boundaries import period
from pygpu.core.programs import Planes, Task
from pygpu.core.storage import Format
from pygpu.devices.process.reserve import WAITING
from pygpu.ssa import Constant

Size = tuple[int, int]
TILES: Final = 64  # tiles for each thread: threads then end at about the same time
LEAST: Final = 512  # vectors of a tile, where the image has more
PLANE: Final = 1 << 16  # pixels of a tile of a plane, where it has more
CROSSED: Final = 64  # rows, and pixels, of tiles of which a row reads a column: caches hold both
JOINED: Final = 1 << 30  # pixels of rows that are computed as one, at most: x is an int
OUTER: Final = 1 << 17  # bytes of rows that are kept at once of what is outside of images


class Block:
    """Memory for one call at a time: a job, and all that it points at."""

    __slots__ = ("address", "buffer", "floats", "numbers", "stop")

    def __init__(self, numbers: Sequence[int], inner: Sequence[int], stop: int) -> None:
        """`inner` are the places of addresses within the block, given as indices."""
        self.buffer = array("q", numbers)
        self.address, _ = self.buffer.buffer_info()
        bytes_of = memoryview(self.buffer).cast("B")
        self.numbers, self.floats = bytes_of.cast("q"), bytes_of.cast("f")
        for place in inner:
            self.numbers[place] = self.address + 8 * self.numbers[place]
        self.stop = stop  # where the stop flag is

    def halt(self) -> None:
        """Let the native code leave."""
        self.numbers[self.stop] = 1


class Sizes(NamedTuple):
    """The (height, width) of images and of results. `strides`: the bytes from one row to the next
    of images, then of results; nothing where rows follow each other. `planes`: those of which this
    are one. `frames`: which part of each image is in its own memory, where others are not; nothing
    where no image has a frame."""

    images: tuple[Size, ...]
    shape: Size
    strides: tuple[int, ...] = ()
    planes: Planes | None = None
    frames: tuple[Inner | None, ...] = ()

    @property
    def pixels(self) -> int:
        return self.shape[0] * self.shape[1] * (self.planes.count if self.planes else 1)


class Inner(NamedTuple):
    """The part of an image that a frame is around: see core/device.Frame."""

    top: int
    left: int
    height: int
    width: int

    @property
    def bottom(self) -> int:
        return self.top + self.height


class Rows(NamedTuple):
    """How rows lie in memory: row y is row y % number there, bytes from one to the next."""

    number: int
    stride: int


class Layout:
    """What is the same for all calls with images and results of these sizes: the numbers of a job
    and of all that it points at. Its tables stay where they are."""

    def __init__(
        self, plan: Plan, task: Task, tables: Sequence[NDArray[Any]], given: Sizes, threads: int
    ) -> None:
        self.plan, self.task, self.apart = plan, task, given.strides
        self.sizes = [(high, wide * plan.group) for high, wide in given.images]
        shape = self.shape = given.shape[0], given.shape[1] * plan.group
        sizes = self.sizes
        self.frames = given.frames or (None,) * len(sizes)
        self.planes = given.planes or Planes(1, (None,) * len(sizes))
        self.block_width = plan.vectors * plan.lanes
        self.blocks: list[Block] = []  # those not in use
        self.kept: list[Any] = []  # rows of constants
        self.tilings: dict[Any, Any] = {}  # of rounds: see rounds.py
        self.numbers = [0] * slots.JOB_SLOTS
        self.inner: list[int] = []  # places of addresses within a block
        ends = [(sum(self._inner(t)) - 1 - t.right) // t.apart[0] + 1 for t in plan.taps]
        self.end = min([shape[1], *ends])
        starts = [-((t.left - self._inner(t)[0]) // t.apart[0]) for t in plan.taps]
        self.begin = max([0, *starts])
        self.edge, self.row_ends = self._edge(), self._ends()
        self.slots = self.padded = 0  # pointers to rows; bytes of rows in scratch
        self._add_arguments(tables)
        self._add_taps()
        self._add_results()
        self._fill_job(threads)

    def _add(self, values: Sequence[int]) -> int:
        """The place of some more numbers."""
        start = len(self.numbers)
        self.numbers.extend(values)
        return start

    def _point(self, slot: int, start: int) -> None:
        """Have a number be the address of others."""
        self.numbers[slot] = start
        self.inner.append(slot)

    def _add_arguments(self, tables: Sequence[NDArray[Any]]) -> None:
        """What `span` is given, and the stop flag."""
        height, width = self.shape
        args = [0, width, height]
        for index, (h, w) in enumerate(self.sizes):
            number, stride = self._rows(index)
            pitch, beyond = divmod(stride, self.task.inputs[index].nbytes)
            is_kept = number != slots.WHOLE  # rows of a stage, which nothing reads but by taps
            assert h == 1 or not beyond or is_kept, "rows are whole texels apart"
            args += [0, w, h, pitch]  # see Block.of_planes
        args += [table.ctypes.data for table in tables]
        uniforms = self.task.function.uniforms
        start = self._add([*args, *[0] * sum(value.type.size for value in uniforms)])
        self.first_uniform = start + len(args)
        self.stop = self._add([0])
        self._point(slots.ARGS, start)
        self._point(slots.STOP, self.stop)
        self._point(start, self.stop)
        images = self._add([number for i in range(len(self.sizes)) for number in self._image(i)])
        self._point(slots.IMAGE_TABLE, images)
        # Where the address of each image goes.
        self.image_places = [
            images + i * slots.IMAGE_SLOTS + slots.BASE for i in range(len(self.sizes))
        ]

    def _image(self, index: int) -> list[int]:
        """The numbers of an image, whose address is filled in later."""
        read, (number, stride) = self.planes.reads[index], self._rows(index)
        if read is None:  # the same for all planes
            return [0, 0, 1, 0, NUMBERS["nearest"], number]
        plane = self.sizes[index][0] * stride
        return [0, plane, read.depth, read.offset, NUMBERS[read.boundary], slots.WHOLE]

    def _rows(self, index: int) -> Rows:
        """How the rows of an image lie in memory; those of results are counted behind inputs."""
        inputs = self.task.inputs
        if self.apart:
            return Rows(slots.WHOLE, self.apart[index])
        if index < len(inputs):
            return Rows(slots.WHOLE, self.sizes[index][1] * inputs[index].nbytes)
        return Rows(slots.WHOLE, self.shape[1] * self.task.outputs[index - len(inputs)].nbytes)

    def _add_taps(self) -> None:
        """The sets of taps, and the rows that each reads."""
        taps_of_plan = self.plan.taps
        sets = self._add([number for taps in taps_of_plan for number in self._describe(taps)])
        self.frame_places = []  # of images
        for inner in self.frames:
            top, bottom = (0, slots.WHOLE) if inner is None else (inner.top, inner.bottom)
            place = self._add([top, bottom, *[0] * (slots.FRAME_SLOTS - 2)])
            self.frame_places.append(place)
        for index, taps in enumerate(taps_of_plan):
            start = sets + index * slots.SET_SLOTS
            self._point(start + slots.FRAME, self.frame_places[taps.image])
            self._point(start + slots.DYS, self._add(taps.rows))
            row = self._count(taps, self.edge) * self.task.inputs[taps.image].nbytes
            self.padded += len(taps.rows) * (row + slots.ALIGN)
            self.slots += len(taps.rows)
        self._point(slots.SET_TABLE, sets)
        # Where the strides of images are, one for each set of taps.
        self.strides = [
            (taps.image, sets + index * slots.SET_SLOTS + slots.STRIDE)
            for index, taps in enumerate(taps_of_plan)
        ]

    def _add_results(self) -> None:
        texels = [format.nbytes for format in self.task.outputs]
        rows, height, outs = self.plan.rows, self.shape[0], len(self.numbers)
        first = len(self.task.inputs)
        for index, texel in enumerate(texels, first):
            count, stride = self._rows(index)
            plane = height * stride if count == slots.WHOLE else 0  # what is kept is of one plane
            self._add([0, stride, texel, plane, count])
        self._point(slots.OUTPUT_TABLE, outs)
        self.pitches = [self._rows(index)[1] for index in range(first, first + len(texels))]
        self.written = height * self.planes.count * sum(self.pitches)  # bytes
        self.outputs = [outs + index * slots.OUT_SLOTS for index in range(len(texels))]
        self.places = self.image_places + self.outputs
        self.slots += len(texels) * rows
        self.padded += sum(rows * (self.edge * texel + slots.ALIGN) for texel in texels)

    def _fill_job(self, threads: int) -> None:
        plan, sizes, (height, width) = self.plan, self.sizes, self.shape
        count = self.planes.count
        least = LEAST * plan.lanes
        tall, wide = tile_size(height, width, plan.rows, self.block_width, threads, count, least)
        if plan.crosses and count == 1:
            wide = min(wide, max(1, CROSSED // self.block_width) * self.block_width)
            tall = min(tall, -(-CROSSED // plan.rows) * plan.rows)
        columns = -(-width // wide)
        self.tiles = columns * -(-height // tall) * count
        held = self.slots + PLANE_PLACES + len(sizes)
        aside = self._aside()
        whole = [slots.LINE // math.gcd(slots.LINE, f.nbytes) for f in self.task.outputs]
        lines = math.lcm(1, *whole)
        stored = (len(self.task.outputs) * plan.rows + 3) * slots.PAGE if aside else 0
        self.scratch = slots.scratch_size(held, self.edge, max(self.padded, stored))
        for slot, value in {
            slots.TILES: self.tiles,
            slots.TILE_COLUMNS: columns,
            slots.TILE_WIDTH: wide,
            slots.TILE_HEIGHT: tall,
            slots.WIDTH: width,
            slots.HEIGHT: height,
            slots.ROWS: plan.rows,
            slots.BLOCK: self.block_width,
            slots.BEGIN: self.begin,
            slots.END: slots.WHOLE if self._joins() else self.end,
            slots.EDGE: self.edge,
            slots.LANES: plan.lanes,
            slots.ASIDE: aside,
            slots.OF_LINES: lines,
            slots.OF_BLOCKS: math.lcm(lines, self.block_width),
            slots.SETS: len(plan.taps),
            slots.OUTPUTS: len(self.task.outputs),
            slots.SLOTS: self.slots,
            slots.MORE_PLANES: count - 1,
            slots.IMAGES: len(sizes),
            slots.HELD: held,
            slots.SCRATCH: self.scratch,
            slots.GATE: slots.SHUT,
        }.items():
            self.numbers[slot] = value

    def _joins(self) -> bool:
        """Whether rows follow each other in all that is read and made, and are computed as one."""
        inputs, (height, width) = self.task.inputs, self.shape
        if not self.plan.joins or height * width > JOINED or any(self.frames):
            return False
        formats = (*inputs, *self.task.outputs)
        read = {taps.image for taps in self.plan.taps}
        used = (*read, *range(len(inputs), len(formats)))
        is_dense = all(self._rows(n).stride == width * formats[n].nbytes for n in used)
        return is_dense and all(self.sizes[index][1] == width for index in read)

    def _ends(self) -> int:
        """How many blocks have ends of rows for which there may be code."""
        taps, (height, width) = self.plan.taps, self.shape
        widths = {self.sizes[each.image][1] for each in taps}
        has_ends = has_both(width, self.plan.lanes, beside(self.plan))
        if widths != {width} or not has_ends or any(self.frames):
            return 0
        return -(-height // self.plan.rows) * self.planes.count

    def _aside(self) -> int:
        """Pixels of a row that are computed into the thread's memory at once, where results lie
        badly (Edges.waits); 0 where that is not looked at. Loads wait where neighbours in several
        rows, which are whole pages apart, are loaded again for each block."""
        texel = self.task.outputs[0].nbytes
        again = [
            self.task.inputs[taps.image].nbytes == texel
            and taps.left < taps.right
            and len(taps.rows) > self.plan.rows
            and self._rows(taps.image).stride % slots.PAGE == 0
            for taps in self.plan.taps
        ]
        if self.written < WAITING or self.plan.vectors > 1 or not any(again):
            return 0
        if any(pitch % slots.PAGE for pitch in self.pitches):
            return 0
        return max(1, slots.ASIDE_BYTES // texel // self.block_width) * self.block_width

    def _edge(self) -> int:
        """Pixels that are computed at once where taps are outside: a block, more where results
        are wider than images, as many as a cache holds the rows of."""
        plan, block = self.plan, self.block_width
        outside = max(self.shape[1] - max(self.end, 0), self.begin + block - 1)
        inputs = self.task.inputs
        pixel = sum([t.apart[0] * len(t.rows) * inputs[t.image].nbytes for t in plan.taps])
        pixel += sum([plan.rows * format.nbytes for format in self.task.outputs])
        return max(1, min(outside, OUTER // pixel) // block) * block

    def _count(self, taps: TapSet, pixels: int) -> int:
        """The columns that so many pixels need of a set of taps."""
        return (pixels - 1) * taps.apart[0] + 1 + taps.right - taps.left

    def _describe(self, taps: TapSet) -> list[int]:
        """The numbers of a set of taps; the addresses in it are filled in later."""
        format, (height, width) = self.task.inputs[taps.image], self.sizes[taps.image]
        size, outside = format.dtype.itemsize, 0
        if taps.boundary == "constant":
            row = np.empty((width, format.channels), format.dtype)
            row[:] = stored_constant(taps.cval, format)
            self.kept.append(row)
            outside = row.ctypes.data
        stride = self._rows(taps.image).stride
        rule, count = NUMBERS[taps.boundary], self._count(taps, self.block_width)
        group = self.plan.group
        repeats = period(taps.boundary, width // group) * group
        if self.frames[taps.image] is not None:
            repeats = width  # columns of a frame are not alike
        return [taps.image, width, height, stride, rule, outside, taps.left, count,
                size, format.channels, len(taps.rows), 0, repeats, group, *taps.apart,
                *self._inner(taps), 0]  # fmt: skip

    def _inner(self, taps: TapSet) -> tuple[int, int]:
        """The first column that is in the image's own memory, and how many are."""
        inner = self.frames[taps.image]
        if inner is None:
            return 0, self.sizes[taps.image][1]
        return inner.left * self.plan.group, inner.width * self.plan.group

    def block(
        self,
        span: int,
        addresses: Sequence[int],
        uniforms: Sequence[Constant],
        stream: int = 0,
        sides: int = 0,
    ) -> Block:
        """A block for one call, which reads and writes at these addresses, those of inputs first:
        to be given back to `blocks`, but for one that was halted."""
        try:
            block = self.blocks.pop()
        except IndexError:
            block = Block(self.numbers, self.inner, self.stop)
        block.numbers[slots.STREAM], block.numbers[slots.SIDES] = stream, sides
        return self.filled(block, span, addresses, uniforms)

    def frame(self, block: Block, image: int, around: Sequence[tuple[int, int]]) -> None:
        """Say where the parts of an image's frame are that slots.py names, and bytes of rows."""
        start = self.frame_places[image] + slots.ABOVE_ROWS
        for place, number in enumerate([number for part in around for number in part], start):
            block.numbers[place] = number

    def filled(
        self, block: Block, span: int, addresses: Sequence[int], uniforms: Sequence[Constant]
    ) -> Block:
        """The block, with what differs from call to call."""
        numbers = block.numbers
        numbers[slots.NEXT] = 0
        numbers[slots.SPAN] = span
        for address, place in zip(addresses, self.places, strict=True):
            numbers[place] = address
        if uniforms:
            self.number(block, uniforms)
        return block

    def number(self, block: Block, uniforms: Sequence[Constant]) -> None:
        """Put numbers into a block."""
        place = self.first_uniform
        for uniform, value in zip(self.task.function.uniforms, uniforms, strict=True):
            parts = value if isinstance(value, tuple) else (value,)
            for part in parts:
                if uniform.type.kind == "float":
                    block.floats[2 * place] = part
                else:
                    block.numbers[place] = int(part)
                place += 1


class StripsJob:
    """The jobs of stages, and the one that runs them, for one call at a time. `fields` are the
    places of addresses, each with the number of what is given that lies there; `numbered` the jobs
    that take numbers, each with the place of its program; `streamed` those whose results nothing
    in here reads, each with what finds the span that writes them past the caches, given places for
    its inputs and the results' numbers."""

    def __init__(
        self,
        header: Block,
        blocks: Sequence[Block],
        fields: Sequence[tuple[memoryview, int, int]],
        numbered: Sequence[tuple[Layout, Block, int]],
        streamed: Sequence[tuple[Callable[[Sequence[int]], int], Block, tuple[list[int], ...]]],
    ) -> None:
        self.header, self.blocks, self.address = header, blocks, header.address
        self.fields, self.numbered, self.streamed = fields, numbered, streamed

    def fill(self, places: Sequence[int], uniforms: Sequence[Sequence[Constant]]) -> None:
        """Have it read and write at these addresses, with these numbers of each program."""
        self.header.numbers[slots.NEXT] = 0
        for numbers, field, number in self.fields:
            numbers[field] = places[number]
        for stream, block, (inputs, results) in self.streamed:
            found = stream([*inputs, *[places[number] for number in results]])
            block.numbers[slots.STREAM] = found
        for layout, block, program in self.numbered:
            layout.number(block, uniforms[program])

    def halt(self) -> None:
        for block in (self.header, *self.blocks):
            block.halt()


def tile_size(
    height: int, width: int, rows: int, block: int, threads: int, planes: int, least: int
) -> Size:
    """The height and width of a tile: several for each thread, of whole blocks and of so many
    pixels at least. Of a plane that is
    one of many, larger than a cache holds, tiles are so many more that their part of some planes is
    held there."""
    whole = height * width * planes
    parts = -(-max(threads, min(threads * TILES, whole // least)) // planes)
    if planes > 1:
        parts = max(parts, height * width // PLANE)
    elif threads == 1:
        return height, width
    tall = -(-height // parts)
    tall = -(-tall // rows) * rows
    across = -(-parts // -(-height // tall))
    wide = -(-width // across)
    return tall, max(-(-wide // block) * block, min(width, 4096))


def stored_constant(cval: Sequence[float], format: Format) -> NDArray[Any]:
    """The constant outside an image, in texel units, as the image would store it."""
    values = np.array(cval, np.float64)
    if format.is_scaled:
        values = np.rint(values * np.iinfo(format.dtype).max)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(format.dtype)
