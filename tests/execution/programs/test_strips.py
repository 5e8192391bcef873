"""Few rows that are longer than a texture's give what images that fit give."""

from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position

FUNCTIONS: dict[str, Any] = {
    "near": lambda im, p: im(p) * 2 + im(p + (1, 0)) - im(p - (2, 0)),
    "above and below": lambda im, p: (
        im(p + (1, 2)) * 3 + im(p - (0, 1)) - im(p - (3, 1)),
        im(p + (0, 1)) > 0.5,
    ),
    "places": lambda im, p: im(p + (0, 1)) + p.x * 0.01 + p.y * 100 + im.width / im.height,
    "rows found at run time": lambda im, p: im((p.x + p.y % 2, p.y + p.x % 3 - 1)) + im(p),
    "far": lambda im, p: im((im.width - 1 - p.x, p.y)) + im(p - (0, 1)),
}


@pytest.mark.parametrize("on", ["fragment", "compute"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    ("shape", "dtype", "boundary"),
    [
        ((3, 40_000), "float32", "nearest"),
        ((1, 33_333), "uint8", "reflect"),
        ((5, 20_001, 3), "uint8", "constant"),
        ((36_864, 2), "float32", "wrap"),
        ((3, 36_864), "uint8", "constant"),
        ((2, 17_000), "int16", "mirror"),
    ],
)
def test_long_rows_are_those_of_images_that_fit(
    shape: Any, dtype: str, boundary: str, name: str, on: str
) -> None:
    require(on)
    texels = (np.random.default_rng(1).random(shape) * 200).astype(dtype)
    image = Image(texels, boundary=boundary)
    want, compiled = [
        pygpu.compile(FUNCTIONS[name], im=Image, p=Position, target=target)
        for target in ("cpu", on)
    ]
    expected = want(image)
    for _ in range(2):  # as strips of an image are cut, and as they are kept
        for part, other in zip(listed(compiled(image)), listed(expected), strict=True):
            assert part.shape == other.shape
            np.testing.assert_allclose(part, other, rtol=1e-5, atol=1e-3)
    changed = Image(texels[::-1].copy(), boundary=boundary)
    for part, other in zip(listed(compiled(changed)), listed(want(changed)), strict=True):
        np.testing.assert_allclose(part, other, rtol=1e-5, atol=1e-3)


def listed(results: Any) -> list[np.ndarray]:
    return [np.asarray(each) for each in (results if isinstance(results, tuple) else (results,))]


def sides(im: Any, p: Any) -> Any:
    """Reads two columns to a side, one row above and two below."""
    return im(p + (2, 2)) * 3 + im(p - (2, 0)) - im(p + (-1, -1)) + im(p)


@pytest.mark.parametrize(
    "shape", [(16_385, 3), (16_390, 4), (20_011, 7), (17_001, 5), (17_000, 40), (40_001, 3, 3)]
)
@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "constant", "wrap"])
def test_many_short_rows_are_those_of_images_that_fit(shape: Any, boundary: str) -> None:
    require("fragment")
    texels = np.random.default_rng(2).random(shape).astype(np.float32)
    image = Image(texels, boundary=boundary, cval=0.25)
    on_cpu, on_fragment = [
        pygpu.compile(sides, im=Image, p=Position, target=target) for target in ("cpu", "fragment")
    ]
    expected = on_cpu(image)
    np.testing.assert_allclose(on_fragment(image), expected, rtol=1e-6, atol=1e-6)
    into = np.full_like(np.asarray(expected), np.nan)
    on_fragment(image, out=into)
    np.testing.assert_allclose(into, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(16_385, 3), (3, 16_385), (70_001, 1), (1, 70_001), (17_003, 9)])
def test_pixels_that_read_themselves_alone_may_lie_in_any_rows(shape: Any) -> None:
    require("fragment")
    generator = np.random.default_rng(3)
    images = generator.random((*shape, 3)).astype(np.float32), generator.integers(0, 9, shape)

    def both(im: Image, count: Image, p: Position, gain: float) -> Any:
        return im(p) * gain, count(p) + 1, im(p).x > 0.5

    results = [
        pygpu.compile(both, target=target)(*images, gain=0.5) for target in ("cpu", "fragment")
    ]
    for expected, actual in zip(*results, strict=True):
        np.testing.assert_array_equal(actual, expected)


def test_images_of_other_sizes_are_not_put_in_other_rows() -> None:
    require("fragment")
    texels = np.arange(20_000 * 3, dtype=np.float32).reshape(20_000, 3)
    other = np.arange(10_000 * 3, dtype=np.float32).reshape(10_000, 3)
    results = [
        pygpu.compile(lambda a, b, p: a(p) - b(p), a=Image, b=Image, p=Position, target=target)(
            texels, other
        )
        for target in ("cpu", "fragment")
    ]
    np.testing.assert_array_equal(*results)
