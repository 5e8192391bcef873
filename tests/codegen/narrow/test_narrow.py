"""Functions of bytes in narrow lanes give what they give in lanes of floats, to the bit."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Int, Position
from pygpu.codegen.narrow.values import Narrow, Small, threshold

AROUND = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]


def pattern(im: Image, p: Position) -> Any:
    return sum([(1 << k) * (im(p + d) >= im(p)) for k, d in enumerate(AROUND)])


def pattern_of_floats(im: Image, p: Position) -> Any:
    return sum([1 << k if im(p + d) >= im(p) else 0 for k, d in enumerate(AROUND)]) / 255


def census(im: Image, p: Position) -> Any:
    bits = 0
    for d in AROUND[:6]:
        bits = (bits << 1) | int(im(p + d) < im(p))
    return bits


def greater(im: Image, p: Position) -> Any:
    return sum([1 if im(p + (x, y)) > im(p) else 0 for x in range(-3, 4) for y in range(-3, 4)])


def signs(im: Image, p: Position) -> Any:
    return sum([int(im(p + d) > im(p)) - int(im(p + d) < im(p)) for d in AROUND])


def large(im: Image, p: Position) -> Any:
    return sum([int(im(p + d) > 0.25) * 4000 for d in AROUND]) - 1000


def above(im: Image, p: Position) -> Any:
    return 1.0 if im(p) > 0.5 else 0.0


def majority(im: Image, p: Position) -> Any:
    return sum([im(p + d) > 0.4 for d in AROUND]) >= 5


def clipped(im: Image, p: Position) -> Any:
    return min(max(im(p), 0.2), 200 / 255) if im(p + (1, 0)) != im(p) else 1.0


def brightest(im: Image, p: Position) -> Any:
    rows = [max(im(p + (x, y)) for x in (-1, 0, 1)) for y in (-1, 0, 1)]
    return rows[1] if rows[0] < rows[2] or not rows[1] > rows[2] else min(rows)


def weighed(im: Image, p: Position) -> Any:
    return (2.0 if im(p) < im(p + (2, 0)) else 1.0) * 3.0 + (1.0 if im(p) == 0 else 0.0)


def two(im: Image, p: Position) -> Any:
    return im(p) >= im(p + (0, 1)), max(im(p), im(p + (0, 1)))


def of_four(im: Image, p: Position) -> Any:
    return sum([im((2 * p.x + i, 2 * p.y + j)) > 0.4 for i in (0, 1) for j in (0, 1)]) >= 2


def of_thirds(im: Image, p: Position) -> Any:
    texels = [im((3 * p.x + i, p.y)) for i in (-1, 0, 4)]
    return max(texels) if im(p) < 0.7 else min(texels)


def raw(im: Image, p: Position) -> Any:
    return (im(p + (1, 0)) - im(p - (1, 0))) * 2 + (im(p) >> 3) + (im(p) & 0x2C) - (im(p) ^ 7)


def raw_sum(im: Image, p: Position) -> Any:
    return sum([im(p + d) for d in AROUND]) > 8 * im(p)


def raw_blur(im: Image, p: Position) -> Any:
    weights = (1, 4, 6, 4, 1)
    total = 128
    for j in range(5):
        for i in range(5):
            total += weights[i] * weights[j] * im(p + (i - 2, j - 2))
    return total >> 8, total


def raw_mean(im: Image, p: Position) -> Any:
    total = sum([im(p + d) for d in AROUND])
    return total // 8, (31 * total + im(p)) % 251, (total * 32) // 7 + total % 7, im(p) // 3


def raw_chosen(im: Image, p: Position) -> Any:
    total = 250 * im(p)
    return total if im(p) > im(p + (1, 0)) else total + im(p + (0, 1))


def raw_compared(im: Image, p: Position) -> Any:
    return 250 * im(p) > 128 * im(p + (1, 0)), min(200 * im(p), 150 * im(p + (1, 0)))


def larger(im: Image, p: Position) -> Any:
    return sum([8000.0 if im(p + d) > 0.25 else 0.0 for d in AROUND])


def contrast(im: Image, p: Position) -> Any:
    texels = [im(p + d) for d in AROUND]
    return max(texels) - min(texels)


def apart(im: Image, p: Position) -> Any:
    return abs(im(p) - im(p + (1, 0)))


def over(im: Image, p: Position) -> Any:
    return max(im(p) - min(im(p + d) for d in AROUND), 0.0)


def less(im: Image, p: Position) -> Any:
    return im(p) - im(p + (0, 1))


def raw_apart(im: Image, p: Position) -> Any:
    a, b = im(p), max(im(p + (1, 0)), im(p + (0, 1)))
    return abs(a - b), max(a - b, 0), max(0, b - a), a - b, b - min(a, im(p + (1, 0)))


def raw_ordered(im: Image, p: Position) -> Any:
    texels = [im(p + d) for d in AROUND]
    return (
        max(texels) - min(texels),
        min(texels) - max(texels),
        max(texels) - 7,
        max(texels) - im(p),
    )


def in_floats(im: Image, p: Position) -> Any:
    return im(p) * 0.5 + im(p + (1, 0))


SCALED = [pattern, pattern_of_floats, census, greater, signs, large, larger, above, majority,
          contrast, apart, over, less, clipped, brightest, weighed, two, of_four,
          of_thirds]  # fmt: skip


SUMS = {  # weights in parts
    "mean": (np.ones((3, 3), int), 9),
    "gauss": (np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]), 256),
    "sharper": (np.array([[0, -1, 0], [-1, 5, -1], [0, -1, 0]]), 1),
    "relief": (np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]), 1),
    "brighter": (np.array([[30, 60, 90]]), 150),
    "halves": (np.array([[-3, 5, 7, -2]]), 2),
    "negative": (-np.ones((2, 2), int), 3),
}


def weighed_by(weights: Any) -> Any:
    taps = list(zip(weights.flat, pygpu.offsets(weights), strict=True))

    def function(im: Image, p: Position) -> Any:
        return sum([weight * im(p + d) for weight, d in taps])

    return function


def added(array: Any, weights: Any, parts: int) -> Any:
    """The sum of weighed texels, rounded, half of a texel up."""
    high, wide = weights.shape
    around = [(high // 2, high - 1 - high // 2), (wide // 2, wide - 1 - wide // 2)]
    padded = np.pad(array.astype(int), around, mode="edge")
    total = sum(
        weight * padded[y : y + array.shape[0], x : x + array.shape[1]]
        for (y, x), weight in np.ndenumerate(weights)
    )
    return np.clip((total + parts // 2) // parts, 0, 255)


@pytest.mark.parametrize("level", ["", "sse2", "avx2"])
@pytest.mark.parametrize("name", SUMS)
def test_sums_of_bytes_are_exact_in_narrow_lanes(
    name: str, level: str, written: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    weights, parts = SUMS[name]
    rng = np.random.default_rng(8)
    for shape in ((1, 1), (3, 70), (67, 131)):
        array = rng.integers(0, 256, shape, np.uint8)
        (found,) = results(weighed_by(weights / parts), array, dtype="uint8")
        np.testing.assert_array_equal(found, added(array, weights, parts))
    assert written
    assert all(written)


def absolute(im: Image, p: Position) -> Any:
    return abs(im(p) - im(p + (1, 0)))


def inverted(im: Image, p: Position) -> Any:
    return 1 - im(p)


def bounded(im: Image, p: Position) -> Any:
    around = (im(p - (1, 0)) + im(p + (1, 0))) / 2
    return min(max(im(p) * 2 - around, 0.1), max(around, im(p)))


def chosen(im: Image, p: Position) -> Any:
    mean = (im(p) + im(p + (0, 1)) + im(p + (0, 2))) / 3
    return mean if im(p) > im(p + (1, 1)) else 0.5 * im(p) + 0.25


def differences(im: Image, p: Position) -> Any:
    x, y = im(p + (1, 0)) - im(p - (1, 0)), im(p + (0, 1)) - im(p - (0, 1))
    return (abs(x) + abs(y)) / 2, x - y, 0.5 + x / 2


def of_places(im: Image, p: Position) -> Any:
    return sum([im((2 * p.x + i, 2 * p.y + j)) for i in (0, 1) for j in (0, 1)]) / 4


@pytest.mark.parametrize("level", ["", "sse2", "avx2"])
@pytest.mark.parametrize("function", [absolute, inverted, bounded, chosen, differences, of_places])
def test_sums_differ_from_floats_halfway_between_bytes_alone(
    function: Any, level: str, written: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    array = np.random.default_rng(6).integers(0, 256, (67, 131), np.uint8)
    found = results(function, array, dtype="uint8")
    assert written
    assert all(written)
    for byte, value in zip(found, results(function, array), strict=True):
        exact = np.clip(value.astype(float), 0, 1) * 255
        assert np.abs(byte - exact).max() < 0.501


@pytest.mark.parametrize("function", [
    lambda im, p: im(p) * 0.3333 + im(p + (1, 0)) * 0.6667,  # of too many parts
    lambda im, p: (im(p) + im(p + (1, 0))) / 2 > 0.5,  # what floats round is not compared
    lambda im, p: sum([im(p + (k, 0)) * 90.0 for k in range(3)]) - 60,  # too large
    lambda im, p: (im(p) + im(p + (1, 0))) * im(p),
])  # fmt: skip
def test_other_sums_stay_floats(function: Any, written: list[bool]) -> None:
    compiled = pygpu.compile(function, im=Image, p=Position, target="cpu", dtype="uint8")
    compiled(np.zeros((9, 9), np.uint8))
    assert not any(written)


def results(function: Any, image: Any, **given: Any) -> list[Any]:
    return called(pygpu.compile(function, target="cpu", **given), image)


def called(compiled: Any, image: Any) -> list[Any]:
    found = compiled(image)
    return [np.asarray(each) for each in (found if isinstance(found, tuple) else (found,))]


@pytest.fixture
def written(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each function that was compiled, whether it was in narrow lanes; `None` after that turns
    them off."""
    found: list[bool] = []
    real = Narrow.of

    def of(*given: Any) -> Narrow | None:
        narrow = real(*given)
        found.append(narrow is not None)
        return narrow

    monkeypatch.setattr(Narrow, "of", of)
    return found


