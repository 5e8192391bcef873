"""The functions of pygpu.glsl on numbers and vectors, against `math`, NumPy and their formulas."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pygpu import glsl
from pygpu.language.matrices import MATRICES, Mat2, Mat3
from pygpu.language.scalars import Int
from pygpu.language.vectors import BVec2, BVec3, IVec2, IVec3, Position, Vec2, Vec3, Vec4

# fmt: off
VOCABULARY = [
    "radians", "degrees", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh",
    "asinh", "acosh", "atanh", "pow", "exp", "log", "exp2", "log2", "sqrt", "inversesqrt", "abs",
    "sign", "floor", "trunc", "round", "ceil", "fract", "mod", "min", "max", "clamp", "mix",
    "step", "smoothstep", "isnan", "isinf", "length", "distance", "dot", "cross", "normalize",
    "faceforward", "reflect", "refract", "transpose", "determinant", "inverse", "any", "all",
]
# fmt: on

finite = st.floats(-100, 100)
vec3 = st.tuples(finite, finite, finite)


def same(actual, expected):
    if type(actual) is not type(expected):
        return False
    return np.allclose(np.asarray(actual), np.asarray(expected), rtol=1e-12, equal_nan=True)


@pytest.mark.parametrize("name", VOCABULARY)
def test_the_vocabulary_is_there_and_says_where_it_is_from(name):
    function = getattr(glsl, name)
    assert "(8." in function.__doc__
    assert function.__name__ == name


@pytest.mark.parametrize("function", glsl.PRIMITIVES)
def test_primitives_are_named(function):
    assert getattr(glsl, function.__name__) is function


ONE_ARGUMENT = {
    "radians": (math.radians, 30.0),
    "degrees": (math.degrees, 0.5),
    "sin": (math.sin, 0.5),
    "cos": (math.cos, 0.5),
    "tan": (math.tan, 0.5),
    "asin": (math.asin, 0.5),
    "acos": (math.acos, 0.5),
    "atan": (math.atan, 0.5),
    "sinh": (math.sinh, 0.5),
    "cosh": (math.cosh, 0.5),
    "tanh": (math.tanh, 0.5),
    "asinh": (math.asinh, 0.5),
    "acosh": (math.acosh, 1.5),
    "atanh": (math.atanh, 0.5),
    "exp": (math.exp, 0.5),
    "log": (math.log, 0.5),
    "exp2": (lambda x: 2**x, 0.5),
    "log2": (math.log2, 0.5),
    "sqrt": (math.sqrt, 0.5),
    "inversesqrt": (lambda x: 1 / math.sqrt(x), 0.5),
    "abs": (abs, -0.5),
    "sign": (lambda x: -1.0, -0.5),
    "floor": (lambda x: -3.0, -2.5),
    "ceil": (lambda x: -2.0, -2.5),
    "trunc": (lambda x: -2.0, -2.5),
    "round": (lambda x: -2.0, -2.5),
    "fract": (lambda x: 0.75, -2.25),
    "isnan": (lambda x: True, math.nan),
    "isinf": (lambda x: True, -math.inf),
}


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_functions_of_one_argument_work_on_numbers_and_components(name):
    function = getattr(glsl, name)
    reference, x = ONE_ARGUMENT[name]
    assert same(function(x), reference(x))
    expected = (BVec3 if name.startswith("is") else Vec3)(reference(x))
    assert same(function(Vec3(x)), expected)


FLOATS_OF_INTEGERS = ["sin", "exp", "sqrt", "floor", "ceil", "trunc", "round", "fract", "radians"]


@pytest.mark.parametrize("name", FLOATS_OF_INTEGERS)
@pytest.mark.parametrize("one", [1, Int(1), True, np.int64(1), np.float32(1)])
def test_integers_give_floats(name, one):
    function = getattr(glsl, name)
    assert same(function(IVec2(1, 1)), Vec2(function(1.0)))
    assert float(function(one)) == pytest.approx(function(1.0), rel=1e-6)
    if not isinstance(one, np.generic):
        assert type(function(one)) is float


def test_ieee_decides_where_math_raises():
    assert math.isnan(glsl.sqrt(-1))
    assert math.isnan(glsl.asin(2))
    assert math.isnan(glsl.pow(-8, 0.5))
    assert math.isnan(glsl.mod(1, 0))
    assert math.isnan(glsl.sin(math.inf))
    assert math.isnan(glsl.normalize(0.0))
    assert same(glsl.normalize(Vec2(0)), Vec2(math.nan))
    assert glsl.log(0) == glsl.log2(0) == -math.inf
    assert glsl.exp(1000) == glsl.pow(10, 1000) == glsl.inversesqrt(0) == math.inf
    assert same(glsl.log(Vec2(0, -1)), Vec2(-math.inf, math.nan))


def test_atan_takes_one_or_two_arguments():
    assert glsl.atan(1) == math.pi / 4
    assert glsl.atan(1, -1) == math.atan2(1, -1)
    assert same(glsl.atan(Vec2(1, -1), -1), Vec2(math.atan2(1, -1), math.atan2(-1, -1)))


@given(x=finite, y=finite.filter(lambda y: abs(y) > 1e-3))
def test_mod_floors(x, y):
    assert glsl.mod(x, y) == x % y
    assert same(glsl.mod(Vec2(x), y), Vec2(x % y))
    assert same(glsl.mod(x, Vec2(y)), Vec2(x % y))


@given(x=finite)
def test_rounding_halves_goes_to_even(x):
    assert glsl.round(x) == float(round(x))


def test_min_and_max_work_by_components_and_mixed_with_numbers():
    v = Vec3(1, 2, 3)
    assert same(glsl.min(v, (3, 2, 1)), Vec3(1, 2, 1))
    assert same(glsl.max(v, 2), Vec3(2, 2, 3))
    assert same(glsl.max(2, v), Vec3(2, 2, 3))
    assert same(glsl.min(v, np.array([3, 2, 1])), Vec3(1, 2, 1))
    with pytest.raises(TypeError, match="2 components where 3 are needed"):
        glsl.min(v, Vec2(1, 2))


def test_abs_sign_min_max_and_clamp_keep_integers():
    v = IVec3(-5, 0, 5)
    assert same(glsl.abs(v), IVec3(5, 0, 5))
    assert same(glsl.sign(v), IVec3(-1, 0, 1))
    assert same(glsl.min(v, 2), IVec3(-5, 0, 2))
    assert same(glsl.max(v, Int(2)), IVec3(2, 2, 5))
    assert same(glsl.clamp(v, -1, 1), IVec3(-1, 0, 1))
    assert same(glsl.clamp(Int(9), 0, 3), 3)
    assert same(glsl.abs(Int(-(2**31))), Int(-(2**31)))
    assert same(glsl.max(v, 2.0), Vec3(2, 2, 5))
    assert same(glsl.max(Int(3), 2.0), 3.0)


def test_nan_passes_min_and_max_as_in_python():
    assert math.isnan(glsl.max(math.nan, 1.0))
    assert glsl.max(1.0, math.nan) == 1.0
    assert math.isnan(glsl.sign(math.nan))


@given(x=vec3, y=vec3, a=st.floats(0, 1))
def test_mix_interpolates(x, y, a):
    expected = np.array(x) * (1 - a) + np.array(y) * a
    np.testing.assert_allclose(np.asarray(glsl.mix(Vec3(x), Vec3(y), a)), expected, atol=1e-12)
    assert same(glsl.mix(Vec3(x), Vec3(y), 0), Vec3(x))
    assert same(glsl.mix(Vec3(x), Vec3(y), 1.0), Vec3(y))


def test_mix_of_bools_selects():
    x, y = Vec2(1, 2), Vec2(3, 4)
    assert same(glsl.mix(x, y, BVec2(True, False)), Vec2(3, 2))
    assert same(glsl.mix(x, y, True), y)
    assert glsl.mix(1.0, 2.0, np.bool_(False)) == 1.0
    chosen = glsl.mix(x, y, True)
    chosen.x = 9
    assert y.x == 3


def test_select_widens_and_keeps_bools():
    assert same(glsl.select(BVec2(True, False), 1, 2.5), Vec2(1, 2.5))
    assert same(glsl.select(True, 1, 2.5), 1.0)
    assert glsl.select(False, True, False) is False
    assert same(glsl.select(True, IVec2(1, 2), 0), IVec2(1, 2))


def test_mixing_tuples_is_an_error_and_not_a_longer_tuple():
    with pytest.raises(TypeError):
        glsl.mix((1, 2), (3, 4), 0)


def test_step_and_smoothstep():
    v = Vec3(1, 2, 3)
    assert same(glsl.step(2, v), Vec3(0, 1, 1))
    assert glsl.step(2, 1) == 0.0
    assert same(glsl.smoothstep(1, 3, v), Vec3(0, 0.5, 1))
    assert glsl.smoothstep(0.0, 1.0, 0.25) == 0.25**2 * (3 - 0.5)
    assert glsl.smoothstep(1, 1, 2) == 1.0


# ---------------------------------------------------------------- geometry


@given(x=vec3, y=vec3)
def test_products_and_lengths_are_numpys(x, y):
    v, w = Vec3(x), Vec3(y)
    assert glsl.dot(v, w) == pytest.approx(np.dot(x, y), abs=1e-9)
    np.testing.assert_allclose(np.asarray(glsl.cross(v, w)), np.cross(x, y), atol=1e-9)
    assert glsl.length(v) == pytest.approx(np.linalg.norm(x))
    assert glsl.distance(v, w) == pytest.approx(np.linalg.norm(np.subtract(x, y)))


def test_geometry_of_integers_and_numbers_is_of_floats():
    assert same(glsl.length(Position(30000, 40000)), 50000.0)
    assert same(glsl.dot(IVec2(50000, 1), IVec2(50000, 1)), 2500000001.0)
    assert same(glsl.length(-3), 3.0)
    assert same(glsl.distance(1, 4), 3.0)
    assert same(glsl.dot((1, 2), [3, 4]), 11.0)
    assert same(glsl.cross(IVec3(1, 0, 0), (0, 1, 0)), Vec3(0, 0, 1))


def test_cross_takes_three_components():
    with pytest.raises(TypeError, match="cross: takes vectors of 3 components, got Vec2"):
        glsl.cross(Vec2(1, 2), Vec2(3, 4))
    with pytest.raises(TypeError, match="cross: takes vectors of 3 components, got Vec4"):
        glsl.cross(Vec4(1, 2, 3, 4), Vec3(1, 2, 3))


@given(x=vec3, y=vec3)
def test_reflection_keeps_length_and_mirrors_at_the_plane(x, y):
    assume(np.linalg.norm(x) > 1e-3)
    assume(np.linalg.norm(y) > 1e-3)
    i, n = glsl.normalize(Vec3(x)), glsl.normalize(Vec3(y))
    r = glsl.reflect(i, n)
    assert glsl.length(r) == pytest.approx(1)
    assert glsl.dot(r, n) == pytest.approx(-glsl.dot(i, n))
    assert all(abs(glsl.refract(i, n, 1.0) - i) < 1e-6) or glsl.dot(i, n) >= 0


def test_refraction_obeys_snell_and_reflects_totally():
    angle = 0.5
    i, n = Vec2(math.sin(angle), -math.cos(angle)), Vec2(0, 1)
    r = glsl.refract(i, n, 1 / 1.5)
    assert r.x == pytest.approx(math.sin(angle) / 1.5)
    assert glsl.length(r) == pytest.approx(1)
    assert same(glsl.refract(i, n, 3.0), Vec2(0, 0))


def test_faceforward_turns_the_normal():
    n = Vec2(1, 2)
    assert same(glsl.faceforward(n, Vec2(-1, 0), n), n)
    assert same(glsl.faceforward(n, Vec2(1, 0), n), -n)


# ---------------------------------------------------------------- matrices and bools


@pytest.mark.parametrize("size", [2, 3, 4])
@given(seed=st.integers(0, 2**32 - 1))
def test_determinants_and_inverses_are_numpys(size, seed):
    a = np.random.default_rng(seed).normal(size=(size, size))
    assume(abs(np.linalg.det(a)) > 1e-2)
    M = MATRICES[size](a)
    assert glsl.determinant(M) == pytest.approx(np.linalg.det(a))
    np.testing.assert_allclose(np.asarray(glsl.inverse(M)), np.linalg.inv(a), rtol=1e-7, atol=1e-9)
    assert same(glsl.transpose(M), MATRICES[size](a.T))
    assert type(glsl.inverse(a.tolist())) is MATRICES[size]


def test_the_inverse_of_a_singular_matrix_is_not_finite():
    assert not np.isfinite(np.asarray(glsl.inverse(Mat2(0)))).any()
    assert glsl.determinant(Mat3(0)) == 0.0


def test_transpose_of_an_array_is_numpys():
    assert glsl.transpose(np.ones((2, 3))).shape == (3, 2)


def test_any_and_all_fold_bools():
    v = Vec3(1, 2, 3)
    assert glsl.any(v > 2) is True
    assert glsl.all(v > 2) is False
    assert glsl.all(True) is True
    assert glsl.any(x > 2 for x in [1, 2]) is False


# ---------------------------------------------------------------- what is not of the language


def test_arrays_are_left_to_numpy():
    a = np.array([[0.0, 1.0], [4.0, 9.0]])
    for result, expected in (
        (glsl.sqrt(a), np.sqrt(a)),
        (glsl.clamp(a, 1, 4), np.clip(a, 1, 4)),
        (glsl.mix(a, 0.0, 0.5), a / 2),
        (glsl.step(1.0, a), (a >= 1) * 1.0),
        (glsl.abs(-a), a),
    ):
        assert np.array_equal(result, expected)


def test_other_arguments_are_type_errors():
    for compute in (lambda: glsl.sqrt("a"), lambda: glsl.max(None, 1), lambda: glsl.sin(1, 2)):
        with pytest.raises(TypeError):
            compute()
