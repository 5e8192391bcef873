"""How each argument of a call came in, so that others like it are taken the same way at once.

passage = Passage.of(place, parameter, value, images, held)    # None: it may be taken otherwise
inputs, values, held = take(passages, args, on_host)          # None: they are not like those
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.later import later
from pygpu.core.programs import Taken
from pygpu.core.sampler import Sampler, of
from pygpu.core.storage import ImageLike, NumberLike, Storage, rows_of
from pygpu.execution.arguments import parameters
from pygpu.execution.arguments.convert import contiguous, narrow
from pygpu.execution.arguments.keys import known_key
from pygpu.execution.arguments.parameters import NUMBER, Arguments, Given
from pygpu.execution.arguments.signatures import Parameter
from pygpu.language.matrices import Matrix
from pygpu.language.vectors import Vector
from pygpu.ssa import Constant
from pygpu.types import BOOL, FLOAT, INT

with later():
    from pygpu.execution.arguments import uniforms

LEFT: Final = -1  # in place of a place: the argument is not given
How = Literal["number", "matrix", "complex", "known", "image", "array", "copy", "object"]
_NUMBERS: Final = (float, int, bool, np.generic)
_VECTORS: Final = (Vector, tuple, list, np.ndarray)
_MATRICES: Final = (Matrix, tuple, list, np.ndarray)
_COMPLEX: Final = (complex, float, int, np.generic)
_COMPILED_IN: Final = (int, float, bool, str, tuple, np.ndarray)
_SINGLE: Final = (int, float, bool, str, type(None))  # that is what it is while it is there
_PLAIN: Final = {float: FLOAT, int: INT, bool: BOOL}


class Held:
    """What objects hold."""

    __slots__ = ("arguments",)

    def __init__(self) -> None:
        self.arguments = Arguments([])

    def enter(self, parameter: Parameter, value: Any) -> tuple[list[Storage], list[Constant]]:
        """The images and numbers of one more."""
        arguments = self.arguments
        images, numbers = len(arguments.images), len(arguments.uniforms)
        parameters.add(arguments, parameter, value, parameter.name)
        storages = [given.storage for given in arguments.images[images:]]
        return storages, arguments.uniforms[numbers:]

    def structure(self) -> Any:
        """What others must have alike so that they are taken alike; None where one holds what may
        be taken otherwise."""
        images = self.arguments.images
        if any(given.rank == NUMBER for given in images):
            return None
        return self.arguments.key, [given.storage.shape for given in images]


class Passage(NamedTuple):
    """What a parameter was given."""

    how: How
    place: int  # among the arguments, those by keyword last
    cls: Any
    parameter: Parameter
    sampler: Sampler | None = None  # of images
    shape: tuple[int, ...] = ()  # of an array, as it was given, else of the texels
    dtype: np.dtype[Any] | None = None  # of an array
    strides: tuple[int, ...] = ()  # of an array that is read where it lies
    known: Any = None  # the key of a value that is compiled in
    spread: tuple[int, ...] | None = None  # the shape over which an array is spread
    value: Any = None  # what is compiled in; the classes of what a tuple of numbers holds

    @classmethod
    def of(
        cls, place: int, parameter: Parameter, value: Any, images: Iterator[Given], held: Held
    ) -> Passage | None:
        """How an argument came in; None if the next may differ. Objects' contents go to `held`."""
        kind, role = type(value), parameter.role
        if value is None and parameter.is_left:
            return cls("known", place, kind, parameter, known=known_key(value))
        if role == "matrix" and issubclass(kind, _MATRICES):
            return cls("matrix", place, kind, parameter)
        if role == "complex" and issubclass(kind, _COMPLEX):
            return cls("complex", place, kind, parameter)
        if role == "uniform" and issubclass(
            kind, _NUMBERS if parameter.type.is_scalar else _VECTORS
        ):
            held_classes = tuple(map(type, value)) if kind is tuple else None
            return cls("number", place, kind, parameter, value=held_classes)
        if role == "known" and parameter.dynamic is None and kind in _COMPILED_IN:
            return cls("known", place, kind, parameter, known=known_key(value), value=value)
        if role == "object":
            for _ in held.enter(parameter, value)[0]:
                next(images)
            return cls("object", place, kind, parameter)
        is_number = isinstance(value, NumberLike)  # one that stays on a device: one texel
        given = next(images, None) if role == "image" or is_number else None
        if given is None or given.original is not value or given.rank not in (0, NUMBER):
            return None
        if kind is np.ndarray:
            return cls.of_array(place, parameter, value, given)
        if isinstance(value, (ImageLike, NumberLike)):
            shape = given.storage.shape
            return cls("image", place, kind, parameter, given.sampler, shape)
        return None

    @classmethod
    def of_array(cls, place: int, parameter: Parameter, value: Any, given: Given) -> Passage:
        """How an array came in, which is read where it lies or copied."""
        is_copied = value.dtype != given.storage.dtype or not given.storage.shares(value)
        how: How = "copy" if is_copied else "array"
        kind = value.shape, value.dtype, value.strides
        return cls(how, place, np.ndarray, parameter, given.sampler, *kind)

    @classmethod
    def of_element(
        cls, place: int, name: str, value: Any, shape: tuple[int, ...], images: Iterator[Given]
    ) -> Passage | None:
        """How an argument of a function of single numbers came in: one of Python's own numbers, or
        an array that broadcasts to the result's shape, or an image of it."""
        type_of_number = _PLAIN.get(type(value))
        if type_of_number is not None:
            return cls("number", place, type(value), Parameter(name, "uniform", type_of_number))
        image = Parameter(name, "image", len(shape))
        given = next(images, None)
        if given is None:
            return None
        if type(value) is np.ndarray:
            passage = cls.of_array(place, image, value, given)
            if value.shape != shape:
                return passage._replace(how="copy", spread=shape)
            return passage
        if isinstance(value, ImageLike) and value.storage.shape == shape:
            return cls("image", place, type(value), image, of(value), shape)
        return None

    def taken(self) -> list[Taken] | None:
        """As a device may take such arguments from calls itself; None where it may not."""
        how, place, default = self.how, self.place, self.parameter.default
        if how == "known" and (place == LEFT or self.cls in _SINGLE):
            return [] if place == LEFT else [Taken("same", place, self.value)]
        if how == "number" and place == LEFT and self.cls in _PLAIN:
            name = self.parameter.name
            constant = uniforms.convert(self.parameter.type, default, name)
            return [Taken("constant", place, constant)]
        if how == "number" and place != LEFT:
            return [Taken("number", place, self.cls if self.value is None else self.value)]
        if how == "array" and place != LEFT and not isinstance(default, np.ndarray):
            return [Taken("array", place, (self.shape, self.dtype, self.strides))]
        return None


