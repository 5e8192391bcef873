"""Sums and extremes of images, along NumPy's axes.

total(image, axis=(0, 1), keepdims=False); extreme(image, np.max, None, False)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.errors import shown, whole
from pygpu.core.programs import ALONG_X, ALONG_Y, BOTH, Along, How
from pygpu.core.sampler import make
from pygpu.core.storage import Format, ImageLike, texels
from pygpu.devices import targets
from pygpu.execution.arguments.convert import without_channel_axis
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.arrays.recall import Plan, Plans
from pygpu.execution.folds import folding
from pygpu.execution.folds.folding import State, program

ON_DEVICE: Final = 1 << 16  # texels from which on a sum of a device's image begins there
NATIVE: Final = 1 << 14  # elements from which on code of the device may be quicker than NumPy
ROW: Final = 4096  # elements whose squares are summed one after the other
FOLDED: Final = 2  # passes of a sum on the device, before the host sums the rest in 64 bits


def total(image: ImageLike, axis: Any, keepdims: bool) -> Any:
    """The sum of texels along NumPy's axes, exact for ints and bools, in 64 bits for floats."""
    storage, format = image.storage, image.format
    is_float = storage.dtype.kind == "f"
    if not _starts_on_device(image, axis):
        summed = _natively(image, "sum", axis, keepdims)
        if summed is None:
            raw, wide = storage.seen(), np.float64 if is_float else np.int64
            summed = np.sum(raw, axis, dtype=wide, keepdims=keepdims)
    elif is_float:
        parts = _folded(folding.added, None, image, axis)[0]
        if isinstance(axis, int) and parts.shape[axis] == 1:  # a sum of one takes NumPy long
            sums = parts.astype(np.float64)
            return sums if keepdims else np.squeeze(sums, axis)
        return np.sum(parts, axis, np.float64, keepdims=keepdims)
    else:
        as_stored = make(Format(storage.dtype, format.channels, normalize=False))
        parts = _folded_ints(ImageMaker.make(storage, as_stored), axis)
        summed = np.sum(parts, axis, keepdims=keepdims)
    scaled = format.kind == "float" and not is_float
    return summed / np.iinfo(storage.dtype).max if scaled else summed


def again(image: ImageLike, how: How) -> Any:
    """A fold of all texels that was asked before, by the device of images; None of others."""
    known = image.storage.folds.get(how)
    if known is None or known[1] is None or known[0] is not targets.choose("auto"):
        return None
    raw, format = known[1](), image.format
    if not format.is_scaled:
        return raw
    return raw / np.iinfo(format.dtype).max if how == "sum" else texels(raw, format)


def extreme(image: ImageLike, function: Callable[..., Any], axis: Any, keepdims: bool) -> Any:
    """np.min or np.max of texels along NumPy's axes."""
    if _starts_on_device(image, axis):
        pick = np.minimum if function is np.min else np.maximum
        return function(_folded(pick, None, image, axis)[0], axis, keepdims=keepdims)
    raw = _natively(image, "min" if function is np.min else "max", axis, keepdims)
    if raw is None:
        raw = function(image.storage.seen(), axis, keepdims=keepdims)
    return texels(np.asarray(raw, image.format.dtype)[()], image.format)


def _natively(image: ImageLike, how: How, axis: Any, keepdims: bool) -> Any:
    """The fold of stored texels, of all or of each channel, by code of the device; None where
    there is none, or the axes are others."""
    array = image.storage.host()
    if keepdims or array.size < NATIVE or not array.flags.c_contiguous:
        return None
    channels, axes, dims = image.format.channels, _axes(image, axis), image.dims
    if axes == set(range(dims)) and channels > 1:
        return targets.choose("auto").texels(array, how, channels)
    device = targets.choose("auto")
    if len(axes) != dims + (channels > 1):
        return _line_sums(image.storage.seen(), axes, device) if how == "sum" else None
    found = device.texels(array, how, 1)
    if found is None:
        return None
    folds = image.storage.folds
    folds[how] = device, device.folder(array, how) if how in folds else None  # not for one call
    return found[0]


def _line_sums(array: NDArray[Any], axes: set[int], device: Device) -> NDArray[Any] | None:
    """Sums along the first axes of an array, or along the last; None along others."""
    lines = _lines(array, axes)
    if lines is None:
        return None
    rows, axis, shape = lines
    sums = device.line_sums(rows, axis)
    return None if sums is None else sums.reshape(shape)


def _lines(array: NDArray[Any], axes: set[int]) -> tuple[NDArray[Any], int, tuple[int, ...]] | None:
    """Lines along the first axes of an array, or along the last, as those of an array of two axes,
    their axis, and the shape of what they are folded to; None along others."""
    count, ndim = len(axes), array.ndim
    if axes == set(range(count)):
        cut, axis, shape = count, 0, array.shape[count:]
    elif axes == set(range(ndim - count, ndim)):
        cut, axis, shape = ndim - count, 1, array.shape[: ndim - count]
    else:
        return None
    return array.reshape(math.prod(array.shape[:cut]), -1), axis, shape


