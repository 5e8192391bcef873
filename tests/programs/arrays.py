"""NumPy on known, dynamic and partly known values."""

import math

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, offsets

program = Suite()

KERNEL = np.array([[1.0, 2.0, 1.0], [2.0, 4.0, 2.0], [1.0, 2.0, 1.0]]) / 16
WEIGHTS = np.array([0.25, 0.5, 0.125, 0.125])


def row(im, p, n):
    return [im(p + (d, 0)) for d in range(n)]


# ---------------------------------------------------------------- universal functions


@program
def ufuncs_of_one_argument(im: Image, p: Position):
    v = im(p)
    return np.sin(v) + np.cos(v) + np.exp(v), np.arctan(v) + np.tanh(v), np.abs(v) + np.fabs(v)


@program
def ufuncs_of_roots_and_logs(unit: Image, p: Position):
    v = unit(p)
    return np.sqrt(v) + np.cbrt(v), np.log(v) + np.log2(v), np.log10(v) + np.log1p(v), np.exp2(v)


@program
def ufuncs_of_rounding(im: Image, p: Position):
    v = im(p) * 2
    return np.floor(v) + 10 * np.ceil(v), np.rint(v) + 10 * np.trunc(v), np.round(v)


@program
def ufunc_floor_is_float(im: Image, p: Position):
    return np.floor(im(p)) / 4, np.floor(im(p)) // 2


@program
def ufuncs_of_simple_arithmetic(im: Image, other: Image, p: Position):
    a, b = im(p), other(p)
    return np.add(a, b) * np.subtract(a, b), np.multiply(a, b) + np.negative(a) + np.positive(b)


@program
def ufuncs_of_division(im: Image, unit: Image, p: Position):
    a, b = im(p), unit(p)
    return np.divide(a, b), np.floor_divide(a, b), np.mod(a, b), np.fmod(a, b), np.remainder(a, b)


@program
def ufuncs_of_powers(unit: Image, im: Image, p: Position):
    return (
        np.power(unit(p), im(p)),
        np.square(im(p)),
        np.reciprocal(unit(p)),
        np.float_power(2, im(p)),
    )


@program
def ufuncs_of_choice(im: Image, other: Image, p: Position):
    a, b = im(p), other(p)
    return np.maximum(a, b) - np.minimum(a, b) + np.fmax(a, 0) + np.fmin(a, 0.5)


@program
def ufuncs_of_two_angles(im: Image, other: Image, p: Position):
    return np.arctan2(im(p), other(p) + 0.01), np.hypot(im(p), other(p))


@program
def ufuncs_of_sign(im: Image, other: Image, p: Position):
    return np.sign(im(p)), np.copysign(im(p), other(p) + 0.01), np.signbit(im(p)), np.sign(p.x - 3)


@program
def ufuncs_of_comparison(im: Image, other: Image, p: Position):
    a, b = im(p), other(p)
    return np.less(a, b), np.greater_equal(a, b), np.equal(a, b), np.not_equal(a, b)


@program
def ufuncs_of_logic(im: Image, mask: Image, p: Position):
    a, b = im(p) > 0, mask(p)
    return np.logical_and(a, b), np.logical_or(a, b), np.logical_xor(a, b), np.logical_not(a)


@program
def ufuncs_of_bits(ints: Image, p: Position):
    n = ints(p)
    return np.bitwise_and(n, 7), np.bitwise_or(n, 8), np.bitwise_xor(n, 3), np.invert(n)


@program
def complements_of_bools_are_negations(im: Image, p: Position):
    pair = Vec2(im(p), 0.5) > Vec2(0.5, im(p))
    return np.invert(im(p) > 0.5), np.invert(pair), np.bitwise_not(im(p) < 0.25), np.invert(p.x)


@program
def ufuncs_of_shifts(ints: Image, p: Position):
    return np.left_shift(ints(p), 2), np.right_shift(ints(p), 1)


