"""Folds and maps of Dask arrays: lazily, chunk by chunk."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Int, Position

da = pytest.importorskip("dask.array", reason="no dask")

RNG = np.random.default_rng(0)
GREY = RNG.random((40, 50)).astype(np.float32)
COLOURS = RNG.random((40, 50, 3)).astype(np.float32)


@pytest.mark.parametrize("chunks", [(16, 16), (40, 50), (1, 50), (7, (20, 30)), (3, 3)])
@pytest.mark.parametrize("function", [np.add, np.maximum, lambda a, b: min(a, b)])
def test_fold_is_that_of_the_whole(function: object, chunks: object) -> None:
    found = pygpu.reduce(function, da.from_array(GREY, chunks=chunks))
    assert isinstance(found, da.Array)
    assert found.shape == ()
    np.testing.assert_allclose(found.compute(), pygpu.reduce(function, GREY), rtol=1e-5)


def test_folds_of_several_images_with_arguments_and_by_group() -> None:
    first, second = da.from_array(GREY, chunks=(16, 16)), da.from_array(1 - GREY, chunks=(9, 50))
    told = {"map": lambda a, b, gain: gain * a * b, "gain": 3.0}
    found = pygpu.reduce(np.add, first, second, **told)
    want = pygpu.reduce(np.add, GREY, 1 - GREY, **told)
    np.testing.assert_allclose(found.compute(), want, rtol=1e-5)
    for function in (np.add, lambda a, b: a + b):
        asked = {"by": lambda v: Int(v * 4), "groups": 4, "initial": 0.0}
        found = pygpu.reduce(function, first, **asked)
        assert found.shape == (4,)
        np.testing.assert_allclose(
            found.compute(), pygpu.reduce(function, GREY, **asked), rtol=1e-5
        )


def test_colours_and_empty_chunks() -> None:
    found = pygpu.reduce(lambda a, b: a + b, da.from_array(COLOURS, chunks=(7, 50, 1)))
    np.testing.assert_allclose(found.compute(), COLOURS.sum((0, 1)), rtol=1e-4)
    some = da.from_array(GREY, chunks=(10, 50))
    holes = da.concatenate([some[:0], some, some[:0]])
    np.testing.assert_allclose(pygpu.reduce(np.add, holes).compute(), GREY.sum(), rtol=1e-5)


def test_folds_join_in_a_tree_and_with_other_functions_of_dask() -> None:
    total = pygpu.reduce(np.add, da.from_array(GREY, chunks=(4, 5)))
    np.testing.assert_allclose((total / GREY.size).compute(), GREY.mean(), rtol=1e-5)


@pytest.mark.parametrize("chunks", [(16, 16), (1, 50), (7, (20, 30)), ((0, 13, 27), 50)])
def test_positions_are_those_of_the_whole(chunks: object) -> None:
    lazy = da.from_array(GREY, chunks=chunks)
    told = {"map": lambda v, p: v * p.x + p.y}
    found = pygpu.reduce(np.add, lazy, **told).compute()
    np.testing.assert_allclose(found, pygpu.reduce(np.add, GREY, **told), rtol=1e-5)
    for function in (np.add, np.maximum, lambda a, b: a + b):
        asked = {"by": lambda v, p: (p.x + 3 * p.y) % 5, "groups": 6, "initial": 0.0, **told}
        found = pygpu.reduce(function, lazy, **asked).compute()
        np.testing.assert_allclose(found, pygpu.reduce(function, GREY, **asked), rtol=1e-5)


@pytest.mark.parametrize("function", [np.argmax, np.argmin])
@pytest.mark.parametrize("chunks", [(16, 16), (1, 50), (40, (20, 30)), ((0, 13, 27), 50)])
def test_place_of_the_extreme_is_the_first_of_the_whole(function: object, chunks: object) -> None:
    for values in (GREY, np.round(GREY * 8).astype(np.uint8), np.where(GREY > 0.9, np.nan, GREY)):
        values = values.astype(np.float32) if values.dtype == np.float64 else values
        lazy = da.from_array(values, chunks=chunks)
        found = pygpu.reduce(function, lazy)
        assert isinstance(found, da.Array)
        assert found.shape == (2,)
        np.testing.assert_array_equal(found.compute(), pygpu.reduce(function, values))
        by = {"by": lambda v, p: p.x // 9, "groups": 8}  # of the last two there are none
        found = pygpu.reduce(function, lazy, **by)
        assert found.shape == (8, 2)
        np.testing.assert_array_equal(found.compute(), pygpu.reduce(function, values, **by))


def total_and_most(a: object, b: object) -> object:
    return a[0] + b[0], a[1] + b[1], max(a[2], b[2])


@pytest.mark.parametrize("function", [np.add, total_and_most])
@pytest.mark.parametrize("chunks", [(16, 16), (40, 50), ((0, 13, 27), 50)])
def test_tuples_are_folded_to_tuples(function: object, chunks: object) -> None:
    lazy = da.from_array(COLOURS, chunks=(*chunks, 3))
    told = {"map": lambda v, p: (v, p.x - 7, v.g)}
    groups = {"by": lambda v, p: p.x % 3, "groups": 4, "initial": ((0.0, 0.0, 0.0), 0, 0.0)}
    for asked in (told, told | groups):
        found = pygpu.reduce(function, lazy, **asked)
        want = pygpu.reduce(function, COLOURS, **asked)
        assert isinstance(found, tuple)
        for one, whole in zip(found, want, strict=True):
            assert one.shape == np.shape(whole)
            assert one.dtype.kind == np.asarray(whole).dtype.kind
            assert one.compute().dtype == one.dtype
            np.testing.assert_allclose(one.compute(), whole, rtol=1e-5)


def test_signals_are_folded_with_their_places() -> None:
    line = RNG.random(5000).astype(np.float32)
    lazy = da.from_array(line, chunks=700)
    told = {"map": lambda v, p: v * p}
    found = pygpu.reduce(np.add, lazy, **told).compute()
    np.testing.assert_allclose(found, pygpu.reduce(np.add, line, **told), rtol=1e-5)
    assert pygpu.reduce(np.argmax, lazy).compute() == line.argmax()


def test_places_have_no_initial() -> None:
    with pytest.raises(TypeError, match="positions have no initial"):
        pygpu.reduce(np.argmax, da.from_array(GREY), initial=0.0)


def test_images_of_different_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="images of different sizes"):
        pygpu.reduce(np.add, da.from_array(GREY), da.from_array(GREY[1:]), map=lambda a, b: a + b)


@pygpu.compile
def beside(im: Image, p: Position):
    return im(p + (1, 0)) + im(p)


@pytest.mark.parametrize("shape", [(4, 20, 30), (2, 3, 20, 30), (4, 20, 30, 3)])
def test_maps_of_stacks_are_stacks(shape: tuple[int, ...]) -> None:
    stack = RNG.random(shape).astype(np.float32)
    found = beside.map(da.from_array(stack, chunks=(1, *[10] * (len(shape) - 1))))
    assert isinstance(found, da.Array)
    assert found.shape == shape
    np.testing.assert_array_equal(found.compute(), beside.map(stack))


def test_maps_of_stacks_keep_their_chunks() -> None:
    frames = da.from_array(RNG.random((5, 20, 30)), chunks=(2, 7, 11))
    assert beside.map(frames).chunks == frames.chunks

    @pygpu.compile
    def less(im: Image, other: Image, p: Position):
        return im(p) - other(p)

    assert less.map(frames, frames[0]).chunks == frames.chunks
    lasting = less.map(np.ones((3, 20, 30)), frames[0])  # no stack of Dask's
    np.testing.assert_allclose(lasting.compute()[2], 1 - frames[0].compute(), atol=1e-6)


def test_maps_of_what_is_no_stack_are_refused() -> None:
    with pytest.raises(ValueError, match="no more than a frame"):
        beside.map(da.from_array(GREY))
    with pytest.raises(TypeError, match="out: a Dask array is computed later"):
        beside.map(da.from_array(COLOURS), out=COLOURS)


def test_pipelines_of_dask_arrays_are_lazy() -> None:
    @pygpu.pipeline
    def twice(im):
        return beside(beside(im))

    found = twice(da.from_array(GREY, chunks=(16, 16)))
    assert isinstance(found, da.Array)
    np.testing.assert_allclose(found.compute(), twice(GREY), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float64", "bool"])
def test_operators_of_pipelines_see_the_texels_of_dask_arrays(dtype: str) -> None:
    @pygpu.pipeline
    def stretched(im, other):
        low = im.min()
        return beside(np.sqrt(abs(im * 3)) + other[2:-1, 5:].mean()) - low * 2, im[1:-4] * 1

    values = np.arange(3000).reshape(50, 60) % (2 if dtype == "bool" else 251)
    whole = values.astype(dtype)
    found = stretched(da.from_array(whole, chunks=(16, 17)), whole[::-1])
    expected = stretched(whole, whole[::-1])
    for lazily, at_once in zip(found, expected, strict=True):
        assert isinstance(lazily, da.Array)
        assert lazily.dtype.kind == at_once.dtype.kind
        np.testing.assert_allclose(lazily.compute(), at_once, rtol=1e-5, atol=1e-5)


MOVES: dict[str, Callable[[Any], Any]] = {
    "nothing": lambda im: im,
    "slices": lambda im: im[3:40:2, ::-1],
    "a row": lambda im: im[4],
    "a texel": lambda im: im[4, 5],
    "a channel": lambda im: im[..., 0],
    "swapaxes": lambda im: im.swapaxes(0, 1) if isinstance(im, da.Array) else np.swapaxes(im, 0, 1),
    "rechunk": lambda im: im.rechunk(-1)[2:] if isinstance(im, da.Array) else im[2:],
    "transpose": np.transpose,
    "flip": lambda im: np.flip(im, 1),
    "rot90 and a crop": lambda im: np.rot90(im)[5:, 2:9],
    "roll": lambda im: np.roll(im, 3, axis=1),
    "tile": lambda im: np.tile(im, (2, 1, 1)[: im.ndim]),
    "repeat": lambda im: np.repeat(im, 2, axis=0),
    "take": lambda im: np.take(im, [4, 0, 1], axis=1),
    "edges": lambda im: np.pad(im, ((1, 2), (3, 0), (0, 0))[: im.ndim], mode="edge"),
    "itself twice": lambda im: np.concatenate([im, np.flip(im, 0)]),
    "beside floats": lambda im: np.concatenate([im, im * 0.5]),
    "beside results": lambda im: np.vstack([beside(im), im]) - im[:1],
    "stack": lambda im: np.stack([im, im]),
    "several": lambda im: {"one": (np.fliplr(im), im / 2), "other": [im[1:]]},
    "a number": lambda im: im[2:] > pygpu.filters.threshold_otsu(im),
    "a filter": lambda im: pygpu.filters.equalize_hist(im[3:]),
    "rounds": lambda im: beside.iterate(im, 0),
}


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "bool", "float64"])
@pytest.mark.parametrize("move", MOVES)
def test_pipelines_give_what_they_only_move_as_it_is_stored(move: str, dtype: str) -> None:
    pipe = pygpu.pipeline(MOVES[move], target="cpu")
    grey = ((np.arange(3000) * 7919).reshape(50, 60) % 251).astype(dtype)
    colour = np.stack([grey, grey[::-1], grey[:, ::-1]], -1)
    for whole in (grey, colour) if move != "a number" else (grey,):
        found = leaves_of(pipe(da.from_array(whole, chunks=(16, 17, 3)[: whole.ndim])))
        for lazily, at_once in zip(found, leaves_of(pipe(whole)), strict=True):
            computed = np.asarray(lazily.compute())
            assert lazily.dtype == computed.dtype == np.asarray(at_once).dtype
            np.testing.assert_allclose(computed, at_once, rtol=1e-5, atol=1e-6)


def leaves_of(result: Any) -> list[Any]:
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, list | tuple):
        return [leaf for each in result for leaf in leaves_of(each)]
    return [result]


def test_what_brings_values_or_changes_some_is_seen_as_functions_see_it() -> None:
    whole = np.arange(300, dtype=np.uint8).reshape(20, 15)

    def changed(im: Any) -> Any:
        im[3] = 0.5
        return im[:9]

    for move in (
        changed,
        lambda im: np.pad(im, 1, constant_values=1),
        lambda im: np.insert(im, 2, 1, axis=0),
        lambda im: np.append(im, np.ones((1, 15)), axis=0),
        lambda im: im.astype(np.float32),
        lambda im: da.transpose(im) if isinstance(im, da.Array) else im.T,
    ):
        found = pygpu.pipeline(move)(da.from_array(whole, chunks=7))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, move(whole / np.float32(255)), rtol=1e-6)


def test_volumes_and_masked_chunks_are_refused_with_a_way_out() -> None:
    for shape in [(4, 5, 6), (4, 5, 6, 3)]:
        volume = da.from_array(np.ones(shape, np.float32), chunks=(2, 3, 3, 3)[: len(shape)])
        with pytest.raises(ValueError, match=r"array\.reshape\(-1, \*array\.shape\[2:\]\)"):
            pygpu.reduce(np.add, volume)
        found = pygpu.reduce(np.add, volume.reshape(-1, *volume.shape[2:]))
        np.testing.assert_array_equal(found.compute(), np.full(shape[3:], 120))
    masked = da.from_array(np.ma.masked_array(GREY, GREY > 0.5), chunks=16)
    twice = pygpu.compile(lambda im, p: 2 * im(p), im=Image, p=Position, target="cpu")
    for call in (twice, lambda a: pygpu.reduce(np.add, a), lambda a: twice.map(da.stack([a, a]))):
        with pytest.raises(TypeError, match="a chunk: a masked array"):
            call(masked).compute()
