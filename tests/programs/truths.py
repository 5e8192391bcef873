"""NumPy's truth values: `+` of two is "or" and `*` "and", where Python's count."""

import functools
import math
import operator

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2

program = Suite()

FLAGS = np.array([True, False, True, True, False, False, True, True])
SQUARE = np.array([[True, False, True], [False, False, True]])
PYTHONS = [True, False, True, True, False, False, True, True]
NUMBERS = np.array([0.5, -1.25, 2.0, 3.75, -0.5, 1.5, 0.25, -3.0])
INTEGERS = np.array([3, -1, 4, 1, -5, 9, 2, -6])
ZEROS = np.array([0, 1, 0, 2, 0])
BYTES = np.array([0, 1, 250, 3, 128, 255, 17, 90], np.uint8)


@program
def sums_and_products_of_numpys_truths(im: Image, p: Position):
    a, b, c = FLAGS[p.x], FLAGS[p.y + 1], SQUARE[p.y % 2, p.x % 3]
    of_two = a + b, a * b, a + c, c * b, a & b, a | c, a ^ b, a + b + c
    counted = a + 1, 2 + b, a + 0.5, a + b + 1, a * 3 - 1, a + p.x, a + BYTES[p.y]
    folded = functools.reduce(operator.add, [a, b, c]), functools.reduce(operator.mul, [a, b, c])
    return *of_two, *counted, *folded, operator.add(a, c), np.add(a, b), np.multiply(b, c)


@program
def numpys_truths_beside_pythons(im: Image, p: Position, flag: bool = True):
    a, b = FLAGS[p.x], PYTHONS[p.y]
    mixed = a + b, b + a, a + flag, flag * a, a + (im(p) > 0), (p.x > 2) + a, a + True, False + a
    counted = b + flag, (im(p) > 0) + (im(p) < 1), bool(a) + bool(FLAGS[p.y]), int(a) + b
    return *mixed, *counted, a.item() + b, (not a) + (not FLAGS[p.y])


@program
def numpys_truths_that_are_counted(im: Image, p: Position):
    a, b, c = FLAGS[p.x], FLAGS[p.y + 1], SQUARE[p.y % 2, p.x % 3]
    counts = sum([a, b, c]), np.sum([a, b, c]), np.count_nonzero([a, b, c]), np.mean([a, b])
    return *counts, sum(flag == a for flag in FLAGS), np.cumsum([a, b, c])[2], np.square(a) + b


@program
def whose_truth_functions_give(im: Image, p: Position):
    a, b, c = FLAGS[p.x], FLAGS[p.y + 1], SQUARE[p.y % 2, p.x % 3]
    pythons = all([a, b]) + all([a, c]), any([a, b]) + any([b, c]), isinstance(a, bool), a is True
    numpys = np.all([a, b]) + np.any([b, c]), abs(a) + abs(b), sorted([a, b, c])[1] + a
    chosen = max(a, b) + c, np.maximum(a, b) + c, (a and b) + c, (a if im(p) > 0 else b) + c
    return *pythons, *numpys, *chosen, np.logical_not(a) + np.isnan(im(p)), (a == b) + (a != c)


@program
def comparisons_of_narrow_integers_are_numpys(im: Image, p: Position):
    a, b = BYTES[p.x], BYTES[p.y]
    return (a > 2) + (b < 200), (a < b) + (a != b), (a > im(p)) + (b > 1), (a > p.x) + (b >= p.y)


@program
def comparisons_of_numpys_numbers_are_numpys(im: Image, p: Position):
    x, y, m, n = NUMBERS[p.x], NUMBERS[p.y], INTEGERS[p.x], INTEGERS[p.y]
    of_floats = (x > 0) + (y < 2), (x < y) + (x != y), (x * 2 > im(p)) + (-y < 3), (0 < x) + (1 > y)
    of_ints = (m > 0) + (n < 4), (m - 1 < n) + (m != n), (abs(m) > 2) + (abs(n) > 2)
    made = (np.abs(im(p)) >= 0) + (np.sqrt(x * x) < 9), (np.where(im(p) > 0, x, y) < 5) + (x < 9)
    chosen = ((x if im(p) > 0 else y) < 9) + (max(x, y) < 9), np.bool_(x < 9) + (np.max([x, y]) < 9)
    return *of_floats, *of_ints, *made, *chosen


@program
def comparisons_that_stay_pythons(im: Image, p: Position):
    x, y, m, n = NUMBERS[p.x], NUMBERS[p.y], INTEGERS[p.x], INTEGERS[p.y]
    numbers = (
        (float(x) < 9) + (float(y) < 9),
        (m.item() < 9) + (n.item() < 9),
        (im(p) < 9) + (p.x < 9),
    )
    vector = Vec2(x, y)
    of_vectors = (vector.x < 9) + (vector.y < 9), (vector < 9).all() + (vector < 9).any()
    contained = (x in (0.5, 2.0)) + (y in (0.5, 2.0)), ((x, 1) == (0.5, 1)) + (y not in [2.0])
    alike = (
        np.allclose(x, 0.5) + np.array_equal([y], [0.5]),
        math.isclose(x, y) + math.isclose(y, x),
    )
    return *numbers, *of_vectors, *contained, *alike, (m > p.x) + (n > p.y)


