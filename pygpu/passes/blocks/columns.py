"""Regroups sums, minima and maxima of bytes by the columns that they read: what they read of one is
what they read of another some pixels further, so that pixels of a row share it.

    (c - a) + 2 * (f - d) + (i - g)   ->   (c + i + 2 * f) - (a + g + 2 * d)
    a / 16 + b / 8 + c / 16           ->   (a + c + 2 * b) * (1 / 16)
    0.3 * a + 0.5 * b + 0.3 * c       ->   (a + c + 5 / 3 * b) * 0.3

Whole numbers that are exact come out the same in any order; those of a column are summed in parts
that stay so in lanes (pygpu/passes/blocks/exact.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeVar

from pygpu.passes.blocks.exact import EXTREMES, LARGEST, SUMS, Exact
from pygpu.passes.simplify.dead import remove_dead
from pygpu.passes.simplify.local import Gate
from pygpu.passes.simplify.rules import finite
from pygpu.ssa import Function, Op, Value, walk
from pygpu.types import FLOAT

Sum = dict[Value | None, float]  # how often each is taken; None for a constant
Term = tuple[Value, int]
Weighed = tuple[Value, float]
Item = TypeVar("Item")

LINEAR: Final = SUMS | {"div"}
MOST: Final = 64  # how often a texel is taken, at most, in the unit of its sum
MANY: Final = LARGEST // 255  # how many texels lanes hold the sum of
CLOSE: Final = 1e-6  # how far a weight may be from a whole multiple of the unit, relatively
LITTLE: Final = 1e-6  # a weight below so much of the greatest one of its column is next to nothing
FEW: Final = 0.2  # of the weights of a sum
FRACTIONS: Final = (1, 2, 3, 4)  # a unit is sought among the least weight divided by these


def by_columns(exact: Exact) -> Exact:
    """What is exact in the function once its sums and extremes are regrouped by columns; what was
    given where regrouping leaves no less to compute."""
    tried = [
        Exact.found(_Regrouped(exact, is_centred).run(), exact.inputs)
        for is_centred in (False, True)
    ]
    best = min(exact, *tried, key=lambda each: each.cost)
    left = list(best.leaving)
    while left:
        fewer = min([best, *_without(best, left.pop())], key=lambda each: each.cost)
        left += [value for value in fewer.leaving if value not in best.leaving]
        best = fewer
    return best


def _without(exact: Exact, value: Value) -> Iterator[Exact]:
    """What is exact if a value is computed as a float; then if the values that it is computed from
    are floats too; and so on. A column whose lanes become floats anyway may then cost nothing."""
    left = [value]
    while left:
        fewer = exact.without(left.pop())
        if fewer is not exact:
            yield fewer
            left += [each for each in fewer.leaving if each not in exact.leaving]
            exact = fewer


class _Regrouped(Gate):
    """Makes the regrouped function. A sum is rebuilt, as a whole, where anything but another sum
    uses it; so is an extreme.

    The sum of a column may be too large for lanes. Where the regrouping `is_centred`, a constant is
    taken from such a sum if lanes hold what is left.
    """

    def __init__(self, exact: Exact, is_centred: bool) -> None:
        special = dict.fromkeys(LINEAR, self._sum_of)
        special |= dict.fromkeys(EXTREMES, self._extreme_of)
        super().__init__(exact.function, special)
        self.exact, self.is_centred = exact, is_centred
        self.members: dict[Value, list[Value]] = {}  # of minima and maxima
        self.sums = self._sums(exact.function)
        self.roots = self._roots(exact.function)

    def run(self) -> Function:
        return remove_dead(super().run())

    def _sums(self, function: Function) -> dict[Value, Sum]:
        """What is added up to what, down to exact values that are no sums."""
        found: dict[Value, Sum] = {}
        for op in function.body.ops:
            total = self._sum(op, found)
            if total is not None:
                found[op.result] = total
        return found

    def _sum(self, op: Op, sums: dict[Value, Sum]) -> Sum | None:
        weighted = _weighted(op)
        total: Sum = {}
        for operand, weight in weighted or ():
            part = self._part(operand, sums)
            if part is None:
                return None
            for value, times in part.items():
                total[value] = total.get(value, 0) + weight * times
        return total if weighted else None

    def _part(self, value: Value, sums: dict[Value, Sum]) -> Sum | None:
        number = finite(value)
        if number is not None:
            return {None: number}
        if value in sums:
            return sums[value]
        return {value: 1} if value in self.exact.bounds else None

    def _roots(self, function: Function) -> set[Value]:
        """What operations of other kinds take, or the function gives."""
        taken = set(function.outputs)
        for op in walk(function.body):
            for region in op.regions:
                taken.update(region.results)
            own = self._kind(op.results[0]) if op.results else None
            taken.update([v for v in op.operands if own is None or self._kind(v) != own])
        return taken

    def _kind(self, value: Value) -> str | None:
        """What is regrouped as one: sums, or extremes of one kind."""
        if value in self.sums:
            return "sum"
        code = value.op.code if value.op is not None else ""
        return code if code in EXTREMES and value in self.exact.bounds else None

    # ------------------------------------------------ sums

    def _sum_of(self, _: Gate, op: Op, __: tuple[Value, ...]) -> Sequence[Value] | None:
        total = self.sums.get(op.result)
        if total is None or op.result not in self.roots:
            return None
        weights = {value: times for value, times in total.items() if value is not None and times}
        if len(weights) <= 2:
            return None
        constant = self.constant
        found = _unit(list(weights.values()))
        if found is None:
            made = self._weighed(list(weights.items()))
            return [self("add", made, constant(FLOAT, total.get(None, 0.0)))]
        unit, whole = found
        counted = dict(zip(weights, whole, strict=True))
        terms = [(value, times) for value, times in counted.items() if times]
        sums, away = self._total(terms)
        made = self("mul", self("add", sums, constant(FLOAT, away)), constant(FLOAT, unit))
        for value in [value for value, times in counted.items() if not times]:
            made = self("fma", self.new[value], constant(FLOAT, weights[value]), made)
        return [self("add", made, constant(FLOAT, total.get(None, 0.0)))]

    def _total(self, terms: Sequence[Term]) -> tuple[Value, int]:
        """The sum of columns, each the sum of its own, and of what is of no column; and a whole
        number by which it is less than that."""
        columns = self._by_column(terms, lambda term: term[0])
        made = [(self.new[value], times) for value, times in columns.pop(None, [])]
        # A column of which more is subtracted than added is negated, and subtracted as a whole.
        # Where all columns are such, those whose weights cancel stay: the sum begins with one.
        away = 0
        are_negative = not made and all(_sign(members) < 0 for members in columns.values())
        for members in columns.values():
            unit = math.gcd(*[times for _, times in members])
            is_balanced = not sum(times for _, times in members)
            unit = -unit if _sign(members) < 0 and not (is_balanced and are_negative) else unit
            own = [(value, times // unit) for value, times in members]
            parts = _parts(own)
            middle = _middle(own) if self.is_centred and len(parts) > 1 else None
            if middle is None:
                column = self._added([self._of_part(part) for part in parts])
            else:
                column = self._added([(self.new[value], times) for value, times in own], -middle)
                away += unit * middle
            made.append((column, unit))
        return self._added(made), away

    def _weighed(self, terms: Sequence[Weighed]) -> Value:
        """The sum of terms whose weights have no unit: of columns, each in units of its least
        weight, so that those are alike that are alike but for a factor."""
        columns = self._by_column(terms, lambda term: term[0])
        made: list[Weighed] = [(self.new[v], times) for v, times in columns.pop(None, [])]
        known: list[float] = []
        for members in columns.values():
            unit = _least([times for _, times in members])
            own = [(self.new[value], _like(times / unit, known)) for value, times in members]
            made.append((self._added(own), unit))
        return self._added(made)

    def _of_part(self, members: Sequence[Term]) -> Term:
        unit = math.gcd(*[times for _, times in members])
        return self._added([(self.new[value], times // unit) for value, times in members]), unit

    def _added(self, terms: Sequence[Weighed], constant: int = 0) -> Value:
        """The sum of a constant and the terms, of which those that are taken equally often are
        summed by themselves: what is taken once, then what is taken more often, then what is taken
        away."""
        alike: dict[float, list[Weighed]] = {}
        for term in terms:
            alike.setdefault(abs(term[1]), []).append(term)
        sums = []
        for times, members in alike.items():
            added = [value for value, each in members if each > 0]
            taken = [value for value, each in members if each < 0]
            first, *others = added or taken
            for value in others:
                first = self("add", first, value)
            for value in taken if added else ():
                first = self("sub", first, value)
            sums.append((first, times if added else -times))
        total = self.constant(FLOAT, constant) if constant else None
        for value, times in sorted(sums, key=lambda term: (term[1] < 0, abs(term[1]))):
            weight = self.constant(FLOAT, times)
            if total is None:
                total = self("mul", value, weight)
            elif abs(times) == 1:
                total = self("add" if times == 1 else "sub", total, value)
            else:
                total = self("fma", value, weight, total)
        return total if total is not None else self.constant(FLOAT, 0)

    # ------------------------------------------------ minima and maxima

    def _extreme_of(self, _: Gate, op: Op, __: tuple[Value, ...]) -> Sequence[Value] | None:
        if op.result not in self.exact.bounds:
            return None
        found: list[Value] = []
        for operand in op.operands:
            is_part = operand.op is not None and operand.op.code == op.code
            found += self.members.get(operand, [operand]) if is_part else [operand]
        self.members[op.result] = list(dict.fromkeys(found))
        if op.result not in self.roots or len(self.members[op.result]) < 3:
            return None
        columns = self._by_column(self.members[op.result], lambda value: value)
        made = [self.new[value] for value in columns.pop(None, [])]
        for members in columns.values():
            made.append(self._of_all(op, [self.new[value] for value in members]))
        return [self._of_all(op, made)]

    def _of_all(self, op: Op, values: Sequence[Value]) -> Value:
        found = values[0]
        for value in values[1:]:
            found = self(op.code, found, value, data=op.data)
        return found

    # ------------------------------------------------ columns

    def _by_column(
        self, items: Sequence[Item], value_of: Callable[[Item], Value]
    ) -> dict[int | None, list[Item]]:
        """The items of each column, from left to right, in one order for all columns."""
        exact = self.exact
        found: dict[int | None, list[Item]] = {}
        for item in sorted(items, key=lambda item: exact.names[value_of(item)]):
            found.setdefault(exact.column[value_of(item)], []).append(item)
        return dict(sorted(found.items(), key=lambda each: (each[0] is None, each[0] or 0)))


def _sign(members: Sequence[Term]) -> int:
    """Whether more is added, or less than is taken away; where it is the same, as for the first."""
    return sum(times for _, times in members) or members[0][1]


def _least(weights: Sequence[float]) -> float:
    """The least weight that is not next to nothing beside the others."""
    greatest = max(map(abs, weights))
    return min([weight for weight in weights if abs(weight) > LITTLE * greatest], key=abs)


def _like(weight: float, known: list[float]) -> float:
    """The weight, or, with its sign, a known one that is CLOSE to it; else it is known from now."""
    for each in known:
        if abs(abs(weight) - each) <= CLOSE * each:
            return math.copysign(each, weight)
    known.append(abs(weight))
    return weight


def _weighted(op: Op) -> list[tuple[Value, float]] | None:
    """What a sum is of, each with how often it is taken; None for what is no sum."""
    operands = op.operands
    if op.code not in LINEAR or op.result.type is not FLOAT:
        return None
    if op.code in ("add", "sub", "neg"):
        signs = {"neg": [-1.0], "sub": [1.0, -1.0]}.get(op.code, [1.0, 1.0])
        return list(zip(operands, signs, strict=True))
    numbers = [finite(value) for value in operands]
    if op.code == "div":
        divisor = numbers[1]
        return [(operands[0], 1 / divisor)] if divisor else None
    for number, value in ((numbers[0], operands[1]), (numbers[1], operands[0])):
        if number is not None:
            return [(value, number), *[(added, 1.0) for added in operands[2:]]]
    return None


def _unit(weights: Sequence[float]) -> tuple[float, list[int]] | None:
    """What all weights but a FEW are whole multiples of, and how often they are: 0 for those few.
    None where there is no such unit, or it is too small."""
    least = min(map(abs, weights))
    tried = [(unit, _multiples(weights, unit)) for unit in (1.0, *[least / k for k in FRACTIONS])]
    unit, times = min(tried, key=lambda each: each[1].count(0))
    return (unit, times) if times.count(0) <= FEW * len(times) else None


def _multiples(weights: Sequence[float], unit: float) -> list[int]:
    times = [round(weight / unit) for weight in weights]
    return [
        n if abs(n) <= MOST and abs(weight / unit - n) <= CLOSE * abs(n) else 0
        for n, weight in zip(times, weights, strict=True)
    ]


def _parts(terms: Sequence[Term]) -> list[list[Term]]:
    """The terms of a column in as few parts as lanes hold the sums of, each in its own unit."""
    alike: dict[int, list[Term]] = {}
    for term in terms:
        alike.setdefault(abs(term[1]), []).append(term)
    parts: list[list[Term]] = []
    for times in sorted(alike):
        for first in range(0, len(alike[times]), MANY):
            some = alike[times][first : first + MANY]
            fitting = [part for part in parts if _fits(part + some)]
            if fitting:
                fitting[0] += some
            else:
                parts.append(some)
    return parts


def _middle(terms: Sequence[Term]) -> int | None:
    """By how much a column of few bytes is made less, so that lanes may hold its sum; None where it
    has too many."""
    added = sum(times for _, times in terms if times > 0)
    taken = sum(-times for _, times in terms if times < 0)
    return (added - taken) // 2 if 255 * (added + taken) <= 2 * LARGEST else None


def _fits(terms: Sequence[Term]) -> bool:
    unit = math.gcd(*[times for _, times in terms])
    return 255 * sum(abs(times) for _, times in terms) <= LARGEST * unit
