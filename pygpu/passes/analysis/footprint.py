"""How far around the pixel a function looks in each image.

footprint(sobel) == [Footprint(left=1, right=1, up=1, down=1)]
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.passes.analysis.ranges import Ranges
from pygpu.ssa import Function, Load, Op, constant_of, walk


@record
class Footprint:
    """Texels read around the pixel: so many to the left, right, up and down, at least 0."""

    left: int = 0
    right: int = 0
    up: int = 0
    down: int = 0

    def joined(self, other: Footprint) -> Footprint:
        return Footprint(*map(max, self.sides, other.sides))

    def around(self, other: Footprint) -> Footprint:
        """That of what looks so far around all that the other looks at."""
        return Footprint(*map(operator.add, self.sides, other.sides))

    @property
    def sides(self) -> tuple[int, int, int, int]:
        return self.left, self.right, self.up, self.down


FARTHEST: Final = 1 << 20  # a function that may look farther has no footprint


def footprint(
    function: Function, but: Collection[int] = (), ranges: Ranges | None = None
) -> list[Footprint | None]:
    """For each image what is read of it, None where that is not bounded around the pixel; nothing
    of the images in `but`. `ranges`: by which it is found out, the function's own unless given."""
    ranges = ranges or Ranges(function)
    found: list[Footprint | None] = [Footprint() for _ in function.images]
    for op in walk(function.body):
        if op.code == "load" and op.data.image not in but:
            before, here = found[op.data.image], _around(ranges, op)
            found[op.data.image] = before.joined(here) if before and here else None
    return found


def reads_itself(found: Sequence[Footprint | None]) -> bool:
    """Whether nothing but the pixel itself is read, by what `footprint` found."""
    return all(each == Footprint() for each in found)


def fixed(function: Function) -> set[int]:
    """The images read at known places alone: all pixels read the same texels of them."""
    loads = [op for op in walk(function.body) if op.code == "load"]
    moving = {op.data.image for op in loads if any(constant_of(x) is None for x in op.operands)}
    return {op.data.image for op in loads} - moving


def _around(ranges: Ranges, load: Op) -> Footprint | None:
    """What a load reads around the pixel."""
    data: Load = load.data
    x, y = [ranges.of(value) for value in load.operands]
    across = x.offset(1, 0) if x is not None else None
    down = y.offset(0, 1) if y is not None else None
    if across is None or down is None:
        return None
    (left, right), (top, bottom) = across, down
    here = Footprint(-left - data.dx, right + data.dx, -top - data.dy, bottom + data.dy)
    return here if max(here.sides) <= FARTHEST else None
