"""`precision="fast"`: functions err by 2**-12 at most, on each target."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position

MOST = 2.0**-12
FUNCTIONS: dict[str, tuple[Any, Any, float, float]] = {
    "exp": (lambda v: math.exp(v), np.exp, -80, 80),
    "exp2": (lambda v: pygpu.exp2(v), np.exp2, -120, 120),
    "log": (lambda v: math.log(v), np.log, 1e-30, 9),
    "log2": (lambda v: pygpu.log2(v), np.log2, 1e-6, 4000),
    "log10": (lambda v: math.log10(v), np.log10, 1e-6, 4000),
    "root": (lambda v: v ** (1 / 3), np.cbrt, 1e-6, 1),
    "gamma": (lambda v: v**2.4, lambda v: v**2.4, 0, 1),
    "steep": (lambda v: v**-17.5, lambda v: v**-17.5, 0.02, 30),
    "square root": (lambda v: v**0.5, np.sqrt, 0, 1e6),
    "sine": (lambda v: math.sin(v) + 2, lambda v: np.sin(v) + 2, -50, 50),
    "tanh": (lambda v: math.tanh(v), np.tanh, -9, 9),
}


def compiled(name: str, target: str, **options: Any) -> Any:
    function = FUNCTIONS[name][0]

    def f(im: Image, p: Position) -> Any:
        return function(im(p))

    return pygpu.compile(f, target=target, **options)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_err_by_no_more_than_they_may(name: str, target: str) -> None:
    _, exact, low, high = FUNCTIONS[name]
    values = np.random.default_rng(1).uniform(low, high, (120, 131)).astype(np.float32)
    values[0] = np.linspace(max(low, 0.9), min(high, 1.1), 131)
    expected = exact(values.astype(np.float64))
    found = compiled(name, target, precision="fast")(values)
    assert np.abs(found - expected).max() < 1e38
    error = np.abs(found - expected)
    # 1e-6 is what the accurate ones may err by where a driver's logarithm nears 0.
    assert (error <= np.maximum(MOST * np.abs(expected), 0 if target == "cpu" else 1e-6)).all()


def test_ends_are_those_of_the_accurate_functions() -> None:
    values = np.array([[0.0, np.inf, np.nan, 1e-42, 1.0, -1.0, -0.0]], np.float32)
    for name in ("exp", "exp2", "log", "log2", "log10", "root", "gamma", "steep"):
        fast = compiled(name, "cpu", precision="fast")(values)
        np.testing.assert_allclose(fast, compiled(name, "cpu")(values), rtol=MOST, err_msg=name)


def test_equal_values_have_equal_bits() -> None:
    values = np.random.default_rng(2).random((50, 67), np.float32)
    f = compiled("gamma", "cpu", precision="fast")
    whole = f(values)
    np.testing.assert_array_equal(whole[3:40, 5:61], f(values[3:40, 5:61].copy()))


def test_it_is_another_program_and_stays_with_the_function() -> None:
    values = np.random.default_rng(3).random((30, 40), np.float32)
    fast, accurate = compiled("gamma", "cpu", precision="fast"), compiled("gamma", "cpu")
    assert (fast(values) != accurate(values)).any()
    np.testing.assert_array_equal(fast.on("cpu")(values), fast(values))


@pygpu.compile(target="cpu", precision="fast")
def tone(im: Image, p: Position) -> Any:
    return im(p) ** 0.45


def test_it_travels() -> None:
    values = np.random.default_rng(4).random((30, 40), np.float32)
    again = pickle.loads(pickle.dumps(tone))
    np.testing.assert_array_equal(again(values), tone(values))


def test_another_precision_is_refused() -> None:
    with pytest.raises(ValueError, match=r"precision='high': takes 'fast'"):
        compiled("gamma", "cpu", precision="high")


def test_functions_of_arrays_take_it(target: str) -> None:
    def power(v: float) -> float:
        return v**2.4

    values = np.random.default_rng(5).random(3000, np.float32)
    accurate = pygpu.vectorize(power, target=target)
    fast = pygpu.vectorize(power, target=target, precision="fast")
    for _ in range(2):  # the second call goes another way
        np.testing.assert_allclose(fast(values), values.astype(np.float64) ** 2.4, MOST, 1e-6)
    if target == "cpu":
        assert (fast(values) != accurate(values)).any()
    np.testing.assert_array_equal(fast.on(target)(values), fast(values))
    with pytest.raises(ValueError, match=r"precision=1: takes 'fast'"):
        pygpu.vectorize(power, precision=1)


def chain(im: Any) -> Any:
    return tone_of(half(tone_of(im)))


@pygpu.compile
def tone_of(im: Image, p: Position) -> Any:
    return im(p) ** 2.4 + im(p + (1, 0)) ** 2.4


@pygpu.compile
def half(im: Image, p: Position) -> Any:
    return im(p) * 0.25


def test_pipelines_make_all_that_they_call_fast() -> None:
    values = np.random.default_rng(6).random((70, 80), np.float32)
    accurate = pygpu.pipeline(chain, target="cpu")
    fast = pygpu.pipeline(chain, target="cpu", precision="fast")
    alone = [pygpu.compile(each.__wrapped__, target="cpu", precision="fast")
             for each in (tone_of, half)]  # fmt: skip
    expected = alone[0](alone[1](alone[0](values)))
    exact = accurate(values)
    for _ in range(2):
        np.testing.assert_array_equal(fast(values), expected)
        np.testing.assert_array_equal(accurate(values), exact)
    assert (expected != exact).any()
    np.testing.assert_array_equal(fast.on("cpu")(values), expected)
    with pytest.raises(ValueError, match=r"precision='low': takes 'fast'"):
        pygpu.pipeline(chain, precision="low")


def test_pages_of_fast_functions_have_fast_functions(tmp_path: Any) -> None:
    values = np.random.default_rng(7).random((30, 40), np.float32)
    pages = []
    for precision in (None, "fast"):
        page = pygpu.pipeline(chain, precision=precision).export(tmp_path / "page.html", values)
        single = compiled("gamma", "auto", precision=precision).export(tmp_path / "f.html", values)
        pages.append((page.read_text(), single.read_text()))
    for accurate, fast in zip(*pages, strict=True):
        assert "exp2" in fast
        assert fast != accurate
