"""What is where: edges, corners, gradients by direction, textures; as in `skimage.feature`.

    canny(grey, sigma=2); corner_harris(grey); local_binary_pattern(grey, 8, 1)
    hog(photo)                             # a vector of features

The examples canny, harris and local_binary_patterns of the gallery show how each is made.
"""

from __future__ import annotations

import functools
import math
from itertools import pairwise
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.errors import whole as whole_number
from pygpu.devices.host.regions import holding, numbered
from pygpu.execution.large import connected
from pygpu.execution.large.images import LazyImage
from pygpu.filters.exposure import extent
from pygpu.filters.linear import correlate, gaussian
from pygpu.filters.whole import (
    channels_of,
    image_of,
    last,
    outside,
    refuse_dask,
    together,
    whole,
    whole_only,
)
from pygpu.glsl import length
from pygpu.image.image import Image
from pygpu.language.vectors import Position, Vec2, Vec3, Vector
from pygpu.runtime import compile

__all__ = ["canny", "corner_harris", "hog", "local_binary_pattern"]

SOBEL_X: Final = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
PATTERNS: Final = ("default", "ror", "uniform", "nri_uniform", "var")
EPSILON: Final = float(np.finfo(np.float32).eps)
ROUNDING: Final = 64 * EPSILON  # of the texels, what their gradient may err by


@compile
def _gradient(im: Image, p: Position) -> Any:
    return Vec2(correlate(SOBEL_X, im, p), correlate(SOBEL_X.T, im, p))


# ---------------------------------------------------------------- edges


@compile
def _ones(im: Image, p: Position) -> Any:
    return 1.0


@compile
def _masked(im: Image, mask: Image, p: Position) -> Any:
    return im(p) if mask(p) else 0.0


@compile
def _weight(mask: Image, p: Position) -> Any:
    return 1.0 if mask(p) else 0.0


@compile
def _quotient(im: Image, share: Image, p: Position) -> Any:
    return im(p) / (share(p) + EPSILON)


def _ridge(g: Any, lengths: Any, p: Any, is_whole: Any) -> Any:
    """The gradient's length where it is no less than at both sides, along the gradient, and all
    around is looked at; else 0. All neighbours are read, as these are in rows, and then chosen."""
    v, here = g(p), lengths(p)
    steep, right, down = abs(v.y) > abs(v.x), v.x > 0, v.y > 0
    major, minor = (v.y, v.x) if steep else (v.x, v.y)
    t = 0.0 if major == 0 else abs(minor / major)
    rows = [[lengths(p + (i, j)) for i in (-1, 0, 1)] for j in (-1, 0, 1)]

    def beside(right: Any, down: Any) -> Any:
        along_x, along_y = rows[1][2] if right else rows[1][0], rows[2][1] if down else rows[0][1]
        below, above = rows[2][2] if right else rows[2][0], rows[0][2] if right else rows[0][0]
        return (1 - t) * (along_y if steep else along_x) + t * (below if down else above)

    is_ridge = here >= beside(right, down) and here >= beside(not right, not down)
    return here if is_whole and is_ridge else 0.0


@compile
def _thinned(g: Image, lengths: Image, p: Position) -> Any:
    inside = 0 < p.x < g.width - 1 and 0 < p.y < g.height - 1
    return _ridge(g, lengths, p, inside)


@compile
def _thinned_within(g: Image, lengths: Image, mask: Image, p: Position) -> Any:
    inside = mask.sampled(boundary="constant")
    return _ridge(g, lengths, p, all(inside(p + (i, j)) for j in (-1, 0, 1) for i in (-1, 0, 1)))


@compile
def _length(g: Image, p: Position) -> Any:
    return length(g(p))


@compile
def _at_least(im: Image, p: Position, least: float) -> Any:
    return im(p) >= least and im(p) > 0


def _slopes(image: Any, mask: Any, sigma: float, mode: str, cval: float) -> Any:
    """The gradient of the image, smoothed by what is there."""
    seen = image if mask is None else _masked(image, mask)
    smooth = gaussian(outside(seen, mode, cval), sigma=sigma)
    if mode == "constant" or mask is not None:
        share = (_ones(image) if mask is None else _weight(mask)).sampled(mode, cval)
        smooth = _quotient(smooth, gaussian(share, sigma=sigma))
    return _gradient(smooth.sampled(boundary="reflect"))


