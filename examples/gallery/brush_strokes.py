"""
Brush strokes
=============

Colours are averaged along the way that the texture runs, a step at a time from each pixel in both
directions: strokes that follow the shapes. Noise averaged along the same way gives the bristles.

Reference: B. Cabral and L. Leedom, *Imaging vector fields using line integral convolution*, 1993;
J. E. Kyprianidis and J. Döllner, *Image abstraction by structure adaptive filtering*, 2008.
"""

import math

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def products(im: Image, p: Position):
    """The squared gradient's matrix, all colours together."""
    gx, gy = im(p + (1, 0)) - im(p - (1, 0)), im(p + (0, 1)) - im(p - (0, 1))
    return Vec3(dot(gx, gx), dot(gx, gy), dot(gy, gy))


@pygpu.compile
def averaged(im: Image, p: Position, sigma=4.0, across=False):
    x = np.arange(-int(2.5 * sigma), int(2.5 * sigma) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + ((0, i) if across else (i, 0))) for w, i in zip(weights, x, strict=True))


@pygpu.compile
def along(tensor: Image, p: Position):
    """The direction of least change, a unit vector."""
    xx, xy, yy = tensor(p)
    angle = 0.5 * math.atan2(2 * xy, xx - yy) + math.pi / 2
    return Vec2(math.cos(angle), math.sin(angle))


def noise(q):
    h = Int(math.floor(q.x / 1.5)) * 374761393 + Int(math.floor(q.y / 1.5)) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    return ((h ^ (h >> 16)) & 0xFFFF) / 65535


@pygpu.compile
def painted(im: Image, way: Image, p: Position, length: int, bristles: float):
    between = im.sampled(interpolation="linear")
    colour, grain = im(p), noise(p)
    for side in (-1.0, 1.0):
        q, last = Vec2(p), side * way(p)
        for _ in range(length):
            q += last
            step = way(q)
            last = step if dot(step, last) >= 0 else -step
            colour += between(q)
            grain += noise(q)
    n = 2 * length + 1
    return colour / n * (1 + bristles * (grain / n - 0.5))


def render(photo: Image, *, length=10, bristles=0.7, sigma=4.0) -> Image:
    tensor = averaged(averaged(products(photo), sigma=sigma), sigma=sigma, across=True)
    return painted(photo, along(tensor), length=length, bristles=bristles)


if __name__ == "__main__":
    main(render, length=(0, 200), bristles=(0, 10), sigma=(0.5, 12))
