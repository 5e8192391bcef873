"""`pygpu.compress`: the elements where a mask holds, one after the other.

Where the device has a program for it, that counts by tiles and copies the elements. Elsewhere the
mask is counted by scans: of each row, and of the rows. An element of the result finds by bisection
the row, and then the place on it, where the count reaches its own.

    compress(xs > 0, xs)                   # as xs[xs > 0]
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.arrays import CompressProgram, Elements
from pygpu.core.device import Device
from pygpu.core.errors import shortened
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike, Storage
from pygpu.devices import targets
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.lines import Lines, Taken, all_taken, given_as_line, rows_of
from pygpu.execution.arrays.passes import COUNT, IMAGES, as_stored, made
from pygpu.execution.arrays.recall import Plan, Plans
from pygpu.execution.arrays.scanning import Scan, inclusive
from pygpu.execution.arrays.whole import compressing, shown_as
from pygpu.types import INT


def compress(mask: Any, *signals: Any, target: str = "auto") -> Any:
    """The elements of each signal where the mask is not zero, in raster order: (n,), or (n, C)
    where there are channels. Of several signals, all of the mask's size, a tuple.

    Of images, signals and volumes of PyGPU's these are signals, whose texels stay on the device;
    of arrays, arrays. Where no element is picked, both are arrays of none."""
    with shortened, targets.at_once():
        targets.check(target)
        if not signals:
            raise TypeError("compress: takes a mask and what it picks from, got a mask alone")
        key = _PLANS.key(target, (mask, *signals))
        plan = _PLANS.find(key)
        if plan is not None:
            return plan.run((mask, *signals))
        names = ["compress: mask", *[f"compress: signals[{i}]" for i in range(len(signals))]]
        given, *picked = all_taken([mask, *signals], names, target)
        if given.image.format.channels > 1:
            raise ValueError(
                f"compress: mask: takes one channel, got {given.image.format.channels}"
            )
        for index, each in enumerate(picked):
            if each.size != given.size:
                raise ValueError(
                    f"compress: signals[{index}] is of size {each.size}, the mask is of "
                    f"{given.size}"
                )
        results = _compressed(given, picked, target, key)
        return tuple(results) if len(signals) > 1 else results[0]


_PLANS: Final = Plans()


def _compressed(mask: Taken, signals: list[Taken], target: str, key: Any) -> list[Any]:
    device = targets.choose(target)
    if mask.count == 0 or device.limits() is None:
        given = np.ascontiguousarray(mask.array()).reshape(-1)
        holds = given if given.dtype.kind == "b" else given != 0
        return [_picked(each, holds, device) for each in signals]
    at_once = _at_once(mask, signals, target)
    if at_once is not None:
        if key is not None and all(each.is_itself for each in (mask, *signals)):

            def run(images: Sequence[Any]) -> Any:
                given = [Taken(each, each, each.format.dtype, ()) for each in images[1:]]
                results = at_once.run([each.storage for each in images], given)
                return tuple(results) if len(results) > 1 else results[0]

            _PLANS.keep(key, Plan(run))
        return at_once.run([each.image.storage for each in (mask, *signals)], signals)
    counts, rows = counted(mask.image, target)
    total = int(rows.storage.host()[-1, 0, 0])
    return [_line(each, _elements(each.image, counts, rows, total, target)) for each in signals]


def _picked(signal: Taken, holds: NDArray[np.bool_], device: Device) -> Any:
    texels = signal.image.storage.host()
    channels = texels.shape[2]
    found = device.picked(holds, texels.reshape(-1, channels)[: holds.size])
    return _line(signal, found if channels > 1 else found[:, 0])


def _line(given: Taken, texels: NDArray[Any]) -> Any:
    """Picked texels (n,) or (n, C) as the caller gets them."""
    original = given.original
    if not isinstance(original, ImageLike) or not len(texels):
        return given_as_line(given, texels)
    row = np.ascontiguousarray(texels).reshape(1, len(texels), -1)
    storage = Storage.of(row, (len(texels),))
    return ImageMaker.make(storage, sampler.of(original), info=original.info)


@record(eq=False)
class _AtOnce:
    """The device's program that copies elements, of arrays of so many."""

    program: CompressProgram
    count: int
    target: str

    def run(self, images: Sequence[Storage], signals: Sequence[Taken]) -> list[Any]:
        """The elements of signals, as the caller gets them; `images` has the mask before them."""
        room = partial(rows_of, target=self.target)
        words, total = self.program.run(Elements(images, (), self.count), room)
        return [
            _of_words(each, shown_as(word), total, self.target)
            for each, word in zip(signals, words, strict=True)
        ]


