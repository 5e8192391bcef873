"""The arguments of a call, flattened: images, uniforms, and a key of all that is compiled in.

Calls with equal keys run the same program. Objects are entered: their numbers become uniforms,
their images inputs, and their classes and structure part of the key. `bindings` then says the same
to the walker, in the same order, with specs in place of what is dynamic.

    arguments = flatten(signature, values)
    arguments.key, arguments.images, arguments.uniforms
    bindings(signature, arguments)         # {"gain": UniformSpec(0, "gain", float), ...}
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import field
from typing import Any, Final

import numpy as np

from pygpu.core import sampler
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.sampler import Sampler
from pygpu.core.specs import (
    ComplexSpec,
    ImageSpec,
    MatrixSpec,
    NumberSpec,
    ObjectSpec,
    PositionSpec,
    UniformSpec,
)
from pygpu.core.storage import ImageLike, NumberLike, Storage, UnseenNumber
from pygpu.execution.arguments.contents import category, fields_of, image_fields
from pygpu.execution.arguments.convert import KINDS, array_of, is_lazy, is_pil, storage_of
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.ssa import Constant, ImageInput
from pygpu.types import BOOL, FLOAT, INT, UINT, Type, vector

with later():
    from pygpu.execution.arguments import uniforms
    from pygpu.language import textures

SCALARS: Final[dict[str, Type]] = {"float": FLOAT, "int": INT, "uint": UINT, "bool": BOOL}
_REST: Final = inspect.Parameter.VAR_POSITIONAL
_KEYWORDS: Final = inspect.Parameter.VAR_KEYWORD
TEXTURE: Final = 3  # the rank of what textures hold: their sizes say nothing of results
NUMBER: Final = 4  # the rank of a number that is on a device: an image of one texel
OBJECT_LIMIT: Final = 20_000  # parts of an object's graph: more is hardly meant


@record(frozen=False)
class Given:
    """An image given at a call: its texels, how it is read, what the caller handed over, and how
    near to the call it was: 0 for an argument, 1 for a default, 2 for what an object holds, 3
    (TEXTURE) for what is read by coordinates of its own, 4 (NUMBER) for a number of a device's."""

    storage: Storage
    sampler: Sampler
    original: Any
    rank: int = 0


@record(frozen=False)
class Arguments:
    """What a call gives, flattened in the order of the parameters."""

    values: list[Any]
    key: list[Any] = field(default_factory=list)
    images: list[Given] = field(default_factory=list)
    uniforms: list[Constant] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)  # objects entered, by id
    rank: int = 0  # of the images that are being added
    checked: bool = False  # whether what goes wrong at run time is to be found
    fast: bool = False  # whether functions may err by 2**-12
    asked: int = 0  # axes of the shape that was asked for, if one was
    stays: bool = True  # whether numbers of a device are images of one texel; else they are read

    @property
    def deciding(self) -> Sequence[Given]:
        """The images that say what results are like: those given as arguments if there are any,
        else those left at their defaults, else those that objects hold."""
        ranks = {given.rank for given in self.images}
        if len(ranks) < 2 and NUMBER not in ranks:
            return self.images
        nearest = min(ranks - {NUMBER}, default=TEXTURE)
        return [given for given in self.images if given.rank == nearest]

    @property
    def first(self) -> int:
        """Which image gives the results their size, and how they are read; their number where none
        does."""
        images = self.images
        first = min(range(len(images)), key=lambda i: images[i].rank, default=0)
        return len(images) if images and images[first].rank >= TEXTURE else first

    @property
    def dims(self) -> int:
        """How many coordinates a position has: those of the shape that was asked for, else of the
        image that gives the results their size."""
        first = self.first
        return self.asked or (self.images[first].storage.dims if first < len(self.images) else 2)


# ---------------------------------------------------------------- flattening


def flatten(signature: Signature, values: list[Any], stays: bool = True) -> Arguments:
    """The arguments of one call. Errors name the parameter and what it takes. Numbers of a device
    stay there, or are read if they do not."""
    values = [_known(*pair) for pair in zip(signature.parameters, values, strict=True)]
    arguments = Arguments(values, stays=stays)
    for parameter, value in zip(signature.parameters, values, strict=True):
        arguments.rank = 0
        if value is parameter.default:
            if parameter.is_left:
                arguments.key.append(None)
                continue
            arguments.rank = 1
        if parameter.kind is _REST:
            arguments.key.append(len(value))
            for place, item in enumerate(value):
                add(arguments, parameter, item, f"{parameter.name}[{place}]")
        elif parameter.kind is _KEYWORDS:
            arguments.key.append(tuple(value))
            for name, item in value.items():
                add(arguments, parameter, item, name)
        else:
            add(arguments, parameter, value, parameter.name)
    return arguments


