"""What a device may do to whole arrays, beside running functions of a pixel: scans, folds by group.

program = device.scan(task, "x")                       # an ArrayDevice; None: it cannot
program.run(storages, [], Lines("x", 480, 640))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

from pygpu.core.device import FoldTask
from pygpu.core.host.records import record
from pygpu.core.storage import Format, Storage
from pygpu.ssa import Constant, Function
from pygpu.types import Type

Layout = Literal["x", "y", "folded"]  # how lines run in an image; folded: one line, row after row


@record
class Lines:
    """So many lines of so many elements in an image, and whether scans begin at their ends."""

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


@record(eq=False)
class GroupTask:
    """A fold of the elements of the first `count` of the images that `value` reads, each group for
    itself: `value` gives the parts of a value and last the number of its group, from 0 to `groups`
    - 1 or left out. A group without elements has the words of `neutral`, which are an identity of
    `join` where `has_identity`. `how` is what device.UFUNCS calls the function that `join` is, ""
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

    def run(
        self,
        inputs: Sequence[Storage],
        uniforms: Sequence[Constant],
        count: int,
        shape: tuple[int, int],
    ) -> list[Storage]:
        """The folds of the first `count` elements of images, row after row: a storage of this shape
        for each part of a value, where groups lie row after row."""


@record(eq=False)
class SortTask:
    """A sort of lines: the function `texel` gives a number of the `type` that is sorted by, which
    has so many `bits`. `is_placed`: where elements were is asked for, too. `is_bounded`: numbers
    are ints from 0 on, and a call says from which on they are all equal to it."""

    texel: Function
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


__all__ = [
    "ArrayDevice",
    "GroupProgram",
    "GroupTask",
    "Layout",
    "Lines",
    "ScanProgram",
    "SortProgram",
    "SortTask",
]
