"""What each operation of the table is in native code, a component at a time.

A rule takes the code and the operands' components (scalars or vectors of lanes) and gives the
result's. The meaning is that of pygpu/core/operations/ops.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Final

import numpy as np

from pygpu.codegen.llvm.code import (
    Code,
    ceil,
    floor,
    floor_32,
    nearest_even,
    signed,
    trunc,
    widened,
)
from pygpu.codegen.llvm.flow import Branch, Loop
from pygpu.codegen.llvm.text import FLOATING, Val
from pygpu.core.host.later import later

with later():
    from pygpu.codegen.llvm import mathematics, trigonometry

Formula = Callable[..., Val]


def _floordiv(code: Code, a: Val, b: Val) -> Val:
    if a.kind in FLOATING:
        return _by(code, "floordiv", _float_floordiv, a, b)
    return _divided(code, a, b)[0]


def _mod(code: Code, a: Val, b: Val) -> Val:
    if a.kind not in FLOATING:
        return _divided(code, a, b)[1]
    if a.kind == "float" and b.number is not None:
        return _mod_by(code, a, float(np.float32(b.number)))
    return _by(code, "mod", _float_mod, a, b)


def _mod_by(code: Code, x: Val, y: float) -> Val:
    """The remainder by a known number, with its sign. Where quotients are small, x less a whole
    multiple, of which it is known that it is the right one or the next: that is either the
    remainder or the remainder less y, both rounded once, as Python has them."""
    if y == 1.0:
        return x - floor_32(code, x)
    if y < 0.0:
        return -_mod_by(code, -x, -y)
    divisor = code.constant("float", y)
    if not code.machine.has("fma") or not 2.0**-100 < y < 2.0**100:
        return _by(code, "mod", _float_mod, x, divisor)
    branch = Branch(code, code.anywhere(~(code.absolute(x) < SMALL * y)))
    with branch.side():
        large = [code.splat(_by(code, "mod", _float_mod, x, divisor), x.lanes)]
    with branch.side():
        whole = floor_32(code, code.fma(x, 1 / y, BESIDE))
        rest = code.fma(-whole, divisor, x)
        small = [rest + code.select(rest < 0.0, divisor, code.constant("float", 0.0))]
    return branch.join(large, small)[0]


def _by(code: Code, name: str, rule: Formula, x: Val, y: Val) -> Val:
    """A call of an outlined rule. For a divisor that is known a rule of its own is made."""
    number = y.number
    if number is None:
        return code.outlined(name, rule, x, y)
    bits = int(np.float32(number).view(np.uint32))
    of_number = lambda inner, x: rule(inner, x, inner.constant("float", number))  # noqa: E731
    return code.outlined(f"{name}.{bits:08x}", of_number, x)


SMALL: Final = 2.0**18  # up to which a quotient by an inverse errs by less than
BESIDE: Final = 2.0**-4
QUOTIENT: Final = 2.0**19  # up to which a quotient of floats is one too large at most


def _fmod(code: Code, x: Val, y: Val) -> Val:
    """The exact remainder with the sign of x. Where quotients are small, less a whole multiple:
    multiples of y's last place below y are floats, and so are those above -y where the quotient was
    taken for one more than it is. It is never taken for less."""
    if not code.machine.has("fma"):
        return _long_division(code, x, y)
    a, b, known = code.absolute(x), code.absolute(y), y.number
    if known is not None and 2.0**-100 < abs(known) < 2.0**100:
        quotient, is_small = a * (1 / abs(known) * (1 + 2.0**-21)), a < QUOTIENT * abs(known)
    else:
        quotient = (a / b) * (1 + 2.0**-22)
        is_small = (a < b * QUOTIENT) & (b > 2.0**-100) & (b < 2.0**100)
    branch = Branch(code, code.anywhere(~is_small))
    with branch.side():
        large = [code.splat(_long_division(code, x, y), x.lanes)]
    with branch.side():
        rest = code.fma(-floor_32(code, quotient), b, a)
        small = [code.intrinsic("copysign", code.select(rest < 0.0, rest + b, rest), x)]
    return branch.join(large, small)[0]


def _long_division(code: Code, x: Val, y: Val) -> Val:
    """The remainder by steps of 24 bits of the quotient."""
    b = widened(code, code.absolute(y))
    first = widened(code, code.absolute(x))
    regular = (b > 0.0) & (b < math.inf) & (first < math.inf)
    b = code.select(regular, b, code.constant("double", 1.0))
    first = code.select(regular, first, code.constant("double", 0.0))
    with Loop(code, [first]) as loop:
        (rest,) = loop.params
        # b * 2**k, k the difference of the exponents less 24 where that is positive
        gap = (code.bits(rest, "long") >> 52) - (code.bits(b, "long") >> 52) - 24
        gap = code.select(gap > 0, gap, code.constant("long", 0))
        unit = mathematics.scale(code, b, gap)
        left = rest - floor(code, rest / unit) * unit  # exact: 26 bits by 24
        left = code.select(left < 0.0, left + unit, left)
        loop.next(code.anywhere(left >= b), [left])
    result = signed(code, x, loop.results[0])
    a32, b32 = code.absolute(x), code.absolute(y)
    result = code.select((a32 < math.inf) & b32.eq(math.inf), x, result)
    bad = ~((a32 < math.inf) & (b32 > 0.0))
    return code.select(bad, code.constant("float", math.nan), result)


def _float_mod(code: Code, x: Val, y: Val) -> Val:
    """The remainder with the sign of y, as Python's and NumPy's %."""
    rest = _fmod(code, x, y)
    wrong = rest.ne(0.0) & ((rest < 0.0) ^ (y < 0.0))
    moved = code.select(wrong, rest + y, rest)
    zero = code.intrinsic("copysign", code.constant("float", 0.0, y.lanes), y)
    return code.select(rest.eq(0.0), zero, moved)


def _float_floordiv(code: Code, x: Val, y: Val) -> Val:
    """The floor of x / y, as NumPy has it: from the remainder."""
    rest = _fmod(code, x, y)
    wrong = rest.ne(0.0) & ((rest < 0.0) ^ (y < 0.0))
    quotient = (x - rest) / y
    quotient = code.select(wrong, quotient - 1.0, quotient)
    below = floor_32(code, quotient)
    below = code.select(quotient - below > 0.5, below + 1.0, below)
    ratio = x / y
    zero = code.intrinsic("copysign", code.constant("float", 0.0, x.lanes), ratio)
    result = code.select(quotient.eq(0.0), zero, below)
    return code.select(y.eq(0.0), ratio, result)


def _divided(code: Code, a: Val, b: Val) -> tuple[Val, Val]:
    """Floored quotient and remainder of ints, 0 by zero; the quotient is exact in float64.
    INT_MIN // -1 wraps: 2**31 goes through 64 bits."""
    if a.kind == "uint":
        return _divided_unsigned(code, a, b)
    zero = b.eq(0)
    safe = code.select(zero, code.constant("int", 1), b)
    exact = code.to_float(a, "double") / code.to_float(safe, "double")
    # 2**31 is the only quotient outside the ints: INT_MIN // -1
    bounded = code.select(exact >= 2.0**31, code.constant("double", -(2.0**31)), exact)
    quotient = code.to_int_inside(floor(code, bounded))
    nothing = code.constant("int", 0)
    return (code.select(zero, nothing, quotient), code.select(zero, nothing, a - quotient * safe))


