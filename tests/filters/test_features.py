"""Edges, corners, textures, gradients: as scikit-image finds them."""

import numpy as np
import pytest
import skimage.data
import skimage.feature as reference
from numpy.testing import assert_allclose, assert_array_equal

import pygpu
from pygpu import filters

pytestmark = pytest.mark.usefixtures("on_cpu")

BYTES = pygpu.data.astronaut()[100:231, 150:301]
PHOTO = BYTES / np.float32(255)
GREY = np.ascontiguousarray(PHOTO @ np.float32([0.2125, 0.7154, 0.0721]))
COINS = skimage.data.coins()[:151, :203]
NOISE = np.random.default_rng(0).random((61, 73)).astype(np.float32)


@pytest.mark.parametrize("image", [GREY, COINS, NOISE], ids=["photo", "coins", "noise"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sigma": 2.5},
        {"sigma": 0.5, "mode": "reflect"},
        {"use_quantiles": True, "low_threshold": 0.7, "high_threshold": 0.9},
    ],
)
def test_canny(image, options) -> None:
    expected = reference.canny(image, **options)
    assert expected.any()
    for _ in range(2):  # its passes together are other programs the second time
        actual = filters.canny(image, **options)
        assert actual.dtype == bool
        assert (actual != expected).mean() < 2e-3  # where two gradients are about as long


@pytest.mark.parametrize("value", [0, 0.3, 0.5, 1, 200])
def test_an_image_of_one_value_has_no_edges_by_quantiles(value) -> None:
    """Its gradient is what rounding makes of it, of which quantiles are thresholds, too."""
    image = np.full((40, 50), value, np.float32)
    for low, high in ((0.1, 0.2), (0.5, 0.9), (0, 0), (1, 1)):
        edges = filters.canny(image, 1.5, low, high, use_quantiles=True)
        assert not np.any(edges)


def test_canny_by_thresholds_and_a_mask() -> None:
    options = {"low_threshold": 0.05, "high_threshold": 0.15}
    mask = np.hypot(*np.mgrid[-65:66, -75:76]) < 60
    for more in ({}, {"mask": mask}):
        expected = reference.canny(GREY, **options, **more)
        assert (filters.canny(GREY, **options, **more) != expected).mean() < 2e-3
    bytes_ = {name: 255 * value for name, value in options.items()}
    expected = reference.canny(COINS, **bytes_)
    assert (filters.canny(COINS, **options) != expected).mean() < 2e-3


@pytest.mark.parametrize("options", [{}, {"method": "eps"}, {"k": 0.2, "sigma": 3}])
def test_corner_harris(options) -> None:
    expected = reference.corner_harris(GREY, **options)
    actual = filters.corner_harris(GREY, **options)
    assert_allclose(actual, expected, atol=2e-6 * np.abs(expected).max())


@pytest.mark.filterwarnings("ignore:Applying")
@pytest.mark.parametrize("method", ["default", "ror", "uniform", "nri_uniform"])
@pytest.mark.parametrize(("points", "radius"), [(8, 1), (4, 2.5), (12, 3)])
def test_local_binary_pattern(points, radius, method) -> None:
    expected = reference.local_binary_pattern(NOISE, points, radius, method)
    actual = filters.local_binary_pattern(NOISE, points, radius, method)
    assert actual.dtype == np.int32
    assert (actual != expected).mean() < 1e-3
    inside = np.s_[4:-4, 4:-4]  # of bytes that are even, scikit-image's sums are as they round
    expected = reference.local_binary_pattern(COINS, points, radius, method)[inside]
    actual = filters.local_binary_pattern(COINS, points, radius, method)[inside]
    assert (actual != expected).mean() < 0.05


@pytest.mark.filterwarnings("ignore:Applying")
@pytest.mark.parametrize(("points", "radius"), [(8, 1), (4, 2.5), (1, 1)])
def test_variance_of_points_on_a_circle(points, radius) -> None:
    image = NOISE.copy()
    image[:9] = 0.3  # even: NaN
    expected = reference.local_binary_pattern(image.astype(float), points, radius, "var")
    actual = filters.local_binary_pattern(image, points, radius, "var")
    assert actual.dtype == np.float32
    away = np.r_[4:6, 14 : len(image)]  # of what is even, scikit-image's sums are as they round
    assert_allclose(actual[away], np.where(expected > 1e-12, expected, np.nan)[away], atol=1e-6)


def test_local_binary_pattern_of_an_even_image() -> None:
    even = np.full((9, 9), 0.3, np.float32)
    assert (filters.local_binary_pattern(even, 8, 1)[2:-2, 2:-2] == 255).all()


@pytest.mark.parametrize("image", [GREY, PHOTO, BYTES], ids=["grey", "colours", "bytes"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"orientations": 6, "pixels_per_cell": (7, 10), "cells_per_block": (2, 1)},
        {"block_norm": "L1"},
        {"block_norm": "L1-sqrt", "feature_vector": False},
        {"block_norm": "L2", "transform_sqrt": True},
    ],
)
def test_hog(image, options) -> None:
    axis = -1 if image.ndim == 3 else None
    expected = reference.hog(image, channel_axis=axis, **options)
    actual = filters.hog(image, **options)
    assert actual.shape == expected.shape
    error = np.abs(actual - expected)
    # A gradient may be on the edge of two bins, or of two channels as long.
    assert np.quantile(error, 0.98) < (5e-3 if "transform_sqrt" in options else 1e-3)
    assert error.max() < 0.1


def test_results_have_the_form_of_what_was_given() -> None:
    edges = filters.canny(pygpu.Image(GREY))
    assert isinstance(edges, pygpu.Image)
    assert_array_equal(np.asarray(edges), filters.canny(GREY))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.canny(PHOTO), "canny takes an image of 1 channel, got 3: rgb2gray"),
        (lambda: filters.canny(GREY, 1, 0.5, 0.2), "low_threshold=0.5 is above"),
        (lambda: filters.canny(GREY, 1, 5, 9, use_quantiles=True), "from 0 to 1"),
        (lambda: filters.canny(GREY, mask=GREY[1:] > 0), "canny: a mask has the image's size"),
        (lambda: filters.canny(GREY, mask=PHOTO > 0), "canny: a mask has the image's size"),
        (lambda: filters.canny(GREY, sigma=1e9), "sigma times truncate takes less than 65536"),
        (lambda: filters.corner_harris(GREY, "best"), "method takes 'k' or 'eps'"),
        (lambda: filters.local_binary_pattern(GREY, 40, 1), "P is a whole number"),
        (lambda: filters.local_binary_pattern(GREY, 8, 1, "vary"), "method takes 'default'"),
        (lambda: filters.hog(GREY, block_norm="L3"), "block_norm takes L1"),
        (lambda: filters.hog(GREY[:9, :9]), "holds no block of 3 x 3 cells"),
    ],
)
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()
