"""While loops, alone and with for loops: rotated tests, continue, break and else."""

from .cases import on


@on((27,))
def collatz(n):
    c = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        c += 1
    return c


@on((5, 7), (10, 3))
def while_and_or(a, b):
    while a > 0 and b > 0 or a == 9:
        a -= 1
        b -= 2
    return a, b


@on((30,))
def while_true(n):
    i = 0
    while True:
        i += 1
        if i * i > n:
            break
        if i % 2:
            continue
        n -= 1
    return i


@on((9,), (10,))
def while_else(n):
    while n > 0:
        n -= 3
        if n == 1:
            break
    else:
        return "none"
    return "hit"


@on((6,))
def nested_while(n):
    c = 0
    while n:
        m = n
        while m > 1:
            m //= 2
            c += 1
        n -= 1
    return c


@on(([1, 2, 3, 4],), ([1, 2],))
def while_not_or(xs):
    i = 0
    while not (i >= len(xs) or xs[i] == 3):
        i += 1
    return i


@on((1,))
def while_chained(a):
    n = 0
    while 0 < a < 10:
        a += 3
        n += 1
    return n, a


@on((12,))
def while_continue(n):
    c = 0
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n % 4 == 1:
            continue
        c += n
    return c


@on((9, 9), (30, 90), (4, 1))
def while_and_continue(a, b):
    c = 0
    while a > 0 and (b > 0 or c < 3):
        a -= 1
        if a % 3 == 0:
            b -= 2
            continue
        if c > 50:
            break
        c += a
    else:
        c += 1000
    return c


@on((6,))
def for_in_while(n):
    t = 0
    while n > 0:
        for j in range(n):
            if j == 3:
                break
            if j == 1:
                continue
            t += j
        n -= 1
    return t


@on((1,))
def while_chained_continue(a):
    n = 0
    while 0 < a < 20:
        a += 3
        if a == 10:
            continue
        n += 1
    return n, a


@on((9,), (3,))
def return_in_while_true(n):
    while True:
        n -= 1
        if n < 0:
            return "neg"
        if n == 5:
            break
    return n


@on((10, 4), (7, 7), (0, 5))
def gcd(a, b):
    while b:
        a, b = b, a % b
    return a


@on((0.5, 0.1), (-0.5, 0.5), (2.0, 2.0))
def mandelbrot(x, y):
    zx = zy = 0.0
    n = 0
    while zx * zx + zy * zy < 4.0 and n < 50:
        zx, zy = zx * zx - zy * zy + x, 2.0 * zx * zy + y
        n += 1
    return n


@on((5,), (0,))
def loop_in_branch_in_loop(n):
    t = 0
    for i in range(n):
        if i % 2:
            while t % 3 != 1:
                t += 1
                if t > 40:
                    return "big"
        else:
            for j in range(i):
                t += j
                if t > 9:
                    continue
                t += 1
    return t


@on((4, 2), (4, 9), (0, 0))
def return_from_three(n, k):
    for i in range(n):
        j = 0
        while j < n:
            for m in (i, j):
                if m * i + j == k:
                    return i, j, m
                if m > 2:
                    break
            else:
                j += 1
                continue
            j += 2
    else:
        return "none"


@on((6,), (0,))
def while_else_nested(n):
    out = []
    while n:
        m = n
        while m > 2:
            m -= 2
            if m == 3:
                break
        else:
            out.append(m)
        n -= 1
        if len(out) > 3:
            break
    else:
        out.append("end")
    return out


@on((9,), (1,))
def while_rotations(n):
    a = b = 0
    while n > 0 and not (a > 9 or b > 9):
        n -= 1
        if n % 2 and n % 3:
            a += n
            continue
        if n == 4:
            b += 1
            continue
        b += 2
    return n, a, b


@on((9,), (0,))
def while_or_continue(n):
    c = 0
    while n > 5 or c < 3:
        c += 1
        if n & 1:
            n -= 1
            continue
        n -= 2
    return n, c


@on(([3, 1, 4, 1, 5],), ([],), ([9],))
def while_walrus(xs):
    t = 0
    while xs and (x := xs.pop()) != 9:
        if x == 1:
            continue
        t += x
    return t


@on(([1, None, 3],), ([None],))
def while_none(xs):
    i = 0
    while i < len(xs) and (x := xs[i]) is not None:
        i += 1
    while i < len(xs) and xs[i] is None:
        i += 1
        if i > 5:
            continue
    return i


@on((3,), (50,))
def infinite(n):
    while 1:
        n += 1
        while True:
            if n % 7 == 0:
                break
            n += 1
            if n % 5 == 0:
                return n
        if n > 20:
            break
    return -n


@on((3,))
def while_only_break(n):
    while n:
        n += 5
        break
    for i in range(n):
        break
    else:
        i = -1
    return n, i


@on((20,), (3,))
def state_machine(n):
    state, trace = 0, 0
    while True:
        if state == 0:
            n -= 1
            state = 1 if n % 3 else 2
        elif state == 1:
            trace += 1
            state = 0
            if trace > 8:
                break
            continue
        else:
            if n < 5:
                return "low", trace
            state = 0
        trace += 2
    return n, trace


@on((3,), (8,))
def del_in_loop(n):
    k = 0
    while n > 0:
        m = n - 1
        if m == 5:
            del m
            n -= 3
            continue
        n = m
        del m
        k += 1
    return k
