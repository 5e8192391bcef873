"""Histograms made even or alike, and thresholds: as scikit-image makes them."""

import numpy as np
import pytest
import skimage.data
import skimage.exposure
import skimage.filters
from numpy.testing import assert_allclose, assert_array_equal

import pygpu
from pygpu import filters
from pygpu.filters import exposure

pytestmark = pytest.mark.usefixtures("on_cpu")

BYTES = pygpu.data.astronaut()[100:231, 150:301]
PHOTO = BYTES / np.float32(255)
GREY = filters.rgb2gray(PHOTO, dtype="float32")
MOON = skimage.data.moon()[101:300, 50:263]
WORDS = MOON.astype(np.uint16) ** 2


@pytest.mark.parametrize("image", [GREY, PHOTO, MOON, BYTES, WORDS], ids=lambda i: str(i.dtype))
@pytest.mark.parametrize("nbins", [256, 30, 1000])
def test_equalize_hist(image, nbins) -> None:
    expected = skimage.exposure.equalize_hist(image, nbins)
    actual = filters.equalize_hist(image, nbins)
    assert_allclose(actual, expected, atol=2e-4 if image.dtype == np.float32 else 1e-5)


@pytest.mark.parametrize("scale", [300, 40000, 2**21])
@pytest.mark.parametrize("colours", [PHOTO, GREY], ids=["rgb", "grey"])
def test_ints_have_a_bin_each(colours, scale, monkeypatch) -> None:
    """As in scikit-image: 256 bins gave another threshold, and steps."""
    monkeypatch.setattr(exposure, "MOST_INTS", 1 << 17)
    image = (scale * (colours - 0.3)).astype(np.int32)
    expected = skimage.exposure.equalize_hist(image)
    assert_allclose(filters.equalize_hist(image), expected, atol=1e-6)
    mask = GREY > 0.4
    expected = skimage.exposure.equalize_hist(image, mask=mask)
    assert_allclose(filters.equalize_hist(image, mask=mask), expected, atol=1e-6)
    if image.ndim == 2:
        assert filters.threshold_otsu(image) == skimage.filters.threshold_otsu(image)
    if scale == 300:
        narrow = filters.equalize_hist(image.astype(np.int16))
        assert np.array_equal(narrow, filters.equalize_hist(image))


def test_equalize_hist_by_a_mask() -> None:
    mask = GREY > 0.2
    expected = skimage.exposure.equalize_hist(GREY, mask=mask)
    assert_allclose(filters.equalize_hist(GREY, mask=mask), expected, atol=2e-4)
    with pytest.raises(ValueError, match="a mask has the image's size"):
        filters.equalize_hist(GREY, mask=mask[1:])
    with pytest.raises(ValueError, match="no pixel of the mask"):
        filters.equalize_hist(GREY, mask=mask & False)


@pytest.mark.parametrize("image", [GREY, MOON, WORDS, PHOTO, BYTES], ids=lambda i: str(i.shape))
@pytest.mark.parametrize("options", [{}, {"kernel_size": 20}, {"kernel_size": (31, 64)}])
@pytest.mark.parametrize("more", [{}, {"clip_limit": 0.03, "nbins": 100}, {"clip_limit": 0}])
def test_equalize_adapthist(image, options, more) -> None:
    expected = skimage.exposure.equalize_adapthist(image, **options, **more)
    actual = filters.equalize_adapthist(image, **options, **more)
    # One of 16384 levels is lost where the sum of four falls just below a whole number.
    assert_allclose(actual, expected, atol=3e-4)


@pytest.mark.parametrize("shape", [(5, 3), (1, 9), (8, 8)])
def test_equalize_adapthist_of_few_pixels(shape) -> None:
    image = np.random.default_rng(0).random(shape).astype(np.float32)
    expected = skimage.exposure.equalize_adapthist(image)
    assert_allclose(filters.equalize_adapthist(image), expected, atol=3e-4)


