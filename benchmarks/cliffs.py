"""Looks for cliffs: programs of random shapes against their own simplest form, on `cpu`.

    python -m benchmarks.cliffs                     # what costs more than it should
    python -m benchmarks.cliffs --count 200 --seed 7

A program is put together of pieces: how many taps and where (near, halves, by `//` and `%`, turned,
a table), what is done with them (sums, minima, counts, powers), branches, loops that are unrolled
or not, the dtypes of the image and the result, their channels and shapes. Its simplest form is what
its cost is estimated from: the sum of what its pieces cost alone, each measured in a plain square
image of floats by this script itself, for as many pixels and numbers. A program that takes several
times as long as that stands by a cliff, or its pieces meet badly.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

import pygpu
from pygpu import Image, Position
from pygpu.core.errors import CompileError

PIXELS: Final = 1 << 20
STEEP: Final = 2.5  # times the estimate, from which on a program is reported


# ---------------------------------------------------------------- pieces

TAPS: Final[dict[str, Callable[..., list[Any]]]] = {
    "one": lambda im, p, n: [im(p)],
    "row": lambda im, p, n: [im(p + (i - n // 2, 0)) for i in range(n)],
    "column": lambda im, p, n: [im(p + (0, i - n // 2)) for i in range(n)],
    "square": lambda im, p, n: [
        im(p + (i - n // 2, j - n // 2)) for j in range(n) for i in range(n)
    ],
    "halves": lambda im, p, n: [im((p.x // 2, p.y // 2))],
    "doubled": lambda im, p, n: [im((2 * p.x, 2 * p.y)), im((2 * p.x + 1, 2 * p.y + 1))],
    "modulo": lambda im, p, n: [im((p.x % (8 * n), p.y % (8 * n)))],
    "blocks": lambda im, p, n: [im((p.x - p.x % n, p.y - p.y % n))],
    "flipped": lambda im, p, n: [im((im.width - 1 - p.x, p.y))],
    "turned": lambda im, p, n: [im((p.y, p.x))],
    "gather": lambda im, p, n: [im((p.x + (p.y * 7) % (4 * n), p.y))],
    "between": lambda im, p, n: [
        im.sampled(interpolation="linear")((p.x + 0.3 * i, p.y + 0.4)) for i in range(min(n, 3))
    ],
}
WORK: Final[dict[str, Callable[[list[Any]], Any]]] = {
    "sum": lambda taps: sum(taps[1:], taps[0]),
    "weighted": lambda taps: sum((0.1 + 0.07 * i) * t for i, t in enumerate(taps)),
    "least": lambda taps: least(taps),
    "spread": lambda taps: greatest(taps) - least(taps),
    "count": lambda taps: sum(first(t) > first(taps[len(taps) // 2]) for t in taps) * 0.1,
    "power": lambda taps: sum(abs(t) ** 0.7 for t in taps),
    "divided": lambda taps: taps[0] / (1 + sum(taps[1:], taps[0])),
    "table": lambda taps: looked_up(taps[0]),
    "branch": lambda taps: taps[0] * 2 if first(taps[-1]) > 0.5 else taps[-1] * taps[0],
    "loop": lambda taps: rounds(taps[0]),
}
CURVE: Final = np.linspace(0, 1, 300, dtype=np.float32)


def first(texel: Any) -> Any:
    """The first component."""
    return texel if isinstance(texel, (float, int)) else texel[0]


def least(taps: list[Any]) -> Any:
    found = taps[0]
    for tap in taps[1:]:
        found = np.minimum(found, tap)
    return found


def greatest(taps: list[Any]) -> Any:
    found = taps[0]
    for tap in taps[1:]:
        found = np.maximum(found, tap)
    return found


def looked_up(tap: Any) -> Any:
    return tap * CURVE[min(max(int(first(tap) * 299), 0), 299)]


def rounds(tap: Any) -> Any:
    found, n = tap, 3 + int(first(tap) * 4)
    for _ in range(n):
        found = found * 0.9 + 0.01
    return found


# ---------------------------------------------------------------- programs


@dataclass(frozen=True, slots=True)
class Shape:
    """A program's shape."""

    taps: str
    count: int
    work: str
    dtype: str
    out: str
    channels: int
    height: int
    width: int
    scale: float = 1.0  # of the result's sides to the image's

    @property
    def result(self) -> tuple[int, int]:
        return max(1, int(self.height * self.scale)), max(1, int(self.width * self.scale))

    @property
    def numbers(self) -> int:
        height, width = self.result
        return height * width * self.channels

    def plain(self) -> Shape:
        """The same work on the same taps, in a square of floats of one channel."""
        side = math.isqrt(PIXELS)
        return Shape(self.taps, self.count, self.work, "float32", "float32", 1, side, side)


