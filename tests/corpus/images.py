"""Filters, stencils and shaders, as image libraries, Numba, Taichi and Pythran examples have them."""

import itertools
import math

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec2, Vec3, glsl, offsets

program = Corpus()


@program
def sobel_magnitude(im: Image, p: Position):
    kx = np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    gx = sum(w * im(p + d) for w, d in zip(kx.ravel(), offsets(kx)))
    gy = sum(w * im(p + d) for w, d in zip(kx.T.ravel(), offsets(kx)))
    return np.hypot(gx, gy)


@program
def gaussian_by_loops(im: Image, p: Position):
    sigma, radius = 1.2, 2
    total, weight = 0.0, 0.0
    for dy in range(-radius, radius + 1):
        for dx in range(-radius, radius + 1):
            w = math.exp(-(dx * dx + dy * dy) / (2 * sigma**2))
            total += w * im(p + (dx, dy))
            weight += w
    return total / weight


@program
def bilateral(rgb: Image, p: Position):
    centre = rgb(p)
    total, weight = Vec3(0.0), 0.0
    for dx, dy in itertools.product(range(-2, 3), repeat=2):
        v = rgb(p + (dx, dy))
        d = v - centre
        w = math.exp(-(dx * dx + dy * dy) / 8 - glsl.dot(d, d) / 0.1)
        total += w * v
        weight += w
    return total / weight


@program
def median_of_nine(im: Image, p: Position):
    return sorted(im(p + d) for d in itertools.product((-1, 0, 1), (-1, 0, 1)))[4]


@program
def adaptive_threshold(unit: Image, p: Position):
    window = np.array([unit(p + d) for d in offsets(np.ones((3, 3)))])
    return unit(p) > window.mean() - 0.02


@program
def niblack(unit: Image, p: Position):
    window = np.array([unit(p + (i, j)) for i in range(-1, 2) for j in range(-1, 2)])
    return float(window.mean() - 0.2 * window.std())


@program
def local_binary_pattern(unit: Image, p: Position):
    around = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
    return sum((unit(p + d) >= unit(p)) << k for k, d in enumerate(around))


@program
def census_transform(unit: Image, p: Position):
    code = 0
    for d in offsets(np.ones((3, 3))):
        if tuple(d) == (0, 0):
            continue
        code = (code << 1) | int(unit(p + d) < unit(p))
    return code


@program
def harris_response(im: Image, p: Position):
    def gradient(q):
        return (im(q + (1, 0)) - im(q - (1, 0))) / 2, (im(q + (0, 1)) - im(q - (0, 1))) / 2

    xx = xy = yy = 0.0
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            gx, gy = gradient(p + (i, j))
            xx, xy, yy = xx + gx * gx, xy + gx * gy, yy + gy * gy
    return xx * yy - xy * xy - 0.05 * (xx + yy) ** 2


@program
def hessian_eigenvalues(im: Image, p: Position):
    xx = im(p + (1, 0)) - 2 * im(p) + im(p - (1, 0))
    yy = im(p + (0, 1)) - 2 * im(p) + im(p - (0, 1))
    xy = (im(p + (1, 1)) - im(p + (1, -1)) - im(p + (-1, 1)) + im(p - (1, 1))) / 4
    return tuple(np.linalg.eigvalsh(np.array([[xx, xy], [xy, yy]])))


