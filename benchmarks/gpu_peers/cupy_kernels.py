"""CuPy's own kernels, as its documentation recommends where speed counts: CUDA C, one pixel a
thread, in a RawKernel; an ElementwiseKernel for point operations."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import cupy as cp
import numpy as np

from benchmarks.gpu_peers import Case, Job, by_turns, with_cupy
from benchmarks.kernels import ROUNDS, view
from benchmarks.pixels import STAGES, Stage, c

NAME: Final = "CuPy kernels"
NAMES: Final = {
    "sqrt": "sqrtf", "exp": "expf", "floor": "floorf", "abs": "fabsf", "min": "fminf",
    "max": "fmaxf",
}  # fmt: skip
BLOCK: Final = (32, 8)
seconds = with_cupy.seconds
version = with_cupy.version
clear = with_cupy.clear


def make(case: Case) -> Job | None:
    height, width = case.size
    if case.kernel == "mandelbrot":
        out = cp.empty((height, width), cp.int32)
        left, top, step = map(np.float32, view(case.size))
        kernel = cp.RawKernel(MANDELBROT, "kernel")
        arguments = (out, np.int32(width), np.int32(height), left, top, step)
        return _job(kernel, arguments, case.size, out)
    stages = STAGES.get(case.kernel)
    if stages is None:
        return None
    source: Any = cp.asarray(case.image)
    if case.kernel == "scale":
        return _scale(source, case)
    jobs = []
    for index, stage in enumerate(stages):
        is_last = index == len(stages) - 1
        dtype = case.dtype if is_last else np.dtype(np.float32)
        targets = [cp.empty(case.image.shape, dtype) for _ in range(case.turns if is_last else 1)]
        kernel = cp.RawKernel(text(stage, source.dtype, dtype), "kernel")
        sizes = np.int32(width), np.int32(height)
        jobs.append(
            by_turns([_job(kernel, (source, each, *sizes), case.size, each) for each in targets])
        )
        source = targets[0]

    def run() -> None:
        for job in jobs:
            job.run()

    def result() -> Any:
        for job in jobs[:-1]:
            job.run()
        return jobs[-1].result()

    return Job(run, result)


def _job(kernel: Any, arguments: Any, size: Any, out: Any) -> Job:
    height, width = size
    grid = -(-width // BLOCK[0]), -(-height // BLOCK[1])

    def run() -> None:
        kernel(grid, BLOCK, arguments)

    def result() -> Any:
        run()
        return cp.asnumpy(out)

    return Job(run, result)


def _scale(source: Any, case: Case) -> Job:
    body = "w = 1.5f * v + 0.25f"
    if case.is_bytes:
        body = "w = (unsigned char)rintf(__saturatef(1.5f * v * (1.0f / 255.0f) + 0.25f) * 255.0f)"
    kernel = cp.ElementwiseKernel(f"{case.dtype} v", f"{case.dtype} w", body, "scale")
    jobs = []
    for target in [cp.empty_like(source) for _ in range(case.turns)]:
        run = partial(kernel, source, target)
        jobs.append(Job(run, lambda run=run: cp.asnumpy(run())))
    return by_turns(jobs)


def text(stage: Stage, source: Any, target: Any) -> str:
    """The kernel in CUDA C."""
    types = {"float32": "float", "uint8": "unsigned char"}
    channels = len(stage.results)
    many = "4 * " if channels == 4 else ""

    def texel(x: str, y: str, channel: int) -> str:
        where = f"{many}(clamp({y}, height) * width + clamp({x}, width)) + {channel}"
        loaded = f"im[{where}]"
        return f"({loaded} * (1.0f / 255.0f))" if source == np.uint8 else loaded

    if channels == 4:  # one load of the whole texel

        def texel(x: str, y: str, channel: int) -> str:
            part = f"texel.{'xyzw'[channel]}"
            return f"({part} * (1.0f / 255.0f))" if source == np.uint8 else part

    stored = [
        f"(unsigned char)rintf(__saturatef({name}) * 255.0f)" if target == np.uint8 else name
        for name in stage.results
    ]
    vector = "uchar4" if source == np.uint8 else "float4"
    if channels == 4:
        make_ = f"make_{vector}({', '.join(stored)})"
        store = f"(({vector}*)out)[y * width + x] = {make_};"
        load = f"{vector} texel = ((const {vector}*)im)[y * width + x];"
    else:
        store, load = f"out[y * width + x] = {stored[0]};", ""
    return "\n".join(
        [
            "__device__ int clamp(int i, int n) { return min(max(i, 0), n - 1); }",
            "__device__ float select(bool c, float a, float b) { return c ? a : b; }",
            f'extern "C" __global__ void kernel(const {types[str(source)]}* __restrict__ im,',
            f"    {types[str(target)]}* __restrict__ out, int width, int height) {{",
            "int x = blockIdx.x * blockDim.x + threadIdx.x;",
            "int y = blockIdx.y * blockDim.y + threadIdx.y;",
            "if (x >= width || y >= height) return;",
            load,
            *c(stage, texel, NAMES),
            store,
            "}",
        ]
    )


MANDELBROT: Final = f"""
extern "C" __global__ void kernel(int* out, int width, int height, float left, float top,
                                  float step) {{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float cx = left + step * x, cy = top + step * y, u = 0.0f, v = 0.0f;
    int n = 0;
    while (n < {ROUNDS} && u * u + v * v <= 4.0f) {{
        float next = u * u - v * v + cx;
        v = 2.0f * u * v + cy;
        u = next;
        n++;
    }}
    out[y * width + x] = n;
}}
"""
