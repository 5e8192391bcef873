"""Iterating and indexing: sequences whose structure is known, and tables for the rest.

An iterator's source is a tuple, a range, a List (whose changes it sees, as in Python), a Replay of
a Python iterator, or an Indexed, whose elements are made by index in a loop of the device. Known
numbers become a table of constants when they are indexed by a dynamic value.
"""

from __future__ import annotations

import collections
import collections.abc
from collections.abc import Callable, Mapping
from operator import itemgetter
from typing import Any, Final

import numpy as np

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.collections.derived import HELD
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.numbers.numbers import hint_of_number
from pygpu.frontend.numbers.operands import components
from pygpu.frontend.protocols.datamodel import class_of, own_method
from pygpu.frontend.values.evaluator import Evaluator, Mark
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.lazy import Bounded, Growing, Indexed, Lazy, Masked, Row, Suspended
from pygpu.frontend.values.objects import (
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Matrix,
    Replay,
    Set,
    Unordered,
    Vector,
    Yielded,
)
from pygpu.frontend.values.values import (
    Abstract,
    Conflict,
    Dynamic,
    Flagged,
    Maybe,
    Tuple,
    describe,
    same_known,
)
from pygpu.frontend.values.views import viewed
from pygpu.language import vectors

with later():
    from pygpu.frontend.collections import bounded, members
    from pygpu.frontend.walked import iterators as walked
    from pygpu.frontend.walked import library

ENDLESS = 1 << 20  # items taken from an iterator before it is said not to end
FEW: Final = 64  # items of a row of a table that are made one by one where all are asked for
UNROLL_OPS = 2400  # operations that an unrolled loop may emit


def items_of(w: Evaluator, value: Any) -> tuple[Any, ...]:
    """Everything that iterating the value gives. TypeError where Python would not iterate it."""
    match value:
        case Tuple():
            iterated = own_method(w, value, "__iter__")
            return value.items if iterated is None else items_of(w, w.call(iterated))
        case List():
            contents = w.read(value)
            if isinstance(contents, Bounded):
                raise w.error(bounded.refusal(contents))
            if isinstance(contents, Indexed):
                return _few(w, contents)
            return contents  # type: ignore[no-any-return]
        case Set():
            held = w.read(value)
            if isinstance(held, Bounded):
                raise w.error(members.UNORDERED)
            is_known = not any(isinstance(one, Abstract) for one in held)
            return tuple(set(held) if is_known else held)  # in the order that Python's sets have
        case Dict():
            entries = w.read(value)
            return tuple(entries if isinstance(entries, dict) else members.known_entries(w, value))
        case Vector():
            return components(w, value)
        case Matrix():
            return tuple(w.read(value))
        case Array():
            array = w.read(value)
            if array.ndim == 0:
                raise TypeError("iteration over a 0-d array")
            if array.ndim == 1 and array.dtype != object:
                return tuple(array)
            return tuple([viewed(w, value, itemgetter(row)) for row in range(len(array))])
        case Iterator():
            _open(w, value)
            items: list[Any] = []
            while True:
                if len(items) > ENDLESS:
                    raise w.error(f"more than {ENDLESS} items: does this iterator not end?")
                try:
                    items.append(advance_iterator(w, value))
                except StopIteration:
                    return tuple(items)
        case Row():
            return tuple([value.element(index) for index in range(value.length)])
        case Indexed():
            raise w.error(f"{value.what} has no known length: loop over it")
        case Instance() | Raised():
            return items_of(w, iterate(w, value))
        case Conflict():
            raise w.error(value.message)
        case Masked():
            raise w.error(f"{value.describe()} {value.TAKEN}")
        case Abstract():
            raise TypeError(f"{describe(value)} is not iterable{hint_of_number(value)}")
    if isinstance(value, collections.abc.Iterator):
        return items_of(w, Iterator((Replay(value), 0)))
    w.environment.dependencies.add(value)
    return tuple(value)


