"""The class of a value, and what stands in classes: Python's data model, walked."""

from __future__ import annotations

import functools
import itertools
import sys
import types
from collections.abc import Callable
from itertools import takewhile
from typing import Any, Final

import numpy as np

from pygpu.frontend.joins import origins
from pygpu.frontend.values.callables import Bound, Builtin, Function
from pygpu.frontend.values.evaluator import Evaluator, usable
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Complex, Text, is_numpys, is_ours
from pygpu.frontend.values.lazy import Masked, Row, Span, Suspended
from pygpu.frontend.values.objects import (
    Array,
    Dict,
    Instance,
    Iterator,
    List,
    Matrix,
    Set,
    Vector,
)
from pygpu.frontend.values.values import (
    ABSENT,
    Abstract,
    Choice,
    Conflict,
    Dynamic,
    Picture,
    Slice,
    Truth,
    Tuple,
    describe,
)
from pygpu.frontend.values.views import Items, Keys, Values
from pygpu.language import matrices, vectors
from pygpu.language.scalars import Int, UInt
from pygpu.types import INT

MISSING: Final = object()


def certain_class(w: Evaluator, value: Any) -> type:
    """type(value), which of a number must not depend on the path."""
    if isinstance(value, Dynamic):
        return origins.certain_class(w, value)
    if type(value) is Iterator:
        return of_either(w, value, lambda cls: cls)  # type: ignore[no-any-return]
    is_array = isinstance(value, Masked) or is_row(w, value)
    return np.ndarray if is_array else class_of(value)


def of_class(w: Evaluator, value: Any, ask: Callable[[type], Any]) -> Any:
    """What is asked of type(value), where an Int is an int like any other."""
    if isinstance(value, Dynamic):
        return origins.same_of_all(w, value, ask)
    return ask(certain_class(w, value))


# The classes that an iterator may be of, and those of a dict's views.
_OF_ITERATORS: Final[tuple[type, ...]] = (
    *(types.GeneratorType, zip, map, filter, enumerate, reversed, type(iter([]))),
    *(type(iter("")), type(iter(())), type(iter({})), itertools.count, itertools.chain),
)
_OF_VIEWS: Final[dict[type, type]] = {
    Keys: type({}.keys()),
    Items: type({}.items()),
    Values: type({}.values()),
}


def of_either(w: Evaluator, value: Any, ask: Callable[[type], Any]) -> Any:
    """What is asked of the class of an iterator, of which generators alone are told apart: an error
    where it is not the same for all."""
    held = w.peek(value)
    if isinstance(held, tuple) and held and isinstance(held[0], Suspended):
        return ask(types.GeneratorType)
    answers = {ask(cls) for cls in _OF_ITERATORS}
    if len(answers) == 1:
        return answers.pop()
    raise w.error(
        f"of which class {describe(value)} is, as generator or zip, is not kept: ask whether it is "
        "a collections.abc.Iterator"
    )


def has_by_class(w: Evaluator, value: Any, name: str) -> bool | None:
    """hasattr(value, name) of what is of another class than in plain Python; None of others."""
    if type(value) is Iterator:
        return bool(of_either(w, value, lambda cls: _has(cls, name)))
    if type(value) in _OF_VIEWS:
        return hasattr(class_of(value), name)
    return hasattr(np.ndarray, name) if is_row(w, value) else None


def is_row(w: Evaluator, value: Any) -> bool:
    """Whether a vector is a short row of a table, an array in plain Python."""
    contents = w.read(value) if isinstance(value, Vector) else ()
    return isinstance(contents, tuple) and any(map(is_numpys, contents))


def class_of(value: Any) -> type:
    """type(value), of a number the widest that it may be."""
    match value:
        case Instance():
            return getattr(value.cls, "stands_for", value.cls)
        case Vector() | Matrix() | Tuple():
            return value.cls
        case Picture():
            return class_of_image(value)
        case Truth() if value.is_numpys:
            return np.bool_
        case Dynamic():
            return origins.CLASSES[value.type.kind]
        case Complex():
            return complex
        case Text():
            return str
        case Raised():
            return value.fault.error or Exception
        case List():
            return _OF_VIEWS.get(type(value), list)
        case Dict():
            return dict
        case Set():
            return set
        case Array():
            return np.ndarray
        case Function():
            return types.FunctionType
        case Bound() | Builtin():
            return types.MethodType
        case Slice():
            return slice
        case Row():
            return np.ndarray
        case Span():
            return range
    return type(value)


def class_of_image(picture: Picture) -> type:
    """The class that users have of it, which stands above this module."""
    return getattr(sys.modules["pygpu"], picture.noun.capitalize())  # type: ignore[no-any-return]


def is_instance(w: Evaluator, value: Any, cls: Any) -> bool:
    """isinstance(value, cls)"""
    if not isinstance(value, Abstract):
        return isinstance(value, cls)
    if isinstance(value, Dynamic):
        own: dict[type, type] = {int: Int if value.type is INT else UInt}
        return bool(origins.same_of_all(w, value, lambda c: issubclass(own.get(c, c), cls)))
    if type(value) is Iterator:
        return bool(of_either(w, value, lambda own: issubclass(own, cls)))
    if isinstance(value, Instance) and issubclass(value.cls, cls):
        return True
    return issubclass(certain_class(w, value), cls)


