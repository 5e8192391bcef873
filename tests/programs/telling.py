"""Variables that tell of one another: a test of one says what another can be."""

import enum
import functools
import math
import types
from collections.abc import ItemsView, Iterator, Sequence, Set, ValuesView
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from programs.suite import Suite
from pygpu import Image, Int, Position, Vec3

program = Suite()


class _Ball(NamedTuple):
    x: float
    y: float
    radius: float
    name: str


_BALLS = (
    _Ball(0.0, 0.0, 1.5, "red"),
    _Ball(2.0, 1.0, 1.25, "green"),
    _Ball(3.0, 0.0, 2.25, "blue"),
)


def _hit(ball, p):
    """The depth of a place in a ball, None outside of it."""
    d = math.hypot(p.x - ball.x, p.y - ball.y) - ball.radius
    if d > 0:
        return None
    return -d


@program
def none_as_often_as_another(im: Image, p: Position):
    best, which = None, None
    for ball in _BALLS:
        depth = _hit(ball, p)
        if depth is not None and (best is None or depth > best):
            best, which = depth, ball
    if best is None:
        return -1.0
    return best + which.radius * len(which.name)


@program
def none_where_a_distance_is_infinite(im: Image, p: Position):
    nearest, which = math.inf, None
    for ball in _BALLS:
        d = math.hypot(p.x - ball.x, p.y - ball.y)
        if d < ball.radius and d < nearest:
            nearest, which = d, ball
    if nearest == math.inf:
        return 0.0
    return which.radius + nearest


@program
def a_flag_says_what_is_set(im: Image, p: Position):
    found = False
    for ball in _BALLS:
        if _hit(ball, p):
            found = True
            last = ball
            break
    if not found:
        return -1.0
    return last.radius * last.x


@program
def a_number_says_what_is_set(im: Image, p: Position):
    index = -1
    for i, ball in enumerate(_BALLS):
        d = math.hypot(p.x - ball.x, p.y - ball.y)
        if d < ball.radius:
            index, depth = i, ball.radius - d
    if index >= 0:
        return depth + index
    return 0.0


@program
def a_count_says_what_is_set(im: Image, p: Position):
    count = 0
    for k in range(4):
        if im(p + (k, 0)) > 0.5:
            count += 1
            last = im(p + (k, 1)) + k
    if count == 0:
        return 0.0
    return last + count


@program
def a_variable_that_closures_share_is_set(im: Image, p: Position):
    nearest = math.inf
    for i, ball in enumerate(_BALLS):
        d = math.hypot(p.x - ball.x, p.y - ball.y)
        if d < nearest and d < ball.radius:
            nearest, index = d, i
    if nearest == math.inf:
        return 0.0
    return sum([ball.radius for i, ball in enumerate(_BALLS) if i != index]) + index


@program
def a_loop_of_the_device_sets_both(im: Image, p: Position, n: int = 5):
    index, best = -1, None
    for i in range(n):
        v = im(p + (i, 0))
        if v > 0.25 and (best is None or v < best):
            best = v
            index = i
    if index == -1:
        return 0.0
    return best + index


@program
def a_loop_that_is_left_sets_both(im: Image, p: Position, n: int = 6):
    found, where = False, None
    for i in range(n):
        if im(p + (i, 0)) > 0.5:
            found, where = True, (i, im(p + (0, i)))
            break
    if not found:
        return -1.0
    return where[0] + where[1]


class _Kind(enum.Enum):
    DISC = 1
    BOX = 2


@dataclass
class _Disc:
    r: float
    kind: _Kind = _Kind.DISC


@dataclass
class _Box:
    w: float
    h: float
    kind: _Kind = _Kind.BOX


@program
def a_field_says_of_which_class(im: Image, p: Position):
    shape = _Disc(im(p)) if p.x > 1 else _Box(im(p), p.y + 1.0)
    if shape.kind is _Kind.DISC:
        return shape.r
    return shape.w * shape.h


_SCENE = (
    {"type": "ball", "centre": (1.0, 1.0), "radius": 1.25},
    {"type": "floor", "height": 1.5},
    {"type": "ball", "centre": (3.0, 0.0), "radius": 0.75},
)


def _distance(thing, p):
    if thing["type"] == "ball":
        return math.dist((p.x, p.y), thing["centre"]) - thing["radius"]
    elif thing["type"] == "floor":
        return thing["height"] - p.y


@program
def a_key_says_which_others_there_are(im: Image, p: Position):
    nearest, number = math.inf, -1
    for i, thing in enumerate(_SCENE):
        d = _distance(thing, p)
        if d < nearest:
            nearest, number = d, i
    thing = _SCENE[number]
    if thing["type"] == "floor":
        return thing["height"]
    return thing["radius"] * 10 + thing["centre"][0]


@program
def a_word_says_what_is_set(im: Image, p: Position):
    state = "idle"
    if p.x > 0:
        state, speed = "run", im(p)
        if p.y > 0:
            state, height = "jump", im(p) * p.y
    if state == "jump":
        return speed + height
    if state == "run":
        return speed
    return 0.0


class _Place(NamedTuple):
    x: float
    y: float


@program
def known_in_calls_within_calls(im: Image, p: Position):
    def traced(place, depth):
        best, which = None, None
        for ball in _BALLS:
            d = _hit(ball, place)
            if d is not None and (best is None or d > best):
                best, which = d, ball
        if best is None:
            return 0.25
        inner = 0.0
        if depth:
            inner = traced(_Place(which.x + place.x / 3, which.y - place.y / 2), depth - 1)
        return best * which.radius + inner / 2

    return traced(_Place(p.x, p.y), 2)


