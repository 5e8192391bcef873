"""Loops of as many rounds as each pixel says, which fetch from anywhere, are run pixel by pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse

import pygpu
from pygpu import Image, Int, Position, Signal, Vec2
from pygpu.codegen.llvm import plan


def plan_of(function: Any) -> plan.Plan:
    (made,) = function.specialisations()
    found: plan.Plan = made.program.plan
    return found


def product(values: Signal, columns: Signal, starts: Signal, x: Signal, row: Position):
    total = 0.0
    for k in range(starts(row), starts(row + 1)):
        total += values(k) * x(columns(k))
    return total


@pytest.mark.parametrize("rows", [1, 15, 64, 1001, 40_000])
def test_a_sparse_product_is_scipys(rows: int) -> None:
    rng = np.random.default_rng(rows)
    matrix = scipy.sparse.random(rows, rows, min(1.0, 8 / rows), "csr", np.float32, rng)
    x = rng.random(rows, np.float32)
    compiled = pygpu.compile(product, target="cpu")
    found = compiled(matrix.data, matrix.indices, matrix.indptr, x, shape=(rows,))
    assert np.allclose(found, matrix @ x, rtol=1e-5, atol=1e-6)
    assert plan_of(compiled).single


def spread(im: Image, places: Image, counts: Image, p: Position, gain: Int):
    """Branches, places, vectors and bytes among what is done for each round."""
    least, found = 9.0, Vec2(0)
    for k in range(counts(p)):
        at = places(((p.x * 7 + k) % places.width, (p.y + k) % places.height))
        texel = im((at, (k * gain + p.x) % im.height))
        least = min(least, texel) if texel > 0.25 else least * 0.5
        found += Vec2(texel, p.y)
    return least, found, found.x > p.x * 0.1


@pytest.mark.parametrize("size", [(1, 1), (5, 7), (33, 64), (61, 97)])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_pixels_one_by_one_have_the_bits_of_lanes(
    monkeypatch: pytest.MonkeyPatch, size: tuple[int, int], dtype: str
) -> None:
    rng = np.random.default_rng(size[1])
    image = rng.random(size, np.float32) * (255 if dtype == "uint8" else 1)
    places = rng.integers(0, size[1], size).astype(np.int32)
    counts = rng.integers(0, 12, size).astype(np.int32)
    results = []
    for gathered in (0, 100):
        monkeypatch.setattr(plan, "GATHERED", gathered)
        compiled = pygpu.compile(spread, target="cpu")
        results.append(compiled(Image(image.astype(dtype)), places, counts, 3))
        assert plan_of(compiled).single == (gathered > 0)
    for one, other in zip(*results, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))


def root(parent: Signal, weight: Signal, i: Position):
    k, total = parent(i), 0.0
    while parent(k) != k and weight(k) < 0.9:
        total += weight(k)
        k = parent(k)
    return total


def few(starts: Signal, items: Signal, i: Position):
    best = -1.0
    for k in range(starts(i), starts(i + 1)):
        best = max(best, items(k))
    return best


def test_loops_that_end_by_what_they_fetch_and_few_texels_stay_in_lanes() -> None:
    numbers = np.arange(100, dtype=np.int32)
    for function, given in (
        (root, (numbers // 2, np.ones(100, np.float32))), (few, (numbers, numbers)),
    ):  # fmt: skip
        compiled = pygpu.compile(function, target="cpu")
        compiled(*given, shape=(99,))
        assert not plan_of(compiled).single


def test_a_long_loop_can_be_stopped() -> None:
    def endless(a: Signal, b: Signal, n: Int, i: Position):
        total = 0.0
        for k in range(n + i.x):
            total += a(k % 7) * b(k % 5)
        return total

    ones = np.ones(8, np.float32)
    compiled = pygpu.compile(endless, target="cpu")
    assert np.array_equal(np.asarray(compiled(ones, ones, 3)), np.arange(3.0, 11.0))


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "float16", "float32", "bool"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_texels_of_all_kinds(dtype: str, channels: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def total(im: Image, other: Image, counts: Image, p: Position):
        found = im(p) * 1.0 + im(p + (1, 0)) * 0.5
        for k in range(counts(p)):
            found += im(((p.x * 5 + k) % 17, (p.y * 3 + k) % 9)) * other(((p.x + k) % 17, k % 9))
        return found * 0.05

    rng = np.random.default_rng(channels)
    texels = rng.integers(0, 2 if dtype == "bool" else 100, (9, 17, channels)).astype(dtype)
    weights = rng.random((9, 17), np.float32)
    counts = rng.integers(0, 9, (9, 17)).astype(np.int32)
    results = []
    for gathered in (0, 100):
        monkeypatch.setattr(plan, "GATHERED", gathered)
        compiled = pygpu.compile(total, target="cpu")
        given = Image(texels if channels > 1 else texels[..., 0]), weights, counts
        out = "float32" if dtype == "bool" else dtype
        results.append(np.asarray(compiled(*given, dtype=out)))
        assert plan_of(compiled).single == (gathered > 0)
    assert np.array_equal(*results)
