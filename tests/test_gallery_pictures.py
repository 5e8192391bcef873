"""Colours, geometry, compositions, images from nothing and simulations of the gallery against other
implementations: SciPy, scikit-image, Pillow, or some lines of NumPy."""

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
import skimage.color
import skimage.exposure
import skimage.transform
from numpy.testing import assert_allclose
from PIL import Image as PILImage
from scipy import ndimage

import gallery
import pygpu
from pygpu import Image, Position, Vec2, Vec3
from test_gallery_filters import GREY, channels, inside, sampled, shifted

SIZE = (48, 64)


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "cpu")


@pytest.fixture
def colours() -> np.ndarray:
    return gallery.floats()


def grid() -> tuple[np.ndarray, np.ndarray]:
    """The x and y of all pixels."""
    y, x = np.mgrid[0 : SIZE[0], 0 : SIZE[1]].astype(float)
    return x, y


def texelwise(f, colours: np.ndarray) -> np.ndarray:
    """A function of a colour, compiled and applied to all."""

    @pygpu.compile
    def applied(im: Image, p: Position):
        return f(im(p))

    return applied(colours)


def luma(colours: np.ndarray) -> np.ndarray:
    return (colours @ GREY)[..., np.newaxis]


def mixed(a, b, t):
    return a * (1 - t) + b * t


