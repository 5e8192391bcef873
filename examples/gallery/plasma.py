"""
Plasma
======

The first graphics effect of many: sines of the position, added, seen through a palette.

Reference: the demo scene, about 1990.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3


@pygpu.compile
def plasma(p: Position, size: Vec2, time: float):
    x, y = 6 * (p - size / 2) / size.y
    cx, cy = x + 0.8 * math.sin(time / 5), y + 0.8 * math.cos(time / 3)
    v = math.sin(2 * x + time) + math.sin(2 * (x * math.sin(time / 2) + y * math.cos(time / 3)))
    v += math.sin(2 * math.hypot(cx, cy) + time) + math.sin(math.hypot(x, y))
    return Vec3(*[0.5 + 0.5 * math.sin(1.4 * math.pi * v + k * 2 * math.pi / 3) for k in range(3)])


def render(photo: Image, *, time=4.0) -> Image:
    return plasma(size=Vec2(photo.width, photo.height), time=time, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, time=(0, 1000))
