"""Corners of the language where a translator easily goes wrong."""

import collections
import functools
import itertools
import math
import operator
import string

import numpy as np

import pygpu
from programs.suite import Suite
from pygpu import Image, Int, IVec2, Mat2, Position, Vec3, Vec4, offsets

program = Suite()


# ---------------------------------------------------------------- control flow


@program
def loop_over_list_that_grows(im: Image, p: Position):
    xs = [im(p)]
    for x in xs:
        if len(xs) < 5:
            xs.append(x * 0.5 + 1)
    return sum(xs)


@program
def loop_over_dict_items_with_branch(im: Image, p: Position):
    total = 0.0
    for name, w in {"a": 1.0, "b": -2.0, "c": 0.5}.items():
        if name != "b" and im(p) * w > 0.1:
            total += w
    return total


@program
def break_out_of_three_loops_by_return(im: Image, p: Position):
    def find(limit):
        for k in range(3):
            for j in range(3):
                for i in range(3):
                    if im(p + (i, j)) + k * 0.25 > limit:
                        return i + 10 * j + 100 * k
        return -1

    return find(1.25) + find(100.0)


@program
def continue_in_dynamic_loop_with_else(counts: Image, p: Position):
    n, s = counts(p), 0
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n == 5:
            break
        s += n
    else:
        s += 100
    return s


@program
def break_in_nested_dynamic_loops_keeps_outer_going(counts: Image, p: Position):
    s = 0
    for j in range(counts(p)):
        for i in range(10):
            if i * j > 6:
                break
            s += 1
        else:
            s += 1000
            continue
        s += 100
    return s


@program
def loop_exit_values(counts: Image, p: Position):
    a, b = 0, 10
    while True:
        a += 1
        if a >= counts(p):
            b = a * 2
            break
        b -= 1
        if b < 7:
            a = -5
            break
    return a * 100 + b


@program
def return_value_computed_before_loop_changes(counts: Image, p: Position):
    a, b, n = 1, 1, counts(p)
    while n:
        old = a
        a, b = b, old + b
        n -= 1
        if old > 4:
            return old * 1000 + a
    return a


@program
def swap_chain_in_loop(counts: Image, p: Position):
    a, b, c, d, n = 1, 2, 3, 4, counts(p)
    while n > 0:
        a, b, c, d = d, a, b, c
        n -= 1
    return a * 1000 + b * 100 + c * 10 + d


@program
def condition_uses_value_before_update(counts: Image, p: Position):
    n, last = counts(p), 0
    while (m := n) > 1 and m != last:
        last = n
        n = n - 1 if m % 2 else n // 2
    return n * 10 + last


@program
def loop_condition_with_side_effect_on_list(counts: Image, p: Position):
    xs, n = [0, 0], counts(p)

    def step():
        xs[0] += 1
        return xs[0] < n

    while step():
        xs[1] += xs[0]
    return xs[1] * 10 + xs[0]


@program
def loop_in_both_branches(im: Image, counts: Image, p: Position):
    n, s = counts(p), 0.0
    if im(p) > 0:
        while n > 0:
            s += n
            n -= 1
    else:
        for i in range(n):
            s -= im(p + (i, 0))
    return s


@program
def loop_carries_none_first(im: Image, p: Position):
    best = None
    for d in ((0, 0), (1, 0), (0, 1)):
        v = im(p + d)
        if best is None or v > best:
            best = v
    return best


@program
def loop_variable_becomes_float(counts: Image, p: Position):
    x, n = 1, counts(p)
    while n > 0:
        x = x / 2
        n -= 1
    return x


@program
def loop_variable_is_float_on_one_path(im: Image, counts: Image, p: Position):
    x, n = 1, counts(p)
    while n > 0:
        if im(p + (n, 0)) > 0:
            x = x * 0.5
        n -= 1
    return x


@program
def bool_becomes_int_in_loop(counts: Image, p: Position):
    x, n = True, counts(p)
    while n > 0:
        x = x + x
        n -= 1
    return x


