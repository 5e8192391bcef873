"""What each parameter of a function is: an image, a uniform, an object, the position, or known.

The annotation decides, or a type given as the default (`im=Image`), or what `compile` was told.

    signature = Signature.of(function, {"kernel": sobel})
    values = signature.collect(args, kwargs)       # one for each parameter, or a TypeError
"""

from __future__ import annotations

import enum
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from pygpu.core.storage import ImageLike
from pygpu.execution.arguments import uniforms
from pygpu.execution.arguments.convert import is_picture, is_pil
from pygpu.language.matrices import MATRICES as MATRIX_CLASSES
from pygpu.language.matrices import Mat2, Mat3, Mat4
from pygpu.language.scalars import Bool, Float, Int
from pygpu.language.vectors import CLASSES as VECTORS
from pygpu.language.vectors import Position
from pygpu.types import BOOL, FLOAT, INT, Type

Role = Literal["image", "uniform", "matrix", "object", "position", "known"]

RESERVED: Final = ("out", "shape", "dtype", "target")
MISSING: Final[Any] = inspect.Parameter.empty

UNIFORMS: Final[dict[type, Type]] = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    Float: FLOAT,
    Int: INT,
    Bool: BOOL,
} | {cls: type for type, cls in VECTORS.items()}
MATRICES: Final[dict[type, int]] = {Mat2: 2, Mat3: 3, Mat4: 4}


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `type` is a Type for uniforms, the number of rows for matrices, a class (or
    None: any) for objects. `default` is MISSING where a call must give a value; for known ones
    it is the value. `dynamic` is what a known parameter becomes when a call gives it a value."""

    name: str
    role: Role
    type: Any = None
    default: Any = MISSING
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    dynamic: Parameter | None = None

    def vector_class(self) -> type | None:
        """The class of a parameter that is a vector or a matrix."""
        if self.role == "matrix":
            return MATRIX_CLASSES[self.type]
        is_vector = self.role == "uniform" and not self.type.is_scalar
        return VECTORS[self.type] if is_vector else None

    @property
    def is_left(self) -> bool:
        """Whether the default, where a call leaves it, is known: also None in place of an image
        or a number (`mask: Image = None`)."""
        return self.role == "known" or self.default is None

    def check_default(self) -> None:
        """TypeError, ValueError or OverflowError where the default does not fit the type."""
        if self.default is MISSING or self.default is None:
            return
        if self.role == "uniform":
            uniforms.convert(self.type, self.default, self.name)
        elif self.role == "matrix":
            uniforms.matrix(self.type, self.default, self.name)

    def __str__(self) -> str:
        match self.role:
            case "uniform":
                return f"{self.name}: {self.type}"
            case "matrix":
                return f"{self.name}: mat{self.type}"
            case "object":
                return f"{self.name}: {self.type.__name__ if self.type else 'object'}"
            case "known":
                shown = repr(self.default)
                return f"{self.name}={shown if len(shown) <= 40 else type(self.default).__name__}"
            case role:
                return f"{self.name}: {role}"

    def described(self) -> tuple[str, str]:
        """The name, and in words what it is."""
        _, _, rest = str(self).partition(self.name)
        match self.role:
            case "position":
                return self.name, "the position being computed, supplied by PyGPU"
            case "known":
                return self.name, f"known: {rest.lstrip('=')}"
        default = "" if self.default is MISSING else f", {self.default!r} where none is given"
        return self.name, f"dynamic: {rest.lstrip(': ')}{default}"


def user_type(annotation: Any) -> tuple[Role, Any] | None:
    """The role and type that an annotation (or a default, or a value of compile) asks for."""
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if not isinstance(annotation, type):
        return None
    if annotation in UNIFORMS:
        return "uniform", UNIFORMS[annotation]
    if annotation in MATRICES:
        return "matrix", MATRICES[annotation]
    if annotation is Position:
        return "position", None
    if issubclass(annotation, ImageLike):
        return "image", None
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


def _object_type(annotation: Any) -> tuple[Role, Any] | None:
    """Annotations alone may name a user's class."""
    if not isinstance(annotation, type) or typing.get_origin(annotation) is not None:
        return None
    if annotation.__module__.startswith(("PIL.", "numpy.")):
        return None
    named_tuple = issubclass(annotation, tuple) and hasattr(annotation, "_fields")
    if named_tuple or issubclass(annotation, enum.Enum) or written_in_python(annotation):
        return "object", annotation
    return None


