"""Classes, enumerations, games and little machines, as people write them for an evening."""

import abc
import collections
import enum
import functools
import itertools
import math
from dataclasses import dataclass, field
from typing import NamedTuple, Optional

import numpy as np

from corpus.suite import Corpus
from pygpu import Image, Position, Vec3

program = Corpus()


@dataclass(frozen=True)
class Interval:
    lo: float
    hi: float

    def __add__(self, o):
        return Interval(self.lo + o.lo, self.hi + o.hi)

    def __mul__(self, o):
        ps = [a * b for a in (self.lo, self.hi) for b in (o.lo, o.hi)]
        return Interval(min(ps), max(ps))

    def __contains__(self, x):
        return self.lo <= x <= self.hi

    @property
    def width(self):
        return self.hi - self.lo

    def intersect(self, o) -> Optional["Interval"]:
        lo, hi = max(self.lo, o.lo), min(self.hi, o.hi)
        return Interval(lo, hi) if lo <= hi else None


@program
def interval_arithmetic(im: Image, p: Position):
    a = Interval(im(p) - 0.25, im(p) + 0.5)
    b = Interval(-1.0, 0.5 * p.x)
    c = a * b + a
    both = c.intersect(Interval(-0.5, 0.5))
    if both is None:
        return -1.0, c.width, 0.0
    return both.width, c.width, 1.0 if 0.1 in both else 0.0


class Gate(enum.Enum):
    AND = "and"
    OR = "or"
    XOR = "xor"
    NAND = "nand"

    def __call__(self, a, b):
        match self:
            case Gate.AND:
                return a and b
            case Gate.OR:
                return a or b
            case Gate.XOR:
                return a != b
            case _:
                return not (a and b)


@program
def full_adder(p: Position):
    def add(a, b, carry):
        s = Gate.XOR(a, b)
        return Gate.XOR(s, carry), Gate.OR(Gate.AND(a, b), Gate.AND(s, carry))

    x, y = 5 * p.x + 3, 7 * p.y + 2
    carry, out = False, 0
    for bit in range(8):
        s, carry = add(bool(x >> bit & 1), bool(y >> bit & 1), carry)
        out |= int(s) << bit
    return out, out == x + y


@program
def bayer_demosaic(im: Image, p: Position):
    pattern = "RGGB"

    def colour(q):
        return pattern[(q.y % 2) * 2 + q.x % 2]

    def average(c):
        s = n = 0
        for dy in (-1, 0, 1):
            for dx in (-1, 0, 1):
                q = p + (dx, dy)
                if colour(q) == c:
                    s += im(q)
                    n += 1
        return s / n if n else 0.0

    return Vec3(*[average(c) for c in "RGB"])


@program
def minesweeper(im: Image, p: Position):
    mines = ["*..*", "....", ".*.*"]
    if mines[p.y][p.x] == "*":
        return -1
    count = 0
    for row in mines[max(p.y - 1, 0) : p.y + 2]:
        count += row[max(p.x - 1, 0) : p.x + 2].count("*")
    return count


def lcg(seed):
    while True:
        seed = (1103515245 * seed + 12345) & 0x7FFFFFFF
        yield seed


@program
def shuffled_deck(p: Position):
    rng = lcg(p.x * 31 + p.y)
    deck = list(range(8))
    for i in range(len(deck) - 1, 0, -1):
        j = next(rng) % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck[0], deck[3], sum(i * c for i, c in enumerate(deck))


class Matrix22(NamedTuple):
    a: float
    b: float
    c: float
    d: float

    def __matmul__(self, o):
        return Matrix22(
            self.a * o.a + self.b * o.c,
            self.a * o.b + self.b * o.d,
            self.c * o.a + self.d * o.c,
            self.c * o.b + self.d * o.d,
        )

    @classmethod
    def identity(cls):
        return cls(1, 0, 0, 1)

    def __pow__(self, n):
        result, base = Matrix22.identity(), self
        while n:
            if n & 1:
                result = result @ base
            base = base @ base
            n >>= 1
        return result


@program
def fibonacci_by_powers(p: Position):
    m = Matrix22(1, 1, 1, 0) ** (p.x + 4 * p.y)
    return m.b, m.a, m.trace if hasattr(m, "trace") else m.a + m.d


