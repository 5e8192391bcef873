"""Attributes of every kind of value: Python's protocols, walked.

Attribute lookup follows the data model: data descriptors, the instance, the class, __getattr__.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers import arithmetic, operands
from pygpu.frontend.numbers.numbers import dynamic, hint_of_number
from pygpu.frontend.protocols import pictures
from pygpu.frontend.protocols.arrays import as_vectors, opened, own_dtype, pythons, to_objects
from pygpu.frontend.protocols.datamodel import (
    MISSING,
    bind,
    certain_class,
    class_attribute,
    class_of,
    in_class,
    in_each_class,
    is_row,
    of_users_vector,
    python_method,
)
from pygpu.frontend.values.callables import Bound, Builtin, Function, Super
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.faults import Raised
from pygpu.frontend.values.kinds import Complex, is_ours, is_word
from pygpu.frontend.values.known import realised
from pygpu.frontend.values.lazy import Masked, Row, Span
from pygpu.frontend.values.objects import (
    Array,
    Dict,
    Instance,
    Iterator,
    Matrix,
    Names,
    Namespace,
    Thrown,
    Vector,
)
from pygpu.frontend.values.values import (
    ABSENT,
    Abstract,
    Conflict,
    Dynamic,
    Flagged,
    Picture,
    Range,
    Slice,
    Tuple,
    describe,
    kept,
)
from pygpu.frontend.values.views import showing, viewed
from pygpu.language import vectors
from pygpu.language.components import named, swizzle
from pygpu.types import INT, vector

with later():
    from pygpu.frontend.protocols import lookups
    from pygpu.frontend.walked import library


def attribute(w: Evaluator, value: Any, name: str) -> Any:
    """value.name"""
    if not isinstance(value, Abstract):
        if type(value) is types.ModuleType:
            w.environment.dependencies.add_attribute(value, name)
        else:
            w.environment.dependencies.add(value)
        if isinstance(value, type) and not w.environment.class_parts.keys().isdisjoint(
            value.__mro__
        ):
            return _own_class_attribute(w, value, name)
        return getattr(value, name)
    if value.__class__ is Instance:  # as most are
        return _instance_attribute(w, value, name)
    match value:
        case Conflict():
            raise w.error(value.message)
        case Raised():
            return _of_exception(w, value, name)
        case Vector() if name != "__class__":
            return _swizzle(w, value, name)
        case Instance():
            return _instance_attribute(w, value, name)
        case Super():
            return _super_attribute(w, value, name)
        case Slice() if name in _BOUNDS:
            return value.bounds[_BOUNDS.index(name)]
        case Span() if name in _BOUNDS:
            return value.of[_BOUNDS.index(name)]
        case Range() if name in ("start", "step"):
            return value.items[0] if name == "start" else value.step
        case Range() if name == "stop" and abs(value.step) == 1:
            return arithmetic.binary(w, "+", value.items[-1], value.step)
        case Tuple() if value.cls not in (tuple, range) and name != "__class__":
            return _named_tuple_attribute(w, value, name)
        case Complex() if name in ("real", "imag"):
            return value.re if name == "real" else value.im
        case Picture() if name != "__class__":
            return pictures.attribute(w, value, name)
        case Matrix() if name == "T":
            return as_vectors(w, Array(to_objects(w, value).T))
        case Bound() if name in ("__self__", "__func__", "__name__", "__qualname__", "__doc__"):
            own = value.args[0] if name == "__self__" else value.function
            return own if name in ("__self__", "__func__") else attribute(w, own, name)
        case Function() if value.attributes is not None and name in w.read(value.attributes):
            return w.item(value.attributes, name)
        case Function() if name in ("__name__", "__qualname__"):
            return value.code.co_name if name == "__name__" else value.name
        case Function() if name == "__doc__":
            cells = (types.CellType(),) * len(value.code.co_freevars)
            return types.FunctionType(value.code, {}, closure=cells).__doc__
        case Row():
            return attribute(w, opened(w, value), name)
        case Array() | Masked() | Dynamic():
            return _array_attribute(w, value, name)
    return class_of(value) if name == "__class__" else _method(w, value, name)


def _array_attribute(w: Evaluator, value: Array | Masked | Dynamic, name: str) -> Any:
    """An attribute of an array, or of a number, which has NumPy's too."""
    match value:
        case Array() if name in ("shape", "ndim", "size", "flags"):
            return getattr(w.read(value), name)
        case Array() if name in ("real", "imag"):
            return w.call(getattr(np, name), value)
        case Masked() if name in ("size", "shape"):
            return w.length(value) if name == "size" else Tuple((w.length(value),))
        case Masked() if name == "ndim":
            return 1 + max([to_objects(w, item).ndim for item in value.items], default=0)
        case Array() | Dynamic() if name == "dtype":
            return own_dtype(w, value)
        case Dynamic() if name in ("shape", "ndim", "size"):
            return getattr(np.empty(()), name)
        case Flagged() if name in ("value", "_value_"):
            return Dynamic(value.value)
        case Dynamic() if name == "T" or (name == "x" and value.type is INT and is_word(value)):
            return value
        case Array() if name == "T":
            return viewed(w, value, lambda array: array.T)
        case Array() if name == "flat":
            return showing(value, np.arange(w.read(value).size))
        case Dynamic() if name in ("real", "imag"):
            return arithmetic.unary(w, "+", value) if name == "real" else origins.zero_of(value)
        case Dynamic() if name in ("numerator", "denominator") and value.type.kind != "float":
            return arithmetic.unary(w, "+", value) if name == "numerator" else 1
    if name == "__class__":
        return certain_class(w, value)
    if isinstance(value, Dynamic):
        in_each_class(w, value, name)
    return _method(w, value, name)