def _divided_unsigned(code: Code, a: Val, b: Val) -> tuple[Val, Val]:
    """Quotient and remainder of uints, 0 by zero. The remainder of two numbers of 32 bits is either
    nothing or large enough for the quotient in float64, cut off, to be the right one."""
    zero, nothing = b.eq(0), code.constant("uint", 0)
    safe = code.select(zero, code.constant("uint", 1), b)
    exact = code.to_float(a, "double") / code.to_float(safe, "double")
    high = exact >= 2.0**31
    part = code.select(high, exact - 2.0**31, exact)
    whole = code.bits(code.to_int_inside(part), "uint")
    quotient = code.select(high, whole + 2**31, whole)
    return (code.select(zero, nothing, quotient), code.select(zero, nothing, a - quotient * safe))


# log2(1 + f) / f**2 - log2(e) / f, |f| up to sqrt(2) - 1; (2**r - 1) / r, |r| up to 1/2.
_LOG2: Final = (-0.7213475, 0.4808982, -0.36067364, 0.28855997, -0.24047682, 0.205339, -0.17893364,
                0.17007767, -0.16816995, 0.10015332)  # fmt: skip
_EXP2: Final = (0.6931472, 0.2402265, 0.05550411, 0.009618057, 0.0013333479, 0.00015461448,
                1.5303702e-05)  # fmt: skip
WHOLE: Final = 1024  # exponents up to which whole ones are products
MILD: Final = 6.0  # exponents up to which float32 in two parts is as good as 2 ulp


