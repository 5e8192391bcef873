"""Containers whose structure is known: lists, tuples, dicts, sets, comprehensions, sorting."""

import itertools
import types
from typing import NamedTuple

import numpy as np

from programs.suite import Suite
from pygpu import Float, Image, Int, Position, Vec2, Vec3, offsets

program = Suite()


def row(im, p, n):
    return [im(p + (d, 0)) for d in range(n)]


def holes(im, p, n):
    return [v if v > -0.5 else np.nan for v in row(im, p, n)]


def seen(v):
    return -9.0 if np.isnan(v) else v


# ---------------------------------------------------------------- comprehensions


@program
def list_comprehension(im: Image, p: Position):
    return sum([w * im(p + (i, 0)) for i, w in enumerate((1.0, 2.0, 1.0))])


@program
def nested_comprehension(im: Image, p: Position):
    return sum([im(p + (i, j)) * (i - j) for j in range(3) for i in range(3) if i != j])


@program
def comprehension_of_comprehensions(im: Image, p: Position):
    grid = [[im(p + (i, j)) for i in range(3)] for j in range(2)]
    return sum(max(line) for line in grid)


@program
def generator_expression(im: Image, p: Position):
    return sum(v * v for v in row(im, p, 3))


@program
def comprehension_filter_on_known(im: Image, p: Position):
    return sum(im(p + (d, 0)) for d in range(6) if d % 2)


@program
def dict_comprehension(im: Image, p: Position):
    d = {name: im(p + (i, 0)) for i, name in enumerate("abc")}
    return d["a"] + 2 * d["b"] + 4 * d["c"]


@program
def set_comprehension_of_known(im: Image, p: Position):
    return sum(im(p + (d, 0)) for d in sorted({abs(d) for d in (-2, -1, 0, 1, 2)}))


@program
def comprehension_shadows_name(im: Image, p: Position):
    d = 5
    s = sum([im(p + (d, 0)) for d in range(2)])
    return s + d


@program
def zip_of_three(im: Image, p: Position):
    return sum(a * b + c for a, b, c in zip(row(im, p, 3), (1, 2, 3, 4), [0.5, 0.25, 0.125]))


@program
def zip_strict(im: Image, p: Position):
    return sum(a * b for a, b in zip(row(im, p, 3), (1, 2, 3), strict=True))


@program
def zip_transposes(im: Image, p: Position):
    rows = [(im(p), 1.0), (2.0, im(p))]
    first, second = zip(*rows)
    return first[0] + second[1] + first[1]


@program
def enumerate_with_start(im: Image, p: Position):
    return sum(i * v for i, v in enumerate(row(im, p, 3), start=1))


@program
def reversed_list(im: Image, p: Position):
    s = 0
    for v in reversed(row(im, p, 4)):
        s = s * 2 + v
    return s


@program
def reversed_range(im: Image, p: Position):
    s = 0
    for d in reversed(range(4)):
        s = s * 2 + im(p + (d, 0))
    return s


@program
def map_and_filter(im: Image, p: Position):
    odd = filter(lambda d: d % 2, range(6))
    return sum(map(lambda d: im(p + (d, 0)), odd))


@program
def sum_over_dynamic_range(im: Image, counts: Image, p: Position):
    return sum(im(p + (i, 0)) * i for i in range(counts(p)))


@program
def offsets_of_kernel(im: Image, p: Position, kernel=np.arange(6.0).reshape(2, 3)):
    return sum(w * im(p + d) for w, d in zip(np.ravel(kernel), offsets(kernel)))


@program
def long_comprehension(im: Image, p: Position):
    weights = [((i * 37) % 11) / 64 for i in range(700)]
    return sum([w * im(p + (i % 5, i % 3)) for i, w in enumerate(weights)])


@program
def long_comprehension_max(im: Image, p: Position):
    return max([((i * 37) % 101) * im(p) for i in range(700)])


# ---------------------------------------------------------------- tuples and lists


@program
def tuple_unpacking(im: Image, p: Position):
    (a, b), (c, *d) = (im(p), 2.0), (3.0, im(p), 5.0)
    return a * b + c * d[0] + d[1]


