"""Timing of contenders, turn by turn, and the tables and plots made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Final

COLOURS: Final = ("#1b6ca8", "#e07b39", "#5a9367", "#a83f5b", "#7d6b9d", "#8a8a8a", "#c9a227")


def interleaved(
    contenders: Mapping[str, Callable[[], None]], rounds: int = 11, least: float = 0.002
) -> dict[str, float]:
    """The median seconds of each, after a warm-up, all in turn in every round. What is quick is
    called several times in its turn, until `least` seconds have passed."""
    repeats = {}
    for name, run in contenders.items():
        run()
        start = time.perf_counter()
        run()
        repeats[name] = max(1, int(least / max(time.perf_counter() - start, 1e-6)))
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, run in contenders.items():
            start = time.perf_counter()
            for _ in range(repeats[name]):
                run()
            times[name].append((time.perf_counter() - start) / repeats[name])
    return {name: median(values) for name, values in times.items()}


def table(
    rows: Mapping[str, Mapping[str, float]], ours: str, others: Sequence[str], limit: str
) -> str:
    """Markdown: milliseconds, and our ratio to the best of the others and to the copy."""
    names = [ours, *others]
    lines = [
        f"| kernel | {' | '.join(names)} | {limit} | to the best peer | to the {limit} |",
        "|-" * (len(names) + 4) + "|",
    ]
    for kernel, times in rows.items():
        cells = [f"{times[name] * 1e3:.2f}" if name in times else "-" for name in names]
        best = min([times[name] for name in others if name in times], default=None)
        ratio = f"{times[ours] / best:.2f}" if best else "-"
        copies = f"{times[ours] / times[limit]:.2f}"
        lines.append(
            f"| {kernel} | {' | '.join(cells)} | {times[limit] * 1e3:.2f} | {ratio} | {copies} |"
        )
    ratios = best_ratios(rows, ours, others)
    lines.append("")
    lines.append(
        f"Geometric mean of the ratios to the best peer: {geometric_mean(ratios):.2f}, "
        f"the largest {max(ratios):.2f}."
    )
    return "\n".join(lines)


def best_ratios(
    rows: Mapping[str, Mapping[str, float]], ours: str, others: Sequence[str]
) -> list[float]:
    """Our time over that of the best other contender, a kernel each."""
    ratios = []
    for times in rows.values():
        rest = [times[name] for name in others if name in times]
        if rest:
            ratios.append(times[ours] / min(rest))
    return ratios


def plot(
    path: Path, title: str, rows: Mapping[str, Mapping[str, float]], names: Sequence[str]
) -> None:
    """Bars of milliseconds on a logarithmic scale, as SVG."""
    from math import log10

    all_times = [t * 1e3 for times in rows.values() for n, t in times.items() if n in names]
    low, high = min(all_times) / 1.5, max(all_times) * 1.2
    bar, gap, left, width = 9, 14, 150, 560
    scale = width / (log10(high) - log10(low))
    body, y = [], 60
    for index, name in enumerate(names):
        x = left + index * 95
        body.append(f'<rect x="{x}" y="30" width="10" height="10" fill="{COLOURS[index]}"/>')
        body.append(f'<text x="{x + 14}" y="39">{name}</text>')
    for kernel, times in rows.items():
        shown = [n for n in names if n in times]
        middle = y + len(shown) * bar / 2 + 4
        body.append(f'<text x="{left - 8}" y="{middle:.0f}" text-anchor="end">{kernel}</text>')
        for name in shown:
            length = (log10(times[name] * 1e3) - log10(low)) * scale
            colour = COLOURS[list(names).index(name)]
            body.append(
                f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 1}" '
                f'fill="{colour}"/>'
                f'<text x="{left + length + 3:.1f}" y="{y + 8}" font-size="8">'
                f"{times[name] * 1e3:.2f}</text>"
            )
            y += bar
        y += gap
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 60}" height="{y}" '
        'font-family="sans-serif" font-size="11"><rect width="100%" height="100%" fill="white"/>'
        f'<text x="10" y="18" font-size="13">{title}</text>'
    )
    path.write_text("\n".join([head, *body, "</svg>"]) + "\n")
