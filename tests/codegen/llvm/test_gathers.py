"""Native code reads many texels from anywhere as plain Python does, in parts that LLVM leaves in
their order."""

from __future__ import annotations

import math

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.codegen.llvm.body import GATHERS
from pygpu.codegen.llvm.text import Machine
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


PLACES = [0.0, -0.0, -0.4, -0.6, 0.5, 3.49, 36.4, 36.6, 37.0, 1e9, -1e9, 2.0**31, -(2.0**31)]
BEYOND = [*PLACES, 2147483520.0, 1e30, -1e30, np.inf, -np.inf, np.nan]


def anywhere(im: Image, xs: Image, ys: Image, p: Position):
    return im(xs(p), ys(p))


def beside(im: Image, xs: Image, ys: Image, p: Position):
    x, y = math.floor(min(xs(p), 1e9)), math.floor(ys(p))
    return im((x, y)) + im((x + 1, y)) / 2 + im((x, y - 1)) / 4


@pytest.mark.parametrize("one_by_one", [False, True])
@pytest.mark.parametrize("boundary", ["nearest", "wrap", "mirror", "reflect", "constant"])
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float32"])
def test_lanes_read_what_single_pixels_do(
    dtype: str, boundary: str, one_by_one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Machine, "gathers", not one_by_one)
    random = np.random.default_rng(7)
    xs = random.uniform(-9, 46, (19, 37)).astype(np.float32)
    ys = random.uniform(-9, 18, (19, 37)).astype(np.float32)
    xs[:, 3], ys[:, 7], xs[:, 20] = BEYOND, BEYOND, BEYOND[::-1]
    for channels in ((), (3,), (4,)):
        whole = (random.random((18, 74, *channels)) * 200).astype(dtype)
        for array in (whole[:9, :37], whole[8::-1, 36::-1]):
            im = Image(array, boundary=boundary)
            for function in (anywhere, beside):
                f, plain = (
                    pygpu.compile(function, target=target) for target in ("cpu", "interpreter")
                )
                assert np.array_equal(f(im, xs, ys), plain(im, xs, ys), equal_nan=True)


@pytest.mark.parametrize(("mask", "shift"), [(0xFFFF, 8), (0xFFFFFF, 8), (0xFFFFFF, 16)])
def test_places_made_by_moving_bytes_are_in_their_table(mask: int, shift: int) -> None:
    numbers = np.random.default_rng(6).integers(0, 2**31 - 1, (3, 67)).astype(np.int32)
    table = np.random.default_rng(7).permutation((mask >> shift) + 1).astype(np.int32)

    def remainder(im: Image, p: Position):
        bits = im(p) & mask
        return (table[1 ^ (bits >> shift)] ^ (bits << shift)) & mask

    bits = numbers & mask
    expected = (table[1 ^ (bits >> shift)] ^ (bits << shift)) & mask
    assert np.array_equal(pygpu.compile(remainder, target="cpu")(numbers), expected)
