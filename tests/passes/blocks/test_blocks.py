"""Blocks of pixels compute what single pixels do: at every size, boundary, type and shape."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import ndimage

import pygpu
from conftest import require
from pygpu import Image, Position, Vec2, offsets
from pygpu.codegen.glsl.compute import block_program
from pygpu.core import interpret
from pygpu.core.builder import Builder
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.core.storage import texels as texels_of
from pygpu.devices import targets
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.block import Cut, block, can_block, columns_of
from pygpu.passes.lower.fuse import fuse
from pygpu.ssa import BOUNDARIES, ImageInput, Region, Value, walk
from pygpu.types import FLOAT, INT, Type

WEIGHTS = np.random.default_rng(5).normal(size=(5, 5)).astype(np.float32)
DTYPES = ("uint8", "int16", "uint16", "float16", "int32", "float32")


def filtered(kernel: Any, im: Image, p: Position) -> Any:
    return sum([w * im(p + d) for w, d in zip(np.ravel(kernel), offsets(kernel), strict=True)])


def neighbours(im: Image, p: Position) -> Any:
    return im(p) + 2 * im(p + (1, 0)) - im(p - (2, 1)) + (im(p + (0, 2)) if p.x > 1 else im(p))


def chosen(im: Image, p: Position) -> Any:
    mixed = filtered(WEIGHTS, im, p)
    return np.exp(mixed * 0.01) if im(p - (0, 2)).r > 0.5 else np.exp(mixed * 0.02)


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


@pytest.mark.parametrize("boundary", ["nearest", "constant", "mirror"])
@pytest.mark.parametrize("dx", [0, 1, 3])
@pytest.mark.parametrize("dy", [0, 1])
def test_images_of_other_sizes_are_read_at_their_own_edges(
    target: str, dy: int, dx: int, boundary: str
) -> None:
    def both(im: Image, other: Image, p: Position) -> Any:
        return im(p) + 2 * other(p - (dx, dy)) + 4 * other(p + (dx, 0))

    compiled = pygpu.compile(both, target=target)
    exact = pygpu.compile(both, target="interpreter")
    generator = np.random.default_rng(8)
    image = generator.random((6, 13), np.float32)
    for size in ((6, 13), (6, 12), (5, 13), (3, 16), (9, 8), (1, 1), (7, 20)):
        other = pygpu.Image(generator.random(size, np.float32), boundary=boundary)
        np.testing.assert_allclose(compiled(image, other), exact(image, other), atol=1e-6)


def test_choices_wait_for_what_they_read() -> None:
    require("compute")
    device = ComputeDevice()
    device.dialect, device.is_software = replace(device.dialect, fused=True), False
    colours = Format(np.dtype("float32"), 4)
    texels = np.random.default_rng(9).random((9, 14, 4), np.float32)
    compiled = pygpu.compile(chosen, target="interpreter")
    function = Job.of(compiled, (texels,), {}).made.task.function
    assert can_block(function)
    for shape in shapes.CANDIDATES:
        program = device.compile(Task(function, [colours], [colours]), shape)
        (have,) = program.run(Work([Storage.of(texels)], [], texels.shape[:2], [None]))
        np.testing.assert_allclose(have.host(), compiled(texels), rtol=2e-5)


def in_nested_branches(im: Image, p: Position):
    near, far = im(p), np.sin(im(p + (0, 3)))
    if near > 0.3:
        return far if near > 0.7 else np.exp(np.sin(np.cos(near)))
    return np.cos(np.sin(np.exp(near)))


def at_what_branches_leave(im: Image, other: Image, p: Position):
    near = im(p)
    n = int(np.exp(near))
    if near > 0.3:
        k = n if near > 0.7 else int(np.exp(np.sin(np.cos(near))))
    else:
        k = int(np.cos(np.sin(np.exp(near))))
    return other(Position(p.x + min(max(k, 0), 3) // 4, p.y)) + near


@pytest.mark.parametrize("written", [in_nested_branches, at_what_branches_leave])
def test_what_nested_branches_hand_on_is_there_before(written: Any, target: str) -> None:
    image = np.random.default_rng(1).random((12, 31)).astype(np.float32)
    images = (image,) if written is in_nested_branches else (image, image)
    want = pygpu.compile(written, target="interpreter")(*images)
    have = pygpu.compile(written, target=target)(*images)
    np.testing.assert_allclose(have, want, atol=1e-5)


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
            program = device.compile(Task(function, [format], [format]), shape)  # type: ignore[call-arg]
            results.append(program.run(Work([Storage.of(texels)], [], (19, 37), [None]))[0].host())
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
        device.dialect, device.is_software = replace(device.dialect, fused=fused), False
        program = device.compile(Task(fuse(function), [format], [format]))
        assert ("fma" in program.source) == fused
        results.append(program.run(Work([Storage.of(texels)], [], (9, 23), [None]))[0].host())
    ties = 1 if format.dtype.kind == "u" else 0  # may go either way
    np.testing.assert_allclose(results[1].astype(float), results[0], rtol=1e-6, atol=ties)


def test_only_sums_and_quotients_are_precise() -> None:
    require("compute")
    device = ComputeDevice()
    device.dialect, device.is_software = replace(device.dialect, fused=True), False
    grey = Format(np.dtype("float32"), 1)
    build = Builder("sums", [ImageInput("im", FLOAT)])
    a, b = build.load(0, build.x, build.y), build.load(0, build.x, build.y, dx=1)
    product = build.emit("mul", a, b)  # used twice: what is added to it may not take it in
    total = build.emit("add", product, a)
    outputs = [
        build.emit("sqrt", total),
        build.emit("sqrt", product),
        build.emit("div", product, b),
    ]
    source = device.compile(Task(build.finish(outputs), [grey], [grey] * 3)).source
    main = source[source.index("void main") :].splitlines()
    roots = [line for line in main if "sqrt" in line]
    sums = [line for line in main if "+ texel" in line]
    assert roots
    assert sums
    assert not any("precise" in line for line in roots)
    assert all("precise" in line for line in sums)
    assert "precise vec4 result2" in source  # of quotients


def test_high_powers_in_a_sum_take_no_time_to_print() -> None:
    """What a product is made of is looked at once, not once a way to it."""
    require("compute")
    device = ComputeDevice()
    device.dialect = replace(device.dialect, fused=True)
    grey = Format(np.dtype("float32"), 1)
    build = Builder("powers", [ImageInput("im", FLOAT)])
    a = power = build.load(0, build.x, build.y)
    for _ in range(60):
        power = build.emit("mul", power, power)
    total = build.emit("add", build.emit("mul", a, build.constant(FLOAT, 2.0)), power)
    source = device.compile(Task(build.finish([total]), [grey], [grey])).source
    assert "precise float" in source or "precise vec4" in source


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("dtype", ["uint8", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_programs_for_hardware_are_exact_at_every_edge(
    channels: int, dtype: str, boundary: str
) -> None:
    require("compute")
    device = ComputeDevice()
    device.dialect, device.is_software = replace(device.dialect, fused=True), False
    stored, made = Format(np.dtype(dtype), channels), Format(np.dtype("float32"), channels)
    for reach in (0, 1, 2, 4):  # left and right: as many pixels one by one, or all at once
        function = window(boundary, stored.type, reach)
        program = device.compile(Task(function, [stored], [made]))
        for height, width in product((1, 2, 5), range(1, 15)):
            texels = np.random.default_rng(width).random((height, width, channels))
            image = Storage.of((100 * texels).astype(dtype))
            seen = [as_seen(image.host(), stored)]
            for size in {(height, width), (5, 7)}:  # images may be smaller or larger than results
                (want,) = interpret.run(function, seen, [], size)
                (have,) = program.run(Work([image], [], size, [None]))
                np.testing.assert_allclose(have.host(), want.reshape(have.host().shape), rtol=1e-5)


def window(boundary: str, type: Type, reach: int) -> Any:
    """A sum of the pixels around, weighted differently; as far above and below at most as 1."""
    build = Builder("window", [ImageInput("im", type)])
    cval = (0.5,) * type.size if boundary == "constant" else ()
    total = build.load(0, build.x, build.y, boundary, cval)
    for index, (dy, dx) in enumerate(product((-1, 0, 1), range(-reach, reach + 1))):
        near = {"dx": dx, "dy": dy * min(reach, 1)}
        texel = build.load(0, build.x, build.y, boundary, cval, **near)
        weight = 0.25 + index / 8
        weights = build.constant(type, weight if type.is_scalar else (weight,) * type.size)
        total = build.emit("add", total, build.emit("mul", texel, weights))
    return build.finish([total])


def as_seen(array: Any, format: Format) -> Any:
    seen = texels_of(array, format)
    return seen[..., 0] if format.channels == 1 else seen


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
    blocked = block(Task(mean_of_three("reflect"), [GREY], [GREY]), Cut(4, 1))
    inside = loads(blocked.function)[:3]
    assert sorted(inside) == [("im", -1), ("im", 4), ("im4", 0)]
    assert blocked.views == (0,)
    assert blocked.inputs == (GREY, Format(np.dtype("float32"), 4))
    assert (blocked.texels, blocked.outputs[0].channels) == ((1,), 4)


def test_few_pixels_beside_the_block_are_read_there_at_the_left_edge_too() -> None:
    blocked = block(Task(mean_of_three("nearest"), [GREY], [GREY]), Cut(4, 1))
    (branch,) = [op for op in blocked.function.body.ops if op.code == "if"]
    tests = [op.code for op in blocked.function.body.ops]
    assert "ge" not in tests
    assert tests.count("lt") == 1
    assert [op.code for op in branch.regions[0].ops].count("load") == 3


def test_rows_share_what_they_read() -> None:
    one, four = (block(Task(mean_of_three(), [GREY], [GREY]), Cut(4, rows)) for rows in (1, 4))
    assert len(loads(four.function)) == 4 * len(loads(one.function))  # each row by itself
    build = Builder("down", [ImageInput("im", FLOAT)])
    above, below = (build.load(0, build.x, build.y, dy=dy) for dy in (-1, 1))
    down = build.finish([build.emit("add", above, below)])
    blocked = block(Task(down, [GREY], [GREY]), Cut(4, 4))
    inside = [dx for name, dx in loads(blocked.function) if name == "im4"]
    assert len(inside) == 6  # rows y - 1 to y + 4


@pytest.mark.parametrize("columns", [1, 4])
def test_what_shares_nothing_is_read_before_anything_else(columns: int) -> None:
    build = Builder("light", [ImageInput("im", FLOAT)])
    texel = build.load(0, build.x, build.y)
    light = build.finish([build.emit("mul", texel, build.emit("sin", texel))])
    blocked = block(Task(light, [GREY], [GREY]), Cut(columns, 2, ahead=True))
    codes = [op.code for op in walk(blocked.function.body) if op.code in ("load", "sin")]
    side = ["load"] * 2 + ["sin"] * 2 * columns  # sin of four pixels is one of each
    assert codes[: len(side)] == side
    text = block_program(blocked, early=False).text
    before = text.split("void main()")[1].split("result_data[")[0]  # the first that is stored
    assert before.count(" texel") == 2


def test_images_of_four_channels_take_one_column() -> None:
    rgba, grey, byte = Format(np.dtype("float32"), 4), GREY, Format(np.dtype("uint8"), 1)
    near = mean_of_three()
    assert columns_of(Task(near, [rgba], [rgba]), False) == 1
    assert columns_of(Task(near, [grey], [grey]), False) == 4
    assert columns_of(Task(near, [rgba], [byte]), False) == 4  # a word is four pixels


def test_what_reads_nothing_near_takes_one_column() -> None:
    build = Builder("turned", [ImageInput("image", FLOAT)])
    turned = build.finish([build.load(0, build.y, build.x)])
    assert columns_of(Task(turned, [GREY], [GREY]), False) == 1
    assert columns_of(Task(turned, [GREY], [Format(np.dtype("uint8"), 1)]), False) == 4


@pytest.mark.parametrize(("far", "columns"), [(1, 4), (8, 4), (9, 1)])
def test_what_reads_much_far_away_takes_one_column(far: int, columns: int) -> None:
    build = Builder("mixed", [ImageInput("image", FLOAT), ImageInput("weights", FLOAT)])
    total = build.load(0, build.x, build.y)
    for k in range(far):  # places that are known are the same for all pixels
        place = build.emit("add", build.y, build.constant(INT, k))
        known = build.load(1, build.constant(INT, k), build.constant(INT, 0))
        total = build.emit("add", total, build.emit("mul", known, build.load(0, place, build.x)))
    mixed = build.finish([total])
    byte = Format(np.dtype("uint8"), 1)
    assert columns_of(Task(mixed, [GREY, GREY], [GREY]), False) == columns
    assert columns_of(Task(mixed, [byte, GREY], [byte]), False) == 4
    assert columns_of(Task(mixed, [byte, GREY], [byte]), True) == columns


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
