"""What makes containers whose items are not known, and walks them: range, list, dict, iter, next.

A range of dynamic length is an `Indexed`, whose elements are made by index; a short one of known
length from a dynamic start is a `Range`.
"""

from __future__ import annotations

import array
import collections
import contextlib
import heapq
import queue
import struct
from typing import Any, Final

from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import datamodel, followers, operators
from pygpu.frontend.protocols.sequences import (
    advance_iterator,
    in_turn,
    indexed,
    is_generator,
    is_shared,
    items_of,
    items_or_maybe,
    iterate,
    maybe_next,
    told_apart,
)
from pygpu.frontend.rules.taking import when_asked
from pygpu.frontend.rules.walked_calls import later_from
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Bounded, Growing, Indexed, Span, difference
from pygpu.frontend.values.objects import Dict, Iterator, List, Set, Yielded
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Dynamic,
    Natural,
    NotKnown,
    Range,
    describe,
    if_there,
    is_there,
    tuple_of,
)
from pygpu.frontend.values.views import LISTS

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import moving
    from pygpu.frontend.numbers import integers
    from pygpu.frontend.protocols import comparisons, indexing, lookups
    from pygpu.frontend.walked import containers, iterators, library, modules, special, written

FEW: Final = 32  # items of a range of known length, which are told apart


def _range(w: Evaluator, *bounds: Any) -> Any:
    bounds = tuple([lookups.place_of(w, bound) for bound in bounds])
    try:
        return range(*[concrete(w, bound) for bound in bounds])
    except NotKnown:
        pass
    bounds = tuple([integers.as_index(w, bound) for bound in bounds])
    for bound in bounds:
        if scalar_kind(bound) not in ("int", "bool", "uint"):
            raise w.error(f"range() takes integers, got {describe(bound)}")
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    span = operators.binary(w, "-", stop, start)
    if isinstance(step, Abstract):
        none = comparisons.compare(w, "==", step, 0)
        w.check(none, ValueError, "range() arg 3 must not be zero")
        up = comparisons.compare(w, ">", step, 0)
        one = arithmetic.select(w, up, 1, -1)
        span = operators.binary(w, "+", span, operators.binary(w, "-", step, one))
    elif step not in (1, -1):
        span = operators.binary(w, "+", span, step - (1 if step > 0 else -1))
    by_one = not isinstance(step, Abstract) and step == 1
    length = span if by_one else operators.binary(w, "//", span, step)

    def element(index: Any, start: Any, stop: Any, step: Any) -> Any:
        scaled = index if by_one else operators.binary(w, "*", index, step)
        place = operators.binary(w, "+", start, scaled)
        upwards = not isinstance(step, Abstract) and step > 0 and ranges.is_natural(w, start)
        if type(place) is Dynamic:
            origins.as_class(w, place, int)
        return Natural(place.value) if upwards and type(place) is Dynamic else place

    count = _count(start, stop, step)
    if count is not None and count <= FEW:
        items = tuple([element(index, start, stop, step) for index in range(count)])
        return Range(items, step) if items else range(0)
    return Span(length, element, "a range of dynamic length", (start, stop, step))


def _count(start: Any, stop: Any, step: Any) -> int | None:
    """How many items a range has whose ends lie a known number apart: range(x - 1, x + 2)."""
    ends = scalar_kind(start) == scalar_kind(stop) == "int"
    if not ends or isinstance(step, Abstract) or not step:
        return None
    if not isinstance(start, Dynamic) or not isinstance(stop, Dynamic):
        return None
    width = difference(start.value, stop.value)
    return None if width is None else len(range(0, width, step))


def _list(w: Evaluator, xs: Any = ()) -> Any:
    held = w.heap.as_it_stands(xs) if type(xs) in LISTS else None
    if isinstance(held, (Bounded, Growing)):
        return List(held)
    lazy = None if in_turn(w, xs) else indexed(w, xs)
    if lazy is not None:
        return List(lazy)
    return List(lists.collected(w, items_or_maybe(w, xs)))


def _tuple(w: Evaluator, xs: Any = ()) -> Any:
    if in_turn(w, xs):
        raise w.error("a tuple has a known length: make a list, as in list(xs)")
    return tuple_of(items_of(w, xs))


def _dict(w: Evaluator, pairs: Any = (), **named: Any) -> Any:
    if isinstance(pairs, Iterator):
        made = w.call(library.dict_of, pairs)
        pairs = ()
    else:
        made = Dict({})
    if pairs != () or named:
        w.call(w.method(made, "update"), pairs, **named)
    return made


def _from_keys(w: Evaluator, keys: Any, value: Any = None) -> Any:
    made = Dict({})
    for key in items_of(w, keys):
        indexing.set_item(w, made, key, value)
    return made


def _set(w: Evaluator, xs: Any = ()) -> Any:
    if isinstance(xs, Set):
        return Set(w.read(xs))
    made = Set(())
    w.call(w.method(made, "update"), xs)
    return made


