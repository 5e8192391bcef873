"""Vectors and positions as plain Python values, against NumPy's arrays."""

import copy
import math
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygpu.language.components import swizzle
from pygpu.language.scalars import Int
from pygpu.language.vectors import BVec2, BVec3, IVec2, IVec3, Position, UVec2, Vec2, Vec3, Vec4

ints = st.integers(-(2**31), 2**31 - 1)
floats = st.floats(-1e6, 1e6, width=32)
WRAPPING = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]


def same(actual, expected):
    """Whether two values are of one class and equal, NaN equal to itself."""
    return type(actual) is type(expected) and np.array_equal(
        np.asarray(actual), np.asarray(expected), equal_nan=np.asarray(actual).dtype.kind == "f"
    )


# ---------------------------------------------------------------- vectors: components


def test_vectors_are_built_from_any_mix():
    v = Vec2(1, 2)
    expected = Vec4(1, 2, 3, 4)
    for made in (
        Vec4(v, 3, 4),
        Vec4(v, (3, 4)),
        Vec4(1, [2, 3], 4),
        Vec4([1, 2, 3, 4]),
        Vec4(np.arange(1, 5)),
        Vec4(np.float32(1), np.array(2), IVec2(3, 4)),
        Vec4(Vec3(1, 2, 3), True * 4),
    ):
        assert same(made, expected)
    assert same(Vec3(0.5), Vec3(0.5, 0.5, 0.5))
    assert same(Vec2(Vec4(1, 2, 3, 4)), v)


@pytest.mark.parametrize(
    ("parts", "count"),
    [((), 0), ((1, 2), 2), ((Vec2(1, 2), 3, 4), 4), (([1],), 1), (([1] * 4,), 4)],
)
def test_wrong_numbers_of_components_are_counted(parts, count):
    with pytest.raises(TypeError, match=f"Vec3 takes 3 components, got {count}"):
        Vec3(*parts)


@pytest.mark.parametrize("part", ["abc", None, 1j, [[1, 2, 3]], np.ones((3, 3)), {1: 2}, ["a"] * 3])
def test_vectors_are_not_built_from_other_things(part):
    with pytest.raises(TypeError, match="Vec3 takes numbers, vectors"):
        Vec3(part)


def test_components_have_the_kind_of_the_vector():
    assert [type(c) for c in Vec2(1, True)] == [float, float]
    assert [type(c) for c in IVec2(1.9, True)] == [Int, Int]
    assert [type(c) for c in BVec2(1, 0.0)] == [bool, bool]
    assert same(IVec2(1.9, -1.9), IVec2(1, -1))
    with pytest.raises(OverflowError):
        IVec2(2**32, 0)


@pytest.mark.parametrize("letters", ["xyzw", "rgba", "stpq"])
def test_swizzles_read_in_each_set_of_letters(letters):
    v = Vec4(1, 2, 3, 4)
    assert [getattr(v, letter) for letter in letters] == [1, 2, 3, 4]
    assert same(getattr(v, letters[2] + letters[0]), Vec2(3, 1))
    assert same(getattr(v, letters[1] * 3), Vec3(2, 2, 2))
    assert same(getattr(v, letters[::-1]), Vec4(4, 3, 2, 1))


def test_swizzles_write():
    c = Vec4(1, 2, 3, 4)
    c.rgb = (5, 6, 7)
    c.w = 8
    assert same(c, Vec4(5, 6, 7, 8))
    c.xy = c.yx
    assert same(c, Vec4(6, 5, 7, 8))
    c.zw += 1
    assert same(c, Vec4(6, 5, 8, 9))
    c.st = 0
    assert same(c, Vec4(0, 0, 8, 9))


@pytest.mark.parametrize("name", ["w", "xr", "xyzxy", "foo", "shape", "xw"])
def test_other_attributes_say_what_there_is(name):
    v = Vec3(1, 2, 3)
    with pytest.raises(AttributeError, match="x, y, z; r, g, b; s, t, p"):
        getattr(v, name)
    with pytest.raises(AttributeError, match="x, y, z; r, g, b; s, t, p"):
        setattr(v, name, 1)
    assert not hasattr(v, name)


def test_writing_a_component_twice_is_an_error():
    with pytest.raises(AttributeError, match="twice"):
        Vec3(1, 2, 3).xx = (1, 2)


