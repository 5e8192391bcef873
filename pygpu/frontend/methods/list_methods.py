"""Methods of lists, and those that tuples share with them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.collections import bounded as lists
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import operators
from pygpu.frontend.protocols.sequences import items_of, items_or_maybe
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.lazy import Bounded
from pygpu.frontend.values.objects import List
from pygpu.frontend.values.values import Abstract, Maybe, describe

with later():
    from pygpu.frontend.collections import moving
    from pygpu.frontend.protocols import comparisons, indexing, lookups


def _append(w: Evaluator, xs: List, value: Any) -> None:
    lists.add(w, xs, (value,))


def _extend(w: Evaluator, xs: List, more: Any) -> None:
    some, own = lists.bounded(w, more), w.heap.as_it_stands(xs)
    if some is not None and isinstance(own, (tuple, Bounded)):
        lists.hold(w, xs, moving.put_together(w, lists.held(w, xs), some))
        return
    lists.add(w, xs, items_or_maybe(w, more))


def _insert(w: Evaluator, xs: List, index: Any, value: Any) -> None:
    if lists.is_moved(w, xs, index):
        lists.hold(w, xs, lists.inserted(w, lists.held(w, xs), index, value))
        return
    items = list(items_of(w, xs))
    items.insert(index, value)
    w.write(xs, tuple(items))


def _pop(w: Evaluator, xs: List, index: Any = -1) -> Any:
    if lists.is_moved(w, xs, index):
        value, left = lists.popped(w, lists.held(w, xs), index)
        lists.hold(w, xs, left)
        return value
    items = list(items_of(w, xs))
    value = items.pop(index)
    w.write(xs, tuple(items))
    return value


def _place(w: Evaluator, xs: Any, value: Any, *says: str) -> Any:
    """The first place of a value among the items; a dynamic one if a comparison is. Where there is
    none, Python's exception `says` something."""
    tests = []
    for place, item in enumerate(items_or_maybe(w, xs)):
        is_sure = not isinstance(item, Maybe)
        one = item if is_sure else item.value
        same = one is value or comparisons.compare(w, "==", one, value)
        same = same if is_sure else arithmetic.both(w, item.taken, w.truth(same))
        if isinstance(same, Abstract):
            tests.append((place, w.truth(same)))
        elif same:
            break
    else:
        if not tests:
            raise ValueError(f"{describe(value)} is not in list")
        if w.faults.checked or w.handled():
            found = functools.reduce(functools.partial(arithmetic.either, w), dict(tests).values())
            missing = arithmetic.negate(w, found)
            w.check(missing, ValueError, f"{describe(value)} is not in list", *says)
        place = tests.pop()[0]  # where it is not in the list, some place
    for before, test in reversed(tests):
        place = lookups.choose(w, test, before, place)
    return place


def _remove(w: Evaluator, xs: List, value: Any) -> None:
    _pop(w, xs, _place(w, xs, value, said_by([].remove, None)))


def _sort(w: Evaluator, xs: List, *, key: Any = None, reverse: Any = False) -> None:
    ordered = w.call(sorted, xs, key=key, reverse=reverse)
    w.write(xs, w.read(ordered) if isinstance(ordered, List) else items_of(w, ordered))


def _count(w: Evaluator, xs: Any, value: Any) -> Any:
    total: Any = 0
    for item in items_or_maybe(w, xs):
        is_sure = not isinstance(item, Maybe)
        same = comparisons.same_items(w, item if is_sure else item.value, value)
        same = same if is_sure else arithmetic.both(w, item.taken, same)
        total = operators.binary(w, "+", total, same)
    return total


LIST: Final[dict[str, Callable[..., Any]]] = {
    "append": _append,
    "extend": _extend,
    "insert": _insert,
    "pop": _pop,
    "remove": _remove,
    "index": _place,
    "count": _count,
    "sort": _sort,
    "reverse": lambda w, xs: w.write(xs, w.read(indexing.item(w, xs, slice(None, None, -1)))),
    "clear": lambda w, xs: w.write(xs, ()),
    "copy": lambda w, xs: List(w.read(xs)),
    "__len__": lambda w, xs: indexing.length(w, xs),
}


TUPLE: Final[dict[str, Callable[..., Any]]] = {"index": _place, "count": _count}
