"""Elements that go elsewhere, on all cores: copied from anywhere, narrowed, picked by a mask, or as
images of few columns turned.
And rows that stay where they are, and are computed as parts of longer ones.

    contiguous(texels, cores)              # as np.ascontiguousarray(texels)
    narrowed(doubles, cores)               # as doubles.astype(np.float32)
    picked(holds, texels, cores)           # as texels[holds]
    picked(holds, None, cores)             # as np.flatnonzero(holds)[:, None]
    rows = columns_of(image, cores)        # (W, H, C) of (H, W, C), in rows that lie apart
    put_back(rows, image, cores)           # the other way
    JoinedRows(task, run, CpuProgram).run((arrays, uniforms, shape, results))

What is picked of each chunk is counted first, which says where it goes. Columns that are turned lie
apart, as else those of images of a power of two would share lines of the first cache.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.later import later
from pygpu.core.programs import Task
from pygpu.core.storage import Format, strides_of
from pygpu.devices.cpu.chunks import Chunks, Cores, Slots, cores, run_chunks
from pygpu.devices.cpu.given import Arrays, of_channels
from pygpu.devices.cpu.layout import Inner, Sizes
from pygpu.devices.cpu.native import native_of
from pygpu.devices.process.reserve import RESERVE
from pygpu.passes.blocks.joined_rows import Joined, joined_rows

with later():
    from pygpu.codegen.elements import copies, picks, turns
    from pygpu.passes.blocks import rows_as_texels
    from pygpu.passes.layout import turned

PICKED: Final = 1 << 13  # elements below which NumPy picks them as quickly
FAR: Final = 32  # bytes of rows that are copied at a time where texels lie apart, or four texels
TURNED: Final = 1 << 12  # texels below which NumPy turns them as quickly
LONGEST: Final = 2**31 - 1
JOINED: Final = 1 << 12  # pixels of a long row, at least, that many short ones are
TINY: Final = 1 << 16  # elements, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
CHUNK: Final = 1 << 13  # texels that are turned at once
# Bytes from which on their memory is kept: several such arrays at a time, which C libraries give
# back at once, so that each call would touch new pages, which takes three times as long as turning.
KEPT: Final = 1 << 17
BETWEEN: Final = 320  # bytes between columns that are turned


def _shared_out(cores: Cores, count: int, size: int) -> tuple[int, int]:
    """How many threads so many elements in all are for, and how much of `count` a chunk is."""
    threads = 1 if size < TINY else cores.threads
    return threads, -(-count // (1 if threads == 1 else SHARES * threads))


def picked(holds: NDArray[np.bool_], texels: NDArray[Any] | None, cores: Cores) -> NDArray[Any]:
    """The rows of contiguous texels (N, C) where a contiguous mask (N,) holds; without texels the
    places (n, 1) where it does."""
    (count,) = holds.shape
    if not PICKED <= count <= LONGEST or (
        texels is not None and texels.itemsize not in picks.UNITS
    ):
        return np.flatnonzero(holds)[:, None] if texels is None else texels[holds]
    kept = np.empty((0, 1), np.int32) if texels is None else texels
    channels = kept.shape[1]
    threads, length = _shared_out(cores, count, count)
    counts = [np.count_nonzero(holds[low : low + length]) for low in range(0, count, length)]
    ends = np.cumsum(counts, dtype=np.int64)
    starts = ends - counts
    result = RESERVE.empty((int(ends[-1]), channels), kept.dtype)
    nowhere = np.empty(picks.LINE * len(counts), np.uint8)
    given = {
        picks.MASK: holds,
        picks.SOURCE: kept,
        picks.TARGET: result,
        picks.STARTS: starts,
        picks.NOWHERE: nowhere,
        picks.LENGTH: length,
    }
    taken = 0 if texels is None else channels
    code = native_of(picks.pick_span, kept.itemsize, taken, cores.machine)
    run_chunks(cores, threads, Chunks(code, count, length), given, count < TINY)
    return result


# ---------------------------------------------------------------- texels that lie anywhere


def contiguous(texels: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The texels (H, W, C) in rows that follow each other, copied if they are not so."""
    height, width, channels = texels.shape
    texel = channels * texels.itemsize
    if texels.flags.c_contiguous or texels.itemsize not in picks.UNITS:
        return np.ascontiguousarray(texels)
    made = RESERVE.empty(texels.shape, texels.dtype, KEPT)
    down, across, between = texels.strides
    given = {
        copies.SOURCE: texels,
        copies.DOWN: down,
        copies.ACROSS: across,
        copies.BETWEEN: between,
        copies.TARGET: made,
        copies.WIDTH: width,
        copies.TILE: width if abs(across) <= picks.LINE else max(4, FAR // texel),
    }
    threads, length = _shared_out(cores, height, texels.size)
    code = native_of(copies.copy_span, _copy_of(texels), cores.machine)
    run_chunks(cores, threads, Chunks(code, height, length), given, texels.size < TINY)
    return made


def narrowed(doubles: NDArray[np.float64], cores: Cores) -> NDArray[np.float32] | None:
    """Contiguous doubles of any shape as floats; None for too few, or more than an int counts.
    OverflowError where a finite one is too large."""
    count = doubles.size
    if not PICKED <= count <= LONGEST:
        return None
    made = RESERVE.empty(doubles.shape, np.dtype(np.float32), KEPT)
    large = np.zeros(1, np.bool_)
    given = {copies.DOUBLES: doubles, copies.FLOATS: made, copies.LARGE: large}
    threads, length = _shared_out(cores, count, count)
    code = native_of(copies.narrowing_span, cores.machine)
    run_chunks(cores, threads, Chunks(code, count, length), given, count < TINY)
    if large[0]:
        raise OverflowError("a finite double is too large for a float")
    return made


def _copy_of(texels: NDArray[Any]) -> copies.Copy:
    """How the texels (H, W, C) are copied."""
    _, width, channels = texels.shape
    _, across, between = texels.strides
    unit = texels.itemsize
    near = across // unit, between // unit
    is_near = 0 < abs(near[0]) <= copies.NEAR >= abs(near[1]) and width >= copies.TOGETHER
    whole = across % unit == between % unit == 0
    return copies.Copy(unit, channels, near if is_near and whole else None)


# ---------------------------------------------------------------- columns


def columns_of(image: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The texels (H, W, C) with columns for rows: the same memory where there is one column."""
    rows = rows_for(image)
    if np.may_share_memory(rows, image):
        return rows
    if _is_turned(image):
        _run(image, rows, cores, back=False)
    else:
        np.copyto(rows, image.swapaxes(0, 1))
    return rows


def rows_for(image: NDArray[Any]) -> NDArray[Any]:
    """Memory for the columns of an image as rows: its own where it has one column."""
    height, width, channels = image.shape
    if width == 1 and image.flags.c_contiguous:
        return image.reshape(1, height, channels)
    between = -(-BETWEEN // (channels * image.itemsize))  # whole texels
    shape = width, height + between, channels
    return RESERVE.empty(shape, image.dtype, KEPT)[:, :height]


def put_back(rows: NDArray[Any], image: NDArray[Any], cores: Cores) -> None:
    """Make the image of what has its columns for rows."""
    if np.may_share_memory(rows, image):
        return
    if _is_turned(image) and image.flags.c_contiguous:
        _run(image, rows, cores, back=True)
    else:
        np.copyto(image, rows.swapaxes(0, 1))


def _is_turned(image: NDArray[Any]) -> bool:
    return image.size >= TURNED and image.itemsize <= turns.WORD and image.shape[0] < 2**31


def _run(image: NDArray[Any], rows: NDArray[Any], cores: Cores, back: bool) -> None:
    height, width, channels = image.shape
    turn = turns.Turn(width, image.itemsize, channels, back)
    given: Slots = {
        turns.IMAGE: image,
        turns.ROWS: rows,
        turns.IMAGE_STRIDE: image.strides[0],
        turns.ROWS_STRIDE: rows.strides[0],
    }
    lanes = cores.machine.lanes
    length = -(-max(CHUNK // width, 1) // lanes) * lanes
    is_tiny = height * width < TINY
    chunks = Chunks(native_of(turns.turn_span, turn, cores.machine), height, length)
    run_chunks(cores, 1 if is_tiny else cores.threads, chunks, given, is_tiny)


# ---------------------------------------------------------------- rows


def run_thin(program: Any, given: Arrays) -> None:
    """Run a `CpuProgram`: rows as texels of a row where columns are few, else columns for rows."""
    arrays, uniforms, shape, results = given
    every = (*arrays, *results)
    width = shape[1]
    if 1 < width <= rows_as_texels.MOST and not strides_of(every):
        few = _of_columns(program, width)
        if few is not None and all(array.shape == (*shape, 1) for array in every):
            read, made = (
                [array.reshape(1, -1, width) for array in each] for each in (arrays, results)
            )
            few._run(Arrays(read, uniforms, (1, shape[0]), made))
            return
    if program.turned is None:
        function = turned.turned(program.task.function)
        program.turned = type(program)(replace(program.task, function=function))
    on = cores()
    columns = [rows_for(result) for result in results]
    read = [columns_of(array, on) for array in arrays]
    program.turned._run(Arrays(read, uniforms, shape[::-1], columns))
    for rows, result in zip(columns, results, strict=True):
        put_back(rows, result, on)


def _of_columns(program: Any, width: int) -> Any:
    """The program of images of so many columns; None where there is none."""
    if width not in program.few:
        function = rows_as_texels.of_columns(program.task.function, width)
        program.few[width] = None
        if function is not None:
            program.few[width] = type(program)(of_channels(program.task, function, width))
    return program.few[width]


class JoinedRows:
    """A task for images of short rows, of which many are one row: passes/blocks/joined_rows.py.
    Rows near the top and the bottom, and those left over, are computed as they are, by `plain`;
    `program` makes the program of a task."""

    def __init__(
        self, task: Task, plain: Callable[[Arrays], None], program: Callable[[Task], Any]
    ) -> None:
        self.task, self.plain, self.program = task, plain, program
        self.rows = rows = joined_rows(task.function)
        self.programs: dict[int, Any] = {}  # by the step from row to row
        if rows is None or (rows.aside > 1 and any(each.channels > 1 for each in task.inputs)):
            self.rows = None  # selections of several components at once take longer than is won

    def takes(self, shape: tuple[int, int]) -> bool:
        """Whether images of this size are computed so."""
        rows, (height, width) = self.rows, shape
        if rows is None or width <= 2 * rows.aside:
            return False
        return (height - rows.above - rows.below) * width >= SHARES * JOINED + JOINED

    def run(self, given: Arrays) -> None:
        """Compute images of such a size, all contiguous."""
        arrays, uniforms, (height, width), results = given
        rows = self.rows
        assert rows is not None, "it takes the shape"
        if self._runs_on(width):
            top, end = self._run_on(given)
        else:
            joined = -(-JOINED // width)
            top = rows.above
            count = (height - top - rows.below) // joined
            end, long = top + count * joined, (count, joined * width)

            def seen(array: NDArray[Any], row: int) -> NDArray[Any]:
                return array[top + row : end + row].reshape(*long, array.shape[2])

            read = [seen(arrays[image], row) for image, row in rows.reads]
            read.append(_columns(width, long))
            made = [seen(each, 0) for each in results]
            self._of(rows)._run(Arrays(read, [*uniforms, width], long, made))
        self._some(given, (0, top + rows.below), (0, top))
        self._some(given, (end - rows.above, height), (end, height))

    def _runs_on(self, width: int) -> bool:
        """Whether rows run on: they share what they read, and no lane is computed twice in vain."""
        rows, lanes = self.rows, cores().machine.lanes
        assert rows is not None, "it takes the shape"
        if not (rows.above or rows.below) or 2 * width < lanes:
            return False
        return rows.aside > 1 or max(lanes // width, 1) * width % lanes == 0

    def _of(self, rows: Joined) -> Any:
        """The program of joined rows."""
        made = self.programs.get(rows.step)
        if made is None:
            inputs = [self.task.inputs[image] for image, _ in rows.reads]
            inputs.append(Format(np.dtype(np.int32), 1))
            made = self.program(replace(self.task, function=rows.function, inputs=inputs)), rows
            self.programs[rows.step] = made
        return made[0]

    def _run_on(self, given: Arrays) -> tuple[int, int]:
        """Compute rows that run on into those below them, which have the same there. Gives the
        first row that is computed, and where they end."""
        arrays, uniforms, (height, width), results = given
        lanes = cores().machine.lanes
        step = max(lanes // width, 1)
        if step not in self.programs:
            joined = joined_rows(self.task.function, step)
            assert joined is not None, "long rows are there"
            self._of(joined)
        program, rows = self.programs[step]
        wide = max(step * width, program.plan.vectors * lanes)
        left = max([0, *[-taps.left for taps in program.plan.taps]])
        right = max([0, *[taps.right for taps in program.plan.taps]])
        beyond = -(-(wide - step * width + right) // width)
        top = rows.above - (-left // width)
        # The last row of each image may begin `step - 1` rows below what is read.
        count = (height - top - rows.below - beyond - (step - 1)) // step
        size, seen = (count, wide), (count + rows.more, wide)
        read = [arrays[image][top + row :] for image, row in rows.reads]
        strides = [step * array.strides[0] for array in (*read, *results)]
        frames = [Inner(0, -left, seen[0], left + wide + right)] * len(read)
        strides.insert(len(read), 4 * wide)
        key = Sizes((*[seen] * len(read), (1, wide)), size, tuple(strides), None, (*frames, None))
        read.append(_columns(width, (1, wide)))
        made = [each[top:] for each in results]
        program._run_sized(key, Arrays(read, [*uniforms, width], size, made))
        return top, top + count * step

    def _some(self, given: Arrays, seen: tuple[int, int], rows: tuple[int, int]) -> None:
        """Compute some rows, as those of an image of these and others around them."""
        top, bottom = seen
        if rows[0] == rows[1]:
            return
        made = [np.empty((bottom - top, *each.shape[1:]), each.dtype) for each in given.results]
        read = [array[top:bottom] for array in given.arrays]
        self.plain(Arrays(read, given.uniforms, made[0].shape[:2], made))
        for result, part in zip(given.results, made, strict=True):
            result[rows[0] : rows[1]] = part[rows[0] - top : rows[1] - top]


@lru_cache(maxsize=4)
def _columns(width: int, long: tuple[int, int]) -> NDArray[np.int32]:
    """In which column each pixel of long rows stands: one row, which is all of them."""
    row = np.arange(long[1], dtype=np.int32) % width
    return np.broadcast_to(row[None, :, None], (*long, 1))
