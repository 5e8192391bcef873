"""A folder of 50 JPEGs of a million pixels through `pygpu run`, against decoding and encoding.

    python -m benchmarks.folder

Alone means Pillow: one picture after the other, as a plain loop does it, and on all cores. Each
within this process, and with the start of one of its own.
"""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median

import numpy as np
from PIL import Image as PILImage

import pygpu
from pygpu.command.cli import main as command

COUNT = 50
ROUNDS = 9
ALONE = """
import os, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from PIL import Image

def alone(path):
    with Image.open(path) as picture:
        picture.load()
        picture.save(Path(sys.argv[1]) / Path(path).name)

with ThreadPoolExecutor(os.cpu_count()) as pool:
    list(pool.map(alone, sys.argv[2:]))
"""
SOURCE = """
import numpy as np
import pygpu
from pygpu import Image, Position

ROW = [1, 4, 6, 4, 1]
KERNEL = np.outer(ROW, ROW) / 256

@pygpu.compile(target="cpu")
def sharpen(im: Image, p: Position, amount: float = 0.5):
    blurred = sum(w * im(p + d) for w, d in zip(KERNEL.ravel(), pygpu.offsets(KERNEL)))
    return im(p) + amount * (im(p) - blurred)
"""


def made(folder: Path) -> list[Path]:
    """The pictures."""
    photo = np.pad(pygpu.data.astronaut(), ((0, 512), (0, 512), (0, 0)), "symmetric")
    paths = [folder / f"photo{number:02}.jpg" for number in range(COUNT)]
    for number, path in enumerate(paths):
        PILImage.fromarray(np.roll(photo, 37 * number, 1)).save(path, quality=90)
    return paths


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        paths, out = made(folder), folder / "out"
        (folder / "filter.py").write_text(SOURCE)
        out.mkdir()

        def alone(path: Path) -> None:
            with PILImage.open(path) as picture:
                picture.load()
                picture.save(out / path.name)

        def on_all_cores() -> None:
            with ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(alone, paths))

        def ours() -> None:
            arguments = ["run", f"{folder}/filter.py:sharpen", *map(str, paths), "-o", str(out)]
            with contextlib.redirect_stdout(io.StringIO()):
                assert command(arguments) == 0

        def process(*arguments: str) -> Callable[[], object]:
            return lambda: subprocess.run(
                [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL
            )

        pictures = list(map(str, paths))
        runs = {
            "alone, one after the other": lambda: [alone(path) for path in paths],
            "alone, on all cores": on_all_cores,
            "pygpu run": ours,
            "alone, a process": process("-c", ALONE, str(out), *pictures),
            "pygpu run, a process": process(
                *("-m", "pygpu", "run", f"{folder}/filter.py:sharpen"), *pictures, "-o", str(out)
            ),
        }
        for run in runs.values():
            run()
        turns = [{label: seconds(run) for label, run in runs.items()} for _ in range(ROUNDS)]
        for label in runs:
            own = "pygpu run, a process" if "process" in label else "pygpu run"
            took = median(turn[label] for turn in turns)
            ratio = median(turn[own] / turn[label] for turn in turns)
            print(f"{label}: {took:.2f} s, {own} {ratio:.2f} of it")


if __name__ == "__main__":
    main()
