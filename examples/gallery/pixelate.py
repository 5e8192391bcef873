"""
Pixelate
========

Large pixels: the means of squares, made as a small image, `shape=` says how small, and then read
by everyone who lies in the square. How large the squares are is a number of the call, so the loops
over them run on the device and another size compiles nothing.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3


@pygpu.compile
def means(im: Image, p: Position, size: int):
    """A small image of the means of squares of `size` pixels."""
    total = Vec3(0.0)
    for j in range(size):
        for i in range(size):
            total += im(size * p + (i, j))
    return total / size**2


@pygpu.compile
def enlarged(im: Image, p: Position, size: int):
    return im(p // size)


def render(photo: Image, *, size=12) -> Image:
    height, width = photo.shape[:2]
    small = means(photo, size=size, shape=(-(-height // size), -(-width // size)))
    return enlarged(small, size=size, shape=(height, width))


if __name__ == "__main__":
    main(render, size=(1, 64))
