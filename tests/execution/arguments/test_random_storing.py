"""Small random functions of images of all dtypes, stored in all dtypes, give what the interpreter
gives: devices have ways of their own for functions that only choose, move or copy bytes.

PYGPU_EXAMPLES=20 runs twenty times as many, other ones each time.
"""

import os
import random
from typing import Any, Final

import numpy as np
import pytest

import pygpu
from conftest import require
from pygpu import Bool, Float, Image, Int, Position

MORE: Final = int(os.environ.get("PYGPU_EXAMPLES", "1"))
COUNTS: Final = {"cpu": 150, "fragment": 20, "compute": 20}
DTYPES: Final = (
    *("uint8", "uint8", "uint8", "uint16", "uint16"),
    *("int8", "int16", "int32", "bool", "float16", "float32"),
)
SIZES: Final = ((5, 7), (4, 16), (3, 33), (1, 70), (70, 1), (8, 64), (17, 5))
BOUNDARIES: Final = ("nearest", "reflect", "mirror", "wrap", "constant")
LEAVES: Final = (
    *("im(p)", "im(p)", "other(p)", "im(p + (1, -2))", "other(p - (2, 0))", "p.x", "p.y"),
    *("g", "n", "flag", "0.25", "3", "im.width"),
)
FORMS: Final = (
    *("max({a}, {b})", "min({a}, {b})", "max({a}, {b})", "np.minimum({a}, {b})", "abs({a})"),
    *("({a} + {b})", "({a} - {b})", "({a} * 0.5)", "({a} if {c} > 0.5 else {b})"),
)


def expression(source: random.Random, depth: int, leaves: list[str]) -> str:
    if depth == 0 or source.random() < 0.2:
        return source.choice(leaves)
    a, b = (expression(source, depth - 1, leaves) for _ in range(2))
    return source.choice(FORMS).format(a=a, b=b, c=source.choice(leaves))


def texels(source: random.Random, dtype: str, size: tuple[int, int]) -> np.ndarray:
    generator = np.random.default_rng(source.randrange(10**9))
    if dtype == "bool":
        return generator.random(size) < 0.5
    if dtype.startswith("float"):
        return (generator.integers(-64, 64, size) / 32).astype(dtype)
    ends = np.iinfo(dtype)
    return generator.integers(max(ends.min, -300), min(ends.max, 70000) + 1, size).astype(dtype)


def image(source: random.Random, array: np.ndarray) -> Image:
    how: dict[str, Any] = {"boundary": source.choice(BOUNDARIES)}
    if array.dtype in (np.uint8, np.uint16):
        how["normalize"] = source.random() < 0.7
    return Image(array, **how)


@pytest.mark.timeout(120 * MORE)
@pytest.mark.parametrize("on", COUNTS)
def test_results_are_stored_as_the_interpreter_stores_them(on: str) -> None:
    require(on)
    for number in range(COUNTS[on] * MORE):
        seed = number if MORE == 1 else random.randrange(10**9)
        source = random.Random(seed)
        size, leaves = source.choice(SIZES), source.sample(LEAVES, source.randrange(1, len(LEAVES)))
        dtypes = [source.choice(DTYPES)] * 2
        if source.random() < 0.5:
            dtypes[1] = source.choice(DTYPES)
        images = [image(source, texels(source, dtype, size)) for dtype in dtypes]
        results = [
            expression(source, source.randrange(4), leaves) for _ in range(source.choice((1, 1, 2)))
        ]
        text = f"def f(im, other, p, g, n, flag):\n    return {', '.join(results)}\n"
        names: dict[str, Any] = {"np": np}
        exec(text, names)
        dtype = source.choice([None, dtypes[0], *DTYPES])
        values = source.choice((0.5, -1.25)), source.choice((3, -2, 200)), source.random() < 0.5
        types = {"im": Image, "other": Image, "p": Position, "g": Float, "n": Int, "flag": Bool}
        with np.errstate(over="ignore"):
            want, have = (
                pygpu.compile(names["f"], target=target, **types)(*images, *values, dtype=dtype)
                for target in ("interpreter", on)
            )
        pairs = zip(want, have, strict=True) if isinstance(want, tuple) else [(want, have)]
        for first, second in pairs:
            alike = agree(np.asarray(first), np.asarray(second), dtype)
            assert alike, (seed, text, dtypes, dtype, values)


def agree(want: np.ndarray, have: np.ndarray, dtype: str | None) -> bool:
    if want.dtype != have.dtype or want.shape != have.shape:
        return False
    first, second = want.astype(np.float64), have.astype(np.float64)
    same = (first == second) | (np.isnan(first) & np.isnan(second))
    if want.dtype.kind in "iub":
        slack = np.float64(dtype is not None)  # of a tie, or a float within rounding of it
    else:
        slack = (2e-3 if want.dtype == np.float16 else 2e-6) * np.maximum(1, np.abs(first))
    with np.errstate(invalid="ignore"):
        return bool((same | (np.abs(first - second) <= slack)).all())
