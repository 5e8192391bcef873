"""Folds by group: values whose indices are equal become one.

The elements are put in the order of their indices, which keeps those of a group in their own
order, and scanned by a function that begins anew where the index changes; the last element of a
group then has its fold. So sums of floats are equal in every run on one target. What NumPy's own
functions fold a device may do by itself (Device.fold_groups).

    grouping = Grouping(Fold(np.add, False, (FLOAT,), (0.0,)), groups=256, target="auto")
    grouping.of((weights,), indices, lines)       # arrays (256,), one for each part
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike
from pygpu.devices import targets
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.arrays.lines import Lines, element, place, rows_of
from pygpu.execution.arrays.passes import COUNT, IMAGES, made
from pygpu.execution.arrays.scanning import Scan, inclusive
from pygpu.execution.arrays.sorting import ordered
from pygpu.execution.arrays.values import HOWS, folded
from pygpu.execution.arrays.whole import Fold, joining, shown_as, sorting
from pygpu.types import INT, Type


@record
class Grouping:
    """By what values are folded, into how many groups, and where."""

    fold: Fold
    groups: int
    target: str

    def of(
        self, values: tuple[ImageLike, ...], index: ImageLike, lines: Lines
    ) -> list[NDArray[Any]]:
        """Of each part of the values an array (groups,) or (groups, C). `index` says, for each
        element of one line, its group; those outside are left out."""
        found = self._by_device(values, index)
        if found is None:
            found = self._by_join(values, index)
        return self._by_order(values, index, lines) if found is None else found

    def _by_device(
        self, values: tuple[ImageLike, ...], index: ImageLike
    ) -> list[NDArray[Any]] | None:
        device, fold = targets.choose(self.target), self.fold
        how = HOWS.get(fold.function)
        if how is None or not fold.has_identity or device.limits() is not None:
            return None
        (type,), (neutral,) = fold.types, fold.neutral
        start = np.empty((self.groups, type.size), natural_dtype(type))
        start[:] = neutral if type.is_scalar else list(neutral)
        texels = values[0].storage.host().reshape(-1, type.size)
        found = device.fold_groups(texels, index.storage.host().reshape(-1), how, start)
        return None if found is None else [_shaped(found, type)]

    def _by_join(
        self, values: tuple[ImageLike, ...], index: ImageLike
    ) -> list[NDArray[Any]] | None:
        """By the device's own code around the function of two values, where it has such."""
        device, fold = targets.choose(self.target), self.fold
        if device.limits() is not None:
            return None
        join = joining(fold.function, fold.is_tuple, fold.types, self.target)
        if join is None:
            return None
        parts = [v.storage.host().reshape(-1, v.format.channels) for v in values]
        numbers = index.storage.host().reshape(-1)
        found = device.join_groups(join.function, fold.types, parts, numbers, self.groups)
        if found is None:
            return None
        results, there = found
        for result, value, type in zip(results, fold.neutral, fold.types, strict=True):
            result[~there] = value if type.is_scalar else list(value)
        return [_shaped(*each) for each in zip(results, fold.types, strict=True)]

    def _by_order(
        self, values: tuple[ImageLike, ...], index: ImageLike, lines: Lines
    ) -> list[NDArray[Any]]:
        types = self.fold.types
        whole = sorting(index, lines, False, self.target, True, self.groups)
        keys, places = (
            ordered(index, lines, False, self.target)
            if whole is None
            else [None if each is None else shown_as(each) for each in whole.run(index.storage)]
        )
        assert keys is not None, "of four bytes"
        assert places is not None, "asked for"
        dtypes = [natural_dtype(type) for type in types]
        move = made(_moved, {"layout": "known", "places": IMAGES, "images": IMAGES}, self.target)
        moved = move(lines.shape, dtypes, layout=lines.layout, places=(places,), images=values)
        scan = Scan(_by_index(self.fold.function, self.fold.is_tuple), self.target, is_tuple=True)
        scanned = inclusive(scan, (keys, *moved), lines, (INT, *types))
        shape = rows_of(self.groups, self.target)
        roles: dict[str, Any] = {"layout": "known", "images": IMAGES, "neutral": IMAGES}
        roles |= {"count": COUNT, "row": COUNT}
        last = made(_last, roles, self.target)
        found = last(
            shape,
            dtypes,
            layout=lines.layout,
            images=(keys, *scanned[1:]),
            neutral=self.fold.neutral,
            count=lines.count,
            row=shape[1],
        )
        parts = [part.storage.host().reshape(-1, part.format.channels) for part in found]
        return [_shaped(part[: self.groups], type) for part, type in zip(parts, types, strict=True)]


def _shaped(values: NDArray[Any], type: Type) -> NDArray[Any]:
    """Values (n, C) as users have them."""
    return values[:, 0] if type.is_scalar else values


def _by_index(function: Any, is_tuple: bool) -> Callable[[Any, Any], Any]:
    """The function of two values, each behind its index, that begins anew at another index."""

    def folded_by_index(a: Any, b: Any) -> Any:
        if a[0] == b[0]:
            return (b[0], *folded(function, is_tuple, a[1:], b[1:]))
        return b

    return folded_by_index


def _moved(layout: Any, places: Any, images: Any, p: Any) -> Any:
    """The values of elements in another order."""
    line, _ = element(layout, p)
    at = place(layout, line, places[0](p))
    return tuple([image(at) for image in images])


def _last(layout: Any, images: Any, neutral: Any, count: Any, row: Any, p: Any) -> Any:
    """The value at the last element of a group, found by bisection."""
    keys, *values = images
    group = p.y * row + p.x
    least, most = 0, count
    while least < most:  # how many indices are not greater
        half = (least + most) // 2
        if keys(place(layout, 0, half)) > group:
            most = half
        else:
            least = half + 1
    at = place(layout, 0, max(least - 1, 0))
    if least > 0 and keys(at) == group:
        return tuple([value(at) for value in values])
    return neutral
