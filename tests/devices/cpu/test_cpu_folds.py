"""Sums and extremes of whole images by native code: what NumPy gives, of every dtype and size."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pygpu
from pygpu import Image
from pygpu.devices import targets
from pygpu.devices.cpu import folds
from pygpu.execution.folds import totals

RNG = np.random.default_rng(8)
SHAPES = [
    (1, 1),
    (7, 3),
    (13, 5, 3),
    (260, 260),
    (333, 517),
    (1024, 1030),
    (195, 197, 2),
    (201, 303, 3),
    (130, 131, 4),
]
DTYPES = ["float32", "uint8", "uint16", "int8", "int16", "int32", "bool", "float16"]


@pytest.fixture(autouse=True)
def of_any_size(on_cpu, monkeypatch):
    """Native code folds, however few texels there are."""
    monkeypatch.setattr(folds, "LEAST", dict.fromkeys(folds.LEAST, 1))
    monkeypatch.setattr(folds, "LINES_LEAST", 1)
    monkeypatch.setattr(totals, "NATIVE", 1)


def texels(dtype, shape):
    if dtype.startswith("float"):
        return RNG.normal(0, 50, shape).astype(dtype)
    if dtype == "bool":
        return RNG.random(shape) < 0.3
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


def image_of(array):
    return Image(array, normalize=False) if array.dtype.kind == "u" else Image(array)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shape", [(5, 64), (130, 259), (260, 64, 3), (3, 5, 200), (2, 66, 70), (4, 3, 90, 2)]
)
def test_sums_of_lines_are_numpys_in_64_bits(shape, dtype):
    array = texels(dtype, shape)
    kind = Image if len(shape) == 2 or shape[-1] == 3 else pygpu.Volume
    image = kind(array, normalize=False) if array.dtype.kind == "u" else kind(array)
    wide = np.float64 if array.dtype.kind == "f" else np.int64
    for count in range(1, len(shape) + 1):
        for axis in itertools.combinations(range(len(shape)), count):
            expected, found = np.sum(array, axis, wide), image.sum(axis=axis)
            if wide is np.int64:
                np.testing.assert_array_equal(found, expected)
            else:
                limit = 1e-12 * np.abs(array.astype(wide)).sum(axis)
                assert np.all(np.abs(found - expected) <= limit)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(130, 259), (70, 300), (90, 61, 3), (40, 9, 70)])
def test_deviations_are_numpys(shape, dtype):
    array = texels(dtype, shape)
    image = pygpu.Volume(array) if shape[-1] == 70 else Image(array)
    seen = array / np.iinfo(dtype).max if array.dtype.kind == "u" else array.astype(np.float64)
    near = 1e-7 if array.dtype.kind == "u" else 1e-12  # a texel is v / 65535 to 1 ulp of a float
    for count in range(len(shape) + 1):
        for axis in itertools.combinations(range(len(shape)), count):
            along = axis or None
            expected = np.std(seen, along)
            np.testing.assert_allclose(image.std(axis=along), expected, 1e-5, near)
            np.testing.assert_allclose(np.var(image, along), expected**2, 1e-5, near / 100)
            expected = np.std(seen, along, ddof=1, keepdims=True)
            found = image.std(axis=along, ddof=1, keepdims=True)
            np.testing.assert_allclose(found, expected, 1e-5, near)


def test_deviations_of_large_numbers_lie_around_their_mean():
    array = 1e5 + np.random.default_rng(0).random((300, 500))
    found = Image(array).std(axis=0)
    np.testing.assert_allclose(found, array.astype(np.float32).std(0, np.float64), 1e-9)


def test_deviations_keep_what_is_no_number():
    array = texels("float32", (200, 300))
    array[3, 4], array[5, 6] = np.nan, np.inf
    for axis in (None, 0, 1):
        with np.errstate(invalid="ignore"):
            expected = array.std(axis, np.float64)
            np.testing.assert_allclose(Image(array).std(axis=axis), expected, 1e-6)


@pytest.mark.parametrize("axis", [0, 1])
def test_sums_of_lines_are_made_natively(axis):
    array = texels("float32", (300, 500))
    sums = targets.choose("auto").line_sums(array, axis)
    np.testing.assert_allclose(sums, array.sum(axis, np.float64), atol=1e-9)


def test_sums_of_lines_keep_what_is_no_number():
    array = texels("float32", (200, 300))
    array[3, 4], array[5, 6], array[5, 299] = np.nan, np.inf, -np.inf
    for axis in (0, 1):
        with np.errstate(invalid="ignore"):
            found, expected = Image(array).sum(axis=axis), array.sum(axis, np.float64)
        np.testing.assert_allclose(found, expected)


def assert_numpys(array):
    image, wide = image_of(array), np.float64 if array.dtype.kind == "f" else np.int64
    for axis in (None, (0, 1), (1, 0), (-3, -2) if array.ndim == 3 else (-1, -2)):
        summed = array.sum(axis, dtype=wide)
        np.testing.assert_allclose(image.sum(axis), summed, rtol=1e-12, atol=1e-9)
        np.testing.assert_array_equal(image.min(axis), array.min(axis))
        np.testing.assert_array_equal(image.max(axis), array.max(axis))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_every_dtype_is_folded_as_numpy_does(dtype, shape):
    assert_numpys(texels(dtype, shape))


@pytest.mark.parametrize("level", ["sse2", "sse4.2", "avx2"])
@pytest.mark.parametrize("dtype", ["float32", "uint8", "int16", "int32"])
def test_every_processor_folds_so(level, dtype, monkeypatch):
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    for shape in ((150, 150), (301, 203, 3)):
        assert_numpys(texels(dtype, shape))


def test_it_is_native_code_that_folds():
    array = texels("float32", (300, 300, 1))
    found = targets.choose("cpu").texels(array, "sum", 1)
    assert found.dtype == np.float64
    assert targets.choose("cpu").texels(array, "max", 1) == array.max()
    np.testing.assert_allclose(found, [array.sum(dtype=np.float64)], rtol=1e-12)


def test_nan_and_infinity_come_through():
    array = texels("float32", (200, 210))
    array[7, 9] = np.inf
    assert Image(array).max() == np.inf
    assert Image(array).sum() == np.inf
    array[150, 3] = np.nan
    for folded in (Image(array).min(), Image(array).max(), Image(array).sum()):
        assert np.isnan(folded)


@pytest.mark.parametrize("level", ["sse2", "avx2", ""])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_nan_is_the_extreme_of_its_channel_alone(level, channels, monkeypatch):
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    for place in (0, 1, 17, 40, 5000, 33_000, -1):
        array = texels("float32", (180, 190, channels))
        array.reshape(-1)[place] = np.nan
        for name in ("min", "max"):
            found = getattr(Image(array), name)(axis=(0, 1))
            np.testing.assert_array_equal(found, getattr(array, name)(axis=(0, 1)).squeeze())


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
@pytest.mark.parametrize("shape", [(512, 640), (511, 641)])
def test_folds_asked_for_again_are_equal(dtype, shape):
    array = texels(dtype, shape)
    image, scaled = image_of(array), Image(array)
    for name in ("sum", "mean", "min", "max"):
        first = [getattr(each, name)() for each in (image, scaled)]
        for _ in range(3):
            again = [getattr(each, name)() for each in (image, scaled)]
            assert again == first
            assert list(map(type, again)) == list(map(type, first))
        wide = {} if name in ("min", "max") else {"dtype": np.float64}
        assert first[0] == pytest.approx(getattr(array, name)(**wide), rel=1e-9, abs=1e-6)


@pytest.mark.parametrize("threads", [1, 2, 3, 5])
def test_any_number_of_threads_folds_so(threads, monkeypatch):
    monkeypatch.setenv("PYGPU_THREADS", str(threads))
    image = Image(texels("int32", (1100, 1000)))
    expected = np.asarray(image).sum(dtype=np.int64)
    with ThreadPoolExecutor(3) as callers:
        found = list(callers.map(lambda _: image.sum(), range(60)))
    assert found == [expected] * 60


def test_extremes_at_either_end():
    for place in (0, -1, 70_000):
        array = np.zeros(90_007, np.int32)
        array[place] = -(2**31)
        assert Image(array.reshape(1, -1)).min() == -(2**31)
        array[place] = 2**31 - 1
        assert Image(array.reshape(-1, 1)).max() == 2**31 - 1


def test_largest_texels_do_not_overflow():
    for dtype in ("uint16", "int32", "uint8"):
        top = np.iinfo(dtype).max
        assert image_of(np.full((1200, 1100), top, dtype)).sum() == 1200 * 1100 * top


def test_texels_are_counted_as_functions_see_them():
    array = texels("uint8", (140, 150, 3))
    np.testing.assert_allclose(Image(array).sum((0, 1)), array.sum((0, 1)) / 255)
    np.testing.assert_allclose(Image(array).mean(), array.mean() / 255)
    np.testing.assert_allclose(Image(array).max(), array.max() / 255, rtol=1e-6)


def test_sums_of_floats_err_by_little():
    array = (RNG.random((2000, 1500)) - 0.5).astype(np.float32)
    exact = array.sum(dtype=np.longdouble)
    assert abs(Image(array).sum() - exact) <= 1e-12 * np.abs(array).sum(dtype=np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8", "bool"])
@pytest.mark.parametrize("shape", [(9,), (140_011,), (3, 5), (301, 703), (4, 30, 50)])
def test_places_of_extremes_are_numpys(dtype, shape):
    array = (np.random.default_rng(3).normal(size=shape) * 3).astype(dtype)
    flat = array.reshape(-1)
    flat[-1], flat[-2] = flat.max(), flat.min()  # in what is left of whole vectors, not the first
    arrays = [array]
    if dtype.startswith("float"):
        holed = array.copy()
        holed.reshape(-1)[[-1, flat.size // 2]] = np.nan
        arrays.append(holed)
    for each in arrays:
        given = pygpu.Volume(each) if len(shape) == 3 else each
        for function in (np.argmax, np.argmin):
            for _ in range(2):  # as it is decided, and as it is remembered
                found = pygpu.reduce(function, given, target="cpu")
                expected = np.unravel_index(function(each), shape)
                assert np.asarray(found).reshape(-1).tolist() == [int(x) for x in expected[::-1]]


@pytest.mark.parametrize("shape", [(1000, 777), (20000, 15), (20000, 16), (7, 4096), (7, 4097)])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_running_folds_of_many_lines(shape: tuple[int, int], dtype: str) -> None:
    is_float = dtype == "float32"
    array = (RNG.random(shape) * 2**20 - 2**19).astype(dtype)
    if is_float:
        array[3, 5:9] = (np.inf, 1, np.nan, 2)
    wide = np.float64 if is_float else np.int32
    for ufunc in (np.add, np.maximum, np.minimum):
        for reverse in (False, True):
            lines = array[:, ::-1] if reverse else array
            with np.errstate(invalid="ignore"):
                expected = ufunc.accumulate(lines, axis=1, dtype=wide)
            found = pygpu.scan(ufunc, array, reverse=reverse, target="cpu")
            expected = expected[:, ::-1] if reverse else expected
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=100 if is_float else 0)
