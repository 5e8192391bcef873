"""Comparisons, truth and `in`, for every kind of value."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.numbers import arithmetic, flags
from pygpu.frontend.numbers.operands import vector_type
from pygpu.frontend.protocols.arrays import beside, each
from pygpu.frontend.protocols.datamodel import class_of, find_method, user_method
from pygpu.frontend.protocols.sequences import held_by, is_shared, items_or_maybe
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Complex, flag_class, is_of_users, scalar_kind
from pygpu.frontend.values.known import concrete, key_of
from pygpu.frontend.values.lazy import Bounded, Cut, Indexed, Span, lifted
from pygpu.frontend.values.objects import (
    EITHER,
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Matrix,
    Object,
    Set,
    Vector,
)
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Maybe,
    NotKnown,
    Picture,
    Tuple,
    describe,
    if_there,
)
from pygpu.frontend.values.views import Values
from pygpu.types import BOOL

with later():
    from pygpu.frontend.collections import bounded, members, words
    from pygpu.frontend.numbers import complex_numbers
    from pygpu.frontend.protocols import lookups, sets
    from pygpu.frontend.walked import library


def truth(w: Evaluator, value: Any) -> Any:
    """bool(value): a known bool, or a Dynamic one."""
    if not isinstance(value, Abstract):
        w.environment.dependencies.add(value)
        return bool(value)
    match value:
        case Dynamic():
            if value.type is BOOL:
                return value
            return arithmetic.compare(w, "!=", value, 0)
        case Vector():
            raise w.error(
                f"the truth of {describe(value)} is ambiguous: use all(v == w) or any(...), "
                "np.maximum and np.minimum for max and min"
            )
        case Array():
            if w.read(value).size == 1:
                return truth(w, w.read(value).reshape(-1)[0])
            raise w.error("the truth of an array is ambiguous: use np.all or np.any")
        case Conflict():
            raise w.error(value.message)
        case Picture():
            raise w.error(
                f"{describe(value)} has no truth: call it with a position, as in im(p) > 0.5"
            )
        case Instance() | Tuple() | Raised():
            method = find_method(w, value, "__bool__")
            if method is not None:
                return truth(w, w.call(method))
            if isinstance(value, (Instance, Raised)) and find_method(w, value, "__len__") is None:
                return True
            return truth(w, w.length(value))
        case Matrix():
            raise w.error(f"the truth of {describe(value)} is ambiguous")
        case List() | Dict() | Set() | Indexed():
            return truth(w, w.length(value))
        case Complex():
            return complex_numbers.truth(w, value)
        case Maybe():
            return arithmetic.both(w, value.taken, truth(w, value.value))
    return True


_SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


COMPARISONS: Final = {
    "<": "__lt__",
    "<=": "__le__",
    "==": "__eq__",
    "!=": "__ne__",
    ">": "__gt__",
    ">=": "__ge__",
}


def compare(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a < b and the like, for any values."""
    if a.__class__ is Choice or b.__class__ is Choice:
        return _compare_options(w, symbol, a, b)
    plain = (a.__class__ is Dynamic or b.__class__ is Dynamic) and scalar_kind(a) and scalar_kind(b)
    if plain and not (is_of_users(a) or is_of_users(b)):  # what most are
        result = complex_numbers.compare_size(w, symbol, a, b)
        if result is NotImplemented:
            result = arithmetic.compare(w, symbol, a, b)
        return flags.compared(w, result, a, b)
    a, b = beside(w, a, b)
    if isinstance(a, Cut) or isinstance(b, Cut):
        a, b = bounded.listed(w, a), bounded.listed(w, b)
    selected = lifted(lambda x, y: compare(w, symbol, x, y), (a, b))
    if selected is not NotImplemented:
        return selected
    w.environment.dependencies.add(a, b)
    if vector_type(a) or vector_type(b):  # which may be of classes of the user's
        answer = _by_methods(w, symbol, a, b)
        if answer is not NotImplemented:
            return answer
    for rule in (complex_numbers.compare_size, arithmetic.compare, complex_numbers.compare):
        result = rule(w, symbol, a, b)
        if result is not NotImplemented:
            return flags.compared(w, result, a, b)
    kinds = (type(a), type(b))
    if symbol in ("==", "!=") and Matrix in kinds and Instance not in kinds:
        same = w.call(np.array_equal, a, b)
        return same if symbol == "==" else arithmetic.negate(w, same)
    if any(isinstance(value, (Array, np.ndarray)) for value in (a, b)):
        return each(w, a, b, lambda x, y: compare(w, symbol, x, y))
    answer = _by_methods(w, symbol, a, b)
    if answer is not NotImplemented:
        return answer
    sequences = ((Tuple, tuple), (List, list))
    for pair in sequences:
        if isinstance(a, pair) and isinstance(b, pair):
            if symbol in ("==", "!=") and any(bounded.in_slots(w, xs) is not None for xs in (a, b)):
                same = w.call(library.same_items, a, b)
                return same if symbol == "==" else arithmetic.negate(w, same)
            return _compare_sequences(w, symbol, held_by(w, a), held_by(w, b))
    result = _compare_by_identity(w, symbol, a, b)
    if result is not NotImplemented:
        return result
    try:
        return arithmetic.python_operator(symbol)(concrete(w, a), concrete(w, b))
    except NotKnown:
        pass
    same = _same(w, a, b) if symbol in ("==", "!=") else NotImplemented
    if same is not NotImplemented:
        return same if symbol == "==" else arithmetic.negate(w, same)
    for value in (a, b):
        if isinstance(value, Picture):
            raise w.error(
                f"{describe(value)} cannot be compared: its pixels can, as in im(p) {symbol} 0.5"
            )
    if symbol in ("==", "!="):
        return (a is b) == (symbol == "==")
    raise TypeError(f"'{symbol}' not supported between {describe(a)} and {describe(b)}")


