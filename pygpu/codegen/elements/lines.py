"""Native code for all rows, or all columns, of an array at once.

`rows_span` sums rows in 64 bits. `columns_span` adds rows to a row of totals, which stays in the
first cache: columns are cut into strips for that, and threads take strips. The last totals are the
sums of the columns; written down after each row they are running folds along the columns:

    Columns(np.dtype("float32"), "add", is_running=False)    # totals in 64 bits
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
# where the last vector of a row begins, and memory for running folds.
DATA, TOTALS, PITCH, STEPS, LAST, RESULT = range(6)
VECTORS: Final = 4  # of a step of a row
AHEAD: Final = 16  # steps of a row, fetched before they are added
TOGETHER: Final = 4  # rows added between a load and a store of their total


@record
class Columns:
    """Elements of what type are folded, by "add", "multiply", "maximum" or "minimum" (one of
    `SCANS`), and whether each row's totals are stored, in the elements' type."""

    dtype: np.dtype[np.generic]
    how: str
    is_running: bool

    @property
    def kind(self) -> str:
        """The kind of totals: running folds of ints wrap."""
        if self.dtype.kind == "f":
            return "double"
        return "int" if self.is_running else "long"


def rows_span(dtype: np.dtype[np.generic], machine: Machine) -> str:
    """The IR of `span` for the sums of the rows x0 <= row < x1, of whole steps."""
    code, lanes = Code(machine), machine.lanes
    first, end = code.ends()
    data, totals = code.argument(DATA, "ptr"), code.argument(TOTALS, "ptr")
    pitch, steps = code.argument(PITCH, "long"), code.argument(STEPS, "long")
    kind, size = Columns(dtype, "add", False).kind, VECTORS * lanes
    zero, start = code.constant("long", 0), code.constant(kind, 0, lanes)
    with Loop(code, [first]) as each:
        row = each.params[0]
        with Loop(code, [zero, *[start] * VECTORS]) as loop:
            step, *sums = loop.params
            x = row * pitch + step * size
            here = code.at(data, x * dtype.itemsize)
            code.fetch(here, AHEAD * size * dtype.itemsize, size * dtype.itemsize)
            after = [
                total + element(code, data, x + index * lanes, dtype, kind)
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


def columns_span(columns: Columns, machine: Machine) -> str:
    """The IR of `span` for x0 <= x < x1, numbers of vectors of a row, of which the last may begin
    before the one before it ends. Totals begin as what stands in their memory, and lie vector by
    vector there."""
    code = Code(machine)
    rows, zero = code.argument(STEPS, "long"), code.constant("long", 0)
    together = code.binary("and", rows, -TOGETHER)
    for first, end, count in ((zero, together, TOGETHER), (together, rows, 1)):
        with when(code, first < end), Loop(code, [first]) as each:
            row = each.params[0]
            _add_rows(code, columns, row, count)
            each.next(row + count < end, [row + count])
    return code.span()


def _add_rows(code: Code, columns: Columns, row: Val, count: int) -> None:
    """Add so many rows, from this one on, to the totals of a strip."""
    first, end = code.ends()
    lanes, dtype, kind = code.machine.lanes, columns.dtype, columns.kind
    data, totals = code.argument(DATA, "ptr"), code.argument(TOTALS, "ptr")
    pitch, result = code.argument(PITCH, "long"), code.argument(RESULT, "ptr")
    last = code.argument(LAST, "long")
    with Loop(code, [first]) as loop:
        x = loop.params[0]
        column = code.minimum(x * lanes, last)
        places = [(row + k) * pitch + column for k in range(count)]
        ahead = pitch * (count * dtype.itemsize)
        for place in places:
            here = code.at(code.at(data, place * dtype.itemsize), ahead)
            code.fetch(here, 0, lanes * dtype.itemsize)
            if columns.is_running:
                there = code.at(code.at(result, place * 4), ahead)
                code.fetch(there, 0, lanes * 4, to_write=True)
        kept = code.at(totals, x * (lanes * BITS[kind] // 8))
        total = code.read(kind, kept, lanes, 4)
        # Running folds have 32 bits: so many rows may have as many.
        narrow = _STORED[dtype.kind] if columns.is_running else kind
        join = partial(SCANS[columns.how], code)
        folds = [*accumulate([element(code, data, at, dtype, narrow) for at in places], join)]
        if columns.is_running:
            before = code.cast("fptrunc", total, narrow)
            for place, fold in zip(places, folds, strict=True):
                code.store(join(before, fold), code.at(result, place * 4), 4)
        code.store(join(total, code.cast("fpext", folds[-1], kind)), kept, 4)
        loop.next(x + 1 < end, [x + 1])


_STORED: Final = {"f": "float", "i": "int"}
