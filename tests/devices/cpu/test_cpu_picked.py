"""Texels of one row on cpu that neighbouring pixels read near each other, in whatever order."""

import math
import re

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Vec2
from pygpu.devices.cpu.chunks import cores
from pygpu.ssa import BOUNDARIES

RNG = np.random.default_rng(9)


def blocks(im: Image, p: Position):
    return im((p.x // 8 * 8 + 4, p.y // 8 * 8 + 4))


def doubled(im: Image, p: Position):
    return im((p.x // 2, p.y // 2))


def mirrored(im: Image, p: Position):
    return im((min(p.x, im.width - 1 - p.x), p.y))


def exchanged(im: Image, p: Position):
    return im((p.x ^ 3, p.y))


def tiled(im: Image, p: Position):
    return im((p.x % 20, p.y % 7))


def rippled(im: Image, p: Position):
    return im((p.x + int(9 * math.sin(p.x * 0.7)), p.y))


def apart(im: Image, p: Position):
    return im((p.x * 7 % 50 - 3, p.y))


ALL = [blocks, doubled, mirrored, exchanged, tiled, rippled, apart]


@pytest.mark.parametrize("function", ALL)
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("dtype", "channels"), [
    ("float32", 1), ("float32", 3), ("uint8", 1), ("uint8", 3), ("uint16", 4),
    ("bool", 1),
])  # fmt: skip
def test_texels_near_each_other_are_those_read_one_by_one(function, boundary, dtype, channels):
    compiled = pygpu.compile(function, target="cpu")
    plain = pygpu.compile(function, target="interpreter")
    for shape in ((9, 41), (5, 3), (4, 32), (3, 160)):
        texels = RNG.random((*shape, channels)) * (1 if dtype == "float32" else 250)
        texels *= 1 if dtype != "bool" else RNG.random(texels.shape) < 0.5
        cval = False if dtype == "bool" else 0.25
        given = Image(texels.astype(dtype), boundary=boundary, cval=cval)
        for asked in (shape, (2, 3 * shape[1])):
            expected = np.asarray(plain(given, shape=asked))
            np.testing.assert_array_equal(np.asarray(compiled(given, shape=asked)), expected)


def test_they_are_picked_from_vectors_where_an_instruction_does_that():
    source = pygpu.compile(mirrored, target="cpu").lower(np.ones((4, 64), np.float32)).source
    machine = cores().machine
    if machine.lanes == 16 or machine.has("avx2"):
        assert ("vpermi2var" if machine.lanes == 16 else "avx2.permd") in source


def enlarged(im: Image, p: Position):
    return im.sampled(interpolation="linear")((p.x / 2 - 0.5, p.y / 2 - 0.5))


def followed(im: Image, p: Position):
    """Each texel but the first says where the next one is."""
    first = im((p.x // 3, p.y))
    second = im((p.x // 3 + int(9 * first), p.y))
    return im((p.x ^ 1, p.y)) + 2 * second + 4 * im((p.x ^ int(9 * second), p.y))


def stretched(im: Image, p: Position, scale: Vec2):
    """The row is a component of what varies along the row, and does not vary along it."""
    x, y = (Vec2(p.x, p.y) + 0.5) * scale - 0.5
    left, top = math.floor(x), math.floor(y)
    return im((left, top)) + 2 * im((left + 1, top)) + 4 * im((left, top + 1))


@pytest.mark.parametrize("boundary", ["nearest", "mirror", "constant"])
def test_loads_that_wait_for_nothing_share_a_test(boundary):
    photo = Image(RNG.random((64, 64), np.float32), boundary=boundary)
    for function, numbers in ((enlarged, {}), (stretched, {"scale": Vec2(0.7, 0.7)})):
        compiled = pygpu.compile(function, target="cpu")
        source = compiled.lower(photo, **numbers).source
        if "vpermi2var" in source or "avx2.permd" in source:
            assert source.count("else:") == 1
        plain = pygpu.compile(function, target="interpreter")
        for scale in (0.3, 0.7, 1.9) if numbers else (1,):
            given = {"scale": Vec2(scale, scale)} if numbers else {}
            expected = np.asarray(plain(photo, **given))
            np.testing.assert_allclose(np.asarray(compiled(photo, **given)), expected, rtol=1e-6)


def test_no_rule_is_asked_for_columns_that_are_near_each_other_in_the_image():
    """That of "mirror" divides in float64: only where texels are fetched one by one."""
    function = pygpu.compile(stretched, target="cpu")
    photo = Image(np.ones((64, 64), np.float32), boundary="mirror")
    source = function.lower(photo, scale=Vec2(0.7, 0.7)).source
    if "vpermi2var" in source or "avx2.permd" in source:
        assert "fdiv" not in source.partition("then:")[0]


def test_loads_that_wait_for_others_come_after_them():
    compiled = pygpu.compile(followed, target="cpu")
    plain = pygpu.compile(followed, target="interpreter")
    photo = RNG.random((5, 90), np.float32)
    np.testing.assert_allclose(compiled(photo), plain(photo), rtol=1e-6)


def along(im: Image, p: Position, angle: float):
    smooth = im.sampled(interpolation="linear")
    return sum([smooth(p + (math.cos(angle) * k, math.sin(angle) * k)) for k in range(1, 13)])


def along_each(im: Image, angles: Image, p: Position):
    smooth, angle = im.sampled(interpolation="linear"), angles(p)
    return sum([smooth(p + (math.cos(angle) * k, math.sin(angle) * k)) for k in range(1, 13)])


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("dtype", "channels"), [("float32", 1), ("float32", 3), ("uint8", 3)])
def test_samples_that_leave_the_image_are_those_of_the_interpreter(boundary, dtype, channels):
    texels = (RNG.random((9, 40, channels)) * 250).astype(dtype)
    photo = Image(texels, boundary=boundary, cval=0.25)
    angles = (RNG.random((9, 40)) * 7).astype(np.float32)
    for function, given in ((along, (photo, 0.4)), (along_each, (photo, angles))):
        found, wanted = (
            pygpu.compile(function, target=target)(*given) for target in ("cpu", "interpreter")
        )
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=2e-4, atol=1e-3)


def test_what_reads_outside_the_image_is_written_once_for_all_samples():
    photo, angles = np.ones((16, 64, 3), np.uint8), np.zeros((16, 64), np.float32)
    for function, given in ((along, (photo, 0.4)), (along_each, (photo, angles))):
        source = pygpu.compile(function, target="cpu").lower(*given).source
        found = re.findall(r'(define|call) .*@"gathered', source)
        calls, written = found.count("call"), found.count("define")
        assert (calls > 0) == (written > 0)  # none where one instruction fetches all
        assert written <= (4 if "x i32> @llvm.masked.gather.v16" in source else 1)  # by corners
        assert calls <= 8 * written  # of twelve samples, which are a loop
