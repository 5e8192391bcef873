"""Ranks and statistics of neighbours: as SciPy and scikit-image have them."""

import numpy as np
import pytest
import skimage.filters.rank as reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage
from skimage.morphology import disk

import pygpu
from pygpu import filters

pytestmark = pytest.mark.usefixtures("on_cpu")

BYTES = pygpu.data.astronaut()[100:151, 150:217]
GREY = np.ascontiguousarray(BYTES[..., 1])
FOOTPRINTS = {"disc": disk(3), "square": np.ones((3, 5)), "corner": [[1, 0], [1, 1]]}


@pytest.mark.parametrize("size", [3, 4, (2, 5)])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rank_filter", {"rank": 2}),
        ("rank_filter", {"rank": -2}),
        ("percentile_filter", {"percentile": 20}),
        ("percentile_filter", {"percentile": 100}),
        ("percentile_filter", {"percentile": -30}),
        ("minimum_filter", {}),
        ("maximum_filter", {}),
        ("uniform_filter", {}),
    ],
)
def test_filters_of_windows_are_those_of_scipy(name, options, size) -> None:
    floats = BYTES / np.float32(255)
    layers = [
        getattr(ndimage, name)(floats[..., c], size=size, mode="nearest", **options)
        for c in range(3)
    ]
    actual = getattr(filters, name)(BYTES, size=size, **options)
    assert_allclose(actual, np.stack(layers, axis=-1), atol=1e-6)
    by_place = getattr(filters, name)(floats[..., 0], *options.values(), size)
    assert_allclose(by_place, layers[0], atol=1e-6)


@pytest.mark.parametrize("footprint", FOOTPRINTS)
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("rank_filter", {"rank": 1}),
        ("percentile_filter", {"percentile": 70}),
        ("minimum_filter", {}),
        ("maximum_filter", {}),
        ("median", {}),
    ],
)
def test_windows_may_be_footprints(name, options, footprint) -> None:
    element = np.asarray(FOOTPRINTS[footprint])
    peer = getattr(ndimage, "median_filter" if name == "median" else name)
    expected = peer(GREY, footprint=element, mode="nearest", **options)
    actual = getattr(filters, name)(GREY, footprint=element, dtype=np.uint8, **options)
    assert_array_equal(actual, expected)
    ints = BYTES.astype("int32") * 100_001  # of which floats have no odd ones
    expected = peer(ints[..., 1], footprint=element, mode="nearest", **options)
    assert_array_equal(getattr(filters, name)(ints, footprint=element, **options)[..., 1], expected)
    as_size = getattr(filters, name)(ints, *options.values(), element)
    assert_array_equal(as_size[..., 1], expected)
    of_bools = getattr(filters, name)(BYTES > 99, footprint=element, **options)
    assert of_bools.dtype == bool  # the least and the greatest were ints, dark as pictures
    middle = peer(BYTES[..., 1] > 99, footprint=element, mode="nearest", **options)
    assert_array_equal(of_bools[..., 1], middle)
    with pytest.raises(ValueError, match=f"{name}: a footprint is an array of two axes"):
        getattr(filters, name)(GREY, footprint=np.zeros((3, 3)), **options)


def test_means_of_other_kinds_are_those_of_scikit_image() -> None:
    expected = reference.geometric_mean(GREY, disk(3))
    actual = filters.rank.geometric_mean(GREY, disk(3), dtype=np.uint8)
    assert (actual != expected).mean() < 1e-3
    expected = reference.subtract_mean(GREY, disk(3))  # cut to bytes
    actual = 255 * filters.rank.subtract_mean(GREY, disk(3))
    assert (np.abs(actual - expected - 0.5) <= 0.5 + 1e-3).all()


@pytest.mark.parametrize("footprint", FOOTPRINTS)
@pytest.mark.parametrize(
    "name",
    ["mean", "minimum", "maximum", "gradient", "autolevel", "enhance_contrast", "equalize"],
)
def test_statistics_are_those_of_scikit_image(name, footprint) -> None:
    element = np.asarray(FOOTPRINTS[footprint], np.uint8)
    expected = getattr(reference, name)(GREY, element)  # cut to bytes
    actual = getattr(filters.rank, name)(GREY, element)
    off = np.abs(actual * 255 - expected - 0.5) > 0.5 + 1e-3
    assert off.mean() < (2e-3 if name == "enhance_contrast" else 1e-9)  # where both are as near
    colours = getattr(filters.rank, name)(BYTES, element)
    assert_allclose(colours[..., 1], actual, atol=1e-6)


def test_threshold_is_that_of_scikit_image() -> None:
    expected = reference.threshold(GREY, disk(4))
    differs = filters.rank.threshold(GREY, disk(4)) != (expected > 0)
    assert differs.mean() < 0.03  # there the mean is cut to a byte


def test_results_have_the_form_of_what_was_given() -> None:
    result = filters.rank.mean(pygpu.Image(GREY), disk(2), dtype="uint8")
    assert isinstance(result, pygpu.Image)
    assert result.dtype == np.uint8
    assert_array_equal(np.asarray(result), filters.rank.mean(GREY, disk(2), dtype="uint8"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.rank_filter(GREY, rank=9), "filter: 9 texels have no rank 9"),
        (lambda: filters.percentile_filter(GREY, percentile=101), "percentile up to 100"),
        (lambda: filters.minimum_filter(GREY, size=0), "minimum_filter: size takes"),
        (lambda: filters.rank.mean(GREY, []), "rank.mean: a footprint is an array"),
        (lambda: filters.rank.mean(GREY > 9, disk(1)), "rank.mean takes bytes"),
    ],
)
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


APART = {
    "far": np.array([[1], [0], [0]]),  # of which nothing is inside, in the first row
    "beside": np.array([[1, 0, 1]]),
    "ring": np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]]),
}


@pytest.mark.parametrize("shape", [(1, 9), (9, 1), (3, 5), (31, 47)])
@pytest.mark.parametrize("footprint", APART.values(), ids=APART)
@pytest.mark.parametrize(
    "name", ["minimum", "maximum", "mean", "gradient", "threshold", "equalize"]
)
def test_footprints_may_leave_the_texel_out(name, footprint, shape) -> None:
    image = np.random.default_rng(1).integers(0, 256, shape, np.uint8)
    expected = getattr(reference, name)(image, footprint.astype(np.uint8))
    actual = np.asarray(getattr(filters.rank, name)(image, footprint), np.float64)
    scale = 1 if name == "threshold" else 255
    assert np.abs(scale * actual - expected).max() <= 1.001  # it rounds down


def test_levels_of_texels_beyond_their_neighbours_end_at_both_ends() -> None:
    image = np.array([[10, 50, 200, 90, 30, 0, 40]], np.uint8)
    actual = filters.rank.autolevel(image, APART["beside"])
    assert_allclose(actual, [[0, 40 / 190, 1, 60 / 170, 1 / 3, 0, 0]], atol=1e-6)


def test_what_is_nearer_of_two_ends_is_told_of_bytes() -> None:
    image = np.array([[0, 127, 254, 128, 0, 3, 7, 5]], np.uint8)  # ties are for the least
    actual = filters.rank.enhance_contrast(image, APART["beside"], dtype=np.uint8)
    expected = reference.enhance_contrast(image, APART["beside"].astype(np.uint8))
    assert actual.tolist() == expected.tolist()