def _method(w: Evaluator, value: Any, name: str) -> Builtin:
    """A method of a builtin class."""
    method = w.method(value, name)
    if method is not None:
        return method
    if in_class(value, name):
        raise w.error(
            f"{class_of(value).__name__}.{name} has no meaning on dynamic values: "
            "use it on known values, or write it in Python"
        )
    if isinstance(value, Iterator) and name == "send":
        return Builtin(name, functools.partial(w.send, value), value)
    if isinstance(value, Iterator) and name == "throw":

        def throw(error: Any, held: Any = None, _: Any = None) -> Any:
            return w.throw(value, error if held is None else held)

        return Builtin(name, throw, value)
    if isinstance(value, Iterator) and name == "close":
        return Builtin(name, functools.partial(w.call, library.close, value), value)
    hint = hint_of_number(value) if named(name, 4) else ""
    raise AttributeError(f"{describe(value)} has no attribute '{name}'{hint}")


def _own_class_attribute(w: Evaluator, cls: type, name: str) -> Any:
    """An attribute of a class that the function has made."""
    found = class_attribute(w, cls, name)
    if found is MISSING and any(name in vars(base) for base in cls.__mro__):
        raise AttributeError(f"type object '{cls.__name__}' has no attribute '{name}'")
    if found is MISSING or name in vars(type):  # its metaclass has a say
        return getattr(cls, name)
    if isinstance(found, classmethod):
        return Bound(found.__func__, (cls,))
    if isinstance(found, staticmethod):
        return found.__func__
    return found


_NAMES_OF_FUNCTIONS: Final = ("__name__", "__qualname__", "__doc__", "__module__", "__wrapped__")
_BOUNDS: Final = ("start", "stop", "step")
# What vectors have of NumPy's, and a short row of a table, which is a vector here, besides.
_FOLDS: Final = frozenset("sum prod min max mean dot any all".split())
_OF_ROWS: Final = vectors.OF_ARRAYS.union("copy dtype ndim shape size".split())


def _swizzle(w: Evaluator, value: Vector, name: str) -> Any:
    own = of_users_vector(w, value.cls, name)
    if own is not MISSING:
        return bind(w, own, value, value.cls)
    try:
        indices = swizzle(name, value.type.size)
    except AttributeError:
        if name == "copy" and not is_row(w, value):
            return Builtin(name, lambda: Vector(value.cls, value.type, w.read(value)))
        if name not in _FOLDS | {"copy"} and in_class(value, name):
            return _method(w, value, name)
        if name not in _FOLDS | _OF_ROWS:
            raise
        made = attribute(w, Array(to_objects(w, value)), name)
        is_own = name not in _FOLDS or is_row(w, value)
        return made if is_own else Builtin(name, lambda *a, **k: pythons(w, w.call(made, *a, **k)))
    contents = w.read(value)
    if isinstance(contents, tuple):
        chosen = tuple([contents[index] for index in indices])
        return chosen[0] if len(indices) == 1 else operands.vector_of(w, value, chosen)
    if len(indices) == 1:
        return dynamic(w, "swizzle", contents, data=indices)
    type = vector(value.type.kind, len(indices))
    return operands.make_vector(w, type, w.build.emit("swizzle", contents, data=indices))


def _instance_attribute(w: Evaluator, value: Instance, name: str) -> Any:
    if isinstance(value.cls.__getattribute__, types.FunctionType):
        return w.call(class_attribute(w, value.cls, "__getattribute__"), value, name)
    return plain_attribute(w, value, name)


