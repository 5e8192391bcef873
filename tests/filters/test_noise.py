"""Noise is the same everywhere, smooth, and what its formula says."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import pygpu
from pygpu import Position, Vec2, filters

pytestmark = pytest.mark.usefixtures("on_cpu")

NAMES = ["value_noise", "simplex_noise", "worley_noise"]


def lattice(i, j, seed):
    """The hash in NumPy, in 32 bits that wrap."""
    with np.errstate(over="ignore"):
        i, j, seed = (np.asarray(n).astype(np.int32) for n in (i, j, seed))
        h = i * np.int32(374761393) + j * np.int32(668265263) + seed * np.int32(1274126177)
        h = (h ^ (h >> 15)) * np.int32(739982445)
        h = (h ^ (h >> 12)) * np.int32(695872825)
        return h ^ (h >> 15)


def values(x, y, seed):
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    u, v = (t**3 * (t * (6 * t - 15) + 10) for t in (x - i, y - j))
    corners = [
        [(lattice(i + a, j + b, seed) & 0xFFFF) / 65535 * (u if a else 1 - u) for a in (0, 1)]
        for b in (0, 1)
    ]
    return (1 - v) * sum(corners[0]) + v * sum(corners[1])


def points(x, y, seed):
    i, j = np.floor(x).astype(int), np.floor(y).astype(int)
    distances = []
    for a in range(-3, 4):
        for b in range(-3, 4):
            h = lattice(i + a, j + b, seed)
            u = i + a + (h & 0xFFFF) / 65535 - x
            v = j + b + ((h >> 16) & 0xFFFF) / 65535 - y
            distances.append(np.hypot(u, v))
    return np.moveaxis(np.sort(distances, axis=0)[:2], 0, -1)


@pytest.mark.parametrize(("name", "expected"), [("value_noise", values), ("worley_noise", points)])
def test_noise_is_that_of_numpy(name, expected) -> None:
    y, x = np.mgrid[:90, :130] / 11.0
    actual = getattr(filters, name)(shape=(90, 130), scale=11.0, seed=5)
    assert_allclose(np.asarray(actual), expected(x, y, 5), atol=1e-4)


@pytest.mark.parametrize("name", NAMES)
def test_a_place_gives_what_the_image_has_there(name) -> None:
    noise = getattr(filters, name)
    image = noise(shape=(40, 50), scale=7.0, seed=2)
    for x, y in [(0, 0), (13, 5), (49, 39)]:
        assert_allclose(noise(Vec2(x, y) / 7.0, seed=2), image((x, y)), atol=1e-5)

    @pygpu.compile
    def inside(p: Position):
        return noise(Vec2(p.x, p.y) / 7.0, seed=2)

    assert_allclose(np.asarray(inside(shape=(40, 50))), np.asarray(image), atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_octaves_are_added(name) -> None:
    noise = getattr(filters, name)
    shape = (30, 40)
    layers = [np.asarray(noise(shape=shape, scale=16.0 / 2**k, seed=k)) for k in range(3)]
    expected = (layers[0] + layers[1] / 2 + layers[2] / 4) / 1.75
    assert_allclose(noise(shape=shape, scale=16.0, octaves=3), expected, atol=1e-4)


def test_simplex_noise_fills_its_range_and_is_smooth() -> None:
    image = np.asarray(filters.simplex_noise(shape=(1000, 1000), scale=20.0))
    assert np.abs(image).max() <= 1.0
    assert image.max() > 0.9
    assert image.min() < -0.9
    assert abs(image.mean()) < 0.01
    for axis in (0, 1):  # no step between triangles
        assert np.abs(np.diff(image, axis=axis)).max() < 0.5
    fine = np.asarray(filters.simplex_noise(shape=(300, 300), scale=2000.0))
    assert np.abs(np.diff(fine, 2, axis=0)).max() < 1e-4


@pytest.mark.parametrize("name", NAMES)
def test_seeds_give_other_noise(name) -> None:
    noise = getattr(filters, name)
    a, b = (np.asarray(noise(shape=(64, 64), scale=2.0, seed=s)) for s in (1, 2))
    one, other = (n.reshape(64 * 64, -1)[:, 0] for n in (a, b))
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.15
    np.testing.assert_array_equal(a, np.asarray(noise(shape=(64, 64), scale=2.0, seed=1)))


def test_a_place_takes_no_options() -> None:
    with pytest.raises(TypeError, match="value_noise takes scale with a shape"):
        filters.value_noise(Vec2(1.0, 2.0), scale=3)
