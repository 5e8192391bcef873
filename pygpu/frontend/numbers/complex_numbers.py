"""Arithmetic of complex numbers that are not known: pairs of floats, as Python's are of doubles.

A real number that meets a complex one has no imaginary part at all, so that it costs one operation
for each part; what Python does with the zero that it gives it differs for infinities and NaN alone.

    binary(w, "*", z, z)            # Complex(x*x - y*y, x*y + y*x)
    binary(w, "**", z, 3)           # two products
"""

from __future__ import annotations

from typing import Any, Final

from pygpu.core.host.later import later
from pygpu.frontend.numbers import arithmetic
from pygpu.frontend.values.evaluator import Evaluator
from pygpu.frontend.values.kinds import Complex, is_complex, scalar_kind
from pygpu.frontend.values.values import Abstract, Dynamic, describe

with later():
    from pygpu.frontend.walked import complex_numbers as walked

POWERS: Final = 100  # up to which whole exponents are products, as in CPython


def made_of(w: Evaluator, re: Any, im: Any) -> Any:
    """A complex number of two scalars: Python's own where both are known."""
    re, im = _as_float(w, re), _as_float(w, im)
    if isinstance(re, Abstract) or isinstance(im, Abstract):
        return Complex(re, im)
    return complex(re, im)


def _as_float(w: Evaluator, part: Any) -> Any:
    if not isinstance(part, Abstract):
        return float(part)
    if scalar_kind(part) == "float":
        return part
    return arithmetic.elementwise(w, None, (part,), "float")


def parts_of(w: Evaluator, value: Any) -> tuple[Any, Any] | None:
    """The real and imaginary part of a number, None for that of a real one; None of no number."""
    if isinstance(value, Complex):
        return value.re, value.im
    if is_complex(value):
        return float(value.real), float(value.imag)
    return (_as_float(w, value), None) if scalar_kind(value) else None


def _both_parts(w: Evaluator, value: Any) -> tuple[Any, Any]:
    """The real and imaginary part of a number."""
    parts = parts_of(w, value)
    assert parts is not None, value
    return parts[0], 0.0 if parts[1] is None else parts[1]


# ---------------------------------------------------------------- operators


def binary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """a + b and the like of a complex number and another; NotImplemented where that is none."""
    first, second = parts_of(w, a), parts_of(w, b)
    if first is None or second is None:
        return NotImplemented
    match symbol:
        case "+" | "-":
            return made_of(
                w,
                w.binary(symbol, first[0], second[0]),
                _sum_of_imaginary(w, symbol, first[1], second[1]),
            )
        case "*":
            return _product(w, first, second)
        case "/":
            return _quotient(w, first, second)
        case "**":
            return _power(w, a, b)
    raise TypeError(
        f"unsupported operand type(s) for {symbol}: {describe(a)} and {describe(b)}: "
        "complex numbers have + - * / **"
    )


