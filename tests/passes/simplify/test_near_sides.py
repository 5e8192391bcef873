"""Branches that neighbours may disagree about, with loads near the pixel, as selects."""

import numpy as np

import pygpu
from pygpu import Image, Int, Position
from pygpu.passes.simplify.if_conversion import convert_near
from pygpu.ssa import has

RNG = np.random.default_rng(3)


def peak(im: Image, p: Position):
    texel = im(p)
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if im(p + (dx, dy)) > texel:
                return 0.0
    return texel


def first(im: Image, p: Position):
    for k in range(1, 9):
        if im(p + (k, 0)) > 0.9:
            return k
    return 0


def chosen(im: Image, p: Position, smooth: Int):
    if smooth > 0:
        return sum(im(p + (i, j)) for j in (-1, 0, 1) for i in (-1, 0, 1)) / 9
    return im(p)


def framed(im: Image, p: Position):
    if p.x < 3 or p.y < 3 or p.x >= im.width - 3 or p.y >= im.height - 3:
        return 0.0
    return im(p)


def far(im: Image, p: Position):
    if im(p) > 0.5:
        return im((p.y, p.x))
    return 0.0


def ssa_of(function, **numbers):
    photo = np.zeros((8, 8), np.float32)
    return pygpu.compile(function, target="cpu").lower(photo, **numbers)._made.translated.function


def test_sides_with_loads_near_the_pixel_become_selects():
    for function in (peak, first, framed):
        assert has(ssa_of(function), "if")
        assert not has(convert_near(ssa_of(function)), "if")


def test_what_all_pixels_agree_about_stays_a_branch_and_so_do_loads_from_anywhere():
    for function in (ssa_of(chosen, smooth=1), ssa_of(far)):
        assert convert_near(function) is function


def test_they_give_what_plain_python_gives():
    photo = RNG.random((37, 53), np.float32)
    photo[5, 7] = np.nan
    for function in (peak, first, framed, far):
        for boundary in ("nearest", "wrap", "constant"):
            given = Image(photo, boundary=boundary)
            expected = pygpu.compile(function, target="interpreter")(given)
            np.testing.assert_array_equal(pygpu.compile(function, target="cpu")(given), expected)
