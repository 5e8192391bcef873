"""NumPy's functions of arrays whose elements are dynamic: axes, statistics, linear algebra."""

import bisect

import numpy as np
from numpy.polynomial import Chebyshev, Hermite, Laguerre, Legendre, Polynomial

from programs.suite import Suite
from pygpu import Image, Mat3, Position

program = Suite()

TABLE = np.arange(24.0).reshape(2, 3, 4)

trapezoid = getattr(np, "trapezoid", None) or np.trapz  # NumPy 1 has the old name


def row(im, p, n=4):
    return np.array([im(p + (i, 0)) for i in range(n)])


def square(im, p, n=3):
    return np.array([[im(p + (i, j)) for i in range(n)] for j in range(n)])


# ---------------------------------------------------------------- reductions


@program
def norms_along_axes(im: Image, p: Position):
    a = square(im, p)
    kept = np.linalg.norm(a, axis=-1, keepdims=True)
    return np.linalg.norm(a, axis=1)[1] + np.linalg.norm(a - 1, axis=0).min(), kept[2, 0]


@program
def norms_of_orders(im: Image, vecs: Image, p: Position):
    a = row(im, p)
    most, least = np.linalg.norm(a, np.inf), np.linalg.norm(a, -np.inf)
    rows = np.linalg.norm([vecs(p), vecs(p + (1, 0))], axis=1)
    return np.linalg.norm(a, 1), most, least, np.linalg.norm(a, ord=3), rows[1]


@program
def norms_of_matrices_and_offsets(im: Image, p: Position):
    return np.linalg.norm(square(im, p)), np.linalg.norm(p - (3, 2)), np.linalg.norm(row(im, p), 0)


@program
def reductions_along_axes(im: Image, p: Position):
    a = square(im, p)
    counts = np.count_nonzero(a > 0, axis=1)
    tests = np.any(a > 1, axis=0)[1], np.all(a > -1, axis=1)[1]
    return np.prod(a, axis=1)[1], np.max(a, axis=(0, 1)), counts[1], *tests


@program
def reductions_that_keep_dimensions(im: Image, p: Position):
    a = square(im, p)
    centred = a - a.mean(axis=1, keepdims=True)
    return centred[2, 1], np.sum(a, keepdims=True)[0, 0], np.sum(a, axis=0, keepdims=True).shape[0]


@program
def reductions_with_initial_values(im: Image, p: Position):
    a = row(im, p)
    return (
        np.sum(a, initial=2.0),
        np.max(a, initial=0.0),
        np.min(a, initial=5),
        np.prod(a, initial=3),
    )


@program
def sums_of_ints_that_begin_with_a_float(im: Image, p: Position):
    a, b, c = np.array([p.x, 2, p.y]), np.array([im(p), 2.0]), np.array([p.x > 2, True])
    ends = np.max(a, initial=im(p)), np.min(a, initial=2.5), np.add.reduce(a, initial=-1.5)
    return *ends, a.prod(initial=2.75), np.sum(c, initial=1.5), np.sum(b, initial=1.5)


@program
def conjugate_of_a_real_array_is_the_array(im: Image, p: Position):
    a = np.array([im(p), 1.0])
    b, c, d = a.conj(), a.conjugate(), np.conj(a)
    a[1] = 5.0
    return b[1], c[1], d[1], a.real[1]


@program
def reductions_of_some_elements(im: Image, p: Position):
    a = row(im, p)
    some = a > 0.5
    least, most = np.min(a, where=some, initial=9), np.max(a, where=some, initial=-9)
    return np.sum(a, where=some), np.prod(a, where=some), least, most, np.any(a > 1, where=some)


@program
def statistics_of_some_elements(im: Image, p: Position):
    a = square(im, p)
    some = a >= a.min()
    some[0, 0] = False
    return np.mean(a, where=some), np.var(a, where=some), np.std(a, where=some, ddof=1)


@program
def variances_along_axes(im: Image, p: Position):
    a = square(im, p)
    return np.var(a, axis=1)[0], np.std(a, axis=1, ddof=1)[0], np.median(a, axis=0)[1]


@program
def sums_as_a_dtype(im: Image, p: Position):
    return np.sum(row(im, p) * 3, dtype=int), np.sum(row(im, p) > 0, dtype=float) / 4


