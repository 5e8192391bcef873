"""Iterators are used up, also those whose length only the device knows, or that are too long to be
unrolled: what was taken is gone, for every name that they have."""

import functools
import heapq
import itertools

from programs.suite import Suite
from pygpu import Image, Int, Position

program = Suite()


@program
def summed_twice(im: Image, counts: Image, p: Position):
    g = (im(p + (i, 0)) for i in range(counts(p)))
    again = g
    return sum(g) + 100 * sum(again)


@program
def folded_in_two_ways(im: Image, counts: Image, p: Position):
    n = counts(p)
    rows, steps, back = zip(range(n), range(1, 9)), enumerate(range(1, n)), reversed(range(n))
    odd, plain = filter(lambda i: i % 2, range(n)), iter(range(n))
    first = [sum(a * b for a, b in rows), sum(a * b for a, b in steps), sum(back)]
    second = [sum(1 for _ in rows), sum(1 for _ in steps), max(back, default=50)]
    odds = sum(odd) + 10 * sum(odd)
    plains = functools.reduce(lambda a, b: a + b, plain, 0) * 10 + sum(plain)
    return sum(first), sum(second), odds, plains


@program
def looped_over_twice(im: Image, counts: Image, p: Position):
    n, s = counts(p), 0.0
    for items in (
        map(lambda i: im(p + (i, 0)), range(n)),
        reversed(range(n)),
        (im(p + (i, 0)) for i in range(n)),
    ):
        for v in items:
            s = s * 0.5 + v
        for v in items:
            s += 100 + v
    for a, b in (rows := zip(range(n), range(1, 9))):
        s += a * b
    for a, b in rows:
        s += 100
    for i, v in (steps := enumerate(range(n))):
        s += i * v
    for i, v in steps:
        s += 100
    return s


@program
def long_ones_twice(im: Image, p: Position):
    s = 0
    for a, b in (rows := zip(range(100), range(1, 101))):
        s += a * p.x + b
    for a, b in rows:
        s += 1
    mapped, made = map(lambda i: i * p.x, range(100)), (i * p.y for i in range(100))
    back, plain = reversed(range(100)), iter(range(100))
    for v in back:
        s += v * p.x
    for v in plain:
        s += v * p.y
    more = sum(mapped) + sum(made)
    return s, more, sum(mapped) + sum(made) + sum(back) + sum(plain) + p.x


@program
def too_long_ones_twice(im: Image, p: Position):
    s = 0
    for a, b in (rows := zip(range(2500), range(1, 2501))):
        s += a * p.x + b
    for a, b in rows:
        s += 1
    made, back = (i * p.y for i in range(2500)), reversed(range(2500))
    return s, sum(made) + sum(back), sum(made) + sum(back) + p.x


@program
def left_early_and_gone_on_with(im: Image, counts: Image, p: Position):
    n = counts(p)
    s = 0.0
    for v in (plain := iter(range(n))):
        if im(p + (v, 0)) > 0.5:
            break
    for v in (back := reversed(range(n))):
        if im(p + (v, 0)) > 0.5:
            break
        s += v
    for v in back:
        s += 10 * v
    for k, v in (steps := enumerate(range(n))):
        if im(p + (v, 0)) > 0.5:
            break
    for v, w in (rows := zip(range(n), range(10))):
        if im(p + (v, 0)) > 0.5:
            break
    return s + sum(plain), sum(k + v for k, v in steps), sum(v * w for v, w in rows)


@program
def long_one_left_early(im: Image, counts: Image, p: Position):
    s = 0
    for v in (plain := iter(range(900))):
        if v > counts(p):
            break
        s += v
    for v in plain:
        s += 1
    for i, v in (steps := enumerate([i * 3 for i in range(500)])):
        if v > counts(p) * 7:
            break
    return s, sum(i for i, v in steps)


@program
def asked_for_some(im: Image, counts: Image, p: Position):
    bright = map(lambda i: im(p + (i, 0)) > 0.5, range(counts(p)))
    some = any(bright)
    places = iter(range(counts(p)))
    found = any(im(p + (v, 0)) > 0.5 for v in places)
    three = iter(range(counts(p)))
    return some, sum(bright), found, sum(places), 2 in [*range(3)], sum(three)


