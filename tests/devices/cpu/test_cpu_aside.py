"""Results in arrays of the caller's that lie so that loads would wait for stores are computed aside
and copied: the same bits, wherever they lie."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position
from pygpu.devices.cpu.layout import Layout

RNG = np.random.default_rng(4)
PAGE = 4096
GUARD = 128


def edges(im: Image, p: Position):
    return abs(im(p + (1, 0)) - im(p + (-1, 0))) + abs(im(p + (0, 1)) - im(p + (0, -1)))


def both(im: Image, p: Position):
    return edges(im, p), im(p + (1, 1)) - im(p + (-1, -1))


def scaled(im: Image, p: Position):
    return 2 * im(p)


def at(shape, dtype, shift):
    """An array that begins so many bytes behind a page's start, and all of its memory."""
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = np.full(nbytes + 2 * PAGE + GUARD, 77, np.uint8)
    start = -memory.ctypes.data % PAGE + shift
    array = memory[start : start + nbytes].view(dtype).reshape(shape)
    return array, (memory[:start], memory[start + nbytes :])


@pytest.mark.parametrize("boundary", ["nearest", "wrap", "constant"])
@pytest.mark.parametrize(("shape", "dtype"), [
    ((517, 1024), "float32"), ((257, 1024, 3), "float32"), ((130, 4096), "int32"),
    ((515, 4096), "uint8"), ((2051, 2048), "float32"),
])  # fmt: skip
def test_results_are_the_same_wherever_they_lie(shape, dtype, boundary):
    texels, _ = at(shape, dtype, 0)
    texels[:] = RNG.random(shape) * 100
    compiled = pygpu.compile(edges, target="cpu")
    given = Image(texels, boundary=boundary)
    expected = np.asarray(compiled(given))
    for shift in (0, 16, 64, 200, 2048, 4080):
        out, around = at(expected.shape, expected.dtype, shift)
        for _ in range(2):
            compiled(given, out=out)
        np.testing.assert_array_equal(out, expected)
        assert all((part == 77).all() for part in around)


def test_several_results():
    texels, _ = at((600, 1024), np.float32, 0)
    texels[:] = RNG.random(texels.shape)
    compiled = pygpu.compile(both, target="cpu")
    expected = [np.asarray(result) for result in compiled(texels)]
    outs = [at(texels.shape, np.float32, shift)[0] for shift in (16, 96)]
    compiled(texels, out=tuple(outs))
    np.testing.assert_array_equal(outs, expected)


@pytest.mark.parametrize(("function", "width", "looks"), [
    (edges, 1024, True), (edges, 1000, False), (scaled, 1024, False),
])  # fmt: skip
def test_only_functions_that_load_again_in_rows_of_whole_pages_look(
    function, width, looks, monkeypatch
):
    found = []
    made = Layout._aside
    monkeypatch.setattr(Layout, "_aside", lambda self: found.append(made(self)) or found[-1])
    pygpu.compile(function, target="cpu")(np.zeros((1024, width), np.float32))
    assert any(found) == looks