def plain_attribute(w: Evaluator, value: Any, name: str) -> Any:
    """object.__getattribute__"""
    if not isinstance(value, Instance):
        return object.__getattribute__(value, name)
    if name == "__class__":
        return class_of(value)
    if name == "__dict__":
        return Namespace(value)
    found = class_attribute(w, value.cls, name)
    if isinstance(found, property):
        otherwise = class_attribute(w, value.cls, "__getattr__")
        if otherwise is not MISSING:
            return w.call(library.given_or, found.fget, value, otherwise, name)
        return w.call(found.fget, value)
    if python_method(w, found, "__set__") is not None:  # a data descriptor comes first
        return bind(w, found, value, value.cls)
    computed = type(MISSING), types.MemberDescriptorType, functools.cached_property
    otherwise = functools.partial(bind, w, found, value, value.cls)
    part = lookups.held(w, w.read(value), name, None if type(found) in computed else otherwise)
    if part is not ABSENT:
        return part
    if found is MISSING or isinstance(found, types.MemberDescriptorType):
        fallback = class_attribute(w, value.cls, "__getattr__")
        if fallback is not MISSING:
            return w.call(fallback, value, name)
        raise AttributeError(f"{_quoted(value.cls)} object has no attribute '{name}'")
    if isinstance(found, functools.cached_property):
        result = w.call(found.func, value)
        w.write(value, {**w.read(value), name: result})
        return result
    return bind(w, found, value, value.cls)


def _quoted(cls: type) -> str:
    return f"'{getattr(cls, 'stands_for', cls).__name__}'"  # as Python's messages name it


def _of_exception(w: Evaluator, value: Raised, name: str) -> Any:
    if value.held is not None and name not in ("__context__", "__traceback__"):
        return attribute(w, value.held, name)
    if value.fault.raised is not None and value.held is None:
        return getattr(value.fault.raised, name)
    raise w.error(
        f"what {describe(value)} holds is dynamic, and '{name}' of it is not there on the device: "
        "set a variable before the 'raise', and read that"
    )


_PLAIN: Final[dict[str, Callable[..., Any]]] = {
    "__getattribute__": lambda w, owner, name: plain_attribute(w, owner, name),
    "__setattr__": lambda w, owner, name, new: store_plain(w, owner, name, new),
    "__delattr__": lambda w, owner, name: delete_plain(w, owner, name),
}


def is_property(w: Evaluator, value: Any, name: Any) -> bool:
    """Whether an attribute is computed by a function of the user's, which may raise."""
    if not isinstance(value, Instance) or not isinstance(name, str):
        return False
    found, otherwise = [class_attribute(w, value.cls, each) for each in (name, "__getattr__")]
    is_computed = isinstance(value.cls.__getattribute__, types.FunctionType)
    is_computed |= found is MISSING and otherwise is not MISSING
    return is_computed or isinstance(found, (property, functools.cached_property))


def _super_attribute(w: Evaluator, value: Super, name: str) -> Any:
    owner = value.owner
    cls = owner.cls if isinstance(owner, Instance) else class_of(owner)
    cls = owner if isinstance(owner, type) else cls
    order = [vars(base).get("stands_for", base) for base in cls.__mro__]
    for base in cls.__mro__[order.index(value.cls) + 1 :]:
        if name in base.__dict__:
            found = base.__dict__[name]
            if base is tuple and isinstance(owner, Tuple) and name != "__new__":
                return attribute(w, Tuple(owner.items), name)
            if is_ours(base) and name != "__init__":
                return _of_vector(w, owner, name)
            if base is object and name == "__init__":
                return Builtin("__init__", lambda *args, **keywords: None)
            if name == "__init__" and isinstance(owner, Thrown) and base.__module__ == "builtins":
                return Builtin("__init__", lambda *args: store_plain(w, owner, "args", Tuple(args)))
            if base is object and name in _PLAIN:
                return Builtin(name, functools.partial(_PLAIN[name], w, owner))
            return bind(w, found, owner, cls)
    raise AttributeError(f"'super' object has no attribute '{name}'")


def _of_vector(w: Evaluator, owner: Vector, name: str) -> Any:
    """What our own class has of a vector of a class of the user's: super().__add__"""
    plain = operands.vector_of(w, owner, operands.components(w, owner))
    function = getattr(operator, name, None)
    if function is not None:
        return Builtin(name, functools.partial(w.call, function, plain))
    reflected = getattr(operator, f"__{name[3:]}", None)
    if reflected is not None:
        return Builtin(name, lambda other: w.call(reflected, other, plain))
    return attribute(w, plain, name)


