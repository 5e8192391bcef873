"""What `itertools` gives. For when items are taken, and when put off, see iterator_calls.py."""

from __future__ import annotations

import itertools
import operator
import sys
from typing import Any, Final

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.protocols import operators
from pygpu.frontend.protocols.sequences import items_of, iterate
from pygpu.frontend.rules.taking import bounded, followed, holds, iterator_of, left_in, when_asked
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Lazy
from pygpu.frontend.values.objects import Iterator, List
from pygpu.frontend.values.values import NotKnown, describe, tuple_of

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import texts
    from pygpu.frontend.walked import iterators as walked


def _known(w: Evaluator, value: Any, what: str) -> Any:
    try:
        return concrete(w, value)
    except NotKnown:
        raise w.error(f"{what} must be known at compile time, got {describe(value)}") from None


def _count(w: Evaluator, start: Any = 0, step: Any = 1) -> Iterator:
    return Iterator((Lazy(_next_number, (start, step), endless=True), 0))


def _next_number(w: Evaluator, index: Any, start: Any, step: Any) -> Any:
    return operators.binary(w, "+", start, operators.binary(w, "*", index, step))


def _cycle(w: Evaluator, xs: Any) -> Iterator:
    items = items_of(w, xs)
    return Iterator((Lazy(_next_in_circle, items, endless=bool(items)), 0))


def _next_in_circle(w: Evaluator, index: Any, *items: Any) -> Any:
    if not items:
        raise StopIteration
    return w.item(tuple_of(items), operators.binary(w, "%", index, len(items)))


def _repeat(w: Evaluator, value: Any, times: Any = None) -> Iterator:
    if times is None:
        return Iterator((Lazy(_next_in_circle, (value,), endless=True), 0))
    return iterator_of([value] * _known(w, times, "how often a value is repeated"))


def _chain(w: Evaluator, *sequences: Any) -> Iterator:
    return iterator_of([item for xs in sequences for item in items_of(w, xs)])


def _islice(w: Evaluator, xs: Any, *bounds: Any) -> Any:
    part = slice(*[_known(w, bound, "a bound of islice()") for bound in bounds])
    left = left_in(w, xs) if isinstance(xs, Iterator) else items_of(w, xs)
    return bounded(w, itertools.islice(left, part.start, part.stop, part.step))


def _while(part: Any) -> Rule:
    """takewhile and dropwhile."""

    def rule(w: Evaluator, function: Any, xs: Any) -> Iterator:
        left = left_in(w, iterate(w, xs))
        return bounded(w, part(lambda x: holds(w, part.__name__, function, x), left))

    return rule


def _groupby(w: Evaluator, xs: Any, key: Any = None) -> Any:
    def known(its: Any) -> Any:
        try:
            return concrete(w, its)
        except NotKnown:
            raise w.error(
                f"the key of a group must be known at compile time, got {describe(its)}: keep a "
                "pair for each group, as in 'if runs and runs[-1][0] == key: runs[-1] = (key, "
                "runs[-1][1] + v)', and 'else: runs.append((key, v))'"
            ) from None

    listed = List(texts.letters(w, xs)) if texts.is_written(xs) else xs
    if isinstance(listed, List):
        lists.fill(w, listed)
        if lists.bounded(w, listed) is not None:
            return w.call(walked.grouped_to_an_end, listed, key)
    with w.attempt() as trial:
        made = _grouped_by_device(w, xs, key)
        if made is not None:
            return trial.keep(made)
    return w.call(walked.grouped, Builtin("key", known), xs, key)


def _grouped_by_device(w: Evaluator, xs: Any, key: Any) -> Any:
    """The groups where only the device knows the keys; None where they are known, or how many items
    there are is not. Of an iterator the first key tells of all."""
    try:
        items = left_in(w, xs) if isinstance(xs, Iterator) else items_of(w, xs)
        few = tuple(itertools.islice(items, 1)) if isinstance(xs, Iterator) else items
        keys = [item if key is None else w.call(key, item) for item in few]
        if all(_is_known(w, its) for its in keys):
            return None
        rest = tuple(left_in(w, xs)) if isinstance(xs, Iterator) else ()
    except CompileError:
        return None
    keys += [item if key is None else w.call(key, item) for item in rest]
    return w.call(walked.grouped_by_device, List((*few, *rest)), List(tuple(keys)))


def _is_known(w: Evaluator, value: Any) -> bool:
    try:
        concrete(w, value)
    except NotKnown:
        return False
    return True


def _accumulate(w: Evaluator, xs: Any, function: Any = None, *, initial: Any = None) -> Iterator:
    function = operator.add if function is None else function
    items = [*([] if initial is None else [initial]), *items_of(w, xs)]
    totals = items[:1]
    for item in items[1:]:
        totals.append(w.call(function, totals[-1], item))
    return iterator_of(totals)


def _starmap(w: Evaluator, function: Any, rows: Any) -> Iterator:
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


# Those that take all items when they are called, as Python's do, or none.
_AT_ONCE: Final[dict[Any, Rule]] = {
    itertools.groupby: _groupby,
    itertools.tee: lambda w, xs, n=2: w.call(walked.copied, xs, _known(w, n, "n of tee()")),
    itertools.count: _count,
    itertools.repeat: _repeat,
    itertools.product: _arranged(itertools.product),
    itertools.combinations: _arranged(itertools.combinations),
    itertools.combinations_with_replacement: _arranged(itertools.combinations_with_replacement),
    itertools.permutations: _arranged(itertools.permutations),
}
# Those that take an item when they are asked for one, each with the generator function that it is.
_WHEN_ASKED: Final[dict[Any, tuple[Rule, str]]] = {
    itertools.cycle: (_cycle, "cycled"),
    itertools.chain: (_chain, "chained"),
    itertools.chain.from_iterable: (lambda w, xs: _chain(w, *items_of(w, xs)), "chained_rows"),
    itertools.islice: (_islice, "sliced"),
    itertools.takewhile: (_while(itertools.takewhile), "taken_while"),
    itertools.dropwhile: (_while(itertools.dropwhile), "dropped_while"),
    itertools.accumulate: (_accumulate, "accumulated"),
    itertools.starmap: (_starmap, "starred"),
    itertools.zip_longest: (_arranged(itertools.zip_longest), "zipped_longest"),
    itertools.pairwise: (_arranged(itertools.pairwise), "paired"),
    itertools.compress: (_arranged(itertools.compress), "compressed"),
}
if sys.version_info >= (3, 12):
    _WHEN_ASKED[itertools.batched] = (_arranged(itertools.batched), "batched")

ITERTOOLS_RULES: Final = {
    **{function: followed(rule) for function, rule in _AT_ONCE.items()},
    **{function: when_asked(rule, name) for function, (rule, name) in _WHEN_ASKED.items()},
}