@program
def averages_with_weights_along_axes(im: Image, unit: Image, p: Position):
    a = square(im, p)
    return np.average(a, axis=0, weights=[1.0, 2.0, 3.0])[1], np.average(a, weights=square(unit, p))


@program
def places_along_axes(im: Image, p: Position):
    a = square(im, p)
    return np.argmax(a, axis=1)[2], np.argmin(a, axis=0)[1], a.argmax(), a.argmin(1)[0]


@program
def orders_along_axes(im: Image, p: Position):
    a = square(im, p)
    flat, stable = np.sort(a, axis=None), np.sort(a, kind="stable")
    return np.sort(a, axis=0)[1, 1], np.argsort(a, axis=1)[1, 0], flat[4], stable[0, 2]


@program
def methods_along_axes(im: Image, p: Position):
    a = square(im, p)
    return a.max(1)[0], a.sum(-1)[1], a.mean((0, 1)), a.std(0)[1], a.all(axis=0)[1], a.any(1)[2]


@program
def methods_of_ufuncs(im: Image, p: Position):
    a, b = row(im, p), square(im, p)
    sums = np.add.reduce(b)[1], np.add.reduce(b, axis=1)[1], np.multiply.reduce(a)
    return *sums, np.maximum.reduce(a), np.minimum.reduce(b, axis=1)[1], np.logical_or.reduce(a > 1)


@program
def pairs_and_running_values_by_ufuncs(im: Image, p: Position):
    a = row(im, p)
    running = np.add.accumulate(a)[2], np.maximum.accumulate(a)[3]
    return np.subtract.outer(a, a)[1, 2], np.multiply.outer(a, a[:2])[3, 1], *running


# ---------------------------------------------------------------- order statistics


@program
def percentiles(im: Image, p: Position):
    a = row(im, p)
    low, high = np.percentile(a, [25, 75])
    return np.percentile(a, 30), high - low, np.quantile(a, 0.1), np.quantile(a, 1.0)


@program
def percentiles_along_axes(im: Image, p: Position):
    a = square(im, p)
    return np.percentile(a, 40, axis=1)[1], np.quantile(a, [0.25, 0.5], axis=0)[1, 2]


@program
def percentiles_of_neighbours(im: Image, p: Position):
    a = row(im, p)
    made = [
        np.percentile(a, 40, method=name) for name in ("lower", "higher", "nearest", "midpoint")
    ]
    return tuple(made)


@program
def ranges_of_values(im: Image, p: Position):
    a = square(im, p)
    return np.ptp(a), np.ptp(a, axis=1)[0], np.ptp(a, -1)[2]


@program
def statistics_without_nan(im: Image, p: Position):
    a = row(im, p)
    a = np.where(a > a.min(), a, np.nan)
    a[0] = 0.25
    return np.nansum(a), np.nanmean(a), np.nanmax(a), np.nanmin(a), np.nanstd(a), np.nanvar(a)


@program
def orders_without_nan(im: Image, p: Position):
    a = row(im, p)
    a = np.where(a > a.min(), a, np.nan)
    a[0] = 0.25
    return np.nanmedian(a), np.nanpercentile(a, 30), np.nanargmax(a), np.nanargmin(a)


@program
def statistics_without_nan_along_axes(im: Image, p: Position):
    a = square(im, p)
    a[1] = np.where(a[1] > 0, a[1], np.nan)
    return np.nansum(a, axis=0)[1], np.nanmean(a, axis=0)[2], np.nanmax(a, axis=0)[0]


@program
def histograms(im: Image, p: Position):
    a = square(im, p)
    counts, edges = np.histogram(a, bins=3, range=(-2, 2))
    own, _ = np.histogram(a, bins=[-2, 0, 1, 2], weights=np.abs(a))
    return counts[1], counts[2], edges[1] + im(p) * 0, own[2]


@program
def histogram_of_its_own_range(im: Image, p: Position):
    counts, edges = np.histogram(row(im, p), bins=2)
    return counts[0] + counts[1], edges[0], edges[2]


# ---------------------------------------------------------------- linear algebra


@program
def determinants(im: Image, p: Position):
    a = square(im, p)
    return np.linalg.det(a), np.linalg.det(a[:2, :2]), np.linalg.det(a[:1, :1])


@program
def determinant_of_four_rows(im: Image, p: Position):
    return np.linalg.det(square(im, p, 4) + 4 * np.eye(4))