def _by_methods(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """The comparison by methods of users' classes, a subclass's first, and of values of dicts, each
    equal to itself; NotImplemented where none answers."""
    if type(a) is Values or type(b) is Values:
        if symbol in ("==", "!="):
            return (a is b) == (symbol == "==")
        raise TypeError(f"'{symbol}' not supported between {describe(a)} and {describe(b)}")
    left, right = class_of(a), class_of(b)
    tries = [(a, symbol, b), (b, _SWAPPED[symbol], a)]
    if left is not right and issubclass(right, left):
        tries.reverse()
    for value, sign, other in tries:
        method = user_method(w, value, COMPARISONS[sign])
        if method is None and isinstance(value, (Tuple, tuple)):
            if isinstance(other, (Tuple, tuple)):
                return NotImplemented  # a tuple's own comparison answers
            continue
        if method is None and sign == "!=":
            method = user_method(w, value, "__eq__")
            if method is not None:
                equal = w.call(method, value, other)
                if equal is not NotImplemented:
                    return arithmetic.negate(w, equal)
                continue
        if method is not None:
            answer = w.call(method, value, other)
            if answer is not NotImplemented:
                return answer
    return NotImplemented


def _compare_options(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """A comparison of whichever options choices are."""
    in_order = words.numbered if symbol in ("==", "!=") else words.ranked
    found = in_order(w, (a, b))
    if found is not None:
        return arithmetic.compare(w, symbol, *found[0])
    choice = a if a.__class__ is Choice else b
    left = w.state.facts.get(choice.which.value, range(len(choice.options)))
    made: Any = None
    for number in sorted(left):
        option = choice.options[number]
        own = compare(w, symbol, option, b) if choice is a else compare(w, symbol, a, option)
        is_it = arithmetic.compare(w, "==", choice.which, number)
        made = own if made is None else w.choose(is_it, own, made)
    return made


_BY_IDENTITY: Final = (Instance, Bound, Function, Iterator)  # where their classes do not say


def _compare_by_identity(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """Comparisons of objects by identity, and of sets of such; NotImplemented of others."""
    if symbol in ("==", "!=") and (isinstance(a, _BY_IDENTITY) or isinstance(b, _BY_IDENTITY)):
        same = _is_one(w, a, b)
        return same if symbol == "==" else arithmetic.negate(w, same)
    is_set = isinstance(a, Set) or isinstance(b, Set)
    return sets.compared(w, symbol, a, b) if is_set else NotImplemented


def _is_one(w: Evaluator, a: Any, b: Any) -> Any:
    """Whether two are one object, where each may be one of several."""
    if isinstance(a, Bound) and isinstance(b, Bound):
        same = len(a.args) == len(b.args) and a.keywords == b.keywords == {}
        found: Any = same and _is_one(w, a.function, b.function)
        for x, y in zip(a.args, b.args, strict=True) if found else ():
            found = arithmetic.both(w, found, _is_one(w, x, y))
        return found
    found = a is b
    if found or class_of(a) is not class_of(b):
        return found
    for is_x, x in _each_that_it_may_be(w, a):
        for is_y, y in _each_that_it_may_be(w, b):
            if x is y:
                found = arithmetic.either(w, found, arithmetic.both(w, is_x, is_y))
    return found


def _each_that_it_may_be(w: Evaluator, value: Any) -> list[tuple[Any, Any]]:
    """The objects that one may be, each with the test that says so."""
    if not isinstance(value, Object) or value.outside != EITHER:
        return [(True, value)]
    several = w.peek(value.either) if value.either is not None else None
    if not isinstance(several, Choice):
        raise w.error(f"which of two objects {describe(value)} is depends on a dynamic value")
    numbered = enumerate(several.options)
    return [(arithmetic.compare(w, "==", several.which, i), option) for i, option in numbered]


def _same(w: Evaluator, a: Any, b: Any) -> Any:
    """Whether two dicts or two ranges are equal; NotImplemented of others."""
    if isinstance(a, (Dict, dict)) and isinstance(b, (Dict, dict)):
        return _same_dicts(w, a, b)
    if isinstance(a, (Span, range)) and isinstance(b, (Span, range)):
        return _same_ranges(w, a, b)
    return NotImplemented


def _same_dicts(w: Evaluator, a: Any, b: Any) -> Any:
    """Whether two dicts have equal values of the same keys."""
    if members.members(w, a) is not None or members.members(w, b) is not None:
        return sets.same_entries(w, a, b)
    a, b = [w.read(x) if isinstance(x, Dict) else x for x in (a, b)]
    same: Any = a.keys() == b.keys()
    for key in a if same else ():
        same = arithmetic.both(w, same, same_items(w, a[key], b[key]))
    return same


def same_items(w: Evaluator, x: Any, y: Any) -> Any:
    """Whether containers take two items for equal: as one object, or by the truth of x == y."""
    return True if x is y else flags.counted(w.truth(compare(w, "==", x, y)))


def _compare_sequences(w: Evaluator, symbol: str, a: tuple[Any, ...], b: tuple[Any, ...]) -> Any:
    """Tuples and lists: equality item by item, order by the first items that differ."""
    if symbol in ("==", "!="):
        equal: Any = len(a) == len(b)
        if equal:
            for x, y in zip(a, b, strict=True):
                equal = arithmetic.both(w, equal, same_items(w, x, y))
        return equal if symbol == "==" else arithmetic.negate(w, equal)
    result: Any = arithmetic.python_operator(symbol)(len(a), len(b))
    for x, y in reversed(list(zip(a, b, strict=False))):
        equal = same_items(w, x, y)
        first = flags.counted(compare(w, symbol[0], x, y))
        rest = arithmetic.both(w, equal, result)
        result = arithmetic.either(w, first, rest)
    return result


def _same_ranges(w: Evaluator, a: Any, b: Any) -> Any:
    """Whether two ranges have the same items."""
    first, second = [(xs.start, xs.step) if isinstance(xs, range) else xs.of[::2] for xs in (a, b)]
    starts, steps = (compare(w, "==", x, y) for x, y in zip(first, second, strict=True))
    length = w.length(a)
    empty, single = (compare(w, "==", length, count) for count in (0, 1))
    items = arithmetic.both(w, starts, arithmetic.either(w, single, steps))
    alike = compare(w, "==", length, w.length(b))
    return arithmetic.both(w, alike, arithmetic.either(w, empty, items))


def _in_range(w: Evaluator, value: Any, start: Any, stop: Any, step: Any) -> Any:
    """value in range(start, stop, step)"""
    rises = arithmetic.compare(w, ">", step, 0)
    up, down = (
        arithmetic.both(
            w, arithmetic.compare(w, first, start, value), arithmetic.compare(w, last, value, stop)
        )
        for first, last in (("<=", "<"), (">=", ">"))
    )
    offset = arithmetic.binary(w, "-", value, start)
    aligned = arithmetic.compare(w, "==", arithmetic.binary(w, "%", offset, step), 0)
    return arithmetic.both(w, arithmetic.select(w, rises, up, down), aligned)


def contains(w: Evaluator, container: Any, value: Any) -> Any:
    """value in container"""
    w.environment.dependencies.add(value, container)
    if type(container) is Iterator and bounded.has_no_order(w, container):
        container = members.as_list(w, container)
    method = user_method(w, container, "__contains__")
    if method is not None and isinstance(container, Abstract):
        return w.call(method, container, value)
    try:
        if not isinstance(value, Abstract):
            return value in concrete(w, container)
    except NotKnown:
        pass
    cls = flag_class(container)
    if cls and flag_class(value) is cls:
        return compare(w, "==", arithmetic.binary(w, "&", container, value), value)
    if method is not None:
        return w.call(method, container, value)
    if isinstance(container, (Dict, Set)) and isinstance(w.peek(container), Bounded):
        return members.has(w, container, value)
    if isinstance(container, (Dict, dict)):
        try:
            return key_of(w, value) in (
                w.read(container) if isinstance(container, Dict) else container
            )
        except NotKnown:
            return lookups.has_key(w, container, value)
    if isinstance(container, (Set, set, frozenset)) and not isinstance(value, Set):
        members.check_hashable(value)
    if isinstance(container, range) and isinstance(value, Dynamic):
        return _in_range(w, value, container.start, container.stop, container.step)
    if isinstance(container, Span) and scalar_kind(value):
        return _in_range(w, value, *container.of)
    if is_shared(w, container):  # which goes on behind what was found
        return w.call(library.found_in_turn, container, value)
    found: Any = False
    is_tuple = isinstance(container, (Tuple, tuple))
    for taken in held_by(w, container) if is_tuple else items_or_maybe(w, container):
        part = if_there(taken)
        same = True if part is value else compare(w, "==", part, value)
        if isinstance(taken, Maybe):
            same = arithmetic.both(w, taken.taken, truth(w, same))
        if isinstance(same, Vector):
            raise w.error("vectors cannot be looked for with 'in': use all(v == w)")
        if found is False or same is True:
            found = same
        elif same is not False:
            found = arithmetic.binary(w, "|", found, same)
        if found is True:
            return True
    return flags.counted(found)
