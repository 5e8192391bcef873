"""Indexing of every kind of value: Python's protocols, walked."""

from __future__ import annotations

import functools
import operator
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.collections.adoption import own
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.numbers import hint_of_number
from pygpu.frontend.numbers.operands import assign_components, components, vector_of
from pygpu.frontend.protocols import arrays, pictures
from pygpu.frontend.protocols.arrays import opened, stored, stored_by_dynamic
from pygpu.frontend.protocols.datamodel import find_method, own_method, user_method
from pygpu.frontend.protocols.sequences import items_of, told_apart
from pygpu.frontend.values.callables import Bound, Builtin, Function
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import key_of
from pygpu.frontend.values.lazy import Bounded, Cut, Growing, Indexed, Masked, Row, Span
from pygpu.frontend.values.objects import Array, Dict, Instance, List, Matrix, Set, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Conflict,
    Dynamic,
    Flagged,
    NotKnown,
    Picture,
    Range,
    Slice,
    Tuple,
    describe,
    kept,
)
from pygpu.frontend.values.views import viewed
from pygpu.language import vectors

with later():
    from pygpu.frontend.collections import members, moving
    from pygpu.frontend.numbers import integers
    from pygpu.frontend.protocols import lookups, parts, selections, tables
    from pygpu.frontend.walked import fitting, iterators, library


def item(w: Evaluator, container: Any, index: Any) -> Any:
    """container[index]"""
    usable(w, container)
    if isinstance(index, (Instance, Array)) and isinstance(container, _INDEXED):
        index = lookups.place_of(w, index)
    if isinstance(container, Cut):
        container = w.call(list, container)
    if isinstance(container, Masked):
        return selections.of_selection(w, container, index)
    if selections.has_places(index):
        return selections.at_places(w, container, index)
    try:
        index = key_of(w, index)
    except NotKnown:
        return _item_by_dynamic_index(w, container, index)
    try:
        return _item_by_known_index(w, container, index)
    except IndexError:
        if not w.lenient() or not isinstance(container, _INDEXED):
            raise
        return lookups.by_dynamic_index(w, container, _unknown(w, index))


_OF_ARRAYS: Final = (tuple, list, np.ndarray, type(Ellipsis))  # indices of arrays alone

# What gives some element by an index out of range, where that is on a path that may not be taken.
_INDEXED: Final = (
    *(Tuple, List, Array, Vector),
    *(str, bytes, tuple, list, np.ndarray, vectors.Vector),
)


def _unknown(w: Evaluator, index: Any) -> Any:
    """A known index, or a tuple of them, as a dynamic one."""
    if isinstance(index, tuple):
        return Tuple(tuple([operands.unknown(w, part) for part in index]))
    return operands.unknown(w, index)


def _item_by_known_index(w: Evaluator, container: Any, index: Any) -> Any:
    w.environment.dependencies.add_item(container, index)
    if not isinstance(container, Abstract):
        return own(w, operator.getitem, container, index)
    match container:
        case Tuple() if own_method(w, container, "__getitem__") is None:
            if isinstance(container, Range) and isinstance(index, slice):
                return container.taken(index)
            chosen = container.items[index]
            return Tuple(chosen) if isinstance(index, slice) else chosen
        case List():
            return _list_item(w, container, index)
        case Dict():
            contents = w.read(container)
            if isinstance(contents, Bounded):
                return lookups.by_key(w, container, index)
            if index not in contents:
                raise KeyError(index)
            return usable(w, contents[index])
        case Vector() if isinstance(index, _OF_ARRAYS):  # a row of a table
            return item(w, Array(arrays.to_objects(w, container)), index)
        case Vector():
            chosen = components(w, container)[index]
            if isinstance(index, slice):
                return vector_of(w, container, chosen)
            return chosen
        case Matrix() if isinstance(index, (tuple, slice)):
            return arrays.as_vectors(w, item(w, Array(arrays.to_objects(w, container)), index))
        case Matrix():
            return w.read(container)[index]
        case Array():
            return viewed(w, container, lambda array: array[index])
        case Row() if not isinstance(index, int):
            return item(w, opened(w, container), index)
        case Span() if isinstance(index, slice):
            return _part_of_range(w, container, index.start, index.stop, index.step)
        case Indexed() if isinstance(index, slice):
            raise w.error(f"{container.what} has no slices: write the range of the slice itself")
        case Indexed():
            return lookups.of_indexed(w, container, operator.index(index))
        case Picture():
            raise w.error(pictures.called(container))
        case Dynamic() if index is Ellipsis or (isinstance(index, tuple) and not index):
            return container  # a NumPy scalar is its own only element
        case Dynamic() if _adds_axes(index):
            return Array(np.array([container], object).reshape(())[index])
    method = user_method(w, container, "__getitem__")
    if method is not None:
        return w.call(method, container, index)
    raise _not_subscriptable(container)


