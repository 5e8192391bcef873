"""Functions of images that light what was drawn: occlusion, sky, lamps, shadows, glow, tone."""

import math

import numpy as np

import pygpu
from pygpu import Image, Mat4, Position, Vec2, Vec3, Vec4

RADIUS = 0.5  # around a point, within which it is shut off from the light
FAR = 1e3  # the distance of what is no surface


def directions(count):
    """Points in a half ball around z, more of them near its centre."""
    rng = np.random.default_rng(7)
    points = rng.normal(size=(count, 3))
    points[:, 2] = abs(points[:, 2]) + 0.15
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points * (0.15 + 0.85 * (np.arange(count) / count) ** 2)[:, None]


@pygpu.compile(points=directions(12))
def occlusion(places: Image, normals: Image, p: Position, points, camera: Mat4, eye: Vec3):
    """How much of the sky each point sees: points around it that lie behind what was drawn there do
    not (screen-space ambient occlusion)."""
    here, n = places(p), normals(p)
    if here.w >= FAR:
        return 1.0
    turn = 6.2831853 * pygpu.fract(52.9829189 * pygpu.fract(0.06711056 * p.x + 0.00583715 * p.y))
    spin = Vec3(math.cos(turn), math.sin(turn), 0.37)
    t = pygpu.normalize(spin - n * pygpu.dot(spin, n))
    b = pygpu.cross(n, t)
    shut = 0.0
    for x, y, z in points:
        point = here.xyz + RADIUS * (x * t + y * b + z * n)
        clip = camera @ Vec4(point, 1)
        seen = places.at(
            Vec2(0.5 + 0.5 * clip.x / clip.w, 0.5 - 0.5 * clip.y / clip.w), interpolation="nearest"
        )
        behind = pygpu.length(point - eye) - seen.w
        shut += pygpu.smoothstep(0.01, 0.04, behind) * (1 - pygpu.smoothstep(0.5, 1.0, behind))
    return 1 - 0.9 * shut / len(points)


@pygpu.compile(reach=2)
def bilateral(im: Image, places: Image, p: Position, reach):
    """The mean of what lies around on the same surface: not beyond edges of depth."""
    depth = places(p).w
    total, weights = 0.0, 0.0
    for d in pygpu.offsets(np.ones((2 * reach + 1, 2 * reach + 1))):
        weight = math.exp(-20.0 * abs(places(p + d).w - depth) / (0.1 + depth)) + 1e-4
        total += weight * im(p + d)
        weights += weight
    return total / weights


class Lamp:
    """A light at a place, which falls off with distance."""

    def __init__(self, place, colour, size):
        self.place, self.colour, self.size = place, colour, size

    def towards(self, world):
        """The direction to the light, and how bright it is."""
        away = self.place - world
        distance = pygpu.length(away)
        fall = pygpu.clamp(1 - distance / self.size, 0.0, 1.0) / (0.2 + distance * distance)
        return away / distance, self.colour * fall


class Sun(Lamp):
    """A light from afar, with the shadows of what was drawn into an image of depths."""

    def __init__(self, direction, colour, camera, depths):
        self.direction, self.colour = direction, colour
        self.camera, self.depths = camera, depths

    def towards(self, world):
        clip = self.camera @ Vec4(world, 1)
        uv = Vec2(0.5 + 0.5 * clip.x, 0.5 - 0.5 * clip.y)
        step = 1.0 / self.depths.width
        beyond = float(pygpu.length(uv - 0.5) > 0.5)  # of what the sun's picture shows: no shadow
        seen = 9.0 * beyond
        for x in (-1, 0, 1):
            for y in (-1, 0, 1):
                depth = self.depths.at(uv + step * Vec2(x, y), interpolation="nearest")
                seen += float(0.5 + 0.5 * clip.z - 0.004 < depth)
        return self.direction, self.colour * min(seen / 9, 1.0)


def shade(lamp, world, n, look, colour, gloss):
    """Light of a lamp: diffuse, and a highlight (Blinn and Phong)."""
    to, bright = lamp.towards(world)
    half = pygpu.normalize(to + look)
    power = 8.0 + 120.0 * gloss
    shine = gloss * pygpu.clamp(pygpu.dot(n, half), 0.0, 1.0) ** power * (power + 8) / 26
    return bright * pygpu.clamp(pygpu.dot(n, to), 0.0, 1.0) * (colour + shine)


class Scene:
    """What lights a picture: lamps of any class, the sky as it is seen and as it lights."""

    def __init__(self, lamps, sky, ambient):
        self.lamps, self.sky, self.ambient = lamps, sky, ambient


@pygpu.compile
def lit(
    colours: Image,
    normals: Image,
    places: Image,
    open: Image,
    p: Position,
    scene: Scene,
    eye: Vec3,
    corner: Vec3,
    right: Vec3,
    down: Vec3,
):
    """The light that reaches the eye: the sky where nothing was drawn, else what surfaces send
    on. `corner`, `right` and `down` are the directions through the picture."""
    place = places(p)
    if place.w >= FAR:
        a, b = (p.x + 0.5) / places.width, (p.y + 0.5) / places.height
        return scene.sky(corner + a * right + b * down)
    base, n = colours(p), normals(p)
    look = pygpu.normalize(eye - place.xyz)
    gloss = base.w
    ambient = scene.ambient(n) * base.rgb * open(p)
    fresnel = 0.04 + 0.9 * gloss * (1 - pygpu.clamp(pygpu.dot(n, look), 0.0, 1.0)) ** 5
    mirrored = scene.sky(pygpu.reflect(-look, n)) * (fresnel + 0.25 * gloss * gloss) * open(p)
    lamps = sum(shade(lamp, place.xyz, n, look, base.rgb, gloss) for lamp in scene.lamps)
    return ambient + mirrored + lamps


@pygpu.compile
def bright(im: Image, p: Position):
    """A quarter as wide and high, of what is brighter than the picture can be."""
    mean = sum((im(4 * p + (x, y)) for x in (0, 2) for y in (0, 2)), Vec3(0.0)) / 4
    return pygpu.glsl.max(mean - 1.6, 0.0)


WEIGHTS = np.exp(-0.5 * (np.arange(-6, 7) / 2.5) ** 2)
WEIGHTS /= WEIGHTS.sum()


@pygpu.compile(weights=WEIGHTS)
def blur(im: Image, p: Position, weights, along: Vec2):
    return sum(w * im(p + along * k) for k, w in zip(range(-6, 7), weights))


@pygpu.compile
def toned(im: Image, glow: Image, p: Position, exposure: float = 0.62):
    """As a picture is shown: glow added, bright parts bent towards white (ACES, by Narkowicz),
    gamma, darker corners."""
    uv = Vec2((p.x + 0.5) / im.width, (p.y + 0.5) / im.height)
    v = exposure * (im(p) + 0.5 * glow.at(uv))
    v = pygpu.clamp(v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14), 0.0, 1.0)
    edge = pygpu.length(uv - 0.5)
    return v ** (1 / 2.2) * (1 - 0.5 * edge**2)
