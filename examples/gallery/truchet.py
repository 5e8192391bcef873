"""
Truchet tiles
=============

One tile with two quarter circles, turned or not at random: together they make endless bands.

Reference: C. S. Smith, *The tiling patterns of Sebastien Truchet and the topology of structural
hierarchy*, 1987.
"""

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, length, mix, smoothstep


@pygpu.compile
def tiles(p: Position, size: int, band: float):
    i, j = p // size
    h = Int(i) * 374761393 + Int(j) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    x, y = (p % size + 0.5) / size
    if (h ^ (h >> 16)) & 16 == 0:
        x = 1 - x
    distance = min(abs(length(Vec2(x, y)) - 0.5), abs(length(Vec2(1 - x, 1 - y)) - 0.5))
    inside = 1 - smoothstep(band - 0.03, band + 0.03, distance)
    core = 1 - smoothstep(0.4 * band - 0.03, 0.4 * band + 0.03, distance)
    colour = mix(Vec3(0.1, 0.16, 0.3), Vec3(0.95, 0.75, 0.3), inside)
    return mix(colour, Vec3(0.75, 0.25, 0.25), core)


def render(photo: Image, *, size=32, band=0.2) -> Image:
    return tiles(size=size, band=band, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, size=(4, 1000), band=(0.02, 0.5))
