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
BYTES = (1.5, 1e-4)  # of uint8 results, in their steps: fixed point may be off by one
MARGIN = 16  # rows that a result may depend on, above and below


def check(kernel: str, actual: Array, expected: Array) -> float:
    """The largest error; an AssertionError where it is too large."""
    absolute, share = BYTES if actual.dtype == np.uint8 else TOLERANCE.get(kernel, USUAL)
    error = np.abs(actual.astype(np.float64).reshape(expected.shape) - expected)
    wrong = np.count_nonzero(~(error <= absolute)) / error.size
    assert wrong <= share, f"{kernel}: {wrong:.2%} of the pixels are off by up to {error.max():.3g}"
    return float(error.max())


def reference(kernel: str, im: Array, top: int = 0, bottom: int | None = None) -> Array:
    """Rows top to bottom of the result for an image of float32, or of uint8: then in its steps."""
    bottom = im.shape[0] if bottom is None else bottom
    if kernel in _PLACED:
        result = _PLACED[kernel](_wide(im), top, bottom)
    else:
        start = max(0, top - MARGIN)
        part = _FUNCTIONS[kernel](_wide(im[start : bottom + MARGIN]))
        result = part[top - start : bottom - start]
    return np.clip(result * 255, 0, 255) if im.dtype == np.uint8 else result


def _wide(im: Array) -> Array:
    """Texels as functions see them."""
    return im.astype(np.float64) / (255 if im.dtype == np.uint8 else 1)


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


def _mandelbrot(im: Array, top: int, bottom: int) -> Array:
    height, width = im.shape
    left, upper, step = view((height, width))
    rows = np.arange(top, bottom)
    c = (left + step * np.arange(width)) + 1j * (upper + step * rows)[:, None]
    z, count = np.zeros_like(c), np.zeros(c.shape)
    for _ in range(ROUNDS):
        live = z.real**2 + z.imag**2 <= 4
        if not live.any():
            break
        z[live] = z[live] ** 2 + c[live]
        count += live
    return count


def _rotation(im: Array, top: int, bottom: int) -> Array:
    height, width = im.shape
    cx, cy = (width - 1) / 2, (height - 1) / 2
    x, y = np.arange(width) - cx, (np.arange(top, bottom) - cy)[:, None]
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
    "unsharp": lambda im: im + AMOUNT * (im - _taps(im, GAUSS5)),
}
_PLACED = {"mandelbrot": _mandelbrot, "rotation": _rotation}
