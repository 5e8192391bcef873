"""
Oil paint
=========

Each pixel takes the mean colour of the commonest brightness around it. The histogram is a list of
counts and colours made for each pixel: its length is known, what is in it is not.

Reference: the oil filter of GIMP; P. Haeberli, *Paint by numbers*, 1990, for the idea.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, offsets

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def painted(im: Image, p: Position, radius=4, levels=8):
    counts = [0.0] * levels
    colours = [Vec3(0.0)] * levels
    for d in offsets(np.ones((2 * radius + 1, 2 * radius + 1))):
        if d.x**2 + d.y**2 > radius**2:
            continue
        v = im(p + d)
        level = int(dot(GREY, v) * (levels - 1) + 0.5)
        for k in range(levels):
            inside = 1.0 if k == level else 0.0
            counts[k] += inside
            colours[k] += inside * v
    most, colour = counts[0], colours[0]
    for k in range(1, levels):
        if counts[k] > most:
            most, colour = counts[k], colours[k]
    return colour / most


def render(photo: Image, *, radius=4, levels=8) -> Image:
    return painted(photo, radius=radius, levels=levels)


if __name__ == "__main__":
    main(render, radius=(1, 8), levels=(2, 16))
