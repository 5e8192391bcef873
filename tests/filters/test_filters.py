"""`pygpu.filters` against SciPy, scikit-image, Pillow: of images, in functions, in plain Python."""

import math

import numpy as np
import pytest
import skimage.color
import skimage.filters
import skimage.transform
import skimage.util
from numpy import ravel, sqrt, transpose
from numpy.testing import assert_allclose
from PIL import Image as PILImage
from scipy import ndimage

import pygpu
from pygpu import Image, Position, Vec3, Vec4, filters, offsets

SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
EDGES = """
    sobel sobel_h sobel_v prewitt prewitt_h prewitt_v scharr scharr_h scharr_v farid farid_h farid_v
    roberts roberts_pos_diag roberts_neg_diag laplace
""".split()
PLACES = [(0, 0), (7, 5), (31, 23), (30, 2)]


pytestmark = pytest.mark.usefixtures("on_cpu")


@pytest.fixture
def grey() -> np.ndarray:
    return np.random.default_rng(0).random((24, 32)).astype(np.float32)


@pytest.fixture
def colours() -> np.ndarray:
    return np.random.default_rng(1).random((24, 32, 3)).astype(np.float32)


@pytest.fixture
def layers(colours) -> np.ndarray:
    """Colours with alpha."""
    alpha = np.random.default_rng(2).random((24, 32, 1)).astype(np.float32)
    return np.concatenate([colours, alpha], axis=-1)


def edgeDetect(kernel, im=Image, p=Position):  # noqa: N802 (the paper's name)
    def convolve(kernel, im=Image, p=Position):
        return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel), strict=True)])

    Gx = convolve(kernel, im, p)
    Gy = convolve(transpose(kernel), im, p)
    return sqrt(Gx**2 + Gy**2)


# ---------------------------------------------------------------- weighted sums


@pytest.mark.parametrize("shape", [(3, 3), (2, 2), (1, 5), (4, 3), (5, 1)])
@pytest.mark.parametrize("name", ["correlate", "convolve"])
def test_weighted_sums_are_those_of_scipy(name, shape, grey) -> None:
    kernel = np.random.default_rng(3).normal(size=shape)
    actual = pygpu.compile(getattr(filters, name), kernel=kernel)(grey)
    expected = getattr(ndimage, name)(grey.astype(float), kernel, mode="nearest")
    assert_allclose(actual, expected, atol=1e-5)


def test_a_row_of_weights_lies_along_x(grey) -> None:
    actual = pygpu.compile(filters.convolve, kernel=[1.0, 0.0, -1.0])(grey)
    expected = ndimage.convolve1d(grey.astype(float), [1, 0, -1], axis=1, mode="nearest")
    assert_allclose(actual, expected, atol=1e-6)


@pytest.mark.parametrize("sigma", [0, 0.1, 0.8, 2.5])
def test_gaussian(sigma, colours) -> None:
    expected = skimage.filters.gaussian(colours, sigma, channel_axis=-1)
    assert_allclose(filters.gaussian(colours, sigma=sigma), expected, atol=2e-6)


def test_gaussian_rounds_nothing_between_its_passes(colours) -> None:
    picture = PILImage.fromarray((colours * 255).astype(np.uint8))
    actual = filters.gaussian(picture, sigma=2.0)
    assert isinstance(actual, PILImage.Image)
    exact = skimage.filters.gaussian(np.asarray(picture) / 255, 2.0, channel_axis=-1) * 255
    assert np.abs(np.asarray(actual) - exact).max() <= 0.5 + 1e-4


def test_gaussian_takes_out_and_dtype(grey) -> None:
    out = np.empty((24, 32), np.uint16)
    assert filters.gaussian(grey, sigma=1.0, out=out) is out
    assert filters.gaussian(grey, sigma=1.0, dtype=np.uint16).tolist() == out.tolist()


