"""What iterators over other iterators give: zip, enumerate, map, filter, and itertools.

Where the items can be listed they are taken at once. What may not end (a count, a cycle, a
generator that Python runs) is put off: a `Lazy`, which takes from the iterators below it when
asked.
What is too long to be unrolled is passed on as an `Indexed`, whose elements are made by index.
"""

from __future__ import annotations

import collections.abc
import functools
import itertools
import operator
from collections.abc import Callable, Iterable
from typing import Any, Final

from pygpu.core.errors import CompileError
from pygpu.frontend.protocols import followers, operators
from pygpu.frontend.protocols.arithmetic import elementwise
from pygpu.frontend.protocols.sequences import (
    ENDLESS,
    UNROLL_OPS,
    advance_iterator,
    indexed,
    items_of,
    iterate,
    put_off,
    taken_or_put_off,
)
from pygpu.frontend.protocols.tables import tabulate
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Indexed, Lazy
from pygpu.frontend.values.objects import (
    Instance,
    Iterator,
    Object,
)
from pygpu.frontend.values.values import (
    Abstract,
    NotKnown,
    describe,
    tuple_of,
)

Rule = Callable[..., Any]


# ---------------------------------------------------------------- taking items


def _is_stream(xs: Any) -> bool:
    """Whether taking items from it leaves fewer in it."""
    return isinstance(xs, (Iterator, collections.abc.Iterator))


def _of(items: Iterable[Any]) -> Iterator:
    return Iterator((tuple(items), 0))


def _bounded(w: Evaluator, items: Iterable[Any]) -> Iterator:
    """An iterator over items that are taken now."""
    taken = tuple(itertools.islice(items, ENDLESS + 1))
    if len(taken) > ENDLESS:
        raise w.error(f"more than {ENDLESS} items: does this iterator not end?")
    return Iterator((taken, 0))


def _left(w: Evaluator, iterator: Iterator) -> Iterable[Any]:
    """The items that are left, each taken when it is asked for."""
    while True:
        try:
            item = advance_iterator(w, iterator)
        except StopIteration:
            return
        yield item


def _taken(w: Evaluator, iterator: Iterator, sources: list[Any]) -> Iterator:
    """An iterator whose items are taken now, if nothing but its sources is changed by that."""
    return taken_or_put_off(
        w, lambda: _bounded(w, _left(w, iterator)), lambda _: iterator, (iterator, *sources)
    )


# ---------------------------------------------------------------- zip, enumerate, map, filter


def _next_row(w: Evaluator, index: Any, strict: bool, *iterators: Iterator) -> Any:
    """The next of a zip."""
    row = []
    for place, iterator in enumerate(iterators):
        try:
            row.append(advance_iterator(w, iterator))
        except StopIteration:
            if strict:
                _check_lengths(w, place, iterators)
            raise
    return tuple_of(tuple(row))


def _check_lengths(w: Evaluator, place: int, iterators: tuple[Iterator, ...]) -> None:
    """The ValueErrors of zip(strict=True) where the iterator at `place` has ended."""
    if place:
        before = "argument 1" if place == 1 else f"arguments 1-{place}"
        raise ValueError(f"zip() argument {place + 1} is shorter than {before}")
    for other, iterator in enumerate(iterators[1:], 1):
        if next(iter(_left(w, iterator)), None) is not None:
            before = "argument 1" if other == 1 else f"arguments 1-{other}"
            raise ValueError(f"zip() argument {other + 1} is longer than {before}")


def _zip(w: Evaluator, *sequences: Any, strict: Any = False) -> Any:
    lazies = [indexed(w, xs) for xs in sequences]
    if any(lazy is not None for lazy in lazies):
        return _zip_indexed(w, _all_indexed(w, sequences, lazies))
    sequences = tuple([iterate(w, xs) if isinstance(xs, Instance) else xs for xs in sequences])
    known = [followers.known_row(w, xs) for xs in sequences]
    if not any(map(_is_stream, sequences)):
        rows = zip(*[items_of(w, xs) for xs in sequences], strict=bool(strict))
        made = _of([tuple_of(row) for row in rows])
    else:
        iterators = [iterate(w, xs) for xs in sequences]
        zipped = Iterator((Lazy(_next_row, (bool(strict), *iterators)), 0))
        if all(put_off(w, iterator) for iterator in iterators):
            return zipped
        made = _taken(w, zipped, iterators)
        if made is zipped:
            return zipped
    length = len(w.state.get(made)[0])
    counts = [count for _, count in known if count]
    row = followers.several(w, [row for row, _ in known], length)
    w.heap.follow(
        made,
        {xs for xs in sequences if isinstance(xs, Object)},
        row,
        lambda: min([count() for count in counts], default=length),
    )
    return made


