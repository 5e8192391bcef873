"""Copies functions, and what passes say becomes of their operations.

def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
    return [operands[0]] if op.code == "abs" else None     # None: a copy

rewrite(function, rule)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pygpu.core.builder import Builder
from pygpu.ssa import Function, ImageInput, Op, Region, Value
from pygpu.types import INT, Type

Rewriting = Callable[["Rewriter", Op, tuple[Value, ...]], Sequence[Value] | None]


class Rewriter:
    """Copies a function op by op; a pass says what becomes of each op.

    `rule(rewriter, op, operands)` gets an op of the old function with its operands already
    mapped to the new one, and returns the new values for its results, or None to copy it.
    For ops with regions, None copies the op and rewrites what is inside; a rule may call
    `rewriter.copy_region(old_region)` to do it itself.

    The new function may have other `images`, and after the old function's uniforms further numbers
    of a type, of which the names are given; `numbers` then has their values.
    """

    def __init__(
        self,
        function: Function,
        rule: Rewriting | None = None,
        images: Sequence[ImageInput] | None = None,
        numbers: Sequence[str] = (),
        type: Type = INT,
    ) -> None:
        self.function = function
        self.rule = rule or (lambda _, op, operands: self.each(op, operands))
        uniforms = [(value.name, value.type) for value in function.uniforms]
        self.build = Builder(
            function.name,
            function.images if images is None else images,
            uniforms + [(name, type) for name in numbers],
        )
        self.build.tables = list(function.tables)
        self.new = dict(zip(function.body.params, self.build.body.params, strict=False))
        self.numbers = self.build.uniforms[len(uniforms) :]

    def each(self, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        """The rule of a class that derives from this one; without it all ops are copied."""
        return None

    def run(self) -> Function:
        self.inline(self.function.body)
        return self.build.finish([self.new[value] for value in self.function.body.results])

    def inline(self, region: Region) -> None:
        """Rewrite a region's ops into the region being built."""
        for op in region.ops:
            self.build.place = op.place
            operands = tuple([self.new[value] for value in op.operands])
            results = self.rule(self, op, operands)
            if results is None:
                results = self.copy(op, operands)
            for old, new in zip(op.results, results, strict=True):
                if old.name and not new.name and new.op is not None:
                    new.name = old.name
                self.new[old] = new

    def copy(self, op: Op, operands: tuple[Value, ...]) -> tuple[Value, ...]:
        """Append the op as it is, with new operands; the regions within are rewritten."""
        regions = tuple([self.copy_region(region) for region in op.regions])
        return self.build.again(op, operands, regions)

    def copy_region(self, region: Region) -> Region:
        new = Region(tuple(Value(value.type, value.name) for value in region.params))
        self.new.update(zip(region.params, new.params, strict=True))
        with self.build.inside(new):
            self.inline(region)
            new.results = tuple([self.new[value] for value in region.results])
        return new


def rewrite(function: Function, rule: Rewriting) -> Function:
    """The function with every op put through the rule."""
    return Rewriter(function, rule).run()
