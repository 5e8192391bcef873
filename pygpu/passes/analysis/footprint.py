"""How far around the pixel a function looks in each image.

Every int is known as  a*x + b*y + [low, high]  where that can be seen: sums, offsets from tables,
counters of loops with known ends, what is clamped or reduced modulo a number.

    footprint(sobel) == [Footprint(left=1, right=1, up=1, down=1)]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from pygpu.passes.analysis.counters import Counter, counters
from pygpu.ssa import Function, Op, Region, Value, constant_of
from pygpu.types import INT


@dataclass(frozen=True, slots=True)
class Footprint:
    """Texels that are read around the pixel: so many to the left, right, up and down, not less
    than 0."""

    left: int = 0
    right: int = 0
    up: int = 0
    down: int = 0

    def joined(self, other: Footprint) -> Footprint:
        return Footprint(
            max(self.left, other.left),
            max(self.right, other.right),
            max(self.up, other.up),
            max(self.down, other.down),
        )


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers  x*(the pixel's x) + y*(the pixel's y) + [low, high]."""

    x: int
    y: int
    low: int
    high: int

    def offset(self, x: int, y: int) -> tuple[int, int] | None:
        """Low and high where the rest is the pixel's own coordinate."""
        return (self.low, self.high) if (self.x, self.y) == (x, y) else None


ANY: Final = Range(0, 0, -(2**31), 2**31 - 1)  # an int of which nothing is known
FARTHEST: Final = 1 << 20  # a function that may look farther has no footprint


def footprint(function: Function) -> list[Footprint | None]:
    """For each image what is read of it; None where that is not bounded around the pixel."""
    finder = _Finder(function)
    finder.region(function.body)
    return finder.found


def reads_itself(found: Sequence[Footprint | None]) -> bool:
    """Whether nothing but the pixel itself is read, by what `footprint` found."""
    return all(each == Footprint() for each in found)


def ranges(function: Function) -> dict[Value, Range]:
    """Of each int of which something is known, what it may be."""
    finder = _Finder(function)
    finder.region(function.body)
    return finder.ranges


class _Finder:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.found: list[Footprint | None] = [Footprint() for _ in function.images]
        self.ranges: dict[Value, Range] = {
            function.x: Range(1, 0, 0, 0),
            function.y: Range(0, 1, 0, 0),
        }

    def region(self, region: Region) -> None:
        for op in region.ops:
            if op.code == "load":
                self.load(op)
            elif op.code == "if":
                self.branch(op)
            elif op.code == "loop":
                self.loop(op)
            elif op.results[0].type is INT:
                self.note(op.results[0], self.range_of(op))

    def known(self, value: Value) -> Range:
        number = constant_of(value) if value.type is INT else None
        return Range(0, 0, number, number) if type(number) is int else self.ranges.get(value, ANY)

    def note(self, value: Value, found: Range | None) -> None:
        """Keep what was found out, unless the number may wrap."""
        if found is None:
            return
        ends = ANY.high if (found.x, found.y) == (0, 0) else ANY.high // 2  # pixels are small
        if -ends - 1 <= found.low <= found.high <= ends:
            self.ranges[value] = found

    def load(self, op: Op) -> None:
        data = op.data
        x, y = (self.known(value) for value in op.operands)
        horizontal, vertical = x.offset(1, 0), y.offset(0, 1)
        before = self.found[data.image]
        if before is None or not horizontal or not vertical:
            self.found[data.image] = None
            return
        (left, right), (up, down) = horizontal, vertical
        here = Footprint(-left - data.dx, right + data.dx, -up - data.dy, down + data.dy)
        near = max(here.left, here.right, here.up, here.down) <= FARTHEST
        self.found[data.image] = before.joined(here) if near else None

    def range_of(self, op: Op) -> Range | None:
        if op.code == "table":
            values = self.function.tables[op.data.table].values
            return Range(0, 0, int(values.min()), int(values.max()))
        if op.code == "swizzle":
            return self.component(op)
        if op.code == "to_int" and op.operands[0].type.kind == "bool":
            return Range(0, 0, 0, 1)
        rule = _RULES.get(op.code)
        if rule is None:
            return None
        return rule(*(self.known(value) for value in op.operands[-2:]))

    def component(self, op: Op) -> Range | None:
        """A component of a vector from a table of ints."""
        source = op.operands[0].op
        if source is None or source.code != "table" or len(op.data) != 1:
            return None
        column = self.function.tables[source.data.table].values[:, op.data[0]]
        return Range(0, 0, int(column.min()), int(column.max()))

    def branch(self, op: Op) -> None:
        for region in op.regions:
            self.region(region)
        for value, *sides in zip(
            op.results, *(region.results for region in op.regions), strict=True
        ):
            self.note(value, _either(*(self.known(side) for side in sides)))

    def loop(self, op: Op) -> None:
        (body,) = op.regions
        ends = {}
        for counter in counters(op):
            param = body.params[counter.index]
            counted = self.counted(counter) if param not in self.ranges else None
            if counted is not None:
                self.note(param, counted)
                if counter.always:
                    step = Range(0, 0, counter.step, counter.step)
                    ends[op.results[counter.index]] = _sum(counted, step)
        self.region(body)
        for value, end in ends.items():
            self.note(value, end)

    def counted(self, counter: Counter) -> Range | None:
        """What a counter is in the rounds of its loop; None where it may wrap."""
        start, limit = self.known(counter.first), self.limit(counter.limit)
        if not _plain(start):
            return None
        further = 0 if counter.is_after else counter.step  # than the number that was compared
        if counter.test in ("lt", "le"):
            last = max(start.high, limit.high - (counter.test == "lt") + further)
            return Range(0, 0, start.low, last) if last + counter.step <= ANY.high else None
        if counter.test in ("gt", "ge"):
            last = min(start.low, limit.low + (counter.test == "gt") + further)
            return Range(0, 0, last, start.high) if last + counter.step >= ANY.low else None
        return None

    def limit(self, value: Value) -> Range:
        """What a loop's counter is compared with; one that depends on the pixel is not known."""
        known = self.known(value)
        return known if (known.x, known.y) == (0, 0) else ANY