def _pow(code: Code, a: Val, b: Val) -> Val:
    if a.kind in FLOATING:
        exponent = None if b.number is None else float(np.float32(b.number))
        if exponent in (0.5, -0.5):
            root = code.select(a.eq(-math.inf), -a, code.sqrt(a) + 0.0)  # -0.0 gives 0.0
            return root if exponent == 0.5 else code.constant(a.kind, 1.0) / root
        if exponent is not None and exponent.is_integer() and 2 <= abs(exponent) <= WHOLE:
            return _whole_power(code, a, int(exponent))
        if code.machine.has("fma"):
            if exponent is None:
                return _power(code, a, b)
            if abs(exponent) <= MILD and not exponent.is_integer():
                return _power_of(code, a, code.constant("float", exponent))
        return code.outlined("pow", mathematics.pow, a, b)
    if b.number is not None and 1 <= b.number <= WHOLE:
        return _by_squaring(a, int(b.number))
    if a.kind == "uint":
        return code.outlined("upow", _int_pow, a, b)
    return code.outlined("ipow", _int_pow, a, b)


def _whole_power(code: Code, x: Val, n: int) -> Val:
    """x**n by products of doubles, which keep all bits of a float32 for any such n."""
    result = _by_squaring(code.to_float(x, "double"), abs(n))
    if n < 0:
        result = code.constant("double", 1.0) / result
    return code.to_float(result, x.kind)


