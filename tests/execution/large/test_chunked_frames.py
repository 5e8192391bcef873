"""Chunks of Dask arrays on cpu are read where they lie: what is around them is all that is put
together."""

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position
from pygpu.devices.cpu.program import CpuProgram
from pygpu.execution.large.regions import Assembly
from pygpu.execution.large.work import cut_off
from pygpu.ssa import BOUNDARIES

da = pytest.importorskip("dask.array")

RNG = np.random.default_rng(1)
SIZES = ((40, 7, 33), (64, 30, 50))  # of chunks, along y and x


@pytest.fixture
def copied(monkeypatch) -> list[int]:
    """How many bytes were put together, and for each chunk that was framed a 0."""
    found: list[int] = []
    put_together, run_framed = Assembly.of, CpuProgram.run_framed

    def of(self: Assembly, pieces: Any, *ends: Any) -> Any:
        made = put_together(self, pieces, *ends)
        found.append(0 if any(np.shares_memory(made, piece) for piece in pieces) else made.nbytes)
        return made

    def framed(self: CpuProgram, *given: Any) -> Any:
        made = run_framed(self, *given)
        assert made is not None
        found.append(0)
        return made

    monkeypatch.setattr(Assembly, "of", of)
    monkeypatch.setattr(CpuProgram, "run_framed", framed)
    return found


def chunks_of(whole: np.ndarray, chunks: Any, apart: bool) -> Any:
    """A Dask array whose chunks are parts of one array, or each an array of its own."""
    made = da.from_array(whole, chunks=chunks)
    return made.map_blocks(np.copy, dtype=whole.dtype) if apart else made


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize(("dtype", "channels"), [("float32", ()), ("uint8", (3,)), ("int16", ())])
def test_results_are_those_of_the_whole(copied, boundary, dtype, channels, apart):
    @pygpu.compile(target="cpu")
    def lopsided(im: Image, p: Position, g: Float):
        im = im.sampled(boundary=boundary, cval=9)
        return im(p + (3, -2)) * g - im(p + (-1, 4)) + im(p) * p.x, im(p + (-5, 0))

    whole = (RNG.random((sum(SIZES[0]), sum(SIZES[1]), *channels)) * 200).astype(dtype)
    chunked = chunks_of(whole, (*SIZES, *channels), apart)
    ours, theirs = lopsided(chunked, 0.3), lopsided(whole, 0.3)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(one.compute(scheduler="sync"), np.asarray(other))
    assert copied.count(0) >= 6 * 2  # not chunks of seven rows, which read six of others


def test_no_more_than_what_is_around_chunks_is_put_together(copied):
    @pygpu.compile(target="cpu")
    def near(im: Image, other: Image, p: Position):
        return im(p + (1, -1)) + other(p + (-2, 2)) - im(p + (0, 1))

    one, two = RNG.random((2, 600, 800), dtype=np.float32)
    for apart, most in ((True, 0.1), (False, 0.01)):
        copied.clear()
        ours = near(*[chunks_of(each, 200, apart) for each in (one, two)])
        np.testing.assert_array_equal(ours.compute(scheduler="sync"), near(one, two))
        assert 0 < sum(copied) < most * (one.nbytes + two.nbytes)


def test_chunks_that_lie_in_one_array_are_read_there():
    @pygpu.compile(target="cpu")
    def near(im: Image, p: Position):
        return im.sampled(boundary="wrap")(p + (1, -1)) - im(p + (0, 2))

    whole = RNG.random((90, 120, 2), dtype=np.float32)
    parts = [whole[:45], whole[45:]]
    for lie in (
        da.from_array(whole, chunks=(40, 50, 2)),
        da.from_array(whole[::-1, ::2], chunks=(40, 30, 2)),
        da.concatenate([da.from_array(part, chunks=(20, 120, 2)) for part in parts[::-1]]),
        da.from_array(whole, chunks=(40, 50, 2)).rechunk((33, 120, 2)),
        da.from_array(np.stack([whole, whole])[1], chunks=(90, 50, 2))[:, 10:],
    ):
        found = near(lie).compute(scheduler="sync")
        np.testing.assert_array_equal(found, near(lie.compute()))


def test_parts_that_are_cut_off_hold_no_chunk() -> None:
    whole = RNG.random((40, 60), dtype=np.float32)
    cut = ((0, 2), (0, 30))
    for chunk, is_kept, is_view in (
        (whole[:20, :30], True, True),
        (whole[:20, :30], False, False),
        (whole[:20, :30].copy(), True, False),
    ):
        part = cut_off([cut], chunk, is_kept)[cut]
        assert (part.base is not None) == is_view
        np.testing.assert_array_equal(part, whole[:2, :30])


def test_chunks_may_lie_in_any_way():
    @pygpu.compile(target="cpu")
    def near(im: Image, p: Position):
        return im(p + (1, -1)) - im(p + (0, 1)) + 2 * im(p + (-2, 0))

    whole = RNG.random((90, 120), dtype=np.float32)
    ways = [
        whole[::-1, ::-1],
        whole.T,
        np.asfortranarray(whole),
        np.repeat(whole, 2, 1)[:, ::2],
        np.broadcast_to(whole[:1], whole.shape),
        whole.astype(np.float64),
        np.frombuffer(b"x" + whole.tobytes(), np.uint8)[1:].view(np.float32).reshape(whole.shape),
    ]
    for array in ways:
        chunked = da.from_array(array, chunks=50, name=False)
        np.testing.assert_array_equal(near(chunked).compute(scheduler="sync"), near(array))


@pytest.mark.parametrize("threads", ["1", "3"])
@pytest.mark.parametrize("width", [1, 3, 33, 70, 300])
def test_narrow_chunks_and_those_of_one_row(monkeypatch, threads, width):
    monkeypatch.setenv("PYGPU_THREADS", threads)

    @pygpu.compile(target="cpu")
    def near(im: Image, p: Position):
        return im(p + (1, -1)) - im(p + (0, 1)) + 2 * im(p + (-2, 0)) + p.y

    whole = RNG.random((40, 2 * width + 5), dtype=np.float32)
    for high in (1, 3, 17):
        chunked = da.from_array(whole, chunks=(high, width))
        np.testing.assert_array_equal(near(chunked).compute(scheduler="sync"), near(whole))