@program
def known_after_loop_is_known(im: Image, counts: Image, p: Position):
    mode, n, s = "double", counts(p), 0.0
    while n > 0:
        s += im(p) * (2 if mode == "double" else 1)
        n -= 1
    return s + len(mode)


@program
def tuple_in_loop_with_position(im: Image, counts: Image, p: Position):
    best, n = (im(p), p), counts(p)
    while n > 0:
        q = p + (n, 0)
        if im(q) > best[0]:
            best = (im(q), q)
        n -= 1
    return best[1].x - p.x


@program
def empty_range_dynamic(counts: Image, p: Position):
    s = 7
    for i in range(counts(p), counts(p)):
        s = i
    for i in range(5, counts(p) - 10):
        s = i
    return s


@program
def range_objects(counts: Image, p: Position):
    r = range(0, 20, 3)
    return len(r) + r[2] + r[-1] + (counts(p) in r) + sum(r)


@program
def dynamic_in_known_range(ints: Image, p: Position):
    return ints(p) in range(-10, 10, 2)


@program
def enumerate_of_dynamic_range(counts: Image, p: Position):
    s = 0
    for k, i in enumerate(range(2, counts(p) + 2)):
        s += k * i
    return s


@program
def zip_with_dynamic_range(im: Image, counts: Image, p: Position):
    s = 0.0
    for i, w in zip(range(counts(p)), (1.0, 2.0, 3.0)):
        s += w * im(p + (i, 0))
    return s


@program
def reversed_dynamic_range(counts: Image, p: Position):
    s = 0
    for i in reversed(range(counts(p))):
        s = s * 2 + i
    return s


@program
def max_over_dynamic_range(im: Image, counts: Image, p: Position):
    return max(im(p + (i, 0)) for i in range(counts(p)))


@program
def any_over_dynamic_range(im: Image, counts: Image, p: Position):
    return any(im(p + (i, 0)) > 1 for i in range(counts(p)))


@program
def while_not(counts: Image, p: Position):
    n, done = counts(p), False
    while not done:
        n += 2
        done = n > 9
    return n


@program
def condition_of_unlike_kinds(ints: Image, im: Image, p: Position):
    return (ints(p) > 0 and im(p)) or (p.x and 0.5) or 3


@program
def ternary_chain_of_mixed_kinds(im: Image, p: Position):
    v = im(p)
    return True if v > 1 else 3 if v > 0 else 0.5


@program
def conditional_lambda_body(im: Image, p: Position):
    f = lambda v: v if v > 0 else -v * 2  # noqa: E731
    return f(im(p)) - f(-im(p))


@program
def assigned_in_condition_of_comprehension(im: Image, p: Position):
    return [y := im(p), y**2, y + 1][2] + y


# ---------------------------------------------------------------- scopes


@program
def default_argument_shared_between_calls(im: Image, p: Position):
    def collect(v, into=[]):
        into = into + [v]
        return sum(into)

    return collect(im(p)) + collect(1.0)


@program
def own_default_list_is_kept(im: Image, p: Position):
    def make():
        def collect(v, into=[]):
            into.append(v)
            return sum(into)

        return collect

    f = make()
    return f(im(p)) + 10 * f(1.0)


@program
def class_scope_is_not_seen_by_methods(im: Image, p: Position):
    gain = 2.0

    class Amplifier:
        gain = 5.0

        def apply(self, v):
            return v * gain + self.gain

    return Amplifier().apply(im(p))


@program
def name_shadows_builtin(im: Image, p: Position):
    max = lambda a, b: a - b  # noqa: E731, A001
    return max(im(p), 1.0)


@program
def comprehension_reads_enclosing_loop(im: Image, p: Position):
    return sum(sum(im(p + (i, j)) for i in range(j + 1)) for j in range(3))


@program
def nested_nonlocal(im: Image, p: Position):
    x = im(p)

    def outer():
        def inner():
            nonlocal x
            x += 1
            return x

        return inner() + inner()

    return outer() * 10 + x


@program
def free_variable_of_recursive_lambda(im: Image, p: Position):
    fact = lambda n: 1 if n == 0 else n * fact(n - 1)  # noqa: E731
    return im(p) * fact(5)


