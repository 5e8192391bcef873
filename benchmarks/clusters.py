"""Dask arrays on a cluster of processes of this machine: PyGPU against SciPy's filters by
`map_overlap` and dask-image, the second worker's worth, the graph, and what chunks cost.

python -m benchmarks.clusters [--size 8192] [--chunk 2048] [--report benchmarks/RESULTS_CLUSTERS.md]
python -m benchmarks.clusters --only workers ...      # this part of the page alone, the rest stays

A worker is a process of one thread, ours included. The image is in the workers' memory before the
clock starts, and results are summed there, so that none travels.
"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster, wait
from dask_image import ndfilters
from scipy import ndimage

import pygpu
from pygpu import Image, Position

WEIGHTS = np.array([1, 4, 6, 4, 1], np.float32) / 16
REPEATS = 3
TURNS = 4  # of a cluster of one worker and one of two


@pygpu.compile
def sobel(im: Image, p: Position):
    gx = sum([k * (im(p + (1, d)) - im(p + (-1, d))) for d, k in ((-1, 1), (0, 2), (1, 1))])
    gy = sum([k * (im(p + (d, 1)) - im(p + (d, -1))) for d, k in ((-1, 1), (0, 2), (1, 1))])
    return np.sqrt(gx * gx + gy * gy)


@pygpu.compile
def gauss(im: Image, p: Position):
    return sum(
        [WEIGHTS[i] * WEIGHTS[j] * im(p + (j - 2, i - 2)) for i in range(5) for j in range(5)]
    )


@pygpu.compile
def scale(im: Image, p: Position):
    return 2 * im(p) + 1


def scipy_sobel(block: np.ndarray) -> np.ndarray:
    gx, gy = (ndimage.sobel(block, axis, mode="nearest") for axis in (1, 0))
    return np.sqrt(gx * gx + gy * gy)


def scipy_gauss(block: np.ndarray) -> np.ndarray:
    rows = ndimage.correlate1d(block, WEIGHTS, 0, mode="nearest")
    return ndimage.correlate1d(rows, WEIGHTS, 1, mode="nearest")


def overlapped(function: Callable[..., np.ndarray], depth: int) -> Callable[[da.Array], da.Array]:
    return lambda array: array.map_overlap(function, depth=depth, boundary="nearest")


def dask_image_sobel(array: da.Array) -> da.Array:
    gx, gy = (ndfilters.sobel(array, axis, mode="nearest") for axis in (1, 0))
    return np.sqrt(gx * gx + gy * gy)


def dask_image_gauss(array: da.Array) -> da.Array:
    return ndfilters.convolve(array, np.outer(WEIGHTS, WEIGHTS), mode="nearest")


FUNCTIONS: dict[str, tuple[Callable[..., da.Array], dict[str, Callable[[da.Array], da.Array]]]] = {
    "Sobel": (sobel, {"SciPy": overlapped(scipy_sobel, 1), "dask-image": dask_image_sobel}),
    "Gauss 5 x 5": (gauss, {"SciPy": overlapped(scipy_gauss, 2), "dask-image": dask_image_gauss}),
    "scale": (scale, {"NumPy": lambda array: 2 * array + 1}),
}


def image(size: int, chunk: int) -> da.Array:
    rng = da.random.default_rng(0)
    return rng.random((size, size), dtype=np.float32, chunks=chunk)


def seconds(client: Client, function: Callable[[da.Array], da.Array], array: da.Array) -> float:
    """The median time until all chunks of a result are in the workers' memory; the first time, in
    which functions are compiled, does not count."""
    taken = []
    for _ in range(REPEATS + 1):
        begun = time.perf_counter()
        wait(made := function(array).persist())
        taken.append(time.perf_counter() - begun)
        del made
        client.run(lambda: None)  # what was freed is gone
    return statistics.median(taken[1:])


def against_peers(client: Client, size: int, chunk: int) -> list[str]:
    array = image(size, chunk).persist()
    wait(array)
    lines = ["| function | PyGPU | others |", "| --- | --- | --- |"]
    for name, (ours, theirs) in FUNCTIONS.items():
        want = ours(array)[:64, :64].compute()
        for function in theirs.values():
            np.testing.assert_allclose(
                function(array)[:64, :64].compute(), want, rtol=1e-3, atol=1e-4
            )
        own = seconds(client, ours, array)
        others = []
        for peer, function in theirs.items():
            took = seconds(client, function, array)
            others.append(f"{peer} {1e3 * took:.0f} ms, {took / own:.1f} times")
        lines.append(f"| {name} | {1e3 * own:.0f} ms | {'; '.join(others)} |")
    return lines


def second_worker(size: int, chunk: int) -> str:
    """What a second worker brings for a function that computes, by Dask and without it: a cluster
    of one worker and one of two by turns."""
    taken: dict[str, dict[int, list[float]]] = {}
    with cluster(1) as one, cluster(2) as two:
        clients = {1: one, 2: two}
        for side in (chunk, 2 * chunk):
            arrays = {n: client.persist(image(size, side)) for n, client in clients.items()}
            for turn in range(TURNS + 1):
                for workers, client in clients.items():
                    begun = time.perf_counter()
                    client.compute(rounds(arrays[workers]).sum()).result()
                    took = time.perf_counter() - begun
                    here = taken.setdefault(f"in chunks of {side}", {}).setdefault(workers, [])
                    here += [took] if turn else []  # the first compiles
            del arrays
        for turn in range(TURNS + 1):
            for workers, client in clients.items():
                took = max(client.run(plain, size**2 // workers, chunk).values())
                here = taken.setdefault("without Dask", {}).setdefault(workers, [])
                here += [took] if turn else []
    lines = ["| 20 rounds of Sobel | one worker | two | efficiency |", "| --- | --- | --- | --- |"]
    for name, each in taken.items():
        alone, both = statistics.median(each[1]), statistics.median(each[2])
        lines.append(f"| {name} | {alone:.2f} s | {both:.2f} s | {alone / both / 2:.2f} |")
    return "\n".join(lines)


def plain(texels: int, chunk: int) -> float:
    """How long a worker takes for the rounds of so many texels, of an array in its memory again
    and again: the same work without Dask, edges and messages."""
    array = np.random.default_rng(0).random((chunk, chunk), np.float32)
    begun = time.perf_counter()
    for _ in range(texels // chunk**2):
        sobel.iterate(array, 20).sum()
    return time.perf_counter() - begun


def rounds(array: da.Array) -> da.Array:
    return sobel.iterate(array, 20)


def graph(size: int = 32_768, chunk: int = 512) -> str:
    """The time to build a graph, a chunk."""
    array = da.zeros((size, size), chunks=chunk, dtype=np.float32)
    sobel(array)
    begun = time.perf_counter()
    result = sobel(array)
    took = time.perf_counter() - begun
    chunks = result.npartitions
    return f"The graph of {chunks} chunks: {1e3 * took / chunks:.2f} ms a chunk."


def overhead() -> str:
    """Chunks against one whole call in memory, on one core and on all."""
    lines = []
    for threads in (1, os.cpu_count() or 1):
        environment = {**os.environ, "PYGPU_THREADS": str(threads)}
        command = [sys.executable, "-m", "benchmarks.clusters", "--only", "chunks"]
        made = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        lines.append(f"{threads} thread{'s' if threads > 1 else ''}: {made.stdout.strip()}")
    return "\n".join([f"- {line}" for line in lines])


def overhead_here(chunk: int = 4096) -> str:
    """The same, on as many threads as this process has. Each way in turns of several calls: both
    use memory again that they have let go, and would lose it to each other."""
    array = np.random.default_rng(0).random((2 * chunk, 2 * chunk), np.float32)
    chunked = da.from_array(array, chunks=chunk)
    ways: dict[Callable[[], object], list[float]] = {
        lambda: gauss(array): [],
        lambda: gauss(chunked).persist(scheduler="single-threaded"): [],
    }
    for way, taken in [*ways.items()] * REPEATS:
        for repeat in range(8):
            begun = time.perf_counter()
            way()
            if repeat > 2:
                taken.append(time.perf_counter() - begun)
    whole, chunks = (statistics.median(taken) for taken in ways.values())
    return (
        f"Gauss 5 x 5 of {2 * chunk} x {2 * chunk} in chunks of {chunk} {1e3 * chunks:.0f} ms, "
        f"the whole at once {1e3 * whole:.0f} ms: {chunks / whole:.2f}"
    )


def cluster(workers: int) -> Client:
    local = LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None)
    return Client(local)


def bytes_moved(chunk: int = 2048, count: int = 8) -> str:
    """What memory allows: a scale reads and writes each texel once, NumPy's two passes do it twice,
    and what is written is read before by all but stores that go past the caches."""
    source = [np.full((chunk, chunk), 1.5, np.float32) for _ in range(count)]
    made, kept = [np.zeros_like(each) for each in source], {}
    ways = {
        "a copy by NumPy": lambda k: np.copyto(made[k], source[k]),
        "a scale by PyGPU": lambda k: kept.update({k: scale(source[k])}),
        "`np.multiply` and `np.add` into arrays that are there": lambda k: np.add(
            np.multiply(source[k], 2, out=made[k]), 1, out=made[k]
        ),
        "`2 * a + 1` by NumPy": lambda k: kept.update({k: 2 * source[k] + 1}),
    }
    lines = []
    for name, way in ways.items():
        taken = []
        for repeat in range(6):
            for k in range(count):
                begun = time.perf_counter()
                way(k)
                if repeat:
                    taken.append(time.perf_counter() - begun)
        took = statistics.median(taken)
        once = 2 * source[0].nbytes / took / 1e9
        lines.append(f"- {name}: {1e3 * took:.2f} ms, {once:.1f} GB/s of texels in and out")
    return "\n".join(lines)


def peers(size: int, chunk: int) -> str:
    with cluster(2) as client:
        return "\n".join(against_peers(client, size, chunk))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.clusters", description=__doc__)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--chunk", type=int, default=2048)
    parser.add_argument("--only", choices=[*PARTS, "chunks"], help="a part of the page")
    parser.add_argument("--report", type=Path)
    given = parser.parse_args()
    if given.only == "chunks":
        print(overhead_here())
        return
    parts = sections(given.report.read_text()) if given.report and given.only else {}
    for name in [given.only] if given.only else PARTS:
        title, made = PARTS[name]
        parts[title] = made(given.size, given.chunk)
        print(f"## {title}\n\n{parts[title]}\n", flush=True)
    if given.report:
        head = (
            f"# Clusters\n\nfloat32, {given.size} x {given.size} in chunks of {given.chunk}, "
            f"workers of one thread each; Python {sys.version.split()[0]}, {os.cpu_count()} cores."
            "\n`python -m benchmarks.clusters` writes this page.\n"
        )
        order = [title for title, _ in PARTS.values() if title in parts]
        texts = [f"## {title}\n\n{parts[title]}\n" for title in order]
        given.report.write_text("\n".join([head, *texts]))


def sections(page: str) -> dict[str, str]:
    """The parts of a page by their titles."""
    return {
        title: text.strip()
        for title, text in re.findall(
            r"^## (.*?)\n(.*?)(?=^## |\Z)", page, re.MULTILINE | re.DOTALL
        )
    }


PARTS: dict[str, tuple[str, Callable[[int, int], str]]] = {
    "peers": ("Two workers, against others", peers),
    "memory": ("A chunk on one core", lambda size, chunk: bytes_moved(chunk)),
    "graph": ("Building a graph", lambda size, chunk: graph()),
    "overhead": ("Chunks against the whole", lambda size, chunk: overhead()),
    "workers": ("A second worker", second_worker),
}


if __name__ == "__main__":
    main()
