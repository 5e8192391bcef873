"""Computes floats in another unit, where all that becomes of them only scales with it: a root of
sums of squares of pixels in 255ths is in 255ths, with no product to bring any of it to [0, 1].

    scaled = in_units(ops, given, wanted, unit=2**-24 * 255)

What is computed is of a degree: a sum has that of its parts, a product the sum of its factors', a
root half of what it is of. Constants are of any.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.ssa import Op, Value, constant_of, normal, used_by
from pygpu.types import FLOAT

HIGHEST: Final = 4  # degree: products of so many neither overflow nor vanish
LEAST: Final = 2.0**-120  # of constants: what is less might be taken for 0


@record
class Scaled:
    """Ops in order, and the values in units for those that were wanted."""

    ops: Sequence[Op]
    results: Sequence[Value]


def in_units(
    ops: Sequence[Op], given: Sequence[Value], wanted: Sequence[Value], unit: float
) -> Scaled | None:
    """The ops computing with units where they took the given values, so that 1.0 is `unit`; the
    wanted values come in units too. None where something does not scale."""
    degrees: dict[Value, int] = dict.fromkeys(given, 1)
    try:
        scaling = _Scaling(degrees, unit)
        for op in ops:
            scaling.take(op)
        results = [scaling.of_degree(value, 1) for value in wanted]
    except _DoesNotScale:
        return None
    return Scaled(scaling.ops, results)


class _DoesNotScale(Exception):
    """An operation of numbers in units is not a number in units."""


class _Scaling:
    """Appends ops in units. `degrees` has the degree of each value whose degree is not 0."""

    def __init__(self, degrees: dict[Value, int], unit: float) -> None:
        self.degrees, self.unit = degrees, unit
        self.ops: list[Op] = []
        self.new: dict[Value, Value] = {}

    def take(self, op: Op) -> None:
        """Append an op, in units where its operands are."""
        used = list(used_by(op))
        is_without = not any(self.degrees.get(value) for value in used)
        if is_without and self.new.keys().isdisjoint(used):
            self.ops.append(op)
            return
        if len(op.results) != 1 or op.regions or not all(v.type.is_scalar for v in used):
            raise _DoesNotScale
        degree, of_operands = (0, [0] * len(used)) if is_without else self._rule(op)
        if abs(degree) > HIGHEST:
            raise _DoesNotScale
        operands = [self.of_degree(v, d) for v, d in zip(op.operands, of_operands, strict=True)]
        made = Op(op.code, tuple(operands), op.data, (op.result.type,), (), op.place)
        self.ops.append(made)
        self.new[op.result], self.degrees[op.result] = made.result, degree

    def of_degree(self, value: Value, degree: int) -> Value:
        """The value in units to the power of the degree."""
        number = constant_of(value)
        if degree and isinstance(number, float):
            scaled = number * self.unit**degree
            if scaled and abs(scaled) < LEAST:
                raise _DoesNotScale
            op = Op("constant", (), (FLOAT, normal(FLOAT, scaled)), (FLOAT,))
            self.ops.append(op)
            return op.result
        if self.degrees.get(value, 0) != degree:
            raise _DoesNotScale
        return self.new.get(value, value)

    def _rule(self, op: Op) -> tuple[int, Sequence[int]]:
        """The degree of an op's result, and those that its operands must have."""
        own = [self.degrees.get(value, 0) for value in op.operands]
        if TABLE[op.code].scales:
            degree = self._common(op.operands)
            return degree, [degree] * len(own)
        if TABLE[op.code].is_comparison:
            return 0, [self._common(op.operands)] * 2
        if op.code == "select":
            degree = self._common(op.operands[1:])
            return degree, [0, degree, degree]
        if op.code == "mul":
            return sum(own), own
        if op.code == "fma":
            degree = own[0] + own[1]
            return degree, [*own[:2], degree]
        if op.code == "div":
            return own[0] - own[1], own
        if op.code == "sqrt" and own[0] % 2 == 0:
            return own[0] // 2, own
        raise _DoesNotScale

    def _common(self, values: Sequence[Value]) -> int:
        """The degree of all that are no constants."""
        degrees = {self.degrees.get(value, 0) for value in values if constant_of(value) is None}
        if len(degrees) != 1:
            raise _DoesNotScale
        return degrees.pop()
