"""Morphology, connected regions and distances: as scikit-image and SciPy make them."""

import functools

import numpy as np
import pytest
import skimage.data
import skimage.measure
import skimage.morphology as reference
from numpy.testing import assert_allclose, assert_array_equal
from scipy import ndimage

import pygpu
from pygpu import filters

pytestmark = pytest.mark.usefixtures("on_cpu")

BYTES = pygpu.data.astronaut()[100:231, 150:301]
GREY = BYTES[..., 1] / np.float32(255)
MASK = GREY > 0.5
NAMES = ["erosion", "dilation", "opening", "closing", "white_tophat", "black_tophat"]
FOOTPRINTS = {
    "cross": None,
    "disc": reference.disk(4),
    "square": np.ones((7, 7)),
    "even": np.ones((4, 2)),
    "odd one": np.array([[1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 1]]),
    "line": np.ones((1, 9), bool),
}


@pytest.mark.parametrize("footprint", FOOTPRINTS)
@pytest.mark.parametrize("name", NAMES)
def test_morphology(name, footprint) -> None:
    element = FOOTPRINTS[footprint]
    for image in (GREY, MASK, (GREY * 1000).astype(np.int32)):
        expected = getattr(reference, name)(image, element)
        assert_allclose(getattr(filters, name)(image, element), expected, atol=1e-6)


@pytest.mark.parametrize("mode", ["nearest", "mirror", "wrap", "constant", "min", "max", "ignore"])
@pytest.mark.parametrize("name", NAMES)
def test_morphology_with_every_boundary(name, mode) -> None:
    options = {"mode": mode, "cval": 0.25}
    for element in (np.ones((5, 3)), reference.disk(3)):
        expected = getattr(reference, name)(GREY, element, **options)
        assert_allclose(getattr(filters, name)(GREY, element, **options), expected, atol=1e-6)


@pytest.mark.parametrize("mode", ["min", "max", "ignore"])
@pytest.mark.parametrize("name", ["erosion", "dilation", "opening", "closing"])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_what_counts_for_nothing_is_the_extreme_of_bytes(name, mode, dtype) -> None:
    image = (GREY * np.iinfo(dtype).max).astype(dtype)[:9, :12]
    for element in (np.array([[0, 0, 0], [0, 0, 0], [1, 1, 0]]), reference.disk(3)):
        expected = getattr(reference, name)(image, element, mode=mode) / np.iinfo(dtype).max
        assert_allclose(getattr(filters, name)(image, element, mode=mode), expected, atol=1e-6)
        raw = pygpu.Image(image, normalize=False)
        expected = getattr(reference, name)(image, element, mode=mode)
        assert_array_equal(getattr(filters, name)(raw, element, mode=mode), expected)


def test_channels_are_taken_by_themselves() -> None:
    expected = np.stack([reference.erosion(BYTES[..., c]) for c in range(3)], axis=-1)
    assert_array_equal(filters.erosion(BYTES, dtype=np.uint8), expected)
    masks = BYTES > 100
    for name in NAMES:
        function = getattr(filters, name)
        expected = np.stack([function(masks[..., c]) for c in range(3)], axis=-1)
        assert_array_equal(function(masks), expected)


@pytest.mark.parametrize("connectivity", [1, 2])
@pytest.mark.parametrize(
    "image",
    [
        MASK,
        (GREY * 5).astype(np.int32),
        skimage.data.coins()[::2, ::2] > 100,
        skimage.data.horse()[::3, ::3],
        np.zeros((5, 7), bool),
        np.ones((1, 9), np.uint8),
    ],
    ids=lambda image: f"{image.dtype}{image.shape}",
)
def test_label(image, connectivity) -> None:
    expected, count = skimage.measure.label(image, return_num=True, connectivity=connectivity)
    actual, counted = filters.label(image, return_num=True, connectivity=connectivity)
    assert counted == count
    assert_array_equal(actual, expected)
    assert_array_equal(filters.label(image, connectivity=connectivity), expected)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "uint16", "int32", "float32"])
def test_label_of_random_images_of_any_size(dtype) -> None:
    rng = np.random.default_rng(7)
    sizes = [(1, 1), (1, 200), (90, 1), (3, 64), (5, 65), (40, 129), (300, 260)]
    for shape in sizes + [tuple(rng.integers(1, 90, 2)) for _ in range(6)]:
        image = rng.integers(0, 2 if dtype == "bool" else 4, shape).astype(dtype)
        for background, connectivity in [(0, 1), (0, 2), (1, 2)]:
            options = {"background": background, "connectivity": connectivity}
            whole = image.astype(int)
            expected, count = skimage.measure.label(whole, return_num=True, **options)
            given = pygpu.Image(image, normalize=False) if dtype[0] == "u" else image
            actual, counted = filters.label(given, return_num=True, **options)
            assert counted == count
            assert_array_equal(np.asarray(actual), expected)


