"""What each operation is in GLSL: one row an operation.

A row makes the text of an op from the texts of its operands. Where GLSL has an operator or a
function with the meaning of pygpu/core/operations/ops.py, that is used; else a helper of
functions.py.

    TABLE["add"](context, op, [a, b])      # a + b
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial, reduce
from typing import Final

from pygpu.codegen.glsl.expressions.comparisons import comparison, extreme, negation
from pygpu.codegen.glsl.expressions.context import Context, Row
from pygpu.codegen.glsl.expressions.functions import HELPERS
from pygpu.codegen.glsl.expressions.text import (
    PRIMARY,
    Text,
    call,
    conditional,
    infix,
    literal,
    prefix,
)
from pygpu.core.operations import ops
from pygpu.passes.simplify.rules import number
from pygpu.ssa import Number, Op, Value, constant_of
from pygpu.types import BOOL, INT, INTEGERS, Type, vector

SUBNORMAL_FROM: Final = 2.0**126  # of which the reciprocal is subnormal


def _spread(operands: Sequence[Text], size: int) -> Sequence[Text]:
    """Vectors of equal components as scalars, where an operator takes a scalar and a vector."""
    left, right = operands
    if size > 1 and right.scalar:
        return left, right.scalar
    if size > 1 and left.scalar:
        return left.scalar, right
    return operands


def _arithmetic(operator: str) -> Row:
    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        return infix(operator, *_spread(operands, op.result.type.size))

    return row


def _div(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    """A quotient. Some devices multiply by the reciprocal, and flush what is subnormal: so what is
    divided by a large constant is divided by a smaller one, and then by a power of two. What
    compilers make of a quotient by a constant zero is anything."""
    divisor = constant_of(op.operands[1])
    size = op.result.type.size
    if divisor is None or op.result.type.kind != "float":
        return infix("/", *_spread(operands, size))
    parts = divisor if isinstance(divisor, tuple) else (divisor,)
    if 0 in parts:
        return context.helper("quotient_by_zero", size, *operands)
    if not any(SUBNORMAL_FROM <= abs(part) < math.inf for part in parts):
        return infix("/", *_spread(operands, size))
    return context.helper("large_quotient", size, *operands)


def _fma(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    """GLSL 4.00's own where the driver rounds once; a product and a sum elsewhere."""
    if context.fused:
        return call("fma", *operands)
    size = op.result.type.size
    first, added = (context.inlined(value) for value in (op.operands[0], op.operands[2]))
    if first is not None and first.code == "neg":
        product = infix("*", *_spread((context.text(first.operands[0]), operands[1]), size))
        return infix("-", *_spread((operands[2], product), size))
    product = infix("*", *_spread(operands[:2], size))
    if added is not None and added.code == "neg":
        return infix("-", *_spread((product, context.text(added.operands[0])), size))
    return infix("+", *_spread((product, operands[2]), size))


def _within(context: Context, value: Value) -> list[Value] | None:
    """Comparisons of ints of which one or the other must hold; None if it is not only these."""
    op = context.inlined(value)
    if op is None or value.type is not BOOL:
        return None
    if op.code == "bit_or":
        found = [_within(context, operand) for operand in op.operands]
        return None if None in found else [each for part in found for each in part or ()]
    return [value] if op.code in ("lt", "le", "gt", "ge") and op.operands[0].type is INT else None


def _outside(context: Context, op: Op) -> Text | None:
    """The text of an int's being on either side of a range, `x < 1 || x > 8`, perhaps of several.
    NVIDIA's compiler takes two such for their opposite in some programs: but not what is not within
    the ranges."""
    parts = [_within(context, operand) for operand in op.operands]
    tests = [test for part in parts for test in part or ()]
    compared = {test.op.operands[0] for test in tests if test.op is not None}
    if None in parts or len(compared) == len(tests):
        return None
    return prefix("!", reduce(partial(infix, "&&"), map(context.negated, tests)))