@program
def inverses(im: Image, p: Position):
    a = square(im, p)
    two, three = np.linalg.inv(a[:2, :2] + 10 * np.eye(2)), np.linalg.inv(a + 10 * np.eye(3))
    return two[0, 1], three[0, 1], three[2, 2]


@program
def inverse_of_four_rows(im: Image, p: Position):
    made = np.linalg.inv(square(im, p, 4)[::-1] + 10 * np.eye(4)[::-1])
    return made[0, 1], made[3, 0]


@program
def systems_of_equations(im: Image, p: Position):
    a = square(im, p) + 10 * np.eye(3)
    return np.linalg.solve(a, row(im, p, 3))[1], np.linalg.solve(a, square(im, p + (1, 1)))[1, 2]


@program
def systems_of_four_equations(im: Image, p: Position):
    a = (square(im, p, 4) + 10 * np.eye(4))[::-1]
    x = np.linalg.solve(a, row(im, p + (1, 1)))
    return x[0], x[3]


@program
def many_small_matrices(im: Image, p: Position):
    a = np.array([square(im, p, 2), square(im, p + (1, 0), 2)]) + 9 * np.eye(2)
    return np.linalg.det(a)[1], np.linalg.inv(a)[1, 0, 1]


@program
def matrices_by_linalg(im: Image, vecs: Image, p: Position):
    m = Mat3(square(im, p) + 10 * np.eye(3))
    return np.linalg.det(m), np.linalg.inv(m)[0][1], np.linalg.solve(m, vecs(p))[1]


@program
def eigenvalues_of_structure_tensors(im: Image, p: Position):
    a = square(im, p, 2)
    low, high = np.linalg.eigvalsh(a @ a.T + np.eye(2))
    return low, high


@program
def eigenvalues_of_three_rows(im: Image, p: Position):
    a = square(im, p)
    values = np.linalg.eigvalsh(a @ a.T + np.eye(3))
    return values[0], values[1], values[2]


@program
def eigenvalues_that_are_equal(im: Image, p: Position):
    values = np.linalg.eigvalsh(np.eye(3) * (im(p) + 4))
    return values[0], values[2]


@program
def eigenvectors_make_the_matrix(im: Image, p: Position):
    a = square(im, p)
    a = a + a.T + 9 * np.eye(3)
    values, vectors = np.linalg.eigh(a)
    again = vectors @ (values[:, None] * vectors.T)
    return again[0, 1], again[2, 2], values[1]


@program
def products_of_all_kinds(im: Image, p: Position):
    a, b = square(im, p), square(im, p + (1, 1))
    return np.vdot(a, b), np.inner(a, b)[0, 1], np.inner(a, b[0])[2], np.dot(a, b)[0, 1]


@program
def products_by_einsum(im: Image, p: Position):
    a, v = square(im, p), row(im, p, 3)
    once = np.einsum("ij,j->i", a, v)[1], np.einsum("ij,ij", a, a), np.einsum("ii", a)
    return *once, np.einsum("ij,jk", a, a)[0, 1], np.einsum("ijk,k->ij", TABLE[..., :3], v)[1, 2]


@program
def crosses(im: Image, vecs: Image, p: Position):
    a = square(im, p)
    return (
        np.cross(row(im, p, 3), vecs(p))[1],
        np.cross(a, a[::-1])[2, 2],
        np.cross(vecs(p), a[1])[0],
    )


# ---------------------------------------------------------------- making and measuring


@program
def choices_by_index(ints: Image, im: Image, unit: Image, p: Position):
    rows = np.choose(np.array([0, 1, 2]), [row(im, p, 3), 2.0, unit(p)])
    return np.choose(ints(p) % 3, [im(p), 2.0, unit(p)]), rows[0], rows[2]


@program
def pieces(im: Image, p: Position):
    whole = np.piecewise(im(p), [im(p) < 0, im(p) >= 0], [lambda x: -x, lambda x: x * 2])
    a = row(im, p)
    return whole, np.piecewise(a, [a < 0, a > 1], [0.5, 7.0])[2]


@program
def lines_of_numbers(im: Image, unit: Image, p: Position):
    rows = np.linspace(np.array([0.0, 1.0]), row(im, p, 2), 4)
    steps = np.linspace(im(p), unit(p), 5, retstep=True)
    return steps[0][3], steps[1], np.linspace(0, im(p), 4, endpoint=False)[1], rows[2, 1]


