"""
Halftone
========

Four screens of ink dots, turned against each other as printers turn them. Each pixel finds its
place in a cell of every screen and compares a dot's shape with the ink that its colour asks for.

Reference: R. Ulichney, *Digital Halftoning*, 1987.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, smoothstep

# Angle in degrees, and the colour that paper has under the ink: cyan, magenta, yellow, black.
SCREENS = [
    (15, Vec3(0.0, 0.62, 0.88)),
    (75, Vec3(0.92, 0.0, 0.5)),
    (0, Vec3(1.0, 0.93, 0.0)),
    (45, Vec3(0.1, 0.1, 0.1)),
]


@pygpu.compile
def printed(im: Image, p: Position, size: float):
    c = im(p)
    black = 1 - max(c.r, c.g, c.b)
    inks = [(1 - v - black) / max(1 - black, 1e-3) for v in c] + [black]
    paper = Vec3(1.0)
    for ink, (degrees, colour) in zip(inks, SCREENS, strict=True):
        cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
        x, y = (cos * p.x + sin * p.y) / size, (cos * p.y - sin * p.x) / size
        dot = 0.5 + 0.25 * (math.cos(2 * math.pi * x) + math.cos(2 * math.pi * y))
        cover = smoothstep(-0.1, 0.1, ink - 1 + dot)
        paper *= 1 - cover * (1 - colour)
    return paper


def render(photo: Image, *, size=6.0) -> Image:
    return printed(photo, size=size)


if __name__ == "__main__":
    main(render, size=(2, 64))
