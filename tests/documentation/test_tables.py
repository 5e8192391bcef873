"""The tables of docs/coming_from.md and docs/shadertoy.md: what a row says becomes what gives it.

Each row is tried against the library that it starts from, or against what that is defined to give.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from pygpu import (
    Image,
    Mat2,
    Position,
    Vec2,
    Vec3,
    clamp,
    dot,
    filters,
    fract,
    mix,
    reflect,
    smoothstep,
)

Array = NDArray[Any]
BYTES: Array = np.asarray(pygpu.data.astronaut()[100:196, 180:292])
GREY: Array = np.ascontiguousarray(BYTES[..., 1])
FLOATS: Array = GREY.astype(np.float32) / 255
ROWS, COLUMNS = FLOATS.shape


def near(found: Any, expected: Any, error: float = 1e-5) -> None:
    found, expected = np.asarray(found, float), np.asarray(expected, float)
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= error


# ---------------------------------------------------------------- OpenCV


@pytest.fixture
def cv2() -> Any:
    return pytest.importorskip("cv2")


@pytest.fixture
def mirrored() -> Image:
    """With OpenCV's own border."""
    return Image(FLOATS, boundary="mirror")


def test_opencv_reads_blue_first(cv2: Any, tmp_path: Any) -> None:
    path = str(tmp_path / "photo.png")
    cv2.imwrite(path, BYTES[..., ::-1])
    near(pygpu.imread(path), BYTES)
    near(pygpu.imread(path), cv2.imread(path)[..., ::-1])


def test_opencv_filters(cv2: Any, mirrored: Image) -> None:
    kernel = np.arange(9.0, dtype=np.float32).reshape(3, 3) / 36
    correlated = pygpu.compile(filters.correlate, kernel=kernel)
    near(correlated(mirrored), cv2.filter2D(FLOATS, -1, kernel))
    near(filters.gaussian(mirrored, 2), cv2.GaussianBlur(FLOATS, (0, 0), 2), 2e-3)
    near(4 * filters.sobel_v(mirrored), cv2.Sobel(FLOATS, -1, 1, 0))
    near(4 * filters.sobel_h(mirrored), cv2.Sobel(FLOATS, -1, 0, 1))
    near(-filters.laplace(mirrored), cv2.Laplacian(FLOATS, -1))


def test_opencv_ranks_and_shapes(cv2: Any) -> None:
    square = np.ones((3, 3), np.uint8)
    near(filters.median(GREY, size=5, dtype=np.uint8), cv2.medianBlur(GREY, 5))
    near(filters.erosion(GREY, square, dtype=np.uint8), cv2.erode(GREY, square))
    near(filters.dilation(GREY, square, dtype=np.uint8), cv2.dilate(GREY, square))
    near(
        filters.opening(GREY, square, dtype=np.uint8),
        cv2.morphologyEx(GREY, cv2.MORPH_OPEN, square),
    )
    near(
        filters.closing(GREY, square, dtype=np.uint8),
        cv2.morphologyEx(GREY, cv2.MORPH_CLOSE, square),
    )