def _part_of_range(w: Evaluator, span: Span, start: Any, stop: Any, step: Any) -> Any:
    return w.call(iterators.part_of_range, *span.of, start, stop, 1 if step is None else step)


def _list_item(w: Evaluator, container: List, index: Any) -> Any:
    contents = w.read(container)
    if isinstance(contents, Bounded):
        if not isinstance(index, slice):
            return lists.item(w, contents, operator.index(index))
        made = List(())
        lists.hold(w, made, lists.part(w, contents, index))
        return made
    if isinstance(contents, Indexed):
        if isinstance(contents.length, Abstract):
            if contents.ungrouped() is contents and not isinstance(index, slice):
                return lookups.of_indexed(w, contents, operator.index(index))
            lists.fill(w, container)
            return _list_item(w, container, index)
        return told_apart(w, contents).element(range(contents.length)[index])
    try:
        chosen = contents[index]
    except (IndexError, TypeError):
        chosen = list(contents)[index]  # which says what is wrong of a list
    return List(chosen) if isinstance(index, slice) else chosen


def _adds_axes(index: Any) -> bool:
    """Whether an index only adds axes, as NumPy's scalars let it: x[..., None]."""
    entries = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis for part in entries)


def _not_subscriptable(container: Any) -> TypeError:
    return TypeError(f"{describe(container)} is not subscriptable{hint_of_number(container)}")


def _is_subscriptable(container: Any) -> bool:
    if isinstance(container, Abstract):
        return not isinstance(container, (Dynamic, Set, Function, Bound, Builtin))
    return hasattr(type(container), "__getitem__")


def _item_by_dynamic_index(w: Evaluator, container: Any, index: Any) -> Any:
    usable(w, index)
    if isinstance(container, Span) and isinstance(index, Slice):
        return _part_of_range(w, container, *index.bounds)
    if container is np.r_ or container is np.c_:
        entries = index.items if isinstance(index, Tuple) else (index,)
        arranged = fitting.in_rows if container is np.r_ else fitting.in_columns
        return w.call(arranged, *[np.r_[p] if isinstance(p, slice) else p for p in entries])
    if type(container).__module__.partition(".")[0] == "numpy" and isinstance(
        container, (type(np.mgrid), type(np.ogrid))
    ):
        raise w.error(f"{describe(container)} cannot be indexed by {describe(index)}")
    method = user_method(w, container, "__getitem__")
    if method is not None:
        return w.call(method, container, index)
    if isinstance(container, Picture):
        raise w.error(pictures.called(container))
    if isinstance(container, (dict, Dict)):
        return lookups.by_key(w, container, index)
    if isinstance(container, (Array, np.ndarray)):
        array = w.read(container) if isinstance(container, Array) else container
        mask = selections.mask_of(w, array, index)
        if mask is not None:
            return selections.selection(w, array, mask)
    view = _viewed_beside_mask(w, container, index)
    if view is not None:
        return item(w, *view)
    index = selections.without_masks(w, container, index)
    if selections.has_places(index):
        return selections.at_places(w, container, index)
    if isinstance(container, Matrix) and isinstance(index, (Tuple, Slice)):
        return arrays.as_vectors(w, item(w, Array(arrays.to_objects(w, container)), index))
    if not _is_subscriptable(container):
        raise _not_subscriptable(container)
    some = lists.bounded(w, container)
    if some is not None and isinstance(index, Slice):
        held = moving.cut(w, some, *index.bounds)
        return w.call(iterators.between, container, *index.bounds) if held is None else List(held)
    if some is not None:
        chosen = lists.item(w, some, integers.as_index(w, index))
        return lookups.one_of(w, chosen, some.items)
    if parts.is_part(index):
        return parts.part_of(w, container, index)
    return lookups.by_dynamic_index(w, container, index)


