"""The functions of floats in native code, each within 2 units in the last place of float32.

`INLINE` and `OUTLINED` have a row a function; trigonometry.py has others. Those that images need
most work in float32; the others work in float64, where plain formulas are accurate enough. All
take NaN, infinities, zeros of both signs and subnormal numbers as IEEE says. None has a branch of
its own but sines of huge angles and logarithms. Polynomials are minimax fits on the interval that
each function names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from pygpu.codegen.llvm.code import Code, keep_zero, narrow, signed, trunc, widened
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.text import Val
from pygpu.core.operations.intervals import ANY, Range

LOG2E: Final = 1.4426950408889634
LOG2E_32: Final = 1.4426950216293335  # as a float32
LN2: Final = 0.6931471805599453
PI: Final = math.pi
TINY: Final = 2.0**-126  # the smallest normal float32


def polynomial(code: Code, x: Val, coefficients: Sequence[float]) -> Val:
    """c0 + c1 x + c2 x**2 + ..., by Horner's rule."""
    result = code.constant(x.kind, coefficients[-1], x.lanes)
    for coefficient in reversed(coefficients[:-1]):
        result = code.fma(result, x, coefficient)
    return result


def halved(code: Code, x: Val, coefficients: Sequence[float]) -> Val:
    """The same as two polynomials in the square of x, which do not wait for each other: of long
    ones, where little else is computed beside."""
    square = x * x
    even, odd = (polynomial(code, square, coefficients[k::2]) for k in range(2))
    return code.fma(odd, x, even)


def bound(code: Code, x: Val, low: float, high: float) -> Val:
    """x between two numbers; NaN stays."""
    return code.minimum(code.maximum(x, low), high)


def nearest(code: Code, x: Val) -> tuple[Val, Val]:
    """x rounded to a whole number, as float and int; |x| < 2**21. NaN gives NaN and some int."""
    magic = 12582912.0 if x.kind == "float" else 6755399441055744.0
    shifted = x + magic
    if x.kind == "float":
        return shifted - magic, code.bits(shifted, "int") - 0x4B400000
    return shifted - magic, code.bits(shifted, "long") - 0x4338000000000000


def scale(code: Code, x: Val, power: Val) -> Val:
    """x * 2**power of doubles."""
    return x * code.bits((power + 1023) << 52, "double")


# ---------------------------------------------------------------- exponentials

EXP_32: Final = (0.5, 0.16666576, 0.041666374, 0.008363235, 0.0013941214)
EXP_64: Final = (0.5000000000000002, 0.16666666666648153, 0.04166666666659639,
                 0.008333333353841212, 0.0013888888928760266, 0.00019841208509755763,
                 2.4801505913225757e-05, 2.7625238928151355e-06,
                 2.7626492983000123e-07)  # fmt: skip
EXP2_32: Final = (1.0, 0.6931472, 0.2402265, 0.05550411, 0.009618056, 0.0013333454, 0.00015461679,
                  1.5310296e-05)  # fmt: skip


def exp(code: Code, x: Val, reach: Range = ANY) -> Val:
    """e**x = 2**k e**r, |r| up to ln(2) / 2. `reach`: what x lies in, if it is not NaN."""
    x, (low, high) = _within(code, x, reach, (-104.0, 89.0))
    whole, factors = powers_of_two(code, x, LOG2E, (low * LOG2E, high * LOG2E))
    rest = code.fma(whole, -0.693359375, x)  # exact: few bits
    rest = code.fma(whole, 2.12194440e-4, rest)
    return times(code, _curve_of_exp(code, rest), whole, factors)


def _curve_of_exp(code: Code, r: Val) -> Val:
    """e**r. On processors of 256 bits what is computed beside does not hide that each step of
    Horner's rule waits for the one before: two steps less for one more product."""
    if _is_wide(code):
        return polynomial(code, r, (1.0, 1.0, *EXP_32))
    square = r * r
    first, second = (code.fma(r, EXP_32[k + 1], EXP_32[k]) for k in (0, 2))
    second = code.fma(square, EXP_32[4], second)
    return code.fma(code.fma(second, square, first), square, r + 1.0)


def exp2(code: Code, x: Val, reach: Range = ANY, curve: Sequence[float] = EXP2_32) -> Val:
    x, reach = _within(code, x, reach, (-150.0, 129.0))
    whole, factors = powers_of_two(code, x, 1.0, reach)
    return times(code, polynomial(code, x - whole, curve), whole, factors)


def _within(code: Code, x: Val, reach: Range, ends: Range) -> tuple[Val, Range]:
    """x brought between two numbers, if it may lie outside, and what it lies in then."""
    low, high = max(reach[0], ends[0]), min(reach[1], ends[1])
    x = code.maximum(x, low) if low > reach[0] else x
    return code.minimum(x, high) if high < reach[1] else x, (low, high)


