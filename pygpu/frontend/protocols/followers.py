"""How the items that were taken in advance are taken again, when what they are from has changed.

Each function gives a `Row`, which makes the item at a place anew; the heap (values/heap.py) asks it
when one of the objects that were read is written to.

    w.heap.follow(made, {xs}, pair(w, item(w, xs), 0), count)      # the rows of enumerate(xs)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pygpu.frontend.protocols.sequences import items_of, seen_through
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.heap import Row
from pygpu.frontend.values.objects import Array, Dict, List, Set, Yielded
from pygpu.frontend.values.objects import Iterator as Taken
from pygpu.frontend.values.values import Tuple, tuple_of
from pygpu.frontend.values.views import View


def item(w: Evaluator, xs: List | Array, first: int = 0) -> Row:
    """The items of a list, from the first of them on. Rows of arrays are views: they stay."""
    if isinstance(xs, Array):
        return lambda old, place: old if type(old) is Array else w.item(xs, first + place)
    return lambda old, place: items_of(w, xs)[first + place]


def from_end(w: Evaluator, xs: List) -> tuple[Row, Callable[[], int]]:
    """The items of a list, from its end as it was."""
    length = len(items_of(w, xs))
    return lambda old, place: items_of(w, xs)[length - 1 - place], lambda: length


def pair(w: Evaluator, row: Row, start: int) -> Row:
    """What enumerate makes of rows."""
    return lambda old, place: Tuple((start + place, row(items_of(w, old)[1], place)))


def several(w: Evaluator, rows: list[Row | None], length: int) -> Row:
    """What zip makes of rows, of which there were so many; None for those that cannot change."""

    def made(old: Any, place: int) -> Any:
        if place >= length and None in rows:
            raise IndexError
        parts = zip(rows, items_of(w, old), strict=True)
        return tuple_of(tuple([row(o, place) if row else o for row, o in parts]))

    return made


def view(
    w: Evaluator, d: Dict, items: Callable[[dict[Any, Any]], list[Any]], kind: type[View]
) -> View:
    """A view of a dict: a list that keeps up with it."""

    def entries() -> dict[Any, Any]:
        held = w.read(d)
        if not isinstance(held, dict):  # only the device knows its keys now
            raise IndexError
        return held

    made = kind(tuple(items(w.read(d))))
    return w.heap.follow(  # type: ignore[no-any-return]
        made, {d}, lambda old, place: items(entries())[place], lambda: len(entries())
    )


def known_row(w: Evaluator, xs: Any) -> tuple[Row | None, Callable[[], int] | None]:
    """How the items of an argument are made anew, and how many there are."""
    held = seen_through(w, xs) if isinstance(xs, List) else xs
    if isinstance(held, (Dict, Set)):
        length = len(items_of(w, xs))

        def count() -> int:
            if len(items_of(w, held)) != length:
                raise IndexError
            return length

        return lambda old, place: items_of(w, xs)[place], count
    if isinstance(xs, (List, Array)):
        return item(w, xs), lambda: len(items_of(w, xs))
    if not isinstance(xs, Taken):
        return None, None
    source, index = w.read(xs)
    if isinstance(source, List) and not isinstance(source, Yielded) and isinstance(index, int):
        return item(w, source, index), lambda: len(items_of(w, source)) - index
    follower = w.heap.follower(xs)
    return (follower.row, follower.count) if follower and index == 0 else (None, None)
