"""Native code that finds where vertices in clip space are on the picture, in 1/256 of a pixel.

The native loop (codegen/jobs/driver.py) calls `span` with x0, the number of a part of the vertices.
It is given what set-up is (layout.py) and fills PLACES.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Final

from pygpu.codegen.llvm.body import READ
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import counting
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.codegen.raster import layout
from pygpu.codegen.raster.memory import read, write
from pygpu.codegen.raster.polygons import W, X, Y, distances

_WHOLE: Final = 1.5 * 2.0**52  # added to a float64 it leaves the nearest int in the lower bits


def places(machine: Machine) -> str:
    """The IR of `span`."""
    code = Code(machine)
    args = Val(code, "ptr", 1, "%args", 0)

    def given(slot: int, kind: str = "long") -> Val:
        return code.load(kind, code.at(args, slot * 8), 1, 8)

    guard = given(layout.GUARD_X, "double"), given(layout.GUARD_Y, "double")
    first = code.cast("sext", Val(code, "int", 1, "%x0", 0), "long") * layout.AT_ONCE
    count = code.minimum(given(layout.VERTICES) - first, layout.AT_ONCE)
    with counting(code, count) as k:
        offset = (first + k) * 16
        point = point_at(code, code.at(given(layout.POSITIONS, "ptr"), offset))
        place = code.at(given(layout.PLACES, "ptr"), offset)
        for index, number in enumerate(on_picture(code, point, given)):
            write(code, code.cast("trunc", number, "int"), place, 4 * index)
        write(code, _outside(code, point, guard), place, layout.OUTSIDE)
    return code.span(args=READ)


def point_at(code: Code, place: Val) -> list[Val]:
    """The components of a position in memory."""
    return [code.to_float(read(code, "float", place, 4 * c), "double") for c in range(4)]


def on_picture(code: Code, point: Sequence[Val], given: Callable[[int], Val]) -> tuple[Val, Val]:
    """Where a point in front of the eye is, in units, rounded to the nearest, of two the even."""
    x, y, w = point[X], point[Y], point[W]
    width, height = (
        code.to_float(given(slot) * layout.UNITS, "double")
        for slot in (layout.WIDTH, layout.HEIGHT)
    )
    whole = code.bits(code.constant("double", _WHOLE), "long")
    across, down = (x / w * 0.5 + 0.5) * width, (0.5 - y / w * 0.5) * height
    return code.bits(across + _WHOLE, "long") - whole, code.bits(down + _WHOLE, "long") - whole


def _outside(code: Code, point: list[Val], guard: tuple[Val, Val]) -> Val:
    """A bit for each plane that a point lies outside of, and one for what is not finite."""
    none = code.constant("int", 0)
    bits = [
        code.select(distance >= 0.0, none, code.constant("int", 1 << k))
        for k, distance in enumerate(distances(code, point, guard))
    ]
    # A product with 0 that is not 0: the factor is not finite.
    zero = reduce(Val.__add__, [component * 0.0 for component in point])
    bits.append(code.select(zero.eq(0.0), none, code.constant("int", layout.NOT_FINITE)))
    return reduce(Val.__or__, bits)
