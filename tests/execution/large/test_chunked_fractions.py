"""Functions of Dask arrays that read between pixels: the halo follows from their known offsets."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import pygpu
from pygpu import Float, Image, Position, Vec2, Volume

da = pytest.importorskip("dask.array", reason="no dask")

GREY = np.random.default_rng(0).random((50, 70)).astype(np.float32)
LAZY = da.from_array(GREY, chunks=((9, 1, 13, 0, 27), (11, 59)))


def half(im: Image, p: Position):
    return im(p + (0.5, -2.25))


def given(im: Image, p: Position, n: Float = 1.5):
    return im(p + (n, -n))


def ring(im: Image, p: Position):
    return sum([im(p + 3 * Vec2(math.cos(a), math.sin(a))) for a in np.linspace(0, 6, 7)])


def between(im: Image, p: Position):
    linear = im.sampled(interpolation="linear")
    wrapped = im.sampled(interpolation="linear", boundary="wrap")
    return linear(Vec2(p) + Vec2(0.5, 1.5) - 0.25) - wrapped((p.x - 1.75, p.y + 0.5))


def swayed(im: Image, p: Position):
    linear = im.sampled(interpolation="linear")
    return linear(p + (1.25 if im(p) > 0.5 else -0.25, 0.5))


def outside(im: Image, p: Position):
    return im.sampled(interpolation="linear", boundary="constant", cval=0.5)(p - (3.5, 0.125))


@pytest.mark.parametrize("function", [half, given, ring, between, swayed, outside])
def test_chunks_give_what_the_whole_image_gives(function, target: str) -> None:
    compiled = pygpu.compile(function, target=target)
    assert_array_equal(compiled(LAZY).compute(scheduler="synchronous"), compiled(GREY))


@pytest.mark.parametrize("boundary", ["nearest", "reflect", "mirror", "wrap", "constant"])
def test_rounds_give_what_those_of_the_whole_give(boundary: str) -> None:
    @pygpu.compile
    def drift(im: Image, p: Position):
        moved = im.sampled(boundary=boundary, interpolation="linear")
        return (moved(p + (0.5, -1.25)) + im(p)) / 2

    lazy = drift.iterate(LAZY, 5).compute(scheduler="synchronous")
    assert_array_equal(lazy, drift.iterate(GREY, 5))


def test_planes_of_volumes_are_read_between_pixels() -> None:
    @pygpu.compile
    def shifted(v: Volume, p: Position):
        return v((p.x + 0.75, p.y - 1.5, p.z + 1))

    volume = np.random.default_rng(0).random((5, 20, 30)).astype(np.float32)
    lazy = shifted(da.from_array(volume, chunks=(2, 7, 11)))
    assert_array_equal(lazy.compute(scheduler="synchronous"), shifted(volume))


@pytest.mark.parametrize("scale", [2, 0.5])
def test_what_moves_faster_or_slower_than_the_pixel_is_far(scale: float) -> None:
    function = pygpu.compile(lambda im=Image, p=Position: im(p * scale))
    with pytest.raises(ValueError, match="far from the position"):
        function(LAZY)


def test_floats_do_not_tell_pixels_of_the_longest_images_apart() -> None:
    function, largest = pygpu.compile(swayed), da.zeros((3, 2**22), chunks=(3, 2**20), dtype="u1")
    longer = da.zeros((3, 2**22 + 1), chunks=(3, 2**20), dtype="u1")
    assert function(largest).ndim == pygpu.compile(half)(longer).ndim == 2  # known: as integers
    with pytest.raises(ValueError, match=r"im is read between pixels.* more than 4194304"):
        function(longer)


def test_folds_take_labelled_arrays_lazily() -> None:
    xarray = pytest.importorskip("xarray", reason="no xarray")
    lazy = pygpu.reduce(np.maximum, xarray.DataArray(LAZY))
    assert (type(lazy), lazy.shape) == (da.Array, ())
    assert lazy.compute() == GREY.max() == pygpu.reduce(np.maximum, xarray.DataArray(GREY))
