"""Elements that go elsewhere, on all cores: picked by a mask, or as images of few columns turned.

    picked(holds, texels, cores)           # as texels[holds]
    rows = columns_of(image, cores)        # (W, H, C) of (H, W, C), in rows that lie apart
    put_back(rows, image, cores)           # the other way

What is picked of each chunk is counted first, which says where it goes. Columns that are turned lie
apart, as else those of images of a power of two would share lines of the first cache.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import picks as pick_code
from pygpu.codegen.elements import turns as turn_code
from pygpu.codegen.elements.picks import LINE, UNITS, pick_span
from pygpu.codegen.elements.turns import WORD, Turn, turn_span
from pygpu.codegen.jobs import slots
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.chunks import Cores, address, chunked_job
from pygpu.devices.cpu.native import Native, native_span
from pygpu.devices.cpu.threads import POOL, Job
from pygpu.devices.process.reserve import RESERVE

PICKED: Final = 1 << 13  # elements below which NumPy picks them as quickly
TURNED: Final = 1 << 12  # texels below which NumPy turns them as quickly
LONGEST: Final = 2**31 - 1
TINY: Final = 1 << 16  # elements, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
CHUNK: Final = 1 << 13  # texels that are turned at once
# Bytes from which on their memory is kept: several such arrays at a time, which C libraries give
# back at once, so that each call would touch new pages, which takes three times as long as turning.
KEPT: Final = 1 << 17
BETWEEN: Final = 320  # bytes between columns that are turned


def picked(holds: NDArray[np.bool_], texels: NDArray[Any], cores: Cores) -> NDArray[Any]:
    """The rows of contiguous texels (N, C) where a contiguous mask (N,) holds."""
    count, channels = texels.shape
    if not PICKED <= count <= LONGEST or texels.itemsize not in UNITS:
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
    _, span = _picking(texels.itemsize, channels, cores.machine)
    block = chunked_job(span, count, length, arguments)
    job = Job(block, slots.scratch_size(0, 1, 0), (holds, texels, result, starts, nowhere))
    POOL.run(cores.calls, job, threads, True, count < TINY)
    return result


@lru_cache(maxsize=16)
def _picking(unit: int, count: int, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    return native_span(pick_span(unit, count, machine), machine)


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
    return image.size >= TURNED and image.itemsize <= WORD and image.shape[0] < 2**31


def _run(image: NDArray[Any], rows: NDArray[Any], cores: Cores, back: bool) -> None:
    height, width, channels = image.shape
    _, span = _turning(Turn(width, image.itemsize, channels, back), cores.machine)
    arguments = [0] * turn_code.SLOTS
    arguments[turn_code.IMAGE], arguments[turn_code.ROWS] = address(image), address(rows)
    arguments[turn_code.IMAGE_STRIDE] = image.strides[0]
    arguments[turn_code.ROWS_STRIDE] = rows.strides[0]
    lanes = cores.machine.lanes
    length = -(-max(CHUNK // width, 1) // lanes) * lanes
    block = chunked_job(span, height, length, arguments)
    job = Job(block, slots.scratch_size(0, 1, 0), (image, rows))
    threads = 1 if height * width < TINY else cores.threads
    POOL.run(cores.calls, job, threads, True, height * width < TINY)


@lru_cache(maxsize=32)
def _turning(turn: Turn, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    return native_span(turn_span(turn, machine), machine)


__all__ = ["columns_of", "picked", "put_back", "rows_for"]
