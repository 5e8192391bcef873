"""Calls: closures, lambdas, arguments of every form, recursion, functional tools."""

import functools
import itertools
import operator
from fractions import Fraction
from typing import NewType

import numpy as np

from programs.suite import Suite
from pygpu import Image, Position, Vec3

program = Suite()

FACTOR = 3.0
WEIGHTS = {"left": 0.25, "right": 0.75}


def scaled(v, by=2.0):
    return v * by


def everything(a, /, b, *rest, c, d=4.0, **named):
    return a + 2 * b + 3 * sum(rest) + 5 * c + 7 * d + 11 * sum(named.values())


def power(x, n):
    """Recursion that ends on a known value."""
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1)


def pyramid(f, p, depth):
    if depth == 0:
        return f(p)
    return 0.5 * (pyramid(f, p, depth - 1) + pyramid(f, p + (1, 0), depth - 1))


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def traced(f):
    """A decorator."""

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs) + 1

    return wrapper


def scaling(by):
    def decorate(f):
        return lambda *args: by * f(*args)

    return decorate


@traced
def decorated(v):
    return v * 2


@scaling(5.0)
def decorated_with_argument(v):
    return v + 1


@functools.lru_cache
def cached_known(n):
    return sum(range(n))


@program
def call_of_global_function(im: Image, p: Position):
    return scaled(im(p)) + scaled(im(p), 0.5)


@program
def keyword_arguments(im: Image, p: Position):
    return scaled(by=im(p), v=4.0)


@program
def all_kinds_of_parameters(im: Image, p: Position):
    return everything(im(p), 2.0, 3.0, 4.0, c=5.0, e=im(p), f=1.0)


@program
def unpacked_arguments(im: Image, p: Position):
    args = [im(p), 1.0, 2.0]
    named = {"c": 3.0, "x": im(p)}
    return everything(*args, *(5.0,), **named, **{"y": 1.0})


@program
def default_is_evaluated_once(im: Image, p: Position):
    n = 2.0

    def f(v, by=n):
        return v * by

    n = 100.0
    return f(im(p)) + n


@program
def keyword_only_default(im: Image, p: Position):
    def f(v, *, by=3.0):
        return v * by

    return f(im(p)) + f(im(p), by=1)


@program
def lambda_call(im: Image, p: Position):
    f = lambda v, k=2: v * k  # noqa: E731
    return f(im(p)) + (lambda: 1.0)()


@program
def closure_over_dynamic(im: Image, p: Position):
    v = im(p)

    def f(w):
        return v * w

    return f(2.0) + f(v)


@program
def closure_sees_later_value(im: Image, p: Position):
    v = 1.0

    def f():
        return v

    v = im(p)
    return f()


@program
def closures_in_loop_share_variable(im: Image, p: Position):
    fs = []
    for i in range(3):
        fs.append(lambda: im(p + (i, 0)))
    return fs[0]() + fs[2]()


@program
def closures_with_bound_default(im: Image, p: Position):
    fs = [lambda i=i: im(p + (i, 0)) for i in range(3)]
    return fs[0]() - 2 * fs[2]()


@program
def nonlocal_counter(im: Image, p: Position):
    total = 0.0

    def add(v):
        nonlocal total
        total += v
        return total

    add(im(p))
    add(im(p + (1, 0)))
    return total


@program
def nonlocal_under_condition(im: Image, p: Position):
    n = 0

    def count():
        nonlocal n
        n += 1

    if im(p) > 0:
        count()
        count()
    return n


@program
def nonlocal_in_dynamic_loop(counts: Image, p: Position):
    s, n = 0, counts(p)

    def step(k):
        nonlocal s
        s = s * 2 + k

    while n > 0:
        step(n)
        n -= 1
    return s


@program
def function_returning_function(im: Image, p: Position):
    def adder(a):
        def add(b):
            return a + b

        return add

    return adder(im(p))(adder(1.0)(2.0))


@program
def composition(im: Image, p: Position):
    def compose(*fs):
        return functools.reduce(lambda f, g: lambda v: g(f(v)), fs)

    return compose(abs, lambda v: v * 2, lambda v: v + 1)(im(p))


@program
def functions_in_dict(im: Image, p: Position, op="double"):
    table = {"double": lambda v: 2 * v, "square": lambda v: v * v}
    return table[op](im(p)) + table["square"](im(p))


