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
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import astuple
from functools import partial
from typing import Any, Final, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.errors import DeviceError
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.storage import Format, Storage, rows_of
from pygpu.ssa import Constant, Function, ImageInput
from pygpu.types import FLOAT, Type

with later():
    from pygpu.core import drawing as drawings

How = Literal["sum", "min", "max"]
Along = Literal["x", "y", "xy"]  # the axes of an image along which it is folded
# The functions of NumPy's that devices may fold and scan by themselves, by their names there.
UFUNCS: Final[dict[str, np.ufunc]] = {
    "add": np.add,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}
ALONG_X: Final[Along] = "x"
ALONG_Y: Final[Along] = "y"
BOTH: Final[Along] = "xy"
COPIED_ROW: Final = 1024  # texels of a row of the image by which copies are measured


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
    fast: bool = False  # functions may err by 2**-12 of their results


@record
class Shape:
    """How a program's work is shared out: pixels that a thread makes along x and y, and threads of
    a work group along x and y."""

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
class Limits:
    """What a device takes: texels along an axis of an image, bytes of one, and bytes of all that a
    call brings there."""

    side: int
    nbytes: int
    memory: int


@record
class PlaneRead:
    """How an image of several planes is read: the plane at `offset` from that of the result, by a
    boundary's rule where it has none, of `depth` planes."""

    offset: int
    boundary: str
    depth: int


@record
class Planes:
    """So many planes of results, and how each input is read for one of them; None: it is the same
    for all."""

    count: int
    reads: tuple[PlaneRead | None, ...]


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
    results, and an array (rows, W, C) for each of them that is to lie there, C-contiguous (in rows
    as storage.in_rows says, where the device says `rows_apart`), of the output's dtype and sharing
    no memory with an input."""

    inputs: Sequence[Storage]
    uniforms: Sequence[Constant]
    shape: tuple[int, ...]
    out: Sequence[NDArray[Any] | None]

    @property
    def size(self) -> tuple[int, int]:
        """The rows of a result, and texels of a row."""
        return rows_of(self.shape)


class Prepared(Protocol):
    """A program for images of certain sizes, with all found out that does not depend on what is in
    them."""

    def run(
        self,
        inputs: Sequence[NDArray[Any]],
        uniforms: Sequence[Constant],
        out: Sequence[NDArray[Any]] | None,
    ) -> list[NDArray[Any]] | None:
        """The results, in arrays of the shape that was asked for, with an axis of channels where
        there are several. Inputs lie as `prepared` was told; `out` is nothing, or arrays as `Work`
        has them. None where that program is to run in place of this."""


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
    ) -> Prepared | None:
        """What does the same with less ado for inputs of these sizes (H, W) again and again, with
        results of a shape. `strides`: the bytes from row to row of inputs, then of results, where
        rows of some do not follow each other. None where there is no such way."""
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
        """As `run` does, of inputs that are larger than those of `work` by their frames. None where
        inputs are to be put together first, as they are where `reach` knows nothing of them."""
        return None

    def reach(self, index: int) -> tuple[int, int] | None:
        """How many rows above and below those of the results are read of an image. None where the
        program needs the image whole."""
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
        self, images: Mapping[int, Storage], uniforms: Sequence[Sequence[Constant]]
    ) -> dict[int, Storage]:
        """The images asked for, of the images that are read and the uniforms of each program."""


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

    def partials(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], fewest: bool = False
    ) -> list[NDArray[Any]]:
        """What groups have made of their parts of the image: (H, n, C) along x, (n, W, C) along
        y; of `fewest` n is 1 where the device folds parts, too."""

    def whole(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[NDArray[Any]]:
        """The fold of all texels, (1, 1, C). `along` must be BOTH."""

    def kept(self, inputs: Sequence[Storage], uniforms: Sequence[Constant]) -> list[Storage] | None:
        """The same as storages of one texel that stay on the device; None without such a way."""
        return None


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
    has_groups: bool = False  # of threads that share memory, by which `fold` folds

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

    def scanned(self, lines: NDArray[Any], how: str) -> NDArray[Any] | None:
        """The running folds of each line of a host array (lines, N) of float32 or int32, by "add",
        "multiply", "maximum" or "minimum". None where that is to be done by programs."""
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

    def counted(self, texels: NDArray[Any], channel: int, groups: int) -> NDArray[np.int64] | None:
        """How many elements of a channel of host texels (H, W, C), of whole numbers, are 0, 1, ...
        groups - 1; those of four bytes that are others are left out. Bytes and pairs of them are
        taken as unsigned. None where that is to be done by programs."""
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

    def picked(self, holds: NDArray[np.bool_], texels: NDArray[Any]) -> NDArray[Any]:
        """The rows of contiguous host texels (N, C) where a contiguous mask (N,) holds."""
        return texels[holds]

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
        """The seconds that each of some copies of so many bytes takes, within the memory that
        programs read and write."""
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


__all__ = [
    "ALONG_X",
    "ALONG_Y",
    "BOTH",
    "UFUNCS",
    "Along",
    "Device",
    "FoldProgram",
    "FoldTask",
    "How",
    "Limits",
    "Link",
    "Linked",
    "PlaneRead",
    "Planes",
    "Prepared",
    "Program",
    "Shape",
    "Task",
    "Work",
]
