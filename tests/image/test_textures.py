"""Images read by normalised coordinates: levels of mipmaps, cubes."""

import math

import numpy as np
import pytest

import pygpu
from pygpu import Cube, Image, Position, Vec2, Vec3
from pygpu.image.levels import mipmaps

RNG = np.random.default_rng(0)
PHOTO = RNG.random((11, 14, 3)).astype(np.float32)


def placed(im: Image, p: Position):
    return im.at(Vec2((p.x + 0.5) / im.width, (p.y + 0.5) / im.height))


def between(im: Image, p: Position):
    return im.at((p.x / 20.0, p.y / 17.0 - 0.1)) + im.sampled(boundary="wrap").at((1.3, 0.2))


def nearest(im: Image, p: Position):
    return im.at((p.x / 20.0, p.y / 17.0), interpolation="nearest")


def test_pixels_lie_at_their_centres(target):
    result = pygpu.compile(placed, target=target)(PHOTO)
    np.testing.assert_allclose(result, PHOTO, atol=1e-5)


@pytest.mark.parametrize("function", [between, nearest])
def test_plain_python_reads_alike(function, target):
    compiled = pygpu.compile(function, target=target)
    result = compiled(PHOTO)
    for p in [(0, 0), (5, 7), (13, 10)]:
        expected = np.array(compiled(Image(PHOTO), Position(*p)))
        np.testing.assert_allclose(result[p[1], p[0]], expected, atol=1e-5)


def test_images_of_ints_are_read_at_the_nearest(target):
    numbers = np.arange(12, dtype=np.int32).reshape(3, 4)
    result = pygpu.compile(placed, target=target)(numbers)
    np.testing.assert_array_equal(result, numbers)


# ---------------------------------------------------------------- levels


def lod(im: Image, p: Position, level: float):
    return im.at(Vec2(p.x + 0.5, p.y + 0.5) / 8.0, lod=level)


def shrunk(im: Image, p: Position, factor: float):
    return im.at(Vec2(p.x + 0.5, p.y + 0.5) * factor / Vec2(im.width, im.height), bias=0.5)


def exact_level(image: np.ndarray, number: int) -> np.ndarray:
    """Means of areas, in float64."""
    for axis in (0, 1) * number:
        size = image.shape[axis]
        half = (size + 1) // 2
        weights = np.zeros((half, size))
        for j in range(half):
            begin, end = j * size / half, (j + 1) * size / half
            for i in range(size):
                weights[j, i] = max(0.0, min(end, i + 1) - max(begin, i)) * half / size
        image = np.moveaxis(np.tensordot(weights, image, (1, axis)), 0, axis)
    return image


@pytest.mark.parametrize("shape", [(8, 8), (7, 12), (1, 5), (9, 1), (1, 1)])
def test_levels_are_means_of_what_they_cover(shape):
    texels = RNG.random(shape).astype(np.float32)
    made = mipmaps(Image(texels))
    assert made.count == math.ceil(math.log2(max(shape))) + 1
    whole = np.asarray(made.levels)
    for number in range(made.count):
        left, top = made.corner(number)
        expected = exact_level(texels, number)
        height, width = expected.shape
        actual = whole[top : top + height, left : left + width]
        np.testing.assert_allclose(actual, expected, atol=1e-6)


def test_a_level_is_read_between_two(target):
    texels = RNG.random((16, 16)).astype(np.float32)
    image = Image(texels).sampled(mipmap=True)
    compiled = pygpu.compile(lod, target=target)
    eighths = [exact_level(texels, number) for number in range(5)]
    np.testing.assert_allclose(compiled(image, level=1.0, shape=(8, 8)), eighths[1], atol=1e-5)
    half = np.asarray(compiled(image, level=1.5, shape=(8, 8)))
    upper = np.asarray(compiled(image, level=2.0, shape=(8, 8)))
    np.testing.assert_allclose(half, (eighths[1] + upper) / 2, atol=1e-5)
    last = np.asarray(compiled(image, level=99.0, shape=(8, 8)))
    np.testing.assert_allclose(last, np.full((8, 8), texels.mean()), atol=1e-5)


def test_the_level_follows_from_neighbours(target):
    image = Image(RNG.random((32, 32)).astype(np.float32)).sampled(mipmap=True)
    compiled = pygpu.compile(shrunk, target=target)
    result = np.asarray(compiled(image, factor=4.0, shape=(8, 8)))
    for p in [(0, 0), (3, 6)]:
        np.testing.assert_allclose(
            result[p[1], p[0]], compiled(image, Position(*p), 4.0), atol=1e-5
        )
    assert result.std() < 0.5 * RNG.random((8, 8)).std()


def test_levels_are_refused_where_there_are_none():
    with pytest.raises(pygpu.CompileError, match=r"sampled\(mipmap=True\) has them"):
        pygpu.compile(lod, target="cpu")(PHOTO, level=1.0)
    with pytest.raises(TypeError, match=r"sampled\(mipmap=True\) has them"):
        Image(PHOTO).at((0.5, 0.5), lod=1.0)
    with pytest.raises(ValueError, match="needs an image of floats"):
        Image(np.zeros((2, 2), int)).sampled(mipmap=True)
    with pytest.raises(ValueError, match="no constant around"):
        Image(PHOTO, boundary="constant").sampled(mipmap=True)

    def inside(im: Image, p: Position):
        return im.sampled(mipmap=True)(p)

    with pytest.raises(pygpu.CompileError, match="levels are made before a call"):
        pygpu.compile(inside, target="cpu")(PHOTO)


