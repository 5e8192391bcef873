"""Functions of a byte are looked up in registers: the nearest bytes to what they give as floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Vec3
from pygpu.devices.cpu.chunks import host

CURVE = (np.linspace(0, 1, 256) ** 0.7).astype(np.float32)


def gamma(im: Image, p: Position) -> Any:
    return im(p) ** 2.2


def curved(im: Image, p: Position) -> Any:
    return CURVE[min(max(int(im(p) * 255), 0), 255)]


def linear(im: Image, p: Position) -> Any:
    def of(v: Any) -> Any:
        return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4

    c = im(p)
    return Vec3(of(c.r), of(c.g), of(c.b))


def wave(im: Image, p: Position) -> Any:
    return np.sin(im(p) * 40) * 2  # beyond both ends


def undefined(im: Image, p: Position) -> Any:
    v = im(p)
    return math.log(v - 0.5) + math.sqrt(v) + v**2.2


SHAPES = [(1, 1), (1, 300), (300, 1), (67, 131), (40, 7)]


@pytest.mark.parametrize("level", ["", "sse2", "avx2"])
@pytest.mark.parametrize(
    ("function", "channels"),
    [(gamma, 1), (gamma, 3), (gamma, 4), (curved, 1), (linear, 3), (wave, 2), (undefined, 1)],
)
def test_functions_of_a_byte_give_the_nearest_bytes(
    function: Any, channels: int, level: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_CPU_FEATURES", level)
    rng = np.random.default_rng(2)
    run = pygpu.compile(function, target="cpu", dtype="uint8")
    floats = pygpu.compile(function, target="cpu")
    for height, width in SHAPES:
        whole = rng.integers(0, 256, (height + 3, width + 5, channels), np.uint8).squeeze()
        whole = whole.reshape(height + 3, width + 5, *(() if channels == 1 else (channels,)))
        for array in (np.ascontiguousarray(whole[3:, 5:]), whole[3:, 5:]):
            exact = np.nan_to_num(np.asarray(floats(array), np.float64), nan=0.0) * 255
            for _ in range(2):  # by the gate, too
                found = run(array)
                assert found.dtype == np.uint8
                assert found.shape == array.shape
                assert np.abs(found - np.clip(exact, 0, 255)).max() < 0.501
    if host().x86 and level != "sse2":
        texels = np.zeros((8, 8, channels) if channels > 1 else (8, 8), np.uint8)
        assert "pshuf" in run.lower(texels).source


def test_what_is_given_at_the_call_is_computed() -> None:
    @pygpu.compile(target="cpu", dtype="uint8")
    def power(im: Image, p: Position, by: Float) -> Any:
        return im(p) ** by

    every = np.arange(256, dtype=np.uint8)[None]
    for by in (0.5, 2.0):
        assert np.abs(power(every, by=by) - (every / 255) ** by * 255).max() < 0.501


def test_alpha_that_is_handed_on_stays() -> None:
    @pygpu.compile(target="cpu", dtype="uint8")
    def opaque(im: Image, p: Position) -> Any:
        c = im(p)
        return pygpu.Vec4(c.rgb**2.2, c.a)

    texels = np.random.default_rng(1).integers(0, 256, (9, 40, 4), np.uint8)
    found = opaque(texels)
    np.testing.assert_array_equal(found[..., 3], texels[..., 3])
    exact = (texels[..., :3] / 255) ** 2.2 * 255
    assert np.abs(found[..., :3] - exact).max() < 0.501
