"""Generator functions: `yield`, loops over what they give, folds, and items one by one."""

import itertools
import math

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


@program
def yields_are_summed(im: Image, p: Position):
    def g(x):
        yield x
        yield x * 2
        yield x * 3

    return sum(g(im(p)))


@program
def while_that_yields_as_long_as_a_dynamic_value_says(im: Image, p: Position):
    def g(x):
        while x > 0.1:
            yield x
            x = x / 2

    t = 0.0
    for v in g(im(p)):
        t += v * v
    return t


@program
def yield_under_a_dynamic_condition(im: Image, p: Position):
    def g(n):
        for i in range(n):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    t = 0.0
    n = 0
    for v in g(5):
        t += v * v
        n += 1
    return t / (n + 1)


@program
def loop_over_a_generator_is_left_early(im: Image, p: Position):
    def g(n):
        for i in range(n):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    for v in g(5):
        if v > 0.7:
            return v
    return -1.0


@program
def endless_generator_is_zipped(im: Image, p: Position):
    def nat():
        n = im(p)
        while True:
            yield n
            n = n + 1

    s = 0.0
    for a, b in zip(nat(), range(4)):
        s += a * b
    return s


@program
def endless_generator_of_random_numbers(im: Image, p: Position):
    def rng(x):
        while True:
            x = (x * 1.31 + 0.17) % 1.0
            yield x

    r = rng(im(p))
    a = next(r)
    b = next(r)
    t = 0.0
    for i in range(p.x + 2):
        t += next(r) * i
    return a + 3 * b + t


@program
def folds_of_a_dynamic_number_of_items(im: Image, p: Position):
    def g(n):
        i = 0
        while i < n:
            yield im(p + (i, 0))
            i += 1

    return sum(g(p.x)) + (1 if any(v > 0.9 for v in g(p.y)) else 0)


@program
def generator_of_a_generator_is_left_early(im: Image, p: Position):
    def inner(n):
        for i in range(n):
            yield im(p + (i, 0))

    def sq(xs):
        for x in xs:
            if x > 0.3:
                yield x * x

    t = 0.0
    for v in sq(inner(4)):
        if v > 0.8:
            break
        t += v
    else:
        t += 10
    return t


@program
def generator_expression_reads_a_variable_that_changes(im: Image, p: Position):
    n = 2
    g = (im(p) * n for _ in range(3))
    n = 5
    return sum(g)


@program
def recursive_generator_yields_from_itself(im: Image, p: Position):
    def tree(d, x):
        if d == 0:
            yield x
        else:
            yield from tree(d - 1, x * 0.5)
            yield from tree(d - 1, x + 0.25)

    return max(tree(3, im(p)))


@program
def return_in_a_generator(im: Image, p: Position):
    def g(n):
        for i in range(n):
            yield im(p + (i, 0))
            if im(p + (i, 1)) > 0.8:
                return

    return sum(g(6)), max(g(6))


class Ring:
    def __init__(self, r):
        self.r = r

    def __iter__(self):
        for j in range(-self.r, self.r + 1):
            for i in range(-self.r, self.r + 1):
                if max(abs(i), abs(j)) == self.r:
                    yield i, j


@program
def iteration_method_that_yields(im: Image, p: Position):
    return sum(im(p + d) for d in Ring(2)) + max(im(p + (i, j)) for i, j in Ring(1))


@program
def extremes_of_items_that_may_not_be_there(im: Image, p: Position):
    def g(n):
        for i in range(n):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    return max(g(5), default=-1.0), min(g(5), default=-1.0), sum(x * 2 for x in g(5))


@program
def numbers_of_rounds_that_a_generator_decides(im: Image, p: Position):
    def collatz(n):
        while n != 1:
            yield n
            n = n // 2 if n % 2 == 0 else 3 * n + 1

    return sum(1 for _ in collatz(p.x + 1)), max(collatz(p.x + 2)), len(list(range(3)))


@program
def long_generator_is_summed(im: Image, p: Position):
    def g():
        for i in range(200):
            yield im(p + (i % 5, 0)) * i

    return sum(g())


@program
def rest_of_a_generator_in_a_loop(im: Image, p: Position):
    def g():
        for i in range(3):
            got = yield im(p + (i, 0))

    it = g()
    a = next(it)
    t = 0
    for v in it:
        t += v
    return a * 100 + t + next(it, 7)


