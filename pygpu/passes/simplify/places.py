"""Constants in the coordinates of a load become its offset, so that loads near the pixel have the
function's own x and y as operands. Places are added without wrapping, as `ssa.Load` says.

    load im[x + 1 - 3, (y + %0) - 2]  ->  load im[x, (y + %0), dx=-2, dy=-2]
    load im[to_int(to_float(x) + 1.0), y]  ->  load im[x, y, dx=1]
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.passes.simplify.rules import FARTHEST, Emit, Rule, number, place
from pygpu.ssa import Load, Value


def _load(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    assert isinstance(data, Load)
    (x, dx), (y, dy) = _split(emit, operands[0]), _split(emit, operands[1])
    dx, dy = dx + data.dx, dy + data.dy
    if (x is operands[0] or abs(dx) > FARTHEST) and (y is operands[1] or abs(dy) > FARTHEST):
        return None
    if abs(dx) > FARTHEST:
        x, dx = operands[0], data.dx
    if abs(dy) > FARTHEST:
        y, dy = operands[1], data.dy
    moved = Load(data.image, data.type, dx, dy, data.boundary, data.cval)
    return emit("load", x, y, data=moved)


def _split(emit: Emit, value: Value, depth: int = 8) -> tuple[Value, int]:
    """A coordinate as a base and a constant, which may stand anywhere in a chain of sums."""
    op = value.op
    if op is None or op.code not in ("add", "sub", "to_int") or depth == 0:
        return value, 0
    if op.code == "to_int":
        found = place(op.operands[0])
        if found is None or found[0].op is None or not found[1].is_integer():
            return value, 0
        base, offset = _split(emit, found[0].op.operands[0], depth - 1)
        return base, offset + int(found[1])
    sign = 1 if op.code == "add" else -1
    a, b = op.operands
    c = number(b)
    if c is not None:
        base, offset = _split(emit, a, depth - 1)
        return base, offset + sign * int(c)
    left, first = _split(emit, a, depth - 1)
    right, second = _split(emit, b, depth - 1)
    offset = first + sign * second
    if left is a and right is b:
        return value, 0
    return emit(op.code, left, right), offset


RULES: Final[dict[str, Rule]] = {"load": _load}