def _set_in_matrix(w: Evaluator, container: Matrix, index: Any, new: Any) -> None:
    """Set a row's numbers, or with two indices one of them: in the row itself, as others see it."""
    entries = index.items if isinstance(index, Tuple) else index
    row, column = entries if isinstance(entries, tuple) else (entries, slice(None))
    if isinstance(row, (slice, Slice)):
        raise TypeError("rows are assigned one by one")
    if isinstance(row, Abstract):
        w.call(library.stored_in_row, container, row, column, new)
    else:
        set_item(w, w.read(container)[row], column, new)


def _viewed_beside_mask(w: Evaluator, container: Any, index: Any) -> tuple[Any, Any] | None:
    """Of `a[mask, 0]` the view that known indices show, and the mask; None of other indices."""
    if not isinstance(container, (Array, np.ndarray)) or not isinstance(index, Tuple):
        return None
    mask, *others = index.items
    if not isinstance(mask, Array) or any(isinstance(part, Abstract) for part in others):
        return None
    tests = w.read(mask)
    if any(scalar_kind(test) != "bool" for test in tests.reshape(-1)):
        return None
    return item(w, container, (*[slice(None)] * tests.ndim, *others)), mask


def set_item(w: Evaluator, container: Any, index: Any, new: Any) -> None:
    """container[index] = new"""
    usable(w, container)
    if not isinstance(container, Abstract):
        kind = type(container)
        if not hasattr(kind, "__setitem__"):
            raise TypeError(f"'{kind.__name__}' object does not support item assignment")
        raise w.error(kept(container))
    if isinstance(index, (Instance, Array)) and isinstance(container, _INDEXED):
        index = lookups.place_of(w, index)
    try:
        index = key_of(w, index)
    except NotKnown:
        _set_by_dynamic_index(w, container, index, new)
        return
    try:
        _set_by_known_index(w, container, index, new)
    except IndexError:
        if not w.lenient() or not isinstance(container, _INDEXED) or isinstance(index, slice):
            raise
        _set_by_dynamic_index(w, container, _unknown(w, index), new)


_BY_MASK: Final = "store into the array itself, as in a[mask] = new, or use np.where(mask, new, a)"


def _in_slots(w: Evaluator, *lists_of: Any) -> bool:
    """Whether only the device knows the length of one of some lists."""
    return any(isinstance(xs, Cut) or lists.in_slots(w, xs) is not None for xs in lists_of)


def _set_by_known_index(w: Evaluator, container: Any, index: Any, new: Any) -> None:
    match container:
        case List() if lists.in_slots(w, container) is not None and not isinstance(index, slice):
            held = lists.held(w, container)
            w.write(container, lists.stored(w, held, operator.index(index), new))
        case List() if isinstance(index, slice) and _in_slots(w, container, new):
            parts.store_in_slice(w, container, Slice((index.start, index.stop, index.step)), new)
        case List():
            contents = list(items_of(w, container))
            contents[index] = items_of(w, new) if isinstance(index, slice) else new
            w.write(container, tuple(contents))
        case Dict() if isinstance(w.peek(container), Bounded):
            members.put(w, container, index, new)
        case Dict():
            w.write(container, {**w.read(container), index: new})
        case Vector():
            places = range(container.type.size)[index]
            assign_components(
                w, container, tuple(places) if isinstance(places, range) else (places,), new
            )
        case Matrix():
            _set_in_matrix(w, container, index, new)
        case Array():
            w.write(container, stored(w, w.read(container), index, new))
        case _:
            method = user_method(w, container, "__setitem__")
            if isinstance(container, Masked):
                raise w.error(f"{describe(container)} is a copy that can only be read: {_BY_MASK}")
            if method is None:
                hint = hint_of_number(container)
                raise TypeError(f"{describe(container)} does not support item assignment{hint}")
            w.call(method, container, index, new)


