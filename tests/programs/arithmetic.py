"""The meaning of numbers: operators, builtins, conversions, the math module."""

import math
import operator

from programs.suite import Suite
from pygpu import Float, Image, Int, Position

program = Suite()


# ---------------------------------------------------------------- floats


@program
def arithmetic(im: Image, other: Image, p: Position):
    return im(p) * 2 + other(p) / 4 - 1


@program
def precedence(im: Image, other: Image, p: Position):
    return -(im(p) ** 2) + (im(p) - other(p)) - (im(p) - (other(p) - 1)) * 2 / (4 / 2)


@program
def unary_plus_and_minus(im: Image, p: Position):
    return +im(p) - -im(p + (1, 0))


@program
def float_floor_division(im: Image, p: Position):
    return im(p) // 0.75


@program
def float_floor_division_by_negative(im: Image, p: Position):
    return im(p) // -0.75


@program
def float_modulo(im: Image, p: Position):
    return im(p) % 0.75


@program
def float_modulo_by_negative(im: Image, p: Position):
    return im(p) % -0.75


@program
def float_modulo_dynamic(im: Image, unit: Image, p: Position):
    return im(p) % unit(p)


@program
def float_divmod(im: Image, p: Position):
    q, r = divmod(im(p), 0.75)
    return q * 10 + r


@program
def power_of_small_exponents(im: Image, p: Position):
    v = im(p)
    return v**2 + v**3 + v**1 + v**0


@program
def power_of_half(unit: Image, p: Position):
    return unit(p) ** 0.5


@program
def power_of_negative_exponent(unit: Image, p: Position):
    return unit(p) ** -2


@program
def power_dynamic(unit: Image, im: Image, p: Position):
    return unit(p) ** im(p)


@program
def power_of_known_base(im: Image, p: Position):
    return 2.0 ** im(p) + 2 ** im(p)


@program
def power_of_negative_base(im: Image, p: Position):
    return im(p) ** 5 - im(p) ** 4.0


@program
def pow_builtin(unit: Image, p: Position):
    return pow(unit(p), 1.5)


@program
def float_division_of_ints(ints: Image, p: Position):
    return ints(p) / 4


@program
def division_by_constant_is_exact(im: Image, p: Position):
    return im(p) / 3 / 7


@program
def rounding_half_to_even(im: Image, p: Position):
    return round(im(p) * 4) + round(im(p))


@program
def round_to_digits(im: Image, p: Position):
    return round(im(p), 1)


@program
def int_truncates(im: Image, p: Position):
    return int(im(p) * 3)


@program
def math_floor_ceil_trunc(im: Image, p: Position):
    return math.floor(im(p)) + 10 * math.ceil(im(p)) + 100 * math.trunc(im(p))


@program
def math_floor_gives_int(im: Image, p: Position):
    return math.floor(im(p) * 3) // 2 % 3


@program
def absolute(im: Image, ints: Image, p: Position):
    return abs(im(p)) + abs(ints(p))


@program
def float_of_int(ints: Image, p: Position):
    return float(ints(p)) / 3


@program
def float_of_bool(mask: Image, p: Position):
    return float(mask(p)) + 0.5


@program
def literals(im: Image, p: Position):
    return im(p) * 1e-3 + 0x10 + 0b11 + 1_000 + 1.5e3


@program
def infinities_and_nan(im: Image, p: Position):
    return math.inf if im(p) > 1 else (-math.inf if im(p) < -1 else math.nan)


@program
def nan_is_not_itself(im: Image, p: Position):
    v = im(p) if im(p) > 0 else math.nan
    return v != v, v == v, v < 1, not v < 1


@program
def comparisons(im: Image, other: Image, p: Position):
    a, b = im(p), other(p)
    return (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b)


@program
def comparison_of_int_and_float(im: Image, p: Position):
    return p.x > im(p) * 3


@program
def comparison_with_known_int(im: Image, p: Position):
    return im(p) == 0, im(p) != 1, im(p) >= 1


# ---------------------------------------------------------------- ints


@program
def int_arithmetic(ints: Image, p: Position):
    n = ints(p)
    return n * 3 - 7 + n * n


@program
def extremes_of_negated_ints(ints: Image, p: Position):
    around = [ints(p + (i, 0)) for i in range(4)]
    least, greatest = min([-n for n in around]), max([-n for n in around])
    return least * 16 + greatest + max(-around[0], -around[1], 3) * min(-around[0], around[1], -2)