def _reversed(w: Evaluator, xs: Any) -> Any:
    method = datamodel.find_method(w, xs, "__reversed__")
    if method is not None:
        return w.call(method)
    xs = w.call(w.method(xs, "keys")) if isinstance(xs, Dict) else lists.listed(w, xs)
    lists.fill(w, xs, unplaced=True)
    lazy = told_apart(w, indexed(w, xs))
    if lazy is not None:

        def element(index: Any, lazy: Indexed) -> Any:
            last = operators.binary(w, "-", lazy.length, 1)
            return lazy.element(operators.binary(w, "-", last, index))

        return iterate(w, Indexed(lazy.length, element, f"the reverse of {lazy.what}", (lazy,)))
    some = lists.bounded(w, xs)
    if some is not None:
        return iterate(w, List(moving.reversed_of(w, some)))
    made = Iterator((tuple(items_of(w, xs)[::-1]), 0))
    if isinstance(xs, List):
        w.heap.follow(made, {xs}, *followers.from_end(w, xs))
    return made


def _iter(w: Evaluator, xs: Any, *sentinel: Any) -> Any:
    if sentinel:
        return w.call(iterators.called_until, xs, *sentinel)
    return iterate(w, xs)


def _next(w: Evaluator, iterator: Any, *default: Any) -> Any:
    method = datamodel.find_method(w, iterator, "__next__")
    if method is not None:
        return w.call(iterators.next_or, method, *default) if default else w.call(method)
    if not isinstance(iterator, Iterator):
        return NotImplemented
    if maybe_next(w, iterator):
        return _next_of_some(w, iterator, *default)
    if is_generator(w, iterator):
        return _next_of(w, iterator, *default)
    source = w.read(iterator)[0]
    if isinstance(source, Indexed) and source.filtered and not source.grouped:
        if is_shared(w, iterator):
            raise w.error(f"{source.what} is asked by next() once, where it has no name")
        return w.call(library.next_of, indexed(w, iterator).ungrouped(), *default)
    if isinstance(source, Indexed) and default:
        return _next_or(w, iterator, *default)
    try:
        return advance_iterator(w, iterator)
    except StopIteration:
        if default:
            return default[0]
        raise


def _next_or(w: Evaluator, iterator: Iterator, default: Any) -> Any:
    """The next item of a sequence of which only the device may know where it ends."""
    source, index = w.read(iterator)
    inside = w.compare("<", index, source.length)
    if inside is False:
        return default
    later = w.binary("+", index, 1)
    w.write(iterator, (source, later if inside is True else w.choose(inside, later, index)))
    item = source.element(index)
    return item if inside is True else w.choose(inside, item, default)


def _next_of(w: Evaluator, iterator: Iterator, *default: Any) -> Any:
    """The next item of a generator, or the default. Where only the device knows whether there is
    one, a loop looks for it: nothing can be taken after that."""
    try:
        with w.attempt() as trial:
            return trial.made(lambda: advance_iterator(w, iterator))
    except StopIteration:
        if not default:
            raise
        return default[0]
    except CompileError:
        return w.call(library.next_of, iterator, *default)


def _next_of_some(w: Evaluator, iterator: Iterator, *default: Any) -> Any:
    """The first item that is there; those after it are left."""
    found: Any = False
    items = items_or_maybe(w, iterator)
    pairs = [(is_there(x), if_there(x)) for x in items]
    later = []
    for test, _ in pairs:
        later.append(arithmetic.both(w, test, found))
        found = arithmetic.either(w, test, found)
    if not default:
        w.check(arithmetic.negate(w, found), StopIteration, "")
    first = default[0] if default else pairs[-1][1]
    for test, value in reversed(pairs):
        first = lookups.choose(w, test, value, first)
    w.write(iterator, (Yielded(lists.there(w, later, [value for _, value in pairs])), 0))
    return first


def _bytes(w: Evaluator, *given: Any) -> Any:
    try:
        return w.native(bytes, given, {})
    except NotKnown:
        return w.call(written.Bytes, *given)


def _len(w: Evaluator, xs: Any) -> Any:
    return w.call(library.length_of, xs) if type(xs) is Choice else indexing.length(w, xs)


_QUEUES: Final = "Queue SimpleQueue LifoQueue PriorityQueue"
_OF_STRUCTS: Final = "pack unpack pack_into unpack_from iter_unpack"
_OF_HEAPS: Final = "heappush heappop heapreplace heappushpop heapify nsmallest nlargest"


def _merge(w: Evaluator, *iterables: Any, **keywords: Any) -> Any:
    merged = w.call(modules.merge, *iterables, **keywords)
    items = w.read(merged)
    return Iterator((items, 0)) if isinstance(items, tuple) else iterate(w, merged)


STRUCTURE_RULES: Final[dict[Any, Rule]] = {
    bytes: _bytes,
    bytearray: later_from(written, "ByteArray"),
    array.array: later_from(written, "TypedArray"),
    int.from_bytes: later_from(special, "from_bytes"),
    **{getattr(queue, name): later_from(modules, name) for name in _QUEUES.split()},
    **{getattr(struct, name): later_from(modules, name) for name in _OF_STRUCTS.split()},
    collections.deque: later_from(containers, "Deque"),
    collections.defaultdict: later_from(containers, "DefaultDict"),
    collections.OrderedDict: later_from(containers, "OrderedDict"),
    collections.Counter: later_from(containers, "Counter"),
    contextlib.ExitStack: later_from(library, "ExitStack"),
    **{getattr(heapq, name): later_from(modules, name) for name in _OF_HEAPS.split()},
    heapq.merge: when_asked(_merge, "merged"),
    range: _range,
    len: _len,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    dict.fromkeys: _from_keys,
    set: _set,
    frozenset: _set,
    reversed: _reversed,
    iter: _iter,
    next: _next,
}
