"""Operators, displays, subscripts, strings and assignments."""

from .cases import on


@on((7, 3))
def arithmetic(a, b):
    return (a + b) * (a - b) / 2 + a // b - a % b + a**2 + (-a) + abs(b)


@on((6, 3))
def bitwise(a, b):
    return (a & b) | (a ^ 5) << 2 >> 1 | ~a


@on((1, 0, 0), (0, 2, 3), (1, 5, 3))
def truth(a, b, c):
    return a and b or not c


@on((1, 2, 3), (3, 2, 3), (1, 2, 2))
def chained_comparison(a, b, c):
    return a < b < c


@on((1, 2, 3), (1, 2, 7))
def long_chained_comparison(a, b, c):
    return 0 <= a < b <= c != 7


@on((1, 2), (3, 2))
def conditional(a, b):
    return a if a > b else b


@on((3, 2), (2, 2), (1, 2))
def nested_conditional(a, b):
    return 1 if a > b else 2 if a == b else 3


@on((None, 4), (2, 7))
def identity_and_membership(a, b):
    return (a is None, a is not None, a in (1, 2, 3), b not in [4, 5])


@on((1,), (9,))
def walrus(a):
    if (y := a * 2) > 5:
        return y
    return y + (z := 3) + z


@on(([1, 2, 3, 4],))
def slices(xs):
    return xs[1:], xs[:2], xs[::2], xs[1:-1:1], xs[-1]


@on(([1, 2, 3, 4],))
def constant_slice(xs):
    return xs[1:3]


@on(([[1, 2], [3, 4]],))
def nested_subscripts(d):
    return d[0][1], d[1][0]


@on(({(0, 1): 5},))
def tuple_index(d):
    return d[0, 1]


@on(([1, 2, 3, 4], 2))
def stored_subscripts(xs, i):
    xs[i] = 5
    xs[i] += 2
    xs[0:2] = [8, 9]
    del xs[-1]
    return xs


@on((1, 2))
def displays(a, b):
    return (
        [a, b, 1],
        (a, b),
        {a: b},
        {a, b},
        [1, 2, 3],
        {"x": a, "y": b},
        (*[a], b),
        [*(a, b), 3],
        {**{1: 2}, 3: b},
    )


@on((3,))
def formatted_string(a):
    return f"{a!r:>4}x{a}" + str(a)


@on((((1, 2), [3, 4, 5, 6]),))
def unpacking(p):
    (a, b), c = p
    x, *ys, z = c
    a, b = b, a
    i, j, k = a, b, z
    i, j, k = k, i, j
    return a, b, x, ys, z, i, j, k


@on((1,))
def deletes(a):
    b = a
    del b
    return a


@on((1,))
def docstring(a):
    "doc"
    return a


@on((1,))
def passes(a):
    pass


@on((1,))
def constant_tests(a):
    if __debug__:
        a += 1
    if False:
        a += 100
    while False:
        a += 7
    return a


@on((1,))
def many_locals(a):
    b = a
    c = b
    d = c
    e = d
    return b, c, d, e


@on(([[1, 2], [3, 4]], 1))
def nested_in_place(m, i):
    m[i][0] += 1
    m[i][1] *= 2
    return m


@on((1, 2))
def stored_comparisons(a, b):
    eq = a == b
    ne = a != b
    lt = a < b
    return eq, ne, lt, not eq


@on((1,))
def integer_constants(a):
    return a + 255 + 256 + 257 + 100000 - 1 + 2.5


@on(())
def constant_displays():
    return (1, 2, (3, 4)), [1, 2, 3, 4], {1, 2, 3, 4}


@on((0, 2, 0, 4), (0, 0, 0, 4), (1, 0, 0, 0))
def or_and_or(a, b, c, d):
    return (a or b) and (c or d)


@on((2,))
def multiple_targets(a):
    x = y = z = a
    (p, q), (r, s) = (x, y), (z, a)
    return p + q + r + s


@on((3,))
def unary_plus(a):
    return +a


@on((1, 2, 3), (1, 0, 3), (0, 1, 0))
def conditional_of_and(a, b, c):
    return (a if b and c else b) + (c if not a or b > 1 else 5)


