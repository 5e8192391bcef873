"""Classes made in the function: bodies, attributes that change, methods that close over variables."""

import abc
import copy
import dataclasses
import enum
import functools
import typing

from programs.suite import Suite
from pygpu import Image, Position, Vec2

program = Suite()


@program
def body_dyn(im: Image, p: Position):
    class A:
        scale = im(p)
        half = scale / 2

    return A.scale + A.half + A().half


@program
def body_dyn_method(im: Image, p: Position):
    v = im(p)

    class A:
        scale = v * 2

        def f(self, x):
            return self.scale * x + v

    return A().f(3)


@program
def body_uses_cell(im: Image, p: Position):
    k = 3

    class A:
        n = k + 1
        table = [i * k for i in range(3)]

    return A.n * im(p) + A.table[2]


@program
def body_if(im: Image, p: Position):
    class A:
        if 1 < 2:
            n = 2
        else:
            n = 3
        for i in range(3):
            n += i

    return A.n * im(p) + A.i


@program
def enum_inside(im: Image, p: Position):
    class Mode(enum.Enum):
        A = 1
        B = 2

    return Mode.A.value * im(p) + len(Mode)


@program
def dataclass_inside(im: Image, p: Position):
    @dataclasses.dataclass
    class A:
        x: float
        y: float = 2.0

    a = A(im(p))
    return a.x * a.y


@program
def namedtuple_inside(im: Image, p: Position):
    class A(typing.NamedTuple):
        x: float
        y: float = 2.0

    a = A(im(p))
    return a.x * a.y


@program
def closure_method_nonlocal(im: Image, p: Position):
    n = 0

    class A:
        def f(self):
            nonlocal n
            n += 1
            return im(p)

    a = A()
    return a.f() + a.f() + n


@program
def inner_inherit(im: Image, p: Position):
    class A:
        k = 2.0

        def f(self):
            return self.k * im(p)

    class B(A):
        k = 3.0

        def f(self):
            return super().f() + 1

    return A().f() + B().f()


@program
def inst_counter(im: Image, p: Position):
    class A:
        count = 0

        def __init__(self, v):
            self.v = v
            A.count += 1

    xs = [A(im(p)), A(2.0)]
    return xs[0].v + xs[1].v + A.count


@program
def inst_counter_cls(im: Image, p: Position):
    class A:
        count = 0

        @classmethod
        def make(cls, v):
            a = cls()
            a.v = v
            cls.count += 1
            return a

    xs = [A.make(im(p)), A.make(2.0)]
    return xs[0].v + xs[1].v + A.count


@program
def subclass_shadow(im: Image, p: Position):
    class A:
        k = 1.0

    class B(A):
        pass

    A.k = im(p)
    b = B()
    x = b.k
    B.k = 5.0
    return x + b.k + A.k + A().k * 10


@program
def instance_shadow(im: Image, p: Position):
    class A:
        k = 1.0

    a = A()
    b = A()
    a.k = 3.0
    A.k = im(p)
    return a.k + 10 * b.k


@program
def known_counter_all(im: Image, p: Position):
    class A:
        n = 0

        def tick(self):
            type(self).n += 1

    a = A()
    a.tick()
    a.tick()
    return A.n * im(p)


@program
def class_list_attr(im: Image, p: Position):
    class A:
        items = []

        def add(self, v):
            self.items.append(v)

    a = A()
    b = A()
    a.add(im(p))
    b.add(2.0)
    return sum(A.items) + len(a.items)


@program
def class_list_attr_known(im: Image, p: Position):
    class A:
        items = [1.0]

        def add(self, v):
            self.items.append(v)

    a = A()
    b = A()
    a.add(3.0)
    b.add(2.0)
    return sum(A.items) * im(p)


@program
def class_method_set(im: Image, p: Position):
    class A:
        pass

    A.f = lambda self, x: x * 2
    return A().f(im(p))


@program
def class_property_set(im: Image, p: Position):
    class A:
        def __init__(self, v):
            self.v = v

    A.twice = property(lambda self: self.v * 2)
    return A(im(p)).twice


