"""Complex numbers on the device against cmath, on random planes and in random expressions."""

import cmath
import random
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Complex, Float, Image, Position, Vec2

ACCURACY = {"cpu": 2e-6, "interpreter": 2e-6, "fragment": 4e-5, "compute": 4e-5}
FUNCTIONS = [
    *(cmath.exp, cmath.log, cmath.log10, cmath.sqrt, cmath.sin, cmath.cos, cmath.tan),
    *(cmath.sinh, cmath.cosh, cmath.tanh, cmath.asin, cmath.acos, cmath.atan),
    *(cmath.asinh, cmath.acosh, cmath.atanh),
]


def plane(seed: int, low: float, high: float) -> np.ndarray:
    """Pairs of floats of magnitudes from 10**low to 10**high, at all angles."""
    draw = np.random.default_rng(seed)
    size = 10 ** draw.uniform(low, high, (24, 24))
    angle = draw.uniform(-np.pi, np.pi, (24, 24))
    return np.stack([size * np.cos(angle), size * np.sin(angle)], -1).astype(np.float32)


def as_complex(pairs: Any) -> np.ndarray:
    pairs = np.asarray(pairs).astype(np.float64)
    return pairs[..., 0] + 1j * pairs[..., 1]


def assert_near(want: np.ndarray, have: np.ndarray, tolerance: float) -> None:
    """Assert that complex numbers lie within a part of their size, or of 1 where they are small."""
    off = np.abs(have - want) / np.maximum(np.abs(want), 1.0)
    worst = np.unravel_index(np.argmax(off), off.shape)
    assert off.max() <= tolerance, f"{have[worst]}, not {want[worst]}: off by {off.max()}"


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_functions_are_those_of_cmath(function, target):
    def f(im: Image, p: Position):
        return function(complex(*im(p)))

    values = plane(1, -3, 0.7)
    want = np.vectorize(function)(as_complex(values))
    assert_near(want, as_complex(pygpu.compile(f, target=target)(values)), ACCURACY[target])


@pytest.mark.parametrize("function", [cmath.sqrt, cmath.log], ids=["sqrt", "log"])
def test_roots_and_logarithms_of_numbers_of_all_sizes(function, target):
    def f(im: Image, p: Position):
        return function(complex(*im(p)))

    values = plane(2, -36, 38.5)
    with np.errstate(all="ignore"):
        have = as_complex(pygpu.compile(f, target=target)(values))
    want = np.vectorize(function)(as_complex(values))
    off = np.abs(have - want) / np.abs(want)
    assert off.max() <= ACCURACY[target]


def test_sizes_and_quotients_of_numbers_of_all_sizes(target):
    def f(im: Image, other: Image, p: Position):
        z, w = complex(*im(p)), complex(*other(p))
        return abs(z), z / w

    values, others = plane(3, -30, 38.5), plane(4, -0.5, 0.5)
    sizes, quotients = pygpu.compile(f, target=target)(values, others)
    z, w = as_complex(values), as_complex(others)
    assert np.allclose(sizes, np.abs(z), ACCURACY[target], 0)
    kept = np.abs(z / w) < 1e38
    off = np.abs(as_complex(quotients) - z / w)[kept] / np.abs(z / w)[kept]
    assert off.max() <= ACCURACY[target]


def test_divisor_of_any_size_neither_overflows_nor_vanishes(target):
    def f(im: Image, p: Position):
        z = complex(*im(p))
        return z / (z * 0.5j)

    values = plane(5, -30, 37.5)
    have = as_complex(pygpu.compile(f, target=target)(values))
    assert_near(np.full(have.shape, -2j), have, ACCURACY[target])


def expression(draw: random.Random, depth: int) -> str:
    """A random expression of the complex z and w, the float x, the int n and the bool on."""
    if depth == 0:
        return draw.choice(["z", "w", "x", "n", "on", "1j", "(0.5-2j)", "2", "c"])
    a, b = expression(draw, depth - 1), expression(draw, depth - 1)
    return draw.choice(
        [
            *(f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} / (1.5 + abs({b})))"),
            *(f"(-{a})", f"complex({a}).conjugate()", f"(1j * {a}) ** 2", f"complex({a}).imag"),
            *(f"({a} if x > 0 else {b})", f"sum([{a}, {b}])", f"cmath.sqrt({a})", f"{a} * 1j"),
            *(f"np.where(on, {a}, {b})", f"[1j, {a}, {b}][n]", f"({a} == {b})", f"abs({a})"),
            f"{a} / (2j + abs({b}))",
        ]
    )


