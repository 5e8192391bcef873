"""Comprehensions and generator expressions."""

from .cases import on


@on(([1, 2, 3],))
def list_comprehension(xs):
    return [x * 2 for x in xs]


@on(([1, 2, 3, 4], 2))
def filtered_comprehension(xs, k):
    return [x * k for x in xs if x > 1 if x != 3]


@on(([1, 2, 3],))
def two_loops_in_one(xs):
    return [(x, y) for x in xs for y in range(x) if y]


@on((3,))
def comprehension_in_comprehension(n):
    return [[i * j for i in range(n)] for j in range(n)]


@on(([1, 2],))
def comprehension_captured(xs):
    return [(lambda: x)() for x in xs]


@on(([1, 2],))
def comprehension_shadows(x):
    ys = [x for x in x]
    return ys, x


@on(([1, 2, 3, 4],))
def set_and_dict_comprehensions(xs):
    return {x % 3 for x in xs}, {x: x * x for x in xs}


@on(([1, 2, 3], 2))
def generator_expressions(xs, k):
    return (
        sum(x * k for x in xs),
        max(abs(x) for x in xs),
        any(x > k for x in xs),
        all(x > 0 for x in xs if x),
    )


@on((5,))
def generator_of_two_loops(n):
    return sum(i * j for i in range(n) for j in range(i))


@on(([1, 2],))
def tuple_of_generator(xs):
    return tuple(x + 1 for x in xs)


@on(([1, 2, 3],))
def consumed_generators(xs):
    return (
        list(x + 1 for x in xs),
        set(x % 2 for x in xs),
        min(x for x in xs),
        dict((x, x) for x in xs),
        sorted(-x for x in xs),
    )


@on(([[1, 2], [3], []],))
def flattened(rows):
    return [x for row in rows for x in row], {x: len(row) for row in rows for x in row if x != 2}


@on((3,), (0,))
def three_deep(n):
    return [[[i + j * k for k in range(n)] for j in range(i)] for i in range(n)]


@on((4, 3))
def conditional_elements(n, k):
    return [i if i < k else -i for i in range(n) if i % 2 or i > 2], [
        a and b for a in range(2) for b in range(2)
    ]


@on(([1, 2, 3],))
def walrus_escapes(xs):
    ys = [y := x * 2 for x in xs if (z := x) > 1]
    return ys, y, z


@on(([(1, (2, 3)), (4, (5, 6))],))
def unpacking_targets(ps):
    return [a + b * c for a, (b, c) in ps], {k: v for k, (v, *_) in ps}, [t for t, *u in ps if u]


@on(([1, 2], 5))
def free_name_shadowed(xs, x):
    def inner():
        ys = [x for x in xs]
        zs = [(lambda: x)() for x in xs]
        return ys, zs, x

    return inner()


@on(([1, 2, 3],))
def captured_by_each(xs):
    return [f() for f in [lambda: x for x in xs]], [f() for f in [lambda x=x: x for x in xs]]


@on(([3, 4], [5, 6]))
def inner_iterates_outer(xs, ys):
    return [[x * y for y in ys] for x in xs], [sum(x * y for y in ys if y > x) for x in xs]


@on(([1, 5, 3],))
def quantifiers(xs):
    return (
        any(x > 4 for x in xs),
        all(x > 4 for x in xs),
        any([]),
        all(x for x in []),
        any(all(y < x for y in range(x)) for x in xs),
    )


@on(([1, 5, 3],), ([],))
def quantifiers_in_tests(xs):
    if any(x > 4 for x in xs) and not all(x > 4 for x in xs):
        return "some"
    return "none" if all(x < 0 for x in xs) else "all"


@on(([2, 1],))
def own_any(xs):
    any = lambda g: sum(g)
    tuple = list
    return any(x > 0 for x in xs), tuple(x for x in xs)


@on((4,))
def generators_kept(n):
    g = (i * i for i in range(n))
    first = next(g)
    h = (x + first for x in g)
    return first, list(h), sum((i for i in range(n)), 10)


@on((3,))
def in_loop(n):
    out = []
    for i in range(n):
        out += [j for j in range(i) if j != 1]
        i = [i for i in (7,)][0] + i
        out.append(i)
    return out


@on(([1, 2, 3], 2))
def dict_of_generators(xs, k):
    return (
        dict((x, x * k) for x in xs),
        set(x % k for x in xs),
        frozenset(x for x in xs),
        " ".join(str(x) for x in xs),
    )


@on(([1, 2],))
def arguments_and_conditions(xs):
    return sum([x for x in xs], sum({x for x in xs})) if [x for x in xs if x > 1] else None


@on(([[1, 2], [3, 4]],))
def star_unpacked(rows):
    return [max(*row) for row in rows], [*zip(*rows)], list(zip(*[[x for x in r] for r in rows]))
