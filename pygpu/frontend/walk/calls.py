"""Calls: which are executed by Python, which are walked inline, which are the compiler's own.

A call whose arguments are all known is executed; a Python function is walked; a class of the
user's becomes a virtual object; builtins and NumPy's functions on values that are not known have
rules in the tables of intrinsics.
"""

from __future__ import annotations

import builtins
import collections.abc
import functools
import inspect
import operator
import types
import typing
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pygpu.bytecode import decode
from pygpu.core.storage import ImageLike
from pygpu.frontend.collections.bounded import as_selection
from pygpu.frontend.effects import domains, volatile
from pygpu.frontend.protocols import indexing, methods, objects, operands, operators, pictures
from pygpu.frontend.rules import classes
from pygpu.frontend.rules.arguments import misfit
from pygpu.frontend.rules.intrinsics import ALWAYS, INTRINSICS, OF_NUMBERS
from pygpu.frontend.rules.number_calls import of_library
from pygpu.frontend.rules.numpy_objects import on_objects
from pygpu.frontend.values import views
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.kinds import Text, scalar_kind
from pygpu.frontend.values.known import Materialiser, adopt, again, is_users_class, lift, virtual
from pygpu.frontend.values.objects import Array, Dict, Instance, Iterator, List, Replay
from pygpu.frontend.values.values import (
    Abstract,
    Bound,
    Builtin,
    Choice,
    Conflict,
    Function,
    NotKnown,
    Picture,
    Tuple,
    describe,
    same_known,
    tuple_of,
)
from pygpu.frontend.walk import generators
from pygpu.frontend.walk.choices import is_instance
from pygpu.frontend.walk.paths import ControlFlow
from pygpu.frontend.walked import fitting

_GENERATOR: Final = inspect.CO_GENERATOR


# ---------------------------------------------------------------- calling


