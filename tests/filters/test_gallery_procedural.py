"""Images from nothing and simulations of the gallery against SciPy or some lines of NumPy."""

import math

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg
import scipy.spatial
from numpy.testing import assert_allclose
from scipy import ndimage

import gallery
import pygpu
from gallery_numpy import (
    SIZE,
    grid,
    inside,
    jittered,
    lattice,
    mixed,
    sampled,
    smoothstep,
)
from pygpu import Image, Position, Vec2, Vec3

pytestmark = pytest.mark.usefixtures("on_cpu")


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


def test_julia() -> None:
    x, y = grid()
    z = ((x - 32) + 1j * (y - 24)) * 2.6 / 48
    n, trap = np.zeros(SIZE, int), np.full(SIZE, 4.0)
    for _ in range(60):
        going = np.abs(z) < 8
        z = np.where(going, z * z - 0.79 + 0.15j, z)
        cross = np.minimum(np.abs(z.real), np.abs(z.imag))
        trap = np.where(going, np.minimum(trap, cross), trap)
        n += going
    glow = (2 * np.sqrt(trap))[..., np.newaxis]
    stayed = [0.02, 0.02, 0.05] + glow * [0.4, 0.6, 0.9]
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.clip((n + 1 - np.log2(np.log2(np.abs(z)))) / 60, 0, 1)[..., np.newaxis]
        fire = np.concatenate([np.sqrt(t), t, t**3], axis=-1)
    left = mixed(fire, np.array([1, 0.9, 0.7]), np.maximum(0, 1 - 3 * glow) * t)
    expected = np.where((n == 60)[..., np.newaxis], stayed, left)
    actual = gallery.load("julia").render(gallery.photo(), rounds=60)
    assert np.isclose(actual, expected, atol=2e-3).mean() > 0.98


def test_clouds() -> None:
    def noise(x, y):
        i, j = np.floor(x), np.floor(y)
        u, v = smoothstep(0, 1, x - i), smoothstep(0, 1, y - j)
        corner = {(a, b): (lattice(i + a, j + b) & 0xFFFF) / 65535 for a in (0, 1) for b in (0, 1)}
        top, bottom = (mixed(corner[0, b], corner[1, b], u) for b in (0, 1))
        return mixed(top, bottom, v)

    def fbm(x, y, octaves):
        return sum(
            noise(x * 2**k + 17 * k, y * 2**k + 17 * k) / 2 ** (k + 1) for k in range(octaves)
        )

    x, y = grid()
    u, v = x / 30, y / 30
    bent = u + 1.6 * fbm(u, v, 4), v + 1.6 * fbm(u + 5.2, v + 1.3, 4)
    density = smoothstep(0.4, 0.8, fbm(*bent, 6))[..., np.newaxis]
    shade = smoothstep(0.4, 0.9, fbm(bent[0] - 0.15, bent[1] - 0.2, 6))[..., np.newaxis]
    down = (y / 48)[..., np.newaxis]
    sky = mixed(np.array([0.16, 0.35, 0.68]), np.array([0.55, 0.75, 0.95]), down)
    white = mixed(np.array([1.0, 0.98, 0.95]), np.array([0.55, 0.58, 0.66]), shade)
    actual = gallery.load("clouds").render(gallery.photo(), size=30.0)
    assert_allclose(actual, mixed(sky, white, density), atol=2e-3)


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


def test_voronoi_borders() -> None:
    """The distance to the nearest bisector of the nearest point and any other."""
    i, j = (v.astype(int) for v in np.meshgrid(np.arange(-4, 9), np.arange(-4, 8)))
    points, ids = jittered(i, j).reshape(-1, 2), lattice(i, j).ravel()
    q = np.stack(grid(), axis=-1)[..., np.newaxis, :] / 16
    squares = ((points - q) ** 2).sum(axis=-1)
    best = squares.argmin(axis=-1)
    here = points[best][..., np.newaxis, :]
    way = points - here
    size = np.linalg.norm(way, axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        border = (((points + here) / 2 - q) * way).sum(axis=-1) / size
    border = np.where(size > 1e-3, border, np.inf).min(axis=-1)
    hue = (ids[best] >> 16 & 0xFF) / 255
    colour = 0.6 + 0.35 * np.cos(6.2832 * (0.3 * hue[..., np.newaxis] + np.arange(3) / 7))
    light = smoothstep(0, 0.04, border) * (0.92 + 0.08 * np.cos(60 * border))
    light *= 1.1 - 0.8 * squares.min(axis=-1)
    actual = gallery.load("voronoi").cells(size=16.0, shape=SIZE)
    assert np.isclose(actual, light[..., np.newaxis] * colour, atol=1e-3).mean() > 0.995


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


def test_truchet() -> None:
    x, y = grid()
    i, j = x // 16, y // 16
    u, v = (x % 16 + 0.5) / 16, (y % 16 + 0.5) / 16
    u = np.where(lattice(i, j) & 16, u, 1 - u)
    distance = np.minimum(np.abs(np.hypot(u, v) - 0.5), np.abs(np.hypot(1 - u, 1 - v) - 0.5))
    band, core = (
        1 - smoothstep(half - 0.03, half + 0.03, distance)[..., np.newaxis] for half in (0.2, 0.08)
    )
    colour = mixed(np.array([0.1, 0.16, 0.3]), np.array([0.95, 0.75, 0.3]), band)
    expected = mixed(colour, np.array([0.75, 0.25, 0.25]), core)
    actual = gallery.load("truchet").tiles(size=16, band=0.2, shape=SIZE)
    assert_allclose(actual, expected, atol=1e-5)


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
