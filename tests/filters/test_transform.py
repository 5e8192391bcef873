"""Images of other sizes, turned, in pyramids: as scikit-image makes them."""

import numpy as np
import pytest
import skimage.transform as reference
from numpy.testing import assert_allclose
from PIL import Image as PILImage

import pygpu
from pygpu import filters
from pygpu.filters import sampling, whole

pytestmark = pytest.mark.usefixtures("on_cpu")

PHOTO = pygpu.data.astronaut()[100:231, 150:301] / np.float32(255)  # 131 x 151 x 3, odd both ways
GREY = PHOTO[..., 1].copy()
MODES = ["constant", "edge", "symmetric", "reflect", "wrap"]


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("shape", [(131, 151), (60, 151), (200, 77), (33, 40), (262, 302), (1, 1)])
def test_resize(order, shape) -> None:
    expected = reference.resize(PHOTO, shape, order=order)
    assert_allclose(filters.resize(PHOTO, shape, order=order), expected, atol=2e-5)


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_resize_with_every_boundary(mode, order) -> None:
    options = {"order": order, "mode": mode, "cval": 0.3}
    for shape in ((70, 300), (200, 61)):
        expected = reference.resize(GREY, shape, **options)
        assert_allclose(filters.resize(GREY, shape, **options), expected, atol=2e-5)


@pytest.mark.parametrize("shape", [(70, 300), (200, 61)])
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("mode", MODES)
def test_large_results_are_stretched_along_one_axis_after_the_other(
    mode, order, shape, monkeypatch
) -> None:
    monkeypatch.setattr(sampling, "LARGE", 1)
    options = {"order": order, "mode": mode, "cval": 0.3}
    for image in (GREY, np.uint8(255 * GREY)):
        expected = reference.resize(image, shape, **options)
        assert_allclose(filters.resize(image, shape, **options), expected, atol=2e-5)


@pytest.mark.parametrize("mode", ["L", "LA", "P", "RGB", "RGBA"])
def test_pictures_are_made_in_the_last_pass(mode, monkeypatch) -> None:
    """Of any size as of small ones, with what they say of themselves; a picture is no view."""
    picture = PILImage.fromarray(np.uint8(255 * PHOTO)).convert(mode)
    picture.info["dpi"] = (300, 300)
    small = [
        filters.opening(picture),
        filters.resize(picture, (90, 80)),
        filters.rotate(picture, 9),
    ]
    monkeypatch.setattr(whole, "LARGE", 1)
    large = [
        filters.opening(picture),
        filters.resize(picture, (90, 80)),
        filters.rotate(picture, 9),
    ]
    for one, other in zip(small, large, strict=True):
        assert (one.mode, other.info) == (other.mode, {"dpi": (300, 300)})
        assert_allclose(np.asarray(one, int), np.asarray(other, int), atol=1)
    before = picture.copy()
    filters.resize(picture, picture.size[::-1]).paste(0, (0, 0, 9, 9))
    assert picture.tobytes() == before.tobytes()


@pytest.mark.parametrize("shape", [(50, 60), (25, 120), (150, 30), (34, 41)])
def test_resize_to_whole_parts_of_a_size(shape) -> None:
    """Steps from texel to texel are known: of 2 and 4 two texels count, of 3 the middle one."""
    picture = np.ascontiguousarray(np.resize(PHOTO, (100, 120, 3)))
    for given in (picture, picture[..., 0], np.uint8(255 * picture)):
        for sigma in (None, 0, 0.7):
            options = {"anti_aliasing": bool(sigma) if sigma is not None else None}
            ours = options | {"anti_aliasing_sigma": (sigma, 0) if sigma else None}
            theirs = options | {
                "anti_aliasing_sigma": (sigma, 0, 0)[: given.ndim] if sigma else None
            }
            expected = reference.resize(given, shape, order=1, mode="edge", **theirs)
            made = filters.resize(given, shape, mode="edge", **ours)
            assert_allclose(made, expected, atol=2e-5)
            if given.dtype == np.uint8:
                for _ in range(3):
                    stored = filters.resize(given, shape, mode="edge", dtype=np.uint8, **ours)
                    assert_allclose(stored / 255, expected, atol=0.51 / 255)


def test_resize_of_bools_takes_the_nearest_and_of_ints_where_it_is_told() -> None:
    ints = (GREY * 1000).astype(np.int32)
    for array in (GREY > 0.5, ints):
        expected = reference.resize(array, (50, 70), order=0, preserve_range=True)
        actual = filters.resize(array, (50, 70), order=None if array.dtype == bool else 0)
        np.testing.assert_array_equal(actual, expected)
        assert actual.dtype == array.dtype
    with pytest.raises(ValueError, match="an image of bools takes order 0"):
        filters.resize(GREY > 0.5, (50, 70), order=1)


