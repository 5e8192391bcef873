"""Known tables indexed at run time."""

import bisect

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec3

program = Suite()

GAMMA = np.array([round((i / 63) ** 0.5, 4) for i in range(64)])
PALETTE = np.array([[0.0, 0.0, 0.5], [1.0, 0.5, 0.0], [0.25, 1.0, 0.75], [1.0, 1.0, 1.0]])
PERMUTATION = np.random.default_rng(5).permutation(16)
BAYER = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]


@program
def array_by_dynamic(unit: Image, p: Position):
    return GAMMA[int(63 * unit(p))]


@program
def list_by_dynamic(counts: Image, p: Position, lut=[0.0, 0.5, 2.0, 4.0, 8.0, 16.0, 32.0]):
    return lut[counts(p)]


@program
def tuple_of_ints_by_dynamic(counts: Image, p: Position):
    return (3, 1, 4, 1, 5, 9, 2)[counts(p)] // 2


@program
def bools_by_dynamic(counts: Image, p: Position):
    return [True, False, True, True, False, False, True][counts(p)]


@program
def array_by_negative_dynamic(counts: Image, p: Position):
    return GAMMA[-counts(p)]


@program
def two_dimensions_by_tuple(im: Image, p: Position):
    return np.array(BAYER)[p.y % 4, p.x % 4]


@program
def two_dimensions_by_two_indices(im: Image, p: Position):
    return BAYER[p.y % 4][p.x % 4]


@program
def two_dimensions_by_known_and_dynamic(im: Image, p: Position):
    return BAYER[1][p.x % 4] + np.array(BAYER)[p.x % 4, 2]


@program
def rows_of_array_are_vectors(counts: Image, p: Position):
    return Vec3(PALETTE[counts(p) % 4]) * 2


@program
def row_of_array_by_component(counts: Image, p: Position):
    r, g, b = PALETTE[counts(p) % 4]
    return r + 2 * g + 4 * b


@program
def vectors_in_list_by_dynamic(counts: Image, p: Position):
    colours = [Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.0), Vec3(0.5, 0.5, 1.0)]
    return colours[counts(p) % 3]


@program
def tuples_in_list_by_dynamic(im: Image, counts: Image, p: Position):
    steps = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    return im(p + steps[counts(p) % 4])


@program
def permutation_twice(im: Image, p: Position):
    return PERMUTATION[(PERMUTATION[p.x & 15] + p.y) & 15]


@program
def table_in_dynamic_loop(counts: Image, p: Position, weights=(0.5, 0.25, 0.125, 1.0, 2.0, 4.0)):
    s = 0.0
    for i in range(counts(p)):
        s += weights[i]
    return s


@program
def table_made_in_function(counts: Image, p: Position):
    squares = [i * i for i in range(8)]
    return squares[counts(p)]


@program
def table_of_uint8(im: Image, counts: Image, p: Position, lut=np.arange(0, 80, 10, np.uint8)):
    return lut[counts(p)] * 2 + im(p)


@program
def table_size_is_known(counts: Image, p: Position):
    return GAMMA[counts(p) % len(GAMMA)] * GAMMA.shape[0]


@program
def bytes_by_dynamic(counts: Image, p: Position):
    return b"\x01\x05\x09\x0d\x11\x15\x19"[counts(p)]


@program
def range_by_dynamic(counts: Image, p: Position):
    return range(10, 90, 10)[counts(p)]


@program
def long_table(ints: Image, p: Position):
    lut = np.sin(np.arange(4096) / 100)
    return lut[(ints(p) * 37) & 4095]


@program
def large_ints_in_table(counts: Image, p: Position, lut=np.array([2**31 - 1, -(2**31), 5] * 3)):
    return lut[counts(p)]


EDGES = np.array([0.0, 0.25, 0.5, 1.0])


@program
def place_in_sorted_table(im: Image, p: Position):
    v = im(p)
    right = np.searchsorted(EDGES, v, side="right")
    return np.searchsorted(EDGES, v) + 10 * right + 100 * EDGES.searchsorted(v)


