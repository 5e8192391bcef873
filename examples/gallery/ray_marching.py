"""
Ray marching
============

A scene told by distances: spheres on a chequered floor. Each shape is a class with a `distance`,
their methods are compiled into the loop. A ray goes as far as the distance says is free, until it
hits; shadows, and one reflection of the sky, come from more of the same.

Reference: J. C. Hart, *Sphere tracing*, 1996.
"""

import math
from dataclasses import dataclass

from _gallery import main

import pygpu
from pygpu import Image, Position, Vec2, Vec3, dot, length, mix, normalize, reflect, smoothstep

LIGHT = normalize(Vec3(-0.6, 0.8, -0.5))


@dataclass
class Sphere:
    centre: Vec3
    radius: float
    colour: Vec3

    def distance(self, q):
        return length(q - self.centre) - self.radius

    def surface(self, q):
        return self.colour


@dataclass
class Floor:
    height: float

    def distance(self, q):
        return q.y - self.height

    def surface(self, q):
        odd = (math.floor(q.x) + math.floor(q.z)) % 2
        return Vec3(0.85, 0.85, 0.8) if odd == 1 else Vec3(0.2, 0.22, 0.3)


SCENE = [
    Floor(-1.0),
    Sphere(Vec3(0.0, 0.0, 0.0), 1.0, Vec3(0.9, 0.35, 0.2)),
    Sphere(Vec3(1.7, -0.45, -0.6), 0.55, Vec3(0.25, 0.55, 0.85)),
    Sphere(Vec3(-1.5, -0.6, -0.8), 0.4, Vec3(0.95, 0.8, 0.3)),
]


def distance(q):
    return min(shape.distance(q) for shape in SCENE)


def march(origin, way, steps):
    """How far a ray goes until it meets something; beyond 40 there is only sky."""
    t, k = 0.02, 0
    while k < steps and t < 40:
        free = distance(origin + t * way)
        if free < 0.001 * t:
            break
        t += free
        k += 1
    return t


def normal(q):
    """The distance's gradient."""
    e = 0.001
    steps = [Vec3(e, 0, 0), Vec3(0, e, 0), Vec3(0, 0, e)]
    return normalize(Vec3(*[distance(q + d) - distance(q - d) for d in steps]))


def shadow(q):
    """1 in the light, less where the ray to it passes close to something."""
    light, t = 1.0, 0.05
    for _ in range(24):
        free = distance(q + t * LIGHT)
        light = min(light, 12 * free / t)
        t += max(0.02, min(0.4, free))
    return max(0.0, light)


def sky(way):
    glow = max(0.0, dot(way, LIGHT)) ** 64
    return mix(Vec3(0.75, 0.82, 0.9), Vec3(0.25, 0.45, 0.8), max(0.0, way.y)) + glow


@pygpu.compile
def seen(p: Position, size: Vec2, zoom: float):
    v = (p - size / 2) / size.y
    eye = Vec3(0.0, 0.6, -5.0)
    way = normalize(Vec3(v.x, -v.y - 0.12, zoom))
    t = march(eye, way, 160)
    if t >= 40:
        return sky(way)
    q = eye + t * way
    n = normal(q)
    colour, nearest = Vec3(0.0), 1000.0
    for shape in SCENE:
        d = shape.distance(q)
        if d < nearest:
            colour, nearest = shape.surface(q), d
    diffuse = max(0.0, dot(n, LIGHT)) * shadow(q + 0.01 * n)
    lit = colour * (0.25 + 0.85 * diffuse) + 0.12 * sky(reflect(way, n))
    return mix(lit, sky(way), smoothstep(8.0, 40.0, t))


def render(photo: Image, *, zoom=0.95) -> Image:
    return seen(size=Vec2(photo.width, photo.height), zoom=zoom, shape=photo.shape[:2])


if __name__ == "__main__":
    main(render, zoom=(0.1, 20))
