"""What compiles and runs functions: the protocol of devices, and what a plain one says of itself.

A target is a class that derives from `Device`, with a name and `compile`. All else has an answer
here for a device that is no more than that. Whoever runs programs asks the device, and never which
one it is.

    class Toy(Device):
        name = "toy"

        def compile(self, task, shape=None):
            return ToyProgram(task)         # a `Program`
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence, Set
from functools import partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.errors import DeviceError
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.programs import FoldProgram, FoldTask, How, Link, Linked, Program, Shape, Task, Work
from pygpu.core.storage import Format, Storage, narrowed
from pygpu.ssa import Function, ImageInput
from pygpu.types import FLOAT, Type

with later():
    from pygpu.core import drawing as drawings

COPIED_ROW: Final = 1024  # texels of a row of the image by which copies are measured


@record
class Limits:
    """What a device takes: texels along an axis of an image, bytes of one, and bytes of all that a
    call brings there."""

    side: int
    nbytes: int
    memory: int


class Device:
    """Something that compiles and runs functions. What derives from it gives `name` and `compile`,
    and answers otherwise where it is more than that."""

    name: str  # the target: "fragment", "compute", "cpu", "interpreter"
    language: str = "program"  # what the source of a program is written in
    driver: str = ""  # what it says of itself: measurements count for one driver alone
    copy: str = ""  # the name under which storages keep its form of them; of none: host arrays
    is_hardware: bool = False  # whether it is a GPU, and no imitation of one in software
    shapes: Sequence[Shape] = ()  # those that `compile` takes, if there is anything to choose
    rows_apart: bool = False  # whether programs read and write rows that do not follow each other
    keeps: bool = False  # whether what images are folded to stays here until somebody reads it
    has_groups: bool = False  # of threads or lanes, by which `fold` folds

    @property
    def computes(self) -> Device:
        """The device that computes what this one is asked to: itself, unless it notes calls."""
        return self

    def compile(self, task: Task, shape: Shape | None = None) -> Program:
        """Lower and compile. The function is simplified, its loads still have their boundaries.
        Without a shape it is the one that was measured for the function, or the device's guess."""
        raise NotImplementedError

    def link(
        self, links: Sequence[Link], wanted: Set[int], shape: tuple[int, int]
    ) -> Linked | None:
        """Programs of this device as one, each after those whose results it reads by `reach`, with
        results of this size, of which those are stored that are wanted. None where they are as
        quick one by one."""
        return None

    def for_meshes(self) -> Device:
        """What draws meshes where this device is asked to: itself, if it is one that computes."""
        return self

    def drawing(self, drawing: drawings.Drawing) -> drawings.DrawProgram:
        """Compile what draws a mesh. DeviceError where the device cannot."""
        raise DeviceError(f"the target {self.name!r} draws no meshes; cpu, fragment and compute do")

    def fold(self, task: FoldTask) -> FoldProgram | None:
        """The program of a fold by groups; None where there are no groups, or they cannot do it."""
        return None

    def texels(self, array: NDArray[Any], how: How, channels: int) -> NDArray[Any] | None:
        """The sum, least or greatest of the texels of a host array as they are stored, of each of
        so many interleaved channels: sums in 64 bits. None where NumPy is to do it."""
        return None

    def line_sums(
        self, array: NDArray[Any], axis: int, apart: NDArray[np.float64] | None = None
    ) -> NDArray[Any] | None:
        """The sums of a host array's columns (axis 0) or rows (axis 1), of texels as they are
        stored, in 64 bits; or of the squares of their differences to a number for each line. None
        where NumPy is to do it."""
        return None

    def folder(self, array: NDArray[Any], how: How) -> Callable[[], Any] | None:
        """What gives the same of all texels, one number, whenever it is called, in less time around
        the code than `texels` takes. None where that is all there is."""
        return None

    def place(self, array: NDArray[Any], how: How) -> int | None:
        """Where the first least or greatest of a host array is; None where a program finds it."""
        return None

    def sorted_lines(
        self, lines: NDArray[Any], descending: bool, placed: bool
    ) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
        """The elements of each line of a host array (lines, N) in order, NaNs last, and with
        `placed` where they were on it, equal ones in their order. None where that is to be done
        by programs."""
        return None

    def ranked(self, lines: NDArray[Any], places: NDArray[np.intp]) -> NDArray[Any] | None:
        """What stands at places (P,) of each line of a host array (lines, N) in order, NaN of a
        line that has one; or at places (lines, P), NaNs behind all numbers. None where that is to
        be done by programs."""
        return None

    def alike(
        self, texels: NDArray[np.float32], others: NDArray[np.float32]
    ) -> NDArray[np.float32] | None:
        """Host texels (H, W, C), each replaced by the number that has its channel's share of
        texels not above it in others (H, W, C), on lines between shares as `numpy.interp` has it.
        None where that is to be done otherwise, as of infinite texels and NaN."""
        return None

    def scanned(self, array: NDArray[Any], axis: int, how: str) -> NDArray[Any] | None:
        """The running folds of a host array's columns (axis 0) or rows (axis 1), of float32 or
        int32, by "add", "multiply", "maximum" or "minimum". None where that is to be done by
        programs."""
        return None

    def fold_groups(
        self, values: NDArray[Any], index: NDArray[Any], how: str, start: NDArray[Any]
    ) -> NDArray[Any] | None:
        """Values (N, C) folded into rows of `start` (groups, C), which is changed and given back,
        by their index, those outside left out: `how` is "add", "multiply", "maximum" or
        "minimum". None where that is to be done by programs."""
        return None

    def join_groups(
        self,
        join: Function,
        types: tuple[Type, ...],
        parts: Sequence[NDArray[Any]],
        index: NDArray[Any],
        groups: int,
    ) -> tuple[list[NDArray[Any]], NDArray[np.bool_]] | None:
        """Values, (N, C) for each part, folded by their index, those outside left out: of each
        part (groups, C), and which groups have a value. The uniforms of `join` are the parts of two
        values of these types, its outputs those of their fold. None where that is to be done by
        programs."""
        return None

    def counted(self, texels: NDArray[Any], groups: int) -> NDArray[np.int64] | None:
        """How many elements of each channel of host texels (H, W, C), of whole numbers, are 0, 1,
        ... groups - 1: (groups, C); those of four bytes that are others are left out. Bytes and
        pairs of them are taken as unsigned. None where that is to be done by programs."""
        return None

    def binned(
        self,
        values: NDArray[np.float32],
        edges: NDArray[np.float32],
        guess: tuple[float, float, float],
    ) -> NDArray[np.int64] | None:
        """How many of contiguous host values (N,) lie between each two of edges, which are of equal
        distance but for rounding; bins are half open, but for the last. `guess`: the first edge,
        the bins to a unit, and how near to an edge a product by these may err, in bins. None where
        that is to be done by programs."""
        return None

    def picked(self, holds: NDArray[np.bool_], texels: NDArray[Any] | None) -> NDArray[Any]:
        """The rows of contiguous host texels (N, C) where a contiguous mask (N,) holds; without
        texels the places (n, 1) where it does."""
        return np.flatnonzero(holds)[:, None] if texels is None else texels[holds]

    def contiguous(self, texels: NDArray[Any]) -> NDArray[Any]:
        """Host texels (H, W, C) in rows that follow each other, copied if they are not so."""
        return np.ascontiguousarray(texels)

    def narrowed(self, doubles: NDArray[np.float64]) -> NDArray[np.float32]:
        """Contiguous host numbers as float32. OverflowError where a finite one is too large."""
        return narrowed(doubles)

    def of_planes(self) -> Device:
        """The device that runs functions of volumes, which are run for each plane."""
        return self

    def images_at_once(self, results: int) -> int | None:
        """How many images a function of so many results may read; None where nothing limits it."""
        return None

    def limits(self) -> Limits | None:
        """How large images may be here; None where only memory counts."""
        return None

    def describe(self) -> dict[str, str]:
        """What there is to be known of it: renderer, driver, threads. Its name is `device`."""
        return {}

    def seconds(self, runs: Sequence[Callable[[], object]]) -> list[float]:
        """The seconds that each of these takes, run one after the other: of the device's own time
        where it has timers, else by the clock."""
        times = []
        for run in runs:
            started = time.perf_counter()
            run()
            times.append(time.perf_counter() - started)
        return times

    def copies(self, nbytes: int, count: int) -> list[float]:
        """The seconds of each of some copies of so many bytes within the memory of programs."""
        build = Builder("copy", [ImageInput("image", FLOAT)])
        same = build.finish([build.load(0, build.x, build.y)])
        floats = Format(np.dtype("float32"), 1)
        program = self.compile(Task(same, (floats,), (floats,)))
        rows = max(nbytes // (4 * COPIED_ROW), 1)
        texels = np.random.default_rng(0).random((rows, COPIED_ROW), np.float32)
        out = [np.empty_like(texels)[..., None]]
        copy = partial(program.run, Work([Storage.of(texels)], [], texels.shape, out))
        return self.seconds([copy] * count)

    def clear(self) -> None:
        """Let go of memory that is kept for reuse."""
