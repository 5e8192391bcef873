"""Signed distances and ray tracers: objects, operators, recursion of known depth, marching."""

import functools
import math
import operator
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Optional

import numpy as np

from corpus.suite import Corpus
from pygpu import Mat2, Position, Vec2, Vec3, glsl

program = Corpus()


def screen(p):
    return Vec2((p.x - 1.5) / 2, (p.y - 1) / 2)


# ---------------------------------------------------------------- distances in the plane


class Shape:
    """A distance with operators, as libraries of signed distances have it."""

    def __init__(self, distance):
        self.distance = distance

    def __call__(self, q):
        return self.distance(q)

    def __or__(self, other):
        return Shape(lambda q: min(self(q), other(q)))

    def __and__(self, other):
        return Shape(lambda q: max(self(q), other(q)))

    def __sub__(self, other):
        return Shape(lambda q: max(self(q), -other(q)))

    def translate(self, by):
        return Shape(lambda q: self(q - by))

    def rotate(self, angle):
        c, s = math.cos(angle), math.sin(angle)
        return Shape(lambda q: self(Vec2(c * q.x + s * q.y, c * q.y - s * q.x)))

    def rounded(self, r):
        return Shape(lambda q: self(q) - r)

    def shell(self, t):
        return Shape(lambda q: abs(self(q)) - t / 2)

    def repeat(self, spacing):
        return Shape(lambda q: self(q - spacing * glsl.round(q / spacing)))


def circle(r):
    return Shape(lambda q: glsl.length(q) - r)


def box(w, h):
    def distance(q):
        d = abs(q) - Vec2(w, h)
        return glsl.length(np.maximum(d, 0.0)) + min(max(d.x, d.y), 0.0)

    return Shape(distance)


def polygon(points):
    def distance(q):
        d = math.inf
        s = 1.0
        n = len(points)
        for i in range(n):
            a, b = Vec2(*points[i]), Vec2(*points[i - 1])
            e, w = b - a, q - a
            t = glsl.clamp(glsl.dot(w, e) / glsl.dot(e, e), 0.0, 1.0)
            d = min(d, glsl.dot(w - e * t, w - e * t))
            c = (q.y >= a.y, q.y < b.y, e.x * w.y > e.y * w.x)
            if all(c) or not any(c):
                s = -s
        return s * math.sqrt(d)

    return Shape(distance)


@program
def union_of_shapes(p: Position):
    shape = circle(0.5) | box(0.3, 0.7).translate(Vec2(0.3, 0.1))
    return shape(screen(p))


@program
def shapes_cut_and_turned(p: Position):
    shape = (box(0.6, 0.4).rotate(0.4) & circle(0.6)) - circle(0.2).translate(Vec2(0.1, 0))
    return shape.rounded(0.05)(screen(p)), shape.shell(0.1)(screen(p))


@program
def shapes_repeated(p: Position):
    return circle(0.1).repeat(0.35)(screen(p))


@program
def star_polygon(p: Position):
    points = []
    for k in range(10):
        r = 0.8 if k % 2 == 0 else 0.35
        points.append((r * math.sin(k * math.pi / 5), r * math.cos(k * math.pi / 5)))
    return polygon(points)(screen(p) + 0.01)


@program
def smooth_unions(p: Position):
    def smooth(a, b, k=0.2):
        h = max(k - abs(a - b), 0.0) / k
        return min(a, b) - h * h * k / 4

    q = screen(p)
    parts = [glsl.length(q - Vec2(x, y)) - 0.25 for x, y in ((0, 0), (0.4, 0.1), (-0.2, 0.4))]
    return functools.reduce(smooth, parts)


@program
def regular_polygon_by_folding(p: Position):
    q = screen(p) + 0.01
    n, r = 6, 0.5
    sector = 2 * math.pi / n
    a = math.atan2(q.y, q.x)
    a = (a + sector / 2) % sector - sector / 2
    return math.hypot(q.x, q.y) * math.cos(a) - r


@program
def bezier_by_sampling(p: Position):
    q = screen(p)
    a, b, c = Vec2(-0.8, -0.4), Vec2(0.1, 0.9), Vec2(0.8, -0.2)

    def point(t):
        return a * (1 - t) ** 2 + b * 2 * t * (1 - t) + c * t * t

    return min(glsl.distance(q, point(k / 16)) for k in range(17))


@program
def segments_and_capsules(p: Position):
    def segment(q, a, b, radius):
        ab, aq = b - a, q - a
        t = min(max(glsl.dot(aq, ab) / glsl.dot(ab, ab), 0), 1)
        return glsl.length(aq - ab * t) - radius

    corners = [Vec2(-0.6, -0.5), Vec2(0.5, -0.3), Vec2(0.2, 0.6)]
    pairs = zip(corners, corners[1:] + corners[:1])
    return min(segment(screen(p), a, b, 0.03) for a, b in pairs)


# ---------------------------------------------------------------- marching in space


def sphere_and_floor(q):
    return min(glsl.length(q - Vec3(0, 0, 3)) - 1, q.y + 1.0)


