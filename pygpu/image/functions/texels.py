"""Images among the arguments of NumPy's functions as arrays, and arrays as images again.

Arrays beside images are images, too, as operators have it: bytes among them are seen in [0, 1].

    first(args, kwargs)                    # the image that says what results are like
    seen_in(args, image)                   # the same arguments with texels in place of images
    image_of(array, image)                 # an image, where the array has the shape of one
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import asked, shown
from pygpu.core.storage import Format, ImageLike, Storage, texels
from pygpu.execution.arguments.convert import check_written, storage_of, texels_of, unmasked
from pygpu.execution.arguments.results import ImageMaker


def images_in(value: Any) -> Iterator[ImageLike]:
    """The images among arguments, and in lists of them."""
    if isinstance(value, ImageLike):
        yield value
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from images_in(each)
    elif isinstance(value, dict):
        yield from images_in(list(value.values()))


def first(*arguments: Any) -> ImageLike:
    """The first image among arguments."""
    return next(images_in(arguments))


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments, each changed, those in lists too."""
    if isinstance(value, (list, tuple)) and any(True for _ in images_in(value)):
        return type(value)([mapped(each, change) for each in value])
    if isinstance(value, dict):
        return {name: mapped(each, change) for name, each in value.items()}
    return change(value)


def seen(image: ImageLike, wide: bool = False) -> NDArray[Any]:
    """Texels as functions see them, with an axis for each coordinate, and one of channels where
    there are several; `wide`: floats and ints in 64 bits."""
    array = texels(image.storage.seen(), image.format)
    wider = {"f": np.float64, "i": np.int64}.get(array.dtype.kind) if wide else None
    return array if wider is None else array.astype(wider)


def in_texels(stored: Any, format: Format) -> Any:
    """Stored bytes of an image as functions see them, a number where it is one of NumPy's."""
    if not format.is_scaled:
        return stored
    return texels(np.asarray(stored), format)[()]


def seen_in(arguments: Any, image: ImageLike, wide: bool = False) -> Any:
    """Arguments with texels in place of images, and of arrays of bytes beside them."""

    def change(value: Any) -> Any:
        if isinstance(value, ImageLike):
            return seen(value, wide)
        if not isinstance(value, np.ndarray):
            return value
        scaled = value.ndim >= image.dims and value.dtype in (np.uint8, np.uint16)
        array = unmasked(value, "array")
        return texels(array, Format(array.dtype, 1)) if scaled else array

    return mapped(arguments, change)


def stored_in(arguments: Any) -> Any:
    """Arguments with stored texels in place of images."""
    return mapped(arguments, lambda v: v.storage.seen() if isinstance(v, ImageLike) else v)


def image_of(array: Any, image: ImageLike, dims: int | None = None, stored: bool = False) -> Any:
    """An array as an image that is read as another is, of as many coordinates; as it is where it
    has not the shape of one. `stored`: its bytes are texels of that image's format, else what
    functions see."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiub":
        return array
    if dims is None:
        kept = array.ndim > 1 and array.shape[-1] == image.format.channels
        has_channels = array.ndim == image.dims + 1 or (array.ndim == image.dims + 2 and kept)
        dims = array.ndim - (image.format.channels > 1 and has_channels)
    channels = array.shape[dims] if array.ndim == dims + 1 else 1
    if dims not in (1, 2, 3) or not 1 <= channels <= 4 or 0 in array.shape:
        return array
    normalize = image.format.normalize if stored else False
    is_unsigned = _is_unsigned(array, image.format.kind == "uint")
    made = _unsigned(array, dims) if is_unsigned else storage_of(array, "result", dims)
    reading = sampler.inherited(sampler.of(image), Format(made.dtype, channels, normalize))
    return ImageMaker.make(made, reading, info=image.info)


def _is_unsigned(array: NDArray[Any], of_unsigned: bool) -> bool:
    """Whether an array holds whole numbers of 32 bits without a sign alone; of images without such
    ones numbers that fit are those with a sign."""
    if of_unsigned and array.dtype.kind in "iu" and array.dtype.itemsize == 8:
        return bool(array.min() >= 0 and array.max() < 2**32)
    return array.dtype == np.uint32 and (of_unsigned or bool(array.max() >= 2**31))


def _unsigned(array: Any, dims: int) -> Storage:
    """Texels of 32 bits without a sign, which arrays of callers are not read as."""
    stored = texels_of(array.astype(np.uint32, copy=False).view(np.int32), "result", dims=dims)
    return Storage.of(stored.view(np.uint32), array.shape[:dims])


def check_out(*arrays: Any) -> None:
    """An error where a result cannot go there."""
    if any(isinstance(array, ImageLike) for array in arrays):
        raise TypeError("out: an image cannot be written to, take an ndarray")
    for array in arrays:
        if array is not None and not isinstance(array, np.ndarray):
            raise TypeError(f"out takes an ndarray, got {shown(array)}")
        if array is not None:
            check_written(array)


def given(result: Any, dtype: Any, out: Any) -> Any:
    """A result as NumPy's reductions hand it over."""
    check_out(out)
    if dtype is not None:
        result = asked(np.asarray(result).astype, dtype)[()]
    if out is None:
        return result
    asked(np.copyto, out, result, casting="unsafe")
    return out
