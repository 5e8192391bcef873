"""Matrices as plain Python values, against NumPy's arrays."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pygpu
from pygpu.language.matrices import MATRICES, Mat2, Mat3, Mat4
from pygpu.language.vectors import (
    IVec4,
    Position,
    Vec2,
    Vec3,
    Vec4,
)

floats = st.floats(-1e6, 1e6, width=32)


def same(actual, expected):
    """Whether two values are of one class and equal, NaN equal to itself."""
    return type(actual) is type(expected) and np.array_equal(
        np.asarray(actual), np.asarray(expected), equal_nan=np.asarray(actual).dtype.kind == "f"
    )


@pytest.mark.parametrize("size", [2, 3, 4])
def test_matrices_are_built_from_rows_lists_arrays_and_numbers(size):
    cls = MATRICES[size]
    array = np.arange(size * size, dtype=float).reshape(size, size)
    expected = cls(array)
    rows = array.tolist()
    for made in (
        cls(rows),
        cls(*rows),
        cls(tuple(rows)),
        cls(*array),
        cls(expected),
        cls(*expected),
    ):
        assert same(made, expected)
    assert same(cls(2), cls(np.eye(size) * 2))
    assert same(
        Mat2(Mat4(array)) if size == 4 else Mat2(2), Mat2([0, 1], [4, 5]) if size == 4 else Mat2(2)
    )


@pytest.mark.parametrize(
    "parts", [(), (1, 2, 3, 4), ([1, 2],), ([1, 2], [3, 4], [5, 6]), ("ab",), (1, 2)]
)
def test_matrices_say_what_they_are_built_from(parts):
    with pytest.raises(TypeError, match="Mat2 takes 2 rows of 2 numbers"):
        Mat2(*parts)
    with pytest.raises(TypeError, match="takes 2 components, got 3"):
        Mat2([1, 2, 3], [4, 5, 6])


def test_rows_are_references():
    M = Mat2([1, 2], [3, 4])
    row = M[0]
    row.x = 5
    M[0].y = 6
    M[1] = (7, 8)
    M[-1, 1] = 9
    M[0][0] += 1
    assert same(M, Mat2([6, 6], [7, 9]))
    assert [tuple(row) for row in M] == [(6, 6), (7, 9)]
    assert (len(M), M[1, 0], M[1][0]) == (2, 7, 7)
    assert same(M[:, 1], Vec2(6, 9))
    with pytest.raises(IndexError):
        M[2]


def test_a_matrix_holds_rows_of_its_own():
    row = Vec2(1, 2)
    M = Mat2(row, row)
    row.x = 5
    M[0].y = 7
    assert same(M, Mat2([1, 7], [1, 2]))


@given(a=st.lists(floats, min_size=9, max_size=9), b=st.lists(floats, min_size=9, max_size=9))
def test_matrix_products_are_numpys(a, b):
    a, b = np.reshape(a, (3, 3)), np.reshape(b, (3, 3))
    M, N, v = Mat3(a), Mat3(b), Vec3(b[0])
    for result, kind, expected in (
        (M @ N, Mat3, a @ b),
        (M @ b, Mat3, a @ b),
        (a @ N, Mat3, a @ b),
        (M @ v, Vec3, a @ b[0]),
        (M @ tuple(v), Vec3, a @ b[0]),
        (a @ v, Vec3, a @ b[0]),
        (v @ M, Vec3, b[0] @ a),
        (b[0] @ M, Vec3, b[0] @ a),
        (M * N, Mat3, a * b),
        (a * N, Mat3, a * b),
        (M + 1, Mat3, a + 1),
        (1 - M, Mat3, 1 - a),
        (-M, Mat3, -a),
        (M.T, Mat3, a.T),
        (np.transpose(M), Mat3, a.T),
        (abs(M), Mat3, abs(a)),
    ):
        assert type(result) is kind
        np.testing.assert_allclose(np.asarray(result), expected, rtol=1e-9, atol=1e-3)


def test_matrices_compare_as_a_whole():
    M = Mat2([1, 2], [3, 4])
    assert Mat2([1, 2], [3, 4]) == M
    assert M == [[1, 2], [3, 4]]
    assert np.eye(2) != M
    assert Mat3(1) != M
    assert M != 3
    with pytest.raises(ValueError, match="truth"):
        bool(M)


def test_matrices_refuse_componentwise_products_with_vectors():
    for compute in (lambda: Mat2(1) * Vec2(1, 2), lambda: Vec2(1, 2) * Mat2(1)):
        with pytest.raises(TypeError, match="the matrix product is @"):
            compute()
    for function in (lambda p, m: m * Vec2(p), lambda p, m: Vec2(p) * m):
        compiled = pygpu.compile(function, p=Position, m=Mat2)
        with pytest.raises(pygpu.CompileError, match="the matrix product is @"):
            compiled(shape=(2, 2), m=Mat2(1))
    with pytest.raises(TypeError, match=r"shape \(3, 3\) where \(2, 2\)"):
        Mat2(1) + Mat3(1)
    with pytest.raises(TypeError, match="3 components where 2"):
        Mat2(1) @ Vec3(1, 2, 3)


def test_matrices_print_copy_pickle_and_divide_as_ieee():
    M = Mat2([1, 2], [3, 4])
    assert repr(M) == "Mat2((1.0, 2.0), (3.0, 4.0))"
    for other in (eval(repr(M)), copy.deepcopy(M), pickle.loads(pickle.dumps(M))):
        assert same(other, M)
    assert same(Mat2(1) / 0, Mat2([math.inf, math.nan], [math.nan, math.inf]))
    assert same(np.linalg.inv(Mat2(2)), Mat2(0.5))


def test_matrices_transform_positions():
    assert same(Mat2([0, -1], [1, 0]) @ Position(3, 4), Vec2(-4, 3))
    assert same(Mat3(2) @ Vec3(Position(3, 4), 1), Vec3(6, 8, 2))
    assert same(IVec4(1, 2, 3, 4) @ Mat4(2), Vec4(2, 4, 6, 8))


def test_a_row_of_one_number_is_no_row() -> None:
    with pytest.raises(TypeError, match="Mat2 takes 2 rows of 2 numbers"):
        Mat2([[1, 2], [3]])
    with pytest.raises(TypeError, match="Mat2 takes 2 rows of 2 numbers"):
        pygpu.compile(lambda p: Mat2([[p.x, 2], [3]])[1, 1], p=Position)(shape=(2, 2))