def _all_indexed(w: Evaluator, sequences: Any, lazies: list[Any]) -> list[Indexed]:
    """Sequences of which some are made by index, all by index."""
    return [
        lazy if lazy is not None else tabulate(w, items_of(w, xs))
        for lazy, xs in zip(lazies, sequences, strict=True)
    ]


def _zip_indexed(w: Evaluator, parts: list[Indexed]) -> Indexed:
    length = parts[0].length
    for part in parts[1:]:
        length = (
            elementwise(w, "min", (length, part.length))
            if isinstance(length, Abstract) or isinstance(part.length, Abstract)
            else min(length, part.length)
        )
    return Indexed(
        length,
        lambda index, *parts: tuple_of(tuple([p.element(index) for p in parts])),
        "a zip of long sequences",
        tuple(parts),
    )


def _next_pair(w: Evaluator, index: Any, start: Any, iterator: Iterator) -> Any:
    """The next of an enumeration."""
    item = advance_iterator(w, iterator)
    return tuple_of((operators.binary(w, "+", start, index), item))


def _enumerate(w: Evaluator, xs: Any, start: Any = 0) -> Any:
    lazy = indexed(w, xs)
    if lazy is not None:
        return Indexed(
            lazy.length,
            lambda index, start, lazy: tuple_of(
                (operators.binary(w, "+", index, start), lazy.element(index))
            ),
            f"an enumeration of {lazy.what}",
            (start, lazy),
        )
    xs = iterate(w, xs) if isinstance(xs, Instance) else xs
    row, count = followers.known_row(w, xs)
    if not _is_stream(xs) and not isinstance(start, Abstract):
        made = _of([tuple_of(pair) for pair in enumerate(items_of(w, xs), start)])
    else:
        iterator = iterate(w, xs)
        pairs = Iterator((Lazy(_next_pair, (start, iterator)), 0))
        if put_off(w, iterator):
            return pairs
        made = _taken(w, pairs, [iterator])
        if made is pairs:
            return pairs
    if row is not None and isinstance(start, int):
        w.heap.follow(made, {xs}, followers.pair(w, row, start), count)
    return made


def _next_mapped(w: Evaluator, index: Any, function: Any, *iterators: Iterator) -> Any:
    """The next of a map."""
    return w.call(function, *[advance_iterator(w, iterator) for iterator in iterators])


def _mapped(w: Evaluator, function: Any, sequences: tuple[Any, ...]) -> Any:
    """A map over what can be listed: unrolled, or made by index if that would emit too much."""
    rows = list(zip(*[items_of(w, xs) for xs in sequences], strict=False))
    made: list[Any] = []
    start = w.mark()
    for row in rows:
        made.append(w.call(function, *row))
        emitted = w.build.count - start.emitted
        if len(made) == _TRIED and emitted * len(rows) > _TRIED * UNROLL_OPS:
            heap = w.state.heap
            if all(heap.get(handle) is contents for handle, contents in start.state.heap.items()):
                try:
                    with w.attempt(since=start) as trial:
                        columns = [tabulate(w, column) for column in zip(*rows, strict=True)]
                        return trial.keep(_map_indexed(w, function, columns))
                except CompileError:
                    continue  # its items fit no table: unroll, whatever it takes
    return _of(made)


_TRIED: Final = 4  # calls of a map after which it is seen what all would emit


def _map_indexed(w: Evaluator, function: Any, lazies: list[Any]) -> Indexed:
    zipped = _zip_indexed(w, lazies)
    return Indexed(
        zipped.length,
        lambda index, function, zipped: w.call(function, *items_of(w, zipped.element(index))),
        "a map over a long sequence",
        (function, zipped),
    )


