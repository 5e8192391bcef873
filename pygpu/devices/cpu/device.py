"""The cpu target: native SIMD code on all cores (program.py)."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pygpu.core.device import Device
from pygpu.core.host.later import later
from pygpu.core.programs import FoldProgram, FoldTask, How, Link, Linked, Program, Shape, Task
from pygpu.devices.cpu.chunks import cores, host
from pygpu.devices.cpu.program import CpuProgram
from pygpu.devices.cpu.threads import thread_count
from pygpu.devices.process.reserve import RESERVE
from pygpu.ssa import Function
from pygpu.types import Type

with later():
    from pygpu.core import drawing as drawings
    from pygpu.devices.cpu import drawing as meshes
    from pygpu.devices.cpu import folds, moves, sorts, staged, strips
    from pygpu.devices.cpu import groups as grouping


class CpuDevice(Device):
    """Native code on all cores."""

    name = "cpu"
    language = "LLVM IR"
    rows_apart = True
    has_groups = True  # the lanes of vectors

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        return staged.compiled(task)

    def link(
        self, links: Sequence[Link], wanted: Set[int], shape: tuple[int, int]
    ) -> Linked | None:
        return strips.strips(links, wanted, shape)

    def drawing(self, drawing: drawings.Drawing) -> drawings.DrawProgram:
        return meshes.CpuDrawing(drawing, CpuProgram(meshes.task_of(drawing.vertex)), cores())

    def fold(self, task: FoldTask) -> FoldProgram | None:
        return folds.fold(task, cores())

    def texels(self, array: NDArray[Any], how: How, channels: int) -> NDArray[Any] | None:
        return folds.folded(array, how, channels, cores())

    def line_sums(
        self, array: NDArray[Any], axis: int, apart: NDArray[np.float64] | None = None
    ) -> NDArray[Any] | None:
        return folds.line_sums(array, axis, apart, cores())

    def folder(self, array: NDArray[Any], how: How) -> Callable[[], Any] | None:
        return folds.folder(array, how, cores())

    def place(self, array: NDArray[Any], how: How) -> int | None:
        return folds.place(array, how, cores())

    def sorted_lines(
        self, lines: NDArray[Any], descending: bool, placed: bool
    ) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
        return sorts.sorted_lines(lines, cores(), descending, placed)

    def ranked(self, lines: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any]:
        return sorts.ranked(lines, places, cores().threads)

    def alike(
        self, texels: NDArray[np.float32], others: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        return sorts.alike(texels, others, cores())

    def scanned(self, array: NDArray[Any], axis: int, how: str) -> NDArray[Any] | None:
        scan = folds.scanned if axis == 1 else folds.scanned_columns
        return scan(array, how, cores()) if array.flags.c_contiguous else None

    def fold_groups(
        self, values: NDArray[Any], index: NDArray[Any], how: str, start: NDArray[Any]
    ) -> NDArray[Any] | None:
        return grouping.fold_groups(values, index, how, start, cores())

    def join_groups(
        self,
        join: Function,
        types: tuple[Type, ...],
        parts: Sequence[NDArray[Any]],
        index: NDArray[Any],
        groups: int,
    ) -> tuple[list[NDArray[Any]], NDArray[np.bool_]] | None:
        return grouping.join_groups(join, types, parts, index, groups, cores())

    def counted(self, texels: NDArray[Any], groups: int) -> NDArray[np.int64] | None:
        return grouping.counted(texels, groups, cores())

    def binned(
        self,
        values: NDArray[np.float32],
        edges: NDArray[np.float32],
        guess: tuple[float, float, float],
    ) -> NDArray[np.int64] | None:
        return grouping.binned(values, edges, guess, cores())

    def picked(self, holds: NDArray[np.bool_], texels: NDArray[Any] | None) -> NDArray[Any]:
        return moves.picked(holds, texels, cores())

    def contiguous(self, texels: NDArray[Any]) -> NDArray[Any]:
        return moves.contiguous(texels, cores())

    def narrowed(self, doubles: NDArray[np.float64]) -> NDArray[np.float32]:
        made = moves.narrowed(doubles, cores())
        return super().narrowed(doubles) if made is None else made

    def clear(self) -> None:
        RESERVE.clear()

    def describe(self) -> dict[str, str]:
        found = host()
        return {"device": f"{found.cpu}, {found.lanes} lanes, {thread_count()} threads"}
