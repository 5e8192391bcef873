"""Contrast and thresholds by the surroundings; as in `skimage.exposure` and `skimage.filters`.

equalize_adapthist(photo, clip_limit=0.02)
ink = grey < threshold_local(grey, 35)
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.errors import whole as whole_number
from pygpu.execution.large.images import LazyImage, derived, tiled
from pygpu.filters.exposure import extent, values_of
from pygpu.filters.linear import box, gaussian
from pygpu.filters.rank import median
from pygpu.filters.whole import channels_of, image_of, last, outside, pair_of, together, whole
from pygpu.image.image import Image
from pygpu.language.vectors import Position, Vector
from pygpu.runtime import compile

__all__ = ["equalize_adapthist", "threshold_local"]

LARGEST: Final = 4096  # pixels of a tile's side, or as many as the image has
LEVELS: Final = 2**14  # of brightness, between which equalize_adapthist tells


@compile
def _brightest(im: Image, p: Position) -> Any:
    texel = im(p)
    return max(*texel) if isinstance(texel, Vector) else texel


@compile
def _levels(im: Image, p: Position, low: float, high: float, bin_size: int) -> Any:
    """The bin of a value, which is first rounded to 16 bits, then to LEVELS of what there is."""
    word = np.rint(min(max(im(p), 0.0), 1.0) * 65535)
    share = min(max((word - low) / (high - low), 0.0), 1.0)  # words may be one off at both ends
    return int(np.rint(share * (LEVELS - 1))) // bin_size


@compile
def _numbered(bins: Image, p: Position, rows: int, columns: int, across: int, nbins: int) -> Any:
    """The bin of a pixel of a tile among the bins of all tiles, which follow each other."""
    return bins(p) + nbins * (p.y // rows * across + p.x // columns)


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
    if image.format.kind == "int":
        raise ValueError(f"equalize_adapthist takes bytes, words and floats, got {image.dtype}")
    if not 2 <= nbins <= 256:
        raise ValueError(f"equalize_adapthist: nbins takes 2 to 256, got {shown(nbins)}")
    light = image if image.channels == 1 else _brightest(image)
    if not clip_limit >= 0:
        raise ValueError(
            f"equalize_adapthist: clip_limit takes a number from 0 up, got {shown(clip_limit)}"
        )
    rows, columns = _tile(kernel_size, image)
    ends = extent(light)
    low, high = (derived(one, *ends) for one in (_low_word, _high_word))
    bins = _levels(light, low=low, high=high, bin_size=1 + LEVELS // nbins)
    table, across = _table(bins, (rows, columns), clip_limit, nbins)
    maps = image_of(table, "maps")
    level = _mapped(bins, maps, rows=rows, columns=columns, across=across)
    ends = extent(level)
    low, high = (derived(one, *ends) for one in (_below, _above))
    return last(_relit, image, light, level, low=low, high=high)


def _word(value: Any) -> Any:
    if not math.isfinite(value):
        raise ValueError("equalize_adapthist takes finite values: there is NaN or infinity")
    return np.rint(65535 * min(max(value, 0.0), 1.0))


# As in scikit-image, where all values are alike they are not stretched but held within the range.
def _low_word(least: Any, most: Any) -> Any:
    """The word, of 16 bits, that is the lowest level."""
    low, high = _word(least), _word(most)
    return low if low < high else low - min(low, LEVELS - 1)


def _high_word(least: Any, most: Any) -> Any:
    low, high = _word(least), _word(most)
    return high if low < high else _low_word(least, most) + LEVELS - 1


def _below(least: Any, most: Any) -> Any:
    """The level that is black."""
    return least if least < most else max(least - 1, 0)


def _above(least: Any, most: Any) -> Any:
    return most if least < most else _below(least, most) + 1


def _tile(size: Any, image: Image) -> tuple[int, int]:
    if size is None:
        return max(image.height // 8, 1), max(image.width // 8, 1)
    name, most = "equalize_adapthist: kernel_size", max(image.height, image.width, LARGEST)
    takes = f"a whole number from 1 to {most}, or a pair of such (rows, columns)"
    down, across = map(whole_number, pair_of(size, name, takes, 1))
    if down is None or across is None or max(down, across) > most:
        raise ValueError(f"{name} takes {takes}, got {shown(size)}")
    return down, across


def _table(bins: Any, tile: tuple[int, int], clip_limit: float, nbins: int) -> tuple[Any, int]:
    """For each tile, a row, and each bin a level; the outer tiles once more around, so that each
    pixel has four. And how many tiles lie beside each other."""
    pixels = tile[0] * tile[1]
    most = max(int(clip_limit * pixels), 1) if 0 < clip_limit < 1 else pixels
    down, across = (-(-n // k) for n, k in zip(bins.shape, tile, strict=True))
    if isinstance(bins, LazyImage):
        maps = partial(_maps, tile=tile, most=most, nbins=nbins)
        found = tiled(maps, _filled_up(bins.array, tile), tile, nbins)
    else:
        size = {"rows": tile[0], "columns": tile[1], "across": across, "nbins": nbins}
        shape = down * tile[0], across * tile[1]
        numbers = _numbered(bins.sampled(boundary="mirror"), **size, shape=shape)
        counts = values_of(numbers, down * across * nbins)[0]
        found = _levels_of(counts.reshape(down, across, nbins), pixels, most)
    shape = (down + 2) * (across + 2), nbins
    return derived(_surrounded, found, shape=shape, dtype=np.int32), across + 2


def _filled_up(bins: Any, tile: tuple[int, int]) -> Any:
    """With as many rows and columns more, mirrored, as whole tiles need."""
    for axis, (n, k) in enumerate(zip(bins.shape, tile, strict=True)):
        places = sampler.indices("mirror", np.arange(n, n + -n % k), n)
        if len(places):
            more = bins[places] if axis == 0 else bins[:, places]
            bins = np.concatenate([bins, more], axis)
    return bins


def _maps(bins: NDArray[Any], tile: tuple[int, int], most: int, nbins: int) -> NDArray[np.int32]:
    """For each tile (down, across) and each bin a level."""
    down, across = (n // k for n, k in zip(bins.shape, tile, strict=True))
    number = np.arange(down)[:, None, None, None] * across + np.arange(across)[:, None]
    blocks = bins.reshape(down, tile[0], across, tile[1]) + nbins * number
    counts = np.bincount(blocks.ravel(), minlength=down * across * nbins)
    return _levels_of(counts.reshape(down, across, nbins), tile[0] * tile[1], most)


def _levels_of(counts: NDArray[Any], pixels: int, most: int) -> NDArray[np.int32]:
    """For each tile of so many pixels, and each bin, a level, by what is in the bins."""
    clipped = _clipped(counts.reshape(-1, counts.shape[2]), most)
    shares = np.cumsum(clipped, axis=1) * ((LEVELS - 1) / pixels)
    return np.minimum(shares, LEVELS - 1).astype(np.int32).reshape(counts.shape)


def _surrounded(maps: NDArray[Any]) -> NDArray[np.int32]:
    down, across = ([0, *range(n), n - 1] for n in maps.shape[:2])
    levels = maps[np.ix_(down, across)]
    return levels.reshape(-1, maps.shape[2]).astype(np.int32, copy=False)


@lru_cache(maxsize=4)
def _spaced(size: int) -> NDArray[np.bool_]:
    """For each distance, up to the number of bins, a row of them of which every such is true."""
    return np.asarray(np.arange(size) % np.maximum(np.arange(size + 1), 1)[:, None] == 0)


def _clipped(counts: NDArray[Any], most: int) -> NDArray[Any]:
    """Histograms, a row each, with no bin above `most`: what is above goes to all bins alike, what
    then is above to those that have room, at even distances."""
    size = counts.shape[1]
    excess = np.maximum(counts - most, 0).sum(axis=1)
    counts = np.minimum(counts, most)
    share = (excess // size)[:, None]
    low = counts < most - share
    counts += share * low
    middle = (counts >= most - share) & (counts < most)
    excess -= low.sum(axis=1) * share[:, 0] + np.where(middle, most - counts, 0).sum(axis=1)
    counts[middle] = most
    spaced, left = _spaced(size), np.flatnonzero(excess > 0)
    while len(left):
        before = excess[left]
        for first in range(size):
            rows = left[excess[left] > 0]
            if not len(rows):
                break
            filled = counts[rows] < most
            step = np.maximum(1, filled.sum(axis=1) // excess[rows])
            filled[:, :first] = False
            filled[:, first:] &= spaced[step, : size - first]
            counts[rows] += filled
            excess[rows] -= filled.sum(axis=1)
        left = left[(excess[left] > 0) & (excess[left] < before)]
    return counts


# ---------------------------------------------------------------- thresholds


@compile
def _less(im: Image, p: Position, offset: float) -> Any:
    return im(p) - offset


@whole
@together
def threshold_local(
    image: Image,
    block_size: Any = 3,
    method: str = "gaussian",
    offset: float = 0,
    mode: str = "reflect",
    param: Any = None,
    cval: float = 0,
) -> Any:
    """The threshold for each pixel: the mean of its surroundings less `offset`;
    `skimage.filters.threshold_local`.

    `block_size` is odd, or (rows, columns). `method` is "gaussian" (of a sixth of the block's
    size, or `param`), "mean" or "median". `mode` says what lies outside, in SciPy's names.
    """
    pair = pair_of(block_size, "threshold_local: block_size", "an odd number, or two", 1)
    if not all(isinstance(n, int | np.integer) and n % 2 == 1 for n in pair):
        raise ValueError(f"threshold_local: block_size takes odd numbers, got {shown(block_size)}")
    seen = outside(image, mode, cval)
    match method:
        case "gaussian":
            sigma: Any = [(n - 1) / 6 for n in pair]
            if param is not None:
                sigma = pair_of(param, "threshold_local: param", "a sigma from 0 up, or two", 0)
            mean = gaussian(seen, sigma=sigma)
        case "mean":
            mean = box(box(seen, size=pair[1]), size=pair[0], axis=0)
        case "median":
            mean = median(seen, size=pair)
        case _:
            raise ValueError(
                f"threshold_local: method takes 'gaussian', 'mean' or 'median', got {shown(method)}"
            )
    return mean if isinstance(offset, int) and not offset else _less(mean, offset=offset)
