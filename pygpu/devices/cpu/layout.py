"""How a program's inputs and results are laid out for the native loop: see codegen/llvm/driver.py.

A `Layout` is made once for images of given sizes. It keeps blocks of memory in which everything
but the addresses and the uniforms stands already, so that a call fills in few numbers.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm import driver
from pygpu.codegen.llvm.block import FIRST_IMAGE, IMAGE_SLOTS
from pygpu.codegen.llvm.boundary import NUMBERS
from pygpu.codegen.llvm.plan import Plan, TapSet
from pygpu.core.storage import Format
from pygpu.ssa import Constant
from pygpu.types import Kind

Size = tuple[int, int]
TILES: Final = 64  # for each thread: they end at about the same time
LEAST: Final = 8_192  # pixels of a tile, where the image has more


class Block:
    """Memory for one call at a time: a job, and all that it points at."""

    __slots__ = ("address", "buffer", "floats", "numbers", "stop")

    def __init__(self, numbers: Sequence[int], inner: Sequence[int], stop: int) -> None:
        """`inner` are the places of addresses within the block, given as indices."""
        size = len(numbers)
        self.buffer = (ctypes.c_int64 * size)(*numbers)
        self.address = ctypes.addressof(self.buffer)
        bytes_of = memoryview(self.buffer).cast("B")
        self.numbers, self.floats = bytes_of.cast("q"), bytes_of.cast("f")
        for place in inner:
            self.numbers[place] = self.address + 8 * self.numbers[place]
        self.stop = stop  # where the stop flag is

    def halt(self) -> None:
        """Let the native code leave."""
        self.numbers[self.stop] = 1


class Layout:
    """What is the same for all calls with images and results of these sizes."""

    def __init__(
        self,
        plan: Plan,
        lanes: int,
        inputs: Sequence[Format],
        outputs: Sequence[Format],
        tables: Sequence[NDArray[Any]],
        uniforms: Sequence[tuple[Kind, int]],
        sizes: Sequence[Size],
        shape: Size,
        threads: int,
    ) -> None:
        height, width = shape
        block = plan.vectors * lanes
        self.blocks: list[Block] = []  # those not in use
        self.kept: list[Any] = []  # rows of constants
        self.uniforms = uniforms
        numbers = [0] * driver.JOB_SLOTS
        self.inner: list[int] = []

        def add(values: Sequence[int]) -> int:
            start = len(numbers)
            numbers.extend(values)
            return start

        def point(slot: int, start: int) -> None:
            numbers[slot] = start
            self.inner.append(slot)

        args = [0, width, height]
        for h, w in sizes:
            args += [0, w, h]
        args += [table.ctypes.data for table in tables]
        self.args = add([*args, *[0] * sum(size for _, size in uniforms)])
        self.first_uniform = self.args + len(args)
        self.stop = add([0])
        point(driver.ARGS, self.args)
        point(driver.STOP, self.stop)
        point(self.args, self.stop)

        # Where the address of each image goes.
        first = self.args + FIRST_IMAGE
        self.image_places = [[first + index * IMAGE_SLOTS] for index in range(len(sizes))]
        descriptors, padded, slots = [], 0, 0
        for taps in plan.taps:
            format, (h, w) = inputs[taps.image], sizes[taps.image]
            count = block + taps.right - taps.left
            descriptors.append(self._describe(taps, format, h, w, count))
            size = format.dtype.itemsize * format.channels
            padded += len(taps.rows) * (count * size + driver.ALIGN)
            slots += len(taps.rows)
        sets = add([number for each in descriptors for number in each])
        for index, taps in enumerate(plan.taps):
            start = sets + index * driver.SET_SLOTS
            self.image_places[taps.image].append(start + driver.BASE)
            point(start + driver.DYS, add(taps.rows))
        point(driver.SET_TABLE, sets)

        texels = [f.nbytes for f in outputs]
        outs = add([number for texel in texels for number in (0, width * texel, texel)])
        point(driver.OUTPUT_TABLE, outs)
        self.output_places = [outs + index * driver.OUT_SLOTS for index in range(len(outputs))]
        slots += len(outputs) * plan.rows
        padded += sum(plan.rows * (block * texel + driver.ALIGN) for texel in texels)

        tall, wide = tile_size(height, width, plan.rows, block, threads)
        columns = -(-width // wide)
        self.tiles = columns * -(-height // tall)
        for slot, value in {
            driver.TILES: self.tiles,
            driver.TILE_COLUMNS: columns,
            driver.TILE_WIDTH: wide,
            driver.TILE_HEIGHT: tall,
            driver.WIDTH: width,
            driver.HEIGHT: height,
            driver.ROWS: plan.rows,
            driver.BLOCK: block,
            driver.BEGIN: max([0, *[-taps.left for taps in plan.taps]]),
            driver.END: min([width, *[sizes[t.image][1] - t.right for t in plan.taps]]),
            driver.SETS: len(plan.taps),
            driver.OUTPUTS: len(outputs),
            driver.SLOTS: slots,
        }.items():
            numbers[slot] = value
        self.scratch = driver.scratch_size(slots, block, padded)
        numbers[driver.SCRATCH], numbers[driver.GATE] = self.scratch, driver.SHUT
        self.numbers = numbers

    def _describe(
        self, taps: TapSet, format: Format, height: int, width: int, count: int
    ) -> list[int]:
        """The numbers of a set of taps; the addresses in it are filled in later."""
        size, outside = format.dtype.itemsize, 0
        if taps.boundary == "constant":
            row = np.empty((width, format.channels), format.dtype)
            row[:] = stored_constant(taps.cval, format)
            self.kept.append(row)
            outside = row.ctypes.data
        stride = width * format.channels * size
        return [0, width, height, stride, NUMBERS[taps.boundary], outside, taps.left, count,
                size, format.channels, len(taps.rows), 0]  # fmt: skip

    def block(
        self,
        span: int,
        inputs: Sequence[int],
        outputs: Sequence[int],
        uniforms: Sequence[Constant],
    ) -> Block:
        """A block for one call: to be given back to `blocks`."""
        try:
            block = self.blocks.pop()
        except IndexError:
            block = Block(self.numbers, self.inner, self.stop)
        numbers = block.numbers
        numbers[driver.NEXT] = 0
        numbers[driver.SPAN] = span
        numbers[self.stop] = 0
        for address, places in zip(inputs, self.image_places, strict=True):
            for place in places:
                numbers[place] = address
        for address, place in zip(outputs, self.output_places, strict=True):
            numbers[place] = address
        place = self.first_uniform
        for (kind, _), value in zip(self.uniforms, uniforms, strict=True):
            parts = value if isinstance(value, tuple) else (value,)
            for part in parts:
                if kind == "float":
                    block.floats[2 * place] = part
                else:
                    numbers[place] = int(part)
                place += 1
        return block


def tile_size(height: int, width: int, rows: int, block: int, threads: int) -> Size:
    """The height and width of a tile: several for each thread, of whole blocks."""
    if threads == 1:
        return height, width
    parts = max(threads, min(threads * TILES, height * width // LEAST))
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
