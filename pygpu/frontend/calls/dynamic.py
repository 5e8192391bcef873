"""What calls of known callables mean where what they are given is not known.

Such a callable has no rule of its own. A Python function is walked, a compiled one is the function
that it was made of, a method of a container from outside is that of a copy, and what has no meaning
on a device is refused.
"""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import functools
import gc
import itertools
import operator
import random
import re
import sys
import types
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.calls.native import check_kept
from pygpu.frontend.collections.adoption import virtual
from pygpu.frontend.flow.choices import possible
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.numbers import flags, operands
from pygpu.frontend.protocols import datamodel
from pygpu.frontend.values.callables import Bound, Function
from pygpu.frontend.values.kinds import Text, flag_class, scalar_kind
from pygpu.frontend.values.known import lift
from pygpu.frontend.values.objects import Array, List
from pygpu.frontend.values.ranges import is_natural
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Flagged,
    Picture,
    Tuple,
    describe,
    tuple_of,
)

with later():
    from pygpu.frontend.calls import numpy_kinds, numpy_objects
    from pygpu.frontend.collections import remembered, texts
    from pygpu.frontend.flow import options
    from pygpu.frontend.methods import methods
    from pygpu.frontend.protocols import attributes
    from pygpu.frontend.walked import library

_COMPILERS: Final = frozenset(("numba",))  # what these make of functions is walked as these
_KEY: Final[Any] = type(functools.cmp_to_key(min))


