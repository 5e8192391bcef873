"""Folds by groups of lanes that share memory: every size, type and axis against NumPy's float64."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from pygpu import Image, Position, Vec2, Vec3
from pygpu.core import sampler
from pygpu.core.storage import STORED, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl import reduction as compute_reduction
from pygpu.execution.arguments.functions import Code
from pygpu.execution.arguments.results import ImageMaker
from pygpu.execution.folds import folding, totals
from pygpu.ssa import walk

Array = NDArray[Any]
SHAPES = [(1, 2), (2, 1), (5, 7), (1, 3000), (3000, 1), (37, 45), (300, 517)]


@pytest.fixture(autouse=True)
def compute(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The compute target. Nothing may be folded by passes."""
    require("compute")

    def passes(*arguments: Any, **more: Any) -> None:
        raise AssertionError("folded by passes")

    monkeypatch.setenv("PYGPU_TARGET", "compute")
    monkeypatch.setattr(totals, "ON_DEVICE", 0)
    monkeypatch.setattr(folding, "by_passes", passes)
    folding.program.cache_clear()
    yield
    folding.program.cache_clear()


def texels(shape: tuple[int, ...], dtype: Any) -> Array:
    generator = np.random.default_rng(0)
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return generator.normal(0, 1, shape).astype(dtype)
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    limits = np.iinfo(dtype)
    return generator.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def on_device(array: Array) -> Image:
    """An image whose texels are on the device alone, as results are."""
    image = Image(array) if array.dtype != np.uint32 else _result(array)
    host = image.storage.host()
    image.storage.download = lambda: host
    image.storage.array = None
    return image


def _result(array: Array) -> Image:
    """An image of uint32, which only results are: of arrays the values must fit an Int."""
    storage = Storage.of(array)
    return ImageMaker.make(storage, sampler.default(array.dtype, storage.channels))


def seen(array: Array) -> Array:
    """Texels in 64 bits, as functions see them."""
    if array.dtype.kind == "u" and array.dtype != np.uint32:
        return array / np.iinfo(array.dtype).max
    return array.astype(np.float64 if array.dtype.kind == "f" else np.int64)


