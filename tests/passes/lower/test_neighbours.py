"""Differences to neighbouring pixels, in functions of images and in fragments."""

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Vec2
from pygpu.core.builder import Builder
from pygpu.core.interpret import run
from pygpu.passes.lower.neighbours import flatten_differences
from pygpu.ssa import ImageInput, Region, walk
from pygpu.types import BOOL, FLOAT

PHOTO = np.random.default_rng(0).random((7, 9)).astype(np.float32)


def slope(im: Image, p: Position):
    value = im(p) ** 2 + 0.1 * p.x
    return Vec2(pygpu.ddx(value), pygpu.ddy(value))


def branched(im: Image, p: Position):
    value = 0.0
    if im(p) > 0.5:
        value = im(p + (1, 0)) * 2
    for k in range(p.x % 3):
        value += k * im(p)
    return pygpu.fwidth(value) + (pygpu.ddx(im(p)) if p.y % 2 else 0.0)


def twice(im: Image, p: Position):
    return pygpu.ddx(pygpu.ddx(im(p)))


@pytest.mark.parametrize("function", [slope, branched, twice])
def test_differences_of_images_are_those_of_neighbours(function, target):
    compiled = pygpu.compile(function, target=target)
    result = compiled(PHOTO)
    image = Image(PHOTO)
    for p in [(0, 0), (3, 2), (8, 6), (4, 5)]:
        expected = compiled(image, Position(*p))
        np.testing.assert_allclose(result[p[1], p[0]], np.array(expected), atol=1e-6)


def test_difference_is_of_the_pixel_to_the_right_and_below():
    result = pygpu.compile(slope, target="cpu")(PHOTO)
    value = np.pad(PHOTO, ((0, 1), (0, 1)), mode="edge") ** 2 + 0.1 * np.arange(10)
    np.testing.assert_allclose(result[..., 0], (value[:-1, 1:] - value[:-1, :-1]), atol=1e-6)
    np.testing.assert_allclose(result[..., 1], (value[1:, :-1] - value[:-1, :-1]), atol=1e-6)


def test_what_a_loop_carries_has_no_neighbour():
    def carried(im: Image, p: Position):
        total = im(p)
        for _ in range(p.x):
            total = total + pygpu.ddx(total)
        return total

    with pytest.raises(pygpu.CompileError, match=r"ddx\(\) of a value that a loop carries"):
        pygpu.compile(carried, target="cpu")(PHOTO)


def test_a_function_without_a_position_has_no_neighbours():
    with pytest.raises(pygpu.CompileError, match="takes no Position"):
        pygpu.vectorize(lambda x: pygpu.ddx(x), target="cpu")(PHOTO)
    with pytest.raises(RuntimeError, match="needs the neighbours of a pixel"):
        pygpu.ddx(3.0)


def test_branches_that_hold_differences_are_taken_apart():
    build = Builder("f", [ImageInput("im", FLOAT)])
    texel = build.load(0, build.x, build.y)
    condition = build.emit("gt", texel, build.constant(FLOAT, 0.5))
    yes, no = Region(), Region()
    with build.inside(yes):
        yes.results = (build.emit("ddx", texel),)
    with build.inside(no):
        no.results = (build.constant(FLOAT, 7.0),)
    (result,) = build.append("if", [condition], [FLOAT], [yes, no])
    function = build.finish([result])
    made = flatten_differences(function)
    assert [op.code for op in walk(made.body) if op.code == "if"] == []
    assert condition.type is BOOL
    np.testing.assert_array_equal(
        run(made, [PHOTO], [], PHOTO.shape)[0], run(function, [PHOTO], [], PHOTO.shape)[0]
    )
    assert flatten_differences(made) is made
