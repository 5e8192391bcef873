"""Connected regions numbered on all cores (codegen/elements/regions.py).

labels, count = numbered(image, background=0, diagonal=True)
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import regions as code
from pygpu.codegen.elements.regions import Numbering, Step, region_span
from pygpu.codegen.llvm.text import Machine
from pygpu.devices.cpu.chunks import Chunks, Cores, address, cores, run_chunks
from pygpu.devices.cpu.native import Native, native_span
from pygpu.devices.process.reserve import RESERVE

SMALL: Final = 1 << 15  # pixels, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
_KINDS: Final = {1: "byte", 2: "short", 4: "uint"}  # of whole numbers, by their bytes


@lru_cache(maxsize=32)
def _native(numbering: Numbering, machine: Machine) -> tuple[Native, int]:
    """The code, which must stay, and the address of its function."""
    return native_span(region_span(numbering, machine), machine)


def numbered(image: NDArray[Any], background: Any, diagonal: bool) -> tuple[NDArray[np.int32], int]:
    """For each pixel (H, W) the number of its region of equal values, from 1 in the order of their
    first pixels, 0 for the background; and how many regions there are."""
    height, width = image.shape
    if height * (width + 1) >= 2**31:
        raise ValueError(f"regions are numbered in fewer than 2**31 pixels, got {image.shape}")
    is_float = image.dtype.kind == "f"
    image = np.ascontiguousarray(image, np.float32 if is_float else None)
    kind = "float" if is_float else _KINDS[image.itemsize]
    outside = _stored(background, image.dtype)
    on, is_small = cores(), height * width < SMALL
    threads = 1 if is_small else on.threads
    length = -(-height // (1 if is_small else SHARES * threads))
    runs = (height * (width + 1),)
    labels = RESERVE.empty((height, width), np.dtype(np.int32))
    starts, parents = (RESERVE.empty(runs, np.dtype(np.int32)) for _ in range(2))
    firsts, ends, count = np.empty(height, np.int32), np.empty(height, np.int32), np.zeros(1, int)
    arrays = {
        code.SOURCE: image,
        code.LABELS: labels,
        code.STARTS: starts,
        code.PARENTS: parents,
        code.FIRSTS: firsts,
        code.ENDS: ends,
        code.COUNT: count,
    }
    arguments = [0] * code.SLOTS
    for slot, array in arrays.items():
        arguments[slot] = address(array)
    arguments[code.WIDTH], arguments[code.LENGTH], arguments[code.ROWS] = width, length, height
    if outside is not None:
        arguments[code.EXCEPT] = int(outside.view(f"u{outside.itemsize}"))
    job = _Steps(kind, outside is not None, diagonal, arguments, list(arrays.values()), on)
    job.run("scan", height, length, threads)
    job.run("number", 1, 1, 1)
    job.run("fill", height, length, threads)
    return labels, int(count[0])


def _stored(background: Any, dtype: np.dtype[Any]) -> Any:
    """The background as an element; None where no element can be equal to it."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(background).astype(dtype)
    return found if found == background else None


class _Steps:
    """The kernels of one numbering."""

    def __init__(
        self,
        kind: str,
        background: bool,
        diagonal: bool,
        arguments: list[int],
        memory: list[NDArray[Any]],
        on: Cores,
    ) -> None:
        self.kind, self.background, self.diagonal = kind, background, diagonal
        self.arguments, self.memory, self.cores = arguments, memory, on

    def run(self, step: Step, count: int, length: int, threads: int) -> None:
        numbering = Numbering(step, self.kind, self.background, self.diagonal)
        _, span = _native(numbering, self.cores.machine)
        chunks, is_tiny = Chunks(span, count, length), threads == 1
        run_chunks(self.cores, threads, chunks, self.arguments, self.memory, is_tiny)
