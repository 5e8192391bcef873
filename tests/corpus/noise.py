"""Noise and hashes, in the manner of noise libraries and of shaders."""

import math
import random
from functools import lru_cache

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Int, Position, UInt, Vec2, Vec3, glsl

program = Corpus()

generator = random.Random(11)
PERMUTATION = list(range(256))
generator.shuffle(PERMUTATION)
PERMUTATION += PERMUTATION
GRADIENTS = [(1, 1), (-1, 1), (1, -1), (-1, -1), (1, 0), (-1, 0), (0, 1), (0, -1)]
CORNERS = np.array([[0, 0], [1, 0], [0, 1], [1, 1]])


def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


def lerp(a, b, t):
    return a + t * (b - a)


def grad(h, x, y):
    g = GRADIENTS[h & 7]
    return g[0] * x + g[1] * y


def perlin(x, y):
    xi, yi = int(math.floor(x)) & 255, int(math.floor(y)) & 255
    xf, yf = x - math.floor(x), y - math.floor(y)
    u, v = fade(xf), fade(yf)
    p = PERMUTATION
    aa, ab = p[p[xi] + yi], p[p[xi] + yi + 1]
    ba, bb = p[p[xi + 1] + yi], p[p[xi + 1] + yi + 1]
    top = lerp(grad(aa, xf, yf), grad(ba, xf - 1, yf), u)
    bottom = lerp(grad(ab, xf, yf - 1), grad(bb, xf - 1, yf - 1), u)
    return lerp(top, bottom, v)


@program
def improved_perlin(p: Position):
    return perlin(p.x * 0.37 + 0.1, p.y * 0.41 + 0.2)


@program
def perlin_octaves(p: Position):
    total, amplitude, frequency, norm = 0, 1, 0.21, 0
    for _ in range(5):
        total += perlin(p.x * frequency + 0.13, p.y * frequency + 0.29) * amplitude
        norm += amplitude
        amplitude *= 0.5
        frequency *= 2
    return total / norm


@program
def perlin_with_gradient_method(p: Position):
    class Grid:
        def __init__(self, seed):
            self.angles = np.random.default_rng(seed).random((8, 8)) * 2 * np.pi

        def gradient(self, i, j):
            a = self.angles[j % 8, i % 8]
            return np.array([np.cos(a), np.sin(a)])

        def __call__(self, x, y):
            i, j = math.floor(x), math.floor(y)
            values = []
            for dx, dy in CORNERS:
                d = np.array([x - (i + dx), y - (j + dy)])
                values.append(np.dot(self.gradient(i + dx, j + dy), d))
            u, v = fade(x - i), fade(y - j)
            return lerp(lerp(values[0], values[1], u), lerp(values[2], values[3], u), v)

    return float(Grid(4)(p.x * 0.3 + 0.05, p.y * 0.3 + 0.15))


@program
def value_noise_of_an_array(p: Position):
    lattice = np.random.default_rng(2).random((16, 16))
    x, y = p.x * 0.45 + 0.1, p.y * 0.35 + 0.2
    x0, y0 = int(x), int(y)
    tx, ty = x - x0, y - y0
    sx, sy = tx * tx * (3 - 2 * tx), ty * ty * (3 - 2 * ty)
    block = lattice[y0 : y0 + 2, x0 : x0 + 2]
    row = block[0] * (1 - sy) + block[1] * sy
    return float(row[0] * (1 - sx) + row[1] * sx)


@program
def simplex_2d(p: Position):
    f2, g2 = 0.5 * (math.sqrt(3) - 1), (3 - math.sqrt(3)) / 6
    x, y = p.x * 0.3 + 0.05, p.y * 0.33 + 0.02
    s = (x + y) * f2
    i, j = math.floor(x + s), math.floor(y + s)
    t = (i + j) * g2
    x0, y0 = x - (i - t), y - (j - t)
    i1, j1 = (1, 0) if x0 > y0 else (0, 1)
    corners = [(x0, y0), (x0 - i1 + g2, y0 - j1 + g2), (x0 - 1 + 2 * g2, y0 - 1 + 2 * g2)]
    offsets = [(0, 0), (i1, j1), (1, 1)]
    n = 0.0
    for (cx, cy), (oi, oj) in zip(corners, offsets):
        t = 0.5 - cx * cx - cy * cy
        if t > 0:
            h = PERMUTATION[(i + oi + PERMUTATION[(j + oj) & 255]) & 255] & 7
            n += t**4 * grad(h, cx, cy)
    return 70 * n


