"""
Gaussian blur
=============

A Gaussian of two dimensions is the product of two of one, so it takes two passes of one function:
along the rows, then along the columns. Between them nothing is rounded and nothing leaves the
device.

Reference: `scipy.ndimage.gaussian_filter`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position


def gaussian(sigma, truncate=4.0):
    """Offsets and weights, out to `truncate` sigma, that sum to 1."""
    radius = int(truncate * sigma + 0.5)
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    return list(zip(x, weights / weights.sum(), strict=True))


@pygpu.compile
def blurred(im: Image, p: Position, sigma=4.0, direction=(1, 0)):
    dx, dy = direction
    return sum(w * im(p + (i * dx, i * dy)) for i, w in gaussian(sigma))


def render(photo: Image, *, sigma=4.0) -> Image:
    return blurred(blurred(photo, sigma=sigma), sigma=sigma, direction=(0, 1))


if __name__ == "__main__":
    main(render, sigma=(0.1, 50))
