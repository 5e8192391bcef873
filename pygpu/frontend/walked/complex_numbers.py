"""Functions of complex numbers as Python functions, which are walked.

They compute as CPython's cmath does, in floats of 32 bits: where a square or an exponential would
leave their range although the result does not, it is scaled. A device has no exceptions: where
cmath raises, the result is what the arithmetic gives.

    sqrt(complex(-4.0, 0.0)) == 2j
"""

import math
from typing import Any, Final

_LARGE: Final = 2.0**100  # from here on, sums of two parts are taken of smaller ones
_SMALL: Final = 2.0**-100
_STEP: Final = 64.0  # exponentials of more are taken in two steps


def quotient(a: Any, b: Any, c: Any, d: Any) -> Any:
    """(a + bi) / (c + di) by Smith's method, which squares nothing. Large numbers are made smaller
    first: sums of two could overflow, and the reciprocal of a large one is subnormal."""
    above = 0.25 if max(abs(a), abs(b)) > _LARGE else 1.0
    scale = 2.0**-64 if max(abs(c), abs(d)) > _LARGE else 1.0
    back = scale / above
    a, b, c, d = a * above, b * above, c * scale, d * scale
    if abs(c) >= abs(d):
        ratio = d / c
        below = c + d * ratio
        return complex((a + b * ratio) / below * back, (b - a * ratio) / below * back)
    ratio = c / d
    below = c * ratio + d
    return complex((a * ratio + b) / below * back, (b * ratio - a) / below * back)


def power(a: Any, b: Any, c: Any, d: Any) -> Any:
    """(a + bi) ** (c + di) in polar coordinates."""
    if c == 0.0 and d == 0.0:
        return complex(1.0, 0.0)
    if a == 0.0 and b == 0.0:
        return complex(0.0, 0.0)
    size = math.hypot(a, b)
    angle = math.atan2(b, a)
    length = size**c
    turn = angle * c
    if d != 0.0:
        length = length * math.exp(-angle * d)
        turn = turn + d * math.log(size)
    return complex(length * math.cos(turn), length * math.sin(turn))


def size_of(z: Any) -> Any:
    """abs(z)"""
    return math.hypot(z.real, z.imag)


def phase(z: Any) -> Any:
    z = complex(z)
    return math.atan2(z.imag, z.real)


def polar(z: Any) -> Any:
    return abs(z), phase(z)


def rect(r: Any, phi: Any) -> Any:
    return complex(r * math.cos(phi), r * math.sin(phi))


def exp(z: Any) -> Any:
    z = complex(z)
    large = z.real > _STEP
    size = math.exp(z.real - _STEP if large else z.real)
    scale = math.exp(_STEP) if large else 1.0
    return complex(size * math.cos(z.imag) * scale, size * math.sin(z.imag) * scale)


LARGEST: Final = math.log(1.7976931348623157e308)  # e to more than that is no float of 64 bits


def exp_fails(z: Any) -> Any:
    """Whether cmath.exp raises a ValueError."""
    return math.isinf(z.imag) and z.real > -math.inf


def cosh_fails(z: Any) -> Any:
    """Whether cmath.cosh and sinh raise a ValueError."""
    return math.isinf(z.imag) and not math.isnan(z.real)


def tanh_fails(z: Any) -> Any:
    return math.isinf(z.imag) and math.isfinite(z.real)


def rect_fails(r: Any, phi: Any) -> Any:
    return math.isinf(phi) and not math.isnan(r) and r != 0


def turned(z: Any) -> Any:
    """1j * z: cos(z) is cosh of it, and tan and sin fail where tanh and sinh of it do."""
    return complex(-z.imag, z.real)


def is_beyond(z: Any, size: Any) -> Any:
    """Whether a part of exp(z), of which the logarithm of the size is given, is beyond floats of 64
    bits: that of cosh(z) and sinh(z) is |z.real| - log(2)."""
    if not math.isfinite(z.real) or not math.isfinite(z.imag) or size < LARGEST:
        return False
    return size + math.log(max(abs(math.cos(z.imag)), abs(math.sin(z.imag)))) > LARGEST


def exp_overflows(z: Any) -> Any:
    return is_beyond(z, z.real)


def cosh_overflows(z: Any) -> Any:
    return is_beyond(z, abs(z.real) - math.log(2.0))


def log(z: Any, base: Any = None) -> Any:
    z = complex(z)
    result = complex(_log_of_size(abs(z.real), abs(z.imag)), phase(z))
    return result if base is None else result / log(base)


def _log_of_size(x: Any, y: Any) -> Any:
    """log(hypot(x, y)), near 1 by what it differs from 1."""
    larger, smaller = max(x, y), min(x, y)
    size = math.hypot(x, y)
    if 0.71 <= size <= 1.73:
        return 0.5 * math.log1p((larger - 1.0) * (larger + 1.0) + smaller * smaller)
    scale = 2.0**-32 if larger > _LARGE else 1.0
    unscaled = math.log(2.0**32) if larger > _LARGE else 0.0
    return math.log(math.hypot(x * scale, y * scale)) + unscaled


