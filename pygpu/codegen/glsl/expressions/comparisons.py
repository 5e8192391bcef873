"""Comparisons, and the lesser and greater of two values, in GLSL.

Compilers of drivers suppose that nothing is NaN, and lose the minus of ints in minima of maxima.
What is written here is right with them, too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from pygpu.codegen.glsl.expressions.context import Context, Row
from pygpu.codegen.glsl.expressions.text import Text, call, infix, prefix
from pygpu.core.operations.ops import OPEN, TABLE
from pygpu.passes.simplify.rules import finite
from pygpu.ssa import Op, Value, constant_of
from pygpu.types import INTEGERS, vector

TINY: Final = 1e-30  # far above floats that devices take for 0


def extreme(name: str) -> Row:
    """GLSL's own where no NaN can come, or it does not matter what becomes of it: Python's keeps
    the first operand then. NVIDIA's driver loses the minus of ints where it makes one operation of
    two minima or maxima, but not of two selections."""

    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        type = op.result.type
        if type.kind in INTEGERS and any(_may_be_negated(context, v) for v in op.operands):
            return context.helper(f"{name}_{type.kind}", type.size, *operands)
        exact = type.kind == "float" and op.data != OPEN
        if exact and any(map(context.may_be_nan, op.operands)):
            inner = context.inlined(op.operands[0]) if context.fused and name == "min" else None
            if inner is not None and _holds_between(inner, op):
                limits = context.text(inner.operands[1]), operands[1]
                return context.helper("clamp", type.size, context.text(inner.operands[0]), *limits)
            return context.helper(name, type.size, *operands)
        first, second = operands
        return call(name, first, (second.scalar or second) if type.size > 1 else second)

    return row


def _holds_between(greater: Op, lesser: Op) -> bool:
    """Whether a minimum of a maximum holds a value between two constants, and may be the device's
    own clamp, which may take negative zeros for positive ones: neither the constants nor the value
    may be negative zeros. A sum with a constant that is not small is none."""
    if greater.code != "max" or greater.data == OPEN or greater.operands[0].op is None:
        return False
    low, high = [finite(op.operands[1]) for op in (greater, lesser)]
    if low is None or high is None or low >= high:
        return False
    held = greater.operands[0].op
    terms = held.operands[2:] if held.code == "fma" else held.operands
    is_sum = held.code in ("add", "sub", "fma")
    is_moved = is_sum and any(abs(finite(term) or 0.0) > TINY for term in terms)
    return is_moved and not any(limit == 0 and math.copysign(1, limit) < 0 for limit in (low, high))


_OF_PARTS: Final = frozenset(("select", "splat", "construct", "swizzle", "element"))


def _may_be_negated(context: Context, value: Value) -> bool:
    """Whether a compiler may take an int for another's negative: of unknown ones, too."""
    left, seen = [value], set()
    while left:
        part = left.pop()
        if part in seen:
            continue
        seen.add(part)
        if part.op is not None and part.op.code in _OF_PARTS:
            left += [each for each in part.op.operands if each.type.kind in INTEGERS]
        elif _is_negated(context, part):
            return True
    return False


def _is_negated(context: Context, value: Value) -> bool:
    op = value.op
    if op is None:
        return not context.is_place(value)
    match op.code:
        case "to_int":  # a bool is a mask, and its number the negative of that
            return op.operands[0].type.kind in ("bool", "uint")
        case "mul":
            return any(_holds(operand, -1) for operand in op.operands)
        case "sub":
            return _holds(op.operands[0], 0)
    return bool(op.regions) or TABLE[op.code].negates


def _holds(value: Value, number: int) -> bool:
    """Whether a component of a constant is the number."""
    constant = constant_of(value)
    return number in (constant if isinstance(constant, tuple) else (constant,))


_FUNCTION_OF: Final = {
    "<": "lessThan", "<=": "lessThanEqual", ">": "greaterThan", ">=": "greaterThanEqual",
    "==": "equal", "!=": "notEqual",
}  # fmt: skip


def comparison(operator: str, code: str) -> Row:
    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        type = op.operands[0].type
        if type.kind == "float" and op.operands[0] is op.operands[1] and operator in ("==", "!="):
            test = context.helper("isnan", type.size, operands[0])
            return test if operator == "!=" else opposite(test, type.size, is_plain=True)
        ordered = operator in ("<", "<=", ">", ">=")
        if context.loose and ordered and any(map(context.may_be_nan, op.operands)):
            return context.helper(code, type.size, *operands)
        if type.kind == "bool" and ordered:
            ints = str(vector("int", type.size))
            operands = [call(ints, operand) for operand in operands]
        if type.is_scalar:
            return infix(operator, *operands)
        return call(_FUNCTION_OF[operator], *operands)

    return row


def opposite(text: Text, size: int, is_plain: bool) -> Text:
    """The opposite of bools. NVIDIA's compiler takes `!(a < b)` for `a >= b`, through variables
    and functions too, where a bool is not plain: where NaN may have been compared."""
    if size > 1:
        return call("not", text) if is_plain else call("equal", text, f"bvec{size}(false)")
    return prefix("!", text) if is_plain else infix("==", text, Text("false"))


def negation(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return opposite(operands[0], op.result.type.size, context.is_plain(op.operands[0]))
