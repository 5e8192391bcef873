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

PARTS: Final = 4096  # of a range of sorted values, by which one is found
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
    first: float,
    scale: float,
) -> Any:
    """The result of the greatest of the sorted values that is not above the texel, which is looked
    for between the limits of the part of their range that it lies in."""
    v = im(p)
    part = min(max(int((v - first) * scale), 0), PARTS - 1)
    low, high = limits((part, 0))
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
    scale = PARTS / max(width, 1e-30) if math.isfinite(width) else 0.0  # one part has all
    part = np.minimum((values - first) * scale, PARTS - 1) if scale else np.zeros(len(values))
    # A texel may be taken for one of the part before or behind, as its quotient is rounded.
    ends = np.searchsorted(part.astype(int), np.arange(-1, PARTS + 2), side="right") - 1
    low, high = np.maximum(np.concatenate([[0], ends[: PARTS - 1]]), 0), ends[2 : PARTS + 2]
    limits = np.stack([low, high], axis=-1).astype(np.int32)[np.newaxis]
    return _of_values(
        layer,
        Image(_folded(values)),
        Image(_folded(results)),
        Image(limits),
        first=first,
        scale=scale,
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
        layers.append(_replaced(layer, *_matched(*_counted(image, c), *_counted(other, c))))
    return joined(layers)


def _counted(image: Image, channel: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different values of a channel, sorted, and the share of texels not above each."""
    host = image.storage.host()[:, :, channel]
    if _is_whole(image):
        counts = _values(image, channel)
        values = np.flatnonzero(counts)
        return values / np.iinfo(host.dtype).max, np.cumsum(counts[values]) / host.size
    ordered = sort(texels(np.ascontiguousarray(host), image.format).ravel())
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
