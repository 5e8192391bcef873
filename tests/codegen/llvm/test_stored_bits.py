"""Texels that a function only moves are written as they were stored."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Vec3

RNG = np.random.default_rng(6)


def swapped(im: Image, p: Position):
    texel = im(p)
    return Vec3(texel.z, texel.y, texel.x)


def turned(im: Image, p: Position):
    return im((p.y, im.height - 1 - p.x))


@pytest.mark.parametrize("dtype", ["uint8", "uint16"])
def test_all_texels_come_as_they_were(dtype):
    most = np.iinfo(dtype).max
    photo = RNG.integers(0, most, (300, 301, 3), endpoint=True).astype(dtype)
    photo.reshape(-1)[: most + 1] = np.arange(most + 1)
    for function, expected in ((swapped, photo[..., ::-1]), (turned, np.rot90(photo, -1))):
        compiled = pygpu.compile(function, target="cpu")
        out = np.empty(expected.shape, dtype)
        compiled(photo, out=out, shape=expected.shape[:2])
        np.testing.assert_array_equal(out, expected)


def test_other_dtypes_are_converted():
    photo = RNG.integers(0, 256, (20, 37, 3)).astype(np.uint8)
    out = np.empty(photo.shape, np.uint16)
    pygpu.compile(swapped, target="cpu")(photo, out=out)
    np.testing.assert_array_equal(out, photo[..., ::-1].astype(np.uint16) * 257)
