"""Folds like earlier ones follow their plans, and give what any fold gives."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pygpu


def test_folds_called_again_take_other_arrays_and_numbers(target: str) -> None:
    rng = np.random.default_rng(1)

    def given(kind: str) -> Any:
        array = rng.integers(0, 200, (40, 30)).astype(kind)
        return array, array / np.float32(255) if kind == "uint8" else array.astype(np.float64)

    for kind in ("float32", "uint8", "int32", "float32"):
        for k in (2.0, 3.5, 2, -1, True, 2.0):
            array, seen = given(kind)
            for image in (array, pygpu.Image(array), np.asfortranarray(array), array.astype("f8")):
                if kind == "uint8" and image.dtype == np.float64:
                    continue
                found = pygpu.reduce(np.add, image, map=lambda v, k: v * k, k=k, target=target)
                np.testing.assert_allclose(found, (seen * k).sum(), 1e-4)
            found = pygpu.reduce(
                np.maximum, array, array, map=lambda v, w, p, k, j: v * k + j * p.x, k=k, j=0.5,
                target=target,
            )  # fmt: skip
            np.testing.assert_allclose(found, (seen * k + 0.5 * np.arange(30)).max(), 1e-5)


def test_numpys_functions_fold_parts_of_tuples(target: str) -> None:
    rng = np.random.default_rng(3)
    large = rng.integers(2**30, 2**31, (300, 200)).astype(np.int32)
    light = rng.normal(0, 1, (300, 200)).astype(np.float32)
    for _ in range(2):
        sums = pygpu.reduce(
            np.add, large, light, map=lambda v, w, p: (v, w, p, 1, v * w), target=target
        )
        assert (sums[0], sums[3]) == (large.sum(dtype=np.int64), large.size)
        assert list(sums[2]) == [300 * 199 * 100, 200 * 299 * 150]
        assert sums[1] == pytest.approx(light.sum(dtype=float), abs=1e-2)
        products = large * light.astype(float)
        assert sums[4] == pytest.approx(products.sum(), abs=1e-6 * abs(products).sum())
        low, high = pygpu.reduce(np.minimum, light, map=lambda v: (v, -v), target=target)
        assert (low, high) == (light.min(), -light.max())
    nothing = np.zeros(0, np.float32)
    assert pygpu.reduce(np.add, nothing, map=lambda v: (v, 1), target=target) == (0, 0)
    with pytest.raises(TypeError, match=r"it must give what it takes"):
        pygpu.reduce(operator.add, light, map=lambda v: (v, 1), target=target)


def test_groups_called_again_take_other_arrays_and_numbers(target: str) -> None:
    rng = np.random.default_rng(2)
    for k, limit in ((2.0, 3), (0.5, 4), (2.0, 8), (2, 3), (3, 3)):
        array = rng.random((20, 31)).astype(np.float32)
        index = rng.integers(-1, 9, (20, 31)).astype(np.int32)
        for images in ((array, index), (pygpu.Image(array), pygpu.Image(index))):
            for initial in (None, 0.0):
                found = pygpu.reduce(
                    np.add, *images, map=lambda v, n, k: v * k,
                    by=lambda v, n, limit: n if n < limit else -1,
                    groups=8, k=k, limit=limit, initial=initial, target=target,
                )  # fmt: skip
                there = (index >= 0) & (index < min(limit, 8))
                expected = np.bincount(index[there], array[there].astype(float) * k, 8)
                np.testing.assert_allclose(found, expected, 1e-5)
        with pytest.raises(OverflowError):
            pygpu.reduce(np.add, array, map=lambda v, k: v * k, k=2**40, target=target)


def test_signals_called_again(target: str) -> None:
    for count in (1, 7, 5000, 7, 1):
        array = np.random.default_rng(count).random(count).astype(np.float32)
        for given in (array, pygpu.Signal(array), array.tolist()):
            found = pygpu.reduce(np.add, given, map=lambda v, p, k: v * p.x + k, k=2, target=target)
            np.testing.assert_allclose(found, (array * np.arange(count) + 2).sum(), 1e-4)
            place = pygpu.reduce(np.argmax, given, target=target)
            assert int(place.x) == array.argmax()


def test_volumes_beside_arrays(target: str) -> None:
    array = np.random.default_rng(0).random((4, 5, 6)).astype(np.float32)
    for _ in range(2):
        found = pygpu.reduce(
            np.add, pygpu.Volume(array), array, map=lambda a, b: a * b, target=target
        )
        np.testing.assert_allclose(found, (array**2).sum(), 1e-5)


@pytest.mark.parametrize("count", [1 << 14, 3 << 14, (1 << 15) + 1, 40_000])
def test_long_rows_are_folded_by_any_function(target: str, count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(3):
        one, other = rng.random((2, 2 * count), np.float32)[:, ::2]
        for row, beside in ((one, other), (pygpu.Signal(one), pygpu.Signal(other))):
            found = pygpu.reduce(lambda a, b: a + b, row, beside, map=lambda v, w, k: k * v * w,
                                 k=2.0, target=target)  # fmt: skip
            np.testing.assert_allclose(found, 2 * (one.astype(float) @ other), 1e-5)
            found = pygpu.reduce(lambda a, b: (min(a[0], b[0]), max(a[1], b[1])), row,
                                 map=lambda v: (v, v), target=target)  # fmt: skip
            np.testing.assert_array_equal(found, (one.min(), one.max()))
            found = pygpu.reduce(np.add, row, map=lambda v, p: v * (p.x & 7), target=target)
            np.testing.assert_allclose(found, one @ (np.arange(count) % 8.0), 1e-5)
        wide = pygpu.Image(one[None])
        place = pygpu.reduce(np.argmax, wide, map=lambda v: -v, target=target)
        assert tuple(place) == (one.argmin(), 0)
