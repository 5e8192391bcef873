"""The cpu target against OpenCV, Halide, Numba, SciPy and NumPy.

    python -m benchmarks.cpu --report table.md --plot bars.png      # all
    python -m benchmarks.cpu --size 2048 --dtype uint8 sobel rotation       # some, only printed
    python -m benchmarks.cpu --scaling                        # one thread against all of them

Every contender writes into an existing array. Its result is checked against one float64 reference
before it is timed: those that fail are left out and named, those known to compute something else
are timed as "approximate" (with a *) and do not count as the best peer.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import kernels
from benchmarks.measure import Times, interleaved, plot, summary, table
from benchmarks.reference import check, reference

PEERS: Final = ("opencv", "with_halide", "with_numba", "scientific", "plain_numpy")
OURS, COPY = "PyGPU", "copy"
SIZES: Final = (512, 2048, 4096)
DTYPES: Final = ("float32", "uint8")
BAND: Final = 24  # rows that are checked at the top, in the middle and at the bottom
COMPUTING: Final = ("conv 9x9", "bilateral 5x5", "mandelbrot")
HERE: Final = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("kernels", nargs="*", metavar="kernel")
    parser.add_argument("--size", type=int, action="append", help="512, 2048 and 4096")
    parser.add_argument("--dtype", choices=DTYPES, action="append", help="both")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--report", type=Path, help="a file for the tables")
    parser.add_argument("--plot", type=Path, help="a picture file for the plot")
    parser.add_argument("--scaling", action="store_true", help="one thread against all of them")
    options = parser.parse_args()
    if options.scaling:
        print(scaling(options.kernels or COMPUTING, options.rounds))
        return
    peers, remarks = load_peers(options.peers.split(","))
    contenders = ", ".join([f"{peer.NAME} {peer.version()}" for peer in peers])
    parts = [
        f"{machine()}, {datetime.date.today()}\n\nPyGPU {_version()}, {contenders}\n\n"
        f"Milliseconds, medians of {options.rounds} interleaved runs (3 for what takes ten times "
        "as long as the quickest, 1 for a hundred times), into existing arrays. Contenders with a "
        "* compute something else, see the remarks; they do not count as the best peer."
    ]
    measured: dict[tuple[str, int], dict[str, Times]] = {}
    for dtype in options.dtype or DTYPES:
        for size in options.size or SIZES:
            rows = measured[dtype, size] = {}
            for kernel in options.kernels or kernels.KERNELS:
                if (kernel, dtype) != ("mandelbrot", "uint8"):
                    print(f"{dtype} {size} {kernel}", file=sys.stderr, flush=True)
                    rows[kernel] = measure(kernel, dtype, size, options.rounds, peers, remarks)
            names = [OURS, *[peer.NAME for peer in peers]]
            title = f"## {dtype}, {size} x {size}"
            parts.append(f"{title}\n\n{table(rows, names, COPY)}\n\n{summary(rows, names)}")
            print(f"{parts[-1]}\n", flush=True)
    parts.append("\n".join(["## Remarks", "", *[f"- {line}" for line in dict.fromkeys(remarks)]]))
    print(parts[-1])
    if options.report:
        options.report.write_text("\n\n".join(["# Benchmarks of the cpu target", *parts]) + "\n")
    if options.plot:
        plot(options.plot, measured, [OURS, *[peer.NAME for peer in peers]])


def load_peers(modules: list[str]) -> tuple[list[Any], list[str]]:
    """The peers that are installed, and a remark on each that is not."""
    peers, remarks = [], []
    for name in modules:
        try:
            peers.append(importlib.import_module(f"benchmarks.peers.{name}"))
        except ImportError as error:
            remarks.append(f"{name} is left out: {error}")
    return peers, remarks


def image(kernel: str, dtype: str, size: int) -> Any:
    """A random image for a kernel."""
    rng = np.random.default_rng()
    shape = (size, size, 4) if kernel == "hsv shift" else (size, size)
    if dtype == "uint8":
        return rng.integers(0, 256, shape, np.uint8)
    return rng.random(shape, np.float32)


@cache
def prepared(prepare: Callable[[], Any]) -> Any:
    """A contender, compiled once for all sizes."""
    return prepare()


def measure(
    kernel: str, dtype: str, size: int, rounds: int, peers: list[Any], remarks: list[str]
) -> Times:
    """Seconds by contender for one kernel; contenders that are wrong are left out."""
    im = image(kernel, dtype, size)
    bands = [(top, top + BAND) for top in (0, size // 2, size - BAND)]
    expected = [reference(kernel, im, *band) for band in bands]
    shape = (size, *expected[0].shape[1:])
    contenders, approximate = {}, set()
    candidates = [(OURS, kernels.KERNELS[kernel], False)]
    candidates += [
        (peer.NAME, peer.KERNELS[kernel, dtype], (kernel, dtype) in peer.APPROXIMATE)
        for peer in peers
        if (kernel, dtype) in peer.KERNELS
    ]
    for name, prepare, may_differ in candidates:
        run = prepared(prepare)
        out = np.full(shape, 7, np.int32 if kernel == "mandelbrot" else dtype)
        run(im, out)
        try:
            for (top, bottom), rows in zip(bands, expected, strict=True):
                check(kernel, out[top:bottom], rows)
        except AssertionError as error:
            if name == OURS:
                raise
            remarks.append(f"{name}, {dtype}: {error}")
            if not may_differ:
                continue
            approximate.add(name)
        contenders[name] = lambda run=run, out=out: run(im, out)
    target = np.empty_like(im)
    contenders[COPY] = lambda: _COPY(im, out=target)
    return Times(interleaved(contenders, rounds), frozenset(approximate))


def _copier() -> Any:
    """The image once read and once written, by as many threads."""
    import pygpu
    from pygpu import Image, Position

    def same(im: Image, p: Position):
        return im(p)

    return pygpu.compile(same, target="cpu")


_COPY: Final = _copier()

_ALONE: Final = """
from benchmarks import cpu, kernels
from benchmarks.measure import interleaved
im = cpu.image({kernel!r}, "float32", 2048)
out = cpu.np.empty(im.shape, "int32" if {kernel!r} == "mandelbrot" else "float32")
run = kernels.KERNELS[{kernel!r}]()
print(interleaved({{"": lambda: run(im, out)}}, {rounds})[""])
"""


def scaling(names: list[str], rounds: int) -> str:
    """A table of seconds with one thread and with all, each in processes of its own, in turns."""
    lines = ["| kernel | one thread | all threads | faster |", "|-|-|-|-|"]
    for kernel in names:
        text, best = _ALONE.format(kernel=kernel, rounds=rounds), {}
        for threads in ("1", "") * 3:
            command = [sys.executable, "-c", text]
            done = subprocess.run(
                command,
                env={**os.environ, "PYGPU_THREADS": threads},
                capture_output=True,
                text=True,
                check=True,
            )
            best[threads] = min(float(done.stdout), best.get(threads, 1e9))
        one, several = best["1"], best[""]
        lines.append(f"| {kernel} | {one * 1e3:.2f} | {several * 1e3:.2f} | {one / several:.2f} |")
    return "\n".join(lines)


def machine() -> str:
    """The processor, the floats that it computes at once, and its threads."""
    from pygpu.devices.cpu import chunks
    from pygpu.devices.cpu.threads import thread_count

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    lanes = chunks.host().lanes  # 16 are AVX-512's, 8 AVX2's
    return f"{name}, {lanes} lanes, {thread_count()} threads, Python {platform.python_version()}"


def _version() -> str:
    import pygpu

    return str(pygpu.__version__)


if __name__ == "__main__":
    main()