BODY = """
def f(im: Image, other: Image, p: Position, c: Complex, rounds: int):
    z, w, x = complex(*im(p)), complex(*other(p)), im(p).x
    n, on = p.x % 3, p.y > 5
    total = 0
    for _ in range(rounds):
        total = total / (1.25 + abs(total)) + {}
        if abs(z) > 3:
            z = z / 2
        z = z / (1 + abs(w)) + 1j * x
    return total + {} + 0j
"""


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions_give_what_python_gives(seed, target):
    draw = random.Random(seed)
    namespace: dict[str, Any] = {"cmath": cmath, "np": np}
    namespace |= {"Image": Image, "Position": Position, "Complex": Complex, "Float": Float}
    text = BODY.format(expression(draw, 3), expression(draw, 3))
    exec(text, namespace)
    function = namespace["f"]
    images = [plane(seed, -1, 0.3)[:8, :9], plane(seed + 99, -1, 0.3)[:8, :9]]
    compiled = pygpu.compile(function, target=target)
    have = as_complex(compiled(*images, c=0.5 - 1j, rounds=4))

    def in_python(scale: float) -> np.ndarray:
        given = [pygpu.Image((image * scale).astype(np.float32)) for image in images]
        places = [[Position(x, y) for x in range(9)] for y in range(8)]
        call = [[complex(function(*given, p, 0.5 - 1j, 4)) for p in row] for row in places]
        return np.array(call)

    want = in_python(1.0)
    moved = np.abs(in_python(1 + 1e-6) - want)  # how much a rounding may change
    off = np.abs(have - want)
    bad = off > 1e-4 * (1 + np.abs(want)) + 50 * moved
    assert bad.sum() <= 1, f"{text}\n{np.argwhere(bad)[:3]}: {have[bad][:3]}, {want[bad][:3]}"


def test_division_by_zero_is_found_in_checked_programs(target):
    def f(im: Image, p: Position):
        return 1 / complex(p.x - 2, im(p))

    image = np.zeros((2, 4), np.float32)
    with pytest.raises(ZeroDivisionError, match="complex division by zero"):
        pygpu.compile(f, target=target, check=True)(image)
    assert np.isfinite(pygpu.compile(f, target=target, check=True)(image + 1)).all()


def test_results_are_images_of_pairs():
    def f(im: Image, p: Position, c: complex = 1j):
        return im(p) * c, c

    pair, constant = pygpu.compile(f, target="cpu")(np.ones((3, 4), np.float32), c=2 - 1j)
    assert pair.shape == constant.shape == (3, 4, 2)
    assert pair[1, 1].tolist() == constant[2, 3].tolist() == [2.0, -1.0]


def test_another_complex_argument_compiles_nothing(caplog):
    def f(im: Image, p: Position, c: complex):
        return abs(im(p) * c)

    compiled = pygpu.compile(f, target="cpu")
    image = np.ones((3, 4), np.float32)
    assert compiled(image, c=3 + 4j).max() == 5
    caplog.clear()  # of what was said before, where another test has left the level low
    with caplog.at_level("DEBUG", "pygpu"):
        assert compiled(image, c=6j).max() == 6
    assert not [record for record in caplog.records if "compile" in record.getMessage()]


def test_vectorized_functions_take_complex_numbers():
    def f(x: Float, c: complex):
        return x * c

    multiplied = pygpu.vectorize(f, target="cpu")
    assert multiplied(np.arange(3.0), 1j).tolist() == [[0, 0], [0, 1], [0, 2]]
    with pytest.raises(TypeError, match="complex128"):
        multiplied(2.0, np.array([1j, 2]))


@pytest.mark.parametrize(
    ("function", "map"),
    [
        (lambda a, b: a * b, lambda v: 1j * v),
        (lambda a, b: (a[0] * b[0], 1), lambda v: (1j * v, 1)),
    ],
)
def test_folds_of_complex_numbers_are_refused(function, map, target):
    with pytest.raises(TypeError, match="complex numbers are folded as pairs: let map="):
        pygpu.reduce(function, np.ones((4, 5), np.float32), map=map, target=target)


def test_complex_numbers_are_folded_as_pairs(target):
    def product(a, b):
        return complex(*a) * complex(*b)

    values = np.linspace(0.8, 1.2, 20, dtype=np.float32).reshape(4, 5)
    folded = pygpu.reduce(product, values, map=lambda v: Vec2(v, 0.5), target=target)
    assert np.allclose(complex(*folded), np.prod(values + 0.5j), 1e-4)


def test_sizes_are_compared_by_squares():
    def f(im: Image, p: Position):
        z, limit = complex(*im(p)), 2
        return abs(z) > 2, limit <= abs(z), abs(z) < 2, limit >= abs(z), abs(z) == 2

    odd = [np.inf, -np.inf, np.nan, 0.0, 2.0, 5.0, 1e30]
    pairs = np.array([[(x, y) for x in odd] for y in odd], np.float32)
    compiled = pygpu.compile(f, target="cpu")
    have = np.stack(compiled(pairs), -1)
    want = [[f(lambda p: p, pair) for pair in row] for row in pairs.astype(float).tolist()]
    assert np.array_equal(want, have)

    def escapes(im: Image, p: Position):
        return abs(complex(*im(p))) > 2

    assert "hypot" not in str(pygpu.compile(escapes, target="cpu").lower(pairs).source)