@program
def extremes_of_differences_of_ints(ints: Image, p: Position):
    a, b, c, d = [ints(p + (i, 0)) for i in range(4)]
    return max(a - b, c - d, b - c) * 64 + min(a - b, c - d, 0 - a, b) + min(max(-a, -7), 5)


@program
def extremes_of_chosen_ints(ints: Image, mask: Image, p: Position):
    chosen = [-ints(p + (i, 0)) if mask(p + (i, 0)) else ints(p + (0, i)) for i in range(4)]
    return max(chosen) * 16 + min(chosen) + max([~n for n in chosen]) + min(map(abs, chosen))


@program
def least_of_a_loop_of_negated_ints(ints: Image, p: Position):
    least = 5
    for i in range(abs(ints(p)) % 4 + 1):
        least = min(least, -ints(p + (i, 0)), -ints(p + (0, i)))
    return least


@program
def int_floor_division(ints: Image, p: Position):
    return ints(p) // 7


@program
def int_floor_division_by_negative(ints: Image, p: Position):
    return ints(p) // -7


@program
def int_floor_division_dynamic(ints: Image, pairs: Image, p: Position):
    return ints(p) // pairs(p).x


@program
def int_modulo(ints: Image, p: Position):
    return ints(p) % 7


@program
def int_modulo_by_negative(ints: Image, p: Position):
    return ints(p) % -7


@program
def int_modulo_dynamic(ints: Image, pairs: Image, p: Position):
    return ints(p) % pairs(p).x


@program
def int_division_by_powers_of_two(ints: Image, p: Position):
    return ints(p) // 8 * 100 + ints(p) % 8


@program
def int_divmod(ints: Image, p: Position):
    q, r = divmod(ints(p), 6)
    return q * 100 + r


@program
def int_divmod_negative(ints: Image, p: Position):
    return divmod(ints(p), -6)


@program
def int_square_and_cube(ints: Image, p: Position):
    return ints(p) ** 2 - ints(p) ** 3


@program
def int_to_negative_power(ints: Image, p: Position):
    return ints(p) ** -1


@program
def int_to_dynamic_float_power(counts: Image, im: Image, p: Position):
    return counts(p) ** im(p)


@program
def int_to_dynamic_int_power(counts: Image, p: Position):
    return counts(p) ** p.y


@program
def int_true_division(ints: Image, p: Position):
    return ints(p) / (p.x + 1)


@program
def int_minus_float(ints: Image, p: Position):
    return ints(p) - 0.5


@program
def shifts(ints: Image, p: Position):
    return (ints(p) << 3) - (ints(p) >> 2)


@program
def shifts_by_dynamic(ints: Image, p: Position):
    return (ints(p) << p.x) + (ints(p) >> p.y)


@program
def shift_keeps_sign(ints: Image, p: Position):
    return -abs(ints(p)) >> 3


@program
def bit_operations(ints: Image, p: Position):
    n = ints(p)
    return (n & 0x0F) | (p.x << 4) ^ (n | 3) & ~n


@program
def bit_not(ints: Image, p: Position):
    return ~ints(p)


@program
def hash_wraps(ints: Image, p: Position):
    h = p.x * 374761393 + p.y * 668265263 + ints(p)
    h = (h ^ (h >> 13)) * 1274126177
    return h ^ (h >> 16)


@program
def hash_fnv(ints: Image, p: Position):
    h = ints(p) ^ 2166136261
    h = h * 16777619
    h = h ^ p.x
    return h * 16777619


@program
def hash_to_float(p: Position, im: Image):
    h = (p.x * 1597334677) ^ (p.y * 3812015801)
    h = h * 1274126177
    return (h & 0xFFFFFF) / 0x1000000


@program
def int_of_large_constant_masks(ints: Image, p: Position):
    return ints(p) & 0xFFFFFFFF


@program
def int_round_is_itself(ints: Image, p: Position):
    return round(ints(p)) + int(ints(p)) + math.floor(ints(p))


@program
def wrap_on_overflow(ints: Image, p: Position):
    n = ints(p) * 2000000000
    return n + 2000000000