def test_gaussian_of_a_pixel(grey) -> None:
    @pygpu.compile
    def detail(im: Image, p: Position):
        return im(p) - filters.gaussian(im, p, 1.5)

    expected = grey - skimage.filters.gaussian(grey, 1.5)
    assert_allclose(detail(grey), expected, atol=2e-6)
    assert detail(Image(grey), Position(5, 6)) == pytest.approx(expected[6, 5], abs=2e-6)


def test_gaussian_of_two_widths(grey) -> None:
    expected = skimage.filters.gaussian(grey, (0.5, 2.0))
    assert_allclose(filters.gaussian(grey, sigma=(0.5, 2.0)), expected, atol=2e-6)
    pixel = filters.gaussian(Image(grey), Position(5, 6), (0.5, 2.0))
    assert pixel == pytest.approx(expected[6, 5], abs=2e-6)


def test_a_number_given_second_is_the_width_of_a_gaussian_as_in_scikit_image(grey) -> None:
    for sigma in (2, 1.5, np.float32(0.5)):
        assert_allclose(
            filters.gaussian(grey, sigma), skimage.filters.gaussian(grey, sigma), atol=2e-6
        )


def test_gaussian_says_what_it_takes(grey) -> None:
    with pytest.raises(TypeError, match="im takes an image"):
        filters.gaussian(0.5)
    with pytest.raises(TypeError, match="p takes a position, got 'wide'"):
        filters.gaussian(grey, "wide")


@pytest.mark.parametrize("name", ["convolve", "correlate"])
def test_kernels_and_arrays_are_told_how_they_come_together(grey, name: str) -> None:
    with pytest.raises(TypeError, match=rf"compile\({name}, kernel=k\) makes a function"):
        getattr(filters, name)(np.ones((3, 3)), grey)
    for sigma in (-1, math.nan, math.inf, "wide", (1, 2, 3), (1, -1)):
        with pytest.raises(ValueError, match="sigma takes a number, 0 or more, or a pair"):
            filters.gaussian(grey, sigma=sigma)


# ---------------------------------------------------------------- edges and medians


@pytest.mark.parametrize("name", EDGES)
def test_edges_are_those_of_scikit_image(name, grey) -> None:
    function = getattr(filters, name)
    image = Image(grey, boundary="reflect")
    expected = getattr(skimage.filters, name)(grey)
    assert_allclose(function(image), expected, atol=1e-6)
    for x, y in PLACES:
        assert function(image, Position(x, y)) == pytest.approx(expected[y, x], abs=1e-6)


@pytest.mark.parametrize("name", ["sobel", "farid_v", "roberts"])
def test_edges_of_a_function_of_position(name, colours) -> None:
    @pygpu.compile
    def edges(im: Image, p: Position):
        return getattr(filters, name)(lambda q: filters.rgb2gray(im(q)), p)

    expected = getattr(skimage.filters, name)(skimage.color.rgb2gray(colours))
    assert_allclose(edges(Image(colours, boundary="reflect")), expected, atol=1e-6)


def test_functions_have_names_and_documentation() -> None:
    assert filters.sobel_h.__name__ == "sobel_h"
    assert all(getattr(filters, name).__doc__ for name in filters.__all__ if name != "BLENDS")
    assert sorted(filters.__all__) == filters.__all__


@pytest.mark.parametrize("size", [3, 5])
def test_median(size, grey, colours) -> None:
    assert_allclose(
        filters.median(grey, size=size), ndimage.median_filter(grey, size, mode="nearest")
    )
    expected = ndimage.median_filter(colours, (size, size, 1), mode="nearest")
    assert_allclose(filters.median(colours, size=size), expected)


@pytest.mark.parametrize("size", [1, 2, 4, (3, 5), (1, 4)])
def test_median_of_any_window(size, grey) -> None:
    expected = ndimage.median_filter(grey, size, mode="nearest")
    assert_allclose(filters.median(grey, size=size), expected)


@pytest.mark.parametrize("size", [0, -3, 2.5, "3", (3, 0), (1, 2, 3)])
def test_median_says_what_it_takes(size, grey) -> None:
    with pytest.raises(ValueError, match="size takes a whole number, 1 or more"):
        filters.median(grey, size=size)


