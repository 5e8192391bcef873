"""Programs in the manner of public code that use much of Python: classes, closures, enums, protocols."""

import enum
import functools
import itertools
import math
import operator
from abc import ABC, abstractmethod
from collections import defaultdict
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec3

program = Corpus()


class Material(ABC):
    @abstractmethod
    def shade(self, n, l): ...


class Matte(Material):
    def __init__(self, c):
        self.c = c

    def shade(self, n, l):
        return self.c * max(0.0, sum(a * b for a, b in zip(n, l)))


class Shiny(Matte):
    def shade(self, n, l):
        return super().shade(n, l) ** 2 + 0.1


@program
def abstract_materials(im: Image, p: Position):
    ms = [Matte(0.5), Shiny(0.9), Matte(0.2)]
    n = (0.0, math.sin(im(p)), math.cos(im(p)))
    m = ms[p.x % 3]
    return m.shade(n, (0.0, 0.6, 0.8))


class Pix(NamedTuple):
    v: float
    w: float = 1.0

    @property
    def q(self):
        return self.v / self.w

    def blend(self, o, t=0.5):
        return self._replace(v=self.v * (1 - t) + o.v * t, w=max(self.w, o.w))


@program
def named_tuple_class(im: Image, p: Position):
    a, b = Pix(im(p)), Pix(im(p + (1, 0)), 2.0)
    c = a.blend(b, t=0.25)
    return c.q, c._asdict()["v"]


class Dir(enum.IntEnum):
    N = 0
    E = 1
    S = 2
    W = 3

    def turn(self, k=1):
        return Dir((self + k) % 4)

    @property
    def delta(self):
        return ((0, -1), (1, 0), (0, 1), (-1, 0))[self]


@program
def ant_with_enum(im: Image, p: Position):
    d = Dir.N
    x = y = 0
    t = 0.0
    for k in range(6):
        d = d.turn(1 if k % 2 else 3)
        dx, dy = d.delta
        x += dx
        y += dy
        t += im(p + (x, y)) * (k + 1)
    return t


class Flags(enum.Flag):
    R = enum.auto()
    G = enum.auto()
    B = enum.auto()


@program
def flags(rgb: Image, p: Position):
    use = Flags.R | Flags.B
    c = rgb(p)
    return sum(v for f, v in zip(Flags, c) if f in use)


@dataclass
class Particle:
    pos: list
    vel: list = field(default_factory=lambda: [0.0, 0.0])
    mass: float = 1.0

    def step(self, dt, force):
        self.vel = [v + f / self.mass * dt for v, f in zip(self.vel, force)]
        self.pos = [x + v * dt for x, v in zip(self.pos, self.vel)]
        return self

    @property
    def energy(self):
        return 0.5 * self.mass * sum(v * v for v in self.vel)


@program
def particle(p: Position):
    a = Particle([p.x * 0.5, p.y * 0.5], mass=2.0)
    for _ in range(5):
        x, y = a.pos
        a.step(0.1, (-x, -y))
    return a.energy, *a.pos


@program
def partial_and_reduce(im: Image, p: Position):
    clampf = functools.partial(lambda lo, hi, v: max(lo, min(hi, v)), 0.0, 1.0)
    return functools.reduce(
        operator.mul, map(clampf, (im(p + (k, 0)) + 0.2 for k in range(3))), 1.0
    )


@program
def accumulate_pairwise(im: Image, p: Position):
    vs = [im(p + (k, 0)) for k in range(5)]
    acc = list(itertools.accumulate(vs, lambda a, b: 0.5 * a + b, initial=1.0))
    return max(abs(a - b) for a, b in itertools.pairwise(acc))


@program
def zip_longest_chain(im: Image, p: Position):
    a = [im(p + (k, 0)) for k in range(2)]
    b = [im(p + (0, k)) for k in range(4)]
    s = sum(x * y for x, y in itertools.zip_longest(a, b, fillvalue=0.5))
    return s + sum(itertools.islice(itertools.chain(a, itertools.repeat(2.0)), 4))


