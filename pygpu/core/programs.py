"""What devices compile and run: tasks, the programs made of them, and what programs are given.

program = device.compile(Task(function, inputs, outputs))     # see device.py
program.run(Work(storages, uniforms, (480, 640), [None]))     # a storage for each result
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.host.records import record
from pygpu.core.storage import Format, Storage, rows_of
from pygpu.ssa import Constant, Function
from pygpu.types import Type

How = Literal["sum", "min", "max"]
Along = Literal["x", "y", "xy"]  # the axes of an image along which it is folded
# The functions of NumPy's that devices may fold and scan by themselves, by their names there.
UFUNCS: Final[dict[str, np.ufunc]] = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
# By which of them texels are folded as they are stored.
JOINS: Final[dict[How, np.ufunc]] = {"sum": np.add, "min": np.minimum, "max": np.maximum}
NOTHING: Final[Mapping[int, NDArray[Any]]] = {}  # that is to lie anywhere
ALONG_X: Final[Along] = "x"
ALONG_Y: Final[Along] = "y"
BOTH: Final[Along] = "xy"


@record(eq=False)
class Task:
    """What is compiled: a function, and how the images it reads and its results are stored.

    A result's kind may differ from the stored dtype. Then a Float goes into uint8 and uint16 scaled
    from [0, 1], rounded and saturated (NaN gives 0), into other integers rounded to the nearest, of
    two the even one, and saturated; an Int or UInt is saturated; a Bool gives 0 or the maximum in
    unsigned types, else 0 or 1.
    """

    function: Function
    inputs: Sequence[Format]
    outputs: Sequence[Format]
    planar: bool = False  # the function's last uniform is the number of the plane
    low: bool = False  # results have one row, as those of signals have
    short: int = 0  # 1: rows of planes are so short that caches hold some of each; 2: very short
    fast: bool = False  # functions may err by 2**-12 of their results


@record
class Shape:
    """How work is shared out: pixels of a thread and threads of a work group, along x and y."""

    columns: int
    rows: int
    threads_x: int
    threads_y: int

    def __post_init__(self) -> None:
        if min(astuple(self)) < 1:
            raise ValueError(f"{self!r}: each number is at least 1")

    @property
    def threads(self) -> tuple[int, int]:
        return self.threads_x, self.threads_y

    def __str__(self) -> str:
        return (
            f"{self.columns} x {self.rows} pixels a thread, groups of "
            f"{self.threads_x} x {self.threads_y} threads"
        )


@record
class PlaneRead:
    """How an image of several planes is read: the plane at `offset` from that of the result, by a
    boundary's rule where it has none, of `depth` planes."""

    offset: int
    boundary: str
    depth: int


