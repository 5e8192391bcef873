"""`pygpu.histogram`: how many texels lie between edges, as numpy.histogram counts them.

Texels of one or two bytes are counted as they are stored, and the few values that there are put
between the edges by NumPy. For others a pass finds the number of the bin, by a guess that is then
corrected by the edges themselves, so that counts are NumPy's where a texel is an edge.

    counts, edges = histogram(photo, bins=256)
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shortened, shown
from pygpu.core.host.records import record
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.devices import targets
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Taken, rows_of, source, spread, taken
from pygpu.execution.arrays.passes import IMAGES, NUMBERS, Made, as_stored, made
from pygpu.execution.arrays.recall import Plan, Plans
from pygpu.execution.arrays.whole import Fold, Grouped, grouped, parts_of
from pygpu.types import INT

MOST: Final = 1 << 24  # bins: their edges are to be told apart
ROUNDING: Final = (
    2.0**-20
)  # of the largest edge: what arithmetic in float32 may err in a bin's place


def histogram(
    image: Any, bins: Any = 256, range: tuple[float, float] = (0.0, 1.0), *, target: str = "auto"
) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """How many texels are in each bin, and the edges of bins, as numpy.histogram gives them.

    `bins` is a number of bins of equal width in `range`, or their edges, in rising order. Bins are
    half open, but for the last; texels outside and NaNs are in none. Texels are what functions
    see: bytes are in [0, 1]. Counts are int64, of shape (bins,), or (C, bins) where there are C
    channels.
    """
    with shortened, targets.at_once():
        targets.check(target)
        key = _PLANS.key(target, (image,), known_key(bins), known_key(range))
        plan = _PLANS.find(key)
        if plan is not None:
            found: tuple[NDArray[np.int64], NDArray[Any]] = plan.run((image,))
            return found
        given = taken(image, "histogram: image", target)
        edges = _edges(given, bins, range)
        channels = given.image.format.channels
        at_once = [_at_once(given, c, edges, target) for c, _ in enumerate("." * channels)]
        counts = _of_each_value(given, edges, target) if None in at_once else None
        if counts is None:
            counts = [
                _counts(given, c, edges, target) if each is None else each.run(given.image.storage)
                for c, each in enumerate(at_once)
            ]
        if key is not None and given.is_itself and None not in at_once:
            _plan(key, at_once, edges)
        return _together(counts), edges.edges.copy()  # a plan keeps its own


def _together(counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.stack(counts) if len(counts) > 1 else counts[0]


_PLANS: Final = Plans()


def _plan(key: Any, channels: Sequence[_Counted | None], edges: Edges) -> None:
    """Write down what counts each channel."""

    def run(images: Sequence[Any]) -> Any:
        counts = [each.run(images[0].storage) for each in channels if each is not None]
        return _together(counts), edges.edges.copy()

    sources = [each.fold.sources for each in channels if each is not None]
    _PLANS.keep(key, Plan(run, tuple([source for some in sources for source in some])))


@record
class Edges:
    """The edges of bins. `is_even`: of equal width."""

    edges: NDArray[Any]
    is_even: bool

    @property
    def bins(self) -> int:
        return len(self.edges) - 1

    @property
    def is_near(self) -> bool:
        """Whether float32 arithmetic guesses the bin of a value, or one beside it: bins are then
        much wider than what float32 tells apart."""
        first, last = float(self.edges[0]), float(self.edges[-1])
        width, most = (last - first) / self.bins, max(abs(first), abs(last))
        return self.is_even and width > 1e-5 * most and 1e-30 < width < 1e30

    @property
    def guess(self) -> tuple[float, float, float]:
        """The first edge, the bins to a unit, and how near to an edge, in bins, float32 arithmetic
        may guess the bin beside."""
        first, last = float(self.edges[0]), float(self.edges[-1])
        scale = self.bins / (last - first)
        return first, scale, ROUNDING * max(abs(first), abs(last)) * scale

    def bins_of(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """The number of the bin of each value, -1 of those outside."""
        found = np.searchsorted(self.edges, values, "right") - 1
        found[values == self.edges[-1]] = self.bins - 1
        found[~((values >= self.edges[0]) & (values <= self.edges[-1]))] = -1
        return found

    def table(self, dtype: np.dtype[Any]) -> NDArray[Any]:
        """The edges as texels of a type are compared with them: each the least one that is not
        below the edge; the last the greatest that is not above it."""
        if dtype == self.edges.dtype == np.float32:
            return self.edges
        exact = self.edges.astype(np.float64)
        if dtype.kind != "f":
            limits = np.iinfo(dtype)
            whole = np.append(np.ceil(exact[:-1]), np.floor(exact[-1]))
            if whole[0] > limits.max or whole[-1] < limits.min:  # then none lies in a bin
                whole[:-1], whole[-1] = limits.max, limits.min
            return np.asarray(np.clip(whole, limits.min, limits.max), dtype)
        with np.errstate(over="ignore"):
            near = exact.astype(np.float32)
            up = np.where(near < exact, np.nextafter(near, np.float32(np.inf)), near)
            down = np.where(near > exact, np.nextafter(near, np.float32(-np.inf)), near)
        return np.asarray(np.append(up[:-1], down[-1]))


def _edges(given: Taken, bins: Any, range: Any) -> Edges:
    """The edges that NumPy makes, for texels as functions see them."""
    format = given.image.format
    sample = texels(np.zeros(1, format.dtype), format)
    if format.kind == "bool":
        sample = sample.astype(np.int32)
    try:
        is_even = np.ndim(bins) == 0
        if is_even and (isinstance(bins, (str, bool)) or not hasattr(type(bins), "__index__")):
            raise TypeError
        if not is_even and len(bins) < 2:
            raise TypeError
        low, high = range
        float(low), float(high)
    except (TypeError, ValueError):
        raise TypeError(
            "histogram: takes bins, a number of them or their edges, and range, (least, greatest);"
            f" got bins={shown(bins)}, range={shown(range)}"
        ) from None
    if is_even and not 1 <= operator.index(bins) <= MOST:
        raise ValueError(f"histogram: bins takes 1 to {MOST}, or edges, got {shown(bins)}")
    try:
        # Whose types decide, too; edges that the caller has are the caller's to change.
        edges = np.array(np.histogram_bin_edges(sample, bins, (low, high)))
    except ValueError as error:
        raise ValueError(f"histogram: {error}") from None
    return Edges(edges, is_even)


def _of_each_value(given: Taken, edges: Edges, target: str) -> list[NDArray[np.int64]] | None:
    """The counts of each channel of bytes and of pairs of them, of which there are few values."""
    storage, device = given.image.storage, targets.choose(target)
    if given.count == 0 or storage.dtype.itemsize > 2 or targets.limits(device) is not None:
        return None
    bits = np.dtype(f"uint{8 * storage.dtype.itemsize}")
    found = device.counted(storage.host().view(bits), 1 << 8 * bits.itemsize)
    if found is None:
        return None
    stored = texels(np.arange(len(found), dtype=bits).view(storage.dtype), given.image.format)
    return [_binned(stored, counts, edges) for counts in found.T]


def _counts(given: Taken, channel: int, edges: Edges, target: str) -> NDArray[np.int64]:
    """The counts of a channel."""
    image, device = given.image, targets.choose(target)
    storage = image.storage
    if given.count == 0:
        return np.zeros(edges.bins, np.int64)
    if targets.limits(device) is None and storage.dtype == np.float32 and edges.is_near:
        values = np.ascontiguousarray(storage.host()[..., channel]).ravel()
        each = device.binned(values, edges.table(values.dtype), edges.guess)
        if each is not None:
            return each
    wide = spread(given, target)
    roles, numbers = _roles(given, channel, edges, target)
    run = made(_bin, {**roles, "sizes": NUMBERS}, target)
    numbers |= {"how": (wide.is_whole, *numbers["how"]), "sizes": wide.sizes}
    dtype = "uint16" if edges.bins < 1 << 16 else "int32"
    (found,) = run(wide.shape, [dtype], **numbers)
    return counted(found, edges.bins + 1, target)[: edges.bins]


@record(eq=False)
class _Counted:
    """What counts texels by groups on the device. `values`: what functions see of each byte."""

    fold: Grouped
    groups: int
    edges: Edges
    values: NDArray[Any] | None = None

    def run(self, storage: Storage) -> NDArray[np.int64]:
        """The counts of bins."""
        (found,) = parts_of(self.fold.run([storage]), (INT,), self.groups)
        each = found.astype(np.int64)
        return each if self.values is None else _binned(self.values, each, self.edges)


def _at_once(given: Taken, channel: int, edges: Edges, target: str) -> _Counted | None:
    """What counts a channel; None where the device has no such programs."""
    image, is_byte = given.image, given.image.storage.dtype.itemsize == 1
    if given.count == 0 or targets.limits(targets.choose(target)) is None:
        return None
    if not is_byte:
        roles, numbers = _roles(given, channel, edges, target)
        one = made(_one_in_bin, roles, target)
        fold = _grouped(given, lambda: one.made(**numbers), edges.bins, target)
        return None if fold is None else _Counted(fold, edges.bins, edges)
    run = made(_byte, {"how": "known", "images": IMAGES}, target)
    how = channel, image.format.channels > 1
    fold = _grouped(given, lambda: run.made(how=how, images=(as_stored(image),)), 256, target)
    values = np.arange(256, dtype=np.uint8).view(image.storage.dtype)
    return None if fold is None else _Counted(fold, 256, edges, texels(values, image.format))


def _byte(how: Any, images: Any, p: Any) -> Any:
    """One, and the number of a byte."""
    channel, has_channels = how
    texel = images[0](p)[channel] if has_channels else images[0](p)
    return 1, (texel + 0) & 255


def _grouped(given: Taken, pixel: Callable[[], Made], groups: int, target: str) -> Grouped | None:
    """What counts the texels of each of so many groups; None where there are no such programs."""
    storage = given.image.storage
    count = storage.height * storage.width if given.count is None else given.count
    fold = Fold(np.add, False, (INT,), (0,))
    images, shape = (given.image,), rows_of(groups, target)
    return grouped(fold, pixel, images, count, shape, groups, target)


def _binned(values: NDArray[Any], each: NDArray[np.int64], edges: Edges) -> NDArray[np.int64]:
    """The counts of bins, from how often there is each value."""
    there = each > 0
    places = edges.bins_of(values[there])
    counts = np.zeros(edges.bins, np.int64)
    np.add.at(counts, places[places >= 0], each[there][places >= 0])
    return counts


def _roles(
    given: Taken, channel: int, edges: Edges, target: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What finds the bin of a texel is given: roles of its parameters, and values."""
    kind = given.image.format.kind
    table = edges.table(np.dtype({"float": "float32", "uint": "uint32"}.get(kind, "int32")))
    rows = rows_of(len(table), target)
    padded = np.zeros((rows[0] * rows[1], 1), table.dtype)
    padded[: len(table), 0] = table
    read = ImageMaker.make(
        Storage.of(padded.reshape(*rows, 1)), make(Format(table.dtype, 1, normalize=False))
    )
    is_even = edges.is_near
    roles = {"how": "known", "images": IMAGES, "bins": NUMBERS, "scaled": NUMBERS}
    values: dict[str, Any] = {"images": (given.image, read), "bins": (edges.bins, rows[1])}
    values["scaled"] = edges.guess if is_even else (0.0, 0.0, 0.0)
    values["how"] = channel, is_even, given.image.format.channels > 1, rows[0] == 1
    return roles, values


