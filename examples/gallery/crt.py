"""
Cathode-ray tube
================

An old screen: a bulging glass, three colours of phosphor side by side, lines with dark gaps
between them that bright beams fill, and a glow.

Reference: T. Lottes, *CRT styled scanline shader*, 2014.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, glsl, smoothstep


@pygpu.compile
def screen(im: Image, p: Position, line: float, bulge: float):
    size = Vec2(im.width, im.height)
    v = 2 * (p + 0.5) / size - 1
    v *= 1 + bulge * dot(v.yx, v.yx)
    edge = max(abs(v.x), abs(v.y))
    q = size * (v + 1) / 2 - 0.5
    row = math.floor(q.y / line)
    total = Vec3(0.0)
    for k in (-1, 0, 1):
        y = (row + k + 0.5) * line
        c = im.sampled(interpolation="linear")((q.x, y))
        light = c * c
        width = 0.3 + 0.25 * light
        away = (q.y - y) / line
        total += light * glsl.exp(-0.5 * (away / width) ** 2)
    phosphor = p.x % 3
    mask = Vec3(*[1.35 if phosphor == k else 0.65 for k in range(3)])
    return smoothstep(1.0, 0.985, edge) * glsl.sqrt(1.25 * mask * total)


def render(photo: Image, *, line=4.0, bulge=0.04) -> Image:
    return screen(photo, line=line, bulge=bulge)


if __name__ == "__main__":
    main(render, line=(1, 50), bulge=(0, 0.5))