@on((7, 3), (-7, 2))
def in_place(a, b):
    c = a
    c += b
    c -= 1
    c *= 2
    c //= 3
    c %= 17
    c **= 2
    c <<= 2
    c >>= 1
    c &= 255
    c |= 64
    c ^= 5
    d = float(a)
    d /= b
    return c, d


@on((1, 2), (3.5, -1))
def format_specs(a, b):
    w = 8
    return (
        f"{a}",
        f"{a!s}{b!r}",
        f"{a:{w}}|{b:>{w}.3f}",
        f"{{}}{a!a:^{w}}",
        f"{a=}",
        f"{f'{a}':>5}{b:+}",
    )


@on((5,), (0,))
def joined_strings(a):
    return f"x{a}y{a + 1}", "%s-%s" % (a, a), "%d" % a


@on(([1, 2, 3, 4, 5, 6], 1, 4))
def moving_slices(xs, a, b):
    return xs[a:b], xs[a:], xs[:b], xs[a:b:2], xs[-b:-a], xs[::-1], xs[slice(a, b)]


@on(([1, 2, 3, 4, 5, 6], 2))
def stored_slices(xs, a):
    xs[a : a + 2] = [7]
    xs[:1] = []
    xs[::2] = [0 for _ in xs[::2]]
    del xs[a:]
    return xs


@on(({(0, None, 2): 5},))
def deep_subscript(d):
    return d[0, None, 1 + 1]


@on((1, 2, 3), (3, 3, 1))
def comparisons(a, b, c):
    return (
        a < b,
        a <= b,
        a == b,
        a != b,
        a > b,
        a >= b,
        a < b > c,
        a is b is c,
        a in (b, c),
        not a in [b],
    )


@on((2, 5), (9, 1))
def walrus_in_call(a, b):
    return max(c := a + b, (d := a * b)) + c - d, [e := c, e + 1]


@on((0, 1, 2), (1, 0, 2), (1, 2, 0))
def mixed_logic(a, b, c):
    return a and b or c, not (a or b and c), (a or b) is (b or c), not not a


@on((4,), (0,))
def conditional_chain(a):
    b = 1 if a > 3 else 2 if a > 2 else 3 if a > 1 else 4
    return b + (5 if a else 6) * (7 if not a else 8)


@on(((1, (2, [3, 4])), [5, 6, 7]))
def nested_unpacking(p, q):
    a, (b, [c, d]) = p
    e, *(f, g) = q
    *h, i = q
    [j, *k] = q
    return a, b, c, d, e, f, g, h, i, j, k


@on((1, 2, 3, 4))
def rotations(a, b, c, d):
    a, b = b, a
    a, b, c = c, a, b
    a, b, c, d = d, c, b, a
    (a, b), c = (c, a), b
    return a, b, c, d


@on(([0, 0, 0], 1))
def targets_in_order(xs, i):
    i, xs[i] = 2, 7
    xs[0], i = i, xs[1]
    xs[0] = xs[2] = i = i + 1
    return xs, i


@on((3, 4))
def starred_displays(a, b):
    xs, d = [a, b], {"a": a}
    return [*xs, *xs, 1], (*xs, 2), {*xs, 9}, {**d, "b": b, **{"c": 1}}, [0, *range(a)]


@on((6,))
def constants(a):
    return (
        None,
        True,
        False,
        ...,
        1.5,
        2j,
        "s",
        b"b",
        -1,
        -0.0,
        10**9,
        1 << 40,
        (1, (2.0, "x")),
    ), a


@on((-5,), (5,))
def unary_chains(a):
    return -a, +a, ~a, -(-a), ~-a, not a, not -a, -(a**2), (-a) ** 2


@on(({"a": [1, {"b": 2}]},))
def paths(d):
    d["a"][1]["b"] += 3
    d["a"][0], d["c"] = d["a"][1]["b"], 5
    del d["a"][1]["b"]
    return d


@on((3,))
def annotated_locals(a):
    b: int  # noqa: F842
    c: "undefined" = a
    (d): int = c + 1
    return c, d
