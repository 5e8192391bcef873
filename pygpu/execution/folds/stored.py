"""Folds by NumPy's functions of texels as they are stored, where these lie on the host.

stored_fold(folding, type)             # a function of the image, or None
stored_place(folding)                  # a function that finds the extreme's value, column, row
POSITIONS[np.argmax]((0.5, 3, 1), (0.5, 2, 1))     # (0.5, 2, 1): the first in raster order
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.programs import How
from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.folds.by_group import Folding
from pygpu.execution.folds.totals import again, extreme, total
from pygpu.execution.programs.options import is_checked_here
from pygpu.types import Type

# The functions by which native code folds texels as they are stored.
STORED: Final[dict[Any, How]] = {
    np.add: "sum",
    operator.add: "sum",
    np.maximum: "max",
    np.minimum: "min",
}
_EXTREMES: Final[dict[How, Any]] = {"max": np.max, "min": np.min}


def stored_fold(folding: Folding, type: Type) -> Callable[[Sequence[Any]], Any] | None:
    """What folds the texels of an image, given in a list, to a value of this type; None where
    values are made of texels, by another function, or on another device than that of images."""
    how = STORED.get(folding.function)
    if how is None or folding.reading.placed or not _is_of_texels(folding):
        return None
    is_sum = how == "sum"
    if not is_sum and type.kind == "bool":
        return None
    is_wide = is_sum and type.kind != "float"
    dtype = np.dtype(np.int64) if is_wide else natural_dtype(type)

    def fold(images: Sequence[Any]) -> Any:
        image: ImageLike = images[0]
        axes = tuple(range(image.dims))
        found = again(image, how) if type.is_scalar else None
        if found is not None:
            pass
        elif is_sum:
            found = total(image, axes, False)
        else:
            found = extreme(image, _EXTREMES[how], axes, False)
        if not type.is_scalar:
            return np.asarray(found).astype(dtype)
        return float(found) if type.kind == "float" else int(found)

    return fold


def stored_place(folding: Folding) -> Callable[[Sequence[Any]], list[Any]] | None:
    """What finds the first extreme among the texels of an image, given in a list: its stored value,
    column and row; None where values are made of texels, or on another device than that of images,
    and for a chunk, whose places are those in a whole."""
    function = folding.function
    if function not in _PLACES or folding.given or not _is_of_texels(folding):
        return None
    how, count = _PLACES[function], folding.images[0].count
    device = targets.choose(folding.target)
    image: ImageLike = folding.images[0].image
    if device.place(image.storage.host().reshape(-1)[:1], how) is None:
        return None

    def find(images: Sequence[Any]) -> list[Any]:
        storage = images[0].storage
        texels = storage.host().reshape(-1)[:count]
        index = device.place(texels, how)
        assert index is not None, "the device said that it finds those of this type"
        return [texels[index], index % storage.width, index // storage.width]

    return find


def first_greatest(a: Any, b: Any) -> Any:
    """Of two values with their positions the greater, a NaN before all, else the first."""
    return b if _comes_before(b[0] > a[0], a, b) else a


def first_least(a: Any, b: Any) -> Any:
    return b if _comes_before(b[0] < a[0], a, b) else a


def _comes_before(is_better: Any, a: Any, b: Any) -> Any:
    """Whether the second value is to be taken, which is better than the first or is not."""
    first_is_nan, second_is_nan = a[0] != a[0], b[0] != b[0]
    are_equal = (first_is_nan and second_is_nan) or a[0] == b[0]
    is_earlier = b[2] < a[2] or (b[2] == a[2] and b[1] < a[1])
    if are_equal:
        return is_earlier
    return second_is_nan or (is_better and not first_is_nan)


POSITIONS: Final[dict[Any, Callable[..., Any]]] = {
    np.argmax: first_greatest,
    np.argmin: first_least,
}
_PLACES: Final[dict[Any, How]] = {first_greatest: "max", first_least: "min"}


def _is_of_texels(folding: Folding) -> bool:
    """Whether texels as the host has them are folded, one image's, on the device of images."""
    device = targets.choose(folding.target)
    is_plain = folding.map is None and not is_checked_here()
    return is_plain and targets.limits(device) is None and device is targets.choose("auto")
