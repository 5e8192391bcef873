"""Integers of 32 bits, signed and not: hashes as they are written in Python, with masks."""

import math
import statistics

import numpy as np

from programs.suite import Suite
from pygpu import Image, Int, Position, UInt

program = Suite()

MASK = 0xFFFFFFFF
BYTES = np.array([200, 100, 3, 255], np.uint8)
SHORTS = np.array([-300, 32767, 5, -32768], np.int16)
PRIMES = [2654435761, 2246822519, 3266489917, 668265263, 374761393]  # of xxhash32
ROUNDS = np.array([0x428A2F98, 0x71374491, 0xB5C0FBCF, 0xE9B5DBA5])
WORDS = np.array([0x12345678, 0x9ABCDEF0, 0xFFFFFFFF, 0], np.uint32)


# ---------------------------------------------------------------- hashes


@program
def wang(im: Image, p: Position):
    key = p.x * 7919 + p.y
    key = (~key + (key << 21)) & MASK
    key = key ^ (key >> 24)
    key = (key * 265) & MASK
    key = key ^ (key >> 14)
    key = (key * 21) & MASK
    key = key ^ (key >> 28)
    return (key + (key << 31)) & MASK


@program
def fnv_1a(im: Image, p: Position):
    h = 2166136261
    for byte in (p.x & 255, p.x >> 8, p.y & 255, p.y >> 8):
        h = ((h ^ byte) * 16777619) & MASK
    return h


@program(rounds=40)
def fnv_1a_on_the_device(im: Image, p: Position, rounds: Int):
    h = 2166136261
    for i in range(rounds):
        h = ((h ^ (p.x + i & 255)) * 16777619) & MASK
    return h


def rotate(x, count):
    return ((x << count) | (x >> (32 - count))) & MASK


@program(seed=7)
def xxhash32(im: Image, p: Position, seed: Int):
    h = (seed + PRIMES[4] + 8) & MASK
    for word in (p.x, p.y):
        h = (h + word * PRIMES[2]) & MASK
        h = (rotate(h, 17) * PRIMES[3]) & MASK
    h ^= h >> 15
    h = (h * PRIMES[1]) & MASK
    h ^= h >> 13
    h = (h * PRIMES[2]) & MASK
    return h ^ (h >> 16)


@program
def pcg(im: Image, p: Position):
    state = (p.x + 1024 * p.y) & MASK
    state = (state * 747796405 + 2891336453) & MASK
    word = (((state >> ((state >> 28) + 4)) ^ state) * 277803737) & MASK
    return (word >> 22) ^ word


@program
def murmur3_finaliser(im: Image, p: Position):
    h = UInt(p.x * 65537 + p.y)
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    return h ^ (h >> 16)


@program(rounds=100)
def linear_congruences(im: Image, p: Position, rounds: Int):
    state = 5
    for _ in range(rounds):
        state = (1664525 * state + 1013904223) % 2**32
    return state ^ p.x, state / 2**32, (state * (p.x + 1)) % 2**31


@program
def xorshift_of_uint32(im: Image, p: Position):
    x = np.uint32(p.x + 1)
    for _ in range(5):
        x ^= x << 13
        x ^= x >> 17
        x ^= x << 5
    return x


@program
def adler_32(im: Image, p: Position):
    a, b = 1, 0
    for byte in (p.x, p.y, 200, 255):
        a = (a + byte) % 65521
        b = (b + a) % 65521
    return ((b << 16) | a) & MASK


# ---------------------------------------------------------------- UInt


@program(seed=UInt(4000000000))
def parameter_without_a_sign(im: Image, p: Position, seed: UInt):
    return seed + p.x, seed >> 3, seed // 7, seed % 1000, seed / 3, seed > 3999999999, -seed, ~seed


@program
def uints_compare_as_numbers(im: Image, p: Position):
    u, x = UInt(p.x - 3), p.x - 3
    return u < x, u <= x, u > x, u >= x, u == x, u != x, u < 7, u > -1, u == -1, u >= 2**31


@program
def ints_meet_uints(im: Image, p: Position):
    u, x = UInt(0xFFFFFFF0) + p.x, p.x - 3
    return u + x, x * u, u & x, u | x, x ^ u, x - u, u // 5, u % 16


@program
def shifts_are_of_what_is_shifted(im: Image, p: Position):
    u, x = UInt(p.x), p.x - 3
    return x >> u, x << u, u << 3, (u - 1) >> 28, 1 << u, 0x80000000 >> p.x


@program
def uint_of_floats_and_back(unit: Image, p: Position):
    v = unit(p)
    return (
        UInt(v * 100.0),
        UInt(v) + 1,
        float(UInt(p.x) - 1),
        int(UInt(p.x) - 1) / 2,
        bool(UInt(p.x)),
    )


