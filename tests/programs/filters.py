"""Whole filters, as users write them."""

import math

import numpy as np
from numpy import ravel, sqrt, transpose

from programs.suite import Suite
from pygpu import Float, Image, Int, Position, Vec2, Vec3, offsets

program = Suite()

SOBEL = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
GAUSS = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256


def convolve(kernel, im=Image, p=Position):
    return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel))])


@program(kernel=SOBEL)
def edgeDetect(kernel, im=Image, p=Position):
    Gx = convolve(kernel, im, p)
    Gy = convolve(transpose(kernel), im, p)
    return sqrt(Gx**2 + Gy**2)


@program(kernel=SOBEL)
def edges_of_colours(kernel, rgb: Image, p: Position):
    gx = convolve(kernel, rgb, p)
    gy = convolve(kernel.T, rgb, p)
    return np.sqrt(gx * gx + gy * gy)


@program(kernel=GAUSS)
def gaussian(im: Image, p: Position, kernel):
    return convolve(kernel, im, p)


@program(kernel=np.random.default_rng(0).normal(size=(31, 31)) / 31)
def large_kernel(im: Image, p: Position, kernel):
    return convolve(kernel, im, p)


@program(amount=1.5)
def unsharp_mask(im: Image, p: Position, amount: float):
    blurred = convolve(GAUSS, im, p)
    return im(p) + amount * (im(p) - blurred)


@program
def median_of_nine(im: Image, p: Position):
    return sorted([im(p + d) for d in offsets(SOBEL)])[4]


@program
def erosion_and_dilation(im: Image, p: Position):
    vs = [im(p + d) for d in offsets(SOBEL)]
    return max(vs) - min(vs)


@program(sigma_s=1.5, sigma_r=0.5)
def bilateral(im: Image, p: Position, sigma_s: Float, sigma_r: Float):
    centre = im(p)
    total, weights = 0.0, 0.0
    for d in offsets(np.ones((5, 5))):
        v = im(p + d)
        near = (d.x * d.x + d.y * d.y) / (2 * sigma_s * sigma_s)
        like = (v - centre) ** 2 / (2 * sigma_r * sigma_r)
        w = math.exp(-near - like)
        total += w * v
        weights += w
    return total / weights


@program(rounds=24)
def mandelbrot(im: Image, p: Position, rounds: Int):
    c = complex_of(p)
    x, y, n = 0.0, 0.0, 0
    while n < rounds and x * x + y * y < 4:
        x, y = x * x - y * y + c.x, 2 * x * y + c.y
        n += 1
    return n


def complex_of(p):
    return Vec2(p) * Vec2(0.4375, 0.5625) + Vec2(-2.03, -1.17)


