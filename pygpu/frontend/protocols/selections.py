"""What dynamic masks select of arrays, `a[a > 0.5]`, and what is at the places where a condition
holds: a `Masked` of elements, or of rows.

    of_selection(w, chosen, -1)             # the last: what was selected is put first, in slots
    at_places(w, array, (ys, xs))           # array[np.nonzero(condition)]
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.frontend.collections import bounded
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import lookups
from pygpu.frontend.protocols.arrays import array_of, as_element, is_array, of_dtype, to_objects
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.lazy import Masked, lifted
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.values import Abstract, Dynamic, Slice, Tuple, tuple_of


def mask_of(w: Evaluator, array: np.ndarray[Any, Any], index: Any) -> np.ndarray[Any, Any] | None:
    """A dynamic mask of an array, of its shape or its first axes' shape; None for other indices."""
    if not isinstance(index, (Array, List) if array.ndim else (Array, List, Dynamic)):
        return None
    mask = to_objects(w, index)
    if not mask.size or any(scalar_kind(test) != "bool" for test in mask.reshape(-1)):
        return None
    if mask.shape != array.shape[: mask.ndim]:
        raise IndexError(
            f"boolean index did not match indexed array: its shape is {mask.shape}, the array's "
            f"{array.shape}"
        )
    return mask


def selection(w: Evaluator, array: np.ndarray[Any, Any], mask: np.ndarray[Any, Any]) -> Masked:
    """The elements where a mask holds, or the parts of an array that has more axes."""
    if mask.shape == array.shape:
        return Masked(tuple(to_objects(w, array).reshape(-1)), tuple(mask.reshape(-1)))
    rows = [Array(array[place]) for place in np.ndindex(mask.shape)]
    return Masked(rows, tuple(mask.reshape(-1)))


def narrowed(w: Evaluator, a: Masked, where: Any, dtype: Any) -> Masked:
    """Those of the selected elements where a mask of them holds, of a dtype."""
    if dtype is not None:
        a = lifted(lambda item: of_dtype(w, item, dtype), (a,))
    if where is True:
        return a
    tests = lifted(lambda item, test: w.truth(test), (a, where))
    if not all(map(scalar_kind, tests.items)):
        raise w.error(f"{a.describe()}, which are rows, is folded by a mask of all of them alone")
    both = [arithmetic.both(w, *pair) for pair in zip(a.tests, tests.items, strict=True)]
    return Masked(a.items, both)


def slots(w: Evaluator, a: Any) -> tuple[Any, Any]:
    """The elements among which a mask selects, and the tests; all of any other array."""
    if not isinstance(a, Masked):
        items = to_objects(w, a).reshape(-1)
        return array_of(items, items.shape), np.ones(items.shape, bool)
    if not all(map(scalar_kind, a.items)):
        raise w.error(
            f"{a.describe()}, which are rows, can be folded, indexed and looped over alone"
        )
    return array_of(a.items, (len(a.items),)), array_of(a.tests, (len(a.items),))


def packed(w: Evaluator, a: Any) -> tuple[Any, Any]:
    """The elements that a mask selects before any others, and how many they are."""
    if isinstance(a, Masked):
        held = bounded.packed(w, a)
        return array_of(held.items, (len(held.items),)), held.length
    items = slots(w, a)[0]
    return items, w.length(items)


def first(w: Evaluator, items: Any, count: Any) -> Masked:
    """The first elements of an array."""
    places = range(w.length(items))
    return Masked(w.items(items), [w.compare(">", count, at) for at in places], count)


def of_selection(w: Evaluator, xs: Masked, index: Any) -> Any:
    """xs[index] of what a mask selects."""
    parts = index.items if isinstance(index, Tuple) else index
    if isinstance(parts, tuple):
        if parts and isinstance(parts[0], slice) and parts[0] == slice(None):
            rest = tuple_of(parts[1:])
            return Masked([w.item(item, rest) for item in xs.items], xs.tests, xs.length)
        one, rest = of_selection(w, xs, parts[0]), parts[1:]
        return w.item(one, tuple_of((slice(None), *rest) if isinstance(one, Masked) else rest))
    if isinstance(index, (Array, Masked)):
        return _by_selection(w, xs, index)
    return bounded.as_selection(w, w.item(bounded.listed(w, xs), index))


def _by_selection(w: Evaluator, xs: Masked, index: Array | Masked) -> Any:
    """What a mask selects of what was selected, or what stands at the places of a list."""
    if isinstance(index, Masked) and index.items and scalar_kind(index.items[0]) == "bool":
        if not xs.is_like(index):
            raise IndexError("boolean index did not match indexed array: its mask is another")
        pairs = zip(xs.tests, index.items, strict=True)
        return Masked(xs.items, [arithmetic.both(w, *pair) for pair in pairs])
    made = bounded.listed(w, xs)
    if isinstance(index, Masked):
        return at_places(w, made, index)
    places = w.read(index)
    found = [w.item(made, place) for place in places.reshape(-1)]
    return array_of(found, places.shape)


# ---------------------------------------------------------------- places


