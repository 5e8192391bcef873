"""
Chroma key
==========

A subject cut out of a plain background and laid over another. Alpha is how far a colour is from
the background's, the nearer ones are cleaned of its light, and *over* composes the two with
premultiplied colours. The background is made up on the spot: a sunset.

Reference: T. Porter and T. Duff, *Compositing digital images*, 1984.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, Vec4, length, mix, smoothstep


@pygpu.compile
def keyed(im: Image, p: Position, key: Vec3, near: float, far: float):
    """The subject with premultiplied alpha."""
    smooth = sum(im(p + (i, j)) for j in (-1, 0, 1) for i in (-1, 0, 1)) / 9
    chroma = smooth - sum(smooth) / 3
    like = length(chroma - (key - sum(key) / 3)) + 0.35 * abs(sum(smooth - key)) / 3
    alpha = smoothstep(near, far, like)
    clean = im(p) - (1 - alpha) * key
    return Vec4(positive(clean), alpha)


def positive(c):
    return Vec3(*[max(0.0, v) for v in c])


@pygpu.compile
def sunset(p: Position, width: float, height: float):
    y = p.y / height
    sky = mix(Vec3(0.15, 0.15, 0.45), Vec3(1.0, 0.55, 0.25), smoothstep(0.0, 0.8, y))
    sun = length(Vec2(p.x - 0.52 * width, p.y - 0.25 * height)) / width
    h = Int(p.x) * 374761393 + Int(p.y) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    star = 1.0 if (h ^ (h >> 16)) & 0x3FF == 0 else 0.0
    return sky + 0.8 * math.exp(-25 * sun * sun) * Vec3(1.0, 0.8, 0.5) + 0.5 * star * (1 - y)


@pygpu.compile
def over(a: Image, b: Image, p: Position):
    above = a(p)
    return above.rgb + (1 - above.a) * b(p)


def render(photo: Image, *, near=0.07, far=0.16) -> Image:
    """The key is the mean colour of some pixels at the upper middle."""
    height, width = photo.shape[:2]
    x, y = int(0.62 * width), int(0.1 * height)
    key = photo[y : y + 3, x : x + 3].mean(axis=(0, 1))
    below = sunset(width=width, height=height, shape=(height, width))
    return over(keyed(photo, key=key, near=near, far=far), below)


if __name__ == "__main__":
    main(render, near=(0, 2), far=(0.001, 2))
