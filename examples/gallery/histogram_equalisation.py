"""
Histogram equalisation
======================

The brightness that is above half of the pixels becomes one half, and so on for all shares.
Counting 256 bins is no work for one pixel, so NumPy does it; the cumulative histogram comes back
as an image of one row, in which each pixel looks itself up.

Reference: `skimage.exposure.equalize_hist`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def looked_up(light: Image, shares: Image, p: Position, low: float, high: float):
    """Each brightness' share of darker pixels, between the middles of the bins."""
    between = shares.sampled(interpolation="linear")
    return between(((light(p) - low) / (high - low) * shares.width - 0.5, 0.0))


@pygpu.compile
def relit(im: Image, light: Image, equal: Image, p: Position, strength: float):
    """All channels moved by as much as the brightness, so that dark colours stay quiet."""
    return im(p) + strength * (equal(p) - light(p))


def equalised(light: Image, bins=256) -> Image:
    values = np.asarray(light)
    counts, edges = np.histogram(values, bins)
    shares = np.cumsum(counts) / values.size
    return looked_up(light, Image(shares[np.newaxis]), low=edges[0], high=edges[-1])


def render(photo: Image, *, strength=0.8) -> Image:
    light = grey(photo)
    return relit(photo, light, equalised(light), strength=strength)


if __name__ == "__main__":
    main(render, strength=(0, 1))
