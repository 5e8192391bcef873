"""
Pixelate
========

Large pixels: the means of squares, made as a small image, `shape=` says how small, and then read
by everyone who lies in the square.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position


@pygpu.compile
def means(im: Image, p: Position, size=12):
    """A small image of the means of squares of `size` pixels."""
    side = range(size)
    return sum(im(size * p + (i, j)) for j in side for i in side) / size**2


@pygpu.compile
def enlarged(im: Image, p: Position, size: int):
    return im(p // size)


def render(photo: Image, *, size=12) -> Image:
    height, width = photo.shape[:2]
    small = means(photo, size=size, shape=(-(-height // size), -(-width // size)))
    return enlarged(small, size=size, shape=(height, width))


if __name__ == "__main__":
    main(render, size=(1, 64))
