"""The ends of rows by code of their own give the bits that copies of rows around them give."""

import contextlib
import functools
import itertools
import math
import threading
import weakref

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position, Vec3, Volume
from pygpu.codegen.llvm.boundary import FEWEST
from pygpu.devices.cpu import program
from pygpu.devices.cpu.chunks import host

RULES = ("nearest", "reflect", "mirror", "wrap", "constant")
WIDTHS = (32, 33, 34, 40, 47, 48, 49, 63, 65, 80, 95, 97, 129, 130, 131, 145, 191, 200)


def beside(im: Image, p: Position):
    return im(p - (1, 0)) * 2 + im(p + (1, 1)) - im(p + (0, -1)) * 0.5


def far_along(im: Image, p: Position):
    return im(p - (5, 0)) + im(p + (7, 1)) * 3 - im(p + (15, -1)), im(p - (16, 2))


def chosen(im: Image, p: Position):
    return max(im(p + (i, j)) for i in (-2, -1, 0, 1, 3) for j in (-1, 0, 1))


def placed(im: Image, p: Position, k: Float):
    return math.sin(im(p + (1, 0)) * k) + p.x * 0.5 if im(p - (2, 0)) > 0.25 else im((p.y, p.x))


def turned(im: Image, p: Position):
    return im(p - (1, 0)).zyx - im(p + (3, 0)) * 0.25


def mixed(im: Image, p: Position):
    return Vec3(im(p - (1, 0)).x, im(p + (1, 0)).y, im(p + (2, 1)).z + p.x * 0.01)


def pattern(shape, dtype, seed=1):
    numbers = np.random.default_rng(seed).random(shape)
    return (numbers * (1 if np.dtype(dtype).kind == "f" else 250)).astype(dtype)


@pytest.fixture
def both(monkeypatch):
    """What a function gives without and with code for the ends of rows."""

    @functools.cache
    def compiled(function, least):
        return pygpu.compile(function, target="cpu")

    def calls(function, *arguments, **options):
        results = []
        for least in (2**60, 0):
            monkeypatch.setattr(program, "ENDS", least)
            results.append(compiled(function, least)(*arguments, **options))
        return results

    return calls


@pytest.mark.parametrize(
    ("dtype", "boundary"),
    [*itertools.product(("float32", "uint8"), RULES)]
    + [*itertools.product(("uint16", "float16", "int32", "bool"), ("mirror", "constant"))],
)
def test_ends_of_rows_are_the_same_by_either_way(both, dtype, boundary):
    cval = 0.25 if boundary == "constant" and dtype not in ("int32", "bool") else 0
    for function in (beside, far_along, chosen):
        for place, width in enumerate(WIDTHS):
            image = Image(pattern((1 + place % 13, width), dtype), boundary=boundary, cval=cval)
            for kind in (None, dtype):
                one, other = both(function, image, dtype=kind)
                assert np.array_equal(one, other), (function.__name__, width, kind)


@pytest.mark.parametrize("boundary", RULES)
def test_ends_of_rows_of_colours(both, boundary):
    for function, dtype in itertools.product((turned, mixed), ("float32", "uint8")):
        for width in (33, 47, 48, 49, 64, 65, 130, 200):
            image = Image(pattern((7, width, 3), dtype), boundary=boundary, cval=0)
            one, other = both(function, image)
            assert np.array_equal(one, other), (function.__name__, dtype, width)


def test_ends_of_rows_beside_other_reads_and_numbers(both):
    for width in (34, 48, 65, 130):
        one, other = both(placed, pattern((50, width), np.float32), 3.5)
        assert np.array_equal(one, other)


def test_ends_of_rows_of_volumes_and_rounds(both, monkeypatch):
    def heat(v: Volume, p: Position, k: Float):
        return v(p) + k * (v(p + (1, 0, 0)) + v(p - (1, 0, 0)) + v(p - (0, 1, 1)) - 3 * v(p))

    volume = pattern((9, 11, 70), np.float32)
    one, other = both(heat, volume, 0.1)
    assert np.array_equal(one, other)
    image, rounds = pattern((40, 70), np.float32), []
    for least in (2**60, 0):
        monkeypatch.setattr(program, "ENDS", least)
        rounds.append(pygpu.compile(beside, target="cpu").iterate(image, 5))
    assert np.array_equal(*rounds)


