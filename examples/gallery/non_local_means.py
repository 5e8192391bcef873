"""
Non-local means
===============

A pixel becomes the mean of those around it whose own surroundings look alike, however far away
they are. The loop over the search window runs on the device, the one over a patch is unrolled.

Reference: A. Buades, B. Coll, J.-M. Morel, *A non-local algorithm for image denoising*, 2005.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, offsets


@pygpu.compile
def denoised(im: Image, p: Position, strength: float = 0.1, search=5, patch=3):
    """`strength` is the distance of colours at which weights have fallen to 1/e."""
    near = offsets(np.ones((patch, patch)))
    total, weights = Vec3(0.0), 0.0
    for d in offsets(np.ones((2 * search + 1, 2 * search + 1))):
        distance = 0.0
        for e in near:
            difference = im(p + d + e) - im(p + e)
            distance += dot(difference, difference)
        weight = math.exp(-distance / (3 * len(near) * strength**2))
        total += weight * im(p + d)
        weights += weight
    return total / weights


def render(photo: Image, *, strength=0.08, search=5, patch=3) -> Image:
    return denoised(photo, strength=strength, search=search, patch=patch)


if __name__ == "__main__":
    main(render, strength=(0.001, 10), search=(1, 10), patch=(1, 7))
