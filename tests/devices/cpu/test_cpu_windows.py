"""Windows whose size the call decides: vectors and rows of a block share their rounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

import pygpu
from pygpu import Image, Int, Position


def summed(im: Image, p: Position, radius: Int):
    total = 0.0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            total += im(p + (dx, dy))
    return total


@pytest.mark.parametrize("size", [(1, 1), (3, 70), (61, 17), (66, 131)])
@pytest.mark.parametrize(("boundary", "mode"), [
    ("nearest", "nearest"), ("mirror", "mirror"), ("reflect", "reflect"), ("wrap", "wrap"),
    ("constant", "constant"),
])  # fmt: skip
def test_sums_over_windows_are_scipys(size: tuple[int, int], boundary: str, mode: str) -> None:
    image = np.random.default_rng(size[1]).random(size, np.float32)
    compiled = pygpu.compile(summed, target="cpu")
    for radius in (0, 1, 3, 9):
        across = 2 * radius + 1
        exact = ndimage.uniform_filter(image.astype(float), across, mode=mode) * across**2
        assert np.allclose(
            compiled(Image(image, boundary=boundary), radius=radius),
            exact,
            rtol=2e-6 * across,
            atol=1e-5,
        )
    (made,) = compiled.specialisations()
    assert (made.program.plan.vectors, made.program.plan.rows) == (2, 4)


def turned(im: Image, p: Position, radius: Int):
    total = 0.0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            total += im(p + (dy * p.x, dx))
    return total


def test_windows_of_texels_from_anywhere_keep_small_blocks() -> None:
    compiled = pygpu.compile(turned, target="cpu")
    compiled(np.ones((9, 9), np.float32), radius=1)
    (made,) = compiled.specialisations()
    assert (made.program.plan.vectors, made.program.plan.rows) == (2, 2)
