"""Random functions of floats with all that checked programs look at, as source text: indices of
tables, divisions of integers, `int()`, assertions, `raise`, in branches and loops.

    text, function = random_floats(7)
    function(Image(texels), Position(1, 2), 0.7, 3)          # what it raises, plain Python raises
"""

from __future__ import annotations

import linecache
import math
import random
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pygpu import Float, Image, Int, Position, glsl

DEPTH: Final = 3
LOOPS: Final = 5  # within each other: llvmpipe ends all loops of a program after 65,535 rounds
TABLE: Final = [0.25, -1.5, 3.0, 0.7, 2.25]
ROWS: Final = np.arange(12.0).reshape(3, 4) / 8

_FLOATS: Final = {
    "({f} * {f})": 12, "({f} + {f})": 12, "({f} - {f})": 8, "(-{f})": 2, "abs({f})": 2,
    "({f} / ({f} + 9.7))": 3, "np.minimum({f}, {f})": 2, "max({f}, {f})": 2,
    "mad({f}, {f}, {f})": 4, "({f} if {c} else {f})": 5, "math.sqrt(abs({f}))": 2,
    "math.sin({f})": 2, "math.exp(-abs({f}))": 1,
    "({f} ** 2)": 2, "glsl.fract({f} * 3.3)": 2, "({i} * 0.25)": 4, "TABLE[{i} % 5]": 3,
    "ROWS[{i} % 3, {i} & 3]": 2, "float({i} // ({i} % 3 + 3))": 2, "checked({f}, {f})": 3,
    "sum([w * {f} for w in (0.3, 0.7, g)])": 1,
}  # fmt: skip
_INTS: Final = {
    "({i} + {i})": 3, "({i} - {i})": 2, "int({f} * 4)": 4, "math.floor({f})": 3,
    "({i} // ({i} % 4 + 4))": 2, "({i} % 7)": 3, "min({i}, {i})": 1, "(p.x & 3)": 2,
}  # fmt: skip
_CONDITIONS: Final = {
    "{f} < {f}": 6, "{i} > {i}": 3, "{c} and {c}": 2, "{c} or {c}": 1, "not {c}": 1,
    "0 < {f} < 2": 1, "{i} == {i}": 1,
}  # fmt: skip
# What may go wrong, seldom.
_RISKS: Final = (
    "assert {f} < {limit}, 'too large'",
    "v = v + 1.0 / TABLE[min(max({i}, 0), {most})]",
    "if {f} > {limit}:\n    raise ValueError('beyond')",
    "v = v * 0.5 + {i} // max({i} + {large}, {least})",
    "v = v - TABLE[int(glsl.fract({f}) * {room})]",
)


def mad(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def checked(a: Any, b: Any) -> Any:
    product = a * b
    assert abs(product) < 1e12, f"{product} is large"
    return product - b


def random_floats(seed: int) -> tuple[str, Callable[..., Any]]:
    """A function of an image, a position, a number and a count, and its text."""
    text = _Maker(random.Random(seed)).function()
    name = f"<random floats {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    names: dict[str, Any] = {
        "Image": Image, "Position": Position, "Float": Float, "Int": Int, "np": np, "math": math,
        "glsl": glsl, "mad": mad, "checked": checked, "TABLE": TABLE, "ROWS": ROWS,
    }  # fmt: skip
    exec(compile(text, name, "exec"), names)
    return text, names["f"]


class _Maker:
    def __init__(self, source: random.Random) -> None:
        self.source = source
        self.names = ["g"]
        self.loops = 0  # `while`s around the statement: each counts by a variable of its own
        self.around = 0  # loops around it

    def function(self) -> str:
        lines = ["v = im(p)"]
        self.names.append("v")
        for _ in range(self.source.randint(2, 5)):
            lines += self.statement()
        lines.append(f"return {self.float(DEPTH)}, v * g + {self.float(1)}")
        body = "\n".join(f"    {line}" for each in lines for line in each.split("\n"))
        return f"def f(im: Image, p: Position, g: Float, n: Int):\n{body}\n"

    def statement(self) -> list[str]:
        loops = (2, 1) if self.around < LOOPS else (0, 0)
        kind = self.source.choices("arifw", (4, 5, 3, *loops))[0]
        if kind == "a":
            name = self.source.choice("abc")
            line = f"{name} = {self.float(DEPTH)}"
            self.names.append(name)
            return [line]
        if kind == "r":
            return self.risk().split("\n")
        known = list(self.names)
        counter = f"j{self.loops or ''}"
        self.loops += kind == "w"
        self.around += kind in "fw"
        inner = [f"    {line}" for _ in range(2) for line in self.statement()]
        self.loops -= kind == "w"
        self.around -= kind in "fw"
        self.names = known
        if kind == "i":
            return [f"if {self.condition(2)}:", *inner, "else:", f"    v = {self.float(2)}"]
        if kind == "f":
            return ["for k in range(n):", *inner, "    v = v * 0.5 + 0.1 * k"]
        head = f"while {counter} < n and v < 3:"
        return [f"{counter} = 0", head, *inner, "    v = v * 0.75", f"    {counter} += 1"]

    def risk(self) -> str:
        form = self.source.choice(_RISKS)
        far = self.source.random() < 0.7  # what goes wrong nowhere, or nearly
        found = {
            "limit": 1e9 if far else 2.0,
            "most": 4 if far else 5,
            "large": 10**6 if far else 9,
        }
        found |= {"least": 1 if far else 0, "room": 5 if far else 5.2}
        for name, value in found.items():
            form = form.replace(f"{{{name}}}", str(value))
        return self.filled(form, 2)

    def float(self, depth: int) -> str:
        if depth == 0:
            dx, dy = (self.source.randint(-1, 1) for _ in range(2))
            number = repr(round(self.source.uniform(-2, 2), 2))
            leaves = [f"im(p + ({dx}, {dy}))", self.source.choice(self.names), number, "(p.y * g)"]
            return self.source.choices(leaves, (5, 5, 2, 1))[0]
        return self.chosen(_FLOATS, depth)

    def int(self, depth: int) -> str:
        if depth == 0:
            return self.source.choice(["p.x", "p.y", "n", str(self.source.randint(0, 9))])
        return self.chosen(_INTS, depth)

    def condition(self, depth: int) -> str:
        if depth == 0:
            return f"{self.float(0)} < {self.float(0)}"
        return f"({self.chosen(_CONDITIONS, depth)})"

    def chosen(self, forms: dict[str, int], depth: int) -> str:
        return self.filled(self.source.choices(list(forms), list(forms.values()))[0], depth)

    def filled(self, form: str, depth: int) -> str:
        for mark, part in (("{f}", self.float), ("{i}", self.int), ("{c}", self.condition)):
            while mark in form:
                form = form.replace(mark, part(self.source.randrange(depth)), 1)
        return form


__all__ = ["random_floats"]
