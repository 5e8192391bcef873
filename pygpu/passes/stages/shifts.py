"""Which values are the same expression at other pixels: value numbering modulo shifts.

    %2 = mul %0, %0        # of %0 = load im[x, y]
    %3 = mul %1, %1        # of %1 = load im[x + 1, y]

If numbered(function) says Shifted(7, 0, 0) of %2 and Shifted(7, 1, 0) of %3, then %3 is what %2 is
at the pixel to the right. Loads at known places near the pixel are what expressions shift with; a
value that depends on the position otherwise is no shift of any other. An expression is where the
middle of its loads is: so those of the same loads are at one place.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.ssa import Function, Load, Op, Value


@record
class Shifted:
    """An expression by its number, at the pixel so many columns and rows on."""

    number: int
    dx: int
    dy: int


@record(eq=False)
class Texels:
    """A sum of weighted texels of one image, by their places."""

    load: Load
    weights: dict[tuple[int, int], float]


MOST: Final = 4096  # texels of a sum, see `Texels`

Box = tuple[int, int, int, int]  # the least and greatest column, the least and greatest row


def _joined(boxes: Sequence[Box]) -> Box:
    if not boxes:
        return 0, 0, 0, 0
    left, right, top, bottom = zip(*boxes, strict=True)
    return min(left), max(right), min(top), max(bottom)


class _Numbering:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.numbers: dict[Hashable, int] = {}
        self.same: dict[Value, int] = {}  # values that are the same for all pixels, by numbers
        self.found: dict[Value, Shifted] = {}
        self.boxes: dict[Value, Box] = {}  # around the loads of each
        for uniform in function.uniforms:
            self.same[uniform] = self.number(uniform)

    def number(self, key: Hashable) -> int:
        return self.numbers.setdefault(key, len(self.numbers))

    def add(self, op: Op) -> None:
        """Number the result of an operation, if it can be."""
        if op.regions or len(op.results) != 1:
            return
        if op.code == "load":
            self.add_load(op, op.data)
            return
        difference = _difference(op)
        operands = difference.operands if difference else op.operands
        shifted = [self.found[v] for v in operands if v in self.found]
        if any(v not in self.same and v not in self.found for v in operands):
            return  # of the position itself
        boxes = [self.boxes[v] for v in operands if v in self.found]
        box = _joined(boxes)
        dx, dy = (box[0] + box[1]) // 2, (box[2] + box[3]) // 2
        places = iter(shifted)
        parts: list[Hashable] = []
        for value in operands:
            if value in self.same:
                parts.append(self.same[value])
            else:
                place = next(places)
                parts.append((place.number, place.dx - dx, place.dy - dy))
        # Constants of one value may be of two kinds of zero, which Python takes for equal.
        data = repr(op.data) if op.code == "constant" else op.data
        kept = frozenset(parts) if difference else tuple(parts)
        number = self.number((op.code, data, kept))
        if shifted:
            self.found[op.result], self.boxes[op.result] = Shifted(number, dx, dy), box
        else:
            self.same[op.result] = number

    def add_load(self, op: Op, load: Load) -> None:
        if op.operands == (self.function.x, self.function.y):
            number = self.number(("load", load.image, load.boundary, load.cval))
            self.found[op.result] = Shifted(number, load.dx, load.dy)
            self.boxes[op.result] = load.dx, load.dx, load.dy, load.dy


def _difference(op: Op) -> Op | None:
    """The difference of floats that an operation is the square or the magnitude of: the same
    whichever is taken from which."""
    inner = op.operands[0].op if op.operands else None
    is_even = op.code == "abs" or (op.code == "mul" and op.operands[0] is op.operands[1])
    if inner is None or inner.code != "sub" or not is_even or op.result.type.kind != "float":
        return None
    return inner


def numbered(function: Function) -> dict[Value, Shifted]:
    """Of the values outside of branches and loops those that are expressions of texels near."""
    numbering = _Numbering(function)
    for op in function.body.ops:
        numbering.add(op)
    return numbering.found


def alike(one: Load, other: Load) -> bool:
    """Whether two loads are of one image, read alike."""
    return (one.image, one.boundary, one.cval) == (other.image, other.boundary, other.cval)
