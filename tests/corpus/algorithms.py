"""Algorithms as collections of them have it: numbers, dynamic programming, geometry, sorting."""

import bisect
import cmath
import collections
import itertools
import math
from fractions import Fraction

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position

program = Corpus()


@program
def greatest_common_divisor(counts: Image, p: Position):
    a, b = counts(p) * 12, counts(p + (1, 0)) * 18
    while b:
        a, b = b, a % b
    return a


@program
def extended_euclid(ints: Image, p: Position):
    a, b = abs(ints(p)), 17
    x0, x1, y0, y1 = 1, 0, 0, 1
    while b != 0:
        q, a, b = a // b, b, a % b
        x0, x1 = x1, x0 - q * x1
        y0, y1 = y1, y0 - q * y1
    return a, x0, y0


@program
def collatz_steps(counts: Image, p: Position):
    n, steps = counts(p) * 5 + p.x, 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


@program
def primality(ints: Image, p: Position):
    n = abs(ints(p)) + 60
    if n < 2:
        return False
    for d in range(2, 12):
        if n % d == 0 and n != d:
            return False
    return True


@program
def primality_by_while(ints: Image, p: Position):
    n = abs(ints(p)) * 3 + 1
    if n <= 3:
        return n > 1
    if n % 2 == 0 or n % 3 == 0:
        return False
    i = 5
    while i * i <= n:
        if n % i == 0 or n % (i + 2) == 0:
            return False
        i += 6
    return True


@program
def power_by_squaring(counts: Image, p: Position):
    def power(base, exponent, modulus):
        result = 1
        base %= modulus
        while exponent > 0:
            if exponent & 1:
                result = result * base % modulus
            base = base * base % modulus
            exponent >>= 1
        return result

    return power(counts(p), 77 + p.x, 1009)


@program
def newtons_root(unit: Image, p: Position):
    x = value = 20 * unit(p)
    while abs(x * x - value) > 1e-4:
        x = (x + value / x) / 2
    return x


@program
def bisected_root(unit: Image, p: Position):
    def f(x):
        return x**3 - x - unit(p)

    low, high = 1.0, 2.0
    for _ in range(24):
        middle = (low + high) / 2
        if f(low) * f(middle) <= 0:
            high = middle
        else:
            low = middle
    return low


@program
def secant_with_early_return(unit: Image, p: Position):
    def secant(f, a, b, tolerance=1e-5, limit=30):
        for _ in range(limit):
            fa, fb = f(a), f(b)
            if abs(fb) < tolerance:
                return b
            a, b = b, b - fb * (b - a) / (fb - fa)
        raise RuntimeError("no root was found")

    return secant(lambda x: math.cos(x) - x * (0.5 + unit(p)), 0.0, 1.0)


@program
def simpsons_rule(unit: Image, p: Position):
    def integral(f, a, b, n=16):
        h = (b - a) / n
        ends = f(a) + f(b)
        odd = sum(f(a + k * h) for k in range(1, n, 2))
        even = sum(f(a + k * h) for k in range(2, n, 2))
        return h / 3 * (ends + 4 * odd + 2 * even)

    return integral(lambda x: math.exp(-unit(p) * x * x), 0, 2)


@program
def gauss_legendre(unit: Image, p: Position):
    nodes, weights = np.polynomial.legendre.leggauss(6)
    x = 0.5 * (nodes + 1) * unit(p)
    return float(0.5 * unit(p) * np.sum(weights * np.sin(x**2)))


@program
def runge_kutta(im: Image, p: Position):
    def step(f, t, y, h):
        k1 = f(t, y)
        k2 = f(t + h / 2, y + h / 2 * k1)
        k3 = f(t + h / 2, y + h / 2 * k2)
        k4 = f(t + h, y + h * k3)
        return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)

    y, t, h = im(p), 0.0, 0.1
    for _ in range(10):
        y = step(lambda t, y: -2 * y + math.sin(t), t, y, h)
        t += h
    return y


@program
def horner(im: Image, p: Position):
    result = 0
    for c in (3, -2, 0.5, 1, -0.25):
        result = result * im(p) + c
    return result


