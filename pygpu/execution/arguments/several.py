"""Calls of a function for each of several images, such as the results of another function.

    xx, xy, yy = box(products(im))         # products gives a tuple of three images

A tuple of images given for a parameter that takes one is several images; lists of numbers are
arrays, as NumPy has it. Several tuples in a call go together, and what is one image is given each
time.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from pygpu.core.storage import ImageLike
from pygpu.execution.arguments.convert import is_picture
from pygpu.execution.arguments.signatures import Signature


def calls_of(
    signature: Signature, values: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> list[tuple[list[Any], dict[str, Any]]] | None:
    """The arguments of each call; None where no parameter of an image is given several. `values`
    are the call's by parameter. ValueError where tuples have different lengths."""
    several = {
        parameter.name: value
        for parameter, value in zip(signature.parameters, values, strict=True)
        if parameter.role == "image"
        and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        and _is_several(value, parameter.type)
    }
    if not several:
        return None
    counts = {name: len(value) for name, value in several.items()}
    if len(set(counts.values())) > 1:
        listed = ", ".join([f"{name} has {count}" for name, count in counts.items()])
        raise ValueError(f"{signature.name}: tuples of images go together, but {listed}")

    def one(value: Any, index: int) -> Any:
        return value[index] if any(value is each for each in several.values()) else value

    return [
        (
            [one(value, index) for value in args],
            {name: one(value, index) for name, value in kwargs.items()},
        )
        for index in range(next(iter(counts.values())))
    ]


def _is_several(value: Any, dims: int) -> bool:
    """Whether it is a tuple of images, or of arrays that have the axes of such."""
    return type(value) is tuple and len(value) > 0 and all(_is_one(each, dims) for each in value)


def _is_one(value: Any, dims: int) -> bool:
    if isinstance(value, ImageLike):
        return True
    return is_picture(value) and getattr(value, "ndim", dims) >= dims
