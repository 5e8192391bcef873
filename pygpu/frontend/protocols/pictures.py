"""Reading an image at a position: which loads are emitted.

At a whole position one texel is loaded; the boundary is the load's own business. At a fractional
one, "nearest" takes floor(x + 0.5) and "linear" weights the texels around, in float32. A signal is
read at one coordinate, a volume at three.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pygpu.core.host.later import later
from pygpu.core.operations.ops import NUMPY_TYPE
from pygpu.core.sampler import boundary_name, constant, interpolation_name
from pygpu.core.storage import Format
from pygpu.frontend.collections.derived import plain_number
from pygpu.frontend.numbers.numbers import as_value, convert, dynamic
from pygpu.frontend.numbers.operands import components, make_vector, vector_type
from pygpu.frontend.protocols import datamodel
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.callables import Builtin
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import scalar_kind
from pygpu.frontend.values.objects import Vector
from pygpu.frontend.values.values import Abstract, Dynamic, Picture, Tuple, describe
from pygpu.ssa import Value
from pygpu.types import FLOAT, INT, KINDS, vector

with later():
    from pygpu.frontend.numbers import integers
    from pygpu.language import textures

_ATTRIBUTES: Final = (
    "channels", "shape", "ndim", "boundary", "cval", "interpolation", "sampled", "at"
)  # fmt: skip


def read(w: Evaluator, picture: Picture, args: tuple[Any, ...]) -> Any:
    """picture(p): the texel there, a scalar or a vector."""
    place = coordinates(w, picture, args)
    if "float" not in map(scalar_kind, place):
        return texel(w, picture, load(w, picture, [as_value(w, x, INT) for x in place]))
    if picture.interpolation == "nearest" or picture.type.kind != "float":
        return texel(w, picture, load(w, picture, [_nearest(w, x) for x in place]))
    return texel(w, picture, _linear(w, picture, [as_value(w, x, FLOAT) for x in place]))


def coordinates(w: Evaluator, picture: Picture, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The coordinates that an image was called with: x and y of an image."""
    parts: Sequence[Any] = args
    if len(args) == 1 and type(args[0]) is Vector:
        parts = components(w, args[0])
    elif len(args) == 1 and not (picture.dims == 1 and scalar_kind(args[0])):
        position = args[0]
        is_several = vector_type(position) or not isinstance(position, Abstract)
        is_several = is_several or not isinstance(position, (Dynamic, Picture))
        try:
            parts = items_of(w, position) if is_several else ()
        except TypeError:
            parts = ()
    parts = [plain_number(w, part) for part in parts]
    if len(parts) != picture.dims or not all(map(scalar_kind, parts)):
        shown = ", ".join(describe(arg) for arg in args) or "nothing"
        if len(args) == 1 and isinstance(args[0], Vector) and len(parts) != picture.dims:
            shown += f" of {len(parts)} components"
        raise w.error(
            f"{picture.describe()} takes a position, as {_CALLS[picture.dims]}; got {shown}"
        )
    return tuple(parts)


_CALLS: Final = {
    1: "signal(p) or signal(i)",
    2: "im(p) or im((x, y))",
    3: "volume(p) or volume((x, y, z))",
}


def called(picture: Picture) -> str:
    """What is said where an image is subscripted."""
    article = "an" if picture.dims == 2 else "a"
    return f"{article} {picture.noun} is called with a position, {_CALLS[picture.dims]}"


def texel(w: Evaluator, picture: Picture, value: Value) -> Any:
    """A loaded texel as the function sees it."""
    return Dynamic(value) if value.type.is_scalar else make_vector(w, value.type, value)


def load(w: Evaluator, picture: Picture, place: Sequence[Value]) -> Value:
    return w.build.texel(picture.index, place, picture.boundary, picture.cval)


def _nearest(w: Evaluator, coordinate: Any) -> Value:
    """floor(x + 0.5) as an int; whole numbers are themselves."""
    if scalar_kind(coordinate) != "float":
        return as_value(w, integers.as_index(w, coordinate), INT)
    value = as_value(w, coordinate, FLOAT)
    if value.op is not None and value.op.code == "to_float" and value.op.operands[0].type is INT:
        return value.op.operands[0]
    half = w.build.constant(FLOAT, 0.5)
    return convert(w, w.build.emit("floor", w.build.emit("add", value, half)), "int")


