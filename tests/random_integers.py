"""Random functions of integers, signed and not, from the whole range of 32 bits, as source text.

    made = random_integers(7)
    made.expressions                     # texts of p, a (an Int) and u (a UInt)
    made.function(Position(1, 2), Int(3), UInt(4))

An expression knows whether it is an int or a uint, so that none is made that is refused: a uint
beside a negative integer, an integer to a power that may be negative, a value of two kinds.
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from pygpu import Image, Int, Position, UInt

COUNT: Final = 8  # expressions of a function
DEPTH: Final = 4
EDGES: Final = (0, 1, 2, 7, 31, 255, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 0x9E3779B9)
ANYWHERE: Final = ("+", "-", "*", "&", "|", "^")


@dataclass(frozen=True)
class Made:
    """A function and its arguments."""

    expressions: list[str]
    function: Callable[..., Any]
    signed: int
    unsigned: int


def random_integers(seed: int) -> Made:
    source = random.Random(seed)
    maker = _Maker(source)
    expressions = [maker.result() for _ in range(COUNT)]
    text = f"def f(p: Position, a: Int, u: UInt):\n    return ({', '.join(expressions)},)\n"
    name = f"<random integers {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace: dict[str, Any] = {"Position": Position, "Int": Int, "UInt": UInt, "np": np}
    exec(compile(text, name, "exec"), namespace)
    signed = source.choice([source.choice(EDGES), source.randrange(2**32)])
    signed = (signed + 2**31) % 2**32 - 2**31
    return Made(
        expressions, namespace["f"], signed, source.choice([*EDGES, source.randrange(2**32)])
    )


def random_result(seed: int) -> tuple[str, Callable[..., Any], Callable[..., Any]]:
    """An expression, as a function of an image whose texels are `a`, and as one of a texel."""
    maker = _Maker(random.Random(seed))
    text = maker.number(maker.kind(), DEPTH - 1).replace("(p.x + 3)", "(p.x & 7)")
    source = f"""\
def f(im: Image, p: Position, u: UInt):
    a = im(p)
    return {text}


def of_texel(a, p, u):
    return {text}
"""
    name = f"<random integers of an image {seed}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    names: dict[str, Any] = {"Position": Position, "Int": Int, "UInt": UInt, "Image": Image}
    exec(compile(source, name, "exec"), names)
    return text, names["f"], names["of_texel"]


class _Maker:
    """Texts of expressions; `kind` is "int" or "uint"."""

    def __init__(self, source: random.Random) -> None:
        self.source = source

    def result(self) -> str:
        if self.source.random() < 0.2:
            return self.test(DEPTH)
        return self.number(self.kind(), DEPTH)

    def kind(self) -> str:
        return self.source.choice(["int", "uint"])

    def known(self, kind: str) -> int:
        """An integer that goes with a kind and keeps it."""
        value = self.source.choice([*EDGES, self.source.randrange(2**32), self.source.randrange(9)])
        if kind == "int":
            value = value % 2**31
            return -value if self.source.random() < 0.3 else value
        return value

    def number(self, kind: str, depth: int) -> str:
        if depth == 0 or self.source.random() < 0.15:
            leaves = {
                "int": ["a", "p.x", "p.y", "(p.x - 3)", "(a ^ p.y)"],
                "uint": ["u", "UInt(p.x)"],
            }
            return self.source.choice([*leaves[kind], "(u + p.y)" if kind == "uint" else "a"])
        forms = [self.ring, self.ring, self.ring, self.shift, self.divided, self.unary, self.chosen]
        forms += [self.extreme, self.power, self.converted]
        return self.source.choice(forms)(kind, depth - 1)

    def ring(self, kind: str, depth: int) -> str:
        symbol = self.source.choice(ANYWHERE)
        first = self.number(kind, depth)
        if kind == "uint" and self.source.random() < 0.3:  # an int beside a uint
            pair = [first, self.number("int", depth)]
            self.source.shuffle(pair)
            return f"({pair[0]} {symbol} {pair[1]})"
        if self.source.random() < 0.5:
            known = str(self.known(kind))
            if kind == "int" and symbol != "&" and self.source.random() < 0.3:
                known = str(self.source.choice(EDGES))
            pair = [first, f"({known})"]
            self.source.shuffle(pair)
            return f"({pair[0]} {symbol} {pair[1]})"
        return f"({first} {symbol} {self.number(kind, depth)})"

    def shift(self, kind: str, depth: int) -> str:
        symbol = self.source.choice(["<<", ">>"])
        count = self.source.choice(
            [str(self.source.randrange(35)), f"({self.number('int', depth)} & 31)"]
        )
        return f"({self.number(kind, depth)} {symbol} {count})"

    def divided(self, kind: str, depth: int) -> str:
        symbol = self.source.choice(["//", "%"])
        if self.source.random() < 0.5:
            return f"({self.number(kind, depth)} {symbol} ({self.number(kind, depth)} | 1))"
        by = self.known(kind) or 3
        if kind == "int" and self.source.random() < 0.4:
            by = self.source.choice([2**31, 0x90000001] if symbol == "//" else [2**31, 2**31])
        if kind == "uint" and symbol == "%" and self.source.random() < 0.3:
            return f"({self.number('int', depth)} % {self.source.choice([2**32, 0xFFFFFFF1])})"
        return f"({self.number(kind, depth)} {symbol} ({by}))"

    def unary(self, kind: str, depth: int) -> str:
        return self.source.choice(["(-{})", "(~{})", "abs({})"]).format(self.number(kind, depth))

    def chosen(self, kind: str, depth: int) -> str:
        first, second = self.number(kind, depth), self.number(kind, depth)
        return f"({first} if {self.test(depth)} else {second})"

    def extreme(self, kind: str, depth: int) -> str:
        first = self.number(kind, depth)
        return f"{self.source.choice(['min', 'max'])}({first}, {self.number(kind, depth)})"

    def power(self, kind: str, depth: int) -> str:
        exponent = self.source.choice([str(self.source.randrange(40)), "(p.x + 3)", "(a & 15)"])
        if self.source.random() < 0.3:
            modulus = self.source.choice([97, 65536, 1000003, 2**31 - 1])
            made = f"pow({self.number(kind, depth)}, {exponent}, {modulus})"
            return f"UInt({made})" if kind == "uint" else f"Int({made})"
        return f"({self.number(kind, depth)} ** {exponent})"

    def converted(self, kind: str, depth: int) -> str:
        if kind == "int":
            return f"Int({self.number('uint', depth)})"
        other = self.number("int", depth)
        large = self.source.choice([0xFFFFFFFF, 0x80000000, 0xF0F0F0F0])
        return self.source.choice(
            [f"UInt({other})", f"({other} & {large})", f"({other} % {2**32})"]
        )

    def test(self, depth: int) -> str:
        symbol = self.source.choice(["<", "<=", ">", ">=", "==", "!="])
        first = self.number(self.kind(), depth)
        if self.source.random() < 0.6:
            return f"({first} {symbol} {self.number(self.kind(), depth)})"
        beyond = [-(2**40), -1, 2**31, 2**32 - 1, 2**32, 2**40]
        known = self.source.choice([*EDGES, *(beyond if symbol not in ("==", "!=") else [-1])])
        return f"({first} {symbol} {known})"
