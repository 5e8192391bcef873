"""Complex numbers: operators, functions, joins, loops, containers, tables, parameters."""

import cmath
import math
from dataclasses import dataclass

import numpy as np

from programs.suite import Suite
from pygpu import Complex, Image, Int, Position

program = Suite()


def plane(im, p):
    """A number near the unit circle, never 0."""
    return complex(im(p) + 0.3, 0.25 * p.y - 0.4)


# ---------------------------------------------------------------- fractals as they are written


@program
def mandelbrot(im: Image, p: Position):
    c = complex(p.x / 3 - 2.1, p.y / 2 - 1.1)
    z = 0
    for n in range(40):
        if abs(z) > 2:
            return n
        z = z * z + c
    return 40


@program
def mandelbrot_by_while(im: Image, p: Position):
    c = (p.x / 3 - 2.1) + (p.y / 2 - 1.1) * 1j
    z, n = 0j, 0
    while abs(z) <= 2 and n < 300:
        z = z**2 + c
        n += 1
    return n


@program(c=-0.4 + 0.6j)
def julia(im: Image, p: Position, c: complex):
    z = complex(p.x - 3, p.y - 2) / 2
    n = 0
    while z.real * z.real + z.imag * z.imag < 4 and n < 60:
        z = z * z + c
        n += 1
    return n


@program
def newton(im: Image, p: Position):
    z = complex(p.x - 2.8, p.y - 2.3)
    for _ in range(12):
        z -= (z**3 - 1) / (3 * z**2)
    roots = [1, complex(-0.5, math.sqrt(3) / 2), complex(-0.5, -math.sqrt(3) / 2)]
    return [abs(z - root) < 1e-3 for root in roots].index(True)


@program(power=3)
def multibrot(im: Image, p: Position, power: Int):
    c = complex(p.x / 8 - 0.4, p.y / 8 - 0.3)
    z = 0j
    for _ in range(4):
        z = z**power + c
    return z


# ---------------------------------------------------------------- operators


@program
def arithmetic(im: Image, other: Image, p: Position):
    z, w = complex(im(p), other(p)), complex(1.5, im(p + (1, 0)))
    return z + w, z - w, z * w, z / w, -z, +z


@program
def with_real_numbers(im: Image, p: Position):
    z, n, on = plane(im, p), p.x + 1, p.x > 2
    return z + 2, 2 - z, n * z, z / n, 1.5 / z, z - on, on * z, 1j * im(p), im(p) / 2j, n + 1j


@program
def with_known_numbers(im: Image, p: Position):
    z = plane(im, p)
    return (2 - 1j) * z + (1 + 3j), (1 + 1j) / z - np.complex64(2j), z / (3 - 4j)


@program
def in_place(im: Image, p: Position):
    z = im(p)
    z += 1j
    z *= z
    z -= 2
    z /= 1 + 1j
    z **= 2
    return z


@program
def quotients_of_all_sizes(im: Image, p: Position):
    z = plane(im, p)
    return z * 1e30 / (z * z * 1e30), z * 1e-25 / (z * 2e-25), 1 / (z * 1e30) * 1e30


@program
def powers(im: Image, p: Position):
    z = plane(im, p)
    return z**0, z**1, z**2, z**3, z**7, z**-2, z**2.0, z ** (3 + 0j)


@program
def general_powers(im: Image, p: Position):
    z = plane(im, p)
    return z**0.5, z ** im(p), z ** (1 + 0.5j), 2**z, (im(p) ** 2 + 0.1) ** z, z**z, pow(z, 1.5)


@program
def powers_of_zero(im: Image, p: Position):
    z = complex(im(p) * 0, 0 * p.x)
    return z**2, z**0, z**0.5, z ** (p.x + 1)


@program
def equality(im: Image, other: Image, p: Position):
    z = complex(im(p), other(p))
    return z == im(p), z != z + 1, z == complex(im(p), other(p)), z == 0, 0j != z, z in (1j, z)


@program
def truth(im: Image, p: Position):
    z = complex(im(p), im(p) * im(p))
    return bool(z), (z and 2j) == 2j, not z


@program
def parts(im: Image, other: Image, p: Position):
    z = complex(im(p), other(p))
    return z.real, z.imag, z.conjugate(), (z * z.conjugate()).real, abs(z), im(p).imag


@program
def conversions(im: Image, p: Position):
    z = complex(im(p), 2)
    return (
        complex(z),
        complex(p.x),
        Complex(p.x, im(p)),
        complex(z, 1j * z),
        complex(),
        complex(z, 1),
    )


@program
def classes(im: Image, p: Position):
    z = im(p) * 1j
    return isinstance(z, complex), isinstance(z, (int, float)), type(z) is complex


# ---------------------------------------------------------------- functions


