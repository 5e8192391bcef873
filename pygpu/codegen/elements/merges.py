"""Native code that merges two sorted runs into one.

`span` makes the elements x0 <= x < x1 of the merged run, in several parts at once: an element waits
for the comparison of the one before it in its part, and meanwhile those of other parts are made.
Where a part begins in both runs is found by bisection. Of equal elements those of the first run
come first. Runs have no NaNs, and memory behind each of them may be read.
"""

from __future__ import annotations

from typing import Final

from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.text import Machine, Val

FIRST, OTHER, TARGET, COUNT, COUNT_OTHER, SLOTS = range(6)  # of %args
PARTS: Final = 4


def merge_span(kind: str, machine: Machine) -> str:
    """The IR of `span`, for elements of a kind."""
    code = Code(machine)
    x0, x1 = code.ends()
    pointers = [code.argument(k, "ptr") for k in (FIRST, OTHER, TARGET)]
    counts = [code.argument(k, "long") for k in (COUNT, COUNT_OTHER)]
    runs = _Runs(code, kind, pointers[0], pointers[1], pointers[2], counts[0], counts[1])
    length = code.binary("lshr", x1 - x0, PARTS.bit_length() - 1)
    with when(code, length > 0):
        begins = [x0 + length * k for k in range(PARTS)]
        firsts = [runs.taken(x) for x in begins]
        with Loop(code, [code.constant("long", 0), *firsts]) as loop:
            k, *taken = loop.params
            after = [runs.move(x + k, i) for x, i in zip(begins, taken, strict=True)]
            loop.next(k + 1 < length, [k + 1, *after])
    rest = x0 + length * PARTS
    with when(code, rest < x1), Loop(code, [rest, runs.taken(rest)]) as loop:
        x, i = loop.params
        loop.next(x + 1 < x1, [x + 1, runs.move(x, i)])
    return code.span()


class _Runs:
    """Two runs and what becomes of them."""

    def __init__(
        self, code: Code, kind: str, first: Val, other: Val, target: Val, count: Val, rest: Val
    ) -> None:
        self.code, self.kind = code, kind
        self.first, self.other, self.target = first, other, target
        self.count, self.rest = count, rest

    def read(self, run: Val, index: Val) -> Val:
        return self.code.read(self.kind, self.code.at(run, index * 4), align=4)

    def taken(self, x: Val) -> Val:
        """How many elements of the first run come before element x of the merged one."""
        code, zero = self.code, self.code.constant("long", 0)
        least = code.select(x > self.rest, x - self.rest, zero)
        most = code.select(x < self.count, x, self.count)
        with Loop(code, [least, most]) as loop:
            low, high = loop.params
            is_open = low < high
            half = code.binary("lshr", low + high, 1)
            # Where the search is over, what is read does not matter, but must be there.
            half = code.select(is_open, half, zero)
            index = code.select(is_open, x - half - 1, zero)
            before = self.read(self.other, index) < self.read(self.first, half)
            lower = code.select(is_open & ~before, half + 1, low)
            upper = code.select(is_open & before, half, high)
            loop.next(lower < upper, [lower, upper])
        return loop.results[0]

    def move(self, x: Val, i: Val) -> Val:
        """Put element x of the merged run, before which i of the first come; how many then do."""
        code, j = self.code, x - i
        one, two = self.read(self.first, i), self.read(self.other, j)
        is_other = i.eq(self.count) | (j.ne(self.rest) & (two < one))
        code.store(code.select(is_other, two, one), code.at(self.target, x * 4), 4)
        return i + code.select(is_other, code.constant("long", 0), code.constant("long", 1))
