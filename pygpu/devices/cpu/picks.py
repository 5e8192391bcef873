"""Elements picked by a mask, on all cores: those of each chunk are counted, which says where they
go (codegen/elements/picks.py).

    picked(holds, texels, cores)           # as texels[holds]
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import picks as pick_code
from pygpu.codegen.elements.picks import LINE, UNITS, pick_span
from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.chunks import Cores, address, chunked_job
from pygpu.devices.cpu.native import Native, attributes
from pygpu.devices.cpu.threads import POOL, Job
from pygpu.devices.process.reserve import RESERVE

LEAST: Final = 1 << 13  # elements below which NumPy is as quick
LONGEST: Final = 2**31 - 1
TINY: Final = 1 << 16  # elements, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another


def picked(holds: NDArray[np.bool_], texels: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The rows of contiguous texels (N, C) where a contiguous mask (N,) holds."""
    count, channels = texels.shape
    if not LEAST <= count <= LONGEST or texels.itemsize not in UNITS:
        return texels[holds]
    threads = 1 if count < TINY else cores.threads
    length = -(-count // (1 if threads == 1 else SHARES * threads))
    counts = [np.count_nonzero(holds[low : low + length]) for low in range(0, count, length)]
    ends = np.cumsum(counts, dtype=np.int64)
    starts = ends - counts
    result = RESERVE.empty((int(ends[-1]), channels), texels.dtype)
    nowhere = np.empty(LINE * len(counts), np.uint8)
    arguments = [0] * pick_code.SLOTS
    for slot, array in {
        pick_code.MASK: holds,
        pick_code.SOURCE: texels,
        pick_code.TARGET: result,
        pick_code.STARTS: starts,
        pick_code.NOWHERE: nowhere,
    }.items():
        arguments[slot] = address(array)
    arguments[pick_code.LENGTH] = length
    _, span = _native(texels.itemsize, channels, cores.machine)
    block = chunked_job(span, count, length, arguments)
    job = Job(block, slots.scratch_size(0, 1, 0), (holds, texels, result, starts, nowhere))
    POOL.run(cores.calls, job, threads, True, count < TINY)
    return result


@lru_cache(maxsize=16)
def _native(unit: int, count: int, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    native = Native(pick_span(unit, count, machine) + attributes(machine), machine)
    return native, native.address("span")


__all__ = ["picked"]
