"""Native code that folds values into groups, by the number of the group of each.

`span` runs over elements x0 <= x < x1 of a chunk and folds them into the chunk's own table; who
calls it joins the tables. A table has a row more than there are groups, for elements of none, and
several copies one after the other, which elements next to each other take in turn: a processor
waits for what it has just stored. Sums and products of floats are made in doubles. Without values
elements are counted; their numbers may then be texels of one or two bytes as they are stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from pygpu.codegen.elements.folds import greater, less
from pygpu.codegen.llvm.code import Code
from pygpu.codegen.llvm.flow import several
from pygpu.codegen.llvm.text import Machine, Val
from pygpu.core.host.records import record

VALUES, INDEX, TABLE, GROUPS, LENGTH, STRIDE, SLOTS = range(7)  # of %args
UNROLLED: Final = 8  # elements of a round
COUNTED: Final = {1: "byte", 2: "short", 4: "uint"}  # kinds of counted elements by their bytes
_SIZES: Final = {"float": 4, "double": 8, "int": 4, "uint": 4, "byte": 1, "short": 2}


@record
class Folding:
    """How values of a kind are folded: `how` is a name of a function of NumPy's, or "count". A
    value has so many `channels`, and so has a row of a table; where texels are counted, each of
    their channels says the group in its own. Tables have so many `copies`, a power of two."""

    how: str
    kind: str
    channels: int = 1
    copies: int = 1

    @property
    def accumulated(self) -> str:
        """The kind of what is in a table."""
        if self.how == "count":
            return "uint"
        return "double" if self.kind == "float" and self.how in ("add", "multiply") else self.kind


def group_span(folding: Folding, machine: Machine) -> str:
    """The IR of `span`."""
    code = Code(machine)
    x0, x1 = code.ends()
    values, index, table = (code.argument(k, "ptr") for k in (VALUES, INDEX, TABLE))
    groups, length = code.argument(GROUPS, "uint"), code.argument(LENGTH, "long")
    table = code.at(table, code.binary("sdiv", x0, length) * code.argument(STRIDE, "long"))
    size = _SIZES[folding.accumulated] * folding.channels
    tables = copies_of(code, table, groups, folding.copies, size)
    kernel = _Kernel(code, folding, values, index, tables, groups)
    for ks in several(code, x1 - x0, UNROLLED):
        for turn, k in enumerate(ks):
            kernel.fold(x0 + k, turn)
    return code.span()


def copies_of(code: Code, table: Val, groups: Val, copies: int, size: int) -> list[Val]:
    """Where each copy of a table begins, of rows of so many bytes."""
    length = code.cast("zext", groups, "long") + 1
    return [code.at(table, length * (size * k)) for k in range(copies)]


@record
class _Kernel:
    """What elements are folded with: pointers to values, indices and copies of a chunk's table."""

    code: Code
    folding: Folding
    values: Val
    index: Val
    tables: list[Val]
    groups: Val

    def fold(self, x: Val, turn: int) -> None:
        """Fold an element into its group, in the copy whose turn it is."""
        code, folding, kind = self.code, self.folding, self.folding.accumulated
        table, channels = self.tables[turn % folding.copies], folding.channels
        row = _SIZES[kind] * channels
        if folding.how == "count":
            for c in range(channels):
                number = self._row(folding.kind, x * channels + c)
                place = code.at(table, number * row + _SIZES[kind] * c)
                code.store(self._read(kind, place) + 1, place, _SIZES[kind])
            return
        place = code.at(table, self._row("uint", x) * row)
        total = self._read(kind, place, channels)
        value = self._read(folding.kind, code.at(self.values, x * (channels * 4)), channels)
        if kind == "double":
            value = code.cast("fpext", value, kind)
        code.store(_JOIN[folding.how](code, total, value), place, _SIZES[kind])

    def _row(self, kind: str, place: Val) -> Val:
        """The number of a group; of one of no group, how many groups there are."""
        code = self.code
        number = self._read(kind, code.at(self.index, place * _SIZES[kind]))
        if kind == "uint":  # a byte or a short always is the number of a group
            number = code.select(number < self.groups, number, self.groups)
        return code.cast("zext", number, "long")

    def _read(self, kind: str, place: Val, lanes: int = 1) -> Val:
        """What is in memory now."""
        return self.code.read(kind, place, lanes, _SIZES[kind])


_JOIN: Final[dict[str, Callable[[Code, Val, Val], Val]]] = {
    "add": lambda code, total, value: total + value,
    "multiply": lambda code, total, value: total * value,
    "maximum": greater,
    "minimum": less,
}