def call(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """function(*args, **keywords)"""
    if not isinstance(function, Abstract):
        return _call_known(w, function, args, keywords)
    match function:
        case Function():
            return call_function(w, function, args, keywords)
        case Bound():
            return call(
                w, function.function, (*function.args, *args), {**function.keywords, **keywords}
            )
        case Builtin():
            meant = getattr(objects.class_of(function.owner), function.name, function.call)
            return _by_rule(meant, function.call, args, keywords, (function.owner,))
        case Picture():
            if keywords:
                raise w.error(f"{function.describe()} takes a position alone")
            return pictures.read(w, function, args)
        case Conflict():
            raise w.error(function.message)
        case Instance():
            method = objects.find_method(w, function, "__call__")
            if method is not None:
                return call(w, method, args, keywords)
    raise TypeError(f"{describe(function)} is not callable")


def _call_known(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    if isinstance(function, ImageLike):
        return pictures.read(w, w.environment.capture(w.build, function), args)
    for value in (*args, *keywords.values()):
        if type(value) is Conflict:
            raise w.error(value.message)
    if isinstance(function, type) and issubclass(function, BaseException):
        return _exception(w, function, args, keywords)
    if function is isinstance and args and type(args[0]) is Choice:
        return is_instance(w, *args)
    if volatile.is_report(function):
        return _report(w, function, args, keywords)
    if function is builtins.__build_class__:
        return classes.build(w, *args, **keywords)
    if isinstance(function, _ALIASES):  # Stack[float]() is Stack()
        function = typing.get_origin(function)
    is_vectorized = isinstance(function, np.vectorize) and function.signature is None
    if is_vectorized and not keywords and any(isinstance(value, Abstract) for value in args):
        return call(w, fitting.for_each, (function.pyfunc, *args), {})
    rule = _rule(function)
    if rule is not None and (
        function in ALWAYS
        or any(isinstance(value, Abstract) for value in args)
        or any(isinstance(value, Abstract) for value in keywords.values())
    ):
        domains.of_function(w, function, args)
        if _is_numpy(function):  # a list of dynamic length is what a mask would select
            args = tuple([as_selection(w, arg) for arg in args])
        if _is_numpy(function) or function in OF_NUMBERS:
            try:  # arrays and vectors of ours may be known throughout
                return native(w, function, args, keywords)
            except NotKnown:
                pass
        result = _by_rule(function, functools.partial(rule, w), args, keywords)
        if result is not NotImplemented:
            return result
    if views.is_viewing(function, args, keywords):
        return views.viewed(w, args[0], lambda array: function(array, *args[1:], **keywords))
    if rule is None and isinstance(function, type) and is_users_class(function):
        return classes.instantiate(w, function, args, keywords)
    if rule is None and args and _is_method_of(function, args[0]):
        bound = objects.attribute(w, args[0], function.__name__)  # list.append(xs, 1)
        return call(w, bound, args[1:], keywords)
    objects_given = any(isinstance(value, Instance) for value in (*args, *keywords.values()))
    if _is_generator(function) and any(
        isinstance(value, Abstract) for value in (*args, *keywords.values())
    ):
        return _walk_known(
            w, function, args, keywords
        )  # what it is given may change before it goes on
    if not (objects_given and isinstance(function, types.FunctionType) and _is_walked(function)):
        try:
            return native(w, function, args, keywords)
        except NotKnown:
            pass
        except (*operators.RAISED_BY_NUMBERS, IndexError):
            result = _on_device(w, function, rule, args, keywords) if w.lenient() else None
            if result is None:
                raise
            return result
    return _walk_known(w, function, args, keywords)


def _exception(w: ControlFlow, cls: type[BaseException], args: Any, keywords: Any) -> Any:
    """An exception; one of dynamic arguments is known by its class and place alone."""
    try:
        return native(w, cls, args, keywords)
    except NotKnown:
        return w.faults.raised(Fault(cls, "", w.frame.place()))


def _report(w: ControlFlow, function: Any, args: Any, keywords: Any) -> Any:
    """A call that tells somebody something: of known values once, when the function is compiled;
    of others nothing, and a warning says so. What is set for warnings is set for none here."""
    if volatile.is_setting(function):
        return None
    try:
        return native(w, function, args, keywords)
    except NotKnown:
        volatile.warn_of_report(w.frame, function)
        return None


def _on_device(
    w: ControlFlow, function: Any, rule: Any, args: tuple[Any, ...], keywords: Any
) -> Any:
    """What a call that Python refuses gives on a device: of a function of numbers what it gives
    there, of a Python function what comes of walking it. None where it has no such meaning."""
    if isinstance(function, types.FunctionType) and rule is None and _is_walked(function):
        return _walk_known(w, function, args, keywords)
    numbers = [scalar_kind(arg) or operands.vector_type(arg) for arg in args]
    if rule is None or not args or not all(numbers):
        return None
    given = (operands.unknown(w, args[0]), *args[1:])
    return _by_rule(function, functools.partial(rule, w), given, keywords)


def _by_rule(
    function: Any, rule: Any, args: tuple[Any, ...], keywords: Any, owner: tuple[Any, ...] = ()
) -> Any:
    """What a rule makes of a call; a TypeError in Python's words if it takes no such arguments."""
    try:
        return rule(*args, **keywords)
    except TypeError:
        wrong = misfit(function, rule, args, keywords, owner)
        if wrong is None:
            raise
    raise wrong


def _is_method_of(function: Any, value: Any) -> bool:
    """Whether the function is a builtin class's method, of values that the compiler looks after."""
    return isinstance(function, types.MethodDescriptorType) and (
        isinstance(value, Abstract) or function.__objclass__ in methods.MUTATING
    )


def _is_generator(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(
        function.__code__.co_flags & _GENERATOR
    )


def _is_walked(function: types.FunctionType) -> bool:
    """Whether a function can be walked at all; one that cannot may be run on what is known."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    return not any(i.op == "UNSUPPORTED" for i in decode(code).instructions)


def _rule(function: Any) -> Any:
    try:
        return INTRINSICS.get(function) or of_library(function)
    except TypeError:  # not hashable
        return None


def _walk_known(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """A call of a known callable with values that are not known."""
    if hasattr(function, "__pygpu_whole__"):
        raise w.error(
            f"{function.__name__}() is of whole images, and a function of a pixel cannot call it: "
            "call it before, and give what it gives as an argument"
        )
    plain = getattr(function, "__pygpu_plain__", None)  # a compiled function: what it was made of
    if plain is not None:
        inner, values = plain
        return call(w, inner, args, {**values, **keywords})
    if _is_numpy(function) and not isinstance(function, (type, types.MethodType)):
        return on_objects(w, function, args, keywords)  # the general way, for what has no rule
    if isinstance(function, types.FunctionType):
        return call_function(w, Function.of(function), args, keywords)
    if isinstance(function, types.MethodType):
        return call(w, function.__func__, (function.__self__, *args), keywords)
    if isinstance(function, functools.partial):
        return call(w, function.func, (*function.args, *args), {**function.keywords, **keywords})
    if isinstance(function, types.BuiltinMethodType) and function.__self__ is not None:
        owner = function.__self__
        _check_kept(w, owner, function.__name__)
        if isinstance(owner, (list, dict, set, np.ndarray)):
            return _method_of_outside(w, owner, function.__name__, args, keywords)
        if isinstance(owner, str) and function.__name__ in _WRITING:
            dynamic = next(v for v in (*args, *keywords.values()) if isinstance(v, Abstract))
            return dynamic if isinstance(dynamic, Text) else Text(describe(dynamic))
        if isinstance(owner, str):
            raise w.error("a string cannot be made from dynamic values")
    if isinstance(function, type):
        raise w.error(
            f"{function.__name__} cannot be made from "
            f"{', '.join(describe(arg) for arg in args if isinstance(arg, Abstract))}"
        )
    plain = getattr(type(function), "plain_binding", None)
    if plain is not None:  # compiled functions are their plain functions here
        args, keywords = plain(function, args, keywords, functools.partial(_in_class, w))
        _check_position(w, function, args, keywords)
        return call(w, function.__wrapped__, args, keywords)
    method = objects.class_attribute(w, type(function), "__call__")
    if isinstance(method, types.FunctionType):
        return call(w, method, (function, *args), keywords)
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is not None:
        return call(w, wrapped, args, keywords)
    if isinstance(function, (operator.itemgetter, operator.attrgetter, operator.methodcaller)):
        return _operator_object(w, function, args[0])
    name = getattr(function, "__qualname__", None) or repr(function)
    dynamic = next(v for v in (*args, *keywords.values()) if isinstance(v, Abstract))
    raise w.error(
        f"{name} has no meaning on the device: it was called with {describe(dynamic)}; "
        "call it with known values, or write it in Python"
    )


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
        return call(w, objects.attribute(w, value, name), tuple(args), keywords)
    taken = []
    for part in parts:
        one = value
        for step in part.split(".") if isinstance(function, operator.attrgetter) else (part,):
            is_attribute = isinstance(function, operator.attrgetter)
            one = objects.attribute(w, one, step) if is_attribute else indexing.item(w, one, step)
        taken.append(one)
    return taken[0] if len(taken) == 1 else tuple_of(tuple(taken))


def _is_numpy(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return module.partition(".")[0] == "numpy"


def _check_kept(w: ControlFlow, owner: Any, name: str) -> None:
    """An error where a method would change something from outside."""
    if methods.mutates(owner, name):
        raise w.error(
            f"{describe(owner)} came from outside the function and must not be changed "
            f"(by its method {name}): make a copy and change that"
        )


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
    return call(w, method, args, keywords)


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
        _check_kept(w, owner, getattr(function, "__name__", ""))
    if w.frames:
        volatile.warn(w.frame, function)
    w.environment.dependencies.add(function, *args, *keywords.values())
    if made.made:
        result = _run(w, function, args, keywords)
        made.carry_back()
        back = made.back(result)
        if isinstance(back, Abstract):
            return back
        del back
        made.made.clear()
        return _replayable(result) if isinstance(result, _ITERATORS) else adopt(w, result)
    return _once(w, function, args, keywords)


def _run(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """What Python gives. NotKnown if a method of our own classes reads a variable of ours that is
    not known."""
    if not w.environment.class_cells and not w.environment.class_parts:
        return function(*args, **keywords)
    with classes.in_python(w) as unknown:
        try:
            return function(*args, **keywords)
        except (NameError, AttributeError):
            if not unknown:
                raise
            raise NotKnown from None


def _replayable(iterator: Any) -> Iterator:
    return Iterator((Replay(iterator), 0))


_WRITING: Final = frozenset("format format_map join replace ljust rjust center zfill".split())
_ALIASES: Final = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006 - its class is meant
_ITERATORS: Final = collections.abc.Iterator


def _once(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> Any:
    """Call it, unless this site has called it before with the same arguments in an earlier
    attempt at the same loop: then what it gave then. So effects happen once."""
    environment = w.environment
    site = tuple([(frame.code.code, frame.at) for frame in w.frames])
    count = environment.count_call(site)
    seen = environment.memo.setdefault((site, count), [])
    for known_function, known_args, made in seen:
        if known_function is function and _same_arguments(known_args, (args, keywords)):
            return again(made)
    result = _run(w, function, args, keywords)
    made = _replayable(result) if isinstance(result, _ITERATORS) else adopt(w, result)
    seen.append((function, (args, dict(keywords)), again(made)))
    return made


def _same_arguments(a: Any, b: Any) -> bool:
    (args, keywords), (others, more) = a, b
    return (
        len(args) == len(others)
        and list(keywords) == list(more)
        and all(map(same_known, args, others))
        and all(same_known(keywords[name], more[name]) for name in more)
    )


# ---------------------------------------------------------------- Python functions


def call_function(
    w: ControlFlow, function: Function, args: tuple[Any, ...], keywords: Mapping[str, Any]
) -> Any:
    """Walk a Python function inline."""
    code = function.code
    locals = bind(function, args, keywords)
    locals.update(zip(code.co_freevars, function.closure, strict=True))
    if code.co_flags & _GENERATOR:
        make = generators.expression if code.co_name == "<genexpr>" else generators.generator
        return make(w, code, function.globals, locals)
    return w.inline(code, function.globals, locals)


def bind(function: Function, args: tuple[Any, ...], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """A function's parameters with their values; the TypeErrors that Python gives."""
    code, defaults = function.code, function.defaults
    count, only = code.co_argcount, code.co_kwonlyargcount
    names = code.co_varnames
    locals = dict(zip(names[:count], args, strict=False))
    rest = args[count:]
    place = count + only
    takes_rest = code.co_flags & inspect.CO_VARARGS
    if takes_rest:
        locals[names[place]] = tuple_of(tuple(rest))
        place += 1
    elif rest:
        raise TypeError(
            f"{code.co_qualname}() takes {count} positional arguments but {len(args)} were given"
        )
    more: dict[str, Any] = {}
    if keywords:
        accepted = names[code.co_posonlyargcount : count + only]
        for name, value in keywords.items():
            if name in accepted:
                if name in locals and name in names[: len(args)]:
                    raise TypeError(
                        f"{code.co_qualname}() got multiple values for argument '{name}'"
                    )
                locals[name] = value
            elif code.co_flags & inspect.CO_VARKEYWORDS:
                more[name] = value
            else:
                raise TypeError(f"{code.co_qualname}() got an unexpected keyword argument '{name}'")
    if code.co_flags & inspect.CO_VARKEYWORDS:
        locals[names[place]] = Dict(more)
    first_default = count - len(defaults)
    missing = []
    for index in range(len(args), count):
        if names[index] not in locals:
            if index >= first_default:
                locals[names[index]] = defaults[index - first_default]
            else:
                missing.append(names[index])
    for name in names[count : count + only]:
        if name not in locals:
            if name in function.keyword_defaults:
                locals[name] = function.keyword_defaults[name]
            else:
                missing.append(name)
    if missing:
        shown = ", ".join(map(repr, missing))
        raise TypeError(f"{code.co_qualname}() missing required arguments: {shown}")
    return locals


__all__ = ["call", "call_function", "native"]
