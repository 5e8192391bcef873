"""Noise, blur and mosaics taken away: as scikit-image does, and as lines of NumPy do."""

import sys

import numpy as np
import pytest
import skimage.filters
import skimage.restoration as reference
from numpy.testing import assert_allclose
from scipy import ndimage, signal

import pygpu
from pygpu import filters
from pygpu.filters.restoration import DIAGONAL, GREEN, IN_ROW

pytestmark = pytest.mark.usefixtures("on_cpu")

BYTES = pygpu.data.astronaut()[100:161, 150:221]  # 61 x 71
PHOTO = BYTES / np.float32(255)
NOISY = PHOTO + np.random.default_rng(0).normal(0, 0.05, PHOTO.shape).astype(np.float32)
BOTH = [NOISY, NOISY[..., 1].copy()]


def ids(image) -> str:
    return f"{image.ndim} axes"


def axis(image) -> int | None:
    return -1 if image.ndim == 3 else None


@pytest.mark.parametrize("image", BOTH, ids=ids)
@pytest.mark.parametrize(("mode", "numpys"), [("symmetric", "symmetric"), ("wrap", "wrap")])
@pytest.mark.parametrize("options", [{}, {"sigma_color": 0.1, "sigma_spatial": 2}, {"win_size": 3}])
def test_bilateral(image, mode, numpys, options) -> None:
    actual = filters.denoise_bilateral(image, mode=mode, **options)
    layers = image.reshape(*image.shape[:2], -1).astype(float)
    spatial = options.get("sigma_spatial", 1)
    color = options.get("sigma_color", image.std())
    reach = options.get("win_size", max(5, 2 * int(np.ceil(3 * spatial)) + 1)) // 2
    padded = np.pad(layers, ((reach, reach), (reach, reach), (0, 0)), numpys)
    total, weights = np.zeros_like(layers), 0
    for i in range(-reach, reach + 1):
        for j in range(-reach, reach + 1):
            there = padded[reach + i : reach + i + 61, reach + j : reach + j + 71]
            square = ((there - layers) ** 2).sum(axis=2, keepdims=True)
            unlike = square / (2 * (color * layers.shape[2]) ** 2)
            weight = np.exp(-(i * i + j * j) / (2 * spatial**2) - unlike)
            total, weights = total + weight * there, weights + weight
    assert_allclose(actual, (total / weights).reshape(image.shape), atol=1e-5)


def test_bilateral_is_about_that_of_scikit_image() -> None:
    """Where nearness counts little, so that its table there (see the docstring) does not matter."""
    options = {"win_size": 5, "sigma_color": 0.1, "sigma_spatial": 1e3, "mode": "edge"}
    noisy = NOISY.clip(0, 1)  # where values are below 0 it scales another table
    expected = reference.denoise_bilateral(noisy, channel_axis=-1, **options)
    assert_allclose(filters.denoise_bilateral(noisy, **options), expected, atol=2e-3)


@pytest.mark.parametrize("image", BOTH, ids=ids)
@pytest.mark.parametrize(
    "options",
    [
        {"patch_distance": 4},
        {"patch_size": 3, "patch_distance": 5, "h": 0.05},
        {"patch_size": 4, "patch_distance": 3, "sigma": 0.05},
        {"patch_size": 3, "patch_distance": 3, "h": 0.05, "sigma": 0.05},
        {"patch_size": 9, "patch_distance": 5},
    ],
)
def test_non_local_means(image, options) -> None:
    expected = reference.denoise_nl_means(image, channel_axis=axis(image), **options)
    # Its weights are of an approximate exp, and a patch may be just within its reach or not.
    error = np.abs(filters.denoise_nl_means(image, **options) - expected)
    assert np.quantile(error, 0.98) < 4e-3
    assert error.max() < 0.02


@pytest.mark.parametrize("image", BOTH, ids=ids)
@pytest.mark.parametrize("options", [{}, {"weight": 0.3}, {"max_num_iter": 7}, {"eps": 1e-3}])
def test_total_variation(image, options) -> None:
    expected = reference.denoise_tv_chambolle(image, channel_axis=axis(image), **options)
    # One round more or less, where the energy is about to have changed enough.
    assert_allclose(filters.denoise_tv_chambolle(image, **options), expected, atol=2e-3)
    few = {**options, "max_num_iter": 5}
    expected = reference.denoise_tv_chambolle(image, channel_axis=axis(image), **few)
    assert_allclose(filters.denoise_tv_chambolle(image, **few), expected, atol=1e-5)


