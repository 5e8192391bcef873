"""
Clouds
======

Value noise in octaves, each twice as fine and half as strong, whose place is bent by more such
noise. The lattice's random numbers are a hash of whole positions.

Reference: K. Perlin, *An image synthesizer*, 1985; I. Quilez, *Domain warping*.
"""

import math

from _gallery import main

import pygpu
from pygpu import Image, Int, Position, Vec2, Vec3, mix, smoothstep


def lattice(i, j):
    """A number in [0, 1] for each whole position."""
    h = Int(i) * 374761393 + Int(j) * 668265263
    h = (h ^ (h >> 13)) * 1274126177
    return ((h ^ (h >> 16)) & 0xFFFF) / 65535


def noise(q):
    i, j = math.floor(q.x), math.floor(q.y)
    u, v = smoothstep(0.0, 1.0, q.x - i), smoothstep(0.0, 1.0, q.y - j)
    top = mix(lattice(i, j), lattice(i + 1, j), u)
    return mix(top, mix(lattice(i, j + 1), lattice(i + 1, j + 1), u), v)


def fbm(q, octaves):
    """Fractional Brownian motion, about in [0, 1]."""
    return sum(noise(q * 2.0**k + 17.0 * k) * 0.5 ** (k + 1) for k in range(octaves))


@pygpu.compile
def clouds(p: Position, size: float, height: float, octaves=6):
    q = Vec2(p.x, p.y) / size
    bend = Vec2(fbm(q, 4), fbm(q + (5.2, 1.3), 4))
    density = smoothstep(0.4, 0.8, fbm(q + 1.6 * bend, octaves))
    shade = fbm(q + 1.6 * bend - (0.15, 0.2), octaves)
    sky = mix(Vec3(0.16, 0.35, 0.68), Vec3(0.55, 0.75, 0.95), p.y / height)
    white = mix(Vec3(1.0, 0.98, 0.95), Vec3(0.55, 0.58, 0.66), smoothstep(0.4, 0.9, shade))
    return mix(sky, white, density)


def render(photo: Image, *, size=150.0) -> Image:
    return clouds(size=size, height=photo.height, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, size=(1, 10_000))
