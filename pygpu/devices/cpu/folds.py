"""Sums, extremes and running folds by native code, on all cores, at the speed of memory.

folded(array, "sum", 3, cores)       # (3,), float64; None: to be done otherwise
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements.folds import (
    DATA,
    KINDS,
    LENGTH,
    PARTIAL,
    SLOTS,
    TILE,
    Folding,
    Scanning,
    accumulated,
    can_fold,
    fold_span,
    left,
    scan_span,
)
from pygpu.codegen.elements.lines import VECTORS, LineFold, columns_span, rows_span
from pygpu.codegen.elements.reduction import Reduction, reduction
from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.block import FIRST_IMAGE, IMAGE_SLOTS
from pygpu.codegen.llvm.text import Machine
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.programs import BOTH, JOINS, UFUNCS, FoldProgram, FoldTask, How
from pygpu.core.storage import Format, Storage
from pygpu.devices.cpu.chunks import Chunks, Cores, address, addresses, chunked, run_chunks
from pygpu.devices.cpu.given import packing, parts, readable
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.native import native_of, native_span
from pygpu.devices.cpu.threads import POOL, Calls, Job
from pygpu.devices.process.reserve import RESERVE, WAITING, apart
from pygpu.ssa import Constant

# Elements below which NumPy is as quick.
LEAST: Final[dict[How, int]] = {"sum": 1 << 14, "min": 1 << 16, "max": 1 << 16}
LINES_LEAST: Final = 1 << 17  # the same for sums of rows and of columns
LONGEST: Final = 2**31 - 2 * TILE  # elements, so that their indices are ints
SHARES: Final = 32  # tiles of an array, as far as they are not too short: none is waited for long
ROUNDS: Final = 128  # of a tile at least
TINY: Final = 1 << 18  # elements, below which a second thread is not worth its call
SIZES: Final = 16  # of images, for which jobs are kept


def folded(array: NDArray[Any], how: How, channels: int, cores: Cores) -> NDArray[Any] | None:
    """The fold of a contiguous array, of each of its interleaved channels: sums as float64 or
    int64, extremes as int32 or as the array's floats. None where NumPy does it."""
    size = array.size
    if not LEAST[how] <= size <= LONGEST:
        return None
    plan = _plan(array.dtype, how, 3 if channels == 3 else 4, size, cores.calls)
    if plan is None:
        return None
    flat, join = array.reshape(-1), JOINS[how]
    block, partial = plan.run(flat, cores)
    if channels > 1:
        partial = partial.reshape(-1, channels)
        found = join.reduce(partial, axis=0, dtype=plan.wide)
    else:
        found = join.reduce(partial, axis=None, dtype=plan.wide, keepdims=True)[0]
    plan.unused.append((block, partial))
    if plan.whole < size:
        rest = flat[plan.whole :].reshape(-1, channels)
        found = join(found, join.reduce(rest, axis=0, dtype=plan.wide))
    return found  # type: ignore[no-any-return]


def folder(array: NDArray[Any], how: How, cores: Cores) -> Callable[[], Any] | None:
    """What folds this array as `folded` does, to one number, whenever it is called: with little
    Python around the native code, after which Python finds nothing in the caches. None where
    `folded` does it otherwise, or there are elements beside whole vectors."""
    size = array.size
    if not LEAST[how] <= size <= LONGEST:
        return None
    plan = _plan(array.dtype, how, 4, size, cores.calls)
    if plan is None or plan.whole < size:
        return None
    calls, unused = cores.calls, list[tuple[Job, memoryview, NDArray[Any]]]()
    join, wide, is_tiny = JOINS[how].reduce, plan.wide, plan.is_tiny
    threads = 1 if is_tiny else min(cores.threads, plan.tiles)

    def fold() -> Any:
        try:
            kept = unused.pop()
        except IndexError:
            block, partial = plan.made()
            block.numbers[slots.JOB_SLOTS + DATA] = address(array)
            job = Job(block, plan.scratch, (array, partial))
            kept = job, block.numbers, partial.reshape(-1)
        kept[1][slots.NEXT] = 0
        POOL.run(calls, kept[0], threads, True, is_tiny)
        found = join(kept[2], dtype=wide)
        unused.append(kept)
        return found

    return fold


