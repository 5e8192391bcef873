"""Geometry of the gallery against SciPy, scikit-image, OpenCV, Pillow, or some lines of NumPy."""

import math

import numpy as np
import pytest
import skimage.color
import skimage.exposure
import skimage.transform
from numpy.testing import assert_allclose
from PIL import Image as PILImage
from scipy import ndimage

import gallery
import pygpu
from gallery_numpy import channels, grid, inside, sampled
from pygpu import Image, Position, Vec2

pytestmark = pytest.mark.usefixtures("on_cpu")


def test_rotate(colours) -> None:
    turn = math.radians(20)
    matrix = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]])
    middle = np.array([23.5, 31.5])
    expected = channels(
        lambda c: ndimage.affine_transform(
            c, matrix, middle - matrix @ middle, order=1, mode="grid-constant"
        ),
        colours,
    )
    assert_allclose(
        gallery.load("rotate").render(Image(colours), degrees=20.0), expected, atol=1e-5
    )


def test_swirl(colours) -> None:
    actual = gallery.load("swirl").render(Image(colours), strength=3.0, radius=30.0)
    expected = skimage.transform.swirl(
        colours, center=(31.5, 23.5), strength=3, radius=30, order=1, mode="edge"
    )
    assert_allclose(actual, expected, atol=1e-4)


def test_lens_distortion(colours) -> None:
    """Keys' cubic is OpenCV's, but for its parameter, and Pillow's."""
    module = gallery.load("lens_distortion")
    assert_allclose(module.render(Image(colours), k1=0.0, k2=0.0), colours, atol=1e-6)

    @pygpu.compile
    def doubled(im: Image, p: Position):
        return module.cubic(im, (p + 0.5) / 2 - 0.5)

    actual = doubled(colours, shape=(96, 128))

    def reference(c):
        small = PILImage.fromarray(c.astype(np.float32))
        return np.asarray(small.resize((128, 96), PILImage.Resampling.BICUBIC))

    assert_allclose(inside(actual, 4), inside(channels(reference, colours), 4), atol=1e-5)


def test_polar(colours) -> None:
    actual = gallery.load("polar").render(Image(colours), inverse=True)
    # Theirs has the angle along y and the radius along x.
    expected = skimage.transform.warp_polar(
        colours, radius=40, output_shape=(64, 48), channel_axis=-1, order=1
    ).transpose(1, 0, 2)
    close = np.isclose(actual, expected, atol=2e-3)
    assert close.mean() > 0.98  # at the very border one of the two may read outside


def test_kaleidoscope_is_symmetric(colours) -> None:
    actual = np.asarray(gallery.load("kaleidoscope").render(Image(colours[:, :48]), wedges=4))
    assert_allclose(actual[::-1], actual, atol=1e-4)
    assert_allclose(actual[:, ::-1], actual, atol=1e-4)
    assert_allclose(actual.transpose(1, 0, 2), actual, atol=1e-4)


def test_perspective(colours) -> None:
    cv2 = pytest.importorskip("cv2")
    module = gallery.load("perspective")
    source = [(10.0, 20.0), (50.0, 18.0), (63.0, 47.0), (0.0, 45.0)]
    target = [(0.0, 0.0), (63.0, 0.0), (63.0, 47.0), (0.0, 47.0)]
    matrix = module.homography(source, target)
    expected = cv2.getPerspectiveTransform(np.float32(source), np.float32(target))
    assert_allclose(matrix, expected, rtol=1e-5, atol=1e-5)
    actual = module.laid_out(Image(colours), to_photo=matrix, horizon=-100.0, samples=1)
    x, y = grid()
    u, v, w = (matrix[i, 0] * x + matrix[i, 1] * y + matrix[i, 2] for i in range(3))
    expected = sampled(colours, u / w, v / w, "mirror")
    assert_allclose(np.asarray(actual)[25:, 5:60], expected[25:, 5:60], atol=2e-4)


def test_lanczos(colours) -> None:
    actual = gallery.load("lanczos_resize").enlarged(Image(colours), 3.0)

    def reference(c):
        small = PILImage.fromarray(c.astype(np.float32))
        return np.asarray(small.resize((192, 144), PILImage.Resampling.LANCZOS))

    assert_allclose(inside(actual, 12), inside(channels(reference, colours), 12), atol=1e-5)


def test_droste_repeats_itself_inwards(colours) -> None:
    """Without a twist, what is a step further in is the same picture, smaller."""
    spiral = gallery.load("droste").spiral
    square = Image(np.ascontiguousarray(colours[:, :48]))
    actual = np.asarray(spiral(square, inner=0.3, outer=0.9, arms=0))
    centre = 23.75
    for x, y in [(40, 30), (10, 12), (30, 44), (5, 40)]:
        there = Position(x, y)
        inner = Vec2(centre, centre) + (there - Vec2(centre, centre)) / 3
        expected = spiral.__wrapped__(square, inner, 0.3, 0.9, 0)
        assert_allclose(actual[y, x], expected, atol=1e-3)


def test_ripple(colours) -> None:
    x, y = grid()
    vx, vy = x - 32, y - 0.45 * 48
    r = np.hypot(vx, vy)
    slope = np.cos(2 * np.pi * r / 20) * np.exp(-r / 160)
    seen = sampled(colours, x + 4 * slope * vx / r, y + 4 * slope * vy / r, "mirror")
    expected = seen + (0.35 * slope * np.maximum(0, -(vx + vy) / r))[..., np.newaxis]
    actual = gallery.load("ripple").render(Image(colours), wavelength=20.0, depth=4.0)
    assert_allclose(actual, expected, atol=1e-4)


def test_polar_winds_a_planet(colours) -> None:
    x, y = grid()
    turn, far = np.arctan2(x - 31.5, y - 23.5) / np.pi, np.hypot(x - 31.5, y - 23.5)
    far /= math.hypot(31.5, 23.5)
    expected = sampled(colours, np.abs(turn) * 63, (1 - far) * 47, "mirror")
    assert_allclose(gallery.load("polar").render(Image(colours)), expected, atol=1e-4)


def test_kaleidoscope(colours) -> None:
    x, y = grid()
    z = (x - 31.5) + 1j * (y - 23.5)
    wedge = 2 * np.pi / 6
    angle = np.abs(np.angle(z) % wedge - wedge / 2) + math.radians(20)
    there = np.abs(z) * np.exp(1j * angle)
    expected = sampled(colours, 31.5 + there.real, 23.5 + there.imag, "mirror")
    actual = gallery.load("kaleidoscope").render(Image(colours), wedges=6, degrees=20.0)
    assert np.isclose(actual, expected, atol=1e-4).mean() > 0.998


def test_droste(colours) -> None:
    """The map in complex numbers: a power of z, brought into the ring."""
    x, y = grid()
    period = math.log(0.9 / 0.3)
    z = ((x - 31.75) + 1j * (y - 23.75)) / 32
    w = np.log(z) * (1 - 1j * period / (2 * np.pi))
    w = w.real % period + math.log(0.3) + 1j * (w.imag + math.atan2(period, 2 * np.pi))
    at = 32 * np.exp(w)
    expected = sampled(colours, at.real + 32, at.imag + 24, "mirror")
    actual = gallery.load("droste").render(Image(colours), inner=0.3, outer=0.9)
    assert np.isclose(actual, expected, atol=1e-3).mean() > 0.99
