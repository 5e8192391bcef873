"""
Vibrance in Lab
===============

In CIE L*a*b* equal distances look equal. Here dull colours gain more chroma than vivid ones and
lightness gets an S-curve, while hues stay where they are.

Reference: CIE 15:2004; `skimage.color.rgb2lab`, with which it agrees.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, length

TO_XYZ = np.array(
    [
        [0.412453, 0.357580, 0.180423],
        [0.212671, 0.715160, 0.072169],
        [0.019334, 0.119193, 0.950227],
    ]
)
TO_RGB = np.linalg.inv(TO_XYZ)
WHITE = Vec3(0.95047, 1.0, 1.08883)


def linear(v):
    return v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4


def encoded(v):
    return 12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055


def rgb2lab(c):
    def f(t):
        return t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116

    x, y, z = map(f, TO_XYZ @ Vec3(*map(linear, c)) / WHITE)
    return Vec3(116 * y - 16, 500 * (x - y), 200 * (y - z))


def lab2rgb(lab):
    def g(t):
        return t**3 if t > 0.2068966 else (t - 16 / 116) / 7.787

    y = (lab.x + 16) / 116
    xyz = WHITE * Vec3(g(lab.y / 500 + y), g(y), g(y - lab.z / 200))
    return Vec3(*map(encoded, TO_RGB @ xyz))


@pygpu.compile
def vibrant(im: Image, p: Position, vibrance: float, contrast: float):
    lightness, a, b = rgb2lab(im(p))
    chroma = length(Vec3(a, b, 0.0))
    more = 1 + vibrance * max(0.0, 1 - chroma / 80)
    t = lightness / 100
    curved = t + contrast * (t * t * (3 - 2 * t) - t)
    return lab2rgb(Vec3(100 * curved, more * a, more * b))


def render(photo: Image, *, vibrance=1.2, contrast=0.6) -> Image:
    return vibrant(photo, vibrance=vibrance, contrast=contrast)


if __name__ == "__main__":
    main(render, vibrance=(-1, 10), contrast=(-1, 3))
