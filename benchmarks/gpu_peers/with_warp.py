"""NVIDIA Warp: one pixel a thread."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import warp as wp

from benchmarks.gpu_peers import CYCLES, Case, Job, last_by_turns, module, paced, slug
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Stage, python

NAME: Final = "Warp"
# PYGPU_BENCH_WARP=cpu tries the programs where there is no GPU
DEVICE: Final = os.environ.get("PYGPU_BENCH_WARP", "cuda:0")
NAMES: Final = {
    "sqrt": "wp.sqrt", "exp": "wp.exp", "floor": "wp.floor", "abs": "wp.abs", "min": "wp.min",
    "max": "wp.max", "select": "choose", "int": "int", "float": "float",
}  # fmt: skip
HEAD: Final = """\
import warp as wp

@wp.func
def choose(condition: bool, a: float, b: float):
    return wp.where(condition, a, b)

@wp.func
def byte(value: float):
    return wp.uint8(wp.clamp(value, 0.0, 1.0) * 255.0 + 0.5)
"""


def version() -> str:
    wp.config.quiet = True
    wp.init()
    wp.get_device(DEVICE)
    return wp.__version__


def make(case: Case) -> Job | None:
    height, width = case.size
    if case.kernel == "mandelbrot":
        out = wp.empty((height, width), dtype=wp.int32, device=DEVICE)
        kernel = module("warp_mandelbrot", MANDELBROT).kernel
        return _job([(kernel, [*map(float, view(case.size)), out])], case.size, out)
    if case.kernel == "sum":
        return _sum(case)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    is_wide = case.image.ndim == 3
    floats, small = (wp.vec4f, wp.vec4ub) if is_wide else (wp.float32, wp.uint8)
    source = wp.array(case.image, dtype=small if case.is_bytes else floats, device=DEVICE)
    calls = []
    for index, stage in enumerate(stages):
        writes_bytes = case.is_bytes and index == len(stages) - 1
        count = case.turns if index == len(stages) - 1 else 1
        targets = [
            wp.empty(case.size, dtype=small if writes_bytes else floats, device=DEVICE)
            for _ in range(count)
        ]
        text = _text(stage, source.dtype is small, writes_bytes)
        kernel = module(f"warp_{slug(case)}_{index}", text).kernel
        calls.append((kernel, (source, targets[0], width, height)))
        source = targets[0]
    return last_by_turns(_job, calls, case, targets)


def _job(calls: list[Any], size: Any, out: Any) -> Job:
    def run() -> None:
        for kernel, arguments in calls:
            wp.launch(kernel, dim=size, inputs=arguments, device=DEVICE)

    def result() -> Any:
        run()
        return out.numpy()

    return Job(run, result)


def _sum(case: Case) -> Job | None:
    if case.is_bytes:
        return None  # its own sum takes floats
    flat = wp.array(case.image, dtype=wp.float32, device=DEVICE).flatten()
    out = wp.empty(1, dtype=wp.float32, device=DEVICE)

    def result() -> float:
        wp.utils.array_sum(flat, out=out)
        return float(out.numpy()[0])

    return Job(lambda: wp.utils.array_sum(flat, out=out), result)


def _text(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> str:
    is_wide = len(stage.results) == 4

    def texel(x: str, y: str, channel: int) -> str:
        row = "y" if y == "y" else f"wp.clamp({y}, 0, height - 1)"
        column = "x" if x == "x" else f"wp.clamp({x}, 0, width - 1)"
        load = f"im[{row}, {column}]" + (f"[{channel}]" if is_wide else "")
        return f"float({load}) * {1 / 255!r}" if reads_bytes else load

    body = python(stage, texel, NAMES)
    results = ", ".join(f"byte({name})" if writes_bytes else name for name in stage.results)
    floats, small = ("wp.vec4f", "wp.vec4ub") if is_wide else ("wp.float32", "wp.uint8")
    read, written = (small if is_bytes else floats for is_bytes in (reads_bytes, writes_bytes))
    body.append(f"out[y, x] = {f'{written}({results})' if is_wide else results}")
    return "\n".join(
        [
            HEAD,
            "@wp.kernel(enable_backward=False)",
            f"def kernel(im: wp.array2d(dtype={read}), out: wp.array2d(dtype={written}),",
            "           width: int, height: int):",
            "    y, x = wp.tid()",
            *[f"    {line}" for line in body],
            "",
        ]
    )


MANDELBROT: Final = f"""{HEAD}
@wp.kernel(enable_backward=False)
def kernel(left: float, top: float, step: float, out: wp.array2d(dtype=wp.int32)):
    y, x = wp.tid()
    cx = left + step * float(x)
    cy = top + step * float(y)
    u = float(0.0)
    v = float(0.0)
    n = int(0)
    while n < {ROUNDS} and u * u + v * v <= 4.0:
        following = u * u - v * v + cx
        v = 2.0 * u * v + cy
        u = following
        n += 1
    out[y, x] = n
"""


WAIT: Final = f"""{HEAD}
from functools import cache

@cache
def nothing(device):
    return wp.zeros(1, dtype=float, device=device)

@wp.kernel(enable_backward=False)
def kernel(last: wp.array(dtype=float)):
    x = last[0]
    for i in range({CYCLES // 6}):  # which wait for each other
        x = x * 0.999 + 0.5
    last[0] = x
"""


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By CUDA events."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Callable[[], Any], count: int) -> float:
    begin, end = (wp.Event(DEVICE, enable_timing=True) for _ in range(2))
    wait = module("warp_wait", WAIT)
    wp.launch(wait.kernel, dim=1, inputs=[wait.nothing(DEVICE)], device=DEVICE)
    wp.record_event(begin)
    for _ in range(count):
        run()
    wp.record_event(end)
    return 1e-3 * float(wp.get_event_elapsed_time(begin, end))
