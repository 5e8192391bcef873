"""The SSA of a few functions, before and after simplification, as committed texts."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy import ravel, sqrt, transpose

import pygpu
from pygpu import Float, Image, Position, Vec2, Vec3, offsets

SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])


def convolve(kernel, im: Image, p: Position):
    return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel), strict=True)])


def edges(im: Image, p: Position):
    Gx = convolve(SOBEL, im, p)
    Gy = convolve(transpose(SOBEL), im, p)
    return sqrt(Gx**2 + Gy**2)


def mandelbrot(p: Position, scale: Float = 0.01):
    c = p * scale - (2.0, 1.0)
    z = Vec2(0, 0)
    for i in range(100):
        if pygpu.dot(z, z) > 4:
            return i
        z = Vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c
    return 100


def posterise(rgb: Image, p: Position, levels: Float = 4.0):
    c = rgb(p)
    if max(c) > 0.9:
        return Vec3(1.0)
    return np.floor(c * levels) / levels


def wide_blur(im: Image, p: Position):
    return sum(im(p + (i, j)) for j in range(-20, 21) for i in range(-20, 21)) / 41**2


def twirled(im: Image, p: Position, angle: Float = 0.1):
    return im.sampled(boundary="mirror", interpolation="linear")(p + Vec2(angle * p.y, 0.5))


FUNCTIONS = [edges, mandelbrot, posterise, wide_blur, twirled]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_ssa_is_the_golden_one(function, golden) -> None:
    grey = np.zeros((8, 8), np.float32)
    given = {"im": grey, "rgb": np.zeros((8, 8, 3), np.float32)}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    images = {name: given[name] for name in names if name in given}
    shape = {} if images else {"shape": (8, 8)}
    lowered = pygpu.compile(function, target="interpreter").lower(**images, **shape)
    golden.check(f"ssa/{function.__name__}.txt", lowered.ssa)


@dataclass
class Sample:
    weight: float
    value: float

    def weighted(self):
        return self.weight * self.value

    def __add__(self, other):
        return Sample(self.weight + other.weight, self.weighted() + other.weighted())


def with_objects(im: Image, p: Position, gain: Float = 2.0):
    total = 0.0
    for dx, weight in ((-1, 0.25), (0, 0.5), (1, 0.25)):
        total += Sample(weight, im(p + (dx, 0))).weighted()
    return total * gain


def without_objects(im: Image, p: Position, gain: Float = 2.0):
    total = 0.0
    for dx, weight in ((-1, 0.25), (0, 0.5), (1, 0.25)):
        total += weight * im(p + (dx, 0))
    return total * gain


def test_objects_leave_no_trace() -> None:
    grey = np.zeros((8, 8), np.float32)
    texts = [
        pygpu.compile(function, target="interpreter").lower(grey).ssa.partition("# after")[2]
        for function in (with_objects, without_objects)
    ]
    assert texts[0].replace("with_objects", "f") == texts[1].replace("without_objects", "f")
