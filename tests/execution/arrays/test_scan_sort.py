"""Scans, sorts and what masks pick: every size and type against NumPy, on every target."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import PIL.Image
import pytest
from numpy.typing import NDArray

import pygpu
from pygpu import Image
from pygpu.devices.cpu import sorts
from pygpu.devices.cpu.chunks import cores

Array = NDArray[Any]
SIZES = range(101)
DTYPES = ["float32", "int32", "uint8", "int16", "uint16", "float16", "int8", "bool", "int64"]


@pytest.fixture(params=["whole", "folded"])
def layout(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Arrays (N,) as one row, and in rows of 16, as where a device holds no longer ones."""
    if request.param == "folded":
        monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "16")
    return str(request.param)


def values(count: int, dtype: str) -> Array:
    """Few different ones, so that many are equal; NaNs, infinities and zeros of both signs."""
    generator = np.random.default_rng(count)
    if np.dtype(dtype).kind == "f":
        found = (generator.integers(-3, 4, count) / 4).astype(dtype)
        for number in (np.nan, np.inf, -0.0):
            found[generator.random(count) < 0.1] = number
        return found
    low = 0 if np.dtype(dtype).kind in "ub" else -4
    return generator.integers(low, 2 if dtype == "bool" else 5, count).astype(dtype)


def stable(keys: Array, descending: bool) -> Array:
    """Where the elements of the sorted keys were: NumPy puts NaNs last."""
    ranks = keys.astype(np.float64)
    return np.argsort(-ranks if descending else ranks, axis=-1, kind="stable")


# ---------------------------------------------------------------- scans


def test_scans_of_every_size(target: str, layout: str) -> None:
    for count in SIZES:
        if layout == "folded" and count % 16 > 1:
            continue
        array = values(count, "int32")
        forward, backward = np.cumsum(array), np.cumsum(array[::-1])[::-1]
        for how, expected in (
            ({}, forward),
            ({"reverse": True}, backward),
            ({"exclusive": True}, forward - array),
            ({"exclusive": True, "reverse": True, "initial": 5}, backward - array + 5),
            ({"initial": 2}, forward + 2),
        ):
            actual = pygpu.scan(np.add, array, target=target, **how)
            np.testing.assert_array_equal(actual, expected, str((count, how)))


def test_function_need_not_commute(target: str, layout: str) -> None:
    array = np.arange(150, dtype=np.int32)
    np.testing.assert_array_equal(pygpu.scan(lambda a, b: b, array, target=target), array)
    first = pygpu.scan(lambda a, b: a, array, target=target)
    np.testing.assert_array_equal(first, np.zeros_like(array))
    last = pygpu.scan(lambda a, b: a, array, reverse=True, target=target)
    np.testing.assert_array_equal(last, np.full_like(array, 149))


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
@pytest.mark.parametrize("shape", [(1, 1), (13, 21), (70, 9, 2), (9, 70, 4)])
def test_axes_of_images_are_scanned(target: str, shape: tuple[int, ...], axis: int) -> None:
    array = np.random.default_rng(0).random(shape).astype(np.float32)
    expected = np.cumsum(array, axis % 2, np.float64)
    actual = pygpu.scan(np.add, array, axis, target=target)
    assert actual.dtype == np.float32
    np.testing.assert_allclose(actual, expected, 1e-6)
    image = pygpu.scan(np.add, Image(array, boundary="wrap"), axis, target=target)
    assert image.boundary == "wrap"
    np.testing.assert_array_equal(np.asarray(image), actual)


VOLUMES = [(1, 1, 1), (3, 4, 5), (9, 13, 2, 2), (2, 16, 7)]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3, None])
@pytest.mark.parametrize("shape", VOLUMES)
def test_axes_of_volumes_are_scanned(
    target: str, layout: str, shape: tuple[int, ...], axis: int | None
) -> None:
    array = np.random.default_rng(0).random(shape).astype(np.float32)
    flat = array.reshape(-1, *shape[3:])
    for reverse in (False, True):
        lines = flat if axis is None else array
        along = axis % 3 if axis is not None else 0
        step = np.flip(lines, along) if reverse else lines
        expected = np.cumsum(step, along, np.float64)
        volume = pygpu.Volume(array, boundary="wrap")
        actual = pygpu.scan(np.add, volume, axis, reverse=reverse, target=target)
        assert isinstance(actual, pygpu.Signal if axis is None else pygpu.Volume)
        assert actual.boundary == "wrap"
        back = np.flip(np.asarray(actual), along) if reverse else np.asarray(actual)
        np.testing.assert_allclose(back, expected, 1e-6)