@program
def function_as_argument(im: Image, p: Position):
    def twice(f, v):
        return f(f(v))

    return twice(lambda v: v * v - 1, im(p))


@program
def recursion_on_known(im: Image, p: Position):
    return power(im(p), 5)


@program
def tree_recursion_on_known(im: Image, p: Position):
    return pyramid(im, p, 3)


@program
def recursion_of_known_only(im: Image, p: Position):
    return im(p) * fibonacci(10)


@program
def recursive_closure(im: Image, p: Position):
    def walk(i):
        return 0.0 if i == 4 else im(p + (i, 0)) + 0.5 * walk(i + 1)

    return walk(0)


@program
def mutual_recursion_on_known(im: Image, p: Position):
    def even(n):
        return im(p) if n == 0 else odd(n - 1)

    def odd(n):
        return -im(p) if n == 0 else even(n - 1)

    return even(5) + 2 * even(4)


@program
def decorators(im: Image, p: Position):
    return decorated(im(p)) + decorated_with_argument(im(p))


@program
def cached_function_of_known(im: Image, p: Position):
    return im(p) * cached_known(5)


@program
def partial(im: Image, p: Position):
    f = functools.partial(everything, im(p), 2.0, c=1.0)
    return f() + f(3.0, d=0.0)


@program
def partial_of_image(im: Image, p: Position):
    def at(image, q, d):
        return image(q + d)

    look = functools.partial(at, im, p)
    return look((1, 0)) - look((0, 1))


@program
def reduce_with_initial(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(4)]
    return functools.reduce(lambda a, b: a * 0.5 + b, vs, 1.0)


@program
def reduce_with_operator(im: Image, p: Position):
    return functools.reduce(operator.mul, (im(p + (d, 0)) for d in range(3)))


@program
def reduce_of_max(im: Image, p: Position):
    return functools.reduce(max, [im(p + (d, 0)) for d in range(5)])


@program
def itertools_product(im: Image, p: Position):
    return sum(im(p + (i, j)) for i, j in itertools.product((-1, 0, 1), (0, 1)))


@program
def itertools_chain_and_accumulate(im: Image, p: Position):
    vs = itertools.chain([im(p)], (im(p + (d, 0)) for d in range(2)), [1.0])
    return sum(itertools.accumulate(vs))


@program
def itertools_pairwise(im: Image, p: Position):
    vs = [im(p + (d, 0)) for d in range(4)]
    return sum(abs(b - a) for a, b in itertools.pairwise(vs))


@program
def itertools_combinations_starmap(im: Image, p: Position):
    vs = [im(p), im(p + (1, 0)), im(p + (0, 1))]
    return sum(itertools.starmap(operator.mul, itertools.combinations(vs, 2)))


@program
def itertools_islice_count_repeat(im: Image, p: Position):
    s = 0.0
    for i, w in zip(itertools.islice(itertools.count(1, 2), 3), itertools.repeat(0.5)):
        s += w * im(p + (i, 0))
    return s


@program
def operator_methodcaller(im: Image, p: Position):
    return operator.attrgetter("x")(p) + im(p)


@program
def globals_are_read(im: Image, p: Position):
    return FACTOR * im(p) + WEIGHTS["left"]


@program
def known_numpy_call(im: Image, p: Position):
    u, s, vt = np.linalg.svd(np.array([[2.0, 1.0], [1.0, 3.0]]))
    return im(p) * float(s[0]) + float(abs(vt[0, 0]))


@program
def known_fractions(im: Image, p: Position):
    return im(p) * float(Fraction(1, 3) + Fraction(1, 6))


@program
def known_random_with_seed(im: Image, p: Position):
    w = np.random.default_rng(3).random(3)
    return sum(k * im(p + (i, 0)) for i, k in enumerate(w))


@program
def known_string_work(im: Image, p: Position, spec="x=2, y=3"):
    weights = {k: float(v) for k, v in (part.split("=") for part in spec.split(", "))}
    return weights["x"] * im(p) + weights["y"] + len(f"{spec!r:>20}")


@program
def known_print(im: Image, p: Position):
    print("compiled")
    return im(p)


@program
def star_args_forwarded(im: Image, p: Position):
    def outer(*args, **kwargs):
        return everything(*args, **kwargs)

    return outer(im(p), 1.0, c=2.0)