def powers_of_two(
    code: Code, x: Val, unit: float, reach: Range
) -> tuple[Val, tuple[Val | float, ...]]:
    """x * unit rounded to a whole number k, and numbers whose product is 2**k: of which the first
    do not make what is about 1 subnormal. Two are enough for k from -190 to 190, one for less. k is
    found in the last places of x * unit plus a large number, where what an exponent is too small
    by is added with it: in those of a number of half as many places there is half of k. The same k
    whatever is known of it, and the same bits."""
    if _scales(code, x):
        return code.intrinsic("rint", x if unit == 1.0 else x * unit), ()

    def shifted(magic: float) -> Val:
        if unit == 1.0:
            return x + magic
        return x * unit + magic if _is_wide(code) else code.fma(x, unit, magic)

    low, high = (-math.inf, math.inf) if _is_wide(code) else reach
    more = 0 if low >= -126.0 and high <= 127.0 else 64 if high <= 63.0 else None
    bias = 254 if more is None else 127 + more
    moved = shifted(12582912.0 + bias)
    whole, bits = moved - (12582912.0 + bias), code.bits(moved, "int")
    if more is not None:
        rest = (2.0**-more,) if more else ()
        return whole, (code.bits(bits << 23, "float"), *rest)
    half = code.bits(shifted(25165824.0 + 254), "int")
    return whole, tuple([code.bits(part << 23, "float") for part in (half, bits - half)])


def _is_wide(code: Code) -> bool:
    """Whether some functions have sixteen lanes: those of fewer give the same bits then."""
    return code.machine.has("avx512f")


def _scales(code: Code, x: Val) -> bool:
    return x.lanes == 16 and _is_wide(code)


def times(code: Code, x: Val, whole: Val, factors: Sequence[Val | float]) -> Val:
    """x * 2**whole, rounded once: see `powers_of_two`."""
    for factor in factors:
        x = x * factor
    if factors:
        return x
    name, vector = "llvm.x86.avx512.mask.scalef.ps.512", x.type
    code.declared[name] = f"declare {vector} @{name}({vector}, {vector}, {vector}, i16, i32)"
    given = f"{vector} {x.text}, {vector} {whole.text}, {vector} zeroinitializer, i16 -1, i32 4"
    return code.make(x.kind, f"call {vector} @{name}({given})", x, whole)


def _exp_parts(code: Code, x: Val) -> tuple[Val, Val]:
    """e**x = (1 + a) b, b a power of two, of doubles, |x| up to 700."""
    whole, power = nearest(code, x * LOG2E)
    rest = code.fma(whole, -0.693147180369123816490, x)
    rest = code.fma(whole, -1.90821492927058770002e-10, rest)
    small = code.fma(rest * rest, polynomial(code, rest, EXP_64), rest)
    return small, code.bits((power + 1023) << 52, "double")


def exp_64(code: Code, x: Val) -> Val:
    small, scale = _exp_parts(code, x)
    return (small + 1.0) * scale


def expm1_64(code: Code, x: Val) -> Val:
    """e**x - 1, to 1e-14 of its size."""
    small, scale = _exp_parts(code, x)
    return code.fma(small, scale, scale - 1.0)


def expm1(code: Code, x: Val) -> Val:
    return keep_zero(code, x, expm1_64(code, bound(code, widened(code, x), -50.0, 100.0)))


# ---------------------------------------------------------------- logarithms

LOG_32: Final = (0.33333316, -0.2499998, 0.20001797, -0.16669402, 0.14226736, -0.12385349,
                 0.11817523, -0.11767544, 0.07010612)  # fmt: skip
LOG_64: Final = (2.0000000000000004, 0.6666666666655112, 0.4000000006249062, 0.2857141590682285,
                 0.2222344241037502, 0.1812168567665752, 0.16840604827690012)  # fmt: skip


def log(code: Code, x: Val) -> Val:
    return _logarithm(code, x, _log_32)


def _logarithm(code: Code, x: Val, formula: Callable[[Code, Val, Val | None], Val]) -> Val:
    """A formula for positive, finite, normal numbers, as most are, where all lanes hold such: what
    others take costs half as much again. It is given what the exponent is too large by, if it is.
    """
    branch = Branch(code, code.anywhere(~((x >= TINY) & (x < math.inf))))
    with branch.side():
        subnormal = x < TINY
        scaled = code.select(subnormal, x * 2.0**23, x)
        more = code.select(subnormal, code.constant("float", 23.0), code.constant("float", 0.0))
        first = [log_ends(code, x, formula(code, scaled, more))]
    with branch.side():
        second = [formula(code, x, None)]
    return branch.join(first, second)[0]


