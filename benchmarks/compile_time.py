"""How compile time grows: convolutions 3x3 to 63x63, inlined calls, kinds of images.

    python -m benchmarks.compile_time [cpu] [--processor]          # a table in Markdown

The least of five, of PyGPU's own front end (bytecode to SSA), its passes, and the rest up to a
program that is ready (the code generator and LLVM, or the driver), the disk cache off. With
--processor the processor's time of this process is taken, for machines that others use too.
"""

import os
import sys
import time

os.environ["PYGPU_CACHE"] = "0"

import numpy as np
from numpy import ravel

import pygpu
from pygpu import Image, Position, offsets

ROUNDS = 5
PHASES = "translate", "simplify", "compile", "driver"
SIZES = (3, 5, 7, 9, 11, 15, 21, 31, 47, 63)
DEPTHS = (1, 2, 5, 10)


def convolve(kernel, im: Image, p: Position):
    return sum([w * im(p + d) for w, d in zip(ravel(kernel), offsets(kernel), strict=True)])


def nested(kernel, depth, im: Image, p: Position):
    """A convolution that is reached through `depth` calls, each walked inline."""
    if depth == 0:
        return convolve(kernel, im, p)
    return nested(kernel, depth - 1, lambda q: 0.5 * im(q), p)


def sobel(kernel, im: Image, p: Position):
    across, down = convolve(kernel, im, p), convolve(np.transpose(kernel), im, p)
    return np.sqrt(across**2 + down**2)


def between(kernel, im: Image, p: Position):
    """A weighted sum of samples between the pixels."""
    smooth = im.sampled(interpolation="linear")
    places = [(0.7 * d.x + 0.1, 0.7 * d.y + 0.2) for d in offsets(kernel)]
    return sum([w * smooth(p + q) for w, q in zip(ravel(kernel), places, strict=True)])


def times(
    function, target: str, dtype: str = "float32", channels: int = 1, **known
) -> dict[str, float]:
    """Milliseconds by phase, for images of such texels."""
    photo = np.zeros((16, 16, channels), dtype)
    rounds = [
        pygpu.compile(function, target=target, **known).lower(photo).stats for _ in range(ROUNDS)
    ]
    phases = {phase: min(stats["time"][phase] for stats in rounds) for phase in PHASES}
    return phases | {"ops": rounds[0]["ops"], "loops": rounds[0]["loops"]}


def row(name: str, measured: dict[str, float]) -> str:
    phases = " | ".join(f"{measured[p]:.1f}" for p in PHASES)
    return f"| {name} | {measured['ops']} | {measured['loops']} | {phases} |"


def main() -> None:
    words = sys.argv[1:]
    if "--processor" in words:
        words.remove("--processor")
        time.perf_counter = time.process_time  # what PyGPU measures its phases by
    target = words[0] if words else "cpu"
    random = np.random.default_rng(1)
    print(f"Target {target}, milliseconds, the least of {ROUNDS}.\n")
    print("| program | operations | loops | front end | passes | code | driver |\n|-|-|-|-|-|-|-|")
    for size in SIZES:
        kernel = random.random((size, size)) - 0.5
        print(row(f"convolution {size}x{size}", times(convolve, target, kernel=kernel)))
    print(row("Sobel", times(sobel, target, kernel=np.outer([1, 2, 1], [-1, 0, 1]))))
    kernel = random.random((3, 3)) - 0.5
    for depth in DEPTHS:
        name = f"3x3 through {depth} inlined calls"
        print(row(name, times(nested, target, kernel=kernel, depth=depth)))
    for name, function, shape in (("11x11", convolve, (11, 11)), ("24 samples", between, (4, 6))):
        kernel = random.random(shape) - 0.5
        for dtype, channels in [(d, c) for d in ("float32", "uint8") for c in (1, 3, 4)]:
            measured = times(function, target, dtype, channels, kernel=kernel)
            print(row(f"{name}, {dtype} x {channels}", measured))


if __name__ == "__main__":
    main()
