"""Every function of the gallery against the same function printed for other compilers.

    python -m benchmarks.gallery --json out/gallery.json --report benchmarks/RESULTS_GALLERY.md
    python -m benchmarks.gallery swirl canny --sizes 1024
    python -m benchmarks.gallery strangers --sizes 512        # functions that no picture has
    python -m benchmarks.gallery --gpu --sizes 2048 8192 --json out/gallery_gpu.json

Results are compared before anything is timed. All contenders write into an existing array. What
cannot be printed mechanically (loops for Halide, say) is left out.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from statistics import geometric_mean, quantiles
from typing import Any

import numpy as np

from benchmarks.cpu import machine
from benchmarks.gallery import capture, with_c, with_numba
from benchmarks.gallery.capture import Run
from benchmarks.gallery.scalars import Unsupported
from benchmarks.measure import interleaved
from pygpu import data
from pygpu.ssa import walk

CLOSE = 2e-3  # of results; of uint8 one step
SHARE = 0.002  # of numbers that may differ: comparisons of values that differ by rounding
BURST = 0.01  # seconds that a contender runs on end: threads of others have left by then
COMPARED = 256  # rows of results on a GPU, whose host would take longer than the device
LOOSE = 0.05  # where there are loops, whose rounds depend on such


def makers() -> dict[str, Callable[[Run], Any]]:
    found = {"Numba": with_numba.make, "C": with_c.make}
    try:
        from benchmarks.gallery import with_halide

        found["Halide"] = with_halide.make
    except ImportError:
        pass
    return found


@lru_cache(maxsize=4)
def photo(size: int, dtype: str) -> Any:
    """A photograph of that size."""
    picture = np.asarray(data.astronaut())[..., :3]
    times = -(-size // 512)
    tiled = np.tile(picture, (times, times, 1))[:size, :size]
    noise = np.random.default_rng(0).integers(-8, 9, tiled.shape)
    noisy = np.clip(tiled.astype(int) + noise, 0, 255).astype(np.uint8)
    return noisy if dtype == "uint8" else noisy.astype(np.float32) / 255


def measure(run: Run, rounds: int, names: list[str], is_first: bool) -> dict[str, Any]:
    """Seconds by contender, and why others are left out. `is_first`: of the peers, in this order,
    the first that can."""
    outs = run.outs()
    run.call(outs)
    expected = [out.astype(np.float64) for out in outs]
    timed: dict[str, Callable[[], Any]] = {"PyGPU": lambda: run.call(outs)}
    left: dict[str, str] = {}
    there = makers()
    has_loops = any(op.code == "loop" for op in walk(run.function.body))
    allowed = LOOSE if has_loops else SHARE
    for name in filter(there.get, names):
        make = there[name]
        if is_first and len(timed) > 1:
            break
        try:
            again, own = make(run), run.outs()
            again(own)
        except Unsupported as error:
            left[name] = str(error)
            continue
        except Exception as error:
            left[name] = f"failed: {type(error).__name__}: {str(error)[:200]}"
            continue
        wrong = max(map(_differing, expected, own))
        if wrong > allowed:
            left[name] = f"differs in {wrong:.2%} of the numbers"
            continue
        timed[name] = lambda again=again, own=own: again(own)
    return {"seconds": interleaved(timed, rounds, BURST), "left": left}


def measure_gpu(run: Run, rounds: int, is_fast: bool) -> dict[str, Any]:
    """The same on a GPU: the compute target and CUDA C. `seconds` are the device's, `loop` those
    that a user's loop sees."""
    from benchmarks.gallery import with_cuda

    outs = run.outs()
    run.call(outs)
    timed, left = {}, {}
    try:
        timed["CUDA C"], results = with_cuda.make(run, is_fast)
        timed["CUDA C"][0]()
        some = slice(None, None, max(run.shape[0] // COMPARED, 1))
        wrong = max(
            _differing(out[some].astype(np.float64), own[some])
            for out, own in zip(outs, results(), strict=True)
        )
        if wrong > LOOSE:
            left["CUDA C"] = f"differs in {wrong:.2%} of the numbers"
            del timed["CUDA C"]
    except Exception as error:
        left["CUDA C"] = f"{type(error).__name__}: {str(error)[:200]}"
        timed.pop("CUDA C", None)
    timed["PyGPU"] = with_cuda.ours(run)
    return {
        "seconds": with_cuda.device_seconds(timed, rounds),
        "loop": with_cuda.loop_seconds(timed, rounds),
        "left": left,
    }


def _differing(expected: Any, found: Any) -> float:
    """The share of numbers that differ."""
    close = 1.01 if found.dtype == np.uint8 else CLOSE * np.maximum(1, abs(expected))
    same = (abs(found - expected) <= close) | (np.isnan(expected) & np.isnan(found))
    return 1 - float(np.mean(same | (expected == found)))


def ratios(done: dict[str, Any], kind: str = "seconds") -> dict[str, float]:
    """PyGPU's time to the best peer's, of what has a peer."""
    found = {}
    for key, each in done.items():
        times = dict(each[kind])
        ours = times.pop("PyGPU")
        if times:
            found[key] = ours / min(times.values())
    return found


def report(done: dict[str, Any], why: dict[str, str], is_gpu: bool) -> str:
    """The distribution of ratios, and the worst."""
    found = ratios(done)
    peers = (
        "CUDA C (a thread a pixel). Times are the device's own; those of `loop` are what a user's "
        "loop of calls sees"
        if is_gpu
        else "Halide (inlined, strips in parallel, vectors) and Numba (fast mathematics, the edges "
        "apart)"
    )
    lines = [
        f"# The gallery, on `{'compute' if is_gpu else 'cpu'}`",
        "",
        f"{machine()}, {datetime.date.today()}. Each function of examples/gallery that is one "
        f"program, against the same function printed from its SSA at one pixel a step, for {peers}."
        " PyGPU's time to that of the best of them; below 1 PyGPU is faster."
        + (" PyGPU keeps its accuracy, the others have fast mathematics." if not is_gpu else ""),
        "",
        "| photograph | functions | mean | 10 % | 25 % | 50 % | 75 % | 90 % | most | over 1.2 |",
        "|-|-|-|-|-|-|-|-|-|-|",
    ]  # fmt: skip
    groups: dict[str, list[float]] = {}
    for key, ratio in found.items():
        groups.setdefault(key.partition(" ")[2], []).append(ratio)
    groups["all"] = list(found.values())
    if is_gpu:
        for key, ratio in ratios(done, "loop").items():
            groups.setdefault(f"loop, {key.partition(' ')[2]}", []).append(ratio)
    for name, each in groups.items():
        cuts = quantiles(each, n=20, method="inclusive") if len(each) > 1 else each * 19
        shown = [geometric_mean(each), cuts[1], cuts[4], cuts[9], cuts[14], cuts[17], max(each)]
        cells = " | ".join(f"{value:.2f}" for value in shown)
        lines.append(f"| {name} | {len(each)} | {cells} | {sum(r > 1.2 for r in each)} |")
    lines += ["", "The mean is geometric.", "", "## The worst", ""]
    lines += ["| function | ratio | PyGPU ms | best peer | why |", "|-|-|-|-|-|"]
    listed: set[str] = set()
    for key in sorted(found, key=lambda k: -found[k]):
        name = key.partition(" ")[0]
        if name in listed:
            continue
        listed.add(name)
        times = done[key]["seconds"]
        best = min((n for n in times if n != "PyGPU"), key=lambda n: times[n])
        lines.append(
            f"| {key} | {found[key]:.2f} | {times['PyGPU'] * 1e3:.2f} | {best} "
            f"{times[best] * 1e3:.2f} | {why.get(name, '')} |"
        )
        if len(listed) == 10:
            break
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--sizes", type=int, nargs="+", default=[512, 1024, 2048])
    parser.add_argument("--dtypes", nargs="+", default=["float32", "uint8"])
    parser.add_argument("--peers", nargs="+", default=["Halide", "Numba"])
    parser.add_argument("--first", action="store_true", help="one peer, the first that can")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gpu", action="store_true", help="compute against CUDA C, by CuPy")
    parser.add_argument("--fast", action="store_true", help="CUDA C with fast mathematics")
    parser.add_argument("--json", type=Path, help="a file of seconds, which is added to")
    parser.add_argument("--why", type=Path, help="a file of remarks by function")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--seconds", type=float, default=1e9, help="after which it stops")
    options = parser.parse_args()
    os.environ["PYGPU_TARGET"] = "compute" if options.gpu else "cpu"
    there = options.json and options.json.exists()
    done: dict[str, Any] = json.loads(options.json.read_text()) if there else {}
    ends = time.monotonic() + options.seconds
    for name in options.names or capture.names():
        for dtype in options.dtypes:
            for size in options.sizes:
                if time.monotonic() < ends:
                    _measure_all(name, size, dtype, options, done)
    why = json.loads(options.why.read_text()) if options.why else {}
    text = report(done, why, options.gpu)
    print(text)
    if options.report:
        options.report.write_text(text)


def _measure_all(name: str, size: int, dtype: str, options: Any, done: dict[str, Any]) -> None:
    tail = f" {dtype} {size}"
    try:
        runs = capture.captured(name, photo(size, dtype))
    except Exception:
        print(f"{name}{tail}: {traceback.format_exc(limit=-2)}", file=sys.stderr)
        return
    for run in runs:
        key = f"{run.name}{tail}"
        if key in done:
            continue
        if options.gpu:
            done[key] = measure_gpu(run, options.rounds, options.fast)
        else:
            done[key] = measure(run, options.rounds, options.peers, options.first)
        times = {n: round(t * 1e3, 3) for n, t in done[key]["seconds"].items()}
        print(key, times, done[key]["left"] or "", flush=True)
        if options.json:
            options.json.write_text(json.dumps(done))


if __name__ == "__main__":
    main()
