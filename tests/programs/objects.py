"""Classes, instances, operators, inheritance, references."""

from collections import namedtuple
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum
from typing import NamedTuple

from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3

program = Suite()


class Complex:
    """A number with overloaded operators, reflected ones too."""

    def __init__(self, re, im=0.0):
        self.re = re
        self.im = im

    def __add__(self, other):
        other = other if isinstance(other, Complex) else Complex(other)
        return Complex(self.re + other.re, self.im + other.im)

    __radd__ = __add__

    def __mul__(self, other):
        if not isinstance(other, Complex):
            return NotImplemented
        return Complex(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def __rmul__(self, other):
        return Complex(other * self.re, other * self.im)

    def __neg__(self):
        return Complex(-self.re, -self.im)

    def __abs__(self):
        return (self.re**2 + self.im**2) ** 0.5

    def __eq__(self, other):
        return self.re == other.re and self.im == other.im

    def __bool__(self):
        return self.re != 0

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return (self.re, self.im)[index]

    def __iter__(self):
        return iter((self.re, self.im))

    def __contains__(self, value):
        return value == self.re or value == self.im

    def __call__(self, scale):
        return self.re * scale

    @property
    def squared(self):
        return self.re * self.re + self.im * self.im

    @staticmethod
    def unit():
        return Complex(0.0, 1.0)

    @classmethod
    def of(cls, pair):
        return cls(*pair)


class Shape:
    scale = 2.0

    def __init__(self, size):
        self.size = size

    def area(self):
        return 0.0

    def described(self):
        return self.area() * self.scale


class Square(Shape):
    def area(self):
        return self.size * self.size


class Bordered(Square):
    scale = 3.0

    def __init__(self, size, border):
        super().__init__(size)
        self.border = border

    def area(self):
        return super().area() + self.border


@dataclass
class Ray:
    origin: Vec2
    direction: Vec2

    def at(self, t):
        return self.origin + t * self.direction


@dataclass(frozen=True)
class Range:
    low: float
    high: float = 1.0

    def clamp(self, v):
        return min(max(v, self.low), self.high)


@dataclass
class Tally:
    total: float = 0.0
    items: list = field(default_factory=list)

    def __post_init__(self):
        self.count = 0

    def add(self, v):
        self.total += v
        self.count += 1
        self.items.append(v)
        return self


@dataclass(order=True)
class Scored:
    score: float
    index: int


class Pair(NamedTuple):
    first: float
    second: float = 3.0

    def product(self):
        return self.first * self.second


Point = namedtuple("Point", ["x", "y"])


class Mode(Enum):
    ADD = 1
    SUB = 2


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Counter:
    def __init__(self):
        self.value = 0

    def __iadd__(self, n):
        self.value += n
        return self

    def bump(self):
        self.value += 1


class Buffer:
    """A sequence with item assignment, and a property with a setter."""

    def __init__(self, values):
        self.values = list(values)

    def __getitem__(self, index):
        return self.values[index]

    def __setitem__(self, index, value):
        self.values[index] = value

    @property
    def head(self):
        return self.values[0]

    @head.setter
    def head(self, value):
        self.values[0] = value


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a, b):
        self.a, self.b = a, b


class Lazy:
    def __getattr__(self, name):
        return len(name)


@program
def construct_and_read(im: Image, p: Position):
    z = Complex(im(p), 2.0)
    return z.re * z.im


@program
def operators(im: Image, p: Position):
    z = Complex(im(p), 1.0) + Complex(2.0, im(p))
    w = z * z
    return w.re, w.im


@program
def reflected_operators(im: Image, p: Position):
    z = 1 + Complex(im(p), 1.0)
    w = 3.0 * z
    return w.re + 10 * w.im


@program
def sum_of_objects(im: Image, p: Position):
    z = sum([Complex(im(p), d) for d in range(3)])
    return z.re + 10 * z.im


@program
def not_implemented_falls_back(im: Image, p: Position):
    class Scale:
        def __init__(self, by):
            self.by = by

        def __rmul__(self, z):
            return z.re * self.by

    return Complex(im(p)) * Scale(4.0)


@program
def unary_operators(im: Image, p: Position):
    return abs(-Complex(im(p), 3.0))


@program
def equality_of_objects(im: Image, p: Position):
    return Complex(im(p), 1.0) == Complex(0.0, 1), Complex(im(p), 1) != Complex(im(p), 1)


