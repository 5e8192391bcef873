"""
Hue rotation
============

Colours turned round the wheel: to HSV, a step, and back. The branches are Python's; which side a
pixel takes is decided on the device.

Reference: A. R. Smith, *Color gamut transform pairs*, 1978; `skimage.color.rgb2hsv`, with which
it agrees.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3


def rgb2hsv(c):
    r, g, b = c
    v = max(r, g, b)
    delta = v - min(r, g, b)
    if delta == 0:
        h = 0.0
    elif v == r:
        h = (g - b) / delta
    elif v == g:
        h = 2 + (b - r) / delta
    else:
        h = 4 + (r - g) / delta
    return Vec3(h / 6 % 1, 0.0 if v == 0 else delta / v, v)


def hsv2rgb(c):
    h, s, v = c

    def channel(n):
        k = (n + 6 * h) % 6
        return v - v * s * max(0.0, min(k, 4 - k, 1.0))

    return Vec3(channel(5), channel(3), channel(1))


@pygpu.compile
def turned(im: Image, p: Position, turn: float, saturation: float):
    h, s, v = rgb2hsv(im(p))
    return hsv2rgb(Vec3((h + turn) % 1, min(1.0, saturation * s), v))


def render(photo: Image, *, degrees=140.0, saturation=1.0) -> Image:
    return turned(photo, turn=degrees / 360, saturation=saturation)


if __name__ == "__main__":
    main(render, degrees=(-360, 360), saturation=(0, 10))
