"""CUDA C by CuPy, a thread a pixel, and PyGPU's compute target beside it: the device's own time,
and what a user's loop sees: calls one after the other on images of the device, one wait at the
end."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

import cupy as cp
import numpy as np

from benchmarks.gallery.capture import Run
from benchmarks.gallery.with_c import numbers, text
from benchmarks.gpu_peers import ours as pygpu_peer
from benchmarks.gpu_peers import with_cupy as cuda_peer
from pygpu.devices.opengl import context as opengl

BLOCK: Final = (32, 8)
LEAST: Final = 0.01  # seconds that calls between two waits take together
Timed = tuple[Callable[[], Any], Callable[[], None]]  # a call, and what waits for all of them


def make(run: Run, is_fast: bool) -> tuple[Timed, Callable[[], list[Any]]]:
    """A call of the kernel, what waits for it, and what brings its results to the host. `is_fast`:
    with fast mathematics."""
    kernel = cp.RawKernel(text(run), "kernel", options=("-use_fast_math",) * is_fast)
    images = [cp.asarray(np.ascontiguousarray(image)) for image in run.images]
    outs = [cp.zeros((*run.shape, f.channels), f.dtype) for f in run.outputs]
    given: list[Any] = list(outs)
    for image in images:
        given += [image, np.int32(image.shape[0]), np.int32(image.shape[1])]
    given += [*numbers(run), np.int32(run.shape[0]), np.int32(run.shape[1])]
    height, width = run.shape
    grid = -(-width // BLOCK[0]), -(-height // BLOCK[1])

    def call() -> None:
        kernel(grid, BLOCK, tuple(given))

    wait = cp.cuda.Stream.null.synchronize
    return (call, wait), lambda: [cp.asnumpy(out) for out in outs]


def ours(run: Run) -> Timed:
    """A call whose results stay on the device."""
    dtypes = [f.dtype for f in run.outputs]

    def call() -> Any:
        return run.call(None, dtype=dtypes[0] if len(set(dtypes)) == 1 else None)

    def wait() -> None:
        with opengl.context() as gl:
            gl.gl.finish()

    return call, wait


def device_seconds(timed: dict[str, Timed], rounds: int) -> dict[str, float]:
    """The median of the device's seconds for a call of each, by turns."""
    measure = {"PyGPU": pygpu_peer.seconds, "CUDA C": cuda_peer.seconds}
    times: dict[str, list[float]] = {name: [] for name in timed}
    for _ in range(rounds):
        for name, (call, _) in timed.items():
            times[name] += measure[name]([call])
    return {name: float(np.median(each)) for name, each in times.items()}


def loop_seconds(timed: dict[str, Timed], rounds: int) -> dict[str, float]:
    """The median seconds of a call of each in a user's loop, by turns."""
    times: dict[str, list[float]] = {name: [] for name in timed}
    for index in range(rounds + 1):
        for name, (call, wait) in timed.items():
            call()
            wait()
            once = _paced(call, wait, 1)
            taken = _paced(call, wait, max(1, min(1000, int(LEAST / once))))
            if index:
                times[name].append(taken)
    return {name: float(np.median(each)) for name, each in times.items()}


def _paced(call: Callable[[], Any], wait: Callable[[], None], count: int) -> float:
    began = time.perf_counter()
    for _ in range(count):
        call()
    wait()
    return (time.perf_counter() - began) / count


__all__ = ["device_seconds", "loop_seconds", "make", "ours"]
