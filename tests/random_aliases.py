"""Random functions in which lists, objects, rows and dicts have several names, and are changed
through any of them: under conditions of the pixel, in loops, in calls, through closures.

    made = function(7)            # of a position
    made.text                     # its source
    function(7, known=True)       # all that the names hold is known at first, and the pixel chooses
"""

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pygpu import IVec2, Position

HEAD = """\
class Node:
    def __init__(self, u, xs):
        self.u, self.xs, self.next = u, xs, self

    def add(self, n):
        self.u += n
        self.xs[0] += self.u
        return self


def bump(xs, n):
    xs[0] += n
    return xs


"""
OF_KNOWN = """\
class Node:
    def __init__(self, u, xs):
        self.u, self.xs, self.next = u, xs, self
        self.vec, self.arr = IVec2(u, 1), np.array([u, 2])

    def add(self, n):
        self.u += n
        self.vec.x += n
        self.arr[1] += self.u
        return self


def bump(xs, n):
    xs[0] += n
    return xs


"""
KNOWN = """\
    n = p.x % 3
    a, b, c = [7, 1], [2, 9], [5, 3]
    u, v, w = Node(1, a), Node(2, [4, 4]), Node(3, c)
    m, k = [a, b, a], [c, [5, 6]]
    d = {"x": a, "y": [6, 8]}
"""
KINDS = ("xs", "node", "rows", "named")
START = """\
    a, b, c = [p.x, 1], [2], [p.y, 3, 1]
    u, v, w = Node(1, a), Node(p.y, [4]), Node(p.x, c)
    m, k = [a, b, a], [c, [5, p.x]]
    d = {"x": a, "y": [6]}
"""
# What the pixel chooses of what is known, and what is done to that.
CHOSEN = {
    "xs": ("[a, b, c][n]", "{0: a, 1: b, 2: c}[n]", "[u, v, w][n].xs", "m[p.x % 2]"),
    "node": ("[u, v, w][n]", "(w, u)[p.y % 2]", "[u, v, w][n].next", "{0: v, 1: w}[p.y % 2]"),
}
CHANGES = (
    "[u.add, v.add, w.add][n]({n})", "[a.append, b.append, c.append][n]({n})",
    "[lambda q, o=o: o.add(q) for o in (u, v, w)][n]({n})", "{node}.vec.x += {n}",
    "{node}.arr[0] = {n}", "{node}.arr += {n}", "{node}.arr[p.x % 2] += {n}", "{node}.u -= {n}",
    "{node}.xs.append({n})", "{node}.vec = IVec2({n}, 2)", "{node}.add({n})", "{xs}[0] = {n}",
    "{xs}[p.y % 2] += {n}", "[o.arr for o in (u, v, w)][n][1] += {n}", "m[p.x % 2] = {xs}",
)  # fmt: skip
NAMES = {"xs": ["a", "b", "c"], "node": ["u", "v", "w"], "rows": ["m", "k"], "named": ["d"]}


@dataclass(frozen=True)
class Aliases:
    """A random function."""

    seed: int
    text: str
    function: Callable[..., Any]


