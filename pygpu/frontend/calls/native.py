"""Calls that Python executes when a function is compiled, each once with the same arguments."""

from __future__ import annotations

import collections.abc
import io
import types
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pygpu.core.errors import mark_as_theirs
from pygpu.core.host.later import later
from pygpu.frontend.collections.adoption import adopt
from pygpu.frontend.effects import volatile
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.methods import changing
from pygpu.frontend.values.known import Materialiser, again
from pygpu.frontend.values.objects import Iterator, Replay
from pygpu.frontend.values.values import Abstract, NotKnown, kept, same_known

with later():
    from pygpu.frontend.effects import made as made_before
    from pygpu.frontend.rules import classes


def check_kept(w: ControlFlow, owner: Any, name: str) -> None:
    """An error where a method would change something from outside."""
    if not changing.mutates(owner, name):
        return
    if _is_iterator(owner):
        raise w.error(
            f"a {type(owner).__name__} came from outside the function and must not go on (by its "
            f"method {name}): make a list of its items, and an iterator of that"
        )
    raise w.error(kept(owner, f" (by its method {name})"))


def native(
    w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Any:
    """A call that Python executes. NotKnown if an argument has dynamic leaves."""
    made = Materialiser(w)
    if any(isinstance(value, Abstract) for value in (*args, *keywords.values())):
        args = tuple([made.value(value) for value in args])
        keywords = {name: made.value(value) for name, value in keywords.items()}
    owner = getattr(function, "__self__", None)
    if owner is not None:
        check_kept(w, owner, getattr(function, "__name__", ""))
    if w.frames:
        for each in volatile.called(function, args, keywords):
            volatile.warn(w.frame, each, w.environment.still)
    reads = w.environment.dependencies
    if isinstance(owner, dict) and args:  # globals().get("gain")
        reads.add_item(owner, args[0])
    reads.add(function, *args, *keywords.values(), *_items_of(args))
    if made.made:
        result = _run(w, function, args, keywords)
        made.carry_back()
        given = made.given()
        if id(result) in given:
            return given[id(result)]
        return _replayable(result) if _is_iterator(result) else adopt(w, result, given)
    return _once(w, function, args, keywords)


def _run(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """What Python gives. NotKnown if our own classes' code reads a variable that is not known."""
    touched = (getattr(function, "__self__", None), *args, *keywords.values())
    some = w.conditions and w.environment.made
    before = made_before.states(w, touched) if some else []
    try:
        if not w.environment.class_cells and not w.environment.class_parts:
            result = function(*args, **keywords)
            if before:
                made_before.check(w, before, function)
            return result
        with classes.in_python(w) as unknown:
            try:
                return function(*args, **keywords)
            except (NameError, AttributeError):
                if not unknown:
                    raise
                raise NotKnown from None
    except Exception as error:
        mark_as_theirs(error)
        raise
    finally:
        w.environment.dependencies.settle()


def _replayable(iterator: Any) -> Iterator:
    return Iterator((Replay(iterator), 0))


def _items_of(args: tuple[Any, ...]) -> list[Any]:
    """What lists that are given hold, whose methods a function may call: `str(users)`."""
    return [each for arg in args if type(arg) in (list, tuple, set, frozenset) for each in arg]


_COMMON: Final = frozenset(  # what has no state that calls change, or lies outside
    (bool, int, float, str, tuple, list, dict, np.ndarray, type(None), type)
)


def _is_iterator(value: Any) -> bool:
    """Whether a value is taken from, and no more: files are written to as well."""
    return isinstance(value, collections.abc.Iterator) and not isinstance(value, io.IOBase)


def _once(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Call it, unless this site has called it before with the same arguments in an earlier
    attempt at the same loop: then what it gave then. So effects happen once."""
    environment = w.environment
    site = tuple([(frame.code.code, frame.at) for frame in w.frames])
    count = environment.count_call(site)
    seen = environment.memo.setdefault((site, count), [])
    for known_function, known_args, made in seen:
        same = _same_function(known_function, function)
        if same and _same_arguments(known_args, (args, keywords)):
            return again(made)
    result = _run(w, function, args, keywords)
    made = _replayable(result) if _is_iterator(result) else adopt(w, result)
    if type(made) not in _COMMON and not isinstance(made, Abstract):
        made_before.note(w, made)
    seen.append((function, (args, dict(keywords)), again(made)))
    return made


def _same_function(a: Any, b: Any) -> bool:
    """Whether two are one; a method is another object each time that it is read."""
    if type(a) is type(b) and type(a) in (types.BuiltinFunctionType, types.MethodType):
        own = a.__self__ is b.__self__ and a.__name__ == b.__name__
        return own and getattr(a, "__func__", None) is getattr(b, "__func__", None)
    return a is b


def _same_arguments(a: Any, b: Any) -> bool:
    (args, keywords), (others, more) = a, b
    return (
        len(args) == len(others)
        and list(keywords) == list(more)
        and all(map(same_known, args, others))
        and all(same_known(keywords[name], more[name]) for name in more)
    )
