"""The time of the front end alone: from a function's bytecode to SSA, before any pass.

    python -m benchmarks.front_end                  # milliseconds, and microseconds an instruction
    python -m benchmarks.front_end ../other         # by turns with another checkout of PyGPU

The processor's time of this process, the mean of some rounds, each with nothing decoded before: so
what Python's collector of garbage takes between them counts too. The least of some turns.
The programs: a large convolution (which becomes a loop of the device after all), one that is
unrolled, Sobel, 300 lines of arithmetic, and some of the corpus (tests/corpus).
"""

import gc
import json
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

os.environ["PYGPU_CACHE"] = "0"
sys.path.insert(0, os.environ.get("FRONT_END_OF", str(Path(__file__).parent.parent)))
sys.path.insert(1, f"{sys.path[0]}/tests")

import numpy as np

import pygpu
import pygpu.frontend.translate
from benchmarks.compile_time import convolve, sobel
from corpus import images, noise, packages, shapes
from corpus.suite import CORNERS, HEIGHT, WIDTH
from pygpu import Image, Position, bytecode, frontend

ROUNDS = 10
TURNS = 2
CASES = {case.name: case for topic in (images, noise, packages, shapes) for case in topic.program}
OF_CORPUS = "ray_tracer_with_mirrors", "star_polygon", "vnoise_octaves", "opensimplex_4d"


class _Given(Exception):
    """What the front end is given: raised in place of a walk."""


def lines(count: int) -> Any:
    """A function of that many lines of arithmetic."""
    body = ["def lines(im: Image, p: Position):", "    v = w = im(p)"]
    for i in range(count // 3):
        body += [f"    v = v * {i}.5 + w", f"    w = abs(w - {i}) * v", f"    v += w / (1.5 + {i})"]
    names: dict[str, Any] = {"Image": Image, "Position": Position}
    exec("\n".join([*body, "    return v + w"]), names)
    return names["lines"]


def given(function: Any, known: dict[str, Any], *images: Any, **more: Any) -> Any:
    """What the front end is given for a call."""

    def instead(*args: Any, **keywords: Any) -> None:
        raise _Given(args, keywords)

    real, frontend.translate.translate = frontend.translate.translate, instead
    try:
        pygpu.compile(function, target="cpu", **known).lower(*images, **more)
    except _Given as found:
        return found.args
    finally:
        frontend.translate.translate = real
    raise AssertionError("the front end was not asked")


def programs() -> dict[str, Any]:
    photo, random = np.zeros((16, 16), np.float32), np.random.default_rng(1)
    found = {
        f"convolution {size}x{size}": given(
            convolve, {"kernel": random.random((size, size))}, photo
        )
        for size in (63, 15)
    }
    found["Sobel"] = given(sobel, {"kernel": np.outer([1, 2, 1], [-1, 0, 1])}, photo)
    found["300 lines"] = given(lines(300), {}, photo)
    for name in OF_CORPUS:
        case = CASES[name]
        if not case.missing:
            inputs = {n: Image(CORNERS[n]) for n in case.images}
            size = {} if inputs else {"shape": (HEIGHT, WIDTH)}
            found[name] = given(case.function, {}, **inputs, **size)
    return found


def measured() -> dict[str, tuple[float, int]]:
    """Of each program milliseconds and how many instructions were walked."""
    rows = {}
    for name, (args, keywords) in programs().items():
        begun = 0.0
        for each in range(ROUNDS + 1):
            bytecode._decode.cache_clear()
            made = frontend.translate.translate(*args, **keywords)
            if each == 0:  # what is done once in a process
                gc.collect()
                begun = time.process_time()
        milliseconds = 1e3 * (time.process_time() - begun) / ROUNDS
        rows[name] = milliseconds, made.statistics["walked"]
    return rows


def elsewhere(root: str) -> dict[str, tuple[float, int]]:
    """The same of a checkout, in a process of its own."""
    environment = {**os.environ, "FRONT_END_OF": root, "PYTHONPATH": ""}
    command = [sys.executable, __file__, "--json"]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return {name: tuple(row) for name, row in json.loads(run.stdout).items()}


def main() -> None:
    warnings.simplefilter("ignore")  # of what is shown to nobody
    words = sys.argv[1:]
    if words == ["--json"]:
        print(json.dumps(measured()))
        return
    roots = [sys.path[0], *[str(Path(word).resolve()) for word in words]]
    turns = [[elsewhere(root) for root in roots] for _ in range(TURNS)]
    columns = ["program", "walked", *["front end, ms", "us each"] * len(roots)]
    columns += ["ratio"] * len(words)
    print(f"| {' | '.join(columns)} |\n|{'-|' * len(columns)}")
    for name, (_, walked) in turns[0][0].items():
        least = [min(turn[i][name][0] for turn in turns) for i in range(len(roots))]
        shown = " | ".join(f"{t:.1f} | {1e3 * t / walked:.1f}" for t in least)
        ratios = "".join(f" {least[0] / other:.2f} |" for other in least[1:])
        print(f"| {name} | {walked} | {shown} |{ratios}")


if __name__ == "__main__":
    main()