def _levels(gradient: Any, mask: Any, low: float, high: float) -> tuple[Any, Any]:
    """Which pixels of ridges reach each of two heights."""
    given = gradient, _length(gradient)
    ridge = _thinned(*given) if mask is None else _thinned_within(*given, mask)
    return _at_least(ridge, least=low), _at_least(ridge, least=high)


@together
def _ridges(
    image: Any, mask: Any, sigma: float, mode: str, cval: float, low: float, high: float
) -> tuple[Any, Any]:
    return _levels(_slopes(image, mask, sigma, mode, cval), mask, low, high)


@whole
def canny(
    image: Image,
    sigma: float = 1.0,
    low_threshold: float | None = None,
    high_threshold: float | None = None,
    mask: Any = None,
    use_quantiles: bool = False,
    *,
    mode: str = "constant",
    cval: float = 0.0,
) -> Any:
    """Edges one pixel wide, as bools; `skimage.feature.canny`.

    The image is smoothed by a Gaussian, its gradient thinned to ridges; those above
    `low_threshold` (0.1) are edges where they touch one above `high_threshold` (0.2). Thresholds
    are of texels, bytes in [0, 1], or with `use_quantiles` shares of all pixels. A mask says which
    pixels count. Reference: J. Canny, *A computational approach to edge detection*, 1986.
    """
    channels_of(image, "canny", 1)
    low = 0.1 if low_threshold is None else low_threshold
    high = 0.2 if high_threshold is None else high_threshold
    if math.isnan(low) or math.isnan(high):
        raise ValueError("canny: low_threshold and high_threshold are numbers, got nan")
    if high < low:
        raise ValueError(f"canny: low_threshold={low} is above high_threshold={high}")
    if use_quantiles and not (low >= 0 and high <= 1):
        raise ValueError("canny: with use_quantiles thresholds are from 0 to 1")
    chosen = None if mask is None else image_of(mask, "canny: mask")
    if chosen is not None and chosen.shape != image.shape[:2]:
        raise ValueError(f"canny: a mask has the image's size {image.shape}, got {chosen.shape}")
    if use_quantiles:
        gradient = _slopes(image, chosen, sigma, mode, cval)
        refuse_dask(
            "canny",
            "quantiles are of all gradients together",
            "Give thresholds without use_quantiles",
            gradient,
        )
        # What is less than rounding makes of an image without any slope is none.
        least = ROUNDING * max(map(abs, extent(image)))
        low, high = np.maximum(np.quantile(_length(gradient), [low, high]), least)
        weak, above = _levels(gradient, chosen, low, high)
    else:
        weak, above = _ridges(image, chosen, sigma, mode, cval, low, high)
    if isinstance(weak, LazyImage):
        regions, _ = connected.numbered(weak.array, False, True, numbered)
        return weak.reading(connected.touched(regions, above.array))
    return image_of(holding(np.asarray(weak), np.asarray(above), diagonal=True), "canny")


# ---------------------------------------------------------------- corners


@compile
def _tensor(im: Image, p: Position) -> Any:
    x, y = correlate(SOBEL_X, im, p), correlate(SOBEL_X.T, im, p)
    return Vec3(x * x, x * y, y * y)


@compile
def _response(tensor: Image, p: Position, k: float) -> Any:
    xx, xy, yy = tensor(p)
    return xx * yy - xy * xy - k * (xx + yy) ** 2


@compile
def _response_eps(tensor: Image, p: Position, eps: float) -> Any:
    xx, xy, yy = tensor(p)
    return 2 * (xx * yy - xy * xy) / (xx + yy + eps)


@functools.partial(whole, measures=True)
@together
def corner_harris(
    image: Image, method: str = "k", k: float = 0.05, eps: float = 1e-6, sigma: Any = 1
) -> Any:
    """How much brightness changes in every direction: corners are its maxima;
    `skimage.feature.corner_harris`.

    With A the products of slopes, averaged by a Gaussian of `sigma`, it is det A - k (trace A)²,
    or by method "eps" 2 det A / (trace A + eps). Outside everything is 0. Reference: C. Harris and
    M. Stephens, *A combined corner and edge detector*, 1988.
    """
    channels_of(image, "corner_harris", 1)
    if method not in ("k", "eps"):
        raise ValueError(f"corner_harris: method takes 'k' or 'eps', got {shown(method)}")
    tensor = _tensor(image.sampled(boundary="constant", cval=0))
    tensor = gaussian(tensor, sigma=sigma)
    return _response(tensor, k=k) if method == "k" else _response_eps(tensor, eps=eps)


