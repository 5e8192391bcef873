"""
Chromatic aberration
====================

A simple lens bends blue more than red, so that colours part towards the corners: seven
wavelengths are read from seven places, each with the colours of the spectrum that it feeds.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot

WAVELENGTHS = 7


def spectrum():
    """Red to blue: (wavelengths, 3) weights, of which each channel's sum to 1."""
    t = np.linspace(0, 1, WAVELENGTHS)[:, np.newaxis]
    weights = np.clip(1 - 2 * abs(t - np.array([0.0, 0.5, 1.0])), 0, None)
    return weights / weights.sum(axis=0)


@pygpu.compile
def parted(im: Image, p: Position, strength: float):
    between = im.sampled(interpolation="linear")
    middle = Vec2(im.width - 1, im.height - 1) / 2
    v = (p - middle) / max(middle.x, middle.y, 0.5)
    total = Vec3(0.0)
    for k, weights in enumerate(spectrum()):
        bend = strength * (k / (WAVELENGTHS - 1) - 0.5) * dot(v, v)
        total += weights * between(p + bend * v)
    return total


def render(photo: Image, *, strength=16.0) -> Image:
    """`strength` is in pixels."""
    return parted(photo, strength=strength)


if __name__ == "__main__":
    main(render, strength=(-200, 200))
