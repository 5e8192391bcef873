"""The greatest and least of windows, by lines: what is found along a line is one expression at
several pixels, which becomes a stage (part.py).

    max(im[x - 3, y - 3], ..., im[x + 3, y + 3])  ->  max of the greatest of each row

Lines of a window of any shape may differ: a shorter one is part of a longer one, as rows of a disk
are. Of NaN comes what came of it before. There are three ways: Python's `max`, by which NaN stays
that comes first and any other is passed over; that of `np.maximum`, by which NaN wins; and that of
`np.fmax`, by which all of it is passed over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from functools import reduce
from typing import Any, Final, Literal, NamedTuple

from pygpu.core.builder import Builder
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.rules import made_by
from pygpu.passes.stages.shifts import Shifted
from pygpu.ssa import Load, Op, Value
from pygpu.types import Type

EXTREMES: Final = ("max", "min")
STORED: Final = 4  # sums that storing what is found along a line costs
WORTH: Final = 1.5  # times as much as by lines a window must cost that is no rectangle
SHAPES: Final = 8  # of lines, at most
LONG: Final = 28  # places of a line that is found from two of its halves

Place = tuple[int, int]
Order = Literal["columns", "rows", "planes"]  # what is found along these comes first
Shape = tuple[int, ...]  # of a line: how far its places are from the first


class Step(NamedTuple):
    """One of two: `way(rest, each)`, where `way` says what comes of NaN."""

    way: Literal["first", "wins", "passed"]
    code: str
    data: Any
    rest: Value
    each: Value

    @property
    def kind(self) -> tuple[Any, ...]:
        return self[:3]


def step(op: Op) -> Step | None:
    """The step that an operation makes; see the functions of `_pair` for how it is written."""
    if op.code in EXTREMES:
        return Step("first", op.code, op.data, *op.operands)
    if op.code != "select":
        return None
    test, taken, other = op.operands
    isnan, inner = made_by(test, "isnan"), other.op
    if isnan is None or inner is None or inner.code not in EXTREMES or taken is inner.operands[0]:
        return None
    rest, each = inner.operands
    if taken is not each or isnan.operands[0] not in (rest, each):
        return None
    return Step("wins" if isnan.operands[0] is each else "passed", inner.code, None, rest, each)


def before(one: Step, count: Mapping[Value, int], has_nans: bool) -> tuple[Value, Value] | None:
    """The result of the step before one, of the same window, and what else it takes; None where
    there is no such. Where there is no NaN, it may be either of the two that are compared."""
    pair = one.rest, one.each
    for part, other in (pair,) if has_nans else (pair, pair[::-1]):
        inner = None if part.op is None else step(part.op)
        is_part = count[part] == (2 if one.way == "passed" else 1)
        if inner is not None and inner.kind == one.kind and is_part:
            return part, other
    return None


@record
class Line:
    """How what a line has is found: from that of a shorter line, so far behind the first place,
    once or twice, and what else there is."""

    base: Shape | None
    offsets: tuple[int, ...]
    rest: tuple[int, ...]

    @property
    def work(self) -> int:
        return len(self.rest) + len(self.offsets)


@record(eq=False)
class Window:
    """A window's places by lines: along which axis, each line's shape by where it lies (the first
    place along the axis, then across), and how each shape is found."""

    axis: int
    lines: tuple[tuple[int, int, Shape], ...]
    shapes: dict[Shape, Line]
    has_halves: bool  # long lines, and many, are found from halves: where caches keep stages

    @classmethod
    def of(cls, places: Set[Place], order: Order) -> Window:
        axis = 0 if order == "rows" else 1
        by_line: dict[int, list[int]] = {}
        for place in sorted(places, key=lambda place: (place[1 - axis], place[axis])):
            by_line.setdefault(place[1 - axis], []).append(place[axis])
        lines = tuple(
            [(some[0], at, tuple([n - some[0] for n in some])) for at, some in by_line.items()]
        )
        different = {shape for _, _, shape in lines}
        (shape,) = different if len(different) == 1 else ((),)
        has_halves = order != "columns"
        while has_halves and len(shape) >= LONG and shape == tuple(range(len(shape))):
            shape = shape[: (len(shape) + 1) // 2]
            different.add(shape)
        shapes: dict[Shape, Line] = {}
        for shape in sorted(different, key=lambda shape: (len(shape), shape)):
            shapes[shape] = _line(shape, list(shapes))
        return cls(axis, lines, shapes, has_halves)

    @property
    def is_rectangle(self) -> bool:
        return len({(first, shape) for first, _, shape in self.lines}) == 1

    def pays(self, layers: int, least: int) -> bool:
        """Whether it is much less by lines; a window of so many layers has so many places."""
        size = sum([len(shape) for _, _, shape in self.lines])
        if size * layers < least or len(self.lines) < 3:
            return False
        if self.is_rectangle:
            return size >= 3 * len(self.lines)
        stored = STORED * sum(len(shape) > 1 for shape in self.shapes)
        work = sum([line.work for line in self.shapes.values()]) + len(self.lines)
        return len(self.shapes) <= SHAPES and 2 * size > WORTH * (2 * work + stored)


def _line(shape: Shape, shorter: Sequence[Shape]) -> Line:
    """A line from the longest that lies in it, as near to its middle as can be."""
    places = set(shape)
    for base in reversed(shorter):
        offsets = [n for n in shape if len(base) > 1 and places.issuperset([n + k for k in base])]
        if offsets:
            middle = (shape[-1] - base[-1]) / 2
            offset = min(offsets, key=lambda n: abs(n - middle))
            rest = tuple(sorted(places - {offset + k for k in base}))
            both = offsets[0], offsets[-1]
            if len(rest) > 2 and places == {n + k for n in both for k in base}:
                return Line(base, both, ())
            return Line(base, (offset,), rest)
    return Line(None, (), shape)


@record(eq=False)
class Extreme:
    """The greatest or least of the numbers in a window, of which one is the first, unless what is
    first is anything else (`is_apart`)."""

    step: Step
    first: Value | Place | float  # where a loop compares them, a texel's place or a number
    is_apart: bool
    layers: Sequence[Mapping[Place, Value]]
    window: Window
    has_nans: bool  # whether it may be among the numbers
    load: Load | None = None  # of the texels that a loop compares

    def written(self, rewriter: Rewriter, type: Type, order: Order) -> Value:
        """By lines; where the order says so, layers first. Of Python's way, NaN is passed over by
        the greatest of a line and no number yet, and what comes first is looked at in the end."""
        build, window = rewriter.build, self.window
        found = _Found(build, self.step, type, self.has_nans)
        apart = order == "planes" and len(self.layers) > 1

        def at(along: int, across: int) -> list[Value]:
            place = (along, across) if window.axis == 0 else (across, along)
            some = self.numbers(rewriter, place)
            return [found.of(some)] if apart else some

        def line(along: int, across: int, shape: Shape) -> Value:
            made = window.shapes[shape]
            rest = [each for n in made.rest for each in at(along + n, across)]
            if made.base is not None:
                base = made.base
                rest = [*[line(along + n, across, base) for n in made.offsets], *rest]
            return found.of(rest, is_clean=apart or made.base is not None)

        def block(lines: Sequence[tuple[int, int, Shape]]) -> Value:
            half = (len(lines) + 1) // 2
            may_halve = window.has_halves and window.is_rectangle and len(lines) >= LONG
            if may_halve and lines[half][1] - lines[0][1] == half:
                return found.of([block(lines[:half]), block(lines[-half:])], is_clean=True)
            return found.of([line(*each) for each in lines], is_clean=True)

        most = block(window.lines)
        if not (self.is_apart or found.skips):
            return most
        if isinstance(self.first, Value):
            first = rewriter.new[self.first]
        elif isinstance(self.first, tuple):
            (first,) = self.numbers(rewriter, self.first)
        else:
            first = build.constant(type, self.first)
        if self.is_apart:
            return found.pair(first, most)
        return build.emit("select", build.emit("isnan", first), first, most)

    def numbers(self, rewriter: Rewriter, place: Place) -> list[Value]:
        """Those of all layers at a place, in the function being written."""
        if self.load is None:
            return [rewriter.new[each[place]] for each in self.layers]
        build, (dx, dy) = rewriter.build, place
        return [build.emit("load", build.x, build.y, data=replace(self.load, dx=dx, dy=dy))]


class _Found:
    """Writes what is found among some values."""

    def __init__(self, build: Builder, step: Step, type: Type, has_nans: bool) -> None:
        self.build, self.step, self.type = build, step, type
        self.way = step.way if has_nans else "first"
        self.skips = has_nans and step.way == "first" and step.data is None

    def plain(self, a: Value, b: Value) -> Value:
        return self.build.emit(self.step.code, a, b, data=self.step.data)

    def pair(self, a: Value, b: Value) -> Value:
        """Of two, by the step's way."""
        if self.way == "first":
            return self.plain(a, b)
        test = self.build.emit("isnan", b if self.way == "wins" else a)
        return self.build.emit("select", test, b, self.plain(a, b))

    def of(self, values: Sequence[Value], is_clean: bool = False) -> Value:
        """Of some; `is_clean`: the first, at least, is none that NaN comes of in Python's way."""
        if self.way == "wins":
            return self.unless_nan(values)
        if self.skips and not is_clean:
            least = -math.inf if self.step.code == "max" else math.inf
            values = [self.build.constant(self.type, least), *values]
        return reduce(self.pair, values)

    def unless_nan(self, values: Sequence[Value]) -> Value:
        """NaN where any of them is."""
        if len(values) == 1:
            return values[0]
        emit = self.build.emit
        tests = [emit("isnan", value) for value in values]
        is_nan = reduce(lambda one, other: emit("bit_or", one, other), tests)
        nan = self.build.constant(self.type, math.nan)
        return emit("select", is_nan, nan, reduce(self.plain, values))


