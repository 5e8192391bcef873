"""Arrays as lines: what is scanned or sorted runs along lines, of which an array has one or more.

A line is a row of an image, a column, or all of an array (N,). Where a device holds no row so long,
an array (N,) is *folded*: it lies in rows of a power of two of elements, the last one padded.

    given = taken([3, 1, 2], "sort", "auto")
    lines = given.along(-1)                # 1 line of 3 elements
    given.back(image)                      # an array (3,) again
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown, whole
from pygpu.core.host.records import record
from pygpu.core.sampler import default, make
from pygpu.core.storage import Format, ImageLike, Storage, presented
from pygpu.devices import targets
from pygpu.execution.arguments.convert import array_of, is_pil, narrow, texels_of
from pygpu.execution.arguments.metadata import picture_info
from pygpu.execution.arguments.results import ImageMaker, picture_of
from pygpu.execution.arrays.mapping import Reading
from pygpu.execution.programs.checked import Elements
from pygpu.language.vectors import Position

FOLD: Final = 4096  # elements of a row of a folded array, at most
NARROWEST: Final = 2048  # the row of a texture that any browser's WebGL2 takes
Along = Literal["x", "y", "folded"]


@record
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


@record
class Taken:
    """What a caller gave: texels, and the form that results go back to. Signals and arrays (N,)
    are images of a row, or of several where they are folded, and volumes of all their rows."""

    image: ImageLike
    original: Any
    dtype: np.dtype[Any]  # in which it is given back where its texels are
    size: tuple[int, ...]  # its shape without channels
    row: int = 0  # the elements of a row where it is folded
    undo: Callable[[ImageLike], ImageLike] | None = (
        None  # of a result's lines, as turning.py has it
    )

    @property
    def count(self) -> int | None:
        """The elements of a signal or an array (N,); None of images and volumes."""
        return self.size[0] if len(self.size) == 1 else None

    @property
    def is_itself(self) -> bool:
        """Whether it is an image of the caller's with all of its texels, where they are."""
        original = self.original
        return (
            isinstance(original, ImageLike)
            and self.undo is None
            and self.size == original.storage.shape
            and self.image.storage.copies is original.storage.copies
        )

    @property
    def reading(self) -> Reading:
        """How values are made of the texels alone."""
        row = self.row if len(self.size) == 1 else self.size[1] if len(self.size) == 3 else 0
        return Reading(axes=len(self.size), row=row)

    def position(self, x: Any, y: Any) -> list[Any]:
        """The coordinates x, y, z, as many as there are, of the texel in a column and row."""
        return self.place(x, y)

    @property
    def place(self) -> Callable[[Any, Any], list[Any]]:
        """`position`, by a function that holds no texels."""
        size, row = self.size, self.row
        if len(size) == 1:
            return lambda x, y: [y * row + x]
        if len(size) == 2:
            return lambda x, y: [x, y]
        return lambda x, y: [x, y % size[1], y // size[1]]

    def axis(self, axis: Any) -> int:
        """The number of an axis of NumPy's, channels not counted, from the front."""
        axes = len(self.size)
        index = whole(axis)
        if index is None:
            raise TypeError(f"axis: takes a whole number or None, got {shown(axis)}")
        if not -axes <= index < axes:
            raise np.exceptions.AxisError(index, axes)
        return index % axes

    def along(self, axis: Any) -> Lines:
        """Its lines along an axis; those of a volume along its last one, see turning.py."""
        index, storage = self.axis(axis), self.image.storage
        if self.count is not None:
            return Lines(("folded", self.row) if self.row else ("x", 0), 1, self.count)
        if index == len(self.size) - 1:
            return Lines(("x", 0), storage.height, storage.width)
        return Lines(("y", 0), storage.width, storage.height)

    def array(self) -> NDArray[Any]:
        """The stored texels as users have them, several channels as a last axis."""
        return self.unfolded(self.image.storage.host())

    def unfolded(self, texels: NDArray[Any]) -> NDArray[Any]:
        channels = texels.shape[2]
        flat = texels.reshape(-1, channels)[: math.prod(self.size)]
        return flat.reshape(self.size if channels == 1 else (*self.size, channels))

    def back(self, result: ImageLike, dtype: np.dtype[Any] | None = None) -> Any:
        """A result of the same size, in the form that was given; of the dtype `dtype` if that
        is not the one in which it is stored."""
        storage = (result if self.undo is None else self.undo(result)).storage
        wanted = storage.dtype if dtype is None else dtype
        original = self.original
        if isinstance(original, ImageLike):
            reading = sampler.inherited(sampler.of(original), result.format)
            return ImageMaker.make(self._shaped(storage), reading, info=original.info)
        array = self.unfolded(storage.host())
        if is_pil(original):
            return picture_of(array, picture_info(original))
        return array.astype(wanted, copy=False)

    def _shaped(self, storage: Storage) -> Storage:
        """A result's storage as one of a signal, an image or a volume."""
        if len(self.size) == 2:
            return storage
        if not self.row:
            again = storage.as_image() if storage.dims != 2 else storage
            return again.shaped(self.size)
        texels = storage.host().reshape(1, -1, storage.channels)[:, : self.size[0]]
        return Storage.of(np.ascontiguousarray(texels), self.size)


def taken(data: Any, what: str, target: str) -> Taken:
    """What a caller gave, checked. Arrays of one axis are signals, others are images."""
    if isinstance(data, ImageLike):
        storage = data.storage
        if data.dims == 2:
            return Taken(data, data, storage.dtype, storage.shape)
        row = _row(storage.width, target) if data.dims == 1 else 0
        image = ImageMaker.of_rows(data)
        if row:
            image = ImageMaker.make(_folded(storage.host()[0], row), make(data.format))
        return Taken(image, data, storage.dtype, storage.shape, row)
    array = array_of(data, what)
    if array.ndim != 1:
        image = _image(array, what)
        return Taken(image, data, presented(array.dtype), image.storage.shape)
    return _line_of(array[:, None], data, what, target)


def _line_of(array: NDArray[Any], data: Any, what: str, target: str) -> Taken:
    """What a caller gave as elements (N, C)."""
    values = np.ascontiguousarray(narrow(array, what))
    row = _row(len(values), target)
    image = ImageMaker.make(_folded(values, row), make(Format(values.dtype, values.shape[1])))
    return Taken(image, data, presented(array.dtype), array.shape[:1], row)


def all_taken(values: Sequence[Any], names: Sequence[str], target: str) -> tuple[Taken, ...]:
    """What a caller gave of one size: beside an array of one axis, or a signal or a volume, arrays
    (N, C) and (D, H, W[, C]) of that size are such, too."""
    size = next(filter(None, map(_said_size, values)), None)
    named = zip(values, names, strict=True)
    return tuple([_taken_as(value, name, target, size) for value, name in named])


def as_images(values: Sequence[Any], names: Sequence[str]) -> tuple[Any, ...] | None:
    """Arrays of the host as the images that `taken` makes of them, or as signals where all have one
    axis, beside images of PyGPU's. None for what is to be looked at one by one."""
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    if any(not isinstance(value, (np.ndarray, ImageLike)) for value in values):
        return None
    axes = {array.ndim for array in arrays}
    dims = {value.dims for value in values if isinstance(value, ImageLike)}
    is_line = axes == {1} and dims <= {1}
    if not arrays or any(array.size == 0 for array in arrays):
        return None
    if not is_line and (not axes <= {2, 3} or not dims <= {2}):
        return None
    named = zip(values, names, strict=True)
    made = _signal if is_line else _image
    return tuple([v if isinstance(v, ImageLike) else made(v, name) for v, name in named])


def _image(array: NDArray[Any], what: str) -> ImageLike:
    if array.ndim > 3 or (array.ndim == 3 and array.shape[2] > 4):
        raise ValueError(
            f"{what}: an array of shape {array.shape} has {array.ndim} axes; an image (H, W) or "
            "(H, W, C) has 1 to 4 channels, a volume (D, H, W[, C]) is given as "
            "pygpu.Volume(array), images of a stack one by one"
        )
    texels = texels_of(array, what)
    storage = Storage.of(texels)
    return ImageMaker.make(storage, default(texels.dtype, texels.shape[2]))


def _signal(array: NDArray[Any], what: str) -> ImageLike:
    values = np.ascontiguousarray(narrow(array, what))[None, :, None]
    return ImageMaker.make(Storage.of(values, array.shape), make(Format(values.dtype, 1)))


def _said_size(value: Any) -> tuple[int, ...] | None:
    """The size of what cannot be an image; None of others."""
    if isinstance(value, ImageLike):
        return value.storage.shape if value.dims != 2 else None
    shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) else ()
    return shape if len(shape) == 1 else None


