"""What the parameters of a function are, as the runtime tells the walker.

A binding is either a known Python object (itself) or a spec from here. Specs compare by value,
so that a tuple of them is the key of a specialisation.

    {"im": ImageSpec(0, "im", vec3, "nearest", (), "nearest"), "p": PositionSpec(), "gain": ...}
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from pygpu.core.host.records import record
from pygpu.ssa import Number
from pygpu.types import Type


@record
class UniformSpec:
    """A scalar or vector given at each call. `index` counts the uniforms of the function."""

    index: int
    name: str
    type: Type


@record
class NumberSpec:
    """A scalar of this type that lies in the only texel of an image. `index` counts the images."""

    index: int
    name: str
    type: Type


@record
class ComplexSpec:
    """A complex number given at each call: a uniform of its two parts."""

    index: int
    name: str


@record
class MatrixSpec:
    """A square matrix given at each call: `size` uniforms of vectors, its rows, from `index` on."""

    index: int
    name: str
    size: int


@record
class ImageSpec:
    """An image, signal or volume given at each call. `index` counts those of the function."""

    index: int
    name: str
    type: Type
    boundary: str
    cval: tuple[Number, ...]
    interpolation: str
    dims: int = 2  # coordinates of a texel: a signal has 1, a volume 3


@record
class PositionSpec:
    """The position of the pixel being computed, of so many coordinates."""

    dims: int = 2


@record(eq=False, frozen=False)
class ObjectSpec:
    """An object of a user's class (or a list, tuple or dict) some of whose leaves are dynamic.

    `cls` is its class; `fields` its attributes (for list and tuple: items by index, for dict: by
    key), each a binding again. Shared and cyclic graphs share the spec. The runtime makes keys.
    """

    cls: type
    fields: dict[Any, Any] = field(default_factory=dict)
    original: Any = None  # the object given first: methods that need an instance may look
