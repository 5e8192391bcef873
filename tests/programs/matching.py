"""`match` on classes, sequences and mappings with dynamic parts; unpacking; slices as values."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position

program = Suite()


@dataclass
class Circle:
    r: float


@dataclass
class Box:
    w: float
    h: float


@dataclass
class Group:
    items: list


class Pair(NamedTuple):
    x: float
    y: float


def area(shape):
    match shape:
        case Circle(r):
            return math.pi * r * r
        case Box(w, h) if w == h:
            return w * w
        case Box(w=w, h=h):
            return w * h
        case Group([]):
            return 0
        case Group([one]):
            return area(one)
        case Group([first, *rest]):
            return area(first) + area(Group(rest))
        case _:
            return -1


# ---------------------------------------------------------------- match


@program
def classes_with_dynamic_fields(im: Image, p: Position):
    things = [Circle(1.0), Box(im(p), im(p)), Box(2.0, im(p))]
    return area(Circle(im(p))) + area(Group(things)) + area(7)


@program
def class_that_depends_on_a_texel(im: Image, p: Position):
    shape = Circle(im(p)) if im(p) > 0 else Box(im(p), 2.0) if p.x % 2 else Group([])
    return area(shape)


@program
def sequence_or_class(im: Image, p: Position):
    thing = (
        [im(p), 2.0] if im(p) > 0 else {"kind": "box", "w": im(p)} if p.x % 2 else Pair(1.0, im(p))
    )
    match thing:
        case [a, b] if not isinstance(thing, Pair):
            return a + b
        case {"kind": "box", "w": w}:
            return w
        case Pair(x, y):
            return x * y


@program
def guards_alternatives_and_captures(im: Image, p: Position):
    match (im(p), p.x):
        case (0, _):
            return 0.5
        case (v, 1 | 2) if v > 0:
            return v
        case (v, 0) | (v, 3):
            return -v
        case (v, n):
            return v * n


@program
def mappings(im: Image, p: Position):
    match {"kind": "box", "size": im(p), "n": 3}:
        case {"kind": "circle", "r": r}:
            return r
        case {"kind": "box", "size": s, **rest}:
            return s + rest["n"] + len(rest)


@program
def sequences(im: Image, p: Position):
    match [im(p), im(p + (1, 0)), 3.0]:
        case [a, b]:
            return a
        case [a, *_, c] if a < 0:
            return a + c
        case [a, b, c] as whole:
            return len(whole) + b


@program
def nested_patterns(im: Image, p: Position):
    match (p.x, [im(p), (1.0, im(p))]):
        case (0, [a, (b, c)]):
            return a + b + c
        case (n, [a, [b, c]]):
            return n + a


@program
def values_and_kinds(im: Image, p: Position):
    match p.x:
        case 0:
            return 1.0
        case 1 | 2:
            return 2.0
        case n if n % 2:
            return 3.0 + n
    match im(p):
        case float() as v:
            return v
        case int():
            return 2.0


@program
def none_or_a_value(im: Image, p: Position):
    x = None
    if im(p) > 0:
        x = im(p)
    match x:
        case None:
            return -1.0
        case v:
            return v


@program
def named_tuples(im: Image, p: Position):
    match Pair(im(p), 2.0):
        case Pair(x=0.0):
            return 7.0
        case Pair(x, y):
            return x + y


# ---------------------------------------------------------------- unpacking


@program
def stars(im: Image, p: Position):
    first, *rest = [im(p + (i, 0)) for i in range(4)]
    *init, last = rest
    a, *middle, b = im(p), *init, last
    return first + 2 * sum(init) + 3 * last + sum(middle) + b + len(rest)


@program
def stars_of_vectors_rows_and_generators(rgb: Image, p: Position):
    r, *gb = rgb(p)
    table = np.array([[1, 2, 3], [4, 5, 6]])
    a, *b = table[p.x % 2]
    head, *tail = (2 * c for c in rgb(p))
    return r + sum(gb) + 10 * a + sum(b) + head + sum([*tail, *gb]) + len(tail)


@program
def stars_in_calls(im: Image, p: Position):
    def total(*args, k=1, **more):
        return sum(args) * k + sum(more.values())

    xs, named = [im(p), 2.0], {"k": 3, "z": im(p)}
    return total(*xs, *xs, **named) + max(*xs, 0)


@program
def list_that_differs_unpacked(im: Image, p: Position):
    xs = [im(p), 1.0] if im(p) > 0 else [2.0, im(p)]
    a, *b = xs
    return a + 3 * b[0]


@program
def zipped_strictly(rgb: Image, p: Position):
    grey = sum(w * c for w, c in zip((0.25, 0.5, 0.25), rgb(p), strict=True))
    try:
        return grey + sum(w * c for w, c in zip((0.25, 0.5), rgb(p), strict=True))
    except ValueError:
        return grey


# ---------------------------------------------------------------- slices as values


class Window:
    def __init__(self, im, p):
        self.im, self.p = im, p

    def __len__(self):
        return 5

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        if isinstance(k, tuple):
            return [self[i] for i in k]
        return self.im(self.p + ((k + 5 if k < 0 else k) - 2, 0))


class Bounds:
    def __getitem__(self, key):
        return (key.start or 0) * 100 + (key.stop or 0) * 10 + (key.step or 0)


class Rows:
    def __init__(self, im, p):
        self.im, self.p = im, p

    def __getitem__(self, key):
        total = 0.0
        for i in range(*key.indices(4)):
            total += self.im(self.p + (i, 0))
        return total


@program
def known_slices_of_an_object(im: Image, p: Position):
    w = Window(im, p)
    return sum(w[1:4]) + w[-1] + sum(w[::2]) + sum(w[0, 3]) + sum(w[::-2]) + len(w[-3:])


@program
def bounds_of_dynamic_slices(ints: Image, p: Position):
    b = Bounds()
    return b[p.x : p.x + 2] + b[1 : ints(p)] + b[: 5 : p.x] + b[:]


@program
def slices_that_are_made(ints: Image, p: Position):
    s = slice(p.x, p.x + 3, 2)
    t = slice(ints(p))
    return s.start + 10 * s.stop + s.step + t.stop + (t.start is None)


@program
def indices_of_dynamic_slices(ints: Image, p: Position):
    a, b, c = slice(ints(p), p.x, 1).indices(4)
    d, e, f = slice(p.x, None, -1).indices(3)
    return a + 10 * b + 100 * c + 1000 * d + 7 * e + f


@program
def rounds_of_a_dynamic_slice(im: Image, p: Position):
    rows = Rows(im, p)
    return rows[p.x :] + 2 * rows[: -p.y] + 3 * rows[p.y : 3]


@program
def classes_that_leave_nothing(im: Image, p: Position):
    shape = Circle(im(p)) if im(p) > 0 else Box(im(p), 2.0)
    match shape:
        case Circle(r):
            return r
        case Box(w, h):
            return w * h


@program
def classes_asked_that_leave_nothing(im: Image, p: Position):
    shape = Circle(im(p)) if im(p) > 0 else Box(im(p), 2.0)
    if isinstance(shape, Circle):
        return shape.r
    return shape.w + shape.h
