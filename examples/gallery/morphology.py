"""
Morphology
==========

Erosion, dilation and what is made of them. A structuring element is any array: its true elements
say which neighbours take part. Opening and closing are two passes, the gradient is one, in which
both extremes are taken of the same texels.

Reference: P. Soille, *Morphological Image Analysis*, 2003; `skimage.morphology`, with which it
agrees.
"""

from typing import Literal

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, glsl, offsets

Operation = Literal["erosion", "dilation", "opening", "closing", "gradient", "tophat"]


def disc(radius):
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1]
    return x * x + y * y <= radius * radius


DISC = disc(3)


def folded(f, im, p, element):
    """The fold of the texels under the element; `f` works on each channel."""
    texels = [
        im(p + d) for d, inside in zip(offsets(element), element.ravel(), strict=True) if inside
    ]
    result = texels[0]
    for v in texels[1:]:
        result = f(result, v)
    return result


@pygpu.compile
def erosion(im: Image, p: Position, element=DISC):
    return folded(glsl.min, im, p, element)


@pygpu.compile
def dilation(im: Image, p: Position, element=DISC):
    return folded(glsl.max, im, p, element)


@pygpu.compile
def gradient(im: Image, p: Position, element=DISC):
    return folded(glsl.max, im, p, element) - folded(glsl.min, im, p, element)


def opening(photo, element):
    return dilation(erosion(photo, element=element), element=element)


def closing(photo, element):
    return erosion(dilation(photo, element=element), element=element)


def tophat(photo, element):
    """What an opening takes away: bright details."""
    return photo - opening(photo, element)


def render(photo: Image, *, operation: Operation = "gradient", radius=3) -> Image:
    return globals()[operation](photo, element=disc(radius))


if __name__ == "__main__":
    main(render, radius=(1, 12))
