"""Contenders of the GPU benchmarks, one module each.

A module has `NAME`, `version()`, `make(case)`, which gives a `Job` or None where it has no such
kernel, and `seconds(jobs)`: the device's seconds for each run.
"""

from __future__ import annotations

import atexit
import importlib.util
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

LEAST: Final = 0.004  # seconds that runs between two waits take together
MOST: Final = 50
TURNS: Final = 4  # buffers that large results take turns in
LARGE: Final = 64 << 20  # bytes of an image, more than caches hold
AHEAD: Final = 0.003  # seconds of other work before them: Python submits slower than devices work
CYCLES: Final = int(2e9 * AHEAD)  # of that work


@dataclass(frozen=True, slots=True)
class Case:
    """A kernel, and the image it is given: (H, W) or (H, W, 4) of float32 or uint8. Results have
    the image's dtype, but for `mandelbrot` (int32) and `sum` (a number)."""

    kernel: str
    image: NDArray[Any]
    is_photograph: bool = False  # rather than noise

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.image.dtype

    @property
    def is_bytes(self) -> bool:
        return self.image.dtype == np.uint8

    @property
    def size(self) -> tuple[int, int]:
        """(H, W)."""
        return self.image.shape[0], self.image.shape[1]

    @property
    def turns(self) -> int:
        """How many buffers results take turns in: more than one where caches do not hold them."""
        return TURNS if self.image.nbytes >= LARGE else 1


@dataclass(frozen=True, slots=True)
class Job:
    """What is timed, and what runs it and reads its result: an array, or a number for `sum`, of
    texels as floats. `note` says what was chosen, where several ways were tried."""

    run: Callable[[], Any]
    result: Callable[[], Any]
    note: str = ""


def by_turns(jobs: Sequence[Job]) -> Job:
    """Jobs that write the same to buffers of their own, a run each. Where a large result lies
    decides by up to 1 % how fast it is written, and PyGPU's take turns too."""
    runs = cycle([job.run for job in jobs])
    return Job(lambda: next(runs)(), jobs[0].result)


def last_by_turns(
    job: Callable[[list[Any], Any, Any], Job], calls: list[Any], case: Case, targets: list[Any]
) -> Job:
    """A job of calls, kernels with their arguments. The last writes to its second argument: these,
    by turns."""
    *before, (kernel, (source, _, *sizes)) = calls
    return by_turns(
        [job([*before, (kernel, (source, to, *sizes))], case.size, to) for to in targets]
    )


def paced(timed: Callable[[Callable[[], Any], int], float], run: Callable[[], Any]) -> float:
    """The seconds of a run, by `timed`, which measures so many, each of which begins as soon as the
    one before it ends: as many as take LEAST."""
    run()
    count = int(np.clip(LEAST / timed(run, 1), 2, MOST))
    return timed(run, count) / count


def best(
    candidates: dict[str, Job], seconds: Callable[[list[Callable[[], Any]]], list[float]]
) -> Job:
    """The fastest of several ways, each run three times after one to warm up."""
    times = {}
    for name, job in candidates.items():
        job.run()
        times[name] = sorted(seconds([job.run] * 3))[1]
    chosen = min(times, key=lambda name: times[name])
    job = candidates[chosen]
    return Job(job.run, job.result, chosen)


@cache
def module(name: str, text: str) -> Any:
    """A module made of a text, with a file, which compilers of Python functions read. Made once, so
    that what is compiled for one size serves the others."""
    path = _folder() / f"{name}.py"
    path.write_text(text, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@cache
def _folder() -> Path:
    folder = tempfile.mkdtemp(prefix="pygpu-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def slug(case: Case) -> str:
    """The kernel's name as an identifier."""
    return f"{case.kernel}_{case.dtype}".replace(" ", "_")
