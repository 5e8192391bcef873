"""Arithmetic and comparison of integers of which at least one is dynamic.

An int and a uint meet as uints, the int modulo 2**32; but they compare as the numbers that they
are. A known integer is taken modulo 2**32 in `+ - * & | ^ << ==`; where that would give another
number than Python's, as in `x < 2**31` or `x % 2**31`, the result is what Python gives, or it is
refused.

    binary(w, "%", "mod", x, 2**32, "int")   # x as a uint
    compare(w, "<", "lt", x, 2**31)          # True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from pygpu.core.operations.ops import TABLE
from pygpu.frontend.joins import origins
from pygpu.frontend.numbers.numbers import as_value, convert, dynamic, number_of
from pygpu.frontend.values import ranges
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import any_of, is_plain, scalar_kind
from pygpu.frontend.values.values import (
    Abstract,
    Dynamic,
    Flagged,
    Narrow,
    Natural,
    Numpys,
    describe,
)
from pygpu.language.scalars import SIGNING
from pygpu.ssa import Value
from pygpu.types import INT, UINT, Kind, vector

HINT: Final = "make it a UInt, as UInt(x) or x & 0xFFFFFFFF, or an Int, as Int(x)"
_LOW: Final = -(2**31)
_HIGH: Final = 2**31
_MODULUS: Final = 2**32


def differ(operands: Sequence[Any]) -> bool:
    """Whether ints meet uints among these scalars, SSA values and tuples of scalars, or a known
    integer that is no int: what is done is decided for each then."""
    kinds: set[Kind | None] = set()
    for operand in operands:
        for part in operand if isinstance(operand, tuple) else (operand,):
            kind = part.type.kind if isinstance(part, Value) else scalar_kind(part)
            kinds.add(kind)
            if kind == "float":
                return False
            if is_plain(part) and not _LOW <= int(part) < _HIGH:
                return True
    return "uint" in kinds and len(kinds) > 1


# ---------------------------------------------------------------- operators


def binary(w: Evaluator, symbol: str, code: str, a: Any, b: Any, kind: Kind) -> Any:
    """a + b and the like of scalars, none of them a float. `kind`: what they widen to."""
    if symbol in ("//", "%"):
        return _divided(w, symbol, code, a, b)
    if symbol == "-" and scalar_kind(a) == "uint" and is_plain(b) and int(b) in SIGNING:
        less = as_value(w, a, UINT)
        if int(b) == _HIGH:
            less = w.build.emit("sub", less, w.build.constant(UINT, _HIGH))
        return Dynamic(convert(w, less, "int"))
    if symbol in ("<<", ">>"):
        kind = _shifted_kind(symbol, a, b)
    elif symbol == "&" and any(is_plain(x) and int(x) >= _HIGH for x in (a, b)):
        kind = "uint"  # as a mask that has the highest bit is
    elif symbol == "**":
        _check_exponent(w, b)
    type = vector(kind, 1)
    return dynamic(w, code, as_value(w, a, type), as_value(w, b, type))


# What operators of integers raise: for which second operands, what, and in which words.
_RAISED: Final[dict[str, tuple[str, type[Exception], str]]] = {
    "//": ("eq", ZeroDivisionError, "integer division or modulo by zero"),
    "%": ("eq", ZeroDivisionError, "integer modulo by zero"),
    "<<": ("lt", ValueError, "negative shift count"),
    ">>": ("lt", ValueError, "negative shift count"),
}


def check_second(w: Evaluator, symbol: str, b: Any) -> None:
    """Note what an operator of integers raises of its second operand."""
    if symbol in _RAISED:
        test, error, message = _RAISED[symbol]
        row = TABLE[test]
        known = None if isinstance(b, Abstract) else row.operators[0](b, 0)
        w.check(compare(w, row.symbol, test, b, 0) if known is None else known, error, message)


def _shifted_kind(symbol: str, a: Any, b: Any) -> Kind:
    """A shift is of the kind of what is shifted. A known integer follows the count."""
    if isinstance(a, Abstract) or not is_plain(a):
        return "uint" if scalar_kind(a) == "uint" else "int"
    if symbol == ">>" and int(a) >= _HIGH:
        return "uint"
    return "uint" if int(a) >= 0 and scalar_kind(b) == "uint" else "int"


def _divided(w: Evaluator, symbol: str, code: str, a: Any, b: Any) -> Any:
    """a // b and a % b."""
    if is_plain(b) and symbol == "%" and int(b) == _MODULUS:
        return Dynamic(convert(w, as_value(w, a, vector(scalar_kind(a), 1)), "uint"))  # type: ignore[arg-type]
    if "uint" in (scalar_kind(a), scalar_kind(b)):
        for value in (a, b):
            if is_plain(value) and int(value) < 0:
                raise w.error(
                    f"a UInt has no sign, and {value} is negative: write Int(u) {symbol} {value}, "
                    "or what the other is without one"
                )
        return dynamic(w, code, as_value(w, a, UINT), as_value(w, b, UINT))
    if is_plain(a) and not _LOW <= int(a) < _HIGH:
        fits = 0 <= int(a) < 2 * _HIGH
        advice = f"make it UInt({a})" if fits else f"where a float will do, write float({a})"
        raise w.error(f"{a} {symbol} {describe(b)}: {a} is no Int; {advice}")
    if is_plain(b) and not _LOW <= int(b) < _HIGH:
        number_of(w, b, "int")  # of 32 bits, or an error
        return _divided_by_large(w, symbol, as_value(w, a, INT), int(b))
    return dynamic(w, code, as_value(w, a, INT), as_value(w, b, INT))


