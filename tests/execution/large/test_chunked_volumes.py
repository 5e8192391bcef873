"""Dask arrays as volumes and signals: the same results as with the whole, whatever the chunks."""

from typing import Any, Final

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pygpu
from conftest import require
from pygpu import Float, Image, Int, Position, Signal, Volume

dask = pytest.importorskip("dask", reason="no dask")
da = pytest.importorskip("dask.array", reason="no dask")

RANDOM: Final = np.random.default_rng(3)
GREY: Final = RANDOM.random((9, 17, 23), np.float32)
COLOURS: Final = RANDOM.integers(0, 256, (5, 8, 9, 3), np.uint8)
LINE: Final = RANDOM.random(500, np.float32)
CHUNKS: Final = [(3, 5, 7), -1, (1, 17, 4), ((0, 4, 5), 17, 20)]
BOUNDARIES: Final = ["nearest", "reflect", "mirror", "wrap", "constant"]


@pytest.fixture(autouse=True)
def synchronous() -> Any:
    with dask.config.set(scheduler="synchronous"):
        yield


def around(boundary: str, target: str = "cpu") -> Any:
    @pygpu.compile(target=target)
    def function(v: Volume, p: Position, gain: Float = 2.0):
        v = v.sampled(boundary=boundary, cval=0.5)
        near = gain * v(p + (1, 0, -2)) - v(p + (0, 3, 1)) + v(p + (0, -1, 0)) / 2
        return near + 0.01 * p.z + 0.1 * p.x + p.y + v.depth - v.height

    return function


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("chunks", CHUNKS, ids=str)
def test_chunks_of_volumes_give_what_the_whole_gives(boundary: str, chunks: Any) -> None:
    function = around(boundary)
    lazy, whole = function(da.from_array(GREY, chunks=chunks), 3.0), function(GREY, 3.0)
    assert (lazy.shape, lazy.dtype) == (whole.shape, whole.dtype)
    assert_array_equal(lazy.compute(), whole)


@pytest.mark.parametrize("opengl", ["fragment", "compute"])
@pytest.mark.parametrize("boundary", ["wrap", "constant"])
def test_chunks_of_volumes_on_opengl(opengl: str, boundary: str) -> None:
    require(opengl)
    function = around(boundary, opengl)
    for array, chunks in ((GREY, (4, 17, 10)), (COLOURS, (2, 3, 4, 1))):
        lazy = function(da.from_array(array, chunks=chunks))
        assert_array_equal(lazy.compute(), function(array))


def test_colours_and_images_beside_a_volume() -> None:
    @pygpu.compile(target="cpu")
    def function(v: Volume, im: Image, p: Position):
        return v(p + (0, 0, 1)) + im((p.x + 1, p.y)), v(p)

    photo = RANDOM.random((17, 23), np.float32)
    want = function(GREY, photo)
    for image in (photo, da.from_array(photo, chunks=(4, 23))):
        found = function(da.from_array(GREY, chunks=(4, 6, 23)), image)
        for lazy, whole in zip(found, want, strict=True):
            assert_array_equal(lazy.compute(), whole)
    colours = da.from_array(COLOURS, chunks=(2, 3, 4, 1))
    assert_array_equal(around("mirror")(colours).compute(), around("mirror")(COLOURS))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("chunks", [500, 77, (3, 497), (1, 1, 1, 497)], ids=str)
def test_chunks_of_signals_give_what_the_whole_gives(boundary: str, chunks: Any) -> None:
    @pygpu.compile(target="cpu")
    def function(x: Signal, i: Position):
        x = x.sampled(boundary=boundary, cval=0.5)
        return x(i - 3) / 2 + x(i + 7) + 0.001 * i.x + x.width

    lazy, whole = function(da.from_array(LINE, chunks=(chunks,))), function(LINE)
    assert (lazy.shape, lazy.dtype) == (whole.shape, whole.dtype)
    assert_array_equal(lazy.compute(), whole)