@program
def star_in_subscript_and_call(im: Image, p: Position):
    def f(*args, sep=0.0, **kw):
        return sum(args) + sep + kw["z"]

    a = (1.0, im(p))
    return f(*a, *a, sep=2.0, **{"z": im(p)})


# ---------------------------------------------------------------- numbers


@program
def minus_zero(im: Image, p: Position):
    v = im(p) * 0.0
    return math.copysign(1.0, -0.0), math.copysign(1.0, v + 0.0)


@program
def constants_beyond_float32(im: Image, p: Position):
    return im(p) > 1e300, im(p) < -1e300, im(p) * 1e-60


@program
def negative_integer_power_of_minus_one(ints: Image, p: Position):
    return (-1) ** abs(ints(p)), (-1.0) ** p.x


@program
def float_compared_with_large_integer(im: Image, p: Position):
    return im(p) * 1e9 > 2**31


@program
def integer_float_round_trip(ints: Image, p: Position):
    return int(float(ints(p)) / 3), int(-0.5 + p.x), round(p.x / 2)


@program
def modulo_of_negative_zero_crossing(p: Position, im: Image):
    return (p.x - 3) % 4, (p.x - 3) // 4, (p.x - 3.5) % 4, (p.x - 3.5) // 4, math.fmod(p.x - 3.5, 4)


@program
def powers_of_mixed_kinds(counts: Image, im: Image, p: Position):
    return (
        counts(p) ** 2,
        counts(p) ** 0.5,
        2 ** max(counts(p), 0),
        2.0 ** -counts(p),
        abs(im(p)) ** counts(p),
    )


@program
def shift_of_known_by_dynamic(counts: Image, p: Position):
    return 1 << counts(p), 1000 >> counts(p), -1000 >> counts(p)


@program
def bits_of_mixed_bools_and_ints(ints: Image, mask: Image, p: Position):
    return (
        (ints(p) & 1) == 1,
        mask(p) | (ints(p) > 0),
        mask(p) ^ True,
        (ints(p) > 0) + (ints(p) & 3),
    )


@program
def integer_abs_sign_min_max(ints: Image, pairs: Image, p: Position):
    return abs(ints(p)), min(ints(p), 3), max(ints(p), pairs(p).x, 0), np.sign(ints(p))


@program
def division_chain(im: Image, p: Position):
    return 1 / (im(p) + 5) / 3 * 2, 7 // 2 * im(p), -7 // 2 + im(p), -7 % 3 + im(p)


@program
def math_on_integers(counts: Image, p: Position):
    return math.sqrt(counts(p)), math.exp(-counts(p)), math.pow(counts(p), 2), math.hypot(p.x, p.y)


@program
def clamp_by_min_and_max(im: Image, p: Position):
    return max(0, min(1, im(p))), min(max(im(p), -1), 1), max(min(p.x, 4), 2)


@program
def sum_of_bools_and_comparison(im: Image, p: Position):
    return sum(im(p + d) > im(p) for d in offsets(np.ones((3, 3)))) > 4


@program
def hexadecimal_colour(ints: Image, p: Position):
    c = 0xFF8040
    return ((c >> 16) & 255) / 255 * ints(p), c & 255, Int(c) * 256


@program
def unsigned_like_shift(p: Position, im: Image):
    h = p.x * 2654435761 ^ p.y * 40503
    return (h >> 16) & 0xFFFF, (h & 0x7FFFFFFF) % 10


@program
def accumulated_integer_overflow(counts: Image, p: Position):
    h, n = 5381, counts(p) * 4
    while n > 0:
        h = h * 33 + n
        n -= 1
    return h


@program
def accumulated_integer_overflow_of_known_start(counts: Image, p: Position):
    h = Int(2166136261)
    for i in range(counts(p)):
        h = (h ^ i) * 16777619
    return h


# ---------------------------------------------------------------- containers


@program
def max_of_enumerate_by_value(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(5)]
    return max(enumerate(vs), key=lambda pair: pair[1])[0]


