"""Numba, parallel and with fast mathematics: loops over pixels, clamped, weights constant."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numba
import numpy as np
from numba import njit, prange

from benchmarks.kernels import (
    AMOUNT,
    ANGLE,
    CONV9,
    GAUSS5,
    GAUSS15,
    RANGE,
    ROUNDS,
    SHIFT,
    SPACE,
    view,
)

NAME: Final = "Numba"
APPROXIMATE: Final = ()
fast = njit(parallel=True, fastmath=True, nogil=True)
inline = njit(fastmath=True, inline="always")


def version() -> str:
    return str(numba.__version__)


@inline
def _clamped(i, n):
    return min(max(i, 0), n - 1)


@fast
def _scale(im, out):
    height, width = im.shape
    gain, bias = np.float32(1.5), np.float32(0.25)
    for y in prange(height):
        for x in range(width):
            out[y, x] = gain * im[y, x] + bias


@fast
def _sobel(im, out):
    height, width = im.shape
    two = np.float32(2)
    for y in prange(height):
        a, b, c = im[max(y - 1, 0)], im[y], im[min(y + 1, height - 1)]
        for x in range(1, width - 1):
            gx = a[x + 1] - a[x - 1] + two * (b[x + 1] - b[x - 1]) + c[x + 1] - c[x - 1]
            gy = c[x - 1] - a[x - 1] + two * (c[x] - a[x]) + c[x + 1] - a[x + 1]
            out[y, x] = math.sqrt(gx * gx + gy * gy)
        for x in (0, width - 1):
            w, e = max(x - 1, 0), min(x + 1, width - 1)
            gx = a[e] - a[w] + two * (b[e] - b[w]) + c[e] - c[w]
            gy = c[w] - a[w] + two * (c[x] - a[x]) + c[e] - a[e]
            out[y, x] = math.sqrt(gx * gx + gy * gy)


def _convolution(kernel: Any) -> Any:
    """Taps written out, as one writes them by hand, with constant weights and rows at hand; the
    edges have a loop of their own. (Row after row of one tap each takes as long.)"""
    tall, wide = kernel.shape
    up, left = tall // 2, wide // 2
    taps = [(j, i, float(kernel[j, i])) for j in range(tall) for i in range(wide) if kernel[j, i]]
    rows = "\n        ".join(
        f"r{j} = im[min(max(y + {j - up}, 0), height - 1)]" for j in range(tall)
    )

    def total(column: Callable[[int], str]) -> str:
        return " + ".join(f"float32({w!r}) * r{j}[{column(i - left)}]" for j, i, w in taps)

    text = f"""
def run(im, out):
    height, width = im.shape
    for y in prange(height):
        {rows}
        row = out[y]
        for x in range({left}, width - {wide - 1 - left}):
            row[x] = {total(lambda d: f"x + {d}")}
        for k in range(min({wide - 1}, width)):
            x = k if k < {left} else width - 1 - (k - {left})
            row[x] = {total(lambda d: f"min(max(x + {d}, 0), width - 1)")}