def _sum_of_imaginary(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    if b is None:
        return a
    if a is None:
        return b if symbol == "+" else w.unary("-", b)
    return w.binary(symbol, a, b)


def _product(w: Evaluator, first: tuple[Any, Any], second: tuple[Any, Any]) -> Any:
    (a, b), (c, d) = first, second
    if b is None or d is None:
        factor, (x, y) = (a, second) if b is None else (c, first)
        return made_of(w, w.binary("*", factor, x), w.binary("*", factor, y))
    return made_of(
        w,
        w.binary("-", w.binary("*", a, c), w.binary("*", b, d)),
        w.binary("+", w.binary("*", a, d), w.binary("*", b, c)),
    )


def _quotient(w: Evaluator, first: tuple[Any, Any], second: tuple[Any, Any]) -> Any:
    (a, b), (c, d) = first, second
    if w.faults.checked or w.handled():
        zero = arithmetic.compare(w, "==", c, 0.0)
        if d is not None:
            zero = arithmetic.both(w, zero, arithmetic.compare(w, "==", d, 0.0))
        if zero is not False:
            w.check(zero, ZeroDivisionError, "complex division by zero")
    if d is None:
        return made_of(w, w.binary("/", a, c), w.binary("/", b, c))
    return w.call(walked.quotient, a, 0.0 if b is None else b, c, d)


def _power(w: Evaluator, base: Any, exponent: Any) -> Any:
    if not isinstance(exponent, Abstract):
        known = complex(exponent)
        if known.imag == 0.0 and known.real.is_integer() and abs(known.real) <= POWERS:
            return _whole_power(w, base, int(known.real))
    parts = _both_parts(w, base), _both_parts(w, exponent)
    if w.faults.checked or w.handled():
        zero = compare(w, "==", base, 0j)
        below = arithmetic.compare(w, "<", parts[1][0], 0.0)
        turning = arithmetic.compare(w, "!=", parts[1][1], 0.0)
        wrong = arithmetic.both(w, zero, arithmetic.either(w, below, turning))
        if wrong is not False:
            w.check(wrong, ZeroDivisionError, "0.0 to a negative or complex power")
    return w.call(walked.power, *parts[0], *parts[1])


def _whole_power(w: Evaluator, base: Any, exponent: int) -> Any:
    """A power by squaring."""
    result: Any = None
    rest, power = abs(exponent), base
    while rest:
        if rest & 1:
            result = power if result is None else w.binary("*", result, power)
        rest >>= 1
        power = w.binary("*", power, power) if rest else power
    if result is None:
        return 1 + 0j
    return result if exponent > 0 else w.binary("/", 1 + 0j, result)


def unary(w: Evaluator, symbol: str, z: Complex) -> Any:
    """-z and +z"""
    if symbol == "~":
        raise TypeError("bad operand type for unary ~: 'complex'")
    return z if symbol == "+" else Complex(w.unary("-", z.re), w.unary("-", z.im))


def compare(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """z == w and z != w; NotImplemented where neither is complex, or one is no number."""
    if not is_complex(a) and not is_complex(b):
        return NotImplemented
    if parts_of(w, a) is None or parts_of(w, b) is None:
        return NotImplemented
    if symbol not in ("==", "!="):
        raise TypeError(
            f"'{symbol}' not supported between {describe(a)} and {describe(b)}: complex numbers "
            "have no order, their abs(z), z.real and z.imag do"
        )
    pairs = zip(_both_parts(w, a), _both_parts(w, b), strict=True)
    equal = arithmetic.both(w, *[arithmetic.compare(w, "==", x, y) for x, y in pairs])
    return equal if symbol == "==" else arithmetic.negate(w, equal)


_SQUARED: Final = 2.0**50  # numbers up to this, and from its reciprocal on, may be squared
_SWAPPED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def compare_size(w: Evaluator, symbol: str, a: Any, b: Any) -> Any:
    """abs(z) < 2 and the like by squares, which the product z*z shares, where a size meets a known
    number; else NotImplemented.

    The size of an infinity and a NaN is infinite, and the sum of their squares a NaN.
    """
    if not isinstance(a, Abstract):
        a, symbol, b = b, _SWAPPED.get(symbol, symbol), a
    op = a.value.op if isinstance(a, Dynamic) else None
    if op is None or op.code != "hypot" or symbol not in _SWAPPED:
        return NotImplemented
    if isinstance(b, Abstract) or not scalar_kind(b) or not 1 / _SQUARED <= b <= _SQUARED:
        return NotImplemented
    parts = [Dynamic(part) for part in op.operands]
    x, y = [w.binary("*", part, part) for part in parts]
    result = arithmetic.compare(w, symbol, w.binary("+", x, y), float(b) ** 2)
    if symbol in ("<", "<="):
        return result
    infinite = [arithmetic.elementwise(w, "isinf", (part,), "float") for part in parts]
    return arithmetic.either(w, result, arithmetic.either(w, *infinite))


def truth(w: Evaluator, z: Complex) -> Any:
    """bool(z)"""
    return compare(w, "!=", z, 0j)
