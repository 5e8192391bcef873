"""Random functions in which arrays, their rows and other views have several names, and are changed
through any of them: which of them a name means, the pixel decides.

    made = function(7)            # of a position
    made.text                     # its source
"""

import linecache
import re
from typing import Any

import numpy as np

from pygpu import Position
from random_aliases import Aliases, Writer

START = """\
def main(p: Position):
    n, k = p.x, p.y
    x, y, q = np.arange(6).reshape(2, 3) * 1.0, np.ones((2, 3)), np.zeros(3) + n
    a = [np.full(3, 2.0), np.arange(3) * 1.0, q]
    z, r, v = x, q, a[0]
"""
RESULT = "    return tuple([m.ravel() @ WEIGHTS[: m.size] for m in (x, y, q, *a, z, r, v)])\n"
WEIGHTS = np.array([1, 3, 7, 11, 13, 17.0])
# What stands for a word in braces is drawn for each anew.
PARTS = {
    "three": ("0", "1", "2", "n % 3", "k % 3", "(n + k) % 3"),
    "two": ("0", "1", "n % 2", "k % 2"),
    "whole": ("x", "y", "z"),
    "named": ("q", "r", "v"),
    "row": ("{named}", "a[{three}]", *["{whole}[{two}]"] * 2, "x[1, ::-1]", "y[:, :3][0]"),
    "number": ("1", "7", "n % 5", "k"),
    "test": ("n % 2", "n > 2", "k % 3 == 1", "n % 4 != 2", "x[0, 0] > 3"),
}  # fmt: skip
CHANGES = (
    "z = {whole} if {test} else {whole}", "r = {row} if {test} else {row}", "v = {row}",
    "{whole}[{two}, {three}] = {number}", "{named}[{three}] += {number}", "{named} += {number}",
    "z += {number}", "{whole}[{two}] = {row}", "a[{three}] = {named}", "z.T[{three}] = {number}",
    "a[{three}][{three}] = {number}", "{whole}[:, {three}] *= 2", "{row}[1:] -= {number}",
    "{whole}[[0, {two}]] = {whole}[[{two}, 0]]", "z[{two}, 1:] = {number}", "{named}.sort()",
    "{named}[[{three}, {three}]] = {named}[[{three}, {three}]]", "np.add({row}, 1, out={named})",
)  # fmt: skip


class Arrays(Writer):
    """Writes one function, statement by statement."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed, known=False)

    def drawn(self, text: str) -> str:
        """A text with something for each word in braces."""
        while "{" in text:
            text = re.sub(r"\{(\w+)\}", lambda word: self.pick(*PARTS[word[1]]), text)
        return text

    def test(self) -> str:
        return self.drawn("{test}")

    def statement(self, level: int) -> None:
        what = self.random.random()
        if what < 0.1 and level < 3:
            self.branch(level)
        elif what < 0.2 and level < 3:
            self.loop(level)
        else:
            self.line(level, self.drawn(self.pick(*CHANGES)))

    def function(self, statements: int) -> str:
        for _ in range(statements):
            self.statement(1)
        return START + "".join([f"{line}\n" for line in self.lines]) + RESULT


def function(seed: int, statements: int = 6) -> Aliases:
    """The function of a seed."""
    text = Arrays(seed).function(statements)
    name = f"<arrays {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names: dict[str, Any] = {"Position": Position, "WEIGHTS": WEIGHTS, "np": np}
    exec(compile(text, name, "exec"), names)
    return Aliases(seed, text, names["main"])
