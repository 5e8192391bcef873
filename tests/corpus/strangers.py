"""Programs in the manner of public code, written by people who had not seen the compiler: terrain,
shadertoy, colour science, geometry, toys of physics, decorators, protocols, Python's library.
"""

import abc
import contextlib
import dataclasses
import enum
import functools
import heapq
import itertools
import json
import logging
import math
import operator
import statistics
from collections import ChainMap, Counter, OrderedDict
from dataclasses import dataclass, field, replace
from enum import Enum, IntFlag
from fractions import Fraction
from typing import ClassVar, Generic, NamedTuple, Optional, TypedDict, TypeVar

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec2, Vec3, offsets

program = Corpus()


@dataclass(frozen=True, slots=True)
class Layer:
    frequency: float
    amplitude: float = 1.0
    ridged: bool = False
    tags: tuple[str, ...] = ()


@program
def terrain_layers(p: Position):
    layers = [Layer(0.1), Layer(0.2, 0.5, True, ("mountain",)), replace(Layer(0.4), amplitude=0.25)]

    def value(x: float, y: float) -> float:
        return math.sin(x * 1.7) * math.cos(y * 2.3)

    height = 0.0
    for layer in layers:
        n = value(p.x * layer.frequency, p.y * layer.frequency)
        if layer.ridged:
            n = 1.0 - abs(n)
        if "mountain" in layer.tags and (peak := n * n) > 0.5:
            n = peak
        height += n * layer.amplitude
    total = sum(map(operator.attrgetter("amplitude"), layers))
    return height / total


class Biome(Enum):
    OCEAN = (0.0, 0.1, 0.4)
    BEACH = (0.9, 0.8, 0.5)
    FOREST = (0.1, 0.5, 0.1)
    SNOW = (1.0, 1.0, 1.0)

    def __init__(self, r, g, b):
        self.rgb = Vec3(r, g, b)

    @classmethod
    def at(cls, height, moisture):
        match (height, moisture):
            case (h, _) if h < 0.3:
                return cls.OCEAN
            case (h, _) if h < 0.4:
                return cls.BEACH
            case (h, m) if h > 0.8 or m < 0.1:
                return cls.SNOW
            case _:
                return cls.FOREST


@program
def biomes(unit: Image, p: Position):
    return Biome.at(unit(p), unit(p + (1, 0))).rgb


@program
def neon_rings(p: Position):
    def palette(t):
        a, b, c, d = (
            Vec3(*v) for v in ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), (1, 1, 1), (0.263, 0.416, 0.557))
        )
        return a + b * np.cos(6.28318 * (c * t + d))

    uv = (Vec2(p.x, p.y) * 2.0 - Vec2(4, 3)) / 3.0
    uv0 = Vec2(uv.x, uv.y)
    final = Vec3(0.0, 0.0, 0.0)
    for i in range(4):
        uv = (uv * 1.5) % 1.0 - 0.5
        d = math.hypot(*uv) * math.exp(-math.hypot(*uv0))
        col = palette(math.hypot(*uv0) + i * 0.4 + 0.4)
        d = abs(math.sin(d * 8.0 + 0.4) / 8.0) + 0.05
        final += col * pow(0.01 / d, 1.2)
    return final


