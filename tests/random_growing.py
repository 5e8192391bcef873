"""Random functions whose lists and sets grow in loops that counters, lists or sets bring to an end.

made = growing(7)                   # from a seed
made.text, made.function            # what is compiled
made.counted                        # the same, ended after many rounds by an error
"""

from __future__ import annotations

import linecache
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pygpu import Image, Position

ROUNDS = 400  # in all, after which a function in plain Python is given up
COUNTERS = ("i", "j", "k")
LISTS = ("xs", "ys", "made")


class EndlessError(Exception):
    """A function comes to no end."""


@dataclass
class Growing:
    text: str
    function: Callable[..., Any]
    counted: Callable[..., Any]


def growing(seed: int) -> Growing:
    lines = _Maker(random.Random(seed)).function()
    text = "\n".join(line for line in lines if "tick()" not in line) + "\n"
    return Growing(text, _define(seed, text, {}), _counted(seed, "\n".join(lines) + "\n"))


def _define(seed: int, text: str, names: dict[str, Any]) -> Callable[..., Any]:
    file = f"<growing {seed} {len(names)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names |= {"Image": Image, "Position": Position}
    exec(compile(text, file, "exec"), names)
    return names["f"]  # type: ignore[no-any-return]


def _counted(seed: int, text: str) -> Callable[..., Any]:
    rounds = [0]

    def tick() -> None:
        rounds[0] += 1
        if rounds[0] > ROUNDS:
            raise EndlessError

    function = _define(seed, text, {"tick": tick})

    def counted(*args: Any) -> Any:
        rounds[0] = 0
        return function(*args)

    return counted


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.lines: list[str] = []
        self.loops = 0

    def of(self, *options: str) -> str:
        return self.source.choice(options)

    def chance(self, much: float) -> bool:
        return self.source.random() < much

    def add(self, depth: int, text: str) -> None:
        self.lines.append("    " * depth + text)

    def function(self) -> list[str]:
        self.lines = ["def f(ints: Image, p: Position):"]
        self.add(1, "n, m = ints(p), ints(p + (1, 0))")
        for name in COUNTERS:
            self.add(1, f"{name} = {self.start()}")
        for name in LISTS[:2]:
            self.add(1, f"{name} = {self.begun()}")
        self.add(1, f"made, seen, words = [], {self.of('set()', '{n % 3}')}, set()")
        for _ in range(self.source.randint(1, 2)):
            self.loop(1)
            if self.chance(0.4):
                self.whole(1)
        sums = [f"sum([(a + 1) * v for a, v in enumerate({name})])" for name in LISTS]
        lengths = [f"len({name})" for name in (*LISTS, "seen", "words")]
        self.add(1, f"return {', '.join([*COUNTERS, *lengths, *sums])}")
        return self.lines

    def start(self) -> str:
        return self.of("0", "0", "0", "n % 4", "n % 7 - 2", "n", "5", "max(n, 2)", "abs(m)")

    def begun(self) -> str:
        return self.of(
            "[n, m, 3]",
            "[1, 2, 3, 4, 5]",
            "[v for v in (n, m, 4, 1) if v > 1]",
            "[n]",
            "[]",
            "[ints(p + (d, 0)) for d in range(4)]",
        )

    def limit(self) -> str:
        return self.of(
            "4", "n % 6", "n", "len(xs)", "len(ys)", "m % 5 + 2", "3", "min(n, 6)", "7", "j",
            "k - 1", "len(xs) - 1", "len(made)",
        )  # fmt: skip

    def test(self, counter: str, up: bool) -> str:
        way = self.of("<", "<", "<", "<=", "!=") if up else self.of(">", ">", ">=", "!=")
        limit = self.limit() if up else self.of("0", "0", "1", "-2", "n % 3 - 4", "-3")
        shift = self.of("", "", "", "", " + 1", " - 2")
        if self.chance(0.1):
            opposite = {"<": ">=", "<=": ">", "!=": "==", ">": "<=", ">=": "<"}[way]
            return f"not {counter}{shift} {opposite} {limit}"
        text = f"{counter}{shift} {way} {limit}"
        return f"{limit} {_SWAPPED[way]} {counter}{shift}" if self.chance(0.15) else text

    def goes_on(self) -> tuple[str, list[str]]:
        """A test, and statements that bring its end nearer."""
        tests, nearer = [], []
        for _ in range(self.source.choices((1, 2), (2, 1))[0]):
            kind, counter = self.source.random(), self.of(*COUNTERS)
            if kind < 0.7:
                up = self.chance(0.65)
                tests.append(self.test(counter, up))
                nearer.append(
                    f"{counter} {'+' if up else '-'}= {self.of('1', '1', '1', '2', 'n % 2 + 1')}"
                )
                if self.chance(0.15):
                    nearer.append(
                        f"{counter} = max({counter} - 1, 0)" if not up else f"{counter} = 9"
                    )
            elif kind < 0.9:
                name = self.of("xs", "ys")
                tests.append(self.of(name, f"len({name}) > 1", f"len({name}) != 0", name))
                nearer += [
                    f"{name}.pop({self.of('', '0')})",
                    self.of(f"{name} = {name}[1:]", f"{name}.pop()"),
                ]
            else:
                value = self.of("n % 4", "i % 5", "abs(m)")
                tests.append(f"{value} not in seen")
                nearer.append(f"seen.add({value})")
        if self.chance(0.15):
            tests.append(self.condition())
        joint = f" {self.of('and', 'and', 'and', 'or')} "
        return joint.join(tests), nearer

    def loop(self, depth: int) -> None:
        self.loops += 1
        kind = self.source.random()
        test, nearer = self.goes_on()
        if kind < 0.7:
            self.add(depth, f"while {test}:")
        elif kind < 0.85:
            self.add(depth, "while True:")
        else:
            over = self.of("range(n % 5)", "range(3)", "list(xs)", "range(len(ys))", "[n, m, 2]")
            self.add(depth, f"for {self.of(*'ijkt')} in {over}:")
        self.add(depth + 1, "tick()")
        if 0.7 <= kind < 0.85:
            at = len(self.lines)
            self.add(depth + 1, f"if not ({test}):")
            self.add(depth + 2, "break")
            self.lines, moved = self.lines[:at], self.lines[at:]
            self.add(depth + 1, "made.append(k)")
            self.lines += moved
        self.add(depth + 1, f"made.append({self.number()})")
        before = self.source.randint(0, 2)
        for _ in range(before):
            self.statement(depth + 1)
        self.nearer(depth + 1, nearer)
        for _ in range(self.source.randint(0, 2 - before)):
            self.statement(depth + 1)

    def nearer(self, depth: int, options: list[str]) -> None:
        """One of some statements, another on each path."""
        if self.chance(0.55) and depth < 5:
            self.add(depth, f"if {self.condition()}:")
            self.nearer(depth + 1, options)
            if not self.chance(0.05):
                self.add(depth, "else:")
                self.nearer(depth + 1, options)
            return
        one = self.of(*options)
        if ".pop(" in one:
            self.add(depth, f"if {one[:2]}:")
            self.add(depth + 1, self.of(one, one, f"made.append({one})"))
        else:
            self.add(depth, one)

    def number(self) -> str:
        return self.of("n", "i", "j + 1", "k", "m", "i * j", "len(made)", "len(xs)", "7")

    def condition(self) -> str:
        return self.of(
            "n % 2", "i < j", "m > 2", "k % 3 == 0", "xs and ys", "len(xs) > len(ys)",
            "(i + n) % 3", "i > 3", "j <= 0", "xs and xs[0] > 2", "m % 2 and i < 4",
        )  # fmt: skip

    def statement(self, depth: int) -> None:
        kind = self.source.random()
        if kind < 0.3:
            self.add(depth, f"if {self.condition()}:")
            for _ in range(self.source.randint(1, 2)):
                self.small(depth + 1)
            if self.chance(0.6):
                self.add(depth, "else:")
                self.small(depth + 1)
        elif kind < 0.37 and self.loops < 3 and depth < 4:
            self.loop(depth)
        elif kind < 0.45:
            self.add(depth, f"if {self.condition()}:")
            self.small(depth + 1)
            self.add(depth + 1, self.of("break", "continue"))
        elif kind < 0.5:
            self.whole(depth)
        else:
            self.small(depth)

    def small(self, depth: int) -> None:
        kind, counter = self.source.random(), self.of(*COUNTERS)
        if kind < 0.15:
            change = self.of("+= 1", "+= 1", "-= 1", "+= 2", "-= 2", "= 0", "= 2", "= max(n, 0)")
            if self.chance(0.25):
                change = self.of(
                    f"= max({counter} - 1, 0)", f"= min({counter} + 1, 6)", f"= {counter} // 2",
                    "+= n % 3", f"= {counter} + (1 if n > 2 else 2)", "+= m > 3", "-= len(xs) > 2",
                    f"= {self.of(*COUNTERS)} + 1", "= len(xs)",
                )  # fmt: skip
            self.add(depth, f"{counter} {change}")
        elif kind < 0.6:
            self.add(depth, f"made.append({self.number()})")
        elif kind < 0.7:
            name = self.of("xs", "ys")
            self.add(depth, f"if {name}:")
            self.add(
                depth + 1,
                f"{self.of('made.append(', 'n += (', 'k = (')}{name}.pop({self.of('', '0')}))",
            )
        elif kind < 0.78:
            self.add(depth, f"{self.of('xs', 'ys')}.append({self.number()})")
        elif kind < 0.84:
            self.add(
                depth, f"seen.add({self.of('n', 'i', 'j', 'k', 'm')} % {self.of('4', '5', '7')})"
            )
        elif kind < 0.9:
            self.add(depth, f"words.add('abcd'[abs({self.of('n', 'i', 'm')}) % 4])")
        else:
            self.add(depth, f"{self.of('n', 'm')} {self.of('+=', '-=')} {self.of('1', '2')}")

    def whole(self, depth: int) -> None:
        """A list moved as a whole."""
        name, other, counter = self.of("xs", "ys"), self.of("xs", "ys"), self.of(*COUNTERS)
        self.add(depth, self.of(
            f"{name} = {name}[{counter}:]", f"{name} = {name}[:{counter}]", f"{name} = {name}[1:]",
            f"{name} = {name}[{counter}:{self.of(*COUNTERS)}]", f"{name}.extend({other}[:2])",
            f"{name} = ({name} + {other})[:6]", f"made.extend({name}[:2])",
            f"{name} = {name}[::-1]", f"{name} = sorted({name})", f"{name} = {name}[-2:]",
            f"{name} = {name}[2:{counter}]",
            f"made.extend([v for v in {name} if v > 1])", f"{name} = {name}[{counter} - 3:]",
        ))  # fmt: skip


_SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}
