"""
Canny
=====

A chain of passes: grey, a Gaussian along rows and columns, Sobel's gradient, the thinning of its
ridges to one pixel, and hysteresis: weak edges survive where strong ones touch them. How far that
reaches cannot be known, so rounds of growing are iterated until nothing changes.

Reference: J. Canny, *A computational approach to edge detection*, 1986.
"""

import numpy as np
from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, length, offsets

GREY = Vec3(0.2125, 0.7154, 0.0721)
WINDOW = offsets(np.ones((3, 3)))


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def blurred(im: Image, p: Position, sigma=1.0, across=False):
    x = np.arange(-int(4 * sigma + 0.5), int(4 * sigma + 0.5) + 1)
    weights = np.exp(-0.5 * (x / sigma) ** 2)
    weights /= weights.sum()
    return sum(w * im(p + ((0, i) if across else (i, 0))) for w, i in zip(weights, x, strict=True))


@pygpu.compile
def gradient(im: Image, p: Position):
    def slope(along, across):
        ends = [im(p + along + i * across) - im(p - along + i * across) for i in (-1, 0, 1)]
        return ends[0] + 2 * ends[1] + ends[2]

    x, y = np.array([1, 0]), np.array([0, 1])
    return Vec2(slope(x, y), slope(y, x))


@pygpu.compile
def thinned(g: Image, p: Position):
    """The gradient's length where it is no less than at both sides, along the gradient; else 0."""
    v = g(p)
    here = length(v)
    steep = abs(v.y) > abs(v.x)
    major, minor = (v.y, v.x) if steep else (v.x, v.y)
    t = 0.0 if major == 0 else abs(minor / major)
    sx, sy = (1 if v.x > 0 else -1), (1 if v.y > 0 else -1)
    straight = (0, sy) if steep else (sx, 0)

    def beside(side):
        to = p + (side * straight[0], side * straight[1])
        return (1 - t) * length(g(to)) + t * length(g(p + (side * sx, side * sy)))

    return here if here >= beside(1) and here >= beside(-1) else 0.0


@pygpu.compile
def marked(ridge: Image, p: Position, low: float, high: float):
    """2 for strong edges, 1 for weak ones."""
    v = ridge(p)
    return int(v >= low) + int(v >= high)


@pygpu.compile
def grown(mark: Image, p: Position):
    """Weak edges beside strong ones become strong."""
    return 2 if mark(p) == 1 and max(mark(p + d) for d in WINDOW) == 2 else mark(p)


@pygpu.compile
def growing(mark: Image, p: Position):
    return mark(p) == 1 and max(mark(p + d) for d in WINDOW) == 2


@pygpu.compile
def strong(mark: Image, p: Position):
    return mark(p) == 2


def edges(photo: Image, *, sigma=1.0, low=0.1, high=0.2) -> Image:
    smooth = blurred(blurred(grey(photo), sigma=sigma), sigma=sigma, across=True)
    mark = marked(thinned(gradient(smooth)), low=low, high=high)
    most = mark.width * mark.height
    return strong(grown.iterate(mark, most, until=lambda mark: growing(mark).sum() == 0))


def render(photo: Image, *, sigma=1.0, low=0.1, high=0.2) -> Image:
    return edges(photo, sigma=sigma, low=low, high=high)


if __name__ == "__main__":
    main(render, sigma=(0.1, 8), low=(0, 4), high=(0, 4))