@record
class Planes:
    """How many planes results have, and how each input is read for one; None: the same for all."""

    count: int
    reads: tuple[PlaneRead | None, ...]

    def of_one(self, sizes: Sequence[tuple[int, ...]]) -> tuple[tuple[int, int], ...]:
        """The sizes (H, W) of planes of inputs that have so many rows in all."""
        every = zip(sizes, self.reads, strict=True)
        return tuple([(rows // read.depth if read else rows, wide) for (rows, wide), read in every])


@record(eq=False)
class Frame:
    """What lies around the texels of an input in other memory: rows above and below, which are as
    wide as these, then columns to the left and right, of all rows. Each (rows, W, C), in rows as
    storage.in_rows says; None: nothing."""

    above: NDArray[Any] | None
    below: NDArray[Any] | None
    left: NDArray[Any] | None
    right: NDArray[Any] | None

    @property
    def sides(self) -> tuple[int, int, int, int]:
        """How many rows and columns there are on each side."""
        above, below = (0 if part is None else len(part) for part in (self.above, self.below))
        left, right = (0 if part is None else part.shape[1] for part in (self.left, self.right))
        return above, below, left, right


class Work(NamedTuple):
    """What a program is given when it runs: the images it reads, its numbers, the shape of its
    results, an array (rows, W, C) for each of them that is to lie there, C-contiguous (in rows
    as storage.in_rows says, where the device says `rows_apart`), of the output's dtype and sharing
    no memory with an input, and what a program before it made of the numbers."""

    inputs: Sequence[Storage]
    uniforms: Sequence[Constant]
    shape: tuple[int, ...]
    out: Sequence[NDArray[Any] | None]
    ahead: Storage | None = None

    @property
    def size(self) -> tuple[int, int]:
        """The rows of a result, and texels of a row."""
        return rows_of(self.shape)


class Taken(NamedTuple):
    """An argument that a call was given, as others are that a device may take from calls itself: an
    array of a shape, dtype and strides; a number, by its class, or a tuple of numbers, by theirs;
    the very same object; or, at no place, a number that is the same for all calls."""

    how: Literal["array", "number", "same", "constant"]
    place: int  # among the arguments
    like: Any


class Prepared(Protocol):
    """A program for images of certain sizes, with all found out that depends on these alone."""

    def run(
        self,
        inputs: Sequence[NDArray[Any]],
        uniforms: Sequence[Constant],
        out: Sequence[NDArray[Any]] | None,
    ) -> list[NDArray[Any]] | None:
        """The results, in arrays of the shape that was asked for, with an axis of channels where
        there are several. Inputs lie as `prepared` was told; `out` is nothing, or arrays as `Work`
        has them. None where that program is to run in place of this."""

    def taking(self, taken: Sequence[Taken], out: Sequence[Taken] | None) -> Taking | None:
        """What does that for the arguments of calls, if they are like these, and writes to arrays
        like these where `out` says so. None where there is no such way."""
        return None


# Given the arguments of a call, and arrays for its results if it wants them, the results; None
# where they are not like those before.
Taking = Callable[[tuple[Any, ...], tuple[Any, ...] | None], Sequence[NDArray[Any]] | None]


class Program(Protocol):
    """A task, compiled."""

    source: str  # GLSL, LLVM IR or SSA text
    shape: Shape | None = None  # how it shares its work out, where there is a choice
    driver_seconds: float = 0.0  # of compiling it, in OpenGL's driver or in LLVM
    stages: Sequence[Function] = ()  # what its function was taken apart into, in order

    def run(self, work: Work) -> list[Storage]:
        """Compute all pixels. Where `out` has an array, the texels are there on return."""

    def prepared(
        self,
        sizes: Sequence[tuple[int, int]],
        shape: tuple[int, ...],
        strides: tuple[int, ...] = (),
        planes: Planes | None = None,
    ) -> Prepared | None:
        """What does the same with less ado for inputs of these sizes (H, W) again and again, with
        results of a shape. `strides`: the bytes from row to row of inputs, then of results, where
        rows of some do not follow each other. None where there is no such way. `planes`: what
        `run_planes` is given; inputs have the rows of all, and numbers end in that of a plane."""
        return None

    def ready(self, shape: tuple[int, int]) -> Callable[[Work], list[Storage]]:
        """What `run` does for results of (H, W): of several programs, that one's."""
        return self.run

    def run_rounds(
        self, work: Work, rounds: Sequence[Sequence[Constant]], state: Sequence[int]
    ) -> list[Storage] | None:
        """Compute all pixels by the numbers of each round, in place of those of `work`: each result
        is the input that `state` names, of the same format and size, the next time. None where
        that is to be done by as many runs."""
        return None

    def run_planes(self, work: Work, planes: Planes) -> list[Storage] | None:
        """Compute all planes of the shape (H, W), one below the other in inputs, results and the
        arrays of `out`, at once. None where planes are to be run one by one."""
        return None

    def run_framed(self, work: Work, frames: Sequence[Frame | None]) -> list[Storage] | None:
        """Compute what `run` computes from inputs that are larger than those of `work` by their
        frames. None where inputs must be put together first: where `reach` gives None of them."""
        return None

    def reach(self, index: int) -> tuple[int, int] | None:
        """How many rows above and below an image is read; None where it is needed whole."""
        return None


@record(eq=False)
class Link:
    """A program among others, all with results of one size: its task, and the numbers of its
    images."""

    program: Program
    task: Task
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


class Linked(Protocol):
    """Programs that run together: what only they read need not be whole."""

    def run(
        self,
        images: Mapping[int, Storage],
        uniforms: Sequence[Sequence[Constant]],
        out: Mapping[int, NDArray[Any]] = NOTHING,
    ) -> dict[int, Storage]:
        """The images asked for, of the images that are read and the uniforms of each program.
        `out`: arrays as `Work` has them, where some of these may lie."""


@record(eq=False)
class FoldTask:
    """A fold over the pixels of the first `count` of the images that `value` reads: `value` is a
    function of a pixel, `join` one of two values, of `types`."""

    value: Function
    join: Function
    inputs: Sequence[Format]
    count: int
    types: Sequence[Type]
    along: Along


class FoldProgram(Protocol):
    """A fold, compiled. It gives arrays (rows, columns, channels), one for each part of a value."""

    source: str

    def takes(self, height: int, width: int) -> bool:
        """Whether it folds images of this size; for others it is not called."""

    def partials(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], fewest: bool = False
    ) -> list[NDArray[Any]]:
        """What groups have made of their parts of the image: (H, n, C) along x, (n, W, C) along
        y; of `fewest` n is 1 where the device folds parts, too."""

    def whole(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[NDArray[Any]]:
        """The fold of all texels, (1, 1, C). `along` must be BOTH."""

    def kept(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Storage] | None:
        """The fold of all texels as storages of one texel each, which stay on the device. None
        where devices have no such storages."""
        return None
