"""An image's texels and where they live now: in a host array, on a device, or both.

A `Storage` never changes once it is made, so copies on devices stay true and may be shared. It is
rows of texels whatever the dimensions: a signal is one row, a volume the rows of its planes, one
plane after the other.

    storage = Storage.of(array)            # (H, W) or (H, W, C) of a stored dtype
    storage.host()                         # (H, W, C), downloaded where it must be
    Storage.of(rows, (D, H, W)).shape      # (D, H, W), of D * H rows
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.types import Kind, Type, vector

# What devices store. Wider input is narrowed when an Image is made, wider output after download.
STORED: Final = tuple(
    np.dtype(name)
    for name in (
        "uint8",
        "uint16",
        "float16",
        "float32",
        "int8",
        "int16",
        "int32",
        "uint32",
        "bool",
    )
)
AT_ONCE: Final = 1 << 18  # values converted at once
TURNED: Final = 1 << 12  # rows, or columns, that are turned at once
THIN: Final = 16  # pixels of a row below which turning an image costs less than its short rows
TALL: Final = 4  # times as high as wide, at least: where rows become no longer, nothing is won


@record
class Format:
    """How texels are stored: a dtype of STORED, 1 to 4 channels, and, for uint8 and uint16,
    whether functions see them scaled to [0, 1] (floats) or raw (ints). uint32 is what results of
    uints are stored as, and seen as such; arrays of that dtype are narrowed to int32."""

    dtype: np.dtype[Any]
    channels: int
    normalize: bool = True

    @property
    def nbytes(self) -> int:
        """Bytes of a texel."""
        return self.channels * self.dtype.itemsize

    @property
    def is_scaled(self) -> bool:
        """Whether functions see what is stored from 0 to the largest number as [0, 1]."""
        return self.normalize and self.dtype.kind == "u" and self.dtype.itemsize <= 2

    @property
    def type(self) -> Type:
        """The type of a texel as a function sees it."""
        return vector(self.kind, self.channels)

    @property
    def kind(self) -> Kind:
        if self.dtype == np.uint32:
            return "uint"
        if self.dtype.kind == "f" or self.is_scaled:
            return "float"
        return "bool" if self.dtype.kind == "b" else "int"


def rows_of(shape: tuple[int, ...]) -> tuple[int, int]:
    """The rows, and texels of a row, of a signal (N,), an image (H, W) or a volume (D, H, W)."""
    return math.prod(shape[:-1]), shape[-1]


class Storage:
    """Texels (H, W, C) of one dtype. `copies` belongs to the devices: each keeps its own form there
    under its own name. At least one of `array` and a copy is there. `shape` has an axis for each
    coordinate, `height` counts all rows."""

    __slots__ = (
        "__weakref__",
        "apart",
        "array",
        "channels",
        "copies",
        "download",
        "dtype",
        "folds",
        "height",
        "other",
        "planes",
        "shape",
        "strips",
        "width",
    )

    def __init__(
        self,
        height: int,
        width: int,
        channels: int,
        dtype: np.dtype[Any],
        array: NDArray[Any] | None = None,
        download: Callable[[], NDArray[Any]] | None = None,
    ) -> None:
        self.height, self.width, self.channels, self.dtype = height, width, channels, dtype
        self.shape: tuple[int, ...] = (height, width)
        self.array = array  # (H, W, C), C-contiguous
        self.apart: NDArray[Any] | None = None  # the same, in rows that do not follow each other
        self.download = download  # makes `array` from a device's copy
        self.copies: dict[str, Any] = {}
        self.folds: dict[str, tuple[Any, Any]] = {}  # by which devices, to be done again
        self.planes: list[Storage] = []  # of a volume, once they are asked for
        self.other: Storage | None = None  # the same with columns for rows, once it is asked for
        self.strips: dict[Any, Storage] = {}  # few long rows cut into strips, once these are read

    @classmethod
    def of(cls, array: NDArray[Any], shape: tuple[int, ...] = ()) -> Storage:
        """The texels of an array (H, W) or (H, W, C), which is not copied, in rows as `in_rows`
        says; `shape` is that of their coordinates, if not (H, W)."""
        texels = array.reshape(array.shape[0], array.shape[1], -1)
        if texels.flags.c_contiguous:
            made = cls(*texels.shape, texels.dtype, texels)
        else:
            assert in_rows(texels), (texels.shape, texels.strides)
            made = cls(*texels.shape, texels.dtype, None, lambda: np.ascontiguousarray(texels))
            made.apart = texels
        return made.shaped(shape) if shape else made

    def shaped(self, shape: tuple[int, ...]) -> Storage:
        """Say of this new storage that it is a signal's, an image's or a volume's of that shape."""
        assert rows_of(shape) == (self.height, self.width), (shape, self.height, self.width)
        self.shape = shape
        return self

    @property
    def dims(self) -> int:
        """The coordinates of a texel: 1 to 3."""
        return len(self.shape)

    @classmethod
    def stacked(cls, planes: Sequence[Storage]) -> Storage:
        """The rows of planes of one size, wherever these are."""
        first = planes[0]

        def download() -> NDArray[Any]:
            return np.concatenate([plane.host() for plane in planes])

        height = len(planes) * first.height
        made = cls(height, first.width, first.channels, first.dtype, None, download)
        made.planes = list(planes)
        return made

    def plane(self, z: int) -> Storage:
        """A plane of a volume: an image, of which devices keep copies as of any."""
        if not self.planes:
            depth, height, _ = self.shape
            rows = self.host()
            self.planes = [Storage.of(rows[height * k : height * (k + 1)]) for k in range(depth)]
        return self.planes[z]

    def turned(self) -> Storage:
        """A storage of these texels with columns for rows, of which devices keep copies as of any
        storage. It is kept here and takes its texels from here, but does not keep this storage
        alive: memory is freed when nobody holds this one."""
        if self.height == self.width == 1:
            return self
        if self.other is None:
            array = None if self.array is None else _turned(self.array)
            owner = weakref.ref(self)

            def download() -> NDArray[Any]:
                there = owner()
                assert there is not None, "what turned texels are made of is there"
                return _turned(there.host())

            height, width = self.width, self.height
            self.other = Storage(height, width, self.channels, self.dtype, array, download)
        return self.other

    @classmethod
    def of_turned(cls, other: Storage) -> Storage:
        """The texels of what was made with columns for rows."""
        made = cls(other.width, other.height, other.channels, other.dtype)
        made.other, made.download = other, lambda: _turned(other.host())
        return made

    @property
    def devices(self) -> set[str]:
        """The names of the devices that have a copy, of a volume of some of its planes."""
        twins = () if self.other is None else (self.other,)
        return {name for each in (self, *twins, *self.planes) for name in each.copies}

    def as_image(self) -> Storage:
        """These texels as an image's: the rows of all planes, one below the other."""
        if self.dims == 2:
            return self
        rows = Storage(self.height, self.width, self.channels, self.dtype, self.array, self.host)
        rows.copies = self.copies
        return rows

    def host(self) -> NDArray[Any]:
        """The texels in a host array (H, W, C). Not to be written."""
        if self.array is None:
            assert self.download is not None
            self.array = self.download()
        return self.array

    def lying(self) -> NDArray[Any]:
        """The texels (H, W, C) where they lie on the host, in rows as `in_rows` says."""
        return self.apart if self.array is None and self.apart is not None else self.host()

    def shares(self, array: NDArray[Any]) -> bool:
        """Whether writing to an array may change these texels."""
        own = self.apart if self.array is None else self.array
        return own is not None and np.may_share_memory(array, own)

    def seen(self) -> NDArray[Any]:
        """The texels in a host array with an axis for each coordinate, and a last one of channels
        where there are several. It cannot be written: copies on devices would not know."""
        view = self.handed()
        view.flags.writeable = False  # of the view alone
        return view

    def handed(self) -> NDArray[Any]:
        """The texels as `seen` has them, for who alone keeps this storage and may write them."""
        array = self.host()
        return array.reshape(self.shape if self.channels == 1 else (*self.shape, self.channels))


