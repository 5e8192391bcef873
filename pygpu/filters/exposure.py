"""Brightness by its distribution: histograms made even or alike, and thresholds.

    equalize_hist(photo)
    match_histograms(photo, other)
    ink = grey < threshold_local(grey, 35)

As in `skimage.exposure` and `skimage.filters`. Values are texels as functions see them: bytes are
in [0, 1], and so is a threshold of them. Counting and sorting are the processor's work
where the device does not count.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.storage import texels
from pygpu.devices import targets
from pygpu.execution.arrays.histograms import histogram
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
from pygpu.language.vectors import CLASSES, Position, Vec2, Vector
from pygpu.runtime import compile
from pygpu.types import vector

PARTS: Final = 1 << 20  # of a range of sorted values, by which one is found, at most
SHARE: Final = 8  # values of a part, about: of fewer the table takes longer to make
WIDE: Final = 4096  # columns of a table that is longer than an image may be wide


# ---------------------------------------------------------------- counting


def extent(image: Image) -> tuple[float, float]:
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
    low, high = extent(image)
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("a histogram takes finite values: there is NaN or infinity in the image")
    if low == high:
        counts, edges = np.histogram(np.full(1, low), nbins)
        return counts * math.prod(image.shape), (edges[1:] + edges[:-1]) / 2
    layers = image if image.channels == 1 else Image(np.asarray(image).reshape(image.height, -1))
    counts, edges = histogram(layers, nbins, (np.float32(low), np.float32(high)))  # type: ignore[arg-type]
    return counts, (edges[1:] + edges[:-1]) / 2


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
def _of_values(
    im: Image,
    values: Image,
    results: Image,
    limits: Image,
    p: Position,
    line: Vec2,
    parts: int,
) -> Any:
    """The result of the greatest of the sorted values that is not above the texel, which is looked
    for between the limits of the part of their range that it lies in. `line`: the least value, and
    the parts to a unit."""
    v, (first, scale) = im(p), line
    part = min(max(int((v - first) * scale), 0), parts - 1)
    low, high = limits((part % WIDE, part // WIDE))
    while low < high:
        middle = (low + high + 1) // 2
        if values((middle % WIDE, middle // WIDE)) <= v:
            low = middle
        else:
            high = middle - 1
    return results((low % WIDE, low // WIDE))


def _replaced(layer: Any, values: NDArray[Any], results: NDArray[Any]) -> Any:
    """Each texel's result, which the sorted values have theirs of."""
    first = float(values[0])
    width = float(values[-1]) - first
    parts = min(max(WIDE, (1 << len(values).bit_length()) // SHARE), PARTS)
    scale = parts / max(width, 1e-30) if math.isfinite(width) else 0.0  # one part has all
    part = np.minimum((values - first) * scale, parts - 1) if scale else np.zeros(len(values))
    # A texel may be taken for one of the part before or behind, as its quotient is rounded.
    ends = np.cumsum(np.bincount(part.astype(int), minlength=parts)) - 1
    low, high = np.zeros(parts, np.int32), np.full(parts, len(values) - 1, np.int32)
    np.maximum(ends[:-2], 0, out=low[2:], casting="unsafe")
    high[:-1] = ends[1:]
    limits = np.stack([low, high], axis=-1).reshape(-1, WIDE, 2)
    return _of_values(
        layer,
        Image(_folded(values)),
        Image(_folded(results)),
        Image(limits),
        line=Vec2(first, scale),
        parts=parts,
    )


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
    own, others = _counted_all([image, other])
    columns = [_matched(*one, *another) for one, another in zip(own, others, strict=True)]
    if _is_whole(image):
        most = int(np.iinfo(image.storage.dtype).max)
        tables = [np.interp(np.arange(most + 1) / most, *column) for column in columns]
        table = np.stack([_folded(table, 256) for table in tables], axis=-1)
        return _of_table(image, Image(table), most=most)
    layers = zip(layers_of(image), columns, strict=True)
    return joined([_replaced(layer, *column) for layer, column in layers])


def _counted_all(images: Sequence[Image]) -> list[list[tuple[NDArray[Any], NDArray[Any]]]]:
    """What `_counted` gives of each channel of images. NumPy sorts on one core: where it does,
    several channels are sorted at once."""
    if all(map(_is_whole, images)):
        return [[_counted(image, c) for c in range(image.channels)] for image in images]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [
            [pool.submit(_counted, image, c) for c in range(image.channels)] for image in images
        ]
        return [[task.result() for task in each] for each in tasks]


def _counted(image: Image, channel: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different values of a channel, sorted, and the share of texels not above each."""
    host = image.storage.host()[:, :, channel]
    if _is_whole(image):
        counts = _values(image, channel)
        values = np.flatnonzero(counts)
        return values / np.iinfo(host.dtype).max, np.cumsum(counts[values]) / host.size
    ordered = np.sort(texels(host, image.format), axis=None)
    is_last = np.ones(ordered.size, bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_last[:-1])
    last = np.flatnonzero(is_last)
    return ordered[last], (last + 1) / ordered.size


def _matched(
    values: NDArray[Any], shares: NDArray[Any], others: NDArray[Any], other_shares: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values, and those of the other image below which there are as many."""
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
    counts, values = _histogram(image, nbins)
    if np.count_nonzero(counts) == 1:  # all are alike: the middle of a bin may lie beside them
        return extent(image)[0]
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
