"""PyGPU after `pygpu.tune`."""

from __future__ import annotations

from typing import Final

from benchmarks.gpu_peers import Case, Job, ours
from pygpu.passes.blocks import shapes

NAME: Final = "PyGPU tuned"
seconds = ours.seconds
version = ours.version


def make(case: Case) -> Job | None:
    job = ours.prepare(case, is_tuned=True)
    shapes.forget()  # the default of the next size is to be the default
    return job
