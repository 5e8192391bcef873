"""Dask arrays where images are in memory: refused before anything is computed, with what to do."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position

da = pytest.importorskip("dask.array", reason="no dask")

GREY = np.random.default_rng(0).random((30, 20)).astype(np.float32)


def plus(a: Image, p: Position):
    return a(p) + 1


@dataclass
class Lamp:
    picture: Image


@pygpu.compile
def lit(lamp: Lamp, im: Image, p: Position):
    return lamp.picture(p) * im(p)


EAGER: dict[str, Callable[[Any], Any]] = {
    "Image": pygpu.Image,
    "Signal": lambda lazy: pygpu.Signal(lazy[0]),
    "Volume": pygpu.Volume,
    "scan": lambda lazy: pygpu.scan(np.add, lazy),
    "sort": pygpu.sort,
    "argsort": pygpu.argsort,
    "histogram": pygpu.histogram,
    "compress": lambda lazy: pygpu.compress(lazy[0] > 0.5, lazy[0]),
    "scatter": lambda lazy: pygpu.scatter(lazy, lambda texel, p: p, (5, 5)),
    "lower": lambda lazy: pygpu.compile(plus).lower(lazy),
    "a value": lambda lazy: pygpu.compile(plus, a=lazy)(),
    "view": pygpu.view,
    "a field": lambda lazy: lit(Lamp(lazy), GREY),
}


@pytest.mark.parametrize("way", EAGER)
@pytest.mark.parametrize("labelled", [False, True])
def test_nothing_is_computed_in_silence(way: str, labelled: bool) -> None:
    computed: list[int] = []

    def noted(block: Any) -> Any:
        computed.append(1)
        return block

    meta = np.empty((0, 0), np.float32)
    lazy: Any = da.from_array(GREY, chunks=10).map_blocks(noted, dtype=np.float32, meta=meta)
    if labelled:
        xarray = pytest.importorskip("xarray", reason="no xarray")
        lazy = xarray.DataArray(lazy)
    with pytest.raises(TypeError, match=r"Dask array.*compute\(\)"):
        EAGER[way](lazy)
    assert computed == []


def test_what_is_computed_is_taken() -> None:
    lazy = da.from_array(GREY, chunks=10)
    assert np.array_equal(pygpu.Image(lazy.compute()).numpy(), GREY)
    xarray = pytest.importorskip("xarray", reason="no xarray")
    assert np.array_equal(pygpu.Image(xarray.DataArray(GREY)).numpy(), GREY)
    assert np.array_equal(pygpu.compile(plus)(da.from_array(GREY, chunks=7)).compute(), GREY + 1)


def test_one_array_may_be_two_images_and_be_read_in_two_ways() -> None:
    @pygpu.compile
    def both(a: Image, b: Image, p: Position):
        mirrored = a.sampled(boundary="mirror")
        return a(p + (1, 0)) - 2 * b(p - (0, 3)) + mirrored(p - (4, 1))

    lazy = da.from_array(GREY, chunks=(7, 6))
    assert np.array_equal(both(lazy, lazy).compute(), both(GREY, GREY))
