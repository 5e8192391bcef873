"""Programs over whole arrays whose threads vote by subgroups. Where a driver has none, functions of
the same meaning stand for its own: they go by shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu.codegen.arrays import subgroups
from pygpu.devices.opengl import context as opengl
from pygpu.execution.arrays import whole

GENERATOR = np.random.default_rng(0)
STAND_IN = """
shared uint votes_of[8];
shared uint words_of[256];
uint votes(bool holds) {
    uint thread = gl_LocalInvocationIndex;
    barrier();
    if (thread % 32u == 0u)
        votes_of[thread / 32u] = 0u;
    memoryBarrierShared();
    barrier();
    if (holds)
        atomicOr(votes_of[thread / 32u], 1u << thread % 32u);
    memoryBarrierShared();
    barrier();
    return votes_of[thread / 32u];
}
uint before(uint word) {
    uint thread = gl_LocalInvocationIndex, sum = 0u;
    barrier();
    words_of[thread] = word;
    memoryBarrierShared();
    barrier();
    for (uint other = thread / 32u * 32u; other < thread; other++)
        sum += words_of[other];
    return sum;
}
uint told(uint word, int who) {
    uint thread = gl_LocalInvocationIndex;
    barrier();
    words_of[thread] = word;
    memoryBarrierShared();
    barrier();
    return words_of[thread / 32u * 32u + uint(who)];
}
"""


@pytest.fixture(autouse=True)
def voting(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    require("compute")
    with opengl.context() as gl:
        if not gl.dialect.subgroups:
            monkeypatch.setattr(gl, "dialect", replace(gl.dialect, subgroups=True))
            monkeypatch.setattr(subgroups, "FUNCTIONS", tuple(STAND_IN.splitlines()))
            monkeypatch.setattr(subgroups, "EXTENSIONS", ())
            thread = ("int lane = int(gl_LocalInvocationIndex & 31u);",)
            team = ("int team = int(gl_LocalInvocationIndex >> 5);",)
            monkeypatch.setattr(subgroups, "THREAD", thread + team)
    whole.clear()
    yield
    whole.clear()


def numbers(count: int, dtype: str) -> Any:
    if dtype == "float32":
        found = GENERATOR.normal(size=count).astype(np.float32).round(1)
        found[GENERATOR.random(count) < 0.1] = np.nan
        found[GENERATOR.random(count) < 0.1] = -np.inf
        return found
    info = np.iinfo(dtype)
    return GENERATOR.integers(info.min, info.max, count, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8"])
def test_lines_of_every_length_are_sorted(dtype: str) -> None:
    for count in [*range(1, 40, 9), 1023, 1024, 1025, 5000]:
        array = numbers(count, dtype)
        for descending in (False, True):
            found = pygpu.sort(array, descending=descending, target="compute")
            expected = np.sort(array)
            if descending:
                there = expected[~np.isnan(expected)] if dtype == "float32" else expected
                expected = np.concatenate([there[::-1], expected[len(there) :]])
            np.testing.assert_array_equal(found, expected)


def test_equal_elements_stay_as_they_were() -> None:
    for count in (1, 31, 1024, 3000, 20_000):
        array = GENERATOR.integers(0, 7, count).astype(np.int32)
        found = pygpu.argsort(array, target="compute")
        np.testing.assert_array_equal(found, np.argsort(array, kind="stable"))


def test_lines_of_images_are_sorted() -> None:
    for shape in ((3, 700), (700, 3), (40, 50)):
        array = numbers(shape[0] * shape[1], "float32").reshape(shape)
        for axis in (0, 1):
            found = pygpu.argsort(array, axis, target="compute")
            np.testing.assert_array_equal(found, np.argsort(array, axis, kind="stable"))
            np.testing.assert_array_equal(
                pygpu.sort(array, axis=axis, target="compute"), np.sort(array, axis)
            )


def test_elements_of_masks_of_every_length_are_picked() -> None:
    for count in [*range(1, 100, 7), 4095, 4096, 4097, 20_000]:
        array = GENERATOR.normal(size=count).astype(np.float32)
        for mask in (array > 0, array > 9, array < 9, np.arange(count) == count - 1):
            found = pygpu.compress(mask, array, target="compute")
            np.testing.assert_array_equal(found, array[mask])


def test_picked_texels_keep_their_channels() -> None:
    texels = GENERATOR.normal(size=(90, 70, 4)).astype(np.float32)
    numbers = np.arange(90 * 70, dtype=np.int32).reshape(90, 70)
    mask = GENERATOR.random((90, 70)) < 0.3
    colours, places = pygpu.compress(mask, texels, numbers, target="compute")
    np.testing.assert_array_equal(colours, texels[mask])
    np.testing.assert_array_equal(places, numbers[mask])