@program
def poker_hand(p: Position):
    cards = sorted(((p.x * 7 + p.y * 5 + k * k * 3) % 13 for k in range(5)), reverse=True)
    counts = collections.Counter(cards)
    kinds = sorted(counts.values(), reverse=True)
    if kinds[0] == 4:
        rank = 7
    elif kinds[0] == 3 and len(kinds) > 1 and kinds[1] == 2:
        rank = 6
    elif kinds[0] == 3:
        rank = 3
    elif kinds[0] == 2:
        rank = 2 if len(kinds) > 1 and kinds[1] == 2 else 1
    else:
        rank = 4 if cards[0] - cards[-1] == 4 else 0
    return rank, cards[0], len(counts)


class Tile(enum.IntEnum):
    WALL = 0
    FLOOR = 1
    DOOR = 2
    WATER = 3

    @property
    def cost(self):
        return {Tile.FLOOR: 1.0, Tile.DOOR: 2.0, Tile.WATER: 5.0}.get(self, math.inf)


LEVEL = ["####", "#.+~", "#..#"]


CODES = {"#": Tile.WALL, ".": Tile.FLOOR, "+": Tile.DOOR, "~": Tile.WATER}


@program
def cost_of_a_tile(p: Position):
    tile = CODES[LEVEL[p.y][p.x]]
    total = min(tile.cost, 9.0)
    for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        x, y = p.x + dx, p.y + dy
        if 0 <= x < 4 and 0 <= y < 3:
            other = CODES[LEVEL[y][x]]
            if other is not Tile.WALL:
                total += other.cost / 10
    return total, tile == Tile.DOOR, int(tile)


@program
def tokenizer(p: Position):
    text = "12+3*45-6"
    pos, total, sign, current = 0, 0, 1, 0
    stop = 3 + (p.x + p.y) % 7
    product, is_mul = 1, False
    while pos < stop:
        c = text[pos]
        if c.isdigit():
            current = current * 10 + int(c)
        else:
            value = product * current if is_mul else current
            if c == "*":
                product, is_mul = value, True
            else:
                total += sign * value
                sign = 1 if c == "+" else -1
                is_mul, product = False, 1
            current = 0
        pos += 1
    return total + sign * (product * current if is_mul else current)


@program
def edit_distance(p: Position):
    a, b = "kitten", "sitting"
    n = min(p.x + p.y + 2, 6)
    row = list(range(len(b) + 1))
    for i in range(n):
        prev, row[0] = row[0], i + 1
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            prev, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, prev + cost)
    return row[-1]


class Shape(abc.ABC):
    registry: list = []

    def __init_subclass__(cls, **kw):
        super().__init_subclass__(**kw)
        Shape.registry.append(cls)

    @abc.abstractmethod
    def distance(self, x, y): ...
    def __sub__(self, o):
        return Difference(self, o)

    def __or__(self, o):
        return Union(self, o)


@dataclass
class Disc(Shape):
    x: float
    y: float
    r: float

    def distance(self, x, y):
        return math.hypot(x - self.x, y - self.y) - self.r


@dataclass
class Box(Shape):
    x: float
    y: float
    w: float
    h: float

    def distance(self, x, y):
        dx, dy = abs(x - self.x) - self.w, abs(y - self.y) - self.h
        return math.hypot(max(dx, 0), max(dy, 0)) + min(max(dx, dy), 0)


@dataclass
class Difference(Shape):
    a: Shape
    b: Shape

    def distance(self, x, y):
        return max(self.a.distance(x, y), -self.b.distance(x, y))


@dataclass
class Union(Shape):
    a: Shape
    b: Shape

    def distance(self, x, y):
        return min(self.a.distance(x, y), self.b.distance(x, y))


@program
def csg_tree(p: Position):
    scene = (Disc(1, 1, 1.5) - Box(1, 1, 0.5, 0.5)) | Disc(3, 2, 0.5 + 0.1 * p.y)
    return scene.distance(p.x, p.y), len(Shape.registry)


class Stack:
    def __init__(self):
        self._items = []

    def push(self, v):
        self._items.append(v)

    def pop(self):
        if not self._items:
            raise IndexError("empty")
        return self._items.pop()

    def __len__(self):
        return len(self._items)

    def __bool__(self):
        return len(self._items) > 0


@program
def rpn_result(im: Image, p: Position):
    s = Stack()
    for token in ("3", "x", "+", "2", "*"):
        if token == "x":
            s.push(p.x)
        elif token in "+*":
            a, b = s.pop(), s.pop()
            s.push(a + b if token == "+" else a * b)
        else:
            s.push(int(token))
    return s.pop(), len(s), bool(s)


class Traffic(enum.Enum):
    RED = (3, "GREEN")
    GREEN = (2, "YELLOW")
    YELLOW = (1, "RED")

    def __init__(self, ticks, following):
        self.ticks = ticks
        self.following = following

    @property
    def next(self):
        return Traffic[self.following]


