"""Rounds that end when it is enough, and arguments that have another value in each round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Signal
from pygpu.execution import iteration

ONES = np.ones((3, 4), np.float32)


def halve(im: Image, p: Position, k: float = 0.5) -> Any:
    return k * im(p)


def bitonic(x: Signal, p: Position, k: int, j: int) -> Any:
    other = p ^ j
    a, b = x(p), x(other)
    return min(a, b) if ((p & k) == 0) == (other > p) else max(a, b)


def butterfly(x: Signal, p: Position, half: int) -> Any:
    """A pass of Cooley and Tukey's FFT of elements (re, im), those of bits turned round first."""
    k = p % half
    start = p // (2 * half) * 2 * half
    a, b = x(start + k), x(start + k + half)
    angle = -np.pi * k / half
    c, s = np.cos(angle), np.sin(angle)
    turned = pygpu.Vec2(c * b.x - s * b.y, s * b.x + c * b.y)
    return a + turned if p - start < half else a - turned


@pytest.mark.parametrize(("every", "rounds"), [(1, 4), (3, 6), (5, 5), (None, 16)])
def test_rounds_end_when_it_is_enough(target: str, every: Any, rounds: int) -> None:
    asked = []

    def enough(im: Any) -> Any:
        asked.append(im)
        return im.max() < 0.1

    f = pygpu.compile(halve, target=target)
    found = f.iterate(ONES, 40, until=enough, every=every)
    assert found[0, 0] == np.float32(0.5**rounds)
    assert len(asked) == rounds // (every or 16)
    assert isinstance(asked[0], Image)


def test_it_is_asked_at_the_end() -> None:
    asked = []
    f = pygpu.compile(halve, target="cpu")
    found = f.iterate(ONES, 5, until=lambda im: bool(asked.append(im.max())), every=3)
    assert asked == [0.5**3, 0.5**5]
    assert found[0, 0] == 0.5**5


def test_what_comes_back_is_what_went_in() -> None:
    f = pygpu.compile(halve, target="cpu")
    out = np.empty((3, 4), np.uint8)
    same = f.iterate(ONES, 9, until=lambda im: im.max() < 0.3, every=1, out=out)
    assert same is out
    assert out[0, 0] == 64
    image = f.iterate(Image(ONES, boundary="wrap"), 9, until=lambda im: True, every=2)
    assert isinstance(image, Image)
    assert image.boundary == "wrap"
    assert np.asarray(image)[0, 0] == 0.25


def test_all_images_of_the_state_are_given() -> None:
    @pygpu.compile(target="cpu")
    def both(u: Image, v: Image, p: Position) -> Any:
        return u(p) + 1, v(p) * 2

    u, v = both.iterate((ONES, ONES), 20, until=lambda u, v: v.max() > u.max() + 3, every=1)
    assert (u[0, 0], v[0, 0]) == (4, 8)


def test_arguments_differ_from_round_to_round(target: str) -> None:
    f = pygpu.compile(halve, target=target)
    assert f.iterate(ONES, 3, pygpu.each([2.0, 3.0, 4.0]))[0, 0] == 24
    assert f.iterate(ONES, 3, k=pygpu.each(iter([2.0, 3.0, 4.0])))[0, 0] == 24
    assert f.iterate(ONES, 0, pygpu.each([]))[0, 0] == 1
    ended = f.iterate(ONES, 3, pygpu.each([2.0, 3.0, 4.0]), until=lambda im: True, every=2)
    assert ended[0, 0] == 6


def test_images_differ_from_round_to_round() -> None:
    @pygpu.compile(target="cpu")
    def add(im: Image, other: Image, p: Position) -> Any:
        return im(p) + other(p)

    frames = [np.full((3, 4), k, np.float32) for k in (1, 10, 100)]
    assert add.iterate(ONES, 3, pygpu.each(frames))[0, 0] == 112


