"""Chains of filters: the calls one by one, one pipeline, and one function where that is natural.

    python -m benchmarks.chains 1024 float32 grey

Each row is a plain Python function over whole images, timed as it stands and as a pipeline, into
images that stay where they are. `one` is the same written as one compiled function.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pygpu
from benchmarks.measure import interleaved
from benchmarks.peers.chains import PEERS
from pygpu import Float, Image, Int, Position

SQUARE = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
SIGMA = 1.5


def smooth(im: Any, p: Any, x: int, y: int, sigma: float = SIGMA) -> Any:
    """A Gaussian along one axis, to three sigmas."""
    reach = round(3 * sigma)
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    return sum(
        w * im(p + (x * i, y * i)) for i, w in zip(range(-reach, reach + 1), weights, strict=True)
    )


def window(im: Any, p: Any, radius: int, x: int, y: int) -> Any:
    """A mean along one axis."""
    reach = range(-radius, radius + 1)
    return sum(im(p + (x * i, y * i)) for i in reach) * (1 / (2 * radius + 1))


def slopes(im: Any, p: Any) -> Any:
    """Sobel's derivatives."""

    def across(x: int) -> Any:
        return im(p + (x, -1)) + 2 * im(p + (x, 0)) + im(p + (x, 1))

    def down(y: int) -> Any:
        return im(p + (-1, y)) + 2 * im(p + (0, y)) + im(p + (1, y))

    return (across(1) - across(-1)) / 12, (down(1) - down(-1)) / 12


@pygpu.compile
def products(im: Image, p: Position):
    gx, gy = slopes(im, p)
    return gx * gx, gx * gy, gy * gy


@pygpu.compile
def boxes(a: Image, b: Image, c: Image, p: Position):
    return tuple(sum(im(p + d) for d in SQUARE) for im in (a, b, c))


@pygpu.compile
def response(a: Image, b: Image, c: Image, p: Position, k: Float = 0.04):
    trace = a(p) + c(p)
    return a(p) * c(p) - b(p) * b(p) - k * trace * trace


@pygpu.compile
def harris_in_one(im: Image, p: Position, k: Float = 0.04):
    entries = [(gx * gx, gx * gy, gy * gy) for gx, gy in (slopes(im, p + d) for d in SQUARE)]
    xx, xy, yy = (sum(each) for each in zip(*entries, strict=True))
    trace = xx + yy
    return xx * yy - xy * xy - k * trace * trace


def harris(im: Any) -> Any:
    return response(*boxes(*products(im)))


@pygpu.compile
def across(im: Image, p: Position):
    return smooth(im, p, 1, 0)


@pygpu.compile
def down(im: Image, p: Position):
    return smooth(im, p, 0, 1)


@pygpu.compile
def sharper(im: Image, low: Image, p: Position, amount: Float = 1.5):
    return im(p) + amount * (im(p) - low(p))


def gauss(im: Any) -> Any:
    return down(across(im))


@pygpu.compile
def gauss_in_one(im: Image, p: Position):
    return smooth(lambda q: smooth(im, q, 1, 0), p, 0, 1)


def unsharp(im: Any) -> Any:
    return sharper(im, gauss(im))


@pygpu.compile
def mean_across(im: Image, p: Position, radius: Int = 4):
    return window(im, p, 4, 1, 0)


@pygpu.compile
def mean_down(im: Image, p: Position):
    return window(im, p, 4, 0, 1)


@pygpu.compile
def square(im: Image, p: Position):
    return im(p) * im(p)


def mean(im: Any) -> Any:
    return mean_down(mean_across(im))


@pygpu.compile
def lines(mean: Image, squares: Image, p: Position, eps: Float = 0.01):
    variance = squares(p) - mean(p) * mean(p)
    a = variance / (variance + eps)
    return a, mean(p) - a * mean(p)


@pygpu.compile
def along_line(im: Image, a: Image, b: Image, p: Position):
    return a(p) * im(p) + b(p)


