"""Medians, percentiles and quantiles of images, signals and volumes: NumPy's results, wherever they
are found."""

import warnings

import numpy as np
import pytest

import pygpu
from pygpu import Image, Signal, Volume
from pygpu.core.storage import NumberLike
from pygpu.devices import targets
from pygpu.image.functions import quantiles

METHODS = (
    "inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen "
    "weibull linear median_unbiased normal_unbiased lower higher midpoint nearest"
).split()
SHAPES = ((1,), (8,), (5000,), (64, 65), (65, 64, 3), (5, 30, 31))
DTYPES = ("float32", "float16", "uint8", "uint16", "int8", "int16", "int32")
SHARES = (0, 1.0, 0.5, 1 / 3, [0.02, 0.98], [0.1, 0.2, 0.3, 0.4, 0.5])
GREY = np.random.default_rng(3).random((70, 90), np.float32)


@pytest.fixture
def here(target: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Images are those of the target."""
    monkeypatch.setenv("PYGPU_TARGET", target)
    return target


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> None:
    """Images are the host's."""
    monkeypatch.setenv("PYGPU_TARGET", "cpu")


def image_of(array):
    if array.ndim == 1:
        return Signal(array)
    return Volume(array) if array.shape == (5, 30, 31) else Image(array)


def seen(array):
    if array.dtype.kind == "u":
        return array.astype(np.float32) / np.float32(np.iinfo(array.dtype).max)
    return array.astype(np.float32 if array.dtype.kind == "f" else np.int32)


def drawn(shape, dtype):
    values = np.random.default_rng(len(shape)).random(shape)
    lowest = 0 if dtype[0] == "u" else -100
    return (values * 200 + lowest).astype(dtype) / (64 if dtype[0] == "f" else 1)


def asked(array):
    """Functions of NumPy's with all that they are given besides an array."""
    for axis in (None, (0, 1)) if array.ndim == 3 and array.shape[2] == 3 else (None,):
        for function in (np.median, np.nanmedian):
            yield function, {"axis": axis}
        for method in METHODS:
            for q in SHARES:
                yield np.quantile, {"q": q, "axis": axis, "method": method}
            yield np.nanpercentile, {"q": [0, 33.3, 100], "axis": axis, "method": method}


def assert_same(expected, actual, about):
    np.testing.assert_array_equal(actual, expected, err_msg=str(about))
    assert np.asarray(actual).dtype == np.asarray(expected).dtype, about


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("dtype", DTYPES)
def test_each_method_gives_numpys_bits(dtype, monkeypatch):
    monkeypatch.setattr(quantiles, "LEAST", 0)
    for shape in SHAPES:
        array = drawn(shape, dtype).astype(dtype)
        for function, given in asked(array):
            expected = function(seen(array), **given)
            assert_same(expected, function(image_of(array), **given), (shape, function, given))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("shape", [(5000,), (65, 64, 3)])
def test_what_is_not_finite_is_numpys(shape, special):
    array = drawn(shape, "float32").astype(np.float32)
    array.flat[::3] = special
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function, given in asked(array):
            expected = function(array, **given)
            np.testing.assert_allclose(function(image_of(array), **given), expected, rtol=1e-6)


@pytest.mark.usefixtures("host")
def test_of_nans_alone_numpy_warns():
    image = Image(np.full((80, 80), np.nan, np.float32))
    assert np.isnan(np.percentile(image, [1, 2])).all()
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert np.isnan(np.nanmedian(image))


@pytest.mark.parametrize("dtype", ["float32", "uint8", "uint16", "int32"])
@pytest.mark.parametrize("shape", SHAPES[2:])
def test_what_hardware_sorts_is_read_at_its_places(here, shape, dtype, monkeypatch):
    monkeypatch.setattr(targets.choose("auto"), "is_hardware", True)
    array = drawn(shape, dtype).astype(dtype)
    image = image_of(array)
    assert_same(np.median(seen(array)), np.median(image), "median")
    assert_same(np.quantile(seen(array), [0, 0.3, 1]), np.quantile(image, [0, 0.3, 1]), "all")
    if array.ndim == 3 and array.shape[2] == 3:
        expected = np.percentile(seen(array), [2, 98], axis=(0, 1))
        assert_same(expected, np.percentile(image, [2, 98], axis=(0, 1)), "by channel")


def test_in_a_pipeline_they_stay_on_the_device(here):
    kinds = []

    @pygpu.pipeline
    def stretched(im):
        low, high = np.percentile(im * 2.0, [5, 95])
        kinds.append(isinstance(low, NumberLike))
        return (im * 2.0 - low) / (high - low) + np.median(im)

    low, high = np.percentile(GREY * 2, [5, 95])
    expected = (GREY * 2 - low) / (high - low) + np.median(GREY)
    for _ in range(2):
        np.testing.assert_allclose(stretched(GREY), expected, rtol=1e-5, atol=1e-5)
    assert kinds == [here in ("fragment", "compute")] * len(kinds)


@pytest.mark.parametrize("special", [1.0, np.nan])
def test_what_stays_is_what_numpy_gives(here, special):
    array = drawn((65, 64, 3), "float32").astype(np.float32)
    array[3, 3, 1] = special
    found = []

    @pygpu.pipeline
    def listed(im):
        found[:] = [function(im, **given) for function, given in given_here]
        return im

    given_here = [
        (np.median, {}),
        (np.nanmedian, {"axis": (0, 1)}),
        *[(np.quantile, {"q": SHARES[4], "method": each}) for each in METHODS[::4]],
        (np.quantile, {"q": 1 / 3, "axis": (0, 1)}),
        (np.nanpercentile, {"q": [0, 33.3, 100]}),
    ]
    listed(Image(array))
    for (function, given), actual in zip(given_here, found, strict=True):
        expected = function(array, **given)
        np.testing.assert_allclose(np.asarray(actual), expected, rtol=2e-6, err_msg=str(given))


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda im: np.percentile(im, 101), "range"),
        (lambda im: np.quantile(im, [0.5, 1.5]), "range"),
        (lambda im: np.quantile(im, 0.5, method="middle"), "middle"),
        (lambda im: np.median(im, axis=5), "axis 5"),
    ],
)
def test_what_numpy_refuses_is_refused(call, said):
    with pytest.raises((ValueError, np.exceptions.AxisError), match=said):
        call(Image(GREY))