def test_of_one_colour_nothing_is_made() -> None:
    flat = np.full((20, 30), 0.25, np.float32)
    assert (filters.equalize_adapthist(flat) == 1).all()
    for black in (
        np.zeros((20, 30), np.float32),
        np.zeros((20, 30, 3), np.uint8),
    ):  # rounds nowhere
        expected = skimage.exposure.equalize_adapthist(black)
        assert_allclose(filters.equalize_adapthist(black, dtype=np.float32), expected)
    assert filters.threshold_otsu(flat) == 0.25
    expected = skimage.exposure.equalize_hist(flat)
    assert_allclose(filters.equalize_hist(flat), expected, atol=1e-6)


@pytest.mark.parametrize("other", [skimage.data.coffee()[::2, ::3], skimage.data.rocket()])
def test_match_histograms(other) -> None:
    expected = skimage.exposure.match_histograms(BYTES, other, channel_axis=-1)  # cut to bytes
    actual = filters.match_histograms(BYTES, other)
    assert_allclose(actual * 255, expected + 0.5, atol=0.5 + 1e-3)
    floats = other / np.float32(255)
    noisy = PHOTO + np.float32(0.01) * np.random.default_rng(0).random(PHOTO.shape, np.float32)
    expected = skimage.exposure.match_histograms(noisy, floats, channel_axis=-1)
    assert_allclose(filters.match_histograms(noisy, floats), expected, atol=1e-5)
    expected = skimage.exposure.match_histograms(noisy[..., 0], floats[..., 1])
    actual = filters.match_histograms(noisy[..., 0], floats[..., 1])
    assert_allclose(actual, expected, atol=1e-5)


def test_match_histograms_of_values_far_apart() -> None:
    """Nearly all of the values lie in one part of their range in a thousand."""
    skewed = np.random.default_rng(1).random(GREY.shape, np.float32) ** 30 * 1000
    expected = skimage.exposure.match_histograms(skewed, GREY)
    assert_allclose(filters.match_histograms(skewed, GREY), expected, atol=1e-5)
    alike = np.full(GREY.shape, np.float32(0.3))
    assert_allclose(
        filters.match_histograms(alike, GREY), skimage.exposure.match_histograms(alike, GREY)
    )


@pytest.mark.parametrize("shape", [(1, 1), (37, 41), (300, 200)])
@pytest.mark.parametrize(
    "spread", [np.exp, np.round, np.sign, lambda x: 0 * x, lambda x: 1e-40 * x]
)
def test_match_histograms_of_floats_of_all_kinds(spread, shape) -> None:
    generator = np.random.default_rng(4)
    one = spread(9 * generator.normal(size=shape)).astype(np.float32)
    for size in (shape, (64, 80)):
        for other in (spread, np.tanh):
            reference = other(4 * generator.normal(size=size)).astype(np.float32)
            expected = skimage.exposure.match_histograms(one, reference)
            assert_allclose(filters.match_histograms(one, reference), expected, rtol=1e-6)


def _in_levels(most: int):
    return lambda x: np.rint(x * np.float32(most / 255)) / np.float32(most)


@pytest.mark.parametrize(
    "made", [*map(_in_levels, (255, 1023, 4095, 65535)), skimage.util.img_as_float32]
)
def test_match_histograms_of_floats_that_were_whole(made) -> None:
    """They are counted; but not where a single one is none of their levels."""
    one, other = made(MOON), made(BYTES[..., 0])
    for changed in (None, np.float32(0.1234), np.float32(1.5), np.nan):
        if changed is not None:
            one = one.copy()
            one[3, 5] = changed
        actual = filters.match_histograms(one, other)
        if changed is np.nan:
            assert_array_equal(np.argwhere(np.isnan(actual)), [[3, 5]])
        else:
            expected = skimage.exposure.match_histograms(one, other)
            assert_allclose(actual, expected, atol=1e-6)
            expected = skimage.exposure.match_histograms(one, BYTES[..., 0] / np.float32(255))
            assert_allclose(filters.match_histograms(one, BYTES[..., 0]), expected, atol=1e-6)


