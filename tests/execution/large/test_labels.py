"""Calls with xarray's DataArrays: labels come back with the results."""

import functools
from typing import Any, Final

import dask.array as da
import numpy as np
import pytest
import xarray as xr
from numpy.testing import assert_array_equal

import pygpu
from pygpu import Image, Position, Signal, filters

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


@pytest.mark.parametrize("chunks", [None, 5])
def test_what_has_no_name_gets_none(chunks: Any) -> None:
    field = heights(chunks).rename(None)
    assert [result.name for result in slope(field)] == [None, None]


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
    assert result.dims == heights().dims
    assert set(result.coords) == {"time"}
    small = filters.resize(heights(), (6, 5))
    assert small.dims == heights().dims
    assert set(small.coords) == {"time"}
    curve = pygpu.compile(lambda im, p: im(p), im=Signal, p=Position, target="cpu")
    line = xr.DataArray(RANDOM.random(9), {"t": np.arange(9)}, dims=["t"])
    assert curve(line, shape=(4,)).dims == ("dim_0",)


def test_vectorized_functions_keep_labels_of_any_number_of_axes() -> None:
    series = xr.DataArray(RANDOM.random(9), {"t": np.arange(9)}, dims=["t"], attrs={"a": 1})
    result = pygpu.vectorize(lambda x, y: x * y, target="cpu")(series, 2.0)
    assert result.dims == ("t",)
    assert result.attrs == {"a": 1}
    assert_array_equal(result.t, series.t)


@pytest.mark.parametrize("chunks", [None, 5])
def test_rounds_pipelines_and_filters_keep_labels(chunks: Any) -> None:
    @pygpu.compile
    def mixed(a: Image, b: Image, p: Position):
        return (a(p) + b(p)) / 2, b(p + (1, 0))

    @pygpu.pipeline
    def doubled(im: Any) -> Any:
        return {"twice": 2 * im, "greatest": im.max()}

    field = heights(chunks)
    plain = np.asarray(field)
    rounds = mixed.iterate((field, 2 * field), 3)
    for found, expected in zip(rounds, mixed.iterate((plain, 2 * plain), 3), strict=True):
        assert found.attrs == field.attrs or found.dims == field.dims
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    made = doubled(field)
    assert made["twice"].attrs == {"units": "m"}
    assert_array_equal(made["twice"], 2 * plain)
    assert float(made["greatest"]) == plain.max()
    for filter in (pygpu.filters.gaussian, pygpu.filters.sobel, pygpu.filters.median):
        found = filter(heights())
        assert found.attrs == {"units": "m"}
        assert_array_equal(found.lat, field.lat)


def test_operators_of_pipelines_see_bytes_of_labelled_arrays_as_fractions() -> None:
    texels = RANDOM.integers(0, 256, (8, 9, 3), np.uint8)
    picture = xr.DataArray(texels, dims=["y", "x", "band"], attrs={"from": "here"})
    brighter = pygpu.pipeline(lambda im: im * 2 - im.mean())
    found = brighter(picture)
    assert found.dims == picture.dims
    assert found.attrs == picture.attrs
    assert_array_equal(found, brighter(texels))


def test_datasets_are_refused_by_name() -> None:
    heights = np.ones((30, 40), np.float32)
    dataset = xr.Dataset({"height": (("y", "x"), heights), "depth": (("y", "x"), heights)})
    smooth = functools.partial(pygpu.filters.gaussian, sigma=1)
    for each in (dataset, dataset.chunk({"y": 10})):
        for function in (smooth, pygpu.filters.erosion, pygpu.Image):
            with pytest.raises(TypeError, match=r"DataArray, got a Dataset.*dataset\['height'\]"):
                function(each)
        np.testing.assert_allclose(each.map(smooth).depth, heights, rtol=1e-6)


@pygpu.compile(target="cpu")
def both(im: Image, other: Image, p: Position):
    return im(p) + other(p)


@pytest.mark.parametrize("chunks", [None, 5])
def test_axes_in_another_order_are_refused(chunks: Any) -> None:
    field = heights(chunks)
    turned = field.transpose("lon", "lat")
    with pytest.raises(ValueError, match=r"another order: .*\.transpose\(\.\.\., 'lat', 'lon'\)"):
        both(field, turned)
    assert_array_equal(both(field, turned.transpose(..., "lat", "lon")), 2 * np.asarray(field))
    assert both(field, field.rename(lat="y", lon="x")).dims == ("lat", "lon")  # by position
