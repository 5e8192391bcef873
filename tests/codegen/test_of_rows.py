"""What does not change along a row is computed before the loop over blocks, to the same bits."""

import math

import numpy as np

import pygpu
from pygpu import Image, Int, Position

RNG = np.random.default_rng(2)
HIGH, WIDE = 37, 83


@pygpu.compile(target="cpu")
def of_place(im: Image, p: Position, n: Int = 5):
    return textured(im, p, p.y, n)


@pygpu.compile(target="cpu")
def of_texels(im: Image, rows: Image, p: Position, n: Int = 5):
    return textured(im, p, rows(p), n)


def textured(im, p, y, n):
    """Of a row's number: branches, loops whose ends it decides, and powers."""
    total = math.sin(1e5 * y) + math.sqrt(y + 1.0)
    for k in range(y % 5 + n):
        total += math.cos(0.1 * k * y) if k % 2 else 0.5
    if y > 20:
        total = total * im(p) + (y / 7.0) ** 1.3
        if im(p) > 0.5:
            total -= math.sin(total)
    return total + im(p + (1, -1)), total


def check(height: int, width: int) -> None:
    im = Image(RNG.random((height, width), np.float32))
    rows = Image(np.repeat(np.arange(height, dtype=np.int32)[:, None], width, 1))
    for n in (0, 5):
        have, want = of_place(im, n=n), of_texels(im, rows, n=n)
        for one, other in zip(have, want, strict=True):
            assert np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True)


def test_values_of_rows_have_the_bits_of_values_of_pixels() -> None:
    check(HIGH, WIDE)
    check(3, 5)
    check(1, 200)
    check(700, 40)


@pygpu.compile(target="cpu")
def waves(im: Image, p: Position):
    return im(p) * math.sin(1e-2 * p.y)


def test_sines_of_rows_are_before_the_loop() -> None:
    text = waves.lower(np.zeros((64, 64), np.float32)).source
    before = text.partition("phi i32")[0]
    assert "@sin" in before, before


def test_folds_by_group_have_loops_of_their_own() -> None:
    im = Image(RNG.random((20, 30), np.float32))
    found = pygpu.reduce(lambda a, b: a + b, im, by=lambda v: v > 0.5, groups=2, initial=0.0)
    texels = np.asarray(im)
    want = [texels[texels <= 0.5].sum(), texels[texels > 0.5].sum()]
    np.testing.assert_allclose(np.asarray(found), want, rtol=1e-5)
