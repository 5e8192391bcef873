"""
Motion blur
===========

What a camera sees that moves while the shutter is open: the mean of the picture along a line,
read between pixels. The line and the number of points on it are given at the call: turning the
camera compiles nothing.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3


@pygpu.compile
def smeared(im: Image, p: Position, way: Vec2, samples: int):
    """The mean of `samples` points on the line of which `way` is the length, p in its middle."""
    between = im.sampled(interpolation="linear")
    total = Vec3(0.0)
    for k in range(samples):
        total += between(p + (k / (samples - 1) - 0.5) * way)
    return total / samples


def render(photo: Image, *, distance=24.0, angle=30.0) -> Image:
    turn = math.radians(angle)
    way = Vec2(distance * math.cos(turn), -distance * math.sin(turn))
    return smeared(photo, way=way, samples=max(2, math.ceil(distance)))


if __name__ == "__main__":
    main(render, distance=(0, 200), angle=(-360, 360))
