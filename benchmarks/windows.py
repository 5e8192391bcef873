"""The reference for square parts of results, so that images of any size can be checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.kernels import ANGLE, ROUNDS, view
from benchmarks.reference import reference

Array = NDArray[Any]
MARGIN = 16  # pixels; more than any kernel looks to one side


def window(kernel: str, im: Array, top: int, left: int, size: int) -> Array:
    """Rows from `top`, columns from `left` of the result in float64, for an image of float32, or of
    uint8 as v / 255."""
    rows, columns = np.arange(top, top + size)[:, None], np.arange(left, left + size)
    if kernel == "mandelbrot":
        return _mandelbrot(im.shape, rows, columns)
    if kernel == "rotation":
        return _rotation(im, rows, columns)
    above, before = min(top, MARGIN), min(left, MARGIN)
    part = im[top - above : top + size + MARGIN, left - before : left + size + MARGIN]
    result = reference(kernel, _wide(part))
    return result[above : above + size, before : before + size]


def _wide(texels: Array) -> Array:
    return texels.astype(np.float64) / (255 if texels.dtype == np.uint8 else 1)


def _mandelbrot(shape: tuple[int, ...], rows: Array, columns: Array) -> Array:
    left, top, step = view((shape[0], shape[1]))
    c = (left + step * columns) + 1j * (top + step * rows)
    z, count = np.zeros_like(c), np.zeros(c.shape)
    for _ in range(ROUNDS):
        live = z.real**2 + z.imag**2 <= 4
        z[live] = z[live] ** 2 + c[live]
        count += live
    return count


def _rotation(im: Array, rows: Array, columns: Array) -> Array:
    height, width = im.shape
    cx, cy, c, s = (width - 1) / 2, (height - 1) / 2, math.cos(ANGLE), math.sin(ANGLE)
    x, y = columns - cx, rows - cy
    u, v = c * x - s * y + cx, s * x + c * y + cy
    i, j = np.floor(u).astype(int), np.floor(v).astype(int)
    fu, fv = u - i, v - j

    def at(row: Array, column: Array) -> Array:
        return _wide(im[np.clip(row, 0, height - 1), np.clip(column, 0, width - 1)])

    above = at(j, i) * (1 - fu) + at(j, i + 1) * fu
    below = at(j + 1, i) * (1 - fu) + at(j + 1, i + 1) * fu
    return above * (1 - fv) + below * fv