def _hue(r, g, b):
    most, least = max(r, g, b), min(r, g, b)
    if most == least:
        return 0.0
    elif most == r:
        return (g - b) / (most - least)
    elif most == g:
        return 2 + (b - r) / (most - least)
    elif most == b:
        return 4 + (r - g) / (most - least)


@program
def the_greatest_is_one_of_those(vecs: Image, rgb: Image, p: Position):
    v = vecs(p)
    return _hue(v.x, v.y, v.z) / 2, _hue(*rgb(p)) + 1


@program
def the_place_of_the_greatest(vecs: Image, p: Position):
    texel = vecs(p)
    for i in range(3):
        if texel[i] == max(texel):
            place = i
            break
    return place


@program
def an_order_fits(ints: Image, vecs: Image, p: Position):
    a, b, c = ints(p), ints(p + (1, 0)), ints(p + (0, 1))
    if a >= b and a >= c:
        first = 1
    elif b >= a and b >= c:
        first = 2
    elif c >= a and c >= b:
        first = 3
    x, y, z = vecs(p)
    if x < y:
        low = x
    elif y <= x:
        low = y
    if low < z:
        least = low
    if low >= z:
        least = z
    return first, least


@program
def opposites_of_floats(im: Image, p: Position):
    x = im(p)
    if x < 0.25:
        low, which = x, None
    elif x >= 0.25:
        low, which = 2 * x, Vec3(x, 1, 2)
    return low if which is None else which.z + low


@program
def one_of_two_ends(im: Image, p: Position):
    x = im(p)
    if x < 0.25:
        return 1.0, x
    if x >= 0.25:
        return x, 3.0


@program
def the_class_of_an_int(ints: Image, unit: Image, p: Position):
    n, k = ints(p), round(unit(p) * 9)
    of_texels = type(n) is Int, type(n) == int, n.__class__ is Int, type(n * 2) is Int  # noqa: E721
    return *of_texels, type(p.x) is Int, type(k) is int, type(k + n) is Int, type(n / 2) is float


@functools.singledispatch
def _named(x):
    return 0


@_named.register
def _(x: int):
    return 1


@_named.register
def _(x: float):
    return 2


@program
def dispatched_by_the_class_of_an_int(ints: Image, p: Position):
    n = int(ints(p))
    return _named(n), _named(ints(p) + 1), _named(n / 2), callable(getattr(n / 2, "sum", None))


@program
def classes_of_iterators_and_keys(ints: Image, p: Position):
    def steps():
        yield ints(p)

    made, pairs, keys = steps(), zip([ints(p)], [1], strict=True), {1: ints(p)}.keys()
    kinds = isinstance(made, types.GeneratorType), isinstance(pairs, Iterator), type(made) is zip
    names = [hasattr(pairs, name) for name in ("__next__", "__iter__", "__len__", "append")]
    return *kinds, isinstance(pairs, list), *names, isinstance(keys, Set), isinstance(keys, list)


@program
def views_of_dicts_are_no_lists(ints: Image, p: Position):
    d = {1: ints(p), 2: 5}
    keys, values, items = d.keys(), d.values(), d.items()
    kinds = [isinstance(view, (list, Sequence)) for view in (keys, values, items)]
    kinds += [isinstance(values, ValuesView), isinstance(items, ItemsView), isinstance(values, Set)]
    names = [hasattr(values, name) for name in ("append", "isdisjoint", "__len__", "__getitem__")]
    same = [keys == [1, 2], keys == {1, 2}, values == d.values(), items == [*items]]
    raised = 0
    try:
        raised = values[0]
    except TypeError:
        raised = -1
    try:
        keys.append(3)
    except AttributeError:
        raised -= 2
    d[3] = 7
    return *kinds, *names, *same, raised, sum(values), len(keys), max(items)[0], type(keys) is list


@program
def classes_of_parts_of_numbers(ints: Image, unit: Image, p: Position):
    x, n, z = unit(p), np.float64(unit(p)), unit(p) + 1j
    parts = np.real(x), np.imag(x), np.real(z), np.real(n), np.imag(n)
    tests = np.isreal(x), np.iscomplex(x), np.isreal(n), np.isrealobj(x), np.isreal(p.x)
    place = np.argmax(unit(p))
    return (
        *(isinstance(part, np.floating) for part in parts),
        *(isinstance(test, bool) for test in tests),
        *(isinstance(place, int), place.dtype == np.int64, np.isscalar(place)),
        *(isinstance(np.uint32(abs(ints(p))), int), isinstance(ints(p) & 0xFFFFFFFF, int)),
    )


@program
def dtypes_of_fewer_bits(ints: Image, p: Position):
    n = np.int32(ints(p))
    m = np.int64(n)
    whole, single = np.zeros(3, np.int32), np.zeros((2, 2), np.float32)
    whole[0], single[0, 1] = ints(p), ints(p)
    mixed = np.array([ints(p), 2.5], np.float32)
    kinds = [each.dtype == np.int32 for each in (n, m, whole, whole[1:])]
    kinds += [each.dtype == np.float32 for each in (single, np.ones_like(single), mixed)]
    kinds += [isinstance(n, np.int64), type(n) is np.int32, isinstance(m, np.int64)]
    return *kinds, single.astype(float).dtype == float, np.finfo(single.dtype).eps > 1e-8
