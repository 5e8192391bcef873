"""Folds that stay where images are: on the device that a pipeline runs on, or written down for a
page. Nobody waits for them.

    high = extreme(image, np.maximum)      # a Number, or None where the value is to be had at once
    norm = total(image)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.storage import ImageLike, rows_of
from pygpu.devices import targets
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.numbers import Number
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.folds.by_group import Folding
from pygpu.execution.folds.exact import may_overflow
from pygpu.execution.folds.folding import State, added, number, program
from pygpu.execution.programs.options import is_checked_here
from pygpu.execution.programs.tiles import fit
from pygpu.types import Type

LARGEST: Final = 2**31 - 1  # of sums that stay: those of ints that may be larger are read
ROOM: Final = 4  # images like those that are folded, which what makes them reads at the same time


def total(image: ImageLike, by_channel: bool = False) -> Number | None:
    """The sum of all numbers of all texels, or of each channel's."""
    format = image.format
    if format.kind == "uint":
        return None
    if format.kind != "float":
        info = None if format.kind == "bool" else np.iinfo(format.dtype)
        most = 1 if info is None else max(-info.min, info.max)
        if most * math.prod(image.storage.shape) * format.channels > LARGEST:
            return None
    is_one = by_channel or format.channels == 1
    return _folded(image, added, number if is_one else _sum)


def extreme(image: ImageLike, function: np.ufunc, by_channel: bool = False) -> Number | None:
    """The greatest (np.maximum) or least (np.minimum) of all texels, or of each channel."""
    if image.format.kind in ("bool", "uint"):
        return None
    of_texel = _greatest if function is np.maximum else _least
    is_one = by_channel or image.format.channels == 1
    return _folded(image, function, None if is_one else of_texel)


def _folded(image: ImageLike, join: Any, map: Any) -> Number | None:
    if not keeps("auto", [image]):
        return None
    fold = program(Code(join), Code(map), "auto")
    (storage,) = fold.kept(State((ImageMaker.of_rows(image),)))
    return Number(storage)


def keeps(target: str, images: Sequence[ImageLike]) -> bool:
    """Whether folds of these images stay where they are made. A volume's rows, and a signal's, are
    an image of their own, which what is written down does not know."""
    device = targets.choose(target)
    if (
        not device.keeps
        or is_checked_here()
        or images[0].storage.height * images[0].storage.width < 2
    ):
        return False
    # A fold reads far from its position, so that what it is of is not cut into tiles.
    limits, several = targets.limits(device.computes), [*images] * ROOM
    sizes = [rows_of(image.storage.shape) for image in several]
    if limits is not None and not fit(limits, sizes, [image.format for image in several]):
        return False
    return bool(device.copy) or all(image.dims == 2 for image in images)


def kept(folding: Folding, types: Sequence[Type]) -> list[Number] | None:
    """What images are folded to, a Number for each part of a value; None where that is to be read:
    parts that are more than numbers, or sums that may need 64 bits."""
    images = tuple([each.image for each in folding.images])
    if (
        not keeps(folding.target, images)
        or folding.reading.placed
        or not all(each.is_itself for each in folding.images)
        or any(not type.is_scalar or type.kind == "bool" for type in types)
        or any(may_overflow(folding, types))
    ):
        return None
    fold = program(Code(folding.function), Code(folding.map), folding.target, folding.reading)
    return list(map(Number, fold.kept(State(images, given=folding.given))))


def _sum(texel: Any) -> Any:
    return (texel + 0).sum()


def _greatest(texel: Any) -> Any:
    return texel.max()


def _least(texel: Any) -> Any:
    return texel.min()
