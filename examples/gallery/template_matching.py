"""
Template matching
=================

Where does the small picture lie in the large one? The normalised correlation at every place, and
the best of them by a reduction that carries the position along.

Reference: J. P. Lewis, *Fast normalized cross-correlation*, 1995;
`skimage.feature.match_template`, with which it agrees.
"""

from _gallery import main

import pygpu
from pygpu import Image, IVec2, Position, Vec3, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def similarity(im: Image, template: Image, p: Position, mean: float, norm: float):
    """The correlation of the template, its upper left at p, with what lies there: -1 to 1."""
    both = total = squares = 0.0
    for j in range(template.height):
        for i in range(template.width):
            v = im(p + (i, j)) - mean  # smaller numbers lose less
            both += (template((i, j)) - mean) * v
            total += v
            squares += v * v
    n = template.width * template.height
    variance = squares - total * total / n
    if variance < 1e-4 * squares:
        return 0.0  # flat: what is left is rounding
    return both / (norm * variance**0.5)


@pygpu.compile
def framed(im: Image, p: Position, at: int, columns: int, size: IVec2):
    x, y = p - (at % columns, at // columns)
    inside = 0 <= x < size.x and 0 <= y < size.y
    border = -3 <= x < size.x + 3 and -3 <= y < size.y + 3
    if border and not inside:
        return Vec3(1.0, 0.9, 0.1)
    return im(p) if inside else 0.35 * im(p)


def matched(image: Image, template: Image) -> Image:
    mean = template.mean()
    norm = ((template - mean) ** 2).sum() ** 0.5
    places = (image.height - template.height + 1, image.width - template.width + 1)
    return similarity(image, template, mean=mean, norm=norm, shape=places)


@pygpu.compile
def numbered(p: Position, columns: int):
    """Places, numbered row by row."""
    return p.x + columns * p.y


def best(scores: Image) -> tuple[float, int]:
    """The largest score and the number of its place."""
    places = numbered(columns=scores.width, shape=scores.shape)
    return pygpu.reduce(
        lambda a, b: a if a[0] >= b[0] else b, scores, places, map=lambda v, at: (v, at)
    )


def render(photo: Image, *, size=48) -> Image:
    """The template is a piece of the photograph, which must be found again."""
    light = grey(photo)
    y, x = int(0.72 * photo.height), int(0.31 * photo.width)
    scores = matched(light, light[y : y + size, x : x + size])
    _, at = best(scores)
    return framed(photo, at=at, columns=scores.width, size=IVec2(size, size))


if __name__ == "__main__":
    main(render, size=(4, 128))
