"""Programs in the manner of public code, of machines and what they read: emulators, checksums, parsers,
turtles, state machines, caches by decorator, and tables that loops fill.
"""

import functools
import math
import operator
import re
from enum import Enum

from corpus.suite import Corpus
from pygpu import Image, Position

program = Corpus()


@program
def emulator(counts: Image, p: Position):
    memory = bytearray(16)
    code = b"\x01\x05\x02\x03\x03\x01\x04\x00"
    memory[: len(code)] = code
    pc, acc = 0, 0
    for _ in range(6):
        op, arg = memory[pc], memory[pc + 1]
        if op == 1:
            acc = arg + counts(p) & 0xFF
        elif op == 2:
            acc = acc * arg & 0xFF
        elif op == 3:
            memory[arg + 8] = acc
        elif op == 4:
            acc ^= memory[9]
        pc = (pc + 2) % 8
    return acc, memory[9], sum(memory)


@program
def tape_of_eight_commands(counts: Image, p: Position):
    tape, at = bytearray(6), 0
    for command in "++>+++<[->+<]>":
        if command == "+":
            tape[at] = (tape[at] + 1) % 256
        elif command == "-":
            tape[at] = (tape[at] - 1) % 256
        elif command == ">":
            at += 1
        elif command == "<":
            at -= 1
    tape[at] = tape[at] + counts(p) & 255
    return tape[0] + 3 * tape[1], len(tape)


def adler(data):
    a, b = 1, 0
    for x in data:
        a = (a + x) % 65521
        b = (b + a) % 65521
    return b << 16 | a


@program
def checksums(counts: Image, p: Position):
    data = bytearray(b"abc")
    data.append(counts(p) & 255)
    crc = 0xFFFF
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1) ^ 0x1021 if crc & 0x8000 else crc << 1
        crc &= 0xFFFF
    return crc, adler(counts(p).to_bytes(4, "big")) & 0x7FFFFFFF


@program
def expression_of_known_tokens(im: Image, p: Position):
    env = {"x": im(p), "y": p.x * 1.0}
    tokens = re.findall(r"\d+\.?\d*|[a-z]|[-+*/()]", "3*(x+2)-y/4")
    operators = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}

    def chain(inner, symbols, i):
        value, i = inner(i)
        while i < len(tokens) and tokens[i] in symbols:
            other, after = inner(i + 1)
            value, i = operators[tokens[i]](value, other), after
        return value, i

    def factor(i):
        if tokens[i] == "(":
            value, i = expression(i + 1)
            return value, i + 1
        return (env[tokens[i]] if tokens[i].isalpha() else float(tokens[i])), i + 1

    term = functools.partial(chain, factor, "*/")
    expression = functools.partial(chain, term, "+-")
    return expression(0)[0]


@program
def turtle_with_a_stack(counts: Image, p: Position):
    x = y = heading = 0.0
    stack = []
    for command in "F+F[-F]F":
        match command:
            case "F":
                x, y = x + math.cos(heading), y + math.sin(heading)
            case "+":
                heading += 0.3 + counts(p) * 0.01
            case "-":
                heading -= 0.5
            case "[":
                stack.append((x, y, heading))
            case "]":
                x, y, heading = stack.pop()
    return x, y


class Direction(Enum):
    N = (0, -1)
    E = (1, 0)
    S = (0, 1)
    W = (-1, 0)

    def turned(self, by):
        members = list(Direction)
        return members[(members.index(self) + by) % 4]


@program
def ant_on_a_grid(counts: Image, p: Position):
    grid = [[(counts(p) >> (i * 3 + j)) & 1 for j in range(3)] for i in range(3)]
    x = y = 1
    heading = Direction.N
    for _ in range(4):
        heading = heading.turned(1 if grid[y][x] else -1)
        grid[y][x] ^= 1
        dx, dy = heading.value
        x, y = (x + dx) % 3, (y + dy) % 3
    return x, y, sum(map(sum, grid))


class Light:
    def __init__(self):
        self.state, self.ticks = self.red, 0

    def red(self):
        return self.green if self.ticks % 3 == 0 else self.red

    def green(self):
        return self.yellow

    def yellow(self):
        return self.red

    def tick(self, by):
        self.ticks += by
        self.state = self.state()


@program
def state_that_is_a_method(counts: Image, p: Position):
    light = Light()
    for k in range(3):
        light.tick(counts(p + (k, 0)) & 1)
    return ["red", "green", "yellow"].index(light.state.__name__), light.ticks


def memoize(function):
    cache = {}

    @functools.wraps(function)
    def remembering(*args):
        if args not in cache:
            cache[args] = function(*args)
        return cache[args]

    return remembering


@program
def recursion_through_a_decorator(im: Image, p: Position):
    @memoize
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(12) * im(p), len(fib.__name__)


@program
def coins_and_knapsack(counts: Image, p: Position):
    room = 4 + (counts(p) & 7)
    ways = [1] + [0] * room
    for coin in (1, 2, 5):
        for total in range(coin, room + 1):
            ways[total] += ways[total - coin]
    best = [0] * (room + 1)
    for weight, value in ((3, 4), (2, counts(p))):
        for at in range(room, weight - 1, -1):
            best[at] = max(best[at], best[at - weight] + value)
    return ways[room], best[room]


MORSE = {".-": 1, "-...": 2, "-.-.": 3, "-..": 4, ".": 5}


@program
def words_of_a_code(counts: Image, p: Position):
    word, found = "", []
    for k in range(6):
        word += "-" if counts(p) * 7 >> k & 1 else "."
        if word in MORSE:
            found.append(MORSE[word])
            word = ""
    return len(found), sum(found), len(word)


@program
def lengths_of_runs_decoded(counts: Image, p: Position):
    n = counts(p)
    pixels = []
    for count, value in ((n & 3, 0), (n >> 1 & 3, 1), (n >> 2 & 3, 0)):
        pixels += [value] * count
    return len(pixels), sum(a != b for a, b in zip(pixels, pixels[1:]))
