"""Takes constant factors out of what only scales with them, so that they are applied once.

    sqrt((x / 16) ** 2 + (y / 16) ** 2)   ->   sqrt(x ** 2 + y ** 2) / 16

What is computed differs in its rounding alone: factors are neither large nor small, and those of
sums are positive, so that zeros keep their sign.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Final

from pygpu.core.operations.ops import TABLE
from pygpu.passes.simplify.rules import finite
from pygpu.ssa import Op, Value, normal
from pygpu.types import FLOAT

LARGEST: Final = 2.0**16  # the largest factor that is taken out; the least is its reciprocal
FARTHEST: Final = 2.0**32  # what a constant of a sum may become at most without the sum's factor
_ALIKE: Final = frozenset(code for code, row in TABLE.items() if row.scales and row.arity == 2)
_BOUNDED: Final = frozenset(
    code for code, row in TABLE.items() if row.scales or row.is_comparison
) | {"constant", "mul", "fma", "sqrt", "select"}


def taken_out(
    ops: Sequence[Op], given: Collection[Value], wanted: Sequence[Value]
) -> tuple[Sequence[Op], Sequence[Value]]:
    """The ops with factors taken out, and what the wanted values are then. The ops compute from
    these given values.

    The ops stay as they are where there would not be fewer of them. They do so, too, where anything
    but sums, products, roots and choices of the given values is computed: what that is might be too
    large without its factor.
    """
    known = {*given, *(value for op in ops for value in op.results)}
    if not all(op.code in _BOUNDED and known.issuperset(op.operands) for op in ops):
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
    """Appends ops without their factors. A value that was taken is the product of a value and a
    factor, which `parts` has of it: of the value itself and 1 where there is no factor."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self.parts: dict[Value, tuple[Value, float]] = {}
        self.made: dict[Value, Value] = {}  # whole values

    def take(self, op: Op) -> None:
        """Append what an op computes without a factor."""
        type = op.result.type
        scaled = self._scaled(op) if type is FLOAT else None
        if scaled is not None:
            self.parts[op.result] = scaled
            return
        factor = self._factor(op) if type is FLOAT else None
        if factor is None or not _is_mild(factor, LARGEST):
            factor, operands = 1.0, [self.whole(value) for value in op.operands]
        else:
            operands = [self._own(op, index, factor) for index in range(len(op.operands))]
        made = Op(op.code, tuple(operands), op.data, (type,), (), op.place)
        self.ops.append(made)
        self.parts[op.result] = made.result, factor

    def _scaled(self, op: Op) -> tuple[Value, float] | None:
        """What a product with a constant is of, and its factor, with nothing computed; or None."""
        for factor, value in (op.operands, op.operands[::-1]) if op.code == "mul" else ():
            number = finite(factor)
            if number and finite(value) is None:
                base, times = self._parts(value)
                if _is_mild(times * number, LARGEST):
                    return base, times * number
        return None

    def _factor(self, op: Op) -> float | None:
        """The factor of a result whose operands lose theirs; None where they must be whole."""
        factors = [self._parts(value)[1] for value in op.operands]
        if op.code == "mul":
            return math.prod(factors)
        if op.code == "sqrt" and factors[0] > 0:
            return math.sqrt(factors[0])
        if op.code == "abs":
            return abs(factors[0])
        if op.code == "fma" and finite(op.operands[2]) is None:
            return factors[2] if factors[0] * factors[1] == factors[2] > 0 else None
        if op.code in _ALIKE:
            moving = {f for f, v in zip(factors, op.operands, strict=True) if finite(v) is None}
            numbers = [number for number in map(finite, op.operands) if number]
            factor = moving.pop() if len(moving) == 1 else 0.0
            is_mild = factor > 0 and all(_is_mild(n / factor, FARTHEST) for n in numbers)
            return factor if is_mild else None
        return None

    def _own(self, op: Op, index: int, factor: float) -> Value:
        """An operand without its factor; a constant of a sum without that of the sum."""
        value = op.operands[index]
        number = finite(value)
        if number is not None and op.code in _ALIKE:
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


def _is_mild(number: float, largest: float) -> bool:
    return 1 / largest <= abs(number) <= largest
