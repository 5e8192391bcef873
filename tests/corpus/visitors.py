"""Small programs of strangers who try one feature after the other: tables, choices, generators, windows."""

import cmath
import enum
import itertools
import math
import operator

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position

program = Corpus()

PERM = [
    151,
    160,
    137,
    91,
    90,
    15,
    131,
    13,
    201,
    95,
    96,
    53,
    194,
    233,
    7,
    225,
    140,
    36,
    103,
    30,
    69,
    142,
    8,
    99,
    37,
    240,
    21,
    10,
    23,
    190,
    6,
    148,
]


T = np.arange(60.0).reshape(4, 5, 3) / 7


GRAD = np.array([[1, 1], [-1, 1], [1, -1], [-1, -1], [1, 0], [0, -1]], float)


def find_root(a, b, c):
    d = b * b - 4 * a * c
    if d < 0:
        return None
    s = math.sqrt(d)
    return (-b - s) / (2 * a), (-b + s) / (2 * a)


@program
def roots_if_any(im: Image, p: Position):
    roots = find_root(1.0, float(im(p)), -0.25 + 0.1 * p.x - 0.1 * p.y)
    if roots is None:
        return -1.0
    lo, hi = roots
    return hi - lo


@program
def rises_in_a_row(im: Image, p: Position):
    prev = None
    x = 0
    steps = 0
    n = 3 + p.x
    while x < n:
        v = im(p + (x, 0))
        if prev is not None and v > prev:
            steps += 1
        prev = v
        x += 1
    return steps


@program
def masked_window(im: Image, p: Position):
    w = np.array([im(p + (i, j)) for j in range(-1, 2) for i in range(-1, 2)])
    m = w > 0.25
    kept = w[m]
    h = np.zeros(9)
    h[m] += 1
    h[~m] = w[~m] * 2
    return (
        kept.sum(),
        kept.max() if kept.size else 0.0,
        h.sum(),
        np.count_nonzero(m),
        np.where(m, w, -w).mean(),
    )


@program
def rows_of_a_table(p: Position):
    k = p.x
    row = T[k]
    a = T[k, 1:]
    b = T[:, p.y]
    c = T[k][..., 0]
    return (
        row.sum(),
        a.mean(axis=0)[1],
        b[2, 1],
        c.max(),
        T[k][1:].sum(),
        T[k, p.y, -1],
        T[k, ::2, 1].sum(),
        T[..., p.y].sum(),
    )


@program
def slices_of_tables(p: Position):
    x = np.linspace(0, 5, 12)
    i = p.x + p.y
    w = x[i : i + 3]
    return (
        w.sum(),
        x[i + 1 : i + 3].dot([1, 2]),
        sum(PERM[i : i + 4]),
        max(PERM[p.x * 2 : p.x * 2 + 2]),
        np.diff(x[i : i + 4]).max(),
        x[i : i + 4][::-1][0],
    )


@program
def gradient_noise_by_a_table(p: Position):
    perm = PERM * 2

    def fade(t):
        return t * t * t * (t * (t * 6 - 15) + 10)

    def grad(h, x, y):
        g = GRAD[h % 6]
        return g[0] * x + g[1] * y

    x, y = p.x * 0.37, p.y * 0.53
    xi, yi = int(x) & 31, int(y) & 31
    xf, yf = x - math.floor(x), y - math.floor(y)
    aa = perm[perm[xi] % 32 + yi]
    ab = perm[perm[xi] % 32 + yi + 1]
    ba = perm[perm[xi + 1] % 32 + yi]
    bb = perm[perm[xi + 1] % 32 + yi + 1]
    u, v = fade(xf), fade(yf)
    lerp = lambda a, b, t: a + t * (b - a)
    return lerp(
        lerp(grad(aa, xf, yf), grad(ba, xf - 1, yf), u),
        lerp(grad(ab, xf, yf - 1), grad(bb, xf - 1, yf - 1), u),
        v,
    )


@program
def rows_of_several_lengths(p: Position):
    nb = [[1, 2], [0], [3, 0, 1], []]
    s = 0
    for n in nb[p.x]:
        for m in nb[n]:
            s += 10 * m + n
    return s + len(nb[p.y])


@program
def nearest_cube_root(p: Position):
    z = complex(p.x - 1.3, p.y - 0.9)
    roots = [cmath.exp(2j * math.pi * k / 3) for k in range(3)]
    for i in range(20):
        dz = (z**3 - 1) / (3 * z**2)
        z -= dz
        if abs(dz) < 1e-4:
            break
    return min(range(3), key=lambda k: abs(z - roots[k])), abs(z)