@program
def ufuncs_of_angles(im: Image, p: Position):
    return np.deg2rad(im(p)), np.rad2deg(im(p)), np.degrees(im(p)), np.radians(im(p))


@program
def ufuncs_of_classification(im: Image, p: Position):
    v = im(p) if im(p) > 0 else np.nan
    return np.isnan(v), np.isfinite(v), np.isinf(v)


@program
def ufuncs_inverse_trigonometry(im: Image, p: Position):
    return np.arcsin(im(p) / 2), np.arccos(im(p) / 2), np.arcsinh(im(p)), np.arctanh(im(p) / 3)


@program
def ufuncs_of_ints_stay_ints(ints: Image, pairs: Image, p: Position):
    n = np.add(ints(p), 3) + np.maximum(ints(p), pairs(p).x) + np.abs(ints(p))
    return n // 2, np.square(ints(p)) % 5


@program
def clip(im: Image, p: Position):
    return np.clip(im(p), -0.5, 0.75)


@program
def where(im: Image, other: Image, p: Position):
    return np.where(im(p) > 0, im(p), other(p)) + np.where(im(p) > 1, 1, 0)


# ---------------------------------------------------------------- folding lists


@program
def numpy_sum_and_mean(im: Image, p: Position):
    return np.sum(row(im, p, 4)), np.mean(row(im, p, 4))


@program
def numpy_prod_max_min(im: Image, p: Position):
    vs = row(im, p, 3)
    return np.prod(vs), np.max(vs), np.min(vs), np.amax(vs) - np.amin(vs)


@program
def numpy_variance(im: Image, p: Position):
    return np.var(row(im, p, 4)), np.std(row(im, p, 3))


@program
def numpy_any_all(im: Image, p: Position):
    vs = [v > 0 for v in row(im, p, 3)]
    return np.any(vs), np.all(vs)


@program
def numpy_dot_of_known_and_dynamic(im: Image, p: Position):
    return np.dot(WEIGHTS, row(im, p, 4)) + np.dot(row(im, p, 4), WEIGHTS)


@program
def numpy_dot_of_dynamic(im: Image, p: Position):
    return np.dot(row(im, p, 3), row(im, p + (0, 1), 3))


@program
def numpy_dot_with_vector(vecs: Image, p: Position):
    return np.dot((0.25, 0.5, 0.25), vecs(p)), np.dot(vecs(p), vecs(p))


@program
def numpy_average_with_weights(im: Image, p: Position):
    return np.average(row(im, p, 4), weights=WEIGHTS)


@program
def numpy_linalg_norm(im: Image, vecs: Image, p: Position):
    return np.linalg.norm(row(im, p, 3)), np.linalg.norm(vecs(p))


# ---------------------------------------------------------------- arrays of dynamic values