@program
def loop_over_what_a_mask_selects(im: Image, p: Position):
    w = np.array([im(p + (i, 0)) for i in range(5)])
    t = 0.0
    for v in w[w > 0.5]:
        t = t * 0.5 + v
    return t


@program
def loop_over_a_filtered_generator_expression(im: Image, p: Position):
    g = (im(p + (i, 0)) for i in range(5) if im(p + (i, 0)) > 0.4)
    t = 0.0
    for v in g:
        if v > 0.9:
            break
        t = t * 0.5 + v
    return t


@program
def nested_sums_over_windows(im: Image, p: Position):
    def mean(q):
        return sum(im(q + (i, j)) * (1 + abs(i)) for i in range(-2, 3) for j in range(-2, 3)) / 25

    def var(q):
        m = mean(q)
        return sum((im(q + (i, j)) - m) ** 2 for i in range(-2, 3) for j in range(-2, 3)) / 25

    return sum(var(p + (i, j)) for i in range(-3, 4) for j in range(-3, 4))


@program
def nested_function_with_a_sum_in_a_sum_over_a_window(im: Image, p: Position):
    def luma(q):
        return sum(w * im(q + (k, 0)) for k, w in enumerate((0.2, 0.7, 0.1)))

    return sum(abs(luma(p + (i, j)) - luma(p)) for j in range(-3, 4) for i in range(-3, 4))


@program
def least_difference_of_blocks_in_a_window(im: Image, p: Position):
    def sad(q, r):
        return sum(abs(im(q + (i, j)) - im(r + (i, j))) for j in range(-1, 2) for i in range(-1, 2))

    return min(sad(p, p + (i, j)) for j in range(-3, 4) for i in range(-3, 4) if (i, j) != (0, 0))


@program
def means_of_non_local_neighbours(im: Image, p: Position):
    def sad(q, r):
        return sum(abs(im(q + (i, j)) - im(r + (i, j))) for j in range(-1, 2) for i in range(-1, 2))

    def w(d):
        return math.exp(-sad(p, p + d) * 4)

    return sum(w((i, j)) * im(p + (i, j)) for j in range(-3, 4) for i in range(-3, 4)) / sum(
        w((i, j)) for j in range(-3, 4) for i in range(-3, 4)
    )


def gen(xs):
    for x in xs:
        yield x


@program
def list_changes_while_a_generator_reads_it(im: Image, p: Position):
    xs = [1, 2, 3]
    g = gen(xs)
    xs[1] = 7
    a = next(g)
    xs[2] = 9
    return im(p) * (a + sum(g))


@program
def path_that_a_generator_walks(im: Image, p: Position):
    def walk(q, n):
        for k in range(n):
            q = q + ((1, 0) if im(q) > 0.5 else (0, 1))
            yield q

    return sum(im(q) for q in walk(p, 5)) + sum(im(q) for q in walk(p, p.x))


@program
def fibonacci_up_to_a_limit(im: Image, p: Position):
    def fib():
        a, b = 0, 1
        while True:
            yield a
            a, b = b, a + b

    return sum(im(p) * v for v in itertools.takewhile(lambda v: v < 50, fib())) + sum(
        v for v, _ in zip(fib(), range(10))
    )


@program
def ray_that_a_generator_marches(im: Image, p: Position):
    def ray(o, d, n):
        t = 0.0
        for _ in range(n):
            yield t, o + d * t
            t = t + 0.5

    for t, q in ray(im(p), 0.25, 40):
        if q > 0.9:
            return t
    return -1.0


@program
def enumeration_of_items_that_may_not_be_there(im: Image, p: Position):
    def evens():
        for i in range(6):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    t = 0.0
    for k, v in enumerate(evens()):
        t += k * v
    return t


@program
def map_zip_and_slice_of_such_items(im: Image, p: Position):
    def evens():
        for i in range(6):
            if im(p + (i, 0)) > 0.5:
                yield im(p + (i, 0))

    return (
        sum(map(lambda v: v * v, evens())),
        sum(a * b for a, b in zip(evens(), itertools.count(1))),
        sum(itertools.islice(evens(), 2)),
    )


