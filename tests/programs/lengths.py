"""Lists whose length only the device knows."""

import collections
import functools

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2

program = Suite()


def window(im, p):
    return [im(p + (i, j)) for j in range(-1, 2) for i in range(-1, 2)]


@program
def median_of_the_samples_that_pass_a_test(im: Image, p: Position):
    ok = []
    for v in window(im, p):
        if v > 0.4:
            ok.append(v)
    ok.sort()
    return ok[len(ok) // 2] if ok else -1.0


@program
def list_with_a_dynamic_filter(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    return sum(xs), len(xs), max(xs) if len(xs) > 0 else 0.0, 1.0 if 0.75 in xs else 0.0


@program
def first_of_sorted_pairs(im: Image, p: Position):
    best = []
    for i, v in enumerate(window(im, p)):
        if v > 0.2:
            best.append((v, i))
    best.sort()
    t = 0.0
    for v, i in best[:3]:
        t += v * (i + 1)
    return t


@program
def stack_of_a_traversal(im: Image, p: Position):
    stack = [1]
    n = 0
    for _ in range(20):
        if not stack:
            break
        node = stack.pop()
        n = n * 3 % 1000 + node
        if node < 16:
            if im(p + (node, 0)) > 0.3:
                stack.append(2 * node)
            if im(p + (0, node)) > 0.6:
                stack.append(2 * node + 1)
    return n


@program
def sorted_by_keys_and_in_reverse(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    ys = sorted(xs, reverse=True)
    zs = sorted(xs, key=lambda v: abs(v - 0.7))
    t = 0.0
    for k, v in enumerate(ys):
        t += (k + 1) * v
    return t, (zs[0] if zs else 0.0), (ys[-1] if ys else 0.0)


@program
def lists_that_differ_on_two_paths(im: Image, p: Position):
    xs = [0.25]
    if im(p) > 0.5:
        xs.append(im(p))
    else:
        xs.insert(0, im(p + (1, 0)))
    if im(p) > 0.3:
        xs.extend([1.0, 2.0])
    xs.append(3.0)
    xs[1] = 9.0
    a = xs.pop(0)
    b = xs.pop()
    return a + 10 * b + 100 * len(xs) + sum(xs) * 0.1


@program
def indices_and_slices_of_a_filtered_list(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    n = len(xs)
    if n == 0:
        return 0.0
    k = int(abs(im(p)) * 10) % n
    return xs[k] + 2 * xs[-1] + 3 * xs[0] + sum(xs[1:]) + sum(xs[-2:]) + sum(reversed(xs[:2]))


@program
def mean_of_a_filtered_list(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    return float(np.mean(xs)) if xs else 0.0


@program
def vectors_that_pass_a_test(im: Image, p: Position):
    pts = []
    for i in range(6):
        v = im(p + (i, 0))
        if v > 0.4:
            pts.append(Vec2(i, v))
    t = Vec2(0, 0)
    for q in pts:
        t = t * 0.5 + q
    return t.x, t.y


@program
def nearest_values_of_a_window(im: Image, p: Position):
    knn = []
    for j in range(-2, 3):
        for i in range(-2, 3):
            d = abs(im(p + (i, j)) - im(p))
            if len(knn) < 4:
                knn.append(d)
                knn.sort()
            elif d < knn[-1]:
                knn[-1] = d
                knn.sort()
    return sum(knn)


@program
def queue_of_a_flood(im: Image, p: Position):
    queue = [(0, 0)]
    seen = 0
    for _ in range(12):
        if not queue:
            break
        x, y = queue.pop(0)
        seen += 1
        if im(p + (x, y)) > 0.5 and x < 3:
            queue.append((x + 1, y))
            queue.append((x, y + 1))
    return seen + 100 * len(queue)


@program
def list_that_a_long_loop_fills(im: Image, p: Position):
    out = []
    for i in range(100):
        v = im(p + (i % 7, i % 5))
        if v > 0.8:
            out.append(v)
    return len(out) + (out[0] if out else 0.0)


@program
def lists_of_dynamic_length_are_joined_and_zipped(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5] + [1.0]
    xs = xs + [v for v in window(im, p + (1, 0)) if v < 0.2]
    del xs[0]
    ys = list(v * 2 for v in xs)
    xs.reverse()
    return (
        len(xs)
        + (xs[0] if xs else 0)
        + sum(ys)
        + sum(
            a * b
            for a, b in zip(
                xs, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
            )
        )
        + xs.count(1.0)
    )


@program
def item_taken_out_and_put_in_anywhere(im: Image, p: Position):
    xs = [1, 2, 3, 4, 5]
    k = p.x % 5
    a = xs.pop(k)
    xs.insert(p.y % 4, 10)
    return a * 1000 + xs[0] * 100 + xs[1] * 10 + xs[2] + len(xs)


class Node:
    def __init__(self, v):
        self.v = v
        self.kids = []


@program
def list_in_an_object_grows_under_conditions(im: Image, p: Position):
    n = Node(im(p))
    if im(p) > 0.5:
        n.kids.append(Node(im(p + (1, 0))))
    if im(p) > 0.3:
        n.kids.append(Node(im(p + (0, 1))))
    return n.v + sum(k.v for k in n.kids)


@program
def items_of_a_generator_in_a_list(im: Image, p: Position):
    def bright():
        for i in range(5):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    texels = list(bright())
    return texels[0] + len(texels) if texels else 0.0


@program
def filtered_generator_sorted(im: Image, p: Position):
    return sorted(v for v in [im(p), 1.0] if v > 0)[0]


@program
def elements_of_a_selection(im: Image, p: Position):
    w = np.array([im(p + (k, 0)) for k in range(4)] + [2.5])
    chosen = w[w > 0.25]
    return chosen[0] + chosen[-1] + chosen[p.x % 1]


@program
def filtered_list_is_compared(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    return xs == [], xs != [im(p)], xs == [v for v in window(im, p) if v >= 0.5]


@program
def filtered_list_is_zipped_with_its_reverse(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    steps = sum(abs(a - b) for a, b in zip(xs, xs[1:], strict=False))
    return sum(v * w for v, w in zip(xs, reversed(xs), strict=False)), steps


@program
def filtered_list_is_emptied_by_a_loop(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5]
    total = 0.0
    while xs:
        total = total * 0.5 + xs.pop()
    return total


@program
def items_go_to_one_of_two_lists(im: Image, p: Position):
    low, high = [], []
    for v in window(im, p):
        (high if v > 0.5 else low).append(v)
    return len(high), sum(low), max(high) if high else 0.0


@program
def items_go_to_lists_of_a_dict(im: Image, p: Position):
    groups = {"low": [], "high": []}
    for v in window(im, p):
        groups["high" if v > 0.5 else "low"].append(v)
    return len(groups["high"]) * 10 + sum(groups["low"])


@program
def first_items_of_a_list_that_has_them(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.5] + [0.5, 0.25]
    return xs[:2]


@program
def list_that_was_iterated_before_it_is_changed(im: Image, p: Position):
    xs, ys = [0.5], [im(p), 0.25]
    total = sum(x * y for x, y in zip(xs, ys, strict=False))
    for i, v in enumerate(ys):
        total += i * v
    if im(p) > 0.3:
        ys.append(1.0)
    if len(ys) > 4:
        del ys[3]
    return total + sum(ys) + ys.pop(0)


@program
def as_many_as_there_are_slots(im: Image, p: Position):
    xs = []
    for i in range(256):
        if im(p) > i / 300:
            xs.append(i * 0.5)
    return sum(xs), len(xs)


@program
def unpacked_where_the_length_fits(im: Image, p: Position):
    xs = [im(p)]
    if im(p) > 0.2:
        xs.append(im(p + (1, 0)))
    if len(xs) == 2:
        a, b = xs
        return a - b
    (a,) = xs
    return a


@program
def unpacked_with_a_star(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > 0.3] + [0.5, 0.25]
    first, second, *rest = xs
    *others, last = xs
    return first + 2 * second, sum(rest), len(others), last


ROWS = [[1, 2], [3], [0, 4, 5], [], [2, 3]]


@program
def row_of_a_ragged_table_is_looped_over(counts: Image, p: Position):
    code = 0
    for n in ROWS[counts(p) % 5]:
        code = code * 7 + n
    total = sum(n * i for i, n in enumerate(ROWS[counts(p) % 5]))
    return code, total, len(ROWS[counts(p) % 5])


@program
def rows_of_different_lengths_are_zipped(counts: Image, p: Position):
    a, b = ROWS[counts(p) % 5], ROWS[(counts(p) + 1) % 5]
    return sum(x * y for x, y in zip(a, b, strict=False)), max(map(lambda n: n + 1, a), default=-1)


@program
def items_of_a_chosen_dict(counts: Image, p: Position):
    roads = {0: {1: 4, 2: 1}, 1: {3: 1}, 2: {1: 2, 3: 5}, 3: {}}
    total = 0
    for node, length in roads[counts(p) % 4].items():
        total += (node + 1) * length
    return total


@program
def letters_of_a_chosen_word(counts: Image, p: Position):
    word = ["plum", "fig", "apple", "e"][counts(p) % 4]
    h = 17
    for letter in word:
        h = h * 31 + ord(letter)
    return (
        h,
        word[-1] == "e",
        sum(map(ord, word)),
        sum(a == b for a, b in zip(word, word[1:], strict=False)),
    )


@program
def letter_beyond_the_end_that_is_not_asked_for(counts: Image, p: Position):
    word = ["plum", "fig", "apple", "e"][counts(p) % 4]
    place = 3
    return ord(word[place]) if place < len(word) else 0


@program
def strict_zip_of_a_list_and_its_reverse(im: Image, p: Position):
    some = [v for v in window(im, p) if v > 0]
    return sum(a * b for a, b in zip(some, reversed(some), strict=True))


@program
def strict_zip_of_different_lengths_is_handled(counts: Image, p: Position):
    a, b = ROWS[counts(p) % 5], [1, 2]
    try:
        return sum(x * y for x, y in zip(a, b, strict=True))
    except ValueError:
        return -1


@program
def item_is_removed_by_its_value(im: Image, p: Position):
    values = window(im, p)
    values.remove(min(values))
    some = [v for v in values if v > 0]
    place = -1
    if some:
        most = max(some)
        place = some.index(most)
        some.remove(most)
    return sum(values) / len(values), values[0], place, len(some), sum(some)


@program
def missing_item_is_handled(counts: Image, p: Position):
    some = [n for n in (counts(p), counts(p + (1, 0))) if n > 2]
    try:
        place = some.index(4)
    except ValueError:
        place = -1
    return place


class Site:
    def __init__(self, x, y, name):
        self.x, self.y, self.name = x, y, name


SITES = [Site(i * 37 % 101 / 8, i * 53 % 97 / 8, "ab"[i % 2]) for i in range(90)]


@program
def extreme_of_many_objects_by_a_key(im: Image, p: Position):
    near = min(SITES, key=lambda s: (s.x - p.x) ** 2 + (s.y - p.y) ** 2)
    far = max(SITES, key=lambda s: (abs(s.x - p.x) > 4 + im(p), s.y))
    return near.x, near.y, near.name == "a", far.x


@program(weights=np.random.default_rng(3).random(3000))
def extreme_of_what_is_computed_by_index(weights, unit: Image, p: Position):
    found = min((i * weights[i] for i in range(3000)), key=lambda v: abs(v - 500 * unit(p)))
    none = max(
        (i * weights[i] for i in range(3000) if weights[i] > 2 * unit(p)),
        key=lambda v: -v,
        default=-1,
    )
    return found, none


@program
def slices_by_steps(im: Image, p: Position):
    xs = [v for v in window(im, p) if v > -0.5]
    every = sum(xs[::2]), sum(xs[1::2]), sum(xs[-1::-2]), sum(xs[::-3]), sum(xs[1:6:3])
    return *every, len(xs[::3]), len(xs[-1::-2]), sum(xs[:-1]), sum(xs[1:-2]), len(xs[4:-3])


@program
def rotated_queues(im: Image, p: Position):
    queue = collections.deque(k for k, v in enumerate(window(im, p)) if v > -0.5)
    queue.append(9)
    queue.rotate(2)
    first = queue[0]
    queue.rotate(-p.x)
    known = collections.deque([1, 2, 3, 4])
    known.rotate(p.x * 3 - p.y)
    return first, queue[0], queue[-1], known[0], known[3]


@program
def array_of_a_list(im: Image, p: Position):
    a = np.array([v for v in window(im, p) if v > -0.5] + [0.25])
    return len(a), a.mean(), np.std(a), (a * 2).min()


@program
def list_put_into_slots_on_one_path(im: Image, p: Position):
    xs = []
    for i in range(4):
        if im(p + (i, 0)) > 0.2 * i:
            xs.append(im(p) + i)
    if p.x > 1:
        first = xs[0] if xs else 2.0
    else:
        first = 1.0
    xs.append(im(p))
    return first, sum(xs), len(xs)


@program
def list_sorted_on_one_path(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(4) if im(p + (i, 0)) > 0.3]
    ys = sorted(xs) if p.x > 1 else xs
    ys.append(5.0)
    return ys[0], len(xs), len(ys)


@program
def list_grown_by_tests_goes_on_in_a_loop(im: Image, p: Position):
    xs = []
    for i in range(3):
        if im(p + (i, 0)) > 0.4:
            xs.append(i + 0.5)
    for k in range(p.x):
        if xs and im(p) < 0.25 * k:
            xs.pop()
        else:
            xs.append(k)
    return sum(xs), len(xs)


@program
def reduced_without_a_start(im: Image, p: Position):
    found = [v for v in (im(p), im(p + (1, 0)), im(p + (0, 1))) if v > 0.5]
    try:
        return functools.reduce(lambda a, b: a / 2 + b, found)
    except TypeError:
        return -1.0


@program
def comprehension_over_a_dynamic_range_is_taken_apart(counts: Image, p: Position):
    xs = [i * 7 % 5 for i in range(counts(p))]
    first, *rest = xs
    match xs:
        case [a]:
            size = a
        case [a, *_, z]:
            size = 10 * a + z
        case _:
            size = -1
    return first + len(rest), size, xs[0] * 10 + xs[-1], len(xs[1:])


@program
def comprehension_over_a_dynamic_range_is_a_list(counts: Image, p: Position):
    xs = [i * 7 % 5 for i in range(counts(p))]
    ys = [x + 1 for x in xs]
    xs.append(9)
    return len(xs), len([*xs, 3]), sum(a * b for a, b in zip(xs, ys)), xs[-1]


@program
def comprehension_over_a_dynamic_range_is_sorted(counts: Image, p: Position):
    xs = [i * 7 % 5 for i in range(counts(p))]
    xs.append(2)
    xs.sort(key=lambda x: -x)
    return xs[0] * 10 + len(xs)


@program
def comprehension_over_a_dynamic_range_is_folded(im: Image, counts: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(counts(p))]
    return np.median(xs), np.std(xs), sorted(xs)[0], np.argmax(xs), np.sum(xs)


@program
def comprehension_of_two_dynamic_loops(im: Image, p: Position):
    x0, x1 = max(p.x - 2, 0), min(p.x + 2, 6)
    y0, y1 = max(p.y - 1, 0), min(p.y + 1, 4)
    box = [im((x, y)) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)]
    mean = sum(im((x, y)) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1)) / len(box)
    greatest = max(im((x, y)) for y in range(y0, y1 + 1) for x in range(x0, x1 + 1))
    return mean, greatest, box[-1]


@program
def extreme_of_two_loops_that_may_give_nothing(counts: Image, p: Position):
    n = counts(p)
    return max((x * y for y in range(n - 1) for x in range(n - y)), default=-5)


@program
def filtered_comprehension_over_a_dynamic_range(counts: Image, p: Position):
    xs = [i for i in range(counts(p) * 2) if i * 7 % 3 != 1]
    total = 0
    for k, x in enumerate(xs):
        total += k * x
    for a, b in zip(xs, xs[1:]):
        total += b - a
    for x in reversed(xs):
        total = total * 2 + x
    return total, xs[0], len(xs), sum(xs)


@program
def comprehension_over_a_dynamic_range_is_sorted_on_one_path(counts: Image, p: Position):
    xs = [i * 7 % 5 for i in range(counts(p))]
    greatest = sorted(xs)[-1] if p.x > 2 else 0
    return greatest * 10 + sum(xs)


@program
def runs_are_decoded(counts: Image, p: Position):
    runs = [(counts(p), 2), (counts(p + (1, 0)), 3)]
    values = [value for count, value in runs for _ in range(count)]
    total = sum(value * k for count, value in runs for k in range(count))
    return len(values), values[-1], total, sum([0.5, 1] * counts(p))


@program
def lists_of_a_dynamic_length_are_filled(counts: Image, p: Position):
    n = (counts(p) & 7) + 2
    sieve = [True] * (n + 1)
    sieve[0] = sieve[1] = False
    for i in range(2, n + 1):
        for j in range(i * i, n + 1, i):
            sieve[j] = False
    squares = [0] * counts(p)
    for i in range(counts(p)):
        squares[i] = i * i
    flags = [i % 2 for i in range(counts(p))]
    if counts(p) > 2:
        flags[1] = 50
    doubled = [3, 4]
    doubled *= n & 3
    return sum(sieve), sum(squares), sum(flags), sum(doubled)


@program
def loops_of_few_rounds_lengthen_one_list(counts: Image, p: Position):
    n, out = counts(p), [1]
    for i in range(n & 3):
        if i == 1:
            for j in range(n >> 1 & 3):
                out.append(i * 5 + j)
        else:
            out.insert(0, 5)
    for k in range(2):
        out += [k] * (n & 3)
    for i in range(n & 3):
        out.append(i)
    return len(out), sum(x * (k + 1) for k, x in enumerate(out))


@program
def slices_of_lists_of_which_the_pixel_knows_the_length(ints: Image, p: Position):
    xs = [ints(p), 4, 5, ints(p + (1, 0)), 7, 8]
    k = ints(p) % 6
    without = xs[:k] + xs[k + 1 :]
    compared = xs[k:] == [7, 8], xs[k:2] == [], xs[:k] != xs[1:], xs[:k] == xs[: k + 0]
    asked = xs[k:].index(8) if k < 6 else -1, xs[:k].count(4), [0, *xs[k:]][0]
    turned = 0
    for v in reversed(xs[: k + 1]):
        turned = turned * 3 + v
    return sum(without), len(without), *compared, *asked, turned


@program
def slices_by_steps_of_dynamic_bounds(ints: Image, p: Position):
    xs = [ints(p), 4, 5, ints(p + (1, 0)), 7, 8, 9]
    k = ints(p) % 5
    stepped = sum(xs[:: k + 1]), sum(xs[k::2]), sum(xs[p.x : -1 : 3]), len(xs[k - 3 :: 2])
    return *stepped, sum(np.array(xs)[1 : k + 2 : 2])


@program
def comprehensions_of_dynamic_length_compared(counts: Image, p: Position):
    doubled = [i * 2 for i in range(counts(p))]
    others = list(range(0, 2 * counts(p), 2))
    return doubled == [0, 2, 4], doubled != [0, 2], doubled == others, [0, 2, 4] == others


@program
def array_stored_into_from_a_dynamic_place(counts: Image, p: Position):
    a, k = np.zeros(6), counts(p)
    a[np.arange(len(a)) >= k] += 1
    a[np.arange(len(a)) < k - 1] = 3
    return a.sum()


@program
def stores_into_slices_of_lists_at_dynamic_places(ints: Image, p: Position):
    k, n = ints(p) % 4, ints(p + (1, 0)) % 7
    xs, ys, zs = [[1, 2, 3, 4, 5, 6] for _ in range(3)]
    xs[k : k + 2] = [k, 9]
    xs[k : k + 2] = xs[k : k + 2][::-1]
    ys[:n] = reversed(ys[:n])
    us = ys
    zs[n:k] = (7, 8)
    zs[-k:] = []
    of_all = [10 * x + y for x, y in zip(us, zs, strict=False)]
    return *xs, *[ys[i] for i in range(6)], len(zs), sum(zs), us is ys, sum(of_all)


@program
def deletes_slices_of_lists_at_dynamic_places(ints: Image, p: Position):
    k, n = ints(p) % 4, ints(p + (1, 0)) % 9 - 4
    xs, ys, zs = [[1, 2, 3, 4, 5, 6] for _ in range(3)]
    del xs[k : k + 2], ys[n:], zs[n:k]
    return tuple(v for vs in (xs, ys, zs) for v in (len(vs), sum(i * v for i, v in enumerate(vs))))


@program
def lists_of_two_lengths_change_names_in_a_loop(ints: Image, p: Position):
    a, xs, ys = ints(p), [1, ints(p) % 7, 3], [0, p.y]
    for _ in range(abs(a) % 2):
        if a > 2:
            if a > ints(p + (1, 0)):
                xs = [a, 5, 2]
            try:
                ys = xs
            finally:
                xs[0] += 1
    return xs[0] + 10 * ys[0] + 100 * len(ys)


@program
def next_item_of_a_range_of_dynamic_length(ints: Image, counts: Image, p: Position):
    numbers, total = iter(range(counts(p))), 0
    for a in numbers:
        b = next(numbers, None)
        total += 10 * a
        if b is not None:
            total += b
    more = iter(range(counts(p) - 1))
    first, second = next(more, -1), next(more, -5)
    return total, first, second, sum(more)


@program
def dicts_of_numbered_items(ints: Image, p: Position):
    def digits(n):
        while n:
            yield n % 10
            n //= 10

    named = dict(enumerate(digits(abs(ints(p)))))
    chosen = dict(enumerate(k for k in range(6) if ints(p) >> k & 1), last=9)
    return len(named), named.get(1, -1), len(chosen), chosen.get(0, -1), chosen["last"]


@program
def pairs_of_an_iterator_of_dynamic_length(counts: Image, ints: Image, p: Position):
    numbers = iter(range(2 * counts(p) - 1))
    pairs = sum(10 * a + b for a, b in zip(numbers, numbers, strict=False))
    others = iter([ints(p + (i, 0)) for i in range(counts(p))])
    total = sum(a - b for a, b in zip(others, others, strict=False))
    waiting, last = iter(range(counts(p))), -1
    item = next(waiting, None)
    while item is not None:
        last, item = item, next(waiting, None)
    return pairs, next(numbers, -1), total, next(others, -99), last


@program
def slices_of_a_list_that_grows(im: Image, counts: Image, p: Position):
    bright = [im(p + (dx, dy)) for dy in (-1, 0, 1) for dx in (-1, 0, 1) if im(p + (dx, dy)) > 0.25]
    k = counts(p) - 3
    parts = (
        bright[k:],
        bright[:k],
        bright[k : k + 2],
        bright[1:k],
        bright[-k : k + 4],
        bright[2:k],
        bright[9:k],
    )
    return tuple(len(part) + sum((i + 1) * v for i, v in enumerate(part)) for part in parts)


@program
def slices_of_words_and_pairs(counts: Image, p: Position):
    met = [("abc"[(i * counts(p)) % 3], i) for i in range(5) if (i + counts(p)) % 3]
    k = counts(p) % 4
    rest = met[k:] + met[:k]
    return sum((j + 1) * n for j, (word, n) in enumerate(rest) if word == "b"), len(rest)


@program
def lists_of_unknown_lengths_put_together(im: Image, p: Position):
    bright, dark = [], []
    for dy in (-1, 0, 1):
        for dx in (-2, -1, 0, 1, 2):
            v = im(p + (dx, dy))
            if v > 0.5:
                bright.append(v)
            elif v < -0.5:
                dark.append(v)
    made = bright + dark
    dark.extend(bright)
    made += [v for v in dark if v < 1]
    return (
        sum((i + 1) * v for i, v in enumerate(made)),
        len(made),
        len(dark),
        made[0] if made else 9.0,
    )


@program
def slices_that_are_changed(counts: Image, p: Position):
    i = counts(p)
    xs, ys, zs, us = ([i, i + 1, i + 2, i + 3] for _ in range(4))
    xs = xs[i - 3 :]
    if len(xs) != 2:
        xs.append(7)
    ys = ys[i - 4 :]
    for _ in range(3):
        if i > 2 and ys:
            i += ys.pop()
    zs = zs[: counts(p) & 3]
    if zs:
        zs[0] = 9
        zs.sort()
        del zs[0]
    while len(us) > 1:
        us = us[(i & 1) + 1 :]
        if us:
            us.append(1)
            us.pop()
    return tuple(sum((k + 1) * v for k, v in enumerate([len(a), *a])) for a in (xs, ys, zs, us))
