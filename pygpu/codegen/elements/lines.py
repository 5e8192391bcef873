"""Native code for all rows, or all columns, of an array at once.

`rows_span` sums rows, or the squares of their differences to a number for each row. `columns_span`
adds rows to a row of totals, which stays in the first cache: columns are cut into strips for that,
and threads take strips. The last totals are the folds of the columns; written down after each row
they are running folds along the columns. Totals of floats have 64 bits:

    LineFold(np.dtype("float32"), "add", is_running=True)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from itertools import accumulate
from typing import Final

import numpy as np

from pygpu.codegen.elements.folds import SCANS, element
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import Loop, when
from pygpu.codegen.llvm.text import BITS, Machine, Val
from pygpu.core.host.records import record

# Of %args: memory, the totals, elements from row to row, how many steps a row or rows a column has,
# where the last vector of a row begins, and memory for running folds, or of the numbers that are
# subtracted before squares are summed.
DATA, TOTALS, PITCH, STEPS, LAST, BESIDE = range(6)
VECTORS: Final = 4  # of a step of a row
AHEAD: Final = 16  # steps of a row, fetched before they are added
TOGETHER: Final = 4  # rows added between a load and a store of their total


@record
class LineFold:
    """Elements of what type are folded, by "add", "multiply", "maximum" or "minimum" (one of
    `SCANS`), or by "squares": their sum, of differences to a number for each line. `is_running`:
    each row's totals are stored, in the elements' type."""

    dtype: np.dtype[np.generic]
    how: str
    is_running: bool = False

    @property
    def kind(self) -> str:
        """The kind of totals: running folds of ints wrap."""
        if self.dtype.kind == "f" or self.how == "squares":
            return "double"
        return "int" if self.is_running else "long"


def rows_span(fold: LineFold, machine: Machine) -> str:
    """The IR of `span` for the sums of the rows x0 <= row < x1, of whole steps."""
    code, lanes = Code(machine), machine.lanes
    first, end = code.ends()
    data, totals = code.argument(DATA, "ptr"), code.argument(TOTALS, "ptr")
    pitch, steps = code.argument(PITCH, "long"), code.argument(STEPS, "long")
    itemsize, size = fold.dtype.itemsize, VECTORS * lanes
    zero, start = code.constant("long", 0), code.constant(fold.kind, 0, lanes)
    with Loop(code, [first]) as each:
        row = each.params[0]
        apart = _beside(code, fold, row, 1)
        with Loop(code, [zero, *[start] * VECTORS]) as loop:
            step, *sums = loop.params
            x = row * pitch + step * size
            code.fetch(code.at(data, x * itemsize), AHEAD * size * itemsize, size * itemsize)
            after = [
                total + _added(code, fold, x + index * lanes, apart)
                for index, total in enumerate(sums)
            ]
            loop.next(step + 1 < steps, [step + 1, *after])
        code.store(_sum(code, loop.results[1:]), code.at(totals, row * 8), 8)
        each.next(row + 1 < end, [row + 1])
    return code.span()


def _sum(code: Code, vectors: Sequence[Val]) -> Val:
    """The sum of all lanes of vectors."""
    total = reduce(lambda a, b: a + b, vectors)
    while total.lanes > 2:
        half = total.lanes // 2
        total = code.shuffle(total, None, range(half)) + code.shuffle(
            total, None, range(half, 2 * half)
        )
    return code.lane(total, 0) + code.lane(total, 1)


def columns_span(fold: LineFold, machine: Machine) -> str:
    """The IR of `span` for x0 <= x < x1, numbers of vectors of a row, of which the last may begin
    before the one before it ends. Totals begin as what stands in their memory, and lie vector by
    vector there."""
    code = Code(machine)
    rows, zero = code.argument(STEPS, "long"), code.constant("long", 0)
    together = code.binary("and", rows, -TOGETHER)
    for first, end, count in ((zero, together, TOGETHER), (together, rows, 1)):
        with when(code, first < end), Loop(code, [first]) as each:
            row = each.params[0]
            _add_rows(code, fold, row, count)
            each.next(row + count < end, [row + count])
    return code.span()


def _add_rows(code: Code, fold: LineFold, row: Val, count: int) -> None:
    """Add so many rows, from this one on, to the totals of a strip."""
    first, end = code.ends()
    lanes, itemsize, kind = code.machine.lanes, fold.dtype.itemsize, fold.kind
    data, totals = code.argument(DATA, "ptr"), code.argument(TOTALS, "ptr")
    pitch, beside = code.argument(PITCH, "long"), code.argument(BESIDE, "ptr")
    last = code.argument(LAST, "long")
    with Loop(code, [first]) as loop:
        x = loop.params[0]
        column = code.minimum(x * lanes, last)
        places = [(row + k) * pitch + column for k in range(count)]
        ahead = pitch * (count * itemsize)
        for place in places:
            code.fetch(code.at(code.at(data, place * itemsize), ahead), 0, lanes * itemsize)
            if fold.is_running:
                there = code.at(code.at(beside, place * 4), ahead)
                code.fetch(there, 0, lanes * 4, to_write=True)
        kept = code.at(totals, x * (lanes * BITS[kind] // 8))
        total = code.read(kind, kept, lanes, 4)
        apart = _beside(code, fold, x, lanes)
        join = partial(_JOINS[fold.how], code)
        folds = [*accumulate([_added(code, fold, place, apart) for place in places], join)]
        if fold.is_running:
            before = code.cast("fptrunc", total, folds[0].kind)
            for place, found in zip(places, folds, strict=True):
                code.store(join(before, found), code.at(beside, place * 4), 4)
        code.store(join(total, code.cast("fpext", folds[-1], kind)), kept, 4)
        loop.next(x + 1 < end, [x + 1])


def _beside(code: Code, fold: LineFold, index: Val, lanes: int) -> Val | None:
    """What is subtracted before squares are summed, of a row or of a vector of columns."""
    if fold.how != "squares":
        return None
    place = code.at(code.argument(BESIDE, "ptr"), index * (8 * lanes))
    return code.load("double", place, lanes, 8)


def _added(code: Code, fold: LineFold, x: Val, apart: Val | None) -> Val:
    """A vector of what is folded of the elements from x on. Running folds of floats have 32 bits:
    so few rows may have as many, what comes of them is added in 64."""
    data, is_float = code.argument(DATA, "ptr"), fold.dtype.kind == "f"
    if apart is None:
        kind = "float" if is_float and fold.is_running else fold.kind
        return element(code, data, x, fold.dtype, kind)
    value = element(code, data, x, fold.dtype, "double" if is_float else "int")
    difference = code.to_float(value, "double") - apart
    return difference * difference


_JOINS: Final = {**SCANS, "squares": SCANS["add"]}