"""
    names = {"prange": prange, "float32": np.float32}
    exec(text, names)
    return fast(names["run"])


def _separable() -> Callable[..., Any]:
    across, down = _convolution(GAUSS15[None, :]), _convolution(GAUSS15[:, None])
    kept: dict[Any, Any] = {}

    def run(im: Any, out: Any) -> None:
        half = kept.setdefault(im.shape, np.empty_like(im))
        across(im, half)
        down(half, out)

    return run


NEAR: Final = np.exp(
    -(np.arange(-2, 3)[:, None] ** 2 + np.arange(-2, 3)[None] ** 2) / (2 * SPACE**2)
).astype(np.float32)


@fast
def _bilateral(im, out):
    height, width = im.shape
    factor = np.float32(-1 / (2 * RANGE**2))
    for y in prange(height):
        for x in range(width):
            centre = im[y, x]
            total, weights = np.float32(0), np.float32(0)
            for j in range(5):
                for i in range(5):
                    value = im[_clamped(y + j - 2, height), _clamped(x + i - 2, width)]
                    d = value - centre
                    weight = NEAR[j, i] * math.exp(factor * d * d)
                    total += weight * value
                    weights += weight
            out[y, x] = total / weights


@inline
def _sort3(a, b, c):
    low, high = min(a, b), max(a, b)
    return min(low, c), max(low, min(high, c)), max(high, c)


@fast
def _median(im, out):
    height, width = im.shape
    for y in prange(height):
        a, b, c = im[max(y - 1, 0)], im[y], im[min(y + 1, height - 1)]
        for x in range(width):
            w, e = max(x - 1, 0), min(x + 1, width - 1)
            l1, m1, h1 = _sort3(a[w], b[w], c[w])
            l2, m2, h2 = _sort3(a[x], b[x], c[x])
            l3, m3, h3 = _sort3(a[e], b[e], c[e])
            low = max(l1, l2, l3)
            _, mid, _ = _sort3(m1, m2, m3)
            high = min(h1, h2, h3)
            _, result, _ = _sort3(low, mid, high)
            out[y, x] = result


@fast
def _hsv(im, out):
    height, width, _ = im.shape
    one, zero = np.float32(1), np.float32(0)
    shift = np.float32(SHIFT)
    for y in prange(height):
        for x in range(width):
            r, g, b = im[y, x, 0], im[y, x, 1], im[y, x, 2]
            high, low = max(r, g, b), min(r, g, b)
            span = high - low
            safe = span if span > zero else one
            if high == r:
                hue = (g - b) / safe
            elif high == g:
                hue = (b - r) / safe + np.float32(2)
            else:
                hue = (r - g) / safe + np.float32(4)
            hue = hue / np.float32(6) + shift
            hue = (hue - math.floor(hue)) * np.float32(6)
            red = min(max(abs(hue - np.float32(3)) - one, zero), one)
            green = min(max(np.float32(2) - abs(hue - np.float32(2)), zero), one)
            blue = min(max(np.float32(2) - abs(hue - np.float32(4)), zero), one)
            out[y, x, 0] = low + span * red
            out[y, x, 1] = low + span * green
            out[y, x, 2] = low + span * blue
            out[y, x, 3] = im[y, x, 3]


@fast
def _mandelbrot_rows(out, left, top, step):
    height, width = out.shape
    for y in prange(height):
        cy = np.float32(top + step * y)
        for x in range(width):
            cx = np.float32(left + step * x)
            u, v, n = np.float32(0), np.float32(0), 0
            while n < ROUNDS and u * u + v * v <= np.float32(4):
                u, v = u * u - v * v + cx, np.float32(2) * u * v + cy
                n += 1
            out[y, x] = n


def _mandelbrot(im: Any, out: Any) -> None:
    _mandelbrot_rows(out, *view(out.shape))


def _unsharp() -> Callable[..., Any]:
    blur = _convolution(GAUSS5)

    @fast
    def sharpen(im, out):
        height, width = im.shape
        for y in prange(height):
            for x in range(width):
                out[y, x] = im[y, x] + np.float32(AMOUNT) * (im[y, x] - out[y, x])

    def run(im: Any, out: Any) -> None:
        blur(im, out)
        sharpen(im, out)

    return run


@fast
def _rotation(im, out):
    height, width = im.shape
    cx, cy = np.float32((width - 1) / 2), np.float32((height - 1) / 2)
    c, s = np.float32(math.cos(ANGLE)), np.float32(math.sin(ANGLE))
    for j in prange(height):
        for i in range(width):
            x, y = np.float32(i) - cx, np.float32(j) - cy
            u, v = c * x - s * y + cx, s * x + c * y + cy
            left, top = math.floor(u), math.floor(v)
            fu, fv = u - np.float32(left), v - np.float32(top)
            x0, x1 = _clamped(int(left), width), _clamped(int(left) + 1, width)
            y0, y1 = _clamped(int(top), height), _clamped(int(top) + 1, height)
            above = im[y0, x0] + fu * (im[y0, x1] - im[y0, x0])
            below = im[y1, x0] + fu * (im[y1, x1] - im[y1, x0])
            out[j, i] = above + fv * (below - above)


KERNELS: Final[dict[tuple[str, str], Callable[[], Callable[..., Any]]]] = {
    ("scale", "float32"): lambda: _scale,
    ("sobel", "float32"): lambda: _sobel,
    ("gauss 5x5", "float32"): lambda: _convolution(GAUSS5),
    ("gauss 15 separable", "float32"): _separable,
    ("conv 9x9", "float32"): lambda: _convolution(CONV9),
    ("bilateral 5x5", "float32"): lambda: _bilateral,
    ("median 3x3", "float32"): lambda: _median,
    ("hsv shift", "float32"): lambda: _hsv,
    ("mandelbrot", "float32"): lambda: _mandelbrot,
    ("unsharp", "float32"): _unsharp,
    ("rotation", "float32"): lambda: _rotation,
    ("median 3x3", "uint8"): lambda: _median,
}