def _divided_by_large(w: Evaluator, symbol: str, a: Value, b: int) -> Dynamic:
    """a // b and a % b for b from 2**31 on: larger than any int."""
    emit = w.build.emit
    negative = emit("lt", a, w.build.constant(INT, 0))
    if symbol == "//":
        sides = [w.build.constant(INT, number) for number in (-1, 0)]
        return Dynamic(emit("select", negative, *sides))
    if b == _HIGH:
        return dynamic(w, "bit_and", a, w.build.constant(INT, b - 1))
    same = convert(w, a, "uint")
    return Dynamic(emit("select", negative, emit("add", same, w.build.constant(UINT, b)), same))


def _check_exponent(w: Evaluator, b: Any) -> None:
    """An error for an exponent that may be negative: in Python the power is a float then."""
    natural = isinstance(b, Narrow) and b.range[0] >= 0
    if isinstance(b, Dynamic) and b.type is INT and not natural and not ranges.is_natural(w, b):
        raise w.error(
            f"an integer to the power of {describe(b)}, which may be negative, is an int or a "
            "float in Python: write x ** max(n, 0), x ** abs(n), 1 << n, or x as a float"
        )


# ---------------------------------------------------------------- comparison


def compare(w: Evaluator, symbol: str, code: str, a: Any, b: Any) -> Dynamic | bool:
    """a < b and the like of scalars, none of them a float: as the integers that they are. But
    h == 0xDEADBEEF holds of the int with these bits."""
    if not isinstance(a, Abstract):
        return compare(w, TABLE[TABLE[code].exchanged].symbol, TABLE[code].exchanged, b, a)
    kind: Kind = "uint" if scalar_kind(a) == "uint" else "int"
    if not isinstance(b, Abstract):
        modular = symbol in ("==", "!=") and is_plain(b)
        if modular:
            number_of(w, b, kind)  # of 32 bits, or an error
        low, high = (0, _MODULUS) if kind == "uint" else (_LOW, _HIGH)
        if not low <= int(b) < high and not (modular and kind == "int"):
            below = int(b) < low
            return {"<": not below, "<=": not below, ">": below, ">=": below}.get(
                symbol, symbol == "!="
            )
    elif {scalar_kind(a), scalar_kind(b)} == {"int", "uint"}:
        if kind == "uint":
            return compare(w, TABLE[TABLE[code].exchanged].symbol, TABLE[code].exchanged, b, a)
        return _compare_with_uint(w, symbol, code, as_value(w, a, INT), as_value(w, b, UINT))
    elif scalar_kind(b) == "uint":
        kind = "uint"
    type = vector(kind, 1)
    return dynamic(w, code, as_value(w, a, type), as_value(w, b, type))


def _compare_with_uint(w: Evaluator, symbol: str, code: str, a: Value, b: Value) -> Dynamic:
    """An int with a uint: where it is negative, it is less."""
    emit, zero = w.build.emit, w.build.constant(INT, 0)
    same = emit(code, convert(w, a, "uint"), b)
    if symbol in ("<", "<=", "!="):
        return dynamic(w, "bit_or", emit("lt", a, zero), same)
    return dynamic(w, "bit_and", emit("ge", a, zero), same)


def extreme(w: Evaluator, code: str, *operands: Any, data: Any = None) -> Any:
    """The least or the greatest of two scalars, none of them a float."""
    a, b = operands
    if not isinstance(a, Abstract) and not isinstance(b, Abstract):
        return (min if code == "min" else max)(a, b)
    for value, other in ((a, b), (b, a)):
        if isinstance(value, Abstract) or not isinstance(other, Abstract):
            continue
        low, high = (0, _MODULUS) if scalar_kind(other) == "uint" else (_LOW, _HIGH)
        if not low <= int(value) < high:
            return value if (int(value) < low) == (code == "min") else other
    kinds = scalar_kind(a), scalar_kind(b)
    if set(kinds) == {"int", "uint"} and not any(is_plain(value) for value in (a, b)):
        raise w.error(f"{code}() of {describe(a)} and {describe(b)} may be either: {HINT}")
    type = UINT if "uint" in kinds else INT
    held = [origins.note(w, as_value(w, each, type), each) for each in (a, b)]
    return any_of(w.build.emit(code, *held, data=data), a, b)


# ---------------------------------------------------------------- conversion


def whole(w: Evaluator, value: Any) -> Any:
    """int(x) of an integer: the same number, one of Python's."""
    if isinstance(value, (Narrow, Numpys, Flagged)):
        return origins.as_class(w, Dynamic(value.value), int)
    if scalar_kind(value) == "bool":
        return Dynamic(convert(w, as_value(w, value, vector("bool", 1)), "int"))
    return origins.as_class(w, value, int)


def as_index(w: Evaluator, value: Any) -> Any:
    """A place as an Int: a uint that is none is the largest one, which lies outside as well."""
    if isinstance(value, Narrow):
        return Dynamic(value.value)
    if not isinstance(value, Dynamic) or value.type is not UINT:
        return value
    most = w.build.constant(UINT, _HIGH - 1)
    return Natural(convert(w, w.build.emit("min", value.value, most), "int"))
