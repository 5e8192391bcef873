"""
Mandelbrot set
==============

An image from nothing; the photograph gives only its size. The loop's end differs from pixel to
pixel. How fast a point escapes, made continuous, chooses the colour, and each pixel is the mean
of four.

Reference: I. Quilez, *Smooth iteration count for the Mandelbrot set*, and his cosine palettes.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot


def escaped(c, rounds):
    """The continuous number of rounds until |z| grows beyond bounds; -1 if it does not."""
    z, n = Vec2(0.0, 0.0), 0
    while n < rounds and dot(z, z) < 256:
        z = Vec2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c
        n += 1
    if n == rounds:
        return -1.0
    return n + 1 - math.log2(0.5 * math.log2(dot(z, z)))


def palette(t):
    return Vec3(*[0.5 - 0.5 * math.cos(2 * math.pi * (t + shift)) for shift in (0.0, 0.1, 0.2)])


@pygpu.compile
def mandelbrot(p: Position, corner: Vec2, step: float, rounds: int):
    total = Vec3(0.0)
    for d in [(-0.25, -0.25), (0.25, -0.25), (-0.25, 0.25), (0.25, 0.25)]:
        n = escaped(corner + step * (p + d), rounds)
        if n >= 0:
            total += palette(0.35 * math.sqrt(n))
    return total / 4


def render(photo: Image, *, x=-0.7436, y=0.1318, width=0.012, rounds=400) -> Image:
    step = width / photo.width
    corner = Vec2(x - step * photo.width / 2, y - step * photo.height / 2)
    return mandelbrot(corner=corner, step=step, rounds=rounds, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, x=(-3, 3), y=(-3, 3), width=(0.0001, 10), rounds=(1, 100_000))
