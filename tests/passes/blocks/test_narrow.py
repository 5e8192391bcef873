"""Buffers with elements of 8 and 16 bits: programs that read and write these compute what those of
words do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from pygpu import Image, Position, Vec2
from pygpu.codegen.glsl.buffers import element_bytes, row_bytes
from pygpu.codegen.glsl.compute import PLAIN, ComputeProgram, block_program, pixel_program
from pygpu.codegen.glsl.writer import NARROW_BUFFERS
from pygpu.core.builder import Builder
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks.block import Cut, block, columns_of
from pygpu.passes.lower.boundary import lower_boundary
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.ssa import Function, ImageInput, walk

Array = NDArray[Any]
DTYPES = ("bool", "uint8", "int16", "uint16", "float16")
NARROW_DIALECT = replace(PLAIN, narrow=True)


def formats() -> list[Format]:
    """Those of which a pixel is an element."""
    every = [Format(np.dtype(dtype), channels) for dtype in DTYPES for channels in (1, 2)]
    return [format for format in every if format.nbytes < 3]


def texels_of(format: Format, size: tuple[int, int]) -> Array:
    generator = np.random.default_rng(6)
    if format.dtype.kind == "f":
        return generator.normal(size=(*size, format.channels)).astype(format.dtype)
    limits = (0, 1) if format.dtype.kind == "b" else np.iinfo(format.dtype)
    low, high = limits if isinstance(limits, tuple) else (limits.min, limits.max)
    texels = generator.integers(low, high, (*size, format.channels), endpoint=True)
    return texels.astype(format.dtype)


def transposed(format: Format) -> Function:
    build = Builder("transposed", [ImageInput("im", format.type)])
    return build.finish([build.load(0, build.y, build.x)])


# ---------------------------------------------------------------- the text, on any driver


def run_widely(program: ComputeProgram, format: Format, texels: Array) -> Array:
    """What a program for narrow buffers computes where each element takes four bytes."""
    element = element_bytes(format, True)
    height, width, channels = texels.shape
    elements = row_bytes(format, width) // element
    wide = np.zeros((height, elements), np.uint32)
    kind = {1: np.uint8, 2: np.uint16}[element]
    wide[:, :width] = texels.view(kind).reshape(height, width)
    text = program.text.replace(f"#extension {NARROW_BUFFERS} : require\n", "")
    text = text.replace("uint8_t", "uint").replace("uint16_t", "uint")
    with opengl.context() as gl:
        shader = gl.gl.compute_shader(text)
        source = gl.gl.buffer(wide.tobytes())
        target = gl.gl.buffer(reserve=4 * width * row_bytes(format, height) // element)
        source.bind_to_storage_buffer(0)
        target.bind_to_storage_buffer(1)
        shader["im_size"].value = width, height, elements
        shader["result_size"].value = height, width, row_bytes(format, height) // element
        group = program.columns * program.threads[0], program.rows * program.threads[1]
        shader.run(-(-height // group[0]), -(-width // group[1]), 1)
        gl.gl.memory_barrier()
        words = np.frombuffer(target.read(), np.uint32).reshape(width, -1)[:, :height]
        for each in (shader, source, target):
            each.release()
    return words.astype(kind).view(format.dtype).reshape(width, height, channels)


@pytest.mark.parametrize("format", formats(), ids=str)
@pytest.mark.parametrize("rows", [0, 1, 4])
def test_pixels_of_narrow_buffers_are_elements(rows: int, format: Format) -> None:
    """In blocks of one column and some rows, or (0) one by one."""
    require("compute")
    function = transposed(format)
    assert columns_of(Task(function, [format], [format]), narrow=True) == 1
    if rows:
        blocked = block(Task(function, [format], [format]), Cut(1, rows, narrow=True))
        program = block_program(blocked, dialect=NARROW_DIALECT)
    else:
        lowered = apply(CLEAN, lower_boundary(function))
        program = pixel_program(Task(lowered, [format], [format]), dialect=NARROW_DIALECT)
    assert program.columns == 1
    assert f"#extension {NARROW_BUFFERS} : require" in program.text
    texels = texels_of(format, (6, 11))
    np.testing.assert_array_equal(run_widely(program, format, texels), texels.transpose(1, 0, 2))


def test_pixels_of_other_sizes_take_words() -> None:
    for dtype, channels in (("uint16", 3), ("uint8", 4), ("uint16", 2), ("float32", 1)):
        format = Format(np.dtype(dtype), channels)
        program = pixel_program(
            Task(lower_boundary(transposed(format)), [format], [format]), dialect=NARROW_DIALECT
        )
        assert NARROW_BUFFERS not in program.text


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_colours_of_bytes_that_are_read_anywhere_are_elements(dtype: str) -> None:
    format = Format(np.dtype(dtype), 3)
    seen = Format(np.dtype("float32" if dtype == "uint8" else "int32"), 4)
    build = Builder("turned", [ImageInput("im", format.type)])
    texel = build.load(0, build.y, build.x, boundary="inside")
    value = build.emit("swizzle", texel, data=(0, 1, 2, 0))
    turned = pixel_program(Task(build.finish([value]), [format], [seen]), dialect=NARROW_DIALECT)
    assert f"#extension {NARROW_BUFFERS} : require" in turned.text
    assert [nbytes for _, nbytes in turned.image_sizes] == [1]
    build = Builder("own", [ImageInput("im", format.type)])
    own = build.finish([build.load(0, build.x, build.y, boundary="inside")])
    near = pixel_program(Task(own, [format], [format]), dialect=NARROW_DIALECT)
    assert NARROW_BUFFERS not in near.text
    texels = texels_of(format, (6, 11))
    with opengl.context() as gl:
        text = turned.text.replace(f"#extension {NARROW_BUFFERS} : require\n", "")
        shader = gl.gl.compute_shader(text.replace("uint8_t", "uint"))
        wide = np.ascontiguousarray(texels.view(np.uint8).reshape(6, 33).astype(np.uint32))
        source = gl.gl.buffer(wide.tobytes())
        target = gl.gl.buffer(reserve=11 * 6 * 16)
        source.bind_to_storage_buffer(0)
        target.bind_to_storage_buffer(1)
        shader["im_size"].value = 11, 6, 33
        shader["result_size"].value = 6, 11, 6
        shader.run(1, 11, 1)
        gl.gl.memory_barrier()
        found = np.frombuffer(target.read(), seen.dtype).reshape(11, 6, 4)
    expected = texels.transpose(1, 0, 2)
    if dtype == "uint8":
        expected = expected.astype(np.float32) / np.float32(255)
    np.testing.assert_array_equal(found[..., :3], expected)


def test_pixels_beside_a_block_are_elements_too() -> None:
    build = Builder("near", [ImageInput("im", Format(np.dtype("uint8"), 1).type)])
    sides = [build.load(0, build.x, build.y, dx=dx, boundary="nearest") for dx in (-1, 1)]
    function = build.finish([build.emit("add", *sides)])
    grey = Format(np.dtype("uint8"), 1)
    task = Task(function, [grey], [grey])
    narrow, words = (block(task, Cut(4, 1, narrow=each)) for each in (True, False))
    texels = [
        sum(op.code == "load" and op.data.image == 1 for op in walk(made.function.body))
        for made in (narrow, words)
    ]
    assert texels == [1, 3]  # of the view: parts of those at the sides where pixels share words


# ---------------------------------------------------------------- drivers that have them


def spread(im: Image, p: Position) -> Any:
    return (im(p - (1, 0)) + im(p + (2, 1)) + im(p)) / 3


def pair(im: Image, p: Position) -> Any:
    value = im(Position(p.y, p.x))
    return value, Vec2(value, 1 - value)


def counted(im: Image, p: Position) -> Any:
    total, k = 0.0, 0
    while k < p.x % 5:
        total, k = total + im(p + (k, 1)), k + 1
    return total / 5


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("written", [spread, pair, counted])
def test_narrow_and_whole_words_give_the_same_bits(written: Any, dtype: str) -> None:
    require("compute")
    narrow = ComputeDevice()
    if not narrow.dialect.narrow:
        pytest.skip(f"this driver has no {NARROW_BUFFERS}")
    words = ComputeDevice()
    words.dialect = replace(words.dialect, narrow=False)
    compiled = pygpu.compile(written, target="compute")
    for size in ((1, 1), (3, 2), (7, 16), (9, 23), (40, 67)):
        texels = (np.random.default_rng(7).random(size) * 100).astype(dtype)
        job = Job.of(compiled, (texels,), {}, None, dtype)
        function = job.made.task.function
        one, other = (
            job.run(device.compile(Task(function, job.made.task.inputs, job.made.task.outputs)))
            for device in (narrow, words)
        )
        for first, second in zip(one, other, strict=True):
            np.testing.assert_array_equal(first.host(), second.host())