@program
def cmath_functions(im: Image, p: Position):
    z = plane(im, p)
    return cmath.exp(z), cmath.log(z), cmath.sqrt(z), cmath.phase(z), cmath.log10(z)


@program
def polar_coordinates(im: Image, p: Position):
    r, phi = cmath.polar(plane(im, p))
    return r, phi, cmath.rect(r, phi), cmath.rect(2, im(p))


@program
def cmath_trigonometry(im: Image, p: Position):
    z = plane(im, p)
    return cmath.sin(z), cmath.cos(z), cmath.tan(z), cmath.sinh(z), cmath.cosh(z), cmath.tanh(z)


@program
def cmath_inverse_functions(im: Image, other: Image, p: Position):
    z = complex(im(p) + 0.01, other(p) - 0.02)
    return (
        (cmath.asin(z), cmath.acos(z), cmath.atan(z))
        + (cmath.asinh(z), cmath.acosh(z), cmath.atanh(z))
        + (np.arcsin(z),)
    )


@program
def cmath_of_real_numbers(im: Image, p: Position):
    return cmath.sqrt(im(p)), cmath.exp(im(p)), cmath.phase(im(p)), cmath.log(p.x + 1, 2)


@program
def cmath_tests(im: Image, p: Position):
    z = plane(im, p)
    return cmath.isnan(z), cmath.isfinite(z), cmath.isinf(z * math.inf), cmath.isclose(z, z + 1e-3)


@program
def euler(im: Image, p: Position):
    return cmath.exp(1j * p.x), cmath.exp(2j * math.pi * p.y / 5), math.e ** (1j * p.x)


@program
def near_overflow(im: Image, p: Position):
    z = plane(im, p)
    return (
        abs(z * 1e38) / 1e38,
        abs(z * 1e-30) * 1e30,
        cmath.sqrt(z * 1e38) / 1e19,
        cmath.sqrt(z * 1e-34) * 1e17,
        cmath.log(z * 1e38),
        cmath.log(z * 1e-34),
        cmath.exp(88 + 1.5j + z / 16) / 1e38,
        cmath.tanh(z * 100),
    )


@program
def square_roots_on_the_axes(im: Image, p: Position):
    x, y = p.x - 3, p.y - 2
    return cmath.sqrt(complex(x, 0)), cmath.sqrt(complex(0, y)), cmath.sqrt(complex(x, y))


@program
def numpy_functions(im: Image, p: Position):
    z = plane(im, p)
    return np.abs(z), np.angle(z), np.conj(z), np.real(z), np.imag(z), np.exp(z), np.sqrt(z)


@program
def more_numpy_functions(im: Image, p: Position):
    z = plane(im, p)
    return np.log(z), np.sin(z), np.square(z), np.add(z, 1j), np.angle(z, deg=True), np.isnan(z)


@program
def numpy_of_real_numbers(im: Image, p: Position):
    return np.real(im(p)), np.imag(im(p)), np.conj(im(p)), np.angle(im(p)), np.abs(im(p))


@program
def numpy_scalars(im: Image, p: Position):
    return np.complex64(1 + 2j) * im(p), np.complex128(im(p)), np.complex64(1j) + p.x


# ---------------------------------------------------------------- paths


@program
def joined(im: Image, p: Position):
    z = 0
    if im(p) > 0:
        z = complex(im(p), 1)
    w = 2j if p.x > p.y else im(p)
    v = 1j if p.x > 2 else -2
    return z, w, v


@program
def returned_early(im: Image, p: Position):
    if im(p) > 0.5:
        return 1j * im(p)
    if im(p) < -0.5:
        return 2
    return im(p)


@program(n=5)
def loop_of_the_device(im: Image, p: Position, n: Int):
    z, w, total = 1, im(p), 0
    for k in range(n):
        z = z * 1j + im(p)
        w = w + z / (k + 1)
        total += z
    return z, w, total


@program(n=6)
def what_leaves_a_loop(im: Image, p: Position, n: Int):
    z = 0.5 + 0j
    for _ in range(n):
        z = z * z + complex(im(p), 0.25)
        if abs(z) > 1:
            break
    else:
        z = -1
    return z


@program
def chosen(im: Image, p: Position):
    z = plane(im, p)
    return np.where(im(p) > 0, z, 1j), np.where(p.x > 2, z, 0), z if p.y > 1 else z.conjugate()


@program
def called(im: Image, p: Position):
    def turned(z, by=1j):
        return z * by

    return turned(turned(plane(im, p))), turned(im(p)), (lambda z: z.imag)(turned(2.0))


# ---------------------------------------------------------------- containers


@program(n=9)
def sums(im: Image, p: Position, n: Int):
    zs = [complex(im(p), k) for k in range(4)]
    long = sum(cmath.rect(1 / (k + 1), k * im(p)) for k in range(n))
    return sum(zs), sum(zs, 1j), sum(1j * x for x in (im(p), 2)), long


