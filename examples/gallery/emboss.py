"""
Emboss
======

The picture as a relief in grey metal, lit from one side: its slopes make normals, and the light's
direction does the rest.

Reference: J. Blinn, *Simulation of wrinkled surfaces*, 1978.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, normalize

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def embossed(im: Image, p: Position, depth: float, light: Vec3):
    def height(q):
        return depth * dot(GREY, im(q))

    dx = height(p + (1, 0)) - height(p - (1, 0))
    dy = height(p + (0, 1)) - height(p - (0, 1))
    normal = normalize(Vec3(-dx, -dy, 1.0))
    diffuse = max(0.0, dot(normal, light))
    shine = max(0.0, dot(normal, normalize(light + (0, 0, 1)))) ** 40
    return 0.1 + 0.8 * diffuse + 0.3 * shine


def render(photo: Image, *, depth=3.0, angle=135.0) -> Image:
    turn = math.radians(angle)
    light = normalize(Vec3(math.cos(turn), -math.sin(turn), 0.9))
    return embossed(photo, depth=depth, light=light)


if __name__ == "__main__":
    main(render, depth=(0, 100), angle=(-360, 360))
