"""Searches, puzzles, small languages and windows in the manner of public code: worklists that grow while
they are worked off, machines of enumerated instructions, tables of the moment.
"""

import collections
import dataclasses
import enum
import heapq
import itertools
import math
import statistics

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position

program = Corpus()


@program
def second_nearest_cell(p: Position):
    d = []
    for j in range(-1, 2):
        for i in range(-1, 2):
            cx, cy = p.x // 3 + i, p.y // 3 + j
            rx = ((cx * 127 + cy * 311) % 101) / 101
            ry = ((cx * 269 + cy * 183) % 103) / 103
            d.append(math.hypot((cx + rx) * 3 - p.x, (cy + ry) * 3 - p.y))
    d.sort()
    return d[1] - d[0]


@program
def ridged_octaves(p: Position):
    total, amp, freq, w = 0.0, 0.5, 1.0, 1.0
    for octave in range(4):
        n = 1 - abs(math.sin(p.x * freq * 0.3 + octave) * math.cos(p.y * freq * 0.4))
        n *= n
        n *= w
        w = min(max(n * 2, 0), 1)
        total += n * amp
        freq *= 2.1
        amp *= 0.5
    return total


class SDF:
    def __init__(self, f):
        self.f = f

    def __call__(self, p):
        return self.f(p)

    def __or__(self, o):
        return SDF(lambda p: min(self(p), o(p)))

    def __and__(self, o):
        return SDF(lambda p: max(self(p), o(p)))

    def __sub__(self, o):
        return SDF(lambda p: max(self(p), -o(p)))

    def translate(self, t):
        return SDF(lambda p: self(tuple(a - b for a, b in zip(p, t))))

    def twist(self, k):
        def f(p):
            x, y, z = p
            c, s = math.cos(k * z), math.sin(k * z)
            return self((c * x - s * y, s * x + c * y, z))

        return SDF(f)


def ball(r):
    return SDF(lambda p: math.sqrt(sum(c * c for c in p)) - r)


def box(b):
    def f(p):
        q = [abs(c) - d for c, d in zip(p, b)]
        return math.sqrt(sum(max(c, 0) ** 2 for c in q)) + min(max(q), 0)

    return SDF(f)


@program
def march_of_composed_distances(p: Position):
    scene = (box((0.8, 0.5, 0.5)).twist(0.7) | ball(0.7).translate((1, 0, 0))) - ball(0.4)
    o = (0.2, 0.1, -4)
    d = ((p.x - 4) / 8, (p.y - 3) / 8, 1.0)
    l = math.sqrt(sum(c * c for c in d))
    d = tuple(c / l for c in d)
    t = 0.0
    for _ in range(40):
        q = tuple(a + t * b for a, b in zip(o, d))
        h = scene(q)
        if h < 1e-3:
            return 1 / (1 + t)
        t += h
        if t > 10:
            break
    return 0.0


@program
def star_by_folding(p: Position):
    x, y = p.x - 4.3, p.y - 2.8
    r = math.hypot(x, y)
    a = math.atan2(y, x) % (2 * math.pi / 5)
    a = abs(a - math.pi / 5)
    return r * math.cos(a) - 2 * (1 if r < 3 else 0.5)


@program
def capsule_in_arrays(p: Position):
    a = np.array([1.0, 1.0])
    b = np.array([7.0, 4.0])
    q = np.array([p.x, p.y], dtype=float)
    pa, ba = q - a, b - a
    h = np.clip(pa @ ba / (ba @ ba), 0, 1)
    return np.linalg.norm(pa - ba * h) - 0.5


@program
def lab_of_a_texel(rgb: Image, p: Position):
    def lin(c):
        return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4

    r, g, b = map(lin, rgb(p))
    M = [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
    X, Y, Z = (sum(m * c for m, c in zip(row, (r, g, b))) for row in M)
    fn = lambda t: t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29
    fx, fy, fz = fn(X / 0.95047), fn(Y), fn(Z / 1.08883)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


@program
def colour_of_a_temperature(unit: Image, p: Position):
    t = (1000 + unit(p) * 9000) / 100
    r = 255 if t <= 66 else 329.698727446 * (t - 60) ** -0.1332047592
    g = (
        99.4708025861 * math.log(t) - 161.1195681661
        if t <= 66
        else 288.1221695283 * (t - 60) ** -0.0755148492
    )
    b = 255 if t >= 66 else 0 if t <= 19 else 138.5177312231 * math.log(t - 10) - 305.0447927307
    return tuple(min(max(c, 0), 255) / 255 for c in (r, g, b))


@program
def palette_of_hex_colours(unit: Image, p: Position):
    palette = ["#264653", "#2a9d8f", "#e9c46a", "#f4a261", "#e76f51"]
    cols = [tuple(int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)) for c in palette]
    t = unit(p) * (len(cols) - 1)
    i = min(int(t), len(cols) - 2)
    return tuple(a + (b - a) * (t - i) for a, b in zip(cols[i], cols[i + 1]))