@program
def uints_join_known_integers(im: Image, p: Position):
    h = 0
    if p.x > 2:
        h = (p.x * 0x9E3779B9) & MASK
    best = UInt(0)
    for i in range(4):
        best = max(best, (h ^ (i * 0x45D9F3B)) & MASK)
    return h, best, h if p.y > 1 else 4000000000


@program
def known_integers_of_two_kinds(im: Image, p: Position):
    return (4000000000 if p.x > 2 else 1), 3000000000, 0xFFFFFFFF if p.y else 0


@program
def table_of_large_integers(im: Image, p: Position):
    return ROUNDS[p.x % 4], WORDS[p.x % 4], WORDS[p.y % 4] >> 4, [1, 2**31][p.x % 2] // 3


@program
def index_without_a_sign(im: Image, p: Position):
    h = (p.x * 2654435761) & MASK
    return [1.0, 2.5, 4.0, 8.0][h % 4], ROUNDS[h >> 30], (3, 1, 4, 1, 5)[h % 5]


@program
def image_at_a_place_without_a_sign(im: Image, p: Position):
    h = (p.x * 2654435761 + p.y) & MASK
    return im(h % 7, h & 3), im((p.x & MASK, p.y))


@program
def vectors_of_uints(im: Image, p: Position):
    v = (p * 2654435761) & MASK
    w = v >> 16
    return v, w ^ v, v.x % 10, v > w


@program
def functions_of_uints(im: Image, p: Position):
    u = UInt(p.x) * 0x9E3779B9
    return abs(u), np.sign(u), round(u), math.floor(u), u**3, math.gcd(u, 36), math.isqrt(u)


@program
def bits_of_uints(im: Image, p: Position):
    u = UInt(p.x) * 0x9E3779B9
    return (
        u.bit_length(),
        u.bit_count(),
        sum([u & 1, u & 2, u >> 31]),
        sorted([u, u >> 1, u >> 2])[1],
    )


# ---------------------------------------------------------------- known integers that are no Int


@program
def order_beyond_32_bits(im: Image, p: Position):
    x = p.x - 3
    return x > 0x80000000, x < 2**40, x <= -(2**31) - 1, x >= -(2**35), 2**31 > x


@program
def extremes_beyond_32_bits(im: Image, p: Position):
    x = p.x - 3
    return min(x, 2**31), max(x, -(2**40)), min(2**33, x), np.minimum(x, 2**31)


@program
def division_by_large_integers(im: Image, p: Position):
    x = (p.x - 3) * 700000000
    return x % 2**31, x // 2**31, x % 2**32, x % 0xFFFFFFF1, x // 0x90000000, x % 1000003


@program
def equality_is_modulo_two_to_the_32(im: Image, p: Position):
    h = (p.x - 559038737 - 4) * 1
    return h == 0xDEADBEEF, h != 0xDEADBEEF, h ^ 0xDEADBEEF == 0


@program
def powers_modulo(im: Image, p: Position):
    x = (p.x - 3) * 123456789
    return (
        pow(x, 13, 1000003),
        pow(x, p.y + 20, 97),
        pow(x, p.x, 2147483647),
        pow(UInt(x), 5, 4294967291),
        pow(p.x, 3, -7),
        pow(3, p.x, 50),
        pow(x, 2, p.y + 1),
    )


@program
def sizes_of_the_least_integer(im: Image, p: Position):
    x = (p.x - 3) * 715827883 - 2  # -2**31 where p.x is 0
    return pow(3, abs(x), 7), pow(10, abs(x), -9), math.fabs(x), np.fabs(x), math.fabs(p.x - 3)


@program
def functions_of_floats_take_large_integers(im: Image, p: Position):
    x, u = (p.x - 3) * 715827882, UInt(p.x)
    return (
        math.hypot(x),
        math.hypot(x, 2, p.y),
        math.fsum([x, x, 1]),
        math.frexp((p.x - 4) * 536870912)[0],
        math.frexp(u + 4294960000)[1],
        np.logaddexp(u, 3) + np.logaddexp2(u, 4),
        math.isclose(x, -x - 5) + 2 * math.isclose(x, x + 1) + 4 * math.isclose(u, 2, abs_tol=1.5),
        math.ldexp(p.x, p.y - 2147483647),
    )


@program
def rounded_integers_are_integers(im: Image, p: Position):
    x = p.x * 16777217
    return np.round(x), np.around(x, 2), np.round(p.x * 5, -1), np.nan_to_num(x), np.round(x * 1.0)


