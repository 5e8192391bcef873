"""What each parameter of a function is: an image, a uniform, an object, the position, or known.

The annotation decides, or a type given as the default (`im=Image`), or what `compile` was told.

    signature = Signature.of(function, {"kernel": sobel})
    values = signature.collect(args, kwargs)       # one for each parameter, or a TypeError
"""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np

from pygpu.core.errors import INSTEAD
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.annotations import Role, Scope, object_type, user_type, without_none
from pygpu.execution.arguments.convert import KINDS, is_picture, is_pil
from pygpu.language.matrices import MATRICES as MATRIX_CLASSES
from pygpu.language.vectors import CLASSES as VECTORS
from pygpu.types import Type

with later():
    from pygpu.execution.arguments import uniforms

RESERVED: Final = ("out", "shape", "dtype", "target")
MISSING: Final[Any] = inspect.Parameter.empty


@record
class Parameter:
    """One parameter. `type` is a Type for uniforms, the number of rows for matrices, that of
    coordinates for images, a class (or None: any) for objects. `default` is MISSING where a call
    must give a value; for known ones it is the value. `dynamic` is what a known parameter becomes
    when a call gives it a value."""

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
        elif self.role == "complex":
            uniforms.complex_number(self.default, self.name)
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
            case "image":
                return f"{self.name}: {KINDS[self.type].lower()}"
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


@record
class Known:
    """What a parameter of one of our own functions is known to be."""

    value: Any


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
        self.has_neighbours = self.position is not None  # whether there are pixels around this one
        self.required: Final = [i for i, value in enumerate(self.template) if value is MISSING]
        self.has_image: Final = any(p.role in ("image", "object") for p in parameters)

    @classmethod
    def by_roles(cls, function: Callable[..., Any], /, **roles: Any) -> Self:
        """That of one of our own functions. Each parameter is a Known, a uniform by its Type, an
        image by how many coordinates it has, or what its role is called."""

        def parameter(name: str, role: Any) -> Parameter:
            if isinstance(role, Known):
                return Parameter(name, "known", default=role.value)
            if isinstance(role, Type):
                return Parameter(name, "uniform", role)
            is_image = isinstance(role, int)
            return Parameter(name, "image", role) if is_image else Parameter(name, role)

        return cls(function, [parameter(*pair) for pair in roles.items()])

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
        scope = Scope(function, namespace or {})
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

    def take_known_by_place(self) -> None:
        """Let calls give known values by place, too, after the images and numbers: where what a
        library of the same function takes stands in its order."""
        self.positional.extend(
            i
            for i, p in enumerate(self.parameters)
            if p.kind in _BY_PLACE and p.role == "known" and i not in self.positional
        )

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
                    more = f"; {INSTEAD[name]}" if name in INSTEAD else ""
                    raise TypeError(
                        f"{self.name}() has no parameter {name!r}{self._listed()}{more}"
                    )
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
_BY_PLACE: Final = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_BY_NAME: Final = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


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


def _classify(
    function: Callable[..., Any],
    parameter: inspect.Parameter,
    values: Mapping[str, Any],
    scope: Scope,
    is_self: bool,
) -> Parameter:
    """What one parameter is."""
    name, default, kind = parameter.name, parameter.default, parameter.kind
    annotation = scope.evaluate(parameter.annotation)
    if default is None:
        annotation = without_none(annotation)
    found = user_type(annotation) or object_type(annotation)
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


def wrapped(parameter: Parameter, wrap: Callable[..., ImageLike]) -> Parameter:
    """The parameter with its picture as an image of the device."""
    if not wants_wrapping(parameter):
        return parameter
    assert parameter.dynamic is not None
    return replace(parameter, default=wrap(parameter.default, parameter.dynamic.type))
