"""Long sequences, deep nests and large windows: what is not unrolled gives the same result."""

import math

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, offsets

program = Suite()

DISC = [(i, j) for j in range(-12, 13) for i in range(-12, 13) if i * i + j * j <= 144]
LONG = [((7 * i) % 13 - 6) / 32 for i in range(1500)]


@program
def disc_average(im: Image, p: Position):
    return sum(im(p + d) for d in DISC) / len(DISC)


@program
def disc_of_colours(rgb: Image, p: Position):
    return sum(rgb(p + d) for d in DISC) / len(DISC)


@program
def colours_added_to_a_number(rgb: Image, p: Position):
    total = 0.0
    for i, j in DISC:
        total += rgb(p + (i, j))
    return total / len(DISC)


@program
def colours_added_in_nested_loops(rgb: Image, p: Position, radius=11):
    total = 0
    for j in range(-radius, radius + 1):
        for i in range(-radius, radius + 1):
            total = total + rgb(p + (i, j)) * (1 / (1 + i * i + j * j))
    return total


@program
def disc_average_of_list(im: Image, p: Position):
    vs = [im(p + d) for d in DISC]
    return sum(vs) / len(vs)


@program
def disc_by_condition_in_loop(im: Image, p: Position, radius=9):
    total, n = 0.0, 0
    for j in range(-radius, radius + 1):
        for i in range(-radius, radius + 1):
            if i * i + j * j <= radius * radius:
                total += im(p + (i, j))
                n += 1
    return total / n


@program
def disc_maximum(im: Image, p: Position):
    return max(im(p + d) for d in DISC)


@program
def window_of_weights_by_function(im: Image, p: Position, radius=10):
    total, weights = 0.0, 0.0
    for j in range(-radius, radius + 1):
        for i in range(-radius, radius + 1):
            w = math.exp(-(i * i + j * j) / 50)
            total += w * im(p + (i, j))
            weights += w
    return total / weights


@program
def window_of_dynamic_weights(im: Image, p: Position, radius=9):
    centre, total, weights = im(p), 0.0, 0.0
    for j in range(-radius, radius + 1):
        for i in range(-radius, radius + 1):
            v = im(p + (i, j))
            w = math.exp(-((v - centre) ** 2))
            total += w * v
            weights += w
    return total / weights


@program(kernel=np.random.default_rng(2).normal(size=(25, 25)) / 25)
def large_kernel_in_loops(im: Image, p: Position, kernel):
    total = 0.0
    for j in range(25):
        for i in range(25):
            total += kernel[j, i] * im(p + (i - 12, j - 12))
    return total


@program(kernel=np.random.default_rng(2).normal(size=(25, 25)) / 25)
def large_kernel_with_enumerate(im: Image, p: Position, kernel):
    total = 0.0
    for j, row in enumerate(kernel):
        for i, w in enumerate(row):
            total += w * im(p + (i - 12, j - 12))
    return total


@program(kernel=np.random.default_rng(4).normal(size=(21, 21)) / 21)
def large_kernel_by_dot(im: Image, p: Position, kernel):
    return np.dot(np.ravel(kernel), [im(p + d) for d in offsets(kernel)])


@program(kernel=np.random.default_rng(4).normal(size=(21, 21)) / 21)
def large_kernel_on_colours(rgb: Image, p: Position, kernel):
    return sum(w * rgb(p + d) for w, d in zip(np.ravel(kernel), offsets(kernel)))


@program
def long_list_in_dynamic_branch(im: Image, p: Position):
    if im(p) > 0:
        return sum(w * im(p + (i % 7, 0)) for i, w in enumerate(LONG))
    return 0.0


@program
def long_loop_with_dynamic_break(im: Image, p: Position):
    total = 0.0
    for i in range(900):
        total += abs(im(p + (i % 7, i % 5)))
        if total > 10:
            break
    return i


@program
def long_loop_with_dynamic_return(im: Image, p: Position):
    total = 0.0
    for i in range(900):
        total += im(p + (i % 7, i % 5)) ** 2
        if total > 20:
            return total
    return -1.0


@program
def long_loop_with_dynamic_continue(im: Image, p: Position):
    n = 0
    for w in LONG:
        if w * im(p) <= 0.1:
            continue
        n += 1
    return n


@program
def long_loop_with_else(im: Image, p: Position):
    for w in LONG:
        if w > im(p) + 1:
            r = 1
            break
    else:
        r = 2
    return r


@program
def long_loop_with_known_state(im: Image, p: Position):
    total, sign = 0.0, 1.0
    for i in range(1000):
        total += sign * (im(p) + i % 3)
        sign = -sign
    return total


@program
def long_loop_with_known_branches(im: Image, p: Position):
    total = 0.0
    for i in range(1200):
        if i % 3 == 0:
            total += im(p)
        elif i % 3 == 1:
            total -= im(p + (1, 0))
        else:
            total += 0.25
    return total


