"""Ranges that follow the pixel through floats, too: places between pixels.

    to_float x  ->  add 0.5  ->  floor  ->  to_int        # x + [0, 1], and what rounding may add

This holds where no coordinate is greater than LARGEST: beyond, floats are too far apart.
"""

from __future__ import annotations

import math
from typing import Final

from pygpu.core.operations.ops import TABLE
from pygpu.passes.analysis.ranges import Ranges, Span
from pygpu.ssa import Function, Op, Value

LARGEST: Final = 1 << 22  # of a coordinate, and of what is added to one
ERROR: Final = 0.25  # of a sum of two such floats: half of what floats below twice that are apart
ROUNDED: Final = frozenset(
    code for code, row in TABLE.items() if row.whole and row.kinds == ("float",)
)


class Followed(Ranges):
    """What is known of a function's numbers; an int may come of floats that move with the pixel."""

    def __init__(self, function: Function) -> None:
        self.places: dict[Value, Span] = {}  # those floats
        super().__init__(function)

    def _made(self, op: Op) -> Span | None:
        place = self._place(op)
        if place is None:
            return super()._made(op)
        if op.code == "to_int":
            return Span(math.floor(place.low), math.ceil(place.high), place.x, place.y)
        self.places[op.results[0]] = place
        return None

    def _place(self, op: Op) -> Span | None:
        """What a float that moves with the pixel lies in before it is an int; None of others."""
        if not op.results or not op.results[0].type.is_scalar:
            return None
        if op.code == "to_float" and op.operands[0].type.kind == "int":
            span = self.of(op.operands[0])
            return None if span is None or span.is_plain else span
        spans = [self.places.get(value) for value in op.operands]
        if spans == [None] * len(spans):
            return None
        if op.code == "to_int":
            return spans[0]
        if op.code in ROUNDED and spans[0] is not None:
            found = spans[0]
            return Span(math.floor(found.low), math.ceil(found.high), found.x, found.y)
        if op.code in ("add", "sub"):
            a, b = [span or self.of(value) for span, value in zip(spans, op.operands, strict=True)]
            return None if a is None or b is None else _sum(a, b, 1 if op.code == "add" else -1)
        return None


def _sum(a: Span, b: Span, sign: int) -> Span | None:
    """What a + sign * b lies in, as floats have it."""
    ends = sign * b.low, sign * b.high
    low, high = a.low + min(ends) - ERROR, a.high + max(ends) + ERROR
    return Span(low, high, a.x + sign * b.x, a.y + sign * b.y) if near(low, high) else None


def near(*places: float) -> bool:
    return all(abs(place) <= LARGEST for place in places)