def held_by(w: Evaluator, value: Any) -> tuple[Any, ...]:
    """What a tuple holds, whatever iterating it gives where its class says so; the items of others.
    Of tuples that is what their own operators see."""
    if isinstance(value, Tuple):
        return value.items
    return tuple(tuple.__iter__(value)) if isinstance(value, tuple) else items_of(w, value)


def is_short(value: Any) -> bool:
    """Whether it is a row of a table of which all elements may be looked up."""
    return type(value) is Row and value.length <= FEW


def _few(w: Evaluator, items: Indexed) -> tuple[Any, ...]:
    """The items of a sequence that are made by index, where they are few; else an error."""
    is_few = type(items.length) is int and items.length <= FEW
    if is_few and not (items.grouped or items.filtered):
        return tuple([items.element(index) for index in range(items.length)])
    raise w.error(
        f"{items.what} exceeds what is unrolled: it can be summed, folded, looped over and "
        "indexed, but not taken apart"
    )


def items_or_maybe(w: Evaluator, value: Any, by_loop: bool = True) -> tuple[Any, ...]:
    """The items of `items_of`; one that a generator may leave out is a Maybe. What goes on as long
    as a dynamic value says is made a list, unless it is not to be taken `by_loop`."""
    if isinstance(value, Instance):
        value = iterate(w, value)
    if by_loop and in_turn(w, value):
        value = w.call(library.listed, value)
    if isinstance(value, Iterator):
        _open(w, value)
        source, index = w.read(value)
        _check_order(w, source)
        if isinstance(source, Yielded):
            items: tuple[Any, ...] = w.read(source)
            w.write(value, (source, len(items)))
            return items[index:]
    if isinstance(value, Masked):
        return bounded.there(w, value.tests, value.items)
    bounded.fill(w, value)
    contents = w.heap.as_it_stands(value) if isinstance(value, (Dict, List)) else None
    if isinstance(contents, Growing):
        return contents.rows
    if not isinstance(contents, Bounded):
        return items_of(w, value)
    return bounded.maybes(w, members.columns(contents, 0) if type(value) is Dict else contents)


def put_off(w: Evaluator, iterator: Iterator) -> bool:
    """Whether items are made when they are asked for, and nobody knows how many there are."""
    source, _ = w.read(iterator)
    return isinstance(source, (Replay, Lazy))


def is_undecided(w: Evaluator, xs: Any) -> bool:
    """Whether some items of an iterator may not be there."""
    source = w.read(xs)[0] if isinstance(xs, Iterator) else None
    items = w.read(source) if isinstance(source, Yielded) else ()
    return isinstance(items, tuple) and any(isinstance(item, Maybe) for item in items)


def is_generator(w: Evaluator, xs: Any) -> bool:
    """Whether a value is what a generator gives, its items to be taken one by one."""
    return isinstance(xs, Iterator) and isinstance(w.read(xs)[0], Suspended)


def _open(w: Evaluator, iterator: Iterator) -> None:
    """Prepare an iterator whose items are all taken now: at once, if that can be done."""
    source, index = w.read(iterator)
    if isinstance(source, Lazy) and source.whole is not None and same_known(index, 0):
        w.write(iterator, w.read(source.whole(w, *source.of)))


def in_turn(w: Evaluator, xs: Any) -> bool:
    """Whether what an iterator gives can only be taken by a loop: a generator goes on as long as a
    dynamic value says. Else its items are taken now, and `indexed` may say then what they are.
    Of an object that is iterated anew it is only asked."""
    if isinstance(xs, Instance):
        try:
            with w.attempt():
                items_or_maybe(w, xs, by_loop=False)
        except CompileError:
            return True
        return False
    if not is_generator(w, xs):
        return False
    try:
        with w.attempt() as trial:
            trial.made(lambda: _open(w, xs))
            return False
    except CompileError:
        return True


def _check_order(w: Evaluator, source: Any) -> None:
    """An error where the next item is asked for of what an iterator takes from, and it has none."""
    if type(source) is Unordered:
        raise w.error(members.UNORDERED)


def maybe_next(w: Evaluator, iterator: Iterator) -> bool:
    """Whether the next item is one that a filter may have left out."""
    source, index = w.read(iterator)
    _check_order(w, source)
    if not isinstance(source, Yielded) or isinstance(index, Abstract):
        return False
    items = w.read(source)
    return isinstance(items, tuple) and index < len(items) and isinstance(items[index], Maybe)


