"""
Anisotropic diffusion
=====================

Heat that flows where the picture is smooth and stops where it is steep: noise goes, edges stay.
Each round moves a little between neighbours; `iterate` runs the rounds on the device.

Reference: P. Perona and J. Malik, *Scale-space and edge detection using anisotropic diffusion*,
1990.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, dot

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


@pygpu.compile
def diffused(im: Image, p: Position, edge: float, rate: float):
    """One round. Differences far above `edge` conduct nothing."""

    def flow(d):
        difference = im(p + d) - im(p)
        return math.exp(-dot(difference, difference) / edge**2) * difference

    return im(p) + rate * sum(flow(d) for d in NEIGHBOURS)


def render(photo: Image, *, rounds=40, edge=0.12, rate=0.2) -> Image:
    return diffused.iterate(photo, rounds, edge=edge, rate=rate)


if __name__ == "__main__":
    main(render, rounds=(0, 1000), edge=(0.001, 10), rate=(0, 0.25))