# ---------------------------------------------------------------- texels


SHAPES = [(1, 1), (1, 7), (7, 1), (2, 3), (17, 13)]


def texels(shape, dtype, channels) -> np.ndarray:
    values = np.random.default_rng(4).random((*shape, channels) if channels > 1 else shape)
    most = np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else 1
    return (values * most).astype(dtype)


def channelwise(function, texels) -> np.ndarray:
    floats = skimage.util.img_as_float(texels)
    if floats.ndim == 2:
        return function(floats)
    return np.stack([function(channel) for channel in np.moveaxis(floats, -1, 0)], axis=-1)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_filters_of_any_size_and_type(shape, dtype, channels) -> None:
    given = texels(shape, dtype, channels)
    pairs = [
        (filters.sobel(given), skimage.filters.sobel),
        (filters.farid_h(Image(given, boundary="reflect")), skimage.filters.farid_h),
        (filters.laplace(given), skimage.filters.laplace),
        (filters.gaussian(given, sigma=2.0), lambda v: skimage.filters.gaussian(v, 2.0)),
        (filters.median(given), lambda v: ndimage.median_filter(v, 3, mode="nearest")),
    ]
    for actual, function in pairs:
        assert_allclose(actual, channelwise(function, given), atol=2e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float64"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_colours_of_any_size_and_type(shape, dtype) -> None:
    given = texels(shape, dtype, 3)
    for name in ("rgb2gray", "rgb2hsv", "hsv2rgb", "rgb2xyz", "rgb2lab"):
        expected = getattr(skimage.color, name)(skimage.util.img_as_float(given))
        atol = 3e-4 if name == "rgb2lab" else 1e-5
        assert_allclose(getattr(filters, name)(given), expected, atol=atol)


# ---------------------------------------------------------------- colours


FROM_RGB = """
    rgb2gray rgb2hsv hsv2rgb rgb2xyz rgb2lab rgb2luv rgb2yuv rgb2yiq rgb2ypbpr rgb2ycbcr rgb2hed
""".split()


@pytest.mark.parametrize("name", FROM_RGB)
def test_colours_are_those_of_scikit_image(name, colours) -> None:
    function, expected = getattr(filters, name), getattr(skimage.color, name)(colours)
    atol = 2e-4 if name in ("rgb2lab", "rgb2luv", "rgb2ycbcr") else 1e-5
    assert_allclose(function(colours), expected, atol=atol)
    for x, y in PLACES:
        assert_allclose(function(Vec3(*colours[y, x])), expected[y, x], atol=atol)


@pytest.mark.parametrize("name", ["xyz2rgb", "lab2rgb"])
def test_colours_back_to_rgb(name, colours) -> None:
    there = getattr(skimage.color, f"rgb2{name[:3]}")(colours)
    assert_allclose(getattr(filters, name)(there), colours, atol=2e-5)
    wild = there * 1.5 - 0.25 * there.max()
    if name == "xyz2rgb":
        expected = skimage.color.xyz2rgb(wild)
        assert_allclose(filters.xyz2rgb(wild), expected, atol=2e-5)


@pytest.mark.parametrize("name", ["luv", "yuv", "yiq", "ypbpr", "ycbcr", "hed"])
def test_other_spaces_back_to_rgb(name, colours) -> None:
    there = getattr(skimage.color, f"rgb2{name}")(colours)
    expected = getattr(skimage.color, f"{name}2rgb")(there)
    assert_allclose(getattr(filters, f"{name}2rgb")(there), expected, atol=2e-5)


def test_lab_by_way_of_others(colours) -> None:
    lab, xyz = skimage.color.rgb2lab(colours), skimage.color.rgb2xyz(colours)
    assert_allclose(filters.xyz2lab(xyz), lab, atol=2e-4)
    assert_allclose(filters.lab2xyz(lab), xyz, atol=2e-5)
    lch = skimage.color.lab2lch(lab)
    assert_allclose(filters.lab2lch(lab), lch, atol=2e-5)
    assert_allclose(filters.lch2lab(lch), lab, atol=1e-4)


@pytest.mark.filterwarnings("ignore:Conversion from CIE-LAB")
def test_lab_outside_of_rgb_is_clipped() -> None:
    lab = np.array([[[50, 120, -120], [90, -120, 120], [5, 0, 60], [100, 0, 0], [0, 0, 0]]], float)
    assert_allclose(filters.lab2rgb(lab), skimage.color.lab2rgb(lab), atol=2e-5)


OTHERS = ["xyz2rgb", "lab2rgb", "lab2xyz", "xyz2lab", "lab2lch", "lch2lab", "hsv2rgb"]
OTHERS += [f"{space}2rgb" for space in ("luv", "yuv", "yiq", "ypbpr", "ycbcr", "hed")]


@pytest.mark.filterwarnings("ignore:invalid value", "ignore:Conversion from CIE-LAB")
@pytest.mark.parametrize("name", [*FROM_RGB, *OTHERS])
def test_colours_that_are_no_numbers_are_none_in_other_spaces(name) -> None:
    given = 0.25 + 0.5 * np.eye(3)[:, np.newaxis]
    given[given > 0.5] = np.nan
    expected = getattr(skimage.color, name)(given)
    are_nan = np.isnan(getattr(filters, name)(given))
    assert are_nan[np.isnan(expected)].all()


def test_greys_have_no_hue() -> None:
    greys = np.repeat(np.linspace(0, 1, 5)[np.newaxis, :, np.newaxis], 3, axis=-1)
    assert_allclose(filters.rgb2hsv(greys), skimage.color.rgb2hsv(greys), atol=1e-7)


def test_linear_light_and_back(colours) -> None:
    linear = filters.srgb_to_linear(colours)
    expected = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    assert_allclose(linear, expected, atol=1e-6)
    assert_allclose(filters.linear_to_srgb(linear), colours, atol=1e-6)
    assert filters.srgb_to_linear(0.5) == pytest.approx(0.21404, abs=1e-5)


def test_grey_and_back(grey) -> None:
    rgb = filters.gray2rgb(Image(grey))
    assert rgb.shape == (24, 32, 3)
    assert_allclose(filters.rgb2gray(rgb), grey, rtol=1e-6)


def test_colours_in_functions(colours) -> None:
    @pygpu.compile
    def saturated(im: Image, p: Position):
        h, s, v = filters.rgb2hsv(im(p))
        return filters.hsv2rgb(Vec3(h, s**0.5, v))

    hsv = skimage.color.rgb2hsv(colours)
    hsv[..., 1] **= 0.5
    assert_allclose(saturated(colours), skimage.color.hsv2rgb(hsv), atol=2e-5)


def test_a_picture_of_another_form_comes_back(colours) -> None:
    picture = PILImage.fromarray((colours * 255).astype(np.uint8))
    assert filters.rgb2gray(picture).mode == "L"
    assert filters.rgb2hsv(colours, dtype=np.uint8).dtype == np.uint8


@pytest.mark.parametrize(
    "name", ["rgb2lab", "lab2rgb", "rgb2ycbcr", "yuv2rgb", "rgb2luv", "lab2lch"]
)
def test_colours_that_no_picture_holds_are_refused(colours, name) -> None:
    """All of Y'CbCr had been white, and half of a* and b* black."""
    picture = PILImage.fromarray((colours * 255).astype(np.uint8))
    convert = getattr(filters, name)
    with pytest.raises(TypeError, match=rf"{name}: a PIL image holds no colours beyond \[0, 1\]"):
        convert(picture)
    out = np.empty(colours.shape, np.float32)
    assert convert(picture, out=out) is out
    assert_allclose(out, convert(np.asarray(picture)))


def test_conversions_say_what_they_take(layers, grey) -> None:
    with pytest.raises(
        ValueError, match="rgb2lab takes an image of 3 channels, got 4: leave alpha"
    ):
        filters.rgb2lab(layers)
    with pytest.raises(ValueError, match="rgb2gray takes an image of 3 channels, got 1"):
        filters.rgb2gray(grey)
    with pytest.raises(ValueError, match="gray2rgb takes an image of 1 channel, got 4"):
        filters.gray2rgb(layers)
    with pytest.raises(ValueError, match="srgb_to_linear takes an image of 1 or 3 channels"):
        filters.srgb_to_linear(layers)
    with pytest.raises(TypeError, match="rgb2hsv takes dtype with an image, got Vec3"):
        filters.rgb2hsv(Vec3(0.1, 0.2, 0.3), dtype=np.uint8)


# ---------------------------------------------------------------- blends


def hard_light(a, b):
    return np.where(b <= 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b))


