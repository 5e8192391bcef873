"""Arrays as wholes on `cpu`: sums, histograms, groups, scans, sorts, sparse products and volumes,
against NumPy, SciPy, Numba, scikit-learn and Halide.

    python -m benchmarks.arrays --report benchmarks/RESULTS_ARRAYS.md
    python -m benchmarks.arrays "sort 16M" --rounds 3

Every contender's result is compared with that of the first peer before it is timed. Reading,
writing and making results count, for that is what a user waits for.
"""

from __future__ import annotations

import argparse
import datetime
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy.ndimage
import scipy.sparse

import pygpu
from benchmarks import volumes
from benchmarks.cpu import machine
from benchmarks.measure import Times, interleaved, table
from benchmarks.peers import whole
from pygpu import Position, Signal, Vec3, Vec4
from pygpu.core import sampler
from pygpu.core.storage import Storage
from pygpu.execution.arguments.results import ImageMaker

CENTRES: Final = np.random.default_rng(1).random((8, 3))
SIDE: Final = 256  # of volumes
FEW: Final = 8  # SciPy filters one plane in so many: it takes minutes for all

# Tables: what they show, contenders, and what bounds them.
TABLES: Final = {
    "Folds": (("PyGPU", "NumPy", "Numba"), "read"),
    "Histograms and groups": (("PyGPU", "NumPy", "Numba", "scikit-learn"), "copy"),
    "Scans, sorts, masks and places": (("PyGPU", "NumPy", "Numba"), "copy"),
    "Sparse products and volumes": (("PyGPU", "SciPy", "Numba", "Halide"), "copy"),
}


@dataclass(frozen=True)
class Row:
    """What is timed: an input, and contenders that are given it. `close`: how near results are.
    `parts`: contenders that are given one in so many of the first axis, and as much less time."""

    table: str
    make: Callable[[np.random.Generator], Any]
    contenders: Mapping[str, Callable[[Any], Any]]
    close: float = 1e-5
    parts: Mapping[str, int] = field(default_factory=dict)