@pytest.mark.parametrize("axis", [None, 0])
def test_all_elements_of_images_are_one_line(target: str, layout: str, axis: int | None) -> None:
    array = np.random.default_rng(0).integers(0, 99, (5, 9)).astype(np.uint8)
    if axis is None:
        ordered = pygpu.sort(array, axis=None, target=target)
        np.testing.assert_array_equal(ordered, np.sort(array, None))
        places = pygpu.argsort(Image(array), None, target=target)
        assert isinstance(places, pygpu.Signal)
        np.testing.assert_array_equal(np.asarray(places), np.argsort(array, None, kind="stable"))
        picture = pygpu.scan(np.add, PIL.Image.fromarray(array), None, target=target)
        np.testing.assert_allclose(picture, np.cumsum(array / 255), 1e-6)
    names = np.arange(45, dtype=np.int32).reshape(5, 9)
    _, moved = pygpu.sort(array, names, axis=axis, target=target)
    order = np.argsort(array, axis, kind="stable")
    taken = names.reshape(-1)[order] if axis is None else np.take_along_axis(names, order, 0)
    np.testing.assert_array_equal(moved, taken)


def test_scans_see_texels_as_functions_do(target: str) -> None:
    array = np.array([[255, 51, 0]], np.uint8)
    np.testing.assert_allclose(pygpu.scan(np.add, array, target=target), [[1.0, 1.2, 1.2]], 1e-6)
    counted = pygpu.scan(np.add, np.array([True, False, True]), target=target)
    assert counted.dtype == np.int32
    assert counted.tolist() == [1, 1, 2]


def test_long_sums_err_little(target: str) -> None:
    array = np.random.default_rng(0).random(300_001).astype(np.float32)
    actual = pygpu.scan(np.add, array, target=target)
    np.testing.assert_allclose(actual, np.cumsum(array, dtype=np.float64), 2e-6)


def test_programs_of_all_targets_give_equal_sums() -> None:
    array = np.random.default_rng(0).normal(size=5000).astype(np.float32)
    first, second = [
        pygpu.scan(lambda a, b: a + b, array, target=target) for target in ("cpu", "interpreter")
    ]
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("count", [1, 7, 8, 100, 5000, (1 << 14) - 1, 1 << 14])
def test_short_lines_are_added_up_as_exactly_as_long_ones(count: int) -> None:
    array = np.random.default_rng(count).random(count).astype(np.float32)
    expected = np.cumsum(array, dtype=np.float64)
    np.testing.assert_allclose(pygpu.scan(np.add, array, target="cpu"), expected, 1e-6)


@pytest.mark.parametrize("shape", [(9000, 5), (1100, 16), (301, 100), (3, 9001), (2, 50_000)])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum, np.multiply])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_rows_and_columns_are_scanned_by_native_code(
    dtype: str, ufunc: Any, shape: tuple[int, int]
) -> None:
    generator = np.random.default_rng(shape[0])
    array = generator.integers(-(2**30), 2**30, shape).astype(np.int32)
    if dtype == "float32":
        array = (1 + 1e-3 * generator.normal(size=shape)).astype(np.float32)
    wide = np.float64 if dtype == "float32" else np.int32
    for axis in (0, 1):
        with np.errstate(over="ignore"):
            expected = ufunc.accumulate(array, axis, dtype=wide)
        found = pygpu.scan(ufunc, array, axis, target="cpu")
        assert found.dtype == array.dtype
        close = 1e-4 if ufunc is np.multiply else 1e-6
        np.testing.assert_allclose(found, expected, rtol=close if wide is np.float64 else 0)
    if dtype == "float32":
        array[1, 3], array[0, 4] = np.nan, np.inf
        for axis in (0, 1):
            found = pygpu.scan(ufunc, array, axis, target="cpu")
            expected = ufunc.accumulate(array, axis, dtype=wide)
            np.testing.assert_allclose(found, expected, 1e-4)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_lines_of_large_volumes_are_scanned(axis: int) -> None:
    volume = np.random.default_rng(0).random((30, 41, 50), np.float32)
    expected = np.cumsum(volume, axis, np.float64)
    found = np.asarray(pygpu.scan(np.add, pygpu.Volume(volume), axis, target="cpu"))
    np.testing.assert_allclose(found, expected, 1e-6)


