"""Brightness by its distribution: histograms made even or alike, and thresholds.

    equalize_hist(photo); equalize_adapthist(photo)
    match_histograms(photo, other)
    ink = grey < threshold_local(grey, 35)

As in `skimage.exposure` and `skimage.filters`. Values are texels as functions see them: bytes are
in [0, 1], and so is a threshold of them. Counting and sorting are the processor's work
where the device does not count.
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.storage import texels
from pygpu.devices import targets
from pygpu.execution.arrays.sorting import sort
from pygpu.filters.linear import correlate, gaussian
from pygpu.filters.rank import median
from pygpu.filters.whole import (
    channels_of,
    image_of,
    joined,
    layers_of,
    together,
    whole,
    whole_only,
)
from pygpu.image.image import Image
from pygpu.language.vectors import CLASSES, Position, Vector
from pygpu.runtime import compile
from pygpu.types import vector

LEVELS: Final = 2**14  # of brightness, between which equalize_adapthist tells
WIDE: Final = 4096  # columns of a table that is longer than an image may be wide


# ---------------------------------------------------------------- counting


@compile
def _bins(im: Image, edges: Image, p: Position, low: float, scale: float, most: int) -> Any:
    """The number of the bin that a value falls into. As in NumPy, what lies on an edge is right of
    it, and edges decide where the quotient errs."""
    v = im(p)
    bin = min(max(int((v - low) * scale), 0), most)
    if v < edges((bin, 0)):
        bin -= 1
    elif bin < most and v >= edges((bin + 1, 0)):
        bin += 1
    return bin


def _extent(image: Image) -> tuple[float, float]:
    """The least and the greatest value of all channels."""
    return float(np.min(image.min())), float(np.max(image.max()))


def _is_whole(image: Image) -> bool:
    """Whether its texels are bytes or words, of which all values are soon counted."""
    return image.storage.dtype.name in ("uint8", "uint16") and image.format.normalize


def _values(image: Image, channel: int = 0) -> NDArray[Any]:
    """How many texels of one or two bytes there are of each value."""
    host = image.storage.host()
    groups = int(np.iinfo(host.dtype).max) + 1
    counts = targets.choose("auto").counted(host, channel, groups)
    if counts is None:
        return np.bincount(host[..., channel].ravel(), minlength=groups)
    return counts


def _histogram(image: Image, nbins: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Counts of all channels together and the middles of the bins, from the least to the greatest
    value. Bytes and words have a bin each; for other values there are `nbins`."""
    if not (isinstance(nbins, int | np.integer) and 1 <= nbins <= 2**16):
        raise ValueError(f"nbins: takes a whole number from 1 to 65536, got {shown(nbins)}")
    if _is_whole(image):
        counts = np.sum([_values(image, c) for c in range(image.channels)], axis=0)
        there = np.flatnonzero(counts)
        first, last = int(there[0]), int(there[-1]) + 1
        return counts[first:last], np.arange(first, last) / np.iinfo(image.storage.dtype).max
    low, high = _extent(image)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("a histogram takes finite values: there is NaN or infinity in the image")
    if low == high:
        counts, edges = np.histogram(np.full(1, low), nbins)
        return counts * math.prod(image.shape), (edges[1:] + edges[:-1]) / 2
    edges = np.linspace(np.float32(low), np.float32(high), nbins + 1, dtype=np.float32)
    layers = image if image.channels == 1 else Image(np.asarray(image).reshape(image.height, -1))
    bins = _bins(
        layers,
        Image(edges[np.newaxis]),
        low=low,
        scale=nbins / (high - low),
        most=nbins - 1,
        dtype="uint8" if nbins <= 256 else "uint16",
    )
    return _values(bins)[:nbins], (edges[1:] + edges[:-1]) / 2


# ---------------------------------------------------------------- histograms made even