@program
def worley(p: Position):
    def feature(cx, cy):
        h = (Int(cx) * 374761393 + Int(cy) * 668265263) & 0x7FFFFFFF
        return (h % 1000) / 1000, (h // 1000 % 1000) / 1000

    x, y = p.x * 0.4, p.y * 0.4
    xi, yi = math.floor(x), math.floor(y)
    best = float("inf")
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            fx, fy = feature(xi + dx, yi + dy)
            best = min(best, (xi + dx + fx - x) ** 2 + (yi + dy + fy - y) ** 2)
    return math.sqrt(best)


@program
def worley_two_nearest(p: Position):
    seeds = [(random.Random(k).random() * 4, random.Random(k + 50).random() * 3) for k in range(12)]
    distances = sorted(math.hypot(p.x - sx, p.y - sy) for sx, sy in seeds)
    return distances[1] - distances[0]


@program
def integer_hash_of_wang(p: Position):
    seed = UInt(p.x + 57 * p.y)
    seed = (seed ^ 61) ^ (seed >> 16)
    seed = (seed * 9) & 0xFFFFFFFF
    seed = seed ^ (seed >> 4)
    seed = (seed * 0x27D4EB2D) & 0xFFFFFFFF
    return (seed ^ (seed >> 15)) / 2**32


@program
def fnv_hash(p: Position):
    h = 2166136261
    for byte in (p.x & 255, p.y & 255, 42):
        h = ((h ^ byte) * 16777619) & 0xFFFFFFFF
    return h / 4294967296


@program
def linear_congruence(p: Position):
    state = (p.x * 1973 + p.y * 9277) & 0xFFFFFFFF
    values = []
    for _ in range(3):
        state = (1664525 * state + 1013904223) & 0xFFFFFFFF
        values.append(state / 2**32)
    return Vec3(*values)


@program
def xorshift(p: Position):
    def shuffled(x):
        x ^= (x << 13) & 0xFFFFFFFF
        x ^= x >> 17
        x ^= (x << 5) & 0xFFFFFFFF
        return x

    x = UInt(p.x * 7 + p.y * 131 + 1)
    for _ in range(4):
        x = shuffled(x)
    return (x & 0xFFFF) / 65535


@program
def turbulence(p: Position):
    def noise(x, y):
        return math.sin(x * 1.7 + math.cos(y * 2.3)) * math.cos(y * 1.1 - x)

    return sum(abs(noise(p.x * 0.2 * 2**k, p.y * 0.2 * 2**k)) / 2**k for k in range(6))


@program
def ridged(p: Position):
    s, w = 0.0, 1.0
    for octave in range(4):
        n = 1.0 - abs(perlin(p.x * 0.11 * 2**octave + 0.3, p.y * 0.13 * 2**octave + 0.7))
        n *= n * w
        w = min(max(n * 2.0, 0.0), 1.0)
        s += n * 0.5**octave
    return s


@program
def domain_warp(p: Position):
    q = Vec2(perlin(p.x * 0.2 + 0.1, p.y * 0.2 + 0.1), perlin(p.x * 0.2 + 5.2, p.y * 0.2 + 1.3))
    return perlin(p.x * 0.2 + 4 * q.x + 0.05, p.y * 0.2 + 4 * q.y + 0.05)


@program
def gabor_kernels(p: Position):
    total = 0.0
    for k in range(8):
        a = k * math.pi / 8
        cx, cy = 2 + math.cos(3 * k), 1.5 + math.sin(5 * k)
        dx, dy = p.x - cx, p.y - cy
        envelope = math.exp(-math.pi * 0.1 * (dx * dx + dy * dy))
        total += envelope * math.cos(2 * math.pi * 0.2 * (dx * math.cos(a) + dy * math.sin(a)))
    return total


@program
def blue_noise_by_golden_ratio(p: Position):
    g = 1.32471795724474602596
    a1, a2 = 1 / g, 1 / (g * g)
    return (0.5 + a1 * p.x + a2 * p.y) % 1.0


@program
def halton(p: Position):
    def radical_inverse(base, i):
        f, r = 1.0, 0.0
        while i > 0:
            f /= base
            r += f * (i % base)
            i //= base
        return r

    return radical_inverse(2, p.x + 4 * p.y + 1), radical_inverse(3, p.x + 4 * p.y + 1)


@program
def van_der_corput_by_bits(p: Position):
    n = UInt(p.x + 4 * p.y)
    n = ((n << 16) | (n >> 16)) & 0xFFFFFFFF
    n = ((n & 0x55555555) << 1) | ((n & 0xAAAAAAAA) >> 1)
    n = ((n & 0x33333333) << 2) | ((n & 0xCCCCCCCC) >> 2)
    n = ((n & 0x0F0F0F0F) << 4) | ((n & 0xF0F0F0F0) >> 4)
    n = ((n & 0x00FF00FF) << 8) | ((n & 0xFF00FF00) >> 8)
    return n / 2**32


@program
def diamond_by_recursion(p: Position):
    @lru_cache(None)
    def corner(level, k):
        return random.Random(level * 31 + k).uniform(-1, 1) / 2**level

    def height(level, x, y):
        if level == 4:
            return 0.0
        k = (x > 2) + 2 * (y > 1)
        own = [corner(level, i) for i in range(4)][k]
        return own + height(level + 1, x * 2 % 4, y * 2 % 3)

    return height(0, p.x, p.y)


@program
def dithered_bayer(unit: Image, p: Position):
    bayer = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]]) / 16
    return 1.0 if unit(p) > bayer[p.y % 4, p.x % 4] else 0.0


@program
def film_grain(rgb: Image, p: Position):
    v = rgb(p)
    n = glsl.fract(math.sin(p.x * 1.9 + p.y * 7.3) * 43.7)
    grey = glsl.dot(v, Vec3(0.2126, 0.7152, 0.0722))
    return v + (n - 0.5) * 0.1 * (1 - abs(2 * grey - 1))
