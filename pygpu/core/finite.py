"""Which floats can be neither NaN nor infinite, by the operations that make them alone.

finite(value)       # (0.0, 1.0) of the sine of an int, squared; None of a texel or an argument
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pygpu.core.operations.intervals import ANY, Range, RangeRule, largest, product
from pygpu.core.operations.ops import TABLE
from pygpu.ssa import Value

LARGEST: Final = 1e38  # short of the largest float32, so that rounding cannot overflow
_DEEPEST: Final = 24  # operations that are looked through: enough for what one writes in a test
_INTEGERS: Final[dict[str, Range]] = {
    "bool": (0.0, 1.0), "int": (-(2.0**31), 2.0**31), "uint": (0.0, 2.0**32)
}  # fmt: skip


def finite(value: Value) -> Range | None:
    """What a number lies between; None where a float may be NaN or infinite."""
    return _found(value, _DEEPEST, {})


def _found(value: Value, deep: int, seen: dict[Value, Range | None]) -> Range | None:
    if value not in seen:
        seen[value] = _made(value, deep, seen)
    return seen[value]


def _made(value: Value, deep: int, seen: dict[Value, Range | None]) -> Range | None:
    if value.type.kind != "float":
        return _INTEGERS[value.type.kind]
    op = value.op
    if op is None or not deep or not value.type.is_scalar:
        return None
    if op.code == "constant":
        number = float(op.data[1])
        return (number, number) if math.isfinite(number) else None
    if op.code == "to_float":
        return _found(op.operands[0], deep - 1, seen)
    row = TABLE.get(op.code)
    if row is None:
        return None
    rule = _RULES.get(op.code, row.range)
    if rule is None and not row.is_total:
        return None
    ranges = []
    for operand in op.operands:
        if operand.type.kind == "float":
            found = _found(operand, deep - 1, seen)
            if found is None:
                return None
            ranges.append(found)
    low, high = row.bounds if rule is None else rule(ranges)
    return (low, high) if -LARGEST < low <= high < LARGEST else None


def _quotient(ranges: Sequence[Range]) -> Range:
    dividend, (low, high) = ranges
    return ANY if low <= 0.0 <= high else product([dividend, (1.0 / high, 1.0 / low)])


def _power(ranges: Sequence[Range]) -> Range:
    """By a known whole number that is not negative."""
    base, (exponent, same) = ranges
    if exponent != same or not 0 <= exponent <= _POWERS or not exponent.is_integer():
        return ANY
    most = largest([base]) ** exponent
    return -most, most


_POWERS: Final = 8.0  # larger ones of what is not in [-1, 1] soon leave the floats
_RULES: Final[dict[str, RangeRule]] = {"div": _quotient, "pow": _power}
