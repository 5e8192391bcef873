"""
Poisson blending
================

A patch moved to another place keeps its differences and takes its colours from there: Poisson's
equation, solved by Jacobi's rounds of averaging neighbours. Rounds on a coarse image first,
`shape=` says how coarse, spread colours far at little cost; finer ones start from there.

Reference: P. Pérez, M. Gangnet, A. Blake, *Poisson image editing*, 2003.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, length

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


def inside(q, centre, radius):
    """The patch is a disc."""
    return length(q - centre) < radius


@pygpu.compile
def correction(im: Image, p: Position, shift: Vec2):
    """What must be added to the patch for it to equal the place it comes to."""
    return im(p) - im(p + shift)


@pygpu.compile
def smoothed(v: Image, fixed: Image, p: Position, centre: Vec2, radius: float):
    """One round: within the patch the mean of the neighbours, outside what is given."""
    if not inside(p, centre, radius):
        return fixed(p)
    return sum(v(p + d) for d in NEIGHBOURS) / 4


@pygpu.compile
def coarser(im: Image, p: Position):
    return sum(im(2 * p + (i, j)) for j in (0, 1) for i in (0, 1)) / 4


@pygpu.compile
def finer(im: Image, p: Position):
    return im.sampled(interpolation="linear")((p - 0.5) / 2)


@pygpu.compile
def pasted(im: Image, v: Image, p: Position, centre: Vec2, radius: float, shift: Vec2):
    return im(p + shift) + v(p) if inside(p, centre, radius) else im(p)


def membrane(fixed: Image, centre: Vec2, radius: float, rounds: int) -> Image:
    """The smoothest image that equals `fixed` outside the disc."""
    start = fixed
    if min(fixed.shape[:2]) > 32:
        height, width = fixed.shape[:2]
        half = coarser(fixed, shape=(height // 2, width // 2))
        start = finer(membrane(half, (centre - 0.5) / 2, radius / 2, rounds), shape=(height, width))
    return smoothed.iterate(start, rounds, fixed, centre=centre, radius=radius)


def render(photo: Image, *, rounds=60) -> Image:
    height, width = photo.shape[:2]
    radius = 0.1 * min(width, height)
    centre = Vec2(0.72 * width, 0.18 * height)
    shift = Vec2(0.35 * width, 0.76 * height) - centre
    v = membrane(correction(photo, shift=shift), centre, radius, rounds)
    return pasted(photo, v, centre=centre, radius=radius, shift=shift)


if __name__ == "__main__":
    main(render, rounds=(1, 10_000))
