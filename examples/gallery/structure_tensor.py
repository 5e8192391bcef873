"""
Orientation
===========

Which way the texture runs: the direction in which brightness changes least, from the averaged
matrix of squared gradients. Hue is the direction, saturation how clear it is, brightness how
strong.

Reference: J. Bigün and G. H. Granlund, *Optimal orientation detection of linear symmetry*, 1987.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def products(im: Image, p: Position):
    def grey(q):
        return dot(GREY, im(q))

    gx = (grey(p + (1, 0)) - grey(p - (1, 0))) / 2
    gy = (grey(p + (0, 1)) - grey(p - (0, 1))) / 2
    return Vec3(gx * gx, gx * gy, gy * gy)


@pygpu.compile
def averaged(im: Image, p: Position, sigma=2.0, across=False):
    x = np.arange(-int(3 * sigma + 0.5), int(3 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + ((0, i) if across else (i, 0))) for w, i in zip(weights, x, strict=True))


@pygpu.compile
def painted(tensor: Image, p: Position, gain: float):
    xx, xy, yy = tensor(p)
    angle = 0.5 * math.atan2(2 * xy, xx - yy)
    spread = math.hypot(xx - yy, 2 * xy)
    clear = spread / (xx + yy + 1e-6)
    strong = min(1.0, gain * math.sqrt(xx + yy))
    turns = [2 * angle + k * 2 * math.pi / 3 for k in range(3)]
    return strong * Vec3(*[1 - clear * (0.5 - 0.5 * math.cos(t)) for t in turns])


def render(photo: Image, *, sigma=2.0, gain=6.0) -> Image:
    tensor = averaged(averaged(products(photo), sigma=sigma), sigma=sigma, across=True)
    return painted(tensor, gain=gain)


if __name__ == "__main__":
    main(render, sigma=(0.5, 10), gain=(0, 100))
