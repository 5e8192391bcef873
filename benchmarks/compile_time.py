"""How compile time grows with the unrolled size: convolutions 3x3 to 63x63, and inlined calls.

    python -m benchmarks.compile_time          # a table in Markdown

Medians of five, of PyGPU's own front end (bytecode to SSA), its passes, and the rest up to a
program that is ready (the code generator and LLVM, or the driver), the disk cache off.
"""

import os
import statistics
import sys

os.environ["PYGPU_CACHE"] = "0"

import numpy as np
from numpy import ravel

import pygpu
from pygpu import Image, Position, offsets

ROUNDS = 5
SIZES = (3, 5, 7, 9, 11, 15, 21, 31, 47, 63)
DEPTHS = (1, 2, 5, 10)


def convolve(kernel, im: Image, p: Position):
    return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel), strict=True)])


def nested(kernel, depth, im: Image, p: Position):
    """A convolution that is reached through `depth` calls, each walked inline."""
    if depth == 0:
        return convolve(kernel, im, p)
    return nested(kernel, depth - 1, lambda q: 0.5 * im(q), p)


def times(function, target: str, **known) -> dict[str, float]:
    """Milliseconds by phase."""
    photo = np.zeros((16, 16), np.float32)
    rounds = [
        pygpu.compile(function, target=target, **known).lower(photo).stats for _ in range(ROUNDS)
    ]
    phases = {
        phase: statistics.median(stats["time"][phase] for stats in rounds)
        for phase in ("translate", "simplify", "compile")
    }
    return phases | {"ops": rounds[0]["ops"], "loops": rounds[0]["loops"]}


def row(name: str, measured: dict[str, float]) -> str:
    phases = " | ".join(f"{measured[p]:.1f}" for p in ("translate", "simplify", "compile"))
    return f"| {name} | {measured['ops']} | {measured['loops']} | {phases} |"


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    random = np.random.default_rng(1)
    print(f"Target {target}, milliseconds, medians of {ROUNDS}.\n")
    print("| program | operations | loops | front end | passes | code |\n|-|-|-|-|-|-|")
    for size in SIZES:
        kernel = random.random((size, size)) - 0.5
        print(row(f"convolution {size}x{size}", times(convolve, target, kernel=kernel)))
    kernel = random.random((3, 3)) - 0.5
    for depth in DEPTHS:
        name = f"3x3 through {depth} inlined calls"
        print(row(name, times(nested, target, kernel=kernel, depth=depth)))


if __name__ == "__main__":
    main()
