"""
Harris corners
==============

A corner is where brightness changes in every direction: where the matrix of squared gradients,
averaged over a Gaussian window, has two large eigenvalues. Its three entries travel as one image
of three channels. Corners are local maxima of the response; each gets a ring on the photograph.

Reference: C. Harris and M. Stephens, *A combined corner and edge detector*, 1988.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, offsets

GREY = Vec3(0.2125, 0.7154, 0.0721)


def slope(im, p, along, across):
    """Sobel's derivative of the grey picture along one axis."""

    def step(q):
        return dot(GREY, im(q + along) - im(q - along))

    return step(p - across) + 2 * step(p) + step(p + across)


@pygpu.compile
def products(im: Image, p: Position):
    x, y = Position(1, 0), Position(0, 1)
    gx, gy = slope(im, p, x, y), slope(im, p, y, x)
    return Vec3(gx * gx, gx * gy, gy * gy)


@pygpu.compile
def averaged(im: Image, p: Position, sigma=1.5, across=False):
    x = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + ((0, i) if across else (i, 0))) for w, i in zip(weights, x, strict=True))


@pygpu.compile
def response(im: Image, p: Position, k: float = 0.05):
    xx, xy, yy = im(p)
    return xx * yy - xy * xy - k * (xx + yy) ** 2


@pygpu.compile
def peaks(im: Image, p: Position, least: float, radius=4):
    window = offsets(np.ones((2 * radius + 1, 2 * radius + 1)))
    return im(p) > least and im(p) == max(im(p + d) for d in window)


@pygpu.compile
def ringed(photo: Image, peak: Image, p: Position):
    ring = [d for d in offsets(np.ones((11, 11))) if 12 <= dot(d, d) <= 22]
    near = any(peak.sampled(boundary="constant")(p + d) for d in ring)
    return Vec3(1.0, 0.85, 0.0) if near else 0.7 * photo(p)


def corners(photo: Image, *, sigma=1.5, k=0.05) -> Image:
    tensor = averaged(averaged(products(photo), sigma=sigma), sigma=sigma, across=True)
    return response(tensor, k=k)


def render(photo: Image, *, sigma=1.5, least=0.02) -> Image:
    """`least` is a share of the strongest response."""
    strength = corners(photo, sigma=sigma)
    return ringed(photo, peaks(strength, least=least * strength.max()))


if __name__ == "__main__":
    main(render, sigma=(0.5, 6), least=(0, 1))