@program
def map_of_function_over_two_lists(im: Image, p: Position):
    return sum(map(lambda a, b: a * b, [im(p), 2.0], [3.0, im(p)]))


@program
def generator_consumed_twice_is_empty(im: Image, p: Position):
    g = (im(p + (d, 0)) for d in range(3))
    return sum(g) + 10 * sum(g, 1)


@program
def iterator_protocol(im: Image, p: Position):
    it = iter([im(p), 2.0, 3.0])
    first = next(it)
    return first + sum(it) + next(it, 5.0)


@program
def conditional_function(im: Image, p: Position, smooth=False):
    f = (lambda v: v * v) if smooth else (lambda v: v + 1)
    return f(im(p))


@program
def early_return_inlined_twice(im: Image, p: Position):
    def safe(v):
        if v == 0:
            return 0.0
        return 1 / v

    return safe(im(p)) + safe(im(p + (1, 0)))


@program
def function_with_dynamic_loop_called_twice(counts: Image, p: Position):
    def triangle(n):
        s = 0
        while n > 0:
            s, n = s + n, n - 1
        return s

    return triangle(counts(p)) * 100 + triangle(counts(p + (1, 0)))


def vector_of_known():
    return Vec3(1.0, 2.0, 3.0)


def list_of_known():
    return [1.0, [2.0]]


@program
def objects_of_a_known_call_in_a_loop(im: Image, counts: Image, p: Position):
    total = 0.0
    for i in range(counts(p)):
        v, xs = vector_of_known(), list_of_known()
        v.y = im(p)
        xs[1][0] += total
        total += v.y + xs[0] + xs[1][0] + v.z
    return total


@program
def nonlocal_of_a_key_that_python_calls(im: Image, p: Position):
    calls = 0

    def key(x):
        nonlocal calls
        calls += 1
        return -x

    ordered = sorted([3, 1, 2], key=key)
    return im(p) * ordered[0] + calls


@program
def nonlocal_of_a_function_that_knows_itself(im: Image, p: Position):
    depth = 0

    def down(n):
        nonlocal depth
        depth += 1
        return n if n == 0 else down(n - 1)

    return im(p) * sum(map(down, [2, 3])) + depth


@program
def cached_functions_run_once_for_a_dynamic_argument(im: Image, p: Position):
    calls = []

    @functools.cache
    def doubled(v, by=2):
        calls.append(v)
        return v * by

    v = im(p)
    total = doubled(v) + doubled(v) + doubled(v, by=v) + doubled(v, by=v)
    total += doubled(v, 3) + doubled(v, 3)
    return total + 100 * len(calls)


_Count = NewType("_Count", int)


class _Frozen:
    """As generated constructors of frozen classes are."""

    def __init__(self, x):
        set_attribute = object.__setattr__.__get__(self)
        set_attribute("x", x)
        set_attribute("y", 2)

    def __setattr__(self, name, value):
        raise AttributeError(name)


@program
def methods_of_builtin_classes(im: Image, ints: Image, p: Position):
    v = im(p)
    made = float.__mul__(v, 2.0), float.__rsub__(v, 1.0), float.__neg__(v), int.__add__(ints(p), 2)
    return *made, float.__lt__(v, 0.5), sum(map(float.__add__, [v], [1.0]))


@program
def new_types_and_bound_setters(im: Image, ints: Image, p: Position):
    return _Count(ints(p)) + _Count(1), _Frozen(im(p)).x + _Frozen(3).y


@program
def operator_objects_of_dynamic_places(im: Image, ints: Image, p: Position):
    k = ints(p) % 2
    rows = [(ints(p + (i, 0)) % 5, i, int(im(p + (i, 0)) * 9)) for i in range(4)]
    taken = operator.itemgetter(k) if im(p) > 0.5 else operator.itemgetter(2)
    first, last = operator.itemgetter(k, -1)(rows[0])
    count = operator.methodcaller("count", ints(p))([1, 2, ints(p)])
    made = operator.methodcaller("format", width=3)("{width}")
    least = min(rows, key=operator.itemgetter(k, 2))
    ordered = sorted(rows, key=operator.itemgetter(k))
    return ordered[0][1], taken([4, 5, 6]), first, last, count, least[2], len(made)
