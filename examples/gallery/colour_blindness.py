"""
Colour blindness
================

What people see who lack one kind of cones, as a matrix on linear light. Left to right: everybody,
no red cones, no green cones, no blue cones.

Reference: G. Machado, M. Oliveira, L. Fernandes, *A physiologically-based model for simulation of
color vision deficiency*, 2009.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Mat3, Position, Vec3, clamp

VISIONS = {
    "everybody": np.eye(3),
    "protanopia": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranopia": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritanopia": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


def linear(v):
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def encoded(v):
    return 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


@pygpu.compile
def seen(im: Image, p: Position, vision: Mat3):
    light = vision @ Vec3(*map(linear, im(p)))
    return Vec3(*[encoded(clamp(v, 0.0, 1.0)) for v in light])


@pygpu.compile
def strips(a: Image, b: Image, c: Image, d: Image, p: Position):
    """A quarter of the width of each."""
    which = 4 * p.x // a.width
    if which == 0:
        return a(p)
    elif which == 1:
        return b(p)
    elif which == 2:
        return c(p)
    return d(p)


def render(photo: Image) -> Image:
    return strips(*[seen(photo, vision=vision) for vision in VISIONS.values()])


if __name__ == "__main__":
    main(render)
