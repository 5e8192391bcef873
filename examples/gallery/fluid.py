"""
Fluid
=====

The photograph is dye in a fluid that a few vortices stir. Each step carries the velocity along
itself, takes out what would squeeze the fluid (a pressure, by Jacobi's rounds), and carries the
dye.

Reference: J. Stam, *Stable fluids*, 1999; M. Harris, *Fast fluid dynamics simulation on the GPU*,
2004.
"""

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, dot, exp

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
# Place, in shares of width and height, and strength of each vortex.
VORTICES = [(0.28, 0.3, 1.0), (0.72, 0.35, -1.0), (0.35, 0.75, -0.8), (0.75, 0.75, 0.9)]


@pygpu.compile
def stirred(p: Position, size: Vec2):
    """The velocity at first."""
    velocity = Vec2(0.0, 0.0)
    for x, y, strength in VORTICES:
        v = (p - size * (x, y)) / (0.12 * min(size.x, size.y))
        velocity += strength * exp(-0.5 * dot(v, v)) * Vec2(-v.y, v.x)
    return velocity


@pygpu.compile
def carried(what: Image, velocity: Image, p: Position, time: float):
    """What was upstream."""
    return what.sampled(interpolation="linear")(p - time * velocity(p))


@pygpu.compile
def divergence(velocity: Image, p: Position):
    v = velocity
    return ((v(p + (1, 0)) - v(p - (1, 0))).x + (v(p + (0, 1)) - v(p - (0, 1))).y) / 2


@pygpu.compile
def relaxed(pressure: Image, div: Image, p: Position):
    return (sum(pressure(p + d) for d in NEIGHBOURS) - div(p)) / 4


@pygpu.compile
def incompressible(velocity: Image, pressure: Image, p: Position):
    """The velocity without the pressure's gradient."""
    gx = pressure(p + (1, 0)) - pressure(p - (1, 0))
    gy = pressure(p + (0, 1)) - pressure(p - (0, 1))
    return velocity(p) - Vec2(gx, gy) / 2


def step(velocity: Image, dye: Image, time: float) -> tuple[Image, Image]:
    velocity = carried(velocity, velocity, time=time)
    div = divergence(velocity)
    pressure = relaxed.iterate(0 * div, 16, div)
    velocity = incompressible(velocity, pressure)
    return velocity, carried(dye, velocity, time=time)


def render(photo: Image, *, steps=18, speed=6.0) -> Image:
    height, width = photo.shape[:2]
    velocity = stirred(size=Vec2(width, height), shape=(height, width))
    dye = 1.0 * photo
    for _ in range(steps):
        velocity, dye = step(velocity, dye, speed)
    return dye


if __name__ == "__main__":
    main(render, steps=(0, 1000), speed=(0, 100))
