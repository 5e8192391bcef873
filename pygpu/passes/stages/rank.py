"""Makes sums over a window, whose known weights are products of one for the column and one for the
row, sums of sums along columns. Loops may add them up.

    sum of w[j] * v[i] * im[x + i, y + j]  ->  sum of v[i] * (sum of w[j] * im[x + i, y + j])

The inner sums are one expression at several pixels, which becomes a stage (part.py): of n x n
texels n and n are left. The result differs by roundings alone, and alike for all pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pygpu.core.builder import Builder
from pygpu.core.host.later import later
from pygpu.core.host.records import record
from pygpu.core.rewriter import Rewriter
from pygpu.passes.simplify.pipeline import CLEAN, apply
from pygpu.passes.simplify.rules import number
from pygpu.passes.stages.shifts import MOST, Texels, alike
from pygpu.ssa import Function, Load, Op, Value, uses
from pygpu.types import Type

with later():
    from pygpu.passes.stages import added

LEAST: Final = 26  # texels of a sum worth it: 5 x 5 of floats take as long
TOLERANCE: Final = 5e-7  # of a weight: they are products that were rounded to float32
DEEPEST: Final = 16  # sums and products within a sum that are looked at
SUMS: Final = ("add", "sub", "fma")


@record(eq=False)
class _Product:
    """A sum of weighted texels, with a weight for each row and each column."""

    load: Load
    rows: list[tuple[int, float]]
    columns: list[tuple[int, float]]


def factored(function: Function) -> Function:
    """The function with such sums outside of branches and loops; itself where there is none."""
    finder = _Finder(function)
    for op in reversed(function.body.ops):
        for value in op.results if op.code == "loop" or _is_linear(op) else ():
            if value.type.kind == "float" and value not in finder.inner:
                finder.look(value, DEEPEST)
    products = finder.products
    if not products:
        return function

    def rule(rewriter: Rewriter, op: Op, operands: tuple[Value, ...]) -> Sequence[Value] | None:
        if not any(value in products for value in op.results):
            return None
        if op.code != "loop":
            return [_written(rewriter.build, products[op.result])]
        made = rewriter.copy(op, operands)
        return [
            _written(rewriter.build, products[value]) if value in products else old
            for value, old in zip(op.results, made, strict=True)
        ]

    return apply(CLEAN, Rewriter(function, rule).run())


class _Finder:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.count: Counter[Value] = uses(function)
        self.products: dict[Value, _Product] = {}
        self.added: dict[Value, Texels] = {}  # by loops
        for op in function.body.ops:
            if op.code == "loop":
                self.added |= added.added(op, function)
        self.inner = {
            value
            for op in function.body.ops
            if _is_linear(op)
            for value in op.operands
            if self.count[value] == 1
        }

    def look(self, value: Value, depth: int) -> None:
        """Find the largest sums in a value that are products."""
        op = value.op
        if op is None or op.code not in (*SUMS, "mul", "neg", "loop") or depth == 0:
            return
        window = self.window(value)
        product = None if window is None else _product(window)
        if product is not None:
            self.products[value] = product
            return
        for operand in op.operands:
            if self.count[operand] == 1:
                self.look(operand, depth - 1)

    def window(self, value: Value) -> Texels | None:
        """The sum of weighted texels that a value is; None where it is anything else."""
        weights: dict[tuple[int, int], float] = {}
        first: Load | None = None
        pending: list[tuple[Value, float]] = [(value, 1.0)]
        while pending:
            each, weight = pending.pop()
            op = each.op
            if op is None or (each is not value and op.code != "load" and self.count[each] != 1):
                return None
            read = self.texels(each)
            if read is not None:
                first = first or read.load
                if not alike(first, read.load):
                    return None
                for place, share in read.weights.items():
                    weights[place] = weights.get(place, 0.0) + weight * share
                if len(weights) > MOST:
                    return None
                continue
            terms = _terms(op, weight)
            if terms is None:
                return None
            pending += terms
        return Texels(first, weights) if first is not None else None

    def texels(self, value: Value) -> Texels | None:
        """A texel near the pixel, or what a loop adds up."""
        op = value.op
        if op is None or op.code != "load" or value.type.kind != "float":
            return self.added.get(value)
        is_near = op.operands == (self.function.x, self.function.y)
        return Texels(op.data, {(op.data.dx, op.data.dy): 1.0}) if is_near else None


def _is_linear(op: Op) -> bool:
    """Whether it is a sum, or what is summed times a number."""
    if op.code == "mul":
        return any(number(operand) is not None for operand in op.operands)
    return op.code in (*SUMS, "neg")


def _terms(op: Op, weight: float) -> list[tuple[Value, float]] | None:
    """What an operation adds up, with weights."""
    operands = op.operands
    if op.code == "add":
        return [(operands[0], weight), (operands[1], weight)]
    if op.code == "sub":
        return [(operands[0], weight), (operands[1], -weight)]
    if op.code == "neg":
        return [(operands[0], -weight)]
    if op.code not in ("mul", "fma"):
        return None
    for factor, other in ((operands[0], operands[1]), (operands[1], operands[0])):
        times = number(factor)
        if times is not None:
            rest = [(operands[2], weight)] if op.code == "fma" else []
            return [(other, weight * times), *rest]
    return None


def _product(window: Texels) -> _Product | None:
    """A sum's weights by rows and columns; None where they are no products, or too few."""
    weights = {place: w for place, w in window.weights.items() if w}
    columns, rows = (sorted({place[axis] for place in weights}) for axis in (0, 1))
    if len(weights) < LEAST or min(len(rows), len(columns)) < 3:
        return None
    if len(weights) != len(rows) * len(columns):
        return None
    table: NDArray[np.float64] = np.array([[weights[x, y] for x in columns] for y in rows])
    if not np.isfinite(table).all():
        return None
    top, left = np.unravel_index(np.abs(table).argmax(), table.shape)
    down, across = table[:, left] / table[top, left], table[top]
    if (np.abs(np.outer(down, across) - table) > TOLERANCE * np.abs(table)).any():
        return None
    return _Product(
        window.load,
        list(zip(rows, down.tolist(), strict=True)),
        list(zip(columns, across.tolist(), strict=True)),
    )


def _written(build: Builder, product: _Product) -> Value:
    load = product.load

    def texel(dx: int, dy: int) -> Value:
        return build.emit("load", build.x, build.y, data=replace(load, dx=dx, dy=dy))

    sums = [
        (_sum(build, load.type, [(texel(x, y), w) for y, w in product.rows]), weight)
        for x, weight in product.columns
    ]
    return _sum(build, load.type, sums)


def _sum(build: Builder, type: Type, terms: Sequence[tuple[Value, float]]) -> Value:
    """A weighted sum, in order."""
    total: Value | None = None
    for value, weight in terms:
        number = weight if type.is_scalar else (weight,) * type.size
        if weight == 1.0:
            total = value if total is None else build.emit("add", total, value)
        elif total is None:
            total = build.emit("mul", value, build.constant(type, number))
        else:
            total = build.emit("fma", value, build.constant(type, number), total)
    assert total is not None
    return total
