"""NumPy's folds of large images, NaNs left out or not, give NumPy's results in 64 bits."""

import warnings

import numpy as np
import pytest

from pygpu import Image, Signal, Volume

ANY = (np.nanmean, np.nansum, np.nanmax, np.nanmin, np.ptp, np.average, np.count_nonzero, np.any)
SPREADS = (np.var, np.std, np.nanvar, np.nanstd, lambda values, **given: values.std(**given))
PLACES = (np.argmax, np.argmin, np.nanargmax, np.nanargmin)
SHAPES = ((20_000,), (150, 130), (150, 130, 3), (10, 50, 60))
KINDS = ("float32", "float16", "uint8", "uint16", "int32", "bool", "nan", "inf", "far", "even")


@pytest.fixture(autouse=True)
def here(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images are those of the target."""
    monkeypatch.setenv("PYGPU_TARGET", target)


def drawn(shape, kind):
    """Numbers of a dtype, or floats with some that are special, far from 0 or all the same."""
    values = np.random.default_rng(len(kind)).random(shape) * 200 - 50 * (kind[0] not in "ub")
    if kind == "far":
        return (1e4 + values / 100).astype(np.float32)
    if kind == "even":
        return np.full(shape, 0.1, np.float32)
    array = values.astype(np.float32 if kind in ("nan", "inf") else kind)
    if kind in ("nan", "inf"):
        array.flat[7] = float(kind)
    return array


def image_of(array):
    if array.ndim == 1:
        return Signal(array)
    return Volume(array) if array.shape == (10, 50, 60) else Image(array)


def wide(array):
    """Texels as functions see them, floats in 64 bits."""
    if array.dtype.kind == "u":
        return (array.astype(np.float32) / np.iinfo(array.dtype).max).astype(np.float64)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def result(function, *args, **given):
    """What a function gives, or the error that it raises."""
    try:
        return np.asarray(function(*args, **given))
    except (TypeError, ValueError) as error:
        return type(error)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_they_are_numpys(shape, kind):
    array = drawn(shape, kind)
    image, texels = image_of(array), wide(array)
    axes = [None, 0, *([(0, 1)] if shape[-1] == 3 else [])]
    asked = [(function, {"axis": axis}) for function in ANY for axis in axes]
    asked += [(f, {"axis": axis, "ddof": 1}) for f in SPREADS for axis in axes]
    asked += [(function, {"axis": axis}) for function in PLACES for axis in axes[:2]]
    asked += [(np.nanmean, {"keepdims": True}), (np.var, {})]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function, given in asked:
            expected, found = result(function, texels, **given), result(function, image, **given)
            if isinstance(expected, type):
                assert found is expected, (function, given)
                continue
            about = f"{function.__name__} {given}"
            least = 1e-6 * float(np.nanmax(np.abs(np.where(np.isfinite(texels), texels, 0))))
            np.testing.assert_allclose(found, expected, 1e-4, least, err_msg=about)
            assert found.shape == expected.shape, about