@program
def bins_rising_and_falling(im: Image, p: Position):
    falling = EDGES[::-1]
    return np.digitize(im(p), EDGES) + 10 * np.digitize(im(p), falling, right=True)


@program
def bisected_list(im: Image, p: Position):
    return bisect.bisect_left([0.0, 0.5, 1.0], im(p)) + 10 * bisect.bisect([0.0, 0.5, 1.0], im(p))


@program
def taken_from_flattened_table(counts: Image, p: Position):
    table = np.arange(12.0).reshape(3, 4)
    return table.take(counts(p)) + np.take(table, counts(p)) + table.item(counts(p))


@program
def write_dyn_index(im: Image, counts: Image, p: Position):
    xs = [0.0, 0.0, 0.0, 0.0]
    for i in range(4):
        xs[(counts(p) + i) % 4] += i * im(p)
    h = np.zeros(4)
    h[counts(p) % 4] += 1
    return xs[0] + 10 * xs[1] + 100 * xs[2] + h[1] * 1000


@program
def write_arr_2d(im: Image, counts: Image, p: Position):
    h = np.zeros((3, 3))
    g = np.zeros((2, 3), int)
    i = counts(p) % 3
    h[i, 1] += im(p)
    h[1, -1 - i] = 2
    g[i - 1] = [1.7, 2, 3]
    g[0, i] = 9.5
    return h.sum() + h[1, 1] * 10 + h[2, 1] * 100 + g[0, 0] + 10 * g[1, 1] + 100 * g[0, 2]


@program
def list_index(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(4)]
    return (
        xs.index(min(xs)) + 10 * xs.index(max(xs)) + 100 * [3, 4].index(4) + tuple(xs).index(xs[2])
    )


@program
def row_of_table(ints: Image, p: Position):
    T = np.arange(30.0).reshape(5, 6)
    row = T[ints(p) % 5]
    return row.sum() + row[2] + max(row) + len(row) + (row * 2)[1]


@program
def row_ops(ints: Image, im: Image, p: Position):
    T = np.arange(30.0).reshape(5, 6)
    U = np.arange(60.0).reshape(5, 2, 6)
    row = T[ints(p) % 5]
    k = ints(p) % 5
    a, b, *c = row
    return (
        row @ np.ones(6)
        + np.dot(row, [im(p)] * 6)
        + row[1:3].sum()
        + (row + row)[2]
        + (-row)[1]
        + np.sum(row)
        + sum(row)
        + a
        + c[1]
        + row.mean()
        + np.max(row)
        + row[ints(p) % 6]
        + (row > 3).sum()
        + U[k].sum()
        + U[k][1].max()
        + (U[k] * 2)[1, 2]
        + U[k].shape[0]
        + list(row)[1]
        + row.tolist()[2]
    )


@program
def row_loop(ints: Image, im: Image, p: Position):
    T = np.arange(24.0).reshape(4, 6)
    s = 0.0
    for k, w in enumerate(T[ints(p) & 3]):
        s += w * im(p + (k, 0))
    a = T[ints(p) & 3]
    b = T[(ints(p) + 1) & 3]
    c = a if im(p) > 0 else b
    return s + c[1] + (c * 2)[3] + np.dot(a, b)


@program
def arr_store_loop(im: Image, counts: Image, ints: Image, p: Position):
    h = np.zeros(4)
    for i in range(counts(p)):
        h[ints(p + (i, 0)) & 3] += im(p + (i, 0))
    return h.max() + h[0]


@program
def list_index_loop(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(4)]
    k = xs.index(max(xs))
    return im(p + (k, 0)) * 10 + k


# ---------------------------------------------------------------- parts of tables

GRID = np.arange(30.0).reshape(5, 6)
BLOCK = np.arange(120.0).reshape(5, 4, 6)


@program
def rest_of_a_row(ints: Image, p: Position):
    k = ints(p) % 5
    row = GRID[k]
    return GRID[k, 1:].sum() + GRID[k, 1:][2], GRID[k, ::-1][0], row[1:].sum() + row[[0, 2]].sum()