def test_writing_never_narrows():
    with pytest.raises(TypeError, match=r"IVec2 holds ints, cannot take 0\.5"):
        IVec2(1, 2).x = 0.5
    with pytest.raises(TypeError, match="BVec2 holds bools, cannot take 1"):
        BVec2(True, False)[0] = 1
    with pytest.raises(OverflowError):
        IVec2(1, 2).x = 2**32
    with pytest.raises(TypeError, match="3 components where 2 are needed"):
        Vec4(1, 2, 3, 4).xy = (1, 2, 3)
    with pytest.raises(TypeError, match="cannot take 'a'"):
        Vec2(1, 2).x = "a"


def test_indexing_iterating_and_unpacking():
    v = Vec3(1, 2, 3)
    x, *rest = v
    assert (len(v), list(v), x, rest) == (3, [1, 2, 3], 1, [2, 3])
    assert (v[0], v[-1], v[Int(1)], v[np.int64(2)]) == (1, 3, 2, 3)
    assert same(v[1:], Vec2(2, 3))
    v[0], v[-1] = 5, 6
    v[:2] = v[1::-1]
    assert same(v, Vec3(2, 5, 6))
    with pytest.raises(IndexError, match="3"):
        v[3]
    with pytest.raises(IndexError):
        v[-4] = 1
    with pytest.raises(TypeError, match="2 to 4"):
        v[:1]


def test_a_vector_is_a_reference_and_in_place_arithmetic_rebinds():
    a = Vec2(1, 2)
    b = a
    b.x = 5
    assert a.x == 5
    b += 1
    assert same(a, Vec2(5, 2))
    assert same(b, Vec2(6, 3))


def test_swizzle_gives_the_indices_of_components():
    assert swizzle("bgr", 3) == (2, 1, 0)


# ---------------------------------------------------------------- vectors: operators


ARITHMETIC = [
    operator.add,
    operator.sub,
    operator.mul,
    operator.truediv,
    operator.floordiv,
    operator.mod,
    operator.pow,
]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]


@pytest.mark.parametrize("op", ARITHMETIC + COMPARISONS)
@given(a=st.tuples(floats, floats, floats), b=st.tuples(floats, floats, floats))
def test_float_vectors_compute_as_numpy(op, a, b):
    with np.errstate(all="ignore"):
        expected = op(np.array(a), np.array(b))
    v, w = Vec3(a), Vec3(b)
    for result in (op(v, w), op(v, b), op(a, w), op(v, list(b)), op(np.array(a), w)):
        assert type(result) is (BVec3 if op in COMPARISONS else Vec3)
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-12)


@pytest.mark.parametrize("op", [*WRAPPING, *COMPARISONS])
@given(a=st.tuples(ints, ints), b=st.tuples(ints, ints))
def test_integer_vectors_wrap_as_numpys_int32(op, a, b):
    expected = op(np.array(a, np.int32), np.array(b, np.int32)).tolist()
    v, w = IVec2(a), IVec2(b)
    for result in (op(v, w), op(v, b), op(a, w), op(v, np.array(b)), op(np.array(a), w)):
        assert type(result) is (BVec2 if op in COMPARISONS else IVec2)
        assert list(result) == expected


@pytest.mark.parametrize("op", ARITHMETIC)
def test_numbers_are_taken_for_every_component_on_either_side(op):
    for number in (3, 3.0, True, Int(3), np.int64(3), np.float32(3), np.float64(3), np.array(3)):
        assert same(op(Vec2(5, 7), number), op(Vec2(5, 7), Vec2(number)))
        assert same(op(number, Vec2(5, 7)), op(Vec2(number), Vec2(5, 7)))