def counted(index: ImageLike, groups: int, target: str) -> NDArray[np.int64]:
    """How many elements of an image are 0, 1, ... groups - 1. Numbers travel to the host faster
    than a device without a program for that puts them in order."""
    device, numbers = targets.choose(target), index.storage.host()
    if targets.limits(device) is None:
        found = device.counted(numbers, groups)
        if found is not None:
            return found[:, 0]
    inside = numbers[(numbers >= 0) & (numbers < groups)]
    return np.bincount(inside, minlength=groups).astype(np.int64)


def _bin(how: Any, images: Any, bins: Any, scaled: Any, sizes: Any, p: Any) -> Any:
    """The number of an element's bin; one more than there are outside, and behind the last."""
    is_whole, *rest = how
    i, at = source(is_whole, sizes, p)
    number = _bin_of(rest, images, bins, scaled, at)
    return number if i < sizes[2] and number >= 0 else bins[0]


def _one_in_bin(how: Any, images: Any, bins: Any, scaled: Any, p: Any) -> Any:
    """One, and the number of the bin in which it counts."""
    return 1, _bin_of(how, images, bins, scaled, p)


def _bin_of(how: Any, images: Any, bins: Any, scaled: Any, at: Any) -> Any:
    """The number of the bin of a texel; -1 outside."""
    channel, is_even, has_channels, is_row = how
    image, edges = images
    bins, across = bins
    first, scale, doubt = scaled
    texel = image(at)[channel] if has_channels else image(at)
    value = texel + 0

    def edge(k: Any) -> Any:
        return edges((k, 0)) if is_row else edges((k % across, k // across))

    if is_even:  # the guess is at most one off, and right but for what is close to an edge
        quotient = (value - first) * scale
        found = min(max(int(quotient), 0), bins - 1)
        beyond = quotient - found
        if beyond < doubt or beyond > 1 - doubt:
            if found > 0 and value < edge(found):
                found -= 1
            elif found < bins - 1 and value >= edge(found + 1):
                found += 1
    else:
        found, above = 0, bins - 1
        while found < above:
            half = (found + above + 1) // 2
            if value >= edge(half):
                found = half
            else:
                above = half - 1
    return found if value >= edge(0) and value <= edge(bins) else -1
