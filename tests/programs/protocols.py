"""What classes can do beyond methods: special methods, descriptors, inheritance of several."""

import abc
import collections
import enum
import functools
import math
import operator
import types
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec2, Vec3

program = Suite()

T = TypeVar("T")


class Dual:
    """A number with its derivative: differentiates what it is put through."""

    def __init__(self, value, slope=0.0):
        self.value, self.slope = value, slope

    @staticmethod
    def lift(x):
        return x if isinstance(x, Dual) else Dual(x)

    def __add__(self, other):
        other = Dual.lift(other)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __sub__(self, other):
        return self + -Dual.lift(other)

    def __rsub__(self, other):
        return Dual.lift(other) - self

    def __neg__(self):
        return Dual(-self.value, -self.slope)

    def __mul__(self, other):
        other = Dual.lift(other)
        return Dual(self.value * other.value, self.value * other.slope + self.slope * other.value)

    def __truediv__(self, other):
        other = Dual.lift(other)
        return Dual(
            self.value / other.value,
            (self.slope * other.value - self.value * other.slope) / (other.value * other.value),
        )

    def __rtruediv__(self, other):
        return Dual.lift(other) / self

    def __pow__(self, n):
        return Dual(self.value**n, n * self.value ** (n - 1) * self.slope)

    __radd__ = __add__
    __rmul__ = __mul__


class Angle:
    """Converts itself, compares by value, rounds, divides."""

    def __init__(self, degrees):
        self.degrees = degrees

    def __float__(self):
        return float(self.degrees)

    def __int__(self):
        return int(self.degrees)

    def __round__(self, digits=None):
        return Angle(round(self.degrees))

    def __floordiv__(self, n):
        return Angle(self.degrees // n)

    def __mod__(self, n):
        return Angle(self.degrees % n)

    def __divmod__(self, n):
        return self // n, self % n

    def __lt__(self, other):
        return self.degrees < other.degrees

    def __matmul__(self, other):
        return self.degrees * other.degrees

    def __and__(self, other):
        return Angle(min(self.degrees, other.degrees))

    def __invert__(self):
        return Angle(180 - self.degrees)

    def __pos__(self):
        return Angle(abs(self.degrees))


@functools.total_ordering
class Grade:
    def __init__(self, mark):
        self.mark = mark

    def __eq__(self, other):
        return self.mark == other.mark

    def __lt__(self, other):
        return self.mark < other.mark


class Positive:
    """A descriptor."""

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner=None):
        return getattr(instance, self.name)

    def __set__(self, instance, value):
        setattr(instance, self.name, abs(value))


class Box:
    width = Positive()
    height = Positive()

    def __init__(self, width, height):
        self.width, self.height = width, height

    @functools.cached_property
    def area(self):
        return self.width * self.height


class Base:
    def steps(self):
        return [1.0]


class Left(Base):
    def steps(self):
        return [2.0, *super().steps()]


class Right(Base):
    def steps(self):
        return [3.0, *super().steps()]


class Diamond(Left, Right):
    def steps(self):
        return [4.0, *super().steps()]


class Filter(abc.ABC):
    registry = {}

    def __init_subclass__(cls, /, name="", **kwargs):
        super().__init_subclass__(**kwargs)
        Filter.registry[name] = cls

    @abc.abstractmethod
    def __call__(self, v): ...

    def __or__(self, other):
        return Chain(self, other)


class Chain(Filter, name="chain"):
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, v):
        for part in self.parts:
            v = part(v)
        return v


class Scale(Filter, name="scale"):
    def __init__(self, by):
        self.by = by

    def __call__(self, v):
        return v * self.by


class Clamp(Filter, name="clamp"):
    def __call__(self, v):
        return min(max(v, -1.0), 1.0)


class Sized(Protocol):
    def size(self) -> float: ...


