"""Which floats cannot be NaN, by how large they can be at most.

Texels of 8 and 16 bits lie in [0, 1]; sums and products of what is bounded are bounded, so most of
a filter of a photograph is. Where a float image is read, anything may come.

    Finite(function, formats).may_be_nan(value)
    without_nans(function, formats)      # tests for NaN that cannot be are False
"""

import math
from collections.abc import Sequence
from typing import Final

from pygpu.core.intervals import ANY, Range, product, total
from pygpu.core.ops import TABLE
from pygpu.core.storage import Format
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, Op, Rewriter, Value, rewrite, walk

_OF_KINDS: Final[dict[str, Range]] = {
    "bool": (0.0, 1.0), "int": (-(2.0**31), 2.0**31), "uint": (0.0, 2.0**32), "float": ANY
}  # fmt: skip
LARGEST: Final = 1e38  # short of the largest float32, so that rounding cannot overflow


class Finite:
    """Ranges of the float values of a function, found when asked for."""

    def __init__(self, function: Function, formats: Sequence[Format]) -> None:
        self.function = function
        self.formats = formats
        self.ranges: dict[Value, Range] = {}

    def may_be_nan(self, value: Value) -> bool:
        return value.type.kind == "float" and self.range(value) == ANY

    def range(self, value: Value) -> Range:
        """All that a value's components can be; ANY where it can be NaN too."""
        if value not in self.ranges:
            self.ranges[value] = ANY
            if value.op is not None:
                self.ranges[value] = self._of(value.op)
        return self.ranges[value]

    def _of(self, op: Op) -> Range:
        if op.code == "constant":
            number = op.data[1]
            parts = number if isinstance(number, tuple) else (number,)
            return _checked(min(parts), max(parts)) if all(map(math.isfinite, parts)) else ANY
        if op.code == "load":
            format = self.formats[op.data.image]
            return (0.0, 1.0) if format.is_scaled else ANY
        if op.code == "to_float":
            return _OF_KINDS[op.operands[0].type.kind]
        row = TABLE.get(op.code)  # of branches and loops there is none
        if row is None or (row.range is None and not row.is_total):
            return ANY
        operands = op.operands[1:] if op.code == "select" else op.operands
        ranges = [self.range(operand) for operand in operands if operand.type.kind == "float"]
        if ANY in ranges:
            return ANY
        if op.code == "sub" and not _members(op.operands[0], "max").isdisjoint(
            _members(op.operands[1], "min")
        ):  # neither is what both are of between them
            return _checked(0.0, ranges[0][1] - ranges[1][0])
        if op.code in ("mul", "fma") and op.operands[0] is op.operands[1]:
            low, high = product(ranges[:2])
            square = max(0.0, low), high
            return _checked(*(total([square, ranges[2]]) if op.code == "fma" else square))
        return _checked(*(row.bounds if row.range is None else row.range(ranges)))


def without_nans(function: Function, formats: Sequence[Format]) -> Function:
    """The function without tests for NaN of what cannot be NaN, for images of these formats."""
    finite = Finite(function, formats)
    never = {
        op
        for op in walk(function.body)
        if op.code == "isnan" and not finite.may_be_nan(op.operands[0])
    }
    if not never:
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if op not in never:
            return None
        type = op.result.type
        return [rewriter.build.constant(type, False if type.is_scalar else (False,) * type.size)]

    return apply(CLEAN, rewrite(function, rule))


def _members(value: Value, code: str) -> set[Value]:
    """A value, and all that it is the greatest (or the least) of."""
    found, open_ = {value}, [value]
    while open_:
        op = open_.pop().op
        if op is not None and op.code == code:
            open_ += [each for each in op.operands if each not in found]
            found.update(op.operands)
    return found


def _checked(low: float, high: float) -> Range:
    return (float(low), float(high)) if -LARGEST < low <= high < LARGEST else ANY
