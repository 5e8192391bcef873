"""Contrast by the surroundings, in tiles (CLAHE); as in `skimage.exposure`.

equalize_adapthist(photo, clip_limit=0.02)
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.filters.exposure import extent
from pygpu.filters.whole import channels_of, whole
from pygpu.image.image import Image
from pygpu.language.vectors import Position, Vector
from pygpu.runtime import compile

LEVELS: Final = 2**14  # of brightness, between which equalize_adapthist tells


@compile
def _brightest(im: Image, p: Position) -> Any:
    texel = im(p)
    return max(*texel) if isinstance(texel, Vector) else texel


@compile
def _levels(im: Image, p: Position, low: float, high: float, bin_size: int) -> Any:
    """The bin of a value, which is first rounded to 16 bits, then to LEVELS of what there is."""
    word = np.rint(min(max(im(p), 0.0), 1.0) * 65535)
    return int(np.rint((word - low) / (high - low) * (LEVELS - 1))) // bin_size


@compile
def _mapped(bins: Image, maps: Image, p: Position, rows: int, columns: int, across: int) -> Any:
    """The level to which the four nearest tiles map a bin, by their nearness."""
    place = p + (columns // 2, rows // 2)
    x, y = place.x // columns, place.y // rows
    u, v = (place.x % columns) / columns, (place.y % rows) / rows
    bin = bins(p)

    def map_of(i: Any, j: Any) -> Any:
        return maps((bin, j * across + i))

    upper = (1 - u) * map_of(x, y) + u * map_of(x + 1, y)
    lower = (1 - u) * map_of(x, y + 1) + u * map_of(x + 1, y + 1)
    return math.floor((1 - v) * upper + v * lower + 1e-3)  # whole numbers are told with an error


@compile
def _relit(im: Image, light: Image, level: Image, p: Position, low: float, high: float) -> Any:
    """Another brightness at the same hue and saturation."""
    before, after = light(p), (level(p) - low) / (high - low)
    texel = im(p)
    if not isinstance(texel, Vector):
        return after
    return texel * (after / before) if before > 0 else 0.0 * texel + after


@whole
def equalize_adapthist(
    image: Image, kernel_size: Any = None, clip_limit: float = 0.01, nbins: int = 256
) -> Any:
    """Contrast by the surroundings (CLAHE): a histogram made even in each tile of `kernel_size`,
    an eighth of the image unless said, with no bin above `clip_limit` of the tile's pixels;
    `skimage.exposure.equalize_adapthist`. Of colours the brightness (HSV's value) is changed.

    Values outside [0, 1] are clipped; the result covers [0, 1].
    Reference: K. Zuiderveld, *Contrast limited adaptive histogram equalization*, 1994.
    """
    channels_of(image, "equalize_adapthist", 1, 3)
    if not 2 <= nbins <= 256:
        raise ValueError(f"equalize_adapthist: nbins takes 2 to 256, got {shown(nbins)}")
    light = image if image.channels == 1 else _brightest(image)
    rows, columns = _tile(kernel_size, image)
    low, high = (np.rint(65535 * min(max(v, 0.0), 1.0)) for v in extent(light))
    if low == high:
        return 0.0 * image
    bins = _levels(light, low=low, high=high, bin_size=1 + LEVELS // nbins)
    maps = _maps(np.asarray(bins), (rows, columns), clip_limit, nbins)
    across = maps.shape[1]
    table = Image(maps.reshape(-1, nbins).astype(np.int32))
    level = _mapped(bins, table, rows=rows, columns=columns, across=across)
    least, most = extent(level)
    return _relit(image, light, level, low=least, high=max(most, least + 1))


def _tile(size: Any, image: Image) -> tuple[int, int]:
    if size is None:
        return max(image.height // 8, 1), max(image.width // 8, 1)
    pair = (size, size) if np.ndim(size) == 0 else tuple(size)
    if len(pair) != 2 or not all(n >= 1 for n in pair):
        raise ValueError(
            f"equalize_adapthist: kernel_size takes one or two sizes, got {shown(size)}"
        )
    return int(pair[0]), int(pair[1])


def _maps(
    bins: NDArray[Any], tile: tuple[int, int], clip_limit: float, nbins: int
) -> NDArray[np.int64]:
    """For each tile and each bin a level; the outer tiles once more around, so that each pixel
    has four."""
    ends = [
        (k // 2, (k - n % k) % k + math.ceil(k / 2)) for n, k in zip(bins.shape, tile, strict=True)
    ]
    padded = np.pad(bins, ends, mode="reflect")
    down, across = (n // k - 1 for n, k in zip(padded.shape, tile, strict=True))
    top, left = tile[0] // 2, tile[1] // 2
    inside = padded[top : top + down * tile[0], left : left + across * tile[1]]
    number = np.arange(down)[:, None, None, None] * across + np.arange(across)[:, None]
    blocks = inside.reshape(down, tile[0], across, tile[1]) + nbins * number
    counts = np.bincount(blocks.ravel(), minlength=down * across * nbins)
    pixels = tile[0] * tile[1]
    most = max(int(clip_limit * pixels), 1) if clip_limit > 0 else pixels
    clipped = np.array([_clipped(hist, most) for hist in counts.reshape(-1, nbins)])
    shares = np.cumsum(clipped, axis=1) * ((LEVELS - 1) / pixels)
    levels = np.minimum(shares, LEVELS - 1).astype(int).reshape(down, across, nbins)
    return np.pad(levels, ((1, 1), (1, 1), (0, 0)), mode="edge")


def _clipped(counts: NDArray[Any], most: int) -> NDArray[Any]:
    """A histogram with no bin above `most`: what is above goes to all bins alike, what then is
    above to those that have room, at even distances."""
    excess = int(np.maximum(counts - most, 0).sum())
    counts = np.minimum(counts, most)
    share = excess // counts.size
    low = counts < most - share
    excess -= int(low.sum()) * share
    counts = counts + share * low
    middle = (counts >= most - share) & (counts < most)
    excess -= int((most - counts[middle]).sum())
    counts[middle] = most
    while excess > 0:
        before = excess
        for first in range(counts.size):
            room = counts < most
            step = max(1, int(np.count_nonzero(room)) // excess)
            counts[first::step] += room[first::step]
            excess -= int(np.count_nonzero(room[first::step]))
            if excess <= 0:
                break
        if excess == before:
            break
    return counts
