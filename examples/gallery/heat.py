"""
Heat
====

The heat equation by small explicit steps: brightness is temperature, and it spreads. Seen through
the colours of a glowing body, as a thermal camera shows them.

Reference: J. Fourier, *Théorie analytique de la chaleur*, 1822.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, clamp, dot

GREY = Vec3(0.2125, 0.7154, 0.0721)


@pygpu.compile
def grey(im: Image, p: Position):
    return dot(GREY, im(p))


@pygpu.compile
def spread(u: Image, p: Position, rate: float):
    laplacian = u(p + (1, 0)) + u(p - (1, 0)) + u(p + (0, 1)) + u(p - (0, 1)) - 4 * u(p)
    return u(p) + rate * laplacian


@pygpu.compile
def glowing(u: Image, p: Position):
    t = clamp(u(p), 0.0, 1.0)
    blue = 0.55 * max(0.0, 1 - abs(t - 0.3) / 0.3) + 4 * max(0.0, t - 0.75)
    return Vec3(1.6 * t - 0.1, 2.2 * (t - 0.4), blue)


def render(photo: Image, *, rounds=30, rate=0.2) -> Image:
    return glowing(spread.iterate(grey(photo), rounds, rate=rate))


if __name__ == "__main__":
    main(render, rounds=(0, 100_000), rate=(0, 0.25))
