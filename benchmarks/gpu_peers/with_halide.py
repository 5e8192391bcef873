"""Halide on CUDA: the fastest of several schedules by hand."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from importlib.metadata import version as package_version
from typing import Any, Final

import halide as hl
import numpy as np

from benchmarks.gpu_peers import Case, Job, best, paced
from benchmarks.pixels import STAGES, Stage, evaluate

NAME: Final = "Halide"
# Pixels a thread along x (as one vector) and y, threads of a block along x and y.
SCHEDULES: Final = ((1, 1, 32, 8), (4, 1, 32, 4), (4, 2, 32, 4), (4, 4, 32, 4), (4, 4, 64, 1))


def version() -> str:
    _target()
    return package_version("halide")


def _target() -> Any:
    # PYGPU_BENCH_HALIDE=host tries the algorithms where there is no GPU
    name = os.environ.get("PYGPU_BENCH_HALIDE", "host-cuda-cuda_capability_80")
    return hl.Target(name)


def make(case: Case) -> Job | None:
    if case.kernel not in STAGES:
        return None  # it has no loop that ends by what it computes; sums are no image
    candidates = {}
    error: Exception | None = None
    for schedule in SCHEDULES:
        try:
            candidates[str(schedule)] = _job(case, schedule)
        except hl.HalideError as refused:
            error = refused
    if not candidates:
        raise error or RuntimeError("no schedule")
    return best(candidates, seconds)


def _job(case: Case, schedule: tuple[int, int, int, int]) -> Job:
    x, y, channel = hl.Var("x"), hl.Var("y"), hl.Var("c")
    target, is_colour = _target(), case.image.ndim == 3
    stored = hl.UInt(8) if case.is_bytes else hl.Float(32)
    source = hl.ImageParam(stored, case.image.ndim)
    result = _pipeline(case, source, x, y, channel, schedule, target)
    out = np.empty(case.image.shape, case.dtype)
    if is_colour:
        for buffer in (source, result.output_buffer()):
            buffer.dim(0).set_stride(4)
            buffer.dim(2).set_stride(1).set_bounds(0, 4)
    _scheduled(result, x, y, channel if is_colour else None, schedule, target)
    result.compile_jit(target)
    given, made = _buffer(case.image), _buffer(out)
    source.set(given)
    on_gpu = target.has_gpu_feature()

    def run() -> None:
        result.realize(made)

    def read() -> Any:
        run()
        if on_gpu:
            made.copy_to_host()
        return out

    run.wait = made.device_sync if on_gpu else lambda: None  # type: ignore[attr-defined]
    return Job(run, read)


def _buffer(array: Any) -> Any:
    """Halide's view of an image, its axes in the reverse of NumPy's order: x, y, the channel."""
    buffer = hl.Buffer(array.transpose(2, 0, 1) if array.ndim == 3 else array)
    buffer.set_host_dirty()
    return buffer


def _scheduled(func: Any, x: Any, y: Any, channel: Any, schedule: Any, target: Any) -> None:
    columns, rows, across, down = schedule
    if not target.has_gpu_feature():
        return
    names = [hl.Var(name) for name in ("xi", "yi", "xb", "yb", "xt", "yt")]
    xi, yi, xb, yb, xt, yt = names
    func.bound(channel, 0, 4).reorder(channel, x, y).unroll(channel) if channel else None
    func.split(x, x, xi, columns, hl.TailStrategy.RoundUp)
    func.split(y, y, yi, rows, hl.TailStrategy.RoundUp)
    func.split(x, xb, xt, across, hl.TailStrategy.GuardWithIf)
    func.split(y, yb, yt, down, hl.TailStrategy.GuardWithIf)
    func.reorder(*([channel] if channel else []), xi, yi, xt, yt, xb, yb)
    if columns > 1 and channel is None:
        func.vectorize(xi)
    else:
        func.unroll(xi)
    func.unroll(yi).gpu_threads(xt, yt).gpu_blocks(xb, yb)


def _pipeline(
    case: Case, source: Any, x: Any, y: Any, channel: Any, schedule: Any, target: Any
) -> Any:
    stages = STAGES[case.kernel]
    height, width = case.size
    image: Any = source
    for index, stage in enumerate(stages):
        reads_bytes = case.is_bytes and index == 0
        writes_bytes = case.is_bytes and index == len(stages) - 1
        bounds = [(0, width), (0, height)] + ([(0, 4)] if case.image.ndim == 3 else [])
        clamped = hl.BoundaryConditions.repeat_edge(image, bounds)
        results = _results(stage, clamped, reads_bytes, case, x, y)
        if writes_bytes:
            results = [
                hl.u8(hl.clamp(v, hl.f32(0), hl.f32(1)) * hl.f32(255) + hl.f32(0.5))
                for v in results
            ]
        func = hl.Func(f"stage{index}")
        if len(results) == 4:
            func[x, y, channel] = hl.mux(channel, results)
        else:
            func[x, y] = results[0]
        if index < len(stages) - 1:
            func.compute_root()
            _scheduled(func, x, y, None, schedule, target)
        image = func
    return image


def _results(stage: Stage, im: Any, is_bytes: bool, case: Case, x: Any, y: Any) -> list[Any]:
    has_channels = len(stage.results) == 4

    def seen(value: Any) -> Any:
        return hl.f32(value) * hl.f32(1 / 255) if is_bytes else value

    def texel(dx: int, dy: int, channel: int) -> Any:
        place = (x + dx, y + dy, channel) if has_channels else (x + dx, y + dy)
        return seen(im[place])

    height, width = case.size
    scope = {
        "x": x, "y": y, "width": hl.i32(width), "height": hl.i32(height), "F": hl.f32,
        "sqrt": hl.sqrt, "exp": hl.exp, "floor": hl.floor, "abs": hl.abs, "minimum": hl.min,
        "maximum": hl.max, "select": hl.select, "to_int": hl.i32, "to_float": hl.f32,
        "fetch": lambda i, j: seen(
            im[hl.clamp(i, 0, width - 1), hl.clamp(j, 0, height - 1)]
        ),
    }  # fmt: skip
    return evaluate(stage, texel, scope)


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By the clock."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Any, count: int) -> float:
    run.wait()
    started = time.perf_counter()
    for _ in range(count):
        run()
    run.wait()
    return time.perf_counter() - started