@program
def quadratic_formula(im: Image, p: Position):
    a, b, c = 1.0, im(p), im(p + (1, 0))
    root = cmath.sqrt(b * b - 4 * a * c)
    one, other = (-b + root) / (2 * a), (-b - root) / (2 * a)
    return one.real + other.real, abs(one) * abs(other)


@program
def cubic_by_cardano(unit: Image, p: Position):
    q, r = unit(p), 0.5 + unit(p)
    d = math.sqrt(r * r / 4 + q**3 / 27)
    return np.cbrt(-r / 2 + d) + np.cbrt(-r / 2 - d)


@program
def levenshtein(ints: Image, p: Position):
    a = [abs(ints(p + (k, 0))) % 3 for k in range(4)]
    b = [0, 1, 2, 1, 0]
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            cost = previous + (0 if x == y else 1)
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, cost)
    return row[-1]


@program
def longest_common_subsequence(ints: Image, p: Position):
    a = [ints(p + (k, 0)) % 3 for k in range(4)]
    b = [1, 0, 2, 1]
    table = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                table[i + 1][j + 1] = table[i][j] + 1
            else:
                table[i + 1][j + 1] = max(table[i][j + 1], table[i + 1][j])
    return table[len(a)][len(b)]


@program
def knapsack(counts: Image, p: Position):
    weights, capacity = [1, 3, 4], 7
    values = [counts(p), counts(p + (1, 0)) * 2, 9]
    best = np.zeros(capacity + 1, int)
    best = [0] * (capacity + 1)
    for weight, value in zip(weights, values):
        for room in range(capacity, weight - 1, -1):
            best[room] = max(best[room], best[room - weight] + value)
    return best[capacity]


@program
def greatest_sum_of_a_run(im: Image, p: Position):
    best = current = im(p)
    for k in range(1, 6):
        v = im(p + (k, 0))
        current = max(v, current + v)
        best = max(best, current)
    return best


@program
def bubble_sort(im: Image, p: Position):
    xs = [im(p + (k, 0)) for k in range(5)]
    for i in range(len(xs)):
        swapped = False
        for j in range(len(xs) - 1 - i):
            if xs[j] > xs[j + 1]:
                xs[j], xs[j + 1] = xs[j + 1], xs[j]
                swapped = True
        if not swapped:
            break
    return xs[0], xs[2], xs[-1]


@program
def insertion_sort(im: Image, p: Position):
    xs = [im(p + (k, 0)) for k in range(4)]
    for i in range(1, len(xs)):
        key, j = xs[i], i - 1
        while j >= 0 and xs[j] > key:
            xs[j + 1] = xs[j]
            j -= 1
        xs[j + 1] = key
    return tuple(xs)


@program
def quickselect_by_counting(im: Image, p: Position):
    window = [im(p + (i, j)) for i, j in itertools.product((-1, 0, 1), repeat=2)]
    for v in window:
        less = sum(1 for w in window if w < v)
        equal = sum(w == v for w in window)
        if less <= 4 < less + equal:
            return v
    return 0.0


@program
def merged_runs(im: Image, p: Position):
    left, right = sorted([im(p), im(p + (1, 0))]), sorted([im(p + (2, 0)), im(p + (3, 0))])
    merged, i, j = [], 0, 0
    for _ in range(4):
        if j == 2 or (i < 2 and left[i] <= right[j]):
            merged.append(left[i])
            i += 1
        else:
            merged.append(right[j])
            j += 1
    return merged


@program
def binary_search(im: Image, p: Position):
    xs = [k * k / 10 - 2 for k in range(12)]
    low, high = 0, len(xs)
    while low < high:
        middle = (low + high) // 2
        if xs[middle] < im(p):
            low = middle + 1
        else:
            high = middle
    return low, bisect.bisect_left(xs, im(p))


@program
def point_in_a_polygon(p: Position):
    corners = [(0.2, 0.1), (3.4, 0.4), (2.6, 2.5), (1.4, 1.2), (0.4, 2.2)]
    x, y = p.x + 0.05, p.y + 0.05
    inside = False
    for (x1, y1), (x2, y2) in zip(corners, corners[1:] + corners[:1]):
        if (y1 > y) != (y2 > y) and x < (x2 - x1) * (y - y1) / (y2 - y1) + x1:
            inside = not inside
    return inside


