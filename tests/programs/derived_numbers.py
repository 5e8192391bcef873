"""Classes that derive from float, int, complex, tuple and the classes of vectors: their operators
give what Python's give, and their objects keep class and attributes where paths meet."""

import copy
import dataclasses
import functools
import math
import numbers
import operator

import numpy as np

import pygpu
from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3

program = Suite()


class Degrees(float):
    def radians(self):
        return self / 57.5

    @property
    def half(self):
        return Degrees(self / 2)


class Unit:
    factor = 1.0

    def __repr__(self):
        return "unit"

    def si(self):
        return float(self) * self.factor


class Metre(Unit, float):
    factor = 2.5

    @classmethod
    def doubled(cls, value):
        return cls(value * 2)

    def __add__(self, other):
        return type(self)(super().__add__(other))

    def __radd__(self, other):
        return Metre(float(self) + 2 * other)

    def __iadd__(self, other):
        return self.__class__(float(self) + 3 * other)

    def __getattr__(self, name):
        if name == "tripled":
            return self * 3
        raise AttributeError(name)


class Tagged(float):
    def __new__(cls, value, tag="none"):
        self = float.__new__(cls, value)
        self.tag = tag
        return self


class Positive(Tagged):
    def __new__(cls, value, tag="some"):
        if value < 0:
            raise ValueError("negative")
        return super().__new__(cls, value + 1, tag=tag)


class Squared(float):
    def __init__(self, value):
        self.square = value * value


class Odd(float):
    def __lt__(self, other):
        return float(self) > float(other)

    def __eq__(self, other):
        return abs(float(self) - float(other)) < 0.5

    def __hash__(self):
        return 5

    def __bool__(self):
        return float(self) > 0.5

    def __neg__(self):
        return 7.0

    def __abs__(self):
        return 9

    def __round__(self, digits=0):
        return 11.0

    def __int__(self):
        return 13

    def __floor__(self):
        return 15

    def __str__(self):
        return "odd"


class Base(float):
    def __add__(self, other):
        return 1000.0


class Derived(Base):
    pass


@functools.total_ordering
class Ring(int):
    __hash__ = int.__hash__

    def __lt__(self, other):
        return int(self) % 5 < int(other) % 5

    def __eq__(self, other):
        return int(self) % 5 == int(other) % 5


class Pixels(int):
    def doubled(self):
        return self * 2


class Phasor(complex):
    def power(self):
        return abs(self) ** 2


class Pair(tuple):
    def __new__(cls, a, b):
        return tuple.__new__(cls, (a, b))

    first = property(operator.itemgetter(0))

    def __add__(self, other):
        return Pair(self[0] + other[0], self[1] + other[1])

    def __mul__(self, factor):
        return Pair(*(x * factor for x in self))


class Plain(tuple):
    pass


class Colour(Vec3):
    GAMMA = 2.5

    def light(self):
        return self.x * 0.5 + self.y * 0.25 + self.z * 0.25

    @classmethod
    def grey(cls, value):
        return cls(value, value, value)


class Warm(Colour):
    def __init__(self, red, ratio=0.5):
        super().__init__(red, red * ratio, 0)

    def __add__(self, other):
        return Warm(self.x + sum(other))

    __radd__ = __add__

    def __sub__(self, other):
        return Warm(super().__sub__(other).x)

    def __neg__(self):
        return 6.0

    def __eq__(self, other):
        return 7.0

    __hash__ = None

    def light(self):
        return super().light() + 1


@dataclasses.dataclass
class Box:
    side: Degrees
    count: Pixels = Pixels(3)


MILE, RIGHT, FIXED = Metre(4.0), Degrees(90.0), Colour(1, 2, 3)


@program
def floats_with_methods(im: Image, p: Position):
    x = Degrees(im(p))
    kept = isinstance(x * 2, Degrees) or type(x + 1) is not float or not isinstance(x, float)
    return x.radians(), x + 1, 1 - x, -x, abs(x), x.half.radians(), kept, x // 0.25, 2**x, x % 1.5


@program
def floats_compared_and_rounded(im: Image, p: Position):
    x = Degrees(im(p) * 4)
    least, most = min(x, RIGHT), max(x, Degrees(1.0))
    whole = round(x), int(x), math.floor(x), math.ceil(x), math.trunc(x)
    return x > 0.5, 0.5 < x, x == im(p) * 4, 1 if x else 2, *whole, least + 1, most.radians()


@program
def floats_given_to_functions(im: Image, p: Position):
    x = Degrees(im(p))
    array = np.array([x, 2.0, RIGHT])
    vector = Vec2(1, 2) * x + Vec2(x, 1)
    mixed = pygpu.mix(1.0, 2.0, x) + math.hypot(x, 3) + np.maximum(x, RIGHT) + math.fsum([x, 1])
    return math.sin(x), array.sum(), vector, mixed, im((Pixels(p.x), p.y)), im(p + (Pixels(1), 0))


@program
def floats_joined(im: Image, p: Position):
    x = Degrees(im(p)) if im(p) > 0 else Degrees(-2 * im(p))
    y = RIGHT if p.x > 2 else Degrees(p.x)
    z = Degrees(im(p)) if p.x > 3 else None
    w = Degrees(im(p)) if p.x > 3 else p.y
    for k in range(p.x):
        x = Degrees(x + k)
    return x.radians(), y.radians(), 0 if z is None else z.radians(), w * 2, w


