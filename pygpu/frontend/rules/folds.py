"""What folds a sequence of values that are not known: sums, extremes, orders, any and all.

Sequences too long to be unrolled are folded by the functions of
frontend/walked/library.py, which are walked.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Final

from pygpu import glsl
from pygpu.core.host.later import later
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.numbers.arithmetic import elementwise
from pygpu.frontend.numbers.numbers import as_value, dynamic
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols import operators
from pygpu.frontend.protocols.sequences import (
    in_turn,
    indexed,
    is_shared,
    items_of,
    items_or_maybe,
    put_off,
)
from pygpu.frontend.values.evaluator import Evaluator, Rule
from pygpu.frontend.values.faults import said_by
from pygpu.frontend.values.kinds import is_complex, scalar_kind
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.lazy import Bounded, Indexed, Masked
from pygpu.frontend.values.objects import Iterator, List, Vector
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Maybe,
    NotKnown,
    Tuple,
    if_there,
    is_there,
)
from pygpu.frontend.walked import asked
from pygpu.types import vector

with later():
    from pygpu.frontend.collections import bounded as lists
    from pygpu.frontend.collections import members, moving, words
    from pygpu.frontend.joins import choosing, origins
    from pygpu.frontend.protocols import comparisons, lookups, selections
    from pygpu.frontend.rules import ordering
    from pygpu.frontend.walked import library


def _any_all(code: str) -> Rule:
    """any and all: of a BVec's components, or of the truths of a sequence's items."""

    def rule(w: Evaluator, xs: Any) -> Any:
        type = vector_type(xs)
        if isinstance(xs, Vector) and type is not None:
            contents = w.read(xs)
            if not isinstance(contents, tuple):
                test = as_value(w, contents, vector("bool", type.size))
                return dynamic(w, code, test)
        xs = _listed(w, xs)
        if isinstance(xs, Iterator) and (put_off(w, xs) or is_shared(w, xs)):
            in_turn_of = library.any_in_turn if code == "any" else library.all_in_turn
            return w.call(in_turn_of, xs)
        lazy = indexed(w, xs)
        if lazy is not None:
            of = library.any_of if code == "any" else library.all_of
            of_groups = library.any_of_groups if code == "any" else library.all_of_groups
            return w.call(of_groups if lazy.grouped else of, lazy.ungrouped())
        combine = arithmetic.either if code == "any" else arithmetic.both
        result: Any = code == "all"
        for item in items_or_maybe(w, xs):
            result = combine(w, result, _truth_of(w, item, absent=code == "all"))
            if not isinstance(result, Abstract) and bool(result) == (code == "any"):
                break
        return result

    return rule


def _truth_of(w: Evaluator, item: Any, absent: bool) -> Any:
    """The truth of an item; `absent` where it is not there."""
    if not isinstance(item, Maybe):
        return w.truth(item)
    return lookups.choose(w, item.taken, w.truth(item.value), absent)


# ---------------------------------------------------------------- folding sequences


def _listed(w: Evaluator, xs: Any) -> Any:
    """What is folded, a set whose members only the device knows as a list."""
    return members.as_list(w, xs) if lists.has_no_order(w, xs) else xs


def _sum(w: Evaluator, xs: Any, start: Any = 0) -> Any:
    if in_turn(w, xs):
        return w.call(library.sum_of, xs, start)
    lazy = indexed(w, xs)
    if lazy is not None:
        start = _widened(w, lazy, start)
        of = library.sum_of_groups if lazy.grouped else library.sum_of
        return w.call(of, lazy.ungrouped(), start)
    total = start
    items = items_or_maybe(w, _listed(w, xs))
    for item in map(if_there, items):
        # the first 0 + x is +x: it would only hide that x is known or a vector
        first = total is start and scalar_kind(start) and not isinstance(start, Abstract)
        total = (
            operators.unary(w, "+", item)
            if first and start == 0 and _is_number(item)
            else operators.binary(w, "+", total, item)
        )
    sure = [item for item in items if not isinstance(item, Maybe)]
    if len(sure) == len(items) or any(origins.is_float(w, item) for item in (start, *sure)):
        return total
    return origins.or_nothing(w, total, start)


def _widened(w: Evaluator, lazy: Indexed, start: Any) -> Any:
    """A number as the vector that it is after the first addition: a loop carries one type."""
    if not scalar_kind(start):
        return start
    with w.attempt():  # it is made to be looked at, and never kept
        first = _first(w, lazy)
    if isinstance(first, Vector):
        return operators.binary(w, "+", start, choosing.zero_of(first))
    if is_complex(first):
        return complex(start) if not isinstance(start, Abstract) else w.call(complex, start)
    return start


def _first(w: Evaluator, lazy: Indexed) -> Any:
    """The first element, of the first group where they are grouped."""
    first: Any = lazy
    while isinstance(first, Indexed):
        first = if_there(first.element(0))
        if isinstance(first, List):
            held = w.read(first)
            first = held if isinstance(held, Indexed) else held[0] if held else None
    return first


def _is_number(value: Any) -> bool:
    return scalar_kind(value) in ("int", "uint", "float") or bool(
        isinstance(value, Vector) and value.type.kind != "bool"
    )


def _extreme(symbol: str, pick: Any) -> Rule:
    """min or max, which `pick` is, of arguments or of a sequence, with `key` and `default`."""
    code: str = pick.__name__
    beats = operator.gt if symbol == ">" else operator.lt

    def rule(w: Evaluator, *args: Any, key: Any = None, **more: Any) -> Any:
        _check_extreme(code, args, more)
        if len(args) == 1:
            if in_turn(w, args[0]):
                if key is not None and "default" not in more:
                    raise w.error(
                        f"how many items {code}() is given only the device knows, perhaps none: "
                        "with a key it takes a default, as in default=items[0]"
                    )
                if key is not None:
                    return w.call(library.extreme_by_in_turn, beats, args[0], key, more["default"])
                fallback = (more["default"],) if "default" in more else ()
                return w.call(library.extreme_in_turn, beats, args[0], *fallback)
            lazy = indexed(w, args[0])
            if lazy is not None and key is None:
                return _extreme_of_long(w, pick, lazy, **more)
            if lazy is not None and not lazy.grouped:
                return _extreme_by(w, beats, lazy.ungrouped(), key, more)
            xs = args[0] if key is not None else _listed(w, args[0])
            args = items_or_maybe(w, xs)
            if any(isinstance(arg, Maybe) for arg in args):
                with members.presuming(w, xs, args):
                    return _extreme_of_some(w, symbol, args, key, **more)
            if not args:
                if "default" in more:
                    return more["default"]
                raise ValueError(f"{code}() iterable argument is empty")
            known = not any(isinstance(arg, Abstract) for arg in args)
            if key is not None and known and len(args) > _LISTED:
                return _extreme_by(w, beats, args, key, {})
        for value in args if key is None else ():
            if vector_type(value):
                raise w.error(
                    f"the truth of a comparison of vectors is ambiguous in {code}(): "
                    f"use np.{code}imum(v, w), a component at a time"
                )
        if key is None and all(scalar_kind(value) == "bool" for value in args):
            return functools.reduce(lambda a, b: ordering.extreme_bool(w, code, a, b), args)
        if key is None and all(map(scalar_kind, args)):
            return functools.reduce(lambda a, b: elementwise(w, code, (a, b)), args)
        keys = [w.call(key, value) if key is not None else value for value in args]
        best, best_key = args[0], keys[0]
        for value, its in zip(args[1:], keys[1:], strict=True):
            test = w.truth(comparisons.compare(w, symbol, its, best_key))
            best_key = lookups.choose(w, test, its, best_key)
            best = lookups.choose(w, test, value, best)
        return best

    return rule


def _extreme_of_long(w: Evaluator, pick: Any, lazy: Indexed, **default: Any) -> Any:
    xs = lazy.ungrouped()
    if lazy.grouped:
        first = default.get("default", _first(w, lazy))
        return w.call(library.extreme_of_groups, pick, xs, first, not default)
    if default:
        return w.call(library.extreme_or, pick, xs, default["default"])
    return w.call(library.extreme_of, pick, xs)


_LISTED: Final = 64  # known items that min and max with a key compare one after the other


def _extreme_by(w: Evaluator, beats: Any, xs: Any, key: Any, more: Any) -> Any:
    """The extreme by a key of many items, which a loop of the device finds by where it stands."""
    if "default" in more:
        return w.call(library.extreme_by_or, xs, key, beats, more["default"])
    return w.call(library.extreme_by, xs, key, beats)


_EMPTY: Final = "the sequence is empty"


def _needed(w: Evaluator, found: Any, message: str = _EMPTY, *says: str) -> None:
    """In checked programs, and in a `try`, note where there is no item."""
    if w.faults.checked or w.handled():
        w.check(arithmetic.negate(w, found), ValueError, message, *says)


def _check_extreme(code: str, args: tuple[Any, ...], more: Any) -> None:
    """The TypeErrors of min and max."""
    if not args:
        raise TypeError(f"{code} expected at least 1 argument, got 0")
    for name in more:
        if name != "default":
            raise TypeError(f"{code}() got an unexpected keyword argument '{name}'")
    if more and len(args) > 1:
        raise TypeError(f"Cannot specify a default for {code}() with multiple positional arguments")


def _extreme_of_some(w: Evaluator, symbol: str, items: Any, key: Any, **more: Any) -> Any:
    """The extreme of items that may not be there. Where none is, the default, or some value."""
    found: Any = False
    best = best_key = None
    for item in items:
        value, taken = if_there(item), is_there(item)
        its = w.call(key, value) if key is not None else value
        if found is False:
            best, best_key, found = value, its, taken
            continue
        test = w.truth(comparisons.compare(w, symbol, its, best_key))
        first = arithmetic.either(w, arithmetic.negate(w, found), test)
        test = arithmetic.both(w, taken, first)
        best, best_key = (
            lookups.choose(w, test, value, best),
            lookups.choose(w, test, its, best_key),
        )
        found = arithmetic.either(w, found, taken)
    if "default" in more:
        return lookups.choose(w, found, best, more["default"])
    _needed(w, found, _EMPTY, said_by(min if symbol == "<" else max, ()))
    return best


def _sorted(w: Evaluator, xs: Any, *, key: Any = None, reverse: Any = False) -> Any:
    whole = xs if key is not None else _listed(w, xs)
    xs = whole if isinstance(whole, List) else w.call(list, whole)
    some = lists.in_slots(w, xs)
    held = () if key is not None else w.read(xs) if some is None else some.items
    ranks = words.ranked(w, held) if type(held) is tuple and Choice in map(type, held) else None
    if ranks is not None:
        return _sorted_words(w, *ranks, some, bool(reverse))
    if some is not None:
        with members.presuming(w, whole, some.items):
            keys = [w.call(key, item) for item in some.items] if key is not None else some.items

        def sort(items: Any, keys: Any, there: Any) -> Any:
            some, by = list(items), list(keys)[: len(items)]
            are_many = len(some) > _FEW and all(map(_is_of_numbers, by))
            by_keys = _network_sort if are_many else _insertion_sort
            return by_keys(w, some, some if key is None else by, bool(reverse), there)

        return List(lists.ordered(w, some, keys, bool(reverse), sort))
    items = list(items_of(w, xs))
    keys = [w.call(key, item) if key is not None else item for item in items]
    try:
        known = [concrete(w, its) for its in keys]
    except NotKnown:
        pass
    else:
        w.environment.dependencies.add(*known)
        order = sorted(range(len(items)), key=known.__getitem__, reverse=bool(reverse))
        return List(tuple([items[place] for place in order]))
    if key is None and all(map(scalar_kind, items)):
        ordered = ordering.sort_network(w, items)
        return List(tuple(reversed(ordered) if reverse else ordered))
    if len(items) > _FEW and all(map(_is_of_numbers, keys)):
        keys = items if key is None else keys
        return List(tuple(_network_sort(w, items, keys, bool(reverse))))
    return List(tuple(_insertion_sort(w, items, keys, bool(reverse))))


def _sorted_words(
    w: Evaluator, ranks: list[Any], order: tuple[str, ...], some: Any, reverse: bool
) -> List:
    """Strings, each known or a choice of known ones, put in order by their places in all."""
    held = List(tuple(ranks))
    if some is not None:
        held = List(Bounded(tuple(ranks), some.length, some.least, some.most))
    made = w.read(w.call(sorted, held, reverse=reverse))
    places = made.items if isinstance(made, Bounded) else made
    found = tuple([words.word(place, order) for place in places])
    if isinstance(made, Bounded):
        return List(Bounded(found, made.length, made.least, made.most))
    return List(found)


_FEW: Final = 8  # items of which an insertion sort compares no more than a network that is stable


def _is_of_numbers(key: Any) -> bool:
    is_tuple = isinstance(key, (Tuple, tuple))
    return all(map(scalar_kind, key.items if type(key) is Tuple else key if is_tuple else [key]))


def _network_sort(
    w: Evaluator, items: list[Any], keys: list[Any], reverse: bool, there: Any = None
) -> list[Any]:
    """Sort many by keys that are numbers or tuples of these. Of equal ones that is first which was,
    where keys are not the items. Items that are not `there`, which are the last ones, stay last."""
    symbol, stable = ">" if reverse else "<", keys is not items
    rows = [
        (key, there is None or there[at], *((at, item) if stable else ()))
        for at, (key, item) in enumerate(zip(keys, items, strict=False))
    ]
    for i, j in ordering.comparators(len(rows)):
        low, high = rows[i], rows[j]
        test = w.truth(comparisons.compare(w, symbol, high[0], low[0]))
        if stable:
            is_same = w.truth(comparisons.compare(w, "==", high[0], low[0]))
            is_before = comparisons.compare(w, "<", high[2], low[2])
            test = arithmetic.either(w, test, arithmetic.both(w, is_same, is_before))
        test = arithmetic.either(w, test, arithmetic.negate(w, low[1]))
        test = arithmetic.both(w, high[1], test)
        pairs = list(zip(low, high, strict=True))
        rows[i] = tuple([lookups.choose(w, test, b, a) for a, b in pairs])
        rows[j] = tuple([lookups.choose(w, test, a, b) for a, b in pairs])
    return [row[3 if stable else 0] for row in rows]


def _insertion_sort(
    w: Evaluator, items: list[Any], keys: list[Any], reverse: bool, there: Any = None
) -> list[Any]:
    """Sort by keys that are computed; equal ones stay in order. Items that are not `there`, which
    are the last ones, stay where they are."""
    symbol = ">" if reverse else "<"
    pairs = list(zip(keys[: len(items)], items, strict=True))
    for end in range(1, len(pairs)):
        for place in range(end, 0, -1):
            (first_key, first), (second_key, second) = pairs[place - 1], pairs[place]
            test = w.truth(comparisons.compare(w, symbol, second_key, first_key))
            if there is not None:
                test = arithmetic.both(w, there[end], test)
            pairs[place - 1] = (
                lookups.choose(w, test, second_key, first_key),
                lookups.choose(w, test, second, first),
            )
            pairs[place] = (
                lookups.choose(w, test, first_key, second_key),
                lookups.choose(w, test, first, second),
            )
    return [item for _, item in pairs]


def _reduce(w: Evaluator, function: Any, xs: Any, *initial: Any) -> Any:
    if initial and in_turn(w, xs):
        return w.call(library.reduce_of, function, xs, initial[0])
    lazy = indexed(w, xs)
    if lazy is not None:
        if not initial:
            raise w.error("functools.reduce over a long sequence takes an initial value")
        of = library.reduce_of_groups if lazy.grouped else library.reduce_of
        return w.call(of, function, lazy.ungrouped(), initial[0])
    items = [*initial, *items_or_maybe(w, xs)]
    if not items:
        raise TypeError(_OF_NOTHING)
    total, begun = if_there(items[0]), is_there(items[0])
    for item in items[1:]:
        value = if_there(item)
        counted = lookups.choose(w, begun, w.call(function, total, value), value)
        total = lookups.choose(w, is_there(item), counted, total)
        begun = arithmetic.either(w, begun, is_there(item))
    w.check(arithmetic.negate(w, begun), TypeError, _OF_NOTHING)
    return total


_OF_NOTHING: Final = "reduce() of empty iterable with no initial value"


def _holds(w: Evaluator, found: Any, error: Any, message: Any) -> None:
    if not isinstance(found, Abstract) and not found and not w.conditions:
        raise error(message)
    w.check(arithmetic.negate(w, found), error, message)


def _refuse(w: Evaluator, what: Any, instead: Any) -> Any:
    raise w.error(f"{what} has no meaning on dynamic values: {instead} has")


FOLD_RULES: Final[dict[Any, Rule]] = {
    asked.refuse: _refuse,
    asked.needed: _needed,
    asked.holds: _holds,
    asked.fits: lambda w, holds, say: moving.overflow(w, arithmetic.negate(w, holds), say),
    asked.slots: lambda w, a: Tuple(selections.slots(w, a)),
    asked.packed: lambda w, a: Tuple(selections.packed(w, a)),
    asked.first: lambda w, items, count: selections.first(w, items, count),
    asked.selection: lambda w, items, tests: Masked(w.items(items), w.items(tests)),
    asked.alike: lambda w, items, a: Masked(w.items(items), a.tests, a.length),
    asked.there: lambda w, item: is_there(item),
    asked.value: lambda w, item: if_there(item),
    math.prod: lambda w, xs, *, start=1: _reduce(w, operator.mul, _listed(w, xs), start),
    math.fsum: lambda w, xs: _sum(w, w.call(map, float, xs), 0.0),
    any: _any_all("any"),
    all: _any_all("all"),
    glsl.any: _any_all("any"),
    glsl.all: _any_all("all"),
    sum: _sum,
    min: _extreme("<", min),
    max: _extreme(">", max),
    sorted: _sorted,
    functools.reduce: _reduce,
}