def _bits(operator: str, logical: str) -> Row:
    """Bits of ints; of bools the logical operator, which GLSL has for scalars alone."""

    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        type = op.result.type
        if type.kind in INTEGERS:
            return infix(operator, *_spread(operands, type.size))
        if type.is_scalar:
            return infix(logical, *operands)
        bits = str(vector("int", type.size))
        return call(str(type), infix(operator, *[call(bits, operand) for operand in operands]))

    return row


_or: Final = _bits("|", "||")


def _either(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return _outside(context, op) or _or(context, op, operands)


def _function(name: str) -> Row:
    return lambda context, op, operands: call(name, *operands)


def _helper(name: str) -> Row:
    return lambda context, op, operands: context.helper(name, op.result.type.size, *operands)


def _pow(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    type = op.result.type
    exponent = number(op.operands[1])
    if type.kind == "float" and exponent in _ROOTS:
        return context.helper(_ROOTS[exponent], type.size, operands[0])
    return context.helper(_named("pow", type), type.size, *operands)


_ROOTS: Final = {0.5: "root", -0.5: "inverse_root"}  # powers that are square roots


def _named(helper: str, type: Type) -> str:
    """The name of a helper for a kind: `pow` is of floats, `pow_int` of ints."""
    return helper if type.kind == "float" else f"{helper}_{type.kind}"


def _abs(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return operands[0] if op.result.type.kind == "uint" else call("abs", *operands)


def _sign(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    if context.may_be_nan(op.operands[0]):  # of which GLSL's is anything
        return context.helper("sign", op.result.type.size, *operands)
    is_unsigned = op.result.type.kind == "uint"
    return call("min", operands[0], "1u") if is_unsigned else call("sign", *operands)


def _neg(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return prefix("-", operands[0])


def _one_number(value: Value) -> Number | None:
    """What a constant holds, in each component."""
    number = constant_of(value)
    if isinstance(number, tuple):
        return number[0] if len(set(number)) == 1 else None
    return number


def _is_power_of_two(value: Value) -> bool:
    """Whether dividing by the value is exact: a constant of one bit, positive if an int."""
    number = _one_number(value)
    if isinstance(number, float):
        return math.isfinite(number) and abs(math.frexp(number)[0]) == 0.5
    return isinstance(number, int) and number > 0 and number & (number - 1) == 0


def _floordiv(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    type = op.result.type
    if not _is_power_of_two(op.operands[1]):
        return context.helper(_named("floordiv", type), type.size, *operands)
    if type.kind == "float":
        return call("floor", infix("/", *_spread(operands, type.size)))
    bits = int(_one_number(op.operands[1]) or 1)
    return infix(">>", operands[0], literal(INT, bits.bit_length() - 1))


def _mod(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    type = op.result.type
    if not _is_power_of_two(op.operands[1]):
        return context.helper(_named("mod", type), type.size, *operands)
    if type.kind == "float":
        return call("mod", operands[0], operands[1].scalar or operands[1])
    rest = literal(vector(type.kind, 1), int(_one_number(op.operands[1]) or 1) - 1)
    return infix("&", operands[0], rest)


def _shift(operator: str, code: str) -> Row:
    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        count = constant_of(op.operands[1])
        if isinstance(count, int) and 0 <= count < 32:
            return infix(operator, *operands)
        name = code if op.result.type.kind == "int" else f"{code}_uint"
        return context.helper(name, op.result.type.size, *operands)

    return row


def _convert(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return call(str(op.result.type), *operands)


def _to_number(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return converted(context, op.operands[0].type, op.result.type, *operands)


def converted(context: Context, given: Type, wanted: Type, operand: Text) -> Text:
    """A number of another kind, or that of a bool: a selection, for int(bool) is the negative of
    a mask to NVIDIA's driver (see extreme)."""
    if given.kind == "bool" and wanted.kind != "bool":
        numbers = [literal(wanted, each if wanted.is_scalar else (each,) * wanted.size)
                   for each in (1, 0)]  # fmt: skip
        return _selected(context, wanted, given.is_scalar, operand, *numbers)
    if given.kind == "float" and wanted.kind == "int":
        return context.to_int(wanted.size, operand)
    if given.kind == "float" and wanted.kind == "uint":
        return context.helper("to_uint", wanted.size, operand)
    return call(str(wanted), operand)


def _select(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return _selected(context, op.result.type, op.operands[0].type.is_scalar, *operands)


def _selected(
    context: Context, type: Type, by_one: bool, condition: Text, first: Text, second: Text
) -> Text:
    """By one bool, or a component at a time."""
    if by_one:
        return conditional(condition, first, second)
    if type.kind == "float":
        return call("mix", second, first, condition)
    return context.helper(f"select_{type.kind}", type.size, condition, first, second)


def _splat(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return Text(f"{op.result.type}({operands[0]})", scalar=operands[0])


def _swizzle(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    if op.operands[0].type.is_scalar:
        if op.result.type.is_scalar:
            return operands[0]
        return _splat(context, op, operands)
    return Text(f"{operands[0].within(PRIMARY)}.{''.join('xyzw'[i] for i in op.data)}")


def _element(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    last = op.operands[0].type.size - 1
    return Text(f"{operands[0].within(PRIMARY)}[{clamped(operands[1], 0, last)}]")


def clamped(index: Text, low: int, high: int) -> Text:
    return call("clamp", index, str(low), str(high))


def _dot(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    type = op.operands[0].type
    if type.is_scalar:
        return infix("*", *operands)
    if type.kind == "float":
        return call("dot", *operands)
    return context.helper(f"dot_{type}", 1, *operands)


def _fold_bools(name: str) -> Row:
    def row(context: Context, op: Op, operands: Sequence[Text]) -> Text:
        return operands[0] if op.operands[0].type.is_scalar else call(name, *operands)

    return row


def _unorm8x4(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    return context.helper("fused_unorm8x4" if context.fused else "unorm8x4", 1, *operands)


def _from_unorm8x4(context: Context, op: Op, operands: Sequence[Text]) -> Text:
    name = "fused_from_unorm8x4" if context.fused else "from_unorm8x4"
    return context.helper(name, 1, *operands)


_ALIKE: Final = (  # GLSL's functions under the same name, good enough on every driver
    "floor ceil trunc sqrt inversesqrt exp exp2 log log2"
).split()
_HELPED: Final = ops.TABLE.keys() & HELPERS.keys()  # helpers under the same name
_COMPARISONS: Final = {code: row for code, row in ops.TABLE.items() if row.is_comparison}

TABLE: Final[dict[str, Row]] = {
    **{name: _helper(name) for name in _HELPED},
    "add": _arithmetic("+"),
    "sub": _arithmetic("-"),
    "mul": _arithmetic("*"),
    "div": _div,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
    "fma": _fma,
    "neg": _neg,
    "abs": _abs,
    "sign": _sign,
    "min": extreme("min"),
    "max": extreme("max"),
    "round": _function("roundEven"),
    "bit_and": _bits("&", "&&"),
    "bit_or": _either,
    "bit_xor": _bits("^", "^^"),
    "bit_not": lambda context, op, operands: prefix("~", operands[0]),
    "shl": _shift("<<", "shl"),
    "shr": _shift(">>", "shr"),
    "not": negation,
    "to_float": _to_number,
    "to_int": _to_number,
    "to_uint": _to_number,
    "to_bool": _convert,
    "float_bits": _function("floatBitsToInt"),
    "bits_float": _function("intBitsToFloat"),
    "select": _select,
    "construct": _convert,
    "splat": _splat,
    "swizzle": _swizzle,
    "element": _element,
    "dot": _dot,
    "from_unorm8x4": _from_unorm8x4,
    "unorm8x4": _unorm8x4,
    "ddx": _function("dFdx"),
    "ddy": _function("dFdy"),
    "any": _fold_bools("any"),
    "all": _fold_bools("all"),
    **{name: _function(name) for name in _ALIKE},
    **{code: comparison(row.symbol, code) for code, row in _COMPARISONS.items()},
}

# Operations that may be printed as calls of helpers.
CALLED: Final = frozenset(
    (*_HELPED, *"div floordiv mod pow min max to_int to_uint shl shr dot".split())
)

NEGATED: Final = {code: row.negated for code, row in _COMPARISONS.items()}
ASSIGNED: Final = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}
