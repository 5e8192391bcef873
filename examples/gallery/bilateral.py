"""
Bilateral filter
================

A blur that stops at edges: neighbours count the less the farther away they are, and the less the
more their colour differs.

Reference: C. Tomasi and R. Manduchi, *Bilateral filtering for gray and color images*, 1998.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, offsets


@pygpu.compile
def bilateral(im: Image, p: Position, like: float = 0.1, near=2.5, radius=5):
    """`near` is in pixels, `like` a distance of colours."""
    centre = im(p)
    total, weights = Vec3(0.0), 0.0
    for d in offsets(np.ones((2 * radius + 1, 2 * radius + 1))):
        v = im(p + d)
        difference = v - centre
        weight = math.exp(
            -0.5 * ((d.x**2 + d.y**2) / near**2 + dot(difference, difference) / like**2)
        )
        total += weight * v
        weights += weight
    return total / weights


def render(photo: Image, *, near=2.5, like=0.12, radius=5) -> Image:
    return bilateral(photo, near=near, like=like, radius=radius)


if __name__ == "__main__":
    main(render, near=(0.1, 50), like=(0.001, 10), radius=(1, 20))
