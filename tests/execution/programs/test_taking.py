"""Arguments that native code takes from calls itself: results, errors and bits are those of other
calls."""

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Int, Position, Vec3
from pygpu.codegen.jobs import arrays
from pygpu.execution.programs import gate, passages

pytestmark = pytest.mark.skipif(not arrays.are_read(), reason="objects lie otherwise here")


@pytest.fixture
def looked_at(monkeypatch):
    """The calls whose arguments Python has looked at."""
    calls = []

    def take(*given):
        calls.append(given)
        return passages.take(*given)

    monkeypatch.setattr(gate, "take", take)
    return calls


def texels(seed: int, shape: Any = (7, 9)) -> Any:
    return np.random.default_rng(seed).random(shape, np.float32)


def mixed(a: Image, b: Image, p: Position, gain: Float = 0.5, tint: Vec3 = (1, 2, 3), n: Int = 2):
    return a(p) * gain + b(p + (1, 0)) * tint.x - tint.z, b(p) * n + tint.y


NUMBERS: Any = [
    *(0.1, -2.5, np.float64(0.1), np.float32(0.1), 0, 1, -1, -700, 2**30 - 1, 2**30, -(2**30)),
    *(2**40 + 1, float("inf"), 1e-42, 3.4028235677973362e38, np.int64(3), True),
]


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{type(number).__name__}-{number}")
def test_floats_come_in_as_any_number(number: Any) -> None:
    f = pygpu.compile(mixed, target="cpu")
    a, b = texels(0), texels(1)
    for _ in range(3):
        f(a, b, number)
        found = f(a, b, number, (number, 2, number), 3)
        expected = pygpu.compile(mixed, target="cpu")(a, b, number, (number, 2, number), 3)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("number", [0, 5, -7, 2**30 - 1, 2**30, -(2**30), 2**31 - 1, -(2**31)])
def test_ints_come_in_as_they_are(number: int) -> None:
    @pygpu.compile(target="cpu")
    def of(im: Image, p: Position, n: Int) -> Any:
        return n ^ (n >> 3)

    of(texels(0), 1)
    for _ in range(3):
        assert (of(texels(0), number) == (number ^ (number >> 3))).all()


def test_such_calls_are_not_looked_at(looked_at) -> None:
    f = pygpu.compile(mixed, target="cpu")
    outs = np.empty((7, 9), np.float32), np.empty((7, 9), np.float32)
    for out in (None, outs):
        for gain, tint in ((1.0, (1, 2.0, 3)), (0.25, (7, 0.5, 9))):
            found = f(texels(2), texels(3), gain, tint=tint, out=out)
            expected = pygpu.compile(mixed, target="cpu")(texels(2), texels(3), gain, tint)
            np.testing.assert_array_equal(found, expected)
            assert out is None or all(map(np.shares_memory, found, out))
    assert looked_at == []


@pytest.mark.parametrize(
    ("gain", "tint", "n", "message"),
    [
        (1e39, (1, 2, 3), 1, "gain: 1e\\+39 does not fit"),
        ("1", (1, 2, 3), 1, "gain: takes a float"),
        (1.0, (1, 2), 1, "tint: takes Vec3"),
        (1.0, (1, 2, -1e39), 1, "tint: -1e\\+39 does not fit"),
        (1.0, (1, 2, 3), 2**31, "n: 2147483648 does not fit"),
        (1.0, (1, 2, 3), 1.5, "n: takes an int"),
    ],
)
def test_numbers_that_do_not_fit_are_refused_after_ones_that_do(gain, tint, n, message) -> None:
    f = pygpu.compile(mixed, target="cpu")
    f(texels(0), texels(1), 1.0, (1, 2, 3), 1)
    for _ in range(2):
        with pytest.raises((TypeError, ValueError, OverflowError), match=message):
            f(texels(0), texels(1), gain, tint, n)


def test_results_may_go_to_no_array_that_is_read_or_written_otherwise() -> None:
    f = pygpu.compile(mixed, target="cpu")
    a, b, one, other = texels(0), texels(1), texels(2), texels(3)
    expected = f(a, b)
    f(a, b, out=(one, other))
    for outs in ((a, other), (one, b), (a, b)):
        kept = a.copy(), b.copy()
        np.testing.assert_array_equal(f(a, b, out=outs), expected)
        a[...], b[...] = kept
    shared = np.zeros(7 * 9 + 9, np.float32)
    halves = shared[:63].reshape(7, 9), shared[9:].reshape(7, 9)
    with pytest.raises(ValueError, match="out"):
        f(a, b, out=halves)
    one.flags.writeable = False
    for wrong in ((one, other), (other,), other, (other, other), (other, one.astype("f8"), one)):
        with pytest.raises((TypeError, ValueError), match="out"):
            f(a, b, out=wrong)


def test_other_arrays_after_such_give_what_they_give_alone() -> None:
    f = pygpu.compile(mixed, target="cpu")
    a, b = texels(0), texels(1)
    expected = f(a, b)
    wide = np.zeros((7, 20), np.float32)
    wide[:, 3:12] = a
    for other in (wide[:, 3:12], a.astype(">f4"), np.asfortranarray(a), a[::-1][::-1], a.tolist()):
        for _ in range(3):
            np.testing.assert_array_equal(f(other, b), expected)
            np.testing.assert_array_equal(f(a, b), expected)
    larger = texels(4, (9, 9))
    assert f(larger, larger)[0].shape == (9, 9)


def test_known_values_are_seen_to_change(looked_at) -> None:
    @pygpu.compile(target="cpu")
    def shifted(im: Image, p: Position, far: int, how: str = "right") -> Any:
        return im(p + (far, 0)) if how == "right" else im(p - (far, 0))

    a = texels(0)
    for _ in range(3):
        np.testing.assert_array_equal(shifted(a, 1)[:, :-1], a[:, 1:])
        np.testing.assert_array_equal(shifted(a, 2)[:, :-2], a[:, 2:])
        np.testing.assert_array_equal(shifted(a, 1, how="left")[:, 1:], a[:, :-1])
    looked_at.clear()
    shifted(a, 1, how="left")
    assert looked_at == []
