"""
Voronoi cells
=============

Points on a jittered grid and the places nearest to each. The distance to the border is exact: a
second look around measures it to the line between the two points.

Reference: S. Worley, *A cellular texture basis function*, 1996; I. Quilez, *Voronoi edges*.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, dot, normalize, smoothstep

AROUND = [(i, j) for j in range(-2, 3) for i in range(-2, 3)]


def random(i, j):
    h = Int(i) * 374761393 + Int(j) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    return h ^ (h >> 16)


def point(i, j):
    h = random(i, j)
    return Vec2(i + (h & 0xFF) / 255, j + (h >> 8 & 0xFF) / 255)


@pygpu.compile
def cells(p: Position, size: float):
    q = Vec2(p.x, p.y) / size
    i, j = math.floor(q.x), math.floor(q.y)
    nearest, least, hue = point(i, j), 8.0, 0.0
    for di, dj in AROUND:
        there = point(i + di, j + dj)
        square = dot(there - q, there - q)
        if square < least:
            nearest, least = there, square
            hue = (random(i + di, j + dj) >> 16 & 0xFF) / 255
    border = 8.0
    for di, dj in AROUND:
        there = point(i + di, j + dj)
        way = there - nearest
        if dot(way, way) > 1e-6:
            border = min(border, dot((there + nearest) / 2 - q, normalize(way)))
    colour = Vec3(*[0.6 + 0.35 * math.cos(6.2832 * (0.3 * hue + k / 7)) for k in range(3)])
    rings = 0.92 + 0.08 * math.cos(60 * border)
    return smoothstep(0.0, 0.04, border) * rings * (1.1 - 0.8 * least) * colour


def render(photo: Image, *, size=64.0) -> Image:
    return cells(size=size, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, size=(2, 10_000))