@program
def tuple_concatenation_and_repetition(im: Image, p: Position):
    t = (im(p), 1.0) + (2.0,) * 3
    return sum(t) * len(t)


@program
def tuple_comparison(im: Image, p: Position):
    a, b = (im(p), 1), (im(p + (1, 0)), 0)
    return a == b, a < b, a != b, a >= b


@program
def list_slices(im: Image, p: Position):
    vs = row(im, p, 6)
    return sum(vs[1:3]) + 2 * sum(vs[::2]) + 4 * vs[::-1][0] + 8 * sum(vs[-2:])


@program
def list_methods(im: Image, p: Position):
    vs = [im(p), 2.0]
    vs.append(3.0)
    vs.extend([im(p + (1, 0)), 5.0])
    vs.insert(1, 7.0)
    last = vs.pop()
    first = vs.pop(0)
    vs.reverse()
    return last + 2 * first + 3 * vs[0] + 5 * vs[-1] + len(vs)


@program
def list_copy_is_separate(im: Image, p: Position):
    a = [im(p), 2.0]
    b = a.copy()
    c = a[:]
    d = list(a)
    a[0] = 100.0
    return b[0] + c[0] + d[0] + a[0]


@program
def list_slice_assignment(im: Image, p: Position):
    vs = [1.0, 2.0, 3.0, 4.0]
    vs[1:3] = [im(p)]
    return vs[1] + len(vs)


@program
def list_in_place_addition(im: Image, p: Position):
    a = [im(p)]
    b = a
    a += [2.0]
    return len(b) + b[0]


@program
def list_multiplication(im: Image, p: Position):
    vs = [0.0] * 4
    for i in range(4):
        vs[i] = im(p + (i, 0))
    return vs[0] - vs[3]


@program
def list_of_lists_changed(im: Image, p: Position):
    grid = [[0.0] * 3 for _ in range(2)]
    grid[1][2] = im(p)
    grid[0][0] += 5
    return sum(map(sum, grid))


@program
def list_membership_dynamic(ints: Image, p: Position):
    return ints(p) in [1, 5, 7, 9, -3], ints(p) not in (7, 9)


@program
def list_count_and_index(counts: Image, p: Position):
    vs = [counts(p + (d, 0)) for d in range(4)]
    return vs.count(3)


@program
def list_indexed_by_known_negative(im: Image, p: Position):
    return row(im, p, 4)[-1]


@program
def list_of_dynamic_indexed_by_dynamic(im: Image, counts: Image, p: Position):
    return row(im, p, 7)[counts(p)]


@program
def tuple_of_known_indexed_by_dynamic(counts: Image, p: Position):
    return (0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5)[counts(p)]


@program
def list_assigned_at_dynamic_index(im: Image, counts: Image, p: Position):
    bins = [0.0] * 7
    for d in range(4):
        bins[counts(p + (d, 0))] += im(p + (d, 0))
    return max(bins)


@program
def list_as_stack(im: Image, p: Position):
    stack = [im(p)]
    while len(stack) < 4:
        stack.append(stack[-1] * 0.5 + 1)
    total = 0
    while stack:
        total += stack.pop()
    return total


@program
def list_kept_in_dynamic_loop(im: Image, counts: Image, p: Position):
    window, n = [0.0, 0.0, 0.0], counts(p)
    while n > 0:
        window = window[1:] + [im(p + (n, 0))]
        n -= 1
    return window[0] + 2 * window[1] + 4 * window[2]


@program
def length_and_truth(im: Image, p: Position):
    return len([im(p)] * 3) + (1 if [] else 2) + (4 if (0,) else 8)


@program
def aliased_lists_at_join(im: Image, p: Position):
    a = [1.0]
    b = a
    if im(p) > 0:
        a[0] = im(p)
    b[0] += 1
    return a[0]


# ---------------------------------------------------------------- dicts and sets


@program
def dict_access(im: Image, p: Position):
    d = {"a": im(p), ("b", 1): 2.0}
    d["c"] = 3.0
    d["a"] += 1
    return d["a"] + d[("b", 1)] + d.get("missing", 4.0) + d.get("c")


