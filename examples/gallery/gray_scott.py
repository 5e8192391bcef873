"""
Reaction and diffusion
======================

Two substances: one is fed, the other eats it, makes more of itself, and dies. Depending on the
rates there are spots, stripes or labyrinths, and here the rates follow the brightness of the
photograph, so that its parts grow different patterns.

Reference: P. Gray and S. Scott, 1984; J. Pearson, *Complex patterns in a simple system*, 1993.
"""

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, dot, mix, smoothstep

GREY = Vec3(0.2125, 0.7154, 0.0721)
SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1)]
CORNERS = [(1, 1), (-1, 1), (1, -1), (-1, -1)]


@pygpu.compile
def rates(im: Image, p: Position):
    """Feed and kill, where stripes live (dark) and where spots do (bright)."""
    light = sum(dot(GREY, im(2 * p + (i, j))) for j in (0, 1) for i in (0, 1)) / 4
    return mix(Vec2(0.029, 0.0565), Vec2(0.026, 0.0615), smoothstep(0.1, 0.8, light))


@pygpu.compile
def seeded(p: Position):
    """The first substance everywhere, specks of the second."""
    h = Int(p.x // 4) * 374761393 + Int(p.y // 4) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    return Vec2(0.5, 0.25) if (h ^ (h >> 16)) & 7 == 0 else Vec2(1.0, 0.0)


@pygpu.compile
def reacted(uv: Image, rate: Image, p: Position):
    here = uv(p)
    spread = 0.2 * sum(uv(p + d) for d in SIDES) + 0.05 * sum(uv(p + d) for d in CORNERS) - here
    (u, v), (feed, kill) = here, rate(p)
    eaten = u * v * v
    change = Vec2(feed * (1 - u) - eaten, eaten - (feed + kill) * v)
    return here + Vec2(0.4, 0.2) * spread + change


@pygpu.compile
def painted(uv: Image, im: Image, p: Position):
    v = uv.sampled(interpolation="linear")((p - 0.5) / 2).y
    ink = smoothstep(0.12, 0.26, v)
    return mix(Vec3(0.97, 0.95, 0.9), 0.6 * im(p), ink)


def render(photo: Image, *, rounds=1500) -> Image:
    height, width = photo.shape[:2]
    half = {"shape": (-(-height // 2), -(-width // 2))}
    uv = reacted.iterate(seeded(**half), rounds, rates(photo, **half))
    return painted(uv, photo, shape=(height, width))


if __name__ == "__main__":
    main(render, rounds=(0, 100_000))