@program
def nearest_named_colour(rgb: Image, p: Position):
    names = {"red": (1, 0, 0), "lime": (0, 1, 0), "blue": (0, 0, 1), "grey": (0.5, 0.5, 0.5)}
    c = rgb(p)
    best = min(names, key=lambda n: sum((a - b) ** 2 for a, b in zip(c, names[n])))
    return len(best), names[best][0]


@program
def edit_distance_of_rows(counts: Image, p: Position):
    a = [counts(p + (i, 0)) % 3 for i in range(4)]
    b = [0, 1, 2, 1]
    prev = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        cur = [i]
        for j, y in enumerate(b, 1):
            cur.append(min(prev[j] + 1, cur[-1] + 1, prev[j - 1] + (x != y)))
        prev = cur
    return prev[-1]


@program
def best_run_of_a_row(unit: Image, p: Position):
    best = cur = -math.inf
    for i in range(6):
        v = unit(p + (i, 0)) - 0.5
        cur = max(v, cur + v)
        best = max(best, cur)
    return best


@program
def queens_of_a_number(p: Position):
    def ok(board):
        return all(
            board[i] != board[j] and abs(board[i] - board[j]) != j - i
            for i in range(4)
            for j in range(i + 1, 4)
        )

    n = p.x * 29 + p.y
    return ok([n % 4, n // 4 % 4, n // 16 % 4, n // 64 % 4])


@program
def anagrams_of_a_pixel(p: Position):
    a, b = ["listen", "abc", "aab"][p.x % 3], ["silent", "bca", "abb"][p.y % 3]
    return collections.Counter(a) == collections.Counter(b)


@program
def wire_world(counts: Image, p: Position):
    EMPTY, HEAD, TAIL, WIRE = range(4)
    s = counts(p) % 4
    match s:
        case 0:
            return EMPTY
        case 1:
            return TAIL
        case 2:
            return WIRE
        case _:
            n = sum(
                counts(p + (dx, dy)) % 4 == HEAD
                for dx, dy in itertools.product((-1, 0, 1), repeat=2)
                if (dx, dy) != (0, 0)
            )
            return HEAD if n in (1, 2) else WIRE


@program
def ordered_dither_of_a_recursion(unit: Image, p: Position):
    def bayer(n):
        if n == 1:
            return np.array([[0, 2], [3, 1]])
        b = bayer(n - 1)
        return np.block([[4 * b, 4 * b + 2], [4 * b + 3, 4 * b + 1]])

    m = bayer(3)
    return unit(p) > (m[p.y % 8, p.x % 8] + 0.5) / m.size


@program
def skewness_of_a_window(unit: Image, p: Position):
    xs = [unit(p + (i, j)) for i in range(-1, 2) for j in range(-1, 2)]
    m = statistics.fmean(xs)
    s = statistics.pstdev(xs)
    return sum(((x - m) / s) ** 3 for x in xs) / len(xs)


@program
def median_deviation_of_a_window(unit: Image, p: Position):
    w = np.array([[unit(p + (i, j)) for i in range(3)] for j in range(3)])
    med = np.median(w)
    return np.median(np.abs(w - med)) * 1.4826


@program
def deviations_in_a_dict(unit: Image, p: Position):
    d = {k: unit(p + (i, 0)) for i, k in enumerate("abcd")}
    mu = sum(d.values()) / len(d)
    return max(d, key=d.get) == "c", {k: v - mu for k, v in d.items()}["b"]


@dataclasses.dataclass(frozen=True)
class V:
    x: float
    y: float

    def __add__(self, o):
        return V(self.x + o.x, self.y + o.y)

    def __sub__(self, o):
        return V(self.x - o.x, self.y - o.y)

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    __rmul__ = __mul__

    def dot(self, o):
        return self.x * o.x + self.y * o.y

    @property
    def length(self):
        return math.sqrt(self.dot(self))

    @classmethod
    def polar(cls, r, t):
        return cls(r * math.cos(t), r * math.sin(t))


@program
def distance_to_a_bezier(p: Position):
    a, b, c = V(0, 0), V(4, 6), V(8, 0)
    q = V(p.x, p.y)

    def at(t):
        return (1 - t) ** 2 * a + 2 * (1 - t) * t * b + t * t * c

    return min((at(i / 10) - q).length for i in range(11))


@program
def circumcentre(unit: Image, p: Position):
    (ax, ay), (bx, by), (cx, cy) = (0, 0), (4 + unit(p), 0), (1, 3 + unit(p + (1, 0)))
    d = 2 * (ax * (by - cy) + bx * (cy - ay) + cx * (ay - by))
    ux = (
        (ax**2 + ay**2) * (by - cy) + (bx**2 + by**2) * (cy - ay) + (cx**2 + cy**2) * (ay - by)
    ) / d
    uy = (
        (ax**2 + ay**2) * (cx - bx) + (bx**2 + by**2) * (ax - cx) + (cx**2 + cy**2) * (bx - ax)
    ) / d
    return ux, uy


@program
def closest_segment(p: Position):
    segs = [((0, 0), (3, 5)), ((8, 0), (2, 2)), ((5, 5), (8, 3))]
    best = None
    for k, ((x1, y1), (x2, y2)) in enumerate(segs):
        dx, dy = x2 - x1, y2 - y1
        t = max(0, min(1, ((p.x - x1) * dx + (p.y - y1) * dy) / (dx * dx + dy * dy)))
        d = math.dist((p.x, p.y), (x1 + t * dx, y1 + t * dy))
        if best is None or d < best[0]:
            best = d, k
    return best


@program
def least_rotated_pattern(unit: Image, p: Position):
    c = unit(p)
    order = [(-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0)]
    code = 0
    for i, o in enumerate(order):
        if unit(p + o) >= c:
            code |= 1 << i
    return min((code >> r | code << (8 - r)) & 255 for r in range(8))


@program
def calmest_quadrant(unit: Image, p: Position):
    best = (math.inf, 0.0)
    for sx in (-1, 0):
        for sy in (-1, 0):
            q = np.array([unit(p + (sx + i, sy + j)) for i in range(2) for j in range(2)])
            best = min(best, (q.var(), q.mean()))
    return best[1]


@program
def corner_by_outer_products(unit: Image, p: Position):
    A = np.zeros((2, 2))
    for i in (-1, 0, 1):
        for j in (-1, 0, 1):
            q = p + (i, j)
            g = (
                np.array([unit(q + (1, 0)) - unit(q - (1, 0)), unit(q + (0, 1)) - unit(q - (0, 1))])
                / 2
            )
            A += np.outer(g, g)
    return np.linalg.det(A) - 0.05 * np.trace(A) ** 2


@program
def threshold_of_a_row(unit: Image, p: Position):
    xs = sorted(unit(p + (i, 0)) for i in range(5))

    def between(k):
        a, b = xs[:k], xs[k:]
        ma, mb = sum(a) / len(a), sum(b) / len(b)
        return len(a) * len(b) * (ma - mb) ** 2

    k = max(range(1, 5), key=between)
    return xs[k]


@program
def goertzel_of_a_row(unit: Image, p: Position):
    w = 2 * math.pi / 8
    c = 2 * math.cos(w)
    s1 = s2 = 0
    for n in range(8):
        s1, s2 = unit(p + (n, 0)) + c * s1 - s2, s1
    return s1 * s1 + s2 * s2 - c * s1 * s2


@program
def biquad_object(unit: Image, p: Position):
    @dataclasses.dataclass
    class Biquad:
        b0: float
        b1: float
        a1: float
        z: float = 0.0

        def __call__(self, x):
            y = self.b0 * x + self.z
            self.z = self.b1 * x - self.a1 * y
            return y

    f1 = Biquad(0.3, 0.2, -0.5)
    return [f1(unit(p + (i - 5, 0))) for i in range(6)][-1]


@program
def machine_of_enumerated_instructions(p: Position):
    class Op(enum.IntEnum):
        PUSH = 0
        ADD = 1
        MUL = 2
        DUP = 3

    prog = [(Op.PUSH, 2), (Op.PUSH, p.x), (Op.ADD, None), (Op.DUP, None), (Op.MUL, None)]
    st = []
    for op, arg in prog:
        match op:
            case Op.PUSH:
                st.append(arg)
            case Op.ADD:
                st.append(st.pop() + st.pop())
            case Op.MUL:
                st.append(st.pop() * st.pop())
            case Op.DUP:
                st.append(st[-1])
    return st[-1]


@program
def machine_of_a_pixel(p: Position):
    prog = [p.x % 3, p.y % 3, (p.x + p.y) % 3]
    acc = 1
    for code in prog:
        acc = [lambda a: a + 1, lambda a: a * 2, lambda a: a - 3][code](acc)
    return acc


@program
def strong_pseudoprimes(p: Position):
    n = p.x * 6 + p.y * 2 + 5
    if n % 2 == 0:
        return False
    d, s = n - 1, 0
    while d % 2 == 0:
        d //= 2
        s += 1
    for a in (2, 3):
        x = pow(a, max(d, 0), n)
        if x in (1, n - 1):
            continue
        for _ in range(s - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


@program
def order_of_dependencies(p: Position):
    deps = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"]}
    done = []
    ready = deque_of = [k for k in deps if not deps[k]]
    while ready:
        k = ready.pop()
        done.append(k)
        for other, need in deps.items():
            if other not in done and all(n in done for n in need) and other not in ready:
                ready.append(other)
    return len(done) + p.x


@program
def sets_by_union(counts: Image, p: Position):
    parent = list(range(6))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for k in range(4):
        a, b = counts(p + (k, 0)) % 6, counts(p + (0, k)) % 6
        parent[find(a)] = find(b)
    return len({find(i) for i in range(6)})


@program
def walk_in_a_maze(unit: Image, p: Position):
    x, y, path = 0, 0, [(0, 0)]
    while (x, y) != (3, 3) and len(path) < 12:
        if x < 3 and (y == 3 or unit(p + (x, y)) > 0.5):
            x += 1
        else:
            y += 1
        path.append((x, y))
    return len(path), path[3][0]


@program
def brackets_that_match(p: Position):
    n = p.x * 19 + p.y
    pairs = {")": "(", "]": "["}
    stack = []
    for k in range(5):
        ch = "()[]"[n >> (2 * k) & 3] if k < 3 else "])"[k - 3]
        if ch in "([":
            stack.append(ch)
        elif not stack or stack.pop() != pairs[ch]:
            return k
    return 10 + len(stack)


@program
def reverse_polish(p: Position):
    stack = []
    ops = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b}
    for tok in "3 x * y 2 - +".split():
        if tok in ops:
            b = stack.pop()
            a = stack.pop()
            stack.append(ops[tok](a, b))
        else:
            stack.append({"x": p.x, "y": p.y}.get(tok, None) if tok.isalpha() else int(tok))
    return stack.pop()


@program
def majority_of_neighbours(counts: Image, p: Position):
    c = collections.Counter(counts(p + (i, j)) % 3 for i in range(-1, 2) for j in range(-1, 2))
    (value, count), *_ = c.most_common()
    return count


@program
def runs_by_two_indices(counts: Image, p: Position):
    row = [counts(p + (i, 0)) % 2 for i in range(6)]
    enc = []
    i = 0
    while i < len(row):
        j = i
        while j < len(row) and row[j] == row[i]:
            j += 1
        enc.append((row[i], j - i))
        i = j
    return len(enc), enc[0][1]


@program
def hailstones_seen(p: Position):
    seen = {}
    n, k = p.x + 1, 0
    while n != 1 and n not in seen:
        seen[n] = k
        n = 3 * n + 1 if n & 1 else n >> 1
        k += 1
    return k, max(seen, default=0)


@program
def josephus_of_a_list(p: Position):
    people = list(range(1, 8))
    k = p.x % 5 + 1
    i = 0
    while len(people) > 1:
        i = (i + k - 1) % len(people)
        people.pop(i)
    return people[0]


@program
def median_of_two_heaps(unit: Image, p: Position):
    lo, hi = [], []
    for i in range(5):
        v = unit(p + (i, 0))
        heapq.heappush(lo, -heapq.heappushpop(hi, v))
        if len(lo) > len(hi):
            heapq.heappush(hi, -heapq.heappop(lo))
    return hi[0]