def _taken_as(value: Any, name: str, target: str, size: tuple[int, ...] | None) -> Taken:
    """What a caller gave, where it is an array of a known size as one of that size."""
    if size is None or isinstance(value, ImageLike) or is_pil(value):
        return taken(value, name, target)
    array, axes = array_of(value, name), len(size)
    if size == (0,) and array.ndim == 2 and array.shape in [(0, c) for c in range(1, 5)]:
        return _line_of(array, value, name, target)
    has_size = array.shape[:axes] == size and array.size > 0
    if array.ndim == 1 or not has_size or array.ndim > axes + 1:
        return taken(array, name, target)
    given = taken(ImageMaker.wrap(array, axes), name, target)
    return replace(given, original=value, dtype=presented(array.dtype))


def _folded(values: NDArray[Any], row: int) -> Storage:
    """Elements (N, C) in rows of so many, the last one padded; in one row where that is 0."""
    count, channels = values.shape
    if not row:
        return Storage(1, count, channels, values.dtype, values[None])
    rows = -(-count // row)
    folded = np.zeros((rows, row, channels), values.dtype)
    folded.reshape(-1, channels)[:count] = values
    return Storage.of(folded)


def given_as_line(given: Taken, array: NDArray[Any]) -> Any:
    """Stored texels (n,) or (n, C) that come of what was given, as a caller gets them."""
    return array.astype(given.dtype, copy=False)


def rows_of(count: int, target: str) -> tuple[int, int]:
    """(H, W) of an image that holds so many elements, one row after the other."""
    row = _row(count, target) or count
    return -(-count // row), row


@record
class Spread:
    """All elements of an array as one line. Passes that make such a line are of `shape`; what they
    give for other positions than `count` elements is padding."""

    shape: tuple[int, int]
    lines: Lines
    width: int  # of the image that elements are of
    count: int
    size: tuple[int, ...]  # of the array, without channels
    is_held: bool  # on the host, where an image and a line are the same memory

    @property
    def is_whole(self) -> bool:
        """Whether elements stand in the line's image where they stand in the image."""
        return self.shape[1] == self.width

    @property
    def sizes(self) -> tuple[int, int, int]:
        """What `source` is told: elements of a row of the line's image, of a row of the image that
        they are of, and in all."""
        return self.shape[1], self.width, self.count

    @property
    def elements(self) -> Elements:
        """What a checked call is to call a pixel."""
        return Elements(self.shape[1], self.size)

    def line(self, image: ImageLike) -> ImageLike:
        """What a pass has given, as a line."""
        if not self.is_held or self.shape[0] == 1:
            return image
        texels = image.storage.host()
        storage = Storage.of(texels.reshape(1, -1, texels.shape[2]))
        return ImageMaker.make(storage, sampler.of(image))


def spread(given: Taken, target: str) -> Spread:
    """How the elements of an array become one line."""
    storage = given.image.storage
    height, width, size = storage.height, storage.width, given.size
    count = height * width if given.count is None else given.count
    if targets.is_on_host(targets.choose(target)):
        return Spread((height, width), Lines(("x", 0), 1, count), width, count, size, True)
    shape = rows_of(count, target)
    layout: tuple[Along, int] = ("x", 0) if shape[0] == 1 else ("folded", shape[1])
    return Spread(shape, Lines(layout, 1, count), width, count, size, False)


def source(is_whole: Any, sizes: Any, p: Any) -> Any:
    """The number of the element at a position of a line's image, and where it is in the image that
    it is of. For compiled functions."""
    row, width, _ = sizes
    i = p.y * row + p.x
    return i, p if is_whole else Position(i % width, i // width)


def _row(count: int, target: str) -> int:
    """How many elements of an array (N,) lie in a row of the image made of it; 0: all."""
    device = targets.choose(target)
    if targets.is_on_host(device):
        return 0
    limits = targets.limits(device)
    side = NARROWEST if limits is None else limits.side
    return 0 if count <= side else min(FOLD, 1 << (side.bit_length() - 1))
