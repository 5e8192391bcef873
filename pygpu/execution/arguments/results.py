"""What comes back: results as the caller wants them, in the dtype and the form of what went in.

wanted = Wanted("pil", "L", (None,))            # a PIL image, as 8-bit as its input
formats = [output_format(type, output_dtype(wanted, i, type)) ...]
present(wanted, storage, ...)                   # an ndarray, a PIL image or a pygpu.Image
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.sampler import Sampler, make
from pygpu.core.storage import STORED, Format, ImageLike, Storage, in_rows, rows_of, stored
from pygpu.execution.arguments.convert import (
    KEPT_MODES,
    KINDS,
    PIL_STORES,
    check_written,
    is_pil,
    pil_of,
)
from pygpu.execution.arguments.metadata import KEPT_INFO, NO_INFO, picture_info
from pygpu.execution.arguments.parameters import Given
from pygpu.types import INTEGERS, Type

Form = Literal["array", "pil", "image"]


class Wanted(NamedTuple):
    """The form of the results, the PIL mode of the input that decided it, and the dtype asked
    for: one for all, or a tuple with one (or None) for each result."""

    form: Form
    mode: str = ""
    dtype: np.dtype[Any] | tuple[np.dtype[Any] | None, ...] | None = None


class ImageMaker:
    """Makes a pygpu.Image, or by the number of coordinates a Signal or a Volume. They stand above
    this module, for their operators are compiled programs: so their classes are had where users
    have them, from the package, at the first result."""

    @staticmethod
    def make(storage: Storage, sampler: Sampler, *, info: Mapping[str, Any] = NO_INFO) -> ImageLike:
        """An image of texels that are on a device already, or may be."""
        classes = _CLASSES or _found()
        image: ImageLike = classes[len(storage.shape)]._of(storage, sampler, info=info)
        return image

    @staticmethod
    def of_rows(image: ImageLike) -> ImageLike:
        """A signal or a volume as the image of its rows."""
        if image.dims == 2:
            return image
        reading = make(image.format)
        return ImageMaker.make(image.storage.as_image(), reading, info=image.info)

    @staticmethod
    def wrap(data: Any, dims: int = 2, **options: Any) -> ImageLike:
        """An image of what users make one of, by their options."""
        image: ImageLike = _class(dims)(data, **options)
        return image

    @staticmethod
    def around(data: Any, dims: int = 2) -> ImageLike:
        """An image of what users make one of; one of an array shares its memory."""
        if type(data) is not np.ndarray:
            return ImageMaker.wrap(data, dims)
        image: ImageLike = _class(dims)._owning(data, NO_INFO)
        return image


_CLASSES: Final[dict[int, Any]] = {}


def _found() -> dict[int, Any]:
    """The classes by the number of coordinates, once the package has them all."""
    package = sys.modules["pygpu"]
    found = {dims: getattr(package, name) for dims, name in KINDS.items()}
    _CLASSES.update(found)
    return _CLASSES


def _class(dims: int) -> Any:
    return (_CLASSES or _found())[dims]


def form_of(images: Sequence[Given]) -> tuple[Form, str]:
    """The form (and PIL mode) that the inputs ask for: a device image wins, else the first."""
    if not images:
        return "image", ""
    for given in images:
        if isinstance(given.original, ImageLike):
            return "image", ""
    first = images[0].original
    return ("pil", first.mode) if is_pil(first) else ("array", "")


def info_of(images: Sequence[Given]) -> Mapping[str, Any]:
    """What the first picture among the inputs says beside its texels: results say it, too."""
    return info_from([given.original for given in images])


def info_from(originals: Iterable[Any]) -> Mapping[str, Any]:
    """What the first picture among these says beside its texels."""
    for original in originals:
        if isinstance(original, ImageLike):
            deep = original.storage.dtype == np.uint16 and "bits" not in original.info
            return {**original.info, "bits": 16} if deep else original.info
        if is_pil(original):
            return picture_info(original)
    return NO_INFO


def picture_of(array: NDArray[Any], info: Mapping[str, Any], in_words: bool = False) -> Any:
    """A PIL image that says of itself what its source did."""
    picture = pil_of(array, in_words)
    picture.info.update({name: info[name] for name in KEPT_INFO if name in info})
    return picture


def natural_dtype(type: Type) -> np.dtype[Any]:
    """What results of a type are stored as where nothing else is asked for."""
    return np.dtype(NUMPY_TYPE[type.kind])


def output_dtype(wanted: Wanted, index: int, type: Type) -> np.dtype[Any]:
    """The dtype of a result as the caller gets it."""
    dtypes: Any = wanted.dtype
    asked: np.dtype[Any] | None = dtypes[index] if isinstance(dtypes, tuple) else dtypes
    if wanted.form != "pil":
        return asked if asked is not None else natural_dtype(type)
    if asked is None:
        kept = KEPT_MODES.get(wanted.mode) if type.is_scalar else None
        return np.dtype("uint8") if kept is None else kept
    if (asked, type.size) not in PIL_STORES:
        raise TypeError(
            f"dtype={asked}: PIL has no mode for {type.size} channel{'s' * (type.size > 1)} of "
            f"{asked}; it has uint8 with 1 to 4, and one of uint16, int32, float32 and bool"
        )
    return asked


def output_format(type: Type, dtype: np.dtype[Any]) -> Format:
    """How a device stores a result: in that dtype where it can, else as it is."""
    if dtype not in STORED:
        dtype = natural_dtype(type)
    return Format(dtype, type.size, normalize=type.kind not in INTEGERS)


def present(
    form: Form,
    storage: Storage,
    dtype: np.dtype[Any],
    sampler: Sampler,
    info: Mapping[str, Any] = NO_INFO,
) -> NDArray[Any] | ImageLike | Any:
    """One result as the caller gets it."""
    if form == "image":
        if dtype == storage.dtype:
            return ImageMaker.make(storage, sampler, info=info)
        array = stored(storage.seen(), dtype)
        return ImageMaker.wrap(
            array,
            storage.dims,
            boundary=sampler.boundary,
            cval=sampler.cval,
            interpolation=sampler.interpolation,
            normalize=sampler.format.normalize,
            info=info,
        )
    array = storage.handed()
    if form == "pil":
        return picture_of(array, info)
    return stored(array, dtype)


def _overlaps_itself(array: NDArray[Any]) -> bool:
    """Whether elements share memory, as those of what was broadcast do. Of axes by stride, each
    must step over all that those before it span."""
    if array.flags.forc or array.size == 0:
        return False
    axes = sorted(zip(map(abs, array.strides), array.shape, strict=True))
    span = array.itemsize
    for stride, size in axes:
        if size > 1 and stride < span:
            return True
        span += stride * (size - 1)
    return False


def _in_place(array: NDArray[Any], shape: tuple[int, int, int], apart: bool) -> NDArray[Any] | None:
    """A view (H, W, C) of an array, which fits it, that devices may write; None where none is."""
    if array.flags.carray:
        return array.reshape(shape)
    if not apart or not array.flags.behaved:
        return None
    texels = array.reshape(shape)
    is_view = np.may_share_memory(texels, array)
    return texels if is_view and in_rows(texels) else None


def _fitting(shape: tuple[int, ...], channels: int) -> list[tuple[int, ...]]:
    """The shapes of arrays that hold a result."""
    return [(*shape, channels)] if channels > 1 else [shape, (*shape, 1)]


def _direct(
    array: NDArray[Any] | None,
    format: Format,
    inputs: Sequence[Storage],
    rows: tuple[int, int],
    apart: bool,
) -> NDArray[Any] | None:
    """An array as `Out.direct` has it, which shares no memory with an input."""
    if array is None or array.dtype != format.dtype:
        return None
    texels = _in_place(np.asarray(array), (*rows, format.channels), apart)
    if texels is not None and any(storage.shares(texels) for storage in inputs):
        return None
    return texels


class Out:
    """The caller's arrays for results, and what devices write where they cannot write there."""

    def __init__(self, arrays: Sequence[NDArray[Any] | None]) -> None:
        self.arrays: Final = tuple(arrays)

    @classmethod
    def of(cls, out: Any) -> Out:
        """From the argument `out`: an array, or a tuple of them. TypeError for anything else."""
        arrays = tuple(out) if isinstance(out, (tuple, list)) else (out,)
        there = [array for array in arrays if array is not None]
        if not arrays:
            raise ValueError(f"out: takes an ndarray, or a tuple of them, got {out}")
        for array in there:
            if not isinstance(array, np.ndarray):
                raise TypeError(
                    f"out: takes an ndarray, or a tuple of them for a function that returns a "
                    f"tuple; got {type(array).__name__}"
                )
            check_written(array)
            if not array.flags.writeable:
                raise ValueError("out: the array is read-only")
            if array.dtype.kind not in "fiub":
                raise TypeError(f"out: an array of dtype {array.dtype} holds no texels")
            if _overlaps_itself(array):
                raise ValueError(
                    "out: elements of the array share memory (its strides are "
                    f"{array.strides}), so that it cannot hold a result"
                )
        if any(np.shares_memory(one, other) for one, other in combinations(there, 2)):
            raise ValueError("out: two results cannot go into the same memory; give each an array")
        return cls(arrays)

    def dtypes(self) -> tuple[np.dtype[Any] | None, ...]:
        return tuple(
            [None if array is None else array.dtype.newbyteorder("=") for array in self.arrays]
        )

    def check(self, types: Sequence[Type], is_tuple: bool, shape: tuple[int, ...]) -> None:
        """ValueError where the arrays do not fit the results."""
        if len(self.arrays) != len(types):
            raise ValueError(
                f"out: the function has {len(types)} result{'s' * (len(types) > 1)}, "
                f"got {len(self.arrays)} array{'s' * (len(self.arrays) > 1)}"
            )
        for array, type in zip(self.arrays, types, strict=True):
            fitting = _fitting(shape, type.size)
            if array is not None and array.shape not in fitting:
                raise ValueError(f"out: the result has shape {fitting[0]}, got {array.shape}")

    def direct(
        self,
        formats: Sequence[Format],
        inputs: Sequence[Storage],
        rows: tuple[int, int],
        apart: bool = False,
    ) -> list[NDArray[Any] | None]:
        """The arrays (H, W, C), of so many rows and texels of a row, into which a device may write
        itself, C-contiguous or, for one that takes that (`apart`), in rows that do not follow each
        other; None for the others."""
        found: list[NDArray[Any] | None] = []
        for array, format in zip(self.arrays, formats, strict=True):
            found.append(_direct(array, format, inputs, rows, apart))
        return found

    def places(
        self,
        kinds: Sequence[tuple[tuple[int, ...], Format]],
        inputs: Sequence[Storage],
        apart: bool,
    ) -> list[NDArray[Any] | None]:
        """The same for results of shapes and formats. What does not fit is for others to say."""
        return [
            _direct(array, format, inputs, rows_of(shape), apart)
            if array is not None and array.shape in _fitting(shape, format.channels)
            else None
            for array, (shape, format) in zip(self.arrays, kinds, strict=False)
        ]

    def holds(self, index: int, storage: Storage) -> bool:
        """Whether a result lies in its array already."""
        array, texels = self.arrays[index], storage.apart
        texels = storage.array if texels is None else texels
        if array is None or texels is None or array.dtype != texels.dtype:
            return False
        if array.shape not in _fitting(storage.shape, storage.channels):
            return False
        place: Any = _in_place(np.asarray(array), texels.shape, True)
        if place is None or place.strides != texels.strides:
            return False
        return bool(place.ctypes.data == texels.ctypes.data)

    def fill(self, index: int, storage: Storage, direct: NDArray[Any] | None) -> bool:
        """Put a result into its array, where there is one and it is not there already."""
        array = self.arrays[index]
        if array is None:
            return False
        if direct is None:
            values = stored(storage.host(), array.dtype.newbyteorder("="))
            array[...] = values.reshape(array.shape)
        return True
