"""NumPy's decompositions, fits and covariances of small arrays that are not known."""

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()

SCALED = np.vectorize(lambda a, b: a * b if a > 0.5 else b)


def row(im, p, n=5):
    """Texels that are no two alike, so that nothing is divided by zero."""
    return np.array([im(p + (i, 0)) + 0.3 * i * i for i in range(n)])


def matrix(im, p):
    return np.array([[im(p) + 2, im(p + (1, 0))], [im(p + (0, 1)), im(p + (1, 1)) - 3]])


@program
def arrays_put_together_by_index(im: Image, p: Position):
    w = row(im, p)
    return np.r_[w, 1.0, im(p)].sum() + np.r_[w, 0:3][6], np.c_[w, w * 2][1].sum()


@program
def line_and_parabola_through_texels(im: Image, p: Position):
    w = row(im, p)
    slope, start = np.polyfit(np.arange(5), w, 1)
    return slope, start, np.polyfit([0.0, 1.0, 2.0, 3.0, 4.0], w, 2)[0]


@program
def line_by_weights(im: Image, p: Position):
    w = row(im, p)
    return np.polyfit(np.arange(5.0), w, 1, w=[1.0, 2.0, 3.0, 2.0, 1.0])[1]


@program
def plane_by_least_squares(im: Image, p: Position):
    places = np.array([[i, j, 1.0] for j in range(3) for i in range(3)])
    values = np.array([im(p + (i, j)) for j in range(3) for i in range(3)])
    found, residuals, rank, _ = np.linalg.lstsq(places, values, rcond=None)
    return found[0], found[2], residuals[0], rank


@program
def least_squares_of_what_is_not_known(im: Image, p: Position):
    w = row(im, p)
    return np.linalg.lstsq(np.stack([w, np.ones(5)], axis=1), w * w, rcond=None)[0][0]


@program
def singular_values(im: Image, p: Position):
    m = matrix(im, p)
    u, s, v = np.linalg.svd(m)
    again = u * s @ v
    return np.linalg.svd(m, compute_uv=False)[0], s[1], again[0, 1], again[1, 1]


@program
def singular_values_of_three_rows(im: Image, p: Position):
    m = np.array([[im(p + (i, j)) + (i == j) * 2 for i in range(2)] for j in range(3)])
    u, s, v = np.linalg.svd(m, full_matrices=False)
    return s[0], s[1], (u * s @ v)[2, 1]


@program
def decompositions(im: Image, p: Position):
    m = matrix(im, p)
    q, r = np.linalg.qr(m)
    lower = np.linalg.cholesky(m @ m.T)
    sign, size = np.linalg.slogdet(m)
    return q[0, 1], r[0, 1], lower[1, 0], sign * size


@program
def pseudo_inverse(im: Image, p: Position):
    m = np.array([[im(p + (i, j)) + (i == j) * 2 for i in range(2)] for j in range(3)])
    return np.linalg.pinv(m)[0, 2]


@program
def covariances(im: Image, p: Position):
    w = row(im, p)
    both = np.cov(w, w * w)
    return np.cov(w), both[0, 1], np.corrcoef(w, w * w)[0, 1], np.cov(w, bias=True)


@program
def partitions(im: Image, p: Position):
    w = row(im, p)
    return np.partition(w, 2)[2], w[np.argpartition(w, 0)[0]]


@program
def vectorized_functions(im: Image, p: Position):
    w, gain = row(im, p), im(p)
    own = np.vectorize(lambda t: t * gain + 1)
    return SCALED(w, 2.0).sum(), SCALED(im(p), 3.0), own(w)[2]


@program
def array_of_a_function_of_indices(im: Image, p: Position):
    v = im(p)
    return np.fromfunction(lambda i, j: i * v + j, (2, 3)).sum()


@program
def choices_by_conditions(im: Image, p: Position):
    w, v = row(im, p), im(p)
    chosen = np.select([w > 0.7, w > 0.3], [w, -w], 0.5)
    return chosen.sum(), np.select([v > 0.7, v > 0.3], [1.0, 2.0], 3.0)


@program
def places_among_edges(im: Image, p: Position):
    w, v = row(im, p), im(p)
    edges = [0.2, 0.5, 0.8]
    return np.digitize(w, edges).sum(), np.searchsorted(edges, v), np.searchsorted(np.sort(w), v)


@program
def least_squares_of_no_full_rank(im: Image, p: Position):
    w = im(p) + 1.0
    rows = np.array([[w, 2 * w], [2 * w, 4 * w], [w, 2 * w]])
    found, _, rank, sizes = np.linalg.lstsq(rows, np.array([1.0, w, 2.0]), rcond=None)
    return found[0], found[1], rank, np.linalg.matrix_rank(rows), sizes[0]


@program
def vectors_of_a_matrix_of_no_full_rank(im: Image, p: Position):
    w = im(p) + 1.0
    u, s, v = np.linalg.svd(np.array([[w, 0.0], [2 * w, 0.0]]))
    square = u @ np.transpose(u)
    again = u * s @ v
    return square[0, 0], square[0, 1], square[1, 1], again[1, 0], s[1]
