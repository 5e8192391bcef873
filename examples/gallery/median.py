"""
Median
======

The middle of a window's values, for each channel, against salt and pepper. `sorted` of values
that only the device knows becomes a sorting network, of which all is left out that the middle one
does not need. Half of the picture below keeps its noise.

Reference: `scipy.ndimage.median_filter`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec3, offsets


@pygpu.compile
def median(im: Image, p: Position, size=3):
    window = [im(p + d) for d in offsets(np.ones((size, size)))]

    def middle(channel):
        return sorted(v[channel] for v in window)[size * size // 2]

    return Vec3(middle(0), middle(1), middle(2))


def hashed(p):
    """A number in [0, 1) that looks random, another for each position."""
    h = Int(p.x) * 374761393 + Int(p.y) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    return ((h ^ (h >> 16)) & 0xFFFF) / 65536


@pygpu.compile
def salted(im: Image, p: Position, share: float):
    chance = hashed(p)
    if chance >= share:
        return im(p)
    return Vec3(1.0) if chance < share / 2 else Vec3(0.0)


@pygpu.compile
def halves(left: Image, right: Image, p: Position):
    return left(p) if p.x < left.width // 2 else right(p)


def render(photo: Image, *, size=3, noise=0.06, rounds=1) -> Image:
    size += 1 - size % 2  # a window has a middle
    noisy = salted(photo, share=noise)
    return halves(noisy, median.iterate(noisy, rounds, size=size))


if __name__ == "__main__":
    main(render, size=(1, 7), noise=(0, 1), rounds=(1, 20))