class Stack(Generic[T]):
    def __init__(self) -> None:
        self.items: list[T] = []

    def push(self, item: T) -> "Stack[T]":
        self.items.append(item)
        return self

    def __len__(self):
        return len(self.items)

    def __iter__(self):
        return iter(self.items)

    def __reversed__(self):
        return reversed(self.items)

    def __getitem__(self, index):
        return self.items[index]

    def __delitem__(self, index):
        del self.items[index]

    def __contains__(self, item):
        return any(i == item for i in self.items)

    def __iadd__(self, item):
        return self.push(item)


class Counting:
    """An iterator of its own."""

    def __init__(self, start, n):
        self.value, self.left = start, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.value = self.value * 2
        return self.value


class Recording:
    """Attributes kept in a dictionary of its own."""

    def __init__(self):
        object.__setattr__(self, "values", {})

    def __setattr__(self, name, value):
        self.values[name] = value

    def __getattr__(self, name):
        return self.values[name] + 1


class Point(Vec2):
    """A subclass of a vector."""


class Temperature(float):
    pass


class Flags(enum.Flag):
    RED = enum.auto()
    GREEN = enum.auto()


@dataclass(frozen=True, slots=True)
class Frozen:
    a: float
    b: float = 2.0


@dataclass(kw_only=True)
class Keyed:
    a: float
    b: float = field(default=5.0)
    c: list = field(default_factory=lambda: [1.0, 2.0])


@dataclass
class Inherited(Keyed):
    d: float = 7.0


@functools.singledispatch
def described(v):
    return 1.0


@described.register
def _(v: Frozen):
    return v.a


@described.register
def _(v: Keyed):
    return v.b


@program
def dual_numbers(im: Image, p: Position):
    x = Dual(im(p), 1.0)
    y = 3 * x**3 - 2 * x + 1 / (x * x + 1) - (1 - x)
    return y.value, y.slope


@program
def dual_numbers_in_loop(im: Image, counts: Image, p: Position):
    x = Dual(im(p) * 0.5, 1.0)
    y, n = x, counts(p)
    while n > 0:
        y = y * x + 0.5
        n -= 1
    return y.value, y.slope


@program
def conversions(im: Image, p: Position):
    a = Angle(im(p) * 100)
    return float(a), int(a), round(a).degrees


@program
def divisions(im: Image, p: Position):
    q, r = divmod(Angle(im(p) * 100), 30)
    return q.degrees + r.degrees


@program
def other_operators(im: Image, p: Position):
    a, b = Angle(im(p) * 100), Angle(30.0)
    return (a & b).degrees, (~a).degrees, (+a).degrees, a @ b


@program
def smallest_by_less_than(im: Image, p: Position):
    return Angle(im(p)) < Angle(0.5), Angle(im(p)) > Angle(0.5)


@program
def total_ordering(im: Image, p: Position):
    a, b = Grade(im(p)), Grade(0.5)
    return a <= b, a > b, a >= b, a != b


@program
def descriptors(im: Image, p: Position):
    b = Box(im(p), -2.0)
    b.width -= 5
    return b.width * b.height


@program
def cached_property(im: Image, p: Position):
    b = Box(im(p), 3.0)
    first = b.area
    b.width = 100.0
    return first + b.area


@program
def diamond_inheritance(im: Image, p: Position):
    return sum(s * im(p + (i, 0)) for i, s in enumerate(Diamond().steps()))


@program
def chain_of_callables(im: Image, p: Position):
    f = Scale(2.0) | Clamp() | Scale(0.5)
    return f(im(p))


@program
def registry_of_classes(im: Image, p: Position, name="clamp"):
    return Filter.registry[name]()(im(p) * 2)


@program
def generic_container(im: Image, p: Position):
    s = Stack[float]().push(im(p)).push(2.0)
    s += 3.0
    del s[1]
    return sum(s) + len(s) + s[-1] + next(iter(reversed(s)))


@program
def membership_of_dynamic(im: Image, p: Position):
    s = Stack().push(im(p)).push(2.0)
    return 0.0 in s, 2.0 in s


