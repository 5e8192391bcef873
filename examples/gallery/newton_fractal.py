"""
Newton fractal
==============

Newton's method for z³ = 1 from every start: the colour is the root that it finds, the brightness
how soon.

Reference: A. Cayley, *The Newton-Fourier imaginary problem*, 1879.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, length

DEGREE = 3
ROOTS = [
    Vec2(math.cos(2 * math.pi * k / DEGREE), math.sin(2 * math.pi * k / DEGREE))
    for k in range(DEGREE)
]
COLOURS = [Vec3(0.95, 0.6, 0.3), Vec3(0.35, 0.65, 0.9), Vec3(0.55, 0.85, 0.5)]


def times(a, b):
    return Vec2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x)


@pygpu.compile
def newton(p: Position, size: Vec2, rounds: int):
    z = (p - size / 2 + 0.25) * (3 / min(size.x, size.y))
    n, change = 0, 1.0
    while n < rounds and change > 1e-5:
        square = times(z, z)
        quotient = times(times(square, z) - (1, 0), Vec2(square.x, -square.y))
        step = quotient / (3 * dot(square, square))
        z -= step
        change = length(step)
        n += 1
    distances = [length(z - root) for root in ROOTS]
    nearest = min(distances)
    light = 0.25 + 0.9 * math.exp(-0.12 * n)
    colour = COLOURS[0]
    for distance, candidate in zip(distances, COLOURS, strict=True):
        if distance == nearest:
            colour = candidate
    return light * colour


def render(photo: Image, *, rounds=60) -> Image:
    return newton(size=Vec2(photo.width, photo.height), rounds=rounds, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, rounds=(1, 1000))
