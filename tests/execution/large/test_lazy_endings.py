"""Rounds of Dask arrays that end when it is enough: as those of the whole, and nothing is computed
before somebody asks."""

from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Int, Position, Signal

da = pytest.importorskip("dask.array", reason="no dask")

RNG = np.random.default_rng(0)
GREY = RNG.random((40, 50)).astype(np.float32)


@pygpu.compile
def heat(im: Image, p: Position, rate: Float = 0.2):
    around = im(p + (1, 0)) + im(p - (1, 0)) + im(p + (0, 1)) + im(p - (0, 1))
    return im(p) + rate * (around - 4 * im(p))


@pygpu.compile
def counted(a: Image, b: Image, p: Position, more: Int = 1):
    return a(p) + more, b(p) + a(p)


@pytest.mark.parametrize("dtype", [None, "uint8", "float32"])
@pytest.mark.parametrize(("n", "every"), [(40, 4), (7, 16), (40, 40), (21, 5), (3, 1)])
@pytest.mark.parametrize("values", [GREY, (GREY * 255).astype(np.uint8)], ids=["floats", "bytes"])
def test_rounds_end_as_those_of_the_whole(values: Any, n: int, every: int, dtype: Any) -> None:
    asked = []

    def until(im: Any) -> Any:
        asked.append(im)
        return im.max() - im.min() < 0.5

    found = heat.iterate(
        da.from_array(values, chunks=(16, 23)), n, until=until, every=every, dtype=dtype
    )
    want = heat.iterate(
        values, n, until=lambda im: im.max() - im.min() < 0.5, every=every, dtype=dtype
    )
    assert all(isinstance(each, da.Array) for each in asked)
    assert found.dtype == want.dtype
    np.testing.assert_allclose(found.compute(), want, rtol=1e-6, atol=1 if dtype == "uint8" else 0)


def test_rounds_after_the_end_are_not_computed() -> None:
    seen: list[int] = []

    def until(a: Any, b: Any) -> Any:
        return a.map_blocks(lambda chunk: seen.append(int(chunk.max())) or chunk).max() >= 6

    zeros = da.zeros((20, 20), chunks=10, dtype=np.float32)
    a, b = counted.iterate((zeros, zeros), 100, until=until, every=3)
    assert a.dtype == b.dtype == np.float32
    seen.clear()
    import dask

    a, b = dask.compute(a, b, scheduler="sync")
    np.testing.assert_array_equal(a, np.full((20, 20), 6))
    np.testing.assert_array_equal(b, np.full((20, 20), 15))
    assert max(seen) == 6


def test_arguments_of_each_round_and_folds_as_questions() -> None:
    values = RNG.random((30, 30)).astype(np.float32)
    told = {
        "more": pygpu.each(range(20)),
        "until": lambda a, b: pygpu.reduce(np.maximum, a) > 10,
        "every": 2,
    }
    lazy = da.from_array(values, chunks=8)
    found = counted.iterate((lazy, lazy), 20, **told)
    want = counted.iterate((values, values), 20, **told)
    for have, each in zip(found, want, strict=True):
        np.testing.assert_allclose(have.compute(), each, rtol=1e-6)


def test_signals_end_too() -> None:
    halved = pygpu.compile(lambda s, p: s(p) / 2, s=Signal, p=Position)
    line = RNG.random(1000).astype(np.float32)
    found = halved.iterate(
        da.from_array(line, chunks=300), 50, until=lambda s: s.max() < 0.1, every=1
    )
    want = halved.iterate(line, 50, until=lambda s: np.max(s) < 0.1, every=1)
    np.testing.assert_array_equal(found.compute(), want)


def test_answers_that_are_known_end_at_once_and_those_that_are_none_are_refused() -> None:
    lazy = da.from_array(GREY, chunks=16)
    found = heat.iterate(lazy, 1000, until=lambda im: True, every=2)
    np.testing.assert_allclose(found.compute(), heat.iterate(GREY, 2), rtol=1e-6)
    with pytest.raises(TypeError, match="until gives a number or a truth value"):
        heat.iterate(lazy, 10, until=lambda im: im < 1, every=2).compute(scheduler="sync")
    with pytest.raises(TypeError, match="until takes a function"):
        heat.iterate(lazy, 10, until=3)
