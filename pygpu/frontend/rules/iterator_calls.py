"""What iterators over other iterators give: zip, enumerate, map and filter.

Where the items can be listed they are taken at once. What may not end (a count, a cycle, a
generator that Python runs) is put off: a `Lazy`, which takes from the iterators below it when
asked.
What is too long to be unrolled is passed on as an `Indexed`, whose elements are made by index.
"""

from __future__ import annotations

import itertools
from typing import Any, Final

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.protocols import followers, operators
from pygpu.frontend.protocols.sequences import (
    ENDLESS,
    UNROLL_OPS,
    advance_iterator,
    endless,
    indexed,
    is_generator,
    is_indexed,
    is_shared,
    is_undecided,
    items_of,
    iterate,
    put_off,
    taken_or_put_off,
    told_apart,
)
from pygpu.frontend.rules.taking import (
    bounded,
    followed,
    holds,
    is_stream,
    iterator_of,
    left_in,
    taken_now,
)
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.lazy import Indexed, Lazy, Masked
from pygpu.frontend.values.objects import Instance, Iterator, Object, Yielded
from pygpu.frontend.values.values import Abstract, tuple_of

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.protocols import comparisons, tables
    from pygpu.frontend.walked import iterators as walked


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


def _has_some(w: Evaluator, xs: Any) -> bool:
    """Whether only the device knows how many items there are."""
    return isinstance(xs, Masked) or lists.bounded(w, xs) is not None or is_undecided(w, xs)


def _check_lengths(w: Evaluator, place: int, iterators: tuple[Iterator, ...]) -> None:
    """The ValueErrors of zip(strict=True) where the iterator at `place` has ended."""
    if place:
        before = "argument 1" if place == 1 else f"arguments 1-{place}"
        raise ValueError(f"zip() argument {place + 1} is shorter than {before}")
    for other, iterator in enumerate(iterators[1:], 1):
        if next(iter(left_in(w, iterator)), None) is not None:
            before = "argument 1" if other == 1 else f"arguments 1-{other}"
            raise ValueError(f"zip() argument {other + 1} is longer than {before}")


def _check_equal(w: Evaluator, lengths: list[Any]) -> None:
    """The ValueError of zip(strict=True) of sequences whose lengths can be told before."""
    first, *others = lengths
    for place, length in enumerate(others, 2):
        differ = comparisons.compare(w, "!=", first, length)
        if isinstance(differ, Abstract):
            w.check(differ, ValueError, f"zip() argument {place} is shorter or longer than others")
        elif differ:
            how = "shorter" if length < first else "longer"
            before = "argument 1" if place == 2 else f"arguments 1-{place - 1}"
            raise ValueError(f"zip() argument {place} is {how} than {before}")


def _zip(w: Evaluator, *sequences: Any, strict: Any = False) -> Any:
    has_some = any(_has_some(w, xs) for xs in sequences)
    for xs in sequences:
        lists.fill(w, xs, unplaced=not has_some)
    if any(is_indexed(w, xs) for xs in sequences):
        is_one_by_one = any(is_shared(w, xs) for xs in sequences)
        if is_one_by_one and strict:
            raise w.error(
                "zip(strict=True) takes no iterator of dynamic length that has a name: make a list "
                "of its items first"
            )
        if is_one_by_one:
            return w.call(walked.zipped, *[iterate(w, xs) for xs in sequences])
        parts = _all_indexed(w, sequences)
        if strict:
            _check_equal(w, [part.length for part in parts] or [w.length(xs) for xs in sequences])
        if not parts:
            return iterator_of(())
        return iterate(w, _zip_indexed(w, parts))
    sequences = tuple([iterate(w, xs) if isinstance(xs, Instance) else xs for xs in sequences])
    if len(sequences) > 1:  # of items that may be there or not the first of those that are, ...
        sequences = tuple([w.call(list, xs) if is_undecided(w, xs) else xs for xs in sequences])
    has_some = any(_has_some(w, xs) for xs in sequences)
    if has_some and not any(map(is_stream, sequences)):
        if strict:
            _check_equal(w, [w.length(xs) for xs in sequences])
        return Iterator((Yielded(lists.zipped(w, sequences)), 0))
    if sequences and _has_some(w, sequences[0]) and not strict:
        return w.call(walked.zipped, *[iterate(w, xs) for xs in sequences])
    known = [followers.known_row(w, xs) for xs in sequences]
    if not any(map(is_stream, sequences)):
        rows = zip(*[items_of(w, xs) for xs in sequences], strict=bool(strict))
        made = iterator_of([tuple_of(row) for row in rows])
    else:
        iterators = [iterate(w, xs) for xs in sequences]
        zipped = Iterator((Lazy(_next_row, (bool(strict), *iterators)), 0))
        is_late = all(put_off(w, iterator) for iterator in iterators)
        made = zipped if is_late else taken_now(w, zipped, iterators)
        if made is zipped:
            is_driven = is_generator(w, iterators[0]) and not strict
            return w.call(walked.zipped, *iterators) if is_driven else zipped
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


