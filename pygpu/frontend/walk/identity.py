"""`a is b` of what the program holds, where a name may be one of several objects.

same(w, a, b, inverted=False)    # True, False, or a dynamic bool
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

from pygpu.frontend.flow.choices import is_one_of, is_same, negated, possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.protocols import comparisons, datamodel
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.objects import EITHER, Object
from pygpu.frontend.values.values import Choice, Dynamic, describe
from pygpu.frontend.values.views import several_of, several_or_one


def same(w: ControlFlow, a: Any, b: Any, inverted: bool) -> Any:
    """`a is b`, or `a is not b`."""
    a, b = several_or_one(w, a, b), several_or_one(w, b, a)
    if a is not b and (_has_joined(a) or _has_joined(b)):
        found = _any_the_same(w, a, b)
        return negated(w, found) if inverted else found
    if type(a) is Choice or type(b) is Choice:
        return is_same(w, a, b, inverted)
    if a is not b and scalar_kind(a) and scalar_kind(b) and _is_bool(w, a) and _is_bool(w, b):
        return comparisons.compare(w, "!=" if inverted else "==", a, b)
    return (a is b) != inverted


def _has_joined(value: Any) -> bool:
    """Whether it is, or is one of several of which one is, one of several objects joined to one."""
    options = value.options if type(value) is Choice else (value,)
    return any(isinstance(each, Object) and each.outside == EITHER for each in options)


def _any_the_same(w: ControlFlow, a: Any, b: Any) -> Any:
    found: Any = False
    for (here, one), (there, other) in product(_objects(w, a), _objects(w, b)):
        if one is other:
            found = arithmetic.either(w, found, arithmetic.both(w, here, there))
        else:
            _check(w, one, other)
    return found


def _objects(w: ControlFlow, value: Any, when: Any = True) -> Iterator[tuple[Any, Any]]:
    """What a value may be, and when it is."""
    several = value if type(value) is Choice else several_of(w, value)
    if several is None:
        yield when, value
        return
    left = possible(w, several)
    for number in left:
        here = is_one_of(w, several.which, frozenset((number,)), left)
        yield from _objects(w, several.options[number], arithmetic.both(w, when, here))


def _check(w: ControlFlow, one: Any, other: Any) -> None:
    """An error for two that may be the same object, which cannot be told."""
    unsure = any(getattr(value, "outside", False) == EITHER for value in (one, other))
    if unsure and datamodel.class_of(one) is datamodel.class_of(other):
        raise w.error(f"which of two objects {describe(one)} is depends on a dynamic value")


def _is_bool(w: ControlFlow, value: Any) -> bool:
    if isinstance(value, Dynamic):
        return bool(origins.same_of_all(w, value, lambda cls: cls is bool))
    return isinstance(value, bool)