@record(eq=False)
class Compared:
    """The greatest or least, by such steps, of texels at some places, beginning with that at one of
    them or with a number."""

    step: Step
    load: Load
    first: Place | float
    places: Set[Place]

    def by_lines(self, order: Order, has_nans: bool) -> Extreme | None:
        window, is_apart = Window.of(self.places, order), self.first not in self.places
        if not window.pays(1, 0):
            return None
        return Extreme(self.step, self.first, is_apart, (), window, has_nans, self.load)


def extreme(
    last: Op,
    places: Mapping[Value, Shifted],
    count: Mapping[Value, int],
    order: Order,
    least: int,
    has_nans: bool,
) -> Extreme | None:
    """What is found among the places of a whole window, one after the other, up to an operation;
    None where that is no window, or not much less by lines of so many places."""
    one = step(last)
    if one is None:
        return None
    found: list[Value] = []
    while earlier := before(one, count, has_nans):
        part, other = earlier
        found.append(other)
        assert part.op is not None
        one = step(part.op)
        assert one is not None
    found.append(one.each)
    layers: dict[int, dict[Place, Value]] = {}
    for each in found:
        place = places.get(each)
        if place is None:
            return None
        layers.setdefault(place.number, {})[place.dx, place.dy] = each
    place = places.get(one.rest)
    is_apart = place is None or place.number not in layers
    if place is not None and not is_apart:
        layers[place.number][place.dx, place.dy] = one.rest
    first, *others = found_at = list(layers.values())
    if any(other.keys() != first.keys() for other in others):
        return None
    window = Window.of(first.keys(), order)
    if not window.pays(len(layers), least):
        return None
    return Extreme(one, one.rest, is_apart, found_at, window, has_nans)