def soft_light(a, b):
    d = np.where(a <= 0.25, ((16 * a - 12) * a + 4) * a, np.sqrt(a))
    return np.where(b <= 0.5, a - (1 - 2 * b) * a * (1 - a), a + (2 * b - 1) * (d - a))


def divided(a, b):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.minimum(1, a / b)


BLENDS = {
    "normal": lambda a, b: b,
    "multiply": np.multiply,
    "screen": lambda a, b: 1 - (1 - a) * (1 - b),
    "overlay": lambda a, b: hard_light(b, a),
    "darken": np.minimum,
    "lighten": np.maximum,
    "color_dodge": lambda a, b: np.where(a == 0, 0, divided(a, 1 - b)),
    "color_burn": lambda a, b: np.where(a == 1, 1, 1 - divided(1 - a, b)),
    "hard_light": hard_light,
    "soft_light": soft_light,
    "difference": lambda a, b: np.abs(a - b),
    "exclusion": lambda a, b: a + b - 2 * a * b,
}


@pytest.mark.parametrize("mode", BLENDS)
def test_blends(mode) -> None:
    levels = np.array([0, 0.125, 0.25, 0.375, 0.5, 0.75, 1])
    a, b = np.meshgrid(levels, levels)
    expected = BLENDS[mode](a, b)
    assert_allclose(filters.blend(a, b, mode=mode), expected, atol=1e-6)
    assert_allclose(filters.blend(a, b, mode=mode, opacity=0.5), (a + expected) / 2, atol=1e-6)
    plain = [
        [getattr(filters, mode)(x, y) for x, y in zip(*r, strict=True)]
        for r in zip(a, b, strict=True)
    ]
    assert_allclose(np.array(plain, float), expected, atol=1e-6)


