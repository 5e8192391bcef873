"""The compute target against GPU libraries, GLSL by hand, and the device's copy.

python -m benchmarks.gpu [--sizes 2048,4096] [--dtypes float32,uint8] [--rounds 9]
                         [--contenders ours,glsl,...] [--kernels "sobel,sum"] [--photograph]
                         [--json results.json]
python -m benchmarks.gpu --merge a.json b.json --report RESULTS.md --plot results.png

Times are the device's own. Every result is checked against one float64 reference, in windows at the
corners and in the middle of the image, before it is timed; what is wrong, missing or fails is left
out and named. Contenders take turns. Results of several runs on one machine can be merged. Texels
are random, or those of a photograph many times, which some memories pack.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import json
import os
import platform
import time
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import pygpu
from benchmarks.gpu_peers import Case, Job
from benchmarks.gpu_report import markdown, plot
from benchmarks.kernels import KERNELS
from benchmarks.reference import TOLERANCE, USUAL
from benchmarks.windows import window
from pygpu.devices.opengl import context as opengl

CONTENDERS: Final = (
    "copies", "ours", "tuned", "glsl", "with_halide", "with_taichi", "with_triton", "with_numba",
    "with_warp", "with_cupy", "cupy_kernels", "with_torch",
)  # fmt: skip
SUITE: Final = (*KERNELS, "sum")
LARGEST_COLOURS: Final = 8192  # pixels a side of an RGBA image of floats: more is over 2 GiB
PHOTOGRAPH: Final = Path(__file__).parent.parent / "examples" / "astronaut.jpg"
FINE: Final = 8192  # pixels a side up to which places are as fine as what is tolerated
WINDOW: Final = 96  # pixels a side of what is compared
MEANT: Final = ("ours", "copies", "glsl")  # an error there is not passed over


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="2048,4096,8192,16384")
    parser.add_argument("--dtypes", default="float32,uint8")
    parser.add_argument("--kernels", default=",".join(SUITE))
    parser.add_argument("--contenders", default=",".join(CONTENDERS))
    parser.add_argument("--photograph", action="store_true", help="in place of random texels")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--minutes", type=float, default=60, help="after which it stops")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--merge", type=Path, nargs="+", help="results to report, nothing is run")
    parser.add_argument("--report", type=Path)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    if options.merge:
        results = merged([json.loads(path.read_text(encoding="utf-8")) for path in options.merge])
    else:
        with opengl.context() as gl:
            if gl.is_software and (options.report or options.plot):
                raise SystemExit(
                    f"no GPU here: OpenGL is in software ({gl.renderer}). Without --report and "
                    "--plot, and with --sizes 256, the programs can be tried"
                )
        results = measured(options)
    text = markdown(results)
    print(text)
    if options.report:
        options.report.write_text(text, encoding="utf-8")
    if options.plot:
        plot(results, options.plot)


def measured(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything that was asked for. What is there is written after each kernel."""
    began = time.perf_counter()
    os.environ["PYGPU_TARGET"] = "compute"
    results = head()
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
    peers = load(options.contenders.split(","), results)
    for size in map(int, options.sizes.split(",")):
        for dtype in options.dtypes.split(","):
            images: dict[int, Any] = {}
            for kernel in options.kernels.split(","):
                if time.perf_counter() - began > 60 * options.minutes:
                    note(results, f"stopped after {options.minutes:g} minutes: some are missing")
                    return results
                case = case_of(kernel, size, dtype, options.photograph, images)
                if case is not None:
                    results["rows"] += rows_of(case, peers, options.rounds, results)
                gc.collect()
                for _, peer in peers:
                    getattr(peer, "clear", pygpu.clear)()
                if options.json:
                    options.json.write_text(json.dumps(results, indent=1), encoding="utf-8")
                passed = time.perf_counter() - began
                print(f"{passed:6.1f} s  {size} {dtype} {kernel}", flush=True)
    return results


def head() -> dict[str, Any]:
    """Where and when."""
    with opengl.context() as gl:
        device = gl.description
    return {
        "date": date.today().isoformat(),
        "device": device,
        "python": platform.python_version(),
        "versions": {},
        "remarks": [],
        "rows": [],
    }


def note(results: dict[str, Any], remark: str) -> None:
    if remark not in results["remarks"]:
        results["remarks"].append(remark)
        print(remark, flush=True)


def load(names: list[str], results: dict[str, Any]) -> list[tuple[str, Any]]:
    """The contenders that are installed and work here."""
    found = []
    for name in names:
        try:
            peer = importlib.import_module(f"benchmarks.gpu_peers.{name}")
            results["versions"][peer.NAME] = peer.version()
        except Exception as error:  # no package, or no device that it takes
            note(results, f"{name} is left out: {shown(error)}")
            continue
        found.append((name, peer))
    return found


def shown(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:200]}"


