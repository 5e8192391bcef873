"""
Swirl
=====

A turn that dies away from the centre.

Reference: `skimage.transform.swirl`, with which it agrees.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, length


@pygpu.compile
def swirled(im: Image, p: Position, centre: Vec2, strength: float, radius: float):
    between = im.sampled(interpolation="linear")
    v = p - centre
    fading = math.exp(-length(v) * 5 / (math.log(2) * radius))  # to a thousandth at the radius
    angle = math.atan2(v.y, v.x) + strength * fading
    return between(centre + length(v) * Vec2(math.cos(angle), math.sin(angle)))


def render(photo: Image, *, strength=5.0, radius=500.0) -> Image:
    centre = Vec2((photo.width - 1) / 2, (photo.height - 1) / 2)
    return swirled(photo, centre=centre, strength=strength, radius=radius)


if __name__ == "__main__":
    main(render, strength=(-100, 100), radius=(1, 10_000))