# ---------------------------------------------------------------- textures


def _turned(signs: list[Any], points: int) -> Any:
    """The number of a pattern whose ones lie together: by how many there are and where they begin,
    as scikit-image numbers them."""
    ones, first = sum(signs), points
    for k in reversed(range(points)):
        first = k if signs[k] != signs[0] else first  # the first that is unlike the one at 0
    turn = ones - first if signs[0] else points - first
    inner = 1 + (ones - 1) * points + turn
    return 0 if ones == 0 else points * (points - 1) + 1 if ones == points else inner


@compile
def _pattern(
    im: Image, p: Position, points: Any = 8, radius: Any = 1.0, method: Any = "default"
) -> Any:
    """The code of the neighbours on a circle that are no darker than the centre."""
    centre = im(p)
    values = []
    for k in range(points):
        angle = 2 * math.pi * k / points
        x, y = round(radius * math.cos(angle), 5), round(-radius * math.sin(angle), 5)
        left, top = math.floor(x), math.floor(y)
        u, v = x - left, y - top

        def above(i: int, j: int, left: int = left, top: int = top) -> Any:
            return im(p + (left + i, top + j)) - centre  # so that what is even has no rounding

        value = (1 - v) * ((1 - u) * above(0, 0) + u * above(1, 0)) if v < 1 else 0.0
        if v:
            value += v * ((1 - u) * above(0, 1) + u * above(1, 1))
        values.append(value)
    if method == "var":
        mean = sum(values) / points
        variance = sum((value - mean) ** 2 for value in values) / points
        return variance if variance > 0 else math.nan
    signs = [1 if value >= 0 else 0 for value in values]
    if method in ("uniform", "nri_uniform"):
        changes = sum(abs(a - b) for a, b in pairwise(signs))
        if method == "uniform":
            return sum(signs) if changes <= 2 else points + 1
        return _turned(signs, points) if changes <= 2 else points * (points - 1) + 2
    codes = [
        sum(s << ((k + turn) % points) for k, s in enumerate(signs))
        for turn in range(points if method == "ror" else 1)
    ]
    return min(codes) if len(codes) > 1 else codes[0]


@whole
def local_binary_pattern(image: Image, P: int, R: float, method: str = "default") -> Any:
    """A code for each pixel's texture: a bit for each of `P` points on a circle of radius `R`, 1
    where it is no darker than the pixel; `skimage.feature.local_binary_pattern`.

    The result is an image of ints. `method` "ror" takes the least code of all turns, "uniform"
    how many points are brighter, where these lie together, else P + 1, "nri_uniform" tells their
    turns apart. "var" is the variance of the points, NaN where it is 0. Outside everything is 0.
    Reference: T. Ojala, M. Pietikäinen, T. Mäenpää, *Multiresolution gray-scale and rotation
    invariant texture classification with local binary patterns*, 2002.
    """
    channels_of(image, "local_binary_pattern", 1)
    if not (isinstance(P, int | np.integer) and 1 <= P <= 30 and 0 < R < 2**16):
        raise ValueError(
            f"local_binary_pattern: P is a whole number from 1 to 30 and R above 0, got {P}, {R}"
        )
    if method not in PATTERNS:
        taken = ", ".join(map(repr, PATTERNS))
        raise ValueError(f"local_binary_pattern: method takes {taken}, got {shown(method)}")
    seen = image.sampled(boundary="constant", cval=0)
    return last(_pattern, seen, points=int(P), radius=float(R), method=method)


# ---------------------------------------------------------------- gradients by direction


@compile
def _direction(im: Image, p: Position, bins: int, root: Any = False) -> Any:
    """The bin of the gradient's direction, and its length; of colours the channel's with the
    longest. At the border a gradient is 0 across it."""

    def value(q: Any) -> Any:
        v = im(q) * 1.0
        if not root:
            return v
        return type(v)(*[math.sqrt(c) for c in v]) if isinstance(v, Vector) else math.sqrt(v)

    zero = 0.0 * value(p)
    inside_x = p.x > 0 and p.x < im.width - 1
    inside_y = p.y > 0 and p.y < im.height - 1
    gx = value(p + (1, 0)) - value(p - (1, 0)) if inside_x else zero
    gy = value(p + (0, 1)) - value(p - (0, 1)) if inside_y else zero
    pairs = list(zip(gx, gy, strict=True)) if isinstance(gx, Vector) else [(gx, gy)]
    x, y = pairs[0]
    for u, v in pairs[1:]:
        if u * u + v * v > x * x + y * y:
            x, y = u, v
    angle = math.atan2(y, x)
    bin = int((angle + math.pi if angle < 0 else angle) * bins / math.pi)
    return Vec2(0.0 if bin >= bins else float(bin), math.hypot(x, y))


