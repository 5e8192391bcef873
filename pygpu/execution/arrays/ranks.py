"""Which numbers stand at some places when all numbers of an array are in order, NaNs last.

On the host narrow texels are counted, and wide ones partitioned about the places; a device sorts.

    (ranked,) = ranked_on_host(texels, format, by_channel=False, without_nan=False)
    ranked.at([0, ranked.count // 2])      # the least and the middle one, as functions see them
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Lines, Taken, place, taken
from pygpu.execution.arrays.passes import IMAGES, NUMBERS, as_stored, host_image, made
from pygpu.execution.arrays.sorting import channel, ordered
from pygpu.execution.arrays.turning import worked
from pygpu.language.vectors import CLASSES
from pygpu.types import vector


class Ranked(Protocol):
    """Numbers that can be asked what stands at places among them."""

    @property
    def count(self) -> int:
        """How many there are."""

    def at(self, places: Sequence[int]) -> NDArray[Any]:
        """The numbers at these places, from 0 to count - 1, or NaNs where the last one is NaN."""


# ---------------------------------------------------------------- on the host


def ranked_on_host(
    array: NDArray[Any], format: Format, by_channel: bool, without_nan: bool
) -> list[Ranked]:
    """The numbers of stored texels (H, W, C), of each channel or of all together."""
    whole = np.ascontiguousarray(array)
    if not by_channel:
        whole = whole.reshape(1, -1, 1)
    if whole.itemsize > 2:
        return [_Partitioned(whole, each, format, without_nan) for each in range(whole.shape[2])]
    unsigned = np.dtype(f"u{whole.itemsize}")
    counts = targets.host().counted(whole.view(unsigned), 1 << 8 * whole.itemsize)
    assert counts is not None, "the host counts whole numbers"
    every = np.arange(len(counts)).astype(unsigned).view(whole.dtype)
    return [_Counted(every, each, format, without_nan) for each in counts.T]


class _Counted:
    """Numbers of one or two bytes, of which there are few: how often there is each."""

    def __init__(
        self, every: NDArray[Any], counts: NDArray[np.int64], format: Format, without_nan: bool
    ):
        order = np.argsort(every, kind="stable")
        if without_nan and every.dtype.kind == "f":
            order = order[~np.isnan(every[order])]
        self.values = texels(every[order], format)
        self.ends = np.cumsum(counts[order])
        self.count = int(self.ends[-1])

    def at(self, places: Sequence[int]) -> NDArray[Any]:
        return self.values[np.searchsorted(self.ends, places, "right")]


class _Partitioned:
    """Numbers of four bytes, put in order as far as is asked for. All are NaN where one is."""

    def __init__(self, array: NDArray[Any], channel: int, format: Format, without_nan: bool):
        self.numbers = texels(array[..., channel].ravel(), format)
        self.is_own = array.shape[2] > 1
        if without_nan and self.numbers.dtype.kind == "f":
            is_nan = np.isnan(self.numbers)
            if is_nan.any():
                self.numbers, self.is_own = self.numbers[~is_nan], True
        self.count = self.numbers.size

    def at(self, places: Sequence[int]) -> NDArray[Any]:
        highest = self.numbers.max()
        if highest != highest:  # which has no place of its own here
            return np.full(len(places), highest)
        rest = self.numbers if self.is_own else self.numbers.copy()
        found: dict[int, Any] = {}
        start = 0  # of the rest, whose numbers are all no less than those before it
        for each in sorted(set(places)):
            if each == self.count - 1:
                found[each] = highest
            elif each == start:
                found[each] = rest.min()
                rest[int(np.argmin(rest))] = rest[0]
                rest, start = rest[1:], start + 1
            else:
                rest.partition(each - start)
                found[each] = rest[each - start]
                rest, start = rest[each - start + 1 :], each + 1
        return np.array([found[each] for each in places], self.numbers.dtype)


# ---------------------------------------------------------------- on a device


@record(eq=False)
class Sorted:
    """Numbers that a device has sorted: the first `count` of a line."""

    image: ImageLike
    lines: Lines
    count: int

    def at(self, places: Sequence[int]) -> NDArray[Any]:
        wanted = host_image(np.array(places, np.int32).reshape(1, -1, 1))
        run = made(_at, {"layout": "known", "images": IMAGES}, "auto")
        shape = 1, len(places)
        (found,) = run(shape, None, layout=self.lines.layout, images=(self.image, wanted))
        return found.storage.host().reshape(-1)


def _at(layout: Any, images: Any, p: Any) -> Any:
    return images[0](place(layout, 0, images[1](p)))


def sorted_there(image: ImageLike, by_channel: bool) -> list[Sorted] | None:
    """The numbers of an image, of each channel or of all together, sorted by the device that
    computes. None where it does not hold them as one line."""
    given = taken(image, "image", "auto")
    channels, whole = image.format.channels, given.image
    if channels > 1 and not by_channel:
        storage, limits = whole.storage, targets.limits(targets.choose("auto"))
        shape = storage.height, storage.width * channels
        if limits is not None and max(shape) > limits.side:
            return None
        run = made(_channels_apart, {"channels": "known", "images": IMAGES}, "auto")
        stored = as_stored(whole)
        (flat,) = run(shape, [storage.dtype], channels=channels, images=(stored,))
        format = Format(storage.dtype, 1, image.format.normalize)
        whole = ImageMaker.make(flat.storage, make(format))
        given = Taken(whole, whole, storage.dtype, shape)

    def work(turned: Sequence[Taken], lines: Lines) -> list[Any]:
        format = Format(whole.format.dtype, 1, whole.format.normalize)
        found = []
        for index in range(whole.format.channels):
            keys = channel(turned[0].image, index, lines.shape, "auto")
            keys, _ = ordered(keys, lines, False, "auto", placed=False)
            seen = ImageMaker.make(keys.storage, make(format))
            found.append(Sorted(seen, lines, lines.count))
        return [found]

    lines: list[Sorted] = worked(work, [given], None, "auto")[0]
    return lines


def _channels_apart(channels: Any, images: Any, p: Any) -> Any:
    """The texel of an image whose numbers stand side by side."""
    return images[0]((p.x // channels, p.y))[p.x % channels]


def between(
    ranked: Sequence[Sorted],
    places: tuple[Sequence[int], Sequence[int]],
    shares: Sequence[float],
    is_mean: bool,
) -> Storage:
    """Of each line numbers between two places, `shares` of the way, or their mean: a storage of one
    texel that nobody waits for. NaN of a line that has one."""
    first = ranked[0]
    roles = {"how": "known", "images": IMAGES, "places": NUMBERS, "shares": NUMBERS}
    values = {
        "how": (first.lines.layout, is_mean),
        "images": tuple([each.image for each in ranked]),
        "places": (tuple(places[0]), tuple(places[1]), first.count - 1),
        "shares": tuple(shares),
    }
    (found,) = made(_between, roles, "auto")((1, 1), None, **values)
    return found.storage


def _between(how: Any, images: Any, places: Any, shares: Any, p: Any) -> Any:
    layout, is_mean = how
    one, other, last = places
    results = []
    for image in images:
        highest = image(place(layout, 0, last))
        for at, then, share in zip(one, other, shares, strict=True):
            low, high = image(place(layout, 0, at)), image(place(layout, 0, then))
            step = high - low
            if is_mean:
                value = (low + high) / 2
            else:
                value = high - step * (1 - share) if share >= 0.5 else low + step * share
            results.append(value if highest == highest else highest)
    if len(results) == 1:
        return results[0]
    return CLASSES[vector("float", len(results))](*results)