def _linear(w: Evaluator, picture: Picture, place: Sequence[Value]) -> Value:
    """The mean of the two texels around in a signal, of the four in an image and the eight in a
    volume, weighted by how near they are. What has no weight is left out: at a whole coordinate, an
    infinite one and NaN the first texel is taken, whatever lies beside it."""
    emit, build = w.build.emit, w.build
    zero, one = build.constant(FLOAT, 0.0), build.constant(FLOAT, 1.0)
    lows = [emit("floor", x) for x in place]
    far = [emit("sub", x, low) for x, low in zip(place, lows, strict=True)]
    weights = [(emit("sub", one, weight), weight) for weight in far]
    between = [emit("gt", weight, zero) for weight in far]
    step = build.constant(INT, 1)
    firsts = [convert(w, low, "int") for low in lows]
    places = [(first, emit("add", first, step)) for first in firsts]

    def weighted(value: Value, weight: Value) -> Value:
        return emit("mul", value, _splat(w, picture, weight))

    def mean(axis: int, outer: tuple[Value, ...]) -> Value:
        """The mean along the axes up to this one, at coordinates along those beyond."""
        if axis == 0:
            around = [load(w, picture, (at, *outer)) for at in places[0]]
        else:
            around = [mean(axis - 1, (at, *outer)) for at in places[axis]]
        parts = [weighted(*pair) for pair in zip(around, weights[axis], strict=True)]
        return emit("select", between[axis], emit("add", *parts), around[0])

    return mean(len(place) - 1, ())


def _splat(w: Evaluator, picture: Picture, weight: Value) -> Value:
    size = picture.type.size
    return weight if size == 1 else w.build.emit("splat", weight, data=size)


def attribute(w: Evaluator, picture: Picture, name: str) -> Any:
    """picture.width and the like."""
    match name:
        case "width" | "height" | "depth" if name in _SIDES[-picture.dims :]:
            return dynamic(w, name, data=picture.index)
        case "channels":
            return picture.type.size
        case "shape":
            sides = [dynamic(w, side, data=picture.index) for side in _SIDES[-picture.dims :]]
            channels = (picture.type.size,) if picture.type.size > 1 else ()
            return Tuple((*sides, *channels))
        case "ndim":
            return picture.dims + (not picture.type.is_scalar)
        case "boundary" | "interpolation" | "cval":
            return getattr(picture, name)
        case "sampled":
            return Builtin("sampled", functools.partial(sampled, w, picture))
        case "at" if picture.dims == 2:
            return Builtin("at", lambda uv, **how: _at(w, picture, uv, **how))
    message = (
        f"{picture.describe()} has no attribute '{name}' inside a function: "
        f"{', '.join(_SIDES[: -picture.dims - 1 : -1])}, shape, channels and sampled() may be used"
    )
    if has_attribute(picture, name) or name in _SIDES:
        raise w.error(f"{message}; what is asked of a whole image is asked before the call")
    raise AttributeError(message)


def has_attribute(picture: Picture, name: str) -> bool:
    """Whether the image has such an attribute, in functions or outside of them."""
    here = (*_SIDES[-picture.dims :], *_ATTRIBUTES)
    return name in here or hasattr(datamodel.class_of_image(picture), name)


def _at(w: Evaluator, picture: Picture, uv: Any, *, interpolation: Any = None, **how: Any) -> Any:
    """picture.at(uv): linear where that can be, unless said otherwise."""
    if how:
        raise w.error("at(lod=, bias=) reads an image's levels: im.sampled(mipmap=True) has them")
    kind = "linear" if picture.type.kind == "float" else "nearest"
    seen = sampled(w, picture, interpolation=interpolation or kind)
    return w.call(textures.at, seen, uv)


def sampled(w: Evaluator, picture: Picture, *by_place: Any, **more: Any) -> Picture:
    """The image with another boundary, cval or interpolation."""
    if len(by_place) > len(_OPTIONS):
        raise TypeError(f"sampled() takes {', '.join(_OPTIONS)}, got {len(by_place)} arguments")
    given = [*zip(_OPTIONS, by_place, strict=False), *more.items()]
    how = {name: value for name, value in given if value is not None}
    for name, value in how.items():
        if isinstance(value, Abstract):
            raise w.error(f"{name} must be known at compile time, got {describe(value)}")
    if how.pop("mipmap", False):
        raise w.error("levels are made before a call: give the function im.sampled(mipmap=True)")
    unknown = set(how) - {"boundary", "cval", "interpolation"}
    if unknown:
        raise TypeError(f"sampled() takes boundary, cval and interpolation, not {unknown.pop()}")
    format = _FORMATS[picture.type]
    if "boundary" in how:
        picture = replace(picture, boundary=boundary_name(how["boundary"]))
    if "cval" in how:
        picture = replace(picture, cval=constant(format, how["cval"]))
    if "interpolation" in how:
        kind = interpolation_name(how["interpolation"], format)
        picture = replace(picture, interpolation=kind)
    return picture


_OPTIONS: Final = ("boundary", "cval", "interpolation", "mipmap")
_SIDES: Final = ("depth", "height", "width")  # the last of them, by how many coordinates there are

_FORMATS: Final = {
    vector(kind, size): Format(np.dtype(NUMPY_TYPE[kind]), size)
    for kind in KINDS
    for size in (1, 2, 3, 4)
}
