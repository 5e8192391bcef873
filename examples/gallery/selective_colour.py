"""
Selective colour
================

One colour stays, all else goes grey. How much a pixel keeps depends on the angle between its
chromaticity and that of the colour, with a soft edge.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, length, mix, smoothstep

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def kept(im: Image, p: Position, colour: Vec3, width: float):
    c = im(p)
    grey = dot(GREY, c)
    chroma, wanted = c - sum(c) / 3, colour - sum(colour) / 3
    size = length(chroma)
    angle = math.acos(min(1.0, dot(chroma, wanted) / max(size * length(wanted), 1e-6)))
    keep = (1 - smoothstep(0.7 * width, 1.3 * width, angle)) * smoothstep(0.05, 0.15, size)
    return mix(Vec3(grey), c, keep)


def render(photo: Image, *, hue=12.0, width=30.0) -> Image:
    turns = [math.radians(hue - 120 * k) for k in range(3)]
    colour = Vec3(*[0.5 + 0.5 * math.cos(t) for t in turns])
    return kept(photo, colour=colour, width=math.radians(width))


if __name__ == "__main__":
    main(render, hue=(-360, 360), width=(1, 180))