def take(
    passages: Sequence[Passage], args: Sequence[Any], on_host: bool
) -> tuple[list[Any], list[Constant], Held | None] | None:
    """What a program is given for arguments like those before: images, as arrays where it runs on
    the host, numbers, and what objects hold. None where an argument is not like that before."""
    inputs: list[Any] = []
    values: list[Constant] = []
    held: Held | None = None
    for how, place, cls, parameter, sampler, shape, dtype, strides, known, spread, _ in passages:
        value = parameter.default if place == LEFT else args[place]
        if value.__class__ is not cls:
            return None
        if how == "number":
            values.append(uniforms.convert(parameter.type, value, parameter.name))
        elif how == "matrix":
            values += uniforms.matrix(parameter.type, value, parameter.name)
        elif how == "complex":
            values.append(uniforms.complex_number(value, parameter.name))
        elif how == "known":
            if known_key(value) != known:
                return None
        elif how == "object":
            held = held or Held()
            storages, numbers = held.enter(parameter, value)
            inputs += [storage.host() for storage in storages] if on_host else storages
            values += numbers
        elif value is parameter.default:
            return None
        elif how == "image":
            storage = value.storage
            if storage.shape != shape or not _is_read(value, sampler):
                return None
            inputs.append(storage.host() if on_host else storage)
        else:
            if value.shape != shape or value.dtype != dtype:
                return None
            if how == "copy":
                value = narrow(value, parameter.name)
                value = contiguous(value if spread is None else np.broadcast_to(value, spread))
            elif value.strides != strides:
                return None
            inputs.append(value if on_host else as_storage(value, parameter.type))
    return inputs, values, held


def as_storage(array: NDArray[Any], dims: int) -> Storage:
    """The texels of an array that a call has taken or made as it is."""
    if dims == 2:
        return Storage.of(array)
    shape = array.shape[:dims]
    return Storage.of(array.reshape(*rows_of(shape), -1), shape)


def _is_read(image: ImageLike | NumberLike, sampler: Any) -> bool:
    """Whether an image, or a number, is read as the sampler says."""
    if isinstance(image, NumberLike):
        return bool(image.format == sampler.format)
    return bool(
        (image.format is sampler.format or image.format == sampler.format)
        and image.boundary == sampler.boundary
        and image.interpolation == sampler.interpolation
        and image.cval == sampler.cval
    )
