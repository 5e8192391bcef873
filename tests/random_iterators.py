"""Random functions that iterate: named iterators that several statements take from, generators,
objects of one's own classes, functions of itertools, closures, handlers and contexts.

    made = function(7)            # of an image, the position and an int
    made.text                     # its source
"""

import functools
import itertools
import linecache
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pygpu import Image, Int, Position

HEAD = """\
class Upwards:
    def __init__(self, n):
        self.at, self.n = 0, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.at >= self.n:
            raise StopIteration
        self.at += 1
        return self.at


class Indexed:
    def __init__(self, first):
        self.first = first

    def __getitem__(self, index):
        if index >= 3:
            raise IndexError
        return self.first + index


class Bag:
    def __init__(self, items):
        self.items = items

    def __iter__(self):
        for item in self.items:
            yield item


class Context:
    def __init__(self):
        self.left = 0

    def __enter__(self):
        return self

    def __exit__(self, cls, error, traceback):
        self.left += 1
        return cls is not None and issubclass(cls, ZeroDivisionError)


def counter(n):
    def count(by=1):
        nonlocal n
        n += by
        return n

    return count


def logger():
    notes = []

    def log(x):
        notes.append(x)

    return log, notes


def down(n):
    while n > 0:
        yield n
        n -= 1


def three(a, b):
    try:
        yield a
        yield b
        yield a + b
    finally:
        pass


def doubled(xs):
    for x in xs:
        yield x
        yield from [x * 2, x - 1]


def keep(x):
    return max(-60, min(60, x * 1))


TABLE = [1, 2, 3]


"""
NUMBERS = (
    *("{0} + {1}", "{0} - {1}", "min({0}, {1})", "max({0}, {1})", "{0}", "abs({0})"),
    "({0} if {1} > 0 else {1})",
)
TESTS = ("{0} > {1}", "{0} < {1}", "a > b", "p.x % 2 == 0", "p.y > 1", "n > 2", "{0} == 1")
SOURCES = (  # {n}: a number, {v}: a name or constant, {s}: another source
    *("[{n}, {n}, {n}]", "({n}, {n})", "range(3)", "range(n)", "range(p.x % 3)"),
    *("Upwards(2)", "Upwards(n)", "Indexed({v})", "Bag([{n}, {n}])", "down(3)", "down(n)"),
    *("down(p.x % 3)", "three({n}, {n})", "itertools.islice(itertools.count(1), 3)"),
)
OVER = (
    *("doubled({s})", "(x * 2 for x in {s})", "(x for x in {s} if x > {v})"),
    *("(x - y for x, y in zip({s}, {s}))", "(i + x for i, x in enumerate({s}))"),
    *("map(lambda x: x + {v}, {s})", "filter(lambda x: x > {v}, {s})", "itertools.chain({s}, {s})"),
    *("itertools.islice({s}, 2)", "itertools.takewhile(lambda x: x < {v} + 1, {s})"),
    *("itertools.dropwhile(lambda x: x < {v}, {s})", "itertools.accumulate({s})"),
    "reversed([{n}, {n}, {n}])",
)
FOLDS = (
    *("sum({})", "max({}, default=0)", "min({}, default=1)", "len(list({}))"),
    *("sum(x > 1 for x in {})", "(1 if any(x > 1 for x in {}) else 0)", "(2 if 1 in {} else 3)"),
    *("next((x for x in {} if x > 1), 7)", "functools.reduce(lambda s, x: s * 0.5 + x, {}, 0.0)"),
)
RISKS = (
    *("a = keep(1 / (a - 1))", "b = keep(TABLE[int(b) % 5])", "next(iter(down(p.x % 2)))"),
    *("b = keep(math.sqrt(b))", "raise ValueError", "a = keep(b // int(a))"),
)
HANDLED = "(ZeroDivisionError, IndexError, ValueError, StopIteration)"
KINDS = {
    **{"set": 10, "iterator": 6, "next": 8, "for": 10, "fold": 10, "if": 10, "try": 6, "with": 5},
    **{"counter": 3, "count": 5, "note": 4},
}


@dataclass(frozen=True)
class Made:
    """A function and its source."""

    function: Callable[..., Any]
    text: str