@program
def class_hasattr(im: Image, p: Position):
    class A:
        pass

    r = hasattr(A, "n")
    A.n = im(p)
    return r + 10 * hasattr(A, "n") + getattr(A, "n") + A.n


@program
def class_in_loop(im: Image, p: Position):
    s = 0.0
    for k in range(3):

        class A:
            n = k

            def f(self):
                return im(p) * self.n + k

        s += A().f()
    return s


@program
def type_call(im: Image, p: Position):
    A = type("A", (), {"n": 3, "f": lambda self, x: x * self.n})
    return A().f(im(p))


@program
def make_class(im: Image, p: Position):
    def make(n):
        class A:
            def f(self, x):
                return x * n

        return A

    return make(2)().f(im(p)) + make(im(p))().f(3)


@program
def slots_cls(im: Image, p: Position):
    class A:
        __slots__ = ("x",)

        def __init__(self, x):
            self.x = x

    a = A(im(p))
    a.x += 1
    return a.x


@program
def abc_cls(im: Image, p: Position):
    class S(abc.ABC):
        @abc.abstractmethod
        def f(self): ...

    class T(S):
        def f(self):
            return im(p)

    return T().f() * isinstance(T(), S)


@program
def metaclass(im: Image, p: Position):
    class M(type):
        def __new__(m, name, bases, d):
            d["k"] = 3.0
            return super().__new__(m, name, bases, d)

    class A(metaclass=M):
        pass

    return A.k * im(p)


@program
def init_subclass(im: Image, p: Position):
    class A:
        reg = []

        def __init_subclass__(cls, **kw):
            A.reg.append(kw["k"])

    class B(A, k=2):
        pass

    class C(A, k=3):
        pass

    return sum(A.reg) * im(p)


@program
def cls_dyn_loop(im: Image, counts: Image, p: Position):
    class A:
        n = 0

        def tick(self):
            A.n += 1
            return im(p) * A.n

    a = A()
    s = 0.0
    for i in range(counts(p)):
        s += a.tick()
    return s + A.n


@program
def cls_branch(im: Image, p: Position):
    class A:
        n = 0

        def tick(self):
            A.n += 1

    a = A()
    if im(p) > 0:
        a.tick()
        if im(p) > 1:
            a.tick()
    return A.n


@program
def cls_escape(im: Image, p: Position):
    def make():
        class A:
            n = 0

        A.n = im(p) * 2
        return A()

    if im(p) > 0:
        r = make().n
        b = make()
        r += b.n
    else:
        b = None
        r = 1.0
    return r


@program
def cls_early_return(im: Image, p: Position):
    class A:
        n = 1.0

    def f():
        if im(p) < 0:
            A.n = 5.0
            return 1.0
        A.n = im(p)
        return 2.0

    return f() + A.n


@program
def cls_short(im: Image, p: Position):
    class A:
        n = 0

        @classmethod
        def hit(cls):
            cls.n += 1
            return True

    (im(p) > 0 and A.hit()) or A.hit() and A.hit()
    return A.n


@program
def ann_dyn_dataclass(im: Image, p: Position):
    k = 2

    @dataclasses.dataclass
    class A:
        x: float
        y: float = k * 2.0

        def f(self):
            return self.x * self.y * k

    return A(im(p)).f()


@program
def default_dyn_dataclass(im: Image, p: Position):
    v = im(p)

    @dataclasses.dataclass
    class A:
        x: float = 1.0

        def f(self, z=v):
            return self.x * z

    return A().f() + A(v).f(2)


@program
def cls_sorted_known(im: Image, p: Position):
    k = 3

    class A:
        scale = 2

        def __init__(self, v):
            self.v = v

        def key(self):
            return (self.v * self.scale) % k

    xs = sorted([A(i) for i in range(5)], key=A.key)
    return sum(x.v * 10**i for i, x in enumerate(xs)) * im(p)


@program
def cls_str(im: Image, p: Position):
    k = 3

    class A:
        def __repr__(self):
            return "x" * k

    return len(repr(A())) * im(p)


