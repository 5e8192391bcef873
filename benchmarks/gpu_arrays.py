"""Arrays as wholes on a GPU: PyGPU's compute target against CuPy (CUB, Thrust) and torch.

    python -m benchmarks.gpu_arrays --report benchmarks/RESULTS_GPU_ARRAYS.md
    python -m benchmarks.gpu_arrays "scan 10M" --rounds 3

All inputs are on the device. `device` is the time of the programs alone, by timer queries and
events; `call` is a turn of a loop of calls with one wait at its end. What PyGPU gives to the host,
counts and sums of groups, is waited for and copied in each call, which is part of `device` too
where a row names no programs. Results are compared with NumPy's.
"""

from __future__ import annotations

import argparse
import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Final
from unittest.mock import patch

import numpy as np

import pygpu
from pygpu.devices import targets
from pygpu.devices.arrays.groups import Atomic, Tables
from pygpu.devices.arrays.scan import Scanned
from pygpu.devices.arrays.sort import Sorted
from pygpu.devices.opengl import context as opengl

CALLS: Final = 8  # in a loop
WARM: Final = 3  # loops before the first that counts
GENERATOR: Final = np.random.default_rng(0)
MILLION: Final = 1_000_000


@dataclass(frozen=True)
class Row:
    """What is timed: inputs, what NumPy makes of them, and what contenders do with theirs.
    `programs` are the classes whose runs are PyGPU's device time; () where all of a call is."""

    given: tuple[Any, ...]
    expected: Callable[..., Any]
    ours: Callable[..., Any]
    peers: Mapping[str, Callable[..., Any]]
    programs: tuple[type, ...] = ()
    close: float = 2e-5
    images: tuple[type, ...] = field(default=())


def rows(cp: Any, torch: Any) -> dict[str, Callable[[], Row]]:
    """All that is timed, made when its turn comes. Peers are those that are installed."""

    def peers(with_cupy: Any = None, with_torch: Any = None) -> dict[str, Any]:
        found = {"CuPy": with_cupy if cp else None, "torch": with_torch if torch else None}
        return {name: run for name, run in found.items() if run is not None}

    def floats(*shape: int) -> Any:
        return GENERATOR.random(shape, np.float32)

    def scan(count: int) -> Row:
        return Row(
            (floats(count),),
            lambda a: np.cumsum(a, dtype=np.float64),
            lambda a: pygpu.scan(np.add, a),
            peers(lambda a: cp.cumsum(a), lambda a: torch.cumsum(a, 0)),
            (Scanned,),
            1e-3,
        )

    def scan_of_rows(axis: int) -> Row:
        return Row(
            (floats(4096, 4096),),
            lambda a: np.cumsum(a, axis, dtype=np.float64),
            lambda a: pygpu.scan(np.add, a, axis),
            peers(lambda a: cp.cumsum(a, axis), lambda a: torch.cumsum(a, axis)),
            (Scanned,),
            1e-4,
        )

    def sort(count: int) -> Row:
        return Row(
            (floats(count),),
            np.sort,
            pygpu.sort,
            peers(lambda a: cp.sort(a), lambda a: torch.sort(a)[0]),
            (Sorted,),
        )

    def argsort(count: int) -> Row:
        return Row(
            (floats(count),),
            lambda a: np.argsort(a, kind="stable"),
            pygpu.argsort,
            peers(lambda a: cp.argsort(a), lambda a: torch.argsort(a, stable=True)),
            (Sorted,),
        )

    def groups(count: int, number: int) -> Row:
        index = GENERATOR.integers(0, number, count).astype(np.int32)
        return Row(
            (floats(count), index),
            lambda a, n: np.bincount(n, a, number),
            lambda a, n: pygpu.reduce(
                np.add, a, n, map=lambda v, k: v, by=lambda v, k: k, groups=number
            ),
            peers(
                lambda a, n: cp.bincount(n, a, number),
                lambda a, n: torch.zeros(number, device="cuda").index_add_(0, n, a),
            ),
            (Tables, Atomic),
            1e-4,
        )

    def histogram(given: Any, seen: Any) -> Row:
        edges = (0, 256) if given.dtype == np.uint8 else (0, 1)
        return Row(
            (given,),
            lambda a: np.histogram(seen(a), 256, (0, 1))[0],
            lambda a: pygpu.histogram(a)[0],
            peers(
                (lambda a: cp.bincount(a.ravel(), minlength=256))
                if given.dtype == np.uint8
                else lambda a: cp.histogram(a, 256, edges)[0],
                None if given.dtype == np.uint8 else lambda a: torch.histc(a, 256, 0, 1),
            ),
            (Atomic,),
        )

    def compress(count: int) -> Row:
        return Row(
            (floats(count),),
            lambda a: a[a > 0.5],
            lambda a: pygpu.compress(a > 0.5, a),
            peers(lambda a: a[a > 0.5], lambda a: a[a > 0.5]),
        )

    def volume(function: Callable[..., Any], right: Callable[[Any], Any], theirs: Any) -> Row:
        compiled = pygpu.compile(function, im=pygpu.Volume, p=pygpu.Position)
        return Row((floats(256, 256, 256),), right, compiled, peers(theirs), (), 1e-4)

    def place(image: Any) -> Any:
        return tuple(pygpu.reduce(np.argmax, image))[::-1]

    def laplacian(im: Any, p: Any) -> Any:
        near = [im(p + d) for d in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1),
                                    (0, 0, -1))]  # fmt: skip
        return sum(near) - 6 * im(p)

    def median3(im: Any, p: Any) -> Any:
        return np.median([im(p + d) for d in pygpu.offsets(np.ones((3, 3, 3)))])

    def by_scipy(name: str, **given: Any) -> Callable[[Any], Any]:
        from scipy import ndimage

        return lambda a: getattr(ndimage, name)(a, mode="nearest", **given)

    def by_cupy(name: str, **given: Any) -> Callable[[Any], Any] | None:
        if not cp:
            return None
        from cupyx.scipy import ndimage

        return lambda a: getattr(ndimage, name)(a, mode="nearest", **given)

    large = 8192
    return {
        "scan 10M": lambda: scan(10 * MILLION),
        "scan 100M": lambda: scan(100 * MILLION),
        "scan 4096 x 4096, axis 0": lambda: scan_of_rows(0),
        "scan 4096 x 4096, axis 1": lambda: scan_of_rows(1),
        "sort 1M": lambda: sort(MILLION),
        "sort 10M": lambda: sort(10 * MILLION),
        "sort 100M": lambda: sort(100 * MILLION),
        "argsort 10M": lambda: argsort(10 * MILLION),
        "sums of 10M in 8 groups": lambda: groups(10 * MILLION, 8),
        "sums of 10M in 100 groups": lambda: groups(10 * MILLION, 100),
        "sums of 10M in 10000 groups": lambda: groups(10 * MILLION, 10_000),
        "histogram of bytes": lambda: histogram(
            GENERATOR.integers(0, 256, (large, large), np.uint8), lambda a: a / np.float32(255)
        ),
        "histogram of floats": lambda: histogram(floats(large, large), lambda a: a),
        "compress 10M": lambda: compress(10 * MILLION),
        "place of the greatest": lambda: Row(
            (floats(large, large),),
            lambda a: np.unravel_index(a.argmax(), a.shape),
            place,
            peers(lambda a: cp.argmax(a), lambda a: torch.argmax(a)),
        ),
        "sums of rows": lambda: Row(
            (floats(large, large),),
            lambda a: a.sum(1, dtype=np.float64),
            lambda a: a.sum(axis=1),
            peers(lambda a: a.sum(1), lambda a: a.sum(1)),
        ),
        "sums of columns": lambda: Row(
            (floats(large, large),),
            lambda a: a.sum(0, dtype=np.float64),
            lambda a: a.sum(axis=0),
            peers(lambda a: a.sum(0), lambda a: a.sum(0)),
        ),
        "Laplacian 256**3": lambda: volume(
            laplacian, by_scipy("laplace"), by_cupy("laplace")
        ),
        "median 3 x 3 x 3 of 256**3": lambda: volume(
            median3, by_scipy("median_filter", size=3), by_cupy("median_filter", size=3)
        ),
    }  # fmt: skip