def iterate(w: Evaluator, value: Any) -> Any:
    """iter(value), as an Iterator."""
    match value:
        case Iterator():
            if isinstance(held := w.peek(value), tuple):
                told_apart(w, held[0])
            return value
        case Indexed():
            source: Any = value
        case Masked():
            source = Yielded(bounded.there(w, value.tests, value.items))
        case Flagged():
            every = tuple(value.cls)
            met = [arithmetic.binary(w, "&", value, each) for each in every]
            tests = [arithmetic.compare(w, "!=", each, 0) for each in met]
            source = Yielded(bounded.there(w, tests, every))
        case Dict() if isinstance(w.peek(value), Bounded):
            source = Yielded(items_or_maybe(w, value))
        case List():
            bounded.fill(w, value, unplaced=True)
            contents = w.heap.as_it_stands(value)
            if isinstance(contents, (Bounded, Growing)):
                made = Iterator((Yielded(items_or_maybe(w, value)), 0))
                return w.heap.follow(made, {value})
            source = contents if isinstance(contents, Indexed) else value
            if seen_through(w, value) is not None:
                return _while_kept(w, Iterator((source, 0)), seen_through(w, value))
        case Set() if isinstance(held := w.read(value), Bounded):
            source = Unordered(bounded.maybes(w, held))
        case Dict() | Set():
            return _while_kept(w, Iterator((items_of(w, value), 0)), value)
        case Tuple() if own_method(w, value, "__iter__") is not None:
            return iterate(w, w.call(own_method(w, value, "__iter__")))
        case Instance() | Raised():
            method = w.special(value, "__iter__")
            if method is not None:
                iterator = w.call(method)
                if not isinstance(iterator, Instance):
                    return _of_container(w, value, iterate(w, iterator))
                return w.call(walked.asked, w.special(iterator, "__next__"))
            if isinstance(value, Raised) or w.special(value, "__len__") is None:
                return w.call(walked.by_index, value)
            length = w.length(value)
            source = tuple([w.item(value, index) for index in range(length)])
        case Abstract():
            source = items_of(w, value)
        case range():
            source = value
        case str() | bytes() | tuple() | list() | Mapping() | set() | frozenset() | np.ndarray():
            source = tuple(value)
        case vectors.Vector():
            source = tuple(value)
        case _:
            w.environment.dependencies.add(value)
            source = Replay(iter(value))
    return Iterator((told_apart(w, source), 0))


def told_apart(w: Evaluator, source: Any) -> Any:
    """A sequence whose items have indices. Those of a long comprehension have none if it has a
    filter or two loops."""
    if isinstance(source, Indexed) and (source.grouped or source.filtered):
        raise w.error(
            f"{source.what} exceeds what is unrolled and can only be summed or folded: "
            "write the loops as for statements"
        )
    return source


def seen_through(w: Evaluator, view: List) -> Dict | None:
    """The dict that a list is a view of, None of others."""
    follower = w.heap.follower(view)
    held = [read for read in follower.reads if isinstance(read, Dict)] if follower else ()
    return held[0] if held else None


def _of_container(w: Evaluator, value: Any, made: Iterator) -> Iterator:
    """The iterator that an object gives; that of a deque ends where the deque changes its size."""
    if issubclass(class_of(value), collections.deque):
        return _while_kept(w, made, w.read(value)[HELD])
    return made


def _while_kept(w: Evaluator, made: Iterator, held: Any) -> Iterator:
    """An iterator of a dict, set or deque, which none of its items may enter or leave before the
    iterator's end."""

    def items() -> Any:
        contents = w.peek(held)
        if isinstance(held, List):
            return len(contents) if isinstance(contents, tuple) else None
        return tuple(map(id, contents)) if isinstance(contents, (dict, tuple)) else None

    before, what = items(), "a deque" if isinstance(held, List) else describe(held)
    return w.heap.follow_kept(made, held, lambda: items() == before, what)