class Writer:
    def __init__(self, draw: random.Random) -> None:
        self.draw = draw
        self.lines: list[str] = []
        self.names = ["a", "b"]
        self.iterators: list[str] = []
        self.counters: list[str] = []
        self.count = 0

    def name(self, of: str) -> str:
        self.count += 1
        return f"{of}{self.count}"

    def value(self) -> str:
        return self.draw.choice([*self.names, "1", "2", "0.5", "3"])

    def number(self, depth: int = 1) -> str:
        if not depth:
            return self.value()
        form = self.draw.choice(NUMBERS)
        return form.format(self.number(depth - 1), self.number(depth - 1))

    def test(self) -> str:
        return self.draw.choice(TESTS).format(self.number(), self.number())

    def source(self, depth: int = 2) -> str:
        if self.iterators and depth == 2 and self.draw.random() < 0.35:
            return self.draw.choice(self.iterators)
        form = self.draw.choice(OVER if depth and self.draw.random() < 0.55 else SOURCES)
        makers = {"{n}": self.number, "{v}": self.value, "{s}": lambda: self.source(depth - 1)}
        for mark, make in makers.items():
            while mark in form:
                form = form.replace(mark, make(), 1)
        return form

    def line(self, indent: int, text: str) -> None:
        self.lines.append("    " * indent + text)

    def changed(self, indent: int, value: str) -> None:
        self.line(indent, f"{self.draw.choice('ab')} = keep({value})")

    def statement(self, indent: int, depth: int) -> None:
        kind = self.draw.choices(list(KINDS), list(KINDS.values()))[0]
        if kind in ("for", "if", "try", "with"):
            if depth:
                self.compound(kind, indent, depth - 1)
            else:
                self.changed(indent, self.draw.choice(FOLDS).format(self.source()))
        elif kind == "fold":
            self.changed(indent, self.draw.choice(FOLDS).format(self.source()))
        elif kind == "iterator" and indent == 1:
            made = f"iter({self.source()})"
            self.iterators.append(self.name("it"))
            self.line(indent, f"{self.iterators[-1]} = {made}")
        elif kind == "next" and self.iterators:
            self.changed(indent, f"next({self.draw.choice(self.iterators)}, {self.value()})")
        elif kind == "counter" and indent == 1:
            self.counters.append(self.name("count"))
            self.line(indent, f"{self.counters[-1]} = counter({self.draw.randint(0, 2)})")
        elif kind == "count" and self.counters:
            self.changed(indent, f"{self.draw.choice(self.counters)}(2)")
        elif kind == "note":
            self.line(indent, f"log({self.draw.choice(['1', '2.5', 'a', 'n'])})")
        else:
            self.changed(indent, self.number(2))

    def compound(self, kind: str, indent: int, depth: int) -> None:
        chance, inner = self.draw.random, (indent + 1, depth)
        if kind == "for":
            source, name = self.source(), self.name("x")
            self.line(indent, f"for {name} in {source}:")
            self.names.append(name)
            if chance() < 0.4:
                self.line(indent + 1, f"if {self.test()}:")
                self.line(indent + 2, self.draw.choice(["break", "continue"]))
            self.changed(indent + 1, f"{self.value()} + {name}")
            if chance() < 0.5:
                self.statement(*inner)
            self.names.remove(name)
        elif kind == "with":
            self.line(indent, "with context:")
            self.statement(*inner)
            if chance() < 0.4:
                self.line(indent + 1, "a = keep(2 / (p.x % 2))")
        else:
            self.line(indent, f"if {self.test()}:" if kind == "if" else "try:")
            self.statement(*inner)
            if kind == "try":
                self.line(indent + 1, self.draw.choice(RISKS))
                self.line(indent, f"except {HANDLED}:")
                self.statement(*inner)
        if kind in ("for", "if", "try") and chance() < 0.3:
            self.line(indent, "else:")
            self.statement(*inner)
        if kind == "try" and chance() < 0.3:
            self.line(indent, "finally:")
            self.line(indent + 1, "ended += 1")


def function(seed: int) -> Made:
    writer = Writer(random.Random(seed))
    for _ in range(writer.draw.randint(3, 7)):
        writer.statement(1, 2)
    for name in writer.iterators:
        writer.line(1, f"b = keep(b + next({name}, 0.25))")
    for name in writer.counters:
        writer.line(1, f"a = keep(a + {name}())")
    text = "\n".join(
        [
            f"{HEAD}def f(im: Image, p: Position, n: Int):",
            "    a, b, ended = im(p), im(p + (1, 0)), 0",
            "    context, (log, notes) = Context(), logger()",
            *writer.lines,
            "    return a * 1.0, b * 1.0, ended, context.left, len(notes)",
            "",
        ]
    )
    name = f"<iterating {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {"Image": Image, "Position": Position, "Int": Int, "math": math}
    names |= {"itertools": itertools, "functools": functools}
    exec(compile(text, name, "exec"), names)
    return Made(names["f"], text)
