"""Convolutions, correlations, sums of products and counts of signals: NumPy's results, where they
are."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Signal

GENERATOR = np.random.default_rng(5)
SIZES = ((1, 1), (5, 1), (1, 5), (10, 3), (10, 4), (3, 10), (4, 9), (8, 8), (300, 70))


@pytest.fixture(autouse=True)
def here(target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Images are those of the target."""
    monkeypatch.setenv("PYGPU_TARGET", target)
    return target


def drawn(count, kind):
    if kind == "float":
        return GENERATOR.normal(size=count).astype(np.float32)
    return GENERATOR.integers(-90, 90, count).astype(np.int32)


@pytest.mark.parametrize("function", [np.convolve, np.correlate])
@pytest.mark.parametrize("kinds", ["float float", "int int", "int float"])
def test_what_slides_over_a_signal_is_numpys(here, function, kinds):
    for sizes in SIZES:
        a, v = (drawn(*pair) for pair in zip(sizes, kinds.split(), strict=True))
        for mode in ("full", "same", "valid"):
            expected = function(a, v, mode)
            for pair in ((Signal(a), v.tolist()), (a, Signal(v)), (Signal(a), Signal(v))):
                found = function(*pair, mode=mode)
                assert isinstance(found, Signal)
                assert found.dtype == (np.float32 if "float" in kinds else np.int32)
                limit = 2e-6 * min(sizes) * abs(a).max() * abs(v).max() if "float" in kinds else 0
                np.testing.assert_allclose(np.asarray(found), expected, 1e-6, limit)
    assert bool(found.storage.copies) == (here in ("fragment", "compute"))


def test_what_is_outside_is_not_multiplied():
    a, v = np.ones(40, np.float32), np.array([np.inf, 1, np.nan], np.float32)
    with np.errstate(invalid="ignore"):
        expected = np.convolve(a, v)
    np.testing.assert_array_equal(np.asarray(np.convolve(Signal(a), v)), expected)


@pytest.mark.parametrize("function", [np.dot, np.inner, np.vdot])
def test_sums_of_products_are_numpys(function):
    for count in (1, 10, 3000):
        a, b = drawn(count, "float"), drawn(count, "float")
        limit = 1e-6 * float(abs(a * b).sum())
        for pair in ((Signal(a), b), (a, Signal(b)), (Signal(a), Signal(b))):
            np.testing.assert_allclose(function(*pair), function(a, b), atol=limit)
    a = drawn(50, "int")
    assert function(Signal(a), Signal(a)) == function(a, a)
    large = np.full(3, 2**30, np.int32)
    assert function(Signal(large), large) == 3 * 2**60  # does not wrap


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "uint16", "int32"])
def test_counts_are_numpys(dtype):
    numbers = (GENERATOR.integers(0, 100, 3000)).astype(dtype)
    signal, weights = Signal(numbers, normalize=False), drawn(3000, "float")
    for given in ({}, {"minlength": 300}):
        found, expected = np.bincount(signal, **given), np.bincount(numbers, **given)
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    for each in (weights, Signal(weights), drawn(3000, "int")):
        expected = np.bincount(numbers, np.asarray(each))
        np.testing.assert_allclose(np.bincount(signal, each), expected, atol=1e-3)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: np.bincount(Signal(np.array([-1, 2]))), "negative"),
        (lambda: np.bincount(Signal(np.array([1, 2])), minlength=-1), "minlength"),
        (lambda: np.bincount(Signal(np.array([0.5]))), "cast"),
        (lambda: np.bincount(Signal(np.array([1, 2])), [1, 2, 3]), "length"),
        (lambda: np.dot(Signal(np.ones(3)), np.ones(4)), "aligned"),
        (lambda: np.convolve(Signal(np.ones(3)), []), "empty"),
        (lambda: np.convolve(Signal(np.ones(3)), [1], "odd"), "odd"),
        (lambda: np.convolve(Image(np.ones((3, 3))), [1]), "too deep"),
    ],
)
def test_what_numpy_refuses_is_refused(call, said):
    with pytest.raises((ValueError, TypeError), match=said):
        call()


def test_ints_that_do_not_fit_are_refused():
    large = Signal(np.full(10, 2**30, np.int32))
    with pytest.raises(OverflowError):
        np.convolve(large, [1, 1])


def test_in_a_pipeline_a_sum_of_products_stays(here):
    a = drawn(400, "float")

    @pygpu.pipeline
    def normed(x: Signal):
        y = x * 2.0
        return y / np.dot(y, y) ** 0.5

    np.testing.assert_allclose(normed(a), a / np.linalg.norm(a), rtol=1e-5, atol=1e-6)