@program
def local_statistics(im: Image, p: Position):
    xs = [im(p + (dx, dy)) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
    mean = statistics.fmean(xs)
    return statistics.median(xs), mean, statistics.pstdev(xs), statistics.variance(xs, mean)


@program
def fraction_weights(im: Image, p: Position):
    weights = [Fraction(n, 35) for n in (-3, 12, 17, 12, -3)]
    assert sum(weights) == 1
    return sum(float(w) * im(p + (i - 2, 0)) for i, w in enumerate(weights))


@program
def winding_number_too(p: Position):
    poly = [(0.5, 0.5), (3.5, 0.7), (2.8, 2.6), (1.4, 1.2), (0.6, 2.7)]
    x, y = p.x + 0.1, p.y + 0.05
    wn = 0
    for (x0, y0), (x1, y1) in zip(poly, poly[1:] + poly[:1]):
        is_left = (x1 - x0) * (y - y0) - (x - x0) * (y1 - y0)
        if y0 <= y:
            if y1 > y and is_left > 0:
                wn += 1
        elif y1 <= y and is_left < 0:
            wn -= 1
    return wn != 0, wn


@program
def liang_barsky(unit: Image, p: Position):
    def clip(x0, y0, x1, y1, box=(0.2, 0.2, 0.8, 0.8)) -> Optional[tuple[float, float]]:
        xmin, ymin, xmax, ymax = box
        dx, dy = x1 - x0, y1 - y0
        t0, t1 = 0.0, 1.0
        for pk, qk in ((-dx, x0 - xmin), (dx, xmax - x0), (-dy, y0 - ymin), (dy, ymax - y0)):
            if pk == 0:
                if qk < 0:
                    return None
                continue
            t = qk / pk
            if pk < 0:
                if t > t1:
                    return None
                t0 = max(t0, t)
            else:
                if t < t0:
                    return None
                t1 = min(t1, t)
        return t0, t1

    found = clip(unit(p), 0.1, unit(p + (1, 0)), 0.95)
    return -1.0 if found is None else found[1] - found[0]


class State(NamedTuple):
    x: float
    v: float

    def step(self, f, dt=0.1):
        return self._replace(x=self.x + dt * self.v, v=self.v + dt * f(self.x))


@program
def spring_steps(im: Image, p: Position):
    s = State(im(p), 0.0)
    for _ in range(10):
        s = s.step(lambda x: -2.0 * x)
    return s


@program
def pendulum_rk4(unit: Image, p: Position):
    def rk4(f, y, h):
        k1 = f(y)
        k2 = f([a + h / 2 * b for a, b in zip(y, k1)])
        k3 = f([a + h / 2 * b for a, b in zip(y, k2)])
        k4 = f([a + h * b for a, b in zip(y, k3)])
        return [a + h / 6 * (p + 2 * q + 2 * r + s) for a, p, q, r, s in zip(y, k1, k2, k3, k4)]

    y = [unit(p), 0.0]
    for _ in range(8):
        y = rk4(lambda s: (s[1], -math.sin(s[0])), y, 0.1)
    return y[0], y[1]


@program
def bit_tricks(counts: Image, p: Position):
    n = counts(p) & 0xFF
    pop = bin_count = 0
    m = n
    for _ in range(8):
        pop += m & 1
        m >>= 1
    rev = int(0)
    for i in range(8):
        rev |= ((n >> i) & 1) << (7 - i)
    gray = n ^ (n >> 1)
    pow2 = n != 0 and n & (n - 1) == 0
    return pop, rev, gray, pow2


@program
def int_methods(counts: Image, p: Position):
    n = abs(counts(p)) + 1
    return n.bit_length(), n.bit_count(), math.isqrt(n), math.gcd(n, 12)


class Edge(IntFlag):
    NONE = 0
    L = 1
    R = 2
    B = 4
    T = 8


@program
def cohen_sutherland(unit: Image, p: Position):
    def code(x, y):
        c = Edge.NONE
        if x < 0.3:
            c |= Edge.L
        elif x > 0.7:
            c |= Edge.R
        if y < 0.3:
            c |= Edge.B
        elif y > 0.7:
            c |= Edge.T
        return c

    a = code(unit(p), unit(p + (1, 0)))
    b = code(unit(p + (0, 1)), unit(p + (1, 1)))
    if not (a | b):
        return 1
    return 0 if a & b else 2


def clamped(lo, hi):
    def deco(f):
        @functools.wraps(f)
        def inner(*args, **kw):
            return max(lo, min(hi, f(*args, **kw)))

        inner.bounds = (lo, hi)
        return inner

    return deco


@clamped(0.0, 1.0)
def gain(x, *, g=2.0, bias=-0.2):
    return x * g + bias


@program
def decorated_gain(im: Image, p: Position):
    lo, hi = gain.bounds
    return gain(im(p)) * (hi - lo) + gain(im(p), g=0.5)


@functools.total_ordering
class Depth:
    def __init__(self, z):
        self.z = z

    def __eq__(self, other):
        return self.z == other.z

    def __lt__(self, other):
        return self.z < other.z


@program
def nearest_depth(im: Image, p: Position):
    ds = [Depth(im(p + o)) for o in ((0, 0), (1, 0), (0, 1))]
    return max(ds).z, min(ds).z, ds[0] >= ds[1]


@program
def trimmed_mean(im: Image, p: Position):
    xs = [im(p + o) for o in itertools.product((-1, 0, 1), repeat=2)]
    low = heapq.nsmallest(3, xs)
    high = heapq.nlargest(3, xs)
    return (sum(xs) - sum(low) - sum(high)) / 3


@program
def settings_chain(im: Image, p: Position):
    defaults = {"gain": 1.0, "bias": 0.0, "gamma": 2.0}
    opts = ChainMap({"bias": 0.1}, defaults)
    c = Counter("mississippi")
    od = OrderedDict(sorted(c.items()))
    w = sum(v for v in od.values())
    return (im(p) ** 2 * opts["gain"] + opts["bias"]) / w * c.most_common(1)[0][1]


FONT = {
    "0": ("###", "# #", "# #", "# #", "###"),
    "1": (" # ", "## ", " # ", " # ", "###"),
    "7": ("###", "  #", " # ", " # ", " # "),
}


@program
def bitmap_font(p: Position):
    text = "107"
    col, row = p.x + 1, p.y + 1
    lit = 0
    for i, ch in enumerate(text):
        for r, line in enumerate(FONT[ch]):
            for c, mark in enumerate(line):
                if mark == "#" and col == c + 4 * i and row == r:
                    lit = 1
    return lit


RAMP = " .:-=+*#%@"


@program
def ascii_ramp(unit: Image, p: Position):
    k = min(int(unit(p) * len(RAMP)), len(RAMP) - 1)
    return ord(RAMP[k])


@program
def horner_too(im: Image, p: Position):
    coefficients = (1.0, -0.5, 0.25, 0.125)
    return functools.reduce(lambda acc, c: acc * im(p) + c, coefficients), functools.reduce(
        operator.mul, [im(p)] * 3, 1
    )


@program
def itertools_soup(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(6)]
    acc = list(itertools.accumulate(xs, operator.add))
    diffs = [b - a for a, b in itertools.pairwise(xs)]
    dots = sum(itertools.starmap(operator.mul, zip(xs, diffs)))
    batches = [sum(itertools.islice(xs, i, i + 2)) for i in range(0, 6, 2)]
    return acc[-1], max(itertools.accumulate(xs, max)), dots, math.prod(batches)


@program
def local_mode(counts: Image, p: Position):
    hist = [0] * 4
    for d in offsets(np.ones((3, 3))):
        hist[counts(p + d) % 4] += 1
    return hist.index(max(hist))


@program
def newton_sqrt(unit: Image, p: Position):
    x = guess = unit(p) + 1.0
    n = 0
    while (err := abs(guess * guess - x)) > 1e-4 and (n := n + 1) < 20:
        guess = 0.5 * (guess + x / guess)
    return guess, n, err < 1e-3


@program
def collatz_length(counts: Image, p: Position):
    n = abs(counts(p)) % 27 + 1
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program
def digit_root(counts: Image, p: Position):
    n = abs(counts(p))
    total = 0
    while n:
        n, d = divmod(n, 10)
        total += d
    return total, 1 + (total - 1) % 9 if total else 0


@program
def mandel_numba(p: Position):
    def mandel(x, y, max_iters):
        i = 0
        c = complex(x, y)
        z = 0.0j
        for i in range(max_iters):
            z = z * z + c
            if (z.real * z.real + z.imag * z.imag) >= 4:
                return i
        return 255

    return mandel(p.x * 0.5 - 1.5, p.y * 0.4 - 0.9, 20)


class Ray:
    __slots__ = ("o", "d")

    def __init__(self, o, d):
        self.o, self.d = o, d

    def at(self, t):
        return self.o + self.d * t


def sdf(q):
    return min(math.dist(q, (0, 0, 0)) - 1.0, q.y + 1.0)


@program(within=1e-3)
def warp_raymarch(p: Position):
    from pygpu import normalize

    ray = Ray(Vec3(0, 0, -3), normalize(Vec3(p.x * 0.2 - 0.3, p.y * 0.2 - 0.2, 1.0)))
    t = 0.0
    for _ in range(32):
        d = sdf(ray.at(t))
        if d < 0.001 or t > 20:
            break
        t += d
    return min(t, 20.0)


@program
def pythran_rosen(im: Image, p: Position):
    x = np.array([im(p), im(p + (1, 0)), im(p + (0, 1))])
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0)


