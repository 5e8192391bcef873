"""Programs in the manner of public code: noise, shapes, filters, calendars, in everyday Python."""

import bisect
import enum
import functools
import itertools
import math
import operator
from collections import deque, namedtuple
from dataclasses import dataclass

from corpus.suite import Corpus
from pygpu import Image, Position, Vec2

program = Corpus()


@program
def fbm_classes(p: Position):
    class Noise:
        def __init__(self, seed):
            self.seed = seed

        def hash(self, x, y):
            n = (x * 374761393 + y * 668265263 + self.seed * 144269) & 0xFFFFFFFF
            n = ((n ^ (n >> 13)) * 1274126177) & 0xFFFFFFFF
            return ((n ^ (n >> 16)) & 0xFFFF) / 65535.0

        def __call__(self, x, y):
            ix, iy = math.floor(x), math.floor(y)
            fx, fy = x - ix, y - iy
            s = lambda t: t * t * (3 - 2 * t)
            lerp = lambda a, b, t: a + (b - a) * t
            top = lerp(self.hash(ix, iy), self.hash(ix + 1, iy), s(fx))
            bot = lerp(self.hash(ix, iy + 1), self.hash(ix + 1, iy + 1), s(fx))
            return lerp(top, bot, s(fy))

    n = Noise(7)
    return sum(n(p.x * f * 0.1 + 3.3, p.y * f * 0.1) / f for f in (1, 2, 4))


class Op(enum.Enum):
    UNION = "u"
    CUT = "c"
    BLEND = "b"

    @property
    def f(self):
        return {
            "u": min,
            "c": lambda a, b: max(a, -b),
            "b": lambda a, b: -math.log(math.exp(-4 * a) + math.exp(-4 * b)) / 4,
        }[self.value]


@dataclass(frozen=True)
class Circle:
    x: float
    y: float
    r: float

    def __call__(self, px, py):
        return math.hypot(px - self.x, py - self.y) - self.r

    def __or__(self, o):
        return Node(Op.UNION, self, o)

    def __sub__(self, o):
        return Node(Op.CUT, self, o)


@dataclass(frozen=True)
class Node:
    op: Op
    a: object
    b: object

    def __call__(self, px, py):
        return self.op.f(self.a(px, py), self.b(px, py))

    def __or__(self, o):
        return Node(Op.UNION, self, o)

    def __sub__(self, o):
        return Node(Op.CUT, self, o)

    def __and__(self, o):
        return Node(Op.BLEND, self, o)


@program
def csg(p: Position):
    scene = (Circle(1, 1, 1.5) | Circle(3.0, 1, 0.5)) - Circle(2, 1, 0.3)
    scene = scene & Circle(0, 2, 1)
    return scene(p.x * 1.0, p.y * 1.0)


RGB = namedtuple("RGB", "r g b")


@program
def blend_modes_match(rgb: Image, p: Position):
    c = RGB(*rgb(p))
    d = RGB(*rgb(p + (1, 0)))

    def mode(name, a, b):
        match name:
            case "multiply":
                return a * b
            case "screen":
                return 1 - (1 - a) * (1 - b)
            case "overlay" if True:
                return 2 * a * b if a < 0.5 else 1 - 2 * (1 - a) * (1 - b)
            case _:
                return a

    return tuple(mode(n, x, y) for n, x, y in zip(("multiply", "overlay", "screen"), c, d))


def memo(f):
    cache = {}

    @functools.wraps(f)
    def g(*a):
        if a not in cache:
            cache[a] = f(*a)
        return cache[a]

    return g


@memo
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@program
def fibonacci_weights(im: Image, p: Position):
    ws = [fib(k) for k in range(1, 6)]
    return sum(w * im(p + (k, 0)) for k, w in enumerate(ws)) / sum(ws)


