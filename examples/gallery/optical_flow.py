"""
Optical flow
============

How every pixel moved between two pictures: brightness is constant along the motion and the motion
is smooth. Each round replaces the flow by its neighbourhood's mean, pulled to where the
brightness fits. The second picture is the photograph turned and zoomed a little; hue is the
direction found.

Reference: B. Horn and B. Schunck, *Determining optical flow*, 1981.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, length

GREY = Vec3(0.2125, 0.7154, 0.0721)
SIDES = [(1, 0), (-1, 0), (0, 1), (0, -1)]
CORNERS = [(1, 1), (-1, 1), (1, -1), (-1, -1)]


@pygpu.compile
def moved(im: Image, p: Position, turn: float, zoom: float):
    """The grey picture before the motion, read where each pixel comes from."""
    middle = Vec2(im.width - 1, im.height - 1) / 2
    v = (p - middle) / zoom
    c, s = math.cos(turn), math.sin(turn)
    at = middle + Vec2(c * v.x + s * v.y, c * v.y - s * v.x)
    return dot(GREY, im.sampled(interpolation="linear")(at))


@pygpu.compile
def derivatives(first: Image, second: Image, p: Position):
    """Along x, y and time, all in the middle of eight pixels."""

    def slope(sign):
        corners = [(i, j) for j in (0, 1) for i in (0, 1)]
        return sum(sign(i, j) * (first(p + (i, j)) + second(p + (i, j))) for i, j in corners) / 4

    time = sum(second(p + (i, j)) - first(p + (i, j)) for j in (0, 1) for i in (0, 1)) / 4
    return Vec3(slope(lambda i, j: 2 * i - 1), slope(lambda i, j: 2 * j - 1), time)


@pygpu.compile
def improved(flow: Image, slopes: Image, p: Position, smoothness: float):
    mean = sum(flow(p + d) for d in SIDES) / 6 + sum(flow(p + d) for d in CORNERS) / 12
    x, y, t = slopes(p)
    wrong = (x * mean.x + y * mean.y + t) / (smoothness**2 + x * x + y * y)
    return mean - wrong * Vec2(x, y)


@pygpu.compile
def painted(flow: Image, im: Image, p: Position, fastest: float):
    v = flow(p)
    turn = math.atan2(v.y, v.x)
    colour = Vec3(*[0.5 + 0.5 * math.cos(turn + k * 2 * math.pi / 3) for k in range(3)])
    fast = min(1.0, length(v) / fastest)
    return (0.25 + 0.75 * dot(GREY, im(p))) * (1 - fast + fast * colour)


def flow_between(first: Image, second: Image, *, rounds=200, smoothness=0.02) -> Image:
    """(H, W, 2): the motion in pixels."""
    slopes = derivatives(first, second)
    still = stopped(slopes)
    return improved.iterate(still, rounds, slopes, smoothness=smoothness)


@pygpu.compile
def stopped(slopes: Image, p: Position):
    return 0 * slopes(p).xy


def render(photo: Image, *, rounds=200, degrees=0.4, zoom=1.004) -> Image:
    first = moved(photo, turn=0.0, zoom=1.0)
    second = moved(photo, turn=math.radians(degrees), zoom=zoom)
    return painted(flow_between(first, second, rounds=rounds), photo, fastest=1.5)


if __name__ == "__main__":
    main(render, rounds=(1, 10_000), degrees=(-5, 5), zoom=(0.95, 1.05))