@program
def sorted_pairs_of_dynamic(im: Image, other: Image, p: Position):
    pairs = [(im(p + (d, 0)), other(p + (d, 0))) for d in range(3)]
    return sorted(pairs)[0][1], sorted(pairs, key=lambda t: -t[1])[0][0]


@program
def sorted_stably_by_key(im: Image, p: Position):
    pairs = [(im(p + (d, 0)) > 0, d) for d in range(5)]
    return sum(d * 6**k for k, (_, d) in enumerate(sorted(pairs, key=lambda t: t[0])))


@program
def sorted_indices(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(4)]
    order = sorted(range(4), key=lambda i: vs[i])
    return order[0] + 10 * order[3]


@program
def sorted_then_indexed_by_dynamic(im: Image, counts: Image, p: Position):
    return sorted(im(p + (d, 0)) for d in range(7))[counts(p)]


@program
def counter_of_known(im: Image, p: Position):
    return im(p) * collections.Counter("banana")["a"]


@program
def grouped_known(im: Image, p: Position):
    groups = itertools.groupby([1, 1, 2, 3, 3], key=lambda v: v)
    return sum(k * len(list(g)) for k, g in groups) * im(p)


@program
def nested_unpacking_in_for(im: Image, p: Position):
    s = 0.0
    for i, ((dx, dy), w) in enumerate([((0, 0), 1.0), ((1, 0), 2.0)]):
        s += i + w * im(p + (dx, dy))
    return s


@program
def list_of_tuples_to_columns(im: Image, p: Position):
    xs, ys = map(list, zip(*[(im(p), 1.0), (2.0, 3.0)]))
    xs.append(5.0)
    return sum(xs) * sum(ys)


@program
def slice_objects(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(6)]
    middle = slice(1, -1, 2)
    return sum(vs[middle]) + sum(vs[4:]) + sum(vs[:-4]) + vs[-2]


@program
def list_equality_of_dynamic(im: Image, p: Position):
    return [im(p), 1.0] == [0.0, 1.0], (im(p),) == (im(p),), [im(p)] != [im(p), 1.0]


@program
def list_contains_dynamic(counts: Image, p: Position):
    vs = [counts(p), counts(p + (1, 0))]
    return 3 in vs, 3 not in vs


@program
def dict_of_functions_over_names(im: Image, p: Position, names=("sin", "cos")):
    return sum(getattr(math, name)(im(p)) for name in names)


@program
def string_methods_on_known(im: Image, p: Position, text="3x3 box"):
    size, kind = text.split()
    n = int(size.partition("x")[0])
    return im(p) * n + (kind.upper() == "BOX") + string.ascii_lowercase.index(kind[0])


@program
def star_rest_of_vector_and_tuple(vecs: Image, p: Position):
    first, *rest = vecs(p)
    a, *b = (1.0, *rest)
    return first + a + sum(b) + len(rest)


@program
def copies_and_aliases(im: Image, p: Position):
    grid = [[im(p), 1.0], [2.0, 3.0]]
    shallow = grid[:]
    deep = [row[:] for row in grid]
    grid[0][0] = 10.0
    grid[1] = [20.0, 30.0]
    return shallow[0][0] + 100 * shallow[1][0] + deep[0][0]


@program
def same_row_repeated_is_one_list(im: Image, p: Position):
    grid = [[0.0] * 2] * 2
    grid[0][1] = im(p)
    return grid[1][1]


@program
def set_and_frozenset_of_known(im: Image, p: Position):
    around = {(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1)} - {(0, 0)}
    return sum(im(p + d) for d in sorted(around)) * len(frozenset(around))


@program
def functools_reduce_with_objects(im: Image, p: Position):
    def merge(a, b):
        return (a[0] + b[0], max(a[1], b[1]))

    total, top = functools.reduce(merge, [(im(p + (d, 0)), im(p + (d, 0))) for d in range(3)])
    return total * 10 + top


@program
def accumulate_with_function(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(4)]
    return sum(itertools.accumulate(vs, max)) + sum(itertools.accumulate(vs, operator.mul))