def test_bitonic_sort(target: str) -> None:
    x = np.random.default_rng(0).random(64).astype(np.float32)
    passes = [(1 << k, 1 << j) for k in range(1, 7) for j in range(k - 1, -1, -1)]
    ks, js = zip(*passes, strict=True)
    f = pygpu.compile(bitonic, target=target)
    found = f.iterate(x, len(passes), pygpu.each(ks), pygpu.each(js))
    np.testing.assert_array_equal(found, np.sort(x))


def test_fourier_transform(target: str) -> None:
    x = np.random.default_rng(0).normal(size=(256, 2)).astype(np.float32)
    turned = [int(f"{i:08b}"[::-1], 2) for i in range(256)]
    f = pygpu.compile(butterfly, target=target)
    found = f.iterate(x[turned], 8, pygpu.each([1 << k for k in range(8)]))
    expected = np.fft.fft(x[:, 0] + 1j * x[:, 1])
    np.testing.assert_allclose(found[:, 0] + 1j * found[:, 1], expected, atol=1e-4)


WRONG: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"until": 3}, TypeError, "until takes a function"),
    ({"every": 3}, TypeError, "every= needs until="),
    ({"until": all, "every": 0}, ValueError, "1 round or more"),
    ({"until": all, "every": 1.5}, TypeError, "a number of rounds"),
    ({"until": lambda im: im > 0.5, "every": 1}, TypeError, "until gives a number"),
    ({"until": lambda im: None, "every": 1}, TypeError, "until gives a number"),
    ({"until": lambda im: "done", "every": 1}, TypeError, "until gives a number"),
    ({"k": pygpu.each([1.0])}, ValueError, r"k=each\(...\) has 1 values for 2 rounds"),
    ({"k": pygpu.each([1.0, 2.0, 3.0])}, ValueError, r"has 3 values for 2 rounds"),
]