@program
def filters_by_dynamic_conditions(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(5)]
    return (
        sum(filter(lambda v: v > 0.5, xs)),
        sum(itertools.takewhile(lambda v: v > 0.3, xs)),
        sum(itertools.dropwhile(lambda v: v > 0.3, xs)),
    )


@program
def chains_and_running_sums_of_such_items(im: Image, p: Position):
    def g():
        for i in range(4):
            if im(p + (i, 0)) > 0.4:
                yield im(p + (i, 0))

    return (
        sum(itertools.chain(g(), [1.0], g())),
        max(itertools.accumulate(g()), default=0.0),
        sum(1 for _ in itertools.filterfalse(lambda v: v > 0.7, g())),
    )


@program
def enumeration_of_a_filter(im: Image, p: Position):
    t = 0.0
    for k, v in enumerate(filter(lambda v: v > 0.5, (im(p + (i, 0)) for i in range(5)))):
        t += (k + 1) * v
    for i in map(
        lambda v: v + 1,
        itertools.islice((im(p + (i, 0)) for i in range(9) if im(p + (i, 0)) > 0.5), 2),
    ):
        t += i
    return t


@program
def zip_of_a_generator_that_only_the_device_ends(im: Image, p: Position):
    def steps():
        x = abs(im(p))
        while x < 5.0:
            x = x * 1.5 + 0.1
            yield x

    t = 0.0
    for k, (v, w) in enumerate(zip(steps(), itertools.count())):
        t += v * k + w
    return t


@program
def values_of_yield_from(im: Image, p: Position):
    def summed(n):
        total = 0.0
        for i in range(n):
            total += im(p + (i, 0))
            yield total
        return total * 10

    def both():
        first = yield from summed(2)
        second = yield from summed(3)
        nothing = yield from [0.5]
        yield first - second
        if nothing is None:
            yield 0.25

    t = 0.0
    for k, v in enumerate(both()):
        t += v * (k + 1)
    return t, sum(both())


@program
def value_of_yield_from_a_loop_of_the_device(im: Image, p: Position):
    def steps():
        x, n = abs(im(p)), 0
        while x < 5.0:
            x = x * 1.5 + 0.1
            n += 1
            yield x
        return n

    def counted():
        n = yield from steps()
        yield 100.0 * n

    return sum(counted())


@program
def averages_that_are_sent(im: Image, p: Position):
    def averaging():
        total, count, mean = 0.0, 0, 0.0
        while True:
            total += yield mean
            count += 1
            mean = total / count

    means = averaging()
    next(means)
    found = 0.0
    for i in range(4):
        found = means.send(im(p + (i, 0)))
    return found, means.send(1.0)


@program
def first_of_what_a_generator_may_give(im: Image, p: Position):
    def taps():
        for i in range(4):
            yield im(p + (i, 0))
        yield 2 * im(p)

    by_expression = next((v for v in taps() if v > 0.9), -9.0)
    by_filter = next(filter(lambda v: v > 0.5, taps()), -7.0)
    return by_expression, by_filter


@program
def generator_that_ends_has_run_to_its_end(im: Image, p: Position):
    log = []

    def once():
        yield im(p)
        log.append(1.0)

    g = once()
    return next(g, -1.0), next(g, -2.0), len(log)


def _code(log):
    total = 0.0
    for x in log:
        total = total * 3 + x
    return total


def _opened(log, v):
    log.append(1.0)
    try:
        yield v
        yield v + 1
        yield v + 2
    finally:
        log.append(7.0 * len(log))


class _Context:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append(1.5)
        return self

    def __exit__(self, *error):
        self.log.append(2.5)


def _within(log, v):
    with _Context(log):
        yield v
        yield v * 2


def _around(log, v):
    try:
        for x in _opened(log, v):
            yield x * 2
    finally:
        log.append(11.0)


@program
def generator_left_by_break_is_closed_at_once(im: Image, p: Position):
    known, chosen, context, nested = [], [], [], []
    for _ in _opened(known, im(p)):
        known.append(2.0)
        break
    known.append(3.0)
    total = 0.0
    for x in _opened(chosen, im(p)):
        total += x
        if total > 1:
            break
    for x in _within(context, im(p)):
        context.append(x)
        if x > 0:
            break
    for x in _around(nested, im(p)):
        nested.append(x)
        break
    context.append(3.0)
    return _code(known), total, len(chosen), _code(context), _code(nested)