def place(array: NDArray[Any], how: How, cores: Cores) -> int | None:
    """Where in a contiguous array the first of its least or greatest elements is, a NaN before all,
    as np.argmin and np.argmax have it: the extremes of tiles say on which. None where these are no
    better at it than a program: they convert each float16."""
    flat, pick = array.reshape(-1), np.argmin if how == "min" else np.argmax
    if array.dtype == np.float16:
        return None
    plan = None
    if LEAST[how] <= flat.size <= LONGEST:
        plan = _plan(array.dtype, how, 4, flat.size, cores.calls)
    if plan is None:
        return int(pick(flat))
    block, partial = plan.run(flat, cores)
    tile = int(pick(JOINS[how].reduce(partial, axis=1)))
    plan.unused.append((block, partial))
    first = tile * plan.length
    found = first + int(pick(flat[first : first + plan.length]))
    if plan.whole < flat.size:
        places = np.array([found, plan.whole + int(pick(flat[plan.whole :]))])
        found = int(places[pick(flat[places])])
    return found


class _Plan:
    """What is the same for all folds of arrays of one size: the numbers of a job, with blocks of
    memory in which they stand already, each with the array in which tiles leave their folds. A
    block that was halted is not used again."""

    def __init__(self, folding: Folding, size: int, machine: Machine) -> None:
        self.native, self.span = native_of(fold_span, folding, machine)
        self.step = folding.vectors * machine.lanes
        self.whole = size // self.step * self.step  # elements that native code folds
        shared = size // SHARES // self.step * self.step
        most = TILE // self.step * self.step
        self.length = max(min(shared, most), self.step * ROUNDS)  # of a tile
        self.tiles = -(-self.whole // self.length)
        self.left = left(folding, machine)
        self.is_tiny = size < TINY
        self.scratch = slots.scratch_size(0, self.step, 0)
        self.accumulated = accumulated(folding.dtype, folding.how)
        is_sum, is_float = folding.how == "sum", folding.dtype.kind == "f"
        self.wide = np.dtype(np.float64 if is_float else np.int64) if is_sum else self.accumulated
        self.unused: list[tuple[Block, NDArray[Any]]] = []

    def run(self, flat: NDArray[Any], cores: Cores) -> tuple[Block, NDArray[Any]]:
        """Fold an array. The block and what tiles leave go back to the unused ones once read."""
        try:
            block, partial = self.unused.pop()
        except IndexError:
            block, partial = self.made()
        numbers = block.numbers
        numbers[slots.NEXT] = 0
        numbers[slots.JOB_SLOTS + DATA] = address(flat)
        threads = 1 if self.is_tiny else min(cores.threads, self.tiles)
        job = Job(block, self.scratch, (flat, partial))
        POOL.run(cores.calls, job, threads, True, self.is_tiny)
        return block, partial

    def made(self) -> tuple[Block, NDArray[Any]]:
        """A block more, for an array that is still to be said."""
        partial = np.empty((self.tiles, self.left), self.accumulated)
        arguments = [0] * SLOTS
        arguments[PARTIAL], arguments[LENGTH] = address(partial), self.length
        return chunked(self.span, self.whole, self.length, arguments, self.step), partial


@lru_cache(maxsize=64)
def _plan(dtype: np.dtype[Any], how: How, vectors: int, size: int, calls: Calls) -> _Plan | None:
    """The plan of folds of arrays of a size; None where there is no code for them."""
    folding, machine = Folding(dtype, how, vectors), calls.machine
    is_short = size < vectors * machine.lanes
    return None if is_short or not can_fold(dtype, how) else _Plan(folding, size, machine)


# ---------------------------------------------------------------- by any function


class Folded(FoldProgram):
    """A fold of values that are made of the texels at each place, by native code."""

    def __init__(self, made: Reduction, task: FoldTask, cores: Cores) -> None:
        self.cores, machine = cores, cores.machine
        self.made, self.types = made, task.types
        self.tiles, self.rest = native_span(made.tiles, machine), native_span(made.rest, machine)
        self.source, self.inputs = made.tiles, task.inputs[: task.count]
        self.packing = packing([value.type for value in made.function.uniforms])
        self.tables = [
            readable(np.ascontiguousarray(table.values), Format(table.values.dtype, 1, False))
            for table in made.function.tables
        ]
        self.unused: dict[tuple[int, int], list[_Jobs]] = {}

    def takes(self, height: int, width: int) -> bool:
        # A vector has places of two rows at most.
        is_wide = width >= self.cores.machine.lanes or not self.made.is_placed
        return is_wide and self.made.step <= height * width <= LONGEST

    def partials(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], fewest: bool = False
    ) -> list[NDArray[Any]]:
        return self.whole(inputs, uniforms)  # along both axes

    def whole(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[NDArray[Any]]:
        size = inputs[0].height, inputs[0].width
        arrays = [
            readable(np.ascontiguousarray(storage.host()), format)
            for storage, format in zip(inputs, self.inputs, strict=True)
        ]
        unused = self.unused.setdefault(size, [])
        try:
            jobs = unused.pop()
        except IndexError:
            jobs = _Jobs(self, *size)
        jobs.run(arrays, self.packing.pack(*parts(uniforms)))
        found, start = [], 0
        for type in self.types:
            words = jobs.partial[0, start : start + type.size, 0]
            values = words != 0 if type.kind == "bool" else words.view(NUMPY_TYPE[type.kind])
            found.append(values.reshape(1, 1, -1).copy())
            start += type.size
        if len(self.unused) > SIZES:
            self.unused.clear()
        unused.append(jobs)
        return found


class _Jobs:
    """The jobs of a fold of images of one size, with the memory in which tiles leave their folds.
    Those that were halted are not used again."""

    def __init__(self, fold: Folded, height: int, width: int) -> None:
        made, self.calls = fold.made, fold.cores.calls
        lanes, pixels = fold.cores.machine.lanes, height * width
        whole = pixels // made.step * made.step
        length = max(whole // SHARES // made.step, ROUNDS) * made.step
        tiles = -(-whole // length)
        rows = tiles * (made.step // lanes)
        self.partial = np.empty((rows, made.words, lanes), np.int32)
        tables = [address(table) for table in fold.tables]
        given = [0, width, height, *[0, width, height, width] * made.images, *tables]
        self.uniforms = slots.JOB_SLOTS + len(given)
        given += [0] * (fold.packing.size // 8)
        given += [address(self.partial), length, rows, pixels, whole]
        self.is_tiny = pixels < TINY
        self.threads = 1 if self.is_tiny else min(fold.cores.threads, tiles)
        self.blocks = [
            chunked(fold.tiles[1], whole, length, given, made.step),
            chunked(fold.rest[1], 1, 1, given),
        ]
        self.scratch, self.fold = slots.scratch_size(0, made.step, 0), fold

    def run(self, arrays: Sequence[NDArray[Any]], uniforms: bytes) -> None:
        places, kept = addresses(arrays), (arrays, self.partial, self.fold)
        numbers = memoryview(uniforms).cast("q")
        for block, threads in zip(self.blocks, (self.threads, 1), strict=True):
            job = block.numbers
            job[slots.NEXT] = 0
            for index, place in enumerate(places):
                job[slots.JOB_SLOTS + FIRST_IMAGE + IMAGE_SLOTS * index] = place
            job[self.uniforms : self.uniforms + len(numbers)] = numbers
            is_tiny = self.is_tiny or threads == 1
            POOL.run(self.calls, Job(block, self.scratch, kept), threads, True, is_tiny)


def fold(task: FoldTask, cores: Cores) -> Folded | None:
    """The program of a fold of all texels; None where passes do it."""
    made = reduction(task, cores.machine) if task.along == BOTH else None
    return None if made is None else Folded(made, task, cores)


# ---------------------------------------------------------------- rows and columns

STRIP: Final = 2048  # columns whose totals the first cache holds, with what is added


def line_sums(
    array: NDArray[Any], axis: int, apart: NDArray[np.float64] | None, cores: Cores
) -> NDArray[Any] | None:
    """The sums of a contiguous array's rows (axis 1) or columns (axis 0), as float64 or int64; or
    of the squares of their differences to a number for each. None where NumPy does it."""
    least = LINES_LEAST if apart is None else LEAST["sum"]
    if not least <= array.size <= LONGEST or not can_fold(array.dtype, "sum"):
        return None
    fold = LineFold(array.dtype, "add" if apart is None else "squares")
    if axis == 0:
        return _fold_columns(array, fold, cores, apart)
    (rows, columns), step = array.shape, VECTORS * cores.machine.lanes
    steps = columns // step
    if steps == 0:
        return None
    sums = np.empty(rows, KINDS[fold.kind])
    code = native_of(rows_span, fold, cores.machine)
    beside = sums if apart is None else np.ascontiguousarray(apart)
    chunks = Chunks(code, rows, -(-ROUNDS // steps))
    _run_chunks(chunks, cores, array, sums, columns, steps, 0, beside)
    if steps * step < columns:
        rest = array[:, steps * step :]
        if apart is not None:
            rest = np.square(rest - apart[:, None])
        sums += np.sum(rest, 1, sums.dtype)
    return sums


def _fold_columns(
    array: NDArray[Any], fold: LineFold, cores: Cores, beside: NDArray[Any] | None = None
) -> NDArray[Any] | None:
    """The folds of the columns of an array. `beside` becomes the folds up to each row, or is what
    is subtracted from each column. None where a row has less than a vector."""
    (rows, width), lanes = array.shape, cores.machine.lanes
    if width < lanes or rows == 0:
        return None
    vectors, last = -(-width // lanes), width - lanes
    how = "add" if fold.how == "squares" else fold.how
    totals = np.full(vectors * lanes, _IDENTITY[how](fold.dtype), KINDS[fold.kind])
    if beside is None:
        beside = totals
    elif not fold.is_running:  # vector by vector, too
        beside = np.concatenate([beside[: (vectors - 1) * lanes], beside[last:]])
    strip = min(STRIP // lanes, -(-vectors // cores.threads))
    chunks = Chunks(native_of(columns_span, fold, cores.machine), vectors, strip)
    _run_chunks(chunks, cores, array, totals, width, rows, last, beside)
    totals[last:width] = totals[-lanes:]  # as these were folded
    return totals[:width]


def _run_chunks(
    chunks: Chunks, cores: Cores, array: NDArray[Any], *others: NDArray[Any] | int
) -> None:
    """Call a span for chunks of an array, with what else it is given."""
    is_tiny = array.size < TINY
    threads = 1 if is_tiny else min(cores.threads, -(-chunks.total // chunks.length))
    run_chunks(cores, threads, chunks, dict(enumerate((array, *others))), is_tiny)


# ---------------------------------------------------------------- running folds

SCAN_CHUNK: Final = 4096  # elements of a line that a thread scans
SCAN_LEAST: Final = 1 << 14  # elements below which NumPy is as quick


def scanned_columns(array: NDArray[Any], how: str, cores: Cores) -> NDArray[Any] | None:
    """The running folds of each column of a contiguous array of float32 or int32, by "add",
    "multiply", "maximum" or "minimum". None where that is to be done otherwise."""
    kind = _KINDS.get(array.dtype.name)
    if kind is None or array.size > LONGEST:
        return None
    if array.size >= SCAN_LEAST:
        result = _beside(array)
        fold = LineFold(array.dtype, how, is_running=True)
        if _fold_columns(array, fold, cores, result) is not None:
            return result
    wide = np.float64 if kind == "float" else array.dtype
    rows = np.ascontiguousarray(array.T)  # along which NumPy is quicker
    with np.errstate(all="ignore"):
        found = UFUNCS[how].accumulate(rows, axis=1, dtype=wide)
    return np.ascontiguousarray(found.T, array.dtype)


def scanned(lines: NDArray[Any], how: str, cores: Cores) -> NDArray[Any] | None:
    """The running folds of each line of a contiguous array (lines, N) of float32 or int32, by
    "add", "multiply", "maximum" or "minimum". None where that is to be done otherwise."""
    kind, lanes = _KINDS.get(lines.dtype.name), cores.machine.lanes
    count, size = lines.shape
    whole = size // lanes * lanes
    if kind is None or lines.size > LONGEST:
        return None
    ufunc, wide = UFUNCS[how], np.float64 if kind == "float" else lines.dtype
    if lines.size < SCAN_LEAST:
        with np.errstate(all="ignore"):
            return ufunc.accumulate(lines, axis=1, dtype=wide).astype(lines.dtype, copy=False)
    if whole == 0:
        return None
    result, is_one = _beside(lines), count == 1
    chunk = SCAN_CHUNK if is_one else whole
    carries = np.full(-(-count * whole // chunk), _IDENTITY[how](lines.dtype), wide)
    arrays, sizes = (lines, result, carries), (count * whole, chunk, chunk if is_one else size)
    with np.errstate(all="ignore"):
        if is_one:  # each chunk comes after all before
            first = carries[0]
            _run_scan(Scanning(kind, how, is_total=True), arrays, sizes, cores)
            carries[1:] = ufunc.accumulate(carries)[:-1]
            carries[0] = first
        _run_scan(Scanning(kind, how, is_total=False), arrays, sizes, cores)
        if whole < size:
            rest = ufunc.accumulate(lines[:, whole:], axis=1, dtype=wide)
            result[:, whole:] = ufunc(result[:, whole - 1 : whole], rest)
    return result


def _beside(array: NDArray[Any]) -> NDArray[Any]:
    """Memory for a result as large as an array."""
    at = address(array) + apart(array.strides[0])
    return RESERVE.empty(array.shape, array.dtype, WAITING, at)


def _run_scan(
    scanning: Scanning, arrays: Sequence[NDArray[Any]], sizes: tuple[int, int, int], cores: Cores
) -> None:
    """A kernel over so many elements, chunks of so many, which begin so far apart."""
    count, chunk, apart = sizes
    chunks = Chunks(native_of(scan_span, scanning, cores.machine), count, chunk)
    _run_chunks(chunks, cores, *arrays, chunk, apart)


_KINDS: Final = {"float32": "float", "int32": "int"}
_IDENTITY: Final[dict[str, Callable[[np.dtype[Any]], Any]]] = {
    "add": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "maximum": lambda dtype: -np.inf if dtype.kind == "f" else -(2**31),
    "minimum": lambda dtype: np.inf if dtype.kind == "f" else 2**31 - 1,
}
