"""Folds by any function, of values made of the texels at each place, in one native pass."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Signal, Vec2, Vec3, Volume
from pygpu.devices.cpu import folds

SIZES = [(1, 1), (1, 63), (3, 5), (16, 16), (8, 16), (37, 41), (5, 300), (300, 3), (1, 70_001),
         (513, 517)]  # fmt: skip


@pytest.fixture
def native(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The sizes that native code has folded."""
    seen: list[Any] = []
    plain = folds.Folded.whole

    def whole(self: Any, inputs: Any, uniforms: Any) -> Any:
        seen.append((inputs[0].height, inputs[0].width))
        return plain(self, inputs, uniforms)

    monkeypatch.setattr(folds.Folded, "whole", whole)
    return seen


def reduce(function: Any, *images: Any, **options: Any) -> Any:
    return pygpu.reduce(function, *images, target="cpu", **options)


def texels(shape: tuple[int, ...], dtype: Any = np.float32) -> Any:
    rng = np.random.default_rng(sum(shape))
    if np.dtype(dtype).kind == "f":
        return rng.random(shape).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 200, shape).astype(dtype)


def add(a: Any, b: Any) -> Any:
    return a + b


def further(a: Any, b: Any) -> Any:
    return a if abs(a - 0.5) >= abs(b - 0.5) else b


@pytest.mark.parametrize("size", SIZES)
def test_functions_of_two_floats(size: tuple[int, int], native: list[Any]) -> None:
    values = texels(size)
    image = Image(values)
    for _ in range(2):  # the second time by the plan of the first
        assert reduce(add, image) == pytest.approx(values.sum(dtype=np.float64), rel=1e-6)
        found = reduce(further, image)
        assert abs(found - 0.5) == np.abs(values - np.float32(0.5)).max()
    if values.size < 4 or values.size >= 64:  # of so few places there is no whole step
        assert bool(native) == (values.size >= 64)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int16", "int32", "float16", "bool"])
def test_types_of_texels(size: tuple[int, int], dtype: str) -> None:
    values = texels(size, dtype)
    scale = {"uint8": 255, "uint16": 65535}.get(dtype, 1)

    def twice(v: Any) -> Any:
        return v * 2

    found = reduce(add, Image(values), map=twice)
    assert found == pytest.approx(2 * values.astype(np.float64).sum() / scale, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("size", SIZES)
def test_ints_are_exact(size: tuple[int, int]) -> None:
    values = texels(size, "int32") * 1_000_003

    def either(a: Any, b: Any) -> Any:
        return a ^ b

    assert reduce(either, Image(values)) == np.bitwise_xor.reduce(values, axis=None)


@pytest.mark.parametrize("size", [(16, 16), (37, 41), (513, 517)])
def test_several_images_and_numbers(size: tuple[int, int], native: list[Any]) -> None:
    one, other = texels(size), texels((*size, 1))[..., 0][::-1].copy()

    def apart(a: Any, b: Any, gain: Any) -> Any:
        return (a - gain * b) ** 2

    for gain in (1.0, 0.25, -2.0):
        found = reduce(np.add, Image(one), Image(other), map=apart, gain=gain)
        exact = ((one.astype(np.float64) - gain * other) ** 2).sum()
        assert found == pytest.approx(exact, rel=1e-5)
    assert native


@pytest.mark.parametrize("size", [(16, 16), (37, 41), (9, 17), (300, 3), (513, 517)])
def test_places(size: tuple[int, int], native: list[Any]) -> None:
    values = texels(size)

    def moment(v: Any, p: Position) -> Any:
        return Vec3(v, v * p.x, v * p.y)

    rows, columns = np.mgrid[: size[0], : size[1]]
    exact = [(values * each).sum(dtype=np.float64) for each in (1, columns, rows)]
    assert np.allclose(reduce(np.add, Image(values), map=moment), exact, rtol=1e-5)
    assert bool(native) == (size[1] >= 16)
    at = reduce(np.argmax, Image(values), map=lambda v: -v)
    assert (at.y, at.x) == np.unravel_index(values.argmin(), size)


def test_signals_and_volumes() -> None:
    sound, body = texels((10_007,)), texels((7, 20, 33))

    def late(v: Any, p: Position) -> Any:
        return v * p.x

    def deep(v: Any, p: Position) -> Any:
        return v * p.z + p.y

    exact = (sound.astype(np.float64) * np.arange(10_007)).sum()
    assert reduce(add, Signal(sound), map=late) == pytest.approx(exact, rel=1e-6)
    z, y, _ = np.indices(body.shape)
    exact = (body.astype(np.float64) * z + y).sum()
    assert reduce(add, Volume(body), map=deep) == pytest.approx(exact, rel=1e-6)


def test_vectors_tuples_and_tables(native: list[Any]) -> None:
    picture = texels((65, 67, 3))
    weights = (0.2, 0.7, 0.1)

    def parts(v: Any) -> Any:
        return v.x > 0.5, v, weights[int(v.y * 2.9)]

    def both(a: Any, b: Any) -> Any:
        return a[0] and b[0], np.maximum(a[1], b[1]), a[2] + b[2]

    found = reduce(both, Image(picture), map=parts)
    assert not found[0]
    assert np.array_equal(found[1], picture.max(axis=(0, 1)))
    taken = np.array(weights)[(picture[..., 1] * np.float32(2.9)).astype(int)]
    assert found[2] == pytest.approx(taken.sum(), rel=1e-5)
    assert native == [(65, 67)]


def test_a_map_that_gives_a_constant_counts() -> None:
    assert reduce(add, Image(texels((33, 71))), map=lambda v: 1) == 33 * 71


def test_a_complex_product() -> None:
    values = np.exp(1j * texels((40, 50))).astype(np.complex64)
    pairs = np.stack([values.real, values.imag], axis=-1)

    def product(a: Any, b: Any) -> Any:
        return Vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)

    exact = np.exp(1j * np.angle(values).astype(np.float64).sum())
    assert np.allclose(reduce(product, Image(pairs)), [exact.real, exact.imag], atol=1e-3)


