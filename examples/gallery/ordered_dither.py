"""
Ordered dither
==============

Few colours that look like many: a matrix of thresholds is laid over the picture like tiles. It is
built by Bayer's recursion in NumPy while the function is compiled, and becomes a table in the
program, indexed by each pixel's position.

Reference: B. E. Bayer, *An optimum method for two-level rendition of continuous-tone pictures*,
1973.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3


def bayer(n):
    """The n-th matrix of thresholds, 2^n wide, with values in (0, 1)."""
    ranks = np.zeros((1, 1))
    for _ in range(n):
        ranks = np.block([[4 * ranks, 4 * ranks + 2], [4 * ranks + 3, 4 * ranks + 1]])
    return (ranks + 0.5) / ranks.size


MATRIX = bayer(3)


@pygpu.compile
def dithered(im: Image, p: Position, levels: int = 2, matrix=MATRIX):
    size = len(matrix)
    threshold = matrix[p.y % size, p.x % size]

    def step(v):
        return math.floor(v * (levels - 1) + threshold) / (levels - 1)

    return Vec3(*map(step, im(p)))


def render(photo: Image, *, levels=2, order=3) -> Image:
    return dithered(photo, levels=levels, matrix=bayer(order))


if __name__ == "__main__":
    main(render, levels=(2, 256), order=(1, 5))