@program
def pythran_arc_distance(unit: Image, p: Position):
    t1, p1, t2, p2 = (unit(p + o) for o in ((0, 0), (1, 0), (0, 1), (1, 1)))
    temp = np.sin((t2 - t1) / 2) ** 2 + np.cos(t1) * np.cos(t2) * np.sin((p2 - p1) / 2) ** 2
    return 2 * np.arctan2(np.sqrt(temp), np.sqrt(1 - temp))


class Shape(abc.ABC):
    registry: ClassVar[list] = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Shape.registry.append(cls)

    @abc.abstractmethod
    def distance(self, q): ...
    @property
    def kind(self) -> str:
        return type(self).__name__.lower()


class Disc(Shape):
    def __init__(self, r):
        self.r = r

    def distance(self, q):
        return math.hypot(q[0], q[1]) - self.r


class Box(Shape):
    def __init__(self, w, h):
        self.w, self.h = w, h

    def distance(self, q):
        dx, dy = abs(q[0]) - self.w, abs(q[1]) - self.h
        return math.hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0)


T = TypeVar("T", bound=Shape)


class Scene(Generic[T]):
    def __init__(self, *shapes: T):
        self.shapes = list(shapes)

    def __iter__(self):
        return iter(self.shapes)

    def __len__(self):
        return len(self.shapes)

    def nearest(self, q):
        return min(self, key=lambda s: s.distance(q))


@program
def abstract_scene(p: Position):
    scene = Scene[Shape](Disc(1.0), Box(2.0, 0.5))
    q = (p.x - 1.5, p.y - 1.0)
    near = scene.nearest(q)
    return near.distance(q), 1.0 if near.kind == "box" else 0.0, len(scene)


class Degrees:
    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, obj, cls=None):
        if obj is None:
            return self
        return math.degrees(getattr(obj, self.name))

    def __set__(self, obj, v):
        setattr(obj, self.name, math.radians(v))


class Turtle:
    heading = Degrees()

    def __init__(self):
        self.heading = 0
        self.x = self.y = 0.0

    def forward(self, d):
        self.x += d * math.cos(self._heading)
        self.y += d * math.sin(self._heading)
        return self

    def left(self, a):
        self.heading += a
        return self


@program
def turtle_walk(unit: Image, p: Position):
    t = Turtle()
    t.forward(1).left(90 * unit(p)).forward(2).left(45).forward(unit(p))
    return t.x, t.y, t.heading


@functools.singledispatch
def area(shape):
    raise TypeError(shape)


@area.register
def _(s: Disc):
    return math.pi * s.r**2


@area.register(Box)
def _(s):
    return 4 * s.w * s.h


@program
def dispatched_area(unit: Image, p: Position):
    return area(Disc(unit(p))) + area(Box(unit(p), 2.0))


@contextlib.contextmanager
def scaled(log, k):
    log.append(k)
    try:
        yield k * 2
    finally:
        log.append(-k)


@program
def user_context(im: Image, p: Position):
    log = []
    with scaled(log, im(p)) as double:
        log.append(double)
    return sum(log), len(log)


@program
def complementary(im: Image, p: Position):
    c = im(p) > 0.1
    if c:
        a = im(p) * 2
    if not c:
        a = -im(p)
    return a


@program
def poly_and_take(im: Image, p: Position):
    f = np.poly1d([1.0, -2.0, 0.5])
    xs = np.array([[im(p), im(p + (1, 0))], [im(p + (0, 1)), im(p + (1, 1))]])
    order = np.argsort(xs, axis=1)
    s = np.take_along_axis(xs, order, axis=1)
    return f(im(p)), s[0, 0], s[1, 1]


@program
def mask_sums(im: Image, p: Position):
    v = im(p)
    inside = (v > 0.1) & (v < 0.9)
    return np.sum(inside), sum([v > 0.1, v > 0.5]), np.count_nonzero([v > 0.1, v > 0.5, inside])


@program
def nested_dispatch(im: Image, p: Position):
    @functools.singledispatch
    def double(x):
        return x * 2

    @double.register
    def _(x: tuple):
        return sum(x) * 2

    return double(im(p)) + double((im(p), 1.0))


