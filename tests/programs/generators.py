"""Generator expressions, maps and filters compute an item when it is asked for, as Python's do."""

import functools
import itertools

from programs.suite import Suite
from pygpu import Image, Position, Vec3

program = Suite()


@program
def next_with_default(im: Image, p: Position):
    return next((im(p + (i, 0)) for i in range(3) if im(p + (i, 0)) > 0.5), -1.0)


@program
def next_index(im: Image, p: Position):
    return next((i for i in range(5) if im(p + (i, 0)) > 0.5), 99)


@program
def next_vec(vecs: Image, p: Position):
    return next((vecs(p + (i, 0)) for i in range(3) if vecs(p + (i, 0)).x > 0.5), Vec3(0))


@program
def next_tuple(vecs: Image, p: Position):
    a, b = next(((i, vecs(p + (i, 0)).x) for i in range(3) if vecs(p + (i, 0)).x > 0.5), (0, 0.0))
    return a + b


@program
def interleaved(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p) * i

    s = 0.0
    for v in (t(i) for i in range(4)):
        s += v * n
    return s


@program
def interleaved_map(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p) * i

    s = 0.0
    for v in map(t, range(4)):
        s += v * n
        n += 1
    return s


@program
def shared_iterator(im: Image, p: Position):
    it = iter([1, 2, 3, 4, 5, 6])
    a = next(x for x in it if x > 2)
    return im(p) * a + next(it)


@program
def shared_iterator_any(im: Image, p: Position):
    it = iter([1, 2, 3, 4, 5, 6])
    found = any(x > 2 for x in it)
    return im(p) * found + next(it)


@program
def any_it(im: Image, p: Position):
    it = iter([0, 2, 3, 4, 5, 6])
    found = any(it)
    return im(p) * found + next(it)


@program
def all_it(im: Image, p: Position):
    it = iter([1, 0, 3, 4, 5, 6])
    found = all(it)
    return im(p) * found + next(it)


@program
def guarded_error(im: Image, p: Position):
    t = [1, 2, 3]
    return im(p) * next(i for i in range(10) if t[i] > 1) + any(t[i] == 3 for i in range(9))


