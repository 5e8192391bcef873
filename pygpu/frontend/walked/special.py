"""Functions of `math` and NumPy that no device has, as Python functions of numbers: they are walked
like the user's own, where their arguments are not known.
"""

import math
import operator
from typing import Any

import numpy as np

from pygpu.frontend.walked.asked import holds, refuse
from pygpu.frontend.walked.written import STEPS, Bytes
from pygpu.glsl import exp, exp2, floor, log2
from pygpu.language.scalars import Int, UInt

# ---------------------------------------------------------------- parts of floats


def modf(x: Any) -> Any:
    whole = math.copysign(floor(abs(x)), x)
    return (math.copysign(0.0, x) if math.isinf(x) else math.copysign(x - whole, x)), whole


def nextafter(x: Any, y: Any) -> Any:
    """The float of the device, one of 32 bits, that follows x on the way to y."""
    if x != x or y != y:
        return float(x) + float(y)
    if x == y:
        return float(y)
    if x == 0:
        return math.copysign(2.0**-149, y)
    bits = int(np.float32(x).view(np.int32))
    step = 1 if (y > x) == (x > 0) else -1
    return float(np.int32(bits + step).view(np.float32))


def frexp(x: Any) -> Any:
    x = float(x)
    if x == 0.0 or x != x or math.isinf(x):
        return x * 1.0, 0
    exponent = int(floor(log2(abs(x)))) + 1
    part = ldexp(x, -exponent)
    if abs(part) >= 1.0:  # a logarithm that was rounded to the next whole number
        return part * 0.5, exponent + 1
    if abs(part) < 0.5:
        return part * 2.0, exponent - 1
    return part, exponent


def ldexp(x: Any, exponent: Any) -> Any:
    exponent = min(max(operator.index(exponent), -512), 512)  # beyond: 0 or infinite
    half = exponent // 2
    return x * exp2(half) * exp2(exponent - half)


def remainder(x: Any, y: Any) -> Any:
    size, step = abs(x), abs(y)
    rest = math.fmod(size, step)
    twice = math.fmod(size, 2.0 * step)
    odd = twice >= step
    if rest > 0.5 * step or (rest == 0.5 * step and odd):
        rest = rest - step
    return rest if x > 0.0 else -rest


def isclose(a: Any, b: Any, *, rel_tol: Any = 1e-09, abs_tol: Any = 0.0) -> Any:
    if isinstance(a, float) or isinstance(b, float):
        apart = abs(a - b)
    else:  # a difference of integers may wrap
        apart = abs(float(a) - float(b)) if (a < 0) != (b < 0) else max(a, b) - min(a, b)
    near = apart <= max(rel_tol * max(abs(float(a)), abs(float(b))), abs_tol)
    return bool(a == b or (near and not math.isinf(a) and not math.isinf(b)))