def program(shape: Shape) -> Callable[..., Any]:
    taps, work, count = TAPS[shape.taps], WORK[shape.work], shape.count

    @pygpu.compile(target="cpu")
    def run(im: Image, p: Position):
        return work(taps(im, p, count))

    return run


def seconds(shape: Shape, rounds: int) -> float:
    """The least seconds of a call into an existing array."""
    generator = np.random.default_rng(0)
    size = (shape.height, shape.width, shape.channels)
    texels = generator.random(size[: 2 + (shape.channels > 1)], np.float32)
    if shape.dtype != "float32":
        texels = (texels * np.iinfo(shape.dtype).max).astype(shape.dtype)
    run, result = program(shape), shape.result
    made = run(texels, shape=result, dtype=shape.out)
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        run(texels, shape=result, out=made)
        taken.append(time.perf_counter() - began)
    return min(taken)


def estimate(shape: Shape, plain: float) -> float:
    """Seconds for as many numbers as the simplest form takes `plain` for; a call costs some time
    whatever it does."""
    return plain * shape.numbers / shape.plain().numbers + 5e-5


def drawn(random: random.Random) -> Shape:
    """A shape: of some two millions of numbers at most, thin or square."""
    channels = random.choice([1, 1, 3, 4, 2])
    side = math.isqrt(PIXELS // channels)
    ratio = random.choice([1, 1, 1, 7, 1000, 1 / 7, 1 / 1000])
    height = max(1, int(side / math.sqrt(ratio)))
    width = max(1, int(side * math.sqrt(ratio)))
    taps = random.choice(list(TAPS))
    count = random.choice([2, 3, 3, 5, 7, 9, 15] if taps != "square" else [2, 3, 3, 5, 7])
    scale = random.choice([1.0, 1.0, 1.0, 2.0, 0.5])
    dtype, out = random.choice(["float32", "uint8", "uint16"]), random.choice(["float32", "uint8"])
    work = random.choice(list(WORK))
    return Shape(taps, count, work, dtype, out, channels, height, width, scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    source = random.Random(options.seed)
    bases: dict[Shape, float] = {}
    steep = []
    for shape in [drawn(source) for _ in range(options.count)]:
        try:
            plain = shape.plain()
            if plain not in bases:
                bases[plain] = seconds(plain, options.rounds)
            found = seconds(shape, options.rounds)
            if found > STEEP * estimate(shape, bases[plain]):  # again: something else may have run
                bases[plain] = max(bases[plain], seconds(plain, options.rounds))
                found = min(found, seconds(shape, options.rounds))
        except (CompileError, TypeError) as error:
            print(f"refused: {shape}: {str(error).splitlines()[0]}")
            continue
        expected = estimate(shape, bases[plain])
        steep.append((found / expected, found, expected, shape))
    steep.sort(key=lambda each: -each[0])
    print(f"{'ratio':>6} {'ms':>8} {'expected':>9}  program")
    for ratio, found, expected, shape in itertools.takewhile(lambda e: e[0] > STEEP, steep):
        print(f"{ratio:6.1f} {found * 1e3:8.2f} {expected * 1e3:9.2f}  {shape}")
    middle = steep[len(steep) // 2][0] if steep else math.nan
    print(f"{len(steep)} programs, the middle one at {middle:.2f} of what its pieces take alone")


if __name__ == "__main__":
    main()
