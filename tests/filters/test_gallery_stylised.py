"""Stylised pictures of the gallery against some lines of NumPy, and OpenCV."""

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
from numpy.testing import assert_allclose
from scipy import ndimage

import gallery
from gallery_numpy import (
    GREY,
    SIZE,
    channels,
    grid,
    inside,
    jittered,
    lattice,
    luma,
    mixed,
    nearest,
    sampled,
    shifted,
    smoothstep,
    window,
)
from pygpu import Image

pytestmark = pytest.mark.usefixtures("on_cpu")


def test_ordered_dither(colours) -> None:
    module = gallery.load("ordered_dither")
    actual = np.asarray(module.render(Image(colours), levels=3, order=2))
    ranks = [[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]
    assert_allclose(module.bayer(2), (np.array(ranks) + 0.5) / 16)
    tiled = np.tile(module.bayer(2), (12, 16))[..., np.newaxis]
    assert_allclose(actual, np.floor(colours * 2 + tiled) / 2)


def test_pixelate(colours) -> None:
    actual = gallery.load("pixelate").render(Image(colours), size=8)
    means = colours.reshape(6, 8, 8, 8, 3).mean(axis=(1, 3))
    assert_allclose(actual, means.repeat(8, axis=0).repeat(8, axis=1), atol=1e-6)


def test_posterise(colours) -> None:
    actual = gallery.load("posterise").render(Image(colours), levels=5, soft=0.0)
    assert_allclose(actual, np.round(colours * 4) / 4, atol=1e-6)


def test_emboss_of_a_slope() -> None:
    """A plane that rises by 0.1 a pixel has one normal."""
    ramp = np.repeat(np.arange(8.0)[np.newaxis, :, np.newaxis] / 10, 3, axis=2).repeat(6, axis=0)
    light = np.array([0.6, 0, 0.8])
    actual = gallery.load("emboss").embossed(Image(ramp), depth=1.0, light=tuple(light))
    normal = np.array([-0.2, 0, 1]) / math.hypot(0.2, 1)
    half = (light + [0, 0, 1]) / np.linalg.norm(light + [0, 0, 1])
    expected = 0.1 + 0.8 * normal @ light + 0.3 * (normal @ half) ** 40
    assert_allclose(inside(actual, 1), expected, rtol=1e-5)


def test_emboss(colours) -> None:
    height = 2.0 * (colours @ GREY)
    dx, dy = (shifted(height, *d) - shifted(height, -d[0], -d[1]) for d in [(1, 0), (0, 1)])
    normal = np.stack([-dx, -dy, np.ones(SIZE)], axis=-1)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    turn = math.radians(135)
    light = np.array([math.cos(turn), -math.sin(turn), 0.9])
    light /= np.linalg.norm(light)
    half = (light + [0, 0, 1]) / np.linalg.norm(light + [0, 0, 1])
    expected = 0.1 + 0.8 * np.maximum(0, normal @ light) + 0.3 * np.maximum(0, normal @ half) ** 40
    assert_allclose(gallery.load("emboss").render(Image(colours), depth=2.0), expected, atol=1e-4)


def test_oil_paint(colours) -> None:
    levels = (colours @ GREY * 7 + 0.5).astype(int)
    counts, sums = np.zeros((8, 48, 64)), np.zeros((8, 48, 64, 3))
    for dx, dy in window(3):
        if dx * dx + dy * dy <= 9:
            for k in range(8):
                there = shifted(levels, dx, dy) == k
                counts[k] += there
                sums[k] += there[..., np.newaxis] * shifted(colours, dx, dy)
    best = counts.argmax(axis=0)[np.newaxis]
    mean = np.take_along_axis(sums, best[..., np.newaxis], 0)[0]
    expected = mean / np.take_along_axis(counts, best, 0)[0][..., np.newaxis]
    actual = np.asarray(gallery.load("oil_paint").render(Image(colours), radius=3, levels=8))
    assert np.isclose(actual, expected, atol=1e-5).mean() > 0.999


def test_sketch_blurs(grey) -> None:
    actual = gallery.load("sketch").gaussian(Image(grey), 1.5)
    expected = ndimage.gaussian_filter(grey, 1.5, mode="nearest", truncate=3.0)
    assert_allclose(actual, expected, atol=2e-6)


def test_ascii_art_sets_letters() -> None:
    """In a flat picture each cell holds the same letter."""
    module = gallery.load("ascii_art")
    actual = np.asarray(module.render(Image(np.full((24, 30, 3), 0.5))))
    cells = actual.reshape(24 // module.HEIGHT, module.HEIGHT, 30 // module.WIDTH, module.WIDTH, 3)
    letter = cells[0, :, 0, :, 0] / cells[0, :, 0, :, 0].max()
    assert (cells == cells[:1, :, :1]).all()
    table = module.glyphs().reshape(-1, module.HEIGHT, module.WIDTH)
    assert any(np.allclose(letter, glyph / max(glyph.max(), 1e-6), atol=1e-5) for glyph in table)


def test_demosaicing(colours) -> None:
    """Linear filters: each pattern of the mosaic is its own image, zero elsewhere."""
    module = gallery.load("demosaic")
    raw = module.mosaic(Image(colours))
    y, x = np.mgrid[0:48, 0:64]
    assert_allclose(raw, np.choose(x % 2 + y % 2, np.moveaxis(colours, -1, 0)), atol=1e-7)
    cv2 = pytest.importorskip("cv2")
    bytes_ = np.round(np.asarray(raw) * 255).astype(np.uint8)
    actual = np.asarray(module.developed(Image(bytes_)))
    bilinear = cv2.cvtColor(bytes_, cv2.COLOR_BayerBG2RGB) / 255
    assert np.abs(actual - bilinear).mean() < 0.02  # the same but for details
    truth = np.round(colours * 255) / 255
    assert np.abs(actual - truth).mean() < 0.75 * np.abs(bilinear - truth).mean()


def test_film_grain_is_normal_noise() -> None:
    grains = gallery.load("film_grain").grains(size=1.0, seed=3, shape=(200, 200))
    assert abs(grains.mean()) < 0.02
    assert np.asarray(grains).std() == pytest.approx(1, abs=0.02)
    neighbours = np.corrcoef(np.asarray(grains)[:, 1:].ravel(), np.asarray(grains)[:, :-1].ravel())
    assert abs(neighbours[0, 1]) < 0.02


def test_chromatic_aberration(colours) -> None:
    module = gallery.load("chromatic_aberration")
    x, y = grid()
    vx, vy = (x - 31.5) / 31.5, (y - 23.5) / 31.5
    expected = 0
    for k, weights in enumerate(module.spectrum()):
        bend = 5 * (k / 6 - 0.5) * (vx * vx + vy * vy)
        expected = expected + weights * sampled(colours, x + bend * vx, y + bend * vy)
    assert_allclose(module.render(Image(colours), strength=5.0), expected, atol=1e-5)


def turned(x, y, degrees):
    """Coordinates along a direction and across it."""
    z = (x + 1j * y) * np.exp(-1j * math.radians(degrees))
    return z.real, z.imag


def test_halftone(colours) -> None:
    module = gallery.load("halftone")
    x, y = grid()
    black = 1 - colours.max(axis=-1)
    inks = (1 - colours - black[..., np.newaxis]) / np.maximum(1 - black, 1e-3)[..., np.newaxis]
    inks = np.concatenate([inks, black[..., np.newaxis]], axis=-1)
    expected = np.ones_like(colours)
    for k, (degrees, colour) in enumerate(module.SCREENS):
        u, v = turned(x / 5, y / 5, degrees)
        dot = 0.5 + 0.25 * (np.cos(2 * np.pi * u) + np.cos(2 * np.pi * v))
        cover = smoothstep(-0.1, 0.1, inks[..., k] - 1 + dot)
        expected *= 1 - cover[..., np.newaxis] * (1 - np.array(list(colour)))
    assert_allclose(module.render(Image(colours), size=5.0), expected, atol=1e-4)


def test_crosshatch(colours) -> None:
    x, y = grid()
    light = ndimage.uniform_filter(colours @ GREY, 3, mode="nearest")
    ink = np.zeros(SIZE)
    for below, degrees in [(0.75, 45), (0.55, -45), (0.35, 5), (0.2, 85)]:
        along, across = turned(x, y, degrees)
        across = across + 1.5 * np.sin(along / 23) + np.sin(along / 7.3 + across / 31)
        from_line = np.abs(across - 6 * np.round((across - 3) / 6) - 3)
        width = 0.28 * 6 * smoothstep(0, 0.35, below - light)
        ink = np.maximum(ink, 1 - smoothstep(width - 0.5, width + 0.5, from_line))
    paper, pen = np.array([0.98, 0.96, 0.9]), np.array([0.1, 0.1, 0.25])
    actual = gallery.load("crosshatch").render(Image(colours), spacing=6.0)
    assert_allclose(actual, mixed(paper, pen, ink[..., np.newaxis]), atol=1e-4)


def test_cartoon(colours) -> None:
    smooth = colours
    for _ in range(2):
        total = weights = 0.0
        for dx, dy in window(2):
            v = shifted(smooth, dx, dy)
            distance = ((v - smooth) ** 2).sum(axis=-1, keepdims=True)
            weight = np.exp(-(dx * dx + dy * dy) / 8 - distance / 0.2**2)
            total, weights = total + weight * v, weights + weight
        smooth = total / weights
    grey = smooth @ GREY
    near, far = (
        ndimage.gaussian_filter(grey, sigma, mode="nearest", radius=3) for sigma in (1.0, 1.6)
    )
    line = smoothstep(-0.02, -0.008, near - far)
    scaled = np.maximum(grey, 1e-3) * 4
    flat = (np.floor(scaled) + smoothstep(0.35, 0.65, scaled % 1)) / scaled
    expected = (line * (0.35 + 0.65 * flat))[..., np.newaxis] * smooth
    actual = gallery.load("cartoon").render(Image(colours), rounds=2, like=0.2, levels=4)
    assert_allclose(actual, expected, atol=2e-4)


def test_cathode_ray_tube(colours) -> None:
    x, y = grid()
    v = 2 * (x + 0.5) / 64 - 1, 2 * (y + 0.5) / 48 - 1
    bend = 1 + 0.05 * (v[0] ** 2 + v[1] ** 2)
    qx, qy = 32 * (v[0] * bend + 1) - 0.5, 24 * (v[1] * bend + 1) - 0.5
    total = np.zeros_like(colours)
    for k in (-1, 0, 1):
        line = (np.floor(qy / 4) + k + 0.5) * 4
        light = sampled(colours, qx, line) ** 2
        away = ((qy - line) / 4)[..., np.newaxis]
        total += light * np.exp(-0.5 * (away / (0.3 + 0.25 * light)) ** 2)
    mask = np.where(np.arange(3) == (x % 3)[..., np.newaxis], 1.35, 0.65)
    edge = 1 - smoothstep(0.985, 1, np.maximum(*np.abs(v)) * bend)
    expected = edge[..., np.newaxis] * np.sqrt(1.25 * mask * total)
    actual = gallery.load("crt").render(Image(colours), line=4.0, bulge=0.05)
    assert np.isclose(actual, expected, atol=1e-4).mean() > 0.999


def test_stained_glass(colours) -> None:
    size, lead = 7.0, 1.0
    i, j = (v.astype(int) for v in np.meshgrid(np.arange(-4, 14), np.arange(-4, 12)))
    points = jittered(i, j).reshape(-1, 2)
    pixels = np.stack(grid(), axis=-1) / size
    (first, second), number = (
        np.moveaxis(v, -1, 0) for v in scipy.spatial.KDTree(points).query(pixels, 2)
    )
    place = size * points[number[0]]
    colour = nearest(colours, place[..., 0], place[..., 1])
    gap = smoothstep(0, lead / size, second - first - 0.5 * lead / size)
    expected = (gap * (1.3 - 0.6 * first))[..., np.newaxis] * colour
    actual = gallery.load("stained_glass").render(Image(colours), size=size, lead=lead)
    assert np.isclose(actual, expected, atol=1e-4).mean() > 0.995


def test_brush_strokes(colours) -> None:
    x, y = grid()
    gx, gy = (shifted(colours, *d) - shifted(colours, -d[0], -d[1]) for d in [(1, 0), (0, 1)])
    xx, xy, yy = (
        ndimage.gaussian_filter((a * b).sum(axis=-1), 2.0, mode="nearest", radius=5)
        for a, b in [(gx, gx), (gx, gy), (gy, gy)]
    )
    angle = 0.5 * np.arctan2(2 * xy, xx - yy) + np.pi / 2
    way = np.stack([np.cos(angle), np.sin(angle)], axis=-1)

    def grain(qx, qy):
        return (lattice(np.floor(qx / 1.5), np.floor(qy / 1.5)) & 0xFFFF) / 65535

    colour, noise = colours.copy(), grain(x, y)
    for side in (-1, 1):
        qx, qy, last = x, y, side * way
        for _ in range(4):
            qx, qy = qx + last[..., 0], qy + last[..., 1]
            step = nearest(way, qx, qy)
            forward = (step * last).sum(axis=-1, keepdims=True) >= 0
            last = np.where(forward, step, -step)
            colour += sampled(colours, qx, qy)
            noise += grain(qx, qy)
    expected = colour / 9 * (1 + 0.5 * (noise / 9 - 0.5))[..., np.newaxis]
    actual = gallery.load("brush_strokes").render(Image(colours), length=4, bristles=0.5, sigma=2.0)
    assert np.isclose(actual, expected, atol=1e-3).mean() > 0.97


def test_sketch(colours) -> None:
    near, far = (
        ndimage.gaussian_filter(colours @ GREY, sigma, mode="nearest", truncate=3.0)
        for sigma in (1.0, 1.6)
    )
    v = near + 10 * (near - far)
    expected = np.where(v >= 0.5, 1, 1 + np.tanh(2 * (v - 0.5)))
    actual = gallery.load("sketch").render(
        Image(colours), sigma=1.0, lines=10.0, dark=0.5, soft=2.0
    )
    assert_allclose(actual, expected, atol=1e-4)


def test_bloom(colours) -> None:
    binomial = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256

    def spread(light, levels):
        if levels == 0:
            return light
        half = channels(lambda c: ndimage.correlate(c, binomial, mode="nearest"), light)[::2, ::2]
        x, y = grid(light.shape[:2])
        return light + sampled(spread(half, levels - 1), (x - 0.5) / 2, (y - 0.5) / 2)

    glow = spread(np.maximum(colours - 0.6, 0) / 0.4, 4)
    expected = 1 - np.exp(-1.35 * (colours + 0.3 * glow * [1, 0.93, 0.82]))
    actual = gallery.load("bloom").render(Image(colours), threshold=0.6, strength=0.3, levels=4)
    assert_allclose(actual, expected, atol=1e-5)


def test_tilt_shift(colours) -> None:
    """A disc of points on a spiral; the farther from the line, the larger."""
    x, y = grid()
    radius = 12 * np.maximum(0, np.abs(y / 48 - 0.5) - 0.2)
    points = np.minimum(1 + (1.5 * radius * radius).astype(int), 96)
    total = np.zeros_like(colours)
    for k in range(points.max()):
        r, turn = radius * np.sqrt(k / points), k * math.pi * (3 - math.sqrt(5))
        there = sampled(colours, x + r * math.cos(turn), y + r * math.sin(turn))
        total += np.where((k < points)[..., np.newaxis], there, 0)
    mean = total / points[..., np.newaxis]
    actual = gallery.load("tilt_shift").render(Image(colours), line=0.5, sharp=0.2, blur=12.0)
    assert_allclose(actual, mixed(luma(mean), mean, 1.3), atol=1e-4)
