"""Connected regions numbered on all cores (codegen/elements/regions.py).

labels, count = numbered(image, background=0, diagonal=True)
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import regions as code
from pygpu.codegen.elements.regions import Numbering, Step, region_span
from pygpu.devices.cpu.chunks import Chunks, cores, run_chunks
from pygpu.devices.cpu.native import native_of
from pygpu.devices.process.reserve import RESERVE

SMALL: Final = 1 << 15  # pixels, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
_KINDS: Final = {1: "byte", 2: "short", 4: "uint"}  # of whole numbers, by their bytes


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
    given = {
        code.SOURCE: image,
        code.LABELS: labels,
        code.STARTS: starts,
        code.PARENTS: parents,
        code.FIRSTS: firsts,
        code.ENDS: ends,
        code.COUNT: count,
        code.WIDTH: width,
        code.LENGTH: length,
        code.ROWS: height,
        code.EXCEPT: None if outside is None else int(outside.view(f"u{outside.itemsize}")),
    }

    def run(step: Step, count: int, length: int, threads: int) -> None:
        numbering = Numbering(step, kind, outside is not None, diagonal)
        chunks = Chunks(native_of(region_span, numbering, on.machine), count, length)
        run_chunks(on, threads, chunks, given, threads == 1)

    run("scan", height, length, threads)
    run("number", 1, 1, 1)
    run("fill", height, length, threads)
    return labels, int(count[0])


def _stored(background: Any, dtype: np.dtype[Any]) -> Any:
    """The background as an element; None where no element can be equal to it."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(background).astype(dtype)
    return found if found == background else None
