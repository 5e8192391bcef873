"""
Julia set
=========

The same square and sum as Mandelbrot's with the constant fixed and the start moving. The colour
comes from an orbit trap: how near the orbit came to a cross.

Reference: C. Pickover, *Computers, Pattern, Chaos and Beauty*, 1990.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, clamp, dot, mix


@pygpu.compile
def julia(p: Position, size: Vec2, c: Vec2, rounds: int):
    z = (p - size / 2) * (2.6 / min(size.x, size.y))
    n, trap = 0, 4.0
    while n < rounds and dot(z, z) < 64:
        z = Vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c
        trap = min(trap, abs(z.x), abs(z.y))
        n += 1
    glow = math.sqrt(trap) * 2
    if n == rounds:
        return Vec3(0.02, 0.02, 0.05) + glow * Vec3(0.4, 0.6, 0.9)
    t = clamp((n + 1 - math.log2(0.5 * math.log2(dot(z, z)))) / 60, 0.0, 1.0)
    fire = Vec3(math.sqrt(t), t, t**3)
    return mix(fire, Vec3(1.0, 0.9, 0.7), max(0.0, 1 - 3 * glow) * t)


def render(photo: Image, *, re=-0.79, im=0.15, rounds=300) -> Image:
    size = Vec2(photo.width, photo.height)
    return julia(size=size, c=Vec2(re, im), rounds=rounds, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, re=(-2, 2), im=(-2, 2), rounds=(1, 100_000))