def in_rows(texels: NDArray[Any]) -> bool:
    """Whether the texels (H, W, C) of a row lie one behind the other, and rows so many whole texels
    apart, as those of a crop do. Rows may be one and the same."""
    _, width, channels = texels.shape
    pitch, across, between = texels.strides
    texel = channels * texels.itemsize
    return (
        (channels == 1 or between == texels.itemsize)
        and (width == 1 or across == texel)
        and (texels.shape[0] == 1 or (pitch >= 0 and pitch % texel == 0))
        and texels.flags.aligned
    )


def strides_of(arrays: Sequence[NDArray[Any]]) -> tuple[int, ...]:
    """The bytes from row to row; nothing where the rows of each follow each other."""
    for array in arrays:
        if not array.flags.c_contiguous:
            return tuple([each.strides[0] for each in arrays])
    return ()


def _turned(array: NDArray[Any]) -> NDArray[Any]:
    """An array with columns for rows: a view where there is one column or row, else a copy."""
    height, width, channels = array.shape
    if min(height, width) == 1:
        return np.ascontiguousarray(array.swapaxes(0, 1))
    made = np.empty((width, height, channels), array.dtype)
    copy_turned(array, made)
    return made


def is_thin(shape: tuple[int, int], short: int = THIN) -> bool:
    """Whether images of a height and width are turned; `short`: where rows have fewer pixels."""
    height, width = shape
    return width < short and height >= TALL * width


