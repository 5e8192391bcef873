"""What the kernels of the suite mean: float64, plain NumPy, in rows at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernels import (
    AMOUNT,
    ANGLE,
    CONV9,
    GAUSS5,
    GAUSS15,
    RANGE,
    ROUNDS,
    SHIFT,
    SOBEL,
    SPACE,
    view,
)

Array = NDArray[Any]
# How far a contender may be off: absolutely, and in which share of the pixels at all.
TOLERANCE = {"mandelbrot": (0.5, 0.002), "hsv shift": (2e-4, 1e-4), "rotation": (1e-3, 1e-4)}
USUAL = (1e-4, 0.0)
MARGIN = 16  # more than any kernel looks to one side


def check(kernel: str, actual: Array, expected: Array) -> float:
    """The largest error; an AssertionError where it is too large."""
    absolute, share = TOLERANCE.get(kernel, USUAL)
    error = np.abs(actual.astype(np.float64).reshape(expected.shape) - expected)
    wrong = np.count_nonzero(~(error <= absolute)) / error.size
    assert wrong <= share, f"{kernel}: {wrong:.2%} of the pixels are off by up to {error.max():.3g}"
    return float(error.max())


def reference(kernel: str, im: Array) -> Array:
    """The result for an image, whose type is float32."""
    wide = im.astype(np.float64)
    return _FUNCTIONS[kernel](wide)


def window(kernel: str, im: Array, top: int, left: int, size: int) -> Array:
    """A square part of the result for an image of float32, or of uint8 as v / 255."""
    here = slice(top, top + size), slice(left, left + size)
    scale = 255 if im.dtype == np.uint8 else 1
    if kernel == "mandelbrot":
        return _mandelbrot(im, *here)
    if kernel == "rotation":
        return _rotation(im, *here) / scale
    above, before = min(top, MARGIN), min(left, MARGIN)
    rows = slice(top - above, top + size + MARGIN)
    columns = slice(left - before, left + size + MARGIN)
    part = _FUNCTIONS[kernel](im[rows, columns].astype(np.float64) / scale)
    return part[above : above + size, before : before + size]


def _taps(im: Array, kernel: Array) -> Array:
    height, width = kernel.shape
    padded = np.pad(im, [(height // 2, height // 2), (width // 2, width // 2)], mode="edge")
    result = np.zeros_like(im)
    for j in range(height):
        for i in range(width):
            result += kernel[j, i] * padded[j : j + im.shape[0], i : i + im.shape[1]]
    return result


def _sobel(im: Array) -> Array:
    return np.hypot(_taps(im, SOBEL), _taps(im, SOBEL.T))


def _bilateral(im: Array) -> Array:
    padded = np.pad(im, 2, mode="edge")
    total, weights = np.zeros_like(im), np.zeros_like(im)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            value = padded[2 + dy : 2 + dy + im.shape[0], 2 + dx : 2 + dx + im.shape[1]]
            weight = np.exp(
                -(dx * dx + dy * dy) / (2 * SPACE**2) - (value - im) ** 2 / (2 * RANGE**2)
            )
            total += weight * value
            weights += weight
    return total / weights


def _median(im: Array) -> Array:
    padded = np.pad(im, 1, mode="edge")
    height, width = im.shape
    taps = [padded[j : j + height, i : i + width] for j in range(3) for i in range(3)]
    return np.partition(np.stack(taps), 4, axis=0)[4]


def _hsv(im: Array) -> Array:
    r, g, b, a = np.moveaxis(im, -1, 0)
    high, low = np.maximum(np.maximum(r, g), b), np.minimum(np.minimum(r, g), b)
    span = high - low
    safe = np.where(span > 0, span, 1)
    hue = np.where(
        high == r,
        (g - b) / safe,
        np.where(high == g, (b - r) / safe + 2, (r - g) / safe + 4),
    )
    hue = hue / 6 + SHIFT
    hue = (hue - np.floor(hue)) * 6
    red = np.clip(np.abs(hue - 3) - 1, 0, 1)
    green = np.clip(2 - np.abs(hue - 2), 0, 1)
    blue = np.clip(2 - np.abs(hue - 4), 0, 1)
    return np.stack([low + span * red, low + span * green, low + span * blue, a], axis=-1)


def _mandelbrot(im: Array, rows: slice = slice(None), columns: slice = slice(None)) -> Array:
    height, width = im.shape
    left, top, step = view((height, width))
    x, y = np.arange(width)[columns], np.arange(height)[rows, None]
    c = (left + step * x) + 1j * (top + step * y)
    z, count = np.zeros_like(c), np.zeros(c.shape)
    for _ in range(ROUNDS):
        live = z.real**2 + z.imag**2 <= 4
        if not live.any():
            break
        z[live] = z[live] ** 2 + c[live]
        count += live
    return count


def _rotation(im: Array, rows: slice = slice(None), columns: slice = slice(None)) -> Array:
    height, width = im.shape
    cx, cy = (width - 1) / 2, (height - 1) / 2
    x, y = np.arange(width)[columns] - cx, (np.arange(height) - cy)[rows, None]
    c, s = np.cos(ANGLE), np.sin(ANGLE)
    u, v = c * x - s * y + cx, s * x + c * y + cy
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    fu, fv = u - i, v - j

    def at(row: Array, column: Array) -> Array:
        return im[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)]

    above = at(j, i) * (1 - fu) + at(j, i + 1) * fu
    below = at(j + 1, i) * (1 - fu) + at(j + 1, i + 1) * fu
    return above * (1 - fv) + below * fv


_FUNCTIONS = {
    "scale": lambda im: 1.5 * im + 0.25,
    "sobel": _sobel,
    "gauss 5x5": lambda im: _taps(im, GAUSS5),
    "gauss 15 separable": lambda im: _taps(_taps(im, GAUSS15[None, :]), GAUSS15[:, None]),
    "conv 9x9": lambda im: _taps(im, CONV9),
    "bilateral 5x5": _bilateral,
    "median 3x3": _median,
    "hsv shift": _hsv,
    "mandelbrot": _mandelbrot,
    "unsharp": lambda im: im + AMOUNT * (im - _taps(im, GAUSS5)),
    "rotation": _rotation,
}
