"""
White balance
=============

Differences between neighbours are grey on average, whatever stands in the picture (an orange suit
would deceive the mean colour). What their mean lacks is the light's colour: it is a reduction on
the device, and the gains go back in as a vector. The photograph is first put under a tungsten
lamp: the left half below.

Reference: J. van de Weijer, T. Gevers, A. Gijsenij, *Edge-based color constancy*, 2007.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, sqrt

TUNGSTEN = Vec3(1.0, 0.75, 0.42)


@pygpu.compile
def differences(im: Image, p: Position):
    gx = im(p + (1, 0)) - im(p - (1, 0))
    gy = im(p + (0, 1)) - im(p - (0, 1))
    return sqrt(gx * gx + gy * gy)


@pygpu.compile
def scaled(im: Image, p: Position, gains: Vec3):
    return gains * im(p)


@pygpu.compile
def halves(left: Image, right: Image, p: Position):
    return left(p) if p.x < left.width // 2 else right(p)


def balanced(photo: Image) -> Image:
    mean = differences(photo).mean(axis=(0, 1)) + 1e-9  # which keeps what is flat as it is
    return scaled(photo, gains=mean.max() / mean)


def render(photo: Image) -> Image:
    warm = scaled(photo, gains=TUNGSTEN)
    return halves(warm, balanced(warm))


if __name__ == "__main__":
    main(render)