@program
def items_below_are_taken(im: Image, counts: Image, p: Position):
    n = counts(p)
    a, b, c, d = iter(range(n)), iter(range(n)), iter(range(n)), iter(range(n))
    mapped = sum(map(lambda x: x * 2, a)) + 100 * sum(a)
    counted = sum(i * v for i, v in enumerate(b)) + 100 * sum(b)
    made = sum(v for v in c) + 100 * sum(c)
    two = sum(itertools.islice(d, 2)) + 100 * sum(d)
    return mapped, counted, made, two


@program
def taken_before_what_is_above(im: Image, p: Position):
    a, b, c = iter([1, 2, 3]), iter([1, 2, 3]), iter([1, 2, 3])
    rows, mapped, steps = zip(a, [im(p), 2.0]), map(lambda v: v * im(p), b), enumerate(c)
    first = next(a) + next(b) + next(c)
    return first, sum(x * y for x, y in rows), sum(mapped) + sum(b), sum(i * v for i, v in steps)


@program
def taken_under_a_condition(im: Image, counts: Image, p: Position):
    it, s = iter(range(counts(p))), 0
    if im(p) > 0:
        s = sum(it)
    return s, sum(it)


@program
def taken_in_the_first_round(im: Image, counts: Image, p: Position):
    it, s = iter(range(counts(p + (1, 0)))), 0
    for k in range(counts(p)):
        s += sum(it) + k
    return s


@program
def pairs_by_two_loops(im: Image, counts: Image, p: Position):
    it, s = iter(range(counts(p))), 0
    for a in it:
        for b in it:
            s += a * 10 + b
            break
    return s


@program
def passed_on_twice(im: Image, counts: Image, p: Position):
    class Held:
        pass

    def total(items):
        s = 1.0
        for v in items:
            s += v
        return s

    held = Held()
    held.items = map(lambda i: im(p + (i, 0)), range(counts(p)))
    items = map(lambda i: im(p + (i, 0)), range(counts(p)))
    return total(items) + 100 * total(items), total(held.items) + 100 * total(held.items)


@program
def listed_twice(im: Image, counts: Image, p: Position):
    g = (i for i in range(counts(p)))
    a, b = list(g), list(g)
    return len(a) + 100 * len(b)


@program
def sequences_are_not_used_up(im: Image, counts: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(counts(p))]
    r = range(counts(p))
    return sum(xs) + 100 * sum(xs) + max(xs) + sum(reversed(xs)), sum(r) + 10 * sum(r)


# What itertools gives takes from an iterator when it is asked for an item, not before.


def five(im, p):
    return iter([im(p), im(p + (1, 0)), im(p + (2, 0)), 1.0, im(p + (0, 1))])


@program
def source_asked_before_what_is_above(im: Image, p: Position):
    makers = (
        lambda s: itertools.islice(s, 3),
        lambda s: itertools.islice(s, 1, None, 2),
        lambda s: itertools.chain(s, [7.0]),
        lambda s: itertools.chain.from_iterable([[3.0], s]),
        lambda s: itertools.takewhile(lambda v: True, s),
        lambda s: itertools.dropwhile(lambda v: False, s),
        itertools.accumulate,
        lambda s: itertools.accumulate(s, max, initial=0.5),
        lambda s: itertools.compress(s, [1, 0, 1, 1]),
    )
    results = []
    for make in makers:
        source = five(im, p)
        above = make(source)
        first, second, third = next(source), next(above), next(source, -9.0)
        results.append(first + 10 * second + 100 * third + 1000 * sum(above) + 1e4 * sum(source))
    return tuple(results)


@program
def pairs_of_a_source_that_is_asked(im: Image, p: Position):
    s, t, u = five(im, p), five(im, p), iter([(im(p), 2), (im(p + (1, 1)), 3), (1, 2)])
    pairs = itertools.pairwise(s)
    longest = itertools.zip_longest(t, [1.0, 2.0, 3.0, 4.0, 5.0], fillvalue=0.0)
    starred = itertools.starmap(lambda a, b: a * b, u)
    first = next(s), next(t), next(u)[0]
    a, b = next(pairs)
    c, d = next(longest)
    rest = sum(v * w for v, w in pairs), sum(v * w for v, w in longest), sum(starred)
    return *first, a + 10 * b, c + 10 * d, *rest, next(s, 5.0), next(t, 6.0), next(u, 7.0)