@program
def cls_iter(im: Image, p: Position):
    k = im(p)

    class A:
        def __iter__(self):
            return iter([1, k, 2])

        def __len__(self):
            return 3

        def __getitem__(self, i):
            return k * i

        def __contains__(self, x):
            return x == 2

        def __call__(self, x):
            return x + k

    a = A()
    return sum(a) + len(a) + a[2] + (2 in a) + a(3)


@program
def cls_static(im: Image, p: Position):
    class A:
        @staticmethod
        def f(x):
            return x * 2

        @property
        def g(self):
            return im(p)

        @functools.cached_property
        def h(self):
            return im(p) * 3

    return A.f(im(p)) + A().f(1) + A().g + A().h


@program
def cls_gen_state(im: Image, p: Position):
    class Rng:
        state = 7

        @classmethod
        def next(cls):
            cls.state = (cls.state * 5 + 3) % 16
            return cls.state

    return sum(Rng.next() * im(p + (i, 0)) for i in range(3)) + Rng.state


@program
def class_attr_assign(im: Image, p: Position):
    class A:
        n = 0

    A.n = 3
    return A.n * im(p)


@program
def class_attr_assign_dyn(im: Image, p: Position):
    class A:
        n = 0

    A.n = im(p)
    return A.n * 2


@program
def class_attr_counter(im: Image, p: Position):
    class A:
        n = 0

        def __init__(self):
            A.n += 1
            self.k = type(self).n

    a = A()
    b = A()
    return a.k + 10 * b.k + 100 * A.n + im(p)


@program
def class_attr_cond(im: Image, p: Position):
    class A:
        n = 0.0

    a = A()
    if im(p) > 0:
        A.n = im(p)
    return a.n + 1


@program
def class_setattr(im: Image, p: Position):
    class A:
        n = 0.0

    setattr(A, "n", im(p))
    return A().n + 1


@program
def class_attr_loop(im: Image, p: Position):
    class A:
        total = 0.0
        seen = []
        lut = {"a": 1}

    for i in range(3):
        A.total += im(p + (i, 0))
        A.seen.append(i)
        A.lut["a"] += i
    return A.total + len(A.seen) + A.lut["a"] + sum(A.seen)


@program
def class_attr_augment_obj(im: Image, p: Position):
    class V:
        origin = Vec2(1, 2)

        def shift(self):
            self.origin = self.origin + (im(p), 0)
            return self

    a = V().shift()
    V.origin.x = 7
    return a.origin + V.origin * 10


@program
def class_const_ref(im: Image, p: Position):
    class C:
        A = 2
        B = A * 3
        T = [A, B]

        def f(self):
            return sum(self.T) * C.B

    return C().f() * im(p)


@program
def singleton(im: Image, p: Position):
    class S:
        inst = None

        def __new__(cls):
            if cls.inst is None:
                cls.inst = super().__new__(cls)
            return cls.inst

    a = S()
    b = S()
    a.v = im(p)
    return b.v + (a is b)


@program
def cached_fib(im: Image, p: Position):
    @functools.cache
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(25) * im(p)


@program
def cached_dyn(im: Image, p: Position):
    @functools.lru_cache(maxsize=None)
    def px(i, j=0):
        return im(p + (i, j))

    s = 0.0
    for k in range(3):
        if im(p) > 0:
            s += px(k)
        s += px(k) * px(0, j=k)
    return s


@program
def class_whose_methods_call_functions_that_change_lists(im: Image, p: Position):
    values, named = [im(p)], {"a": im(p)}

    def note(x, name):
        values.append(x)
        named[name] = x

    class Noting:
        def note(self):
            note(2.0, "b")

    before = len(values), len(named)
    Noting().note()
    return *before, sum(values), len(values), sum(named.values()), values[0]


class Tuned:
    gain = 2.0
    word = "ab"
    sizes = (1, 2)

    def weight(self):
        return 5.0


