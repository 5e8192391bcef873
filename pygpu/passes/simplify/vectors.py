"""Simplification of how vectors are made and taken apart.

swizzle (construct %0, %1), (1,)  ->  %1
construct %0.x, %0.y              ->  swizzle %0, (0, 1)
add (splat %0), (splat %1)        ->  splat (add %0, %1)
mul %0, vec2(0.0, 0.5)            ->  construct 0.0, (mul %0.y, 0.5)

Components that nobody asks for are not computed (`drop_components`, a pass):

mul %0, %1; swizzle %2.y          ->  mul %0.y, %1.y
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.simplify.rules import Emit, Rule, made_by, number
from pygpu.ssa import Function, Op, Value, constant_of, has, walk
from pygpu.types import vector

COMPONENTWISE: Final = frozenset(code for code, row in TABLE.items() if row.componentwise)
ALL: Final = 0b1111  # a bit for each component


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
    if kept := _not_zero(b):
        return emit("dot", *[emit("swizzle", value, data=kept) for value in operands])
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


def without_zeros(emit: Emit, code: str, operands: tuple[Value, ...]) -> Value | None:
    """A product `mul` or `fma` with a vector of which some components are known to be zero, as that
    of the others: what only the zeros would meet is computed no more. None for any other."""
    type, kept = operands[1].type, _not_zero(operands[1])
    if not kept:
        return None
    if len(operands) == 3:
        others = [emit("swizzle", operands[2], data=(i,)) for i in range(type.size)]
    else:
        others = [emit.constant(vector(type.kind, 1), 0)] * type.size
    return of_components(emit, code, operands, None, kept, others)


def _not_zero(value: Value) -> tuple[int, ...]:
    """The components that are not zero of a constant that has others; none of any other value."""
    held = constant_of(value)
    if not isinstance(held, tuple) or all(held):
        return ()
    return tuple([i for i, number in enumerate(held) if number])


def of_components(
    emit: Callable[..., Value],
    code: str,
    operands: Sequence[Value],
    data: Any,
    kept: tuple[int, ...],
    others: Sequence[Value],
) -> Value:
    """The vector whose components `kept` are those that a componentwise operation computes, the
    rest those of `others`."""
    parts = [v if v.type.is_scalar else emit("swizzle", v, data=kept) for v in operands]
    made, components = emit(code, *parts, data=data), list(others)
    for place, i in enumerate(kept):
        components[i] = made if len(kept) == 1 else emit("swizzle", made, data=(place,))
    return emit("construct", *components)


RULES: Final[dict[str, Rule]] = {
    "construct": _construct,
    "swizzle": _swizzle,
    "element": _element,
    "dot": _dot,
}


def drop_components(function: Function) -> Function:
    """The function in which each componentwise operation computes the components that are asked
    for; itself where these are all."""
    if not has(function, "swizzle"):
        return function
    needed = _needed(function)
    if not any(_is_less(op, needed) for op in walk(function.body)):
        return function
    return rewrite(function, lambda *what: _reduce(needed, *what))


def _needed(function: Function) -> Mapping[Value, int]:
    """Which components of each value are asked for."""
    ops, needed = list(walk(function.body)), defaultdict[Value, int](int)
    needed.update(dict.fromkeys(function.body.results, ALL))
    for op in ops:
        for region in op.regions:
            needed.update(dict.fromkeys(region.results, ALL))
    for op in reversed(ops):  # whatever uses a value follows it
        mask = ALL
        if op.code == "swizzle":
            asked = needed[op.result]
            mask = sum({1 << part for i, part in enumerate(op.data) if asked >> i & 1})
        elif op.code in COMPONENTWISE and op.result.type.size > 1:
            mask = needed[op.result]
        for value in op.operands:
            needed[value] |= mask if value.type.size > 1 else ALL
    return needed


def _is_less(op: Op, needed: Mapping[Value, int]) -> bool:
    if op.code not in COMPONENTWISE or op.result.type.size == 1:
        return False
    return 0 < needed[op.result] < (1 << op.result.type.size) - 1


def _reduce(
    needed: Mapping[Value, int], rewriter: Rewriter, op: Op, operands: tuple[Value, ...]
) -> Sequence[Value] | None:
    """The operation on the components that are asked for, and zeros where nobody looks."""
    if not _is_less(op, needed):
        return None
    type, mask, build = op.result.type, needed[op.result], rewriter.build
    kept = tuple([i for i in range(type.size) if mask >> i & 1])
    zeros = [build.constant(vector(type.kind, 1), 0)] * type.size
    return [of_components(build.emit, op.code, operands, op.data, kept, zeros)]
