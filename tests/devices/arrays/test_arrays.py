"""Programs over whole arrays, as GPUs run them: also those that software leaves to passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image
from pygpu.devices.arrays import scan
from pygpu.execution.arrays import whole

GENERATOR = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def in_software(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    require("compute")
    monkeypatch.setattr(scan, "IN_SOFTWARE", True)
    whole.clear()
    yield
    whole.clear()


def scanned(*arguments: Any, **given: Any) -> Any:
    return pygpu.scan(*arguments, target="compute", **given)


def test_lines_of_every_length_are_scanned() -> None:
    for count in [*range(1, 101), 4095, 4096, 4097, 40_000]:
        array = GENERATOR.integers(-9, 9, count).astype(np.int32)
        np.testing.assert_array_equal(scanned(np.add, array), np.cumsum(array))
        backward = scanned(np.add, array, reverse=True)
        np.testing.assert_array_equal(backward, np.cumsum(array[::-1])[::-1])


@pytest.mark.parametrize("count", [32 * 4096, 32 * 4096 + 1, 33 * 4096, 70 * 4096 + 17])
def test_nodes_above_tiles_are_folded(count: int) -> None:
    array = GENERATOR.integers(-9, 9, count).astype(np.int32)
    np.testing.assert_array_equal(scanned(np.add, array), np.cumsum(array))


def test_rows_of_folded_arrays_are_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "64")
    for count in (63, 64, 65, 100, 6400, 9001):
        array = GENERATOR.random(count).astype(np.float32)
        np.testing.assert_allclose(scanned(np.add, array), np.cumsum(array, dtype=float), 1e-6)
        backward = np.cumsum(array[::-1], dtype=float)[::-1]
        np.testing.assert_allclose(scanned(np.add, array, reverse=True), backward, 1e-6)


@pytest.mark.parametrize(
    ("shape", "channels"),
    [((1, 5), 1), ((70, 9), 2), ((9, 70), 3), ((300, 33), 4), ((40, 5000), 1)],
)
def test_lines_of_images_are_scanned(shape: tuple[int, int], channels: int) -> None:
    array = GENERATOR.random((*shape, channels)).astype(np.float32).squeeze()
    array = array.reshape(*shape, channels) if channels > 1 else array.reshape(shape)
    for axis in (0, 1):
        expected = np.cumsum(array, axis, np.float64)
        np.testing.assert_allclose(scanned(np.add, array, axis), expected, 1e-6)
        image = scanned(np.add, Image(array), axis)
        np.testing.assert_allclose(np.asarray(image), expected, 1e-6)


def test_functions_need_not_commute() -> None:
    array = np.arange(10_000, dtype=np.int32)
    np.testing.assert_array_equal(scanned(lambda a, b: b, array), array)
    np.testing.assert_array_equal(scanned(lambda a, b: a, array), np.zeros_like(array))
    square = array.reshape(100, 100)
    for axis in (0, 1):
        np.testing.assert_array_equal(scanned(lambda a, b: b, square, axis), square)


def test_bytes_and_nans_are_scanned() -> None:
    array = np.full((50, 60), 255, np.uint8)
    np.testing.assert_allclose(scanned(np.add, array, 0)[:, 0], np.arange(1, 51))
    numbers = np.array([1, 3, np.nan, 2, 5], np.float32)
    np.testing.assert_array_equal(scanned(np.maximum, numbers), [1, 3, *[np.nan] * 3])


def test_equal_scans_have_equal_bits() -> None:
    array = GENERATOR.normal(size=150_000).astype(np.float32)
    first = scanned(np.add, array)
    for _ in range(3):
        np.testing.assert_array_equal(scanned(np.add, array), first)


# ---------------------------------------------------------------- groups


def folded(*arguments: Any, **given: Any) -> Any:
    return pygpu.reduce(*arguments, target="compute", **given)


@pytest.mark.parametrize("groups", [1, 120, 250, 20_000])
@pytest.mark.parametrize(
    ("how", "dtype"),
    [
        (np.add, "float32"),
        (np.add, "int32"),
        (np.maximum, "uint8"),
        (np.minimum, "int32"),
        (np.minimum, "float32"),
    ],
)
def test_groups_of_every_size_are_folded(how: Any, dtype: str, groups: int) -> None:
    array = GENERATOR.integers(0, 200, (150, 133)).astype(dtype)
    number = GENERATOR.integers(-3, groups + 3, array.shape).astype(np.int32)
    found = folded(how, array, number, map=lambda v, n: v, by=lambda v, n: n, groups=groups)
    seen = array / 255 if dtype == "uint8" else array
    start = {np.add: 0, np.maximum: -np.inf, np.minimum: np.inf}[how]
    if dtype == "int32" and how is not np.add:
        start = np.iinfo(np.int32).min if how is np.maximum else np.iinfo(np.int32).max
    expected = np.full(groups, start, np.float64)
    there = (number >= 0) & (number < groups)
    how.at(expected, number[there], seen[there].astype(np.float64))
    np.testing.assert_allclose(found, expected, 2e-6)


def test_sums_of_equal_floats_keep_what_rounding_takes() -> None:
    array = np.full((700, 1000), 0.1, np.float32)
    found = folded(np.add, array, by=lambda v, p: p.x % 3, groups=3)
    counts = np.bincount(np.arange(1000) % 3) * 700
    np.testing.assert_allclose(found, counts * np.float64(np.float32(0.1)), 1e-7)


@pytest.mark.parametrize("groups", [600, 3840, 3841, 7681, 20_000, 65_536])
def test_sums_of_many_groups_are_exact_and_equal_in_every_run(groups: int) -> None:
    def summed(values: Any, index: Any) -> Any:
        how = {"map": lambda v, k: v, "by": lambda v, k: k, "groups": groups}
        return pygpu.reduce(np.add, values, index, **how, target="compute")

    for count, scale in ((10, 0), (30_000, 0), (30_000, 30), (5000, -40)):
        index = GENERATOR.integers(-2, groups + 3, count).astype(np.int32)
        powers = GENERATOR.integers(-scale, scale + 1, count) if scale > 0 else scale
        values = (GENERATOR.standard_normal(count) * 10.0**powers).astype(np.float32)
        inside = (index >= 0) & (index < groups)
        kept, where = values[inside].astype(float), index[inside]
        expected = np.bincount(where, kept, groups).astype(np.float32)
        greatest = np.zeros(groups)
        np.maximum.at(greatest, where, abs(kept))
        found = summed(values, index)
        assert np.all(abs(found - expected) <= 2e-7 * abs(expected) + 1e-7 * greatest + 1e-44)
        np.testing.assert_array_equal(summed(values, index), found)
    special = np.array([1, np.inf, -np.inf, np.inf, -np.inf, np.nan, 0, 5, np.inf], np.float32)
    index = np.array([0, 1, 2, 3, 3, 4, 5, 1, 599], np.int32)
    found = summed(special, index)
    np.testing.assert_array_equal(found[:6], [1, np.inf, -np.inf, np.nan, np.nan, 0])
    assert found[599] == np.inf


def test_vectors_are_summed_in_many_groups() -> None:
    array = GENERATOR.random((50, 60, 3), np.float32)
    how = {"map": lambda v, p: v, "by": lambda v, p: p.x * 50 + p.y, "groups": 3000}
    found = pygpu.reduce(np.add, array, **how, target="compute")
    np.testing.assert_array_equal(found, array.swapaxes(0, 1).reshape(3000, 3))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint8"])
@pytest.mark.parametrize("shape", [(300, 300), (4000, 70), (70, 1000), (20_000, 16)])
def test_sums_along_axes_stay_exact(
    shape: tuple[int, int], dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYGPU_TARGET", "compute")
    scale = 1e7 if dtype == "int32" else 200
    array = (GENERATOR.random(shape) * scale).astype(dtype)
    same = pygpu.compile(lambda im, p: im(p), im=Image, p=pygpu.Position)
    for axis in (0, 1, None):
        for _ in range(2):
            image = same(Image(array, normalize=False), dtype=dtype)
            image.storage.array = None  # texels on the device alone
            close = 3e-6 if array.dtype.kind == "f" else 0
            np.testing.assert_allclose(image.sum(axis=axis), array.sum(axis, dtype=float), close)
            np.testing.assert_array_equal(image.max(axis=axis), array.max(axis))


def test_infinities_and_nans_stay_in_their_groups() -> None:
    array = np.array([1, np.inf, 2, np.inf, -np.inf, np.nan, 3, -0.0], np.float32)
    number = [0, 1, 1, 2, 2, 3, 4, 4]
    table = np.array(number, np.int32)
    fold = {"map": lambda v, n: v, "by": lambda v, n: n, "groups": 6}
    sums = folded(np.add, array, table, **fold)
    np.testing.assert_array_equal(sums, [1, np.inf, np.nan, np.nan, 3, 0])
    most = folded(np.maximum, array, table, **fold)
    np.testing.assert_array_equal(most, [1, np.inf, np.inf, np.nan, 3, -np.inf])
    least = folded(np.minimum, array, table, **fold)
    np.testing.assert_array_equal(least, [1, 2, -np.inf, np.nan, 0, np.inf])


def test_functions_of_users_fold_groups_and_tell_empty_ones() -> None:
    array = GENERATOR.integers(1, 100, 5000).astype(np.int32)

    def both(a: Any, b: Any) -> Any:
        return a[0] + b[0], max(a[1], b[1])

    sums, most = folded(
        both, array, map=lambda v: (v, v), by=lambda v: v % 40, groups=45, initial=(-1, -2)
    )
    for group in range(45):
        own = array[array % 40 == group] if group < 40 else array[:0]
        assert (sums[group], most[group]) == ((own.sum(), own.max()) if len(own) else (-1, -2))


def test_scattered_images_stay_on_the_device() -> None:
    image = pygpu.compile(lambda im, p: im(p), im=Image, p=pygpu.Position, target="compute")(
        Image(GENERATOR.random((64, 64)).astype(np.float32))
    )
    given: Any = {"combine": np.maximum, "initial": -np.inf, "target": "compute"}
    found = pygpu.scatter(image, lambda v, p: (p.x // 2, p.y // 2), (32, 32), **given)
    assert found.storage.array is None
    expected = np.asarray(image).reshape(32, 2, 32, 2).max((1, 3))
    np.testing.assert_array_equal(np.asarray(found), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool", "uint16", "float32", "int32"])
@pytest.mark.parametrize("channels", [1, 3])
def test_histograms_are_those_of_numpy(dtype: str, channels: int) -> None:
    array = GENERATOR.integers(0, 2 if dtype == "bool" else 100, (61, 47, channels)).astype(dtype)
    seen = array / np.iinfo(dtype).max if dtype.startswith("uint") else array.astype(float)
    for bins in (10, [0.0, 0.1, 0.5, 40.0]):
        top = 1.0 if dtype.startswith("uint") else 100.0
        counts, edges = pygpu.histogram(array.squeeze(), bins, (0, top), target="compute")
        for channel, found in enumerate(np.atleast_2d(counts)):
            expected, right = np.histogram(seen[..., channel].astype(np.float32), bins, (0, top))
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_allclose(edges, right)


# ---------------------------------------------------------------- sorts


@pytest.mark.parametrize("count", [1023, 1024, 1025, 9001])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint16"])
def test_tiles_are_sorted_together(dtype: str, count: int) -> None:
    array = (1e4 * GENERATOR.normal(size=count)).astype(dtype)
    for sign, descending in ((1, False), (-1, True)):
        order = np.argsort(sign * array.astype(float), kind="stable")
        given: Any = {"descending": descending, "target": "compute"}
        np.testing.assert_array_equal(pygpu.sort(array, **given), array[order])
        np.testing.assert_array_equal(pygpu.argsort(array, **given), order)


@pytest.mark.parametrize("shape", [(300, 20), (20, 300), (2, 3000)])
def test_lines_are_sorted_apart(shape: tuple[int, int]) -> None:
    array = GENERATOR.integers(-3, 4, shape).astype(np.float32)
    array[GENERATOR.random(shape) < 0.1] = np.nan
    for axis in (0, 1):
        found = pygpu.sort(array, axis=axis, target="compute")
        np.testing.assert_array_equal(found, np.sort(array, axis))
        places = pygpu.argsort(array, axis, target="compute")
        np.testing.assert_array_equal(places, np.argsort(array, axis, kind="stable"))


def test_nans_keep_their_bits() -> None:
    words = np.array([0x7FC00001, 0xFFC00002, 0x3F800000, 0xFF800000, 0x7F800000], np.uint32)
    array = words.view(np.float32)
    found = pygpu.sort(array, target="compute").view(np.uint32)
    assert found.tolist() == [0xFF800000, 0x3F800000, 0x7F800000, 0x7FC00001, 0xFFC00002]
    back = pygpu.sort(array, descending=True, target="compute").view(np.uint32)
    assert back[:3].tolist() == [0x7F800000, 0x3F800000, 0xFF800000]
