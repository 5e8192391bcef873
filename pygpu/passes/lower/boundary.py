"""Lowers boundaries: every load becomes one of a place inside its image, which is computed from the
image's size.

    load im[x + 1, y] nearest  ->  %0 = width im; %1 = sub %0, 1; %2 = add x, 1; %3 = min %2, %1
                                   load im[%3, ...] inside

Arithmetic never overflows for images below 2**29 texels a side: far places are brought near first.
Loads of one image share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pygpu.core.boundaries import index
from pygpu.core.host.records import record
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.hoist import hoist
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.rules import Emit
from pygpu.ssa import Function, Load, Op, Value, constant_of
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
    places: list[Value] = []
    offsets: list[int] = []
    tests: list[Value] = []
    for axis, place, pixel, offset in zip(
        "xy", operands, (gate.x, gate.y), (data.dx, data.dy), strict=True
    ):
        if (place is pixel and axis in interior) or (offset == 0 and constant_of(place) == 0):
            places.append(place)  # where there is always a texel
            offsets.append(offset)
            continue
        size = gate("width" if axis == "x" else "height", data=data.image)
        moved = Moved(place, offset, own=place is pixel)
        found, inside = Emitting(gate).found(data.boundary, moved, size)
        places.append(found)
        offsets.append(0)
        tests += inside
    dx, dy = offsets
    near = replace(data, dx=dx, dy=dy, boundary="inside", cval=())
    return chosen(gate, data, gate("load", *places, data=near), tests)


def chosen(emit: Emit, data: Load, texel: Value, tests: Sequence[Value]) -> Value:
    """The texel of a load where all tests hold, else what is read outside of the image."""
    if not tests:
        return texel
    inside = reduce(lambda a, b: emit("bit_and", a, b), tests)
    return emit("select", inside, texel, emit.constant(data.type, data.outside))


@record
class Moved:
    """The place `base` + `offset`, whose sum might overflow unless the base is the pixel's `own`
    coordinate: that is small, not negative, and so is the offset."""

    base: Value
    offset: int
    own: bool


@record
class Emitting:
    """The arithmetic of values: operations that are emitted. See pygpu/core/boundaries.py."""

    emit: Emit

    def found(self, boundary: str, place: Moved, size: Value) -> tuple[Value, Sequence[Value]]:
        """The index by the rule of a boundary, and the tests that must hold for it."""
        if boundary != "constant":
            return index(boundary, self, place, size), ()
        nearest, inside = self.nearest(place, size)
        return nearest, (inside,)

    def clamped(self, place: Moved, size: Value) -> Value:
        return self.nearest(place, size)[0]

    def nearest(self, place: Moved, size: Value) -> tuple[Value, Value]:
        """The nearest index, and whether it is the place itself."""
        emit, base, offset = self.emit, place.base, self.number(place.offset)
        last = self.sub(size, 1)
        if place.own or place.offset == 0:
            moved = self.add(base, offset)
            index = self.min(moved, last)
            if not place.own or place.offset < 0:
                index = self.max(index, 0)
            return index, emit("eq", index, moved)
        # The base is clamped before it is moved, so that the sum cannot overflow.
        index = self.max(self.min(base, self.sub(last, offset)), -place.offset)
        return self.add(index, offset), emit("eq", index, base)

    def modulo(self, place: Moved, period: Value) -> Value:
        base = place.base
        if not place.own and place.offset != 0:
            base = self.emit("mod", base, period)
        return self.emit("mod", self.add(base, self.number(place.offset)), period)

    def add(self, a: Value, b: Value) -> Value:
        return self.emit("add", a, b)

    def sub(self, a: Value, b: Value | int) -> Value:
        return self.emit("sub", a, self.number(b))

    def min(self, a: Value, b: Value) -> Value:
        return self.emit("min", a, b)

    def max(self, a: Value, b: Value | int) -> Value:
        return self.emit("max", a, self.number(b))

    def number(self, number: Value | int) -> Value:
        return self.emit.constant(INT, number) if isinstance(number, int) else number


def nearest(emit: Emit, base: Value, offset: int, size: Value) -> Value:
    """The nearest index to base + offset, where the base is the pixel's own coordinate."""
    return Emitting(emit).clamped(Moved(base, offset, own=True), size)
