"""GLSL ES is the same functions: every program of tests/programs gives what plain Python gives."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import pygpu
from conftest import require
from glsl_validator import validate
from pygpu import Image, Position
from pygpu.core.errors import DeviceError
from pygpu.core.programs import Task
from pygpu.devices import targets
from pygpu.devices.targets import Target
from pygpu.execution.web.programs import passes
from test_conformance import PROGRAMS, check


@pytest.fixture(scope="module")
def browser() -> Iterator[str]:
    require("fragment")
    targets.register("browser", Target("es_target:BrowserDevice", is_public=False))
    yield "browser"
    del targets.DEVICES["browser"]


# GLSL ES has no `precise`: what comes near the largest float may pass by infinity on a GPU, what is
# divided by zero is what the driver says.
APART = {
    "arrays.divisions_by_zero_of_ints_among_floats",
    "complex_numbers.near_overflow",
    "mathematics.gamma_and_hyperbolic_functions_near_the_largest_float",
    "mathematics.near_the_largest_float",
}
SOME = [name for name in list(PROGRAMS)[::3] if name not in APART]  # all take a minute


@pytest.mark.parametrize("name", SOME)
def test_program_gives_what_python_gives(name: str, browser: str) -> None:
    check(name, browser)


def test_limits_that_are_nan_stay(browser: str) -> None:
    check("numerics.limits_that_are_nan", browser)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "uint16", "float16", "float32"])
@pytest.mark.parametrize("channels", [1, 2, 3, 4])
def test_texels_of_all_kinds_are_read(browser: str, dtype: str, channels: int) -> None:
    def twice(im: Image, p: Position):
        return im(p - (1, 0)) + im(p)

    texels = np.random.default_rng(0).integers(0, 2, (5, 7, channels)).astype(dtype)
    f = pygpu.compile(twice)
    np.testing.assert_allclose(f.on(browser)(texels), f.on("cpu")(texels), rtol=1e-6)


def task_of(function: object, *images: np.ndarray) -> Task:
    compiled = pygpu.compile(function, target="interpreter")
    compiled(*images)
    (made,) = compiled.specialisations()
    return made.task


def test_texts_are_of_the_version_that_browsers_take(tmp_path: Path) -> None:
    table = np.arange(300.0)

    def looked(im: Image, p: Position):
        return table[int(im(p) * 255)] + np.sin(p.x)

    (part,) = passes(task_of(looked, np.zeros((2, 2), np.uint8)))
    program = part.inner
    assert program.text.startswith("#version 300 es\n")
    assert program.vertices.startswith("#version 300 es\n")
    assert part.indices == [0]
    validate([program.text], tmp_path)


def test_more_results_than_a_browser_draws_are_drawn_in_passes() -> None:
    def six(im: Image, p: Position):
        return tuple(im(p) * k for k in range(6))

    found = passes(task_of(six, np.zeros((2, 2), np.float32)))
    assert [part.indices for part in found] == [[0, 1, 2, 3], [4, 5]]


def test_more_images_than_a_browser_reads_are_refused_by_number() -> None:
    def sum_of(*ims: Image, p: Position):
        return sum(im(p) for im in ims)

    with pytest.raises(DeviceError, match="reads 17 images and 0 large tables at once; browsers"):
        passes(task_of(sum_of, *[np.zeros((2, 2), np.float32)] * 17))
