"""
Laplacian of Gaussian
=====================

Where brightness bends: the Laplacian of a smoothed picture, in one pass with one large kernel
that NumPy computes while the function is compiled. Edges are where it changes sign, blobs as
large as the Gaussian where it is extreme. Grey is zero.

Reference: D. Marr and E. Hildreth, *Theory of edge detection*, 1980.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, offsets

GREY = Vec3(0.2125, 0.7154, 0.0721)


def kernel_of(sigma):
    """Samples of the Laplacian of a Gaussian out to four sigma."""
    radius = int(4 * sigma + 0.5)
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    r2 = (x * x + y * y) / sigma**2
    gauss = np.exp(-r2 / 2)
    kernel = (r2 - 2) / sigma**2 * gauss / gauss.sum()
    return kernel - kernel.mean()  # flat areas give exactly nothing


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def laplacian(im: Image, p: Position, sigma=1.5):
    kernel = kernel_of(sigma)
    return sum(w * im(p + d) for w, d in zip(kernel.ravel(), offsets(kernel), strict=True))


@pygpu.compile
def shown(v: Image, p: Position, gain: float):
    return 0.5 + gain * v(p)


def render(photo: Image, *, sigma=1.5, gain=1.5) -> Image:
    return shown(laplacian(grey(photo), sigma=sigma), gain=gain * sigma**2)


if __name__ == "__main__":
    main(render, sigma=(0.5, 8), gain=(0, 100))