@program
def long_loop_over_pairs(im: Image, p: Position):
    total = 0.0
    for a, b in zip(LONG, LONG[1:]):
        total += max(a, b) * im(p)
    return total


@program
def long_loop_over_tuples_of_three(im: Image, p: Position):
    steps = [((i * 5) % 7, (i * 3) % 5, w) for i, w in enumerate(LONG)]
    return sum(w * im((x, y)) for x, y, w in steps) + im(p)


@program
def long_loop_in_called_function(im: Image, p: Position):
    def total(f, n):
        s = 0.0
        for i in range(n):
            s += f(i)
        return s

    return total(lambda i: im(p + (i % 4, 0)), 800) - total(lambda i: i * im(p), 900)


@program
def long_while_on_known(im: Image, p: Position):
    i, total = 0, 0.0
    while i < 1500:
        total += im(p) * (i % 2)
        i += 1
    return total + i


@program
def long_any_and_all(im: Image, p: Position):
    return any(w > im(p) + 1.5 for w in LONG), all(w < im(p) + 2 for w in LONG)


@program
def long_minimum_with_index(im: Image, p: Position):
    best, where = 1e9, -1
    for i, w in enumerate(LONG):
        d = abs(w * 8 - im(p) - i / 4096)
        if d < best:
            best, where = d, i
    return where


@program
def nested_long_and_short(im: Image, p: Position):
    total = 0.0
    for i in range(400):
        for d in ((0, 0), (1, 0), (0, 1)):
            total += im(p + d) * (i % 2)
    return total


@program
def nested_long_in_dynamic(counts: Image, p: Position):
    n, total = counts(p), 0.0
    while n > 0:
        for w in LONG:
            total += w * n
        n -= 1
    return total


@program
def polynomial_of_high_degree(unit: Image, p: Position):
    r = 0.0
    for c in LONG:
        r = r * (unit(p) * 0.5) + c
    return r


@program
def vectors_in_long_loop(vecs: Image, p: Position):
    v = Vec2(1.0, 0.0)
    for i in range(700):
        v = Vec2(0.7 * v.x - 0.5 * v.y + 0.25, 0.5 * v.x + 0.7 * v.y)
        if i % 100 == 0:
            v = v * 0.5 + vecs(p).xy
    return v


@program
def sort_of_25(im: Image, p: Position):
    vs = sorted(im(p + d) for d in offsets(np.ones((5, 5))))
    return vs[12], vs[0], vs[24], vs[5]


@program
def median_of_49(im: Image, p: Position):
    return np.median([im(p + d) for d in offsets(np.ones((7, 7)))])


@program
def sum_of_sums(im: Image, p: Position):
    return sum(sum(im(p + (i, j)) for i in range(20)) * (j % 3) for j in range(40))


@program
def column_and_row_sums(im: Image, p: Position):
    return sum(im((x % 7, p.y)) for x in range(300)) - sum(im((p.x, y % 5)) for y in range(300))


@program
def mapped_long(im: Image, p: Position):
    return sum(map(lambda w: w * w * im(p), LONG))


@program
def long_array_times_dynamic(im: Image, p: Position):
    return (np.array(LONG) * im(p)).sum()


@program
def long_array_times_dynamic_maximum(im: Image, p: Position):
    return np.max(np.array(LONG) * im(p))


@program
def histogram_equalised_by_long_loop(unit: Image, p: Position):
    below = 0
    for y in range(5):
        for x in range(7):
            if unit((x, y)) <= unit(p):
                below += 1
    return below / 35


@program
def deep_nesting_of_branches(im: Image, p: Position):
    v, n = im(p), 0
    for k in range(12):
        if v > 0:
            v = v - 0.3
            if v < 0.5:
                n += k
            else:
                n += 1
        else:
            v = v + 0.7
            n -= 1
    return n


@program
def deep_calls(im: Image, p: Position):
    def nest(f, n):
        return f if n == 0 else nest(lambda v: f(v) * 0.5 + 1, n - 1)

    return nest(lambda v: v, 40)(im(p))


@program
def many_variables(im: Image, p: Position):
    vs = [im(p + (i % 7, i // 7)) for i in range(35)]
    for k in range(3):
        vs = [(a + b) * 0.5 for a, b in zip(vs, vs[1:] + vs[:1])]
    return sum(w * v for w, v in enumerate(vs))


@program
def sums_of_subsets(counts: Image, p: Position):
    sizes = [counts(p + (i, 0)) for i in range(5)]
    reach = [True] + [False] * 30
    for size in sizes:
        for s in range(30, -1, -1):
            if s >= size and reach[s - size]:
                reach[s] = True
    return sum(reach), reach[11]


@program
def most_worth_in_a_bag(counts: Image, unit: Image, p: Position):
    things = [(counts(p + (i, 0)), unit(p + (0, i))) for i in range(6)]
    best = [0.0] * 25
    for weight, worth in things:
        for room in range(24, 0, -1):
            if room >= weight:
                best[room] = max(best[room], best[room - weight] + worth)
    return best[24], best[7]