@program
def dict_iteration(im: Image, p: Position):
    d = {"x": im(p), "yy": 2.0}
    s = sum(len(k) * v for k, v in d.items()) + sum(d.values())
    return s + len(d) + sum(len(k) for k in d)


@program
def dict_methods(im: Image, p: Position):
    d = dict(a=im(p), b=2.0)
    d.update({"b": 5.0, "c": im(p)})
    popped = d.pop("c")
    kept = d.setdefault("e", 7.0)
    return d["a"] + d["b"] + popped + kept + ("c" in d) + 10 * ("e" in d)


@program
def dict_merge(im: Image, p: Position):
    d = {**{"a": 1.0, "b": 2.0}, "a": im(p)} | {"c": 3.0}
    return d["a"] + d["b"] + d["c"]


@program
def dict_deleted_key(im: Image, p: Position):
    d = {"a": im(p), "b": 1.0}
    del d["b"]
    return d["a"] + len(d)


@program
def set_of_known(im: Image, p: Position):
    s = {1, 2, 3} - {2} | {5}
    return im(p) * len(s) + (5 in s)


# ---------------------------------------------------------------- sorting


@program
def sorted_of_dynamic(im: Image, p: Position):
    vs = sorted(row(im, p, 5))
    return vs[0] + 2 * vs[2] + 4 * vs[4]


@program
def sorted_reverse(im: Image, p: Position):
    return sorted(row(im, p, 4), reverse=True)[1]


@program
def sorted_with_key(im: Image, p: Position):
    vs = sorted(row(im, p, 4), key=abs)
    return vs[0] * 3 + vs[3]


@program
def sorted_of_ints(ints: Image, p: Position):
    a, b, c = sorted([ints(p), ints(p + (1, 0)), 0])
    return c - a, b


@program
def sorted_pairs_by_known_key(im: Image, p: Position):
    pairs = sorted([(2, im(p)), (1, 5.0)], key=lambda pair: pair[0])
    return pairs[0][1] - pairs[1][1]


@program
def list_sort(im: Image, p: Position):
    vs = row(im, p, 3)
    vs.sort()
    return vs[1]


@program
def median_by_sorting(im: Image, p: Position):
    return sorted(im(p + d) for d in offsets(np.ones((3, 3))))[4]


@program
def numpy_sort(im: Image, p: Position):
    return np.sort(row(im, p, 5))[1]


@program
def numpy_median(im: Image, p: Position):
    return np.median(row(im, p, 5)) + np.median(row(im, p, 4))


@program
def numpy_argmin_argmax(im: Image, p: Position):
    vs = row(im, p, 5)
    return np.argmin(vs) + 10 * np.argmax(vs)


@program
def numpy_sort_of_nan(im: Image, p: Position):
    ordered = np.sort(holes(im, p, 4))
    return seen(ordered[0]), seen(ordered[1]), seen(ordered[3])


@program
def numpy_median_of_nan(im: Image, p: Position):
    return tuple([seen(np.median(holes(im, p, n))) for n in (4, 5, 9)])


@program
def numpy_sort_of_nan_and_known(im: Image, p: Position):
    ordered = np.sort([*holes(im, p, 2), np.inf, 0.25])
    return seen(ordered[0]), seen(ordered[1]), min(seen(ordered[2]), 99), min(seen(ordered[3]), 99)


@program
def numpy_argmin_argmax_of_nan(im: Image, p: Position):
    vs = holes(im, p, 4)
    return np.argmin(vs) + 10 * np.argmax(vs)


@program
def numpy_median_and_argmax_of_ints(im: Image, p: Position):
    vs = [int(3 * v) for v in row(im, p, 5)]
    return np.median(vs), np.sort(vs)[3], np.argmax(vs)


@program
def min_max_by_key_of_vectors(vecs: Image, p: Position):
    return max([vecs(p), vecs(p + (1, 0))], key=lambda v: v.x)


@program
def min_of_dynamic_and_known_list(im: Image, p: Position):
    return min([*row(im, p, 3), 0.5]) + max(0.25, *row(im, p, 3))


@program
def argmax_by_hand(im: Image, p: Position):
    best, where = im(p), 0
    for i, v in enumerate(row(im, p, 5)):
        if v > best:
            best, where = v, i
    return where