@program
def truth_of_object(im: Image, p: Position):
    return 1.0 if Complex(im(p)) else 2.0


@program
def length_index_iteration_of_object(im: Image, p: Position):
    z = Complex(im(p), 2.0)
    a, b = z
    return a + len(z) * z[1] + sum(z) + b


@program
def contains_of_object(im: Image, p: Position):
    return 0 in Complex(im(p), 2.0), 2.0 in Complex(im(p), 2.0)


@program
def call_of_object(im: Image, p: Position):
    return Complex(im(p))(3)


@program
def property_of_object(im: Image, p: Position):
    return Complex(im(p), 2.0).squared


@program
def static_and_class_methods(im: Image, p: Position):
    return (Complex.unit() * Complex.of((im(p), 2.0))).im


@program
def property_setter(im: Image, p: Position):
    b = Buffer([1.0, 2.0])
    b.head = im(p)
    b[1] = b.head * 2
    b[1] += 1
    return b.values[0] + 10 * b[1]


@program
def inheritance(im: Image, p: Position):
    return Square(im(p)).described() + Shape(im(p)).described()


@program
def super_calls(im: Image, p: Position):
    return Bordered(im(p), 0.5).described()


@program
def polymorphism_over_list(im: Image, p: Position):
    shapes = [Shape(1.0), Square(im(p)), Bordered(im(p), 2.0)]
    return sum(s.described() for s in shapes)


@program
def isinstance_and_issubclass(im: Image, p: Position):
    s = Bordered(im(p), 1.0)
    return isinstance(s, Square) and issubclass(Square, Shape) and not isinstance(s, Complex)


@program
def type_and_name(im: Image, p: Position):
    s = Square(im(p))
    return (type(s) is Square) + len(type(s).__name__) + im(p)


@program
def attribute_functions(im: Image, p: Position):
    s = Square(im(p))
    setattr(s, "size", 3.0)
    return getattr(s, "size") + getattr(s, "missing", im(p)) + hasattr(s, "border")


@program
def dataclass_with_vectors(flow: Image, p: Position):
    ray = Ray(Vec2(p), flow(p))
    return ray.at(2.0)


@program
def frozen_dataclass(im: Image, p: Position):
    return Range(-0.5).clamp(im(p)) + Range(im(p), high=0.25).low


@program
def dataclass_replace(im: Image, p: Position):
    r = replace(Range(0.0, 1.0), high=im(p))
    return r.high - r.low


@program
def dataclass_equality(im: Image, p: Position):
    return Range(im(p), 1.0) == Range(0.0, 1.0)


@program
def dataclass_order(im: Image, p: Position):
    return Scored(im(p), 2) < Scored(im(p + (1, 0)), 1)


@program
def dataclass_defaults_and_post_init(im: Image, p: Position):
    t = Tally().add(im(p)).add(2.0)
    return t.total * t.count + t.items[-1]


@program
def separate_default_factories(im: Image, p: Position):
    a, b = Tally(), Tally()
    a.add(im(p))
    return len(a.items) - len(b.items) + a.total


@program
def named_tuple(im: Image, p: Position):
    a = Pair(im(p))
    first, second = a
    return a.product() + first * a[1] + second


@program
def named_tuple_replace(im: Image, p: Position):
    a = Pair(1.0, 2.0)._replace(second=im(p))
    return a.first + a.second * len(a)


@program
def collections_namedtuple(im: Image, p: Position):
    q = Point(x=im(p), y=2)
    return q.x * q.y + sum(q)


@program
def enumeration(im: Image, p: Position, mode=Mode.SUB):
    if mode is Mode.ADD:
        return im(p) + 1
    return im(p) - mode.value


@program
def int_enumeration(im: Image, p: Position):
    return im(p) * Level.HIGH + Level.LOW


@program
def mutation_through_alias(im: Image, p: Position):
    a = Counter()
    b = a
    b.bump()
    b.value += im(p)
    return a.value


@program
def mutation_in_called_function(im: Image, p: Position):
    def fill(t, n):
        for i in range(n):
            t.add(im(p + (i, 0)))

    t = Tally()
    fill(t, 3)
    return t.total


@program
def mutation_under_condition(im: Image, p: Position):
    c = Counter()
    if im(p) > 0:
        c.bump()
        c.value *= 10
    else:
        c.value = im(p)
    return c.value


@program
def mutation_in_dynamic_loop(im: Image, counts: Image, p: Position):
    c, n = Counter(), counts(p)
    while n > 0:
        c.value += im(p + (n, 0))
        n -= 1
    return c.value


