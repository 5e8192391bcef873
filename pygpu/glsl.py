"""The functions of GLSL on plain Python values: numbers and vectors, mixed at will.

All work a component at a time unless they say otherwise. They give floats; `abs`, `sign`, `min`,
`max` and `clamp` of integers alone give integers. Where Python's `math` raises, IEEE decides:
`sqrt(-1)` is NaN, `log(0)` is -inf. Arrays and images are left to NumPy's functions.
Section numbers are those of the OpenGL Shading Language 4.60 specification.

    mix(Vec3(0, 0, 0), Vec3(1, 2, 3), 0.5); length(Vec2(3, 4)) == 5.0; floor(2.5) == 2.0

PRIMITIVES are one operation each for the compiler. All others are written in terms of these in
plain Python, and compiled as any function is.
"""

import builtins
import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.core.host.reference import describe_all
from pygpu.core.operations.ops import TABLE
from pygpu.language.components import sum_of_products
from pygpu.language.elementwise import (
    absolute,
    check,
    choice,
    columns,
    elementwise,
    float_function,
    larger,
    signum,
    smaller,
)
from pygpu.language.matrices import MATRICES, Matrix
from pygpu.language.scalars import number
from pygpu.language.vectors import BVec2, BVec3, BVec4, Vec2, Vec3, Vec4, Vector

# ---------------------------------------------------------------- primitives of floats

sin = float_function("sin", "The sine of x radians (8.1).")
cos = float_function("cos", "The cosine of x radians (8.1).")
tan = float_function("tan", "The tangent of x radians (8.1).")
asin = float_function(
    "asin", "The angle in [-π/2, π/2] whose sine is x; NaN outside [-1, 1] (8.1)."
)
acos = float_function("acos", "The angle in [0, π] whose cosine is x; NaN outside [-1, 1] (8.1).")
sinh = float_function("sinh", "(exp(x) - exp(-x)) / 2 (8.1).")
cosh = float_function("cosh", "(exp(x) + exp(-x)) / 2 (8.1).")
tanh = float_function("tanh", "sinh(x) / cosh(x) (8.1).")
asinh = float_function("asinh", "The number whose sinh is x (8.1).")
acosh = float_function("acosh", "The number from 0 on whose cosh is x; NaN below 1 (8.1).")
atanh = float_function("atanh", "The number whose tanh is x; NaN outside [-1, 1] (8.1).")
pow = float_function("pow", "x to the power y; NaN if x < 0 and y is not whole (8.2).")
exp = float_function("exp", "e to the power x (8.2).")
exp2 = float_function("exp2", "2 to the power x (8.2).")
log = float_function("log", "The natural logarithm; -inf of 0, NaN below (8.2).")
log2 = float_function("log2", "The logarithm to base 2; -inf of 0, NaN below (8.2).")
sqrt = float_function("sqrt", "The square root; NaN of negative numbers (8.2).")
floor = float_function("floor", "The largest whole number <= x, a float (8.3).")
ceil = float_function("ceil", "The smallest whole number >= x, a float (8.3).")
trunc = float_function("trunc", "The whole part of x, a float (8.3).")
round = float_function(
    "round", "The nearest whole number, a float; of two the even one (8.3, roundEven)."
)
mod = float_function("mod", "x - y*floor(x/y), of the sign of y; NaN if y is 0 (8.3).")
isnan = float_function("isnan", "Whether x is not a number (8.3).")
isinf = float_function("isinf", "Whether x is an infinity of either sign (8.3).")
divide = float_function("div", "x / y; by zero an infinity or NaN, never an error.")

_atan = float_function("atan", "The angle in [-π/2, π/2] whose tangent is x.", "atan")
_atan2 = float_function("atan2", "The angle in [-π, π] of the vector (x, y).", "atan")


@guarded
def atan(y: Any, x: Any = None) -> Any:
    """The angle in [-π/2, π/2] whose tangent is y; of two arguments the angle in [-π, π] of the
    vector (x, y) (8.1)."""
    return _atan(y) if x is None else _atan2(y, x)


_numeric = functools.partial(guarded, check=check)  # of what is written in terms of others


@_numeric
def inversesqrt(x: Any) -> Any:
    """1 / sqrt(x); inf of 0, NaN of negative numbers (8.2)."""
    return divide(1.0, sqrt(x))


# ---------------------------------------------------------------- primitives that keep integers


@guarded
def abs(x: Any) -> Any:
    """x if x >= 0, else -x (8.3)."""
    return elementwise(absolute, np.absolute, (x,), "abs")


