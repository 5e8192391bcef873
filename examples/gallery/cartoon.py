"""
Cartoon
=======

Flat colours and ink: a few rounds of a small bilateral filter, brightness in soft steps, and
lines from a difference of Gaussians.

Reference: H. Winnemöller, S. Olsen, B. Gooch, *Real-time video abstraction*, 2006.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, floor, offsets, smoothstep

GREY = Vec3(0.2125, 0.7154, 0.0721)
WINDOW = offsets(np.ones((5, 5)))


@pygpu.compile
def smoothed(im: Image, p: Position, like: float):
    centre = im(p)
    total, weights = Vec3(0.0), 0.0
    for d in WINDOW:
        v = im(p + d)
        difference = v - centre
        weight = math.exp(-0.125 * (d.x**2 + d.y**2) - dot(difference, difference) / like**2)
        total += weight * v
        weights += weight
    return total / weights


@pygpu.compile
def inked(im: Image, p: Position, levels: float, ink: float):
    near = far = near_weights = far_weights = 0.0
    for d in offsets(np.ones((7, 7))):
        grey = dot(GREY, im(p + d))
        square = d.x**2 + d.y**2
        a, b = math.exp(-square / 2), math.exp(-square / 5.12)
        near, near_weights = near + a * grey, near_weights + a
        far, far_weights = far + b * grey, far_weights + b
    difference = near / near_weights - far / far_weights
    line = smoothstep(-0.02, -0.008, ink * difference)
    c = im(p)
    light = max(1e-3, dot(GREY, c))
    step = floor(light * levels)
    flat = (step + smoothstep(0.35, 0.65, light * levels - step)) / levels
    return line * c * (0.35 + 0.65 * flat / light)


def render(photo: Image, *, rounds=5, like=0.15, levels=6, ink=1.0) -> Image:
    return inked(smoothed.iterate(photo, rounds, like=like), levels=levels, ink=ink)


if __name__ == "__main__":
    main(render, rounds=(0, 50), like=(0.001, 10), levels=(1, 64), ink=(0, 10))