def advance_iterator(w: Evaluator, iterator: Any) -> Any:
    """next(iterator). StopIteration at its end."""
    source, index = w.read(iterator)
    _check_order(w, source)
    if isinstance(source, Replay):
        item = source.get(index)
    elif isinstance(source, Lazy):
        item = source.step(w, index, *source.of)
    elif isinstance(source, Indexed):
        inside = arithmetic.compare(w, "<", index, source.length)
        if isinstance(inside, Dynamic):
            raise w.error(
                f"next() on {source.what} is not known to succeed, and neither are zip() and the "
                "like that take from it twice: loop over it once, or by index"
            )
        if not inside:
            raise StopIteration
        item = source.element(index)
    else:
        items = items_of(w, source) if isinstance(source, List) else source
        if index >= len(items):
            raise StopIteration
        item = items[index]
    if type(item) is Maybe:
        raise w.error(
            "how many items this generator gives only the device knows: it can be looped over, "
            "folded (sum() and the like), asked by next() with a default, or made a list, but not "
            "taken apart"
        )
    following = index + 1 if type(index) is int else arithmetic.binary(w, "+", index, 1)
    w.write(iterator, (source, following))
    return item


def indexed(w: Evaluator, xs: Any) -> Any:
    """The Indexed that a sequence is made of at run time, None if its items can be listed. Of an
    iterator it is what is left, and nothing is left in it afterwards."""
    lazy = _made_of(w, xs)
    if not isinstance(lazy, Indexed) or not isinstance(xs, Iterator):
        return lazy if isinstance(lazy, Indexed) else None
    _, index = w.read(xs)
    w.write(xs, (lazy, lazy.length))
    return lazy if same_known(index, 0) else _from(w, lazy, index)


def endless(w: Evaluator, source: Any, start: Any) -> Any:
    """What an endless iterator gives from an index on, as an Indexed of more elements than there
    are indices; None of other sources."""
    if not isinstance(source, Lazy) or not source.endless:
        return None

    def element(index: Any, start: Any, *of: Any) -> Any:
        return source.step(w, arithmetic.binary(w, "+", index, start), *of)

    return Indexed(1 << 63, element, "an endless iterator", (start, *source.of))


def is_indexed(w: Evaluator, xs: Any) -> bool:
    """Whether a sequence is made of an Indexed."""
    return isinstance(_made_of(w, xs), Indexed)


def is_shared(w: Evaluator, xs: Any) -> bool:
    """Whether something else may take from an iterator, or has to find it used up."""
    return isinstance(xs, Iterator) and w.in_sight((xs,))


def _made_of(w: Evaluator, xs: Any) -> Any:
    if isinstance(xs, Iterator):
        return w.read(xs)[0]
    return w.heap.as_it_stands(xs) if isinstance(xs, List) else xs


def _from(w: Evaluator, lazy: Indexed, start: Any) -> Indexed:
    """The elements from an index on."""
    return Indexed(
        arithmetic.binary(w, "-", lazy.length, start),
        lambda index, lazy, start: lazy.element(arithmetic.binary(w, "+", index, start)),
        lazy.what,
        (lazy, start),
        lazy.grouped,
    )


def taken_or_put_off(
    w: Evaluator,
    take: Callable[[], Iterator],
    put_off: Callable[[Exception | None], Iterator],
    sources: tuple[Any, ...],
) -> Iterator:
    """What `take` makes, its items taken now; if that fails or has effects nothing of it is left,
    and it is what `put_off` makes of the error. That the iterators `sources` go on is no effect.
    """
    failed: Exception | None = None
    try:
        with w.attempt() as trial:
            made = take()
            if not _has_effects(w, trial.before, sources):
                return trial.keep(made)
    except Exception as error:
        failed = error
    return put_off(failed)


def _has_effects(w: Evaluator, before: Mark, sources: tuple[Any, ...]) -> bool:
    """Whether objects that there were before hold something else now."""
    old = before.state.heap
    return any(
        handle.serial < before.serial
        and handle not in sources
        and old.get(handle, handle.initial) is not contents
        for handle, contents in w.state.heap.items()
    )
