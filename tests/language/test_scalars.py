"""Int, which wraps to 32 bits as NumPy's int32 does; Float and Bool."""

import copy
import math
import operator
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pygpu.language.scalars import Bool, Float, Int, UInt

ints = st.integers(-(2**31), 2**31 - 1)
words = st.integers(-(2**31), 2**32 - 1)


def same(actual, expected):
    """Whether two values are of one class and equal, NaN equal to itself."""
    return type(actual) is type(expected) and np.array_equal(
        np.asarray(actual), np.asarray(expected), equal_nan=np.asarray(actual).dtype.kind == "f"
    )


def int32(value):
    return np.array(value % 2**32, np.uint32).astype(np.int32)


WRAPPING = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]


@pytest.mark.parametrize("op", WRAPPING)
@given(a=ints, b=words)
def test_int_arithmetic_wraps_as_numpys_int32(op, a, b):
    expected = int(op(int32(a)[None], int32(b)[None])[0])
    assert op(Int(a), b) == expected % 2**32
    assert op(Int(a), Int(b)) == expected
    assert op(b, Int(a)) == int(op(int32(b)[None], int32(a)[None])[0]) % 2**32
    kind = UInt if op is operator.and_ and b >= 2**31 else Int
    assert type(op(Int(a), b)) is type(op(b, Int(a))) is kind


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod])
@given(a=ints, b=ints.filter(bool))
def test_int_division_floors_and_wraps(op, a, b):
    expected = int(int32(op(a, b)))
    assert op(Int(a), b) == op(a, Int(b)) == op(Int(a), Int(b)) == expected


@given(a=ints, count=st.integers(0, 40))
def test_int_shifts_keep_32_bits(a, count):
    assert Int(a) << count == int(int32(a << count))
    assert Int(a) >> count == a >> count
    assert type(Int(a) << count) is type(a << Int(count)) is Int


@given(a=ints, exponent=st.integers(0, 200))
def test_int_power_wraps(a, exponent):
    assert Int(a) ** exponent == a ** Int(exponent) == int(int32(a**exponent))


@given(a=ints)
def test_int_signs_wrap(a):
    assert (-Int(a), abs(Int(a)), ~Int(a)) == tuple(int(int32(x)) for x in (-a, abs(a), ~a))
    assert type(-Int(a)) is type(+Int(a)) is type(round(Int(a))) is Int


@given(a=ints, b=ints.filter(bool))
def test_int_divmod_and_true_division_are_pythons(a, b):
    assert divmod(Int(a), b) == (Int(a) // b, Int(a) % b)
    assert divmod(a, Int(b)) == (a // Int(b), a % Int(b))
    assert Int(a) / b == a / Int(b) == a / b


def test_int_hash_of_integers_agrees_with_uint32():
    h = Int(2166136261)
    u = 2166136261
    for byte in b"PyGPU":
        h = (h ^ byte) * 16777619
        u = ((u ^ byte) * 16777619) % 2**32
    assert h == int(int32(u))
    assert h & 0xFFFFFFFF == u


def test_order_is_that_of_the_integers() -> None:
    h = Int(0xDEADBEEF)
    assert h < 0
    assert Int(-2) < 0xFFFFFFFF
    assert not Int(-(2**31)) >= 2**31
    assert not Int(5) > 0x80000000
    assert Int(5) < 10**12 > Int(-5)
    assert min(Int(7), 2**31) == 7
    assert max(Int(-7), -(2**40)) == -7


def test_equality_takes_other_integers_modulo_two_to_the_32() -> None:
    h = Int(0xDEADBEEF)
    h = Int(0xDEADBEEF)
    assert h == 0xDEADBEEF
    assert h == np.int64(0xDEADBEEF)
    assert Int(3) == 3.0
    assert Int(3) < 3.5
    assert Int(3) != "3"
    with pytest.raises(OverflowError):
        Int(3) == 2**32  # noqa: B015


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 3e9, -3e9, math.inf])
def test_int_refuses_what_needs_more_than_32_bits(value):
    with pytest.raises(OverflowError):
        Int(value)


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 10**30])
@pytest.mark.parametrize("op", [*WRAPPING, operator.floordiv, operator.lshift, operator.pow])
def test_int_refuses_operands_of_more_than_32_bits(op, value):
    with pytest.raises(OverflowError, match=f"{value} needs more than 32 bits"):
        op(Int(1), value)


# ---------------------------------------------------------------- UInt

uints = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize("op", WRAPPING)
@given(a=uints, b=words)
def test_uint_arithmetic_wraps_as_numpys_uint32(op, a, b):
    expected = int(op(np.array([a], np.uint32), np.array([b % 2**32], np.uint32))[0])
    other = np.array([b % 2**32], np.uint32), np.array([a], np.uint32)
    for result in (op(UInt(a), b), op(UInt(a), Int(b)), op(UInt(a), UInt(b))):
        assert type(result) is UInt
        assert int(result) == expected
    assert op(b, UInt(a)) == op(Int(b), UInt(a)) == int(op(*other)[0])


@pytest.mark.parametrize("op", [operator.floordiv, operator.mod, operator.truediv, divmod])
@given(a=uints, b=uints.filter(bool))
def test_uint_division_is_that_of_the_numbers(op, a, b):
    assert op(UInt(a), b) == op(a, UInt(b)) == op(UInt(a), UInt(b)) == op(a, b)


@given(a=uints, count=st.integers(0, 40))
def test_uint_shifts_bring_zeros(a, count):
    assert UInt(a) >> count == a >> count
    assert UInt(a) << count == (a << count) % 2**32
    assert type(UInt(a) >> Int(count)) is type(UInt(a) << count) is UInt


