"""
Lanczos resize
==============

A small picture made large with a windowed sinc: rows first, into an image of another size
(`shape=`), then columns. The picture below is a quarter of the photograph's size, enlarged
fourfold: left by the nearest pixel, right by Lanczos.

Reference: C. Duchon, *Lanczos filtering in one and two dimensions*, 1979.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position

LOBES = 3


def lanczos(x):
    """The sinc function under its own main lobe, stretched."""
    if abs(x) < 1e-4:
        return 1.0
    t = math.pi * x
    return LOBES * math.sin(t) * math.sin(t / LOBES) / (t * t)


def resampled(f, place):
    """The value of `f` of whole numbers at any place."""
    first = math.floor(place) - LOBES + 1
    total = weights = 0.0
    for k in range(2 * LOBES):
        weight = lanczos(place - first - k)
        total += weight * f(first + k)
        weights += weight
    return total / weights


@pygpu.compile
def wider(im: Image, p: Position, factor: float):
    return resampled(lambda x: im((x, p.y)), (p.x + 0.5) / factor - 0.5)


@pygpu.compile
def taller(im: Image, p: Position, factor: float):
    return resampled(lambda y: im((p.x, y)), (p.y + 0.5) / factor - 0.5)


@pygpu.compile
def smaller(im: Image, p: Position, factor=4):
    side = range(factor)
    return sum(im(factor * p + (i, j)) for j in side for i in side) / factor**2


@pygpu.compile
def halves(left: Image, right: Image, p: Position, factor: int):
    return left(p // factor) if p.x < right.width // 2 else right(p)


def enlarged(photo: Image, factor: float) -> Image:
    height, width = photo.shape[:2]
    large = (round(factor * height), round(factor * width))
    return taller(wider(photo, factor=factor, shape=(height, large[1])), factor=factor, shape=large)


def render(photo: Image, *, factor=4) -> Image:
    height, width = photo.shape[:2]
    small = smaller(photo, factor=factor, shape=(-(-height // factor), -(-width // factor)))
    large = enlarged(small, factor)
    return halves(small, large, factor=factor, shape=(height, width))


if __name__ == "__main__":
    main(render, factor=(1, 16))