@program
def column_of_a_table(ints: Image, p: Position):
    k = ints(p) % 5
    return GRID[:, k][2], GRID[:, k].sum(), GRID[1:, -k].max(), GRID[..., k][1] + GRID[k, ...][2]


@program
def parts_of_three_axes(ints: Image, p: Position):
    k = ints(p) % 4
    a = BLOCK[k][..., 0].sum(), BLOCK[k][1:].sum(), BLOCK[k, 1:, 2].sum(), BLOCK[:, k, :][1, 2]
    b = BLOCK[k, :, k][1], BLOCK[0, k, 1:].sum(), BLOCK[k][1:, 2][0], BLOCK[..., k][2, 3]
    return *a, *b, BLOCK[k][None][0, 1, 2], BLOCK[k].T[3, 2]


ZERO_DIMENSIONAL = np.array(0.5)


@program
def elements_by_an_ellipsis(im: Image, p: Position):
    k = p.x % 2
    return BLOCK[k, 1][..., 0], BLOCK[k][..., 1, 2] * im(p), ZERO_DIMENSIONAL


@program
def slices_that_start_anywhere(ints: Image, p: Position):
    i = ints(p) % 4
    a = GRID[i : i + 2].sum(), GRID[i : i + 2, 1:3][1, 0], GRID[0, i : i + 2].sum()
    xs = np.arange(10.0) ** 2
    b = (xs[i : i + 3] * np.array([1.0, 2.0, 3.0])).sum(), xs[2 * i : 2 * i + 2][1]
    return *a, *b, xs[i + 1 : i + 6 : 2].max(), len(xs[i : i + 3])


@program
def slices_of_rows_and_lists(ints: Image, im: Image, p: Position):
    i = ints(p) % 3
    xs, vs = [1.0, 2.0, 3.0, 5.0, 8.0], [im(p + (j, 0)) for j in range(6)]
    a, b = xs[i : i + 2]
    return GRID[i][i : i + 3].sum(), sum(xs[i : i + 2]), a + 2 * b, max(vs[i : i + 3])


@program
def parts_of_dynamic_arrays(ints: Image, im: Image, p: Position):
    a = np.array([[im(p + (i, j)) for i in range(3)] for j in range(3)])
    i = ints(p) % 2
    parts = a[i : i + 2, 1].sum(), a[:, i][1], a[i, 1:].sum(), a[i][1:].max()
    return *parts, a[i : i + 2, i : i + 2].sum()


@program
def parts_by_lists_of_indices(ints: Image, p: Position):
    k = ints(p) % 5
    pairs = GRID[[k, 1], [0, 1]]
    return GRID[np.array([k, 1])].sum(), pairs[0], pairs[1], GRID[:, [k, 2]][3, 0]


@program
def parts_that_are_stored(ints: Image, im: Image, p: Position):
    a = np.array([[im(p + (i, j)) for i in range(3)] for j in range(3)])
    a[ints(p) % 3, :] = 2.0
    a[:, p.x % 3] += 1.0
    b = np.zeros(6)
    i = ints(p) % 4
    b[i : i + 2] = [im(p), 5.0]
    return a.sum(), a[0, 1], b.sum(), b[2]


@program
def rows_taken_from_tables(ints: Image, im: Image, p: Position):
    k = ints(p) % 5
    return np.take(GRID, k, axis=0)[1], GRID.take(k, axis=0)[2], np.take(GRID, k, axis=1)[3]


@program
def dicts_by_dynamic_keys(ints: Image, p: Position):
    dense, sparse = {0: 1.0, 1: 4.0, 2: 0.5}, {3: (1, 2), -7: (4, 5), 9: (0, 0)}
    return dense[ints(p) % 3], sparse[3 if ints(p) > 0 else -7][1]


@program
def dicts_of_dynamic_values(ints: Image, im: Image, p: Position):
    d = {0: im(p), 5: 2.0}
    d[5 if ints(p) > 0 else 0] += 3.0
    return d[0], d[5], d.get(ints(p), 7.0), ints(p) % 7 in d