def spread(image: ImageLike, axis: Any, ddof: float) -> Any:
    """The variance of texels along NumPy's axes by code of the device; None where it has none."""
    array, format = image.storage.array, image.format
    if array is None or not array.flags.c_contiguous:
        return None
    device, seen, axes = targets.choose("auto"), image.storage.seen(), _axes(image, axis)
    is_all = len(axes) == seen.ndim
    found = _squares(array.reshape(-1), device) if is_all else _line_squares(seen, axes, device)
    if found is None or found[1] <= ddof:
        return None
    variance = found[0] / (found[1] - ddof)
    return variance / np.iinfo(format.dtype).max ** 2 if format.is_scaled else variance


def _line_squares(array: NDArray[Any], axes: set[int], device: Device) -> tuple[Any, int] | None:
    """The sums of the squares of differences to the means along axes, and of how many."""
    lines = _lines(array, axes)
    if lines is None:
        return None
    rows, axis, shape = lines
    known, count = device.line_sums(rows, axis), rows.shape[axis]
    sums: Any = np.sum(rows, axis, np.float64) if known is None else known
    squares = device.line_sums(rows, axis, sums / count)
    return None if squares is None else (squares.reshape(shape), count)


def _squares(flat: NDArray[Any], device: Device) -> tuple[Any, int] | None:
    """The sum of the squares of all differences to the mean, and of how many."""
    total = device.texels(flat, "sum", 1)
    if total is None:
        return None
    mean, whole = total[0] / flat.size, flat.size // ROW * ROW
    rows = flat[:whole].reshape(-1, ROW)
    squares = device.line_sums(rows, 1, np.full(len(rows), mean))
    if squares is None:
        return None
    return squares.sum() + np.square(flat[whole:] - mean).sum(), flat.size


def _starts_on_device(image: ImageLike, axis: Any) -> bool:
    """Whether to fold on the device before what is left is downloaded: a large image whose texels
    are there, and there alone if the device has no groups of lanes."""
    storage = image.storage
    if image.dims != 2:  # what is folded there has the axes of images
        return False
    if _along(image, axis) is None or storage.height * storage.width < ON_DEVICE:
        return False
    if storage.array is None:
        return True
    device = targets.choose("auto")
    return device.has_groups and device.copy in storage.copies


def checked_axes(axis: Any, ndim: int) -> list[int]:
    """NumPy's axes as numbers from 0 up. TypeError where none is whole, AxisError for others."""
    if axis is None:
        return list(range(ndim))
    found = []
    for each in axis if isinstance(axis, tuple) else (axis,):
        place = whole(each)
        if place is None:
            raise TypeError(f"axis: takes a whole number, or a tuple of them, got {shown(each)}")
        if not -ndim <= place < ndim:
            raise np.exceptions.AxisError(place, ndim)
        found.append(place % ndim)
    if len(set(found)) < len(found):
        raise ValueError(f"axis: an axis twice in {axis}")
    return found


def _axes(image: ImageLike, axis: Any) -> set[int]:
    """NumPy's axes, from the front."""
    return set(checked_axes(axis, image.dims + (image.format.channels > 1)))


def _along(image: ImageLike, axis: Any) -> Along | None:
    """The axes of the image among NumPy's axes; None where there are none."""
    axes = _axes(image, axis)
    if 1 in axes:
        return BOTH if 0 in axes else ALONG_X
    return ALONG_Y if 0 in axes else None


_PLANS: Final = Plans()


def _folded(function: Any, map: Any, image: ImageLike, axis: Any) -> list[NDArray[Any]]:
    """Arrays of fewer rows or columns, each value the fold of some along the axes."""
    along = _along(image, axis)
    assert along is not None, "there is something to fold"
    key = _PLANS.key("auto", (image,), function, map, along)
    plan = _PLANS.find(key)
    if plan is not None:
        parts: list[NDArray[Any]] = plan.run((image,))
        return parts
    fold = program(Code(function), Code(map), "auto")
    ready = fold.ready(State((image,)), along)
    if ready is not None:
        is_safe = image.format.kind == "float" or (function is not folding.added and map is None)

        def run(images: Sequence[Any]) -> Any:
            # Sums of ints fit into 32 bits where 65536 texels are added, not more.
            found = ready.run([images[0].storage], whole=False, fewest=is_safe)
            return [without_channel_axis(part) for part in found.parts]

        if key is not None:
            _PLANS.keep(key, Plan(run, ready.sources))
        return list(run((image,)))
    state = folding.by_passes(fold, State((image,)), (1 if ALONG_Y in along else 0,), FOLDED)
    return [without_channel_axis(part.storage.host()) for part in state.images]


def _folded_ints(image: ImageLike, axis: Any) -> NDArray[np.int64]:
    """Sums of ints along some axes, in arrays of fewer rows or columns, exactly."""
    if image.format.dtype.itemsize == 1:
        return _folded(folding.added, folding.number, image, axis)[0].astype(np.int64)
    high, low = [part.astype(np.int64) for part in _folded(_add_pairs, _halves, image, axis)]
    return (high << 16) + (low & 0xFFFFFFFF)


def _halves(texel: Any) -> Any:
    """An int as two, whose sums over 65536 texels fit in 32 bits, the second's without a sign."""
    return texel >> 16, texel & 0xFFFF


def _add_pairs(a: Any, b: Any) -> Any:
    return a[0] + b[0], a[1] + b[1]
