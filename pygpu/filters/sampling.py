"""An image, or any function of whole positions, between its pixels.

bicubic(im, q)                                  # q may be any pair of numbers
lanczos(im, q)                                  # transform.py has warp and rotate
"""

import functools
import math
from typing import Any

import numpy as np

from pygpu.core.errors import guarded, shown
from pygpu.language.vectors import Vector


def _check(name: str, arguments: tuple[Any, ...]) -> None:
    for im in arguments[:1]:
        if not callable(im):
            raise TypeError(f"{name}: takes an image, or a function of positions, got {shown(im)}")
    for q in arguments[1:2]:
        if not isinstance(q, (Vector, list, tuple, np.ndarray)) or len(q) != 2:
            raise TypeError(f"{name}: takes a place, a pair of numbers, got {shown(q)}")


_between = functools.partial(guarded, check=_check)


@_between
def bilinear(im: Any, q: Any) -> Any:
    """The mean of four texels by their nearness: what `interpolation="linear"` gives."""
    x, y = q
    left, top = math.floor(x), math.floor(y)
    u, v = x - left, y - top
    upper = (1 - u) * im((left, top)) + u * im((left + 1, top))
    lower = (1 - u) * im((left, top + 1)) + u * im((left + 1, top + 1))
    return (1 - v) * upper + v * lower


@_between
def bicubic(im: Any, q: Any) -> Any:
    """The sum of 4 x 4 texels by Keys' cubic (a = -1/2, Catmull and Rom's); Pillow's BICUBIC."""
    return _separable(im, q, 2, _cubic)


@_between
def lanczos(im: Any, q: Any, lobes: int = 3) -> Any:
    """The sum of (2 lobes)² texels by a windowed sinc; Pillow's LANCZOS with 3 lobes."""
    return _separable(im, q, lobes, lambda x: _lanczos(x, lobes))


def _separable(im: Any, q: Any, reach: int, weight: Any) -> Any:
    """The weighted mean of 2 reach x 2 reach texels around q."""
    x, y = q
    left, top = math.floor(x) - reach + 1, math.floor(y) - reach + 1
    side = range(2 * reach)
    columns = [weight(x - (left + i)) for i in side]
    rows = [weight(y - (top + j)) for j in side]
    total = sum(
        [
            v * sum([u * im((left + i, top + j)) for i, u in enumerate(columns)])
            for j, v in enumerate(rows)
        ]
    )
    return total / (sum(columns) * sum(rows))


def _cubic(x: Any) -> Any:
    x = abs(x)
    if x < 1:
        return 1 + x * x * (1.5 * x - 2.5)
    return 2 + x * (-4 + x * (2.5 - 0.5 * x))


def _lanczos(x: Any, lobes: int) -> Any:
    if abs(x) < 1e-3:
        return 1 - 1.6449341 * x * x * (1 + 1 / lobes**2)  # the series: a quotient loses digits
    t = math.pi * x
    return lobes * math.sin(t) * math.sin(t / lobes) / (t * t)