@program
def kelvin_to_rgb(unit: Image, p: Position):
    t = (1000 + unit(p) * 14000) / 100
    clamp = lambda v: min(max(v, 0), 255)
    r = 255 if t <= 66 else 329.698727446 * ((t - 60) ** -0.1332047592)
    g = (
        99.4708025861 * math.log(t) - 161.1195681661
        if t <= 66
        else 288.1221695283 * ((t - 60) ** -0.0755148492)
    )
    if t >= 66:
        b = 255
    elif t <= 19:
        b = 0
    else:
        b = 138.5177312231 * math.log(t - 10) - 305.0447927307
    return tuple(clamp(c) / 255 for c in (r, g, b))


@dataclass
class Lab:
    L: float
    a: float
    b: float
    chroma: float = field(init=False)

    def __post_init__(self):
        self.chroma = math.sqrt(self.a**2 + self.b**2)

    @classmethod
    def from_xyz(cls, x, y, z, white=(0.95047, 1.0, 1.08883)):
        f = lambda t: t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116
        fx, fy, fz = [f(v / w) for v, w in zip((x, y, z), white)]
        return cls(L=116 * fy - 16, a=500 * (fx - fy), b=200 * (fy - fz))


@program
def lab_dataclass(rgb: Image, p: Position):
    return tuple(dataclasses.astuple(Lab.from_xyz(*rgb(p))))


@program
def elementary_rule(counts: Image, p: Position):
    rule = 110
    bits = f"{rule:08b}"[::-1]
    l, c, r = (counts(p + (d, 0)) & 1 for d in (-1, 0, 1))
    return [int(b) for b in bits][l << 2 | c << 1 | r]


@program
def halton_too(p: Position):
    def vdc(n, base):
        v, denom = 0.0, 1.0
        while n > 0:
            denom *= base
            n, rem = divmod(n, base)
            v += rem / denom
        return v

    n = p.x + 4 * p.y + 1
    return tuple(vdc(n, b) for b in (2, 3))


@program
def gauss_elimination(unit: Image, p: Position):
    a = [[2 + unit(p), 1.0, 1.0], [1.0, 3 + unit(p), 2.0], [1.0, 0.0, 4.0 + unit(p)]]
    b = [4.0, 5.0, 6.0]
    n = len(a)
    for i in range(n):
        pivot = max(range(i, n), key=lambda r: abs(a[r][i]))
        a[i], a[pivot] = a[pivot], a[i]
        b[i], b[pivot] = b[pivot], b[i]
        for j in range(i + 1, n):
            f = a[j][i] / a[i][i]
            a[j] = [x - f * y for x, y in zip(a[j], a[i])]
            b[j] -= f * b[i]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(a[i][j] * x[j] for j in range(i + 1, n))) / a[i][i]
    return tuple(x)


@program
def hilbert(p: Position):
    x, y, n, d = p.x, p.y, 8, 0
    s = n // 2
    while s > 0:
        rx = 1 if x & s else 0
        ry = 1 if y & s else 0
        d += s * s * ((3 * rx) ^ ry)
        if ry == 0:
            if rx == 1:
                x, y = s - 1 - x, s - 1 - y
            x, y = y, x
        s //= 2
    return d


@program
def cached(counts: Image, p: Position):
    @functools.lru_cache(maxsize=None)
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    table = [fib(i) for i in range(20)]
    return table[abs(counts(p)) % 20]


class M2:
    def __init__(self, a, b, c, d):
        self.e = (a, b, c, d)

    @functools.cached_property
    def det(self):
        a, b, c, d = self.e
        return a * d - b * c

    @staticmethod
    def rot(t):
        return M2(math.cos(t), -math.sin(t), math.sin(t), math.cos(t))

    def __matmul__(self, o):
        a, b, c, d = self.e
        e, f, g, h = o.e
        return M2(a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h)

    def __getattr__(self, name):
        if name == "trace":
            return self.e[0] + self.e[3]
        raise AttributeError(name)


@program
def matrices_of_ours(unit: Image, p: Position):
    m = M2.rot(unit(p)) @ M2(1, 2, 3, 4 + unit(p))
    return m.det, m.trace, getattr(m, "nothing", 0.5)


@program
def first_bright(im: Image, p: Position):
    if any((hit := im(p + (i, 0))) > 0.5 for i in range(4)):
        return hit
    return 0.0


@program
def search_else(counts: Image, p: Position):
    for i in range(2, 8):
        if counts(p) % i == 0:
            break
    else:
        return -1
    return i


@program
def asked_again(counts: Image, p: Position):
    if counts(p) % 3 == 0:
        kind, size = "fizz", [1.0, counts(p)]
    if counts(p) % 3 != 0:
        kind, size = "none", [2.0, 3.0]
    if counts(p) % 3 == 0:
        extra = counts(p)
    total = sum(size) + (1 if kind == "fizz" else 0)
    if counts(p) % 3 == 0:
        total += extra
    return total


@program
def complementary_in_a_loop(counts: Image, p: Position):
    total = 0
    n = abs(counts(p)) % 7
    for i in range(n):
        even = i % 2 == 0
        if even:
            step = i * 2
        if not even:
            step = 1
        total += step
    return total


@program
def complementary_comparisons(counts: Image, p: Position):
    n = counts(p)
    if n < 10:
        a = n
    if n >= 10:
        a = 10
    return a


@program
def optional_by_one_condition(im: Image, p: Position):
    best = None
    big = im(p) > 0.3
    if big:
        best = im(p)
    x = 0.0
    if big:
        x = best * 2
    return x


