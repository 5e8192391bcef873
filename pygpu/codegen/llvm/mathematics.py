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
    """x * 2**power; in float32 with |power| up to 250, once rounded."""
    if x.kind == "double":
        return x * code.bits((power + 1023) << 52, "double")
    half = power >> 1
    first = code.bits((half + 127) << 23, "float")
    return x * first * code.bits((power - half + 127) << 23, "float")


# ---------------------------------------------------------------- exponentials

EXP_32: Final = (0.5000000027089011, 0.16666576646354325, 0.041666374129717805,
                 0.00836323507362381, 0.001394121424628609)  # fmt: skip
EXP_64: Final = (0.5000000000000002, 0.16666666666648153, 0.04166666666659639,
                 0.008333333353841212, 0.0013888888928760266, 0.00019841208509755763,
                 2.4801505913225757e-05, 2.7625238928151355e-06,
                 2.7626492983000123e-07)  # fmt: skip
EXP2_32: Final = (1.0, 0.6931471805536239, 0.24022650925069966, 0.055504109294556694,
                  0.009618056088923377, 0.0013333453771397952, 0.00015461679460163416,
                  1.531029610461944e-05)  # fmt: skip


def exp(code: Code, x: Val) -> Val:
    """e**x = 2**k e**r, |r| up to ln(2) / 2."""
    x = bound(code, x, -104.0, 89.0)
    whole, power = nearest_whole(code, x * LOG2E)
    rest = code.fma(whole, -0.693359375, x)  # exact: few bits
    rest = code.fma(whole, 2.12194440e-4, rest)
    return times_power(code, polynomial(code, rest, (1.0, 1.0, *EXP_32)), whole, power)


def exp2(code: Code, x: Val, curve: Sequence[float] = EXP2_32) -> Val:
    x = bound(code, x, -150.0, 129.0)
    whole, power = nearest_whole(code, x)
    return times_power(code, polynomial(code, x - whole, curve), whole, power)


def nearest_whole(code: Code, x: Val) -> tuple[Val, Val | None]:
    """x rounded to a whole number, and that as an int where it will be needed."""
    if _scales(code, x):
        return code.intrinsic("rint", x), None
    return nearest(code, x)


def _scales(code: Code, x: Val) -> bool:
    return x.lanes == 16 and code.machine.has("avx512f")


def times_power(
    code: Code, x: Val, whole: Val, power: Val | None, *, is_normal: bool = False
) -> Val:
    """x * 2**whole, rounded once. `is_normal`: the power is a normal number."""
    if power is not None and is_normal:
        return x * code.bits((power + 127) << 23, "float")
    if power is not None:
        return scale(code, x, power)
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


def _exp_64(code: Code, x: Val) -> Val:
    small, scale = _exp_parts(code, x)
    return (small + 1.0) * scale


def expm1_64(code: Code, x: Val) -> Val:
    """e**x - 1, to 1e-14 of its size."""
    small, scale = _exp_parts(code, x)
    return code.fma(small, scale, scale - 1.0)


def expm1(code: Code, x: Val) -> Val:
    return keep_zero(code, x, expm1_64(code, bound(code, widened(code, x), -50.0, 100.0)))


# ---------------------------------------------------------------- logarithms

LOG_32: Final = (0.3333331751168777, -0.24999979988503893, 0.2000179804390487,
                 -0.16669401514921203, 0.14226736236840076, -0.12385349271939844,
                 0.11817523244297308, -0.1176754422135769, 0.07010611772881843)  # fmt: skip
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

    def number(value: float) -> Val:
        return code.constant(result.kind, value)

    result = code.select(x.eq(0.0), number(-math.inf), result)
    result = code.select(x < math.inf, result, x)  # infinity and NaN are themselves
    return code.select(x < 0.0, number(math.nan), result)


def _log_64(code: Code, x: Val) -> Val:
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
    result = narrow(code, _log_64(code, widened(code, x)) * 0.4342944819032518)
    return log_ends(code, x, result)


def log1p_64(code: Code, x: Val) -> Val:
    """ln(1 + x) of doubles above -1 and finite."""
    total = x + 1.0
    lost = x - (total - 1.0)
    return _log_64(code, total) + lost / total


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
    log_of = _log_64(code, widened(code, usual))
    log_of = code.select(a.eq(0.0), code.constant("double", -math.inf, x.lanes), log_of)
    log_of = code.select(a.eq(math.inf), code.constant("double", math.inf, x.lanes), log_of)
    exponent = bound(code, log_of * widened(code, y), -200.0, 200.0)
    result = narrow(code, _exp_64(code, exponent))
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
ERF_32: Final = (0.12837916612625122, -0.3761262595653534, 0.1128358542919159,
                 -0.026853812858462334, 0.005188327748328447, -0.0008010193705558777,
                 7.853861461626366e-05)  # fmt: skip
LOG2_ERFC_32: Final = (-0.0005103067378513515, -1.6259751319885254, -0.9207649827003479,
                       -0.14865151047706604, 0.031458429992198944, -0.004240958485752344,
                       0.00026772686396725476)  # fmt: skip
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
    far = _exp_64(code, -square) * polynomial(code, 2.0 / (a + 2.0) - 0.4140625, ERFCX_64)
    above = code.select(a < 1.0, near, far)
    return narrow(code, code.select(x < 0.0, 2.0 - above, above))


# ---------------------------------------------------------------- the gamma function

