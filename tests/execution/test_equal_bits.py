"""Equal expressions of equal values have equal bits, whichever pixel computes them and whatever
else that pixel computes: what p computes for p + d is what p + d computes for itself."""

import random

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Int, Position, Vec2, Vec3
from pygpu.glsl import dot, floor, fract, mix, sin

SHAPE = 23, 41
RNG = np.random.default_rng(5)
GREY = RNG.random(SHAPE, dtype=np.float32)
COLOUR = RNG.random((*SHAPE, 3), dtype=np.float32)
BYTES = RNG.integers(0, 256, SHAPE, dtype=np.uint8)
GAIN, BIAS = 0.737, 1.391
PROGRAMS = {"cpu": 60}  # where they compile quickly; 14 elsewhere


def assert_consistent(itself, ahead, d):
    """`ahead` at p is `itself` at p + d, to the bit; zeros may differ in their sign."""
    itself, ahead = np.asarray(itself), np.asarray(ahead)
    (dx, dy), (height, width) = d, itself.shape[:2]
    here = ahead[max(0, -dy) : height - max(0, dy), max(0, -dx) : width - max(0, dx)]
    there = itself[max(0, dy) : height + min(0, dy), max(0, dx) : width + min(0, dx)]
    np.testing.assert_array_equal(here, there)


# ---------------------------------------------------------------- random expressions


def mad(a, b, c):
    return a * b + c


def twice(a, b):
    doubled = a * b
    return doubled + (doubled - a)


def at_most(a, b):
    return np.minimum(a, b)


class Sum:
    """Terms that are added by methods of a user's class."""

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Sum(self.value + other.value)


def expression(draw, depth):
    """The text of a random expression of floats around a position q."""

    def part():
        return expression(draw, draw.randrange(depth))

    if depth == 0:
        tap = f"im(q + ({draw.randint(-1, 1)}, {draw.randint(-1, 1)}))"
        number = repr(round(draw.uniform(-2, 2), 2))
        place = draw.choice(["(q.x * 0.1)", "(0.3 * q.y)", "(q.x * g)"])
        return draw.choices([tap, draw.choice("gh"), number, place], (12, 4, 2, 2))[0]
    forms = {
        "({} * {})": 35,
        "({} + {})": 25,
        "({} - {})": 20,
        "(-{})": 4,
        "({} / ({} + 9.7))": 4,
        "mad({}, {}, {})": 6,
        "twice({}, {})": 3,
        "(Sum({} * {}) + Sum({})).value": 3,
        "({} ** 2)": 3,
        "at_most({}, {})": 3,
        "sum([w * ({}) for w in (0.3, 0.7, g)])": 3,
        "({0} * k - np.floor({0} * k))": 3,
    }
    form = draw.choices(list(forms), list(forms.values()))[0].replace("{0}", "@")
    text = form.replace("@", part())
    while "{}" in text:
        text = text.replace("{}", part(), 1)
    return text


def random_function(draw):
    """A function of an image, and the distance between its two results. What else the expression
    gives, a product in it, is needed in one place only."""
    names = {"np": np, "mad": mad, "twice": twice, "at_most": at_most, "Sum": Sum, "k": 3.3}
    product = f"{expression(draw, 2)} * {expression(draw, 2)}"
    lines = f"t = {product}", f"return {expression(draw, 4)} + t + 0.0 * im(q), t"
    exec("def e(im, q, g, h):\n    " + "\n    ".join(lines), names)
    e = names["e"]
    d = draw.randint(-2, 2), draw.randint(-2, 2)

    def both(im: Image, p: Position, g: Float, h: Float):
        ahead, _ = e(im, p + d, g, h)
        itself, product = e(im, p, g, h)
        return itself, ahead, ahead * g + itself + product

    return both, d


@pytest.mark.parametrize("image", [GREY, COLOUR, BYTES], ids=["grey", "colour", "bytes"])
def test_a_pixel_computes_for_another_what_that_one_computes(target, image):
    for seed in range(PROGRAMS.get(target, 14)):
        both, d = random_function(random.Random(f"{image.ndim} {seed}"))
        given = Image(image, boundary="wrap")
        itself, ahead, _ = pygpu.compile(both, target=target)(given, GAIN, BIAS)
        assert_consistent(itself, ahead, d)


# ---------------------------------------------------------------- what is written


def test_a_product_that_is_used_elsewhere_too(target):
    def scaled(im, q, g):
        return g * im(q + (1, 1)) - im(q + (0, -1)) * g

    def both(im: Image, p: Position, g: Float):
        return scaled(im, p, g), scaled(im, p + (1, 2), g)

    assert_consistent(*pygpu.compile(both, target=target)(GREY, GAIN), (1, 2))


def test_a_function_of_equal_arguments_that_were_computed_otherwise(target):
    def hashed(x, y):
        return fract(sin(x * 12.9898 + y * 78.233) * 43758.5453)

    def both(p: Position, two: Float):
        column, row = p.x * two, p.y * two  # products, and sums of them
        return hashed(column, row), hashed((p.x + 1) * two, (p.y + 1.0) * two - 0.0)

    made = pygpu.compile(both, target=target)(2.0, shape=SHAPE)
    assert_consistent(*made, (1, 1))


