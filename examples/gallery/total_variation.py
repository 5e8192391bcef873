"""
Total variation
===============

The picture nearest to a noisy one that has the least total variation: flat areas with sharp
edges. The dual problem's vector field is iterated; each round needs two images and gives two.

Reference: A. Chambolle, *An algorithm for total variation minimization and applications*, 2004.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, sqrt


def divergence(u, v, p):
    """Of the field (u, v), by backward differences; nothing flows in over the border."""
    u, v = u.sampled(boundary="constant"), v.sampled(boundary="constant")
    return u(p) - u(p - (1, 0)) + v(p) - v(p - (0, 1))


@pygpu.compile
def rounds(u: Image, v: Image, im: Image, p: Position, weight: float, rate: float = 0.248):
    def error(q):
        return divergence(u, v, q) - im(q) / weight

    here = error(p)
    gx = error(p + (1, 0)) - here if p.x < im.width - 1 else 0 * here
    gy = error(p + (0, 1)) - here if p.y < im.height - 1 else 0 * here
    length = 1 + rate * sqrt(gx * gx + gy * gy)
    return (u(p) + rate * gx) / length, (v(p) + rate * gy) / length


@pygpu.compile
def nothing(im: Image, p: Position):
    return 0 * im(p), 0 * im(p)


@pygpu.compile
def denoised(u: Image, v: Image, im: Image, p: Position, weight: float):
    return im(p) - weight * divergence(u, v, p)


def render(photo: Image, *, weight=0.12, steps=40) -> Image:
    u, v = rounds.iterate(nothing(photo), steps, photo, weight=weight)
    return denoised(u, v, photo, weight=weight)


if __name__ == "__main__":
    main(render, weight=(0.001, 2), steps=(1, 500))
