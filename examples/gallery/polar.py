"""
Polar
=====

A little planet: the top of the photograph becomes the rim and the bottom the middle, around which
its width is wound, mirrored so that it closes. With `--inverse`, the way back: the angle lies
along x, the distance from the middle along y.

Reference: `skimage.transform.warp_polar`, with which the inverse agrees.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, length


@pygpu.compile
def wound(im: Image, p: Position):
    between = im.sampled(interpolation="linear", boundary="mirror")
    middle = Vec2(im.width - 1, im.height - 1) / 2
    v = p - middle
    turn = math.atan2(v.x, v.y) / math.pi
    far = length(v) / max(length(middle), 0.5)
    return between((abs(turn) * (im.width - 1), (1 - far) * (im.height - 1)))


@pygpu.compile
def unwound(im: Image, p: Position, radius: float):
    between = im.sampled(interpolation="linear", boundary="constant")
    middle = Vec2(im.width, im.height) / 2 - 0.5
    angle, r = 2 * math.pi * p.x / im.width, radius * p.y / im.height
    return between(middle + r * Vec2(math.cos(angle), math.sin(angle)))


def render(photo: Image, *, inverse=False) -> Image:
    if inverse:
        return unwound(photo, radius=math.hypot(photo.width, photo.height) / 2)
    return wound(photo)


if __name__ == "__main__":
    main(render)
