"""Functions of the kind that people write who have not read our benchmarks: short, with loops over
neighbours, branches, tables and places of all kinds. None was looked at before it was measured.

    render(photo, results)    # calls each once, in the way of a gallery's program
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pygpu
from pygpu import Float, Image, Position, Vec3

BAYER = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))
EDGES = ((-2, -1, 0), (-1, 1, 1), (0, 1, 2))
SQUARE = [(i, j) for j in (-1, 0, 1) for i in (-1, 0, 1)]
CROSS = [(0, -1), (-1, 0), (1, 0), (0, 1)]


def grey(im: Image, p: Position):
    texel = im(p)
    return 0.299 * texel.x + 0.587 * texel.y + 0.114 * texel.z


def sepia(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(
        min(0.393 * r + 0.769 * g + 0.189 * b, 1.0),
        min(0.349 * r + 0.686 * g + 0.168 * b, 1.0),
        min(0.272 * r + 0.534 * g + 0.131 * b, 1.0),
    )


def solarised(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(*[v if v < 0.5 else 1.0 - v for v in (r, g, b)])


def posterised(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(*[math.floor(v * 4.999) / 4 for v in (r, g, b)])


def swapped(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(b, g, r)


def saturated(im: Image, p: Position, amount: Float):
    r, g, b = im(p)
    mean = (r + g + b) / 3
    return Vec3(*[mean + (v - mean) * amount for v in (r, g, b)])


def whitened(im: Image, p: Position):
    r, g, b = im(p)
    least = min(r, g, b)
    return Vec3(r - least, g - least, b - least)


def keyed(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(0.0, 0.0, 0.0) if g > 1.2 * max(r, b) else Vec3(r, g, b)


def toned(im: Image, p: Position):
    r, g, b = im(p)
    return Vec3(*[v * (1 + v / 4) / (1 + v) for v in (r, g, b)])


def logistic(im: Image, p: Position):
    return 1 / (1 + math.exp(-8 * (grey(im, p) - 0.5)))


def vignette(im: Image, p: Position):
    x, y = p.x / im.width - 0.5, p.y / im.height - 0.5
    return im(p) * (1 - 1.5 * (x * x + y * y))


def framed(im: Image, p: Position):
    if p.x < 10 or p.y < 10 or p.x >= im.width - 10 or p.y >= im.height - 10:
        return Vec3(0.1, 0.1, 0.1)
    return im(p)


def chequered(im: Image, p: Position):
    return im(p) if (p.x // 16 + p.y // 16) % 2 == 0 else 1 - im(p)


def scanned(im: Image, p: Position):
    return im(p) * (0.6 if p.y % 3 == 0 else 1.0)


def grained(im: Image, p: Position):
    n = (p.x * 374761393 + p.y * 668265263) & 0x7FFFFFFF
    n = ((n ^ (n >> 13)) * 1274126177) & 0x7FFFFFFF
    return im(p) + ((n & 255) / 255 - 0.5) * 0.1


def dithered(grey: Image, p: Position):
    return grey(p) > (BAYER[p.y % 4][p.x % 4] + 0.5) / 16


def blurred(grey: Image, p: Position):
    return sum(grey(p + d) for d in SQUARE) / 9


def wide(grey: Image, p: Position):
    return sum(grey(p + (i, j)) for j in range(-3, 4) for i in range(-3, 4)) / 49


def crossed(grey: Image, p: Position):
    return 5 * grey(p) - sum(grey(p + d) for d in CROSS)


def embossed(grey: Image, p: Position):
    total = 0.5
    for j in range(3):
        for i in range(3):
            total += EDGES[j][i] * grey((p.x + i - 1, p.y + j - 1))
    return min(max(total, 0.0), 1.0)


def laplacian(grey: Image, p: Position):
    return abs(sum(grey(p + d) for d in CROSS) - 4 * grey(p))


def prewitt(grey: Image, p: Position):
    gx = sum(grey(p + (1, k)) - grey(p + (-1, k)) for k in (-1, 0, 1))
    gy = sum(grey(p + (k, 1)) - grey(p + (k, -1)) for k in (-1, 0, 1))
    return math.hypot(gx, gy)


def direction(grey: Image, p: Position):
    return math.atan2(grey(p + (0, 1)) - grey(p + (0, -1)), grey(p + (1, 0)) - grey(p + (-1, 0)))


def peak(grey: Image, p: Position):
    here = grey(p)
    for d in SQUARE:
        if grey(p + d) > here:
            return 0.0
    return here


def deviation(grey: Image, p: Position):
    total, squares = 0.0, 0.0
    for d in SQUARE:
        total += grey(p + d)
        squares += grey(p + d) ** 2
    return math.sqrt(max(squares / 9 - (total / 9) ** 2, 0.0))


def opened(grey: Image, p: Position):
    return max(min(grey(p + d + e) for e in CROSS) for d in CROSS)


def ranked(grey: Image, p: Position):
    return sorted(grey(p + d) for d in CROSS)[1]


def weighted(grey: Image, p: Position):
    here, total, weights = grey(p), 0.0, 0.0
    for d in SQUARE:
        weight = 1 / (1 + 100 * (grey(p + d) - here) ** 2)
        total += weight * grey(p + d)
        weights += weight
    return total / weights


def alive(grey: Image, p: Position):
    n = sum(1 if grey(p + d) > 0.5 else 0 for d in SQUARE if d != (0, 0))
    return n == 3 or (n == 2 and grey(p) > 0.5)


def counted(grey: Image, p: Position):
    n = 0
    while n < 8 and grey(p + (n + 1, 0)) > 0.4:
        n += 1
    return n


def pattern(grey: Image, p: Position):
    code = 0
    for bit, d in enumerate(SQUARE):
        if grey(p + d) >= grey(p):
            code |= 1 << bit
    return code


def mirrored(im: Image, p: Position):
    return im((min(p.x, im.width - 1 - p.x), p.y))


def rotated(im: Image, p: Position):
    return im((p.y, im.height - 1 - p.x))


def blocky(im: Image, p: Position):
    return im((p.x // 8 * 8 + 4, p.y // 8 * 8 + 4))


def shifted(im: Image, p: Position):
    return Vec3(im(p + (-3, 0)).x, im(p).y, im(p + (3, 0)).z)


def wavy(im: Image, p: Position):
    return im((p.x + int(8 * math.sin(p.y / 15)), p.y))


def zoomed(im: Image, p: Position):
    smooth = im.sampled(interpolation="linear")
    return smooth((p.x * 0.8 + 20.3, p.y * 0.8 + 11.7))


def polar(grey: Image, p: Position):
    angle, radius = p.x * 2 * math.pi / grey.width, p.y / 2
    return grey(
        (
            int(grey.width / 2 + radius * math.cos(angle)),
            int(grey.height / 2 + radius * math.sin(angle)),
        )
    )


def magnified(im: Image, p: Position):
    x, y = p.x - im.width / 2, p.y - im.height / 2
    far = x * x + y * y
    scale = 0.5 + far / 20000 if far < 10000 else 1.0
    return im((int(im.width / 2 + x * scale), int(im.height / 2 + y * scale)))


def halved(grey: Image, p: Position):
    x, y = 2 * p.x, 2 * p.y
    return (grey((x, y)) + grey((x + 1, y)) + grey((x, y + 1)) + grey((x + 1, y + 1))) / 4


def doubled(im: Image, p: Position):
    return im((p.x // 2, p.y // 2))


OF_COLOURS: tuple[Callable[..., Any], ...] = (
    grey, sepia, solarised, posterised, swapped, whitened, keyed, toned, logistic, vignette, framed,
    chequered, scanned, grained, mirrored, rotated, blocky, shifted, wavy, zoomed, magnified,
)  # fmt: skip
OF_GREY: tuple[Callable[..., Any], ...] = (
    dithered, blurred, wide, crossed, embossed, laplacian, prewitt, direction, peak, deviation,
    opened, ranked, weighted, alive, counted, pattern, polar,
)  # fmt: skip


def render(photo: Any) -> None:
    """Call each once."""
    one = pygpu.Image(photo[..., 1].copy())
    of_three = pygpu.Image(photo)
    height, width = photo.shape[:2]
    for function in OF_COLOURS:
        pygpu.compile(function)(of_three)
    for function in OF_GREY:
        pygpu.compile(function)(one)
    pygpu.compile(saturated)(of_three, 1.4)
    pygpu.compile(halved)(one, shape=(height // 2, width // 2))
    pygpu.compile(doubled)(of_three, shape=(2 * height, 2 * width))
