"""The positions of extremes: folds of values with their columns and rows.

POSITIONS[np.argmax]((0.5, 3, 1), (0.5, 2, 1))     # (0.5, 2, 1): the first in raster order
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np


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