@pytest.mark.parametrize("level", ["", "sse2", "avx2"])
@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "bool"])
@pytest.mark.parametrize("function", SCALED)
def test_bytes_in_narrow_lanes_give_what_floats_give(
    function: Any, dtype: str, level: str, written: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rng = np.random.default_rng(3)
    narrow, plain = [pygpu.compile(function, target="cpu", dtype=dtype) for _ in range(2)]
    for shape in ((1, 1), (3, 70), (67, 131), (40, 64)):
        array = rng.integers(0, 256, shape, np.uint8)
        for boundary in ("nearest", "constant") if shape[0] == 67 else ("nearest",):
            image = Image(array, boundary=boundary, cval=0.3 if boundary == "constant" else 0)
            found = called(narrow, image)
            with monkeypatch.context() as patch:
                patch.setattr(Narrow, "of", lambda *given: None)
                expected = called(plain, image)
            for one, other in zip(found, expected, strict=True):
                np.testing.assert_array_equal(one, other)
    if dtype == "uint8":
        assert any(written)


@pytest.mark.parametrize("dtype", ["uint8", "int32"])
@pytest.mark.parametrize(
    "function", [raw, raw_sum, raw_blur, raw_mean, raw_chosen, raw_compared, raw_apart, raw_ordered]
)
def test_bytes_as_ints_do(
    function: Any, dtype: str, written: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    array = np.random.default_rng(4).integers(0, 256, (61, 150), np.uint8)
    array[:20], array[20:25] = 255, 0
    image = Image(array, normalize=False)
    narrow, plain = [pygpu.compile(function, target="cpu", dtype=dtype) for _ in range(2)]
    found = called(narrow, image)
    assert written == [function is not raw_compared]
    monkeypatch.setattr(Narrow, "of", lambda *given: None)
    for one, other in zip(found, called(plain, image), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "number", [-1000, -300, -2, -1, 0, 1, 2, 5, 100, 128, 200, 256, 1000, 40_000]
)
def test_limits_need_be_no_bytes(number: int, written: list[bool]) -> None:
    def beside(im: Image, p: Position) -> Any:
        return min(im(p + (1, 0)), number), max(im(p), number), np.clip(im(p), -number, number)

    array = np.arange(256, dtype=np.uint8).reshape(4, 64)
    following = np.concatenate([array[:, 1:], array[:, -1:]], axis=1)
    for scale, dtype in ((255, "uint8"), (1, "int32"), (1, "uint8")):
        image = Image(array, normalize=scale > 1)
        found = called(pygpu.compile(beside, target="cpu", dtype=dtype), image)
        limit = scale * number
        each = [np.minimum(following.astype(int), limit), np.maximum(array.astype(int), limit)]
        each.append(np.clip(array.astype(int), -limit, limit))
        for one, other in zip(found, each, strict=True):
            expected = other if dtype == "int32" else np.clip(other, 0, 255)
            np.testing.assert_array_equal(one, expected, f"{scale} {dtype}")
    assert any(written) == (number < 40_000)


def test_what_is_rounded_stays_in_floats(written: list[bool]) -> None:
    array = np.random.default_rng(5).integers(0, 256, (30, 40), np.uint8)
    results(in_floats, array)
    assert not any(written)


def test_comparisons_with_any_number_are_those_of_floats() -> None:
    tests: dict[str, Callable[[Any, Any], Any]] = {
        "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
        "eq": np.equal, "ne": np.not_equal,
    }  # fmt: skip
    texels = np.arange(256, dtype=np.float32) / np.float32(255)
    rng = random.Random(6)
    numbers = [*map(float, texels), *[rng.uniform(-0.2, 1.2) for _ in range(300)], float("nan")]
    numbers += [float(np.nextafter(texel, np.float32(2))) for texel in texels]
    for number in numbers:
        for name, test in tests.items():
            found = threshold(Small("texel", 0, 255), name, number)
            expected = test(texels, np.float32(number))
            if isinstance(found, bool):
                assert (expected == found).all(), (name, number)
            else:
                got = tests[found[0]](np.arange(256), found[1])
                np.testing.assert_array_equal(got, expected, f"{name} {number}")


LIMITS = (
    *("nan", "inf", "-inf", -0.0, 0.0, 1e-45, -1e-45, 1e38, -1e38, 1.0, 0.5, 0.25),
    *[np.nextafter(np.float32(k / 255), np.float32(k % 3)) for k in range(256)],
    *[np.float32(k) / np.float32(255) for k in range(256)],
    *np.random.default_rng(7).uniform(-0.2, 1.2, 100),
)


def test_comparisons_with_numbers_of_a_call(written: list[bool]) -> None:
    array = np.arange(256, dtype=np.uint8).reshape(4, 64)
    texels = array / np.float32(255)
    nearest = np.maximum(texels, np.pad(texels, ((0, 0), (0, 1)), "edge")[:, 1:])
    compared: dict[Any, Callable[[Any], Any]] = {
        lambda im, p, t: im(p) < t: lambda t: texels < t,
        lambda im, p, t: im(p) <= t: lambda t: texels <= t,
        lambda im, p, t: t < im(p): lambda t: texels > t,
        lambda im, p, t: max(im(p), im(p + (1, 0))) >= t: lambda t: nearest >= t,
    }
    for function, expected in compared.items():
        call = pygpu.compile(function, target="cpu", im=Image, p=Position, t=Float)
        for limit in LIMITS:
            number = float(np.float32(limit))
            got = call(array, t=number)
            np.testing.assert_array_equal(got, expected(np.float32(number)), str(number))
    assert written == [True] * len(compared)


def test_comparisons_of_ints_with_numbers_of_a_call(written: list[bool]) -> None:
    array = np.arange(256, dtype=np.uint8).reshape(4, 64)
    image, ints = Image(array, normalize=False), array.astype(int)
    differences = 2 * ints - np.pad(ints, ((0, 0), (0, 1)), "edge")[:, 1:]
    compared: dict[Any, Callable[[Any], Any]] = {
        lambda im, p, t: im(p) > t: lambda t: ints > t,
        lambda im, p, t: t <= im(p): lambda t: ints >= t,
        lambda im, p, t: 2 * im(p) - im(p + (1, 0)) < t: lambda t: differences < t,
    }
    for function, expected in compared.items():
        call = pygpu.compile(function, target="cpu", im=Image, p=Position, t=Int)
        for limit in (-(2**31), 2**31 - 1, *range(-300, 600, 3)):
            np.testing.assert_array_equal(call(image, t=limit), expected(limit), str(limit))
    assert written == [True] * len(compared)


class Maker:
    """Random functions of what narrow lanes hold."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def texel(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return f"im(p + ({pick(range(-2, 3))}, {pick(range(-2, 3))}))"
        a, b = self.texel(depth - 1), self.texel(pick(range(depth)))
        limit = f"{pick(range(-99, 600))} / 255"
        forms = (f"min({a}, {b})", f"max({a}, {b})", f"{pick(('min', 'max'))}({a}, {limit})")
        return pick((*forms, f"({a} if {self.condition(depth - 1)} else {b})"))

    def condition(self, depth: int) -> str:
        pick = self.random.choice
        test = pick(("<", "<=", ">", ">=", "==", "!="))
        if depth == 0:
            return f"({self.texel(0)} {test} {pick((self.texel(0), self.random.random()))})"
        a, b = self.whole(depth - 1), self.whole(pick(range(depth)))
        forms = (f"({a} {test} {b})", f"({a} {test} {pick(range(-3, 9))})")
        logic = f"({self.condition(depth - 1)} {pick(('and', 'or'))} not {self.condition(0)})"
        return pick((*forms, logic))

    def whole(self, depth: int) -> str:
        pick = self.random.choice
        if depth == 0:
            return pick(
                (f"int{self.condition(0)}", f"({pick(range(9))} if {self.condition(0)} else -3)")
            )
        a, b = self.whole(depth - 1), self.whole(pick(range(depth)))
        sums = [f"({a} {sign} {b})" for sign in "+-"]
        return pick((*sums, f"({a} * {pick(range(-5, 7))})", f"min({a}, {b})", f"({a} * {b})",
                     f"({a} if {self.condition(depth - 1)} else {b})"))  # fmt: skip


@pytest.mark.parametrize("seed", range(24))
def test_random_functions_of_bytes(
    seed: int, written: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    maker = Maker(seed)
    text = getattr(maker, ("texel", "whole", "condition")[seed % 3])(3)
    names: dict[str, Any] = {"Image": Image, "Position": Position}
    exec(f"def f(im: Image, p: Position):\n    return {text}\n", names)
    array = np.random.default_rng(seed).integers(0, 256, (29, 97), np.uint8)
    array[::3] //= 64
    for dtype in ("uint8", "int32") if seed % 3 == 1 else ("uint8",):
        found = results(names["f"], array, dtype=dtype)
        with monkeypatch.context() as patch:
            patch.setattr(Narrow, "of", lambda *given: None)
            np.testing.assert_array_equal(found, results(names["f"], array, dtype=dtype), text)
