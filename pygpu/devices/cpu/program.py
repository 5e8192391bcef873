"""A program of the cpu target: one native `span` (codegen/llvm/span.py), which the native loop over
the image (codegen/jobs) calls. That is the same for all programs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.llvm import boundary, span
from pygpu.codegen.llvm.schedule import cost
from pygpu.codegen.llvm.text import Machine
from pygpu.core.boundaries import rows_read
from pygpu.core.host.later import later
from pygpu.core.programs import Frame, Planes, Program, Task, Work
from pygpu.core.storage import Storage, is_thin, rows_of, strides_of
from pygpu.devices.cpu.chunks import address, addresses, host, native_loops
from pygpu.devices.cpu.given import (
    HUGE,
    Arrays,
    Code,
    CpuPrepared,
    Framed,
    Given,
    How,
    are_own,
    is_used,
    is_wide,
)
from pygpu.devices.cpu.layout import Layout, Sizes
from pygpu.devices.cpu.native import Native, attributes, native_span
from pygpu.devices.cpu.threads import POOL, Job, thread_count
from pygpu.devices.process.reserve import LINE, RESERVE, apart
from pygpu.ssa import Constant, walk

with later():
    from pygpu.codegen.narrow import writer as narrow_lanes
    from pygpu.devices.cpu import moves
    from pygpu.devices.cpu import rounds as rounds_of
    from pygpu.passes.blocks import rows_as_texels

SMALL: Final = 60_000  # below so many vector operations, nobody waits for a second thread
TINY: Final = 15_000  # below so many, one that waits already is not worth it either
MOVED: Final = 6  # operations that reading and writing a pixel takes as long as
LONG: Final = 10**10  # operations after which somebody might wish to interrupt a call
LONG_ROW: Final = 1 << 16  # pixels of a single row that are worth code of their own
LONGEST: Final = 2**31 - 2**16  # pixels of a row, so that x and a block are an int
SHORT: Final = 32  # pixels of a row below which images are turned
# Likewise of so many pixels and more, where what lies beside rows is read, which is copied at their
# ends: what turning costs Python is more for fewer.
NARROW: Final = 48
MANY: Final = 1 << 17
OFTEN: Final = 1 << 15  # likewise, where calls like one before come again
HELD: Final = 6  # rows of each plane that caches hold where these are short
HELD_AT_ONCE: Final = 1 << 20  # bytes of images that a core's caches hold
ROWS_HELD: Final = 1 << 10  # bytes of a row of all planes, up to which they do
WIDE: Final = 128  # pixels of a row from which on its two edges cost little
STREAMED: Final = 1 << 24  # bytes of results that no cache is likely to hold until they are read
STREAMED_ROW: Final = 1 << 10  # bytes of a row from which on enough of it are whole lines
STREAMED_COST: Final = 200  # operations of a pixel from which on nobody waits for memory
ENDS: Final = 10_000  # blocks at the ends of rows that take as long as to compile code for them
LAYOUTS: Final = 16  # sizes of images that a program remembers


class CpuProgram(Program):
    """A task by native code."""

    def __init__(
        self,
        task: Task,
        given: Given | None = None,
        code: Code | None = None,
        machine: Machine | None = None,
    ) -> None:
        self.machine, self.threads = machine or host(), thread_count()
        self.given = given or Given(task)
        self.task = replace(self.given.task, short=task.short)
        self.cost = cost(self.task.function.body)
        self.code = code or Code(self.task, self.machine)
        self.size = self.given.size
        self.numbered = task.planar and is_used(task.function, task.function.uniforms[-1])
        self.layouts: dict[Sizes, Layout] = {}
        self.turned: CpuProgram | None = None  # for thin images, made when they first come
        self.few: dict[int, CpuProgram | None] = {}  # for images of so many columns, made then
        self.joined: moves.JoinedRows | None = None  # for many short rows, made when such come
        self.fewer: dict[tuple[int, int], CpuProgram] = {}  # for short rows of planes: of_rows
        self.native: dict[tuple[bool, bool], tuple[Native, int]] = {}
        self.large = 0  # calls with large results
        self.many = 0  # calls with more than caches hold, of functions whose rows share little
        self.at_ends: list[tuple[Native, int]] = []  # code for the ends of rows; the first is used
        self.row_ends = 0  # that were computed without it
        self.source = self._compile(wide=False)
        self.calls = native_loops(self.machine)

    def _emit(self, wide: bool, streams: bool = False, at_ends: bool = False) -> span.Emitted:
        task, narrow = self.code.task, self.code.narrow
        machine = replace(self.machine, fast=task.fast, streams=streams)
        how = machine, wide, self.code.group, at_ends
        return span.emit(task, *how) if narrow is None else narrow_lanes.emit(narrow, *how)

    def _compile(self, wide: bool, streams: bool = False) -> str:
        emitted = self._emit(wide, streams)
        self.plan = emitted.plan
        native = self._native(emitted.text)
        # What is there stays: another thread may be running it.
        self.native.setdefault((wide, streams), native)
        return emitted.text + attributes(self.machine)

    def _native(self, text: str) -> tuple[Native, int]:
        begun = time.perf_counter()
        native = native_span(text, self.machine)
        self.driver_seconds += time.perf_counter() - begun
        return native

    def run(self, work: Work) -> list[Storage]:
        height, width = work.size
        arrays = self.given.arrays(work.inputs)
        results = self.results(height, width, work, arrays)
        if height and width:
            self._run(Arrays(arrays, work.uniforms, (height, width), results))
        return [Storage.of(array) for array in results]

    def results(
        self, rows: int, width: int, work: Work, arrays: Sequence[NDArray[Any]]
    ) -> list[NDArray[Any]]:
        """Where results go that are computed from arrays: the caller's, or new ones."""
        first = address(arrays[0]) if arrays else None
        results = []
        for array, format in zip(work.out, self.task.outputs, strict=True):
            at = None if first is None else first + apart(width * format.nbytes)
            shape = rows, width, format.channels
            results.append(RESERVE.empty(shape, format.dtype, at=at) if array is None else array)
        return results

    def run_planes(self, work: Work, planes: Planes) -> list[Storage]:
        """All planes by one job."""
        height, width = work.size
        rows = planes.count * height
        arrays = self.given.arrays(work.inputs)
        results = self.results(rows, width, work, arrays)
        given = [*work.uniforms, 0] if self.task.planar else work.uniforms  # each has its number
        if self._is_image([len(array) for array in arrays], rows, planes):
            self._run(Arrays(arrays, given, (rows, width), results))
        else:
            program = self.of_rows(width) if rows * width >= MANY else self
            program._run(Arrays(arrays, given, (height, width), results), planes)
        return [Storage.of(array) for array in results]

    def _is_image(self, heights: Sequence[int], height: int, planes: Planes) -> bool:
        """Whether all rows of planes, of inputs and results, are those of one image."""
        is_flat = self.plan.flat and not self.numbered  # the number of a plane is one for all rows
        return is_flat and all(rows == height for rows in heights) and are_own(planes)

    def of_rows(self, width: int) -> CpuProgram:
        """The program of planes whose rows are so long: in fewer lanes, where rows have too few
        pixels for code at both of their ends, and in blocks of several rows, where caches hold
        these of all planes."""
        lanes = boundary.lanes_for(self.plan, width * self.code.group, self.machine.lanes)
        if not self.can_end or not lanes:
            return self
        texel = sum([self.task.inputs[taps.image].nbytes for taps in self.plan.taps])
        short = int(width * texel <= ROWS_HELD and self.cost * HELD <= boundary.LARGEST)
        short += short and width < boundary.FEW * self.plan.lanes
        if (lanes, short) == (self.machine.lanes, 0):
            return self
        if (lanes, short) not in self.fewer:
            task, machine = replace(self.task, short=short), replace(self.machine, lanes=lanes)
            self.fewer[lanes, short] = CpuProgram(task, self.given, None, machine)
        return self.fewer[lanes, short]

    def run_framed(self, work: Work, frames: Sequence[Frame | None]) -> list[Storage] | None:
        height, width = work.size
        is_other = self._is_thin((height, width)) or (height == 1 and width >= LONG_ROW)
        if is_other or any(each and self.reach(n) is None for n, each in enumerate(frames)):
            return None
        arrays = self.given.arrays(work.inputs)
        results = self.results(height, width, work, arrays)
        framed = [
            None if frame is None else Framed.of(array, frame, format)
            for array, frame, format in zip(arrays, frames, self.task.inputs, strict=True)
        ]
        sizes = [
            array.shape[:2] if frame is None else frame.size
            for array, frame in zip(arrays, framed, strict=True)
        ]
        strides = tuple([array.strides[0] for array in (*arrays, *results)])
        inner = tuple([None if frame is None else frame.inner for frame in framed])
        key = Sizes(tuple(sizes), (height, width), strides, None, inner)
        self._run_sized(key, Arrays(arrays, work.uniforms, (height, width), results), framed)
        return [Storage.of(array) for array in results]

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        sizes, shape = [(each.height, each.width) for each in work.inputs], work.size
        key = self._key(sizes, shape, joins=False)
        if (
            key is None
            or not rounds
            or any(sizes[place] != shape for place in state)
            or any(
                self.task.inputs[place] != format
                for place, format in zip(state, self.task.outputs, strict=True)
            )
        ):
            return None
        layout = self.layouts.get(key) or self._layout(key)
        arrays = [np.ascontiguousarray(array) for array in self.given.arrays(work.inputs)]
        results = self.results(*shape, work, arrays)
        code = self.span(False), self.sides(layout, len(rounds))
        every = rounds_of.Rounds(layout, code, arrays, rounds, results, state, self.threads)
        pixels = shape[0] * shape[1] * len(rounds)
        job = Job(every, layout.scratch, (self, every))
        threads = 1 if self._is_small(pixels) else every.parts
        POOL.run(self.calls, job, threads, self._is_brief(pixels))
        return [Storage.of(array) for array in results]

    def _key(
        self,
        sizes: Sequence[tuple[int, int]],
        shape: tuple[int, int],
        strides: tuple[int, ...] = (),
        joins: bool = True,
        planes: Planes | None = None,
    ) -> Sizes | None:
        """Under which a layout is kept for inputs and results of these sizes; None where a program
        other than this does the work, or other arrays than those given are read."""
        pixels = shape[0] * shape[1]
        nbytes = [h * w * f.nbytes for (h, w), f in zip(sizes, self.task.inputs, strict=True)]
        nbytes += [h * stride for (h, _), stride in zip(sizes, strides, strict=False)]
        if self.given.widened or min(nbytes, default=4) < 4 or max(nbytes, default=0) >= HUGE:
            return None
        if planes is not None:
            size = shape[0] // planes.count, shape[1]
            return Sizes(planes.of_one(sizes), size, strides, planes)
        if not strides and self._is_row(sizes, shape):
            return Sizes(((1, pixels),) * len(sizes), (1, pixels))
        if self._is_thin(shape) or (shape[0] == 1 and shape[1] >= LONG_ROW):
            return None
        if joins and not strides and self._is_joined(sizes, shape):
            return None
        return Sizes(tuple(sizes), shape, strides)

    def _is_joined(self, sizes: Sequence[tuple[int, ...]], shape: tuple[int, int]) -> bool:
        """Whether rows are so short, and so many, that many of them are computed as one."""
        if shape[0] * shape[1] < MANY or self.task.planar:
            return False
        # Bytes have as many lanes, which long rows of ints and floats do not have.
        wide = WIDE // 2 if self.plan.lanes > self.machine.lanes else WIDE
        if not rows_as_texels.MOST < shape[1] < wide or self._has_ends(shape[1]):
            return False
        if any(size != shape for size in sizes):
            return False
        if self.joined is None:
            self.joined = moves.JoinedRows(self.task, self._run, CpuProgram)
        return self.joined.takes(shape)

    def _is_thin(self, shape: tuple[int, int]) -> bool:
        """Whether rows are so short that columns are computed as rows."""
        if is_thin(shape, SHORT) or not is_thin(shape, NARROW) or shape[0] * shape[1] < MANY:
            return is_thin(shape, SHORT)
        beside = any(taps.left < 0 or taps.right > 0 for taps in self.plan.taps)
        return beside and not self._has_ends(shape[1])

    @cached_property
    def by_rows(self) -> CpuProgram:
        """The program of rows one by one."""
        made = CpuProgram(replace(self.task, low=True))
        made.large, made.row_ends = self.large, ENDS  # each row has two
        return made

    def _is_by_rows(self, shape: tuple[int, int], called: int = 1) -> bool:
        """Whether rows are computed one by one: a long one alone, and where they share little those
        of images that no cache holds, after so many calls with such."""
        if shape[0] == 1 or self.plan.rows == 1 or not self.plan.apart:
            return shape[0] == 1 and shape[1] >= LONG_ROW and self.plan.rows > 1
        texel = sum([format.nbytes for format in (*self.task.inputs, *self.task.outputs)])
        is_large = shape[0] * shape[1] * texel > HELD_AT_ONCE
        self.many += is_large
        return is_large and self.many > called

    @cached_property
    def can_end(self) -> bool:
        """Whether the ends of rows may have code of their own."""
        return boundary.ends_are_written(self.plan, self.code.task)

    def _has_ends(self, width: int) -> bool:
        """Whether rows are so long that it serves both of theirs."""
        return self.can_end and width * self.code.group >= boundary.least_width(self.plan)

    def _is_row(self, sizes: Sequence[tuple[int, ...]], shape: tuple[int, int]) -> bool:
        """Whether all pixels are computed as those of one row."""
        numbers = shape[0] * shape[1] * self.code.group
        return self.plan.flat and numbers <= LONGEST and all(size == shape for size in sizes)

    def _run(self, given: Arrays, planes: Planes | None = None) -> None:
        arrays, _, shape, results = given
        sizes = [array.shape[:2] for array in arrays]
        strides = strides_of((*arrays, *results))
        if planes is not None:
            sizes = [*planes.of_one(sizes)]
        elif not strides and self._is_row(sizes, shape):
            shape = 1, shape[0] * shape[1]
            sizes = [shape] * len(sizes)
        elif not strides and self._is_joined(sizes, shape):
            assert self.joined is not None, "it is there if it is asked for"
            self.joined.run(given)
            return
        elif self._is_thin(shape):
            moves.run_thin(self, given)
            return
        elif self._is_by_rows(shape):
            self.by_rows._run(given)
            return
        self._run_sized(Sizes(tuple(sizes), shape, strides, planes), given)

    def _run_sized(self, key: Sizes, given: Arrays, framed: Sequence[Framed | None] = ()) -> None:
        arrays, uniforms, _, results = given
        layout = self.layouts.get(key) or self._layout(key)
        wide = is_wide(arrays)
        places = addresses((*arrays, *results))
        stream = self.stream(wide, layout, places)
        ends = 0 if wide else self.sides(layout)
        block = layout.block(self.span(wide), places, uniforms, stream, ends)
        for index, frame in enumerate(framed):
            if frame is not None:
                block.numbers[layout.places[index]] = frame.first
                layout.frame(block, index, frame.around)
        threads = min(self.threads, layout.tiles)
        pixels = key.pixels
        brief = self._is_brief(pixels)
        job = Job(block, layout.scratch, (self, arrays, results, framed))
        if brief and self._is_small(pixels):
            POOL.run_small(self.calls, job, threads)
        else:
            POOL.run(self.calls, job, threads, brief)
        layout.blocks.append(block)

    def reach(self, index: int, is_inside: bool = False) -> tuple[int, int] | None:
        """See core/programs.py. `is_inside`: all rows that are read are there."""
        loads = [op for op in walk(self.plan.function.body) if op.code == "load"]
        loads = [op for op in loads if op.data.image == index]
        plan = self.plan
        if index in self.given.widened or not all(op in plan.set_of for op in loads):
            return None
        if not plan.multiples.keys().isdisjoint(loads):
            return None
        above = below = 0
        for taps in self.plan.taps:
            if taps.image == index:
                up, down = max(-taps.rows[0], 0), max(taps.rows[-1] - self.plan.rows + 1, 0)
                read = (up, down) if is_inside else rows_read(taps.boundary, up, down)
                if read is None:
                    return None
                above, below = max(above, read[0]), max(below, read[1])
        return above, below

    def prepared(
        self,
        sizes: Sequence[tuple[int, int]],
        shape: tuple[int, ...],
        strides: tuple[int, ...] = (),
        planes: Planes | None = None,
    ) -> CpuPrepared | None:
        program, size = self, rows_of(shape)
        if planes is not None and self._is_image([rows for rows, _ in sizes], size[0], planes):
            planes = None
        elif planes is not None and math.prod(shape) >= OFTEN:
            program = self.of_rows(size[1])
        elif planes is None and self._is_by_rows(size, 0):
            program = self.by_rows
        key, pixels = program._key(sizes, size, strides, planes=planes), math.prod(shape)
        if key is None:
            return None
        layout = program.layouts.get(key) or program._layout(key)
        is_brief = program._is_brief(pixels)
        tiny, small = (is_brief and program._is_small(pixels, most) for most in (TINY, SMALL))
        code, threads = (program.calls, program.span(False)), program.threads
        how = How(*code, threads, is_brief, tiny, small, program.stream, program.sides)
        return CpuPrepared(self.task, layout, shape, how)

    def _is_brief(self, pixels: int) -> bool:
        return not self.plan.loops and pixels * self.cost < LONG

    def _is_small(self, pixels: int, most: int = SMALL) -> bool:
        return pixels * max(self.cost, MOVED) < most * self.plan.lanes

    def _layout(self, key: Sizes) -> Layout:
        threads = 1 if self._is_small(key.pixels, TINY) else self.threads
        layout = Layout(self.plan, self.code.task, self.given.tables, key, threads)
        if len(self.layouts) >= LAYOUTS:
            self.layouts = {}
        self.layouts[key] = layout
        return layout

    def span(self, wide: bool, streams: bool = False) -> int:
        found = self.native.get((wide, streams))
        if found is None:
            self._compile(wide, streams)
            found = self.native[wide, streams]
        return found[1]

    def sides(self, layout: Layout, rounds: int = 1) -> int:
        """The code for the ends of rows; 0 where there is none, or before it is worth its time."""
        if not layout.row_ends:
            return 0
        if not self.at_ends:
            self.row_ends += layout.row_ends * rounds
            if self.row_ends < ENDS:
                return 0
            if not self.can_end:
                layout.row_ends = 0
                return 0
            self.at_ends.append(self._native(self._emit(False, at_ends=True).text))
        return self.at_ends[0][1]

    def stream(self, wide: bool, layout: Layout, places: Sequence[int]) -> int:
        """The span that writes past the caches; 0 where they hold the results, where these do not
        lie so, or in the first large call, which may be the only one. It spares reading the lines
        that are written. The atomic counter of tiles has what was written arrive."""
        starts = places[len(self.task.inputs) :]
        is_large = layout.written >= STREAMED and min(layout.pitches) >= STREAMED_ROW
        is_large = is_large and self.machine.x86 and self.cost < STREAMED_COST
        if not is_large or any(place % LINE for place in (*starts, *layout.pitches)):
            return 0
        self.large += 1
        return self.span(wide, True) if self.large > 1 else 0