class Writer:
    """Writes one function, statement by statement."""

    def __init__(self, seed: int, known: bool) -> None:
        self.random = random.Random(seed)
        self.known = known
        self.lines: list[str] = []
        self.loops = 0

    def pick(self, *options: Any) -> Any:
        return self.random.choice(options)

    def name(self, kind: str) -> str:
        return self.pick(*NAMES[kind])  # type: ignore[no-any-return]

    def number(self) -> str:
        names = ["p.x", "p.y", "1", "2", "3", *[f"i{n}" for n in range(self.loops)]]
        first = self.pick(
            *names, f"{self.name('xs')}[0]", f"{self.name('node')}.u", f"len({self.name('xs')})"
        )
        return self.pick(first, f"{first} + {self.pick(*names)}", f"({first}) % 5")  # type: ignore[no-any-return]

    def test(self) -> str:
        one = self.pick("p.x", "p.y", "p.x + p.y", f"{self.name('xs')}[0]", self.number())
        a, b = self.name("xs"), self.name("xs")
        return self.pick(  # type: ignore[no-any-return]
            f"({one}) % {self.pick(2, 3)} == {self.pick(0, 1)}", f"{one} > {self.pick(1, 2, 4)}",
            f"{one} > {self.pick(0, 3)}", *[f"{a} is {b}"] * (self.random.random() < 0.1),
        )  # fmt: skip

    def value(self, kind: str, depth: int = 2) -> str:
        """An expression of a kind: mostly something that has a name already."""
        own = self.name(kind)
        if depth == 0 or self.random.random() < 0.35:
            return own
        x, y = self.value(kind, depth - 1), self.value(kind, depth - 1)
        either = f"({x} if {self.test()} else {y})"
        rows = self.name("rows")
        more = {
            "xs": (
                f"[{self.number()}, {self.number()}]", f"{self.name('node')}.xs", f"{rows}[0]",
                f"{rows}[{self.pick(1, -1, 'p.x % 2', 'p.y % 2')}]", f"list({own})", f"{own}[:]",
                f"bump({own}, {self.number()})", f"{self.name('named')}[{self.pick('x', 'y')!r}]",
            ),
            "node": (
                f"Node({self.number()}, {self.value('xs', 0)})", f"{own}.next",
                f"{own}.add({self.number()})",
            ),
            "rows": (f"[{self.name('xs')}, {self.name('xs')}]", f"{own}[::-1]", f"{own}[:2]"),
            "named": (f'{{"x": {self.name("xs")}, "y": {self.name("xs")}}}',),
        }[kind]  # fmt: skip
        if self.known and kind in ("xs", "node"):
            more += (self.pick(*CHOSEN[kind]),) * 3
        return self.pick(either, *more)  # type: ignore[no-any-return]

    def line(self, level: int, text: str) -> None:
        self.lines.append("    " * level + text)

    def statement(self, level: int) -> None:
        kind = self.random.choices(KINDS, (6, 3, 2, 1))[0]
        xs, rows, node = self.name("xs"), self.name("rows"), self.name("node")
        what = self.random.random()
        if what < 0.2 and level < 4:
            self.branch(level)
        elif what < 0.32 and level < 3:
            self.loop(level)
        elif what < 0.55:
            self.line(level, f"{self.name(kind)} = {self.value(kind)}")
        elif what < 0.62:
            names = NAMES[self.pick("xs", "node")]
            moved = self.pick(names[1:] + names[:1], names[::-1], [names[1], names[0], names[2]])
            self.line(level, f"{', '.join(names)} = {', '.join(moved)}")
        else:
            self.line(level, self.change(xs, rows, node))

    def change(self, xs: str, rows: str, node: str) -> str:
        if self.known and self.random.random() < 0.5:
            return self.pick(*CHANGES).format(  # type: ignore[no-any-return]
                n=self.number(), node=self.pick(node, *CHOSEN["node"]), xs=self.value("xs")
            )
        number, at = self.number(), self.pick("0", "0", "-1", f"p.x % len({xs})")
        return self.pick(  # type: ignore[no-any-return]
            f"{xs}[{at}] = {number}", f"{xs}[{at}] += {number}", f"{xs}[0] -= {xs}[-1]",
            f"{xs}.append({number})", f"{xs} += [{number}]", f"{xs}.reverse()",
            f"{xs}[:] = [{number}, {self.number()}]", f"{xs}.insert(0, {number})",
            f"{rows}[{self.pick(0, 1, 'p.x % 2')}] = {self.value('xs')}",
            f"{rows}[0], {rows}[1] = {rows}[1], {rows}[0]", f"{rows}[p.y % 2][0] += {number}",
            f"{node}.u += {number}", f"{node}.xs = {self.value('xs')}",
            f"{node}.next = {self.value('node')}", f"{node}.next.u = {number}",
            f"{node}.xs[0] = {number}", f"{node}.add({number})", f"bump({xs}, {number})",
            f"{self.name('named')}[{self.pick('x', 'y')!r}] = {self.value('xs')}",
            f"{self.name('named')}['x'][0] += {number}", f"{rows}.append({self.value('xs')})",
        )  # fmt: skip

    def branch(self, level: int) -> None:
        self.line(level, f"if {self.test()}:")
        self.block(level + 1)
        if self.random.random() < 0.6:
            self.line(level, "else:")
            self.block(level + 1)

    def loop(self, level: int) -> None:
        counter = f"i{self.loops}"
        rounds = self.pick("2", "3", "p.x % 3", "p.y % 4")
        self.line(level, f"for {counter} in range({rounds}):")
        self.loops += 1
        self.block(level + 1)
        if self.random.random() < 0.3:
            self.line(level + 1, f"if {self.test()}:")
            self.line(level + 2, self.pick("break", "continue"))
            self.block(level + 1)
        self.loops -= 1

    def block(self, level: int) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(level)

    def function(self, statements: int) -> str:
        for _ in range(statements):
            self.statement(1)
        sums = [f"{x}[0] + 10 * {x}[-1] + 100 * len({x}) + 7 * sum({x})" for x in NAMES["xs"]]
        nodes = [f"{x}.u + 5 * sum({x}.xs) + 1000 * {x}.next.u" for x in NAMES["node"]]
        if self.known:
            nodes += [f"{x}.vec.x + 9 * {x}.arr[0] + 27 * {x}.arr[1]" for x in NAMES["node"]]
        rest = "sum(m[0]) + 3 * m[1][0] + 11 * k[0][-1] + 13 * sum(k[1]) + 17 * d['x'][0]"
        same = "(a is b) + 2 * (b is c) + 4 * (m[0] is a) + 8 * (u is v)"
        body = "\n".join(self.lines)
        more = [same] if self.random.random() < 0.1 else []
        results = ", ".join([*sums, *nodes, rest, *more])
        head, start = (OF_KNOWN, KNOWN) if self.known else (HEAD, START)
        return f"{head}def main(p: Position):\n{start}{body}\n    return {results}\n"


def function(seed: int, statements: int = 7, known: bool = False) -> Aliases:
    """The function of a seed."""
    text = Writer(seed, known).function(statements)
    name = f"<aliases {seed} {known}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"Position": Position, "IVec2": IVec2, "np": np}
    exec(compile(text, name, "exec"), names)
    return Aliases(seed, text, names["main"])