@program
def floats_with_operators(im: Image, p: Position):
    x = Metre(im(p))
    y = x
    y += 2
    both = sum([x, Metre(1.0)]).si()
    return x.si(), (x + 1).si(), (1 + x).si(), y.si(), Metre.doubled(x).si(), x.tripled, both, x * 2


@program
def known_floats_with_operators(im: Image, p: Position):
    total = MILE
    for k in range(p.x):
        total = total + im(p + (k, 0))
    return (MILE + im(p)).si(), (im(p) + MILE).si(), MILE * im(p), im(p) < MILE, total.si()


@program
def floats_with_attributes(im: Image, p: Position):
    x, y = Tagged(im(p)), Tagged(2.0, tag="other")
    z = Tagged(im(p), "fourth") if p.x > 2 else Tagged(im(p), "third")
    z.note = 1
    if p.y > 1:
        z.note += 1
    return (
        len(x.tag + y.tag),
        len(z.tag) + z.note,
        z * 2,
        Squared(im(p)).square,
        vars(x)["tag"] == "none",
    )


@program
def floats_checked_when_made(im: Image, p: Position):
    try:
        return Positive(im(p))
    except ValueError:
        return -1.0


@program
def floats_of_other_meaning(im: Image, p: Position):
    x = Odd(im(p))
    asked = x < 0.5, x == 0.75, 5 if x else 6, not x, 0.5 > x, x > 0.5
    return *asked, -x, abs(x), round(x), int(x), math.floor(x), len(f"{x}") + len(str(x)), x + 1


@program
def operators_of_subclasses(im: Image, p: Position):
    x = Derived(im(p))
    return x + 1, Base(1) + x, 1 + x, Derived(1) + Base(im(p)), float.__add__(x, 1.0), MILE.si()


@program
def ints_with_methods(counts: Image, p: Position):
    x = Pixels(counts(p) % 7)
    bits = x & 3, 7 ^ x, ~x, x << 1, 1 << x
    return x.doubled() + Pixels(3), x // 2, x % 5, *bits, x.bit_length(), x / 2, Pixels(2.5) + x


@program
def ints_that_count(counts: Image, p: Position):
    x, numbers_ = Pixels(counts(p) % 4), [5, 6, 7, 8]
    rounds = 0
    for k in range(x):
        rounds += k
    while x:
        x = Pixels(x >> 1)
    y = Pixels(counts(p) % 4)
    found = {1: 5, 2: 6}.get(y, 0) + (y in (1, 2)) + (y in {1, 3}) + numbers_.index(y + 5)
    return numbers_[y], sum(numbers_[y:]), rounds, len(f"{y:03d}") + int(str(y)), found, x.doubled()


@program
def ints_in_order(counts: Image, p: Position):
    x = Ring(counts(p) % 23)
    least = sorted([x, Ring(6), Ring(3)])[0]
    return x <= 3, x > Ring(4), x == 8, x != 8, max(x, Ring(7)) % 100, least % 100


@program
def complex_numbers_with_methods(im: Image, p: Position):
    x = Phasor(im(p), 1)
    y = x if p.x > 2 else Phasor(2.0)
    return x.power(), (x * 1j).real, abs(x + 1), x == 1, y.power(), y.imag, x.conjugate().imag


@program
def tuples_with_operators(im: Image, p: Position):
    x = Pair(im(p), 1) + Pair(2, p.x)
    for k in range(p.y):
        x = x + (k, 1)
    y = x if im(p) > 0 else Pair(p.x, 0)
    a, b = y * 2
    return x.first, len(x), a, b, sum(y), im(p + Pair(1, 0)), x == (1, 2), isinstance(y, tuple)


@program
def plain_tuples(im: Image, p: Position):
    x = Plain([im(p), 3])
    first, *others = Plain((im(p), 2, 3))
    same = type(x + (1,)) is tuple and hash(Plain([1])) == hash((1,)) and x.index(3) == 1
    return x[0] + x[1], len(x + (1,)), first, others[1], max(x) + 0.5, 3 in x, same


@program
def vectors_with_methods(rgb: Image, p: Position):
    x = Colour(rgb(p))
    same = x
    same.x += 1
    y = x if p.x > 2 else Colour.grey(rgb(p).y)
    for k in range(p.x):
        y = Colour(y + k)
    plain = isinstance(x, Vec3) and not isinstance(x + 1, Colour) and type(x) is Colour
    return x.light(), y.light(), x, (x + 1).z, plain, FIXED.light() * rgb(p).x, x.GAMMA + x.sum()


@program
def vectors_with_operators(im: Image, p: Position):
    x = Warm(im(p))
    sums = (x + Vec3(1, 2, 3)).light(), (Vec3(1, 2, 3) + x).light(), (x - 1).light()
    return x.light(), *sums, -x, x == 3, x * 2


@program
def numbers_in_objects(im: Image, p: Position):
    box = Box(Degrees(im(p)), Pixels(p.x))
    other = dataclasses.replace(box, side=copy.copy(RIGHT))
    boxes = [box, other, Box(Degrees(p.y))]
    match box.side:
        case Pixels():
            kind = 1
        case float(x) if isinstance(x, numbers.Real):
            kind = 2
    return boxes[p.x % 3].side.radians(), box.count.doubled(), box == other, kind, boxes[2].count
