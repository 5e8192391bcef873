"""
Sepia and duotone
=================

Two ways to an old photograph: a matrix that mixes the channels, or a ramp between two inks by
brightness.

Reference: the matrix of the W3C's Filter Effects, *sepia(1)*.
"""

from typing import Literal

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, dot, mix, smoothstep

SEPIA = np.array([[0.393, 0.769, 0.189], [0.349, 0.686, 0.168], [0.272, 0.534, 0.131]])
GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def sepia(im: Image, p: Position, strength: float = 1.0):
    c = im(p)
    return mix(c, SEPIA @ c, strength)


@pygpu.compile
def duotone(im: Image, p: Position, dark: Vec3, bright: Vec3):
    return mix(dark, bright, smoothstep(0.05, 0.9, dot(GREY, im(p))))


def render(photo: Image, *, manner: Literal["sepia", "duotone"] = "sepia") -> Image:
    if manner == "sepia":
        return sepia(photo)
    return duotone(photo, dark=Vec3(0.10, 0.09, 0.35), bright=Vec3(1.0, 0.55, 0.45))


if __name__ == "__main__":
    main(render)