@pytest.mark.parametrize(("options", "error", "text"), WRONG)
def test_wrong_calls_say_what_is_taken(
    options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        pygpu.compile(halve, target="cpu").iterate(ONES, 2, **options)


def test_values_are_an_iterable() -> None:
    with pytest.raises(TypeError, match="each: takes values"):
        pygpu.each(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="k"):
        pygpu.compile(halve, target="cpu")(ONES, pygpu.each([1.0]))


def near(u: Image, p: Position, k: float = 0.25) -> Any:
    return k * (u(p + (0, -1)) + u(p + (0, 1)) + u(p + (-1, 0)) + u(p + (1, 0)))


def far(u: Image, p: Position, k: float = 0.25) -> Any:
    return k * (u(p - (0, 9)) + u(p + (3, 11)) + u(p) + 1)


def alone(u: Image, p: Position, k: float = 0.25) -> Any:
    return u(p) * k + u(p) * u(p)


def turned(u: Image, p: Position, k: float = 0.25) -> Any:
    return 0.5 * u(Position(u.width - 1 - p.x, u.height - 1 - p.y)) + k * u(p)


def jumping(u: Image, p: Position, k: float = 0.25) -> Any:
    texel = u(p)
    return 0.5 * u(p + (int(10 * k), int(4 * np.max(texel)))) + k


def round_by_round(f: Any, image: Any, rounds: int, *args: Any) -> Any:
    for _ in range(rounds):
        image = f(image, *args)
    return np.asarray(image)


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
@pytest.mark.parametrize("function", [near, far, alone, turned, jumping])
def test_rounds_at_once_give_what_rounds_one_by_one_do(
    function: Any, boundary: str, threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_THREADS", threads)
    f = pygpu.compile(function, target="cpu")
    random = np.random.default_rng(5)
    for shape in ((1, 1), (5, 400), (64, 64), (103, 210), (97, 70, 3)):
        image = Image(random.random(shape, np.float32), boundary=boundary)
        for rounds in (2, 3, 8):
            expected = round_by_round(f, image, rounds, 0.2)
            np.testing.assert_array_equal(f.iterate(image, rounds, 0.2), expected)


@pytest.mark.parametrize("threads", ["1", "4"])
def test_rounds_of_several_images_of_several_types(
    threads: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_THREADS", threads)

    @pygpu.compile(target="cpu")
    def react(u: Image, n: Image, fixed: Image, p: Position, rate: float = 0.1) -> Any:
        around = u(p + (1, 0)) + u(p - (1, 0)) + u(p + (0, 2)) + u(p - (0, 2))
        return u(p) + rate * (around - 4 * u(p)) * fixed(p), n(p + (0, 1)) * 5 + int(9 * u(p))

    random = np.random.default_rng(6)
    u, fixed = random.random((157, 90), np.float32), random.integers(0, 256, (157, 90), np.uint8)
    n = random.integers(-99, 99, (157, 90), np.int32)
    expected: Any = u, n
    for _ in range(21):
        expected = react(*expected, fixed, 0.15)
    found = react.iterate((u, n), 21, fixed, rate=0.15)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_bytes_go_in_and_come_out_and_are_not_rounded_between() -> None:
    f = pygpu.compile(near, target="cpu")
    image = np.random.default_rng(7).integers(0, 256, (120, 77), np.uint8)
    floats = round_by_round(f, image, 9)
    np.testing.assert_array_equal(f.iterate(image, 9), floats)
    out = np.empty_like(image)
    f.iterate(image, 9, out=out)
    np.testing.assert_array_equal(out, np.rint(floats * 255).astype(np.uint8))


def test_rounds_at_once_with_a_value_for_each() -> None:
    f = pygpu.compile(near, target="cpu")
    image = np.random.default_rng(8).random((150, 80), np.float32)
    values = [0.2 + 0.01 * k for k in range(12)]
    expected = image
    for value in values:
        expected = f(expected, value)
    np.testing.assert_array_equal(f.iterate(image, 12, pygpu.each(values)), expected)


@pytest.mark.parametrize("shape", [(19, 7), (33, 64), (20, 9, 3)])
def test_rounds_of_rows_that_are_computed_as_one(shape: tuple[int, ...]) -> None:
    f = pygpu.compile(lambda im, p: im(p - (0, 1)) * 0.5, im=Image, p=Position, target="cpu")
    image = np.random.default_rng(0).random(shape, np.float32)
    shifted = np.concatenate([image[:1]] * 4 + [image[:-4]])
    np.testing.assert_array_equal(f.iterate(image, 4), shifted / 16)


def test_many_threads_make_many_rounds_of_small_images() -> None:
    f = pygpu.compile(near, target="cpu")
    image = np.random.default_rng(9).random((64, 130), np.float32)
    expected = round_by_round(f, image, 200)
    for _ in range(20):
        np.testing.assert_array_equal(f.iterate(image, 200), expected)


def test_many_rounds_are_made_by_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration, "_TOGETHER", 7)
    f = pygpu.compile(near, target="cpu")
    image = np.random.default_rng(11).random((20, 30), np.float32)
    for count in (6, 7, 8, 29):
        np.testing.assert_array_equal(f.iterate(image, count), round_by_round(f, image, count))
    values = [0.2 + 0.01 * k for k in range(17)]
    expected = image
    for value in values:
        expected = f(expected, value)
    np.testing.assert_array_equal(f.iterate(image, 17, pygpu.each(values)), expected)


def test_rounds_until_something_are_those_before_it() -> None:
    f = pygpu.compile(near, target="cpu")
    image = np.random.default_rng(10).random((64, 130), np.float32)
    image[0] = 0
    done = []

    def enough(im: Any) -> bool:
        done.append(float(im.max()))
        return len(done) == 3

    found = f.iterate(image, 500, 0.24, until=enough, every=7)
    np.testing.assert_array_equal(found, round_by_round(f, image, 21, 0.24))
    assert len(done) == 3


def test_values_for_each_round_are_no_text() -> None:
    with pytest.raises(TypeError, match="each: takes values, one for each round, got 'x'"):
        pygpu.each("x")
