"""`Shader`: the class that what is drawn derives from.

class Tinted(pygpu.Shader):
    tint: Vec3

    def vertex(self, position: Vec2):
        return Vec4(position, 0, 1)

    def fragment(self):
        return self.tint
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import typing
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar, Final

import numpy as np

from pygpu.core.errors import CompileError, shown
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.annotations import user_type, without_none
from pygpu.execution.arguments.convert import is_picture
from pygpu.language.matrices import MATRICES, Matrix
from pygpu.language.vectors import CLASSES as VECTORS
from pygpu.language.vectors import Vector

# What classes with fields of their own have, as CPython's versions call it.
_ANNOTATED: Final = ("__annotations__", "__annotate__", "__annotate_func__")


@typing.dataclass_transform(eq_default=False)
class Shader:
    """How a mesh is drawn: a subclass has the methods `vertex` and `fragment`.

    Annotated fields make a constructor, as a dataclass's. What they hold becomes uniforms and
    images, as of any object that a compiled function is given; classes and structure are compiled
    in. `vertex(self, **attributes)` takes attributes of the mesh by their names and returns the
    position in clip space, a Vec4, and after it what is interpolated; `fragment(self, *varyings)`
    takes that in the same order, and returns a colour, or a tuple of them, one an image. A
    parameter of `fragment` annotated as `Position` is the pixel. Both are plain Python methods too.
    """

    vertex: ClassVar[Callable[..., Any]]
    fragment: ClassVar[Callable[..., Any]]
    _drawings: ClassVar[dict[Any, Any]]  # what was compiled of this class: see drawings.py
    _trails: ClassVar[tuple[Any, ...]]  # how its objects were flattened: see trails.py
    _converted: ClassVar[dict[str, type] | None]  # fields that are converted, once they are known

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._drawings, cls._trails, cls._converted = {}, (), None
        for name, value in list(vars(cls).items()):  # each object has a vector of its own
            if isinstance(value, (Vector, Matrix)):
                setattr(
                    cls, name, dataclasses.field(default_factory=functools.partial(copy, value))
                )
        if any(name in vars(cls) for name in _ANNOTATED):
            dataclasses.dataclass(eq=False)(cls)

    def __setattr__(self, name: str, value: Any) -> None:
        wanted = _conversions(type(self)).get(name)
        object.__setattr__(self, name, value if wanted is None else _as(wanted, value, name))


def _conversions(cls: type[Shader]) -> dict[str, type]:
    """Which fields are of types of PyGPU's: a tuple given for a Vec3 is one, so that its numbers
    are uniforms and not part of the program."""
    if cls._converted is None:
        try:
            hints = typing.get_type_hints(cls)
        except Exception:  # a name that is not there is no type of ours
            hints = {}
            for base in reversed(cls.__mro__):
                hints |= _own_hints(base)
        cls._converted = {
            name: without_none(hint)
            for name, hint in hints.items()
            if user_type(without_none(hint)) is not None
        }
    return cls._converted


def _own_hints(cls: type) -> dict[str, Any]:
    """A class's annotations as far as each can be evaluated in its module."""
    names = vars(sys.modules.get(cls.__module__, typing))
    found = {}
    for name, hint in getattr(cls, "__annotations__", {}).items():
        try:
            found[name] = eval(hint, dict(names)) if isinstance(hint, str) else hint
        except Exception:
            continue
    return found


def _as(cls: type, value: Any, name: str) -> Any:
    """What is given for a field of a type of PyGPU's, as one."""
    found = user_type(cls)
    assert found is not None
    role, type = found
    if role == "image" and is_picture(value) and not isinstance(value, ImageLike):
        raise TypeError(
            f"{name}: an image held by a shader is a pygpu.Image: give pygpu.Image({name})"
        )
    is_items = isinstance(value, (list, tuple, np.ndarray))
    try:
        if role == "matrix" and is_items:
            return MATRICES[type](value)
        if role == "uniform" and not type.is_scalar:
            return VECTORS[type](*value) if is_items else value
    except TypeError as error:
        raise TypeError(f"{name}: {error}") from None
    if role == "matrix" and not isinstance(value, cls):
        raise TypeError(f"{name}: takes a {cls.__name__}, or its rows; got {shown(value)}")
    if role != "uniform":
        return value
    numbers = (int, np.integer, np.floating)
    is_number = isinstance(value, numbers) and not isinstance(value, bool)
    return float(value) if is_number and type.kind == "float" else value


def method(shader: Shader, name: str) -> Any:
    """The function of a shader's method. TypeError where there is none."""
    function = getattr(type(shader), name, None)
    function = getattr(function, "__wrapped__", function)
    if function is None:
        raise TypeError(f"{type(shader).__name__} has no method {name!r}: a shader has both")
    if not hasattr(function, "__code__"):
        raise CompileError(f"{type(shader).__name__}.{name} is no method written in Python")
    return function
