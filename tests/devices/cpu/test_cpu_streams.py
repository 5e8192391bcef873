"""Large results are written past the caches of the processor: they are what they are otherwise,
wherever they lie."""

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Volume, offsets
from pygpu.devices.cpu import program
from pygpu.devices.process.reserve import LINE, RESERVE

RNG = np.random.default_rng(0)


@pytest.fixture
def spans(monkeypatch) -> list[bool]:
    """Which calls have had a span that writes past the caches."""
    found = []
    asked = program.CpuProgram.stream

    def stream(self: Any, *given: Any) -> int:
        address = asked(self, *given)
        found.append(address != 0)
        return address

    for name in ("STREAMED", "STREAMED_ROW"):
        monkeypatch.setattr(program, name, 0)
    monkeypatch.setattr(program.CpuProgram, "stream", stream)
    monkeypatch.setattr("pygpu.devices.process.reserve.LEAST", 1)
    return found


@pygpu.compile(target="cpu")
def around(im: Image, p: Position, g: Float):
    return im(p + (2, -1)) * g - im(p + (-1, 0)), im(p)


def lines(shape: tuple[int, ...], dtype: str, beside: int = 0) -> np.ndarray:
    """An array that begins at a line of the cache, or so many elements beside one."""
    made = RESERVE.empty((int(np.prod(shape)) + LINE,), np.dtype(dtype), least=0)
    return made[beside : beside + int(np.prod(shape))].reshape(shape)


@pytest.mark.parametrize(
    ("dtype", "channels", "made"),
    [
        ("float32", (), "float32"),
        ("float32", (2,), "float32"),
        ("float32", (3,), "uint16"),
        ("uint8", (), "uint8"),
        ("uint8", (3,), "float32"),
        ("uint8", (4,), "uint8"),
        ("float16", (), "float16"),
        ("int32", (), "int32"),
    ],
)
def test_results_are_the_same_past_the_caches(spans, dtype, channels, made):
    for height, width in ((7, 128), (65, 1024), (33, 192)):
        texels = (RNG.random((height, width, *channels)) * 100).astype(dtype)
        wanted = around(texels, 0.7, dtype=made)
        for beside, streams in ((0, None), (0, True), (1, False)):  # the first call need not
            out = tuple([lines(texels.shape, made, beside) for _ in wanted])
            around(texels, 0.7, dtype=made, out=out)
            assert streams is None or spans[-1] == streams
            for ours, theirs in zip(out, wanted, strict=True):
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("width", [100, 128, 1000, 4096 + 128])
def test_new_results_and_parts_of_rows_too(spans, width):
    texels = RNG.random((50, width), dtype=np.float32)
    wanted, _ = around(texels, 0.7)
    for _ in range(3):
        ours, _ = around(texels, 0.7)
        np.testing.assert_array_equal(ours, wanted)
    assert spans[-1] == (width * 4 % LINE == 0)
    part = RNG.random((50, 2 * width), dtype=np.float32)[:, width:]
    apart = lines((50, 2 * width), "float32"), lines((50, 2 * width), "float32")
    out = tuple([each[:, :width] for each in apart])
    around(part, 0.7, out=out)
    np.testing.assert_array_equal(out[0], around(np.ascontiguousarray(part), 0.7)[0])


def test_the_first_call_and_small_results_do_without(spans, monkeypatch):
    @pygpu.compile(target="cpu")
    def own(im: Image, p: Position):
        return 2 * im(p)

    monkeypatch.setattr(program, "STREAMED", 1 << 14)
    large, small = (np.ones((64, width), np.float32) for width in (64, 32))
    for texels in (large, large, small, large):
        np.testing.assert_array_equal(own(texels, out=lines(texels.shape, "float32")), 2 * texels)
    assert spans == [False, True, False, True]


def test_reserve_gives_memory_that_begins_at_a_line():
    for count in (5, 1 << 20, (1 << 23) + 3):
        array = RESERVE.empty((count,), np.dtype("uint8"), least=0)
        assert array.__array_interface__["data"][0] % LINE == 0


@pygpu.compile(target="cpu")
def average(v: Volume, p: Position):
    return sum([v(p + d) for d in offsets(np.ones((3, 3, 3)))]) / 27


@pygpu.compile(target="cpu")
def slope(v: Volume, p: Position):
    return v(p + (1, 0, 0)) - v(p - (1, 1, 0)) + v(p - (0, 0, 1))


@pytest.mark.parametrize("made", ["float32", "uint8"])
@pytest.mark.parametrize("width", [64, 80, 192, 1024])
def test_planes_and_their_stages_are_the_same_past_the_caches(spans, monkeypatch, width, made):
    monkeypatch.setattr(program, "ENDS", 0)
    monkeypatch.setattr("pygpu.devices.cpu.staged.LEAST", 0)
    texels = RNG.random((6, 40, width), dtype=np.float32)
    for function in (average, slope):
        out = lines(texels.shape, made, 1)
        wanted = function(texels, dtype=made, out=out).copy()
        for _ in range(3):
            out = lines(texels.shape, made)
            assert np.array_equal(function(texels, dtype=made, out=out), wanted)
        assert spans[-1] == (width % (64 if made == "uint8" else 16) == 0)