def without_masks(w: Evaluator, container: Any, index: Any) -> Any:
    """An index whose masks, beside other parts, are the places where they hold, as NumPy has it."""
    if not isinstance(index, Tuple) or not is_array(container):
        return index
    shape, parts = to_objects(w, container).shape, []
    for part in index.items:
        mask = np.empty(0)
        if isinstance(part, (Array, List, np.ndarray, list)):
            mask = to_objects(w, part)
        if not mask.size or any(scalar_kind(test) != "bool" for test in mask.reshape(-1)):
            parts.append(part)
            continue
        axis = len([part for part in parts if part is not None])
        after_all = any(part is Ellipsis for part in parts)
        if not after_all and mask.shape != shape[axis : axis + mask.ndim]:
            raise IndexError(f"boolean index did not match indexed array: {mask.shape}, {shape}")
        parts += w.items(w.call(np.nonzero, array_of(mask.reshape(-1), mask.shape)))
    return tuple_of(tuple(parts))


def has_places(index: Any) -> bool:
    """Whether an index takes what stands at places that a condition has selected."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    return any(isinstance(part, Masked) for part in parts)


def _each_place(w: Evaluator, container: Any, index: Any) -> tuple[Masked, list[Any]]:
    """The first selection of an index, and the index of each of its items; None if outside."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    chosen = [part for part in parts if isinstance(part, Masked)]
    if not all(chosen[0].is_like(other) for other in chosen[1:]):
        raise IndexError("shape mismatch: indexing arrays could not be broadcast together")
    some = bounded.bounded(w, container)
    shape = to_objects(w, container).shape if some is None else (some.most,)
    places: list[Any] = []
    for at, test in enumerate(chosen[0].tests):
        place = [part.items[at] if isinstance(part, Masked) else part for part in parts]
        outside = [
            not isinstance(one, (Abstract, slice)) and not -length <= one < length
            for one, length in zip(place, shape, strict=False)
        ]
        if any(outside):
            w.check(test, IndexError, "index is out of bounds")
            places.append(None)
            continue
        place = [
            arithmetic.select(w, test, one, 0) if isinstance(one, Dynamic) else one for one in place
        ]
        places.append(place[0] if len(place) == 1 else tuple_of(tuple(place)))
    return chosen[0], places


def at_places(w: Evaluator, container: Any, index: Any) -> Masked:
    """container[index] for an index with places in it."""
    parts = index.items if isinstance(index, Tuple) else (index,)
    passed = (slice, Slice, type(None), type(Ellipsis))
    chosen_by = [at for at, part in enumerate(parts) if not isinstance(part, passed)]
    if 0 < chosen_by[0] == chosen_by[-1] - len(chosen_by) + 1:
        raise w.error(
            "an axis behind others cannot be selected from by a dynamic mask: put it first, as in "
            "a.T[mask]"
        )
    chosen, places = _each_place(w, container, index)
    nowhere = next((place for place in places if place is not None), 0)
    found = [w.item(container, nowhere if place is None else place) for place in places]
    return Masked(found, chosen.tests, chosen.length)


def store_at_places(
    w: Evaluator, container: Any, index: Any, new: Any, set_item: Callable[..., None]
) -> None:
    """container[index] = new for an index with places in it, and a number or as many numbers."""
    chosen, places = _each_place(w, container, index)
    if isinstance(new, Masked) and not new.is_like(chosen):
        raise ValueError("what is stored at selected places is a number, or as many as the places")
    for at, (place, test) in enumerate(zip(places, chosen.tests, strict=True)):
        if place is not None:
            value = new.items[at] if isinstance(new, Masked) else new
            old = w.item(container, place)
            if scalar_kind(old):
                set_item(w, container, place, lookups.choose(w, test, value, old))
            else:
                set_item(w, container, place, w.call(np.where, test, value, old))


# ---------------------------------------------------------------- storing by a mask


def stored_by_mask(
    w: Evaluator, array: np.ndarray[Any, Any], mask: np.ndarray[Any, Any], new: Any
) -> np.ndarray[Any, Any]:
    """A copy of an array with something else where the mask holds: a number, a row for every one
    that is selected, or a selection by the same mask."""
    rest = array.shape[mask.ndim :]
    tests = np.repeat(mask.reshape(-1), math.prod(rest))
    if isinstance(new, Masked):
        if not new.is_like(Masked((), tuple(mask.reshape(-1)))):
            raise w.error(_STORED)
        items = [part for item in new.items for part in to_objects(w, item).reshape(-1)]
    else:
        row = to_objects(w, new)
        row = row[0] if row.ndim > len(rest) and len(row) == 1 else row
        try:
            items = list(np.broadcast_to(row, rest).reshape(-1)) * mask.size
        except ValueError:
            raise w.error(_STORED) from None
    made = np.empty(array.shape, object)
    made.reshape(-1)[:] = [
        arithmetic.select(w, test, as_element(w, array, item), old)
        for test, item, old in zip(tests, items, to_objects(w, array).reshape(-1), strict=True)
    ]
    return made


_STORED: Final = (
    "what is stored by a dynamic mask is a number, a row for all that are selected, or selected by "
    "that mask"
)
