"""
Sketch
======

Lines from a difference of two Gaussians, with a soft threshold that turns the rest to tone:
pencil on paper. Four blurs of one function give the two Gaussians.

Reference: H. Winnemöller, J. E. Kyprianidis, S. Olsen, *XDoG: an extended difference-of-Gaussians
compendium*, 2012.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def blurred(im: Image, p: Position, sigma=1.0, direction=(1, 0)):
    dx, dy = direction
    x = np.arange(-int(3 * sigma + 0.5), int(3 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + (i * dx, i * dy)) for i, w in zip(x, weights, strict=True))


def gaussian(im, sigma):
    return blurred(blurred(im, sigma=sigma), sigma=sigma, direction=(0, 1))


@pygpu.compile
def drawn(near: Image, far: Image, p: Position, lines: float, dark: float, soft: float):
    v = near(p) + lines * (near(p) - far(p))
    return 1.0 if v >= dark else 1 + math.tanh(soft * (v - dark))


def render(photo: Image, *, sigma=0.9, lines=18.0, dark=0.55, soft=2.5) -> Image:
    light = grey(photo)
    near, far = gaussian(light, sigma), gaussian(light, 1.6 * sigma)
    return drawn(near, far, lines=lines, dark=dark, soft=soft)


if __name__ == "__main__":
    main(render, sigma=(0.3, 8), lines=(0, 200), dark=(0, 1), soft=(0, 100))