@pytest.mark.parametrize("dtype", [np.int16, np.int64])
@pytest.mark.parametrize(
    "change",
    [
        lambda module, image, **options: module.resize(image, (70, 90), **options),
        lambda module, image, **options: module.resize(image, (200, 300), order=3, **options),
        lambda module, image, **options: module.rotate(image, 20, mode="edge", **options),
        lambda module, image, **options: module.warp(image, np.eye(3) * 0.9, order=3, **options),
        lambda module, image, **options: module.pyramid_expand(image, **options),
    ],
    ids=["resize", "cubic", "rotate", "warp", "expand"],
)
def test_between_ints_there_are_floats(change, dtype) -> None:
    """As in scikit-image; the nearest were taken, or they were refused."""
    image = (GREY * 1000 - 300).astype(dtype)
    expected = change(reference, image, preserve_range=True)
    actual = change(filters, image)
    assert actual.dtype == np.float32
    assert (np.abs(actual - expected) > 0.1).mean() < 2e-3  # where a border falls between pixels
    rounded = change(filters, pygpu.Image(image), dtype=np.int16).numpy()
    assert np.abs(rounded - actual).max() <= 0.5


@pytest.mark.parametrize("scale", [0.5, 1.7, (0.3, 2)])
def test_rescale(scale) -> None:
    expected = reference.rescale(PHOTO, scale, channel_axis=-1)
    assert_allclose(filters.rescale(PHOTO, scale), expected, atol=2e-5)


@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("resize", [False, True])
@pytest.mark.parametrize("angle", [0, 30, -45, 90, 180, 275.5])
def test_rotate(angle, resize, order) -> None:
    photo = PHOTO.copy()
    photo[0, 0], photo[1, 1] = 0, 1  # the range is that of what lies outside, too
    options = {"resize": resize, "order": order}
    expected = reference.rotate(photo, angle, **options)
    actual = filters.rotate(photo, angle, **options)
    assert actual.shape == expected.shape
    off = np.abs(actual - expected).max(axis=2) > 1e-4
    assert off.mean() < 2e-3  # where a border falls between two pixels


def test_range_is_that_of_the_numbers_where_some_texels_are_none() -> None:
    image = (GREY > 0.5).astype(np.float32)
    image[60, 70] = np.nan
    for change in (
        lambda module: module.rotate(image, 30, order=3),
        lambda module: module.warp(image, np.eye(3) * 0.9, order=3),
    ):
        expected, actual = change(reference), change(filters)
        assert np.nanmin(actual) == np.nanmin(expected) == 0
        assert np.nanmax(actual) == np.nanmax(expected) == 1


@pytest.mark.parametrize("mode", MODES)
def test_rotate_with_every_boundary(mode) -> None:
    options = {"mode": mode, "center": (20.0, 70.5), "cval": 0.5}
    expected = reference.rotate(GREY, 25, **options)
    assert np.quantile(np.abs(filters.rotate(GREY, 25, **options) - expected), 0.995) < 1e-4


def test_rotate_by_the_nearest() -> None:
    actual = filters.rotate(GREY, 12, order=0)
    assert (actual != reference.rotate(GREY, 12, order=0)).mean() < 1e-3


@pytest.mark.parametrize("options", [{}, {"order": 3}, {"order": 3, "mode": "constant"}])
@pytest.mark.parametrize("factor", [2, 3, 1.6])
def test_reduce_and_expand(factor, options) -> None:
    for name in ("pyramid_reduce", "pyramid_expand"):
        expected = getattr(reference, name)(PHOTO, factor, channel_axis=-1, **options)
        assert_allclose(getattr(filters, name)(PHOTO, factor, **options), expected, atol=2e-5)


@pytest.mark.parametrize("max_layer", [-1, 0, 3])
@pytest.mark.parametrize("order", [1, 3])
@pytest.mark.parametrize("name", ["pyramid_gaussian", "pyramid_laplacian"])
def test_pyramids(name, order, max_layer) -> None:
    expected = list(getattr(reference, name)(PHOTO, max_layer, order=order, channel_axis=-1))
    actual = list(getattr(filters, name)(PHOTO, max_layer, order=order))
    assert [layer.shape for layer in actual] == [layer.shape for layer in expected]
    for a, e in zip(actual, expected, strict=True):
        assert_allclose(a, e, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.int16, np.bool_])
@pytest.mark.parametrize("name", ["pyramid_reduce", "pyramid_expand", "pyramid_laplacian"])
def test_pyramids_of_numbers_that_are_no_colours(name, dtype) -> None:
    """Smoothed they are floats, so that they can be read between pixels."""
    image = (PHOTO[..., 0] * 200).astype(dtype)
    actual, expected = (
        next(made) if name == "pyramid_laplacian" else made
        for made in (getattr(filters, name)(image), getattr(reference, name)(image.astype(float)))
    )
    assert_allclose(actual, expected, rtol=1e-5, atol=1e-4)


