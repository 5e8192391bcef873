"""
Rotate
======

Each pixel of the result asks where in the photograph it comes from, and reads between the pixels
there. Outside is what the boundary says: black here.

Reference: `scipy.ndimage.affine_transform` with order 1, with which it agrees.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Mat2, Position, Vec2


@pygpu.compile
def rotated(im: Image, p: Position, turn: Mat2):
    between = im.sampled(interpolation="linear", boundary="constant")
    middle = Vec2(im.width - 1, im.height - 1) / 2
    return between(middle + turn @ (p - middle))


def render(photo: Image, *, degrees=20.0, zoom=1.0) -> Image:
    cos, sin = math.cos(math.radians(degrees)) / zoom, math.sin(math.radians(degrees)) / zoom
    return rotated(photo, turn=Mat2([[cos, -sin], [sin, cos]]))


if __name__ == "__main__":
    main(render, degrees=(-360, 360), zoom=(0.05, 20))