@program
def gradients(im: Image, p: Position):
    a, b = row(im, p), square(im, p)
    down, right = np.gradient(b)
    own = np.gradient(a, np.array([0.0, 1.0, 3.0, 4.0]))
    return np.gradient(a)[1], np.gradient(a, 2.0)[0], down[1, 1], right[2, 2], own[2]


@program
def gradients_of_second_order(im: Image, p: Position):
    ends = np.gradient(row(im, p), edge_order=2)
    return ends[0], ends[3], np.gradient(square(im, p), axis=0)[0, 1]


@program
def cardinal_sines(im: Image, p: Position):
    return np.sinc(im(p)), np.sinc(row(im, p))[1]


@program
def closeness(im: Image, p: Position):
    a, b = row(im, p), row(im, p + (1, 0))
    nan = np.where(a > 0, a, np.nan)
    equal = np.isclose(nan, nan, equal_nan=True).all(), np.isclose(nan, nan).sum()
    return np.allclose(a, b, atol=1.0), np.isclose(a, 0.5)[1], np.array_equal(a, b), *equal


@program
def infinities_are_close(im: Image, p: Position):
    v = im(p) if im(p) > 0 else np.inf
    return np.isclose(v, np.inf), np.isclose(1.0, v), np.isclose(v, -np.inf)


@program
def membership(ints: Image, p: Position):
    return np.isin(ints(p) % 5, [1, 2]), np.isin(row(ints, p) % 3, [0, 2], invert=True)[1]


@program
def elements_with_their_places(im: Image, p: Position):
    return sum(v * (i + 2 * j) for (j, i), v in np.ndenumerate(square(im, p)))


@program
def places_in_arrays(im: Image, p: Position):
    y, x = np.unravel_index(p.x + int(im(p) > 0), (2, 4))
    return y + 10 * x, np.ravel_multi_index((p.y % 3, p.x % 4), (3, 4))


@program
def interpolations(unit: Image, p: Position):
    xs, ys = [0.0, 0.25, 0.5], [0.0, 1.0, 2.0]
    outside = np.interp(unit(p), xs, ys, left=-1, right=9)
    step = np.interp(unit(p), [0.0, 0.5, 0.5, 1.0], [0.0, 0.0, 1.0, 1.0])
    return np.interp(row(unit, p), xs, ys)[2], outside, step


@program
def polynomials(im: Image, unit: Image, p: Position):
    return np.polyval([1.0, 2.0], row(im, p))[2], np.polyval(row(im, p), unit(p))


@program
def lookups_of_arrays(im: Image, p: Position):
    a = row(im, p)
    return np.digitize(a, [0.0, 1.0])[1], np.searchsorted([0.0, 1.0], a)[2]


@program
def sums_under_curves(im: Image, p: Position):
    a = row(im, p)
    return trapezoid(a, dx=0.5), trapezoid(a, np.array([0.0, 1.0, 3.0, 4.0]))


@program
def arrays_of_iterators(im: Image, p: Position):
    a = np.fromiter((im(p + (i, 0)) for i in range(3)), float)
    b = np.fromiter([im(p + (i, 0)) for i in range(3)], dtype=np.float64, count=2)
    return a[1] + a.sum(), b[1]


@program
def functions_along_axes(im: Image, p: Position):
    a = square(im, p)
    return np.apply_along_axis(np.sum, 1, a)[1], np.apply_along_axis(lambda r: r[0] * 2, 0, a)[2]


@program
def scalars_are_their_own_elements(im: Image, p: Position):
    return np.floor(im(p))[()] + np.where(im(p) > 0, 1.0, 2.0)[...]


@program
def scalars_of_types(im: Image, ints: Image, unit: Image, p: Position):
    return np.float32(im(p)), np.float64(ints(p)) / 2, np.int64(unit(p) * 9), np.intp(im(p))


# ---------------------------------------------------------------- results


@program
def array_as_result(im: Image, unit: Image, p: Position):
    return np.array([im(p), unit(p), 2.0])


@program
def list_as_result(im: Image, unit: Image, p: Position):
    return [im(p), unit(p)]


@program
def arrays_among_results(im: Image, ints: Image, p: Position):
    return row(im, p, 2) > 0, im(p), row(ints, p), TABLE[0, ints(p) % 3]


# ---------------------------------------------------------------- masks