def case_of(
    kernel: str, size: int, dtype: str, is_photograph: bool, images: dict[int, Any]
) -> Case | None:
    """A kernel on random texels or a photograph's; None where it is not in the suite."""
    if kernel == "mandelbrot" and dtype != "float32":
        return None
    channels = 4 if kernel == "hsv shift" else 1
    if channels == 4 and size > LARGEST_COLOURS:
        return None
    if channels not in images:
        make = photograph if is_photograph else noise
        images[channels] = make((size, size, 4) if channels == 4 else (size, size), dtype)
    return Case(kernel, images[channels], is_photograph)


def noise(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """Random texels, which no memory packs."""
    rng = np.random.default_rng()
    if dtype == "float32":
        return rng.random(shape, np.float32)
    return rng.integers(0, 256, shape, np.uint8)


def photograph(shape: tuple[int, ...], dtype: str) -> NDArray[Any]:
    """As many of the photograph, side by side, as fill the shape, grey or RGBA."""
    with Image.open(PHOTOGRAPH) as image:
        texels = np.asarray(image.convert("L" if len(shape) == 2 else "RGBA"))
    times = [-(-size // given) for size, given in zip(shape, texels.shape, strict=True)]
    texels = np.tile(texels, times)[: shape[0], : shape[1]]
    return texels if dtype == "uint8" else texels.astype(np.float32) / np.float32(255)


def rows_of(
    case: Case, peers: list[tuple[str, Any]], rounds: int, results: dict[str, Any]
) -> list[dict[str, Any]]:
    """The times of all contenders that are right, which take turns."""
    jobs: dict[str, tuple[Any, Job]] = {}
    right = expected(case)
    for name, peer in peers:
        try:
            job = peer.make(case)
            if job is None:
                continue
            if name != "copies":
                check(case, job.result(), right)
        except Exception as error:  # of any library, or a wrong result
            size = case.size[0]
            note(results, f"{peer.NAME}, {case.kernel}, {case.dtype}, {size}: {shown(error)}")
            if name in MEANT:
                print(error)
            continue
        jobs[peer.NAME] = peer, job
    times: dict[str, list[float]] = {name: [] for name in jobs}
    for _ in range(rounds):
        for name, (peer, job) in jobs.items():
            times[name] += peer.seconds([job.run])
    return [
        {
            "kernel": case.kernel,
            "dtype": f"{case.dtype}{', a photograph' * case.is_photograph}",
            "size": case.size[0],
            "contender": name,
            "seconds": median(times[name]),
            "least": min(times[name]),
            "most": max(times[name]),
            "note": job.note,
        }
        for name, (_, job) in jobs.items()
    ]


def expected(case: Case) -> Any:
    """The sum, or by its top and left the right result in each of nine windows."""
    if case.kernel == "sum":
        return float(case.image.sum(dtype=np.float64)) / (255 if case.is_bytes else 1)
    height, width = case.size
    size = min(WINDOW, height, width)
    places = [
        (top, left)
        for top in (0, (height - size) // 2, height - size)
        for left in (0, (width - size) // 2, width - size)
    ]
    parts = {place: window(case.kernel, case.image, *place, size) for place in places}
    if case.is_bytes:
        parts = {place: 255 * np.clip(part, 0, 1) for place, part in parts.items()}
    return parts


def check(case: Case, result: Any, right: Any) -> None:
    """An AssertionError where a result is not that of float64."""
    if case.kernel == "sum":
        error = abs(float(result) - right) / right
        assert error <= 1e-4, f"the sum is off by {error:.2g} of it"
        return
    absolute, share = TOLERANCE.get(case.kernel, USUAL)
    if case.kernel == "mandelbrot":
        share = 0.01  # of a window, which may lie where the set's border does
    if case.kernel == "rotation":
        absolute *= max(1, max(case.size) / FINE)
    if case.is_bytes:
        absolute, share = 0.52 + 255 * absolute, max(share, 1e-4)  # half a step by rounding
    for (top, left), part in right.items():
        found = np.asarray(result)[top : top + len(part), left : left + part.shape[1]]
        off = np.abs(found.reshape(part.shape).astype(np.float64) - part)
        wrong = np.count_nonzero(~(off <= absolute)) / off.size
        assert wrong <= share, f"{wrong:.2%} of the pixels are off by up to {off.max():.3g}"


def merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Results of several runs on one machine and driver; of equal rows the last counts."""
    devices = {part["device"] for part in parts}
    if len(devices) > 1:
        raise SystemExit(f"these are of different machines: {', '.join(sorted(devices))}")
    rows = {
        (row["kernel"], row["dtype"], row["size"], row["contender"]): row
        for part in parts
        for row in part["rows"]
    }
    whole = dict(parts[-1])
    whole["date"] = max(part["date"] for part in parts)
    whole["versions"] = {name: v for part in parts for name, v in part["versions"].items()}
    there = {row["contender"] for row in rows.values()}
    whole["remarks"] = [
        remark
        for remark in dict.fromkeys(remark for part in parts for remark in part["remarks"])
        if not any(remark.startswith(f"{name} is left out") for name in there)
    ]
    whole["rows"] = list(rows.values())
    return whole


if __name__ == "__main__":
    main()
