"""Boundary rules in native code: pygpu/core/boundaries.py on lanes, and on numbers of 64 bits."""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.code import Code, floor
from pygpu.codegen.llvm.flow import Branch
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.boundaries import RULES, index
from pygpu.core.host.records import record

NUMBERS: Final = {name: number for number, name in enumerate(RULES)}  # of rules, in descriptors


@record
class _Native:
    """The arithmetic of native code."""

    code: Code

    def clamped(self, place: Val, size: Val) -> Val:
        return self.code.clamp(place, 0, size - 1)

    def modulo(self, place: Val, period: Val) -> Val:
        """Of vectors by float64, which holds all ints and is exact here."""
        code = self.code
        if place.lanes == 1 and period.lanes == 1:
            rest = code.binary("srem", place, period)
            return code.select(rest < 0, rest + period, rest)
        a, b = code.to_float(place, "double"), code.to_float(period, "double")
        quotient = code.to_int_inside(floor(code, a / b), "int")
        return place - quotient * period

    def add(self, a: Val, b: Val) -> Val:
        return a + b

    def sub(self, a: Val, b: Val | int) -> Val:
        return a - b

    def min(self, a: Val, b: Val) -> Val:
        return self.code.minimum(a, b)

    def max(self, a: Val, b: Val | int) -> Val:
        return self.code.maximum(a, b)


def inside(code: Code, place: Val, size: Val, boundary: str) -> tuple[Val, Val | None]:
    """The index that a rule gives, in [0, size), and, for "constant", where the place is in there
    by itself. "unchecked" is for places that have been looked at, "inside" for any texel there."""
    if boundary == "unchecked":
        return place, None
    rule = "nearest" if boundary == "inside" else boundary
    found = index(rule, _Native(code), place, size)
    return found, code.compare("ult", place, size) if boundary == "constant" else None


def by_number(code: Code, rule: Val, place: Val, size: Val) -> Val:
    """The index that the rule of a number gives; -1 for the constant. They are 64 bits wide."""

    def choose(names: list[str]) -> Val:
        name, *others = names
        if not others:
            return outside(name)
        branch = Branch(code, rule.eq(NUMBERS[name]))
        with branch.side():
            first = [outside(name)]
        with branch.side():
            second = [choose(others)]
        return branch.join(first, second)[0]

    def outside(name: str) -> Val:
        if name == "constant":
            return code.constant("long", -1)
        return index(name, _Native(code), place, size)

    branch = Branch(code, code.compare("ult", place, size))
    with branch.side():
        within = [place]
    with branch.side():
        beyond = [choose(list(NUMBERS))]
    return branch.join(within, beyond)[0]


def place(machine: Machine) -> str:
    """place(index, size, rule): the index in [0, size) that a rule gives; -1: the constant."""
    code = Code(machine)
    index, size, rule = (Val(code, "long", 1, name, 0) for name in ("%index", "%size", "%rule"))
    result = by_number(code, rule, index, size)
    code.line(f"ret i64 {result.text}")
    return f"define internal i64 @place(i64 %index, i64 %size, i64 %rule) #1 {{\n{code.text()}\n}}"
