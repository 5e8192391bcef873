"""What annotations say of parameters: which are types of PyGPU, and which classes of the user's.

user_type(Vec3) == ("uniform", vector("float", 3)); user_type(Volume) == ("image", 3)
object_type(Camera) == ("object", Camera)
Scope(function, {}).evaluate("Image")      # of the text of an annotation, what it names
"""

from __future__ import annotations

import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from pygpu.core.host.later import later
from pygpu.core.storage import ImageLike
from pygpu.language.matrices import Mat2, Mat3, Mat4
from pygpu.language.scalars import Bool, Complex, Float, Int, UInt
from pygpu.language.vectors import CLASSES as VECTORS
from pygpu.language.vectors import Position
from pygpu.types import BOOL, FLOAT, INT, UINT, Type

with later():
    from pygpu.language import textures

Role = Literal["image", "uniform", "complex", "matrix", "object", "position", "known"]

UNIFORMS: Final[dict[type, Type]] = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    Float: FLOAT,
    Int: INT,
    UInt: UINT,
    Bool: BOOL,
} | {cls: type for type, cls in VECTORS.items()}
MATRICES: Final[dict[type, int]] = {Mat2: 2, Mat3: 3, Mat4: 4}


def user_type(annotation: Any) -> tuple[Role, Any] | None:
    """The role and type that an annotation (or a default, or a value of compile) asks for."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if not isinstance(annotation, type) or annotation is inspect.Parameter.empty:
        return None
    if annotation in UNIFORMS:
        return "uniform", UNIFORMS[annotation]
    if annotation in (complex, Complex):
        return "complex", None
    if annotation in MATRICES:
        return "matrix", MATRICES[annotation]
    if annotation is Position:
        return "position", None
    if issubclass(annotation, ImageLike):
        return "image", annotation.dims
    if issubclass(annotation, textures.Cube):
        return "object", annotation
    return None


_LIBRARY: Final = sys.stdlib_module_names - {"__main__", "builtins"}  # exec's classes are in these


def written_in_python(cls: type) -> bool:
    """Whether instances hold no more than Python attributes: no class of their bases is in C.
    Classes of the standard library count as C: nobody means their insides as uniforms."""
    if cls is types.SimpleNamespace:
        return True
    if cls.__module__.partition(".")[0] in _LIBRARY:
        return False
    if issubclass(cls, (enum.Enum, type, BaseException)):
        return False
    return all(
        base is object
        or (
            base.__flags__ & _HEAP_TYPE
            and (
                "__weakref__" in vars(base)
                or "__slots__" in vars(base)
                or base.__base__ is not object
            )
        )
        for base in cls.__mro__
    )


_HEAP_TYPE: Final = 1 << 9  # Py_TPFLAGS_HEAPTYPE: static types are in C for certain


def object_type(annotation: Any) -> tuple[Role, Any] | None:
    """Annotations alone may name a user's class."""
    if not isinstance(annotation, type) or typing.get_origin(annotation) is not None:
        return None
    if annotation.__module__.startswith(("PIL.", "numpy.")):
        return None
    named_tuple = issubclass(annotation, tuple) and hasattr(annotation, "_fields")
    if named_tuple or issubclass(annotation, enum.Enum) or written_in_python(annotation):
        return "object", annotation
    return None


class Scope:
    """Where the names in a string annotation are looked up: closure, globals, the caller."""

    def __init__(self, function: Callable[..., Any], namespace: Mapping[str, Any]) -> None:
        self.globals = getattr(function, "__globals__", {})
        self.locals = dict(namespace)
        code = getattr(function, "__code__", None)
        cells = getattr(function, "__closure__", None) or ()
        for name, cell in zip(code.co_freevars if code else (), cells, strict=False):
            try:
                self.locals[name] = cell.cell_contents
            except ValueError:  # a variable that has no value yet
                continue

    def evaluate(self, annotation: Any) -> Any:
        """The annotation as an object; itself where it cannot be evaluated."""
        text = getattr(annotation, "__forward_arg__", annotation)
        if not isinstance(text, str):
            return annotation
        try:
            return eval(text, dict(self.globals), self.locals)
        except Exception:  # whatever it is, it is no type of ours
            return annotation


def without_none(annotation: Any) -> Any:
    """The X of `X | None`; anything else as it is."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not types.NoneType]
        if len(parts) == 1:
            return parts[0]
    return annotation