@program
def winding_number(p: Position):
    corners = (
        np.array([(0.2, 0.1), (3.4, 0.4), (2.6, 2.5), (0.4, 2.2)]) - np.array([p.x, p.y]) - 0.05
    )
    angles = np.arctan2(corners[:, 1], corners[:, 0])
    turns = np.diff(np.append(angles, angles[0]))
    turns = np.where(
        turns > np.pi, turns - 2 * np.pi, np.where(turns < -np.pi, turns + 2 * np.pi, turns)
    )
    return float(abs(turns.sum()) > 1)


@program
def barycentric(p: Position):
    (x1, y1), (x2, y2), (x3, y3) = (0.0, 0.0), (3.5, 0.3), (1.2, 2.6)
    det = (y2 - y3) * (x1 - x3) + (x3 - x2) * (y1 - y3)
    a = ((y2 - y3) * (p.x - x3) + (x3 - x2) * (p.y - y3)) / det
    b = ((y3 - y1) * (p.x - x3) + (x1 - x3) * (p.y - y3)) / det
    return a, b, 1 - a - b


@program
def life(mask: Image, p: Position):
    alive = mask(p)
    around = [mask(p + (i, j)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
    match (alive, sum(around)):
        case (True, n) if n in (2, 3):
            return True
        case (False, 3):
            return True
        case _:
            return False


@program
def rule_110(mask: Image, p: Position):
    left, here, right = (int(mask(p + (k, 0))) for k in (-1, 0, 1))
    return (110 >> (left << 2 | here << 1 | right)) & 1


@program
def langtons_rule_as_a_dict(mask: Image, p: Position):
    rules = {(False, False): 0.25, (False, True): 0.5, (True, False): 0.75, (True, True): 1.0}
    return rules[mask(p), mask(p + (1, 0))]


@program
def escape_time(p: Position):
    c = complex(p.x / 2 - 1.6, p.y / 2 - 0.45)
    z, n = 0j, 0
    while abs(z) <= 2 and n < 50:
        z = z * z + c
        n += 1
    return n


@program
def newton_fractal(p: Position):
    roots = [cmath.rect(1, 2 * math.pi * k / 3) for k in range(3)]
    z = complex(p.x - 1.4, p.y - 0.9)
    for _ in range(20):
        z -= (z**3 - 1) / (3 * z**2)
    for k, root in enumerate(roots):
        if abs(z - root) < 1e-2:
            return k
    return -1


@program
def julia_smooth(p: Position):
    z = complex(p.x / 2 - 0.8, p.y / 2 - 0.5)
    for n in range(40):
        if abs(z) > 4:
            return n + 1 - math.log2(math.log2(abs(z)))
        z = z * z + (-0.4 + 0.6j)
    return 40.0


@program
def gray_codes(counts: Image, p: Position):
    n = counts(p) * 7
    gray = n ^ (n >> 1)
    back = 0
    while gray:
        back ^= gray
        gray >>= 1
    return back - n, (n ^ (n >> 1))


@program
def bits_counted(ints: Image, p: Position):
    n = abs(ints(p))
    count = 0
    while n:
        n &= n - 1
        count += 1
    return count


@program
def hilbert_index(p: Position):
    x, y, d, s = p.x, p.y, 0, 4
    while s > 0:
        rx = 1 if x & s else 0
        ry = 1 if y & s else 0
        d += s * s * ((3 * rx) ^ ry)
        if ry == 0:
            if rx == 1:
                x, y = s - 1 - x, s - 1 - y
            x, y = y, x
        s //= 2
    return d


@program
def morton_index(p: Position):
    def spread(n):
        n = (n | n << 8) & 0x00FF00FF
        n = (n | n << 4) & 0x0F0F0F0F
        n = (n | n << 2) & 0x33333333
        return (n | n << 1) & 0x55555555

    return spread(p.x) | spread(p.y) << 1


@program
def roman_weights(counts: Image, p: Position):
    n, symbols = counts(p) * 7, 0
    for value, length in ((10, 1), (9, 2), (5, 1), (4, 2), (1, 1)):
        while n >= value:
            n -= value
            symbols += length
    return symbols


@program
def weekday_by_zeller(counts: Image, p: Position):
    day, month, year = counts(p), p.x + 1, 2020 + p.y
    if month < 3:
        month, year = month + 12, year - 1
    k, j = year % 100, year // 100
    return (day + 13 * (month + 1) // 5 + k + k // 4 + j // 4 + 5 * j) % 7


@program
def gaussian_elimination(im: Image, p: Position):
    a = [[4.0, im(p), 1.0], [1.0, 5.0, im(p + (1, 0))], [0.5, 1.0, 6.0]]
    b = [1.0, 2.0, 3.0]
    n = len(b)
    for i in range(n):
        for j in range(i + 1, n):
            f = a[j][i] / a[i][i]
            a[j] = [x - f * y for x, y in zip(a[j], a[i])]
            b[j] -= f * b[i]
    x = [0.0] * n
    for i in reversed(range(n)):
        x[i] = (b[i] - sum(a[i][k] * x[k] for k in range(i + 1, n))) / a[i][i]
    return x


@program
def jacobi_iteration(im: Image, p: Position):
    A = np.array([[4.0, 1.0, 0.5], [1.0, 5.0, 1.0], [0.5, 1.0, 6.0]])
    b = np.array([im(p), 2.0, im(p + (1, 0))])
    x = np.zeros(3)
    for _ in range(12):
        x = (b - (A - np.diag(np.diag(A))) @ x) / np.diag(A)
    return tuple(x)


@program
def power_method(unit: Image, p: Position):
    A = np.array([[2.0, unit(p)], [unit(p), 1.0]])
    v = np.array([1.0, 1.0])
    for _ in range(16):
        v = A @ v
        v = v / np.linalg.norm(v)
    return float(v @ A @ v)


@program
def discrete_fourier_of_a_row(im: Image, p: Position):
    xs = [im((k, p.y)) for k in range(4)]
    total = sum(x * cmath.exp(-2j * math.pi * k * p.x / 4) for k, x in enumerate(xs))
    return abs(total), total.real


@program
def least_squares_line(im: Image, p: Position):
    ys = np.array([im(p + (k, 0)) for k in range(-2, 3)])
    xs = np.arange(-2, 3)
    slope = np.sum(xs * (ys - ys.mean())) / np.sum(xs**2)
    return float(slope), float(ys.mean())


@program
def convolved_with_padding(im: Image, p: Position):
    kernel = np.outer([1, 2, 1], [1, 2, 1]) / 16
    window = np.array([[im(p + (i, j)) for i in (-1, 0, 1)] for j in (-1, 0, 1)])
    return float(np.sum(kernel * window)), float(np.abs(window).max())


@program
def exact_weights(im: Image, p: Position):
    weights = [Fraction(1, k) for k in (2, 3, 6)]
    assert sum(weights) == 1
    return sum(float(w) * im(p + (k, 0)) for k, w in enumerate(weights))


@program
def counted_letters(im: Image, p: Position):
    counts = collections.Counter("mississippi")
    ordered = collections.OrderedDict(sorted(counts.items()))
    return im(p) * ordered["s"] + len(ordered) + sum(counts.values())


@program
def stack_machine(im: Image, p: Position):
    stack = []
    for token in "x 2 * x x * + 3 -".split():
        if token == "x":
            stack.append(im(p))
        elif token.isdigit():
            stack.append(int(token))
        else:
            b, a = stack.pop(), stack.pop()
            stack.append({"+": a + b, "-": a - b, "*": a * b}[token])
    (result,) = stack
    return result


@program
def automatic_differentiation(im: Image, p: Position):
    class Dual:
        def __init__(self, value, slope=0.0):
            self.value, self.slope = value, slope

        def __add__(self, other):
            other = other if isinstance(other, Dual) else Dual(other)
            return Dual(self.value + other.value, self.slope + other.slope)

        __radd__ = __add__

        def __mul__(self, other):
            other = other if isinstance(other, Dual) else Dual(other)
            return Dual(
                self.value * other.value, self.slope * other.value + self.value * other.slope
            )

        __rmul__ = __mul__

        def sin(self):
            return Dual(math.sin(self.value), math.cos(self.value) * self.slope)

    y = 3 * (x := Dual(im(p), 1.0)) * x + x.sin() * 2 + 1
    return y.value, y.slope