def _log_32(code: Code, x: Val, more: Val | None) -> Val:
    """ln(x) = e ln(2) + ln(m), m from sqrt(1/2) to sqrt(2)."""
    exponent, f = _parts_32(code, x, more)
    curve = code.fma(exponent, -2.12194440e-4, _curve(code, f))
    curve = code.fma(f * f, -0.5, curve)
    return code.fma(exponent, 0.693359375, f + curve)


def _log2_32(code: Code, x: Val, more: Val | None) -> Val:
    """log2(x) = e + log2(m): log2(e) in two parts, the first of which goes to e unrounded."""
    exponent, f = _parts_32(code, x, more)
    rest = code.fma(f * f, -0.5, _curve(code, f)) * LOG2E_32
    return code.fma(f, LOG2E_32, exponent) + code.fma(f, LOG2E - LOG2E_32, rest)


def _curve(code: Code, f: Val) -> Val:
    """ln(1 + f) - f + f**2 / 2."""
    return halved(code, f, LOG_32) * (f * (f * f))


def _parts_32(code: Code, x: Val, more: Val | None) -> tuple[Val, Val]:
    """e - more, and m - 1."""
    bits = code.bits(x, "int") - 0x3F3504F3
    exponent = code.to_float(bits >> 23)
    f = code.bits((bits & 0x7FFFFF) + 0x3F3504F3, "float") - 1.0
    return exponent if more is None else exponent - more, f


def log_ends(code: Code, x: Val, result: Val) -> Val:
    """The logarithm of zero, of less, of infinity and NaN."""
    result = code.select(x.eq(0.0), code.constant(result.kind, -math.inf), result)
    result = code.select(x < math.inf, result, x)  # infinity and NaN are themselves
    return code.select(x < 0.0, code.constant(result.kind, math.nan), result)