def test_rounds_of_volumes_and_signals() -> None:
    @pygpu.compile(target="cpu")
    def spread(v: Volume, p: Position):
        return (v(p + (1, 0, 0)) + v(p + (0, 0, 1)) + v(p + (0, -1, 0))) / 3

    @pygpu.compile(target="cpu")
    def hop(x: Signal, i: Position, far: Int):
        return (x(i - far) + x(i + far)) / 2

    volume, line = da.from_array(GREY, chunks=(4, 6, 23)), da.from_array(LINE, chunks=70)
    assert_array_equal(spread.iterate(volume, 4).compute(), spread.iterate(GREY, 4))
    fars = pygpu.each([1, 2, 4, 8])
    assert_array_equal(hop.iterate(line, 4, fars).compute(), hop.iterate(LINE, 4, fars))


def test_gathers_of_volumes_need_one_piece() -> None:
    @pygpu.compile(target="cpu")
    def gather(v: Volume, p: Position):
        return v((p.x, p.y, int(v(p) * 8)))

    with pytest.raises(ValueError, match=r"v\.rechunk\(-1\)"):
        gather(da.from_array(GREY, chunks=(4, 6, 23)))
    assert_array_equal(gather(da.from_array(GREY, chunks=-1)).compute(), gather(GREY))


def test_other_shapes() -> None:
    function = around("nearest")
    lazy = function(da.from_array(GREY, chunks=(4, 6, 23)), shape=(4, 5, 6))
    assert_array_equal(lazy.compute(), function(GREY, shape=(4, 5, 6)))


def test_rounds_of_volumes_end_when_it_is_enough() -> None:
    function = around("wrap")
    given = {"until": lambda v: v.max() < 1, "every": 1}
    lazy = function.iterate(da.from_array(GREY, chunks=(4, 6, 23)), 6, **given)
    assert_array_equal(lazy.compute(), function.iterate(GREY, 6, **given))


def test_bad_volumes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(3, 4\); a volume is an array \(D, H, W\)"):
        around("wrap")(da.zeros((3, 4)))


@pytest.mark.parametrize("boundary", ["nearest", "wrap"])
def test_checked_volumes_raise_at_the_position_in_the_whole(boundary: str) -> None:
    @pygpu.compile(target="cpu", check=True)
    def function(v: Volume, p: Position):
        v = v.sampled(boundary=boundary)
        assert v(p + (0, 0, 1)) < 2, "too bright"
        return v(p) + v(p + (1, -1, 0))

    lazy = function(da.from_array(GREY, chunks=(4, 6, 23)))
    assert_array_equal(lazy.compute(), function(GREY))
    bad = GREY.copy()
    bad[0 if boundary == "wrap" else -1, 5, 7] = 3
    messages = []
    for given in (bad, da.from_array(bad, chunks=(4, 6, 23))):
        with pytest.raises(AssertionError, match="too bright") as error:
            np.asarray(function(given))
        messages.append(error.value.__notes__[-1].split(", the")[0])
    assert messages[0] == messages[1]
    assert "(7, 5, " in messages[0]


def test_checked_signals_and_sizes() -> None:
    @pygpu.compile(target="cpu", check=True)
    def function(s: Signal, p: Position):
        return [1, 2, 3][p.x // 10] + s(p + 1)

    lazy = function(da.from_array(LINE[:30], chunks=8))
    assert_array_equal(lazy.compute(), function(LINE[:30]))
    with pytest.raises(IndexError, match="out of range") as error:
        function(da.from_array(LINE[:35], chunks=8)).compute()
    note = error.value.__notes__[-1]  # of the chunk from 24 on, or of that from 32 on
    assert "position 30, the first of 2" in note or "position 32, the first of 3" in note

    @pygpu.compile(target="cpu", check=True)
    def both(v: Volume, w: Volume, p: Position):
        return v(p) + w(p)

    volume = da.from_array(GREY, chunks=(4, 6, 23))
    with pytest.raises(ValueError, match=r"w: an image of 2 x .* in a checked call"):
        both(volume, volume[:2])
