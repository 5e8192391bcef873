"""What a number lies between, by the operations that make it alone.

    between(value)      # (0.0, 1.0) of the sine of an int, squared; None of a texel or an argument
    between(value)      # (1, 7) of n % 7 + 1; all that an int can be where nothing is known of it

Whoever knows more of some values says so: between(value, {function.x: PLACE}.get).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from pygpu.core.operations.intervals import ANY, LARGEST, Range, RangeRule, largest, product
from pygpu.core.operations.ops import TABLE, Cost
from pygpu.ssa import Op, Value
from pygpu.types import Kind

PLACE: Final[Range] = (0, 2**30 - 1)  # of a pixel, and of an image's size: two may be added
_DEEPEST: Final = 24  # operations that are looked through: enough for what one writes in a test
_KINDS: Final[dict[Kind, Range]] = {
    "bool": (0, 1), "int": (-(2**31), 2**31 - 1), "uint": (0, 2**32 - 1)
}  # fmt: skip
_SIZES: Final = frozenset(code for code, row in TABLE.items() if row.cost is Cost.GIVEN)
_CONVERSIONS: Final = ("to_int", "to_uint", "to_float")

Given = Callable[[Value], Range | None]


def nothing(_: Value) -> None:
    """Of no value more is known than what made it tells."""


def between(value: Value, given: Given = nothing) -> Range | None:
    """What a number lies between, its ends included; None where a float may be NaN or infinite.
    `given` says what values lie between that no operation tells of."""
    return _Bounds(given).of(value, _DEEPEST)


class _Bounds:
    def __init__(self, given: Given) -> None:
        self.given = given
        self.seen: dict[Value, Range | None] = {}

    def of(self, value: Value, deep: int) -> Range | None:
        if value not in self.seen:
            found = self.given(value)
            self.seen[value] = self.made(value, deep) if found is None else found
        return self.seen[value]

    def made(self, value: Value, deep: int) -> Range | None:
        kind, op = value.type.kind, value.op
        all_of_it = _KINDS.get(kind)
        if op is None or not deep or not value.type.is_scalar:
            return all_of_it
        found = self.by(op, deep)
        if found is None:
            return all_of_it
        low, high = found
        if all_of_it is None:
            return found if -LARGEST < low <= high < LARGEST else None
        fits = all_of_it[0] <= low <= high <= all_of_it[1]  # else it may wrap
        return found if fits or op.code == "abs" else all_of_it

    def by(self, op: Op, deep: int) -> Range | None:
        """What the result of an operation lies between as its rule has it, where it has one."""
        kind = op.results[0].type.kind
        if op.code == "constant":
            number = op.data[1]
            return (number, number) if math.isfinite(number) else None
        if op.code in _SIZES:
            return PLACE
        if op.code in _CONVERSIONS:
            is_cut = op.operands[0].type.kind == "float" and kind != "float"
            return None if is_cut else self.of(op.operands[0], deep - 1)
        row = TABLE.get(op.code)
        if row is None:
            return None
        rule = _FLOATS.get(op.code, row.range) if kind == "float" else row.ints or row.range
        if rule is None and not row.is_total:
            return None
        ranges = []
        for operand in op.operands:
            if operand.type.kind == kind:
                found = self.of(operand, deep - 1)
                if found is None:
                    return None
                ranges.append(found)
        return row.bounds if rule is None else rule(ranges)


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
_FLOATS: Final[dict[str, RangeRule]] = {"div": _quotient, "pow": _power}