def guided(im: Any) -> Any:
    a, b = lines(mean(im), mean(square(im)))
    return along_line(im, mean(a), mean(b))


@pygpu.compile
def contrasted(im: Image, low: Image, squares: Image, p: Position):
    return (im(p) - low(p)) / pygpu.sqrt(np.maximum(squares(p) - low(p) * low(p), 0.0) + 0.01)


def local_contrast(im: Any) -> Any:
    return contrasted(im, gauss(im), gauss(square(im)))


@pygpu.compile
def eigenvalue(a: Image, b: Image, c: Image, p: Position):
    half, off = (a(p) - c(p)) / 2, b(p)
    return (a(p) + c(p)) / 2 + pygpu.sqrt(half * half + off * off)


def tensor(im: Any) -> Any:
    return eigenvalue(*[gauss(each) for each in products(im)])


@pygpu.compile
def bright(im: Image, p: Position):
    return np.maximum(im(p) - 0.7, 0.0)


@pygpu.compile
def sum_of(im: Image, glow: Image, p: Position):
    return im(p) + glow(p)


def bloom(im: Any) -> Any:
    return sum_of(im, gauss(gauss(bright(im))))


@pygpu.compile
def slope(im: Image, p: Position):
    gx, gy = slopes(im, p)
    return gx, gy


@pygpu.compile
def ridge(gx: Image, gy: Image, p: Position):
    x, y = gx(p), gy(p)
    strength = x * x + y * y
    flat = abs(x) > abs(y)

    def at(dx: int, dy: int) -> Any:
        return gx(p + (dx, dy)) ** 2 + gy(p + (dx, dy)) ** 2

    beside = np.maximum(at(1, 0), at(-1, 0))
    above = np.maximum(at(0, 1), at(0, -1))
    return strength if strength >= (beside if flat else above) else 0.0


@pygpu.compile
def linked(im: Image, p: Position):
    strong = np.maximum.reduce([im(p + d) for d in SQUARE])
    return 1.0 if im(p) > 0.01 and strong > 0.02 else 0.0


def canny(im: Any) -> Any:
    return linked(ridge(*slope(gauss(im))))


def corners(im: Any) -> Any:
    r = harris(im)
    return r > 0.01 * r.max()


CHAINS: dict[str, tuple[Callable[..., Any], Any]] = {
    "Harris": (harris, harris_in_one),
    "Gauss": (gauss, gauss_in_one),
    "unsharp": (unsharp, None),
    "guided": (guided, None),
    "local contrast": (local_contrast, None),
    "structure tensor": (tensor, None),
    "bloom": (bloom, None),
    "Canny": (canny, None),
    "corners": (corners, None),
}


def main(size: str = "1024", dtype: str = "float32", colours: str = "grey", *only: str) -> None:
    side = int(size)
    rng = np.random.default_rng(1)
    shape = (side, side) if colours == "grey" else (side, side, 3)
    texels = rng.random(shape, np.float32)
    if dtype == "uint8":
        texels = (255 * texels).astype(np.uint8)
    photo = Image(texels)
    print(f"{size} {dtype} {colours}: milliseconds")
    for name, (chain, one) in CHAINS.items():
        if (only and name not in only) or (colours != "grey" and name in ("Canny", "corners")):
            continue
        piped = pygpu.pipeline(chain)
        contenders = {"calls": partial(chain, photo), "pipeline": partial(piped, photo)}
        if one is not None:
            contenders["one"] = partial(one, photo)
        want = np.asarray(chain(photo))
        if name == "Harris" and colours == "grey" and dtype == "float32":
            for peer, make in PEERS.items():
                contenders[peer], made = make(texels)
                contenders[peer]()
                inside = np.abs(made - want)[2:-2, 2:-2]
                assert inside.max() < 1e-5 * np.abs(want).max(), peer
        assert np.array_equal(np.asarray(piped(photo)), want, equal_nan=True), name
        times = interleaved(contenders, 9)
        cells = "  ".join(f"{key} {1e3 * value:7.3f}" for key, value in times.items())
        print(f"{name:18}{cells}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
