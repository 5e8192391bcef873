"""Tables of known objects, objects that may be one of several or None."""

import math
from dataclasses import dataclass

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3

program = Suite()


@dataclass
class Sphere:
    x: float
    y: float
    r: float
    kind: str = "a"

    def sd(self, q):
        return math.sqrt((q[0] - self.x) ** 2 + (q[1] - self.y) ** 2) - self.r


class Box:
    def __init__(self, c, s):
        self.c = c
        self.s = s

    def sd(self, q):
        return max(abs(q[0] - self.c.x) - self.s, abs(q[1] - self.c.y) - self.s)


_RANDOM = np.random.default_rng(2)

SPHERES = [Sphere(*map(float, _RANDOM.random(3) * 8), kind="ab"[i % 2]) for i in range(1000)]

MIXED = [
    Sphere(*map(float, _RANDOM.random(3) * 8))
    if i % 3
    else Box(Vec2(*map(float, _RANDOM.random(2) * 8)), 0.5)
    for i in range(40)
]

FEW = SPHERES[:20]


@program
def thousand_objects_in_a_loop(im: Image, p: Position):
    best = 1e9
    for s in SPHERES:
        best = min(best, s.sd(p))
    return best


@program
def one_of_a_thousand_objects_by_a_dynamic_index(im: Image, p: Position):
    s = SPHERES[int(abs(im(p)) * 999) % 999]
    return s.sd(p) + (1 if s.kind == "a" else 0)


@program
def least_distance_to_a_thousand_objects(im: Image, p: Position):
    return min(s.sd(p) for s in SPHERES)


@program
def nearest_of_many_objects_is_kept(im: Image, p: Position):
    hit = None
    best = 1e9
    for s in SPHERES[:200]:
        d = s.sd(p)
        if d < best:
            best = d
            hit = s
    return hit.r + best if hit is not None else 0.0


@program
def object_of_one_of_two_classes_by_a_dynamic_index(im: Image, p: Position):
    s = MIXED[int(abs(im(p)) * 39) % 39]
    return s.sd(p)


@program
def objects_of_the_function_by_a_dynamic_index(im: Image, p: Position):
    balls = [Sphere(float(i), 2.0 * i, 0.5) for i in range(30)]
    b = balls[int(abs(im(p)) * 29) % 29]
    return b.sd(p)


@program
def objects_by_the_index_of_a_long_loop(im: Image, p: Position):
    best = 1e9
    idx = -1
    for i in range(1000):
        d = SPHERES[i].sd(p)
        if d < best:
            best = d
            idx = i
    return SPHERES[idx].r


@program
def string_of_a_long_list(im: Image, p: Position):
    modes = ["add", "mul", "sub", "max"] * 20
    m = modes[int(abs(im(p)) * 79) % 79]
    return 1 if m == "add" else 2 if m == "mul" else 3


@program
def strings_of_objects_are_compared_in_a_long_loop(im: Image, p: Position):
    n = 0
    for s in SPHERES:
        if s.kind == "a" and s.sd(p) < 0:
            n += 1
    return n


@dataclass
class Hit:
    t: float
    n: Vec2
    name: str


def cast(x, y):
    if x < 0.5:
        return None
    return Hit(x * 2, Vec2(x, y), "near" if y < 0.3 else "far")


@program
def optional_object_of_a_function(im: Image, p: Position):
    h = cast(im(p), im(p + (1, 0)))
    if h is None:
        return 0.0
    return h.t + h.n.y + (1 if h.name == "near" else 2)


@program
def objects_of_two_classes_made_on_two_paths(im: Image, p: Position):
    shape = Sphere(im(p), 1.0, 0.5) if im(p) > 0 else Box(Vec2(1, im(p)), 0.5)
    return shape.sd(p)


@program
def optional_object_of_a_loop(im: Image, p: Position):
    best = None
    for s in FEW:
        d = s.sd(p)
        if d < 3 and (best is None or d < best.t):
            best = Hit(d, Vec2(s.x, s.y), s.kind)
    return best.t + best.n.x if best else 9.0


# ---------------------------------------------------------------- made after early returns


class Struck:
    def __init__(self, t, n):
        self.t, self.n = t, n


def struck_between(v, low, high):
    if v < low:
        return None
    t = v - low
    if t <= 0.125 or t >= high:
        return None
    return Struck(t, Vec3(t, 1, 2))


@program
def object_made_after_several_early_returns(im: Image, p: Position):
    hit = struck_between(im(p), -1.0, 2.0)
    return 0.0 if hit is None else hit.t + hit.n.y


@program
def nearest_of_objects_made_after_early_returns(im: Image, p: Position):
    nearest, found = 9.0, None
    for low in (-2.0, -1.0, -0.5):
        hit = struck_between(im(p), low, nearest)
        if hit is not None:
            nearest, found = hit.t, hit
    return 0.0 if found is None else found.t + found.n.x


@dataclass
class Cell:
    x: int
    y: int


@program
def what_is_written_of_records(im: Image, p: Position):
    c = Cell(p.x, p.y * 3)
    return len(repr(c)), repr(c) == f"Cell(x={p.x}, y={p.y * 3})", len(str(c))