def test_all_blends_are_tested() -> None:
    assert filters.BLENDS.keys() == BLENDS.keys()


def test_blend_by_a_function(colours) -> None:
    actual = filters.blend(colours, colours[::-1], mode=lambda a, b: (a + b) / 2)
    assert_allclose(actual, (colours + colours[::-1]) / 2, atol=1e-6)


def test_blend_says_what_it_takes(colours) -> None:
    with pytest.raises(ValueError, match=r"mode takes normal, multiply, .*, got 'dissolve'"):
        filters.blend(colours, colours, mode="dissolve")


# ---------------------------------------------------------------- between pixels


@pytest.mark.parametrize(
    ("name", "resampling"),
    [("bicubic", "BICUBIC"), ("lanczos", "LANCZOS"), ("bilinear", "BILINEAR")],
)
def test_samplers_enlarge_as_pillow_does(name, resampling, grey) -> None:
    @pygpu.compile
    def doubled(im: Image, p: Position):
        return getattr(filters, name)(im, (p + 0.5) / 2 - 0.5)

    filter = PILImage.Resampling[resampling]
    expected = np.asarray(PILImage.fromarray(grey).resize((64, 48), filter))
    assert_allclose(doubled(grey, shape=(48, 64))[8:-8, 8:-8], expected[8:-8, 8:-8], atol=2e-6)


