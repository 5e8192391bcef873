"""Harris' response by Halide's fused schedule and by Numba, for `benchmarks.chains`.

Both read float32 images with the edges repeated and write float32. Near the border Halide's differs
from that of calls, which repeat the edges of products.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import halide as hl
import numpy as np
from numba import njit, prange

Run = Callable[[], Any]


def halide_harris(texels: Any, k: float = 0.04) -> tuple[Run, Any]:
    """Slopes in rows of a strip that a cache holds: what runs it, and its result."""
    x, y, row, strip = (hl.Var(name) for name in ("x", "y", "row", "strip"))
    source = hl.ImageParam(hl.Float(32), 2)
    im = hl.BoundaryConditions.repeat_edge(source)
    gx, gy, out = hl.Func("gx"), hl.Func("gy"), hl.Func("out")

    def across(dx: int) -> Any:
        return im[x + dx, y - 1] + 2 * im[x + dx, y] + im[x + dx, y + 1]

    def down(dy: int) -> Any:
        return im[x - 1, y + dy] + 2 * im[x, y + dy] + im[x + 1, y + dy]

    gx[x, y] = (across(1) - across(-1)) * hl.f32(1 / 12)
    gy[x, y] = (down(1) - down(-1)) * hl.f32(1 / 12)

    def window(product: Callable[[Any, Any], Any]) -> Any:
        square = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1)]
        total = product(x + square[0][0], y + square[0][1])
        for i, j in square[1:]:
            total = total + product(x + i, y + j)
        return total

    xx = window(lambda i, j: gx[i, j] * gx[i, j])
    xy = window(lambda i, j: gx[i, j] * gy[i, j])
    yy = window(lambda i, j: gy[i, j] * gy[i, j])
    out[x, y] = xx * yy - xy * xy - hl.f32(k) * (xx + yy) * (xx + yy)
    out.split(y, strip, row, 32).parallel(strip).vectorize(x, 16)
    for func in (gx, gy):
        func.store_at(out, strip).compute_at(out, row).vectorize(x, 16)
    out.compile_jit(hl.get_jit_target_from_environment())
    made = np.empty_like(texels)
    target = hl.Buffer(made)
    source.set(hl.Buffer(texels))
    return lambda: out.realize(target), made


@njit(parallel=True, fastmath=True)
def _products(im, xx, xy, yy):  # type: ignore[no-untyped-def]
    height, width = im.shape
    for y in prange(height):
        a, b = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            p, q = max(x - 1, 0), min(x + 1, width - 1)
            gx = (im[a, q] + 2 * im[y, q] + im[b, q] - im[a, p] - 2 * im[y, p] - im[b, p]) / 12
            gy = (im[b, p] + 2 * im[b, x] + im[b, q] - im[a, p] - 2 * im[a, x] - im[a, q]) / 12
            xx[y, x], xy[y, x], yy[y, x] = gx * gx, gx * gy, gy * gy


@njit(parallel=True, fastmath=True)
def _response(xx, xy, yy, out, k):  # type: ignore[no-untyped-def]
    height, width = out.shape
    for y in prange(height):
        a, b = max(y - 1, 0), min(y + 1, height - 1)
        for x in range(width):
            p, q = max(x - 1, 0), min(x + 1, width - 1)
            s = xx[a, p] + xx[a, x] + xx[a, q] + xx[y, p] + xx[y, x] + xx[y, q]
            s += xx[b, p] + xx[b, x] + xx[b, q]
            t = xy[a, p] + xy[a, x] + xy[a, q] + xy[y, p] + xy[y, x] + xy[y, q]
            t += xy[b, p] + xy[b, x] + xy[b, q]
            u = yy[a, p] + yy[a, x] + yy[a, q] + yy[y, p] + yy[y, x] + yy[y, q]
            u += yy[b, p] + yy[b, x] + yy[b, q]
            out[y, x] = s * u - t * t - k * (s + u) * (s + u)


def numba_harris(texels: Any, k: float = 0.04) -> tuple[Run, Any]:
    """Products whole, then sums and response: what runs it, and its result."""
    products = [np.empty_like(texels) for _ in range(3)]
    made = np.empty_like(texels)

    def run() -> None:
        _products(texels, *products)
        _response(*products, made, np.float32(k))

    return run, made


PEERS = {"Halide": halide_harris, "Numba": numba_harris}
