"""
Bloom
=====

Bright places shine over their borders: what exceeds a threshold is blurred at several
sizes, each half as large an image as the one before, and added again.

Reference: M. Kawase, *Frame buffer postprocessing effects in DOUBLE-S.T.E.A.L*, 2003.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, glsl

WEIGHTS = [(-2, 1 / 16), (-1, 4 / 16), (0, 6 / 16), (1, 4 / 16), (2, 1 / 16)]


@pygpu.compile
def bright(im: Image, p: Position, threshold: float):
    return glsl.max(im(p) - threshold, 0.0) / (1 - threshold)


@pygpu.compile
def halved(im: Image, p: Position):
    """Half as large, by a binomial filter."""
    return sum(v * w * im(2 * p + (i, j)) for j, w in WEIGHTS for i, v in WEIGHTS)


@pygpu.compile
def joined(fine: Image, coarse: Image, p: Position):
    return fine(p) + coarse.sampled(interpolation="linear")((p - 0.5) / 2)


@pygpu.compile
def shining(im: Image, glow: Image, p: Position, strength: float):
    light = im(p) + strength * glow(p) * Vec3(1.0, 0.93, 0.82)
    return 1 - glsl.exp(-1.35 * light)


def spread(light: Image, levels: int) -> Image:
    """The light with all blurred versions of itself."""
    if levels == 0:
        return light
    height, width = light.shape[:2]
    half = halved(light, shape=(-(-height // 2), -(-width // 2)))
    return joined(light, spread(half, levels - 1))


def render(photo: Image, *, threshold=0.75, strength=0.45, levels=5) -> Image:
    return shining(photo, spread(bright(photo, threshold=threshold), levels), strength=strength)


if __name__ == "__main__":
    main(render, threshold=(0, 0.99), strength=(0, 10), levels=(1, 8))