@program
def f_strings_dispatch(im: Image, p: Position):
    table = {f"m{k}": k * 1.5 for k in range(4)}
    mode = f"m{2:d}"
    return im(p) * table[mode] + table.get("none", 0.25)


def curry(f):
    return lambda a: lambda b: f(a, b)


@program
def curry_compose(im: Image, p: Position):
    add, mul = curry(operator.add), curry(operator.mul)
    compose = lambda *fs: functools.reduce(lambda f, g: lambda x: f(g(x)), fs)
    return compose(add(1), mul(2), abs)(im(p) - 0.5)


@program
def while_else(p: Position):
    n, steps = p.x * 7 + p.y + 1, 0
    while n != 1 and steps < 40:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    else:
        steps += 100
    return steps


@program
def gcd_lcm_isqrt(p: Position):
    a, b = 12 * (p.x + 1), 18 * (p.y + 1)

    def gcd(a, b):
        while b:
            a, b = b, a % b
        return a

    return gcd(a, b), a * b // gcd(a, b), math.isqrt(a * b)


@program
def bits(p: Position):
    n = p.x * 37 + p.y * 11
    gray = n ^ (n >> 1)
    c = 0
    m = gray
    for _ in range(8):
        c += m & 1
        m >>= 1
    rev = sum(((n >> k) & 1) << (7 - k) for k in range(8))
    return gray, c, rev


@program
def hsl_match_sector(rgb: Image, p: Position):
    r, g, b = rgb(p)
    mx, mn = max(r, g, b), min(r, g, b)
    d = mx - mn
    match (d == 0, mx == r, mx == g):
        case (True, _, _):
            h = 0.0
        case (_, True, _):
            h = ((g - b) / d) % 6
        case (_, _, True):
            h = (b - r) / d + 2
        case _:
            h = (r - g) / d + 4
    return h * 60


class Grid:
    def __init__(self, im, p):
        self.im, self.p = im, p

    def __getitem__(self, k):
        if isinstance(k, tuple):
            x, y = k
            return self.im(self.p + (x, y))
        return [self[k, y] for y in range(-1, 2)]

    def __iter__(self):
        for x in range(-1, 2):
            yield from self[x]

    def __len__(self):
        return 9

    def __contains__(self, v):
        return any(abs(v - t) < 0.05 for t in self)

    def __call__(self, f):
        return f(list(self))


@program
def grid_protocols(im: Image, p: Position):
    g = Grid(im, p)
    return g(max) - g(min), sum(g) / len(g), 1.0 if 0.5 in g else 0.0


class Dual:
    __slots__ = ("v", "d")

    def __init__(self, v, d=0.0):
        self.v, self.d = v, d

    @classmethod
    def lift(cls, o):
        return o if isinstance(o, cls) else cls(o)

    def __add__(self, o):
        o = Dual.lift(o)
        return Dual(self.v + o.v, self.d + o.d)

    __radd__ = __add__

    def __mul__(self, o):
        o = Dual.lift(o)
        return Dual(self.v * o.v, self.v * o.d + self.d * o.v)

    __rmul__ = __mul__

    def __truediv__(self, o):
        o = Dual.lift(o)
        return Dual(self.v / o.v, (self.d * o.v - self.v * o.d) / o.v**2)

    def __neg__(self):
        return Dual(-self.v, -self.d)

    def __sub__(self, o):
        return self + -Dual.lift(o)

    def __pow__(self, n):
        return Dual(self.v**n, n * self.v ** (n - 1) * self.d)

    def sin(self):
        return Dual(math.sin(self.v), math.cos(self.v) * self.d)


@program
def dual_numbers(im: Image, p: Position):
    x = Dual(im(p) + 1.5, 1.0)
    y = (3 * x**3 - 2 * x + 1) / (x + 2)
    z = y * x.sin() if hasattr(x, "sin") else y
    return z.v, z.d


class Poly:
    def __init__(self, *c):
        self.c = c

    def __call__(self, x):
        return functools.reduce(lambda a, k: a * x + k, self.c)

    def derivative(self):
        n = len(self.c) - 1
        return Poly(*(k * (n - i) for i, k in enumerate(self.c[:-1])))

    def newton(self, x, rounds=8):
        d = self.derivative()
        for _ in range(rounds):
            s = d(x)
            if abs(s) < 1e-9:
                return x
            x = x - self(x) / s
        return x


