"""Halide, compiled at run time, with schedules by hand: strips of rows in parallel, vectors along
x, several rows at once where taps are shared, row buffers where kernels are separable.

Where no schedule is best everywhere, the fastest of several on the first image is taken, as a tuner
would. Images of bytes are computed in float32, or in integers where these are exact.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from importlib.metadata import version as package_version
from typing import Any, Final

import halide as hl
import numpy as np

from benchmarks.kernels import (
    AMOUNT,
    ANGLE,
    CONV9,
    GAUSS5,
    GAUSS15,
    RANGE,
    ROW,
    SHIFT,
    SOBEL,
    SPACE,
)

NAME: Final = "Halide"
APPROXIMATE: Final = ()
STRIP: Final = 32  # rows that a thread takes at a time
Run = Callable[..., None]


def version() -> str:
    return package_version("halide")


class _Program:
    """An input, its texels as float32 with the edges repeated (`im`), a result in the making."""

    def __init__(self, unit: int, axes: int = 2) -> None:
        self.unit = float(unit)
        self.type = hl.Float(32) if unit == 1 else hl.UInt(8)
        self.source = hl.ImageParam(self.type, axes)
        self.x, self.y, self.strip = hl.Var("x"), hl.Var("y"), hl.Var("strip")
        self.out = hl.Func("out")
        if axes == 2:
            self.stored = hl.BoundaryConditions.repeat_edge(self.source)
            self.im = hl.Func("im")
            self.im[self.x, self.y] = hl.f32(self.stored[self.x, self.y])

    def texel(self, value: Any) -> Any:
        """A float as the result stores it."""
        if self.unit == 1:
            return value
        return hl.u8(hl.clamp(value + hl.f32(0.5), hl.f32(0), hl.f32(255)))

    def rows(self, count: int, lanes: int) -> None:
        """`count` rows of the result at once."""
        row, inner = hl.Var("row"), hl.Var("inner")
        out, x, y = self.out, self.x, self.y
        if count == 1:
            out.split(y, self.strip, y, STRIP).vectorize(x, lanes).parallel(self.strip)
            return
        out.split(y, self.strip, y, STRIP).split(y, y, row, count).split(x, x, inner, lanes)
        out.reorder(inner, row, x, y, self.strip)
        out.unroll(row).vectorize(inner).parallel(self.strip)

    def compiled(self) -> Run:
        self.out.compile_jit(hl.get_jit_target_from_environment())
        buffers: dict[int, Any] = {}

        def run(im: Any, out: Any) -> None:
            if len(buffers) > 2:
                buffers.clear()
            for array in (im, out):
                if id(array) not in buffers:
                    buffers[id(array)] = hl.Buffer(array), array
            self.source.set(buffers[id(im)][0])
            self.out.realize(buffers[id(out)][0])

        return run


def _fastest(*preparations: Callable[[int], Run]) -> Callable[[int], Run]:
    """Of several schedules the one that is fastest on the first image of each size."""

    def prepare(unit: int) -> Run:
        contenders = [preparation(unit) for preparation in preparations]
        best: dict[Any, Run] = {}

        def run(im: Any, out: Any) -> None:
            if im.shape not in best:
                times = []
                for contender in contenders:
                    contender(im, out)
                    rounds = []
                    for _ in range(5):
                        start = time.perf_counter()
                        contender(im, out)
                        rounds.append(time.perf_counter() - start)
                    times.append(min(rounds))
                best[im.shape] = contenders[int(np.argmin(times))]
            best[im.shape](im, out)

        return run

    return prepare


def _taps(im: Any, kernel: Any, x: Any, y: Any) -> Any:
    height, width = kernel.shape
    total = None
    for j in range(height):
        for i in range(width):
            if kernel[j, i]:
                weight = hl.f32(float(kernel[j, i]))
                term = weight * im[x + i - width // 2, y + j - height // 2]
                total = term if total is None else total + term
    return total


def _simple(build: Callable[[_Program], Any], rows: int, lanes: int = 16) -> Callable[[int], Run]:
    """Straight from the input, so many rows at once."""

    def prepare(unit: int) -> Run:
        p = _Program(unit)
        p.out[p.x, p.y] = p.texel(build(p))
        p.rows(rows, lanes)
        return p.compiled()

    return prepare


def _scaled(p: _Program) -> Any:
    return hl.f32(p.source[p.x, p.y]) * hl.f32(1.5) + hl.f32(0.25 * p.unit)


def _sobel(p: _Program) -> Any:
    gx, gy = _taps(p.im, SOBEL, p.x, p.y), _taps(p.im, SOBEL.T, p.x, p.y)
    return hl.sqrt(gx * gx + gy * gy)


def _gauss5(p: _Program) -> Any:
    return _taps(p.im, GAUSS5, p.x, p.y)


def _sharpened(p: _Program, blurred: Any) -> Any:
    return p.im[p.x, p.y] * hl.f32(1 + AMOUNT) - blurred * hl.f32(AMOUNT)


def _separated(
    row: Any, finish: Callable[[_Program, Any], Any] | None = None, lanes: int = 16
) -> Callable[[int], Run]:
    """Down, then across, through a buffer of a row."""

    def prepare(unit: int) -> Run:
        p, down = _Program(unit), hl.Func("down")
        down[p.x, p.y] = _taps(p.im, row[:, None], p.x, p.y)
        across = _taps(down, row[None, :], p.x, p.y)
        p.out[p.x, p.y] = p.texel(across if finish is None else finish(p, across))
        p.rows(1, lanes)
        down.compute_at(p.out, p.y).vectorize(p.x, lanes)
        return p.compiled()

    return prepare


def _whole_gauss5(unit: int) -> Run:
    """The 5x5 of bytes in 16-bit integers, exactly."""
    p, down, wide = _Program(unit), hl.Func("down"), hl.Func("wide")
    weights = [int(w * 16) for w in ROW]
    wide[p.x, p.y] = hl.u16(p.stored[p.x, p.y])

    def total(terms: list[Any]) -> Any:
        return sum(terms[1:], terms[0])

    down[p.x, p.y] = total([hl.u16(w) * wide[p.x, p.y + j - 2] for j, w in enumerate(weights)])
    across = total([hl.u16(w) * down[p.x + i - 2, p.y] for i, w in enumerate(weights)])
    p.out[p.x, p.y] = hl.u8((across + hl.u16(128)) >> hl.u16(8))
    p.rows(1, 32)
    down.compute_at(p.out, p.y).vectorize(p.x, 32)
    return p.compiled()


def _staged(kernel: Any, rows: int, vectors: int) -> Callable[[int], Run]:
    """Strips with their edges are copied first; accumulators of several rows and vectors stay in
    registers over all taps, whose weights come from a buffer."""

    def prepare(unit: int) -> Run:
        p, total, lanes = _Program(unit), hl.Func("total"), 16
        height, width = kernel.shape
        weights = hl.Buffer(np.ascontiguousarray(kernel, np.float32))
        taps = hl.RDom([(0, width), (0, height)])
        place = p.im[p.x + taps.x - width // 2, p.y + taps.y - height // 2]
        total[p.x, p.y] = hl.f32(0)
        total[p.x, p.y] += weights[taps.x, taps.y] * place
        p.out[p.x, p.y] = p.texel(total[p.x, p.y])
        inner, row = hl.Var("inner"), hl.Var("row")
        p.out.split(p.y, p.strip, p.y, STRIP).split(p.y, p.y, row, rows)
        p.out.split(p.x, p.x, inner, lanes * vectors).reorder(inner, row, p.x, p.y, p.strip)
        p.out.vectorize(inner, lanes).unroll(inner).unroll(row).parallel(p.strip)
        total.compute_at(p.out, p.x).vectorize(p.x, lanes).unroll(p.x).unroll(p.y)
        again = total.update()
        again.reorder(p.x, p.y, taps.x, taps.y)
        again.vectorize(p.x, lanes).unroll(p.x).unroll(p.y).unroll(taps.x)
        p.im.compute_at(p.out, p.strip).vectorize(p.x, lanes)
        return p.compiled()

    return prepare


def _bilateral(p: _Program) -> Any:
    centre, total, weights = p.im[p.x, p.y], hl.f32(0), hl.f32(0)
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            value = p.im[p.x + dx, p.y + dy]
            near = -(dx * dx + dy * dy) / (2 * SPACE**2)
            d = value - centre
            weight = hl.fast_exp(d * d * hl.f32(-1 / (2 * (RANGE * p.unit) ** 2)) + hl.f32(near))
            total += weight * value
            weights += weight
    return total / weights


def _sort3(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    low, high = hl.min(a, b), hl.max(a, b)
    return hl.min(low, c), hl.max(low, hl.min(high, c)), hl.max(high, c)


def _median(rows: int, lanes: int) -> Callable[[int], Run]:
    def prepare(unit: int) -> Run:
        p = _Program(unit)
        im = [[p.stored[p.x + i, p.y + j] for j in (-1, 0, 1)] for i in (-1, 0, 1)]
        columns = [_sort3(*column) for column in im]
        low = hl.max(hl.max(columns[0][0], columns[1][0]), columns[2][0])
        mid = _sort3(*[column[1] for column in columns])[1]
        high = hl.min(hl.min(columns[0][2], columns[1][2]), columns[2][2])
        p.out[p.x, p.y] = _sort3(low, mid, high)[1]
        p.rows(rows, lanes)
        return p.compiled()

    return prepare


def _hsv(unit: int) -> Run:
    """Channels innermost, as in the arrays: dimensions c, x, y."""
    p, c = _Program(unit, 3), hl.Var("c")
    p.source.dim(0).set_bounds(0, 4).set_stride(1)
    p.source.dim(1).set_stride(4)
    r, g, b, a = (hl.f32(p.source[k, p.x, p.y]) for k in range(4))
    high, low = hl.max(hl.max(r, g), b), hl.min(hl.min(r, g), b)
    span = high - low
    safe = hl.select(span > 0, span, hl.f32(1))
    hue = hl.select(
        high == r,
        (g - b) / safe,
        hl.select(high == g, (b - r) / safe + hl.f32(2), (r - g) / safe + hl.f32(4)),
    )
    hue = hue / hl.f32(6) + hl.f32(SHIFT)
    hue = (hue - hl.floor(hue)) * hl.f32(6)

    def ramp(v: Any) -> Any:
        return low + span * hl.clamp(v, hl.f32(0), hl.f32(1))

    red = ramp(hl.abs(hue - hl.f32(3)) - hl.f32(1))
    green = ramp(hl.f32(2) - hl.abs(hue - hl.f32(2)))
    blue = ramp(hl.f32(2) - hl.abs(hue - hl.f32(4)))
    p.out[c, p.x, p.y] = p.texel(hl.mux(c, [red, green, blue, a]))
    p.out.output_buffer().dim(0).set_bounds(0, 4).set_stride(1)
    p.out.output_buffer().dim(1).set_stride(4)
    p.out.reorder(c, p.x, p.y).bound(c, 0, 4).unroll(c).vectorize(p.x, 16)
    p.out.split(p.y, p.strip, p.y, STRIP).parallel(p.strip)
    return p.compiled()


def _rotation(p: _Program) -> Any:
    source = p.source
    width, height = source.width(), source.height()
    cx, cy = hl.f32(width - 1) / 2, hl.f32(height - 1) / 2
    c, s = hl.f32(math.cos(ANGLE)), hl.f32(math.sin(ANGLE))
    dx, dy = hl.f32(p.x) - cx, hl.f32(p.y) - cy
    u, v = c * dx - s * dy + cx, s * dx + c * dy + cy
    left, top = hl.floor(u), hl.floor(v)
    fu, fv = u - left, v - top
    i, j = hl.i32(left), hl.i32(top)
    x0, x1 = hl.clamp(i, 0, width - 1), hl.clamp(i + 1, 0, width - 1)
    y0, y1 = hl.clamp(j, 0, height - 1), hl.clamp(j + 1, 0, height - 1)
    a, b, c, d = (hl.f32(source[x, y]) for y in (y0, y1) for x in (x0, x1))
    above, below = a + fu * (b - a), c + fu * (d - c)
    return above + fv * (below - above)


_BOTH: Final[dict[str, Callable[[int], Run]]] = {
    "scale": _simple(_scaled, 1),
    "sobel": _fastest(_simple(_sobel, 4), _simple(_sobel, 1)),
    "gauss 15 separable": _separated(GAUSS15),
    "conv 9x9": _fastest(_staged(CONV9, 4, 2), _staged(CONV9, 6, 2)),
    "bilateral 5x5": _simple(_bilateral, 1),
    "hsv shift": _hsv,
    "rotation": _simple(_rotation, 1),
}
_FLOATS: Final[dict[str, Callable[[int], Run]]] = {
    **_BOTH,
    "gauss 5x5": _fastest(_simple(_gauss5, 4), _separated(ROW)),
    "median 3x3": _fastest(_median(1, 16), _median(4, 16)),
    "unsharp": _separated(ROW, _sharpened),
}
_BYTES: Final[dict[str, Callable[[int], Run]]] = {
    **_BOTH,
    "gauss 5x5": _fastest(_separated(ROW), _whole_gauss5),
    "median 3x3": _fastest(_median(1, 64), _median(2, 32)),
    "unsharp": _separated(ROW, _sharpened),
}
KERNELS: Final[dict[tuple[str, str], Callable[[], Run]]] = {
    (name, dtype): lambda prepare=prepare, unit=unit: prepare(unit)
    for dtype, unit, prepared in (("float32", 1, _FLOATS), ("uint8", 255, _BYTES))
    for name, prepare in prepared.items()
}