@program
def argmin_position(im: Image, p: Position):
    best, at = im(p), p
    for d in [(1, 0), (0, 1), (1, 1)]:
        if im(p + d) < best:
            best, at = im(p + d), p + d
    return at.x * 10 + at.y


@program
def vectors_in_list(flow: Image, p: Position):
    vs = [flow(p), Vec2(1.0, 2.0), Vec2(p)]
    return sum(vs, Vec2(0.0, 0.0))


@program
def known_list_of_known_vectors(im: Image, p: Position):
    colours = [Vec3(1.0, 0.0, 0.0), Vec3(0.0, 1.0, 0.5)]
    return sum(c * im(p + (i, 0)) for i, c in enumerate(colours))


@program
def histogram_of_window(im: Image, p: Position):
    bins = [0] * 4
    for d in offsets(np.ones((3, 3))):
        v = im(p + d)
        for k in range(4):
            if -2 + k <= v < -1 + k:
                bins[k] += 1
    return bins[0] + 10 * bins[1] + 100 * bins[2] + 1000 * bins[3]


# ---------------------------------------------------------------- iterators over iterators


@program
def one_iterator_zipped_with_itself(im: Image, p: Position):
    total = 0.0
    for a, b in zip(*[iter([im(p), 1.0, im(p + (1, 0)), 2.0])] * 2, strict=True):
        total += a * b
    return total


@program
def iterators_that_go_on(im: Image, p: Position):
    it = iter([im(p), 2.0, 3.0, 4.0])
    head = list(itertools.islice(it, 2))
    rest = list(it)
    total = len(head) + 10 * len(rest) + rest[0]
    for x in (it2 := iter([im(p), 1.0, 2.0])):
        total += x * next(it2, 7.0)
    return total


@program
def endless_iterators(im: Image, p: Position):
    total = 0.0
    for i, j in zip(itertools.count(), itertools.count(10, 2)):
        if i > 3:
            break
        total += i * j
    for i, x in enumerate(itertools.cycle([im(p), 1.0]), 5):
        if i > 9:
            break
        total += i * x
    scaled = map(lambda x: x * im(p), itertools.count(1))
    return total + next(scaled) + next(scaled) + next(itertools.count(im(p), 0.5))


@program
def cycle_that_goes_on_after_a_branch(im: Image, p: Position):
    it = itertools.cycle([im(p), 1.0, 2.0])
    total = next(it) if im(p) > 0 else next(it) * 2
    return total + next(it)


@program
def count_left_by_a_dynamic_condition(im: Image, p: Position):
    total = 0.0
    for i, w in enumerate(itertools.count(1)):
        total += w * im(p + (i, 0))
        if total > 3 or i == 10:
            break
    return total


@program
def itertools_by_known_conditions(im: Image, p: Position):
    v = im(p)
    total = sum(itertools.islice(filter(lambda k: k % 3 == 0, itertools.count()), 4)) * v
    total += sum(itertools.filterfalse(lambda k: k % 2, range(6))) * v
    total += sum(itertools.takewhile(lambda k: k < 3, itertools.count())) * v
    total += sum(itertools.dropwhile(lambda k: k < 3, [1, 2, 3, 1])) * v
    total += sum(itertools.islice(itertools.chain([v], itertools.repeat(2.0)), 1, 6, 2))
    for k, group in itertools.groupby([(1, v), (1, 2.0), (2, v)], key=lambda t: t[0]):
        total += k * sum(x for _, x in group)
    a, b = itertools.tee([v, 2.0])
    return total + next(a) + sum(b) + sum(a)


# ---------------------------------------------------------------- filters on dynamic conditions


@program
def generator_with_dynamic_filter(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(4)]
    return (
        sum(x for x in xs if x > 0),
        sum(1 for x in xs if x > 0),
        sum(x * y for x in xs if x > 0 for y in xs if y < x),
        any(x > 1 for x in xs if x > 0),
        all(x > 0.5 for x in xs if x > 0),
        max((x for x in xs if x < 0.5), default=9.0),
        min((x for x in xs if x > 0), default=-1),
        max((x for x in xs if x > -100), key=abs),
    )


