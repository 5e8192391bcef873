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