def add(arguments: Arguments, parameter: Parameter, value: Any, name: str) -> None:
    """Flatten the argument of one parameter."""
    match parameter.role:
        case "image":
            if isinstance(value, textures.Mipmaps):
                _enter(arguments, value, name)
            else:
                _add_image(arguments, value, name, parameter.type)
        case "uniform":
            if isinstance(value, NumberLike):
                if _stays(arguments, value, parameter.type):
                    _add_number(arguments, value, name)
                    return
                if not isinstance(value, UnseenNumber):
                    value = value.item()
            arguments.uniforms.append(uniforms.convert(parameter.type, value, name))
        case "complex":
            arguments.uniforms.append(uniforms.complex_number(value, name))
        case "matrix":
            arguments.uniforms.extend(uniforms.matrix(parameter.type, value, name))
        case "object":
            check_class(parameter, value)
            arguments.rank = 2
            _enter(arguments, value, name)
        case "known":
            if parameter.dynamic is not None and parameter.dynamic.role != "position":
                arguments.key.append(parameter.name)
                add(arguments, parameter.dynamic, value, name)
            else:
                arguments.key.append((parameter.name, known_key(value)))


def _add_image(arguments: Arguments, value: Any, name: str, dims: int) -> None:
    if isinstance(value, ImageLike):
        if value.dims != dims:
            kind, taken = KINDS[value.dims], f"takes {_AN[dims]}"
            raise TypeError(f"{name}: {taken}, got a pygpu.{kind} of shape {value.storage.shape}")
        given = Given(value.storage, sampler.of(value), value, arguments.rank)
    else:
        storage = storage_of(array_of(value, name, dims), name, dims)
        reading = sampler.default(storage.dtype, storage.channels)
        given = Given(storage, reading, value, arguments.rank)
    arguments.images.append(given)
    arguments.key += given.sampler, dims


def _known(parameter: Parameter, value: Any) -> Any:
    """What is compiled in must be known: a number of a device's is read."""
    if isinstance(value, NumberLike) and parameter.role == "known":
        dynamic = parameter.dynamic
        return value if dynamic is not None and dynamic.role == "uniform" else value.item()
    return value


def _stays(arguments: Arguments, value: NumberLike, type: Type) -> bool:
    """Whether a number of a device's can be handed on there as one of this type. One that is none
    is read, and then refused by its value."""
    if isinstance(value, UnseenNumber):
        return False
    held = value.format.kind
    fits = type.kind in (held, "float") or (type.kind, held) == ("int", "bool")
    return arguments.stays and type.size == value.format.channels and fits


def _add_number(arguments: Arguments, value: NumberLike, name: str) -> None:
    reading = sampler.make(value.format)
    arguments.images.append(Given(value.storage, reading, value, NUMBER))
    arguments.key += "number", name, reading


_AN: Final = {1: "a Signal (N,)", 2: "an Image (H, W)", 3: "a Volume (D, H, W)"}


def check_class(parameter: Parameter, value: Any) -> None:
    """TypeError where an object is not of the class that the parameter is annotated with."""
    wanted = parameter.type
    if wanted is None or getattr(wanted, "_is_protocol", False) or isinstance(value, wanted):
        return
    raise TypeError(f"{parameter.name}: takes a {wanted.__name__}, got a {type(value).__name__}")


def _enter(arguments: Arguments, value: Any, name: str) -> None:
    """Flatten what an object's field holds, and what that holds in turn."""
    cls = type(value)
    kind = category(cls)
    key = arguments.key
    if kind in SCALARS:
        key.append(kind)
        arguments.uniforms.append(uniforms.convert(SCALARS[kind], value, name))
        return
    if kind == "complex":
        key.append(kind)
        arguments.uniforms.append(uniforms.complex_number(value, name))
        return
    if kind == "number":
        if arguments.stays:
            _add_number(arguments, value, name)
        else:
            _enter(arguments, value.item(), name)
        return
    if kind == "known":
        key.append(known_key(value))
        return
    seen = arguments.seen.get(id(value))
    if seen is not None:
        key.append(("again", seen))
        return
    if len(arguments.seen) >= OBJECT_LIMIT:
        raise TypeError(f"{name}: the object holds more than {OBJECT_LIMIT} others")
    arguments.seen[id(value)] = len(arguments.seen)
    match kind:
        case "vector":
            key.append(cls)
            arguments.uniforms.append(uniforms.convert(cls.TYPE, value, name))
        case "matrix":
            key.append(cls)
            arguments.uniforms.extend(uniforms.matrix(len(value), value, name))
        case "image":
            _add_image(arguments, value, name, value.dims)
        case _:
            children = fields_of(value, kind)
            rank = arguments.rank
            if isinstance(value, textures.TEXTURES):
                arguments.rank = TEXTURE
            key.append((cls, tuple([_field_key(field) for field in children])))
            for field_name, child in children.items():
                _enter(arguments, child, f"{name}.{field_name}")
            arguments.rank = rank


def _field_key(name: Any) -> Any:
    return name if type(name) in (str, int) else known_key(name)


# ---------------------------------------------------------------- the same for the walker