@program
def newton_polynomial(im: Image, p: Position):
    f = Poly(1.0, -6.0, 11.0, -6.0)
    return f.newton(im(p) * 3 + 0.2 * p.x + 3.5)


@program
def nonlocal_counter(im: Image, p: Position):
    count = 0

    def tick(v):
        nonlocal count
        if v > 0.5:
            count += 1
        return count

    total = sum(tick(im(p + (k, 0))) for k in range(4))
    return total, count


@program
def defaultdict_groups(im: Image, p: Position):
    groups = defaultdict(list)
    for k in range(6):
        groups[k % 3].append(im(p + (k, 0)))
    return tuple(sum(v) / len(v) for _, v in sorted(groups.items()))


@program
def try_finally_nested(im: Image, p: Position):
    log = []

    def risky(v):
        try:
            if v > 0.5:
                raise ValueError("big")
            return 1 / v
        except ZeroDivisionError:
            return -1.0
        finally:
            log.append(1)

    try:
        r = risky(im(p)) + risky(im(p + (1, 0)))
    except ValueError:
        r = 99.0
    return r


@program
def chained_comparison_sort(im: Image, p: Position):
    vs = sorted((im(p + d), n) for n, d in enumerate([(0, 0), (1, 0), (0, 1)]))
    lo, mid, hi = (v for v, _ in vs)
    return 1.0 if lo <= mid <= hi else 0.0, vs[1][1], hi - lo


@program
def ternary_tower_color_map(unit: Image, p: Position):
    stops = [
        (0.0, (0.0, 0.0, 0.3)),
        (0.3, (0.0, 0.6, 0.6)),
        (0.7, (0.9, 0.8, 0.1)),
        (1.0, (1.0, 1.0, 1.0)),
    ]
    t = min(max(unit(p), 0.0), 1.0)
    for (t0, c0), (t1, c1) in zip(stops, stops[1:]):
        if t0 <= t <= t1:
            f = (t - t0) / (t1 - t0)
            return tuple(a + (b - a) * f for a, b in zip(c0, c1))
    return stops[-1][1]


@program
def floyd_neighbour_index(im: Image, p: Position):
    kernel = {(1, 0): 7, (-1, 1): 3, (0, 1): 5, (1, 1): 1}
    quant = lambda v: round(v * 3) / 3
    return sum(w * (im(p - d) - quant(im(p - d))) for d, w in kernel.items()) / 16 + im(p)


@program
def rolling_hash(p: Position):
    text = b"stranger"
    h = 5381 + p.x
    for c in text:
        h = (h * 33 + c + p.y) & 0xFFFFFFFF
    return (h >> 8) & 0xFFFF


@program
def matrix_exponent(p: Position):
    def mul(a, b):
        return tuple(tuple(sum(x * y for x, y in zip(r, c)) for c in zip(*b)) for r in a)

    m, r, n = ((1, 1), (1, 0)), ((1, 0), (0, 1)), p.x + 4 * p.y
    while n > 0:
        if n & 1:
            r = mul(r, m)
        m = mul(m, m)
        n >>= 1
    return r[0][1]


@program
def simpson(p: Position):
    def simpson(f, a, b, n=8):
        h = (b - a) / n
        return (
            h
            / 3
            * sum((1 if k in (0, n) else 4 if k % 2 else 2) * f(a + k * h) for k in range(n + 1))
        )

    return simpson(lambda t: math.exp(-t * t), 0.0, 0.5 * (p.x + 1)) * 2 / math.sqrt(math.pi)


@program
def lazy_property(im: Image, p: Position):
    class Stats:
        def __init__(self, xs):
            self.xs = xs

        @functools.cached_property
        def mean(self):
            return sum(self.xs) / len(self.xs)

        @functools.cached_property
        def var(self):
            return sum((x - self.mean) ** 2 for x in self.xs) / len(self.xs)

    s = Stats([im(p + (k, 0)) for k in range(4)])
    return s.mean, s.var, math.sqrt(s.var)


