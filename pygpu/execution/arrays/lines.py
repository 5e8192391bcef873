"""Arrays as lines: what is scanned or sorted runs along lines, of which an array has one or more.

A line is a row of an image, a column, or all of an array (N,). Where a device holds no row so long,
an array (N,) is *folded*: it lies in rows of a power of two of elements, the last one padded.

    given = taken([3, 1, 2], "sort", "auto")
    lines = given.along(-1)                # 1 line of 3 elements
    given.back(image)                      # an array (3,) again
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.sampler import default, make
from pygpu.core.storage import Format, ImageLike, Storage
from pygpu.core.storage import rows_of as shape_rows
from pygpu.devices import targets
from pygpu.execution.arguments.convert import (
    array_of,
    is_pil,
    narrow,
    texels_of,
    without_channel_axis,
)
from pygpu.execution.arguments.results import ImageMaker, picture_info, picture_of
from pygpu.language.vectors import Position

FOLD: Final = 4096  # elements of a row of a folded array, at most
Along = Literal["x", "y", "folded"]


@dataclass(frozen=True, slots=True)
class Lines:
    """How elements lie in an image: `count` of them in each of `lines` lines. `layout` is what
    passes are told: (which way lines run, the elements of a row where they are folded)."""

    layout: tuple[Along, int]
    lines: int
    count: int
    short: int = 0  # elements of the last line, where they are fewer

    @property
    def shape(self) -> tuple[int, int]:
        """(H, W) of the image."""
        return self.shape_of(self.count)

    def shape_of(self, count: int) -> tuple[int, int]:
        """(H, W) where lines are of another length. Folded rows stay as they are."""
        along, row = self.layout
        if along == "x":
            return self.lines, count
        return (count, self.lines) if along == "y" else (-(-count // row), row)


def place(layout: Any, line: Any, i: Any) -> Any:
    """The position of an element of a line. For compiled functions."""
    along, row = layout
    if along == "x":
        return Position(i, line)
    return Position(line, i) if along == "y" else Position(i & (row - 1), i // row)


def element(layout: Any, p: Any) -> Any:
    """The line, and the place on it, of a position. For compiled functions."""
    along, row = layout
    if along == "x":
        return p.y, p.x
    return (p.x, p.y) if along == "y" else (0, p.y * row + p.x)


@dataclass(frozen=True, slots=True)
class Taken:
    """What a caller gave: texels, and the form that results go back to."""

    image: ImageLike
    original: Any
    dtype: np.dtype[Any]  # in which it is given back where its texels are
    count: int | None  # the elements of an array (N,); None of images
    row: int = 0  # the elements of a row where it is folded

    @property
    def size(self) -> tuple[int, ...]:
        """Its shape without channels."""
        storage = self.image.storage
        return (storage.height, storage.width) if self.count is None else (self.count,)

    def along(self, axis: Any) -> Lines:
        """Its lines along an axis of NumPy's, channels not counted."""
        axes = len(self.size)
        if isinstance(axis, (bool, np.bool_)) or not hasattr(axis, "__index__"):
            raise TypeError(f"axis: takes a whole number, got {shown(axis)}")
        index = operator.index(axis)
        if not -axes <= index < axes:
            raise np.exceptions.AxisError(index, axes)
        storage = self.image.storage
        if self.count is not None:
            return Lines(("folded", self.row) if self.row else ("x", 0), 1, self.count)
        if index % axes:
            return Lines(("x", 0), storage.height, storage.width)
        return Lines(("y", 0), storage.width, storage.height)

    def array(self) -> NDArray[Any]:
        """The stored texels as users have them: (N,), (H, W) or (H, W, C)."""
        return self.unfolded(self.image.storage.host())

    def unfolded(self, texels: NDArray[Any]) -> NDArray[Any]:
        if self.count is None:
            return without_channel_axis(texels)
        return texels.reshape(-1, texels.shape[2])[: self.count, 0]

    def back(self, result: ImageLike, dtype: np.dtype[Any] | None = None) -> Any:
        """A result of the same size, in the form that was given; of the dtype `dtype` if that
        is not the one in which it is stored."""
        storage = result.storage
        wanted = storage.dtype if dtype is None else dtype
        if isinstance(self.original, ImageLike):
            reading = sampler.inherited(sampler.of(self.image), result.format)
            given = self.original.storage
            if shape_rows(given.shape) == (storage.height, storage.width):
                storage = storage.shaped(given.shape)
            return ImageMaker.make(storage, reading, info=self.image.info)
        array = self.unfolded(storage.host())
        if is_pil(self.original):
            return picture_of(array, picture_info(self.original))
        return array.astype(wanted, copy=False)


def taken(data: Any, what: str, target: str) -> Taken:
    """What a caller gave, checked. Arrays of one axis are lines, others are images."""
    if isinstance(data, ImageLike):
        if data.dims == 3:
            raise TypeError(
                f"{what}: takes signals, images and arrays, got a pygpu.Volume of shape "
                f"{data.storage.shape}; take its planes one by one, volume[z]"
            )
        return Taken(ImageMaker.of_rows(data), data, data.storage.dtype, None)
    array = array_of(data, what)
    dtype = presented(array.dtype)
    if array.ndim != 1:
        texels = texels_of(array, what)
        storage = Storage.of(texels)
        return Taken(
            ImageMaker.make(storage, default(texels.dtype, texels.shape[2])), data, dtype, None
        )
    values = np.ascontiguousarray(narrow(array, what))
    row = _row(values.size, target)
    if row:
        rows = -(-values.size // row)
        folded = np.zeros((rows, row), values.dtype)
        folded.reshape(-1)[: values.size] = values
    else:
        folded = values.reshape(1, values.size)
    image = ImageMaker.make(
        Storage(len(folded), folded.shape[1], 1, folded.dtype, folded[..., None]),
        make(Format(folded.dtype, 1)),
    )
    return Taken(image, data, dtype, values.size, row)


def given_as_line(given: Taken, array: NDArray[Any]) -> Any:
    """Stored texels (n,) or (n, C) that come of what was given, as a caller gets them."""
    return array.astype(given.dtype, copy=False)


def rows_of(count: int, target: str) -> tuple[int, int]:
    """(H, W) of an image that holds so many elements, one row after the other."""
    row = _row(count, target) or count
    return -(-count // row), row


def _row(count: int, target: str) -> int:
    """How many elements of an array (N,) lie in a row of the image made of it; 0: all."""
    limits = targets.limits(targets.choose(target))
    if limits is None or count <= limits.side:
        return 0
    return min(FOLD, 1 << (limits.side.bit_length() - 1))


def presented(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which texels of such an array are given back, as numpy.asarray(Image(a)) has
    it: float64 is narrowed."""
    native = dtype.newbyteorder("=")
    return np.dtype("float32") if native.kind == "f" and native.itemsize > 4 else native


__all__ = ["Lines", "Taken", "element", "given_as_line", "place", "presented", "rows_of", "taken"]
