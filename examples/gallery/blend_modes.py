"""
Blend modes
===========

Two layers and eleven ways to lay one over the other. A mode is a function of two colours; which
one is known when the program is compiled, so that only that one is in it. The upper layer is a
field of light that leaks in from the left.

Reference: W3C, *Compositing and Blending Level 1*.
"""

import math
from typing import Literal

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec3, mix


def channelwise(f):
    """A function of two numbers, applied to each channel."""
    return lambda a, b: Vec3(*[f(x, y) for x, y in zip(a, b, strict=True)])


def hard_light(a, b):
    return 2 * a * b if b <= 0.5 else 1 - 2 * (1 - a) * (1 - b)


def soft_light(a, b):
    if b <= 0.5:
        return a - (1 - 2 * b) * a * (1 - a)
    d = ((16 * a - 12) * a + 4) * a if a <= 0.25 else math.sqrt(a)
    return a + (2 * b - 1) * (d - a)


Mode = Literal[
    "normal",
    "multiply",
    "screen",
    "overlay",
    "darken",
    "lighten",
    "colour-dodge",
    "colour-burn",
    "hard-light",
    "soft-light",
    "difference",
]
MODES = {
    "normal": lambda a, b: b,
    "multiply": lambda a, b: a * b,
    "screen": lambda a, b: a + b - a * b,
    "overlay": channelwise(lambda a, b: hard_light(b, a)),
    "darken": channelwise(min),
    "lighten": channelwise(max),
    "colour-dodge": channelwise(lambda a, b: 0.0 if a == 0 else min(1.0, a / max(1 - b, 1e-6))),
    "colour-burn": channelwise(
        lambda a, b: 1.0 if a == 1 else 1 - min(1.0, (1 - a) / max(b, 1e-6))
    ),
    "hard-light": channelwise(hard_light),
    "soft-light": channelwise(soft_light),
    "difference": channelwise(lambda a, b: abs(a - b)),
}


@pygpu.compile
def leak(p: Position, width: float, height: float):
    """Warm light from the left, cold light from below."""
    warm = math.exp(-3 * p.x / width) * (0.8 + 0.2 * math.sin(5 * p.y / height))
    cold = math.exp(-4 * (1 - p.y / height))
    return warm * Vec3(1.0, 0.55, 0.25) + cold * Vec3(0.1, 0.3, 0.6)


@pygpu.compile
def blended(below: Image, above: Image, p: Position, opacity: float, mode="screen"):
    a, b = below(p), above(p)
    return mix(a, MODES[mode](a, b), opacity)


def render(photo: Image, *, mode: Mode = "screen", opacity=1.0) -> Image:
    height, width = photo.shape[:2]
    light = leak(width=width, height=height, shape=(height, width))
    return blended(photo, light, mode=mode, opacity=opacity)


if __name__ == "__main__":
    main(render, opacity=(0, 1))