def test_ends_of_rows_have_code_after_so_many_calls(monkeypatch):
    monkeypatch.setattr(program, "ENDS", 40)
    made = []
    compiled = program.CpuProgram._native

    def noted(self, text):
        made.append(text)
        return compiled(self, text)

    monkeypatch.setattr(program.CpuProgram, "_native", noted)
    f, image = pygpu.compile(beside, target="cpu"), pattern((60, 100), np.float32)
    first = f(image)
    counts = []
    for _ in range(8):
        assert np.array_equal(f(image), first)
        counts.append(len(made))
    assert (counts[0], counts[-1]) == (1, 2)


def test_ends_of_rows_in_stages(monkeypatch):
    image = pattern((130, 150), np.float32)
    results = []
    for least in (2**60, 0):
        monkeypatch.setattr(program, "ENDS", least)
        first, second = (pygpu.compile(each, target="cpu") for each in (beside, chosen))
        steps = pygpu.pipeline(lambda im, f=first, g=second: g(f(im)), target="cpu")
        results.append([np.asarray(steps(image)) for _ in range(3)][-1])
    assert np.array_equal(*results)


def test_ends_of_rows_that_two_threads_compile_at_once_stay(monkeypatch):
    monkeypatch.setattr(program, "ENDS", 40)
    image = pattern((60, 100), np.float32)
    expected = pygpu.compile(beside, target="cpu")(image)
    f, together = pygpu.compile(beside, target="cpu"), threading.Barrier(4)
    made, wrong = [], []
    compiled = program.CpuProgram._native

    def waits(self, text):
        with contextlib.suppress(threading.BrokenBarrierError):
            together.wait(2)
        native = compiled(self, text)
        made.append(weakref.ref(native[0]))
        return native

    f(image)
    monkeypatch.setattr(program.CpuProgram, "_native", waits)

    def use():
        wrong.extend(1 for _ in range(300) if not np.array_equal(f(image), expected))

    threads = [threading.Thread(target=use) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
    assert len(made) > 1
    assert all(native() is not None for native in made)  # another thread may be running it


def around(v: Volume, p: Position):
    places = [(i, j, k) for k in (-1, 0, 1) for j in (-1, 0, 1) for i in (-1, 0, 1)]
    return sum(v(p + d) > 0.5 for d in places)


def smoothed(v: Volume, p: Position):
    near = v(p - (2, 0, 0)) + v(p + (1, 1, 0)) * 0.5
    return math.exp(near - v(p + (0, 0, 1))) + math.sin(near)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
@pytest.mark.parametrize("boundary", RULES)
def test_short_rows_of_planes_are_the_same_in_fewer_lanes(monkeypatch, dtype, boundary):
    monkeypatch.setattr(program, "ENDS", 0)
    for function in (around, smoothed):
        for width in (9, 31, 33, 70, 127):
            volume = Volume(pattern((3, 5, width), dtype), boundary=boundary)
            results = []
            for least in (2**60, 0):
                monkeypatch.setattr(program, "MANY", least)
                results.append(pygpu.compile(function, target="cpu")(volume))
            assert np.array_equal(*results), (function.__name__, width)


@pytest.mark.parametrize(("dtype", "per_lane"), [("float32", 1), ("uint8", 4)])
def test_short_rows_of_many_planes_take_fewer_lanes(monkeypatch, dtype, per_lane):
    made = []
    compiled = program.CpuProgram._native

    def noted(self, text):
        made.append(self.plan.lanes)
        return compiled(self, text)

    monkeypatch.setattr(program.CpuProgram, "_native", noted)
    lanes = host().lanes * per_lane
    count = pygpu.compile(around, target="cpu")
    for width, halves in ((2 * lanes, 0), (lanes, 1)):  # the second has too few for its ends
        made.clear()
        count(Volume(pattern((600, 16, width), dtype)))
        assert min(made) == max(lanes >> halves, FEWEST * per_lane)
