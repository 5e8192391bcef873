"""Differences to neighbouring pixels: what becomes of them on either kind of function.

In what is drawn, neighbours are computed together. A condition that holds for one of them alone
would leave the other without a value, so `if`s that hold differences are taken apart: both sides
are computed, and chosen from. In a function of images a pixel is computed alone: there the value
is computed again at the neighbour.

    if %0 { %1 = ddx %2; yield %1 } else { yield 0.0 }  ->  %1 = ddx %2; select %0, %1, 0.0
    ddx %2                                              ->  %2 at x + 1, less %2
"""

from __future__ import annotations

from collections.abc import Sequence

from pygpu.core.errors import CompileError
from pygpu.core.operations.ops import TABLE
from pygpu.core.rewriter import Rewriter, rewrite
from pygpu.ssa import Function, Op, Region, Value, alike, used_by, walk, within
from pygpu.types import INT


def _of_neighbours(op: Op) -> bool:
    row = TABLE.get(op.code)
    return row is not None and row.of_neighbours


def flatten_differences(function: Function) -> Function:
    """The function with all `if`s taken apart that hold differences; itself where none do. Those
    that hold loops besides stay: a loop may end only where the condition holds."""
    if not any(_is_flattened(op) for op in walk(function.body)):
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if not _is_flattened(op):
            return None
        sides = []
        for region in op.regions:
            rewriter.inline(region)
            sides.append([rewriter.new[value] for value in region.results])
        emit = rewriter.build.emit
        return [emit("select", operands[0], a, b) for a, b in zip(*sides, strict=True)]

    return rewrite(function, rule)


def _is_flattened(op: Op) -> bool:
    if op.code != "if":
        return False
    return any(map(_of_neighbours, within(op))) and all(each.code != "loop" for each in within(op))


# ---------------------------------------------------------------- functions of images


def recompute_differences(function: Function, has_position: bool = True) -> Function:
    """The function with what differences are of computed again at the neighbour; itself where there
    are none. CompileError where that depends on the round of a loop, and where a function has no
    position, and so no neighbours."""
    if not any(map(_of_neighbours, walk(function.body))):
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if not _of_neighbours(op):
            return None
        if not has_position:
            message = f"{op.code}() is of neighbouring pixels: the function takes no Position"
            raise CompileError(message, op.place)
        build = rewriter.build
        step = build.constant(INT, 1)
        x, y = build.x, build.y
        if op.code == "ddx":
            x = build.emit("add", x, step)
        else:
            y = build.emit("add", y, step)
        there = _Again(rewriter, op, {build.x: x, build.y: y}).value(operands[0])
        return [build.emit("sub", there, operands[0])]

    return rewrite(function, rule)


class _Again:
    """Computes values again, with other values for some that they depend on."""

    def __init__(self, rewriter: Rewriter, op: Op, known: dict[Value, Value]) -> None:
        self.build, self.op, self.known = rewriter.build, op, known
        self.fixed = set(rewriter.build.body.params)

    def value(self, wanted: Value) -> Value:
        """The value there, found without recursion, for chains of operations are long."""
        waiting = [wanted]
        while waiting:
            value = waiting[-1]
            if value in self.known or value in self.fixed:
                waiting.pop()
                continue
            op = value.op
            if op is None:
                raise CompileError(
                    f"{self.op.code}() of a value that a loop carries: its neighbour is computed "
                    "alone; take the difference after the loop, of what it makes",
                    self.op.place,
                )
            needed = [each for each in self.outside(op) if not self.is_there(each)]
            if needed:
                waiting += needed
                continue
            self.known.update(zip(op.results, self.copied(op), strict=True))
            waiting.pop()
        return self.known.get(wanted, wanted)

    def is_there(self, value: Value) -> bool:
        return value in self.known or value in self.fixed

    def outside(self, op: Op) -> list[Value]:
        """What an op takes that is not made within it."""
        made = {value for each in within(op) for value in each.results}
        made |= {v for each in within(op) for region in each.regions for v in region.params}
        return [value for value in used_by(op) if value not in made]

    def copied(self, op: Op) -> Sequence[Value]:
        regions = tuple([self.region(region) for region in op.regions])
        operands = tuple([self.known.get(value, value) for value in op.operands])
        return self.build.again(op, operands, regions)

    def region(self, region: Region) -> Region:
        new = Region(tuple(alike(region.params)))
        self.known.update(zip(region.params, new.params, strict=True))
        with self.build.inside(new):
            for op in region.ops:
                self.known.update(zip(op.results, self.copied(op), strict=True))
        new.results = tuple([self.known.get(value, value) for value in region.results])
        return new
