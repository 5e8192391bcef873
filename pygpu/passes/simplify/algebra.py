"""Algebra that keeps the meaning of float32, int32, uint32 and bool.

Floats: no rule changes a result but for the sign of a zero, and but for a product with a constant
zero, which is zero whatever the other factor is (so a kernel's zero taps vanish): x + 0.0 and
x - 0.0 are x, -(a - b) is b - a. Nothing is reassociated but places, integers with constants added
to them, whose floors and distances are those of exact numbers, as in plain Python; x / c is
x * (1 / c) only where c is a power of two. Integers wrap, so theirs is the algebra of a ring.

    add %0, 0.0  ->  %0        mul %0, -1.0  ->  neg %0        pow %0, 2.0  ->  mul %0, %0
    floor (to_float(x) + 1.3)  ->  to_float(x) + 1.0
"""

from __future__ import annotations

import math
from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.passes.simplify.rules import Emit, Rule, made_by, number, place
from pygpu.passes.simplify.vectors import without_zeros
from pygpu.ssa import Number, Value, base_and_offset, constant_of
from pygpu.types import INTEGERS, Kind, Type


def _ordered(operands: tuple[Value, ...]) -> tuple[Value, Value]:
    """The operands of a commutative operation, a constant second."""
    a, b = operands
    return (b, a) if constant_of(a) is not None and constant_of(b) is None else (a, b)


