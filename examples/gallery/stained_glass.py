"""
Stained glass
=============

Each piece of glass is the cell of a point that has been moved at random from a grid: a pixel
looks at the points of the nine cells around it, takes the colour of the picture at the nearest,
and is lead where the second is almost as near.

Reference: S. Worley, *A cellular texture basis function*, 1996.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, length, smoothstep


def point(i, j):
    """The point of the cell (i, j), in cells."""
    h = Int(i) * 374761393 + Int(j) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    h ^= h >> 16
    return Vec2(i + (h & 0xFF) / 255, j + (h >> 8 & 0xFF) / 255)


@pygpu.compile
def glass(im: Image, p: Position, size: float, lead: float):
    q = Vec2(p.x, p.y) / size
    i, j = math.floor(q.x), math.floor(q.y)
    first, second, nearest = 9.0, 9.0, q
    for dj in range(-2, 3):
        for di in range(-2, 3):
            there = point(i + di, j + dj)
            distance = length(there - q)
            if distance < first:
                first, second, nearest = distance, first, there
            elif distance < second:
                second = distance
    colour = im(size * nearest)
    bright = 1.3 - 0.6 * first
    return smoothstep(0.0, lead / size, second - first - 0.5 * lead / size) * bright * colour


def render(photo: Image, *, size=14.0, lead=1.2) -> Image:
    return glass(photo, size=size, lead=lead)


if __name__ == "__main__":
    main(render, size=(3, 200), lead=(0.01, 50))