def _by_squaring(x: Val, n: int) -> Val:
    """x**n, n at least 1."""
    if n == 1:
        return x
    half = _by_squaring(x, n // 2)
    return half * half * x if n % 2 else half * half


def _power(code: Code, x: Val, y: Val) -> Val:
    """x**y of an exponent that is not known. Where all lanes are mild, in place; else by a call."""
    lanes = max(x.lanes, y.lanes)
    branch = Branch(code, code.anywhere(~_is_mild(code, x, y)))
    with branch.side():
        either = code.splat(code.outlined("either_pow", _either_power, x, y), lanes)
    with branch.side():
        mild = code.splat(_power_of(code, x, y), lanes)
    return branch.join([either], [mild])[0]


def _is_mild(code: Code, x: Val, y: Val) -> Val:
    """Of which lanes `_power_of` gives the power. Whole exponents, as 10.0**y has, are left to
    doubles, whose results are exact where they can be."""
    bits = code.bits(x, "int")
    exponent = (code.absolute(y) <= MILD) & trunc(code, y).ne(y)
    return (bits >= 0) & (bits < 0x7F800000) & exponent


def _either_power(code: Code, x: Val, y: Val) -> Val:
    """Each lane by the formula that its own x and y ask for, whatever lies beside."""
    is_mild = _is_mild(code, x, y)
    wide = mathematics.pow(code, x, y)
    branch = Branch(code, code.anywhere(is_mild))
    with branch.side():
        both = code.select(is_mild, _power_of(code, x, y), wide)
    return branch.join([both], [wide])[0]


def _power_of(code: Code, x: Val, y: Val) -> Val:
    """x**y = 2**(y log2 x) for an exponent up to MILD that is no whole number, the logarithm in two
    parts."""

    def number(value: float) -> Val:
        return code.constant("float", value)

    high = float(np.float32(mathematics.LOG2E))
    subnormal = x < mathematics.TINY
    bits = code.bits(code.select(subnormal, x * 2.0**23, x), "int") - 0x3F3504F3
    whole = code.to_float(bits >> 23) - code.select(subnormal, number(23.0), number(0.0))
    f = code.bits((bits & 0x7FFFFF) + 0x3F3504F3, "float") - 1.0
    product = f * high
    low = code.fma(f, mathematics.LOG2E - high, code.fma(f, high, -product))
    low = code.fma(f * f, mathematics.halved(code, f, _LOG2), low)
    total = whole + product
    low = low + (product - (total - whole))
    log = total + low
    low = low - (log - total)

    scaled = log * y
    low = code.fma(low, y, code.fma(log, y, -scaled))
    known = y.number
    # what is scaled, but at the ends
    most = min(150.0 * (MILD if known is None else abs(known)), 190.0)
    if most == 190.0:
        scaled = mathematics.bound(code, scaled, -most, most)
    nearest, factors = mathematics.powers_of_two(code, scaled, 1.0, (-most, most))
    rest = (scaled - nearest) + low
    curve = code.fma(mathematics.halved(code, rest, _EXP2), rest, 1.0)
    result = mathematics.times(code, curve, nearest, factors)

    if known is None:
        at_zero = code.select(y > 0.0, number(0.0), number(math.inf))
        return code.select(x.eq(0.0), at_zero, result)
    ends = (0.0, math.inf) if known > 0 else (math.inf, 0.0)
    at_zero, at_infinity = map(number, ends)
    result = code.select(x > 0.0, result, code.select(x.eq(0.0), at_zero, number(math.nan)))
    return code.select(code.absolute(x).eq(math.inf), at_infinity, result)


def _int_pow(code: Code, a: Val, b: Val) -> Val:
    """By squaring, wrapping; a negative exponent gives 0."""
    one = code.constant(a.kind, 1, a.lanes)
    with Loop(code, [one, a, b]) as loop:
        result, base, left = loop.params
        result = code.select((left & 1).ne(0), result * base, result)
        left = code.binary("lshr", left, 1)
        loop.next(code.anywhere(left.ne(0)), [result, base * base, left])
    if a.kind == "uint":
        return loop.results[0]
    return code.select(b < 0, code.constant("int", 0), loop.results[0])


def _div(code: Code, a: Val, b: Val) -> Val:
    """By a power of two: the product with the inverse. (By other constants a product with a
    correction was no quicker: the divider works beside the multipliers.)"""
    number = b.number
    if number is None or not 2.0**-100 < abs(number) < 2.0**100:
        return a / b
    return a * (1 / number) if abs(math.frexp(number)[0]) == 0.5 else a / b


def _sign(code: Code, a: Val) -> Val:
    if a.kind == "uint":
        return code.to_uint(a.ne(0))
    if a.kind not in FLOATING:
        return code.to_int(a > 0) - code.to_int(a < 0)
    negative = code.select(a < 0.0, code.constant("float", -1.0), code.constant("float", 0.0))
    result = code.select(a > 0.0, code.constant("float", 1.0), negative)
    return code.select(a.ne(a), a, result)


def _shl(code: Code, a: Val, b: Val) -> Val:
    inside = code.compare("ult", b, 32)
    return code.select(inside, a << (b & 31), code.constant(a.kind, 0))


def _shr(code: Code, a: Val, b: Val) -> Val:
    inside = code.compare("ult", b, 32)
    if a.kind == "uint":
        return code.select(inside, a >> (b & 31), code.constant("uint", 0))
    return a >> code.select(inside, b, code.constant("int", 31))


def _compare(test: str) -> Formula:
    return lambda code, a, b: code.compare(test, a, b)


RULES: Final[dict[str, Formula]] = {
    "add": lambda code, a, b: a + b,
    "sub": lambda code, a, b: a - b,
    "fma": Code.fma,
    "mul": lambda code, a, b: a * b,
    "div": _div,
    "neg": lambda code, a: -a,
    "abs": Code.absolute,
    "sign": _sign,
    "min": Code.minimum,
    "max": Code.maximum,
    "sqrt": Code.sqrt,
    "inversesqrt": lambda code, a: 1.0 / code.sqrt(a),
    "copysign": lambda code, a, b: code.intrinsic("copysign", a, b),
    "isnan": lambda code, a: a.ne(a),
    "isinf": lambda code, a: code.absolute(a).eq(float("inf")),
    "bit_and": lambda code, a, b: a & b,
    "bit_or": lambda code, a, b: a | b,
    "bit_xor": lambda code, a, b: a ^ b,
    "bit_not": lambda code, a: ~a,
    "not": lambda code, a: ~a,
    "shl": _shl,
    "shr": _shr,
    **{test: _compare(test) for test in ("lt", "le", "gt", "ge", "eq", "ne")},
    "to_float": Code.to_float,
    "to_int": Code.to_int,
    "to_uint": Code.to_uint,
    "to_bool": Code.to_bool,
    "float_bits": lambda code, a: code.bits(a, "int"),
    "bits_float": lambda code, a: code.bits(a, "float"),
    "select": Code.select,
    "trunc": trunc,
    "ceil": ceil,
    "floor": floor_32,
    "round": nearest_even,
    "fmod": lambda code, x, y: _by(code, "fmod", _fmod, x, y),
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
}


@functools.cache
def function(name: str) -> Formula:
    """The rule of an operation that is a function of floats. Few programs have such: what they are
    is read when the first one is asked for."""
    rule = {**mathematics.INLINE, **trigonometry.INLINE}.get(name)
    if rule is None:
        rule = _outlined(name, {**mathematics.OUTLINED, **trigonometry.OUTLINED}[name])
    fast = mathematics.FAST.get(name)
    if fast is None:
        return rule
    return lambda code, x, **reach: fast(code, x) if code.machine.fast else rule(code, x, **reach)


def _outlined(name: str, rule: Formula) -> Formula:
    return lambda code, *operands: code.outlined(name, rule, *operands)