def test_what_comes_back_is_what_went_in() -> None:
    picture = PILImage.fromarray((PHOTO * 255).round().astype(np.uint8))
    picture.info["icc_profile"] = b"profile"
    small = filters.resize(picture, (60, 70))
    assert (small.size, small.mode, small.info["icc_profile"]) == ((70, 60), "RGB", b"profile")
    image = pygpu.Image(PHOTO, boundary="wrap")
    turned = filters.rotate(image, 10, dtype="uint8")
    assert isinstance(turned, pygpu.Image)
    assert (turned.dtype, turned.boundary) == (np.uint8, "wrap")
    out = np.empty((40, 50, 3), np.uint8)
    assert filters.resize(PHOTO, (40, 50), out=out) is out
    expected = filters.resize(PHOTO, (40, 50))
    assert np.abs(out / 255 - np.clip(expected, 0, 1)).max() < 0.5 / 255 + 1e-5
    assert np.array_equal(filters.resize(GREY.tolist(), (9, 9)), filters.resize(GREY, (9, 9)))
    same = filters.resize(PHOTO, PHOTO.shape)
    assert_allclose(same, PHOTO)
    assert filters.resize(GREY, (n for n in (4, 6))).shape == (4, 6)
    assert not np.may_share_memory(same, PHOTO)
    assert isinstance(next(filters.pyramid_gaussian(picture)), PILImage.Image)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: filters.resize(GREY, 5), "resize: takes a size"),
        (lambda: filters.resize(GREY, (0, 5)), "from 1 up"),
        (lambda: filters.resize(GREY, (5.5, 5)), r"whole numbers from 1 up, got \(5.5, 5\)"),
        (lambda: filters.resize(GREY, (9, 9, 3)), "the image has 1 channels"),
        (lambda: filters.warp(PHOTO, np.eye(3), output_shape=(9, 9, 4)), "has 3 channels"),
        (lambda: filters.rotate(GREY, 9, center=(-np.inf, 0)), "rotate: center takes"),
        (lambda: filters.pyramid_reduce(GREY, 1e9), "sigma times truncate takes less than 65536"),
        (lambda: filters.resize(GREY, (9, 9), order=2), r"order takes 0 .*, got 2"),
        (lambda: filters.resize(GREY, (9, 9), mode="mirror"), "mode='mirror': takes 'constant'"),
        (lambda: filters.rescale(GREY, 0), "rescale: scale takes a factor above 0"),
        (lambda: filters.pyramid_reduce(GREY, 1), "downscale: takes a factor above 1"),
        (lambda: filters.resize("photo.jpg", (9, 9)), r"resize: got 'photo.jpg'.*Image.open"),
    ],
)
def test_mistakes_are_told(call, words) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        call()


# ---------------------------------------------------------------- warp

TURN = np.array([[0.966, -0.259, 3.0], [0.259, 0.966, -2.0], [0.002, -0.001, 1.0]])


@pytest.mark.parametrize("order", [0, 1, 3])
@pytest.mark.parametrize("mode", ["constant", "edge", "symmetric", "reflect", "wrap"])
def test_warp_by_a_matrix(order, mode) -> None:
    options = {"order": order, "mode": mode, "cval": 0.25, "output_shape": (40, 75)}
    expected = reference.warp(PHOTO, TURN, **options)
    actual = filters.warp(PHOTO, TURN, **options)
    assert actual.shape == expected.shape
    assert np.quantile(np.abs(actual - expected), 0.99) < 3e-4


def test_warp_by_all_that_says_where_to_read() -> None:
    transform = reference.EuclideanTransform(rotation=0.2, translation=(3, -5))
    expected = reference.warp(GREY, transform)
    rows, columns = np.indices(GREY.shape)
    there = transform(np.stack([columns.ravel(), rows.ravel()], 1))
    places = there[:, ::-1].T.reshape(2, *GREY.shape)
    for inverse_map in (transform, transform.params, transform.params.tolist(), places):
        assert_allclose(filters.warp(GREY, inverse_map), expected, atol=2e-5)
    shifted = filters.warp(GREY, lambda xy, by: xy + by, {"by": (2, 1)}, mode="edge")
    assert_allclose(shifted[:-1, :-2], GREY[1:, 2:], atol=1e-6)
    swirled = reference.warp(GREY, swirl, output_shape=(30, 40))
    assert_allclose(filters.warp(GREY, swirl, output_shape=(30, 40)), swirled, atol=2e-5)
    half = filters.warp(GREY, places[:, ::2, ::2])
    assert_allclose(half, expected[::2, ::2], atol=2e-5)


def swirl(xy):
    x, y = (xy - 20).T
    angle = 0.5 * np.exp(-np.hypot(x, y) / 20)
    return (
        np.stack([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)], 1)
        + 20
    )


@pytest.mark.parametrize(
    ("inverse_map", "more", "words"),
    [
        (np.eye(2), {}, "takes a matrix 3 x 3, an object with `params`, a function"),
        ("turn", {}, "takes a matrix 3 x 3"),
        (lambda xy: xy[:-1], {}, "returned some of shape"),
        (np.zeros((2, 5, 5)), {"output_shape": (4, 4)}, "the places are of shape"),
        (np.eye(3), {"order": 2}, "order takes 0"),
        (np.eye(3), {"mode": "round"}, "mode='round'"),
    ],
)
def test_warps_that_say_nothing_are_refused(inverse_map, more, words) -> None:
    with pytest.raises((TypeError, ValueError), match=words):
        filters.warp(GREY, inverse_map, **more)
