"""
Droste effect
=============

A picture that holds itself, on a spiral: the plane's logarithm is turned and scaled so that one
step around the centre is one step inwards. Complex numbers are a small class with the operators
that are needed; it costs nothing when the program runs.

Reference: B. de Smit and H. W. Lenstra, *The mathematical structure of Escher's Print Gallery*,
2003.
"""

import math
from dataclasses import dataclass

from _gallery import main

import pygpu
from pygpu import Image, Position


@dataclass
class Complex:
    re: float
    im: float

    def __mul__(self, other):
        return Complex(
            self.re * other.re - self.im * other.im, self.re * other.im + self.im * other.re
        )

    def log(self):
        return Complex(math.log(math.hypot(self.re, self.im)), math.atan2(self.im, self.re))

    def exp(self):
        size = math.exp(self.re)
        return Complex(size * math.cos(self.im), size * math.sin(self.im))


@pygpu.compile
def spiral(im: Image, p: Position, inner: float, outer: float, arms=1):
    """Rings between the two radii (shares of the half width) follow one another."""
    period = math.log(outer / inner)
    scale = max(im.width, im.height) / 2
    z = Complex((p.x - im.width / 2 + 0.25) / scale, (p.y - im.height / 2 + 0.25) / scale)
    alpha = math.atan2(arms * period, 2 * math.pi)
    twist = Complex(1.0, -arms * period / (2 * math.pi))
    w = z.log() * twist
    w = Complex(w.re % period + math.log(inner), w.im + alpha)
    at = w.exp()
    between = im.sampled(interpolation="linear", boundary="mirror")
    return between((at.re * scale + im.width / 2, at.im * scale + im.height / 2))


def render(photo: Image, *, inner=0.3, outer=0.95, arms=1) -> Image:
    return spiral(photo, inner=inner, outer=outer, arms=arms)


if __name__ == "__main__":
    main(render, inner=(0.05, 0.5), outer=(0.55, 2), arms=(-4, 4))
