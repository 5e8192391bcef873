"""
Ripple
======

A drop has fallen into the picture: rings bend the light, and their slopes shine.

Reference: the wave filters of GIMP and ImageMagick.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, length


@pygpu.compile
def rippled(im: Image, p: Position, centre: Vec2, wavelength: float, depth: float):
    between = im.sampled(interpolation="linear", boundary="mirror")
    v = p - centre
    r = max(length(v), 1e-3)
    fading = math.exp(-r / (8 * wavelength))
    slope = math.cos(2 * math.pi * r / wavelength) * fading
    seen = between(p + depth * slope * v / r)
    return seen + 0.35 * slope * max(0.0, -(v.x + v.y) / r)


def render(photo: Image, *, wavelength=28.0, depth=9.0) -> Image:
    centre = Vec2(0.5 * photo.width, 0.45 * photo.height)
    return rippled(photo, centre=centre, wavelength=wavelength, depth=depth)


if __name__ == "__main__":
    main(render, wavelength=(2, 500), depth=(0, 100))
