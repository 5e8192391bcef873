"""PyGPU's compute target, as a user calls it with images that are on the device."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import pygpu
from benchmarks import kernels
from benchmarks.gpu_peers import CYCLES, Case, Job, paced
from benchmarks.kernels import ANGLE, CONV9, GAUSS5, GAUSS15, SHIFT, view
from pygpu.devices import targets
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.reduction import Folded
from pygpu.execution.inspection import profile
from pygpu.passes.blocks import shapes

NAME: Final = "PyGPU"
_WAIT: Final = f"""\
#version 430 core

layout(local_size_x = 1) in;

layout(std430, binding = 0) buffer last_block {{ float last; }};

void main() {{
    float x = last;
    for (int i = 0; i < {CYCLES // 6}; i++)  // which wait for each other
        x = x * 0.999 + 0.5;
    last = x;
}}
"""


def version() -> str:
    return pygpu.__version__


def make(case: Case) -> Job | None:
    shapes.forget()
    return prepare(case, is_tuned=False)


def prepare(case: Case, is_tuned: bool) -> Job | None:
    """The programs that calls run, in the default shapes or in those that tuning finds."""
    if case.kernel == "sum":
        return None if is_tuned else _sum(pygpu.Image(case.image))
    value: Any = pygpu.Image(case.image)
    work, notes = [], []
    for compiled, args in _steps(case):
        images = () if case.kernel == "mandelbrot" else (value,)
        if is_tuned:
            notes.append(str(pygpu.tune(compiled, *images, **args).shape))
        shape = args.pop("shape", None)
        work.append(profile.Job.of(compiled, images, args, shape))
        value = compiled(*images, **args) if images else None

    def run() -> Any:
        storages = work[0].run()
        for later in work[1:]:
            storages = replace(later, inputs=storages).run()
        return storages[0]

    def result() -> Any:
        texels = run().host()
        return texels[..., 0] if texels.shape[2] == 1 else texels

    return Job(run, result, "; ".join(notes))


def _sum(image: Any) -> Job:
    """The program that a user's call runs, as those of the other kernels. Reading its partial
    results and adding them up is left out, as the peers' reading is; what waits for that is not."""
    same = pygpu.compile(lambda im, p: im(p), im=pygpu.Image, p=pygpu.Position, target="compute")
    on_device = same(image, dtype=image.dtype)
    dispatch, given = Folded.dispatch, []
    with patch.object(Folded, "dispatch", lambda *args: given.append(args) or dispatch(*args)):
        on_device.sum()
    folded, _, storages, uniforms = given[0]

    def run() -> None:
        with opengl.context() as gl:
            dispatch(folded, gl, storages, uniforms)
            gl.order.settle()

    return Job(run, on_device.sum)


def _steps(case: Case) -> list[tuple[Any, dict[str, Any]]]:
    """The compiled functions of a kernel, one after the other, and their other arguments."""
    dtype = case.dtype.type
    height, width = case.size

    def compiled(function: Callable[..., Any], last: bool = True, **known: Any) -> Any:
        return pygpu.compile(
            function, target="compute", dtype=dtype if last else np.float32, **known
        )

    match case.kernel:
        case "scale":
            return [(compiled(kernels.scale), {"gain": 1.5, "bias": 0.25})]
        case "sobel":
            return [(compiled(kernels.sobel), {})]
        case "gauss 5x5":
            return [(compiled(kernels.convolve, kernel=GAUSS5), {})]
        case "gauss 15 separable":
            across = compiled(kernels.convolve, last=False, kernel=GAUSS15[None, :])
            return [(across, {}), (compiled(kernels.convolve, kernel=GAUSS15[:, None]), {})]
        case "conv 9x9":
            return [(compiled(kernels.convolve, kernel=CONV9), {})]
        case "bilateral 5x5":
            return [(compiled(kernels.bilateral), {})]
        case "median 3x3":
            return [(compiled(kernels.median), {})]
        case "hsv shift":
            return [(compiled(kernels.hsv), {"shift": SHIFT})]
        case "unsharp":
            return [(compiled(kernels.unsharp), {})]
        case "rotation":
            turn = {"cosine": math.cos(ANGLE), "sine": math.sin(ANGLE)}
            return [(compiled(kernels.rotation), turn)]
    left, top, step = view((height, width))
    where = {"left": left, "top": top, "step": step, "shape": (height, width)}
    return [(pygpu.compile(kernels.mandelbrot, target="compute"), where)]


def seconds(runs: list[Callable[[], Any]]) -> list[float]:
    """By timer queries."""
    with opengl.context() as gl:
        wait, device = gl.program(_WAIT, is_compute=True), targets.open_device("compute")
        nothing = gl.buffer(4)

        def waiting() -> None:
            nothing.glo.bind_to_storage_buffer(0)
            wait.glo.run(1, 1, 1)

        def timed(run: Callable[[], Any], count: int) -> float:
            def several() -> None:
                for _ in range(count):
                    run()
                    gl.drain()  # what it has let go is there for the next one

            return device.seconds([several] if gl.is_software else [waiting, several])[-1]

        return [paced(timed, run) for run in runs]