def smoothstep(low, high, v):
    t = np.clip((v - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


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
    v = light * 0.36 / np.exp(np.log(1e-4 + light @ weights).mean())
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


# ---------------------------------------------------------------- geometry


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


# ---------------------------------------------------------------- images from nothing


def test_mandelbrot() -> None:
    module = gallery.load("mandelbrot")

    @pygpu.compile
    def rounds(p: Position):
        return module.escaped(p * 0.0625 - (2.5, 1.5), 50)

    x, y = grid()
    c = x * 0.0625 - 2.5 + 1j * (y * 0.0625 - 1.5)
    z, n = np.zeros_like(c), np.zeros(SIZE, int)
    for _ in range(50):
        going = np.abs(z) < 16
        z[going] = z[going] ** 2 + c[going]
        n += going
    with np.errstate(divide="ignore", invalid="ignore"):
        expected = np.where(n == 50, -1, n + 1 - np.log2(np.log2(np.abs(z))))
    actual = np.asarray(rounds(shape=SIZE))
    assert np.isclose(actual, expected, rtol=1e-3, atol=1e-3).mean() > 0.98


def test_newton_finds_the_roots() -> None:
    module = gallery.load("newton_fractal")
    actual = np.asarray(module.newton(size=Vec2(64, 48), rounds=60, shape=SIZE))
    x, y = grid()
    z = ((x - 31.75) + 1j * (y - 23.75)) * 3 / 48
    for _ in range(60):
        z = z - (z**3 - 1) / (3 * z * z)
    roots = np.exp(2j * np.pi * np.arange(3) / 3)
    nearest = np.abs(z[..., np.newaxis] - roots).argmin(axis=-1)
    found = actual / actual.max(axis=-1, keepdims=True)
    tints = np.array([list(colour) for colour in module.COLOURS])
    expected = (tints / tints.max(axis=-1, keepdims=True))[nearest]
    assert np.isclose(found, expected, atol=1e-4).mean() > 0.99


def test_noise_goes_through_its_lattice() -> None:
    module = gallery.load("clouds")

    @pygpu.compile
    def fine(p: Position):
        return module.noise(p / 4)

    @pygpu.compile
    def lattice(p: Position):
        return module.lattice(p.x, p.y)

    values = np.asarray(lattice(shape=(100, 100)))
    assert values.mean() == pytest.approx(0.5, abs=0.02)
    assert values.std() == pytest.approx(1 / math.sqrt(12), abs=0.02)
    assert_allclose(np.asarray(fine(shape=SIZE))[::4, ::4], values[:12, :16], atol=1e-6)


def test_voronoi_cells_are_those_of_the_nearest_points() -> None:
    module = gallery.load("voronoi")
    points = [list(module.point(i, j)) for j in range(-2, 6) for i in range(-2, 7)]
    tree = scipy.spatial.KDTree(points)
    x, y = grid()
    distance, nearest = tree.query(np.stack([x, y], axis=-1) / 16)
    actual = np.asarray(module.cells(size=16.0, shape=SIZE))
    # Pixels of a cell have its hue: dark borders aside, the ratio of channels says which it is.
    for cell in np.unique(nearest):
        inner = (nearest == cell) & (actual.min(axis=-1) > 0.05)
        ratios = actual[inner, 0] / actual[inner, 1]
        assert ratios.size == 0 or np.ptp(ratios) < 1e-3
    assert distance.max() < 2


def test_plasma() -> None:
    x, y = (6 * (v - half) / 48 for v, half in zip(grid(), (32, 24), strict=True))
    v = np.sin(2 * x + 1) + np.sin(2 * (x * math.sin(0.5) + y * math.cos(1 / 3)))
    v += np.sin(2 * np.hypot(x + 0.8 * math.sin(0.2), y + 0.8 * math.cos(1 / 3)) + 1)
    v += np.sin(np.hypot(x, y))
    expected = [0.5 + 0.5 * np.sin(1.4 * np.pi * v + k * 2 * np.pi / 3) for k in range(3)]
    actual = gallery.load("plasma").render(gallery.photo(), time=1.0)
    assert_allclose(actual, np.stack(expected, axis=-1), atol=1e-4)


def test_rays_hit_the_spheres() -> None:
    """Where the quadratic equations say; grazing rays stop a little early."""
    module = gallery.load("ray_marching")

    @pygpu.compile
    def depth(p: Position):
        return module.march(Vec3(0.0, 0.6, -5.0), pygpu.normalize(Vec3((p - 32) / 48, 1.0)), 160)

    x, y = grid()
    way = np.stack([(x - 32) / 48, (y - 32) / 48, np.ones(SIZE)], axis=-1)
    way /= np.linalg.norm(way, axis=-1, keepdims=True)
    eye, best = np.array([0, 0.6, -5]), np.full(SIZE, np.inf)
    with np.errstate(invalid="ignore", divide="ignore"):
        floor = (-1 - eye[1]) / way[..., 1]
        best = np.where(floor > 0, floor, best)
        for sphere in module.SCENE[1:]:
            to = np.array(list(sphere.centre)) - eye
            along = way @ to
            rest = sphere.radius**2 - (to @ to - along**2)
            best = np.fmin(best, np.where(rest > 0, along - np.sqrt(rest), np.inf))
    actual = np.asarray(depth(shape=SIZE))
    assert np.isclose(actual, np.where(best < 40, best, actual), rtol=0.05).mean() > 0.98
    assert (actual[best > 60] >= 40).mean() > 0.98


def test_truchet_tiles_join() -> None:
    actual = np.asarray(gallery.load("truchet").tiles(size=16, band=0.2, shape=(64, 64)))
    for k in (16, 32, 48):
        assert_allclose(actual[k - 1], actual[k], atol=0.25)
        assert_allclose(actual[:, k - 1], actual[:, k], atol=0.25)


# ---------------------------------------------------------------- simulations


def test_life() -> None:
    cells = np.random.default_rng(3).random(SIZE) < 0.4
    alive, glow = gallery.load("life").lived.iterate(
        (Image(cells), Image(np.zeros(SIZE, np.float32))), 12
    )
    fading = np.zeros(SIZE)
    for _ in range(12):
        around = sum(
            np.roll(cells, (j, i), (0, 1)).astype(int)
            for j in (-1, 0, 1)
            for i in (-1, 0, 1)
            if (i, j) != (0, 0)
        )
        cells = (around == 3) | (cells & (around == 2))
        fading = np.where(cells, 1, 0.97 * fading)
    assert (np.asarray(alive) == cells).all()
    assert_allclose(glow, fading, atol=1e-5)


def test_heat(colours) -> None:
    expected = colours[..., 0]
    for _ in range(20):
        expected = expected + 0.2 * ndimage.laplace(expected, mode="nearest")
    actual = gallery.load("heat").spread.iterate(Image(colours[..., 0]), 20, rate=0.2)
    assert_allclose(actual, expected, atol=1e-5)


def test_waves() -> None:
    module = gallery.load("waves")
    x, y = grid()
    now, before = (np.exp(-0.05 * ((x - c) ** 2 + (y - 20) ** 2)) for c in (30, 29.5))
    free = np.abs(x - 45) > 2
    edge = np.minimum(np.minimum(x, y), np.minimum(63 - x, 47 - y))
    calm = 1 - 0.08 * np.maximum(0, 1 - edge / 12)
    state = Image(now), Image(before)
    actual, past = module.moved.iterate(state, 25, Image(free), courant=0.65)
    for _ in range(25):
        spread = ndimage.laplace(now, mode="nearest")
        now, before = np.where(free, calm * (2 * now - before + 0.65**2 * spread), 0), calm * now
    assert_allclose(actual, now, atol=1e-5)
    assert_allclose(past, before, atol=1e-5)


def test_gray_scott(colours) -> None:
    module = gallery.load("gray_scott")
    u, v = np.ones(SIZE), np.zeros(SIZE)
    u[20:28, 25:35], v[20:28, 25:35] = 0.5, 0.25
    feed, kill = np.full(SIZE, 0.03), 0.05 + 0.01 * colours[..., 0]
    rates = Image(np.stack([feed, kill], axis=-1))
    actual = module.reacted.iterate(Image(np.stack([u, v], axis=-1)), 50, rates)
    around = np.array([[0.05, 0.2, 0.05], [0.2, -1, 0.2], [0.05, 0.2, 0.05]])
    for _ in range(50):
        eaten = u * v * v
        du = 0.4 * ndimage.correlate(u, around, mode="nearest") - eaten + feed * (1 - u)
        dv = 0.2 * ndimage.correlate(v, around, mode="nearest") + eaten - (feed + kill) * v
        u, v = u + du, v + dv
    assert_allclose(actual, np.stack([u, v], axis=-1), atol=1e-5)


def test_fluid_carries_and_is_not_squeezed(colours) -> None:
    module = gallery.load("fluid")
    velocity = module.stirred(size=Vec2(64, 48), shape=SIZE)
    x, y = grid()
    vx, vy = np.moveaxis(np.asarray(velocity), -1, 0)
    expected = sampled(colours, x - 3 * vx, y - 3 * vy)
    assert_allclose(module.carried(Image(colours), velocity, time=3.0), expected, atol=1e-5)

    squeezed = Image(np.stack([np.sin(x / 5), np.cos(y / 7)], axis=-1))
    div = module.divergence(squeezed)
    pressure = module.relaxed.iterate(0 * div, 3000, div)
    left = module.divergence(module.incompressible(squeezed, pressure))
    assert np.abs(inside(left, 6)).mean() < 0.4 * np.abs(inside(div, 6)).mean()
