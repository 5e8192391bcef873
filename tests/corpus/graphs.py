"""Graphs, words, worlds of many objects, and other programs in the manner of public code."""

import bisect
import functools
import heapq
import itertools
import math
import random
from dataclasses import dataclass

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec2, Vec3

program = Corpus()

NEIGHBOURS = [[1, 2], [3], [0, 4, 5], [], [2, 3], [1, 2, 3, 4]]
ROADS = {0: {1: 4, 2: 1}, 1: {3: 1}, 2: {1: 2, 3: 5}, 3: {}}
WORDS = "the quick brown fox jumps over".split()


@program
def breadth_first(counts: Image, p: Position):
    start = counts(p) % 6
    distance = [99] * 6
    distance[start] = 0
    queue = [start]
    for _ in range(12):
        if not queue:
            break
        node = queue.pop(0)
        for other in NEIGHBOURS[node]:
            if distance[other] > distance[node] + 1:
                distance[other] = distance[node] + 1
                queue.append(other)
    return tuple(distance)


@program
def dijkstra(counts: Image, p: Position):
    distance = {node: math.inf for node in ROADS}
    distance[counts(p) % 4] = 0
    todo = list(ROADS)
    while todo:
        nearest = min(todo, key=lambda node: distance[node])
        todo.remove(nearest)
        for other, length in ROADS[nearest].items():
            distance[other] = min(distance[other], distance[nearest] + length)
    return tuple(min(distance[node], 99) for node in ROADS)


@program
def degree_and_hash_of_neighbours(counts: Image, p: Position):
    row = NEIGHBOURS[counts(p) % 6]
    code = 0
    for other in row:
        code = code * 7 + other
    return code, len(row), max(row, default=-1), 2 in row


@program
def djb2_of_a_word(counts: Image, p: Position):
    word = WORDS[counts(p) % 6]
    h = 5381
    for letter in word:
        h = (h * 33 + ord(letter)) & 0xFFFFFFFF
    return h


@program
def vowels_and_palindromes(counts: Image, p: Position):
    word = WORDS[counts(p) % 6]
    differing = 0
    for a, b in zip(word, reversed(word), strict=True):
        differing += a != b
    places = sum(place for place, letter in enumerate(word) if letter in "aeiou")
    return differing, places, sum(map(ord, word)), any(letter == "o" for letter in word)


@program
def roman_numeral(counts: Image, p: Position):
    values = {"I": 1, "V": 5, "X": 10, "L": 50}
    numeral = ["XIV", "IX", "LXVI", "I"][counts(p) % 4]
    total = 0
    for place, letter in enumerate(numeral):
        if place + 1 < len(numeral) and values[numeral[place + 1]] > values[letter]:
            total -= values[letter]
        else:
            total += values[letter]
    return total


MORSE = {"E": ".", "T": "-", "A": ".-", "N": "-.", "I": "..", "S": "..."}


@program
def morse_length(counts: Image, p: Position):
    code = MORSE["ETANIS"[counts(p) % 6]]
    return sum(1 if sign == "." else 3 for sign in code) + len(code) - 1, code.startswith("-")


@program
def without_its_extremes(im: Image, p: Position):
    values = [im(p + (i, 0)) for i in range(5)]
    values.remove(min(values))
    values.remove(max(values))
    return sum(values) / len(values), values[0], values[-1]


@program
def place_among_the_bright(im: Image, p: Position):
    bright = [value for value in (im(p + (i, 0)) for i in range(5)) if value > 0.3]
    place = 0
    if bright:
        most = max(bright)
        place = bright.index(most)
        bright.remove(most)
    return place, len(bright), sum(bright)


def taps(im, p):
    yield from (im(p + (i, 0)) for i in range(4))
    yield 2 * im(p)


@program
def first_that_is_bright(im: Image, p: Position):
    by_expression = next((value for value in taps(im, p) if value > 0.9), 0.0)
    by_filter = next(filter(lambda value: value > 0.7, taps(im, p)), -1.0)
    return by_expression, by_filter


class Ball:
    def __init__(self, x, r, kind="plain"):
        self.x, self.r, self.kind = x, r, kind

    def area(self):
        return math.pi * self.r**2


WORLD = [Ball(i * 0.01, (i % 7) * 0.2) for i in range(1000)]


