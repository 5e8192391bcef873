"""Taichi on CUDA: a loop over all pixels at the outermost, which it runs in parallel."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any, Final

import taichi as ti

from benchmarks.gpu_peers import Case, Job, module, paced, slug
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Stage, python

NAME: Final = "Taichi"
NAMES: Final = {
    "sqrt": "ti.sqrt", "exp": "ti.exp", "floor": "ti.floor", "abs": "abs", "min": "ti.min",
    "max": "ti.max", "select": "ti.select", "int": "int", "float": "float",
}  # fmt: skip
TYPES: Final = {"float32": ti.f32, "uint8": ti.u8}
HEAD: Final = """\
import taichi as ti

@ti.func
def byte(value):
    return ti.cast(ti.min(ti.max(value, 0.0), 1.0) * 255.0 + 0.5, ti.u8)
"""


def version() -> str:
    # PYGPU_BENCH_TAICHI=cpu tries the programs where there is no GPU
    arch = getattr(ti, os.environ.get("PYGPU_BENCH_TAICHI", "cuda"))
    ti.init(arch=arch, log_level=ti.ERROR, enable_fallback=False, offline_cache=True)
    return ".".join(map(str, ti.__version__))


def make(case: Case) -> Job | None:
    if case.kernel == "mandelbrot":
        out = ti.ndarray(ti.i32, case.size)
        kernel = module("taichi_mandelbrot", MANDELBROT).kernel
        return _job([(kernel, (out, *map(float, view(case.size))))], out)
    source = ti.ndarray(TYPES[str(case.dtype)], case.image.shape)
    source.from_numpy(case.image)
    if case.kernel == "sum":
        return _sum(case, source)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    calls, reads_bytes = [], case.is_bytes
    for index, stage in enumerate(stages):
        writes_bytes = case.is_bytes and index == len(stages) - 1
        target = ti.ndarray(ti.u8 if writes_bytes else ti.f32, case.image.shape)
        kernel = module(
            f"taichi_{slug(case)}_{index}", _text(stage, reads_bytes, writes_bytes)
        ).kernel
        calls.append((kernel, (source, target, case.size[1], case.size[0])))
        source, reads_bytes = target, False
    return _job(calls, source)


def _job(calls: list[Any], out: Any) -> Job:
    def run() -> None:
        for kernel, arguments in calls:
            kernel(*arguments)

    def result() -> Any:
        run()
        return out.to_numpy()

    return Job(run, result)


def _sum(case: Case, source: Any) -> Job:
    out = ti.ndarray(ti.f32, (1,))
    made = module(f"taichi_{slug(case)}", SUM.replace("TYPE", "u8" if case.is_bytes else "f32"))
    scale = 255 if case.is_bytes else 1

    def result() -> float:
        made.kernel(source, out)
        return float(out.to_numpy()[0]) / scale

    return Job(lambda: made.kernel(source, out), result)


def _text(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> str:
    axes = 3 if len(stage.results) == 4 else 2

    def texel(x: str, y: str, channel: int) -> str:
        row = "y" if y == "y" else f"ti.min(ti.max({y}, 0), height - 1)"
        column = "x" if x == "x" else f"ti.min(ti.max({x}, 0), width - 1)"
        load = f"im[{row}, {column}{f', {channel}' if axes == 3 else ''}]"
        return f"ti.cast({load}, ti.f32) * {1 / 255!r}" if reads_bytes else load

    body = python(stage, texel, NAMES)
    for channel, name in enumerate(stage.results):
        where = f"y, x, {channel}" if axes == 3 else "y, x"
        body.append(f"out[{where}] = {f'byte({name})' if writes_bytes else name}")
    read, written = ("ti.u8" if is_bytes else "ti.f32" for is_bytes in (reads_bytes, writes_bytes))
    return "\n".join(
        [
            HEAD,
            "@ti.kernel",
            f"def kernel(im: ti.types.ndarray(dtype={read}, ndim={axes}),",
            f"           out: ti.types.ndarray(dtype={written}, ndim={axes}),",
            "           width: ti.i32, height: ti.i32):",
            "    for y, x in ti.ndrange(height, width):",
            *[f"        {line}" for line in body],
            "",
        ]
    )


MANDELBROT: Final = f"""{HEAD}
@ti.kernel
def kernel(out: ti.types.ndarray(dtype=ti.i32, ndim=2), left: ti.f32, top: ti.f32, step: ti.f32):
    for y, x in out:
        cx, cy = left + step * float(x), top + step * float(y)
        u, v, n = 0.0, 0.0, 0
        while n < {ROUNDS} and u * u + v * v <= 4.0:
            u, v = u * u - v * v + cx, 2.0 * u * v + cy
            n += 1
        out[y, x] = n
"""
SUM: Final = """\
import taichi as ti

@ti.kernel
def kernel(im: ti.types.ndarray(dtype=ti.TYPE, ndim=2),
           out: ti.types.ndarray(dtype=ti.f32, ndim=1)):
    total = 0.0
    for y, x in im:
        total += ti.cast(im[y, x], ti.f32)
    out[0] = total
"""


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By the clock."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Callable[[], Any], count: int) -> float:
    ti.sync()
    started = time.perf_counter()
    for _ in range(count):
        run()
    ti.sync()
    return time.perf_counter() - started