@program
def init_subclass_registry(im: Image, p: Position):
    return sum(cls().apply(im(p)) for cls in Effect.registry.values())


class Effect:
    registry = {}

    def __init_subclass__(cls, /, name, **kw):
        super().__init_subclass__(**kw)
        Effect.registry[name] = cls


class Gain(Effect, name="gain"):
    def apply(self, v):
        return v * 2


class Bias(Effect, name="bias"):
    def apply(self, v):
        return v + 0.5


@program
def wrapped_functions(im: Image, p: Position):
    def memo(f):
        cache = {}

        @functools.wraps(f)
        def inner(*key):
            inner.calls += 1
            if key not in cache:
                cache[key] = f(*key)
            return cache[key]

        inner.cache = cache
        inner.calls = 0
        return inner

    def scaled(by):
        def deco(f):
            @functools.wraps(f)
            def g(v):
                return f(v) * by

            return g

        return deco

    @memo
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    @scaled(im(p))
    def half(v):
        return v / 2

    @scaled(2)
    @scaled(3)
    def same(v):
        return v

    return (
        fib(20) / 1000,
        len(fib.cache) + fib.calls,
        half(3.0),
        same(0.5) + len(half.__name__) + (same.__wrapped__.__wrapped__(1.0)),
    )


class Affine(NamedTuple):
    a: float
    b: float

    def __call__(self, x):
        return self.a * x + self.b

    def __matmul__(self, o):
        return Affine(self.a * o.a, self.a * o.b + self.b)


@program
def callable_tuples(im: Image, p: Position):
    f = Affine(im(p), 1.0) @ Affine(2.0, im(p + (1, 0)))
    return f(3.0), sum(map(f, (0.0, 1.0)))


@dataclass(slots=True)
class Struck:
    t: float = math.inf
    material: str | None = None
    normal: tuple | None = None

    def __bool__(self):
        return self.material is not None


class Floor(NamedTuple):
    height: float
    name: str = "floor"

    def intersect(self, o, d):
        if abs(d[1]) < 1e-6:
            return Struck()
        t = (self.height - o[1]) / d[1]
        return Struck(t, self.name, (0.0, 1.0, 0.0)) if t > 0 else Struck()


class Ball(NamedTuple):
    centre: tuple
    radius: float
    name: str = "ball"

    def intersect(self, o, d):
        oc = [a - b for a, b in zip(o, self.centre)]
        b = sum(map(operator.mul, oc, d))
        c = sum(x * x for x in oc) - self.radius**2
        disc = b * b - c
        if disc < 0:
            return Struck()
        t = -b - math.sqrt(disc)
        if t <= 0:
            return Struck()
        n = tuple((o_ + t * d_ - c_) / self.radius for o_, d_, c_ in zip(o, d, self.centre))
        return Struck(t, self.name, n)


COLOURS = {"floor": (0.3, 0.5, 0.3), "ball": (0.9, 0.2, 0.1), None: (0.5, 0.6, 0.9)}


@program
def materials_by_name(p: Position):
    d = np.array([p.x - 1.5, 1.0 - p.y, 2.0])
    d = d / np.linalg.norm(d)
    hits = [s.intersect((0.0, 0.2, -3.0), d) for s in (Floor(-1.0), Ball((0.0, 0.0, 0.0), 1.0))]
    best = min(filter(None, hits), key=lambda h: h.t, default=Struck())
    colour = np.array(COLOURS[best.material])
    if best.normal is not None:
        colour = colour * max(0.1, np.dot(best.normal, (0.6, 0.7, -0.4)))
    return Vec3(*colour)


@program
def state_machine_table(ints: Image, p: Position):
    table = {
        ("idle", 0): "idle",
        ("idle", 1): "run",
        ("run", 0): "stop",
        ("run", 1): "run",
        ("stop", 0): "idle",
        ("stop", 1): "stop",
    }
    state = "idle"
    for i in range(4):
        state = table[state, ints(p + (i, 0)) & 1]
    return {"idle": 0.0, "run": 1.0, "stop": 2.0}[state]