@guarded
def sign(x: Any) -> Any:
    """1, 0 or -1 as x is positive, zero or negative; NaN of NaN (8.3)."""
    return elementwise(signum, np.sign, (x,), "sign")


@guarded
def min(x: Any, y: Any) -> Any:
    """y where y < x, else x (8.3)."""
    return elementwise(smaller, np.minimum, (x, y), "min")


@guarded
def max(x: Any, y: Any) -> Any:
    """y where y > x, else x (8.3)."""
    return elementwise(larger, np.maximum, (x, y), "max")


@guarded
def select(condition: Any, x: Any, y: Any) -> Any:
    """x where the condition holds, else y."""
    return elementwise(choice, np.where, (condition, x, y), "select")


# ---------------------------------------------------------------- primitives that fold a vector


@guarded
def dot(x: Any, y: Any) -> Any:
    """The sum of the products of components, a float; of two numbers their product (8.5)."""
    found = columns((x, y))
    if found is None:
        check("dot", (x, y))
        return np.dot(x, y)
    return sum_of_products(*([float(value) for value in row] for row in zip(*found, strict=True)))


@guarded
def any(x: Any) -> bool:
    """Whether a component of x is true (8.7); of other iterables, Python's `any`."""
    return bool(x) if number(x) is not None else builtins.any(_iterable("any", x))


@guarded
def all(x: Any) -> bool:
    """Whether all components of x are true (8.7); of other iterables, Python's `all`."""
    return bool(x) if number(x) is not None else builtins.all(_iterable("all", x))


def _iterable(name: str, x: Any) -> Any:
    if not hasattr(x, "__iter__") or isinstance(x, (str, bytes, dict)):
        raise TypeError(f"{name}: takes a vector, or something to iterate over, got {shown(x)}")
    return x


PRIMITIVES: Final[tuple[Callable[..., Any], ...]] = (
    *(globals()[row.glsl] for row in TABLE.values() if row.glsl),
    *(atan, select, dot, any, all),
)


# ---------------------------------------------------------------- derived: numbers (8.1, 8.3)

_RADIAN: Final = math.pi / 180.0
_DEGREE: Final = 180.0 / math.pi
_BOOLS: Final = (bool, np.bool_, BVec2, BVec3, BVec4)


@_numeric
def radians(degrees: Any) -> Any:
    """π/180 * degrees (8.1)."""
    return degrees * _RADIAN


@_numeric
def degrees(radians: Any) -> Any:
    """180/π * radians (8.1)."""
    return radians * _DEGREE


@_numeric
def fract(x: Any) -> Any:
    """x - floor(x) (8.3)."""
    return x - floor(x)


@_numeric
def clamp(x: Any, low: Any, high: Any) -> Any:
    """min(max(x, low), high) (8.3)."""
    return min(max(x, low), high)


@_numeric
def mix(x: Any, y: Any, a: Any) -> Any:
    """x*(1 - a) + y*a; of bools a, y where a holds and x elsewhere (8.3)."""
    if isinstance(a, _BOOLS):
        return select(a, y, x)
    return x * (1.0 - a) + y * a


@_numeric
def step(edge: Any, x: Any) -> Any:
    """0.0 where x < edge, else 1.0 (8.3)."""
    return select(x < edge, 0.0, 1.0)


@_numeric
def smoothstep(low: Any, high: Any, x: Any) -> Any:
    """t*t*(3 - 2*t), t being (x - low)/(high - low) clamped to [0, 1] (8.3)."""
    t = clamp(divide(x - low, high - low), 0.0, 1.0)
    return t * t * (3.0 - 2.0 * t)


# ---------------------------------------------------------------- derived: geometry (8.5)


@_numeric
def length(x: Any) -> Any:
    """sqrt(dot(x, x)), a float (8.5)."""
    return sqrt(dot(x, x))


@_numeric
def distance(x: Any, y: Any) -> Any:
    """length(x - y), a float (8.5)."""
    return length(x - y)


def _check_triples(name: str, arguments: tuple[Any, ...]) -> None:
    for value in arguments:
        if not isinstance(value, (Vector, list, tuple, np.ndarray)) or len(value) != 3:
            raise TypeError(f"{name}: takes vectors of 3 components, got {shown(value)}")


