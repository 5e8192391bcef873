"""What loops add up: sums of texels at known places with known weights; or which texels at known
places they find the greatest or least of.

    total = loop of 31 rounds: total + im[x - 15, y + k - 15] + ... + im[x + 15, y + k - 15]

    added(loop, function)[total]  ->  Texels(load, {(-15, -15): 1.0, ...})
    added(loop, function)[weight]  ->  961.0

The loop is done with numbers in place of what is known in each round (counters, elements of tables)
and with weights in place of texels and sums of them. A loop that needs anything else adds up
something else.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from pygpu.core import interpret
from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.passes.stages.extremes import Compared, Place, Step, step
from pygpu.passes.stages.shifts import MOST, Texels, alike
from pygpu.ssa import Function, Load, Op, Region, Value, within

STEPS: Final = 16 * MOST  # operations of all rounds
WHOLE: Final = 1 << 30  # beyond which whole numbers might wrap

KNOWN: Final[dict[str, Callable[..., Any]]] = {
    **{code: row.operators[0] for code, row in TABLE.items() if row.symbol and not row.approximate},
    "neg": operator.neg,
    "to_float": float,
    "splat": lambda number: number,
    "select": lambda test, one, other: one if test else other,
    "fma": lambda one, other, third: one * other + third,
}
NUMBERS: Final = (bool, int, float)
COMPARED: Final = ("max", "min", "isnan", "select")
PRODUCTS: Final = ("mul", "fma")
ROUNDED: Final = 2e-6  # of a product of two weights that were rounded to float32
CODES: Final = {*KNOWN, "constant", "load", "table", "if", "loop"}
SCALARS: Final = frozenset(  # all else of scalars that is known where these are
    code for code, row in TABLE.items() if row.meaning is not None and row.componentwise
)


@record(eq=False)
class _Sum:
    """A texel, or a sum of others with weights."""

    load: Load
    terms: tuple[tuple[_Sum, float], ...] = ()

    def found(self) -> Texels:
        weights: dict[tuple[int, int], float] = {}
        pending: list[tuple[_Sum, float]] = [(self, 1.0)]
        for _ in range(STEPS):
            if not pending:
                return Texels(self.load, weights)
            each, weight = pending.pop()
            pending += [(term, weight * factor) for term, factor in each.terms]
            if not each.terms:
                place = each.load.dx, each.load.dy
                weights[place] = weights.get(place, 0.0) + weight
        raise _Other


@record(eq=False)
class _Most:
    """The greatest or least so far: by a step, of what it was before it and of a texel."""

    step: Step
    rest: Any
    each: _Sum

    def found(self) -> Compared:
        load, places = self.each.load, set[Place]()
        rest: Any = self
        while isinstance(rest, _Most):
            places.add((rest.each.load.dx, rest.each.load.dy))
            if not alike(rest.each.load, load) or rest.step.kind != self.step.kind:
                raise _Other
            rest = rest.rest
        first = rest
        if isinstance(rest, _Sum) and not rest.terms and alike(rest.load, load):
            first = rest.load.dx, rest.load.dy
            places.add(first)
        elif not isinstance(rest, float):
            raise _Other
        if len(places) > MOST:
            raise _Other
        return Compared(self.step, load, first, places)


@record
class _Along:
    """x or y, and a known number."""

    axis: Value
    offset: int


class _Other(Exception):
    """The loop does something else."""


def added(loop: Op, function: Function) -> dict[Value, Any]:
    """The results of a loop that are sums of texels, or the greatest or least of some, as such, and
    those that are numbers; none where it does anything else."""
    inside = list(within(loop))
    if any(op.code not in CODES | SCALARS for op in inside) or all(
        op.code != "load" for op in inside
    ):
        return {}
    rounds = _Rounds(function)
    try:
        rounds.op(loop)
        made = [(result, rounds.values[result]) for result in loop.results]
        return {
            result: known if isinstance(known, NUMBERS) else known.found()
            for result, known in made
            if isinstance(known, (_Sum, _Most, *NUMBERS))
        }
    except (_Other, ArithmeticError, ValueError):
        return {}


class _Rounds:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.values: dict[Value, Any] = {axis: _Along(axis, 0) for axis in function.body.params[:2]}
        self.steps = 0
        self.computed: dict[Any, Any] = {}  # by operations and what they are given
        self.weights: dict[Op, dict[tuple[int, int], float]] = {}  # of texels, by their places

    def known(self, value: Value) -> Any:
        if value not in self.values:
            if value.op is None or value.op.code not in ("constant", "load", "neg"):
                raise _Other
            self.op(value.op)
        return self.values[value]

    def op(self, op: Op) -> None:
        self.steps += 1
        if self.steps > STEPS:
            raise _Other
        if op.code == "loop":
            made = self.loop(op)
        elif op.code == "if":
            made = self.region(op.regions[0 if self.truth(op.operands[0]) else 1])
        else:
            made = [self.one(op)]
        self.values.update(zip(op.results, made, strict=True))

    def loop(self, op: Op) -> list[Any]:
        (body,) = op.regions
        going, carried = True, [self.known(value) for value in op.operands]
        while going:
            self.values.update(zip(body.params, carried, strict=True))
            going, *carried = self.region(body)
            if not isinstance(going, bool):
                raise _Other
        return carried

    def truth(self, value: Value) -> bool:
        truth = self.known(value)
        if not isinstance(truth, bool):
            raise _Other
        return truth

    def region(self, region: Region) -> list[Any]:
        for op in region.ops:
            self.op(op)
        return [self.known(value) for value in region.results]

    def one(self, op: Op) -> Any:
        if op.code == "constant":
            return _number(op.data[1])
        operands = [self.known(value) for value in op.operands]
        if op.code == "load":
            return self.texel(op.data, operands)
        if op.code in COMPARED and any(isinstance(each, _Sum | _Most) for each in operands):
            return self.compared(op)
        if op.code == "table":
            return self.element(op, operands)
        if op.code not in KNOWN:
            return self.number(op, operands)
        if op.result.type.kind == "float":
            for texel, weight in (operands[:2], operands[1::-1]) if op.code in PRODUCTS else ():
                if isinstance(texel, _Sum) and not texel.terms and isinstance(weight, float):
                    self.weigh(op, (texel.load.dx, texel.load.dy), weight)
            return _linear(op.code, operands)
        return _whole(op.code, operands)

    def compared(self, op: Op) -> Any:
        """The greatest or least of what was found before and a texel. Whether anything is NaN is
        asked on the way to that alone."""
        one = step(op)
        if one is None:
            return None
        rest, each = self.known(one.rest), self.known(one.each)
        if not isinstance(each, _Sum) or each.terms:
            raise _Other
        return _Most(one, rest, each)

    def number(self, op: Op, operands: list[Any]) -> Any:
        """What an operation on numbers gives, by what it means."""
        if not op.result.type.is_scalar or not all(type(x) in NUMBERS for x in operands):
            raise _Other
        key = op, *operands
        if key not in self.computed:
            types = [value.type for value in op.operands]
            given = [interpret.scalar(*pair) for pair in zip(types, operands, strict=True)]
            with np.errstate(all="ignore"):
                self.computed[key] = interpret.compute(op.code, op.data, given).item()
        return self.computed[key]

    def weigh(self, op: Op, place: tuple[int, int], weight: float) -> None:
        """Give up as soon as the weights of an operation's texels are seen to be no products of one
        for the column and one for the row: nobody wants to know what the loop adds up then, and
        there may be thousands of rounds."""
        known = self.weights.setdefault(op, {})
        known[place] = weight
        (x, y), first = next(iter(known.items()))
        column, row = known.get((place[0], y)), known.get((x, place[1]))
        if column is not None and row is not None:
            expected = column * row
            if abs(first * weight - expected) > ROUNDED * abs(expected):
                raise _Other

    def texel(self, load: Load, place: list[Any]) -> _Sum:
        x, y = place
        axes = self.function.x, self.function.y
        is_near = isinstance(x, _Along) and isinstance(y, _Along) and (x.axis, y.axis) == axes
        if not is_near or load.type.kind != "float":
            raise _Other
        load = replace(load, dx=load.dx + x.offset, dy=load.dy + y.offset)
        return _Sum(load)

    def element(self, op: Op, index: list[Any]) -> Any:
        values = self.function.tables[op.data.table].values
        if not op.data.type.is_scalar or not all(isinstance(each, int) for each in index):
            raise _Other
        if len(index) != 1 or not 0 <= index[0] < len(values) or values.ndim != 1:
            raise _Other
        return values[index[0]].item()


def _number(constant: Any) -> Any:
    """A number; a vector of equal numbers as one of them."""
    parts = constant if isinstance(constant, tuple) else (constant,)
    if any(part != parts[0] for part in parts):
        raise _Other
    return parts[0]


def _whole(code: str, operands: list[Any]) -> Any:
    """A whole number, a truth or a place."""
    if code in ("add", "sub") and any(isinstance(each, _Along) for each in operands):
        one, other = operands[::-1] if isinstance(operands[1], _Along) else operands
        if not isinstance(other, int) or (code == "sub" and one is operands[1]):
            raise _Other
        return _Along(one.axis, one.offset + (other if code == "add" else -other))
    if code not in KNOWN or any(isinstance(each, _Along | _Sum) for each in operands):
        raise _Other
    made = KNOWN[code](*operands)
    if not isinstance(made, int) or abs(made) > WHOLE:
        raise _Other
    return made


def _linear(code: str, operands: list[Any]) -> Any:
    """A number or a sum of texels."""
    if code not in KNOWN or any(isinstance(each, _Along) for each in operands):
        raise _Other
    sums = [isinstance(each, _Sum) for each in operands]
    if not any(sums):
        return KNOWN[code](*operands)
    if code == "splat":
        return operands[0]
    if code == "neg":
        return _sum(0.0, operands[0], -1.0)
    if code in ("mul", "fma") and sums[0] != sums[1]:
        texels, weight = operands[:2] if sums[0] else operands[1::-1]
        return _sum(operands[2] if code == "fma" else 0.0, texels, weight)
    if code in ("add", "sub"):
        first, second = operands
        return _sum(first, second, 1.0 if code == "add" else -1.0)
    raise _Other


def _sum(one: Any, other: Any, weight: float = 1.0) -> Any:
    """A value and another times a weight: sums of texels, of which one may be the number 0."""
    if not isinstance(other, _Sum):
        one, other, weight = other * weight, one, 1.0
    if isinstance(one, _Sum):
        if not alike(one.load, other.load):
            raise _Other
        return _Sum(one.load, ((one, 1.0), (other, weight)))
    if one != 0:
        raise _Other
    return _Sum(other.load, ((other, weight),))
