"""
Kuwahara
========

Of the four squares that meet in a pixel, the one that varies least gives its mean: flat areas
grow flatter and edges stay, which looks painted.

Reference: M. Kuwahara and others, *Processing of RI-angiocardiographic images*, 1976.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, dot


@pygpu.compile
def kuwahara(im: Image, p: Position, radius=4):
    def square(sx, sy):
        """The variance, all channels together, and the mean of the square towards (sx, sy)."""
        side = range(radius + 1)
        texels = [im(p + (sx * i, sy * j)) for i in side for j in side]
        mean = sum(texels) / len(texels)
        return sum(dot(v - mean, v - mean) for v in texels), mean

    squares = [square(sx, sy) for sx in (-1, 1) for sy in (-1, 1)]
    least, colour = squares[0]
    for variance, mean in squares[1:]:
        if variance < least:
            least, colour = variance, mean
    return colour


def render(photo: Image, *, radius=4) -> Image:
    return kuwahara(photo, radius=radius)


if __name__ == "__main__":
    main(render, radius=(1, 12))
