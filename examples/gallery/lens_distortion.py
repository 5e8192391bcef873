"""
Lens distortion
===============

A barrel or a pincushion: a polynomial in the distance from the middle says where light has come
from. Cubic interpolation, written out here, keeps details sharper than the linear one: a function
that reads an image is itself as good as an image.

Reference: D. C. Brown, *Decentering distortion of lenses*, 1966; R. Keys, *Cubic convolution
interpolation for digital image processing*, 1981.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, dot


def weights(t):
    """Of four points at -1, 0, 1, 2 for the value at t: Keys' cubic, a = -1/2."""
    return (
        t * (-0.5 + t * (1.0 - 0.5 * t)),
        1.0 + t * t * (-2.5 + 1.5 * t),
        t * (0.5 + t * (2.0 - 1.5 * t)),
        t * t * (-0.5 + 0.5 * t),
    )


def cubic(im, q):
    """The image between its pixels."""
    x, y = math.floor(q.x), math.floor(q.y)
    wx, wy = weights(q.x - x), weights(q.y - y)
    return sum(wy[j] * sum(wx[i] * im((x + i - 1, y + j - 1)) for i in range(4)) for j in range(4))


@pygpu.compile
def distorted(im: Image, p: Position, k1: float, k2: float):
    middle = Vec2(im.width - 1, im.height - 1) / 2
    scale = max(middle.x, middle.y, 0.5)
    v = (p - middle) / scale
    r2 = dot(v, v)
    outside = im.sampled(boundary="constant")
    return cubic(outside, middle + scale * (1 + r2 * (k1 + r2 * k2)) * v)


def render(photo: Image, *, k1=0.22, k2=0.06) -> Image:
    return distorted(photo, k1=k1, k2=k2)


if __name__ == "__main__":
    main(render, k1=(-2, 2), k2=(-2, 2))
