"""Taking items from iterators: now, as far as there are any, or each when it is asked for."""

from __future__ import annotations

import collections.abc
import functools
import itertools
from collections.abc import Iterable
from typing import Any

from pygpu.core.host.later import later
from pygpu.frontend.protocols.sequences import (
    ENDLESS,
    advance_iterator,
    is_shared,
    iterate,
    put_off,
    taken_or_put_off,
)
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.objects import Instance, Iterator, Object, Replay
from pygpu.frontend.values.values import Abstract

with later():
    from pygpu.frontend.walked import iterators as walked


def is_stream(xs: Any) -> bool:
    """Whether taking items from it leaves fewer in it."""
    return isinstance(xs, (Iterator, collections.abc.Iterator))


def iterator_of(items: Iterable[Any]) -> Iterator:
    return Iterator((tuple(items), 0))


def bounded(w: Evaluator, items: Iterable[Any]) -> Iterator:
    """An iterator over items that are taken now."""
    taken = tuple(itertools.islice(items, ENDLESS + 1))
    if len(taken) > ENDLESS:
        raise w.error(f"more than {ENDLESS} items: does this iterator not end?")
    return Iterator((taken, 0))


def left_in(w: Evaluator, iterator: Iterator) -> Iterable[Any]:
    """The items that are left, each taken when it is asked for."""
    while True:
        try:
            item = advance_iterator(w, iterator)
        except StopIteration:
            return
        yield item


def _is_iterable(w: Evaluator, value: Any) -> bool:
    """Whether an object of the user's class says how it is iterated."""
    return isinstance(value, Instance) and w.special(value, "__iter__") is not None


def when_asked(rule: Rule, name: str) -> Rule:
    """A rule that takes items now, for what takes them when it is asked for them. Where that can be
    told (something else takes from the same iterators, items change something when they are taken,
    or nobody knows how many there are), items are those of the generator function of this name in
    walked/iterators.py."""

    @functools.wraps(rule)
    def taking(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        args = tuple([iterate(w, arg) if _is_iterable(w, arg) else arg for arg in args])
        streams = tuple([arg for arg in args if isinstance(arg, Iterator)])
        begun: dict[Object, Any] = {stream: w.read(stream) for stream in streams}
        region = w.build.region

        def generator() -> Any:
            return w.call(getattr(walked, name), *args, **keywords)

        def otherwise(error: Exception | None) -> Any:
            if isinstance(error, TypeError):
                raise error  # wrong arguments
            return generator()

        def late() -> Any:
            """What a generator holds that takes the items later, where it can still."""
            if w.build.region is not region:
                return None
            w.state.heap.update(begun)
            return w.read(generator())

        def taken() -> Any:
            with w.heap.noted() as reads:
                made = rule(w, *args, **keywords)
            return w.heap.follow(made, reads, late=late)

        if any(is_shared(w, stream) for stream in streams):
            return generator()
        if any(put_off(w, stream) for stream in streams) and not _is_cut(w, name, args):
            return generator()
        return taken_or_put_off(w, taken, otherwise, streams)

    return taking


def _is_cut(w: Evaluator, name: str, args: tuple[Any, ...]) -> bool:
    """Whether a known number of items is taken of what Python runs: islice(primes(), 20)"""
    if name != "sliced" or not isinstance(w.read(args[0])[0], Replay):
        return False
    return isinstance(args[min(len(args) - 1, 2)], int) and all(
        isinstance(bound, int) or bound is None for bound in args[1:]
    )


def taken_now(w: Evaluator, iterator: Iterator, sources: list[Any]) -> Iterator:
    """An iterator whose items are taken now, if that changes nothing but its own sources."""
    if any(is_shared(w, source) for source in sources):
        return iterator
    return taken_or_put_off(
        w, lambda: bounded(w, left_in(w, iterator)), lambda _: iterator, (iterator, *sources)
    )


def holds(w: Evaluator, what: str, function: Any, item: Any) -> bool:
    """Whether an item passes a test, which must be known."""
    passed = w.truth(item if function is None else w.call(function, item))
    if isinstance(passed, Abstract):
        raise w.error(
            f"{what}() needs conditions that are known at compile time: what it keeps would "
            "have a dynamic length; use 'x if c else 0' instead"
        )
    return bool(passed)


def followed(rule: Rule) -> Rule:
    """A rule whose items are taken now, with a note of what was read for them."""

    @functools.wraps(rule)
    def noting(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        with w.heap.noted() as reads:
            made = rule(w, *args, **keywords)
        return w.heap.follow(made, reads)

    return noting