def _of_functools(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """A call of what functools.partial or cmp_to_key has made."""
    if isinstance(function, functools.partial):
        return w.call(function.func, *function.args, *args, **{**function.keywords, **keywords})
    (mycmp,) = [each for each in gc.get_referents(function) if each is not _KEY]
    return w.call(library.Compared, mycmp, *args, **keywords)


def _is_whole(function: Any, given: tuple[Any, ...]) -> bool:
    """Whether an image, and no position, is given to what users have of PyGPU for whole images: a
    function of the package's or of its filters', or a method of a compiled function."""
    is_placed = any(map(operands.vector_type, given))
    is_image = any(isinstance(value, Picture) for value in given)
    if is_placed or not is_image or hasattr(type(function), "plain_binding"):
        return False
    owner = getattr(function, "__self__", None)
    if hasattr(owner, "__pygpu_whole__") or hasattr(type(owner), "plain_binding"):
        return True
    names = [sys.modules[each] for each in ("pygpu", "pygpu.filters") if each in sys.modules]
    name = getattr(function, "__name__", "")
    return any(name in its.__all__ and getattr(its, name) is function for its in names)


def call_dynamic(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """A call of a known callable with values that are not known."""
    if hasattr(function, "__pygpu_whole__") or _is_whole(function, (*args, *keywords.values())):
        raise w.error(
            f"{_name_of(function)}() is of whole images, and a function of a pixel cannot call it: "
            "call it before, and give what it gives as an argument"
        )
    plain = getattr(function, "__pygpu_plain__", None)  # a compiled function: what it was made of
    if plain is not None:
        inner, values = plain
        return w.call(inner, *args, **{**values, **keywords})
    method = datamodel.class_attribute(w, type(function), "__call__")
    is_walked = isinstance(method, types.FunctionType) or isinstance(function, types.MethodType)
    if numpy_kinds.is_numpy(function) and not is_walked and not isinstance(function, type):
        return numpy_objects.on_objects(
            w, function, args, keywords
        )  # the general way, for what has no rule
    if isinstance(function, types.FunctionType):
        return w.call(Function.of(function), *args, **keywords)
    if isinstance(function, types.MethodType):
        return w.call(function.__func__, function.__self__, *args, **keywords)
    if isinstance(function, (functools.partial, _KEY)):
        return _of_functools(w, function, args, keywords)
    if isinstance(function, types.BuiltinMethodType):
        made = _of_builtin(w, function, args, keywords)
        if made is not NotImplemented:
            return made
    if isinstance(function, enum.EnumMeta) and not keywords and len(args) == 1:
        made = _member_of(w, function, args[0])
        if made is not None:
            return made
    given = (*args, *keywords.values())
    if isinstance(function, type):
        other = "" if function.__module__ == "builtins" else _WRITTEN
        raise w.error(
            f"{function.__name__} cannot be made from "
            f"{', '.join(describe(value) for value in given if isinstance(value, Abstract))}"
            f"{next((_INSTEAD[cls] for cls in function.__mro__ if cls in _INSTEAD), other)}"
        )
    plain = getattr(type(function), "plain_binding", None)
    if plain is not None:  # compiled functions are their plain functions here
        args, keywords = plain(function, args, keywords, functools.partial(_in_class, w))
        _check_position(w, function, args, keywords)
        return w.call(function.__wrapped__, *args, **keywords)
    if type(function) is functools._lru_cache_wrapper:
        return w.call(remembered.of_wrapper(w, function), *args, **keywords)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None and type(function).__module__.partition(".")[0] in _COMPILERS:
        return w.call(wrapped, *args, **keywords)
    if isinstance(method, types.FunctionType):
        return w.call(Function.of(method), function, *args, **keywords)
    if wrapped is not None:
        return w.call(wrapped, *args, **keywords)
    if isinstance(function, (operator.itemgetter, operator.attrgetter, operator.methodcaller)):
        return _operator_object(w, function, args[0])
    dynamic = next(v for v in given if isinstance(v, Abstract))
    raise w.error(
        f"{_name_of(function)} has no meaning on the device: it was called with "
        f"{describe(dynamic)}; call it with known values, or write it in Python"
    )


def _name_of(function: Any) -> str:
    """A callable as the program writes it, where that is known."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{function.__name__}"
    return getattr(function, "__qualname__", None) or repr(function)


def _member_of(w: ControlFlow, cls: enum.EnumMeta, value: Any) -> Any:
    """The member of an enumeration that has a value, or the flags; None where that is not known."""
    if issubclass(cls, enum.IntFlag) and scalar_kind(value) == "int":
        same = flag_class(value) or is_natural(w, value)
        return Flagged(value.value, cls) if same else flags.flags_of(w, value, cls)
    own: Any = cls._missing_.__func__  # type: ignore[attr-defined]
    if issubclass(cls, enum.Flag):
        return None
    every: list[enum.Enum] = list(cls)  # type: ignore[call-overload]
    message = f"{describe(value)} is not a valid {cls.__name__}"
    members = {each.value: each for each in every}
    if own is not enum.Enum._missing_.__func__:  # type: ignore[attr-defined]
        return w.call(
            library.member_or_missing, members, value, message, functools.partial(own, cls)
        )
    return w.call(library.member_of, members, value, message)


def _of_builtin(w: ControlFlow, function: Any, args: Any, keywords: Any) -> Any:
    """What a function or method written in C gives; NotImplemented of unknown ones."""
    owner = function.__self__
    if isinstance(owner, _UNCHANGED):
        unknown = [arg for arg in (*args, *keywords.values()) if isinstance(arg, Abstract)]
        chosen = [arg for arg in unknown if isinstance(arg, Choice)]
        if chosen and len(chosen) == len(unknown):
            return of_each_option(w, function, args, keywords, chosen[0])
    if owner is None:
        return NotImplemented
    check_kept(w, owner, function.__name__)
    if isinstance(owner, (list, dict, set, np.ndarray)):
        return _method_of_outside(w, owner, function.__name__, args, keywords)
    if isinstance(owner, (tuple, range)) and function.__name__ in ("index", "count"):
        return w.call(w.method(Tuple(tuple(owner)), function.__name__), *args, **keywords)
    if isinstance(owner, str) and function.__name__ == "join":
        return texts.join(w, owner, *args)
    if isinstance(owner, str) and function.__name__ == "format":
        return texts.formatted(w, owner, args, keywords)
    if isinstance(owner, str) and function.__name__ in _WRITING:
        dynamic = next(v for v in (*args, *keywords.values()) if isinstance(v, Abstract))
        return dynamic if isinstance(dynamic, Text) else Text(describe(dynamic))
    if isinstance(owner, str):
        raise w.error("a string cannot be made from dynamic values")
    if isinstance(owner, re.Pattern) and function.__name__ == "sub" and not keywords:
        return _replaced(w, owner, *args)
    return NotImplemented


def _replaced(w: ControlFlow, pattern: re.Pattern[str], new: Any, text: Any, count: Any = 0) -> Any:
    """pattern.sub(new, text, count), of a known text with what is not known in it."""
    if not isinstance(text, str) or not (callable(new) or isinstance(new, (Function, Bound))):
        return NotImplemented
    parts: list[Any] = []
    end = 0
    for found in itertools.islice(pattern.finditer(text), count or None):
        parts += [text[end : found.start()], w.call(new, found)]
        end = found.end()
    return texts.joined(w, "", [*parts, text[end:]])


_UNCHANGED: Final = (types.ModuleType, str, bytes)  # what functions written in C belong to


def of_each_option(w: ControlFlow, function: Any, args: Any, keywords: Any, choice: Choice) -> Any:
    """What a function written in C gives of whichever option an argument is."""
    made: Any = NotImplemented if keywords else options.of_words(w, function, args)
    if made is not NotImplemented:
        return made
    for count, number in enumerate(sorted(possible(w, choice))):
        given = [choice.options[number] if arg is choice else arg for arg in args]
        named = {
            name: choice.options[number] if arg is choice else arg for name, arg in keywords.items()
        }
        its = w.call(function, *given, **named)
        here = w.compare("==", choice.which, number)
        made = w.choose(here, its, made) if count else its
    return made


def _check_position(w: ControlFlow, function: Any, args: Any, keywords: Any) -> None:
    """An error where a compiled function is given no position, with images or with colours."""
    parameters = getattr(getattr(function, "signature", None), "parameters", ())
    given = dict(zip([p.name for p in parameters], args, strict=False)) | dict(keywords)
    if all(p.role != "position" or p.name in given for p in parameters):
        return
    how = f"{function.__name__}({', '.join(p.name for p in parameters)})"
    for parameter in parameters:
        value = given.get(parameter.name)
        if parameter.role != "image" or isinstance(value, Picture):
            continue
        if scalar_kind(value) or operands.vector_type(value):
            raise TypeError(
                f"{parameter.name} is an image, got {describe(value)}: in a function, images "
                f"and the position are given, as in {how}"
            )
    if any(isinstance(value, Picture) for value in given.values()):
        raise TypeError(f"no position is given: in a function the call is {how}")


def _in_class(w: ControlFlow, cls: type, value: Any) -> Any:
    """What is given for a parameter that is a vector or a matrix, as one."""
    sequences = (Tuple, List, Array, tuple, list, np.ndarray)
    return w.call(cls, value) if isinstance(value, sequences) else value


def _operator_object(w: ControlFlow, function: Any, value: Any) -> Any:
    """What operator.itemgetter and its like take from a value."""
    kind, parts = function.__reduce__()[:2]
    if isinstance(function, operator.methodcaller):
        if isinstance(kind, functools.partial):  # with keywords
            name, args, keywords = kind.args[0], (*kind.args[1:], *parts), kind.keywords
        else:
            (name, *args), keywords = parts, {}
        return w.call(attributes.attribute(w, value, name), *args, **keywords)
    taken = []
    for part in parts:
        one = value
        for step in part.split(".") if isinstance(function, operator.attrgetter) else (part,):
            is_attribute = isinstance(function, operator.attrgetter)
            one = w.attribute(one, step) if is_attribute else w.item(one, step)
        taken.append(one)
    return taken[0] if len(taken) == 1 else tuple_of(tuple(taken))


def _method_of_outside(w: ControlFlow, owner: Any, name: str, args: Any, keywords: Any) -> Any:
    copy = List(tuple(owner)) if isinstance(owner, list) else lift(owner)
    if isinstance(owner, np.ndarray):
        copy = Array(owner)
    if not isinstance(copy, Abstract):
        copy = virtual(dict(owner) if isinstance(owner, dict) else set(owner))
    method = methods.method(w, copy, name)
    if method is None:
        raise w.error(
            f"{type(owner).__name__}.{name} has no meaning on dynamic values: "
            "call it with known values, or write it in Python"
        )
    return w.call(method, *args, **keywords)


# What to write in place of an object that is made of dynamic values.
_INSTEAD: Final[dict[type, str]] = {
    fractions.Fraction: ": divide the numbers",
    decimal.Decimal: ": use the number itself",
    random.Random: ": pygpu.random.uniform(p, seed) draws other numbers, by position and seed",
    np.ndarray: ": its class derives from NumPy's arrays; use an array, or a class that holds one",
    enum.IntFlag: "",
    datetime.date: ": count days in an int, as d.toordinal() does",
    datetime.timedelta: ": count seconds in a number, as t.total_seconds() does",
    datetime.time: ": count seconds in a number",
    types.MappingProxyType: ": take the dict itself",
    enum.Flag: ": derive it from enum.IntFlag, whose members are ints",
}

_WRITTEN: Final = ": make it of known values, or write a class in Python that does what it is for"
_WRITING: Final = frozenset("format_map replace ljust rjust center zfill".split())