@program
def array_of_dynamic(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    return a[0] + a[-1] * 2 + a.sum() + len(a)


@program
def array_arithmetic(im: Image, p: Position):
    a = np.array(row(im, p, 4)) * 2 + WEIGHTS
    return (a * a).sum() - a.mean()


@program
def known_array_times_dynamic(im: Image, p: Position):
    return (KERNEL * im(p)).sum() + (im(p) * KERNEL)[1, 1]


@program
def known_array_times_image_function(im: Image, p: Position):
    taps = np.array([im(p + d) for d in offsets(KERNEL)]).reshape(3, 3)
    return (KERNEL * taps).sum()


@program
def array_of_rows(im: Image, p: Position):
    a = np.array([[im(p + (i, j)) for i in range(3)] for j in range(2)])
    return a[1, 2] + a[0][1] + a.shape[0] + a.T[2, 1] + a.ndim + a.size


@program
def array_slices(im: Image, p: Position):
    a = np.array([[im(p + (i, j)) for i in range(3)] for j in range(3)])
    return a[1].sum() + 2 * a[:, 0].sum() + 4 * a[::2, 1:].sum()


@program
def array_axis_sums(im: Image, p: Position):
    a = np.array([[im(p + (i, j)) for i in range(3)] for j in range(2)])
    columns, rows = a.sum(axis=0), np.max(a, axis=1)
    return columns[0] + 2 * columns[2] + 4 * rows[1]


@program
def array_stack_and_concatenate(im: Image, p: Position):
    a, b = np.array(row(im, p, 2)), np.array([1.0, im(p)])
    return np.stack([a, b])[1, 0] + np.concatenate([a, b])[3] + np.stack([a, b], axis=1)[0, 1]


@program
def array_matmul(im: Image, p: Position):
    a = np.array([[im(p), 1.0], [2.0, 3.0]])
    b = a @ np.array([im(p), 2.0])
    return b[0] + 10 * b[1] + (a @ a)[0, 1]


@program
def array_ravel_reshape(im: Image, p: Position):
    a = np.array(row(im, p, 6)).reshape(2, 3)
    return np.ravel(a)[4] + a[1, 0] + a.ravel()[1] + np.transpose(a)[2, 0]


@program
def array_iteration(im: Image, p: Position):
    s = 0.0
    for r in np.array([[im(p), 1.0], [2.0, im(p + (1, 0))]]):
        for v in r:
            s = s * 0.5 + v
    return s


@program
def array_comparison_and_where(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    return np.where(a > 0, a, 0).sum() + (a > 0).sum()


@program
def array_ufuncs(im: Image, p: Position):
    a = np.abs(np.array(row(im, p, 3)))
    return np.sqrt(a).sum() + np.maximum(a, 0.5).max()


@program
def array_changed(im: Image, p: Position):
    a = np.zeros(3)
    b = np.array([im(p), 2.0, 3.0])
    b[0] = 5.0
    b[1:] += im(p)
    return b.sum() + a.sum()


@program
def array_zeros_filled_with_dynamic(im: Image, p: Position):
    a = np.zeros((2, 2))
    for i in range(2):
        a[i, 0] = im(p + (i, 0))
    return a.sum() + a[1, 0]


@program
def known_array_work(im: Image, p: Position):
    k = np.outer([1, 2, 1], [1, 0, -1])
    k = k / np.abs(k).sum()
    return sum(w * im(p + d) for w, d in zip(k.flat, offsets(k)) if w)


@program
def known_array_made_in_function_and_changed(im: Image, p: Position):
    k = np.ones(3)
    k[1] = 2
    k /= k.sum()
    return k[0] * im(p) + k[1] * im(p + (1, 0))


@program
def known_numpy_scalar(im: Image, p: Position):
    return im(p) * np.float64(0.5) + np.float32(1.5) + np.int64(3) + np.bool_(True)


@program
def numpy_constants(im: Image, p: Position):
    return im(p) * np.pi + np.e


@program
def numpy_interp_by_hand(unit: Image, p: Position):
    xs, ys = np.linspace(0, 1, 5), np.linspace(0, 1, 5) ** 2
    r = 0.0
    for x0, x1, y0, y1 in zip(xs, xs[1:], ys, ys[1:]):
        if x0 <= unit(p) <= x1:
            r = y0 + (unit(p) - x0) / (x1 - x0) * (y1 - y0)
    return r


@program
def numpy_linspace_and_arange(im: Image, p: Position):
    s = 0.0
    for t in np.linspace(0, 1, 5):
        s += t * im(p + (int(t * 4), 0))
    for i in np.arange(3):
        s += im(p + (i, i))
    return s


@program
def numpy_meshgrid(im: Image, p: Position):
    xs, ys = np.meshgrid(np.arange(-1, 2), np.arange(-1, 2))
    return sum(im(p + (x, y)) for x, y in zip(xs.ravel(), ys.ravel()))


@program
def numpy_cross_and_ndindex(im: Image, p: Position):
    return sum(KERNEL[j, i] * im(p + (i - 1, j - 1)) for j, i in np.ndindex(KERNEL.shape))


@program
def numpy_ndenumerate(im: Image, p: Position):
    return sum(w * im(p + (i, j)) for (j, i), w in np.ndenumerate(KERNEL))


@program
def numpy_diff_cumsum(im: Image, p: Position):
    vs = row(im, p, 4)
    return np.diff(vs)[1], np.cumsum(vs)[3]


@program
def numpy_roll_flip(im: Image, p: Position):
    vs = np.array(row(im, p, 4))
    return np.roll(vs, 1)[0], np.flip(vs)[0], vs[::-1][1]


@program
def numpy_outer_cross(im: Image, p: Position):
    a, b = np.array(row(im, p, 3)), np.array([1.0, 2.0, 3.0])
    return np.outer(a, b)[2, 1], np.cross(a, b)[0]


@program
def numpy_interp_of_dynamic(unit: Image, p: Position):
    return np.interp(unit(p), [0.0, 0.25, 0.5, 1.0], [0.0, 1.0, 0.5, 2.0])


@program
def numpy_polyval_of_dynamic(im: Image, p: Position):
    return np.polyval([1.0, -2.0, 0.5], im(p))


@program
def numpy_select(im: Image, p: Position):
    return np.select([im(p) < -1, im(p) < 0.5], [10.0, im(p)], 20.0)


@program
def numpy_isclose(im: Image, p: Position):
    return np.isclose(im(p), 0.0), np.count_nonzero(np.array(row(im, p, 5)) > 0)


@program
def numpy_ptp_trace(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    return np.ptp(a), np.trace(a.reshape(2, 2))


@program
def numpy_argsort(im: Image, p: Position):
    order = np.argsort(row(im, p, 4))
    return order[0], order[3]


@program
def numpy_full_like_zeros_like(im: Image, p: Position):
    a = np.full((2, 2), im(p))
    b = np.zeros_like(a)
    b[0] += a[1]
    return b.sum() + a.sum()


@program
def numpy_repeat_tile(im: Image, p: Position):
    a = np.array([im(p), 1.0])
    return np.repeat(a, 2)[1] + np.tile(a, 2)[3], np.hstack([a, a])[2] + np.vstack([a, a])[1, 0]


@program
def numpy_average_of_rows(im: Image, p: Position):
    a = np.array([row(im, p + (0, j), 3) for j in range(3)])
    return a.mean(axis=1)[1] + a[1:, 1:].max() + a.min(axis=0)[2] + np.mean(a[:, 1])


@program
def numpy_where_on_arrays(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    return np.sum(np.where(a > 0, a, -a)), (a[a.argmax()] if False else a.max())


@program
def numpy_einsum_by_matmul(im: Image, p: Position):
    m, v = np.array([[im(p), 0.5], [0.25, 1.0]]), np.array([1.0, im(p)])
    return v @ m @ v, (m.T @ m)[0, 0], np.linalg.det(m) if False else m[0, 0] * m[1, 1]


@program
def array_boolean_work(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    inside = (a > -1) & (a < 1) | (a == 2)
    return inside.sum(), inside.any(), (~inside).all()


@program
def array_of_ints_stays_int(ints: Image, p: Position):
    a = np.array([ints(p), ints(p + (1, 0)), 3])
    return a.sum() // 2, (a * a)[0] % 7, a.max()


@program
def array_broadcast(im: Image, p: Position):
    a = np.array(row(im, p, 3))
    table = a[:, None] * np.array([1.0, 10.0]) + np.array([[0.5]])
    return table[2, 1], table.shape[0] + 10 * table.shape[1], table.sum()


@program
def array_of_known_indexed_by_known_array(im: Image, p: Position):
    a = np.array(row(im, p, 4))
    return a[[0, 2]].sum() + a[np.array([True, False, False, True])].sum()


@program
def array_of_float_scalar_operations(im: Image, p: Position):
    a = np.float32(0.5) * im(p) + np.array(2.0) * im(p)
    return a / np.int64(3) + np.array([1.0, 2.0])[1]


# ---------------------------------------------------------------- views


@program
def views_share_elements(im: Image, p: Position):
    a = np.array([[im(p), 1.0], [2.0, 3.0]])
    row, turned = a[1], a.T
    row[0] = im(p)
    turned[0, 1] += 5.0
    flat = a.reshape(4)
    flat[3] = 7.0
    return row[0] + 10 * a[1, 1] + 100 * np.flip(a)[0, 0]


@program
def views_share_known_elements(im: Image, p: Position):
    a = np.zeros((2, 3))
    for row in a:
        row[1] = im(p)
    first, second = a
    second += 1.0
    a[:, 2] -= first[1]
    return a.sum() + second[2]


@program
def view_given_to_function(im: Image, p: Position):
    def fill(row, value):
        row[:] = value

    a = np.zeros((3, 2))
    for i, row in enumerate(a):
        fill(row, im(p) * i)
    return a[2, 0] + 10 * a[1, 1]


@program
def views_made_in_branches(im: Image, p: Position):
    if im(p) > 0:
        a = np.zeros((2, 2))
        row = a[1]
    else:
        a = np.ones((2, 2))
        row = a[1]
    row[0] = im(p)
    a[1, 1] = 3.0
    return a.sum() + row[1]


@program
def either_of_two_views(im: Image, p: Position):
    a = np.array([[im(p), 1.0], [2.0, 3.0]])
    row = a[0] if im(p) > 0 else a[1]
    return row[0] * 10 + row[1]


@program
def views_changed_in_a_loop(im: Image, p: Position):
    a = np.zeros((2, 2))
    row = a[1]
    for i in range(p.x):
        row[0] += im(p)
        a[1, 1] += i
    return a.sum() + row.sum()


@program
def array_that_changes_while_iterated(im: Image, p: Position):
    a = np.array([im(p), 1.0, 2.0])
    total = 0.0
    for i, x in enumerate(a):
        a[2] += 4.0
        total = total * 2 + x + i
    return total


@program
def stored_where_a_test_holds(im: Image, p: Position):
    a = np.array([im(p), -1.0, 2.0])
    a[a < 0] = 0.5
    return a.sum()


@program
def stored_into_ints(im: Image, p: Position):
    a = np.zeros(3, int)
    a[0] = p.x
    a[1] = 1.75
    a[a > 2] = 5.5
    return a[0] + 10 * a[1]


@program
def arrays_of_no_dimensions_meet_vectors(rgb: Image, p: Position):
    gain = np.where(len("abc") > 2, 0.5, 2.0)
    colour = np.array(0.25) + rgb(p) * gain - np.maximum(np.array(0.5), rgb(p))
    return colour + np.where(np.array(0.25) < rgb(p), 1, 0) + (rgb(p) >= gain) * 2


@program
def arrays_of_no_dimensions_meet_numbers(im: Image, p: Position):
    gain = np.array(2.0)
    return gain * im(p) + np.minimum(im(p), gain - 1.5) + (im(p) < np.array(0.5))


# ---------------------------------------------------------------- stacks, masks beside indices


def colours(im, p, n):
    return [list(im(p + (d, 0))) for d in range(n)]


@program
def products_of_stacks_of_matrices(rgb: Image, p: Position):
    stack = np.array([colours(rgb, p, 2)])
    matrix = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])
    made = stack @ matrix.T
    column = stack @ np.array([1.0, 2.0, 3.0])
    turned = np.matmul(matrix, np.swapaxes(stack, -1, -2))
    return made.sum(), made[0, 1, 2], column[0, 1], turned[0, 2, 1]


@program
def masks_with_indices_beside_them(rgb: Image, p: Position):
    a = np.array(colours(rgb, p, 3))
    hot = a[:, 0] > 0.5
    a[hot, 1] *= 2
    a[hot, 2] = a[hot, 0] - a[hot, 1]
    b = a.copy()
    b[hot, 0:2] = 0.25
    return a.sum(), a[1, 2], b.sum(), a[hot, 2].sum()


@program
def sums_and_products_of_bools_are_bools(rgb: Image, p: Position):
    a = np.array(list(rgb(p)))
    either, both = (a > 0.3) + (a < 0.7), (a > 0.3) * (a < 0.7)
    return either.sum(), both.sum(), (1.0 * either + both)[0]


@program
def numbers_of_several_kinds_in_one_array(im: Image, p: Position):
    a = np.array([im(p), p.x + 1, 3, True])
    b = np.array([p.x, True])
    m = np.array([[p.x, 1], [0.5, im(p)]])
    whole = b[1] + b[1], np.array([p.x, 7])[0] // 2
    return a[1] // 2, a[2] // 2, a[2] / 2, m[0, 1] / 4, *whole


@program
def divisions_by_zero_of_ints_among_floats(im: Image, p: Position):
    a = np.array([im(p), p.x + 1, 3])
    zero = a[0] - a[0]
    parts = a[1] // zero, a[2] // zero, a[1] / 0.0, a[2] / 0.0, a[1] // 0.0
    return tuple([part > 1e38 for part in parts])


class Wave:
    def __init__(self, height):
        self.height = height


class Field(Wave):
    ndim, shape, size = 3, (2, 3), 9


class Pair(Wave):
    def __len__(self):
        return 2

    def __getitem__(self, place):
        if place > 1:
            raise IndexError(place)
        return self.height


@program
def shapes_of_objects(im: Image, p: Position):
    wave, field, pair = Wave(im(p)), Field(im(p)), Pair(im(p))
    sizes = np.size(wave) + 10 * np.size(field) + 100 * np.size(pair)
    dimensions = np.ndim(wave) + 10 * np.ndim(field) + 100 * np.ndim(pair)
    lengths = len(np.shape(wave)) + 10 * np.shape(field)[1] + 100 * np.shape(pair)[0]
    others = np.ndim({1: im(p)}) + np.ndim(lambda: im(p)) + 10 * np.ndim(im) + 100 * np.size(p)
    return sizes, dimensions, lengths, others


def of_bytes(p):
    table = np.zeros(3, np.uint8)
    table[p.x % 3] = 200
    return table


@program
def arrays_of_bytes_that_depend_on_the_pixel(im: Image, p: Position):
    table, other = of_bytes(p), np.zeros((2, 2), np.uint8)
    other[1] = 3
    if im(p) > 0:
        other[0] = 1
    table[p.y % 3] = 7
    least = np.minimum(other[0], other[1])[0]
    return (
        int(table.sum()) + int(other.sum()) * 1000 + int(np.prod(table)) * 10,
        table.mean() + (table / 2)[0],
        int(table.max()) + int(other[0, 0]) * 1000 + int(other[0, 0] + other[1, 0]) * 2,
        int(table[0]) * 2 + int(table[1]) * 3 + int((table > 100).sum()) + int(least),
    )


@program
def arrays_like_others_hold_what_they_hold(im: Image, p: Position):
    whole, tests = np.array([p.x, 2]), np.array([p.x > 2, True])
    zeros, ones = np.zeros_like(whole), np.ones_like(tests)
    zeros[0], ones[0] = 2.9, im(p)
    empty = np.empty_like([p.x, 1])
    empty[:] = im(p) * 3
    thirds = np.full_like(whole, 3.7, dtype=float)
    return zeros[0], ones.sum(), np.full_like(whole, 3.7)[1] + thirds[0], empty[1]


@program
def operators_in_place_keep_what_an_array_holds(im: Image, p: Position):
    whole, tests, said = np.array([p.x, 1]), np.array([p.x > 2, True]), 0
    try:
        whole /= 2
    except TypeError:
        said += 1
    try:
        whole += 0.5
    except TypeError:
        said += 10
    try:
        tests += 1
    except TypeError:
        said += 100
    whole += tests
    whole //= 2
    return whole[0], said


@program
def parts_by_dynamic_indices_are_views(im: Image, counts: Image, p: Position):
    a = np.arange(12.0).reshape(3, 4) * im(p)
    k = abs(counts(p)) % 3
    column, row, part = a[:, k], a[k], a[k, 1:]
    column[0] = 7
    part[2] += 1
    a[k, 0] = 5
    a[1, k] = column.sum()
    a[2, k] = column.sum() + row.sum()
    a[:, k + 1] *= 2
    first = a[0:2, k : k + 2]
    first += 1
    turned, flat = a.T.ravel(), a.T.T.ravel()
    turned[1] = flat[2] = 3
    return a.sum(), (a @ np.arange(4)).sum(), column[1], row.sum() + part[0], turned.sum()


@program
def places_of_axes_by_lists_and_functions(im: Image, counts: Image, p: Position):
    a = np.arange(24.0).reshape(2, 3, 4) * im(p)
    k = abs(counts(p)) % 3
    apart, side = a[1, :, [k, 0]], a[:, [k, 0], 1]
    taken = np.take(a, [k, 1], axis=1)
    lines = np.apply_along_axis(lambda line: line * line[k], 0, a[0])
    shapes = apart.shape + side.shape + taken.shape + lines.shape
    parts = apart[0, 2], side[1, 0], taken[1, 0, 3], lines[2, 1], a.item(1, k, 2), a[0].item(5)
    sums, most = np.add.accumulate(a[0]), np.maximum.accumulate(-a[0], axis=1)
    parts = *parts, a[[0, 1], :, [k, 2]][1, 2] + sums[2, 1] + sums.shape[0] + most[1, 2]
    return *parts, *shapes[:4], shapes[6] + 10 * shapes[8]


@program
def arrays_of_ints_or_floats_as_the_pixel_chooses(im: Image, p: Position):
    chosen = 1 if im(p) > 0 else 2.5
    a = np.array([chosen, p.x])
    surely = np.array([chosen, 2.0])
    surely[0] = 2.7
    b, c = a.astype(float), np.array(a, float)
    b[1], c[0] = 0.5, b[1] + 0.25
    half = a / 2
    half[0] = 0.1
    return a.sum(), surely.sum(), b.sum() + c.sum(), half[0] + (1 if half.dtype == float else 7)


@program
def product_of_what_a_filter_leaves(im: Image, p: Position):
    some = [v for v in (im(p), im(p + (1, 0))) if v > 0]
    return math.prod(some), math.prod(v for v in (p.x, p.y, 3) if v > 1)


@program
def elements_taken_by_clipped_and_wrapped_indices(im: Image, p: Position):
    a, k = np.array([1.0, im(p), 3.0]), p.x - 2
    rows = np.take(np.array([[1.0, im(p)], [2.0, 3.0]]), [k, 0], axis=1, mode="wrap")
    return np.take(a, k, mode="clip"), np.take(a, [k, 7], mode="wrap").sum(), rows[1, 0]


@program
def traces_and_products_of_rows(im: Image, p: Position):
    a = np.arange(8).reshape(2, 2, 2) * im(p)
    m = np.array([[im(p), 1.0], [2.0, p.y]])
    traces = np.trace(a, axis1=1, axis2=2)[1] + 10 * np.trace(m, offset=1) + m.trace()
    return traces, np.vecdot(m, [1.0, im(p)])[1], np.vecdot(Vec2(im(p), 1.0), Vec2(2.0, 3.0))


@program
def numbers_in_even_steps_along_the_last_axis(im: Image, p: Position):
    a = np.linspace([0.0, im(p)], [1.0, 5.0], 4, axis=1)
    return a[1, 2], a.shape[0], np.linspace(-p.x, 0, 5, dtype=int)[1]


@program
def stored_by_lists_of_dynamic_indices(counts: Image, p: Position):
    k = counts(p) % 3
    a = np.arange(12).reshape(3, 4) * 1
    a[[0, k]] = a[[k, 0]]  # rows are exchanged
    a[:, [k, 3]] = a[:, [3, k]]
    a[[k, (k + 1) % 3], 1] += 100
    b = np.zeros(6)
    b[np.array([k, k + 1, k])] = [1, 2, 3]
    part = b[3:]
    part[[k, 0]] = [7, 9]
    c = np.zeros((3, 3))
    c[np.array([[0, k], [k, 2]]), np.array([[k], [1]])] = np.array([[1, 2], [3, 4]])
    d = np.zeros((2, 3, 2))
    d[[k % 2], :, [1]] = [[5, 6, 7]]
    for i in range(counts(p)):
        j = (i * k) % 3
        c[[j, i % 3]] = c[[i % 3, j]]
    powers = 5.0 ** np.arange(6)
    return a @ [1, 10, 100, 1000], b @ powers, c @ powers[:3], d.reshape(2, 6) @ powers


@program
def arrays_changed_in_place_by_functions(unit: Image, counts: Image, p: Position):
    square, some, thinned = np.zeros((3, 3)), np.zeros(3), np.array([unit(p), 0.25, 0.75])
    np.fill_diagonal(square, [unit(p), 2])
    np.copyto(some, [unit(p), 1, 2])
    np.copyto(some, 9, where=some > 1.5)
    np.putmask(some, some < 0.5, [-1, -2])
    np.put(some, [1], unit(p) * 2)
    np.place(thinned, thinned > 0.5, 3)
    return square.sum(), square[2, 2], some[0], some[1], some[2], thinned[0], thinned[2]


@program
def ufuncs_at_places(unit: Image, counts: Image, p: Position):
    histogram, rows = np.zeros(5, int), np.zeros((3, 2))
    np.add.at(histogram, [counts(p + (i, 0)) % 5 for i in range(4)], 1)
    np.add.at(rows, ([0, counts(p) % 3, 1], [1, 0, 1]), [1.0, 2.0, 3.0])
    np.multiply.at(rows, [0, 0], 2)
    np.add.at(rows, [counts(p) % 3, 2], [[1, 1], [2, 2]])
    some = np.array([unit(p), 0.25])
    np.negative.at(some, [0])
    np.maximum.at(some, [1], [unit(p)])
    return (
        histogram[0],
        histogram[1],
        histogram[4],
        rows[0, 0],
        rows[2, 1],
        rows.sum(),
        some[0],
        some[1],
    )


@program
def functions_that_give_the_array_itself(im: Image, p: Position):
    a = np.array([im(p), np.inf, 3, 4])
    np.nan_to_num(a, copy=False, posinf=7.0)
    np.real(a)[2] = 50
    np.array(a, copy=False)[3] = 60
    return a[0], a[1], a[2], a[3]


@program
def clipped_arrays_are_of_the_arrays_kind(im: Image, p: Position):
    a = np.array([im(p), 1, 3])
    clipped, greater = a.clip(0, 2), np.maximum(a, 1)
    clipped[1] = 50
    greater[2] = 9
    like, whole = np.full_like(a, a), np.full((2, 3), a)
    return clipped.sum() + like[2], greater.sum(), whole[1, 0] + whole[0, 2]


@program
def arrays_of_at_least_some_dimensions(im: Image, p: Position):
    pair, a = np.array((im(p), 2.0), ndmin=2), np.array([im(p), 1, 2, 3])
    cube, row = np.array(a, ndmin=3), np.array(a, copy=None, ndmin=2)
    cube[0, 0, 1] = 7
    return pair.shape[0] * 10 + pair.shape[1], cube.ndim + len(row), a[1] + row[0, 2] + cube.sum()