@program
def library_of_statistics(unit: Image, p: Position):
    xs = [unit(p + (i, 0)) + i * 0.1 for i in range(5)]
    ys = [unit(p + (0, i)) + 0.5 for i in range(5)]
    line = statistics.linear_regression(xs, ys)
    return (
        *statistics.quantiles(xs),
        *statistics.quantiles(ys, n=3, method="inclusive"),
        statistics.geometric_mean(ys),
        statistics.harmonic_mean(ys),
        statistics.median_low(xs[:4]) + statistics.median_high(ys[:4]),
        statistics.covariance(xs, ys),
        line.slope + line.intercept,
        statistics.stdev(ys) + statistics.pvariance(xs),
    )


@program
def priority_queue(im: Image, p: Position):
    queue = []
    for i, d in enumerate(offsets(np.ones((2, 3)))):
        heapq.heappush(queue, (abs(im(p + d)), i))
    first = heapq.heappop(queue)
    second = heapq.heappushpop(queue, (0.25, 9))
    third = heapq.heapreplace(queue, (0.5, 7))
    return first[0], second[0], third[0], len(queue), queue[0][0]


@program
def heap_in_place(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(5)]
    heapq.heapify(xs)
    return tuple(xs)


@program
def bytes_by_index(unit: Image, p: Position):
    k = min(int(unit(p) * 5), 4)
    return b"noise"[k] + (1 if "noise"[k] in "aeiou" else 0)


@program
def polynomials_of_numpy(im: Image, p: Position):
    f = np.poly1d([1.0, -2.0, 0.5])
    g = np.polynomial.Polynomial([1.0, 2.0, 3.0])
    return f(im(p)), f.deriv()(im(p)), g(im(p))


@program
def rows_swapped(counts: Image, p: Position):
    rows = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    k = counts(p) % 3
    rows[0], rows[k] = rows[k], rows[0]
    return rows[0][0], rows[1][1], rows[2][0]


@program
def generator_closed(im: Image, p: Position):
    log = []

    def ticks():
        n = 0
        try:
            while True:
                yield n
                n += 1
        finally:
            log.append(im(p))

    g = ticks()
    total = im(p) * next(g)
    total += next(g) + next(g)
    g.close()
    g.close()
    return total, sum(log), next(g, -1)


@program
def generator_told_by_exceptions(unit: Image, p: Position):
    class Reset(Exception):
        pass

    def counter(step):
        n = step
        while True:
            try:
                yield n
                n += step
            except Reset:
                n = 10 * step

    g = counter(unit(p))
    values = [next(g), next(g), g.throw(Reset), next(g), g.throw(Reset("again"))]
    try:
        g.throw(ValueError("unknown"))
    except ValueError:
        values.append(-1.0)
    try:
        next(g)
    except StopIteration:
        values.append(-2.0)
    return tuple(values)


@program
def generator_closed_after_a_loop(unit: Image, p: Position):
    def halves(x):
        while True:
            yield x
            x /= 2

    g, total = halves(unit(p) + 1), 0.0
    for x in g:
        if x < 0.3:
            break
        total += x
    g.close()
    return total


