"""What objects given to functions hold: fields by name, items by place or key, and how a value of
each class is taken there.

    fields_of(lamp, category(type(lamp)))      # {"colour": Vec3(...), "strength": 2.0}
    image_fields(Lit)                          # {"albedo": "Image"}: those annotated so
"""

from __future__ import annotations

import enum
import types
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal, TypeVar

import numpy as np

from pygpu.core.storage import ImageLike, NumberLike, UnseenNumber
from pygpu.execution.arguments.annotations import user_type, written_in_python
from pygpu.execution.arguments.convert import KINDS
from pygpu.language.matrices import Mat2, Mat3, Mat4
from pygpu.language.scalars import UInt
from pygpu.language.vectors import Vector

_T = TypeVar("_T")
Category = Literal[
    "float", "int", "uint", "bool", "complex", "vector", "matrix", "image", "items",
    "mapping", "object", "number", "known",
]  # fmt: skip


def _per_class(function: Callable[[type], _T]) -> Callable[[type], _T]:
    """Remembers what a function says of a class."""
    return lru_cache(maxsize=4096)(function)


def fields_of(value: Any, kind: Category) -> dict[Any, Any]:
    """What an object holds: attributes by name, items by index or key."""
    if kind == "items":
        return dict(enumerate(value))
    if kind == "mapping":
        return dict(value)
    fields: dict[Any, Any] = dict(getattr(value, "__dict__", ()))
    for name in slots_of(type(value)):
        if name not in fields and hasattr(value, name):
            fields[name] = getattr(value, name)
    if isinstance(value, tuple):
        fields.update(enumerate(value))
    return fields


@_per_class
def slots_of(cls: type) -> tuple[str, ...]:
    """The names of a class's slots, as attributes have them."""
    names: list[str] = []
    for base in reversed(cls.__mro__):
        slots = vars(base).get("__slots__", ())
        for name in [slots] if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                private = name.startswith("__") and not name.endswith("__")
                names.append(f"_{base.__name__.lstrip('_')}{name}" if private else name)
    return tuple(names)


@_per_class
def category(cls: type) -> Category:
    """How a value of a class is taken where it is held by an object."""
    for bases, kind in _CATEGORIES:
        if issubclass(cls, bases):
            return kind
    return "object" if written_in_python(cls) and not _is_compiled(cls) else "known"


def _is_compiled(cls: type) -> bool:
    """Whether objects of a class are functions that PyGPU made of plain ones."""
    said = any("__wrapped__" in _annotations(base) for base in cls.__mro__)
    return said or hasattr(cls, "plain_binding")


_CATEGORIES: Final[tuple[tuple[Any, Category], ...]] = (
    ((enum.Enum, type, np.ndarray, types.FunctionType, types.ModuleType), "known"),
    ((bool, np.bool_), "bool"),
    ((UInt, np.uint32), "uint"),
    ((int, np.integer), "int"),
    ((float, np.floating), "float"),
    ((complex, np.complexfloating), "complex"),
    (Vector, "vector"),
    ((Mat2, Mat3, Mat4), "matrix"),
    (ImageLike, "image"),
    (UnseenNumber, "float"),
    (NumberLike, "number"),
    ((list, tuple), "items"),
    (dict, "mapping"),
)


@_per_class
def image_fields(cls: type) -> dict[str, str]:
    """The attributes that a class or a base annotates as images, and with which class."""
    names = {}
    for base in cls.__mro__:
        for name, annotation in _annotations(base).items():
            text = annotation if isinstance(annotation, str) else ""
            asked, named = user_type(annotation), text.rpartition(".")[2]
            if asked is not None and asked[0] == "image":
                names[name] = KINDS[asked[1]]
            elif named in KINDS.values():
                names[name] = named
    return names


def _annotations(cls: type) -> dict[str, Any]:
    """A class's own annotations, as far as they can be evaluated."""
    try:
        return vars(cls).get("__annotations__") or getattr(cls, "__annotations__", {}) or {}
    except NameError:  # evaluated lazily from 3.14 on, and it names what is not there
        return {}