@program
def copies_of_an_iterator_share_it(im: Image, p: Position):
    s = five(im, p)
    a, b = itertools.tee(s)
    first = next(a), next(a), next(b)
    left = next(s)
    xs = [im(p), 2.0]
    c, d = itertools.tee(xs)
    xs.append(3.0)
    return *first, left, sum(a), sum(b), sum(c), max(d)


@program
def circle_that_takes_as_it_goes(im: Image, p: Position):
    s = five(im, p)
    circle = itertools.cycle(s)
    first, second = next(circle), next(s)
    return first, second, sum(next(circle) * k for k in range(6))


@program
def groups_end_with_the_next(im: Image, p: Position):
    groups = itertools.groupby([1, 1, 2, 2, 2, 3], lambda n: n)
    key, group = next(groups)
    other, later = next(groups)
    sizes = len(list(group)), next(later), len(list(later))
    s = iter([4, 4, 5, 5])
    pairs = itertools.groupby(s)
    left = next(s)
    again = [(k, sum(g)) for k, g in itertools.groupby(sorted("abba"), str.isalpha) if not k]
    return key + other + im(p), *sizes, left, sum(k * len(list(g)) for k, g in pairs), len(again)


@program
def calls_happen_when_items_are_asked_for(im: Image, p: Position):
    log = []

    def noted(*values):
        log.append(values[-1])
        return sum(values) < 6

    def added(a, b):
        log.append(b)
        return a + b

    counts = []
    for items in (
        itertools.takewhile(noted, [1, 2, 7, 4]),
        itertools.dropwhile(noted, [1, 2, 7, 4]),
        itertools.starmap(added, [(1, 2), (3, 4)]),
        itertools.accumulate([1, 2, 3], added),
        itertools.groupby([1, 2, 3], noted),
    ):
        before = len(log)
        next(items)
        counts.append(10 * before + len(log))
    return im(p) + counts[0], *counts[1:]


@program
def lists_that_grow_below(im: Image, p: Position):
    xs = [1.0, im(p)]
    part, chained = itertools.islice(xs, 3), itertools.chain(xs, [2.0])
    sums, pairs = itertools.accumulate(xs), itertools.pairwise(xs)
    begun = itertools.takewhile(lambda v: True, xs)
    xs.append(5.0)
    xs[0] = 7.0
    return sum(part), sum(chained), sum(sums), sum(a * b for a, b in pairs), sum(begun)


@program
def chain_of_what_has_a_dynamic_length(im: Image, counts: Image, p: Position):
    n = counts(p)
    return sum(im(p + (i, 0)) for i in itertools.chain(range(n), [7], range(2)))


# Ranges, with known ends and without.


@program
def numbers_that_ranges_hold(ints: Image, p: Position):
    v, n = ints(p), p.x - 2
    known = v in range(0), v in range(5, 0), v in range(0, 10, 3), v in range(9, 0, -3)
    dynamic = v in range(n), v in range(n, 9), v in range(9, n, -2), v in range(-n, 9, 3)
    rest = (
        2 in range(n),
        v / 2 in range(n, 8),
        v not in range(0, 9, n if n else 1),
        v in range(n, n),
    )
    return *known, *dynamic, *rest


@program
def items_of_ranges_from_their_ends(ints: Image, p: Position):
    v = ints(p)
    n = abs(v) + 2
    r, odd = range(n), range(3, n + 9, 2)
    ends = r[-1], r[-2], odd[-1], range(n, -9, -3)[-2], odd.stop - odd.start, odd.step
    return *ends, r[v % n], r[v % n - n], list(r)[v % n - n]


@program
def long_lists_from_their_ends(ints: Image, p: Position):
    squares = list(map(lambda k: k * k, range(900)))
    triples = [k * 3 for k in range(700)]
    return squares[ints(p)], triples[ints(p)], squares[-3], triples[-1]