def above(a, b, whole):
    return a * b - np.floor(whole)


def less(a, whole):
    return a - whole


def less_by_sign(a, whole):
    return -whole + a


def test_a_function_that_is_given_its_own_product(target):
    def all_ways(im: Image, products: Image, p: Position):
        a, b = im(p), im(p + (1, 0))
        made, read = a * b, products(p)
        pairs = [
            (above(a, b, whole), less(a, whole), less_by_sign(a, whole)) for whole in (made, read)
        ]
        return pairs[0] + pairs[1]

    products = GREY * np.roll(GREY, -1, 1)
    given = Image(GREY, boundary="wrap"), products
    found = [np.asarray(each) for each in pygpu.compile(all_ways, target=target)(*given)]
    for made, read in zip(found[:3], found[3:], strict=True):
        np.testing.assert_array_equal(made, read)


def test_what_becomes_of_the_rest_of_a_result(target):
    def sloped(im, q):
        t = im(q) * 2.3
        return im(q + (0, 1)) * 0.7 + t, t

    def both(im: Image, p: Position):
        alone, _ = sloped(im, p)
        value, slope = sloped(im, p)
        return alone, value, slope

    alone, value, _ = pygpu.compile(both, target=target)(GREY)
    np.testing.assert_array_equal(np.asarray(alone), np.asarray(value))


def test_how_a_generator_is_asked_for_its_items(target):
    def steps(im, q):
        t = im(q) * 2.3
        yield t
        yield im(q + (1, 0)) * 0.7 + t

    def ways(im: Image, p: Position):
        unpacked, second = steps(im, p)
        waiting = steps(im, p)
        next(waiting)
        last = 0.0
        for step in steps(im, p):
            last = step
        return second, list(steps(im, p))[1], next(waiting), last, unpacked

    first, *others, _ = map(np.asarray, pygpu.compile(ways, target=target)(GREY))
    for other in others:
        np.testing.assert_array_equal(other, first)


def by_dot(q):
    return dot(q, Vec2(12.9898, 78.233))


def by_products(q):
    return q.x * 12.9898 + q.y * 78.233


@pytest.mark.parametrize("angle", [by_dot, by_products])
def test_lattice_noise_has_no_seams(target, angle):
    def hashed(q):
        return fract(sin(angle(q)) * 43758.5453)

    def noise(v):
        corner = floor(v)
        f = v - corner
        u = f * f * (3.0 - 2.0 * f)
        near = mix(hashed(corner), hashed(corner + Vec2(1.0, 0.0)), u.x)
        far = mix(hashed(corner + Vec2(0.0, 1.0)), hashed(corner + Vec2(1.0, 1.0)), u.x)
        return mix(near, far, u.y)

    def picture(p: Position, width: Float, height: Float):
        size = Vec2(width, height)
        return noise((2 * Vec2(p.x, p.y) - size) / size.y * 8)

    made = pygpu.compile(picture, target=target)(640.0, 360.0, shape=(360, 640))
    steps = [np.abs(np.diff(np.asarray(made), axis=axis)).max() for axis in (0, 1)]
    assert max(steps) < 0.1


def test_loops_and_lanes_that_part(target):
    def winding(im, q, g, n):
        total, k = im(q) * g, 0
        while k < n and total < 3.0:
            total = total * 1.1 + im(q + (1, 0)) * g
            if im(q + (0, 1)) > 0.5:
                total = total - im(q) * g
            k += 1
        return total

    def both(im: Image, p: Position, g: Float, n: Int):
        return winding(im, p, g, n), winding(im, p + (2, 1), g, n)

    assert_consistent(*pygpu.compile(both, target=target)(GREY, GAIN, 9), (2, 1))


def test_vectors_and_windows(target):
    weights = np.random.default_rng(2).random((3, 5))

    def blurred(im, q):
        pairs = zip(weights.ravel(), pygpu.offsets(weights), strict=True)
        return sum([w * im(q + d) for w, d in pairs])

    def both(im: Image, p: Position):
        tint = Vec3(0.3, 0.5, 0.7)
        near, far = blurred(im, p) * tint, blurred(im, p + (1, 1)) * tint
        return near - im(p), far - im(p + (1, 1))

    assert_consistent(*pygpu.compile(both, target=target)(COLOUR), (1, 1))


def test_equal_products_leave_nothing(target):
    def difference(im: Image, p: Position, g: Float):
        return im(p) * g - g * im(p), im(p) * g - im(p + (1, 0)) * g

    flat = np.full(SHAPE, 0.123, np.float32)
    for made in pygpu.compile(difference, target=target)(flat, GAIN):
        assert not np.asarray(made).any()


def test_the_fraction_of_a_product_is_never_negative(target):
    def rest(im: Image, p: Position, g: Float):
        return im(p) * g - np.floor(im(p) * g)

    made = np.asarray(pygpu.compile(rest, target=target)(GREY, 43758.5453))
    assert made.min() >= 0
    assert made.max() < 1
