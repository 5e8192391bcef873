"""
Waves
=====

A packet of waves meets two slits. The wave equation needs the present and the past: two images go
through the rounds, and each becomes the other. Walls are where nothing moves.

Reference: T. Young, *Experiments and calculations relative to physical optics*, 1804.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3

NEIGHBOURS = [(1, 0), (-1, 0), (0, 1), (0, -1)]


@pygpu.compile
def packet(p: Position, start: float, length: float, wavelength: float):
    """Waves that go to the right from `start`, in a window `length` wide."""
    x = (p.x - start) / length
    return math.exp(-0.5 * x * x) * math.sin(2 * math.pi * (p.x - start) / wavelength)


@pygpu.compile
def slits(p: Position, x: float, middle: float, apart: float, width: float):
    """Whether the place is free."""
    return abs(p.x - x) > 2 or abs(abs(p.y - middle) - apart) < width


@pygpu.compile
def moved(now: Image, before: Image, free: Image, p: Position, courant: float):
    """What will be, and what is."""
    u = now(p)
    spread = sum(now(p + d) for d in NEIGHBOURS) - 4 * u
    edge = min(p.x, p.y, now.width - 1 - p.x, now.height - 1 - p.y)
    calm = 1 - 0.08 * max(0.0, 1 - edge / 12)  # borders swallow what comes to them
    future = calm * (2 * u - before(p) + courant**2 * spread)
    return (future if free(p) else 0.0), calm * u


@pygpu.compile
def painted(now: Image, free: Image, p: Position):
    u = 1.6 * now(p)
    water = Vec3(0.05, 0.2, 0.4) + u * Vec3(0.35, 0.6, 0.7) + max(0.0, u) ** 2 * 0.5
    return water if free(p) else Vec3(0.85, 0.8, 0.7)


def render(photo: Image, *, wavelength=16.0, time=0.62) -> Image:
    """`time` is the way that the packet has gone, in widths of the picture."""
    height, width = photo.shape[:2]
    courant = 0.65
    start, length = 0.15 * width, 0.05 * width
    size = {"shape": (height, width)}
    now = packet(start=start, length=length, wavelength=wavelength, **size)
    before = packet(start=start - courant, length=length, wavelength=wavelength, **size)
    free = slits(x=0.4 * width, middle=height / 2, apart=0.1 * height, width=wavelength / 2, **size)
    rounds = round(time * width / courant)
    now, _ = moved.iterate((now, before), rounds, free, courant=courant)
    return painted(now, free)


if __name__ == "__main__":
    main(render, wavelength=(4, 200), time=(0, 5))