@program
def binomials(im: Image, p: Position):
    n, k = 4 * p.x + 10, 5 * p.y + 1
    return math.comb(n, k) if n < 34 else 0, math.comb(n * 1000, 2), math.comb(n, n - 3)


@program
def powers_that_cannot_be_negative(im: Image, p: Position):
    powers = sum(2**i for i in range(p.x))
    return (
        powers,
        2**p.x,
        3 ** abs(p.x - 3),
        2 ** max(p.x - 3, 0),
        (-2) ** (p.x & 7),
        5 ** (p.y % 4),
    )


@program
def remainders_of_integers(im: Image, p: Position):
    x = (p.x - 3) * 123456791
    return math.fmod(x, 1000), math.fmod(x, -7), np.fmod(x, 10), math.fmod(x, p.y + 1)


@program(rounds=40)
def an_int_that_grows_wraps(im: Image, p: Position, rounds: Int):
    h = Int(1)
    for i in range(rounds):
        h = h * 31 + p.x + i
    return h


# ---------------------------------------------------------------- NumPy's integers of fewer bits


@program
def elements_of_narrow_tables(im: Image, p: Position):
    a, b = BYTES[p.x % 4], SHORTS[p.y % 4]
    return (
        a / 255,
        a * 0.5,
        a & 15,
        a >> 2,
        a // 7,
        a % 10,
        a > 150,
        b < -100,
        int(a) - 201,
        a == 255,
    )


@program
def narrow_elements_with_ints(im: Image, p: Position):
    return BYTES[p.x % 4] + p.y, p.x - BYTES[p.x % 4], SHORTS[p.y % 4] * (p.x + 1)


@program
def narrow_tables_made_wide(im: Image, p: Position):
    wide = BYTES.astype(int)
    return wide[p.x % 4] - wide[p.y % 4], wide[p.x % 4] * 3


@program
def narrow_elements_as_indices(im: Image, p: Position):
    return [1.0, 2.0, 4.0, 8.0][BYTES[p.x % 4] & 3], (
        BYTES[p.x % 4] if p.y > 1 else BYTES[p.y % 4]
    ) & 7


@program
def means_of_large_ints(im: Image, p: Position):
    xs = [p.x * 300000000 + 1, p.x * 300000000 + 3, 2000000000]
    kept = [x for x in xs if x > 5]
    spread = float(statistics.mean(xs)), statistics.fmean(xs)
    return (
        np.mean(xs),
        np.average(xs),
        *spread,
        np.mean(kept),
        np.mean([x * 1000 for x in range(p.x + 1)]),
    )


_WORDS = np.array([4294967295, 5, 3000000000], np.uint32)


@program
def whole_arrays_of_32_bits_without_a_sign_stay_so(im: Image, p: Position):
    summed, times = _WORDS + p.x, _WORDS * (p.x + 1)
    ends = np.max(summed) > 10, max(summed) == summed[p.x * 0], sorted(_WORDS ^ p.x)[2]
    return (
        summed[2],
        times[2],
        *ends,
        (_WORDS >> p.x)[0],
        (_WORDS // (p.x + 1))[2],
        (_WORDS % 7 + p.x)[0],
    )


@program
def ranges_at_a_dynamic_place(im: Image, p: Position):
    large = range(2**31)[p.x], range(5, 2**31, 7)[p.x + 3], range(2**31, 2**31 + 90)[p.x]
    return *large, range(10, 0, -1)[p.x % 10], range(90)[-1 - p.x], range(3, 90, 20)[p.y % 4]


@program
def inverse_modulo(ints: Image, p: Position):
    x = ints(p)
    try:
        of_six = pow(x, -1, 6)
    except ValueError:
        of_six = -1
    return pow(x, -1, 97), pow(x, p.x - 3, 1000003), pow(3, -2, 7 + 0 * x), pow(x, -1, -97), of_six


@program
def hashes_with_a_sign(ints: Image, p: Position):
    h = (ints(p) * 0x9E3779B1) & 0xFFFFFFFF
    flipped, k = (h ^ 0x80000000) - 0x80000000, h
    if k & 0x80000000:
        k -= 0x100000000
    return h - 2**32 if h >= 2**31 else h, flipped, k, (h - 2**31) % 7, (h - 2**31) >> 3


@program
def hashes_with_a_sign_from_functions(ints: Image, p: Position):
    def signed(h):
        if h < 2**31:
            return h
        return h - (1 << 32)

    h = (ints(p) * 0x85EBCA6B + p.x) & 0xFFFFFFFF
    return signed(h), signed(h) // 1000, h if h <= 0x7FFFFFFF else h - 2**32, (signed(h) & 0xFF) + 1
