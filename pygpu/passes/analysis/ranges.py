"""What numbers of a function lie between, as far as that can be seen.

Texels of 8 and 16 bits lie in [0, 1], counters between the ends of their loops, and what is
computed of what is bounded is bounded too, by the rules in the table of operations. An int is known
to be a*x + b*y + [low, high], where x and y are the pixel's. A float of which something is known is
finite.

    ranges = Ranges(function, formats)
    ranges.of(value)                # Span(low=-1, high=1, x=1): next to the pixel's column
    ranges.may_be_nan(value)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

from pygpu.core.host.records import record
from pygpu.core.operations.intervals import ANY, LARGEST, Range, product, total, union
from pygpu.core.operations.ops import TABLE
from pygpu.core.storage import Format
from pygpu.passes.analysis.counters import Counter, counters
from pygpu.ssa import Function, Op, Value, is_constant, visit

_OF_KINDS: Final[dict[str, Range]] = {
    "bool": (0.0, 1.0), "int": (-(2.0**31), 2.0**31), "uint": (0.0, 2.0**32), "float": ANY
}  # fmt: skip


@record
class Span:
    """The numbers  x*(the pixel's x) + y*(the pixel's y) + [low, high]. Of ints, all are ints."""

    low: float
    high: float
    x: int = 0
    y: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it does not depend on the pixel."""
        return (self.x, self.y) == (0, 0)

    def offset(self, x: int, y: int) -> tuple[int, int] | None:
        """Low and high of an int where the rest is the pixel's own coordinate."""
        return (int(self.low), int(self.high)) if (self.x, self.y) == (x, y) else None


INTS: Final = Span(-(2**31), 2**31 - 1)


class Ranges:
    """What is known of a function's numbers; of texels only where formats of images are."""

    def __init__(self, function: Function, formats: Sequence[Format] = ()) -> None:
        self.function, self.formats = function, formats
        self.spans: dict[Value, Span] = {function.x: Span(0, 0, x=1), function.y: Span(0, 0, y=1)}
        for op, is_after in visit(function.body):
            if op.code == "loop":
                (self._leave if is_after else self._enter)(op)
            elif op.code == "if" and is_after:
                self._join(op)
            elif is_after:
                self._note(op.results[0], self._made(op))

    # ------------------------------------------------ what is known

    def of(self, value: Value) -> Span | None:
        """What a number, or each component of a vector, lies in: None where nothing is known, and
        where a float may be NaN or infinite."""
        if value not in self.spans and is_constant(value):
            assert value.op is not None
            self._note(value, _constant(value.op))
        return self.spans.get(value)

    def bounds(self, value: Value) -> Range:
        """What a float lies in, as an interval: ANY where nothing is known."""
        span = self.of(value)
        return ANY if span is None else (span.low, span.high)

    def lies_in(self, value: Value, low: int, high: int) -> bool:
        """Whether an int is known to be one of low, ..., high for all pixels."""
        span = self.of(value)
        return span is not None and span.is_plain and low <= span.low <= span.high <= high

    def may_be_nan(self, value: Value) -> bool:
        return value.type.kind == "float" and self.of(value) is None

    def _int(self, value: Value) -> Span:
        return self.of(value) or INTS

    def _note(self, value: Value, span: Span | None) -> None:
        """Keep what was found out, unless a float may be infinite or an int may wrap."""
        if span is None:
            return
        if value.type.kind == "float":
            if -LARGEST < span.low <= span.high < LARGEST:
                self.spans[value] = Span(float(span.low), float(span.high))
            return
        most = INTS.high if span.is_plain else INTS.high // 2  # coordinates of pixels are small
        if -most - 1 <= span.low <= span.high <= most:
            self.spans[value] = Span(int(span.low), int(span.high), span.x, span.y)

    # ------------------------------------------------ operations

    def _made(self, op: Op) -> Span | None:
        """What the result of an operation lies in."""
        kind = op.results[0].type.kind
        if kind not in ("float", "int") or op.code == "constant":  # those are found when asked for
            return None
        special = _SPECIAL.get(op.code)
        if special is not None:
            return special(self, op)
        return self._float(op) if kind == "float" else self._integer(op)

    def _float(self, op: Op) -> Span | None:
        row = TABLE[op.code]
        if row.range is None and not row.is_total:
            return None
        operands = [value for value in op.operands if value.type.kind == "float"]
        if any(self.may_be_nan(value) for value in operands):
            return None
        ranges = [self.bounds(value) for value in operands]
        if op.code == "sub" and not _members(operands[0], "max").isdisjoint(
            _members(operands[1], "min")
        ):  # the greatest of some numbers less the least of some, one of which are both
            return Span(0.0, ranges[0][1] - ranges[1][0])
        if op.code in ("mul", "fma") and operands[0] is operands[1]:
            low, high = product(ranges[:2])
            square = max(0.0, low), high
            return Span(*(total([square, ranges[2]]) if op.code == "fma" else square))
        return Span(*(row.bounds if row.range is None else row.range(ranges)))

    def _integer(self, op: Op) -> Span | None:
        spans = [self._int(value) for value in op.operands if value.type.kind == "int"]
        rule = _INTEGERS.get(op.code)
        if rule is not None:
            return rule(*spans)
        row = TABLE[op.code]
        made_of = row.ints or row.range
        if made_of is None:
            return None
        plain = [span if span.is_plain else INTS for span in spans]
        return Span(*made_of([(span.low, span.high) for span in plain]))

    def _load(self, op: Op) -> Span | None:
        load = op.data
        if not self.formats or not self.formats[load.image].is_scaled:
            return None
        outside = load.cval if load.boundary == "constant" else ()
        is_finite = all(map(math.isfinite, outside))
        return Span(min(0.0, *outside, 0.0), max(1.0, *outside, 1.0)) if is_finite else None

    def _table(self, op: Op) -> Span | None:
        values = self.function.tables[op.data.table].values
        is_int = op.results[0].type.kind == "int"
        return Span(int(values.min()), int(values.max())) if is_int else None

    def _swizzle(self, op: Op) -> Span | None:
        """Of one component of a vector from a table of ints, what that column lies in."""
        source = op.operands[0].op
        is_int = op.results[0].type.kind == "int"
        if is_int and source is not None and source.code == "table" and len(op.data) == 1:
            column = self.function.tables[source.data.table].values[:, op.data[0]]
            return Span(int(column.min()), int(column.max()))
        return self._integer(op) if is_int else self._float(op)

    def _to_float(self, op: Op) -> Span | None:
        span = Span(*_OF_KINDS[op.operands[0].type.kind])
        return span if math.isfinite(span.low) else self.of(op.operands[0])

    def _to_int(self, op: Op) -> Span | None:
        return Span(0, 1) if op.operands[0].type.kind == "bool" else None

    # ------------------------------------------------ branches and loops

    def _join(self, op: Op) -> None:
        first, second = op.regions
        for value, a, b in zip(op.results, first.results, second.results, strict=True):
            if value.type.kind == "int":
                self._note(value, _either(self._int(a), self._int(b)))

    def _enter(self, loop: Op) -> None:
        """What a loop's counters are in its rounds."""
        (body,) = loop.regions
        for counter in counters(loop):
            param = body.params[counter.index]
            if param not in self.spans:
                self._note(param, self._counted(counter))

    def _leave(self, loop: Op) -> None:
        """What its counters come to."""
        (body,) = loop.regions
        for counter in counters(loop):
            span = self.spans.get(body.params[counter.index])
            if span is not None and counter.always:
                step = Span(counter.step, counter.step)
                self._note(loop.results[counter.index], _sum(span, step))

    def _counted(self, counter: Counter) -> Span | None:
        """What a counter is in the rounds of its loop; None where it may wrap."""
        start, limit = self._int(counter.first), self._int(counter.limit)
        limit = limit if limit.is_plain else INTS
        if not start.is_plain:
            return None
        further = 0 if counter.is_after else counter.step  # than the number that was compared
        if counter.test in ("lt", "le"):
            last = max(start.high, limit.high - (counter.test == "lt") + further)
            return Span(start.low, last) if last + counter.step <= INTS.high else None
        if counter.test in ("gt", "ge"):
            last = min(start.low, limit.low + (counter.test == "gt") + further)
            return Span(last, start.high) if last + counter.step >= INTS.low else None
        return None


