"""For loops: nested, left early, with else."""

from .cases import on


@on((5,))
def for_sum(n):
    s = 0
    for i in range(n):
        s += i
    return s


@on(([1, 2, 3], [4, 5, 6]))
def for_zip(xs, ys):
    s = 0
    for i, (a, b) in enumerate(zip(xs, reversed(ys))):
        s += i * a - b
    return s


@on(([0, 1, 2, 3],), ([0, 1],))
def for_break_else(xs):
    for x in xs:
        if x > 2:
            break
        if x == 1:
            continue
        last = x
    else:
        return -1
    return x


@on(([5, 6, 7], 6), ([5, 6, 7], 9))
def for_return(xs, k):
    for i, x in enumerate(xs):
        if x == k:
            return i
    return -1


@on((8,))
def nested_for_else(n):
    t = 0
    for i in range(n):
        for j in range(i):
            if (i + j) % 3 == 0:
                continue
            if j > 3:
                break
            t += i * j
        else:
            t += 100
    return t


@on((5,), (2,))
def nested_for_return(n):
    for i in range(n):
        for j in range(n):
            if i * j == 6:
                return (i, j)


@on(([0, 1, 2],))
def for_ends_in_if(xs):
    for x in xs:
        if x > 1:
            last = x
        else:
            last = 0


@on(([1, -2, 9, 3],))
def conditional_in_loop(xs):
    s = 0
    for x in xs:
        s = s + (x if x > 0 else -x) if x != 9 else 0
    return s


@on(([(1, 2), (0, 3), (1, 0)],))
def loop_unpacks_and_tests(ps):
    r = []
    for a, b in ps:
        if a and b:
            r.append(a)
        elif not a:
            r += [b]
    return r


@on((6,))
def inner_break_ends_body(n):
    t = 0
    for i in range(n):
        for j in range(i):
            if i * j > 5:
                break
            t += 1
    return t


@on(([6, 1, -1, 2, 0, 9],), ([6, 1],))
def elif_break_continue(xs):
    r = 0
    for x in xs:
        if x > 5:
            r += 1
        elif x == 0:
            break
        elif x < 0:
            continue
        r += x
    return r


@on(([1, -1, 2], 1), ([1, -1, 2], 0), ([1, -1, 7, 2], 0))
def return_break_else(xs, k):
    t = 0
    for x in xs:
        if x < 0:
            if k:
                return t
            t -= 1
        if x == 7:
            break
        t += x
    else:
        t = -t
    return t


@on((3,))
def loop_over_default(a, k=(1, 2, 3)):
    s = 0
    for x in k:
        if x & a:
            s += x
    return s


@on(([1, 2],))
def assertion_in_loop(xs):
    for x in xs:
        assert x != 100, "no"
    return len(xs)


@on((5,), (2,))
def three_loops(n):
    for i in range(n):
        for j in range(n):
            for k in range(n):
                if i + j + k == 7:
                    return (i, j, k)
                if k > j:
                    break
            else:
                continue
            if i > 3:
                break
    return None


@on(({1: 2, 3: 4},))
def dict_items(d):
    t = 0
    for k, v in d.items():
        t += k * v
    return t


@on((0,), (1,), (6,))
def bubble(n):
    xs = [(i * 7) % 5 for i in range(n)]
    for i in range(len(xs)):
        swapped = False
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swapped = True
        if not swapped:
            break
    return xs


@on((2,), (30,))
def primes(n):
    out = []
    for k in range(2, n):
        for p in out:
            if p * p > k:
                out.append(k)
                break
            if k % p == 0:
                break
        else:
            out.append(k)
    return out


@on((4,), (0,))
def for_after_for(n):
    t = 0
    for i in range(n):
        t += i
    for i in range(t):
        t -= 1
    else:
        t += 100
    for a, b in zip(range(n), range(n, 0, -1)):
        t += a * b
    return t


@on(([[1, 2], [3, 4]],))
def for_targets(rows):
    out = [0, 0]
    for out[0], out[1] in rows:
        pass
    for i, [x, *y] in enumerate(rows):
        out += [i, x, y]
    return out


@on((5,), (1,))
def conditional_nested_in_loop(n):
    t = 0
    for i in range(n if n > 2 else 2 * n):
        t += (i if i % 2 else -i) if i < 3 else (t if t > 0 else 1)
    return t


@on((5,), (2,))
def chained_in_loop(n):
    t = 0
    for i in range(n):
        if 0 < i < 3 or not 1 <= t < 4:
            t += 1
        elif i == t != 2:
            continue
        t += 1
    return t


@on(([1, 2, 3],), ([],))
def loop_variable_after(xs):
    x = None
    for x in xs:
        if x == 2:
            y = x
    return x


@on((3,))
def loop_captures(n):
    fs = []
    for i in range(n):
        j = i * i
        fs.append(lambda: (i, j))
    return [f() for f in fs]


@on((4,), (0,))
def pyramid(n):
    s = 0
    for i in range(n):
        for j in range(i):
            for k in range(j):
                for m in range(k):
                    s += i * j * k * m
                s += 1
            s += 2
        s += 3
    return s


@on((6,), (3,))
def continue_outer(n):
    out = []
    for i in range(n):
        for j in range(2, i):
            if i % j == 0:
                break
            if j > 3:
                out.append((i, j))
                break
        else:
            continue
        out.append(i)
    return out


@on(([2, 0, 5], 3), ([], 3), ([1], 0))
def loop_with_raise_inside(xs, limit):
    t = 0
    for x in xs:
        if x < 0:
            raise ValueError(f"{x} below zero")
        if t > limit:
            return "over"
        t += x
    assert t >= 0
    return t
