"""
ASCII art
=========

Letters are drawn by Pillow while the function is compiled, sorted by how much ink they take, and
become one table in the program. On the device each pixel looks up the letter of its cell's mean
brightness and the letter's own pixel.
"""

import functools

import numpy as np
from _gallery import main
from PIL import Image as PILImage
from PIL import ImageDraw, ImageFont

import pygpu
from pygpu import Image, Position, Vec3, clamp, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)
WIDTH, HEIGHT = 6, 8
LETTERS = " .,:;-=+*cox?sO%X#&8@MW"


@functools.cache
def glyphs():
    """The letters from faint to bold, row below row: (letters * HEIGHT, WIDTH) in [0, 1]."""
    # The small font of old, which newer versions of Pillow call by another name.
    font = getattr(ImageFont, "load_default_imagefont", ImageFont.load_default)()
    drawn = []
    for letter in LETTERS:
        paper = PILImage.new("L", (WIDTH, HEIGHT))
        ImageDraw.Draw(paper).text((0, -2), letter, 255, font)
        drawn.append(np.asarray(paper, np.float32) / 255)
    return np.vstack(sorted(drawn, key=np.sum))


@pygpu.compile
def cells(im: Image, p: Position):
    """The mean colour of each cell, a small image."""
    texels = [im((WIDTH * p.x + i, HEIGHT * p.y + j)) for j in range(HEIGHT) for i in range(WIDTH)]
    return sum(texels) / len(texels)


@pygpu.compile
def typed(cell: Image, p: Position):
    table = glyphs()
    most = len(table) // HEIGHT - 1
    colour = cell((p.x // WIDTH, p.y // HEIGHT))
    letter = int(clamp(1.15 * dot(GREY, colour), 0.0, 1.0) * most + 0.5)
    ink = table[letter * HEIGHT + p.y % HEIGHT, p.x % WIDTH]
    return ink * (0.3 + 0.9 * colour)


def render(photo: Image) -> Image:
    height, width = photo.shape[:2]
    small = cells(photo, shape=(-(-height // HEIGHT), -(-width // WIDTH)))
    return typed(small, shape=(height, width))


if __name__ == "__main__":
    main(render)