def test_no_float_is_in_the_region_of_a_nan_and_zeros_are_equal() -> None:
    image = np.float32([[0.0, -0.0, 1, np.nan, np.nan], [2, 0.5, 1, np.nan, 0.5]])
    labels, count = filters.label(image, return_num=True)
    assert count == 7
    assert_array_equal(labels, [[0, 0, 1, 2, 3], [4, 5, 1, 6, 7]])


def test_a_background_that_no_element_can_have_leaves_all_in_regions() -> None:
    assert_array_equal(filters.label(np.zeros((3, 4), np.int32), background=0.5), np.ones((3, 4)))
    assert_array_equal(filters.label(np.zeros((3, 4), np.uint8), background=-1), np.ones((3, 4)))


def test_label_takes_backgrounds_that_are_numbers_and_any_connectivity_of_scikit_image() -> None:
    for background in (1j, np.complex64(1), "0", [0]):
        with pytest.raises(TypeError, match="label: background takes a number, got"):
            filters.label(GREY > 0.5, background=background)
    expected = skimage.measure.label(GREY > 0.5, connectivity=None)
    assert_array_equal(filters.label(GREY > 0.5, connectivity=None), expected)


def test_label_follows_a_spiral() -> None:
    spiral = np.zeros((61, 61), bool)
    y = x = 30
    for turn, (dy, dx) in zip(range(1, 60), [(0, 1), (1, 0), (0, -1), (-1, 0)] * 15, strict=False):
        for _ in range(2 * ((turn + 1) // 2)):
            if 0 <= y < 61 and 0 <= x < 61:
                spiral[y, x] = True
            y, x = y + dy, x + dx
    assert_array_equal(filters.label(spiral), skimage.measure.label(spiral))


def test_label_of_bytes_has_its_background_in_texels() -> None:
    expected = skimage.measure.label(BYTES[..., 1] // 64, background=2)
    assert_array_equal(filters.label(BYTES[..., 1] // 64, background=2 / 255), expected)


def test_label_with_another_background() -> None:
    image = (GREY * 4).astype(np.int32)
    expected = skimage.measure.label(image, background=2)
    assert_array_equal(filters.label(image, background=2), expected)


@pytest.mark.parametrize("sampling", [None, 2.5, (1, 3), (2, 0.5)])
@pytest.mark.parametrize(
    "mask",
    [MASK, np.pad(np.ones((60, 40), bool), ((1, 0), (0, 0))), skimage.data.horse()[::3, ::3]],
    ids=["photo", "row", "horse"],
)
def test_distances(mask, sampling) -> None:
    expected = ndimage.distance_transform_edt(mask, sampling)
    assert_allclose(filters.distance_transform_edt(mask, sampling), expected, rtol=1e-6)


def test_distances_of_one_zero_and_of_none() -> None:
    mask = np.ones((37, 200), np.uint8)
    assert np.isinf(filters.distance_transform_edt(mask)).all()
    mask[30, 3] = 0
    expected = ndimage.distance_transform_edt(mask)
    assert_allclose(filters.distance_transform_edt(mask), expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.erosion(GREY, np.zeros((3, 3))), "erosion: a footprint is an array"),
        (lambda: filters.erosion(GREY, [1, 1]), "erosion: a footprint is an array"),
        (lambda: filters.erosion(GREY, mode="best"), "mode='best': takes"),
        (lambda: filters.label(BYTES), "label takes an image of 1 channel, got 3"),
        (lambda: filters.label(MASK, connectivity=3), "connectivity takes 1 or 2"),
        (lambda: filters.label(BYTES[..., 0], background=2), "give it divided by 255"),
        (lambda: filters.distance_transform_edt(MASK, -1), "sampling is above 0"),
        (lambda: filters.distance_transform_edt(BYTES), "1 channel, got 3"),
    ],
)
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


@pygpu.compile
def same(im: pygpu.Image, p: pygpu.Position):
    return im(p)


@pytest.mark.parametrize("dtype", [np.uint8, "uint16", np.float32, bool, np.dtype("int32")])
def test_a_result_of_a_dtype_is_the_one_without_converted(dtype) -> None:
    """The last pass makes it, from the second call of a kind without Python."""
    image = np.tile(BYTES[..., 1], (4, 4))
    turned = functools.partial(filters.rotate, angle=20)
    for run in (filters.opening, filters.erosion, filters.white_tophat, filters.demosaic, turned):
        plain = pygpu.Image(run(image))
        expected = np.asarray(same(plain, dtype=dtype))
        for _ in range(3):
            made = run(image, dtype=dtype)
            assert made.dtype == expected.dtype
            assert_array_equal(made, expected)
    with pytest.raises(TypeError, match="dtype='nonsense'"):
        filters.opening(image, dtype="nonsense")
