"""The greatest and least of windows by lines: what Python and NumPy give, with NaN, infinities and
zeros of both signs among the texels."""

import functools
import math

import numpy as np
import pytest
import scipy.ndimage

import pygpu
from pygpu import Image, Position, Volume, offsets
from pygpu.core.programs import Work
from pygpu.core.storage import Storage
from pygpu.devices.cpu import staged, strips
from pygpu.devices.cpu.program import CpuProgram
from pygpu.devices.cpu.staged import CpuStaged
from pygpu.ssa import BOUNDARIES

NEAR = [(x, y) for y in range(-3, 4) for x in range(-3, 4)]
DISK = [(x, y) for x, y in NEAR if x * x + y * y <= 10]
SPECIAL = np.float32([math.nan, -math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -2.0])


@pytest.fixture(autouse=True)
def in_stages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Strips for small images, too."""
    for module, name in ((strips, "SMALL"), (staged, "LEAST")):
        monkeypatch.setattr(module, name, 0)


def greatest(im: Image, p: Position):
    return max(im(p + d) for d in NEAR)


def least(im: Image, p: Position):
    return min([im(p + d) for d in NEAR])


def from_a_number(im: Image, p: Position):
    most = -math.inf
    for d in NEAR:
        most = max(most, im(p + d))
    return most


def from_the_middle(im: Image, p: Position):
    most = im(p)
    for d in NEAR:
        if im(p + d) > most:
            most = im(p + d)
    return most


def of_numpy(im: Image, p: Position):
    return np.max([im(p + d) for d in NEAR])


def of_numpy_by_twos(im: Image, p: Position):
    return functools.reduce(np.minimum, [im(p + d) for d in NEAR])


def passing_nan_over(im: Image, p: Position):
    return functools.reduce(np.fmax, [im(p + d) for d in NEAR])


def spread(im: Image, p: Position):
    near = [im(p + d) for d in NEAR]
    return np.max(near) - np.min(near)


def of_a_disk(im: Image, p: Position):
    return max(im(p + d) for d in DISK)


def of_a_disk_by_numpy(im: Image, p: Position):
    return np.min([im(p + d) for d in DISK])


def of_roots(im: Image, p: Position):
    return max(math.sqrt(im(p + d) - 0.5) for d in NEAR)


def the_other_way(im: Image, p: Position):
    most = im(p)
    for d in NEAR:
        most = max(im(p + d), most)
    return most


FUNCTIONS = [
    greatest, least, from_a_number, from_the_middle, of_numpy, of_numpy_by_twos, passing_nan_over,
    spread, of_a_disk, of_a_disk_by_numpy, of_roots,
]  # fmt: skip


def mixed(some: float) -> np.ndarray:
    """Texels of which some are special."""
    rng = np.random.default_rng(5)
    texels = rng.standard_normal((60, 90), np.float32)
    return np.where(rng.random(texels.shape) < some, rng.choice(SPECIAL, texels.shape), texels)


def parts(compiled, *args, **options) -> int:
    program = compiled.lower(*args, **options)._made.program
    return len(program.parts) if isinstance(program, CpuStaged) else 1


def check_in_stages(function, some) -> None:
    """It has stages, and gives what it gives without, to the bit."""
    texels = mixed(some)
    compiled = pygpu.compile(function, target="cpu")
    assert parts(compiled, texels) > 1
    wanted = pygpu.compile(function, target="interpreter")(texels)
    np.testing.assert_array_equal(compiled(texels), wanted)


@pytest.mark.parametrize("some", [0.002, 0.05, 0.9])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_windows_by_lines_give_what_they_give(function, some):
    check_in_stages(function, some)


@pytest.mark.parametrize("function", [greatest, least, from_a_number, of_numpy, passing_nan_over])
def test_of_zeros_the_first_is_given_as_by_python(function):
    """Where rows come one after the other, as they do by lines."""
    texels = np.random.default_rng(6).choice(np.float32([0.0, -0.0]), (40, 70))
    found = pygpu.compile(function, target="cpu")(texels)
    wanted = pygpu.compile(function, target="interpreter")(texels)
    assert np.array_equal(np.signbit(found), np.signbit(wanted))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("function", [*FUNCTIONS, the_other_way])
def test_windows_of_bytes_have_no_tests_for_nan(function, boundary):
    texels = np.random.default_rng(7).integers(0, 256, (60, 90)).astype(np.uint8)
    image = Image(texels, boundary=boundary, cval=0.25)
    compiled = pygpu.compile(function, target="cpu")
    assert parts(compiled, image) > 1
    wanted = pygpu.compile(function, target="interpreter")(image)
    np.testing.assert_allclose(np.asarray(compiled(image)), np.asarray(wanted), rtol=0, atol=1e-7)
    if function is not of_roots:
        assert "fcmp une" not in compiled.lower(image)._made.program.source


@pytest.mark.parametrize("function", [greatest, of_numpy])
def test_what_lies_outside_of_bytes_may_be_nan(function):
    texels = np.random.default_rng(8).integers(0, 256, (60, 90)).astype(np.uint8)
    image = Image(texels, boundary="constant", cval=math.nan)
    found = pygpu.compile(function, target="cpu")(image)
    wanted = pygpu.compile(function, target="interpreter")(image)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted))
    assert np.isnan(np.asarray(found)).any()


@pytest.mark.parametrize("first", [-1.0, -math.inf, 0.0])
def test_bytes_are_chosen_as_stored_whatever_the_search_begins_with(first):
    def greatest(im: Image, p: Position):
        most = first
        for d in NEAR:
            most = max(most, im(p + d))
        return most

    texels = np.random.default_rng(9).integers(0, 256, (60, 90)).astype(np.uint8)
    compiled = pygpu.compile(greatest, target="cpu", dtype=np.uint8)
    wanted = scipy.ndimage.maximum_filter(texels, 7, mode="nearest")
    assert np.array_equal(compiled(texels), wanted)
    program = compiled.lower(texels)._made.program
    assert isinstance(program, CpuProgram)
    assert program.plan.raw


def test_volumes_have_their_windows_by_numpy_in_stages():
    def most(v: Volume, p: Position):
        return np.max([v(p + d) for d in offsets(np.ones((3, 3, 3)))])

    texels = np.random.default_rng(10).random((6, 30, 40), np.float32)
    texels[texels > 0.98] = np.nan
    compiled = pygpu.compile(most, target="cpu")
    assert parts(compiled, texels) > 1
    wanted = pygpu.compile(most, target="interpreter")(texels)
    np.testing.assert_array_equal(compiled(texels), wanted)


def test_windows_of_images_of_few_rows_are_in_stages_too():
    texels = np.random.default_rng(11).random((9, 4000), np.float32)
    program = pygpu.compile(greatest, target="cpu").lower(texels)._made.program
    assert (
        program._linked(Work([Storage.of(texels[..., None])], [], texels.shape, [None])) is not None
    )


FAR = range(-20, 21)  # so many that loops compare them


def by_loops(im: Image, p: Position):
    most = -1.5
    for y in FAR:
        for x in FAR:
            most = max(most, im(p + (x, y)))
    return most


def by_loops_from_the_middle(im: Image, p: Position):
    most = im(p)
    for y in FAR:
        for x in FAR:
            most = min(most, im(p + (x, y)))
    return most


def by_loops_of_numpy(im: Image, p: Position):
    most = im(p + (-20, -20))
    for y in FAR:
        for x in range(-20, 15):
            most = np.maximum(most, im(p + (x, y)))
    return most


def by_loops_passing_nan_over(im: Image, p: Position):
    most = im(p + (30, 0))
    for y in range(-20, 14):
        for x in range(-33, 15):
            most = np.fmin(most, im(p + (x, y)))
    return most


LOOPS = [by_loops, by_loops_from_the_middle, by_loops_of_numpy, by_loops_passing_nan_over]


@pytest.mark.parametrize("some", [0, 0.0005, 0.05, 0.9])
@pytest.mark.parametrize("function", LOOPS)
def test_windows_that_loops_compare_are_in_stages(function, some):
    check_in_stages(function, some)


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("function", LOOPS[:3])
def test_windows_of_bytes_that_loops_compare(function, boundary):
    texels = np.random.default_rng(7).integers(0, 200, (45, 61)).astype(np.uint8)
    image = Image(texels, boundary=boundary, cval=math.nan)
    compiled = pygpu.compile(function, target="cpu")
    assert parts(compiled, image) >= 4
    wanted = pygpu.compile(function, target="interpreter")(image)
    np.testing.assert_array_equal(np.asarray(compiled(image)), np.asarray(wanted))


@pytest.mark.parametrize("size", [27, 28, 29, 33, 57])
def test_long_lines_are_found_from_their_halves(size):
    def most(im: Image, p: Position):
        return np.max([im(p + (x, y)) for y in range(3) for x in range(-size // 2, size // 2)])

    texels = mixed(0.01)
    compiled = pygpu.compile(most, target="cpu")
    wanted = pygpu.compile(most, target="interpreter")(texels)
    np.testing.assert_array_equal(compiled(texels), wanted)