def log_64(code: Code, x: Val) -> Val:
    """ln(x) of positive finite normal doubles, to 1e-14 of its size."""
    bits = code.bits(x, "long") - 0x3FE6A09E667F3BCD
    exponent = _long_to_double(code, bits >> 52)
    m = code.bits((bits & 0xFFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD, "double")
    s = (m - 1.0) / (m + 1.0)
    return code.fma(exponent, LN2, s * polynomial(code, s * s, LOG_64))


def _long_to_double(code: Code, x: Val) -> Val:
    """Small longs; without a conversion, which AVX2 lacks."""
    shifted = code.bits(x + 0x4338000000000000, "double")
    return shifted - 6755399441055744.0


def log2(code: Code, x: Val) -> Val:
    return _logarithm(code, x, _log2_32)


def log10(code: Code, x: Val) -> Val:
    result = narrow(code, log_64(code, widened(code, x)) * 0.4342944819032518)
    return log_ends(code, x, result)


def log1p_64(code: Code, x: Val) -> Val:
    """ln(1 + x) of doubles above -1 and finite."""
    total = x + 1.0
    lost = x - (total - 1.0)
    return log_64(code, total) + lost / total


def log1p(code: Code, x: Val) -> Val:
    wide = widened(code, x)
    result = narrow(code, log1p_64(code, wide))
    result = code.select(x.eq(-1.0), code.constant("float", -math.inf), result)
    result = code.select(x < math.inf, result, x)
    result = code.select(x < -1.0, code.constant("float", math.nan), result)
    return code.select(x.eq(0.0), x, result)


# ---------------------------------------------------------------- powers


def pow(code: Code, x: Val, y: Val) -> Val:
    """x**y = 2**(y log2 |x|) in float64, then what C says of signs and ends."""

    def number(value: float) -> Val:
        return code.constant("float", value, x.lanes)

    a = code.absolute(x)
    usual = code.select((a > 0.0) & (a < math.inf), a, number(1.0))
    log_of = log_64(code, widened(code, usual))
    log_of = code.select(a.eq(0.0), code.constant("double", -math.inf, x.lanes), log_of)
    log_of = code.select(a.eq(math.inf), code.constant("double", math.inf, x.lanes), log_of)
    exponent = bound(code, log_of * widened(code, y), -200.0, 200.0)
    result = narrow(code, exp_64(code, exponent))
    result = code.select(x.ne(x), x, result)

    whole = trunc(code, y).eq(y)
    half = y * 0.5
    odd = whole & trunc(code, half).ne(half)
    negative = code.bits(x, "int") < 0
    result = code.select(negative & odd, -result, result)
    invalid = (x < 0.0) & ~whole & (a < math.inf)
    result = code.select(invalid, number(math.nan), result)
    one = x.eq(1.0) | y.eq(0.0) | (x.eq(-1.0) & code.absolute(y).eq(math.inf))
    return code.select(one, number(1.0), result)


def cbrt(code: Code, x: Val) -> Val:
    """A first guess from the bits, then two steps of Halley's."""
    a = code.absolute(x)
    small = a < TINY
    scaled = code.select(small, a * 2.0**24, a)
    third = code.to_float(code.bits(scaled, "int")) * (1 / 3)
    guess = code.bits(code.to_int_inside(third) + 709921077, "float")
    guess = code.select(small, guess * 2.0**-8, guess)
    wide, root = widened(code, a), widened(code, guess)
    for _ in range(2):
        cube = root * root * root
        root = root * ((cube + wide + wide) / (cube + cube + wide))
    result = signed(code, x, root)
    return code.select((a > 0.0) & (a < math.inf), result, x)


# ---------------------------------------------------------------- the error function

# erf(a) / a - 1 in a**2 up to 1; the binary logarithm of erfc(a) from there to 4. Minimax.
ERF_32: Final = (0.12837917, -0.37612626, 0.112835854, -0.026853813, 0.0051883277, -0.00080101937,
                 7.8538615e-05)  # fmt: skip
LOG2_ERFC_32: Final = (-0.00051030674, -1.6259751, -0.920765, -0.14865151, 0.03145843,
                       -0.0042409585, 0.00026772686)  # fmt: skip
ERF_64: Final = (1.128379167095494, -0.3761263890281364, 0.11283791658683874,
                 -0.026866169064558413, 0.005223967265818185, -0.0008547935835484012,
                 0.00012046297005771799, -1.4795385375728673e-05, 1.5308261391116776e-06,
                 -1.0473303154825024e-07)  # fmt: skip
ERFCX_64: Final = (0.18871521543495662, 0.7020195140833718, 0.8077506734735762,
                   0.5956828726304774, 0.1472400551240516, -0.17749934692492517,
                   -0.12257847278112097, 0.09330419567297785, 0.0821064216020867,
                   -0.0822165740813282, -0.045506126642895384,
                   0.07429806115846797)  # fmt: skip


def erf(code: Code, x: Val) -> Val:
    """Up to 1 a product, from there on one less what is small; from 4 on that is nothing."""
    a = bound(code, code.absolute(x), 0.0, 4.0)
    near = code.fma(x, polynomial(code, x * x, ERF_32), x)
    rest = exp2(code, polynomial(code, a, LOG2_ERFC_32))
    return code.select(a < 1.0, near, code.intrinsic("copysign", 1.0 - rest, x))


def erfc(code: Code, x: Val) -> Val:
    """In float64: up to 1 from erf, from there on e**(-x**2) times a polynomial of 2 / (2 + x)."""
    a = bound(code, widened(code, code.absolute(x)), 0.0, 10.5)
    square = a * a
    near = 1.0 - a * polynomial(code, square, ERF_64)
    far = exp_64(code, -square) * polynomial(code, 2.0 / (a + 2.0) - 0.4140625, ERFCX_64)
    above = code.select(a < 1.0, near, far)
    return narrow(code, code.select(x < 0.0, 2.0 - above, above))


# ---------------------------------------------------------------- fast forms

# Functions that may err by 2**-12 of what they give (`precision="fast"`); these do by some 1e-5. At
# their ends they are the accurate ones.
# 2**r, |r| up to 1/2; log2(1 + f) / f, 1 + f from sqrt(1/2) to sqrt(2).
_FAST_EXP2: Final = (0.9999993, 0.6931218, 0.24024744, 0.055917863, 0.009570101)
_FAST_LOG2: Final = (1.4426965, -0.7213636, 0.48062676, -0.35937163, 0.29569957, -0.26932028,
                     0.17162445)  # fmt: skip


def _fast_power(code: Code, x: Val) -> Val:
    return exp2(code, x, curve=_FAST_EXP2)


def _fast_logarithm(code: Code, x: Val, unit: float) -> Val:
    """log2(x) times a number."""

    def formula(code: Code, x: Val, more: Val | None) -> Val:
        whole, f = _parts_32(code, x, more)
        return code.fma(polynomial(code, f, _FAST_LOG2), f, whole) * unit

    return _logarithm(code, x, formula)


FAST: Final[dict[str, Callable[[Code, Val], Val]]] = {
    "exp": lambda code, x: _fast_power(code, x * LOG2E),
    "exp2": _fast_power,
    "log": lambda code, x: _fast_logarithm(code, x, LN2),
    "log2": lambda code, x: _fast_logarithm(code, x, 1.0),
    "log10": lambda code, x: _fast_logarithm(code, x, 0.3010299956639812),
}
Formula = Callable[..., Val]

INLINE: Final[dict[str, Formula]] = {
    "exp": exp, "exp2": exp2, "log": log, "log2": log2,
}  # fmt: skip
OUTLINED: Final[dict[str, Formula]] = {
    "expm1": expm1, "log10": log10, "log1p": log1p, "pow": pow, "cbrt": cbrt,
    "erf": erf, "erfc": erfc,
}  # fmt: skip
