"""Simplification of comparisons, of bools and of choice.

Comparisons of floats are inverted only where NaN allows it: not (a == b) is a != b, but
not (a < b) is not a >= b.

    lt 0.0, %0           ->  gt %0, 0.0
    select %0, true, %1  ->  bit_or %0, %1
    select (gt %0, %1), %0, %1  ->  max %1, %0
"""

from __future__ import annotations

import math
from typing import Any, Final

from pygpu.core.operations.ops import TABLE, Operation
from pygpu.passes.simplify.rules import Emit, Rule, made_by, number
from pygpu.ssa import Op, Value, constant_of
from pygpu.types import BOOL, INTEGERS, vector

# What changes nothing where it comes second: x + 0, and max(x, -inf), NaN in x or not.
_NEUTRAL: Final[dict[str, dict[str, float]]] = {
    "add": {"float": 0.0, "int": 0, "uint": 0},
    "sub": {"float": 0.0, "int": 0, "uint": 0},
    "min": {"float": math.inf},
    "max": {"float": -math.inf},
}
# What a choice of one of the compared is, where the first holds and where the second one does.
_EXTREMES: Final = {"gt": ("max", "min"), "lt": ("min", "max")}
_WHOLE_EXTREMES: Final = {**_EXTREMES, "ge": _EXTREMES["gt"], "le": _EXTREMES["lt"]}
_COMPARISONS: Final = {code: row for code, row in TABLE.items() if row.is_comparison}