def in_class(value: Any, name: str) -> bool:
    """Whether the class that plain Python's value has there has an attribute of that name."""
    cls = class_of(value)
    return not issubclass(cls, Abstract) and _has(cls, name)


def _has(cls: type, name: str) -> bool:
    return any(name in vars(base) for base in cls.__mro__)


def in_each_class(w: Evaluator, number: Dynamic, name: str) -> bool:
    """`in_class`, of a number; an error where it is of a class on one path that has it not."""
    return bool(origins.same_of_all(w, number, lambda cls: _has(cls, name)))


def class_attribute(w: Evaluator, cls: type, name: str) -> Any:
    """The attribute as it stands in the class or a base, not bound; MISSING without one."""
    parts = w.environment.class_parts
    for base in cls.__mro__:
        if base in parts and name in w.read(parts[base]):
            found = usable(w, w.read(parts[base])[name])
            if found is ABSENT:
                continue
            return found
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def is_callable(w: Evaluator, value: Any) -> bool:
    """callable(value)"""
    if isinstance(value, Instance):
        return class_attribute(w, value.cls, "__call__") is not MISSING
    if not isinstance(value, Abstract):
        return callable(value)
    return isinstance(value, Picture) or in_class(value, "__call__")


def python_method(w: Evaluator, found: Any, name: str) -> Any:
    """A method of a class attribute's own class, if it is written in Python; or None."""
    method = class_attribute(w, type(found), name)
    return method if isinstance(method, types.FunctionType) else None


def bind(w: Evaluator, found: Any, value: Any, cls: type) -> Any:
    """What a class attribute gives when it is read through an instance."""
    if isinstance(found, types.FunctionType):
        return Bound(found, (value,))
    if isinstance(found, classmethod):
        return Bound(found.__func__, (cls,))
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, property):
        return w.call(found.fget, value)
    if isinstance(found, functools.singledispatchmethod):
        return Builtin("method", functools.partial(_dispatched, w, found, value, cls))
    if hasattr(type(found), "plain_binding"):  # a compiled method is its plain method here
        return Bound(found, (value,))
    getter = class_attribute(w, type(found), "__get__")
    if isinstance(getter, types.FunctionType):
        return w.call(getter, found, value, cls)
    if hasattr(found, "__wrapped__") and callable(found) and getter is not MISSING:
        return Bound(found, (value,))
    if getter is not MISSING and callable(found) and not isinstance(found, type):
        return Bound(found, (value,))
    return found


def _dispatched(
    w: Evaluator, of: Any, value: Any, cls: type, /, first: Any, *args: Any, **more: Any
) -> Any:
    """Call the method for the class of the first argument. Python keeps bound ones in a cache."""
    if isinstance(first, (Choice, Conflict)):
        raise w.error(
            f"which method is called for {describe(first)} depends on a dynamic value: call it on "
            "each path, and choose between the results"
        )
    method = of_class(w, first, of.dispatcher.dispatch)
    return w.call(bind(w, method, value, cls), first, *args, **more)


def of_users_vector(w: Evaluator, cls: type, name: str) -> Any:
    """What stands in a class that a program derives from a class of vectors, or in a base of it
    that is no such class of ours; MISSING without one."""
    if is_ours(cls):
        return MISSING
    is_own = any(name in vars(base) for base in own_bases(cls))
    return class_attribute(w, cls, name) if is_own else MISSING


def own_bases(cls: type) -> list[type]:
    """The class and its bases, before the first class of vectors of ours and those that follow."""
    return list(takewhile(lambda base: not is_ours(base), cls.__mro__))


def find_method(w: Evaluator, value: Any, name: str) -> Any:
    """A special method of a virtual object or of an object of a user's class, bound; or None."""
    method = user_method(w, value, name)
    return None if method is None else Bound(method, (value,))


def own_method(w: Evaluator, value: Tuple, name: str) -> Any:
    """The special method, bound, that a named tuple's class has in place of a tuple's; or None."""
    return None if value.cls in (tuple, range) else find_method(w, value, name)


def user_method(w: Evaluator, value: Any, name: str) -> Any:
    """A special method that is written in Python, as it stands in the class; or None."""
    if isinstance(value, (Instance, Tuple)):
        found = class_attribute(w, value.cls, name)
    elif isinstance(value, Raised):
        found = class_attribute(w, class_of(value), name)
    elif isinstance(value, (Vector, vectors.Vector)):
        found = of_users_vector(w, class_of(value), name)
    elif isinstance(value, (Abstract, matrices.Matrix)):
        return None
    else:
        found = class_attribute(w, type(value), name)
    if isinstance(found, (classmethod, staticmethod)):
        found = found.__func__
    return found if isinstance(found, types.FunctionType) else None