def check(array: Array, axis: Any) -> None:
    """Sums, means and extremes along an axis."""
    wide = seen(array)
    bound = 1e-6 * np.abs(wide).sum(axis)
    total = on_device(array).sum(axis)
    assert np.shape(total) == np.shape(bound)
    if array.dtype.kind != "f":
        bound = 1e-6 * bound
    assert np.all(np.abs(total - wide.sum(axis)) <= bound)
    count = wide.size // np.size(bound)
    assert np.all(np.abs(on_device(array).mean(axis) - wide.mean(axis)) <= bound / count + 1e-15)
    np.testing.assert_allclose(on_device(array).min(axis), wide.min(axis), rtol=1e-6)
    np.testing.assert_allclose(on_device(array).max(axis), wide.max(axis), rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_every_size_is_folded(axis: Any) -> None:
    for shape in SHAPES:  # by the same programs
        check(texels(shape, "float32"), axis)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", STORED, ids=str)
def test_every_type_is_folded(dtype: Any, channels: int) -> None:
    array = texels((37, 45, channels) if channels > 1 else (37, 45), dtype)
    check(array, (0, 1))


@pytest.mark.parametrize("warp", [32, 64])
@pytest.mark.parametrize("threads", [1, compute_reduction.THREADS])
@pytest.mark.parametrize(("dtype", "channels"), [("float32", 1), ("uint8", 3)])
def test_programs_for_hardware_are_right(
    dtype: str, channels: int, threads: int, warp: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "is_software", False)  # they are unrolled there
        monkeypatch.setattr(gl, "limits", replace(gl.limits, warp=warp))
    monkeypatch.setattr(compute_reduction, "THREADS", threads)  # for fewer rounds
    for shape in (*SHAPES, (70, 4096)):
        array = texels((*shape, channels), dtype)
        total = pygpu.reduce(lambda a, b: a + b, array)
        wide = seen(array)
        bound = 2e-6 * np.abs(wide).sum((0, 1))
        assert np.all(np.abs(total - wide.sum((0, 1))) <= bound)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("threads", [1, compute_reduction.THREADS])
def test_axes_are_folded_by_programs_for_hardware(
    threads: int, axis: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "is_software", False)
    monkeypatch.setattr(compute_reduction, "THREADS", threads)
    for dtype in ("float32", "uint8", "int16"):
        for shape in ((300, 517), (37, 45), (3000, 5), (5, 3000)):
            check(texels(shape, dtype), axis)
            check(texels((*shape, 3), dtype), axis)


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_few_groups_at_once_are_enough(axis: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with opengl.context() as gl:
        monkeypatch.setattr(gl, "limits", replace(gl.limits, groups=8))
    for shape in ((300, 517), (37, 45), (3000, 5), (5, 3000)):
        check(texels(shape, "float32"), axis)
        check(texels(shape, "float32"), axis)  # as it was before


def test_sums_of_large_images_err_little() -> None:
    values = np.full((2048, 2048), 0.1, np.float32)
    assert on_device(values).sum() == pytest.approx(values.sum(dtype=float), rel=1e-6)
    assert on_device(values).sum(0) == pytest.approx(values.sum(0, dtype=float), rel=1e-6)
    assert on_device(values).sum(1) == pytest.approx(values.sum(1, dtype=float), rel=1e-6)


def test_sums_of_ints_are_exact() -> None:
    for value in (2**31 - 1, -(2**31), -1):
        array = np.full((300, 700), value, np.int32)
        assert on_device(array).sum() == value * array.size
    shorts = np.full((300, 700), 65535, np.uint16)
    assert on_device(shorts).sum() == shorts.size


def test_extremes_of_negated_ints_and_of_bools() -> None:
    array = texels((70, 90), np.int16)
    assert pygpu.reduce(max, array, map=lambda n: -n) == -array.min()
    assert pygpu.reduce(min, array, map=lambda n: -n) == -array.max()
    mask = texels((70, 90), np.bool_)
    assert pygpu.reduce(max, mask, map=lambda b: -int(b)) == 0
    assert pygpu.reduce(min, mask, map=lambda b: -int(b)) == -1


def negated(im: Image, p: Position) -> Any:
    return -im(p)


def test_negated_ints_are_stored_in_range() -> None:
    array = texels((37, 45), np.int16)
    for dtype in (np.uint8, np.int8, np.uint16):
        limits = np.iinfo(dtype)
        stored = pygpu.compile(negated, target="compute")(array, dtype=dtype)
        right = np.clip(-array.astype(np.int64), limits.min, limits.max)
        np.testing.assert_array_equal(stored, right)


def test_folds_are_the_same_each_time() -> None:
    image = Image(texels((513, 1025), "float32"))
    assert len({pygpu.reduce(lambda a, b: a + b, image) for _ in range(5)}) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_values_may_have_many_parts(shape: tuple[int, int]) -> None:
    array = texels(shape, "float32")

    def value(v: Any, p: Position) -> Any:
        return Vec3(v, p.x, p.y), v, v > 0, p.x + p.y

    def join(a: Any, b: Any) -> Any:
        first = a[0] if a[0].x >= b[0].x else b[0]
        return first, min(a[1], b[1]), a[2] or b[2], a[3] + b[3]

    largest, least, some, places = pygpu.reduce(join, array, map=value)
    y, x = np.unravel_index(array.argmax(), shape)
    np.testing.assert_array_equal(largest, [array.max(), x, y])
    assert (least, some) == (array.min(), bool((array > 0).any()))
    assert type(some) is bool
    assert places == (np.arange(shape[1]) + np.arange(shape[0])[:, None]).sum()


def test_many_groups_are_folded_again() -> None:
    array = texels((1200, 1300), "int32")

    def far(v: Any) -> Any:  # no short function: lanes load texel by texel, and groups are many
        for _ in range(int(v) & 3):
            v = v ^ 5
        return v

    assert pygpu.reduce(lambda a, b: a ^ b, array, map=far) == np.bitwise_xor.reduce(
        np.where((array & 3) % 2 == 1, array ^ 5, array), axis=None
    )


def test_functions_may_read_tables_and_other_images() -> None:
    array = texels((40, 50), "uint8")
    other, table = Image(texels((9, 7), "float32"), boundary="wrap"), np.arange(100) % 7

    def value(v: Any, p: Position) -> Any:
        return Vec2(other(p + (1, 0)), table[(p.x + p.y) % 100] * v)

    def join(a: Any, b: Any) -> Any:
        return a + b

    ys, xs = np.mgrid[:40, :50]
    tiled = np.asarray(other)[ys % 9, (xs + 1) % 7]
    weighted = table[(xs + ys) % 100] * (array / 255)
    np.testing.assert_allclose(
        pygpu.reduce(join, array, map=value),
        [tiled.sum(dtype=float), weighted.sum()],
        rtol=1e-4, atol=1e-3,
    )  # fmt: skip


def test_the_texel_may_be_left_aside() -> None:
    total = pygpu.reduce(lambda a, b: a + b, np.zeros((5, 70), np.uint8), map=lambda v, p: p.x)
    assert total == 5 * sum(range(70))


def test_values_that_shared_memory_does_not_hold_go_another_way() -> None:
    many = 300
    array = texels((9, 8), "int32")
    with pytest.raises(AssertionError, match="passes"):
        pygpu.reduce(
            lambda a, b: tuple([x ^ y for x, y in zip(a, b, strict=True)]),
            array,
            map=lambda v: tuple([v + i for i in range(many)]),
        )


def test_what_a_function_reads_may_change() -> None:
    scale = {"by": 1}
    image = Image(np.ones((20, 30), np.float32))

    def total() -> Any:
        return pygpu.reduce(lambda a, b: a + b, image, map=lambda v: v * factor())

    def factor() -> int:
        return scale["by"]

    assert total() == 600
    scale["by"] = 3
    assert total() == 1800


# ---------------------------------------------------------------- functions made anew


def folds() -> int:
    """How many folds have been made."""
    return folding.program.cache_info().misses


def test_functions_made_in_a_function_are_compiled_once() -> None:
    image = texels((20, 30), "float32")

    def weighted(k: float, offsets: Array) -> Any:
        def helper(v: Any) -> Any:
            return v * k

        return pygpu.reduce(
            lambda a, b: a + b,
            image,
            map=lambda v: helper(v) + offsets[0],
        )

    first = weighted(2.0, np.array([1.0, 2.0]))
    before = folds()
    assert weighted(2.0, np.array([1.0, 2.0])) == first
    assert folds() == before
    assert weighted(3.0, np.array([1.0, 2.0])) == pytest.approx(3 * image.sum() + 600, rel=1e-5)
    assert weighted(2.0, np.array([0.0, 2.0])) == pytest.approx(2 * image.sum(), rel=1e-5)
    assert folds() == before + 2


def test_what_functions_close_over_may_change() -> None:
    image, k, table, shift = texels((20, 30), "float32"), 2.0, [3.0], np.array([1.0])

    def scaled(v: Any) -> Any:
        return v * k * table[0] + shift[0]

    def total() -> Any:
        return pygpu.reduce(np.add, image, map=scaled)

    plain = image.sum(dtype=float)
    assert total() == pytest.approx(6 * plain + 600, rel=1e-5)
    k = 5.0
    assert total() == pytest.approx(15 * plain + 600, rel=1e-5)
    table[0] = 1.0
    assert total() == pytest.approx(5 * plain + 600, rel=1e-5)
    table[0] = 3.0
    shift[0] = 0.0
    assert total() == pytest.approx(15 * plain, rel=1e-5)
    other = pygpu.Image(image.astype(np.float16))  # another program of the same function
    k = 2.0
    low = pygpu.reduce(np.add, other, map=scaled)
    assert low == pytest.approx(6 * plain, rel=1e-2)


def test_what_objects_hold_may_change() -> None:
    class Settings:
        gain = 2.0

    image, settings = texels((20, 30), "float32"), Settings()

    def total() -> Any:
        return pygpu.reduce(np.add, image, map=lambda v: v * settings.gain)

    assert total() == pytest.approx(2 * image.sum(), rel=1e-5)
    settings.gain = 3.0
    assert total() == pytest.approx(3 * image.sum(), rel=1e-5)


def test_functions_that_close_over_themselves_are_themselves() -> None:
    def power(v: Any, n: int = 2) -> Any:
        return v if n == 0 else v * power(v, n - 1)

    image = texels((20, 30), "float32")
    total = pygpu.reduce(np.add, image, map=lambda v: power(v, 1))
    assert total == pytest.approx((image.astype(float) ** 2).sum(), rel=1e-5)


@pytest.mark.parametrize("count", [2, 9, 33, 64])
def test_tuples_of_many_are_folded(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    image = texels((37, 19), "float32")

    def weigh(v: Any) -> Any:
        return tuple([v * k for k in range(count)])

    def join(a: Any, b: Any) -> Any:
        return tuple([x + y for x, y in zip(a, b, strict=True)])

    totals = pygpu.reduce(join, image, map=weigh, target="interpreter")
    expected = [image.sum(dtype=float) * k for k in range(count)]
    np.testing.assert_allclose(totals, expected, rtol=1e-5)
    fold = folding.program(Code(join), Code(weigh), "interpreter")
    for made in fold.passes.specialisations():  # of many, a pass folds fewer
        loads = sum(op.code == "load" for op in walk(made.task.function.body))
        assert loads <= max(folding.COMPONENTS, 2 * count)


def test_positions_of_maps_are_never_negative(monkeypatch: pytest.MonkeyPatch) -> None:
    """An integer to such a power is one."""
    monkeypatch.undo()
    image = np.arange(30, dtype=np.int32).reshape(5, 6) % 3
    y, x = np.mgrid[:5, :6]
    for target in ("cpu", "fragment", "compute"):
        require(target)
        total = pygpu.reduce(np.add, image, map=lambda v, p: v ** (p.x + 3), target=target)
        assert total == (image ** (x + 3)).sum()
        total = pygpu.reduce(np.add, Image(image), map=lambda v, p: v ** (p.x + p.y), target=target)
        assert total == (image ** (x + y)).sum()
        groups = {"by": lambda v, p: p.x % 3, "groups": 3, "target": target}
        totals = pygpu.reduce(np.add, image, map=lambda v, p: v ** (p.y + 1), **groups)
        assert totals.tolist() == [(image ** (y + 1))[:, k::3].sum() for k in range(3)]
        signal = pygpu.Signal(image[1])
        total = pygpu.reduce(lambda a, b: a + b, signal, map=lambda v, p: v**p, target=target)
        assert total == (image[1] ** x[0]).sum()
        volume = pygpu.Volume(np.stack([image, image]))
        total = pygpu.reduce(np.add, volume, map=lambda v, p: v ** (p.z + 1), target=target)
        assert total == (image + image**2).sum()


@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_sums_alone_are_those_of_no_elements(dtype: str) -> None:
    nothing = np.zeros(0, dtype)
    assert pygpu.reduce(np.add, nothing, target="cpu") == 0
    for function in (np.maximum, np.minimum, lambda a, b: a):
        with pytest.raises(ValueError, match=r"of no elements has no value: give initial="):
            pygpu.reduce(function, nothing, target="cpu")
    one = np.dtype(dtype).type(1)
    assert pygpu.reduce(np.maximum, nothing, initial=one, target="cpu") == 1


@pytest.mark.parametrize("shape", [(30, 41), (300, 70)])
def test_sums_of_ints_by_group_are_exact_in_64_bits(target: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    array = rng.integers(-(2**31), 2**31, shape).astype(np.int32)
    groups = np.arange(shape[1]) % 3

    def sums(values: Array) -> list[Any]:
        return [values[:, groups == k].astype(np.int64).sum((0, 1)).tolist() for k in range(4)]

    def by(v: Any, p: Position) -> Any:
        return p.x % 3

    found = pygpu.reduce(np.add, array, by=by, groups=4, target=target)
    assert found.dtype == np.int64
    assert found.tolist() == sums(array)
    parts = pygpu.reduce(
        np.add, array, map=lambda v: (v, 1, v * 0.5), by=by, groups=4, target=target
    )
    assert parts[0].tolist() == sums(array)
    assert parts[1].tolist() == sums(np.ones(shape, np.int32))
    np.testing.assert_allclose(parts[2], np.array(sums(array)) / 2, rtol=1e-5, atol=1e6)
    pairs = rng.integers(0, 65536, (*shape, 3)).astype(np.uint16)
    raw = Image(pairs, normalize=False)
    assert pygpu.reduce(np.add, raw, by=by, groups=4, target=target).tolist() == sums(pairs)
    words = rng.integers(0, 2**32, shape).astype(np.uint32)
    found = pygpu.reduce(np.add, _result(words), by=by, groups=4, target=target)
    assert found.tolist() == sums(words)
