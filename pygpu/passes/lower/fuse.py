"""Makes products that go into one sum part of it, rounded once: `fma`. A driver that would do so by
itself does it here and not there, as the operations around ask for; decided here, a function gives
the same bits however its pixels are shared out.

    %0 = mul a, b; %1 = add %0, c  ->  %1 = fma a, b, c
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate
from pygpu.ssa import Function, Op, Value, uses


def fuse(function: Function) -> Function:
    """The function with sums of floats that take in the products used by nothing else."""
    count = uses(function)

    def product(value: Value) -> tuple[Value, ...] | None:
        op = value.op
        return op.operands if op and op.code == "mul" and count[value] == 1 else None

    def add(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.result.type.kind != "float":
            return None
        for this, other in ((0, 1), (1, 0)):
            if factors := product(op.operands[this]):
                return [gate("fma", *gate.mapped(factors), operands[other])]
        return None

    def sub(gate: Gate, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.result.type.kind != "float":
            return None
        if factors := product(op.operands[1]):
            a, b = gate.mapped(factors)
            return [gate("fma", gate("neg", a), b, operands[0])]
        if factors := product(op.operands[0]):
            return [gate("fma", *gate.mapped(factors), gate("neg", operands[1]))]
        return None

    return remove_dead(Gate(function, {"add": add, "sub": sub}).run())