def _at_once(mask: Taken, signals: Sequence[Taken], target: str) -> _AtOnce | None:
    """What copies the elements by a program of the device's; None where there is none."""
    images = [each.image for each in (mask, *signals)]
    run = made(_kept, {"images": IMAGES}, target)
    stored = tuple([as_stored(image) for image in images])
    program = compressing(lambda: run.made(images=stored), stored, target)
    storage = mask.image.storage
    count = storage.height * storage.width if mask.count is None else mask.count
    return None if program is None else _AtOnce(program, count, target)


def _kept(images: Any, p: Any) -> Any:
    """Whether an element is picked, and what is kept of it."""
    mask, *signals = images
    return (1 if mask(p) else 0, *[image(p) for image in signals])


def _of_words(given: Taken, words: ImageLike, total: int, target: str) -> Any:
    """Picked texels, which the device has in words, as the caller gets them."""
    stored, storage = given.image.storage, words.storage
    is_image = isinstance(given.original, ImageLike)
    if total and storage.dtype != stored.dtype:
        size = storage.height, storage.width
        run = made(_itself, {"images": IMAGES}, target)
        storage = run(size, [stored.dtype], images=(words,))[0].storage
    if total and is_image and storage.height == 1:
        reading = sampler.of(given.original)
        shaped = storage.shaped((total,))
        return ImageMaker.make(shaped, reading, info=given.original.info)
    texels = storage.host().reshape(-1, stored.channels)[:total] if total else None
    if texels is None:
        texels = np.zeros((0, stored.channels), stored.dtype)
    return _line(given, texels if stored.channels > 1 else texels[:, 0])


def _itself(images: Any, p: Any) -> Any:
    """The texel itself, to be stored in another dtype."""
    return images[0](p)


def counted(mask: ImageLike, target: str) -> tuple[ImageLike, ImageLike]:
    """How many elements of a mask hold up to each in its row, and up to the end of each row."""
    storage = mask.storage
    shape = storage.height, storage.width
    (ones,) = made(_ones, {"mask": IMAGES}, target)(shape, ["int32"], mask=(mask,))
    add = Scan(np.add, target)
    within = inclusive(add, (ones,), Lines(("x", 0), shape[0], shape[1]), (INT,))
    last = made(_last, {"image": IMAGES, "width": COUNT}, target)
    sums = last((shape[0], 1), ["int32"], image=within, width=shape[1])
    rows = inclusive(add, sums, Lines(("y", 0), 1, shape[0]), (INT,))
    return within[0], rows[0]


def _ones(mask: Any, p: Any) -> Any:
    return 1 if mask[0](p) else 0


def _last(image: Any, width: Any, p: Any) -> Any:
    return image[0]((width - 1, p.y))


def _elements(
    image: ImageLike, counts: ImageLike, rows: ImageLike, total: int, target: str
) -> NDArray[Any]:
    """The elements that are counted, as an array (n,) or (n, C)."""
    stored = as_stored(image)
    channels = stored.format.channels
    if not total:
        return np.zeros((0, channels) if channels > 1 else 0, stored.format.dtype)
    shape = rows_of(total, target)
    height, width = image.storage.height, image.storage.width
    roles = {"images": IMAGES, "row": COUNT, "height": COUNT, "width": COUNT}
    find = made(_found, roles, target)
    values = {"images": (stored, counts, rows), "row": shape[1], "height": height, "width": width}
    (found,) = find(shape, [stored.format.dtype], **values)
    texels = found.storage.host().reshape(-1, channels)[:total]
    return texels if channels > 1 else texels[:, 0]


def _found(images: Any, row: Any, height: Any, width: Any, p: Any) -> Any:
    """The element whose count is that of this position."""
    image, counts, rows = images
    wanted = p.y * row + p.x
    y, below = 0, height - 1
    while y < below:  # the first row up to whose end there are more
        middle = (y + below) // 2
        if rows((0, middle)) > wanted:
            below = middle
        else:
            y = middle + 1
    rest = wanted - (rows((0, y - 1)) if y > 0 else 0)
    x, right = 0, width - 1
    while x < right:
        middle = (x + right) // 2
        if counts((middle, y)) > rest:
            right = middle
        else:
            x = middle + 1
    return image((x, y))
