"""The first call of every program of the corpus (tests/corpus) on cpu, the disk cache off.

    python -m benchmarks.corpus          # a table in Markdown: the slowest, and what all take

A first call is all from the bytecode to the result of twelve pixels: the front end, the passes, the
code generator, LLVM and a run. Its seconds are the processor's, of all threads, so that other
processes do not count. One program is called before, for what is imported and started once.
"""

import os
import statistics
import sys
import time
import warnings
from pathlib import Path

os.environ["PYGPU_CACHE"] = "0"
sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

import corpus
import pygpu
from corpus.suite import CORNERS, HEIGHT, WIDTH, Entry
from programs.suite import topics_of

SHOWN = 25  # the slowest
PHASES = "translate", "simplify", "compile", "driver"


def measured(entry: Entry) -> tuple[float, dict[str, float]]:
    """Seconds of the first call, and milliseconds by phase of a second compilation."""
    given = {name: pygpu.Image(CORNERS[name]) for name in entry.images}
    size = {} if given else {"shape": (HEIGHT, WIDTH)}
    start = time.process_time()
    pygpu.compile(entry.function, target="cpu")(**given, **size)
    seconds = time.process_time() - start
    stats = pygpu.compile(entry.function, target="cpu").lower(**given, **size).stats
    return seconds, {**stats["time"], "ops": stats["ops"]}


def main() -> None:
    warnings.simplefilter("ignore")  # of what is shown to nobody
    entries = [entry for topic in topics_of(corpus) for entry in topic.program if not entry.missing]
    measured(entries[0])
    rows = []
    for entry in entries:
        seconds, phases = measured(entry)
        rows.append((seconds, entry.name, phases))
    rows.sort(key=lambda row: -row[0])
    times = [seconds for seconds, _, _ in rows]
    print(f"{len(rows)} programs: median {statistics.median(times):.3f} s, ", end="")
    print(f"all but one in twenty under {times[len(times) // 20]:.2f} s, ", end="")
    print(f"slowest {times[0]:.2f} s, together {sum(times):.1f} s.\n")
    print("| program | operations | first call, s | front end, ms | passes | code | LLVM |")
    print("|-|-|-|-|-|-|-|")
    for seconds, name, phases in rows[:SHOWN]:
        shown = " | ".join(f"{phases[phase]:.0f}" for phase in PHASES)
        print(f"| {name} | {phases['ops']} | {seconds:.2f} | {shown} |")


if __name__ == "__main__":
    main()