@program
def fourier_sum(im: Image, p: Position):
    # p.x * k % 7: an angle of 40 is rounded by 4e-6 before its exponential is taken
    return sum(im((k, p.y)) * cmath.exp(-2j * cmath.pi * (p.x * k % 7) / 7) for k in range(7)) / 7


@program
def polynomials(im: Image, p: Position):
    z, result = plane(im, p), 0
    for factor in (1, -2j, 0.5, 1 + 1j):
        result = result * z + factor
    return result, np.polyval([1, 2j, -1], z)


ROOTS = np.exp(2j * np.pi * np.arange(5) / 5)
GRID = np.arange(12).reshape(3, 4) * (1 - 0.5j)


@program
def tables(im: Image, p: Position):
    k = p.x % 5
    return (
        [1, 2j, 1 - 1j, 0.5, 3][k],
        ROOTS[k],
        (1j, 2j)[p.y % 2],
        GRID[p.y % 3, p.x % 4],
        2 * GRID[0, k % 3],
    )


@program
def arrays(im: Image, p: Position):
    z = plane(im, p)
    zs = np.array([z, 1j, 2.0])
    apart = np.abs(z - ROOTS)
    return zs.sum(), np.mean(zs * z), apart[2], np.argmin(apart), np.prod(ROOTS[:2] * z)


@program
def lists(im: Image, p: Position):
    zs = [0j] * 4
    for k in range(4):
        zs[k] = zs[k - 1] * 1j + im(p)
    first, *rest = zs
    return zs[p.x % 4], zs[p.y % 4].real, first, rest[-1], max(zs, key=abs)


@program
def arrays_of_complex_numbers(im: Image, p: Position):
    zs = np.zeros(3, complex)
    zs[1] = 1j * im(p)
    zs[2] = im(p)
    ws = np.array([1, 1j * im(p), 2], dtype=complex)
    picked = zs[p.x % 3], zs.imag[1], ws.real[2], np.conj(zs)[1], zs.conj()[1]
    return (*picked, abs(ws)[1], (ws @ zs), np.vdot(ws, ws), (ws**2)[1])


@program
def sizes_of_arrays(im: Image, p: Position):
    zs = np.array([1, 1j * im(p), 2 + im(p) * 1j])
    norms = np.linalg.norm(zs), np.linalg.norm(zs, 1), np.linalg.norm(zs, np.inf)
    return (*norms, np.var(zs), np.std(zs), np.cumsum(zs)[1], np.sum(np.abs(zs) ** 2))


@program
def fourier_transform_by_matrix(im: Image, p: Position):
    row = np.array([im((k, p.y)) for k in range(4)])
    transformed = np.exp(-2j * np.pi * np.outer(np.arange(4), np.arange(4)) / 4) @ row
    return abs(transformed[1]), transformed[2]


@program
def impossible_on_a_path_that_is_not_taken(im: Image, p: Position):
    none = 0
    z = 1j / none if im(p) > 100 else 1j
    return z, cmath.log(none) if im(p) > 100 else im(p) + 0j


class Orbit:
    def __init__(self, c):
        self.z, self.c, self.inside = 0, c, 0

    def step(self):
        self.z = self.z * self.z + self.c
        if abs(self.z) < 2:
            self.inside += 1


@program
def object_that_changes(im: Image, p: Position):
    orbit = Orbit(complex(im(p), 0.2))
    for _ in range(30):
        orbit.step()
    return orbit.inside


FINE = np.exp(2j * np.pi * np.arange(300) / 300)


@program
def loop_over_a_long_table(im: Image, p: Position):
    total = 0
    for root in FINE:
        total += root * im(p) * abs(root - 1)
    return total / 300


@program
def quadratic(im: Image, p: Position):
    """Both roots of x^2 + bx + c, real or not."""
    b, c = im(p), 0.3
    root = cmath.sqrt(b * b - 4 * c)
    return (-b + root) / 2, (-b - root) / 2


# ---------------------------------------------------------------- objects and parameters


@dataclass
class Moebius:
    a: complex
    b: complex = 1j

    def __call__(self, z):
        return (self.a * z + self.b) / (z + 2.5)

    def __complex__(self):
        return self.a + self.b


@program
def objects(im: Image, p: Position):
    move = Moebius(complex(im(p), 1))
    move.b = move.b * 2
    return move(1 + 1j), move(im(p)), complex(move)


@program(move=Moebius(1 + 2j, 0.5))
def given_in_objects(im: Image, p: Position, move: Moebius):
    return move(complex(im(p), 1))


@program(c=0.5 - 1j, d=2)
def parameters(im: Image, p: Position, c: Complex, d: complex, e=1 + 1j, f: complex = 3j):
    return im(p) * c, d * c, e + f, d + 0j
