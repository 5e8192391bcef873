"""
K-means colours
===============

The few colours that stand for a picture best. Each round, every pixel finds the nearest of the
palette's colours, on the device, and for each of those a reduction adds up the pixels that chose
it: their mean is the new colour. The palette is a small image of one row.

Reference: S. Lloyd, *Least squares quantization in PCM*, 1982.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec4, dot


@pygpu.compile
def nearest(im: Image, palette: Image, p: Position):
    """The number of the palette's nearest colour."""
    c = im(p)
    best, least = 0, 100.0
    for k in range(palette.width):
        difference = palette((k, 0)) - c
        distance = dot(difference, difference)
        if distance < least:
            best, least = k, distance
    return best


@pygpu.compile
def chosen(im: Image, label: Image, p: Position, k: int):
    """The colour and a 1 where the label is k, else zeros."""
    return Vec4(im(p), 1.0) if label(p) == k else Vec4(0.0)


@pygpu.compile
def picked(im: Image, p: Position, places=()):
    """The pixels of these numbers, counted row by row."""
    n = places[p.x]
    return im((n % im.width, n // im.width))


@pygpu.compile
def moved(palette: Image, p: Position, total: Vec4, k: int):
    """The palette with the mean of those that chose its colour k in its place."""
    return total.xyz / total.w if p.x == k and total.w > 0 else palette(p)


@pygpu.compile
def painted(palette: Image, label: Image, p: Position):
    return palette((label(p), 0))


def fitted(photo: Image, colours: int, rounds: int) -> Image:
    """A palette, one row. It starts with pixels from anywhere."""
    places = np.random.default_rng(0).integers(photo.width * photo.height, size=colours)
    palette = picked(photo, places=places, shape=(1, colours))
    for _ in range(rounds):
        label = nearest(photo, palette)
        for k in range(colours):
            total = chosen(photo, label, k=k).sum(axis=(0, 1))
            palette = moved(palette, total=total, k=k)
    return palette


def render(photo: Image, *, colours=12, rounds=10) -> Image:
    palette = fitted(photo, colours, rounds)
    return painted(palette, nearest(photo, palette), shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, colours=(2, 64), rounds=(0, 100))
