"""Arguments of functions of scalars: arrays that broadcast, and are cut into rows, for devices.

argument([1, 2], "x")                  # a scalar of Python, a vector, or an array of a stored dtype
for start, rows, width in cuts(count): ...
places(out, shapes)                    # the caller's arrays, checked
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core import sampler
from pygpu.core.errors import shown
from pygpu.core.storage import Format, ImageLike, NumberLike, Storage
from pygpu.execution.arguments import uniforms
from pygpu.execution.arguments.convert import array_of, is_picture, narrow
from pygpu.execution.arguments.results import ImageMaker, Out
from pygpu.language.scalars import number
from pygpu.language.vectors import CLASSES, Vector
from pygpu.types import BOOL, FLOAT, INT

ROW: Final = 4096  # elements of an array that lie in one row of the image made of it
ROWS: Final = 4096  # such rows in one image: what every device takes


def argument(value: Any, name: str) -> Any:
    """An argument as a scalar of Python, a vector, or an array of a stored dtype."""
    if isinstance(value, (complex, np.complexfloating)):
        return complex(*uniforms.complex_number(value, name))
    plain = number(value)
    if plain is not None:
        type = BOOL if isinstance(plain, bool) else FLOAT if isinstance(plain, float) else INT
        return uniforms.convert(type, plain, name)
    if isinstance(value, Vector):
        return value
    if not isinstance(value, (list, tuple)) and not is_picture(value):
        raise TypeError(f"{name}: takes numbers and arrays, got {shown(value)}")
    return narrow(np.asarray(array_of(value, name)), name)


_BESIDE: Final = {1: "a signal", 2: "an image", 3: "a volume"}


def beside_images(value: Any, name: str, channels: int, dims: int) -> Any:
    """An argument beside images of so many channels and coordinates: an array is an image itself,
    or a value for each channel. Axes that it lacks have one element."""
    if isinstance(value, ImageLike):
        return value
    if isinstance(value, NumberLike):
        if value.format.channels in (1, channels):
            return value
        value = value.item()
    made = argument(value, name)
    if not isinstance(made, np.ndarray):
        return made
    if made.ndim == 1 and made.size == channels > 1:
        cls = CLASSES[Format(made.dtype, channels, normalize=False).type]
        return cls(*made.tolist())
    if made.ndim < dims:
        made = made[(None,) * (dims - made.ndim)]
    if made.ndim > dims + 1:
        raise ValueError(f"{name}: {made.ndim} axes beside {_BESIDE[dims]}")
    return ImageMaker.wrap(made, dims, normalize=False)


def as_image(array: NDArray[Any]) -> ImageLike:
    storage = Storage.of(array)
    return ImageMaker.make(storage, sampler.make(Format(storage.dtype, storage.channels, False)))


def clamped(image: ImageLike, as_rows: bool) -> ImageLike:
    """The image read with the nearest texel: what has one row or column is repeated so."""
    storage = image.storage.as_image() if as_rows else image.storage
    return ImageMaker.make(storage, sampler.make(image.format), info=image.info)


def cuts(count: int) -> list[tuple[int, int, int]]:
    """Elements as images: where each begins, its rows, and their width."""
    cuts = []
    start = 0
    while count - start >= ROW:
        rows = min((count - start) // ROW, ROWS)
        cuts.append((start, rows, ROW))
        start += rows * ROW
    if start < count:
        cuts.append((start, 1, count - start))
    return cuts


def first_cut(count: int) -> tuple[int, int, int]:
    """The first of the cuts. Of nothing, one element says what the results are."""
    return cuts(max(count, 1))[0]


def flat(array: NDArray[Any], shape: tuple[int, ...], count: int) -> Any:
    """The elements of a broadcast array in a row, of several cuts spread out cut by cut."""
    if count == 0:
        return np.ones(1, array.dtype)
    if array.shape == shape and array.flags.c_contiguous:
        return array.reshape(-1)
    spread = np.broadcast_to(array, shape)
    return spread.flat if count > ROW * ROWS else np.ascontiguousarray(spread).reshape(-1)


def scalar(array: NDArray[Any]) -> Any:
    """A result without axes as a Python number, or as a vector."""
    if array.ndim == 0:
        return array.item()
    cls = CLASSES[Format(array.dtype, array.size, normalize=False).type]
    return cls(*array.tolist())


def places(out: Any, shapes: Sequence[tuple[int, ...]]) -> list[NDArray[Any] | None]:
    """The caller's arrays for results of these shapes; None for those that are to be made."""
    if out is None:
        return [None] * len(shapes)
    arrays = Out.of(out).arrays
    if len(arrays) != len(shapes):
        raise ValueError(f"out: the function has {len(shapes)} results, got {len(arrays)} arrays")
    for array, shape in zip(arrays, shapes, strict=True):
        if array is not None and array.shape != shape:
            raise ValueError(f"out: the result has shape {shape}, got {array.shape}")
    return list(arrays)


def is_direct(target: NDArray[Any], inputs: Sequence[Any]) -> bool:
    """Whether results can be written there piece by piece, while inputs are still read."""
    arrays = [each.base if isinstance(each, np.flatiter) else each for each in inputs]
    return target.flags.c_contiguous and not any(
        isinstance(each, np.ndarray) and np.may_share_memory(target, each) for each in arrays
    )
