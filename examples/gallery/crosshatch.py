"""
Crosshatch
==========

A pen drawing: the darker the place, the more directions of strokes lie over each other. Strokes
waver, because the lines they follow are bent by a smooth function of the position.

Reference: E. Praun and others, *Real-time hatching*, 2001, for the layers of strokes.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, mix, smoothstep

GREY = Vec3(0.2125, 0.7154, 0.0721)
# From this brightness downwards, strokes in this direction (degrees).
LAYERS = [(0.75, 45), (0.55, -45), (0.35, 5), (0.2, 85)]
INK, PAPER = Vec3(0.1, 0.1, 0.25), Vec3(0.98, 0.96, 0.9)


@pygpu.compile
def hatched(im: Image, p: Position, spacing: float):
    light = sum(dot(GREY, im(p + (i, j))) for j in (-1, 0, 1) for i in (-1, 0, 1)) / 9
    ink = 0.0
    for below, degrees in LAYERS:
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        along, across = cos * p.x + sin * p.y, cos * p.y - sin * p.x
        across += 1.5 * math.sin(along / 23) + math.sin(along / 7.3 + across / 31)
        distance = abs(across / spacing % 1 - 0.5) * spacing
        width = 0.28 * spacing * smoothstep(0.0, 0.35, below - light)
        ink = max(ink, 1 - smoothstep(width - 0.5, width + 0.5, distance))
    return mix(PAPER, INK, ink)


def render(photo: Image, *, spacing=5.0) -> Image:
    return hatched(photo, spacing=spacing)


if __name__ == "__main__":
    main(render, spacing=(2, 64))
