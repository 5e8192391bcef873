"""Calls, closures, defaults, globals, classes and objects."""

import math

from .cases import SCALE, V2, helper, on

counter = 0


@on((V2(1.5, 2.0),))
def attributes(v):
    return v.x + v.y + v.n2


@on((V2(1.5, 2.0),))
def stored_attributes(v):
    v.x = 4.0
    v.y += 1.0
    return v.x * 10 + v.y


@on((V2(1.5, 2.0),))
def methods(v):
    return v.scale(3.0).dot(v)


@on((2.0,))
def dataclass_operators(a):
    p = V2(a, y=2.0)
    return (p + V2(1.0)).n2


@on((1.0,))
def module_attributes(a):
    return math.sin(a) * math.pi + max(a, 2, SCALE)


@on((4,))
def keyword_calls(a):
    return helper(a, c=3) + helper(1, b=a, z=4)


@on(([1, 2, 3],))
def starred_calls(xs):
    return helper(*xs) + helper(*xs, c=1) + helper(1, *xs, **{"c": 2})


@on((5,))
def lambda_defaults(a):
    g = lambda x, k=a: x * k + a
    return g(3) + g(1, 2)


@on((1, 2))
def nonlocal_closure(a, b):
    def inner(t, *, s=2, q: int = 3) -> float:
        nonlocal a
        a = a + t
        return a * s + b + q

    return inner(1) + inner(2, s=3) + a


@on((4,))
def closures_of_a_loop(n):
    fs = []
    for i in range(n):
        fs.append(lambda k=i: k + n)
    return [f() for f in fs]


@on((5,))
def local_recursion(n):
    def fac(k):
        return 1 if k <= 1 else k * fac(k - 1)

    return fac(n)


@on((4,))
def global_write(a):
    global counter
    counter = a
    return counter + SCALE


@on((1, (2, 3), 4, 5))
def defaults(a, b=(1, 2), *args, c=5, **kw):
    return a + b[0] + len(args) + c + len(kw)


@on((1,))
def annotated(a: "int", b: float = 2.0) -> float:
    t: float = a + b
    return t


@on((1.0,))
def imports(a):
    import math as m
    from math import cos

    return m.sin(a) + cos(a)


@on((4,))
def local_class(a):
    class P:
        z = 3

        def g(self):
            return self.z + a

    return P().g()


@on(([1],))
def discarded_results(xs):
    xs.append(4)
    len(xs)
    helper(1)
    return xs


@on((1, 2), (2, 0))
def conditional_arguments(a, b):
    return helper(a if a > b else b, b and a, c=not a)


@on((3,))
def super_method(a):
    class B:
        def h(self, t):
            return t + 1

    class C(B):
        def h(self, t):
            return super().h(t) * 2

    return C().h(a)


@on(())
def keyword_only(*, a=1, **kw):
    return a + len(kw)


@on((3,), (10,))
def decorated_inside(a):
    def twice(f):
        return lambda *xs: f(f(*xs))

    @twice
    def grow(x):
        return x * a + 1

    return grow(2)


@on((2, 3))
def closures_share(a, b):
    def add(n):
        nonlocal a, b
        a += n
        b = a * b
        return b

    def get():
        return a, b

    add(1)
    first = get()
    return first, add(2), get(), a


@on((4,))
def deep_closure(a):
    def one(b):
        def two(c):
            def three(d):
                return a + b * c - d

            return three

        return two

    return one(1)(2)(3)


@on((5,))
def captured_argument_rebound(a):
    f = lambda: a
    before = f()
    a = a + 1
    return before, f()


@on((2,))
def captured_then_deleted(a):
    b = a
    f = lambda: b
    c = f()
    del b
    return c


@on((1,), (4,))
def default_kinds(a):
    def f(x, y=a, /, z=a + 1, *args, k=a * 2, m, **kw):
        return x, y, z, args, k, m, sorted(kw.items())

    return f(1, m=2), f(1, 2, 3, 4, 5, m=6, k=7, n=8), f(*[1, 2], **{"m": 3, "z": 4})


@on((1, 2, 3), (1,))
def variadic(*xs, **more):
    return xs, len(more), helper(*xs, **more)


@on(([1, 2], {"c": 3}))
def starred_in_the_middle(xs, d):
    return helper(0, *xs, 4, *xs, **d), helper(*xs, e=1, **d, f=2), helper(**{"a": 1}, **d)


@on((V2(3.0, 4.0),))
def method_values(v):
    f = v.dot
    g = V2.scale
    return f(v), g(v, 2.0).x, v.scale(k=3.0).y, (v + v).n2


@on((V2(1.0, 2.0), [V2(5.0)]))
def attributes_of_elements(v, vs):
    vs[0].x += v.y
    vs[-1].y = v.x = vs[0].x * 2
    return vs[0].x, vs[0].y, v.x, getattr(v, "y")


@on((3,))
def classes_inside(a):
    class Base:
        size = a

        def __init__(self, k=1):
            self.k = k

        def area(self):
            return self.size * self.k

        @property
        def double(self):
            return self.area() * 2

        @staticmethod
        def make(k):
            return Derived(k)

    class Derived(Base):
        size = Base.size + 1

        def __init__(self, k):
            super().__init__(k + 1)
            self.f = lambda: super(Derived, self).area() + a

        def area(self):
            return super().area() + super(Derived, self).size if self.k > 9 else self.f()

    made = Base.make(a)
    return Base(2).area(), made.area(), made.double, Base.make(20).area(), type(made).__name__


@on((2,))
def class_with_closure(a):
    b = a + 1

    class C:
        b = b + 1 if SCALE < 0 else a
        c = [i * 2 for i in range(3)]

        def get(self):
            return b, self.b, self.c

    return C().get()


@on((3,))
def imports_inside(a):
    import os.path as p
    from math import floor as f
    from math import pi

    return p.basename("x/y"), f(pi) + a


@on((2,))
def global_in_nested(a):
    global counter

    def bump(n):
        global counter
        counter = counter + n
        return counter

    counter = a
    return bump(3), counter


@on((3,), (0,))
def mutual_recursion(n):
    def even(k):
        return True if k == 0 else odd(k - 1)

    def odd(k):
        return False if k == 0 else even(k - 1)

    return even(n), odd(n)


@on(([3, 1, 2],))
def callbacks(xs):
    return (
        sorted(xs, key=lambda x: -x),
        list(map(lambda x: x + 1, xs)),
        list(filter(lambda x: x > 1, xs)),
        max(xs, key=lambda x: x % 3),
    )


@on((2,))
def calls_in_calls(a):
    return helper(helper(a, helper(1)), c=helper(c=a, a=1), d=[helper(x) for x in (1, a)][-1])


@on((2,))
def immediate_lambda(a):
    return (lambda x, *, y=3: x + y + a)(1) + (lambda: a)()


@on((5,))
def local_generator(n):
    def counting(k):
        i = 0
        while i < k:
            got = yield i * n
            i += 1 if got is None else got

    return list(counting(n)), sum(counting(3))


@on((V2(1.0, 2.0),))
def deleted_attribute(v):
    v.z = 5
    z = v.z
    del v.z
    return z, hasattr(v, "z")


@on((3, 1), (3, 0))
def conditional_keyword(a, b):
    return helper(a, c=a if b else 7), helper(*((a,) if b else (b,)), **({"c": 1} if b else {}))