@program
def groups_of_exceptions(unit: Image, p: Position):
    class Dark(ValueError):
        pass

    def checked(v):
        if v < 0.2:
            raise Dark("dark")
        if v > 0.8:
            raise OverflowError("bright")
        return v

    x = y = 0.0
    try:
        x = checked(unit(p))
        y = 1.0 / (unit(p + (1, 0)) // 0.5)
    except* ValueError:
        x = -1.0
    except* (ZeroDivisionError, OverflowError) as group:
        y = -2.0
    else:
        x += 0.5
    finally:
        y += 0.25
    try:
        try:
            checked(unit(p + (0, 1)))
        except* Dark:
            y += 1
    except OverflowError:
        y += 3
    return x, y


@program
def canny_nonmax(im: Image, p: Position):
    gx = (im(p + (1, 0)) - im(p - (1, 0))) / 2
    gy = (im(p + (0, 1)) - im(p - (0, 1))) / 2
    mag = math.sqrt(gx * gx + gy * gy)
    angle = math.degrees(math.atan2(gy, gx)) % 180
    if 0 <= angle < 22.5 or 157.5 <= angle <= 180:
        q, r = im(p + (1, 0)), im(p - (1, 0))
    elif 22.5 <= angle < 67.5:
        q, r = im(p + (1, -1)), im(p + (-1, 1))
    elif 67.5 <= angle < 112.5:
        q, r = im(p + (0, 1)), im(p - (0, 1))
    else:
        q, r = im(p - (1, 1)), im(p + (1, 1))
    return mag if mag >= q and mag >= r else 0.0


@program
def worley_too(p: Position):
    def hash2(x, y):
        h = (x * 374761393 + y * 668265263) & 0xFFFFFFFF
        h = ((h ^ (h >> 13)) * 1274126177) & 0xFFFFFFFF
        return (h & 0xFFFF) / 65535.0, (h >> 16) / 65535.0

    x, y = p.x * 0.7, p.y * 0.7
    cx, cy = math.floor(x), math.floor(y)
    distances = sorted(
        math.hypot(cx + i + fx - x, cy + j + fy - y)
        for i in range(-1, 2)
        for j in range(-1, 2)
        for fx, fy in [hash2(cx + i, cy + j)]
    )
    f1, f2, *_ = distances
    return f1, f2 - f1


@program
def voronoi_regions(p: Position):
    sites = {"a": (0.5, 0.5), "b": (3.0, 1.0), "c": (1.5, 2.5)}
    colours = dict(a=Vec3(1, 0, 0), b=Vec3(0, 1, 0), c=Vec3(0, 0, 1))
    name = min(sites, key=lambda k: math.dist(sites[k], (p.x, p.y)))
    return colours[name]


@program
def bezier_de_casteljau(unit: Image, p: Position):
    def casteljau(points, t):
        points = list(points)
        while len(points) > 1:
            points = [
                ((1 - t) * x0 + t * x1, (1 - t) * y0 + t * y1)
                for (x0, y0), (x1, y1) in zip(points, points[1:])
            ]
        return points[0]

    return casteljau([(0, 0), (1, 2), (3, 3), (4, 0)], unit(p))


@program
def catmull_rom(unit: Image, p: Position):
    M = np.array([[-1, 3, -3, 1], [2, -5, 4, -1], [-1, 0, 1, 0], [0, 2, 0, 0]]) / 2
    t = unit(p)
    T = np.array([t**3, t**2, t, 1])
    P = np.array([[0, 0], [1, 2], [3, 1], [4, 4]], float)
    return T @ M @ P


@program
def kalman_scalar(im: Image, p: Position):
    @dataclass
    class Kalman:
        x: float = 0.0
        P: float = 1.0
        Q: float = 0.01
        R: float = 0.1
        history: list = field(default_factory=list)

        def update(self, z):
            self.P += self.Q
            K = self.P / (self.P + self.R)
            self.x += K * (z - self.x)
            self.P *= 1 - K
            self.history.append(self.x)
            return self

    k = Kalman()
    for i in range(5):
        k.update(im(p + (i, 0)))
    return k.x, k.P, max(k.history), len(k.history)


@program
def softmax_layer(im: Image, p: Position):
    rng = np.random.RandomState(3)
    W, b = rng.randn(3, 4), rng.randn(3)
    x = np.array([im(p + o) for o in ((0, 0), (1, 0), (0, 1), (1, 1))])
    z = W @ x + b
    e = np.exp(z - z.max())
    y = e / e.sum()
    return (*y, np.argmax(y))


@program
def lstm_cell(im: Image, p: Position):
    sigmoid = lambda v: 1 / (1 + math.exp(-v))
    h = c = 0.0
    for i in range(4):
        x = im(p + (i, 0))
        f, i_, o = (
            sigmoid(w * x + u * h + b)
            for w, u, b in ((0.5, 0.1, 0), (0.3, -0.2, 0.1), (0.8, 0.4, -0.1))
        )
        g = math.tanh(x - h)
        c = f * c + i_ * g
        h = o * math.tanh(c)
    return h


@program
def matrix_determinant_recursive(im: Image, p: Position):
    def det(m):
        if len(m) == 1:
            return m[0][0]
        return sum(
            (-1) ** c * m[0][c] * det([row[:c] + row[c + 1 :] for row in m[1:]])
            for c in range(len(m))
        )

    a = [[im(p + (i, j)) + (i == j) for i in range(3)] for j in range(3)]
    return det(a)


@program
def levenshtein_too(counts: Image, p: Position):
    a = [counts(p + (i, 0)) % 3 for i in range(4)]
    b = [0, 1, 2, 1]
    prev = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        cur = [i]
        for j, cb in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + (ca != cb)))
        prev = cur
    return prev[-1]


@program
def knapsack_too(counts: Image, p: Position):
    weights, values, cap = (1, 3, 4), [abs(counts(p + (i, 0))) % 9 for i in range(3)], 5
    dp = [[0] * (cap + 1) for _ in range(len(weights) + 1)]
    for i in range(1, len(weights) + 1):
        for w in range(cap + 1):
            dp[i][w] = dp[i - 1][w]
            if weights[i - 1] <= w:
                dp[i][w] = max(dp[i][w], dp[i - 1][w - weights[i - 1]] + values[i - 1])
    return dp[-1][-1]


@program
def binary_search_too(unit: Image, p: Position):
    table = [i * i / 100 for i in range(11)]
    lo, hi, target = 0, len(table) - 1, unit(p)
    while lo <= hi:
        mid = (lo + hi) // 2
        if table[mid] == target:
            return mid
        if table[mid] < target:
            lo = mid + 1
        else:
            hi = mid - 1
    return lo


@program
def bubble_sort_too(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(5)]
    n = len(xs)
    for i in range(n):
        swapped = False
        for j in range(n - i - 1):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swapped = True
        if not swapped:
            break
    return tuple(xs)


@program
def insertion_sort_too(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(5)]
    for i in range(1, len(xs)):
        key, j = xs[i], i - 1
        while j >= 0 and xs[j] > key:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = key
    return tuple(xs)


@program
def quickselect(im: Image, p: Position):
    def quick(xs):
        if len(xs) <= 1:
            return xs
        pivot, *rest = xs
        return (
            quick([x for x in rest if x < pivot]) + [pivot] + quick([x for x in rest if x >= pivot])
        )

    return sorted([im(p + (i, 0)) for i in range(5)])[2]


@program
def sieve_lookup(counts: Image, p: Position):
    n = 100
    sieve = [True] * n
    sieve[0:2] = [False, False]
    for i in range(2, int(n**0.5) + 1):
        if sieve[i]:
            sieve[i * i : n : i] = [False] * len(range(i * i, n, i))
    return sieve[abs(counts(p)) % n]


@program
def roman(counts: Image, p: Position):
    n = abs(counts(p)) % 40
    total = 0
    for value, symbol in zip((10, 9, 5, 4, 1), "X IX V IV I".split()):
        count, n = divmod(n, value)
        total += count * len(symbol)
    return total


