"""Calls: which are executed by Python, which are walked inline, which are the compiler's own.

A call whose arguments are all known is executed; a Python function is walked; a class of the
user's becomes a virtual object; builtins and NumPy's functions on values that are not known have
rules in the tables of intrinsics.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import math
import operator
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from pygpu.bytecode import decode
from pygpu.core.errors import CompileError
from pygpu.core.host.later import later
from pygpu.core.storage import ImageLike
from pygpu.frontend.calls.binding import bind
from pygpu.frontend.calls.native import native
from pygpu.frontend.collections.derived import (
    Valued,
    method_of,
    plain_number,
    walked_class,
    with_class,
)
from pygpu.frontend.effects import domains, volatile
from pygpu.frontend.flow.choices import OF_ALL, holds
from pygpu.frontend.flow.paths import ControlFlow
from pygpu.frontend.joins import origins
from pygpu.frontend.methods import changing
from pygpu.frontend.numbers import flags, operands
from pygpu.frontend.protocols import datamodel, operators, pictures
from pygpu.frontend.protocols.sequences import is_short
from pygpu.frontend.rules.intrinsics import ALWAYS, OF_NUMBERS, rule_of
from pygpu.frontend.values import views
from pygpu.frontend.values.callables import Bound, Builtin, Function, guarded
from pygpu.frontend.values.faults import Fault
from pygpu.frontend.values.kinds import is_word, scalar_kind
from pygpu.frontend.values.known import is_users_class
from pygpu.frontend.values.objects import Instance, Iterator, Matrix
from pygpu.frontend.values.values import (
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    NotKnown,
    Numpys,
    Picture,
    Truth,
    Tuple,
    describe,
)
from pygpu.language import vectors
from pygpu.language.scalars import Int
from pygpu.types import BOOL

with later():
    from pygpu.frontend.calls import dynamic, misfits, numpy_kinds, numpy_objects
    from pygpu.frontend.collections import bounded
    from pygpu.frontend.flow import generators
    from pygpu.frontend.protocols import arrays, attributes
    from pygpu.frontend.rules import classes
    from pygpu.frontend.walked import fitting

_GENERATOR: Final = inspect.CO_GENERATOR


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
            if function.owner is None or type(function.owner) is Iterator:
                return _by_rule(function.call, function.call, args, keywords)
            domains.of_method(w, function.name, function.owner, args)
            meant = getattr(datamodel.class_of(function.owner), function.name, function.call)
            return _by_rule(meant, function.call, args, keywords, (function.owner,))
        case Picture():
            if keywords:
                raise w.error(f"{function.describe()} takes a position alone")
            return pictures.read(w, function, args)
        case Conflict():
            raise w.error(function.message)
        case Instance() | Tuple():
            method = datamodel.find_method(w, function, "__call__")
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
    if args and type(args[0]) is Choice and any(each is function for each in OF_ALL):
        return holds(w, function, *args)
    if volatile.is_report(function):
        return _report(w, function, args, keywords)
    if function is builtins.__build_class__:
        return classes.build(w, *args, **keywords)
    if isinstance(function, _ALIASES):  # Stack[float]() is Stack()
        function = typing.get_origin(function)
    if (known := _handed_on(function, args)) is not None:
        return known
    if isinstance(function, np.vectorize) and _is_for_each(function, args, keywords):
        return call(w, fitting.for_each, (function.pyfunc, *args), {})
    if views.is_viewing(function, args, keywords):
        return views.viewed(w, args[0], lambda array: function(array, *args[1:], **keywords))
    is_known = not any(isinstance(value, Abstract) for value in (*args, *keywords.values()))
    args = args if is_known else _of_derived_numbers(w, function, args)
    if (meant := _meant(w, function, args)) is not None:
        return call(w, meant, args, keywords)
    # Most known calls need no rule: so a library's rules are not imported for them.
    rule = None if is_known and not _is_always(function) else _rule(function)
    if rule is not None:
        result, args = _ruled(w, function, rule, args, keywords)
        if result is not NotImplemented:
            return result
    if isinstance(function, type) and _rule(function) is None:
        cls = function if is_users_class(function) else walked_class(w, function)
        if cls is not None or issubclass(function, vectors.Vector):
            return classes.instantiate(w, cls or function, args, keywords)
    if args and type(args[0]) is Choice and _is_of_each(function) and _rule(function) is None:
        return dynamic.of_each_option(w, function, args, keywords, args[0])
    if args and _is_method_of(w, function, args[0]) and _rule(function) is None:
        bound = attributes.attribute(w, args[0], function.__name__)  # list.append(xs, 1)
        return call(w, bound, args[1:], keywords)
    if _asks_to_be_walked(w, function, args, is_known):
        return dynamic.call_dynamic(w, function, args, keywords)
    objects_given = any(isinstance(value, Instance) for value in (*args, *keywords.values()))
    if _is_generator(function) and (
        not is_known or decode(function.__code__).receives
    ):  # what it is given may change before it goes on, and it may be sent what is not known
        return dynamic.call_dynamic(w, function, args, keywords)
    if not (objects_given and isinstance(function, types.FunctionType) and _is_walked(function)):
        try:
            return native(w, function, args, keywords)
        except NotKnown:
            pass
        except (*operators.RAISED_BY_NUMBERS, IndexError):
            result = _on_device(w, function, args, keywords) if w.lenient() else None
            if result is None:
                raise
            return result
    return dynamic.call_dynamic(w, function, args, keywords)


def _meant(w: ControlFlow, function: Any, args: tuple[Any, ...]) -> Any:
    """What a call of a method of a class, or of a function that dispatches, comes to; or None."""
    if getattr(function, "__code__", None) is _DISPATCHES and args and type(args[0]) is Dynamic:
        return datamodel.of_class(w, args[0], function.dispatch)
    if type(function) is types.MethodWrapperType and len(args) == 1 and type(args[0]) is Dynamic:
        of_float = scalar_kind(function.__self__) == "float"  # that of an int refuses floats
        if of_float or {scalar_kind(x) for x in (function.__self__, args[0])} <= {"int", "bool"}:
            meant = getattr(operator, function.__name__, None)
            return None if meant is None else Bound(meant, (function.__self__,))
    cls = args[0].cls if args and isinstance(args[0], Instance) else object
    return method_of(w, function, cls) or guarded(function)


def _ruled(
    w: ControlFlow, function: Any, rule: Any, args: tuple[Any, ...], keywords: Any
) -> tuple[Any, tuple[Any, ...]]:
    """What a rule gives, or NotImplemented; and the arguments as the function is given them."""
    out = numpy_kinds.out_of(function, args, keywords)
    is_masked = isinstance(function, np.ufunc) and "where" in keywords
    if out is not None or is_masked:
        left = ("out", "where") if is_masked else ("out",)
        own = {name: value for name, value in keywords.items() if name not in left}
        given = args[: function.nin] if isinstance(function, np.ufunc) else args
        made = w.call(function, *given, **own)
        if is_masked:
            made = numpy_kinds.where_it_is(w, keywords["where"], made, out)
        if out is None:
            return made, args
        numpy_kinds.put_out(w, out, made)
        return out, args
    domains.of_function(w, function, args)
    if numpy_kinds.is_numpy(function):  # a list of dynamic length is what a mask would select
        by_loops = function in numpy_kinds.FOLDED_BY_LOOPS
        args = tuple([bounded.as_selection(w, arg, by_loops) for arg in args])
        if not by_loops:
            args = tuple([arrays.opened(w, arg) if is_short(arg) else arg for arg in args])
    if numpy_kinds.is_numpy(function) or function in OF_NUMBERS:
        try:  # arrays and vectors of ours may be known throughout
            return native(w, function, args, keywords), args
        except NotKnown:
            pass
    if args and isinstance(args[0], (Matrix, Instance)):
        made = numpy_objects.by_parts(w, function, args, keywords)
        if made is not NotImplemented:
            return made, args
    kind = numpy_kinds.of_result(w, function, args) if isinstance(function, np.ufunc) else None
    try:
        result = _by_rule(function, functools.partial(rule, w), args, keywords)
    except NotKnown:
        if not numpy_kinds.is_numpy(function):
            raise
        raise w.error(f"numpy's {function.__name__} takes known lengths, axes and shapes") from None
    if kind is not None:
        result = numpy_kinds.in_kind(w, result, kind)
    if isinstance(result, Tuple) and isinstance(function, np.ufunc):
        items = [
            _whose(w, function, args, x) if isinstance(x, Dynamic) else x for x in result.items
        ]
        return Tuple(tuple(items)), args
    if isinstance(result, Dynamic):
        result = _whose(w, function, args, result)
    return numpy_kinds.in_array(function, result), args


# What gives bools of Python's, whatever it is given.
_OF_PYTHON: Final = frozenset((all, any, np.array_equal, np.allclose))
_PARTS: Final = frozenset((np.real, np.imag, np.isreal))  # a number's own


def _whose(w: ControlFlow, function: Any, args: tuple[Any, ...], result: Dynamic) -> Dynamic:
    """The number that a function gives, as NumPy's where it is: of an Int it is Python's, and of a
    vector what the vector's method gives."""
    if function in _OF_PYTHON:
        return Truth(result.value, False)
    if function in _PARTS:
        return result
    if not numpy_kinds.is_numpy(function):
        if function not in (int, Int) and getattr(function, "__module__", "") != "math":
            return result
        return origins.as_class(w, result, Int if function is Int else int)  # type: ignore[no-any-return]
    if any(map(operands.vector_type, args)):
        return flags.counted(result)  # type: ignore[no-any-return]
    words = [origins.int_classes(w, arg) for arg in args if is_word(arg)]
    is_operator = isinstance(function, np.ufunc) or function is np.fix
    is_of_words = is_operator and any(Int in each for each in words)
    is_unclear = is_of_words and all(int in each for each in words)
    if result.type is BOOL:
        return Truth(result.value, None if is_unclear else not is_of_words)
    if type(result) not in (Dynamic, Numpys) or result.type.kind == "uint":
        return result
    if is_of_words and not is_unclear:
        return origins.as_class(w, Dynamic(result.value), Int)  # type: ignore[no-any-return]
    return Numpys(result.value, None if is_unclear else True)


