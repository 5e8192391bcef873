"""What a device may do to whole arrays, beside running functions of a pixel: scans, sorts, folds by
group.

program = device.scan(task, "x")                       # an ArrayDevice; None: it cannot
program.run(storages, [], Lines("x", 480, 640))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple, Protocol

from pygpu.core.host.records import record
from pygpu.core.programs import FoldTask
from pygpu.core.storage import Format, Storage
from pygpu.ssa import Constant, Function
from pygpu.types import Type

Layout = Literal["x", "y", "folded"]  # how lines run in an image; folded: one line, row after row


@record
class Lines:
    """How many lines of how many elements an image has, and whether scans begin at their ends."""

    layout: Layout
    lines: int
    count: int
    reverse: bool = False


class ScanProgram(Protocol):
    """A running fold of lines, compiled."""

    source: str

    def run(
        self, inputs: Sequence[Storage], uniforms: Sequence[Constant], lines: Lines
    ) -> list[Storage]:
        """Each element folded with all those before it on its line: a storage for each part of a
        value, of the size of the first image."""


class Elements(NamedTuple):
    """What is given to folds by group and to compressions: the first elements of images, row
    after row, so many, and numbers."""

    images: Sequence[Storage]
    uniforms: Sequence[Constant]
    length: int


@record(eq=False)
class GroupTask:
    """A fold of the elements of the first `count` of the images that `value` reads, each group for
    itself: `value` gives the parts of a value and last the number of its group, from 0 to `groups`
    - 1 or left out. A group without elements has the words of `neutral`, which are an identity of
    `join` where `has_identity`. `how` is what programs.UFUNCS calls the function that `join` is, ""
    where it has no name there."""

    value: Function
    join: Function
    inputs: Sequence[Format]
    count: int
    types: Sequence[Type]
    groups: int
    how: str
    neutral: tuple[int, ...]
    has_identity: bool


class GroupProgram(Protocol):
    """A fold by group, compiled."""

    source: str

    def run(self, of: Elements, shape: tuple[int, int]) -> list[Storage]:
        """The folds: a storage of this shape for each part of a value, where groups lie row after
        row."""


@record(eq=False)
class CompressTask:
    """What picks elements out. `value` gives, of each of the first `count` elements of the images
    that it reads, an int, which is zero of elements that are not picked, and then the parts of what
    is kept of the element, of `types`."""

    value: Function
    inputs: Sequence[Format]
    count: int
    types: Sequence[Type]


class CompressProgram(Protocol):
    """What picks elements out, compiled."""

    source: str

    def run(
        self, of: Elements, rows_of: Callable[[int], tuple[int, int]]
    ) -> tuple[list[Storage], int]:
        """What is kept of those elements that are picked, and how many there are: a storage for
        each part of a value, of the rows that `rows_of` gives for so many. The number is waited
        for."""


@record(eq=False)
class SortTask:
    """A sort of lines: the function `value` gives a number of the `type` that is sorted by, which
    has so many `bits`. `is_placed`: where elements were is asked for, too. `is_bounded`: numbers
    are ints from 0 on, and a call says from which on they are all equal to it."""

    value: Function
    inputs: Sequence[Format]
    layout: Layout
    type: Type
    bits: int
    is_signed: bool
    descending: bool
    is_placed: bool
    is_bounded: bool = False

    @property
    def kind(self) -> str:
        return self.type.kind

    @property
    def count(self) -> int:
        """How many images are read at the element alone."""
        return 1

    @property
    def types(self) -> tuple[Type, ...]:
        return (self.type,)


class SortProgram(Protocol):
    """A sort, compiled."""

    source: str

    def run(
        self, image: Storage, lines: Lines, bound: int
    ) -> tuple[Storage | None, Storage | None]:
        """The sorted numbers as words, where they are of four bytes, and where they were on their
        lines, where that is asked for; storages of the size of the image."""


class ArrayDevice:
    """What a device does to whole storages by itself, in a few programs. None where it cannot, and
    programs of other kinds are to do it."""

    def scan(self, task: FoldTask, layout: Layout) -> ScanProgram | None:
        """What scans lines that lie so in their image. `along` does not count."""
        return None

    def fold_groups(self, task: GroupTask) -> GroupProgram | None:
        """What folds by group."""
        return None

    def sort(self, task: SortTask) -> SortProgram | None:
        """What sorts lines: stable, NaNs last."""
        return None

    def compress(self, task: CompressTask) -> CompressProgram | None:
        """What picks elements out, in their order."""
        return None
