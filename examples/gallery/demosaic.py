"""
Demosaicing
===========

A camera's sensor sees one colour at each pixel, in Bayer's pattern. The other two come from the
neighbours: linear filters that use all colours' details, so that edges do not get coloured
fringes. Which filter a pixel needs depends on the parity of its place.

Reference: H. Malvar, L.-w. He, R. Cutler, *High-quality linear interpolation for demosaicing of
Bayer-patterned color images*, 2004.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, clamp, offsets

# Weights in eighths: green at red or blue; at green the colour that is in its row (transposed: in
# its column); red at blue and blue at red.
GREEN = np.array(
    [[0, 0, -1, 0, 0], [0, 0, 2, 0, 0], [-1, 2, 4, 2, -1], [0, 0, 2, 0, 0], [0, 0, -1, 0, 0]]
)
IN_ROW = np.array(
    [
        [0, 0, 0.5, 0, 0],
        [0, -1, 0, -1, 0],
        [-1, 4, 5, 4, -1],
        [0, -1, 0, -1, 0],
        [0, 0, 0.5, 0, 0],
    ]
)
DIAGONAL = np.array(
    [
        [0, 0, -1.5, 0, 0],
        [0, 2, 0, 2, 0],
        [-1.5, 0, 6, 0, -1.5],
        [0, 2, 0, 2, 0],
        [0, 0, -1.5, 0, 0],
    ]
)


@pygpu.compile
def mosaic(im: Image, p: Position):
    """What the sensor sees: red and green in even rows, green and blue in odd ones."""
    return im(p)[p.x % 2 + p.y % 2]


@pygpu.compile
def developed(raw: Image, p: Position):
    seen = raw.sampled(boundary="mirror")  # which keeps the parity

    def filtered(kernel):
        taps = zip(kernel.ravel(), offsets(kernel), strict=True)
        return sum(w * seen(p + d) for w, d in taps) / 8

    if p.x % 2 == p.y % 2:
        other = filtered(DIAGONAL)
        green = filtered(GREEN)
        colour = Vec3(seen(p), green, other) if p.x % 2 == 0 else Vec3(other, green, seen(p))
    else:
        row, column = filtered(IN_ROW), filtered(IN_ROW.T)
        colour = Vec3(row, seen(p), column) if p.y % 2 == 0 else Vec3(column, seen(p), row)
    return clamp(colour, 0.0, 1.0)


@pygpu.compile
def coloured(raw: Image, p: Position):
    """The mosaic as the sensor's coloured glass shows it."""
    return Vec3(*[raw(p) if p.x % 2 + p.y % 2 == k else 0.0 for k in range(3)])


@pygpu.compile
def halves(left: Image, right: Image, p: Position):
    return left(p) if p.x < left.width // 2 else right(p)


def render(photo: Image) -> Image:
    raw = mosaic(photo)
    return halves(coloured(raw), developed(raw))


if __name__ == "__main__":
    main(render)
