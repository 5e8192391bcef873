"""A gate before calls: what the last call was given, and the program that it ran.

A call that is given the same (arrays of the same shapes and dtypes, images that are read alike,
numbers for numbers) goes to that program at once, without its arguments being sorted, or a key
being made of them. Whatever is not sure to be the same takes the long way.

    gate = Gate.after(signature, args, run)      # None where the long way is the only one
    gate.enter(programs, args)                   # the results, or SHUT
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.errors import OutOfMemory
from pygpu.core.sampler import Sampler
from pygpu.core.sampler import of as sampler_of
from pygpu.core.storage import ImageLike, Storage, rows_of
from pygpu.execution.arguments import uniforms
from pygpu.execution.arguments.results import NO_INFO, Form, info_from, present
from pygpu.execution.arguments.signatures import Parameter, Signature
from pygpu.execution.programs import running, tiles
from pygpu.execution.programs.calls import Programs, Run
from pygpu.execution.programs.specialise import Specialisation
from pygpu.ssa import Constant

SHUT: Final = object()  # says that a call takes the long way
_NUMBERS: Final = (float, int, bool)


@dataclass(frozen=True, slots=True)
class _Passage:
    """What one argument was: of which class, and what a parameter made of it."""

    cls: Any
    parameter: Parameter
    sampler: Sampler | None = None  # of images, as all that follows
    shape: tuple[int, ...] = ()  # of an array, as it was given, else of the texels
    dtype: np.dtype[Any] | None = None  # of an array


class Gate:
    """See the module's head."""

    __slots__ = ("form", "made", "nothing", "passages", "whole")

    def __init__(
        self, passages: Sequence[_Passage], made: Specialisation, whole: tuple[int, ...], form: Form
    ) -> None:
        self.passages: Final = tuple(passages)
        self.made: Final = made
        self.whole: Final = whole
        self.form: Final[Form] = form
        self.nothing: Final[list[NDArray[Any] | None]] = [None] * len(
            made.types
        )  # in place of arrays of the caller's

    @classmethod
    def after(cls, signature: Signature, args: Sequence[Any], run: Run) -> Gate | None:
        """The gate for calls like one that was given these arguments, by place and no others."""
        made, arguments = run.specialisation, run.arguments
        if (
            arguments.checked
            or made.translated.translation.faults
            or run.wanted.form == "pil"
            or any(d != s.dtype for d, s in zip(made.dtypes, run.storages, strict=True))
            or len(args) > len(signature.positional)
            or not arguments.images
        ):
            return None
        given = set(signature.positional[: len(args)])
        for index, parameter in enumerate(signature.parameters):
            if index not in given and parameter.role != "position" and not parameter.is_left:
                return None
        images = iter(arguments.images)
        passages = []
        for index, value in zip(signature.positional, args, strict=False):
            passage = _passage(signature.parameters[index], value, images)
            if passage is None:
                return None
            passages.append(passage)
        if next(images, None) is not None:
            return None
        return cls(passages, made, run.storages[0].shape, run.wanted.form)

    def enter(self, programs: Programs, args: tuple[Any, ...]) -> Any:
        """The results of a call that is like the last one; SHUT where it is not."""
        passages, made = self.passages, self.made
        if (
            len(args) != len(passages)
            or made.translated.translation.dependencies.changed()
            or programs.device() is not made.device
            or programs.is_checked()
        ):
            return SHUT
        inputs: list[Storage] = []
        values: list[Constant] = []
        for index, passage in enumerate(passages):
            value = args[index]
            if value.__class__ is not passage.cls:
                return SHUT
            parameter = passage.parameter
            if passage.sampler is None:
                values.append(uniforms.convert(parameter.type, value, parameter.name))
            elif value is parameter.default:
                return SHUT
            elif passage.dtype is not None:
                if (
                    value.shape != passage.shape
                    or value.dtype != passage.dtype
                    or not value.flags.c_contiguous
                ):
                    return SHUT
                inputs.append(_storage(value, parameter.type))
            else:
                storage = value.storage
                if storage.shape != passage.shape or sampler_of(value) is not passage.sampler:
                    return SHUT
                inputs.append(storage)
        if made.captured:
            inputs += made.captured
        try:
            storages = running.run(made, running.Work(inputs, values, self.whole, self.nothing))
        except (tiles.NotCut, OutOfMemory):
            return SHUT
        form = self.form
        info = NO_INFO if form == "array" else info_from(args)
        results = [
            present(form, storage.shaped(self.whole), dtype, sampler, info)
            for storage, dtype, sampler in zip(storages, made.dtypes, made.samplers, strict=True)
        ]
        return tuple(results) if made.is_tuple else results[0]


def _passage(parameter: Parameter, value: Any, images: Any) -> _Passage | None:
    """How an argument came in; None where the next one may be taken otherwise."""
    cls = type(value)
    if parameter.role == "uniform" and parameter.type.is_scalar and cls in _NUMBERS:
        return _Passage(cls, parameter)
    given = next(images, None) if parameter.role == "image" else None
    if given is None or given.original is not value or given.rank:
        return None
    if cls is np.ndarray:
        as_it_is = value.dtype == given.storage.dtype and value.flags.c_contiguous
        found = _Passage(cls, parameter, given.sampler, value.shape, value.dtype)
        return found if as_it_is else None
    if isinstance(value, ImageLike):
        return _Passage(cls, parameter, given.sampler, given.storage.shape)
    return None


def _storage(array: NDArray[Any], dims: int) -> Storage:
    """The texels of an array that a call has taken as it is."""
    if dims == 2:
        return Storage.of(array)
    shape = array.shape[:dims]
    return Storage.of(array.reshape(*rows_of(shape), -1), shape)


__all__ = ["SHUT", "Gate"]
