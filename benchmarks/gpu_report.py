"""The table and the plot of the GPU benchmarks."""

from __future__ import annotations

from math import log10
from pathlib import Path
from statistics import geometric_mean
from typing import Any, Final

from PIL import Image, ImageDraw, ImageFont

OURS, TUNED, COPY, HAND = "PyGPU", "PyGPU tuned", "copy", "GLSL by hand"
COLOURS: Final = (
    "#1b6ca8", "#6aaed6", "#222222", "#e07b39", "#5a9367", "#a83f5b", "#7d6b9d", "#c9a227",
    "#8a8a8a", "#4f7f86", "#b5651d",
)  # fmt: skip
HEAD: Final = """\
# The kernels of the suite on a GPU

Made by `make bench-gpu` on {date}: {device}; Python {python}.
{versions}.

Milliseconds of device time a run, medians of interleaved rounds: by timer queries (OpenGL), by
CUDA events, or by the clock (Halide, Taichi), around as many runs as take 4 ms. All but those by
the clock are submitted while the device is at other work, so that none waits for Python. Runs do
not depend on each other: OpenGL lets one begin while the one before it ends, CUDA does not; those
of `sum` wait. Copies, Triton, CuPy kernels, Numba and Warp write large results to four buffers by
turns, as PyGPU does to four or more: where one lies decides by up to 1 % how long that takes.
Results were checked against one float64 reference in windows at the corners and in the middle.
Texels are random, but for tables of a photograph (`examples/astronaut.jpg`, side by side): NVIDIA's
memory packs what is smooth on its way where it was had for OpenGL, so that programs that wait for
it take less time than a copy of noise; CUDA's does so only where that was asked for.
`copy` is a copy of the image in the device's memory, the faster of the driver's and a program's.
GLSL by hand and Halide are the fastest of several blocks or schedules, chosen for each row.
"""


def markdown(results: dict[str, Any]) -> str:
    """The whole page."""
    rows = results["rows"]
    versions = ", ".join(f"{name} {v}" for name, v in results["versions"].items() if name != COPY)
    parts = [HEAD.format(**{**results, "versions": versions})]
    for dtype in dict.fromkeys(row["dtype"] for row in rows):
        for size in dict.fromkeys(row["size"] for row in rows):
            here = [row for row in rows if (row["dtype"], row["size"]) == (dtype, size)]
            if here:
                parts.append(f"## {size} x {size}, {dtype}\n\n{table(here)}\n")
    if results["remarks"]:
        parts.append("## Left out\n\n" + "\n".join(f"- {line}" for line in results["remarks"]))
    return "\n".join(parts).rstrip("\n") + "\n"


def table(rows: list[dict[str, Any]]) -> str:
    """One size and dtype: milliseconds, and our ratios to the copy, to GLSL and to the peers."""
    by_kernel: dict[str, dict[str, float]] = {}
    for row in rows:
        by_kernel.setdefault(row["kernel"], {})[row["contender"]] = row["seconds"]
    names = [name for name in ordered(rows) if name != COPY]
    lines = [
        f"| kernel | {' | '.join(names)} | {COPY} | to the copy | to GLSL | to the best peer |",
        "|-" * (len(names) + 5) + "|",
    ]
    ratios = []
    for kernel, times in by_kernel.items():
        cells = [_time(times.get(name)) for name in [*names, COPY]]
        ours = min([times[name] for name in (OURS, TUNED) if name in times], default=None)
        peers = [t for name, t in times.items() if name not in (OURS, TUNED, COPY, HAND)]
        best = min(peers, default=None)
        if ours and best:
            ratios.append(ours / best)
        shown = [_ratio(ours, other) for other in (times.get(COPY), times.get(HAND), best)]
        lines.append(f"| {kernel} | {' | '.join([*cells, *shown])} |")
    if ratios:
        lines.append("")
        lines.append(
            f"Geometric mean of the ratios to the best peer {geometric_mean(ratios):.2f}, the "
            f"largest {max(ratios):.2f}. Ratios are of the better of {OURS} and {TUNED}."
        )
    return "\n".join(lines)


def ordered(rows: list[dict[str, Any]]) -> list[str]:
    """The contenders, ours and GLSL first."""
    names = dict.fromkeys(row["contender"] for row in rows)
    first = [name for name in (OURS, TUNED, HAND) if name in names]
    return first + [name for name in names if name not in first]


def _time(seconds: float | None) -> str:
    return "-" if seconds is None else f"{1e3 * seconds:.3g}"


def _ratio(ours: float | None, other: float | None) -> str:
    return f"{ours / other:.2f}" if ours and other else "-"


def plot(results: dict[str, Any], path: Path, width: int = 1100) -> None:
    """Bars of milliseconds on a logarithmic scale: random float32, the largest size up to 8192."""
    rows = [row for row in results["rows"] if row["dtype"] == "float32" and row["size"] <= 8192]
    size = max(row["size"] for row in rows)
    rows = [row for row in rows if row["size"] == size]
    names = ordered(rows)
    kernels = list(dict.fromkeys(row["kernel"] for row in rows))
    times = {(row["kernel"], row["contender"]): 1e3 * row["seconds"] for row in rows}
    low, high = log10(min(times.values()) / 1.5), log10(max(times.values()) * 1.3)
    bar, gap, left, right = 11, 12, 150, 60
    top = 62 + 18 * (len(names) // 6 + 1)
    height = top + sum(
        bar * sum((kernel, name) in times for name in names) + gap for kernel in kernels
    )
    picture = Image.new("RGB", (width, height + 10), "white")
    draw, font = ImageDraw.Draw(picture), ImageFont.load_default(12)
    small = ImageFont.load_default(9)
    device = results["device"].split(",")[0]
    title = f"{size} x {size} float32, milliseconds of device time (logarithmic): {device}, "
    draw.text((12, 10), title + results["date"], "black", font)
    for index, name in enumerate(names):
        x, y = left + 155 * (index % 6), 38 + 18 * (index // 6)
        draw.rectangle((x, y, x + 10, y + 10), COLOURS[index % len(COLOURS)])
        draw.text((x + 15, y - 2), name, "black", font)
    y = top
    for kernel in kernels:
        draw.text((12, y), kernel, "black", font)
        for index, name in enumerate(names):
            if (kernel, name) not in times:
                continue
            value = times[kernel, name]
            end = left + (width - left - right) * (log10(value) - low) / (high - low)
            draw.rectangle((left, y, end, y + bar - 2), COLOURS[index % len(COLOURS)])
            draw.text((end + 4, y - 1), f"{value:.3g}", "black", small)
            y += bar
        y += gap
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)
