"""
Zoom blur
=========

A lens that zooms while the shutter is open: each pixel is the mean of those on its way to the
centre. The centre itself stays sharp.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3


@pygpu.compile
def zoomed(im: Image, p: Position, centre: Vec2, amount: float, samples: int):
    between = im.sampled(interpolation="linear")
    to_centre = amount * (centre - p)
    total = Vec3(0.0)
    for k in range(samples):
        total += between(p + (k / samples) * to_centre)
    return total / samples


def render(photo: Image, *, amount=0.25, samples=32) -> Image:
    centre = Vec2(photo.width * 0.5, photo.height * 0.3)
    return zoomed(photo, centre=centre, amount=amount, samples=samples)


if __name__ == "__main__":
    main(render, amount=(-1, 1), samples=(1, 256))
