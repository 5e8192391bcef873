"""Pixels of four bytes as words: what blocks of them compute, and what stays bits."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from benchmarks.kernels import hsv
from conftest import require
from pygpu import Float, Image, Position, Vec4
from pygpu.core.interpret import compute
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks.rgba8 import block_of_rgba8, is_rgba8
from pygpu.passes.blocks.shapes import LARGEST, Shape
from pygpu.ssa import walk

SIZES = [(1, 1), (2, 3), (3, 4), (5, 17), (9, 70)]
BYTES = Format(np.dtype(np.uint8), 4)


def photo(size: tuple[int, int], channels: int = 4, seed: int = 3) -> NDArray[Any]:
    return np.random.default_rng(seed).integers(0, 256, (*size, channels), np.uint8)


def device(*, fused: bool) -> ComputeDevice:
    """One that takes pixels of four bytes by words, as hardware does."""
    made = ComputeDevice()
    made.dialect = replace(made.dialect, fused=fused)
    made.largest, made.is_software = LARGEST, False
    return made


def job_of(written: Any, *images: Any, dtype: str = "uint8", **kwargs: Any) -> Job:
    return Job.of(pygpu.compile(written, target="compute"), images, kwargs, None, dtype)


def compiled(job: Job, shape: Shape | None, *, fused: bool) -> Any:
    made = job.made
    return device(fused=fused).compile(made.task, shape)


def swapped(im: Image, p: Position):
    c = im(p)
    return Vec4(c.b, c.g, c.r, c.a)


def inverted(im: Image, p: Position):
    c = im(p)
    return Vec4(1 - c.r, c.g, 1 - c.b, c.a)


def faded(im: Image, p: Position):
    c = im(p)
    return Vec4(c.r, c.g, c.b, c.a * (p.x + 2 * p.y) / 200)


def blended(im: Image, other: Image, p: Position, share: Float):
    a, b = im(p), other(p)
    return Vec4(*(a * share + b * (1 - share)).xyz, a.a)


def constant(im: Image, p: Position):
    return Vec4(0.5, im(p).g, 1.5, -1.0)


EXACT = [swapped, inverted, constant]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("written", [*EXACT, faded])
def test_blocks_give_what_pixels_give(written: Any, fused: bool) -> None:
    require("compute")
    for size in SIZES:
        image = photo(size)
        job = job_of(written, image)
        program = compiled(job, None if size[1] > 4 else Shape(4, 1, 8, 4), fused=fused)
        assert "im_words" in program.source
        have = job.run(program)[0].host().astype(int)
        want = pygpu.compile(written, target="interpreter")(image, dtype="uint8")
        assert np.abs(have - want).max() <= (written not in EXACT), size


@pytest.mark.parametrize("fused", [False, True])
def test_functions_with_branches_and_numbers(fused: bool) -> None:
    require("compute")
    image = photo((7, 21))
    for shift in (0.0, 0.15, -3.7, np.nan):
        job = job_of(hsv, image, shift=shift)
        have = job.run(compiled(job, None, fused=fused))[0].host().astype(int)
        want = pygpu.compile(hsv, target="interpreter")(image, shift=shift, dtype="uint8")
        assert np.abs(have - want).max() <= 1
        np.testing.assert_array_equal(have[..., 3], image[..., 3])


@pytest.mark.parametrize("size", [(6, 20), (9, 13), (3, 40), (12, 2)])
def test_images_of_other_sizes_are_clamped_at_their_own_edges(size: tuple[int, int]) -> None:
    require("compute")
    image, other = photo((8, 19)), photo(size, seed=4)
    job = job_of(blended, image, other, share=0.25)
    have = job.run(compiled(job, None, fused=True))[0].host().astype(int)
    want = pygpu.compile(blended, target="interpreter")(image, other, share=0.25, dtype="uint8")
    assert np.abs(have - want).max() <= 1


def test_what_is_handed_on_stays_bits() -> None:
    function = job_of(inverted, photo((4, 4))).made.task.function
    blocked = block_of_rgba8(Task(function, [BYTES], [BYTES]), 1)
    codes = [op.code for op in walk(blocked.function.body)]
    assert (codes.count("bit_and"), codes.count("unorm8x4")) == (4, 4)
    whole = job_of(same, photo((4, 4))).made.task.function
    copied = block_of_rgba8(Task(whole, [BYTES], [BYTES]), 2).function
    assert not {"from_unorm8x4", "unorm8x4"} & {op.code for op in walk(copied.body)}


def same(im: Image, p: Position):
    return im(p)


def colour(im: Image, p: Position):
    return im(p).xyz


def red(im: Image, p: Position):
    return im(p).r


def near(im: Image, p: Position):
    return im(p) + im(p + (1, 0))


def test_others_are_left_alone() -> None:
    image = photo((4, 4))
    assert is_rgba8(job_of(swapped, image).made.task)
    others: list[tuple[Any, Any, str]] = [
        (near, image, "uint8"),
        (swapped, image.astype(np.float32), "uint8"),
        (swapped, image, "float32"),
        (swapped, image.astype(np.uint16), "uint16"),
        (swapped, pygpu.Image(image, boundary="reflect"), "uint8"),
        (colour, image, "uint8"),
        (red, image, "uint8"),
    ]
    for written, given, dtype in others:
        made = job_of(written, given, dtype=dtype).made
        assert not is_rgba8(made.task)


def test_words_are_taken_apart_and_put_together() -> None:
    word = int(np.array([0, 1, 128, 255], np.uint8).view(np.int32)[0])
    floats = compute("from_unorm8x4", None, [word])
    np.testing.assert_array_equal(floats, np.float32([0, 1, 128, 255]) / np.float32(255))
    assert compute("unorm8x4", None, [floats]) == word