@compile
def _between_bins(im: Image, table: Image, p: Position, first: float, scale: float) -> Any:
    """Each channel looked up in a table of one row, between its entries."""
    row = table.sampled(interpolation="linear")
    return _each(lambda v: row(((v - first) * scale, 0.0)), im(p))


def _each(function: Any, texel: Any) -> Any:
    """A function of a number, of each channel."""
    if not isinstance(texel, Vector):
        return function(texel)
    values = [function(v) for v in texel]
    return CLASSES[vector("float", len(values))](*values)


@whole
def equalize_hist(image: Image, nbins: int = 256, mask: Any = None) -> Any:
    """Values spread so that as many pixels are below one half as above it, and so on for all
    shares; `skimage.exposure.equalize_hist`. With a mask the shares are those of its pixels."""
    counted = image
    if mask is not None:
        chosen = np.asarray(mask, bool)
        if chosen.shape != image.shape[:2]:
            raise ValueError(
                f"equalize_hist: a mask has the image's size {image.shape[:2]}, got {chosen.shape}"
            )
        stored = image.storage.host()[chosen]
        if not len(stored):
            raise ValueError("equalize_hist: no pixel of the mask is true")
        counted = Image(stored.reshape(1, -1))
    counts, middles = _histogram(counted, nbins)
    shares = np.cumsum(counts) / np.sum(counts)
    if _is_whole(image):
        most = int(np.iinfo(image.storage.dtype).max)
        table = np.interp(np.arange(most + 1) / most, middles, shares)
        return _of_table(image, Image(_folded(table, 256)), most=most)
    scale = (nbins - 1) / (middles[-1] - middles[0]) if nbins > 1 else 0.0
    return _between_bins(image, Image(shares[np.newaxis]), first=middles[0], scale=scale)


