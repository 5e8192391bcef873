"""Random functions that raise and handle: `try` in `try`, in loops, in branches, in calls.

    made = function(seed)         # of two images and the position; gives three numbers
    made.text                     # its source

What raises are quotients, roots, logarithms, tables and `raise`; what handles are classes, bases
and tuples of them, `else`, `finally`, `contextlib.suppress`. Nothing leaves the function.
"""

import contextlib
import linecache
import math
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pygpu import Image, Position

HANDLED = (
    *("ZeroDivisionError", "ValueError", "KeyError", "ArithmeticError", "Exception", "LookupError"),
    *("IndexError", "(KeyError, ValueError)", "(ArithmeticError, LookupError)"),
)
RAISED = ("ValueError('a')", "KeyError(1)", "ZeroDivisionError", "IndexError('x')", "ValueError(v)")
VALUES = (
    *("a + 1", "b - a", "1 / a", "1 / (b - 1)", "math.sqrt(a)", "TABLE[int(b)]", "NAMES[int(a)]"),
    *("a * b", "math.log(b)", "abs(a)", "int(a) // int(b)"),
)
CALLS = ("h(a, b)", "h(b, a) + h(a, a)")
TESTS = ("a > b", "b > 0.5", "a < 0", "p.x % 2 == 0", "a == 0", "b > a + 1", "v > 0")
SUPPRESSED = ("ValueError", "ZeroDivisionError", "KeyError, IndexError")


class Counter:
    def __init__(self) -> None:
        self.k = 0.0


@dataclass(frozen=True)
class Made:
    """A function and its source."""

    function: Callable[..., Any]
    text: str


class Writer:
    """Writes the body of a function; a called one is written first, and calls nothing."""

    def __init__(self, draw: random.Random, is_called: bool) -> None:
        self.draw = draw
        self.values = VALUES if is_called else VALUES + CALLS
        self.returned = "a + {}" if is_called else "a, b + {}, made.k"

    def block(self, indent: int, depth: int, in_loop: bool) -> list[str]:
        lines: list[str] = []
        for _ in range(self.draw.randint(1, 3)):
            lines += self.statement(indent, depth, in_loop)
        return lines

    def statement(self, indent: int, depth: int, in_loop: bool) -> list[str]:
        kind = self.draw.choices(
            ("simple", "if", "for", "suppress", "try"), (40, 20, 12, 4, 24 if depth else 0)
        )[0]
        if kind == "simple" or depth == 0:
            return self.simple(indent, in_loop)
        start, inner = "    " * indent, (indent + 1, depth - 1)
        match kind:
            case "if":
                lines = [f"{start}if {self.draw.choice(TESTS)}:", *self.block(*inner, in_loop)]
                if self.draw.random() < 0.5:
                    lines += [f"{start}else:", *self.block(*inner, in_loop)]
                return lines
            case "for":
                rounds = self.draw.randint(1, 3)
                return [f"{start}for i in range({rounds}):", *self.block(*inner, True)]
            case "suppress":
                classes = self.draw.choice(SUPPRESSED)
                head = f"{start}with contextlib.suppress({classes}):"
                return [head, *self.block(*inner, in_loop)]
        return self.handled(indent, depth, in_loop)

    def handled(self, indent: int, depth: int, in_loop: bool) -> list[str]:
        draw, start, inner = self.draw, "    " * indent, (indent + 1, depth - 1)
        lines = [f"{start}try:", *self.block(*inner, in_loop)]
        handlers = draw.sample(HANDLED, draw.randint(0, 2))
        for classes in handlers:
            lines += [f"{start}except {classes}:", *self.block(*inner, in_loop)]
            if draw.random() < 0.15:
                lines.append(f"{start}    raise")
        if handlers and draw.random() < 0.3:
            lines += [f"{start}else:", *self.block(*inner, in_loop)]
        if not handlers or draw.random() < 0.3:
            lines += [f"{start}finally:", f"{start}    n += 1"]
        return lines

    def simple(self, indent: int, in_loop: bool) -> list[str]:
        draw, start = self.draw, "    " * indent
        test = f"{start}if {draw.choice(TESTS)}:"
        match draw.choices(("set", "raise", "leave", "return", "count"), (60, 10, 8, 6, 16))[0]:
            case "raise":
                return [test, f"{start}    raise {draw.choice(RAISED)}"]
            case "leave" if in_loop:
                return [test, f"{start}    {draw.choice(('break', 'continue'))}"]
            case "return":
                return [test, f"{start}    return {self.returned.format(draw.randint(1, 9))}"]
            case "count":
                return [f"{start}{draw.choice(('n += 1', 'made.k += a'))}"]
        sign = draw.choice(("=", "+="))
        return [f"{start}{draw.choice('ab')} {sign} {draw.choice(self.values)}"]


def function(seed: int) -> Made:
    draw = random.Random(seed)
    called = Writer(draw, True).block(1, 1, False)
    body = Writer(draw, False).block(2, 3, False)
    text = "\n".join(
        [
            "def h(a, b):",
            "    v, made, n, p = a, Counter(), 0, Position(1, 0)",
            *called,
            "    return a + b + n",
            "def f(im: Image, other: Image, p: Position):",
            "    v = a = im(p)",
            "    b, n, made = other(p), 0, Counter()",
            "    try:",
            *body,
            "    except Exception:",
            "        a = -a",
            "    return a, b + n, made.k",
        ]
    )
    name = f"<raising {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names = {
        **{"math": math, "contextlib": contextlib, "Counter": Counter},
        **{"Image": Image, "Position": Position},
        **{"TABLE": [0.5, 1.5, 2.5], "NAMES": {0: 1.0, 1: 3.0, -1: 2.0}},
    }
    exec(compile(text, name, "exec"), names)
    return Made(names["f"], text)  # type: ignore[arg-type]