@program
def iterator_class(im: Image, p: Position):
    return sum(v for v in Counting(im(p), 4))


@program
def attributes_intercepted(im: Image, p: Position):
    r = Recording()
    r.gain = im(p)
    return r.gain


@program
def flags(im: Image, p: Position, flags=Flags.RED | Flags.GREEN):
    return im(p) if Flags.RED in flags else 0.0


@program
def frozen_with_slots(im: Image, p: Position):
    f = Frozen(im(p))
    return f.a * f.b + (f == Frozen(0.0))


@program
def keyword_only_dataclass(im: Image, p: Position):
    k = Inherited(a=im(p), d=1.0)
    k.c[0] += k.a
    return k.c[0] + k.b * k.d


@program
def single_dispatch(im: Image, p: Position):
    return described(Frozen(im(p))) + described(Inherited(a=1.0)) + described(im(p))


@program
def class_as_value(im: Image, p: Position, kinds=(Frozen, Dual)):
    return sum(kind(im(p), 3.0).__class__ is kind for kind in kinds) + kinds[0](im(p)).a


@program
def method_replaced_on_instance(im: Image, p: Position):
    s = Scale(2.0)
    s.adjust = lambda v: v + s.by
    return s.adjust(im(p))


@program
def callable_checks(im: Image, p: Position):
    return callable(Scale(1.0)) + 2 * callable(im) + 4 * callable(3) + im(p)


@program
def comparison_chain_of_objects(im: Image, p: Position):
    a, b, c = Grade(-0.5), Grade(im(p)), Grade(1.0)
    return a < b < c


@program
def object_with_list_of_objects_in_loop(im: Image, counts: Image, p: Position):
    duals, n = [Dual(im(p)), Dual(1.0)], counts(p)
    while n > 0:
        duals = [duals[1], duals[0] * 0.5 + duals[1]]
        n -= 1
    return duals[0].value, duals[1].value


@program
def object_changed_through_two_names_in_loop(counts: Image, p: Position):
    a = Dual(1.0)
    b, n = a, counts(p)
    while n > 0:
        a.value += n
        b.slope += a.value
        n -= 1
    return a.slope, b.value


@program
def objects_swapped_under_condition(im: Image, p: Position):
    a, b = Dual(im(p)), Dual(0.5)
    if a.value > b.value:
        a, b = b, a
    return a.value, b.value


@program
def object_returned_from_branches(im: Image, p: Position):
    def made(v):
        if v > 0:
            return Dual(v, 1.0)
        return Dual(0.0, v)

    d = made(im(p))
    return d.value + 10 * d.slope


@program
def closure_in_object(im: Image, p: Position):
    class Lazy:
        def __init__(self, f):
            self.f = f

        def __mul__(self, k):
            return Lazy(lambda q: self.f(q) * k)

        def __add__(self, other):
            return Lazy(lambda q: self.f(q) + other.f(q))

        def shifted(self, d):
            return Lazy(lambda q: self.f(q + d))

    f = Lazy(im) * 0.5 + Lazy(im).shifted((1, 0)) * 0.25
    return (f + f.shifted((0, 1))).f(p)


@program
def lru_inner(im: Image, p: Position):
    @functools.lru_cache(None)
    def get(i):
        return im(p + (i, 0)) * 2

    return get(0) + get(1) + get(0)


