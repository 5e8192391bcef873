"""Native code reads many texels from anywhere as plain Python does, in parts that LLVM leaves in
their order."""

from __future__ import annotations

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.codegen.llvm.body import GATHERS
from pygpu.devices.cpu.chunks import cores


def mixed(count, im: Image, p: Position):
    """Texels from anywhere, weighted and added up in two sums."""
    one, other = 0.0, 0.0
    for k in range(count):
        texel = im((p.x * (k + 3) // (k + 2), (p.y + p.x % 2) * (k + 2) // (k + 3)))
        one, other = one + texel * (k + 1), other + texel / (k + 1)
    return one * other


@pytest.mark.parametrize("count", [3, GATHERS - 1, GATHERS, 2 * GATHERS + 5])
def test_texels_from_anywhere_are_those_of_plain_python(count: int) -> None:
    photo = np.random.default_rng(5).random((9, 37), np.float32)
    f = pygpu.compile(mixed, count=count, target="cpu")
    plain = [[mixed(count, Image(photo), Position(x, y)) for x in range(37)] for y in range(9)]
    assert np.allclose(f(photo), np.array(plain, np.float32), rtol=1e-5)


def test_only_functions_of_many_gathers_are_cut() -> None:
    photo = np.zeros((64, 256), np.float32)
    shown = {n: pygpu.compile(mixed, count=n, target="cpu").lower(photo).source for n in (6, 128)}
    assert "llvm.fake.use(<" not in shown[6]
    assert ("llvm.fake.use(<" in shown[128]) == (cores().machine.version >= 20)
