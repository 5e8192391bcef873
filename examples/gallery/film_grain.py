"""
Film grain
==========

Noise as film has it: clumps as large as grains, strongest in the middle tones, the same in all
colours. Random numbers are a hash of the position, so that every target and plain Python make the
same grains.

Reference: M. Jarzynski and M. Olano, *Hash functions for GPU rendering*, 2020.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


def pcg(v):
    """A hash of 32 bits: one step of a congruential generator, then a permutation."""
    state = Int(v) * 747796405 + 2891336453
    word = ((state >> ((state >> 28 & 15) + 4)) ^ state) * 277803737
    return (word >> 22 & 0x3FF) ^ word


def random(x, y, seed):
    """Nearly normal: the sum of four uniform numbers."""
    h = pcg(Int(x) + pcg(Int(y) + pcg(seed)))
    return ((h & 0xFF) + (h >> 8 & 0xFF) + (h >> 16 & 0xFF) + (h >> 24 & 0xFF)) / 147.8 - 3.45


@pygpu.compile
def grains(p: Position, size: float, seed: int):
    """Noise with clumps `size` pixels large, by smooth interpolation."""
    x, y = p.x / size, p.y / size
    i, j = math.floor(x), math.floor(y)
    u, v = x - i, y - j
    u, v = u * u * (3 - 2 * u), v * v * (3 - 2 * v)
    top = (1 - u) * random(i, j, seed) + u * random(i + 1, j, seed)
    bottom = (1 - u) * random(i, j + 1, seed) + u * random(i + 1, j + 1, seed)
    return (1 - v) * top + v * bottom


@pygpu.compile
def grainy(im: Image, grain: Image, p: Position, amount: float):
    c = im(p)
    grey = dot(GREY, c)
    return c + amount * grain(p) * (0.2 + 3.2 * grey * (1 - grey))


def render(photo: Image, *, size=1.6, amount=0.08, seed=1) -> Image:
    return grainy(photo, grains(size=size, seed=seed, shape=photo.shape[:2]), amount=amount)


if __name__ == "__main__":
    main(render, size=(1, 50), amount=(0, 2), seed=(0, 999_999))