@program
def known_int_arithmetic_is_python(im: Image, p: Position):
    n = 2**100 // 3**60
    return im(p) * (n % 1000)


@program
def int_type_wraps(p: Position, im: Image):
    h = Int(2166136261)
    h = h * 16777619
    return h + p.x


@program(n=7, x=0.3)
def uniforms(im: Image, p: Position, n: Int, x: Float):
    return im(p) * x + n // 2


@program(flag=True)
def bool_uniform(im: Image, p: Position, flag: bool):
    return im(p) if flag else -im(p)


@program(n=-7)
def uniform_division(im: Image, p: Position, n: int):
    return n // 2, n % 3, n >> 1, n / 2


# ---------------------------------------------------------------- bools


@program
def bool_arithmetic(im: Image, mask: Image, p: Position):
    return mask(p) + (im(p) > 0) * 2 + True


@program
def bool_times_float(im: Image, p: Position):
    return (im(p) > 0) * im(p)


@program
def bool_minus_bool(im: Image, mask: Image, p: Position):
    return (im(p) > 0) - mask(p)


@program
def extremes_of_bools_as_ints(mask: Image, p: Position):
    counts = [int(mask(p + (i, 0))) for i in range(4)]
    return min(counts) + 2 * max(counts) + 4 * max([-count for count in counts])


@program
def extremes_of_bools_as_floats(im: Image, p: Position):
    values = [float(im(p + (i, 0)) > 0.4) for i in range(4)]
    return min(values) + 2 * max(values) + 4 * max([-value for value in values])


@program
def bool_negated(mask: Image, p: Position):
    return -mask(p)


@program
def bool_and_or_xor(im: Image, mask: Image, p: Position):
    a, b = mask(p), im(p) > 0
    return (a & b), (a | b), (a ^ b)


@program
def bool_not(mask: Image, p: Position):
    return not mask(p)


@program
def bool_equality(im: Image, mask: Image, p: Position):
    return mask(p) == (im(p) > 0)


@program
def bool_ordering(im: Image, mask: Image, p: Position):
    return mask(p) < (im(p) > 0)


@program
def bool_of_number(im: Image, p: Position):
    return bool(im(p))


@program
def bool_sum(im: Image, p: Position):
    return sum([im(p + (d, 0)) > 0 for d in range(4)])


@program
def bool_as_index(im: Image, p: Position):
    return (2.0, 5.0)[im(p) > 0]


@program
def bool_bits_with_int(mask: Image, ints: Image, p: Position):
    return ints(p) & mask(p)


@program
def int_of_comparison(im: Image, p: Position):
    return int(im(p) > 0) * 5


# ---------------------------------------------------------------- builtins


@program
def min_and_max(im: Image, other: Image, p: Position):
    return min(im(p), other(p)) * 10 + max(im(p), other(p), 0.5)


@program
def min_and_max_of_int_and_float(im: Image, p: Position):
    return max(im(p), 0) + min(1, im(p))


@program
def min_of_generator(im: Image, p: Position):
    return min(im(p + (d, 0)) for d in range(3))


@program
def max_with_key(im: Image, p: Position):
    return max([im(p + (d, 0)) for d in range(4)], key=abs)


@program
def min_with_key_of_pairs(im: Image, p: Position):
    pairs = [(im(p + (d, 0)), d) for d in range(4)]
    return min(pairs, key=lambda pair: abs(pair[0]))[1]


@program
def max_of_pairs(im: Image, p: Position):
    value, where = max((im(p + (d, 0)), d) for d in range(4))
    return value * 10 + where


@program
def max_with_default(im: Image, p: Position, empty=()):
    return max(empty, default=im(p))


@program
def sum_with_start(im: Image, p: Position):
    return sum((im(p + (d, 0)) for d in range(3)), 100)


@program
def any_and_all(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(3)]
    return any(v > 1 for v in vs), all(v > -1 for v in vs), any([]), all([])


@program
def any_of_floats(im: Image, p: Position):
    return any([im(p), im(p + (1, 0))])


@program
def type_of_values(im: Image, p: Position):
    return isinstance(im(p), float) + 2 * isinstance(p.x, int) + 4 * isinstance(im(p), int)


@program
def operator_functions(im: Image, other: Image, p: Position):
    a, b = im(p), other(p)
    s = operator.add(a, b) - operator.mul(a, b) + operator.sub(a, b) + operator.neg(a)
    return s + operator.lt(a, b) + operator.floordiv(a, 0.5) + operator.itemgetter(1)((a, b))