@pytest.mark.parametrize("name", ["bicubic", "lanczos", "bilinear"])
def test_samplers_give_pixels_at_whole_positions(name, grey) -> None:
    sample, image = getattr(filters, name), Image(grey)
    for x, y in PLACES:
        assert sample(image, (x, y)) == pytest.approx(grey[y, x], abs=1e-6)
        assert sample(image, (float(x), float(y))) == pytest.approx(grey[y, x], abs=1e-6)


def test_bilinear_is_linear_interpolation(grey) -> None:
    image = Image(grey, interpolation="linear")
    for q in [(3.25, 7.75), (-0.5, 2.0), (31.9, 23.5)]:
        assert filters.bilinear(Image(grey), q) == pytest.approx(image(q), abs=1e-6)


# ---------------------------------------------------------------- alpha


def test_keep_alpha(layers) -> None:
    edges = pygpu.compile(filters.keep_alpha(edgeDetect), kernel=SOBEL)
    actual = edges(layers)
    assert_allclose(actual[..., 3], layers[..., 3])
    plain = pygpu.compile(edgeDetect, kernel=SOBEL)(layers[..., :3])
    assert_allclose(actual[..., :3], plain, atol=1e-6)


def test_keep_alpha_of_an_image_without(colours) -> None:
    edges = pygpu.compile(filters.keep_alpha(edgeDetect), kernel=SOBEL)
    plain = pygpu.compile(edgeDetect, kernel=SOBEL)
    assert_allclose(edges(colours), plain(colours), atol=1e-6)


def test_keep_alpha_in_plain_python(layers) -> None:
    function = filters.keep_alpha(edgeDetect)
    actual = function(SOBEL, Image(layers), Position(4, 5))
    expected = edgeDetect(SOBEL, Image(layers[..., :3].copy()), Position(4, 5))
    assert_allclose(actual, [*expected, layers[5, 4, 3]], atol=1e-6)


def test_keep_alpha_of_a_compiled_function(layers) -> None:
    @filters.keep_alpha
    @pygpu.compile
    def shifted(im: Image, p: Position, by: int = 2):
        other = im.sampled(boundary="wrap")
        return other(p + (by, 0)) * (im.width / im.shape[1]) * im.channels / 3

    actual = pygpu.compile(shifted)(layers, by=3)
    expected = np.concatenate([np.roll(layers[..., :3], -3, axis=1), layers[..., 3:]], axis=-1)
    assert_allclose(actual, expected, atol=1e-6)


def test_over(layers, colours) -> None:
    other = layers[::-1]
    a, alpha = other[..., :3], other[..., 3:]
    assert_allclose(filters.over(colours, other), alpha * a + (1 - alpha) * colours, atol=1e-6)
    below = PILImage.fromarray((layers * 255).astype(np.uint8))
    above = PILImage.fromarray((other * 255).astype(np.uint8))
    expected = np.asarray(PILImage.alpha_composite(below, above)).astype(int)
    assert np.abs(np.asarray(filters.over(below, above)).astype(int) - expected).max() <= 1


def test_nothing_over_nothing_is_nothing() -> None:
    clear = Image(np.zeros((2, 2, 4)))
    assert not np.asarray(filters.over(clear, clear)).any()
    assert all(filters.over(clear, clear, Position(0, 0)) == Vec4(0.0))


def test_alpha_says_what_it_takes(colours) -> None:
    with pytest.raises(ValueError, match="above takes an image of four channels, got 3"):
        filters.over(colours, colours)
    with pytest.raises(ValueError, match=r"below: .* a colour alone is none"):
        filters.over((1, 0, 0), (0, 1, 0, 1))
    with pytest.raises(TypeError, match="above takes an image, not a colour: mix"):
        filters.over(Image(colours), Vec4(0.0), Position(0, 0))
    with pytest.raises(TypeError, match=r"got an array of shape \(100,\)"):
        filters.keep_alpha(np.zeros(100))
    with pytest.raises(TypeError, match="keep_alpha takes a function of images and a position"):
        filters.keep_alpha(3)