@program
def folds_of_selections(im: Image, p: Position):
    a = row(im, p)
    some = a[a > 0.5]
    return some.sum(), np.sum(some**2), (some * 2 - 1).sum(), len(some), some.size, np.prod(some)


@program
def folds_of_selections_that_hold_something(im: Image, p: Position):
    a = row(im, p)
    some = a[a >= np.median(a)]
    return some.mean(), some.max(), np.median(some), np.var(some), some.std()


@program
def builtins_of_selections(im: Image, p: Position):
    a = row(im, p)
    some = a[a >= a.min()]
    return max(some), min(some), sum(a[a > 0.5]), any(a[a > 0.5] > 1), all(a[a > 0.5] > 1)


@program
def selections_of_integers_and_known_numbers(ints: Image, im: Image, p: Position):
    a, known = row(ints, p), np.array([1.0, 2.0, 3.0, 4.0])
    some = a[a > 0]
    return some.sum(), (some % 3).sum(), (-some).sum(), known[row(im, p) > 0].sum()


@program
def selections_by_functions(im: Image, p: Position):
    a = row(im, p)
    return np.sqrt(np.abs(a[a > 0.5])).sum(), np.count_nonzero(a[a > 0] > 1), (a[a > 0] > 1).sum()


@program
def selections_changed_in_place(im: Image, p: Position):
    a, b = square(im, p), square(im, p)
    a[a > 0.5] += 1
    positive = b > 0
    b[positive] = (b * 3)[positive]
    b[~positive] -= b[~positive] * 0.5
    return a.sum(), b.sum(), b[1, 1]


@program
def rows_stored_by_a_mask(im: Image, p: Position):
    a = square(im, p)
    a[a[:, 0] > 0] = 5.0
    return a.sum(), a[1, 2]


@program
def selections_made_in_branches(im: Image, p: Position):
    a = row(im, p)
    some = a[a > 0] if im(p) > 0.5 else a[a < 0]
    return some.sum()


# ---------------------------------------------------------------- methods


SHORT = np.arange(15.0).reshape(5, 3)


@program
def methods_of_scalars(im: Image, p: Position):
    v = np.floor(im(p) * 3)
    return v.astype(int) // 2, v.item(), v.sum() + v.max(), v.clip(-1, 1), v.reshape(1)[0], v.T


@program
def methods_of_arrays(im: Image, p: Position):
    a = row(im, p)
    a.sort()
    counts = (a * 2).astype(int)
    return a[0], a.argsort()[1], a.item(2), counts[3] // 2, a.cumprod()[1], a.reshape(2, 2).T[0, 1]


@program
def dtypes_are_those_of_python(im: Image, ints: Image, p: Position):
    a = np.zeros(2, dtype=row(ints, p).dtype)
    a[0] = 2.5
    return a[0] + ints(p) * 0, 1.0 if row(im, p).dtype == np.float64 else im(p), row(im, p).ndim


@program
def methods_of_short_rows(ints: Image, p: Position):
    r = SHORT[ints(p) % 5]
    return r.astype(int)[0], r.shape[0] + r.ndim, r.copy()[1], r.reshape(3, 1)[2, 0], r.argmax()


@program
def quotients_by_a_known_zero(im: Image, p: Position):
    i, count = 0, 0.0
    while i < p.x - 90:
        i, count = i + 1, count + 1
    v = im(p) + 3
    return v / 1.0 if count == 0 else v / count, min(v / count if p.x > 90 else 1.0, 5.0)


@program(limit=0.5)
def number_beyond_float32_on_a_path(im: Image, p: Position, limit: float):
    if im(p) > limit:
        return min(im(p) * 1e39, 3.0)
    return max(-1e300, im(p)) if im(p) < 0 else im(p)


@program
def complements_of_numpys_truth_values(im: Image, p: Position):
    v = im(p)
    is_small = ~np.greater(v, 2.0)
    both = ~(np.isnan(v) | (v > 1.0))
    return np.where(~np.isnan(v), v, 0.0), 1.0 if is_small else 0.0, 1.0 if both else 0.0


@program
def complements_of_pythons_truth_values(im: Image, p: Position):
    v = im(p)
    number = bool(np.isnan(v)) & (not v > 1)
    is_large = np.greater(v, 2.0)
    a = ~bool(is_large), ~(not is_large), ~bool(v), ~number
    return *a, 1.0 if ~is_large else 0.0, 1.0 if ~np.bool_(bool(is_large)) else 0.0


