"""Which images of a call are smaller than its result, so that their boundaries show.

extended(task, sizes, (480, 640))       # [Extended("mask", (240, 320), ("nearest",))]

An image that is read far from the position (a table of colours, a gather) has no size that results
should have, and is none of these.
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import Task
from pygpu.ssa import walk

with later():
    from pygpu.passes.analysis import footprint


@record
class Extended:
    """An image that is smaller than the result: its size (H, W), and what it has outside."""

    name: str
    size: tuple[int, int]
    boundaries: tuple[str, ...]

    def __str__(self) -> str:
        height, width = self.size
        return f"{self.name} ({width} x {height}) is extended by {', '.join(self.boundaries)}"


def extended(
    task: Task, sizes: Sequence[tuple[int, int]], size: tuple[int, int]
) -> tuple[Extended, ...]:
    """The images, of these sizes (H, W), that results of a size extend."""
    function = task.function
    read: list[dict[str, None]] = [{} for _ in function.images]
    for op in walk(function.body):
        if op.code == "load":
            read[op.data.image][op.data.boundary] = None
    found = zip(function.images, sizes, read, footprint.footprint(function), strict=True)
    return tuple(
        [
            Extended(image.name, own, tuple(boundaries))
            for image, own, boundaries, margin in found
            if boundaries and margin is not None
            if own[0] < size[0] or own[1] < size[1]
        ]
    )