# ---------------------------------------------------------------- rules: from ranges of operands


def _plain(known: Range) -> bool:
    """Whether it does not depend on the pixel."""
    return (known.x, known.y) == (0, 0)


def _either(a: Range, b: Range) -> Range | None:
    if (a.x, a.y) != (b.x, b.y):
        return None
    return Range(a.x, a.y, min(a.low, b.low), max(a.high, b.high))


def _sum(a: Range, b: Range) -> Range:
    return Range(a.x + b.x, a.y + b.y, a.low + b.low, a.high + b.high)


def _neg(a: Range) -> Range:
    return Range(-a.x, -a.y, -a.high, -a.low)


def _difference(a: Range, b: Range) -> Range:
    return _sum(a, _neg(b))


def _product(a: Range, b: Range) -> Range | None:
    """Of two intervals; what depends on the pixel times a constant."""
    if not _plain(b):
        a, b = b, a
    if not _plain(b) or not (_plain(a) or b.low == b.high):
        return None
    ends = [p * q for p in (a.low, a.high) for q in (b.low, b.high)]
    return Range(a.x * b.low, a.y * b.low, min(ends), max(ends))


def _extreme(keep: Callable[[int, int], int]) -> Callable[..., Range | None]:
    def rule(a: Range, b: Range) -> Range | None:
        if (a.x, a.y) != (b.x, b.y):
            return None
        return Range(a.x, a.y, keep(a.low, b.low), keep(a.high, b.high))

    return rule


def _mod(a: Range, b: Range) -> Range | None:
    """The sign is the divisor's; by zero it is 0."""
    return Range(0, 0, 0, max(b.high - 1, 0)) if _plain(b) and b.low >= 0 else None


def _bit_and(a: Range, b: Range) -> Range | None:
    """At most a factor that is not negative."""
    if _plain(b) and b.low >= 0:
        return Range(0, 0, 0, b.high)
    return Range(0, 0, 0, a.high) if _plain(a) and a.low >= 0 else None


def _floordiv(a: Range, b: Range) -> Range | None:
    if not _plain(a) or not _plain(b) or b.low != b.high or b.low <= 0:
        return None
    return Range(0, 0, a.low // b.low, a.high // b.low)


def _shr(a: Range, b: Range) -> Range | None:
    if not _plain(a) or not _plain(b) or b.low != b.high or not 0 <= b.low < 32:
        return None
    return Range(0, 0, a.low >> b.low, a.high >> b.low)


_RULES: Final[dict[str, Callable[..., Range | None]]] = {
    "add": _sum,
    "sub": _difference,
    "mul": _product,
    "neg": _neg,
    "min": _extreme(min),
    "max": _extreme(max),
    "select": _either,
    "mod": _mod,
    "bit_and": _bit_and,
    "floordiv": _floordiv,
    "shr": _shr,
}