# ---------------------------------------------------------------- timing


def on_device(array: Any) -> Any:
    """An image, signal or volume whose texels are on the device alone."""
    kinds: Any = (pygpu.Signal, pygpu.Image, pygpu.Volume)
    kind = kinds[array.ndim - 1]
    image = kind(array, normalize=array.dtype == np.uint8)
    same = pygpu.compile(lambda im, p: im(p), im=kind, p=pygpu.Position)
    if array.dtype == np.int32:
        image = kind(array)
    found = same(image, dtype=array.dtype)
    found.storage.array = None
    return found


def finish() -> None:
    with opengl.context() as gl:
        gl.gl.finish()


def loop(run: Callable[[], Any], wait: Callable[[], Any]) -> float:
    """Seconds of a turn of a loop of calls."""
    wait()
    begun = time.perf_counter()
    for _ in range(CALLS):
        run()
    wait()
    return (time.perf_counter() - begun) / CALLS


def measure(row: Row, rounds: int, cp: Any, torch: Any) -> dict[str, dict[str, float]]:
    """Seconds by contender, of the device and of a call; AssertionError for one that is wrong."""
    expected = row.expected(*row.given)
    images = [on_device(array) for array in row.given]
    caught: list[Any] = []
    found = _ours(row, images, caught)
    _check("PyGPU", found, expected, row)
    contenders = {"PyGPU": (lambda: row.ours(*images), finish)}
    for name, run in row.peers.items():
        given, back, wait = _arrays(name, row.given, cp, torch)
        try:
            if row.expected.__name__ != "<lambda>" or name not in ("",):
                _check(name, back(run(*given)), expected, row)
        except AssertionError as error:
            print(f"  {name} differs: {str(error).strip().splitlines()[0][:100]}")
        contenders[name] = (lambda run=run, given=given: run(*given), wait)
    times: dict[str, dict[str, list[float]]] = {name: {"call": [], "device": []}
                                                for name in contenders}  # fmt: skip
    device = targets.open_device("compute")

    def timed() -> object:
        return [again() for again in caught] if caught else row.ours(*images)

    for run, wait in contenders.values():  # pools of memory fill
        for _ in range(WARM):
            loop(run, wait)
    for _ in range(rounds):
        for name, (run, wait) in contenders.items():
            times[name]["call"].append(loop(run, wait))
            times[name]["device"].append(
                device.seconds([timed] * 2)[-1]
                if name == "PyGPU"
                else _events(name, run, cp, torch)
            )
    return {name: {what: median(some) for what, some in each.items()}
            for name, each in times.items()}  # fmt: skip