# ---------------------------------------------------------------- math


@program
def math_constants(im: Image, p: Position):
    return im(p) * math.pi + math.e + math.tau


@program
def math_roots(unit: Image, im: Image, p: Position):
    return math.sqrt(unit(p)) + math.cbrt(im(p))


@program
def math_exponentials(im: Image, p: Position):
    return math.exp(im(p)), math.exp2(im(p)), math.expm1(im(p) / 100)


@program
def math_logarithms(unit: Image, p: Position):
    v = unit(p) * 10
    return math.log(v), math.log2(v), math.log10(v), math.log1p(v / 100)


@program
def math_log_of_base(unit: Image, p: Position):
    return math.log(unit(p) * 10, 3)


@program
def math_trigonometry(im: Image, p: Position):
    return math.sin(im(p) * 5), math.cos(im(p) * 5), math.tan(im(p) / 2)


@program
def math_inverse_trigonometry(im: Image, p: Position):
    return math.asin(im(p) / 2), math.acos(im(p) / 2), math.atan(im(p) * 3)


@program
def math_atan2(im: Image, other: Image, p: Position):
    return math.atan2(im(p), other(p) + 0.01)


@program
def math_hyperbolic(im: Image, p: Position):
    return math.sinh(im(p)), math.cosh(im(p)), math.tanh(im(p))


@program
def math_inverse_hyperbolic(im: Image, unit: Image, p: Position):
    return math.asinh(im(p)), math.acosh(unit(p) + 1), math.atanh(im(p) / 3)


@program
def math_hypot(im: Image, other: Image, p: Position):
    return math.hypot(im(p), other(p)), math.hypot(im(p), 2, 3)


@program
def math_fmod(im: Image, p: Position):
    return math.fmod(im(p), 0.75), math.fmod(im(p), -0.75)


@program
def math_copysign_fabs(im: Image, other: Image, p: Position):
    return math.copysign(other(p), im(p)) + math.fabs(im(p))


@program
def math_degrees_radians(im: Image, p: Position):
    return math.degrees(im(p)), math.radians(im(p) * 90)


@program
def math_pow(unit: Image, p: Position):
    return math.pow(unit(p), 2.5)


@program
def math_classification(im: Image, p: Position):
    v = im(p) if im(p) > 0 else (math.nan if im(p) < -1 else math.inf)
    return math.isnan(v), math.isinf(v), math.isfinite(v)


@program
def math_of_int(counts: Image, p: Position):
    return math.sqrt(counts(p)) + math.sin(p.x)


@program
def math_prod_dist(im: Image, p: Position):
    return math.prod([im(p), im(p + (1, 0)), 2]) + math.dist((im(p), 1), (2, 3))


@program
def math_fsum(im: Image, p: Position):
    return math.fsum([im(p + (d, 0)) for d in range(3)])


@program
def sin_far_from_zero(im: Image, p: Position):
    return math.sin(1000 + 100 * im(p))


@program
def tanh_and_sinh_near_zero(im: Image, p: Position):
    return math.tanh(im(p) / 4096) * 4096, math.sinh(im(p) / 4096) * 4096


@program
def log_near_one(im: Image, p: Position):
    return math.log(1 + im(p) / 64), math.log2(1 + im(p) / 64)


@program
def hash_compared_with_unsigned_constants(ints: Image, p: Position):
    h = ints(p) * 0 + 0xDEADBEEF
    return h == 0xDEADBEEF, 0xDEADBEEF != h, ints(p) < 0xFFFFFFFF, 0x80000000 <= ints(p), h < 0


@program
def extremes_of_bools(mask: Image, im: Image, p: Position):
    m = mask(p)
    return max(m, False), min(m, im(p) > 0), max([m, im(p) < 0, False])


@program
def operators_by_their_names(im: Image, p: Position):
    n = p.x - 3
    q, r = n.__divmod__(2)
    a, b = n.__rdivmod__(7) if n else (0, 0)
    texts = len(n.__str__()), n.__format__("03d") == f"{n:03d}"
    return q, r, a, b, n.__pow__(2), n.__pow__(2, 7), n.__hash__() == hash(n), *texts
