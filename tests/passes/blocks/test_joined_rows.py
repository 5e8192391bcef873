"""Images of short rows give the same bits as long rows as they give by themselves."""

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position
from pygpu.devices.cpu import moves, program

RNG = np.random.default_rng(3)
BOUNDARIES = ("nearest", "reflect", "mirror", "constant", "wrap")


@pygpu.compile(target="cpu")
def window(im: Image, p: Position):
    return sum((2.3 * x + 1.7 * y + 1) * im(p + (x, y)) for x in (-1, 0, 1) for y in (-1, 0, 1))


@pygpu.compile(target="cpu")
def two_results(im: Image, p: Position):
    far = sum((x * y + 3) * im(p + (x, y)) for x in range(-2, 3) for y in range(-1, 3))
    return far, im(p) - im(p + (-2, 0))


@pygpu.compile(target="cpu")
def two_images(im: Image, other: Image, p: Position, gain: Float = 2.0):
    if im(p) > 0.4:
        return np.maximum(im(p + (3, 0)), other(p - (1, 2))) * gain
    return other(p + (0, 1))


@pygpu.compile(target="cpu")
def placed(im: Image, p: Position):
    return im(p + (1, 0)) * p.x + p.y


@pytest.fixture
def joined(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The sizes of images that were computed so."""
    sizes = []
    run = moves.JoinedRows.run

    def noted(self, given):
        sizes.append(given.shape)
        run(self, given)

    monkeypatch.setattr(moves.JoinedRows, "run", noted)
    monkeypatch.setattr(program.CpuProgram, "can_end", False)  # else ends of rows have own code
    monkeypatch.setattr(program, "MANY", 1)
    monkeypatch.setattr(moves, "JOINED", 256)
    return sizes


def plain(monkeypatch: pytest.MonkeyPatch, function, *args):
    """The results by rows as they are."""
    with monkeypatch.context() as patch:
        for name in ("WIDE", "SHORT", "NARROW"):
            patch.setattr(program, name, 0)
        return function.on("cpu")(*args)


def check(monkeypatch: pytest.MonkeyPatch, function, *args) -> None:
    have, want = function.on("cpu")(*args), plain(monkeypatch, function, *args)
    have, want = (each if isinstance(each, tuple) else (each,) for each in (have, want))
    for one, other in zip(have, want, strict=True):
        assert np.array_equal(np.asarray(one), np.asarray(other))


@pytest.mark.parametrize(
    ("boundary", "dtype"),
    [*[(each, "float32") for each in BOUNDARIES], ("nearest", "uint8"), ("constant", "uint16")],
)
def test_results_are_those_of_rows_as_they_are(monkeypatch, joined, boundary, dtype) -> None:
    for width in (5, 16, 127):
        shape = 3000 // width + 7, width
        texels = RNG.random(shape, np.float32)
        texels = texels if dtype == "float32" else (255 * texels).astype(dtype)
        im = Image(texels, boundary=boundary, cval=0.25 if dtype == "float32" else 3)
        other = Image(np.ascontiguousarray(texels[::-1]))
        check(monkeypatch, window, im)
        check(monkeypatch, two_results, im)
        check(monkeypatch, two_images, im, other)
    assert bool(joined) == (boundary != "wrap")


def test_colours_arrays_to_fill_and_what_has_other_sizes(monkeypatch, joined) -> None:
    colours = RNG.random((300, 21, 3), np.float32)
    check(monkeypatch, window, Image(colours))
    assert joined == [(300, 21)]
    grey = np.ascontiguousarray(colours[..., 0])
    result = np.empty_like(grey)
    window(grey, out=result)
    assert np.array_equal(result, plain(monkeypatch, window, grey))
    assert len(joined) == 2
    check(monkeypatch, two_images, Image(grey), Image(grey[:200]))  # of two sizes
    check(monkeypatch, placed, Image(grey))  # where a pixel stands, matters
    check(monkeypatch, window, Image(grey[:5]))  # too few rows
    check(monkeypatch, window, Image(colours[:, 2:17, :]))
    strided = colours[:, 2:17, 0]
    assert np.array_equal(window(strided), window(np.ascontiguousarray(strided)))


def test_rounds_stay_one_job(monkeypatch, joined) -> None:
    im = Image(RNG.random((400, 60), np.float32))
    want = im
    for _ in range(5):
        want = plain(monkeypatch, window, want)
    assert np.array_equal(np.asarray(window.iterate(im, 5)), np.asarray(want))
    assert len(joined) <= 1  # the first, by itself