def normal_of(f, q, e=1e-2):
    return glsl.normalize(
        Vec3(
            f(q + Vec3(e, 0, 0)) - f(q - Vec3(e, 0, 0)),
            f(q + Vec3(0, e, 0)) - f(q - Vec3(0, e, 0)),
            f(q + Vec3(0, 0, e)) - f(q - Vec3(0, 0, e)),
        )
    )


def march(f, origin, direction, steps=48, far=20.0):
    t = 0.0
    for _ in range(steps):
        d = f(origin + direction * t)
        if d < 1e-3:
            return t
        t += d
        if t > far:
            break
    return None


@program(within=5e-3)
def marched_sphere(p: Position):
    ray = glsl.normalize(Vec3(screen(p) * Vec2(0.8, -0.8), 1.5))
    t = march(sphere_and_floor, Vec3(0.0), ray)
    if t is None:
        return Vec3(0.5, 0.7, 1.0)
    q = ray * t
    n = normal_of(sphere_and_floor, q)
    return Vec3(0.2) + 0.8 * max(glsl.dot(n, glsl.normalize(Vec3(1, 2, -1))), 0.0)


@program(within=5e-3)
def soft_shadow(p: Position):
    q = Vec3(p.x - 1.5, -0.99, 2.2 + p.y * 0.4)
    light = glsl.normalize(Vec3(0.6, 1, -0.5))
    result, t = 1.0, 0.05
    for _ in range(24):
        h = sphere_and_floor(q + light * t)
        result = min(result, 8 * h / t)
        t += min(max(h, 0.05), 0.3)
        if h < 0.001 or t > 4:
            break
    return max(result, 0)


@program(within=5e-3)
def ambient_occlusion(p: Position):
    q = Vec3(p.x * 0.4 - 0.6, -1.0, 2.5 + p.y * 0.2)
    n = Vec3(0, 1, 0)
    weights = [0.5**k for k in range(5)]
    return sum(w * (0.12 * k - sphere_and_floor(q + n * 0.12 * k)) for k, w in enumerate(weights))


@program(within=1e-3)
def folded_box(p: Position):
    q = Vec3(screen(p), 0.3)
    scale = 1.0
    for _ in range(5):
        q = glsl.clamp(q, -1.0, 1.0) * 2.0 - q
        r = glsl.dot(q, q)
        k = max(0.25 / r, 1.0) if r < 0.25 else (1 / r if r < 1 else 1.0)
        q = q * k * 2.0 + Vec3(0.1, 0.2, 0.3)
        scale = scale * k * 2.0 + 1.0
    return glsl.length(q) / scale


# ---------------------------------------------------------------- ray tracers


@dataclass
class Ray:
    origin: Vec3
    direction: Vec3

    def at(self, t):
        return self.origin + t * self.direction


@dataclass
class Hit:
    t: float
    point: Vec3
    normal: Vec3
    material: "Material"


@dataclass
class Material:
    colour: tuple
    mirror: float = 0.0
    checker: bool = False


class Hittable(ABC):
    @abstractmethod
    def hit(self, ray, nearest) -> Optional[Hit]: ...


@dataclass
class Sphere(Hittable):
    centre: Vec3
    radius: float
    material: Material

    def hit(self, ray, nearest):
        oc = ray.origin - self.centre
        b = glsl.dot(oc, ray.direction)
        c = glsl.dot(oc, oc) - self.radius**2
        disc = b * b - c
        if disc < 0:
            return None
        root = math.sqrt(disc)
        for t in (-b - root, -b + root):
            if 1e-3 < t < nearest:
                point = ray.at(t)
                return Hit(t, point, (point - self.centre) / self.radius, self.material)
        return None


@dataclass
class Plane(Hittable):
    height: float
    material: Material

    def hit(self, ray, nearest):
        if abs(ray.direction.y) < 1e-6:
            return None
        t = (self.height - ray.origin.y) / ray.direction.y
        if t <= 1e-3 or t >= nearest:
            return None
        return Hit(t, ray.at(t), Vec3(0.0, 1.0, 0.0), self.material)


@dataclass
class World:
    things: list = field(default_factory=list)

    def add(self, thing):
        self.things.append(thing)
        return self

    def hit(self, ray):
        nearest, found = 1e9, None
        for thing in self.things:
            hit = thing.hit(ray, nearest)
            if hit is not None:
                nearest, found = hit.t, hit
        return found


def sky(ray):
    t = 0.5 * (ray.direction.y + 1)
    return (1 - t) * Vec3(1.0) + t * Vec3(0.5, 0.7, 1.0)


def shade(world, ray, depth):
    hit = world.hit(ray)
    if hit is None:
        return sky(ray)
    light = glsl.normalize(Vec3(1, 2, -2))
    k = max(glsl.dot(hit.normal, light), 0.0)
    colour = Vec3(*hit.material.colour) * (0.2 + 0.8 * k)
    if hit.material.checker:
        if (math.floor(hit.point.x) + math.floor(hit.point.z)) % 2:
            colour = colour * 0.3
    if depth == 0:
        return colour
    mirrored = Ray(hit.point, glsl.reflect(ray.direction, hit.normal))
    return glsl.mix(colour, shade(world, mirrored, depth - 1), hit.material.mirror)