class Signature:
    """The parameters of a function, and how a call's arguments go to them."""

    def __init__(self, function: Callable[..., Any], parameters: Sequence[Parameter]) -> None:
        self.name: str = getattr(function, "__name__", type(function).__name__)
        self.parameters: Final = tuple(parameters)
        self.indices: Final = {p.name: i for i, p in enumerate(parameters)}
        self.template: Final = [
            _NOTHING[p.kind] if p.kind in _NOTHING and p.default is MISSING else p.default
            for p in parameters
        ]
        self.positional: Final = [
            i
            for i, p in enumerate(parameters)
            if p.kind in _BY_PLACE and p.role not in ("position", "known")
        ]
        self.rest: Final = _index_of_kind(parameters, _VAR_POSITIONAL)
        self.keywords: Final = _index_of_kind(parameters, _VAR_KEYWORD)
        self.position: Final = next(
            (i for i, p in enumerate(parameters) if p.role == "position"), None
        )
        if self.position is not None:
            self.template[self.position] = None
        self.required: Final = [i for i, value in enumerate(self.template) if value is MISSING]
        self.has_image: Final = any(p.role in ("image", "object") for p in parameters)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        values: Mapping[str, Any],
        namespace: Mapping[str, Any] | None = None,
    ) -> Signature:
        """The signature of a Python function, `values` being what compile was told.

        `namespace` is where string annotations may find names that are neither global nor closed
        over. TypeError names the parameter that has no type and no value.
        """
        plain = _signature(function)
        names = plain.parameters
        _check_values(function, plain, values)
        scope = _Scope(function, namespace or {})
        parameters = []
        for place, parameter in enumerate(names.values()):
            if parameter.name in RESERVED:
                raise TypeError(
                    f"{_name(function)}() has a parameter {parameter.name!r}, a name that PyGPU "
                    "keeps for its own keywords (out, shape, dtype, target): rename it"
                )
            is_self = place == 0 and _is_method(function)
            parameters.append(_classify(function, parameter, values, scope, is_self))
        positions = [p.name for p in parameters if p.role == "position"]
        if len(positions) > 1:
            raise TypeError(
                f"{_name(function)}() has more than one Position: {', '.join(positions)}; "
                "there is one pixel being computed"
            )
        return cls(function, parameters)

    def collect(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
        """A value for each parameter, in order. TypeError names what is missing or too much."""
        values = self.template.copy()
        if len(args) > len(self.positional):
            if self.rest is None:
                raise TypeError(
                    f"{self.name}() takes {len(self.positional)} "
                    f"argument{'s' * (len(self.positional) != 1)} by place"
                    f"{self._listed()}, got {len(args)}"
                )
            values[self.rest] = tuple(args[len(self.positional) :])
        for index, value in zip(self.positional, args, strict=False):
            values[index] = value
        if kwargs:
            self._collect_keywords(values, len(args), kwargs)
        for index in self.required:
            if values[index] is MISSING:
                missing = [str(self.parameters[i]) for i in self.required if values[i] is MISSING]
                raise TypeError(f"{self.name}() needs {', '.join(missing)}")
        return values

    def _collect_keywords(
        self, values: list[Any], by_place: int, kwargs: Mapping[str, Any]
    ) -> None:
        taken = set(self.positional[:by_place])
        for name, value in kwargs.items():
            index = self.indices.get(name)
            parameter = None if index is None else self.parameters[index]
            if parameter is None or parameter.kind not in _BY_NAME:
                if self.keywords is None:
                    raise TypeError(f"{self.name}() has no parameter {name!r}{self._listed()}")
                values[self.keywords] = values[self.keywords] | {name: value}
            elif index in taken:
                raise TypeError(f"{self.name}() got two values for {name!r}")
            else:
                assert index is not None
                values[index] = value

    def _listed(self) -> str:
        shown = ", ".join(str(p) for p in self.parameters if p.role != "position")
        return f" (its parameters are {shown})" if shown else " (it has no parameters)"

    def __str__(self) -> str:
        return ", ".join(map(str, self.parameters))


_VAR_POSITIONAL: Final = inspect.Parameter.VAR_POSITIONAL
_VAR_KEYWORD: Final = inspect.Parameter.VAR_KEYWORD
_NOTHING: Final[dict[Any, Any]] = {_VAR_POSITIONAL: (), _VAR_KEYWORD: {}}  # where none is given
_BY_PLACE: Final = (
    inspect.Parameter.POSITIONAL_ONLY,
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
)
_BY_NAME: Final = (
    inspect.Parameter.POSITIONAL_OR_KEYWORD,
    inspect.Parameter.KEYWORD_ONLY,
)


def _index_of_kind(parameters: Sequence[Parameter], kind: Any) -> int | None:
    return next((i for i, p in enumerate(parameters) if p.kind is kind), None)


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__name__", repr(function))


def _signature(function: Callable[..., Any]) -> inspect.Signature:
    """The plain signature; annotations that cannot be evaluated stay strings or references."""
    if sys.version_info >= (3, 14):
        from annotationlib import Format  # new in 3.14

        return inspect.signature(function, annotation_format=Format.FORWARDREF)
    return inspect.signature(function)


def _check_values(
    function: Callable[..., Any], signature: inspect.Signature, values: Mapping[str, Any]
) -> None:
    takes_any = any(p.kind is _VAR_KEYWORD for p in signature.parameters.values())
    for name in values:
        if name not in signature.parameters and not takes_any:
            listed = ", ".join(signature.parameters) or "none"
            raise TypeError(
                f"compile: {_name(function)}() has no parameter {name!r}; it has {listed}"
            )


def _is_method(function: Callable[..., Any]) -> bool:
    """Whether a function was defined in a class body, as its qualified name tells."""
    owner, dot, _ = getattr(function, "__qualname__", "").rpartition(".")
    return bool(dot) and not owner.endswith("<locals>")


class _Scope:
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


def _classify(
    function: Callable[..., Any],
    parameter: inspect.Parameter,
    values: Mapping[str, Any],
    scope: _Scope,
    is_self: bool,
) -> Parameter:
    """What one parameter is."""
    name, default, kind = parameter.name, parameter.default, parameter.kind
    annotation = scope.evaluate(parameter.annotation)
    if default is None:
        annotation = _without_none(annotation)
    found = user_type(annotation) or _object_type(annotation)
    by_default = None if found else user_type(default)
    if found is not None and user_type(default) is not None:
        default = MISSING  # `im: Image = Image` says the type twice
    asked = found or by_default
    if by_default is not None:
        default = MISSING
    typed = Parameter(name, *asked, default, kind) if asked else None

    if name in values:
        told = user_type(values[name])
        if told is not None:
            return _with_fitting_default(Parameter(name, *told, default, kind))
        return Parameter(name, "known", None, _snapshot(values[name]), kind, typed)
    if kind is _VAR_KEYWORD:
        extra = {key: v for key, v in values.items() if key not in _names(function)}
        return typed or Parameter(name, "known", None, extra, kind)
    if typed is not None:
        if default is not MISSING and asked is not None and asked[0] == "position":
            raise TypeError(f"{_name(function)}(): the Position {name!r} can have no default")
        typed.check_default()
        return typed
    if is_self and default is MISSING:
        return Parameter(name, "object", None, MISSING, kind)
    if kind is _VAR_POSITIONAL:
        return Parameter(name, "known", None, (), kind)
    if default is not MISSING:
        return Parameter(name, "known", None, _snapshot(default), kind)
    raise TypeError(_no_type(function, parameter, annotation))


def _with_fitting_default(parameter: Parameter) -> Parameter:
    """The parameter, of a type told to compile, with its default if that is of this type."""
    default = parameter.default
    if parameter.role == "image" and default is not None and not is_picture(default):
        return replace(parameter, default=MISSING)
    try:
        parameter.check_default()
    except (TypeError, ValueError, OverflowError):
        return replace(parameter, default=MISSING)
    return replace(parameter, default=MISSING) if parameter.role == "position" else parameter


def _without_none(annotation: Any) -> Any:
    """The X of `X | None`; anything else as it is."""
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        parts = [part for part in typing.get_args(annotation) if part is not types.NoneType]
        if len(parts) == 1:
            return parts[0]
    return annotation


def _names(function: Callable[..., Any]) -> Mapping[str, Any]:
    return _signature(function).parameters


def _snapshot(value: Any) -> Any:
    """Arrays bound by value are snapshots."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _no_type(function: Callable[..., Any], parameter: inspect.Parameter, annotation: Any) -> str:
    name = parameter.name
    message = (
        f"compile: parameter {name!r} of {_name(function)}() has no type and no value; give it a "
        f"type ({name}: Float, or Int, Bool, Vec3, Image, Position, a class) or a value "
        f"(compile({_name(function)}, {name}=...))"
    )
    if isinstance(annotation, types.ModuleType) and annotation.__name__ == "PIL.Image":
        return f"{message}; its annotation is the module PIL.Image: pygpu.Image is meant"
    if isinstance(annotation, str) or hasattr(annotation, "__forward_arg__"):
        shown = getattr(annotation, "__forward_arg__", annotation)
        return f"{message}; its annotation {shown!r} cannot be evaluated here"
    if annotation is not inspect.Parameter.empty:
        return f"{message}; its annotation {annotation!r} is no type of PyGPU"
    return message


def wants_wrapping(parameter: Parameter) -> bool:
    """Whether a known value is a picture bound to a parameter that is annotated as an image."""
    return (
        parameter.role == "known"
        and parameter.dynamic is not None
        and parameter.dynamic.role == "image"
        and not isinstance(parameter.default, ImageLike)
        and (is_picture(parameter.default) or is_pil(parameter.default))
    )


def wrapped(parameter: Parameter, wrap: Callable[[Any], ImageLike]) -> Parameter:
    """The parameter with its picture as an image of the device."""
    if not wants_wrapping(parameter):
        return parameter
    return replace(parameter, default=wrap(parameter.default))