@given(a=ints, count=st.integers(0, 31))
def test_shifts_are_of_the_kind_of_what_is_shifted(a, count):
    assert type(Int(a) >> UInt(count)) is type(Int(a) << UInt(count)) is Int
    assert Int(a) >> UInt(count) == a >> count
    assert int(1 << UInt(count)) == 2**count


@pytest.mark.parametrize(
    "op", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne]
)
@given(a=uints, b=words)
def test_comparisons_of_uints_are_exact(op, a, b):
    signed = Int(b)
    assert op(UInt(a), b) is op(a, b)
    assert op(b, UInt(a)) is op(b, a)
    assert op(UInt(a), signed) is op(a, int(signed))
    assert op(signed, UInt(a)) is op(int(signed), a)


@given(a=uints)
def test_uint_signs_wrap(a):
    assert (-UInt(a), abs(UInt(a)), ~UInt(a)) == (-a % 2**32, a, 2**32 - 1 - a)
    assert type(-UInt(a)) is type(round(UInt(a))) is type(~UInt(a)) is UInt


@given(a=words, b=st.integers(0, 10000), m=words.filter(bool))
def test_power_with_a_modulus_is_exact(a, b, m):
    signed = int(int32(a))
    assert int(pow(Int(a), Int(b), m)) == pow(signed, b, m)
    assert int(pow(UInt(a), b, m % 2**32)) == pow(a % 2**32, b, m % 2**32)
    assert type(pow(UInt(a), b, m % 2**32)) is UInt


def test_masks_and_uint32_make_uints():
    for made in (
        Int(-1) & 0xFFFFFFFF,
        0x80000000 & Int(-1),
        Int(-1) % 2**32,
        np.uint32(7) * Int(3),
        Int(3) ^ np.uint32(7),
        np.bitwise_and(Int(-1), 0xFFFFFFFF),
        np.maximum(UInt(7), 3),
        sum([UInt(1), UInt(2)]),
    ):
        assert type(made) is UInt
    assert type(Int(-1) & 0x7FFFFFFF) is Int
    assert int(UInt(2**32 - 1)) == 2**32 - 1
    assert UInt(-1) == 2**32 - 1
    assert Int(UInt(2**32 - 1)) == -1
    assert (UInt(2.9), UInt("12"), UInt(True), UInt()) == (2, 12, 1, 0)


@pytest.mark.parametrize("value", [2**32, -(2**31) - 1, 5e9, -1.5, math.inf])
def test_uint_refuses_what_needs_more_than_32_bits(value):
    with pytest.raises(OverflowError):
        UInt(value)


def test_quotients_that_are_no_integer_of_32_bits_are_refused():
    with pytest.raises(OverflowError, match="has no sign"):
        UInt(7) // -2
    with pytest.raises(OverflowError, match="does not fit"):
        4000000000 // Int(1)
    assert Int(-7) // 0x80000000 == -1
    assert Int(-7) % 0x80000000 == 2**31 - 7
    assert Int(-7) % 0xFFFFFFF0 == 0xFFFFFFF0 - 7


def test_hashes_written_with_masks_are_those_of_python():
    def wang(key):
        key = (~key + (key << 21)) & 0xFFFFFFFF
        key = key ^ (key >> 24)
        key = (key * 265) & 0xFFFFFFFF
        return key ^ (key >> 14)

    for key in (0, 1, 77, 2**31 - 1):
        assert int(wang(Int(key))) == int(wang(UInt(key))) == wang(key)


def test_int_with_floats_gives_floats():
    for result in (
        Int(3) + 0.5,
        0.5 + Int(3),
        Int(7) / 2,
        Int(2) ** -1,
        Int(2) ** 0.5,
        2.0 ** Int(3),
    ):
        assert type(result) is float


def test_int_converts_as_int_does():
    assert (Int(2.9), Int(-2.9), Int("12"), Int(True), Int()) == (2, -2, 12, 1, 0)
    assert type(int(Int(3))) is type(math.floor(Int(3))) is int
    assert repr(Int(3)) == f"{Int(3)}" == "3"
    assert hash(Int(-3)) == hash(-3)
    assert {3: "three"}[Int(3)] == "three"
    assert [10, 20][Int(1)] == 20
    assert type(copy.deepcopy(Int(3))) is type(pickle.loads(pickle.dumps(Int(3)))) is Int
    assert type(sum([Int(1), Int(2)])) is Int


@pytest.mark.parametrize("kind", [np.int64, np.int32, np.uint8, np.bool_])
def test_int_wraps_with_numpys_integers_on_either_side(kind):
    one = kind(1)
    for result in (one + Int(2**31 - 1), Int(2**31 - 1) + one):
        assert type(result) is Int
        assert result == -(2**31)
    assert (one < Int(2)) is (Int(2) > one) is (Int(1) == one) is True


def test_int_goes_through_numpys_functions():
    assert same(np.sqrt(Int(9)), 3.0)
    assert same(np.floor(Int(3)), 3.0)
    assert same(np.maximum(Int(3), 5), Int(5))
    assert np.float32(2) * Int(3) == 6.0
    assert (np.arange(3) + Int(1)).tolist() == [1, 2, 3]
    assert np.array([Int(1), Int(2)]).dtype.kind == "i"
    total = np.arange(3)
    total += Int(1)
    assert total.tolist() == [1, 2, 3]


def test_float_and_bool_give_pythons_values():
    assert type(Float(3)) is float
    assert type(Bool(3)) is bool
