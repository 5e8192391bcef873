"""What numbers of a call lead to is computed once a call on OpenGL's devices, not by each pixel."""

import math

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Bool, DeviceError, Float, Image, Int, Position, Vec3
from pygpu.devices.opengl import context as opengl
from pygpu.devices.opengl.ahead import InTwo
from pygpu.passes.stages.ahead import ahead

WINDOW = [(x, y) for y in range(-3, 4) for x in range(-3, 4)]
RNG = np.random.default_rng(5)
IMAGE = RNG.random((23, 37)).astype(np.float32)


def gabor(im: Image, p: Position, angle: Float, wave: Float):
    c, s, total = math.cos(angle), math.sin(angle), 0.0
    for x, y in WINDOW:
        u, v = x * c + y * s, y * c - x * s
        weight = math.exp(-(u * u + v * v / 4) / 8) * math.cos(2 * math.pi * u / wave)
        total += weight * im(p + (x, y))
    return total


def chosen(im: Image, p: Position, k: Float, n: Int, is_wide: Bool):
    weights = [math.exp(-k * i) if is_wide else math.sin(k + i) ** 3 for i in range(12)]
    total = 0.0
    for i, w in enumerate(weights):
        total += w * im(p + (i, 0)) + (p.x * math.log(2 + w) if p.y > n else 0.0)
    return total, weights[3], total > 1


def coloured(im: Image, p: Position, k: Float):
    total = Vec3(0.0)
    for x, y in WINDOW:
        tint = Vec3(math.sin(k + x * 7 + y), k, math.cos(k * y))
        total += im(p + (x, y)) * math.exp(-k * (x * x + y)) * tint
    return total / 9


def placed(im: Image, p: Position, k: Float):
    places = [(math.sin(k * i) * 4, math.cos(k * i) ** 3 * 4) for i in range(9)]
    return sum([im((int(p.x + u), int(p.y + v))) for u, v in places])


@pytest.fixture(params=["compute", "fragment"])
def gpu(request):
    require(request.param)
    return request.param


def program(compiled):
    (made,) = compiled.specialisations()
    return made.program