@pytest.mark.parametrize(
    "made",
    [
        lambda x: 1 - x,
        lambda x: x**2.2,
        lambda x: 1e30 * x - 3e29,
        lambda x: 1e-42 * x,
        lambda x: np.where(x > 0.9, -np.inf, x),
        lambda x: np.stack([(x - m) / (m + 0.1) for m in (0.2, 0.5, 0.6)], -1),
    ],
)
def test_match_histograms_of_floats_of_few_values(made) -> None:
    """They are counted, too, where each has a step of the range or a power of two to itself."""
    whole = [np.tile(im, (2, 2)) / np.float32(255) for im in (MOON, BYTES[..., 0])]
    one, other = (made(im).astype(np.float32) for im in whole)
    axis = -1 if one.ndim == 3 else None
    for changed in (False, True):  # of two values that have one step
        one = one.copy()
        one[0, 0] = np.nextafter(one[1, 1], np.float32(9)) if changed else one[0, 0]
        expected = skimage.exposure.match_histograms(one, other, channel_axis=axis)
        assert_allclose(filters.match_histograms(one, other), expected, rtol=2e-6)


@pytest.mark.parametrize("image", [GREY, MOON, WORDS], ids=lambda i: str(i.dtype))
def test_threshold_otsu(image) -> None:
    most = 1 if image.dtype == np.float32 else np.iinfo(image.dtype).max
    expected = skimage.filters.threshold_otsu(image) / most
    assert filters.threshold_otsu(image) == pytest.approx(expected, abs=1 / 200)
    assert filters.threshold_otsu(MOON) * 255 == skimage.filters.threshold_otsu(MOON)
    assert filters.threshold_otsu(pygpu.Image(image)) == filters.threshold_otsu(image)


@pytest.mark.parametrize("block", [3, 35, (5, 11)])
@pytest.mark.parametrize("method", ["gaussian", "mean", "median"])
@pytest.mark.parametrize("mode", ["reflect", "mirror", "nearest", "wrap", "constant"])
def test_threshold_local(block, method, mode) -> None:
    if method == "median" and block == 35:
        block = 7
    options = {"method": method, "mode": mode, "offset": 0.01, "cval": 0.2}
    expected = skimage.filters.threshold_local(GREY, block, **options)
    assert_allclose(filters.threshold_local(GREY, block, **options), expected, atol=2e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.threshold_otsu(PHOTO), "takes an image of 1 channel, got 3: rgb2gray"),
        (lambda: filters.threshold_local(GREY, 4), "block_size takes odd numbers, got 4"),
        (lambda: filters.threshold_local(GREY, 3, "best"), "method takes 'gaussian'"),
        (lambda: filters.equalize_hist(GREY, 0), "nbins: takes a whole number from 1"),
        (lambda: filters.equalize_hist(GREY / np.float32(0)), "finite values"),
        (lambda: filters.match_histograms(GREY, PHOTO), "the reference has 3 channels"),
        (lambda: filters.equalize_adapthist(GREY, nbins=1000), "nbins takes 2 to 256"),
        (lambda: filters.equalize_adapthist(GREY, kernel_size=0), "kernel_size takes"),
        (
            lambda: filters.equalize_adapthist(np.int32(9 * GREY)),
            "bytes, words and floats, got int32",
        ),
        (lambda: filters.equalize_adapthist(np.full_like(GREY, np.nan)), "finite values"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_nan_stays_where_histograms_are_made_alike() -> None:
    holed = GREY.copy()
    holed[3, 5] = np.nan
    made = filters.match_histograms(holed, GREY**2)
    assert_array_equal(np.isnan(made), np.isnan(holed))
