"""Numba on CUDA: one pixel a thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np

if not hasattr(np, "row_stack"):  # NumPy 2.5 has dropped the name that numba-cuda 0.30 asks it for
    np.row_stack = np.vstack
from numba import cuda

from benchmarks.gpu_peers import AHEAD, Case, Job, last_by_turns, module, paced, slug
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Stage, python

NAME: Final = "Numba"
BLOCK: Final = (32, 8)
NAMES: Final = {
    "sqrt": "math.sqrt", "exp": "math.exp", "abs": "abs", "min": "min", "max": "max",
    "floor": "floor", "int": "i32", "float": "f32", "select": "choose",
}  # fmt: skip
HEAD: Final = """\
import math
import numpy as np
from numba import cuda

f32, i32, u8 = np.float32, np.int32, np.uint8

@cuda.jit(device=True, inline="always")
def choose(condition, a, b):
    return a if condition else b

@cuda.jit(device=True, inline="always")
def floor(value):
    return f32(math.floor(value))

@cuda.jit(device=True, inline="always")
def byte(value):
    return u8(min(max(value, f32(0.0)), f32(1.0)) * f32(255.0) + f32(0.5))
"""


def version() -> str:
    cuda.to_device(np.zeros(1))
    return numba.__version__


def make(case: Case) -> Job | None:
    height, width = case.size
    if case.kernel == "mandelbrot":
        out = cuda.device_array((height, width), np.int32)
        kernel = module("numba_mandelbrot", MANDELBROT).kernel
        return _job([(kernel, (out, *map(np.float32, view(case.size))))], case.size, out)
    if case.kernel == "sum":
        return _sum(case)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    source, calls = cuda.to_device(case.image), []
    for index, stage in enumerate(stages):
        writes_bytes = case.is_bytes and index == len(stages) - 1
        count = case.turns if index == len(stages) - 1 else 1
        targets = [
            cuda.device_array(case.image.shape, np.uint8 if writes_bytes else np.float32)
            for _ in range(count)
        ]
        text = _text(stage, source.dtype == np.uint8, writes_bytes)
        kernel = module(f"numba_{slug(case)}_{index}", text).kernel
        calls.append((kernel, (source, targets[0], np.int32(width), np.int32(height))))
        source = targets[0]
    return last_by_turns(_job, calls, case, targets)


def _job(calls: list[Any], size: Any, out: Any) -> Job:
    height, width = size
    grid = -(-width // BLOCK[0]), -(-height // BLOCK[1])

    def run() -> None:
        for kernel, arguments in calls:
            kernel[grid, BLOCK](*arguments)

    def result() -> Any:
        run()
        return out.copy_to_host()

    return Job(run, result)


def _sum(case: Case) -> Job:
    """By Numba's own reduction."""
    fold = cuda.reduce(lambda a, b: a + b)
    flat = cuda.to_device(case.image).ravel()
    if case.is_bytes:
        return None  # it would add bytes in a byte
    out = cuda.device_array(1, np.float32)

    def result() -> float:
        fold(flat, res=out)
        return float(out.copy_to_host()[0])

    return Job(lambda: fold(flat, res=out), result)


def _text(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> str:
    channels = len(stage.results)

    def texel(x: str, y: str, channel: int) -> str:
        row = "y" if y == "y" else f"min(max({y}, 0), height - 1)"
        column = "x" if x == "x" else f"min(max({x}, 0), width - 1)"
        load = f"im[{row}, {column}{f', {channel}' if channels == 4 else ''}]"
        return f"f32({load}) * f32({1 / 255!r})" if reads_bytes else load

    body = python(stage, texel, NAMES, lambda number: f"f32({number})")
    for channel, name in enumerate(stage.results):
        where = f"y, x, {channel}" if channels == 4 else "y, x"
        body.append(f"out[{where}] = {f'byte({name})' if writes_bytes else name}")
    return "\n".join(
        [
            HEAD,
            "@cuda.jit",
            "def kernel(im, out, width, height):",
            "    x, y = cuda.grid(2)",
            "    if x >= width or y >= height:",
            "        return",
            *[f"    {line}" for line in body],
            "",
        ]
    )


MANDELBROT: Final = f"""{HEAD}
@cuda.jit
def kernel(out, left, top, step):
    x, y = cuda.grid(2)
    if x >= out.shape[1] or y >= out.shape[0]:
        return
    cx, cy = left + step * f32(x), top + step * f32(y)
    u, v, n = f32(0.0), f32(0.0), i32(0)
    while n < {ROUNDS} and u * u + v * v <= f32(4.0):
        u, v = u * u - v * v + cx, f32(2.0) * u * v + cy
        n += i32(1)
    out[y, x] = n
"""


@cuda.jit
def _wait(microseconds: int) -> None:
    for _ in range(microseconds):
        cuda.nanosleep(1000)


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By CUDA events."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Callable[[], Any], count: int) -> float:
    begin, end = cuda.event(), cuda.event()
    _wait[1, 1](int(1e6 * AHEAD))
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return 1e-3 * float(begin.elapsed_time(end))


def clear() -> None:
    cuda.current_context().deallocations.clear()
