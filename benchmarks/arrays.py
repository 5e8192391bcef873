"""Arrays as wholes on `cpu`: sums, histograms, groups, scans and sorts, against NumPy and Numba.

    python -m benchmarks.arrays --report benchmarks/RESULTS_ARRAYS.md
    python -m benchmarks.arrays "sort 16M" --rounds 3

Every contender's result is compared with NumPy's in float64 before it is timed. Reading, writing
and making results count, for that is what a user waits for; the copy is one of the input.
"""

from __future__ import annotations

import argparse
import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np

import pygpu
from benchmarks.cpu import machine
from benchmarks.measure import Times, interleaved, table
from pygpu import Vec3, Vec4
from pygpu.core import sampler
from pygpu.core.storage import Storage
from pygpu.execution.arguments.results import ImageMaker

try:
    from numba import njit, prange
except ImportError:  # a table without Numba is one, too
    njit = prange = None

NAMES: Final = ("PyGPU", "NumPy", "Numba")
CENTRES: Final = np.random.default_rng(1).random((8, 3))


@dataclass(frozen=True)
class Row:
    """What is timed: an input, and contenders that are given it. `close`: how near results are."""

    make: Callable[[np.random.Generator], Any]
    contenders: Mapping[str, Callable[[Any], Any]]
    close: float = 1e-5


def floats(count: int) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.random(count, np.float32)


