"""Stages in the memory of work groups give what functions give one after the other."""

import random
from typing import Any

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Float, Image, Position, Vec3, Volume
from pygpu.devices.opengl import staged
from pygpu.devices.opengl.compute import Tiles
from pygpu.passes.blocks import tiling
from pygpu.ssa import BOUNDARIES

SQUARE = [(x, y) for y in (-1, 0, 1) for x in (-1, 0, 1)]
WEIGHTS = ((-1, 1), (0, 2), (1, 1))
NEAR = range(-3, 4)
RNG = np.random.default_rng(4)


@pytest.fixture(autouse=True)
def everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stages of small images, and where they do not pay."""
    require("compute")
    monkeypatch.setattr(staged, "LEAST", 1)
    monkeypatch.setattr(tiling, "WORTH", 0.0)
    monkeypatch.setenv("PYGPU_TARGET", "compute")


def slope(im: Any, p: Any, x: int, y: int) -> Any:
    def beside(side: int) -> Any:
        return sum(w * im(p + (side * x + i * y, side * y + i * x)) for i, w in WEIGHTS)

    return (beside(1) - beside(-1)) / 8


def corner(im: Image, p: Position, k: Float = 0.04):
    slopes = [(slope(im, p + d, 1, 0), slope(im, p + d, 0, 1)) for d in SQUARE]
    xx, xy, yy = (sum(e) for e in zip(*[(x * x, x * y, y * y) for x, y in slopes], strict=True))
    return xx * yy - xy * xy - k * (xx + yy) ** 2


def windows(im: Image, p: Position):
    rows = [pygpu.sqrt(sum(im(p + (x, y)) for x in range(-3, 4))) for y in range(-5, 6)]
    middle = [sum(rows[i : i + 5]) for i in range(7)]
    return sum(pygpu.sqrt(each) for each in middle)


def coloured(im: Image, p: Position):
    rows = [pygpu.sqrt(sum(im(p + (x, y)) for x in range(-3, 4))) for y in range(-5, 6)]
    return sum(rows), p.x + 0.5 * p.y + rows[0].x


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("function", [corner, windows, coloured])
def test_stages_of_a_function_give_what_it_gives(function: Any, boundary: str) -> None:
    for shape in ((1, 1), (5, 130), (67, 41)):
        shape = (*shape, 3) if function is coloured else shape
        image = Image(RNG.random(shape, np.float32), boundary=boundary)
        compiled = pygpu.compile(function)
        assert compiled.lower(image).stats["stages"] >= 2
        for one, other in zip(
            parts(compiled(image)), parts(compiled.on("cpu")(image)), strict=True
        ):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=1e-6)


def parts(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def whole(im: Image, p: Position):
    rows = [sum(im(p + (x, y)) * (x + 4) for x in range(-3, 4)) // 7 % 11 for y in range(-5, 6)]
    return sum(rows), max(rows)


def test_whole_numbers_are_equal_to_the_bit() -> None:
    image = Image(RNG.integers(-50, 50, (70, 85)).astype(np.int32), boundary="mirror")
    compiled = pygpu.compile(whole)
    assert compiled.lower(image).stats["stages"] == 2
    for one, other in zip(compiled(image), compiled.on("cpu")(image), strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))


def test_what_does_not_pay_stays_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "WORTH", 1.25)
    cheap = pygpu.compile(lambda im=Image, p=Position: sum(abs(im(p + d)) for d in SQUARE))
    assert "stages" not in cheap.lower(Image(np.zeros((9, 9), np.float32))).stats


def test_large_windows_pay_in_software_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiling, "WORTH", 2.0)
    places = [(x, y) for y in range(-7, 8) for x in range(-7, 8)]
    mean = pygpu.compile(lambda im=Image, p=Position: sum(im(p + d) for d in places) / len(places))
    assert mean.lower(Image(np.zeros((9, 9), np.float32))).stats["stages"] == 2


def test_small_results_are_computed_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staged, "LEAST", 64)
    image = Image(RNG.random((8, 90), np.float32))
    compiled = pygpu.compile(corner)
    expected = np.asarray(compiled.on("cpu")(image))
    np.testing.assert_allclose(np.asarray(compiled(image)), expected, rtol=2e-5, atol=1e-6)


def cube(v: Volume, p: Position):
    return sum(v(p + (x, y, z)) for z in (-1, 0, 2) for y in NEAR for x in NEAR) / 147


def sides(v: Volume, p: Position):
    down = sum(v(p + (x, y, 1)) * (y + 2) for y in NEAR for x in NEAR)
    return max(down, v(p) * 20), down - p.z


def beside_an_image(v: Volume, im: Image, p: Position, gain: Float = 0.5):
    window = sum(v(p + (x, y, 0)) for y in NEAR for x in NEAR)
    return window * gain + im((p.x + 1, p.y)) + v((p.x, p.y, p.z * 7 % 3))


@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("function", [cube, sides, beside_an_image], ids=lambda f: f.__name__)
def test_planes_of_volumes_in_tiles(
    function: Any, boundary: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[Any] = []
    computed = Tiles.computed
    monkeypatch.setattr(Tiles, "computed", lambda *a: ran.append(a) or computed(*a))
    for shape, dtype in (((3, 5, 7), np.float32), ((4, 40, 67), np.uint8)):
        numbers = RNG.random(shape) * (250 if dtype == np.uint8 else 1)
        given: list[Any] = [Volume(numbers.astype(dtype), boundary=boundary)]
        if function is beside_an_image:
            given.append(Image(RNG.random(shape[1:], np.float32)))
        compiled = pygpu.compile(function)
        for one, other in zip(
            parts(compiled(*given)), parts(compiled.on("cpu")(*given)), strict=True
        ):
            np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=2e-5, atol=2e-5)
    assert len(ran) == 2


# ---------------------------------------------------------------- several functions


@pygpu.compile
def slopes(im: Image, p: Position):
    return im(p + (1, 0)) - im(p), im(p + (0, 2)) - im(p - (1, 0))


@pygpu.compile
def box(im: Image, p: Position):
    return sum(im(p + d) for d in SQUARE) / 9


@pygpu.compile
def turned(a: Image, b: Image, p: Position, gain: Float = 0.5):
    return a(p + (2, -1)) * gain + b(p - (0, 3)) * p.x


@pygpu.compile
def vector(im: Image, p: Position, gain: Float = 2.0):
    v = im(p + (1, 1)) * gain
    return Vec3(v, im(p), v * v)


@pygpu.compile
def norm(im: Image, p: Position):
    return sum(pygpu.length(im(p + d)) for d in SQUARE)


@pygpu.compile
def signs(im: Image, p: Position):
    return im(p) > im(p - (1, 2))


@pygpu.compile
def counted(im: Image, p: Position):
    return sum(1.0 if im(p + d) else 0.25 for d in SQUARE)


def chained(source: random.Random) -> Any:
    """A function of an image by random steps, each of what the one before made."""
    steps = [source.choice(("box", "slopes", "vector", "signs", "far")) for _ in range(3)]
    rules = [source.choice(BOUNDARIES) for _ in steps]

    def function(im: Image) -> Image:
        for step, rule in zip(steps, rules, strict=True):
            im = im.sampled(boundary=rule)
            if step == "slopes":
                im = turned(*slopes(im), gain=0.25)
            elif step == "vector":
                im = norm(vector(im, gain=0.75))
            elif step == "signs":
                im = counted(signs(im))
            else:
                im = box(box(im)) if step == "far" else box(im)
        return im

    return function


def test_random_pipelines_give_what_calls_give() -> None:
    joined = 0
    for seed in range(12):
        source = random.Random(seed)
        function = chained(source)
        shape = source.choice(((1, 7), (33, 64), (65, 35), (40, 131)))
        image = Image(RNG.random(shape, np.float32))
        piped = pygpu.pipeline(function)
        have, want = np.asarray(piped(image)), np.asarray(function(image))
        np.testing.assert_allclose(have, want, rtol=2e-5, atol=1e-5)
        joined += "shared float tile" in str([s.source for s in piped.lower(image).stages])
        joined += any(stage.kept for stage in piped.lower(image).stages)
    assert joined >= 8


def test_what_is_wanted_or_read_elsewhere_is_made_whole() -> None:
    def function(im: Image) -> Any:
        low = box(im)
        a, b = slopes(low)
        return low, turned(a, b), box(a)

    image = Image(RNG.random((70, 66), np.float32))
    for have, want in zip(pygpu.pipeline(function)(image), function(image), strict=True):
        np.testing.assert_allclose(np.asarray(have), np.asarray(want), rtol=2e-5, atol=1e-5)


def test_images_beyond_the_limits_are_made_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def function(im: Image) -> Image:
        return box(box(im))

    image = Image(RNG.random((70, 66), np.float32))
    piped = pygpu.pipeline(function)
    expected = np.asarray(piped(image))
    monkeypatch.setenv("PYGPU_TEXTURE_SIZE", "48")
    np.testing.assert_array_equal(np.asarray(piped(image)), expected)
