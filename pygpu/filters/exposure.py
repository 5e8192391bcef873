"""Brightness by its distribution: histograms made even or alike, and a threshold.

    match_histograms(photo, other)
    ink = grey < threshold_otsu(grey)

As in scikit-image. Values are texels as functions see them: bytes are in [0, 1], and so is a
threshold of them. Counting and sorting are the processor's work where the device does not count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown
from pygpu.core.errors import whole as whole_number
from pygpu.core.storage import texels
from pygpu.devices import targets
from pygpu.execution.arrays.histograms import histogram
from pygpu.execution.large.images import LazyImage, counted, derived
from pygpu.execution.large.sources import is_dask
from pygpu.filters.whole import (
    Levels,
    channels_of,
    image_of,
    joined,
    known_mask,
    last,
    layers_of,
    levels_of,
    refuse_dask,
    whole,
    whole_only,
)
from pygpu.image.image import Image
from pygpu.language.vectors import CLASSES, IVec2, Position, Vec2, Vector
from pygpu.runtime import compile
from pygpu.types import vector

__all__ = ["equalize_hist", "match_histograms", "threshold_otsu"]

LEAST: Final = 4096  # parts of a range of sorted values, by which one is found, at least,
PARTS: Final = 1 << 20  # and at most
MOST_INTS: Final = 1 << 20  # ints from the least to the greatest that are counted in a table
SHARE: Final = 2  # values of a part, about: of fewer the table is no longer in the second cache
MOST: Final = {np.dtype(kind): int(np.iinfo(kind).max) for kind in (np.uint8, np.uint16)}


# ---------------------------------------------------------------- counting


def extent(image: Any) -> tuple[Any, Any]:
    """The least and the greatest value of all channels; of a Dask array as such."""
    if is_dask(image):
        return np.min(image.min()), np.max(image.max())
    return float(image.min()), float(image.max())


def _most(image: Any) -> int:
    """The largest number of bytes or words, of which all values are soon counted; 0 of others."""
    return MOST.get(image.format.dtype, 0) if image.format.normalize else 0


def _values(image: Any) -> Sequence[Any]:
    """For each channel how many texels of one or two bytes there are of each value."""
    groups = MOST[image.format.dtype] + 1
    if isinstance(image, LazyImage):
        layers = [image.array] if image.channels == 1 else np.moveaxis(image.array, -1, 0)
        return [counted(layer, partial(_count_all, groups), groups) for layer in layers]
    return values_of(image, groups)


def values_of(image: Image, groups: int) -> Sequence[NDArray[Any]]:
    """For each channel how often there is each of 0, 1, ... groups - 1; no texel is greater."""
    host = image.storage.host()
    counts = targets.choose("auto").counted(host, groups)
    if counts is not None:
        return [*counts.T]
    return [np.bincount(layer.ravel(), minlength=groups) for layer in np.moveaxis(host, -1, 0)]


def _count_all(groups: int, values: NDArray[Any]) -> NDArray[Any]:
    return np.bincount(values.ravel(), minlength=groups)


def _distinct(image: Any, name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """The different ints of all channels together, sorted, and how many there are of each."""
    refuse_dask(
        name,
        "ints of any range are counted one by one at one place",
        "It takes Dask arrays of uint8, uint16 and floats: give it the array's .astype of one",
        image,
    )
    ints = image.storage.host().ravel()
    least = int(ints.min())
    if int(ints.max()) - least >= MOST_INTS:
        return np.unique(ints, return_counts=True)
    counts = np.bincount(np.subtract(ints, least, dtype=np.int64))
    there = np.flatnonzero(counts)
    return there + least, counts[there]


class _Histogram:
    """Counts of all channels together, in bins from the least to the greatest value: bytes and
    words have a bin each, floats and bools have so many in all. Of a Dask array counts and ends
    are not known yet: `asked` is."""

    def __init__(self, image: Any, nbins: int) -> None:
        self.most, self.middles = _most(image), None
        self.ends: tuple[Any, Any] = (0.0, 1.0)
        if self.most:
            self.counts = sum(_values(image))
            return
        self.ends = extent(image)
        flat = _side_by_side(image)
        if isinstance(flat, LazyImage):
            count = partial(_counts, nbins)
            self.counts = counted(flat.texels(), count, nbins, *self.ends)
        else:
            self.counts, edges = histogram(flat, nbins, _range(*self.ends))
            self.middles = _between(edges)

    def asked(
        self, function: Callable[..., Any], shape: tuple[int, ...] = (), dtype: Any = float
    ) -> Any:
        """A function of the counts and middles of the bins from the least value to the greatest."""
        if self.middles is not None:
            return function(self.counts, self.middles)
        of = partial(_of_bins, function, self.most)
        return derived(of, self.counts, *self.ends, shape=shape, dtype=dtype)


def _of_bins(
    function: Callable[..., Any], most: int, counts: NDArray[Any], low: Any, high: Any
) -> Any:
    if most:
        (there,) = counts.nonzero()
        first, last = int(there[0]), int(there[-1]) + 1
        return function(counts[first:last], np.arange(first, last) / most)
    return function(counts, _between(np.linspace(*_range(low, high), len(counts) + 1)))


def _between(edges: NDArray[Any]) -> NDArray[np.float32]:
    """The middles of bins."""
    wide = edges.astype(np.float32)
    return np.asarray((wide[1:] + wide[:-1]) / 2, np.float32)


def _side_by_side(image: Any) -> Any:
    """All channels as an image of one."""
    if image.channels == 1:
        return image
    if isinstance(image, LazyImage):
        return image.reading(image.array.reshape(image.height, -1))
    return Image(np.asarray(image).reshape(image.height, -1))


def _counts(nbins: int, values: Any, low: Any, high: Any) -> NDArray[np.int64]:
    """How many values there are in each bin from the least to the greatest."""
    counts, _ = histogram(values, nbins, _range(low, high))
    return counts


def _range(low: Any, high: Any) -> tuple[Any, Any]:
    """Where bins begin and end; as in NumPy one half beside the values where all are alike."""
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError("a histogram takes finite values: there is NaN or infinity in the image")
    if low == high:
        return float(low) - 0.5, float(high) + 0.5
    return np.float32(low), np.float32(high)


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


def _check_bins(nbins: int) -> None:
    if not 1 <= (whole_number(nbins) or 0) <= 2**16:
        raise ValueError(f"nbins: takes a whole number from 1 to 65536, got {shown(nbins)}")


@whole
def equalize_hist(image: Image, nbins: int = 256, mask: Any = None) -> Any:
    """Values spread so that as many pixels are below one half as above it, and so on for all
    shares; `skimage.exposure.equalize_hist`. With a mask the shares are those of its pixels.
    Floats are put into so many bins; bytes, words and ints have one each."""
    _check_bins(nbins)
    seen = image
    if mask is not None:
        chosen = known_mask(
            "equalize_hist",
            "the pixels of a mask are gathered at one place",
            "Leave the mask out, or give arrays in memory",
            image,
            mask,
        )
        stored = image.storage.host()[chosen]
        if not len(stored):
            raise ValueError("equalize_hist: no pixel of the mask is true")
        seen = Image(stored.reshape(1, -1))
    if image.format.kind == "int":
        values, counts = _distinct(seen, "equalize_hist")
        shares = np.cumsum(counts) / counts.sum()
        return joined([_replaced(layer, values, shares) for layer in layers_of(image)])
    histogram, most = _Histogram(seen, nbins), _most(image)
    if most:
        table = histogram.asked(partial(_shares_of_all, most), ((most + 1) // 256, 256), np.float32)
        return last(_of_table, image, image_of(table, "table"), most=most)
    shares = histogram.asked(_shares, (1, nbins), np.float32)
    first = histogram.asked(lambda counts, middles: middles[0])
    scale = histogram.asked(partial(_scale_of_middles, nbins))
    return last(_between_bins, image, image_of(shares, "shares"), first=first, scale=scale)


def _shares(counts: NDArray[Any], middles: NDArray[Any]) -> NDArray[np.float32]:
    """The share of pixels up to each bin, in a row."""
    return np.asarray((np.cumsum(counts) / np.sum(counts))[np.newaxis], np.float32)


def _shares_of_all(most: int, counts: NDArray[Any], middles: NDArray[Any]) -> NDArray[np.float32]:
    """The share of pixels up to each byte or word."""
    shares = np.cumsum(counts) / np.sum(counts)
    return _folded(np.interp(np.arange(most + 1) / most, middles, shares), 256)


def _scale_of_middles(nbins: int, counts: NDArray[Any], middles: NDArray[Any]) -> float:
    return float((nbins - 1) / (middles[-1] - middles[0])) if nbins > 1 else 0.0


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
    im: Image, values: Image, results: Image, starts: Image, p: Position, line: Vec2, counts: IVec2
) -> Any:
    """The result of the greatest of the sorted values that is not above the texel. It is looked for
    from the start of the part of their range that the texel lies in, by steps that halve. `line`:
    the least value, and the parts to a unit; `counts`: the parts, and the first step, twice which
    leaves the longest part. All pixels take these steps: so they need not find out together who is
    done. A step beyond the last value reads that one."""
    v, (first, scale), (parts, step) = im(p), line, counts
    low = starts((min(max(int((v - first) * scale), 0), parts - 1), 0))
    while step > 0:
        low = low + step if values((low + step, 0)) <= v else low
        step = step // 2
    return results((low, 0)) if v == v else v  # NaN stays


def _replaced(layer: Any, values: NDArray[Any], results: NDArray[Any]) -> Any:
    """Each texel's result, which the sorted values have theirs of."""
    first = float(values[0])
    width = float(values[-1]) - first
    parts = min(max(LEAST, (1 << len(values).bit_length()) // SHARE), PARTS)
    scale = parts / max(width, 1e-30) if math.isfinite(width) else 0.0  # one part has all
    part = np.minimum((values - first) * scale, parts - 1) if scale else np.zeros(len(values))
    # A texel may be taken for one of the part before or behind, as its quotient is rounded.
    ends = np.cumsum(np.bincount(part.astype(int), minlength=parts)) - 1
    starts = np.concatenate([[0, 0], np.maximum(ends[:-2], 0)])
    longest = int((np.append(ends[1:], ends[-1]) - starts).max())
    return _of_values(
        layer,
        _row(values, np.float32),
        _row(results, np.float32),
        _row(starts, np.int32),
        line=Vec2(first, scale),
        counts=IVec2(parts, 1 << longest.bit_length() >> 1),
    )


def _row(values: NDArray[Any], dtype: Any) -> Image:
    return Image(values[None].astype(dtype))


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
    reference = Levels(other)
    if not is_dask(image) and not is_dask(other):
        levels, other_levels = levels_of(image), levels_of(other)
        if levels is not None and other_levels is not None:
            image, reference = levels.image, other_levels
            other = reference.image
    most = _most(image)
    if not (most and _most(other)):
        refuse_dask(
            "match_histograms",
            "all values would be sorted at one place",
            "It takes Dask arrays of uint8 and uint16, which are counted: give one of these",
            image,
            other,
        )
    if is_dask(image) or is_dask(other):
        given = [counts for one in (image, other) for counts in _values(one)]
        shape = ((most + 1) // 256, 256, image.channels)
        table = derived(_tables_of_counts, *given, shape=shape, dtype=np.float32)
        return last(_of_table, image, image_of(table, "table"), most=most)
    if most and _most(other):
        own, others = ([_of_counts(counts) for counts in _values(one)] for one in (image, other))
        others = [(reference.of(numbers), shares) for numbers, shares in others]
        table = _tables(most, own, others, reference.unit)
        return last(_of_table, image, image_of(table, "table"), most=most)
    made = _alike(image, other)
    if made is not None:
        return Image(made)
    own, others = map(_shares_of_all_channels, (image, other))
    pairs = zip(layers_of(image), own, others, strict=True)
    return joined([_replaced(layer, *_matched(*one, *other)) for layer, one, other in pairs])


def _alike(*images: Image) -> NDArray[np.float32] | None:
    """The first with the second one's shares, where the device has code for floats."""
    own, other = (texels(one.storage.host(), one.format) for one in images)
    is_float = own.dtype == other.dtype == np.float32
    return targets.choose("auto").alike(own, other) if is_float else None


_Shares = tuple[NDArray[Any], NDArray[Any]]  # values, sorted, and the share not above each


def _tables_of_counts(*counts: NDArray[Any]) -> NDArray[np.float32]:
    """The tables of all channels of an image, of its counts and of those of a reference."""
    found = [_of_counts(each) for each in counts]
    half, (most, other) = len(found) // 2, (len(counts[k]) - 1 for k in (0, -1))
    return _tables(most, found[:half], found[half:], 1 / other)


def _tables(
    most: int, own: Sequence[_Shares], others: Sequence[_Shares], unit: float
) -> NDArray[np.float32]:
    """For each channel what every byte or word that there is becomes, times a unit."""
    tables = np.zeros((most + 1, len(own)), np.float32)
    for channel, (one, another) in enumerate(zip(own, others, strict=True)):
        numbers, results = _matched(*one, *another)
        tables[numbers, channel] = unit * results
    return tables.reshape(-1, 256, len(own))


def _of_counts(counts: NDArray[Any]) -> _Shares:
    """Of bytes or words as whole numbers."""
    numbers = np.flatnonzero(counts > 0)  # counts themselves take four times as long
    shares = counts[numbers].cumsum()
    return numbers, shares / shares[-1]


def _shares_of_all_channels(image: Image) -> list[_Shares]:
    wide = texels(image.storage.host(), image.format)
    return [_shares_of(wide[..., c]) for c in range(wide.shape[2])]


def _shares_of(channel: NDArray[Any]) -> _Shares:
    values, counts = np.unique(channel, return_counts=True)
    return values, counts.cumsum() / channel.size


def _matched(
    values: NDArray[Any], shares: NDArray[Any], others: NDArray[Any], other_shares: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Values, and those of the other image below which there are as many."""
    return values, np.interp(shares, other_shares, others)


def _folded(row: NDArray[Any], width: int) -> NDArray[np.float32]:
    """A long row as an image of so many columns; what is left of its last row is 0."""
    made = np.zeros((-(-len(row) // width), width), np.float32)
    made.ravel()[: len(row)] = row
    return made


# ---------------------------------------------------------------- thresholds


@whole_only
def threshold_otsu(image: Any, nbins: int = 256) -> Any:
    """The threshold that parts values into two classes as unlike as can be, in texels: of bytes
    it is in [0, 1]; `skimage.filters.threshold_otsu`. Of a Dask array it is one of no dimensions.
    Floats are put into so many bins; bytes, words and ints have one each.

    Reference: N. Otsu, *A threshold selection method from gray-level histograms*, 1979.
    """
    image = image_of(image, "threshold_otsu")
    channels_of(image, "threshold_otsu", 1)
    _check_bins(nbins)
    if image.format.kind == "int":
        values, counts = _distinct(image, "threshold_otsu")
        return _between_classes(counts, values)
    histogram = _Histogram(image, nbins)
    # A Dask array's is as wide as texels: one of 64 bits may lie between a texel and itself.
    found = histogram.asked(_between_classes, dtype=np.float32)

    def of_all(low: Any, high: Any, found: Any) -> float:
        return float(low if low == high else found)  # the middle of a bin may lie beside them

    return derived(of_all, *histogram.ends, found, dtype=np.float32)


def _between_classes(counts: NDArray[Any], values: NDArray[Any]) -> float:
    """The value that parts two classes."""
    if np.count_nonzero(counts) == 1:
        return float(values[counts.argmax()])
    below, weighted = counts.cumsum(), (counts * values).cumsum()
    above, rest = below[-1] - below[:-1], weighted[-1] - weighted[:-1]
    below = below[:-1]
    unlike = below * above * (weighted[:-1] / below - rest / above) ** 2
    return float(values[unlike.argmax()])