@program
def complex_round_trip(im: Image, p: Position):
    z = im(p) + 1j * (p.x - 1.5)
    w = cmath.sqrt(z) * cmath.exp(1j * p.y)
    r, t = cmath.polar(w)
    v = cmath.rect(r, t) - w
    zs = np.array([z, w, z.conjugate()])
    return (
        abs(v),
        (z * z.conjugate()).real,
        sum([z, w, 1]).imag,
        cmath.phase(w),
        np.abs(zs).sum(),
        (zs**2).real.max(),
        complex(r, t),
    )


class Mode(enum.Enum):
    ADD = "add"
    MUL = "mul"
    SCREEN = "screen"

    def apply(self, a, b):
        match self:
            case Mode.ADD:
                return a + b
            case Mode.MUL:
                return a * b
            case Mode.SCREEN:
                return 1 - (1 - a) * (1 - b)


@program
def blend_by_member(unit: Image, p: Position):
    m = list(Mode)[p.x % 3]
    q = Mode.ADD if unit(p) > 0.5 else Mode.MUL
    r = m.apply(unit(p), 0.25)
    return (
        r
        + (10 if m is q else 0)
        + len(m.value)
        + (100 if m.name.startswith("M") else 0)
        + (1000 if m in (Mode.ADD, Mode.SCREEN) else 0)
    )


@program
def functions_by_name(im: Image, p: Position):
    ops = {"sin": math.sin, "cos": math.cos, "neg": operator.neg, "sq": lambda v: v * v}
    names = list(ops)
    f = ops[names[(p.x + p.y) % 4]]
    g = max if im(p) > 0 else min
    return f(im(p)), g(im(p), im(p + (1, 0)), 0.1), (abs if p.x > 1 else round)(im(p))


class Ball:
    def __init__(self, x, v):
        self.x, self.v = x, v

    def step(self, dt):
        self.x += self.v * dt
        if self.x > 3:
            self.v = -self.v
            self.x = 6 - self.x
        return self


@program
def balls_that_take_turns(im: Image, p: Position):
    a, b = Ball(0.5, 2.0), Ball(1.5, -1.0)
    c = a if im(p) > 0 else b
    for k in range(3):
        c.step(1.0)
        c, other = (b, a) if c is a else (a, b)
        other.v *= 0.5
    c.x = 7
    return a.x, b.x, a.v, b.v


@program
def roughness_of_a_window(im: Image, p: Position):
    def local_mean(q):
        return sum(im(q + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)) / 9

    return sum(
        abs(im(p + (i, j)) - local_mean(p + (i, j))) for j in range(-3, 4) for i in range(-3, 4)
    )


@program
def running_mean_by_send(im: Image, p: Position):
    def averager():
        total, n, avg = 0.0, 0, 0.0
        while True:
            v = yield avg
            total += v
            n += 1
            avg = total / n

    a = averager()
    next(a)
    r = 0.0
    for k in range(4):
        r = a.send(im(p + (k, 0)))
    return r


@program
def squares_below(p: Position):
    def squares():
        k = 0
        while True:
            yield k * k
            k += 1

    return sum(itertools.takewhile(lambda v: v < 10 + 7 * p.x, squares())), sum(
        itertools.islice(squares(), 2, 6)
    )


@program
def two_brightest_places(im: Image, p: Position):
    hits = []
    for k in range(6):
        d = im(p + (k, 0))
        if d > 0:
            hits.append((d, k))
    hits.sort(key=lambda h: -h[0])
    out = 0.0
    for d, k in hits[:2]:
        out += d * (k + 1)
    return out, len(hits), [k for _, k in hits][0] if hits else -1, sum(d for d, _ in hits)


@program
def stack_of_pairs(p: Position):
    stack = [(p.x, 0)]
    seen = 0
    for _ in range(40):
        if not stack:
            break
        n, depth = stack.pop()
        seen += n * 10 + depth
        if n > 0 and depth < 3:
            stack.append((n - 1, depth + 1))
            if n % 2:
                stack.append((n // 2, depth + 1))
    return seen, len(stack)


class Row:
    def __init__(self, im, p):
        self.im, self.p = im, p

    def __len__(self):
        return 6

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if isinstance(k, tuple):
            a, b = k
            return self[a] + 2 * (b.stop if isinstance(b, slice) else b)
        return self.im(self.p + (k, 0))


@program
def row_with_slices(im: Image, p: Position):
    r = Row(im, p)
    return sum(r[1:4]), sum(r[::-2]), r[2, 3], r[0, 1:5], r[-1:][0], len(r[: p.x % 3 and 2])


@program
def matched_coordinates(p: Position):
    match (p.x % 3, p.y):
        case (0, y) if y > 1:
            return y * 100
        case (0, _):
            return 1
        case (1, 0 | 2):
            return 2
        case (x, 1):
            return 30 + x
        case _:
            return -1
