"""Folds by group: what `reduce` makes of images where `by` says which group each texel is of.

A first pass makes the values and the groups' numbers, in one line of elements; what folds them is
in arrays/grouping.py.

    by_group(folding, By(f, reading, 256), Fold(np.add, False, (FLOAT,), (0.0,)))   # [array (256,)]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import shown, whole
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike, Storage
from pygpu.execution.arguments.results import natural_dtype
from pygpu.execution.arrays.grouping import Grouping
from pygpu.execution.arrays.lines import Spread, Taken, rows_of, source, spread
from pygpu.execution.arrays.mapping import Reading, first_of, value_at
from pygpu.execution.arrays.passes import IMAGES, NUMBERS, Ran, made
from pygpu.execution.arrays.whole import Fold, Grouped, grouped, parts_of, shown_as
from pygpu.language.scalars import Int, UInt, number
from pygpu.ssa import Constant
from pygpu.types import INTEGERS, Type


@record
class Folding:
    """What is folded: values that a map makes of images of one size and arguments."""

    function: Callable[..., Any]
    map: Callable[..., Any] | None
    reading: Reading
    images: tuple[Taken, ...]
    given: Mapping[str, Any]
    target: str

    @property
    def first(self) -> Any:
        return first_of(self.map, self.reading)


@record
class By:
    """Which group a texel is of."""

    function: Callable[..., Any]
    reading: Reading
    groups: int


def checked_groups(groups: Any) -> int:
    """How many groups there are. TypeError where that is not said."""
    if groups is None:
        raise TypeError("reduce: by= needs groups=, how many groups there are")
    count = whole(groups)
    if count is None:
        raise TypeError(f"reduce: groups takes a whole number, got {shown(groups)}")
    if not 1 <= count < 2**31:
        raise ValueError(f"reduce: groups takes 1 to 2**31 - 1, got {count}")
    return count


def by_group(folding: Folding, by: By, fold: Fold) -> list[NDArray[Any]]:
    """The fold of each group: an array (groups,) or (groups, C) for each part of a value."""
    types = fold.types
    if folding.images[0].count == 0:
        rows = [np.full((by.groups, type.size), 0, natural_dtype(type)) for type in types]
        for row, value in zip(rows, fold.neutral, strict=True):
            row[:] = value if number(value) is not None else list(value)
        return [row[:, 0] if type.is_scalar else row for row, type in zip(rows, types, strict=True)]
    whole = at_once(folding, by, fold)
    if whole is not None:
        found = whole.run([each.image.storage for each in folding.images])
        return parts_of(found, types, by.groups)
    elements = Elements.of(folding, by, types)
    grouping = Grouping(fold, by.groups, folding.target)
    return grouping.of(elements.values, elements.index, elements.wide.lines)


_ASKED: Final = "reduce: by or map"


def at_once(folding: Folding, by: By, fold: Fold) -> Grouped | None:
    """What folds by programs of the device that find values and groups as they fold."""
    first, target = folding.images[0], folding.target
    storage = first.image.storage
    count = storage.height * storage.width if first.count is None else first.count
    images = tuple([each.image for each in folding.images])
    roles: dict[str, Any] = {"function": "function", "first": "known", "second": "known"}
    run = made(
        _numbered, roles | {"images": IMAGES, "given": "object"}, target, by.function, _ASKED
    )
    values = {"first": folding.first, "second": by.reading.known, "images": images}
    return grouped(
        fold,
        lambda: run.made(**values, given=dict(folding.given)),
        images,
        count,
        rows_of(by.groups, target),
        by.groups,
        target,
    )


def _numbered(function: Any, first: Any, second: Any, images: Any, given: Any, p: Any) -> Any:
    """The value and the number of the group of a texel."""
    value = value_at(first, images, False, p, (0, 0), given)
    group = _signed(value_at((function, second), images, False, p, (0, 0), given))
    return (*value, group) if isinstance(value, tuple) else (value, group)


def _signed(group: Any) -> Any:
    """The number of a group, of which there are fewer than 2**31, as an Int."""
    return Int(group) if isinstance(group, UInt) else group


@record(eq=False)
class Elements:
    """The values and the groups' numbers of all texels, as one line of elements; what pads the line
    is of no group. `ran` is the pass that made them."""

    values: tuple[ImageLike, ...]
    index: ImageLike
    wide: Spread
    ran: Ran

    @classmethod
    def of(cls, folding: Folding, by: By, types: Sequence[Type]) -> Elements:
        target = folding.target
        wide = spread(folding.images[0], target)
        roles = {"function": "function", "how": "known", "images": IMAGES, "sizes": NUMBERS}
        roles["given"] = "object"
        run = made(_element, roles, target, by.function, _ASKED)
        known = {"how": (folding.first, by.reading.known, wide.is_whole)}
        images = tuple([each.image for each in folding.images])
        values = known | {"images": images, "given": dict(folding.given), "sizes": wide.sizes}
        found, _ = run.types(**values)
        if found[-1].kind not in (*INTEGERS, "bool") or not found[-1].is_scalar:
            raise TypeError(f"reduce: by gives the number of a group, an Int, got {found[-1]}")
        dtypes = [*[natural_dtype(type) for type in types], np.dtype("int32")]
        results, ran = run.run(wide.shape, dtypes, wide.elements, **values)
        *parts, index = [wide.line(each) for each in results]
        return cls(tuple(parts), index, wide, ran)

    def again(self, images: Sequence[Storage], numbers: Sequence[Constant]) -> Elements:
        """The elements of other images of the same kinds, and of other numbers."""
        found = [shown_as(each) for each in self.ran.run(images, numbers)]
        *parts, index = [self.wide.line(each) for each in found]
        return Elements(tuple(parts), index, self.wide, self.ran)


def _element(function: Any, how: Any, images: Any, sizes: Any, given: Any, p: Any) -> Any:
    """The value and the number of the group of an element; behind the last one, of no group."""
    first, second, is_whole = how
    i, at = source(is_whole, sizes, p)
    value = value_at(first, images, False, at, (0, 0), given)
    group = _signed(value_at((function, second), images, False, at, (0, 0), given))
    if i >= sizes[2]:
        group = -1
    return (*value, group) if isinstance(value, tuple) else (value, group)
