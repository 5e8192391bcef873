"""Volumes, stacks and thin images on the `cpu` target, against SciPy, Numba and squares.

python -m benchmarks.volumes [--side 256] [--rounds 5]

A volume of float32 is filtered by the Laplacian of six neighbours and by the median of 3 x 3 x 3,
into an existing array; results are compared with SciPy's first. A stack of small frames is mapped
at once and frame by frame. Signals and images of one row or column are compared with a square of as
many pixels. Times are medians of interleaved runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import scipy.ndimage
from numpy.typing import NDArray

import pygpu
from benchmarks.measure import interleaved
from pygpu import Image, Position, Signal, Volume, offsets

Floats = NDArray[np.float32]
Run = Callable[[Floats, Floats], object]
CHECKED: Final = 24  # planes that are compared: SciPy takes minutes for all of a large volume


@pygpu.compile(target="cpu")
def laplacian(v: Volume, p: Position):
    x, y, z = (1, 0, 0), (0, 1, 0), (0, 0, 1)
    return v(p + x) + v(p - x) + v(p + y) + v(p - y) + v(p + z) + v(p - z) - 6 * v(p)


@pygpu.compile(target="cpu")
def median(v: Volume, p: Position):
    return np.median([v(p + d) for d in offsets(np.ones((3, 3, 3)))])


@pygpu.compile(target="cpu")
def blur(im: Image, p: Position):
    return (im(p - (1, 0)) + im(p + (1, 0)) + im(p - (0, 1)) + im(p + (0, 1))) / 4


@pygpu.compile(target="cpu")
def along(im: Image, p: Position):
    return (im(p - (2, 0)) + im(p - (1, 0)) + im(p + (1, 0)) + im(p + (2, 0))) / 4


@pygpu.compile(target="cpu")
def smooth(x: Signal, p: Position):
    return (x(p - 2) + x(p - 1) + x(p + 1) + x(p + 2)) / 4


def with_numba() -> dict[str, Run]:
    """The Laplacian by loops that Numba compiles, the edges clamped; none where it is missing."""
    try:
        from numba import njit, prange
    except ImportError:
        return {}

    @njit(parallel=True, fastmath=True, nogil=True)
    def run(a, out):
        depth, height, width = a.shape
        for z in prange(depth):
            before, after = a[max(z - 1, 0)], a[min(z + 1, depth - 1)]
            for y in range(height):
                up, down = a[z, max(y - 1, 0)], a[z, min(y + 1, height - 1)]
                row, far, near = a[z, y], before[y], after[y]
                for x in range(1, width - 1):
                    around = row[x - 1] + row[x + 1] + up[x] + down[x] + far[x] + near[x]
                    out[z, y, x] = around - 6 * row[x]
                for x in (0, width - 1):
                    around = row[max(x - 1, 0)] + row[min(x + 1, width - 1)]
                    out[z, y, x] = around + up[x] + down[x] + far[x] + near[x] - 6 * row[x]

    return {"Numba": run}


def filters(side: int, rounds: int) -> None:
    """The filters of a volume, and how much faster than the others they are."""
    a = np.random.default_rng(0).random((side, side, side), np.float32)
    out = np.empty_like(a)
    part, few = a[:CHECKED], np.empty_like(a[:CHECKED])
    cases: dict[str, tuple[Any, Run, dict[str, Run]]] = {
        "Laplacian": (
            laplacian,
            lambda a, out: scipy.ndimage.laplace(a, out, mode="nearest"),
            with_numba(),
        ),
        "median 3x3x3": (
            median,
            lambda a, out: scipy.ndimage.median_filter(a, 3, output=out, mode="nearest"),
            {},
        ),
    }
    for name, (ours, theirs, others) in cases.items():
        expected = np.empty_like(part)
        theirs(part, expected)
        np.testing.assert_allclose(ours(part, out=few), expected, atol=1e-5)
        runs: dict[str, Run] = {"PyGPU": lambda a, out, f=ours: f(a, out=out), **others}
        times = interleaved({n: lambda r=r: r(a, out) for n, r in runs.items()}, rounds)
        # SciPy's time is that of some planes, times how many more there are.
        scipy_time = interleaved({"SciPy": lambda r=theirs: r(part, few)}, 1)["SciPy"]
        times["SciPy"] = scipy_time * side / len(part)
        _print(f"{name} of {side} x {side} x {side}", times, "PyGPU")


def stacks(rounds: int) -> None:
    """Frames at once and one by one."""
    film = np.random.default_rng(0).random((1000, 64, 64), np.float32)
    out = np.empty_like(film)

    def one_by_one() -> None:
        for frame, into in zip(film, out, strict=True):
            blur(frame, out=into)

    times = interleaved({"f.map": lambda: blur.map(film, out=out), "calls": one_by_one}, rounds)
    _print("1000 frames of 64 x 64", times, "f.map")


def thin(rounds: int) -> None:
    """The same number of pixels in a square, a row, a column and a signal."""
    flat = np.random.default_rng(0).random(1 << 22, np.float32)
    side = 1 << 11
    shapes = {"square": (side, side), "(1, N)": (1, -1), "(N, 1)": (-1, 1)}
    images = {name: flat.reshape(shape) for name, shape in shapes.items()}
    outs = {name: np.empty_like(image) for name, image in images.items()}

    def runs(f: Any, names: list[str]) -> dict[str, Callable[[], object]]:
        return {name: lambda n=name: f(images[n], out=outs[n]) for name in names}

    _print("four neighbours", interleaved(runs(blur, list(images)), rounds), "square")
    signal = {"signal": lambda: smooth(flat, out=outs["(1, N)"].reshape(-1))}
    _print("along x", interleaved(runs(along, ["square", "(1, N)"]) | signal, rounds), "square")


def _print(title: str, times: dict[str, float], first: str) -> None:
    shown = [f"{n} {1e3 * t:.4g} ms ({t / times[first]:.3g})" for n, t in times.items()]
    print(f"{title}: {', '.join(shown)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    filters(options.side, options.rounds)
    stacks(options.rounds)
    thin(options.rounds)


if __name__ == "__main__":
    main()
