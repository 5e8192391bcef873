"""Folds by NumPy's functions of texels as they are stored, where these lie on the host.

stored_fold(folding, type)             # a function of the image, or None
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.folds.by_group import Folding
from pygpu.execution.folds.totals import extreme, total
from pygpu.execution.programs.checked import is_asked_for
from pygpu.types import Type

_EXTREMES: Final[dict[Any, Any]] = {np.maximum: np.max, np.minimum: np.min}
_SUMS: Final = (np.add, operator.add)


def stored_fold(folding: Folding, type: Type) -> Callable[[Sequence[Any]], Any] | None:
    """What folds the texels of an image, given in a list, to a value of this type; None where
    values are made of texels, by another function, or on another device than that of images."""
    function, device = folding.function, targets.choose(folding.target)
    is_sum = function in _SUMS
    if folding.map is not None or folding.reading.placed or is_asked_for():
        return None
    if not is_sum and (function not in _EXTREMES or type.kind == "bool"):
        return None
    if targets.limits(device) is not None or device is not targets.choose("auto"):
        return None
    is_wide = is_sum and type.kind != "float"
    dtype = np.dtype(np.int64) if is_wide else natural_dtype(type)

    def fold(images: Sequence[Any]) -> Any:
        image: ImageLike = images[0]
        axes = tuple(range(image.dims))
        if is_sum:
            found = total(image, axes, False)
        else:
            found = extreme(image, _EXTREMES[function], axes, False)
        if not type.is_scalar:
            return np.asarray(found).astype(dtype)
        return float(found) if type.kind == "float" else int(found)

    return fold


__all__ = ["stored_fold"]
