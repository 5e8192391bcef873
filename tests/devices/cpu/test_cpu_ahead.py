"""Texels from anywhere that are asked for before rows of results need them: the same bits."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Vec2
from pygpu.codegen.llvm import block, loads
from pygpu.devices.cpu.chunks import host


def turned(im: Image, p: Position, to: Vec2):
    x, y = p.x - 4, p.y - 3
    return im.sampled(interpolation="linear")((x * to.x - y * to.y + 3, x * to.y + y * to.x + 2))


def smeared(im: Image, p: Position, angle: Float):
    to = Vec2(pygpu.cos(angle), pygpu.sin(angle))
    return sum([im.sampled(interpolation="linear")(p + to * n) for n in range(5)])


@pytest.mark.parametrize("boundary", ["nearest", "constant", "wrap"])
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (13, 37), (61, 130), (9, 40, 3)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_a_turned_image_is_the_same(
    monkeypatch: Any, boundary: str, shape: Any, dtype: Any
) -> None:
    values = np.random.default_rng(0).random(shape)
    image = Image((values * (255 if dtype is np.uint8 else 1)).astype(dtype), boundary=boundary)
    f, plain = (pygpu.compile(turned, target="cpu") for _ in range(2))
    for degrees in (0.0, 5.0, 61.0, 90.0, 185.0):
        to = Vec2(math.cos(math.radians(degrees)), math.sin(math.radians(degrees)))
        found = np.asarray(f(image, to))
        with monkeypatch.context() as patched:
            patched.setattr(block, "AHEAD", 0)
            np.testing.assert_array_equal(found, np.asarray(plain(image, to)))
    far = np.asarray(f(image, Vec2(1e9, -3e8)))
    assert np.isfinite(far).all()


@pytest.mark.skipif(host().gathers or not host().x86, reason="lanes are fetched otherwise")
def test_texels_of_one_sample_are_asked_for_ahead_and_of_many_are_not() -> None:
    image = np.zeros((16, 16), np.float32)
    assert "@llvm.prefetch" in pygpu.compile(turned, target="cpu").lower(image, Vec2(1, 0)).source
    assert "@llvm.prefetch" not in pygpu.compile(smeared, target="cpu").lower(image, 0.5).source
    assert loads.BUNCH < block.AHEAD


def test_rows_that_all_lanes_share_are_not_asked_for(monkeypatch: Any) -> None:
    def stretched(im: Image, p: Position, by: Float):
        return im.sampled(interpolation="linear")((p.x * by, p.y * by))

    values = np.random.default_rng(0).random((13, 37), np.float32)
    found = pygpu.compile(stretched, target="cpu")(values, 0.7)
    monkeypatch.setenv("PYGPU_CPU_FEATURES", "sse2")
    again = pygpu.compile(stretched, target="cpu")(values, 0.7)
    np.testing.assert_allclose(again, found, atol=1e-5)  # products are not fused there