@program
def traffic_lights(p: Position):
    light, left, reds = Traffic.RED, Traffic.RED.ticks, 0
    for _ in range(p.x * 3 + p.y):
        left -= 1
        if left == 0:
            light = light.next
            left = light.ticks
        reds += light is Traffic.RED
    return left, reds, light is Traffic.GREEN, len(light.name)


@program
def gray_code_and_bits(p: Position):
    n = p.x + 4 * p.y + 1
    gray = n ^ n >> 1
    back, shift = gray, 1
    while t := back >> shift:
        back ^= t
        shift <<= 1
        if shift > 16:
            break
    rev = int(f"{n:08b}"[::-1], 2)
    return gray, back, rev, bin(n).count("1"), n & -n, n.bit_length()


@program
def cellular_rule(p: Position):
    rule, width = 90, 9
    cells = [int(i == width // 2) for i in range(width)]
    for _ in range(p.y + 1):
        cells = [
            rule >> (cells[i - 1] * 4 + cells[i] * 2 + cells[(i + 1) % width]) & 1
            for i in range(width)
        ]
    return cells[p.x + 2], sum(cells)


@dataclass(order=True)
class Version:
    major: int
    minor: int = 0
    tag: str = field(default="", compare=False)

    @classmethod
    def parse(cls, text):
        head, _, tag = text.partition("-")
        major, minor = map(int, head.split("."))
        return cls(major, minor, tag)


@program
def newest_version(p: Position):
    all_ = [Version.parse(t) for t in ("1.2-rc", "1.10", "0.9-beta", "2.0-dev")]
    mine = Version(p.x, p.y * 5)
    newer = [v for v in all_ if v > mine]
    best = min(newer, default=None)
    if best is None:
        return -1, 0
    return best.major * 100 + best.minor, len(newer)


@program
def maze_right_hand(p: Position):
    grid = ("#####", "#...#", "#.#.#", "#...#", "#####")
    dirs = [(1, 0), (0, 1), (-1, 0), (0, -1)]
    x, y, d = 1, 1, 0
    for _ in range(p.x * 2 + p.y):
        for turn in (1, 0, 3, 2):
            nd = (d + turn) % 4
            dx, dy = dirs[nd]
            if grid[y + dy][x + dx] != "#":
                d, x, y = nd, x + dx, y + dy
                break
    return x, y, d


@program
def polynomial_class(im: Image, p: Position):
    class Poly:
        def __init__(self, *c):
            self.c = list(c)

        def __call__(self, x):
            return functools.reduce(lambda acc, c: acc * x + c, reversed(self.c), 0)

        def __mul__(self, o):
            out = [0] * (len(self.c) + len(o.c) - 1)
            for (i, a), (j, b) in itertools.product(enumerate(self.c), enumerate(o.c)):
                out[i + j] += a * b
            return Poly(*out)

        def derive(self):
            return Poly(*[k * c for k, c in enumerate(self.c)][1:])

        __getitem__ = lambda self, k: self.c[k] if k < len(self.c) else 0

    f = Poly(im(p), 1, 0.5) * Poly(-1, p.x)
    return f(0.3), f.derive()(0.3), f[1], f[9]


@program
def ema_with_send(im: Image, p: Position):
    def ema(alpha):
        value = yield
        while True:
            value = value + alpha * ((yield value) - value)

    g = ema(0.25)
    next(g)
    out = 0.0
    for k in range(5):
        out = g.send(im(p + (k - 2, 0)))
    return out


@program
def validated(im: Image, p: Position):
    class OutOfGamut(ValueError):
        def __init__(self, v):
            super().__init__(f"{v} is out")
            self.v = v

    def check(v):
        if not -1 <= v <= 1:
            raise OutOfGamut(v)
        return v

    try:
        total = check(im(p)) + check(im(p + (1, 0)) * 1.5)
    except OutOfGamut as e:
        return e.v, -1
    else:
        return total, 1
    finally:
        total = None


@program
def kalman_row(im: Image, p: Position):
    x, P = np.array([0.0, 0.0]), np.eye(2)
    F, H, Q, R = (
        np.array([[1, 1.0], [0, 1]]),
        np.array([[1.0, 0]]),
        0.01 * np.eye(2),
        np.array([[0.5]]),
    )
    for k in range(p.x + 1):
        x, P = F @ x, F @ P @ F.T + Q
        y = im((k, p.y)) - (H @ x)[0]
        S = H @ P @ H.T + R
        K = P @ H.T / S[0, 0]
        x, P = x + K[:, 0] * y, (np.eye(2) - K @ H) @ P
    return x[0], x[1], P[0, 0]
