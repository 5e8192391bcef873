"""
Film look
=========

Cross-processed slide film by a curve for each colour. NumPy fits polynomials through a few points
while the function is compiled; the program has them as one table of 256 colours and looks between
its entries.

Reference: J. Selan, *Using lookup tables to accelerate color transformations*, GPU Gems 2, 2005.
"""

import functools

import numpy as np
from _gallery import main
from numpy.polynomial import Polynomial

import pygpu
from pygpu import Image, Position, Vec3, clamp, mix

# What 0, 1/4, 1/2, 3/4 and 1 become.
CURVES = {
    "red": [0.0, 0.14, 0.52, 0.88, 1.0],
    "green": [0.02, 0.22, 0.55, 0.83, 0.97],
    "blue": [0.16, 0.32, 0.49, 0.66, 0.82],
}


@functools.cache
def table():
    """256 colours."""
    knots, x = np.linspace(0, 1, 5), np.linspace(0, 1, 256)
    curves = [Polynomial.fit(knots, ys, 4)(x) for ys in CURVES.values()]
    return np.stack(curves, axis=1)


@pygpu.compile
def graded(im: Image, p: Position, strength: float):
    lut = table()

    def curve(v, channel):
        place = 255 * clamp(v, 0.0, 1.0)
        low = min(int(place), 254)
        return mix(lut[low, channel], lut[low + 1, channel], place - low)

    c = im(p)
    return mix(c, Vec3(*[curve(v, k) for k, v in enumerate(c)]), strength)


def render(photo: Image, *, strength=1.0) -> Image:
    return graded(photo, strength=strength)


if __name__ == "__main__":
    main(render, strength=(0, 2))