@program
def game_of_life(mask: Image, p: Position):
    f = mask.sampled(boundary="wrap")
    n = sum(f(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return n == 3 or (n == 2 and mask(p))


@program
def local_binary_pattern(im: Image, p: Position):
    ring = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
    return sum((im(p + d) >= im(p)) << k for k, d in enumerate(ring))


@program(angle=0.5)
def rotated(im: Image, p: Position, angle: float):
    f = im.sampled(interpolation="linear", boundary="constant")
    c, s = math.cos(angle), math.sin(angle)
    x, y = p - (im.width / 2, im.height / 2)
    return f((c * x - s * y + im.width / 2, s * x + c * y + im.height / 2))


@program(shift=0.25)
def hue_shift(rgb: Image, p: Position, shift: float):
    r, g, b = rgb(p)
    hi, lo = max(r, g, b), min(r, g, b)
    c = hi - lo
    if c == 0:
        h = 0.0
    elif hi == r:
        h = ((g - b) / c) % 6
    elif hi == g:
        h = (b - r) / c + 2
    else:
        h = (r - g) / c + 4
    h = (h + 6 * shift) % 6
    x = c * (1 - abs(h % 2 - 1))
    if h < 1:
        out = Vec3(c, x, 0)
    elif h < 2:
        out = Vec3(x, c, 0)
    elif h < 3:
        out = Vec3(0, c, x)
    elif h < 4:
        out = Vec3(0, x, c)
    elif h < 5:
        out = Vec3(x, 0, c)
    else:
        out = Vec3(c, 0, x)
    return out + lo


@program
def ordered_dither(unit: Image, p: Position):
    bayer = np.array([[0, 8, 2, 10], [12, 4, 14, 6], [3, 11, 1, 9], [15, 7, 13, 5]])
    return unit(p) > (bayer[p.y % 4, p.x % 4] + 0.3) / 16


@program
def value_noise(im: Image, p: Position):
    def hashed(x, y):
        h = x * 374761393 + y * 668265263
        h = (h ^ (h >> 13)) * 1274126177
        return ((h ^ (h >> 16)) & 0xFFFF) / 65535

    def smooth(t):
        return t * t * (3 - 2 * t)

    q = p * 0.375
    i, j = Int(math.floor(q.x)), Int(math.floor(q.y))  # hashes want wrapping integers
    u, v = smooth(q.x - i), smooth(q.y - j)
    top = hashed(i, j) * (1 - u) + hashed(i + 1, j) * u
    bottom = hashed(i, j + 1) * (1 - u) + hashed(i + 1, j + 1) * u
    return top * (1 - v) + bottom * v


@program
def distance_to_brightest(im: Image, p: Position):
    best, where = im(p), Position(0, 0)
    for d in offsets(np.ones((3, 3))):
        v = im(p + d)
        if v > best:
            best, where = v, d
    return abs(where.x) + abs(where.y)


@program
def harris_corner(im: Image, p: Position, k=0.05):
    def gradient(q):
        return Vec2(im(q + (1, 0)) - im(q - (1, 0)), im(q + (0, 1)) - im(q - (0, 1)))

    xx = yy = xy = 0.0
    for d in offsets(np.ones((3, 3))):
        g = gradient(p + d)
        xx, yy, xy = xx + g.x * g.x, yy + g.y * g.y, xy + g.x * g.y
    return xx * yy - xy * xy - k * (xx + yy) ** 2


@program
def nonlocal_means(im: Image, p: Position):
    def patch(a, b):
        return sum((im(a + d) - im(b + d)) ** 2 for d in ((0, 0), (1, 0), (0, 1)))

    total = weights = 0.0
    for d in offsets(np.ones((3, 3))):
        w = math.exp(-patch(p, p + d))
        total += w * im(p + d)
        weights += w
    return total / weights


@program
def kuwahara(im: Image, p: Position):
    quadrants = []
    for sx, sy in ((-1, -1), (1, -1), (-1, 1), (1, 1)):
        vs = [im(p + (sx * i, sy * j)) for j in range(2) for i in range(2)]
        mean = sum(vs) / 4
        quadrants.append((sum(v * v for v in vs) / 4 - mean * mean, mean))
    return min(quadrants, key=lambda quadrant: quadrant[0])[1]


@program(n=3)
def box_of_uniform_size(im: Image, p: Position, n: Int):
    s = 0.0
    for j in range(n):
        for i in range(n):
            s += im(p + (i - n // 2, j - n // 2))
    return s / (n * n)


@program
def over_operator(rgba: Image, vecs: Image, p: Position):
    front, back = rgba(p), vecs(p)
    return front.rgb * front.a + back * (1 - front.a)


@program
def ray_march(im: Image, p: Position):
    """Marches a ray through a field of spheres until it hits or leaves."""

    def field(q):
        return math.hypot(q.x % 4 - 2, q.y % 4 - 2) - 1.0

    at, travelled, steps = Vec2(p), 0.0, 0
    while steps < 16:
        near = field(at)
        if near < 0.01:
            break
        at = at + Vec2(0.8, 0.6) * near
        travelled += near
        if travelled > 20:
            return -1.0
        steps += 1
    return travelled