@pytest.mark.parametrize("guide", [None, PHOTO, PHOTO[..., 1].copy()], ids=["self", "3", "1"])
def test_guided(guide) -> None:
    def mean(layers):
        return ndimage.uniform_filter(layers, (9, 9, 1), mode="reflect")

    v = NOISY.astype(float)
    g = v if guide is None else guide.reshape(*v.shape[:2], -1).astype(float)
    slope = (mean(g * v) - mean(g) * mean(v)) / (mean(g * g) - mean(g) ** 2 + 0.002)
    expected = mean(slope) * g + mean(mean(v) - slope * mean(g))
    actual = filters.guided(NOISY, guide, radius=4, eps=0.002)
    assert_allclose(actual, expected, atol=2e-5)


@pytest.mark.parametrize("image", [*BOTH, PHOTO - 0.5, BYTES], ids=lambda i: f"{i.dtype}{i.ndim}")
@pytest.mark.parametrize("options", [{}, {"radius": 3, "amount": 2.5}])
@pytest.mark.parametrize("preserve_range", [False, True])
def test_unsharp_mask(image, options, preserve_range) -> None:
    image = image[..., :2] if image.dtype == np.uint8 else image
    options = {**options, "preserve_range": preserve_range}
    layers = image.reshape(*image.shape[:2], -1)  # with channel_axis= scikit-image 0.26 errs
    layers = [skimage.filters.unsharp_mask(one, **options) for one in np.moveaxis(layers, -1, 0)]
    expected = np.stack(layers, axis=-1).reshape(image.shape)
    scale = 255 if preserve_range and image.dtype == np.uint8 else 1
    assert_allclose(filters.unsharp_mask(image, **options), expected / scale, atol=5e-6)


@pytest.mark.parametrize("shape", [(5, 5), (3, 7), (4, 4), (2, 5)])
@pytest.mark.parametrize("options", [{}, {"clip": False}, {"filter_epsilon": 0.2}])
def test_richardson_lucy(shape, options) -> None:
    psf = np.random.default_rng(1).random(shape)
    psf /= psf.sum()
    grey = PHOTO[..., 1]
    seen = signal.convolve2d(grey, psf, "same") + np.float32(0.01)
    expected = reference.richardson_lucy(seen, psf, num_iter=10, **options)
    actual = filters.richardson_lucy(seen, psf, num_iter=10, **options)
    assert_allclose(actual, expected, rtol=2e-4, atol=2e-4)


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int16"])
def test_ints_are_not_held_as_brightness_is(dtype) -> None:
    """All were 1: PIL's pictures of mode I are such, which hold 16 bits."""
    ints = BYTES[..., 1].astype(dtype) * 100
    expected = skimage.filters.unsharp_mask(ints, 2, 1.5, preserve_range=True)
    assert_allclose(filters.unsharp_mask(ints, radius=2, amount=1.5), expected, rtol=1e-5, atol=0.1)
    psf = np.ones((3, 3)) / 9
    expected = reference.richardson_lucy(ints.astype(float), psf, num_iter=4, clip=False)
    assert_allclose(filters.richardson_lucy(ints, psf, num_iter=4), expected, 1e-4, 0.1)