def test_opencv_places(cv2: Any) -> None:
    xs, ys = np.meshgrid(*(np.arange(n, dtype=np.float32) for n in (COLUMNS, ROWS)))

    @pygpu.compile
    def remapped(im: Image, p: Position) -> Any:
        return im.sampled(interpolation="linear")((p.x + 0.25, 0.5 * p.y))

    expected = cv2.remap(
        FLOATS, xs + 0.25, 0.5 * ys, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    near(remapped(FLOATS), expected, 1e-2)  # OpenCV's places have 5 bits behind the point
    half = filters.resize(FLOATS, (ROWS // 2, COLUMNS // 2), anti_aliasing=False)
    near(half, cv2.resize(FLOATS, (COLUMNS // 2, ROWS // 2)), 1e-5)
    matrix = np.array([[0.9, -0.1, 6], [0.1, 0.9, -2], [1e-4, 0, 1]])
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    expected = cv2.warpPerspective(FLOATS, matrix, (COLUMNS, ROWS), flags=flags)
    near(np.asarray(filters.warp(FLOATS, matrix))[8:-8, 8:-8], expected[8:-8, 8:-8], 1e-2)


def test_opencv_counts(cv2: Any) -> None:
    level, ink = cv2.threshold(GREY, 0, 1, cv2.THRESH_BINARY | cv2.THRESH_OTSU)
    assert abs(255 * filters.threshold_otsu(GREY) - level) <= 1
    assert np.mean((filters.threshold_otsu(GREY) < GREY / 255) == ink) > 0.99
    counts, _ = pygpu.histogram(GREY, 256, (0, 1))
    near(counts, cv2.calcHist([GREY], [0], None, [256], [0, 256]).ravel())


@pytest.mark.parametrize(
    ("border", "boundary"),
    [
        ("BORDER_REPLICATE", "nearest"),
        ("BORDER_REFLECT", "reflect"),
        ("BORDER_REFLECT_101", "mirror"),
        ("BORDER_WRAP", "wrap"),
    ],
)
def test_opencv_borders(cv2: Any, border: str, boundary: str) -> None:
    @pygpu.compile
    def beyond(im: Image, p: Position) -> Any:
        return im.sampled(boundary=boundary)(p - (5, 4))

    more = cv2.copyMakeBorder(GREY, 4, 4, 5, 5, getattr(cv2, border))
    near(beyond(GREY, shape=more.shape, dtype=np.uint8), more)


# ---------------------------------------------------------------- NumPy


@pygpu.compile
def texel_at(im: Image, p: Position) -> Any:
    return im((3, 7))


@pygpu.compile
def step_down(im: Image, p: Position) -> Any:
    return im(p + (0, 1)) - im(p)


@pygpu.compile
def either(c: Image, a: Image, b: Image, p: Position) -> Any:
    return a(p) if c(p) else b(p)


@pygpu.compile
def one_to_the_right(im: Image, p: Position) -> Any:
    return im.sampled(boundary="wrap")(p - (1, 0))


@pygpu.compile
def two_back(im: Image, p: Position) -> Any:
    return im(p - (2, 2))


def test_numpy_indices_and_slices() -> None:
    assert np.all(np.asarray(texel_at(FLOATS)) == FLOATS[7, 3])
    near(np.asarray(step_down(FLOATS))[:-1], FLOATS[1:] - FLOATS[:-1])
    mask = FLOATS > 0.5
    near(either(mask, FLOATS, 1 - FLOATS), np.where(mask, FLOATS, 1 - FLOATS))
    near(one_to_the_right(FLOATS), np.roll(FLOATS, 1, axis=1))
    padded = np.pad(FLOATS, 2, mode="edge")
    near(two_back(FLOATS, shape=padded.shape), padded)


def test_numpy_folds() -> None:
    im = Image(FLOATS)
    near(im.sum(), FLOATS.sum(dtype=float), 0.05)
    near(im.max(axis=0), FLOATS.max(axis=0))
    near(pygpu.reduce(max, im), functools.reduce(max, FLOATS.ravel()))
    groups = (GREY // 64).astype(np.int32)

    def group(v: Any) -> Any:
        return int(v * 255 + 0.5) // 64

    found = pygpu.reduce(np.add, FLOATS * 0 + GREY, by=lambda v: int(v) // 64, groups=4)
    near(found, np.bincount(groups.ravel(), GREY.ravel(), 4), 1)
    expected = np.zeros(4)
    np.add.at(expected, groups.ravel(), FLOATS.ravel())
    near(pygpu.scatter(FLOATS, group, 4, np.add), expected, 0.05)
    near(pygpu.scan(np.add, im[0]), np.cumsum(FLOATS[0]), 1e-3)
    near(pygpu.sort(im[0]), np.sort(FLOATS[0]))


def test_numpy_loops() -> None:
    near(pygpu.vectorize(lambda a, b: 3 * a + b)(FLOATS, 2.0), 3 * FLOATS + 2)
    a = FLOATS
    for _ in range(4):
        a = np.asarray(one_to_the_right(a))
    near(one_to_the_right.iterate(FLOATS, 4), a)


# ---------------------------------------------------------------- CUDA, Numba and Taichi


def test_cuda_threads_are_positions() -> None:
    @pygpu.compile
    def index(im: Image, p: Position) -> Any:
        return p.y * im.width + p.x  # blockIdx * blockDim + threadIdx, of as many as there are

    near(index(FLOATS), np.arange(FLOATS.size).reshape(FLOATS.shape))


def test_cuda_writes_are_results() -> None:
    @pygpu.compile
    def two(im: Image, p: Position) -> Any:
        return im(p) ** 2, 1 - im(p)

    squares, rest = two(FLOATS)
    near(squares, FLOATS**2)
    near(rest, 1 - FLOATS)


def test_cuda_textures_and_constant_arrays() -> None:
    weights = np.array([0.25, 0.5, 0.25], np.float32)

    @pygpu.compile(kernel=weights)  # type: ignore[untyped-decorator]
    def row(kernel: Any, im: Image, p: Position) -> Any:
        read = im.sampled(boundary="wrap", interpolation="linear")
        return sum(w * read(p + (dx - 1.0, 0.0)) for dx, w in enumerate(kernel))

    expected = sum(w * np.roll(FLOATS, 1 - dx, axis=1) for dx, w in enumerate(weights))
    near(row(FLOATS), expected)


def test_cuda_copies_atomics_and_functions() -> None:
    on_device = step_down(Image(FLOATS))
    assert isinstance(on_device, Image)
    assert isinstance(np.asarray(on_device), np.ndarray)
    counts = pygpu.scatter(np.ones(FLOATS.shape, np.float32), lambda v: 0, 1, np.add)
    assert float(counts[0]) == FLOATS.size

    class Curve:
        def __init__(self, power: Any) -> None:
            self.power = power

        def of(self, v: Any) -> Any:
            return v**self.power

    @pygpu.compile
    def curved(im: Image, p: Position, power: float = 2.0) -> Any:
        return Curve(power).of(im(p))

    near(curved(FLOATS, power=3.0), FLOATS**3)


def test_cuda_graphs_are_pipelines() -> None:
    @pygpu.pipeline
    def twice(im: Any) -> Any:
        return one_to_the_right(one_to_the_right(im))

    near(twice(FLOATS), np.roll(FLOATS, 2, axis=1))


# ---------------------------------------------------------------- Shadertoy


def shown(function: Any, **more: Any) -> Array:
    """What a function of Shadertoy's gives at 0.5 s, row 0 on top."""
    return np.asarray(pygpu.shadertoy(function)(0.5, shape=(4, 8), **more))


def test_shadertoy_names_of_vectors_and_functions() -> None:
    def values(fragCoord: Any, iResolution: Any) -> Any:
        p = fragCoord / iResolution.xy
        v = Vec3(1)
        v.xy = p
        return v.zyx

    x, y = (np.arange(8) + 0.5) / 8, 1 - (np.arange(4) + 0.5) / 4
    near(shown(values)[..., 0], np.ones((4, 8)))
    near(shown(values)[..., 2], np.broadcast_to(x, (4, 8)))
    near(shown(values)[..., 1], np.broadcast_to(y[:, None], (4, 8)))

    def more(fragCoord: Any, iTime: Any) -> Any:
        a = mix(0.0, 8.0, 0.25) + smoothstep(0.0, 1.0, iTime) + fract(2.75) + clamp(9.0, 0.0, 1.0)
        b = dot(Vec2(1, 2), Vec2(3, 4)) + reflect(Vec2(1, -1), Vec2(0, 1)).y
        c = abs(-1.0) + min(1.0, 2.0) + max(1.0, 2.0) + pow(2.0, 3.0) + round(2.4)
        return Vec3(a, b, c)

    near(shown(more)[0, 0], [2 + 0.5 + 0.75 + 1, 12, 14])


def test_shadertoy_arithmetic_and_loops() -> None:
    def values(fragCoord: Any) -> Any:
        x = fragCoord.x - 4.0
        last = 0
        for i in range(64):
            last = i
            if i > fragCoord.x:
                break
        return Vec3(x % 3.0 - pygpu.mod(x, 3.0), 1.0 if x > 0 else 0.0, last)

    x = np.arange(8) + 0.5 - 4
    near(shown(values)[0], np.stack([0 * x, x > 0, np.arange(1, 9)], axis=-1))


def test_shadertoy_matrices_have_rows() -> None:
    a, b, c, d = 1.0, 2.0, 3.0, 4.0

    def product(fragCoord: Any) -> Any:
        turned = Mat2((a, c), (b, d)) @ Vec2(5, 6)
        return Vec3(turned.x, turned.y, 0)

    # GLSL's mat2(a, b, c, d) has the columns (a, b) and (c, d).
    near(shown(product)[0, 0], [a * 5 + c * 6, b * 5 + d * 6, 0])


def test_shadertoy_channels() -> None:
    picture = np.arange(32, dtype=np.float32).reshape(4, 8) / 32

    def texture(fragCoord: Any, iChannel0: Any, iResolution: Any) -> Any:
        uv = fragCoord / iResolution.xy
        return Vec3(iChannel0.at(Vec2(uv.x, 1 - uv.y)), iChannel0((2, 1)), 0)

    found = np.asarray(pygpu.shadertoy(texture)(0.5, shape=(4, 8), iChannel0=picture))
    near(found[..., 0], picture)  # upright, as the picture is
    near(found[..., 1], np.full((4, 8), picture[1, 2]))


def test_shadertoy_derivatives_and_buffers() -> None:
    def slopes(fragCoord: Any) -> Any:
        v = fragCoord.x * 3 + fragCoord.y
        return Vec3(abs(pygpu.ddx(v)), pygpu.fwidth(v), 0)

    near(shown(slopes)[..., :2], np.broadcast_to([3.0, 4.0], (4, 8, 2)), 1e-4)
