"""
Local binary patterns
=====================

Eight neighbours on a circle, each brighter than the centre or not, make a byte that tells
textures apart and ignores the lighting. Four of the eight lie between pixels, so the grey picture
is read with linear interpolation.

Reference: T. Ojala, M. Pietikäinen, T. Mäenpää, *Multiresolution gray-scale and rotation
invariant texture classification with local binary patterns*, 2002.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def patterns(im: Image, p: Position, points=8, radius=1.0):
    between = im.sampled(interpolation="linear")
    code = 0
    for k in range(points):
        angle = 2 * math.pi * k / points
        d = (round(radius * math.cos(angle), 5), round(-radius * math.sin(angle), 5))
        code |= int(between(p + d) >= im(p)) << k
    return code


@pygpu.compile
def shown(code: Image, p: Position, most: float):
    return code(p) / most


def render(photo: Image, *, points=8, radius=1.0) -> Image:
    return shown(patterns(grey(photo), points=points, radius=radius), most=2.0**points - 1)


if __name__ == "__main__":
    main(render, points=(4, 16), radius=(1, 8))
