"""Noise for textures: functions of a place, the same at the same place on every target.

    value_noise(q, seed=3)                 # in a function: q is any pair of numbers
    simplex_noise(shape=(480, 640), scale=40.0, octaves=4)

Pseudo-random numbers of pixels are another matter: a hash of whole positions, as here, is no
generator for statistics.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.filters.whole import refusing
from pygpu.glsl import mix
from pygpu.language.elementwise import check
from pygpu.language.scalars import Int
from pygpu.language.vectors import Position, Vec2, Vector
from pygpu.runtime import compile

__all__ = ["simplex_noise", "value_noise", "worley_noise"]

SKEW: Final = (math.sqrt(3) - 1) / 2  # takes triangles of equal sides to halves of squares
UNSKEW: Final = (3 - math.sqrt(3)) / 6
SIMPLEX_SCALE: Final = 99.204  # takes the sum of three corners to [-1, 1]


def lattice(i: Any, j: Any, seed: Any) -> Any:
    """A hash of a whole position: an Int whose low 16 bits look random."""
    h = Int(i) * 374761393 + Int(j) * 668265263 + Int(seed) * 1274126177
    h = (h ^ (h >> 15)) * 739982445
    h = (h ^ (h >> 12)) * 695872825
    return h ^ (h >> 15)


def _unit(h: Any) -> Any:
    """A number in [0, 1] of 16 bits."""
    return (h & 0xFFFF) / 65535


def _check_place(name: str, arguments: tuple[Any, ...]) -> None:
    """TypeError for what is no place."""
    place = arguments[0]
    if not isinstance(place, (Vector, list, tuple, np.ndarray)) or len(place) != 2:
        raise TypeError(f"{name} takes a place, a pair of numbers, got {shown(place)}")
    check(name, tuple(place))


def field(function: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a function of a place and a seed one of images, too, if it is given a shape."""
    name = function.__name__

    def of_image(p: Position, scale: float = 32.0, seed: int = 0, octaves: Any = 1) -> Any:
        total: Any = 0.0
        for k in range(octaves):
            q = Vec2(p.x, p.y) * (2.0**k / scale)
            total += 0.5**k * function(q, seed + k)
        return total / (2 - 0.5 ** (octaves - 1))

    of_image.__name__ = of_image.__qualname__ = name
    compiled = compile(of_image)
    at_place = guarded(function, _check_place)

    @refusing
    @functools.wraps(function)
    def either(q: Any = None, seed: Any = 0, **keywords: Any) -> Any:
        if q is None:
            return compiled(seed=seed, **keywords)
        if keywords:
            raise TypeError(f"{name} takes {', '.join(keywords)} with a shape, not with a place")
        return at_place(q, seed)

    return either


@field
def value_noise(q: Any, seed: Any = 0) -> Any:
    """A number in [0, 1] that changes smoothly: random at whole places, between them blended by
    Perlin's polynomial of the fifth degree.

    With `shape=(height, width)` it is an image of the noise at places of `scale` pixels, in
    `octaves`, each twice as fine and half as strong as the one before.
    """
    x, y = q
    i, j = math.floor(x), math.floor(y)
    u, v = _eased(x - i), _eased(y - j)

    def at(di: int, dj: int) -> Any:
        return _unit(lattice(i + di, j + dj, seed))

    return mix(mix(at(0, 0), at(1, 0), u), mix(at(0, 1), at(1, 1), u), v)


def _eased(t: Any) -> Any:
    return t * t * t * (t * (6 * t - 15) + 10)


@field
def simplex_noise(q: Any, seed: Any = 0) -> Any:
    """A number in [-1, 1], 0 on the corners of triangles, with a slope of random direction there.

    With `shape` it is an image, as of `value_noise`. Reference: K. Perlin, *Noise hardware*, 2001;
    S. Gustavson, *Simplex noise demystified*, 2005.
    """
    x, y = q
    s = SKEW * (x + y)
    i, j = math.floor(x + s), math.floor(y + s)
    t = UNSKEW * (i + j)
    u, v = x - i + t, y - j + t
    right = u > v
    di, dj = (1 if right else 0), (0 if right else 1)
    total = _corner(u, v, i, j, seed)
    total += _corner(u - di + UNSKEW, v - dj + UNSKEW, i + di, j + dj, seed)
    total += _corner(u - 1 + 2 * UNSKEW, v - 1 + 2 * UNSKEW, i + 1, j + 1, seed)
    return SIMPLEX_SCALE * total


def _corner(u: Any, v: Any, i: Any, j: Any, seed: Any) -> Any:
    """What a corner of a triangle gives to a place at (u, v) from it."""
    angle = (lattice(i, j, seed) & 0xFFFF) * (2 * math.pi / 65536)
    near = max(0.5 - u * u - v * v, 0.0)
    return near * near * near * near * (math.cos(angle) * u + math.sin(angle) * v)


@field
def worley_noise(q: Any, seed: Any = 0) -> Any:
    """The distances to the nearest and to the second nearest of points, of which each square of
    side 1 holds one: a Vec2.

    With `shape` it is an image, as of `value_noise`. Reference: S. Worley, *A cellular texture
    basis function*, 1996.
    """
    x, y = q
    i, j = math.floor(x), math.floor(y)
    first, second = 8.0, 8.0
    for dj in (-2, -1, 0, 1, 2):
        for di in (-2, -1, 0, 1, 2):
            h = lattice(i + di, j + dj, seed)
            u = i + di + _unit(h) - x
            v = j + dj + _unit(h >> 16) - y
            square = u * u + v * v
            second = min(max(first, square), second)
            first = min(first, square)
    return Vec2(math.sqrt(first), math.sqrt(second))
