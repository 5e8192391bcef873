"""Results that groups keep and store side by side are those that threads store by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Image, Position, Vec3, Volume
from pygpu.codegen.glsl.gathered import SHARED
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices import targets
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks import shapes

SIZES = ((1, 1), (3, 5), (33, 65), (20, 259))


def scaled(im: Image, p: Position):
    return im(p) * Vec3(1.5, 0.5, 0.25)


def mixed(im: Image, p: Position):
    return im(p) * 0.5 + im(p + (1, 2)) * 0.5


def several(im: Image, p: Position):
    near = im(p)
    return near * 2.0, near.x, near.zyx + im(p + (0, 1))


def device(gathers: bool) -> ComputeDevice:
    require("compute")
    made = ComputeDevice()
    made.dialect = replace(made.dialect, gathers=gathers)
    return made


def photograph(size: tuple[int, int], channels: int, dtype: str) -> Any:
    texels = np.random.default_rng(3).random((*size, channels)) * 0.6
    return (texels * np.iinfo(dtype).max if np.dtype(dtype).kind == "u" else texels).astype(dtype)


def results(on: ComputeDevice, task: Task, texels: Any, shape: Any = None) -> Sequence[Any]:
    made = on.compile(task, shape)
    work = Work([Storage.of(texels)], [], texels.shape[:2], [None] * len(task.outputs))
    return [storage.host() for storage in made.run(work)]


def task_of(function: Any, texels: Any, dtype: str) -> Task:
    compiled = pygpu.compile(function, target="interpreter")
    task = Job.of(compiled, (texels,), {}).made.task
    outputs = [Format(np.dtype(dtype), output.channels) for output in task.outputs]
    return replace(task, outputs=outputs)


@pytest.mark.parametrize("dtype", ["float32", "uint8", "float16", "int32", "uint16"])
@pytest.mark.parametrize("given", ["float32", "uint8"])
@pytest.mark.parametrize("function", [scaled, mixed, several])
def test_they_are_those_of_threads_by_themselves(function: Any, given: str, dtype: str) -> None:
    gathering, plain = device(True), device(False)
    for size in SIZES:
        texels = photograph(size, 3, given)
        task = task_of(function, texels, dtype)
        assert "barrier();" in gathering.compile(task).source
        assert "barrier();" not in plain.compile(task).source
        have, want = results(gathering, task, texels), results(plain, task, texels)
        for one, other in zip(have, want, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(size))


@pytest.mark.parametrize("channels", [3, 4])
def test_in_every_shape_of_groups(channels: int) -> None:
    gathering, plain = device(True), device(False)
    texels = photograph((21, 70), channels, "float32")
    task = task_of(mixed, texels, "float32")
    for shape in shapes.CANDIDATES:
        (have,), (want,) = (results(on, task, texels, shape) for on in (gathering, plain))
        np.testing.assert_array_equal(have, want, err_msg=str(shape))


def test_what_a_group_cannot_hold_threads_store_by_themselves() -> None:
    task = task_of(scaled, photograph((8, 8), 3, "float32"), "float32")
    gathering = device(True)
    for shape in shapes.CANDIDATES:
        columns, rows, *threads = (shape.columns, shape.rows, *shape.threads)
        needed = 12 * columns * rows * int(np.prod(threads))
        assert ("barrier();" in gathering.compile(task, shape).source) == (needed <= SHARED)


def test_elements_that_already_lie_side_by_side_are_not_kept() -> None:
    texels = photograph((8, 8), 1, "float32")

    def doubled(im: Image, p: Position):
        return im(p) * 2.0

    assert "barrier();" not in device(True).compile(task_of(doubled, texels, "float32")).source


def test_what_computes_for_long_or_reads_anywhere_alone_stores_by_itself() -> None:
    def long(im: Image, p: Position):
        return sum(im(p) ** k for k in (0.3, 0.4, 0.7, 1.3)) * 0.25

    def anywhere(im: Image, p: Position):
        return im((p.y, p.x))

    on = device(True)
    on.is_software = False  # whose blocks differ
    texels = photograph((8, 8), 3, "float32")
    for function, is_kept in ((scaled, True), (long, False), (anywhere, False)):
        source = on.compile(task_of(function, texels, "float32")).source
        assert ("barrier();" in source) == is_kept, function.__name__


def test_planes_of_volumes(monkeypatch: pytest.MonkeyPatch) -> None:
    require("compute")
    on = targets.open_device("compute")
    monkeypatch.setattr(on, "dialect", replace(on.dialect, gathers=True))
    scan = np.random.default_rng(4).random((3, 9, 21, 3), np.float32)

    def across(v: Volume, p: Position):
        return v(p + (1, 0, 1)) - v(p) * 0.5

    compiled = pygpu.compile(across, target="compute")
    assert "_kept" in compiled.lower(Volume(scan)).source
    want = np.asarray(pygpu.compile(across, target="cpu")(Volume(scan)))
    np.testing.assert_allclose(np.asarray(compiled(Volume(scan))), want, atol=1e-6)