@program
def ranges_compared(ints: Image, p: Position):
    v, n = ints(p), abs(ints(p))
    equal = range(n) == range(n), range(n) == range(3), range(v) == range(p.x - 3)
    lengths = len(range(v)), len(range(v, -v, 2)), len([k for k in range(v)])
    return *equal, range(v, 5, 2) != range(v, 6, 2), bool(range(v)), *lengths, len(list(range(v)))


@program
def calls_until_a_value_comes(im: Image, p: Position):
    xs = [im(p), 1, 3, 2, 0.5, 4]
    last = list(iter(xs.pop, 3))
    numbers = iter([1, 2, 5, 0, 7])
    before = sum(iter(lambda: next(numbers), 0))
    return sum(last), len(xs), before, next(numbers) + im(p)


@program
def places_in_known_sequences(ints: Image, p: Position):
    v, table, odd = ints(p), (3, 1, -1, 1, 2), range(-3, 6, 2)
    known = table.index(v) if v in table else -1, table.count(v), odd.count(v)
    return *known, (odd.index(v) if v in odd else -1)


@program
def merged_as_it_is_asked_for(im: Image, p: Position):
    v, log = im(p), []

    def noting(k):
        for i in range(3):
            log.append(k)
            yield i * 10 + k

    numbers, kept = iter([1, 3, 5, 7]), [1.0, 3.0]
    merge = heapq.merge(numbers, [2, 4])
    first, rest = next(merge), len(list(numbers))
    changed = heapq.merge(kept, [2.0])
    kept.append(v)
    noted = heapq.merge(noting(1), noting(2))
    log.append(9)
    next(noted)
    order = functools.reduce(lambda a, b: a * 10 + b, log)
    return first, rest, sum(merge), list(changed)[-1], order, next(noted)


@program
def merged_whatever_the_order(im: Image, ints: Image, p: Position):
    v, n = im(p), ints(p)
    up = heapq.merge([v, 2.0], [v + 0.5, 1.0, v], [0.25])
    down = heapq.merge([2.0, v], [v + 0.5, -1.0], reverse=True)
    keyed = heapq.merge([(n, 1), (9, 2)], [(3, 3), (n + 1, 4)], key=lambda pair: pair[0] % 5)
    return *up, *down, *[number for _, number in keyed], list(heapq.merge([3, 1], [2]))[1]


@program(n=3)
def nothing_beside_what_has_a_dynamic_length(im: Image, p: Position, n: Int):
    none = [x for x in (1, 2) if x > 5]
    pairs = sum(x * y for x, y in zip(none, range(n)))
    more = list(map(lambda x, y: x + y, range(n), none))
    few = max((x - y for x, y in zip(range(n), none)), default=7)
    return pairs + im(p), len(more), few


@program
def values_of_a_dict_changed_while_it_is_iterated(im: Image, p: Position):
    d = {1: im(p), 2: 3.0}
    for k in d:
        d[k] *= 2
    for i, k in enumerate(d):
        d[k] += i
    for i, (k, v) in zip((5, 6), d.items()):
        d[k] = v - i
    for k in list(d):
        d[k + 2] = d.pop(k) if im(p) > 0.5 else d.pop(k) + 1
    for k in d:
        if k == 3:
            del d[k]
            break
    return *d.values(), len(d)


@program
def loops_over_endless_iterators_end_by_dynamic_tests(counts: Image, p: Position):
    total, found = 0, []
    for i in itertools.count():
        if i * i > counts(p):
            break
        total += i
        found.append(i + p.x)
    for turn in itertools.cycle([1, p.x, 3]):
        if total > 40:
            break
        total = total * 2 + turn
    return total, sum(found)


def first_multiple(n, step):
    for i in itertools.count(n + 1):
        if i % step == 0:
            return i


