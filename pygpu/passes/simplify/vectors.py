"""Simplification of how vectors are made and taken apart.

swizzle (construct %0, %1), (1,)  ->  %1
construct %0.x, %0.y              ->  swizzle %0, (0, 1)
add (splat %0), (splat %1)        ->  splat (add %0, %1)
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.passes.simplify.rules import Emit, Rule, made_by, number
from pygpu.ssa import Value, constant_of
from pygpu.types import vector

COMPONENTWISE: Final = frozenset(code for code, row in TABLE.items() if row.componentwise)


def _construct(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    first = operands[0]
    if all(operand is first for operand in operands):
        return emit("splat", first, data=len(operands))
    source, taken = None, []
    for operand in operands:
        op = made_by(operand, "swizzle")
        if op is None or (source is not None and op.operands[0] is not source):
            return None
        source = op.operands[0]
        taken.append(op.data[0])
    assert source is not None
    return emit("swizzle", source, data=tuple(taken))


def _swizzle(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = operands
    if data == tuple(range(a.type.size)):
        return a
    op = a.op
    if op is None:
        return None
    if op.code == "swizzle":
        return emit("swizzle", op.operands[0], data=tuple([op.data[i] for i in data]))
    if op.code == "construct":
        picked = [op.operands[i] for i in data]
        return picked[0] if len(picked) == 1 else emit("construct", *picked)
    if op.code == "splat":
        scalar = op.operands[0]
        return scalar if len(data) == 1 else emit("splat", scalar, data=len(data))
    if len(data) > 1 and data.count(data[0]) == len(data):
        return emit("splat", emit("swizzle", a, data=data[:1]), data=len(data))
    return None


def _element(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, index = operands
    if a.op is not None and a.op.code == "splat":
        return a.op.operands[0]
    c = constant_of(index)
    if c is None:
        return None
    return emit("swizzle", a, data=(min(max(c, 0), a.type.size - 1),))


def _dot(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    if a.type.is_scalar:
        return emit("mul", a, b)
    if number(a) == 0 or number(b) == 0:
        return emit.constant(vector(a.type.kind, 1), 0)
    return None


def shrink(emit: Emit, code: str, operands: tuple[Value, ...]) -> Value | None:
    """A componentwise operation on vectors of equal components, as one on scalars."""
    size, scalars, found = 1, [], False
    for operand in operands:
        op = operand.op
        if operand.type.is_scalar:
            scalars.append(operand)  # the condition of a select
            continue
        if op is None:
            return None
        size = operand.type.size
        if op.code == "splat":
            scalars.append(op.operands[0])
            found = True
        elif op.code == "constant" and (c := number(operand)) is not None:
            scalars.append(emit.constant(vector(operand.type.kind, 1), c))
        else:
            return None
    return emit("splat", emit(code, *scalars), data=size) if found else None


RULES: Final[dict[str, Rule]] = {
    "construct": _construct,
    "swizzle": _swizzle,
    "element": _element,
    "dot": _dot,
}
