"""Connected regions numbered on all cores (codegen/elements/regions.py).

labels, count = numbered(image, background=0, diagonal=True)
edges = holding(weak, strong, diagonal=True)         # regions of weak pixels with a strong one
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.codegen.elements import regions as code
from pygpu.codegen.elements.regions import Numbering, Step, region_span
from pygpu.devices.cpu.chunks import Chunks, cores, run_steps
from pygpu.devices.cpu.native import native_of
from pygpu.devices.process.reserve import RESERVE

SMALL: Final = 1 << 15  # pixels, below which a second thread is not worth its call
SHARES: Final = 4  # chunks for each thread: none waits long for another
KINDS: Final = {1: "byte", 2: "short", 4: "uint"}  # of whole numbers, by their bytes


def numbered(image: NDArray[Any], background: Any, diagonal: bool) -> tuple[NDArray[np.int32], int]:
    """For each pixel (H, W) the number of its region of equal values, from 1 in the order of their
    first pixels, 0 for the background; and how many regions there are."""
    count = np.zeros(1, int)
    steps: tuple[Step, Step, Step] = ("scan", "number", "fill")
    given = {code.COUNT: count}
    labels = _run(steps, image, _stored(background, image.dtype), diagonal, np.int32, given)
    return labels, int(count[0])


def holding(mask: NDArray[Any], seeds: NDArray[Any], diagonal: bool) -> NDArray[np.bool_]:
    """For each pixel (H, W) whether it is in a region of true pixels that holds a seed: a true
    pixel of the other image. Both are of bools."""
    steps: tuple[Step, Step, Step] = ("find", "gather", "mark")
    given: dict[int, Any] = {code.SEEDS: np.ascontiguousarray(seeds)}
    return _run(steps, mask, np.zeros((), bool), diagonal, np.bool_, given)


def _run(
    steps: tuple[Step, Step, Step],
    image: NDArray[Any],
    outside: Any,
    diagonal: bool,
    dtype: Any,
    more: dict[int, Any],
) -> NDArray[Any]:
    """What the last step writes, after one over rows and one over all that is found there."""
    height, width = image.shape
    is_float = image.dtype.kind == "f"
    image = np.ascontiguousarray(image, np.float32 if is_float else None)
    kind = "float" if is_float else KINDS[image.itemsize]
    on, is_small, has = cores(), height * width < SMALL, outside is not None
    threads = 1 if is_small else on.threads
    length = -(-height // (1 if is_small else SHARES * threads))
    runs, whole = (-(-height // length) * (length * (width + 1) + code.GAP),), np.dtype(np.int32)
    if runs[0] >= 2**31:
        raise ValueError(f"regions are numbered in fewer than 2**31 pixels, got {image.shape}")
    result = RESERVE.empty((height, width), np.dtype(dtype))
    given = more | {
        code.SOURCE: image,
        code.LABELS: result,
        code.STARTS: RESERVE.empty(runs, whole),
        code.PARTS: RESERVE.empty(runs, whole),
        code.PARENTS: RESERVE.empty(runs, whole),
        code.FIRSTS: np.empty(height, np.int32),
        code.ENDS: np.empty(height, np.int32),
        code.WIDTH: width,
        code.LENGTH: length,
        code.ROWS: height,
        code.EXCEPT: None if outside is None else int(outside.view(f"u{outside.itemsize}")),
    }
    if code.SEEDS in more:
        given[code.SEEN] = RESERVE.empty(runs, whole)
    on_rows, at_once = (height, length), (1, 1)
    chunks = [
        Chunks(native_of(region_span, Numbering(step, kind, has, diagonal), on.machine), *sizes)
        for step, sizes in zip(steps, (on_rows, at_once, on_rows), strict=True)
    ]
    run_steps(on, [*zip((threads, 1, threads), chunks, strict=True)], given, is_small)
    return result


def _stored(background: Any, dtype: np.dtype[Any]) -> Any:
    """The background as an element; None where no element can be equal to it."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(background).astype(dtype)
    return found if found == background else None