def test_kinds_widen():
    assert same(IVec2(1, 2) + 0.5, Vec2(1.5, 2.5))
    assert same(IVec2(1, 2) / 2, Vec2(0.5, 1))
    assert same(IVec2(7, -7) // 2, IVec2(3, -4))
    assert same(BVec2(True, False) + BVec2(True, True), IVec2(2, 1))
    assert same(-BVec2(True, False), IVec2(-1, 0))
    assert same(IVec2(1, 2) * (0.5, 1), Vec2(0.5, 2))
    assert same(abs(Vec2(-1, 2)), Vec2(1, 2))
    assert same(+IVec2(1, 2), IVec2(1, 2))


def test_bits_of_integers_and_logic_of_bools():
    a, b = BVec2(True, False), BVec2(True, True)
    assert same(a & b, BVec2(True, False))
    assert same(a | True, BVec2(True, True))
    assert same(a ^ b, BVec2(False, True))
    assert same(~a, BVec2(False, True))
    assert same(~IVec2(1, 2), IVec2(-2, -3))
    assert same(1 << IVec2(1, 33), IVec2(2, 0))
    assert same(IVec2(-8, 8) >> 1, IVec2(-4, 4))
    assert same(IVec2(6, 5) & 0xFFFFFFFE, UVec2(6, 4))
    with pytest.raises(TypeError):
        Vec2(1, 2) & 1


def test_floats_follow_ieee_where_python_raises():
    v = Vec3(1, 0, -1)
    assert same(v / 0, Vec3(math.inf, math.nan, -math.inf))
    assert same(IVec3(1, 0, -1) / 0, Vec3(math.inf, math.nan, -math.inf))
    assert same(v % 0.0, Vec3(math.nan))
    assert same(v**-1, Vec3(1, math.inf, -1))
    assert same(Vec2(-8, 10) ** Vec2(0.5, 1000), Vec2(math.nan, math.inf))
    with pytest.raises(ZeroDivisionError):
        IVec2(1, 2) // 0


def test_divmod_and_pow_are_the_builtins():
    assert [tuple(part) for part in divmod(Vec2(7, -7), 2)] == [(3, -4), (1, 1)]
    assert [tuple(part) for part in divmod(7, Vec2(2, 4))] == [(3, 1), (1, 3)]
    assert same(pow(Vec2(2, 3), 2), Vec2(4, 9))


def test_comparison_gives_a_bool_for_each_component():
    v = Vec3(1, 2, 3)
    assert same(v == (1, 2, 4), BVec3(True, True, False))
    assert same(v != v, BVec3(False, False, False))
    assert same(v > 2, BVec3(False, False, True))
    assert all(v == [1, 2, 3])
    assert any(v > 2)
    nan = Vec2(math.nan, 1)
    assert same(nan != nan, BVec2(True, False))
    assert (v == None) is False  # noqa: E711
    assert (v != "abc") is True


@pytest.mark.parametrize(
    "use", [bool, lambda v: max(v, v + 1), lambda v: v in [v + 1], lambda v: not v]
)
def test_the_truth_of_a_vector_is_an_error_that_names_what_works(use):
    with pytest.raises(ValueError, match=r"all\(\) or any\(\).*np\.maximum"):
        use(Vec2(1, 2))


@pytest.mark.parametrize("other", [Vec2(1, 2), (1, 2), [1, 2, 3, 4], np.arange(2), ()])
def test_operands_of_other_sizes_are_counted(other):
    for compute in (lambda: Vec3(1, 2, 3) + other, lambda: other * Vec3(1, 2, 3)):
        with pytest.raises(TypeError, match=r"\d components where \d are needed"):
            compute()


@pytest.mark.parametrize("other", ["abc", None, 1j, {1: 2}, ["a", "b", "c"], [[1], [2], [3]]])
def test_other_operands_are_type_errors(other):
    with pytest.raises(TypeError, match="unsupported operand"):
        Vec3(1, 2, 3) + other
    with pytest.raises(TypeError):
        other - Vec3(1, 2, 3)


def test_operands_may_define_the_operator_themselves():
    class Other:
        def __radd__(self, other):
            return "radd"

    assert Vec2(1, 2) + Other() == "radd"


def test_vectors_are_not_hashable():
    with pytest.raises(TypeError, match="unhashable"):
        hash(Vec2(1, 2))


@pytest.mark.parametrize("v", [Vec3(1, 2.5, 3), IVec2(1, -2), BVec2(True, False), Position(3, 4)])
def test_vectors_print_copy_and_pickle(v):
    assert same(eval(repr(v)), v)
    for other in (copy.copy(v), copy.deepcopy(v), pickle.loads(pickle.dumps(v))):
        assert same(other, v)
        assert other is not v
    assert repr(Vec2(1, 2)) == "Vec2(1.0, 2.0)"


# ---------------------------------------------------------------- vectors in NumPy


def test_vectors_become_arrays():
    assert np.asarray(Vec3(1, 2, 3)).dtype == np.float64
    assert np.asarray(IVec3(1, 2, 3)).dtype == np.int32
    assert np.asarray(BVec2(True, False)).dtype == np.bool_
    assert np.array([Vec2(1, 2), Vec2(3, 4)]).tolist() == [[1, 2], [3, 4]]
    assert np.asarray(Vec2(1, 2), dtype=np.float32).dtype == np.float32


def test_numpys_ufuncs_give_vectors():
    v = Vec3(1, -2.5, 4)
    assert same(np.sqrt(abs(v)), Vec3(1, math.sqrt(2.5), 2))
    assert same(np.floor(v), Vec3(1, -3, 4))
    assert same(np.floor(IVec2(1, 2)), Vec2(1, 2))
    assert same(np.rint(v), Vec3(1, -2, 4))
    assert same(np.abs(IVec2(-1, 2)), IVec2(1, 2))
    assert same(np.maximum(v, (0, 0, 9)), Vec3(1, 0, 9))
    assert same(np.minimum(IVec2(1, 5), 3), IVec2(1, 3))
    assert same(np.arctan2(v, 1.0), Vec3(*(math.atan2(c, 1) for c in v)))
    assert same(np.isnan(v), BVec3(False, False, False))
    assert same(np.multiply(IVec2(2**30, 1), 4), IVec2(0, 4))
    assert same(np.logical_and(v > 0, True), BVec3(True, False, True))
    assert same(np.float64(2) * v, Vec3(2, -5, 8))


def test_numpys_functions_give_vectors_and_numbers():
    v = Vec3(1, 2, 6)
    assert same(np.sum(v), 9.0)
    assert same(np.mean(v), 3.0)
    assert same(np.sum(IVec2(2**31 - 1, 1)), Int(-(2**31)))
    assert same(np.dot(v, (1, 1, 1)), 9.0)
    assert same(np.clip(v, 1.5, 5), Vec3(1.5, 2, 5))
    assert same(np.where(v > 1, v, 0), Vec3(0, 2, 6))
    assert same(np.cross(v, Vec3(1, 0, 0)), Vec3(0, 6, -2))
    assert same(np.all(v > 0), True)
    assert same(np.linalg.norm(Vec2(3, 4)), 5.0)
    assert same(np.round(Vec2(0.5, 1.5)), Vec2(0, 2))
    assert np.stack([Vec2(1, 2), Vec2(3, 4)]).tolist() == [[1, 2], [3, 4]]


def test_arrays_of_more_dimensions_broadcast_to_arrays():
    pixels = np.ones((2, 2, 3))
    for result in (pixels * Vec3(1, 2, 3), Vec3(1, 2, 3) * pixels):
        assert type(result) is np.ndarray
        assert result[1, 1].tolist() == [1, 2, 3]
    pixels += Vec3(1, 2, 3)
    assert type(pixels) is np.ndarray
    row = np.zeros(3)
    row += Vec3(1, 2, 3)
    assert type(row) is np.ndarray
    assert row.tolist() == [1, 2, 3]


def test_matmul_of_vectors_is_the_sum_of_products():
    assert Vec3(1, 2, 3) @ Vec3(1, 1, 1) == 6
    assert Vec3(1, 2, 3) @ (1, 1, 1) == [1, 1, 1] @ Vec3(1, 2, 3) == 6
    assert same(np.ones((2, 3)) @ Vec3(1, 2, 3), Vec2(6, 6))
    assert same(Vec2(1, 2) @ np.ones((2, 3)), Vec3(3, 3, 3))
    assert (np.ones((5, 3)) @ Vec3(1, 2, 3)).tolist() == [6] * 5
    with pytest.raises(TypeError):
        Vec2(1, 2) @ 3


# ---------------------------------------------------------------- positions


def test_a_position_is_a_pair_of_ints():
    p = Position(10, 20)
    x, y = p
    assert (p.x, p.y, x, y, len(p), p[0]) == (10, 20, 10, 20, 2, 10)
    assert type(p.x) is type(y) is Int
    assert isinstance(p, IVec2)
    assert repr(p) == "Position(10, 20)"
    assert same(Position((10, 20)), p)
    p.x += 1
    assert same(p, Position(11, 20))


@pytest.mark.parametrize("other", [Position(1, 2), IVec2(1, 2), (1, 2), [1, 2], np.array([1, 2])])
def test_positions_and_integers_give_positions(other):
    assert same(Position(10, 20) + other, Position(11, 22))
    assert same(other + Position(10, 20), Position(11, 22))
    assert same(Position(10, 20) // 3 * 3, Position(9, 18))
    assert same(-Position(1, 2).yx, Position(-2, -1))


@pytest.mark.parametrize("other", [Vec2(0.5, 2), (0.5, 2), [0.5, 2], np.array([0.5, 2])])
def test_positions_and_floats_give_pairs_of_floats(other):
    assert same(Position(10, 20) + other, Vec2(10.5, 22))
    assert same(other + Position(10, 20), Vec2(10.5, 22))
    assert same(Position(1, 2) * 0.5, Vec2(0.5, 1))
    assert same(Position(1, 2) / 2, Vec2(0.5, 1))


def test_a_position_of_floats_is_a_pair_of_floats():
    assert same(Position(1.5, 2), Vec2(1.5, 2))
    assert same(Position(Vec2(1, 2)), Vec2(1, 2))
    with pytest.raises(TypeError, match="Position holds ints"):
        Position(1, 2).x = 0.5