@program
def dicts_by_dynamic_pairs(im: Image, p: Position):
    d = {(0, 1): 1.0, (1, 0): 2.0, (0, 0): 5.0, (1, 1): 7.0}
    return d[p.x % 2, p.y % 2] + im(p)


LONG_ROWS = np.linspace(-1, 2, 15, dtype=np.float32).reshape(3, 5)


@program
def rows_of_five_are_arrays(im: Image, p: Position):
    row, other = LONG_ROWS[p.x % 3], LONG_ROWS[p.y % 3]
    moved = np.roll(row, 1)[0], np.flip(row)[1], np.concatenate([row, other])[6], np.pad(row, 1)[5]
    of_each = np.sqrt(np.abs(row))[2], np.hypot(row, other)[3], np.stack([row, other])[1, 2]
    return *moved, *of_each, sorted(row)[2], np.array([v * im(p) for v in row])[1], len(list(other))


BYTES = np.arange(4, dtype=np.uint8) + 100
INTS = np.arange(4)


def _of_class(value):
    match value:
        case int():
            return 1
        case np.integer():
            return 2
        case float():
            return 3
    return 4


@program
def classes_of_elements_are_numpys(im: Image, p: Position):
    byte, number, real = BYTES[p.x % 4], INTS[p.x % 4], LONG_ROWS.astype(float)[p.y % 3, p.x % 5]
    ints = isinstance(byte, int), isinstance(byte, np.integer), isinstance(number, (int, float))
    floats = (
        isinstance(real, float),
        isinstance(np.mean([p.x, 1.0]), np.floating),
        np.isscalar(real),
    )
    scaled = byte / 255 if isinstance(byte, np.integer) else byte
    kinds = [_of_class(x) for x in (byte, number, real, p.x, im(p), byte > 3)]
    return *ints, *floats, *kinds, scaled, type(number) is np.int64, byte.dtype == np.uint8


@program
def attributes_of_elements_and_rows_are_numpys(im: Image, p: Position):
    short, row, span = LONG_ROWS[p.x % 3, :3], LONG_ROWS[p.x % 3], range(p.x)
    of_rows = [isinstance(x, np.ndarray) for x in (short, row)]
    names = hasattr(short, "shape"), hasattr(short, "x"), hasattr(BYTES[p.x % 4], "dtype")
    is_text = np.isscalar(("ab", "cd")[p.x % 2]), np.isscalar(None if im(p) > 0.5 else 1.0)
    return *of_rows, *names, *is_text, isinstance(span, range), hasattr(span, "__len__")


SORTED_ROWS = np.sort(np.sin(np.arange(4500.0)).reshape(3, 1500), axis=1)


@program
def long_rows_are_searched_where_they_lie(im: Image, p: Position):
    row = SORTED_ROWS[p.x % 3]
    return np.searchsorted(row, im(p)), np.interp(im(p), row, np.arange(1500.0))


@program
def floats_of_32_bits_are_no_floats_of_pythons(im: Image, p: Position):
    single, double = LONG_ROWS[p.x % 3, p.y % 5], SORTED_ROWS[p.x % 3, p.y]
    kinds = [isinstance(x, float) for x in (single, double, im(p), np.sqrt(double))]
    return *kinds, isinstance(single * im(p), np.floating), isinstance(double * 2, float)


def _remainder(byte):
    for _ in range(8):
        byte = byte >> 1 ^ 0xA001 * (byte & 1)
    return byte


REMAINDERS = [_remainder(byte) for byte in range(256)]


@program
def checksums(counts: Image, p: Position):
    rest, other = 0xFFFF, counts(p) * 0x1357 & 0xFFFF
    for k in range(3):
        rest = rest >> 8 ^ REMAINDERS[(rest ^ counts(p + (k, 0))) & 255]
        other = (REMAINDERS[1 ^ (other >> 8)] ^ other << 8) & 0xFFFF
    return rest, other
