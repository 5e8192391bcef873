"""Arrays of no dimensions, which functions written for numbers and arrays alike make of numbers."""

import math

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec3

program = Suite()


def _curve(x):
    """As libraries write it: of a number or of an array."""
    x = np.asarray(x, dtype=np.float64)
    out = np.zeros_like(x)
    low = x <= 0.3
    out[low] = 12 * x[low]
    out[~low] = 1.5 * x[~low] - 0.25
    return out if out.ndim else out.item()


@program
def of_numbers_and_of_arrays(unit: Image, p: Position):
    return _curve(unit(p)), _curve([unit(p), 0.125])[1]


@program
def stored_by_a_mask(unit: Image, p: Position):
    x = np.array(unit(p), copy=True)
    x[x > 0.5] = 0
    y = np.copy(unit(p))
    y[...] = 4 * y
    z = np.zeros(())
    z[()] = unit(p)
    z[z < 0.5] += 2
    return x, y, z


@program
def other_names_see_it(unit: Image, p: Position):
    x = np.asarray(unit(p))
    y, z, copied, again = x[...], x.T, x.copy(), np.asarray(x)
    row = x.reshape(1)
    row[0] = 7
    z[()] = z + 1
    return x, y, copied, again, row[0]


@program
def what_it_is(unit: Image, p: Position):
    x = np.asarray(unit(p))
    return x.shape == (), x.ndim, x.size, isinstance(x, np.ndarray), np.isscalar(x), x.item(), x[()]


@program
def a_row_where_one_is_wanted(unit: Image, p: Position):
    x = np.asarray(unit(p))
    is_number = x.ndim == 0
    x = x[np.newaxis] if is_number else x
    y = x * x
    return (y[0] if is_number else y), np.atleast_1d(x)[0], len(x)


@program
def spread_over_each_other(unit: Image, p: Position):
    a, b = np.broadcast_arrays(unit(p), unit(p + (1, 0)))
    product = a * b
    return product.squeeze()[()], a[a > 0.5].sum(), a.ndim


@program
def meets_numbers(unit: Image, p: Position):
    x = np.asarray(unit(p))
    y = x if x > 0.25 else 0.125
    while x > 0.5:
        x = x * 0.5
    z = np.asarray(unit(p))
    for k in range(3):
        z = z + k
    return max(x, 0.25), min(y, x), x, y, z


@program
def changed_on_one_path(unit: Image, p: Position):
    x = np.asarray(unit(p))
    if x > 0.5:
        x[()] = 2
    y = np.asarray(unit(p))
    y = y * 2 if y > 0.5 else np.asarray(3.0)
    return x, y + 1


@program
def taken_for_a_number(unit: Image, p: Position):
    x = np.asarray(unit(p))
    v = Vec3(x, 1, x)
    return v * x, math.floor(4 * x), float(x), np.clip(x, 0.25, 0.5), np.where(x > 0.5, 1, 2), -x


@program
def an_index(counts: Image, p: Position):
    k = np.asarray(counts(p))
    table = np.arange(30) * 2
    return table[k], np.take(table, k), list(range(40))[k], table[k : k + 2].sum(), (1, 2, 3)[k % 3]


@program
def among_arrays(unit: Image, p: Position):
    x, a = np.asarray(unit(p)), np.linspace(0, 1, 5)
    dot = np.dot(x, a)
    return (
        dot[1],
        (x * a).sum(),
        (a + x)[2],
        np.outer(x, a)[0, 2],
        a[a > x].sum(),
        np.stack([x, x])[1],
    )


@program
def of_other_kinds(ints: Image, unit: Image, p: Position):
    x, f = np.array(ints(p)), np.array(unit(p))
    x += 1
    y = f.astype(np.float64)
    y[y < 0.5] = -1
    return x, x // 2, x % 3, x & 1, y + f, f.astype(int), f.astype(bool)


@program
def chosen_by_where(unit: Image, ints: Image, p: Position):
    x = np.where(unit(p) > 0.5, unit(p), 2)
    kinds = isinstance(x, np.ndarray), np.isscalar(x), hasattr(x, "fill"), isinstance(x[()], float)
    try:
        length = len(x)
    except TypeError:
        length = -1
    other = x
    x[()] = 5.0
    x += ints(p)
    step = np.where(ints(p) > 0, 1, 0)
    return *kinds, length, other, im_at(unit, p, step), [3, 4][step], sum([x, x]), max(x, 1.0)


def im_at(im, p, step):
    return im(p + (step, 0)) + im(p.x, p.y + step)


@program
def what_functions_of_numbers_give(unit: Image, p: Position):
    x = unit(p)
    arrays = (
        *(np.select([x > 0.5], [x]), np.squeeze(x), np.reshape(x, ()), np.broadcast_to(x, ())),
        *(np.piecewise(x, [x > 0.5], [1.0]), np.isin(x, [0.5]), np.vectorize(abs)(x)),
        *(np.tensordot(x, x, 0), np.array([x, 1.0])[..., 0], np.where(True, x, 1)),
    )
    numbers = (
        *(np.choose(1, [x, x]), np.clip(x, 0, 1), np.fmax(x, 0), -np.asarray(x), np.modf(x)[0]),
        *(np.array([x, 1.0])[0], np.where(x > 0.5, x, 2.0) + 1, np.add.reduce([x, 1.0])),
    )
    are_arrays = sum([isinstance(each, np.ndarray) for each in arrays])
    are_numbers = sum([isinstance(each, np.float64) for each in numbers])
    return are_arrays == len(arrays), are_numbers == len(numbers), sum(arrays), sum(numbers)


@program
def elements_shown_alone(unit: Image, p: Position):
    pair, single = np.array([unit(p), 0.5]), np.array([unit(p)])
    first, only = pair[..., 0], np.squeeze(single)
    first += 1.0
    only[()] = 3.0
    taken, kept = np.take(first, [0, 0], 0), np.compress([False, True], [only, first], 0)
    return pair[0], first, single[0], only, taken.sum(), kept[0], np.compress([True], first, 0)[0]


@program
def what_it_cannot_be(unit: Image, p: Position):
    x = np.where(unit(p) > 0.5, 1, 2)
    refused = 0
    for of in (round, len, lambda x: x in {1, 2}, lambda x: {1: 5, 2: 6}[x], list):
        try:
            of(x)
        except TypeError:
            refused += 1
    return refused, str(x) == "1", math.floor(x), x.item(), type(x.item()) is int
