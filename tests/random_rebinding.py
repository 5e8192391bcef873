"""Random functions whose loops bind names to new objects, while what they were before has other
names, and change objects through any of them: vectors, lists, arrays, and objects of a class.

    made = function(7)            # of a position
    made.text                     # its source
"""

import linecache
import re
from typing import Any

import numpy as np

from pygpu import Position, Vec2
from random_aliases import Aliases, Writer

START = """\
def main(p: Position):
    n, k, j = p.x, p.y, 0
    a = {new}
    b, c, d = a, {new}, a
    held = [a, c]
    def rebound(o):
        for j in range({two} + 1):
            o = {next}
        {change}
        return o
    def nest(t):
        nonlocal d
        d = {new} if t else d
"""
# Of each kind: one that is new, one that is made of another, a change, and what is read of one.
KINDS = {
    "vector": ("Vec2({number}, {number})", "o * 2", "o.{field} += {number}", "o.x * 3 + o.y"),
    "list": ("[{number}, k]", "[o[1], o[0] + j]", "o[{two}] += {number}", "o[0] * 3 + o[1]"),
    "array": ("np.array([n, {number}])", "o + j", "o[{two}] = {number}", "o[0] * 3 + o[1]"),
    "thing": ("Thing(n, k)", "Thing(o.y, o.x + 1)", "o.{field} += {number}", "o.x * 3 + o.y"),
    "nested": ("[[k], [n]]", "[o[1], [j]]", "o[{two}][0] += {number}", "o[0][0] * 3 + o[1][0]"),
    "holder": ("Thing([n], k)", "Thing(o.x, j)", "o.x[0] += {number}", "o.x[0] * 3 + o.y"),
}
NAMES = ("a", "b", "c", "d", "held[0]", "held[1]")
PARTS = {
    "two": ("0", "1", "n % 2", "k % 2"),
    "number": ("1", "7", "n % 5", "k"),
    "test": ("n % 2", "n > 2", "k % 3 == 1", "j % 2", "j == 1", "n % 4 != j"),
    "rounds": ("n", "k", "2", "n % 3"),
    "field": ("x", "y"),
    "leave": ("break", "continue"),
}  # fmt: skip


class Thing:
    def __init__(self, x: Any, y: Any) -> None:
        self.x, self.y = x, y


class Rebinding(Writer):
    """Writes one function, statement by statement."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, known=False)
        self.new, self.next, self.change, self.read = KINDS[self.pick(*KINDS)]
        kind = {"new": (self.new,), "next": (self.next,), "change": (self.change,)}
        self.parts = {**PARTS, **kind}

    def drawn(self, text: str, of: str = "o") -> str:
        """A text with something for each word in braces, of another object in place of `o`."""
        while "{" in text:
            before, _, rest = text.partition("{")
            word, _, after = rest.partition("}")
            text = before + self.pick(*self.parts[word]) + after
        return re.sub(r"\bo\b", of, text)

    def test(self) -> str:
        return self.drawn("{test}")

    def statement(self, level: int) -> None:
        what = self.random.random()
        if what < 0.2 and level < 4:
            self.branch(level)
        elif what < 0.45 and level < 3:
            self.line(level, self.drawn("for j in range({rounds}):"))
            self.statement(level + 1)
            if self.random.random() < 0.4:
                self.line(level + 1, self.drawn("if {test}: {leave}"))
            self.statement(level + 1)
        else:
            self.line(level, self.simple())

    def simple(self) -> str:
        name, other = self.pick(*NAMES[1:]), self.pick(*NAMES)
        plain = (f"{name} = {other}", f"{name} = rebound({other})")
        return self.pick(
            f"{name} = " + self.drawn(self.next, other),
            f"{name} = " + self.drawn(self.next, name),
            self.drawn(self.change, other),
            self.drawn(self.change, name),
            *plain,
            self.drawn("nest({test})"),
        )

    def function(self, statements: int) -> str:
        start = self.drawn(START)
        for _ in range(statements):
            self.statement(1)
        read = ", ".join([self.drawn(self.read, name) for name in NAMES])
        return start + "".join([f"{line}\n" for line in self.lines]) + f"    return {read}\n"


def function(seed: int, statements: int = 6) -> Aliases:
    """The function of a seed."""
    text = Rebinding(seed).function(statements)
    name = f"<rebinding {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"Position": Position, "Vec2": Vec2, "Thing": Thing, "np": np}
    exec(compile(text, name, "exec"), names)
    return Aliases(seed, text, names["main"])
