"""
Game of life
============

Conway's rules on a photograph: dark places are alive at first. Two images go through the rounds
together, the living cells (bools) and a glow that fades where life has been.

Reference: M. Gardner, *The fantastic combinations of John Conway's new solitaire game "life"*,
1970.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, mix

GREY = Vec3(0.2125, 0.7154, 0.0721)
NEIGHBOURS = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1) if (i, j) != (0, 0)]


@pygpu.compile
def born(im: Image, p: Position):
    """The first cells, four pixels each in the photograph."""
    light = dot(GREY, im(2 * p))
    return light < 0.35 + 0.3 * ((p.x + p.y) % 2), 0.0


@pygpu.compile
def lived(alive: Image, glow: Image, p: Position):
    world = alive.sampled(boundary="wrap")
    n = sum(world(p + d) for d in NEIGHBOURS)
    here = n == 3 or (n == 2 and world(p))
    return here, 1.0 if here else 0.97 * glow(p)


@pygpu.compile
def shown(alive: Image, glow: Image, im: Image, p: Position):
    cell = p // 2
    g = glow(cell)
    trail = mix(0.35 * im(p), Vec3(g**3, g * g * 0.8, 0.3 + 0.7 * g), 0.3 + 0.7 * g)
    return Vec3(1.0, 1.0, 0.85) if alive(cell) else trail


def render(photo: Image, *, rounds=80) -> Image:
    height, width = photo.shape[:2]
    cells = born(photo, shape=(-(-height // 2), -(-width // 2)))
    return shown(*lived.iterate(cells, rounds), photo, shape=(height, width))


if __name__ == "__main__":
    main(render, rounds=(0, 10_000))
