"""Calls with xarray's DataArrays: labels come back with the results."""

from typing import Any, Final

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_array_equal

import pygpu
from pygpu import Image, Position

RANDOM: Final = np.random.default_rng(5)


def heights(chunks: Any = None) -> xr.DataArray:
    values = RANDOM.random((12, 15)).astype(np.float32)
    return xr.DataArray(
        values if chunks is None else da.from_array(values, chunks=chunks),
        {"lat": np.linspace(50, 51, 12), "lon": np.linspace(8, 9, 15), "time": 3},
        ["lat", "lon"],
        "height",
        {"units": "m"},
    )


@pygpu.compile(target="cpu")
def slope(im: Image, p: Position):
    return im(p + (1, 0)) - im(p + (-1, 0)), pygpu.Vec3(im(p), p.x, p.y)


@pytest.mark.parametrize("chunks", [None, 5])
def test_labels_come_back(chunks: Any) -> None:
    field = heights(chunks)
    east, colours = slope(field)
    expected = slope(np.asarray(field))
    assert_array_equal(np.asarray(east), expected[0])
    assert_array_equal(np.asarray(colours), expected[1])
    assert east.dims == ("lat", "lon")
    assert colours.dims == ("lat", "lon", "channel")
    for result in (east, colours):
        assert result.name == "height"
        assert result.attrs == {"units": "m"}
        assert_array_equal(result.lat, field.lat)
        assert_array_equal(result.lon, field.lon)
        assert result.time == 3
    if chunks:
        assert isinstance(east.data, da.Array)


def test_channels_keep_their_labels_where_their_number_stays() -> None:
    bands = xr.DataArray(
        RANDOM.random((6, 7, 3)), {"band": ["r", "g", "b"]}, dims=["y", "x", "band"]
    )
    double = pygpu.compile(lambda im, p: 2 * im(p), im=Image, p=Position, target="cpu")
    assert double(bands).dims == ("y", "x", "band")
    assert list(double(bands).band.values) == ["r", "g", "b"]
    grey = pygpu.compile(lambda im, p: im(p).g, im=Image, p=Position, target="cpu")
    assert grey(bands).dims == ("y", "x")
    assert "band" not in grey(bands).coords


def test_other_sizes_keep_what_still_fits() -> None:
    half = pygpu.compile(lambda im, p: im(p * 2), im=Image, p=Position, target="cpu")
    result = half(heights(), shape=(6, 15))
    assert result.dims == ("dim_0", "dim_1")
    assert set(result.coords) == {"time"}


def test_vectorized_functions_keep_labels_of_any_number_of_axes() -> None:
    series = xr.DataArray(RANDOM.random(9), {"t": np.arange(9)}, dims=["t"], attrs={"a": 1})
    result = pygpu.vectorize(lambda x, y: x * y, target="cpu")(series, 2.0)
    assert result.dims == ("t",)
    assert result.attrs == {"a": 1}
    assert_array_equal(result.t, series.t)
