"""Many rounds of a program as one native job: the result of each is an input of the next.

Two buffers take turns, the result's own and another; codegen/jobs/rounds.py says in which order
threads make tiles, so that several rounds are made of what is in a cache, and nobody waits for a
whole round. Here it is said what tiles are, and how many rounds go in one sweep.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.jobs import slots
from pygpu.core.programs import Task
from pygpu.devices.cpu.chunks import addresses
from pygpu.devices.cpu.layout import Block, Layout
from pygpu.devices.process.reserve import RESERVE
from pygpu.passes.analysis.footprint import footprint
from pygpu.ssa import Constant, Load, walk

FAR: Final = -1  # the reach of what may read anything
PITCH: Final = 320  # bytes by which rows of buffers are apart, but for multiples of SPREAD
SPREAD: Final = 1024
PAGE: Final = 4096  # addresses that differ by so much are taken for one another in a core's queues
CACHE: Final = 1 << 20  # bytes of a core's own cache that tiles of a sweep may take
LEAST: Final = 6144  # pixels of a tile, where the image has more
MOST: Final = 16  # rounds of a sweep


class Tiling(NamedTuple):
    """Tiles of a round, one below the other (of a single row: one behind the other)."""

    height: int
    width: int
    columns: int
    number: int
    reach: int  # tiles to each side that a tile reads: 0, 1 or FAR
    band: int  # rounds of a sweep
    spread: bool  # whether rows may be further apart than they are long: read by pointers, alone


def tiling(layout: Layout, state: Sequence[int], parts: int) -> Tiling:
    """How rounds are cut. `state` are the inputs that are results of the round before."""
    plan, task, (height, width) = layout.plan, layout.task, layout.shape
    reach = _reach(task, state)
    spread = layout.numbers[slots.END] != slots.WHOLE and all(
        op in plan.set_of
        for op in walk(plan.function.body)
        if isinstance(op.data, Load) and op.data.image in state
    )
    if plan.flat and height == 1:
        block = layout.block_width
        wide = min(-(-max(LEAST, block) // block) * block, width)
        count = -(-width // wide)
        return Tiling(1, wide, count, count, 0, _band(task, wide, count, parts), spread)
    rows = max(reach + 1, -(-LEAST // width))
    tall = min(-(-rows // plan.rows) * plan.rows, -(-height // plan.rows) * plan.rows)
    count = -(-height // tall)
    if reach == FAR or tall <= reach:
        return Tiling(tall, width, 1, count, FAR, 1, spread)
    band = _band(task, tall * width, count, parts)
    return Tiling(tall, width, 1, count, 1 if reach else 0, band, spread)


def _band(task: Task, pixels: int, count: int, parts: int) -> int:
    """How many rounds a sweep does: as many as leave its tiles in the cache, or one."""
    of_tile = pixels * (
        sum(format.nbytes for format in task.inputs) + sum(format.nbytes for format in task.outputs)
    )
    return max(1, min(CACHE // (2 * of_tile), MOST, -(-count // parts)))


def _reach(task: Task, state: Sequence[int]) -> int:
    """The rows up and down that a pixel reads of what the round before has made."""
    found = footprint(task.function)
    reach = 0
    for image in state:
        here = found[image]
        if here is None:
            return FAR
        reach = max(reach, here.up, here.down)
    for op in walk(task.function.body):
        data = op.data
        if isinstance(data, Load) and data.image in state and data.boundary == "wrap" and reach:
            return FAR  # the first rows read the last
    return reach


@cache
def _pass_on() -> int:
    """The address of what lets other threads have the processor; 0 where there is none."""
    windows: Any = getattr(ctypes, "windll", None)
    try:
        library = ctypes.CDLL(None) if windows is None else windows.kernel32
        function = library.sched_yield if windows is None else library.SwitchToThread
    except (AttributeError, OSError, TypeError):
        return 0
    return ctypes.cast(function, ctypes.c_void_p).value or 0


class Buffer(NamedTuple):
    """What a round writes and the next one reads: where it begins, and bytes from row to row."""

    memory: NDArray[np.generic]
    address: int
    stride: int

    @classmethod
    def of(cls, array: NDArray[np.generic]) -> Buffer:
        return cls(array, addresses([array])[0], array.nbytes // len(array))

    @classmethod
    def between(cls, result: NDArray[np.generic], turn: int, spread: bool) -> Buffer:
        """One like the result for what is not given back. Rows that begin a power of two apart
        would share few lines of the first cache, and so would the same place in two buffers."""
        stride = result.nbytes // len(result)
        if spread and len(result) > 1:
            stride += (PITCH - stride) % SPREAD
        memory = RESERVE.empty((stride * len(result) + 2 * PAGE,), np.dtype(np.uint8))
        start = addresses([memory])[0]
        start += (addresses([result])[0] + (turn + 1) * (PAGE // 3 & -slots.LINE) - start) % PAGE
        return cls(memory, start, stride)


class Rounds:
    """The numbers of a job of rounds, and all that they point at: see codegen/jobs/slots.py."""

    def __init__(
        self,
        layout: Layout,
        code: tuple[int, int],
        inputs: Sequence[NDArray[np.generic]],
        uniforms: Sequence[Sequence[Constant]],
        results: Sequence[NDArray[np.generic]],
        state: Sequence[int],
        parts: int,
    ) -> None:
        """`code`: the span, and that for the ends of rows (or 0)."""
        self.layout, self.code, self.state = layout, code, state
        self.tiling = self._tiling(parts)
        self.parts = max(1, min(parts, self.tiling.number // 2))
        count, spread = len(uniforms), self.tiling.spread
        given = [Buffer.of(array) for array in inputs]
        last = [Buffer.of(array) for array in results]
        turns = [
            [Buffer.between(array, turn, spread) for array in results] if turn < count - 1 else last
            for turn in (0, 1)
        ]
        self.memory = given, last, turns
        blocks: dict[tuple[int, int, int], Block] = {}
        jobs: list[ctypes.c_int64 | int] = []
        for index, values in enumerate(uniforms):
            to = last if index == count - 1 else turns[index % 2]
            of = turns[1 - index % 2] if index else [given[place] for place in state]
            key = id(values), id(to), id(of) if index else 0
            if key not in blocks:
                blocks[key] = self._block(given, of, to, values)
            jobs.append(blocks[key].address)
        self.blocks = [
            *blocks.values(),
            self._block(given, [given[p] for p in state], last, uniforms[0]),
        ]
        self._record(jobs)

    def _tiling(self, parts: int) -> Tiling:
        """The layout remembers it."""
        key = tuple(self.state), parts
        found: Tiling | None = self.layout.tilings.get(key)
        if found is None:
            found = self.layout.tilings[key] = tiling(self.layout, self.state, parts)
        return found

    def _block(
        self,
        given: Sequence[Buffer],
        of: Sequence[Buffer],
        to: Sequence[Buffer],
        uniforms: Sequence[Constant],
    ) -> Block:
        """A job of one round, in tiles of our own."""
        cut, layout = self.tiling, self.layout
        read = list(given)
        for place, buffer in zip(self.state, of, strict=True):
            read[place] = buffer
        block = Block(layout.numbers, layout.inner, layout.stop)
        span, sides = self.code
        layout.filled(block, span, [each.address for each in (*read, *to)], uniforms)
        numbers = block.numbers
        numbers[slots.SIDES] = sides
        for image, slot in layout.strides:
            numbers[slot] = read[image].stride
        for start, buffer in zip(layout.outputs, to, strict=True):
            numbers[start + slots.OUT_STRIDE] = buffer.stride
        for slot, value in {
            slots.TILES: cut.number,
            slots.TILE_COLUMNS: cut.columns,
            slots.TILE_WIDTH: cut.width,
            slots.TILE_HEIGHT: cut.height,
        }.items():
            numbers[slot] = value
        return block

    def _record(self, jobs: list[ctypes.c_int64 | int]) -> None:
        """What is said of the rounds, in memory; the last of the blocks is the job of all."""
        cut, line = self.tiling, slots.LINE // 8
        size = slots.ROUND_SLOTS + len(jobs) + (self.parts + 1) * line + cut.number
        self.numbers = (ctypes.c_int64 * size)()
        start = ctypes.addressof(self.numbers)
        table = start + 8 * slots.ROUND_SLOTS
        nexts = table + 8 * len(jobs)
        nexts += -nexts % slots.LINE
        for slot, value in {
            slots.ROUND_COUNT: len(jobs),
            slots.PARTS: self.parts,
            slots.BAND: cut.band,
            slots.REACH: cut.reach,
            slots.ROUND_JOBS: table,
            slots.PART_NEXT: nexts,
            slots.DONE: nexts + self.parts * slots.LINE,
            slots.PASS_ON: _pass_on(),
        }.items():
            self.numbers[slot] = value
        self.numbers[slots.ROUND_SLOTS : slots.ROUND_SLOTS + len(jobs)] = jobs
        master = self.blocks[-1]
        master.numbers[slots.ROUNDS] = start
        self.address = master.address

    def halt(self) -> None:
        """Let the native code leave."""
        for block in self.blocks:
            block.halt()
