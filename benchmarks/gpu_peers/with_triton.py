"""Triton: blocks of pixels with clamped loads, the block by its own autotuner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import torch
import triton

from benchmarks.gpu_peers import CYCLES, Case, Job, last_by_turns, module, paced, slug
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Stage, python

NAME: Final = "Triton"
NAMES: Final = {
    "sqrt": "tl.sqrt", "exp": "tl.exp", "floor": "tl.floor", "abs": "tl.abs", "min": "tl.minimum",
    "max": "tl.maximum", "select": "tl.where", "int": "whole", "float": "real",
}  # fmt: skip
HEAD: Final = """\
import triton
import triton.language as tl

@triton.jit
def whole(value):
    return value.to(tl.int32)

@triton.jit
def real(value):
    return value.to(tl.float32)

@triton.jit
def byte(value):
    return tl.floor(tl.minimum(tl.maximum(value, 0.0), 1.0) * 255.0 + 0.5).to(tl.uint8)

CONFIGS = [triton.Config({"ROWS": rows, "COLUMNS": columns}, num_warps=warps)
           for rows, columns, warps in ((1, 256, 4), (1, 512, 4), (4, 64, 4), (8, 128, 4))]
"""
PLACES: Final = """\
    x = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    y = tl.program_id(1) * ROWS + tl.arange(0, ROWS)[:, None]
    inside = (x < width) & (y < height)
    at = y * width + x
"""


def version() -> str:
    torch.zeros(1, device="cuda")
    return triton.__version__


def make(case: Case) -> Job | None:
    height, width = case.size
    if case.kernel == "mandelbrot":
        out = torch.empty((height, width), dtype=torch.int32, device="cuda")
        kernel = module("triton_mandelbrot", MANDELBROT).kernel
        return _job([(kernel, (out, width, height, *view(case.size)))], case.size, out)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    source = torch.from_numpy(case.image).cuda()
    calls = []
    for index, stage in enumerate(stages):
        writes_bytes = case.is_bytes and index == len(stages) - 1
        dtype = torch.uint8 if writes_bytes else torch.float32
        count = case.turns if index == len(stages) - 1 else 1
        targets = [torch.empty(case.image.shape, dtype=dtype, device="cuda") for _ in range(count)]
        text = _text(stage, source.dtype == torch.uint8, writes_bytes)
        kernel = module(f"triton_{slug(case)}_{index}", text).kernel
        calls.append((kernel, (source, targets[0], width, height)))
        source = targets[0]
    return last_by_turns(_job, calls, case, targets)


def _job(calls: list[Any], size: Any, out: Any) -> Job:
    height, width = size

    def grid(chosen: Any) -> tuple[int, int]:
        return triton.cdiv(width, chosen["COLUMNS"]), triton.cdiv(height, chosen["ROWS"])

    def run() -> None:
        for kernel, arguments in calls:
            kernel[grid](*arguments)

    def result() -> Any:
        run()
        return out.cpu().numpy()

    return Job(run, result)


def _text(stage: Stage, reads_bytes: bool, writes_bytes: bool) -> str:
    channels = len(stage.results)
    many = "4 * " if channels == 4 else ""

    def texel(x: str, y: str, channel: int) -> str:
        row = "y" if y == "y" else f"tl.minimum(tl.maximum({y}, 0), height - 1)"
        column = "x" if x == "x" else f"tl.minimum(tl.maximum({x}, 0), width - 1)"
        mask = ", inside, 0" if (row, column) == ("y", "x") else ", inside"
        load = f"tl.load(im + {many}({row} * width + {column}) + {channel}{mask})"
        return f"real({load}) * (1.0 / 255.0)" if reads_bytes else load

    body = python(stage, texel, NAMES)
    for channel, name in enumerate(stage.results):
        value = f"byte({name})" if writes_bytes else name
        body.append(f"tl.store(out + {many}at + {channel}, {value}, inside)")
    return "\n".join(
        [
            HEAD,
            "@triton.autotune(CONFIGS, ['width', 'height'])",
            "@triton.jit",
            "def kernel(im, out, width, height, ROWS: tl.constexpr, COLUMNS: tl.constexpr):",
            PLACES,
            *[f"    {line}" for line in body],
            "",
        ]
    )


MANDELBROT: Final = f"""{HEAD}
@triton.autotune(CONFIGS, ["width", "height"])
@triton.jit
def kernel(out, width, height, left, top, step, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
{PLACES}
    cx, cy = left + step * real(x), top + step * real(y)
    cx, cy = tl.broadcast(cx, cy)
    u, v, n = cx * 0.0, cy * 0.0, (cx * 0.0).to(tl.int32)
    live = (n == 0) & inside
    count = 0
    while (count < {ROUNDS}) & (tl.max(live.to(tl.int32)) > 0):
        n += live.to(tl.int32)
        u, v = tl.where(live, u * u - v * v + cx, u), tl.where(live, 2.0 * u * v + cy, v)
        live = live & (u * u + v * v <= 4.0)
        count += 1
    tl.store(out + at, n, inside)
"""


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By CUDA events."""
    return [paced(_timed, run) for run in runs]


def _timed(run: Callable[[], Any], count: int) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(CYCLES)
    begin.record()
    for _ in range(count):
        run()
    end.record()
    end.synchronize()
    return 1e-3 * float(begin.elapsed_time(end))


def clear() -> None:
    torch.cuda.empty_cache()