@program
def generator_of_vectors_with_dynamic_filter(vecs: Image, p: Position):
    return sum((v for v in [vecs(p), vecs(p + (1, 0))] if v.x > 0), Vec3(0.0))


@program
def long_generator_with_dynamic_filter(small: Image, counts: Image, p: Position):
    n = counts(p) * 3
    return (
        sum(small(p + (i, 0)) for i in range(n) if small(p + (i, 0)) > 0),
        any(small(p + (i, 0)) > 0.5 for i in range(n) if i % 2),
        all(small(p + (i, 0)) < 0.5 for i in range(n) if i % 2),
        max((small(p + (i, 0)) for i in range(n) if i % 2), default=3.0),
        max((small(p + (i, 0)) for i in range(n - 4)), default=-1.0),
        sum(small(p + (i % 7, i // 7)) for i in range(5000) if small(p + (i % 7, 0)) > 0),
    )


# ---------------------------------------------------------------- changes while iterating


@program
def enumerate_of_a_list_that_changes(im: Image, p: Position):
    xs = [im(p), 1.0, 2.0]
    total = 0.0
    for i, x in enumerate(xs):
        if i < 2:
            xs[i + 1] += x
        total = 2 * total + x
    return total


@program
def enumerate_of_a_list_that_grows(im: Image, p: Position):
    xs = [im(p), 1.0]
    for i, x in enumerate(xs):
        if i < 3:
            xs.append(x + i)
    return sum(xs) + 10 * len(xs)


@program
def zip_of_lists_that_change(im: Image, p: Position):
    xs, ys = [im(p), 1.0, 2.0], [3.0, 4.0, 5.0]
    total = 0.0
    for i, (x, y) in enumerate(zip(xs, ys)):
        xs[2] = y
        if im(p) > 0:
            ys[(i + 1) % 3] = x
        total = 2 * total + x * y
    return total


@program
def reversed_list_that_changes(im: Image, p: Position):
    xs = [im(p), 1.0, 2.0]
    backwards = reversed(xs)
    first = next(backwards)
    xs[1] = 7.0
    return first + 10 * next(backwards)


@program
def views_of_a_dict_that_changes(im: Image, p: Position):
    d = {"a": im(p), "b": 2.0}
    values = d.values()
    total = 0.0
    for key, value in d.items():
        d["b"] = value + 1
        total = 2 * total + value + (key == "a")
    return total + 10 * sum(values)


# ---------------------------------------------------------------- slices of unknown length

NUMBERS = [1.0, 5.0, 2.0, 8.0]
ROWS = np.arange(12.0).reshape(3, 4)
BYTES = np.array([200, 100, 3, 250], np.uint8)


@program
def folds_of_slices(im: Image, p: Position):
    xs, k = [im(p), 1.0, 2.0, 3.0], p.x % 5
    return sum(xs[:k]), max(xs[p.x % 4 :]), len(NUMBERS[k:]), sum(NUMBERS[-k:]), sum(xs[1:k])


@program
def slices_that_may_be_empty_or_end_before(im: Image, p: Position, n: int = 3):
    k = p.x - 2
    found = sum(NUMBERS[k:n]), len(NUMBERS[:k]), sum(NUMBERS[:-k]), len(NUMBERS[k - 9 : k + n])
    return (*found, any(v > 4 for v in NUMBERS[:k]), all(v > 4 for v in NUMBERS[k:]))


@program
def slices_in_loops(im: Image, p: Position):
    total = 0.0
    for v in NUMBERS[: p.x]:
        total = total * 0.5 + v * im(p)
    return total


@program
def slices_of_arrays(im: Image, p: Position):
    a, k = np.array([im(p), 1.0, 2.0, 4.0]), p.x % 4
    row = ROWS[p.y % 3]
    few = (BYTES[: k + 1].astype(int) * 2).sum()
    return (
        few,
        a[k:].sum(),
        (a[:k] * 2).sum(),
        a[: k + 1].mean(),
        ROWS[p.y % 3, :k].sum(),
        row[k:].max(),
    )


def weights(g):
    return (0.25, 0.5, g)


@program(g=0.75, n=3)
def comprehensions_in_comprehensions_of_any_length(small: Image, p: Position, g: Float, n: Int):
    xs = [sum([w * small(p + (k, 0)) for w in weights(g)]) for k in range(n)]
    ys = [
        max([w * k for w in weights(g)] + [i / 2 for i in (1, 2) for _ in (0, 1)]) for k in range(n)
    ]
    zs = [min([w * small(p + (k % 3, 0)) for w in weights(g)]) for k in range(5000)]
    return sum(xs), sum(ys), zs[n]


@program(g=0.75, n=3)
def comprehensions_in_loops_within_loops(im: Image, p: Position, g: Float, n: Int):
    v = im(p)
    for _ in range(n):
        for _ in range(n):
            for k in range(n):
                v = v * 0.5 + sum([w * k for w in weights(g)])
    return v


@program(g=0.75, n=3)
def lists_that_wait_while_a_loop_makes_others(im: Image, p: Position, g: Float, n: Int):
    found = [0.0]
    for k in range(n):
        found[0] += sum([w * im(p + (k, 0)) for w in weights(g) for _ in (1, 2)])
    return found[0]


def total(xs, n):
    result = 0.0
    for i in range(n):
        result += xs[i]
    return result


# Of another module, where the same name is another function's.
TOTAL = types.FunctionType(total.__code__, {"weights": lambda g: (100.0, g)})


@program(g=0.75, n=3)
def items_that_are_made_where_another_module_asks_for_them(
    small: Image, p: Position, g: Float, n: Int
):
    xs = [weights(g)[1] * small(p + (k % 3, 0)) for k in range(5000)]
    ys = [sum(weights(g)) * k for k in range(n)]
    return TOTAL(xs, n), sum(ys)


@program
def ranges_around_a_pixel(im: Image, p: Position):
    x, y = p
    near = [im((i, j)) for j in range(y - 1, y + 2) for i in range(x - 1, x + 2)]
    s = 0.0
    for j in range(y + 2, y - 3, -2):
        for i in reversed(range(x - 2, x + 1)):
            s += im((i, j)) * (i - x)
    cells = sorted(abs(i - 3) for i in range(x - 1, x + 2))
    return s, sorted(near)[4] + sum(near), cells[0] + 10 * cells[1]


@program
def ranges_from_a_dynamic_start(im: Image, p: Position):
    r = range(p.x - 1, p.x + 4)
    even = r[::2]
    found = r.start + r.stop * 3 + r[1] * 5 + len(r) + r.index(p.x) + even[-1]
    found += (p.x in r) + 2 * (p.x + 9 in r) + 4 * isinstance(r, range) + 8 * isinstance(r, tuple)
    return found + even.step + len(range(p.x, p.x)) + sum(r if im(p) > 0.5 else even)


@program
def parts_of_strings_of_any_length(im: Image, p: Position):
    text, rows = "*..*.*", ("*..*", "....", ".*.*")
    part, found = text[max(p.x - 1, 0) : p.x + 2], 0
    for row in rows[max(p.y % 3 - 1, 0) : p.y % 3 + 2]:
        found += row[max(p.x % 4 - 1, 0) : p.x % 4 + 2].count("*")
    marks = sum(letter == "*" for letter in text[p.y : p.x + 1])
    return len(part), part.count("*"), part.startswith("*"), part == "*.*", marks, found


@program
def methods_of_strings_of_several_options(im: Image, p: Position):
    text = "ab" + ("c" if p.x > 1 else "d") + ("c" if p.y > 1 else "")
    end = ("c" if p.x > 2 else "") + ("d" if p.y > 2 else "") + ("c" if p.x > 3 else "")
    one, other = ("c" if p.x > 2 else "d"), ("e" if p.y > 2 else "f")
    turned = text.replace(one, other)
    ends = text.endswith(end), text.endswith(one), text.startswith(one)
    return *ends, text.find(one), text.count(one), len(turned), turned == "abec"


class Pair(NamedTuple):
    first: int
    second: int = 5


@program
def places_in_named_tuples(counts: Image, p: Position):
    pair = Pair(counts(p))
    xs = list(range(6))
    if counts(p) % 2:
        del xs[counts(p) % 5]
    del xs[1:3]
    return pair.index(pair.second), pair.count(5), sum(x * 7**k for k, x in enumerate(xs))
