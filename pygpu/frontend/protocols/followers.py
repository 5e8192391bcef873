"""Items that were taken in advance, and changes to what they were taken from.

Python's iterators and views take an item when it is asked for; ours list all items at once where
they can. So what was read to list them is noted. When that changes while items are left, the
items of zip, enumerate, reversed and of a dict's views are taken again, by position; of others (a
generator expression, map) it can only be said that they have been changed.

    follow(w, rows, reads, pair(item(xs), 0))      # the iterator `rows` of enumerate(xs)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakSet

from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.values import (
    ABSENT,
    Array,
    Cell,
    Conflict,
    Dict,
    List,
    Object,
    Tuple,
    Yielded,
    describe,
    tuple_of,
)
from pygpu.frontend.values.values import Iterator as Taken

# What makes the row at a place anew, from the row that stands there. It holds nothing dynamic.
Row = Callable[[Any, int], Any]


@dataclass(frozen=True, slots=True)
class Follower:
    """What was read to list the items; `row` makes one anew, `count` says how many there are."""

    reads: set[Object]
    row: Row | None = None
    count: Callable[[], int] | None = None


@contextmanager
def noted(w: Evaluator) -> Iterator[set[Object]]:
    """The objects that are read meanwhile."""
    reads: set[Object] = set()
    w.reads.append(reads)
    try:
        yield reads
    finally:
        w.reads.remove(reads)


def follow(
    w: Evaluator,
    made: Any,
    reads: set[Object],
    row: Row | None = None,
    count: Callable[[], int] | None = None,
) -> Any:
    """`made` itself, an iterator or list of items that were taken now."""
    if isinstance(made, (Taken, List)) and made not in w.followers and reads:
        source = w.state.get(made)[0] if isinstance(made, Taken) else ()
        if isinstance(source, (tuple, Yielded)):
            below = [w.followers[read].reads for read in reads if read in w.followers]
            below.append({r.base for r in reads if isinstance(r, Array) and r.base is not None})
            w.followers[made] = Follower(reads.union(*below), row, count)
            for read in w.followers[made].reads:
                w.followed.setdefault(read, WeakSet()).add(made)
    return made


def changed(w: Evaluator, handle: Object) -> None:
    """Bring up to date what was taken from an object that has just been written to."""
    for made in tuple(w.followed.get(handle, ())):
        follower = w.followers[made]
        contents = w.state.get(made)
        if contents is ABSENT or isinstance(contents, Conflict):
            continue
        if any(first <= made.serial < end for first, end in w.dead):
            continue  # made on a path that is not this one
        source, index = contents if isinstance(made, Taken) else (contents, 0)
        rows = w.state.get(source) if isinstance(source, Yielded) else source
        if not isinstance(rows, tuple) or not isinstance(index, int) or index >= len(rows):
            continue
        renewed = _renewed(w, follower, rows, index)
        if renewed is None:
            what = "a variable" if isinstance(handle, Cell) else describe(handle)
            w.state.heap[made] = Conflict(
                f"the items of this iterator were taken before {what} that they depend on was "
                "changed: make a list of them first"
            )
        else:
            w.state.heap[made] = (renewed, index) if isinstance(made, Taken) else renewed
        changed(w, made)


def _renewed(
    w: Evaluator, follower: Follower, rows: tuple[Any, ...], index: int
) -> tuple[Any, ...] | None:
    """The items as they are now; None if that cannot be said."""
    if follower.row is None or follower.count is None:
        return None
    count = follower.count()
    if count > len(rows) and not rows:
        return None
    try:
        new = [follower.row(rows[min(k, len(rows) - 1)], k) for k in range(index, count)]
    except IndexError:
        return None
    return (*rows[:index], *new)


# ---------------------------------------------------------------- rows


def item(w: Evaluator, xs: List | Array, first: int = 0) -> Row:
    """The items of a list, from the first of them on."""
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


def view(w: Evaluator, d: Dict, items: Callable[[dict[Any, Any]], list[Any]]) -> List:
    """A view of a dict: a list that keeps up with it."""
    made = List(tuple(items(w.read(d))))
    return follow(  # type: ignore[no-any-return]
        w, made, {d}, lambda old, place: items(w.read(d))[place], lambda: len(w.read(d))
    )


def known_row(w: Evaluator, xs: Any) -> tuple[Row | None, Callable[[], int] | None]:
    """How the items of an argument are made anew, and how many there are."""
    if isinstance(xs, (List, Array)):
        return item(w, xs), lambda: len(items_of(w, xs))
    if not isinstance(xs, Taken):
        return None, None
    source, index = w.read(xs)
    if isinstance(source, List) and not isinstance(source, Yielded) and isinstance(index, int):
        return item(w, source, index), lambda: len(items_of(w, source)) - index
    follower = w.followers.get(xs)
    return (follower.row, follower.count) if follower and index == 0 else (None, None)


__all__ = [
    "Follower",
    "changed",
    "follow",
    "from_end",
    "item",
    "known_row",
    "noted",
    "pair",
    "several",
    "view",
]