def _add(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if c == 0:
        return a
    if negated := made_by(b, "neg"):
        return emit("sub", a, negated.operands[0])
    if negated := made_by(a, "neg"):
        return emit("sub", b, negated.operands[0])
    if c is not None and a.type.kind in INTEGERS:
        base, offset = base_and_offset(a, c)
        if base is not a or offset < 0:
            return _shifted(emit, base, offset)
    return None


def _sub(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if c == 0:
        return a
    if number(a) == 0:
        return emit("neg", b)
    if negated := made_by(b, "neg"):
        return emit("add", a, negated.operands[0])
    if a.type.kind not in INTEGERS:
        return _distance(emit, a, b)
    if a is b:
        return emit.constant(a.type, 0)
    if c is not None:
        base, offset = base_and_offset(a, -c)
        if base is not a or (offset > 0 and a.type.kind == "int"):
            return _shifted(emit, base, offset)
    return None


def _shifted(emit: Emit, base: Value, offset: int) -> Value:
    """base + offset, with the constant written as a positive number."""
    if offset == 0:
        return base
    if offset == -(2**31):  # is its own negative
        return emit("sub", base, emit.constant(base.type, offset))
    code = "add" if offset > 0 else "sub"
    return emit(code, base, emit.constant(base.type, abs(offset)))


def _mul(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if c is not None:
        if c == 0:
            return emit.constant(a.type, 0)
        if c == 1:
            return a
        if c == _minus_one(a.type):
            return emit("neg", a)
        if a.type.kind in INTEGERS and (inner := made_by(a, "mul")):
            held = number(inner.operands[1])
            if held is not None:
                return emit("mul", inner.operands[0], emit.constant(a.type, held * c))
    first, second = made_by(a, "neg"), made_by(b, "neg")
    if first and (second or constant_of(b) is not None):
        return emit("mul", first.operands[0], second.operands[0] if second else emit("neg", b))
    return without_zeros(emit, "mul", operands)


def _fma(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    """a * b + c, where b is 0, 1 or -1, c is 0, or both factors are negated: what is made of it is
    rounded as it is."""
    a, b, added = operands
    c = number(b)
    if c == 0:
        return added
    if c == 1:
        return emit("add", added, a)
    if c == -1:
        return emit("sub", added, a)
    if number(added) == 0:
        return emit("mul", a, b)
    first, second = made_by(a, "neg"), made_by(b, "neg")
    if first and (second or constant_of(b) is not None):
        b = second.operands[0] if second else emit("neg", b)
        return emit("fma", first.operands[0], b, added)
    return without_zeros(emit, "fma", operands)


def _minus_one(type: Type) -> int:
    """What a number is multiplied with to be its negative; of uints, modulo 2**32."""
    return 2**32 - 1 if type.kind == "uint" else -1


def _div(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if c == 1:
        return a
    if c is not None and 2e-38 < abs(c) < 2e37 and abs(math.frexp(c)[0]) == 0.5:
        return emit("mul", a, emit.constant(a.type, 1 / c))  # a power of two: exact
    first, second = made_by(a, "neg"), made_by(b, "neg")
    if first and (second or c is not None):
        return emit("div", first.operands[0], second.operands[0] if second else emit("neg", b))
    return None


def _power_of_two(c: Number | None) -> int | None:
    """k where c is 2**k."""
    return c.bit_length() - 1 if isinstance(c, int) and c > 0 and c & (c - 1) == 0 else None


def _floordiv(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if a.type.kind == "float":
        return emit("div", a, b) if c == 0 else None  # infinite or NaN: there is nothing to round
    if c == 0:
        return emit.constant(a.type, 0)
    if c == -1:
        return emit("neg", a)
    k = _power_of_two(c)
    return None if k is None else emit("shr", a, emit.constant(a.type, k))


def _mod(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    if a.type.kind == "float":
        return None
    c = number(b)
    if c in (0, -1):
        return emit.constant(a.type, 0)
    if c is not None and _power_of_two(c) is not None:
        return emit("bit_and", a, emit.constant(a.type, c - 1))
    return None


def _pow(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = operands
    c = number(b)
    if c == 0:
        return emit.constant(a.type, 1)
    if c == 1:
        return a
    if c == 2:
        return emit("mul", a, a)
    if c == 3:
        return emit("mul", emit("mul", a, a), a)
    if c == 4:
        square = emit("mul", a, a)
        return emit("mul", square, square)
    if a.type.kind in INTEGERS:
        return None
    if c == -1:
        return emit("div", emit.constant(a.type, 1), a)
    if c == 0.5 and sign(a) > 0:
        return emit("sqrt", a)  # elsewhere pow(-inf, 0.5) is inf
    if number(a) == 2:
        return emit("exp2", b)
    return None


def sign(value: Value, depth: int = 6) -> int:
    """1 of a float that is at least zero or NaN, -1 of one that is at most zero or NaN; else 0."""
    op = value.op
    if op is None or depth == 0:
        return 0
    row = TABLE.get(op.code)  # of branches and loops there is none
    if row is not None and row.bounds[0] >= 0.0:
        return 1
    if op.code == "constant":
        held = op.data[1]
        parts = held if isinstance(held, tuple) else (held,)
        return 1 if all(c >= 0 for c in parts) else -all(c <= 0 for c in parts)
    if op.code not in _SIGNED or (op.code == "div" and not _is_not_zero(op.operands[1])):
        return 0
    signs = [sign(operand, depth - 1) for operand in op.operands]
    if op.code in ("neg", "sub"):
        signs[-1] *= -1
    elif op.code in ("mul", "div", "dot", "fma"):
        is_square = op.operands[0] is op.operands[1]
        signs = [1 if is_square else signs[0] * signs[1], *signs[2:]]
    elif (op.code, signs[-1]) in (("max", 1), ("min", -1)):
        return signs[-1]
    return signs[0] if len(set(signs)) == 1 else 0


_SIGNED: Final = frozenset(
    {"add", "sub", "mul", "div", "fma", "dot", "neg", "min", "max", "splat", "swizzle", "construct"}
)


def _is_not_zero(value: Value) -> bool:
    """Whether a divisor is known, or at least a known number, and so has the sign that it has."""
    if value.op is not None and value.op.code == "add" and sign(value.op.operands[0]) == 1:
        return _is_not_zero(value.op.operands[1]) and sign(value.op.operands[1]) == 1
    return constant_of(value) not in (None, 0.0)


def _neg(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = operands
    if inner := made_by(a, "neg"):
        return inner.operands[0]
    if inner := made_by(a, "sub"):
        return emit("sub", inner.operands[1], inner.operands[0])
    if (inner := made_by(a, "mul")) and constant_of(inner.operands[1]) is not None:
        return emit("mul", inner.operands[0], emit("neg", inner.operands[1]))
    return None


def _abs(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = operands
    if a.type.kind == "uint" or (made_by(a, "abs") and a.type.kind == "float"):
        return a
    inner = made_by(a, "neg")
    return emit("abs", inner.operands[0]) if inner else None


def _extreme(code: str) -> Rule:
    """min and max: of floats they do not commute, as a NaN that comes first stays, unless open."""
    keep = min if code == "min" else max

    def rule(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
        a, b = operands
        if a is b:
            return a
        if a.type.kind in INTEGERS:
            a, b = _ordered(operands)
        c, inner = number(b), made_by(a, code)
        if c is not None and c == c and inner:
            held = number(inner.operands[1])
            if held is not None and held == held:
                least = emit.constant(a.type, keep(held, c))
                return emit(code, inner.operands[0], least, data=inner.data)
        return emit(code, a, b, data=data) if a is not operands[0] else None

    return rule


def _distance(emit: Emit, a: Value, b: Value) -> Value | None:
    """What two places differ by that are one integer and constants."""
    first, second = place(a), place(b)
    if first is None or second is None or first[0] is not second[0]:
        return None
    return emit.constant(a.type, first[1] - second[1])


def _floor(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    found = place(operands[0])
    if found is None:
        return _rounding(emit, operands, data)
    whole, rest = found
    if rest.is_integer():
        return operands[0]
    return emit("add", whole, emit.constant(whole.type, float(math.floor(rest))))


def _rounding(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    """floor, ceil, trunc and round of what is whole already."""
    op = operands[0].op
    row = TABLE.get(op.code) if op is not None else None
    return operands[0] if row is not None and row.whole else None


def _ones(type: Type) -> int:
    """The integer or bool all of whose bits are set."""
    return {"int": -1, "uint": 2**32 - 1}.get(type.kind, 1)


def _bit_and(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = _ordered(operands)
    c = number(b)
    if a is b or c == _ones(a.type):
        return a
    return b if c == 0 else None


def _bit_or(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = _ordered(operands)
    c = number(b)
    if a is b or c == 0:
        return a
    return b if c == _ones(a.type) else None


def _bit_xor(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    a, b = _ordered(operands)
    c = number(b)
    if a is b:
        return emit.constant(a.type, 0)
    if c == 0:
        return a
    if c == _ones(a.type):
        return emit("bit_not" if a.type.kind in INTEGERS else "not", a)
    return None


def _bit_not(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    inner = made_by(operands[0], "bit_not")
    return inner.operands[0] if inner else None


def _shift(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    return operands[0] if number(operands[1]) == 0 else None


def _to_float(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = operands
    if a.type.kind == "float":
        return a
    inner = made_by(a, "to_int") or made_by(a, "to_uint")
    if inner and inner.operands[0].type.kind == "bool":
        return emit("to_float", inner.operands[0])
    return None


def _to_integer(kind: Kind) -> Rule:
    """Integers of one width hold the same bits."""
    code = f"to_{kind}"

    def rule(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
        (a,) = operands
        if a.type.kind == kind:
            return a
        if inner := made_by(a, "trunc"):
            return emit(code, inner.operands[0])
        inner = made_by(a, "to_float")
        if inner and inner.operands[0].type.kind == "bool":
            return emit(code, inner.operands[0])
        inner = made_by(a, "to_int") or made_by(a, "to_uint")
        if inner and inner.operands[0].type.kind != "float":
            return emit(code, inner.operands[0])
        return None

    return rule


def _to_bool(emit: Emit, operands: tuple[Value, ...], data: Any) -> Value | None:
    (a,) = operands
    if a.type.kind == "bool":
        return a
    if inner := made_by(a, "to_float"):
        return emit("to_bool", inner.operands[0])
    inner = made_by(a, "to_int") or made_by(a, "to_uint")
    if inner and inner.operands[0].type.kind != "float":
        return emit("to_bool", inner.operands[0])
    return None


# Operations whose rules are given a constant factor or term second.
ORDERED: Final = frozenset(("add", "mul", "fma", "dot"))

RULES: Final[dict[str, Rule]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "fma": _fma,
    "div": _div,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
    "neg": _neg,
    "abs": _abs,
    "min": _extreme("min"),
    "max": _extreme("max"),
    **{code: _rounding for code, row in TABLE.items() if row.whole and row.kinds == ("float",)},
    "floor": _floor,
    "bit_and": _bit_and,
    "bit_or": _bit_or,
    "bit_xor": _bit_xor,
    "bit_not": _bit_not,
    "shl": _shift,
    "shr": _shift,
    "to_float": _to_float,
    "to_int": _to_integer("int"),
    "to_uint": _to_integer("uint"),
    "to_bool": _to_bool,
}