@program
def best_of_a_thousand(unit: Image, p: Position):
    best = max(WORLD, key=lambda ball: ball.r - abs(ball.x - 10 * unit(p)))
    return best.x, best.area(), best.kind == "plain"


SITES = [(math.sin(i) * 5, math.cos(i * 3.3) * 5) for i in range(200)]


@program
def nearest_of_many_sites(p: Position):
    x, y = min(SITES, key=lambda site: math.hypot(site[0] - p.x, site[1] - p.y))
    return x, y


class Noise:
    def __init__(self, seed, octaves=3, persistence=0.5):
        drawn = list(range(256))
        random.Random(seed).shuffle(drawn)
        self.table = drawn * 2
        self.octaves, self.persistence = octaves, persistence
        self.gradients = [(1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)]

    def corner(self, h, x, y):
        gx, gy = self.gradients[h % len(self.gradients)]
        return gx * x + gy * y

    def noise(self, x, y):
        i, j = int(math.floor(x)) & 255, int(math.floor(y)) & 255
        x, y = x - math.floor(x), y - math.floor(y)
        u, v = (t * t * t * (t * (t * 6 - 15) + 10) for t in (x, y))
        table = self.table
        aa, ab = table[table[i] + j], table[table[i] + j + 1]
        ba, bb = table[table[i + 1] + j], table[table[i + 1] + j + 1]
        low = self.corner(aa, x, y) * (1 - u) + self.corner(ba, x - 1, y) * u
        high = self.corner(ab, x, y - 1) * (1 - u) + self.corner(bb, x - 1, y - 1) * u
        return low * (1 - v) + high * v

    def __call__(self, x, y):
        total, amplitude, frequency, norm = 0, 1, 1, 0
        for _ in range(self.octaves):
            total += self.noise(x * frequency, y * frequency) * amplitude
            norm += amplitude
            amplitude *= self.persistence
            frequency *= 2
        return total / norm


NOISE = Noise(42)


@program
def noise_by_an_object(p: Position):
    return NOISE(p.x / 7.3, p.y / 5.1)


class Field:
    """A signed distance, with operators that combine it."""

    def __init__(self, f):
        self.f = f

    def __call__(self, p):
        return self.f(p)

    def __or__(self, other):
        return Field(lambda p: np.minimum(self(p), other(p)))

    def __and__(self, other):
        return Field(lambda p: np.maximum(self(p), other(p)))

    def __sub__(self, other):
        return Field(lambda p: np.maximum(self(p), -other(p)))

    def moved(self, by):
        return Field(lambda p: self(p - np.asarray(by)))


def ball(r):
    return Field(lambda p: np.linalg.norm(p) - r)


def cuboid(half):
    half = np.array(half)

    def f(p):
        q = np.abs(p) - half
        return np.linalg.norm(np.maximum(q, 0)) + min(max(q[0], max(q[1], q[2])), 0)

    return Field(f)


SCENE = (ball(1.2) & cuboid([0.9] * 3)) - ball(0.6).moved((0, 0, -1)) | ball(0.3).moved([1.4, 0, 0])


@program
def distances_with_operators(p: Position):
    origin = np.array([0.0, 0.0, -4.0])
    ray = np.array([(p.x - 3) / 4, (p.y - 2) / 4, 1.5])
    ray = ray / np.linalg.norm(ray)
    t = 0.0
    for _ in range(40):
        d = SCENE(origin + ray * t)
        if d < 1e-3:
            break
        t += d
        if t > 10:
            return -1.0
    else:
        return -2.0
    return t


WAYS = {}


def way(source, target):
    def register(f):
        WAYS[source, target] = f
        return f

    return register


@way("rgb", "linear")
def _linear(c):
    return tuple(x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in c)


@way("linear", "xyz")
def _xyz(c):
    rows = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    return tuple(sum(a * b for a, b in zip(row, c, strict=True)) for row in rows)


@way("xyz", "luv")
def _luv(c):
    x, y, z = c
    d = x + 15 * y + 3 * z
    if d == 0:
        return 0.0, 0.0, 0.0
    u, v = 4 * x / d, 9 * y / d
    light = 116 * y ** (1 / 3) - 16 if y > (6 / 29) ** 3 else y * (29 / 3) ** 3
    return light, 13 * light * (u - 0.1978), 13 * light * (v - 0.4683)