@program
def bayer_dither(im: Image, p: Position):
    def bayer(n):
        if n == 0:
            return [[0]]
        b = bayer(n - 1)
        s = len(b)
        return [
            [4 * b[y % s][x % s] + [[0, 2], [3, 1]][y // s][x // s] for x in range(2 * s)]
            for y in range(2 * s)
        ]

    m = bayer(2)
    t = (m[p.y % 4][p.x % 4] + 0.5) / 16
    return 1.0 if im(p) > t else 0.0


@program
def julian_day(p: Position):
    year, month, day = 1990 + p.x * 7, 1 + p.y * 3, 12
    a = (14 - month) // 12
    y = year + 4800 - a
    m = month + 12 * a - 3
    return day + (153 * m + 2) // 5 + 365 * y + y // 4 - y // 100 + y // 400 - 32045


@program
def kepler_in_few_rounds(p: Position):
    e, M = 0.1 + 0.2 * p.y, 0.7 * p.x
    E = M
    for _ in range(50):
        d = (E - e * math.sin(E) - M) / (1 - e * math.cos(E))
        E -= d
        if abs(d) < 1e-6:
            break
    else:
        E = -1.0
    return E


@program
def median_by_walrus(im: Image, p: Position):
    vals = sorted(v for dy in (-1, 0, 1) for dx in (-1, 0, 1) if (v := im(p + (dx, dy))) == v)
    return vals[len(vals) // 2]


@program
def run_length(im: Image, p: Position):
    row = [im(p + (i, 0)) > 0.5 for i in range(6)]
    return max(
        (len(list(g)) for k, g in itertools.groupby([True, True, False]) if k), default=0
    ) + sum(row)


@program
def welford(im: Image, p: Position):
    n, mean, m2 = 0, 0.0, 0.0
    for d in itertools.product((-1, 0, 1), repeat=2):
        n += 1
        x = im(p + d)
        delta = x - mean
        mean += delta / n
        m2 += delta * (x - mean)
    return mean, m2 / (n - 1)


class Matrix:
    def __init__(self, *rows):
        self.rows = [list(r) for r in rows]

    def __matmul__(self, o):
        if isinstance(o, Matrix):
            return Matrix(
                *[[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows]
            )
        return [sum(a * b for a, b in zip(r, o)) for r in self.rows]

    @classmethod
    def rotation(cls, t):
        return cls((math.cos(t), -math.sin(t)), (math.sin(t), math.cos(t)))

    @property
    def det(self):
        (a, b), (c, d) = self.rows
        return a * d - b * c

    def __repr__(self):
        return f"Matrix({self.rows!r})"


@program
def matrix(p: Position):
    m = Matrix.rotation(0.1 * p.x) @ Matrix.rotation(0.2 * p.y)
    x, y = m @ (1.0, 2.0)
    return x, y, m.det


@program
def bezier(p: Position):
    pts = [Vec2(0, 0), Vec2(1, 2), Vec2(3, 3), Vec2(4, 0)]
    t = p.x / 4
    while len(pts) > 1:
        pts = [a * (1 - t) + b * t for a, b in zip(pts, pts[1:])]
    return pts[0]


@program
def catmull(im: Image, p: Position):
    v = [im(p + (i, 0)) for i in range(-1, 3)]

    def cubic(v0, v1, v2, v3, t):
        return v1 + 0.5 * t * (
            v2 - v0 + t * (2 * v0 - 5 * v1 + 4 * v2 - v3 + t * (3 * (v1 - v2) + v3 - v0))
        )

    return cubic(*v, 0.3)


@program
def game_of_life_set(im: Image, p: Position):
    alive = im(p) > 0.5
    n = sum(
        im(p + (x, y)) > 0.5
        for x, y in itertools.product(range(-1, 2), repeat=2)
        if (x, y) != (0, 0)
    )
    return 1.0 if n in {3} or (alive and n in (2, 3)) else 0.0


@program
def histogram_dict(im: Image, p: Position):
    bins = {k: 0 for k in range(4)}
    for dx in range(5):
        k = min(int(im(p + (dx, 0)) * 4), 3)
        k = max(k, 0)
        bins[k] += 1
    return max(bins.values()), bins[0]


@program
def counter(im: Image, p: Position):
    c = [0] * 4
    for dx in range(5):
        c[max(0, min(3, int(im(p + (dx, 0)) * 4)))] += 1
    return c.index(max(c))


@program
def ring_buffer(im: Image, p: Position):
    d = deque([0.0] * 3, maxlen=3)
    out = 0.0
    for i in range(5):
        d.append(im(p + (i, 0)))
        out += sum(d) / len(d)
    return out


@program
def chained_ops(im: Image, p: Position):
    v = im(p)
    pipeline = functools.reduce(
        lambda f, g: lambda x: g(f(x)), [abs, math.sqrt, lambda x: x**2 + 1, operator.neg]
    )
    return pipeline(v)


STATE = {"gain": 2.0, "bias": (0.1, 0.2)}


@program
def globals(im: Image, p: Position):
    gain, (b, *_) = STATE["gain"], STATE["bias"]
    return im(p) * gain + b


@program
def try_math(im: Image, p: Position):
    def safe(f, *a, default=0.0):
        try:
            return f(*a)
        except (ValueError, ZeroDivisionError) as e:
            return default

    v = im(p) - 0.5
    return (
        safe(math.sqrt, v) + safe(math.log, v, default=-1.0) + safe(lambda x: 1 / x, v, default=9.0)
    )


class Temperature:
    def __init__(self, k):
        self._k = k

    @property
    def celsius(self):
        return self._k - 273.15

    @celsius.setter
    def celsius(self, c):
        self._k = c + 273.15

    @staticmethod
    def of(c):
        t = Temperature(0)
        t.celsius = c
        return t

    def __lt__(self, o):
        return self._k < o._k

    def __eq__(self, o):
        return self._k == o._k

    def __hash__(self):
        return 0


@program
def properties(im: Image, p: Position):
    ts = [Temperature.of(im(p + (i, 0)) * 30) for i in range(3)]
    hottest = max(ts, key=lambda t: t.celsius)
    coldest = min(ts)
    return hottest.celsius - coldest.celsius


@program
def ordinal(im: Image, p: Position):
    edges = [0.1, 0.3, 0.7]
    grades = [1.0, 2.0, 3.0, 4.0]
    return grades[bisect.bisect(edges, im(p))]


@program
def sorted_tuples(im: Image, p: Position):
    pts = [(im(p + (i, 0)), i) for i in range(4)]
    (v0, i0), *rest = sorted(pts, key=lambda t: (-t[0], t[1]))
    return v0 * 10 + i0 + rest[-1][1]