@program
def without_nan(im: Image, p: Position):
    v = im(p)
    w = np.nan if v > 1 else v
    a = np.nan_to_num(w, nan=7.0), np.nansum(w), np.nanmean([w, v])
    return *a, np.nanmedian([w, 2.0, v]), np.isin(w, [1.0, 2.0]), np.isin(v, [v, 3.0], invert=True)


@program
def nan_has_its_place_in_order(im: Image, p: Position):
    v = im(p)
    w = np.nan if v > 1 else v
    order = np.argsort([w, 2.0, np.nan, -np.inf, np.inf])
    places = np.searchsorted([-1.0, 0.5, np.nan], w), np.searchsorted([0.0, np.nan], w, "right")
    return (
        *order[:4],
        *places,
        bisect.bisect_left([0.0, 1.0], w),
        bisect.bisect_right([0.0, 1.0], w),
    )


@program
def many_in_order_with_nans_and_ties(im: Image, p: Position):
    near = [im(p + (x, y)) for y in (-1, 0, 1, 2) for x in (-1, 0, 1)]
    items = [np.nan if i % 5 == 2 else v - v % 0.25 for i, v in enumerate(near)]
    order = np.argsort([*items, np.inf, -0.0, 0.0])
    return (*order[::2], *np.argsort([v > 0.5 for v in near])[3:6])


@program
def views_by_functions_without_rules(im: Image, p: Position):
    a = np.array([im(p), 2.0, 3.0, 4.0])
    halves = np.split(a, 2)
    halves[1][0] = 9.0
    np.rollaxis(a.reshape(2, 2), 1)[1, 0] *= 2
    np.atleast_2d(a)[0, 3] = 7.0
    b = np.asarray(a)
    b[0] += 1.0
    a.real[3] += 0.5
    return tuple(a)


@program
def functions_of_bools(im: Image, p: Position):
    bools = np.array([im(p) > 0.5, p.x > 1, True])
    counts = np.cumsum(bools)
    changes = np.diff(bools)
    both = np.add(im(p) > 0.5, p.x > 1)
    return *counts, int(changes[0]), int(both), int(np.dot(bools, bools)), np.fabs(p.x - 2) / 2


@program
def limits_that_are_nan(im: Image, p: Position):
    high = np.nan if im(p) > 1 else im(p)
    a = np.clip(2.0, -1.0, high), np.clip(im(p), high, 3.0)
    return tuple(np.where(np.isnan(np.array(a)), 9.0, a))


@program
def vectors_in_functions_without_rules(vecs: Image, p: Position):
    v, w = vecs(p), vecs(p + (1, 1))
    turn = np.arange(9.0).reshape(3, 3) / 4
    vectors = np.cumsum(v) - np.flip(w) * np.roll(v, 1)
    matrix = np.outer(v, w) + np.stack([v, w, v], axis=1) + np.einsum("i,j->ij", w, v)
    numbers = np.einsum("i,ij,j", v, turn, w) + np.trapezoid(v, dx=0.5) + np.diff(v)[1]
    ends = np.flip(p)[0] + np.cumsum(v > 0)[2]
    return vectors, matrix[0, 2] + np.trace(matrix), numbers, ends


@program
def lists_of_vectors_in_functions(vecs: Image, p: Position):
    pair = [vecs(p), vecs(p + (0, 1))]
    moved = (
        np.matmul(pair, np.eye(3) * 2) + np.concatenate(pair).reshape(2, 3) + np.tile(pair[0], 2)[4]
    )
    crossed = np.cross(pair, pair[::-1])
    turned = np.rot90(Mat3(*pair, pair[0])) @ pair[1]
    return (
        moved[1, 2],
        moved.sum(),
        turned,
        crossed[0, 1] + np.kron(*pair)[5],
        np.take(pair[1], [2, 0])[0],
    )


STEPS = [((0, 0), (1, 0)), ((1, 0), (0, 1)), ((1, 1), (-1, 0)), ((0, 1), (0, -1))]


@program
def tuples_are_arrays_to_functions_of_numpy(im: Image, p: Position):
    start, step = STEPS[(p.x + p.y) % 4]
    moved = np.add(start, np.multiply(im(p), step))
    total = np.add((im(p), 1), [2, 3])
    return (
        moved[0],
        moved[1],
        len(total),
        max(total),
        np.subtract((3, 4), im(p)).sum(),
        all(np.less((1, 2), (im(p), 5))),
    )