@program
def numpys_integers_are_divided_by_zero(im: Image, p: Position):
    divisions = [
        lambda m, n: m // n, lambda m, n: m % n, lambda m, n: (m + 1) // (n * 2),
        lambda m, n: 7 // n, lambda m, n: abs(m) % -n, lambda m, n: divmod(m, n)[1],
        lambda m, n: int(m) // int(n), lambda m, n: p.x // n, lambda m, n: m.item() % n.item(),
    ]  # fmt: skip
    found = []
    for each in divisions:
        try:
            with np.errstate(divide="ignore"):
                found.append(each(INTEGERS[p.x], ZEROS[p.y]))
        except ZeroDivisionError:
            found.append(77)
    return tuple(found)


@program
def running_sums_of_narrow_integers(im: Image, p: Position):
    some = np.array([BYTES[p.x], BYTES[p.y], BYTES[5]])
    return *np.cumsum(some), *some.cumprod(), np.cumsum([BYTES[p.x], BYTES[2]])[1] + BYTES[5]


@program
def numpys_truths_in_loops(im: Image, p: Position):
    a = b = FLAGS[1]
    total, either, place = 0, False, 0
    while place < p.x + p.y and place < 8:
        a = a + FLAGS[place]
        b = b * FLAGS[place] + SQUARE[1, place % 3]
        total += FLAGS[place]
        either = either + FLAGS[place]
        place += 1
    return a + b, total, a + 1, b * a + 1, 1.0 if either else 0.0


@program
def numpys_truths_in_arrays_and_objects(im: Image, p: Position):
    marks = np.zeros(3, bool)
    marks[1] = im(p) > 0
    marks[2] = FLAGS[p.x]
    first, second = marks[1:].tolist()
    return marks[1] + marks[2], marks[0] + marks[1] + 1, marks.sum(), first + second


@program
def what_numpys_truths_refuse_is_handled(im: Image, p: Position):
    tries = [operator.sub, lambda a, b: -a, lambda a, b: +b, lambda a, b: round(a)]
    found = []
    for each in tries:
        try:
            found.append(each(FLAGS[p.x], FLAGS[p.y]))
        except TypeError:
            found.append(7)
    return tuple(found)


@program
def numpys_numbers_on_some_paths_are_divided_by_zero(im: Image, p: Position):
    total, product, either = 0.0, 1.0, 0.0
    for k in range(p.x):
        total = total + ZEROS[k % 5] // 2
        product *= ZEROS[(k + p.y) % 5]
    if p.y > 0:
        either = max(NUMBERS[p.x], np.float64(0))
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):
        for divisor in (total, product, either, either + total):
            try:
                found.append(3 / divisor)
            except ZeroDivisionError:
                found.append(77)
    return tuple(found)


@program
def elements_of_arrays_are_divided_by_zero(im: Image, p: Position):
    some = np.array([max(im(p), 0.0), 1.0])
    equal = np.full(3, p.x % 2)
    found = []
    with np.errstate(divide="ignore"):
        for divisor in (some[0], equal[p.y % 3], equal.sum(), some[0].item(), float(some[p.y % 2])):
            try:
                found.append(1 / divisor)
            except ZeroDivisionError:
                found.append(77)
        try:
            found.append(np.float64(2) / p.x)
        except ZeroDivisionError:
            found.append(77)
    return tuple(found)


LISTED = [0, 2, 0, 5]
ROWS = np.array([[0.0, 0.25], [0.5, 3.0], [2.0, 1.0]])
TRIPLES = np.array([[0, 1, 2], [3, 0, 5], [0, 0, 4]])


@program
def pythons_ints_divide_numpys_numbers(im: Image, p: Position):
    i, j, rounds = p.x % 5, p.y % 4, 0
    word, whole = p.x % 3, math.floor(p.x * 0.7)
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = [
            (ZEROS[i], LISTED[j]),
            (whole, ZEROS[j]),
            (ZEROS[i], word),
            (word, ZEROS[j]),
            (whole, LISTED[j]),
            (NUMBERS[i], LISTED[j] - whole),
            (ZEROS[i] if p.y > 2 else LISTED[j], whole),
            (7, np.clip(word, 0, 3)),
            (BYTES[i], LISTED[j]),
        ]
        for a, b in pairs:
            try:
                found.append(a // b)
            except ZeroDivisionError:
                found.append(77)
        for k in range(p.x):
            try:
                rounds += ZEROS[j] // k
            except ZeroDivisionError:
                rounds += 77
    return *found[1:5], *found[6:], rounds


@program
def truths_of_rows_are_numpys(im: Image, p: Position):
    row, triple = ROWS[p.x % 3], TRIPLES[p.x % 3] * p.y
    either = row if p.y > 2 else ROWS[p.y % 3]
    low, few = row < 1, triple < 1
    a, b = either < 1
    pairs = low[0] + low[1], few[0] + few[p.y % 3], a + b, (~low)[0] + low[1]
    return *pairs, (low & (either < 1))[0] + low[1], np.logical_or(low, either < 2)[1] + a
