"""What `itertools` gives. For when items are taken, and when put off, see iterator_calls.py."""

from __future__ import annotations

import itertools
import operator
from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.protocols import operators
from pygpu.frontend.protocols.sequences import (
    advance_iterator,
    is_generator,
    items_of,
    iterate,
    put_off,
)
from pygpu.frontend.rules.taking import (
    bounded,
    decided,
    followed,
    holds,
    is_stream,
    iterator_of,
    left_in,
)
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Lazy
from pygpu.frontend.values.objects import Iterator
from pygpu.frontend.values.values import NotKnown, describe, tuple_of

with later():
    from pygpu.frontend.walked import iterators as walked


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


def _next_in_circle(w: Evaluator, index: Any, *items: Any) -> Any:
    if not items:
        raise StopIteration
    return w.item(tuple_of(items), operators.binary(w, "%", index, len(items)))


def _repeat(w: Evaluator, value: Any, times: Any = None) -> Iterator:
    if times is None:
        return Iterator((Lazy(_next_in_circle, (value,)), 0))
    return iterator_of([value] * _known(w, times, "how often a value is repeated"))


def _chain(w: Evaluator, *sequences: Any) -> Any:
    if not any(map(is_stream, sequences)):
        return iterator_of([item for xs in sequences for item in items_of(w, xs)])
    iterators = tuple([iterate(w, xs) for xs in sequences])
    chained = Iterator((Lazy(_next_in_turn, iterators), 0))
    if any(is_generator(w, iterator) for iterator in iterators):
        return w.call(walked.chained, *iterators)
    if any(put_off(w, iterator) for iterator in iterators):
        return chained
    return bounded(w, left_in(w, chained))


def _next_in_turn(w: Evaluator, index: Any, *iterators: Iterator) -> Any:
    for iterator in iterators:
        try:
            return advance_iterator(w, iterator)
        except StopIteration:
            continue
    raise StopIteration


def _chain_from_iterable(w: Evaluator, rows: Any) -> Iterator:
    return iterator_of([item for row in items_of(w, rows) for item in items_of(w, row)])


def _islice(w: Evaluator, xs: Any, *bounds: Any) -> Any:
    bounds = tuple([_known(w, bound, "a bound of islice()") for bound in bounds])
    part = slice(*bounds)
    start, step = part.start or 0, part.step or 1
    if not is_stream(xs):
        return iterator_of(items_of(w, xs)[start : part.stop : step])
    iterator = iterate(w, xs)
    if part.stop is None and put_off(w, iterator):
        return Iterator((Lazy(_next_of_slice, (start, step, iterator)), 0))
    return decided(
        w,
        lambda: bounded(w, itertools.islice(left_in(w, iterator), *bounds)),
        *(walked.sliced, iterator, start, part.stop, step),
    )


def _next_of_slice(w: Evaluator, index: int, start: int, step: int, iterator: Iterator) -> Any:
    for _ in range(step - 1 if index else start):
        advance_iterator(w, iterator)
    return advance_iterator(w, iterator)


def _takewhile(w: Evaluator, function: Any, xs: Any) -> Any:
    iterator = iterate(w, xs)

    def take() -> Iterator:
        left = left_in(w, iterator)
        return bounded(w, itertools.takewhile(lambda x: holds(w, "takewhile", function, x), left))

    return decided(w, take, walked.taken_while, function, iterator)


def _dropwhile(w: Evaluator, function: Any, xs: Any) -> Any:
    iterator = iterate(w, xs)

    def take() -> Iterator:
        for item in left_in(w, iterator):
            if not holds(w, "dropwhile", function, item):
                chained: Iterator = _chain(w, (item,), iterator)
                return chained
        return iterator_of(())

    return decided(w, take, walked.dropped_while, function, iterator)


def _groupby(w: Evaluator, xs: Any, key: Any = None) -> Iterator:
    groups: list[tuple[Any, list[Any]]] = []
    for item in items_of(w, xs):
        its = item if key is None else w.call(key, item)
        try:
            its = concrete(w, its)
        except NotKnown:
            raise w.error(
                f"the key of a group must be known at compile time, got {describe(its)}: keep a "
                "pair for each group, as in 'if runs and runs[-1][0] == key: runs[-1] = (key, "
                "runs[-1][1] + v)', and 'else: runs.append((key, v))'"
            ) from None
        if not groups or groups[-1][0] != its:
            groups.append((its, []))
        groups[-1][1].append(item)
    return iterator_of([tuple_of((its, iterator_of(group))) for its, group in groups])


def _tee(w: Evaluator, xs: Any, n: Any = 2) -> Any:
    items = items_of(w, xs)
    return tuple_of(tuple([iterator_of(items) for _ in range(_known(w, n, "n of tee()"))]))


def _accumulate(w: Evaluator, xs: Any, function: Any = operator.add, *, initial: Any = None) -> Any:
    if initial is None and is_generator(w, xs):
        return w.call(walked.accumulated, xs, function)
    items = list(items_of(w, xs))
    if initial is not None:
        items.insert(0, initial)
    totals = items[:1]
    for item in items[1:]:
        totals.append(w.call(function, totals[-1], item))
    return iterator_of(totals)


def _starmap(w: Evaluator, function: Any, rows: Any) -> Any:
    return iterator_of([w.call(function, *items_of(w, row)) for row in items_of(w, rows)])


def _arranged(function: Any) -> Rule:
    """A function of itertools that arranges items without looking at them: Python runs it."""

    def rule(w: Evaluator, *args: Any, **keywords: Any) -> Any:
        opened = []
        for place, arg in enumerate(args):
            is_number = place and isinstance(arg, int)
            opened.append(arg if is_number else items_of(w, arg))
        rows = function(*opened, **keywords)
        return bounded(w, (tuple_of(row) if isinstance(row, tuple) else row for row in rows))

    return rule


_RULES: Final[dict[Any, Rule]] = {
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
ITERTOOLS_RULES: Final = {function: followed(rule) for function, rule in _RULES.items()}
