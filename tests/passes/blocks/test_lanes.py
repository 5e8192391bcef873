"""Bytes that are computed two at a time: exact in lanes, and as elsewhere where these end."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import pygpu
from conftest import require
from glsl_validator import validate
from pygpu import Float, Image, Position
from pygpu.codegen.glsl.compute import block_program
from pygpu.codegen.glsl.writer import Dialect
from pygpu.core.interpret import compute, run
from pygpu.core.programs import Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl.compute import ComputeDevice
from pygpu.devices.opengl.driver.limits import has_fast_float16
from pygpu.execution.inspection.profile import Job
from pygpu.passes.blocks import shapes
from pygpu.passes.blocks.columns import by_columns
from pygpu.passes.blocks.exact import Exact, is_exact
from pygpu.passes.blocks.lanes import lanes
from pygpu.passes.blocks.shapes import LARGEST, Shape
from pygpu.passes.lower.nans import without_nans
from pygpu.ssa import Function, walk

Array = NDArray[Any]
BYTE = Format(np.dtype(np.uint8), 1)
SIZES = [(1, 1), (2, 40), (3, 2), (5, 16), (7, 17), (9, 31), (6, 32), (33, 70)]
ONE_ROW = Shape(16, 1, 32, 4)  # less to compile
AROUND = [(dx, dy) for dy in (-1, 0, 1) for dx in (-1, 0, 1)]


def device(*, fused: bool = True) -> ComputeDevice:
    """One that computes bytes two at a time, whatever the driver."""
    made = ComputeDevice()
    made.dialect = replace(made.dialect, lanes=True, fused=fused)
    made.largest = LARGEST
    return made


def job_of(written: Any, *images: Any, dtype: str = "uint8", **kwargs: Any) -> Job:
    compiled = pygpu.compile(written, target="interpreter")  # no driver is asked for a program
    return Job.of(compiled, images, kwargs, None, dtype)


def function_of(written: Any, *images: Any, **kwargs: Any) -> Function:
    made = job_of(written, *images, **kwargs).made
    return without_nans(made.task.function, made.task.inputs)


def photo(size: tuple[int, int], seed: int = 3) -> Array:
    return np.random.default_rng(seed).integers(0, 256, size, np.uint8)


def is_laned(source: str) -> bool:
    return "pg_lanes" in source


# ---------------------------------------------------------------- operations


def word(low: int, high: int) -> Array:
    return (np.array([low, high], np.float64) * 2.0**-24).astype(np.float16).view(np.int32)[0]


@pytest.mark.parametrize(
    ("code", "meaning"),
    [
        ("lanes_add", lambda a, b: a + b),
        ("lanes_sub", lambda a, b: a - b),
        ("lanes_min", min),
        ("lanes_max", max),
    ],
)
def test_lanes_hold_whole_numbers(code: str, meaning: Callable[[int, int], int]) -> None:
    numbers = [-1024, -1023, -255, -1, 0, 1, 2, 255, 1000, 1024]
    for a in numbers:
        for b in numbers:
            want = word(meaning(a, b), meaning(b, a))
            assert compute(code, None, [word(a, b), word(b, a)]) == want


def test_lanes_are_multiplied_and_taken_apart() -> None:
    three = np.array([3, 3], np.float16).view(np.int32)[0]
    assert compute("lanes_fma", None, [word(-5, 600), three, word(7, 248)]) == word(-8, 2048)
    assert compute("lanes_abs", None, [word(-2048, 9)]) == word(2048, 9)
    assert compute("lanes_join", None, [word(1, 2), word(3, 4)]) == word(2, 3)
    assert compute("lane_low", None, [word(-7, 2047)]) == -7 * 2.0**-24
    assert compute("lane_high", None, [word(-7, 2047)]) == 2047 * 2.0**-24
    four = np.array([0.0, 0.5, 2.0, np.nan], np.float32)
    assert compute("unorm8x4", None, [four]) == 0x00FF8000


def test_bytes_are_halves_as_they_stand() -> None:
    assert [word(n, 255 - n) for n in range(256)] == [n | (255 - n) << 16 for n in range(256)]


# ---------------------------------------------------------------- what is exact


def median(im: Image, p: Position):
    return np.median([im(p + d) for d in AROUND])


def opened(im: Image, p: Position):
    low = 1.0
    for d in AROUND:
        low = min(low, im(p + d))
    return max(low, im(p + (2, 0)))


def laplacian(im: Image, p: Position):
    return 8 * im(p) - sum([im(p + d) for d in AROUND if d != (0, 0)])


def wide(im: Image, p: Position):
    return abs(im(p - (5, 0)) + im(p + (9, 2)) - im(p - (0, 3)) - im(p + (17, 0)))


def inverted(im: Image, p: Position):
    return 1.0 - max(im(p), im(p + (0, 1)), im(p - (3, 0)))


def sobel(im: Image, p: Position):
    gx = sum([dx * (2 - abs(dy)) * im(p + (dx, dy)) for dx, dy in AROUND])
    gy = sum([dy * (2 - abs(dx)) * im(p + (dx, dy)) for dx, dy in AROUND])
    return np.sqrt(gx**2 + gy**2)


def mean(im: Image, p: Position, gain: Float = 1.25):
    total = sum([im(p + d) for d in AROUND[:8]])
    return total / 8 * gain + 0.01 * (p.x % 7)


def placed(im: Image, p: Position):
    low = min([im(p + d) for d in AROUND])
    return low if p.y > 2 else im(p) * im(p)


def gaussian(im: Image, p: Position):
    return sum([(2 - abs(dx)) * (2 - abs(dy)) * im(p + (dx, dy)) for dx, dy in AROUND]) / 16


def weighted(im: Image, p: Position):
    return sum([0.1 * im(p + d) for d in AROUND]) + 0.05


def scharr(im: Image, p: Position):
    gx = sum([dx * (10, 3)[abs(dy)] * im(p + (dx, dy)) for dx, dy in AROUND])
    gy = sum([dy * (10, 3)[abs(dx)] * im(p + (dx, dy)) for dx, dy in AROUND])
    return np.hypot(gx, gy) / 4


def tall(im: Image, p: Position):
    return sum([im(p + (dx, dy)) for dy in range(-6, 7) for dx in (-4, 0, 3)]) / 39


def unsharp(im: Image, p: Position):
    row = (1, 4, 6, 4, 1)
    taps = [(row[dx] * row[dy] / 256, (dx - 2, dy - 2)) for dy in range(5) for dx in range(5)]
    return im(p) + 1.5 * (im(p) - sum([w * im(p + d) for w, d in taps]))


def graded(im: Image, p: Position):
    high, low = max([im(p + d) for d in AROUND]), min([im(p + d) for d in AROUND])
    return (high - low) / (high + low)  # NaN where it is black


def signed(im: Image, p: Position):
    gx = im(p + (1, 1)) + 2 * im(p + (1, 0)) + im(p + (1, -1))
    gx = gx - im(p - (1, 1)) - 2 * im(p - (1, 0)) - im(p - (1, -1))
    return -0.3 * abs(gx) if gx > 0.2 else gx * gx - 0.1


def point(im: Image, p: Position):
    return 2 * im(p)


def uneven(im: Image, p: Position):
    return sum([0.01 * (7 * dx + 3 * dy + 11.3) ** 1.7 * im(p + (dx, dy)) for dx, dy in AROUND])


def horizontal(im: Image, p: Position):
    return (im(p - (1, 0)) + 2 * im(p) + im(p + (1, 0))) / 4


LIGHT = [point, uneven, horizontal]


def nearly_nothing(im: Image, p: Position):
    return 0.3 * im(p) + (0.3 - 0.3 * im(p + (1, 0)))  # of 0 and 1, less than 0 by rounding


def endless(im: Image, p: Position):
    total = math.inf - im(p) + im(p + (1, 0)) * 1e30 - math.nan * im(p - (1, 0))
    return min(total, im(p + (0, 1)) + im(p - (0, 1)) + im(p - (1, 1)) / 2)


def rooted(im: Image, p: Position):
    return np.sqrt(0.1 + im(p) * im(p + (1, 0)))


def far_out(im: Image, p: Position):
    return 1e9 * (im(p) - im(p + (0, 1))) * im(p) - 0.2  # no float16 is as large


def smoothed(im: Image, p: Position):
    near = [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)]
    return sum([0.11 * math.exp(-(dx * dx + dy * dy) / 3.1) * im(p + (dx, dy)) for dx, dy in near])


def frei_chen(im: Image, p: Position):
    gx = sum([dx * (2**0.5, 1)[abs(dy)] * im(p + (dx, dy)) for dx, dy in AROUND])
    gy = sum([dy * (2**0.5, 1)[abs(dx)] * im(p + (dx, dy)) for dx, dy in AROUND])
    return np.hypot(gx, gy) / 4


def spread(im: Image, p: Position):
    mean = sum([im(p + d) for d in AROUND]) / 9
    return np.sqrt(sum([(im(p + d) - mean) ** 2 for d in AROUND]) / 9)


def narrow(im: Image, p: Position):
    return sum([math.exp(-90 * dy * dy - 0.3 * dx * dx) * im(p + (dx, dy)) for dx, dy in AROUND])


UNSCALED = [rooted, far_out]
SCALED = [nearly_nothing, gaussian, weighted, scharr, tall, unsharp, graded, signed]
SCALED += [smoothed, frei_chen, spread, narrow]
OTHERS = [median, opened, laplacian, wide, inverted, sobel, mean, placed]
WRITTEN = [*OTHERS, *SCALED, *UNSCALED, *LIGHT]
WHOLE = [median, opened, laplacian, wide, inverted, point]


def exact_of(written: Any) -> tuple[Exact, Exact]:
    """What is exact of a function as it is written, and as it is computed."""
    exact = Exact.of(Task(function_of(written, photo((4, 4))), [BYTE], [BYTE]))
    assert exact is not None
    return exact, by_columns(exact)


@pytest.mark.parametrize("written", WRITTEN)
def test_sums_of_bytes_are_exact(written: Any) -> None:
    exact, regrouped = exact_of(written)
    assert regrouped.pays(exact)
    assert (not regrouped.leaving) == (written in WHOLE)
    codes = {op.code for op in walk(lanes(regrouped, 4, 2).function.body)}
    assert any(code.startswith("lanes_") for code in codes)


@pytest.mark.parametrize(
    ("written", "exact_ops", "leaving"),
    [
        (sobel, 6, 2),
        (gaussian, 2, 1),
        (weighted, 2, 1),
        (scharr, 4, 2),
        (laplacian, 7, 0),
        (smoothed, 2, 3),
        (frei_chen, 2, 3),
    ],
)
def test_what_columns_share_is_computed_once(written: Any, exact_ops: int, leaving: int) -> None:
    _, exact = exact_of(written)
    made = {exact.names[value] for value in exact.bounds if is_exact(value)}
    assert (len(made), len({exact.names[value] for value in exact.leaving})) == (exact_ops, leaving)


@pytest.mark.parametrize(("written", "has_any"), [(frei_chen, False), (spread, True)])
def test_sums_are_precise_where_products_could_be_fused_with_them(
    written: Any, has_any: bool
) -> None:
    blocked = lanes(exact_of(written)[1], 4, 2)
    text = block_program(blocked, dialect=Dialect(450, fused=True)).text
    assert ("precise" in text) == has_any


@pytest.mark.parametrize(
    ("written", "by_two"), [(sobel, True), (rooted, True), (far_out, True), (graded, False)]
)
def test_floats_that_are_never_nan_become_bytes_two_at_a_time(written: Any, by_two: bool) -> None:
    _, exact = exact_of(written)
    codes = {op.code for op in walk(lanes(exact, 4, 2).function.body)}
    assert ("lanes_pack" in codes, "unorm8x4" in codes) == (by_two, not by_two)


def scattered(im: Image, p: Position):
    return min([im(Position(p.y, p.x + k)) for k in range(9)])


def bilateral(im: Image, p: Position):
    taps = [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)]
    pairs = [(np.exp(-abs(im(p + d) - im(p))), im(p + d)) for d in taps]
    return sum([weight * value for weight, value in pairs]) / sum([weight for weight, _ in pairs])


def high(im: Image, p: Position):
    return sum([(0.03 * k**1.5) * im(p + (0, k)) for k in range(-7, 8) if k > 0])


@pytest.mark.parametrize("written", [scattered, bilateral, high])
def test_what_lanes_cannot_hold_is_left_alone(written: Any) -> None:
    exact, regrouped = exact_of(written)
    assert not regrouped.pays(exact)


def is_bright(im: Image, p: Position):
    return min([im(p + d) for d in AROUND]) > 0.25


def count(im: Image, p: Position):
    low = min([im(p + d) for d in AROUND])
    return 300 if low > 0.25 else int(low * 40) - 1


@pytest.mark.parametrize("written", [is_bright, count])
def test_results_that_are_no_floats_are_left_alone(written: Any) -> None:
    require("compute")
    image = photo((9, 20))
    made = job_of(written, image).made
    assert Exact.of(made.task) is None
    (have,) = job_of(written, image).run(device().compile(made.task, ONE_ROW))
    want = pygpu.compile(written, target="interpreter")(image, dtype="uint8")
    np.testing.assert_array_equal(have.host()[..., 0], want)


def test_other_texels_are_left_alone() -> None:
    grey = photo((4, 4))
    for image, dtype in [
        (grey.astype(np.float32), "uint8"),
        (grey.astype(np.uint16), "uint8"),
        (np.dstack([grey] * 3), "uint8"),
        (grey, "float32"),
        (grey, "uint16"),
        (pygpu.Image(grey, boundary="reflect"), "uint8"),
        (pygpu.Image(grey, boundary="constant", cval=1.0), "uint8"),
        (pygpu.Image(grey, normalize=False), "uint8"),
    ]:
        made = job_of(laplacian, image, dtype=dtype).made
        exact = Exact.of(made.task)
        assert exact is None or not by_columns(exact).pays(exact)


# ---------------------------------------------------------------- what comes out


def results(job: Job, on: ComputeDevice, shape: Shape = ONE_ROW) -> list[Array]:
    """What a job gives, by a program that computes two at a time."""
    made = job.made
    program = on.compile(made.task, shape)
    assert is_laned(program.source)
    return [storage.host()[..., 0] for storage in job.run(program)]


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize("written", WRITTEN)
def test_two_at_a_time_give_what_one_gives(written: Any, fused: bool) -> None:
    require("compute")
    one = pygpu.compile(written, target="interpreter")
    made = job_of(written, photo((4, 4))).made
    shape = Shape(16, 2, 32, 4)
    program = device(fused=fused).compile(Task(made.task.function, [BYTE], [BYTE]), shape)
    assert is_laned(program.source)
    for size in SIZES:
        image = photo(size)
        job = Job.of(one, (image,), {}, None, "uint8")
        want = one(image, dtype="uint8")
        away = np.abs(job.run(program)[0].host()[..., 0].astype(int) - want)
        assert away.max() <= (written not in WHOLE), size  # floats are rounded once more


def test_every_width_and_height_is_right_at_the_edges() -> None:
    require("compute")
    function = job_of(wide, photo((4, 4))).made.task.function
    program = device().compile(Task(function, [BYTE], [BYTE]), ONE_ROW)
    assert is_laned(program.source)
    for height in range(1, 8):
        for width in range(1, 41):
            image = photo((height, width), seed=width)
            (have,) = program.run(Work([Storage.of(image)], [], (height, width), [None]))
            (want,) = run(function, [np.float32(image) / 255], [], (height, width))
            np.testing.assert_array_equal(have.host()[..., 0], stored(want))


def stored(values: Array) -> Array:
    return np.rint(np.clip(values.reshape(values.shape[:2]), 0, 1) * 255).astype(np.uint8)


@pytest.mark.parametrize("size", [(3, 9), (20, 50), (8, 16)])
def test_images_may_be_smaller_or_larger_than_results(size: tuple[int, int]) -> None:
    require("compute")
    function = job_of(wide, photo((4, 4))).made.task.function
    image = photo((8, 24))
    program = device().compile(Task(function, [BYTE], [BYTE]), ONE_ROW)
    (have,) = program.run(Work([Storage.of(image)], [], size, [None]))
    (want,) = run(function, [np.float32(image) / 255], [], size)
    np.testing.assert_array_equal(have.host()[..., 0], stored(want))


@pytest.mark.parametrize("rows", [2, 4])
def test_rows_of_a_thread_change_nothing(rows: int) -> None:
    require("compute")
    job = job_of(laplacian, photo((13, 37)))
    (have,) = results(job, device(), Shape(16, rows, 8, 8))
    np.testing.assert_array_equal(have, results(job, device())[0])


def test_two_images_and_two_results() -> None:
    require("compute")

    def both(im: Image, other: Image, weights: Image, p: Position):
        low = min([im(p + d) for d in AROUND])
        high = max([other(p - d) for d in AROUND])
        return high - low, low * weights(p + (1, 0)) + weights(p) * high

    images = photo((9, 21)), photo((12, 40), 4), np.random.default_rng(1).random((9, 21))
    images = (*images[:2], images[2].astype(np.float32))
    have = results(job_of(both, *images), device())
    want = pygpu.compile(both, target="interpreter")(*images, dtype="uint8")
    np.testing.assert_array_equal(have[0], want[0])
    assert np.abs(have[1].astype(int) - want[1]).max() <= 1


def random_exact(seed: int) -> Callable[..., Any]:
    """A function of small whole multiples of bytes near the pixel, its Python and its numbers."""
    pick = random.Random(seed)
    text = [f"im(p + ({pick.randint(-4, 5)}, {pick.randint(-2, 2)}))" for _ in range(7)]
    while len(text) > 1:
        a, b = text.pop(pick.randrange(len(text))), text.pop(pick.randrange(len(text)))
        text.append(
            pick.choice([f"({a} - {b})", f"({a} + {b})", f"min({a}, {b})", f"max({b}, {a})"])
        )
        if pick.random() < 0.2:
            text.append(pick.choice(["abs({})", "-{}", "(2 * {})", "(1 - {})"]).format(text.pop()))
    names: dict[str, Any] = {"Image": Image, "Position": Position}
    source = f"def f(im: Image, p: Position):\n    return {text[0]}\n"
    exec(compile(source, f"<exact {seed}>", "exec"), names)
    return names["f"]  # type: ignore[no-any-return]


def test_random_functions_of_bytes_are_exact() -> None:
    require("compute")
    seen = 0
    for seed in range(16):
        written = random_exact(seed)
        image = photo((10, 35), seed)
        job = job_of(written, image)
        made = job.made
        function = made.task.function
        exact = Exact.of(replace(made.task, function=function))
        assert exact is not None
        if not by_columns(exact).pays(exact):
            continue
        seen += 1
        (have,) = results(job, device(fused=seed % 2 == 0))
        (want,) = run(function, [np.float64(image).astype(np.float32) / 255], [], image.shape)
        np.testing.assert_array_equal(have, stored(want), err_msg=str(seed))
    assert seen > 10


def extremes(im: Any, p: Any) -> tuple[Any, Any]:
    texels = [im(p + d) for d in AROUND]
    return min(texels), max(texels)


def by_steps(im: Image, p: Position):  # 1, but 1/4 where a pixel near is black
    low, high = extremes(im, p)
    return max(min(low * 1e20, 1.0) * min(high * 1e20, 1.0), 0.25)


def guarded(im: Image, p: Position):  # never 0 / 0
    low, high = [np.sqrt(value) * 1e8 for value in extremes(im, p)]
    return 0.25 + im(p) / max(max(low, high), float(np.finfo(np.float32).tiny))


def turned(im: Image, p: Position):  # which sign a zero has shows
    low, high = extremes(im, p)
    a, b, c = [np.sqrt(value) * -0.5 for value in (low, high, im(p))]
    return np.arctan2(abs(a + b + c) * (low - high), a - b + c - b) / 3.15 + 0.5


@pytest.mark.parametrize("written", [by_steps, guarded, turned])
def test_factors_lose_no_number_and_no_sign(written: Any) -> None:
    require("compute")
    image = photo((10, 35))
    image[:5], image[5:, :10] = 0, 200
    job = job_of(written, image)
    made = job.made
    program = device().compile(made.task, ONE_ROW)
    want = pygpu.compile(written, target="interpreter")(image, dtype="uint8")
    np.testing.assert_array_equal(job.run(program)[0].host()[..., 0], want)


def random_weights(seed: int) -> Callable[..., Any]:
    """A function of a sum with whole weights, or multiples of another number, and a few others."""
    pick = random.Random(seed)
    unit, wide = pick.choice([1, 1 / 16, 0.07, 1 / 9]), pick.randint(1, 2)
    near = [(dx, dy) for dy in range(-1, 2) for dx in range(-wide, wide + 1)]
    weights = {d: unit * pick.choice([0, 1, 1, 2, -1, 3, pick.randint(-12, 12)]) for d in near}
    weights |= {d: pick.uniform(-1, 1) for d in pick.sample(near, pick.randint(0, 2))}
    bias = pick.choice([0.0, 0.3, 1.0])

    def f(im: Image, p: Position):
        total = sum([weights[d] * im(p + d) for d in near]) + bias
        return np.sqrt(total * total + im(p) * im(p)) if seed % 3 else total

    return f


@pytest.mark.parametrize("seed", range(12))
def test_random_sums_are_those_of_floats(seed: int) -> None:
    require("compute")
    written, image = random_weights(seed), photo((10, 35), seed)
    job = job_of(written, image)
    made = job.made
    program = device().compile(made.task, ONE_ROW)
    (want,) = run(made.task.function, [np.float32(image) / 255], [], image.shape)
    have = job.run(program)[0].host()[..., 0].astype(int)
    assert np.abs(have - stored(want)).max() <= 1


# ---------------------------------------------------------------- programs


def sources(functions: Sequence[Any], on: ComputeDevice) -> list[str]:
    made = [job_of(written, photo((4, 4))).made for written in functions]
    return [on.compile(m.task).source for m in made]


@pytest.mark.usefixtures("texts_alone")
def test_shapes_of_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    require("compute")
    monkeypatch.setattr(shapes, "remembered", lambda key: None)
    for written in (median, sobel):
        made = job_of(written, photo((4, 4))).made
        for shape in (None, Shape(4, 8, 32, 4)):
            program = device().compile(made.task, shape)
            assert program.shape == shapes.LANES


@pytest.mark.parametrize(
    ("renderer", "is_fast"),
    [
        ("NVIDIA H200/PCIe/SSE2", True),
        ("NVIDIA A100-SXM4-80GB/PCIe/SSE2", True),
        ("NVIDIA GeForce RTX 4090/PCIe/SSE2", True),
        ("GeForce GTX 1660 Ti/PCIe/SSE2", True),
        ("NVIDIA GeForce MX450/PCIe/SSE2", True),
        ("Quadro GV100/PCIe/SSE2", True),
        ("Quadro RTX 5000/PCIe/SSE2", True),
        ("Tesla P100-PCIE-16GB/PCIe/SSE2", True),
        ("Tesla V100-SXM2-16GB/PCIe/SSE2", True),
        ("TITAN V/PCIe/SSE2", True),
        ("NVIDIA RTX A6000/PCIe/SSE2", True),
        ("NVIDIA GeForce GTX 1080 Ti/PCIe/SSE2", False),
        ("GeForce GTX 980/PCIe/SSE2", False),
        ("GeForce MX150/PCIe/SSE2", False),
        ("GeForce GT 1030/PCIe/SSE2", False),
        ("Quadro P4000/PCIe/SSE2", False),
        ("Tesla P40/PCIe/SSE2", False),
        ("NVIDIA TITAN Xp/PCIe/SSE2", False),
        ("Tesla M60/PCIe/SSE2", False),
    ],
)
def test_devices_with_fast_float16(renderer: str, is_fast: bool) -> None:
    assert has_fast_float16(renderer) == is_fast


@pytest.mark.parametrize("written", [*WHOLE, sobel, gaussian, tall, unsharp])
def test_programs_of_lanes_have_no_functions(written: Any) -> None:
    dialect = Dialect(version=450, fused=True, narrow=True, lanes=True, saturates=True)
    _, regrouped = exact_of(written)
    source = block_program(lanes(regrouped, 4, 2), (32, 4), dialect).text
    assert re.findall(r"^\w+ (\w+)\(.*\{$", source, re.MULTILINE) == ["main"]
    assert "precise" not in source


def box(height: int) -> Callable[..., Any]:
    def f(im: Image, p: Position):
        return sum([im(p + (dx, dy)) for dy in range(height) for dx in range(3)]) / (3 * height)

    return f


@pytest.mark.parametrize(("height", "rows"), [(3, 4), (13, 4), (14, 2), (16, 1), (17, 0)])
@pytest.mark.usefixtures("texts_alone")
def test_blocks_of_high_windows_are_low(height: int, rows: int) -> None:
    require("compute")
    made = job_of(box(height), photo((4, 4))).made
    program = device().compile(made.task)
    assert is_laned(program.source) == (rows > 0)
    assert not rows or program.shape.rows == rows


def test_constants_may_be_endless() -> None:
    require("compute")
    image = photo((9, 33))
    want = pygpu.compile(endless, target="interpreter")(image, dtype="uint8")
    for fused in (False, True):
        made = job_of(endless, image).made
        program = device(fused=fused).compile(made.task, ONE_ROW)
        have = job_of(endless, image).run(program)[0].host()[..., 0]
        assert np.abs(have.astype(int) - want).max() <= 1


@pytest.mark.usefixtures("texts_alone")
def test_software_computes_one_at_a_time() -> None:
    require("compute")
    if ComputeDevice().is_software:
        assert not any(map(is_laned, sources(WRITTEN, ComputeDevice())))


@pytest.mark.usefixtures("texts_alone")
def test_reference_compiler_accepts_lanes(tmp_path: Path) -> None:
    require("compute")
    on = device()
    on.dialect = replace(on.dialect, narrow=False)
    validate(sources(WRITTEN, on), tmp_path, "comp")


@pytest.mark.usefixtures("texts_alone")
def test_what_is_too_large_is_computed_one_at_a_time() -> None:
    require("compute")
    made = job_of(median, photo((4, 4))).made
    on = device()
    on.largest = 8
    program = on.compile(made.task)
    assert not is_laned(program.source)
