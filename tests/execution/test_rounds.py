"""Rounds that end when it is enough, and arguments that have another value in each round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Signal

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
    assert f.iterate(ONES, 3, pygpu.each([2.0, 3.0, 4.0, 9.0]))[0, 0] == 24
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
    ({"k": pygpu.each([1.0])}, ValueError, r"k=each\(...\) has 1 values for 2 rounds"),
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
