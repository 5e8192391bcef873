"""
Adaptive threshold
==================

Ink or paper? Each pixel is compared with the Gaussian mean of its own surroundings, so that
uneven lighting does not matter.

Reference: `skimage.filters.threshold_local`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


def gaussian(f, p, sigma, dx, dy):
    x = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * f(p + (i * dx, i * dy)) for i, w in zip(x, weights, strict=True))


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def along_rows(im: Image, p: Position, sigma=5.0):
    return gaussian(im, p, sigma, 1, 0)


@pygpu.compile
def thresholded(im: Image, rows: Image, p: Position, offset: float = 0.02, sigma=5.0):
    return im(p) > gaussian(rows, p, sigma, 0, 1) - offset


def render(photo: Image, *, sigma=5.0, offset=0.02) -> Image:
    light = grey(photo)
    return thresholded(light, along_rows(light, sigma=sigma), sigma=sigma, offset=offset)


if __name__ == "__main__":
    main(render, sigma=(0.5, 30), offset=(-1, 1))
