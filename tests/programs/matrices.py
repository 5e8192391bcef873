"""Matrices: PyGPU's own, and known ones of NumPy's of any small shape."""

import numpy as np

from programs.suite import Suite
from pygpu import Image, Mat2, Mat3, Mat4, Position, Vec2, Vec3, Vec4, glsl

program = Suite()

ROTATION = np.array([[0.0, -1.0], [1.0, 0.0]])
YUV = np.array([[0.299, 0.587, 0.114], [-0.147, -0.289, 0.436], [0.615, -0.515, -0.1]])


@program
def numpy_matrix_times_vector(vecs: Image, p: Position):
    return YUV @ vecs(p)


@program
def numpy_matrix_of_other_shapes(vecs: Image, flow: Image, p: Position):
    return YUV[:2] @ vecs(p), YUV.T[:, :2] @ flow(p)


@program
def numpy_matrix_row_times_vector(vecs: Image, p: Position):
    return YUV[0] @ vecs(p)


@program
def numpy_matrix_times_position(im: Image, p: Position):
    return ROTATION @ p + ROTATION @ (p + (0.5, 0.5))


@program
def mat_from_nested_lists(flow: Image, p: Position):
    return Mat2([[1, 2], [3, 4]]) @ flow(p)


@program
def mat_from_array(vecs: Image, p: Position):
    return Mat3(YUV) @ vecs(p)


@program
def mat_from_rows(im: Image, flow: Image, p: Position):
    return Mat2((im(p), 1.0), Vec2(2.0, im(p))) @ flow(p)


@program
def mat_product(im: Image, flow: Image, p: Position):
    a = Mat2((im(p), 1.0), (0.5, 2.0))
    b = Mat2((1.0, 2.0), (im(p), 0.0))
    return (a @ b) @ flow(p)


@program
def mat_transpose(im: Image, flow: Image, p: Position):
    a = Mat2((im(p), 1.0), (0.5, 2.0))
    return glsl.transpose(a) @ flow(p) + np.transpose(a) @ flow(p) + a.T @ flow(p)


@program
def mat_rows(im: Image, p: Position):
    a = Mat3((im(p), 1.0, 2.0), (3.0, im(p), 4.0), (5.0, 6.0, 7.0))
    return a[1], a[0][1] + a[2].z


@program
def mat_componentwise(im: Image, p: Position):
    a = Mat2((im(p), 1.0), (0.5, 2.0))
    b = a * 2 + a * a - a / 4
    return b[0], b[1]


@program
def mat_determinant_and_inverse(im: Image, flow: Image, p: Position):
    a = Mat2((im(p) + 4, 1.0), (0.5, 2.0))
    return glsl.determinant(a), glsl.inverse(a) @ flow(p)


@program
def mat_inverse_of_three(im: Image, vecs: Image, p: Position):
    a = Mat3((im(p) + 4, 1.0, 0.0), (0.5, 3.0, 1.0), (0.0, 0.25, 2.0))
    return glsl.determinant(a), glsl.inverse(a) @ vecs(p)


@program
def mat_of_four(rgba: Image, p: Position):
    a = Mat4(np.eye(4)) * 2
    return a @ rgba(p) + a[3]


@program
def mat_times_known_vector(im: Image, p: Position):
    return Mat2((im(p), 1.0), (2.0, 3.0)) @ (1.0, 2.0)


@program
def vector_times_matrix(vecs: Image, p: Position):
    return vecs(p) @ Mat3(YUV)


@program
def rotation_of_position(im: Image, p: Position):
    turn = Mat2((0.8, -0.6), (0.6, 0.8))
    return turn @ (p - (3, 2)) + (3, 2)


@program(m=Mat3(YUV))
def mat_uniform(vecs: Image, p: Position, m: Mat3):
    return m @ vecs(p)


@program
def mat_joined_at_branch(im: Image, flow: Image, p: Position):
    a = Mat2((1.0, 0.0), (0.0, 1.0))
    if im(p) > 0:
        a = Mat2((im(p), 1.0), (2.0, 0.5))
    return a @ flow(p)


@program
def mat_power_by_loop(counts: Image, p: Position):
    a, n = Mat2((1.0, 0.0), (0.0, 1.0)), counts(p)
    while n > 0:
        a = a @ Mat2((1.0, 1.0), (1.0, 0.0))
        n -= 1
    return a[0]


@program
def known_mat_arithmetic(flow: Image, p: Position):
    a = Mat2(((1, 2), (3, 4)))
    return (a @ a) @ flow(p), a @ Vec2(1, 2)


@program
def homogeneous_transform(vecs: Image, p: Position):
    m = Mat4([[1, 0, 0, 2], [0, 1, 0, 3], [0, 0, 1, 4], [0, 0, 0, 1]])
    return (m @ Vec4(vecs(p), 1.0)).xyz + Vec3(0.0, 0.0, 1.0)


@program
def mat_by_two_indices_and_slices(vecs: Image, counts: Image, p: Position):
    a, n = Mat3(vecs(p), (1, 2, 3), (4, 5, 6)), counts(p) % 3
    known = Mat3(YUV)
    parts = a[0, :], a[:, 1], a[1, :2], a[:, n], a[:2, :2] @ vecs(p).xy, a[1:, 0]
    return *parts, a[1, 2] + 10 * a[-1, -3], a[n, 1] + 10 * a[1, n], known[0, 2] + known[n, n]


@program
def mat_of_which_rows_are_stored(vecs: Image, counts: Image, p: Position):
    a, n = Mat3(vecs(p), (1, 2, 3), (4, 5, 6)), counts(p) % 3
    first = a[0]
    a[0] = 7, 8, vecs(p).z
    a[1, 2] = 9
    a[2, :2] = vecs(p).yx
    a[n, 0] += 20
    a[n] *= 2
    a[n].z = a[n][2] + 0.5
    if vecs(p).x > 0:
        a[1] = vecs(p)
    a[2], a[1] = a[1], Vec3(0.5)
    return first, a[0], a[1], a[2]


@program
def mat_of_known_numbers_whose_rows_are_stored(im: Image, p: Position):
    a = Mat2(ROTATION)
    for row in range(2):
        for column in range(2):
            a[row, column] += row + 10 * column
    first = a[0]
    a[0] = im(p)
    return first, a[1]


@program
def mats_compared(flow: Image, p: Position):
    a, b = Mat2(flow(p), (1, 2)), Mat2((1, 2), flow(p))
    once = a == a, a == Mat2(flow(p), (1, 2)), a != b, a == b, a == a.T
    return *once, a == [[1, 2], [3, 4]], np.ones(2) == a[1], a is None, a == 3, a != (1, 2)


@program
def mat_beside_nested_lists(flow: Image, p: Position):
    a = Mat2(flow(p), (1, 2))
    b = a + [[1, 2], [3, 4]]
    return (
        b[0],
        (((1, 2), (3, 4)) @ b) @ flow(p),
        (a @ np.ones((2, 2)))[0],
        (b - ((1, 0), (0, 1)))[1],
    )


@program
def numpys_functions_of_matrices(im: Image, p: Position):
    m = Mat2([[im(p), -1.5], [2.0, -im(p)]])
    rounded = np.round(m * 3, 1)
    return np.sin(m)[0], abs(m)[0, 1] + np.floor(m)[1, 1], rounded[0, 0], np.square(m) @ Vec2(1, 2)
