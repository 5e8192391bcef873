"""How much rounds of an unrolled loop share: windows within windows read the same texels in many of
their rounds, which is seen in straight code and not in loops.

    sharing = Sharing(region, place)       # where the first round begins
    sharing.round()                        # after each: what it reads, and what nobody had before

Operations are numbered by what they compute, of the numbers of their operands: what they compute
written out would have no end where each is used twice by the next. The place x + 1 - 1 is x: whole
numbers to which known ones were added are a base and an offset.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from pygpu.ssa import Op, Region, Value, constant_of, walk


class Round(NamedTuple):
    """What a round of a loop reads, and how many of these reads, and of all operations, are new."""

    loads: int
    new_loads: int
    new: int


class Sharing:
    """See the module's head."""

    def __init__(self, region: Region, place: int) -> None:
        self.region, self.place = region, place
        self._numbers: dict[Value, Hashable] = {}
        self._known: dict[Hashable, int] = {}

    def round(self) -> Round:
        """What the operations do that have come since the last round."""
        ops = self.region.ops[self.place :]
        self.place += len(ops)
        before, loads, new_loads, new = len(self._known), 0, 0, 0
        for op in ops:
            if op.regions:
                new += sum(1 for region in op.regions for _ in walk(region))
                continue
            moved = _moved(op, self._numbers)
            if moved is not None:
                self._numbers[op.results[0]] = moved
                continue
            count = len(self._known)
            number = self._known.setdefault(self._key(op), count)
            is_new = number == count
            for place, result in enumerate(op.results):
                self._numbers[result] = number, place
            if op.code == "load":
                loads, new_loads = loads + 1, new_loads + is_new
        return Round(loads, new_loads, new + len(self._known) - before)

    def _key(self, op: Op) -> Hashable:
        operands = tuple([self._numbers.get(value, value) for value in op.operands])
        try:
            hash(op.data)
        except TypeError:
            return op.results
        return op.code, op.data, operands


def _moved(op: Op, numbers: dict[Value, Hashable]) -> Hashable | None:
    """A constant, or a whole number that a known one was added to, as a base and an offset."""
    if op.code == "constant":
        return "constant", op.data, 0
    if op.code not in ("add", "sub") or op.results[0].type.kind != "int":
        return None
    parts = _with_offset(op.operands)
    if parts is None:
        return None
    value, offset = parts
    if op.code == "sub":
        if op.operands[0] is not value:
            return None
        offset = -offset
    base = numbers.get(value, value)
    if isinstance(base, tuple) and base[0] == "moved":
        _, base, before = base
        offset += before
    return ("moved", base, offset) if offset else base


def _with_offset(operands: Sequence[Value]) -> tuple[Value, int] | None:
    """The value and the known number of a sum of both."""
    for value, other in (operands, operands[::-1]):
        offset = constant_of(other)
        if isinstance(offset, int) and not isinstance(offset, bool):
            return value, offset
    return None
