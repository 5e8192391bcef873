"""Vectors become scalars, for targets whose vectors are pixels.

What remains a vector is what comes from or goes to memory: texels, elements of tables and uniforms,
each taken apart by `swizzle`s of one component, and the outputs, put together by `construct`.

    %1 = mul (load im[x, y]), vec2(2.0, 3.0)  ->  %1 = load im[x, y]
                                                  %2 = swizzle %1.x; %3 = mul %2, 2.0
                                                  %4 = swizzle %1.y; %5 = mul %4, 3.0
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate, Special
from pygpu.passes.simplify.rules import Emit
from pygpu.passes.simplify.vectors import COMPONENTWISE
from pygpu.ssa import Builder, Function, Op, Region, Value
from pygpu.types import INT, Type, vector


def scalarize(function: Function) -> Function:
    """The function on scalars alone, but for loads, tables, uniforms and outputs.

    Every output that is a vector is a `construct`.
    """
    function = rewrite(function, _split_results)
    gate = Gate(function, _SPECIAL)
    gate.inline(function.body)
    outputs = gate.mapped(function.outputs)
    return remove_dead(gate.finish([_construct(gate, value) for value in outputs]))


def _construct(gate: Gate, value: Value) -> Value:
    """An output that is a vector as a `construct`, whatever the gate made of it."""
    if value.type.is_scalar or (value.op is not None and value.op.code == "construct"):
        return value
    return gate.append("construct", _components(gate, value))


def _components(emit: Emit, value: Value) -> tuple[Value, ...]:
    """The components: those a vector was made of, where it was."""
    if value.type.is_scalar:
        return (value,)
    return tuple([emit("swizzle", value, data=(i,)) for i in range(value.type.size)])


# ---------------------------------------------------------------- operations


def _componentwise(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    size = op.result.type.size
    if size == 1:
        return None
    columns = [
        _components(gate, operand) if operand.type.size == size else (operand,) * size
        for operand in operands
    ]
    parts = [gate(op.code, *scalars, data=op.data) for scalars in zip(*columns, strict=True)]
    return [gate("construct", *parts)]


def _dot(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
    pairs = zip(*(_components(gate, operand) for operand in operands), strict=True)
    result, *others = [gate("mul", a, b) for a, b in pairs]
    for other in others:
        result = gate("add", result, other)
    return [result]


def _joined(code: str) -> Special:
    """any and all."""

    def special(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
        result, *others = _components(gate, operands[0])
        for other in others:
            result = gate(code, result, other)
        return [result]

    return special


def _element(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value]:
    source, index = operands
    result, *others = _components(gate, source)
    for i, other in enumerate(others, 1):
        result = gate("select", gate("ge", index, gate.constant(INT, i)), other, result)
    return [result]


_SPECIAL: Final[dict[str, Special]] = {
    **dict.fromkeys(COMPONENTWISE, _componentwise),
    "dot": _dot,
    "any": _joined("bit_or"),
    "all": _joined("bit_and"),
    "element": _element,
}


# ---------------------------------------------------------------- control flow


def _split_results(
    rewriter: Rewriter, op: Op, operands: tuple[Value, ...]
) -> Sequence[Value] | None:
    """An `if` or a loop that hands on components instead of vectors."""
    if all(value.type.is_scalar for value in op.results) or not op.regions:
        return None
    build = rewriter.build
    types = [scalar for value in op.results for scalar in _scalars(value.type)]
    names = [value.name for value in op.results for _ in _scalars(value.type)]
    if op.code == "loop":
        operands = flat(build, operands)
        params = tuple([Value(type, name) for type, name in zip(types, names, strict=True)])
        regions = (_body(rewriter, op.regions[0], params),)
    else:
        regions = tuple([_body(rewriter, region, ()) for region in op.regions])  # type: ignore[assignment]
    new = Op(op.code, operands, None, types, regions, op.place, names)
    build.region.ops.append(new)
    return _together(build, op.results, iter(new.results))


def _body(rewriter: Rewriter, old: Region, params: tuple[Value, ...]) -> Region:
    """A region with such params and with components as results."""
    build, new = rewriter.build, Region(params)
    with build.inside(new):
        rewriter.new.update(
            zip(old.params, _together(build, old.params, iter(params)), strict=True)
        )
        rewriter.inline(old)
        new.results = flat(build, [rewriter.new[value] for value in old.results])
    return new


def _scalars(type: Type) -> list[Type]:
    return [vector(type.kind, 1)] * type.size


def flat(build: Builder, values: Sequence[Value]) -> tuple[Value, ...]:
    """The components of all the values."""
    return tuple(
        [
            part
            for value in values
            for part in (
                [value]
                if value.type.is_scalar
                else [build.emit("swizzle", value, data=(i,)) for i in range(value.type.size)]
            )
        ]
    )


def _together(build: Builder, values: Sequence[Value], parts: Iterator[Value]) -> list[Value]:
    """Values of the types of the given ones, made of components in order."""
    made = []
    for value in values:
        taken = [next(parts) for _ in range(value.type.size)]
        made.append(taken[0] if value.type.is_scalar else build.emit("construct", *taken))
    return made