def pixels(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.random(shape, np.float32)


def numbers(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.integers(0, 256, shape, np.uint8)


# ---------------------------------------------------------------- k-means


def nearest(v: Any, centres: Any) -> Any:
    """The number of the nearest centre."""
    best, least = 0, 1e9
    for k, centre in enumerate(centres):
        d = v - centre
        far = pygpu.dot(d, d)
        best, least = (k, far) if far < least else (best, least)
    return best


def clusters(image: Any) -> Any:
    """The sums of red, green and blue, and the number of pixels, of each cluster."""
    return pygpu.reduce(
        np.add,
        image,
        map=lambda v: Vec4(v, 1),
        by=nearest,
        groups=len(CENTRES),
        centres=[Vec3(*c) for c in CENTRES],
    )


def clusters_by_pairs(image: Any) -> Any:
    """The same by a function of two values."""
    sums, counts = pygpu.reduce(
        lambda a, b: (a[0] + b[0], a[1] + b[1]),
        image,
        map=lambda v: (v, 1),
        by=nearest,
        groups=len(CENTRES),
        initial=((0, 0, 0), 0),
        centres=[Vec3(*c) for c in CENTRES],
    )
    return np.column_stack([sums, counts])


def clusters_by_numpy(image: Any) -> Any:
    flat = image.reshape(-1, 3)
    far = np.stack([((flat - c) ** 2).sum(1) for c in CENTRES.astype(np.float32)])
    number = far.argmin(0)
    sums = [np.bincount(number, flat[:, c], len(CENTRES)) for c in range(3)]
    return np.stack([*sums, np.bincount(number, minlength=len(CENTRES))], 1)


# ---------------------------------------------------------------- Numba


def by_numba() -> dict[str, Callable[[Any], Any]]:
    """What is written for Numba, all cores where it has a way for that."""
    if njit is None:
        return {}

    @njit(parallel=True, fastmath=True, cache=True)
    def total(a: Any) -> Any:
        flat = a.reshape(-1)
        result = 0.0
        for i in prange(flat.size):
            result += flat[i]
        return result

    @njit(parallel=True, fastmath=True, cache=True)
    def greatest(a: Any) -> Any:
        flat = a.reshape(-1)
        result = flat[0]
        for i in prange(flat.size):
            result = max(result, flat[i])
        return result

    @njit(cache=True)
    def counts(a: Any) -> Any:
        result = np.zeros(256, np.int64)
        for value in a.reshape(-1):
            result[value] += 1
        return result

    @njit(cache=True)
    def running(a: Any) -> Any:
        result = np.empty_like(a)
        sum = np.float32(0)
        for i in range(a.size):
            sum += a[i]
            result[i] = sum
        return result

    return {"sum": total, "max": greatest, "counts": counts, "scan": running}


def rows() -> dict[str, Row]:
    """All that is timed."""
    numba = by_numba()

    def with_numba(name: str, ours: Any, numpy: Any) -> dict[str, Any]:
        return {"PyGPU": ours, "NumPy": numpy} | ({"Numba": numba[name]} if numba else {})

    return {
        "sum 4096 x 4096": Row(
            pixels(4096, 4096), with_numba("sum", lambda a: _seen(a).sum(), np.sum)
        ),
        "max 4096 x 4096": Row(
            pixels(4096, 4096), with_numba("max", lambda a: _seen(a).max(), np.max)
        ),
        "sum by a lambda": Row(
            pixels(4096, 4096),
            with_numba("sum", lambda a: pygpu.reduce(lambda x, y: x + y, a), np.sum),
        ),
        "histogram 1M bytes": Row(
            numbers(1024, 1024),
            with_numba(
                "counts",
                lambda a: pygpu.histogram(a)[0],
                lambda a: np.bincount(a.reshape(-1), minlength=256),
            ),
        ),
        "histogram 1M floats": Row(
            pixels(1024, 1024),
            {
                "PyGPU": lambda a: pygpu.histogram(a)[0],
                "NumPy": lambda a: np.histogram(a, 256, (0, 1))[0],
            },
        ),
        "k-means, 1M, K = 8": Row(
            pixels(1024, 1024, 3), {"PyGPU": clusters, "NumPy": clusters_by_numpy}, 1e-3
        ),
        "k-means by pairs": Row(
            pixels(1024, 1024, 3), {"PyGPU": clusters_by_pairs, "NumPy": clusters_by_numpy}, 1e-3
        ),
        "scan 16M": Row(
            floats(1 << 24),
            with_numba("scan", lambda a: pygpu.scan(np.add, a), np.cumsum),
            2e-2,  # NumPy and Numba sum one after the other
        ),
        "sort 262,144": Row(floats(1 << 18), {"PyGPU": pygpu.sort, "NumPy": np.sort}),
        "sort 16M": Row(floats(1 << 24), {"PyGPU": pygpu.sort, "NumPy": np.sort}),
        "argsort 1M": Row(
            floats(1 << 20),
            {"PyGPU": pygpu.argsort, "NumPy": lambda a: np.argsort(a, kind="stable")},
        ),
        "compress 16M": Row(
            floats(1 << 24),
            {"PyGPU": lambda a: pygpu.compress(a > 0.5, a), "NumPy": lambda a: a[a > 0.5]},
        ),
    }


def _seen(array: Any) -> Any:
    """An image of an array, which is not copied."""
    storage = Storage.of(array)
    return ImageMaker.make(storage, sampler.default(storage.dtype, storage.channels))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="row")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--report", type=Path, help="a file for the table")
    options = parser.parse_args()
    every, measured = rows(), {}
    for name in options.rows or every:
        measured[name] = measure(every[name], options.rounds)
        print(f"{name}: { {k: round(v * 1e3, 3) for k, v in measured[name].seconds.items()} }")
    text = (
        f"# Arrays as wholes, on `cpu`\n\n{machine()}, {datetime.date.today()}, NumPy "
        f"{np.__version__}\n\nMilliseconds, medians of {options.rounds} interleaved runs. The "
        f"copy is one of the input.\n\n{table(measured, NAMES, 'copy')}\n"
    )
    print(text)
    if options.report:
        options.report.write_text(text)


def measure(row: Row, rounds: int) -> Times:
    """Seconds by contender; AssertionError for one that is wrong."""
    given = row.make(np.random.default_rng(0))
    expected = np.asarray(row.contenders["NumPy"](given), np.float64)
    for name, run in row.contenders.items():
        np.testing.assert_allclose(run(given), expected, row.close, row.close, err_msg=name)
    target = np.empty_like(given)
    contenders = {name: lambda run=run: run(given) for name, run in row.contenders.items()}
    contenders["copy"] = lambda: np.copyto(target, given)
    return Times(interleaved(contenders, rounds))


if __name__ == "__main__":
    main()
