"""
Tilt shift
==========

A blur that grows with the distance from a line makes a street look like a model railway: the
radius differs from pixel to pixel, so the loop over it runs on the device. Points on a
golden-angle spiral fill the disc of a lens evenly; colours are lifted a little, as toys have
them.

Reference: H. Vogel, *A better way to construct the sunflower head*, 1979.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


@pygpu.compile
def tilted(im: Image, p: Position, line: float, sharp: float, blur: float):
    between = im.sampled(interpolation="linear")
    away = abs(p.y / im.height - line) - sharp
    radius = blur * max(0.0, away)
    points = 1 + int(1.5 * radius * radius)
    total = Vec3(0.0)
    for k in range(min(points, 96)):
        r, turn = radius * math.sqrt(k / points), k * GOLDEN_ANGLE
        total += between(p + Vec2(r * math.cos(turn), r * math.sin(turn)))
    return total / min(points, 96)


@pygpu.compile
def vivid(im: Image, p: Position, saturation: float = 1.3):
    c = im(p)
    grey = dot(c, Vec3(0.2125, 0.7154, 0.0721))
    return grey + saturation * (c - grey)


def render(photo: Image, *, line=0.25, sharp=0.12, blur=16.0) -> Image:
    return vivid(tilted(photo, line=line, sharp=sharp, blur=blur))


if __name__ == "__main__":
    main(render, line=(0, 1), sharp=(0, 1), blur=(0, 100))
