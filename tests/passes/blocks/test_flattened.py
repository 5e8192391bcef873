"""Functions that treat all components alike, as functions of one component."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import pygpu
from pygpu import Image, Position, Vec3
from pygpu.core.boundaries import RULES
from pygpu.passes.blocks import flattened

OFFSETS = [(0, 0), (-1, 0), (1, 0), (0, 1), (-3, 2), (5, -2), (12, 1), (-12, -1)]


def window(offsets: list[tuple[int, int]], work: str) -> Any:
    @pygpu.compile(target="cpu")
    def run(im: Image, p: Position, gain: float, rounds: int):
        taps = [im(p + d) for d in offsets]
        if work == "sum":
            return sum((0.1 + 0.07 * i) * t for i, t in enumerate(taps)) * gain
        if work == "least":
            found = taps[0]
            for tap in taps[1:]:
                found = np.minimum(found, tap)
            return found
        if work == "power":
            return abs(taps[0]) ** 0.7 - taps[-1] * 0.5
        if work == "loop":
            found = taps[0]
            for _ in range(rounds):
                found = found * 0.75 + taps[-1] * 0.1
            return found
        if work == "branch":
            return taps[0] * gain if gain > 1 else taps[-1] / gain
        return taps[0] if p.y < 7 else taps[-1]

    return run


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(8))
def test_bits_are_those_of_functions_of_texels(
    monkeypatch: pytest.MonkeyPatch, rule: str, seed: int
) -> None:
    source = random.Random(f"{rule} {seed}")
    channels = source.choice([2, 3, 4])
    dtype, out = source.choice([("uint8", "uint8"), ("uint8", "float32"), ("float32", "float32"),
                                ("uint16", "uint8"), ("float32", "uint8")])  # fmt: skip
    work = source.choice(["sum", "least", "power", "loop", "branch", "row"])
    size = source.choice([1, 5, 40]), source.choice([1, 7, 33, 200])
    shape = source.choice([size, size, (size[0] + 3, 3 * size[1] + 1)])
    offsets = source.sample(OFFSETS, source.choice([1, 3, 5]))
    image = np.random.default_rng(seed).random((*size, channels), np.float32)
    if dtype != "float32":
        image = (image * np.iinfo(dtype).max).astype(dtype)
    cval = {"cval": 0.2} if rule == "constant" else {}
    given = pygpu.Image(image, boundary=rule, **cval), 1.25, 4
    made = []
    for _ in range(2):
        run = window(offsets, work)
        made.append(np.asarray(run(*given, shape=shape, dtype=out)))
        monkeypatch.setattr(flattened, "flattened", lambda function: None)
    assert np.array_equal(*made, equal_nan=True)


TABLE = np.linspace(0.2, 1.9, 8) ** 2


def counted(texel: Any) -> Any:
    """A loop whose rounds a component decides."""
    total = texel * 0.5
    for _ in range(int(texel.y * 3)):
        total = total + texel
    return total


CASES = [
    (lambda im, p: im(p) * 0.5 + im(p + (3, 1)), 3),
    (lambda im, p: im(p) * p.y, 3),
    (lambda im, p: im(p) * p.x, None),
    (lambda im, p: im(p) * Vec3(1, 0.5, 1), None),
    (lambda im, p: im(p).zyx, None),
    (lambda im, p: im(p) if im(p).x > 0.5 else -im(p), None),
    (lambda im, p: Vec3(*[v if v < 0.5 else 1.0 - v for v in im(p)]), 3),
    (lambda im, p: Vec3(*[TABLE[int(v * 7)] * p.y for v in im(p)]) - im(p + (1, 0)), 3),
    (lambda im, p: Vec3(*[v * v + 0.1 for v in reversed(list(im(p)))]), None),
    (lambda im, p: Vec3(*[v - max(im(p)) for v in im(p)]), None),
    (lambda im, p: Vec3(*[v * (k + 1) for k, v in enumerate(im(p))]), None),
    (lambda im, p: Vec3(*[v**3 if p.y % 2 else v for v in im(p)]), 3),
    (lambda im, p: Vec3(im(p).x + 1, im(p).x + 1, im(p).x + 1), None),
    (lambda im, p: Vec3(im(p).x + 1, im(p).y + 1, im(p).z - 1), None),
    (lambda im, p: counted(im(p)), None),
    (lambda im, p: im(p) + np.dot(im(p), im(p)), None),
    (lambda im, p: im(p + (40, 0)), None),
    (lambda im, p: im((p.y, p.x)), None),
    (lambda im, p: im((p.x, p.y // 2)) + im((p.x, 2 * p.y)), 3),
    (lambda im, p: im((p.x + 1, p.y // 3)), None),
    (lambda im, p: im((p.x, int(5 * im(p).x))), None),
    (lambda im, p: im(p).x, None),
    (lambda im, p: im(p) / im.width, None),
]


@pytest.mark.parametrize(("function", "size"), CASES)
def test_what_is_flattened(monkeypatch: pytest.MonkeyPatch, function: Any, size: Any) -> None:
    found: list[int | None] = []
    plain = flattened.flattened

    def seen(function: Any) -> Any:
        made = plain(function)
        found.append(made and made[1])
        return made

    monkeypatch.setattr(flattened, "flattened", seen)

    @pygpu.compile(target="cpu")
    def run(im: Image, p: Position):
        return function(im, p)

    run(np.zeros((4, 4, 3), np.float32))
    assert {group for group in found if group} == ({size} if size else set())


@pytest.mark.parametrize("function", [function for function, _ in CASES])
@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_flattened_functions_are_as_they_are_written(function: Any, dtype: str) -> None:
    def run(im: Image, p: Position):
        return function(im, p)

    texels = np.random.default_rng(3).random((5, 37, 3))
    array = (texels * (255 if dtype == "uint8" else 1)).astype(dtype)
    made = [pygpu.compile(run, target=target)(array) for target in ("cpu", "interpreter")]
    assert np.allclose(*made, rtol=1e-6, atol=1e-7)
