"""Lowers boundaries: every load becomes one of a place inside its image, which is computed from the
image's size.

    load im[x + 1, y] nearest  ->  %0 = width im; %1 = sub %0, 1; %2 = add x, 1; %3 = min %2, %1
                                   load im[%3, ...] inside

Arithmetic never overflows for images below 2**29 texels a side: far places are brought near first.
Loads of one image share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.hoist import hoist
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.rules import Emit
from pygpu.ssa import Function, Load, Op, Value
from pygpu.types import INT


def lower_boundary(
    function: Function, interior: str = "", columns: range | None = None
) -> Function:
    """The function with "inside" loads alone.

    `interior` names the axes ("x", "y" or "xy") along which loads next to the pixel, whose operand
    is the function's own x or y, are known to stay in their images: they are left as they are.
    `columns` says of which offsets along x that is known, where not of all.
    """

    def load(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        data: Load = op.data
        if data.boundary == "inside":
            return None
        known = interior if columns is None or data.dx in columns else interior.replace("x", "")
        return [_lowered(gate, data, operands, known)]

    return remove_dead(hoist(Gate(function, {"load": load}).run()))


def _lowered(gate: Gate, data: Load, operands: tuple[Value, ...], interior: str) -> Value:
    places, offsets, tests = [], [], []
    for axis, place, pixel, offset in zip(
        "xy", operands, (gate.x, gate.y), (data.dx, data.dy), strict=True
    ):
        if place is pixel and axis in interior:
            places.append(place)
            offsets.append(offset)
            continue
        size = gate("width" if axis == "x" else "height", data=data.image)
        index, inside = INDEX[data.boundary](gate, place, offset, size, place is pixel)
        places.append(index)
        offsets.append(0)
        if inside is not None:
            tests.append(inside)
    dx, dy = offsets
    near = replace(data, dx=dx, dy=dy, boundary="inside", cval=())
    texel = gate("load", *places, data=near)
    if not tests:
        return texel
    condition = tests[0] if len(tests) == 1 else gate("bit_and", *tests)
    cval = data.cval[0] if data.type.is_scalar else data.cval
    return gate("select", condition, texel, gate.constant(data.type, cval))


# Each takes a place, an offset to it, the image's size along that axis, and whether the place is
# the pixel's own (so that it and the offset are small, and it is not negative). It returns the
# index, and for the boundary `constant` whether the place is inside.
Index = Callable[[Emit, Value, int, Value, bool], tuple[Value, Value | None]]


def _clamp(emit: Emit, place: Value, offset: int, size: Value, own: bool) -> tuple[Value, Value]:
    """The nearest index, and whether it is the place itself."""
    zero, offset_value = emit.constant(INT, 0), emit.constant(INT, offset)
    last = emit("sub", size, emit.constant(INT, 1))
    if own or offset == 0:
        place = emit("add", place, offset_value)
        index = emit("min", place, last)
        if not own or offset < 0:
            index = emit("max", index, zero)
        return index, emit("eq", index, place)
    # The place is clamped before it is moved, so that the sum cannot overflow.
    index = emit("min", place, emit("sub", last, offset_value))
    index = emit("max", index, emit.constant(INT, -offset))
    return emit("add", index, offset_value), emit("eq", index, place)


def _nearest(
    emit: Emit, place: Value, offset: int, size: Value, own: bool
) -> tuple[Value, Value | None]:
    return _clamp(emit, place, offset, size, own)[0], None


def _modulo(emit: Emit, place: Value, offset: int, period: Value, own: bool) -> Value:
    """(place + offset) % period, which is not negative."""
    if not own and offset != 0:
        place = emit("mod", place, period)
    return emit("mod", emit("add", place, emit.constant(INT, offset)), period)


def _wrap(
    emit: Emit, place: Value, offset: int, size: Value, own: bool
) -> tuple[Value, Value | None]:
    return _modulo(emit, place, offset, size, own), None


def _reflect(
    emit: Emit, place: Value, offset: int, size: Value, own: bool
) -> tuple[Value, Value | None]:
    """d c b a | a b c d: the period is twice the size."""
    period = emit("add", size, size)
    index = _modulo(emit, place, offset, period, own)
    back = emit("sub", emit("sub", period, emit.constant(INT, 1)), index)
    return emit("min", index, back), None


def _mirror(
    emit: Emit, place: Value, offset: int, size: Value, own: bool
) -> tuple[Value, Value | None]:
    """d c b | a b c d: the ends are not repeated; one texel is everywhere itself."""
    double = emit("sub", emit("add", size, size), emit.constant(INT, 2))
    period = emit("max", double, emit.constant(INT, 1))
    index = _modulo(emit, place, offset, period, own)
    return emit("min", index, emit("sub", period, index)), None


INDEX: Final[dict[str, Index]] = {
    "nearest": _nearest,
    "constant": _clamp,
    "wrap": _wrap,
    "reflect": _reflect,
    "mirror": _mirror,
}
