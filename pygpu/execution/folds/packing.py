"""Values of many numbers in few images: between the passes of a fold, four numbers of a kind are
the channels of one image.

A tuple of 64 numbers was 64 images, each with bounds of its own to look at, and OpenGL drew eight
of them at once.

    packing = packed((FLOAT,) * 6)      # (("float", (0, 1, 2, 3)), ("float", (4, 5)))
    together(value, packing)            # (Vec4, Vec2): in compiled functions, as `apart`
    apart((Vec4, Vec2), packing)        # the six
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pygpu.execution.arrays.values import MAKES
from pygpu.language.vectors import CLASSES
from pygpu.types import KINDS, Type, vector

CHANNELS: Final = 4

# For each image the kind of its numbers, and which parts of the value are its channels. A part that
# shares its image with none keeps it as it was.
Packing = tuple[tuple[str, tuple[int, ...]], ...]


def packed(types: Sequence[Type]) -> Packing | None:
    """How a tuple of these types lies in images; None where there is nothing to win."""
    found: list[tuple[str, tuple[int, ...]]] = []
    for kind in KINDS:
        scalars = [i for i, type in enumerate(types) if type.is_scalar and type.kind == kind]
        for first in range(0, len(scalars), CHANNELS):
            found.append((kind, tuple(scalars[first : first + CHANNELS])))
    found += [(type.kind, (i,)) for i, type in enumerate(types) if not type.is_scalar]
    return tuple(found) if len(found) < len(types) else None


def together(value: Any, packing: Any) -> Any:
    """The images' pixels of a value."""
    return tuple([_vector(kind, [value[place] for place in places]) for kind, places in packing])


def _vector(kind: Any, parts: Any) -> Any:
    if len(parts) == 1:
        return parts[0]
    return CLASSES[vector(kind, len(parts))](*[MAKES[kind](part) for part in parts])


def apart(pixels: Any, packing: Any) -> Any:
    """The value of the images' pixels."""
    parts = {}
    for pixel, (_, places) in zip(pixels, packing, strict=True):
        for channel, place in enumerate(places):
            parts[place] = pixel if len(places) == 1 else pixel[channel]
    return tuple([parts[place] for place in range(len(parts))])
