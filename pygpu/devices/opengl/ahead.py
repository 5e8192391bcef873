"""A program that computes what a call knows before its pixels: see passes/stages/ahead.py."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from pygpu.core.programs import Program, Task, Work
from pygpu.core.storage import Format, Storage
from pygpu.devices.opengl import context as opengl
from pygpu.passes.stages.ahead import ahead
from pygpu.ssa import Constant

FLOATS: Final = Format(np.dtype(np.float32), 1)


class InTwo(Program):
    """Two programs: the first gives the second a row of what the numbers of a call lead to."""

    def __init__(self, first: Program, rest: Program, count: int) -> None:
        self._first, self._rest, self._count = first, rest, count
        self._last: tuple[str, object, Storage] | None = None  # of which numbers, in which context
        self.source = f"{first.source}\n{rest.source}"
        self.shape, self.stages = rest.shape, rest.stages
        self.driver_seconds = first.driver_seconds + rest.driver_seconds

    def run(self, work: Work) -> list[Storage]:
        return self._rest.run(self._given(work))

    def ready(self, shape: tuple[int, int]) -> Callable[[Work], list[Storage]]:
        run = self._rest.ready(shape)
        return lambda work: run(self._given(work))

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        if len({repr(numbers) for numbers in rounds}) != 1:
            return None
        given = self._given(work._replace(uniforms=rounds[0]))
        return self._rest.run_rounds(given, rounds, state)

    def reach(self, index: int) -> tuple[int, int] | None:
        return self._rest.reach(index)

    def _given(self, work: Work) -> Work:
        """The work of the second program."""
        numbers, context, last = repr(work.uniforms), opengl.context().held, self._last
        is_lost = context is None or context.is_lost
        if last is None or is_lost or last[:2] != (numbers, context):
            size = 1, self._count
            (made,) = self._first.run(Work([], work.uniforms, size, [None]))
            last = self._last = numbers, opengl.context().held, made
        return work._replace(ahead=last[2])


def in_two(task: Task, make: Callable[[Task], Program]) -> Program | None:
    """The program of a task, a part of which is done once a call; None where little would be."""
    found = None if task.planar else ahead(task.function)
    if found is None:
        return None
    first = Task(found.first, (), (FLOATS,), fast=task.fast)
    rest = replace(task, function=found.rest)
    return InTwo(make(first), make(rest), found.count)
