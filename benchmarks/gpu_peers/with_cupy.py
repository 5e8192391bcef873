"""CuPy as its documentation has it for images: `cupyx.scipy.ndimage`, array expressions where that
has nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import cupy as cp
import numpy as np
from cupyx.scipy import ndimage

from benchmarks.gpu_peers import CYCLES, Case, Job, paced
from benchmarks.kernels import AMOUNT, ANGLE, CONV9, GAUSS5, GAUSS15, SOBEL

NAME: Final = "CuPy ndimage"


def version() -> str:
    cp.zeros(1)
    return cp.__version__


def make(case: Case) -> Job | None:
    build = _KERNELS.get(case.kernel)
    if build is None:
        return None
    image = cp.asarray(case.image)
    seen = (lambda: image * np.float32(1 / 255)) if case.is_bytes else (lambda: image)
    compute = build()
    if case.kernel == "sum":
        scale = 255 if case.is_bytes else 1
        return Job(image.sum, lambda: float(image.sum()) / scale)

    def run() -> Any:
        result = compute(seen())
        return _stored(result) if case.is_bytes else result

    return Job(run, lambda: cp.asnumpy(run()))


@cp.fuse()
def _stored(values: Any) -> Any:
    return cp.rint(cp.minimum(cp.maximum(values, 0), 1) * 255).astype(cp.uint8)


def _correlated(kernel: Any) -> Callable[[Any], Any]:
    weights = cp.asarray(kernel, cp.float32)
    return lambda im: ndimage.correlate(im, weights, mode="nearest")


def _separable() -> Callable[[Any], Any]:
    weights = cp.asarray(GAUSS15, cp.float32)
    return lambda im: ndimage.correlate1d(
        ndimage.correlate1d(im, weights, axis=1, mode="nearest"), weights, axis=0, mode="nearest"
    )


@cp.fuse()
def _length(gx: Any, gy: Any) -> Any:
    return cp.sqrt(gx * gx + gy * gy)


def _sobel() -> Callable[[Any], Any]:
    across, down = _correlated(SOBEL), _correlated(SOBEL.T)
    return lambda im: _length(across(im), down(im))


def _unsharp() -> Callable[[Any], Any]:
    blurred = _correlated(GAUSS5)
    return lambda im: im + np.float32(AMOUNT) * (im - blurred(im))


def _rotated(im: Any) -> Any:
    c, s = math.cos(ANGLE), math.sin(ANGLE)
    centre = (np.array(im.shape) - 1) / 2
    matrix = np.array([[c, s], [-s, c]])
    return ndimage.affine_transform(
        im, cp.asarray(matrix), centre - matrix @ centre, order=1, mode="nearest"
    )


_KERNELS: Final[dict[str, Callable[[], Any]]] = {
    "scale": lambda: lambda im: np.float32(1.5) * im + np.float32(0.25),
    "sobel": _sobel,
    "gauss 5x5": lambda: _correlated(GAUSS5),
    "gauss 15 separable": _separable,
    "conv 9x9": lambda: _correlated(CONV9),
    "median 3x3": lambda: lambda im: ndimage.median_filter(im, 3, mode="nearest"),
    "unsharp": _unsharp,
    "rotation": lambda: _rotated,
    "sum": lambda: None,
}


_WAIT: Final = cp.RawKernel(
    """
extern "C" __global__ void wait(long long cycles) {
    long long end = clock64() + cycles;
    while (clock64() < end);
}
""",
    "wait",
)


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By CUDA events."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Callable[[], Any], count: int) -> float:
    begin, end = cp.cuda.Event(), cp.cuda.Event()
    _WAIT((1,), (1,), (np.int64(CYCLES),))
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return 1e-3 * float(cp.cuda.get_elapsed_time(begin, end))


def clear() -> None:
    cp.get_default_memory_pool().free_all_blocks()