def along(c, *path):
    for a, b in itertools.pairwise(path):
        try:
            c = WAYS[a, b](c)
        except KeyError as error:
            raise ValueError(f"no way from {a} to {b}") from error
    return c


@program(within=1e-3)
def colours_along_a_graph(rgb: Image, p: Position):
    return Vec3(*along(tuple(abs(rgb(p))), "rgb", "linear", "xyz", "luv"))


@dataclass
class Body:
    pos: Vec2
    vel: Vec2
    mass: float


class System:
    def __init__(self, bodies):
        self.bodies = bodies

    def step(self, dt):
        for body in self.bodies:
            pull = Vec2(0, 0)
            for other in self.bodies:
                if other is body:
                    continue
                r = other.pos - body.pos
                pull += r * (other.mass / (math.hypot(*r) ** 3 + 0.1))
            body.vel += pull * dt
        for body in self.bodies:
            body.pos += body.vel * dt

    @property
    def energy(self):
        return sum(0.5 * body.mass * body.vel.dot(body.vel) for body in self.bodies)


@program
def bodies_that_attract(p: Position):
    system = System(
        [
            Body(Vec2(p.x * 0.5, p.y * 0.4), Vec2(0, 0), 1.0),
            Body(Vec2(-1, 0.5), Vec2(0.1, 0), 2.0),
            Body(Vec2(2, 2), Vec2(0, -0.2), 0.5),
        ]
    )
    for _ in range(5):
        system.step(0.05)
    return system.energy, *system.bodies[0].pos


@program
def two_nearest_features(p: Position):
    x, y = p.x / 2.5, p.y / 2.5
    i, j = math.floor(x), math.floor(y)
    distances = []
    for di, dj in itertools.product((-1, 0, 1), repeat=2):
        h = ((i + di) * 73856093 ^ (j + dj) * 19349663) & 0xFFFFFFFF
        h = (h ^ (h >> 13)) * 1274126177 & 0xFFFFFFFF
        u, v = (h & 0xFFFF) / 65536, (h >> 16) / 65536
        distances.append(math.hypot(i + di + u - x, j + dj + v - y))
    first, second = heapq.nsmallest(2, distances)
    return second - first


STOPS = [(0.0, (0, 0, 0)), (0.25, (1, 0, 0)), (0.6, (1, 1, 0)), (1.0, (1, 1, 1))]


@program
def stops_by_bisection(unit: Image, p: Position):
    place = bisect.bisect_right([stop for stop, _ in STOPS], unit(p))
    place = min(max(place, 1), len(STOPS) - 1)
    (t0, c0), (t1, c1) = STOPS[place - 1], STOPS[place]
    w = (unit(p) - t0) / (t1 - t0)
    return Vec3(*[a + (b - a) * w for a, b in zip(c0, c1, strict=True)])


@program
def flood_in_a_window(unit: Image, p: Position):
    window = [[unit(p + (x - 1, y - 1)) > 0.4 for x in range(3)] for y in range(3)]
    reached = [[False] * 3 for _ in range(3)]
    reached[1][1] = window[1][1]
    for _ in range(4):
        new = [row[:] for row in reached]
        for y, x in itertools.product(range(3), repeat=2):
            if window[y][x] and not reached[y][x]:
                for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
                    inside = 0 <= x + dx < 3 and 0 <= y + dy < 3
                    if inside and reached[y + dy][x + dx]:
                        new[y][x] = True
        reached = new
    return sum(sum(row) for row in reached)


@program
def common_divisors_of_a_row(counts: Image, p: Position):
    divisor = functools.reduce(math.gcd, [int(counts(p + (i, 0))) for i in range(3)])
    multiple = math.lcm(int(counts(p)) + 1, int(counts(p + (1, 0))) + 1)
    return divisor, multiple, math.isqrt(multiple)


@program
def set_of_any_size(counts: Image, p: Position):
    seen, n = set(), counts(p)
    while n not in seen:
        seen.add(n)
        n = n * 5 % 23
    return len(seen)


@program
def list_of_any_length(counts: Image, p: Position):
    halves, n = [], counts(p)
    while n > 0:
        halves.append(n)
        n //= 2
    return sum(halves)
