"""Functions with two hundred branches or many loops, as people write (or generate) them."""

import linecache
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Float, Image, Position

COUNT = 200


def elifs() -> list[str]:
    first = ["v = im(p)", "if v < 0.0:", "    r = 0.0"]
    rest = [
        line for i in range(COUNT) for line in (f"elif v * k < {i / COUNT}:", f"    r = v + {i}.0")
    ]
    return [*first, *rest, "else:", "    r = 1.0", "return r"]


def early_returns() -> list[str]:
    rest = [
        line for i in range(COUNT) for line in (f"if v * k < {i / COUNT}:", f"    return v + {i}.0")
    ]
    return ["v = im(p)", *rest, "return v"]


def cases() -> list[str]:
    rest = [line for i in range(COUNT) for line in (f"    case {i}:", f"        r = v + {i}.5")]
    first = ["v = im(p)", f"i = int(v * {COUNT}.0)", "match i:"]
    return [*first, *rest, "    case _:", "        r = 0.0", "return r"]


def continues() -> list[str]:
    rest = [
        line
        for i in range(COUNT)
        for line in (f"    if t > {i}.5 * k:", "        continue", "    t += 0.0078125")
    ]
    return ["v = im(p)", "t = 0.0", "for i in range(int(k)):", "    t += v", *rest, "return t"]


def breaks() -> list[str]:
    rest = [
        line
        for i in range(COUNT)
        for line in (f"    if t > {i}.5 * k:", "        break", "    t += 0.0078125")
    ]
    first = ["v = im(p)", "t = 0.0", "for i in range(int(k)):", "    t += v"]
    return [*first, *rest, "else:", "    t += 1000.0", "return t"]


def breaks_with_values() -> list[str]:
    rest = [
        line
        for i in range(COUNT)
        for line in (
            *(f"    if t > {i}.5 * k:", f"        r = t * {i}.25", "        break"),
            "    t += 0.0078125",
        )
    ]
    return [
        "v = im(p)",
        "t = r = 0.0",
        "for i in range(int(k)):",
        "    t += v",
        *rest,
        "return r + t",
    ]


def returns_in_a_loop() -> list[str]:
    rest = [
        line
        for i in range(COUNT)
        for line in (f"    if t > {i}.5 * k:", f"        return t * {i}.25", "    t += 0.0078125")
    ]
    return ["v = im(p)", "t = 0.0", "while t < 9.0 * k:", "    t += v + 0.5", *rest, "return t"]


def conjunction() -> list[str]:
    terms = " and ".join(f"v * k > {i / COUNT}" for i in range(COUNT))
    return ["v = im(p)", f"if {terms}:", "    return v", "return 0.5"]


def loops_one_after_another() -> list[str]:
    rest = [
        line
        for i in range(COUNT // 5)
        for line in ("i = 0", "while i < k:", f"    t = t * 0.5 + v * {i}.0", "    i += 1")
    ]
    return ["v = im(p)", "t = 0.0", *rest, "return t"]


def loops_within_loops() -> list[str]:
    depth = 8  # walked three times a loop this is 6,561 walks of the innermost body
    lines = ["v = im(p)", "t = 0.0"]
    for i in range(depth):
        before = "    " * i
        lines += [f"{before}i{i} = 0", f"{before}while i{i} < k:", f"{before}    i{i} += 1"]
    return [*lines, "    " * depth + "t = t * 0.5 + v", "return t"]


def function(make: Callable[[], list[str]]) -> Callable[..., Any]:
    """The function of these lines."""
    head = "def f(im: Image, p: Position, k: Float):\n"
    source = head + "".join(f"    {line}\n" for line in make())
    name = f"<{make.__name__}>"
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    made: dict[str, Any] = {"Image": Image, "Position": Position, "Float": Float}
    exec(compile(source, name, "exec"), made)
    return made["f"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "make",
    [
        *(elifs, early_returns, cases, conjunction, continues),
        *(breaks, breaks_with_values, returns_in_a_loop),
        *(loops_one_after_another, loops_within_loops),
    ],
)
def test_many_branches_compile_and_agree(make: Callable[[], list[str]], target: str) -> None:
    f = function(make)
    image = (np.arange(35, dtype=np.float32) / 32).reshape(5, 7)
    result = np.asarray(pygpu.compile(f, target=target)(image, k=2.0))
    read = pygpu.Image(image)
    for y, x in np.ndindex(5, 7):
        assert result[y, x] == pytest.approx(f(read, pygpu.Position(x, y), 2.0), rel=1e-6)
