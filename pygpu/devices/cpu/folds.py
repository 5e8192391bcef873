"""Sums and extremes of whole images by native code, on all cores, at the speed of memory.

folded(array, "sum", channels=3)     # (3,), float64; None: to be done otherwise
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements.folds import (
    DATA,
    LENGTH,
    PARTIAL,
    SLOTS,
    TILE,
    Folding,
    Scanning,
    accumulated,
    can_fold,
    fold_span,
    scan_span,
)
from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.core.device import UFUNCS, How
from pygpu.devices.cpu.chunks import chunked_job
from pygpu.devices.cpu.layout import Block
from pygpu.devices.cpu.native import Native, attributes
from pygpu.devices.cpu.threads import POOL, Calls, Job
from pygpu.devices.process.reserve import RESERVE

# Elements below which NumPy is as quick: it sums into 64 bits slowly, and finds extremes quickly.
LEAST: Final[dict[How, int]] = {"sum": 1 << 17, "min": 1 << 22, "max": 1 << 22}
LONGEST: Final = 2**31 - 2 * TILE  # elements, so that their indices are ints
TINY: Final = 4 * TILE  # elements, below which a second thread is not worth its call
_JOIN: Final[dict[How, np.ufunc]] = {"sum": np.add, "min": np.minimum, "max": np.maximum}


@lru_cache(maxsize=64)
def _native(folding: Folding, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    native = Native(fold_span(folding, machine) + attributes(machine), machine)
    return native, native.address("span")


def folded(
    array: NDArray[Any], how: How, channels: int, machine: Machine, calls: Calls, threads: int
) -> NDArray[Any] | None:
    """The fold of a contiguous array, of each of its interleaved channels: sums as float64 or
    int64, extremes as int32 or as the array's floats. None where NumPy does it."""
    if not LEAST[how] <= array.size <= LONGEST or not can_fold(array.dtype, how):
        return None
    folding = Folding(array.dtype, how, 3 if channels == 3 else 4)
    step = folding.vectors * machine.lanes
    flat = array.reshape(-1)
    whole = array.size // step * step
    if not whole:
        return None
    length = TILE // step * step
    tiles = -(-whole // length)
    partial = np.empty((tiles, step), accumulated(array.dtype, how))
    _, span = _native(folding, machine)
    block = _job(span, flat, partial, (whole, length, step))
    is_tiny = array.size < TINY
    scratch = slots.scratch_size(0, step, 0)
    threads = 1 if is_tiny else min(threads, tiles)
    POOL.run(calls, Job(block, scratch, (array, partial)), threads, True, is_tiny)
    join = _JOIN[how]
    wide = {"f": np.float64}.get(array.dtype.kind, np.int64) if how == "sum" else partial.dtype
    parts = [part.reshape(-1, channels) for part in (partial, flat[whole:]) if part.size]
    return join.reduce([join.reduce(part, axis=0, dtype=wide) for part in parts], axis=0)  # type: ignore[no-any-return]


def _job(
    span: int, flat: NDArray[Any], partial: NDArray[Any], sizes: tuple[int, int, int]
) -> Block:
    """A job of one row without taps or results: see codegen/jobs/driver.py."""
    whole, length, step = sizes
    numbers = [0] * (slots.JOB_SLOTS + SLOTS + 1)
    args, stop = slots.JOB_SLOTS, slots.JOB_SLOTS + SLOTS
    for slot, value in {
        slots.TILES: len(partial),
        slots.TILE_COLUMNS: len(partial),
        slots.TILE_WIDTH: length,
        slots.TILE_HEIGHT: 1,
        slots.WIDTH: whole,
        slots.HEIGHT: 1,
        slots.ROWS: 1,
        slots.BLOCK: step,
        slots.END: whole,
        slots.SPAN: span,
        slots.SCRATCH: slots.scratch_size(0, step, 0),
        slots.GATE: slots.SHUT,
        slots.ARGS: args,
        slots.STOP: stop,
        args + DATA: flat.__array_interface__["data"][0],
        args + PARTIAL: partial.__array_interface__["data"][0],
        args + LENGTH: length,
    }.items():
        numbers[slot] = value
    return Block(numbers, (slots.ARGS, slots.STOP), stop)


# ---------------------------------------------------------------- running folds

SCAN_CHUNK: Final = 4096  # elements scanned one vector after the other: sums of floats err little
SCAN_LEAST: Final = 1 << 14


@lru_cache(maxsize=64)
def _scanning(scanning: Scanning, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    native = Native(scan_span(scanning, machine) + attributes(machine), machine)
    return native, native.address("span")


def scanned(
    line: NDArray[Any], how: str, machine: Machine, calls: Calls, threads: int
) -> NDArray[Any] | None:
    """The running folds of a contiguous array (N,) of float32 or int32, by "add", "multiply",
    "maximum" or "minimum". None where that is to be done otherwise."""
    kind = {"float32": "float", "int32": "int"}.get(line.dtype.name)
    whole = line.size // machine.lanes * machine.lanes
    if kind is None or not SCAN_LEAST <= line.size <= LONGEST:
        return None
    result = RESERVE.empty(line.shape, line.dtype)
    chunks = -(-whole // SCAN_CHUNK)
    carries = np.empty(chunks, line.dtype)

    def run(is_total: bool) -> None:
        _, span = _scanning(Scanning(kind, how, is_total), machine)
        numbers = [each.__array_interface__["data"][0] for each in (line, result, carries)]
        block = chunked_job(span, whole, SCAN_CHUNK, [*numbers, SCAN_CHUNK])
        job = Job(block, slots.scratch_size(0, 1, 0), (line, result, carries))
        POOL.run(calls, job, min(threads, chunks), True, False)

    ufunc = UFUNCS[how]
    run(is_total=True)
    wide = np.float64 if kind == "float" else line.dtype
    with np.errstate(all="ignore"):
        after = ufunc.accumulate(carries, dtype=wide)
        carries[1:] = after[:-1]
        carries[0] = _IDENTITY[how](line.dtype)
        run(is_total=False)
        rest = line[whole:]
        if rest.size:
            result[whole:] = ufunc(after[-1], ufunc.accumulate(rest, dtype=wide))
    return result


_IDENTITY: Final[dict[str, Callable[[np.dtype[Any]], Any]]] = {
    "add": lambda dtype: 0,
    "multiply": lambda dtype: 1,
    "maximum": lambda dtype: -np.inf if dtype.kind == "f" else -(2**31),
    "minimum": lambda dtype: np.inf if dtype.kind == "f" else 2**31 - 1,
}


__all__ = ["folded", "scanned"]