LINES = ((40, 41), (9, 500), (40, 23, 3), (5, 30, 31), (6, 9, 40, 2))


def lines_of(shape):
    """An image's class, and the axes of its coordinates."""
    dims = len(shape) - (shape[-1] < 5)
    return (Volume if dims == 3 else Image), range(dims)


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("dtype", DTYPES)
def test_those_of_lines_are_numpys_bits(dtype, monkeypatch):
    monkeypatch.setattr(quantiles, "LEAST", 0)
    for shape in LINES:
        array, (kind, axes) = drawn(shape, dtype).astype(dtype), lines_of(shape)
        for axis in axes:
            calls = [(np.median, {}), (np.percentile, {"q": [2, 50, 98.0]})]
            calls += [(np.quantile, {"q": 1 / 3, "method": method}) for method in METHODS[::3]]
            for function, given in calls:
                expected = function(seen(array), axis=axis, **given)
                actual = function(kind(array), axis=axis, **given)
                assert_same(expected, actual, (shape, axis, function, given))


@pytest.mark.parametrize("is_hardware", [False, True])
@pytest.mark.parametrize("shape", [(40, 41), (9, 50, 3), (5, 30, 31)])
def test_lines_with_nans_are_numpys_on_each_target(here, shape, is_hardware, monkeypatch):
    monkeypatch.setattr(quantiles, "LEAST", 0)
    if here != "cpu":
        monkeypatch.setattr(targets.choose("auto"), "is_hardware", is_hardware)
    array, (kind, axes) = drawn(shape, "float32").astype(np.float32), lines_of(shape)
    array.flat[::37] = np.nan
    array[0] = np.nan
    for axis in axes:
        for function in (np.median, np.nanmedian, np.quantile, np.nanquantile):
            given = {"q": [0.25, 0.9]} if "quantile" in function.__name__ else {}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = function(array, axis=axis, **given)
                actual = function(kind(array), axis=axis, **given)
            np.testing.assert_allclose(actual, expected, rtol=1e-6, err_msg=str(function))


@pytest.mark.usefixtures("host")
def test_other_axes_and_arrays_to_fill_are_numpys():
    image, out = Image(GREY), np.zeros(90, np.float32)
    assert_same(np.median(GREY, axis=1), np.median(image, axis=1), "rows")
    assert_same(np.quantile(GREY, 0.2, keepdims=True), np.quantile(image, 0.2, keepdims=True), "")
    assert np.median(image, axis=0, out=out) is out
    assert_same(np.median(GREY, axis=0), out, "out")


@pytest.mark.usefixtures("host")
@pytest.mark.parametrize("method", METHODS)
def test_differences_of_ints_fit(method):
    """Those that NumPy makes of int32 do not: of -2e9 and 2e9 half way it finds 2147483648."""
    array = np.random.default_rng(2).integers(-(2**31), 2**31, (6, 7, 8)).astype(np.int32)
    for axis in (None, 0, 1, (0, 2)):
        for q in (50, [10, 35.5, 90]):
            given = {"axis": axis, "method": method, "keepdims": axis == 0}
            expected = np.percentile(array.astype(np.int64), q, **given)
            actual = np.percentile(Volume(array), q, **given)
            np.testing.assert_allclose(actual, expected, rtol=1e-12)
            assert actual.dtype == np.percentile(np.zeros_like(array), q, **given).dtype


def test_whole_arrays_in_pipelines_are_those_of_calls_alone(here):
    def steps(im):
        twice = im * 2.0
        return (
            pygpu.scan(np.add, twice, axis=1),
            pygpu.argsort(twice, axis=0),
            pygpu.sort(twice, axis=1, descending=True),
            pygpu.scatter(twice, lambda v, p: (p.x // 2, p.y // 2), (35, 45)),
        )

    for expected, actual in zip(steps(Image(GREY)), pygpu.pipeline(steps)(GREY), strict=True):
        np.testing.assert_allclose(actual, np.asarray(expected), rtol=1e-5)
