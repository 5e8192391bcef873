"""What functions remember of their calls: functools.cache and lru_cache.

A call with an argument that is the same value as before gives what was given then. Whether two
dynamic numbers are equal only the device knows: there a function runs once more, which nobody sees,
unless it changes something besides; that is an error.

    f(v) + f(v)             # runs once
    f(v) + f(w)             # runs twice; an error if f counts its calls
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pygpu.frontend.values.callables import Builtin, Function
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.known import concrete
from pygpu.frontend.values.objects import Instance, Names, Object, youngest
from pygpu.frontend.values.values import ABSENT, Conflict, Dynamic, NotKnown, Tuple
from pygpu.ssa import Value
from pygpu.types import INT

_ANY: Final = Value(INT)  # the arguments of calls of which it is not known what they were given


def cached(w: Evaluator, function: Any, most: int | None = None, typed: bool = False) -> Builtin:
    """functools.lru_cache(most, typed)(function)"""
    return _remembering(w, function, most, typed, Names({}))


def of_wrapper(w: Evaluator, wrapper: Any) -> Builtin:
    """A function that Python has wrapped so, to be called with what is not known."""
    caches = w.environment.caches
    if wrapper not in caches or caches[wrapper].owner not in w.kept:  # or what made it was undone
        results = Names(ABSENT)  # nobody knows what was called, but on the path that begins here
        w.kept.append(results)
        if all(way is not None for _, _, way in w.conditions):
            w.write(results, {_ANY: None} if wrapper.cache_info().currsize else {})
        given = wrapper.cache_parameters()
        inner = wrapper.__wrapped__
        caches[wrapper] = _remembering(w, inner, given["maxsize"], given["typed"], results)
    made: Builtin = caches[wrapper]
    return made


def _remembering(
    w: Evaluator, function: Any, most: int | None, typed: bool, results: Names
) -> Builtin:
    name = function.name if isinstance(function, Function) else function.__qualname__

    def call(*args: Any, **keywords: Any) -> Any:
        given = (*args, *keywords.items())
        try:
            key: Any = tuple([_same(w, arg) for arg in given])
            key += tuple(map(type, key)) if typed else ()
            hash(key)
        except (NotKnown, TypeError):
            key = Value(INT)
        held = w.peek(results)
        if isinstance(held, dict) and not isinstance(held.get(key), Conflict | None):
            w.write(results, {**{k: v for k, v in held.items() if k != key}, key: held[key]})
            return held[key]
        before, older = dict(w.state.heap), youngest()
        result = w.call(function, *args, **keywords)
        is_first = isinstance(held, dict) and not any(_may_equal(key, other) for other in held)
        if not is_first and most != 0 and _changes(w, before, older):
            raise w.error(
                f"{name}, which remembers its results, changes objects when it runs: whether it "
                "runs for these arguments, or was called with equal ones before, only the device "
                "knows; call it once and keep the result in a variable"
            )
        after = w.peek(results)
        if isinstance(after, dict):
            rest = list(after)[len(after) + 1 - most :] if most is not None else after
            w.write(results, {**{k: after[k] for k in rest}, key: result} if most != 0 else {})
        return result

    return Builtin(name, call, results)


def _same(w: Evaluator, arg: Any) -> Any:
    """What an argument has in common with itself alone, or with what Python holds for equal."""
    if isinstance(arg, Dynamic):
        return arg.value
    if isinstance(arg, Tuple) or type(arg) is tuple:
        return tuple([_same(w, part) for part in arg])
    if isinstance(arg, Instance) and not _is_compared(arg.cls):
        return arg
    return concrete(w, arg)


def _is_compared(cls: type) -> bool:
    return any({"__eq__", "__hash__"} & vars(base).keys() for base in cls.__mro__[:-1])


def _may_equal(key: Any, other: Any) -> bool:
    """Whether two calls may be given equal arguments."""
    if isinstance(key, tuple) and isinstance(other, tuple):
        pairs = zip(key, other, strict=False)
        return len(key) == len(other) and all(_may_equal(*pair) for pair in pairs)
    return isinstance(key, Value) or isinstance(other, Value) or bool(key == other)


def _changes(w: Evaluator, before: Mapping[Object, Any], older: int) -> bool:
    """Whether objects that were there hold something else than they held."""
    return any(
        contents is not before.get(each, each.initial)
        for each, contents in w.state.heap.items()
        if each.serial <= older and type(each) is not Names and each is not w.faults.cell
    )