def small_world():
    red = Material((0.9, 0.2, 0.2), 0.3)
    world = World()
    world.add(Sphere(Vec3(0.0, 0.0, 3.0), 1.0, red))
    world.add(Sphere(Vec3(1.4, 0.3, 3.4), 0.7, Material((0.2, 0.8, 0.3), 0.5)))
    return world.add(Plane(-1.03, Material((0.8, 0.8, 0.8), 0.1, checker=True)))


@program(within=5e-3)
def ray_tracer(p: Position):
    q = screen(p)
    ray = Ray(Vec3(0.0), glsl.normalize(Vec3(q.x, 0.1 - q.y, 1.5)))
    return shade(small_world(), ray, 0)


@program(within=5e-3)
def ray_tracer_with_mirrors(p: Position):
    q = screen(p)
    ray = Ray(Vec3(0.0), glsl.normalize(Vec3(q.x, 0.1 - q.y, 1.5)))
    return shade(small_world(), ray, 2)


@program(within=5e-3)
def ray_tracer_that_loops(p: Position):
    centres = [Vec3(0.0, 0.0, 3.0), Vec3(1.2, 0.4, 4.0), Vec3(-1.0, -0.3, 2.5)]
    q = screen(p)
    origin, direction = Vec3(0.0), glsl.normalize(Vec3(q.x, q.y, 1.2))
    colour, strength = Vec3(0.0), 1.0
    for bounce in range(4):
        best, index = 1e9, -1
        for i, centre in enumerate(centres):
            oc = origin - centre
            b = glsl.dot(oc, direction)
            disc = b * b - (glsl.dot(oc, oc) - 0.81)
            if disc > 0:
                t = -b - math.sqrt(disc)
                if 1e-2 < t < best:
                    best, index = t, i
        if index < 0:
            colour += strength * Vec3(0.3, 0.5, 0.8)
            break
        origin = origin + direction * best
        normal = (origin - centres[index]) / 0.9
        colour += strength * 0.3 * Vec3(0.9, 0.6, 0.3) * max(normal.y, 0.0)
        direction = glsl.reflect(direction, normal)
        strength *= 0.5
    return colour


@program
def triangle_by_moeller_and_trumbore(p: Position):
    def hit(origin, direction, a, b, c):
        e1, e2 = b - a, c - a
        h = np.cross(direction, e2)
        det = np.dot(e1, h)
        if abs(det) < 1e-8:
            return -1.0
        s = origin - a
        u = np.dot(s, h) / det
        if u < 0 or u > 1:
            return -1.0
        q = np.cross(s, e1)
        v = np.dot(direction, q) / det
        if v < 0 or u + v > 1:
            return -1.0
        return np.dot(e2, q) / det

    s = screen(p)
    a, b, c = (np.array(v) for v in ([-0.7, -0.6, 2.0], [0.8, -0.4, 2.5], [0.1, 0.7, 3.0]))
    direction = np.array([s.x * 0.4, s.y * 0.4, 1.0])
    return float(hit(np.zeros(3), direction, a, b, c))


@program
def slabs_of_a_box(p: Position):
    s = screen(p)
    origin, direction = (
        np.array([0.1, 0.2, -3.0]),
        np.array([0.3 * s.x + 0.01, 0.3 * s.y + 0.02, 1]),
    )
    low, high = (np.array([-0.5] * 3) - origin) / direction, (np.full(3, 0.5) - origin) / direction
    near, far = np.minimum(low, high).max(), np.maximum(low, high).min()
    return (float(near), float(far)) if near <= far else (-1.0, -1.0)


@program
def turned_by_matrix_power(p: Position):
    turn = Mat2([[math.cos(0.5), -math.sin(0.5)], [math.sin(0.5), math.cos(0.5)]])
    q = functools.reduce(operator.matmul, [turn] * 3) @ screen(p)
    return q


@program(within=1e-3)
def menger_sponge(p: Position):
    q = Vec3(screen(p) * 0.9, 0.15)
    d = max(abs(c) for c in q) - 1.0
    s = 1.0
    for _ in range(3):
        a = glsl.mod(q * s, 2.0) - 1.0
        s *= 3.0
        r = abs(1.0 - 3.0 * abs(a))
        da, db, dc = max(r.x, r.y), max(r.y, r.z), max(r.z, r.x)
        d = max(d, (min(da, db, dc) - 1.0) / s)
    return d


@program
def camera_that_looks_at(p: Position):
    class Camera:
        def __init__(self, eye, target, fov=60.0):
            self.eye = Vec3(*eye)
            self.forward = glsl.normalize(Vec3(*target) - self.eye)
            self.right = glsl.normalize(glsl.cross(self.forward, Vec3(0, 1, 0)))
            self.scale = math.tan(math.radians(fov) / 2)

        @property
        def up(self):
            return glsl.cross(self.right, self.forward)

        def ray(self, x, y):
            return glsl.normalize(self.forward + self.scale * (x * self.right + y * self.up))

    return Camera((3, 2, 4), target=(0, 0, 0)).ray(*screen(p))