@pytest.mark.parametrize("count", [16_384, 20_001, 300_007])
@pytest.mark.parametrize("ufunc", [np.add, np.maximum, np.minimum, np.multiply])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_long_lines_are_scanned_by_native_code(dtype: str, ufunc: Any, count: int) -> None:
    generator = np.random.default_rng(count)
    array = generator.integers(-(2**30), 2**30, count).astype(np.int32)
    if dtype == "float32":
        array = (1 + 1e-3 * generator.normal(size=count)).astype(np.float32)
    wide = np.float64 if dtype == "float32" else np.int32
    with np.errstate(over="ignore"):
        expected = ufunc.accumulate(array, dtype=wide)
    close = {"rtol": 1e-4 if ufunc is np.multiply else 2e-6} if wide is np.float64 else {"rtol": 0}
    found = pygpu.scan(ufunc, array, target="cpu")
    assert found.dtype == array.dtype
    np.testing.assert_allclose(found, expected, **close)
    exclusive = pygpu.scan(ufunc, array, exclusive=True, target="cpu")
    np.testing.assert_allclose(exclusive[1:], expected[:-1], **close)
    if dtype == "float32" and ufunc in (np.maximum, np.minimum):
        array[count // 3] = np.nan
        found = pygpu.scan(ufunc, array, target="cpu")
        np.testing.assert_array_equal(found, ufunc.accumulate(array))


# ---------------------------------------------------------------- sorts


@pytest.mark.parametrize("dtype", DTYPES)
def test_sorts_of_every_size(target: str, dtype: str) -> None:
    for count in SIZES if dtype == "float32" else SIZES[1::11]:
        check_sorted(values(count, dtype), target, bool(count % 2))


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_folded_arrays_are_sorted(target: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "32")
    for count in (33, 64, 1000):
        check_sorted(values(count, dtype), target, bool(count % 2))


def check_sorted(keys: Array, target: str, descending: bool) -> None:
    order = stable(keys, descending)
    ordered = pygpu.sort(keys, target=target, descending=descending)
    assert ordered.dtype == keys.dtype
    np.testing.assert_array_equal(ordered, keys[order])
    places = pygpu.argsort(keys, target=target, descending=descending)
    np.testing.assert_array_equal(places, order)
    beside = np.arange(keys.size, dtype=np.uint8)
    again, moved = pygpu.sort(keys, beside, target=target, descending=descending)
    np.testing.assert_array_equal(again, keys[order])
    np.testing.assert_array_equal(np.signbit(again * 1.0), np.signbit(keys[order] * 1.0))
    np.testing.assert_array_equal(moved, beside[order])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int32", "uint32", "uint8"])
def test_extreme_numbers_of_short_lines_are_sorted(dtype: str, descending: bool) -> None:
    kind = np.dtype(dtype)
    extremes: Any = [-np.inf, -1.5, -0.0, 0.0, np.inf, np.nan, -np.nan]
    if kind.kind != "f":
        low, high = np.iinfo(kind).min, np.iinfo(kind).max
        extremes = [low, low + 1, high // 2, high // 2 + 1, high - 1, high]
    generator = np.random.default_rng(1)
    for shape in ((1, 1), (3, 2), (5, 7), (700, 300)):  # the last by several threads
        lines = generator.choice(np.array(extremes, kind), shape)
        order = np.stack([stable(line, descending) for line in lines])
        found, places = sorts.sorted_lines(lines, cores()._replace(threads=3), descending, True)
        np.testing.assert_array_equal(places, order)
        np.testing.assert_array_equal(found, np.take_along_axis(lines, order, 1))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_long_lines_are_sorted(dtype: str, descending: bool) -> None:
    for count in (1 << 15, 100_003):
        keys = values(count, dtype)
        if np.dtype(dtype).kind == "f":
            keys += np.random.default_rng(1).normal(size=count).astype(dtype) ** 3
        order = stable(keys, descending)
        options: dict[str, Any] = {"descending": descending, "target": "cpu"}
        np.testing.assert_array_equal(pygpu.argsort(keys, **options), order)
        np.testing.assert_array_equal(pygpu.sort(keys, **options), keys[order])


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    "spread",
    [
        lambda x: x,  # parts of equal width
        lambda x: np.exp(9 * x),  # parts of keys: most floats are near 0
        lambda x: np.round(x),  # parts of one number, and zeros of both signs
        lambda x: np.where(x > 3, x * 1e30, 0.5),  # all but a few in one part
        lambda x: np.where(x < -1, np.nan, np.where(x > 1, np.inf, x)),
        lambda x: (x * 2**28).astype(np.int32),
        lambda x: (np.abs(x) * 2**29).astype(np.uint32),
    ],
)
def test_lines_are_sorted_in_parts(
    spread: Any, descending: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By several threads, whatever the parts of a line are."""
    monkeypatch.setattr(sorts, "SHORT", 0)
    monkeypatch.setattr(sorts, "SHORT_ALONE", 0)
    monkeypatch.setattr(sorts, "_pace", lambda: 9.0)
    lines = spread(np.random.default_rng(0).normal(size=(3, 80_000)).clip(-4, 4))
    lines = lines.astype(np.float32) if lines.dtype == np.float64 else lines
    threads = cores()._replace(threads=3)
    order = np.stack([stable(line, descending) for line in lines])
    expected = np.take_along_axis(lines, order, 1)
    found, places = sorts.sorted_lines(lines, threads, descending, True)
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))
    np.testing.assert_array_equal(
        sorts.sorted_lines(lines, threads, descending, False)[0], expected
    )


@pytest.mark.parametrize("pace", [1.4, 9.0])
@pytest.mark.parametrize("kept", ["elements", "places"])
@pytest.mark.parametrize("bits", range(33))
def test_keys_of_a_part_may_differ_in_any_number_of_bits(
    bits: int, kept: str, pace: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("SHORT", 0), ("SHORT_ALONE", 0), ("LONG", 1000), ("_pace", lambda: pace)):
        monkeypatch.setattr(sorts, name, value)
    line = np.random.default_rng(bits).integers(0, 2**bits, (1, 40_000), np.uint32)
    threads = cores()._replace(threads=3)
    found, places = sorts.sorted_lines(line, threads, False, kept == "places")
    np.testing.assert_array_equal(found, np.sort(line))
    if places is not None:
        np.testing.assert_array_equal(places[0], np.argsort(line[0], kind="stable"))


def test_millions_are_sorted() -> None:
    keys = np.random.default_rng(0).integers(-(2**31), 2**31, 10**7, np.int32)
    np.testing.assert_array_equal(pygpu.sort(keys, target="cpu"), np.sort(keys))
    order = np.argsort(keys >> 12, kind="stable")
    np.testing.assert_array_equal(pygpu.argsort(keys >> 12, target="cpu"), order)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_long_lines_are_sorted_in_parts(dtype: str, share: float, monkeypatch: Any) -> None:
    monkeypatch.setattr(sorts, "_pace", lambda: 0.0)
    monkeypatch.setattr(sorts, "LONG", 10_000)
    monkeypatch.setenv("PYGPU_THREADS", "5")
    for count in (33_001, 70_000, 131_071):
        generator = np.random.default_rng(count)
        keys = generator.integers(-(2**31), 2**31, count, np.int32) >> int(
            generator.integers(0, 28)
        )
        if dtype == "float32":
            keys = keys.view(np.float32)
            keys[generator.random(count) < share] = np.nan
        rising = np.sort(keys)
        np.testing.assert_array_equal(pygpu.sort(keys, target="cpu"), rising)
        known = count - int(np.isnan(keys).sum())
        falling = np.concatenate([rising[:known][::-1], rising[known:]])
        np.testing.assert_array_equal(pygpu.sort(keys, descending=True, target="cpu"), falling)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("threads", ["1", "2", "7"])
@pytest.mark.parametrize("lines", [1, 2, 5])
def test_lines_are_sorted_by_digits_each_on_a_core(
    lines: int, threads: str, dtype: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sorts, "_pace", lambda: 9.0)  # times as long as NumPy takes by digits
    monkeypatch.setattr(sorts, "SHORT", 1 << 40)
    monkeypatch.setenv("PYGPU_THREADS", threads)
    generator = np.random.default_rng(lines)
    array = generator.integers(-(2**31), 2**31, (lines, 40_000), np.int32)
    array[0] >>= 24  # many are equal
    if dtype == "float32":
        array = generator.normal(size=array.shape).astype(np.float32)
        array[0] = np.rint(array[0])  # both zeros, too
        array[-1, ::7] = np.nan
    kind: Any = "stable"
    for sign, options in ((1, {}), (-1, {"descending": True})):
        order = np.argsort(sign * array.astype(np.float64), axis=1, kind=kind)
        given: dict[str, Any] = {"axis": 1, "target": "cpu", **options}
        np.testing.assert_array_equal(pygpu.argsort(Image(array), **given), order)
        expected = np.take_along_axis(array, order, 1)
        np.testing.assert_array_equal(pygpu.sort(Image(array), **given), expected)


@pytest.mark.parametrize("lines", [2, 5])
def test_long_lines_are_sorted_side_by_side(lines: int, monkeypatch: Any) -> None:
    monkeypatch.setattr(sorts, "_pace", lambda: 0.0)
    monkeypatch.setenv("PYGPU_THREADS", "2")
    array = np.random.default_rng(lines).normal(size=(lines, 1 << 15)).astype(np.float32)
    array[1, ::7] = np.nan
    image = Image(array)
    np.testing.assert_array_equal(pygpu.sort(image, axis=1, target="cpu"), np.sort(array))
    falling = np.asarray(pygpu.sort(image, axis=1, descending=True, target="cpu"))
    np.testing.assert_array_equal(falling, -np.sort(-array))  # NaNs last


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_axes_of_images_are_sorted(target: str, axis: int) -> None:
    array = np.random.default_rng(0).integers(0, 9, (13, 21, 3)).astype(np.uint8)
    ordered = pygpu.sort(Image(array), axis=axis, target=target)
    assert isinstance(ordered, Image)
    assert ordered.dtype == np.uint8
    np.testing.assert_array_equal(np.asarray(ordered), np.sort(array, axis % 2))
    places = pygpu.argsort(array, axis=axis, target=target)
    np.testing.assert_array_equal(places, np.argsort(array, axis % 2, kind="stable"))
    first = array[..., 0]
    order = np.argsort(first, axis, kind="stable")
    _, moved = pygpu.sort(first, array, axis=axis, target=target)
    np.testing.assert_array_equal(moved, np.take_along_axis(array, order[..., None], axis % 2))


@pytest.mark.parametrize("axis", [0, 1, 2, None])
@pytest.mark.parametrize("shape", VOLUMES)
def test_axes_of_volumes_are_sorted(
    target: str, layout: str, shape: tuple[int, ...], axis: int | None
) -> None:
    array = np.random.default_rng(0).integers(0, 9, shape).astype(np.uint8)
    flat = array.reshape(-1, *shape[3:]) if axis is None else array
    along, volume = axis or 0, pygpu.Volume(array)
    ordered = pygpu.sort(volume, axis=axis, target=target)
    assert ordered.dtype == np.uint8
    np.testing.assert_array_equal(np.asarray(ordered), np.sort(flat, along))
    places = pygpu.argsort(volume, axis=axis, target=target)
    order = np.argsort(flat, along, kind="stable")
    np.testing.assert_array_equal(np.asarray(places), order)
    if len(shape) == 3:
        _, moved = pygpu.sort(volume, pygpu.Volume(array), axis=axis, target=target)
        np.testing.assert_array_equal(np.asarray(moved), np.take_along_axis(flat, order, along))


# ---------------------------------------------------------------- masks


def test_masks_of_every_size_pick(target: str, layout: str) -> None:
    for count in SIZES:
        if layout == "folded" and count % 16 > 1:
            continue
        for share in (0.0, 0.3, 1.1)[:: 1 + (count % 8 > 0)]:
            mask = np.random.default_rng(count).random(count) < share
            floats, names = values(count, "float32"), np.arange(count)
            picked, named = pygpu.compress(mask, floats, names, target=target)
            np.testing.assert_array_equal(picked, floats[mask])
            np.testing.assert_array_equal(named, names[mask])
            assert named.dtype == names.dtype


def test_masks_pick_of_images(target: str) -> None:
    array = np.random.default_rng(0).integers(0, 255, (37, 53, 3)).astype(np.uint8)
    mask = array[..., 0] > 99
    np.testing.assert_array_equal(pygpu.compress(mask, array, target=target), array[mask])
    floats = mask * np.float32(0.1)
    np.testing.assert_array_equal(pygpu.compress(floats, Image(array), target=target), array[mask])


def test_none_of_colours_are_none_of_colours(target: str) -> None:
    none, colours = np.zeros(0, np.float32), np.zeros((0, 3), np.uint8)
    picked = pygpu.compress(np.zeros(0, bool), colours, target=target)
    keys, beside = pygpu.sort(none, colours, target=target)
    for each in (picked, beside):
        assert (each.shape, each.dtype) == ((0, 3), np.uint8)
    assert (keys.shape, keys.dtype) == ((0,), np.float32)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "uint16", "bool"])
def test_masks_pick_signals_of_images(target: str, dtype: str) -> None:
    generator = np.random.default_rng(0)
    for count in (1, 33, 4095, 4096, 4097, 20_000):
        array = (generator.random(count) * 200 - 50).astype(dtype)
        mask = generator.random(count) < 0.3
        mask[-1] = True
        found = pygpu.compress(
            pygpu.Signal(mask), pygpu.Signal(array, boundary="wrap"), target=target
        )
        assert isinstance(found, pygpu.Signal)
        assert (found.boundary, found.dtype) == ("wrap", array.dtype)
        np.testing.assert_array_equal(found, array[mask])
    nothing = pygpu.compress(np.zeros(9), pygpu.Signal(np.ones(9)), target=target)
    assert np.shape(nothing) == (0,)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int16"])
@pytest.mark.parametrize("shape", [(20_011,), (300, 333), (151, 97, 3), (90, 1001, 4)])
def test_long_masks_pick_by_native_code(dtype: str, shape: tuple[int, ...]) -> None:
    generator = np.random.default_rng(0)
    array = generator.integers(0, 99, shape).astype(dtype)
    for share in (0.0, 0.001, 0.5, 1.0):
        mask = generator.random(shape[:2]) < share
        found = pygpu.compress(mask, array, target="cpu")
        assert found.dtype == array.dtype
        np.testing.assert_array_equal(found, array[mask])


# ---------------------------------------------------------------- errors

WRONG: list[tuple[Any, type[Exception], str]] = [
    (lambda: pygpu.scan(3, [1]), TypeError, "function takes a function, got 3"),
    (lambda: pygpu.scan(operator.sub, [1, 2], exclusive=True), TypeError, "takes initial="),
    (lambda: pygpu.scan(np.add, [1, 2], initial="x"), TypeError, "initial takes a value"),
    (lambda: pygpu.scan(lambda a, b: (a, b), [1]), TypeError, "must give what it takes"),
    (lambda: pygpu.scan(np.add, [1, 2], axis=1), np.exceptions.AxisError, "axis 1 is out"),
    (lambda: pygpu.scan(np.add, [1, 2], axis=0.5), TypeError, "axis: takes a whole number or None"),
    (lambda: pygpu.scan(np.add, [2**40]), OverflowError, "does not fit in 32 bits"),
    (lambda: pygpu.sort([2**40]), OverflowError, "does not fit in 32 bits"),
    (lambda: pygpu.sort(["a"]), TypeError, "holds no texels"),
    (lambda: pygpu.sort([1, 2], [1]), ValueError, r"values\[0\] is of size \(1,\)"),
    (lambda: pygpu.sort(np.ones((2, 2, 3)), np.ones((2, 2))), ValueError, "take keys of one"),
    (lambda: pygpu.sort(np.ones((5, 6, 7))), ValueError, r"given as pygpu.Volume\(array\)"),
    (lambda: pygpu.scan(np.add, np.ones((2, 3, 4, 3))), ValueError, "images of a stack one by one"),
    (lambda: pygpu.compress([True]), TypeError, "got a mask alone"),
    (lambda: pygpu.compress([True], [1, 2]), ValueError, r"signals\[0\] is of size \(2,\)"),
    (lambda: pygpu.compress(np.ones((2, 2, 3)), [1]), ValueError, "takes one channel, got 3"),
    (lambda: pygpu.sort([1], target="moon"), ValueError, "target='moon'"),
]


@pytest.mark.parametrize(("call", "error", "text"), WRONG)
def test_wrong_calls_say_what_is_taken(call: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_sums_and_products_count_bools(target: str) -> None:
    values = np.linspace(0, 1, 35, dtype=np.float32).reshape(5, 7)
    is_high, quarter = values > 0.5, (values * 4).astype(int)

    def high(v: Any) -> Any:
        return v > 0.5

    assert pygpu.reduce(np.add, values, map=high, target=target) == is_high.sum()
    by_group = pygpu.reduce(
        np.add, values, map=high, by=lambda v: int(v * 4), groups=5, target=target
    )
    np.testing.assert_array_equal(by_group, np.bincount(quarter.ravel(), is_high.ravel(), 5))
    products = pygpu.scan(np.multiply, is_high, target=target)
    assert products.dtype == np.int32
    np.testing.assert_array_equal(products, np.cumprod(is_high, 1))