@program
def cls_operators(im: Image, p: Position):
    @functools.total_ordering
    class V:
        def __init__(self, v):
            self.v = v

        def __eq__(self, o):
            return self.v == o.v

        def __lt__(self, o):
            return self.v < o.v

        def __iadd__(self, o):
            self.v += o
            return self

        def __matmul__(self, o):
            return self.v * o.v

        def __floordiv__(self, o):
            return self.v // o

        def __rpow__(self, o):
            return o**self.v

        def __divmod__(self, o):
            return self.v, o

        def __invert__(self):
            return -self.v

        def __abs__(self):
            return abs(self.v)

        def __round__(self, n=0):
            return round(self.v, n)

        def __float__(self):
            return float(self.v)

        def __int__(self):
            return int(self.v)

        def __len__(self):
            return 3

        def __contains__(self, x):
            return x == 1

        def __reversed__(self):
            return [3, 2, 1]

    a, b = V(im(p)), V(0.5)
    c = a
    a += 1
    return (
        (a <= b)
        + (a > b) * 2
        + c.v
        + a @ b
        + a // 2
        + 2**b
        + divmod(a, 3)[1]
        + ~a
        + abs(a)
        + round(b)
        + float(a)
        + int(b)
        + len(a)
        + (1 in a)
        + reversed(a)[0]
        + (a != b)
        + max(a, b).v
        + sorted([a, b])[0].v
    )


@program
def simple_ns(im: Image, p: Position):
    n = types.SimpleNamespace(x=im(p), y=2)
    n.z = n.x * n.y
    return n.z + n.x + getattr(n, "y") + len(vars(types.SimpleNamespace(a=1)))


@program
def tree_walk(im: Image, p: Position):
    @dataclass
    class N:
        op: str
        l: object = None
        r: object = None

        def ev(self):
            match self.op:
                case "v":
                    return im(p)
                case "+":
                    return self.l.ev() + self.r.ev()
                case "*":
                    return self.l.ev() * self.r.ev()
                case c:
                    return float(c)

    return N("+", N("*", N("v"), N("2")), N("v")).ev()


@program
def stack_machine(im: Image, p: Position):
    st = []
    for tok in "v 2 * 1 + v v * -".split():
        if tok == "v":
            st.append(im(p))
        elif tok in "+-*":
            b, a = st.pop(), st.pop()
            st.append({"+": operator.add, "-": operator.sub, "*": operator.mul}[tok](a, b))
        else:
            st.append(float(tok))
    return st[0]


@program
def deque_ops(im: Image, p: Position):
    d = collections.deque([im(p), 1.0, 2.0], maxlen=3)
    d.append(5.0)
    d.appendleft(im(p) * 2)
    d.rotate(1)
    return d[0] + 10 * d[1] + 100 * d[-1] + len(d) + d.popleft()


@program
def descriptor(im: Image, p: Position):
    class Clamp:
        def __init__(self, lo, hi):
            self.lo, self.hi = lo, hi

        def __set_name__(self, owner, name):
            self.name = "_" + name

        def __get__(self, obj, owner=None):
            return getattr(obj, self.name)

        def __set__(self, obj, v):
            setattr(obj, self.name, min(max(v, self.lo), self.hi))

    class T:
        x = Clamp(0.0, 0.5)

    t = T()
    t.x = im(p)
    return t.x


# ---------------------------------------------------------------- what is asked of values


class Silent:
    def __init__(self, value):
        self.value = value

    @property
    def broken(self):
        raise AttributeError("not now")


class Callable(Silent):
    kind = "callable"

    def __call__(self, factor):
        return self.value * factor


class Generous:
    def __getattr__(self, name):
        if name == "magic":
            return 3
        raise AttributeError(name)


def bits(answers):
    return sum([2**place for place, answer in enumerate(answers) if answer])


@program
def what_can_be_called(im: Image, p: Position):
    v = im(p)
    things = [v, (v, 1), [v], {"a": v}, {1}, np.array([v]), Vec3(v), Silent(v), iter([v])]
    more = [Callable(v), Callable, Silent(v).__init__, lambda x: x + v, im, abs, [v].append]
    return v * bits(map(callable, things)) + bits(map(callable, more))


@program
def attributes_that_objects_have(im: Image, p: Position):
    v = im(p)
    silent, loud, generous = Silent(v), Callable(v), Generous()
    names = ["value", "kind", "broken", "__call__", "__dict__", "__str__", "other"]
    return (
        bits([hasattr(silent, name) for name in names]),
        bits([hasattr(loud, name) for name in names]),
        bits([hasattr(generous, name) for name in ("magic", "other")]) + 0 * v,
        getattr(silent, "broken", 7) + getattr(loud, "other", 2) * v,
    )