@program
def quaternion_rotation(unit: Image, p: Position):
    class Q(NamedTuple):
        w: float
        x: float
        y: float
        z: float

        def __mul__(self, o):
            if isinstance(o, Q):
                return Q(
                    self.w * o.w - self.x * o.x - self.y * o.y - self.z * o.z,
                    self.w * o.x + self.x * o.w + self.y * o.z - self.z * o.y,
                    self.w * o.y - self.x * o.z + self.y * o.w + self.z * o.x,
                    self.w * o.z + self.x * o.y - self.y * o.x + self.z * o.w,
                )
            return Q(*(c * o for c in self))

        def conj(self):
            return Q(self.w, -self.x, -self.y, -self.z)

    a = unit(p)
    q = Q(math.cos(a), 0, 0, math.sin(a))
    v = q * Q(0, 1, 2, 3) * q.conj()
    return v.x, v.y, v.z


@program
def fraction_meets_texel(im: Image, p: Position):
    third = Fraction(1, 3)
    return im(p) * third + third, third if im(p) > 0 else 0, im(p) > third


@program
def boids_rules(unit: Image, p: Position):
    birds = [(Vec2(unit(p + (i, 0)), unit(p + (0, i))), Vec2(0.1 * i, -0.1)) for i in range(3)]
    centre = sum((b[0] for b in birds), Vec2(0, 0)) / len(birds)
    heading = functools.reduce(operator.add, (v for _, v in birds)) / len(birds)
    push = Vec2(0, 0)
    for a, b in itertools.combinations(birds, 2):
        gap = a[0] - b[0]
        if math.hypot(*gap) < 0.3:
            push += gap
    return centre * 0.01 + heading * 0.1 + push


@program
def lorenz_too(unit: Image, p: Position):
    sigma, rho, beta = 10, 28, 8 / 3
    x, y, z = unit(p), 1.0, 1.05
    for _ in range(20):
        x, y, z = (
            x + 0.01 * sigma * (y - x),
            y + 0.01 * (x * (rho - z) - y),
            z + 0.01 * (x * y - beta * z),
        )
    return x, y, z


@program
def game_of_life_sets(counts: Image, p: Position):
    alive = lambda q: counts(q) & 1
    n = sum(alive(p + d) for d in itertools.product((-1, 0, 1), repeat=2) if d != (0, 0))
    return int(n in {2, 3}) if alive(p) else int(n == 3)


@program
def state_machine(counts: Image, p: Position):
    class S(enum.Enum):
        IDLE = enum.auto()
        RUN = enum.auto()
        STOP = enum.auto()

    table = {
        (S.IDLE, 0): S.RUN,
        (S.IDLE, 1): S.IDLE,
        (S.RUN, 0): S.RUN,
        (S.RUN, 1): S.STOP,
        (S.STOP, 0): S.IDLE,
        (S.STOP, 1): S.STOP,
    }
    s = S.IDLE
    for i in range(4):
        bit = counts(p + (i, 0)) & 1
        for (state, b), after in table.items():
            if s is state and bit == b:
                s = after
                break
    return s.value


@program
def event_log(counts: Image, p: Position):
    logger = logging.getLogger("strangers")
    total = 0
    for i in range(3):
        v = counts(p + (i, 0))
        logger.debug("value %s", v)
        if v < 0:
            continue
        total += v
    return total


@program
def typed_dict_config(im: Image, p: Position):
    class Config(TypedDict, total=False):
        gain: float
        bias: float

    cfg: Config = {"gain": 2.0}
    cfg.setdefault("bias", 0.5)
    cfg |= {"gain": 3.0}
    return im(p) * cfg["gain"] + cfg.get("bias", 0.0) + ("bias" in cfg)


@program
def overloads(im: Image, p: Position):
    class V:
        def __init__(self, *xs):
            self.xs = xs

        def __getitem__(self, i):
            return self.xs[i]

        def __len__(self):
            return len(self.xs)

        def __add__(self, o):
            return V(*(a + b for a, b in zip(self.xs, o.xs)))

        def __rmul__(self, k):
            return V(*(k * a for a in self.xs))

        def __abs__(self):
            return math.sqrt(sum(a * a for a in self))

        def __iter__(self):
            return iter(self.xs)

        def __bool__(self):
            return any(self.xs)

        def __eq__(self, o):
            return all(a == b for a, b in zip(self, o))

        def __contains__(self, x):
            return x in self.xs

        def __round__(self, n=None):
            return V(*(round(a, n) for a in self))

        def __format__(self, spec):
            return ",".join(format(a, spec) for a in self.xs)

    v = 2 * V(im(p), 1.0) + V(1.0, im(p))
    return abs(v), v[-1], 1 if v else 0, v == V(1.0, 2.0), len(v), round(v, 1)[0]


@program
def partition_and_tee(im: Image, p: Position):
    xs = [im(p + (i, 0)) for i in range(4)]
    a, b = itertools.tee(xs)
    next(b, None)
    steps = [y - x for x, y in zip(a, b)]
    up = sum(1 for s in steps if s > 0)
    pairs = dict(zip("abc", steps))
    return (
        up,
        max(pairs, key=pairs.get) == "a",
        sum(itertools.compress(xs, [1, 0, 1, 1])),
        sum(itertools.takewhile(lambda v: v < 10, xs)),
    )


@program
def sawtooth_waves(p: Position):
    waves = {
        "sine": math.sin,
        "saw": lambda t: 2 * (t / math.tau % 1) - 1,
        "square": lambda t: math.copysign(1, math.sin(t + 1e-3)),
    }
    return tuple(f(p.x * 0.5 + 0.1) for f in waves.values()) + (
        sum(f(p.y + 0.2) for _, f in sorted(waves.items())),
    )


