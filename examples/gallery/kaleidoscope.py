"""
Kaleidoscope
============

Two mirrors that meet at an angle: every direction is folded into one wedge of the photograph.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, length


@pygpu.compile
def mirrored(im: Image, p: Position, wedges: float, turn: float):
    between = im.sampled(interpolation="linear", boundary="mirror")
    middle = Vec2(im.width - 1, im.height - 1) / 2
    v = p - middle
    wedge = 2 * math.pi / wedges
    angle = abs(math.atan2(v.y, v.x) % wedge - wedge / 2) + turn
    return between(middle + length(v) * Vec2(math.cos(angle), math.sin(angle)))


def render(photo: Image, *, wedges=8, degrees=150.0) -> Image:
    return mirrored(photo, wedges=wedges, turn=math.radians(degrees))


if __name__ == "__main__":
    main(render, wedges=(1, 100), degrees=(-360, 360))
