"""Windows that reach far along a row: taps where many loads share the copied ends of rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import pygpu
from pygpu import Image, Position, Signal
from pygpu.passes.analysis.taps import FAR, REACH, find_taps
from pygpu.ssa import walk

RULES = ("nearest", "reflect", "mirror", "wrap", "constant")


def window(columns: range) -> Any:
    weights = np.cos(np.arange(len(columns)) / 30).astype(np.float32)

    def blur(image: Image, p: Position):
        return sum(w * image((p.x + dx, p.y)) for w, dx in zip(weights, columns, strict=True))

    return blur, weights


@pytest.mark.parametrize("boundary", RULES)
@pytest.mark.parametrize("width", [2, 40, 333, 1500])
@pytest.mark.parametrize("kind", ["float", "bytes", "rgb"])
def test_a_dense_window_is_scipys(boundary: str, width: int, kind: str) -> None:
    columns = range(-130, 131)
    function, weights = window(columns)
    texels = np.random.default_rng(width).random((3, width, 3 if kind == "rgb" else 1))
    texels = texels.astype(np.float32).squeeze(2) if kind != "rgb" else texels.astype(np.float32)
    if kind == "bytes":
        texels = (texels * 255).astype(np.uint8)
    image = Image(texels, boundary=boundary)
    found = np.asarray(pygpu.compile(function, target="cpu")(image))
    exact = texels / 255 if kind == "bytes" else texels.astype(np.float64)
    wanted = ndimage.correlate1d(exact, weights.astype(np.float64), axis=1, mode=boundary)
    assert np.abs(found - wanted).max() < 1e-4


@pytest.mark.parametrize("columns", [range(-600, 601), range(400), range(100, 500)])
def test_windows_to_one_side_and_beyond_the_farthest(columns: range) -> None:
    function, weights = window(columns)
    texels = np.random.default_rng(0).random((2, 2000), dtype=np.float32)
    found = np.asarray(pygpu.compile(function, target="cpu")(Image(texels)))
    padded = np.pad(texels.astype(np.float64), ((0, 0), (600, 600)), "edge")
    wanted = sum(
        w * padded[:, 600 + dx : 2600 + dx] for w, dx in zip(weights, columns, strict=True)
    )
    assert np.abs(found - wanted).max() < 1e-3


@pytest.mark.parametrize("boundary", RULES)
@pytest.mark.parametrize("width", [50, 700])
def test_extremes_of_bytes_are_exact(boundary: str, width: int) -> None:
    def most(image: Image, p: Position):
        return max(image((p.x + dx, p.y)) for dx in range(-90, 91))

    texels = np.random.default_rng(1).integers(0, 255, (4, width), dtype=np.uint8)
    found = pygpu.compile(most, target="cpu")(Image(texels, boundary=boundary), dtype=np.uint8)
    wanted = ndimage.maximum_filter1d(texels, 181, axis=1, mode=boundary)
    assert np.array_equal(np.asarray(found), wanted)


def test_a_long_filter_of_a_signal() -> None:
    weights = np.hanning(401).astype(np.float32)

    def smooth(x: Signal, p: Position):
        return sum(w * x(p.x + k - 200) for k, w in enumerate(weights))

    sound = np.random.default_rng(2).random(10_000, dtype=np.float32)
    found = np.asarray(pygpu.compile(smooth, target="cpu")(sound))
    wanted = ndimage.correlate1d(sound.astype(np.float64), weights, mode="nearest")
    assert np.abs(found - wanted).max() < 1e-3


@pytest.mark.parametrize(("columns", "are_taps"), [(range(-100, 101), True), ((0, 300), False)])
def test_few_loads_far_apart_are_not_worth_their_margins(columns: Any, are_taps: bool) -> None:
    def total(image: Image, p: Position):
        return sum(image((p.x + dx, p.y)) for dx in columns)

    function = pygpu.compile(total, target="cpu").lower(np.zeros((8, 8), np.float32))
    function = function._made.translated.function
    loads = [op for op in walk(function.body) if op.code == "load"]
    near = [op for op in loads if abs(op.data.dx) <= REACH]
    assert len(find_taps(function)) == len(loads if are_taps else near)


def test_no_load_is_a_tap_beyond_the_farthest() -> None:
    def total(image: Image, p: Position):
        return sum(image((p.x + dx, p.y)) for dx in range(600))

    function = pygpu.compile(total, target="cpu").lower(np.zeros((8, 8), np.float32))
    function = function._made.translated.function
    assert max(op.data.dx for op in find_taps(function)) == FAR