@program
def tonemaps(rgb: Image, p: Position):
    def reinhard(c):
        return c / (1 + c)

    def aces(x, a=2.51, b=0.03, c=2.43, d=0.59, e=0.14):
        return np.clip((x * (a * x + b)) / (x * (c * x + d) + e), 0, 1)

    def filmic(x):
        x = np.maximum(0, x - 0.004)
        return (x * (6.2 * x + 0.5)) / (x * (6.2 * x + 1.7) + 0.06)

    return reinhard(rgb(p)), aces(rgb(p)), filmic(rgb(p))


@program
def dither_bayer(unit: Image, p: Position):
    def bayer(n):
        if n == 1:
            return np.array([[0]])
        m = bayer(n // 2)
        return np.block([[4 * m, 4 * m + 2], [4 * m + 3, 4 * m + 1]])

    m = bayer(4)
    return float(unit(p) > (m[p.y % 4][p.x % 4] + 0.5) / m.size)


@program
def floyd(unit: Image, p: Position):
    levels = np.linspace(0, 1, 4)
    i = np.abs(levels - unit(p)).argmin()
    return levels[i], np.searchsorted(levels, unit(p))


@program
def simpson_too(unit: Image, p: Position):
    def integrate(f, a, b, n=8):
        h = (b - a) / n
        return (
            h
            / 3
            * (
                f(a)
                + f(b)
                + 4 * sum(f(a + i * h) for i in range(1, n, 2))
                + 2 * sum(f(a + i * h) for i in range(2, n, 2))
            )
        )

    return integrate(lambda t: math.exp(-t * t), 0.0, unit(p))


@program
def bisection(unit: Image, p: Position):
    f = lambda x: x**3 - x - unit(p) - 1
    a, b = 1.0, 3.0
    for _ in range(24):
        m = (a + b) / 2
        if f(a) * f(m) <= 0:
            b = m
        else:
            a = m
    return a


@program
def monte_carlo_halton_pi(p: Position):
    inside = 0
    for k in range(p.x + 5):
        u, v = (k * 0.754877) % 1, (k * 0.569840) % 1
        inside += u * u + v * v < 1
    return 4 * inside / (p.x + 5)


@program
def exceptions_in_helpers(unit: Image, p: Position):
    def safe(f, *args, default=None, errors=(ZeroDivisionError, ValueError)):
        try:
            return f(*args)
        except errors:
            return default

    return safe(lambda a, b: a / b, 1.0, unit(p), default=-1.0) + safe(
        math.log, unit(p) - 0.5, default=0.0
    )


@program
def nested_closures(im: Image, p: Position):
    def counter():
        n = 0

        def inc(by=1):
            nonlocal n
            n += by
            return n

        def get():
            return n

        return inc, get

    inc, get = counter()
    inc()
    inc(im(p))
    if im(p) > 0.2:
        inc(10)
    return get()


@program
def string_keyed_kernels(im: Image, p: Position):
    kernels = {"blur": "1 2 1;2 4 2;1 2 1", "edge": "0 1 0;1 -4 1;0 1 0"}

    def parse(text):
        return np.array([[float(v) for v in row.split()] for row in text.split(";")])

    def conv(k):
        return sum(w * im(p + d) for w, d in zip(k.flat, offsets(k)) if w)

    return {name: conv(parse(text)) for name, text in kernels.items()}["edge"], conv(
        parse(kernels["blur"]) / 16
    )


@program
def luts_from_json(unit: Image, p: Position):
    data = json.loads('{"stops": [[0.0, [0, 0, 0]], [0.5, [1, 0, 0]], [1.0, [1, 1, 0]]]}')
    stops = data["stops"]
    t = unit(p)
    for (a, ca), (b, cb) in itertools.pairwise(stops):
        if t <= b:
            k = (t - a) / (b - a)
            return Vec3(*(x + (y - x) * k for x, y in zip(ca, cb)))
    return Vec3(*stops[-1][1])


@program
def list_under_two_names_on_one_path(im: Image, p: Position):
    if im(p) > 0:
        v = [1.0, 2.0]
        w = v
    else:
        v = [3.0, 4.0]
        w = [5.0, 6.0]
    v[0] = 9.0
    return w[0], v[0] + w[1]


@program
def callbacks_of_an_exit_stack(p: Position):
    out = []
    with contextlib.ExitStack() as stack:
        stack.callback(out.append, 3)
        stack.callback(lambda k=2: out.append(k * p.x))
        if p.y > 0:
            out.append(7)
    return sum(v * 10**i for i, v in enumerate(out)) + len(out)


@program
def brackets_of_a_chosen_text(p: Position):
    text = "([]{})" if p.x % 2 else "([)]"
    pairs, stack = {")": "(", "]": "[", "}": "{"}, []
    for letter in text:
        if letter in pairs.values():
            stack.append(letter)
        elif not stack or stack.pop() != pairs[letter]:
            return 0
    return int(not stack)


@program
def context_of_an_inner_function(p: Position):
    log = []

    @contextlib.contextmanager
    def noted(n):
        log.append(n)
        yield n
        log.append(-n)

    with noted(2) as n:
        log.append(p.x)
    return sum(log) + n + len(log)


@program
def context_of_a_class(p: Position):
    log = []

    class Noted:
        def __init__(self, n):
            self.n = n

        def __enter__(self):
            log.append(self.n)
            return self.n

        def __exit__(self, *error):
            log.append(-self.n)

    with Noted(2) as n:
        log.append(p.x)
    return sum(log) + n + len(log)