@program
def generator_left_by_return_or_raise_is_closed(im: Image, p: Position):
    returned, raised = [0.0], []

    def noted():
        returned[0] += 1
        try:
            yield im(p)
            yield im(p) + 1
        finally:
            returned[0] *= 3

    def first():
        for x in noted():
            if x > 0.5:
                return returned[0]
        return -1.0

    try:
        for _ in _opened(raised, im(p)):
            raise ValueError
    except ValueError:
        raised.append(2.0)
    return first(), returned[0], _code(raised)


@program
def generator_that_nothing_holds_is_closed(im: Image, p: Position):
    def first(log):
        waiting = _opened(log, im(p))
        found = next(waiting)
        log.append(9.0)
        return found

    logs = [[] for _ in range(7)]
    named = _opened(logs[0], im(p))
    found = [next(named), next(named)]
    named = None
    found += [first(logs[1]), next(_opened(logs[2], im(p)))]
    found += [a * b for a, b in zip(_opened(logs[3], im(p)), [1, 2], strict=False)]
    found += list(itertools.islice(_opened(logs[4], im(p)), 2))
    found.append(any(x > 0.5 for x in _opened(logs[5], im(p))))
    held = [_opened(logs[6], im(p))]
    found.append(next(held[0]))
    held.clear()
    for log in logs:
        log.append(4.0)
    return *found, *[_code(log) for log in logs]


@program
def generator_closed_in_a_loop_of_the_device(im: Image, counts: Image, p: Position):
    noted = [0.0]

    def noting(v):
        try:
            yield v
            yield v + 1
        finally:
            noted[0] = noted[0] * 0.5 + 1

    total = 0.0
    for i in range(counts(p)):
        for x in noting(im(p) + i):
            if x > 0.5:
                total += x
                break
        noted[0] += 0.25
    return total, noted[0]


@program
def generator_in_a_variable_is_closed_with_its_function(im: Image, counts: Image, p: Position):
    noted = [0.0]

    def noting(v):
        try:
            yield v
            yield v + 1
        finally:
            noted[0] = noted[0] * 3 + 2

    def first():
        waiting = noting(im(p))
        found = next(waiting)
        for _ in range(counts(p)):
            noted[0] += 1
        return found

    return first(), noted[0]


def _digits(number):
    while True:
        number, digit = divmod(number, 10)
        yield digit
        if not number:
            return


@program
def lists_of_as_many_as_it_yields(counts: Image, p: Position):
    digits = list(_digits(counts(p) * 7))
    return len(digits), digits[0], sum(digits), 4 in _digits(counts(p) * 7)


@program
def lists_that_are_longer_by_what_it_yields(counts: Image, p: Position):
    digits = [1, *_digits(counts(p) * 30)]
    return len(digits), digits[1]


@program
def the_first_of_an_endless_generator(counts: Image, p: Position):
    def squares():
        i = 0
        while True:
            yield i * i
            i += 1

    def digits(k):
        while True:
            k, d = divmod(k, 10)
            yield d
            if not k:
                return

    last, *others = digits(counts(p) * 37)
    found = next(v for v in squares() if v > counts(p) * 3)
    return found, last, len(others), sum(others)


@program
def a_function_with_a_where_that_is_true(unit: Image, p: Position):
    return np.power(unit(p), 2, where=True), np.maximum(unit(p), 0.5, where=True)


@program
def variables_of_a_loop_over_a_generator(ints: Image, counts: Image, p: Position):
    def digits(n):
        while n:
            yield n % 10
            n //= 10

    total = 0
    for i, digit in enumerate(digits(abs(ints(p)) * 37)):
        if i:
            total += digit * before  # noqa: F821
        before = digit
    for other in digits(counts(p)):
        if other > 3:
            large = 10 * other
    return i, digit, total, other, large if counts(p) > 3 else -1


@program
def sent_through_a_yield_from(ints: Image, p: Position):
    def inner(n):
        total = 0
        for i in range(3):
            got = yield i * n
            total += got or 0
        return total

    def outer(n):
        total = yield from inner(n)
        yield total + 1000

    steps = outer(ints(p))
    first = next(steps)
    return first, steps.send(5), steps.send(ints(p)), next(steps), next(steps, -1)
