"""Deep nests, many early returns, chains of calls and long ladders stay cheap to compile.

What is counted is operations, not seconds: a walk that forks at each test would show as a power.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Position

IMAGE = (np.random.default_rng(3).integers(-24, 41, (4, 5)) / 8).astype(np.float32)
HEADER = "from pygpu import Image, Position\n\n\ndef main(im: Image, p: Position):\n    v = im(p)\n"


def function(source: str) -> Callable[..., Any]:
    names: dict[str, Any] = {"__name__": __name__}
    exec(source, names)
    return names["main"]  # type: ignore[no-any-return]


def returns(count: int) -> str:
    """Tests in a row that each may return."""
    lines = ["    s = 0.0"]
    for k in range(count):
        lines += [f"    if v > {count - k}:", f"        return s + {k}", f"    s += v * {k}"]
    return HEADER + "\n".join([*lines, "    return s"])


def jumps(count: int) -> str:
    """Tests in a row, in a loop, that each go on or leave it."""
    lines = ["    s = 0.0", "    for i in range(p.x):"]
    for k in range(count):
        word = ("break", "continue", f"return s + {k}")[k % 3]
        lines += [
            f"        if v > {count - k} + i:",
            f"            {word}",
            f"        s += v * {k}",
        ]
    return HEADER + "\n".join([*lines, "    return s"])


def loops(depth: int, bound: str) -> str:
    """Loops in loops, each with ways out at its start and end."""
    lines = ["    s = 0.0"]
    for level in range(depth):
        start = "    " * (level + 1)
        word = ("continue", "break", f"return s + {level}")[level % 3]
        lines += [
            f"{start}for i{level} in range({bound}):",
            f"{start}    if im(p + ({level}, i{level})) > 3.0 - i{level}:",
            f"{start}        {word}",
        ]
    lines.append("    " * (depth + 1) + "s += v")
    for level in range(depth, 0, -1):
        lines += ["    " * (level + 1) + "if s > 40:", "    " * (level + 2) + "break"]
    return HEADER + "\n".join([*lines, "    return s"])


def ladder(count: int) -> str:
    lines = ["    a = b = c = 0.0", "    if v > 100:", "        a = 1.0"]
    for k in range(count):
        one, other = "abc"[k % 3], "bca"[k % 3]
        lines += [
            f"    elif v > {count / 2 - k}:",
            f"        {one} = {k} + v",
            f"        {other} += 1",
        ]
    return HEADER + "\n".join([*lines, "    return a + b * 2 + c * 3"])


def calls(depth: int) -> str:
    """A chain of calls, each with an early return."""
    lines = ["def f0(x):", "    return x"]
    for k in range(1, depth + 1):
        lines += [
            f"def f{k}(x):",
            f"    if x > {k}:",
            "        return x",
            f"    return f{k - 1}(x + 1) / 2",
        ]
    return "\n".join([*lines, HEADER + f"    return f{depth}(v)"])


def empty_branches(count: int) -> str:
    """Tests in a row after which nothing is done."""
    lines = [f"    if v > {k}:\n        pass" for k in range(count)]
    return HEADER + "\n".join([*lines, "    return v"])


EFFORTS = {
    "40 empty branches": (empty_branches(40), 100),
    "50 returns": (returns(50), 300),
    "50 jumps in a loop": (jumps(50), 900),
    "4 loops in loops": (loops(4, "p.x"), 700),
    "4 known loops in loops": (loops(4, "3"), 2500),
    "ladder of 100": (ladder(100), 500),
    "10 calls deep": (calls(10), 60),
    "40 calls deep": (calls(40), 250),
}


@pytest.mark.parametrize("name", EFFORTS)
def test_effort_is_in_proportion(name: str) -> None:
    source, limit = EFFORTS[name]
    plain = function(source)
    compiled = pygpu.compile(plain, target="interpreter")
    image = pygpu.Image(IMAGE)
    assert compiled.lower(image).stats["emitted"] <= limit
    expected = [[plain(image, Position(x, y)) for x in range(5)] for y in range(4)]
    np.testing.assert_allclose(np.asarray(compiled(image)), expected, rtol=1e-5)