def _map(w: Evaluator, function: Any, *sequences: Any) -> Any:
    lazies = [indexed(w, xs) for xs in sequences]
    if any(lazy is not None for lazy in lazies):
        return _map_indexed(w, function, _all_indexed(w, sequences, lazies))
    if not any(map(_is_stream, sequences)):
        return taken_or_put_off(
            w,
            lambda: _mapped(w, function, sequences),
            lambda _: _map_put_off(function, [iterate(w, xs) for xs in sequences]),
            (),
        )
    iterators = [iterate(w, xs) for xs in sequences]
    mapped = _map_put_off(function, iterators)
    if all(put_off(w, iterator) for iterator in iterators):
        return mapped
    return _taken(w, mapped, iterators)


def _map_put_off(function: Any, iterators: list[Any]) -> Iterator:
    return Iterator((Lazy(_next_mapped, (function, *iterators)), 0))


def _holds(w: Evaluator, what: str, function: Any, item: Any) -> bool:
    """Whether an item passes a test, which must be known."""
    passed = w.truth(item if function is None else w.call(function, item))
    if isinstance(passed, Abstract):
        raise w.error(
            f"{what}() needs conditions that are known at compile time: what it keeps would "
            "have a dynamic length; use 'x if c else 0' instead"
        )
    return bool(passed)


def _next_kept(w: Evaluator, index: Any, what: str, function: Any, iterator: Iterator) -> Any:
    """The next of a filter, or of what a filter leaves out."""
    wanted = what == "filter"
    for _ in range(ENDLESS):
        item = advance_iterator(w, iterator)
        if _holds(w, what, function, item) == wanted:
            return item
    raise w.error(f"none of {ENDLESS} items passes: does this iterator not end?")


def _filter(what: str) -> Rule:
    def rule(w: Evaluator, function: Any, xs: Any) -> Any:
        iterator = iterate(w, xs)
        kept = Iterator((Lazy(_next_kept, (what, function, iterator)), 0))
        if put_off(w, iterator):
            return kept
        sources = (kept,) if iterator is xs else (kept, iterator)
        return taken_or_put_off(w, lambda: _bounded(w, _left(w, kept)), lambda _: kept, sources)

    return rule


# ---------------------------------------------------------------- itertools


def _known(w: Evaluator, value: Any, what: str) -> Any:
    try:
        return concrete(w, value)
    except NotKnown:
        raise w.error(f"{what} must be known at compile time, got {describe(value)}") from None


def _count(w: Evaluator, start: Any = 0, step: Any = 1) -> Iterator:
    return Iterator((Lazy(_next_number, (start, step)), 0))


def _next_number(w: Evaluator, index: Any, start: Any, step: Any) -> Any:
    return operators.binary(w, "+", start, operators.binary(w, "*", index, step))


def _cycle(w: Evaluator, xs: Any) -> Iterator:
    return Iterator((Lazy(_next_in_circle, items_of(w, xs)), 0))


def _next_in_circle(w: Evaluator, index: int, *items: Any) -> Any:
    if not items:
        raise StopIteration
    return items[index % len(items)]


def _repeat(w: Evaluator, value: Any, times: Any = None) -> Iterator:
    if times is None:
        return Iterator((Lazy(_next_in_circle, (value,)), 0))
    return _of([value] * _known(w, times, "how often a value is repeated"))


def _chain(w: Evaluator, *sequences: Any) -> Iterator:
    if not any(map(_is_stream, sequences)):
        return _of([item for xs in sequences for item in items_of(w, xs)])
    iterators = tuple([iterate(w, xs) for xs in sequences])
    chained = Iterator((Lazy(_next_in_turn, iterators), 0))
    if any(put_off(w, iterator) for iterator in iterators):
        return chained
    return _bounded(w, _left(w, chained))


def _next_in_turn(w: Evaluator, index: Any, *iterators: Iterator) -> Any:
    for iterator in iterators:
        try:
            return advance_iterator(w, iterator)
        except StopIteration:
            continue
    raise StopIteration


def _chain_from_iterable(w: Evaluator, rows: Any) -> Iterator:
    return _of([item for row in items_of(w, rows) for item in items_of(w, row)])


