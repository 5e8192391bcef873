"""Compiled functions called as the plain functions that they were made of, with a position.

plain.arguments(signature, (photo, Position(3, 4)), {})     # None where none is a position
plain.binding(signature, args, kwargs)                      # those for the plain function
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from pygpu.core.errors import shown
from pygpu.core.storage import NumberLike
from pygpu.execution.arguments.convert import is_pil
from pygpu.execution.arguments.signatures import MISSING, Signature
from pygpu.language.fragments import Surroundings, around
from pygpu.language.scalars import number
from pygpu.language.vectors import Place, Position, Vector

_REST: Final = inspect.Parameter.VAR_POSITIONAL
_KEYWORDS: Final = inspect.Parameter.VAR_KEYWORD


def in_class(cls: type, value: Any) -> Any:
    """What is given for a parameter that is a vector or a matrix, as one."""
    return cls(value) if isinstance(value, (tuple, list, np.ndarray)) else value


def is_place(value: Any, dims: int) -> bool:
    """Whether a plain argument may be a position, of as many components; of a signal a number."""
    if isinstance(value, (Vector, tuple, list)):
        return len(value) == dims
    return dims == 1 and not isinstance(value, NumberLike) and number(value) is not None


def arguments(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
    """The arguments for the plain function where one of these is a position, else None."""
    assert signature.position is not None
    if signature.parameters[signature.position].name in kwargs:
        return binding(signature, args, kwargs)
    rank = sorted([*signature.positional, signature.position]).index(signature.position)
    images = [parameter.type for parameter in signature.parameters if parameter.role == "image"]
    dims = images[0] if images else 2
    for place in (rank, signature.position):
        if len(args) > place and (
            isinstance(args[place], (Position, Place))
            or (is_place(args[place], dims) and not _takes_place(signature, place, dims))
        ):
            return binding(signature, args, kwargs)
    return None


def _takes_place(signature: Signature, rank: int, dims: int) -> bool:
    """Whether an argument could be for the parameter at its place where no position is given."""
    places = signature.positional
    if rank >= len(places):
        return signature.rest is not None
    parameter = signature.parameters[places[rank]]
    return dims == 1 or parameter.role != "uniform" or not parameter.type.is_scalar


def binding(
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    convert: Callable[[type, Any], Any] = in_class,
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments for the plain function, given a position among them if it takes one.

    They may be those of the plain function, or, where compile was told values, the others.
    `convert` makes a vector or a matrix of what is given for a parameter of such a type.
    """
    args, kwargs = _with_values(signature, args, kwargs)
    parameters = signature.parameters
    classes = {p.name: cls for p in parameters if (cls := p.vector_class()) is not None}
    if not classes:
        return args, kwargs
    named = {n: convert(classes[n], v) if n in classes else v for n, v in kwargs.items()}
    placed = list(args)
    for parameter in parameters[len(args) :]:
        name, default = parameter.name, parameter.default
        by_name = parameter.kind is not inspect.Parameter.POSITIONAL_ONLY
        if name in classes and name not in kwargs and default is not MISSING and by_name:
            named[name] = convert(classes[name], default)
    for place, (parameter, value) in enumerate(zip(parameters, args, strict=False)):
        if parameter.kind is _REST:
            break
        if parameter.name in classes:
            placed[place] = convert(classes[parameter.name], value)
    return placed, named


def _with_values(
    signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The arguments with the values that compile was told."""
    known = {
        p.name: p.default
        for p in signature.parameters
        if p.role == "known" and p.kind not in (_REST, _KEYWORDS)
    }
    if not known:
        return args, kwargs
    given = {p.name for p in signature.parameters[: len(args)]}.union(kwargs)
    missing = [
        p
        for p in signature.parameters
        if p.name not in given and p.role != "known" and p.kind not in (_REST, _KEYWORDS)
    ]
    if all(p.default is not MISSING and p.role != "position" for p in missing):
        return args, {n: v for n, v in known.items() if n not in given} | dict(kwargs)
    places = signature.positional
    if signature.position is not None:
        places = sorted([*places, signature.position])
    named = {signature.parameters[i].name: value for i, value in zip(places, args, strict=False)}
    twice = named.keys() & kwargs.keys()
    if twice or len(args) > len(places):
        what = f"two values for {min(twice)!r}" if twice else f"{len(args)} arguments by place"
        raise TypeError(f"{signature.name}() got {what}; its parameters are {signature}")
    return (), known | named | dict(kwargs)


def call(function: Callable[..., Any], signature: Signature, values: Sequence[Any]) -> Any:
    """Call the plain function with a value for each parameter."""
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    for parameter, value in zip(signature.parameters, values, strict=True):
        if parameter.kind is _REST:
            args += value
        elif parameter.kind is _KEYWORDS:
            kwargs |= value
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            kwargs[parameter.name] = value
        else:
            args.append(value)
    return function(*args, **kwargs)


def check_images(signature: Signature, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """TypeError where an image is an array: only of an image a pixel can be asked."""
    named = [(each, kwargs[each.name]) for each in signature.parameters if each.name in kwargs]
    for parameter, value in (*zip(signature.parameters, args, strict=False), *named):
        is_array = isinstance(value, (list, np.ndarray)) or is_pil(value)
        if parameter.role == "image" and is_array:
            raise TypeError(
                f"{parameter.name}: at a position takes a pygpu.Image, or a function of positions, "
                f"got {shown(value)}: pygpu.Image() makes an image of it"
            )


def call_at(
    function: Callable[..., Any],
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> Any:
    """Call the plain function with these arguments, a position among them. Derivatives in it call
    it again, at neighbouring positions."""
    assert signature.position is not None
    place, name = signature.position, signature.parameters[signature.position].name

    def at(x: int, y: int) -> Callable[[], Any]:
        if name in kwargs:
            named = {**kwargs, name: Position(*kwargs[name]) + (x, y)}
            return lambda: function(*args, **named)
        placed = [*args]
        placed[place] = Position(*args[place]) + (x, y)
        return lambda: function(*placed, **kwargs)

    def surroundings(x: int, y: int) -> Surroundings:
        def neighbour(axis: int) -> tuple[Callable[[], Any], Surroundings, bool]:
            there = (x + 1, y) if axis == 0 else (x, y + 1)
            return at(*there), surroundings(*there), True

        return Surroundings(neighbour)

    with around(surroundings(0, 0)):
        return function(*args, **kwargs)