@program
def in_place_operator(im: Image, p: Position):
    c = Counter()
    d = c
    c += im(p)
    return d.value


@program
def object_joins(im: Image, p: Position):
    z = Complex(1.0, 2.0)
    if im(p) > 0:
        z = Complex(im(p), 3.0)
    return z.re + 10 * z.im


@program
def object_carried_by_loop(im: Image, counts: Image, p: Position):
    z, n = Complex(1.0, 0.0), counts(p)
    while n > 0:
        z = z * Complex(0.5, im(p))
        n -= 1
    return z.re, z.im


@program
def object_in_list_in_object(im: Image, p: Position):
    t = Tally()
    t.items = [Complex(im(p), 1.0), Complex(2.0, im(p))]
    t.items[0].re += 5
    return t.items[0].re + t.items[1].im


@program
def shared_object_in_two_places(im: Image, p: Position):
    z = Complex(im(p), 0.0)
    a, b = [z, z], {"z": z}
    a[0].im = 4.0
    return a[1].im + b["z"].im + z.re


@program
def linked_objects(im: Image, p: Position):
    class Node:
        def __init__(self, value, rest):
            self.value, self.rest = value, rest

    node = None
    for d in range(4):
        node = Node(im(p + (d, 0)), node)
    s = 0
    while node is not None:
        s = s * 2 + node.value
        node = node.rest
    return s


@program
def cyclic_objects(im: Image, p: Position):
    a, b = Tally(im(p)), Tally(2.0)
    a.other, b.other = b, a
    return a.other.other.total + b.total


@program
def slots(im: Image, p: Position):
    s = Slotted(im(p), 2.0)
    s.b += s.a
    return s.b


@program
def class_made_in_function(im: Image, p: Position):
    class Gain:
        amount = 3.0

        def apply(self, v):
            return v * self.amount

    return Gain().apply(im(p))


@program
def bound_method_as_value(im: Image, p: Position):
    f = Range(-0.5, 0.5).clamp
    return f(im(p)) + f(im(p + (1, 0)))


@program
def unbound_method(im: Image, p: Position):
    return Square.area(Square(im(p)))


@program
def attribute_by_getattr(im: Image, p: Position):
    return Lazy().abcde * im(p)


@program
def class_attribute_shadowed(im: Image, p: Position):
    s = Square(im(p))
    s.scale = 10.0
    return s.described() + Square(1.0).scale


@program
def deleted_attribute(im: Image, p: Position):
    s = Square(im(p))
    s.scale = 10.0
    del s.scale
    return s.described()


@program
def matched_by_class(im: Image, p: Position):
    match Range(im(p), 2.0):
        case Range(low=a, high=2.0):
            return a * 2
        case Range():
            return 0.0


@program
def matched_positionally(im: Image, p: Position):
    match [Pair(im(p)), Point(1, 2)]:
        case [Pair(a, b), Point(x, y)]:
            return a * b + x * y


@program
def vectors_in_dataclass_are_references(vecs: Image, p: Position):
    r = Ray(Vec3(vecs(p)), Vec3(0.0, 1.0, 2.0))
    d = r.direction
    d.x = 5.0
    r.origin.z = 7.0
    return r.at(2.0)


@program(z=Complex(2.0, 3.0))
def object_parameter(im: Image, p: Position, z: Complex):
    w = Complex(im(p), 1.0) * z
    return w.re, w.im


@program(ranges=Tally(2.0, [Range(0.0, 0.5), Range(-1.0, 0.0)]))
def nested_object_parameter(im: Image, p: Position, ranges: Tally):
    return sum(r.clamp(im(p)) for r in ranges.items) * ranges.total


@program(form=Bordered(1.5, 0.25))
def subclass_instance_as_parameter(im: Image, p: Position, form: Shape):
    return im(p) * form.described()


@program(z=Complex(2.0, 3.0))
def known_object(im: Image, p: Position, z):
    return im(p) * z.squared


@program
def list_of_objects_indexed_by_dynamic(im: Image, counts: Image, p: Position):
    ranges = [Range(im(p), 1.0), Range(-1.0, 0.5), Range(0.25, im(p))]
    return ranges[counts(p) % 3].high + ranges[counts(p) % 2].clamp(0.0)


