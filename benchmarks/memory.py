"""Memory over many calls and many specialisations, which are to leave none behind.

python -m benchmarks.memory cpu [CALLS SPECIALISATIONS]
"""

import gc
import sys
import time
from pathlib import Path

import numpy as np

import pygpu
from pygpu import Float, Image, Position
from pygpu.execution.programs.specialise import LIMIT

MIB = 2**20


def resident() -> float:
    """The memory of this process that is in use, in MiB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / MIB


def calls(target: str, count: int) -> None:
    """Call with arrays and images, by turns; print what it took."""

    @pygpu.compile(target=target)
    def scaled(im: Image, p: Position, gain: Float = 1.0):
        return gain * im(p)

    array = np.random.default_rng(0).random((16, 16), dtype=np.float32)
    image, out = Image(array), np.empty_like(array)

    def some(count: int) -> None:
        for i in range(count // 2):
            scaled(array, i * 0.5, out=out)
            scaled(image, i * 0.5)

    some(2000)
    before, started = resident(), time.perf_counter()
    for part in range(4):
        some(count // 4)
        gc.collect()
        print(f"{(part + 1) * (count // 4)} calls: {resident() - before:+.2f} MiB", flush=True)
    print(f"{(time.perf_counter() - started) / count * 1e6:.0f} us a call")


def specialisations(target: str, count: int) -> None:
    """Make one program after another, of which few are kept; print what it took."""

    @pygpu.compile(target=target)
    def weighted(im: Image, p: Position, k=0.0):
        return k * im(p) + sum([im(p + (i, 0)) for i in range(3)])

    array = np.random.default_rng(0).random((16, 16), dtype=np.float32)
    for k in range(LIMIT + 50):
        weighted(array, k=float(k))
    gc.collect()
    before, started = resident(), time.perf_counter()
    for k in range(count):
        weighted(array, k=k + 0.5)
        if k % 100 == 99:
            gc.collect()
            print(f"{k + 1} specialisations: {resident() - before:+.2f} MiB", flush=True)
    print(f"{(time.perf_counter() - started) / count * 1e3:.1f} ms each")


def main() -> None:
    target = sys.argv[1] if len(sys.argv) > 1 else "cpu"
    numbers = list(map(int, sys.argv[2:4])) if len(sys.argv) > 3 else [100_000, 500]
    print(f"{target}, {resident():.0f} MiB to begin with")
    calls(target, numbers[0])
    specialisations(target, numbers[1])


if __name__ == "__main__":
    main()
