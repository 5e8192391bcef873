"""
Guided filter
=============

In every window the picture is taken for a straight line of itself; averaging those lines smooths
like a bilateral filter, at the cost of a few box blurs whatever the radius. Here details are
taken away and given back enlarged.

Reference: K. He, J. Sun, X. Tang, *Guided image filtering*, 2010.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position


def mean(f, p, radius, dx, dy):
    """The mean of a function of position along a line."""
    return sum(f(p + (i * dx, i * dy)) for i in range(-radius, radius + 1)) / (2 * radius + 1)


@pygpu.compile
def moments(im: Image, p: Position, radius=8):
    """Means of the values and of their squares along the row."""
    return mean(im, p, radius, 1, 0), mean(lambda q: im(q) * im(q), p, radius, 1, 0)


@pygpu.compile
def lines(value: Image, square: Image, p: Position, edge: float, radius=8):
    """Slope and offset of each window's line, from the means along the column."""
    m, s = mean(value, p, radius, 0, 1), mean(square, p, radius, 0, 1)
    variance = s - m * m
    a = variance / (variance + edge * edge)
    return a, m - a * m


@pygpu.compile
def means_of_two(a: Image, b: Image, p: Position, radius=8, dx=1, dy=0):
    return mean(a, p, radius, dx, dy), mean(b, p, radius, dx, dy)


@pygpu.compile
def applied(im: Image, a: Image, b: Image, p: Position):
    return a(p) * im(p) + b(p)


@pygpu.compile
def enhanced(im: Image, smooth: Image, p: Position, detail: float):
    return smooth(p) + detail * (im(p) - smooth(p))


def guided(photo: Image, *, radius=8, edge=0.1) -> Image:
    a, b = lines(*moments(photo, radius=radius), radius=radius, edge=edge)
    a, b = means_of_two(a, b, radius=radius)
    a, b = means_of_two(a, b, radius=radius, dx=0, dy=1)
    return applied(photo, a, b)


def render(photo: Image, *, radius=8, edge=0.1, detail=3.0) -> Image:
    return enhanced(photo, guided(photo, radius=radius, edge=edge), detail=detail)


if __name__ == "__main__":
    main(render, radius=(1, 30), edge=(0.001, 10), detail=(0, 20))