def _exception(w: ControlFlow, cls: type[BaseException], args: Any, keywords: Any) -> Any:
    """An exception; of one of dynamic arguments its class and place are known, and what it holds
    where its constructor can be walked."""
    try:
        return native(w, cls, args, keywords)
    except NotKnown:
        pass
    held = None
    try:
        with w.attempt() as trial:
            held = trial.keep(classes.thrown(w, cls, args, keywords))
    except CompileError:
        pass
    return w.faults.raised(Fault(cls, "", w.frame.place()), held)


def _report(w: ControlFlow, function: Any, args: Any, keywords: Any) -> Any:
    """A call that tells somebody something: of known values once, when the function is compiled;
    of others nothing, and a warning says so. What is set for warnings is set for none here."""
    if volatile.is_setting(function):
        return None
    try:
        return native(w, function, args, keywords)
    except NotKnown:
        if keywords.get("file") not in (None, sys.stdout, sys.stderr):
            raise w.error("print() writes to no file on the device: return the values") from None
        volatile.warn_of_report(w.frame, function)
        return None


def _on_device(w: ControlFlow, function: Any, args: tuple[Any, ...], keywords: Any) -> Any:
    """What a call that Python refuses gives on a device: of a function of numbers what it gives
    there, of a Python function what comes of walking it, of a string that has no digits yet, or
    others than its base has, 0: a loop may have added none, a letter of a number is its sign, or
    what one of several numbers would be is never asked. None where it has no such meaning."""
    is_text = function in (int, float) and args and args[0].__class__ is str
    if is_text and (args[0] in ("", "-") or args[0].isdigit()):
        w.check(True, ValueError, f"invalid literal for {function.__name__}(): {args[0]!r}")
        return function()
    rule = _rule(function)
    if isinstance(function, types.FunctionType) and rule is None and _is_walked(function):
        return dynamic.call_dynamic(w, function, args, keywords)
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
        wrong = misfits.misfit(function, rule, args, keywords, owner)
        if wrong is None:
            raise
    raise wrong


