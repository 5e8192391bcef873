"""What functions of bytes compute exactly: sums, differences, minima and maxima of texels are whole
numbers of 255ths, small enough for float16 where windows are small.

    exact = Exact.of(Task(median, inputs, outputs)) # None where results are no bytes
    exact.bounds[value]                             # the least and the greatest, in 255ths
    exact.column[value]                             # how far to the right is all that it reads
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import Final

import numpy as np

from pygpu.core.host.records import record
from pygpu.core.operations.ops import TABLE
from pygpu.core.programs import Task
from pygpu.core.storage import Format
from pygpu.passes.analysis.ranges import Ranges
from pygpu.passes.blocks.block import size
from pygpu.passes.blocks.block_views import is_near
from pygpu.ssa import Function, Load, Op, Value, constant_of, walk
from pygpu.types import FLOAT

LARGEST: Final = 2048  # whole numbers that float16 holds without a gap
LESS: Final = 0.75  # of the cost of floats, from which on lanes are faster
# Functions of bytes alone that read at most ROWS rows for a pixel, and are at most LIGHT, gain by
# reading and writing whole words: for them, lanes may take MORE of what floats cost.
MORE: Final = 1.25
ROWS: Final = 5
LIGHT: Final = 60
BYTE: Final = Format(np.dtype(np.uint8), 1)
SUMS: Final = frozenset(("add", "sub", "mul", "fma", "neg"))
EXTREMES: Final = frozenset(("min", "max"))
Bounds = tuple[int, int]


@record(eq=False, frozen=False)
class Exact:
    """A function of bytes that gives bytes, and its values that are whole numbers, in units of a
    255th, of at most LARGEST: of each the least and the greatest that it can be. Some are
    `leaving`: what is not exact takes them for floats."""

    function: Function
    inputs: Sequence[Format]
    bounds: Mapping[Value, Bounds]
    columns: _Columns
    leaving: Sequence[Value] = field(init=False)
    loads: Sequence[Load] = field(init=False)  # the bytes that are read

    def __post_init__(self) -> None:
        self.leaving = _leaving(self.function, self.bounds)
        ops = [value.op for value in self.bounds if value.op is not None]
        self.loads = [op.data for op in ops if op.code == "load"]

    @property
    def column(self) -> Mapping[Value, int | None]:
        """Of values, the column that they read: None for several, or for none."""
        return self.columns.column

    @property
    def names(self) -> Mapping[Value, int]:
        """Of values, what those have in common that are equal but for the column they read."""
        return self.columns.names

    @classmethod
    def of(cls, task: Task) -> Exact | None:
        """None where results are others or stored otherwise."""
        if any(value.type is not FLOAT for value in task.function.outputs):
            return None
        if any(output != BYTE for output in task.outputs):
            return None
        return cls.found(task.function, task.inputs)

    @classmethod
    def found(cls, function: Function, inputs: Sequence[Format]) -> Exact:
        """What is exact in any function, whatever its results are."""
        ranges = Ranges(function, inputs)
        bounds: dict[Value, Bounds] = {}
        for op in function.body.ops:
            if _is_whole(function, op, inputs, bounds):
                low, high = [round(255 * end) for end in ranges.bounds(op.result)]
                if max(-low, high) <= LARGEST:
                    bounds[op.result] = low, high
        return cls(function, inputs, bounds, _Columns(function))

    def without(self, value: Value) -> Exact:
        """What is exact if a value is computed as a float. Itself where the value reads one column
        alone, or where another exact value is computed from it."""
        if self.column[value] is not None:
            return self
        if any(
            value in op.operands and op.results[0] in self.bounds for op in self.function.body.ops
        ):
            return self
        bounds = {each: its for each, its in self.bounds.items() if each is not value}
        return Exact(self.function, self.inputs, bounds, self.columns)

    def pays(self, written: Exact) -> bool:
        """Whether it is less than to compute pixels of the function as written one at a time.
        Where all that is read are bytes of a few rows, reading and writing these by words of
        sixteen pixels pays by itself, unless there is much else to do."""
        is_used = self.leaving or any(value in self.bounds for value in self.function.outputs)
        loads = [op for op in walk(self.function.body) if op.code == "load"]
        if not is_used or not self.height:
            return False
        is_light = size(written.function) <= LIGHT and self.height <= ROWS
        is_light = is_light and all(op.results[0] in self.bounds for op in loads)
        return self.cost <= (MORE if is_light else LESS) * written.cost_of_floats

    @property
    def height(self) -> int:
        """How many rows of bytes are read for a pixel."""
        rows = [load.dy for load in self.loads]
        return max(rows) - min(rows) + 1 if rows else 0

    @property
    def cost(self) -> int:
        """What is left to compute for two pixels, in operations.

        What reads one column is computed once for all pixels that read that column. An exact value
        costs 1 for both pixels, and so does one that is joined from two words. A float costs 2, and
        so does an exact value that floats are computed from.
        """
        made = [op.results[0] for op in walk(self.function.body) if op.operands and op.results]
        whole = [value for value in made if value in self.bounds]
        mixed = [value.op for value in whole if self.column[value] is None and value.op is not None]
        parts = [value for op in mixed for value in op.operands if value in self.bounds]
        joined = {self.names[value] for value in parts if self.column[value] is not None}
        rest = {self.names[value] for value in made if value not in self.bounds}
        leaving = {self.names[value] for value in self.leaving}
        return len({self.names[value] for value in whole}) + len(joined) + 2 * len(rest | leaving)

    @property
    def cost_of_floats(self) -> int:
        """What there is to compute for two pixels if all is floats, in operations: pixels share
        nothing but the texels that they read."""
        made = [op for op in walk(self.function.body) if op.operands and op.results]
        texels = {self.names[op.results[0]] for op in made if op.code == "load"}
        return 2 * (len(texels) + sum(op.code != "load" for op in made))


def is_exact(value: Value) -> bool:
    """Whether an exact value is the result of an operation, not of a load or a constant."""
    row = TABLE.get(value.op.code) if value.op is not None else None
    return row is not None and row.on_lanes != ""


def factors(op: Op, exact: Container[Value]) -> tuple[int, Value] | None:
    """Of a product, a whole constant, and the exact value that is taken so many times."""
    for factor, value in (op.operands[:2], op.operands[1::-1]):
        if value in exact and value.op is not None and value.op.code != "constant":
            number = constant_of(factor)
            if isinstance(number, float) and abs(number) <= LARGEST and number == round(number):
                return round(number), value
    return None


def _is_whole(
    function: Function, op: Op, inputs: Sequence[Format], exact: Container[Value]
) -> bool:
    """Whether an op makes a whole number of 255ths, of operands that are `exact`."""
    if op.code == "load":
        data: Load = op.data
        is_byte = inputs[data.image] == BYTE and data.boundary == "nearest"
        return is_byte and _is_texel(function, op)
    if op.code == "constant":
        return _is_count(op.result)
    if op.code in ("mul", "fma"):
        return factors(op, exact) is not None and all(v in exact for v in op.operands[2:])
    return is_exact(op.results[0]) and all(operand in exact for operand in op.operands)


def _is_texel(function: Function, op: Op) -> bool:
    """Whether it reads at a known distance from the pixel."""
    return is_near(function, op) and op.operands[1] is function.y


def _is_count(value: Value) -> bool:
    """Whether a constant is a whole number of 255ths."""
    number = constant_of(value)
    if value.type is not FLOAT or not isinstance(number, float) or not abs(number) <= LARGEST:
        return False
    return bool(np.float32(round(number * 255) / 255) == np.float32(number))


def _leaving(function: Function, bounds: Mapping[Value, Bounds]) -> list[Value]:
    """The exact values, but for constants, that the rest of the function uses."""
    rest = [op for op in walk(function.body) if not op.results or op.results[0] not in bounds]
    used = [value for op in rest for value in op.operands]
    used += [value for op in rest for region in op.regions for value in region.results]
    moving = [value for value in used if value.op is not None and value.op.code != "constant"]
    return [value for value in dict.fromkeys(moving) if value in bounds]


class _Columns:
    """The columns of values, and names for values that are the same of different columns."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.column: dict[Value, int | None] = {}
        self.names: dict[Value, int] = {}
        self.numbers: dict[Hashable, int] = {}
        for op in walk(function.body):
            column = self._column(op)
            for value in op.results:
                self.column[value] = column
                key = self._key(op, value)
                self.names[value] = self.numbers.setdefault(key, len(self.numbers))

    def _column(self, op: Op) -> int | None:
        if op.regions:
            return None
        if _is_texel(self.function, op):
            return int(op.data.dx)
        moving = [value for value in op.operands if constant_of(value) is None]
        columns = {self.column.get(value) for value in moving}
        return columns.pop() if len(columns) == 1 else None

    def _key(self, op: Op, value: Value) -> Hashable:
        if op.code == "constant":
            return "constant", op.data
        if self.column[value] is None:
            return value
        if op.code == "load":
            return "load", replace(op.data, dx=0)
        operands = [self.names[each] for each in op.operands]
        if TABLE[op.code].commutes:
            operands.sort()
        return op.code, op.data, tuple(operands)