def test_textures_say_how_large_results_are_where_no_image_does():
    image = Image(PHOTO).sampled(mipmap=True)
    assert pygpu.compile(lod, target="cpu")(image, level=1.0).shape == Image(PHOTO).shape

    def beside(small: Image, photo: Image, p: Position):
        return photo(p) + small.at((0.5, 0.5), lod=2.0)

    assert pygpu.compile(beside, target="cpu")(image, PHOTO[:5]).shape == (5, 14, 3)


# ---------------------------------------------------------------- cubes


def sky(cube: Cube, p: Position):
    a, b = p.x * 0.19, p.y * 0.17 - 1.5
    return cube(Vec3(pygpu.cos(a) * pygpu.cos(b), pygpu.sin(b), pygpu.sin(a) * pygpu.cos(b)))


def smooth(x, y, z):
    return 0.5 + 0.3 * x + 0.2 * y * z


def faces(size: int) -> list[np.ndarray]:
    made = []
    template = Cube(*[np.zeros((size, size))] * 6)
    for face in range(6):
        texels = np.zeros((size, size), np.float32)
        for row in range(size):
            for column in range(size):
                d = template.direction(face, (column + 0.5) / size, (row + 0.5) / size)
                texels[row, column] = smooth(*(d / pygpu.length(d)))
        made.append(texels)
    return made


def test_directions_point_to_the_faces_of_opengl():
    cube = Cube(*[np.full((2, 2), number, np.float32) for number in range(6)])
    axes = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    assert [cube(Vec3(*axis)) for axis in axes] == [0, 1, 2, 3, 4, 5]
    corner = np.zeros((4, 4), np.float32)
    corner[0, 0] = 1  # top left of +z, seen from inside: x < 0, y > 0
    cube = Cube(*[np.zeros((4, 4), np.float32)] * 4, corner, np.zeros((4, 4), np.float32))
    assert cube(Vec3(-0.75, 0.75, 1)) == 1
    assert cube(Vec3(0.75, 0.75, 1)) == 0


def test_no_seam_is_seen_between_faces(target):
    cube = Cube(*faces(16))
    result = np.asarray(pygpu.compile(sky, target=target)(cube, shape=(18, 34)))
    y, x = np.mgrid[:18, :34]
    a, b = x * 0.19, y * 0.17 - 1.5
    expected = smooth(np.cos(a) * np.cos(b), np.sin(b), np.sin(a) * np.cos(b))
    assert np.abs(result - expected).max() < 0.012
    for p in [(0, 0), (17, 9), (33, 17)]:
        plain = pygpu.compile(sky)(cube, Position(*p))
        np.testing.assert_allclose(result[p[1], p[0]], plain, atol=1e-4)


@pytest.mark.parametrize("size", [1, 2, 8])
def test_faces_meet_at_their_edges_and_corners(size, target):
    """Random pixels; directions just beside edges, from their middle to the corner."""
    rng = np.random.default_rng(size)
    cube = Cube(*[rng.random((size, size)).astype(np.float32) for _ in range(6)])
    edge = 1e-4 * np.array([-1, 1])
    sides = []
    for along in (0, 0.5, 0.9, 0.97, 1):
        for axes in ((0, 1, 2), (1, 2, 0), (2, 0, 1), (1, 0, 2)):
            for signs in np.ndindex(2, 2, 2):
                d = np.ones((2, 3))
                d[:, axes[1]] += edge  # on either side of the edge
                d[:, axes[2]] = along
                sides.append(d * (1 - 2 * np.array(signs)))
    f = pygpu.compile(lambda cube, d, p: cube(d(p)), cube=Cube, d=Image, p=Position, target=target)
    one, other = np.asarray(f(cube, np.array(sides, np.float32))).T
    np.testing.assert_allclose(one, other, atol=2e-4 * size)


def test_cubes_say_which_face_does_not_fit():
    good = np.zeros((4, 4), np.float32)
    with pytest.raises(ValueError, match=r"py has shape \(4, 5\)"):
        Cube(good, good, np.zeros((4, 5)), good, good, good)
    with pytest.raises(ValueError, match=r"nz is .* faces are alike"):
        Cube(good, good, good, good, good, np.zeros((2, 2)))


def test_image_with_levels_gives_results_its_size() -> None:
    @pygpu.compile
    def seen(im: Image, p: Position):
        return im.at(((p.x + 0.5) / 7, (p.y + 0.5) / 5), lod=0.0)

    texels = np.random.default_rng(0).random((5, 7)).astype(np.float32)
    found = np.asarray(seen(Image(texels).sampled(mipmap=True)))
    np.testing.assert_allclose(found, texels, atol=1e-6)
