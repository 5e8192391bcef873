"""The functions of GLSL, on scalars, vectors and known values."""

import numpy as np

import pygpu
from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3, glsl, offsets

program = Suite()


@program
def glsl_angles(im: Image, vecs: Image, p: Position):
    return glsl.radians(im(p)), glsl.degrees(vecs(p))


@program
def glsl_trigonometry(im: Image, vecs: Image, p: Position):
    return glsl.sin(im(p)), glsl.cos(vecs(p)), glsl.tan(vecs(p) / 2)


@program
def glsl_inverse_trigonometry(im: Image, vecs: Image, p: Position):
    return glsl.asin(im(p) / 2), glsl.acos(vecs(p) / 2), glsl.atan(vecs(p))


@program
def glsl_atan_of_two(im: Image, other: Image, p: Position):
    return glsl.atan(im(p), other(p) + 0.01)


@program
def glsl_hyperbolic(im: Image, vecs: Image, p: Position):
    return glsl.sinh(im(p)), glsl.cosh(vecs(p)), glsl.tanh(vecs(p))


@program
def glsl_inverse_hyperbolic(im: Image, unit: Image, p: Position):
    return glsl.asinh(im(p)), glsl.acosh(unit(p) + 1), glsl.atanh(im(p) / 3)


@program
def glsl_pow(unit: Image, im: Image, p: Position):
    return glsl.pow(unit(p), im(p)), glsl.pow(Vec2(unit(p), 2.0), Vec2(2.0, im(p)))


@program
def glsl_exponentials(im: Image, vecs: Image, p: Position):
    return glsl.exp(im(p)), glsl.exp2(vecs(p))


@program
def glsl_logarithms(unit: Image, p: Position):
    return glsl.log(unit(p)), glsl.log2(Vec2(unit(p), 3.0))


@program
def glsl_roots(unit: Image, p: Position):
    return glsl.sqrt(unit(p)), glsl.inversesqrt(Vec2(unit(p), 4.0))


@program
def glsl_abs_sign(im: Image, vecs: Image, p: Position):
    return glsl.abs(im(p)), glsl.sign(vecs(p)), glsl.abs(vecs(p))


@program
def glsl_rounding(im: Image, vecs: Image, p: Position):
    v = vecs(p) * 3
    return glsl.floor(v), glsl.ceil(v), glsl.trunc(v), glsl.round(im(p) * 2)


@program
def glsl_floor_is_float(im: Image, p: Position):
    return glsl.floor(im(p)) / 2, glsl.fract(im(p)), glsl.fract(im(p) - 5)


@program
def glsl_mod(im: Image, vecs: Image, p: Position):
    return glsl.mod(im(p), 0.75), glsl.mod(vecs(p), 0.5), glsl.mod(vecs(p), Vec3(0.5, 0.75, 1.0))


@program
def glsl_min_max(im: Image, vecs: Image, p: Position):
    return glsl.min(im(p), 0.5), glsl.max(vecs(p), 0.25), glsl.max(vecs(p), vecs(p + (1, 0)))


@program
def glsl_clamp(im: Image, vecs: Image, p: Position):
    return glsl.clamp(im(p), -0.5, 0.5), glsl.clamp(vecs(p), 0.0, Vec3(0.25, 0.5, 1.0))


@program
def glsl_mix(im: Image, vecs: Image, p: Position):
    return glsl.mix(1.0, 3.0, im(p)), glsl.mix(vecs(p), Vec3(1.0), 0.25), pygpu.mix(0, im(p), 0.5)


@program
def glsl_mix_by_bool(im: Image, vecs: Image, p: Position):
    return glsl.mix(vecs(p), Vec3(0.0), vecs(p) > 0), glsl.mix(1.0, 2.0, im(p) > 0)


@program
def glsl_step(im: Image, vecs: Image, p: Position):
    return glsl.step(0.5, im(p)), glsl.step(0.0, vecs(p)), glsl.step(vecs(p), Vec3(0.25))


@program
def glsl_smoothstep(im: Image, vecs: Image, p: Position):
    return glsl.smoothstep(-1.0, 1.0, im(p)), glsl.smoothstep(0.0, 0.5, vecs(p))


@program
def glsl_classification(im: Image, p: Position):
    v = im(p) if im(p) > 0 else float("nan")
    return glsl.isnan(v), glsl.isinf(v)


@program
def glsl_length_distance(vecs: Image, p: Position):
    return glsl.length(vecs(p)), glsl.distance(vecs(p), vecs(p + (1, 0)))


@program
def glsl_dot_cross(vecs: Image, p: Position):
    v, w = vecs(p), vecs(p + (1, 0))
    return glsl.dot(v, w), glsl.cross(v, w)


@program
def glsl_normalize(vecs: Image, p: Position):
    return glsl.normalize(vecs(p) + (3.0, 0.0, 0.0))


@program
def glsl_faceforward(vecs: Image, p: Position):
    return glsl.faceforward(vecs(p), vecs(p + (1, 0)), Vec3(1.0, 0.5, 0.25))


@program
def glsl_reflect_refract(vecs: Image, p: Position):
    v, n = glsl.normalize(vecs(p) + 3), glsl.normalize(Vec3(0.0, 1.0, -2.0))
    return glsl.reflect(v, n), glsl.refract(v, n, 0.75)


@program
def glsl_any_all(vecs: Image, p: Position):
    return glsl.any(vecs(p) > 1), glsl.all(vecs(p) > -1)


@program
def glsl_of_known(im: Image, p: Position):
    return im(p) * glsl.length(Vec2(3, 4)) + glsl.clamp(7.0, 0.0, 1.0) + glsl.mix(1.0, 3.0, 0.5)


@program
def glsl_of_position(im: Image, p: Position):
    return glsl.length(p - (3, 2)), glsl.distance(p, Vec2(1.5, 0.5)), glsl.sqrt(p.x)


@program
def glsl_names_in_pygpu(vecs: Image, p: Position):
    v = pygpu.normalize(vecs(p) + 3)
    return pygpu.dot(v, v), pygpu.clamp(vecs(p), 0, 1), pygpu.smoothstep(0.0, 1.0, v.x)


@program
def glsl_of_ints(ints: Image, pairs: Image, p: Position):
    return glsl.abs(ints(p)), glsl.min(pairs(p), 3), glsl.clamp(ints(p), -5, 5), glsl.sign(ints(p))


@program
def lengths_of_known_positions_are_known(im: Image, p: Position):
    ring = [d for d in offsets(np.ones((3, 3))) if pygpu.dot(d, d) <= 1]
    near = [(x, y) for x in range(3) for y in range(3) if pygpu.length(Vec2(x, y)) <= 1]
    return sum(im(p + d) for d in ring) + len(near) + abs(Vec2(-1.0, 2.0)).x