def _all_indexed(w: Evaluator, sequences: Any) -> list[Indexed]:
    """Sequences of which some are made by index, all by index; none where one has no items."""
    lazies = [indexed(w, xs) if is_indexed(w, xs) else _endless(w, xs) for xs in sequences]
    pairs = zip(lazies, sequences, strict=True)
    made = [items_of(w, xs) if lazy is None else lazy for lazy, xs in pairs]
    if any(isinstance(part, tuple) and not part for part in made):
        return []
    return [
        told_apart(w, part) if isinstance(part, Indexed) else tables.tabulate(w, part)
        for part in made
    ]


def _endless(w: Evaluator, xs: Any) -> Any:
    return endless(w, *w.read(xs)) if isinstance(xs, Iterator) else None


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
    lists.fill(w, xs, unplaced=True)
    if is_indexed(w, xs):
        if is_shared(w, xs):
            return w.call(walked.enumerated, xs, start)
        lazy = told_apart(w, indexed(w, xs))
        counted = Indexed(
            lazy.length,
            lambda index, start, lazy: tuple_of(
                (operators.binary(w, "+", index, start), lazy.element(index))
            ),
            f"an enumeration of {lazy.what}",
            (start, lazy),
        )
        return iterate(w, counted)
    xs = iterate(w, xs) if isinstance(xs, Instance) else xs
    if _has_some(w, xs):
        return w.call(walked.enumerated, iterate(w, xs), start)
    row, count = followers.known_row(w, xs)
    if not is_stream(xs) and not isinstance(start, Abstract):
        made = iterator_of([tuple_of(pair) for pair in enumerate(items_of(w, xs), start)])
    else:
        iterator = iterate(w, xs)
        if is_generator(w, iterator):
            return w.call(walked.enumerated, iterator, start)
        pairs = Iterator((Lazy(_next_pair, (start, iterator)), 0))
        if put_off(w, iterator):
            return pairs
        made = taken_now(w, pairs, [iterator])
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
                        columns = [tables.tabulate(w, column) for column in zip(*rows, strict=True)]
                        return trial.keep(iterate(w, _map_indexed(w, function, columns)))
                except CompileError:
                    continue  # its items fit no table: unroll, whatever it takes
    return iterator_of(made)


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
    if len(sequences) == 1 and lists.has_no_order(w, sequences[0]):
        return w.call(walked.mapped_members, function, sequences[0])
    sequences = tuple([iterate(w, xs) if isinstance(xs, Instance) else xs for xs in sequences])
    if any(is_indexed(w, xs) for xs in sequences):
        if any(is_shared(w, xs) for xs in sequences):
            return w.call(walked.mapped, function, *[iterate(w, xs) for xs in sequences])
        parts = _all_indexed(w, sequences)
        return iterate(w, _map_indexed(w, function, parts)) if parts else iterator_of(())
    if _has_some(w, sequences[0]):
        return w.call(walked.mapped, function, *[iterate(w, xs) for xs in sequences])
    if not any(map(is_stream, sequences)):
        return taken_or_put_off(
            w,
            lambda: _mapped(w, function, sequences),
            lambda _: _map_put_off(function, [iterate(w, xs) for xs in sequences]),
            (),
        )
    iterators = [iterate(w, xs) for xs in sequences]
    if is_generator(w, iterators[0]):
        return w.call(walked.mapped, function, *iterators)
    mapped = _map_put_off(function, iterators)
    if all(put_off(w, iterator) for iterator in iterators):
        return mapped
    return taken_now(w, mapped, iterators)


def _map_put_off(function: Any, iterators: list[Any]) -> Iterator:
    return Iterator((Lazy(_next_mapped, (function, *iterators)), 0))


def _next_kept(w: Evaluator, index: Any, what: str, function: Any, iterator: Iterator) -> Any:
    """The next of a filter, or of what a filter leaves out."""
    wanted = what == "filter"
    for _ in range(ENDLESS):
        item = advance_iterator(w, iterator)
        if holds(w, what, function, item) == wanted:
            return item
    raise w.error(f"none of {ENDLESS} items passes: does this iterator not end?")


def _is_dynamic(w: Evaluator, kept: Iterator) -> bool:
    """Whether only the device knows which is the first item that a filter keeps."""
    try:
        with w.attempt():  # undone
            advance_iterator(w, kept)
    except CompileError:
        return True
    except Exception:
        return False
    return False


def _filter(what: str) -> Rule:
    def rule(w: Evaluator, function: Any, xs: Any) -> Any:
        if lists.has_no_order(w, xs):
            return w.call(walked.kept_members, what == "filter", function, xs)
        iterator = iterate(w, xs)
        kept = Iterator((Lazy(_next_kept, (what, function, iterator)), 0))
        by_generator = (walked.kept, what == "filter", function, iterator)
        if is_generator(w, iterator) or is_undecided(w, iterator):
            return w.call(*by_generator)
        if put_off(w, iterator):
            return w.call(*by_generator) if _is_dynamic(w, kept) else kept
        sources = (kept,) if iterator is xs else (kept, iterator)

        def late(error: Exception | None) -> Any:
            return w.call(*by_generator) if isinstance(error, CompileError) else kept

        return taken_or_put_off(w, lambda: bounded(w, left_in(w, kept)), late, sources)

    return rule


_RULES: Final[dict[Any, Rule]] = {
    zip: _zip,
    enumerate: _enumerate,
    map: _map,
    filter: _filter("filter"),
    itertools.filterfalse: _filter("filterfalse"),
}
ITERATOR_RULES: Final = {function: followed(rule) for function, rule in _RULES.items()}
