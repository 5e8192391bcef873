"""
Distance transform
==================

How far it is to the nearest edge, by jump flooding: each pixel keeps the nearest seed that it has
heard of, and asks eight neighbours at distances 512, 256, ..., 1. Ten passes do for any picture
of a thousand pixels' side. The jump is a number of the call, so all passes are one program.

Reference: G. Rong and T.-S. Tan, *Jump flooding in GPU with applications to Voronoi diagram and
distance transform*, 2006.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, IVec2, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)
NOWHERE = -(2**14)
JUMPS = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1)]


@pygpu.compile
def edges(im: Image, p: Position, threshold: float):
    """Where the brightness changes much."""

    def grey(q):
        return dot(GREY, im(q))

    gx = grey(p + (1, 0)) - grey(p - (1, 0))
    gy = grey(p + (0, 1)) - grey(p - (0, 1))
    return math.hypot(gx, gy) > threshold


@pygpu.compile
def seeds(mask: Image, p: Position):
    """The nearest seed that is known: at seeds their own position, elsewhere none."""
    return IVec2(p.x, p.y) if mask(p) else IVec2(NOWHERE, NOWHERE)


@pygpu.compile
def flooded(nearest: Image, p: Position, jump: int):
    def square(q):
        return (q.x - p.x) ** 2 + (q.y - p.y) ** 2

    best = nearest(p)
    for i, j in JUMPS:
        other = nearest(p + (jump * i, jump * j))
        if square(other) < square(best):
            best = other
    return best


@pygpu.compile
def distances(nearest: Image, p: Position):
    q = nearest(p)
    return math.hypot(q.x - p.x, q.y - p.y)


@pygpu.compile
def painted(distance: Image, p: Position, scale: float):
    """Contour lines on a glow around the edges."""
    d = distance(p)
    glow = math.exp(-d / scale)
    line = 0.75 + 0.25 * math.cos(2 * math.pi * d / 8)
    return line * (Vec3(0.05, 0.1, 0.3) + glow * Vec3(1.0, 0.7, 0.3))


def transform(mask: Image) -> Image:
    """The distance to the nearest pixel that is true."""
    nearest = seeds(mask)
    jump = 1 << (max(mask.shape) - 1).bit_length()
    while jump := jump // 2:
        nearest = flooded(nearest, jump=jump)
    return distances(flooded(nearest, jump=1))


def render(photo: Image, *, threshold=0.35, scale=20.0) -> Image:
    return painted(transform(edges(photo, threshold=threshold)), scale=scale)


if __name__ == "__main__":
    main(render, threshold=(0, 2), scale=(1, 1000))