def _islice(w: Evaluator, xs: Any, *bounds: Any) -> Iterator:
    bounds = tuple([_known(w, bound, "a bound of islice()") for bound in bounds])
    part = slice(*bounds)
    start, step = part.start or 0, part.step or 1
    if not _is_stream(xs):
        return _of(items_of(w, xs)[start : part.stop : step])
    iterator = iterate(w, xs)
    if part.stop is None and put_off(w, iterator):
        return Iterator((Lazy(_next_of_slice, (start, step, iterator)), 0))
    return _bounded(w, itertools.islice(_left(w, iterator), *bounds))


def _next_of_slice(w: Evaluator, index: int, start: int, step: int, iterator: Iterator) -> Any:
    for _ in range(step - 1 if index else start):
        advance_iterator(w, iterator)
    return advance_iterator(w, iterator)


def _takewhile(w: Evaluator, function: Any, xs: Any) -> Iterator:
    left = _left(w, iterate(w, xs))
    return _bounded(w, itertools.takewhile(lambda x: _holds(w, "takewhile", function, x), left))


def _dropwhile(w: Evaluator, function: Any, xs: Any) -> Iterator:
    iterator = iterate(w, xs)
    for item in _left(w, iterator):
        if not _holds(w, "dropwhile", function, item):
            return _chain(w, (item,), iterator)
    return _of(())


def _groupby(w: Evaluator, xs: Any, key: Any = None) -> Iterator:
    groups: list[tuple[Any, list[Any]]] = []
    for item in items_of(w, xs):
        its = _known(w, item if key is None else w.call(key, item), "the key of a group")
        if not groups or groups[-1][0] != its:
            groups.append((its, []))
        groups[-1][1].append(item)
    return _of([tuple_of((its, _of(group))) for its, group in groups])


def _tee(w: Evaluator, xs: Any, n: Any = 2) -> Any:
    items = items_of(w, xs)
    return tuple_of(tuple([_of(items) for _ in range(_known(w, n, "n of tee()"))]))


def _accumulate(w: Evaluator, xs: Any, function: Any = operator.add, *, initial: Any = None) -> Any:
    items = list(items_of(w, xs))
    if initial is not None:
        items.insert(0, initial)
    totals = items[:1]
    for item in items[1:]:
        totals.append(w.call(function, totals[-1], item))
    return _of(totals)


def _starmap(w: Evaluator, function: Any, rows: Any) -> Any:
    return _of([w.call(function, *items_of(w, row)) for row in items_of(w, rows)])


def _arranged(function: Any) -> Rule:
    """A function of itertools that arranges items without looking at them: Python runs it."""

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        opened = []
        for place, arg in enumerate(args):
            is_number = place and isinstance(arg, int)
            opened.append(arg if is_number else items_of(w, arg))
        rows = function(*opened, **keywords)
        return _bounded(w, (tuple_of(row) if isinstance(row, tuple) else row for row in rows))

    return rule


def _followed(rule: Rule) -> Rule:
    """A rule whose items are taken now, with a note of what was read for them."""

    @functools.wraps(rule)
    def noting(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        with w.heap.noted() as reads:
            made = rule(w, *args, **keywords)
        return w.heap.follow(made, reads)

    return noting


_RULES: Final[dict[Any, Rule]] = {
    zip: _zip,
    enumerate: _enumerate,
    map: _map,
    filter: _filter("filter"),
    itertools.filterfalse: _filter("filterfalse"),
    itertools.count: _count,
    itertools.cycle: _cycle,
    itertools.repeat: _repeat,
    itertools.chain: _chain,
    itertools.chain.from_iterable: _chain_from_iterable,
    itertools.islice: _islice,
    itertools.takewhile: _takewhile,
    itertools.dropwhile: _dropwhile,
    itertools.groupby: _groupby,
    itertools.tee: _tee,
    itertools.accumulate: _accumulate,
    itertools.starmap: _starmap,
    **{
        function: _arranged(function)
        for function in (
            itertools.product,
            itertools.combinations,
            itertools.combinations_with_replacement,
            itertools.permutations,
            itertools.zip_longest,
            itertools.pairwise,
            itertools.compress,
            *([itertools.batched] if hasattr(itertools, "batched") else []),
        )
    },
}
ITERATOR_RULES: Final = {function: _followed(rule) for function, rule in _RULES.items()}