MASKS = {
    "scratches": lambda y, x: (abs(y - x) <= 1) | ((y + 2 * x) % 31 == 0),
    "hole": lambda y, x: np.hypot(y - 30, x - 35) < 9,
    "corner": lambda y, x: (y < 7) & (x < 5),
    "edge": lambda y, x: (y > 50) & (abs(x - 30) < 6),
    "dots": lambda y, x: (y % 7 == 0) & (x % 5 == 0),
    "every second": lambda y, x: (x * 7919 + y * 104729) % 11 < 5,
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("image", [PHOTO, PHOTO[..., 1].copy()], ids=ids)
def test_inpaint_biharmonic(image, mask) -> None:
    hole = MASKS[mask](*np.mgrid[:61, :71])
    expected = reference.inpaint_biharmonic(image.astype(float), hole, channel_axis=axis(image))
    actual = filters.inpaint_biharmonic(image, hole)
    assert_allclose(actual, expected, atol=1e-5)
    np.testing.assert_array_equal(actual[~hole], image[~hole])


def test_a_large_hole_of_no_shape_is_soon_filled() -> None:
    """What depends on each other is spread too far for a band."""
    rng = np.random.default_rng(3)
    picture, hole = rng.random((150, 180)).astype(np.float32), rng.random((150, 180)) < 0.5
    expected = reference.inpaint_biharmonic(picture.astype(float), hole)
    assert_allclose(filters.inpaint_biharmonic(picture, hole), expected, atol=1e-5)


def test_holes_far_from_each_other_are_told_apart() -> None:
    """Together they would be a wide band, and each by itself is a narrow one."""
    rng = np.random.default_rng(5)
    picture, hole = rng.random((240, 260)).astype(np.float32), np.zeros((240, 260), bool)
    hole[100:102] = True
    hole[:90, 130:132] = hole[110:, 40:42] = hole[5:25, 5:25] = True
    expected = reference.inpaint_biharmonic(picture.astype(float), hole)
    assert_allclose(filters.inpaint_biharmonic(picture, hole), expected, atol=1e-5)


def test_nothing_to_inpaint() -> None:
    none = np.zeros((61, 71), bool)
    np.testing.assert_array_equal(filters.inpaint_biharmonic(PHOTO, none), PHOTO)
    assert filters.inpaint_biharmonic(BYTES, none, dtype="uint8").dtype == np.uint8


def test_inpainting_names_what_it_needs(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    hole = MASKS["hole"](*np.mgrid[:61, :71])
    with pytest.raises(ImportError, match="needs SciPy: pip install scipy"):
        filters.inpaint_biharmonic(PHOTO, hole)


@pytest.mark.parametrize("pattern", ["RGGB", "GRBG", "GBRG", "BGGR"])
def test_demosaic(pattern) -> None:
    y, x = np.mgrid[:61, :71]
    which = np.array(["RGB".index(c) for c in pattern]).reshape(2, 2)[y % 2, x % 2]
    raw = np.take_along_axis(PHOTO, which[..., None], axis=2)[..., 0]
    at = dict(zip(pattern, [(0, 0), (0, 1), (1, 0), (1, 1)], strict=True))  # one green is enough

    def filtered(kernel):
        return ndimage.correlate(raw.astype(float), kernel / 8, mode="mirror")

    def beside(colour):
        """The rows in which a colour is."""
        return y % 2 == at[colour][0]

    expected = np.empty((61, 71, 3))
    expected[..., 1] = np.where(which == 1, raw, filtered(GREEN))
    for c, colour in ((0, "R"), (2, "B")):
        there = np.where(beside(colour), filtered(IN_ROW), filtered(IN_ROW.T))
        there = np.where(which == 2 - c, filtered(DIAGONAL), there)
        expected[..., c] = np.where(which == c, raw, there)
    assert_allclose(filters.demosaic(raw, pattern), expected, atol=2e-6)
    assert np.abs(filters.demosaic(raw, pattern) - PHOTO).mean() < 0.02


DOT = np.pad(np.ones((1, 1), bool), 4)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.denoise_bilateral(NOISY, win_size=4), "win_size is odd .*, got 4"),
        (lambda: filters.denoise_bilateral(NOISY, sigma_spatial=1e9), "and below 65536"),
        (lambda: filters.denoise_nl_means(NOISY, 2.5), "patch_size is a whole number .* got 2.5"),
        (lambda: filters.denoise_bilateral(NOISY, sigma_color=0.0), "are above 0"),
        (lambda: filters.denoise_bilateral(NOISY, mode="mirror"), "mode='mirror': takes"),
        (lambda: filters.denoise_nl_means(NOISY, h=0), "h above 0"),
        (lambda: filters.denoise_tv_chambolle(NOISY, weight=0), "weight is above 0"),
        (lambda: filters.guided(NOISY, radius=1.5), "radius is a whole number"),
        (lambda: filters.guided(NOISY, NOISY[1:]), "the guide has the image's size"),
        (lambda: filters.richardson_lucy(NOISY, [1, 2]), "psf is an array of two axes"),
        (lambda: filters.inpaint_biharmonic(NOISY, NOISY > 0), "a mask has the image's size"),
        (lambda: filters.inpaint_biharmonic(BOTH[1], BOTH[1] > -9), "no pixel that is known"),
        (lambda: filters.inpaint_biharmonic(np.full((9, 9), np.nan), DOT), "NaN or infinity"),
        (lambda: filters.demosaic(NOISY), "demosaic takes an image of 1 channel, got 3"),
        (lambda: filters.demosaic(BOTH[1], "RGB"), "pattern='RGB': takes RGGB"),
    ],
)
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises(ValueError, match=words):
        call()


def test_holes_at_the_sides_are_filled_as_those_inside() -> None:
    """Weights far from the sides are constants: with one pixel of a hole at a side, and without."""
    rng = np.random.default_rng(4)
    image = np.float32(rng.random((19, 23)))
    for share in (0.05, 0.3):
        hole = rng.random(image.shape) < share
        for cut in (hole, np.pad(hole[2:-2, 2:-2], 2)):
            expected = reference.inpaint_biharmonic(image, cut)
            assert_allclose(filters.inpaint_biharmonic(image, cut), expected, atol=1e-4)