def copy_turned(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy texels (H, W, C) into (W, H, C), in parts of whole rows that a cache holds."""
    for first in range(0, max(source.shape[:2]), TURNED):
        part = slice(first, first + TURNED)
        if len(source) < len(target):
            target[part] = source[:, part].swapaxes(0, 1)
        else:
            target[:, part] = source[part].swapaxes(0, 1)


class ImageLike:
    """What the compiler knows of pygpu.Image, pygpu.Signal and pygpu.Volume: where texels are and
    how they are read. `dims` is how many coordinates they have."""

    __slots__ = ()

    dims: ClassVar[int] = 2
    storage: Storage
    format: Format
    boundary: str  # one of ssa.BOUNDARIES
    cval: tuple[float, ...]  # a number a channel, in texel units
    interpolation: str  # "nearest" or "linear"
    info: Mapping[str, Any]  # what its file says beside the texels; results inherit it


class NumberLike:
    """What the compiler knows of a number that a device has computed, and that nobody has read yet:
    the storage of one texel that holds it."""

    __slots__ = ()

    storage: Storage
    format: Format

    def item(self) -> Any:
        """The number, read now."""
        raise NotImplementedError


class UnseenNumber(NumberLike):
    """A float that a function of images may compute with and hand on, and not look at: nobody knows
    it yet. Where it is handed to a program, it stands in place of a uniform."""

    __slots__ = ()


class Awaited(Storage):
    """An image that is made when it is first asked for. Until then only its size is known."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, int], channels: int, dtype: np.dtype[Any]) -> None:
        self.height, self.width = self.shape = shape
        self.channels, self.dtype = channels, dtype
        self.planes, self.strips, self.folds = [], {}, {}
        self.other = self.apart = None

    @property
    def settled(self) -> Storage:
        """The image as a device or the host has it."""
        raise NotImplementedError

    def host(self) -> NDArray[Any]:
        return self.settled.host()

    @property
    def array(self) -> NDArray[Any] | None:  # type: ignore[override]
        return self.settled.array

    @property
    def copies(self) -> dict[str, Any]:  # type: ignore[override]
        return self.settled.copies


def stored(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Results of any shape, as a kind has them, as the dtype of an image: see device.Task."""
    if values.dtype == dtype:
        return values
    if values.size <= AT_ONCE or len(values) == 1:
        return _stored(values, dtype)
    result = np.empty(values.shape, dtype)
    rows = max(AT_ONCE * len(values) // values.size, 1)
    for top in range(0, len(values), rows):  # so that nothing wide is as large as the image
        result[top : top + rows] = _stored(values[top : top + rows], dtype)
    return result


def _stored(values: NDArray[Any], dtype: np.dtype[Any]) -> NDArray[Any]:
    if dtype.kind == "b":
        return np.asarray(values != 0)
    if dtype.kind in "fc":
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    if values.dtype.kind == "b":
        return np.where(values, limits.max if dtype.kind == "u" else 1, 0).astype(dtype)
    if values.dtype.kind != "f":
        return np.clip(values.astype(np.int64), limits.min, limits.max).astype(dtype)
    wide = np.nan_to_num(values.astype(np.float64), nan=0.0, posinf=np.inf, neginf=-np.inf)
    scale = limits.max if dtype.kind == "u" and dtype.itemsize <= 2 else 1
    wide = np.rint(wide * scale)
    wide = np.clip(wide, float(limits.min), float(limits.max))
    top = wide >= float(limits.max)  # the maximum of 64 bits is not a float
    return np.where(top, limits.max, np.where(top, 0, wide).astype(dtype)).astype(dtype)


def texels(array: NDArray[Any], format: Format) -> NDArray[Any]:
    """Stored texels as functions see them: float32 (of uint8 v / 255), int32, uint32 or bool."""
    if format.is_scaled:
        return array.astype(np.float32) / np.float32(np.iinfo(format.dtype).max)
    if format.kind == "float":
        return array.astype(np.float32, copy=False)
    return array if format.kind in ("bool", "uint") else array.astype(np.int32, copy=False)


def narrowed(array: NDArray[Any]) -> NDArray[np.float32]:
    """Wide floats as float32. OverflowError where a finite one is too large."""
    with np.errstate(over="raise"):
        try:
            return array.astype(np.float32)
        except FloatingPointError as error:
            raise OverflowError(str(error)) from None


def presented(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype in which texels of an array are given back: float64 is narrowed."""
    native = dtype.newbyteorder("=")
    return np.dtype("float32") if native.kind == "f" and native.itemsize > 4 else native
