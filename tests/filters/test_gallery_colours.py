"""Colours and compositions of the gallery against scikit-image, SciPy, or some lines of NumPy."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
import skimage.color
import skimage.exposure
import skimage.transform
from numpy.testing import assert_allclose
from scipy import ndimage

import gallery
import pygpu
from gallery_numpy import SIZE, grid, luma, mixed, shifted, smoothstep
from pygpu import Image, Position, Vec2, Vec3

pytestmark = pytest.mark.usefixtures("on_cpu")


def texelwise(f, colours: np.ndarray) -> np.ndarray:
    """A function of a colour, compiled and applied to all."""

    @pygpu.compile
    def applied(im: Image, p: Position):
        return f(im(p))

    return applied(colours)


# ---------------------------------------------------------------- colours


@pytest.mark.parametrize("name", ["rgb2hsv", "hsv2rgb"])
def test_hsv(name, colours) -> None:
    actual = texelwise(getattr(gallery.load("hue_rotation"), name), colours)
    assert_allclose(actual, getattr(skimage.color, name)(colours), atol=2e-5)


def test_hue_rotation(colours) -> None:
    hsv = skimage.color.rgb2hsv(colours)
    hsv[..., 0] = (hsv[..., 0] + 140 / 360) % 1
    actual = gallery.load("hue_rotation").render(Image(colours), degrees=140.0)
    assert_allclose(actual, skimage.color.hsv2rgb(hsv), atol=1e-5)


def test_lab(colours) -> None:
    module = gallery.load("lab_vibrance")
    lab = skimage.color.rgb2lab(colours)
    assert_allclose(texelwise(module.rgb2lab, colours), lab, atol=5e-3)
    assert_allclose(texelwise(module.lab2rgb, lab), colours, atol=1e-4)
    assert_allclose(module.render(Image(colours), vibrance=0.0, contrast=0.0), colours, atol=1e-4)


def test_vibrance(colours) -> None:
    lab = skimage.color.rgb2lab(colours)
    more = 1 + 0.5 * np.maximum(0, 1 - np.hypot(lab[..., 1], lab[..., 2]) / 80)
    t = lab[..., 0] / 100
    lab[..., 0] = 100 * mixed(t, t * t * (3 - 2 * t), 0.4)
    lab[..., 1:] *= more[..., np.newaxis]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # colours that sRGB does not have
        expected = skimage.color.lab2rgb(lab)
    actual = gallery.load("lab_vibrance").render(Image(colours), vibrance=0.5, contrast=0.4)
    assert_allclose(np.clip(actual, 0, 1), expected, atol=1e-3)


def test_white_balance_takes_a_tint_away(colours) -> None:
    module = gallery.load("white_balance")
    plain = np.asarray(module.balanced(Image(colours)))
    tinted = np.asarray(module.balanced(Image(colours * [0.9, 0.7, 0.4])))
    assert_allclose(tinted / tinted.max(), plain / plain.max(), atol=1e-5)
    gx, gy = (shifted(colours, *d) - shifted(colours, -d[0], -d[1]) for d in [(1, 0), (0, 1)])
    mean = np.hypot(gx, gy).mean(axis=(0, 1))
    assert_allclose(plain, colours * mean.max() / mean, atol=1e-5)


@pytest.mark.parametrize("curve", ["reinhard", "aces"])
def test_tone_mapping(curve, colours) -> None:
    light = colours**2.2 * (1 + 8 * colours**6)
    weights = np.array([0.2126, 0.7152, 0.0722])
    v = light * 0.18 / np.exp(np.log(1e-4 + light @ weights).mean())
    if curve == "reinhard":
        y = (v @ weights)[..., np.newaxis]
        expected = v * ((1 + y / 36) / (1 + y))
    else:
        expected = np.clip(v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14), 0, 1)
    actual = gallery.load("tone_mapping").render(Image(colours), curve=curve)
    assert_allclose(actual, expected ** (1 / 2.2), rtol=1e-4)


def test_film_look(colours) -> None:
    module = gallery.load("film_lut")
    x = np.linspace(0, 1, 256)
    curves = [np.polyval(np.polyfit(np.arange(5) / 4, ys, 4), x) for ys in module.CURVES.values()]
    expected = [np.interp(colours[..., k], x, curve) for k, curve in enumerate(curves)]
    assert_allclose(module.render(Image(colours)), np.stack(expected, axis=-1), atol=1e-5)


def test_sepia_and_duotone(colours) -> None:
    module = gallery.load("sepia")
    actual = module.render(Image(colours), manner="sepia")
    assert_allclose(actual, colours @ module.SEPIA.T, atol=1e-6)
    dark, bright = np.array([0.1, 0.09, 0.35]), np.array([1.0, 0.55, 0.45])
    actual = module.render(Image(colours), manner="duotone")
    expected = mixed(dark, bright, smoothstep(0.05, 0.9, luma(colours)))
    assert_allclose(actual, expected, atol=1e-6)


def test_vignette(colours) -> None:
    x, y = grid()
    r2 = (((x - 31.5) ** 2 + (y - 23.5) ** 2) / 31.5**2)[..., np.newaxis]
    fall = (1 + 0.5 * r2) ** -2
    expected = fall * mixed(np.array([0.8, 0.9, 1.1]), np.array([1.05, 1.0, 0.92]), fall) * colours
    actual = gallery.load("vignette").render(Image(colours), strength=0.5)
    assert_allclose(actual, expected, atol=1e-6)


def test_histogram_equalisation(colours) -> None:
    module = gallery.load("histogram_equalisation")
    light = np.asarray(module.grey(Image(colours)))
    expected = skimage.exposure.equalize_hist(light, 256)
    assert_allclose(module.equalised(Image(light)), expected, atol=1e-4)


def test_kmeans(colours) -> None:
    module = gallery.load("kmeans_colours")
    texels = colours.astype(np.float32).reshape(-1, 3)
    palette = np.random.default_rng(0).choice(texels, (1, 4))[0].astype(float)
    for _ in range(5):
        label = ((texels[:, np.newaxis] - palette) ** 2).sum(axis=-1).argmin(axis=1)
        palette = np.stack([texels[label == k].mean(axis=0) for k in range(4)])
    assert_allclose(module.fitted(Image(colours), 4, 5), palette[np.newaxis], atol=1e-3)
    label = ((texels[:, np.newaxis] - palette) ** 2).sum(axis=-1).argmin(axis=1)
    actual = np.asarray(module.render(Image(colours), colours=4, rounds=5))
    assert np.isclose(actual, palette[label].reshape(*SIZE, 3), atol=1e-3).mean() > 0.99


def test_colour_blindness(colours) -> None:
    module = gallery.load("colour_blindness")
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    for matrix in module.VISIONS.values():
        light = np.clip(linear @ matrix.T, 0, 1)
        expected = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
        assert_allclose(module.seen(Image(colours), vision=matrix), expected, atol=1e-5)


def test_selective_colour(colours) -> None:
    wanted = np.array([1.0, 0.3, 0.1])
    actual = gallery.load("selective_colour").kept(Image(colours), colour=Vec3(wanted), width=0.5)
    chroma, direction = colours - colours.mean(axis=-1, keepdims=True), wanted - wanted.mean()
    size = np.linalg.norm(chroma, axis=-1)
    cosine = chroma @ direction / np.maximum(size * np.linalg.norm(direction), 1e-6)
    keep = 1 - smoothstep(0.35, 0.65, np.arccos(np.clip(cosine, -1, 1)))
    keep *= smoothstep(0.05, 0.15, size)
    expected = mixed(luma(colours), colours, keep[..., np.newaxis])
    assert_allclose(actual, expected, atol=1e-4)


# ---------------------------------------------------------------- compositions


def hard_light(a, b):
    return np.where(b <= 0.5, 2 * a * b, 1 - 2 * (1 - a) * (1 - b))


def soft_light(a, b):
    d = np.where(a <= 0.25, ((16 * a - 12) * a + 4) * a, np.sqrt(a))
    return np.where(b <= 0.5, a - (1 - 2 * b) * a * (1 - a), a + (2 * b - 1) * (d - a))


BLENDS = {
    "normal": lambda a, b: b,
    "multiply": np.multiply,
    "screen": lambda a, b: 1 - (1 - a) * (1 - b),
    "overlay": lambda a, b: hard_light(b, a),
    "darken": np.minimum,
    "lighten": np.maximum,
    "colour-dodge": lambda a, b: np.minimum(1, a / (1 - b)),
    "colour-burn": lambda a, b: 1 - np.minimum(1, (1 - a) / b),
    "hard-light": hard_light,
    "soft-light": soft_light,
    "difference": lambda a, b: np.abs(a - b),
}


@pytest.mark.parametrize("mode", BLENDS)
def test_blend_modes(mode, colours) -> None:
    other = np.clip(colours[::-1], 0.01, 0.99)
    actual = gallery.load("blend_modes").blended(
        Image(colours), Image(other), mode=mode, opacity=0.75
    )
    expected = mixed(colours, BLENDS[mode](colours, other), 0.75)
    assert_allclose(actual, expected, atol=1e-5)


def test_blend_modes_are_all_tested() -> None:
    assert set(gallery.load("blend_modes").MODES) == set(BLENDS)


def test_chroma_key_is_over(colours) -> None:
    module = gallery.load("chroma_key")
    above = np.concatenate([colours * 0.25, np.full((*SIZE, 1), 0.25)], axis=-1)
    actual = module.over(Image(above), Image(colours[::-1]))
    assert_allclose(actual, 0.25 * colours + 0.75 * colours[::-1], atol=1e-6)
    flat = Image(np.full((8, 8, 3), 0.3))
    keyed = np.asarray(module.keyed(flat, key=Vec3(0.3), near=0.05, far=0.1))
    assert_allclose(keyed, 0, atol=1e-6)


def test_chroma_key(colours) -> None:
    key = np.array([0.6, 0.5, 0.4])
    smooth = ndimage.uniform_filter(colours, (3, 3, 1), mode="nearest")
    difference = smooth - key
    chroma = difference - difference.mean(axis=-1, keepdims=True)
    like = np.linalg.norm(chroma, axis=-1) + 0.35 * np.abs(difference.mean(axis=-1))
    alpha = smoothstep(0.05, 0.2, like)[..., np.newaxis]
    expected = np.concatenate([np.maximum(0, colours - (1 - alpha) * key), alpha], axis=-1)
    actual = gallery.load("chroma_key").keyed(Image(colours), key=Vec3(key), near=0.05, far=0.2)
    assert_allclose(actual, expected, atol=1e-4)


def test_poisson_membrane() -> None:
    """The linear system, solved exactly."""
    fixed = np.random.default_rng(2).random((40, 40))
    centre, radius = Vec2(20.0, 19.0), 9.0
    y, x = np.mgrid[0:40, 0:40]
    free = np.hypot(x - 20, y - 19) < radius
    number = np.cumsum(free.ravel()).reshape(40, 40) - 1
    count = int(free.sum())
    matrix, right = scipy.sparse.lil_matrix((count, count)), np.zeros(count)
    for row, column in np.argwhere(free):
        here = number[row, column]
        matrix[here, here] = 4
        for dy, dx in [(0, 1), (0, -1), (1, 0), (-1, 0)]:
            there = row + dy, column + dx
            if free[there]:
                matrix[here, number[there]] = -1
            else:
                right[here] += fixed[there]
    expected = fixed.copy()
    expected[free] = scipy.sparse.linalg.spsolve(matrix.tocsr(), right)
    module = gallery.load("poisson_blending")
    assert_allclose(module.membrane(Image(fixed), centre, radius, 500), expected, atol=1e-4)
