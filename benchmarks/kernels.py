"""The kernels of the suite as a user of PyGPU writes them.

`KERNELS` gives for each name what is timed: a function of the image and of `out`, an array that is
written. Images have one channel in [0, 1], but for `hsv`, which has four; they are of float32, or
of uint8 and give uint8.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

import pygpu
from pygpu import Float, Image, Position, Vec4, offsets

SOBEL: Final = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
ROW: Final = np.array([1, 4, 6, 4, 1]) / 16
GAUSS5: Final = np.outer(ROW, ROW)
GAUSS15: Final = np.exp(-((np.arange(15) - 7) ** 2) / 18)
GAUSS15 /= GAUSS15.sum()
CONV9: Final = np.random.default_rng(9).normal(0, 0.1, (9, 9))
SPACE, RANGE = 2.0, 0.2  # sigmas of the bilateral filter
AMOUNT, ANGLE, SHIFT, ROUNDS = 1.5, 0.3, 0.15, 256


def scale(im: Image, p: Position, gain: Float, bias: Float):
    return gain * im(p) + bias


def convolve(kernel, im: Image, p: Position):
    pairs = zip(np.ravel(kernel), offsets(kernel), strict=True)
    return sum([w * im(p + d) for w, d in pairs])


def sobel(im: Image, p: Position):
    gx = convolve(SOBEL, im, p)
    gy = convolve(np.transpose(SOBEL), im, p)
    return np.sqrt(gx**2 + gy**2)


def bilateral(im: Image, p: Position):
    centre, total, weights = im(p), 0.0, 0.0
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            value = im(p + (dx, dy))
            near = math.exp(-(dx * dx + dy * dy) / (2 * SPACE**2))
            weight = near * np.exp(-((value - centre) ** 2) / (2 * RANGE**2))
            total += weight * value
            weights += weight
    return total / weights


def median(im: Image, p: Position):
    return np.median([im(p + (dx, dy)) for dy in (-1, 0, 1) for dx in (-1, 0, 1)])


def hsv(im: Image, p: Position, shift: Float):
    c = im(p)
    high, low = max(c.r, c.g, c.b), min(c.r, c.g, c.b)
    span = high - low
    safe = span if span > 0 else 1.0
    if high == c.r:
        hue = (c.g - c.b) / safe
    elif high == c.g:
        hue = (c.b - c.r) / safe + 2.0
    else:
        hue = (c.r - c.g) / safe + 4.0
    hue = hue / 6.0 + shift
    hue = (hue - np.floor(hue)) * 6.0
    red = min(max(abs(hue - 3.0) - 1.0, 0.0), 1.0)
    green = min(max(2.0 - abs(hue - 2.0), 0.0), 1.0)
    blue = min(max(2.0 - abs(hue - 4.0), 0.0), 1.0)
    return Vec4(low + span * red, low + span * green, low + span * blue, c.a)


def mandelbrot(p: Position, left: Float, top: Float, step: Float):
    cx, cy = left + step * p.x, top + step * p.y
    x, y, n = 0.0, 0.0, 0
    while n < ROUNDS and x * x + y * y <= 4.0:
        x, y = x * x - y * y + cx, 2.0 * x * y + cy
        n += 1
    return n


def unsharp(im: Image, p: Position):
    return im(p) + AMOUNT * (im(p) - convolve(GAUSS5, im, p))


def rotation(im: Image, p: Position, cosine: Float, sine: Float):
    cx, cy = (im.width - 1) / 2.0, (im.height - 1) / 2.0
    x, y = p.x - cx, p.y - cy
    return im.sampled(interpolation="linear")(
        (cosine * x - sine * y + cx, sine * x + cosine * y + cy)
    )


def _simple(function: Callable[..., Any], **known: Any) -> Callable[..., Any]:
    compiled = pygpu.compile(function, target="cpu", **known)

    def run(im: Any, out: Any) -> None:
        compiled(im, out=out)

    return run


def _scale() -> Callable[..., Any]:
    compiled = pygpu.compile(scale, target="cpu")
    return lambda im, out: compiled(im, gain=1.5, bias=0.25, out=out)


def _separable() -> Callable[..., Any]:
    across = pygpu.compile(convolve, kernel=GAUSS15[None, :], target="cpu")
    down = pygpu.compile(convolve, kernel=GAUSS15[:, None], target="cpu")
    between: dict[Any, Any] = {}

    def run(im: Any, out: Any) -> None:
        key = im.shape, im.dtype
        if key not in between:
            between[key] = np.empty(im.shape, np.uint16 if im.dtype == np.uint8 else np.float32)
        half = between[key]
        across(im, out=half)
        down(half, out=out)

    return run


def _hsv() -> Callable[..., Any]:
    compiled = pygpu.compile(hsv, target="cpu")
    return lambda im, out: compiled(im, shift=SHIFT, out=out)


def view(shape: tuple[int, int]) -> tuple[float, float, float]:
    """Left, top and step of the Mandelbrot set in an image."""
    return -2.2, -1.5, 3.0 / shape[0]


def _mandelbrot() -> Callable[..., Any]:
    compiled = pygpu.compile(mandelbrot, target="cpu")

    def run(im: Any, out: Any) -> None:
        left, top, step = view(out.shape)
        compiled(left=left, top=top, step=step, shape=out.shape, out=out)

    return run


def _rotation() -> Callable[..., Any]:
    compiled = pygpu.compile(rotation, target="cpu")
    c, s = math.cos(ANGLE), math.sin(ANGLE)
    return lambda im, out: compiled(im, cosine=c, sine=s, out=out)


KERNELS: Final[dict[str, Callable[[], Callable[..., Any]]]] = {
    "scale": _scale,
    "sobel": lambda: _simple(sobel),
    "gauss 5x5": lambda: _simple(convolve, kernel=GAUSS5),
    "gauss 15 separable": _separable,
    "conv 9x9": lambda: _simple(convolve, kernel=CONV9),
    "bilateral 5x5": lambda: _simple(bilateral),
    "median 3x3": lambda: _simple(median),
    "hsv shift": _hsv,
    "mandelbrot": _mandelbrot,
    "unsharp": lambda: _simple(unsharp),
    "rotation": _rotation,
}