def _is_method_of(w: ControlFlow, function: Any, value: Any) -> bool:
    """Whether the function is a builtin class's method, of values that the compiler looks after; of
    numbers an operator, too: float.__add__"""
    if isinstance(function, types.WrapperDescriptorType) and isinstance(value, Dynamic):
        of_numbers = issubclass(function.__objclass__, (int, float))
        return of_numbers and datamodel.is_instance(w, value, function.__objclass__)
    return isinstance(function, types.MethodDescriptorType) and (
        isinstance(value, Abstract) or function.__objclass__ in changing.MUTATING
    )


def _handed_on(function: Any, args: tuple[Any, ...]) -> Any:
    """What a call gives that only hands on what it is given: a new type the value, the binding of a
    method (object.__setattr__.__get__(self)) the method and its object. None of others."""
    if type(function) is typing.NewType and len(args) == 1:
        return args[0]
    if type(function) is types.MethodWrapperType and function.__name__ == "__get__":
        method = function.__self__
        is_method = isinstance(method, (types.WrapperDescriptorType, types.FunctionType))
        return Bound(method, args[:1]) if is_method and args and args[0] is not None else None
    return None


def _is_for_each(function: np.vectorize, args: Any, keywords: Any) -> bool:
    """Whether an np.vectorize is called with what is not known, and takes elements one by one."""
    is_simple = function.signature is None and not keywords
    return is_simple and any(isinstance(value, Abstract) for value in args)