# Lanczos' sum for the gamma function, with the coefficients of Boost and CPython: a quotient of
# polynomials, and how far the power in the formula is from x - 1/2.
LANCZOS: Final = (23531376880.41076, 42919803642.649101, 35711959237.355667, 17921034426.037209,
                  6039542586.3520279, 1439720407.3117216, 248874557.86205417, 31426415.585400194,
                  2876370.6289353725, 186056.26539522348, 8071.6720023658163, 210.82427775157935,
                  2.5066282746310002)  # fmt: skip
BELOW: Final = (0.0, 39916800.0, 120543840.0, 150917976.0, 105258076.0, 45995730.0, 13339535.0,
                2637558.0, 357423.0, 32670.0, 1925.0, 66.0, 1.0)  # fmt: skip
SHIFT: Final = 6.024680040776729583740234375
LGAMMA_64: Final = (0.4227843351007809, -0.10031730152108735, 0.03296500025167867,
                    -0.012384199426319594, 0.004998650843502861, -0.0021080317320763316,
                    0.0009152797722839827, -0.0004063129242160254, 0.00018303766532406222,
                    -8.115393168521783e-05, 3.682375492661559e-05, -2.1127288067384426e-05,
                    1.0371661633622675e-05, -4.5074251879765754e-07, -1.1826307859673979e-07,
                    -2.4597344546198436e-06, 1.2468010546454934e-06)  # fmt: skip
SINPI_64: Final = (3.1415926535897936, -5.16771278004975, 2.550164039858589, -0.5992645287341692,
                   0.08214587765742838, -0.007370356938084919, 0.00046596407504045483,
                   -2.1105980631904688e-05)  # fmt: skip


def _lanczos(code: Code, x: Val) -> Val:
    """Lanczos' sum, of doubles from 1/2 on; at its end from 1e12 on."""
    x = code.minimum(x, 1e12)
    return polynomial(code, x, LANCZOS) / polynomial(code, x, BELOW)


def _sine_of_pi(code: Code, x: Val) -> Val:
    """sin(pi x) of doubles up to 2**50, to 1e-15 of its size; 0 of the sign of x where x is 0."""
    whole, count = nearest(code, x)
    rest = x - whole
    sine = rest * polynomial(code, rest * rest, SINPI_64)
    return code.bits(code.bits(sine, "long") ^ (count << 63), "double")


def gamma(code: Code, x: Val) -> Val:
    """Below 1/2 by reflection: gamma(x) gamma(1 - x) = pi / sin(pi x)."""
    wide = bound(code, widened(code, x), -(2.0**24), 40.0)
    reflected = wide < 0.5
    a = code.select(reflected, 1.0 - wide, wide)
    shifted = a + (SHIFT - 0.5)
    power = bound(code, _log_64(code, shifted) * (a - 0.5) - shifted, -700.0, 700.0)
    above = _exp_64(code, power) * _lanczos(code, a)
    sine = _sine_of_pi(code, wide)
    result = narrow(code, code.select(reflected, PI / (sine * above), above))
    is_pole = (x < 0.0) & sine.eq(0.0)
    return code.select(is_pole, code.constant("float", math.nan), result)


def lgamma(code: Code, x: Val) -> Val:
    """Below 1/2 by reflection; from there to 3 so that the zeros at 1 and 2 are exact."""
    wide = bound(code, widened(code, x), -(2.0**24), 1e300)
    reflected = wide < 0.5
    a = code.select(reflected, 1.0 - wide, wide)
    is_near, is_low = a < 3.0, a < 1.0
    one = code.constant("double", 1.0)
    first = code.select(is_near, code.select(is_low, a, one), a + (SHIFT - 0.5))
    logarithm = _log_64(code, first)
    u = code.select(is_low, a + 1.0, a)
    near = (u - 1.0) * (u - 2.0) * polynomial(code, u - 2.0, LGAMMA_64) - logarithm
    far = (a - 0.5) * (logarithm - 1.0) + (_log_64(code, _lanczos(code, a)) - SHIFT)
    above = code.select(is_near, near, far)
    sine = code.absolute(_sine_of_pi(code, wide))
    pole = sine.eq(0.0)
    below = _log_64(code, PI / code.select(pole, one, sine)) - above
    result = narrow(code, code.select(reflected, below, above))
    result = code.select((x <= 0.0) & pole, code.constant("float", math.inf), result)
    result = code.select(code.absolute(x).eq(math.inf), code.absolute(x), result)
    return code.select(x.ne(x), x, result)


# ---------------------------------------------------------------- fast forms

# Functions that may err by 2**-12 of what they give (`precision="fast"`); these do by some 1e-5. At
# their ends they are the accurate ones.
# 2**r, |r| up to 1/2; log2(1 + f) / f, 1 + f from sqrt(1/2) to sqrt(2).
_FAST_EXP2: Final = (0.9999992614341614, 0.6931218145214738, 0.2402474484996515,
                     0.055917862104932825, 0.009570101652058334)  # fmt: skip
_FAST_LOG2: Final = (1.4426964472792778, -0.7213635760320795, 0.4806267654768587,
                     -0.3593716400925641, 0.2956995688713733, -0.26932027626052724,
                     0.1716244503503347)  # fmt: skip


def _fast_power(code: Code, x: Val) -> Val:
    return exp2(code, x, _FAST_EXP2)


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
    "erf": erf, "erfc": erfc, "gamma": gamma, "lgamma": lgamma,
}  # fmt: skip
