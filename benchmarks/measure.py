"""Timing of contenders, turn by turn, and the tables and plots made of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean, median

SLOW = 10  # times the quickest: such contenders have fewer rounds,
FEW = 3
SHORT = 0.1  # seconds: what takes less is warmed up in each turn,
WARM = 0.005  # for so many,
CALM = 0.02  # after a pause
HOPELESS = 100  # and such only the one that says so


@dataclass(frozen=True)
class Times:
    """The seconds of each contender, and who of them computes only something similar."""

    seconds: Mapping[str, float]
    approximate: frozenset[str] = frozenset()

    def best_of(self, names: Sequence[str]) -> float | None:
        """The least seconds of these, the approximate left out; None without any."""
        counted = [n for n in names if n in self.seconds and n not in self.approximate]
        return min([self.seconds[name] for name in counted], default=None)


def interleaved(
    contenders: Mapping[str, Callable[[], object]], rounds: int = 11, least: float = 0.002
) -> dict[str, float]:
    """The median seconds of each, after a warm-up, all in turn in every round. What is quick is
    called several times in its turn, until `least` seconds have passed. Before that the threads of
    the contender before are left to fall asleep, who wait for more work on a core of their own
    (OpenMP's for 14 ms here), and the contender is called until arrays are where its threads read
    them."""
    once = {}
    for name, run in contenders.items():
        run()
        start = time.perf_counter()
        run()
        once[name] = max(time.perf_counter() - start, 1e-6)
    quickest = max(min(once.values()), least / SLOW)
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for index in range(rounds):
        for name, run in contenders.items():
            if once[name] > HOPELESS * quickest:
                times[name] = [once[name]]
                continue
            if index >= FEW and once[name] > SLOW * quickest:
                continue
            repeats = max(1, int(least / once[name]))
            if once[name] < SHORT:
                time.sleep(CALM)
                _warm_up(run)
            start = time.perf_counter()
            for _ in range(repeats):
                run()
            times[name].append((time.perf_counter() - start) / repeats)
    return {name: median(values) for name, values in times.items()}


def _warm_up(run: Callable[[], object]) -> None:
    start = time.perf_counter()
    while time.perf_counter() - start < WARM:
        run()


def table(rows: Mapping[str, Times], names: Sequence[str], limit: str) -> str:
    """Markdown: milliseconds, the ratio of the first to the best of the others, and to the copy."""
    ours, *others = names
    lines = [
        f"| kernel | {' | '.join(names)} | {limit} | to the best peer | to the {limit} |",
        "|-" * (len(names) + 4) + "|",
    ]
    for kernel, times in rows.items():
        cells = [_cell(times, name) for name in names]
        best = times.best_of(others)
        ratio = f"{times.seconds[ours] / best:.2f}" if best else "-"
        copies = f"{times.seconds[ours] / times.seconds[limit]:.2f}"
        bound = f"{times.seconds[limit] * 1e3:.2f}"
        lines.append(f"| {kernel} | {' | '.join(cells)} | {bound} | {ratio} | {copies} |")
    return "\n".join(lines)


def _cell(times: Times, name: str) -> str:
    if name not in times.seconds:
        return "-"
    mark = "*" if name in times.approximate else ""
    return f"{times.seconds[name] * 1e3:.2f}{mark}"


def summary(rows: Mapping[str, Times], names: Sequence[str]) -> str:
    """Geometric means of the ratios of the first to the best of the others, and to each."""
    ours, *others = names
    ratios = {
        kernel: times.seconds[ours] / best
        for kernel, times in rows.items()
        if (best := times.best_of(others)) is not None
    }
    if not ratios:
        return "No peer has these kernels."
    worst = max(ratios, key=lambda kernel: ratios[kernel])
    lines = [
        f"Geometric mean of the ratios to the best peer: {geometric_mean(ratios.values()):.2f}; "
        f"the largest is {ratios[worst]:.2f} ({worst})."
    ]
    for name in others:
        pairs = [(t.seconds[ours], t.seconds[name]) for t in rows.values() if name in t.seconds]
        if pairs:
            mean = geometric_mean([a / b for a, b in pairs])
            lines.append(f"To {name}, over {len(pairs)} kernels: {mean:.2f}.")
    return " ".join(lines)


def plot(
    path: Path, measured: Mapping[tuple[str, int], Mapping[str, Times]], names: Sequence[str]
) -> None:
    """How many times as long as the first each contender takes: bars, a panel a dtype, at the
    largest size."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    ours, *others = names
    largest = {dtype: max(s for d, s in measured if d == dtype) for dtype, _ in measured}
    figure, panels = pyplot.subplots(
        1, len(largest), figsize=(7 * len(largest), 6.5), squeeze=False, layout="constrained"
    )
    for panel, (dtype, size) in zip(panels[0], largest.items(), strict=True):
        rows = measured[dtype, size]
        height = 0.8 / len(others)
        for index, name in enumerate(others):
            shown = [(y, t) for y, t in enumerate(rows.values()) if name in t.seconds]
            panel.barh(
                [y + (index - (len(others) - 1) / 2) * height for y, _ in shown],
                [t.seconds[name] / t.seconds[ours] for _, t in shown],
                height,
                label=name,
                color=f"C{index}",
                left=0,
            )
        panel.axvline(1, color="black", linewidth=1)
        panel.set_xscale("log")
        panel.xaxis.set_major_formatter("{x:g}")
        panel.xaxis.set_minor_formatter("")
        panel.set_yticks(range(len(rows)), list(rows))
        panel.invert_yaxis()
        panel.set_xlabel(f"times as long as {ours} (logarithmic)")
        panel.set_title(f"{dtype}, {size} x {size}")
        panel.grid(axis="x", alpha=0.3)
    panels[0][0].legend()
    figure.savefig(path, dpi=110)
