"""Other libraries on arrays as wholes: loops for Numba, schedules for Halide, k-means of
scikit-learn.

Each function below gives contenders by name, none where its library is missing.

    numba()["sum"](array)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Run = Callable[..., Any]


def numba() -> dict[str, Run]:
    """Loops that Numba compiles, on all cores where it has a way for that."""
    try:
        from numba import njit, prange
    except ImportError:
        return {}
    fast = njit(parallel=True, fastmath=True, nogil=True)

    @fast
    def read(a: Any) -> Any:
        result = np.int64(0)
        for i in prange(a.size):
            result += a[i]
        return result

    @fast
    def total(a: Any) -> Any:
        flat = a.reshape(-1)
        result = 0.0
        for i in prange(flat.size):
            result += flat[i]
        return result

    @fast
    def greatest(a: Any) -> Any:
        flat = a.reshape(-1)
        result = flat[0]
        for i in prange(flat.size):
            result = max(result, flat[i])
        return result

    @njit(nogil=True)
    def counts(a: Any) -> Any:
        result = np.zeros(256, np.int64)
        for value in a.reshape(-1):
            result[value] += 1
        return result

    @njit(nogil=True)
    def running(a: Any) -> Any:
        result = np.empty_like(a)
        sum = np.float32(0)
        for i in range(a.size):
            sum += a[i]
            result[i] = sum
        return result

    @fast
    def clusters(a: Any, centres: Any) -> Any:
        flat = a.reshape(-1, 3)
        chunks = 64
        tables = np.zeros((chunks, len(centres), 4))
        length = (len(flat) + chunks - 1) // chunks
        for chunk in prange(chunks):
            for i in range(chunk * length, min(len(flat), (chunk + 1) * length)):
                x, y, z = flat[i, 0], flat[i, 1], flat[i, 2]
                best, least = 0, np.float32(1e9)
                for k in range(len(centres)):
                    dx, dy, dz = x - centres[k, 0], y - centres[k, 1], z - centres[k, 2]
                    far = dx * dx + dy * dy + dz * dz
                    if far < least:
                        best, least = k, far
                tables[chunk, best, 0] += x
                tables[chunk, best, 1] += y
                tables[chunk, best, 2] += z
                tables[chunk, best, 3] += 1
        return tables.sum(0)

    @fast
    def product(values: Any, columns: Any, starts: Any, x: Any) -> Any:
        result = np.empty(len(starts) - 1, np.float32)
        for row in prange(len(result)):
            sum = np.float32(0)
            for k in range(starts[row], starts[row + 1]):
                sum += values[k] * x[columns[k]]
            result[row] = sum
        return result

    @fast
    def laplacian(a: Any) -> Any:
        out = np.empty_like(a)
        depth, height, width = a.shape
        for z in prange(depth):
            before, after = a[max(z - 1, 0)], a[min(z + 1, depth - 1)]
            for y in range(height):
                up, down = a[z, max(y - 1, 0)], a[z, min(y + 1, height - 1)]
                row, far, near = a[z, y], before[y], after[y]
                for x in range(1, width - 1):
                    around = row[x - 1] + row[x + 1] + up[x] + down[x] + far[x] + near[x]
                    out[z, y, x] = around - 6 * row[x]
                for x in (0, width - 1):
                    around = row[max(x - 1, 0)] + row[min(x + 1, width - 1)]
                    out[z, y, x] = around + up[x] + down[x] + far[x] + near[x] - 6 * row[x]
        return out

    names: dict[str, Any] = {"njit": fast, "np": np, "prange": prange}
    exec(_median_source(), names)
    return {
        "read": read,
        "sum": total,
        "max": greatest,
        "counts": counts,
        "scan": running,
        "clusters": clusters,
        "product": product,
        "laplacian": laplacian,
        "median": names["median"],
    }


def _median_source() -> str:
    """A loop that finds medians of 3 x 3 x 3 by a network of minima and maxima, edges clamped."""
    lines = []

    def pair(a: str, b: str) -> tuple[str, str]:
        name = f"t{len(lines)}"
        lines.append(f"{name} = min({a}, {b}); {name}_ = max({a}, {b})")
        return name, name + "_"

    taps = [
        f"r{z}{y}[{x}]" for z in range(3) for y in range(3) for x in ("max(x - 1, 0)", "x", "right")
    ]
    result = median_of(taps, pair)
    rows = [
        f"r{z}{y} = a[min(max(z + {z - 1}, 0), depth - 1), min(max(y + {y - 1}, 0), height - 1)]"
        for z in range(3)
        for y in range(3)
    ]
    body = [
        "for y in range(height):",
        *["    " + row for row in rows],
        "    for x in range(width):",
        "        right = min(x + 1, width - 1)",
        *["        " + line for line in lines],
        f"        out[z, y, x] = {result}",
    ]
    return "\n".join(
        [
            "@njit",
            "def median(a):",
            "    out = np.empty_like(a)",
            "    depth, height, width = a.shape",
            "    for z in prange(depth):",
            *["        " + line for line in body],
            "    return out",
        ]
    )


def median_of(values: list[Any], pair: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """The median of an odd number of values by exchanges: of a few more than half of them neither
    the least nor the greatest can be it; another value takes their place."""
    few = len(values) // 2 + 2
    kept, rest = list(values[:few]), list(values[few:])
    while len(kept) > 1:
        for i in range(1, len(kept)):
            kept[0], kept[i] = pair(kept[0], kept[i])
        for i in range(1, len(kept) - 1):
            kept[i], kept[-1] = pair(kept[i], kept[-1])
        kept = kept[1:-1] + rest[:1]
        rest = rest[1:]
    return kept[0]


def halide() -> dict[str, Run]:
    """Filters of volumes, planes in parallel and vectors along x."""
    try:
        import halide as hl
    except ImportError:
        return {}
    x, y, z = hl.Var("x"), hl.Var("y"), hl.Var("z")

    def made(make: Callable[[Any], Any]) -> Run:
        source = hl.ImageParam(hl.Float(32), 3)
        im = hl.BoundaryConditions.repeat_edge(source)
        out = hl.Func("out")
        out[x, y, z] = make(im)
        out.parallel(z).vectorize(x, 16, hl.TailStrategy.GuardWithIf)
        out.compile_jit()

        def run(a: Any) -> Any:
            source.set(hl.Buffer(a))
            result = np.empty_like(a)
            out.realize(hl.Buffer(result))
            return result

        return run

    def laplacian(im: Any) -> Any:
        around = im[x - 1, y, z] + im[x + 1, y, z] + im[x, y - 1, z] + im[x, y + 1, z]
        return around + im[x, y, z - 1] + im[x, y, z + 1] - hl.f32(6) * im[x, y, z]

    def median(im: Any) -> Any:
        near = (-1, 0, 1)
        taps = [im[x + i, y + j, z + k] for k in near for j in near for i in near]
        return median_of(taps, lambda a, b: (hl.min(a, b), hl.max(a, b)))

    return {"laplacian": made(laplacian), "median": made(median)}


def scikit_learn(centres: Any) -> dict[str, Run]:
    """An iteration of its k-means by its own loop, without what `fit` does around it."""
    try:
        from sklearn.cluster._k_means_lloyd import lloyd_iter_chunked_dense
        from threadpoolctl import threadpool_limits
    except ImportError:
        return {}
    import os

    count, start = len(centres), np.asarray(centres, np.float32)

    def clusters(a: Any) -> Any:
        flat = a.reshape(-1, 3)
        weights, shifts = np.ones(len(flat), np.float32), np.zeros(count, np.float32)
        after, sums = np.zeros_like(start), np.zeros(count, np.float32)
        labels = np.zeros(len(flat), np.int32)
        with threadpool_limits(1, "blas"):
            lloyd_iter_chunked_dense(
                flat, weights, start, after, sums, labels, shifts, os.cpu_count() or 1
            )
        return np.column_stack([after * sums[:, None], sums])

    return {"clusters": clusters}