def _named_tuple_attribute(w: Evaluator, value: Tuple, name: str) -> Any:
    fields = getattr(value.cls, "_fields", ())
    if name in fields:
        return value.items[fields.index(name)]
    if name == "_fields" and fields:
        return fields
    found = class_attribute(w, value.cls, name)
    if found is MISSING:
        raise AttributeError(f"{_quoted(value.cls)} object has no attribute '{name}'")
    if found is getattr(tuple, name, None) and isinstance(found, types.MethodDescriptorType):
        return attribute(w, Tuple(value.items), name)
    return bind(w, found, value, value.cls)


def set_attribute(w: Evaluator, value: Any, name: str, new: Any) -> None:
    """value.name = new"""
    match value:
        case Conflict():
            raise w.error(value.message)
        case Vector():
            operands.assign_components(w, value, swizzle(name, value.type.size, write=True), new)
        case Instance():
            setter = class_attribute(w, value.cls, "__setattr__")
            if _is_plain(setter, "__setattr__"):
                store_plain(w, value, name, new)
            else:
                w.call(bind(w, setter, value, value.cls), name, new)
        case Raised() if value.held is not None:
            set_attribute(w, value.held, name, new)
        case Function() if name[:2] != "__" or name in _NAMES_OF_FUNCTIONS:
            if value.attributes is None:
                value.attributes = Names({})
            w.write(value.attributes, {**w.read(value.attributes), name: new})
        case Tuple() if value.cls.__dictoffset__:
            raise w.error(
                f"{describe(value)} holds its items alone on dynamic values, and no '{name}': make "
                "it an item, or write a class that holds a tuple"
            )
        case Abstract():
            hint = hint_of_number(value)
            raise AttributeError(f"{describe(value)} has no attribute '{name}' to set{hint}")
        case type() if value in w.environment.class_parts:
            parts = w.environment.class_parts[value]
            made = realised(w, new) if isinstance(new, Function) else new
            w.write(parts, {**w.read(parts), name: made})
        case _:
            raise w.error(kept(value, f" (its attribute '{name}' was to be set)"))


def _is_plain(method: Any, name: str) -> bool:
    """Whether what a class has as one of the language's methods is C's own."""
    return isinstance(method, types.WrapperDescriptorType) and method.__name__ == name


def store_plain(w: Evaluator, value: Any, name: str, new: Any) -> None:
    """object.__setattr__"""
    if not isinstance(value, Instance):
        raise w.error(f"{describe(value)} came from outside and must not be changed")
    found = class_attribute(w, value.cls, name)
    if name == "__dict__":
        w.write(value, dict(w.read(new)) if isinstance(new, Dict) else dict(new))
    elif isinstance(found, property):
        if found.fset is None:
            raise AttributeError(
                f"property '{name}' of '{value.cls.__name__}' object has no setter"
            )
        w.call(found.fset, value, new)
    elif python_method(w, found, "__set__") is not None:
        w.call(python_method(w, found, "__set__"), found, value, new)
    elif not value.cls.__dictoffset__ and not isinstance(found, types.MemberDescriptorType):
        raise AttributeError(f"{_quoted(value.cls)} object has no attribute '{name}'")
    else:
        w.write(value, {**w.read(value), name: new})


def delete_attribute(w: Evaluator, value: Any, name: str) -> None:
    method = class_attribute(w, value.cls, "__delattr__") if isinstance(value, Instance) else None
    if method is not None and not _is_plain(method, "__delattr__"):
        w.call(bind(w, method, value, value.cls), name)
        return
    if isinstance(value, type) and value in w.environment.class_parts:
        parts = w.environment.class_parts[value]
        contents = w.read(parts)
        if contents.get(name, vars(value).get(name, ABSENT)) is ABSENT:
            raise AttributeError(f"type object '{value.__name__}' has no attribute '{name}'")
        w.write(parts, {**contents, name: ABSENT})
        return
    if not isinstance(value, Abstract):
        raise w.error(kept(value, f" (its attribute '{name}' was to be deleted)"))
    delete_plain(w, value, name)


def delete_plain(w: Evaluator, value: Any, name: str) -> None:
    """object.__delattr__"""
    if not isinstance(value, Instance):
        raise w.error(f"an attribute of {describe(value)} cannot be deleted")
    found = class_attribute(w, value.cls, name)
    if isinstance(found, property) and found.fdel is not None:
        w.call(found.fdel, value)
        return
    if python_method(w, found, "__delete__") is not None:
        w.call(python_method(w, found, "__delete__"), found, value)
        return
    contents = dict(w.read(value))
    if lookups.held(w, contents, name, None) is ABSENT:
        raise AttributeError(name)
    del contents[name]
    w.write(value, contents)
