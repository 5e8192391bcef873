"""The cpu target against OpenCV, SciPy, Numba, Halide and NumPy.

python -m benchmarks.cpu [--size 2048] [--rounds 11] [--plot file.svg] [kernel ...]

Every contender writes into an existing array, and its result is checked against one float64
reference before it is timed; those that fail, or do not have a kernel, are left out and named.
"""

from __future__ import annotations

import argparse
import importlib
import platform
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import kernels
from benchmarks.measure import interleaved, plot, table
from benchmarks.reference import check, reference

PEERS: Final = ("opencv", "with_halide", "with_numba", "scientific", "plain_numpy")
OURS, COPY = "PyGPU", "copy"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernels", nargs="*", default=list(kernels.KERNELS), metavar="kernel")
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--rounds", type=int, default=11)
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    peers, remarks = load_peers(options.peers.split(","))
    rows = {}
    for kernel in options.kernels:
        rows[kernel] = measure(kernel, options.size, options.rounds, peers, remarks)
    names = [peer.NAME for peer in peers]
    print(f"{options.size} x {options.size}, milliseconds, {machine()}")
    print(", ".join(f"{peer.NAME} {peer.version()}" for peer in peers))
    print()
    print(table(rows, OURS, names, COPY))
    print()
    print("\n".join(f"- {remark}" for remark in remarks))
    if options.plot:
        title = f"{options.size} x {options.size}, milliseconds (logarithmic)"
        plot(options.plot, title, rows, [OURS, *names])


def load_peers(modules: list[str]) -> tuple[list[Any], list[str]]:
    """The peers that are installed, and a remark on each that is not."""
    peers, remarks = [], []
    for name in modules:
        try:
            peers.append(importlib.import_module(f"benchmarks.peers.{name}"))
        except ImportError as error:
            remarks.append(f"{name} is left out: {error}")
    return peers, remarks


def measure(
    kernel: str, size: int, rounds: int, peers: list[Any], remarks: list[str]
) -> dict[str, float]:
    """Seconds by contender for one kernel; contenders that are wrong are left out."""
    rng = np.random.default_rng()
    shape = (size, size, 4) if kernel == "hsv shift" else (size, size)
    im = rng.random(shape, np.float32)
    expected = reference(kernel, im)
    contenders = {}
    candidates = [(OURS, kernels.KERNELS[kernel], ())]
    candidates += [
        (peer.NAME, peer.KERNELS[kernel], peer.APPROXIMATE)
        for peer in peers
        if kernel in peer.KERNELS
    ]
    for name, prepare, approximate in candidates:
        run = prepare()
        out = np.full(expected.shape, -7, np.int32 if kernel == "mandelbrot" else np.float32)
        run(im, out)
        try:
            check(kernel, out, expected)
        except AssertionError as error:
            remarks.append(f"{name}: {error}")
            if kernel not in approximate:
                if name == OURS:
                    raise
                continue
        contenders[name] = lambda run=run, out=out: run(im, out)
    target = np.empty_like(im)
    contenders[COPY] = lambda: kernels_copy(im, target)
    return interleaved(contenders, rounds)


def kernels_copy(im: Any, out: Any) -> None:
    """The image once read and once written, by as many threads."""
    _COPY(im, out)


def _copier() -> Any:
    import pygpu
    from pygpu import Image, Position

    def same(im: Image, p: Position):
        return im(p)

    compiled = pygpu.compile(same, target="cpu")
    return lambda im, out: compiled(im, out=out)


_COPY: Final = _copier()


def machine() -> str:
    """The processor and its threads."""
    from pygpu.devices.pool import thread_count

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                name = line.split(":", 1)[1].strip()
                break
    return f"{name}, {thread_count()} threads, Python {platform.python_version()}"


if __name__ == "__main__":
    main()
