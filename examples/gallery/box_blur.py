"""
Box blur
========

The mean of a square, as two passes. Three rounds of it come close to a Gaussian of the same
variance, which is how fast blurs are often made: `iterate` runs them on the device.

Reference: W. M. Wells, *Efficient synthesis of Gaussian filters by cascaded uniform filters*,
1986.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position


@pygpu.compile
def along_row(im: Image, p: Position, radius=5):
    return sum(im(p + (i, 0)) for i in range(-radius, radius + 1)) / (2 * radius + 1)


@pygpu.compile
def along_column(im: Image, p: Position, radius=5):
    return sum(im(p + (0, i)) for i in range(-radius, radius + 1)) / (2 * radius + 1)


def render(photo: Image, *, radius=5, rounds=1) -> Image:
    # Rows and columns are independent: all rounds of one may come before those of the other.
    rows = along_row.iterate(photo, rounds, radius=radius)
    return along_column.iterate(rows, rounds, radius=radius)


if __name__ == "__main__":
    main(render, radius=(0, 50), rounds=(1, 10))