@functools.partial(guarded, check=_check_triples)
def cross(x: Any, y: Any) -> Any:
    """(x[1]*y[2] - y[1]*x[2], x[2]*y[0] - y[2]*x[0], x[0]*y[1] - y[0]*x[1]), a Vec3 (8.5)."""
    a = Vec3(*x)
    b = Vec3(*y)
    return Vec3(a[1] * b[2] - b[1] * a[2], a[2] * b[0] - b[2] * a[0], a[0] * b[1] - b[0] * a[1])


@_numeric
def normalize(x: Any) -> Any:
    """x / length(x), which is NaN of zero (8.5)."""
    return divide(x, length(x))


@_numeric
def faceforward(n: Any, i: Any, reference: Any) -> Any:
    """n where dot(reference, i) < 0, else -n (8.5)."""
    dot(n, i)  # all are of one size
    return select(dot(reference, i) < 0.0, n, -n)


@_numeric
def reflect(i: Any, n: Any) -> Any:
    """i - 2*dot(n, i)*n; n has length 1 (8.5)."""
    return i - 2.0 * dot(n, i) * n


@_numeric
def refract(i: Any, n: Any, eta: Any) -> Any:
    """eta*i - (eta*dot(n, i) + sqrt(k))*n where k = 1 - eta²*(1 - dot(n, i)²), or zeros where
    k < 0; i and n have length 1, eta is the ratio of the indices of refraction (8.5)."""
    d = dot(n, i)
    k = 1.0 - eta * eta * (1.0 - d * d)
    return select(k < 0.0, i * 0.0, eta * i - (eta * d + sqrt(k)) * n)


# ---------------------------------------------------------------- derived: matrices (8.6)


@_numeric
def transpose(m: Any) -> Any:
    """The matrix whose rows are the columns of m (8.6); of arrays, NumPy's `transpose`."""
    if not isinstance(m, Matrix):
        return np.transpose(m)
    size = len(m)
    return MATRICES[size](*[[m[row][column] for row in range(size)] for column in range(size)])


@guarded
def determinant(m: Any) -> Any:
    """The determinant of a matrix of 2 to 4 rows (8.6): its first row times its cofactors."""
    _check_square("determinant", m)
    return dot(m[0], _cofactors(m)[0])


@guarded
def inverse(m: Any) -> Any:
    """The inverse of a matrix of 2 to 4 rows (8.6): the transposed cofactors over the determinant.

    Infinities and NaN where the determinant is 0.
    """
    _check_square("inverse", m)
    cofactors = _cofactors(m)
    return transpose(MATRICES[len(m)](*cofactors)) / dot(m[0], cofactors[0])


def _check_square(name: str, m: Any) -> None:
    if isinstance(m, Matrix):
        return
    if not isinstance(m, (list, tuple, np.ndarray)) or not 2 <= len(m) <= 4:
        raise TypeError(f"{name}: takes a matrix of 2 to 4 rows, got {shown(m)}")
    for row in m:
        if number(row) is not None or len(row) != len(m):
            raise TypeError(f"{name}: takes a matrix of as many columns as rows, got {shown(m)}")


def _cofactors(m: Any) -> Any:
    """The rows of signed minors: element (i, j) is that of m without its row i and column j."""
    if len(m) == 2:
        (a, b), (c, d) = m
        return [Vec2(d, -c), Vec2(-b, a)]
    if len(m) == 3:
        a, b, c = m
        return [cross(b, c), cross(c, a), cross(a, b)]
    a, b, c, d = m
    above = _minors(a, b)
    below = _minors(c, d)
    return [_expand(b, below), -_expand(a, below), _expand(d, above), -_expand(c, above)]


def _minors(a: Any, b: Any) -> Any:
    """The six determinants of two columns of two rows, columns 01, 02, 03, 12, 13, 23."""
    return [
        a[0] * b[1] - a[1] * b[0],
        a[0] * b[2] - a[2] * b[0],
        a[0] * b[3] - a[3] * b[0],
        a[1] * b[2] - a[2] * b[1],
        a[1] * b[3] - a[3] * b[1],
        a[2] * b[3] - a[3] * b[2],
    ]


def _expand(a: Any, minors: Any) -> Any:
    """The signed determinants of a third row with the minors of two others."""
    m01, m02, m03, m12, m13, m23 = minors
    return Vec4(
        a[1] * m23 - a[2] * m13 + a[3] * m12,
        a[2] * m03 - a[0] * m23 - a[3] * m02,
        a[0] * m13 - a[1] * m03 + a[3] * m01,
        a[1] * m02 - a[0] * m12 - a[2] * m01,
    )


describe_all("pygpu.glsl", globals(), [name for name in globals() if name[0] != "_"])