def _set_by_dynamic_index(w: Evaluator, container: Any, index: Any, new: Any) -> None:
    """Store where the index points: each element becomes a selection."""
    method = user_method(w, container, "__setitem__")
    if method is not None:
        w.call(method, container, index, new)
        return
    if isinstance(container, Matrix):
        _set_in_matrix(w, container, index, new)
        return
    if isinstance(container, List) and isinstance(index, Slice):
        parts.store_in_slice(w, container, index, new)
        return
    index = integers.as_index(w, index)
    some = lists.in_slots(w, container) if not isinstance(index, Slice) else None
    if some is not None:
        w.write(container, lists.stored(w, some, index, new))
        return
    if isinstance(container, (List, Vector)) and scalar_kind(index) == "int":
        items = lookups.stored_by_index(w, container, index, new)
        if items is None:
            lookups.store_at(w, container, index, new)
        elif isinstance(container, Vector):
            assign_components(w, container, tuple(range(len(items))), Tuple(items))
        else:
            w.write(container, items)
        return
    if isinstance(container, Array):
        mask = selections.mask_of(w, w.read(container), index)
        if mask is not None:
            w.write(container, selections.stored_by_mask(w, w.read(container), mask, new))
            return
    view = _viewed_beside_mask(w, container, index)
    if view is not None:
        set_item(w, *view, new)
        return
    index = selections.without_masks(w, container, index)
    if isinstance(container, Array) and selections.has_places(index):
        selections.store_at_places(w, container, index, new, set_item)
        return
    if isinstance(container, Array):
        indices = index.items if isinstance(index, Tuple) else (index,)
        indices = tuple([integers.as_index(w, part) for part in indices])
        if all(scalar_kind(part) == "int" for part in indices):
            for part, side in zip(indices, w.read(container).shape, strict=False):
                tables.check_index(w, part, side)
            w.write(container, stored_by_dynamic(w, w.read(container), indices, new))
            return
        if parts.is_part(index):
            w.write(container, parts.stored_in_part(w, w.read(container), index, new))
            return
    if isinstance(container, Dict):
        lookups.stored_by_key(w, container, index, new)
        return
    raise w.error(f"{describe(container)} cannot be stored into by {describe(index)}")


def delete_item(w: Evaluator, container: Any, index: Any) -> None:
    method = user_method(w, container, "__delitem__")
    if method is not None:
        w.call(method, container, index)
        return
    if not isinstance(container, (List, Dict)):
        refused = f"items of {describe(container)} cannot be deleted"
        raise w.error(refused if isinstance(container, Abstract) else kept(container))
    try:
        index = key_of(w, index)
    except NotKnown:
        if not isinstance(container, Dict) and not scalar_kind(index):
            if isinstance(index, Slice):
                return parts.store_in_slice(w, container, index, ())
            raise w.error("an item can only be deleted by a known index") from None
    is_known = isinstance(container, List) or not isinstance(index, Abstract)
    if isinstance(container, Dict) and not (is_known and members.members(w, container) is None):
        item(w, container, index)  # a KeyError where it is not there
        members.take(w, container, index)
    elif isinstance(container, Dict):
        contents = dict(w.read(container))
        del contents[index]
        w.write(container, contents)
    elif isinstance(index, slice) and _in_slots(w, container):
        parts.store_in_slice(w, container, Slice((index.start, index.stop, index.step)), ())
    elif not isinstance(index, slice) and (lists.is_moved(w, container, index)):
        left = lists.popped(w, lists.held(w, container), index)[1]
        lists.hold(w, container, left)
    else:
        items = list(items_of(w, container))
        del items[index]
        w.write(container, tuple(items))


def length(w: Evaluator, value: Any) -> Any:
    """len(value): known, but for sequences of dynamic length."""
    match value:
        case Tuple() if own_method(w, value, "__len__") is None:
            return len(value.items)
        case List():
            lists.fill(w, value, unplaced=True)
            contents = w.heap.as_it_stands(value)
            if isinstance(contents, Growing):
                return length(w, lists.as_selection(w, value))
            if isinstance(contents, Indexed):
                return length(w, contents)
            return contents.length if isinstance(contents, Bounded) else len(contents)
        case Dict() | Set() | Matrix():
            contents = w.read(value)
            return contents.length if isinstance(contents, Bounded) else len(contents)
        case Vector():
            return value.type.size
        case Flagged():
            return w.call(int.bit_count, Dynamic(value.value))
        case Picture():
            return item(w, w.attribute(value, "shape"), 0)
        case Array():
            return len(w.read(value))
        case Indexed() if not isinstance(told_apart(w, value).length, Abstract):
            return value.length
        case Indexed():  # of a range whose end lies before its start it is negative
            return arithmetic.elementwise(w, "max", (value.length, 0))
        case Masked():
            return functools.reduce(lambda a, b: arithmetic.binary(w, "+", a, b), value.tests, 0)
        case Instance() | Tuple() | Raised():
            method = find_method(w, value, "__len__")
            if method is not None:
                return w.call(method)
        case Conflict():
            raise w.error(value.message)
    if isinstance(value, Abstract):
        raise TypeError(f"{describe(value)} has no len()")
    w.environment.dependencies.add(value)
    return len(value)