@pytest.mark.parametrize(
    ("function", "numbers"),
    [
        (gabor, [(0.3, 4.0), (-1.2, 2.5), (0.0, 7.0), (math.inf, 3.0)]),
        (chosen, [(0.1, 5, True), (0.7, 30, False), (0.7, -3, True), (math.nan, 2, True)]),
        (coloured, [(0.2,), (1.5,), (-0.1,)]),
        (placed, [(0.2,), (1.5,), (7.0,)]),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_results_are_those_of_each_pixel(gpu, function, numbers, dtype):
    texels = IMAGE if dtype == "float32" else (IMAGE * 255).astype(np.uint8)
    if function is coloured:
        texels = np.stack([texels, texels[::-1], texels[:, ::-1]], -1)
    compiled, by_pixel = (pygpu.compile(function, target=t) for t in (gpu, "interpreter"))
    for each in numbers * 2:
        have, want = (f(pygpu.Image(texels), *each) for f in (compiled, by_pixel))
        results = zip(have, want, strict=True) if function is chosen else [(have, want)]
        for one, other in results:
            if math.isfinite(each[0]):
                np.testing.assert_allclose(one, other, rtol=1e-4, atol=2e-5)
            else:
                assert np.array_equal(np.isnan(one), np.isnan(other))
    assert isinstance(program(compiled), InTwo)


def test_block_of_numbers_stands_beside_tables_and_names_of_users(gpu):
    table = RNG.random((2000, 3))

    def named(ahead: Image, p: Position, k: Float, ahead_block: Float, i: Int):
        total = ahead_block * sum([table[i + j, j] for j in range(3)])
        for x, y in WINDOW:
            total += math.exp(-k * (x * x + y * y)) * math.sin(k * x + y) * ahead(p + (x, y))
        return total

    compiled, by_pixel = (pygpu.compile(named, target=t) for t in (gpu, "interpreter"))
    for numbers in ((0.1, 2.0, 700), (0.4, -1.0, 1900)):
        want = by_pixel(IMAGE, *numbers)
        np.testing.assert_allclose(compiled(IMAGE, *numbers), want, rtol=1e-4, atol=1e-5)
    assert isinstance(program(compiled), InTwo)


def test_first_part_runs_when_numbers_change(gpu, monkeypatch):
    def signed(im: Image, p: Position, k: Float):
        side, total = math.atan2(k, -1.0), 0.0
        for x, y in WINDOW:
            total += (side + math.sin(k + x * 7 + y) ** 3) * im(p + (x, y))
        return total

    compiled, by_pixel = (pygpu.compile(signed, target=t) for t in (gpu, "interpreter"))
    compiled(IMAGE, 1.0)
    first, runs = program(compiled)._first, []
    run = type(first).run

    def counted(self, work):
        if self is first:
            runs.append(str(*work.uniforms))
        return run(self, work)

    monkeypatch.setattr(type(first), "run", counted)
    for k in (1.0, 1.0, 0.0, -0.0, 0.0, 0.0, 1.0):
        np.testing.assert_allclose(compiled(IMAGE, k), by_pixel(IMAGE, k), rtol=1e-4, atol=1e-4)
    assert runs == ["0.0", "-0.0", "0.0", "1.0"]


def test_reset_of_the_driver_is_survived(gpu, monkeypatch):
    compiled = pygpu.compile(gabor, target=gpu)
    want = np.asarray(compiled(IMAGE, 1.0, 3.0))
    for _ in range(4):
        with opengl.context() as gl:
            monkeypatch.setattr(gl, "_status", lambda: 0x8253)
        with pytest.raises(DeviceError, match="reset the device"):
            np.asarray(compiled(IMAGE, 1.0, 3.0))
        assert np.array_equal(compiled(IMAGE, 1.0, 3.0), want)


def test_rounds_pipelines_and_arrays_that_are_given(gpu):
    def blurred(im: Image, p: Position, sigma: Float):
        weights = [math.exp(-(x * x + y * y) / sigma**2) * math.cos(x * sigma) for x, y in WINDOW]
        return sum(w * im(p + d) for w, d in zip(weights, WINDOW, strict=True)) / 40

    compiled, by_pixel = (pygpu.compile(blurred, target=t) for t in (gpu, "interpreter"))
    want = np.asarray(by_pixel.iterate(IMAGE, 3, sigma=2.0))
    np.testing.assert_allclose(compiled.iterate(IMAGE, 3, sigma=2.0), want, rtol=1e-4, atol=1e-5)
    out = np.empty_like(IMAGE)
    compiled(IMAGE, sigma=2.0, out=out)
    np.testing.assert_allclose(out, by_pixel(IMAGE, sigma=2.0), rtol=1e-4, atol=1e-5)
    two = pygpu.pipeline(lambda im, s: compiled(compiled(im, sigma=s), sigma=s))
    np.testing.assert_allclose(
        two(IMAGE, 2.0), by_pixel(by_pixel(IMAGE, sigma=2.0), sigma=2.0), rtol=1e-4, atol=1e-5
    )


def test_what_costs_little_or_is_of_the_image_stays_with_the_pixels():
    def of(function, *images, **numbers):
        compiled = pygpu.compile(function, target="interpreter")
        compiled(*images, **numbers)
        (made,) = compiled.specialisations()
        return ahead(made.task.function)

    def rotated(im: Image, p: Position, angle: Float):
        c, s = math.cos(angle), math.sin(angle)
        return im((int(p.x * c - p.y * s), int(p.x * s + p.y * c)))

    def of_sizes(im: Image, p: Position, k: Float):
        return sum([math.exp(-i * im.width / k) * im(p + (i, 0)) for i in range(60)])

    def of_texels(im: Image, p: Position, k: Float):
        return sum([math.exp(-k * im((i, 0))) * im(p + (i, 0)) for i in range(60)])

    assert of(rotated, IMAGE, angle=1.0) is None
    assert of(of_sizes, IMAGE, k=1.0) is None
    assert of(of_texels, IMAGE, k=1.0) is None
    found = of(gabor, IMAGE, angle=1.0, wave=3.0)
    assert found.count == 52  # 49, and what fills the last row
    assert not found.first.images
    assert not any(op.code in ("exp", "cos", "sin") for op in found.rest.body.ops)