def _comparison(row: Operation) -> Rule:
    code, of_equals = row.name, bool(row.operators[0](0, 0))

    def rule(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
        a, b = operands
        if constant_of(a) is not None:
            return emit(row.exchanged, b, a)
        if a is b and (a.type.kind != "float" or row.nan == of_equals):
            return emit.constant(vector("bool", a.type.size), of_equals)
        if a.type.kind == "bool" and code in ("eq", "ne") and (c := number(b)) is not None:
            return a if bool(c) == (code == "eq") else emit("not", a)
        if (chosen := made_by(a, "select")) and number(b) is not None and a.type.is_scalar:
            condition, yes, no = chosen.operands
            if number(yes) is not None and number(no) is not None:
                sides = [bool(row.operators[0](number(each), number(b))) for each in (yes, no)]
                return emit("select", condition, *[emit.constant(BOOL, side) for side in sides])
        return None

    return rule


def _not(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    op = operands[0].op
    if op is None:
        return None
    if op.code == "not":
        return op.operands[0]
    if op.code in ("bit_and", "bit_or") and all(_has_inverse(value) for value in op.operands):
        other = "bit_or" if op.code == "bit_and" else "bit_and"
        return emit(other, *(emit("not", value) for value in op.operands))
    return emit(TABLE[op.code].negated, *op.operands) if _has_inverse(operands[0]) else None


def _has_inverse(value: Value) -> bool:
    """Whether `not` of a bool (or of its components) is no operation more."""
    op = value.op
    if op is None or op.code not in _COMPARISONS:
        return op is not None and op.code in ("not", "constant")
    row = _COMPARISONS[op.code]
    return op.operands[0].type.kind != "float" or row.nan != TABLE[row.negated].nan


def _select(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    condition, a, b = operands
    held: Any = constant_of(condition)
    if a is b:
        return a
    if held is not None:
        same = number(condition)
        if same is not None:
            return a if same else b
        picked = [emit("swizzle", a if choice else b, data=(i,)) for i, choice in enumerate(held)]
        return emit("construct", *picked)
    if inverted := made_by(condition, "not"):
        return emit("select", inverted.operands[0], b, a)
    if inner := made_by(a, "select"):
        chosen, first, second = inner.operands
        if chosen is condition:
            return emit("select", condition, first, b)
        if second is b and chosen.type is condition.type:
            return emit("select", emit("bit_and", condition, chosen), first, b)
    if inner := made_by(b, "select"):
        chosen, first, second = inner.operands
        if chosen is condition:
            return emit("select", condition, a, second)
        if first is a and chosen.type is condition.type:
            return emit("select", emit("bit_or", condition, chosen), a, second)
    if a.type.kind == "bool" and a.type is condition.type:
        return _select_bool(emit, condition, a, b)
    if extreme := _extreme(condition, a, b):
        code, first, second = extreme
        return emit(code, first, second)
    if (either := made_by(condition, "bit_or")) and a.type.kind == "float":
        for test, other in (either.operands, either.operands[::-1]):
            unequal, extreme = made_by(other, "ne"), _extreme(test, a, b)
            if extreme and unequal and unequal.operands == (a, a) and extreme[2] is a:
                code, first, second = extreme
                return emit("select", emit("isnan", a), a, emit(code, first, second))
    if found := _neutral(condition, a, b):
        op, other, nothing = found
        taken = emit("select", condition, other, emit.constant(a.type, nothing))
        return emit(op.code, b, taken, data=op.data)
    return None


def _extreme(condition: Value, a: Value, b: Value) -> tuple[str, Value, Value] | None:
    """The minimum or maximum that a choice is: `v if v > most else most` is max(most, v), of NaN
    too. Integers may be compared with their equals, which choose between zeros of floats."""
    test = condition.op
    codes = _WHOLE_EXTREMES if a.type.kind in INTEGERS else _EXTREMES
    if test is None or test.code not in codes or condition.type.size != a.type.size:
        return None
    first, second = codes[test.code]
    if test.operands == (a, b):
        return first, b, a
    return (second, b, a) if test.operands == (b, a) else None


def _neutral(condition: Value, changed: Value, kept: Value) -> tuple[Op, Value, float] | None:
    """What `kept` is changed by, with what changes nothing: so what a window adds up or compares is
    chosen apart from the rest, and an element of many is not looked up where it is stored. Products
    are left, as with sums they are fused, and indices that are wrapped: that choice comes last.
    """
    op = changed.op
    if op is None or op.code not in _NEUTRAL or kept.type.kind not in _NEUTRAL[op.code]:
        return None
    if condition.op is not None and kept in condition.op.operands:
        return None
    first, second = op.operands
    if op.code == "add" and _chosen(condition, second) is kept:
        first, second = second, first
    if _chosen(condition, first) is not kept or made_by(second, "mul"):
        return None
    return op, second, _NEUTRAL[op.code][kept.type.kind]


def _chosen(condition: Value, value: Value) -> Value:
    """What a value is where the condition holds: of items by a number that is known then, one."""
    is_equal = made_by(condition, "eq")
    while is_equal and (choice := made_by(value, "select")):
        test = made_by(choice.operands[0], "eq")
        if test is None or test.operands[0] is not is_equal.operands[0]:
            break
        held, meant = number(test.operands[1]), number(is_equal.operands[1])
        if held is None or meant is None:
            break
        value = choice.operands[1 if held == meant else 2]
    return value


def _select_bool(emit: Emit, condition: Value, a: Value, b: Value) -> Value | None:
    """A choice of bools that is an `and` or an `or`."""
    first, second = number(a), number(b)
    if first is not None and second is not None:
        return condition if first else emit("not", condition)
    if first is not None:
        if first:
            return emit("bit_or", condition, b)
        return emit("bit_and", emit("not", condition), b)
    if second is not None:
        if second:
            return emit("bit_or", emit("not", condition), a)
        return emit("bit_and", condition, a)
    return None


def _any_all(joined: str) -> Rule:
    """any and all: of a scalar nothing, of vectors made of scalars a chain."""

    def rule(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
        (a,) = operands
        if a.type.is_scalar:
            return a
        if a.op is not None and a.op.code == "splat":
            return a.op.operands[0]
        if a.op is not None and a.op.code == "construct":
            result, *others = a.op.operands
            for other in others:
                result = emit(joined, result, other)
            return result
        return None

    return rule


RULES: Final[dict[str, Rule]] = {
    **{code: _comparison(row) for code, row in _COMPARISONS.items()},
    "not": _not,
    "select": _select,
    "any": _any_all("bit_or"),
    "all": _any_all("bit_and"),
}