@program
def attributes_that_one_path_sets_over_those_of_the_class(im: Image, p: Position):
    tuned, other = Tuned(), Tuned()
    if im(p) > 0.5:
        tuned.gain = 3
    elif im(p) > 0:
        tuned.gain = im(p)
    if p.x > 1:
        tuned.word = "abc"
        tuned.weight = lambda: 7.0
    if p.x > 2:
        tuned.sizes = (p.x, 5)
    chosen = tuned if p.y > 1 else other
    chosen.gain += 1
    return tuned.gain, other.gain, len(tuned.word), tuned.weight(), sum(tuned.sizes)


@program
def attributes_that_one_path_sets_or_deletes(im: Image, p: Position):
    tuned = Tuned()
    tuned.gain = 9.0
    is_bright, found = im(p) > 0.5, 1.0
    if is_bright:
        del tuned.gain
        tuned.found = 4.0
    if is_bright:
        found = tuned.found
    copied = copy.copy(tuned)
    copied.gain += 1
    return found, tuned.gain, copied.gain, hasattr(tuned, "gain")


@program
def class_of_numbers_that_meet(im: Image, p: Position):
    x = 1 if im(p) > 0 else 0.5
    total = 0
    for k in range(4):
        total += im(p + (k, 0)) * 2
    numbers = isinstance(x, (int, float)) and isinstance(float(x), float)
    floats = type(x * 0.5) is float and (x / 2).__class__ is float and isinstance(total, float)
    return numbers + 2 * floats + 4 * (type(int(im(p) > 0 or 3)) is int)


@program
def truth_values_by_identity(im: Image, p: Position):
    a, b = im(p) > 0, p.x > 1
    return (1 if a is b else 0) + (2 if True is a else 0) + (4 if b is not False else 0)


@program
def cached_methods_run_once(im: Image, p: Position):
    class Scale:
        def __init__(self, by):
            self.by, self.calls = by, 0

        @functools.lru_cache(maxsize=32)
        def of(self, v):
            self.calls += 1
            return v * self.by

        @property
        @functools.cache
        def doubled(self):
            self.calls += 10
            return self.by * 2

    two, three = Scale(2), Scale(im(p))
    v = im(p)
    total = two.of(v) + three.of(v) + two.of(v) + three.doubled + three.doubled
    two.by = 5  # what was given for v is given again
    return total + two.of(v) + 100 * two.calls + 1000 * three.calls


@program
def cached_methods_of_known_numbers(im: Image, p: Position):
    class Counted:
        def __init__(self):
            self.calls = 0

        @functools.cache
        def fib(self, n):
            self.calls += 1
            return n if n < 2 else self.fib(n - 1) + self.fib(n - 2)

    counted = Counted()
    total = sum(counted.fib(k % 3) for k in range(6)) + counted.fib(10)
    return total + 100 * counted.calls + im(p)


@program
def cache_of_one_result(im: Image, p: Position):
    calls = 0

    @functools.lru_cache(maxsize=1)
    def f(n):
        nonlocal calls
        calls += 1
        return n

    return f(1) + f(2) + f(1) + f(1) + 10 * calls + im(p)


@program
def cache_that_is_cleared(im: Image, p: Position):
    calls = 0

    @functools.lru_cache(maxsize=None)
    def f(n):
        nonlocal calls
        calls += 1
        return n

    total = f(1) + f(1)
    f.cache_clear()
    return total + f(1) + 10 * calls + len(im)


class Side(typing.NamedTuple):
    length: float


class Radius(typing.NamedTuple):
    length: float


@functools.singledispatch
def area(shape):
    return -1.0


@area.register(Side)
def _(side):
    return side.length**2


@area.register(Radius)
def _(radius):
    return 3 * radius.length**2


class Scaled:
    @functools.singledispatchmethod
    def of(self, x):
        return -1

    @of.register(int)
    def _(self, x):
        return x + 1

    @of.register(float)
    def _(self, x):
        return x * 2


@program
def functions_by_the_class_of_their_argument(im: Image, p: Position):
    scaled, total = Scaled(), area(Side(im(p))) + area(Radius(p.y))
    return total, area(3), scaled.of(p.x) + scaled.of("a"), scaled.of(im(p))