@program
def attributes_that_values_have(im: Image, p: Position):
    v = im(p)
    things = [v, [v], (v, 1), {"a": v}, Vec3(v), np.array([v]), lambda x: x + v]
    names = ["__len__", "__iter__", "__add__", "__float__", "append", "keys", "x", "w", "real"]
    names += ["shape", "__call__", "__getitem__", "hex", "nothing"]
    return tuple([bits([hasattr(thing, name) for name in names]) + 0 * v for thing in things])


@program
def special_methods_called_by_name(im: Image, p: Position):
    v, xs = im(p), [im(p), 2.0]
    less = v.__lt__(0.5)
    longer = getattr(xs, "__len__", None)
    return v.__add__(1.0) + v.__rsub__(3.0) + xs.__getitem__(1) + longer() + less


@program
def what_is_a_scalar(im: Image, counts: Image, p: Position):
    v = im(p)
    things = [v, counts(p), v > 0, [v], (v,), Vec3(v), np.array([v]), Silent(v), 1.0, "one", v * 1j]
    return bits(map(np.isscalar, things)) + 0 * v


@program
def attributes_of_images(im: Image, p: Position):
    there = [hasattr(im, name) for name in ("width", "sampled", "save", "unknown", "storages")]
    return bits(there) + getattr(im, "unknown", 0.5) * im(p)


class Turned:
    def __init__(self, turns):
        self.turns = turns

    def sin(self):
        return Turned(math.sin(self.turns))


@program
def numpys_functions_of_objects(im: Image, p: Position):
    return np.sin(np.sin(Turned(im(p)))).turns


class Late:
    """Has an attribute on some pixels alone."""

    def __init__(self, x):
        self.x = x
        self.asked = 0

    def __getattr__(self, name):
        self.asked += 1
        if self.x > 0 and name != "never":
            return 2 * self.x
        raise AttributeError(f"{name} is not there for {self.x}")


class Guarded:
    def __init__(self, x):
        self.x = x

    def __getattribute__(self, name):
        if name == "q" and object.__getattribute__(self, "x") <= 0:
            raise AttributeError(name)
        return 7 if name == "q" else object.__getattribute__(self, name)


@program
def defaults_of_attributes_that_raise(im: Image, p: Position):
    late, guarded = Late(im(p)), Guarded(im(p))
    gotten = getattr(late, "q", 3), getattr(late, "never", 4), getattr(late, "x", 5)
    there = bits([hasattr(late, "q"), hasattr(late, "never"), hasattr(guarded, "q")])
    return *gotten, there, late.asked, getattr(guarded, "q", 9), getattr(guarded, "x", 9)


@program
def functions_of_operator_on_lists(counts: Image, p: Position):
    both = operator.concat([counts(p)], [3, 4])
    return len(both), operator.countOf([1, counts(p), 2], 1), operator.indexOf(both, 3)


@program
def stores_by_name(im: Image, ints: Image, p: Position):
    health, held = [10.0, 3], {"a": ints(p)}
    hurt = lambda by: health.__setitem__(0, min(10, health[0] - by))  # noqa: E731
    if im(p) > 0:
        hurt(im(p))
    put = functools.partial(held.__setitem__, "b")
    put(ints(p) % 5)
    if ints(p) > 4:
        held.__delitem__("b")
    row = np.zeros(3)
    row.__setitem__(1, im(p))
    return health[0], held.get("b", -1), len(held), row[1], health.__getitem__(1)


@program
def operators_of_known_numbers(ints: Image, im: Image, p: Position):
    return (2.5).__mul__(ints(p)), (2.5).__sub__(im(p)), (7).__and__(ints(p)), (2).__lt__(ints(p))