# ---------------------------------------------------------------- vectors and references


@program
def dot_by_generator(vecs: Image, p: Position):
    return sum(a * b for a, b in zip(vecs(p), vecs(p + (1, 0))))


@program
def vector_as_index_source(im: Image, vecs: Image, p: Position):
    i = max(range(3), key=lambda k: vecs(p)[k])
    return i


@program
def swizzle_of_expression_written(vecs: Image, p: Position):
    v = vecs(p) * 2
    w = v.zyx
    w.x = 9.0
    return v, w


@program
def vector_changed_in_list_under_condition(vecs: Image, im: Image, p: Position):
    vs = [Vec3(vecs(p)), Vec3(1.0, 2.0, 3.0)]
    if im(p) > 0:
        vs[0].x = 7.0
    else:
        vs[1].yz = (0.0, vs[0].z)
    return vs[0] + vs[1]


@program
def vector_of_condition_components(vecs: Image, p: Position):
    return Vec3(*[c if c > 0 else 0.0 for c in vecs(p)])


@program
def vector_selected_by_branch_then_changed(vecs: Image, im: Image, p: Position):
    v = Vec3(vecs(p)) if im(p) > 0 else Vec3(0.0, 0.5, 1.0)
    v.y += 1
    return v


@program
def vector_of_ints_wraps(pairs: Image, p: Position):
    v = pairs(p) * 1000003
    return v * v, (v >> 3) & 255


@program
def vector_floor_and_int(vecs: Image, p: Position):
    return pygpu.floor(vecs(p) * 2), IVec2(vecs(p).xy * 3) % 3


@program
def matrix_row_changed(im: Image, flow: Image, p: Position):
    m = Mat2((1.0, 0.0), (0.0, 1.0))
    m[0] = (im(p), 2.0)
    return m @ flow(p)


@program
def colour_math(rgb: Image, p: Position):
    c = rgb(p)
    grey = pygpu.dot(c, (0.299, 0.587, 0.114))
    return pygpu.mix(Vec3(grey), c, 1.5), Vec4(c, grey).bgra


@program
def position_through_containers(im: Image, p: Position):
    d = {"here": p, "there": p + (1, 0)}
    return sum(im(q) * k for k, q in enumerate(d.values(), 1))


@program
def position_compared_with_border(im: Image, p: Position):
    return all(p > (0, 0)) and all(p < (im.width - 1, im.height - 1))


@program
def position_in_tuple_comparison(im: Image, p: Position):
    return (p.y, p.x) < (2, 3), tuple(p) == (2, 3), [*p] == [1, 1]


@program
def position_scaled_back(im: Image, p: Position):
    q = (p + 0.5) * 0.5 - 0.5
    return im.sampled(interpolation="linear")(q)


@program
def polar_coordinates(im: Image, p: Position):
    x, y = p - (2.5, 1.5)
    r, angle = math.hypot(x, y), math.atan2(y, x)
    return im.sampled(interpolation="linear")((r, angle * 2 + 2))


@program
def image_read_at_own_value(counts: Image, p: Position):
    return counts((counts(p), counts((counts(p), 0)) % 5))


@program
def image_read_in_dynamic_loop_until_edge(im: Image, p: Position):
    x, steps = p.x, 0
    while x < im.width and im((x, p.y)) < 1:
        x += 1
        steps += 1
    return steps


@program
def image_function_passed_through_partial(im: Image, p: Position):
    def at(f, d, q):
        return f(q + d)

    g = functools.partial(at, functools.partial(at, im, (1, 0)), (0, 1))
    return g(p) - im(p + (1, 1))


@program
def float_equality_of_shared_taps(im: Image, p: Position):
    return im(p) == im((p.x, p.y)), im(p + (1, 0)) == im((p.x + 1, p.y))


@program
def inverse_hyperbolic_cosine_of_less_than_one(im: Image, p: Position):
    large, small = np.arccosh(im(p) * 1e30), np.arccosh(im(p))
    return large if im(p) > 0 else np.isnan(large) * 1.0, np.isnan(small)
