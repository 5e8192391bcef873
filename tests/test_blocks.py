"""Blocks of pixels compute what single pixels do: at every size, boundary, type and shape."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import pygpu
from conftest import require
from pygpu import Image, Position, Vec2, offsets, shapes, targets
from pygpu.devices.compute import ComputeDevice
from pygpu.passes.block import block, can_block, columns_of
from pygpu.ssa import BOUNDARIES, Builder, ImageInput, Region, Value, walk
from pygpu.storage import Format, Storage
from pygpu.types import FLOAT, INT, Type

WEIGHTS = np.random.default_rng(5).normal(size=(5, 5)).astype(np.float32)
DTYPES = ("uint8", "int16", "uint16", "float16", "int32", "float32")


def filtered(kernel: Any, im: Image, p: Position) -> Any:
    return sum([w * im(p + d) for w, d in zip(np.ravel(kernel), offsets(kernel), strict=True)])


def neighbours(im: Image, p: Position) -> Any:
    return im(p) + 2 * im(p + (1, 0)) - im(p - (2, 1)) + (im(p + (0, 2)) if p.x > 1 else im(p))


def turned(im: Image, p: Position) -> Any:
    return im(Position(p.y, p.x)) - im(p + (1, -1))


def pair(im: Image, p: Position) -> Any:
    left, right = im(p - (1, 0)), im(p + (1, 0))
    return left + right, Vec2(left, right)


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_every_small_size_is_as_scipys(target: str, boundary: str) -> None:
    compiled = pygpu.compile(filtered, kernel=WEIGHTS, target=target)
    texels = np.random.default_rng(1).random((12, 40), np.float32)
    for height in range(1, 13):
        for width in range(1, 41):
            part = np.ascontiguousarray(texels[:height, :width])
            have = compiled(pygpu.Image(part, boundary=boundary)).numpy()
            want = ndimage.correlate(part, WEIGHTS, mode=boundary)
            np.testing.assert_allclose(have, want, atol=1e-5, err_msg=f"{width} x {height}")


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [neighbours, turned])
def test_every_type_of_image_gives_what_the_interpreter_gives(
    target: str, function: Any, dtype: str, channels: int
) -> None:
    fast, exact = (
        pygpu.compile(function, target=target),
        pygpu.compile(function, target="interpreter"),
    )
    generator = np.random.default_rng(2)
    for size in ((1, 1), (2, 5), (7, 16), (9, 23)):
        texels = (generator.random((*size, channels)) * 100).astype(dtype)
        np.testing.assert_allclose(fast(texels), exact(texels), rtol=1e-5, atol=1e-5)
        if np.dtype(dtype).kind in "iu":
            have, want = fast(texels, dtype=dtype), exact(texels, dtype=dtype)
            np.testing.assert_allclose(have.astype(int), want.astype(int), atol=1)


def test_several_results_of_different_sizes_of_texels(target: str) -> None:
    texels = np.random.default_rng(3).random((5, 11), np.float32)
    have = pygpu.compile(pair, target=target)(texels)
    want = pygpu.compile(pair, target="interpreter")(texels)
    for a, b in zip(have, want, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_every_shape_computes_the_same_bits() -> None:
    require("compute")
    device = targets.open_device("compute")
    build = Builder("sum", [ImageInput("im", FLOAT)])
    terms = [build.load(0, build.x, build.y, "mirror", dx=i - 2, dy=i % 3) for i in range(5)]
    result = terms[0]
    for index, term in enumerate(terms[1:]):
        weighted = build.emit("mul", term, build.constant(FLOAT, 0.1 + index))
        result = build.emit("add", result, weighted)
    function = build.finish([result])
    for format in (Format(np.dtype("float32"), 1), Format(np.dtype("uint8"), 1)):
        texels = np.random.default_rng(4).integers(0, 255, (19, 37, 1)).astype(format.dtype)
        results = []
        for shape in shapes.CANDIDATES[::6]:
            program = device.compile(function, [format], [format], shape)  # type: ignore[call-arg]
            results.append(program.run([Storage.of(texels)], [], (19, 37), [None])[0].host())
        for other in results[1:]:
            np.testing.assert_array_equal(other, results[0])


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_programs_for_devices_that_fuse_give_what_others_do(dtype: str, channels: int) -> None:
    require("compute")
    format = Format(np.dtype(dtype), channels)
    function = mean_of_three("mirror", format.type)
    texels = (np.random.default_rng(6).random((9, 23, channels)) * 100).astype(dtype)
    results = []
    for fused in (False, True):
        device = ComputeDevice()
        device.dialect = replace(device.dialect, fused=fused)
        program = device.compile(function, [format], [format])
        assert ("precise" in program.source, "fma" in program.source) == (fused, fused)
        results.append(program.run([Storage.of(texels)], [], (9, 23), [None])[0].host())
    np.testing.assert_allclose(results[1].astype(float), results[0].astype(float), rtol=1e-6)


# ---------------------------------------------------------------- the pass


def mean_of_three(boundary: str = "nearest", type: Type = FLOAT) -> Any:
    build = Builder("mean", [ImageInput("im", type)])
    left, right = (build.load(0, build.x, build.y, boundary, dx=dx) for dx in (-1, 1))
    middle = build.load(0, build.x, build.y, boundary)
    third = build.constant(type, 1 / 3 if type.is_scalar else (1 / 3,) * type.size)
    parts = [build.emit("mul", texel, third) for texel in (left, middle, right)]
    total = build.emit("add", build.emit("add", parts[0], parts[1]), parts[2])
    return build.finish([total])


GREY = Format(np.dtype("float32"), 1)


def loads(function: Any) -> list[tuple[str, int]]:
    """The names of images that are read, and how far from the block's first pixel."""
    return [
        (function.images[op.data.image].name, op.data.dx)
        for op in walk(function.body)
        if op.code == "load"
    ]


