"""Functions of `math` and of numbers that no device has."""

import math

import numpy as np
import scipy.linalg  # type: ignore[import-untyped]
import scipy.spatial.distance  # type: ignore[import-untyped]
import scipy.special  # type: ignore[import-untyped]

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


class Angle:
    """Numbers know how to be made of it."""

    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return self.degrees * (math.pi / 180)

    def __floor__(self):
        return 7


@program
def error_function(im: Image, p: Position):
    v = im(p) * 3
    return math.erf(v), math.erfc(v), math.erfc(abs(v) + 2)


@program
def error_function_of_scipy(im: Image, p: Position):
    v = im(p) * 3
    ends = scipy.special.erf(np.array([-v, v]))
    return scipy.special.erf(v) + scipy.special.erf(0.5), ends[1] - ends[0]


@program
def error_function_of_a_vector(rgb: Image, p: Position):
    return scipy.special.erfc(rgb(p) * 2)


@program
def gamma_function(im: Image, counts: Image, p: Position):
    v, c = abs(im(p)) * 3, counts(p)
    return math.gamma(v + 0.1), math.gamma(c * 4.5), math.gamma(-v - 0.0078)


@program
def logarithm_of_gamma(im: Image, counts: Image, p: Position):
    v, c = abs(im(p)) * 3, counts(p)
    return math.lgamma(v + 0.01), math.lgamma(c * 4.5), math.lgamma(-v - 0.0078)


@program
def logarithm_of_gamma_near_its_zeros(im: Image, p: Position):
    v = im(p)
    return math.lgamma(1 + v * 1e-4), math.lgamma(2 + v * 1e-5), math.lgamma(abs(v) * 1e-30 + 1e-35)


@program
def gamma_function_of_scipy(rgb: Image, p: Position):
    return scipy.special.gamma(rgb(p) + 1.5), scipy.special.gammaln(rgb(p) + 1.5)


@program
def parts_of_floats(im: Image, counts: Image, p: Position):
    v = im(p) * 3
    fraction, whole = math.modf(v)
    mantissa, exponent = math.frexp(v)
    return fraction, whole, mantissa, exponent, math.ldexp(v, counts(p) - 3)


@program
def remainders_to_the_nearest(im: Image, p: Position):
    v = im(p) * 5
    return math.remainder(v, 0.75), math.remainder(v, -1.5), math.remainder(7.0, v + 20)


@program
def closeness(im: Image, p: Position):
    v = im(p)
    return math.isclose(v, 0.5), math.isclose(v, 1.0, rel_tol=0.5), math.isclose(v, 0, abs_tol=1)


@program
def divisors(ints: Image, counts: Image, p: Position):
    i, c = ints(p), counts(p)
    return math.gcd(i, c), math.gcd(i, 12, 18), math.lcm(i, c), np.gcd(i, 6), np.lcm(4, i)


@program
def combinatorics(counts: Image, p: Position):
    c = counts(p)
    return math.factorial(c), math.comb(c + 4, 3), math.comb(7, c), math.perm(c + 2, 2)


@program
def integer_square_root(ints: Image, p: Position):
    i = abs(ints(p))
    return math.isqrt(i), math.isqrt(i * i), math.isqrt(i * i - 1), math.isqrt(2**31 - i)


@program
def bits_of_integers(ints: Image, p: Position):
    i = ints(p)
    return i.bit_length(), i.bit_count(), (i * 65537).bit_count(), i.real, i.imag, i.numerator


@program
def round_integers_to_tens(ints: Image, p: Position):
    i = ints(p)
    return round(i, -1), round(i * 25, -2), round(i * 5, -1), round(i, 2)


@program
def numpy_functions_of_two_parts(im: Image, p: Position):
    v = im(p)
    return np.heaviside(v, 0.5), np.logaddexp(v, 1.0), np.logaddexp2(v, v), np.conjugate(v)


@program
def numpy_functions_of_vectors(vecs: Image, pairs: Image, p: Position):
    v = vecs(p)
    fraction, whole = np.modf(v)
    return np.heaviside(v, 0.5), np.logaddexp(v, (1, 2, 3)), np.gcd(pairs(p), 12), fraction, whole


@program
def objects_that_are_numbers(im: Image, p: Position):
    a = Angle(im(p) * 90)
    return math.sin(a), math.hypot(a, 2), math.floor(a), float(a)


@program
def near_the_largest_float(unit: Image, p: Position):
    x = unit(p) * 3e38
    y = unit(p + (1, 0)) * 3e38
    return math.hypot(x / 2, y / 2) / 3e38, math.atan2(y, x), x / 1.5e38, x / -3e38, x / 1e37


@program
def gamma_and_hyperbolic_functions_near_the_largest_float(unit: Image, p: Position):
    a = unit(p)
    return (
        math.lgamma((a + 0.1) * 3e36) / 1e38,
        math.sinh(88.3 + a) / 1e38,
        math.cosh(-88 - a) / 1e38,
    )


@program
def exponentials_of_scipys_own(im: Image, p: Position):
    terms = [im(p), 1.0, 2.0]
    return (
        *(
            scipy.special.logsumexp(terms),
            scipy.special.softmax(terms)[1],
            scipy.special.log_softmax(terms)[0],
        ),
        *(scipy.spatial.distance.euclidean(terms, [0, 0, 1]), scipy.linalg.norm(np.array(terms))),
    )


@program
def floats_beside_floats(im: Image, p: Position):
    x = np.float32(p.x - 3) * np.float32(0.25) + np.float32(0.125)
    up, down = np.nextafter(x, np.float32(10.0)), np.nextafter(x, np.float32(-10))
    return up > x, down < x, np.nextafter(up, x) == x, np.nextafter(x, x) == x