@program
def endless_iterators_beside_ranges_of_dynamic_length(counts: Image, p: Position):
    n, total = counts(p), 0
    for sign, k in zip(itertools.cycle((1, -1)), range(n)):
        total += sign * k * k
    more = sum(i * j for i, j in zip(itertools.count(p.x, 2), range(n)))
    return (
        total,
        more,
        first_multiple(n, 4),
        sum(itertools.takewhile(lambda v: v < n, itertools.count(p.y, 3))),
    )


@program
def filtered_lists_over_ranges_of_dynamic_length(counts: Image, p: Position):
    n = counts(p) + 2
    odd = [k for k in range(n) if k % 2]
    total = 0
    for k in odd:
        total = total * 3 + k
    last = odd[-1] if odd else -1
    return len(odd), sum(odd), total, last, sum(1 for _ in [k for k in range(n) if k > p.x])


@program
def filtered_items_of_a_long_range(counts: Image, p: Position):
    n = counts(p)
    last = max((k for k in range(3000) if k % 7 == n), default=-1)
    tests = any(k * k == 49 * n for k in range(3000) if k % 7 == n)
    return last, tests, sum([k for k in range(3000) if k % 7 == n]) % 1000


@program
def filtered_expressions_over_ranges_of_dynamic_length(counts: Image, p: Position):
    n = counts(p) + 2
    total = sum(1 for k in (k for k in range(n) if k % 2))
    places = sum(i * k + i for i, k in enumerate(k for k in range(n) if k % 3))
    mapped = sum(map(lambda k: k + 1, (k for k in range(n) if k > p.x)))
    for k in (k for k in range(n) if k % 2):
        total = total * 3 + k
    most = max((k for k in (2 * k for k in range(n) if k != 2) if k < 7), default=-1)
    return total, places, mapped, most, any(k > 2 for k in (k for k in range(n) if k > 1))


def by_first(a, b):
    return (a[0] > b[0]) - (a[0] < b[0])


BY_FIRST = functools.cmp_to_key(by_first)


@program
def sorted_by_a_function_of_two(im: Image, p: Position):
    rows = [(int(im(p + (k, 0)) * 3), k) for k in range(4)] + [(1, 9)]
    own = functools.cmp_to_key(lambda a, b: b[0] - a[0] or a[1] - b[1])
    places = [row[1] for row in sorted(rows, key=functools.cmp_to_key(by_first))]
    least = min(rows, key=BY_FIRST)[1], BY_FIRST((1, 0)) < BY_FIRST(rows[0])
    return *places, sorted(rows, key=own)[1][1], *least, own(rows[0]).obj[1]


@program
def digits_that_are_numbered_are_put_together(ints: Image, p: Position):
    n, digits = abs(ints(p)) % 300, []
    while n:
        n, digit = divmod(n, 7)
        digits.append(digit)
    return sum(d * 7**i for i, d in enumerate(digits)), sum(d << i for i, d in enumerate(digits, 1))


@program
def keys_of_which_none_may_be_meant(im: Image, p: Position):
    table = {(0, 0): 1, (0, 1): 2, (1, 0): 3, (1, 1): 4}
    bright = im(p) > 0.5
    found = table.get((int(bright), 5), -1), table.get((bright, p.x % 3), 7)
    return *found, (p.x, p.y, 0) in table, table[bright, im(p + (1, 0)) > 0.5]


def _fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


@program
def a_known_number_of_endless_items(counts: Image, p: Position):
    found = -1
    for number in itertools.islice(_fibonacci(), 20):
        if number > 2 * counts(p):
            found = number
            break
    below = sum(1 for _ in itertools.takewhile(lambda number: number <= counts(p), _fibonacci()))
    numbers = _fibonacci()
    first = sum(itertools.islice(numbers, 5))
    return found, below, first, next(numbers), list(itertools.islice(numbers, 1, 5, 2))[1]


@program
def next_of_endless_counts(ints: Image, counts: Image, p: Position):
    n, k = abs(ints(p)), counts(p)
    return (
        next(v for v in itertools.count(1) if v * v > n),
        next(filter(lambda v: v % 7 == 0, itertools.count(n))),
        next(itertools.filterfalse(lambda v: v % k, itertools.count(n, 2 if k % 2 else 1))),
        next(c for c in itertools.cycle([1, 4, 9]) if c >= k + 3),
    )
