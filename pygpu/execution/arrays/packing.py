"""`pygpu.compress`: the elements where a mask holds, one after the other.

The mask is counted by scans: of each row, and of the rows. An element of the result finds by
bisection the row, and then the place on it, where the count reaches its own.

    compress(xs > 0, xs)                   # as xs[xs > 0]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import shorten
from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.execution.arrays.lines import Lines, Taken, all_taken, given_as_line, rows_of
from pygpu.execution.arrays.passes import COUNT, IMAGES, as_stored, made
from pygpu.execution.arrays.scanning import Scan, inclusive
from pygpu.types import INT


def compress(mask: Any, *signals: Any, target: str = "auto") -> Any:
    """The elements of each signal where the mask is not zero, in raster order: (n,), or (n, C)
    where there are channels. Of several signals, all of the mask's size, a tuple."""
    try:
        targets.check(target)
        if not signals:
            raise TypeError("compress: takes a mask and what it picks from, got a mask alone")
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
        results = _compressed(given, picked, target)
        return tuple(results) if len(signals) > 1 else results[0]
    except Exception as error:
        shorten(error)
        raise


def _compressed(mask: Taken, signals: list[Taken], target: str) -> list[Any]:
    device = targets.choose(target)
    if mask.count == 0 or device.limits() is None:
        given = np.ascontiguousarray(mask.array()).reshape(-1)
        holds = given if given.dtype.kind == "b" else given != 0
        return [_picked(each, holds, device) for each in signals]
    counts, rows = counted(mask.image, target)
    total = int(rows.storage.host()[-1, 0, 0])
    return [
        given_as_line(each, _elements(each.image, counts, rows, total, target)) for each in signals
    ]


def _picked(signal: Taken, holds: NDArray[np.bool_], device: Device) -> NDArray[Any]:
    texels = signal.image.storage.host()
    channels = texels.shape[2]
    found = device.picked(holds, texels.reshape(-1, channels)[: holds.size])
    line: NDArray[Any] = given_as_line(signal, found if channels > 1 else found[:, 0])
    return line


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


__all__ = ["compress", "counted"]
