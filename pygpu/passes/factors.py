"""Takes constant factors out of what only scales with them, so that they are applied once.

    sqrt((x / 16) ** 2 + (y / 16) ** 2)   ->   sqrt(x ** 2 + y ** 2) / 16

What is computed differs in its rounding alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pygpu.ssa import Op, Value, constant_of, normal
from pygpu.types import FLOAT

_SUMS: Final = ("add", "sub", "min", "max")


def taken_out(ops: Sequence[Op], wanted: Sequence[Value]) -> tuple[Sequence[Op], Sequence[Value]]:
    """The ops with factors taken out, and the wanted values then; the same where that is not less
    to compute."""
    if any(op.regions for op in ops):
        return ops, wanted
    factors = _Factors()
    for op in ops:
        factors.take(op)
    results = [factors.whole(value) for value in wanted]
    is_less = _count(factors.ops) < _count(ops)
    return (factors.ops, results) if is_less else (ops, wanted)


def _count(ops: Sequence[Op]) -> int:
    return sum(op.code != "constant" for op in ops)


class _Factors:
    """See taken_out. Of a value that was taken, `parts` has a value and a factor, whose product it
    is: itself and 1 where there is none."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.parts: dict[Value, tuple[Value, float]] = {}
        self.made: dict[Value, Value] = {}  # whole values

    def take(self, op: Op) -> None:
        """Append what an op computes without a factor."""
        factor = None
        if len(op.results) == 1 and op.result.type is FLOAT:
            if self._is_scaled(op):
                return
            factor = self._factor(op)
        if factor is None:
            operands = tuple([self.whole(value) for value in op.operands])
            made = Op(op.code, operands, op.data, tuple([v.type for v in op.results]), (), op.place)
            self.ops.append(made)
            self.parts.update(
                {old: (new, 1.0) for old, new in zip(op.results, made.results, strict=True)}
            )
            return
        own = [self._own(op, index, factor) for index in range(len(op.operands))]
        self.parts[op.result] = self._emit(op.code, *own, data=op.data), factor

    def _is_scaled(self, op: Op) -> bool:
        """Whether an op multiplies by a constant: that is a factor, and nothing to compute."""
        if op.code != "mul":
            return False
        for factor, value in (op.operands, op.operands[::-1]):
            number = _number(factor)
            if number and _number(value) is None:
                base, times = self._parts(value)
                self.parts[op.result] = base, times * number
                return True
        return False

    def _factor(self, op: Op) -> float | None:
        """The factor of a result whose operands lose theirs; None where they must be whole."""
        factors = [self._parts(value)[1] for value in op.operands]
        if op.code == "mul":
            return math.prod(factors)
        if op.code == "sqrt" and factors[0] > 0:
            return math.sqrt(factors[0])
        if op.code == "abs":
            return abs(factors[0])
        if op.code == "fma" and _number(op.operands[2]) is None:
            return factors[2] if factors[0] * factors[1] == factors[2] else None
        moving = {f for f, v in zip(factors, op.operands, strict=True) if _number(v) is None}
        if op.code in _SUMS and len(moving) == 1:
            factor = moving.pop()
            return factor if factor > 0 or op.code in ("add", "sub") else None
        return None

    def _own(self, op: Op, index: int, factor: float) -> Value:
        """An operand without its factor; a constant of a sum without that of the sum."""
        value = op.operands[index]
        number = _number(value)
        if number is not None and op.code in _SUMS:
            return self._constant(number / factor)
        return self._parts(value)[0]

    def _parts(self, value: Value) -> tuple[Value, float]:
        return self.parts.get(value, (value, 1.0))

    def whole(self, value: Value) -> Value:
        """A value with its factor."""
        base, factor = self._parts(value)
        if factor == 1.0:
            return base
        if value not in self.made:
            self.made[value] = self._emit("mul", base, self._constant(factor))
        return self.made[value]

    def _constant(self, number: float) -> Value:
        return self._emit("constant", data=(FLOAT, normal(FLOAT, number)))

    def _emit(self, code: str, *operands: Value, data: object = None) -> Value:
        op = Op(code, operands, data, (FLOAT,))
        self.ops.append(op)
        return op.result


def _number(value: Value) -> float | None:
    """What a constant is, where it is finite; None for any other value."""
    number = constant_of(value)
    return number if isinstance(number, float) and math.isfinite(number) else None


__all__ = ["taken_out"]
