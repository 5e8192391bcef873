"""Sines, arcs, hyperbolic functions, lengths, the gamma function. See mathematics.py beside this.

Sines of angles up to 2**16 are float32 work where products are added in one step. Other angles are
reduced in float64: up to 2**20 by pi/2 in two parts (Cody and Waite); for larger ones x * 2/pi
modulo 4 is taken from a table by the exponent of x (Payne and Hanek): with x = m 2**e and m a whole
number of 24 bits, the table has 2**e * 2/pi modulo 4 in pieces of 28, 28 and 53 bits, so that the
first two products by m are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Final

from pygpu.codegen.llvm.code import Code, keep_zero, narrow, signed, widened
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.mathematics import (
    PI,
    Formula,
    bound,
    exp,
    exp_64,
    expm1_64,
    halved,
    log1p_64,
    log_64,
    nearest,
    polynomial,
)
from pygpu.codegen.llvm.text import Val, literal, type_text

SIN_64: Final = (-0.16666666666666657, 0.008333333333341485, -0.00019841269854605428,
                 2.755732497637041e-06, -2.5052850244829644e-08,
                 1.6032403450362813e-10)  # fmt: skip
COS_64: Final = (0.04166666667270501, -0.00138888926596217, 2.4804731232005338e-05,
                 -2.8380820164106596e-07, 8.784887445080947e-09)  # fmt: skip
SIN_32: Final = (-0.16666664, 0.008332748, -0.00019587757)
COS_32: Final = (0.041666664, -0.0013888302, 2.4547811e-05)
# Of t**2: (atan(t) / t - 1) / t**2, t up to 1; the same of asin, t up to 1/2, and tanh, up to 5/8.
ATAN_32: Final = (-0.333333, 0.19998549, -0.14264242, 0.10952186, -0.084034495, 0.057957582,
                  -0.031177834, 0.0109145995, -0.0017936203)  # fmt: skip
ASIN_32: Final = (0.16666752, 0.074952975, 0.045470376, 0.024179516, 0.042166308)
TANH_32: Final = (-0.3333328, 0.13331442, -0.053739715, 0.020639086, -0.0057049864)
REST_OF_PI: Final = -2.7827534e-08  # what float32's pi lacks, as a part of it

# pi to a hundred places
_PI_DIGITS: Final = (
    "31415926535897932384626433832795028841971693993751"
    "058209749445923078164062862089986280348253421170679"
)
NEAR: Final = 2.0**16
SMALL: Final = 2.0**20


def _quadrant(code: Code, x: Val) -> tuple[Val, Val]:
    """x = k pi/2 + r: r in [-pi/4, pi/4] as a double, and k as a long, of which the low bits
    matter. Infinities and NaN give NaN."""
    wide = widened(code, x)
    huge = code.absolute(x) >= SMALL
    branch = Branch(code, code.anywhere(huge))
    small = code.select(huge, code.constant("double", 0.0), wide)
    whole, k = nearest(code, small * (2 / PI))
    rest = code.fma(whole, -1.5707963267341256, small)  # 33 bits
    rest = code.fma(whole, -6.077100506506192e-11, rest)
    with branch.side():
        far, quadrant = _far(code, x)
        first = [code.select(huge, far, rest), code.select(huge, quadrant, k)]
    with branch.side():
        second = [rest, k]
    rest, k = branch.join(first, second)
    return code.select(code.absolute(x) < math.inf, rest, code.constant("double", math.nan)), k


@lru_cache(maxsize=1)
def _table() -> tuple[tuple[float, float, float], ...]:
    """For x = m 2**e with e from -3 to 104: 2**e 2/pi modulo 4 in three pieces."""
    inverse = Fraction(2 * 10 ** (len(_PI_DIGITS) - 1), int(_PI_DIGITS))
    rows = []
    for exponent in range(-3, 105):
        value = inverse * Fraction(2) ** exponent % 4
        first = Fraction(math.floor(value * 2**26), 2**26)
        second = Fraction(math.floor((value - first) * 2**54), 2**54)
        rows.append((float(first), float(second), float(value - first - second)))
    return tuple(rows)


def _far(code: Code, x: Val) -> tuple[Val, Val]:
    """What `_quadrant` gives, for |x| of 2**20 and more; lanes of other x give anything."""
    a = code.bits(code.absolute(x), "int")
    index = code.clamp((a >> 23) - 147, 0, 107)
    m = code.to_float((a & 0x7FFFFF) | 0x800000, "double")
    products = []
    for piece in range(3):
        numbers = [f"double {literal('double', row[piece])}" for row in _table()]
        name = f"@quadrants.{piece}"
        code.functions.setdefault(
            name, f"{name} = private constant [{len(numbers)} x double] [{', '.join(numbers)}]"
        )
        products.append(m * _look_up(code, name, index))
    first, second, third = products
    first = first - nearest(code, first * 0.25)[0] * 4.0  # the nearest multiple of 4
    whole, k = nearest(code, first + second)
    turn = (first - whole) + second + third
    negative = x < 0.0
    rest = turn * (PI / 2)
    return code.select(negative, -rest, rest), code.select(negative, -k, k)


def _look_up(code: Code, table: str, index: Val) -> Val:
    """Elements of a table of doubles, lane by lane: this path is rare."""
    n = index.lanes
    result = None
    for lane in range(n):
        one = index if n == 1 else code.lane(index, lane)
        place = code.make("ptr", f"getelementptr double, ptr {table}, i32 {one.text}", one)
        number = code.load("double", place, 1, 8)
        if n == 1:
            return number
        before = result.text if result is not None else "poison"
        text = f"insertelement {type_text('double', n)} {before}, double {number.text}, i64 {lane}"
        result = code.make("double", text, number, *([result] if result else []), lanes=n)
    assert result is not None
    return result


def _sine_of(code: Code, r: Val) -> Val:
    square = r * r
    return code.fma(r * square, polynomial(code, square, SIN_64), r)


def _cosine_of(code: Code, r: Val) -> Val:
    square = r * r
    return code.fma(square * square, polynomial(code, square, COS_64), 1.0 - square * 0.5)


def _by_quadrant(code: Code, x: Val, shift: int) -> Val:
    r, k = _quadrant(code, x)
    k = k + shift
    odd = (k & 1).ne(0)
    value = code.select(odd, _cosine_of(code, r), _sine_of(code, r))
    return code.select((k & 2).ne(0), -value, value)


def sin(code: Code, x: Val) -> Val:
    return _near_or_far(code, x, 0)


def cos(code: Code, x: Val) -> Val:
    return _near_or_far(code, x, 1)


def _near_or_far(code: Code, x: Val, shift: int) -> Val:
    def far(code: Code, x: Val) -> Val:
        value = _by_quadrant(code, x, shift)
        return keep_zero(code, x, value) if shift == 0 else narrow(code, value)

    if not code.machine.has("fma"):
        return far(code, x)
    branch = Branch(code, code.anywhere(~(code.absolute(x) < NEAR)))
    with branch.side():
        first = [code.outlined(("sin", "cos")[shift] + "_far", far, x)]
    with branch.side():
        second = [_near(code, x, shift)]
    return branch.join(first, second)[0]


def _near(code: Code, x: Val, shift: int) -> Val:
    """The first difference is exact, the second rounded once, the third too small to matter."""
    whole, k = nearest(code, x * (2 / PI))
    r = code.fma(whole, -1.5707963705062866, x)
    r = code.fma(whole, 4.371138828673793e-08, r)
    r = code.fma(whole, 1.7151245100058819e-15, r)
    square = r * r
    sine = code.fma(r * square, polynomial(code, square, SIN_32), r)
    cosine = code.fma(square * square, polynomial(code, square, COS_32), 1.0 - square * 0.5)
    k = k + shift
    value = code.select((k & 1).ne(0), cosine, sine)
    result = code.bits(code.bits(value, "int") ^ ((k & 2) << 30), "float")
    return result if shift else code.select(x.eq(0.0), x, result)


def tan(code: Code, x: Val) -> Val:
    r, k = _quadrant(code, x)
    sine, cosine = _sine_of(code, r), _cosine_of(code, r)
    odd = (k & 1).ne(0)
    above, below = code.select(odd, -cosine, sine), code.select(odd, sine, cosine)
    return keep_zero(code, x, above / below)


# ---------------------------------------------------------------- arcs


def _arc(code: Code, base: Val, t: Val, square: Val, curve: Sequence[float]) -> Val:
    """A multiple of pi / 2, as a float32, and an angle that is t + t**3 times a polynomial of t**2.
    What that float32 lacks, what the first sum loses, and what is small are added last."""
    total = base + t
    lost = t - (total - base)
    small = t * square * polynomial(code, square, curve)
    return total + (code.fma(base, REST_OF_PI, small) + lost)


def _numbers(code: Code, *values: float) -> list[Val]:
    return [code.constant("float", value) for value in values]


def atan2(code: Code, y: Val, x: Val) -> Val:
    """The arctangent of a quotient up to 1, from one of four directions."""
    none, quarter, half, one, nan = _numbers(code, 0.0, PI / 2, PI, 1.0, math.nan)
    a, b = code.absolute(y), code.absolute(x)
    steep, left = a > b, code.bits(x, "int") < 0
    low, high = code.minimum(a, b), code.maximum(a, b)
    t = low / code.maximum(high, 2.0**-149)  # of zeros zero
    t = code.select(low.eq(math.inf), one, t)
    base = code.select(steep, quarter, code.select(left, half, none))
    angle = _arc(code, base, code.select(steep ^ left, -t, t), t * t, ATAN_32)
    return code.select(x.ne(x) | y.ne(y), nan, code.intrinsic("copysign", angle, y))


def atan(code: Code, x: Val) -> Val:
    none, quarter = _numbers(code, 0.0, PI / 2)
    a = code.absolute(x)
    t, steep = code.minimum(a, 1.0) / code.maximum(a, 1.0), a > 1.0
    base = code.select(steep, quarter, none)
    angle = _arc(code, base, code.select(steep, -t, t), t * t, ATAN_32)
    return code.intrinsic("copysign", angle, x)


def _arcsine(code: Code, x: Val) -> tuple[Val, Val, Val]:
    """Whether |x| is above 1/2; twice the sine of half its arccosine there, else |x|; the square
    of that sine or of |x|."""
    a = code.absolute(x)
    large, rest = a > 0.5, (1.0 - a) * 0.5
    return large, code.select(large, code.sqrt(rest) * 2.0, a), code.select(large, rest, a * a)


def asin(code: Code, x: Val) -> Val:
    none, quarter = _numbers(code, 0.0, PI / 2)
    large, t, square = _arcsine(code, x)
    base = code.select(large, quarter, none)
    angle = _arc(code, base, code.select(large, -t, t), square, ASIN_32)
    return code.intrinsic("copysign", angle, x)


def acos(code: Code, x: Val) -> Val:
    none, quarter, half = _numbers(code, 0.0, PI / 2, PI)
    (large, t, square), below = _arcsine(code, x), x < 0.0
    base = code.select(large, code.select(below, half, none), quarter)
    return _arc(code, base, code.select(large ^ below, t, -t), square, ASIN_32)


# ---------------------------------------------------------------- hyperbolic functions


def sinh(code: Code, x: Val) -> Val:
    grown = expm1_64(code, bound(code, widened(code, code.absolute(x)), 0.0, 100.0))
    half = (grown + grown / (grown + 1.0)) * 0.5
    return signed(code, x, half)


def cosh(code: Code, x: Val) -> Val:
    grown = expm1_64(code, bound(code, widened(code, code.absolute(x)), 0.0, 100.0)) + 1.0
    return narrow(code, (grown + 1.0 / grown) * 0.5)


def tanh(code: Code, x: Val) -> Val:
    a = code.absolute(x)
    grown = exp(code, code.minimum(a + a, 20.0), (0.0, 20.0))
    square = a * a
    near = code.fma(a * square, halved(code, square, TANH_32), a)
    return code.intrinsic("copysign", code.select(a < 0.625, near, 1.0 - 2.0 / (grown + 1.0)), x)


def asinh(code: Code, x: Val) -> Val:
    a = widened(code, code.absolute(x))
    square = a * a
    result = signed(code, x, log1p_64(code, a + square / (code.sqrt(square + 1.0) + 1.0)))
    return code.select(a.eq(math.inf), x, result)


def acosh(code: Code, x: Val) -> Val:
    above = widened(code, x) - 1.0
    result = narrow(code, log1p_64(code, above + code.sqrt(above * (above + 2.0))))
    result = code.select(x < 1.0, code.constant("float", math.nan), result)
    return code.select(x < math.inf, result, x)


def atanh(code: Code, x: Val) -> Val:
    a = widened(code, code.absolute(x))
    result = signed(code, x, log1p_64(code, (a + a) / (1.0 - a)) * 0.5)
    infinite = code.intrinsic("copysign", code.constant("float", math.inf, x.lanes), x)
    result = code.select(a.eq(1.0), infinite, result)
    return code.select(a <= 1.0, result, code.constant("float", math.nan))


def hypot(code: Code, x: Val, y: Val) -> Val:
    """The root of the sum of squares, within 2 ulp. Doubles would take three times as long."""
    a, b = code.absolute(x), code.absolute(y)
    turn = b > a
    large, small = code.select(turn, b, a), code.select(turn, a, b)
    is_tiny = (large < 2.0**-40) & (large > 0.0)
    branch = Branch(code, code.anywhere(is_tiny | (a > 2.0**60) | (b > 2.0**60)))
    with branch.side():
        first = [code.outlined("hypot_far", _hypot_far, large, small)]
    with branch.side():
        second = [code.sqrt(code.fma(small, small, large * large))]
    return branch.join(first, second)[0]


def _hypot_far(code: Code, large: Val, small: Val) -> Val:
    """Of numbers that a power of two brings to where the square of the larger one neither overflows
    nor loses bits; of others the same bits as without that."""
    is_tiny, is_huge = large < 2.0**-40, large > 2.0**60
    down, up, one, infinite = _numbers(code, 2.0**-100, 2.0**100, 1.0, math.inf)
    scale = code.select(is_tiny, up, code.select(is_huge, down, one))
    back = code.select(is_tiny, down, code.select(is_huge, up, one))
    a, b = large * scale, small * scale
    result = code.sqrt(code.fma(b, b, a * a)) * back
    return code.select(large.eq(math.inf) | small.eq(math.inf), infinite, result)


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
    power = bound(code, log_64(code, shifted) * (a - 0.5) - shifted, -700.0, 700.0)
    above = exp_64(code, power) * _lanczos(code, a)
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
    logarithm = log_64(code, first)
    u = code.select(is_low, a + 1.0, a)
    near = (u - 1.0) * (u - 2.0) * polynomial(code, u - 2.0, LGAMMA_64) - logarithm
    far = (a - 0.5) * (logarithm - 1.0) + (log_64(code, _lanczos(code, a)) - SHIFT)
    above = code.select(is_near, near, far)
    sine = code.absolute(_sine_of_pi(code, wide))
    pole = sine.eq(0.0)
    below = log_64(code, PI / code.select(pole, one, sine)) - above
    result = narrow(code, code.select(reflected, below, above))
    result = code.select((x <= 0.0) & pole, code.constant("float", math.inf), result)
    result = code.select(code.absolute(x).eq(math.inf), code.absolute(x), result)
    return code.select(x.ne(x), x, result)


INLINE: Final[dict[str, Formula]] = {"hypot": hypot}
OUTLINED: Final[dict[str, Formula]] = {
    "sin": sin, "cos": cos, "tan": tan, "asin": asin, "acos": acos, "atan": atan, "atan2": atan2,
    "sinh": sinh, "cosh": cosh, "tanh": tanh, "asinh": asinh, "acosh": acosh, "atanh": atanh,
    "gamma": gamma, "lgamma": lgamma,
}  # fmt: skip