def fma(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


# ---------------------------------------------------------------- whole numbers


def gcd(*numbers: Any) -> Any:
    result = 0
    for b in numbers:
        a = result
        while b != 0:
            a, b = b, a % b
        result = abs(a)
    return result


def lcm(*numbers: Any) -> Any:
    result = 1
    for b in numbers:
        result = abs(result) // gcd(result, b) * abs(b)  # which wraps, as NumPy's does
    return result


def isqrt(n: Any) -> Any:
    # The largest root is that whose square has 32 bits, or 31.
    most = 65535 if isinstance(n, UInt) else 46340
    root = int(n**0.5)
    root = UInt(min(root, most)) if isinstance(n, UInt) else min(root, most)
    if root * root > n:
        return root - 1
    if root < most and (root + 1) * (root + 1) <= n:
        return root + 1
    return root


def power_modulo(base: Any, exponent: Any, modulus: Any) -> Any:
    """pow(base, exponent, modulus), by squaring. The result has the modulus' sign, and its kind."""
    size = UInt(abs(modulus))
    square = _modulo(base, modulus)
    power = UInt(1) % size
    left = UInt(abs(exponent))
    while left != 0:
        if left & 1 != 0:
            power = _product_modulo(power, square, size)
        square = _product_modulo(square, square, size)
        left = left >> 1
    if exponent < 0:
        power = _inverse(power, size)
    if isinstance(modulus, UInt) or modulus >= 0x80000000:
        return power
    if modulus < 0 and power != 0:
        return Int(power) + modulus
    return Int(power)


def _modulo(base: Any, modulus: Any) -> Any:
    """An integer modulo the size of another, from 0 on."""
    size = UInt(abs(modulus))
    if isinstance(base, UInt):
        rest = base % size
    else:
        rest = UInt(abs(base)) % size
        if base < 0 and rest != 0:
            rest = size - rest
    return rest


def _inverse(number: Any, modulus: Any) -> Any:
    """That by which a number gives 1 modulo a UInt, by Euclid's algorithm."""
    a, b = modulus, number
    inverse, other = UInt(0), UInt(1) % modulus
    while b != 0:
        less = _product_modulo(a // b % modulus, other, modulus)
        inverse, other = other, inverse - less if inverse >= less else inverse + (modulus - less)
        a, b = b, a % b
    holds(a == 1, ValueError, "base is not invertible for the given modulus")
    return inverse


def _product_modulo(a: Any, b: Any, modulus: Any) -> Any:
    """a * b modulo a UInt, both being less: where the product may have more than 32 bits, a sum of
    doubles that are kept below the modulus."""
    if modulus <= 0x10000:
        return (a * b) % modulus
    total = UInt(0)
    while b != 0:
        if b & 1 != 0:
            total = total - (modulus - a) if total >= modulus - a else total + a
        a = a - (modulus - a) if a >= modulus - a else a + a
        b = b >> 1
    return total


def remainder_of_integers(a: Any, b: Any) -> Any:
    """What a division that truncates leaves, with the sign of the dividend."""
    rest = UInt(abs(a)) % UInt(abs(b))
    if isinstance(a, UInt) or isinstance(b, UInt):
        return rest
    return -Int(rest) if a < 0 else Int(rest)


def fmod_of_integers(a: Any, b: Any) -> Any:
    """math.fmod, whose result is a float; by zero NaN, as of floats."""
    rest = float(UInt(abs(a)) % UInt(abs(b)))
    rest = rest if b != 0 else math.nan
    return -rest if a < 0 else rest


def round_int(n: Any, digits: Any) -> Any:
    """round(n, digits): to tens and hundreds for negative digits, half to even."""
    if digits >= 0:
        return n
    unit = 10**-digits
    count, rest = divmod(n, unit)
    up = 2 * rest > unit or (2 * rest == unit and count % 2 == 1)
    return unit * (count + 1 if up else count)


def factorial(n: Any) -> Any:
    product = 1
    for factor in range(2, n + 1):
        product = product * factor
    return product


def perm(n: Any, k: Any = None) -> Any:
    if k is None:
        return factorial(n)
    product = 1
    for i in range(k):
        product = product * (n - i)
    return product


def comb(n: Any, k: Any) -> Any:
    """No number on the way is larger than what comes of it."""
    result = 1 if k <= n else 0
    for i in range(min(k, n - k)):
        whole, rest = divmod(result, i + 1)
        result = whole * (n - i) + rest * (n - i) // (i + 1)
    return result


def bit_count(n: Any) -> Any:
    """Ones among the bits of |n|, summed in pairs, fours, eights (Warren, Hacker's Delight 5-1)."""
    n = abs(n)
    n = n - ((n >> 1) & 0x55555555)
    n = (n & 0x33333333) + ((n >> 2) & 0x33333333)
    n = (n + (n >> 4)) & 0x0F0F0F0F
    return ((n * 0x01010101) >> 24) & 0xFF


def bit_length(n: Any) -> Any:
    """Bits of |n| without leading zeros: how many are set once those below the highest are."""
    n = abs(n)
    for shift in (1, 2, 4, 8, 16):
        n = n | (n >> shift)
    return bit_count(n & 0x7FFFFFFF) + (1 if n < 0 or n >= 0x80000000 else 0)


# ---------------------------------------------------------------- ufuncs of NumPy


def heaviside(x: Any, at_zero: Any) -> Any:
    if x != x:
        return x * 1.0
    return at_zero * 1.0 if x == 0 else float(x > 0)


def logaddexp(a: Any, b: Any) -> Any:
    a, b = float(a), float(b)
    if a == b:  # infinities too
        return a + math.log(2.0)
    return max(a, b) + math.log1p(exp(-abs(a - b)))


def logaddexp2(a: Any, b: Any) -> Any:
    a, b = float(a), float(b)
    if a == b:
        return a + 1.0
    return max(a, b) + math.log1p(exp2(-abs(a - b))) * (1.0 / math.log(2.0))


def conjugate(x: Any) -> Any:
    return x


# The functions by what means them.


def bitwise_count(x: Any) -> Any:
    return bit_count(int(x))


# ---------------------------------------------------------------- what is written of ints


def signed(number: Any, sign: Any, text: Any, shorter: Any) -> Any:
    """What is written of a number, with a sign where it is not negative, too."""
    return text if number < 0 else sign + shorter


def grouped(number: Any, mark: Any) -> Any:
    """What is written of an int of 32 bits, with a mark before each three digits."""
    size = UInt(abs(number))
    text = f"{size % 1000:03d}"
    if size < 1000:
        text = str(size)
    elif size < 1000000:
        text = f"{size // 1000}{mark}{text}"
    else:
        text = f"{size // 1000 % 1000:03d}{mark}{text}"
        if size < 1000000000:
            text = f"{size // 1000000}{mark}{text}"
        else:
            text = f"{size // 1000000000}{mark}{size // 1000000 % 1000:03d}{mark}{text}"
    return text if number >= 0 else "-" + text


# ---------------------------------------------------------------- bits of bytes


def to_bytes(n: Any, length: Any = 1, byteorder: Any = "big", *, signed: Any = False) -> Any:
    """int.to_bytes()"""
    half = 1 << 8 * min(length, 4) - 1 if signed else 0
    if not signed:
        holds(n >= 0, OverflowError, "can't convert negative int to unsigned")
    if length < 4:
        holds(-half <= n < (half or 1 << 8 * length), OverflowError, "int too big to convert")
    return Bytes(bytes_of(n, length)[:: STEPS[byteorder]])


def bytes_of(n: Any, length: Any) -> Any:
    """So many bytes of an integer of 32 bits, the lowest first."""
    return [(n >> 8 * k if k < 4 else n >> 31 >> 1) & 255 for k in range(length)]


def from_bytes(source: Any, byteorder: Any = "big", *, signed: Any = False) -> Any:
    """int.from_bytes()"""
    parts = [*source][:: STEPS[byteorder]]
    if len(parts) > 4:
        refuse("int.from_bytes of more than 4 bytes", "one of 4 bytes, as source[:4],")
    number = 0
    for k, part in enumerate(parts):
        holds(0 <= part < 256, ValueError, "bytes must be in range(0, 256)")
        number |= part << 8 * k
    if not signed:
        return number & 0xFFFFFFFF if len(parts) == 4 else number
    half = 1 << 8 * len(parts) - 1 if 0 < len(parts) < 4 else 0
    return (number ^ half) - half


def packbits(a: Any, axis: Any = None, bitorder: Any = "big") -> Any:
    """numpy.packbits() of all elements"""
    if axis is not None:
        refuse("np.packbits with an axis", "np.packbits(row) of each row")
    bits = [1 if bit else 0 for bit in np.ravel(a)]
    bits += [0] * (-len(bits) % 8)
    made = []
    for start in range(0, len(bits), 8):
        group = bits[start : start + 8] if bitorder == "little" else bits[start : start + 8][::-1]
        made.append(sum([bit << k for k, bit in enumerate(group)]))
    return np.array(made).astype(np.uint8)


def unpackbits(a: Any, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Any:
    """numpy.unpackbits() of all elements"""
    if axis is not None:
        refuse("np.unpackbits with an axis", "np.unpackbits(row) of each row")
    places = range(8) if bitorder == "little" else range(7, -1, -1)
    bits = [int(byte) >> k & 1 for byte in np.ravel(a) for k in places]
    return np.array(bits[:count]).astype(np.uint8)