# ---------------------------------------------------------------- in tiles (CLAHE)


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
    low, high = (np.rint(65535 * min(max(v, 0.0), 1.0)) for v in _extent(light))
    if low == high:
        return 0.0 * image
    bins = _levels(light, low=low, high=high, bin_size=1 + LEVELS // nbins)
    maps = _maps(np.asarray(bins), (rows, columns), clip_limit, nbins)
    across = maps.shape[1]
    table = Image(maps.reshape(-1, nbins).astype(np.int32))
    level = _mapped(bins, table, rows=rows, columns=columns, across=across)
    least, most = _extent(level)
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


# ---------------------------------------------------------------- histograms made alike


@compile
def _of_table(im: Image, table: Image, p: Position, most: float) -> Any:
    """Each channel of bytes or words in its own of a table: entry k is at (k % 256, k // 256)."""
    texel = im(p)
    if not isinstance(texel, Vector):
        return table(_entry(texel, most))
    values = [table(_entry(v, most)) for v in texel]
    if isinstance(values[0], Vector):
        values = [entry[c] for c, entry in enumerate(values)]
    return CLASSES[vector("float", len(values))](*values)


def _entry(value: Any, most: Any) -> Any:
    k = int(value * most + 0.5)
    return (k % 256, k // 256)


@compile
def _of_values(im: Image, values: Image, results: Image, p: Position, count: int) -> Any:
    """The result of the greatest of the sorted values that is not above the texel."""
    v, low, high = im(p), 0, count - 1
    while low < high:
        middle = (low + high + 1) // 2
        if values((middle % WIDE, middle // WIDE)) <= v:
            low = middle
        else:
            high = middle - 1
    return results((low % WIDE, low // WIDE))


@whole
def match_histograms(image: Image, reference: Any) -> Any:
    """Each channel's values replaced, so that their shares are those of the reference;
    `skimage.exposure.match_histograms`."""
    other = image_of(reference, "match_histograms: reference")
    if other.channels != image.channels:
        raise ValueError(
            f"match_histograms: the reference has {other.channels} channels, "
            f"the image {image.channels}"
        )
    if _is_whole(image):
        most = int(np.iinfo(image.storage.dtype).max)
        columns = [
            _matched(*_counted(image, c), *_counted(other, c)) for c in range(image.channels)
        ]
        tables = [np.interp(np.arange(most + 1) / most, *column) for column in columns]
        table = np.stack([_folded(table, 256) for table in tables], axis=-1)
        return _of_table(image, Image(table), most=most)
    layers = []
    for c, layer in enumerate(layers_of(image)):
        values, results = _matched(*_counted(image, c), *_counted(other, c))
        sorted_values, replaced = Image(_folded(values)), Image(_folded(results))
        layers.append(_of_values(layer, sorted_values, replaced, count=len(values)))
    return joined(layers)


def _counted(image: Image, channel: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different values of a channel, sorted, and how many there are of each."""
    host = image.storage.host()[:, :, channel]
    if _is_whole(image):
        counts = _values(image, channel)
        values = np.flatnonzero(counts)
        return values / np.iinfo(host.dtype).max, counts[values]
    ordered = sort(texels(np.ascontiguousarray(host), image.format).ravel())
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))
    return ordered[last], np.diff(last, prepend=-1)


def _matched(
    values: NDArray[Any], counts: NDArray[Any], others: NDArray[Any], other_counts: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values, and those of the other image below which there are as many."""
    shares = np.cumsum(counts) / counts.sum()
    other_shares = np.cumsum(other_counts) / other_counts.sum()
    return values, np.interp(shares, other_shares, others)


def _folded(row: NDArray[Any], width: int = WIDE) -> NDArray[np.float32]:
    """A long row as an image of so many columns; what is left of its last row is 0."""
    return np.pad(np.float32(row), (0, -len(row) % width)).reshape(-1, width)


# ---------------------------------------------------------------- thresholds


@whole_only
def threshold_otsu(image: Any, nbins: int = 256) -> float:
    """The threshold that parts values into two classes as unlike as can be, in texels: of bytes
    it is in [0, 1]; `skimage.filters.threshold_otsu`.

    Reference: N. Otsu, *A threshold selection method from gray-level histograms*, 1979.
    """
    image = image_of(image, "threshold_otsu")
    channels_of(image, "threshold_otsu", 1)
    values: NDArray[Any]
    if _is_whole(image):
        counts, values = _histogram(image, nbins)
    else:
        low, high = _extent(image)
        if low == high:
            return low
        counts, values = _histogram(image, nbins)
    if len(values) == 1:
        return float(values[0])
    weighted = counts * values
    below, above = np.cumsum(counts)[:-1], np.cumsum(counts[::-1])[::-1][1:]
    means = np.cumsum(weighted)[:-1] / below, np.cumsum(weighted[::-1])[::-1][1:] / above
    return float(values[np.argmax(below * above * (means[0] - means[1]) ** 2)])


@compile
def _box(im: Image, p: Position, size: Any = 3, axis: Any = 1) -> Any:
    """The mean of a line of texels."""
    weights = np.full(size, 1 / size)
    return correlate(weights if axis == 1 else weights[:, np.newaxis], im, p)


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
    pair = (block_size, block_size) if np.ndim(block_size) == 0 else tuple(block_size)
    if len(pair) != 2 or not all(isinstance(n, int | np.integer) and n % 2 == 1 for n in pair):
        raise ValueError(f"threshold_local: block_size takes odd numbers, got {shown(block_size)}")
    seen = image.sampled(boundary=mode, cval=cval)
    match method:
        case "gaussian":
            sigma = [(n - 1) / 6 for n in pair] if param is None else param
            mean = gaussian(seen, sigma=sigma)
        case "mean":
            mean = _box(_box(seen, size=pair[1]), size=pair[0], axis=0)
        case "median":
            mean = median(seen, size=pair)
        case _:
            raise ValueError(
                f"threshold_local: method takes 'gaussian', 'mean' or 'median', got {shown(method)}"
            )
    return _less(mean, offset=offset) if offset else mean