@program
def gen_twice(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    g = (t(i) for i in range(5) if i != 1)
    a = next(g)
    b = next(g)
    k = n[0]
    return a + 3 * b + 100 * k + sum(g) + 1000 * n[0]


@program
def gen_nested(im: Image, p: Position):
    n = [0]

    def t(i, j):
        n[0] += 1
        return im(p) + i * j

    g = (t(i, j) for i in range(3) for j in range(i + 1) if (i + j) % 2 == 0)
    a = next(g)
    b = next(g)
    k = n[0]
    return a + 3 * b + 100 * k + sum(g) + 1000 * n[0]


@program
def gen_under_branch(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    g = (t(i) for i in range(5))
    if im(p) > 0:
        r = next(g) + 1
    else:
        r = next(g) - next(g)
    return r + n[0]


@program
def gen_ternary(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i if im(p + (i, 0)) > 0 else 2.0 * i

    g = (t(i) if im(p) > -1 else n[0] for i in range(5))
    a = next(g)
    return a + n[0] + next(g) * n[0]


@program
def filter_effect(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return i > 1

    it = filter(t, range(5))
    a = next(it)
    return im(p) * a + n[0]


@program
def sum_filtered_effect(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p + (i, 0))

    s = sum(t(i) for i in range(4) if im(p + (0, i)) > 0)
    return s + n[0]


@program
def min_effect(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p + (i, 0))

    s = min(t(i) for i in range(4))
    return s + n[0]


@program
def any_in_loop(im: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return x > 0.2

    c = 0
    for j in range(3):
        if any(t(im(p + (i, j))) for i in range(3)):
            c += 1
    return n + 10 * c


@program
def any_in_dyn_loop(im: Image, counts: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return x > 0.2

    c = 0
    for j in range(counts(p)):
        if any(t(im(p + (i, j))) for i in range(3)):
            c += 1
    return n + 10 * c


@program
def zip_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    s = 0.0
    for a, b in zip((t(i) for i in range(5)), [1, 2]):
        s += a * b * n[0]
    return s + n[0]


@program
def star_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    return max(*(t(i) for i in range(5))) + n[0] + len([*(t(i) for i in range(3))])


@program
def unpack_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    a, b = (t(i) for i in range(2))
    return a * b + n[0]


@program
def dict_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    d = dict((i, t(i)) for i in range(2))
    return d[0] * d[1] + n[0]


@program
def in_gen(ints: Image, p: Position):
    it = (i * 2 for i in range(6))
    r = 4 in it
    return ints(p) + r + next(it)


@program
def walrus_any(im: Image, p: Position):
    r = any((v := im(p + (i, 0))) > 0.5 for i in range(4))
    return v + r


@program
def walrus_sum(im: Image, p: Position):
    r = sum((v := im(p + (i, 0))) * 2 for i in range(4))
    return v + r


@program
def walrus_list(im: Image, p: Position):
    r = [(v := im(p + (i, 0))) * 2 for i in range(4)]
    return v + r[1]


@program
def long_any_effect(im: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return x > 1.9

    r = any(t(im(p + (i, 0))) for i in range(30))
    return n + 10 * r


@program
def anyall_lazy_num(im: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return x > 0.2

    r = any(t(im(p + (i, 0))) for i in range(3))
    return n + 10 * r


@program
def all_lazy_num(im: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return x > 0.2

    r = all(t(im(p + (i, 0))) for i in range(3))
    return n + 10 * r


@program
def next_lazy_known(im: Image, p: Position):
    n = 0

    def t(x):
        nonlocal n
        n += 1
        return im(p) + x

    g = (t(i) for i in range(3))
    a = next(g)
    return a + n * 10 + next(g)


@program
def any_known_stop(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return i == 1

    r = any(t(i) for i in range(5))
    return n + im(p) * r


@program
def any_mixed_stop(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p) > 0 if i == 0 else i == 2

    r = any(t(i) for i in range(5))
    return n + im(p) * r


@program
def any_map(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p + (i, 0)) > 0.3

    r = any(map(t, range(5)))
    return n + im(p) * r


@program
def any_list(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p + (i, 0)) > 0.3

    r = any([t(i) for i in range(5)])
    return n + im(p) * r


@program
def gen_stored_in_obj(im: Image, p: Position):
    class S:
        def __init__(self):
            self.n = 0
            self.g = (self.t(i) for i in range(5))

        def t(self, i):
            self.n += 1
            return im(p) * i

    s = S()
    a = next(s.g)
    b = next(s.g)
    return a + b * 10 + s.n * 100


@program
def gen_passed(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p + (i, 0))

    def first_two(g):
        return next(g) + next(g) * 2

    r = first_two(t(i) for i in range(5))
    return r + n * 100


@program
def gen_in_device_loop(im: Image, counts: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p + (i, 0)) > 0

    c = 0
    for k in range(counts(p)):
        c += all(t(i + k) for i in range(3))
    return c + 100 * n


@program
def gen_of_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    g = (x * 2 for x in (t(i) for i in range(4)))
    a = next(g)
    return a + n[0] * 10 + sum(g) + n[0] * 100


@program
def map_two(im: Image, p: Position):
    log = []

    def t(a, b):
        log.append(a)
        return a * im(p) + b

    m = map(t, [1, 2, 3], [4, 5, 6])
    a = next(m)
    return a + len(log) * 100 + sum(m) + len(log) * 1000


@program
def filter_stream(im: Image, p: Position):
    it = iter(range(10))
    ev = filter(lambda k: k % 2 == 0, it)
    a = next(ev)
    b = next(it)
    c = next(ev)
    return im(p) * a + b * 10 + c * 100


@program
def zip_shared(im: Image, p: Position):
    it = iter([im(p), 1.0, 2.0, 3.0, 4.0])
    s = 0.0
    for a, b in zip(it, it):
        s = s * 2 + a * b
    return s


@program
def enumerate_gen(im: Image, p: Position):
    n = 0

    def t(i):
        nonlocal n
        n += 1
        return im(p + (i, 0))

    for i, v in enumerate(t(k) for k in range(6)):
        if i == 2:
            break
    return v + n * 10 + i


@program
def chain_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    g = itertools.chain((t(i) for i in range(2)), (t(i) * 10 for i in range(2)))
    a = next(g)
    return a + n[0] * 1000 + sum(g)


@program
def islice_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return im(p) + i

    g = (t(i) for i in range(10))
    xs = list(itertools.islice(g, 3))
    return sum(xs) + n[0] * 100 + next(g)


@program
def takewhile_gen(im: Image, p: Position):
    n = [0]

    def t(i):
        n[0] += 1
        return i

    xs = list(itertools.takewhile(lambda k: k < 3, (t(i) for i in range(10))))
    return im(p) * len(xs) + n[0]


@program
def maps_in_a_map(im: Image, p: Position):
    rows = map(lambda dy: map(lambda dx: im(p + (dx, dy)), range(-1, 2)), range(-1, 2))
    return sum(map(sum, rows))


@program
def generators_in_a_map(im: Image, p: Position):
    rows = map(lambda dy: (im(p + (dx, dy)) for dx in range(-1, 2)), range(-1, 2))
    return max(x for row in rows for x in row)


@program
def filters_in_maps_in_a_zip(im: Image, p: Position):
    def row(dy):
        return sum(map(lambda dx: im(p + (dx, dy)), filter(lambda dx: dx != 0, range(-1, 2))))

    return sum(a * b for a, b in zip((1, 2, 3), map(row, range(-1, 2))))


@program
def maps_three_deep(im: Image, p: Position):
    cube = map(lambda c: map(lambda b: map(lambda a: im(p + (a, b)) * c, (0, 1)), (0, 1)), (1, 2))
    return [x for plane in cube for line in plane for x in line][-1]


@program
def lazy_maps_that_are_left_open(im: Image, p: Position):
    rows = map(lambda dy: map(lambda dx: im(p + (dx, dy)), range(3)), range(3))
    first = next(rows)
    return next(first) + 2 * next(next(rows)) + 4 * next(first)


@program
def filters_in_a_map(im: Image, p: Position):
    s = 0.0
    for row in map(lambda dy: filter(None, (im(p + (dx, dy)) for dx in range(-1, 2))), range(3)):
        for v in row:
            s = s * 0.5 + v
    return s


@program
def filters_in_a_generator_expression(im: Image, p: Position):
    s = 0.0
    rows = (filter(None, (im(p + (dx, dy)) for dx in range(-1, 2))) for dy in range(-1, 2))
    for row in rows:
        for v in row:
            s = s * 0.5 + v
    return s


@program
def functions_of_a_generator_expressions_variable(im: Image, p: Position):
    s = 0.0
    for f in (lambda: i * im(p) for i in range(3)):
        s = s * 2 + f()
    later = list(lambda: i + im(p) for i in range(3))  # all see the last one
    at_once = [lambda: i * 3 for i in range(4)]
    return s, later[0]() + 10 * later[2](), at_once[0]() + 10 * at_once[3]()


@program
def functions_that_a_generator_yields(im: Image, p: Position):
    def made():
        for i in range(3):
            yield lambda: i * im(p)

    s = 0.0
    for f in made():
        s = s * 2 + f()
    return s, sum(f() * k for k, f in enumerate(made()))


@program
def zips_in_a_map(im: Image, p: Position):
    s = 0.0
    for pairs in map(lambda k: zip([im(p), 2.0], [k, k + 1]), range(3)):
        for a, b in pairs:
            s = s * 0.5 + a * b
    return s


@program
def sum_of_extremes_over_a_dynamic_range(im: Image, p: Position, n: int = 3):
    return sum(max(im(p + (dx, k)) for dx in range(-1, 2)) for k in range(n))


@program
def sums_of_sums_over_a_dynamic_range(im: Image, p: Position, n: int = 3):
    return sum(
        sum(min(im(p + (dx, dy)) for dx in range(k)) for dy in range(2)) for k in range(1, n)
    )


@program
def extreme_of_extremes_over_a_dynamic_range(im: Image, p: Position, n: int = 3):
    return max((min(im(p + (dx, k)) for dx in range(-1, 2)) for k in range(n)), default=0.0)


@program
def reduced_extremes_over_a_dynamic_range(im: Image, p: Position, n: int = 3):
    rows = (max(im(p + (dx, k)) for dx in range(-1, 2)) for k in range(n))
    return functools.reduce(lambda a, b: a - b, rows, 1.0)


@program
def list_of_extremes_over_a_dynamic_range(im: Image, p: Position, n: int = 3):
    rows = list(max(im(p + (dx, k)) for dx in range(-1, 2)) for k in range(n))
    return sum(rows) + max(rows, default=0.0) * len(rows)


@program
def nested_generators_with_filters(counts: Image, p: Position):
    n = counts(p)
    total = sum(i * j for i in range(n) for j in range(i) if j % 2)
    total += 100 * sum(i * j for i in range(n) if i % 2 for j in range(i))
    most = max((i * j for i in range(n) for j in range(i) if j % 2), default=0)
    found = any(i * j == 12 for i in range(n) for j in range(i) if j % 2)
    for v in (i + j for i in range(n) for j in range(i) if j % 2):
        most += 100 * v
    listed = [i * j for i in range(n) for j in range(i) if j % 2]
    return total, most, found, len(listed), sum(listed)
