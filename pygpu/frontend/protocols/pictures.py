"""Reading an image at a position: which loads are emitted.

At a whole position one texel is loaded; the boundary is the load's own business. At a fractional
one, "nearest" takes floor(x + 0.5) and "linear" weights the four texels around, in float32.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from pygpu.core.ops import NUMPY_TYPE
from pygpu.core.sampler import boundary_name, constant, interpolation_name
from pygpu.core.storage import Format
from pygpu.frontend.protocols import arithmetic
from pygpu.frontend.protocols.arithmetic import as_value, convert, dynamic
from pygpu.frontend.protocols.integers import as_index
from pygpu.frontend.protocols.operands import make_vector, vector_type
from pygpu.frontend.protocols.sequences import items_of
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.values import (
    Abstract,
    Builtin,
    Dynamic,
    Picture,
    Tuple,
    describe,
    scalar_kind,
)
from pygpu.ssa import Value
from pygpu.types import FLOAT, INT, KINDS, vector


def read(w: Evaluator, picture: Picture, args: tuple[Any, ...]) -> Any:
    """picture(p): the texel there, a scalar or a vector."""
    x, y = coordinates(w, picture, args)
    kinds = scalar_kind(x), scalar_kind(y)
    if "float" not in kinds:
        return texel(w, picture, load(w, picture, as_value(w, x, INT), as_value(w, y, INT)))
    if picture.interpolation == "nearest" or picture.type.kind != "float":
        return texel(w, picture, load(w, picture, _nearest(w, x), _nearest(w, y)))
    return texel(w, picture, _linear(w, picture, as_value(w, x, FLOAT), as_value(w, y, FLOAT)))


def coordinates(w: Evaluator, picture: Picture, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The x and y of what an image was called with."""
    parts = args
    if len(args) == 1:
        position = args[0]
        is_pair = vector_type(position) or not isinstance(position, Abstract)
        is_pair = is_pair or not isinstance(position, (Dynamic, Picture))
        try:
            parts = items_of(w, position) if is_pair else ()
        except TypeError:
            parts = ()
    if len(parts) != 2 or not all(map(scalar_kind, parts)):
        shown = ", ".join(describe(arg) for arg in args)
        raise w.error(
            f"the image '{picture.name}' takes a position, as im(p) or im((x, y)); got {shown}"
        )
    return parts[0], parts[1]


def texel(w: Evaluator, picture: Picture, value: Value) -> Any:
    """A loaded texel as the function sees it."""
    return Dynamic(value) if value.type.is_scalar else make_vector(w, value.type, value)


def load(w: Evaluator, picture: Picture, x: Value, y: Value) -> Value:
    return w.build.load(picture.index, x, y, picture.boundary, picture.cval)


def _nearest(w: Evaluator, coordinate: Any) -> Value:
    """floor(x + 0.5) as an int; whole numbers are themselves."""
    if scalar_kind(coordinate) != "float":
        return as_value(w, as_index(w, coordinate), INT)
    value = as_value(w, coordinate, FLOAT)
    if value.op is not None and value.op.code == "to_float" and value.op.operands[0].type is INT:
        return value.op.operands[0]
    half = w.build.constant(FLOAT, 0.5)
    return convert(w, w.build.emit("floor", w.build.emit("add", value, half)), "int")


def _linear(w: Evaluator, picture: Picture, x: Value, y: Value) -> Value:
    """The mean of the four texels around, weighted by how near they are."""
    emit, build = w.build.emit, w.build
    one = build.constant(FLOAT, 1.0)
    left, top = emit("floor", x), emit("floor", y)
    right_weight, bottom_weight = emit("sub", x, left), emit("sub", y, top)
    weights = [[emit("sub", one, weight), weight] for weight in (right_weight, bottom_weight)]
    step = build.constant(INT, 1)
    column, row = convert(w, left, "int"), convert(w, top, "int")
    columns, rows = [column, emit("add", column, step)], [row, emit("add", row, step)]
    lines = []
    for at in rows:
        parts = []
        for place, weight in zip(columns, weights[0], strict=True):
            parts.append(emit("mul", load(w, picture, place, at), _splat(w, picture, weight)))
        lines.append(emit("add", *parts))
    parts = [
        emit("mul", line, _splat(w, picture, weight))
        for line, weight in zip(lines, weights[1], strict=True)
    ]
    return emit("add", *parts)


def _splat(w: Evaluator, picture: Picture, weight: Value) -> Value:
    size = picture.type.size
    return weight if size == 1 else w.build.emit("splat", weight, data=size)


def attribute(w: Evaluator, picture: Picture, name: str) -> Any:
    """picture.width and the like."""
    match name:
        case "width" | "height":
            return dynamic(w, name, data=picture.index)
        case "channels":
            return picture.type.size
        case "shape":
            sides = [dynamic(w, side, data=picture.index) for side in ("height", "width")]
            channels = (picture.type.size,) if picture.type.size > 1 else ()
            return Tuple((*sides, *channels))
        case "ndim":
            return 2 if picture.type.is_scalar else 3
        case "boundary" | "interpolation":
            return getattr(picture, name)
        case "sampled":
            return Builtin("sampled", lambda **how: sampled(w, picture, **how))
    raise w.error(
        f"the image '{picture.name}' has no attribute '{name}' inside a function: "
        "width, height, shape, channels and sampled() may be used"
    )


def sampled(w: Evaluator, picture: Picture, **how: Any) -> Picture:
    """The same image seen otherwise: boundary, cval, interpolation."""
    for name, value in how.items():
        if isinstance(value, Abstract):
            raise w.error(f"{name} must be known at compile time, got {describe(value)}")
    unknown = set(how) - {"boundary", "cval", "interpolation"}
    if unknown:
        raise TypeError(f"sampled() takes boundary, cval and interpolation, not {unknown.pop()}")
    format = _FORMATS[picture.type]
    return Picture(
        picture.index,
        picture.name,
        picture.type,
        boundary_name(how["boundary"]) if "boundary" in how else picture.boundary,
        constant(format, how["cval"]) if "cval" in how else picture.cval,
        interpolation_name(how["interpolation"], format)
        if "interpolation" in how
        else picture.interpolation,
    )


_FORMATS: Final = {
    vector(kind, size): Format(np.dtype(NUMPY_TYPE[kind]), size)
    for kind in KINDS
    for size in (1, 2, 3, 4)
}

__all__ = ["arithmetic", "attribute", "read"]