@compile
def _cell(direction: Image, p: Position, bins: int, rows: int, columns: int) -> Any:
    """The mean length of a cell's gradients in one of the directions."""
    left, top, bin = p.x // bins * columns, p.y * rows, p.x % bins
    total = 0.0
    for j in range(rows):
        for i in range(columns):
            v = direction((left + i, top + j))
            if int(v.x) == bin:
                total += v.y
    return total / (rows * columns)


def _normalised(blocks: NDArray[Any], norm: str) -> NDArray[Any]:
    """Blocks, along the last axis, by one of the norms of Dalal and Triggs."""
    eps = 1e-5
    if norm in ("L1", "L1-sqrt"):
        blocks = blocks / (np.abs(blocks).sum(axis=-1, keepdims=True) + eps)
        return np.sqrt(blocks) if norm == "L1-sqrt" else blocks
    blocks = blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + eps**2)
    if norm == "L2-Hys":
        blocks = np.minimum(blocks, 0.2)
        blocks = blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + eps**2)
    return blocks


def _sizes(value: Any, name: str) -> tuple[int, int]:
    """Two whole numbers from 1 up."""
    try:
        rows, columns = map(whole_number, value)
    except (TypeError, ValueError):
        rows = columns = None
    if rows is None or columns is None or min(rows, columns) < 1:
        raise ValueError(
            f"hog: {name} takes (rows, columns), whole numbers from 1 up, got {shown(value)}"
        )
    return rows, columns


@whole_only
def hog(
    image: Any,
    orientations: int = 9,
    pixels_per_cell: tuple[int, int] = (8, 8),
    cells_per_block: tuple[int, int] = (3, 3),
    block_norm: str = "L2-Hys",
    transform_sqrt: bool = False,
    feature_vector: bool = True,
) -> NDArray[np.float64]:
    """A histogram of gradients' directions for each cell, normalised in blocks of cells;
    `skimage.feature.hog`.

    The result is an array: a vector, or without `feature_vector` of the axes block row, block
    column, cell row, cell column, direction. `block_norm` is "L1", "L1-sqrt", "L2" or "L2-Hys".
    Reference: N. Dalal and B. Triggs, *Histograms of oriented gradients for human detection*, 2005.
    """
    if block_norm not in ("L1", "L1-sqrt", "L2", "L2-Hys"):
        raise ValueError(
            f"hog: block_norm takes L1, L1-sqrt, L2 or L2-Hys, got {shown(block_norm)}"
        )
    if not (whole_number(orientations) or 0) >= 1:
        raise ValueError(
            f"hog: orientations takes a whole number from 1 up, got {shown(orientations)}"
        )
    refuse_dask(
        "hog",
        "its result is one vector of all cells",
        "Give it the array's .compute(), or those of windows",
        image,
    )
    picture = image_of(image, "hog")
    if picture.storage.dtype.kind == "u":  # as they are, bytes tell which of two is longer
        picture = Image(picture, normalize=False)
    rows, columns = _sizes(pixels_per_cell, "pixels_per_cell")
    down, across = _sizes(cells_per_block, "cells_per_block")
    cells = picture.height // rows, picture.width // columns
    if cells[0] < down or cells[1] < across:
        raise ValueError(
            f"hog: an image of {picture.height} x {picture.width} holds no block of {down} x "
            f"{across} cells of {rows} x {columns} pixels"
        )
    direction = _direction(picture, bins=orientations, root=bool(transform_sqrt))
    shape = (cells[0], cells[1] * orientations)
    sums = _cell(direction, bins=orientations, rows=rows, columns=columns, shape=shape)
    histograms = np.asarray(sums, np.float64).reshape(*cells, orientations)
    windows = np.lib.stride_tricks.sliding_window_view(histograms, (down, across), axis=(0, 1))
    blocks = np.moveaxis(windows, 2, -1)  # block row, block column, cell row, cell column, bin
    flat = _normalised(blocks.reshape(*blocks.shape[:2], -1), block_norm)
    return flat.ravel() if feature_vector else flat.reshape(blocks.shape)