def _constant(op: Op) -> Span | None:
    number = op.data[1]
    parts = number if isinstance(number, tuple) else (number,)
    return Span(min(parts), max(parts)) if all(map(math.isfinite, parts)) else None


def _members(value: Value, code: str) -> set[Value]:
    """A value, and all that it is the greatest (or the least) of."""
    found, open_ = {value}, [value]
    while open_:
        op = open_.pop().op
        if op is not None and op.code == code:
            open_ += [each for each in op.operands if each not in found]
            found.update(op.operands)
    return found


# ---------------------------------------------------------------- ints, which may follow the pixel


def _either(a: Span, b: Span) -> Span | None:
    if (a.x, a.y) != (b.x, b.y):
        return None
    return Span(*union([(a.low, a.high), (b.low, b.high)]), a.x, a.y)


def _sum(a: Span, b: Span) -> Span:
    return Span(a.low + b.low, a.high + b.high, a.x + b.x, a.y + b.y)


def _negative(a: Span) -> Span:
    return Span(-a.high, -a.low, -a.x, -a.y)


def _product(a: Span, b: Span) -> Span | None:
    """Of two intervals; what depends on the pixel times a constant."""
    if not b.is_plain:
        a, b = b, a
    if not b.is_plain or not (a.is_plain or b.low == b.high):
        return None
    times = int(b.low)
    return Span(*product([(a.low, a.high), (b.low, b.high)]), a.x * times, a.y * times)


def _extreme(keep: Callable[[float, float], float]) -> Callable[..., Span | None]:
    def rule(a: Span, b: Span) -> Span | None:
        if (a.x, a.y) != (b.x, b.y):
            return None
        return Span(keep(a.low, b.low), keep(a.high, b.high), a.x, a.y)

    return rule


_INTEGERS: Final[dict[str, Callable[..., Span | None]]] = {
    "add": _sum,
    "sub": lambda a, b: _sum(a, _negative(b)),
    "mul": _product,
    "neg": _negative,
    "min": _extreme(min),
    "max": _extreme(max),
    "select": _either,
}
_SPECIAL: Final[dict[str, Callable[[Ranges, Op], Span | None]]] = {
    "load": Ranges._load,
    "table": Ranges._table,
    "swizzle": Ranges._swizzle,
    "to_float": Ranges._to_float,
    "to_int": Ranges._to_int,
}