class Score:
    """Counts, in a list of its own."""

    def __init__(self):
        self.counts = [0, 0]
        self.first = Complex(1.0)

    def add(self, index):
        self.counts[index] += 1

    def each(self):
        yield from self.counts


def new_score():
    score = Score()
    score.add(1)
    return score


def largest(score):
    try:
        return max(score.each())
    except ValueError:
        return 0


@program
def object_from_a_known_call_changed(im: Image, p: Position):
    score = new_score()
    known = largest(score)
    if im(p) > 0:
        score.add(0)
        score.first.re = im(p)
    score.counts[1] += p.x
    return score.counts[0] + 10 * score.counts[1] + score.first.re + known


class Node:
    """Compared by identity, as its class says nothing of equality."""

    def __init__(self, value, *following):
        self.value = value
        self.following = list(following)

    def get(self):
        return self.value


@program
def objects_compared_by_identity(im: Image, p: Position):
    a, b = Node(1), Node(1)
    same = (a == a) + 2 * (a == b) + 4 * (a != a) + 8 * ([a] == [a]) + 16 * (a in [b, a])
    methods = (a.get == a.get) + 2 * (a.get == b.get) + 4 * (a.get != b.get)
    return Vec3(same, methods, [a, b].index(b) + 10 * (a in [b]) + 100 * [a, b, a].count(a))


@program
def one_of_several_objects_compared(im: Image, p: Position):
    a, b = Node(p.x), Node(p.y)
    best = a if a.value > b.value else b
    nodes = [a, b, Node(1)]
    top = max(nodes, key=lambda node: node.value)
    others = sum(node != top for node in nodes)
    return Vec3(
        (best == a) + 2 * (best == b) + 4 * (best != a),
        others,
        nodes.index(top) + 10 * (top in nodes),
    )


@program
def functions_compared_by_identity(im: Image, p: Position):
    f = lambda v: v  # noqa: E731
    g = lambda v: v  # noqa: E731
    h = f if p.x > 1 else g
    return (f == f) + 2 * (f == g) + 4 * (h == f) + 8 * (h is g) + 16 * (f in [g, f])


@program
def objects_as_keys_and_in_sets(im: Image, p: Position):
    d = Node(p.x)
    c, b = Node(2, d), Node(3, d)
    a = Node(1, b, c)
    seen, todo, total = set(), [a], 0
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        total += node.value
        todo.extend(node.following)
    depths = {a: 0, b: p.y, c: 1}
    depths[a] += 5
    left = (seen - {a, b}) | {a}
    known = len(left) + 10 * (d in left) + 100 * ({a, c, d} == left) + 1000 * (seen >= left)
    return Vec3(total, sum(k.value * v for k, v in depths.items()) + 10 * (d in depths), known)


@program
def set_changed_under_two_names(im: Image, p: Position):
    some = {3, 1}
    other = some
    other |= {2}
    some -= {1}
    some.add(0)
    return sum(10**i * v for i, v in enumerate(other)) + p.x


class Watched:
    """Every way to set, read and delete goes through a method, and on to object's."""

    __slots__ = ("level", "log")

    def __init__(self, level):
        object.__setattr__(self, "log", [])
        self.level = level

    @property
    def double(self):
        return self.level * 2

    @double.setter
    def double(self, value):
        self.level = value / 2

    @double.deleter
    def double(self):
        self.level = -1.0

    def __setattr__(self, name, value):
        self.log.append(name)
        object.__setattr__(self, name, value)

    def __delattr__(self, name):
        self.log.append(name)
        super().__delattr__(name)

    def __getattribute__(self, name):
        if name == "seven":
            return 7
        return object.__getattribute__(self, name)


class Forgetting:
    def __get__(self, owner, cls):
        return owner.__dict__.get("kept", -7)

    def __set__(self, owner, value):
        owner.__dict__["kept"] = value

    def __delete__(self, owner):
        owner.__dict__["kept"] = -8


class Remembers:
    value = Forgetting()


@program
def attributes_by_methods_of_object(im: Image, p: Position):
    watched, remembers = Watched(im(p)), Remembers()
    watched.double = 8
    if im(p) > 0:
        watched.double = im(p) + watched.seven
        del watched.double
    remembers.value = im(p)
    first = remembers.value
    del remembers.value
    return watched.level + watched.double, len(watched.log), first, remembers.value


@program
def attributes_without_a_slot(im: Image, p: Position):
    watched = Watched(im(p))
    try:
        object.__setattr__(watched, "other", 3)
        return 1
    except AttributeError:
        return 2