@program
def ufuncs_that_are_given_an_array_to_fill(counts: Image, p: Position):
    row = np.arange(6) * int(counts(p))
    half = np.zeros(6)
    np.multiply(row, 0.5, out=half)
    np.add(row, 4, out=(row,))
    np.negative(half, half)
    return row.sum(), half.sum(), half[1]


@program
def ufuncs_reduce(counts: Image, p: Position):
    n = int(counts(p)) + 6
    rows = np.array([[n, 3, 5], [1, n, 2]])
    return (
        np.bitwise_or.reduce(rows[0]), np.bitwise_xor.reduce(rows, axis=1)[1],
        np.subtract.reduce(rows)[0], np.hypot.reduce(rows[1] * 1.0),
    )  # fmt: skip


@program
def results_put_into_arrays(im: Image, p: Position):
    a = np.arange(6).reshape(2, 3) * im(p)
    np.clip(a, -1, 1, out=a)
    sums, all_of_it, ends = np.zeros(3), np.zeros(()), np.zeros(3)
    same = np.sum(a, axis=0, out=sums)
    np.mean(a, out=all_of_it)
    np.take(same, [2, 1, 0], out=ends)
    same[0] = 9
    np.cumsum(ends, out=ends)
    a[0].clip(0, 0.5, out=ends)
    return sums, all_of_it, ends, np.sum([im(p), 1.0], out=np.zeros(()))


@program
def shapes_and_dtypes_of_several(im: Image, counts: Image, p: Position):
    a, b = np.array([im(p), 1.0]), np.array([[2.0], [im(p)]])
    both = np.broadcast(a, b)
    kinds = np.result_type(a, np.float32) == np.float64, np.result_type(counts(p), 1.5) == float
    filled = np.zeros(2, np.result_type(a, b)) + im(p)
    word = np.array(["low", "mid"])[counts(p) % 2]
    products = sum(x * y for x, y in both)
    return *both.shape, both.size, both.ndim, *kinds, filled[0], word == "mid", products


@program
def arrays_rolled_by_the_pixel(counts: Image, im: Image, p: Position):
    a = np.array([[im(p), 1.0, 2.0], [3.0, im(p) * 2, 5.0]])
    whole, rows = np.roll(a, counts(p)), np.roll(a, -counts(p), axis=1)
    return whole[0, 1] + whole[1, 2] * 10, rows[0, 0] + rows[1, 2] * 10, np.roll(a, p.x, 0)[1, 1]


@program
def outer_products_of_ufuncs(im: Image, p: Position):
    powers = np.power.outer(abs(im(p)) + 1, [1, 2])
    return powers[1] - powers[0], np.hypot.outer([im(p), 1.0], [3.0, 4.0])[1, 0]


@program
def polynomials_of_dynamic_coefficients(im: Image, unit: Image, p: Position):
    q = Polynomial([im(p), -1, 2])
    r = Polynomial([1, unit(p)])
    return (
        q(0.5) + q(im(p + (1, 0))),
        q.deriv()(2) + q.integ(k=3).coef[0],
        (q * q + 1 - 2 * q)(0.5) + (q**3)(0.25),
        r(2) + r.deriv().coef[0],
        q.coef.sum() + q.degree() + len(q),
        Polynomial.fromroots([im(p), 1])(2.0),
        Polynomial.fit([0, 1, 2.0], [im(p), 1, 2], 1)(1.5),
    )


@program
def series_of_other_polynomials(im: Image, unit: Image, p: Position):
    kinds = Chebyshev, Legendre, Hermite, Laguerre
    values = [kind([im(p), 1, 0.5])(unit(p)) for kind in kinds]
    return *values, Chebyshev([im(p), 1]).convert(kind=Polynomial).coef[1]


@program
def order_by_several_keys(im: Image, p: Position):
    a = np.array([p.x % 3, p.y % 2, 1, 0, 1])
    b = np.array([p.y, p.x, 2, 5, 2])
    return tuple(np.lexsort((b, a)))


@program
def polynomials_of_ints_and_floats(im: Image, p: Position):
    return (
        *(np.polyval([1, p.x, 2], 3), np.polyval([1.5, 2], p.x), np.polyval([p.x], p.y)),
        np.polyval([1, 2], np.array([p.x, 1.5]))[0],
        np.polyval(np.array([p.x, 2]), [1, 2])[1],
    )
