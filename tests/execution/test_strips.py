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