@program
def structure_tensor_angle(im: Image, p: Position):
    gx = np.array([im(p + (i + 1, j)) - im(p + (i - 1, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    gy = np.array([im(p + (i, j + 1)) - im(p + (i, j - 1)) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    return math.atan2(float(2 * gx @ gy), float(gx @ gx - gy @ gy) + 1e-3) / 2


@program
def non_maximum_suppression(im: Image, p: Position):
    def magnitude(q):
        return abs(im(q + (1, 0)) - im(q - (1, 0))) + abs(im(q + (0, 1)) - im(q - (0, 1)))

    here = magnitude(p)
    return here if all(here >= magnitude(p + d) for d in ((1, 0), (-1, 0))) else 0.0


@program
def erosion_and_dilation(unit: Image, p: Position):
    disk = [(i, j) for i in range(-2, 3) for j in range(-2, 3) if i * i + j * j <= 4]
    values = [unit(p + d) for d in disk]
    return min(values), max(values)


@program
def unsharp_mask(rgb: Image, p: Position):
    blurred = sum((rgb(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)), Vec3(0.0)) / 9
    return np.clip(rgb(p) + 1.5 * (rgb(p) - blurred), 0, 1)


@program
def kuwahara(unit: Image, p: Position):
    best, result = math.inf, 0.0
    for sx, sy in itertools.product((-1, 1), repeat=2):
        block = np.array([unit(p + (sx * i, sy * j)) for i in range(3) for j in range(3)])
        if block.var() < best:
            best, result = block.var(), block.mean()
    return float(result)


@program
def non_local_means(im: Image, p: Position):
    def patch(q):
        return np.array([im(q + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1)])

    here = patch(p)
    weights = {}
    for d in itertools.product((-1, 0, 1), repeat=2):
        weights[d] = np.exp(-np.mean((patch(p + d) - here) ** 2) / 0.5)
    return float(sum(w * im(p + d) for d, w in weights.items()) / sum(weights.values()))


@program
def anisotropic_diffusion(im: Image, p: Position):
    def conductance(d, k=0.5):
        return math.exp(-((d / k) ** 2))

    steps = [im(p + d) - im(p) for d in ((1, 0), (-1, 0), (0, 1), (0, -1))]
    return im(p) + 0.2 * sum(conductance(d) * d for d in steps)


@program
def laplacian_with_slices(im: Image, p: Position):
    window = np.array([[im(p + (i, j)) for i in range(-1, 2)] for j in range(-1, 2)])
    return float(window[1, 2] + window[1, 0] + window[0, 1] + window[2, 1] - 4 * window[1, 1])


@program
def separable_box(im: Image, p: Position):
    rows = [sum(im(p + (i, j)) for i in range(-2, 3)) / 5 for j in range(-2, 3)]
    return sum(rows) / len(rows)


@program
def bicubic(im: Image, p: Position):
    def weights(t):
        return (
            (-0.5 * t + 1.0 - 0.5 * t * t) * t * -1 + 0 * t,
            1 - 2.5 * t * t + 1.5 * t**3,
            0.5 * t + 2 * t * t - 1.5 * t**3,
            -0.5 * t * t + 0.5 * t**3,
        )

    x, y = p.x * 0.7, p.y * 0.6
    xi, yi = math.floor(x), math.floor(y)
    wx, wy = weights(x - xi), weights(y - yi)
    return sum(wx[i] * wy[j] * im((xi + i - 1, yi + j - 1)) for i in range(4) for j in range(4))


@program
def bilinear_by_hand(im: Image, p: Position):
    x, y = 0.8 * p.x + 0.1, 0.9 * p.y + 0.05
    (fx, ix), (fy, iy) = math.modf(x), math.modf(y)
    q = Position(int(ix), int(iy))
    top = (1 - fx) * im(q) + fx * im(q + (1, 0))
    bottom = (1 - fx) * im(q + (0, 1)) + fx * im(q + (1, 1))
    return (1 - fy) * top + fy * bottom


@program
def polar_warp(im: Image, p: Position):
    r = math.hypot(p.x - 1.45, p.y - 1.05)
    a = math.atan2(p.y - 1.05, p.x - 1.45)
    return im.sampled(interpolation="linear")((a * 1.5 + 2, r))


@program
def barrel_distortion(rgb: Image, p: Position):
    def source(k):
        d = Vec2(p.x - 1.5, p.y - 1) / 4
        return Vec2(1.5, 1) + 4 * d * (1 + k * glsl.dot(d, d))

    lens = rgb.sampled(interpolation="linear")
    return tuple(lens(source(k))[c] for c, k in enumerate((0.30, 0.32, 0.34)))


@program
def demosaiced(im: Image, p: Position):
    cross = (im(p + (1, 0)) + im(p - (1, 0)) + im(p + (0, 1)) + im(p - (0, 1))) / 4
    corners = sum(im(p + (i, j)) for i in (-1, 1) for j in (-1, 1)) / 4
    across, along = (im(p + (1, 0)) + im(p - (1, 0))) / 2, (im(p + (0, 1)) + im(p - (0, 1))) / 2
    match (p.x % 2, p.y % 2):
        case (0, 0):
            return im(p), cross, corners
        case (1, 0):
            return across, im(p), along
        case (0, 1):
            return along, im(p), across
        case _:
            return corners, cross, im(p)


@program
def mean_shift_step(unit: Image, p: Position):
    centre = unit(p)
    for _ in range(3):
        near = [unit(p + d) for d in itertools.product((-1, 0, 1), repeat=2)]
        inside = [(v, 1) if abs(v - centre) < 0.3 else (0.0, 0) for v in near]
        centre = sum(v for v, _ in inside) / max(sum(n for _, n in inside), 1)
    return centre


@program
def entropy_of_four_levels(unit: Image, p: Position):
    counts = [0] * 4
    for d in offsets(np.ones((3, 3))):
        counts[min(int(4 * unit(p + d)), 3)] += 1
    return -sum(c / 9 * math.log2(c / 9) for c in counts if c > 0)


@program
def zero_crossings(im: Image, p: Position):
    def laplacian(q):
        return sum(im(q + d) for d in ((1, 0), (-1, 0), (0, 1), (0, -1))) - 4 * im(q)

    return any(laplacian(p) * laplacian(p + d) < 0 for d in ((1, 0), (0, 1)))


@program
def block_match(im: Image, other: Image, p: Position):
    def cost(shift):
        return sum(abs(im(p + (i, 0)) - other(p + (i + shift, 0))) for i in (-1, 0, 1))

    return min(range(-2, 3), key=cost)


@program
def optical_flow(im: Image, other: Image, p: Position):
    A, b = np.zeros((2, 2)), np.zeros(2)
    for d in offsets(np.ones((3, 3))):
        q = p + d
        g = np.array([im(q + (1, 0)) - im(q - (1, 0)), im(q + (0, 1)) - im(q - (0, 1))]) / 2
        A += np.outer(g, g)
        b += g * (im(q) - other(q))
    return tuple(np.linalg.solve(A + 0.1 * np.eye(2), b))


@program
def plasma(p: Position):
    x, y = p.x / 4, p.y / 3
    v = math.sin(10 * x) + math.sin(10 * (x * math.sin(0.5) + y * math.cos(0.3)))
    cx, cy = x + 0.5 * math.sin(0.2), y + 0.5 * math.cos(0.33)
    v += math.sin(math.sqrt(100 * (cx * cx + cy * cy) + 1))
    return (
        Vec3(math.sin(v * math.pi), math.sin(v * math.pi + 2), math.sin(v * math.pi + 4)) * 0.5
        + 0.5
    )


@program
def checker_and_stripes(p: Position):
    checker = (p.x // 2 + p.y // 2) % 2
    stripes = glsl.step(0.5, glsl.fract(p.x * 0.3))
    return checker, stripes, checker ^ int(stripes)


@program
def truchet(p: Position):
    cell = Vec2(glsl.fract(p.x * 0.37), glsl.fract(p.y * 0.29))
    if (p.x * 7 + p.y * 13) % 2:
        cell = cell.yx
    d = min(abs(glsl.length(cell) - 0.5), abs(glsl.length(cell - 1.0) - 0.5))
    return glsl.smoothstep(0.1, 0.05, d)


@program
def bricks(p: Position):
    x, y = p.x * 0.83 + 0.21, p.y * 0.9 + 0.17
    row = math.floor(y)
    x += 0.5 * (row % 2)
    mortar = x % 1 < 0.1 or y % 1 < 0.1
    return (0.8, 0.8, 0.8) if mortar else (0.6, 0.2 + 0.05 * (math.floor(x) % 3), 0.1)


@program
def kaleidoscope(im: Image, p: Position):
    q = Vec2(p.x - 1.4, p.y - 0.9)
    a = math.atan2(q.y, q.x) % (math.pi / 3)
    a = min(a, math.pi / 3 - a)
    return im.sampled(boundary="mirror", interpolation="linear")(
        glsl.length(q) * Vec2(math.cos(a), math.sin(a))
    )


@program
def seam_energy_of_three_rows(unit: Image, p: Position):
    def energy(q):
        return abs(unit(q + (1, 0)) - unit(q))

    def least(q, rows):
        if rows == 0:
            return energy(q)
        return energy(q) + min(least(q + (d, -1), rows - 1) for d in (-1, 0, 1))

    return least(p, 2)


@program
def run_length_to_the_left(mask: Image, p: Position):
    n = 0
    while n < 4 and mask(p - (n, 0)):
        n += 1
    return n


@program
def distance_to_the_nearest_set(mask: Image, p: Position):
    candidates = [
        math.hypot(i, j) if mask(p + (i, j)) else 99.0
        for i, j in itertools.product(range(-2, 3), repeat=2)
    ]
    return min(candidates)