def test_long_sums_err_little() -> None:
    values = texels((2000, 2111))
    found = reduce(add, Image(values))
    assert found == pytest.approx(values.sum(dtype=np.float64), rel=3e-7)


def test_nan_is_handed_on() -> None:
    values = texels((64, 64))
    values[13, 57] = math.nan
    assert math.isnan(reduce(add, Image(values)))


def test_loops_are_folded_by_passes(native: list[Any]) -> None:
    def root(v: Float) -> Any:
        x, n = v, 0
        while x < 0.9 and n < 50:
            x, n = x * 1.1 + 0.01, n + 1
        return n

    values = texels((50, 60))
    compiled = pygpu.compile(lambda im, p: root(im(p)), im=Image, p=Position, target="cpu")
    assert reduce(add, Image(values), map=root) == np.asarray(compiled(values)).sum()
    assert not native


def test_threads_share_nothing() -> None:
    images = [Image(texels((100 + k % 3, 301))) for k in range(12)]
    exact = [np.asarray(each).sum(dtype=np.float64) for each in images]
    with ThreadPoolExecutor(6) as pool:
        for _ in range(20):
            found = list(pool.map(lambda each: reduce(add, each), images))
            assert np.allclose(found, exact, rtol=1e-6)


def test_crops_and_transposed_arrays() -> None:
    whole = texels((90, 110))
    for part in (whole[7:80, 11:99], whole.T, whole[::2, ::-1]):
        assert reduce(add, part) == pytest.approx(part.sum(dtype=np.float64), rel=1e-6)


def test_images_that_are_stored_unlike() -> None:
    bytes_, floats, whole = texels((40, 50), "uint8"), texels((40, 50)), texels((40, 50), "int16")

    def product(a: Any, b: Any, c: Any) -> Any:
        return a * b + c

    found = reduce(np.add, Image(bytes_), Image(floats), Image(whole), map=product)
    exact = (bytes_ / 255 * floats.astype(np.float64) + whole).sum()
    assert found == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize("size", [(1, 1), (2, 3), (5, 9), (300, 3), (64, 64)])
def test_in_pipelines_small_and_narrow_images_are_folded_by_passes(size: tuple[int, int]) -> None:
    values = texels(size)

    @pygpu.compile(target="cpu")
    def half(im: Image, p: Position):
        return im(p) * 0.5

    @pygpu.pipeline
    def folded(image: Any) -> Any:
        made = half(image)
        moment = reduce(np.add, made, map=lambda v, p: v * (p.x + 2 * p.y))
        return made, reduce(further, made), moment

    _, found, moment = folded(Image(values))
    rows, columns = np.mgrid[: size[0], : size[1]]
    assert abs(found - 0.5) == np.abs(values / 2 - np.float32(0.5)).max()
    assert float(moment) == pytest.approx((values / 2 * (columns + 2 * rows)).sum(), rel=1e-5)
