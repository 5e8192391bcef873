"""Random nests of loops and branches: decoded, they take the same steps as in CPython."""

import random
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType

import pytest

from frontend.decode.machine import call
from frontend.decode.source import check, codes, compiled, loops_in
from pygpu.bytecode import decode

FUEL = 60


class Writer:
    """Writes a function of a, b and c that says each step to `tick`, false from some step on."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.steps = 0

    def function(self) -> str:
        self.lines = ["def f(a, b, c, tick):"]
        self.block(1, in_loop=False, depth=3)
        return "\n".join([*self.lines, "    return a, b, c\n"])

    def say(self, indent: int, line: str) -> None:
        self.lines.append("    " * indent + line)

    def step(self) -> str:
        self.steps += 1
        return f"tick({self.steps})"

    def test(self, depth: int = 2) -> str:
        choose = self.random.randrange
        if depth and choose(3) == 0:
            joined = self.random.choice((" and ", " or "))
            return "(" + joined.join(self.test(depth - 1) for _ in range(2 + choose(2))) + ")"
        if choose(4) == 0:
            return f"not {self.test(depth - 1) if depth else 'a'}"
        one, two, three = (self.random.choice("abc") for _ in range(3))
        return self.random.choice(
            (
                *(f"{one} < {two}", f"{one} < {two} <= {three}", f"{one} % 3", one),
                *(f"{one} is None", f"({one} := {two} + 1) != 4", f"({one} if {two} else {three})"),
            )
        )

    def block(self, indent: int, in_loop: bool, depth: int) -> None:
        for _ in range(1 + self.random.randrange(3)):
            self.statement(indent, in_loop, depth)

    def statement(self, indent: int, in_loop: bool, depth: int) -> None:
        kinds = ["assign", "assign", "return"] + ["break", "continue"] * in_loop
        if depth:
            kinds += ["if", "if", "while", "while", "for", "forever"]
        one, two = (self.random.choice("abc") for _ in range(2))
        match self.random.choice(kinds):
            case "assign":
                self.say(indent, f"{one} = ({two} + {self.random.randrange(5)}) % 7")
            case "return":
                self.say(indent, f"if {self.test()}: return {one}, {self.steps}")
            case "break" | "continue" as leave:
                self.say(indent, f"if {self.test()}: {leave}")
            case "if":
                self.say(indent, f"if {self.test()}:")
                self.block(indent + 1, in_loop, depth - 1)
                if self.random.randrange(2):
                    self.say(indent, f"elif {self.test()}:")
                    self.block(indent + 1, in_loop, depth - 1)
                if self.random.randrange(2):
                    self.say(indent, "else:")
                    self.block(indent + 1, in_loop, depth - 1)
            case "while":
                self.say(indent, f"while {self.test()} and {self.step()}:")
                self.loop(indent, in_loop, depth)
            case "for":
                self.say(indent, f"for {one} in range({two} if {self.step()} else 0):")
                self.loop(indent, in_loop, depth)
            case "forever":
                self.say(indent, "while True:")
                self.say(indent + 1, f"if not {self.step()}: break")
                self.loop(indent, in_loop, depth)

    def loop(self, indent: int, in_loop: bool, depth: int) -> None:
        self.block(indent + 1, True, depth - 1)
        if self.random.randrange(3) == 0:
            self.say(indent, "else:")
            self.block(indent + 1, in_loop, depth - 1)


def trace(function: Callable[..., object], a: int, b: int, c: int) -> Iterator[object]:
    """The steps that the function takes, then its result."""
    steps: list[int] = []

    def tick(step: int) -> bool:
        steps.append(step)
        return len(steps) < FUEL

    yield function(a, b, c, tick)
    yield from steps


@pytest.mark.parametrize("seed", range(150))
def test_random_function_takes_the_same_steps(seed: int) -> None:
    text = Writer(seed).function()
    code: CodeType = compiled(text)
    function = FunctionType(code, {"__builtins__": __builtins__})
    for arguments in [(0, 1, 2), (6, 3, 0)]:
        expected = list(trace(function, *arguments))
        actual = list(trace(lambda *values: call(function, *values), *arguments))
        assert actual == expected
    decoded = [decode(inner) for inner in codes(code)]
    for one in decoded:
        check(one)
    assert sum(len(one.graph.loops) for one in decoded) <= loops_in(text)