def floats(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.random(shape, np.float32)


def numbers(*shape: int) -> Callable[[np.random.Generator], Any]:
    return lambda generator: generator.integers(0, 256, shape, np.uint8)


# ---------------------------------------------------------------- ours


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


@pygpu.compile(target="cpu")
def product(values: Signal, columns: Signal, starts: Signal, x: Signal, row: Position):
    total = 0.0
    for k in range(starts(row), starts(row + 1)):
        total += values(k) * x(columns(k))
    return total


def matrix(generator: np.random.Generator) -> Any:
    """A million rows of some ten elements, and a vector."""
    rows = 1 << 20
    starts = np.concatenate([[0], np.cumsum(generator.integers(5, 16, rows))]).astype(np.int32)
    columns = generator.integers(0, rows, starts[-1]).astype(np.int32)
    values = generator.random(starts[-1], np.float32)
    return values, columns, starts, generator.random(rows, np.float32)


def histogram_by_numpy(a: Any) -> Any:
    return np.bincount(a.reshape(-1), minlength=256)


def scattered(a: Any) -> Any:
    return pygpu.scatter(a, lambda v, i: int(v * 65536), (65536,))


def scattered_by_numpy(a: Any) -> Any:
    return np.bincount((a * np.float32(65536)).astype(np.int32), a, 65536)


# ---------------------------------------------------------------- rows


def rows() -> dict[str, Row]:
    """All that is timed."""
    return _folds() | _groups() | _lines() | _others()


def _peers(numba: Any, name: str, ours: Any, numpy: Any) -> dict[str, Any]:
    return {"PyGPU": ours, "NumPy": numpy} | ({"Numba": numba[name]} if name in numba else {})


def _folds() -> dict[str, Row]:
    numba, found = whole.numba(), {}
    for side in (1024, 4096):
        size = floats(side, side)
        for name, ours, peer in (
            ("sum", lambda a: _seen(a).sum(), np.sum),
            ("mean", lambda a: _seen(a).mean(), np.mean),
            ("max", lambda a: _seen(a).max(), np.max),
        ):
            found[f"{name} {side} x {side}"] = Row("Folds", size, _peers(numba, name, ours, peer))
    lambdas = _peers(numba, "sum", lambda a: pygpu.reduce(lambda x, y: x + y, a), np.sum)
    found["sum by a lambda, 4096 x 4096"] = Row("Folds", floats(4096, 4096), lambdas)
    return found


def _groups() -> dict[str, Row]:
    numba, title = whole.numba(), "Histograms and groups"
    centres = np.asarray(CENTRES, np.float32)
    peers: dict[str, Any] = {"NumPy": clusters_by_numpy}
    if "clusters" in numba:
        peers["Numba"] = lambda a: numba["clusters"](a, centres)
    if learned := whole.scikit_learn(CENTRES):
        peers["scikit-learn"] = learned["clusters"]
    points = floats(1024, 1024, 3)
    return {
        "histogram of 1M bytes": Row(
            title,
            numbers(1024, 1024),
            _peers(numba, "counts", lambda a: pygpu.histogram(a)[0], histogram_by_numpy),
        ),
        "histogram of 1M floats": Row(
            title,
            floats(1024, 1024),
            {
                "PyGPU": lambda a: pygpu.histogram(a)[0],
                "NumPy": lambda a: np.histogram(a, 256, (0, 1))[0],
            },
        ),
        "k-means, 1M, K = 8": Row(title, points, {"PyGPU": clusters, **peers}, 1e-3),
        "k-means by pairs": Row(title, points, {"PyGPU": clusters_by_pairs, **peers}, 1e-3),
    }


def _lines() -> dict[str, Row]:
    title, found = "Scans, sorts, masks and places", {}
    found["scan 16M"] = Row(
        title,
        floats(1 << 24),
        _peers(whole.numba(), "scan", lambda a: pygpu.scan(np.add, a), np.cumsum),
        2e-2,  # NumPy and Numba sum one after the other
    )
    for name, size in (("262,144", 1 << 18), ("16M", 1 << 24)):
        peers = {"PyGPU": pygpu.sort, "NumPy": np.sort}
        found[f"sort {name}"] = Row(title, floats(size), peers)
    for name, ours, peer in (
        ("argsort 1M", pygpu.argsort, lambda a: np.argsort(a, kind="stable")),
        ("compress 16M", lambda a: pygpu.compress(a > 0.5, a), lambda a: a[a > 0.5]),
        ("scatter 1M to 65,536", scattered, scattered_by_numpy),
    ):
        size = 1 << (24 if "16M" in name else 20)
        found[name] = Row(title, floats(size), {"PyGPU": ours, "NumPy": peer}, 1e-4)
    for name, kind, shape in (
        ("median of 20 frames", pygpu.Volume, (20, 256, 256)),
        ("medians of 1024 columns", pygpu.Image, (1024, 1024)),
    ):
        peers = {
            "PyGPU": lambda a, kind=kind: np.median(kind(a), axis=0),
            "NumPy": lambda a: np.median(a, axis=0),
        }
        found[name] = Row(title, floats(*shape), peers)
    return found


def _others() -> dict[str, Row]:
    title, numba, halide = "Sparse products and volumes", whole.numba(), whole.halide()

    def by_scipy(given: Any) -> Any:
        values, columns, starts, x = given
        return scipy.sparse.csr_array((values, columns, starts)) @ x

    products = {
        "PyGPU": lambda given: product(*given, shape=given[3].shape),
        "SciPy": by_scipy,
        "Numba": lambda given: numba["product"](*given),
    }
    found = {"CSR times vector, 1M rows": Row(title, matrix, products, 1e-4)}
    for name, ours, scipys in (
        ("laplacian", volumes.laplacian, lambda a: scipy.ndimage.laplace(a, mode="nearest")),
        ("median", volumes.median, lambda a: scipy.ndimage.median_filter(a, 3, mode="nearest")),
    ):
        peers = {"PyGPU": ours, "SciPy": scipys}
        peers |= {n: run[name] for n, run in (("Numba", numba), ("Halide", halide)) if run}
        made, parts = floats(SIDE, SIDE, SIDE), {"SciPy": FEW}
        found[f"{name} of {SIDE}**3"] = Row(title, made, peers, 1e-4, parts)
    return found


def _seen(array: Any) -> Any:
    """An image of an array, which is not copied."""
    storage = Storage.of(array)
    return ImageMaker.make(storage, sampler.default(storage.dtype, storage.channels))


# ---------------------------------------------------------------- measuring


def measure(row: Row, rounds: int) -> Times:
    """Seconds by contender; AssertionError for one that is wrong."""
    given = row.make(np.random.default_rng(0))
    names, limit = TABLES[row.table]
    parts = {n: given[: len(given) // share] for n, share in row.parts.items()}
    judge = next(name for name in names[1:] if name in row.contenders)
    expected = np.asarray(row.contenders[judge](parts.get(judge, given)), np.float64)
    if judge in parts:  # its last plane has no neighbour
        expected = expected[:-1]
    for name, run in row.contenders.items():
        found = np.asarray(run(parts.get(name, given)))
        found = found[: len(expected)] if judge in parts else found
        np.testing.assert_allclose(found, expected, row.close, row.close, err_msg=name)
    contenders = {
        name: lambda run=run, name=name: run(parts.get(name, given))
        for name, run in row.contenders.items()
    }
    arrays = given if isinstance(given, tuple) else (given,)
    contenders[limit] = _limit(limit, arrays)
    seconds = interleaved(contenders, rounds)
    return Times({name: t * row.parts.get(name, 1) for name, t in seconds.items()})


def _limit(limit: str, arrays: tuple[Any, ...]) -> Callable[[], object]:
    """What is bounded by memory: reading arrays, by Numba if it is there, or copying them."""
    if limit == "read":
        flat = arrays[0].reshape(-1).view(np.int64)
        read = whole.numba().get("read", np.sum)
        return lambda: read(flat)
    targets = [np.empty_like(array) for array in arrays]

    def copy() -> None:
        for target, array in zip(targets, arrays, strict=True):
            np.copyto(target, array)

    return copy


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="row")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", type=Path, help="a file of seconds, which rows are added to")
    parser.add_argument("--report", type=Path, help="a file for the tables")
    options = parser.parse_args()
    every = rows()
    seconds = json.loads(options.json.read_text()) if options.json and options.json.exists() else {}
    for name in options.rows or every:
        seconds[name] = dict(measure(every[name], options.rounds).seconds)
        print(f"{name}: { {k: round(v * 1e3, 3) for k, v in seconds[name].items()} }", flush=True)
    if options.json:
        options.json.write_text(json.dumps(seconds))
    measured: dict[str, dict[str, Times]] = {}
    for name in filter(seconds.get, every):
        measured.setdefault(every[name].table, {})[name] = Times(seconds[name])
    text = (
        f"# Arrays as wholes, on `cpu`\n\n{machine()}, {datetime.date.today()}, NumPy "
        f"{np.__version__}\n\nMilliseconds, medians of {options.rounds} interleaved runs, results "
        "newly made. Reading and copying are of the input. SciPy's filters of volumes are timed on "
        f"one plane in {FEW}; scikit-learn's k-means is its iteration alone.\n"
    )
    for title in filter(measured.get, TABLES):
        text += f"\n## {title}\n\n{table(measured[title], *TABLES[title])}\n"
    print(text)
    if options.report:
        options.report.write_text(text)


if __name__ == "__main__":
    main()
