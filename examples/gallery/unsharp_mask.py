"""
Unsharp mask
============

What a blur takes away, added once more, makes a picture sharper. The blur's second pass and the
mask are one program: what a function calls is compiled into it.

Reference: `skimage.filters.unsharp_mask`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position


def gaussian(im, p, sigma, dx, dy):
    x = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + (i * dx, i * dy)) for i, w in zip(x, weights, strict=True))


@pygpu.compile
def along_rows(im: Image, p: Position, sigma=2.0):
    return gaussian(im, p, sigma, 1, 0)


@pygpu.compile
def sharpened(im: Image, rows: Image, p: Position, amount: float = 1.5, sigma=2.0):
    smooth = gaussian(rows, p, sigma, 0, 1)
    return im(p) + amount * (im(p) - smooth)


def render(photo: Image, *, sigma=2.0, amount=1.5) -> Image:
    return sharpened(photo, along_rows(photo, sigma=sigma), sigma=sigma, amount=amount)


if __name__ == "__main__":
    main(render, sigma=(0.1, 20), amount=(0, 20))