def _of_derived_numbers(w: ControlFlow, function: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments of which those of users' classes of numbers are the numbers, for a function that
    takes these; objects of ours, for an operator of a class (float.__mul__)."""
    if isinstance(function, types.WrapperDescriptorType):
        return tuple([with_class(w, arg) for arg in args])
    if Valued in map(type, args) and _is_of_numbers(function):
        return tuple([plain_number(w, arg) for arg in args])
    return args


def _is_of_numbers(function: Any) -> bool:
    """Whether a function takes the numbers in objects of classes that derive from numbers, whatever
    these classes have for operators."""
    if function in (range, slice, chr, bin, hex, oct):
        return True
    module = getattr(function, "__module__", None) or ""
    home = "numpy" if isinstance(function, np.ufunc) else module.partition(".")[0]
    is_walked = module.startswith("pygpu.frontend") or function in _ASKING
    return home in ("math", "cmath", "numpy", "pygpu") and not is_walked


_ASKING: Final = (math.floor, math.ceil, math.trunc)  # the classes of what they are given


def _is_of_each(function: Any) -> bool:
    """Whether the function is a method of a class written in C, of objects that none changes."""
    is_method = isinstance(function, types.MethodDescriptorType)
    return is_method and function.__objclass__ not in changing.MUTATING


def _asks_to_be_walked(w: ControlFlow, function: Any, args: Any, is_known: bool) -> bool:
    """Whether Python cannot execute a call, or must not: what makes a context is given objects of
    ours, which change while it is entered, and what remembers results may have some of ours."""
    if type(function) is functools._lru_cache_wrapper:
        return not is_known or function in w.environment.caches
    is_function = type(function) is types.FunctionType
    return is_function and (Dynamic in map(type, args) or function.__code__ in _MANAGE)


def _is_generator(function: Any) -> bool:
    return isinstance(function, types.FunctionType) and bool(
        function.__code__.co_flags & _GENERATOR
    )


def _is_walked(function: types.FunctionType) -> bool:
    """Whether a function can be walked at all; one that cannot may be run on what is known."""
    code = function.__code__
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        return False
    return not decode(code).refused


def _is_always(function: Any) -> bool:
    """Whether a function's rule is taken for known arguments, too."""
    try:
        return function in ALWAYS
    except TypeError:  # not hashable
        return False


def _rule(function: Any) -> Any:
    try:
        return rule_of(function)
    except TypeError:  # not hashable
        return None


_DISPATCHES: Final = functools.singledispatch(lambda x: x).__code__  # type: ignore[attr-defined]
_MANAGE: Final = (
    contextlib.contextmanager.__code__,
    contextlib.contextmanager(lambda: iter(())).__code__,
)
_ALIASES: Final = (types.GenericAlias, type(typing.List[int]))  # noqa: UP006 - its class is meant


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