def log10(z: Any) -> Any:
    return log(z) * (1.0 / math.log(10.0))


def sqrt(z: Any) -> Any:
    z = complex(z)
    x, y = abs(z.real), abs(z.imag)
    larger = max(x, y)
    scale = 1.0
    unscaled = 1.0
    if larger > _LARGE:
        scale, unscaled = 2.0**-8, 2.0**4
    elif larger < _SMALL:
        scale, unscaled = 2.0**48, 2.0**-24
    half = 0.5 * (x * scale + math.hypot(x * scale, y * scale))
    near = math.sqrt(half) * unscaled
    far = 0.0 if near == 0.0 else 0.5 * (y / near)
    if z.real >= 0.0:
        return complex(near, math.copysign(far, z.imag))
    return complex(far, math.copysign(near, z.imag))


def cosh(z: Any) -> Any:
    z = complex(z)
    return complex(math.cosh(z.real) * math.cos(z.imag), math.sinh(z.real) * math.sin(z.imag))


def sinh(z: Any) -> Any:
    z = complex(z)
    return complex(math.sinh(z.real) * math.cos(z.imag), math.cosh(z.real) * math.sin(z.imag))


def tanh(z: Any) -> Any:
    """By tan(y) and tanh(x), as Kahan does: nothing overflows."""
    z = complex(z)
    t = math.tanh(z.real)
    c, s = math.cos(z.imag), math.sin(z.imag)
    below = c * c + t * t * (s * s)
    # 1 - t*t near t = 1 would cancel: it is the square of the hyperbolic secant
    secant = 1.0 / math.cosh(min(abs(z.real), _STEP))
    return complex(t / below, c * s * (secant * secant) / below)


def cos(z: Any) -> Any:
    z = complex(z)
    return cosh(complex(-z.imag, z.real))


def sin(z: Any) -> Any:
    z = complex(z)
    turned = sinh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def tan(z: Any) -> Any:
    z = complex(z)
    turned = tanh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def acos(z: Any) -> Any:
    """By roots of 1 - z and 1 + z, as Kahan does; so are the next ones."""
    z = complex(z)
    a, b = sqrt(1.0 - z), sqrt(1.0 + z)
    height = math.asinh(b.real * a.imag - b.imag * a.real)
    return complex(2.0 * math.atan2(a.real, b.real), height)


def acosh(z: Any) -> Any:
    z = complex(z)
    a, b = sqrt(z - 1.0), sqrt(z + 1.0)
    size = math.asinh(a.real * b.real + a.imag * b.imag)
    return complex(size, 2.0 * math.atan2(a.imag, b.real))


def asinh(z: Any) -> Any:
    z = complex(z)
    a, b = sqrt(complex(1.0 + z.imag, -z.real)), sqrt(complex(1.0 - z.imag, z.real))
    size = math.asinh(a.real * b.imag - b.real * a.imag)
    return complex(size, math.atan2(z.imag, a.real * b.real - a.imag * b.imag))


def asin(z: Any) -> Any:
    z = complex(z)
    turned = asinh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def atanh(z: Any) -> Any:
    z = complex(z)
    x, y = abs(z.real), abs(z.imag)
    square = y * y
    size = 0.25 * math.log1p(4.0 * x / ((1.0 - x) * (1.0 - x) + square))
    turn = 0.5 * math.atan2(2.0 * y, (1.0 - x) * (1.0 + x) - square)
    return complex(math.copysign(size, z.real), math.copysign(turn, z.imag))


def atan(z: Any) -> Any:
    z = complex(z)
    turned = atanh(complex(-z.imag, z.real))
    return complex(turned.imag, -turned.real)


def isnan(z: Any) -> Any:
    z = complex(z)
    return math.isnan(z.real) or math.isnan(z.imag)


def isinf(z: Any) -> Any:
    z = complex(z)
    return math.isinf(z.real) or math.isinf(z.imag)


def isfinite(z: Any) -> Any:
    z = complex(z)
    return math.isfinite(z.real) and math.isfinite(z.imag)


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if a == b:
        return True
    apart = abs(a - b)
    return apart <= rel_tol * abs(b) or apart <= rel_tol * abs(a) or apart <= abs_tol


def angle(z: Any, deg: Any = False) -> Any:
    turn = phase(z)
    return turn * (180.0 / math.pi) if deg else turn


def real(z: Any) -> Any:
    return z.real


def imag(z: Any) -> Any:
    return z.imag


def conjugate(z: Any) -> Any:
    return complex(z.real, -z.imag)
