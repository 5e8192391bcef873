"""The sky: a cube of six images, computed from directions, and a smaller one of what it lights."""

import pygpu
from pygpu import Cube, Position, Vec3

SUN = Vec3(0.55, 0.42, 0.72)
AXES = [  # of each face: where it looks, and where its columns and rows run to
    (Vec3(1, 0, 0), Vec3(0, 0, -1), Vec3(0, -1, 0)),
    (Vec3(-1, 0, 0), Vec3(0, 0, 1), Vec3(0, -1, 0)),
    (Vec3(0, 1, 0), Vec3(1, 0, 0), Vec3(0, 0, 1)),
    (Vec3(0, -1, 0), Vec3(1, 0, 0), Vec3(0, 0, -1)),
    (Vec3(0, 0, 1), Vec3(1, 0, 0), Vec3(0, -1, 0)),
    (Vec3(0, 0, -1), Vec3(-1, 0, 0), Vec3(0, -1, 0)),
]


def colour(d):
    """The sky in a direction of length 1: blue above, haze, a sun, earth below."""
    up = pygpu.clamp(d.y, 0.0, 1.0)
    blue = pygpu.mix(Vec3(0.75, 0.8, 0.86), Vec3(0.16, 0.32, 0.62), up**0.6)
    towards = pygpu.clamp(pygpu.dot(d, pygpu.normalize(SUN)), 0.0, 1.0)
    glow = Vec3(1.0, 0.75, 0.45) * (0.4 * towards**8 + 6.0 * towards**600)
    earth = Vec3(0.30, 0.26, 0.22)
    return pygpu.mix(earth, blue + glow, pygpu.smoothstep(-0.08, 0.03, d.y))


def direction(p, size, look, along, down):
    """The direction to a pixel of a face."""
    a, b = (2 * p.x + 1) / size - 1, (2 * p.y + 1) / size - 1
    return pygpu.normalize(look + a * along + b * down)


@pygpu.compile
def face(p: Position, size: float, look: Vec3, along: Vec3, down: Vec3):
    return colour(direction(p, size, look, along, down))


@pygpu.compile
def lit_face(p: Position, size: float, look: Vec3, along: Vec3, down: Vec3):
    """What a surface that looks there gets of the sky: directions around it, weighted by cosine."""
    n = direction(p, size, look, along, down)
    total = Vec3(0.0)
    for k in range(48):  # points of a sphere, spread by the golden angle; n added: a cosine's lobe
        y = 1 - (2 * k + 1) / 48
        ring, turn = (1 - y * y) ** 0.5, 2.399963 * k
        point = Vec3(ring * pygpu.cos(turn), y, ring * pygpu.sin(turn))
        total += colour(pygpu.normalize(n + 0.98 * point))
    return total / 48


def cube(size=128):
    return Cube(*[face(size, *axes, shape=(size, size)) for axes in AXES])


def light_cube(size=16):
    return Cube(*[lit_face(size, *axes, shape=(size, size)) for axes in AXES])
