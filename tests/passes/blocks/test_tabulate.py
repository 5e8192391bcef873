"""Functions of a byte, whose results are looked up: which those are, and that nothing changes."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from glsl_validator import validate
from passes.blocks.test_lanes import job_of
from pygpu import Float, Image, Position, Vec3, Vec4
from pygpu.core.interpret import run
from pygpu.core.programs import Task, Work
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks.shapes import Shape
from pygpu.passes.blocks.tabulate import of_a_byte, pays
from pygpu.ssa import Function

Array = NDArray[Any]
SIZES = [(1, 1), (2, 40), (3, 2), (5, 16), (7, 17), (9, 31), (6, 32), (33, 70)]


def gamma(im: Image, p: Position, power: Float) -> Any:
    return im(p) ** power


def encoded(im: Image, p: Position) -> Any:
    value = im(p)
    if value <= 0.0031308:
        return 12.92 * value
    return 1.055 * value ** (1 / 2.4) - 0.055


def contrast(im: Image, p: Position) -> Any:
    return np.where(im(p) > 0.5, 1 / (1 + np.exp(6 - 12 * im(p))), 2 * im(p) * im(p))


def weighed(im: Image, p: Position) -> Any:
    parts = Vec3(im(p), 1 - im(p), 0.5) ** Vec3(2.2, 1.0, 0.5)
    return np.dot(parts, Vec3(0.5, 0.2, 0.1)) / (1 + im(p))


def negative(im: Image, p: Position) -> Any:
    return 1 - im(p)


def scalar_of(job: Job) -> Function | None:
    found = of_a_byte(job.made.task)
    return found.function if found is not None else None


def texels(height: int, width: int, channels: int) -> Array:
    """All bytes, in some order."""
    order = np.random.default_rng(0).permutation(height * width * channels) % 256
    return order.astype(np.uint8).reshape((height, width, channels)[: 3 if channels > 1 else 2])


def seen(image: Array) -> Array:
    """As functions see it."""
    return image.astype(np.float32) / np.float32(255)


@pytest.fixture
def device() -> ComputeDevice:
    """One that looks results up, whatever the driver."""
    require("compute")
    made = ComputeDevice()
    made.is_software = False
    return made


# ---------------------------------------------------------------- which functions


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_a_component_is_a_function_of_a_byte(channels: int) -> None:
    require("compute")
    image = texels(16, 16, channels)
    job = job_of(gamma, image, power=2.2)
    scalar = scalar_of(job)
    assert scalar is not None
    assert pays(scalar)
    (one,) = run(scalar, [seen(image.reshape(16, -1))], [2.2], (16, 16 * channels))
    function = job.made.task.function
    (every,) = run(function, [seen(image)], [2.2], (16, 16))
    np.testing.assert_array_equal(one.reshape(every.shape), every)


def test_light_functions_are_computed() -> None:
    require("compute")
    scalar = scalar_of(job_of(negative, texels(8, 8, 1)))
    assert scalar is not None
    assert not pays(scalar)


def near(im: Image, p: Position) -> Any:
    return im(p + (1, 0)) ** 2.2


def placed(im: Image, p: Position) -> Any:
    return im(p) ** 2.2 * p.x


def mixed(im: Image, p: Position) -> Any:
    return im(p) * np.dot(im(p), im(p)) ** 0.3


def swapped(im: Image, p: Position) -> Any:
    return im(p).bgr ** 2.2


def tinted(im: Image, p: Position) -> Any:
    return im(p) ** Vec3(1.0, 2.0, 3.0)


def by_colour(im: Image, p: Position, colour: Vec3) -> Any:
    return im(p) ** colour


def sized(im: Image, p: Position) -> Any:
    return im(p) ** (im.width / 8)


def repeated(im: Image, p: Position) -> Any:
    value = im(p)
    while value < 0.5:
        value = value * 1.5 + 0.01
    return value


@pytest.mark.parametrize("written", [near, placed, sized, repeated])
def test_what_depends_on_more_is_no_function_of_a_byte(written: Any) -> None:
    require("compute")
    assert scalar_of(job_of(written, texels(8, 8, 1))) is None


@pytest.mark.parametrize("written", [mixed, swapped, tinted])
def test_components_that_differ_are_no_functions_of_a_byte(written: Any) -> None:
    require("compute")
    assert scalar_of(job_of(written, texels(8, 8, 3))) is None


def test_other_images_and_results_are_no_bytes() -> None:
    require("compute")
    image = texels(8, 8, 1)
    assert scalar_of(job_of(gamma, image, power=2.2, dtype="float32")) is None
    assert scalar_of(job_of(gamma, image.astype(np.uint16), power=2.2, dtype="uint8")) is None
    assert scalar_of(job_of(by_colour, texels(8, 8, 3), colour=(1.0, 2.0, 3.0))) is None
    wrapped = Image(image, boundary="wrap")  # beyond the edge of which lie other bytes
    assert scalar_of(job_of(gamma, wrapped, power=2.2)) is None


# ---------------------------------------------------------------- the program


@pytest.mark.parametrize("threads", [(32, 4), (64, 1), (16, 16)])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_results_are_looked_up(channels: int, threads: tuple[int, int], device: Any) -> None:
    for size in SIZES:
        image = texels(*size, channels)
        job = job_of(contrast, image)
        function, inputs, outputs = (
            job.made.task.function, job.made.task.inputs, job.made.task.outputs
        )  # fmt: skip
        program = device.compile(Task(function, inputs, outputs), Shape(16, 4, *threads))
        assert "shared uint table[256]" in program.source
        for more in ((0, 0), (3, 0), (0, 21), (2, 5), (-1, -1)):  # images end before results do
            shape = max(1, size[0] + more[0]), max(1, size[1] + more[1])
            (found,) = program.run(Work(job.inputs, [], shape, [None]))
            (right,) = run(function, [seen(image)], [], shape)
            right = np.clip(right.reshape(*shape, channels), 0, 1) * 255
            assert np.abs(found.host() - right).max() <= 0.501


@pytest.mark.parametrize("written", [gamma, encoded, weighed])
@pytest.mark.parametrize("power", [0.45, 2.2])
def test_uniforms_branches_and_vectors_stay(written: Any, power: float, device: Any) -> None:
    image = texels(16, 16, 1)
    job = job_of(written, image, **({"power": power} if written is gamma else {}))
    made = job.made
    program = device.compile(made.task)
    assert "shared uint table[256]" in program.source
    (found,) = program.run(Work(job.inputs, job.uniforms, (16, 16), [None]))
    np.testing.assert_array_equal(found.host(), job.run()[0].host())


def with_alpha(im: Image, p: Position) -> Any:
    c = im(p)
    return Vec4(c.r**2.2, c.g**2.2, c.b**2.2, c.a)


def with_alpha_and_green(im: Image, p: Position) -> Any:
    return Vec4(im(p).r ** 1.7, im(p).g, *(im(p).ba ** 1.7))


def of_no_texel(im: Image, p: Position, power: Float) -> Any:
    value = 0.3**power
    return Vec4(value, value, value, im(p).a)


def test_what_is_beside_alpha_may_read_nothing(device: Any) -> None:
    image = texels(3, 9, 4)
    job = job_of(of_no_texel, image, power=2.0)
    made = job.made
    assert of_a_byte(made.task) is None
    program = device.compile(made.task)
    (have,) = program.run(Work(job.inputs, job.uniforms, (3, 9), [None]))
    assert (have.host()[..., :3] == 23).all()
    np.testing.assert_array_equal(have.host()[..., 3], image[..., 3])


def with_other_alpha(im: Image, p: Position) -> Any:
    return Vec4(*(im(p).rgb ** 2.2), im(p).r)


@pytest.mark.parametrize(
    ("written", "kept"),
    [(with_alpha, {3}), (with_alpha_and_green, {1}), (contrast, set()), (with_other_alpha, None)],
)
def test_components_that_are_handed_on_are_kept(written: Any, kept: Any, device: Any) -> None:
    image = texels(9, 33, 4)
    job = job_of(written, image)
    made = job.made
    found = of_a_byte(made.task)
    assert (None if found is None else found.kept) == kept
    program = device.compile(made.task)
    assert ("shared uint table[256]" in program.source) == (kept is not None)
    (have,) = program.run(Work(job.inputs, [], (9, 33), [None]))
    (right,) = run(made.task.function, [seen(image)], [], (9, 33))
    assert np.abs(have.host() - 255 * np.clip(right, 0, 1)).max() <= 0.501
    for place in kept or ():
        np.testing.assert_array_equal(have.host()[..., place], image[..., place])


def expression(random: Random, depth: int, is_grey: bool) -> str:
    """A random expression of a texel `v`, in [0, 1] or not far from it."""
    if depth == 0:
        return random.choice(["v", "v", "1 - v", str(round(random.random(), 2))])
    a, b, c = [expression(random, depth - 1, is_grey) for _ in range(3)]
    forms = [
        f"({a} + {b}) / 2", f"({a} - {b})", f"{a} * ({b})", f"({a}) / (1.5 + abs({b}))",
        f"abs({a}) ** 1.7", f"np.sqrt(abs({a}))", f"np.exp(-abs({a}))", f"np.maximum({a}, {b})",
        f"np.where({a} > {b}, {c}, {a})", f"np.clip({a}, 0.1, 0.9)",
    ]  # fmt: skip
    if is_grey:
        forms += [
            f"np.dot(Vec3({a}, {b}, {c}), Vec3(0.5, 0.3, 0.2))",
            f"(Vec3({a}, 0.5, {b}) * Vec3(0.5, 1.0, 0.25)).zxy.x",
            f"max(Vec3({c}, 0.1, {a}))",
            f"({a} if v < 0.4 else {b})",
        ]
    return f"({random.choice(forms)})"


@pytest.mark.parametrize("channels", [1, 3])
def test_random_functions_of_a_byte_are_right(channels: int, device: Any) -> None:
    image, tables = texels(16, 16, channels), 0
    for seed in range(40):
        text = expression(Random(seed), 3, channels == 1)
        names: dict[str, Any] = {"np": np, "Vec3": Vec3, "Image": Image, "Position": Position}
        exec(f"def made(im: Image, p: Position):\n    v = im(p)\n    return v * 0 + {text}", names)
        made = job_of(names["made"], image).made
        function = made.task.function
        program = device.compile(Task(function, made.task.inputs, made.task.outputs))
        tables += "shared uint table[256]" in program.source
        (found,) = program.run(Work([pygpu.Image(image).storage], [], (16, 16), [None]))
        (right,) = run(function, [seen(image)], [], (16, 16))
        right = 255 * np.clip(right.reshape(found.host().shape), 0, 1)
        assert np.abs(found.host() - right).max() <= 0.51, text
    assert tables >= 20


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("channels", [1, 3])
def test_texts_are_valid(channels: int, fused: bool, device: Any, tmp_path: Any) -> None:
    device.dialect = replace(device.dialect, fused=fused, narrow=True)
    made = job_of(contrast, texels(8, 8, channels)).made
    source = device.compile(made.task).source
    validate([source], tmp_path, "comp")


def test_software_computes(tmp_path: Any) -> None:
    require("compute")
    device = ComputeDevice()
    made = job_of(gamma, texels(8, 8, 1), power=2.2).made
    source = device.compile(made.task).source
    assert ("table[" not in source) == device.is_software
