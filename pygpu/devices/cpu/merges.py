"""Sorting by NumPy on all cores: each sorts a run, and runs are merged by native code
(codegen/elements/merges.py).

NumPy sorts numbers of four bytes by the processor's vectors where that has them.

    sorted_by_runs(line, cores)            # ascending, NaNs last
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import merges as merge_code
from pygpu.codegen.elements.merges import merge_span
from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.chunks import Cores, address, chunked_job
from pygpu.devices.cpu.native import Native, attributes
from pygpu.devices.cpu.reserve import RESERVE
from pygpu.devices.cpu.threads import POOL, Job

RUN: Final = 1 << 19  # elements that are worth a thread of Python's
TILE: Final = 1 << 15  # elements merged at a time
_KINDS: Final = {"f": "float", "i": "int", "u": "uint"}
_IS_NEW: Final = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def is_quick(dtype: np.dtype[Any], machine: Machine) -> bool:
    """Whether NumPy sorts such numbers by vectors."""
    return _IS_NEW and dtype.itemsize == 4 and dtype.kind in _KINDS and machine.has("avx2")


def sorted_by_runs(line: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The elements (N,) of a contiguous array in rising order, NaNs last."""
    count = line.size
    pieces = max(1, min(cores.threads, count // RUN))
    if pieces == 1:
        return np.sort(line)
    length = -(-count // pieces)
    keys = RESERVE.empty((count + 1,), line.dtype)  # one more may be read
    keys[count] = 0
    runs = [keys[low : min(low + length, count)] for low in range(0, count, length)]

    def put(index: int) -> None:
        run = runs[index]
        np.copyto(run, line[index * length : index * length + run.size])
        run.sort()

    with ThreadPoolExecutor(len(runs) - 1) as others:
        waiting = [others.submit(put, index) for index in range(1, len(runs))]
        put(0)
        for each in waiting:
            each.result()
    return _merged(runs, keys, cores)


def _merged(runs: list[NDArray[Any]], keys: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """Runs that stand one after the other in memory as one."""
    count = keys.size - 1
    if keys.dtype.kind == "f":  # NaNs, which are last in each, are put behind all
        ends = [int(np.searchsorted(run, np.nan)) for run in runs]
        runs = [run[:end] for run, end in zip(runs, ends, strict=True)]
    spare = RESERVE.empty(keys.shape, keys.dtype)
    while len(runs) > 1:
        done, start = [], 0
        for first in range(0, len(runs), 2):
            pair = runs[first : first + 2]
            size = sum(run.size for run in pair)
            target = spare[start : start + size]
            _merge(pair, target, cores)
            done.append(target)
            start += size
        runs, keys, spare = done, spare, keys
    keys[runs[0].size : count] = np.nan if keys.dtype.kind == "f" else 0
    return keys[:count]


def _merge(pair: list[NDArray[Any]], target: NDArray[Any], cores: Cores) -> None:
    if len(pair) == 1 or not pair[0].size or not pair[1].size:
        np.copyto(target, np.concatenate(pair))
        return
    arguments = [0] * merge_code.SLOTS
    for slot, array in zip((merge_code.FIRST, merge_code.OTHER), pair, strict=True):
        arguments[slot] = address(array)
    arguments[merge_code.TARGET] = address(target)
    arguments[merge_code.COUNT], arguments[merge_code.COUNT_OTHER] = pair[0].size, pair[1].size
    _, span = _native(_KINDS[target.dtype.kind], cores.machine)
    job = Job(chunked_job(span, target.size, TILE, arguments), slots.scratch_size(0, 1, 0), pair)
    POOL.run(cores.calls, job, cores.threads, True, False)


@lru_cache(maxsize=8)
def _native(kind: str, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    native = Native(merge_span(kind, machine) + attributes(machine), machine)
    return native, native.address("span")


__all__ = ["is_quick", "sorted_by_runs"]