def _ours(row: Row, images: list[Any], caught: list[Any]) -> Any:
    """PyGPU's result, with the runs of the row's programs written down."""
    row.ours(*images)
    patches = []
    for kind in row.programs:
        original = kind.run  # type: ignore[attr-defined]

        def run(self: Any, *given: Any, original: Any = original) -> Any:
            caught.append(lambda: original(self, *given))
            return original(self, *given)

        patches.append(patch.object(kind, "run", run))
    for each in patches:
        each.start()
    try:
        return row.ours(*images)
    finally:
        for each in patches:
            each.stop()


def _arrays(name: str, given: tuple[Any, ...], cp: Any, torch: Any) -> tuple[Any, Any, Any]:
    """A peer's arrays, how its results come back, and how it waits."""
    if name == "CuPy":
        return [cp.asarray(a) for a in given], cp.asnumpy, cp.cuda.Device().synchronize
    tensors = [torch.from_numpy(a).cuda() for a in given]
    return tensors, lambda t: t.cpu().numpy(), torch.cuda.synchronize


def _events(name: str, run: Callable[[], Any], cp: Any, torch: Any) -> float:
    """Seconds of a turn by events around a loop."""
    make = cp.cuda.Event if name == "CuPy" else lambda: torch.cuda.Event(enable_timing=True)
    first, last = make(), make()
    first.record()
    for _ in range(CALLS):
        run()
    last.record()
    last.synchronize()
    if name == "CuPy":
        return float(cp.cuda.get_elapsed_time(first, last)) / 1e3 / CALLS
    return float(first.elapsed_time(last)) / 1e3 / CALLS


def _check(name: str, found: Any, expected: Any, row: Row) -> None:
    if np.ndim(expected) == 1 and len(expected) == 2 and np.ndim(found) == 0:
        found = np.unravel_index(int(found), row.given[0].shape)
    actual = np.asarray(found, np.float64)
    np.testing.assert_allclose(actual, np.asarray(expected), row.close, row.close, err_msg=name)


# ---------------------------------------------------------------- tables


def table(measured: Mapping[str, Mapping[str, Mapping[str, float]]]) -> str:
    """Milliseconds, and the ratio to the quickest peer."""
    lines = ["| | PyGPU device | CuPy | torch | ratio | PyGPU call | CuPy | torch | ratio |",
             "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for name, each in measured.items():
        cells = [name]
        for what in ("device", "call"):
            seconds = {who: times[what] for who, times in each.items()}
            cells += [f"{1e3 * seconds[who]:.3g}" if who in seconds else ""
                      for who in ("PyGPU", "CuPy", "torch")]  # fmt: skip
            others = [seconds[who] for who in seconds if who != "PyGPU"]
            cells.append(f"{seconds['PyGPU'] / min(others):.2f}" if others else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _imported(name: str) -> Any:
    try:
        found = __import__(name)
        found.zeros(1, device="cuda") if name == "torch" else found.zeros(1)
    except Exception as error:
        print(f"{name} is left out: {error}")
        return None
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="row")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--report", type=Path, help="a file for the table")
    options = parser.parse_args()
    cp, torch = _imported("cupy"), _imported("torch")
    every, measured = rows(cp, torch), {}
    device = targets.open_device("compute").driver
    for name in options.rows or every:
        begun = time.perf_counter()
        try:
            measured[name] = measure(every[name](), options.rounds, cp, torch)
        except Exception as error:  # one that fails leaves the others
            print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)
            continue
        shown = {who: {what: round(1e3 * s, 4) for what, s in each.items()}
                 for who, each in measured[name].items()}  # fmt: skip
        print(f"{name}: {shown} ({time.perf_counter() - begun:.1f} s)", flush=True)
    versions = ", ".join([f"{each.__name__} {each.__version__}" for each in (cp, torch) if each])
    text = (
        f"# Arrays as wholes, on a GPU\n\n{device}, {datetime.date.today()}; {versions}.\n\n"
        f"Milliseconds, medians of {options.rounds} rounds; ratios to the quickest peer. `device` "
        "is the time of the programs, `call` a turn of a loop of calls with one wait at its end.\n"
        f"\n{table(measured)}\n"
    )
    print(text)
    if options.report:
        options.report.write_text(text)


if __name__ == "__main__":
    main()