def test_four_pixels_are_one_load_and_those_beside_them_one_each() -> None:
    blocked = block(mean_of_three(), [GREY], [GREY], columns=4, rows=1)
    inside = loads(blocked.function)[:3]
    assert sorted(inside) == [("im", -1), ("im", 4), ("im4", 0)]
    assert blocked.views == (0,)
    assert blocked.inputs == (GREY, Format(np.dtype("float32"), 4))
    assert (blocked.texels, blocked.outputs[0].channels) == ((1,), 4)


def test_rows_share_what_they_read() -> None:
    one, four = (block(mean_of_three(), [GREY], [GREY], 4, rows) for rows in (1, 4))
    assert len(loads(four.function)) == 4 * len(loads(one.function))  # each row by itself
    build = Builder("down", [ImageInput("im", FLOAT)])
    above, below = (build.load(0, build.x, build.y, dy=dy) for dy in (-1, 1))
    down = build.finish([build.emit("add", above, below)])
    inside = [dx for name, dx in loads(block(down, [GREY], [GREY], 4, 4).function) if name == "im4"]
    assert len(inside) == 6  # rows y - 1 to y + 4


def test_images_of_four_channels_take_one_column() -> None:
    rgba, grey = Format(np.dtype("float32"), 4), GREY
    assert columns_of([rgba], [rgba]) == 1
    assert columns_of([grey], [grey]) == 4
    assert columns_of([rgba], [Format(np.dtype("uint8"), 1)]) == 4  # a word is four pixels


def test_what_loops_is_no_block() -> None:
    assert can_block(mean_of_three())
    build = Builder("count", [ImageInput("im", FLOAT)])
    param = Value(INT)
    body = Region((param,))
    with build.inside(body):
        more = build.emit("lt", param, build.y)
        body.results = (more, build.emit("add", param, build.constant(INT, 1)))
    (count,) = build.append("loop", [build.constant(INT, 0)], [INT], [body])
    assert not can_block(build.finish([build.emit("to_float", count)]))