@record(frozen=False)
class _Binder:
    """Makes specs, counting images and uniforms as `flatten` does."""

    arguments: Arguments
    images: list[ImageInput] = field(default_factory=list)
    uniforms: list[tuple[str, Type]] = field(default_factory=list)
    seen: dict[int, Any] = field(default_factory=dict)

    def image(self, name: str) -> ImageSpec:
        index = len(self.images)
        given = self.arguments.images[index]
        reading = given.sampler
        self.images.append(ImageInput(name, reading.type, given.storage.dims))
        return ImageSpec(
            index,
            name,
            reading.type,
            reading.boundary,
            reading.cval,
            reading.interpolation,
            given.storage.dims,
        )

    def uniform(self, name: str, type: Type) -> UniformSpec:
        self.uniforms.append((name, type))
        return UniformSpec(len(self.uniforms) - 1, name, type)

    def number(self, name: str, type: Type) -> NumberSpec:
        index = len(self.images)
        self.images.append(ImageInput(name, self.arguments.images[index].sampler.type))
        return NumberSpec(index, name, type)

    def complex_number(self, name: str) -> ComplexSpec:
        return ComplexSpec(self.uniform(name, vector("float", 2)).index, name)

    def matrix(self, name: str, size: int) -> MatrixSpec:
        index = len(self.uniforms)
        self.uniforms += [(f"{name}_{row}", vector("float", size)) for row in range(size)]
        return MatrixSpec(index, name, size)

    def bind(self, parameter: Parameter, value: Any) -> Any:
        name = parameter.name
        if value is parameter.default and parameter.is_left:
            return value
        if parameter.kind in (_REST, _KEYWORDS) and parameter.role == "known":
            return value
        if parameter.kind is _REST:
            items = [self.one(parameter, item, f"{name}_{i}") for i, item in enumerate(value)]
            return ObjectSpec(tuple, dict(enumerate(items)), value)
        if parameter.kind is _KEYWORDS:
            named = {key: self.one(parameter, item, key) for key, item in value.items()}
            return ObjectSpec(dict, named, value)
        return self.one(parameter, value, name)

    def one(self, parameter: Parameter, value: Any, name: str) -> Any:
        match parameter.role:
            case "image":
                if isinstance(value, textures.Mipmaps):
                    return self.enter(value, name, name)
                return self.image(name)
            case "uniform":
                if isinstance(value, NumberLike) and _stays(self.arguments, value, parameter.type):
                    return self.number(name, parameter.type)
                return self.uniform(name, parameter.type)
            case "complex":
                return self.complex_number(name)
            case "matrix":
                return self.matrix(name, parameter.type)
            case "object":
                return self.enter(value, name, name)
            case "position":
                return PositionSpec(self.arguments.dims)
        if parameter.dynamic is not None and parameter.dynamic.role != "position":
            return self.one(parameter.dynamic, value, name)
        return value

    def enter(self, value: Any, name: str, path: str) -> Any:
        cls = type(value)
        kind = category(cls)
        if kind in SCALARS:
            return self.uniform(name, SCALARS[kind])
        if kind == "complex":
            return self.complex_number(name)
        if kind == "number":
            if self.arguments.stays:
                return self.number(name, value.format.type)
            return self.enter(value.item(), name, path)
        if kind == "known":
            return value
        if id(value) in self.seen:
            return self.seen[id(value)]
        match kind:
            case "vector":
                spec: Any = self.uniform(name, cls.TYPE)
            case "matrix":
                spec = self.matrix(name, len(value))
            case "image":
                spec = self.image(name)
            case _:
                spec = ObjectSpec(cls, {}, value)
                self.seen[id(value)] = spec
                images = image_fields(cls) if kind == "object" else {}
                for field_name, child in fields_of(value, kind).items():
                    if field_name in images:
                        _check_wrapped(child, f"{path}.{field_name}", images[field_name])
                    inner = f"{name}_{_identifier(field_name)}"
                    spec.fields[field_name] = self.enter(child, inner, f"{path}.{field_name}")
        self.seen[id(value)] = spec
        return spec


def bindings(
    signature: Signature, arguments: Arguments
) -> tuple[dict[str, Any], list[ImageInput], list[tuple[str, Type]]]:
    """What the walker is told of each parameter, and the images and uniforms there are."""
    binder = _Binder(arguments)
    bound = {
        parameter.name: binder.bind(parameter, value)
        for parameter, value in zip(signature.parameters, arguments.values, strict=True)
    }
    return bound, binder.images, binder.uniforms


def _identifier(name: Any) -> str:
    return "".join([c if c.isalnum() else "_" for c in str(name)])


def _check_wrapped(value: Any, path: str, kind: str) -> None:
    if isinstance(value, np.ndarray) or is_pil(value):
        raise TypeError(
            f"{path}: the field is annotated {kind} and holds a {type(value).__name__}; "
            f"wrap it: pygpu.{kind}(...)"
        )
    if is_lazy(value):
        raise TypeError(
            f"{path}: the field is annotated {kind} and holds a Dask array; give that to a "
            f"parameter annotated {kind}, or wrap what it computes: pygpu.{kind}(array.compute())"
        )
