"""How much faster point and 3 x 3 functions are from uint8 to uint8 than on float32, on a GPU.

python -m benchmarks.bytes [--size 8192] [--rounds 7] [--kernels scale,median]

Device time by timer queries, as in benchmarks/gpu.py; both images have the same texels.
"""

from __future__ import annotations

import argparse
import gc
import os
from collections.abc import Callable
from statistics import median
from typing import Any, Final

import numpy as np

import pygpu
from benchmarks import kernels
from benchmarks.gpu_peers import ours
from pygpu import Image, Position
from pygpu.execution.inspection.profile import Job

AROUND: Final = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
RANDOM: Final = np.random.default_rng(3).random((3, 3))


def weighed(weights: Any) -> Callable[..., Any]:
    """The sum of texels by weights (3, 3)."""
    kernel = np.asarray(weights, float)
    return lambda im, p: kernels.convolve(kernel, im, p)


def length(weights: Any) -> Callable[..., Any]:
    """The length of the gradient by weights along x, and transposed along y."""
    across, down = weighed(weights), weighed(np.asarray(weights).T)

    def function(im: Image, p: Position) -> Any:
        return np.sqrt(across(im, p) ** 2 + down(im, p) ** 2)

    return function


def extremes(im: Any, p: Any) -> tuple[Any, Any]:
    texels = [im(p + d) for d in AROUND]
    return min(texels), max(texels)


POINTS: Final[dict[str, Callable[..., Any]]] = {
    "copy": lambda im, p: im(p),
    "scale": lambda im, p: 1.5 * im(p) + 0.25,
    "invert": lambda im, p: 1 - im(p),
    "threshold": lambda im, p: np.where(im(p) > 0.5, 1.0, 0.0),
    "posterize": lambda im, p: np.floor(im(p) * 8) / 8,
    "square": lambda im, p: im(p) * im(p),
    "smooth step": lambda im, p: im(p) * im(p) * (3 - 2 * im(p)),
    "root": lambda im, p: np.sqrt(im(p)),
    "logarithm": lambda im, p: np.log(1 + im(p)),
    "gamma": lambda im, p: im(p) ** 2.2,
    "sigmoid": lambda im, p: 1 / (1 + np.exp(5 - 10 * im(p))),
}
WINDOWS: Final[dict[str, Callable[..., Any]]] = {
    "sobel": kernels.sobel,
    "median": kernels.median,
    "box": weighed(np.full((3, 3), 1 / 9)),
    "gauss": weighed(np.outer([1, 2, 1], [1, 2, 1]) / 16),
    "laplace": weighed([[0, 1, 0], [1, -4, 1], [0, 1, 0]]),
    "laplace 8": weighed([[1, 1, 1], [1, -8, 1], [1, 1, 1]]),
    "sharpen": weighed([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]),
    "emboss": weighed([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]),
    "central": weighed([[0, 0, 0], [-0.5, 0, 0.5], [0, 0, 0]]),
    "random weights": weighed(RANDOM / RANDOM.sum()),
    "scharr": length(np.outer([3, 10, 3], [1, 0, -1]) / 16),
    "prewitt": length(np.outer([1, 1, 1], [1, 0, -1]) / 3),
    "unsharp": lambda im, p: im(p) + 0.7 * (im(p) - sum([im(p + d) for d in AROUND]) / 9),
    "cross": lambda im, p: abs(im(p) - im(p + (1, 1))) + abs(im(p + (1, 0)) - im(p + (0, 1))),
    "erosion": lambda im, p: extremes(im, p)[0],
    "dilation": lambda im, p: extremes(im, p)[1],
    "gradient": lambda im, p: extremes(im, p)[1] - extremes(im, p)[0],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--kernels", default=",".join([*POINTS, *WINDOWS]))
    options = parser.parse_args()
    os.environ["PYGPU_TARGET"] = "compute"
    shape = (options.size, options.size)
    whole = np.random.default_rng(0).integers(0, 256, shape, np.uint8)
    images = {np.float32: whole.astype(np.float32) / np.float32(255), np.uint8: whole}
    print(f"{'':16} float32   uint8   times   (milliseconds)")
    for name in options.kernels.split(","):
        function = (POINTS | WINDOWS)[name]
        floats, small = [
            seconds(function, image, dtype, options.rounds) for dtype, image in images.items()
        ]
        print(f"{name:16} {1e3 * floats:7.4f} {1e3 * small:7.4f} {floats / small:7.2f}", flush=True)


def seconds(function: Callable[..., Any], image: Any, dtype: Any, rounds: int) -> float:
    """The median of some rounds, each of many runs."""
    compiled = pygpu.compile(function, dtype=dtype, im=Image, p=Position)
    job = Job.of(compiled, (pygpu.Image(image),), {})
    times = [ours.seconds([job.run])[0] for _ in range(rounds)]
    del job
    gc.collect()
    return median(times)


if __name__ == "__main__":
    main()
